"""The world of Bilibili: who uploads what, who answers whom, and which file lies where.

Pure functions of ``(seed, address)``; no HTTP, no JSON shapes. Numbers carry their address, mixed
but reversible, so that any video, account or post that was ever handed out can be answered after a
restart. Sections named in comments are those of ``docs/platforms/bilibili.md``.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from sandbox import texts, worlds
from sandbox.bilibili.dash import DashAudio, DashVideo
from sandbox.core import Blob
from sandbox.media import BytesBlob, Picture
from sandbox.media import Video as VideoFile
from sandbox.worlds import DAY, FIXED_SPACE, READER_SPACE, Dice, Scramble, digest, number

SEARCH_CAP = 1000  # results that one search gives at most (3.2)
COMMENT_PAGE = 20  # (3.6)
GUEST_COMMENTS = 3  # and the pinned one (3.6)
SEGMENT = 360  # seconds of danmaku in one segment (3.10)

ORDERS = ("totalrank", "click", "pubdate", "dm", "stow", "scores")
CREATOR_ORDERS = ("pubdate", "click", "stow")
DURATIONS = ((0, 10**9), (0, 600), (600, 1800), (1800, 3600), (3600, 10**9))

MEMBER_QUALITY = 80
GUEST_QUALITY = 32
SIZES = {116: (1920, 1080), 80: (1920, 1080), 64: (1280, 720), 32: (852, 480), 16: (640, 360)}
AUDIO = (30216, 30280, 30232)  # never in the order of quality

EMOTES = ("[doge]", "[笑哭]", "[星星眼]", "[妙啊]", "[OK]", "😂", "👍")

_VIDEOS = Scramble("bilibili video", 48)
_PARTS = Scramble("bilibili part", 52)
_USERS = Scramble("bilibili user", 40)
_DYNAMICS = Scramble("bilibili dynamic", 52)
_ALBUMS = Scramble("bilibili album", 52)
_ARTICLES = Scramble("bilibili article", 52)
_FIRST_MID = 3_461_000_000_000_000
_FIRST_DYNAMIC = 900_000_000_000_000_000
_OTHERS = 256  # numbers of a creator's dynamics from here on are no videos

_USUAL_REPLIES: tuple[int, ...] = (0, 0, 0, 1, 1, 2, 5, 13)
_DEEP_REPLIES: tuple[int, ...] = (45, 0, 31, 1, 12, 0, 2, 1)
_FATES = {"deleted": 25, "hidden": 10, "private": 7}  # per mille


# -- bvid ----------------------------------------------------------------------------------------

_BASE58 = "FcwAPNKTMug3GV5Lj7EJnHpWsx4tb8haYeviqBz6rkCy12mUSDQX9RdoZf"
_PLACES = (9, 7, 5, 6, 4, 8, 3, 10, 11)  # of the digits, most significant first (2.1)


def bvid_of(aid: int) -> str:
    """The bvid of an aid (2.1)."""
    rest = (aid | 1 << 51) ^ 23442827791579
    letters = list("BV1.........")
    for place in reversed(_PLACES):
        rest, digit = divmod(rest, 58)
        letters[place] = _BASE58[digit]
    return "".join(letters)


def aid_of(bvid: str) -> int | None:
    """The aid of a bvid, ``None`` if it is none."""
    if not re.fullmatch(r"BV1[1-9A-HJ-NP-Za-km-z]{9}", bvid):
        return None
    total = 0
    for place in _PLACES:
        total = total * 58 + _BASE58.index(bvid[place])
    return (total & (1 << 51) - 1) ^ 23442827791579


# -- records -------------------------------------------------------------------------------------


class Outline(NamedTuple):
    """The cheap facts about a video: enough to rank it. ``time`` in unix seconds; ``shown`` is the
    number of comments that the site shows; ``status`` is ``ok``, ``deleted``, ``hidden`` or
    ``private``."""

    time: int
    views: int
    likes: int
    danmaku: int
    favorites: int
    coins: int
    shares: int
    seconds: tuple[int, ...]
    roots: int
    replies: tuple[int, ...]
    hidden: int
    status: str


@dataclass(frozen=True)
class User:
    """A creator or a commenter; ``official`` is -1 (none), 0 (person) or 1 (organisation)."""

    address: int
    mid: int
    name: str
    face: str
    sign: str
    gender: int  # 0 not told, 1 male, 2 female
    level: int
    fans: int
    following: int
    likes: int
    articles: int
    topic: str
    total: int  # videos ever uploaded
    official: int
    title: str
    vip: bool
    banned: bool
    gone: bool  # 账号已注销
    place: str
    room: int


@dataclass(frozen=True)
class Image:
    """A picture at ``https://i0.hdslb.com`` + *path*; *film* is a live photo's moving part."""

    path: str
    film: str = ""

    @property
    def size(self) -> tuple[int, int]:
        return picture_size(self.path)


@dataclass(frozen=True)
class Part:
    """One part of a video: its own streams, danmaku and subtitles."""

    cid: int
    number: int
    title: str
    seconds: int
    rotated: bool
    time: int


@dataclass(frozen=True)
class Video:
    """A video with everything that its detail shows."""

    address: int
    aid: int
    bvid: str
    outline: Outline
    author: User
    title: str
    desc: str
    mention: User | None
    uploaded: int
    parts: tuple[Part, ...]
    tags: tuple[str, ...]
    staff: tuple[tuple[User, str], ...]
    season: int
    own: bool
    paid: bool
    cover: str
    subtitles: tuple[str, ...]
    course: bool  # listed as a paid course, which is none of the videos

    @property
    def seconds(self) -> int:
        return sum(self.outline.seconds)


