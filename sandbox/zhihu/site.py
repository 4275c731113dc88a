"""Zhihu as a server: which host and path answers what, to whom, and what it refuses.

Judges challenge, signature and login in that order; the answers themselves are written by
:mod:`sandbox.zhihu.views`. Sections are those of ``docs/platforms/zhihu.md``.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from sandbox.core import (
    Answer,
    Args,
    Call,
    FaultKind,
    Json,
    Options,
    Reply,
    Visitor,
    file_reply,
    html_reply,
    json_reply,
    redirect,
    text_reply,
    whole_number,
)
from sandbox.counters import Counters
from sandbox.sites import Site
from sandbox.worlds import DEMO_KEYWORD, digest, number
from sandbox.zhihu.login import Logins, helper, sign_in_page, unhuman_page
from sandbox.zhihu.signature import BadSignature, Verifier
from sandbox.zhihu.views import WWW, Addresses, Views, camel, page_of
from sandbox.zhihu.world import (
    FIXED_CREATORS,
    FIXED_POSTS,
    KINDS,
    SORTS,
    WITHIN,
    Member,
    Post,
    World,
)

PAGE = 20  # the most that any list gives, whatever is asked (3)
GUEST_ANSWERS = 5  # answers of a question that a visitor sees (1)
MISSING = "你似乎来到了没有知识存在的荒原"

MESSAGES = {
    100: "请求头或参数封装错误",
    101: "ZERR_NOT_LOGIN",
    403: "该内容正在审核中，暂时无法查看",
    4041: "资源不存在",
    10003: "请求参数异常，请升级客户端后重试。",
    40352: "系统监测到您的网络环境存在异常，为保证您的正常访问，请点击下方验证按钮进行验证。",
    40353: "请您登录后查看更多专业优质内容。",
    40362: "您当前请求存在异常，暂时限制本次访问。如有疑问，您可以通过手机摇一摇反馈。",
}
"""Codes and the words that come with them (6)."""

_NAMES = {
    100: "AuthenticationInvalidRequest",
    101: "AuthenticationError",
    4041: "NotFoundError",
}
_STATUSES = {100: 401, 101: 401, 4041: 404}
_PLURALS = {f"{kind}s": kind for kind in KINDS}
_LISTS = {
    "answers": "answer",
    "articles": "article",
    "zvideos": "zvideo",
    "pins": "pin",
    "questions": "question",
}
_Z_C0 = re.compile(r"2\|1:0\|10:\d{10}\|4:z_c0\|\d+:[A-Za-z0-9+/=]+\|[0-9a-f]{64}")
_PICTURE_PATH = re.compile(
    r"/(?:\d{2,3}/)?(v2-[0-9a-f]{32})(?:_([a-z0-9]+))?\.(jpg|png|webp|gif)", re.ASCII
)
_VIDEO_PATH = re.compile(r"/(?:LD|SD|HD|FHD)/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.mp4")
_EXPIRED = "0e0e0e"  # how a login that has expired ends


class Refusal(Exception):
    """An answer with an error instead of data."""

    def __init__(self, code: int, **more: Any) -> None:
        super().__init__(code)
        self.code = code
        self.more = more


class Route(NamedTuple):
    """An API endpoint. *signed*: the signature is checked; *login*: only for members."""

    method: str
    path: re.Pattern[str]
    answer: Callable[[Call, Sequence[str]], Reply]
    signed: bool
    login: bool


def error_reply(code: int, *, status: int | None = None, **more: Any) -> Reply:
    """An error body with the status that it comes with (6)."""
    error: Json = {"message": MESSAGES.get(code, ""), "code": code, **more}
    if code in _NAMES:
        error["name"] = _NAMES[code]
    return json_reply({"error": error}, status=status or _STATUSES.get(code, 403))


def unhuman(call: Call, *, login: bool) -> str:
    """The address of the human check; it also stands in the answer that wants a login (6)."""
    kind = "U4E3Z1" if login else "Q8J2L3"
    session = digest("unhuman", call.target).hex()
    return f"{WWW}/account/unhuman?type={kind}&need_login={str(login).lower()}&session={session}"


def human_wanted(call: Call, status: int | None = None) -> Reply:
    """The human check for an account or an address (6)."""
    redirect_to = unhuman(call, login=False)
    return error_reply(40352, status=status, need_login=False, redirect=redirect_to)


def login_wanted(call: Call) -> Reply:
    return error_reply(40353, need_login=True, redirect=unhuman(call, login=True))


class Zhihu(Site):
    """Zhihu: the web API, its pages, its files."""

    name = "zhihu"
    hosts = (
        "www.zhihu.com",
        "zhihu.com",
        "zhuanlan.zhihu.com",
        "api.zhihu.com",
        "lens.zhihu.com",
        "link.zhihu.com",
        "static.zhihu.com",
        "video.zhihu.com",
        "*.zhimg.com",
        "*.vzuu.com",
    )
    session_cookie = "z_c0"
    addresses: Addresses

    def __init__(self, options: Options, counters: Counters) -> None:
        super().__init__(options, counters)
        self.world = World.from_options(options)
        self.addresses = Addresses(options.seed, options.url_ttl)
        self.views = Views(self.world, self.addresses)
        self.verifier = Verifier(strict_replay=options.strict_replay)
        self._challenge = options.switch("zhihu.challenge", "on") == "on"
        self.logins = Logins(options)
        self.accounts = self.logins.accounts
        self.logins.user_id = lambda session: self._person(session).id
        self._devices = 0
        self._round = 0
        self._agents: dict[str, str] = {}
        self._plan = lru_cache(maxsize=64)(self._make_plan)
        self._routes = self._make_routes()
        self._hosts: dict[str, Callable[[Call], Reply]] = {
            "www.zhihu.com": self._www,
            "zhihu.com": self._www,
            "zhuanlan.zhihu.com": self._www,
            "api.zhihu.com": self._mobile_api,
            "lens.zhihu.com": self._lens,
            "link.zhihu.com": self._link,
            "static.zhihu.com": self._static,
        }
        self.fault_kinds = _fault_kinds(self)
        self.actions = {
            **self._shared_actions(),
            "rotate-challenge": self._rotate_challenge,
            **self.logins.actions(),
        }

    # -- contract -------------------------------------------------------------------------------

    def cookies(self, kind: str) -> dict[str, str] | None:
        base = kind.partition("-")[0]
        if base not in ("member", "guest", "expired", "none"):
            return None
        if base == "none":
            return {}
        mark = digest("d_c0", kind, size=26)
        d_c0 = base64.b64encode(mark).decode() + "|1700000000"
        cookies = {"_zap": digest("zap", kind).hex(), "d_c0": d_c0}
        if base != "guest":
            cookies["z_c0"] = self.accounts.current(kind)
        cookies["__zse_ck"] = make_zse_ck(d_c0, self._round)
        return cookies

    def describe(self) -> Mapping[str, Any]:
        world = self.world
        posts = {fixed.name: world.fixed_post(fixed.name) for fixed in FIXED_POSTS}
        members = {name: world.fixed_creator(name) for name in FIXED_CREATORS}
        return {
            "cookies": ["member", "guest", "expired", "none", "member-2 (any suffix: another)"],
            "creators": {name: member.token or member.id for name, member in members.items()},
            "posts": {name: self.views.url_of(post) for name, post in posts.items()},
            "keywords": {DEMO_KEYWORD: "exactly these posts", "无结果": "nothing"},
        }

    # -- actions --------------------------------------------------------------------------------

    def _rotate_challenge(self, _arguments: Mapping[str, Any]) -> Json:
        """Every ``__zse_ck`` of before is worth nothing (6: the demands rotate)."""
        self._round += 1
        return {"round": self._round}

    # -- who asks -------------------------------------------------------------------------------

    def session_of(self, call: Call) -> str:
        """``member``, ``expired``, ``flagged``, ``malformed`` or ``none``."""
        value = call.cookies.get("z_c0", "")
        known = self.accounts.kinds.get(value)
        if known is not None:
            return known
        if not value:
            return "none"
        if not _Z_C0.fullmatch(value):
            return "malformed"
        return "expired" if value.endswith(_EXPIRED) else "member"

    def who(self, call: Call) -> Visitor | None:
        kind = self.session_of(call)
        if kind in ("none", "malformed"):
            return None
        value = call.cookies["z_c0"]
        return Visitor(self.accounts.name_of(value), kind, value)

    def _person(self, session: str) -> Member:
        """The member behind a login, the same for all logins of an account."""
        return self.world.viewer(self.accounts.identity(session))

    def _is_member(self, call: Call) -> bool:
        return self.session_of(call) == "member"

    def _is_signed(self, call: Call) -> bool:
        try:
            self.verifier.check(call)
        except BadSignature as error:
            self.counters.bad_signature(str(error))
            return False
        return True

    def passed_challenge(self, call: Call) -> bool:
        """``__zse_ck`` fits the device and the browser that it was made in (6)."""
        proof, d_c0 = call.cookies.get("__zse_ck", ""), call.cookies.get("d_c0", "")
        if not d_c0 or proof != make_zse_ck(d_c0, self._round):
            return False
        agent = call.headers.get("user-agent", "")
        return self._agents.setdefault(proof, agent) == agent

    # -- API ------------------------------------------------------------------------------------

    def _make_routes(self) -> list[Route]:
        v4 = "/api/v4"
        kinds, lists = "|".join(_PLURALS), "|".join(_LISTS)
        table = [
            ("GET", f"{v4}/me", self._me, True, False),
            ("GET", f"{v4}/search_v3", self._search, True, True),
            ("GET", f"{v4}/search/hot_search", self._hot_words, False, False),
            ("GET", f"{v4}/questions/(\\d+)/answers", self._question_answers, True, False),
            ("GET", f"{v4}/questions/(\\d+)/feeds", self._question_feeds, True, False),
            ("GET", f"{v4}/(answers)/(\\d+)", self._detail, True, True),
            ("GET", f"(?:{v4}|/api)/(articles)/(\\d+)", self._detail, True, False),
            ("GET", f"{v4}/(questions|pins|zvideos)/(\\d+)", self._detail, False, False),
            ("POST", f"{v4}/video/play_info", self._play_info, True, True),
            ("GET", f"{v4}/members/([^/]+)", self._member, True, False),
            ("GET", f"{v4}/members/([^/]+)/({lists})", self._member_posts, True, True),
            ("GET", f"{v4}/v2/(pins)/([^/]+)/moments", self._moments, True, True),
            (
                "GET",
                f"{v4}/comment_v5/({kinds})/(\\d+)/root_comment",
                self._root_comments,
                True,
                True,
            ),
            (
                "GET",
                f"{v4}/comment_v5/comment/(\\d+)/child_comment",
                self._child_comments,
                True,
                True,
            ),
            ("GET", f"{v4}/comment_v5/comment/(\\d+)", self._one_comment, True, True),
            (
                "GET",
                "/api/v3/feed/topstory/hot-lists/total",
                self._hot_list,
                False,
                False,
            ),
        ]
        return [
            Route(method, re.compile(path), answer, signed, login)
            for method, path, answer, signed, login in table
        ]

    def _api(self, call: Call) -> Reply:
        session = self.session_of(call)
        if session == "flagged":
            return human_wanted(call)
        login = self.logins.api(call, session)
        if login is not None:
            return login
        for route in self._routes:
            match = route.path.fullmatch(call.path)
            if match is not None:
                return self._answer(call, route, match.groups())
        return error_reply(4041)

    def _answer(self, call: Call, route: Route, parts: Sequence[str]) -> Reply:
        if call.method != route.method:
            return error_reply(400, status=405, message="Method Not Allowed")
        if route.signed and self.options.verify and not self._is_signed(call):
            return error_reply(10003)
        if route.login and not self._is_member(call):
            session = self.session_of(call)
            if session in ("expired", "malformed"):
                return error_reply(101 if session == "expired" else 100)
            return login_wanted(call)
        try:
            return route.answer(call, parts)
        except Refusal as refusal:
            return error_reply(refusal.code, **refusal.more)

    def _mobile_api(self, call: Call) -> Reply:
        """``api.zhihu.com`` wants the headers of the apps; links to it stand in answers (1)."""
        self.counters.bad_signature("api-host")
        return error_reply(10003)

    def _me(self, call: Call, _parts: Sequence[str]) -> Reply:
        session = self.session_of(call)
        if session != "member":
            raise Refusal(100 if session == "malformed" else 101)
        return json_reply(self.views.me(self._person(call.cookies["z_c0"])))

    def _search(self, call: Call, _parts: Sequence[str]) -> Reply:
        """A page of search results: posts and noise, counted together (3.1)."""
        params = call.params
        keyword = params.get("q", "").strip()
        offset = whole_number(params.get("offset"), 0)
        seal = params.get("search_hash_id") or digest("search", keyword, offset).hex()
        found = self._found(params, keyword, seal if "search_hash_id" in params else "")
        plan = self._plan(keyword, len(found))
        is_end = offset + PAGE >= len(plan)
        following = {
            "advert_count": "1",
            **{name: value for name, value in params.items() if name != "advert_count"},
            "limit": str(PAGE),
            "offset": str(offset + PAGE),
            "lc_idx": str(offset + PAGE + 1),
            "search_hash_id": seal,
        }
        data = [
            {**self._search_entry(keyword, found, what), "index": place}
            for place, what in enumerate(plan[offset : offset + PAGE])
        ]
        # The list is not in the order of `index` (3.1).
        data.sort(key=lambda entry: number(keyword, offset, entry["index"]) % 3)
        return json_reply(
            {
                "paging": {
                    "is_end": is_end,
                    "next": ""
                    if is_end
                    else f"https://api.zhihu.com/search_v3?{_query(following)}",
                },
                "data": data,
                "related_search_result": [],
                "search_action_info": {"lc_idx": offset + PAGE + 1, "search_hash_id": seal},
                "sensitive_level": -1,
                "warning": "",
            }
        )

    def _found(self, params: Mapping[str, str], keyword: str, seal: str) -> tuple[int, ...]:
        """Addresses of all posts that a search finds, best first."""
        tab = params.get("t", "general")
        if tab not in ("general", "zvideo"):
            return ()
        sort, within = params.get("sort", ""), params.get("time_interval", "")
        in_member = params.get("restricted_scene") == "member"
        # One ranking as long as the mark goes along; without it later pages have another.
        first = digest("search", keyword, 0).hex()
        mark = "" if seal == first or params.get("offset", "0") == "0" else seal or "lost"
        return self.world.search_addresses(
            keyword,
            sort if sort in SORTS else "",
            "zvideo" if tab == "zvideo" else params.get("vertical", ""),
            within if within in WITHIN else "",
            mark,
            params.get("restricted_value", "") if in_member else "",
        )

    def _make_plan(self, keyword: str, posts: int) -> tuple[int, ...]:
        """What stands where in a search of so many posts: the place of a post, or a negative
        number for noise."""
        plan: list[int] = []
        for place in range(posts):
            draw = number(self.world.seed, "mix", keyword, place) % 10
            if draw < 3:
                plan.append(-1 - place)
            plan.append(place)
            if draw > 7 and place > 3:
                plan.append(place - 3)  # once more, as on a page before
            if place == 21:
                plan += [-1000 - n for n in range(2 * PAGE)]  # a page without a post (trap 8)
        return tuple(plan)

    def _search_entry(self, keyword: str, found: Sequence[int], what: int) -> Json:
        if what >= 0:
            return self.views.found(self.world.post_at(found[what]), keyword, 0)
        repeated = [self.world.post_at(address) for address in found[:6]]
        return self.views.noise(keyword, -what, repeated)

    def _hot_words(self, _call: Call, _parts: Sequence[str]) -> Reply:
        return json_reply({"hot_search_queries": [{"query": DEMO_KEYWORD, "hot": 1}]})

    def _post(self, kind: str, post_id: str) -> Post:
        post = self.world.post(kind, post_id)
        if post is None or post.status == "deleted" or post.author.banned:
            raise Refusal(4041)
        if post.status == "hidden":
            raise Refusal(403, name="ContentHidden")
        return post

    def _detail(self, call: Call, parts: Sequence[str]) -> Reply:
        kind, post_id = _PLURALS[parts[0]], parts[1]
        post = self.world.post(kind, post_id)
        if post is not None and kind == "pin" and post.status == "deleted":
            return json_reply(self.views.pin(post))  # 200 with is_deleted
        post = self._post(kind, post_id)
        return json_reply(self.views.detail(post, call.params.get("include", "")))

    def _question_answers(self, call: Call, parts: Sequence[str]) -> Reply:
        question = self._post("question", parts[0])
        order = call.params.get("sort_by", "default")
        answers = self.world.answer_addresses(question.id, order)
        self._guest_limit(call)
        return self._offset_page(call, answers, f"/questions/{question.id}/answers")

    def _guest_limit(self, call: Call) -> None:
        offset = whole_number(call.params.get("offset"), 0)
        if offset >= GUEST_ANSWERS and not self._is_member(call):
            raise Refusal(40353, need_login=True, redirect=unhuman(call, login=True))

    def _question_feeds(self, call: Call, parts: Sequence[str]) -> Reply:
        """Cards, with adverts between them; the cursor says where the next page begins (3.2)."""
        question = self._post("question", parts[0])
        self._guest_limit(call)
        params = call.params
        order = "updated" if params.get("order") == "updated" else "default"
        answers = self.world.answer_addresses(question.id, order)
        limit = _limit(params, 5)
        start = _read_cursor(params.get("cursor", ""), question.id)
        if start is None:
            start = whole_number(params.get("offset"), 0)
        page = answers[start : start + limit]
        is_end = start + limit >= len(answers)
        session = params.get("session_id") or str(number("session", question.id) % 10**19)
        following = {
            **params,
            "cursor": "" if is_end else _cursor(question.id, start + limit),
            "limit": str(limit),
            "offset": str(whole_number(params.get("offset"), 0) + (1 if is_end else limit)),
            "session_id": "" if is_end else session,
        }
        cards = [self._feed_card(address, call) for address in page]
        if page and start % 2 == 0:
            cards.insert(1, {"type": "feed_advert", "target_type": "advert", "target": {"id": 1}})
        return json_reply(
            {
                "data": cards,
                "session": {"id": session if page else ""},
                "paging": {
                    "page": start // limit + 1 if page else 0,
                    "is_end": is_end,
                    "next": f"{WWW}/api/v4/questions/{question.id}/feeds?{_query(following)}",
                },
            }
        )

    def _feed_card(self, address: int, call: Call) -> Json:
        post = self.world.post_at(address)
        return {
            "type": "question_feed_card",
            "target_type": "answer",
            "target": self.views.listed(post, call.params.get("include", "")),
            "skip_count": False,
            "position": 0,
            "cursor": digest("card", address).hex(),
            "is_jump_native": False,
        }

    def _offset_page(self, call: Call, addresses: Sequence[int], path: str) -> Reply:
        """A page by offset; from the second on it begins with the last one of the page before, as
        if something new had come on top (trap 9 of the lists)."""
        limit = _limit(call.params, PAGE)
        offset = max(0, whole_number(call.params.get("offset"), 0))
        start = max(0, offset - 1)
        page = addresses[start : start + limit]
        include = call.params.get("include", "")

        def address_of(place: int) -> str:
            query = {**call.params, "limit": str(limit), "offset": str(max(0, place))}
            return f"http://www.zhihu.com/api/v4{path}?{_query(query)}"

        data = [self.views.listed(self.world.post_at(address), include) for address in page]
        paging = {
            "is_end": start + limit >= len(addresses),
            "is_start": offset == 0,
            "next": address_of(offset + limit),
            "previous": address_of(offset - limit),
            "totals": len(addresses),
        }
        return json_reply({"data": data, "paging": paging})

    def _play_info(self, call: Call, _parts: Sequence[str]) -> Reply:
        body = call.json()
        video_id = str(body.get("video_id", "")) if isinstance(body, dict) else ""
        clip = self.world.clip_of(video_id)
        if clip is None or call.params.get("r") != video_id:
            raise Refusal(4041)
        return json_reply(self.views.play_info(clip))

    def _visible_member(self, call: Call, name: str) -> Member:
        member = self.world.member(name)
        if member is None or member.banned:
            raise Refusal(4041)
        if member.protected and not self._is_member(call):
            raise Refusal(40353, need_login=True, redirect=unhuman(call, login=True))
        return member

    def _member(self, call: Call, parts: Sequence[str]) -> Reply:
        member = self._visible_member(call, parts[0])
        return json_reply(self.views.profile(member, call.params.get("include", "")))

    def _member_posts(self, call: Call, parts: Sequence[str]) -> Reply:
        member = self._visible_member(call, parts[0])
        sort = "voteups" if call.params.get("sort_by") == "voteups" else "created"
        found = self.world.posted(member, _LISTS[parts[1]], sort)
        return self._offset_page(call, found, f"/members/{parts[0]}/{parts[1]}")

    def _moments(self, call: Call, parts: Sequence[str]) -> Reply:
        member = self._visible_member(call, parts[1])
        found = self.world.posted(member, "pin", "created")
        return self._offset_page(call, found, f"/v2/pins/{parts[1]}/moments")

    # -- comments -------------------------------------------------------------------------------

    def _root_comments(self, call: Call, parts: Sequence[str]) -> Reply:
        post = self._post(_PLURALS[parts[0]], parts[1])
        if not post.comments_open:
            raise Refusal(4041)
        order = "ts" if call.params.get("order_by") == "ts" else "score"
        roots = self.world.root_order(post, order)
        if call.params.get("status") == "open":  # trap: an old parameter empties the list
            roots = ()
        start = self._root_start(call, post, roots)
        limit = _limit(call.params, PAGE)
        page = [self.world.comment(post, root) for root in roots[start : start + limit]]
        data = [self.views.comment(post, comment, embed=True) for comment in page]
        path = f"/comment_v5/{parts[0]}/{post.id}/root_comment"
        end = start + limit >= len(roots)
        body = self._comment_page(call, data, path, end, post.outline.comments)
        return json_reply(body)

    def _root_start(self, call: Call, post: Post, roots: Sequence[int]) -> int:
        place = self._place_after(call)
        if place is None:
            return 0
        if place[0].id != post.id or place[1] not in roots:
            return len(roots)
        return roots.index(place[1]) + 1

    def _place_after(self, call: Call) -> tuple[Post, int, int] | None:
        """The comment in an opaque offset ``<number>_<comment id>_<digit>`` (3.8)."""
        offset = call.params.get("offset", "")
        if offset in ("", "0"):
            return None
        middle = offset.split("_")[1] if offset.count("_") == 2 else ""
        place = self.world.place_of_comment(middle)
        if place is None:
            raise Refusal(4041)
        return place

    def _child_comments(self, call: Call, parts: Sequence[str]) -> Reply:
        place = self.world.place_of_comment(parts[0])
        if place is None or place[2]:
            raise Refusal(4041)
        post, root, _reply = place
        self._post(post.kind, post.id)
        order = "score" if call.params.get("order_by") == "score" else "ts"
        replies = self.world.replies(parts[0], order)
        after = self._place_after(call)
        start = 0
        if after is not None:
            ids = [comment.reply for comment in replies]
            start = ids.index(after[2]) + 1 if after[2] in ids else len(ids)
        limit = _limit(call.params, PAGE)
        data = [self.views.comment(post, comment) for comment in replies[start : start + limit]]
        path = f"/comment_v5/comment/{parts[0]}/child_comment"
        end = start + limit >= len(replies)
        body = self._comment_page(call, data, path, end, len(replies))
        body["root"] = self.views.comment(post, self.world.comment(post, root))
        return json_reply(body)

    @staticmethod
    def _comment_page(call: Call, data: list[Json], path: str, end: bool, total: int) -> Json:
        last = data[-1] if data else None
        offset = f"{last['created_time']}_{last['id']}_0" if last else "0"
        # `next` names one host or the other, and goes on after the end (3).
        host = f"{WWW}/api/v4" if number(path) % 2 else "https://api.zhihu.com"
        query = {**call.params, "limit": str(_limit(call.params, PAGE)), "offset": offset}
        adverts = [{"type": "comment_ad", "id": "1"}] if number(path) % 5 == 0 and data else []
        return {
            "data": data + adverts,
            "paging": {
                "is_end": end,
                "is_start": call.params.get("offset", "") in ("", "0"),
                "next": f"{host}{path}?{_query(query)}",
                "previous": "",
                "totals": total,
            },
            "counts": {"total_counts": total, "collapsed_counts": 0},
            "sorter": [{"type": "score", "text": "默认"}, {"type": "ts", "text": "最新"}],
        }

    def _one_comment(self, _call: Call, parts: Sequence[str]) -> Reply:
        place = self.world.place_of_comment(parts[0])
        if place is None:
            raise Refusal(4041)
        post, root, reply = place
        comment = self.world.comment(post, root, reply)
        return json_reply(self.views.comment(post, comment, embed=True))

    def _hot_list(self, call: Call, _parts: Sequence[str]) -> Reply:
        """Questions and one article; the shape depends on who asks (3.9)."""
        names = ("question", "question-many", "article")
        posts = [self.world.fixed_post(name) for name in names]
        area = call.params.get("mobile") == "true"
        data = [
            self._hot_area(rank, post) if area or post.kind == "article" else self._hot(rank, post)
            for rank, post in enumerate(posts)
        ]
        paging = {"is_end": True, "is_start": True, "next": "", "previous": "", "totals": 0}
        return json_reply({"data": data, "paging": paging, "fresh_text": "热榜已更新"})

    def _hot(self, rank: int, post: Post) -> Json:
        return {
            "type": "hot_list_feed",
            "id": f"{rank}_1786865954.68",
            "card_id": f"Q_{post.id}",
            "detail_text": f"{1205 - rank} 万热度",
            "target": {**self.views.question(post, "*"), "id": int(post.id), "author": {}},
            "children": [],
        }

    def _hot_area(self, rank: int, post: Post) -> Json:
        return {
            "type": "hot_list_feed",
            "id": f"{rank}_1786865954.68",
            "card_id": f"{'Q' if post.kind == 'question' else 'A'}_{post.id}",
            "target": {
                "title_area": {"text": post.title},
                "excerpt_area": {"text": ""},
                "image_area": {"url": ""},
                "metrics_area": {"text": f"{393 - rank} 万热度"},
                "link": {"url": self.views.url_of(post)},
            },
            "feed_specific": {"answer_count": 0},
        }

    # -- pages ----------------------------------------------------------------------------------

    def _www(self, call: Call) -> Reply:
        if call.path.startswith("/api/"):
            return self._api(call)
        if call.path == "/udid":
            return Reply(headers=self._new_device(call))
        if call.path.startswith("/account/unhuman"):
            return unhuman_page(call)
        if call.path.startswith("/__site__/"):
            value = call.cookies.get("z_c0", "")
            return helper(call, lambda: self.accounts.verified(value))
        if call.path in ("/explore", "/signin"):
            member = self._is_member(call)
            page = page_of({}, title="知乎", logged=member)
            if call.path == "/signin" and not member:
                page = sign_in_page(page)
            return html_reply(page, headers=self._new_device(call))
        return self._page(call)

    def _new_device(self, call: Call) -> list[tuple[str, str]]:
        """A ``d_c0`` for who has none yet."""
        if "d_c0" in call.cookies:
            return []
        self._devices += 1
        mark = digest("new device", self._devices, size=26)
        value = base64.b64encode(mark).decode() + f"|{int(self.options.now.timestamp())}"
        return [("Set-Cookie", f"d_c0={value}; Domain=.zhihu.com; Path=/; Max-Age=94608000")]

    def _page(self, call: Call) -> Reply:
        """A page with its data: behind the challenge, then behind the login (6)."""
        if self._challenge and self.options.verify and not self.passed_challenge(call):
            return self.challenge_page(call, 403)
        if self.session_of(call) == "flagged":
            return redirect(unhuman(call, login=False))
        if not self._is_member(call):
            return redirect(f"/signin?next={quote(call.target, safe='')}")
        if call.path in ("/", "/search"):
            return html_reply(page_of({}, title="首页", logged=True))
        member = re.fullmatch(r"/(?:people|org)/([^/]+)(?:/.*)?", call.path)
        if member is not None:
            return self._people_page(call, member[1])
        return self._post_page(call)

    def challenge_page(self, call: Call, status: int) -> Reply:
        """The challenge, and with it a device for who has none."""
        headers = self._new_device(call)
        d_c0 = call.cookies.get("d_c0", "")
        if headers:
            d_c0 = headers[0][1].removeprefix("d_c0=").partition(";")[0]
        return html_reply(_challenge(d_c0, self._round), status=status, headers=headers)

    def _people_page(self, call: Call, name: str) -> Reply:
        member = self.world.member(name)
        if member is None or member.banned:
            return _missing_page()
        other = self._person(call.cookies["z_c0"])
        users = {
            other.token or other.id: camel(self.views.profile(other, "*")),
            member.token or member.id: camel(self.views.profile(member, "*")),
        }
        return html_reply(page_of({"users": users}, title=member.name, logged=True))

    def _post_page(self, call: Call) -> Reply:
        match = re.fullmatch(
            r"/(?:question/\d+/)?(answer|p|pin|zvideo|question)/(\d+)/?", call.path
        )
        if match is None:
            return _missing_page()
        kind = "article" if match[1] == "p" else match[1]
        post = self.world.post(kind, match[2])
        if post is None or post.status != "ok" or post.author.banned:
            return _missing_page()
        title = post.title or "知乎"
        return html_reply(page_of(self._entities(post), title=title, logged=True))

    def _entities(self, post: Post) -> Json:
        """The post behind a neighbour, its question, its author among the users."""
        record = self.views.detail(post, "*" if post.kind == "question" else "content")
        author = record.get("author") or {}
        users = {author.get("url_token") or author.get("id", ""): author}
        if post.kind == "zvideo":
            record["author"] = next(iter(users))
        neighbour = self.world.fixed_post("pin-text" if post.kind == "pin" else post.kind)
        entities: Json = {"users": camel(users), f"{post.kind}s": {}}
        own = entities[f"{post.kind}s"]
        if neighbour.id != post.id:
            own[neighbour.id] = camel(self.views.detail(neighbour, "content"))
        own[post.id] = camel(record)
        if post.kind == "answer":
            question = self.world.post_at(post.question)
            entities["questions"] = {question.id: camel(self.views.question(question, "*"))}
            own[post.id]["question"].pop("topics", None)  # they stand only there (5.10)
        return entities

    # -- other hosts ----------------------------------------------------------------------------

    def _lens(self, call: Call) -> Reply:
        clip = self.world.clip_of(call.path.removeprefix("/api/v4/videos/"))
        return error_reply(4041) if clip is None else json_reply(self.views.lens(clip))

    def _link(self, call: Call) -> Reply:
        target = call.params.get("target", "")
        return redirect(target) if target.startswith("http") else _missing_page()

    def _static(self, call: Call) -> Reply:
        """The challenge's script: what the real one does in WebAssembly, in two lines."""
        if not call.path.startswith("/zse-ck/"):
            return text_reply("404 Not Found", status=404)
        script = (
            'const meta = document.getElementById("zh-zse-ck").content;\n'
            'document.cookie = "__zse_ck=004_" + btoa(meta) + "-" + meta + '
            '"; domain=.zhihu.com; path=/; max-age=63072000";\nlocation.reload();\n'
        )
        return Reply(body=script.encode(), content_type="application/javascript")

    # -- files ----------------------------------------------------------------------------------

    def _file(self, call: Call) -> Reply:
        if call.host.endswith(".zhimg.com"):
            return self._picture(call)
        match = _VIDEO_PATH.fullmatch(call.path)
        name = match[1].replace("-", "") if match else ""
        key, until = call.params.get("pkey", ""), call.params.get("expiration", "")
        if name and not self.addresses.is_good(name, until, key):
            return text_reply("forbidden", status=403)
        blob = self.world.stream_file(name) if name else None
        return file_reply(blob)

    def _picture(self, call: Call) -> Reply:
        match = _PICTURE_PATH.fullmatch(call.path)
        picture = self.world.picture_of(match[1]) if match else None
        if match is None or picture is None or match[3] != picture.form:
            return file_reply(None)
        blob = self.world.picture_file(picture, match[2] or "")
        return file_reply(blob)


