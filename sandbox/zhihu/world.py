"""The world of Zhihu: who asks, who answers, who comments, and which file lies behind which token.

Pure functions of ``(seed, address)``; no HTTP, no JSON shapes. Every id carries its address, so any
id that was ever handed out can be answered after a restart, however large the world is.
Sections named in comments are those of ``docs/platforms/zhihu.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from sandbox import texts, worlds
from sandbox.core import Blob
from sandbox.media import Picture as PictureFile
from sandbox.media import Video as VideoFile
from sandbox.media import gif
from sandbox.worlds import (
    DAY,
    FIXED_SPACE,
    READER_SPACE,
    Dice,
    Scramble,
    Seal,
    comment_time,
    digest,
    drawn_replies,
    number,
    to_letters,
)

KINDS = ("answer", "article", "pin", "zvideo", "question")
SORTS = ("", "upvoted_count", "created_time")
WITHIN = {
    "a_day": DAY,
    "a_week": 7 * DAY,
    "a_month": 30 * DAY,
    "three_months": 91 * DAY,
    "half_a_year": 182 * DAY,
    "a_year": 365 * DAY,
}

EMBEDDED = 2  # replies that come with a comment (3.8)

_ID_BASE = 1_936_000_000_000_000_000  # 19 digits, above 2^53 (2.1)
_POSTS = Scramble("zhihu post", 40)
_VIDEOS = Scramble("zhihu video", 48)
_MEMBERS = Scramble("zhihu member", 32)
_COMMENTS = Scramble("zhihu comment", 62)
_FILES = Seal(address_size=5, index_size=2)
_EMOTES = ("[捂脸]", "[赞同]", "[大笑]", "[思考]", "[赞]", "[爱]")
_SIZES = ((1080, 1440), (1920, 1080), (1440, 1080), (2048, 1536), (750, 1000))
_FORMS = ("jpg", "jpg", "jpg", "png", "webp")
_HANDS = ("shan", "hai", "lin", "he", "yun", "feng", "yu", "xue", "cha", "mian", "dong", "xia")
_QUALITIES = {"ld": (640, 360), "sd": (854, 480), "hd": (1280, 720), "fhd": (1920, 1080)}
_USUAL_REPLIES = (0, 0, 1, 0, 2, 3, 0, 7)
_DEEP_REPLIES = (45, 0, 3, 1, 21, 0, 2, 1)
_FATES = {"deleted": 25, "hidden": 7}  # per mille


class Outline(NamedTuple):
    """The facts about a post that cost little: enough to rank it and to know whether it shows.

    ``time`` in unix seconds; ``comments`` is the number shown (with folded ones that never come);
    ``status`` is ``ok``, ``deleted`` or ``hidden`` (403, under review).
    """

    kind: str
    time: int
    votes: int
    comments: int
    roots: int
    replies: tuple[int, ...]
    status: str


@dataclass(frozen=True)
class Member:
    """Somebody with a profile. *token* may be empty: then only the id leads there."""

    address: int
    id: str
    token: str
    name: str
    headline: str
    description: str  # html
    gender: int
    place: str
    is_org: bool
    identity: str  # text of the identity badge, "" for none
    award: str  # text of the best_answerer badge
    followers: int
    following: int
    topic: str
    total: int  # posts ever made
    protected: bool
    banned: bool  # answered like one that never was
    closed: bool  # deregistered


@dataclass(frozen=True)
class Picture:
    """A picture; *token* is in all of its addresses. *lost* names the sizes that are 404."""

    token: str
    width: int
    height: int
    form: str
    lost: str = ""  # "raw": only smaller sizes are left; "all": gone


@dataclass(frozen=True)
class Clip:
    """A video: *id* is what ``play_info`` takes, *qualities* those with an address."""

    id: str
    seconds: float
    qualities: tuple[str, ...]
    cover: Picture
    size: int  # bytes of the best file
    address: int
    index: int


@dataclass(frozen=True)
class Post:
    """A post of any kind with everything that its detail shows. Times in unix seconds."""

    address: int
    id: str
    outline: Outline
    author: Member
    anonymous: bool
    title: str
    paragraphs: tuple[str, ...]
    time: int
    edited: int
    place: str
    topics: tuple[str, ...]
    question: int  # address of the question of an answer, -1 for others
    pictures: tuple[Picture, ...]
    cover: Picture | None
    clip: Clip | None  # attached video
    box: Clip | None  # video shown in a box of the text
    paid: bool
    truncated: bool
    promoted: bool
    collapsed: bool
    comments_open: bool
    origin: int  # address of the pin that this pin repeats, -1 for none
    form: str  # "rich" for the markup of everything, "" for plain paragraphs
    thanks: int
    favourites: int
    shares: int
    views: int
    mention: Member | None

    @property
    def kind(self) -> str:
        return self.outline.kind

    @property
    def status(self) -> str:
        return self.outline.status


@dataclass(frozen=True)
class Comment:
    """A comment (``reply == 0``) or a reply. *target* is the number of the answered one under the
    same root, 0 for the root itself."""

    id: str
    root: int
    reply: int
    author: Member | None  # None: the account is gone
    text: str
    time: int
    likes: int
    place: str
    by_author: bool
    deleted: bool
    pinned: bool
    hot: bool
    mention: Member | None
    picture: Picture | None
    target: int
    replies: int


class File(NamedTuple):
    """A file that a complete crawl of a post ends up with (8)."""

    kind: str  # image, video or cover
    token: str  # what is the same in all its addresses
    blob: Blob | None  # None: gone


# -- the documented posts -------------------------------------------------------------------------


class Fixed(NamedTuple):
    """What is special about a documented post; everything else is thrown with seed 0."""

    name: str
    kind: str
    age: int  # hours before WORLD_NOW
    pictures: int = 0
    status: str = "ok"
    roots: int = 4
    replies: tuple[int, ...] = _USUAL_REPLIES
    id: str = ""  # instead of the usual 19 digits
    title: str = ""
    question: str = "question"
    anonymous: bool = False
    paid: bool = False
    truncated: bool = False
    promoted: bool = False
    collapsed: bool = False
    comments_open: bool = True
    qualities: tuple[str, ...] | None = None  # of the attached video
    box: bool = False
    lost: str = ""
    origin: str = ""
    form: str = ""


_ALL_QUALITIES = ("ld", "sd", "fhd", "hd")

FIXED_POSTS = (
    Fixed("question", "question", 900, title="周末去哪里露营比较好？"),
    Fixed("question-many", "question", 5000, roots=0, title="一个问题有很多回答是什么体验？"),
    Fixed("answer", "answer", 20, pictures=2),
    Fixed("answer-rich", "answer", 60, pictures=3, box=True, form="rich"),
    Fixed("answer-video", "answer", 80, qualities=_ALL_QUALITIES),
    Fixed("answer-anonymous", "answer", 100, anonymous=True),
    Fixed("answer-paid", "answer", 120, paid=True),
    Fixed("answer-truncated", "answer", 140, truncated=True),
    Fixed("answer-collapsed", "answer", 160, collapsed=True),
    Fixed("answer-deleted", "answer", 180, status="deleted"),
    Fixed("answer-hidden", "answer", 200, status="hidden"),
    Fixed("answer-no-comments", "answer", 220, roots=0),
    Fixed("answer-comments-closed", "answer", 240, roots=0, comments_open=False),
    Fixed("answer-300-comments", "answer", 400, roots=300, replies=_DEEP_REPLIES),
    Fixed("answer-old", "answer", 60_000, id="20130501"),
    Fixed("answer-twin", "answer", 300, id="61803398"),
    Fixed("article-twin", "article", 310, id="61803398"),
    Fixed("article", "article", 320, pictures=2),
    Fixed("article-promoted", "article", 330, promoted=True),
    Fixed("article-deleted", "article", 340, status="deleted"),
    Fixed("article-raw-lost", "article", 350, pictures=1, lost="raw"),
    Fixed("article-picture-gone", "article", 360, pictures=1, lost="all"),
    Fixed("pin-text", "pin", 370),
    Fixed("pin-title", "pin", 375, title="用 vector<int> 还是 list<int>？&lt;"),
    Fixed("pin-image", "pin", 380, pictures=3),
    Fixed("pin-video", "pin", 390, qualities=_ALL_QUALITIES),
    Fixed("pin-repost", "pin", 395, origin="pin-image"),
    Fixed("pin-repost-deleted", "pin", 400, origin="pin-deleted"),
    Fixed("pin-deleted", "pin", 410, status="deleted"),
    Fixed("zvideo", "zvideo", 420, qualities=_ALL_QUALITIES),
    Fixed("zvideo-missing", "zvideo", 430, qualities=()),
    Fixed("zvideo-deleted", "zvideo", 440, status="deleted", qualities=_ALL_QUALITIES),
)
"""Posts of the documented member ``demo``; the keyword ``演示`` finds them all."""

FIXED_CREATORS = ("demo", "prolific", "silent", "banned", "protected", "org", "closed")
"""``demo`` owns :data:`FIXED_POSTS`; ``prolific`` has 65 answers to the question ``question-many``,
25 articles, 22 pins and 21 zvideos; ``silent`` has none; ``banned`` is answered like nobody;
``protected`` shows itself only to members; ``org`` is an organisation; ``closed`` has
deregistered."""

_NAMES = {fixed.name: place for place, fixed in enumerate(FIXED_POSTS)}
_PROLIFIC = ("answer",) * 65 + ("article",) * 25 + ("pin",) * 22 + ("zvideo",) * 21
_FIXED_TOTALS = (len(FIXED_POSTS), len(_PROLIFIC), 0, 3, 4, 5, 2)
_FIXED_TOKENS = (
    "demo-zhang",
    "prolific-li",
    "silent-wang",
    "banned-zhao",
    "protected-qian",
    "org-sun",
    "",
)


# -- tokens of files ------------------------------------------------------------------------------

_PICTURE, _COVER, _AVATAR, _COMMENT_PICTURE, _STREAM = range(5)


def _name(kind: int, address: int, index: int) -> str:
    """32 hex digits that carry an address."""
    return _FILES.pack(kind, address, index).hex()


def _read_name(name: str) -> tuple[int, int, int] | None:
    try:
        return _FILES.unpack(bytes.fromhex(name))
    except ValueError:
        return None


# -- the world ------------------------------------------------------------------------------------


class World(worlds.World[Outline, Member]):
    """Every right answer about Zhihu for one seed; a keyword finds posts of all kinds.

    :param more: of every world, see :class:`sandbox.worlds.World`.
    """

    space_bits = 19
    creator_bits = 13
    readers = 8000
    fixed_creators = FIXED_CREATORS
    fixed_totals = _FIXED_TOTALS

    def __init__(self, seed: int = 1, posts: int = 60, **more: Any) -> None:
        super().__init__(seed, posts, **more)
        self._post = lru_cache(maxsize=4096)(self._make_post)
        self._order = lru_cache(maxsize=256)(self._make_order)
        self._pool = lru_cache(maxsize=64)(self._ranked)
        self._answers = lru_cache(maxsize=256)(self._make_answers)
        self._roots = lru_cache(maxsize=64)(self._make_roots)

    # -- search -----------------------------------------------------------------------------------

    def search(
        self,
        keyword: str,
        *,
        sort: str = "",
        vertical: str = "",
        within: str = "",
        mark: str = "",
        member_id: str = "",
    ) -> list[tuple[str, str]]:
        """(kind, id) of all that a keyword finds, best first, each once.

        :param sort: one of :data:`SORTS`.
        :param vertical: ``answer``, ``article``, ``zvideo`` or ``""``.
        :param within: ``""`` or a key of :data:`WITHIN`.
        :param mark: another mark shuffles the ranking by relevance; ``""`` is the plain one.
        :param member_id: only posts of this member.

        Includes posts that cannot be opened (see :meth:`status`): search knows them still.
        """
        found = self._order(keyword, sort, vertical, within, mark, member_id)
        return [(self._outline(address).kind, self.post_id(address)) for address in found]

    def search_addresses(
        self, keyword: str, sort: str, vertical: str, within: str, mark: str, member_id: str
    ) -> tuple[int, ...]:
        return self._order(keyword, sort, vertical, within, mark, member_id)

    def _make_order(
        self, keyword: str, sort: str, vertical: str, within: str, mark: str, member_id: str
    ) -> tuple[int, ...]:
        found = list(self._pool(keyword))
        if vertical:
            found = [a for a in found if self._outline(a).kind == vertical]
        if within in WITHIN:
            found = [a for a in found if self.now - self._outline(a).time <= WITHIN[within]]
        if member_id:
            found = [a for a in found if self._user(a >> 8).id == member_id]
        if sort == "upvoted_count":
            found.sort(key=lambda a: (-self._outline(a).votes, a))
        elif sort == "created_time":
            found.sort(key=lambda a: (-self._outline(a).time, a))
        elif mark:
            moved = [(place + number(mark, a) % 16, place, a) for place, a in enumerate(found)]
            found = [a for _key, _place, a in sorted(moved)]
        return tuple(found)

    # -- posts ------------------------------------------------------------------------------------

    def post(self, kind: str, post_id: str) -> Post | None:
        """The post with this kind and id, also one that is deleted; ``None`` if there was none."""
        address = self.address_of(kind, post_id)
        return None if address is None else self._post(address)

    def post_at(self, address: int) -> Post:
        return self._post(address)

    def status(self, kind: str, post_id: str) -> str:
        """``ok``, ``deleted``, ``hidden`` or ``unknown``."""
        address = self.address_of(kind, post_id)
        return "unknown" if address is None else self._outline(address).status

    def fixed_post(self, name: str) -> Post:
        """The documented post *name* (:data:`FIXED_POSTS`)."""
        return self._post(_NAMES[name])

    def post_id(self, address: int) -> str:
        if address < len(FIXED_POSTS) and FIXED_POSTS[address].id:
            return FIXED_POSTS[address].id
        return str(_ID_BASE + _POSTS.do(address))

    def address_of(self, kind: str, post_id: str) -> int | None:
        for place, fixed in enumerate(FIXED_POSTS):
            if fixed.id == post_id and fixed.kind == kind:
                return place
        if not post_id.isdecimal() or not 0 <= int(post_id) - _ID_BASE < 1 << 40:
            return None
        address = _POSTS.undo(int(post_id) - _ID_BASE)
        if not self._exists(address) or self._outline(address).kind != kind:
            return None
        return address if self.post_id(address) == post_id else None

    @staticmethod
    def _fixed(address: int) -> Fixed | None:
        return FIXED_POSTS[address] if address < len(FIXED_POSTS) else None

    def _kind(self, address: int, dice: Dice) -> str:
        creator, post = address >> 8 & 0x1FFF, address & 0xFF
        drawn = dice.pick(("answer",) * 10 + ("article",) * 5 + ("pin",) * 3 + ("zvideo",) * 2)
        if address >> 21 == FIXED_SPACE and creator == 1:
            return _PROLIFIC[post]
        # Every fourth creator asks something first; the answers of its neighbours belong there.
        return "question" if creator % 4 == 0 and post == 0 and address >> 21 else drawn

    def _make_outline(self, address: int) -> Outline:
        space = address >> 21
        dice = Dice(self._seed_of(space), "post", address)
        kind = self._kind(address, dice)
        fixed = self._fixed(address)
        time = self._now_of(space) - dice.age(2000 * DAY)
        votes = dice.skewed(30_000, 5)
        roots = 0 if dice.chance(8) else 1 + dice.skewed(60, 2.5)
        replies: tuple[int, ...] = _USUAL_REPLIES
        folded = dice.between(1, 3) if dice.chance(20) else 0
        status = dice.fate(_FATES)
        if fixed is not None:
            kind, status, folded = fixed.kind, fixed.status, 0
            time = self._now_of(space) - fixed.age * 3600
            roots, replies = fixed.roots, fixed.replies
        elif space == FIXED_SPACE:
            time, status = self._now_of(space) - (address & 0xFF) * DAY - 7200, "ok"
        shown = roots + folded + sum(self._replies(address, replies, i) for i in range(roots))
        return Outline(kind, time, votes, shown, roots, replies, status)

    def _make_post(self, address: int) -> Post:
        space = address >> 21
        outline = self._outline(address)
        author = self._user(address >> 8)
        dice = Dice(self._seed_of(space), "text", address)
        fixed = self._fixed(address)
        edited = outline.time + dice.between(60, 40 * DAY) if dice.chance(30) else outline.time
        mention = self._reader(dice) if dice.chance(12) else None
        topics = tuple(dict.fromkeys([author.topic, *dice.some(sorted(texts.TOPICS), 2)]))
        paragraphs = texts.paragraphs(author.topic, dice, dice.between(1, 6), _EMOTES)
        title = texts.title(author.topic, dice)
        has_title = outline.kind in ("article", "zvideo", "question") or (
            outline.kind == "pin" and dice.chance(30)
        )
        paid = outline.kind in ("answer", "article") and dice.chance(2)
        return Post(
            address=address,
            id=self.post_id(address),
            outline=outline,
            author=author,
            anonymous=self._anonymous(space, outline.kind, fixed, dice),
            title=(fixed.title if fixed else "") or (title if has_title else ""),
            paragraphs=tuple(paragraphs),
            time=outline.time,
            edited=min(edited, self._now_of(space)),
            place="" if dice.chance(6) else author.place,
            topics=topics,
            question=self._question_of(address, outline.kind),
            pictures=tuple(self._pictures(address, outline.kind, fixed)),
            cover=self._cover(address, outline.kind, dice),
            clip=self._clip(address, outline.kind, fixed, dice),
            box=self._box(address, outline.kind, fixed, dice),
            paid=fixed.paid if fixed else paid,
            truncated=fixed.truncated or fixed.paid if fixed else paid,
            promoted=fixed.promoted if fixed else outline.kind == "article" and dice.chance(6),
            collapsed=fixed.collapsed if fixed else False,
            comments_open=fixed.comments_open if fixed else outline.roots > 0 or dice.chance(50),
            origin=self._origin(address, outline.kind, fixed, dice),
            form=fixed.form if fixed else self._form(outline.kind, dice),
            thanks=outline.votes // dice.between(3, 30),
            favourites=outline.votes * dice.between(5, 180) // 100,
            shares=dice.skewed(300, 3),
            views=outline.votes * dice.between(20, 90) + 100 if dice.chance(40) else 0,
            mention=mention,
        )

    @staticmethod
    def _form(kind: str, dice: Dice) -> str:
        return "rich" if kind in ("answer", "article", "question") and dice.chance(10) else ""

    @staticmethod
    def _anonymous(space: int, kind: str, fixed: Fixed | None, dice: Dice) -> bool:
        drawn = kind == "answer" and dice.chance(4)
        return fixed.anonymous if fixed else drawn and space != FIXED_SPACE

    # -- questions --------------------------------------------------------------------------------

    def _question_of(self, address: int, kind: str) -> int:
        """Where an answer belongs: the question of a creator who came before its author."""
        if kind != "answer":
            return -1
        space, creator = address >> 21, address >> 8 & 0x1FFF
        if space == FIXED_SPACE:
            fixed = self._fixed(address)
            return _NAMES[fixed.question if fixed else "question-many"]
        asker = number(self.seed, "question", address) % (creator // 4 + 1) * 4
        return space << 21 | asker << 8

    def answers(self, question_id: str, sort: str = "default") -> list[str]:
        """Ids of the answers that a question's lists deliver, each once.

        :param sort: ``default`` (by votes), ``created`` or ``updated``.

        Collapsed and removed answers are not in it, though the question counts them.
        """
        return [self.post_id(address) for address in self.answer_addresses(question_id, sort)]

    def answer_addresses(self, question_id: str, sort: str) -> list[int]:
        address = self.address_of("question", question_id)
        if address is None:
            return []
        shown = [
            a
            for a in self._answers(address >> 21).get(address, ())
            if self._outline(a).status == "ok" and not self._post(a).collapsed
        ]
        if sort == "created":
            return sorted(shown, key=lambda a: (-self._outline(a).time, a))
        if sort == "updated":
            return sorted(shown, key=lambda a: (-self._post(a).edited, a))
        return sorted(shown, key=lambda a: (-self._outline(a).votes, a))

    def answer_count(self, question: Post) -> int:
        """What a question says about itself: also those that never come (3.2)."""
        return len(self._answers(question.address >> 21).get(question.address, ()))

    def _make_answers(self, space: int) -> dict[int, list[int]]:
        """The answers of each question of a space."""
        if space == FIXED_SPACE:
            candidates = [*range(len(FIXED_POSTS)), *(1 << 8 | n for n in range(len(_PROLIFIC)))]
        else:
            candidates = [
                space << 21 | creator << 8 | post
                for creator in range(self._known_creators(space))
                for post in range(self._user(space << 13 | creator).total)
            ]
        found: dict[int, list[int]] = {}
        for address in candidates:
            if self._outline(address).kind == "answer":
                found.setdefault(self._question_of(address, "answer"), []).append(address)
        return found

    def _known_creators(self, space: int) -> int:
        """How many creators the search of a keyword reaches."""
        left, creator = self.posts, 0
        while left > 0:
            left -= self._searchable(space, creator)
            creator += 1
        return creator

    # -- files of a post --------------------------------------------------------------------------

    def _pictures(self, address: int, kind: str, fixed: Fixed | None) -> Iterator[Picture]:
        dice = Dice(self._seed_of(address >> 21), "pictures", address)
        count = dice.skewed(6, 2) if kind in ("answer", "article", "pin") else 0
        lost = dice.pick(("raw", "all")) if dice.chance(1) else ""
        if fixed is not None:
            count, lost = fixed.pictures, fixed.lost
        if kind == "pin" and fixed is None and dice.chance(15):
            count = 0  # a pin with a video
        for index in range(count):
            width, height = dice.pick(_SIZES)
            form = "gif" if kind == "pin" and dice.chance(8) else dice.pick(_FORMS)
            token = "v2-" + _name(_PICTURE, address, index)
            yield Picture(token, width, height, form, lost if index == 0 else "")

    def _cover(self, address: int, kind: str, dice: Dice) -> Picture | None:
        if kind != "article" or not dice.chance(60):
            return None
        return Picture("v2-" + _name(_COVER, address, 0), 1920, 823, "jpg")

    def _clip(self, address: int, kind: str, fixed: Fixed | None, dice: Dice) -> Clip | None:
        chance = {"zvideo": 100, "answer": 6, "pin": 12}.get(kind, 0)
        qualities: tuple[str, ...] | None = None
        if dice.chance(chance):
            qualities = tuple(dice.some(_ALL_QUALITIES, dice.between(1, 4)))
        if fixed is not None:
            qualities = fixed.qualities
        return None if qualities is None else self._make_clip(address, 0, qualities)

    def _box(self, address: int, kind: str, fixed: Fixed | None, dice: Dice) -> Clip | None:
        shown = fixed.box if fixed else kind in ("answer", "article") and dice.chance(4)
        return self._make_clip(address, 1, ("ld", "hd")) if shown else None

    def _make_clip(self, address: int, index: int, qualities: tuple[str, ...]) -> Clip:
        dice = Dice(self._seed_of(address >> 21), "clip", address, index)
        low, high = self.media_size
        return Clip(
            id=str(_ID_BASE + _VIDEOS.do(address << 8 | index)),
            seconds=dice.between(60, 6000) / 10,
            qualities=qualities,
            cover=Picture("v2-" + _name(_COVER, address, 1 + index), 1280, 720, "jpg"),
            size=dice.between(low, max(low, high)),
            address=address,
            index=index,
        )

    def clip_of(self, video_id: str) -> Clip | None:
        """The video with this id; its post must be there."""
        if not video_id.isdecimal() or not 0 <= int(video_id) - _ID_BASE < 1 << 48:
            return None
        plain = _VIDEOS.undo(int(video_id) - _ID_BASE)
        if not self._exists(plain >> 8):
            return None
        post = self._post(plain >> 8)
        return next((c for c in (post.clip, post.box) if c and c.id == video_id), None)

    @staticmethod
    def stream_size(clip: Clip, quality: str) -> tuple[int, int, int]:
        """Width, height and bytes of one quality."""
        width, height = _QUALITIES[quality]
        return width, height, clip.size * (list(_QUALITIES).index(quality) + 1) // 4

    @staticmethod
    def stream_name(clip: Clip, quality: str) -> str:
        """The 32 hex digits of a video file's address."""
        place = list(_QUALITIES).index(quality)
        return _name(_STREAM, clip.address, clip.index << 8 | place)

    def stream_file(self, name: str) -> Blob | None:
        """The video file behind the 32 hex digits *name*."""
        place = _read_name(name)
        if place is None or place[0] != _STREAM or not self._exists(place[1]):
            return None
        post = self._post(place[1])
        quality = list(_QUALITIES)[place[2] & 0xFF]
        for clip in (post.clip, post.box):
            if clip is not None and clip.index == place[2] >> 8 and quality in clip.qualities:
                width, height, size = self.stream_size(clip, quality)
                return VideoFile(name, size, clip.seconds, width, height)
        return None

    def picture_of(self, token: str) -> Picture | None:
        """The picture with this token (``v2-...``), also one that is gone."""
        place = _read_name(token.removeprefix("v2-"))
        if place is None:
            return None
        kind, address, _index = place
        if kind in (_AVATAR, _COMMENT_PICTURE):
            return Picture(token, 640, 640, "jpg")
        if not self._exists(address):
            return None
        post = self._post(address)
        covers = [post.cover, *(c.cover for c in (post.clip, post.box) if c)]
        known = [*post.pictures, *(cover for cover in covers if cover)]
        return next((picture for picture in known if picture.token == token), None)

    @staticmethod
    def picture_file(picture: Picture, size: str) -> Blob | None:
        """The picture in the size of a suffix: ``r`` is the best; ``None`` where it is gone."""
        if picture.lost == "all" or (picture.lost == "raw" and size in ("r", "")):
            return None
        width, height = picture.width, picture.height
        if size.endswith("w") and size[:-1].isdecimal() and int(size[:-1]) < width:
            width, height = int(size[:-1]), height * int(size[:-1]) // width
        elif size not in ("r", ""):
            width, height = 160, 120
        if picture.form == "gif":
            return gif(f"{picture.token}_{size}", 1, 1, ink=b"\0\0\0")
        form = "jpeg" if picture.form == "jpg" else picture.form
        return PictureFile(f"{picture.token}_{size}", width, height, form)

    def files(self, kind: str, post_id: str) -> list[File]:
        """What a complete crawl downloads for a post: best quality; covers last."""
        post = self.post(kind, post_id)
        if post is None or post.status != "ok":
            return []
        found = [File("image", p.token, self._best_file(p)) for p in post.pictures]
        covers = [post.cover] if post.cover else []
        for clip in (post.clip, post.box):
            if clip is None:
                continue
            best = self.best_quality(clip)
            name = self.stream_name(clip, best) if best else ""
            found.append(File("video", name, self.stream_file(name) if name else None))
            if clip is post.clip:
                covers.append(clip.cover)
        return found + [File("cover", c.token, self.picture_file(c, "r")) for c in covers]

    def _best_file(self, picture: Picture) -> Blob | None:
        return self.picture_file(picture, "720w" if picture.lost == "raw" else "r")

    @staticmethod
    def best_quality(clip: Clip) -> str:
        """The tallest quality with an address, ``""`` for none."""
        return max(clip.qualities, key=list(_QUALITIES).index, default="")

    def _origin(self, address: int, kind: str, fixed: Fixed | None, dice: Dice) -> int:
        if fixed is not None:
            return _NAMES[fixed.origin] if fixed.origin else -1
        if kind != "pin" or not dice.chance(15):
            return -1
        return _NAMES["pin-repost" if dice.chance(20) else "pin-image"]

    # -- members ----------------------------------------------------------------------------------

    def member(self, name: str) -> Member | None:
        """The member with this id or url_token; ``None`` if there never was one."""
        address = self.address_of_member(name)
        return None if address is None else self._user(address)

    def address_of_member(self, name: str) -> int | None:
        if name and name in _FIXED_TOKENS:
            return _FIXED_TOKENS.index(name)
        try:
            hidden = int(name[24:], 16) if len(name) == 32 else int(name.rpartition("-")[2], 36)
        except ValueError:
            return None
        if not 0 <= hidden < 1 << 32:
            return None
        address = _MEMBERS.undo(hidden)
        if not self._is_somebody(address):
            return None
        member = self._user(address)
        return address if name in (member.id, member.token) else None

    def _make_user(self, address: int) -> Member:
        space, index = address >> 13, address & 0x1FFF
        dice = Dice(self._seed_of(space), "member", address)
        fixed = FIXED_CREATORS[index] if space == FIXED_SPACE else ""
        topic = self._topic_of(space)
        closed = fixed == "closed" or (space == READER_SPACE and dice.chance(1))
        is_org = fixed == "org" or (not fixed and dice.chance(2))
        name = texts.nickname(dice)
        bio = texts.bio(topic, dice)
        token = _FIXED_TOKENS[index] if fixed else self._token(address, dice)
        identity = "已认证的机构" if is_org else "已认证的个人" if dice.chance(5) else ""
        return Member(
            address=address,
            id=digest("member", address, size=12).hex() + f"{_MEMBERS.do(address):08x}",
            token="" if closed else token,
            name="已注销账号" if closed else name,
            headline="" if dice.chance(30) else f"{topic}爱好者 &amp; 记录者",
            description=bio.replace("\n", "<br>"),
            gender=-1 if is_org else dice.pick((0, 1, -1)),
            place="" if dice.chance(5) else dice.pick(texts.PROVINCES),
            is_org=is_org,
            identity=identity,
            award=f"{topic}话题下的优秀答主" if dice.chance(6) else "",
            followers=dice.skewed(400_000, 7),
            following=dice.skewed(600, 2),
            topic=topic,
            total=self._total(space, index, dice),
            protected=fixed == "protected" or (not fixed and dice.chance(1)),
            banned=fixed == "banned",
            closed=closed,
        )

    @staticmethod
    def _token(address: int, dice: Dice) -> str:
        letters = to_letters(_MEMBERS.do(address), "0123456789abcdefghijklmnopqrstuvwxyz")
        return f"{dice.pick(_HANDS)}-{dice.pick(_HANDS)}-{letters}"

    def _total(self, space: int, index: int, dice: Dice) -> int:
        if space == FIXED_SPACE:
            return _FIXED_TOTALS[index]
        if space == READER_SPACE:
            return 0
        return self._searchable(space, index) + Dice(self.seed, "more", space, index).skewed(40, 4)

    @staticmethod
    def avatar(member: Member) -> str:
        """The token of a member's avatar."""
        return "v2-" + _name(_AVATAR, member.address, 0)

    def creator_posts(self, member_id: str, kind: str, sort: str = "created") -> list[str]:
        """Ids of a member's posts of one kind, each once, as the lists deliver them.

        :param sort: ``created`` (newest first) or ``voteups``.

        Deleted, hidden and anonymous ones are not in it.
        """
        member = self.member(member_id)
        if member is None:
            return []
        return [self.post_id(address) for address in self.posted(member, kind, sort)]

    def posted(self, member: Member, kind: str, sort: str) -> list[int]:
        shown = [
            address
            for post in range(member.total)
            if self._outline(address := member.address << 8 | post).kind == kind
            and self._outline(address).status == "ok"
            and not self._post(address).anonymous
        ]
        if sort == "voteups":
            return sorted(shown, key=lambda a: (-self._outline(a).votes, a))
        return sorted(shown, key=lambda a: (-self._outline(a).time, a))

    # -- comments ---------------------------------------------------------------------------------

    def comments(self, kind: str, post_id: str, order: str = "score") -> list[Comment]:
        """Top-level comments in the order in which they are served.

        :param order: ``score`` (by likes, the pinned one first) or ``ts`` (newest first).
        """
        post = self.post(kind, post_id)
        if post is None or not post.comments_open:
            return []
        return [self.comment(post, root) for root in self._roots(post.address, order)]

    def root_order(self, post: Post, order: str) -> tuple[int, ...]:
        return self._roots(post.address, order)

    def _make_roots(self, address: int, order: str) -> tuple[int, ...]:
        post = self._post(address)
        roots = [self.comment(post, root) for root in range(post.outline.roots)]
        if order == "ts":
            roots.sort(key=lambda c: (-c.time, c.root))
        else:
            roots.sort(key=lambda c: (not c.pinned, -c.likes, c.root))
        return tuple(comment.root for comment in roots)

    def replies(self, comment_id: str, order: str = "ts") -> list[Comment]:
        """All replies under a top-level comment: ``ts`` oldest first, ``score`` by likes."""
        place = self.place_of_comment(comment_id)
        if place is None:
            return []
        post, root, _reply = place
        found = [self.comment(post, root, n + 1) for n in range(self.reply_count(post, root))]
        if order == "score":
            found.sort(key=lambda c: (-c.likes, c.reply))
        return found

    def reply_count(self, post: Post, root: int) -> int:
        return self._replies(post.address, post.outline.replies, root)

    @staticmethod
    def _replies(address: int, pattern: tuple[int, ...], root: int) -> int:
        if pattern is _DEEP_REPLIES:
            return pattern[root % 8]
        return drawn_replies(pattern, address, root)

    def comment_id(self, post: Post, root: int, reply: int = 0) -> str:
        return str(_COMMENTS.do(post.address << 22 | root << 8 | reply))

    def place_of_comment(self, comment_id: str) -> tuple[Post, int, int] | None:
        """Post, root and reply (0: the root itself) of a comment id."""
        if not comment_id.isdecimal() or int(comment_id) >> 62:
            return None
        plain = _COMMENTS.undo(int(comment_id))
        address, root, reply = plain >> 22, plain >> 8 & 0x3FFF, plain & 0xFF
        if not self._exists(address):
            return None
        post = self._post(address)
        if root >= post.outline.roots or reply > self.reply_count(post, root):
            return None
        return post, root, reply

    def comment(self, post: Post, root: int, reply: int = 0) -> Comment:
        space = post.address >> 21
        dice = Dice(self._seed_of(space), "comment", post.address, root, reply)
        replies = 0 if reply else self.reply_count(post, root)
        by_author = dice.chance(25 if reply else 3) and not post.anonymous
        author = post.author if by_author else self._reader(dice)
        topic = post.author.topic
        text = texts.reply(topic, dice, _EMOTES) if reply else texts.comment(topic, dice, _EMOTES)
        deleted = not by_author and (dice.chance(4) if replies else False)
        likes = dice.skewed(max(1, 2000 // (root + 1)), 2)
        picture = None
        if not reply and dice.chance(7):
            index = root
            picture = Picture("v2-" + _name(_COMMENT_PICTURE, post.address, index), 640, 640, "jpg")
        return Comment(
            id=self.comment_id(post, root, reply),
            root=root,
            reply=reply,
            author=None if dice.chance(1) and not by_author else author,
            text=text,
            time=self._comment_time(post, root, reply),
            likes=likes // 20 if reply else likes,
            place="" if dice.chance(8) else author.place,
            by_author=by_author,
            deleted=deleted,
            pinned=not reply and root == 0 and number("pinned", post.address) % 4 == 0,
            hot=not reply and likes > 500,
            mention=self._reader(dice) if dice.chance(6) else None,
            picture=picture,
            target=dice.below(reply) if reply > 1 and dice.chance(45) else 0,
            replies=replies,
        )

    def _comment_time(self, post: Post, root: int, reply: int) -> int:
        now = self._now_of(post.address >> 21)
        draw = number("when", post.address, root)
        replies = self.reply_count(post, root) if reply else 0
        return comment_time(post.time, now, draw, reply, replies)
