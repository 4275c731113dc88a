"""Crawls that need a browser: challenge pages, a site that signs for itself, a browser that dies.

The process list says what was started; the sandbox, by TLS, is the site that the browser sees.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from sandbox.testing import RunningSandbox
from sandbox.xhs import World as XhsWorld
from sandbox.zhihu import World as ZhihuWorld
from tests.conftest import (
    QUICK,
    ROOT,
    Crawled,
    crawl_command,
    run_command,
    run_folder,
    scrapy_command,
)
from tests.proxy_servers import LocalProxy, LocalSocks


def processes() -> dict[int, tuple[int, str]]:
    """Parent and command line of every running process; those that have ended do not count,
    whether or not anybody has asked for their exit codes."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "pid=,ppid=,stat=,args="], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 3) for line in listed.stdout.splitlines()]
    return {int(pid): (int(parent), args) for pid, parent, state, args in rows if state[0] != "Z"}


def is_browser(args: str) -> bool:
    """Whether a command line is that of a browser itself, not of one of its helpers."""
    return "--remote-debugging-pipe" in args and "--type=" not in args


def wait_until_gone(pids: Iterable[int]) -> None:
    """Helpers of a browser end a moment after it."""
    deadline = time.monotonic() + 10
    while left := set(pids) & set(processes()):
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.05)


