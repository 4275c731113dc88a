"""Weibo as a server: which host and path answers what, to whom, and what it refuses.

Judges headers and sessions in the order in which the platform seems to; the answers themselves are
written by :mod:`sandbox.weibo.views`. Sections are those of ``docs/platforms/weibo.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlencode, urlsplit

from sandbox.core import (
    BEIJING,
    Answer,
    Args,
    Call,
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
from sandbox.weibo.login import SESSIONS, Logins, sign_in, split_kind, sub_and_mark
from sandbox.weibo.pages import (
    NOT_FOUND,
    SHELL,
    SearchPages,
    post_page,
    visitor_page,
)
from sandbox.weibo.views import Addresses, Views, caption
from sandbox.weibo.world import (
    COMMENT_PAGE,
    DESKTOP_PAGES,
    DESKTOP_PROFILE_PAGE,
    FIXED_CREATORS,
    FIXED_POSTS,
    HOT_CAP,
    PROFILE_PAGE,
    QUALITIES,
    SEARCH_PAGE,
    SEARCH_PAGES,
    Post,
    User,
    Video,
    World,
    movie_address,
)
from sandbox.worlds import DEMO_KEYWORD, Scramble, digest, number

NO_CONTENT: Json = {"ok": 0, "msg": "这里还没有内容", "data": {"cards": []}}
NOT_THERE: Json = {"ok": 0, "errno": "20101", "msg": "该微博不存在"}
NOT_SHOWN: Json = {"ok": 0, "errno": "20112", "msg": "由于作者隐私设置，你没有权限查看此微博"}
LOGIN_WALL: Json = {"ok": 0, "message": "前方有点拥堵，请登录后使用"}
FORBIDDEN: Json = {"error": "Forbidden"}
WRONG_ADDRESS: Json = {"ok": 0, "message": "你访问的地址不存在"}
TOO_OFTEN: Json = {"ok": 0, "errno": "100005", "msg": "请求过于频繁，歇歇吧"}

_FOREIGN = {
    "member-mobile": (False,),
    "visitor-mobile": (False,),
    "member-desktop": (True,),
    "visitor": (True,),
}
"""Where a session is worth nothing: on the mobile site (True) or on the desktop (False)."""

_CURSORS = Scramble("weibo cursor", 48)
_TYPE_SWITCH = 3  # pages after which `max_id_type` becomes 1 (3.10)
_POST_PAGE = re.compile(r"/(?:detail|status|\d{5,11})/([0-9A-Za-z]{5,17})/?")
_DESKTOP_POST = re.compile(r"/(\d{1,11})/([0-9A-Za-z]{5,17})/?")
_PROFILE = re.compile(r"/(?:u|profile)/(\d{5,11})/?")
_PICTURE = re.compile(r"/([a-z0-9.]+)/([0-9A-Za-z]{32})\.(?:jpg|gif|png|webp)")
_MOVIE = re.compile(r"/(?:[a-z0-9]+/)?([0-9A-Za-z]{18})\.(mp4|mov)")
_WINDOW = re.compile(r"custom:([\d-]*):([\d-]*)")


_SITES = ("m.weibo.cn", "weibo.com", "www.weibo.com", "s.weibo.com")


def captcha_wanted(call: Call) -> Reply:
    """What a flagged account gets until a person has shown that it is one (6.1)."""
    back = quote(f"https://{call.host}{call.target}", safe="")
    address = f"https://security.weibo.com/captcha/geetest?key=demo&url={back}"
    return json_reply({"ok": -100, "url": address})


class Refusal(Exception):
    """An answer instead of data."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class Session(NamedTuple):
    """Who asks on one host; *kind*: ``member``, ``visitor``, ``expired``, ``worn``, ``none``."""

    kind: str
    value: str


