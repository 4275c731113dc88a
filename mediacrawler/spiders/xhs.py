"""XHS (XiaoHongShu, or its international twin RedNote): how each request is built.

What an answer means is in ``mediacrawler/pages/xhs.py``, the signature in
``mediacrawler/signing/xhs.py``; facts about the wire are cited from docs/platforms/xhs.md.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast
from urllib.parse import parse_qsl, urlsplit

from scrapy import Request

from mediacrawler.browser import find_chromium
from mediacrawler.exceptions import AccessDenied, NotFound
from mediacrawler.items import Post
from mediacrawler.ledger import Seed
from mediacrawler.pages import xhs as pages
from mediacrawler.sessions import Session
from mediacrawler.signing import xhs as signing
from mediacrawler.spiders.base import PlatformSpider, Signature, choice, narrowest
from mediacrawler.targets import xhs as targets

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

IMAGE_FORMATS = ["jpg", "webp", "avif"]
SEARCH_PAGE = 20  # smaller pages are unreliable (3.1)
CREATOR_PAGE = 30  # (3.5)
REPLY_PAGE = 10  # up to 30 are served (3.7)
CODE_NOT_VIEWABLE = 300031  # or the token has expired: worth another look (6.2)

REGIONS = {
    # region: web, API, search host of v2 (the twin has none, 1.1), cookie domain
    "cn": (
        "www.xiaohongshu.com",
        "edith.xiaohongshu.com",
        "so.xiaohongshu.com",
        ".xiaohongshu.com",
    ),
    "rednote": ("www.rednote.com", "webapi.rednote.com", None, ".rednote.com"),
}
TIME_FILTERS = ((1, "一天内"), (7, "一周内"), (182, "半年内"))  # days, label (3.1)


class XhsSpider(PlatformSpider):
    """Notes, comments and creators of XiaoHongShu."""

    name = "xhs"
    pages = pages
    targets = targets
    home = pages.WEB
    required_cookies = ("a1", "web_session")
    login_cookies = ("web_session",)
    sorts: ClassVar = {
        "general": "general",
        "latest": "time_descending",
        "likes": "popularity_descending",
        "comments": "comment_descending",
        "collects": "collect_descending",
    }
    post_types: ClassVar = {
        "all": (0, "不限"),
        "video": (1, "视频笔记"),
        "image": (2, "普通笔记"),
    }
    post_attempts: ClassVar = 4  # API, page, API, page

    def prepare(self, settings: BaseSettings) -> None:
        region = choice(settings, "XHS_REGION", REGIONS)
        self.web, self.api, search_host, self.cookie_domain = REGIONS[region]
        # The twin has no search host of its own (1.1).
        self.search_api = choice(settings, "XHS_SEARCH_API", ("v1", "v2")) if search_host else "v1"
        self.search_host = search_host if self.search_api == "v2" else self.api
        self.referer = f"https://{self.web}/"
        self.video_codec = choice(settings, "XHS_VIDEO_CODEC", (None, "h264", "h265", "av1"))
        self.transport = choice(settings, "XHS_TRANSPORT", ("http", "page"))
        if self.transport == "page":
            find_chromium(settings["CHROMIUM_PATH"])
        self._visits: dict[str, signing.Visit] = {}
        self._common: dict[str, str] = {}
        """The page that each session has opened and its x-s-common (4.3, 4.5), by cookie a1."""
        super().prepare(settings)

    # --- Login (1.3, 1.4, 9) --------------------------------------------------------------

    def whoami_request(self) -> Request:
        """Whose session it is (1.3)."""
        return self._get("me", "/api/sns/web/v2/user/me", {})

    async def log_in_by_phone(
        self, session: Session, zone: str, phone: str, ask_code: Callable[[], Awaitable[str]]
    ) -> bool:
        """Become a guest, then the owner of *phone* (9)."""
        number = {"phone": phone, "zone": zone}
        self.set_cookies(session, signing.new_device(now=self.clock(), rng=self.rng))
        guest = self._post("login_step", "/api/sns/web/v1/login/activate", {})
        self.set_cookies(session, await self.fetch(guest, session) or {})
        wanted = {**number, "type": "login"}
        sent = self._get("login_step", "/api/sns/web/v2/login/send_code", wanted)
        if await self.fetch(sent, session) is None:
            return False
        code = {**number, "code": await ask_code()}
        check = self._get("login_step", "/api/sns/web/v1/login/check_code", code)
        proof = await self.fetch(check, session)
        if proof is None:
            return False
        token = {"mobile_token": proof.get("mobile_token", ""), **number}
        login = self._post("login_step", "/api/sns/web/v2/login/code", token)
        opened = await self.fetch(login, session)
        self.set_cookies(session, opened or {})
        return opened is not None

    # --- Requests (3) ---------------------------------------------------------------------

    def search_start(self, seed: Seed) -> str:
        # One id for all pages: another id is another ranking, with duplicates (3.1).
        seed.context["search_id"] = signing.search_id(now=self.clock(), rng=self.rng)
        return super().search_start(seed)

    def search_request(self, seed: Seed, cursor: str) -> Request:
        sort = self.sorts[self.args.sort]
        note_type, type_label = self.post_types[self.args.post_type]
        tags = {
            "sort_type": sort,
            "filter_note_type": type_label,
            "filter_note_time": narrowest(self.args.since, TIME_FILTERS, "不限", now=self.now()),
            "filter_note_range": "不限",
            "filter_pos_distance": "不限",
        }
        page = int(cursor)
        payload: dict[str, Any] = {
            "keyword": seed.value,
            "page": page,
            "page_size": SEARCH_PAGE,
            "search_id": seed.context["search_id"],
        }
        if self.search_api == "v2":
            payload["session_id"] = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        payload |= {
            "sort": sort,
            "note_type": note_type,
            "ext_flags": [],
            "filters": [{"tags": [tag], "type": name} for name, tag in tags.items()],
            "geo": "",
            "image_formats": IMAGE_FORMATS,
        }
        path = f"/api/sns/web/{self.search_api}/search/notes"
        context = {"page": page}
        rap = self.search_api == "v1"
        return self._post("search", path, payload, context, host=self.search_host, rap=rap)

    def creator_request(self, seed: Seed) -> Request:
        params = {"target_user_id": seed.value}
        context = {"creator_id": seed.value}
        path = "/api/sns/web/v1/user/otherinfo"
        return self._get("creator", path, params, context, other_format="xyw")

    def creator_posts_request(self, seed: Seed, cursor: str | None) -> Request:
        params = {
            "num": CREATOR_PAGE,
            "cursor": cursor,
            "user_id": seed.value,
            "image_formats": IMAGE_FORMATS,
            "xsec_token": seed.context.get("xsec_token"),
            "xsec_source": seed.context.get("xsec_source", "pc_user"),
        }
        return self._get(
            "creator_posts",
            "/api/sns/web/v1/user_posted",
            params,
            sign_format="xyw",
            other_format="xys",
            user_id=seed.value,
            rap=True,
        )

    def post_request(self, card: Post) -> Request:
        token, source = token_of(card)
        payload = {
            "source_note_id": card.post_id,
            "image_formats": IMAGE_FORMATS,
            "extra": {"need_body_topic": "1"},
            "xsec_source": source,
            "xsec_token": token,
        }
        context = self._post_context(card)
        return self._post("post", "/api/sns/web/v1/feed", payload, context, rap=True)

    def post_fallback(self, card: Post, error: Exception, attempt: int) -> Request | None:
        """The HTML page of a note that the API does not give (3.3), then both once more."""
        if not hidden(error):
            return None
        return self.post_request(card) if attempt % 2 == 0 else self._page_request(card)

    def final_error(self, card: Post, error: Exception) -> Exception:
        """A note without token is refused whatever it is: then the link is at fault (2.3)."""
        if token_of(card)[0] or not hidden(error):
            return error
        return AccessDenied(
            "the link has no xsec_token; copy it from the address bar of a browser", scope="item"
        )

    def _page_request(self, card: Post) -> Request:
        token, source = token_of(card)
        query = signing.query_string({"xsec_token": token, "xsec_source": source})
        url = f"https://{self.web}/explore/{card.post_id}?{query}"
        return self.html_request("post", url, self._post_context(card), referer=self.referer)

    def comments_request(self, post: Post, cursor: str | None) -> Request:
        params = {
            "note_id": post.post_id,
            "cursor": cursor,
            "top_comment_id": "",
            "image_formats": IMAGE_FORMATS,
            "xsec_token": token_of(post)[0],
        }
        context = {"post_id": post.post_id}
        return self._get("comments", "/api/sns/web/v2/comment/page", params, context)

    def replies_request(self, post: Post, root_id: str, cursor: str) -> Request:
        params = {
            "note_id": post.post_id,
            "root_comment_id": root_id,
            "num": REPLY_PAGE,
            "cursor": cursor,
            "image_formats": IMAGE_FORMATS,
            "top_comment_id": "",
            "xsec_token": token_of(post)[0],
        }
        context = {"post_id": post.post_id, "root_id": root_id}
        path = "/api/sns/web/v2/comment/sub/page"
        return self._get("replies", path, params, context, other_format="xyw")

    def earliest_time(self, card: Post) -> datetime | None:
        """A note is published after its id was made, or seconds before that (2.1)."""
        created = pages.id_time(card.post_id)
        return created - timedelta(hours=1) if created else None

    # --- Building and signing (3.0, 4.2) --------------------------------------------------

    def _post_context(self, card: Post) -> dict[str, Any]:
        token, source = token_of(card)
        return {
            "post_id": card.post_id,
            "xsec_token": token or None,
            "xsec_source": source,
            "prefer_codec": self.video_codec,
        }

    def api_headers(self, referer: str) -> dict[str, str]:
        return {
            "Content-Type": "application/json;charset=UTF-8",
            "Origin": f"https://{self.web}",
            "Referer": referer,
            "Sec-Fetch-Site": "same-site",
            "Sec-Fetch-Mode": "cors",
            "Sec-Fetch-Dest": "empty",
        }

    def _get(
        self,
        page: str,
        path: str,
        params: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        **sign: Any,
    ) -> Request:
        # The URL is built from the very bytes that are signed: no library may encode it again.
        query = f"?{signing.query_string(params)}" if params else ""
        url = f"https://{self.api}{path}{query}"
        return self.api_request(page, url, context, referer=self.referer, **self._signed(sign))

    def _post(
        self,
        page: str,
        path: str,
        payload: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        *,
        host: str | None = None,
        **sign: Any,
    ) -> Request:
        return self.api_request(
            page,
            f"https://{host or self.api}{path}",
            context,
            referer=self.referer,
            method="POST",
            body=signing.json_body(payload),
            **self._signed(sign),
        )

    def _signed(self, sign: dict[str, Any]) -> dict[str, Any]:
        """Who signs: the spider, or the script of the page that the request is sent from."""
        if self.transport == "page":
            return {"page_fetch": f"https://{self.web}/explore"}
        return {"sign": sign}

    async def sign(self, request: Request, cookies: Mapping[str, str]) -> Signature:
        """Fresh headers for one attempt; a refused one is tried in the other format (4.5)."""
        how = dict(request.meta["sign"])
        sign_format, other = how.pop("sign_format", "xys"), how.pop("other_format", None)
        if other and request.meta.get("retry_times", 0) % 2:
            sign_format = other
        parts = urlsplit(request.url)
        rap = how.pop("rap", False)
        if request.method == "GET":
            how["params"] = dict(parse_qsl(parts.query, keep_blank_values=True))
        else:
            how["payload"] = json.loads(request.body)
        headers = signing.sign(
            cast("Literal['GET', 'POST']", request.method),
            parts.path,
            cookies,
            **how,
            sign_format=sign_format,
            rap_api=f"//{parts.netloc}{parts.path}" if rap else None,
            common=self._common_header(cookies),
            visit=self._visit(cookies["a1"]),
            now=self.clock(),
            rng=self.rng,
        )
        return Signature(headers)

    def _visit(self, a1: str) -> signing.Visit:
        if a1 not in self._visits:
            self._visits[a1] = signing.Visit(now=self.clock(), rng=self.rng)
        return self._visits[a1]

    def _common_header(self, cookies: Mapping[str, str]) -> str:
        """x-s-common, which depends on the cookie a1 only: made once (4.5)."""
        a1 = cookies["a1"]
        if a1 not in self._common:
            self._common[a1] = signing.common_header(cookies, now=self.clock(), rng=self.rng)
        return self._common[a1]


def hidden(error: Exception) -> bool:
    """Whether a note may exist although it was not shown: wrong token, soft block (6.2, 6.4)."""
    if isinstance(error, NotFound):
        return error.code == CODE_NOT_VIEWABLE
    return isinstance(error, AccessDenied)


def token_of(card: Post) -> tuple[str, str]:
    """xsec_token ("" if unknown) and xsec_source of a note (2.3)."""
    return card.extra.get("xsec_token") or "", card.extra.get("xsec_source") or "pc_search"
