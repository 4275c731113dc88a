"""The world of Weibo: who posts what, who answers whom, and which file lies behind which address.

Pure functions of ``(seed, address)``; no HTTP, no JSON shapes. A post's id tells its second, as on
the platform, and carries its address: the low bits of both are one mixed number of 40 bits, so that
any id that was ever handed out can be answered after a restart.

Sections named in comments are those of ``docs/platforms/weibo.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from sandbox import texts, worlds
from sandbox.core import Blob
from sandbox.media import Picture as PictureFile
from sandbox.media import Video as VideoFile
from sandbox.media import gif
from sandbox.weibo.ids import (
    LOW_BITS,
    LOW_MASK,
    bid_of,
    from_base62,
    host_of,
    id_at,
    mid_of,
    picture_id,
    read_picture_id,
    seconds_of,
    to_base36,
    to_base62,
)
from sandbox.worlds import (
    DAY,
    FIXED_SPACE,
    Dice,
    Scramble,
    comment_time,
    drawn_replies,
    mix,
    number,
    pinned_posts,
)

SEARCH_PAGE = 10  # posts on a search page, mobile and desktop (3.1, 3.2)
SEARCH_PAGES = {"1": 20, "61": 50, "60": 50, "64": 50}  # pages after which a tab is exhausted
DESKTOP_PAGES = 50  # (3.2)
PROFILE_PAGE = 10  # (3.8)
DESKTOP_PROFILE_PAGE = 20  # (3.9)
COMMENT_PAGE = 20  # (3.10)
HOT_CAP = 500  # top-level comments that the order by heat gives at most (3.10)
CUT_AT = 130  # visible characters of a text in a list (3.5)

EMOJI = ("心", "哈哈", "允悲", "打call", "赞", "茶", "doge", "good")

_POSTS = Scramble("weibo post", 40)
_USERS = Scramble("weibo user", 32)
_COMMENTS = Scramble("weibo comment", LOW_BITS)
_FILES = Scramble("weibo file", 48)
_LEAST_AGE = 30  # seconds; nothing is younger

_SIZES = ((1080, 1440), (1440, 1080), (1920, 1080), (2000, 3000), (690, 920), (4096, 2731))
_USUAL_REPLIES = (0, 0, 0, 1, 1, 2, 5, 23)
_FATES = {"deleted": 25, "private": 10, "followers": 7}  # per mille
_FATES_OF_ORIGINALS = {"deleted": 8, "half-year": 4, "hidden": 3}  # percent
_FORMS = (
    *("text",) * 18,
    *("pictures",) * 40,
    *("gif",) * 4,
    *("live-photo",) * 5,
    *("video",) * 18,
    *("mix",) * 4,
    *("article",) * 4,
    *("many",) * 7,
)
QUALITIES = (
    ("mp4_1080p", 1080, 1920, 1080),
    ("mp4_720p", 720, 1280, 720),
    ("mp4_hd", 480, 852, 480),
    ("mp4_ld", 360, 640, 360),
)
"""Label, quality_index, width and height of a video's encodings, best first."""

Token = tuple[str, ...]
"""``("text", words)``, ``("br",)``, ``("emoji", name)``, ``("tag", topic)``, ``("at", name)``, and
what has an address behind a caption: ``("link", caption, url)``, ``("super", caption, url)``,
``("place", caption, url)``."""


class Outline(NamedTuple):
    """The facts about a post that cost little: enough to rank it and to know whether it shows.

    ``time`` in unix seconds; ``comments`` is the number shown; ``status`` is ``ok``, ``deleted``
    (20101), ``private`` (20112) or ``followers`` (HTTP 400 on the desktop); ``similar``: left out
    of the desktop search without ``nodup``.
    """

    time: int
    likes: int
    comments: int
    reposts: int
    roots: int
    replies: tuple[int, ...]
    form: str
    retweet: str  # "", "ok", or why the original is gone: "deleted", "half-year", "hidden"
    long: bool
    status: str
    similar: bool


@dataclass(frozen=True)
class Picture:
    """A picture; *clip* is the moving part of a live photo; a *withheld* one is a small GIF."""

    pid: str
    width: int
    height: int
    kind: str  # jpg, gif, live, withheld
    clip: str = ""  # file name

    @property
    def url(self) -> str:
        suffix = "gif" if self.kind == "gif" else "jpg"
        return f"https://{host_of(self.pid)}/large/{self.pid}.{suffix}"


@dataclass(frozen=True)
class Video:
    """A video. *files* are names, as many as it has qualities, best first (1080p may be missing);
    *listed* says whether the desktop names them in ``playback_list``."""

    object_id: str
    title: str
    seconds: float
    views: int
    cover: Picture
    files: tuple[str, ...]
    listed: bool
    on_mobile: bool  # False: `urls` is null there


