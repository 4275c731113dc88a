"""The recorded pages, and how a client without signatures asks the sandbox for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit


class Page(NamedTuple):
    """One request: the address at the sandbox, and the headers that it needs there."""

    method: str
    url: str
    headers: dict[str, str]
    body: str


def read_pages(path: Path, sandbox_url: str, cookies: str) -> list[Page]:
    """The pages that ``benchmarks.record`` noted, addressed to the sandbox."""
    with path.open(encoding="utf-8") as lines:
        return [_page(sandbox_url, cookies, *json.loads(line)) for line in lines]


def _page(sandbox_url: str, cookies: str, method: str, url: str, body: str) -> Page:
    headers = {"Host": urlsplit(url).netloc, "Cookie": cookies}
    if body:
        headers["Content-Type"] = "application/json;charset=UTF-8"
    return Page(method, at_sandbox(url, sandbox_url), headers, body)


def at_sandbox(url: str, sandbox_url: str) -> str:
    """The same path and query at the sandbox's address."""
    return sandbox_url + url.partition(urlsplit(url).netloc)[2]