class Watched:
    """A crawl under way, and every program that it or its children have started."""

    def __init__(
        self,
        sandbox: RunningSandbox,
        data: Path,
        platform: str,
        arguments: Mapping[str, object],
        cookies: str | None = None,
        environment: Mapping[str, str] | None = None,
        **settings: object,
    ) -> None:
        self.platform, self.data = platform, data
        self.seen: dict[int, str] = {}
        self.browsers_seen: set[int] = set()
        merged = {
            **QUICK,
            "BROWSER_FALLBACK": None,  # to its default
            "SANDBOX_URL": sandbox.url,
            "SAVE_DATA_PATH": data,
            **settings,
        }
        line = cookies or sandbox.cookies("member", platform)
        self._output = data.parent / "output.txt"
        with self._output.open("w") as output:
            self.process = subprocess.Popen(
                crawl_command(platform, arguments, merged),
                cwd=ROOT,
                env={**os.environ, f"{platform.upper()}_COOKIES": line, **(environment or {})},
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def look(self) -> dict[int, str]:
        """Command lines of the crawl's descendants that are running now, by process id."""
        rows = processes()
        family, grown = {self.process.pid}, True
        while grown:
            more = {pid for pid, (parent, _) in rows.items() if parent in family}
            grown = not more <= family
            family |= more
        running = {pid: args for pid, (_, args) in rows.items() if pid in family}
        running.pop(self.process.pid, None)
        self.seen |= running
        # A helper that has just been forked has the command line of its browser for a moment.
        browsers = {pid for pid, args in running.items() if is_browser(args)}
        self.browsers_seen |= {pid for pid in browsers if rows[pid][0] not in browsers}
        return running

    def browsers(self) -> set[int]:
        """Browsers (not their helper processes) that are running now."""
        running = self.look()
        return self.browsers_seen & running.keys()

    def pages(self) -> set[int]:
        """The processes behind the pages of browsers that are running now."""
        return {pid for pid, args in self.look().items() if "--type=renderer" in args}

    def until(self, what: str, ready: Callable[[], bool]) -> None:
        """Wait for a condition; a crawl that has ended meanwhile never fulfils it."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            if ready():
                return
            time.sleep(0.05)
        raise AssertionError(f"{what}: never; {self.finish().output}")

    def posts(self) -> int:
        folder = run_folder(self.data, self.platform)
        path = folder and folder / "posts.jsonl"
        return path.read_bytes().count(b"\n") if path and path.exists() else 0

    def finish(self) -> Crawled:
        """Wait for the end, looking at the processes meanwhile."""
        deadline = time.monotonic() + 120
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                self.process.kill()
                raise AssertionError(f"the crawl does not end: {self._output.read_text()}")
            self.look()
            time.sleep(0.05)
        output = self._output.read_text()
        folder = run_folder(self.data, self.platform)
        return Crawled(self.process.returncode, output, self.data, folder)

    def started_browser(self) -> bool:
        return any("chrom" in args or "playwright" in args for args in self.seen.values())


@pytest.fixture
def started(tls_sandbox: RunningSandbox, tmp_path: Path) -> Iterator[object]:
    """Start a crawl against the sandbox; whatever happens, nothing of it goes on running."""
    crawls: list[Watched] = []

    def start(platform: str, arguments: Mapping[str, object], **more: object) -> Watched:
        folder = tmp_path / str(len(crawls)) / "data"
        folder.mkdir(parents=True)
        crawls.append(Watched(tls_sandbox, folder, platform, arguments, **more))  # type: ignore[arg-type]
        return crawls[-1]

    yield start
    for crawl in crawls:
        if crawl.process.poll() is None:
            crawl.process.kill()
            crawl.process.wait()


ANSWERS = {"keywords": "演示", "post_type": "answer", "max_posts": 6, "max_comments": 0}


def outdated_proof(sandbox: RunningSandbox) -> str:
    """A member's cookies whose proof of having passed the challenge is no longer taken."""
    line = sandbox.cookies("member", "zhihu")
    return re.sub(r"__zse_ck=[^;]*", "__zse_ck=004_of-last-week", line)


def behind_the_challenge(sandbox: RunningSandbox) -> str:
    """Let answers come as pages only, and those after a challenge; gives the cookies for it."""
    sandbox.fault("permission", path="/api/v4/answers/")
    return outdated_proof(sandbox)


def scripts_run(sandbox: RunningSandbox) -> int:
    """How often the challenge's script was fetched: only a browser does."""
    by_path: dict[str, int] = sandbox.stats()["by_path"]
    return sum(n for path, n in by_path.items() if path.startswith("static.zhihu.com/zse-ck"))


# --- The fallback -----------------------------------------------------------------------------


def test_a_challenge_is_passed_once_in_the_browser_and_its_cookie_serves_all_others(
    tls_sandbox: RunningSandbox, started
) -> None:
    crawl = started("zhihu", ANSWERS, cookies=behind_the_challenge(tls_sandbox))
    crawled = crawl.finish()

    assert crawled.exit_code == 0, crawled.output
    world = ZhihuWorld(seed=1)
    texts = {post["post_id"]: post["title"] for post in crawled.posts}
    assert len(texts) == 6
    assert all(world.post("answer", post_id) for post_id in texts)
    assert scripts_run(tls_sandbox) == 1
    assert tls_sandbox.stats()["unknown_hosts"] == {}
    assert crawl.started_browser()
    assert "Traceback" not in crawled.output
    wait_until_gone(crawl.seen)


@pytest.mark.parametrize(
    ("platform", "faults", "arguments"),
    [
        # A page that says nothing but a script that leaves a cookie.
        (
            "xhs",
            [("300031", "/api/sns/web/v1/feed", {}), ("challenge", "/explore", {})],
            {"max_posts": 4, "max_comments": 0},
        ),
        # An API without signatures: what the browser shows then is JSON.
        (
            "bilibili",
            [("412-challenge", "/x/web-interface/nav", {"times": 1})],
            {"max_posts": 2, "max_comments": 0},
        ),
    ],
)
def test_what_the_browser_shows_is_read_as_the_answer(
    tls_sandbox: RunningSandbox,
    started,
    platform: str,
    faults: list[tuple[str, str, dict[str, int]]],
    arguments: dict[str, int],
) -> None:
    for kind, path, rule in faults:
        tls_sandbox.fault(kind, path=path, **rule)
    crawl = started(platform, {"keywords": "演示", **arguments})
    crawled = crawl.finish()

    assert crawled.exit_code == 0, crawled.output
    assert len(crawled.posts) == arguments["max_posts"]
    assert crawled.output.count("opening a page in the browser") == 1
    assert crawl.started_browser()


def test_the_browser_leaves_by_the_proxy_of_its_session(
    tls_sandbox: RunningSandbox, chromium: Path, tmp_path: Path, started
) -> None:
    # Nothing but a proxy leads to the sandbox here, and nobody has signed its certificate.
    program = tmp_path / "chromium"
    program.write_text(f'#!/bin/sh\nexec "{chromium}" --ignore-certificate-errors "$@"\n')
    program.chmod(0o755)
    target, password = (tls_sandbox.host, tls_sandbox.port), "sEcret-4711"
    with LocalSocks(target, user="anna", password=password) as own, LocalProxy(target) as other:
        proxies = tmp_path / "proxies.txt"
        proxies.write_text(f"{own.url}\n{other.url}\n")
        crawl = started(
            "zhihu",
            ANSWERS,
            cookies=behind_the_challenge(tls_sandbox),
            environment={"http_proxy": "", "https_proxy": "", "no_proxy": ""},
            SANDBOX_URL=None,
            PROXIES=f"@{proxies}",
            CHROMIUM_PATH=program,
        )
        crawled = crawl.finish()

    assert crawled.exit_code == 0, crawled.output
    assert len(crawled.posts) == 6
    assert crawl.started_browser()
    assert scripts_run(tls_sandbox) == 1
    hosts = {asked.split(":")[0] for asked in own.asked_for}
    assert {"www.zhihu.com", "static.zhihu.com"} <= hosts  # the script is the browser's alone
    assert other.asked_for == []
    everything = crawled.output + "".join(crawl.seen.values())
    assert password not in everything


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"BROWSER_FALLBACK": "False"}, "challenge"),
        ({"CHROMIUM_PATH": "/no/such/browser"}, "a browser might get this page, but CHROMIUM_PATH"),
    ],
)
def test_without_the_fallback_a_challenge_ends_the_crawl_and_no_browser_is_started(
    tls_sandbox: RunningSandbox, started, setting: dict[str, str], words: str
) -> None:
    crawl = started("zhihu", ANSWERS, cookies=behind_the_challenge(tls_sandbox), **setting)
    crawled = crawl.finish()

    assert crawled.report["verdict"] == "blocked"
    assert crawled.output.count(words) >= 1
    assert not crawl.started_browser()
    assert "Traceback" not in crawled.output


