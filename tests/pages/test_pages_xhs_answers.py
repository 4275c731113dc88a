"""Which answers of XHS are refusals, and what each of them means."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from xhs_fixtures import NOTE, note, note_page, page

from mediacrawler.exceptions import (
    AccessDenied,
    BadSignature,
    CaptchaRequired,
    LoginRequired,
    NotFound,
    PlatformError,
    RateLimited,
    UnexpectedResponse,
)
from mediacrawler.pages import xhs

API = "https://edith.xiaohongshu.com/api/sns/web/v1/feed"
PAGE = f"https://www.xiaohongshu.com/explore/{NOTE}"
SUCCESS = json.dumps({"code": 0, "success": True, "msg": "成功", "data": {}}).encode()


def refusal(status, body=SUCCESS, url=API, **headers):
    with pytest.raises(PlatformError) as caught:
        xhs.read_answer(status, headers, body, url=url, now=1_760_000_000.0)
    return caught.value


def test_a_good_answer_is_decoded_once():
    assert xhs.read_answer(200, {}, SUCCESS, url=API)["data"] == {}
    assert xhs.read_answer(200, {}, b'{"code":1000,"data":{}}')["code"] == 1000


def test_a_good_page_comes_as_text():
    text = note_page(note())
    assert xhs.read_answer(200, {}, text.encode(), url=PAGE) == text


@pytest.mark.parametrize(
    ("code", "error", "scope"),
    [
        (-1, BadSignature, "request"),
        (-100, LoginRequired, "account"),
        (-101, LoginRequired, "account"),
        (-104, LoginRequired, "account"),
        (300011, AccessDenied, "account"),
        (300012, AccessDenied, "ip"),
        (300013, RateLimited, "account"),
        (300015, BadSignature, "request"),
        (300017, AccessDenied, "item"),
        (300031, NotFound, "item"),
        (-510000, NotFound, "item"),
        (-510001, NotFound, "item"),
        (123456, UnexpectedResponse, "request"),
    ],
)
def test_body_codes(code, error, scope):
    readers = (xhs.search, xhs.post, xhs.comments, xhs.creator, xhs.creator_posts, xhs.me)
    for body in (
        {"code": code, "success": False},
        {"code": str(code), "success": True, "msg": None, "data": {}},  # `success` may lie
    ):
        raised = refusal(200, json.dumps(body).encode())
        assert (type(raised), raised.scope, raised.code) == (error, scope, code)
        for read in readers:
            with pytest.raises(error):
                read(body)
            with pytest.raises(error):
                read(json.dumps(body))


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"code": -1, "msg": "required param: source_note_id not found"}, UnexpectedResponse),
        ({"code": 300013, "msg": "访问频次异常"}, RateLimited),
        ({"code": 0, "data": {}, "msg": "网页版搜索次数已达今日上限"}, RateLimited),
        ({"code": -9, "msg": "网页版搜索次数已达今日上限"}, RateLimited),
        ({"code": "x", "data": {}}, UnexpectedResponse),
        ({"data": {}}, UnexpectedResponse),
        ({}, UnexpectedResponse),
        ([], UnexpectedResponse),
    ],
)
def test_messages_and_shapes_of_a_body(body, error):
    assert type(refusal(200, json.dumps(body).encode())) is error


@pytest.mark.parametrize("body", [b"", b"  ", SUCCESS[:-9], b"null", b"upstream timed out"])
def test_what_is_no_whole_json_is_transient(body):
    assert type(refusal(200, body)) is UnexpectedResponse


@pytest.mark.parametrize(
    ("status", "body", "error", "scope"),
    [
        (461, SUCCESS, CaptchaRequired, "account"),  # and no headers
        (471, b"", CaptchaRequired, "account"),
        (406, b'{"code":-1,"success":false}', BadSignature, "request"),
        (400, b'{"code":-1,"success":false}', BadSignature, "request"),
        (400, b"", UnexpectedResponse, "request"),
        (401, b"", LoginRequired, "account"),
        (403, b"", AccessDenied, "account"),
        (403, b'{"code":300012,"success":false}', AccessDenied, "ip"),
        (404, b"", UnexpectedResponse, "request"),
        (429, b"", RateLimited, "account"),
        (500, b"", UnexpectedResponse, "request"),
        (503, b"", UnexpectedResponse, "request"),
        (503, b"<html><script src='/captcha.js'></script></html>", CaptchaRequired, "account"),
        (503, b"<html>try again</html>", UnexpectedResponse, "request"),
    ],
)
def test_http_statuses_are_judged_before_bodies(status, body, error, scope):
    raised = refusal(status, body)
    assert (type(raised), raised.scope) == (error, scope)


def test_a_missing_page_is_a_missing_note():
    assert type(refusal(404, b"", url=PAGE)) is NotFound


@pytest.mark.parametrize(
    ("value", "wait"),
    [("30", 30.0), ("Thu, 09 Oct 2025 08:54:20 GMT", 60.0), ("soon", None)],
)
def test_the_wait_that_the_platform_asks_for(value, wait):
    for status in (429, 503):
        assert refusal(status, b"", **{"retry-after": value}).retry_after == wait


SITE = "https://www.xiaohongshu.com"


@pytest.mark.parametrize(
    ("location", "error", "scope", "code"),
    [
        (
            f"{SITE}/website-login/error?redirectPath=https%3A%2F%2Fa&error_code=300013&x=1",
            RateLimited,
            "account",
            300013,
        ),
        (
            "/website-login/error?redirectPath=a&amp;error_code=300012",
            AccessDenied,
            "ip",
            300012,
        ),
        (
            f"{SITE}/website-login/captcha?redirectPath=a&verifyUuid=0&verifyType=400",
            CaptchaRequired,
            "account",
            302,
        ),
        (f"{SITE}/login?redirectPath=%2Fexplore", LoginRequired, "account", 302),
        (
            f"{SITE}/404?source=/404/sec_x&redirectPath=a&error_code=300031&error_msg=%E5%BD%93",
            NotFound,
            "item",
            300031,
        ),
        (f"{SITE}/404?errorCode=-510001", NotFound, "item", -510001),
        ("/404", NotFound, "item", 302),
        (f"https://www.rednote.com/explore/{NOTE}", LoginRequired, "account", 302),
        (f"{SITE}/explore", UnexpectedResponse, "request", 302),
        ("https://[", UnexpectedResponse, "request", 302),
        ("", UnexpectedResponse, "request", 302),
    ],
)
def test_where_a_redirect_leads(location, error, scope, code):
    raised = refusal(302, b"", url=PAGE, location=location)
    assert (type(raised), raised.scope, raised.code) == (error, scope, code)


def test_the_twin_redirects_within_itself_and_to_the_other_region():
    url = f"https://www.rednote.com/explore/{NOTE}"
    assert type(refusal(302, url=url, location="/explore")) is UnexpectedResponse
    assert type(refusal(302, url=url, location=f"{SITE}/explore")) is LoginRequired


def test_an_error_page_says_its_code_also_when_its_redirect_was_followed():
    link = "/website-login/error?redirectPath=a&amp;error_code=300013"
    for status in (302, 200):
        html = f'<html><body><a href="{link}">Found</a></body></html>'.encode()
        assert type(refusal(status, html)) is RateLimited


@pytest.mark.parametrize(
    ("text", "error", "scope"),
    [
        ("安全限制", AccessDenied, "item"),
        ("访问链接异常", AccessDenied, "item"),
        ("你访问的页面不见了", NotFound, "item"),
        ("当前笔记暂时无法浏览", NotFound, "item"),
        ("该内容因违规已被删除", NotFound, "item"),
        ("仅作者可见", NotFound, "item"),
        ("请登录", LoginRequired, "account"),
        ("<i>captcha</i>", CaptchaRequired, "account"),
        ("hello", UnexpectedResponse, "request"),
    ],
)
def test_what_a_page_says_instead_of_a_note(text, error, scope):
    raised = refusal(200, f"<!doctype html><html><body>{text}</body></html>".encode(), url=PAGE)
    assert (type(raised), raised.scope) == (error, scope)


def test_texts_of_a_page_that_shows_the_note_mean_nothing():
    content = note(desc="页面不见了，请登录")
    assert xhs.post(note_page(content)).post.text == "页面不见了，请登录"


@pytest.mark.parametrize(
    ("html", "error"),
    [
        (note_page({}, logged_in=False), LoginRequired),
        (note_page({}, logged_in=True), AccessDenied),
        (
            note_page({}, serverRequestInfo={"errorCode": -510001, "errMsg": "当前内容无法展示"}),
            NotFound,
        ),
        (page({"user": {"loggedIn": True}, "note": {}}, text="笔记不存在"), NotFound),
        (page({"user": {"loggedIn": True, "x": "请登录"}}), AccessDenied),  # not shown to people
        ("<html><body>hello</body></html>", UnexpectedResponse),
    ],
)
def test_why_a_page_does_not_show_the_note(html, error):
    with pytest.raises(PlatformError) as caught:
        xhs.post(html, post_id=NOTE)
    assert type(caught.value) is error


def test_a_page_in_the_place_of_json_is_no_answer():
    html = page({"user": {"loggedIn": True}}).encode()
    assert type(refusal(200, html, url=API)) is UnexpectedResponse
    with pytest.raises(CaptchaRequired):
        xhs.comments("<html><script src='//x/captcha.js'></script></html>")


def test_a_captcha_says_where_a_person_can_solve_it():
    asked = refusal(461, verifyuuid="0f-1", verifytype="102")
    where = urlsplit(asked.page)
    assert (where.hostname, where.path) == ("www.xiaohongshu.com", "/website-login/captcha")
    assert parse_qs(where.query) == {
        "redirectPath": ["https://www.xiaohongshu.com/explore"],
        "verifyUuid": ["0f-1"],
        "verifyType": ["102"],
        "verifyBiz": ["461"],
    }
    assert "0f-1" not in str(asked)
    assert refusal(461).page is None
    sent_on = refusal(302, url=PAGE, location="/website-login/captcha?verifyUuid=0f-2")
    assert sent_on.page == "https://www.xiaohongshu.com/website-login/captcha?verifyUuid=0f-2"
