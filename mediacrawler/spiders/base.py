"""The crawl that all platforms share: which request comes next, and what becomes a record.

search page -> post details -> comments -> replies; creator -> profile and posts -> details.
The bookkeeping (limits, what is due) is the ledger's, the meaning of answers the page
modules', waiting and repeating the back-off middleware's.
"""

from __future__ import annotations

import asyncio
import copy
import os
import random
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
)
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import ValidationError
from scrapy import Request, Spider
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.defer import deferred_from_coro
from scrapy_spider_metadata import Args
from twisted.python.failure import Failure as TwistedFailure

from mediacrawler.args import CrawlArgs, explain
from mediacrawler.cookies import Cookie
from mediacrawler.exceptions import NotFound, PlatformError, RateLimited, UsageProblem
from mediacrawler.items import Comment, Creator, Post, post_key
from mediacrawler.job import Job
from mediacrawler.ledger import CommentWalk, Ledger, Seed
from mediacrawler.pages import CommentPage, PostList, PostPage
from mediacrawler.sessions import Session
from mediacrawler.sessions.accounts import Accounts
from mediacrawler.targets import Expected, Found, Target

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from typing_extensions import Self


StopVerdict = Literal["blocked", "rate_limited", "login_required", "error"]
Output = Iterator[Any]

HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
"""What a request for a page accepts; all others ask for JSON (DEFAULT_REQUEST_HEADERS)."""
LIST_PRIORITY = 20  # lists and profiles: they feed everything else, and they are few
COMMENT_PRIORITY = 10  # chains of pages: the sooner they start, the sooner the last one ends
MAX_REDIRECTS = 5  # of a short link


class Failure(TwistedFailure):
    """What an errback gets: Scrapy adds the request, and `value` is its exception."""

    request: Request
    value: Exception


@dataclass(frozen=True, slots=True)
class Signature:
    """What signing adds to a request: headers, or another URL (signed queries), or both."""

    headers: Mapping[str, str] = field(default_factory=dict)
    url: str | None = None


