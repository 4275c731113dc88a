"""Extensions: the report and the progress display. They read the ledger, and change nothing."""

from __future__ import annotations

import json
import logging
import sys
import time
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.log import get_scrapy_root_handler

from mediacrawler import report
from mediacrawler.feeds import RESERVE_BYTES, reserve_path, stop_on_disk_error
from mediacrawler.handlers import shared
from mediacrawler.items import iso_utc
from mediacrawler.middlewares import BackoffMiddleware, require_platform_spider
from mediacrawler.privacy import load_key, pseudonym

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from mediacrawler.spiders.base import PlatformSpider

logger = logging.getLogger(__name__)

REPORT_FILE = "report.json"


class CrawlReport:
    """Writes ``report.json`` into the run folder and says the summary; `verdict` is its word."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.folder = Path(crawler.settings["RUN_FOLDER"])
        self.started = datetime.now(timezone.utc).replace(microsecond=0)
        self.verdict: report.Verdict | None = None
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        require_platform_spider(crawler)
        return cls(crawler)

    def spider_opened(self, spider: PlatformSpider) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            reserve_path(self.folder).write_bytes(bytes(RESERVE_BYTES))
            self._write({"verdict": "running", "started_at": iso_utc(self.started)})
            if spider.job:
                spider.job.note("running")
        except OSError as error:
            stop_on_disk_error(self.crawler, self.folder, error)
        args = spider.args
        logger.info(
            "%s: up to %s posts per keyword or creator, %s comments each, %s replies, media: %s; "
            "%d in flight, %.2f s apart; into %s",
            spider.name,
            *("all" if n is None else n for n in (args.max_posts, args.max_comments)),
            "all" if args.max_replies is None else args.max_replies,
            args.media,
            self.crawler.settings.getint("CONCURRENT_REQUESTS"),
            self.crawler.settings.getfloat("DOWNLOAD_DELAY"),
            self.folder,
        )

    def spider_closed(self, spider: PlatformSpider, reason: str) -> None:
        stats = self.crawler.stats.get_stats()
        arguments = spider.args.model_dump(mode="json")
        person: Callable[[str], str] = str
        if self.crawler.settings.getbool("ANONYMIZE"):
            key = load_key(Path(self.crawler.settings["SAVE_DATA_PATH"]))
            person = partial(pseudonym, key, spider.name)
            arguments["creators"] = f"{len(spider.creator_targets)} given"
        content = report.build(
            platform=spider.name,
            arguments=arguments,
            settings={
                name: getattr(self.crawler.settings, how)(name)
                for name, how in report.SETTINGS_SHOWN.items()
            },
            ledger=spider.ledger,
            stats=stats,
            ending=report.Ending(
                reason,
                spider.stop_verdict,
                spider.stop_reason,
                stats.get("spider_exceptions/count", 0) + stats.get("item_error_count", 0),
            ),
            started=self.started,
            finished=datetime.now(timezone.utc).replace(microsecond=0),
            person=person,
        )
        self.verdict = content["verdict"]
        reserve_path(self.folder).unlink(missing_ok=True)
        try:
            self._write(content)
            if spider.job:
                spider.job.note("finished" if reason == "finished" else "stopped")
        except OSError as error:
            logger.error("cannot write %s: %s", self.folder / REPORT_FILE, error.strerror or error)
        for line in report.summary(content):
            logger.info("%s: %s", spider.name, line)
        logger.info("%s: everything is in %s", spider.name, self.folder)

    def _write(self, content: dict[str, Any]) -> None:
        path = self.folder / REPORT_FILE
        temporary = path.with_suffix(".tmp")
        temporary.write_text(
            json.dumps(content, ensure_ascii=False, indent=2, default=str) + "\n", "utf-8"
        )
        temporary.replace(path)


class Progress:
    """One live line on a terminal, a log line a minute (LOGSTATS_INTERVAL) otherwise."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.is_live = False
        self.live: Any = None
        self.loop: Any = None
        self.started = time.monotonic()
        self.interval = crawler.settings.getfloat("LOGSTATS_INTERVAL")
        if not self.interval:
            raise NotConfigured
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        require_platform_spider(crawler)
        return cls(crawler)

    def spider_opened(self, spider: PlatformSpider) -> None:
        self.started = time.monotonic()
        self.is_live = sys.stderr.isatty() and not self.crawler.settings["LOG_FILE"]
        if self.is_live:
            self._start_live()
        self.loop = create_looping_call(self._show)
        self.loop.start(0.5 if self.is_live else self.interval, now=False)

    def _start_live(self) -> None:
        # Imported here: a crawl without a terminal does not pay for it.
        from rich.console import Console
        from rich.live import Live

        self.live = Live(
            "",
            console=Console(stderr=True),
            redirect_stderr=True,
            auto_refresh=False,
            transient=True,
        )
        self.live.start()
        handler: Any = get_scrapy_root_handler()
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(sys.stderr)  # rich prints log lines above the live line

    def _show(self) -> None:
        spider: Any = self.crawler.spider
        if spider.accounts.asks_for_help:  # the terminal belongs to a person's answer
            self._stop_live()
            return
        if self.is_live and self.live is None:
            self._start_live()
        line = self.line()
        if self.live:
            self.live.update(line, refresh=True)
        else:
            logger.info("%s", line)

    def _stop_live(self) -> None:
        if self.live is None:
            return
        self.live.stop()
        self.live = None
        handler: Any = get_scrapy_root_handler()
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(sys.stderr)

    def line(self) -> str:
        """Posts, comments, files, rate, in flight, and the pause if there is one."""
        spider: Any = self.crawler.spider
        stats = self.crawler.stats
        ledger = spider.ledger
        minutes = max(time.monotonic() - self.started, 1.0) / 60
        posts = sum(seed.saved for seed in ledger.seeds)
        answers = stats.get_value("response_received_count", 0)
        parts = [
            f"{posts} posts",
            f"{ledger.comments + ledger.replies} comments",
            f"{ledger.media['downloaded']} files",
            f"{answers / minutes:.0f} answers/min",
            f"{shared(self.crawler).in_flight} in flight",
        ]
        backoff = self.crawler.get_downloader_middleware(BackoffMiddleware)
        waiting = [gate.resume_at for gate in backoff.gates.values()] if backoff else []
        if any(moment > time.time() for moment in waiting):
            until = datetime.fromtimestamp(max(waiting)).strftime("%H:%M:%S")
            parts.append(f"waiting until {until} (too many requests)")
        return f"{spider.name}: {', '.join(parts)}"

    def spider_closed(self, spider: PlatformSpider) -> None:
        if self.loop is not None and self.loop.running:
            self.loop.stop()
        self._stop_live()
