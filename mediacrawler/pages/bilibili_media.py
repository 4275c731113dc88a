"""The files of a Bilibili video part: streams, subtitles, danmaku.

Pure functions; it must not know which file is fetched, or how. Section numbers are those of
docs/platforms/bilibili.md.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from mediacrawler.exceptions import CaptchaRequired, UnexpectedResponse
from mediacrawler.items import Media
from mediacrawler.pages import Body
from mediacrawler.pages.bilibili_answers import (
    https_url,
    only_text,
    payload,
    payload_dict,
    rows_of,
    whole,
)
from mediacrawler.pages.fields import (
    as_dict,
    as_flag,
    as_list,
    as_text,
    count,
    dig_list,
    timestamp,
    unique,
)


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream of a part: `quality` is ``qn`` or the audio id, `bandwidth` bit/s."""

    kind: str  # "video" or "audio"
    quality: int
    bandwidth: int
    urls: list[str]
    codecid: int | None = None  # 7 AVC, 12 HEVC, 13 AV1
    width: int | None = None
    height: int | None = None


@dataclass(frozen=True, slots=True)
class Streams:
    """All streams of one part. `files` are the pieces of a one-file answer, in order."""

    video: list[Stream]
    audio: list[Stream]
    files: list[Media]
    duration_s: float | None = None


@dataclass(frozen=True, slots=True)
class SubtitleList:
    """Subtitles of one part: language tag -> file. `foreign` ones belonged to other videos."""

    files: dict[str, Media]
    needs_login: bool = False
    foreign: int = 0


@dataclass(frozen=True, slots=True)
class Danmaku:
    """One flying comment. `user_hash` is a CRC-32 of the account number: it identifies."""

    dmid: str
    progress_ms: int
    mode: int
    fontsize: int
    color: int
    user_hash: str
    text: str
    sent_at: datetime | None
    weight: int | None = None
    pool: int = 0


# --- 3.8, 5.6, 8: streams -------------------------------------------------------------------

_AUDIO_RANK = {30216: 1, 30232: 2, 30280: 3, 30250: 4, 30251: 5}
"""64k, 132k, 192k, Dolby, lossless: their numbers are not in the order of quality."""

_CODEC_RANK = {7: 3, 12: 2, 13: 1}
"""AVC before HEVC before AV1: the widest playable."""


def streams(body: Body) -> Streams:
    """All streams of one part, in the platform's order (sections 3.8, 5.6).

    :raises CaptchaRequired: nothing but a voucher.
    :raises UnexpectedResponse: no stream in the answer.
    """
    data = payload_dict(body)
    data = as_dict(data.get("video_info")) or data
    dash = as_dict(data.get("dash"))
    duration = count(dash.get("duration")) or (count(data.get("timelength")) or 0) / 1000 or None
    flac = as_dict(as_dict(dash.get("flac")).get("audio"))
    audio_rows = [
        *as_list(dash.get("audio")),
        *as_list(as_dict(dash.get("dolby")).get("audio")),
        *([flac] if flac else []),
    ]
    video, _ = rows_of(as_list(dash.get("video")), lambda row: _stream(row, "video"))
    audio, _ = rows_of(audio_rows, lambda row: _stream(row, "audio"))
    files = _files(as_list(data.get("durl")))
    if not (video or audio or files):
        if data.get("v_voucher"):
            raise CaptchaRequired("risk control answers with a voucher only", code="voucher")
        raise UnexpectedResponse("no stream in the answer")
    return Streams(video, audio, files, duration)


def playurl(body: Body, *, max_quality: int | None = None) -> list[Media]:
    """The best video and audio of one part, or all pieces of a one-file answer (section 8.2).

    *max_quality* is a ``qn`` (80 is 1080P); where nothing is that low, the lowest is taken.
    Addresses are stored without their query: it tells who asked, and expires (section 8.3).
    """
    found = streams(body)
    if found.files:
        return found.files
    chosen = [_best_video(found.video, max_quality), _best_audio(found.audio)]
    return [_stream_media(stream, found.duration_s) for stream in chosen if stream]


def _best_video(rows: list[Stream], max_quality: int | None) -> Stream | None:
    if not rows:
        return None
    limit = max(max_quality or 10**6, min(row.quality for row in rows))
    allowed = (row for row in rows if row.quality <= limit)
    return max(
        allowed,
        key=lambda row: (row.quality, _CODEC_RANK.get(row.codecid or 0, 0), row.bandwidth),
    )


