"""The downloader middleware that opens a refused page once in the session's own browser.

Settings: BROWSER_FALLBACK, BROWSER_FALLBACK_SECONDS, CHROMIUM_PATH. Some pages come only to a
browser that has run their script; a person's browser would do no more than is done here. It
solves no captcha. Must not import Playwright: most crawls need no browser.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DownloadFailedError, DownloadTimeoutError, NotConfigured
from scrapy.http.headers import Headers
from scrapy.responsetypes import responsetypes

from mediacrawler.browser import find_chromium
from mediacrawler.exceptions import (
    AccessDenied,
    CaptchaRequired,
    LoginRequired,
    NotFound,
    PlatformError,
    UnexpectedResponse,
    UsageProblem,
)
from mediacrawler.handlers import shared
from mediacrawler.middlewares import (
    read_answer,
    read_response,
    require_platform_spider,
    unsent,
)

if TYPE_CHECKING:
    from playwright.async_api import Page
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

logger = logging.getLogger(__name__)

HTML = "text/html"
LOOK_SECONDS = 0.1  # how often the opened page is looked at
CHALLENGE_SIZE = 64 * 1024  # bytes; pages with content are larger
PAGE_REFUSALS = (CaptchaRequired, LoginRequired, AccessDenied)


@dataclass(frozen=True, slots=True)
class Opened:
    """What the browser showed last: `refusal` is None once the page was there."""

    status: int
    kind: str
    text: str
    refusal: PlatformError | None

    def response(self, request: Request) -> Response:
        """What it is for Scrapy: as if it were the answer to *request*."""
        headers, body = Headers({"Content-Type": self.kind}), self.text.encode("utf-8")
        kind = responsetypes.from_args(headers=headers, url=request.url, body=body)
        return kind(
            request.url,
            status=self.status,
            headers=headers,
            body=body,
            flags=["browser"],
            request=request,
        )


class Visit:
    """What happens to a page while it is open: handlers of Playwright's events."""

    def __init__(self) -> None:
        self.status = 200
        """HTTP status of what is shown; a challenge is followed by another page."""
        self.crashed = False

    def note_status(self, response: Any) -> None:
        if response.request.is_navigation_request() and response.frame.parent_frame is None:
            self.status = response.status

    def note_crash(self, _page: Any) -> None:
        self.crashed = True