class Weibo(Site):
    """Weibo: the mobile site, the desktop site, the desktop search, visitors, files."""

    name = "weibo"
    hosts = (
        "m.weibo.cn",
        "weibo.com",
        "www.weibo.com",
        "s.weibo.com",
        "passport.weibo.com",
        "visitor.passport.weibo.cn",
        "passport.weibo.cn",
        "login.sina.com.cn",
        "v2.qr.weibo.cn",
        "security.weibo.com",
        "card.weibo.com",
        "video.weibo.com",
        "t.cn",
        "mapp.api.weibo.cn",
        "*.sinaimg.cn",
        "*.weibocdn.com",
    )
    session_cookie = "SUB"
    addresses: Addresses

    def __init__(self, options: Options, counters: Counters) -> None:
        super().__init__(options, counters)
        self.world = World.from_options(options)
        self.addresses = Addresses(options.seed, options.url_ttl)
        self.views = Views(self.world, self.addresses)
        self.search_pages = SearchPages(self.views)
        self.logins = Logins(options)
        self.accounts = self.logins.accounts
        self._visitors = 0
        self._hosts: dict[str, Callable[[Call], Reply]] = {
            "m.weibo.cn": self._mobile,
            "weibo.com": self._desktop,
            "www.weibo.com": self._desktop,
            "s.weibo.com": self._search_site,
            "passport.weibo.com": self._passport,
            "visitor.passport.weibo.cn": self._passport,
            "passport.weibo.cn": self._passport,
            "login.sina.com.cn": lambda call: self.logins.sina(call) or _no_page(),
            "v2.qr.weibo.cn": self.logins.picture,
            "security.weibo.com": self._security,
            "card.weibo.com": self._card_site,
            "video.weibo.com": self._video_site,
            "t.cn": self._short,
            "mapp.api.weibo.cn": self._short,
        }
        self._mobile_api: dict[str, Callable[[Call, Session], Reply]] = {
            "/api/config": self._config,
            "/api/container/getIndex": self._get_index,
            "/statuses/show": self._show,
            "/statuses/extend": self._extend,
            "/comments/hotflow": self._hotflow,
            "/comments/hotFlowChild": self._hot_flow_child,
            "/api/comments/show": self._old_comments,
        }
        self._ajax: dict[str, tuple[str, Callable[[Call, Session], Reply]]] = {
            "/ajax/config/get_config": ("open", self._desktop_config),
            "/ajax/side/hotSearch": ("open", self._hot_search),
            "/ajax/statuses/show": ("visitor", self._desktop_show),
            "/ajax/statuses/longtext": ("visitor", self._desktop_long_text),
            "/ajax/statuses/buildComments": ("visitor", self._build_comments),
            "/ajax/profile/info": ("visitor", self._desktop_profile),
            "/ajax/profile/detail": ("visitor", self._desktop_profile_detail),
            "/ajax/statuses/mymblog": ("member", self._mymblog),
            "/ajax/statuses/searchProfile": ("member", self._search_profile),
        }
        self.fault_kinds = _fault_kinds(self)
        self.actions = {
            **self._shared_actions(),
            **self.logins.actions(),
        }

    # -- contract -------------------------------------------------------------------------------

    def respond(self, call: Call) -> Reply:
        try:
            if call.host in _SITES and self.session_of(call).kind == "flagged":
                return captcha_wanted(call)
            return super().respond(call)
        except Refusal as refusal:
            return refusal.reply

    def cookies(self, kind: str) -> dict[str, str] | None:
        if kind == "none":
            return {"_T_WM": "10000000001"}
        parts = split_kind(kind)
        if parts is None:
            return None
        account = "-".join(part for part in parts if part)
        mark = sub_and_mark(account, 0)[1]
        pair = {
            "SUB": self.accounts.current(account),
            "SUBP": "0033WrSXqPxfM725" + mark[:24],
        }
        return {**pair, "_T_WM": "10000000001", "XSRF-TOKEN": mark[:6]}

    def describe(self) -> Mapping[str, Any]:
        world = self.world
        posts = {
            fixed.name: f"https://weibo.com/{post.author.uid}/{post.bid}"
            for fixed in FIXED_POSTS
            for post in (world.fixed_post(fixed.name),)
        }
        return {
            "cookies": [*SESSIONS, "none", "member-2 (any suffix: another account)"],
            "creators": {name: world.fixed_creator(name).uid for name in FIXED_CREATORS},
            "posts": posts,
            "keywords": {DEMO_KEYWORD: "exactly these posts", "无结果": "nothing"},
            "short_link": "http://" + world.short_link(world.fixed_post("text").mid),
            "domain_or_name": f"https://weibo.com/n/{quote(world.fixed_creator('demo').name)}",
        }

    # -- who asks (1.3) -------------------------------------------------------------------------

    def session_of(self, call: Call) -> Session:
        """What the cookie ``SUB`` is worth on the host that is asked."""
        value = call.cookies.get("SUB", "")
        kind = self.logins.kind_of(value)
        if call.host.endswith("weibo.cn") in _FOREIGN.get(kind, ()):
            return Session("none", value)
        return Session(kind.partition("-")[0], value)

    def who(self, call: Call) -> Visitor | None:
        session = self.session_of(call)
        if session.kind == "none":
            return None
        kind = "guest" if session.kind == "visitor" else session.kind
        return Visitor(self.accounts.name_of(session.value), kind, session.value)

    def _uid_of(self, session: Session) -> str:
        """The number of whoever is logged in, ``""`` for others."""
        if session.kind not in ("member", "worn"):
            return ""
        return str(self.world.viewer(self.accounts.identity(session.value)).uid)

    # -- the mobile site ------------------------------------------------------------------------

    def _mobile(self, call: Call) -> Reply:
        session = self.session_of(call)
        answer = self._mobile_api.get(call.path)
        if answer is not None:
            if "x-requested-with" not in call.headers and "mweibo-pwa" not in call.headers:
                return html_reply(SHELL)  # (1.4)
            return answer(call, session)
        if call.path.startswith(("/api/", "/comments/", "/statuses/")):
            return json_reply(WRONG_ADDRESS, status=404)
        return self._mobile_page(call, session)

    def _mobile_page(self, call: Call, session: Session) -> Reply:
        path = call.path
        match = _POST_PAGE.fullmatch(path)
        if match:
            post = self.world.post(match[1])
            if post is None or post.outline.status != "ok":
                return html_reply(NOT_FOUND)
            return html_reply(post_page(self.views, post))
        if _PROFILE.fullmatch(path) or path.startswith("/p/"):
            return html_reply(SHELL)
        if path == "/":
            renewal = self.logins.renewal(call, session.kind)
            if renewal is not None:
                return renewal
            if session.kind == "none":
                back = quote("https://m.weibo.cn/", safe="")
                return redirect(
                    "https://visitor.passport.weibo.cn/visitor/visitor?entry=sinawap&a=enter"
                    f"&url={back}&domain=.weibo.cn&ua=php-sso_sdk_client-0.6.36&_rand=0.5"
                )
            mark = digest("xsrf", session.value, size=3).hex()
            return html_reply(SHELL, headers=[("Set-Cookie", f"XSRF-TOKEN={mark}; Path=/")])
        user = self._named(unquote(path))
        return redirect(f"https://m.weibo.cn/u/{user.uid}") if user else html_reply(NOT_FOUND)

    def _named(self, path: str) -> User | None:
        """``/n/NICK`` or a custom domain."""
        if path.startswith("/n/"):
            return self.world.user_by_name(path[3:])
        return self.world.user_by_domain(path[1:])

    def _config(self, _call: Call, session: Session) -> Reply:
        data: Json = {"login": session.kind in ("member", "worn"), "st": "ab12cd"}
        if data["login"]:
            data["uid"] = self._uid_of(session)
        return json_reply({"preferQuickapp": 0, "data": data, "ok": 1})

    @staticmethod
    def _need_mobile_login(call: Call, session: Session) -> None:
        if session.kind not in ("member", "worn"):
            back = f"https://m.weibo.cn{call.target}"
            raise Refusal(json_reply({"ok": -100, "url": sign_in(back)}))

    def _get_index(self, call: Call, session: Session) -> Reply:
        container = call.params.get("containerid", "")
        uid = call.params.get("value", "")
        if container.startswith("100103"):
            self._need_mobile_login(call, session)
            return self._search(call, session, container)
        if container.startswith("107603"):
            self._need_mobile_login(call, session)
            return self._posts(call, container.removeprefix("107603"))
        if container.startswith("230283") and container.endswith("_-_INFO"):
            return self._info(container.removeprefix("230283").removesuffix("_-_INFO"))
        if container.startswith("100505"):
            uid = container.removeprefix("100505")
        if call.params.get("type") == "uid" or container.startswith("100505"):
            self._need_mobile_login(call, session)
            return self._profile(uid)
        return json_reply(NO_CONTENT)

    # search (3.1)

    def _search(self, call: Call, session: Session, container: str) -> Reply:
        inner = dict(part.partition("=")[::2] for part in container[6:].split("&"))
        keyword, tab = unquote(inner.get("q", "")), inner.get("type", "1")
        page = whole_number(call.params.get("page"), 1)
        if session.kind == "worn":
            return json_reply(NO_CONTENT)  # (6.2)
        if tab == "3":
            return self._search_users(keyword, page)
        if tab not in SEARCH_PAGES:
            return json_reply(NO_CONTENT)
        pages = self.world.search_pages(keyword, tab)
        if not 1 <= page <= len(pages):
            return json_reply(NO_CONTENT)
        posts = [self.world.post_at(address) for address in pages[page - 1]]
        following = page + 1 if page < len(pages) else None
        info: Json = {
            "v_p": "42",
            "containerid": container,
            "title_top": keyword,
            "total": 8 * len(pages) + 100,
            "show_style": 1,
            "page": following,
        }
        cards = self._search_cards(keyword, posts, container, page)
        return json_reply({"ok": 1, "data": {"cardlistInfo": info, "cards": cards}})

    def _search_cards(
        self, keyword: str, posts: Sequence[Post], container: str, page: int
    ) -> list[Json]:
        """Posts in cards and in groups of cards, between furniture and nulls (3.1)."""
        users = self.world.found_users(keyword)[:1] if page == 1 else []
        people = [{"card_type": 10, "user": self.views.mobile_user(user)} for user in users]
        cards: list[Json] = []
        if people:
            cards.append({"card_type": 11, "title": "相关用户", "card_group": people})
        group: list[Json] = [{"card_type": 42, "desc": "热门微博"}]
        for place, post in enumerate(posts):
            card = self._post_card(post, container)
            (group if place in (2, 3) else cards).append(card)
        box = {"card_type": 11, "card_style": 1, "title": "热门", "card_group": group}
        cards.insert(min(len(people) + 2, len(cards)), box)
        cards.append({"card_type": 11, "card_group": None})
        cards.append({"card_type": 9, "mblog": None})
        cards.append({"card_type": 17, "group": [{"title_sub": f"{keyword}推广"}]})
        if posts and page % 2 == 0:  # the same post in a list and in a group
            twice = self._post_card(posts[0], container)
            cards.append({"card_type": 11, "card_group": [{"card_type": 4, "desc": "更多"}, twice]})
        return cards

    def _post_card(self, post: Post, container: str) -> Json:
        query = urlencode({"mblogid": post.bid, "luicode": "10000011", "lfid": container})
        return {
            "card_type": 9,
            "itemid": f"{container}_-_{post.mid}",
            "scheme": f"https://m.weibo.cn/status/{post.bid}?{query}",
            "mblog": self.views.mblog(post, whole=False),
        }

    def _search_users(self, keyword: str, page: int) -> Reply:
        users = self.world.found_users(keyword)[(page - 1) * 20 : page * 20]
        if not users:
            return json_reply(NO_CONTENT)
        group = [{"card_type": 10, "user": self.views.mobile_user(user)} for user in users]
        cards = [{"card_type": 11, "card_group": group}]
        info = {"total": len(users), "page": page + 1}
        return json_reply({"ok": 1, "data": {"cardlistInfo": info, "cards": cards}})

    # profiles and posts (3.6, 3.8)

    def _profile(self, uid: str) -> Reply:
        user = self.world.user(uid)
        if user is None or user.banned:
            return json_reply(NO_CONTENT)
        data: Json = {"isStarStyle": 0, "userInfo": self.views.mobile_user(user)}
        tabs = [
            {"id": 1, "tabKey": "profile", "title": "精选", "containerid": f"230283{uid}"},
            {"id": 2, "tabKey": "weibo", "title": "微博", "containerid": f"107603{uid}"},
        ]
        if user.address % 5 == 1:  # a list, an object with numbers as keys, or nothing at all
            data["tabsInfo"] = {"selectedTab": 1, "tabs": {str(i): t for i, t in enumerate(tabs)}}
        elif user.address % 5:
            data["tabsInfo"] = {"selectedTab": 1, "tabs": tabs}
        return json_reply({"ok": 1, "data": data})

    def _info(self, uid: str) -> Reply:
        user = self.world.user(uid)
        if user is None or user.banned:
            return json_reply(NO_CONTENT)
        items = {"所在地": user.place, "IP属地": user.region, "生日": "", "阳光信用": "信用极好"}
        group = [{"card_type": 41, "item_name": k, "item_content": v} for k, v in items.items()]
        return json_reply({"ok": 1, "data": {"cards": [{"card_type": 11, "card_group": group}]}})

    def _posts(self, call: Call, uid: str) -> Reply:
        user = self.world.user(uid)
        shown = self.world.posted(user) if user else ()
        start = self._start_of(call, shown)
        page = shown[start : start + PROFILE_PAGE]
        if user is None or not page:
            return json_reply(NO_CONTENT)
        container = f"107603{uid}"
        info: Json = {"containerid": container, "v_p": 42, "show_style": 1, "total": user.total}
        if start + PROFILE_PAGE < len(shown):
            number_ = start // PROFILE_PAGE + 1
            last = self.world.post_at(page[-1]).mid
            # two kinds of cursor, which may change from page to page (3.8)
            if (0, 1, number_ % 2)[user.address % 3]:
                info["page"] = number_ + 1
            else:
                info["since_id"] = int(last) if user.address % 2 else last
        cards = [self._post_card(self.world.post_at(address), container) for address in page]
        if start == 0:
            cards += self._strangers(user, container)
        return json_reply({"ok": 1, "data": {"cardlistInfo": info, "cards": cards}})

    def _start_of(self, call: Call, shown: Sequence[int]) -> int:
        since_id = call.params.get("since_id")
        if since_id:
            last = self.world.address_of_post(since_id)
            return shown.index(last) + 1 if last in shown else len(shown)
        return (max(1, whole_number(call.params.get("page"), 1)) - 1) * PROFILE_PAGE

    def _strangers(self, user: User, container: str) -> list[Json]:
        """Cards of other people's posts in a creator's list (3.8)."""
        other = self.world.post_at(1 << 8 | user.address % 30)
        if other.author.address == user.address:
            return []
        liked = self._post_card(other, container)
        liked["mblog"]["title"] = {"text": f"{user.name}赞过的微博"}
        group = [self._post_card(other, container)]
        return [liked, {"card_type": 11, "title": "他们都在看", "card_group": group}]

    # details (3.4, 3.5)

    def _opened(self, identifier: str) -> Post:
        post = self.world.post(identifier)
        if post is None or post.outline.status == "deleted":
            raise Refusal(json_reply(NOT_THERE))
        if post.outline.status != "ok":
            raise Refusal(json_reply(NOT_SHOWN))
        return post

    def _show(self, call: Call, _session: Session) -> Reply:
        post = self._opened(call.params.get("id", ""))
        return json_reply({"ok": 1, "data": {**self.views.mblog(post, whole=True), "ok": 1}})

    def _extend(self, call: Call, _session: Session) -> Reply:
        post = self._opened(call.params.get("id", ""))
        if not self.world.cut(post.tokens)[1]:
            return json_reply({"ok": 1, "data": {}})
        data = {
            "ok": 1,
            "longTextContent": self.views.mobile_html(post.tokens),
            "reposts_count": post.outline.reposts,
            "comments_count": post.outline.comments,
            "attitudes_count": post.outline.likes,
        }
        return json_reply({"ok": 1, "data": data})

    # comments (3.10, 3.12)

    def _hotflow(self, call: Call, session: Session) -> Reply:
        post = self._opened(_digits(call.params.get("mid") or call.params.get("id")))
        cursor, kind = call.params.get("max_id", ""), call.params.get("max_id_type", "0")
        if cursor not in ("", "0"):
            self._need_mobile_login(call, session)
        if not post.outline.roots:
            return json_reply({"ok": 0, "msg": "还没有人评论哦~快来抢沙发!"})
        by_time = cursor in ("", "0") and kind == "1"
        start, by_time = self.read_cursor(post, cursor, kind, by_time)
        return json_reply({"ok": 1, "data": self.comment_data(post, start, by_time)})

    def comment_data(self, post: Post, start: int, by_time: bool) -> Json:
        """The page of top-level comments that begins with number *start* of an order."""
        order: Sequence[int] = range(min(post.outline.roots, HOT_CAP))
        if by_time:
            order = self.world.by_time(post)
        end = min(start + COMMENT_PAGE, len(order))
        written = [
            self.views.mobile_comment(post, self.world.comment(post, root), embed=True)
            for root in order[start:end]
        ]
        cursor: Any = self._cursor(post, end, by_time) if end < len(order) else 0
        kind = _type_of_cursor(end, by_time)
        if post.address % 2:
            cursor = str(cursor)
        return {
            "data": written,
            "total_number": post.outline.comments,
            "max_id": cursor,
            "max": -(-len(order) // COMMENT_PAGE),
            "max_id_type": kind,
            "status": {"comment_manage_info": {"comment_permission_type": -1}},
        }

    def _cursor(self, post: Post, offset: int, by_time: bool) -> int:
        """Fifteen digits that only fit this post."""
        mark = number("cursor", post.mid) & 0xFFFF_FFFF
        return _CURSORS.do(mark << 16 | by_time << 15 | offset & 0x7FFF) + 10**14

    def read_cursor(
        self, post: Post, cursor: str, kind: str | None, by_time: bool
    ) -> tuple[int, bool]:
        """Where to go on; on the mobile site a cursor without its type begins anew (3.10)."""
        if cursor in ("", "0"):
            return 0, by_time
        mixed = whole_number(cursor, 0) - 10**14
        plain = _CURSORS.undo(mixed) if 0 <= mixed < 1 << 48 else -1
        if plain < 0 or plain >> 16 != number("cursor", post.mid) & 0xFFFF_FFFF:
            return 0, by_time
        offset, by_time = plain & 0x7FFF, bool(plain >> 15 & 1)
        if kind is not None and kind != str(_type_of_cursor(offset, by_time)):
            return 0, False
        return offset, by_time

    def _hot_flow_child(self, call: Call, session: Session) -> Reply:
        self._need_mobile_login(call, session)
        cid = _digits(call.params.get("cid"))
        post, root = self._root(call, cid)
        start, _by_time = self._read_reply_cursor(cid, call.params.get("max_id", ""))
        data, cursor = self._reply_page(post, root, start, self.views.mobile_comment)
        root_view = self.views.mobile_comment(post, self.world.comment(post, root), embed=False)
        answer: Json = {
            "ok": 1,
            "data": data,
            "total_number": self.world.reply_count(post, root),
            "max_id": cursor,
            "max_id_type": 0,
            "max": 1,
            "rootComment": [root_view] if root % 2 else root_view,
        }
        return json_reply(answer)

    def _root(self, call: Call, cid: str) -> tuple[Post, int]:
        """The post and number of a comment: remembered, or named by the Referer."""
        known = self.world.post_of_comment(cid)
        if known is not None:
            return known
        named = re.search(r"/(?:detail|status)/([0-9A-Za-z]+)", call.headers.get("referer", ""))
        post = self.world.post(named[1]) if named else None
        root = self.world.root_of(post, cid) if post else None
        if post is None or root is None:
            raise Refusal(json_reply({"ok": 0, "msg": "这里还没有内容"}))
        return post, root

    def _reply_page(
        self, post: Post, root: int, start: int, view: Callable[..., Json]
    ) -> tuple[list[Json], int]:
        total = self.world.reply_count(post, root)
        end = min(start + COMMENT_PAGE, total)
        numbers = range(start + 1, end + 1)
        written = [view(post, self.world.comment(post, root, n), embed=False) for n in numbers]
        mark = number("reply cursor", self.world.comment_id(post, root)) & 0xFFFF_FFFF
        cursor = _CURSORS.do(mark << 16 | end) + 10**14 if end < total else 0
        return written, cursor

    @staticmethod
    def _read_reply_cursor(cid: str, cursor: str) -> tuple[int, bool]:
        if cursor in ("", "0"):
            return 0, False
        mixed = whole_number(cursor, 0) - 10**14
        plain = _CURSORS.undo(mixed) if 0 <= mixed < 1 << 48 else -1
        if plain < 0 or plain >> 16 != number("reply cursor", cid) & 0xFFFF_FFFF:
            return 0, False
        return plain & 0xFFFF, False

    def _old_comments(self, call: Call, session: Session) -> Reply:
        """The older list of comments, which counts pages and shows captions instead of times."""
        post = self._opened(_digits(call.params.get("id")))
        page = max(1, whole_number(call.params.get("page"), 1))
        if page > 1:
            self._need_mobile_login(call, session)
        order = self.world.by_time(post)
        last = min(50, -(-len(order) // 10))
        if not order or page > last:
            return json_reply({"ok": 0, "msg": "暂无数据"})
        written = [self._old_comment(post, root) for root in order[(page - 1) * 10 : page * 10]]
        data: Json = {"data": written, "total_number": len(order), "max": last}
        if page == 1:
            data["hot_data"] = [self._old_comment(post, root) for root in range(min(2, len(order)))]
        return json_reply({"ok": 1, "msg": "数据获取成功", "data": data})

    def _old_comment(self, post: Post, root: int) -> Json:
        comment = self.world.comment(post, root)
        view = self.views.mobile_comment(post, comment, embed=False)
        for name in ("rootid", "rootidstr", "total_number", "max_id", "like_count"):
            view.pop(name, None)
        shown = caption(comment.time, self.world.now).removesuffix("\n")
        return {**view, "created_at": shown, "like_counts": comment.likes}

    # -- the desktop site -----------------------------------------------------------------------

    def _desktop(self, call: Call) -> Reply:
        session = self.session_of(call)
        if call.path == "/tv/api/component":
            return self._component(call)
        if not call.path.startswith("/ajax/"):
            return self._desktop_page(call, session)
        if not call.headers.get("referer", "").startswith("https://weibo.com/"):
            return json_reply(FORBIDDEN, status=403)  # (1.4)
        route = self._ajax.get(call.path)
        if route is None:
            return json_reply(WRONG_ADDRESS, status=404)
        needs, answer = route
        self._admit(call, session, needs)
        return answer(call, session)

    @staticmethod
    def _admit(call: Call, session: Session, needs: str) -> None:
        if needs == "open":
            return
        if session.kind == "expired":
            back = f"https://weibo.com{call.target}"
            raise Refusal(json_reply({"ok": -100, "url": sign_in(back)}))
        if session.kind == "none":
            raise Refusal(redirect(_visitor_address(f"https://weibo.com{call.target}")))
        if session.kind == "visitor" and needs == "member":
            raise Refusal(json_reply(LOGIN_WALL, status=403))

    def _desktop_page(self, call: Call, session: Session) -> Reply:
        if session.kind == "none":
            return redirect(_visitor_address(f"https://weibo.com{call.target}"))
        renewal = self.logins.renewal(call, session.kind) if call.path == "/" else None
        if renewal is not None:
            return renewal
        match = _DESKTOP_POST.fullmatch(call.path)
        post = self.world.post(match[2]) if match else None
        if match and post and match[1] == "0":
            return redirect(f"https://weibo.com/{post.author.uid}/{post.bid}")
        user = self._named(unquote(call.path))
        if user:
            return redirect(f"https://weibo.com/u/{user.uid}")
        logged_in = session.kind in ("member", "worn")
        uid = self._uid_of(session)
        return html_reply(
            "<!DOCTYPE html><html><head><title>微博</title><script>var $CONFIG = {};"
            f"$CONFIG['islogin'] = '{int(logged_in)}';$CONFIG['uid'] = '{uid}';</script></head>"
            '<body><div id="app"></div></body></html>'
        )

    def _desktop_config(self, _call: Call, session: Session) -> Reply:
        uid = self._uid_of(session)
        return json_reply({"ok": 1, "data": {"uid": uid, "visible": 1}})

    def _hot_search(self, _call: Call, _session: Session) -> Reply:
        words = ("咖啡", "露营", "旅行", "摄影", "读书")
        realtime: list[Json] = [
            {"word": w, "word_scheme": f"#{w}#", "num": 10**6 - n, "realpos": n + 1, "rank": n}
            for n, w in enumerate(words)
        ]
        realtime.insert(2, {"word": "某饮料", "is_ad": 1, "num": 1, "rank": 9})
        return json_reply({"ok": 1, "data": {"realtime": realtime, "hotgovs": []}})

    def _desktop_show(self, call: Call, _session: Session) -> Reply:
        post = self.world.post(call.params.get("id", ""))
        if post is not None and post.outline.status == "followers":
            return json_reply({"ok": 0, "error_type": "x"}, status=400)
        post = self._opened(call.params.get("id", ""))
        whole = call.params.get("isGetLongText") == "true"
        return json_reply({**self.views.desktop_post(post, whole=whole), "ok": 1})

    def _desktop_long_text(self, call: Call, _session: Session) -> Reply:
        post = self._opened(call.params.get("id", ""))
        if not self.world.cut(post.tokens)[1]:
            return json_reply({"ok": 1, "data": {}})
        data = {
            "longTextContent": self.world.visible(post.tokens, desktop=True),
            "url_struct": self.views.url_struct(post.tokens),
            "topic_struct": self.views.topic_struct(post),
        }
        return json_reply({"ok": 1, "data": data})

    def _build_comments(self, call: Call, session: Session) -> Reply:
        cid = _digits(call.params.get("id"))
        cursor = call.params.get("max_id", "")
        if session.kind == "visitor" and cursor not in ("", "0"):
            return json_reply({"ok": -100, "url": sign_in("https://weibo.com/")})
        if call.params.get("fetch_level") == "1":
            return self._desktop_replies(call, cid, cursor)
        post = self._opened(cid)
        if post.bulletin == 1 and call.params.get("is_show_bulletin") not in (None, "1"):
            return json_reply(_desktop_comments([], 0, 0))  # a wrong value gives nothing (3.11)
        by_time = call.params.get("flow") == "1"
        start, by_time = self.read_cursor(post, cursor, None, by_time)
        order: Sequence[int] = range(min(post.outline.roots, HOT_CAP))
        if by_time:
            order = self.world.by_time(post)
        size = min(20, max(10, whole_number(call.params.get("count"), 10)))
        end = min(start + size, len(order))
        written = [
            self.views.desktop_comment(post, self.world.comment(post, root), embed=True)
            for root in order[start:end]
        ]
        following = self._cursor(post, end, by_time) if end < len(order) else 0
        return json_reply(_desktop_comments(written, post.outline.comments, following))

    def _desktop_replies(self, call: Call, cid: str, cursor: str) -> Reply:
        known = self.world.post_of_comment(cid) or self._by_author(call.params.get("uid", ""), cid)
        if known is None:
            return json_reply(_desktop_comments([], 0, 0))
        post, root = known
        start, _by_time = self._read_reply_cursor(cid, cursor)
        data, following = self._reply_page(post, root, start, self.views.desktop_comment)
        total = self.world.reply_count(post, root)
        return json_reply(_desktop_comments(data, total, following))

    def _by_author(self, uid: str, cid: str) -> tuple[Post, int] | None:
        """A comment that is not remembered, below one of the author's posts."""
        user = self.world.user(uid)
        for address in self.world.posted(user) if user else ():
            post = self.world.post_at(address)
            root = self.world.root_of(post, cid)
            if root is not None:
                return post, root
        return None

    def _user_asked(self, call: Call) -> User | None:
        params = call.params
        if params.get("screen_name"):
            return self.world.user_by_name(params["screen_name"])
        if params.get("custom"):
            return self.world.user_by_domain(params["custom"])
        return self.world.user(params.get("uid", ""))

    def _desktop_profile(self, call: Call, _session: Session) -> Reply:
        user = self._user_asked(call)
        if user is None or user.banned:
            return json_reply({"ok": 0, "message": "用户不存在"}, status=400)
        data = {"user": self.views.desktop_profile(user), "tabList": [{"name": "home"}]}
        return json_reply({"ok": 1, "data": data})

    def _desktop_profile_detail(self, call: Call, _session: Session) -> Reply:
        user = self._user_asked(call)
        if user is None or user.banned:
            return json_reply({"ok": 0, "message": "用户不存在"}, status=400)
        data = {
            "ip_location": f"IP属地：{user.region}",
            "birthday": "",
            "created_at": "2012-05-14 10:00:00",
            "description": user.bio,
            "gender": user.gender,
            "location": user.place,
            "sunshine_credit": {"level": "信用极好"},
        }
        return json_reply({"ok": 1, "data": data})

    def _mymblog(self, call: Call, _session: Session) -> Reply:
        user = self.world.user(call.params.get("uid", ""))
        shown = self.world.posted(user) if user else ()
        # a cursor without a page begins anew (3.9)
        page = max(1, whole_number(call.params.get("page"), 1))
        posts = shown[(page - 1) * DESKTOP_PROFILE_PAGE : page * DESKTOP_PROFILE_PAGE]
        return json_reply(self._desktop_list(posts, len(shown), page * DESKTOP_PROFILE_PAGE))

    def _search_profile(self, call: Call, _session: Session) -> Reply:
        user = self.world.user(call.params.get("uid", ""))
        since = whole_number(call.params.get("starttime"), 0)
        until = whole_number(call.params.get("endtime"), 1 << 40)
        found = [
            address
            for address in (self.world.posted(user) if user else ())
            if since <= self.world.post_at(address).outline.time <= until
        ]
        found.sort(key=lambda address: -self.world.post_at(address).outline.time)
        page = max(1, whole_number(call.params.get("page"), 1))
        posts = found[(page - 1) * DESKTOP_PROFILE_PAGE : page * DESKTOP_PROFILE_PAGE]
        return json_reply(self._desktop_list(posts, len(found), len(found)))

    def _desktop_list(self, addresses: Sequence[int], total: int, reached: int) -> Json:
        posts = [self.world.post_at(address) for address in addresses]
        since_id = f"{posts[-1].mid}kp2" if posts and reached < total else ""
        data = {
            "list": [self.views.desktop_post(post, whole=False) for post in posts],
            "since_id": since_id,
            "total": total,
            "bottom_tips_visible": False,
            "bottom_tips_text": "",
        }
        return {"ok": 1, "data": data}

    def _component(self, call: Call) -> Reply:
        """The video object of a page (3.14)."""
        match = re.search(r"1034:(\d{16})", unquote(call.body.decode("utf-8", "replace")))
        base = int(match[1]) if match else 0
        for mid in (str(base + 1), str(base + 2)):
            post = self.world.post(mid)
            if post is not None and post.videos:
                video = post.videos[int(mid) - base - 1]
                urls = {
                    f"高清 {url['template']}": url["url"].removeprefix("https:")
                    for url in self._component_urls(video)
                }
                info: Json = {
                    "mid": int(post.mid),
                    "title": video.title,
                    "nickname": post.author.name,
                    "urls": urls,
                }
                return json_reply(
                    {"code": "100000", "msg": "succ", "data": {"Component_Play_Playinfo": info}}
                )
        return json_reply(
            {"code": "100000", "msg": "succ", "data": {"Component_Play_Playinfo": None}}
        )

    def _component_urls(self, video: Video) -> list[dict[str, str]]:
        first = len(QUALITIES) - len(video.files)
        return [
            {
                "template": f"{QUALITIES[first + i][1]}P",
                "url": self.addresses.signed(movie_address(name)),
            }
            for i, name in enumerate(video.files)
        ]

    # -- the desktop search (3.2) ---------------------------------------------------------------

    def _search_site(self, call: Call) -> Reply:
        session = self.session_of(call)
        if session.kind not in ("member", "worn"):
            return redirect(_visitor_address(f"https://s.weibo.com{call.target}"))
        if not re.fullmatch(r"/(?:weibo|hot|realtime|video)/?", call.path):
            return html_reply("<html><body>404</body></html>", status=404)
        params = call.params
        keyword = params.get("q", "")
        since, until = _window(params.get("timescope", ""))
        only = "ori" if params.get("scope") == "ori" else ""
        only = "pic" if params.get("haspic") == "1" else only
        only = "video" if params.get("hasvideo") == "1" or call.path == "/video" else only
        found = self.world.desktop_search(
            keyword,
            since,
            until,
            hot=params.get("xsort") == "hot" or call.path == "/hot",
            only=only,
            nodup=params.get("nodup") == "1",
        )
        page = max(1, whole_number(params.get("page"), 1))
        mids = found[(page - 1) * SEARCH_PAGE : page * SEARCH_PAGE]
        pages = min(DESKTOP_PAGES, -(-len(found) // SEARCH_PAGE))
        posts = [post for mid in mids if (post := self.world.post(mid))]
        query = urlencode([(k, v) for k, v in params.items() if k != "page"])
        return html_reply(self.search_pages.page(keyword, posts, page, pages, query))

    # -- visitors and logins (2.5) --------------------------------------------------------------

    def _passport(self, call: Call) -> Reply:
        mobile = call.host.endswith("weibo.cn")
        domain = ".weibo.cn" if mobile else ".weibo.com"
        if call.path == "/visitor/genvisitor2" and call.method == "POST":
            sub, subp = self._new_visitor(mobile)
            pair = {"sub": sub, "subp": subp, "tid": digest("tid", sub).hex()[:24]}
            return _jsonp(call.form().get("cb", "visitor_gray_callback"), pair)
        if call.path == "/visitor/genvisitor" and call.method == "POST":
            tid = digest("tid", self._visitors).hex()[:24]
            data = {"tid": tid, "new_tid": True, "confidence": 95}
            return _jsonp(call.form().get("cb", "gen_callback"), data)
        if call.path == "/visitor/visitor":
            return self._visitor(call, mobile, domain)
        return self.logins.sign_on(call) or _no_page()

    def _security(self, _call: Call) -> Reply:
        return html_reply(
            "<html><head><title>安全验证</title></head><body>请拖动滑块</body></html>"
        )

    def _visitor(self, call: Call, mobile: bool, domain: str) -> Reply:
        action = call.params.get("a")
        if action == "incarnate":
            sub, subp = self._new_visitor(mobile)
            reply = _jsonp(call.params.get("cb", "cross_domain"), {"sub": sub, "subp": subp})
            reply.headers = _cookie_headers(sub, subp, domain)
            return reply
        if action == "crossdomain":
            reply = redirect(call.params.get("url", "https://weibo.com/"))
            pair = call.params.get("s", ""), call.params.get("sp", "")
            reply.headers = [*reply.headers, *_cookie_headers(*pair, domain)]
            return reply
        return html_reply(visitor_page(call.params.get("url", "https://weibo.com/")))

    def _new_visitor(self, mobile: bool) -> tuple[str, str]:
        self._visitors += 1
        mark = digest("visitor", self.options.seed, self._visitors, size=24).hex()
        start = SESSIONS["visitor-mobile" if mobile else "visitor"]
        return f"{start}{mark}+/=", f"0033WrSXqPxfM72{mark[:30]}"

    # -- articles, video pages, short links -----------------------------------------------------

    def _card_site(self, call: Call) -> Reply:
        article_id = call.params.get("id", "")
        if call.path != "/article/m/aj/detail" or not article_id.startswith("2309404"):
            return html_reply("<html><body>404</body></html>", status=404)
        data = {
            "title": "手记",
            "content": "<p>第一段。</p><p>第二段 &amp; 完。</p>",
            "userinfo": {"uid": self.world.fixed_creator("demo").uid, "screen_name": "demo"},
            "read_count": "40万+",
            "create_at": "03-27 13:27",
        }
        return json_reply({"code": "100000", "msg": "", "data": data})

    def _video_site(self, call: Call) -> Reply:
        """The redirector of live photos (8.2)."""
        target = call.params.get("livephoto", "")
        if call.path == "/media/play" and urlsplit(target).hostname == "livephoto.us.sinaimg.cn":
            return redirect(target)
        return html_reply("<html><head><title>微博视频</title></head><body></body></html>")

    def _short(self, call: Call) -> Reply:
        code = call.path.strip("/").removeprefix("fx/").removesuffix(".html")
        shared = self.world.shared_post if call.host == "mapp.api.weibo.cn" else None
        target = shared(code) if shared else self.world.short_target(code)
        if isinstance(target, Post):
            return redirect(
                f"https://m.weibo.cn/status/{target.mid}?from=page_1005&jumpfrom=weibocom"
            )
        if target is not None:
            return redirect(f"https://weibo.com/u/{target.uid}?from=feed")
        if call.host == "t.cn" and code.startswith("A6z"):
            return redirect("https://demo.example/")
        return html_reply("<html><body>404</body></html>", status=404)

    # -- files (8) ------------------------------------------------------------------------------

    def _file(self, call: Call) -> Reply:
        movie = _MOVIE.fullmatch(call.path)
        portrait = call.host.startswith("tvax")
        if not portrait and not _is_own(call.headers.get("referer", "")):
            return text_reply("forbidden", status=403)
        if movie:
            address = f"https://{call.host}{call.path}"
            good = self.addresses.is_good(
                address, call.params.get("Expires", ""), call.params.get("ssig", "")
            )
            if not good:
                return text_reply("expired", status=403)
            blob = self.world.movie_at(movie[1])
            return file_reply(blob)
        picture = _PICTURE.fullmatch(call.path)
        blob = self.world.picture_at(picture[2], picture[1]) if picture else None
        return file_reply(blob)


# -- small things ---------------------------------------------------------------------------------


def _no_page() -> Reply:
    return html_reply("<html><body>404</body></html>", status=404)


def _is_own(referer: str) -> bool:
    host = urlsplit(referer).hostname or ""
    return host in ("weibo.com", "m.weibo.cn") or host.endswith((".weibo.com", ".weibo.cn"))


def _visitor_address(back: str) -> str:
    return (
        "https://passport.weibo.com/visitor/visitor?entry=miniblog&a=enter"
        f"&url={quote(back, safe='')}&domain=weibo.com&ua=php-sso_sdk_client-0.6.36&_rand=0.5"
    )


def _jsonp(callback: str, data: Json) -> Reply:
    body = json_reply({"retcode": 20000000, "msg": "succ", "data": data}).body.decode("utf-8")
    script = f"window.{callback} && {callback}({body});"
    return Reply(200, script.encode("utf-8"), "text/javascript; charset=utf-8")


def _cookie_headers(sub: str, subp: str, domain: str) -> list[tuple[str, str]]:
    tail = f"Domain={domain}; Path=/; Max-Age=31536000"
    return [("Set-Cookie", f"SUB={sub}; {tail}"), ("Set-Cookie", f"SUBP={subp}; {tail}")]


def _desktop_comments(data: list[Json], total: int, cursor: int) -> Json:
    return {
        "ok": 1,
        "filter_group": [{"param": "flow=0", "title": "按热度"}, {"param": "flow=1"}],
        "data": data,
        "rootComment": [],
        "total_number": total,
        "max_id": cursor,
        "max_id_str": str(cursor),
        "trendsText": "" if cursor else "已加载全部评论",
    }


def _type_of_cursor(offset: int, by_time: bool) -> int:
    """It changes by itself after some pages of the order by heat (3.10)."""
    return int(by_time or offset // COMMENT_PAGE >= _TYPE_SWITCH)


def _digits(value: str | None) -> str:
    """Comments know a post by its MID only (3.10)."""
    return value if value and value.isdigit() else ""


def _window(timescope: str) -> tuple[int | None, int | None]:
    """Unix times of ``custom:2026-11-01-0:2026-11-02-23``; the last hour is included (3.2)."""
    match = _WINDOW.fullmatch(timescope)
    if match is None:
        return None, None
    since, until = _hour(match[1]), _hour(match[2])
    end = until + timedelta(hours=1) if until else None
    return (
        int(since.timestamp()) if since else None,
        int(end.timestamp()) if end else None,
    )


def _hour(text: str) -> datetime | None:
    parts = [int(part) for part in text.split("-") if part]
    if len(parts) < 3:
        return None
    return datetime(*parts[:3], parts[3] if len(parts) > 3 else 0, tzinfo=BEIJING)  # type: ignore[misc, arg-type]


# -- faults ---------------------------------------------------------------------------------------


def _fault_kinds(site: Weibo) -> dict[str, Callable[[Call, Args, Answer], Reply]]:
    """Misbehaviour that only Weibo knows (6.1)."""

    def body(value: Json, status: int = 200) -> Callable[[Call, Args, Answer], Reply]:
        return lambda _call, _args, _answer: json_reply(value, status=status)

    def login(call: Call, _args: Args, _answer: Answer) -> Reply:
        return json_reply({"ok": -100, "url": sign_in(f"https://{call.host}{call.target}")})

    def visitor(call: Call, args: Args, _answer: Answer) -> Reply:
        back = f"https://{call.host}{call.target}"
        if args.get("as") == "page":
            return html_reply(visitor_page(back))
        return redirect(_visitor_address(back))

    def repeat(call: Call, _args: Args, answer: Answer) -> Reply:
        return _repeated(site, call) or answer()

    def empty(call: Call, _args: Args, answer: Answer) -> Reply:
        return _emptied(site, call) or answer()

    return {
        "login": login,
        "captcha": lambda call, _args, _answer: captcha_wanted(call),
        "visitor": visitor,
        "too-often": body(TOO_OFTEN),
        "login-wall": body(LOGIN_WALL, 403),
        "forbidden": body(FORBIDDEN, 403),
        "20101": body(NOT_THERE),
        "20112": body(NOT_SHOWN),
        "wrong-address": body(WRONG_ADDRESS, 404),
        "no-content": body(NO_CONTENT),
        "busy": body({"ok": 0, "msg": "系统繁忙"}),
        "shell": lambda _call, _args, _answer: html_reply(SHELL),
        "gone-page": lambda _call, _args, _answer: html_reply(NOT_FOUND),
        "repeat": repeat,
        "empty-page": empty,
    }


def _repeated(site: Weibo, call: Call) -> Reply | None:
    """The page of comments that the client already has, with the same cursor as before."""
    cursor, kind = call.params.get("max_id", ""), call.params.get("max_id_type", "0")
    if call.path != "/comments/hotflow" or cursor in ("", "0"):
        return None
    post = site.world.post(call.params.get("mid", ""))
    if post is None:
        return None
    start, by_time = site.read_cursor(post, cursor, None, False)
    data = site.comment_data(post, max(0, start - COMMENT_PAGE), by_time)
    return json_reply({"ok": 1, "data": {**data, "max_id": cursor, "max_id_type": int(kind)}})


def _emptied(site: Weibo, call: Call) -> Reply | None:
    """A page of comments without comments that goes on (3.10)."""
    post = site.world.post(call.params.get("mid", ""))
    if call.path != "/comments/hotflow" or post is None:
        return None
    data = site.comment_data(post, 0, False)
    return json_reply({"ok": 1, "data": {**data, "data": []}})