def _best_audio(rows: list[Stream]) -> Stream | None:
    return max(rows, key=lambda row: (_AUDIO_RANK.get(row.quality, 0), row.bandwidth), default=None)


def _stream(row: dict[str, Any], kind: str) -> Stream:
    first = as_text(row.get("baseUrl")) or as_text(row.get("base_url"))
    backups = as_list(row.get("backupUrl")) or as_list(row.get("backup_url"))
    urls = unique(url for url in (first, *backups) if isinstance(url, str) and url)
    if not urls:
        raise UnexpectedResponse("a stream without address")
    return Stream(
        kind=kind,
        quality=whole(row.get("id")) or 0,
        bandwidth=whole(row.get("bandwidth")) or 0,
        urls=urls,
        codecid=whole(row.get("codecid")) or None,
        width=count(row.get("width")) or None,
        height=count(row.get("height")) or None,
    )


def _stream_media(stream: Stream, duration_s: float | None) -> Media:
    media = _file_media(stream.urls)
    media.kind = "audio" if stream.kind == "audio" else "video"
    media.soundtrack = stream.kind == "audio"
    media.ext = "m4a" if stream.kind == "audio" else "mp4"
    media.width, media.height = stream.width, stream.height
    media.duration_s = duration_s
    return media


def _file_media(urls: list[str]) -> Media:
    best, *others = sorted(map(str, map(https_url, urls)), key=_host_rank)
    bare = best.partition("?")[0]
    return Media(
        "video",
        bare,
        backup_urls=others,
        fetch_url=best,
        source=bare.rpartition("/")[2],  # part and quality; the mirror is another one each time
    )


def _host_rank(url: str) -> int:
    """Mirrors first, other visitors' machines last (section 8.3)."""
    host = urlsplit(url).hostname or "" if "//" in url else ""
    if host.startswith("upos-"):
        return 0
    if host.startswith("cn-") or host.endswith((".mcdn.bilivideo.cn", ".szbdyd.com")):
        return 2
    return 1


def _files(rows: list[Any]) -> list[Media]:
    """All pieces of a one-file answer, in order: each belongs to the video (section 8.2)."""
    files: list[tuple[int, Media]] = []
    for number, row in enumerate(map(as_dict, rows), start=1):
        urls = [row.get("url"), *as_list(row.get("backup_url"))]
        addresses = unique(url for url in urls if isinstance(url, str) and url)
        if not addresses:
            continue
        media = _file_media(addresses)
        media.duration_s = (count(row.get("length")) or 0) / 1000 or None
        files.append((whole(row.get("order")) or number, media))
    return [media for _, media in sorted(files, key=lambda pair: pair[0])]


# --- 3.9: subtitles -------------------------------------------------------------------------

_AI_SUBTITLE = "/bfs/ai_subtitle/"


def subtitles(body: Body, *, aid: str, cid: str) -> SubtitleList:
    """The subtitle files of one part, by language (section 3.9).

    A machine-made one names its video and part in its path; lists of other videos do occur,
    so those of another *aid* or *cid* are counted and left out.
    """
    data = payload_dict(body)
    files: dict[str, Media] = {}
    foreign = 0
    for row in map(as_dict, dig_list(data, "subtitle.subtitles")):
        url = https_url(only_text(row.get("subtitle_url")))
        language = as_text(row.get("lan"))
        if url is None or language is None:
            continue  # not made yet
        if _AI_SUBTITLE in url and f"/{aid}{cid}" not in urlsplit(url).path:
            foreign += 1
            continue
        bare = url.partition("?")[0]  # the query holds a key that expires
        files.setdefault(language, Media("subtitle", bare, ext="json", fetch_url=url))
    return SubtitleList(files, as_flag(data.get("need_login_subtitle")), foreign)


# --- 3.10: danmaku --------------------------------------------------------------------------

_XML_ROW = re.compile(r'<d\s+p="([^"]*)"[^>]*?(?:/>|>(.*?)</d>)', re.DOTALL)
_XML_ENTITY = re.compile(r"&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));")
_XML_NAMES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def danmaku(body: bytes | str) -> list[Danmaku]:
    """Danmaku of a part from a segment (protobuf) or the XML file, each once (section 3.10).

    :raises PlatformError: a JSON body: there it is always a refusal.
    :raises UnexpectedResponse: cut, or neither of the two forms.
    """
    if isinstance(body, str):
        rows = _danmaku_xml(body)
    elif not body:
        rows = []  # a segment in which nobody said anything
    elif body.lstrip()[:1] == b"{":
        payload(body)
        raise UnexpectedResponse("JSON where danmaku were expected")
    elif body.lstrip()[:1] == b"<":
        rows = _danmaku_xml(body.decode("utf-8", "replace"))
    else:
        rows = _danmaku_binary(body)
    once: dict[str, Danmaku] = {}
    for row in rows:
        once.setdefault(row.dmid, row)
    return list(once.values())


