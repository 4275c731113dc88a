"""The browser of a crawl: one Chromium, a context for each session, through scrapy-playwright.

This module imports Playwright, so it may only be imported when a page is really wanted
(``handlers.py`` does that); importing starts nothing, the first page does. Knows no platform.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error, TimeoutError
from scrapy import signals
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.exceptions import DownloadFailedError, DownloadTimeoutError
from scrapy_playwright.handler import (  # type: ignore[import-untyped]
    ScrapyPlaywrightDownloadHandler,
)

from mediacrawler.browser import context_options, launch_options, start_problem
from mediacrawler.cookies import Cookie, from_browser
from mediacrawler.exceptions import UsageProblem
from mediacrawler.proxies.middleware import ProxyMiddleware

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page
    from playwright.async_api import Request as PageRequest
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.http.cookies import CookieJar

    from mediacrawler.sessions import Session

logger = logging.getLogger(__name__)

ATTEMPTS = 4  # at one page, where each time the browser went away
CLOSING_SECONDS = 10  # a hung page, browser or driver is waited for so long
NOT_LOADED = frozenset({"image", "media", "font"})
"""What a page is not made of: it is read, not looked at."""

GONE = (
    "has been closed",
    "crashed",
    "Connection closed",
    "Browser closed",
    "browser has disconnected",
)
"""How Playwright says that a page, the browser or its driver went away."""


class CrawlBrowser:
    """Opens pages for requests with ``meta["playwright"]``, each in the context of its session.

    The session's cookies go into the context before each page; `keep_cookies` brings them back.
    A browser that went away is started again and the page opened once more.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._handler: Handler | None = None
        self._starting = asyncio.Lock()
        self._contexts: dict[tuple[str, str | None], str] = {}
        """The name of each context, by session and user agent."""
        if crawler.settings["LOG_LEVEL"] != "DEBUG":
            # Its lines are about machinery, and its warnings carry whole tracebacks of failures
            # that are told in one line here.
            logging.getLogger("scrapy-playwright").setLevel(logging.ERROR)

    async def open(self, request: Request) -> Response:
        """Load a page. With ``meta["playwright_include_page"]`` it stays open: the caller finds
        it in ``response.meta["playwright_page"]`` and closes it.

        :raises DownloadTimeoutError: it did not load within ``meta["page_seconds"]``.
        :raises DownloadFailedError: it could not be loaded, or the browser does not stay up.
        :raises UsageProblem: there is no browser, or it does not start.
        """
        attempt = 1
        while True:
            handler = await self._running()
            try:
                return await self._load(handler, request)
            except TimeoutError as error:
                raise DownloadTimeoutError("the page did not load in time") from error
            except (Error, AttributeError) as error:
                # AttributeError: the browser went away between being started and being used.
                if attempt >= ATTEMPTS or not is_gone(error):
                    raise DownloadFailedError(first_line(error)) from error
            attempt += 1
            logger.info("%s: the browser went away; opening the page again", self._name)
            await self.replace_if_lost(handler)

    async def keep_cookies(self, context: BrowserContext, slot: str) -> None:
        """Take the cookies of a context over into the session's cookie jar."""
        await take_cookies(self.crawler.spider, context, self.jar(slot))

    def jar(self, slot: str) -> CookieJar:
        """The cookie jar of a session, which Scrapy's own requests use too."""
        middleware = self.crawler.get_downloader_middleware(CookiesMiddleware)
        assert middleware is not None  # SessionMiddleware insists on it
        jar: CookieJar = middleware.jars[slot]
        return jar

    async def replace_if_lost(self, handler: Handler) -> None:
        """Give up a browser that is not connected any more; the next page starts another."""
        async with self._starting:
            browser = getattr(handler, "browser", None)
            if self._handler is handler and (browser is None or not browser.is_connected()):
                self._handler = None
                self.crawler.stats.inc_value("browser/restarts")
                await close_quietly(handler)

    async def close(self) -> None:
        """Close the browser and end its driver, if they were ever started."""
        async with self._starting:
            handler, self._handler = self._handler, None
            if handler is not None:
                await close_quietly(handler)

    @property
    def _name(self) -> str:
        return getattr(self.crawler.spider, "name", "browser")

    async def _running(self) -> Handler:
        async with self._starting:
            if self._handler is None:
                handler = Handler(self.crawler)
                try:
                    await handler.start()
                except Error as error:
                    await close_quietly(handler)
                    path = str(handler.config.launch_options["executable_path"])
                    raise UsageProblem(start_problem(str(error), path)) from None
                self._handler = handler
            return self._handler

    async def _load(self, handler: Handler, request: Request) -> Response:
        """One attempt; a page that is not handed to the caller is closed on every way out."""
        session = self._session(request)
        await self._leave_old_context(handler, session)
        pages: list[Page] = []

        async def prepare(page: Page, _request: Request) -> None:
            pages.append(page)
            await put_cookies(page.context, [Cookie.from_jar(c) for c in self.jar(session.slot)])

        sent = request.replace(
            meta={
                **request.meta,
                "playwright_context": context_name(session),
                "playwright_context_kwargs": self._context_options(session),
                "playwright_page_init_callback": prepare,
            }
        )
        keep_open = False
        try:
            seconds = request.meta.get("page_seconds", self._page_seconds)
            response: Response = await asyncio.wait_for(handler.download_request(sent), seconds)
            keep_open = bool(request.meta.get("playwright_include_page"))
            return response
        except asyncio.TimeoutError:
            raise DownloadTimeoutError("the page did not load in time") from None
        finally:
            if not keep_open:
                for page in pages:
                    await close_page(page)

    @property
    def _page_seconds(self) -> float:
        return self.crawler.settings.getfloat("DOWNLOAD_TIMEOUT")

    def context_name(self, request: Request) -> str:
        """The name of the context in which *request* is sent now."""
        return context_name(self._session(request))

    async def _leave_old_context(self, handler: Handler, session: Session) -> None:
        """Close the context that the session had with another proxy."""
        key, name = (session.slot, session.user_agent), context_name(session)
        old = handler.context_wrappers.get(self._contexts.get(key, name))
        self._contexts[key] = name
        if old is not None and old is not handler.context_wrappers.get(name):
            with suppress(Error, asyncio.TimeoutError):
                await asyncio.wait_for(old.context.close(), CLOSING_SECONDS)

    def _session(self, request: Request) -> Session:
        """The session of a request, with the user agent and the proxy that its requests have."""
        spider: Any = self.crawler.spider
        session: Session = spider.sessions.sessions[request.meta["session"]]
        agent = (request.headers.get("User-Agent") or b"").decode("latin-1") or None
        proxies = self.crawler.get_downloader_middleware(ProxyMiddleware)
        proxy = proxies.browser_proxy(session.account) if proxies else session.proxy
        return replace(session, cookies=[], user_agent=agent, proxy=proxy)

    def _context_options(self, session: Session) -> dict[str, Any]:
        return context_options(session, sandbox_url=self.crawler.settings.get("SANDBOX_URL"))


