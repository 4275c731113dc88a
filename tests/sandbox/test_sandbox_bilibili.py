"""Bilibili in the sandbox: a plain client finds exactly what the world holds, and its traps."""

from __future__ import annotations

import itertools
import json
import random
import re
import time
import zlib
from datetime import datetime
from hashlib import md5
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from mediacrawler.signing.bilibili import key_of, mixin_key, sign
from sandbox.bilibili import FIXED_VIDEOS, World
from sandbox.bilibili.dash import DashAudio, DashVideo, mark
from sandbox.bilibili.world import Area, aid_of, bvid_of
from sandbox.core import WORLD_NOW
from sandbox.testing import RunningSandbox

API = "api.bilibili.com"
AGENT = "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0"
WORLD = World()
DEMO = WORLD.fixed_creator("demo")
DAY = 86_400
Json = dict[str, Any]

SEARCH = "/x/web-interface/wbi/search/type"
VIEW = "/x/web-interface/view"
COMMENTS = "/x/v2/reply/wbi/main"
REPLIES = "/x/v2/reply/reply"
UPLOADS = "/x/space/wbi/arc/search"
FEED = "/x/polymer/web-dynamic/v1/feed/space"
PLAYURL = "/x/player/playurl"


class Client:
    """Asks as one session and signs what ``/wbi/`` paths want signed."""

    def __init__(self, sandbox: RunningSandbox, kind: str = "member") -> None:
        self.sandbox = sandbox
        self.cookie = sandbox.cookies(kind, "bilibili")
        self.status = 0
        self.renew()

    def renew(self) -> None:
        """Fetch the signing keys anew."""
        keys = self.get("/x/web-interface/nav")["data"]["wbi_img"]
        img, sub = key_of(keys["img_url"]), key_of(keys["sub_url"])
        assert img
        assert sub
        self.mixin = mixin_key(img, sub)

    def raw(self, host: str, target: str, **headers: str) -> tuple[int, Any, bytes]:
        named = {
            "User-Agent": AGENT,
            "Referer": "https://space.bilibili.com/1/video",
            "Cookie": self.cookie,
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        return self.sandbox.request(host, target, headers=named)

    def get(self, path: str, **params: Any) -> Json:
        """The whole JSON answer of an endpoint."""
        if "/wbi/" in path:
            query = sign(params, self.mixin, now=int(time.time()))
        else:
            query = urlencode(params)
        self.status, _, body = self.raw(API, f"{path}?{query}")
        found: Json = json.loads(body)
        return found

    def data(self, path: str, **params: Any) -> Any:
        answer = self.get(path, **params)
        assert answer["code"] == 0, answer
        return answer["data"]


@pytest.fixture
def member(sandbox: RunningSandbox) -> Client:
    return Client(sandbox)


@pytest.fixture
def guest(sandbox: RunningSandbox) -> Client:
    return Client(sandbox, "guest")


def code(client: Client, path: str, **params: Any) -> int:
    found: int = client.get(path, **params)["code"]
    return found


# -- numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("aid", "bvid"),
    [(1, "BV1xx411c7mQ"), (170001, "BV17x411w7KC"), (2**51 - 1, "BV1aPPTfmvQq")],
)
def test_bvids_are_those_of_the_platform(aid: int, bvid: str) -> None:
    assert bvid_of(aid) == bvid
    assert aid_of(bvid) == aid


def test_the_same_seed_is_the_same_world_and_another_is_not() -> None:
    assert World(seed=3).search("露营") == World(seed=3).search("露营")
    first, second = (World(seed=seed).search("露营") for seed in (3, 4))
    assert set(first) == set(second)  # numbers are addresses; what lies there differs
    assert first != second


# -- sessions and signatures -----------------------------------------------------------------------


def test_the_navigation_data_of_visitors_holds_the_keys(sandbox: RunningSandbox) -> None:
    answers = {
        kind: Client(sandbox, kind).get("/x/web-interface/nav")
        for kind in ("member", "guest", "expired", "none")
    }
    assert {kind: answer["code"] for kind, answer in answers.items()} == {
        "member": 0,
        "guest": -101,
        "expired": -101,
        "none": -101,
    }
    assert all(answer["data"]["wbi_img"] for answer in answers.values())


def test_a_decoded_login_cookie_is_no_login(member: Client) -> None:
    member.cookie = member.cookie.replace("%2C", ",")
    assert code(member, "/x/web-interface/nav") == -101


