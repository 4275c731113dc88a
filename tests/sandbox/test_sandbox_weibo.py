"""The sandbox's Weibo: what it serves is its world's truth, and it refuses what the site refuses.

The client here reads the wire by hand, without any part of the crawler.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from html import unescape
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest

from sandbox.testing import RunningSandbox
from sandbox.weibo import DEMO_KEYWORD, FIXED_CREATORS, FIXED_POSTS, World
from sandbox.weibo.ids import bid_of, id_at, mid_of, seconds_of

MOBILE, DESKTOP, SEARCH = "m.weibo.cn", "weibo.com", "s.weibo.com"
CHINA = timezone(timedelta(hours=8))
NOTHING = {"ok": 0, "msg": "这里还没有内容", "data": {"cards": []}}
XHR = {"X-Requested-With": "XMLHttpRequest"}
HEADERS = {
    MOBILE: {**XHR, "MWeibo-Pwa": "1", "Referer": "https://m.weibo.cn/"},
    DESKTOP: {**XHR, "Referer": "https://weibo.com/"},
}


class Client:
    """Sends what the two sites' own scripts would send."""

    def __init__(self, sandbox: RunningSandbox, kind: str = "member") -> None:
        self.sandbox = sandbox
        self.cookies = sandbox.cookies(kind, platform="weibo")

    def send(self, host: str, target: str, **headers: str) -> tuple[int, Any, bytes]:
        sent = {**HEADERS.get(host, {}), "Cookie": self.cookies, **headers}
        return self.sandbox.request(host, target, headers=sent)

    def json(self, host: str, target: str, **headers: str) -> Any:
        return json.loads(self.send(host, target, **headers)[2])

    def search_page(self, keyword: str, page: int, tab: str = "1") -> Any:
        inner = f"100103type={tab}&q={keyword}" + ("" if tab == "1" else "&t=0")
        query = urlencode({"containerid": inner, "page_type": "searchall", "page": page})
        return self.json(MOBILE, f"/api/container/getIndex?{query}")

    def search(self, keyword: str, tab: str = "1") -> Iterator[dict[str, Any]]:
        """The posts of all pages, repetitions included."""
        page: Any = 1
        while page:
            answer = self.search_page(keyword, page, tab)
            if not answer["ok"]:
                return
            yield from posts_in(answer["data"]["cards"])
            page = answer["data"]["cardlistInfo"]["page"]

    def profile_pages(self, uid: int) -> Iterator[Any]:
        cursor = ""
        while True:
            target = f"/api/container/getIndex?type=uid&value={uid}&containerid=107603{uid}{cursor}"
            answer = self.json(MOBILE, target)
            if not answer["ok"]:
                return
            yield answer["data"]
            info = answer["data"]["cardlistInfo"]
            names = [name for name in ("since_id", "page") if info.get(name)]
            if not names:
                return
            cursor = f"&{names[0]}={info[names[0]]}"

    def comments(self, mid: str, first: str = "max_id_type=0") -> Iterator[dict[str, Any]]:
        cursor = first
        while True:
            answer = self.json(MOBILE, f"/comments/hotflow?id={mid}&mid={mid}&{cursor}")
            if not answer["ok"]:
                return
            data = answer["data"]
            yield from data["data"]
            if int(data["max_id"]) == 0:
                return
            cursor = f"max_id={data['max_id']}&max_id_type={data['max_id_type']}"

    def replies(self, cid: str) -> Iterator[dict[str, Any]]:
        cursor: Any = 0
        while True:
            query = f"cid={cid}&max_id={cursor}&max_id_type=0"
            answer = self.json(MOBILE, f"/comments/hotFlowChild?{query}")
            yield from answer["data"]
            cursor = answer["max_id"]
            if not cursor:
                return


def posts_in(cards: Any) -> Iterator[dict[str, Any]]:
    for card in cards or []:
        if card.get("mblog"):
            yield card["mblog"]
        yield from posts_in(card.get("card_group"))


