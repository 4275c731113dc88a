"""The pause that all requests of a session share; clock and dice are given, so waits are exact."""

import random

import pytest
from scrapy import Request
from scrapy.http import Response

from mediacrawler.exceptions import (
    AccessDenied,
    BadSignature,
    RateLimited,
    UnexpectedResponse,
)
from mediacrawler.middlewares import Gate, Streak, give_up_reason, judge_status, kind_of

NOW = 1_767_225_600.0  # 2026-01-01 00:00:00 UTC


class Clock:
    def __init__(self, now=NOW):
        self.now = now

    def __call__(self):
        return self.now

    def pass_by(self, seconds):
        self.now += seconds


class Longest(random.Random):
    """Dice that always choose the longest wait."""

    def uniform(self, a, b):
        return b


def gate(clock, *, base=1.0, longest=300.0, dice=None):
    return Gate(base, longest, dice or Longest(), clock)


# --- Refusals in a row --------------------------------------------------------------------------


def test_each_refusal_of_a_request_sent_after_the_last_one_counts():
    clock = Clock()
    streak = Streak(clock)
    for length in (1, 2, 3):
        sent_at = clock()
        clock.pass_by(0.2)
        assert streak.refused(sent_at) is True
        assert streak.length == length


def test_requests_that_were_on_their_way_say_nothing_new():
    clock = Clock()
    streak = Streak(clock)
    sent = [NOW + n / 100 for n in range(50)]
    clock.pass_by(1)
    assert [streak.refused(sent_at) for sent_at in sent] == [True] + [False] * 49
    assert streak.length == 1


@pytest.mark.parametrize(("sent_after", "counts"), [(-0.001, False), (0, True), (0.001, True)])
def test_what_counts_is_whether_it_was_sent_before_the_refusal_was_known(sent_after, counts):
    clock = Clock()
    streak = Streak(clock)
    streak.refused(NOW)
    assert streak.refused(NOW + sent_after) is counts


def test_a_good_answer_breaks_the_row_but_does_not_make_old_requests_count():
    clock = Clock()
    streak = Streak(clock)
    sent_at = clock()
    clock.pass_by(1)
    streak.refused(sent_at)
    streak.broken()
    assert streak.length == 0
    assert streak.refused(sent_at) is False
    assert streak.length == 0
    assert streak.refused(clock()) is True


# --- How long a wait is -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "longest"),
    [(1, 1), (2, 2), (3, 4), (6, 32), (9, 256), (10, 300), (11, 300), (5000, 300)],
)
def test_waits_double_with_each_pause_up_to_the_longest(level, longest):
    assert gate(Clock()).delay(level) == longest


@pytest.mark.parametrize(("base", "level", "longest"), [(0.02, 3, 0.08), (5, 1, 5), (0, 9, 0)])
def test_waits_are_multiples_of_the_base(base, level, longest):
    assert gate(Clock(), base=base).delay(level) == pytest.approx(longest)


@pytest.mark.parametrize("level", [1, 4, 20])
def test_waits_are_spread_over_the_whole_span_so_that_sessions_do_not_return_together(level):
    waiting = gate(Clock(), dice=random.Random(7))
    longest = min(300, 2 ** (level - 1))
    waits = sorted(waiting.delay(level) / longest for _ in range(2000))
    assert waits[0] >= 0
    assert waits[-1] <= 1
    for share in (0.1, 0.5, 0.9):  # full jitter: uniform from nothing to the longest
        assert waits[int(share * 2000)] == pytest.approx(share, abs=0.05)


# --- The shared pause ---------------------------------------------------------------------------


def test_without_a_refusal_nobody_waits():
    assert gate(Clock()).remaining() == 0


def test_the_first_refusal_pauses_everybody_and_the_pause_runs_out():
    clock = Clock()
    shared = gate(clock, base=4)
    assert shared.pause("answer", NOW, None) == 4
    for passed, remaining in ((0, 4), (1.5, 2.5), (2.5, 0), (100, 0)):
        clock.pass_by(passed)
        assert shared.remaining() == remaining


def test_fifty_refusals_of_one_moment_are_one_pause():
    clock = Clock()
    shared = gate(clock)
    added = []
    for _ in range(50):
        clock.pass_by(0.01)
        added.append(shared.pause("answer", NOW, None))
    assert added == [1.0] + [0.0] * 49
    assert shared.streaks["answer"].length == 1
    assert shared.resume_at == pytest.approx(NOW + 1.01)


def test_pauses_grow_while_nothing_succeeds_and_begin_anew_after_a_success():
    clock = Clock()
    shared = gate(clock)
    added = []
    for _ in range(4):
        added.append(shared.pause("answer", clock(), None))
        clock.pass_by(shared.remaining())
    shared.streaks["answer"].broken()
    added.append(shared.pause("answer", clock(), None))
    assert added == [1, 2, 4, 8, 1]


