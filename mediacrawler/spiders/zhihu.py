"""Zhihu: how each request is built; answers, articles, videos, pins and questions are posts.

What an answer means is in ``mediacrawler/pages/zhihu.py``, the signature in
``mediacrawler/signing/zhihu.py``; facts about the wire are cited from docs/platforms/zhihu.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote, urlencode, urlsplit

from scrapy import Request

from mediacrawler.cookies import Cookie
from mediacrawler.exceptions import AccessDenied, BadSignature, UnexpectedResponse
from mediacrawler.items import Post
from mediacrawler.ledger import Seed
from mediacrawler.pages import PostList, PostPage
from mediacrawler.pages import zhihu as pages
from mediacrawler.sessions import Session
from mediacrawler.signing import zhihu as signing
from mediacrawler.spiders.base import Output, PlatformSpider, Signature, narrowest
from mediacrawler.targets import zhihu as targets

if TYPE_CHECKING:
    from scrapy.http import Response

WEB = "https://www.zhihu.com"
API = f"{WEB}/api/v4"
PAGES = "pages"
"""What a session can that has the challenge's cookie (6)."""
PAGE = 20  # the most that a list gives, whatever is asked (3)
ME_INCLUDE = "email,is_active,is_bind_phone"  # (1)
SEARCH = {
    "gk_version": "gz-gaokao",
    "t": "general",
    "correction": "1",
    "limit": str(PAGE),
    "filter_fields": "",
    "show_all_topics": "0",
}
TIME_INTERVALS = (
    (1, "a_day"),
    (7, "a_week"),
    (30, "a_month"),
    (91, "three_months"),
    (182, "half_a_year"),
    (365, "a_year"),
)  # days, what the search calls them (3.1)
ANSWER_INCLUDE = (
    "content,excerpt,paid_info,can_comment,thanks_count,voteup_count,comment_count,visited_count,"
    "favlists_count,attachment,reaction,ip_info,question.topics,question.author,author.badge_v2"
)
ARTICLE_INCLUDE = (
    "content,topics,paid_info,can_comment,excerpt,thanks_count,voteup_count,comment_count,"
    "visited_count,favlists_count,ip_info,author.badge_v2"
)
QUESTION_INCLUDE = (
    # detail and topics come first: after author they are dropped (3.2).
    "detail,topics,excerpt,visit_count,answer_count,voteup_count,comment_count,follower_count,"
    "created,updated_time,author"
)
LIST_INCLUDE = (
    "data[*].content,excerpt,voteup_count,comment_count,created_time,updated_time,created,updated,"
    "question,paid_info,attachment"
)
MEMBER_INCLUDE = (
    "url_token,answer_count,articles_count,question_count,pins_count,zvideo_count,columns_count,"
    "follower_count,following_count,voteup_count,thanked_count,favorited_count,description,"
    "headline,gender,ip_info,badge_v2,is_privacy_protected"
)
INCLUDES = {
    "answer": ANSWER_INCLUDE,
    "article": ARTICLE_INCLUDE,
    "question": QUESTION_INCLUDE,
    "pin": "topics",
}
TABS = {
    # post_type: a member's lists that can hold such posts (3.7)
    "all": ("answer", "article", "zvideo", "pin"),
    "answer": ("answer",),
    "article": ("article",),
    "video": ("zvideo", "pin"),
    "image": ("pin",),
    "text": ("pin",),
    "question": ("question",),
}


