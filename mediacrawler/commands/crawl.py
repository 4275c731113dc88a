"""``scrapy crawl``, with exit codes that say how the crawl ended (docs/output.md)."""

from __future__ import annotations

import argparse
import logging
import sys
from importlib import import_module
from typing import Any

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError

from mediacrawler.exceptions import UsageProblem
from mediacrawler.extensions import CrawlReport
from mediacrawler.report import EXIT_CODES

EXIT_USAGE = 2
QUIET = ("scrapy.addons", "scrapy.crawler", "scrapy.middleware", "scrapy.utils.log")
"""What these say at every start is for developers: shown with LOG_LEVEL=DEBUG."""


class Command(CrawlCommand):
    """Scrapy's own command; mistakes of the user become one line, and the verdict the exit code."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one spider, for example: scrapy crawl xhs -a keywords=露营")
        assert self.crawler_process
        assert self.settings
        # Scrapy describes every record and answer at DEBUG, for nobody at any other level.
        logging.getLogger("scrapy.core").setLevel(self.settings["LOG_LEVEL"])
        if self.settings["LOG_LEVEL"] != "DEBUG":
            for name in QUIET:
                logging.getLogger(name).setLevel(logging.WARNING)
        try:
            crawler = self._create_crawler(args[0])
        except KeyError:
            known = ", ".join(sorted(self.crawler_process.spider_loader.list()))
            self._refuse(f"there is no spider '{args[0]}'; there are: {known}")
            return
        # Scrapy's TLS modules look at the whole call stack and all modules when they are imported:
        # from here that takes half of what it takes from deep within the crawl, a tenth of a start.
        import_module("scrapy.core.downloader.contextfactory")
        problems: list[BaseException] = []
        task: Any = self.crawler_process.crawl(crawler, **opts.spargs)
        task.add_done_callback(lambda done: problems.extend(filter(None, [done.exception()])))
        self.crawler_process.start()
        if problems and isinstance(problems[0], UsageProblem):
            self._refuse(str(problems[0]))
            return
        summary = crawler.get_extension(CrawlReport) if crawler._extensions else None
        if summary is not None and summary.verdict is not None:
            self.exitcode = EXIT_CODES[summary.verdict]
        else:
            self.exitcode = EXIT_CODES["error"]

    def _refuse(self, message: str) -> None:
        print(f"scrapy crawl: error: {message}", file=sys.stderr)
        self.exitcode = EXIT_USAGE
