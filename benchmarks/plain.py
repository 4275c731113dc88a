"""Plain asyncio and httpx, without Scrapy.

``python -m benchmarks.plain pages PAGES SANDBOX_URL CONCURRENCY FOLDER`` asks for recorded pages
the expensive way that scripts of this field are often written in: a new client for each request,
a file opened and appended to for each record. Cookies in BENCH_COOKIES.

``python -m benchmarks.plain files URLS SANDBOX_URL CONCURRENCY FOLDER`` is the opposite: one
client, each file streamed to the disk. URLS holds one address a line.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from benchmarks.pages import Page, at_sandbox, read_pages

REFERER = "https://www.xiaohongshu.com/"


async def fetch_pages(pages: list[Page], concurrency: int, folder: Path) -> None:
    """Fetch all pages, at most *concurrency* at once, and append what they hold to a file."""
    free = asyncio.Semaphore(concurrency)

    async def fetch(page: Page) -> None:
        async with free:
            async with httpx.AsyncClient() as client:
                answer = await client.request(
                    page.method, page.url, headers=page.headers, content=page.body or None
                )
            for record in records(answer.json()):
                with (folder / "records.jsonl").open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record, ensure_ascii=False) + "\n")

    await asyncio.gather(*(fetch(page) for page in pages))


def records(answer: dict[str, Any]) -> list[Any]:
    """The posts or comments in an answer, as they are."""
    data = answer.get("data") or {}
    return data.get("items") or data.get("comments") or []


async def fetch_files(urls: list[str], sandbox_url: str, concurrency: int, folder: Path) -> None:
    """Stream all files to *folder*, at most *concurrency* at once."""
    free = asyncio.Semaphore(concurrency)

    async def fetch(client: httpx.AsyncClient, number: int, url: str) -> None:
        headers = {"Host": urlsplit(url).netloc, "Referer": REFERER}
        async with (
            free,
            client.stream("GET", at_sandbox(url, sandbox_url), headers=headers) as answer,
        ):
            answer.raise_for_status()
            with (folder / str(number)).open("wb") as file:
                async for piece in answer.aiter_raw():
                    file.write(piece)

    async with httpx.AsyncClient() as client:
        await asyncio.gather(*(fetch(client, number, url) for number, url in enumerate(urls)))


def main(what: str, source: str, sandbox_url: str, concurrency: str, folder: str) -> None:
    if what == "pages":
        pages = read_pages(Path(source), sandbox_url, os.environ["BENCH_COOKIES"])
        asyncio.run(fetch_pages(pages, int(concurrency), Path(folder)))
        return
    urls = Path(source).read_text("utf-8").split()
    asyncio.run(fetch_files(urls, sandbox_url, int(concurrency), Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
