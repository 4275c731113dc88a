"""Every refusal of Zhihu has one meaning, however it is dressed up."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from zhihu_fixtures import CHALLENGE, MISSING, answer, html_page, page

from mediacrawler.exceptions import (
    AccessDenied,
    CaptchaRequired,
    PlatformError,
    UnexpectedResponse,
)
from mediacrawler.pages import zhihu

UNHUMAN = "https://www.zhihu.com/account/unhuman?type=Q8J2L3&need_login=false&session=1"
UNHUMAN_LOGIN = "https://www.zhihu.com/account/unhuman?type=U4E3Z1&need_login=true&session=1"
API = "https://www.zhihu.com/api/v4/answers/1"
ROOTS = "https://www.zhihu.com/api/v4/comment_v5/answers/1/root_comment?limit=20&offset="


def error(code: int | str, **more: Any) -> str:
    return json.dumps({"error": {"code": code, "message": "不行", **more}})


# status, body, meaning, scope
REFUSALS = [
    (403, error(10003), "signature", "request"),
    (403, error(10001), "signature", "request"),
    (403, error("10003"), "signature", "request"),
    (403, error(40362), "rate_limited", "account"),
    (403, error(40352, redirect=UNHUMAN, need_login=False), "captcha", "account"),
    (403, error(40353, redirect=UNHUMAN_LOGIN, need_login=True), "login_required", "account"),
    (403, error(49999, need_login=True), "login_required", "account"),
    (403, error(49999, redirect=UNHUMAN), "captcha", "account"),
    (403, error(49999, redirect=UNHUMAN_LOGIN), "login_required", "account"),
    (401, error(100, name="AuthenticationInvalidRequest"), "login_required", "account"),
    (401, error(101, name="AuthenticationError"), "login_required", "account"),
    (401, error(7), "login_required", "account"),
    (403, error(403, name="PERMISSION_ERROR"), "blocked", "item"),
    (403, error(4031), "blocked", "item"),
    (403, json.dumps({"error": {"code": 4, "message": "内容已被删除"}}), "not_found", "item"),
    (403, json.dumps({"error": {"code": 4, "message": "内容审核中"}}), "not_found", "item"),
    (403, error(4), "blocked", "account"),
    (404, error(4041, name="NotFoundError"), "not_found", "item"),
    (404, error(0, name="NotFoundError"), "not_found", "item"),
    (410, "{}", "not_found", "item"),
    (400, error(4000), "unexpected", "request"),
    (429, error(1), "rate_limited", "account"),
    (429, "slow down", "rate_limited", "account"),
    (200, error(40362), "rate_limited", "account"),
    (200, json.dumps({"code": 40352, "message": "x"}), "captcha", "account"),
    (200, json.dumps({"code": 103, "message": "x"}), "unexpected", "request"),
    (200, json.dumps({"code": 10003, "message": "x", "data": None}), "signature", "request"),
    (200, json.dumps({"error": "wrong"}), "unexpected", "request"),
    (403, "Forbidden", "blocked", "ip"),
    (403, "<html><body>Forbidden</body></html>", "blocked", "ip"),
    (401, "", "login_required", "account"),
    (404, "<html>?</html>", "not_found", "item"),
    (500, "oops", "unexpected", "request"),
    (502, "<html>bad gateway</html>", "unexpected", "request"),
    (200, "", "unexpected", "request"),
    (200, '{"data": [', "unexpected", "request"),
    (200, '"text"', "unexpected", "request"),
    (200, CHALLENGE, "captcha", "account"),
    (403, CHALLENGE, "captcha", "account"),
    (200, MISSING, "not_found", "item"),
    (404, MISSING, "not_found", "item"),
    (200, "<html>welcome</html>", "unexpected", "request"),
]


@pytest.mark.parametrize(("status", "body", "meaning", "scope"), REFUSALS)
def test_a_refusal_has_one_meaning(status: int, body: str, meaning: str, scope: str) -> None:
    with pytest.raises(PlatformError) as caught:
        zhihu.read_answer(status, {}, body.encode(), url=API)
    assert (caught.value.meaning, caught.value.scope) == (meaning, scope)


REDIRECTS = [
    ("/signin?next=%2F", "login_required"),
    ("https://www.zhihu.com/signin?next=%2Fquestion%2F1", "login_required"),
    (UNHUMAN, "captcha"),
    (UNHUMAN_LOGIN, "login_required"),
    ("/question/1", "unexpected"),
    ("", "unexpected"),
]


@pytest.mark.parametrize(("location", "meaning"), REDIRECTS)
def test_a_redirect_is_read_and_not_followed(location: str, meaning: str) -> None:
    with pytest.raises(PlatformError) as caught:
        zhihu.read_answer(302, {"location": location}, b"<a>moved</a>")
    assert caught.value.meaning == meaning


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("30", 30.0), ("Sun, 15 Jun 2025 15:07:40 GMT", 60.0), ("soon", None), (None, None)],
)
def test_a_throttle_says_how_long_to_wait(header: str | None, seconds: float | None) -> None:
    headers = {} if header is None else {"retry-after": header}
    with pytest.raises(PlatformError) as caught:
        zhihu.read_answer(403, headers, error(40362).encode(), now=1_750_000_000.0)
    assert caught.value.retry_after == seconds
    assert caught.value.code == 40362


def test_a_good_answer_is_decoded_once() -> None:
    body = page([answer()])
    assert zhihu.read_answer(200, {}, json.dumps(body).encode(), url=API) == body


def test_a_page_with_data_comes_back_as_text() -> None:
    text = html_page({"answers": {}}, text="你似乎来到了没有知识存在的荒原：一篇文章")
    url = "https://www.zhihu.com/question/1/answer/2"
    assert zhihu.read_answer(200, {}, text.encode(), url=url) == text


@pytest.mark.parametrize("body", [error(4041), "{}", "<html>404</html>"])
def test_missing_comments_are_no_missing_post(body: str) -> None:
    read = zhihu.read_answer(404, {}, body.encode(), url=ROOTS)
    assert isinstance(read, dict)
    page = zhihu.comments(read, post_id="1")
    assert (page.comments, page.has_more) == ([], False)


PAGE_FUNCTIONS: list[Callable[..., Any]] = [
    zhihu.search,
    zhihu.post,
    zhihu.creator,
    zhihu.me,
    zhihu.creator_posts,
    zhihu.question_answers,
    zhihu.hot_list,
    zhihu.comments,
    zhihu.replies,
    zhihu.video,
]


@pytest.mark.parametrize("read", PAGE_FUNCTIONS)
@pytest.mark.parametrize(
    ("body", "meaning"),
    [
        (error(40362), "rate_limited"),
        (json.dumps({"code": 10003, "message": "x"}), "signature"),
        (CHALLENGE, "captcha"),
        ("[]", "unexpected"),
        ("", "unexpected"),
    ],
)
def test_page_functions_see_errors_themselves(
    read: Callable[..., Any], body: str, meaning: str
) -> None:
    for form in (body, body.encode()):
        with pytest.raises(PlatformError) as caught:
            read(form)
        assert caught.value.meaning == meaning


def test_a_refusal_that_was_cut_off_is_asked_again_and_blocks_nobody():
    with pytest.raises(UnexpectedResponse):
        zhihu.read_answer(403, {}, b'{"error": {"code": 403, "mess')
    with pytest.raises(AccessDenied):
        zhihu.read_answer(403, {}, b"")


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (403, {}, error(40352, redirect=UNHUMAN).encode()),
        (403, {}, error(49999, redirect="/account/unhuman?type=Q8J2L3&session=1").encode()),
        (302, {"location": UNHUMAN}, b""),
    ],
)
def test_a_human_check_says_where_it_is_done(
    status: int, headers: dict[str, str], body: bytes
) -> None:
    with pytest.raises(CaptchaRequired) as caught:
        zhihu.read_answer(status, headers, body, url=API)
    assert (caught.value.page or "").startswith("https://www.zhihu.com/account/unhuman?type=Q8J2L3")
    assert "Q8J2L3" not in str(caught.value)
