"""A spider middleware that notes which pages a crawl fetched, for others to fetch again.

Switched on by the benchmarks only; knows Scrapy, but neither the crawler nor the platform.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class Recorder:
    """Writes method, URL and body of each request that was answered with JSON, one a line."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Recorder:
        return cls(Path(crawler.settings["BENCHMARK_PAGES"]))

    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        request: Any = response.request
        if response.body.startswith(b"{"):
            line = [request.method, request.url, request.body.decode()]
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._file.flush()
