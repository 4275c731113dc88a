"""What all worlds are made of: dice, seals, letters, and the base class with a small world."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import NamedTuple

import pytest

from sandbox.core import WORLD_NOW, Options
from sandbox.texts import TOPICS
from sandbox.worlds import (
    DAY,
    DEMO_KEYWORD,
    Dice,
    Seal,
    World,
    comment_time,
    from_letters,
    pinned_posts,
    to_letters,
)

BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"


def test_fates_come_as_often_as_they_should() -> None:
    fates = Counter(Dice("fate", n).fate({"deleted": 100, "private": 50}) for n in range(4000))
    assert set(fates) == {"deleted", "private", "ok"}
    assert 300 < fates["deleted"] < 500
    assert 130 < fates["private"] < 270


def test_ages_reach_from_today_to_the_oldest() -> None:
    ages = [Dice("age", n).age(oldest=200 * DAY) for n in range(2000)]
    assert 30 <= min(ages) < DAY
    assert 182 * DAY < max(ages) <= 200 * DAY


def test_a_seal_is_read_again_and_no_other_bytes_are() -> None:
    seal = Seal(address_size=5, index_size=2)
    packed = seal.pack(3, 0x1234567890, 513)
    assert len(packed) == 16
    assert seal.unpack(packed) == (3, 0x1234567890, 513)
    assert seal.unpack(packed[:-1]) is None
    assert seal.unpack(packed[:-1] + bytes([packed[-1] ^ 1])) is None
    assert seal.unpack(Seal(address_size=6, index_size=1).pack(3, 1, 1)[:15]) is None


@pytest.mark.parametrize(
    ("value", "width", "letters"), [(0, 1, "0"), (35, 1, "z"), (36, 1, "10"), (36, 4, "0010")]
)
def test_numbers_are_written_in_letters(value: int, width: int, letters: str) -> None:
    assert to_letters(value, BASE36, width) == letters
    assert from_letters(letters, BASE36) == value


def test_a_strange_letter_is_no_number() -> None:
    assert from_letters("1A", BASE36) is None


def test_at_most_two_of_enough_posts_are_pinned() -> None:
    counts = Counter(len(pinned_posts(9, Dice("pinned", n))) for n in range(500))
    assert counts[0] > counts[2] > counts[1] > 0
    assert not any(pinned_posts(3, Dice("pinned", n)) for n in range(500))


def test_replies_follow_their_comment_and_never_come_from_the_future() -> None:
    post, now = 1_000_000, 1_010_000
    times = [comment_time(post, now, 7_000, reply, replies=5) for reply in range(6)]
    assert times == [1_007_000 + reply * 500 for reply in range(6)]
    assert comment_time(post, now, 0, 2, replies=2) == post + 2 * 3333
    assert comment_time(post, post, 12345, 1, replies=3) == post


# -- the base class -------------------------------------------------------------------------------


class Outline(NamedTuple):
    time: int
    status: str


class User(NamedTuple):
    address: int
    topic: str
    total: int
    pinned: tuple[int, ...]


class SmallWorld(World[Outline, User]):
    """What a platform says of its own, and no more."""

    space_bits = 16
    creator_bits = 8
    readers = 100
    fixed_creators = ("demo", "silent")
    fixed_totals = (5, 0)

    def _make_outline(self, address: int) -> Outline:
        space = address >> 16
        dice = Dice(self._seed_of(space), "post", address)
        return Outline(self._now_of(space) - dice.age(), dice.fate({"deleted": 100}))

    def _make_user(self, address: int) -> User:
        space, index = address >> 8, address & 0xFF
        dice = Dice(self._seed_of(space), "user", address)
        total = self._total(space, index, dice)
        return User(address, self._topic_of(space), total, pinned_posts(total, dice))

    def found(self, keyword: str) -> list[int]:
        return self._ranked(keyword)

    def posted(self, user: User) -> list[int]:
        return self._listed(user.address, user.pinned)

    def exists(self, address: int) -> bool:
        return self._exists(address)

    def outline(self, address: int) -> Outline:
        return self._outline(address)

    def user(self, address: int) -> User:
        return self._user(address)


def test_a_keyword_finds_the_wanted_number_of_posts_each_once() -> None:
    found = SmallWorld(posts=100).found("露营")
    assert len(found) == len(set(found)) == 100
    assert all(SmallWorld(posts=100).exists(address) for address in found)


def test_more_posts_keep_those_of_fewer() -> None:
    assert set(SmallWorld(posts=20).found("露营")) < set(SmallWorld(posts=200).found("露营"))


@pytest.mark.parametrize("keyword", ["无结果", "empty page", " "])
def test_some_keywords_find_nothing(keyword: str) -> None:
    assert SmallWorld().found(keyword) == []


def test_no_keyword_reaches_into_the_space_of_another() -> None:
    found = SmallWorld(posts=5000).found("露营")  # more than 256 creators have
    assert len({address >> 16 for address in found}) == 1


def test_documented_posts_are_the_same_for_every_seed_and_present() -> None:
    later = SmallWorld(seed=2, now=WORLD_NOW + timedelta(days=9))
    assert later.found(DEMO_KEYWORD) == list(range(5))
    assert [later.outline(a) for a in range(5)] == [SmallWorld().outline(a) for a in range(5)]
    assert later.fixed_creator("demo") == SmallWorld().fixed_creator("demo")
    found = SmallWorld().found("露营")
    assert found != later.found("露营")
    assert later.outline(found[0]) != SmallWorld().outline(found[0])


def test_creators_write_about_the_keyword_that_finds_them() -> None:
    world = SmallWorld()
    for topic in TOPICS:
        assert {world.user(address >> 8).topic for address in world.found(topic)} == {topic}


def test_a_list_has_pinned_posts_first_then_newest_first() -> None:
    world = SmallWorld(posts=200)
    users = [world.user(a) for a in dict.fromkeys(a >> 8 for a in world.found("露营"))]
    user = next(user for user in users if len(user.pinned) == 2)
    shown = world.posted(user)
    assert {world.outline(address).status for address in shown} == {"ok"}
    pinned = [address & 0xFF in user.pinned for address in shown]
    assert pinned == sorted(pinned, reverse=True)
    times = [world.outline(a).time for a in shown if a & 0xFF not in user.pinned]
    assert times == sorted(times, reverse=True)


def test_nobody_and_nothing_exists_that_was_never_named() -> None:
    world = SmallWorld()
    assert world.exists(4)
    assert not world.exists(5)
    assert not world.exists(2 << 8)  # a third documented creator
    assert any(world.exists(1 << 16 | reader << 8) for reader in range(100))
    assert not any(world.exists(1 << 16 | reader << 8) for reader in range(100, 256))


def test_a_session_is_always_the_same_reader() -> None:
    world = SmallWorld()
    assert world.viewer("a") == SmallWorld(seed=1).viewer("a") != world.viewer("b")
    assert world.viewer("a").address >> 8 == 1


def test_the_command_line_chooses_the_world() -> None:
    options = Options(seed=3, posts=7, now=WORLD_NOW + timedelta(days=1), media_size=(10, 20))
    world = SmallWorld.from_options(options)
    assert (world.seed, len(world.found("露营")), world.media_size) == (3, 7, (10, 20))
    assert world.now == WORLD_NOW.timestamp() + DAY