class PlatformSpider(Args[CrawlArgs], Spider):
    """Base class of the platform spiders.

    To support a platform, set the attributes below and write the ``*_request`` methods. Each
    builds one request and names, in ``meta``, the page function that reads its answer:
    ``meta["page"]`` (a function of `pages`), ``meta["context"]`` (its keyword arguments),
    ``meta["sign"]`` (whatever `sign` needs, if the request is signed). `api_request` and
    `html_request` do that. Time and dice come from `clock` and `rng`.
    """

    pages: ModuleType
    """The platform's module of ``mediacrawler.pages``."""
    targets: ModuleType
    """The platform's module of ``mediacrawler.targets``."""
    home: ClassVar[str]
    """The page where a person logs in; named in messages."""
    cookie_domain: str
    """The domain of cookies whose source does not say."""
    required_cookies: ClassVar[tuple[str, ...]] = ()
    """Without these no crawl begins."""
    login_cookies: ClassVar[tuple[str, ...]] = ()
    """What a login consists of: an answer that blanks them is not obeyed."""
    sorts: ClassVar[Mapping[str, Any]] = {"general": None}
    """The `sort` values that the platform has, with its own words for them."""
    post_types: ClassVar[Mapping[str, Any]] = {"all": None}
    """The `post_type` values that the platform has, with its own words for them."""
    personal_extra: ClassVar[frozenset[str]] = frozenset()
    """Keys of `extra` that tell who somebody is; left out while ANONYMIZE is on."""
    card_extra: ClassVar[tuple[str, ...]] = ("is_pinned",)
    """Keys of `extra` that only lists tell: carried over to the whole post."""
    creator_posts_chronological: ClassVar[bool] = True
    """A creator's list runs from new to old (pinned posts aside)."""
    idle_pages: ClassVar[int] = 1
    """So many list pages in a row without a new post end a list."""
    idle_comment_pages: ClassVar[int] = 1
    """So many pages in a row without a new comment end the comments of a post."""
    post_attempts: ClassVar[int] = 2
    """So many ways to a post are tried: its detail, and then what `post_fallback` names."""

    args: CrawlArgs
    clock: Callable[[], float] = staticmethod(time.time)
    """Gives the present in unix seconds."""
    rng: random.Random
    accounts_class: ClassVar[type[Accounts]] = Accounts
    job: Job | None = None

    # --- What a platform says: requests ----------------------------------------------------

    def search_start(self, seed: Seed) -> str:
        """The cursor of the first search page; prepares ``seed.context`` where needed."""
        return str(self.args.start_page)

    def search_request(self, seed: Seed, cursor: str) -> Request:
        """A page of search results for the keyword ``seed.value``."""
        raise NotImplementedError

    def creator_request(self, seed: Seed) -> Request:
        """The profile of the creator ``seed.value``."""
        raise NotImplementedError

    def creator_posts_request(self, seed: Seed, cursor: str | None) -> Request:
        """A page of the posts of the creator ``seed.value``."""
        raise NotImplementedError

    def card(self, target: Target) -> Post:
        """What a link or id says of a post: enough to ask for its detail."""
        return Post(self.name, target.id, extra=dict(target.context))

    def post_request(self, card: Post) -> Request:
        """The detail of a post that is known from a list or a link."""
        raise NotImplementedError

    def post_fallback(self, card: Post, error: Exception, attempt: int) -> Request | None:
        """Another way to a post whose *attempt*-th way (from 1) failed, or None.

        Asked at most `post_attempts` - 1 times.
        """
        return None

    def completion_request(self, page: PostPage) -> Request | None:
        """One more request that a post needs before it is whole (a long text), or None.

        Its page function gives the completed :class:`~mediacrawler.pages.PostPage`.
        """
        return None

    def comments_request(self, post: Post, cursor: str | None) -> Request:
        """A page of top-level comments of *post*."""
        raise NotImplementedError

    def replies_request(self, post: Post, root_id: str, cursor: str) -> Request:
        """A page of replies to the top-level comment *root_id* of *post*."""
        raise NotImplementedError

    def short_link_request(self, target: Target) -> Request:
        """Follow a short link by one step; redirects are read, never followed blindly."""
        return Request(target.id, meta={"anonymous": True})

    def api_headers(self, referer: str) -> dict[str, str]:
        """What a script of the page *referer* sends when it asks for data."""
        return {"Referer": referer}

    def media_headers(self) -> dict[str, str]:
        """Headers with which the platform's files are fetched: pages of the site show them."""
        return {"Referer": self.home}

    async def sign(self, request: Request, cookies: Mapping[str, str]) -> Signature:
        """The signature of one attempt (see SigningMiddleware)."""
        raise NotImplementedError

    async def renew_signature(self, request: Request, error: PlatformError) -> bool:
        """Get new keys because *error* may mean that the signature of *request* was refused.

        True if it is worth signing the request anew, once.
        """
        return False

    # --- What a platform says: answers -----------------------------------------------------

    def earliest_time(self, card: Post) -> datetime | None:
        """The earliest time at which the post can have been published, if the card tells."""
        return card.published_at

    def page_is_past(self, page: PostList, seed: Seed) -> bool:
        """Whether a list from new to old has left the dates, where cards know their time."""
        since = self.args.since
        times = [card.published_at for card in page.posts if not card.extra.get("is_pinned")]
        return bool(seed.chronological and since and times and times[-1] and times[-1] < since)

    def final_error(self, card: Post, error: Exception) -> Exception:
        """Why a post could not be had, in words that help: the last error, or a better one."""
        return error

    def without(self, page: PostPage, request: Request) -> PostPage | None:
        """What becomes of *page* where the answer to a completion *request* cannot be had.

        Gives the page to go on with, what is missing being marked so that it is not asked for
        again; or None, if the post stays as it is.
        """
        page.post.extra["truncated"] = True
        return None

    def finish(self, page: PostPage, card: Post) -> None:
        """Last changes to a post that is whole; *card* is what its list said of it."""

    def has_comments(self, post: Post) -> bool:
        """Whether there is anything to ask for among the comments of *post*."""
        return post.comment_count != 0

    def comments_taken(self, walk: CommentWalk, page: CommentPage) -> None:
        """End what a session is not shown of a post's comments, after *page* was taken.

        Uses ``walk.withheld`` and ``walk.fail``, which leave a gap on record.
        """

    # --- What a platform says: sessions ----------------------------------------------------

    def as_sent(self, cookie: Cookie) -> list[Cookie]:
        """A cookie in the form, and for the hosts, in which this platform wants it."""
        return [cookie]

    def missing_cookies(self, session: Session) -> list[str]:
        """Those of `required_cookies` that *session* lacks for what the arguments ask."""
        now = self.clock()
        names = {c.name for c in session.cookies if c.value and not c.expired(now)}
        return [name for name in self.required_cookies if name not in names]

    @property
    def login_domains(self) -> tuple[str, ...]:
        """Cookies of these domains (and those below them) belong to a login."""
        return (self.cookie_domain,)

    async def open_session(self, session: Session) -> None:
        """What *session* has to ask before its first request (keys, a visitor's cookies).

        Uses :meth:`fetch`; may call ``accounts.refused`` or ``accounts.put_aside``.
        """

    async def renew_login(self, session: Session) -> bool:
        """Renew an expired login by cookies that live longer, where the platform has them.

        Uses :meth:`fetch` with ``mends=True``. True if the platform knows who it is again.

        :raises PlatformError: it does not work.
        """
        return False

    def whoami_request(self) -> Request:
        """The platform's own word on whose session it is, read by the page function ``me``."""
        raise NotImplementedError

    def whoami_elsewhere(self) -> list[Request]:
        """The same on other hosts, where a platform has separate logins: one of them is enough."""
        return []

    async def log_in_by_phone(
        self, session: Session, zone: str, phone: str, ask_code: Callable[[], Awaitable[str]]
    ) -> bool:
        """Turn *session* into that of the owner of *phone*; False when it is being stopped.

        Only where codes are sent without a captcha.

        :param zone: the country code, without +.
        :param ask_code: gives the code of the text message.
        :raises PlatformError: a step is refused.
        """
        raise NotImplementedError

    # --- What platforms are built with -----------------------------------------------------

    def api_request(
        self,
        page: str,
        url: str,
        context: Mapping[str, Any] | None = None,
        *,
        referer: str | None = None,
        headers: Mapping[str, str] | None = None,
        method: str = "GET",
        body: str | bytes = b"",
        **meta: Any,
    ) -> Request:
        """A request for data, with the headers of `api_headers` and those given.

        :param page: the page function that reads the answer.
        :param context: its keyword arguments.
        :param referer: the page of the site that would ask; `home` if None.
        :param meta: further keys of ``request.meta`` (``sign``, ``needs``, ...).
        """
        return Request(
            url,
            method=method,
            headers={**self.api_headers(referer or self.home), **(headers or {})},
            body=body,
            meta={"page": page, "context": dict(context or {}), **meta},
        )

    def html_request(
        self,
        page: str,
        url: str,
        context: Mapping[str, Any] | None = None,
        *,
        referer: str | None = None,
        **meta: Any,
    ) -> Request:
        """A request for a page of the site, never signed; parameters as in `api_request`."""
        return Request(
            url,
            headers={"Accept": HTML, "Referer": referer or self.home},
            meta={"page": page, "context": dict(context or {}), **meta},
        )

    def set_cookies(
        self, session: Session, cookies: Mapping[str, str], domain: str | None = None
    ) -> None:
        """Give *session* cookies of *domain*; of `cookie_domain` if None."""
        jar = self.accounts.jar(session)
        for name, value in cookies.items():
            jar.set_cookie(Cookie(name, value).for_jar(domain or self.cookie_domain))

    def now(self) -> datetime:
        """The present by the spider's clock, to the second."""
        return now_utc(self.clock)

    @property
    def wants_videos(self) -> bool:
        """Whether video files are to be downloaded."""
        return self.args.media in ("videos", "all")

    # --- Start and stop -------------------------------------------------------------------

    def __init__(self, **kwargs: Any) -> None:
        """Read the arguments, once: an @file may not be readable twice.

        :raises UsageProblem: an argument is wrong, in one line.
        """
        Spider.__init__(self)
        try:
            self.args = CrawlArgs(**kwargs)
        except ValidationError as error:
            raise UsageProblem(explain(error)) from None
        self.check_arguments(self.args)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Check everything that the user gave before anything is sent.

        :raises UsageProblem: arguments, cookies or the data folder do not work.
        """
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.prepare(crawler.settings)
        return spider

    @classmethod
    def check_arguments(cls, arguments: CrawlArgs) -> None:
        """Refuse what this platform does not have.

        :raises UsageProblem: names the argument and the values to choose from.
        """
        choices: list[tuple[str, str, Mapping[str, Any]]] = [
            ("sort", arguments.sort, cls.sorts),
            ("post_type", arguments.post_type, cls.post_types),
        ]
        for name, value, known in choices:
            if value not in known:
                raise UsageProblem(
                    f"{cls.name} has no {name} '{value}'; choose one of {', '.join(known)}"
                )

    def prepare(self, settings: BaseSettings) -> None:
        """Read the cookies and the named posts and creators.

        :raises UsageProblem: nothing can be collected with them.
        """
        self.rng = random.Random()
        self.ledger = Ledger()
        self.stop_verdict: StopVerdict | None = None
        self.stop_reason: str | None = None
        self.default_user_agent: str = (
            settings.get(f"{self.name.upper()}_USER_AGENT") or settings["USER_AGENT"]
        )
        self.opened = asyncio.Event()
        """Set when the sessions are open; until then only what opens them is sent."""
        self.accounts = self.accounts_class(self, settings)
        self.sessions = self.accounts.pool
        self.accounts.check()
        check_folder(Path(settings["SAVE_DATA_PATH"]))
        if settings["JOBDIR"]:
            self.job = Job(Path(settings["JOBDIR"]), self.args)
            self.job.check()
        self.post_targets = self._find(self.args.posts, "post")
        self.creator_targets = self._find(self.args.creators, "creator")
        if not (self.args.keywords or self.post_targets or self.creator_targets):
            raise UsageProblem(
                f"no {self.name} post or creator in: {'; '.join(self.ledger.not_understood)}"
            )

    def _find(self, text: str, expected: Expected) -> list[Target]:
        found: Found = self.targets.find(text, expected)
        targets = []
        for target in found.targets:
            if target.kind in (expected, "short_link"):
                targets.append(target)
            else:
                self._not_understood(f"{target.id} (a {target.kind}; give it in {target.kind}s)")
        for words in found.unknown:
            self._not_understood(words)
        return targets

    def _not_understood(self, words: str) -> None:
        self.ledger.not_understood.append(words)
        self.logger.warning("%s: not understood, left out: %s", self.name, words)

    @property
    def stopping(self) -> bool:
        """Whether the crawl is ending early: no request may be sent or waited for any more."""
        engine = self.crawler.engine
        # Scrapy has no public word for "close_spider was asked for".
        closing = engine is None or engine._slot is None or engine._slot.closing
        return self.stop_reason is not None or bool(closing) or not engine.running

    def stop(self, verdict: StopVerdict, reason: str) -> None:
        """End the crawl cleanly: what is in flight is finished or kept, files are closed.

        The first call decides verdict and reason.
        """
        if self.stop_reason is not None:
            return
        self.stop_verdict, self.stop_reason = verdict, reason
        self.logger.error("%s: stopping: %s", self.name, reason)
        assert self.crawler.engine
        deferred_from_coro(self.crawler.engine.close_spider_async(reason=verdict))

    async def fetch(
        self, request: Request, session: Session | None = None, *, mends: bool = False
    ) -> Any:
        """What the page function of *request* reads, or None when the crawl is being stopped.

        The parameters are those of :meth:`download`.

        :raises PlatformError: the attempts are used up, or the answer is a refusal.
        """
        response = await self.download(request, session, mends=mends)
        return response and response.meta.get("result")

    async def download(
        self, request: Request, session: Session | None = None, *, mends: bool = False
    ) -> Response | None:
        """Send *request* as *session*, or as any; None when the crawl is being stopped.

        A request that *mends* its session does not wait for it to be mended, and a refusal of it
        has no consequences.

        :raises PlatformError: the attempts are used up, or the answer is a refusal.
        """
        assert self.crawler.engine
        request.meta["awaited"] = True
        if mends:
            request.meta["mends"] = True
        if session is not None:
            request.meta["session"] = session.account
        try:
            return await self.crawler.engine.download_async(request)
        except IgnoreRequest:
            return None

    async def read_post(self, post: Post) -> PostPage | None:
        """A post read once more, with all that completes it; None when the crawl is stopping.

        :raises PlatformError: it cannot be had any more.
        """
        page: PostPage | None = await self.fetch(self.post_request(post))
        while page and (request := self.completion_request(page)) is not None:
            page = await self.fetch(request)
        return page

    async def start(self) -> AsyncIterator[Any]:
        """The first requests of every seed; a resumed crawl (JOBDIR) has them already."""
        state: dict[str, Any] = getattr(self, "state", {})
        resumed = "ledger" in state
        self.ledger = state.setdefault("ledger", self.ledger)
        try:
            await self._open_sessions()
        finally:
            self.opened.set()
        if resumed:
            self.logger.info("%s: resuming", self.name)
        elif not self.stopping:
            for request in self._seed_requests():
                yield request

    async def _open_sessions(self) -> None:
        for session in self.sessions.usable():
            try:
                await self.open_session(session)
            except RateLimited as error:
                reason = f"too many requests, and waiting does not help: {error}"
                self.accounts.put_aside(session.account, "rate_limited", "rate_limited", reason)
            except PlatformError as error:
                self.stop("error", f"no session could be opened: {error}")

    def _seed_requests(self) -> Output:
        if self.post_targets:
            seed = self.ledger.add_seed("posts", "links and ids", None)
            seed.asked = len(self.post_targets)
            seed.end("all named posts asked for")
            cards = [self.card(target) for target in self.post_targets if target.kind == "post"]
            seed.offer(cards, self.ledger.claimed)
            yield from self._advance(seed)
        for target in self.creator_targets:
            if target.kind == "creator":
                yield from self._start_creator(target)
        for keyword in self.args.keywords:
            seed = self.ledger.add_seed("keyword", keyword, self.args.max_posts)
            seed.chronological = self.args.sort == "latest"
            seed.cursor = self.search_start(seed)
            yield from self._advance(seed)
        for expected, targets in (("post", self.post_targets), ("creator", self.creator_targets)):
            for target in targets:
                if target.kind == "short_link":
                    yield self._follow(target, expected, steps=0)

    def _start_creator(self, target: Target) -> Output:
        if any(seed.kind == "creator" and seed.value == target.id for seed in self.ledger.seeds):
            return  # a short link led to somebody who was named already
        seed = self.ledger.add_seed("creator", target.id, self.args.max_posts)
        seed.context = dict(target.context)
        seed.chronological = self.creator_posts_chronological
        request = self.creator_request(seed)
        yield self._plan(
            request, self.parse_creator, self.creator_failed, LIST_PRIORITY, creator_id=target.id
        )
        yield from self._advance(seed)

    def _plan(
        self,
        request: Request,
        callback: Callable[..., Output],
        errback: Callable[[Any], Output],
        priority: int,
        **cb_kwargs: Any,
    ) -> Request:
        """Tie a platform's request to the shared crawl."""
        request.callback = callback
        request.errback = errback
        request.priority = priority
        request.cb_kwargs.update(cb_kwargs)
        return request

    # --- Short links ----------------------------------------------------------------------

    def _follow(self, target: Target, expected: str, steps: int) -> Request:
        return self._plan(
            self.short_link_request(target),
            self.parse_short_link,
            self.short_link_failed,
            LIST_PRIORITY,
            link=target.id,
            expected=expected,
            steps=steps,
        )

    def parse_short_link(self, response: Response, link: str, expected: str, steps: int) -> Output:
        location = (response.headers.get("Location") or b"").decode("latin-1")
        targets: list[Target] = (
            self.targets.resolve(response.urljoin(location), expected) if location else []
        )
        if not targets:
            self._not_understood(f"{link} (leads nowhere, HTTP {response.status})")
        for target in targets:
            if target.kind == "short_link" and steps < MAX_REDIRECTS:
                yield self._follow(target, expected, steps + 1)
            elif target.kind == expected == "creator":
                yield from self._start_creator(target)
            elif target.kind == expected == "post":
                seed = next(seed for seed in self.ledger.seeds if seed.kind == "posts")
                seed.offer([self.card(target)], self.ledger.claimed)
                yield from self._advance(seed)
            else:
                self._not_understood(f"{link} (leads to a {target.kind}, not a {expected})")

    def short_link_failed(self, failure: Failure) -> Output:
        self._not_understood(f"{failure.request.cb_kwargs['link']} ({failure.value})")
        yield from ()

    # --- Lists of posts -------------------------------------------------------------------

    def _advance(self, seed: Seed) -> Output:
        """Open what may be opened, and ask for the next list page if it is wanted."""
        for card in seed.draw():
            yield self._open(card, seed.index, self.post_request(card), attempt=1)
        if seed.wants_page(self._lookahead):
            seed.listing = True
            yield self._plan(
                self._list_request(seed),
                self.parse_list,
                self.list_failed,
                LIST_PRIORITY,
                seed=seed.index,
            )
        for card in seed.spare_cards():
            card.extra["incomplete"] = True
            yield from self._items([card], seed)

    @property
    def _lookahead(self) -> int:
        """Posts in hand below which the next list page is asked for, so that none waits."""
        return max(20, 2 * self.crawler.settings.getint("CONCURRENT_REQUESTS"))

    def _list_request(self, seed: Seed) -> Request:
        if seed.kind == "keyword":
            request = self.search_request(seed, seed.cursor or "")
        else:
            request = self.creator_posts_request(seed, seed.cursor)
        if seed.session:  # the pages of one list are asked for by one account
            request.meta["session"] = seed.session
        return request

    def parse_list(self, response: Response, seed: int) -> Output:
        page: PostList = response.meta["result"]
        taken = self.ledger.seeds[seed]
        taken.listing = False
        taken.session = response.meta["session"]
        taken.pages += 1
        news = taken.offer(page.posts, self.ledger.claimed, self._unwanted)
        self._count_unreadable(page.unreadable, f"'{taken.value}'")
        self.logger.info(
            "%s: %d posts on page %d of '%s'", self.name, len(page.posts), taken.pages, taken.value
        )
        taken.idle_pages = 0 if news or page.fresh_start else taken.idle_pages + 1
        if not page.has_more or not page.cursor:
            taken.end("the platform has no more")
        elif taken.idle_pages >= self.idle_pages or page.cursor == taken.cursor:
            taken.end("the platform repeats itself" if page.posts else "the platform has no more")
        taken.cursor = page.cursor
        if self.page_is_past(page, taken):
            taken.end("dates")
        yield from self._advance(taken)

    def list_failed(self, failure: Failure) -> Output:
        seed = self.ledger.seeds[failure.request.cb_kwargs["seed"]]
        seed.listing = False
        error = failure.value
        if isinstance(error, NotFound):
            seed.end(f"not found: {error}")
            self.logger.warning("%s: '%s' is not found: %s", self.name, seed.value, error)
        else:
            seed.list_error = str(error)
            seed.end("list failed")
            self.logger.error("%s: the list of '%s' failed: %s", self.name, seed.value, error)
        yield from self._advance(seed)

    def _count_unreadable(self, number: int, where: str) -> None:
        if number:
            self.ledger.unreadable += number
            self.logger.error("%s: %d records of %s cannot be read", self.name, number, where)

    def _unwanted(self, card: Post) -> str | None:
        """Why a card need not be opened, as far as it tells."""
        wanted = self.args.post_type
        if wanted != "all" and card.post_type is not None and card.post_type != wanted:
            return "other type"
        since, published = self.args.since, card.published_at
        if since and published and published < since:
            return "outside the dates"
        earliest = self.earliest_time(card)
        if self.args.until and earliest and earliest > self.args.until:
            return "outside the dates"
        return None

    # --- Posts ----------------------------------------------------------------------------

    def _open(self, card: Post, seed: int, request: Request, attempt: int) -> Request:
        return self._plan(
            request, self.parse_post, self.post_failed, 0, card=card, seed=seed, attempt=attempt
        )

    def parse_post(self, response: Response, card: Post, seed: int, attempt: int) -> Output:
        page: PostPage = response.meta["result"]
        page.session = response.meta["session"]
        yield from self._complete(page, card, seed)

    def _complete(self, page: PostPage, card: Post, seed: int) -> Output:
        request = self.completion_request(page)
        if request is None:
            yield from self._save(page, card, seed)
            return
        if page.session:
            request.meta["session"] = page.session
        yield self._plan(
            request,
            self.parse_completion,
            self.completion_failed,
            0,
            page=page,
            card=card,
            seed=seed,
        )

    def parse_completion(self, response: Response, page: PostPage, card: Post, seed: int) -> Output:
        whole: PostPage = response.meta["result"]
        whole.session = page.session
        whole.related = whole.related or page.related
        yield from self._complete(whole, card, seed)

    def completion_failed(self, failure: Failure) -> Output:
        kwargs = failure.request.cb_kwargs
        page: PostPage = kwargs["page"]
        self.crawler.stats.inc_value("posts/truncated")
        self.logger.error(
            "%s: post %s is incomplete: %s", self.name, page.post.post_id, failure.value
        )
        rest = self.without(page, failure.request)
        if rest is None:
            yield from self._save(page, kwargs["card"], kwargs["seed"])
            return
        rest.session, rest.related = page.session, rest.related or page.related
        yield from self._complete(rest, kwargs["card"], kwargs["seed"])

    def _save(self, page: PostPage, card: Post, seed: int) -> Output:
        self.finish(page, card)
        taken = self.ledger.seeds[seed]
        post = page.post
        reason = self._outside(post, taken)
        if reason:
            taken.post_skipped(reason)
            if reason == "outside the dates" and self._list_is_past(post, card, taken):
                taken.end_by_dates()
            yield from self._advance(taken)
            return
        for name in self.card_extra:
            if name in card.extra:
                post.extra.setdefault(name, card.extra[name])
        taken.post_saved()
        # An original may come with many reposts, or be collected for itself.
        originals = [p for p in page.related if post_key(p) not in self.ledger.claimed]
        self.ledger.claimed.update(post_key(original) for original in originals)
        yield from self._start_comments(post, page.session)
        yield from self._advance(taken)
        yield from self._items([post, *originals], taken)

    def _outside(self, post: Post, seed: Seed) -> str | None:
        """Why a post is not wanted after all; what was named by link always is."""
        if seed.kind == "posts":
            return None
        if not self.args.wants(post.published_at):
            return "outside the dates"
        if self.args.post_type not in ("all", post.post_type):
            return "other type"
        return None

    def _list_is_past(self, post: Post, card: Post, seed: Seed) -> bool:
        """Whether everything after this post is older than `since`; pinned posts do not tell."""
        since, published = self.args.since, post.published_at
        return bool(
            seed.chronological
            and since
            and published
            and published < since
            and not card.extra.get("is_pinned")
        )

    def _items(self, posts: list[Post], seed: Seed) -> Output:
        for post in posts:
            post.source_keyword = seed.value if seed.kind == "keyword" else None
            post.crawled_at = self.now()
            yield post

    def post_failed(self, failure: Failure) -> Output:
        kwargs = failure.request.cb_kwargs
        card: Post = kwargs["card"]
        seed = self.ledger.seeds[kwargs["seed"]]
        attempt: int = kwargs["attempt"]
        fallback = None
        if attempt < self.post_attempts:
            fallback = self.post_fallback(card, failure.value, attempt)
        if fallback is not None:
            fallback.meta["session"] = failure.request.meta.get("session")
            yield self._open(card, kwargs["seed"], fallback, attempt + 1)
            return
        error = self.final_error(card, failure.value)
        if isinstance(error, NotFound):
            seed.post_skipped(NotFound.meaning)
            self.logger.info("%s: post %s is not there: %s", self.name, card.post_id, error)
        else:
            seed.post_failed(card, str(error))
            self.logger.error("%s: post %s failed: %s", self.name, card.post_id, error)
        yield from self._advance(seed)

    # --- Comments -------------------------------------------------------------------------

    def _start_comments(self, post: Post, session: str | None) -> Output:
        if self.args.max_comments == 0 or not self.has_comments(post):
            return
        self.ledger.comments_expected += post.comment_count or 0
        # A copy: pipelines change the item (privacy), requests need what the platform said.
        known = copy.copy(post)
        known.extra = dict(post.extra)
        walk = self.ledger.start_walk(known, self.args.max_comments, self.args.max_replies)
        walk.session, walk.idle_limit = session, self.idle_comment_pages
        yield self._comments_page(walk)

    @staticmethod
    def _bound(walk: CommentWalk, request: Request) -> Request:
        """A post and its comments are read by one account."""
        if walk.session:
            request.meta["session"] = walk.session
        return request

    def _comments_page(self, walk: CommentWalk) -> Request:
        return self._plan(
            self._bound(walk, self.comments_request(walk.post, walk.cursor)),
            self.parse_comments,
            self.comments_failed,
            COMMENT_PRIORITY,
            walk=post_key(walk.post),
        )

    def _replies_page(self, walk: CommentWalk, root_id: str) -> Request:
        return self._plan(
            self._bound(
                walk, self.replies_request(walk.post, root_id, walk.threads[root_id].cursor)
            ),
            self.parse_replies,
            self.comments_failed,
            COMMENT_PRIORITY,
            walk=post_key(walk.post),
            root_id=root_id,
        )

    def parse_comments(self, response: Response, walk: str) -> Output:
        page: CommentPage = response.meta["result"]
        taken = self.ledger.walks[walk]
        known = set(taken.threads)
        self._count_unreadable(page.unreadable, f"the comments of {taken.post.post_id}")
        kept = taken.take(page)
        self.comments_taken(taken, page)
        if taken.cursor:
            yield self._comments_page(taken)
        else:
            taken.end()
        for root_id in taken.threads:
            if root_id not in known:
                yield self._replies_page(taken, root_id)
        yield from self._comments(taken, kept)

    def parse_replies(self, response: Response, walk: str, root_id: str) -> Output:
        taken = self.ledger.walks[walk]
        kept = taken.take_replies(root_id, response.meta["result"])
        if root_id in taken.threads:
            yield self._replies_page(taken, root_id)
        yield from self._comments(taken, kept)

    def _comments(self, walk: CommentWalk, comments: list[Comment]) -> Output:
        if walk.finished:
            self.ledger.close_walk(walk)
        for comment in comments:
            if comment.root_id is None:
                self.ledger.comments += 1
            else:
                self.ledger.replies += 1
            comment.crawled_at = self.now()
            yield comment

    def comments_failed(self, failure: Failure) -> Output:
        kwargs = failure.request.cb_kwargs
        walk = self.ledger.walks[kwargs["walk"]]
        error = failure.value
        if isinstance(error, NotFound):  # closed by the author, or gone with the post
            walk.end(kwargs.get("root_id"))
            self.crawler.stats.inc_value("comments/closed")
        else:
            walk.fail(str(error), kwargs.get("root_id"))
            self.logger.error(
                "%s: comments of post %s are incomplete: %s", self.name, walk.post.post_id, error
            )
        yield from self._comments(walk, [])

    # --- Creators -------------------------------------------------------------------------

    def parse_creator(self, response: Response, creator_id: str) -> Output:
        yield from self._save_creator(response.meta["result"])

    def _save_creator(self, creator: Creator) -> Output:
        creator.crawled_at = self.now()
        self.ledger.creators += 1
        yield creator

    def creator_failed(self, failure: Failure) -> Output:
        creator_id = failure.request.cb_kwargs["creator_id"]
        error = failure.value
        if isinstance(error, NotFound):
            self.ledger.creators_skipped[NotFound.meaning] += 1
            self.logger.warning("%s: creator %s is not there: %s", self.name, creator_id, error)
        else:
            self.ledger.creators_failed[creator_id] = str(error)
            self.logger.error("%s: creator %s failed: %s", self.name, creator_id, error)
        yield from ()


