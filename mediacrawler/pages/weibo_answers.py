"""Whether Weibo's answer is one: data, or which refusal (section 6); and answers about sessions.

Pure functions. Must not know the records themselves, Scrapy or sessions. Sections are those of
docs/platforms/weibo.md.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from mediacrawler.exceptions import (
    AccessDenied,
    CaptchaRequired,
    LoginRequired,
    NotFound,
    PlatformError,
    RateLimited,
    UnexpectedResponse,
    Withheld,
)
from mediacrawler.pages import Body
from mediacrawler.pages.fields import (
    as_dict,
    as_text,
    decode_json,
    decode_text,
    dig_dict,
    retry_after,
)
from mediacrawler.pages.weibo_fields import as_dicts, as_id, as_int

_JSON_PATHS = ("/api/", "/ajax/", "/statuses/", "/comments/", "/tv/api/", "/article/m/aj/")
_COMMENT_PATH = re.compile(r"/comments/|/buildComments$")
_VISITOR_TITLE = "<title>Sina Visitor System</title>"
_GOOD_PAGE = re.compile(r"\$render_data\s*=|card-wrap|card-no-result")
_GONE_PAGE = re.compile(r"h5-404|出错了，未知错误|微博不存在或暂无查看权限")
_CAPTCHA_ADDRESS = re.compile(r"captcha|verify|security")
_SIGN_IN_ADDRESS = re.compile(r"login\.sina\.com\.cn|/sso/|/signin|/login", re.IGNORECASE)
_VISITOR_ADDRESS = re.compile(
    r"visitor\.passport\.weibo\.cn|passport\.weibo\.c(?:om|n)/visitor", re.IGNORECASE
)
_NOTHING_HERE = re.compile(r"还没有|没有内容|没有更多|没有评论|沙发|暂无(?!查看)")

# Words of `msg`/`message`, in the order in which they decide (section 6.1).
_WORDS: tuple[tuple[re.Pattern[str], type[PlatformError]], ...] = (
    (re.compile(r"频繁|歇歇"), RateLimited),
    (re.compile(r"登录|登陆"), LoginRequired),
    (re.compile(r"地址不存在"), UnexpectedResponse),
    (re.compile(r"不存在|已被.*删除|因被投诉|已注销|被封"), NotFound),
    (re.compile(r"权限|隐私设置|仅展示"), Withheld),
    (re.compile(r"^Forbidden$"), AccessDenied),
)
_CODES: dict[str, type[PlatformError]] = {
    "20101": NotFound,
    "20112": Withheld,
    "100003": NotFound,
}
_FORBIDDEN = "the request's Referer or XMLHttpRequest header is missing (a fault of the request)"
_TICKET_SPENT = 6102  # single sign-on ticket used twice


def read_answer(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    url: str = "",
    now: float | None = None,
) -> dict[str, Any] | list[Any] | str:
    """The decoded JSON of a good answer (JSONP too), or the text of a web page.

    *headers* have lower-case names; *url* is what was asked for. Judged in the order of
    section 6: status, redirect, page, body code, shape.

    :raises PlatformError: what the answer means instead; for rate limits with the seconds of a
        Retry-After header (a date is measured from *now*, unix seconds; the clock if None).
    """
    if 300 <= status < 400:
        raise _redirected(headers.get("location", ""), status)
    _refuse_status(status, headers, body, url, now)
    content: dict[str, Any] | list[Any] | str = decode(body)
    if isinstance(content, str):
        refuse_page(content)
        if urlsplit(url).path.startswith(_JSON_PATHS):
            raise LoginRequired("a web page instead of JSON: headers or cookies of the wrong host")
        return content
    if isinstance(content, dict):
        _refuse(content)
        if is_nothing(content) and _asks_for_profile(url):
            raise NotFound("no such user", code=0)
    return content


def _redirected(location: str, status: int) -> PlatformError:
    if _VISITOR_ADDRESS.search(location):
        return LoginRequired("sent to the visitor page: no valid cookie", code="visitor")
    address = location.partition("?")[0]
    if _is_captcha(address):
        return CaptchaRequired("sent to a captcha", code=status, page=location)
    if _SIGN_IN_ADDRESS.search(address) or "passport.weibo" in address:
        return LoginRequired("sent to the login page: the login has expired", code=status)
    return UnexpectedResponse(f"unexpected redirect to {address[:100]}", code=status)


def _is_captcha(address: str) -> bool:
    """*address* being without its query, which may hold any word."""
    return bool(_CAPTCHA_ADDRESS.search(address)) and not _SIGN_IN_ADDRESS.search(address)


def _refuse_status(
    status: int, headers: Mapping[str, str], body: bytes, url: str, now: float | None
) -> None:
    """:raises PlatformError: for every status that is not a success."""
    if 200 <= status < 300:
        return
    _refuse_by_words(status, body)
    if status in (418, 414):
        raise RateLimited("this network address is limited", code=status, scope="ip")
    if status in (429, 432, 503):
        wait = retry_after(headers.get("retry-after"), now=time.time() if now is None else now)
        raise RateLimited("too many requests, or a worn-out cookie", code=status, retry_after=wait)
    path = urlsplit(url).path
    if status == 400 and path.endswith("/statuses/show"):
        raise Withheld("shown to followers only", code=status)
    if status == 400 and "/profile/" in path:
        raise NotFound("no such user", code=status)
    if status == 401 or (status == 403 and _COMMENT_PATH.search(path)):
        raise LoginRequired("this list is closed to visitors", code=status)
    if status == 403:
        raise AccessDenied("refused", code=status)
    if status in (404, 410):
        raise NotFound("there is no such page", code=status)
    raise UnexpectedResponse("the platform failed", code=status)


def _refuse_by_words(status: int, body: bytes) -> None:
    """An error status may come with a body that says more than the status."""
    try:
        content = decode(body)
    except UnexpectedResponse:
        return
    if isinstance(content, dict):
        _refuse(content, status)
    elif isinstance(content, str):
        refuse_page(content)


def decode(body: bytes | str) -> Any:
    """JSON, the JSON inside ``callback(...);``, or the text of a page, by its first character."""
    body = decode_text(body).removeprefix("\ufeff")
    start = body.lstrip()[:1]
    if start == "<":
        return body
    if start not in ("{", "[", "") and "(" in body:
        body = body[body.index("(") + 1 : max(body.rfind(")"), 0)]
    content = decode_json(body)
    if isinstance(content, str):
        raise UnexpectedResponse("answer is a mere text, expected an object")
    return content


def content_of(body: Body) -> Any:
    """What *body* holds: what :func:`read_answer` decoded already, or decoded now."""
    return decode(body) if isinstance(body, (bytes, str)) else body


def refuse_page(page: str) -> None:
    """:raises PlatformError: the page stands in the place of another one."""
    if _VISITOR_TITLE in page:
        raise LoginRequired("the visitor page: no valid cookie", code="visitor")
    if _GONE_PAGE.search(page) and not _GOOD_PAGE.search(page):
        raise NotFound("the page says that there is no such post")


def _refuse(answer: dict[str, Any], status: int | None = None) -> None:
    """:raises PlatformError: the body names a refusal that section 6.1 knows."""
    ok = ok_of(answer)
    if ok == 1:
        return
    address = as_text(answer.get("url")) or ""
    is_elsewhere = ok == -100 or not answer.get("data")
    if is_elsewhere and _is_captcha(address.partition("?")[0]):
        raise CaptchaRequired("a captcha has to be solved", code=ok, page=address)
    if ok == -100 or answer.get("retcode") == _TICKET_SPENT:
        raise LoginRequired("this host asks for a login", code=answer.get("retcode") or ok)
    number = as_text(answer.get("errno")) or as_text(answer.get("error_code")) or ""
    code = number if number not in ("", "0") else status
    message = message_of(answer)
    error = _CODES.get(number) or next(
        (error for words, error in _WORDS if words.search(message)), None
    )
    if error is AccessDenied and message == "Forbidden":
        raise AccessDenied(_FORBIDDEN, code=code)
    if error is not None:
        raise error(message or "refused", code=code)


def ok_of(answer: dict[str, Any]) -> int | None:
    return as_int(answer.get("ok"))


def message_of(answer: dict[str, Any]) -> str:
    found = (as_text(answer.get(key)) for key in ("msg", "message", "error", "errmsg"))
    return next((message for message in found if message), "")


def is_nothing(answer: dict[str, Any]) -> bool:
    """``ok:0`` that says "nothing here": the end of a list, or no list at all (section 6.1)."""
    if ok_of(answer) != 0:
        return False
    message = message_of(answer)
    return bool(_NOTHING_HERE.search(message)) if message else "data" in answer


def _asks_for_profile(url: str) -> bool:
    query = parse_qs(urlsplit(url).query)
    container = query.get("containerid", ["100505"])[0]
    return query.get("type") == ["uid"] and container.startswith("100505")


def answer_of(body: Body) -> dict[str, Any]:
    """The object of an answer that is no refusal; it may still say "nothing here"."""
    content = content_of(body)
    if isinstance(content, str):
        refuse_page(content)
        raise UnexpectedResponse("a web page instead of JSON")
    if not isinstance(content, dict):
        raise UnexpectedResponse(f"answer is {type(content).__name__}, expected an object")
    _refuse(content)
    return content


def good_answer(body: Body) -> dict[str, Any]:
    """Like :func:`answer_of`, and whatever is not a success is an error."""
    answer = answer_of(body)
    if ok_of(answer) not in (1, None):
        message = message_of(answer) or "the answer is no success"
        raise UnexpectedResponse(message, code=as_text(answer.get("errno")) or ok_of(answer))
    return answer


# Sessions (sections 1.5, 2.5) and the probe for a silent block (6.2)

_CONFIG_LOGIN = re.compile(r"\$CONFIG\[['\"]islogin['\"]\]\s*=\s*['\"]?(\d)")
_CONFIG_UID = re.compile(r"\$CONFIG\[['\"]uid['\"]\]\s*=\s*['\"]?(\d+)")
_SCRIPT_VALUE = re.compile(r"\bvar\s+(request_id|return_url|ver)\s*=\s*[\"']([^\"']*)[\"']")
_VISITOR_SUCCESS = 20_000_000


@dataclass(frozen=True, slots=True)
class LoginState:
    """What a check endpoint says of the cookies that it was asked with."""

    logged_in: bool
    uid: str | None = None


def login_state(body: Body) -> LoginState:
    """Reads ``m.weibo.cn/api/config``, ``weibo.com/ajax/config/get_config`` or a desktop page.

    Cookies alone prove nothing: visitors carry the same ones (section 1.3).
    """
    content = content_of(body)
    if isinstance(content, str):
        refuse_page(content)
        flag, uid_match = _CONFIG_LOGIN.search(content), _CONFIG_UID.search(content)
        if flag is None:
            raise UnexpectedResponse("the page has no $CONFIG['islogin']")
        return LoginState(flag[1] == "1", uid_match[1] if uid_match else None)
    data = dig_dict(answer_of(content), "data")
    uid = as_id(data.get("uid"))
    if "login" in data:
        return LoginState(data["login"] is True, uid if data["login"] is True else None)
    return LoginState(uid is not None, uid)


@dataclass(frozen=True, slots=True)
class Visitor:
    """The cookie pair of an anonymous visitor, to be set on ``.weibo.com`` or ``.weibo.cn``."""

    sub: str = field(repr=False)
    subp: str = field(repr=False)
    tid: str | None = None


def visitor(body: Body) -> Visitor:
    """The pair inside a ``genvisitor2`` answer, which is JSONP (section 2.5).

    :raises UnexpectedResponse: another retcode, or no pair.
    """
    answer = answer_of(body)
    data = as_dict(answer.get("data"))
    sub, subp = as_text(data.get("sub")), as_text(data.get("subp"))
    if as_int(answer.get("retcode")) != _VISITOR_SUCCESS or sub is None or subp is None:
        raise UnexpectedResponse("no visitor cookies were issued", code=answer.get("retcode"))
    return Visitor(sub, subp, as_text(data.get("tid")))


def visitor_form(page: bytes | str) -> dict[str, str]:
    """``request_id``, ``return_url`` and ``ver`` of a visitor page, as far as it has them."""
    return dict(_SCRIPT_VALUE.findall(decode_text(page)))


def hot_words(body: Body) -> list[str]:
    """Words that surely have search results now: ``ajax/side/hotSearch`` (section 3.15)."""
    data = dig_dict(good_answer(body), "data")
    words = (
        as_text(entry.get("word"))
        for entry in as_dicts(data.get("realtime"))
        if not as_int(entry.get("is_ad"))
    )
    return [word for word in words if word]
