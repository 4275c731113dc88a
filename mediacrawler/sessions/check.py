"""Asks a platform whose session it is: a crawl of one request, with nothing to save.

For ``scrapy login`` and ``scrapy accounts check``. It goes through Scrapy like every other request
(signature, cookies, proxy, sandbox), and knows no platform.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from scrapy import Request, Spider

from mediacrawler.args import CrawlArgs
from mediacrawler.exceptions import PlatformError
from mediacrawler.pages import Viewer
from mediacrawler.sessions import Session, State
from mediacrawler.sessions.accounts import Accounts
from mediacrawler.spiders.base import PlatformSpider

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from mediacrawler.spiders.base import StopVerdict

SETTINGS: dict[str, Any] = {
    # A check leaves nothing behind: no records, no report, no job.
    "EXTENSIONS": {
        "scrapy.extensions.feedexport.FeedExporter": None,
        "scrapy.extensions.logstats.LogStats": None,
    },
    "ITEM_PIPELINES": {},
    "JOBDIR": None,
    "SAVE_DATA_PATH": tempfile.gettempdir(),
    "BROWSER_FALLBACK": False,
    # Somebody is waiting for the answer.
    "RETRY_TIMES": 2,
    "BACKOFF_GIVE_UP": 2,
    "PROXY_COOLDOWN": 1.0,
    "BACKOFF_LONGEST_RETRY_AFTER": 30.0,
}
"""What a process that checks sessions sets before it starts, with the priority "cmdline"."""

APART = 1.0  # seconds between the checks of two accounts of one platform


class Process(Protocol):
    """What is needed of Scrapy's ``AsyncCrawlerProcess``."""

    spider_loader: Any

    def create_crawler(self, crawler_or_spidercls: Any) -> Crawler: ...
    def crawl(self, crawler_or_spidercls: Any, *args: Any, **kwargs: Any) -> Any: ...
    def start(self) -> None: ...


@dataclass(slots=True)
class Checked:
    """What a platform said of a session, which has the new state and cookies already.

    `viewer` is None where it did not say who it is; `problem` tells why nothing is known then,
    and the session is as it was.
    """

    session: Session
    viewer: Viewer | None = None
    problem: str | None = None


def check_sessions(
    process: Process, sessions: Sequence[Session], how: type[SessionCheck]
) -> list[Checked]:
    """Ask for each session whose it is; runs the process, so it can be called once.

    :param how: what is mixed into the platforms' spider classes.
    :raises UsageProblem: the settings do not allow it.
    """
    tasks = []
    asked: dict[str, int] = {}
    for session in sessions:
        base = process.spider_loader.load(session.platform)
        spider_class = type(f"{base.__name__}Check", (base, how), {})
        before = asked[session.platform] = asked.get(session.platform, -1) + 1
        crawler = process.create_crawler(spider_class)
        # The copy is sent whatever is known of the session, and keeps what is renewed.
        sent = replace(session, cookies=list(session.cookies), state="new", cool_until=None)
        task = process.crawl(crawler, session=sent, wait=before * APART)
        tasks.append((crawler, task))
    process.start()
    results = []
    for session, (crawler, task) in zip(sessions, tasks, strict=True):
        if not task.done() or task.cancelled():
            results.append(Checked(session, problem="interrupted"))
        elif task.exception() is not None:
            raise task.exception()
        elif crawler.stats.get_value("finish_reason") == "shutdown":  # Ctrl-C
            results.append(Checked(session, problem="interrupted"))
        else:
            spider: Any = crawler.spider
            results.append(spider.judge(session))
    return results


class OneAccount(Accounts):
    """The session that is checked, and nothing else."""

    spider: SessionCheck

    def load(self) -> list[Session]:
        """The session, without what an export of a whole browser holds of other sites."""
        session = self.spider.session
        session.cookies = [
            cookie
            for one in session.cookies
            if not one.domain or self._belongs(one.domain)
            for cookie in self.spider.as_sent(one)
        ]
        return [session]

    def _belongs(self, domain: str) -> bool:
        dotted = f".{domain.lstrip('.')}"
        return any(dotted.endswith(f".{own.lstrip('.')}") for own in self.spider.login_domains)

    def check(self) -> None:
        """What is missing is said in the result."""

    def save(self, session: Session) -> None:
        """Whoever asked decides whether it is stored."""

    def put_aside(self, account: str, state: State, verdict: StopVerdict, reason: str) -> None:
        self.spider.refused = state
        self.spider.stop(verdict, reason)


class SessionCheck(PlatformSpider):
    """Mixed into a platform's spider class, behind it: asks ``whoami_request`` and stops."""

    accounts_class = OneAccount

    def __init__(self, session: Session, wait: float) -> None:
        Spider.__init__(self)
        self.args = CrawlArgs(keywords=["whoami"])  # nothing is searched for
        self.session = session
        self.wait = wait
        self.viewer: Viewer | None = None
        self.refused: State | None = None
        self.problem: str | None = None

    # --- The crawl of one request ----------------------------------------------------------

    async def start(self) -> AsyncIterator[Any]:
        missing = self.missing_cookies(self.session)
        if missing:
            self.refused = "expired"
            self.problem = f"cookies missing or expired: {', '.join(missing)}"
        else:
            await asyncio.sleep(self.wait)
            await self._ask()
            if self.viewer and self.viewer.guest and await self.accounts.renew(self.session):
                await self._ask()
        nothing_else: tuple[Request, ...] = ()
        for request in nothing_else:
            yield request

    async def _ask(self) -> None:
        for request in (self.whoami_request(), *self.whoami_elsewhere()):
            self.refused = self.problem = self.stop_reason = None
            try:
                viewer: Viewer | None = await self.fetch(request, self.session)
            except PlatformError as error:
                self.problem = str(error)
                continue
            self.viewer = viewer or self.viewer
            if viewer is not None and not viewer.guest:
                return

    def stop(self, verdict: StopVerdict, reason: str) -> None:
        """Nothing else is sent; the crawl ends by itself."""
        self.problem = self.problem or reason
        self.stop_verdict, self.stop_reason = verdict, reason

    # --- The result ------------------------------------------------------------------------

    def judge(self, session: Session) -> Checked:
        """Write into *session* what the platform said of it.

        A good answer proves the login only: a session that rests because of a captcha goes on
        resting.
        """
        now = self.now()
        viewer = self.viewer
        if viewer is not None and not viewer.guest:
            session.cookies = self.session.cookies
            session.user_agent = session.user_agent or self.default_user_agent
            session.checked_at = now
            if session.cool_until is None or session.cool_until <= now:
                session.state, session.reason, session.cool_until = "ok", None, None
            return Checked(session, viewer)
        if viewer is not None:
            session.state, session.reason = "expired", "the platform takes it for a guest"
        elif self.refused is not None:
            session.state, session.reason = self.refused, self.problem
            rest = self.accounts.cool_downs.get(self.refused)
            session.cool_until = now + timedelta(seconds=rest) if rest else None
        else:
            return Checked(session, problem=self.problem or "no answer")
        session.checked_at = now
        return Checked(session, viewer)
