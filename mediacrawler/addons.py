"""The Scrapy add-on: settings that follow from other settings.

It sets defaults with the priority "addon", so whatever the user sets explicitly wins.
"""

from __future__ import annotations

import os
import secrets
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES

from mediacrawler.exceptions import UsageProblem
from mediacrawler.items import Comment, Creator, Post, field_names

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from typing_extensions import Self

FEED_FILES = {"posts": Post, "comments": Comment, "creators": Creator}
FORMATS = {"jsonl": "utf-8", "json": "utf-8", "csv": "utf-8-sig"}
"""Export formats and their encodings; the BOM lets spreadsheets recognise UTF-8."""

NUMBERS = (
    "DOWNLOAD_DELAY",
    "DOWNLOAD_TIMEOUT",
    "BACKOFF_BASE",
    "BACKOFF_MAX",
    "BACKOFF_LONGEST_RETRY_AFTER",
)
WHOLE_NUMBERS = ("RETRY_TIMES", "BACKOFF_GIVE_UP")
"""Settings that must be (whole) numbers of at least 0."""

CONSOLES = {
    "TELNETCONSOLE_ENABLED": "scrapy.extensions.telnet.TelnetConsole",
    "REMOTE_CONTROL_ENABLED": "scrapy.extensions.remote_control.RemoteControl",
}
"""Extensions of Scrapy that open a port, by the setting that switches them on."""


class MediaCrawlerAddon:
    """MAX_CONCURRENCY_NUM -> CONCURRENT_REQUESTS, EXPORT_FORMATS -> FEEDS."""

    def __init__(self, platform: str) -> None:
        self.platform = platform

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.spidercls.name)

    def update_settings(self, settings: BaseSettings) -> None:
        """Called by Scrapy once per crawl.

        :raises UsageProblem: a setting has a value that cannot work.
        """
        check_values(settings)
        expand_home(settings)
        set_concurrency(settings, self.platform)
        leave_out_consoles(settings)
        if settings.get("RUN_FOLDER") is None:
            settings.set("RUN_FOLDER", str(run_folder(settings, self.platform)), "addon")
        if not settings.getdict("FEEDS"):
            folder = Path(settings["RUN_FOLDER"])
            settings.set("FEEDS", feeds(folder, export_formats(settings)), "addon")


def check_values(settings: BaseSettings) -> None:
    """Refuse values that would only fail somewhere in the middle of a crawl.

    :raises UsageProblem: names the setting and what it may be.
    """
    for name in (*NUMBERS, *WHOLE_NUMBERS):
        try:
            value = settings.getint(name) if name in WHOLE_NUMBERS else settings.getfloat(name)
        except (TypeError, ValueError):
            value = -1
        if not value >= 0:
            kind = "whole number" if name in WHOLE_NUMBERS else "number"
            raise UsageProblem(f"{name}={settings[name]}: must be a {kind} of at least 0")
    try:
        settings.getbool("ANONYMIZE")
    except (TypeError, ValueError):
        raise UsageProblem(f"ANONYMIZE={settings['ANONYMIZE']}: choose True or False") from None


def expand_home(settings: BaseSettings) -> None:
    """Let SAVE_DATA_PATH begin with ``~``: shells leave it alone behind ``-s NAME=``."""
    path = str(settings["SAVE_DATA_PATH"])
    if path.startswith("~"):
        priority = settings.getpriority("SAVE_DATA_PATH") or "addon"
        settings.set("SAVE_DATA_PATH", os.path.expanduser(path), priority)


def set_concurrency(settings: BaseSettings, platform: str) -> None:
    """Work out how many requests may be in flight, and the delay that goes with it.

    CONCURRENT_REQUESTS given by the user beats ``<PLATFORM>_MAX_CONCURRENCY``, which beats
    MAX_CONCURRENCY_NUM. A platform has several hosts but one download slot, so the limit per
    slot is the same number.
    """
    if _set_by_user(settings, "CONCURRENT_REQUESTS"):
        name = "CONCURRENT_REQUESTS"
    elif settings.get(f"{platform.upper()}_MAX_CONCURRENCY") is not None:
        name = f"{platform.upper()}_MAX_CONCURRENCY"
    else:
        name = "MAX_CONCURRENCY_NUM"
    concurrency = _positive_int(settings, name)
    settings.set("CONCURRENT_REQUESTS", concurrency, "addon")
    settings.set("CONCURRENT_REQUESTS_PER_DOMAIN", concurrency, "addon")
    if not _set_by_user(settings, "DOWNLOAD_DELAY"):
        settings.set("DOWNLOAD_DELAY", 1 / concurrency, "addon")


def leave_out_consoles(settings: BaseSettings) -> None:
    """Take consoles that are off out of Scrapy's extensions.

    Scrapy imports them before it asks whether they are on, and with them a web server (aiohttp)
    and a terminal (twisted.conch): a fifth of the time that a crawl takes to start.
    """
    extensions = settings.getdict("EXTENSIONS_BASE")
    for switch, path in CONSOLES.items():
        if not settings.getbool(switch):
            extensions.pop(path, None)
    settings.set("EXTENSIONS_BASE", extensions, "addon")


def run_folder(settings: BaseSettings, platform: str) -> Path:
    """``<SAVE_DATA_PATH>/<platform>/<UTC time>-<short id>``: one folder a run."""
    started = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    return Path(settings["SAVE_DATA_PATH"]) / platform / f"{started}-{secrets.token_hex(3)}"


def feeds(folder: Path, formats: list[str]) -> dict[str, dict[str, Any]]:
    """Scrapy's FEEDS: one file for each kind of record and format."""
    return {
        str(folder / f"{name}.{extension}"): {
            "format": extension,
            "item_classes": [item_class],
            "fields": field_names(item_class),
            "encoding": FORMATS[extension],
            "overwrite": True,
            "store_empty": True,
        }
        for extension in formats
        for name, item_class in FEED_FILES.items()
    }


def export_formats(settings: BaseSettings) -> list[str]:
    """EXPORT_FORMATS as a list without repetitions.

    :raises UsageProblem: an unknown format, or none.
    """
    formats = [name.strip().lower() for name in settings.getlist("EXPORT_FORMATS")]
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise UsageProblem(f"EXPORT_FORMATS={','.join(formats)}: choose among {', '.join(FORMATS)}")
    return list(dict.fromkeys(formats))


def _set_by_user(settings: BaseSettings, name: str) -> bool:
    return (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["default"]


def _positive_int(settings: BaseSettings, name: str) -> int:
    try:
        number = int(settings[name])
    except (TypeError, ValueError):
        number = 0
    if number < 1:
        raise UsageProblem(f"{name}={settings[name]}: must be a whole number of at least 1")
    return number
