"""The one schema of all platforms: Post, Comment, Creator, Media.

``None`` means "the platform did not say"; never ``""`` or ``0`` for unknown. Identifiers are
text on every platform (many exceed 2**53). Times are aware UTC datetimes, written to files
as ISO-8601 (``2025-10-19T13:38:07Z``). Nothing here knows platforms, Scrapy or files.

Keys of ``extra`` that mean the same on all platforms have one name: ``is_pinned``,
``is_author`` (a comment by the post's author), ``liked_by_author``, ``reply_to_author_id``,
``reply_to_author_name``, ``handle`` (the visible account name), ``verified_text``,
``mentions`` (``[{"name": ..., "id": ...}]``), ``is_paid``, ``truncated``,
``original_deleted``, ``incomplete`` (only the list card could be read, not the detail).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from typing import Any, Literal

PostType = Literal["image", "video", "text", "article", "answer", "question", "thread", "live"]
MediaKind = Literal["image", "video", "audio", "live_photo", "cover", "subtitle"]
MediaStatus = Literal["downloaded", "present", "merged", "failed", "gone", "interrupted", "missing"]
Gender = Literal["male", "female"]

INTERNAL = {"internal": True}
"""Field metadata of what a crawl needs to know but never writes to a file."""


@dataclass(slots=True)
class Media:
    """A file that belongs to a post or comment.

    After download, `path` is relative to ``SAVE_DATA_PATH``, `sha256` is of the whole file and
    `size` is in bytes. `status` stays ``None`` where no download was asked for; ``missing``
    means that the platform named the file but gave no address for it, ``merged`` that `path`,
    `sha256` and `size` are those of the video that this sound has become part of.
    """

    kind: MediaKind
    url: str | None = None
    width: int | None = None  # pixels
    height: int | None = None  # pixels
    duration_s: float | None = None  # seconds
    ext: str | None = None  # "jpg", "mp4": without the dot; None until the content is known
    path: str | None = None
    sha256: str | None = None
    size: int | None = None  # bytes
    status: MediaStatus | None = None
    backup_urls: list[str] = field(default_factory=list, metadata=INTERNAL)
    identifying: bool = field(default=False, metadata=INTERNAL)
    """The address carries the uploader's id: fetched from, but not stored while privacy is on."""
    fetch_url: str | None = field(default=None, metadata=INTERNAL)
    """Where to fetch from when `url` must not be stored."""
    source: str | None = field(default=None, metadata=INTERNAL)
    """What names the file whichever host serves it, so that a later run knows it again; None:
    its address does, without the query."""
    placeholder: str | None = field(default=None, metadata=INTERNAL)
    """The type ("gif") of what the platform serves in the place of a file that it withholds, where
    the file itself cannot be of that type."""
    soundtrack: bool = field(default=False, metadata=INTERNAL)
    """The sound of the video right before it in the list: both together are that video. Said by
    page modules, since other sound (music, a voice message) may stand behind a video as well."""


@dataclass(slots=True)
class Post:
    """A note, video, article, answer, thread...; counts are what the platform shows."""

    platform: str
    post_id: str
    post_type: PostType | None = None
    url: str | None = None
    title: str | None = None
    text: str | None = None
    author_id: str | None = None
    author_name: str | None = None
    author_url: str | None = None
    author_avatar: str | None = None
    published_at: datetime | None = None
    edited_at: datetime | None = None
    like_count: int | None = None
    comment_count: int | None = None
    share_count: int | None = None
    collect_count: int | None = None
    view_count: int | None = None
    tags: list[str] = field(default_factory=list)
    media: list[Media] = field(default_factory=list)
    ip_location: str | None = None
    source_keyword: str | None = None
    repost_of: str | None = None  # post_id of the original, which is a Post of its own
    extra: dict[str, Any] = field(default_factory=dict)
    crawled_at: datetime | None = None


@dataclass(slots=True)
class Comment:
    """A comment (`root_id` is None) or a reply (`root_id` names its top-level comment)."""

    platform: str
    comment_id: str
    post_id: str | None = None
    root_id: str | None = None
    reply_to_id: str | None = None
    text: str | None = None
    author_id: str | None = None
    author_name: str | None = None
    author_url: str | None = None
    author_avatar: str | None = None
    published_at: datetime | None = None
    like_count: int | None = None
    reply_count: int | None = None  # None for replies
    ip_location: str | None = None
    media: list[Media] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    crawled_at: datetime | None = None


@dataclass(slots=True)
class Creator:
    """A profile. `like_count` is what the platform counts as received likes."""

    platform: str
    creator_id: str
    name: str | None = None
    url: str | None = None
    avatar: str | None = None
    bio: str | None = None
    gender: Gender | None = None
    ip_location: str | None = None
    follower_count: int | None = None
    following_count: int | None = None
    like_count: int | None = None
    post_count: int | None = None
    verified: bool | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    crawled_at: datetime | None = None


Item = Post | Comment | Creator


def post_key(item: Post | Comment) -> str:
    """What tells a post, or that of a comment, from all others of its platform.

    That is its id, except where ids are unique only within a kind of content; such platforms
    name the kind in ``extra["content_type"]``.
    """
    kind, post_id = item.extra.get("content_type"), item.post_id or ""
    return f"{kind}-{post_id}" if kind else post_id


def iso_utc(moment: datetime) -> str:
    """``2025-10-19T13:38:07Z``; milliseconds only where there are any (``07.354Z``)."""
    precision = "milliseconds" if moment.microsecond else "seconds"
    return moment.astimezone(timezone.utc).isoformat(timespec=precision).replace("+00:00", "Z")


_EXPORTED: dict[type, tuple[str, ...]] = {
    cls: tuple(f.name for f in fields(cls) if not f.metadata.get("internal"))
    for cls in (Media, Post, Comment, Creator)
}


def field_names(item_class: type) -> tuple[str, ...]:
    """The fields of an item class that are written to files, in order."""
    return _EXPORTED[item_class]


def as_record(item: Item | Media) -> dict[str, Any]:
    """The item as plain JSON types: times as ISO-8601 text, media as objects."""
    return {name: _plain(getattr(item, name)) for name in _EXPORTED[type(item)]}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, datetime):
        return iso_utc(value)
    if isinstance(value, list):
        return [_plain(element) for element in value]
    if isinstance(value, dict):
        return {key: _plain(element) for key, element in value.items()}
    return as_record(value)