@pytest.mark.parametrize(
    ("path", "params", "refusal"),
    [
        (COMMENTS, {"type": 1, "oid": WORLD.fixed_video("plain").aid}, -403),
        (UPLOADS, {"mid": DEMO.mid}, -352),
        (SEARCH, {"search_type": "video", "keyword": "露营"}, 0),
    ],
)
def test_every_endpoint_refuses_a_bad_signature_in_its_own_way(
    member: Client, path: str, params: Json, refusal: int
) -> None:
    good = sign(params, member.mixin, now=int(time.time()))
    broken = {
        "wrong": good[:-1] + ("0" if good[-1] != "0" else "1"),
        "missing": urlencode(params),
        "stale": sign(params, member.mixin, now=int(time.time()) - 4000),
    }
    for reason, query in broken.items():
        member.sandbox.reset()
        answer = json.loads(member.raw(API, f"{path}?{query}")[2])
        assert answer["code"] == refusal
        if refusal != -403:
            assert list(answer["data"]) == ["v_voucher"]
        assert member.sandbox.stats()["bad_signatures"] == {reason: 1}
    assert json.loads(member.raw(API, f"{path}?{good}")[2])["data"] is not None


def test_a_plus_for_a_blank_in_what_is_hashed_is_noticed(member: Client) -> None:
    params = {"search_type": "video", "keyword": "a b"}
    now = int(time.time())
    query = f"keyword=a+b&search_type=video&wts={now}"
    digest = md5((query + member.mixin).encode()).hexdigest()
    member.raw(API, f"{SEARCH}?{query}&w_rid={digest}")
    assert member.sandbox.stats()["bad_signatures"] == {"plus": 1}
    assert "result" in member.data(SEARCH, **params)


def test_keys_can_change_in_the_middle_of_a_crawl(member: Client) -> None:
    oid = WORLD.fixed_video("plain").aid
    assert code(member, COMMENTS, type=1, oid=oid) == 0
    member.sandbox.action("bilibili", "change-keys")
    assert code(member, COMMENTS, type=1, oid=oid) == -403
    assert member.sandbox.stats()["bad_signatures"] == {"old-keys": 1}
    member.renew()
    assert code(member, COMMENTS, type=1, oid=oid) == 0


def test_tools_that_say_so_are_refused(member: Client) -> None:
    status, _, body = member.raw(API, "/x/web-interface/nav", User_Agent="python-requests/2")
    assert status == 412
    assert "错误号: 412" in body.decode()


# -- search ----------------------------------------------------------------------------------------


def search(client: Client, keyword: str, **params: Any) -> tuple[list[Json], list[int]]:
    """All rows of a search and the rows per page."""
    rows: list[Json] = []
    sizes = []
    page = 1
    while True:
        data = client.data(SEARCH, search_type="video", keyword=keyword, page=page, **params)
        found = data.get("result") or []
        rows += found
        sizes.append(len(found))
        if page >= data["numPages"] or not found:
            return rows, sizes
        page += 1


def bvids(rows: list[Json]) -> list[str]:
    return list(dict.fromkeys(row["bvid"] for row in rows if row["type"] == "video"))


@pytest.mark.parametrize("order", ["totalrank", "click", "pubdate", "dm", "stow", "scores"])
def test_search_finds_what_the_world_holds_in_every_order(member: Client, order: str) -> None:
    rows, sizes = search(member, "露营", order=order)
    assert bvids(rows) == WORLD.search("露营", order=order)
    assert sizes[:-1] == [20] * (len(sizes) - 1)


def test_search_pages_repeat_videos_and_hold_courses(member: Client) -> None:
    rows, _ = search(member, "露营")
    videos = [row["bvid"] for row in rows if row["type"] == "video"]
    assert len(videos) > len(set(videos))
    assert any(row["type"] == "ketang" and row["bvid"] == "" for row in rows)


def test_time_filters_are_applied(member: Client) -> None:
    now = int(WORLD_NOW.timestamp())
    since, until = now - 200 * DAY, now - 10 * DAY
    rows, _ = search(member, "咖啡", order="pubdate", pubtime_begin_s=since, pubtime_end_s=until)
    assert bvids(rows) == WORLD.matches("咖啡", since=since, until=until)
    assert all(since <= row["pubdate"] <= until for row in rows if row["type"] == "video")
    lone, _ = search(member, "咖啡", order="pubdate", pubtime_begin_s=since)
    assert bvids(lone) == WORLD.matches("咖啡")


