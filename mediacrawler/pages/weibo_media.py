"""Pictures, live photos and videos of Weibo's posts and comments, at their best quality.

Pure functions from a post object to Media. Must not know requests. Sections are those of
docs/platforms/weibo.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit

from mediacrawler.items import Media, MediaKind
from mediacrawler.pages.fields import as_dict, as_seconds, as_text, unique
from mediacrawler.pages.weibo_fields import (
    as_dicts,
    as_id,
    as_int,
    as_items,
    as_size,
    https_url,
    inside,
)
from mediacrawler.pages.weibo_text import Markup

_SINAIMG = re.compile(r"(https://[a-z0-9-]+\.sinaimg\.cn)/[^/]+/([^/?]+)")
_SUFFIX = re.compile(r"\.([A-Za-z0-9]{2,4})(?:[?#]|\Z)")
_TEMPLATE = re.compile(r"[?&]template=(\d+)x(\d+)")
_PID = re.compile(r"[0-9A-Za-z]{21}([jg])[0-9A-Za-z]([0-9a-z]{3})([0-9a-z]{3})[0-9A-Za-z]{3}")
_SMALLER_SIZES = ("large", "woriginal", "mw2000", "original", "bmiddle", "thumbnail")
_DESKTOP_VIDEO = (  # best first; H.265 only where there is nothing else
    *("mp4_1080p_mp4", "mp4_720p_mp4", "mp4_hd_url", "stream_url_hd", "mp4_sd_url", "mp4_ld_mp4"),
    *("stream_url", "h265_mp4_hd", "hevc_mp4_720p", "replay_hd", "replay_ld"),
)
_MOBILE_VIDEO = (
    *("mp4_1080p_mp4", "mp4_720p_mp4", "mp4_hd_mp4", "mp4_ld_mp4"),
    *("hevc_mp4_1080p", "hevc_mp4_720p", "hevc_mp4_hd", "hevc_mp4_ld"),
)
_LIVE_RUNNING, _LIVE_OVER = 1, 3


def extension(url: str) -> str | None:
    """The suffix of an address in lower case and without its dot; None without one."""
    match = _SUFFIX.search(url.partition("://")[2].partition("/")[2])
    if match is None:
        return None
    found = match[1].lower()
    return "jpg" if found == "jpeg" else found


def picture_at(url: Any, geo: Any = None, pid: str | None = None) -> Media | None:
    """A picture at *url* or, without one, at the address that its id gives (section 8.1)."""
    address = https_url(url)
    if address is None:
        if pid is None:
            return None
        suffix = "gif" if pid[21:22] == "g" else "jpg"
        address = f"https://wx1.sinaimg.cn/large/{pid}.{suffix}"
    size = as_dict(geo)
    width, height = as_size(size.get("width")), as_size(size.get("height"))
    if width is None or height is None:
        width, height = _size_in_pid(_pid_in(address))
    return _still("image", address, width, height)


def _still(kind: MediaKind, address: str, width: int | None, height: int | None) -> Media:
    suffix = extension(address)
    named = _PID.fullmatch(_pid_in(address))
    may_be_gif = suffix == "gif" or (named is not None and named[1] == "g")
    return Media(
        kind,
        address,
        width,
        height,
        ext=suffix,
        identifying=True,  # a picture's id begins with its uploader's id
        placeholder=None if may_be_gif else "gif",
    )


def _pid_in(address: str) -> str:
    return address.rpartition("/")[2].partition(".")[0]


def _size_in_pid(pid: str) -> tuple[int | None, int | None]:
    match = _PID.fullmatch(pid)
    if match is None:
        return None, None
    return int(match[2], 36) or None, int(match[3], 36) or None


def largest(url: Any) -> str | None:
    """The address of the same picture at full size."""
    address = https_url(url)
    return _SINAIMG.sub(r"\1/large/\2", address) if address else None


def movie_at(url: Any, *, kind: Literal["video", "live_photo"] = "video") -> Media:
    """A movie at *url*; without one it is "missing". The address may tell its size."""
    address = https_url(url)
    if address is None:
        return Media(kind, status="missing")
    match = _TEMPLATE.search(address)
    width, height = (as_size(match[1]), as_size(match[2])) if match else (None, None)
    suffix = extension(address.partition("?")[0]) or extension(unquote(address)) or "mp4"
    media = Media(kind, address, width, height, ext=suffix)
    if "/media/play?" in address:  # only redirects to the file that it names (8.2)
        named = https_url(parse_qs(urlsplit(address).query).get("livephoto", [None])[0])
        media.backup_urls = [named] if named else []
    return media


def best_video(page: dict[str, Any]) -> Media:
    """The best video of a `page_info` or of a mixed item's data (section 8.3)."""
    info = as_dict(page.get("media_info"))
    media = _best_of_playback(info)
    if media is None:
        urls = as_dict(page.get("urls"))
        found = (urls.get(name) for name in _MOBILE_VIDEO)
        more = (info.get(name) for name in _DESKTOP_VIDEO)
        media = movie_at(next((url for url in (*found, *more) if as_text(url)), None))
    if media.duration_s is None:
        media.duration_s = as_seconds(info.get("duration"))
    return media


