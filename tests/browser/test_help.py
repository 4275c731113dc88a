"""A captcha that only a person can solve: the crawl opens a window and waits at the terminal.

The crawl runs at a terminal of its own (a pty) with a display (Xvfb); the person's mouse is played
by the sandbox's control endpoint, the keyboard by the test.
"""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mediacrawler.cookies import parse_cookies
from mediacrawler.sessions import Session
from mediacrawler.sessions.store import SessionStore
from sandbox.testing import RunningSandbox
from sandbox.xhs import World
from tests.conftest import QUICK, ROOT, Crawled, crawl_command, run_folder

DEMO = "演示"
PROMPT = "then press Enter"


class AtTerminal:
    """A crawl by a stored account, at a terminal with a display."""

    def __init__(
        self,
        sandbox: RunningSandbox,
        folder: Path,
        display: str,
        member: str,
        platform: str = "xhs",
        **settings: object,
    ) -> None:
        self.platform, self.data, self.sessions = platform, folder / "data", folder / "sessions"
        cookies = parse_cookies(sandbox.cookies(member, platform))
        SessionStore(self.sessions).save(Session(platform, "anna", cookies))
        merged = {
            **QUICK,
            "BROWSER_FALLBACK": None,
            "SANDBOX_URL": sandbox.url,
            "SAVE_DATA_PATH": self.data,
            "SESSIONS_DIR": self.sessions,
            **settings,
        }
        arguments = {"keywords": DEMO, "max_posts": 0, "max_comments": 15, "account": "anna"}
        self._keyboard, terminal = pty.openpty()
        self._said = b""
        self.process = subprocess.Popen(
            crawl_command(platform, arguments, merged),
            cwd=ROOT,
            env={**os.environ, "DISPLAY": display, "TERM": "xterm"},
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        )
        os.close(terminal)

    def _listen(self, seconds: float) -> bool:
        """Read what the crawl says; False once nobody can say anything any more."""
        if not select.select([self._keyboard], [], [], seconds)[0]:
            return True
        try:
            said = os.read(self._keyboard, 65536)
        except OSError:  # how a terminal of Linux says that its programs have ended
            return False
        self._said += said
        return bool(said)

    @property
    def output(self) -> str:
        return self._said.decode("utf-8", "replace").replace("\r\n", "\n")

    def until(self, words: str) -> None:
        deadline = time.monotonic() + 90
        while words not in self.output:
            assert self._listen(0.5), self.output
            assert time.monotonic() < deadline, self.output

    def type(self, line: str) -> None:
        os.write(self._keyboard, line.encode())

    def finish(self) -> Crawled:
        deadline = time.monotonic() + 120
        while self._listen(0.5):
            assert time.monotonic() < deadline, self.output
        code = self.process.wait(30)
        return Crawled(code, self.output, self.data, run_folder(self.data, self.platform))

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._keyboard)


@pytest.fixture
def started(tls_sandbox: RunningSandbox, tmp_path: Path, display: str) -> Iterator[object]:
    crawls: list[AtTerminal] = []

    def start(member: str, platform: str = "xhs", **settings: object) -> AtTerminal:
        crawls.append(AtTerminal(tls_sandbox, tmp_path, display, member, platform, **settings))
        return crawls[-1]

    yield start
    for crawl in crawls:
        crawl.stop()


Start = Callable[..., AtTerminal]


@pytest.fixture
def captcha(tls_sandbox: RunningSandbox) -> None:
    """A captcha in the middle of the crawl, which a person can solve."""
    tls_sandbox.fault("461", path="*", rate=1, after=8, args={"solvable": True})


def asked_for(sandbox: RunningSandbox, part: str) -> int:
    """Requests so far whose path contains *part*."""
    paths: dict[str, int] = sandbox.stats()["by_path"]
    return sum(count for path, count in paths.items() if part in path)


def test_a_crawl_goes_on_where_it_was_when_a_person_has_solved_the_captcha(
    started: Start, captcha: None, tls_sandbox: RunningSandbox
) -> None:
    world = World(seed=1)
    crawl = started("member-2")
    crawl.until(PROMPT)
    deadline = time.monotonic() + 60
    while not asked_for(tls_sandbox, "/website-login/captcha"):
        assert time.monotonic() < deadline, crawl.output
        time.sleep(0.1)
    asked = asked_for(tls_sandbox, "/api/")
    time.sleep(1.5)
    assert asked_for(tls_sandbox, "/api/") == asked, "it goes on asking while a person is at work"
    tls_sandbox.action("xhs", "solve-captcha", session="member-2")
    crawl.type("\n")
    crawled = crawl.finish()
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete"), crawled.output
    posts = [post["post_id"] for post in crawled.posts]
    assert sorted(posts) == sorted(i for i in world.search(DEMO) if world.status(i) == "ok")
    comments = [comment["comment_id"] for comment in crawled.comments]
    assert len(comments) == len(set(comments))
    assert {c.id for i in posts for c in world.comments(i)[:15]} == set(comments)
    assert SessionStore(crawl.sessions).load("xhs", "anna").state == "ok"
    secret = {c.value for c in parse_cookies(tls_sandbox.cookies("member-2"))}
    assert not any(value in crawled.output for value in secret if len(value) > 8)
    assert "verifyUuid" not in crawled.output


def test_a_person_can_stop_the_crawl_instead(started: Start, captcha: None) -> None:
    crawl = started("member-3")
    crawl.until(PROMPT)
    crawl.type("q\n")
    crawled = crawl.finish()
    assert (crawled.exit_code, crawled.report["verdict"]) == (4, "blocked"), crawled.output
    assert SessionStore(crawl.sessions).load("xhs", "anna").state == "captcha"
    assert "Traceback" not in crawled.output


def test_interrupting_does_not_wait_for_the_person(started: Start, captcha: None) -> None:
    crawl = started("member-4")
    crawl.until(PROMPT)
    crawl.process.send_signal(signal.SIGINT)
    crawled = crawl.finish()
    assert (crawled.exit_code, crawled.report["verdict"]) == (4, "blocked"), crawled.output
    assert "Traceback" not in crawled.output


def test_nobody_is_asked_who_does_not_want_to_be(started: Start, captcha: None) -> None:
    crawl = started("member-5", ASK_FOR_HELP=False)
    crawled = crawl.finish()
    assert (crawled.exit_code, crawled.report["verdict"]) == (4, "blocked"), crawled.output
    assert PROMPT not in crawled.output


def test_a_person_can_log_in_again_before_anything_is_asked(
    started: Start, tls_sandbox: RunningSandbox
) -> None:
    tls_sandbox.action("weibo", "expire-session", session="member-6")
    crawl = started("member-6", "weibo")
    crawl.until(PROMPT)
    tls_sandbox.action("weibo", "restore-session", session="member-6")
    crawl.type("\n")
    crawled = crawl.finish()
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete"), crawled.output
    assert crawled.posts
    assert SessionStore(crawl.sessions).load("weibo", "anna").state == "ok"
