"""XHS as a server: which host and path answers what, to whom, and what it refuses.

Judges signatures, sessions and tokens in the order in which the platform seems to; the answers
themselves are written by :mod:`sandbox.xhs.views`.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from sandbox.core import (
    Answer,
    Args,
    Call,
    FaultKind,
    Json,
    Options,
    Reply,
    Visitor,
    allow_origin,
    file_reply,
    html_reply,
    json_reply,
    preflight_reply,
    redirect,
    text_reply,
    whole_number,
)
from sandbox.counters import Counters
from sandbox.logins import Accounts
from sandbox.media import BytesBlob
from sandbox.media import Picture as PictureFile
from sandbox.sites import Site
from sandbox.worlds import DEMO_KEYWORD, digest, number
from sandbox.xhs.login import (
    SCHEME,
    Logins,
    captcha_page,
    challenge_page,
    challenge_value,
    login_page,
    mobile_page,
    session_cookies,
)
from sandbox.xhs.signature import BadSignature, Verifier, make_a1
from sandbox.xhs.views import (
    Addresses,
    Pages,
    Views,
    error_location,
    not_found_location,
)
from sandbox.xhs.world import (
    COMMENT_PAGE,
    FIXED_CREATORS,
    FIXED_NOTES,
    POSTED_PAGE,
    SEARCH_CAP,
    SORTS,
    Note,
    User,
    World,
)

GOOD = (0, "成功")
MESSAGES = {
    -100: "登录已过期",
    -101: "无登录信息，或登录信息为空",
    -104: "您当前登录的账号没有权限访问",
    300011: "检测到账号异常，请稍后重启试试",
    300012: "网络连接异常，请检查网络设置或重启试试",
    300013: "访问频次异常，请勿频繁操作或重启试试",
    300015: "浏览器异常，请尝试关闭/卸载风险插件或重启试试！",
    300017: "访问链接异常",
    300031: "当前笔记暂时无法浏览",
    -510000: "笔记不存在",
    -510001: "笔记状态异常，请稍后查看",
}
"""Codes and the words that come with them (6.2)."""

_GONE = {
    "unknown": (-510000, MESSAGES[-510000]),
    "deleted": (-510001, MESSAGES[-510001]),
    "private": (-510001, "当前内容无法展示"),
    "unavailable": (300031, MESSAGES[300031]),
}
_TIME_TAGS = {"一天内": "day", "一周内": "week", "半年内": "half_year"}
_TYPE_TAGS = {"视频笔记": 1, "普通笔记": 2}
_ANY = "不限"
_MEDIA = re.compile(
    r"sns-webpic-[a-z]+|sns-img-[a-z]+|sns-avatar-[a-z]+|sns-video-[a-z0-9]+|sns-bak-v\d|[a-z]+\d+"
)
_NOTE_PAGE = re.compile(r"/(?:explore|discovery/item|search_result|note)/([0-9a-f]{24})/?")
_PROFILE_PAGE = re.compile(r"/user/profile/([0-9a-f]{24})(?:/([0-9a-f]{24}))?/?")
_SHORT_PATH = re.compile(r"/(?:[a-z]/)?([0-9A-Za-z]+)")
_CURSOR_SCORE = re.compile(r"\d\.\d+E9")
_MEMBER = re.compile(r"0400[0-9A-Za-z]{8,}")
_GUEST = re.compile(r"0300[0-9A-Za-z]{8,}")

FIXED_SESSIONS = {
    "member": "040069b0c0ffee0c0ffee0c0ffee0c0ffee0a1",
    "guest": "030037a0c0ffee0c0ffee0c0ffee0c0ffee0b2",
    "expired": "0400e0e0c0ffee0c0ffee0c0ffee0c0ffee0c3",
    "flagged": "0400f1f1c0ffee0c0ffee0c0ffee0c0ffee0d4",
}
"""``web_session`` values that are documented; ``0400e0e0...`` is expired and ``0400f1f1...``
flagged, any other well-formed ``0400...`` is a member's, any ``0300...`` a guest's."""


class Refusal(Exception):
    """An answer with a code instead of data."""

    def __init__(self, code: int, message: str | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.message = MESSAGES.get(code, "") if message is None else message


class Session(NamedTuple):
    """Who asks: *kind* is ``member``, ``guest``, ``expired``, ``flagged`` or ``none``."""

    kind: str
    value: str


class Route(NamedTuple):
    """An API endpoint. *login*: ``member``, ``guest`` (a guest's session is enough) or ``open``."""

    method: str
    answer: Callable[[Call, Session], Reply]
    login: str
    rap: bool = False


def body_of(code: int, message: str, data: Any, success: bool | None = None) -> Json:
    """The envelope of every API answer."""
    good = code in (0, 1000) if success is None else success
    return {"code": code, "success": good, "msg": message, "data": data}


class Xhs(Site):
    """XiaoHongShu and its international twin."""

    name = "xhs"
    hosts = (
        "www.xiaohongshu.com",
        "xiaohongshu.com",
        "edith.xiaohongshu.com",
        "so.xiaohongshu.com",
        "as.xiaohongshu.com",
        "ci.xiaohongshu.com",
        "xhslink.com",
        "www.xhslink.com",
        "xhslink.cn",
        "www.rednote.com",
        "rednote.com",
        "webapi.rednote.com",
        "as.rednote.com",
        "*.xhscdn.com",
        "*.rednotecdn.com",
    )
    session_cookie = "web_session"
    addresses: Addresses

    def __init__(self, options: Options, counters: Counters) -> None:
        super().__init__(options, counters)
        search_cap = int(options.switch("xhs.search_cap", str(SEARCH_CAP)))
        self.world = World.from_options(options, search_cap=search_cap)
        self.addresses = Addresses(options.seed, options.url_ttl)
        self.views = Views(self.world, self.addresses)
        self.pages = Pages(self.views)
        self.verifier = Verifier(
            strict_a1=options.switch("xhs.strict_a1", "off") == "on",
            strict_replay=options.strict_replay,
        )
        self._rap = options.switch("xhs.rap", "on") == "on"
        self.accounts = Accounts(session_value, one_session=True)
        for kind in FIXED_SESSIONS:
            self.accounts.current(kind)
        self.logins = Logins(options, self.accounts)
        self.logins.user_id = lambda session: self.world.viewer(session).id
        # Of a comment page only the addresses of pictures are fresh; a page is handed out again
        # for a quarter of their life.
        self._comment_bodies = lru_cache(maxsize=1024)(self._comment_body)
        self._routes = self._make_routes()
        self._hosts: dict[str, Callable[[Call], Reply]] = {
            "edith.xiaohongshu.com": self._api,
            "so.xiaohongshu.com": self._api,
            "webapi.rednote.com": self._api,
            "as.xiaohongshu.com": self._security,
            "as.rednote.com": self._security,
            "www.xiaohongshu.com": self._www,
            "xiaohongshu.com": self._www,
            "www.rednote.com": self._www,
            "rednote.com": self._www,
            "xhslink.com": self._short,
            "www.xhslink.com": self._short,
            "xhslink.cn": self._short,
        }
        self.fault_kinds = _fault_kinds(self)
        self.actions = {
            **self._shared_actions(),
            "expire-tokens": self._expire_tokens,
            **self.accounts.actions(),
            **self.logins.actions(),
        }

    # -- contract -------------------------------------------------------------------------------

    def cookies(self, kind: str) -> dict[str, str] | None:
        base = kind.partition("-")[0]
        if base not in (*FIXED_SESSIONS, "none"):
            return None
        a1 = make_a1(kind)
        cookies = {"a1": a1, "webId": hashlib.md5(a1.encode()).hexdigest()}
        if base != "none":
            cookies["web_session"] = self.accounts.current(kind)
        cookies["xsecappid"] = "xhs-pc-web"
        return cookies

    def describe(self) -> Mapping[str, Any]:
        world = self.world
        notes = {fixed.name: self._note_url(fixed.name) for fixed in FIXED_NOTES}
        return {
            "cookies": [*FIXED_SESSIONS, "none", "member-2 (any suffix: another account)"],
            "creators": {name: world.fixed_creator(name).id for name in FIXED_CREATORS},
            "notes": notes,
            "keywords": {DEMO_KEYWORD: "exactly these notes", "无结果": "nothing"},
            "short_link": "http://" + world.short_link(world.fixed_note("image").id),
        }

    def _note_url(self, name: str) -> str:
        note = self.world.fixed_note(name)
        token = quote(self.world.token(note.id, "docs"), safe="")
        return (
            f"https://www.xiaohongshu.com/explore/{note.id}?xsec_token={token}&xsec_source=pc_feed"
        )

    # -- actions --------------------------------------------------------------------------------

    def _expire_media(self, arguments: Mapping[str, Any]) -> Json:
        self._comment_bodies.cache_clear()
        return super()._expire_media(arguments)

    def _expire_tokens(self, _arguments: Mapping[str, Any]) -> Json:
        """Every xsec_token handed out so far fits nothing from now on."""
        self.world.token_generation += 1
        self._comment_bodies.cache_clear()
        return {"generation": self.world.token_generation}

    # -- who asks -------------------------------------------------------------------------------

    def who(self, call: Call) -> Visitor | None:
        session = self.session_of(call)
        if session.kind == "none":
            return None
        return Visitor(self.accounts.name_of(session.value), session.kind, session.value)

    def dress(self, call: Call, reply: Reply) -> Reply:
        """Answers that pages of the site may read although they come from another host."""
        origin = call.headers.get("origin")
        if origin is not None and call.host in _API_HOSTS and _is_own_origin(origin):
            reply.headers = [*reply.headers, *allow_origin(origin)]
        return reply

    def session_of(self, call: Call) -> Session:
        value = call.cookies.get("web_session", "")
        known = self.accounts.kinds.get(value)
        if known is not None:
            return Session(known, value)
        if value.startswith("0400e0e0"):
            return Session("expired", value)
        if value.startswith("0400f1f1"):
            return Session("flagged", value)
        if _MEMBER.fullmatch(value):
            return Session("member", value)
        return Session("guest" if _GUEST.fullmatch(value) else "none", value)

    def _viewer(self, call: Call) -> User | None:
        session = self.session_of(call)
        return self._user_of(session.value) if session.kind == "member" else None

    def _user_of(self, session: str) -> User:
        """The person behind a session, the same for all sessions of an account."""
        return self.world.viewer(self.accounts.identity(session))

    @staticmethod
    def _admit(session: Session, login: str) -> None:
        if session.kind == "flagged":
            raise Refusal(300011)
        if login == "open":
            return
        if session.kind == "expired":
            raise Refusal(-100)
        if session.kind == "none":
            raise Refusal(-101)
        if session.kind == "guest" and login == "member":
            raise Refusal(-104)

    # -- API ------------------------------------------------------------------------------------

    def _make_routes(self) -> dict[str, Route]:
        v1, v2 = "/api/sns/web/v1", "/api/sns/web/v2"
        return {
            f"{v2}/search/notes": Route("POST", self._search, "member"),
            f"{v1}/search/notes": Route("POST", self._search, "member", rap=True),
            f"{v1}/search/onebox": Route("POST", self._onebox, "member"),
            f"{v1}/search/filter": Route("GET", self._filters, "member"),
            f"{v1}/search/recommend": Route("GET", self._recommend, "open"),
            f"{v1}/search/querytrending": Route("GET", self._trending, "open"),
            f"{v1}/search/usersearch": Route("POST", self._user_search, "member"),
            f"{v1}/feed": Route("POST", self._detail, "guest", rap=True),
            f"{v1}/homefeed": Route("POST", self._homefeed, "guest", rap=True),
            f"{v1}/homefeed/category": Route("GET", self._categories, "open"),
            f"{v1}/user/otherinfo": Route("GET", self._other_info, "member"),
            f"{v1}/user_posted": Route("GET", self._user_posted, "member", rap=True),
            f"{v1}/note/like/page": Route("GET", self._liked, "member", rap=True),
            f"{v2}/note/collect/page": Route("GET", self._collected, "member", rap=True),
            f"{v2}/comment/page": Route("GET", self._comments, "member"),
            f"{v2}/comment/sub/page": Route("GET", self._replies, "member"),
            f"{v2}/user/me": Route("GET", self._me, "guest"),
            f"{v1}/user/selfinfo": Route("GET", self._self_info, "member"),
            f"{v1}/login/activate": Route("POST", self._activate, "open"),
            f"{v1}/login/qrcode/create": Route("POST", self._qr_create, "open"),
            f"{v1}/login/qrcode/status": Route("GET", self._qr_status, "open"),
            "/api/qrcode/userinfo": Route("POST", self._qr_user_info, "open"),
            f"{v2}/login/send_code": Route("GET", self._send_code, "open"),
            f"{v1}/login/check_code": Route("GET", self._check_code, "open"),
            f"{v2}/login/code": Route("POST", self._login_code, "open"),
            f"{v1}/login/code": Route("POST", self._login_code, "open"),
            "/api/im/redmoji/detail": Route("GET", self._emoji, "open"),
        }

    def _api(self, call: Call) -> Reply:
        if call.method == "OPTIONS" and "origin" in call.headers:
            return _preflight()
        route = self._routes.get(call.path)
        if route is None or not self._lives_on(call.path, call.host):
            return text_reply("404 page not found", status=404)
        if call.method != route.method:
            return text_reply("405 method not allowed", status=405)
        if self.options.verify and not self._is_signed(call, route.rap):
            return signature_refused()
        try:
            session = self.session_of(call)
            self._admit(session, route.login)
            return route.answer(call, session)
        except Refusal as refusal:
            return json_reply(body_of(refusal.code, refusal.message, {}))

    @staticmethod
    def _lives_on(path: str, host: str) -> bool:
        """The v2 search answers on the so host, everything else on the others."""
        return (path == "/api/sns/web/v2/search/notes") == (host == "so.xiaohongshu.com")

    def _is_signed(self, call: Call, rap: bool) -> bool:
        try:
            if call.headers.get("x-s", "").startswith(SCHEME):
                self.logins.keys.check(call)
            else:
                self.verifier.check(call, rap=rap and self._rap)
        except BadSignature as error:
            self.counters.bad_signature(str(error))
            return False
        return True

    def _search(self, call: Call, _session: Session) -> Reply:
        body = call.json()
        if not isinstance(body, dict) or not body.get("keyword"):
            raise Refusal(-1, "required param: keyword not found")
        wanted = _filters_of(body)
        keyword, page = str(body["keyword"]), whole_number(body.get("page"), 1)
        search_id = str(body.get("search_id") or "")
        notes, has_more = self.world.search_page(keyword, page, *wanted[:3], search_id, wanted[3])
        if not notes:
            return json_reply(body_of(*GOOD, {"has_more": False}))
        items = [self.views.search_item(note, search_id) for note in notes]
        self._add_suggestions(items, keyword, page)
        return json_reply(body_of(*GOOD, {"has_more": has_more, "items": items}))

    def _add_suggestions(self, items: list[Json], keyword: str, page: int) -> None:
        """One or two cards that are no notes, somewhere in the page."""
        chance = number("cards", self.world.seed, keyword, page)
        place = 2 + chance % 5
        items.insert(min(place, len(items)), self.views.suggestion(keyword, page, "rec_query"))
        if chance % 2:
            kind = ("rec_query", "hot_query", "live_v2")[chance // 2 % 3]
            second = self.views.suggestion(keyword, page, kind)
            items.insert(min(place + 7, len(items)), second)

    def _onebox(self, _call: Call, _session: Session) -> Reply:
        return json_reply(body_of(*GOOD, {}))

    def _filters(self, call: Call, _session: Session) -> Reply:
        keyword = call.params.get("keyword", "")
        names = {
            "general": "综合",
            "time_descending": "最新",
            "popularity_descending": "最多点赞",
            "comment_descending": "最多评论",
            "collect_descending": "最多收藏",
        }
        groups = [
            ("sort_type", "排序依据", [(sort, names[sort]) for sort in SORTS]),
            ("filter_note_type", "笔记类型", _same(_ANY, *_TYPE_TAGS)),
            ("filter_note_time", "发布时间", _same(_ANY, *_TIME_TAGS)),
            ("filter_note_range", "搜索范围", _same(_ANY, "已看过", "未看过", "已关注")),
            ("filter_pos_distance", "位置距离", _same(_ANY, "同城", "附近")),
            ("filter_hot", "热门", [(f"hot_{t}", f"{keyword}{t}") for t in ("平价", "新手")]),
        ]
        filters = [
            {
                "id": group,
                "name": name,
                "type": "single",
                "filter_tags": [
                    {"id": i, "name": n, "show_type": 0, "need_location_info": i == "附近"}
                    for i, n in tags
                ],
            }
            for group, name, tags in groups
        ]
        return json_reply(body_of(*GOOD, {"filters": filters}))

    def _recommend(self, call: Call, _session: Session) -> Reply:
        keyword = call.params.get("keyword", "")
        items = [
            {
                "text": f"{keyword}{tail}",
                "search_type": "notes",
                "type": "",
                "highlight_flags": [False] * len(keyword) + [True] * len(tail),
            }
            for tail in ("推荐", "攻略", "装备清单", "新手入门", "一日游")
        ]
        mark = digest("recommend", keyword).hex()
        data = {"sug_items": items, "search_cpl_id": mark, "word_request_id": mark[:16]}
        return json_reply(body_of(1000, "成功", data))

    def _trending(self, _call: Call, _session: Session) -> Reply:
        words = ("周末去哪儿", "秋冬穿搭", "一人食", "手冲咖啡入门", "阳台种菜")
        queries = [{"search_word": w, "title": w, "desc": "", "type": "firstEnter"} for w in words]
        hint = {"title": "搜索感兴趣的内容", "search_word": words[0], "type": "firstEnter"}
        data = {"title": "猜你想搜", "queries": queries, "hint_word": hint}
        return json_reply(body_of(1000, "成功", data))

    def _user_search(self, call: Call, _session: Session) -> Reply:
        body = call.json()
        asked = body.get("search_user_request") if isinstance(body, dict) else None
        if not isinstance(asked, dict) or not asked.get("keyword"):
            raise Refusal(-1, "required param: search_user_request not found")
        page = whole_number(asked.get("page"), 1)
        size = min(15, whole_number(asked.get("page_size"), 15))
        users, has_more = self.world.search_users(str(asked["keyword"]), page, size)
        data = {
            "users": [self.views.found_user(user) for user in users],
            "has_more": has_more,
            "result": {"code": 1000, "message": "成功", "success": True},
        }
        return json_reply(body_of(1000, "成功", data))

    def _detail(self, call: Call, session: Session) -> Reply:
        body = call.json()
        if not isinstance(body, dict) or not body.get("source_note_id"):
            raise Refusal(-1, "required param: source_note_id not found")
        note_id, token = str(body["source_note_id"]), str(body.get("xsec_token") or "")
        items = []
        if self.world.token_fits(note_id, token):
            note = self._open(note_id)
            if session.kind == "guest" and note.address % 3 == 0:
                raise Refusal(-104)  # a guest may open some notes, not all
            items.append(
                {"id": note_id, "model_type": "note", "note_card": self.views.detail(note)}
            )
        elif self.world.status(note_id) == "unknown":
            raise Refusal(*_GONE["unknown"])
        data = {"cursor_score": "", "items": items, "current_time": self.views.now_ms}
        return json_reply(body_of(*GOOD, data))

    def _open(self, note_id: str) -> Note:
        note = self.world.note(note_id)
        if note is None:
            raise Refusal(*_GONE["unknown"])
        if note.status != "ok":
            raise Refusal(*_GONE[note.status])
        return note

    def _homefeed(self, call: Call, _session: Session) -> Reply:
        body = call.json()
        if not isinstance(body, dict):
            raise Refusal(-1, "required param: cursor_score not found")
        start = self.world.now
        score = body.get("cursor_score")
        offset = 0
        if isinstance(score, str) and _CURSOR_SCORE.fullmatch(score):
            offset = round((float(score) - start) * 1000)
        count = min(35, max(1, whole_number(body.get("num"), 20)))
        category = str(body.get("category") or "homefeed_recommend")
        track = digest("track", offset, size=10).hex()
        notes = self.world.feed(category, offset, count)
        cursor = f"{(start + (offset + count) / 1000) / 1e9:.16f}E9"
        items = [self.views.feed_item(note, track) for note in notes]
        return json_reply(body_of(*GOOD, {"cursor_score": cursor, "items": items}))

    def _categories(self, _call: Call, _session: Session) -> Reply:
        names = {
            "homefeed_recommend": "推荐",
            "homefeed.fashion_v3": "穿搭",
            "homefeed.food_v3": "美食",
            "homefeed.cosmetics_v3": "彩妆",
            "homefeed.movie_and_tv_v3": "影视",
            "homefeed.career_v3": "职场",
            "homefeed.love_v3": "情感",
            "homefeed.household_product_v3": "家居",
            "homefeed.gaming_v3": "游戏",
            "homefeed.travel_v3": "旅行",
            "homefeed.fitness_v3": "健身",
        }
        categories = [{"id": key, "name": name} for key, name in names.items()]
        return json_reply(body_of(*GOOD, {"categories": categories}))

    def _other_info(self, call: Call, _session: Session) -> Reply:
        user = self.world.user(call.params.get("target_user_id", ""))
        if user is None:
            data: Json = {"result": {"success": False, "code": -1, "message": "用户不存在"}}
        else:
            data = self.views.profile(user)
        return json_reply(body_of(*GOOD, data))

    def _user_posted(self, call: Call, _session: Session) -> Reply:
        user = self.world.user(call.params.get("user_id", ""))
        if user is None or user.banned:
            return json_reply(body_of(*GOOD, {"notes": [], "cursor": "", "has_more": False}))
        size = min(POSTED_PAGE, max(1, whole_number(call.params.get("num"), POSTED_PAGE)))
        cursor = call.params.get("cursor", "")
        notes, has_more = self.world.posted_page(user, cursor, size)
        data = {
            "notes": [self.views.posted_note(note) for note in notes],
            "cursor": notes[-1].id if has_more else "",
            "has_more": has_more,
        }
        return json_reply(body_of(*GOOD, data))

    def _liked(self, call: Call, _session: Session) -> Reply:
        return self._favourites(call, "like")

    def _collected(self, call: Call, _session: Session) -> Reply:
        return self._favourites(call, "collect")

    def _favourites(self, call: Call, kind: str) -> Reply:
        user = self.world.user(call.params.get("user_id", ""))
        notes = [] if user is None or user.banned else self.world.collected(user, kind)
        size = min(POSTED_PAGE, max(1, whole_number(call.params.get("num"), POSTED_PAGE)))
        ids = [note.id for note in notes]
        cursor = call.params.get("cursor", "")
        start = ids.index(cursor) + 1 if cursor in ids else 0
        page = notes[start : start + size]
        data = {
            "notes": [self.views.posted_note(note, kind) for note in page],
            "cursor": page[-1].id if page else "",
            "has_more": start + size < len(notes),
        }
        return json_reply(body_of(*GOOD, data))

    def _comments(self, call: Call, _session: Session) -> Reply:
        note, token = self._commented(call, always=not call.params.get("cursor"))
        start = self._root_after(note, call.params.get("cursor", ""))
        period = int(time.time() * 4 / max(4, self.addresses.ttl))
        return Reply(body=self._comment_bodies(note.address, start, token, period))

    def _comment_body(self, address: int, start: int, token: str, _period: int) -> bytes:
        note = self.world.note_at(address)
        return json_reply(body_of(*GOOD, self.comment_data(note, start, token))).body

    def _commented(self, call: Call, always: bool) -> tuple[Note, str]:
        """The note whose comments are asked for; the token must fit, and with *always* be there."""
        note_id = call.params.get("note_id", "")
        token = call.params.get("xsec_token", "")
        if (token or always) and not self.world.token_fits(note_id, token):
            raise Refusal(300017)
        return self._open(note_id), token

    def _root_after(self, note: Note, cursor: str) -> int:
        if not cursor:
            return 0
        where = self.world.place_of_comment(note, cursor)
        return note.outline.roots if where is None or where[1] else where[0] + 1

    def comment_data(self, note: Note, start: int, token: str) -> Json:
        """The page of top-level comments that begins with number *start*."""
        end = min(start + COMMENT_PAGE, note.outline.roots)
        written = [
            self.views.comment(note, self.world.comment(note, root)) for root in range(start, end)
        ]
        return self.views.comment_page(note, written, end < note.outline.roots, token)

    def _replies(self, call: Call, _session: Session) -> Reply:
        note, token = self._commented(call, always=False)
        root = self.world.place_of_comment(note, call.params.get("root_comment_id", ""))
        if root is None or root[1]:
            raise Refusal(-1, "required param: root_comment_id not found")
        cursor = call.params.get("cursor", "")
        start = 1
        if cursor:
            last = self.world.place_of_comment(note, cursor)
            start = last[1] + 1 if last is not None and last[0] == root[0] else 1024
        size = min(30, max(1, whole_number(call.params.get("num"), COMMENT_PAGE)))
        return json_reply(body_of(*GOOD, self.reply_data(note, root[0], start, size, token)))

    def reply_data(self, note: Note, root: int, start: int, size: int, token: str) -> Json:
        """The page of replies that begins with number *start* (1 is the first)."""
        total = self.world.reply_count(note, root)
        end = min(start + size, total + 1)
        written = [
            self.views.reply(note, self.world.comment(note, root, reply))
            for reply in range(start, end)
        ]
        return self.views.comment_page(note, written, end <= total, token)

    def _me(self, _call: Call, session: Session) -> Reply:
        user = self._user_of(session.value)
        return json_reply(body_of(*GOOD, self.views.me(user, session.kind == "guest")))

    def _self_info(self, _call: Call, session: Session) -> Reply:
        data = self.views.profile(self._user_of(session.value))
        data.pop("extra_info", None)
        return json_reply(body_of(*GOOD, data))

    def _activate(self, call: Call, session: Session) -> Reply:
        """A guest's session for whoever has none (1.4)."""
        value = session.value
        if session.kind not in ("member", "guest"):
            value = "030037" + digest("guest", call.cookies.get("a1", ""), size=16).hex()
        user = self.world.viewer(value)
        secret = digest("secret", value).hex()
        data = {"user_id": user.id, "session": value, "secret": secret}
        domain = _domain(call)
        cookie = f"web_session={value}; Domain={domain}; Path=/; Max-Age=31536000; Secure; HttpOnly"
        return json_reply(body_of(*GOOD, data), headers=[("Set-Cookie", cookie)])

    # -- logins (9) -----------------------------------------------------------------------------

    def _qr_create(self, call: Call, _session: Session) -> Reply:
        return json_reply(body_of(*GOOD, self.logins.create(call)))

    def _qr_user_info(self, call: Call, _session: Session) -> Reply:
        data = self.logins.user_info(call)
        if data is None:
            raise Refusal(-1, "required param: qrId not found")
        return json_reply(body_of(*GOOD, data))

    def _qr_status(self, call: Call, _session: Session) -> Reply:
        data, session = self.logins.status(call)
        if data is None:
            raise Refusal(-1, "required param: qr_id not found")
        headers = session_cookies(session, _domain(call)) if session else []
        return json_reply(body_of(*GOOD, data), headers=headers)

    def _send_code(self, call: Call, _session: Session) -> Reply:
        problem = self.logins.send_code(call)
        if problem is not None:
            raise Refusal(*problem)
        return json_reply(body_of(*GOOD, {}))

    def _check_code(self, call: Call, _session: Session) -> Reply:
        token = self.logins.check_code(call)
        if token is None:
            raise Refusal(*self.logins.bad_code())
        return json_reply(body_of(*GOOD, {"mobile_token": token, "zone": "86"}))

    def _login_code(self, call: Call, _session: Session) -> Reply:
        session = self.logins.login_code(call)
        if session is None:
            raise Refusal(*self.logins.bad_code())
        data = self.logins.login_info(session)
        return json_reply(body_of(*GOOD, data), headers=session_cookies(session, _domain(call)))

    def _emoji(self, _call: Call, _session: Session) -> Reply:
        names = ("偷笑R", "派对R", "捂脸R", "笑哭R", "萌萌哒R", "种草R")
        emoji = [{"image_name": f"[{name}]", "image": f"{name}.png"} for name in names]
        group = {"name": "小红书表情", "collection": [{"name": "小红薯", "emoji": emoji}]}
        data = {"emoji": {"tabs": [group]}, "version": 1}
        return json_reply(body_of(*GOOD, data))

    # -- security host --------------------------------------------------------------------------

    def _security(self, call: Call) -> Reply:
        if call.path == "/api/sec/v1/scripting":
            mark = digest("poison", self.world.seed).hex()
            return json_reply(body_of(*GOOD, {"data": "", "secPoisonId": mark}))
        if call.path == "/api/sec/v1/shield/webprofile":
            gid = digest("gid", call.cookies.get("a1", ""), size=40).hex()
            cookie = f"gid={gid}; Path=/; Max-Age=31536000"
            return json_reply(body_of(*GOOD, {}), headers=[("Set-Cookie", cookie)])
        return text_reply("404 page not found", status=404)

    # -- web pages ------------------------------------------------------------------------------

    def _www(self, call: Call) -> Reply:
        if not call.host.startswith("www."):
            return redirect(f"https://www.{call.host}{call.target}", status=301)
        path = call.path
        if path.startswith("/__site__/"):
            return self.logins.helper(call, self.session_of(call).value)
        if path.startswith("/mobile/"):
            return mobile_page(call)
        note = _NOTE_PAGE.fullmatch(path)
        if note:
            return self._note_page(call, note[1])
        profile = _PROFILE_PAGE.fullmatch(path)
        if profile and profile[2]:
            return self._note_page(call, profile[2])
        if profile:
            return self._profile_page(call, profile[1])
        if path == "/":
            return redirect(f"https://{call.host}/explore")
        if path == "/explore":
            feed = self.world.feed("homefeed_recommend", 0, 20)
            return html_reply(self.pages.explore(self._viewer(call), feed))
        if path.startswith("/search_result"):
            keyword = unquote(call.params.get("keyword", ""))
            return html_reply(self.pages.search(keyword, self._viewer(call)))
        return _plain_page(path)

    def _note_page(self, call: Call, note_id: str) -> Reply:
        site = call.host.removeprefix("www.")
        viewer = self._viewer(call)
        note = self.world.note(note_id)
        token = call.params.get("xsec_token", "")
        back = f"https://{call.host}{call.target}"
        if note is None:
            return redirect(f"https://www.{site}/404")
        if note.status == "deleted":
            return redirect(f"https://www.{site}/404?errorCode=-510001")
        if note.status == "unavailable":
            return redirect(not_found_location(site, back))
        if not token:
            if viewer is None:
                login = quote(back, safe="")
                return redirect(f"https://www.{site}/login?redirectPath={login}")
            return redirect(not_found_location(site, back))
        if not self.world.token_fits(note_id, token):
            return html_reply(self.pages.undelivered(viewer))
        if note.status == "private":
            return html_reply(self.pages.private(viewer))
        if call.path.startswith("/discovery/item/") and _is_phone(call):
            return html_reply(self.pages.phone_note(note))
        streams = self.session_of(call).kind in ("member", "guest")
        return html_reply(self.pages.note(note, token, viewer, streams))

    def _profile_page(self, call: Call, user_id: str) -> Reply:
        user = self.world.user(user_id)
        if user is None:
            return redirect(f"https://{call.host}/404")
        return html_reply(self.pages.creator(user, self._viewer(call)))

    # -- short links ----------------------------------------------------------------------------

    def _short(self, call: Call) -> Reply:
        match = _SHORT_PATH.fullmatch(call.path)
        target = self.world.short_target(match[1]) if match else None
        if target is None:
            return html_reply("<html><body>页面不见了</body></html>", status=404)
        outcome, object_id = target
        return redirect(self._short_location(outcome, object_id))

    def _short_location(self, outcome: str, object_id: str) -> str:
        site = "xiaohongshu.com"
        if outcome == "user":
            return f"https://www.{site}/user/profile/{object_id}?xsec_source=app_share"
        token = quote(self.world.token(object_id, "share", "CB"), safe="")
        path = "explore" if outcome == "explore" else "discovery/item"
        url = (
            f"https://www.{site}/{path}/{object_id}?app_platform=ios&app_version=8.69"
            "&share_from_user_hidden=true&xsec_source=app_share&type=normal"
            f"&xsec_token={token}&author_share=1&xhsshare=WeixinSession&apptime=1764470000"
        )
        if outcome == "login":
            return f"https://www.{site}/login?redirectPath={quote(url, safe='')}"
        if outcome == "login-twice":
            twice = quote(quote(url, safe=""), safe="")
            return f"https://www.{site}/website-login/captcha?redirectPath={twice}"
        if outcome == "404":
            return not_found_location(site, url)
        return url

    # -- files ----------------------------------------------------------------------------------

    def _file(self, call: Call) -> Reply:
        if _is_foreign(call.headers.get("referer", "")):
            return text_reply("forbidden", status=403)
        path = unquote(call.path).lstrip("/")
        label = call.host.split(".")[0]
        if call.host != "ci.xiaohongshu.com" and not _MEDIA.fullmatch(label):
            return file_reply(None)
        if label.startswith(("sns-video", "sns-bak")):
            return self._video_file(call, path)
        if label.startswith("sns-avatar"):
            blob = self.world.avatar_at(path)
            return file_reply(blob)
        if label.startswith("sns-webpic"):
            return self._signed_picture(path)
        return self._original(call, path)

    def _video_file(self, call: Call, path: str) -> Reply:
        seal = call.params.get("sign")
        if seal is not None and not self.addresses.is_good(seal, path):
            return text_reply("forbidden", status=403)
        if path.startswith("subtitle/"):
            return Reply(blob=_subtitles(path))
        blob = self.world.video_at(path)
        return file_reply(blob)

    def _signed_picture(self, path: str) -> Reply:
        """``{date}/{seal}/{token}!{style}`` (8.1)."""
        _date, _, rest = path.partition("/")
        seal, _, token_and_style = rest.partition("/")
        if not self.addresses.is_good(seal, token_and_style):
            return text_reply("forbidden", status=403)
        token, mark, style = token_and_style.partition("!")
        picture = self.world.picture_at(token)
        if picture is None or picture.gone:
            return file_reply(None)
        return Reply(blob=self.world.picture_file(picture, mark + style))

    def _original(self, call: Call, path: str) -> Reply:
        """``{token}`` with an optional change of format; anything that resizes fails (8.1)."""
        if path.startswith("icons/"):
            return Reply(blob=PictureFile(path, 48, 48, "png"))
        picture = self.world.picture_at(path)
        if picture is None or picture.gone:
            return file_reply(None)
        variant = ""
        if call.query.startswith("imageView2"):
            words = call.query.split("/")
            if "w" in words or "h" in words:
                return text_reply("internal error", status=500)
            variant = words[words.index("format") + 1] if "format" in words[:-1] else ""
            variant = "jpeg" if variant == "jpg" else variant
            if variant not in ("", "jpeg", "png", "webp", "avif", "heif"):
                return text_reply("bad format", status=400)
        return Reply(blob=self.world.picture_file(picture, variant))


# -- small things ---------------------------------------------------------------------------------


def signature_refused() -> Reply:
    """What a request with a bad signature gets (6.1)."""
    return json_reply({"code": -1, "success": False}, status=406)


def _subtitles(path: str) -> BytesBlob:
    lines = [f"{n}\n00:00:0{n},000 --> 00:00:0{n + 1},000\n第{n}句\n" for n in range(1, 4)]
    return BytesBlob("\n".join(lines).encode() + path.encode() + b"\n", "application/x-subrip")


def _is_foreign(referer: str) -> bool:
    if not referer:
        return False
    host = urlsplit(referer).hostname or ""
    own = ("xiaohongshu.com", "rednote.com", "xhscdn.com")
    return not any(host == site or host.endswith(f".{site}") for site in own)


def _is_phone(call: Call) -> bool:
    agent = call.headers.get("user-agent", "")
    return "iPhone" in agent or "Android" in agent


def _plain_page(path: str) -> Reply:
    if path == "/404":
        return html_reply("<html><body>你访问的页面不见了</body></html>", status=404)
    if path == "/login":
        return html_reply(login_page())
    if path.startswith("/website-login/captcha"):
        return html_reply(captcha_page())
    if path.startswith("/website-login/error"):
        return html_reply('<html><body class="access-wrapper">安全限制 访问链接异常</body></html>')
    if path.startswith("/website-login/"):
        return html_reply("<html><body>请通过验证</body></html>")
    return html_reply("<html><body>你访问的页面不见了</body></html>", status=404)


_API_HOSTS = (
    "edith.xiaohongshu.com",
    "so.xiaohongshu.com",
    "webapi.rednote.com",
    "as.xiaohongshu.com",
    "as.rednote.com",
)


def session_value(account: str, number_: int) -> str:
    """``web_session`` number *number_* of an account (``member-2``, ``guest``)."""
    base, _, suffix = account.partition("-")
    value = FIXED_SESSIONS[base]
    if number_:
        return value[:8] + digest("session", account, number_, size=15).hex()
    return value[:8] + digest("session", account, size=15).hex() if suffix else value


def _domain(call: Call) -> str:
    return ".rednote.com" if call.host.endswith("rednote.com") else ".xiaohongshu.com"


def _is_own_origin(origin: str) -> bool:
    host = urlsplit(origin).hostname or ""
    return any(host == site or host.endswith(f".{site}") for site in _SITES)


_SITES = ("xiaohongshu.com", "rednote.com")


def _preflight() -> Reply:
    allowed = (
        "content-type,x-s,x-t,x-s-common,x-b3-traceid,x-xray-traceid,x-mns,xy-direction,"
        "x-rap-param,service-tag"
    )
    return preflight_reply(allowed, max_age=86_400)


def _same(*labels: str) -> list[tuple[str, str]]:
    return [(label, label) for label in labels]


def _filters_of(body: Json) -> tuple[str, int, str | None, tuple[str, ...]]:
    """Sort, type, time and further tags of a search body, from the top level and the filters;
    where both say something the filters win (3.1)."""
    sort = str(body.get("sort") or "general")
    note_type = whole_number(body.get("note_type"), 0)
    within: str | None = None
    only: list[str] = []
    for entry in body.get("filters") or ():
        tags = entry.get("tags") if isinstance(entry, dict) else None
        if not isinstance(tags, list) or not tags:
            continue
        tag = str(tags[0])
        kind = entry.get("type")
        if kind == "sort_type" and tag != "general":
            sort = tag
        elif kind == "filter_note_type" and tag in _TYPE_TAGS:
            note_type = _TYPE_TAGS[tag]
        elif kind == "filter_note_time":
            within = _TIME_TAGS.get(tag)
        elif kind in ("filter_note_range", "filter_pos_distance", "filter_hot") and tag not in (
            _ANY,
            "未看过",
        ):
            only.append(tag)
    return sort if sort in SORTS else "general", note_type, within, tuple(only)


# -- faults ---------------------------------------------------------------------------------------


def _fault_kinds(site: Xhs) -> dict[str, FaultKind]:
    """Misbehaviour that only XHS knows (6.1 to 6.4)."""

    def code(number_: int) -> FaultKind:
        def fault(call: Call, args: Args, _answer: Answer) -> Reply:
            return _coded(call, number_, args)

        return fault

    def captcha(status: int) -> FaultKind:
        def fault(call: Call, args: Args, _answer: Answer) -> Reply | None:
            if call.path.startswith(_FREE):
                return None
            if args.get("solvable") and site.session_of(call).value in site.logins.solved:
                return None
            return _captcha(call, status, bool(args.get("headers", True)))

        return fault

    def challenge(call: Call, _args: Args, _answer: Answer) -> Reply | None:
        if not call.host.startswith("www.") or call.path.startswith(_FREE):
            return None
        if call.cookies.get("websectiga") == challenge_value(call):
            return None
        return html_reply(challenge_page(call))

    def limited(call: Call, args: Args, _answer: Answer) -> Reply:
        if args.get("as") == "body":
            return _coded(call, 300013, args)
        return redirect(_error_page(call, 300013))

    def repeat(call: Call, _args: Args, answer: Answer) -> Reply:
        return _repeated(site, call) or answer()

    def quota(_call: Call, args: Args, _answer: Answer) -> Reply:
        told = int(args.get("code", 300020))  # the real number is not known
        return json_reply(body_of(told, "网页版搜索次数已达今日上限", {}, success=False))

    return {
        "406": lambda _call, _args, _answer: signature_refused(),
        "challenge": challenge,
        "461": captcha(461),
        "471": captcha(471),
        "300011": code(300011),
        "300012": code(300012),
        "300013": limited,
        "300015": code(300015),
        "300017": code(300017),
        "300031": code(300031),
        "expired": code(-100),
        "no-session": code(-101),
        "no-permission": code(-104),
        "gone": code(-510001),
        "search-quota": quota,
        "empty": lambda _call, _args, _answer: json_reply(body_of(*GOOD, {})),
        "empty-items": lambda _call, _args, _answer: json_reply(
            body_of(*GOOD, {"cursor_score": "", "items": [], "current_time": site.views.now_ms})
        ),
        "repeat": repeat,
    }


_FREE = ("/__site__/", "/website-login/", "/login", "/mobile/")
"""Paths that a captcha or challenge does not stand in front of: they lead out of it."""


def _error_page(call: Call, code: int) -> str:
    site = "rednote.com" if call.host.endswith("rednote.com") else "xiaohongshu.com"
    back = f"https://{call.host}{call.target}"
    return error_location(site, back, code, MESSAGES[code])


def _coded(call: Call, code: int, args: Args) -> Reply:
    """The code as body; for a web page as a redirect. *args*: ``success`` (true: says success in
    spite of the code), ``string`` (the code as text)."""
    if call.host.startswith("www.") and code > 0:
        return redirect(_error_page(call, code))
    body = body_of(code, MESSAGES[code], {}, success=bool(args.get("success", False)))
    if args.get("string"):
        body["code"] = str(code)
    return json_reply(body)


def _captcha(call: Call, status: int, with_headers: bool) -> Reply:
    mark = digest("captcha", call.target).hex()
    if call.host.startswith("www."):
        back = quote(f"https://{call.host}{call.target}", safe="")
        return redirect(
            f"https://{call.host}/website-login/captcha?redirectPath={back}"
            f"&verifyUuid={mark}&verifyType=102&verifyBiz={status}"
        )
    headers = [("Verifytype", "102"), ("Verifyuuid", mark)] if with_headers else []
    return json_reply(body_of(*GOOD, {}), status=status, headers=headers)


def _repeated(site: Xhs, call: Call) -> Reply | None:
    """The page of comments that the client already has, once more, with has_more true (trap 17)."""
    note = site.world.note(call.params.get("note_id", ""))
    if note is None or note.status != "ok":
        return None
    token, cursor = call.params.get("xsec_token", ""), call.params.get("cursor", "")
    where = site.world.place_of_comment(note, cursor) if cursor else None
    if call.path == "/api/sns/web/v2/comment/page":
        start = 0 if where is None else where[0] // COMMENT_PAGE * COMMENT_PAGE
        data = site.comment_data(note, start, token)
    elif call.path == "/api/sns/web/v2/comment/sub/page":
        root = site.world.place_of_comment(note, call.params.get("root_comment_id", ""))
        if root is None:
            return None
        size = min(30, max(1, whole_number(call.params.get("num"), COMMENT_PAGE)))
        start = 1 if where is None else max(1, where[1] - size + 1)
        data = site.reply_data(note, root[0], start, size, token)
    else:
        return None
    data["has_more"] = True
    return json_reply(body_of(*GOOD, data))
