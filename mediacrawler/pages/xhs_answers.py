"""Is an answer of XHS a good one? If not, what does the refusal mean?

The order of the judgement and the tables are those of docs/platforms/xhs.md, section 6: HTTP
status, redirect target, page, body code, shape. Nothing here knows notes, comments or creators.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from mediacrawler.exceptions import (
    AccessDenied,
    BadSignature,
    CaptchaRequired,
    LoginRequired,
    NotFound,
    PlatformError,
    RateLimited,
    Scope,
    UnexpectedResponse,
)
from mediacrawler.pages import Body
from mediacrawler.pages import xhs_json as read
from mediacrawler.pages.fields import retry_after
from mediacrawler.pages.xhs_json import Record

CODES: dict[int, tuple[type[PlatformError], Scope, str]] = {
    -1: (BadSignature, "request", "the signature was refused"),
    -100: (LoginRequired, "account", "the login has expired"),
    -101: (LoginRequired, "account", "no login was sent"),
    -104: (LoginRequired, "account", "a guest's session was sent, a login is needed"),
    300011: (AccessDenied, "account", "the account is flagged"),
    300012: (AccessDenied, "ip", "the network address is refused"),
    300013: (RateLimited, "account", "too many requests"),
    300015: (BadSignature, "request", "the browser environment was refused"),
    300017: (AccessDenied, "item", "the token is missing, or that of another note"),
    300031: (NotFound, "item", "the note cannot be viewed"),
    -510000: (NotFound, "item", "the note does not exist"),
    -510001: (NotFound, "item", "the note is deleted, private or under review"),
}
"""What the codes of bodies, redirects and pages mean (6.2)."""

SUCCESS_CODES = (0, 1000)  # 1000: suggestions and user search
SEARCH_QUOTA = "搜索次数已达"  # today's searches are used up; only the message says so (6.2)

_PAGE_TEXTS: tuple[tuple[re.Pattern[str], type[PlatformError], Scope], ...] = (
    (re.compile("页面不见了|笔记不存在|当前笔记暂时无法浏览|因违规已被删除"), NotFound, "item"),
    (re.compile("私密笔记|仅作者可见"), NotFound, "item"),
    (re.compile("安全限制|访问链接异常|access-wrapper"), AccessDenied, "item"),
    (re.compile("请登录|登录后查看搜索结果"), LoginRequired, "account"),
)
"""What stands, outside of scripts, on a page that does not show what was asked for (6.3)."""

_CAPTCHA_SIGNS = re.compile(r"captcha|verifyuuid|请通过验证", re.IGNORECASE)
_ERROR_LINK = re.compile(r"(?:https?://[\w.]+)?/(?:website-login/|404\?|login\?)[^\s\"'<>]*")
_SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL | re.IGNORECASE)


def read_answer(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    url: str = "",
    now: float | None = None,
) -> dict[str, Any] | str:
    """The decoded JSON object of an API answer, or the text of an HTML page.

    :param headers: with lower-case names.
    :param url: what was asked for.
    :param now: unix time that a Retry-After date is compared with; the clock's if None.
    :raises PlatformError: the answer is a refusal, or not what the protocol describes.
    """
    if status != 200:
        wait = retry_after(headers.get("retry-after"), now=time.time() if now is None else now)
        raise _status_error(status, headers, body, url, wait)
    content = read.decode(body)
    if isinstance(content, dict):
        check_code(content)
    elif _is_api(url) or not read.has_state(content):
        raise page_error(content)
    return content


def api_data(body: Body) -> dict[str, Any]:
    """The `data` object of an API answer; ``{}`` if missing, null or empty.

    :raises PlatformError: an error code, an HTML page, or `data` of another type.
    """
    answer = read.decode(body)
    if isinstance(answer, str):
        raise page_error(answer)
    check_code(answer)
    data = answer.get("data") or {}
    if not isinstance(data, dict):
        raise UnexpectedResponse(f"'data' is {type(data).__name__}, expected an object")
    return data


def filled_data(body: Body) -> dict[str, Any]:
    """Like :func:`api_data` for the endpoints where an empty `data` is a soft block (6.4)."""
    data = api_data(body)
    if not data:
        raise AccessDenied("success without any data: a soft block", soft=True)
    return data


def page_state(page: str) -> dict[str, Any]:
    """The state of an HTML page.

    :raises PlatformError: what the page says instead.
    """
    state = read.state(page)
    if state is None:
        raise page_error(page)
    return state


def check_code(answer: Record) -> None:
    """Raise what a body code means; it may be text, and `success` may lie (6.2)."""
    code = read.integer(answer, "code")
    message = read.text(answer, "msg", "message") or ""
    if code is None:
        raise UnexpectedResponse(f"an answer without a code: {message or 'no message'}")
    if code not in SUCCESS_CODES or SEARCH_QUOTA in message:
        raise code_error(code, message)


def code_error(code: int, message: str = "") -> PlatformError:
    """The exception for a code other than success."""
    if SEARCH_QUOTA in message:
        return RateLimited("today's searches of this account are used up", code=code)
    if code == -1 and message:  # parameters were refused: a refused signature has no message
        return UnexpectedResponse(f"the request was refused: {message}", code=code)
    if code not in CODES:
        return UnexpectedResponse(f"unknown code: {message or 'no message'}", code=code)
    error, scope, meaning = CODES[code]
    return error(f"{meaning}: {message}" if message else meaning, code=code, scope=scope)


def page_error(page: str, state: Record | None = None) -> PlatformError:
    """Why a page does not show what was asked for (6.3); *state* as far as it has one."""
    if state is None and (link := _error_link(page)):
        return _redirect_error(link, "", 200)
    request = read.child(read.child(state or {}, "note"), "server_request_info")
    if code := read.integer(request, "error_code"):
        return code_error(code, read.text(request, "err_msg") or "")
    visible = _SCRIPT.sub("", page)
    for pattern, error, scope in _PAGE_TEXTS:
        if match := pattern.search(visible):
            return error(f"the page says '{match[0]}'", scope=scope)
    if state is not None and read.pick(read.child(state, "user"), "logged_in") is False:
        return LoginRequired("the page shows nothing without a login")
    if state is not None:
        return AccessDenied("an empty page: wrong token or soft block", scope="item", soft=True)
    if _CAPTCHA_SIGNS.search(page):
        return CaptchaRequired("a captcha page came instead of an answer")
    return UnexpectedResponse("a page without state came instead of an answer")


def _status_error(
    status: int, headers: Mapping[str, str], body: bytes, url: str, wait: float | None
) -> PlatformError:
    """What an HTTP status other than 200 means; the body is judged after it (6.1)."""
    if status in (461, 471):  # the body may be that of a success (6.1)
        kind = headers.get("verifytype", "unknown")
        message = f"a captcha has to be solved (type {kind})"
        return CaptchaRequired(message, code=status, page=_captcha_page(status, headers, url))
    if 300 <= status < 400:
        location = headers.get("location") or _error_link(body.decode("utf-8", "replace"))
        return _redirect_error(location, url, status)
    if status == 406:
        return BadSignature("the signature was refused", code=status)
    if status == 429:
        return RateLimited("too many requests", code=status, retry_after=wait)
    if status == 404 and not _is_api(url):
        return NotFound("the page does not exist", code=status)
    if status in (400, 401, 403):
        return _refusal(status, body)
    if status == 503 and _is_captcha_page(body):
        return CaptchaRequired("a captcha page came instead of an answer", code=status)
    return UnexpectedResponse(f"HTTP status {status}", code=status, retry_after=wait)


def _captcha_page(status: int, headers: Mapping[str, str], url: str) -> str | None:
    """Where the site's own script sends a person who is asked for a captcha (6.1, 6.3)."""
    if "verifyuuid" not in headers:
        return None
    home = f"https://www.{'.'.join((urlsplit(url).hostname or '').split('.')[-2:])}"
    query = {
        "redirectPath": f"{home}/explore",
        "verifyUuid": headers["verifyuuid"],
        "verifyType": headers.get("verifytype", ""),
        "verifyBiz": status,
    }
    return f"{home}/website-login/captcha?{urlencode(query)}"