def _best_of_playback(info: dict[str, Any]) -> Media | None:
    best: tuple[tuple[int, int, int], dict[str, Any]] | None = None
    for entry in as_dicts(info.get("playback_list")):
        play = as_dict(entry.get("play_info"))
        mime, url = as_text(play.get("mime")) or "", as_text(play.get("url"))
        if not mime.startswith("video/") or url is None:
            continue  # a strip of pictures for the seek bar
        quality = as_int(as_dict(entry.get("meta")).get("quality_index")) or 0
        rank = (quality, as_int(play.get("height")) or 0, as_int(play.get("bitrate")) or 0)
        if best is None or rank > best[0]:
            best = rank, play
    if best is None:
        return None
    play = best[1]
    media = movie_at(play["url"])
    media.width = as_size(play.get("width")) or media.width
    media.height = as_size(play.get("height")) or media.height
    media.duration_s = as_seconds(play.get("duration"))
    return media


def cover_of(page: dict[str, Any]) -> Media | None:
    """The still of a video; its address as given: crops are made by the author."""
    info = as_dict(page.get("media_info"))
    given = page.get("page_pic")
    candidates = (
        given if not isinstance(given, dict) else given.get("url"),
        inside(page, "pic_info", "pic_big", "url"),
        inside(info, "big_pic_info", "pic_big", "url"),
    )
    address = next((url for url in map(https_url, candidates) if url), None)
    if address is None:
        return None
    size = as_dict(given)
    return _still("cover", address, as_size(size.get("width")), as_size(size.get("height")))


def is_video(page: dict[str, Any]) -> bool:
    kind = as_text(page.get("type"))
    if kind in ("video", "live") or as_text(page.get("object_type")) in ("video", "live"):
        return True
    # "5" is a film's page and "24" an article's: not the author's media
    return kind in ("11", "story") and bool(as_dict(page.get("media_info")))


def is_live(page: dict[str, Any]) -> bool:
    status = as_int(inside(page, "media_info", "live_status"))
    kinds = (as_text(page.get("type")), as_text(page.get("object_type")))
    return "live" in kinds or status in (_LIVE_RUNNING, _LIVE_OVER)


def is_article(page: dict[str, Any]) -> bool:
    kinds = (as_text(page.get("type")), as_text(page.get("object_type")))
    return "article" in kinds or kinds[0] == "24"


def media_of(blog: dict[str, Any], page: dict[str, Any], markup: Markup) -> list[Media]:
    """The post's own media in the order shown; *page* is empty where it is another's."""
    mixed = as_dicts(inside(blog, "mix_media_info", "items"))
    if mixed and not blog.get("retweeted_status"):
        return [media for item in mixed for media in _mixed_item(item)]
    media = list(_desktop_pictures(blog) if blog.get("pic_infos") else _mobile_pictures(blog, page))
    media.extend(filter(None, (picture_at(largest(url)) for url in markup.pictures)))
    media.extend(linked_pictures(blog))
    if is_video(page) and not any(entry.kind == "video" for entry in media):
        over = as_int(inside(page, "media_info", "live_status")) == _LIVE_OVER
        shown = [best_video(page)] if over or not is_live(page) else []  # no file while it runs
        shown.extend(filter(None, [cover_of(page)]))
        media = shown + media
    return media