@dataclass(frozen=True)
class Area:
    """Where comments are: ``(type, oid)`` on the wire (3.6)."""

    type: int
    oid: int
    name: str  # of the dice
    author: User
    time: int
    roots: int
    replies: tuple[int, ...]
    hidden: int
    pinned: bool
    again: bool  # the pinned comment is a row of the list as well
    tail: str  # how the end looks: "end", "empty" (one more empty page) or "same" (offset repeats)
    closed: bool

    @property
    def shown(self) -> int:
        """``all_count``: comments, replies, and some that nobody can see."""
        return self.roots + self.hidden + sum(self.reply_count(i) for i in range(self.roots))

    def reply_count(self, root: int) -> int:
        """Visible replies under a comment."""
        if self.replies is _DEEP_REPLIES:
            return self.replies[root % 8]
        return self.replies[number("replies", self.name, root) % 8]


@dataclass(frozen=True)
class Comment:
    """A comment (``reply == 0``) or a reply; ``target`` is the number of the answered one under
    the same root, 0 for the root itself; ``deleted`` replies are counted but never shown."""

    rpid: int
    root: int
    reply: int
    user: User
    text: str
    time: int
    likes: int
    place: str
    pinned: bool
    liked_by_author: bool
    mention: User | None
    pictures: tuple[Image, ...]
    target: int
    replies: int
    deleted: int


@dataclass(frozen=True)
class Dynamic:
    """A post of a creator's feed. ``kind`` is ``AV``, ``DRAW``, ``WORD``, ``FORWARD``, ``ARTICLE``
    or ``LIVE_RCMD``; ``blocks`` are an article's paragraphs ``(kind, content)``."""

    address: int
    id: int
    kind: str
    author: User
    time: int
    title: str
    text: str
    topic: str
    mention: User | None
    pictures: tuple[Image, ...]
    video: Video | None
    original: Dynamic | None
    original_gone: bool
    blocks: tuple[tuple[str, str], ...]
    pinned: bool
    likes: int
    forwards: int
    area: Area = field(repr=False)


class Danmaku(NamedTuple):
    id: int
    ms: int
    mode: int
    size: int
    color: int
    user_hash: str
    text: str
    time: int
    weight: int
    pool: int


class File(NamedTuple):
    """A file that a complete crawl of a video ends up with."""

    kind: str  # cover, video or audio
    path: str
    blob: Blob | None  # None: gone


# -- the documented videos -----------------------------------------------------------------------


class Fixed(NamedTuple):
    """What is special about a documented video; everything else is thrown with seed 0."""

    name: str
    age: int  # hours before WORLD_NOW
    seconds: tuple[int, ...] = (95,)
    status: str = "ok"
    roots: int = 12
    replies: tuple[int, ...] = _USUAL_REPLIES
    pinned: bool = False
    again: bool = False
    tail: str = "end"
    closed: bool = False
    staff: bool = False
    paid: bool = False
    course: bool = False
    season: int = 0
    rotated: bool = False
    subtitles: tuple[str, ...] = ()
    title: str | None = None
    desc: str | None = None


FIXED_VIDEOS = (
    Fixed("plain", 5, subtitles=("zh-CN", "ai-zh")),
    Fixed("multipart", 30, seconds=(61, 402, 35), rotated=True),
    Fixed("coop", 55, staff=True, season=90210),
    Fixed("deleted", 80, status="deleted"),
    Fixed("hidden", 100, status="hidden"),
    Fixed("private", 120, status="private"),
    Fixed("comments-closed", 140, closed=True),
    Fixed("no-comments", 160, roots=0),
    Fixed("pinned-thrice", 200, roots=45, pinned=True, again=True),
    Fixed("300-comments", 400, roots=300, replies=_DEEP_REPLIES, pinned=True),
    Fixed("endless", 500, roots=40, tail="same"),
    Fixed("empty-last-page", 600, roots=40, tail="empty"),
    Fixed("paid", 700, paid=True),
    Fixed(
        "tricky-text",
        800,
        title='第一个 <b>"真"</b> 标题 &amp; 不是;(function(){}｜</script>',
        desc='第一行 a/b & c < d;\n\n第二行 👨‍👩‍👧 {"k":1};(function',
    ),
    Fixed("no-text", 900, desc="-"),
    Fixed("course", 1000, course=True),
)
"""Videos of the documented creator ``demo``; the keyword ``演示`` finds them all."""

FIXED_CREATORS = ("demo", "prolific", "silent", "banned", "gone")
"""``demo`` owns :data:`FIXED_VIDEOS`, ``prolific`` has 95 videos, ``silent`` nothing, ``banned`` is
banned, ``gone`` does not exist."""

_FIXED_TOTALS = (len(FIXED_VIDEOS), 95, 0, 3, 0)
_FIXED_OTHERS = (30, 12, 0, 0, 0)


# -- file names ----------------------------------------------------------------------------------


