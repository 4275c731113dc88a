"""The arithmetic of the benchmarks: what counts as a run's time, and which pages are repeated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.pages import Page, read_pages
from benchmarks.run import Run, Sample


def run_of(*seen: tuple[float, int, int]) -> Run:
    """A run of which (time, requests, in flight) were seen."""
    samples = [Sample(time, requests, busy, 0, 0, 0) for time, requests, busy in seen]
    return Run(began=0.0, cpu=0.0, samples=samples, most_in_flight=1)


def test_a_run_lasts_from_before_its_first_request_to_after_its_last_answer() -> None:
    # Start-up until 2.0; the last request is seen at 5.0, its answer at 6.0; then files are closed.
    run = run_of((1.0, 0, 0), (2.0, 0, 0), (3.0, 1, 1), (5.0, 9, 1), (6.0, 9, 0), (7.0, 9, 0))
    assert run.seconds == 4.0


def test_the_steady_rate_leaves_the_slow_beginning_and_end_out() -> None:
    run = run_of((0.0, 0, 0), (9.0, 10, 1), (10.0, 50, 5), (11.0, 90, 5), (20.0, 100, 0))
    assert run.rate_between(0.1, 0.9) == 40.0


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        (
            ["GET", "https://edith.xiaohongshu.com/api/a?b=c%2Cd", ""],
            Page(
                "GET",
                "http://127.0.0.1:9/api/a?b=c%2Cd",
                {"Host": "edith.xiaohongshu.com", "Cookie": "a1=x"},
                "",
            ),
        ),
        (
            ["POST", "https://so.xiaohongshu.com/api/s", '{"keyword":"露营"}'],
            Page(
                "POST",
                "http://127.0.0.1:9/api/s",
                {
                    "Host": "so.xiaohongshu.com",
                    "Cookie": "a1=x",
                    "Content-Type": "application/json;charset=UTF-8",
                },
                '{"keyword":"露营"}',
            ),
        ),
    ],
)
def test_a_recorded_page_is_asked_of_the_sandbox_as_it_was_asked_of_the_platform(
    tmp_path: Path, recorded: list[str], expected: Page
) -> None:
    file = tmp_path / "pages"
    file.write_text(json.dumps(recorded) + "\n", "utf-8")
    assert read_pages(file, "http://127.0.0.1:9", "a1=x") == [expected]
