"""Downloader middleware: sends each session's requests through a proxy of its own.

Settings: PROXIES, PROXY_PROVIDER_URL, PROXY_PROVIDER_COMMAND, PROXY_COOLDOWN. A proxy stored
with a session goes before those. It knows no platform; which proxy is good is the pool's to say.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.error import ConnectError, ConnectionDone, ConnectionLost

from mediacrawler.exceptions import UsageProblem
from mediacrawler.middlewares import POLL_SECONDS, require_platform_spider, unsent
from mediacrawler.proxies import Proxy, is_loopback, parse_proxy, read_setting
from mediacrawler.proxies.bridge import PROXY_DOWN, Bridge
from mediacrawler.proxies.pool import Health, ProxyPool
from mediacrawler.proxies.provider import Provider, ProviderFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from typing_extensions import Self

    from mediacrawler.spiders.base import PlatformSpider

logger = logging.getLogger(__name__)

REFILL_SECONDS = 5.0
"""A provider is not asked more often than this."""
VAIN_REFILLS = 3
"""So many answers of a provider in a row without a new proxy mean that there are none."""
ADDRESSES_TRIED = 3
"""A request that the platform refuses from so many addresses is not refused because of them."""
LABEL = "proxy_label"
"""The key of ``request.meta`` with the pool's name of the proxy that the request went through."""

_UNREACHABLE = (DownloadConnectionRefusedError, CannotResolveHostError, ConnectError)
"""With a proxy, it is the proxy that one connects to and whose name is resolved."""
_DOUBTFUL = (
    DownloadTimeoutError,
    DownloadFailedError,
    ResponseDataLossError,
    ConnectionDone,
    ConnectionLost,
    TunnelError,
)
_NO_PROXY_IN_BROWSER = "ERR_PROXY_CONNECTION_FAILED"
_STATUS = re.compile(r"'status': (\d+)")