def test_a_page_behind_the_end_has_no_result(member: Client) -> None:
    answers = [
        member.data(SEARCH, search_type="video", keyword="露营", page=page) for page in (41, 42)
    ]
    assert [answer.get("result", "absent") for answer in answers] == [None, "absent"]
    assert "result" not in member.data(SEARCH, search_type="video", keyword="无结果", page=2)


def test_search_is_capped_and_time_slices_pass_the_cap() -> None:
    world = World(posts=1500)
    with RunningSandbox("--only", "bilibili", "--posts", "1500") as sandbox:
        client = Client(sandbox)
        rows, sizes = search(client, "露营", order="pubdate")
        assert sum(sizes) == 1000
        assert client.data(SEARCH, search_type="video", keyword="露营")["numResults"] == 1000
        found = set(bvids(rows))
        now = int(WORLD_NOW.timestamp())
        edges = [0, now - 400 * DAY, now - 180 * DAY, now - 60 * DAY, now]
        for since, until in itertools.pairwise(edges):
            sliced, _ = search(
                client,
                "露营",
                order="pubdate",
                pubtime_begin_s=since + 1,
                pubtime_end_s=until,
            )
            found |= set(bvids(sliced))
        assert found == set(world.matches("露营"))


def test_search_wants_a_visitors_cookies(sandbox: RunningSandbox) -> None:
    client = Client(sandbox, "none")
    assert code(client, SEARCH, search_type="video", keyword="露营") == -412
    assert code(Client(sandbox), SEARCH, search_type="nonsense", keyword="露营") == -1200


def test_users_are_found(member: Client) -> None:
    data = member.data(SEARCH, search_type="bili_user", keyword="露营")
    assert [row["mid"] for row in data["result"]] == [
        user.mid for user in WORLD.search_users("露营")
    ][:20]


# -- videos ----------------------------------------------------------------------------------------


def test_details_tell_all_parts(member: Client) -> None:
    video = WORLD.fixed_video("multipart")
    data = member.data(VIEW, bvid=video.bvid)
    assert data["aid"] == video.aid
    assert [page["cid"] for page in data["pages"]] == [part.cid for part in video.parts]
    assert data["duration"] == sum(page["duration"] for page in data["pages"])
    assert data["stat"]["reply"] == WORLD.area_of(video).shown
    assert member.data("/x/player/pagelist", bvid=video.bvid) == data["pages"]
    assert member.data(VIEW, aid=video.aid) == data


@pytest.mark.parametrize(
    ("name", "expected"), [("deleted", -404), ("hidden", 62002), ("private", 62012)]
)
def test_videos_that_are_not_there_say_so_everywhere(
    member: Client, name: str, expected: int
) -> None:
    video = WORLD.fixed_video(name)
    for path in (VIEW, "/x/web-interface/wbi/view/detail", "/x/player/pagelist"):
        assert code(member, path, bvid=video.bvid) == expected
    _, _, page = member.raw("www.bilibili.com", f"/video/{video.bvid}/")
    assert f'"trueCode": {expected}' in page.decode()


def test_the_page_of_a_video_holds_the_same_data(member: Client) -> None:
    video = WORLD.fixed_video("tricky-text")
    _, headers, page = member.raw("www.bilibili.com", f"/video/{video.bvid}/", Cookie="")
    text = page.decode()
    start = text.index("window.__INITIAL_STATE__=") + len("window.__INITIAL_STATE__=")
    state, _ = json.JSONDecoder().raw_decode(text, start)
    assert state["videoData"] == member.data(VIEW, bvid=video.bvid)
    assert any("buvid3=" in cookie for cookie in headers.get_all("Set-Cookie"))


def test_tags_of_a_video_hold_its_music(member: Client) -> None:
    video = WORLD.fixed_video("plain")
    rows = member.data("/x/web-interface/view/detail/tag", bvid=video.bvid)
    assert [row["tag_name"] for row in rows if row["tag_type"] != "bgm"] == list(video.tags)
    assert rows[-1]["tag_type"] == "bgm"


# -- creators --------------------------------------------------------------------------------------


def test_the_card_has_the_numbers(guest: Client) -> None:
    data = guest.data("/x/web-interface/card", mid=DEMO.mid)
    assert data["card"]["mid"] == str(DEMO.mid)
    assert (data["follower"], data["like_num"]) == (DEMO.fans, DEMO.likes)
    assert data["archive_count"] == len(WORLD.uploads(DEMO))
    gone = WORLD.fixed_creator("gone").mid
    assert code(guest, "/x/web-interface/card", mid=gone) == -404


