"""The least that Scrapy can do: fetch recorded pages and call json.loads on each.

``python -m benchmarks.bare PAGES SANDBOX_URL CONCURRENCY [CONCURRENT_ITEMS]``, cookies in
BENCH_COOKIES. Scrapy's own defaults apart from what is compared (concurrency) and what is silent
(log level, telnet).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from benchmarks.pages import Page, read_pages


class BareSpider(Spider):
    """Fetches `pages`; its results are thrown away."""

    name = "bare"
    pages: list[Page]

    async def start(self) -> AsyncIterator[Request]:
        for method, url, headers, body in self.pages:
            yield Request(url, method=method, headers=headers, body=body, dont_filter=True)

    def parse(self, response: Response) -> None:
        json.loads(response.body)


def main(pages: str, sandbox_url: str, concurrency: str, concurrent_items: str = "100") -> None:
    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": int(concurrency),
            "CONCURRENT_REQUESTS_PER_DOMAIN": int(concurrency),
            "CONCURRENT_ITEMS": int(concurrent_items),
            "LOG_LEVEL": "INFO",
            "TELNETCONSOLE_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
        }
    )
    found = read_pages(Path(pages), sandbox_url, os.environ["BENCH_COOKIES"])
    process.crawl(BareSpider, pages=found)
    process.start()


if __name__ == "__main__":
    main(*sys.argv[1:])