def once(blogs: Iterator[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(blog["id"] for blog in blogs))


def plain(html: str) -> str:
    """A text as a reader sees it: line breaks, emoji by name, captions."""
    html = re.sub(r"<br\s*/?>", "\n", html)
    html = re.sub(r"""<img\b[^>]*?\balt=["']?(\[[^\]]*\])["']?[^>]*>""", r"\1", html)
    return unescape(re.sub(r"<[a-zA-Z/][^>]*>", "", html)).strip()


@pytest.fixture
def client(sandbox: RunningSandbox) -> Client:
    return Client(sandbox)


WORLD = World(seed=1)


def fixed(name: str) -> Any:
    return WORLD.fixed_post(name)


# -- numbers (2.2, 2.3, 8.1) ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mid", "bid"),
    [
        (4645748019299849, "Kjc77D1jz"),
        (3501756485200075, "z0JH2lOMb"),
        (4600000000000000, "K00000000"),
        (4826257999528718, "Mb15BDYR0"),
        (730379578, "1b1AKe"),
    ],
)
def test_mid_and_bid_follow_the_published_vectors(mid: int, bid: str) -> None:
    assert (bid_of(mid), mid_of(bid)) == (bid, mid)


def test_an_id_tells_its_second() -> None:
    assert seconds_of(4645748019299849) == 1623116104
    assert seconds_of(id_at(1623116104, 77)) == 1623116104
    post = fixed("text")
    assert seconds_of(int(post.mid)) == post.outline.time


@pytest.mark.parametrize("seed", [1, 2, 99])
def test_any_id_of_the_world_is_found_again_after_a_restart(seed: int) -> None:
    mids = World(seed, 100).search("露营")
    again = World(seed, 100)
    assert [again.post(mid).mid for mid in mids] == mids
    assert [again.post(again.post(mid).bid).mid for mid in mids] == mids
    assert len(mids) == 100


def test_another_seed_is_another_world_but_the_documented_posts_stay() -> None:
    other = World(seed=2)
    assert set(other.search("露营")).isdisjoint(WORLD.search("露营"))
    assert other.search(DEMO_KEYWORD) == WORLD.search(DEMO_KEYWORD)
    assert WORLD.post("5000000000000001") is None


def test_a_name_or_domain_that_was_never_given_leads_to_nobody() -> None:
    nobody = f"{len(FIXED_CREATORS):07}"  # the number behind the documented creators
    assert WORLD.user_by_name(f"谁_{nobody}") is None
    assert WORLD.user_by_domain(f"wb{nobody}") is None


# -- search (3.1, 3.2) ----------------------------------------------------------------------------


@pytest.mark.parametrize("tab", ["1", "61", "60", "64"])
def test_a_search_gives_its_posts_in_their_order(client: Client, tab: str) -> None:
    assert once(client.search("露营", tab)) == WORLD.search("露营", tab)


def test_tabs_are_really_applied() -> None:
    def column(tab: str, name: str) -> list[int]:
        return [getattr(WORLD.post(mid).outline, name) for mid in WORLD.search("咖啡", tab)]

    likes = column("60", "likes")
    assert likes == sorted(likes, reverse=True)
    times = column("61", "time")
    assert times != sorted(times, reverse=True)  # nearly, not strictly
    assert sum(a < b for a, b in pairwise(times)) < len(times) / 5
    assert {WORLD.post(mid).kind for mid in WORLD.search("咖啡", "64")} == {"video"}


def test_pages_repeat_posts_and_hide_them_in_groups(client: Client) -> None:
    shown = [blog["id"] for blog in client.search("露营")]
    assert len(shown) > len(set(shown))
    cards = client.search_page("露营", 1)["data"]["cards"]
    groups = [card["card_group"] for card in cards if "card_group" in card]
    assert None in groups
    assert any(inner.get("mblog") for group in groups if group for inner in group)
    assert any("mblog" in card and card["mblog"] is None for card in cards)


def test_after_the_last_page_there_is_nothing(client: Client) -> None:
    assert client.search_page("露营", 99) == NOTHING
    assert client.search_page("无结果", 1) == NOTHING


def test_a_keyword_with_signs_is_encoded_before(client: Client) -> None:
    keyword = "C++ & #露营#"
    inner = f"100103type=1&q={quote(keyword)}"
    query = urlencode({"containerid": inner, "page": 1})
    answer = client.json(MOBILE, f"/api/container/getIndex?{query}")
    first = next(posts_in(answer["data"]["cards"]))["id"]
    assert first == WORLD.search(keyword)[0]


def searched(client: Client, **params: str) -> tuple[list[str], str]:
    """MIDs of one page of the desktop search, and the page."""
    _status, _headers, body = client.send(SEARCH, f"/weibo?{urlencode(params)}")
    page = body.decode("utf-8")
    return re.findall(r'<div class="card-wrap"[^>]*\bmid="(\d+)"', page), page


