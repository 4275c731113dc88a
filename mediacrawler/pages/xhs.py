"""What an answer of XHS (XiaoHongShu, and its international twin RedNote) means.

Pure functions: bytes, text or decoded JSON in; notes, comments, creators or an exception out.
Facts about the wire stand in docs/platforms/xhs.md, cited here by section. Nothing here knows
Scrapy, which request comes next, or files.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from html import unescape
from itertools import zip_longest
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

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
from mediacrawler.items import Comment, Creator, Gender, Media, MediaKind, Post, PostType
from mediacrawler.pages import Body, CommentPage, PostList, PostPage
from mediacrawler.pages.fields import count, decode_json, dig_list, retry_after, timestamp, unique

PLATFORM = "xhs"

WEB = "https://www.xiaohongshu.com"
REDNOTE_WEB = "https://www.rednote.com"  # the twin: same paths and shapes (1.1)

DEFAULT_SOURCE = "pc_search"  # for a token whose origin is unknown (2.3)
FEED_SOURCE = "pc_feed"
PROFILE_SOURCE = "pc_user"


@dataclass(slots=True)
class CreatorList:
    """One page of a user search."""

    creators: list[Creator]
    has_more: bool
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who the platform takes the session for."""

    user_id: str | None
    guest: bool


def post_url(note_id: str, token: str | None = None, source: str | None = None) -> str:
    """The canonical address of a note; without a token it opens to a login wall (2.2)."""
    url = f"{WEB}/explore/{note_id}"
    if token is None:
        return url
    return f"{url}?xsec_token={quote(token, safe='')}&xsec_source={source or DEFAULT_SOURCE}"


def creator_url(user_id: str) -> str:
    """The canonical address of a profile (2.2)."""
    return f"{WEB}/user/profile/{user_id}"


def id_time(object_id: str) -> datetime | None:
    """About when a note or comment was created, read from its id (2.1); UTC.

    Good for a first look at cards, which carry no time; never a publication time: a draft
    can be much older than the note. None for anything else than 24 hex digits.
    """
    if not re.fullmatch(r"[0-9a-f]{24}", object_id):
        return None
    return datetime.fromtimestamp(int(object_id[:8], 16), timezone.utc)


# --- Is it a good answer? (6) -----------------------------------------------------------------

_CODES: dict[int, tuple[type[PlatformError], Scope, str]] = {
    -1: (BadSignature, "request", "the signature was refused"),
    -100: (LoginRequired, "account", "the login has expired"),
    -101: (LoginRequired, "account", "no login was sent"),
    -104: (LoginRequired, "account", "the session is a guest's, a login is needed"),
    300011: (AccessDenied, "account", "the account is flagged"),
    300012: (AccessDenied, "ip", "the network address is refused"),
    300013: (RateLimited, "account", "too many requests"),
    300015: (BadSignature, "request", "the browser environment was refused"),
    300017: (AccessDenied, "item", "the token is missing or belongs to another note"),
    300031: (NotFound, "item", "the note cannot be viewed"),
    -510000: (NotFound, "item", "the note does not exist"),
    -510001: (NotFound, "item", "the note is deleted, private or under review"),
}
"""Body codes and the error codes of redirects (6.2)."""

_SUCCESS = (0, 1000)  # suggestions and user search answer 1000 (6)
_SEARCH_QUOTA = "搜索次数已达"  # a daily quota, announced only by its message (6.2)

_PAGE_MARKERS: tuple[tuple[re.Pattern[str], type[PlatformError], Scope], ...] = (
    (
        re.compile("页面不见了|笔记不存在|当前笔记暂时无法浏览|该内容因违规已被删除"),
        NotFound,
        "item",
    ),
    (re.compile("私密笔记|仅作者可见"), NotFound, "item"),
    (re.compile("安全限制|访问链接异常|access-wrapper"), AccessDenied, "item"),
    (re.compile("请登录|登录后查看搜索结果"), LoginRequired, "account"),
)
"""What a page says, outside its scripts, instead of showing what was asked for (6.3)."""

_CAPTCHA_SIGNS = re.compile(r"captcha|verifyuuid|请通过验证|滑块", re.IGNORECASE)
_ERROR_LINK = re.compile(r"(?:https?://[\w.]+)?/(?:website-login/|404\?|login\?)[^\s\"'<>]*")
_SCRIPTS = re.compile(r"<script\b.*?</script>", re.DOTALL | re.IGNORECASE)


def read_answer(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    url: str = "",
    now: float | None = None,
) -> dict[str, Any] | str:
    """The decoded JSON object of an API answer, or the text of an HTML page (6).

    *headers* have lower-case names; *url* is what was asked for; *now* (unix time) is what a
    Retry-After date is compared with.

    :raises PlatformError: the answer is a refusal, or not what the protocol describes.
    """
    if status != 200:
        wait = retry_after(headers.get("retry-after"), now=time.time() if now is None else now)
        raise _status_error(status, headers, body, url, wait)
    content = _decoded(body)
    if isinstance(content, dict):
        _check_code(content)
        return content
    if _is_api(url) or not _has_state(content):
        raise _page_error(content)
    return content


