"""How a crawl ends early, and what it leaves: signals, full disks, wrong input, resuming."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.testing import RunningSandbox
from sandbox.xhs import World
from tests.conftest import QUICK, ROOT, Crawled, crawl_command, run_folder

Crawl = Callable[..., Crawled]


class Started:
    """A crawl that is under way."""

    def __init__(
        self, sandbox: RunningSandbox, data: Path, arguments: dict[str, object], **settings: object
    ) -> None:
        self.data = data
        merged = {**QUICK, "SANDBOX_URL": sandbox.url, "SAVE_DATA_PATH": data, **settings}
        self.process = subprocess.Popen(
            crawl_command("xhs", arguments, merged),
            cwd=ROOT,
            env={**os.environ, "XHS_COOKIES": sandbox.cookies()},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait_for_records(self, count: int) -> None:
        """Return when the file of posts has *count* lines."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            folder = run_folder(self.data, "xhs")
            path = folder and folder / "posts.jsonl"
            if path and path.exists() and path.read_bytes().count(b"\n") >= count:
                return
            time.sleep(0.05)
        raise AssertionError(f"no {count} records in time: {self.end(signal.SIGKILL).output}")

    def end(self, how: signal.Signals) -> Crawled:
        self.process.send_signal(how)
        output, _ = self.process.communicate(timeout=30)
        return Crawled(self.process.returncode, output, self.data, run_folder(self.data, "xhs"))


@pytest.fixture
def slow_sandbox() -> object:
    with RunningSandbox("--latency", "150", "--media-rate", "200000") as running:
        yield running


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_crawl_cleanly(
    slow_sandbox: RunningSandbox, tmp_path: Path, how: signal.Signals
) -> None:
    arguments = {"keywords": "露营", "max_posts": 0, "max_comments": "all", "media": "all"}
    started = Started(slow_sandbox, tmp_path, arguments, EXPORT_FORMATS="jsonl,json,csv")
    started.wait_for_records(3)
    crawled = started.end(how)
    assert (crawled.exit_code, crawled.report["verdict"]) == (3, "partial"), crawled.output
    assert "stopped early" in crawled.report["reason"]
    assert crawled.report["seeds"][0]["outcome"] == "stopped before the end"
    assert crawled.folder
    assert json.loads((crawled.folder / "posts.json").read_text("utf-8")) == crawled.posts
    assert crawled.posts
    assert "Traceback" not in crawled.output
    assert not (crawled.folder / ".reserve").exists()


def test_a_killed_crawl_leaves_whole_records(slow_sandbox: RunningSandbox, tmp_path: Path) -> None:
    started = Started(slow_sandbox, tmp_path, {"keywords": "露营", "max_posts": 0})
    started.wait_for_records(5)
    crawled = started.end(signal.SIGKILL)
    assert len(crawled.posts) >= 5
    assert crawled.report["verdict"] == "running"


@pytest.mark.parametrize("stop", ["461", "signal"])
def test_a_stopped_crawl_goes_on_with_its_jobdir(
    slow_sandbox: RunningSandbox, tmp_path: Path, stop: str
) -> None:
    world = World(seed=1)
    arguments = {"keywords": "演示", "max_posts": 0, "max_comments": 5}
    jobdir = {"JOBDIR": tmp_path / "job"}
    first = Started(slow_sandbox, tmp_path / "one", arguments, **jobdir)
    first.wait_for_records(2)
    if stop == "461":
        slow_sandbox.fault("461", path="*", times=1)
        first.process.wait(30)
    one = first.end(signal.SIGINT) if stop == "signal" else first.end(signal.SIGCONT)
    second = Started(slow_sandbox, tmp_path / "two", arguments, **jobdir)
    second.process.wait(60)
    two = second.end(signal.SIGCONT)
    posts = [post["post_id"] for post in one.posts + two.posts]
    assert sorted(posts) == sorted(i for i in world.search("演示") if world.status(i) == "ok")
    comments = [comment["comment_id"] for comment in one.comments + two.comments]
    assert len(comments) == len(set(comments))
    expected = sum(len(world.comments(post)[:5]) for post in posts)
    assert len(comments) == expected
    assert two.exit_code == 0, two.output