@dataclass(frozen=True)
class User:
    """A creator or a commenter. Counts are exact; what the site shows may be rounded."""

    address: int
    uid: int
    name: str
    avatar: Picture
    bio: str
    gender: str
    region: str
    place: str
    domain: str
    fans: int
    follows: int
    likes: int
    topic: str
    total: int
    pinned: tuple[int, ...]
    verified: bool
    verified_type: int
    reason: str
    banned: bool


@dataclass(frozen=True)
class Post:
    """A post with everything that its detail shows. Times in unix seconds."""

    address: int
    mid: str
    bid: str
    outline: Outline
    author: User
    tokens: tuple[Token, ...]
    edited: int
    edits: int
    region: str
    client: str
    pictures: tuple[Picture, ...]
    videos: tuple[Video, ...]
    article: str  # id of a long article, "" for none
    live: bool
    paid: bool
    pinned: bool
    quick: str  # mid of what was quickly reposted
    original: int  # address of the retweeted post, -1 for none
    bulletin: int  # the value that the desktop's comments want

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(token[1] for token in self.tokens if token[0] == "tag"))

    @property
    def kind(self) -> str:
        """The type of post, as section 7.4 of the protocol has it."""
        if self.live:
            return "live"
        if self.videos:
            return "video"
        if self.article:
            return "article"
        return "image" if self.pictures else "text"


@dataclass(frozen=True)
class Comment:
    """A comment (``reply == 0``) or a reply. *target* is the number of the answered one below the
    same root, 0 for the root itself; *named* says whether the text names whom it answers."""

    cid: str
    root: int
    reply: int
    user: User
    tokens: tuple[Token, ...]
    time: int
    likes: int
    region: str
    by_author: bool
    liked_by_author: bool
    picture: Picture | None
    target: int
    named: bool
    replies: int


class File(NamedTuple):
    """A file that a complete crawl of a post ends up with."""

    kind: str  # image, live_photo, video or cover
    url: str
    blob: Blob | None  # None: withheld


class Fixed(NamedTuple):
    """What is special about a documented post; everything else is thrown with seed 0."""

    name: str
    age: int  # hours before WORLD_NOW
    form: str = "pictures"
    pictures: int = 3
    retweet: str = ""
    long: bool = False
    status: str = "ok"
    roots: int = 12
    replies: tuple[int, ...] = _USUAL_REPLIES
    tokens: tuple[Token, ...] | None = None
    edited: bool = False
    paid: bool = False
    quick: bool = False


FIXED_POSTS = (
    Fixed("text", 5, form="text", edited=True),
    Fixed("pictures", 30, pictures=4),
    Fixed("many-pictures", 55, form="many", pictures=14),
    Fixed("live-photo", 80, form="live-photo", pictures=3),
    Fixed("gif", 95, form="gif", pictures=2),
    Fixed("video", 100, form="video"),
    Fixed("several-videos", 120, form="mix", pictures=3),
    Fixed("long-text", 140, form="text", long=True),
    Fixed("long-pictures", 160, form="many", pictures=12, tokens=(("text", "十二张图，一句话。"),)),
    Fixed("retweet", 180, form="text", retweet="ok"),
    Fixed("retweet-of-deleted", 200, form="text", retweet="deleted"),
    Fixed("retweet-of-half-year", 220, form="text", retweet="half-year"),
    Fixed("retweet-of-hidden", 240, form="text", retweet="hidden"),
    Fixed("quick-repost", 260, form="text", quick=True),
    Fixed("deleted", 280, status="deleted"),
    Fixed("private", 300, status="private"),
    Fixed("followers-only", 320, status="followers"),
    Fixed("no-comments", 340, roots=0),
    Fixed("300-comments", 400, roots=300, replies=(45, 0, 31, 1, 12, 0, 2, 1)),
    Fixed("1000-comments", 500, form="text", roots=1000, replies=(0, 0, 0, 0, 0, 0, 1, 2)),
    Fixed(
        "tricky-text",
        600,
        form="text",
        tokens=(
            ("tag", "A&B 咖啡"),
            ("text", ' 他说："a < b && c > d"，没有 </script> 也没有 }][0] || {}; &lt;原样&gt;'),
            ("br",),
            ("br",),
            ("emoji", "打call"),
            ("text", "👨‍👩‍👧‍👦  末行 "),
            ("link", "网页链接", "https://demo.example/?q=%E8%8C%B6&x=1"),
        ),
    ),
    Fixed("article", 700, form="article"),
    Fixed("live", 800, form="live"),
    Fixed("paid", 900, form="text", paid=True),
    Fixed("withheld-picture", 1000, form="withheld", pictures=3),
    Fixed("old", 9000, form="pictures"),
)
"""Posts of the documented creator ``demo``; the keyword ``演示`` finds them all."""

FIXED_CREATORS = ("demo", "prolific", "silent", "banned")
"""``demo`` owns :data:`FIXED_POSTS`, ``prolific`` has 45 posts (two old ones pinned), ``silent``
none, ``banned`` is gone."""

_FIXED_TOTALS = (len(FIXED_POSTS), 45, 0, 4)
_FIXED_PINNED: tuple[tuple[int, ...], ...] = ((), (40, 33), (), ())