def _status_error(
    status: int, headers: Mapping[str, str], body: bytes, url: str, wait: float | None
) -> PlatformError:
    """What an HTTP status other than 200 means (6.1); it is judged before the body."""
    if status in (461, 471):  # comes with a body that looks like success (10.7)
        kind = headers.get("verifytype", "unknown")
        return CaptchaRequired(f"a captcha is asked for (type {kind})", code=status)
    if 300 <= status < 400:
        return _redirect_error(headers.get("location") or _error_link(body), url, status)
    if status == 406:
        return BadSignature("the signature was refused", code=status)
    if status == 429:
        return RateLimited("too many requests", code=status, retry_after=wait)
    if status == 404 and not _is_api(url):
        return NotFound("the page does not exist", code=status)
    if status == 503 and _is_captcha_page(body):
        return CaptchaRequired("a captcha page came instead of an answer", code=status)
    if status in (400, 401, 403):
        return _refusal(status, body)
    return UnexpectedResponse(f"HTTP status {status}", code=status, retry_after=wait)


def _refusal(status: int, body: bytes) -> PlatformError:
    """The body code where a refusal carries one, else what the status says."""
    try:
        content = _decoded(body)
        if isinstance(content, dict):
            _check_code(content)
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
    """Where a redirect leads tells why the page was not given (6.3)."""
    target = urlsplit(unescape(location))
    query = parse_qs(target.query)
    if "captcha" in target.path or "verifyUuid" in query:
        return CaptchaRequired("redirected to a captcha", code=status)
    for name in ("error_code", "errorCode"):
        code = _code(query.get(name, [None])[0])
        if code is not None:
            return _code_error(code, query.get("error_msg", [""])[0])
    if target.path.startswith(("/login", "/website-login")):
        return LoginRequired("redirected to the login page", code=status)
    if target.path.startswith("/404"):
        return NotFound("redirected to the page for what does not exist", code=status)
    if _region(target.hostname) != _region(urlsplit(url).hostname or target.hostname):
        return LoginRequired(
            f"the session belongs to the other region ({target.hostname})", code=status
        )
    return UnexpectedResponse(f"redirected to '{target.path}'", code=status)


def _region(host: str | None) -> str:
    return "rednote" if host and host.endswith("rednote.com") else "xhs"


def _error_link(page: bytes | str) -> str:
    """The address of an error page that is named in a page ("" if none); see 10.31."""
    text = page if isinstance(page, str) else page.decode("utf-8", "replace")
    match = _ERROR_LINK.search(text)
    return match[0] if match else ""


def _is_api(url: str) -> bool:
    return urlsplit(url).path.startswith("/api/")


def _is_captcha_page(body: bytes | str) -> bool:
    text = body if isinstance(body, str) else body.decode("utf-8", "replace")
    return text.lstrip().startswith("<") and _CAPTCHA_SIGNS.search(text) is not None


def _page_error(page: str, state: Mapping[str, Any] | None = None) -> PlatformError:
    """Why a page does not show what was asked for (6.3)."""
    link = _error_link(page) if state is None else ""
    if link:
        return _redirect_error(link, "", 200)
    visible = _SCRIPTS.sub("", page)
    for pattern, error, scope in _PAGE_MARKERS:
        match = pattern.search(visible)
        if match:
            return error(f"the page says '{match[0]}'", scope=scope)
    if state is None:
        if _is_captcha_page(page):
            return CaptchaRequired("a captcha page came instead of an answer")
        return UnexpectedResponse("a page without any state came instead of an answer")
    if _object(state, "user").get("loggedIn") is False:
        return LoginRequired("the page shows nothing to a visitor without login")
    return AccessDenied("the page is empty: wrong token or soft block", scope="item", soft=True)


def _decoded(body: Body) -> dict[str, Any] | str:
    """The JSON object of an API answer, or the text of an HTML page."""
    if isinstance(body, dict):
        return body
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    if text.lstrip()[:1] == "<":
        return text
    content = decode_json(text)
    if not isinstance(content, dict):
        raise UnexpectedResponse(f"answer is {type(content).__name__}, expected an object")
    return content


def _code(value: Any) -> int | None:
    """A body code; it can arrive as text (10.9)."""
    try:
        return None if value is None else int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _code_error(code: int, message: str) -> PlatformError:
    if _SEARCH_QUOTA in message:
        return RateLimited("the account's searches of today are used up", code=code)
    if code == -1 and message:  # a refused signature has no message, refused parameters have
        return UnexpectedResponse(f"the request was refused: {message}", code=code)
    if code not in _CODES:
        return UnexpectedResponse(f"unknown code: {message or 'no message'}", code=code)
    error, scope, meaning = _CODES[code]
    return error(f"{meaning}: {message}" if message else meaning, code=code, scope=scope)