# -- cookies and the challenge --------------------------------------------------------------------


def challenge_meta(d_c0: str, turn: int = 0) -> str:
    """The value in the challenge page that is bound to a device, and to what is asked for now."""
    parts = ("challenge", d_c0, turn) if turn else ("challenge", d_c0)
    return base64.b64encode(digest(*parts, size=48)).decode()


def make_zse_ck(d_c0: str, turn: int = 0) -> str:
    """The cookie that the challenge's script leaves for this device."""
    meta = challenge_meta(d_c0, turn)
    return f"004_{base64.b64encode(meta.encode()).decode()}-{meta}"


def _challenge(d_c0: str, turn: int) -> str:
    title = "知乎，让每一次点击都充满意义 —— 欢迎来到知乎，发现问题背后的世界"
    script = digest("zse-ck", d_c0, size=32).hex()
    return (
        f'<!doctype html><html lang="zh"><head><meta charset="utf-8"/><title>{title}</title>'
        f'<meta name="description" content="{title}"/>'
        f'<meta id="zh-zse-ck" content="{html.escape(challenge_meta(d_c0, turn))}"/></head><body>'
        f'<script src="https://static.zhihu.com/zse-ck/v4/{script}.js"></script></body></html>'
    )


# -- small things ---------------------------------------------------------------------------------