def choice(settings: BaseSettings, name: str, allowed: Collection[Any]) -> Any:
    """The value of a setting that has a few to choose from.

    :raises UsageProblem: names them.
    """
    value = settings[name]
    if value not in allowed and str(value) not in allowed:
        raise UsageProblem(f"{name}={value}: choose one of {', '.join(map(str, allowed))}")
    return value


def narrowest(
    since: datetime | None, spans: Iterable[tuple[int, str]], everything: str, *, now: datetime
) -> str:
    """The narrowest time filter that still contains, at *now*, all since *since*.

    *spans* are days and the platform's word for them, from short to long.
    """
    if since is None:
        return everything
    age = now - since
    return next((word for days, word in spans if age <= timedelta(days=days)), everything)


def check_folder(folder: Path) -> None:
    """Make sure that records can be written to *folder*.

    :raises UsageProblem: it cannot be created or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".write-test-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise UsageProblem(
            f"SAVE_DATA_PATH={folder} cannot be written: {error.strerror or error}; "
            "choose another folder with -s SAVE_DATA_PATH=..."
        ) from None


def now_utc(clock: Callable[[], float] = time.time) -> datetime:
    """The present by *clock* (unix seconds), to the second."""
    return datetime.fromtimestamp(int(clock()), timezone.utc)
