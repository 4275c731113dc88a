"""The accounts of a crawl: where its sessions come from, and what becomes of a refused one.

A session that the platform refuses is renewed where the platform can do that, else put aside so
that the others go on; the last one may be helped by a person (``help.py``). Settings:
SESSIONS_DIR, SESSION_COOLDOWN, SESSION_COOLDOWN_RATE, ASK_FOR_HELP.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections import defaultdict
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.cookies import CookiesMiddleware

from mediacrawler.browser import has_display
from mediacrawler.cookies import Cookie, load_cookies
from mediacrawler.exceptions import PlatformError, UsageProblem
from mediacrawler.sessions import Session, SessionPool, State
from mediacrawler.sessions.store import SessionStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http.cookies import CookieJar
    from scrapy.settings import BaseSettings

    from mediacrawler.spiders.base import PlatformSpider, StopVerdict

logger = logging.getLogger(__name__)

UNNAMED = "cookies"
"""The account of cookies that come from the environment or a file; nothing is stored of it."""
RENEW_AGAIN = 600.0  # seconds; a login that expires sooner after a renewal is not worth another
HELPED_STATES: frozenset[State] = frozenset({"captcha", "flagged", "expired", "guest"})
"""What a person may be able to mend in a browser window."""


class Accounts:
    """The sessions of one crawl.

    :raises UsageProblem: a session that was asked for is not there or cannot be read.
    """

    def __init__(self, spider: PlatformSpider, settings: BaseSettings) -> None:
        self.spider = spider
        self.settings = settings
        self.store = SessionStore(Path(settings["SESSIONS_DIR"]))
        self.cool_downs: dict[State, float] = {
            "captcha": settings.getfloat("SESSION_COOLDOWN"),
            "flagged": settings.getfloat("SESSION_COOLDOWN"),
            "rate_limited": settings.getfloat("SESSION_COOLDOWN_RATE"),
        }
        self.asks_for_help = False
        """Whether a person is being asked at the terminal just now."""
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._mended_at: dict[str, float] = {}
        self._renewed_at: dict[str, float] = {}
        self.pool = SessionPool(
            self.load(), lambda: datetime.now(timezone.utc).replace(microsecond=0)
        )

    # --- Where they come from -------------------------------------------------------------

    def load(self) -> list[Session]:
        """The sessions that the user named, else the cookies of the environment or a file."""
        spider, wanted = self.spider, self.spider.args.account
        if wanted == ["all"]:
            sessions = self.store.all(spider.name)
        elif wanted:
            sessions = [self.store.load(spider.name, account) for account in wanted]
        else:
            sessions = [self._of_cookies()]
            if not sessions[0].cookies or spider.missing_cookies(sessions[0]):
                names = self.store.names(spider.name)
                if len(names) == 1:
                    sessions = [self.store.load(*names[0])]
        for session in sessions:
            session.cookies = [c for cookie in session.cookies for c in spider.as_sent(cookie)]
        return sessions

    def _of_cookies(self) -> Session:
        name = self.spider.name
        named = self.settings.get(f"{name.upper()}_COOKIES_FILE")
        cookies = load_cookies(
            name,
            os.environ,
            Path(self.settings["COOKIES_DIR"]),
            Path(named).expanduser() if named else None,
        )
        return Session(name, UNNAMED, cookies)

    def check(self) -> None:
        """Make sure that there is somebody to send requests.

        :raises UsageProblem: no session, cookies are missing, or all sessions rest.
        """
        spider = self.spider
        for session in self.pool.sessions.values():
            missing = spider.missing_cookies(session)
            if missing:
                whose = "" if session.account == UNNAMED else f" (account {session.account})"
                raise UsageProblem(
                    f"{spider.name} needs the cookies {' and '.join(spider.required_cookies)} of a "
                    f"logged-in browser ({', '.join(missing)} missing or expired){whose}: log in "
                    f"at {spider.home}, copy the Cookie request header into "
                    f"cookies/{spider.name}.txt or into the environment variable "
                    f"{spider.name.upper()}_COOKIES, or use `scrapy login {spider.name}` "
                    "(README, 'The first real crawl')"
                )
        if not self.pool.usable():
            raise UsageProblem(self._why_nobody())

    def _why_nobody(self) -> str:
        name, resting = self.spider.name, []
        for session in self.pool.sessions.values():
            why: str = session.state
            if session.state == "expired":
                why += f": `scrapy login {name} --account {session.account}`"
            elif session.cool_until:
                why += f" until {session.cool_until:%Y-%m-%d %H:%M} UTC"
            resting.append(f"{session.account} ({why})")
        if not resting:
            return f"there is no stored account of {name}; use `scrapy login {name}`"
        return f"no account of {name} can be used: {', '.join(resting)}"

    # --- Their cookies --------------------------------------------------------------------

    def jar(self, session: Session) -> CookieJar:
        """The cookies that *session* sends, kept up to date by Scrapy.

        :raises UsageProblem: cookies are switched off.
        """
        middleware = self.spider.crawler.get_downloader_middleware(CookiesMiddleware)
        if middleware is None:
            raise UsageProblem("COOKIES_ENABLED must be True: sessions live in Scrapy's cookies")
        jar: CookieJar = middleware.jars[session.slot]
        return jar

    def fill_jars(self) -> None:
        """Put the users' cookies into the jars; from there on Scrapy keeps them up to date."""
        for session in self.pool.sessions.values():
            for cookie in session.cookies:
                self.jar(session).set_cookie(cookie.for_jar(self.spider.cookie_domain))

    def keep_cookies(self, session: Session) -> None:
        """Store the cookies that the platform has renewed, and what became of the session."""
        session.cookies = [Cookie.from_jar(cookie) for cookie in self.jar(session)]
        self.save(session)

    def save(self, session: Session) -> None:
        """Store what has become of a session, if it is a stored one."""
        if session.account == UNNAMED:
            return
        try:
            self.store.update(session)
        except OSError as error:
            logger.error("%s: account %s: not saved: %s", self.spider.name, session.account, error)

    # --- What becomes of a refused one ----------------------------------------------------

    async def refused(
        self,
        account: str,
        state: State,
        verdict: StopVerdict,
        reason: str,
        *,
        sent_at: float | None = None,
        page: str | None = None,
    ) -> bool:
        """Do what can be done about a session that the platform refuses.

        :param sent_at: when the refused request was sent; refusals of requests that were under
            way when the session was mended say nothing new.
        :param page: where a person can do something about it.
        :return: whether the session goes on; else it is put aside, or the crawl stops.
        """
        session = self.pool.sessions[account]
        async with self._locks[account]:
            if self.spider.stopping or not self.pool.is_usable(account):
                return False
            if sent_at is not None and sent_at < self._mended_at.get(account, 0.0):
                return True
            with held(session):
                mended = await self._mend(session, state, reason, page)
            if mended:
                self._mended_at[account] = time.time()
                return True
            self.put_aside(account, state, verdict, reason)
            return False

    async def _mend(self, session: Session, state: State, reason: str, page: str | None) -> bool:
        if state == "expired" and await self.renew(session):
            return True
        others = [one for one in self.pool.usable() if one is not session]
        if others or state not in HELPED_STATES:
            return False
        if not can_ask(self.settings):
            return False
        from mediacrawler.sessions import help  # with Playwright; most crawls need neither

        self.asks_for_help = True
        try:
            helped = await help.ask(self.spider, session, reason, page or self.spider.home)
        finally:
            self.asks_for_help = False
        if helped:
            self._is_good(session)
        return helped

    async def renew(self, session: Session) -> bool:
        """Renew a login that has expired, where the platform can; once, not again and again."""
        now = time.time()
        if now - self._renewed_at.get(session.account, -RENEW_AGAIN) < RENEW_AGAIN:
            return False
        self._renewed_at[session.account] = now
        try:
            renewed = await self.spider.renew_login(session)
        except PlatformError as error:
            logger.debug(
                "%s: account %s: not renewed: %s", self.spider.name, session.account, error
            )
            return False
        if renewed:
            self.spider.crawler.stats.inc_value("sessions/renewed")
            logger.info("%s: the login of account %s is renewed", self.spider.name, session.account)
            self._is_good(session)
        return renewed

    def _is_good(self, session: Session) -> None:
        session.state, session.reason, session.cool_until = "ok", None, None
        self.keep_cookies(session)

    def put_aside(self, account: str, state: State, verdict: StopVerdict, reason: str) -> None:
        """Rest a session that the platform refuses; without another one the crawl stops."""
        if not self.pool.is_usable(account):
            return  # another request of it has said so already
        session = self.pool.put_aside(account, state, reason, self.cool_downs.get(state, 0))
        self.save(session)
        self.spider.crawler.stats.inc_value(f"sessions/put_aside/{state}")
        left = len(self.pool.usable())
        if not left:
            self.spider.stop(verdict, reason)
            return
        logger.warning(
            "%s: account %s is put aside, %d left: %s", self.spider.name, account, left, reason
        )


def can_ask(settings: BaseSettings) -> bool:
    """Whether a person can help: a terminal to answer at, and a display for a window."""
    return (
        settings.getbool("ASK_FOR_HELP")
        and settings.getbool("BROWSER_FALLBACK")
        and sys.stdin is not None
        and sys.stdin.isatty()
        and sys.stderr.isatty()
        and has_display()
    )


@contextmanager
def held(session: Session) -> Iterator[None]:
    """The session's requests wait meanwhile, except those that mend it."""
    session.held = True
    try:
        yield
    finally:
        session.held = False