def _mixed_item(item: dict[str, Any]) -> Iterator[Media]:
    """A picture, or a video behind its cover, of a post that mixes both (desktop)."""
    data = as_dict(item.get("data"))
    if as_text(item.get("type")) == "video":
        cover = cover_of(data)
        if cover is not None:
            yield cover
        yield best_video(data)
    else:
        yield from _desktop_picture(data, as_id(item.get("id")))


def _desktop_pictures(blog: dict[str, Any]) -> Iterator[Media]:
    """All pictures, in the order of `pic_ids`; an id without an entry is still a picture."""
    infos = as_dict(blog.get("pic_infos"))
    for pid in unique([*_pids(blog), *infos]):
        yield from _desktop_picture(as_dict(infos.get(pid)), as_id(pid))


def _pids(record: dict[str, Any]) -> list[str]:
    return [pid for value in as_items(record.get("pic_ids")) if (pid := as_id(value))]


def _desktop_picture(info: dict[str, Any], pid: str | None) -> Iterator[Media]:
    """A picture and, for a live photo, its movie; the mp4 twin of a GIF is left out."""
    full = as_dict(info.get("largest"))
    if as_text(full.get("url")):
        picture = picture_at(full["url"], full, pid)
    else:
        sizes = (as_dict(info.get(name)) for name in _SMALLER_SIZES)
        size = next((size for size in sizes if as_text(size.get("url"))), {})
        address = largest(size.get("url"))
        picture = picture_at(address, size if address == https_url(size.get("url")) else None, pid)
    if picture is not None:
        yield picture
    if as_text(info.get("type")) in ("livephoto", "live_photo") and as_text(info.get("video")):
        yield movie_at(info["video"], kind="live_photo")


def _mobile_pictures(blog: dict[str, Any], page: dict[str, Any]) -> Iterator[Media]:
    """`pics` in its variants: a list, an object with numbers as keys, bare addresses."""
    pics = as_items(blog.get("pics"))
    if not pics:
        yield from (media for pid in _pids(blog) if (media := picture_at(None, pid=pid)))
        return
    videos = sum(as_text(as_dict(pic).get("type")) == "video" for pic in pics)
    old_movies = _old_live_photos(blog)
    listed = [url for url in as_items(blog.get("live_photo")) if as_text(url)]
    for index, pic in enumerate(pics):
        entry = as_dict(pic) or {"url": pic}
        kind, source = as_text(entry.get("type")), as_text(entry.get("videoSrc"))
        picture = _mobile_picture(entry)
        if picture is not None:
            picture.kind = "cover" if kind == "video" else "image"
            yield picture
        if kind == "video":
            # `page_info` holds the same video in better quality, where there is only one
            yield best_video(page) if videos == 1 and is_video(page) else movie_at(source)
        elif kind == "livephoto" or index in old_movies:
            movie = (listed.pop(0) if listed else None) if source is None else source
            yield movie_at(movie or old_movies.get(index), kind="live_photo")
    if listed and not any(as_text(as_dict(pic).get("type")) == "livephoto" for pic in pics):
        yield from (movie_at(url, kind="live_photo") for url in listed)


def _mobile_picture(entry: dict[str, Any]) -> Media | None:
    large = as_dict(entry.get("large"))
    address = https_url(large.get("url")) or largest(entry.get("url"))
    return picture_at(address, large.get("geo"), as_id(entry.get("pid")))


def _old_live_photos(blog: dict[str, Any]) -> dict[int, str]:
    """`pic_video` "0:ID,3:ID": the movies of pictures by index (section 8.2)."""
    address = "https://video.weibo.com/media/play?livephoto=//us.sinaimg.cn/{}.mov"
    found = re.findall(r"(\d{1,3}):([0-9A-Za-z]+)", as_text(blog.get("pic_video")) or "")
    return {int(index): address.format(name) for index, name in found}


def linked_pictures(record: dict[str, Any]) -> list[Media]:
    """Pictures behind "查看图片" links (desktop): of comments, and a retweet's own."""
    media: list[Media] = []
    for link in as_dicts(record.get("url_struct")):
        if link.get("pic_infos"):
            media.extend(_desktop_pictures(link))
    return media