def test_a_full_disk_stops_the_crawl_and_loses_nothing_that_was_saved(
    calm_sandbox: RunningSandbox, tmp_path: Path
) -> None:
    """The size of files is limited, which writes like a full disk: some bytes, then an error."""
    command = crawl_command(
        "xhs",
        {"keywords": "露营,咖啡", "max_posts": 0, "max_comments": "all", "max_replies": "all"},
        {**QUICK, "SANDBOX_URL": calm_sandbox.url, "SAVE_DATA_PATH": tmp_path},
    )
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 600; exec "$@"', "bash", *command],  # KiB
        cwd=ROOT,
        env={**os.environ, "XHS_COOKIES": calm_sandbox.cookies()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    output = done.stdout + done.stderr
    assert "Traceback" not in output
    assert "make room or choose another SAVE_DATA_PATH" in output
    assert done.returncode == 1
    folder = run_folder(tmp_path, "xhs")
    assert folder
    comments = (folder / "comments.jsonl").read_text("utf-8")
    assert len(comments.encode()) > 550 * 1024
    assert comments.endswith("\n")
    for line in comments.splitlines():
        json.loads(line)
    assert json.loads((folder / "report.json").read_text("utf-8"))["verdict"] == "error"


def test_a_folder_that_cannot_be_written_is_one_line(crawl: Crawl, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    crawled = crawl("xhs", {"SAVE_DATA_PATH": blocked / "data"}, keywords="露营")
    assert crawled.exit_code == 2
    assert "SAVE_DATA_PATH" in crawled.output
    assert "Traceback" not in crawled.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "nothing to collect"),
        ({"keywords": "a", "max_posts": "ten"}, "max_posts: 'ten' is not a whole number"),
        ({"keywords": "a", "max_comments": "-1"}, "max_comments"),
        ({"keywords": "a", "keyword": "b"}, "keyword: unknown argument"),
        ({"keywords": "a", "since": "31.1.2026"}, "since: '31.1.2026' is not a date"),
        ({"keywords": "a", "since": "2026-02-01", "until": "2026-01-01"}, "later than until"),
        ({"keywords": "a", "sort": "views"}, "xhs has no sort 'views'; choose one of general"),
        ({"keywords": "a", "post_type": "answer"}, "xhs has no post_type 'answer'"),
        ({"keywords": "@/no/such/file"}, "cannot read '/no/such/file'"),
        ({"posts": "https://example.org/x"}, "https://example.org/x"),
    ],
)
def test_wrong_arguments_are_one_line_and_exit_code_2(
    crawl: Crawl, calm_sandbox: RunningSandbox, arguments: dict[str, object], words: str
) -> None:
    crawled = crawl("xhs", **arguments)
    assert crawled.exit_code == 2
    assert words in crawled.output
    assert "Traceback" not in crawled.output
    assert calm_sandbox.stats()["requests"] == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"CONCURRENT_REQUESTS": "0"}, "CONCURRENT_REQUESTS=0"),
        ({"EXPORT_FORMATS": "xlsx"}, "EXPORT_FORMATS=xlsx"),
        ({"XHS_REGION": "mars"}, "XHS_REGION=mars"),
        ({"XHS_COOKIES_FILE": "/no/such/file"}, "/no/such/file"),
    ],
)
def test_wrong_settings_are_one_line_and_exit_code_2(
    crawl: Crawl, settings: dict[str, str], words: str
) -> None:
    cookies = None if "XHS_COOKIES_FILE" in settings else "member"
    crawled = crawl("xhs", settings, cookies=cookies, keywords="露营")
    assert crawled.exit_code == 2
    assert words in crawled.output
    assert "Traceback" not in crawled.output
