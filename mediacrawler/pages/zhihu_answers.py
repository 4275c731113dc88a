"""What an answer of Zhihu means before its records are read: data, or which refusal (section 6).

Pure functions. Must not know the records themselves, Scrapy or sessions. Sections are those of
docs/platforms/zhihu.md.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

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
from mediacrawler.pages import Body
from mediacrawler.pages.fields import (
    as_flag,
    count,
    decode_json,
    decode_object,
    decode_text,
    is_html,
    page_text,
    retry_after,
)
from mediacrawler.pages.zhihu_fields import Record

SITE = "https://www.zhihu.com/"
_SIGNATURE_CODES = frozenset({10001, 10002, 10003})
_LOGIN_CODES = frozenset({100, 101, 401, 40353})
_MISSING_CODES = frozenset({404, 410, 4041})
_THROTTLED = 40362
_HUMAN_CHECK = 40352
_FORBIDDEN = 4031

_CHALLENGE = re.compile(r"<meta\b[^>]*\bid\s*=\s*[\"']?zh-zse-ck\b", re.IGNORECASE)
INITIAL_DATA = re.compile(
    r"<script\b[^>]*\bid\s*=\s*[\"']?js-initialData\b[^>]*>(.*?)</script", re.DOTALL
)
MISSING_PAGE = "你似乎来到了没有知识存在的荒原"
_HIDDEN = re.compile("删除|不存在|下架|审核|违反|违规|屏蔽|隐藏")
_ROOT_COMMENTS = re.compile(r"/root_comments?(?:[?#]|$)")
_API_PATH = re.compile(r"https?://(?:api\.zhihu\.com/|[^/]+/api/)", re.IGNORECASE)


def read_answer(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    url: str = "",
    now: float | None = None,
) -> dict[str, Any] | list[Any] | str:
    """The decoded JSON of a good answer, or the text of a good page (section 6).

    :param headers: names in lower case.
    :param url: the URL that was asked for.
    :param now: the present as unix time, for a Retry-After that is a date.
    :raises PlatformError: the subclass that says what else the answer means.
    """
    wait = retry_after(headers.get("retry-after"), now=time.time() if now is None else now)
    if 300 <= status < 400:
        raise _redirect_error(headers.get("location", ""), status)
    if is_html(body):
        return _read_page(status, decode_text(body), url, wait)
    payload = _decode_any(status, body)
    error = error_of(payload)
    raised = meaning_of(error, status, wait) if error is not None else _status_error(status, wait)
    if raised is None:
        return payload if isinstance(payload, (dict, list)) else {}
    if isinstance(raised, NotFound) and _ROOT_COMMENTS.search(url):
        return no_comments()
    raise raised


def _decode_any(status: int, body: bytes) -> Any:
    """Whatever JSON the body holds; what is none counts only where the status is good."""
    try:
        payload = decode_json(body)
    except UnexpectedResponse:
        if status < 400 or body.lstrip().startswith(b"{"):
            raise  # a refusal that was cut off does not say what it refuses: ask again
        return None
    if status < 400 and not isinstance(payload, (dict, list)):
        raise UnexpectedResponse(f"answer is {type(payload).__name__}, expected an object")
    return payload


def _read_page(status: int, text: str, url: str, wait: float | None) -> dict[str, Any] | str:
    raise_for_challenge(text)
    if status in (404, 410) and _ROOT_COMMENTS.search(url):
        return no_comments()
    error = _status_error(status, wait)
    if error is not None:
        raise error
    landed = urlsplit(url).path
    if landed.startswith(("/signin", "/account/unhuman")):
        raise _redirect_error(url, status)
    if INITIAL_DATA.search(text) is None and MISSING_PAGE in text:
        raise NotFound("this page does not exist (any more)", code=404)
    if _API_PATH.match(url):
        raise UnexpectedResponse("a page came where JSON was expected", code=status)
    return text


def no_comments() -> dict[str, Any]:
    """404 in place of comments means that there are none or they are closed (3.8)."""
    return {"data": [], "paging": {"is_end": True}}


def _redirect_error(location: str, status: int) -> PlatformError:
    target = urlsplit(location)
    if target.path.startswith("/signin"):
        return LoginRequired("sent to the sign-in page: the session is missing or expired")
    if target.path.startswith("/account/unhuman"):
        if "need_login=true" in target.query:
            return LoginRequired("login is required (the human check asks for it)")
        message = "a human check is required; solve it in a browser"
        return CaptchaRequired(message, page=urljoin(SITE, location))
    return UnexpectedResponse(f"sent on to '{target.path or location}'", code=status)


def raise_for_challenge(text: str) -> None:
    # Content inside a page cannot look like this: its "<" is written as \u003C.
    if _CHALLENGE.search(text):
        raise CaptchaRequired(
            "the browser challenge (__zse_ck) came; a browser with the same User-Agent passes it",
            code="zse_ck",
        )


def error_of(payload: Any) -> Record | None:
    """The error that a body tells: under `error`, seldom at the top level (section 6)."""
    if not isinstance(payload, dict):
        return None
    error = payload.get("error")
    if isinstance(error, dict) and error:
        return error
    if isinstance(error, str) and error and payload.get("data") is None:
        return {"message": error, **payload}
    if payload.get("data") is not None or "id" in payload:
        return None
    return payload if count(payload.get("code")) or as_flag(payload.get("need_login")) else None


def meaning_of(error: Record, status: int, wait: float | None) -> PlatformError:
    """The exception for an error body: its code, then `need_login`, then the rest (6)."""
    code = count(error.get("code"))
    name = str(error.get("name") or "")
    said = str(error.get("message") or name or "no reason given")
    redirect = str(error.get("redirect") or "")
    shown = code or status or None
    if code in _SIGNATURE_CODES:
        return BadSignature(f"signature refused: {said}", code=shown)
    if code == _THROTTLED or status == 429 or code == 429:
        return RateLimited(f"throttled: {said}", code=shown, retry_after=wait)
    page = urljoin(SITE, redirect) if redirect else None
    if code == _HUMAN_CHECK:
        return CaptchaRequired(f"human check: {said}", code=shown, page=page)
    if code in _LOGIN_CODES or as_flag(error.get("need_login")) or status == 401:
        return LoginRequired(f"login required: {said}", code=shown)
    if "/account/unhuman" in redirect:
        if "need_login=true" in redirect:
            return LoginRequired(f"login required: {said}", code=shown)
        return CaptchaRequired(f"human check: {said}", code=shown, page=page)
    if code in _MISSING_CODES or status in (404, 410) or name == "NotFoundError":
        return NotFound(f"not there: {said}", code=shown)
    if name == "PERMISSION_ERROR" or code == _FORBIDDEN:
        return AccessDenied(f"not allowed: {said}", code=shown, scope="item")
    if status == 403 or code == 403:
        if _HIDDEN.search(said):
            return NotFound(f"hidden: {said}", code=shown)
        return AccessDenied(f"refused: {said}", code=shown)
    return UnexpectedResponse(f"error: {said}", code=shown, retry_after=wait)


def _status_error(status: int, wait: float | None) -> PlatformError | None:
    """What a status alone means, without an error body."""
    if status < 400:
        return None
    if status == 401:
        return LoginRequired("login required", code=status)
    if status == 403:
        return AccessDenied(
            "refused without a reason: the address is blocked or headers are missing",
            code=status,
            scope="ip",
        )
    if status in (404, 410):
        return NotFound("not there (any more)", code=status)
    if status == 429:
        return RateLimited("too many requests", code=status, retry_after=wait)
    return UnexpectedResponse(f"status {status}", code=status, retry_after=wait)


def page_of(body: Body) -> str | None:
    """The text of a page that is not the challenge; None for JSON."""
    text = page_text(body)
    if text is not None:
        raise_for_challenge(text)
    return text


def payload_of(body: Body) -> Record:
    """The JSON object of an answer, after looking for an error in it.

    :raises PlatformError: what the error means.
    """
    if page_of(body) is not None:
        raise UnexpectedResponse("a page came where JSON was expected")
    payload = decode_object(body)
    error = error_of(payload)
    if error is not None:
        raise meaning_of(error, 0, None)
    return payload


def data_of(payload: Record) -> list[Any]:
    """The records of a page; null is an empty list.

    :raises UnexpectedResponse: `data` is missing or no list.
    """
    if "data" not in payload:
        raise UnexpectedResponse("'data' is missing")
    data = payload["data"]
    if data is None:
        return []
    if not isinstance(data, list):
        raise UnexpectedResponse(f"'data' is {type(data).__name__}, expected a list")
    return data