def test_the_desktop_search_goes_on_until_there_is_no_next(client: Client) -> None:
    found: list[str] = []
    number = 1
    while True:
        mids, page = searched(client, q="露营", nodup="1", page=str(number))
        found += mids
        if 'class="next"' not in page:
            break
        number += 1
    assert found == WORLD.desktop_search("露营", nodup=True)
    assert len(found) > len(WORLD.desktop_search("露营"))  # similar ones are hidden


def test_a_time_window_is_applied_to_the_hour(client: Client) -> None:
    times = sorted(WORLD.post(mid).outline.time for mid in WORLD.search("露营"))
    first, last = (datetime.fromtimestamp(times[i], CHINA) for i in (10, 15))
    scope = f"custom:{first:%Y-%m-%d}-{first.hour}:{last:%Y-%m-%d}-{last.hour}"
    mids, _page = searched(client, q="露营", nodup="1", timescope=scope)
    start = int(first.replace(minute=0, second=0).timestamp())
    end = int(last.replace(minute=59, second=59).timestamp())
    expected = WORLD.desktop_search("露营", start, end + 1, nodup=True)
    assert mids == expected[:10]
    assert 6 <= len(expected) < 20


def test_suggestions_stand_below_no_result(client: Client) -> None:
    mids, page = searched(client, q="无结果")
    assert "card-no-result" in page
    assert mids


# -- posts (3.3 to 3.5, 5) ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [post.name for post in FIXED_POSTS if post.status == "ok"])
def test_both_hosts_tell_the_same_post(client: Client, name: str) -> None:
    post = fixed(name)
    mobile = client.json(MOBILE, f"/statuses/show?id={post.bid}")["data"]
    target = f"/ajax/statuses/show?id={post.mid}&locale=zh-CN&isGetLongText=true"
    desktop = client.json(DESKTOP, target)
    assert mobile["id"] == desktop["mid"] == post.mid
    assert mobile["bid"] == desktop["mblogid"] == post.bid
    assert plain(mobile["text"]) == WORLD.visible(post.tokens, desktop=False)
    raw = WORLD.visible(post.tokens, desktop=True)
    assert desktop["text_raw"].strip(" \u200b") == raw
    assert mobile["user"]["id"] == desktop["user"]["id"] == post.author.uid
    assert datetime.strptime(mobile["created_at"], "%a %b %d %H:%M:%S %z %Y").timestamp() == (
        post.outline.time
    )


def test_lists_cut_texts_and_the_long_text_completes_them(client: Client) -> None:
    post = fixed("long-text")
    (listed,) = (b for b in client.search(DEMO_KEYWORD) if b["id"] == post.mid)
    assert listed["isLongText"] is True
    assert listed["text"].rstrip().endswith(f' ...<a href="/status/{post.mid}">全文</a>')
    whole = client.json(MOBILE, f"/statuses/extend?id={post.mid}")["data"]["longTextContent"]
    assert plain(whole) == WORLD.visible(post.tokens, desktop=False)
    desktop = client.json(DESKTOP, f"/ajax/statuses/longtext?id={post.bid}")["data"]
    assert desktop["longTextContent"] == WORLD.visible(post.tokens, desktop=True)


def test_a_long_text_may_be_announced_and_not_exist(client: Client) -> None:
    post = fixed("long-pictures")
    shown = client.json(MOBILE, f"/statuses/show?id={post.mid}")["data"]
    assert (shown["isLongText"], "全文" in shown["text"]) == (True, False)
    assert client.json(MOBILE, f"/statuses/extend?id={post.mid}") == {"ok": 1, "data": {}}


def test_the_mobile_site_names_nine_pictures_of_fourteen(client: Client) -> None:
    post = fixed("many-pictures")
    mobile = client.json(MOBILE, f"/statuses/show?id={post.mid}")["data"]
    desktop = client.json(DESKTOP, f"/ajax/statuses/show?id={post.mid}")
    assert (len(mobile["pics"]), mobile["pic_num"]) == (9, 14)
    assert desktop["pic_ids"] == [picture.pid for picture in post.pictures]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("retweet-of-deleted", "此微博已被作者删除"),
        ("retweet-of-half-year", "仅展示半年内"),
        ("retweet-of-hidden", "查看权限"),
    ],
)
def test_an_original_that_is_gone_leaves_a_shell(client: Client, name: str, words: str) -> None:
    shown = client.json(MOBILE, f"/statuses/show?id={fixed(name).mid}")["data"]
    original = shown["retweeted_status"]
    assert original["user"] is None
    assert words in original["text"]