@pytest.mark.parametrize("asked", [0.5, 7, 120, 3000])
def test_what_the_platform_asks_for_is_honoured_to_the_second_and_beyond_the_longest(asked):
    shared = gate(Clock(), longest=300)
    assert shared.pause("answer", NOW, asked) == asked
    assert shared.remaining() == asked


@pytest.mark.parametrize(
    ("first", "second", "remaining"),
    [
        (60, 10, 60),  # never shortened
        (10, 60, 60),  # but made longer
        (60, None, 60),
        (10, 10, 10),
    ],
)
def test_the_longest_of_several_pauses_counts(first, second, remaining):
    shared = gate(Clock())
    shared.pause("answer", NOW, first)
    shared.pause("answer", NOW, second)
    assert shared.remaining() == remaining


def test_what_is_asked_of_requests_on_their_way_is_honoured_but_does_not_count_as_a_new_refusal():
    clock = Clock()
    shared = gate(clock)
    sent_at = clock()
    clock.pass_by(1)
    shared.pause("answer", sent_at, 5)
    clock.pass_by(1)
    assert shared.pause("answer", sent_at, 5) == 1  # until five seconds from now, four were left
    assert shared.streaks["answer"].length == 1


def test_refusals_with_a_date_of_the_past_still_count_towards_giving_up():
    clock = Clock()
    shared = gate(clock)
    for _ in range(3):
        assert shared.pause("answer", clock(), 0.0) == 0
        clock.pass_by(0.1)
    assert shared.streaks["answer"].length == 3


@pytest.mark.parametrize("dice", range(20))
def test_the_seconds_that_pauses_add_are_the_seconds_during_which_nothing_is_sent(dice):
    rng = random.Random(dice)
    clock = Clock()
    shared = gate(clock, base=0.5, dice=random.Random(dice))
    added = paused = 0.0
    for _ in range(200):
        if rng.random() < 0.3:
            sent_at = clock() - rng.choice([0, 0, 0.3, 5])
            added += shared.pause("answer", sent_at, rng.choice([None, None, 0, 2, 9]))
        if rng.random() < 0.1:
            shared.streaks["answer"].broken()
        step = rng.choice([0, 0.1, 1, 30])
        paused += min(step, shared.remaining())
        clock.pass_by(step)
    assert added == pytest.approx(paused + shared.remaining())


# --- Answers that no page function reads ----------------------------------------------------------


def answer(status, retry_after=None):
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Response("http://127.0.0.1/file", status=status, headers=headers)


def test_good_files_do_not_excuse_an_api_that_refuses():
    asked = Request("https://api.example/", meta={"page": "post"})
    file = Request("https://cdn.example/")
    shared = gate(Clock())
    shared.pause(kind_of(asked), NOW, None)
    shared.streaks[kind_of(file)].broken()
    assert shared.streaks[kind_of(asked)].length == 1
    shared.streaks[kind_of(asked)].broken()
    assert shared.streaks[kind_of(asked)].length == 0


@pytest.mark.parametrize(
    ("status", "header", "error", "wait"),
    [
        (429, None, RateLimited, None),
        (429, "7", RateLimited, 7),
        (429, "Thu, 01 Jan 2026 00:01:30 GMT", RateLimited, 90),
        (429, "Thu, 01 Jan 2020 00:00:00 GMT", RateLimited, 0),
        (429, "soon", RateLimited, None),
        (500, None, UnexpectedResponse, None),
        (502, None, UnexpectedResponse, None),
        (503, "30", UnexpectedResponse, 30),
        (599, None, UnexpectedResponse, None),
    ],
)
def test_a_refused_file_is_judged_by_its_status(status, header, error, wait):
    with pytest.raises(error) as caught:
        judge_status(answer(status, header), NOW)
    assert caught.value.code == status
    assert caught.value.retry_after == wait


@pytest.mark.parametrize("status", [200, 206, 302, 403, 404, 410, 416])
def test_other_statuses_are_for_whoever_asked(status):
    assert judge_status(answer(status, "7"), NOW) is None


@pytest.mark.parametrize(
    ("error", "verdict", "words"),
    [
        (BadSignature("refused", code=406), "error", "signer is out of date"),
        (AccessDenied("nothing", soft=True), "blocked", "silently blocked"),
        (UnexpectedResponse("cut", code=502), "error", "usable answers"),
    ],
)
def test_giving_up_says_what_was_wrong_all_the_time(error, verdict, words):
    found, reason = give_up_reason(error)
    assert found == verdict
    assert words in reason
    assert str(error) in reason
