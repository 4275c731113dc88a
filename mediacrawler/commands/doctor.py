"""``scrapy doctor``: is everything there that crawls and logins need on this machine?"""

from __future__ import annotations

import argparse
import asyncio
import logging
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader

from mediacrawler.report import EXIT_CODES

if TYPE_CHECKING:
    from mediacrawler.doctor import Level

COLOURS: dict[Level, str] = {"ok": "green", "warn": "yellow", "fail": "bold red"}


class Command(ScrapyCommand):
    """One line a finding: ok, warn or fail, and what to do. Exit code 1 if something fails."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return ""

    def short_desc(self) -> str:
        return "Check Python, packages, browser, folders, sessions, proxies and ffmpeg"

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        # Imported here: Scrapy imports all commands for each, and only this one needs these.
        from rich.console import Console
        from rich.text import Text

        from mediacrawler.doctor import examine

        if args:
            raise UsageError("doctor takes no arguments")
        assert self.settings
        # What is logged on the way is told in the lines below.
        logging.getLogger("mediacrawler").addHandler(logging.NullHandler())
        loader = get_spider_loader(self.settings)
        spiders = [loader.load(name) for name in sorted(loader.list())]
        found = asyncio.run(examine(self.settings, spiders))  # type: ignore[arg-type]
        console = Console(soft_wrap=True, highlight=False)
        for check in found:
            line = Text(f"{check.level:<5}", style=COLOURS[check.level])
            console.print(line.append(f"{check.topic:<10}{check.text}", style="default"))
        if any(check.level == "fail" for check in found):
            self.exitcode = EXIT_CODES["error"]