@pytest.mark.parametrize("order", ["pubdate", "click", "stow"])
def test_a_creators_videos_come_page_by_page(member: Client, order: str) -> None:
    user = WORLD.fixed_creator("prolific")
    rows: list[Json] = []
    for page in range(1, 5):
        data = member.data(UPLOADS, mid=user.mid, pn=page, ps=30, order=order)
        rows += data["list"]["vlist"]
    assert [row["bvid"] for row in rows] == [v.bvid for v in WORLD.uploads(user, order)]
    assert data["page"]["count"] == len(rows) == 95


def test_courses_stand_among_a_creators_videos(member: Client) -> None:
    rows = member.data(UPLOADS, mid=DEMO.mid, pn=1, ps=30)["list"]["vlist"]
    course = WORLD.fixed_video("course").bvid
    assert [row["bvid"] for row in rows if row["is_lesson_video"]] == [course]


def test_visitors_are_refused_on_space_endpoints_and_have_a_fallback(guest: Client) -> None:
    assert code(guest, UPLOADS, mid=DEMO.mid) == -352
    assert code(guest, "/x/space/wbi/acc/info", mid=DEMO.mid) == -352
    data = guest.data("/x/series/recArchivesByKeywords", mid=DEMO.mid, keywords="", ps=100, pn=1)
    assert [row["bvid"] for row in data["archives"]] == [
        video.bvid for video in WORLD.uploads(DEMO) if not video.course
    ]


def test_received_likes_are_for_members(member: Client, guest: Client) -> None:
    path = "/x/space/upstat"
    assert guest.data(path, mid=DEMO.mid) == {}
    assert member.data(path, mid=DEMO.mid)["likes"] == DEMO.likes


def test_members_of_a_collection_want_the_right_referer(member: Client) -> None:
    path = "/x/polymer/web-space/seasons_archives_list"
    data = member.data(path, mid=DEMO.mid, season_id=90210, page_num=1, page_size=30)
    assert [row["bvid"] for row in data["archives"]] == [WORLD.fixed_video("coop").bvid]
    query = f"{path}?mid={DEMO.mid}&season_id=90210"
    answer = json.loads(member.raw(API, query, Referer="https://example.com/")[2])
    assert answer["code"] == -352


# -- dynamics --------------------------------------------------------------------------------------


def feed(client: Client, mid: int, **params: Any) -> list[Json]:
    rows: list[Json] = []
    offset = ""
    while True:
        data = client.data(FEED, host_mid=mid, offset=offset, **params)
        rows += data["items"]
        offset = data["offset"]
        if not data["has_more"]:
            return rows


def test_dynamics_come_twelve_by_twelve_with_the_pinned_one_first(member: Client) -> None:
    rows = feed(member, DEMO.mid)
    assert [row["id_str"] for row in rows] == [str(d.id) for d in WORLD.feed(DEMO)]
    assert rows[0]["modules"]["module_tag"]["text"].strip() == "置顶"
    assert len(member.data(FEED, host_mid=DEMO.mid)["items"]) == 12


def test_originals_of_forwards_come_along_or_are_gone(member: Client) -> None:
    forwards = [row for row in feed(member, DEMO.mid) if row["type"] == "DYNAMIC_TYPE_FORWARD"]
    ids = {row["orig"]["id_str"] for row in forwards}
    assert None in ids
    assert len(ids) > 1


def test_the_style_of_pictures_depends_on_the_features(member: Client) -> None:
    def majors(**params: Any) -> set[str]:
        return {
            row["modules"]["module_dynamic"]["major"]["type"]
            for row in feed(member, DEMO.mid, **params)
            if row["type"] == "DYNAMIC_TYPE_DRAW"
        }

    assert majors() == {"MAJOR_TYPE_DRAW"}
    assert majors(features="itemOpusStyle") == {"MAJOR_TYPE_OPUS"}


def test_visitors_get_an_empty_feed_that_claims_to_have_more(guest: Client) -> None:
    data = guest.data(FEED, host_mid=DEMO.mid)
    assert (data["items"], data["has_more"]) == ([], True)


