"""Chromium for logins and challenges: where it is, how it is started, whose context it opens.

Must not import Playwright when it is imported: a crawl that needs no browser must not pay for
one. Knows no platform. Nothing here hides that the browser is driven by a program.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from mediacrawler.exceptions import UsageProblem

if TYPE_CHECKING:
    from playwright.async_api import Browser
    from scrapy.settings import BaseSettings

    from mediacrawler.sessions import Session

logger = logging.getLogger(__name__)

COMMAND_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "msedge",
)
"""What Chromium, Chrome and Edge are called on the PATH, in the order of preference."""

APPLICATIONS = {
    "darwin": (
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    ),
    "win32": (
        r"%ProgramFiles%\Google\Chrome\Application\chrome.exe",
        r"%ProgramFiles(x86)%\Google\Chrome\Application\chrome.exe",
        r"%LocalAppData%\Google\Chrome\Application\chrome.exe",
        r"%LocalAppData%\Chromium\Application\chrome.exe",
        r"%ProgramFiles(x86)%\Microsoft\Edge\Application\msedge.exe",
        r"%ProgramFiles%\Microsoft\Edge\Application\msedge.exe",
    ),
}
"""Where systems that do not use the PATH for applications keep them."""

PLAYWRIGHT_CACHES = {
    "darwin": "~/Library/Caches/ms-playwright",
    "win32": r"%LocalAppData%\ms-playwright",
}
PLAYWRIGHT_CACHE = "~/.cache/ms-playwright"
PLAYWRIGHT_PROGRAMS = (
    "chrome-linux*/chrome",
    "chrome-mac*/*.app/Contents/MacOS/*",
    "chrome-win*/chrome.exe",
)

NOWHERE = "https://127.0.0.1:1"
"""An address that Chromium never connects to, by a proxy or without: it takes port 1 for unsafe."""

# No --disable-features here: it would replace Playwright's own, which keep more quiet.
QUIET = (
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    f"--component-updater=url-source={NOWHERE}",  # models are fetched in spite of the line above
    f"--gaia-url={NOWHERE}",  # where it asks at every start which Google accounts there are
    f"--autofill-server-url={NOWHERE}",  # whom it asks what the fields of a login page mean
    "--disable-sync",
    "--disable-quic",  # proxies and the sandbox speak TCP
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",  # pages learn the address by UDP
)
"""The browser talks to the platform only, not to its maker, and never past its proxy."""

LOCALE = "zh-CN"  # as the spiders' Accept-Language; the texts of the sites depend on it
LOOPBACK = "127.0.0.1"
LOOPBACK_HOSTS = ("localhost", LOOPBACK, "::1")
# The first rule takes away Chromium's own idea of loopback, the others then hold in any case.
NEVER_PROXIED = "<-loopback>,localhost,127.0.0.1,[::1]"
ATTACH_TIMEOUT = 10_000.0  # milliseconds for a running browser to answer
PROXY_SCHEMES = ("http", "https", "socks5")


def find_chromium(settings_value: str | None) -> Path:
    """The browser to use: the setting CHROMIUM_PATH, Playwright's own, the system's.

    :param settings_value: CHROMIUM_PATH; a path, or a command name on the PATH.
    :raises UsageProblem: the setting names nothing that can be run, or there is no browser at
        all; the message says which command installs one.
    """
    if settings_value:
        return _named(settings_value)
    for path in (*_playwright_browsers(), *_system_browsers()):
        if _runnable(path):
            return path
    raise UsageProblem(
        "no Chromium, Chrome or Edge found: `playwright install chromium` gets one (on Debian "
        "and Ubuntu also `apt install chromium`), or CHROMIUM_PATH names yours"
    )


def _named(value: str) -> Path:
    found = shutil.which(os.path.expanduser(value))
    if found is None:
        raise UsageProblem(f"CHROMIUM_PATH={value}: there is no program that can be run")
    return Path(found)


def _playwright_browsers() -> list[Path]:
    """What ``playwright install chromium`` has put on this machine, the newest first."""
    chosen = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    if chosen == "0":  # beside the package itself
        return []
    folder = Path(_expand(chosen or PLAYWRIGHT_CACHES.get(sys.platform, PLAYWRIGHT_CACHE)))
    revisions = [path for path in folder.glob("chromium-*") if re.search(r"-\d+$", path.name)]
    revisions.sort(key=lambda path: int(path.name.rpartition("-")[2]), reverse=True)
    return [
        program
        for revision in revisions
        for pattern in PLAYWRIGHT_PROGRAMS
        for program in sorted(revision.glob(pattern))
    ]


def _system_browsers() -> Iterator[Path]:
    for name in COMMAND_NAMES:
        found = shutil.which(name)
        if found is not None:
            yield Path(found)
    for path in APPLICATIONS.get(sys.platform, ()):
        yield Path(_expand(path))


def _expand(path: str) -> str:
    return os.path.expanduser(os.path.expandvars(path))


def _runnable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def has_display(environ: Mapping[str, str] | None = None, system: str = sys.platform) -> bool:
    """Whether a window could be seen by somebody: macOS, Windows, or an X11 or Wayland display."""
    if system in ("darwin", "win32"):
        return True
    environ = os.environ if environ is None else environ
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def launch_options(
    settings: BaseSettings,
    *,
    headless: bool,
    proxy: str | None = None,
    debug_port: int | None = None,
) -> dict[str, Any]:
    """Arguments of Playwright's ``chromium.launch``.

    :param settings: CHROMIUM_PATH and SANDBOX_URL are read.
    :param proxy: a URL for all contexts; `context_options` gives each session its own.
    :param debug_port: opens a debugging port on loopback; without it there is none (Playwright
        talks to the browser through a pipe).
    :raises UsageProblem: no browser, or a proxy that Chromium cannot use.

    With SANDBOX_URL everything goes to the sandbox, whose certificate nobody has signed: only
    then certificates are not checked.
    """
    arguments = list(QUIET)
    if headless:
        arguments.append("--disable-gpu")
    elif os.environ.get("WAYLAND_DISPLAY") and not os.environ.get("DISPLAY"):
        arguments.append("--ozone-platform=wayland")  # Chromium looks for X11 only
    if debug_port is not None:
        arguments += [
            f"--remote-debugging-address={LOOPBACK}",
            f"--remote-debugging-port={debug_port}",
        ]
    options: dict[str, Any] = {
        "executable_path": str(find_chromium(settings.get("CHROMIUM_PATH"))),
        "headless": headless,
        "args": arguments,
        "chromium_sandbox": not _is_root(),
        # Ctrl-C comes to us, and we close the browser ourselves.
        "handle_sigint": False,
        "handle_sigterm": False,
        "handle_sighup": False,
    }
    if _is_root():
        logger.warning("Chromium cannot use its own sandbox as root: run it as another user")
    sandbox_url = settings.get("SANDBOX_URL")
    if sandbox_url:
        arguments.append("--ignore-certificate-errors")
        options["proxy"] = {"server": sandbox_url, "bypass": "<-loopback>"}
    elif proxy:
        options["proxy"] = proxy_options(proxy)
    return options


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def proxy_options(url: str) -> dict[str, str]:
    """A proxy URL as Playwright takes it. Credentials do not get into process arguments so.

    :raises UsageProblem: not a URL of a proxy that Chromium can use; credentials are not quoted.
    """
    parts = urlsplit(url)
    if parts.scheme not in PROXY_SCHEMES or not parts.hostname:
        raise UsageProblem(
            f"a browser cannot use this proxy: write {', '.join(PROXY_SCHEMES)}://host:port"
        )
    if parts.scheme == "socks5" and parts.username:
        raise UsageProblem(
            "Chromium cannot log in to a SOCKS5 proxy: use its HTTP port, or one without login"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    options = {"server": f"{parts.scheme}://{host}{port}", "bypass": NEVER_PROXIED}
    if parts.username:
        options["username"] = unquote(parts.username)
        options["password"] = unquote(parts.password or "")
    return options


def context_options(session: Session, *, sandbox_url: str | None = None) -> dict[str, Any]:
    """Arguments of Playwright's ``browser.new_context`` for one session.

    Its cookies, local storage, user agent and proxy: one context is one identity. With
    *sandbox_url* (SANDBOX_URL) the proxy is left out; the browser is bound to the sandbox.

    :raises UsageProblem: a proxy that Chromium cannot use.
    """
    options: dict[str, Any] = {
        "storage_state": {
            # Without a domain a cookie has no place in a browser.
            "cookies": [cookie.for_browser() for cookie in session.cookies if cookie.domain],
            "origins": session.storage,
        },
        "locale": LOCALE,
    }
    if session.user_agent:
        options["user_agent"] = session.user_agent
    if session.proxy and not sandbox_url:
        options["proxy"] = proxy_options(session.proxy)
    return options


@asynccontextmanager
async def running_chromium(options: dict[str, Any]) -> AsyncIterator[Browser]:
    """A browser started with `launch_options`, closed on every way out.

    :raises UsageProblem: it does not start; the reason in one line.
    """
    from playwright.async_api import Error, async_playwright

    async with async_playwright() as playwright:
        try:
            browser = await playwright.chromium.launch(**options)
        except Error as error:
            raise UsageProblem(start_problem(str(error), options["executable_path"])) from None
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def attached_chromium(cdp_url: str) -> AsyncIterator[Browser]:
    """A browser that runs already; it is let go on every way out, and never closed.

    :param cdp_url: its debugging port on loopback.
    :raises UsageProblem: nothing answers there.
    """
    from playwright.async_api import Error, async_playwright

    starting = async_playwright()
    with _loopback_unproxied():
        playwright = await starting.start()
    try:
        try:
            browser = await playwright.chromium.connect_over_cdp(cdp_url, timeout=ATTACH_TIMEOUT)
        except Error:
            raise UsageProblem(
                "no browser answers at the address of --cdp: start Chrome with "
                "--remote-debugging-port=9222 and a --user-data-dir of your own"
            ) from None
        yield browser
    finally:
        await playwright.stop()  # ends the connection; Browser.close() could end the browser


@contextmanager
def _loopback_unproxied() -> Iterator[None]:
    """Programs started within do not ask for this machine through a proxy of the environment."""
    before = {name: os.environ.get(name) for name in ("NO_PROXY", "no_proxy")}
    for name, value in before.items():
        os.environ[name] = ",".join(filter(None, [value, *LOOPBACK_HOSTS]))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def start_problem(error: str, executable: str) -> str:
    """Why Chromium did not start and what to do, in one line, from Playwright's report."""
    if "No usable sandbox" in error or "namespace" in error:
        return (
            f"{executable} cannot use its sandbox here: allow unprivileged user namespaces on "
            "this machine, or (in a container) give it Chromium's seccomp profile"
        )
    if re.search("Missing X server|open display|connect to Wayland", error):
        return (
            f"{executable} cannot open a window: there is no display; unset DISPLAY and "
            "WAYLAND_DISPLAY to go on without one"
        )
    missing = re.search(r"error while loading shared libraries: (\S+?):", error)
    if missing:
        return (
            f"{executable} misses the library {missing[1]}: `playwright install-deps chromium` "
            "installs what it needs"
        )
    told = re.findall(r"\[err\] (.+)", error) or error.strip().splitlines() or ["no reason given"]
    return f"{executable} does not start: {told[-1]}"