class Handler(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]
    """scrapy-playwright's handler, started late and with the project's Chromium.

    Requests keep the headers that the browser gives them: those of Scrapy's request would bring
    back old cookies after a script has set new ones. PLAYWRIGHT_* settings are obeyed.

    :raises UsageProblem: no Chromium.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        # It starts its driver with the engine, which is running already.
        crawler.signals.disconnect(self._maybe_launch_in_thread, signals.engine_started)
        settings = crawler.settings
        if not settings.getdict("PLAYWRIGHT_LAUNCH_OPTIONS"):
            self.config.launch_options = launch_options(settings, headless=True)
        if self.config.navigation_timeout_ms is None:
            self.config.navigation_timeout_ms = settings.getfloat("DOWNLOAD_TIMEOUT") * 1000
        if "PLAYWRIGHT_PROCESS_REQUEST_HEADERS" not in settings:
            self.process_request_headers = None
        if not settings.get("PLAYWRIGHT_ABORT_REQUEST"):
            self.abort_request = is_heavy

    async def start(self) -> None:
        """Start the driver and the browser.

        :raises Error: Playwright cannot start them.
        """
        await self._maybe_launch_in_thread()
        await self._maybe_launch_browser()


def is_heavy(request: PageRequest) -> bool:
    """Whether it is a file of a kind that says nothing about the page's content."""
    return request.resource_type in NOT_LOADED


def context_name(session: Session) -> str:
    """Another proxy or user agent is another context: one identity in each, always the same."""
    identity = f"{session.proxy} {session.user_agent}"  # hashed: proxies have passwords
    return f"{session.slot}#{sha256(identity.encode()).hexdigest()[:8]}"


async def put_cookies(context: BrowserContext, cookies: list[Cookie]) -> None:
    """Put the cookies into a context; those that Chromium does not take are left out."""
    entries: list[Any] = [cookie.for_browser() for cookie in cookies if cookie.domain]
    try:
        await context.add_cookies(entries)
    except Error as error:
        if is_gone(error):
            raise
        for entry in entries:
            try:
                await context.add_cookies([entry])
            except Error:
                logger.debug("Chromium does not take the cookie %s", entry["name"])


async def take_cookies(spider: Any, context: BrowserContext, jar: CookieJar) -> None:
    """Put the cookies of a context into a jar.

    Nothing is taken out of the jar, and a login cookie is not replaced by a blank one.

    :raises Error: the context went away.
    """
    for entry in await context.cookies():
        cookie = from_browser(entry)
        if cookie.value or cookie.name not in spider.login_cookies:
            jar.set_cookie(cookie.for_jar(spider.cookie_domain))


async def close_page(page: Page) -> None:
    """Close a page, however it is doing."""
    with suppress(Error, asyncio.TimeoutError):
        await asyncio.wait_for(page.close(), CLOSING_SECONDS)


async def close_quietly(handler: Handler) -> None:
    """Close a browser and its driver, of which parts may be gone already."""
    try:
        await asyncio.wait_for(handler.close(), CLOSING_SECONDS)
    except Exception as error:
        logger.debug("closing the browser: %s", first_line(error))


def is_gone(error: Exception) -> bool:
    """Whether the page, the browser or the driver went away, which says nothing of the site."""
    return isinstance(error, AttributeError) or any(words in str(error) for words in GONE)


def first_line(error: Exception) -> str:
    """What Playwright says, without the address (it may hold tokens) and the call log."""
    line = str(error).strip().partition("\n")[0].partition(" at http")[0]
    return line or type(error).__name__
