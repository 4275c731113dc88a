"""Seeded dice, reversible ids and the platforms' ways to print numbers.

What a world needs to be the same for the same seed without being stored: nothing here keeps state,
every record is computed from its address.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")


def digest(*parts: object, size: int = 16) -> bytes:
    """*size* bytes (at most 64) that depend on all *parts* (``str()`` of each) and nothing else."""
    return blake2b("\x1f".join(map(str, parts)).encode("utf-8"), digest_size=size).digest()


def number(*parts: object) -> int:
    """A 64-bit number that depends on all *parts*."""
    return int.from_bytes(digest(*parts, size=8), "big")


class Dice:
    """Random choices that depend only on the parts it was made of.

    Much cheaper to make than ``random.Random``: one hash pays for about forty throws.

    >>> Dice(1, "post", "a").between(0, 9) == Dice(1, "post", "a").between(0, 9)
    True
    """

    __slots__ = ("_pool", "_source")

    def __init__(self, *parts: object) -> None:
        self._source = digest(*parts, size=64)
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
        return self.below(10_000) < percent * 100

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


class Scramble:
    """A reversible mixing of numbers of *bits* bits (even), so that ids look random and yet carry
    an address. Four Feistel rounds; the key is the domain's name.

    >>> mix = Scramble("user", 48)
    >>> mix.undo(mix.do(12345))
    12345
    """

    def __init__(self, domain: str, bits: int) -> None:
        if bits % 2:
            raise ValueError("bits must be even")
        self.bits = bits
        self._half = bits // 2
        self._mask = (1 << self._half) - 1
        self._keys = [number("scramble", domain, bits, turn) for turn in range(4)]

    def _round(self, value: int, key: int) -> int:
        value = (value * 0x9E3779B97F4A7C15 + key) & 0xFFFFFFFFFFFFFFFF
        value ^= value >> 29
        value = value * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
        return (value >> 17) & self._mask

    def do(self, plain: int) -> int:
        left, right = plain >> self._half, plain & self._mask
        for key in self._keys:
            left, right = right, left ^ self._round(right, key)
        return left << self._half | right

    def undo(self, mixed: int) -> int:
        left, right = mixed >> self._half, mixed & self._mask
        for key in reversed(self._keys):
            left, right = right ^ self._round(left, key), left
        return left << self._half | right


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


def milliseconds(moment: datetime) -> int:
    """Unix time in ms of an aware datetime."""
    return int(moment.timestamp() * 1000)


def minutes_before(now: datetime, minutes: int) -> datetime:
    return now - timedelta(minutes=minutes)