def _refusal(status: int, body: bytes) -> PlatformError:
    """What the body code says, where it says something, else what the status says."""
    try:
        api_data(body)
    except UnexpectedResponse:
        pass
    except PlatformError as error:
        return error
    if status == 401:
        return LoginRequired("a login is needed", code=status)
    if status == 403:
        return AccessDenied("access is refused", code=status)
    return UnexpectedResponse(f"HTTP status {status}", code=status)


def _redirect_error(location: str, url: str, status: int) -> PlatformError:
    """Where a redirect leads says why it came (6.3)."""
    try:
        target = urlsplit(urljoin(url, unescape(location)))
    except ValueError:
        return UnexpectedResponse("redirected to a malformed address", code=status)
    query = parse_qs(target.query)
    if "captcha" in target.path or "verifyUuid" in query:
        return CaptchaRequired("redirected to a captcha", code=status, page=target.geturl())
    named = {name: values[0] for name, values in query.items()}
    if (code := read.integer(named, "error_code")) is not None:
        return code_error(code, named.get("error_msg", ""))
    if target.path.startswith(("/login", "/website-login")):
        return LoginRequired("redirected to the login page", code=status)
    if target.path.startswith("/404"):
        return NotFound("redirected to the page for what does not exist", code=status)
    if url and _is_rednote(target.hostname) != _is_rednote(urlsplit(url).hostname):
        message = f"the session belongs to the other region ({target.hostname})"
        return LoginRequired(message, code=status)
    return UnexpectedResponse(f"redirected to '{target.path}'", code=status)


def _error_link(page: str) -> str:
    """The address of an error page that a page leads to; "" if none (6.3)."""
    match = _ERROR_LINK.search(page)
    return match[0] if match else ""


def _is_captcha_page(body: bytes) -> bool:
    page = body.decode("utf-8", "replace")
    return page.lstrip().startswith("<") and _CAPTCHA_SIGNS.search(page) is not None


def _is_api(url: str) -> bool:
    return urlsplit(url).path.startswith("/api/")


def _is_rednote(host: str | None) -> bool:
    return (host or "").endswith("rednote.com")