def test_a_login_wall_that_the_browser_gets_too_is_the_verdict(
    tls_sandbox: RunningSandbox, started
) -> None:
    cookies = behind_the_challenge(tls_sandbox)
    tls_sandbox.fault("signin", path="/question/")
    crawl = started("zhihu", ANSWERS, cookies=cookies, BROWSER_FALLBACK_SECONDS="2")
    crawled = crawl.finish()

    assert crawled.report["verdict"] == "login_required", crawled.output
    assert "the browser gets it too" in crawled.output
    assert crawl.started_browser()


def test_a_crawl_that_needs_no_browser_starts_none_and_does_not_import_playwright(
    tls_sandbox: RunningSandbox, started
) -> None:
    crawl = started(
        "xhs",
        {"keywords": "露营", "max_posts": 5},
        environment={"PYTHONPROFILEIMPORTTIME": "1"},  # names every imported module
    )
    crawled = crawl.finish()

    assert crawled.exit_code == 0, crawled.output
    assert "mediacrawler.browser\n" in crawled.output
    assert "playwright" not in crawled.output
    assert not crawl.started_browser()


# --- The site's own page as transport ---------------------------------------------------------


def test_requests_sent_from_the_site_s_page_are_signed_by_the_site(
    tls_sandbox: RunningSandbox, started
) -> None:
    crawl = started("xhs", {"keywords": "露营", "max_posts": 15}, XHS_TRANSPORT="page")
    crawled = crawl.finish()

    assert crawled.exit_code == 0, crawled.output
    assert len(crawled.posts) == 15
    assert crawled.comments
    stats = tls_sandbox.stats()
    assert stats["bad_signatures"] == {}
    assert stats["by_path"]["www.xiaohongshu.com/explore"] == 1


def test_one_page_serves_a_hundred_requests_many_at_once(
    tls_sandbox: RunningSandbox, started
) -> None:
    tls_sandbox.fault("slow", path="/api", args={"seconds": 0.3})
    arguments = {"keywords": "露营", "max_posts": 50, "max_comments": 5}
    crawl = started("xhs", arguments, XHS_TRANSPORT="page", CONCURRENT_REQUESTS="16")
    crawled = crawl.finish()

    assert crawled.exit_code == 0, crawled.output
    assert len(crawled.posts) == 50
    stats = tls_sandbox.stats()
    asked = {path: n for path, n in stats["by_path"].items() if "/api/sns/" in path}
    assert sum(n for path, n in asked.items() if not path.startswith("OPTIONS")) >= 100
    assert stats["by_path"]["www.xiaohongshu.com/explore"] == 1
    assert 8 <= stats["most_in_flight"] <= 16


