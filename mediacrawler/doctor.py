"""What ``scrapy doctor`` looks at: is everything there that a crawl or a login needs here?

One function a topic; each gives lines with what to do. Sends nothing to a platform and leaves no
files behind. Says no secrets: no cookie, no proxy, no address of a provider.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from packaging.requirements import Requirement

from mediacrawler.browser import find_chromium, launch_options, running_chromium
from mediacrawler.cookies import load_cookies
from mediacrawler.exceptions import UsageProblem
from mediacrawler.mux import find_ffmpeg
from mediacrawler.proxies import read_setting
from mediacrawler.sessions.store import SessionStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.settings import BaseSettings

    from mediacrawler.sessions import Session
    from mediacrawler.spiders.base import PlatformSpider

Level = Literal["ok", "warn", "fail"]

OLDEST_PYTHON = (3, 10)
RELEASED = datetime(2026, 11, 1, tzinfo=timezone.utc)
"""No machine that runs this can have an earlier date."""
LITTLE_SPACE = 1024**3
"""Bytes free below which a crawl with media will soon end."""
LOGIN_OLD = timedelta(days=30)
"""A session that was not checked for so long may well have ended."""
FOR_USERS = ("sandbox",)
"""Extras that are not only for those who change the project."""


@dataclass(frozen=True, slots=True)
class Check:
    """What was found about *topic*; *text* says what to do unless the level is ok.

    warn: something will not work or is unwise, crawls do; fail: nothing will work as it is set.
    """

    topic: str
    level: Level
    text: str


def python(version: tuple[int, int, int]) -> Check:
    """Is Python new enough?"""
    shown = ".".join(map(str, version))
    if version[:2] >= OLDEST_PYTHON:
        return Check("Python", "ok", f"{shown} ({sys.executable})")
    oldest = ".".join(map(str, OLDEST_PYTHON))
    return Check("Python", "fail", f"{shown} is too old: install {oldest} or newer")


def packages(requirements: Sequence[str] | None = None) -> Iterator[Check]:
    """Are the packages there, in versions that fit? *requirements*: None for the project's own."""
    if requirements is None:
        try:
            requirements = metadata.requires("mediacrawler") or []
        except metadata.PackageNotFoundError:
            yield Check("packages", "fail", "the project is not installed: pip install -e .")
            return
    wanted = [Requirement(text) for text in requirements]
    needed = [one for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
    problems = [problem for one in needed if (problem := package_problem(one))]
    if problems:
        yield Check("packages", "fail", f"{'; '.join(problems)}: pip install -e .")
    else:
        versions = [f"{one.name} {metadata.version(one.name)}" for one in needed[:2]]
        text = f"{', '.join(versions)} and {len(needed) - len(versions)} more"
        yield Check("packages", "ok", text)
    for extra in FOR_USERS:
        parts = [one for one in wanted if one.marker and one.marker.evaluate({"extra": extra})]
        lacking = [one.name for one in parts if one not in needed and package_problem(one)]
        state = f"not installed (pip install -e '.[{extra}]')" if lacking else "installed"
        yield Check("packages", "ok", f"extra {extra}: {state}")


def package_problem(requirement: Requirement) -> str | None:
    """Why the installed package does not fulfil *requirement*, or None."""
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return f"{requirement.name} is missing"
    if requirement.specifier.contains(version, prereleases=True):
        return None
    return f"{requirement.name} is {version}, {requirement.specifier} is needed"


async def browser(settings: BaseSettings) -> Check:
    """Is there a Chromium, and does it start? Crawls that need none work without it."""
    try:
        path = find_chromium(settings.get("CHROMIUM_PATH"))
    except UsageProblem as problem:
        level: Level = "fail" if settings.get("CHROMIUM_PATH") else "warn"
        return Check("browser", level, str(problem))
    try:
        async with running_chromium(launch_options(settings, headless=True)) as running:
            found = f"{path}, version {running.version}, starts"
    except UsageProblem as problem:
        return Check("browser", "fail", str(problem))
    if sys.platform != "win32" and os.geteuid() == 0:
        return Check(
            "browser", "warn", f"{found}, but as root without its sandbox: use another user"
        )
    return Check("browser", "ok", found)


def fonts() -> Check:
    """Can Chinese be seen in a browser window or a screenshot?"""
    program = shutil.which("fc-list")
    if program is None:
        return Check("fonts", "ok", "not looked for (there is no fc-list)")
    listed = subprocess.run(  # noqa: S603
        [program, ":lang=zh", "family"], capture_output=True, text=True, check=False
    )
    families = {line.strip() for line in listed.stdout.splitlines() if line.strip()}
    if families:
        return Check("fonts", "ok", f"{len(families)} for Chinese")
    return Check(
        "fonts", "warn", "none for Chinese: apt install fonts-noto-cjk (login pages show boxes)"
    )


def folder(setting: str, path: Path) -> Check:
    """Can files be written to the folder that *setting* names, or can it be created?"""
    present = path
    while not present.exists() and present != present.parent:
        present = present.parent
    try:
        with tempfile.TemporaryFile(dir=present):
            pass
    except OSError as error:
        reason = error.strerror or error
        return Check("folders", "fail", f"{setting}={path} cannot be written: {reason}")
    free = shutil.disk_usage(present).free
    shown = f"{setting}={path} can be written, {free / 1024**3:.1f} GiB free"
    if free < LITTLE_SPACE:
        return Check("folders", "warn", f"{shown}: make room before downloading media")
    return Check("folders", "ok", shown)


def clock(now: datetime) -> Check:
    """Can the machine's time be right? Signatures, cookies and cool-downs depend on it."""
    utc = now.astimezone(timezone.utc)
    shown = f"{utc:%Y-%m-%d %H:%M} UTC, local zone {now:%Z} ({now:%z})"
    if utc < RELEASED:
        return Check("clock", "fail", f"{shown} is in the past: set it (timedatectl set-ntp true)")
    return Check("clock", "ok", shown)


def sessions(store: SessionStore, now: datetime) -> Iterator[Check]:
    """What is known of each stored login?"""
    names = store.names()
    if not names:
        yield Check("sessions", "ok", f"none in {store.folder}: scrapy login PLATFORM stores one")
    for platform, account in names:
        try:
            yield session(store.load(platform, account), store.path(platform, account), now)
        except UsageProblem as problem:
            yield Check("sessions", "warn", str(problem))


def session(one: Session, path: Path, now: datetime) -> Check:
    """What is known of a login, and whether only its owner can read it."""
    if os.name == "posix" and path.stat().st_mode & 0o077:
        return Check("sessions", "warn", f"{one.slot} can be read by others: chmod 600 {path}")
    reason = f" ({one.reason})" if one.reason else ""
    if one.cool_until and one.cool_until > now:
        until = f"{one.cool_until.astimezone(timezone.utc):%Y-%m-%d %H:%M} UTC"
        return Check("sessions", "warn", f"{one.slot}: {one.state}{reason}, rests until {until}")
    again = f"scrapy login {one.platform} --account {one.account}"
    if one.state in ("expired", "guest"):
        return Check("sessions", "warn", f"{one.slot}: {one.state}{reason}: {again}")
    if one.checked_at is None or now - one.checked_at > LOGIN_OLD:
        return Check(
            "sessions", "ok", f"{one.slot}: {one.state}, not checked lately: scrapy accounts check"
        )
    checked = f"{one.checked_at.astimezone(timezone.utc):%Y-%m-%d %H:%M} UTC"
    return Check("sessions", "ok", f"{one.slot}: {one.state}{reason}, checked {checked}")


def cookies(
    settings: BaseSettings,
    spiders: Sequence[type[PlatformSpider]],
    environ: Mapping[str, str],
) -> Iterator[Check]:
    """Do the cookies that the user has put down hold what a crawl needs?"""
    for spider in spiders:
        named = settings.get(f"{spider.name.upper()}_COOKIES_FILE")
        file = Path(named).expanduser() if named else None
        try:
            found = load_cookies(spider.name, environ, Path(settings["COOKIES_DIR"]), file)
        except UsageProblem as problem:
            yield Check("cookies", "fail", str(problem))
            continue
        if not found:
            continue
        now = datetime.now(timezone.utc).timestamp()
        names = {cookie.name for cookie in found if cookie.value and not cookie.expired(now)}
        missing = [name for name in spider.required_cookies if name not in names]
        if missing:
            text = f"{spider.name}: {', '.join(missing)} missing or expired: copy them again"
            yield Check("cookies", "warn", text)
        else:
            yield Check("cookies", "ok", f"{spider.name}: {len(found)}, what a crawl needs")


def proxies(settings: BaseSettings, now: datetime) -> Check:
    """Which proxies are configured? Whether they work is ``scrapy proxies check``'s to say."""
    try:
        listed = read_setting(settings["PROXIES"], now.timestamp())
    except UsageProblem as problem:
        return Check("proxies", "fail", str(problem))
    parts = [f"{len(listed)} in PROXIES"] if listed else []
    if settings["PROXY_PROVIDER_URL"] or settings["PROXY_PROVIDER_COMMAND"]:
        parts.append("fresh ones from a provider")
    if not parts:
        return Check("proxies", "ok", "none: requests go straight to the platforms")
    return Check("proxies", "ok", f"{' and '.join(parts)}: scrapy proxies check tries them")


def ffmpeg(settings: BaseSettings) -> Check:
    """Can a video be joined with its sound where a platform serves two files?"""
    try:
        path = find_ffmpeg(settings["FFMPEG"])
    except UsageProblem as problem:
        return Check("ffmpeg", "fail", str(problem))
    if path is not None:
        return Check("ffmpeg", "ok", path)
    if settings["FFMPEG"] == "":
        return Check("ffmpeg", "ok", "off (FFMPEG): pictures and sound of a video stay apart")
    return Check(
        "ffmpeg",
        "warn",
        "none: videos in two files stay apart: apt install ffmpeg (or FFMPEG=path)",
    )


async def examine(settings: BaseSettings, spiders: Sequence[type[PlatformSpider]]) -> list[Check]:
    """All of the above, in the order in which they are shown."""
    now = datetime.now().astimezone()
    store = SessionStore(Path(settings["SESSIONS_DIR"]))
    found = [python(sys.version_info[:3]), *packages(), await browser(settings), fonts()]
    for setting in ("SAVE_DATA_PATH", "SESSIONS_DIR"):
        found.append(folder(setting, Path(settings[setting]).expanduser()))
    found += [clock(now), *sessions(store, now), *cookies(settings, spiders, os.environ)]
    found += [proxies(settings, now), ffmpeg(settings)]
    return found
