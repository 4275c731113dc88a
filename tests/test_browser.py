"""Finding Chromium and what it is started with; no browser is started here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from scrapy.settings import Settings

from mediacrawler import browser
from mediacrawler.cookies import Cookie
from mediacrawler.exceptions import UsageProblem
from mediacrawler.sessions import Session


class Machine:
    """A machine with nothing on its PATH, and folders to put programs into."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.playwright = folder / "ms-playwright"
        self.bin.mkdir()

    def program(self, path: str, mode: int = 0o755) -> Path:
        program = self.bin.parent / path
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(mode)
        return program


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path)
    monkeypatch.setenv("PATH", str(machine.bin))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(machine.playwright))
    monkeypatch.setattr(browser, "APPLICATIONS", {})
    return machine


@pytest.mark.parametrize("name", ["chromium", "google-chrome", "microsoft-edge", "msedge"])
def test_chromium_chrome_and_edge_are_found_by_name(machine: Machine, name: str) -> None:
    program = machine.program(f"bin/{name}")

    assert browser.find_chromium(None) == program


def test_chromium_is_preferred_to_other_browsers_of_the_system(machine: Machine) -> None:
    machine.program("bin/google-chrome")
    chromium = machine.program("bin/chromium")

    assert browser.find_chromium(None) == chromium


@pytest.mark.parametrize("folder", ["chrome-linux", "chrome-linux64"])
def test_playwrights_newest_chromium_goes_before_the_systems(machine: Machine, folder: str) -> None:
    machine.program("bin/chromium")
    machine.program(f"ms-playwright/chromium-999/{folder}/chrome")
    newest = machine.program(f"ms-playwright/chromium-1200/{folder}/chrome")
    machine.program("ms-playwright/chromium_headless_shell-1300/chrome-linux/headless_shell")

    assert browser.find_chromium(None) == newest


@pytest.mark.parametrize("by", ["path", "name"])
def test_the_setting_goes_before_everything(machine: Machine, by: str) -> None:
    machine.program("ms-playwright/chromium-1200/chrome-linux/chrome")
    machine.program("bin/chromium")
    mine = machine.program("bin/my-browser")

    assert browser.find_chromium(str(mine) if by == "path" else mine.name) == mine


def test_a_setting_that_leads_nowhere_is_refused_and_not_replaced(machine: Machine) -> None:
    machine.program("bin/chromium")

    with pytest.raises(UsageProblem, match=r"CHROMIUM_PATH=/no/such/chrome: "):
        browser.find_chromium("/no/such/chrome")


def test_without_a_browser_the_message_names_the_command_that_installs_one(
    machine: Machine,
) -> None:
    machine.program("bin/chromium", mode=0o644)

    with pytest.raises(UsageProblem, match="`playwright install chromium`"):
        browser.find_chromium(None)


@pytest.mark.parametrize(
    ("environ", "system", "expected"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ""}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({}, "darwin", True),
        ({}, "win32", True),
    ],
)
def test_a_display_is_recognised(environ: dict[str, str], system: str, expected: bool) -> None:
    assert browser.has_display(environ, system) is expected


def options(machine: Machine, uid: int = 1000, **settings: str) -> dict[str, object]:
    machine.program("bin/chromium")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.geteuid", lambda: uid)
        return browser.launch_options(Settings(settings), headless=True)


def test_there_is_no_debug_port_unless_asked_and_then_on_loopback(machine: Machine) -> None:
    machine.program("bin/chromium")
    asked = browser.launch_options(Settings(), headless=True, debug_port=9333)["args"]

    assert not [word for word in options(machine)["args"] if "remote" in word]
    assert {"--remote-debugging-address=127.0.0.1", "--remote-debugging-port=9333"} <= set(asked)


def test_chromiums_sandbox_is_off_only_for_root_and_a_warning_says_so(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    assert options(machine)["chromium_sandbox"] is True
    assert not caplog.messages
    assert options(machine, uid=0)["chromium_sandbox"] is False
    assert "as root" in caplog.text


def test_certificates_are_unchecked_only_before_the_sandbox(machine: Machine) -> None:
    sandboxed = options(machine, SANDBOX_URL="http://127.0.0.1:8787")

    assert "--ignore-certificate-errors" in sandboxed["args"]
    assert sandboxed["proxy"]["server"] == "http://127.0.0.1:8787"
    assert "--ignore-certificate-errors" not in options(machine)["args"]
    assert "proxy" not in options(machine)


@pytest.mark.parametrize(
    ("url", "server", "login"),
    [
        ("http://10.0.0.1:8080", "http://10.0.0.1:8080", (None, None)),
        ("http://me:p%40ss@proxy.example:8080", "http://proxy.example:8080", ("me", "p@ss")),
        ("https://me@proxy.example", "https://proxy.example", ("me", "")),
        ("socks5://[2001:db8::1]:1080", "socks5://[2001:db8::1]:1080", (None, None)),
    ],
)
def test_proxy_credentials_are_kept_apart_from_the_server(
    url: str, server: str, login: tuple[str | None, str | None]
) -> None:
    proxy = browser.proxy_options(url)

    assert proxy["server"] == server
    assert (proxy.get("username"), proxy.get("password")) == login
    assert "127.0.0.1" in proxy["bypass"]


@pytest.mark.parametrize("url", ["ftp://p.example", "http://", "socks5://me:hunter2@p.example"])
def test_proxies_that_chromium_cannot_use_are_refused_without_quoting_them(url: str) -> None:
    with pytest.raises(UsageProblem) as refusal:
        browser.proxy_options(url)

    assert "hunter2" not in str(refusal.value)


def test_a_context_carries_what_belongs_to_its_session() -> None:
    origin = {"origin": "https://www.site.example", "localStorage": []}
    session = Session(
        "xhs",
        "main",
        cookies=[Cookie("a", "x=y=", ".site.example"), Cookie("homeless", "1")],
        user_agent="Agent 1",
        proxy="http://10.0.0.1:8080",
        storage=[origin],
    )

    context = browser.context_options(session)

    assert [cookie["name"] for cookie in context["storage_state"]["cookies"]] == ["a"]
    assert context["storage_state"]["cookies"][0]["value"] == "x=y="
    assert context["storage_state"]["origins"] == [origin]
    assert context["user_agent"] == "Agent 1"
    assert context["proxy"]["server"] == "http://10.0.0.1:8080"
    assert "proxy" not in browser.context_options(session, sandbox_url="http://127.0.0.1:8787")


@pytest.mark.parametrize(
    ("report", "named"),
    [
        ("Target closed\nFATAL: No usable sandbox! If you...", "user namespaces"),
        ("x: error while loading shared libraries: libnss3.so: cannot open", "libnss3.so"),
        ("Missing X server or $DISPLAY", "DISPLAY"),
        ("Failed to connect to Wayland display: no such file", "DISPLAY"),
        ("launch failed\n  - [pid=7][err] first\n  - [pid=7][err] the disk is full\n", "disk is"),
        ("something new", "something new"),
        ("", "no reason given"),
    ],
)
def test_a_browser_that_does_not_start_is_explained_in_one_line(report: str, named: str) -> None:
    message = browser.start_problem(report, "/usr/bin/chromium")

    assert named in message
    assert "\n" not in message


def test_importing_the_module_does_not_import_playwright() -> None:
    code = "import sys, mediacrawler.browser; sys.exit('playwright' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