def test_the_desktop_repeats_the_originals_video_on_the_retweet(client: Client) -> None:
    mids = [mid for word in ("露营", "咖啡", "旅行", "美食") for mid in WORLD.search(word)]
    retweets = [post for mid in mids if (post := WORLD.post(mid)).outline.retweet == "ok"]
    shown_ones = [post for post in retweets if post.outline.status == "ok"]
    retweet = next(post for post in shown_ones if WORLD.post_at(post.original).videos)
    shown = client.json(DESKTOP, f"/ajax/statuses/show?id={retweet.mid}")
    assert shown["page_info"] == shown["retweeted_status"]["page_info"]


@pytest.mark.parametrize(
    ("name", "mobile", "desktop"),
    [
        ("deleted", (200, "20101"), (200, "20101")),
        ("private", (200, "20112"), (200, "20112")),
        ("followers-only", (200, "20112"), (400, None)),
    ],
)
def test_posts_that_cannot_be_shown(
    client: Client, name: str, mobile: tuple[int, Any], desktop: tuple[int, Any]
) -> None:
    for host, path, expected in (
        (MOBILE, "/statuses/show", mobile),
        (DESKTOP, "/ajax/statuses/show", desktop),
    ):
        status, _headers, body = client.send(host, f"{path}?id={fixed(name).mid}")
        assert (status, json.loads(body).get("errno")) == expected


def test_a_post_stands_in_its_mobile_page_too(client: Client) -> None:
    post = fixed("tricky-text")
    page = client.send(MOBILE, f"/detail/{post.mid}")[2].decode("utf-8")
    start = page.index("$render_data = ") + len("$render_data = ")
    data, _end = json.JSONDecoder().raw_decode(page, start)
    assert plain(data[0]["status"]["text"]) == WORLD.visible(post.tokens, desktop=False)
    assert "h5-404" in client.send(MOBILE, f"/detail/{fixed('deleted').mid}")[2].decode()


def test_a_video_object_names_its_post(client: Client) -> None:
    video = fixed("several-videos").videos[1]
    body = urlencode({"data": json.dumps({"Component_Play_Playinfo": {"oid": video.object_id}})})
    _status, _headers, answer = client.sandbox.request(
        DESKTOP, f"/tv/api/component?page=/tv/show/{video.object_id}", method="POST",
        body=body.encode(),
    )  # fmt: skip
    info = json.loads(answer)["data"]["Component_Play_Playinfo"]
    assert str(info["mid"]) == fixed("several-videos").mid


# -- creators (3.6 to 3.9) ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["demo", "prolific", "silent"])
def test_both_lists_of_a_creator_give_all_posts(client: Client, name: str) -> None:
    uid = WORLD.fixed_creator(name).uid
    truth = WORLD.creator_posts(str(uid))
    pages = list(client.profile_pages(uid))
    shown = [blog for page in pages for blog in posts_in(page["cards"])]
    assert [blog["id"] for blog in shown if blog["user"]["id"] == uid] == truth
    found: list[str] = []
    number = 1
    while True:
        page = client.json(DESKTOP, f"/ajax/statuses/mymblog?uid={uid}&page={number}&feature=0")
        if not page["data"]["list"]:
            break
        found += [blog["mid"] for blog in page["data"]["list"]]
        number += 1
    assert found == truth


def test_a_creators_list_begins_with_old_pinned_posts_and_holds_strangers(client: Client) -> None:
    creator = WORLD.fixed_creator("prolific")
    first = next(client.profile_pages(creator.uid))
    blogs = list(posts_in(first["cards"]))
    assert [blog.get("isTop") for blog in blogs[:3]] == [1, 1, None]
    assert int(blogs[0]["id"]) < int(blogs[2]["id"])
    strangers = list(posts_in(next(client.profile_pages(WORLD.fixed_creator("demo").uid))["cards"]))
    assert any("赞过的微博" in blog.get("title", {}).get("text", "") for blog in strangers)


def test_cursors_of_creators_lists_come_in_two_kinds(client: Client) -> None:
    kinds = set()
    for mid in WORLD.search("露营")[:40]:
        info = next(client.profile_pages(WORLD.post(mid).author.uid))["cardlistInfo"]
        kinds |= {name for name in ("since_id", "page") if name in info}
    assert kinds == {"since_id", "page"}