GONE_TEXTS = {
    "deleted": "抱歉，此微博已被作者删除。查看帮助：",
    "half-year": "抱歉，作者已设置仅展示半年内微博，此微博已不可见。",
    "hidden": "抱歉，由于作者设置，你暂时没有这条微博的查看权限哦。查看帮助：",
}


class World(worlds.World[Outline, User]):
    """Every right answer about Weibo for one seed.

    :param more: of every world, see :class:`sandbox.worlds.World`.
    """

    space_bits = 18
    creator_bits = 14
    space_name = "weibo space"
    readers = 12_000
    fixed_creators = FIXED_CREATORS
    fixed_totals = _FIXED_TOTALS

    def __init__(self, seed: int = 1, posts: int = 60, **more: Any) -> None:
        super().__init__(seed, posts, **more)
        self._key = number("weibo ids", seed) & (1 << 40) - 1
        self._post = lru_cache(maxsize=2048)(self._make_post)
        self._order = lru_cache(maxsize=256)(self._make_order)
        self._posted = lru_cache(maxsize=512)(self._make_posted)
        self._by_time = lru_cache(maxsize=64)(self._make_by_time)
        self._fixed_mids = {
            self._mid(address): address
            for creator, total in enumerate(_FIXED_TOTALS)
            for address in range(creator << 8, (creator << 8) + total)
        }
        self._roots: dict[int, tuple[int, int]] = {}

    # -- search ---------------------------------------------------------------------------------

    def search(self, keyword: str, tab: str = "1") -> list[str]:
        """MIDs that a mobile search finds, each once, in its order.

        :param tab: ``1`` general, ``61`` latest, ``60`` popular, ``64`` video (3.1).

        Includes posts that cannot be opened: search knows them still.
        """
        found: dict[str, None] = {}
        for page in self.search_pages(keyword, tab):
            found.update(dict.fromkeys(str(self._mid(address)) for address in page))
        return list(found)

    def search_pages(self, keyword: str, tab: str) -> list[list[int]]:
        """Addresses page by page as they are served: some pages repeat posts of the one before."""
        entries = list(self._order(keyword, tab))
        if self.repeats(keyword):
            step = SEARCH_PAGE
            while step < len(entries):
                back = 1 + number(self.seed, "back", keyword, step) % 5
                entries.insert(
                    step + number(self.seed, "at", keyword, step) % 6, entries[step - back]
                )
                step += SEARCH_PAGE
        pages = [entries[i : i + SEARCH_PAGE] for i in range(0, len(entries), SEARCH_PAGE)]
        return pages[: SEARCH_PAGES[tab]]

    def _make_order(self, keyword: str, tab: str) -> tuple[int, ...]:
        found = self._ranked(keyword)
        if tab == "64":
            found = [a for a in found if self._outline(a).form in ("video", "mix")]
        elif tab == "61":
            found.sort(key=lambda address: (-self._outline(address).time, address))
            for place in range(6, len(found), 7):  # nearly, not strictly by time (3.1)
                found[place - 1], found[place] = found[place], found[place - 1]
        elif tab == "60":
            found.sort(key=lambda address: (-self._outline(address).likes, address))
        return tuple(found)

    def desktop_search(
        self,
        keyword: str,
        since: int | None = None,
        until: int | None = None,
        *,
        hot: bool = False,
        only: str = "",
        nodup: bool = False,
    ) -> list[str]:
        """MIDs that the desktop search finds between two unix times, newest first (3.2).

        :param hot: by likes.
        :param only: ``ori`` (no retweets), ``pic`` or ``video``.
        :param nodup: show also what it hides as similar.
        """
        rows = []
        for address in self._found_by(keyword):
            outline = self._outline(address)
            if since is not None and outline.time < since:
                continue
            if until is not None and outline.time >= until:
                continue
            if outline.similar and not nodup:
                continue
            if only and not self._is(outline, only):
                continue
            rows.append((-outline.likes if hot else -outline.time, address))
        found = [address for _key, address in sorted(rows)]
        return [str(self._mid(a)) for a in found[: DESKTOP_PAGES * SEARCH_PAGE]]

    @staticmethod
    def _is(outline: Outline, only: str) -> bool:
        if only == "ori":
            return not outline.retweet
        if only == "pic":
            return outline.form in ("pictures", "many", "gif", "live-photo", "mix", "withheld")
        return outline.form in ("video", "mix")

    def _found_by(self, keyword: str) -> Iterator[int]:
        return super()._found_by(keyword.strip("#"))

    def found_users(self, keyword: str) -> list[User]:
        """Creators that post about a keyword."""
        seen = dict.fromkeys(address >> 8 for address in self._order(keyword, "1"))
        return [self._user(address) for address in seen]

    # -- posts ----------------------------------------------------------------------------------

    def post(self, mid_or_bid: str) -> Post | None:
        """The post with this id, also one that is deleted; ``None`` if there never was one."""
        address = self.address_of_post(mid_or_bid)
        return None if address is None else self._post(address)

    def post_at(self, address: int) -> Post:
        return self._post(address)

    def status(self, mid: str) -> str:
        """``ok``, ``deleted``, ``private``, ``followers`` or ``unknown``."""
        address = self.address_of_post(mid)
        return "unknown" if address is None else self._outline(address).status

    def fixed_post(self, name: str) -> Post:
        """The documented post *name* (:data:`FIXED_POSTS`)."""
        return self._post([fixed.name for fixed in FIXED_POSTS].index(name))

    def address_of_post(self, mid_or_bid: str) -> int | None:
        if mid_or_bid.isdigit() and mid_or_bid.isascii():
            mid = int(mid_or_bid)
        else:
            read = mid_of(mid_or_bid)
            if read is None:
                return None
            mid = read
        if mid in self._fixed_mids:
            return self._fixed_mids[mid]
        age = self.now - _LEAST_AGE - seconds_of(mid)
        if age < 0 or mid < 1 << LOW_BITS:
            return None
        mixed = (age & (1 << 18) - 1) << LOW_BITS | mid & LOW_MASK
        address = _POSTS.undo(mixed) ^ self._key
        if not self._exists(address) or self._mid(address) != mid:
            return None
        return address

    def _mid(self, address: int) -> int:
        key = 0 if address >> 22 == FIXED_SPACE else self._key
        return id_at(self._time(address), _POSTS.do(address ^ key) & LOW_MASK)

    def _time(self, address: int) -> int:
        space = address >> 22
        if space == FIXED_SPACE:
            return self._fixed_time(address)
        bucket = self._bucket(Dice(self.seed, "age", address))
        fine = _POSTS.do(address ^ self._key) >> LOW_BITS
        return self.now - _LEAST_AGE - (bucket << 18 | fine)

    def _fixed_time(self, address: int) -> int:
        now = self._now_of(FIXED_SPACE)
        if address < len(FIXED_POSTS):
            return now - FIXED_POSTS[address].age * 3600
        # "prolific": one post in three days, the two pinned ones are old
        return now - (address & 0xFF) * 3 * DAY - 7200

    @staticmethod
    def _bucket(dice: Dice) -> int:
        """Age in steps of about three days: a third of the first step's posts are of today."""
        luck = dice.below(100)
        if luck < 25:
            return 0
        if luck < 40:
            return dice.between(1, 2)
        return dice.between(3, 59) if luck < 75 else dice.between(60, 360)

    @staticmethod
    def _fixed(address: int) -> Fixed | None:
        return FIXED_POSTS[address] if address < len(FIXED_POSTS) else None

    def _make_outline(self, address: int) -> Outline:
        space = address >> 22
        dice = Dice(self._seed_of(space), "post", address)
        fixed = self._fixed(address)
        likes = dice.skewed(2_500_000, 7)
        reposts = likes * dice.between(0, 40) // 100
        roots = 0 if dice.chance(8) else 1 + dice.skewed(60, 2.5)
        replies: tuple[int, ...] = _USUAL_REPLIES
        form = dice.pick(_FORMS)
        retweet = dice.fate(_FATES_OF_ORIGINALS, 100) if dice.chance(16) else ""
        long = not retweet and dice.chance(18)
        status = dice.fate(_FATES)
        similar = dice.chance(5)
        hidden = dice.between(1, 3) if dice.chance(20) else 0
        if fixed is not None:
            roots, replies, hidden, similar = fixed.roots, fixed.replies, 0, False
            form, retweet, long, status = fixed.form, fixed.retweet, fixed.long, fixed.status
        elif space == FIXED_SPACE:
            status = "ok"
        if retweet:
            form = "text"
        shown = roots + hidden + sum(self._replies(address, replies, i) for i in range(roots))
        time = self._time(address)
        return Outline(
            *(time, likes, shown, reposts, roots, replies, form, retweet, long, status, similar)
        )

    def _make_post(self, address: int) -> Post:
        space, creator = address >> 22, address >> 8
        outline = self._outline(address)
        author = self._user(creator)
        dice = Dice(self._seed_of(space), "content", address)
        fixed = self._fixed(address)
        region = "" if dice.chance(8) else author.region
        edits = dice.between(1, 3) if dice.chance(12) else 0
        edited = outline.time + dice.between(60, 20 * DAY) if edits else 0
        client = dice.pick(("iPhone客户端", "微博网页版", "Android", "", "微博视频号"))
        paid, quick, bulletin = dice.chance(1), "", dice.pick((1, 2, 2))
        pictures = tuple(self._pictures(address, author, outline.form, fixed))
        videos = tuple(self._videos(address, author, outline.form))
        tokens = self._tokens(address, author, outline, dice)
        if fixed is not None:
            edits, edited, paid = (
                (2, outline.time + 3 * 3600, False) if fixed.edited else (0, 0, False)
            )
            paid = fixed.paid
            if fixed.tokens is not None:
                tokens = fixed.tokens
            if fixed.quick:
                quick = str(self._mid(0))
        mid = self._mid(address)
        return Post(
            address=address,
            mid=str(mid),
            bid=bid_of(mid),
            outline=outline,
            author=author,
            tokens=tokens,
            edited=min(edited, self.now),
            edits=edits,
            region=region,
            client=client,
            pictures=pictures,
            videos=videos,
            article=f"2309404{mid % 10**15:015}" if outline.form == "article" else "",
            live=outline.form == "live",
            paid=paid,
            pinned=address & 0xFF in author.pinned,
            quick=quick,
            original=self._original(address) if outline.retweet else -1,
            bulletin=bulletin,
        )

    def _original(self, address: int) -> int:
        """A post that is no retweet itself (retweets of retweets show the first original)."""
        space = address >> 22
        for turn in range(40):
            throw = number(self._seed_of(space), "original", address, turn)
            fixed = space == FIXED_SPACE
            other = 1 << 8 | throw % 45 if fixed else space << 22 | throw % 12 << 8
            outline = self._outline(other)
            if not outline.retweet and outline.status == "ok" and other != address:
                return other
        return 0

    # -- texts ----------------------------------------------------------------------------------

    def _tokens(
        self, address: int, author: User, outline: Outline, dice: Dice
    ) -> tuple[Token, ...]:
        tokens: list[Token] = []
        if outline.retweet:
            tokens.append(("text", dice.pick(("转发微博", "说得好", "支持一下", "mark"))))
            if dice.chance(40):
                tokens += [("text", "//"), ("at", self._reader(dice).name), ("text", ":真的是这样")]
            return tuple(tokens)
        if dice.chance(60):
            tokens += [("tag", author.topic), ("text", " ")]
        count = dice.between(10, 12) if outline.long else dice.between(1, 3)
        for line in texts.paragraphs(author.topic, dice, count, ("",)):
            tokens.append(("text", line))
            if dice.chance(30):
                tokens.append(("emoji", dice.pick(EMOJI)))
            tokens.append(("br",))
        tokens.pop()
        if outline.long:
            tokens += [("br",), ("text", "以上，供参考。" + "慢慢来，不着急。" * 6)]
        tokens += self._extras(address, author, dice)
        for video in self._videos(address, author, outline.form)[:1]:
            caption = f"{author.name}的微博视频"
            tokens += [
                ("text", " "),
                ("link", caption, f"https://video.weibo.com/show?fid={video.object_id}"),
            ]
        return tuple(tokens)

    def _extras(self, address: int, author: User, dice: Dice) -> list[Token]:
        extras: list[Token] = []
        mark = f"{number('page', address):016x}"
        if dice.chance(8):
            extras += [("text", " 1 < 2 && A & B <好> ")]
        if dice.chance(15):
            extras += [("text", " 感谢"), ("at", self._reader(dice).name), ("text", " 的推荐")]
        if dice.chance(15):
            target = f"https://demo.example/{mark}?a=1&b=%E8%8C%B6"
            extras += [("text", " "), ("link", "网页链接", target)]
        if dice.chance(6):
            target = f"https://m.weibo.cn/p/index?containerid=100808{mark}{mark}"
            extras += [("text", " "), ("super", f"{author.topic}超话", target)]
        if dice.chance(5):
            target = f"https://weibo.com/p/100101{mark}"
            extras += [("text", " "), ("place", f"{author.place}·老街", target)]
        return extras

    def visible(self, tokens: tuple[Token, ...], *, desktop: bool) -> str:
        """The clean text (7.1): the mobile site has captions, the desktop short links."""
        return "".join(self._shown(token, desktop) for token in tokens).strip()

    def _shown(self, token: Token, desktop: bool) -> str:
        kind = token[0]
        if kind == "br":
            return "\n"
        if kind == "emoji":
            return f"[{token[1]}]"
        if kind == "tag":
            return f"#{token[1]}#"
        if kind == "at":
            return f"@{token[1]}"
        if kind in ("link", "super", "place") and desktop:
            return short_address(token[2])
        return token[1]

    def cut(self, tokens: tuple[Token, ...]) -> tuple[tuple[Token, ...], bool]:
        """What a list shows of a text, and whether something is missing (3.5)."""
        left = CUT_AT
        kept: list[Token] = []
        for token in tokens:
            size = len(self._shown(token, False))
            if size > left:
                if token[0] == "text" and left > 0:
                    kept.append(("text", token[1][:left]))
                return tuple(kept), True
            kept.append(token)
            left -= size
        return tokens, False

    # -- files of a post ------------------------------------------------------------------------

    def _pictures(
        self, address: int, author: User, form: str, fixed: Fixed | None
    ) -> Iterator[Picture]:
        dice = Dice(self._seed_of(address >> 22), "pictures", address)
        count = {
            "pictures": 1 + dice.skewed(8, 1.5),
            "gif": 1 + dice.below(3),
            "live-photo": 1 + dice.below(4),
            "mix": 1 + dice.below(4),
            "many": dice.between(10, 18),
            "withheld": 3,
        }.get(form, 0)
        if fixed is not None:
            count = fixed.pictures if count else 0
        for index in range(count):
            width, height = dice.pick(_SIZES)
            kind = "jpg"
            if form == "gif" and index == 0:
                kind, width, height = "gif", 240, 240
            elif form == "live-photo" and index != 1:
                kind = "live"
            elif form == "withheld" and index == 1:
                kind = "withheld"
            pid = picture_id(author.uid, width, height, kind, "post", address, index)
            clip = self._file_name(address, index, 8) if kind == "live" else ""
            yield Picture(pid, width, height, kind, clip)

    def _videos(self, address: int, author: User, form: str) -> list[Video]:
        count = {"video": 1, "mix": 2}.get(form, 0)
        return [self._video(address, author, index) for index in range(count)]

    def _video(self, address: int, author: User, index: int) -> Video:
        dice = Dice(self._seed_of(address >> 22), "video", address, index)
        best = 0 if dice.chance(60) else 1
        cover = picture_id(author.uid, 1280, 720, "jpg", "cover", address, index)
        return Video(
            object_id=f"1034:{self._mid(address) - 1 - index}",
            title=texts.title(author.topic, dice),
            seconds=dice.between(6_000, 600_000) / 1000,
            views=dice.skewed(30_000_000, 4),
            cover=Picture(cover, 1280, 720, "jpg"),
            files=tuple(self._file_name(address, index, q) for q in range(best, len(QUALITIES))),
            listed=not dice.chance(20),
            on_mobile=address < len(FIXED_POSTS) or not dice.chance(9),
        )

    @staticmethod
    def _file_name(address: int, index: int, quality: int) -> str:
        """A name that carries the address and proves that the sandbox made it."""
        plain = address << 8 | index << 4 | quality
        return to_base62(_FILES.do(plain), 9) + to_base62(number("seal", plain) % 62**9, 9)

    def _read_file_name(self, name: str) -> tuple[int, int, int] | None:
        mixed = from_base62(name[:9])
        if len(name) != 18 or mixed is None or mixed >> 48:
            return None
        plain = _FILES.undo(mixed)
        address, index, quality = plain >> 8, plain >> 4 & 15, plain & 15
        if self._file_name(address, index, quality) != name or not self._exists(address):
            return None
        return address, index, quality

    def movie_at(self, name: str) -> Blob | None:
        """The video or live photo with a file name (without its suffix)."""
        where = self._read_file_name(name)
        if where is None:
            return None
        address, index, quality = where
        if quality == 8:
            return VideoFile(name, max(self.media_size[0] // 4, 2000), 3, 1080, 1440)
        size = self._file_size(self._seed_of(address >> 22), *where)
        _label, _index, width, height = QUALITIES[quality]
        video = self._video(address, self._user(address >> 8), index)
        return VideoFile(name, size >> quality, video.seconds, width, height)

    def picture_at(self, pid: str, size: str) -> Blob | None:
        """The picture with an id in one of its sizes (``large``, ``orj360``, ...)."""
        known = read_picture_id(pid)
        if known is None:
            return None
        width, height, kind = known
        if kind == "withheld":
            return gif("withheld", 1, 1)
        if kind == "gif":
            return gif(pid + size, width, height)
        if size != "large":
            width, height = max(1, width // 4), max(1, height // 4)
        return PictureFile(f"{pid}/{size}", width, height)

    def files(self, mid: str) -> list[File]:
        """What a complete crawl downloads for a post, in the desktop's order (8)."""
        post = self.post(mid)
        if post is None or post.outline.status != "ok":
            return []
        if len(post.videos) > 1:
            return [file for part in self.mixture(post) for file in self._files_of(part, True)]
        found = [file for video in post.videos for file in self._files_of(video, False)]
        return found + [file for pic in post.pictures for file in self._files_of(pic, False)]

    def mixture(self, post: Post) -> list[Picture | Video]:
        """Pictures and videos of a mixed post in the order in which it shows them."""
        parts: list[Picture | Video] = [post.videos[0], *post.pictures, *post.videos[1:]]
        return parts

    def _files_of(self, part: Picture | Video, mixed: bool) -> list[File]:
        if isinstance(part, Video):
            best = File("video", movie_address(part.files[0]), self.movie_at(part.files[0]))
            cover = File("cover", part.cover.url, self.picture_at(part.cover.pid, "large"))
            return [cover, best] if mixed else [best, cover]
        blob = None if part.kind == "withheld" else self.picture_at(part.pid, "large")
        found = [File("image", part.url, blob)]
        if part.clip:
            found.append(File("live_photo", clip_address(part.clip), self.movie_at(part.clip)))
        return found

    # -- users ----------------------------------------------------------------------------------

    def user(self, uid: str) -> User | None:
        """The person with this uid; ``None`` if there never was one."""
        address = self.address_of_user(uid)
        return None if address is None else self._user(address)

    def user_by_name(self, name: str) -> User | None:
        """By screen name, which ends with the address."""
        tail = re.search(r"_([0-9a-z]{7})$", name)
        user = self._user_at(int(tail[1], 36)) if tail else None
        return user if user is not None and user.name == name else None

    def user_by_domain(self, domain: str) -> User | None:
        """By custom domain."""
        match = re.fullmatch(r"wb([0-9a-z]{7})", domain)
        user = self._user_at(int(match[1], 36)) if match else None
        return user if user is not None and user.domain == domain else None

    def _user_at(self, address: int) -> User | None:
        if address >> 32 or not self._is_somebody(address):
            return None
        return self._user(address)

    def address_of_user(self, uid: str) -> int | None:
        if not uid.isdigit() or not uid.isascii() or len(uid) != 10:
            return None
        mixed = int(uid) - 1_000_000_000
        if not 0 <= mixed < 1 << 32:
            return None
        address = _USERS.undo(mixed)
        return address if self._is_somebody(address) else None

    def _make_user(self, address: int) -> User:
        space, index = address >> 14, address & 0x3FFF
        dice = Dice(self._seed_of(space), "user", address)
        uid = 1_000_000_000 + _USERS.do(address)
        topic = self._topic_of(space)
        name = re.sub(r"[^\w-]", "", texts.nickname(dice)) + "_" + to_base36(address, 7)
        total = self._total(space, index, dice)
        verified = dice.chance(20)
        place = dice.pick(texts.PROVINCES)
        return User(
            address=address,
            uid=uid,
            name=name,
            avatar=Picture(picture_id(uid, 480, 480, "jpg", "avatar"), 480, 480, "jpg"),
            bio=texts.bio(topic, dice),
            gender=dice.pick(("m", "f", "f", "n")),
            region=dice.pick((*texts.PROVINCES, "其他", "海外")),
            place=place,
            domain=f"wb{to_base36(address, 7)}" if dice.chance(30) else "",
            fans=dice.skewed(3_000_000, 8),
            follows=dice.skewed(900, 2),
            likes=dice.skewed(900_000, 4),
            topic=topic,
            total=total,
            pinned=_FIXED_PINNED[index] if space == FIXED_SPACE else pinned_posts(total, dice),
            verified=verified,
            verified_type=dice.pick((0, 2, 3, 200)) if verified else -1,
            reason=f"{topic}博主" if verified else "",
            banned=space == FIXED_SPACE and FIXED_CREATORS[index] == "banned",
        )

    def creator_posts(self, uid: str) -> list[str]:
        """MIDs of a creator's list as it is served: pinned first, then newest first. Deleted,
        private and followers-only ones are not in it."""
        address = self.address_of_user(uid)
        return [] if address is None else [str(self._mid(post)) for post in self._posted(address)]

    def posted(self, user: User) -> tuple[int, ...]:
        """The same as addresses."""
        return () if user.banned else self._posted(user.address)

    def _make_posted(self, address: int) -> tuple[int, ...]:
        return tuple(self._listed(address, self._user(address).pinned))

    # -- comments -------------------------------------------------------------------------------

    def comments(self, mid: str) -> list[Comment]:
        """Top-level comments that the order by heat gives, in this order."""
        post = self.post(mid)
        if post is None or post.outline.status != "ok":
            return []
        return [self.comment(post, root) for root in range(min(post.outline.roots, HOT_CAP))]

    def by_time(self, post: Post) -> tuple[int, ...]:
        """Numbers of the top-level comments, newest first (not capped)."""
        return self._by_time(post.address)

    def _make_by_time(self, address: int) -> tuple[int, ...]:
        roots = range(self._outline(address).roots)
        times = {root: self._comment_time(address, root, 0) for root in roots}
        return tuple(sorted(roots, key=lambda root: -times[root]))

    def replies(self, mid: str, cid: str) -> list[Comment]:
        """All replies below a top-level comment, oldest first."""
        post = self.post(mid)
        root = None if post is None else self.root_of(post, cid)
        if post is None or root is None:
            return []
        return [self.comment(post, root, n) for n in range(1, self.reply_count(post, root) + 1)]

    def reply_count(self, post: Post, root: int) -> int:
        return self._replies(post.address, post.outline.replies, root)

    @staticmethod
    def _replies(address: int, pattern: tuple[int, ...], root: int) -> int:
        if pattern is not _USUAL_REPLIES:
            return pattern[root % 8]
        return drawn_replies(pattern, address, root)

    def root_of(self, post: Post, cid: str) -> int | None:
        """The number of a top-level comment of *post*."""
        if not cid.isdigit() or not cid.isascii():
            return None
        plain = _COMMENTS.undo(int(cid) & LOW_MASK)
        root, reply = plain >> 8, plain & 0xFF
        if reply or root >= post.outline.roots or self.comment_id(post, root) != cid:
            return None
        return root

    def post_of_comment(self, cid: str) -> tuple[Post, int] | None:
        """The post and number of a top-level comment that was served before."""
        where = self._roots.get(int(cid)) if cid.isdigit() and cid.isascii() else None
        return (self._post(where[0]), where[1]) if where is not None else None

    def comment_id(self, post: Post, root: int, reply: int = 0) -> str:
        seconds = self._comment_time(post.address, root, reply)
        return str(id_at(seconds, _COMMENTS.do(root << 8 | reply)))

    def _comment_time(self, address: int, root: int, reply: int) -> int:
        outline = self._outline(address)
        replies = self._replies(address, outline.replies, root) if reply else 0
        return comment_time(outline.time, self.now, mix(address, root), reply, replies)

    def comment(self, post: Post, root: int, reply: int = 0) -> Comment:
        dice = Dice(self._seed_of(post.address >> 22), "comment", post.address, root, reply)
        by_author = dice.chance(25 if reply else 3)
        user = post.author if by_author else self._reader(dice)
        topic = post.author.topic
        words = texts.reply(topic, dice, ("",)) if reply else texts.comment(topic, dice, ("",))
        tokens: list[Token] = []
        target = dice.below(reply) if reply > 1 and dice.chance(45) else 0
        named = bool(reply) and (target > 0 or dice.chance(50))
        if named:
            answered = self.speaker(post, root, target)
            tokens += [("text", "回复"), ("at", answered.name), ("text", ":")]
        for number_, line in enumerate(words.split("\n")):
            tokens += [("br",)] * (number_ > 0) + [("text", line)]
        if dice.chance(35):
            tokens.append(("emoji", dice.pick(EMOJI)))
        picture = None
        if not reply and dice.chance(7):
            pid = picture_id(user.uid, 1080, 1440, "jpg", "comment", post.address, root)
            picture = Picture(pid, 1080, 1440, "jpg")
        likes = dice.skewed(max(1, 30_000 // (root + 1)), 2)
        cid = self.comment_id(post, root, reply)
        if not reply:
            self._remember(int(cid), (post.address, root))
        return Comment(
            cid=cid,
            root=root,
            reply=reply,
            user=user,
            tokens=tuple(tokens),
            time=self._comment_time(post.address, root, reply),
            likes=likes // 20 if reply else likes,
            region="" if dice.chance(6) else user.region,
            by_author=by_author,
            liked_by_author=dice.chance(4),
            picture=picture,
            target=target,
            named=named,
            replies=0 if reply else self.reply_count(post, root),
        )

    def speaker(self, post: Post, root: int, reply: int = 0) -> User:
        """Who wrote a comment."""
        dice = Dice(self._seed_of(post.address >> 22), "comment", post.address, root, reply)
        return post.author if dice.chance(25 if reply else 3) else self._reader(dice)

    def _remember(self, cid: int, where: tuple[int, int]) -> None:
        """Answers about replies name the comment only; nothing in its id names the post."""
        if len(self._roots) > 300_000:
            self._roots.clear()
        self._roots[cid] = where

    # -- short links ----------------------------------------------------------------------------

    def short_link(self, mid_or_uid: str) -> str:
        """``t.cn/A6...`` (no scheme) to a post or user."""
        address = self.address_of_user(mid_or_uid)
        if address is not None:
            return f"t.cn/A6u{to_base62(_USERS.do(address), 6)}"
        address = self.address_of_post(mid_or_uid)
        if address is None:
            raise ValueError(f"no post and no user {mid_or_uid}")
        return f"t.cn/A6p{to_base62(_POSTS.do(address), 7)}"

    def share_link(self, mid: str) -> str:
        """``mapp.api.weibo.cn/fx/<32 hex>.html`` (no scheme) to a post."""
        address = self.address_of_post(mid)
        if address is None:
            raise ValueError(f"no post {mid}")
        mixed = _POSTS.do(address)
        return f"mapp.api.weibo.cn/fx/{mixed:010x}{number('share', mixed) % 16**22:022x}.html"

    def shared_post(self, code: str) -> Post | None:
        """What a share link's 32 hex digits lead to."""
        if not re.fullmatch(r"[0-9a-f]{32}", code):
            return None
        address = _POSTS.undo(int(code[:10], 16))
        if not self._exists(address):
            return None
        post = self._post(address)
        return post if self.share_link(post.mid).endswith(f"/{code}.html") else None

    def short_target(self, code: str) -> Post | User | None:
        """What a short link leads to; ``None`` for a dead link and those inside texts."""
        mixed = from_base62(code[3:]) if len(code) > 3 else None
        if mixed is None:
            return None
        if code.startswith("A6u") and not mixed >> 32:
            return self.user(str(1_000_000_000 + mixed))
        if code.startswith("A6p") and not mixed >> 40:
            address = _POSTS.undo(mixed)
            return self._post(address) if self._exists(address) else None
        return None


def short_address(target: str) -> str:
    """The short link that stands in a text for *target*."""
    return "http://t.cn/A6z" + to_base62(number("short", target) % 62**5, 5)


def movie_address(name: str) -> str:
    return f"https://f.video.weibocdn.com/o0/{name}.mp4"


def clip_address(name: str) -> str:
    return f"https://livephoto.us.sinaimg.cn/{name}.mov"