def test_an_opus_has_its_whole_text_and_pictures(member: Client) -> None:
    path = "/x/polymer/web-dynamic/v1/opus/detail"
    article = next(d for d in WORLD.feed(DEMO) if d.kind == "ARTICLE")
    item = member.data(path, id=article.id, features="htmlNewStyle")["item"]
    modules = {m["module_type"]: m for m in item["modules"]}
    paragraphs = modules["MODULE_TYPE_CONTENT"]["module_content"]["paragraphs"]
    assert [p["para_type"] for p in paragraphs] == [1, 1, 2, 3, 4, 5, 7, 1]
    assert member.data(path, id=article.id)["fallback"]["id"] == str(article.area.oid)
    drawing = next(d for d in WORLD.feed(DEMO) if d.kind == "DRAW")
    item = member.data(path, id=drawing.id)["item"]
    top = next(m for m in item["modules"] if m["module_type"] == "MODULE_TYPE_TOP")
    assert len(top["module_top"]["display"]["album"]["pics"]) == len(drawing.pictures)
    data = member.data("/x/article/view", id=article.area.oid)
    assert data["dyn_id_str"] == str(article.id)


# -- comments --------------------------------------------------------------------------------------


def comments(client: Client, area: Area, mode: int) -> tuple[list[Json], int]:
    """All rows (pinned ones included, as often as they come) and the number of pages."""
    rows: list[Json] = []
    offset, pages = "", 0
    while True:
        data = client.data(
            COMMENTS,
            type=area.type,
            oid=area.oid,
            mode=mode,
            plat=1,
            pagination_str=json.dumps({"offset": offset}, separators=(",", ":")),
        )
        pages += 1
        top = data["top"] or {}
        rows += [row for row in (top.get("upper"), *(data["top_replies"] or [])) if row]
        rows += data["replies"] or []
        cursor = data["cursor"]
        following = (cursor.get("pagination_reply") or {}).get("next_offset")
        if cursor["is_end"] or not following or following == offset or not data["replies"]:
            return rows, pages
        offset = following


def rpids(rows: list[Json]) -> list[int]:
    return list(dict.fromkeys(row["rpid"] for row in rows))


@pytest.mark.parametrize("mode", [2, 3])
@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("plain", 1),
        ("300-comments", 15),
        ("pinned-thrice", 3),
        ("endless", 2),
        ("empty-last-page", 3),
        ("no-comments", 1),
    ],
)
def test_all_comments_of_an_area_can_be_walked(
    member: Client, mode: int, name: str, pages: int
) -> None:
    area = WORLD.area_of(WORLD.fixed_video(name))
    rows, walked = comments(member, area, mode)
    truth = WORLD.comments(area, mode)
    assert rpids(rows) == [comment.rpid for comment in truth]
    # an offset that names itself is asked for once more by a client that looks at rows only
    assert walked == pages
    likes = [row["like"] for row in rows if not row["reply_control"].get("is_up_top")]
    if mode == 3:
        assert likes == sorted(likes, reverse=True)


def test_the_pinned_comment_comes_three_times(member: Client) -> None:
    area = WORLD.area_of(WORLD.fixed_video("pinned-thrice"))
    rows, _ = comments(member, area, 2)
    pinned = [row["rpid"] for row in rows if row["reply_control"].get("is_up_top")]
    assert len(pinned) == 3
    assert set(pinned) == {WORLD.comments(area)[0].rpid}


def test_visitors_get_three_comments_and_a_false_end(guest: Client, member: Client) -> None:
    area = WORLD.area_of(WORLD.fixed_video("300-comments"))
    rows, pages = comments(guest, area, 3)
    assert (len(rpids(rows)), pages) == (4, 1)
    data = guest.data(COMMENTS, type=1, oid=area.oid, mode=3)
    assert (data["cursor"]["is_end"], data["cursor"]["pagination_reply"]) == (True, {})
    assert data["cursor"]["all_count"] == area.shown > 300
    following = member.data(COMMENTS, type=1, oid=area.oid, mode=3)["cursor"]["pagination_reply"]
    offset = json.dumps({"offset": following["next_offset"]})
    second = guest.data(COMMENTS, type=1, oid=area.oid, mode=3, pagination_str=offset)
    assert (second["replies"], second["cursor"]["is_end"]) == (None, False)
    assert not any("location" in row["reply_control"] for row in rows)