def test_a_desktop_cursor_without_a_page_begins_anew(client: Client) -> None:
    uid = WORLD.fixed_creator("prolific").uid
    first = client.json(DESKTOP, f"/ajax/statuses/mymblog?uid={uid}&page=1&feature=0")["data"]
    again = client.json(
        DESKTOP, f"/ajax/statuses/mymblog?uid={uid}&feature=0&since_id={first['since_id']}"
    )["data"]
    assert again["list"][0]["mid"] == first["list"][0]["mid"]


def test_profiles_of_both_hosts_and_of_nobody(client: Client) -> None:
    creator = WORLD.fixed_creator("prolific")
    mobile = client.json(MOBILE, f"/api/container/getIndex?type=uid&value={creator.uid}")
    desktop = client.json(DESKTOP, f"/ajax/profile/info?uid={creator.uid}")
    detail = client.json(DESKTOP, f"/ajax/profile/detail?uid={creator.uid}")
    assert mobile["data"]["userInfo"]["follow_count"] == creator.follows
    assert desktop["data"]["user"]["friends_count"] == creator.follows
    assert detail["data"]["ip_location"] == f"IP属地：{creator.region}"
    banned = WORLD.fixed_creator("banned").uid
    assert client.json(MOBILE, f"/api/container/getIndex?type=uid&value={banned}") == NOTHING
    assert client.send(DESKTOP, f"/ajax/profile/info?uid={banned}")[0] == 400


def test_names_domains_and_short_links_redirect(client: Client) -> None:
    users = [WORLD.post(mid).author for mid in WORLD.search("露营")]
    user = next(user for user in users if user.domain)
    for path in (f"/n/{quote(user.name)}", f"/{user.domain}?&jumpfrom=weibocom"):
        _status, headers, _body = client.send(MOBILE, path)
        assert headers["Location"] == f"https://m.weibo.cn/u/{user.uid}"
    post = fixed("video")
    for link in (WORLD.short_link(post.mid), WORLD.share_link(post.mid)):
        host, _, path = link.partition("/")
        status, headers, _body = client.send(host, f"/{path}")
        assert (status, post.mid in headers["Location"]) == (302, True)


# -- comments (3.10 to 3.12) ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["text", "300-comments", "1000-comments", "no-comments"])
def test_comments_by_heat_are_all_that_it_gives(client: Client, name: str) -> None:
    post = fixed(name)
    truth = WORLD.comments(post.mid)
    shown = list(client.comments(post.mid))
    assert [comment["id"] for comment in shown] == [comment.cid for comment in truth]
    for comment, true in zip(shown, truth, strict=True):
        assert plain(comment["text"]) == WORLD.visible(true.tokens, desktop=False)
        assert (comment["total_number"], comment["user"]["id"]) == (true.replies, true.user.uid)


def test_by_time_all_comments_come_newest_first(client: Client) -> None:
    post = fixed("1000-comments")
    shown = [int(comment["id"]) for comment in client.comments(post.mid, "max_id_type=1")]
    assert len(shown) == post.outline.roots > len(WORLD.comments(post.mid))
    assert [seconds_of(cid) for cid in shown] == sorted(map(seconds_of, shown), reverse=True)


def test_a_cursor_without_its_type_begins_anew(client: Client) -> None:
    post = fixed("300-comments")
    base = f"/comments/hotflow?id={post.mid}&mid={post.mid}"
    data = client.json(MOBILE, f"{base}&max_id_type=0")["data"]
    for _page in range(3):
        query = f"&max_id={data['max_id']}&max_id_type={data['max_id_type']}"
        data = client.json(MOBILE, base + query)["data"]
    assert data["max_id_type"] == 1  # it has changed by itself
    wrong = client.json(MOBILE, f"{base}&max_id={data['max_id']}&max_id_type=0")["data"]
    assert wrong["data"][0]["id"] == WORLD.comments(post.mid)[0].cid


def test_embedded_replies_come_again_in_the_list_of_replies(client: Client) -> None:
    post = fixed("300-comments")
    root = next(client.comments(post.mid))
    truth = [reply.cid for reply in WORLD.replies(post.mid, root["id"])]
    assert len(truth) == root["total_number"] == 45
    assert [str(reply["id"]) for reply in root["comments"]] == truth[:2]
    assert [reply["id"] for reply in client.replies(root["id"])] == truth