def _danmaku_binary(body: bytes) -> list[Danmaku]:
    try:
        return _danmaku_segment(body)
    except UnexpectedResponse:
        page = _inflated(body)
        if page is None:
            raise
    return _danmaku_xml(page)


def _inflated(body: bytes) -> str | None:
    """The XML inside a body that is raw deflate (no zlib header), None if it is not."""
    try:
        page = zlib.decompress(body, -zlib.MAX_WBITS).decode("utf-8", "replace")
    except zlib.error:
        return None
    return page if page.lstrip().startswith("<") else None


def _danmaku_xml(page: str) -> list[Danmaku]:
    """Rows of the XML file; control characters that XML forbids do occur, so no XML reader."""
    if "<i" not in page or "</i>" not in page:
        raise UnexpectedResponse("not a whole danmaku file")
    return [row for p, content in _XML_ROW.findall(page) if (row := _xml_row(p, content))]


def _xml_row(p: str, content: str) -> Danmaku | None:
    """``seconds,mode,size,color,unix,pool,midhash,dmid[,weight]``; the weight is new."""
    values = [value.strip() for value in p.split(",")]
    if len(values) < 8 or not values[7]:
        return None
    try:
        numbers = [int(value) for value in values[1:6]]
        progress = round(float(values[0]) * 1000)
        sent_at = timestamp(numbers[3])
    except (ValueError, OverflowError, UnexpectedResponse):
        return None
    return Danmaku(
        dmid=values[7],
        progress_ms=progress,
        mode=numbers[0],
        fontsize=numbers[1],
        color=numbers[2],
        user_hash=values[6],
        text=_XML_ENTITY.sub(_xml_character, content),
        sent_at=sent_at,
        weight=whole(values[8]) if len(values) > 8 else None,
        pool=numbers[4],
    )


def _xml_character(match: re.Match[str]) -> str:
    if match[3]:
        return _XML_NAMES[match[3]]
    number = int(match[1]) if match[1] else int(match[2], 16)
    return chr(number) if number <= 0x10FFFF else match[0]


def _danmaku_segment(body: bytes) -> list[Danmaku]:
    """Elements are field 1 of the message; zero values are absent, unknown fields are skipped."""
    rows = (
        dict(_wire_fields(value))
        for number, value in _wire_fields(body)
        if number == 1 and isinstance(value, bytes)
    )
    return [_element(row) for row in rows]


def _element(row: dict[int, int | bytes]) -> Danmaku:
    dmid = _wire_text(row.get(12)) or str(_wire_int(row.get(1)))
    return Danmaku(
        dmid=dmid,
        progress_ms=_wire_int(row.get(2)),
        mode=_wire_int(row.get(3)),
        fontsize=_wire_int(row.get(4)),
        color=_wire_int(row.get(5)),
        user_hash=_wire_text(row.get(6)),
        text=_wire_text(row.get(7)),
        sent_at=timestamp(_wire_int(row.get(8))),
        weight=_wire_int(row.get(9)),
        pool=_wire_int(row.get(11)),
    )


def _wire_int(value: int | bytes | None) -> int:
    return value if isinstance(value, int) else 0


def _wire_text(value: int | bytes | None) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _wire_fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of every field of a protobuf message: a number, or the bytes of a text.

    :raises UnexpectedResponse: cut, or no protobuf.
    """
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, place = _varint(message, place)
            yield number, value - (1 << 64) if value >> 63 else value
            continue
        if kind == 2:
            size, place = _varint(message, place)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise UnexpectedResponse("not a danmaku segment")
        if place + size > len(message):
            raise UnexpectedResponse("a danmaku segment that is cut")
        yield number, message[place : place + size]
        place += size


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = 0
    for length, byte in enumerate(message[place : place + 10]):
        value |= (byte & 0x7F) << 7 * length
        if byte < 0x80:
            return value & (1 << 64) - 1, place + length + 1
    raise UnexpectedResponse("a danmaku segment that is cut")