@pytest.mark.parametrize(
    ("params", "same_as_first"),
    [
        ({"pagination_str": '{"offset":""}'}, True),
        ({"next": 2, "pagination_str": '{"offset":"{\\"data\\":{\\"pn\\":2}}"}'}, True),
        ({"pagination_str": '{"offset":"{\\"data\\":{\\"pn\\":2}}"}'}, False),
    ],
)
def test_a_wrong_offset_is_page_one_again(
    member: Client, params: Json, same_as_first: bool
) -> None:
    area = WORLD.area_of(WORLD.fixed_video("300-comments"))
    first = member.data(COMMENTS, type=1, oid=area.oid, mode=3)["replies"]
    asked = member.data(COMMENTS, type=1, oid=area.oid, mode=3, **params)["replies"]
    assert (first == asked) is same_as_first


def test_an_offset_that_is_no_text_is_refused(member: Client) -> None:
    oid = WORLD.fixed_video("300-comments").aid
    for wrong in ('{"type":1,"data":{"pn":2}}', '{"offset":{"data":{"pn":2}}}', "2"):
        assert code(member, COMMENTS, type=1, oid=oid, mode=3, pagination_str=wrong) == -400


def test_replies_come_twenty_by_twenty_and_may_repeat_behind_the_end(member: Client) -> None:
    area = WORLD.area_of(WORLD.fixed_video("300-comments"))
    for root in WORLD.comments(area)[:9]:
        rows: list[Json] = []
        page = 1
        while True:
            data = member.data(REPLIES, type=1, oid=area.oid, root=root.rpid, pn=page, ps=20)
            rows += data["replies"] or []
            if page * 20 >= data["page"]["count"] or not data["replies"]:
                break
            page += 1
        truth = WORLD.replies(area, root.root)
        assert rpids(rows) == [reply.rpid for reply in truth]
        assert data["root"]["rpid"] == root.rpid
        behind = member.data(REPLIES, type=1, oid=area.oid, root=root.rpid, pn=99, ps=20)
        repeated = behind["replies"] or []
        assert {row["rpid"] for row in repeated} <= {reply.rpid for reply in truth}


def test_comments_of_dynamics_lie_under_another_number(member: Client) -> None:
    for dynamic in WORLD.feed(DEMO):
        if dynamic.area.closed:
            continue
        rows, _ = comments(member, dynamic.area, 3)
        assert rpids(rows) == [comment.rpid for comment in WORLD.comments(dynamic.area)]
    picture = next(d for d in WORLD.feed(DEMO) if d.kind == "DRAW")
    assert code(member, COMMENTS, type=17, oid=picture.area.oid) == 12009
    assert code(member, COMMENTS, type=17, oid=picture.id) == 12009


def test_closed_comments_and_unknown_ones(member: Client) -> None:
    assert code(member, COMMENTS, type=1, oid=WORLD.fixed_video("comments-closed").aid) == 12002
    nowhere = WORLD.aid(WORLD.fixed_creator("silent").address << 8)
    assert code(member, COMMENTS, type=1, oid=nowhere) == -404
    oid = WORLD.fixed_video("plain").aid
    assert code(member, REPLIES, type=1, oid=oid, root=7) == 12022


def test_the_old_list_ends_at_page_400(member: Client) -> None:
    oid = WORLD.fixed_video("plain").aid
    assert code(member, "/x/v2/reply", type=1, oid=oid, pn=401, ps=20) == -400
    assert member.data("/x/v2/reply", type=1, oid=oid, pn=1, ps=20)["page"]["count"] == 12


# -- streams, subtitles, danmaku -------------------------------------------------------------------


def streams(client: Client, name: str, fnval: int = 4048) -> Json:
    video = WORLD.fixed_video(name)
    data: Json = client.data(PLAYURL, bvid=video.bvid, cid=video.parts[0].cid, fnval=fnval)
    return data


def fetch(client: Client, url: str, **headers: str) -> tuple[int, bytes]:
    parts = urlsplit(url)
    status, _, body = client.raw(parts.hostname or "", f"{parts.path}?{parts.query}", **headers)
    return status, body


def test_the_quality_depends_on_the_session(sandbox: RunningSandbox, member: Client) -> None:
    assert max(row["id"] for row in streams(member, "plain")["dash"]["video"]) == 80
    stranger = Client(sandbox, "none")
    assert max(row["id"] for row in streams(stranger, "plain")["dash"]["video"]) == 32
    video = WORLD.fixed_video("plain")
    visitor = Client(sandbox, "guest")
    _, _, body = visitor.raw(API, f"{PLAYURL}?bvid={video.bvid}&cid={video.parts[0].cid}")
    assert b"\xe9\x94\x99\xe8\xaf\xaf\xe5\x8f\xb7: 412" in body


