"""Which of Bilibili's answers are refusals, and readers for the small things in the others.

Pure functions; it must not know what a video or a comment is. Section numbers are those of
docs/platforms/bilibili.md.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

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
    Withheld,
)
from mediacrawler.items import Media
from mediacrawler.pages import AuthorFields, Body
from mediacrawler.pages.fields import (
    as_dict,
    as_text,
    count,
    decode_json,
    decode_object,
    dig,
    https,
    read_rows,
    retry_after,
    with_scheme,
)
from mediacrawler.targets.bilibili import creator_url

PLATFORM = "bilibili"

# --- 6: what answers mean besides data ------------------------------------------------------

_Refusal = tuple[type[PlatformError], Scope | None, str]

_CODES: dict[int, _Refusal] = {
    -101: (LoginRequired, None, "not logged in, or the login has expired"),
    -102: (AccessDenied, "account", "the account is banned"),
    -352: (CaptchaRequired, None, "risk control wants a check by a person (or new keys)"),
    -401: (CaptchaRequired, None, "risk control wants a check by a person"),
    -404: (NotFound, None, "does not exist or was deleted"),
    -412: (RateLimited, "ip", "the address is refused for a while"),
    -509: (RateLimited, None, "too many requests"),
    -658: (LoginRequired, None, "the login has expired"),
    -688: (AccessDenied, "item", "not shown in this region"),
    -689: (AccessDenied, "item", "no right to see this"),
    -799: (RateLimited, None, "too many requests"),
    -10403: (AccessDenied, "item", "for paying members or another region only"),
    12002: (Withheld, None, "comments are closed"),
    12006: (NotFound, None, "the comment is gone"),
    12022: (NotFound, None, "the comment is gone"),
    12052: (Withheld, None, "comments are closed"),
    12061: (Withheld, None, "comments are closed"),
    22115: (Withheld, None, "the list of followings is private"),
    22118: (Withheld, None, "the list of followers is private"),
    62002: (NotFound, None, "the video is hidden"),
    62004: (NotFound, None, "the video is under review"),
    62012: (NotFound, None, "the video is private"),
    87007: (Withheld, None, "for paying supporters only"),
    87008: (Withheld, None, "for paying supporters only"),
}

_STATUSES: dict[int, _Refusal] = {
    401: (LoginRequired, None, "not logged in"),
    403: (AccessDenied, "item", "refused"),
    404: (NotFound, None, "does not exist"),
    410: (NotFound, None, "does not exist any more"),
}

_SHORT_LINK_HOST = re.compile(r"(?:b23\.tv|bili\d+\.cn)$")
_SIGNED_PATH = re.compile(r"/wbi/|/medialist/resource/list")  # section 4.1
_TITLE_412 = "错误号: 412"


def read_answer(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    url: str = "",
    now: float | None = None,
) -> Any:
    """What an answer carries (section 6): decoded JSON; a page's or XML file's text; the bytes
    of a danmaku segment; for a short link the address that it points to.

    *headers* have lower-case names, *url* is the requested address (the same code means
    different things at different ones), *now* the present in unix seconds (the clock if None).

    :raises PlatformError: the subclass that says what the refusal means.
    """
    if status == 412:
        raise _refusal_412(headers, body)
    wait = retry_after(headers.get("retry-after"), now=time.time() if now is None else now)
    if status == 429:
        raise RateLimited("too many requests", code=429, retry_after=wait)
    if status >= 500:
        raise UnexpectedResponse("trouble on the server", code=status, retry_after=wait)
    if 300 <= status < 400:
        return _read_redirect(status, headers.get("location", ""), url)
    if "octet-stream" in headers.get("content-type", "") and not body.startswith(b"{"):
        return body
    return _read_body(status, body, url)


def _refusal_412(headers: Mapping[str, str], body: bytes) -> PlatformError:
    cookies = headers.get("set-cookie", "")
    if "X-BILI-SEC-TOKEN" in cookies or b"/static/js/412.js" in body:
        return CaptchaRequired("a script challenge: only a browser passes it", code=412, scope="ip")
    return RateLimited("the address or session is refused for a while", code=412, scope="ip")


def _read_redirect(status: int, location: str, url: str) -> str:
    if _SHORT_LINK_HOST.search(urlsplit(url).hostname or ""):
        return location
    if (urlsplit(location).hostname or "").startswith("passport."):
        raise LoginRequired("sent to the login page", code=status)
    raise UnexpectedResponse(f"sent away to '{location.split('?')[0]}'", code=status)


def _read_body(status: int, body: bytes, url: str) -> Any:
    start = body.lstrip()[:1]
    if start == b"<":
        page = body.decode("utf-8", "replace")
        check_page(page)
        _check_status(status)
        is_api = urlsplit(url).hostname == "api.bilibili.com"
        if is_api and "<html" in page[:500].lower():
            raise UnexpectedResponse("a page where JSON was expected", code=status)
        return page
    if status >= 400 and start not in (b"{", b"["):
        _check_status(status)
    answer = decode_json(body)
    if isinstance(answer, dict):
        check_code(answer, url)
    _check_status(status)
    return answer


def _check_status(status: int) -> None:
    if status < 400:
        return
    kind, scope, reason = _STATUSES.get(status, (UnexpectedResponse, None, "refused"))
    raise kind(reason, code=status, scope=scope)


def check_page(page: str) -> None:
    """HTML markers; they come with any status (sections 3.3 and 6)."""
    if "window._riskdata_" in page:
        raise CaptchaRequired("the page wants a check by a person")
    if _TITLE_412 in page[:3000]:
        raise RateLimited("the address is refused for a while", code=412, scope="ip")


def check_code(answer: dict[str, Any], url: str) -> None:
    """Raise what the body's code means; 0, a missing code and readable keys are none."""
    code = whole(answer.get("code"))
    if code is None or code == 0:
        data = answer.get("data")
        if isinstance(data, dict) and _only_voucher(data):
            # section 6: looks like success, is the same as -352 and never an empty page
            raise CaptchaRequired("risk control answers with a voucher only", code="voucher")
        return
    if code == -101 and dig(as_dict(answer.get("data")), "wbi_img"):
        return  # the navigation data of a visitor: the keys are in it (section 1.4)
    message = answer.get("message") or answer.get("msg")
    said = f" ({message})" if isinstance(message, str) and message else ""
    if code == -403:
        if _SIGNED_PATH.search(urlsplit(url).path):
            raise BadSignature(f"the signature was refused{said}", code=code)
        raise AccessDenied(f"no right to see this{said}", code=code, scope="item")
    kind, scope, reason = _CODES.get(code, (UnexpectedResponse, None, "refused"))
    raise kind(f"{reason}{said}", code=code, scope=scope)