def test_what_a_script_is_not_shown_of_a_refusal_is_known_all_the_same(
    tls_sandbox: RunningSandbox, started
) -> None:
    tls_sandbox.fault("429-retry-after", path="/api", times=1, args={"seconds": 1})
    crawl = started("xhs", {"keywords": "露营", "max_posts": 3}, XHS_TRANSPORT="page")
    crawled = crawl.finish()

    assert crawled.exit_code == 0, crawled.output
    assert crawled.report["requests"]["paused_seconds"] >= 0.9


@pytest.mark.parametrize("victim", ["browser", "page"])
def test_a_browser_that_dies_in_the_middle_is_started_again_and_nothing_is_lost(
    tls_sandbox: RunningSandbox, started, victim: str
) -> None:
    tls_sandbox.fault("slow", path="/api", args={"seconds": 0.1})
    arguments = {"keywords": "演示", "max_posts": 0, "max_comments": 5}
    crawl = started("xhs", arguments, XHS_TRANSPORT="page", CONCURRENT_REQUESTS="4")
    crawl.until("the first records", lambda: crawl.posts() >= 2)
    before = crawl.browsers() if victim == "browser" else crawl.pages()
    assert before
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    crawled = crawl.finish()

    assert crawled.exit_code == 0, crawled.output
    world = XhsWorld(seed=1)
    ids = [post["post_id"] for post in crawled.posts]
    assert sorted(ids) == sorted(i for i in world.search("演示") if world.status(i) == "ok")
    comments = [comment["comment_id"] for comment in crawled.comments]
    assert len(comments) == len(set(comments)) == sum(len(world.comments(i)[:5]) for i in ids)
    assert len(crawl.browsers_seen) == (2 if victim == "browser" else 1)
    assert tls_sandbox.stats()["by_path"]["www.xiaohongshu.com/explore"] == 2
    assert "Traceback" not in crawled.output


@pytest.mark.parametrize("victim", ["browser", "page"])
def test_what_dies_while_a_challenge_is_open_is_opened_again(
    tls_sandbox: RunningSandbox, started, victim: str
) -> None:
    cookies = behind_the_challenge(tls_sandbox)
    tls_sandbox.fault("slow", path="/zse-ck/", args={"seconds": 2})
    crawl = started("zhihu", ANSWERS, cookies=cookies)
    crawl.until("the script is asked for", lambda: scripts_run(tls_sandbox) > 0)
    for pid in crawl.browsers() if victim == "browser" else crawl.pages():
        os.kill(pid, signal.SIGKILL)
    crawled = crawl.finish()

    assert crawled.exit_code == 0, crawled.output
    assert len(crawled.posts) == 6
    assert scripts_run(tls_sandbox) == 2


def test_a_browser_that_does_not_start_ends_a_crawl_that_is_sent_through_it(
    tls_sandbox: RunningSandbox, started
) -> None:
    crawl = started("xhs", {"keywords": "露营"}, XHS_TRANSPORT="page", CHROMIUM_PATH="/bin/false")
    crawled = crawl.finish()

    assert crawled.report["verdict"] == "error"
    assert "/bin/false does not start" in crawled.report["reason"]
    assert "Traceback" not in crawled.output


# --- The doctor -------------------------------------------------------------------------------


def doctor(folder: Path, **settings: object) -> subprocess.CompletedProcess[str]:
    folders = {"SAVE_DATA_PATH": folder / "data", "SESSIONS_DIR": folder / "sessions"}
    return run_command(scrapy_command("doctor", settings={**folders, **settings}))


def test_the_doctor_starts_the_browser_and_tells_each_topic_in_a_line(
    chromium: Path, tmp_path: Path
) -> None:
    done = doctor(tmp_path)

    assert done.returncode == 0, done.stdout
    lines = [line.split(None, 2) for line in done.stdout.splitlines()]
    assert {level for level, _, _ in lines} <= {"ok", "warn"}
    topics = ["Python", "packages", "browser", "fonts", "folders", "clock", "sessions", "proxies"]
    assert [topic for topic in topics if topic not in {line[1] for line in lines}] == []
    told = next(text for _, topic, text in lines if topic == "browser")
    assert str(chromium) in told
    assert "starts" in told
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_what_fails_is_said_with_a_way_out_and_is_the_exit_code(tmp_path: Path) -> None:
    done = doctor(tmp_path, CHROMIUM_PATH="/bin/false", SAVE_DATA_PATH=__file__)

    assert done.returncode == 1
    failing = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("fail")]
    assert failing == ["browser", "folders"]
    assert "Traceback" not in done.stdout + done.stderr
