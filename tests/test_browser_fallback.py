"""Which answers are worth a browser; what the browser makes of them is in tests/browser."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response, TextResponse

from mediacrawler.browser_fallback import Opened, is_page, page_refusal
from mediacrawler.exceptions import CaptchaRequired, LoginRequired, UnexpectedResponse
from mediacrawler.pages import zhihu

URL = "https://www.zhihu.com/question/1/answer/2"
META = {"page": "post", "context": {"post_id": "2", "content_type": "answer"}, "cookiejar": "z/a"}


def page(text: str = "<html></html>", status: int = 200) -> Response:
    return HtmlResponse(
        URL, status=status, body=text.encode(), headers={"Content-Type": "text/html"}
    )


def moved(location: str) -> Response:
    return Response(URL, status=302, headers={"Location": location})


@pytest.mark.parametrize(
    ("change", "response", "expected"),
    [
        ({}, page(), True),
        ({}, page(status=403), True),
        ({}, moved("/signin"), True),
        ({"sign": {}}, page(), False),
        ({"page_fetch": URL}, page(), False),
        ({"anonymous": True}, page(), False),
        ({"browser_opened": True}, page(), False),  # once is enough
        ({}, TextResponse(URL, headers={"Content-Type": "application/json"}), False),
        ({}, Response(URL, headers={"Content-Type": "image/png"}), False),
        ({}, Response(URL), False),
    ],
)
def test_only_pages_of_a_session_that_a_browser_could_open_and_has_not(
    change: dict[str, Any], response: Response, expected: bool
) -> None:
    assert is_page(Request(URL, meta={**META, **change}), response) is expected


def test_neither_files_nor_forms_are_pages() -> None:
    file = {name: value for name, value in META.items() if name != "page"}
    assert not is_page(Request(URL, meta=file), page())
    assert not is_page(Request(URL, method="POST", meta=META), page())


SCRIPT = "<html><script>document.cookie = 'passed=1'; location.reload()</script></html>"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (page('<html><meta id="zh-zse-ck" content="x"></html>', 403), CaptchaRequired),
        (moved("/account/unhuman?type=x"), CaptchaRequired),
        (moved("/signin?next=%2F"), LoginRequired),
        (page(SCRIPT), UnexpectedResponse),  # nobody knows it: it leaves a cookie all the same
        (page(SCRIPT + " " * 70_000), None),  # a page of some size has other content
        (page("<html><p>nothing known</p></html>"), None),
        (page("<html></html>", 502), None),
        (page("<html></html>", 404), None),
        (page("<html></html>", 429), None),
    ],
)
def test_challenges_and_login_walls_are_worth_a_browser_other_refusals_are_not(
    response: Response, expected: type[Exception] | None
) -> None:
    refusal = page_refusal(zhihu, Request(URL, meta=META), response)
    assert (refusal and type(refusal)) == expected


def test_what_the_browser_shows_becomes_the_answer_to_the_request() -> None:
    request = Request(URL)
    response = Opened(200, "application/json; charset=utf-8", '{"a":"露"}', None).response(request)
    assert (response.url, response.status, response.request) == (URL, 200, request)
    assert isinstance(response, TextResponse)
    assert response.json() == {"a": "露"}
