"""Downloader middlewares: what an answer leads to, whose session asks, and its signature.

Settings: RETRY_TIMES, BACKOFF_BASE, BACKOFF_MAX, BACKOFF_GIVE_UP, BACKOFF_LONGEST_RETRY_AFTER.
None of them knows a platform: meanings come from ``mediacrawler.pages``, signatures from the
spider.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from typing import TYPE_CHECKING, Any, Literal

from scrapy import signals
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.utils.misc import load_object

from mediacrawler.cookies import parse_header
from mediacrawler.exceptions import (
    AccessDenied,
    BadSignature,
    CaptchaRequired,
    LoginRequired,
    NotFound,
    PlatformError,
    RateLimited,
    UnexpectedResponse,
)
from mediacrawler.pages.fields import retry_after

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from mediacrawler.sessions import State
    from mediacrawler.spiders.base import PlatformSpider, Signature, StopVerdict

logger = logging.getLogger(__name__)


def require_platform_spider(crawler: Crawler) -> None:
    """Leave other spiders alone (``scrapy shell`` and ``scrapy fetch`` have one of their own).

    :raises NotConfigured: the spider is not a platform's.
    """
    if not hasattr(crawler.spider, "ledger"):
        raise NotConfigured


POLL_SECONDS = 0.25
"""How often a waiting request looks whether the crawl is being stopped."""


class Streak:
    """Refusals in a row without a good answer in between.

    Requests that were on their way when a refusal came say nothing new, so only a refusal of a
    request that was sent later counts: 50 requests hitting one bad moment are one refusal.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.length = 0
        self._clock = clock
        self._counted_at = 0.0

    def refused(self, sent_at: float) -> bool:
        """Note a refusal of a request sent at *sent_at*; says whether it counts."""
        if sent_at < self._counted_at:
            return False
        self._counted_at = self._clock()
        self.length += 1
        return True

    def broken(self) -> None:
        """A good answer came."""
        self.length = 0


Kind = Literal["answer", "file"]
"""Good files say nothing about an API that refuses, and the other way round."""


def kind_of(request: Request) -> Kind:
    """What a request is answered with."""
    return "answer" if "page" in request.meta else "file"


def streaks(clock: Callable[[], float]) -> dict[Kind, Streak]:
    """Refusals in a row, counted apart for answers and files."""
    return {"answer": Streak(clock), "file": Streak(clock)}


class Gate:
    """The pause that all requests of one session share.

    Waits are random between 0 and ``base * 2**(n-1)`` seconds, n being the number of pauses in a
    row without a good answer ("full jitter"), and never longer than *longest*.
    """

    def __init__(
        self, base: float, longest: float, rng: random.Random, clock: Callable[[], float]
    ) -> None:
        self.base = base
        self.longest = longest
        self.streaks = streaks(clock)
        self.resume_at = 0.0
        self._rng = rng
        self._clock = clock

    def delay(self, level: int) -> float:
        """A random wait in seconds for the *level*-th try (from 1)."""
        return self._rng.uniform(0, min(self.longest, self.base * 2 ** min(level - 1, 30)))

    def pause(self, kind: Kind, sent_at: float, asked: float | None) -> float:
        """Pause because a request sent at *sent_at* was refused; gives the seconds added.

        *asked* is the platform's own Retry-After in seconds, which is always honoured.
        """
        now = self._clock()
        wait = asked or 0.0
        streak = self.streaks[kind]
        if streak.refused(sent_at) and asked is None:
            wait = self.delay(streak.length)
        resume_at = max(self.resume_at, now + wait)
        added = resume_at - max(self.resume_at, now)
        self.resume_at = resume_at
        return added

    def remaining(self) -> float:
        """Seconds until requests may be sent."""
        return max(0.0, self.resume_at - self._clock())