def _missing_page() -> Reply:
    return html_reply(f"<!doctype html><html><body><p>{MISSING}</p></body></html>", status=404)


def _limit(params: Mapping[str, str], default: int) -> int:
    """What a list gives at once: never more than 20, whatever is asked (3)."""
    return min(PAGE, max(1, whole_number(params.get("limit"), default)))


def _query(params: Mapping[str, str]) -> str:
    return urlencode(sorted(params.items()))


def _cursor(question_id: str, place: int) -> str:
    """Opaque to the client: the place, and a mark that it belongs to this question."""
    return digest("cursor", question_id, place, size=12).hex() + f"{place:08x}"


def _read_cursor(cursor: str, question_id: str) -> int | None:
    try:
        place = int(cursor[24:], 16)
    except ValueError:
        return None
    return place if cursor == _cursor(question_id, place) else None


# -- faults ---------------------------------------------------------------------------------------


def _fault_kinds(site: Zhihu) -> dict[str, FaultKind]:
    """Misbehaviour that only Zhihu knows (6). The kinds are named by code or by what comes.

    *args* of those with a code: ``status`` (200: an error that says success).
    """

    def code(number_: int, **more: Any) -> FaultKind:
        def fault(_call: Call, args: Args, _answer: Answer) -> Reply:
            status = int(args["status"]) if "status" in args else None
            if args.get("top"):  # the same keys at the top level
                return json_reply({"code": number_, "message": MESSAGES.get(number_, "")})
            return error_reply(number_, status=status, **more)

        return fault

    def human(call: Call, args: Args, _answer: Answer) -> Reply:
        return human_wanted(call, int(args["status"]) if "status" in args else None)

    def challenge(call: Call, args: Args, _answer: Answer) -> Reply | None:
        if args.get("solvable") and site.passed_challenge(call):
            return None
        return site.challenge_page(call, int(args.get("status", 403)))

    def empty(call: Call, _args: Args, _answer: Answer) -> Reply:
        following = f"{WWW}{call.path}?{_query({**call.params, 'offset': '20'})}"
        paging = {"is_end": False, "is_start": True, "next": following, "totals": 71}
        return json_reply({"data": [], "paging": paging})

    def blank_login(_call: Call, _args: Args, answer: Answer) -> Reply:
        reply = answer()
        blank = ("Set-Cookie", "z_c0=; Domain=.zhihu.com; Path=/; Max-Age=0")
        reply.headers = [*reply.headers, blank]
        return reply

    return {
        "blank-login": blank_login,
        "10003": code(10003),
        "40362": code(40362),
        "40352": human,
        "40353": lambda call, _args, _answer: login_wanted(call),
        "101": code(101),
        "100": code(100),
        "4041": code(4041),
        "hidden": code(403, name="ContentHidden"),
        "permission": code(403, name="PERMISSION_ERROR", message="没有权限"),
        "challenge": challenge,
        "forbidden": lambda _call, _args, _answer: text_reply("Forbidden", status=403),
        "signin": lambda call, _args, _answer: redirect(
            f"/signin?next={quote(call.target, safe='')}"
        ),
        "unhuman": lambda call, _args, _answer: redirect(unhuman(call, login=False)),
        "unhuman-login": lambda call, _args, _answer: redirect(unhuman(call, login=True)),
        "missing-page": lambda _call, _args, _answer: _missing_page(),
        "empty": empty,
        "repeat": _repeated,
    }


def _repeated(call: Call, _args: Args, answer: Answer) -> Reply:
    """The right page, but it says that it is not the end and names itself as the next (trap 7)."""
    reply = answer()
    try:
        body = json_of(reply)
    except ValueError:
        return reply
    if not isinstance(body.get("paging"), dict):
        return reply
    body["paging"] |= {"is_end": False, "next": f"{WWW}{call.target}"}
    return json_reply(body)


def json_of(reply: Reply) -> Json:
    """The JSON object in a reply; ``ValueError`` for anything else."""
    body = json.loads(reply.body)
    if not isinstance(body, dict):
        raise ValueError("no object")
    return body
