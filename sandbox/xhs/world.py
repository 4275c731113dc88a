"""The world of XHS: who posts what, who answers whom, and which file lies behind which address.

Pure functions of ``(seed, address)``; no HTTP, no JSON shapes. Ids carry their address (48 mixed
bits) behind the eight hex digits of a unix time, as on the platform, so that any id that was ever
handed out can be answered after a restart, however large the world is.

Sections named in comments are those of ``docs/platforms/xhs.md``.
"""

from __future__ import annotations

import base64
import hashlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any, NamedTuple

from sandbox import texts, worlds
from sandbox.core import BEIJING, Blob
from sandbox.media import Picture as PictureFile
from sandbox.media import Video as VideoFile
from sandbox.worlds import (
    DAY,
    FIXED_SPACE,
    READER_SPACE,
    Dice,
    Scramble,
    Seal,
    comment_time,
    drawn_replies,
    from_letters,
    mix,
    number,
    pinned_posts,
    to_letters,
)

PAGE_SIZE = 20  # notes on a search page, whatever is asked (3.1)
SEARCH_CAP = 220  # notes that one search gives at most (3.1)
COMMENT_PAGE = 10  # (3.6)
POSTED_PAGE = 30  # (3.5)

SORTS = (
    "general",
    "time_descending",
    "popularity_descending",
    "comment_descending",
    "collect_descending",
)
WITHIN = {"day": DAY, "week": 7 * DAY, "half_year": 182 * DAY}

EMOTES = ("[偷笑R]", "[派对R]", "[捂脸R]", "[笑哭R]", "[萌萌哒R]", "[种草R]", "😂", "👍", "🥹")

_USERS = Scramble("xhs user", 48)
_NOTES = Scramble("xhs note", 48)
_COMMENTS = Scramble("xhs comment", 48)
_FILES = Seal(address_size=6, index_size=3)

_SIZES = ((1242, 1660), (1080, 1440), (1440, 1920), (1280, 1706), (1920, 2560), (2048, 2048))
_FOLDERS = ("notes_pre_post/", "notes_pre_post/", "notes_uhdr/", "spectrum/", "", "")
_FOLDER_MARKS = {"notes_pre_post/": "3k0", "notes_uhdr/": "3r0", "spectrum/": "0k0", "": "2sg"}
_USUAL_REPLIES = (0, 0, 0, 1, 1, 2, 5, 13)
_DEEP_REPLIES = (45, 0, 31, 1, 12, 0, 2, 1)
_FATES = {"deleted": 25, "private": 10, "unavailable": 7}  # per mille


class Outline(NamedTuple):
    """The facts about a note that cost little: enough to rank it and to know whether it shows.

    ``time`` in unix seconds; ``comments`` is the number shown, ``replies`` the reply counts'
    pattern; ``status`` is ``ok``, ``deleted``, ``private`` or ``unavailable`` (in lists, but not
    viewable, 300031).
    """

    time: int
    likes: int
    collects: int
    shares: int
    comments: int
    roots: int
    replies: tuple[int, ...]
    video: str  # "", "origin", "buckets", "plain" or "none" (no stream at all)
    status: str


@dataclass(frozen=True)
class Picture:
    """One picture of a note or comment. *token* is the address on ``ci.xiaohongshu.com``."""

    token: str
    width: int
    height: int
    form: str
    live: bool = False  # live_photo flag
    clip: Stream | None = None  # the moving part; missing for some live photos
    gone: bool = False  # 404 on every host


@dataclass(frozen=True)
class Stream:
    """One encoding of a video. *path* without leading slash; *bucket* as in ``media.stream``."""

    path: str
    bucket: str
    stream_type: int
    desc: str
    codec: str
    width: int
    height: int
    bitrate: int
    size: int
    seconds: float
    signed: bool  # the master url carries sign and t
    backups: int  # how many backup urls; -1 stands for null


@dataclass(frozen=True)
class Video:
    """The video of a note. *origin_key* is ``consumer.origin_video_key``, ``""`` where absent."""

    number: int  # media.video_id, above 2^53
    seconds: int
    origin_key: str
    origin_size: int
    streams: tuple[Stream, ...]
    subtitles: str  # path of an .srt, "" where there are none


@dataclass(frozen=True)
class User:
    """A creator or a commenter. Counts are exact; what the site shows may be cut."""

    address: int
    id: str
    nickname: str
    avatar: str  # path on sns-avatar-qc.xhscdn.com
    bio: str
    gender: int
    ip: str
    red_id: str
    fans: int
    follows: int
    interaction: int
    topic: str
    total: int  # notes ever posted
    pinned: tuple[int, ...]  # numbers of the pinned notes
    collects: int  # public favourites; -1: not public
    verified: int
    banned: bool
    gone: bool  # deregistered: shown as 用户已注销


@dataclass(frozen=True)
class Note:
    """A note with everything that its detail shows. Times in unix ms."""

    address: int
    id: str
    outline: Outline
    author: User
    title: str
    desc: str
    time: int
    edited: int
    ip: str
    topics: tuple[str, ...]
    brand: str
    mentions: tuple[User, ...]
    pictures: tuple[Picture, ...]
    video: Video | None
    sticky: bool
    pinned_comment: bool

    @property
    def kind(self) -> str:
        return "video" if self.video is not None else "normal"

    @property
    def status(self) -> str:
        return self.outline.status


