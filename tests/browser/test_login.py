"""Logins in a real Chromium: QR codes with the sandbox as the phone, and a browser attached to."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from mediacrawler.browser import QUIET
from mediacrawler.exceptions import UsageProblem
from mediacrawler.sessions import Session, qr
from mediacrawler.sessions.browser_login import (
    LoginFailed,
    check_loopback,
    login_from_browser,
    login_with_qrcode,
)
from mediacrawler.sessions.login_pages import xhs as xhs_login
from sandbox.testing import RunningSandbox
from tests.browser.x11 import close_windows
from tests.conftest import ROOT
from tests.proxy_servers import LocalProxy, LocalSocks, closed_port
from tests.test_qr import undrawn

LOGIN_COOKIES = {"xhs": "web_session", "bilibili": "SESSDATA", "weibo": "SUB", "zhihu": "z_c0"}


@dataclass
class Person:
    """Sits at the terminal with a phone: hears what is said, and acts on the codes shown.

    `acts[n]` is what is done when the n-th code appears, after a moment for the page to ask for
    its state a first time.
    """

    sandbox: RunningSandbox
    platform: str
    folder: Path
    acts: list[Callable[[Person], None]] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    files: list[tuple[int, int]] = field(default_factory=list)

    def __call__(self, line: str) -> None:
        if "█" in line:
            self.shown.append(line)
            return
        self.heard.append(line)
        if line.startswith("scan this code"):
            (path,) = self.folder.glob("*/*.png")
            self.files.append((path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777))
            if len(self.shown) <= len(self.acts):
                self.acts[len(self.shown) - 1](self)

    def phone(self, action: str, **arguments: str) -> Any:
        return self.sandbox.action(self.platform, action, **arguments)

    def codes(self) -> list[dict[str, str]]:
        codes: list[dict[str, str]] = self.phone("qr-codes")
        return codes


def confirm(person: Person) -> None:
    person.phone("scan")
    person.phone("confirm", account="member-2")


def scan(person: Person) -> None:
    person.phone("scan")


def expire(person: Person) -> None:
    person.phone("expire-qr")


def nothing(person: Person) -> None:
    """Looks away."""


@pytest.fixture
def headless(monkeypatch: pytest.MonkeyPatch) -> None:
    """No windows, also on the machine of somebody who sits before one."""
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)


Login = Callable[..., Session]


@pytest.fixture
def settings(chromium: Path, tls_sandbox: RunningSandbox, tmp_path: Path) -> Settings:
    return Settings(
        {
            "CHROMIUM_PATH": str(chromium),
            "SANDBOX_URL": tls_sandbox.url,
            "SESSIONS_DIR": str(tmp_path / "sessions"),
        }
    )


@pytest.fixture
def person(tls_sandbox: RunningSandbox, settings: Settings) -> Person:
    return Person(tls_sandbox, "xhs", Path(settings["SESSIONS_DIR"]))


@pytest.fixture
def login(headless: None, settings: Settings, person: Person) -> Login:
    """Log in while *person* acts."""

    def log_in(*acts: Callable[[Person], None], timeout: float = 30) -> Session:
        person.acts = list(acts)
        return login_with_qrcode(
            person.platform, settings=settings, account="main", timeout=timeout, say=person
        )

    return log_in


def values(session: Session) -> dict[str, str]:
    return {cookie.name: cookie.value for cookie in session.cookies}


def descendants() -> dict[int, str]:
    """Process ids and names of all processes below this one."""
    known: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = entry.read_text()
        except OSError:  # it has just ended
            continue
        name, _, rest = text.partition(" (")[2].rpartition(") ")
        known[int(entry.parent.name)] = (int(rest.split()[1]), name)
    found = {}
    for pid, (parent, name) in known.items():
        while parent in known and parent != os.getpid():
            parent = known[parent][0]
        if parent == os.getpid():
            found[pid] = name
    return found


def assert_nothing_is_left(person: Person) -> None:
    """Neither a browser nor the picture of a code, whoever reads it could log in with it."""
    assert not list(person.folder.rglob("*.png"))
    assert_no_browser_is_left()


def assert_no_browser_is_left() -> None:
    deadline = time.monotonic() + 5
    left = {"unknown"}
    while left and time.monotonic() < deadline:
        left = {name for name in descendants().values() if re.search("chrom|node|playwright", name)}
    assert not left


# --- QR code ----------------------------------------------------------------------------------


@pytest.mark.parametrize("platform", LOGIN_COOKIES)
def test_a_confirmed_code_gives_the_session_of_whoever_confirmed_it(
    login: Login, person: Person, platform: str, tls_sandbox: RunningSandbox
) -> None:
    person.platform = platform

    session = login(confirm)

    name = LOGIN_COOKIES[platform]
    cookies = values(session)
    assert f"{name}={cookies.get(name)}" in tls_sandbox.cookies("member-2", platform).split("; ")
    assert (session.platform, session.account, session.state) == (platform, "main", "ok")
    assert session.checked_at is not None
    assert "Chrome" in (session.user_agent or "")
    assert tls_sandbox.stats()["unknown_hosts"] == {}
    assert_nothing_is_left(person)


def test_the_drawing_says_what_the_phone_has_to_read(login: Login, person: Person) -> None:
    login(confirm)

    assert [undrawn(text) for text in person.shown] == [qr.encode(person.codes()[-1]["url"])]


def test_the_picture_is_for_its_owners_eyes_and_gone_after_the_login(
    login: Login, person: Person
) -> None:
    login(confirm)

    assert person.files == [(0o600, 0o700)]
    assert not list(person.folder.glob("*/*.png"))


def test_progress_is_told_in_words_without_the_secret_of_the_code(
    login: Login, person: Person
) -> None:
    login(confirm)

    told = "\n".join(person.heard)
    assert told.startswith("opening https://www.xiaohongshu.com/login\nscan this code")
    assert person.codes()[-1]["id"] not in told


@pytest.mark.parametrize("platform", LOGIN_COOKIES)
def test_an_expired_code_is_replaced_by_a_new_one(
    login: Login, person: Person, platform: str
) -> None:
    person.platform = platform

    session = login(expire, confirm)

    first, second = (undrawn(text) for text in person.shown)
    assert first != second
    assert [code["state"] for code in person.codes()[-2:]] == ["expired", "confirmed"]
    assert "the code has expired: getting a new one" in person.heard
    assert session.state == "ok"


def test_a_code_is_read_from_its_picture_where_no_answer_says_what_it_is(
    login: Login, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xhs_login, "news", lambda path, answer: None)

    session = login(confirm)

    page_draws_it_with = "m"
    code = qr.encode(person.codes()[-1]["url"], error=page_draws_it_with)
    assert [undrawn(text) for text in person.shown] == [code]
    assert session.state == "ok"


def test_a_login_on_weibo_is_good_on_both_of_its_hosts(login: Login, person: Person) -> None:
    person.platform = "weibo"

    session = login(confirm)

    domains = {cookie.domain for cookie in session.cookies if cookie.name == "SUB"}
    assert domains == {".weibo.com", ".weibo.cn"}
    assert not [line for line in person.heard if line.startswith("no login on")]


def test_a_login_that_is_refused_on_the_phone_is_named(login: Login, person: Person) -> None:
    person.platform = "weibo"

    with pytest.raises(LoginFailed) as failure:
        login(lambda person: person.phone("refuse"))

    assert failure.value.verdict == "refused"
    assert_nothing_is_left(person)


@pytest.mark.parametrize(
    ("act", "what_was_missing"),
    [
        (nothing, "nobody scanned the code within 20 seconds"),
        (scan, "the code was scanned, but not confirmed on the phone within 20 seconds"),
    ],
)
def test_a_timeout_says_what_was_waited_for(
    login: Login,
    person: Person,
    tls_sandbox: RunningSandbox,
    act: Callable[[Person], None],
    what_was_missing: str,
) -> None:
    with pytest.raises(LoginFailed) as failure:
        login(act, timeout=20)

    assert (failure.value.verdict, failure.value.message) == ("timeout", what_was_missing)
    assert_nothing_is_left(person)
    assert tls_sandbox.stats()["unknown_hosts"] == {}


def test_a_changed_cookie_is_no_login_unless_the_platform_knows_who_it_is(
    login: Login, person: Person
) -> None:
    def confirm_and_lose_it(person: Person) -> None:
        person.phone("confirm", account="member-9")
        person.phone("expire-session", session="member-9")

    with pytest.raises(LoginFailed) as failure:
        login(confirm_and_lose_it, timeout=20)

    assert failure.value.verdict == "timeout"
    assert failure.value.message.startswith("the login was begun, but within 20 seconds")


def test_a_captcha_before_the_login_is_named_when_there_is_no_window(
    login: Login, tls_sandbox: RunningSandbox
) -> None:
    tls_sandbox.fault("461", path="/api/sns/web/v1/login/qrcode/create")

    with pytest.raises(LoginFailed) as failure:
        login()

    assert failure.value.verdict == "captcha"
    assert "\n" not in str(failure.value)


def test_a_platform_that_cannot_be_reached_is_named(login: Login, settings: Settings) -> None:
    settings.set("SANDBOX_URL", "http://127.0.0.1:9")

    with pytest.raises(LoginFailed) as failure:
        login()

    assert failure.value.verdict == "unreachable"
    assert "ERR_PROXY_CONNECTION_FAILED" in failure.value.message
    assert_no_browser_is_left()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_login_that_is_ended_leaves_nothing_behind(
    login: Login, person: Person, number: signal.Signals
) -> None:
    def soon(person: Person) -> None:  # while the login waits
        threading.Timer(0.2, os.kill, [os.getpid(), number]).start()

    with pytest.raises(KeyboardInterrupt):
        login(soon)

    assert person.shown
    assert_nothing_is_left(person)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_browser_that_ends_before_the_login_is_named(login: Login, person: Person) -> None:
    def end_the_browser(person: Person) -> None:
        for pid, name in descendants().items():
            if "chrom" in name:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    with pytest.raises(LoginFailed) as failure:
        login(end_the_browser)

    assert failure.value.verdict == "closed"
    assert_nothing_is_left(person)


# --- In a window ------------------------------------------------------------------------------


@pytest.fixture
def login_in_window(
    display: str, settings: Settings, person: Person, monkeypatch: pytest.MonkeyPatch
) -> Login:
    """Log in before a screen while *person* acts."""
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)

    def log_in(*acts: Callable[[Person], None], timeout: float = 60) -> Session:
        person.acts = list(acts)
        return login_with_qrcode(
            "xhs", settings=settings, account="main", timeout=timeout, say=person
        )

    return log_in


def test_where_there_is_a_display_the_login_has_a_window(
    login_in_window: Login, person: Person, tls_sandbox: RunningSandbox
) -> None:
    browsers = []

    def look_and_confirm(person: Person) -> None:
        browsers.append(command_lines())
        confirm(person)

    session = login_in_window(look_and_confirm)

    assert session.state == "ok"
    assert "--type=renderer" in browsers[0]
    assert "--headless" not in browsers[0]
    assert "Headless" not in (session.user_agent or "")
    assert tls_sandbox.stats()["unknown_hosts"] == {}
    assert_nothing_is_left(person)


def test_closing_the_window_ends_the_login(
    login_in_window: Login, person: Person, display: str
) -> None:
    closed = []

    with pytest.raises(LoginFailed) as failure:
        login_in_window(lambda person: closed.append(close_windows(display)))

    assert closed[0] > 0
    assert str(failure.value) == "closed: the browser was closed before the login was done"
    assert_nothing_is_left(person)


def test_a_captcha_before_the_login_is_left_to_the_person_at_the_window(
    login_in_window: Login, person: Person, tls_sandbox: RunningSandbox
) -> None:
    tls_sandbox.fault("461", path="/api/sns/web/v1/login/qrcode/create")

    with pytest.raises(LoginFailed) as failure:
        login_in_window(timeout=20)

    assert "the platform wants a captcha solved: do it in the window" in person.heard
    assert failure.value.verdict == "timeout"
    assert failure.value.message == "nobody solved the captcha within 20 seconds"


# --- Proxies ----------------------------------------------------------------------------------


PASSWORD = "sEcret-4711"


@pytest.fixture
def without_sandbox_url(chromium: Path, settings: Settings, tmp_path: Path) -> Settings:
    """Nothing but a proxy leads to the sandbox, whose certificate nobody has signed."""
    program = tmp_path / "chromium"
    program.write_text(f'#!/bin/sh\nexec "{chromium}" --ignore-certificate-errors "$@"\n')
    program.chmod(0o755)
    settings.set("CHROMIUM_PATH", str(program))
    settings.set("SANDBOX_URL", None)
    return settings


def listed(tmp_path: Path, *urls: str) -> str:
    """The setting PROXIES that names these."""
    path = tmp_path / "proxies.txt"
    path.write_text("".join(f"{url}\n" for url in urls), "utf-8")
    return f"@{path}"


def command_lines() -> str:
    """What everybody can read of the processes below this one."""
    lines = []
    for pid in descendants():
        with suppress(OSError):
            lines.append(Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace"))
    return "\n".join(lines)


@pytest.mark.parametrize("kind", [LocalProxy, LocalSocks])
def test_a_login_goes_through_the_proxy_that_a_crawl_would_be_given(
    login: Login,
    person: Person,
    without_sandbox_url: Settings,
    tls_sandbox: RunningSandbox,
    tmp_path: Path,
    kind: type[LocalProxy],
) -> None:
    target = (tls_sandbox.host, tls_sandbox.port)
    seen = []

    def look_and_confirm(person: Person) -> None:
        seen.append(command_lines())
        confirm(person)

    with kind(target, user="anna", password=PASSWORD) as proxy, LocalProxy(target) as other:
        dead = f"http://127.0.0.1:{closed_port()}"
        without_sandbox_url.set("PROXIES", listed(tmp_path, dead, proxy.url, other.url))
        session = login(look_and_confirm)

    assert session.state == "ok"
    assert session.proxy == proxy.url
    hosts = {asked.split(":")[0] for asked in proxy.asked_for}
    assert {"www.xiaohongshu.com", "edith.xiaohongshu.com"} <= hosts
    assert other.asked_for == []
    assert "--type=renderer" in seen[0]
    assert PASSWORD not in "\n".join([*seen, *person.heard])
    assert f"going through {proxy.scheme}://{proxy.name}" in person.heard
    assert_nothing_is_left(person)


def test_an_account_s_own_proxy_is_the_only_one_that_is_tried(
    without_sandbox_url: Settings, tls_sandbox: RunningSandbox, person: Person, headless: None
) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with LocalProxy((tls_sandbox.host, tls_sandbox.port)) as other:
        without_sandbox_url.set("PROXIES", other.url)
        with pytest.raises(LoginFailed) as failure:
            login_with_qrcode(
                "xhs",
                settings=without_sandbox_url,
                account="main",
                timeout=30,
                say=person,
                proxy=f"http://anna:{PASSWORD}@{dead}",
            )

    assert failure.value.verdict == "unreachable"
    assert failure.value.message == f"no proxy works: {dead} (refused: connection refused)"
    assert other.asked_for == []


def test_browser_and_check_of_a_login_leave_by_the_same_proxy_which_stays_lent(
    without_sandbox_url: Settings, tls_sandbox: RunningSandbox, person: Person, tmp_path: Path
) -> None:
    target = (tls_sandbox.host, tls_sandbox.port)
    me = "edith.xiaohongshu.com/api/sns/web/v2/user/me"
    with LocalSocks(target, user="anna", password=PASSWORD) as first, LocalProxy(target) as second:
        without_sandbox_url.set("PROXIES", listed(tmp_path, first.url, second.url))
        done = log_in_by_command(without_sandbox_url, person, "--account", "main")

    assert done.returncode == 0, done.stdout
    assert tls_sandbox.stats()["by_path"][me] >= 2  # the page's own question, and the check
    assert first.asked_for
    assert second.asked_for == []
    assert PASSWORD not in done.stdout
    stored = json.loads((person.folder / "xhs" / "main.json").read_text("utf-8"))
    assert (stored["state"], stored["proxy"]) == ("ok", None)


def test_a_proxy_that_is_given_to_the_login_is_the_account_s(
    without_sandbox_url: Settings, tls_sandbox: RunningSandbox, person: Person, tmp_path: Path
) -> None:
    with LocalProxy((tls_sandbox.host, tls_sandbox.port), user="anna", password=PASSWORD) as proxy:
        done = log_in_by_command(
            without_sandbox_url, person, "--account=main", "--proxy", listed(tmp_path, proxy.url)
        )

    assert done.returncode == 0, done.stdout
    assert "www.xiaohongshu.com:443" in proxy.asked_for
    assert PASSWORD not in done.stdout
    stored = json.loads((person.folder / "xhs" / "main.json").read_text("utf-8"))
    assert stored["proxy"] == proxy.url


def log_in_by_command(
    settings: Settings, person: Person, *words: str
) -> subprocess.CompletedProcess[str]:
    """Run ``scrapy login``; the person confirms the first code that is shown."""
    names = ("CHROMIUM_PATH", "SANDBOX_URL", "SESSIONS_DIR", "PROXIES")
    given = [f"{name}={settings[name]}" for name in names if settings[name]]
    given += ["BACKOFF_BASE=0.02", "DOWNLOAD_DELAY=0"]
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "scrapy", "login", person.platform, *words),
            *(word for setting in given for word in ("-s", setting)),
        ],
        cwd=ROOT,
        env={k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    heard = []
    for line in process.stdout:
        heard.append(line)
        if line.startswith("scan this code"):
            confirm(person)
    return subprocess.CompletedProcess(process.args, process.wait(60), "".join(heard))


# --- The user's own browser -------------------------------------------------------------------


@dataclass
class RunningChrome:
    """A Chromium that somebody has started with a debugging port on loopback."""

    process: subprocess.Popen[bytes]
    url: str

    def tabs(self) -> list[str]:
        with urllib.request.urlopen(f"{self.url}/json/list", timeout=5) as answer:
            return sorted(tab["id"] for tab in json.load(answer) if tab["type"] == "page")

    def visit_as(self, line: str, domain: str) -> None:
        """Put the cookies of a header line into the browser, as a login there would."""

        async def put() -> None:
            from playwright.async_api import async_playwright

            async with async_playwright() as playwright:
                browser = await playwright.chromium.connect_over_cdp(self.url)
                pairs = (pair.split("=", 1) for pair in line.split("; "))
                await browser.contexts[0].add_cookies(
                    [{"name": n, "value": v, "domain": domain, "path": "/"} for n, v in pairs]
                )

        asyncio.run(put())


@pytest.fixture
def chrome(chromium: Path, tls_sandbox: RunningSandbox, tmp_path: Path) -> Iterator[RunningChrome]:
    profile = tmp_path / "profile"
    process = subprocess.Popen(
        [
            str(chromium),
            "--headless=new",
            "--disable-gpu",
            *QUIET,
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            "--remote-debugging-address=127.0.0.1",
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
            f"--proxy-server={tls_sandbox.url}",
            "--ignore-certificate-errors",
            "about:blank",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield RunningChrome(process, f"http://127.0.0.1:{debug_port(process, profile)}")
    finally:
        process.terminate()
        process.wait(10)


def debug_port(process: subprocess.Popen[bytes], profile: Path) -> int:
    """The free port that a Chromium has chosen, once it listens."""
    told = profile / "DevToolsActivePort"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        assert process.poll() is None, "Chromium has ended"
        if told.exists() and "\n" in told.read_text():
            return int(told.read_text().split("\n")[0])
        time.sleep(0.1)
    raise AssertionError("Chromium opened no debugging port")


def test_the_session_of_a_running_chrome_is_taken_and_chrome_stays_open(
    chrome: RunningChrome, settings: Settings, tls_sandbox: RunningSandbox
) -> None:
    line = tls_sandbox.cookies("member-2")
    chrome.visit_as(line, ".xiaohongshu.com")
    chrome.visit_as("login=of-my-bank", ".bank.example")
    tabs = chrome.tabs()

    session = login_from_browser("xhs", settings=settings, account="mine", cdp_url=chrome.url)

    taken = values(session)
    assert {pair.split("=", 1)[0] for pair in line.split("; ")} <= set(taken)
    assert f"web_session={taken['web_session']}" in line
    assert "login" not in taken
    assert (session.account, session.state) == ("mine", "ok")
    assert "Chrome" in (session.user_agent or "")
    assert chrome.process.poll() is None
    assert chrome.tabs() == tabs


def test_the_command_stores_the_session_of_a_running_chrome_and_leaves_it_alone(
    chrome: RunningChrome, settings: Settings, tls_sandbox: RunningSandbox, person: Person
) -> None:
    chrome.visit_as(tls_sandbox.cookies("member-2"), ".xiaohongshu.com")
    chrome.visit_as("login=of-my-bank", ".bank.example")
    tabs = chrome.tabs()

    done = log_in_by_command(
        settings, person, "--method=browser", "--cdp", chrome.url, "--account=mine"
    )

    assert done.returncode == 0, done.stdout
    assert "stored as account 'mine'" in done.stdout
    stored = (person.folder / "xhs" / "mine.json").read_text("utf-8")
    assert json.loads(stored)["state"] == "ok"
    assert "of-my-bank" not in stored
    assert chrome.process.poll() is None
    assert chrome.tabs() == tabs


def test_the_command_stores_nothing_of_a_running_chrome_without_a_login(
    chrome: RunningChrome, settings: Settings, person: Person
) -> None:
    tabs = chrome.tabs()

    done = log_in_by_command(settings, person, "--cdp", chrome.url)

    assert done.returncode == 6, done.stdout
    assert "nobody is logged in to xhs in that browser: log in there" in done.stdout
    assert not person.folder.exists()
    assert chrome.process.poll() is None
    assert chrome.tabs() == tabs


def test_a_browser_on_this_machine_is_never_asked_for_through_a_proxy(
    chrome: RunningChrome,
    settings: Settings,
    tls_sandbox: RunningSandbox,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chrome.visit_as(tls_sandbox.cookies("member-3"), ".xiaohongshu.com")
    for name in ("http_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "intranet.example")

    session = login_from_browser("xhs", settings=settings, account="mine", cdp_url=chrome.url)

    assert session.state == "ok"
    assert os.environ["NO_PROXY"] == "intranet.example"


@pytest.mark.parametrize("kind", ["guest", "expired", None])
def test_a_running_chrome_without_a_login_is_named_and_stays_open(
    chrome: RunningChrome, settings: Settings, tls_sandbox: RunningSandbox, kind: str | None
) -> None:
    if kind is not None:
        chrome.visit_as(tls_sandbox.cookies(kind), ".xiaohongshu.com")
    tabs = chrome.tabs()

    with pytest.raises(LoginFailed) as failure:
        login_from_browser("xhs", settings=settings, account="mine", cdp_url=chrome.url)

    assert failure.value.verdict == "login_required"
    assert chrome.tabs() == tabs


@pytest.mark.parametrize(
    "address",
    [
        "http://192.168.1.5:9222",
        "http://chrome.example:9222",
        "http://localhost.example:9222",
        "http://0.0.0.0:9222",
        "http://127.0.0.1.nip.example:9222",
        "http://127.0.0.1@chrome.example:9222",
        "https://[::1",
        "file:///tmp/chrome",
        "9222",
        "",
    ],
)
def test_debugging_ports_elsewhere_are_refused(address: str) -> None:
    with pytest.raises(UsageProblem, match="--cdp takes the address of a browser on this machine"):
        check_loopback(address)


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:9222", "http://localhost:9222", "ws://[::1]:9222/devtools"]
)
def test_debugging_ports_on_this_machine_are_accepted(address: str) -> None:
    check_loopback(address)


def test_an_address_where_nothing_listens_is_a_problem_of_usage(settings: Settings) -> None:
    with pytest.raises(UsageProblem, match="--remote-debugging-port=9222"):
        login_from_browser("xhs", settings=settings, account="mine", cdp_url="http://127.0.0.1:9")