class ZhihuSpider(PlatformSpider):
    """Answers, articles, videos, pins, questions, comments and members of Zhihu."""

    name = "zhihu"
    pages = pages
    targets = targets
    home = f"{WEB}/signin"
    cookie_domain = ".zhihu.com"
    required_cookies = ("z_c0", "d_c0")
    login_cookies = ("z_c0", "d_c0")
    sorts: ClassVar = {"general": "", "latest": "created_time", "likes": "upvoted_count"}
    post_types: ClassVar = {
        # the search's own word for it; "" where it has none and the cards are sorted out here
        "all": "",
        "answer": "answer",
        "article": "article",
        "video": "",
        "image": "",
        "text": "",
        "question": "",
    }
    personal_extra: ClassVar = frozenset({"column_id", "column_title", "excerpt"})
    card_extra: ClassVar = ("is_pinned", "promoted")  # only the search marks adverts (3.1)
    creator_posts_chronological: ClassVar = False  # several lists, one after the other
    idle_pages: ClassVar = 3  # a search page may hold noise only (3)

    async def open_session(self, session: Session) -> None:
        if any(cookie.name == "__zse_ck" for cookie in session.cookies):
            session.can.add(PAGES)

    def as_sent(self, cookie: Cookie) -> list[Cookie]:
        """Signed and sent must be the same bytes: one form, from here on (4)."""
        if cookie.name != "d_c0":
            return [cookie]
        return [replace(cookie, value=signing.normal_d_c0(cookie.value))]

    # --- Lists (3.1, 3.2, 3.7) ------------------------------------------------------------

    def whoami_request(self) -> Request:
        """Whose session it is (1)."""
        return self._get("me", "/me", {"include": ME_INCLUDE})

    def search_start(self, seed: Seed) -> str:
        """The query of the first page; those of the others come from the platform (3.1)."""
        offset = (self.args.start_page - 1) * PAGE
        filters = {
            "vertical": self.post_types[self.args.post_type],
            "sort": self.sorts[self.args.sort],
            "time_interval": narrowest(self.args.since, TIME_INTERVALS, "", now=self.now()),
        }
        source = "Filter" if any(filters.values()) else "Normal"
        query = {**SEARCH, "q": seed.value, "offset": offset, "lc_idx": offset}
        return urlencode({**query, "search_source": source, **filters})

    def search_request(self, seed: Seed, cursor: str) -> Request:
        referer = f"{WEB}/search?type=content&q={quote(seed.value)}"
        return self._get("search", "/search_v3", cursor, {"cursor": cursor}, referer=referer)

    def creator_request(self, seed: Seed) -> Request:
        query = {"include": MEMBER_INCLUDE}
        context = {"creator_id": seed.value}
        return self._get("creator", f"/members/{quote(seed.value)}", query, context)

    def creator_posts_request(self, seed: Seed, cursor: str | None) -> Request:
        """A page of a member's posts, or of the answers to a question."""
        if seed.kind == "list":
            return self._answers_request(seed.context["question_id"], cursor)
        tab, _, offset = (cursor or f"{self._tabs[0]}:0").partition(":")
        query = {"include": LIST_INCLUDE, "limit": PAGE, "offset": offset, "sort_by": "created"}
        context = {"cursor": offset, "content_type": tab}
        return self._get("creator_posts", f"/members/{quote(seed.value)}/{tab}s", query, context)

    def _answers_request(self, question_id: str, cursor: str | None) -> Request:
        """The cursor form, as the page uses it; by time only the offset form sorts (3.2)."""
        newest = self.args.sort == "latest"
        order = {"sort_by": "created"} if newest else {"order": "default"}
        query = cursor or urlencode(
            {"include": LIST_INCLUDE, "limit": PAGE, "offset": 0, "platform": "desktop", **order}
        )
        path = f"/questions/{question_id}/{'answers' if newest else 'feeds'}"
        return self._get("question_answers", path, query, {"cursor": query})

    @property
    def _tabs(self) -> tuple[str, ...]:
        return TABS[self.args.post_type]

    def _seed_requests(self) -> Output:
        """A question that was named is a post, and its answers are a list of their own."""
        yield from super()._seed_requests()
        for target in self.post_targets:
            if target.get("content_type") != "question":
                continue
            seed = self.ledger.add_seed("list", f"question {target.id}", self.args.max_posts)
            seed.context = {"question_id": target.id}
            seed.chronological = self.args.sort == "latest"
            yield from self._advance(seed)

    def parse_list(self, response: Response, seed: int) -> Output:
        """A member's lists follow one another."""
        taken = self.ledger.seeds[seed]
        if taken.kind == "creator":
            self._chain(response.meta["result"], taken)
        yield from super().parse_list(response, seed)

    def _chain(self, page: PostList, seed: Seed) -> None:
        """Let the cursor name the list too, and let the next list follow the last page."""
        tabs = self._tabs
        tab = (seed.cursor or tabs[0]).partition(":")[0]
        following = tabs[tabs.index(tab) + 1 :]
        if page.has_more:
            page.cursor = f"{tab}:{page.cursor}"
        elif following:
            page.has_more, page.cursor = True, f"{following[0]}:0"
            page.fresh_start = True

    # --- Posts (3.2 to 3.5) ---------------------------------------------------------------

    def post_request(self, card: Post) -> Request:
        content_type = card.extra["content_type"]
        include = INCLUDES.get(content_type)
        query = {"include": include} if include else ""
        context = {"post_id": card.post_id, "content_type": content_type}
        return self._get("post", f"/{content_type}s/{card.post_id}", query, context)

    def post_fallback(self, card: Post, error: Exception, attempt: int) -> Request | None:
        """The page of a post that the API refuses (5.10).

        Without the challenge's cookie a page only brings the challenge (6).
        """
        refused = isinstance(error, (AccessDenied, BadSignature, UnexpectedResponse))
        passes = any(PAGES in session.can for session in self.sessions.usable())
        if not refused or not passes:
            return None
        content_type = card.extra["content_type"]
        url = targets.post_url(content_type, card.post_id, card.extra.get("question_id"))
        context = {"post_id": card.post_id, "content_type": content_type}
        return self.html_request("post", url, context, referer=f"{WEB}/", needs=PAGES)

    def completion_request(self, page: PostPage) -> Request | None:
        """The address of a video that is shown in a box of the text, if files are wanted (3.5)."""
        post = page.post
        video_ids = post.extra.get("video_ids")
        if not video_ids or not self.wants_videos:
            return None
        payload = {
            "content_id": post.post_id,
            "content_type_str": post.extra["content_type"],
            "video_id": video_ids[0],
            "scene_code": "answer_detail_web",
            "is_only_video": True,
        }
        return self.api_request(
            "boxed_video",
            f"{API}/video/play_info?r={video_ids[0]}",
            {"post": post, "video_id": video_ids[0]},
            referer=f"{WEB}/",
            headers={"Content-Type": "application/json", "x-app-za": "OS=webplayer"},
            method="POST",
            body=json.dumps(payload, separators=(",", ":")),
            sign=True,
        )

    def without(self, page: PostPage, request: Request) -> PostPage:
        """A video without an address is missing; the text is whole all the same."""
        return pages.without_video(page.post, request.meta["context"]["video_id"])

    # --- Comments (3.8) -------------------------------------------------------------------

    def comments_request(self, post: Post, cursor: str | None) -> Request:
        content_type = post.extra["content_type"]
        query = {"order_by": "score", "limit": PAGE, "offset": cursor or ""}
        context = {"post_id": post.post_id, "content_type": content_type, "cursor": cursor}
        path = f"/comment_v5/{content_type}s/{post.post_id}/root_comment"
        return self._get("comments", path, query, context)

    def replies_request(self, post: Post, root_id: str, cursor: str) -> Request:
        query = {"order_by": "ts", "limit": PAGE, "offset": cursor}
        context = {
            "post_id": post.post_id,
            "content_type": post.extra["content_type"],
            "root_id": root_id,
            "cursor": cursor,
        }
        path = f"/comment_v5/comment/{root_id}/child_comment"
        return self._get("replies", path, query, context)

    # --- Building and signing (3, 4) ------------------------------------------------------

    def api_headers(self, referer: str) -> dict[str, str]:
        return {
            "Referer": referer,
            "x-api-version": "3.0.91",
            "x-requested-with": "fetch",
        }

    def _get(
        self,
        page: str,
        path: str,
        query: Mapping[str, Any] | str,
        context: Mapping[str, Any] | None = None,
        *,
        referer: str = f"{WEB}/",
    ) -> Request:
        """*query* is text where the platform has named it, as a cursor."""
        if not isinstance(query, str):
            query = urlencode(query)
        url = f"{API}{path}?{query}" if query else f"{API}{path}"
        return self.api_request(page, url, context, referer=referer, sign=True)

    async def sign(self, request: Request, cookies: Mapping[str, str]) -> Signature:
        """Signed is what is sent: the URL as Scrapy has escaped it, the cookie, the body (4)."""
        target = request.url.partition(urlsplit(request.url).netloc)[2]
        first_byte = self.rng.choice(signing.FIRST_BYTES)
        headers = signing.headers(target, cookies.get("d_c0"), request.body, first_byte=first_byte)
        return Signature(headers)