def _check_code(answer: Mapping[str, Any]) -> None:
    """Raise what the body code says; `success` is no help, it lies both ways (10.7, 10.8)."""
    code = _code(answer.get("code"))
    message = _text(answer, "msg", "message") or ""
    if code is None:
        if "data" not in answer or answer.get("success") is False:
            raise UnexpectedResponse(f"answer without a code: {message or 'no message'}")
        return
    if code not in _SUCCESS or _SEARCH_QUOTA in message:
        raise _code_error(code, message)


def _data(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The `data` object of an API answer; missing, null and ``[]`` give ``{}``."""
    _check_code(answer)
    data = answer.get("data") or {}
    if not isinstance(data, dict):
        raise UnexpectedResponse(f"'data' is {type(data).__name__}, expected an object")
    return data


def _filled_data(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Like :func:`_data`, where an empty `data` is a soft block (6.4)."""
    data = _data(answer)
    if not data:
        raise AccessDenied("success without any data: a soft block", soft=True)
    return data


# --- The state of an HTML page (5.6) ----------------------------------------------------------

_STATE = re.compile(r"window\.(__INITIAL_STATE__|__SETUP_SERVER_STATE__)\s*=\s*")
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_STATE_DECODER = json.JSONDecoder(strict=False)  # raw control characters occur


def _has_state(page: str) -> bool:
    return _STATE.search(page) is not None


def read_state(page: str) -> dict[str, Any] | None:
    """The state that a page was rendered from, or None if it has none.

    :raises UnexpectedResponse: the state is cut or no object.
    """
    match = _STATE.search(page)
    if match is None:
        return None
    literal = page[match.end() :].partition("</script>")[0]
    try:
        state, _ = _STATE_DECODER.raw_decode(_json_of(literal))
    except ValueError:
        raise UnexpectedResponse(f"'{match[1]}' is not (whole) JSON") from None
    if not isinstance(state, dict):
        raise UnexpectedResponse(f"'{match[1]}' is {type(state).__name__}, expected an object")
    return state


def _json_of(literal: str) -> str:
    """A JavaScript literal as JSON: ``undefined`` becomes null, but not inside of texts.

    An odd number of quotes before a word, escaped ones aside, puts it inside of a text.
    """
    first, *rest = literal.split("undefined")
    pieces, before, inside = [first], first, False
    for after in rest:
        inside ^= _ESCAPE.sub("", before).count('"') % 2 == 1
        pieces += ["undefined" if inside else "null", after]
        before = after
    return "".join(pieces)


def _page_state(page: str) -> dict[str, Any]:
    state = read_state(page)
    if state is None:
        raise _page_error(page)
    return state


# --- Reading records --------------------------------------------------------------------------
# Inside a record, a value of a wrong type reads as "not said": it must not cost the other
# records of its page. The API spells keys in snake_case, the HTML state in camelCase (10.20).


@cache
def _spellings(names: tuple[str, ...]) -> tuple[str, ...]:
    """Each snake_case name, followed by its camelCase form where that differs."""
    both = ((name, re.sub(r"_([a-z])", lambda letter: letter[1].upper(), name)) for name in names)
    return tuple(dict.fromkeys(spelling for pair in both for spelling in pair))


def _pick(record: Mapping[str, Any], *names: str) -> Any:
    """The first value, neither null nor blank, under one of *names* in either spelling."""
    for key in _spellings(names):
        value = record.get(key)
        if value is not None and value != "":
            return value
    return None


def _text(record: Mapping[str, Any], *names: str) -> str | None:
    value = _pick(record, *names)
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return None


def _object(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    value = _pick(record, *names)
    return value if isinstance(value, dict) else {}


def _objects(record: Mapping[str, Any], *names: str) -> list[dict[str, Any]]:
    value = _pick(record, *names)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _flag(record: Mapping[str, Any], *names: str) -> bool:
    return _pick(record, *names) in (True, "true", "True", "1")


def _moment(record: Mapping[str, Any], *names: str) -> datetime | None:
    try:
        return timestamp(_pick(record, *names))
    except UnexpectedResponse:
        return None


def _count(record: Mapping[str, Any], *names: str) -> int | None:
    return count(_pick(record, *names))


_TOPIC = re.compile(r"(#[^#]+?)\[话题\]#")


def _prose(record: Mapping[str, Any], *names: str) -> str | None:
    """Text as a person reads it: ``#name[话题]#`` is ``#name`` (7)."""
    value = _text(record, *names)
    return value if value is None or "[话题]#" not in value else _TOPIC.sub(r"\1", value)


def _mentions(record: Mapping[str, Any], *names: str) -> list[dict[str, str | None]]:
    return [
        {"name": _text(user, "nickname", "nick_name"), "id": _text(user, "user_id")}
        for user in _objects(record, *names)
    ]


def _avatar(user: Mapping[str, Any], *names: str) -> str | None:
    """The picture of a person, without the request to shrink it (8)."""
    url = _text(user, *names)
    return url and url.partition("?imageView2")[0]


def _said(**extra: Any) -> dict[str, Any]:
    """Only what has a value."""
    return {name: value for name, value in extra.items() if value or value == 0}


# --- Media (8) --------------------------------------------------------------------------------

_ORIGINALS = "https://ci.xiaohongshu.com"  # without watermark, for both regions
_PICTURE_HOSTS = ("https://sns-img-bd.xhscdn.com", "https://sns-img-qc.xhscdn.com")
_VIDEO_HOSTS = (
    "https://sns-video-bd.xhscdn.com",
    "https://sns-video-qc.xhscdn.com",
    "https://sns-video-hw.xhscdn.com",
)
_PICTURE_TOKEN = re.compile(
    r"https?://(?:ci\.xiaohongshu\.com|[\w.-]+\.(?:xhscdn|rednotecdn)\.com)"
    r"/(?:\d{8,14}/[0-9a-f]{32}/)?"  # when and by whom it was signed: expires
    r"([^!?#]+)"  # folders included, else 404 (10.24)
)
_SCENES = ("WB_DFT", "FD_WM_WEBP")  # the one before and since 2024
_STANDARD_CODECS = ("h264", "h265", "h266", "av1")
_CODEC_NAMES = {"hevc": "h265", "avc": "h264", "vvc": "h266"}


def picture_token(url: str) -> str | None:
    """What names a picture on all hosts, from any address that it was delivered under (8.1)."""
    match = _PICTURE_TOKEN.match(url)
    return match[1] if match else None


def _picture(image: Mapping[str, Any], kind: MediaKind) -> Media:
    """A picture as its original; other hosts and the delivered addresses stand by (8.1)."""
    delivered = _picture_urls(image)
    token = next(filter(None, map(picture_token, delivered)), None)
    urls = [_https(url) for url in delivered[:2]]
    if token:
        urls = [f"{host}/{token}" for host in (_ORIGINALS, *_PICTURE_HOSTS)] + urls
    media = _media(kind, unique(urls))
    media.width = _pixels(image, "width")
    media.height = _pixels(image, "height")
    return media


def _picture_urls(image: Mapping[str, Any]) -> list[str]:
    """Delivered addresses, the best first; `url` is often blank (8.1)."""
    scenes = {_text(info, "image_scene"): info for info in _objects(image, "info_list")}
    ranked = [scenes.pop(scene, {}) for scene in _SCENES] + list(scenes.values())
    urls = [_text(image, "url_default"), _text(image, "url"), _text(image, "url_size_large")]
    urls += [_text(info, "url") for info in ranked]
    urls.append(_text(image, "url_pre"))
    return unique(url for url in urls if _is_link(url))


def _video(video: Mapping[str, Any], prefer_codec: str | None) -> Media:
    """The video of a note: the original upload, else its best stream (8.3)."""
    details = _object(video, "media")
    stream = best_stream(_object(details, "stream"), prefer_codec)
    key = _text(_object(video, "consumer"), "origin_video_key")
    clip = _clip(stream, "video")
    if key:  # its size is not told, and need not be that of the stream
        urls = [f"{host}/{key}" for host in _VIDEO_HOSTS] + _stream_urls(stream)
        clip = _media("video", urls, duration_s=clip.duration_s)
    clip.ext = "mp4"
    if clip.duration_s is None:
        clip.duration_s = _seconds(_object(details, "video"), "duration") or _seconds(
            _object(video, "capa"), "duration"
        )
    return clip


def best_stream(streams: Mapping[str, Any], prefer_codec: str | None = None) -> Mapping[str, Any]:
    """The stream to take from the buckets `h264`, `h265`, ...; ``{}`` if none has an address.

    Without watermark where possible, then *prefer_codec* ("h264") where possible, then the
    largest picture, then a codec that players know, then the highest bitrate (8.3).
    """
    found = [
        (_codec(bucket, stream), stream)
        for bucket in streams
        for stream in _objects(streams, bucket)
        if _stream_urls(stream)
    ]
    found = [
        one for one in found if not (_text(one[1], "stream_desc") or "").startswith("WM_")
    ] or found
    found = [one for one in found if one[0] == prefer_codec] or found
    if not found:
        return {}
    return max(found, key=_stream_quality)[1]


def _codec(bucket: str, stream: Mapping[str, Any]) -> str:
    """ "h264", "h265", ...: what the stream says, else the bucket it stands in."""
    name = (_text(stream, "video_codec") or bucket).lower()
    return _CODEC_NAMES.get(name, name)


def _stream_quality(candidate: tuple[str, Mapping[str, Any]]) -> tuple[int, bool, int]:
    codec, stream = candidate
    area = (_pixels(stream, "width") or 0) * (_pixels(stream, "height") or 0)
    return area, codec in _STANDARD_CODECS, _count(stream, "avg_bitrate") or 0


def _stream_urls(stream: Mapping[str, Any]) -> list[str]:
    """Backup addresses first: they are not signed and live longer (8.3)."""
    backups = _pick(stream, "backup_urls")
    urls = [*(backups if isinstance(backups, list) else []), _pick(stream, "master_url")]
    return [_https(url) for url in urls if _is_link(url)]


def _clip(stream: Mapping[str, Any], kind: MediaKind) -> Media:
    milliseconds = _count(stream, "duration")
    media = _media(kind, _stream_urls(stream))
    media.ext = "mp4"
    media.width = _pixels(stream, "width")
    media.height = _pixels(stream, "height")
    media.duration_s = milliseconds / 1000 if milliseconds else None
    return media


def _media(kind: MediaKind, urls: list[str], duration_s: float | None = None) -> Media:
    if not urls:
        return Media(kind=kind, status="missing", duration_s=duration_s)
    return Media(kind=kind, url=urls[0], backup_urls=urls[1:], duration_s=duration_s)


def _pixels(record: Mapping[str, Any], name: str) -> int | None:
    return _count(record, name) or None


def _seconds(record: Mapping[str, Any], name: str) -> float | None:
    value = _count(record, name)
    return float(value) if value else None


def _is_link(url: Any) -> bool:
    return isinstance(url, str) and url.startswith(("http://", "https://"))


def _https(url: str) -> str:
    return "https://" + url[7:] if url.startswith("http://") else url


# --- Lists of notes (5.1) ---------------------------------------------------------------------


def search(body: Body, *, page: int = 1) -> PostList:
    """The notes of a keyword search (v1 or v2), of the home feed, or of an /explore page.

    *page* is the number of the page that was asked for, from 1; the cursor is the next one,
    or what the home feed has to be asked with. Suggestions and advertisements between the
    notes are left out. No notes at all is a valid answer here: whether it hides a soft block
    only the history of a run can tell (6.4).
    """
    content = _decoded(body)
    if isinstance(content, str):
        return _page_feed(content, page)
    data = _data(content)
    items = dig_list(data, "items")
    if "cursor_score" in data:
        cursor = _text(data, "cursor_score")
        return PostList(list(_cards(items, FEED_SOURCE)), bool(items and cursor), cursor)
    has_more = _flag(data, "has_more")
    posts = list(_cards(items, DEFAULT_SOURCE))
    return PostList(posts, has_more, str(page + 1) if has_more else None)


def _page_feed(page: str, number: int) -> PostList:
    """What a search page or an /explore page was rendered with (5.6)."""
    state = _page_state(page)
    hits = _object(state, "search")
    if found := _objects(hits, "feeds"):
        more = _flag(hits, "has_more")
        posts = list(_cards(found, DEFAULT_SOURCE))
        return PostList(posts, more, str(number + 1) if more else None)
    feed = _object(state, "feed")
    if "feeds" not in feed and "feeds" not in hits:
        raise _page_error(page, state)
    cursor = _text(_object(feed, "query"), "cursor_score")
    posts = list(_cards(_objects(feed, "feeds"), FEED_SOURCE))
    return PostList(posts, cursor is not None, cursor)


def creator_posts(body: Body) -> PostList:
    """A page of a creator's notes, pinned ones first, or of liked or collected notes (3.5).

    Also reads the first notes of a profile page.

    :raises AccessDenied: success without data, or an empty page (soft).
    """
    content = _decoded(body)
    if isinstance(content, str):
        return _page_notes(content)
    data = _filled_data(content)
    posts = list(_cards(dig_list(data, "notes"), PROFILE_SOURCE))
    return PostList(posts, _flag(data, "has_more"), _text(data, "cursor"))


def _page_notes(page: str) -> PostList:
    """Tab 0 of a profile page; the other tabs are collections and likes (5.6)."""
    state = _page_state(page)
    user = _object(state, "user")
    _check_profile(page, state, user)
    tabs = dig_list(user, "notes")
    notes = tabs[0] if tabs and isinstance(tabs[0], list) else []
    query = next(iter(_objects(user, "note_queries")), {})
    posts = list(_cards(notes, PROFILE_SOURCE))
    return PostList(posts, _flag(query, "has_more"), _text(query, "cursor"))


def _cards(items: list[Any], source: str) -> Iterator[Post]:
    """The notes among list items; *source* is where their tokens come from (2.3)."""
    for item in items:
        if not isinstance(item, dict) or (_text(item, "model_type") or "note") != "note":
            continue
        card = _object(item, "note_card") or item
        note_id = _text(card, "note_id") or _text(item, "id")
        if note_id is None or not _object(card, "user", "interact_info", "cover"):
            continue
        yield _card(note_id, card, _text(item, "xsec_token") or _text(card, "xsec_token"), source)


def _card(note_id: str, card: Mapping[str, Any], token: str | None, source: str) -> Post:
    """A note as lists show it: without text, time, tags and media but the cover (5.1)."""
    post = _note(note_id, card, token, source)
    cover = _picture(_object(card, "cover"), "cover")
    post.media = [cover] if cover.url else []
    post.title = _text(card, "display_title", "title")
    if _flag(_object(card, "interact_info"), "sticky"):
        post.extra["is_pinned"] = True
    return post


def _note(note_id: str, card: Mapping[str, Any], token: str | None, source: str) -> Post:
    """What cards and details have in common (7)."""
    user = _object(card, "user")
    counts = _object(card, "interact_info")
    author_id = _text(user, "user_id")
    return Post(
        platform=PLATFORM,
        post_id=note_id,
        post_type=_post_type(card),
        url=post_url(note_id, token, source),
        author_id=author_id,
        author_name=_text(user, "nickname", "nick_name"),
        author_url=author_id and creator_url(author_id),
        author_avatar=_avatar(user, "avatar", "image", "images"),
        like_count=_count(counts, "liked_count"),
        comment_count=_count(counts, "comment_count"),
        share_count=_count(counts, "share_count", "shared_count"),
        collect_count=_count(counts, "collected_count"),
        extra={"xsec_token": token, "xsec_source": source} if token else {},
    )


def _post_type(card: Mapping[str, Any]) -> PostType:
    """A note is a video or pictures; new kinds count as what they carry."""
    kind = _text(card, "type")
    return "video" if kind == "video" or (kind != "normal" and _object(card, "video")) else "image"


# --- One note (5.2) ---------------------------------------------------------------------------


def post(
    body: Body,
    *,
    post_id: str | None = None,
    xsec_token: str | None = None,
    xsec_source: str | None = None,
    prefer_codec: str | None = None,
) -> PostPage:
    """A note in full, from the API, a desktop page or a phone page (3.2, 3.3).

    *xsec_token* and *xsec_source* are those that the note was asked for with; *prefer_codec*
    ("h264") picks among the streams of a video.

    :raises AccessDenied: no note in a good answer: wrong token or soft block (``item``, soft).
    """
    card = _detail(body, post_id)
    note_id = _text(card, "note_id", "id") or post_id
    if note_id is None:
        raise UnexpectedResponse("'note_card' has no id")
    token = xsec_token or _text(card, "xsec_token")
    detail = _note(note_id, card, token, xsec_source or DEFAULT_SOURCE)
    detail.title = _text(card, "title")
    detail.text = _prose(card, "desc")
    detail.ip_location = _text(card, "ip_location")
    detail.published_at = _moment(card, "time")
    edited_at = _moment(card, "last_update_time")
    detail.edited_at = edited_at if edited_at != detail.published_at else None
    tags = _objects(card, "tag_list")
    detail.tags = unique(
        name for tag in tags if _text(tag, "type") == "topic" and (name := _text(tag, "name"))
    )
    detail.media = _note_media(card, detail.post_type, prefer_codec)
    detail.extra |= _said(
        mentions=_mentions(card, "at_user_list"),
        other_tags=[
            {"name": name, "type": _text(tag, "type")}
            for tag in tags
            if _text(tag, "type") != "topic" and (name := _text(tag, "name"))
        ],
        video_id=_text(_object(_object(card, "video"), "media"), "video_id"),
        has_live_photo=any(_flag(image, "live_photo") for image in _objects(card, "image_list")),
        subtitles=_subtitles(_object(card, "video")),
    )
    return PostPage(detail)


def _detail(body: Body, post_id: str | None) -> dict[str, Any]:
    content = _decoded(body)
    if isinstance(content, str):
        return _page_note(content, post_id)
    return _api_note(content, post_id)


def _api_note(answer: Mapping[str, Any], post_id: str | None) -> dict[str, Any]:
    for item in _objects(_data(answer), "items"):
        card = _object(item, "note_card")
        note_id = _text(card, "note_id") or _text(item, "id")
        if card and (post_id is None or note_id in (None, post_id)):
            return {"id": note_id, "xsec_token": _text(item, "xsec_token"), **card}
    raise AccessDenied(
        "an answer without the note: wrong token or soft block", scope="item", soft=True
    )


def _page_note(page: str, post_id: str | None) -> dict[str, Any]:
    state = _page_state(page)
    note = _desktop_note(state, post_id) or _phone_note(state)
    if note and (post_id is None or _text(note, "note_id", "id") in (None, post_id)):
        return note
    request = _object(_object(state, "note"), "server_request_info")
    code = _code(_pick(request, "error_code"))
    if code:
        raise _code_error(code, _text(request, "err_msg") or "")
    raise _page_error(page, state)


def _desktop_note(state: Mapping[str, Any], post_id: str | None) -> dict[str, Any]:
    """``note.noteDetailMap[id].note``; an entry named "undefined" is no note (10.22)."""
    notes = _object(state, "note")
    known = _object(notes, "note_detail_map")
    note_id = post_id or _text(notes, "current_note_id", "first_note_id") or next(iter(known), "")
    return _object(_object(known, note_id), "note")


def _phone_note(state: Mapping[str, Any]) -> dict[str, Any]:
    """Both phone pages (3.3); the older one keeps addresses of its pictures elsewhere."""
    shown = _object(state, "note_data") or _object(
        _object(state, "LAUNCHER_SSR_STORE_PAGE_DATA"), "note_data"
    )
    note = _object(_object(shown, "data"), "note_data") or shown
    preloaded = _objects(_object(shown, "normal_note_preload_data"), "images_list")
    if not _text(note, "note_id", "id") or not preloaded:
        return note if _text(note, "note_id", "id") else {}
    pairs = zip_longest(preloaded, _objects(note, "image_list"))
    return {**note, "imageList": [{**(early or {}), **(late or {})} for early, late in pairs]}


def _note_media(
    card: Mapping[str, Any], post_type: PostType | None, prefer_codec: str | None
) -> list[Media]:
    """Video, cover, further pictures; or pictures, each before its live clip (8)."""
    images = _objects(card, "image_list")
    media: list[Media] = []
    if post_type == "video":
        media.append(_video(_object(card, "video"), prefer_codec))
        media += [_picture(image, "cover") for image in images[:1]]
        images = images[1:]
    for image in images:
        media.append(_picture(image, "image"))
        stream = best_stream(_object(image, "stream"), prefer_codec)
        if stream and _flag(image, "live_photo"):
            media.append(_clip(stream, "live_photo"))
    return media


def _subtitles(video: Mapping[str, Any]) -> list[dict[str, str | None]]:
    """Subtitle files, named in a JSON text inside of the JSON (3.8)."""
    details = _pick(video, "media_v2", "mediaV2")
    if isinstance(details, str):
        try:
            details = json.loads(details)
        except ValueError:
            return []
    if not isinstance(details, dict):
        return []
    languages = _object(_object(details, "video"), "subtitles")
    return [
        {"language": language, "url": _text(file, "url"), "format": _text(file, "format")}
        for language in languages
        for file in _objects(languages, language)
        if _text(file, "url")
    ]


# --- Creators (5.3, 5.5) ----------------------------------------------------------------------

_GENDERS: dict[str | None, Gender] = {"0": "male", "1": "female"}


def creator(body: Body, *, creator_id: str | None = None) -> Creator:
    """A profile, from the API or a profile page.

    The API does not repeat whose profile it is: *creator_id* is what was asked for (3.4).

    :raises AccessDenied: success without data (soft), or no profile in it (``item``).
    :raises NotFound: the creator is banned.
    """
    content = _decoded(body)
    if isinstance(content, str):
        state = _page_state(content)
        user = _object(state, "user")
        _check_profile(content, state, user)
        query = next(iter(_objects(user, "note_queries")), {})
        return _profile(_object(user, "user_page_data"), creator_id or _text(query, "user_id"))
    return _profile(_filled_data(content), creator_id)


def _check_profile(page: str, state: Mapping[str, Any], user: Mapping[str, Any]) -> None:
    """A banned creator, or a page without profile and notes (6.3)."""
    ban = _object(user, "banned_info")
    if _flag(ban, "server_banned"):
        raise NotFound(
            f"the creator is banned: {_text(ban, 'reason')}", code=_code(ban.get("code"))
        )
    if not _object(user, "user_page_data"):
        raise _page_error(page, state)


def _profile(data: Mapping[str, Any], creator_id: str | None) -> Creator:
    basic = _object(data, "basic_info")
    creator_id = creator_id or _text(basic, "user_id")
    if not basic:
        raise AccessDenied("an answer without the profile: gone or blocked", scope="item")
    if creator_id is None:
        raise UnexpectedResponse("a profile does not say whose it is: pass creator_id")
    counts = {_text(one, "type"): _count(one, "count") for one in _objects(data, "interactions")}
    verify_type = _count(_object(data, "verify_info"), "red_official_verify_type")
    return Creator(
        platform=PLATFORM,
        creator_id=creator_id,
        name=_text(basic, "nickname", "nick_name"),
        url=creator_url(creator_id),
        avatar=_avatar(basic, "imageb", "images"),
        bio=_text(basic, "desc"),
        gender=_GENDERS.get(_text(basic, "gender")),
        ip_location=_text(basic, "ip_location"),
        follower_count=counts.get("fans"),
        following_count=counts.get("follows"),
        like_count=counts.get("interaction"),  # likes and collects in one sum (7)
        verified=None if verify_type is None else verify_type > 0,
        extra=_said(
            handle=_text(basic, "red_id"),
            tags=[
                {"name": name, "type": _text(tag, "tag_type")}
                for tag in _objects(data, "tags")
                if (name := _text(tag, "name"))
            ],
            tab_public=_object(data, "tab_public"),
        ),
    )


def search_users(body: Body, *, page: int = 1) -> CreatorList:
    """The creators that a user search found (3.8); *page* as for :func:`search`."""
    content = _decoded(body)
    if isinstance(content, str):
        raise _page_error(content)
    data = _data(content)
    has_more = _flag(data, "has_more")
    creators = [_found_user(user) for user in dig_list(data, "users") if _is_user(user)]
    return CreatorList(creators, has_more, str(page + 1) if has_more else None)


def _is_user(user: Any) -> bool:
    return isinstance(user, dict) and _text(user, "id", "user_id") is not None


def _found_user(user: Mapping[str, Any]) -> Creator:
    creator_id = _text(user, "id", "user_id") or ""
    return Creator(
        platform=PLATFORM,
        creator_id=creator_id,
        name=_text(user, "name", "nickname"),
        url=creator_url(creator_id),
        avatar=_avatar(user, "image"),
        follower_count=_count(user, "fans"),
        post_count=_count(user, "note_count"),
        verified=_flag(user, "red_official_verified")
        if _pick(user, "red_official_verified") is not None
        else None,
        extra=_said(handle=_text(user, "red_id"), xsec_token=_text(user, "xsec_token")),
    )


def me(body: Body) -> Viewer:
    """Who is logged in, from user/me, user/selfinfo, or the state of any page (1.3)."""
    content = _decoded(body)
    if isinstance(content, str):
        user = _object(_page_state(content), "user")
        viewer = _object(user, "user_info")
        guest = not _flag(user, "logged_in") or _flag(viewer, "guest")
        return Viewer(_text(viewer, "user_id"), guest)
    data = _data(content)
    if "result" in data:
        return Viewer(None, not _flag(_object(data, "result"), "success"))
    user_id = _text(data, "user_id")
    return Viewer(user_id, user_id is None or _pick(data, "guest") not in (False, None))


# --- Comments (5.4) ---------------------------------------------------------------------------


def comments(body: Body, *, post_id: str | None = None) -> CommentPage:
    """A page of comments, each followed by the replies that came with it.

    :raises AccessDenied: success without data (soft).
    """
    data = _comment_data(body)
    found: list[Comment] = []
    more_replies: dict[str, str] = {}
    for record in dig_list(data, "comments"):
        root = _comment(record, post_id, None)
        if root is None:
            continue
        found.append(root)
        for inline in _objects(record, "sub_comments"):
            reply = _comment(inline, root.post_id, root.comment_id)
            if reply is not None:
                found.append(reply)
        if _flag(record, "sub_comment_has_more"):
            more_replies[root.comment_id] = _text(record, "sub_comment_cursor") or ""
    return CommentPage(found, _flag(data, "has_more"), _text(data, "cursor"), more_replies)


def replies(body: Body, *, root_id: str, post_id: str | None = None) -> CommentPage:
    """A page of the replies to comment *root_id*.

    A reply names only the comment that it answers, which may be another reply (10.18).

    :raises AccessDenied: success without data (soft).
    """
    data = _comment_data(body)
    records = dig_list(data, "comments")
    found = [reply for one in records if (reply := _comment(one, post_id, root_id))]
    return CommentPage(found, _flag(data, "has_more"), _text(data, "cursor"))


def _comment_data(body: Body) -> dict[str, Any]:
    content = _decoded(body)
    if isinstance(content, str):
        raise _page_error(content)
    return _filled_data(content)


def _comment(record: Any, post_id: str | None, root_id: str | None) -> Comment | None:
    """A comment, or a reply where *root_id* is given; None without an id."""
    if not isinstance(record, dict):
        return None
    comment_id = _text(record, "id")
    if comment_id is None:
        return None
    user = _object(record, "user_info")
    target = _object(record, "target_comment") if root_id else {}
    author_id = _text(user, "user_id")
    return Comment(
        platform=PLATFORM,
        comment_id=comment_id,
        post_id=_text(record, "note_id") or post_id,
        root_id=root_id,
        reply_to_id=_text(target, "id"),
        text=_prose(record, "content"),
        author_id=author_id,
        author_name=_text(user, "nickname", "nick_name"),
        author_url=author_id and creator_url(author_id),
        author_avatar=_avatar(user, "image", "avatar"),
        published_at=_moment(record, "create_time"),
        like_count=_count(record, "like_count"),
        reply_count=None if root_id else _count(record, "sub_comment_count"),
        ip_location=_text(record, "ip_location"),
        media=[_picture(picture, "image") for picture in _objects(record, "pictures")],
        extra=_comment_extra(record, user, target),
    )


def _comment_extra(
    record: Mapping[str, Any], user: Mapping[str, Any], target: Mapping[str, Any]
) -> dict[str, Any]:
    shown = _pick(record, "show_tags")
    labels = shown if isinstance(shown, list) else []
    answered = _object(target, "user_info")
    status = _pick(record, "status")
    extra: dict[str, Any] = {}
    if "is_author" in labels:
        extra["is_author"] = True
    if "user_top" in labels:
        extra["is_pinned"] = True
    if status not in (None, 0, "0"):  # 2: just posted, -2: hidden, yet delivered (5.4)
        extra["status"] = status
    if mentions := _mentions(record, "at_users"):
        extra["mentions"] = mentions
    if answered:
        extra["reply_to_author_id"] = _text(answered, "user_id")
        extra["reply_to_author_name"] = _text(answered, "nickname", "nick_name")
    if _flag(user, "ai_agent"):
        extra["ai_agent"] = True
    return extra