class ProxyMiddleware:
    """Puts the session's proxy on requests, and another one when it fails or expires.

    - The proxy cannot be reached or wants other credentials: it is put aside, and the request is
      sent again through another one; that is no attempt that RETRY_TIMES counts.
    - Timeouts, resets, refused tunnels may be anybody's fault: the back-off repeats the request,
      and several in a row put the proxy aside.
    - No proxy is left for a moment: requests wait. None will ever work: the session is put aside,
      or the crawl stops. Nothing is ever sent without a proxy where there should be one.

    Credentials live in the Proxy-Authorization header, from here to the wire only.
    """

    def __init__(self, crawler: Crawler, *, clock: Callable[[], float] = time.time) -> None:
        settings = crawler.settings
        self.crawler = crawler
        self.clock = clock
        self.pool = ProxyPool(cooldown(settings), clock)
        self.provider: Provider | None = None
        self.bridge = Bridge()
        self._spoken_to: dict[str, Proxy] = {}
        self._filling = asyncio.Lock()
        self._asked_at = float("-inf")
        self._vain = 0
        self._trouble: str | None = None
        if loopback_only(settings):
            logger.debug("no proxy is used: SANDBOX_URL is on this machine")
        else:
            self.pool.add(read_setting(settings["PROXIES"], clock()))
            self.provider = Provider.from_settings(settings)
            for account, proxy in session_proxies(self.spider).items():
                self.pool.add([proxy], owner=account)
        self._lends = self.provider is not None or self.pool.lends()
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        require_platform_spider(crawler)
        return cls(crawler)

    @property
    def spider(self) -> PlatformSpider:
        return self.crawler.spider  # type: ignore[return-value]

    async def spider_closed(self) -> None:
        await self.bridge.close()

    async def process_request(self, request: Request) -> Request | None:
        """Set the proxy; wait for one if none is usable now."""
        forget(request)
        account = request.meta["session"]
        if is_loopback(urlparse_cached(request).hostname):
            request.meta["proxy"] = None
            return None
        if not self.covers(account):
            return None  # the environment may name one: that is Scrapy's own middleware's
        health = await self._wait_for_one(account)
        if health is None:
            return self._give_back(request)
        proxy = await self._speak_to(health)
        request.meta[LABEL] = health.label
        request.meta["proxy"] = proxy.url
        in_browser = request.meta.get("playwright") or "page_fetch" in request.meta
        if proxy.authorization and not in_browser:  # a browser's context has its own proxy
            request.headers["Proxy-Authorization"] = proxy.authorization
        return None

    def process_response(self, request: Request, response: Response) -> Request | Response:
        conceal(request)
        label = request.meta.get(LABEL)
        if label is None:
            return response
        if response.status in (407, PROXY_DOWN) and self._says_the_proxy(request, response):
            return self._replace(request, response.status)
        # Behind a proxy nobody can tell whose 502 it is, so that is no praise either.
        if response.status not in (502, 503, 504):
            self.pool.succeeded(label)
            self.crawler.stats.inc_value(f"proxy/answers/{label}")
        return response

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        conceal(request)
        label = request.meta.get(LABEL)
        if label is None:
            return None
        if isinstance(exception, _UNREACHABLE) or _NO_PROXY_IN_BROWSER in str(exception):
            return self._replace(request, PROXY_DOWN)
        if isinstance(exception, TunnelError):
            status = _STATUS.search(str(exception))
            if status and int(status[1]) in (407, PROXY_DOWN):
                return self._replace(request, int(status[1]))
        if isinstance(exception, _DOUBTFUL):
            reason = f"no answers: {type(exception).__name__}"
            self._count(label, reason)
            if self.pool.suspected(label, reason, request.meta.get("sent_at", 0.0)):
                self._say_aside(label)
        return None

    def covers(self, account: str) -> bool:
        """Whether requests of that account have to go through a proxy of ours."""
        return self._lends or self.pool.owns(account)

    def blocked(self, request: Request) -> bool:
        """Note that the platform refuses the address from which *request* came.

        True if its session has got another one, so that the request is worth sending again; at
        most ADDRESSES_TRIED times a request.
        """
        label, account = request.meta.get(LABEL), request.meta["session"]
        if label is None:
            return False
        if self.pool.failed(label, "blocked by the platform", request.meta.get("sent_at", 0.0)):
            self._say_aside(label)
        tried = request.meta["addresses_tried"] = request.meta.get("addresses_tried", 0) + 1
        if tried > ADDRESSES_TRIED or self.pool.owns(account):
            return False
        return self.provider is not None or self.pool.choose(account) is not None

    def browser_proxy(self, account: str) -> str | None:
        """The URL (with credentials: a secret) of the proxy through which requests of that
        account go now, for its browser context; None if they go through none of ours.

        Where Chromium does not speak to the proxy itself, it is the bridge.
        """
        label = self.pool.label_of(account)
        return self._spoken_to[label].secret_url if label in self._spoken_to else None

    async def _speak_to(self, health: Health) -> Proxy:
        """The http proxy that a client has to speak to in order to go through another."""
        if health.label not in self._spoken_to:
            proxy = health.proxy
            if proxy.scheme != "http":
                proxy = await self.bridge.in_front_of(proxy)
            self._spoken_to[health.label] = proxy
        return self._spoken_to[health.label]

    async def _wait_for_one(self, account: str) -> Health | None:
        """A proxy for a session; None if the crawl stops or the session is put aside meanwhile."""
        while not self.spider.stopping and self.spider.sessions.is_usable(account):
            if self.provider is not None and self.pool.wants_more(account):
                await self._refill(account)
            health = self.pool.choose(account)
            if health is not None:
                return health
            if self._hopeless(account):
                self._give_up(account)
                return None
            await asyncio.sleep(POLL_SECONDS)
        return None

    async def _refill(self, account: str) -> None:
        """Ask the provider, unless that was done a moment ago."""
        assert self.provider
        async with self._filling:
            if self.clock() - self._asked_at < REFILL_SECONDS or not self.pool.wants_more(account):
                return
            self._asked_at = self.clock()
            added = 0
            try:
                proxies, problems = await self.provider.fetch()
                added = self.pool.add(proxies)
                for problem in problems:
                    logger.warning("proxies: left out of the provider's answer, %s", problem)
                self._trouble = None if added else "it gives no new ones"
            except ProviderFailed as error:
                self._trouble = str(error)
                logger.warning("proxies: the provider gave none: %s", error)
            self._vain = 0 if added else self._vain + 1
            self.crawler.stats.inc_value("proxy/provided", added)
            if added:
                logger.info("proxies: %d fresh ones from the provider", added)

    def _hopeless(self, account: str) -> bool:
        if not self.pool.hopeless(account):
            return False
        if self.provider is None or self.pool.owns(account):
            return True
        return self._vain >= VAIN_REFILLS

    def _give_up(self, account: str) -> None:
        """No proxy will work for this session: put it aside, or stop the crawl."""
        state = self.pool.state(account) or "there is none"
        if self._trouble is not None:
            state += f"; the provider: {self._trouble}"
        others = [session.account for session in self.spider.sessions.usable()]
        if self.pool.owns(account) and others != [account]:
            seconds = cooldown(self.crawler.settings)
            self.spider.sessions.put_aside(account, "ok", f"its proxy: {state}", seconds)
            logger.warning("%s: session %s rests: its proxy: %s", self.spider.name, account, state)
            return
        self.spider.stop("error", f"no proxy works any more: {state}")

    def _replace(self, request: Request, status: int) -> Request:
        """The request's proxy does not work: put it aside, and send the request again."""
        label = request.meta[LABEL]
        reason = "credentials refused" if status == 407 else "cannot be reached"
        self._count(label, reason)
        if status == 407:
            news = self.pool.refused(label, reason)
        else:
            news = self.pool.failed(label, reason, request.meta.get("sent_at", 0.0))
        if news:
            self._say_aside(label)
        self.crawler.stats.inc_value("proxy/resent")
        return unsent(request)

    def _give_back(self, request: Request) -> Request:
        """To the scheduler: for another session, or (JOBDIR) for the next run.

        :raises IgnoreRequest: the crawl is being stopped, and somebody waits for the answer.
        """
        if request.meta.get("awaited") and self.spider.stopping:
            raise IgnoreRequest("the crawl is being stopped")
        return unsent(request)

    def _says_the_proxy(self, request: Request, response: Response) -> bool:
        """Whether such a status comes from the proxy (or our bridge), not from the platform."""
        if urlparse_cached(request).scheme == "https":
            return False  # it came through the tunnel
        return response.status == 407 or self.bridge.is_at(request.meta["proxy"])

    def _count(self, label: str, reason: str) -> None:
        self.crawler.stats.inc_value(f"proxy/failures/{label}")
        logger.debug("proxy %s: %s", label, reason)

    def _say_aside(self, label: str) -> None:
        health = self.pool[label]
        self.crawler.stats.inc_value("proxy/put_aside")
        rest = "for good" if health.dead else f"for {health.aside_until - self.clock():.0f} s"
        logger.warning(
            "%s: proxy %s is put aside %s: %s", self.spider.name, label, rest, health.reason
        )