class BrowserFallbackMiddleware:
    """Opens a page that is a challenge or a login wall, and hands its content on.

    Only what a person's browser could open too: no signed requests, no forms, nothing
    anonymous. While one page of a session is open the others wait: the cookies that it brings
    let them through as they are. A page that the browser does not get either is answered with
    what came first, and the back-off middleware decides what that leads to.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.seconds = crawler.settings.getfloat("BROWSER_FALLBACK_SECONDS")
        self.available: bool | None = None
        """Whether there is a browser; None until one was wanted."""
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._passed_at: dict[str, float] = {}
        self._failed_at: dict[str, float] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        require_platform_spider(crawler)
        if not crawler.settings.getbool("BROWSER_FALLBACK"):
            raise NotConfigured
        return cls(crawler)

    @property
    def spider(self) -> Any:
        return self.crawler.spider

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        if not is_page(request, response):
            return response
        refusal = page_refusal(self._pages, request, response)
        if refusal is None or not self._has_browser():
            return response
        slot, sent_at = request.meta["cookiejar"], request.meta.get("sent_at", 0.0)
        async with self._locks[slot]:
            if sent_at < self._failed_at.get(slot, 0.0) or self.spider.stopping:
                return response
            if sent_at < self._passed_at.get(slot, 0.0) and not request.meta.get("asked_again"):
                return unsent(request, asked_again=True)
            logger.info("%s: opening a page in the browser: %s", self.spider.name, refusal)
            request.meta["browser_opened"] = True  # repeated requests keep it: once is enough
            opened = await self._open(request)
            passed = opened is not None and opened.refusal is None
            (self._passed_at if passed else self._failed_at)[slot] = time.time()
        if opened is None or not passed:
            return response
        return opened.response(request)

    @property
    def _pages(self) -> Any:
        return self.spider.pages

    def _has_browser(self) -> bool:
        if self.available is None:
            try:
                find_chromium(self.crawler.settings.get("CHROMIUM_PATH"))
                self.available = True
            except UsageProblem as problem:
                logger.info("%s: a browser might get this page, but %s", self.spider.name, problem)
                self.available = False
        return self.available

    async def _open(self, request: Request) -> Opened | None:
        """Open the page of *request* and wait until its content is there, or the time is up."""
        from scrapy_playwright.page import PageMethod  # type: ignore[import-untyped]

        visit = Visit()
        look = PageMethod(self._watch, request, visit)
        page_request = request.replace(
            meta={
                "playwright": True,
                "playwright_page_methods": [look],
                "playwright_page_event_handlers": {
                    "response": visit.note_status,
                    "crash": visit.note_crash,
                },
                "playwright_page_goto_kwargs": {
                    "wait_until": "commit",
                    "referer": referer(request),
                },
                "page_seconds": self.seconds + self.crawler.settings.getfloat("DOWNLOAD_TIMEOUT"),
                **{key: request.meta[key] for key in ("session", "cookiejar")},
            }
        )
        stats = self.crawler.stats
        stats.inc_value("browser/fallback/opened")
        assert self.crawler.engine
        try:
            # Straight to the handler: the answer is judged here, not by the back-off.
            await self.crawler.engine.downloader.handlers.download_request_async(page_request)
        except UsageProblem as problem:
            self.available = False
            logger.warning("%s: no browser: %s", self.spider.name, problem)
        except (DownloadFailedError, DownloadTimeoutError) as error:
            if not isinstance(look.result, Opened):  # else only a picture or the like was missing
                logger.warning("%s: the browser has not got the page: %s", self.spider.name, error)
        opened: Opened | None = look.result
        if opened is None:
            stats.inc_value("browser/fallback/failed")
        elif opened.refusal is None:
            stats.inc_value("browser/fallback/passed")
        else:
            stats.inc_value("browser/fallback/refused")
            logger.info("%s: the browser gets it too: %s", self.spider.name, opened.refusal)
        return opened

    async def _watch(self, page: Page, request: Request, visit: Visit) -> Opened:
        """Look at the page until it is what was asked for; its cookies are the session's then.

        :raises Error: the page or the browser went away.
        """
        until = time.monotonic() + self.seconds
        while True:
            kind, text = await content(page, visit, until - time.monotonic())
            opened = self._judge(request, visit.status, kind, text)
            if opened.refusal is None or time.monotonic() > until or self.spider.stopping:
                break
            await asyncio.sleep(LOOK_SECONDS)
        if opened.refusal is None:
            await self._keep_cookies(page, request)
        return opened

    async def _keep_cookies(self, page: Page, request: Request) -> None:
        await shared(self.crawler).browser.keep_cookies(page.context, request.meta["cookiejar"])

    def _judge(self, request: Request, status: int, kind: str, text: str) -> Opened:
        """What a page means; one that says that the post is gone is an answer, too."""
        kind = f"{kind}; charset=utf-8"
        refusal: PlatformError | None = None
        try:
            read_answer(self._pages, request, status, {"content-type": kind}, text.encode("utf-8"))
        except NotFound:
            pass
        except PlatformError as error:
            refusal = error
        return Opened(status, kind, text, refusal)


def is_page(request: Request, response: Response) -> bool:
    """Whether it is an HTML page or a redirect, and the answer to what a browser can open."""
    meta = request.meta
    if "page" not in meta or "cookiejar" not in meta or request.method != "GET":
        return False
    if meta.keys() & {"sign", "page_fetch", "anonymous", "browser_opened"}:
        return False
    kind = response.headers.get("Content-Type") or b""
    return 300 <= response.status < 400 or b"text/html" in kind


def page_refusal(pages: Any, request: Request, response: Response) -> PlatformError | None:
    """The challenge or login wall that an answer is; None for anything else.

    Refusals of the very item (a link without its token) are the same in a browser. A page that
    the page function does not know may be a challenge, too.
    """
    try:
        read_response(pages, request, response)
    except UnexpectedResponse as error:
        return error if sets_cookie_by_script(response) else None
    except PlatformError as error:
        return error if isinstance(error, PAGE_REFUSALS) and error.scope != "item" else None
    return None


def sets_cookie_by_script(response: Response) -> bool:
    """Whether a page is little more than a script that leaves a cookie: a challenge."""
    return len(response.body) <= CHALLENGE_SIZE and b"document.cookie" in response.body


def referer(request: Request) -> str:
    """The page that a person would have come from ("" for none)."""
    return (request.headers.get("Referer") or b"").decode("latin-1")


async def content(page: Page, visit: Visit, seconds: float) -> tuple[str, str]:
    """Type and text of what the page shows now; no text while it is on its way to another.

    :raises Error: the page or the browser went away.
    """
    from playwright.async_api import Error

    try:
        return await asyncio.wait_for(_loaded_content(page), max(seconds, 1.0))
    except asyncio.TimeoutError:
        pass  # its script keeps it busy, or it has crashed
    except Error:
        if page.is_closed():
            raise
    if visit.crashed:
        raise Error("the page crashed")
    return HTML, ""


async def _loaded_content(page: Page) -> tuple[str, str]:
    await page.wait_for_load_state("domcontentloaded")
    kind = await page.evaluate("document.contentType")
    if kind == HTML:
        return kind, await page.content()
    return kind, await page.evaluate("document.body.innerText")  # JSON, shown as it is
