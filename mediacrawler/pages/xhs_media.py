"""Which files belong to an XHS note or comment, and the best address of each.

The rules are those of docs/platforms/xhs.md, section 8. Pure functions over one record; nothing
here downloads.
"""

from __future__ import annotations

import json
import re
from typing import Any

from mediacrawler.items import Media, MediaKind
from mediacrawler.pages import xhs_json as read
from mediacrawler.pages.fields import https, unique
from mediacrawler.pages.xhs_json import Record

ORIGINALS = "https://ci.xiaohongshu.com"  # without watermark; serves the twin's pictures too
PICTURE_HOSTS = ("https://sns-img-bd.xhscdn.com", "https://sns-img-qc.xhscdn.com")
VIDEO_HOSTS = (
    "https://sns-video-bd.xhscdn.com",
    "https://sns-video-qc.xhscdn.com",
    "https://sns-video-hw.xhscdn.com",
)

_TOKEN = re.compile(
    r"https?://(?:ci\.xiaohongshu\.com|[\w.-]+\.(?:xhscdn|rednotecdn)\.com)"
    r"/(?:\d{8,14}/[0-9a-f]{32}/)?"  # a signature, which expires
    r"([^!?#]+)"  # folders included: without them the answer is 404
)
_SCENES = ("WB_DFT", "FD_WM_WEBP")  # the large picture, now and in 2023
_STANDARD_CODECS = ("h264", "h265", "h266", "av1")
_CODEC_NAMES = {"avc": "h264", "hevc": "h265", "vvc": "h266"}


def note_media(note: Record, *, is_video: bool, prefer_codec: str | None = None) -> list[Media]:
    """Video, cover, further pictures, subtitles; or pictures, each followed by its live clip.

    *prefer_codec*: see :func:`best_stream`.
    """
    images = read.children(note, "image_list")
    media: list[Media] = []
    if is_video:
        media.append(video(read.child(note, "video"), prefer_codec))
        media += [picture(image, "cover") for image in images[:1]]
        images = images[1:]
    for image in images:
        media.append(picture(image, "image"))
        stream = best_stream(read.child(image, "stream"), prefer_codec)
        if stream and read.flag(image, "live_photo"):
            media.append(_clip(stream, "live_photo"))
    if is_video:
        media += map(_subtitle_file, subtitles(read.child(note, "video")))
    return media


# --- Pictures (8.1) ---------------------------------------------------------------------------


def picture(image: Record, kind: MediaKind) -> Media:
    """The original of a picture; other hosts and the delivered address stand by."""
    delivered = _delivered(image)
    token = picture_token(delivered)
    urls = [f"{host}/{token}" for host in (ORIGINALS, *PICTURE_HOSTS)] if token else []
    if delivered:
        urls.append(https(delivered))
    media = _media(kind, unique(urls))
    media.width, media.height = _size(image)
    return media


def picture_token(url: str) -> str | None:
    """What names a picture on all hosts, from any address that it was delivered under."""
    match = _TOKEN.match(url)
    return match[1] if match else None


def _delivered(image: Record) -> str:
    """The best address in the record ("" if none); `url` is often blank."""
    for name in ("url_default", "url", "url_size_large"):
        if _is_link(url := read.pick(image, name)):
            return str(url)
    scenes = {
        read.text(info, "image_scene"): url
        for info in read.children(image, "info_list")
        if _is_link(url := read.pick(info, "url"))
    }
    preview = read.pick(image, "url_pre")
    urls = [*map(scenes.get, _SCENES), *scenes.values(), preview if _is_link(preview) else None]
    return next(filter(None, urls), "")


def without_resizing(url: str | None) -> str | None:
    """The address of a person's picture in its original size."""
    return url and url.partition("?imageView2")[0]


# --- Videos (8.3) -----------------------------------------------------------------------------