def test_streams_are_the_files_of_the_world(member: Client) -> None:
    video = WORLD.fixed_video("multipart")
    files = {file.path: file for file in WORLD.files(video)}
    for part in video.parts:
        dash = member.data(PLAYURL, bvid=video.bvid, cid=part.cid, fnval=4048)["dash"]
        rows = [row for row in dash["video"] if (row["id"], row["codecid"]) == (80, 7)]
        rows += [row for row in dash["audio"] if row["id"] == 30280]
        for row in rows:
            blob = files[urlsplit(row["baseUrl"]).path].blob
            assert blob is not None
            for url in (row["baseUrl"], *row["backupUrl"]):
                status, body = fetch(member, url, Range="bytes=0-99", Cookie="")
                assert (status, body) == (206, blob.read(0, 100))


def test_a_stream_wants_a_referer_and_an_address_that_is_still_good(member: Client) -> None:
    url = streams(member, "plain")["dash"]["audio"][0]["baseUrl"]
    assert fetch(member, url)[0] == 200
    assert fetch(member, url, Referer="")[0] == 403
    assert fetch(member, url, Referer="https://example.com/")[0] == 403
    assert fetch(member, re.sub(r"deadline=\d+", "deadline=1700000000", url))[0] == 403
    assert fetch(member, url.partition("?")[0])[0] == 403
    member.sandbox.action("bilibili", "expire-media")
    assert fetch(member, url)[0] == 403
    assert fetch(member, streams(member, "plain")["dash"]["audio"][0]["baseUrl"])[0] == 200


def test_addresses_can_be_stale_when_they_arrive(member: Client) -> None:
    member.sandbox.action("bilibili", "expire-media", answers=2)
    for status in (403, 403, 200):
        assert fetch(member, streams(member, "plain")["dash"]["audio"][0]["baseUrl"])[0] == status


@pytest.mark.parametrize("stream", [DashVideo, DashAudio])
def test_a_stream_is_a_row_of_boxes_and_of_its_size(stream: type[DashVideo | DashAudio]) -> None:
    blob = stream("one", 200_000)
    whole = blob.read(0, blob.size)
    assert len(whole) == 200_000
    assert b"".join(blob.read(at, 7_777) for at in range(0, 200_000, 7_777)) == whole
    kinds, at = [], 0
    while at < len(whole):
        kinds.append(whole[at + 4 : at + 8])
        at += int.from_bytes(whole[at : at + 4], "big")
    assert (kinds, at) == ([b"ftyp", b"moov", b"moof", b"mdat", b"free"], len(whole))
    assert mark("one").encode() in whole
    assert stream("other", 200_000).sha256() != blob.sha256()


def test_one_file_answers_have_pieces(member: Client) -> None:
    piece = streams(member, "plain", fnval=1)["durl"][0]
    status, body = fetch(member, piece["url"])
    assert (status, len(body)) == (200, piece["size"])


def test_paid_videos_have_no_streams(member: Client) -> None:
    video = WORLD.fixed_video("paid")
    assert code(member, PLAYURL, bvid=video.bvid, cid=video.parts[0].cid) == 87008


def test_subtitles_are_for_members_and_sometimes_another_videos(
    member: Client, guest: Client
) -> None:
    video = WORLD.fixed_video("plain")
    part = video.parts[0]
    asked = {"aid": video.aid, "bvid": video.bvid, "cid": part.cid}
    hidden = guest.data("/x/player/wbi/v2", **asked)
    assert (hidden["need_login_subtitle"], hidden["subtitle"]["subtitles"]) == (True, [])
    rows = member.data("/x/player/wbi/v2", **asked)["subtitle"]["subtitles"]
    urls = {row["lan"]: row["subtitle_url"] for row in rows}
    for language in ("zh-CN", "ai-zh"):
        status, body = fetch(member, "https:" + urls[language])
        lines = [(row["from"], row["to"], row["content"]) for row in json.loads(body)["body"]]
        assert (status, lines) == (200, WORLD.subtitle_lines(part, language))
    assert fetch(member, "https:" + urls["ai-zh"].partition("?")[0])[0] == 403
    other = member.data("/x/player/v2", **asked | {"bvid": video.bvid})
    assert other["aid"] == WORLD.fixed_video("plain").aid


