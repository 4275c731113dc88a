"""Sends requests by ``fetch`` from pages of the session's browser context.

For platforms whose site signs its own requests: its script wraps ``fetch``, so whatever is sent
from its page is signed by the site itself. A request names the page in ``meta["page_fetch"]``;
one page serves many requests at once. Knows no platform. Imports Playwright, so it may only be
imported when a page is wanted (``handlers.py`` does that).
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error
from scrapy import Request
from scrapy.exceptions import DownloadFailedError, DownloadTimeoutError
from scrapy.http.headers import Headers
from scrapy.responsetypes import responsetypes

from mediacrawler.crawl_browser import ATTEMPTS, close_page, first_line, is_gone
from mediacrawler.exceptions import UsageProblem

if TYPE_CHECKING:
    from playwright.async_api import Page
    from playwright.async_api import Response as PageResponse
    from scrapy.http import Response

    from mediacrawler.crawl_browser import CrawlBrowser

KEEP_COOKIES_SECONDS = 10.0  # how often the page's cookies are taken over
REMEMBERED = 256  # answers that the page got
MOVED = "Execution context was destroyed"  # the page went to another one: a challenge, a login

FETCH = """
async ({url, method, headers, text, bytes, milliseconds}) => {
  const decode = (data) => Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
  const encode = (data) => {
    let binary = "";
    for (let at = 0; at < data.length; at += 32768) {
      binary += String.fromCharCode.apply(null, data.subarray(at, at + 32768));
    }
    return btoa(binary);
  };
  try {
    const response = await fetch(url, {
      method, headers,
      body: bytes === null ? text : decode(bytes),
      credentials: "include",
      signal: AbortSignal.timeout(milliseconds),
    });
    return {
      url: response.url,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: encode(new Uint8Array(await response.arrayBuffer())),
    };
  } catch (error) {
    return {name: error.name, message: error.message};
  }
}
"""
"""Runs in the page, with the page's own ``fetch``: that is the point of it."""

OWN_HEADERS = frozenset(
    {"accept-encoding", "connection", "content-length", "cookie", "host", "origin", "referer"}
    | {"user-agent"}
)
OWN_PREFIXES = ("sec-", "proxy-")
"""Headers that a browser writes itself."""

DECODED = ("Content-Encoding", "Content-Length", "Transfer-Encoding")
"""Headers about a form of the body that it has no more when it comes out of the page."""


@dataclass(eq=False)
class Seat:
    """A page to send from, and the last answers as the network saw them, by method and address.

    A script is shown only some headers of another host's answer (Retry-After is not among
    them), and nothing at all of one that does not allow it (refusals of a gateway often do
    not); the browser knows them.
    """

    page: Page
    slot: str
    kept_at: float = field(default_factory=time.monotonic)
    seen: OrderedDict[tuple[str, str], PageResponse] = field(default_factory=OrderedDict)

    def note(self, answer: PageResponse) -> None:
        """Remember an answer that the page got."""
        self.seen[answer.request.method, answer.url] = answer
        if len(self.seen) > REMEMBERED:
            self.seen.popitem(last=False)


