"""Crawl as ``scrapy crawl`` does, and note which pages were fetched, for others to fetch.

``python -m benchmarks.record PLATFORM PAGES SANDBOX_URL FOLDER NAME=VALUE...`` (spider
arguments), cookies in the platform's variable. Nothing here is measured.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from scrapy import Request, signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response
from scrapy.utils.project import get_project_settings


def main(platform: str, pages: str, sandbox_url: str, folder: str, *arguments: str) -> None:
    """Write method, URL and body of each request that was answered with JSON, one a line."""
    settings = get_project_settings()
    settings.set("SANDBOX_URL", sandbox_url)
    settings.set("SAVE_DATA_PATH", folder)
    settings.set("CONCURRENT_REQUESTS", 10)
    settings.set("DOWNLOAD_DELAY", 0)
    with Path(pages).open("w", encoding="utf-8") as file:

        def note(response: Response, request: Request) -> None:
            if response.body.startswith(b"{"):
                line = [request.method, request.url, request.body.decode()]
                file.write(json.dumps(line, ensure_ascii=False) + "\n")

        process = AsyncCrawlerProcess(settings)
        crawler = process.create_crawler(platform)
        crawler.signals.connect(note, signals.response_received)
        process.crawl(crawler, **dict(argument.split("=", 1) for argument in arguments))
        process.start()


if __name__ == "__main__":
    main(*sys.argv[1:])