def cooldown(settings: BaseSettings) -> float:
    """PROXY_COOLDOWN in seconds.

    :raises UsageProblem: it is no number of at least 0.
    """
    try:
        seconds = settings.getfloat("PROXY_COOLDOWN")
    except (TypeError, ValueError):
        seconds = -1
    if not seconds >= 0:
        raise UsageProblem("PROXY_COOLDOWN: must be a number of at least 0")
    return seconds


def loopback_only(settings: BaseSettings) -> bool:
    """Whether all requests go to this very machine (SANDBOX_URL), where no proxy is used."""
    return bool(settings["SANDBOX_URL"])


def session_proxies(spider: Any) -> dict[str, Proxy]:
    """The proxies that are stored with the sessions of a crawl, by account.

    :raises UsageProblem: one of them cannot be read.
    """
    proxies = {}
    for account, session in spider.sessions.sessions.items():
        if not session.proxy:
            continue
        try:
            proxies[account] = parse_proxy(session.proxy)
        except ValueError as error:
            raise UsageProblem(f"the proxy of session {account}: {error}") from None
    return proxies


def forget(request: Request) -> None:
    """Take the proxy of an earlier attempt off a request."""
    conceal(request)
    for key in (LABEL, "proxy", "_scheme_proxy"):
        request.meta.pop(key, None)


def conceal(request: Request) -> None:
    """Take the credentials off a request: it may be kept on disk (JOBDIR)."""
    request.headers.pop("Proxy-Authorization", None)
    request.meta.pop("_auth_proxy", None)