class PageFetcher:
    """One page for each session and address; opened when first needed, or when it went away."""

    def __init__(self, browser: CrawlBrowser) -> None:
        self._browser = browser
        self._seats: dict[tuple[str, str], asyncio.Task[Seat]] = {}

    async def fetch(self, request: Request) -> Response:
        """Send *request* from its page; the answer as Scrapy's own client would give it.

        Cookies, user agent, Referer and Origin are the page's. Redirects are followed.

        :raises DownloadTimeoutError: no whole answer within ``meta["download_timeout"]``.
        :raises DownloadFailedError: the network failed, the page does not stay, or the browser
            does not start, which ends the crawl.
        """
        attempt = 1
        while True:
            try:
                seat = await self._seat(request)
            except UsageProblem as problem:
                self._browser.crawler.spider.stop("error", str(problem))  # type: ignore[union-attr]
                raise DownloadFailedError(str(problem)) from problem
            try:
                return await self._send(seat, request)
            except Error as error:
                moved = MOVED in str(error)
                if attempt >= ATTEMPTS or not (moved or is_gone(error)):
                    raise DownloadFailedError(first_line(error)) from error
            attempt += 1
            await self._leave(request, seat)

    async def _seat(self, request: Request) -> Seat:
        key = self._key(request)
        if key not in self._seats:
            self._seats[key] = asyncio.ensure_future(self._sit_down(request))
        task = self._seats[key]
        try:
            return await asyncio.shield(task)  # one request that is given up is not the end of all
        except BaseException:
            if task.done() and self._seats.get(key) is task:
                del self._seats[key]
            raise

    def _key(self, request: Request) -> tuple[str, str]:
        """Which page sends *request*: that of its session's context at that address."""
        return self._browser.context_name(request), request.meta["page_fetch"]

    async def _sit_down(self, request: Request) -> Seat:
        meta = {
            "playwright": True,
            "playwright_include_page": True,
            "playwright_page_goto_kwargs": {"wait_until": "load"},
            "session": request.meta["session"],
        }
        headers = {"User-Agent": request.headers.get("User-Agent") or b""}
        where = Request(request.meta["page_fetch"], headers=headers, meta=meta)
        response = await self._browser.open(where)
        page: Page = response.meta["playwright_page"]
        await page.unroute_all()  # nothing is rewritten or left out any more
        seat = Seat(page, request.meta["cookiejar"])
        page.on("response", seat.note)
        return seat

    async def _leave(self, request: Request, seat: Seat) -> None:
        """Give up a page that went away or went on to another address."""
        key = self._key(request)
        task = self._seats.get(key)
        if task is None or not task.done() or task.exception() or task.result() is not seat:
            return  # another request has noticed it first
        del self._seats[key]
        await close_page(seat.page)

    async def _send(self, seat: Seat, request: Request) -> Response:
        seconds = request.meta.get("download_timeout") or 180.0
        started = time.monotonic()
        try:
            answer: dict[str, Any] = await asyncio.wait_for(
                seat.page.evaluate(FETCH, as_fetched(request, seconds)), seconds + 5
            )
        except asyncio.TimeoutError:
            await self._leave(request, seat)  # its script hangs
            raise DownloadTimeoutError("the page gives no answer") from None
        request.meta["download_latency"] = time.monotonic() - started
        if answer.get("name") == "TimeoutError":
            raise DownloadTimeoutError(f"no answer within {seconds:g} s")
        seen = seat.seen.pop((request.method, answer.get("url", request.url)), None)
        if "status" not in answer and seen is None:
            raise DownloadFailedError(f"fetch: {answer.get('message')}")
        await self._keep_cookies(seat)
        if seen is None:
            return as_response(request, answer["status"], answer["headers"], answer["body"])
        headers = {**dict(answer.get("headers", {})), **seen.headers}
        return as_response(request, seen.status, headers, answer.get("body", ""))

    async def _keep_cookies(self, seat: Seat) -> None:
        if time.monotonic() - seat.kept_at > KEEP_COOKIES_SECONDS:
            seat.kept_at = time.monotonic()
            await self._browser.keep_cookies(seat.page.context, seat.slot)


def as_fetched(request: Request, seconds: float) -> dict[str, Any]:
    """A request as the script in the page takes it.

    A body is handed over as text where it is text: wrappers of ``fetch`` that sign a body read
    it so.
    """
    text, encoded = None, None
    if request.body:
        try:
            text = request.body.decode("utf-8")
        except UnicodeDecodeError:
            encoded = base64.b64encode(request.body).decode("ascii")
    headers = {
        name.decode("latin-1"): b",".join(values).decode("latin-1")
        for name, values in request.headers.items()
        if not is_own_header(name.decode("latin-1").lower())
    }
    return {
        "url": request.url,
        "method": request.method,
        "headers": headers,
        "text": text,
        "bytes": encoded,
        "milliseconds": int(seconds * 1000),
    }


def is_own_header(name: str) -> bool:
    """Whether a browser writes the header itself; *name* in lower case."""
    return name in OWN_HEADERS or name.startswith(OWN_PREFIXES)


def as_response(request: Request, status: int, headers: dict[str, str], body: str) -> Response:
    """What came for *request* as Scrapy's own client would give it; *body* is base64."""
    kept = Headers(headers)
    for name in DECODED:
        kept.pop(name, None)
    content = base64.b64decode(body)
    kind = responsetypes.from_args(headers=kept, url=request.url, body=content)
    return kind(
        request.url,
        status=status,
        headers=kept,
        body=content,
        flags=["page_fetch"],
        request=request,
    )