@dataclass(frozen=True)
class Comment:
    """A comment (``reply == 0``) or a reply. ``target`` is the number of the answered one under
    the same root, 0 for the root itself."""

    id: str
    root: int
    reply: int
    user: User
    text: str
    time: int
    likes: int
    ip: str | None
    status: int
    tags: tuple[str, ...]
    mention: User | None
    pictures: tuple[Picture, ...]
    target: int
    replies: int


class File(NamedTuple):
    """A file that a complete crawl of a note ends up with (8.3, output rule)."""

    kind: str  # image, live_photo, video or cover
    url: str
    blob: Blob | None  # None: gone


# -- the documented notes ------------------------------------------------------------------------


class Fixed(NamedTuple):
    """What is special about a documented note; everything else is thrown with seed 0."""

    name: str
    age: int  # hours before WORLD_NOW
    pictures: int = 3
    video: str = ""
    status: str = "ok"
    roots: int = 12
    replies: tuple[int, ...] = _USUAL_REPLIES
    live: tuple[int, ...] = ()  # pictures that are live photos
    still_live: tuple[int, ...] = ()  # live flag without a clip
    gone: tuple[int, ...] = ()
    title: str | None = None
    desc: str | None = None
    edited: bool = False


FIXED_NOTES = (
    Fixed("image", 5, pictures=4, edited=True),
    Fixed("video-origin", 30, pictures=1, video="origin"),
    Fixed("video-buckets", 55, pictures=2, video="buckets"),
    Fixed("live-photo", 80, pictures=3, live=(0, 2), still_live=(1,)),
    Fixed("deleted", 100, status="deleted"),
    Fixed("private", 120, status="private"),
    Fixed("unavailable", 140, status="unavailable"),
    Fixed("no-comments", 200, roots=0),
    Fixed("300-comments", 400, roots=300, replies=_DEEP_REPLIES),
    Fixed("empty-text", 500, pictures=1, title="", desc=""),
    Fixed(
        "tricky-text",
        700,
        title='他说："undefined" 不是 bug，是 feature｜</script>',
        desc='第一行\n\t第二行 a/b & c < d，状态:undefined,{"k":undefined}\n\n'
        "颜文字 (｡•̀ᴗ-)✧ 👨‍👩‍👧‍👦 末行 #露营[话题]# #A&B咖啡[话题]#",
    ),
    Fixed("media-gone", 900, pictures=3, gone=(1,)),
    Fixed("many-pictures", 1100, pictures=18),
    Fixed("video-plain", 1300, pictures=1, video="plain"),
    Fixed("video-missing", 1500, pictures=1, video="none"),
    Fixed("10000-comments", 2000, roots=10_000, replies=(0, 0, 0, 0, 0, 0, 1, 2)),
)
"""Notes of the documented creator ``demo``; the keyword ``演示`` finds them all."""

FIXED_CREATORS = ("demo", "prolific", "silent", "banned")
"""``demo`` owns :data:`FIXED_NOTES`, ``prolific`` has 65 notes (two old ones pinned), ``silent``
none, ``banned`` is gone."""

_FIXED_TOTALS = (len(FIXED_NOTES), 65, 0, 4)
_FIXED_PINNED: tuple[tuple[int, ...], ...] = ((), (60, 48), (), ())


# -- tokens and file names ------------------------------------------------------------------------

_BASE32HEX = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789abcdefghijklmnopqrstuv")
_FROM_BASE32HEX = str.maketrans(
    "0123456789abcdefghijklmnopqrstuv", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)
_KIND_PICTURE, _KIND_COMMENT, _KIND_AVATAR, _KIND_ORIGIN, _KIND_STREAM = range(5)


def _file_name(kind: int, address: int, index: int, mark: str) -> str:
    packed = base64.b32encode(_FILES.pack(kind, address, index)).decode().translate(_BASE32HEX)
    return f"1040g{mark}{packed}"


def _read_file_name(name: str) -> tuple[int, int, int] | None:
    """Address behind the last part of a picture's or video's path."""
    try:
        if name.startswith("1040g") and len(name) == 40:
            return _FILES.unpack(base64.b32decode(name[8:].translate(_FROM_BASE32HEX)))
        if name.startswith("01") and len(name) >= 42:
            return _FILES.unpack(bytes.fromhex(name[2:42]))
    except ValueError:
        pass
    return None


def _hex_name(kind: int, address: int, index: int) -> str:
    return "01" + _FILES.pack(kind, address, index).hex()


# -- the world -----------------------------------------------------------------------------------


class _Pool(NamedTuple):
    """The notes of one keyword as columns: 20,000 of them are well under a megabyte."""

    notes: array[int]
    times: array[int]
    likes: array[int]
    comments: array[int]
    collects: array[int]
    videos: bytearray


