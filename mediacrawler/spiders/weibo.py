"""Weibo: how each request is built, and which of its two hosts is asked with which session.

What an answer means is in ``mediacrawler/pages/weibo.py``; nothing is signed. Facts about the wire
are cited from docs/platforms/weibo.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote, urlencode, urlsplit

from scrapy import Request

from mediacrawler.cookies import Cookie
from mediacrawler.exceptions import PlatformError, RateLimited, UnexpectedResponse
from mediacrawler.items import Post
from mediacrawler.ledger import CommentWalk, Seed
from mediacrawler.pages import CommentPage, PostList, PostPage, Viewer
from mediacrawler.pages import weibo as pages
from mediacrawler.sessions import Session
from mediacrawler.spiders.base import HTML, LIST_PRIORITY, Output, PlatformSpider
from mediacrawler.targets import Target
from mediacrawler.targets import weibo as targets

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from mediacrawler.spiders.base import Failure

MOBILE = "https://m.weibo.cn"
DESKTOP = "https://weibo.com"
SEARCH = "https://s.weibo.com"
VISITOR = "https://passport.weibo.com/visitor"
DOMAINS = (".weibo.cn", ".weibo.com")
PHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 "
    "(KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
)
VISITOR_FORM = {
    "cb": "visitor_gray_callback",
    "ver": "20250916",
    "tid": "",
    "from": "weibo",
    "webdriver": "false",
    "return_url": f"{DESKTOP}/",
}  # (2.5)
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
RENEWING = {"SCF", "ALC"}  # cookies that outlive a login and renew it (1.3, 9.4)
SIGN_ON_HOPS = 8  # a login goes over four hosts (9.1)
COMMENT_PAGE = 20  # (3.11)
DISORDER = timedelta(days=1)  # the latest posts come nearly, not strictly by time (3.1)
SHANGHAI = timezone(timedelta(hours=8))
FIRST_DAY = datetime(2009, 8, 14, tzinfo=SHANGHAI)  # nothing on Weibo is older
HOUR = 3600


class WeiboSpider(PlatformSpider):
    """Posts, comments and creators of Weibo; with a login on one of its hosts, or less without."""

    name = "weibo"
    pages = pages
    targets = targets
    home = f"{MOBILE}/"
    cookie_domain = ".weibo.cn"
    required_cookies = ("SUB",)
    login_domains = (*DOMAINS, ".sina.com.cn")  # the last renews both (9)
    sorts: ClassVar = {"general": "1", "latest": "61", "likes": "60"}  # tabs (3.1)
    post_types: ClassVar = {
        # what the desktop search adds to its query; the mobile one has a tab for videos only
        "all": {},
        "video": {"hasvideo": "1"},
        "image": {"haspic": "1"},
        "text": {},
        "article": {},
        "live": {},
    }
    personal_extra: ClassVar = frozenset({"location", "object_id"})
    idle_pages: ClassVar = 3  # results move while they are paged (3.1)
    idle_comment_pages: ClassVar = 3  # a page in the middle can be empty (3.10)
    post_attempts: ClassVar = 3  # desktop, mobile, the mobile page

    def prepare(self, settings: BaseSettings) -> None:
        self.on_mobile = False
        """Logged in on m.weibo.cn."""
        self.on_desktop = False
        """Logged in on weibo.com; else a visitor there."""
        self.stays_cut: set[str] = set()
        super().prepare(settings)

    def as_sent(self, cookie: Cookie) -> list[Cookie]:
        """One line of cookies does not say for which host it is: each host is asked (1.3, 1.5)."""
        if cookie.domain:
            return [cookie]
        return [replace(cookie, domain=domain) for domain in DOMAINS]

    def missing_cookies(self, session: Session) -> list[str]:
        """Posts that are named can be read by anybody; searches and lists need a login (1.2)."""
        if self.args.keywords or self.args.creators.strip():
            return super().missing_cookies(session)
        return []

    # --- The sessions (1.3, 1.5, 2.5) -----------------------------------------------------

    async def open_session(self, session: Session) -> None:
        """What are the cookies worth on each host? Without a login, become a desktop visitor."""
        logins = await self._logins(session)
        if not logins and await self.accounts.renew(session):
            logins = await self._logins(session)
        if self.stopping:
            return
        session.can |= logins
        self.on_mobile = self.on_mobile or "mobile" in logins
        self.on_desktop = self.on_desktop or "desktop" in logins
        if not logins:
            if self.args.keywords or self.creator_targets:
                reason = "searches and lists need a login; the cookies are none"
                if await self.accounts.refused(session.account, "guest", "login_required", reason):
                    await self.open_session(session)
                return
            self.logger.warning(
                "%s: without a login only the first page of comments is shown", self.name
            )
        if "desktop" not in logins:
            await self._become_visitor(session)

    async def renew_login(self, session: Session) -> bool:
        """Visit the home pages: while SCF and ALC live, single sign-on logs in again (9.4)."""
        if not {cookie.name for cookie in self.accounts.jar(session)} & RENEWING:
            return False
        for home in (f"{DESKTOP}/", f"{MOBILE}/"):
            await self._visit(home, session)
            if await self._logins(session):
                return True
        return False

    async def _visit(self, url: str, session: Session) -> None:
        """Open a page of one of the hosts and follow its redirects, for the cookies they set."""
        for _ in range(SIGN_ON_HOPS):
            request = Request(url, headers={"Accept": HTML})
            response = await self.download(request, session, mends=True)
            if response is None:
                return
            location = (response.headers.get("Location") or b"").decode("latin-1")
            url = response.urljoin(location)
            host = urlsplit(url).hostname or ""
            if not location or not f".{host}".endswith(self.login_domains):
                return

    def whoami_request(self) -> Request:
        """Whose session it is on the mobile host (1.5)."""
        return self._mobile("me", f"{MOBILE}/api/config", referer=f"{MOBILE}/", needs=None)

    def whoami_elsewhere(self) -> list[Request]:
        """Whose session it is on the desktop host: a login can be one of either (1.3, 1.5)."""
        url = f"{DESKTOP}/ajax/config/get_config"
        return [self._desktop("me", url, referer=f"{DESKTOP}/", needs=None)]

    async def _logins(self, session: Session) -> set[str]:
        """Where *session* is a login: some of ``mobile`` and ``desktop``."""
        (desktop,) = self.whoami_elsewhere()
        asked = {"mobile": self.whoami_request(), "desktop": desktop}
        return {host for host, request in asked.items() if await self._is_login(request, session)}

    async def _is_login(self, request: Request, session: Session) -> bool:
        """What a host says of *session*; a refusal is an answer too, and no reason to stop.

        :raises RateLimited: it says nothing, however long one waits.
        """
        try:
            viewer: Viewer | None = await self.fetch(request, session, mends=True)
        except RateLimited:
            raise
        except PlatformError as error:
            self.logger.debug("%s: no login: %s", self.name, error)
            return False
        return viewer is not None and not viewer.guest

    async def _become_visitor(self, session: Session) -> None:
        """Get the cookies of a desktop visitor, who may read details (1.2)."""
        request = Request(
            f"{VISITOR}/genvisitor2",
            method="POST",
            headers={**FORM, "Referer": f"{VISITOR}/visitor"},
            body=urlencode(VISITOR_FORM),
            meta={"page": "visitor"},
        )
        try:
            visitor = await self.fetch(request, session)
        except PlatformError as error:
            self.logger.warning("%s: no visitor's cookies for weibo.com: %s", self.name, error)
            return
        if visitor is not None:
            cookies = {"SUB": visitor.sub, "SUBP": visitor.subp}
            self.set_cookies(session, cookies, ".weibo.com")

    # --- Search (3.1, 3.2, 6.2) -----------------------------------------------------------

    @property
    def _in_windows(self) -> bool:
        """Only the desktop search knows dates."""
        return bool(self.on_desktop and (self.args.since or self.args.until))

    @property
    def _searches_mobile(self) -> bool:
        return self.on_mobile and not self._in_windows

    def search_start(self, seed: Seed) -> str:
        seed.chronological = False  # see `_is_past`
        if not self._in_windows:
            return super().search_start(seed)
        since = self.args.since or FIRST_DAY
        until = min(self.args.until or self.now(), self.now())
        first, last = (int(moment.timestamp()) // HOUR for moment in (since, until))
        return pages.window_cursor(self.args.start_page, [(first, max(first, last))])

    def search_request(self, seed: Seed, cursor: str) -> Request:
        if not self._searches_mobile:
            return self._desktop_search(seed, cursor)
        tab = self.sorts[self.args.sort]
        if self.args.post_type == "video" and self.args.sort == "general":
            tab = "64"
        container = quote(search_container(seed.value, tab), safe="")
        url = f"{MOBILE}/api/container/getIndex?containerid={container}&page_type=searchall"
        referer = f"{MOBILE}/search?containerid={container}"
        # The first page without its number: its emptiness is looked into here, see `parse_list`.
        context = {} if cursor == "1" else {"page": int(cursor)}
        return self._mobile("search", f"{url}&page={cursor}", context, referer=referer)

    def _desktop_search(self, seed: Seed, cursor: str) -> Request:
        page, windows = pages.windows_of(cursor)
        params = {"q": seed.value, "nodup": "1", "page": str(page)}
        params |= {"xsort": "hot"} if self.args.sort == "likes" else {"typeall": "1"}
        params |= self.post_types[self.args.post_type] or {"suball": "1"}
        context: dict[str, Any] = {"page": page}
        if windows:
            params["timescope"] = time_scope(*windows[0])
            context = {"cursor": cursor}
        reader = "search_window" if windows else "search"
        url = f"{SEARCH}/weibo?{urlencode(params)}"
        return self.html_request(reader, url, context, referer=f"{SEARCH}/")

    def parse_list(self, response: Response, seed: int) -> Output:
        """An empty search may be a silent block (6.2)."""
        page: PostList = response.meta["result"]
        taken = self.ledger.seeds[seed]
        first = taken.kind == "keyword" and taken.pages == 0
        if first and not page.posts and not page.has_more and self._searches_mobile:
            yield self._probe_request(seed)
            return
        yield from super().parse_list(response, seed)

    def page_is_past(self, page: PostList, seed: Seed) -> bool:
        """A list by time is only nearly one: all of its page must be older (2.3, 3.1)."""
        since = self.args.since
        cards = [card for card in page.posts if not card.extra.get("is_pinned")]
        if since is None or not cards:
            return False
        newest = max(card.published_at or self.now() for card in cards)
        if seed.kind == "creator":
            return newest < since
        by_time = self._searches_mobile and self.args.sort == "latest"
        return by_time and newest < since - DISORDER

    def _probe_request(self, seed: int) -> Request:
        """A word that surely has results (3.15)."""
        url = f"{DESKTOP}/ajax/side/hotSearch"
        request = self._desktop("hot_words", url, referer=f"{DESKTOP}/")
        return self._plan(request, self.parse_hot_words, self.list_failed, LIST_PRIORITY, seed=seed)

    def parse_hot_words(self, response: Response, seed: int) -> Output:
        words: list[str] = response.meta["result"]
        if not words:
            yield from self._nothing_found(seed)
            return
        probe = self.search_request(Seed("keyword", words[0], None), "1")
        yield self._plan(probe, self.parse_probe, self.list_failed, LIST_PRIORITY, seed=seed)

    def parse_probe(self, response: Response, seed: int) -> Output:
        page: PostList = response.meta["result"]
        if page.posts:
            yield from self._nothing_found(seed)
        else:
            reason = "searches find nothing, whatever the word: silently blocked"
            self.accounts.put_aside(response.meta["session"], "flagged", "blocked", reason)

    def _nothing_found(self, seed: int) -> Output:
        """The empty answer was an honest one."""
        taken = self.ledger.seeds[seed]
        taken.listing = False
        taken.pages += 1
        taken.end("the platform has no more")
        yield from self._advance(taken)

    # --- Creators (3.6 to 3.9) ------------------------------------------------------------

    def creator_request(self, seed: Seed) -> Request:
        if not self.on_mobile:
            url = f"{DESKTOP}/ajax/profile/info?uid={seed.value}"
            return self._desktop("creator", url, referer=targets.creator_url(seed.value))
        url = f"{MOBILE}/api/container/getIndex?type=uid&value={seed.value}"
        return self._mobile("creator", url, referer=f"{MOBILE}/u/{seed.value}")

    def parse_creator(self, response: Response, creator_id: str) -> Output:
        """The profile, then the IP region, which only the desktop tells (3.7)."""
        if response.meta["page"] != "creator":
            yield from super().parse_creator(response, creator_id)
            return
        context = {"so_far": response.meta["result"]}
        url = f"{DESKTOP}/ajax/profile/detail?uid={creator_id}"
        referer = targets.creator_url(creator_id)
        yield self._plan(
            self._desktop("creator_detail", url, context, referer=referer),
            self.parse_creator,
            self.region_failed,
            LIST_PRIORITY,
            creator_id=creator_id,
        )

    def region_failed(self, failure: Failure) -> Output:
        """A profile without its region is one all the same."""
        self.logger.warning("%s: no region of a creator: %s", self.name, failure.value)
        yield from self._save_creator(failure.request.meta["context"]["so_far"])

    def creator_posts_request(self, seed: Seed, cursor: str | None) -> Request:
        uid = seed.value
        if not self.on_mobile:
            query = cursor or "page=1"
            page = int(query.removeprefix("page=").partition("&")[0])
            context = {"creator_id": uid, "page": page}
            url = f"{DESKTOP}/ajax/statuses/mymblog?uid={uid}&feature=0&{query}"
            referer = targets.creator_url(uid)
            return self._desktop("creator_posts", url, context, referer=referer)
        url = f"{MOBILE}/api/container/getIndex?type=uid&value={uid}&containerid=107603{uid}"
        if cursor:
            url += f"&{cursor}"
        context = {"creator_id": uid}
        return self._mobile("creator_posts", url, context, referer=f"{MOBILE}/u/{uid}")

    # --- Posts (3.3 to 3.5, 3.13) ---------------------------------------------------------

    def post_request(self, card: Post) -> Request:
        if card.extra.get("object") == "article":
            context = {"article_id": card.post_id}
            url = f"https://card.weibo.com/article/m/aj/detail?id={card.post_id}"
            referer = f"https://card.weibo.com/article/m/show/id/{card.post_id}"
            return self._mobile("article", url, context, referer=referer)
        url = f"{DESKTOP}/ajax/statuses/show?id={card.post_id}&locale=zh-CN&isGetLongText=true"
        return self._desktop("post", url, referer=address_of(card))

    def post_fallback(self, card: Post, error: Exception, attempt: int) -> Request | None:
        """The mobile site where the desktop gives no usable answer; a refusal is believed."""
        if not isinstance(error, UnexpectedResponse) or card.extra.get("object") == "article":
            return None
        address = f"{MOBILE}/detail/{card.post_id}"
        if attempt == 1:
            url = f"{MOBILE}/statuses/show?id={card.post_id}"
            return self._mobile("post", url, referer=address)
        return self.html_request("post", address, referer=f"{MOBILE}/")

    def finish(self, page: PostPage, card: Post) -> None:
        post = page.post
        post.edited_at = post.edited_at or card.edited_at  # the desktop only counts edits

    def completion_request(self, page: PostPage) -> Request | None:
        """Full texts, of the post and of the original that it retweets (3.5)."""
        cut = next((post for post in (page.post, *page.related) if self._is_cut(post)), None)
        return self._long_text_request(cut, page) if cut else None

    def _is_cut(self, post: Post) -> bool:
        return bool(post.extra.get("truncated")) and post.post_id not in self.stays_cut

    def _long_text_request(self, post: Post, page: PostPage) -> Request:
        context = {"page": page, "post_id": post.post_id}
        query = urlencode({"id": post.extra.get("bid") or post.post_id})
        url = f"{DESKTOP}/ajax/statuses/longtext?{query}"
        return self._desktop("with_long_text", url, context, referer=address_of(post))

    def parse_completion(self, response: Response, page: PostPage, card: Post, seed: int) -> Output:
        post_id = response.meta["context"]["post_id"]
        whole: PostPage = response.meta["result"]
        posts = (whole.post, *whole.related)
        if any(post.post_id == post_id and self._is_cut(post) for post in posts):
            self.stays_cut.add(post_id)  # there is no more of it
        yield from super().parse_completion(response, page, card, seed)

    def without(self, page: PostPage, request: Request) -> PostPage:
        self.stays_cut.add(request.meta["context"]["post_id"])
        return page

    def media_headers(self) -> dict[str, str]:
        """Without a page of the desktop site as Referer files are refused (8.1, 8.3)."""
        return {"Referer": f"{DESKTOP}/"}

    # --- Comments (3.10 to 3.12) ----------------------------------------------------------

    def has_comments(self, post: Post) -> bool:
        """An article has none of its own: they belong to the post that shows it."""
        return "/ttarticle/" not in (post.url or "") and super().has_comments(post)

    def comments_request(self, post: Post, cursor: str | None) -> Request:
        """All of them: by time, where the order by heat ends after some hundred (3.10)."""
        by_time = int(self.args.max_comments is None)
        if self.on_mobile:
            query = cursor or f"max_id_type={by_time}"
            url = f"{MOBILE}/comments/hotflow?id={post.post_id}&mid={post.post_id}&{query}"
            referer = f"{MOBILE}/detail/{post.post_id}"
            return self._mobile("comments", url, {"post_id": post.post_id}, referer=referer)
        query = f"fetch_level=0&is_mix=0&flow={by_time}" + (f"&{cursor}" if cursor else "")
        return self._build_comments("comments", post, post.post_id, query, {})

    def replies_request(self, post: Post, root_id: str, cursor: str) -> Request:
        context = {"root_id": root_id}
        if not self.on_mobile:
            query = f"fetch_level=1&is_mix=1&flow=0&{cursor}"
            return self._build_comments("replies", post, root_id, query, context)
        url = f"{MOBILE}/comments/hotFlowChild?cid={root_id}&{cursor}"
        referer = f"{MOBILE}/detail/{post.post_id}?cid={root_id}"
        return self._mobile("replies", url, {"post_id": post.post_id, **context}, referer=referer)

    def _build_comments(
        self, page: str, post: Post, asked: str, query: str, context: dict[str, Any]
    ) -> Request:
        params = {
            "is_reload": "1",
            "id": asked,
            "is_show_bulletin": str(post.extra.get("is_show_bulletin", 2)),
            "count": str(COMMENT_PAGE),
            "uid": post.author_id or "",
            "locale": "zh-CN",
        }
        url = f"{DESKTOP}/ajax/statuses/buildComments?{urlencode(params)}&{query}"
        context = {"post_id": post.post_id, **context}
        return self._desktop(page, url, context, referer=address_of(post))

    def comments_taken(self, walk: CommentWalk, page: CommentPage) -> None:
        """Visitors are shown the first page only: asking on would end the crawl (1.2)."""
        if self.on_mobile or self.on_desktop:
            return
        if page.has_more:
            roots = sum(comment.root_id is None for comment in page.comments)
            walk.withheld(f"without a login only the first {roots} are shown")
        for root_id in list(walk.threads):
            walk.fail("without a login only the replies of the first page are shown", root_id)

    # --- Links that do not name what they lead to (2.4, 3.14) -----------------------------

    def short_link_request(self, target: Target) -> Request:
        object_id = target.get("object_id")
        if object_id is None:
            request = super().short_link_request(target)
            if urlsplit(target.id).netloc == "m.weibo.cn":
                del request.meta["anonymous"]  # names and domains are told to sessions only
            return request
        form = {"data": json.dumps({"Component_Play_Playinfo": {"oid": object_id}})}
        return self.api_request(
            "video_post_id",
            f"{DESKTOP}/tv/api/component?page={quote(f'/tv/show/{object_id}')}",
            referer=target.id,
            headers=FORM,
            method="POST",
            body=urlencode(form),
        )

    def parse_short_link(self, response: Response, link: str, expected: str, steps: int) -> Output:
        if "result" in response.meta:  # a video has named its post: as good as a redirect
            location = f"{MOBILE}/detail/{response.meta['result']}"
            response = response.replace(headers={"Location": location})
        yield from super().parse_short_link(response, link, expected, steps)

    # --- Building (1.4) -------------------------------------------------------------------

    def api_headers(self, referer: str) -> dict[str, str]:
        return {"Referer": referer, "X-Requested-With": "XMLHttpRequest"}

    def _mobile(
        self, page: str, url: str, context: Mapping[str, Any] | None = None, **more: Any
    ) -> Request:
        """*more* is that of `api_request`."""
        how = {"headers": {"MWeibo-Pwa": "1"}, "user_agent": PHONE, "needs": "mobile"}
        return self.api_request(page, url, context, **{**how, **more})

    def _desktop(
        self, page: str, url: str, context: Mapping[str, Any] | None = None, **more: Any
    ) -> Request:
        return self.api_request(page, url, context, **{"needs": "desktop", **more})


def address_of(post: Post) -> str:
    """The desktop page of a post, the Referer of what it asks for."""
    if post.url and post.url.startswith(f"{DESKTOP}/"):
        return post.url
    return f"{DESKTOP}/detail/{post.post_id}"


def search_container(keyword: str, tab: str) -> str:
    """The container of a search, to be encoded once more as a whole (3.1).

    Signs that would end the keyword inside it are encoded before.
    """
    if any(sign in keyword for sign in "&#+%"):
        keyword = quote(keyword, safe="")
    return f"100103type={tab}&q={keyword}" + ("" if tab == "1" else "&t=0")


def time_scope(first: int, last: int) -> str:
    """A window of hours (counted from 1970 in UTC, both included) as the search takes it (3.2)."""
    moments = (datetime.fromtimestamp(hour * HOUR, SHANGHAI) for hour in (first, last))
    return "custom:" + ":".join(f"{moment:%Y-%m-%d}-{moment.hour}" for moment in moments)
