"""What goes into a page to be fetched, and how what comes out becomes an answer of Scrapy's."""

from __future__ import annotations

import base64

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, JsonResponse, Response

from mediacrawler.page_fetch import as_fetched, as_response, is_own_header

URL = "https://edith.example.cn/api?a=%E9%9C%B2&b=1,2"


@pytest.mark.parametrize(
    ("body", "text", "encoded"),
    [
        (b"", None, None),
        (b'{"a":1}', '{"a":1}', None),
        ("露营".encode(), "露营", None),
        (b"\xff\x00\x01", None, base64.b64encode(b"\xff\x00\x01").decode()),
    ],
)
def test_a_body_goes_in_as_text_where_it_is_text(
    body: bytes, text: str | None, encoded: str | None
) -> None:
    given = as_fetched(Request(URL, method="POST", body=body), 30)
    assert (given["text"], given["bytes"]) == (text, encoded)
    assert (given["url"], given["method"], given["milliseconds"]) == (URL, "POST", 30_000)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("cookie", True),
        ("user-agent", True),
        ("referer", True),
        ("origin", True),
        ("sec-fetch-site", True),
        ("proxy-authorization", True),
        ("content-type", False),
        ("accept", False),
        ("x-requested-with", False),
        ("security", False),
    ],
)
def test_headers_that_a_browser_writes_itself_stay_outside(name: str, own: bool) -> None:
    assert is_own_header(name) is own
    given = as_fetched(Request(URL, headers={name.title(): "value"}), 1)
    assert given["headers"] == ({} if own else {name.title(): "value"})


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        ("application/json; charset=utf-8", '{"a":"露"}'.encode(), JsonResponse),
        ("text/html", "<html>露</html>".encode(), HtmlResponse),
        ("application/octet-stream", bytes(range(256)), Response),
        ("application/json", b"", JsonResponse),
    ],
)
def test_an_answer_has_its_bytes_its_status_and_its_kind(
    kind: str, content: bytes, expected: type[Response]
) -> None:
    request = Request(URL)
    body = base64.b64encode(content).decode()
    response = as_response(request, 461, {"content-type": kind, "verifytype": "102"}, body)
    assert type(response) is expected
    assert (response.status, response.body, response.url) == (461, content, URL)
    assert response.headers["Verifytype"] == b"102"
    assert response.request is request


def test_headers_about_a_packing_that_is_undone_already_are_left_out() -> None:
    headers = {"content-encoding": "br", "content-length": "3", "transfer-encoding": "chunked"}
    response = as_response(Request(URL), 200, headers, "")
    assert not response.headers