def _only_voucher(data: dict[str, Any]) -> bool:
    return bool(data.get("v_voucher")) and not any(
        value for key, value in data.items() if key != "v_voucher"
    )


def payload(body: Body, url: str = "") -> Any:
    """What the envelope carries (``data``, on old endpoints ``result``)."""
    answer = decode_object(body)
    check_code(answer, url)
    data = answer.get("data")
    return answer.get("result") if data is None else data


def payload_dict(body: Body, url: str = "") -> dict[str, Any]:
    data = payload(body, url)
    if not isinstance(data, dict):
        raise UnexpectedResponse(f"'data' is {type(data).__name__}, expected an object")
    return data


# --- Readers of small things ----------------------------------------------------------------

_Row = TypeVar("_Row")
_OWN_IMAGES = re.compile(r"https?://[^/]*(?:hdslb\.com|biliimg\.com|bilivideo\.(?:com|cn))/")
_CARRIES_MID = re.compile(  # section 8.4: 32 hex digits and the uploader's number
    r"/bfs/(?:new_dyn|article|dyn_video|note)/|/(?![0-9a-f]{40}\.)[0-9a-f]{32}\d+\."
)


def only_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def whole(value: Any) -> int | None:
    """A signed whole number, also as digits; anything else is None."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def identifier(value: Any) -> str | None:
    """An identifier as text; 0 and blank are none."""
    found = as_text(value)
    return None if found == "0" else found


def prose(value: Any) -> str | None:
    """A description; the site writes "-" for none (section 7.1)."""
    found = as_text(value)
    return None if found == "-" else found


def seconds(value: Any) -> int | None:
    """Seconds from ``[H:]M:S``, not padded and minutes unlimited; 0 is unknown (section 5.1)."""
    if isinstance(value, str) and ":" in value:
        total = 0
        for part in value.split(":"):
            digits = part.strip()
            if not digits.isdecimal():
                return None
            total = total * 60 + int(digits)
    else:
        total = count(value) or 0
    return total if 0 < total < 10**9 else None


def https_url(value: Any) -> str | None:
    """An address made whole; only the site's own hosts are known to serve https."""
    found = with_scheme(as_text(value) or "")
    if not found.startswith(("http://", "https://")):
        return None
    return https(found) if _OWN_IMAGES.match(found) else found


def image_url(value: Any) -> str | None:
    """The address of the original picture: the processing order ``@...`` is cut (section 8.4)."""
    found = https_url(value)
    if found is None or "@" not in found or not _OWN_IMAGES.match(found):
        return found
    return found.partition("@")[0]


def picture_media(url: Any, width: Any = None, height: Any = None) -> Iterator[Media]:
    address = image_url(url)
    if address:
        yield Media(
            "image",
            address,
            width=count(width) or None,
            height=count(height) or None,
            identifying=bool(_CARRIES_MID.search(address)),
        )


def author_fields(mid: Any, name: Any = None, face: Any = None) -> AuthorFields:
    author_id = identifier(mid)
    return {
        "author_id": author_id,
        "author_name": as_text(name),
        "author_url": creator_url(author_id) if author_id else None,
        "author_avatar": https_url(face),
    }


def cover_media(url: Any, width: Any = None, height: Any = None) -> list[Media]:
    covers = list(picture_media(url, width, height))
    for cover in covers:
        cover.kind = "cover"
    return covers


def card_media(cover: Any, length: Any) -> list[Media]:
    """What a list shows of a video: its cover, and how long it is."""
    return [*cover_media(cover), Media("video", duration_s=seconds(length))]


def mentioned(pairs: Iterable[tuple[Any, Any]]) -> list[dict[str, str | None]]:
    """``mentions`` from pairs of name and account number."""
    return [
        {"name": name, "id": identifier(mid)}
        for name, mid in pairs
        if isinstance(name, str) and name and not isinstance(mid, (dict, list, bool))
    ]


def rows_of(
    rows: list[Any], read: Callable[[dict[str, Any]], _Row | None]
) -> tuple[list[_Row], int]:
    """Like :func:`~mediacrawler.pages.fields.read_rows`, where not all rows can be unreadable.

    :raises UnexpectedResponse: there are rows and not one can be read.
    """
    found, unreadable = read_rows(rows, read)
    if unreadable and not found:
        raise UnexpectedResponse(f"not one of {unreadable} rows can be read")
    return found, unreadable