def test_no_embedded_replies_are_written_in_three_ways(client: Client) -> None:
    shapes = [c["comments"] for c in client.comments(fixed("text").mid) if not c["total_number"]]
    assert {repr(shape) for shape in shapes} == {"False", "None", "[]"}


def test_the_desktop_gives_the_same_comments_and_whom_a_reply_answers(client: Client) -> None:
    post = fixed("300-comments")
    base = (
        f"/ajax/statuses/buildComments?is_reload=1&is_mix=0&count=20&uid={post.author.uid}"
        f"&is_show_bulletin={post.bulletin}"
    )
    page = client.json(DESKTOP, f"{base}&id={post.mid}&fetch_level=0")
    assert [c["idstr"] for c in page["data"]] == [c.cid for c in WORLD.comments(post.mid)[:20]]
    root = page["data"][0]["idstr"]
    answer = client.json(DESKTOP, f"{base}&id={root}&is_mix=1&fetch_level=1&max_id=0")
    for reply, true in zip(answer["data"], WORLD.replies(post.mid, root), strict=False):
        answered = WORLD.comment_id(post, true.root, true.target)
        assert (reply["idstr"], reply["reply_comment"]["idstr"]) == (true.cid, answered)


def test_a_wrong_bulletin_value_gives_no_comments(client: Client) -> None:
    mids = WORLD.search("露营")
    post = next(
        p for mid in mids
        if (p := WORLD.post(mid)).bulletin == 1 and p.outline.roots and p.outline.status == "ok"
    )  # fmt: skip
    base = f"/ajax/statuses/buildComments?id={post.mid}&count=20&uid={post.author.uid}"
    assert client.json(DESKTOP, f"{base}&is_show_bulletin=2")["data"] == []
    assert client.json(DESKTOP, f"{base}&is_show_bulletin=1")["data"] != []


def test_the_older_list_counts_pages_and_shows_captions(client: Client) -> None:
    post = fixed("300-comments")
    data = client.json(MOBILE, f"/api/comments/show?id={post.mid}&page=2")["data"]
    assert (data["max"], len(data["data"])) == (30, 10)
    order = WORLD.by_time(post)
    assert data["data"][0]["id"] == WORLD.comment_id(post, order[10])
    assert not re.search(r"\+0800", data["data"][0]["created_at"])


# -- sessions (1.3, 1.4, 2.5) ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "mobile", "desktop"),
    [
        ("member", True, True),
        ("member-mobile", True, False),
        ("member-desktop", False, True),
        ("visitor", False, False),
        ("expired", False, False),
        ("none", False, False),
    ],
)
def test_each_host_knows_its_own_logins(
    sandbox: RunningSandbox, kind: str, mobile: bool, desktop: bool
) -> None:
    client = Client(sandbox, kind)
    assert client.json(MOBILE, "/api/config")["data"]["login"] is mobile
    assert bool(client.json(DESKTOP, "/ajax/config/get_config")["data"]["uid"]) is desktop


@pytest.mark.parametrize("kind", ["visitor", "member-desktop", "expired", "none"])
def test_the_mobile_lists_want_a_mobile_login(sandbox: RunningSandbox, kind: str) -> None:
    answer = Client(sandbox, kind).search_page("露营", 1)
    assert answer["ok"] == -100
    assert "/sso/signin" in answer["url"]


def test_anybody_may_read_a_detail_and_the_first_comments_of_the_mobile_site(
    sandbox: RunningSandbox,
) -> None:
    nobody, post = Client(sandbox, "none"), fixed("300-comments")
    assert nobody.json(MOBILE, f"/statuses/show?id={post.mid}")["ok"] == 1
    comments = nobody.comments(post.mid)
    assert len([next(comments) for _ in range(20)]) == 20
    base = f"/comments/hotflow?id={post.mid}&mid={post.mid}"
    data = nobody.json(MOBILE, f"{base}&max_id_type=0")["data"]
    assert nobody.json(MOBILE, f"{base}&max_id={data['max_id']}&max_id_type=0")["ok"] == -100


def test_worn_out_cookies_find_nothing(sandbox: RunningSandbox) -> None:
    assert Client(sandbox, "worn").search_page("露营", 1) == NOTHING


