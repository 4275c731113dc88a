"""What the worlds of all platforms are made of: seeded dice, reversible ids, and :class:`World`.

A world is the same for the same seed without being stored: every record is computed from its
address. Nothing here knows a platform, HTTP or JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sandbox import texts
from sandbox.core import WORLD_NOW, Options

T = TypeVar("T")

DAY = 86_400  # seconds


def digest(*parts: object, size: int = 16) -> bytes:
    """*size* bytes (at most 64) that depend on all *parts* (numbers and texts) and nothing else."""
    return blake2b(repr(parts).encode("utf-8"), digest_size=size).digest()


def number(*parts: object) -> int:
    """A 64-bit number that depends on all *parts*."""
    return int.from_bytes(blake2b(repr(parts).encode("utf-8"), digest_size=8).digest(), "big")


def mix(*numbers: int) -> int:
    """A 64-bit number that depends on all *numbers*; several times quicker than :func:`number`."""
    mixed = 0x9E3779B97F4A7C15
    for one in numbers:
        mixed = ((mixed ^ one) * 0xBF58476D1CE4E5B9 + 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        mixed ^= mixed >> 29
    return mixed


class Dice:
    """Random choices that depend only on the parts it was made of.

    Much cheaper to make than ``random.Random``: one hash pays for about forty throws.

    >>> Dice(1, "post", "a").between(0, 9) == Dice(1, "post", "a").between(0, 9)
    True
    """

    __slots__ = ("_pool", "_source")

    def __init__(self, *parts: object) -> None:
        self._source = blake2b(repr(parts).encode("utf-8"), digest_size=64).digest()
        self._pool = int.from_bytes(self._source, "big")

    def below(self, limit: int) -> int:
        """0 <= n < *limit* (*limit* up to 2^64)."""
        if self._pool >> 96 == 0:
            self._source = blake2b(self._source, digest_size=64).digest()
            self._pool = int.from_bytes(self._source, "big")
        self._pool, throw = divmod(self._pool, limit)
        return throw

    def between(self, low: int, high: int) -> int:
        """*low* <= n <= *high*."""
        return low + self.below(high - low + 1)

    def chance(self, percent: float) -> bool:
        """True in *percent* of 100 cases."""
        if self._pool >> 96 == 0:
            self.below(1)
        self._pool, throw = divmod(self._pool, 10_000)
        return throw < percent * 100

    def pick(self, options: Sequence[T]) -> T:
        """One of *options*."""
        return options[self.below(len(options))]

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """*count* different ones of *options* (all of them if there are fewer)."""
        left = list(options)
        return [left.pop(self.below(len(left))) for _ in range(min(count, len(left)))]

    def skewed(self, high: int, power: float = 3.0) -> int:
        """0..*high*, small numbers far more often than large ones: likes, fans, comments."""
        return int(high * (self.below(1_000_000) / 1_000_000) ** power)

    def fate(self, shares: Mapping[str, int], of: int = 1000) -> str:
        """One of the names in *shares*, each so often *of* so many cases; ``ok`` in all others."""
        luck = self.below(of)
        for name, share in shares.items():
            luck -= share
            if luck < 0:
                return name
        return "ok"

    def age(self, oldest: int = 1100 * DAY) -> int:
        """Seconds since a post was made: 8 % are of today, 12 % of this week, a third older than
        half a year."""
        bucket = self.below(100)
        if bucket < 8:
            return self.between(30, DAY - 1)
        if bucket < 20:
            return self.between(DAY, 7 * DAY - 1)
        if bucket < 65:
            return self.between(7 * DAY, 182 * DAY - 1)
        return self.between(182 * DAY, oldest)


class Scramble:
    """A reversible mixing of numbers of *bits* bits (even), so that ids look random and yet carry
    an address. The key is the domain's name.

    >>> mix = Scramble("user", 48)
    >>> mix.undo(mix.do(12345))
    12345
    """

    def __init__(self, domain: str, bits: int) -> None:
        if bits % 2:
            raise ValueError("bits must be even")
        self._half = bits // 2
        self._mask = (1 << bits) - 1
        self._add = number("scramble add", domain, bits) & self._mask
        # Odd factors have an inverse modulo a power of two; x ^ x >> half is its own inverse.
        self._first, self._second = (
            number("scramble", domain, bits, turn) & self._mask | 1 for turn in range(2)
        )
        self._undo_first = pow(self._first, -1, 1 << bits)
        self._undo_second = pow(self._second, -1, 1 << bits)

    def do(self, plain: int) -> int:
        mixed = (plain ^ self._add) * self._first & self._mask
        mixed = (mixed ^ mixed >> self._half) * self._second & self._mask
        return mixed ^ mixed >> self._half

    def undo(self, mixed: int) -> int:
        plain = (mixed ^ mixed >> self._half) * self._undo_second & self._mask
        plain = (plain ^ plain >> self._half) * self._undo_first & self._mask
        return plain ^ self._add


class Seal:
    """Packs a kind, an address and an index into bytes that look random, can be read again, and
    prove that the sandbox made them.

    :param address_size: bytes of the address.
    :param index_size: bytes of the index.
    """

    def __init__(self, address_size: int, index_size: int) -> None:
        self._split = 1 + address_size
        self._address_size, self._index_size = address_size, index_size
        self._size = self._split + index_size  # of the plain bytes, and of the mark before them

    def pack(self, kind: int, address: int, index: int) -> bytes:
        plain = bytes([kind]) + address.to_bytes(self._address_size, "big")
        plain += index.to_bytes(self._index_size, "big")
        mark = digest("file", plain.hex(), size=self._size)
        return mark + self._mixed(plain, mark)

    def unpack(self, packed: bytes) -> tuple[int, int, int] | None:
        """Kind, address and index; ``None`` for bytes that :meth:`pack` never gave."""
        if len(packed) != 2 * self._size:
            return None
        mark = packed[: self._size]
        plain = self._mixed(packed[self._size :], mark)
        if digest("file", plain.hex(), size=self._size) != mark:
            return None
        address, index = plain[1 : self._split], plain[self._split :]
        return plain[0], int.from_bytes(address, "big"), int.from_bytes(index, "big")

    def _mixed(self, data: bytes, mark: bytes) -> bytes:
        pad = digest("pad", mark.hex(), size=self._size)
        return bytes(a ^ b for a, b in zip(data, pad, strict=True))


def to_letters(value: int, alphabet: str, width: int = 1) -> str:
    """*value* in the base of an *alphabet* that begins with ``0``, at least *width* letters."""
    base, letters = len(alphabet), ""
    while value:
        value, place = divmod(value, base)
        letters = alphabet[place] + letters
    return letters.rjust(width, "0")


def from_letters(letters: str, alphabet: str) -> int | None:
    """The number that :func:`to_letters` wrote; ``None`` where a letter is not of *alphabet*."""
    value = 0
    for letter in letters:
        place = alphabet.find(letter)
        if place < 0:
            return None
        value = value * len(alphabet) + place
    return value


def wan(count: int, *, cap: bool = True) -> str:
    """A count as Chinese sites show it: "9876", "1.2万", "10万+" (with *cap*), "1.3亿".

    Cut, not rounded: 12,999 is "1.2万", as the sites do.
    """
    if count < 10_000:
        return str(count)
    if cap and count >= 100_000:
        return "10万+"
    if count >= 100_000_000:
        return f"{count // 10_000_000 / 10:g}亿"
    return f"{count // 1_000 / 10:g}万"


def pinned_posts(total: int, dice: Dice) -> tuple[int, ...]:
    """Numbers of the posts that a creator of *total* posts has pinned: mostly none, at most two."""
    if total < 4 or not dice.chance(25):
        return ()
    return tuple(dict.fromkeys(dice.below(total) for _ in range(2)))


def drawn_replies(pattern: Sequence[int], address: int, root: int) -> int:
    """How many replies a comment has: one of the eight numbers in *pattern*, drawn by its post's
    address and its own number."""
    return pattern[(address * 2_654_435_761 + root * 40_503) >> 7 & 7]


def comment_time(post: int, now: int, draw: int, reply: int, replies: int) -> int:
    """Unix seconds of a comment, or of its reply number *reply* (0: the comment itself).

    A comment stands somewhere between its *post* and *now*, as *draw* (any number) says; its
    *replies* follow by the hour, sooner where the time is short.
    """
    first = post + draw % max(1, now - post)
    if not reply:
        return first
    return first + reply * max(0, min(3600, (now - first) // (replies + 1)))


# -- a world --------------------------------------------------------------------------------------

FIXED_SPACE = 0  # the documented creators and posts, the same for every seed
READER_SPACE = 1  # people who comment
DEMO_KEYWORD = "演示"  # finds the posts of the first documented creator, in their order
_POST_BITS = 8


class AnyOutline(Protocol):
    """The facts about a post that cost little. *time* in unix seconds; *status* is ``ok`` for a
    post that can be opened."""

    @property
    def time(self) -> int: ...
    @property
    def status(self) -> str: ...


class AnyUser(Protocol):
    """Somebody with a profile; *total* counts the posts ever made."""

    @property
    def total(self) -> int: ...


OutlineT = TypeVar("OutlineT", bound=AnyOutline)
UserT = TypeVar("UserT", bound=AnyUser)
WorldT = TypeVar("WorldT", bound="World[Any, Any]")


class World(Generic[OutlineT, UserT]):
    """Every right answer about a platform for one seed: what is the same on all platforms.

    A keyword finds the posts of its *space*. The address of a creator is a space and a number in
    it, that of a post is its creator's and a number below 256; ids carry addresses, so that any id
    that was ever handed out can be answered after a restart, however large the world is.

    A platform's world says how its records are thrown (:meth:`_make_outline`, :meth:`_make_user`),
    and sets the class variables:

    :cvar space_bits: of a space in an address.
    :cvar creator_bits: of a creator's number in an address.
    :cvar space_name: of the dice that give a keyword its space.
    :cvar readers: people who comment.
    :cvar reader_posts: readers have posted fewer than that.
    :cvar fixed_creators: names of the documented creators; the first owns the documented posts.
    :cvar fixed_totals: how many posts each of them has.

    :param seed: same seed (and *now*), same world.
    :param posts: posts that a keyword finds.
    :param now: the world's present (aware).
    :param media_size: smallest and largest video, bytes.
    """

    space_bits: ClassVar[int]
    creator_bits: ClassVar[int]
    space_name: ClassVar[str] = "space"
    readers: ClassVar[int] = 50_000
    reader_posts: ClassVar[int] = 4
    fixed_creators: ClassVar[tuple[str, ...]]
    fixed_totals: ClassVar[tuple[int, ...]]

    def __init__(
        self,
        seed: int = 1,
        posts: int = 60,
        *,
        now: datetime = WORLD_NOW,
        media_size: tuple[int, int] = (300_000, 1_500_000),
    ) -> None:
        self.seed = seed
        self.posts = posts
        self.now = int(now.timestamp())
        self.media_size = media_size
        self._topics = {self._space(word): word for word in texts.TOPICS}
        self._outline = lru_cache(maxsize=32_768)(self._make_outline)
        self._user = lru_cache(maxsize=8192)(self._make_user)

    @classmethod
    def from_options(cls: type[WorldT], options: Options, **more: Any) -> WorldT:
        """The world that the command line asks for; *more* are parameters of the platform's own."""
        return cls(
            options.seed, options.posts, now=options.now, media_size=options.media_size, **more
        )

    def _make_outline(self, address: int) -> OutlineT:
        raise NotImplementedError

    def _make_user(self, address: int) -> UserT:
        raise NotImplementedError

    def _seed_of(self, space: int) -> int:
        """What documented records are thrown with is the same for every seed."""
        return 0 if space == FIXED_SPACE else self.seed

    def _now_of(self, space: int) -> int:
        """Unix seconds. Documented records do not move with ``--now``."""
        return int(WORLD_NOW.timestamp()) if space == FIXED_SPACE else self.now

    # -- search ---------------------------------------------------------------------------------

    def repeats(self, keyword: str) -> bool:
        """Whether this keyword's pages repeat posts of the page before."""
        return keyword in texts.TOPICS or number(self.seed, "repeats", keyword) % 2 == 0

    def _ranked(self, keyword: str) -> list[int]:
        """Addresses of the posts that a keyword finds, best first."""
        found = list(self._found_by(keyword))
        if keyword != DEMO_KEYWORD:
            found.sort(key=lambda address: number(self.seed, "rank", keyword, address))
        return found

    def _found_by(self, keyword: str) -> Iterator[int]:
        """The same, creator by creator. ``无结果`` and words that begin with ``empty`` find
        nothing."""
        if keyword == DEMO_KEYWORD:
            yield from range(self.fixed_totals[0])
            return
        if keyword == "无结果" or keyword.startswith("empty") or not keyword.strip():
            return
        space, left = self._space(keyword), self.posts
        for creator in range(1 << self.creator_bits):
            searchable = min(left, self._searchable(space, creator))
            first = (space << self.creator_bits | creator) << _POST_BITS
            yield from range(first, first + searchable)
            left -= searchable
            if left <= 0:
                return

    @classmethod
    def _space(cls, keyword: str) -> int:
        return 2 + number(cls.space_name, keyword) % ((1 << cls.space_bits) - 2)

    @staticmethod
    def _searchable(space: int, creator: int) -> int:
        """How many of a creator's posts their keyword finds: the first ones."""
        return 1 + number("searchable", space, creator) % 7

    # -- creators and readers -------------------------------------------------------------------

    def fixed_creator(self, name: str) -> UserT:
        """The documented creator *name*."""
        return self._user(self.fixed_creators.index(name))

    def viewer(self, session: str) -> UserT:
        """Who is logged in with a session."""
        return self._user(self._reader_address(number("viewer", session)))

    def _reader(self, dice: Dice) -> UserT:
        """Somebody who comments."""
        return self._user(self._reader_address(dice.below(self.readers)))

    def _reader_address(self, draw: int) -> int:
        return READER_SPACE << self.creator_bits | draw % self.readers

    def _is_somebody(self, address: int) -> bool:
        """Whether a creator or reader with this address was ever named anywhere."""
        space, index = address >> self.creator_bits, address & (1 << self.creator_bits) - 1
        if space == FIXED_SPACE:
            return index < len(self.fixed_creators)
        return space != READER_SPACE or index < self.readers

    def _exists(self, address: int) -> bool:
        """Whether there is a post with this address."""
        creator, post = address >> _POST_BITS, address & (1 << _POST_BITS) - 1
        return self._is_somebody(creator) and post < self._user(creator).total

    def _topic_of(self, space: int) -> str:
        """What the creators of a space write about."""
        return self._topics.get(space) or sorted(texts.TOPICS)[number("topic", space) % 10]

    def _total(self, space: int, index: int, dice: Dice) -> int:
        """How many posts creator number *index* of a space has."""
        if space == FIXED_SPACE:
            return self.fixed_totals[index]
        if space == READER_SPACE:
            return dice.below(self.reader_posts)
        return self._searchable(space, index) + dice.skewed(60, 3)

    def _listed(
        self, creator: int, pinned: Sequence[int] = (), shown: Sequence[str] = ("ok",)
    ) -> list[int]:
        """Addresses of a creator's posts as most lists serve them: *pinned* numbers first, then
        newest first.

        :param shown: statuses of the posts that the list knows.
        """
        first = creator << _POST_BITS
        posts = range(first, first + self._user(creator).total)
        return sorted(
            (post for post in posts if self._outline(post).status in shown),
            key=lambda post: (post - first not in pinned, -self._outline(post).time),
        )

    # -- files ----------------------------------------------------------------------------------

    def _file_size(self, seed: int, *what: object) -> int:
        """Bytes of a video, between the smallest and the largest."""
        low, high = self.media_size
        return low + number(seed, "size", *what) % (high - low + 1)
