"""Asks the person at the terminal to do in a browser window what only a person may do.

A captcha, a login, a confirmation: the window shows the session's own page, with its cookies and
its proxy; afterwards the cookies are the crawl's. Nothing here solves anything by itself. Imports
Playwright: only imported when a person is really asked (``accounts.py``).
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from playwright.async_api import Error

from mediacrawler.browser import context_options, launch_options, running_chromium
from mediacrawler.cookies import Cookie
from mediacrawler.crawl_browser import first_line, put_cookies, take_cookies
from mediacrawler.exceptions import UsageProblem
from mediacrawler.proxies.middleware import ProxyMiddleware

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

    from mediacrawler.sessions import Session
    from mediacrawler.spiders.base import PlatformSpider

logger = logging.getLogger(__name__)

LOOK_EVERY = 0.25  # seconds between two looks at the keyboard and the window
STOP_WORD = "q"


async def ask(spider: PlatformSpider, session: Session, reason: str, page: str) -> bool:
    """Open *page* in a window, as *session*, until the person has pressed Enter.

    Gives whether the crawl shall go on: not if they said so, the crawl is being stopped, or no
    window can be opened. The session's cookie jar has the window's cookies then.

    :param page: an address of the platform; it may hold tokens, so it is never told.
    """
    settings = spider.crawler.settings
    proxies = spider.crawler.get_downloader_middleware(ProxyMiddleware)
    shown = replace(
        session,
        cookies=[],
        user_agent=session.user_agent or spider.default_user_agent,
        proxy=proxies.browser_proxy(session.account) if proxies else session.proxy,
    )
    try:
        options = launch_options(settings, headless=False)
        kwargs = context_options(shown, sandbox_url=settings.get("SANDBOX_URL"))
        async with running_chromium(options) as browser:
            context = await browser.new_context(**kwargs)
            jar = spider.accounts.jar(session)
            await put_cookies(context, [Cookie.from_jar(cookie) for cookie in jar])
            opened = await context.new_page()
            logger.info("%s: account %s waits for a person", spider.name, session.account)
            tell(
                f"{spider.name}: account {session.account}: {reason}\n"
                "A browser window has opened: solve it in the window, then press Enter here "
                f"({STOP_WORD} and Enter stops the crawl)."
            )
            try:
                await opened.goto(page, wait_until="commit")
            except Error as error:
                tell(f"The page did not open ({first_line(error)}); you may try it again there.")
            goes_on = await _answer(spider, session, context)
    except UsageProblem as problem:
        logger.warning("%s: a person could help, but %s", spider.name, problem)
        return False
    except Error as error:
        logger.warning("%s: the browser window failed: %s", spider.name, first_line(error))
        return False
    spider.crawler.stats.inc_value("sessions/helped" if goes_on else "sessions/not_helped")
    return goes_on


async def _answer(spider: PlatformSpider, session: Session, context: BrowserContext) -> bool:
    """Wait for Enter; what the window has learnt until then (or until it was closed) is kept."""
    line = keyboard_line()
    closed = False
    while not line.done():
        if spider.stopping:
            return False
        try:
            if not closed:
                await take_cookies(spider, context, spider.accounts.jar(session))
        except Error:
            closed = True
            tell(f"The window is closed: press Enter to go on, {STOP_WORD} and Enter to stop.")
        await asyncio.wait([line], timeout=LOOK_EVERY)
    typed = line.result()
    return typed is not None and typed.strip().lower() != STOP_WORD


def keyboard_line() -> asyncio.Future[str | None]:
    """The next line that is typed; None if nobody can type any more.

    Read by a thread that may be left waiting: nothing else can wait for a keyboard everywhere.
    """
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str | None] = loop.create_future()

    def deliver(text: str | None) -> None:
        if not line.done():
            line.set_result(text)

    def wait() -> None:
        try:
            # Not sys.stdin: its lock, held by a waiting thread, ends the interpreter in a crash.
            typed = os.read(sys.stdin.fileno(), 1024).decode(errors="replace")
        except OSError:
            typed = ""
        loop.call_soon_threadsafe(deliver, typed or None)

    threading.Thread(target=wait, name="keyboard", daemon=True).start()
    return line


def tell(words: str) -> None:
    """Say something on the terminal, also when the log goes to a file."""
    print(f"\n{words}", file=sys.stderr, flush=True)