class World(worlds.World[Outline, User]):
    """Every right answer about XHS for one seed.

    :param search_cap: notes that one search gives at most, 0 for no cap.
    :param more: of every world, see :class:`sandbox.worlds.World`.
    """

    space_bits = 24
    creator_bits = 16
    fixed_creators = FIXED_CREATORS
    fixed_totals = _FIXED_TOTALS

    def __init__(
        self, seed: int = 1, posts: int = 60, *, search_cap: int = SEARCH_CAP, **more: Any
    ) -> None:
        super().__init__(seed, posts, **more)
        self.search_cap = search_cap
        self.token_generation = 0
        self._note = lru_cache(maxsize=2048)(self._make_note)
        self._order = lru_cache(maxsize=256)(self._make_order)
        self._pool = lru_cache(maxsize=64)(self._make_pool)
        self._posted = lru_cache(maxsize=512)(self._make_posted)

    # -- search ---------------------------------------------------------------------------------

    def search(
        self,
        keyword: str,
        *,
        sort: str = "general",
        note_type: int = 0,
        within: str | None = None,
        search_id: str = "",
        only: tuple[str, ...] = (),
    ) -> list[str]:
        """Note ids that a keyword finds, best first, each once, cut at the cap.

        :param sort: one of :data:`SORTS`.
        :param note_type: 0 all, 1 video, 2 image.
        :param within: ``None`` or a key of :data:`WITHIN`.
        :param search_id: another id shuffles the ranking of ``general``; ``""`` is the plain one.
        :param only: further filters by their Chinese label (``同城``, ``已关注``, a hot tag).

        Includes notes that cannot be opened (see :meth:`status`): search knows them still.
        """
        found = self._order(keyword, sort, note_type, within, search_id, only)
        return [self.note_id(address) for address in found]

    def search_pages(
        self,
        keyword: str,
        *,
        sort: str = "general",
        note_type: int = 0,
        within: str | None = None,
        search_id: str = "",
        only: tuple[str, ...] = (),
    ) -> list[list[str]]:
        """The same, as the pages are served: some keywords repeat notes on the next page."""
        found = self._order(keyword, sort, note_type, within, search_id, only)
        return [[self.note_id(a) for a in page] for page in self._pages(keyword, found)]

    def search_page(
        self,
        keyword: str,
        page: int,
        sort: str,
        note_type: int,
        within: str | None,
        search_id: str,
        only: tuple[str, ...],
    ) -> tuple[list[Note], bool]:
        """The notes of one page (1-based) and whether more follow."""
        found = self._order(keyword, sort, note_type, within, search_id, only)
        pages = self._pages(keyword, found)
        if not 1 <= page <= len(pages):
            return [], False
        return [self._note(address) for address in pages[page - 1]], page < len(pages)

    def _pages(self, keyword: str, found: tuple[int, ...]) -> list[list[int]]:
        entries = list(found)
        if self.repeats(keyword):
            step = PAGE_SIZE
            while step < len(entries):
                back = 1 + number(self.seed, "back", keyword, step) % 8
                ahead = number(self.seed, "ahead", keyword, step) % 12
                entries.insert(min(step + ahead, len(entries)), entries[step - back])
                step += PAGE_SIZE
        if self.search_cap:
            entries = entries[: self.search_cap]
        return [entries[i : i + PAGE_SIZE] for i in range(0, len(entries), PAGE_SIZE)]

    def _make_order(
        self,
        keyword: str,
        sort: str,
        note_type: int,
        within: str | None,
        search_id: str,
        only: tuple[str, ...],
    ) -> tuple[int, ...]:
        pool = self._pool(keyword)
        chosen = range(len(pool.notes))
        rows = [i for i in chosen if self._passes(pool, i, note_type, within, only)]
        if sort == "time_descending":
            rows.sort(key=lambda i: (-pool.times[i], i))
        elif sort == "popularity_descending":
            rows.sort(key=lambda i: (-pool.likes[i], i))
        elif sort == "comment_descending":
            rows.sort(key=lambda i: (-pool.comments[i], i))
        elif sort == "collect_descending":
            rows.sort(key=lambda i: (-pool.collects[i], i))
        elif search_id:
            rows = self._shuffled(rows, search_id)
        if self.search_cap:
            rows = rows[: self.search_cap]
        return tuple(pool.notes[i] for i in rows)

    @staticmethod
    def _shuffled(rows: list[int], search_id: str) -> list[int]:
        """Every note moves a few places: what is on top stays roughly on top."""
        moved = [
            (place + number(search_id, row) % 16, place, row) for place, row in enumerate(rows)
        ]
        return [row for _key, _place, row in sorted(moved)]

    def _passes(
        self, pool: _Pool, row: int, note_type: int, within: str | None, only: tuple[str, ...]
    ) -> bool:
        if note_type and pool.videos[row] != (note_type == 1):
            return False
        if within is not None and self.now - pool.times[row] > WITHIN[within]:
            return False
        for label in only:
            if label in ("已看过", "已关注"):
                return False
            share = {"同城": 5, "附近": 10}.get(label, 3)
            if number(self.seed, label, pool.notes[row]) % share:
                return False
        return True

    def _make_pool(self, keyword: str) -> _Pool:
        addresses = self._ranked(keyword)
        pool = _Pool(array("Q"), array("q"), array("q"), array("q"), array("q"), bytearray())
        for address in addresses:
            outline = self._outline(address)
            pool.notes.append(address)
            pool.times.append(outline.time)
            pool.likes.append(outline.likes)
            pool.comments.append(outline.comments)
            pool.collects.append(outline.collects)
            pool.videos.append(bool(outline.video))
        return pool

    def search_users(self, keyword: str, page: int, size: int) -> tuple[list[User], bool]:
        """Creators that post about a keyword, most notes first in the pool's own order."""
        seen: dict[int, None] = {}
        for address in self._pool(keyword).notes:
            seen.setdefault(address >> 8)
        users = [self._user(address) for address in seen]
        start = (page - 1) * size
        return users[start : start + size], start + size < len(users)

    def feed(self, category: str, offset: int, count: int) -> list[Note]:
        """*count* notes of the endless home feed from *offset* on."""
        space = self._space(f"homefeed {category}")
        return [
            self._note(space << 24 | (offset + i) % 65_536 << 8)
            for i in range(count)
            if self._outline(space << 24 | (offset + i) % 65_536 << 8).status == "ok"
        ]

    # -- notes ----------------------------------------------------------------------------------

    def note(self, note_id: str) -> Note | None:
        """The note with this id, also one that is deleted; ``None`` if there never was one."""
        address = self.address_of_note(note_id)
        return None if address is None else self._note(address)

    def note_at(self, address: int) -> Note:
        """The note with this address (``Note.address``)."""
        return self._note(address)

    def status(self, note_id: str) -> str:
        """``ok``, ``deleted``, ``private``, ``unavailable`` or ``unknown``."""
        address = self.address_of_note(note_id)
        return "unknown" if address is None else self._outline(address).status

    def fixed_note(self, name: str) -> Note:
        """The documented note *name* (:data:`FIXED_NOTES`)."""
        names = [fixed.name for fixed in FIXED_NOTES]
        return self._note(names.index(name))

    def note_id(self, address: int) -> str:
        lag = number(self._seed_of(address >> 24), "lag", address) % 90
        seconds = self._outline(address).time - lag  # a draft is older than its note (2.1)
        return f"{seconds:08x}0000{_NOTES.do(address):012x}"

    def address_of_note(self, note_id: str) -> int | None:
        tail = _tail(note_id)
        if tail is None:
            return None
        address = _NOTES.undo(tail)
        if not self._exists(address) or self.note_id(address) != note_id:
            return None
        return address

    def _fixed(self, address: int) -> Fixed | None:
        if address < len(FIXED_NOTES):  # space 0, creator 0
            return FIXED_NOTES[address]
        return None

    def _make_outline(self, address: int) -> Outline:
        space = address >> 24
        dice = Dice(self._seed_of(space), "note", address)
        fixed = self._fixed(address)
        now = self._now_of(space)
        time = now - dice.age()
        likes = dice.skewed(200_000, 5)
        collects = likes * dice.between(5, 120) // 100
        shares = likes * dice.between(0, 40) // 100
        roots = 0 if dice.chance(8) else 1 + dice.skewed(60, 2.5)
        replies: tuple[int, ...] = _USUAL_REPLIES
        video = dice.pick(("origin", "buckets", "buckets", "plain")) if dice.chance(28) else ""
        status = dice.fate(_FATES)
        hidden = dice.between(1, 3) if dice.chance(20) else 0
        if fixed is not None:
            time = now - fixed.age * 3600
            roots, replies, hidden = fixed.roots, fixed.replies, 0
            video, status = fixed.video, fixed.status
        elif space == FIXED_SPACE:
            # "prolific": one note in three days, the two pinned ones are old
            time, status = now - (address & 0xFF) * 3 * DAY - 7200, "ok"
        shown = roots + hidden + sum(self._replies(address, replies, i) for i in range(roots))
        return Outline(time, likes, collects, shares, shown, roots, replies, video, status)

    def _make_note(self, address: int) -> Note:
        space = address >> 24
        seed = self._seed_of(space)
        outline = self._outline(address)
        author = self._user(address >> 8)
        dice = Dice(seed, "text", address)
        fixed = self._fixed(address)
        tags = tuple(dict.fromkeys([author.topic, *dice.some(sorted(texts.TOPICS), 2)]))
        mentions = self._mentions(dice)
        title = "" if dice.chance(4) else texts.title(author.topic, dice)
        desc = "" if dice.chance(3) else self._desc(author.topic, tags, mentions, dice)
        edited = outline.time + dice.between(60, 40 * DAY) if dice.chance(18) else outline.time
        if fixed is not None:
            title = title or "周末去哪儿" if fixed.title is None else fixed.title
            desc = desc or "见图" if fixed.desc is None else fixed.desc
            edited = outline.time + 3 * 3600 if fixed.edited else outline.time
        if not desc:
            tags, mentions = (), ()
        return Note(
            address=address,
            id=self.note_id(address),
            outline=outline,
            author=author,
            title=title,
            desc=desc,
            time=outline.time * 1000,
            edited=max(outline.time, min(edited, self.now)) * 1000,
            ip="" if dice.chance(5) else author.ip,
            topics=tags,
            brand="某户外品牌" if desc and dice.chance(10) else "",
            mentions=mentions,
            pictures=tuple(self._pictures(address, outline, fixed)),
            video=self._video(address, outline) if outline.video else None,
            sticky=address & 0xFF in author.pinned,
            pinned_comment=outline.roots > 0 and (dice.chance(20) or fixed is not None),
        )

    def _mentions(self, dice: Dice) -> tuple[User, ...]:
        if not dice.chance(15):
            return ()
        return (self._reader(dice),)

    @staticmethod
    def _desc(topic: str, tags: tuple[str, ...], mentions: tuple[User, ...], dice: Dice) -> str:
        lines = texts.paragraphs(topic, dice, dice.between(2, 6), EMOTES)
        lines += [f"感谢 @{user.nickname} 的推荐" for user in mentions]
        separator = dice.pick(("\n", "\n\n", "\n\t"))
        return separator.join(lines) + "\n" + " ".join(f"#{tag}[话题]#" for tag in tags)

    # -- files of a note ------------------------------------------------------------------------

    def _pictures(self, address: int, outline: Outline, fixed: Fixed | None) -> Iterator[Picture]:
        dice = Dice(self._seed_of(address >> 24), "pictures", address)
        count = 1 if outline.video else 1 + dice.skewed(8, 1.5)
        gone = {dice.below(count)} if dice.chance(1) else set()
        live = set(range(count)) if not outline.video and dice.chance(8) else set()
        still = set()
        if fixed is not None:
            count, gone = fixed.pictures, set(fixed.gone)
            live, still = {*fixed.live, *fixed.still_live}, set(fixed.still_live)
        for index in range(count):
            width, height = dice.pick(_SIZES)
            cover = bool(outline.video) and index == 0
            clip = self._clip(address, index) if index in live and index not in still else None
            yield Picture(
                token=self._picture_token(address, index, cover and dice.chance(60), dice),
                width=width,
                height=height,
                form=dice.pick(("jpeg", "jpeg", "jpeg", "webp", "png", "avif")),
                live=index in live,
                clip=clip,
                gone=index in gone,
            )

    @staticmethod
    def _picture_token(address: int, index: int, frame: bool, dice: Dice) -> str:
        folder = dice.pick(_FOLDERS)
        if frame:  # a frame of the video
            return f"110/0/{_hex_name(_KIND_PICTURE, address, index)}_0.jpg"
        return folder + _file_name(_KIND_PICTURE, address, index, _FOLDER_MARKS[folder])

    def _clip(self, address: int, index: int) -> Stream:
        return self._stream(address, 64 + index, "h264", 10, "HEVC_LIVE", "h264", 1080, 1440, 2.5)

    def _video(self, address: int, outline: Outline) -> Video:
        dice = Dice(self._seed_of(address >> 24), "video", address)
        seconds = dice.between(6, 600)
        streams: list[Stream] = []
        key = ""
        if outline.video == "origin":
            key = "pre_post/" + _file_name(_KIND_ORIGIN, address, 0, "0cr")
        if outline.video in ("origin", "buckets"):
            streams.append(
                self._stream(address, 0, "h264", 259, "WM_X264_MP4", "h264", 1280, 720, seconds)
            )
        if outline.video != "none":
            streams += [
                self._stream(
                    address, 1, "h265", 114, "X265_MP4_WEB_114", "hevc", 1280, 720, seconds
                ),
                self._stream(
                    address, 2, "h265", 115, "X265_MP4_WEB_115", "hevc", 1920, 1080, seconds
                ),
            ]
        if outline.video == "plain":
            streams.append(
                self._stream(address, 4, "h264", 258, "X264_MP4", "h264", 1920, 1080, seconds)
            )
        if outline.video == "buckets":
            streams.append(
                self._stream(address, 3, "EF5", 301, "WEB_301", "EF5", 1920, 1080, seconds)
            )
        subtitles = f"subtitle/{_hex_name(_KIND_STREAM, address, 128)}.srt"
        return Video(
            number=137_000_000_000_000_000 + number("video", address) % 10**15,
            seconds=seconds,
            origin_key=key,
            origin_size=self._size(address, 200) if key else 0,
            streams=tuple(streams),
            subtitles=subtitles if outline.video == "buckets" else "",
        )

    def _stream(
        self,
        address: int,
        index: int,
        bucket: str,
        stream_type: int,
        desc: str,
        codec: str,
        width: int,
        height: int,
        seconds: float,
    ) -> Stream:
        size = self._size(address, index)
        name = _hex_name(_KIND_STREAM, address, index)
        lucky = number("backups", address, index) % 10
        return Stream(
            path=f"stream/1/110/{stream_type}/{name}_{stream_type}.mp4",
            bucket=bucket,
            stream_type=stream_type,
            desc=desc,
            codec=codec,
            width=width,
            height=height,
            bitrate=int(size * 8 / seconds),
            size=size,
            seconds=seconds,
            signed=number("signed", address, index) % 2 == 0,
            backups=2 if lucky < 8 else lucky - 9,
        )

    def _size(self, address: int, index: int) -> int:
        return self._file_size(self._seed_of(address >> 24), address, index)

    def picture_file(self, picture: Picture, variant: str = "") -> Blob:
        """The bytes of a picture: the original, a *variant* ``png``/``webp``/... of it, or a
        ``!style`` (always webp, as the style's name says)."""
        if variant.startswith("!"):
            return PictureFile(picture.token + variant, picture.width, picture.height, "webp")
        form = variant or picture.form
        return PictureFile(picture.token, picture.width, picture.height, form)

    def stream_file(self, stream: Stream) -> Blob:
        return VideoFile(stream.path, stream.size, stream.seconds, stream.width, stream.height)

    def origin_file(self, video: Video) -> Blob:
        return VideoFile(video.origin_key, video.origin_size, video.seconds, 1920, 1080)

    def picture_at(self, token: str) -> Picture | None:
        """The picture whose full token (with its folder) is *token*."""
        where = _read_file_name(token.rpartition("/")[2])
        if where is None:
            return None
        kind, address, index = where
        if kind == _KIND_PICTURE and self._exists(address):
            pictures = self._note(address).pictures
            if index < len(pictures) and pictures[index].token == token:
                return pictures[index]
        if kind == _KIND_COMMENT:
            picture = self._comment_picture(address, index)
            return picture if picture.token == token else None
        if kind == _KIND_AVATAR and token.startswith("avatar/"):
            return Picture(token, 640, 640, "jpeg")
        return None

    def video_at(self, path: str) -> Blob | None:
        """The video file at *path* (no leading slash) of any video host."""
        where = _read_file_name(path.rpartition("/")[2])
        if where is None or where[0] not in (_KIND_ORIGIN, _KIND_STREAM):
            return None
        if not self._exists(where[1]):
            return None
        note = self._note(where[1])
        if note.video is not None:
            if note.video.origin_key == path:
                return self.origin_file(note.video)
            for stream in note.video.streams:
                if stream.path == path:
                    return self.stream_file(stream)
        for picture in note.pictures:
            if picture.clip is not None and picture.clip.path == path:
                return self.stream_file(picture.clip)
        return None

    def files(self, note_id: str) -> list[File]:
        """What a complete crawl downloads for a note: best quality, in the order of 8.3."""
        note = self.note(note_id)
        if note is None or note.status != "ok":
            return []
        files = []
        if note.video is not None:
            best = best_stream(note.video)
            if note.video.origin_key:
                url = f"https://sns-video-bd.xhscdn.com/{note.video.origin_key}"
                files.append(File("video", url, self.origin_file(note.video)))
            elif best is not None:
                url = f"http://sns-bak-v1.xhscdn.com/{best.path}"
                files.append(File("video", url, self.stream_file(best)))
        for index, picture in enumerate(note.pictures):
            kind = "cover" if note.video is not None and index == 0 else "image"
            blob = None if picture.gone else self.picture_file(picture)
            files.append(File(kind, f"https://ci.xiaohongshu.com/{picture.token}", blob))
            if picture.clip is not None:
                url = f"http://sns-bak-v1.xhscdn.com/{picture.clip.path}"
                files.append(File("live_photo", url, self.stream_file(picture.clip)))
        return files

    # -- users ----------------------------------------------------------------------------------

    def user(self, user_id: str) -> User | None:
        """The person with this id; ``None`` if there never was one."""
        address = self.address_of_user(user_id)
        return None if address is None else self._user(address)

    def address_of_user(self, user_id: str) -> int | None:
        tail = _tail(user_id)
        if tail is None:
            return None
        address = _USERS.undo(tail)
        if address >> 40 or not self._is_somebody(address):
            return None
        return address if self._user_id(address) == user_id else None

    def _user_id(self, address: int) -> str:
        born = 1_420_000_000 + number(self._seed_of(address >> 16), "born", address) % 280_000_000
        return f"{born:08x}0000{_USERS.do(address):012x}"

    def _make_user(self, address: int) -> User:
        space, index = address >> 16, address & 0xFFFF
        dice = Dice(self._seed_of(space), "user", address)
        topic = self._topic_of(space)
        gone = space == READER_SPACE and dice.chance(1)
        fans = dice.skewed(2_000_000, 8)
        total = self._total(space, index, dice)
        pinned = _FIXED_PINNED[index] if space == FIXED_SPACE else pinned_posts(total, dice)
        return User(
            address=address,
            id=self._user_id(address),
            nickname="用户已注销" if gone else texts.nickname(dice),
            avatar=self._avatar(address),
            bio=texts.bio(topic, dice),
            gender=dice.pick((0, 1, 1, 2)),
            ip="" if dice.chance(4) else dice.pick(texts.PROVINCES),
            red_id=str(dice.between(10**8, 10**11)) if dice.chance(80) else self._handle(dice),
            fans=fans,
            follows=dice.skewed(900, 2),
            interaction=fans * dice.between(1, 30) + dice.below(500),
            topic=topic,
            total=total,
            pinned=pinned,
            collects=-1 if dice.chance(35) else dice.skewed(70, 2),
            verified=dice.pick((0,) * 17 + (1, 2, 3)),
            banned=space == FIXED_SPACE and FIXED_CREATORS[index] == "banned",
            gone=gone,
        )

    @staticmethod
    def _handle(dice: Dice) -> str:
        letters = "abcdefghijkmnpqrstuvwxyz"
        return "".join(dice.pick(letters) for _ in range(6)) + str(dice.between(10, 9999))

    def _avatar(self, address: int) -> str:
        if number("avatar", address) % 3 == 0:
            return f"avatar/{self._user_id(address)}.jpg"
        return "avatar/" + _file_name(_KIND_AVATAR, address, 0, "2jo")

    def avatar_at(self, path: str) -> Blob | None:
        """The avatar at *path* (``avatar/...``)."""
        name = path.removeprefix("avatar/")
        if name.endswith(".jpg"):
            if self.address_of_user(name.removesuffix(".jpg")) is None:
                return None
            return PictureFile(path, 640, 640)
        picture = self.picture_at(path)
        return None if picture is None else self.picture_file(picture)

    def creator_notes(self, user_id: str) -> list[str]:
        """Ids of a creator's notes as the list serves them: pinned first, then newest first.
        Deleted and private ones are not in it, unavailable ones are."""
        address = self.address_of_user(user_id)
        if address is None:
            return []
        return [self.note_id(note) for note in self._posted(address)]

    def posted(self, user: User) -> list[Note]:
        return [self._note(address) for address in self._posted(user.address)]

    def posted_page(self, user: User, cursor: str, size: int) -> tuple[list[Note], bool]:
        """*size* notes after the one with id *cursor* (``""``: from the start), and whether more
        follow."""
        addresses = self._posted(user.address)
        start = 0
        if cursor:
            last = self.address_of_note(cursor)
            if last is None or last not in addresses:
                return [], False
            start = addresses.index(last) + 1
        page = [self._note(address) for address in addresses[start : start + size]]
        return page, start + size < len(addresses)

    def _make_posted(self, address: int) -> tuple[int, ...]:
        return tuple(self._listed(address, self._user(address).pinned, ("ok", "unavailable")))

    def collected(self, user: User, kind: str) -> list[Note]:
        """Notes of others that *user* collected or liked (*kind* ``collect`` or ``like``)."""
        if user.collects < 0:
            return []
        dice = Dice(self.seed, kind, user.address)
        notes: dict[int, None] = {}
        for _ in range(user.collects):
            space = self._space(dice.pick(sorted(texts.TOPICS)))
            notes.setdefault(space << 24 | dice.below(2000) << 8)
        return [self._note(n) for n in notes if self._outline(n).status == "ok"]

    # -- comments -------------------------------------------------------------------------------

    def comments(self, note_id: str) -> list[Comment]:
        """Top-level comments in the order in which they are served."""
        note = self.note(note_id)
        if note is None:
            return []
        return [self.comment(note, root) for root in range(note.outline.roots)]

    def replies(self, note_id: str, root_id: str) -> list[Comment]:
        """All replies under a top-level comment, oldest first."""
        note = self.note(note_id)
        where = None if note is None else self.place_of_comment(note, root_id)
        if note is None or where is None:
            return []
        root = where[0]
        return [
            self.comment(note, root, reply) for reply in range(1, self.reply_count(note, root) + 1)
        ]

    def reply_count(self, note: Note, root: int) -> int:
        return self._replies(note.address, note.outline.replies, root)

    @staticmethod
    def _replies(address: int, pattern: tuple[int, ...], root: int) -> int:
        if pattern is _DEEP_REPLIES:
            return pattern[root % 8]
        return drawn_replies(pattern, address, root)

    def place_of_comment(self, note: Note, comment_id: str) -> tuple[int, int] | None:
        """``(root, reply)`` of a comment id under *note*; reply 0 is the root itself."""
        tail = _tail(comment_id)
        if tail is None:
            return None
        plain = _COMMENTS.undo(tail)
        root, reply = plain >> 10 & 0x3FFF, plain & 0x3FF
        if plain >> 24 != _note_mark(note.address) or root >= note.outline.roots:
            return None
        if reply > self.reply_count(note, root):
            return None
        return (root, reply) if self.comment_id(note, root, reply) == comment_id else None

    def comment_id(self, note: Note, root: int, reply: int = 0) -> str:
        return self._id_of_comment(note, root, reply, self._comment_time(note, root, reply))

    @staticmethod
    def _id_of_comment(note: Note, root: int, reply: int, seconds: int) -> str:
        plain = _note_mark(note.address) << 24 | root << 10 | reply
        return f"{seconds:08x}0000{_COMMENTS.do(plain):012x}"

    def _comment_time(self, note: Note, root: int, reply: int) -> int:
        draw = mix(note.address, root)
        replies = self.reply_count(note, root) if reply else 0
        return comment_time(note.outline.time, self.now, draw, reply, replies)

    def comment(self, note: Note, root: int, reply: int = 0) -> Comment:
        dice, user, by_author = self._speaker(note, root, reply)
        pinned = note.pinned_comment and root == 0 and reply == 0
        topic = note.author.topic
        text = texts.reply(topic, dice, EMOTES) if reply else texts.comment(topic, dice, EMOTES)
        mention = self._reader(dice) if dice.chance(6) else None
        if mention is not None:
            text += f" @{mention.nickname}"
        pictures = self._comment_pictures(note, root, reply, dice)
        if pictures and dice.chance(30):
            text = ""
        tags = ("is_author",) * by_author + ("user_top",) * pinned
        likes = dice.skewed(max(1, 3000 // (root + 1)), 2)
        seconds = self._comment_time(note, root, reply)
        return Comment(
            id=self._id_of_comment(note, root, reply, seconds),
            root=root,
            reply=reply,
            user=user,
            text=text,
            time=seconds * 1000 + dice.below(1000),
            likes=likes // 20 if reply else likes,
            ip=None if dice.chance(6) else user.ip,
            status=-2 if dice.chance(1) else 0,
            tags=tags,
            mention=mention,
            pictures=pictures,
            target=dice.below(reply) if reply > 1 and dice.chance(45) else 0,
            replies=0 if reply else self.reply_count(note, root),
        )

    def speaker(self, note: Note, root: int, reply: int = 0) -> User:
        """Who wrote a comment."""
        return self._speaker(note, root, reply)[1]

    def _speaker(self, note: Note, root: int, reply: int) -> tuple[Dice, User, bool]:
        dice = Dice(self._seed_of(note.address >> 24), "comment", note.address, root, reply)
        by_author = dice.chance(30 if reply or (root == 0 and note.pinned_comment) else 3)
        return dice, note.author if by_author else self._reader(dice), by_author

    def _comment_pictures(
        self, note: Note, root: int, reply: int, dice: Dice
    ) -> tuple[Picture, ...]:
        if reply or not dice.chance(7):
            return ()
        return (self._comment_picture(note.address, root),)

    @staticmethod
    def _comment_picture(address: int, root: int) -> Picture:
        token = "comment/" + _file_name(_KIND_COMMENT, address, root, "2h0")
        return Picture(token, 1080, 1440, "jpeg")

    # -- xsec_token -----------------------------------------------------------------------------

    def token(self, object_id: str, channel: str = "search", prefix: str = "AB") -> str:
        """An ``xsec_token`` for one note or user (2.3). *channel* varies its letters only."""
        mark = _channel_mark(channel) ^ int(object_id[-16:], 16) * 0x9E3779B97F4A7C15
        salt = (mark & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "big")
        seal = salt + self._seal(object_id, salt)
        return prefix + base64.urlsafe_b64encode(seal).decode()  # 43 letters and "="

    def token_fits(self, object_id: str, token: str) -> bool:
        """Whether *token* belongs to this object and has not been outlived."""
        if len(token) != 46 or not token[:2].isalpha():
            return False
        try:
            seal = base64.urlsafe_b64decode(token[2:])
        except ValueError:
            return False
        return seal[8:] == self._seal(object_id, seal[:8])

    def _seal(self, object_id: str, salt: bytes) -> bytes:
        sealed = b"%b%b%d" % (object_id.encode(), salt, self.token_generation)
        return hashlib.blake2b(sealed, digest_size=24).digest()

    # -- short links ----------------------------------------------------------------------------

    def short_link(self, object_id: str, outcome: str = "item", form: str = "/o/") -> str:
        """``xhslink.com/o/...`` (no scheme) to a note or user.

        :param outcome: a key of :data:`SHORT_OUTCOMES`: where the chain of redirects ends.
        :param form: ``/``, ``/a/``, ``/m/`` or ``/o/``.
        """
        address = self.address_of_note(object_id)
        if address is None:
            address = self.address_of_user(object_id)
            outcome = "user"
        if address is None:
            raise ValueError(f"no note and no user {object_id}")
        plain = _NOTES.do(address) * 8 + SHORT_OUTCOMES.index(outcome)
        return f"xhslink.com{form}{to_letters(plain, _BASE62, 9)}"

    def short_target(self, code: str) -> tuple[str, str] | None:
        """Outcome and id behind a code; ``None`` for a dead link."""
        plain = from_letters(code, _BASE62) if len(code) == 9 else None
        if plain is None or plain >> 51 or plain % 8 >= len(SHORT_OUTCOMES):
            return None
        outcome = SHORT_OUTCOMES[plain % 8]
        address = _NOTES.undo(plain // 8)
        if outcome == "user":
            known = address >> 40 == 0 and self._is_somebody(address)
            return (outcome, self._user_id(address)) if known else None
        return (outcome, self.note_id(address)) if self._exists(address) else None


SHORT_OUTCOMES = ("item", "explore", "login", "login-twice", "404", "user")
"""``item`` and ``explore`` end at the note, ``login`` and ``login-twice`` at a login wall whose
``redirectPath`` is encoded once or twice, ``404`` at ``/404?...error_code=300031``."""

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def best_stream(video: Video) -> Stream | None:
    """The encoding that rule 8.3 chooses: no watermark, most pixels, highest bitrate, a standard
    codec before EF*."""
    clean = [s for s in video.streams if not s.desc.startswith("WM_")] or list(video.streams)
    if not clean:
        return None
    return max(clean, key=lambda s: (s.width * s.height, not s.bucket.startswith("EF"), s.bitrate))


def corner_tag(seconds: int, now: int) -> str:
    """How a list card tells a publish time: roughly, and in Beijing time (5.1)."""
    age = now - seconds
    then, today = (
        datetime.fromtimestamp(t, timezone.utc).astimezone(BEIJING) for t in (seconds, now)
    )
    if age < 60:
        return "刚刚"
    if age < 3600:
        return f"{age // 60}分钟前"
    days = (today.date() - then.date()).days
    if days == 0:
        return f"{age // 3600}小时前" if seconds % 2 else f"今天 {then:%H:%M}"
    if days == 1:
        return f"昨天 {then:%H:%M}"
    if days < 7:
        return f"{days}天前"
    return f"{then:%m-%d}" if then.year == today.year else f"{then:%Y-%m-%d}"


def _tail(object_id: str) -> int | None:
    """The mixed address in an id of this world."""
    if len(object_id) != 24 or object_id[8:12] != "0000":
        return None
    try:
        return int(object_id[12:], 16)
    except ValueError:
        return None


@lru_cache(maxsize=1024)
def _channel_mark(channel: str) -> int:
    return number("salt", channel)


@lru_cache(maxsize=8192)
def _note_mark(address: int) -> int:
    return int.from_bytes(
        hashlib.blake2b(address.to_bytes(6, "big"), digest_size=3).digest(), "big"
    )