def _name(*parts: object, length: int = 32) -> str:
    """A hex name of *length* that proves that the sandbox made it."""
    head = digest("file", *parts, size=10).hex()
    return head + digest("proof", head, size=(length - 20) // 2).hex()


_IMAGE_PATH = re.compile(
    r"/bfs/(?:archive|face|storyff)/([0-9a-f]{40})\.(jpg|png|webp)"
    r"|/bfs/(?:new_dyn|article)/([0-9a-f]{32})\d+\.(jpg|png|webp)"
)
_FILM_PATH = re.compile(r"/bfs/dyn_video/([0-9a-f]{32})\.mp4")
_FORMS = {"jpg": "jpeg", "png": "png", "webp": "webp"}


def picture_size(path: str) -> tuple[int, int]:
    """Width and height of the picture at *path*."""
    shape = number("shape", path)
    if path.startswith(("/bfs/new_dyn", "/bfs/article")):
        return 600 + shape % 800, 400 + shape // 800 % 1200
    return (960, 600) if path.startswith("/bfs/archive") else (256, 256)


def picture_at(path: str) -> Blob | None:
    """The picture (or live photo's film) at a path of the picture hosts, ``None`` if there is
    none."""
    if path == NO_FACE:
        return Picture(path, 256, 256)
    if (film := _FILM_PATH.fullmatch(path)) and _is_ours(film[1]):
        return VideoFile(path, 60_000, 2)
    match = _IMAGE_PATH.fullmatch(path)
    if match is None or not _is_ours(match[1] or match[3]) or picture_gone(path):
        return None
    return Picture(path, *picture_size(path), _FORMS[match[2] or match[4]])


def picture_gone(path: str) -> bool:
    """One picture of 150 in posts is listed but not there any more."""
    return path.startswith("/bfs/new_dyn") and number("gone", path) % 150 == 0


def _is_ours(name: str) -> bool:
    return digest("proof", name[:20], size=(len(name) - 20) // 2).hex() == name[20:]


NO_FACE = "/bfs/face/member/noface.jpg"


# -- the world -----------------------------------------------------------------------------------


class _Pool(NamedTuple):
    """The videos of one keyword as columns."""

    videos: array[int]
    columns: dict[str, array[int]]


class World(worlds.World[Outline, User]):
    """Every right answer about Bilibili for one seed.

    :param search_cap: rows that one search gives at most.
    :param more: of every world, see :class:`sandbox.worlds.World`.
    """

    space_bits = 24
    creator_bits = 16
    reader_posts = 3
    fixed_creators = FIXED_CREATORS
    fixed_totals = _FIXED_TOTALS

    def __init__(
        self, seed: int = 1, posts: int = 60, *, search_cap: int = SEARCH_CAP, **more: Any
    ) -> None:
        super().__init__(seed, posts, **more)
        self.search_cap = search_cap
        self._video = lru_cache(maxsize=2048)(self._make_video)
        self._dynamic = lru_cache(maxsize=2048)(self._make_dynamic)
        self._pool = lru_cache(maxsize=64)(self._make_pool)
        self._order = lru_cache(maxsize=256)(self._make_order)
        self._feed = lru_cache(maxsize=512)(self._make_feed)
        self._heat = lru_cache(maxsize=64)(self._make_heat)
        self._roots = lru_cache(maxsize=256)(self._make_roots)
        self.comment = lru_cache(maxsize=16384)(self._make_comment)

    # -- search ---------------------------------------------------------------------------------

    def search(
        self,
        keyword: str,
        *,
        order: str = "totalrank",
        since: int = 0,
        until: int = 0,
        duration: int = 0,
        size: int = 20,
    ) -> list[str]:
        """bvids that a keyword finds, best first, each once, as far as the cap lets a client see.

        *since* and *until* in unix seconds, 0 for no limit; *duration* as on the wire (3.2).
        """
        pages = self.search_pages(keyword, order, since, until, duration, size)
        seen = dict.fromkeys(entry for page in pages for entry in page if entry >= 0)
        return [bvid_of(self.aid(address)) for address in seen]

    def matches(self, keyword: str, *, since: int = 0, until: int = 0) -> list[str]:
        """All bvids that belong to a keyword and a time window, newest first, without any cap."""
        found = self._order(keyword, "pubdate", since, until, 0)
        return [bvid_of(self.aid(address)) for address in found]

    def search_pages(
        self, keyword: str, order: str, since: int, until: int, duration: int, size: int
    ) -> list[list[int]]:
        """Addresses of videos page by page; -1 is a course among them. Some come again on the
        next page, because ranking changes between requests (3.2)."""
        entries = list(self._order(keyword, order, since, until, duration))
        step = size
        while step < len(entries):
            back = 1 + number(self.seed, "back", keyword, step) % 5
            entries.insert(min(step + 3, len(entries)), entries[step - back])
            step += size
        for place in range(7, len(entries), 37):
            entries.insert(place, -1)
        entries = entries[: self.search_cap]
        return [entries[i : i + size] for i in range(0, len(entries), size)]

    def _make_order(
        self, keyword: str, order: str, since: int, until: int, duration: int
    ) -> tuple[int, ...]:
        pool = self._pool(keyword)
        shortest, longest = DURATIONS[duration]
        times, seconds = pool.columns["pubdate"], pool.columns["seconds"]
        rows = [
            row
            for row in range(len(pool.videos))
            if since <= times[row] <= (until or 10**12) and shortest <= seconds[row] < longest
        ]
        if order in pool.columns:
            column = pool.columns[order]
            rows.sort(key=lambda row: (-column[row], row))
        return tuple(pool.videos[row] for row in rows)

    def _make_pool(self, keyword: str) -> _Pool:
        addresses = self._ranked(keyword)
        outlines = [self._outline(address) for address in addresses]
        columns = {
            "click": [o.views for o in outlines],
            "pubdate": [o.time for o in outlines],
            "dm": [o.danmaku for o in outlines],
            "stow": [o.favorites for o in outlines],
            "scores": [o.roots for o in outlines],
            "seconds": [sum(o.seconds) for o in outlines],
        }
        return _Pool(
            array("Q", addresses), {name: array("Q", values) for name, values in columns.items()}
        )

    def _found_by(self, keyword: str) -> Iterator[int]:
        found = super()._found_by(keyword)
        return (a for a in found if (fixed := self._fixed(a)) is None or not fixed.course)

    def search_users(self, keyword: str) -> list[User]:
        """Creators that a keyword finds, each once."""
        creators = dict.fromkeys(address >> 8 for address in self._pool(keyword).videos)
        return [self._user(address) for address in creators]

    # -- videos ---------------------------------------------------------------------------------

    def aid(self, address: int) -> int:
        return _VIDEOS.do(address) + 1

    def video(self, bvid: str) -> Video | None:
        """The video with this bvid, also one that is deleted; ``None`` if there never was one."""
        aid = aid_of(bvid)
        return None if aid is None else self.video_by_aid(aid)

    def video_by_aid(self, aid: int) -> Video | None:
        if not 0 < aid <= 1 << 48:
            return None
        address = _VIDEOS.undo(aid - 1)
        return self._video(address) if self._exists(address) else None

    def video_at(self, address: int) -> Video:
        return self._video(address)

    def fixed_video(self, name: str) -> Video:
        """The documented video *name* (:data:`FIXED_VIDEOS`)."""
        return self._video([fixed.name for fixed in FIXED_VIDEOS].index(name))

    def part(self, cid: int) -> tuple[Video, Part] | None:
        """The video and the part with this cid."""
        if not 0 <= cid < 1 << 52:
            return None
        plain = _PARTS.undo(cid)
        address, index = plain >> 4, plain & 15
        if not self._exists(address):
            return None
        video = self._video(address)
        return (video, video.parts[index]) if index < len(video.parts) else None

    def _fixed(self, address: int) -> Fixed | None:
        return FIXED_VIDEOS[address] if address < len(FIXED_VIDEOS) else None

    def _make_outline(self, address: int) -> Outline:
        space = address >> 24
        dice = Dice(self._seed_of(space), "video", address)
        fixed = self._fixed(address)
        now = self._now_of(space)
        time = now - dice.age()
        views = dice.skewed(3_000_000, 5)
        likes = views * dice.between(1, 12) // 100
        parts = 1 if dice.chance(85) else dice.between(2, 4)
        seconds = tuple(_length(dice) for _ in range(parts))
        roots = 0 if dice.chance(8) else 1 + dice.skewed(60, 2.5)
        replies, hidden = _USUAL_REPLIES, dice.between(1, 3) if dice.chance(20) else 0
        status = dice.fate(_FATES)
        if fixed is not None:
            time, seconds, status = now - fixed.age * 3600, fixed.seconds, fixed.status
            roots, replies, hidden = fixed.roots, fixed.replies, 0
        elif space == FIXED_SPACE:
            time, status = now - (address & 0xFF) * 3 * DAY - 7200, "ok"
        return Outline(
            time=time,
            views=views,
            likes=likes,
            danmaku=dice.skewed(40, 1.5) * parts,
            favorites=views * dice.between(0, 8) // 100,
            coins=likes * dice.between(0, 60) // 100,
            shares=likes * dice.between(0, 20) // 100,
            seconds=seconds,
            roots=roots,
            replies=replies,
            hidden=hidden,
            status=status,
        )

    def _make_video(self, address: int) -> Video:
        seed = self._seed_of(address >> 24)
        outline, author = self._outline(address), self._user(address >> 8)
        dice = Dice(seed, "text", address)
        fixed = self._fixed(address) or Fixed("", 0)
        aid = self.aid(address)
        mention = self._reader(dice) if dice.chance(12) else None
        desc = (
            ""
            if dice.chance(15)
            else "\n".join(texts.paragraphs(author.topic, dice, dice.between(1, 4), EMOTES))
        )
        title = texts.title(author.topic, dice)
        if mention is not None:
            desc += f"\n感谢 @{mention.name}"
        if fixed.desc is not None:
            desc, mention = fixed.desc, None
        staff = fixed.staff or (not fixed.name and dice.chance(6))
        tags = dict.fromkeys([author.topic, *dice.some(sorted(texts.TOPICS), 2)])
        return Video(
            address=address,
            aid=aid,
            bvid=bvid_of(aid),
            outline=outline,
            author=author,
            title=title if fixed.title is None else fixed.title,
            desc=desc,
            mention=mention,
            uploaded=outline.time - dice.between(0, 2 * DAY),
            parts=tuple(self._parts(address, outline, fixed, dice)),
            tags=tuple(tags),
            staff=((author, "UP主"), (self._reader(dice), "剪辑")) if staff else (),
            season=fixed.season or (dice.between(1000, 9999) if dice.chance(10) else 0),
            own=dice.chance(80),
            paid=fixed.paid,
            cover=f"/bfs/archive/{_name('cover', address, length=40)}.jpg",
            subtitles=fixed.subtitles or (("ai-zh",) if dice.chance(40) else ()),
            course=fixed.course,
        )

    @staticmethod
    def _parts(address: int, outline: Outline, fixed: Fixed, dice: Dice) -> Iterator[Part]:
        for index, seconds in enumerate(outline.seconds):
            yield Part(
                cid=_PARTS.do(address << 4 | index),
                number=index + 1,
                title=f"第{index + 1}段" if len(outline.seconds) > 1 else "",
                seconds=seconds,
                rotated=dice.chance(10) or (fixed.rotated and index == 1),
                time=outline.time + index * 3600,
            )

    # -- files of a video -----------------------------------------------------------------------

    def qualities(self, part: Part) -> list[int]:
        """What exists for a part, best first."""
        return [116, 80, 64, 32, 16] if part.cid % 5 == 0 else [80, 64, 32, 16]

    @staticmethod
    def stream_path(cid: int, quality: int, codec: int) -> str:
        """Path of a stream; *codec* 7 AVC, 12 HEVC, 13 AV1, 0 for audio, 1 for one-file MP4."""
        ending = "mp4" if codec == 1 else "m4s"
        folder = f"/upgcxcode/{cid % 100:02d}/{cid // 100 % 100:02d}/{cid}"
        return f"{folder}/{cid}_nb{codec}-1-{quality}.{ending}"

    def stream_file(self, path: str) -> Blob | None:
        """The stream at *path* (see :meth:`stream_path`)."""
        match = re.fullmatch(r"/upgcxcode/\d\d/\d\d/(\d+)/\1_nb(\d+)-1-(\d+)\.(?:m4s|mp4)", path)
        found = self.part(int(match[1])) if match else None
        if match is None or found is None:
            return None
        part, codec, quality = found[1], int(match[2]), int(match[3])
        if self.stream_path(part.cid, quality, codec) != path:
            return None
        if codec == 0:
            small = max(20_000, self._file_size(self.seed, path) // 10)
            return DashAudio(path, small) if quality in AUDIO else None
        if quality not in self.qualities(part):
            return None
        if codec == 1:
            return VideoFile(path, self._file_size(self.seed, path), part.seconds, *SIZES[quality])
        return DashVideo(path, self._file_size(self.seed, path))

    def files(self, video: Video, quality: int = MEMBER_QUALITY) -> list[File]:
        """What a complete crawl of a video downloads: its cover, and of every part the best video
        up to *quality* (AVC) and the best audio."""
        found = [File("cover", video.cover, picture_at(video.cover))]
        for part in video.parts:
            best = next(q for q in self.qualities(part) if q <= quality)
            for kind, path in (
                ("video", self.stream_path(part.cid, best, 7)),
                ("audio", self.stream_path(part.cid, 30280, 0)),
            ):
                found.append(File(kind, path, self.stream_file(path)))
        return found

    @staticmethod
    def subtitle_path(video: Video, part: Part, language: str) -> str:
        """Path of a subtitle file; a machine-made one names aid and cid (3.9)."""
        if language.startswith("ai-"):
            mark = _name("subtitle", part.cid, language)
            return f"/bfs/ai_subtitle/prod/{video.aid}{part.cid}{mark}"
        return f"/bfs/subtitle/{part.cid}_{language}_{_name('subtitle', part.cid, language)}.json"

    def subtitle_lines(self, part: Part, language: str) -> list[tuple[float, float, str]]:
        """From, to (seconds) and text of each line."""
        dice = Dice("subtitle", part.cid, language)
        step = max(4, part.seconds // 8)
        topic = dice.pick(sorted(texts.TOPICS))
        return [
            (start + 0.25, start + step - 0.5, texts.reply(topic, dice, ("♪",)))
            for start in range(0, part.seconds - step + 1, step)
        ]

    def subtitle_at(self, path: str) -> tuple[Part, str] | None:
        """Part and language of the subtitle file at *path*."""
        match = re.search(r"/bfs/subtitle/(\d+)_([\w-]+?)_[0-9a-f]{32}\.json$", path)
        if match:
            found = self.part(int(match[1]))
            if found and self.subtitle_path(*found, match[2]) == path:
                return found[1], match[2]
            return None
        match = re.search(r"/ai_subtitle/prod/(\d+)([0-9a-f]{32})$", path)
        if match is None:
            return None
        for cut in range(1, len(match[1])):
            video = self.video_by_aid(int(match[1][:cut]))
            for part in video.parts if video else ():
                if video and self.subtitle_path(video, part, "ai-zh") == path:
                    return part, "ai-zh"
        return None

    def danmaku(self, video: Video, part: Part) -> list[Danmaku]:
        """All danmaku of a part, by their time in the video."""
        rows = []
        for index in range(video.outline.danmaku // len(video.parts)):
            dice = Dice("danmaku", part.cid, index)
            text = texts.reply(video.author.topic, dice, EMOTES)
            rows.append(
                Danmaku(
                    id=1_800_000_000_000_000_000 + number("dm", part.cid, index) % 10**17,
                    ms=0 if index == 0 else dice.below(part.seconds * 1000),
                    mode=dice.pick((1, 1, 1, 4, 5)),
                    size=dice.pick((25, 25, 18)),
                    color=dice.pick((0xFFFFFF, 0xFFFFFF, 0xE70012, 0x00FF00)),
                    user_hash=f"{dice.below(1 << 32):x}",
                    text=text + dice.pick(("", "", "\n第二行", " <3 &amp;", "/n")),
                    time=video.outline.time + dice.below(max(1, self.now - video.outline.time)),
                    weight=dice.between(1, 11),
                    pool=1 if dice.chance(5) else 0,
                )
            )
        return sorted(rows, key=lambda row: row.ms)

    # -- users ----------------------------------------------------------------------------------

    def user(self, mid: int) -> User | None:
        """The account with this number; ``None`` if there never was one."""
        mixed = mid - _FIRST_MID
        if not 0 <= mixed < 1 << 40:
            return None
        address = _USERS.undo(mixed)
        if not self._is_somebody(address):
            return None
        user = self._user(address)
        return None if address < len(FIXED_CREATORS) and FIXED_CREATORS[address] == "gone" else user

    def viewer(self, session: str = "") -> User:
        """Who is logged in with the member session, or with another account's."""
        draw = number("viewer", session) if session else number("viewer")
        return self._user(self._reader_address(draw))

    def _make_user(self, address: int) -> User:
        space, index = address >> 16, address & 0xFFFF
        dice = Dice(self._seed_of(space), "user", address)
        topic = self._topic_of(space)
        gone = space == READER_SPACE and dice.chance(1)
        fans = dice.skewed(2_000_000, 8)
        official = dice.pick((-1,) * 17 + (0, 0, 1))
        fixed = FIXED_CREATORS[index] if space == FIXED_SPACE else ""
        face = f"/bfs/face/{_name('face', address, length=40)}.jpg"
        return User(
            address=address,
            mid=_FIRST_MID + _USERS.do(address),
            name="账号已注销" if gone else texts.nickname(dice),
            face=NO_FACE if gone else face,
            sign="" if gone else texts.bio(topic, dice),
            gender=dice.below(3),
            level=0 if gone else dice.between(1, 6),
            fans=fans,
            following=dice.skewed(900, 2),
            likes=fans * dice.between(1, 30) + dice.below(500),
            articles=dice.skewed(9, 2),
            topic=topic,
            total=self._total(space, index, dice),
            official=official,
            title=f"知名{topic}UP主" if official >= 0 else "",
            vip=dice.chance(20),
            banned=fixed == "banned",
            gone=gone,
            place=dice.pick(texts.PROVINCES),
            room=dice.between(10**6, 10**7) if dice.chance(10) else 0,
        )

    def uploads(self, user: User, order: str = "pubdate") -> list[Video]:
        """A creator's videos as the list serves them, courses among them; deleted, hidden and
        private ones are not in it."""
        videos = [self._video(user.address << 8 | post) for post in range(user.total)]
        shown = [video for video in videos if video.outline.status == "ok"]
        keys = {
            "pubdate": lambda v: (-v.outline.time, v.aid),
            "click": lambda v: (-v.outline.views, v.aid),
            "stow": lambda v: (-v.outline.favorites, v.aid),
        }
        return sorted(shown, key=keys[order])

    # -- dynamics -------------------------------------------------------------------------------

    def feed(self, user: User) -> list[Dynamic]:
        """A creator's dynamics: the pinned one first, then newest first."""
        return [self._dynamic(address) for address in self._feed(user.address)]

    def dynamic(self, dynamic_id: int) -> Dynamic | None:
        mixed = dynamic_id - _FIRST_DYNAMIC
        if not 0 <= mixed < 1 << 52:
            return None
        address = _DYNAMICS.undo(mixed)
        return self._dynamic(address) if self._dynamic_exists(address) else None

    def article(self, number: int) -> Dynamic | None:
        """The article with this cv number."""
        if not 0 <= number < 1 << 52:
            return None
        address = _ARTICLES.undo(number)
        found = self._dynamic(address) if self._dynamic_exists(address) else None
        return found if found is not None and found.kind == "ARTICLE" else None

    def _dynamic_exists(self, address: int) -> bool:
        creator, index = address >> 10, address & 0x3FF
        if creator >> 40 or not self._is_somebody(creator):
            return False
        if index < _OTHERS:
            video = creator << 8 | index
            fixed = self._fixed(video)
            listed = fixed is None or not fixed.course
            return listed and self._exists(video) and self._outline(video).status == "ok"
        return index - _OTHERS < self._others(creator)

    def _others(self, creator: int) -> int:
        if creator >> 16 == FIXED_SPACE:
            return _FIXED_OTHERS[creator]
        if creator >> 16 == READER_SPACE:
            return 0
        return 2 + number(self.seed, "others", creator) % 6

    def _make_feed(self, creator: int) -> tuple[int, ...]:
        videos = (creator << 10 | post for post in range(self._user(creator).total))
        others = (creator << 10 | _OTHERS + i for i in range(self._others(creator)))
        shown = [a for a in (*videos, *others) if self._dynamic_exists(a)]
        dynamics = [self._dynamic(address) for address in shown]
        dynamics.sort(key=lambda d: (not d.pinned, -d.time, d.id))
        return tuple(dynamic.address for dynamic in dynamics)

    def _make_dynamic(self, address: int) -> Dynamic:
        creator, index = address >> 10, address & 0x3FF
        author = self._user(creator)
        space = creator >> 16
        dice = Dice(self._seed_of(space), "dynamic", address)
        now = self._now_of(space)
        turn = index - _OTHERS
        video = self._video(creator << 8 | index) if index < _OTHERS else None
        kind = "AV" if video else ("DRAW", "WORD", "FORWARD", "ARTICLE", "LIVE_RCMD")[turn % 5]
        pinned = turn == 5 and space == FIXED_SPACE and creator == 0
        time = video.outline.time if video else now - turn * 40 * 3600 - dice.below(3600)
        if pinned:
            time = now - 900 * DAY  # older than all others: it must end no crawl by date
        topic = author.topic if dice.chance(40) else ""
        mention = self._reader(dice) if dice.chance(15) and kind != "AV" else None
        words = texts.paragraphs(author.topic, dice, dice.between(1, 3), EMOTES)
        blocks = self._blocks(author, address, dice) if kind == "ARTICLE" else ()
        original, gone = self._original(address, turn) if kind == "FORWARD" else (None, False)
        return Dynamic(
            address=address,
            id=_FIRST_DYNAMIC + _DYNAMICS.do(address),
            kind=kind,
            author=author,
            time=time,
            title=texts.title(author.topic, dice) if kind in ("ARTICLE", "LIVE_RCMD") else "",
            text="" if kind in ("AV", "LIVE_RCMD", "ARTICLE") else "\n".join(words),
            topic=topic if kind in ("DRAW", "WORD") else "",
            mention=mention if kind in ("DRAW", "WORD", "FORWARD") else None,
            pictures=self._pictures(author, address, dice) if kind == "DRAW" else (),
            video=video,
            original=original,
            original_gone=gone,
            blocks=blocks,
            pinned=pinned,
            likes=dice.skewed(20_000, 4),
            forwards=dice.skewed(500, 4),
            area=self._dynamic_area(address, kind, author, time, video, dice),
        )

    @staticmethod
    def _pictures(author: User, address: int, dice: Dice) -> tuple[Image, ...]:
        images = []
        for i in range(1 + dice.skewed(11, 1.5)):
            path = f"/bfs/new_dyn/{_name('picture', address, i)}{author.mid}.jpg"
            film = f"/bfs/dyn_video/{_name('film', address, i)}.mp4" if dice.chance(8) else ""
            images.append(Image(path, film))
        return tuple(images)

    @staticmethod
    def _blocks(author: User, address: int, dice: Dice) -> tuple[tuple[str, str], ...]:
        lines = texts.paragraphs(author.topic, dice, 6, EMOTES)
        picture = f"/bfs/article/{_name('article', address)}{author.mid}.png"
        return (
            ("text", lines[0]),
            ("text", lines[1]),
            ("picture", picture),
            ("line", ""),
            ("quote", lines[2]),
            ("list", f"{lines[3]}\n{lines[4]}"),
            ("code", 'if (a < b && c > "d") { return; }'),
            ("text", lines[5]),
        )

    def _original(self, address: int, turn: int) -> tuple[Dynamic | None, bool]:
        """What a forward repeats: an older post of the same creator, or one that is gone."""
        if turn % 3 == 0:
            return None, True
        return self._dynamic((address >> 10 << 10) | _OTHERS + turn - turn % 5), False

    def _dynamic_area(
        self, address: int, kind: str, author: User, time: int, video: Video | None, dice: Dice
    ) -> Area:
        if video is not None:
            return self.area_of(video)
        number_of = {"DRAW": (11, _ALBUMS.do(address)), "ARTICLE": (12, _ARTICLES.do(address))}
        kind_of_area, oid = number_of.get(kind, (17, _FIRST_DYNAMIC + _DYNAMICS.do(address)))
        return Area(
            type=kind_of_area,
            oid=oid,
            name=f"dynamic {address}",
            author=author,
            time=time,
            roots=dice.skewed(30, 2),
            replies=_USUAL_REPLIES,
            hidden=0,
            pinned=dice.chance(20),
            again=False,
            tail="end",
            closed=False,
        )

    # -- comments -------------------------------------------------------------------------------

    def area(self, kind: int, oid: int) -> Area | None:
        """The comment area ``(type, oid)``, ``None`` for a wrong pair."""
        if kind == 1:
            video = self.video_by_aid(oid)
            return None if video is None or video.outline.status != "ok" else self.area_of(video)
        address = {11: _ALBUMS, 12: _ARTICLES}.get(kind)
        if address is not None and 0 <= oid < 1 << 52:
            plain = address.undo(oid)
            found = self._dynamic(plain) if self._dynamic_exists(plain) else None
        else:
            found = self.dynamic(oid) if kind == 17 else None
        if found is None or (found.area.type, found.area.oid) != (kind, oid):
            return None
        return found.area

    def area_of(self, video: Video) -> Area:
        """The comments of a video."""
        dice = Dice(self._seed_of(video.address >> 24), "area", video.address)
        fixed = self._fixed(video.address)
        outline = video.outline
        pinned, again = dice.chance(25), dice.chance(30)
        tail = dice.pick(("end", "end", "end", "empty", "same"))
        closed = dice.chance(2)
        if fixed is not None:
            pinned, again, tail, closed = fixed.pinned, fixed.again, fixed.tail, fixed.closed
        return Area(
            type=1,
            oid=video.aid,
            name=f"video {video.address}",
            author=video.author,
            time=outline.time,
            roots=outline.roots,
            replies=outline.replies,
            hidden=outline.hidden,
            pinned=pinned and outline.roots > 0,
            again=again,
            tail=tail,
            closed=closed,
        )

    def comments(self, area: Area, mode: int = 3) -> list[Comment]:
        """All top-level comments, each once: the pinned one first, then by heat (*mode* 3) or
        newest first (2)."""
        order = [0] if area.pinned else []
        order += [root for root in self.comment_order(area, mode) if root not in order]
        return [self.comment(area, root) for root in order]

    def comment_order(self, area: Area, mode: int) -> list[int]:
        """Numbers of the rows of the list; the pinned one (0) is among them only if it comes
        again there."""
        first = 1 if area.pinned and not area.again else 0
        if mode == 2:
            return list(range(area.roots - 1, first - 1, -1))
        return [root for root in self._heat(area) if root >= first]

    def _make_heat(self, area: Area) -> tuple[int, ...]:
        likes = [self._likes(area, root) for root in range(area.roots)]
        return tuple(sorted(range(area.roots), key=lambda root: (-likes[root], root)))

    @staticmethod
    def _likes(area: Area, root: int, reply: int = 0) -> int:
        most = 100 if reply else 3000
        return int(most * (number("likes", area.name, root, reply) % 10_000 / 10_000) ** 4)

    def previews(self, area: Area, root: int) -> list[Comment]:
        """The up to three most liked replies of a comment, most liked first."""
        replies = range(1, area.reply_count(root) + 1)
        best = sorted(replies, key=lambda reply: (-self._likes(area, root, reply), reply))
        return [self.comment(area, root, reply) for reply in best[:3]]

    def replies(self, area: Area, root: int) -> list[Comment]:
        """All visible replies under a comment, oldest first."""
        return [self.comment(area, root, reply) for reply in range(1, area.reply_count(root) + 1)]

    def root_of(self, area: Area, rpid: int) -> int | None:
        """The number of the top-level comment *rpid*."""
        return self._roots(area).get(rpid)

    def _make_roots(self, area: Area) -> dict[int, int]:
        return {self.rpid(area, root): root for root in range(area.roots)}

    @staticmethod
    def rpid(area: Area, root: int, reply: int = 0) -> int:
        """The number of a comment or reply."""
        return 10**11 + number("rpid", area.name, root, reply) % (1 << 52)

    def _make_comment(self, area: Area, root: int, reply: int = 0) -> Comment:
        dice = Dice(self.seed, "comment", area.name, root, reply)
        pinned = area.pinned and root == 0 and reply == 0
        user = area.author if dice.chance(30 if reply else 3) or pinned else self._reader(dice)
        topic = area.author.topic
        target = dice.below(reply) if reply > 1 and dice.chance(45) else 0
        text = texts.reply(topic, dice, EMOTES) if reply else texts.comment(topic, dice, EMOTES)
        mention = self._reader(dice) if dice.chance(6) else None
        if mention is not None:
            text += f" @{mention.name}"
        span = max(1, self.now - area.time)
        time = area.time + span * (root + 1) // (area.roots + 2) + reply
        pictures: tuple[Image, ...] = ()
        if not reply and dice.chance(7):
            path = f"/bfs/new_dyn/{_name('comment', area.name, root)}{user.mid}.jpg"
            pictures = (Image(path),)
        return Comment(
            rpid=self.rpid(area, root, reply),
            root=root,
            reply=reply,
            user=user,
            text="" if pictures and dice.chance(30) else text,
            time=time,
            likes=self._likes(area, root, reply),
            place=user.place,
            pinned=pinned,
            liked_by_author=dice.chance(8),
            mention=mention,
            pictures=pictures,
            target=target,
            replies=0 if reply else area.reply_count(root),
            deleted=0 if reply or not dice.chance(10) else dice.between(1, 3),
        )

    # -- short links ----------------------------------------------------------------------------

    def short_code(self, what: str) -> str:
        """The code on ``b23.tv`` of a fixed video, creator or dynamic: ``"video plain"``,
        ``"creator demo"``, ``"dynamic 0"``, or ``"foreign"`` and ``"live"``."""
        value = number("short", what)
        letters = ""
        for _ in range(7):
            value, digit = divmod(value, 58)
            letters += _BASE58[digit]
        return letters

    def short_targets(self) -> dict[str, str]:
        """Code -> address (without tracking) of every short link there is."""
        targets = {
            f"video {fixed.name}": f"https://www.bilibili.com/video/{self._video(i).bvid}"
            for i, fixed in enumerate(FIXED_VIDEOS)
        }
        for i, name in enumerate(FIXED_CREATORS):
            targets[f"creator {name}"] = f"https://space.bilibili.com/{self._user(i).mid}"
        for i, dynamic in enumerate(self.feed(self._user(0))[:5]):
            targets[f"dynamic {i}"] = f"https://m.bilibili.com/opus/{dynamic.id}"
        targets["foreign"] = "https://www.example.com/video/BV1xx411c7mD"
        targets["live"] = "https://live.bilibili.com/123"
        return {self.short_code(what): address for what, address in targets.items()}


def subtitle_blob(data: bytes) -> Blob:
    """A subtitle file."""
    return BytesBlob(data, "application/json")


def _length(dice: Dice) -> int:
    """Seconds of a part: mostly short, some of hours (``217:7`` in search)."""
    return dice.between(3600, 14_000) if dice.chance(4) else dice.between(12, 1500)
