"""Bilibili: how each request is built, and the session that signs them.

What an answer means is in ``mediacrawler/pages/bilibili.py``, the signature in
``mediacrawler/signing/bilibili.py``; facts about the wire are cited from
docs/platforms/bilibili.md.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

from scrapy import Request
from scrapy.exceptions import IgnoreRequest

from mediacrawler.exceptions import (
    BadSignature,
    CaptchaRequired,
    NotFound,
    PlatformError,
    UsageProblem,
)
from mediacrawler.items import Post
from mediacrawler.ledger import CommentWalk, Seed
from mediacrawler.pages import CommentPage, PostPage
from mediacrawler.pages import bilibili as pages
from mediacrawler.sessions import Session
from mediacrawler.signing import bilibili as signing
from mediacrawler.spiders.base import PlatformSpider, Signature, choice
from mediacrawler.targets import bilibili as targets

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from mediacrawler.args import CrawlArgs

WWW = "https://www.bilibili.com"
API = "https://api.bilibili.com"
DYNAMICS = f"{API}/x/polymer/web-dynamic/v1"
FEED_FEATURES = (
    "itemOpusStyle,listOnlyfans,opusBigCover,onlyfansVote,forwardListHidden,decorationCard,"
    "commentsNewVersion,onlyfansAssetsV2,ugcDelete,onlyfansQaCard"
)
OPUS_FEATURES = (
    "onlyfansVote,onlyfansAssetsV2,decorationCard,htmlNewStyle,ugcDelete,editable,"
    "opusPrivateVisible,tribeeEdit,avatarAutoTheme,avatarTypeOpus"
)
QUALITIES = ("127", "126", "125", "120", "116", "112", "80", "74", "64", "32", "16")  # (3.8)
ALL_DASH = 4048  # fnval: every kind of DASH stream (3.8)
UPLOADS_PAGE = 30  # (3.5)
ARCHIVES_PAGE = 100  # of the list that visitors may read (3.5)


class BilibiliSpider(PlatformSpider):
    """Videos, dynamics, comments and creators of Bilibili; with a login, or less without."""

    name = "bilibili"
    pages = pages
    targets = targets
    home = f"{WWW}/"
    cookie_domain = ".bilibili.com"
    login_cookies = ("SESSDATA",)
    sorts: ClassVar = {
        "general": "totalrank",
        "latest": "pubdate",
        "views": "click",
        "comments": "scores",
        "collects": "stow",
    }
    post_types: ClassVar = dict.fromkeys(("all", "video", "image", "text", "article", "live"))
    personal_extra: ClassVar = frozenset({"staff", "live_room_id"})
    idle_pages: ClassVar = 3  # ranking moves: a page of known videos is not the end (3.2)

    @classmethod
    def check_arguments(cls, arguments: CrawlArgs) -> None:
        super().check_arguments(arguments)
        if arguments.keywords and arguments.post_type not in ("all", "video"):
            raise UsageProblem(
                f"bilibili searches for videos only, not for post_type '{arguments.post_type}'; "
                "other posts come from creators"
            )

    def prepare(self, settings: BaseSettings) -> None:
        self.logged_in = False
        self.max_quality = int(choice(settings, "BILIBILI_MAX_QUALITY", QUALITIES))
        self.wants_subtitles = settings.getbool("BILIBILI_SUBTITLES")
        self.wants_danmaku = settings.getbool("BILIBILI_DANMAKU")
        if self.wants_danmaku and settings.getbool("ANONYMIZE"):
            raise UsageProblem(
                "BILIBILI_DANMAKU needs ANONYMIZE=False: danmaku files name their authors by a "
                "number that can be traced back"
            )
        super().prepare(settings)
        self._key: str | None = None
        self._key_lock = asyncio.Lock()

    # --- The session (1.3, 1.4, 4.1) ------------------------------------------------------

    async def open_session(self, session: Session) -> None:
        """Signing needs keys, and a login changes what is asked."""
        names = {cookie.name for cookie in session.cookies}
        if "buvid3" not in names:
            await self.fetch(Request(self.home), session)  # sets the cookies of a visitor (1.3)
        found = await self._who_am_i(session)
        if found is None:
            return
        if "SESSDATA" in names and not found.logged_in:
            reason = "the login in the cookies has expired"
            if await self.accounts.refused(session.account, "expired", "login_required", reason):
                await self.open_session(session)
        elif not found.logged_in:
            self.logger.warning(
                "%s: without a login there are only a few comments per post, no dynamics and "
                "low video quality",
                self.name,
            )
        self.logged_in = self.logged_in or found.logged_in

    async def _who_am_i(self, session: Session | None = None) -> pages.LoginState | None:
        """The login state and today's keys (4.1); None when the crawl is being stopped."""
        request = self.api_request("login_state", pages.NAV_URL, referer=WWW)
        found: pages.LoginState | None = await self.fetch(request, session)
        if found is not None:
            self._key = found.mixin_key
        return found

    async def signing_key(self, refused: str | None = None) -> str | None:
        """The mixin key; fetched if there is none, or if it is still the *refused* one.

        None when the crawl is being stopped.

        :raises PlatformError: the keys cannot be had.
        """
        async with self._key_lock:
            if (self._key is None or self._key == refused) and await self._who_am_i() is None:
                return None
        return self._key

    def whoami_request(self) -> Request:
        """Whose session it is (1.4)."""
        return self.api_request("me", pages.NAV_URL, referer=WWW)

    async def sign(self, request: Request, cookies: Mapping[str, str]) -> Signature:
        """A signed query (4); the key is remembered to know whether it is still the current one."""
        key = await self.signing_key()
        if key is None:
            raise IgnoreRequest("the crawl is being stopped")
        request.meta["key"] = key
        return Signature(url=signing.sign_url(request.url, key, now=int(self.clock())))

    async def renew_signature(self, request: Request, error: PlatformError) -> bool:
        """A refused signature can look like a captcha (4.2): fresh keys, then it is believed."""
        if not isinstance(error, (BadSignature, CaptchaRequired)):
            return False
        self.crawler.stats.inc_value("wbi/renewed")
        return await self.signing_key(refused=request.meta["key"]) is not None

    # --- Requests (3) ---------------------------------------------------------------------

    def search_request(self, seed: Seed, cursor: str) -> Request:
        page, _, until = cursor.partition("@")
        # One search gives 1000 results; who wants more gets them from new to old (3.2).
        by_time = seed.wanted is None or seed.wanted > pages.SEARCH_CAP
        order = "pubdate" if by_time else self.sorts[self.args.sort]
        params = {
            "search_type": "video",
            "keyword": seed.value,
            "page": page,
            "page_size": pages.PAGE_SIZE,
            "order": order,
            **self._window(int(until) if until else None),
        }
        context = {
            "page": int(page),
            "until": int(until) if until else None,
            "by_time": order == "pubdate",
        }
        referer = f"https://search.bilibili.com/all?keyword={quote(seed.value)}"
        return self._get("search", pages.SEARCH_URL, params, context, referer=referer, sign=True)

    def _window(self, until: int | None) -> dict[str, int]:
        """Both ends of the publish time in unix seconds, or nothing (3.2)."""
        since, latest = self.args.since, self.args.until
        if until is None and latest is not None:
            until = int(latest.timestamp())
        if since is None and until is None:
            return {}
        return {
            "pubtime_begin_s": int(since.timestamp()) if since else 1,
            "pubtime_end_s": until or int(self.clock()),
        }

    def creator_request(self, seed: Seed) -> Request:
        params = {"mid": seed.value, "photo": "false"}
        referer = targets.creator_url(seed.value)
        return self._get("creator", f"{API}/x/web-interface/card", params, referer=referer)

    def creator_posts_request(self, seed: Seed, cursor: str | None) -> Request:
        referer = targets.creator_url(seed.value)
        if not self.logged_in:
            return self._archives_request(seed, cursor, referer)
        if self.args.post_type == "video":
            params: dict[str, Any] = {
                "mid": seed.value,
                "pn": cursor or 1,
                "ps": UPLOADS_PAGE,
                "order": "pubdate",
                "tid": 0,
                "keyword": "",
                "index": 0,
                "order_avoided": "true",
                "platform": "web",
                "web_location": "333.1387",
            }
            referer = f"{referer}/video"
            url = pages.CREATOR_POSTS_URL
            return self._get("creator_posts", url, params, referer=referer, sign=True)
        params = {
            "host_mid": seed.value,
            "offset": cursor or "",
            "timezone_offset": -480,
            "platform": "web",
            "features": FEED_FEATURES,
            "web_location": "333.1387",
        }
        url = f"{DYNAMICS}/feed/space"
        referer = f"{referer}/dynamic"
        return self._get("creator_feed", url, params, {"cursor": cursor}, referer=referer)

    def _archives_request(self, seed: Seed, cursor: str | None, referer: str) -> Request:
        """What visitors may read: videos with few fields, and no dynamics (1.5, 3.5)."""
        if self.args.post_type != "video":
            seed.caveat = "without a login a creator's videos are shown, but no dynamics"
        params = {"mid": seed.value, "keywords": "", "ps": ARCHIVES_PAGE, "pn": cursor or 1}
        url = f"{API}/x/series/recArchivesByKeywords"
        context = {"creator_id": seed.value}
        return self._get("creator_posts", url, params, context, referer=referer)

    def post_request(self, card: Post) -> Request:
        context = {"post_id": card.post_id}
        if card.post_id.startswith("BV"):
            url, params = f"{API}/x/web-interface/view/detail", {"bvid": card.post_id}
        elif card.post_id.startswith("cv"):
            url, params = f"{API}/x/article/view", {"id": card.post_id[2:]}
        else:
            url = f"{DYNAMICS}/detail"
            params = {"id": card.post_id, "timezone_offset": "-480", "features": FEED_FEATURES}
        return self._get("post", url, params, context, referer=targets.post_url(card.post_id))

    def post_fallback(self, card: Post, error: Exception, attempt: int) -> Request | None:
        """The page of a post that the API does not give; what is gone is gone (3.3)."""
        if isinstance(error, NotFound) or card.post_id.startswith("cv"):
            return None
        context = {"post_id": card.post_id}
        return self.html_request("post", targets.post_url(card.post_id), context)

    def completion_request(self, page: PostPage) -> Request | None:
        """The whole text of an article; the streams and subtitles of each part of a video."""
        post = page.post
        if post.extra.get("truncated") and "dynamic_type" in post.extra:
            params = {"id": post.post_id, "timezone_offset": -480, "features": OPUS_FEATURES}
            context = {"post_id": post.post_id}
            url = f"{DYNAMICS}/opus/detail"
            referer = targets.post_url(post.post_id)
            return self._get("post", url, params, context, referer=referer)
        if not self.wants_videos or not post.extra.get("pages"):
            return None
        return self._streams_request(post) or self._subtitles_request(post)

    def _streams_request(self, post: Post) -> Request | None:
        parts = post.extra["pages"]
        left = sum(1 for _ in pages.unresolved_parts(post))
        if not left:
            return None
        params: dict[str, Any] = {
            "bvid": post.post_id,
            "cid": parts[len(parts) - left]["cid"],
            "qn": 0,
            "fnval": ALL_DASH,
            "fnver": 0,
            "fourk": 1,
        }
        meta: dict[str, Any] = {}
        if not self.logged_in:
            params["try_look"] = 1
            meta["anonymous"] = True  # a visitor's cookies shut this door (1.3)
        context = {"post": post, "max_quality": self.max_quality}
        url = f"{API}/x/player/playurl"
        referer = targets.post_url(post.post_id)
        return self._get("with_streams", url, params, context, referer=referer, **meta)

    def _subtitles_request(self, post: Post) -> Request | None:
        parts = post.extra["pages"]
        done = len(post.extra.get("subtitles", []))
        if not self.wants_subtitles or not self.logged_in or done >= len(parts):
            return None
        aid, cid = post.extra["aid"], parts[done]["cid"]
        params = {"aid": aid, "bvid": post.post_id, "cid": cid}
        context = {"post": post, "aid": aid, "cid": cid}
        url = f"{API}/x/player/wbi/v2"
        referer = targets.post_url(post.post_id)
        return self._get("with_subtitles", url, params, context, referer=referer, sign=True)

    def comments_request(self, post: Post, cursor: str | None) -> Request:
        # All of them: by time, which does not shift between pages; else the hottest first.
        mode = 2 if self.args.max_comments is None else 3
        offset = json.dumps({"offset": cursor or ""}, separators=(",", ":"), ensure_ascii=False)
        kind, oid = comment_area(post)
        params: dict[str, Any] = {
            "oid": oid,
            "type": kind,
            "mode": mode,
            "pagination_str": offset,
            "plat": 1,
            "web_location": 1315875,
        }
        if cursor is None:
            params["seek_rpid"] = ""
        context = {"post_id": post.post_id, "cursor": cursor}
        url = pages.COMMENTS_URL
        referer = targets.post_url(post.post_id)
        return self._get("comments", url, params, context, referer=referer, sign=True)

    def replies_request(self, post: Post, root_id: str, cursor: str) -> Request:
        kind, oid = comment_area(post)
        params = {
            "oid": oid,
            "type": kind,
            "root": root_id,
            "pn": cursor,
            "ps": pages.PAGE_SIZE,
            "web_location": "333.788",
        }
        context = {"post_id": post.post_id, "root_id": root_id, "page": int(cursor)}
        url = f"{API}/x/v2/reply/reply"
        referer = targets.post_url(post.post_id)
        return self._get("replies", url, params, context, referer=referer)

    def api_headers(self, referer: str) -> dict[str, str]:
        return {"Origin": "/".join(referer.split("/")[:3]), "Referer": referer}

    def _get(
        self,
        page: str,
        url: str,
        params: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Request:
        """*more* is that of `api_request`."""
        url = f"{url}?{signing.query_string(params)}"
        return self.api_request(page, url, context, **more)

    # --- What Bilibili's answers change in the shared crawl --------------------------------

    def finish(self, page: PostPage, card: Post) -> None:
        if self.wants_danmaku and self.wants_videos:
            page.post.media += pages.danmaku_files(page.post)
        # A creator's own older post is in the creator's list, with the numbers it lacks here.
        page.related = [r for r in page.related if r.author_id != page.post.author_id]

    def without(self, page: PostPage, request: Request) -> PostPage | None:
        """A part without streams is a missing file; the other parts are still asked for."""
        post = page.post
        if request.meta["page"] == "with_streams":
            next(pages.unresolved_parts(post)).status = "missing"
        elif request.meta["page"] == "with_subtitles":
            post.extra["subtitles"] = [*post.extra.get("subtitles", []), []]
        else:
            return super().without(page, request)
        return page

    def comments_taken(self, walk: CommentWalk, page: CommentPage) -> None:
        """Visitors are shown a few comments only, and the replies to them (1.5)."""
        assert isinstance(page, pages.BilibiliComments)
        if page.cut_short and not self.logged_in:
            roots = sum(comment.root_id is None for comment in page.comments)
            walk.withheld(f"without a login only {roots} of {page.total or 'many'} are shown")


def comment_area(post: Post) -> tuple[int, str]:
    """Where the comments of a post are: type and oid (3.6)."""
    if post.post_id.startswith("BV"):
        return 1, str(targets.bvid_to_aid(post.post_id))
    return post.extra.get("comment_type", 17), post.extra.get("comment_oid", post.post_id)
