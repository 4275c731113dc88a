"""Bilibili as a server: which host and path answers what, to whom, and what it refuses.

Judges user agent, cookies and signatures in the order in which the platform seems to; the answers
themselves are written by :mod:`sandbox.bilibili.views`. Sections named in comments are those of
``docs/platforms/bilibili.md``.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sandbox.bilibili.login import FIRST_LOGIN, Logins, helper, home_page
from sandbox.bilibili.signature import Keys
from sandbox.bilibili.views import (
    Addresses,
    Views,
    danmaku_segment,
    danmaku_xml,
    error_page,
    state_page,
)
from sandbox.bilibili.world import (
    COMMENT_PAGE,
    CREATOR_ORDERS,
    DURATIONS,
    FIXED_CREATORS,
    FIXED_VIDEOS,
    GUEST_COMMENTS,
    ORDERS,
    SEGMENT,
    Area,
    Comment,
    Dynamic,
    Part,
    User,
    Video,
    World,
    picture_at,
    subtitle_blob,
)
from sandbox.core import (
    Answer,
    Args,
    Call,
    FaultKind,
    Json,
    Options,
    Platform,
    Reply,
    Visitor,
    allow_origin,
    html_reply,
    json_reply,
    preflight_reply,
    redirect,
    text_reply,
)
from sandbox.counters import Counters
from sandbox.worlds import DEMO_KEYWORD, digest

VISITOR = {
    "buvid3": "0F4A1B2C-3D5E-6F70-8192-A3B4C5D6E7F812345infoc",
    "b_nut": "1790000000",
    "buvid4": "9C0FFEE0-1234-5678-9ABC-DEF012345678-026100112-sandbox%2Bguest%3D%3D",
}
EXPIRED = {"SESSDATA": "deadbeef%2C1700000000%2Cdef34%2Aa1CjDsandboxexpired"}

MESSAGES = {
    -101: "账号未登录",
    -352: "风控校验失败",
    -400: "请求错误",
    -401: "非法访问",
    -403: "访问权限不足",
    -404: "啥都木有",
    -412: "request was banned",
    -500: "服务器错误",
    -509: "超出限制",
    -799: "请求过于频繁，请稍后再试",
    -1200: "被降级过滤的请求",
    12002: "评论区已关闭",
    12009: "评论主体的type不合法",
    12022: "已经被删除了",
    62002: "稿件不可见",
    62004: "稿件审核中",
    62012: "仅UP主自己可见",
}
_STATUS_CODES = {"deleted": -404, "hidden": 62002, "private": 62012}
_FEED_PAGE = 12
_OPUS_PAGE = 20
_LIST_PAGE = 30
_REPLY_PAGE = 20
_TRACES = ("dm_img_list", "dm_img_str", "dm_cover_img_str", "dm_img_inter")

PAGE_412 = """<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<title>出错啦! - bilibili.com</title>
</head>
<body>
<div class="error-container">
<div class="error-title">错误号: 412</div>
<p>由于触发哔哩哔哩安全风控策略，该次访问请求被拒绝。</p>
<p>The request was rejected because of the bilibili security control policy.</p>
</div>
</body>
</html>
"""
_CHALLENGE = (
    '<!DOCTYPE html><html><head><script src="//security.bilibili.com/static/js/412.js"></script>'
    "</head><body></body></html>"
)


class Refusal(Exception):
    """An answer with a code instead of data; HTTP 200 as almost always (6)."""

    def __init__(self, code: int, data: Any = None) -> None:
        super().__init__(code)
        self.code = code
        self.data = data


class Banned(Exception):
    """HTTP 412 (6)."""


def envelope(data: Any, code: int = 0) -> Json:
    """What every JSON answer is wrapped in."""
    return {"code": code, "message": MESSAGES.get(code, "OK"), "ttl": 1, "data": data}


def refusal_reply(code: int, data: Any = None) -> Reply:
    headers = [("bili-status-code", str(code))]
    return json_reply(envelope(data, code), headers=headers)


def voucher() -> Json:
    return {"v_voucher": "voucher_1c8f2f7e-06bb-4b6f-8f3d-90f1e2a4d7c3"}


class Route(NamedTuple):
    """An API endpoint. *signed* says how a bad signature is refused: ``"-403"``, ``"-352"``,
    ``"voucher"`` or, with ``""``, that none is wanted."""

    answer: Callable[[Call], Any]
    signed: str = ""


# -- faults --------------------------------------------------------------------------------------


def _code_fault(code: int) -> FaultKind:
    data = voucher() if code == -352 else None
    return lambda _call, _args, _answer: refusal_reply(code, data)


def _any_code(_call: Call, args: Args, _answer: Answer) -> Reply:
    return refusal_reply(int(args.get("code", -500)))


def _challenge(_call: Call, _args: Args, _answer: Answer) -> Reply:
    cookie = "X-BILI-SEC-TOKEN=3,eyJhbGciOiJub25lIn0.e30.; Path=/; Domain=bilibili.com"
    headers = [("Set-Cookie", cookie), ("x-sec-request-id", "sandbox")]
    return html_reply(_CHALLENGE, status=412, headers=headers)


def _emptied(_call: Call, _args: Args, answer: Answer) -> Reply:
    """A good answer whose rows are missing: what a silent refusal looks like."""
    reply = answer()
    try:
        body = json.loads(reply.body)
        data = body["data"]
    except (ValueError, KeyError, TypeError):
        return reply
    for name in ("result", "replies", "items", "top_replies"):
        if isinstance(data, dict) and name in data:
            data[name] = None if name == "replies" else []
    if isinstance(data, dict) and "list" in data:
        data["list"] = {"tlist": None, "vlist": []}
    return json_reply(body)


FAULTS: dict[str, FaultKind] = {
    "412": lambda _call, _args, _answer: html_reply(PAGE_412, status=412),
    "412-json": lambda _call, _args, _answer: json_reply(
        {"code": -412, "message": MESSAGES[-412], "ttl": 1}, status=412
    ),
    "412-challenge": _challenge,
    "voucher": lambda _call, _args, _answer: json_reply(envelope(voucher())),
    "riskdata": lambda _call, _args, _answer: html_reply(
        f"<html><script>window._riskdata_={json.dumps(voucher())}</script></html>"
    ),
    "empty-rows": _emptied,
    "code": _any_code,
    **{
        str(code): _code_fault(code)
        for code in (-101, -352, -401, -403, -404, -412, -500, -509, -799, 12002, 62002)
    },
}


# -- the platform --------------------------------------------------------------------------------


class Bilibili(Platform):
    """Bilibili: JSON on ``api``, pages on ``www`` and ``space``, files on four more hosts."""

    name = "bilibili"
    hosts = (
        "api.bilibili.com",
        "www.bilibili.com",
        "bilibili.com",
        "m.bilibili.com",
        "space.bilibili.com",
        "search.bilibili.com",
        "t.bilibili.com",
        "comment.bilibili.com",
        "passport.bilibili.com",
        "b23.tv",
        "bili2233.cn",
        "bili22.cn",
        "bili23.cn",
        "bili33.cn",
        "*.hdslb.com",
        "archive.biliimg.com",
        "*.bilivideo.com",
        "*.bilivideo.cn",
    )
    fault_kinds = FAULTS

    def __init__(self, options: Options, counters: Counters) -> None:
        super().__init__(options, counters)
        search_cap = int(options.switch("bilibili.search-cap", "1000"))
        self.world = World.from_options(options, search_cap=search_cap)
        self.keys = Keys(options.seed)
        self.addresses = Addresses(options.seed, options.url_ttl)
        self.views = Views(self.world, self.addresses)
        self.logins = Logins(options)
        self._seen: set[str] = set()
        self._stale_answers = 0
        self._short = self.world.short_targets()
        self.actions = {
            "change-keys": self._change_keys,
            "expire-media": self._expire_media,
            **self.logins.actions(),
        }
        polymer = "/x/polymer/web-dynamic/v1"
        self._routes = {
            "/x/web-interface/nav": Route(self._nav),
            "/x/frontend/finger/spi": Route(self._spi),
            "/x/web-frontend/getbuvid": Route(lambda _call: {"buvid": VISITOR["buvid3"]}),
            "/x/web-interface/wbi/search/type": Route(self._search, "voucher"),
            "/x/web-interface/view": Route(self._view),
            "/x/web-interface/wbi/view": Route(self._view, "-352"),
            "/x/web-interface/view/detail": Route(self._view_detail),
            "/x/web-interface/wbi/view/detail": Route(self._view_detail, "-352"),
            "/x/web-interface/view/detail/tag": Route(lambda c: self.views.tags(self._video(c))),
            "/x/tag/archive/tags": Route(lambda c: self.views.tags(self._video(c))),
            "/x/player/pagelist": Route(lambda c: self.views.pages(self._video(c))),
            "/x/web-interface/card": Route(lambda c: self.views.card(self._user(c, "mid"))),
            "/x/space/wbi/acc/info": Route(self._acc_info, "-352"),
            "/x/relation/stat": Route(self._relation),
            "/x/space/navnum": Route(self._navnum),
            "/x/space/upstat": Route(self._upstat),
            "/x/space/wbi/arc/search": Route(self._arc_search, "-352"),
            "/x/series/recArchivesByKeywords": Route(self._archives),
            "/x/polymer/web-space/seasons_archives_list": Route(self._season),
            "/x/v2/reply/wbi/main": Route(self._comments, "-403"),
            "/x/v2/reply": Route(self._old_comments),
            "/x/v2/reply/reply": Route(self._replies),
            "/x/v2/reply/count": Route(lambda c: {"count": self._area(c).shown}),
            "/x/player/playurl": Route(self._playurl),
            "/x/player/wbi/playurl": Route(self._playurl, "voucher"),
            "/x/player/wbi/v2": Route(self._player),
            "/x/player/v2": Route(self._player_unsigned),
            f"{polymer}/feed/space": Route(self._feed),
            f"{polymer}/detail": Route(self._dynamic_detail),
            f"{polymer}/opus/detail": Route(self._opus_detail),
            f"{polymer}/opus/feed/space": Route(self._opus_feed),
            "/x/article/view": Route(self._article),
        }

    def cookies(self, kind: str) -> dict[str, str] | None:
        if kind.partition("-")[0] == "member":
            session = self.logins.accounts.current(kind)
            return {**_visitor(kind), **self.logins.cookies(session)}
        return {
            "guest": dict(VISITOR),
            "expired": {**VISITOR, **FIRST_LOGIN, **EXPIRED},
            "none": {},
        }.get(kind)

    def who(self, call: Call) -> Visitor | None:
        value = call.cookies.get("SESSDATA", "")
        kind = self.logins.kind_of(value) if value else "none"
        if kind == "none":
            return None
        name = "expired" if value == EXPIRED["SESSDATA"] else self.logins.accounts.name_of(value)
        return Visitor(name, kind, value)

    def dress(self, call: Call, reply: Reply) -> Reply:
        """Every page of the site may read the API's answers (3.15)."""
        origin = call.headers.get("origin")
        if origin is not None and re.fullmatch(r"https?://(?:[a-z]+\.)?bilibili\.com", origin):
            reply.headers = [*reply.headers, *allow_origin(origin)]
        return reply

    def describe(self) -> Mapping[str, Any]:
        return {
            "keyword": DEMO_KEYWORD,
            "videos": {
                fixed.name: self.world.fixed_video(fixed.name).bvid for fixed in FIXED_VIDEOS
            },
            "creators": {name: self.world.fixed_creator(name).mid for name in FIXED_CREATORS},
            "short_links": {
                f"https://b23.tv/{code}": target for code, target in self._short.items()
            },
            "cookies": ["member", "guest", "expired", "none", "member-2 (any suffix: another)"],
        }

    def is_media(self, call: Call) -> bool:
        if call.host == "comment.bilibili.com":
            return True
        return call.host.endswith((".hdslb.com", ".biliimg.com", ".bilivideo.com", ".bilivideo.cn"))

    def _change_keys(self, arguments: Mapping[str, Any]) -> Any:
        self.keys.change(int(arguments.get("after", 0)))
        return {"generation": self.keys.generation}

    def _expire_media(self, arguments: Mapping[str, Any]) -> Any:
        """What was handed out is no good any more, nor are the next *answers* with streams."""
        self.addresses.expire()
        self._stale_answers = int(arguments.get("answers", 0))
        return {"ok": True}

    # -- dispatch -------------------------------------------------------------------------------

    def respond(self, call: Call) -> Reply:
        if self.is_media(call):
            return self._file(call)
        try:
            self._check_agent(call)
            if call.method == "OPTIONS" and "origin" in call.headers:
                asked = call.headers.get("access-control-request-headers", "")
                return preflight_reply(asked, max_age=1_728_000)
            if call.host == "api.bilibili.com":
                return self._api(call)
            if call.path.startswith("/__site__/"):
                return helper(call)
            if call.host == "passport.bilibili.com":
                return self.logins.passport(call, self.session_kind(call))
            if call.host in ("b23.tv", "bili2233.cn", "bili22.cn", "bili23.cn", "bili33.cn"):
                return self._short_link(call)
            return self._page(call)
        except Banned:
            return html_reply(PAGE_412, status=412)
        except Refusal as refusal:
            return refusal_reply(refusal.code, refusal.data)

    def _check_agent(self, call: Call) -> None:
        """Tools that say so are refused (1.3)."""
        agent = call.headers.get("user-agent", "")
        if self.options.verify and not agent.startswith("Mozilla/5.0 "):
            self.counters.bad_signature("user-agent")
            raise Banned

    def _api(self, call: Call) -> Reply:
        if call.path in ("/x/v2/dm/web/seg.so", "/x/v2/dm/wbi/web/seg.so"):
            return self._segment(call)
        if call.path == "/x/v1/dm/list.so":
            return self._danmaku_file(call.params.get("oid", ""))
        route = self._routes.get(call.path)
        if route is None:
            return refusal_reply(-404)
        if self.session_kind(call) == "flagged" and call.path != "/x/web-interface/nav":
            raise Refusal(-352, voucher())
        if route.signed:
            self._check_signature(call, route.signed)
        answer = route.answer(call)
        return answer if isinstance(answer, Reply) else json_reply(envelope(answer))

    def _check_signature(self, call: Call, signed: str) -> None:
        if not self.options.verify:
            return
        problem = self.keys.check(call)
        if problem is None and self.options.strict_replay:
            mark = call.params["w_rid"]
            problem = "replayed" if mark in self._seen else None
            self._seen.add(mark)
        if problem is None:
            return
        self.counters.bad_signature(problem)
        if signed == "voucher":
            raise Refusal(0, voucher())
        raise Refusal(int(signed), voucher() if signed == "-352" else None)

    def is_member(self, call: Call) -> bool:
        """Whether the login is good: the cookie exactly as it was set (1.2)."""
        return self.session_kind(call) in ("member", "flagged")

    def session_kind(self, call: Call) -> str:
        return self.logins.kind_of(call.cookies.get("SESSDATA", ""))

    # -- session --------------------------------------------------------------------------------

    def _nav(self, call: Call) -> Reply:
        """Visitors get a code, and the keys all the same (1.4)."""
        img, sub = self.keys.pair()
        data: Json = {
            "isLogin": self.is_member(call),
            "wbi_img": {
                "img_url": f"https://i0.hdslb.com/bfs/wbi/{img}.png",
                "sub_url": f"https://i0.hdslb.com/bfs/wbi/{sub}.png",
            },
        }
        if not data["isLogin"]:
            return json_reply(envelope(data, -101))
        session = call.cookies["SESSDATA"]
        mid = self.logins.mid(session)
        first = mid == int(FIRST_LOGIN["DedeUserID"])
        data |= {"mid": mid, "uname": self.world.viewer("" if first else str(mid)).name}
        return json_reply(envelope(data))

    @staticmethod
    def _spi(_call: Call) -> Reply:
        data = {"b_3": VISITOR["buvid3"], "b_4": VISITOR["buvid4"]}
        return json_reply({"code": 0, "data": data, "message": "ok"})

    # -- search ---------------------------------------------------------------------------------

    def _search(self, call: Call) -> Json:
        if "buvid3" not in call.cookies:
            raise Refusal(-412)
        kind = call.params.get("search_type", "")
        keyword = call.params.get("keyword", "")
        page, size = _number(call, "page", 1), min(50, _number(call, "page_size", 20))
        if kind == "bili_user":
            users = self.world.search_users(keyword)
            rows = [self.views.user_row(user) for user in users[(page - 1) * size : page * size]]
            return self._search_data(page, size, rows, len(users))
        if kind != "video":
            raise Refusal(-1200)
        return self._search_videos(call, keyword, page, size)

    def _search_videos(self, call: Call, keyword: str, page: int, size: int) -> Json:
        order = call.params.get("order") or "totalrank"
        since, until = _number(call, "pubtime_begin_s", 0), _number(call, "pubtime_end_s", 0)
        duration = _number(call, "duration", 0)
        if order not in ORDERS or duration >= len(DURATIONS):
            raise Refusal(-400)
        if not (since and until):
            since = until = 0  # one alone is no limit
        pages = self.world.search_pages(keyword, order, since, until, duration, size)
        entries = pages[page - 1] if 1 <= page <= len(pages) else []
        rows = [
            self.views.search_row(self.world.video_at(entry), keyword)
            if entry >= 0
            else self.views.course_row(keyword, page)
            for entry in entries
        ]
        return self._search_data(page, size, rows, sum(map(len, pages)))

    def _search_data(self, page: int, size: int, rows: list[Json], total: int) -> Json:
        data: Json = {
            "seid": "1234567890123456789",
            "page": page,
            "pagesize": size,
            "numResults": min(total, 1000),
            "numPages": min(-(-total // size), 1000 // size),
            "rqt_type": "search",
            "exp_list": {},
            "egg_hit": 0,
            "show_column": 0,
        }
        if rows:
            data["result"] = rows
        elif page % 2:
            data["result"] = None  # behind the end: null here, absent there
        return data

    # -- videos ---------------------------------------------------------------------------------

    def _video(self, call: Call) -> Video:
        """The video that is asked for.

        :raises Refusal: -400 without a usable number, else what its status is told with.
        """
        found = self._any_video(call)
        if found is None:
            raise Refusal(-404)
        if found.outline.status != "ok":
            raise Refusal(_STATUS_CODES[found.outline.status])
        return found

    def _any_video(self, call: Call) -> Video | None:
        bvid = call.params.get("bvid", "")
        aid = call.params.get("aid") or call.params.get("avid") or ""
        if bvid:
            return self.world.video(bvid)
        if not aid.isdigit():
            raise Refusal(-400)
        return self.world.video_by_aid(int(aid))

    def _view(self, call: Call) -> Json:
        return self.views.view(self._video(call))

    def _view_detail(self, call: Call) -> Json:
        video = self._video(call)
        return {
            "View": self.views.view(video),
            "Card": self.views.card(video.author),
            "Tags": self.views.tags(video),
            "Reply": {"page": None, "replies": []},
            "Related": [],
        }

    # -- creators -------------------------------------------------------------------------------

    def _user(self, call: Call, name: str) -> User:
        mid = call.params.get(name, "")
        if not mid.isdigit():
            raise Refusal(-400)
        user = self.world.user(int(mid))
        if user is None:
            raise Refusal(-404)
        return user

    def _acc_info(self, call: Call) -> Json:
        self._check_traces(call)
        return self.views.acc_info(self._user(call, "mid"))

    def _check_traces(self, call: Call) -> None:
        """Space endpoints refuse visitors that show no browser traces (4.1)."""
        if self.is_member(call) or all(name in call.params for name in _TRACES):
            return
        raise Refusal(-352, voucher())

    def _relation(self, call: Call) -> Json:
        user = self._user(call, "vmid")
        return {"mid": user.mid, "following": user.following, "whisper": 0, "follower": user.fans}

    def _navnum(self, call: Call) -> Json:
        user = self._user(call, "mid")
        videos = len(self.world.uploads(user))
        return {"video": videos, "article": user.articles, "opus": len(self.world.feed(user))}

    def _upstat(self, call: Call) -> Json:
        user = self._user(call, "mid")
        if not self.is_member(call):
            return {}
        return {"archive": {"view": user.likes * 9}, "article": {"view": 0}, "likes": user.likes}

    def _arc_search(self, call: Call) -> Json:
        self._check_traces(call)
        user = self._user(call, "mid")
        page, size = _number(call, "pn", 1), _number(call, "ps", _LIST_PAGE)
        order = call.params.get("order") or "pubdate"
        if size > 50 or order not in CREATOR_ORDERS:
            raise Refusal(-400)
        videos = self.world.uploads(user, order)
        rows = videos[(page - 1) * size : page * size]
        zones = {"21": {"tid": 21, "count": len(videos), "name": "日常"}} if rows else None
        return {
            "list": {
                "slist": [],
                "tlist": zones,
                "vlist": [self.views.arc_row(video) for video in rows],
            },
            "page": {"pn": page, "ps": size, "count": len(videos)},
            "is_risk": False,
            "gaia_res_type": 0,
            "gaia_data": None,
        }

    def _archives(self, call: Call) -> Json:
        user = self._user(call, "mid")
        page, size = _number(call, "pn", 1), _number(call, "ps", 30)
        videos = [video for video in self.world.uploads(user) if not video.course]
        rows = videos if size == 0 else videos[(page - 1) * size : page * size]
        return {
            "archives": [self.views.archive_row(video) for video in rows],
            "page": {"num": page, "size": size, "total": len(videos)},
        }

    def _season(self, call: Call) -> Json:
        """Members of a collection; a foreign Referer is refused (3)."""
        if "space.bilibili.com" not in call.headers.get("referer", ""):
            raise Refusal(-352, voucher())
        user = self._user(call, "mid")
        season = _number(call, "season_id", 0)
        videos = [video for video in self.world.uploads(user) if video.season == season]
        if not videos:
            raise Refusal(-404)
        page = {"page_num": 1, "page_size": 30, "total": len(videos)}
        rows = [self.views.archive_row(video) for video in videos]
        return {"aids": [video.aid for video in videos], "archives": rows, "page": page}

    # -- comments -------------------------------------------------------------------------------

    def _area(self, call: Call) -> Area:
        kind, oid = call.params.get("type", ""), call.params.get("oid", "")
        if not (kind.isdigit() and oid.isdigit()):
            raise Refusal(-400)
        area = self.world.area(int(kind), int(oid))
        if area is None:
            raise Refusal(12009 if kind != "1" else -404)
        if area.closed:
            raise Refusal(12002)
        return area

    def _comments(self, call: Call) -> Json:
        area = self._area(call)
        mode = 2 if call.params.get("mode") == "2" else 3
        start = self._offset(call, mode)
        if not self.is_member(call):
            return self._guest_comments(call, area, mode, start)
        order = self.world.comment_order(area, mode)
        end = start + COMMENT_PAGE
        if start and start >= len(order):
            return self._zero_page(area, mode)
        rows = [self.world.comment(area, root) for root in order[start:end]]
        return self._main_page(call, area, mode, start, rows, *self._end(area, order, start))

    @staticmethod
    def _end(area: Area, order: list[int], start: int) -> tuple[bool, int | None]:
        """``is_end`` and where the next page starts; the last page looks differently from area to
        area (10)."""
        end = start + COMMENT_PAGE
        if end < len(order):
            return False, end
        if area.tail == "empty" and order:
            return False, len(order)  # promises more; the next page is empty
        if area.tail == "same" and start:
            return False, start  # names itself once more
        return True, None

    def _offset(self, call: Call, mode: int) -> int:
        """Where the asked page starts. The deprecated ``next`` wins; anything that is not the
        text that was given out, once more serialised, is page 1 or refused (3.6)."""
        if "next" in call.params:
            return 0
        try:
            wrapped = json.loads(call.params.get("pagination_str") or '{"offset":""}')
            offset = wrapped["offset"]
        except (ValueError, KeyError, TypeError):
            raise Refusal(-400) from None
        if not isinstance(offset, str):
            raise Refusal(-400)
        if not offset:
            return 0
        try:
            place = json.loads(offset)
            if mode == 2:
                return int(place["Data"]["cursor"])
            return (int(place["data"]["pn"]) - 1) * COMMENT_PAGE
        except (ValueError, KeyError, TypeError):
            return 0

    @staticmethod
    def _next_offset(mode: int, start: int) -> str:
        if mode == 2:
            data: Json = {"type": 3, "direction": 1, "Data": {"cursor": start}}
        else:
            page = -(-start // COMMENT_PAGE) + 1
            data = {"type": 1, "direction": 1, "data": {"pn": page}}
        return json.dumps(data, separators=(",", ":"))

    def _guest_comments(self, call: Call, area: Area, mode: int, start: int) -> Json:
        """Three comments by heat and the pinned one, then a false end (1.5)."""
        if start:
            return self._zero_page(area, mode)
        first = self.world.comment_order(area, 3)[:GUEST_COMMENTS]
        rows = [self.world.comment(area, root) for root in first]
        return self._main_page(call, area, mode, 0, rows, True, None)

    def _main_page(
        self,
        call: Call,
        area: Area,
        mode: int,
        start: int,
        rows: list[Comment],
        is_end: bool,
        following: int | None,
    ) -> Json:
        member = self.is_member(call)
        written = [self._thread(area, row, member) for row in rows]
        top = None
        if area.pinned and start == 0:
            top = self._thread(area, self.world.comment(area, 0), member)
        pagination: Json = {}
        if following is not None:
            pagination = {"next_offset": self._next_offset(mode, following)}
        return {
            "cursor": {
                "is_begin": start == 0,
                "prev": 0,
                "next": 0 if is_end else start // COMMENT_PAGE + 2,
                "is_end": is_end,
                "mode": mode,
                "mode_text": "",
                "all_count": area.shown,
                "support_mode": [2, 3],
                "name": "最新评论" if mode == 2 else "热门评论",
                "pagination_reply": pagination,
                "session_id": "" if mode == 2 else "1833813005992141",
            },
            "replies": written if written or member else None,
            "top": {"admin": None, "upper": top, "vote": None},
            "top_replies": [top] if top else ([] if member else None),
            "upper": {"mid": area.author.mid},
            "config": {"showtopic": 1, "show_up_flag": True, "read_only": False},
            "control": {"input_disable": False, "web_selection": False},
            "cm": {"title": "广告", "jump_url": "https://www.example.com/"},
            "note": 1,
        }

    @staticmethod
    def _zero_page(area: Area, mode: int) -> Json:
        """All numbers zero, no rows, and no end either (10)."""
        return {
            "cursor": {
                "is_begin": False,
                "prev": 0,
                "next": 0,
                "is_end": False,
                "mode": mode,
                "mode_text": "",
                "all_count": 0,
                "support_mode": None,
                "name": "",
                "session_id": "",
            },
            "replies": None,
            "top": None,
            "top_replies": None,
            "upper": {"mid": area.author.mid},
        }

    def _thread(self, area: Area, root: Comment, member: bool) -> Json:
        """A comment with up to three of its replies, the most liked ones (3.7)."""
        best = self.world.previews(area, root.root)
        return self.views.comment(root, area, member=member, inline=best)

    def _old_comments(self, call: Call) -> Json:
        area = self._area(call)
        page, size = _number(call, "pn", 1), min(49, _number(call, "ps", COMMENT_PAGE))
        if page > 400:
            raise Refusal(-400)
        member = self.is_member(call)
        order = self.world.comment_order(area, 2 if call.params.get("sort") == "0" else 3)
        shown = order[(page - 1) * size : page * size] if member or page == 1 else []
        rows = [self._thread(area, self.world.comment(area, root), member) for root in shown]
        state = {"num": page, "size": size, "count": len(order), "acount": area.shown}
        top = self._thread(area, self.world.comment(area, 0), member) if area.pinned else None
        return {
            "page": state,
            "replies": rows or None,
            "hots": None,
            "upper": {"mid": area.author.mid, "top": top if page == 1 else None, "vote": None},
            "top": None,
        }

    def _replies(self, call: Call) -> Json:
        area = self._area(call)
        rpid = call.params.get("root", "")
        root = self.world.root_of(area, int(rpid)) if rpid.isdigit() else None
        if root is None:
            raise Refusal(12022)
        page = _number(call, "pn", 1)
        parent = self.world.comment(area, root)
        found = self.world.replies(area, root)
        rows = found[(page - 1) * _REPLY_PAGE : page * _REPLY_PAGE]
        if not rows and found and parent.rpid % 2:
            rows = found[-_REPLY_PAGE:]  # behind the end the same rows without end (3.7)
        member = self.is_member(call)

        def write(comment: Comment) -> Json:
            return self.views.comment(comment, area, member=member, inline=[])

        return {
            "page": {"num": page, "size": _REPLY_PAGE, "count": len(found) + parent.deleted},
            "replies": [write(row) for row in rows] or None,
            "root": write(parent),
            "upper": {"mid": area.author.mid},
            "config": {"showtopic": 1},
            "control": {"input_disable": False},
            "show_bvid": False,
        }

    # -- dynamics -------------------------------------------------------------------------------

    def _feed(self, call: Call) -> Json:
        """Visitors get an empty list that claims to have more (3.11)."""
        user = self._user(call, "host_mid")
        if not self.is_member(call):
            return {"has_more": True, "items": [], "offset": "", "update_num": 0}
        rows, following = self._after(self.world.feed(user), call.params.get("offset", ""), 12)
        styled = "itemOpusStyle" in call.params.get("features", "")
        return {
            "has_more": following is not None,
            "items": [self.views.dynamic(row, opus_style=styled) for row in rows],
            "offset": "" if following is None else str(following),
            "update_baseline": str(rows[0].id) if rows else "",
            "update_num": 0,
        }

    @staticmethod
    def _after(found: list[Dynamic], offset: str, size: int) -> tuple[list[Dynamic], int | None]:
        """*size* rows after the one with id *offset*, and the offset behind them."""
        start = 0
        if offset:
            ids = [str(row.id) for row in found]
            if offset not in ids:
                return [], None
            start = ids.index(offset) + 1
        rows = found[start : start + size]
        return rows, rows[-1].id if start + size < len(found) else None

    def _dynamic(self, call: Call) -> Dynamic:
        name = call.params.get("id", "")
        if not name.isdigit():
            raise Refusal(-400)
        found = self.world.dynamic(int(name))
        if found is None:
            raise Refusal(-404)
        return found

    def _dynamic_detail(self, call: Call) -> Json:
        styled = "itemOpusStyle" in call.params.get("features", "")
        return {"item": self.views.dynamic(self._dynamic(call), opus_style=styled)}

    def _opus_detail(self, call: Call) -> Json:
        if "buvid3" not in call.cookies:
            raise Refusal(-352, voucher())
        dynamic = self._dynamic(call)
        if dynamic.kind not in ("DRAW", "WORD", "ARTICLE"):
            raise Refusal(-404)
        if dynamic.kind == "ARTICLE" and "htmlNewStyle" not in call.params.get("features", ""):
            return {"fallback": {"id": str(dynamic.area.oid), "type": 2}}
        return {"item": self.views.opus(dynamic)}

    def _opus_feed(self, call: Call) -> Json:
        user = self._user(call, "host_mid")
        kinds = {"article": ("ARTICLE",), "dynamic": ("DRAW", "WORD")}.get(
            call.params.get("type", "all"), ("DRAW", "WORD", "ARTICLE")
        )
        found = [row for row in self.world.feed(user) if row.kind in kinds]
        rows, following = self._after(found, call.params.get("offset", ""), _OPUS_PAGE)
        return {
            "has_more": following is not None,
            "items": [self.views.opus_card(row) for row in rows],
            "offset": "" if following is None else str(following),
            "update_num": 0,
        }

    def _article(self, call: Call) -> Json:
        name = call.params.get("id", "")
        found = self.world.article(int(name)) if name.isdigit() else None
        if found is None:
            raise Refusal(-404)
        return self.views.article(found)

    # -- player ---------------------------------------------------------------------------------

    def _part(self, call: Call) -> tuple[Video, Part]:
        video = self._video(call)
        cid = call.params.get("cid", "")
        for part in video.parts:
            if str(part.cid) == cid:
                return video, part
        raise Refusal(-404)

    def _playurl(self, call: Call) -> Json:
        """With a visitor's cookies the door is shut; with none it is open (1.3)."""
        member = self.is_member(call)
        if not member and ("/wbi/" in call.path or "buvid3" in call.cookies):
            raise Banned
        video, part = self._part(call)
        if video.paid:
            raise Refusal(87008)
        one_file = not _number(call, "fnval", 1) & 16
        mid = self.logins.mid(call.cookies["SESSDATA"]) if member else 0
        written = self.views.playurl(part, member=member, one_file=one_file, mid=mid)
        if self._stale_answers:
            self._stale_answers -= 1
            self.addresses.expire()
        return written

    def _player(self, call: Call) -> Json:
        video, part = self._part(call)
        return self.views.player(video, part, member=self.is_member(call))

    def _player_unsigned(self, call: Call) -> Json:
        """Lists the subtitles of another video (3.9)."""
        self._part(call)
        other = self.world.fixed_video("plain")
        return self.views.player(other, other.parts[0], member=self.is_member(call))

    # -- danmaku --------------------------------------------------------------------------------

    def _segment(self, call: Call) -> Reply:
        if "/wbi/" in call.path:
            self._check_signature(call, "-352")
        cid = call.params.get("oid", "")
        found = self.world.part(int(cid)) if cid.isdigit() else None
        if found is None:
            return refusal_reply(-404)
        index = _number(call, "segment_index", 1)
        rows = [
            row
            for row in self.world.danmaku(*found)
            if (index - 1) * SEGMENT <= row.ms / 1000 < index * SEGMENT
        ]
        if not self.is_member(call):
            rows = rows[::3]  # visitors get fewer (3.10)
        return Reply(200, danmaku_segment(rows), "application/octet-stream")

    def _danmaku_file(self, cid: str) -> Reply:
        """Raw deflate without zlib header, whatever the client accepts (3.10)."""
        found = self.world.part(int(cid)) if cid.isdigit() else None
        if found is None:
            return text_reply("", status=404)
        page = danmaku_xml(int(cid), self.world.danmaku(*found)).encode()
        packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        body = packer.compress(page) + packer.flush()
        return Reply(200, body, "text/xml", [("Content-Encoding", "deflate")])

    # -- files ----------------------------------------------------------------------------------

    def _file(self, call: Call) -> Reply:
        if call.host == "comment.bilibili.com":
            match = re.fullmatch(r"/(\d+)\.xml", call.path)
            return self._danmaku_file(match[1] if match else "")
        if call.host.endswith((".bilivideo.com", ".bilivideo.cn")):
            return self._stream(call)
        if "subtitle" in call.path:
            return self._subtitle(call)
        referer = call.headers.get("referer", "")
        if referer and "bilibili.com" not in referer:
            return text_reply("Forbidden", status=403)
        blob = picture_at(call.path.partition("@")[0])
        return text_reply("Not Found", status=404) if blob is None else Reply(blob=blob)

    def _stream(self, call: Call) -> Reply:
        """Wants a page of the site as Referer, a browser, and an address that is still good."""
        if "bilibili.com" not in call.headers.get("referer", ""):
            self.counters.bad_signature("referer")
            return text_reply("Forbidden", status=403)
        if not call.headers.get("user-agent", "").startswith("Mozilla/5.0 "):
            return text_reply("Forbidden", status=403)
        if not self.addresses.stream_is_good(call.path, call.params):
            return text_reply("Forbidden", status=403)
        blob = self.world.stream_file(call.path)
        return text_reply("Not Found", status=404) if blob is None else Reply(blob=blob)

    def _subtitle(self, call: Call) -> Reply:
        found = self.world.subtitle_at(call.path)
        if found is None:
            return text_reply("Not Found", status=404)
        machine = "/ai_subtitle/" in call.path
        if machine and not self.addresses.subtitle_is_good(call.path, call.params):
            return text_reply("Forbidden", status=403)
        written = json.dumps(self.views.subtitle_file(*found), ensure_ascii=False)
        return Reply(blob=subtitle_blob(written.encode()))

    # -- pages ----------------------------------------------------------------------------------

    def _short_link(self, call: Call) -> Reply:
        code = call.path.strip("/")
        target = self._short.get(code)
        if re.fullmatch(r"BV1\w{9}|av\d+", code):
            target = f"https://www.bilibili.com/video/{code}"
        if target is None:
            return refusal_reply(-404)
        mark = digest("share", code, size=8).hex()
        tracking = f"share_source=copy_web&share_session_id={mark}&unique_k={code}&mid=8"
        part = "p=1&" if "/video/" in target else ""
        return redirect(f"{target}?{part}{tracking}")

    def _page(self, call: Call) -> Reply:
        headers = []
        if "buvid3" not in call.cookies:
            headers = [
                ("Set-Cookie", f"{name}={VISITOR[name]}; Path=/; Domain=bilibili.com")
                for name in ("buvid3", "b_nut")
            ]
        if match := re.fullmatch(r"/video/(BV1\w{9}|av\d+)/?", call.path):
            return html_reply(self._video_page(match[1]), headers=headers)
        if match := re.fullmatch(r"/opus/(\d+)/?", call.path):
            return html_reply(self._opus_page(int(match[1])), headers=headers)
        if call.path == "/":
            return html_reply(home_page(self.is_member(call)), headers=headers)
        return text_reply("not in the sandbox", status=404, headers=headers)

    def _video_page(self, name: str) -> str:
        video = (
            self.world.video_by_aid(int(name[2:]))
            if name.startswith("av")
            else self.world.video(name)
        )
        if video is None:
            return error_page(-404, MESSAGES[-404])
        if video.outline.status != "ok":
            code = _STATUS_CODES[video.outline.status]
            return error_page(code, MESSAGES[code])
        return self.views.video_page(video)

    def _opus_page(self, opus_id: int) -> str:
        dynamic = self.world.dynamic(opus_id)
        if dynamic is None or dynamic.kind not in ("DRAW", "WORD", "ARTICLE"):
            return error_page(-404, MESSAGES[-404])
        return state_page(
            "动态 - 哔哩哔哩", {"id": str(opus_id), "detail": self.views.opus(dynamic)}
        )


def _visitor(kind: str) -> dict[str, str]:
    """The device of an account: each has its own."""
    if kind == "member":
        return dict(VISITOR)
    mark = digest("buvid", kind, size=24).hex().upper()
    parts = (mark[:8], mark[8:12], mark[12:16], mark[16:20], mark[20:32])
    return {**VISITOR, "buvid3": f"{'-'.join(parts)}{int(mark[32:40], 16) % 10**5:05d}infoc"}


def _number(call: Call, name: str, default: int) -> int:
    """A whole number among the parameters.

    :raises Refusal: -400 if it is none.
    """
    value = call.params.get(name)
    if value is None or value == "":
        return default
    if not value.isdigit():
        raise Refusal(-400)
    return int(value)