class BackoffMiddleware:
    """The one place that decides what an answer leads to.

    A request with ``meta["page"]`` is read by that function of the platform's page module,
    with ``meta["context"]`` as keywords; the spider finds the result in ``meta["result"]`` and
    gets good answers only. Otherwise, by meaning:

    - rate_limited: the whole session pauses, then the request is sent again;
    - unexpected (5xx, cut answers, timeouts, resets), signature, refusals behind an empty answer:
      sent again after a wait of its own, at most RETRY_TIMES times;
    - captcha, login_required, blocked account or address: the session is mended if that can be
      done (``sessions/accounts.py``), else it is put aside and another one takes its requests;
      without another the crawl stops, and the request is kept (JOBDIR);
    - not_found, a refused item, tries used up: the request's errback gets the exception.

    BACKOFF_GIVE_UP pauses of a session in a row without one good answer put it aside as well;
    twice as many failures stop the crawl.
    """

    def __init__(
        self,
        crawler: Crawler,
        *,
        rng: random.Random | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        settings = crawler.settings
        self.crawler = crawler
        self.clock = clock
        self.retry_times = settings.getint("RETRY_TIMES")
        self.give_up = settings.getint("BACKOFF_GIVE_UP")
        self.longest_retry_after = settings.getfloat("BACKOFF_LONGEST_RETRY_AFTER")
        self.network_errors = tuple(
            load_object(error) if isinstance(error, str) else error
            for error in settings.getlist("RETRY_EXCEPTIONS")
        )
        self.base = settings.getfloat("BACKOFF_BASE")
        self.longest = settings.getfloat("BACKOFF_MAX")
        self.rng = rng or random.Random()
        self.gates: dict[str, Gate] = {}
        """The pause of each session, by account."""
        self.failures = streaks(clock)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        require_platform_spider(crawler)
        return cls(crawler)

    @property
    def spider(self) -> PlatformSpider:
        return self.crawler.spider  # type: ignore[return-value]

    def gate(self, request: Request) -> Gate:
        """The gate of the session that sends *request*."""
        account = request.meta["session"]
        if account not in self.gates:
            self.gates[account] = Gate(self.base, self.longest, self.rng, self.clock)
        return self.gates[account]

    async def process_request(self, request: Request) -> Request | None:
        """Hold the request back while its session pauses, or its own wait lasts."""
        gate, account = self.gate(request), request.meta["session"]
        while not self.spider.stopping:
            if not self.spider.sessions.is_usable(account):
                return unsent(request)  # put aside meanwhile: another session takes it
            if self.spider.sessions.is_held(account) and not request.meta.get("mends"):
                await asyncio.sleep(POLL_SECONDS)
                continue
            own = request.meta.get("not_before", 0.0) - self.clock()
            wait = max(gate.remaining(), own)
            if wait <= 0:
                return None
            await asyncio.sleep(min(wait, POLL_SECONDS))
        return self._keep(request)

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        try:
            if "page" in request.meta:
                request.meta["result"] = read_response(self.spider.pages, request, response)
            else:
                judge_status(response, self.clock())
        except PlatformError as error:
            if await self._renewed(request, error):
                return unsent(request, signature_renewed=True)
            return await self._react(request, error)
        kind = kind_of(request)
        self.gate(request).streaks[kind].broken()
        self.failures[kind].broken()
        return response

    async def process_exception(self, request: Request, exception: Exception) -> Request | None:
        if not isinstance(exception, self.network_errors):
            return None
        reason = type(exception).__name__.removeprefix("Download").removesuffix("Error")
        error = UnexpectedResponse("no answer from the platform", code=reason)
        return await self._react(request, error)

    async def _renewed(self, request: Request, error: PlatformError) -> bool:
        """Whether the spider got new keys because of *error*; tried once a request."""
        if "sign" not in request.meta or request.meta.get("signature_renewed"):
            return False
        return await self.spider.renew_signature(request, error)

    async def _react(self, request: Request, error: PlatformError) -> Request:
        """What the meaning of an answer leads to: another attempt, a stop, or the errback."""
        stats = self.crawler.stats
        stats.inc_value(f"backoff/answers/{error.meaning}")
        if isinstance(error, RateLimited):
            return await self._pause(request, error)
        if isinstance(error, NotFound) or error.scope == "item":
            raise error
        if isinstance(error, CaptchaRequired):
            reason = f"the platform asks for a captcha: {error}"
            return await self._lose_session(request, "captcha", "blocked", reason, error)
        if isinstance(error, LoginRequired):
            reason = f"a valid login is needed: {error}"
            return await self._lose_session(request, "expired", "login_required", reason, error)
        if isinstance(error, AccessDenied) and not error.soft:
            reason = f"the {error.scope} is blocked: {error}"
            if error.scope == "ip":
                return await self._change_address(request, reason, error)
            return await self._lose_session(request, "flagged", "blocked", reason, error)
        return self._try_again_later(request, error)

    async def _pause(self, request: Request, error: RateLimited) -> Request:
        gate, kind, asked = self.gate(request), kind_of(request), error.retry_after
        if asked is not None and asked > self.longest_retry_after:
            reason = f"the platform asks to wait {asked:.0f} s: {error}"
            return await self._lose_session(request, "rate_limited", "rate_limited", reason, error)
        added = gate.pause(kind, request.meta.get("sent_at", 0.0), asked)
        self.crawler.stats.inc_value("backoff/paused_seconds", added)  # type: ignore[arg-type]
        if gate.streaks[kind].length > self.give_up:
            reason = f"too many requests, and waiting does not help: {error}"
            return await self._lose_session(request, "rate_limited", "rate_limited", reason, error)
        if added > 0.5:
            logger.info(
                "%s: too many requests; all wait %.1f s", self.spider.name, gate.remaining()
            )
        return self._again(request, error)

    def _try_again_later(self, request: Request, error: PlatformError) -> Request:
        failures = self.failures[kind_of(request)]
        failures.refused(request.meta.get("sent_at", 0.0))
        if failures.length > 2 * self.give_up:
            return self._stop(request, *give_up_reason(error))
        wait = error.retry_after or self.gate(request).delay(request.meta.get("retry_times", 0) + 1)
        again = self._again(request, error)
        again.meta["not_before"] = self.clock() + wait
        self.crawler.stats.inc_value("backoff/delayed_seconds", wait)  # type: ignore[arg-type]
        return again

    def _again(self, request: Request, error: PlatformError) -> Request:
        again = get_retry_request(
            request,
            spider=self.spider,
            reason=error.meaning,
            max_retry_times=self.retry_times,
            priority_adjust=0,
            give_up_log_level=logging.DEBUG,  # the errback says it in words, once
        )
        if again is None:
            raise error
        return unsent(again)

    async def _change_address(self, request: Request, reason: str, error: PlatformError) -> Request:
        """Send it through another proxy; without proxies the address is that of all sessions."""
        from mediacrawler.proxies.middleware import ProxyMiddleware  # it knows this module

        proxies = self.crawler.get_downloader_middleware(ProxyMiddleware)
        if proxies is not None and proxies.blocked(request):
            return unsent(request)
        if "proxy_label" in request.meta and len(self.spider.sessions.usable()) > 1:
            return await self._lose_session(request, "flagged", "blocked", reason, error)
        return self._stop(request, "blocked", reason)

    async def _lose_session(
        self,
        request: Request,
        state: State,
        verdict: StopVerdict,
        reason: str,
        error: PlatformError,
    ) -> Request:
        """The session is mended, or another one takes the request, or the crawl stops.

        :raises PlatformError: the request was sent to mend the session; whoever sent it decides.
        """
        if request.meta.get("mends"):
            raise error
        await self.spider.accounts.refused(
            request.meta["session"],
            state,
            verdict,
            reason,
            sent_at=request.meta.get("sent_at"),
            page=error.page,
        )
        return self._keep(request) if self.spider.stopping else unsent(request)

    def _stop(self, request: Request, verdict: StopVerdict, reason: str) -> Request:
        self.spider.stop(verdict, reason)
        return self._keep(request)

    def _keep(self, request: Request) -> Request:
        """Give a request that will not be sent back to the scheduler (and so to JOBDIR).

        :raises IgnoreRequest: it does not come from the scheduler (a file, a key): somebody waits
            for it, and will ask again in the next run.
        """
        if request.meta.get("awaited"):
            raise IgnoreRequest("the crawl is being stopped")
        return unsent(request)


def unsent(request: Request, **meta: Any) -> Request:
    """The request as it was before it was sent: without cookies and signature.

    They are made anew for each attempt, and must not be stored with it (JOBDIR).
    """
    again = request.replace(dont_filter=True, meta={**request.meta, **meta})
    for name in (b"Cookie", *request.meta.get("signed", ())):
        again.headers.pop(name, None)
    return again


def give_up_reason(error: PlatformError) -> tuple[StopVerdict, str]:
    """Verdict and reason where every answer for a while was a refusal like *error*."""
    if isinstance(error, BadSignature):
        return "error", f"no signature is accepted any more, the signer is out of date: {error}"
    if isinstance(error, AccessDenied):
        return "blocked", f"every answer is empty, the session is silently blocked: {error}"
    return "error", f"the platform does not give usable answers: {error}"


def read_response(pages: Any, request: Request, response: Response) -> Any:
    """What the page function of *request* (``meta["page"]``) makes of its answer.

    :raises PlatformError: it is not what was asked for.
    """
    headers = {
        name.decode("latin-1").lower(): values[-1].decode("latin-1")
        for name, values in response.headers.items()
        if values
    }
    return read_answer(pages, request, response.status, headers, response.body)


def read_answer(
    pages: Any, request: Request, status: int, headers: dict[str, str], body: bytes
) -> Any:
    """The same for the parts of an answer; the names of *headers* in lower case."""
    content = pages.read_answer(status, headers, body, url=request.url)
    return getattr(pages, request.meta["page"])(content, **request.meta.get("context", {}))


def judge_status(response: Response, now: float) -> None:
    """Judge an answer that no page function reads (a file, a redirect) by its status.

    :raises RateLimited: 429.
    :raises UnexpectedResponse: 5xx.
    """
    if response.status != 429 and response.status < 500:
        return
    header = response.headers.get("Retry-After")
    wait = retry_after(header.decode("latin-1") if header else None, now=now)
    error = RateLimited if response.status == 429 else UnexpectedResponse
    raise error("refused", code=response.status, retry_after=wait)


class SessionMiddleware:
    """Sends each request as one of the sessions: its download slot, user agent and cookie jar.

    A request stays with the session in ``meta["session"]`` (an account name) while that is
    usable; others get one here. All hosts of a platform share the session's slot, so that the
    delay holds for all of them, files included. Requests with ``meta["anonymous"]`` carry no
    cookies.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)
        crawler.signals.connect(self.release, signals.request_left_downloader)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        require_platform_spider(crawler)
        return cls(crawler)

    @property
    def spider(self) -> PlatformSpider:
        return self.crawler.spider  # type: ignore[return-value]

    def release(self, request: Request) -> None:
        """The request occupies its session no longer: it was sent, or it comes again."""
        account = request.meta.pop("busy", None)
        if account is not None:
            self.spider.sessions.finished(account)

    def spider_opened(self, spider: PlatformSpider) -> None:
        spider.accounts.fill_jars()

    def spider_closed(self, spider: PlatformSpider) -> None:
        for session in spider.sessions.sessions.values():
            spider.accounts.keep_cookies(session)

    async def process_request(self, request: Request) -> Request | None:
        if not request.meta.get("awaited"):
            await self.spider.opened.wait()
        self.release(request)
        meta = request.meta
        session = self.spider.sessions.choose(meta.get("session"), meta.get("needs"))
        if session is None:  # the last one was put aside while this request was on its way here
            if request.meta.get("awaited"):
                raise IgnoreRequest("no session is left")
            return unsent(request)
        self.spider.sessions.started(session)
        request.meta["busy"] = request.meta["session"] = session.account
        request.meta["download_slot"] = session.slot
        user_agent = request.meta.get("user_agent") or session.user_agent
        request.headers["User-Agent"] = user_agent or self.spider.default_user_agent
        if request.meta.get("anonymous"):
            request.meta["dont_merge_cookies"] = True
        else:
            request.meta["cookiejar"] = session.slot
        return None

    def process_exception(self, request: Request, exception: Exception) -> None:
        self.release(request)


class KeepLoginMiddleware:
    """Takes blank values of the login's cookies out of answers, before the cookie jar sees them.

    Some sites send such headers now and then; who obeys them is logged out.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        require_platform_spider(crawler)
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        lines = response.headers.getlist("Set-Cookie")
        kept = [line for line in lines if not self._blanks(line)]
        if len(kept) != len(lines):
            response.headers.setlist("Set-Cookie", kept)
        return response

    def _blanks(self, line: bytes) -> bool:
        spider: Any = self.crawler.spider
        name, _, value = line.decode("latin-1").partition(";")[0].partition("=")
        return name.strip() in spider.login_cookies and not value.strip(' "')


class SigningMiddleware:
    """Signs each attempt anew, from the very bytes and cookies that are about to be sent.

    A request that needs a signature has ``meta["sign"]``: what the spider's `sign` needs to
    know besides the request itself.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        require_platform_spider(crawler)
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        if "sign" not in request.meta:
            return
        spider: Any = self.crawler.spider
        line = (request.headers.get("Cookie") or b"").decode("latin-1")
        signature: Signature = await spider.sign(request, parse_header(line) if line else {})
        request.meta["signed"] = list(signature.headers)
        for name, value in signature.headers.items():
            request.headers[name] = value
        if signature.url is not None:
            # Scrapy has no public way to change the URL of a request that is on its way; a new
            # request would go through the scheduler again and be signed too early.
            request._set_url(signature.url)