def test_a_desktop_request_needs_its_referer(client: Client) -> None:
    target = f"/ajax/statuses/show?id={fixed('text').mid}"
    status, _headers, body = client.send(DESKTOP, target, Referer="https://example.com/")
    assert (status, body) == (403, b'{"error":"Forbidden"}')


def test_a_mobile_request_without_its_headers_gets_the_shell(client: Client) -> None:
    _status, headers, body = client.sandbox.request(
        MOBILE, "/api/config", headers={"Cookie": client.cookies}
    )
    assert headers["Content-Type"].startswith("text/html")
    assert b'id="app"' in body


def test_who_has_no_cookie_is_sent_to_become_a_visitor(sandbox: RunningSandbox) -> None:
    nobody = Client(sandbox, "none")
    target = f"/ajax/statuses/show?id={fixed('text').mid}"
    status, headers, _body = nobody.send(DESKTOP, target)
    assert status == 302
    where = urlsplit(headers["Location"])
    assert where.netloc == "passport.weibo.com"
    page = nobody.send(where.netloc, f"{where.path}?{where.query}")[2].decode()
    assert "<title>Sina Visitor System</title>" in page
    assert parse_qs(where.query)["url"] == [f"https://weibo.com{target}"]


def test_a_visitor_reads_posts_but_not_lists(sandbox: RunningSandbox) -> None:
    form = b"cb=visitor_gray_callback&ver=20250916&tid=&from=weibo&webdriver=false"
    body = sandbox.request("passport.weibo.com", "/visitor/genvisitor2", method="POST", body=form)[
        2
    ]
    script = body.decode()
    data = json.loads(script[script.index("(") + 1 : script.rindex(")")])["data"]
    visitor = Client(sandbox, "none")
    visitor.cookies = f"SUB={data['sub']}; SUBP={data['subp']}"
    post = fixed("300-comments")
    assert visitor.json(DESKTOP, f"/ajax/statuses/show?id={post.mid}")["mid"] == post.mid
    status, _headers, body = visitor.send(DESKTOP, "/ajax/statuses/mymblog?uid=1&page=1")
    assert (status, json.loads(body)["message"]) == (403, "前方有点拥堵，请登录后使用")
    base = f"/ajax/statuses/buildComments?id={post.mid}&is_show_bulletin={post.bulletin}&count=20"
    first = visitor.json(DESKTOP, base)
    assert len(first["data"]) == 20
    assert visitor.json(DESKTOP, f"{base}&max_id={first['max_id']}")["ok"] == -100


def test_two_visitors_are_two(sandbox: RunningSandbox) -> None:
    target = "/visitor/visitor?a=incarnate&t=x&w=3&c=095&cb=cross_domain&from=weibo"
    pairs = [sandbox.request("passport.weibo.com", target)[1].get_all("Set-Cookie") for _ in "ab"]
    assert pairs[0] != pairs[1]
    assert all("Domain=.weibo.com" in cookie for cookie in pairs[0])


def test_a_session_can_be_made_to_expire(sandbox: RunningSandbox) -> None:
    client = Client(sandbox, "member+expiring")
    sub = client.cookies.partition("SUB=")[2].partition(";")[0]
    assert client.search_page("露营", 1)["ok"] == 1
    sandbox.action("weibo", "set-session", SUB=sub, kind="expired")
    assert client.search_page("露营", 1)["ok"] == -100


# -- files (8) ------------------------------------------------------------------------------------

REFERER = {"Referer": "https://weibo.com/"}


def fetch(sandbox: RunningSandbox, url: str, **headers: str) -> tuple[int, Any, bytes]:
    parts = urlsplit(url)
    return sandbox.request(parts.netloc, f"{parts.path}?{parts.query}", headers=headers)


def test_the_desktop_names_the_files_of_the_world(client: Client) -> None:
    post = fixed("live-photo")
    shown = client.json(DESKTOP, f"/ajax/statuses/show?id={post.mid}")
    urls = []
    for pid in shown["pic_ids"]:
        info = shown["pic_infos"][pid]
        urls += [info["largest"]["url"], *([info["video"]] if "video" in info else [])]
    truth = WORLD.files(post.mid)
    assert [url.partition("?")[0] for url in urls] == [file.url for file in truth]
    for url, file in zip(urls, truth, strict=True):
        status, _headers, body = fetch(client.sandbox, url, **REFERER)
        assert status == 200
        assert hashlib.sha256(body).hexdigest() == file.blob.sha256()