def video(record: Record, prefer_codec: str | None = None) -> Media:
    """The video of a note: the original upload where it is named, else the best stream."""
    details = read.child(record, "media")
    stream = best_stream(read.child(details, "stream"), prefer_codec)
    clip = _clip(stream, "video")
    if key := read.text(read.child(record, "consumer"), "origin_video_key"):
        # Its size is not told; it need not be that of a stream.
        seconds = clip.duration_s
        clip = _media("video", [f"{host}/{key}" for host in VIDEO_HOSTS] + _stream_urls(stream))
        clip.duration_s = seconds
    clip.ext = "mp4"
    if clip.duration_s is None:
        whole = read.count(read.child(details, "video"), "duration")
        whole = whole or read.count(read.child(record, "capa"), "duration")
        clip.duration_s = float(whole) if whole else None
    return clip


def best_stream(streams: Record, prefer_codec: str | None = None) -> Record:
    """The one to take from all buckets (`h264`, `h265`, ...); ``{}`` if none has an address.

    Without watermark if possible, then *prefer_codec* ("h264") if possible, then the largest
    picture, then a codec that players know, then the highest bitrate.
    """
    found = [
        (_codec(stream, bucket), stream)
        for bucket in streams
        for stream in read.children(streams, bucket)
        if _stream_urls(stream)
    ]
    clean = [one for one in found if not (read.text(one[1], "stream_desc") or "").startswith("WM_")]
    found = clean or found
    found = [one for one in found if one[0] == prefer_codec] or found
    return max(found, key=_quality)[1] if found else {}


def subtitles(record: Record) -> list[dict[str, str | None]]:
    """The subtitle files of a video: language, url, format (3.8)."""
    try:
        details = json.loads(read.text(record, "media_v2") or "{}")  # JSON within JSON
    except ValueError:
        return []
    shown = read.child(details, "video") if isinstance(details, dict) else {}
    languages = read.child(shown, "subtitles")
    return [
        {"language": language, "url": read.text(file, "url"), "format": read.text(file, "format")}
        for language in languages
        for file in read.children(languages, language)
        if _is_link(read.pick(file, "url"))
    ]


def _subtitle_file(shown: dict[str, str | None]) -> Media:
    file = _media("subtitle", [https(shown["url"] or "")])
    told = (shown["format"] or "").lower()
    file.ext = told if re.fullmatch(r"[a-z]{2,5}", told) else "srt"  # it will be part of a name
    return file


def _codec(stream: Record, bucket: str) -> str:
    """ "h264", "h265", ...: what the stream says, else the bucket that it stands in."""
    name = (read.text(stream, "video_codec") or bucket).lower()
    return _CODEC_NAMES.get(name, name)


def _quality(candidate: tuple[str, Record]) -> tuple[int, bool, int]:
    codec, stream = candidate
    width, height = _size(stream)
    area = (width or 0) * (height or 0)
    return area, codec in _STANDARD_CODECS, read.count(stream, "avg_bitrate") or 0


def _stream_urls(stream: Record) -> list[str]:
    """Backup addresses first: they are not signed and live longer."""
    urls = [*read.elements(stream, "backup_urls"), read.pick(stream, "master_url")]
    return unique(https(url) for url in urls if _is_link(url))


def _clip(stream: Record, kind: MediaKind) -> Media:
    clip = _media(kind, _stream_urls(stream))
    clip.ext = "mp4"
    clip.width, clip.height = _size(stream)
    milliseconds = read.count(stream, "duration")
    clip.duration_s = milliseconds / 1000 if milliseconds else None
    return clip


# --- Both -------------------------------------------------------------------------------------


def _media(kind: MediaKind, urls: list[str]) -> Media:
    """A file with its addresses, the first to be tried first; "missing" without any."""
    if not urls:
        return Media(kind=kind, status="missing")
    return Media(kind=kind, url=urls[0], backup_urls=urls[1:])


def _size(record: Record) -> tuple[int | None, int | None]:
    """Width and height in pixels; 0 means unknown."""
    return read.count(record, "width") or None, read.count(record, "height") or None


def _is_link(url: Any) -> bool:
    return isinstance(url, str) and url.startswith(("http://", "https://"))