def test_danmaku_come_as_raw_deflate_and_as_segments(member: Client, guest: Client) -> None:
    video = max(
        (WORLD.video(bvid) for bvid in WORLD.search("露营")),
        key=lambda v: v.outline.danmaku if v and v.outline.status == "ok" else -1,
    )
    assert video
    part = video.parts[0]
    truth = WORLD.danmaku(video, part)
    assert len(truth) > 3
    _, headers, body = member.raw("comment.bilibili.com", f"/{part.cid}.xml")
    assert headers["Content-Encoding"] == "deflate"
    page = zlib.decompress(body, -zlib.MAX_WBITS).decode()
    assert [int(i) for i in re.findall(r'<d p="(?:[^",]*,){7}(\d+),', page)] == [
        row.id for row in truth
    ]
    query = f"/x/v2/dm/web/seg.so?type=1&oid={part.cid}&pid={video.aid}&segment_index="
    sizes = {}
    for client in (member, guest):
        bodies = [client.raw(API, f"{query}{n}")[2] for n in range(1, part.seconds // 360 + 2)]
        sizes[client] = sum(body.count(b"future") for body in bodies)
    assert sizes[member] == len(truth)
    assert sizes[guest] < len(truth)


def test_pictures_are_the_size_that_was_told(member: Client) -> None:
    drawing = next(d for d in WORLD.feed(DEMO) if d.kind == "DRAW")
    image = drawing.pictures[0]
    status, _, body = member.raw("i0.hdslb.com", image.path)
    assert status == 200
    assert image.path.encode() in body
    assert member.raw("i0.hdslb.com", image.path, Referer="https://example.com/")[0] == 403
    assert member.raw("i0.hdslb.com", "/bfs/archive/" + "0" * 40 + ".jpg")[0] == 404


# -- short links and faults ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "target"),
    [
        ("video plain", f"https://www.bilibili.com/video/{WORLD.fixed_video('plain').bvid}"),
        ("creator demo", f"https://space.bilibili.com/{DEMO.mid}"),
        ("foreign", "https://www.example.com/video/"),
    ],
)
def test_short_links_lead_on_with_tracking(member: Client, what: str, target: str) -> None:
    status, headers, _ = member.raw("b23.tv", "/" + WORLD.short_code(what), Cookie="")
    assert status == 302
    assert headers["Location"].startswith(target)
    assert "share_session_id" in headers["Location"]


def test_a_dead_short_link_answers_json(member: Client) -> None:
    status, _, body = member.raw("b23.tv", "/zzzzzzz")
    assert (status, json.loads(body)["code"]) == (200, -404)


@pytest.mark.parametrize(
    ("kind", "args", "status", "words"),
    [
        ("412", {}, 412, "错误号: 412"),
        ("412-json", {}, 412, "-412"),
        ("412-challenge", {}, 412, "412.js"),
        ("voucher", {}, 200, "v_voucher"),
        ("riskdata", {}, 200, "_riskdata_"),
        ("-352", {}, 200, "v_voucher"),
        ("-799", {}, 200, "-799"),
        ("12002", {}, 200, "12002"),
        ("code", {"code": -503}, 200, "-503"),
    ],
)
def test_every_refusal_can_be_ordered(
    member: Client, kind: str, args: Json, status: int, words: str
) -> None:
    member.sandbox.fault(kind, path=VIEW, times=1, args=args)
    target = f"{VIEW}?bvid={WORLD.fixed_video('plain').bvid}"
    first, _, body = member.raw(API, target)
    assert first == status
    assert words in body.decode()
    assert json.loads(member.raw(API, target)[2])["code"] == 0


def test_rows_can_be_withheld_silently(member: Client) -> None:
    member.sandbox.fault("empty-rows", path=COMMENTS, times=1)
    oid = WORLD.fixed_video("plain").aid
    assert member.data(COMMENTS, type=1, oid=oid)["replies"] is None
    assert member.data(COMMENTS, type=1, oid=oid)["replies"]


def test_the_overview_names_the_documented_things(sandbox: RunningSandbox) -> None:
    overview = json.dumps(sandbox.control(""))
    for fixed in FIXED_VIDEOS:
        assert WORLD.fixed_video(fixed.name).bvid in overview
    assert str(DEMO.mid) in overview


def test_dice_do_not_depend_on_when_they_are_asked() -> None:
    videos = [WORLD.fixed_video(fixed.name) for fixed in FIXED_VIDEOS]
    fresh = World()
    random.Random(1).shuffle(videos)
    for video in videos:
        assert fresh.video(video.bvid) == video
    assert datetime.fromtimestamp(fresh.now, WORLD_NOW.tzinfo) == WORLD_NOW