def test_the_best_video_is_the_desktops_and_its_address_expires(client: Client) -> None:
    post = fixed("video")
    page = client.json(DESKTOP, f"/ajax/statuses/show?id={post.mid}")["page_info"]
    found = re.findall(r'"url": "([^"]+)"', json.dumps(page["media_info"]))
    found += [v for v in page["media_info"].values() if isinstance(v, str) and ".mp4?" in v]
    best = next(url for url in found if post.videos[0].files[0] in url)
    assert fetch(client.sandbox, best, **REFERER)[0] == 200
    assert fetch(client.sandbox, best, Range="bytes=0-99", **REFERER)[0] == 206
    client.sandbox.action("weibo", "expire-media")
    assert fetch(client.sandbox, best, **REFERER)[0] == 403


@pytest.mark.parametrize(
    ("referer", "status"),
    [({}, 403), ({"Referer": "https://example.com/"}, 403), (REFERER, 200)],
)
def test_pictures_want_a_referer_of_the_site(
    client: Client, referer: dict[str, str], status: int
) -> None:
    assert fetch(client.sandbox, fixed("pictures").pictures[0].url, **referer)[0] == status


def test_a_picture_id_that_nobody_made_is_no_picture(client: Client) -> None:
    url = fixed("pictures").pictures[0].url
    forged = re.sub(r"(gy1)(.)", lambda m: m[1] + ("a" if m[2] != "a" else "b"), url)
    assert fetch(client.sandbox, forged, **REFERER)[0] == 404


def test_a_withheld_picture_is_a_small_gif(client: Client) -> None:
    picture = fixed("withheld-picture").pictures[1]
    status, headers, body = fetch(client.sandbox, picture.url, **REFERER)
    assert (status, headers["Content-Type"], len(body) < 200) == (200, "image/gif", True)


def test_a_live_photo_of_the_mobile_site_is_one_redirect_away(client: Client) -> None:
    shown = client.json(MOBILE, f"/statuses/show?id={fixed('live-photo').mid}")["data"]
    pics = shown["pics"]
    pics = list(pics.values()) if isinstance(pics, dict) else pics  # either is served
    live = next(pic for pic in pics if pic.get("type") == "livephoto")
    status, headers, _body = fetch(client.sandbox, live["videoSrc"])
    assert status == 302
    assert fetch(client.sandbox, headers["Location"], **REFERER)[0] == 200


# -- faults (6.1) ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "status", "mark"),
    [
        ("login", 200, b'"ok":-100'),
        ("captcha", 200, b"captcha"),
        ("visitor", 302, b""),
        ("too-often", 200, "请求过于频繁".encode()),
        ("login-wall", 403, "请登录后使用".encode()),
        ("forbidden", 403, b"Forbidden"),
        ("20101", 200, b"20101"),
        ("20112", 200, b"20112"),
        ("wrong-address", 404, "地址不存在".encode()),
        ("no-content", 200, "还没有内容".encode()),
        ("busy", 200, "系统繁忙".encode()),
        ("shell", 200, b'id="app"'),
        ("gone-page", 200, b"h5-404"),
        ("432", 432, b""),
        ("418", 418, b""),
        ("414", 414, b""),
    ],
)
def test_each_refusal_can_be_had(client: Client, kind: str, status: int, mark: bytes) -> None:
    client.sandbox.fault(kind, times=1)
    target = f"/statuses/show?id={fixed('text').mid}"
    got, _headers, body = client.send(MOBILE, target)
    assert got == status
    assert mark in body
    assert client.send(MOBILE, target)[0] == 200


def test_a_page_of_comments_can_repeat_itself_or_be_empty(client: Client) -> None:
    post = fixed("300-comments")
    base = f"/comments/hotflow?id={post.mid}&mid={post.mid}"
    first = client.json(MOBILE, f"{base}&max_id_type=0")["data"]
    following = f"{base}&max_id={first['max_id']}&max_id_type=0"
    client.sandbox.fault("repeat", times=1)
    again = client.json(MOBILE, following)["data"]
    # By their ids: addresses of portraits are signed for a time, which goes on.
    assert [c["id"] for c in again["data"]] == [c["id"] for c in first["data"]]
    assert str(again["max_id"]) == str(first["max_id"])
    client.sandbox.fault("empty-page", times=1)
    empty = client.json(MOBILE, f"{base}&max_id_type=0")["data"]
    assert (empty["data"], bool(int(empty["max_id"]))) == ([], True)
