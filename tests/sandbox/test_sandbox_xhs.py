"""XHS in the sandbox over real HTTP, compared with what the seeded world says."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from xhs_client import EDITH, SO, V1, V2, WWW, Client, query_of

from sandbox.core import WORLD_NOW
from sandbox.testing import ROOT, RunningSandbox
from sandbox.xhs import FIXED_CREATORS, FIXED_NOTES, World
from sandbox.xhs.world import best_stream, corner_tag

WORLD = World(seed=1)
SEARCH_ID = "2foewre5q6z7ry0cr162n"
FIXED = {fixed.name: WORLD.fixed_note(fixed.name) for fixed in FIXED_NOTES}


@pytest.fixture
def member(sandbox: RunningSandbox) -> Client:
    return Client(sandbox)


def token_of(name: str) -> str:
    return WORLD.token(FIXED[name].id)


def state_of(html: str) -> Any:
    """The state of a page, read the way a careful client does."""
    literal = html.split("window.__INITIAL_STATE__=", 1)[1].split("</script>", 1)[0]
    pieces = re.split(r'("(?:[^"\\]|\\.)*")', literal)
    pieces[::2] = [piece.replace("undefined", "null") for piece in pieces[::2]]
    return json.loads("".join(pieces))


def page(sandbox: RunningSandbox, target: str, cookie: str = "", **headers: str) -> str:
    status, _headers, body = sandbox.request(WWW, target, headers={"cookie": cookie, **headers})
    assert status == 200
    return body.decode("utf-8")


def location(sandbox: RunningSandbox, host: str, target: str, cookie: str = "") -> str:
    status, headers, _body = sandbox.request(host, target, headers={"cookie": cookie})
    assert status in (301, 302, 307)
    found = headers["Location"]
    assert isinstance(found, str)
    return found


# -- the world ------------------------------------------------------------------------------------


def test_the_same_seed_is_the_same_world_and_another_is_not() -> None:
    assert World(1).search("露营") == WORLD.search("露营")
    assert World(2).search("露营") != WORLD.search("露营")


def test_the_docs_name_the_fixed_notes_creators_and_sessions(sandbox: RunningSandbox) -> None:
    docs = (ROOT / "docs" / "sandbox.md").read_text("utf-8")
    other = World(seed=99)
    for name, note in FIXED.items():
        assert f"| `{name}` | `{note.id}` |" in docs
        assert other.fixed_note(name).id == note.id
    for name in FIXED_CREATORS:
        assert f"| `{name}` | `{WORLD.fixed_creator(name).id}` |" in docs
    assert WORLD.short_link(FIXED["image"].id) in docs
    assert sandbox.cookies("member").split("web_session=")[1].split(";")[0] in docs
    told = sandbox.control("")["platforms"]["xhs"]
    assert all(f"`{kind}`" in docs for kind in [*told["faults"], *told["actions"]])


def test_the_demo_keyword_finds_exactly_the_fixed_notes() -> None:
    assert set(WORLD.search("演示")) == {note.id for note in FIXED.values()}


def test_any_keyword_finds_the_number_of_notes_that_was_asked_for() -> None:
    world = World(1, posts=37)
    assert {len(set(world.search(k))) for k in ("露营", "量子力学", "a b")} == {37}


@pytest.mark.parametrize("keyword", ["无结果", "empty", "empty shelf", ""])
def test_some_keywords_find_nothing(keyword: str) -> None:
    assert WORLD.search(keyword) == []


def test_more_posts_keep_the_ids_of_fewer() -> None:
    few, many = World(1, posts=20), World(1, posts=200)
    assert set(few.search("露营")) <= set(many.search("露营"))


def test_a_large_world_is_addressed_without_being_built() -> None:
    world = World(1, posts=20_000, search_cap=0)
    ids = world.search("露营", sort="time_descending")
    assert len(set(ids)) == 20_000
    fresh = World(1)
    for note_id in ids[::4999]:
        note = fresh.note(note_id)
        assert note is not None
        assert note.id == note_id


def test_ids_look_as_they_should_and_start_with_the_time() -> None:
    for note_id in WORLD.search("咖啡"):
        note = WORLD.note(note_id)
        assert note is not None
        assert re.fullmatch("[0-9a-f]{24}", note_id)
        assert 0 <= note.time // 1000 - int(note_id[:8], 16) < 90
        assert re.fullmatch("[0-9a-f]{24}", note.author.id)


@pytest.mark.parametrize(
    "note_id", ["6b0cae37000002592bd7a1c1", "ffffffffffffffffffffffff", "x" * 24, "", "12"]
)
def test_made_up_ids_belong_to_nothing(note_id: str) -> None:
    assert WORLD.note(note_id) is None
    assert WORLD.user(note_id) is None
    assert WORLD.status(note_id) == "unknown"


def test_every_note_of_a_search_is_in_its_authors_list_unless_it_is_gone() -> None:
    for note_id in WORLD.search("旅行"):
        note = WORLD.note(note_id)
        assert note is not None
        listed = note_id in WORLD.creator_notes(note.author.id)
        assert listed is (note.status in ("ok", "unavailable"))


def test_a_world_has_all_kinds_of_notes() -> None:
    world = World(1, posts=600, search_cap=0)
    notes = [world.note(i) for i in world.search("露营")]
    found = [note for note in notes if note is not None]
    assert {note.status for note in found} == {"ok", "deleted", "private", "unavailable"}
    assert {note.kind for note in found} == {"normal", "video"}
    assert {note.outline.video for note in found} == {"", "origin", "buckets", "plain"}
    assert any(not note.title for note in found)
    assert any(not note.desc for note in found)
    assert any(note.edited > note.time for note in found)
    assert any(picture.live for note in found for picture in note.pictures)
    assert any(note.outline.roots == 0 for note in found)
    assert all(note.edited <= WORLD.now * 1000 for note in found)


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(seconds=20), "刚刚"),
        (timedelta(minutes=5), "5分钟前"),
        (timedelta(hours=2, seconds=1), "2小时前"),
        (timedelta(hours=2), "今天 10:00"),
        (timedelta(hours=13, minutes=27), "昨天 22:33"),
        (timedelta(days=3), "3天前"),
        (timedelta(days=40), "10-21"),
        (timedelta(days=400), "2025-10-26"),
    ],
)
def test_corner_tags_tell_the_time_in_beijing(age: timedelta, text: str) -> None:
    now = int(WORLD_NOW.timestamp())
    assert corner_tag(now - int(age.total_seconds()), now) == text


# -- signatures -----------------------------------------------------------------------------------

SELF = f"{V1}/user/selfinfo"
COMMENT_PARAMS = {
    "note_id": FIXED["image"].id,
    "cursor": "",
    "image_formats": "jpg,webp,avif",
    "xsec_token": WORLD.token(FIXED["image"].id),
}
COMMENT_TARGET = f"{V2}/comment/page?{query_of(COMMENT_PARAMS)}"
FEED_BODY = {"source_note_id": FIXED["image"].id, "xsec_token": token_of("image")}


def _get_as_sent(client: Client, target: str, **changes: str | None) -> None:
    headers: dict[str, Any] = client.signed(f"{V2}/comment/page", params=COMMENT_PARAMS)
    headers |= changes
    client.send(EDITH, target, {k: v for k, v in headers.items() if v is not None})


def _post_as_sent(client: Client, body: bytes, *, rap: bool = True, **changes: str) -> None:
    headers = client.signed(f"{V1}/feed", payload=FEED_BODY, x_rap=rap)
    client.send(EDITH, f"{V1}/feed", headers | changes, body)


def _stale(client: Client) -> None:
    old = client.signed(SELF, params={}, timestamp=1_700_000_000)
    client.send(EDITH, SELF, old)


def _other_a1(client: Client) -> None:
    other = Client(client.sandbox, "member-2")
    headers = client.signed(SELF, params={}) | {"cookie": other.cookie}
    client.send(EDITH, SELF, headers)


def _other_common(client: Client) -> None:
    headers = client.signed(SELF, params={})
    other = Client(client.sandbox, "member-2").signed(SELF, params={})
    client.send(EDITH, SELF, headers | {"x-s-common": other["x-s-common"]})


def _xyw_for_another_url(client: Client) -> None:
    headers = client.signed(f"{V1}/user/otherinfo", params={}, sign_format="xyw")
    client.send(EDITH, SELF, headers)


GOOD_BODY = json.dumps(FEED_BODY, separators=(",", ":")).encode()
PLUS_TARGET = COMMENT_TARGET.replace("cursor=", "cursor=+")


@pytest.mark.parametrize(
    ("mistake", "reason"),
    [
        (lambda c: _get_as_sent(c, COMMENT_TARGET.replace(",", "%2C")), "xs_content"),
        (lambda c: _get_as_sent(c, PLUS_TARGET), "xs_content"),
        (lambda c: _get_as_sent(c, COMMENT_TARGET.replace("%3D", "=")), "xs_content"),
        (lambda c: _get_as_sent(c, COMMENT_TARGET.split("?")[0]), "xs_content"),
        (lambda c: _get_as_sent(c, COMMENT_TARGET, cookie="web_session=0400aaaaaaaaaa"), "no_a1"),
        (lambda c: _get_as_sent(c, COMMENT_TARGET, cookie="a1=short"), "a1_length"),
        (lambda c: _get_as_sent(c, COMMENT_TARGET, **{"x-s": None}), "no_x_s"),
        (lambda c: _get_as_sent(c, COMMENT_TARGET, **{"x-t": None}), "no_x_t"),
        (lambda c: _get_as_sent(c, COMMENT_TARGET, **{"x-s-common": None}), "no_x_s_common"),
        (lambda c: _get_as_sent(c, COMMENT_TARGET, **{"x-s": "XYZ_abc"}), "xs_prefix"),
        (lambda c: _get_as_sent(c, COMMENT_TARGET, **{"x-s": "XYS_abc"}), "xs_format"),
        (lambda c: _get_as_sent(c, COMMENT_TARGET, **{"x-s": "XYW_abc"}), "xyw_format"),
        (lambda c: _get_as_sent(c, COMMENT_TARGET, **{"x-t": "soon"}), "xt_format"),
        (lambda c: _get_as_sent(c, COMMENT_TARGET, **{"x-s-common": "abcd"}), "common_format"),
        (_stale, "xt_stale"),
        (_other_a1, "xs_a1"),
        (_other_common, "common_a1"),
        (_xyw_for_another_url, "xyw_content"),
        (lambda c: _post_as_sent(c, json.dumps(FEED_BODY).encode()), "xs_content"),
        (lambda c: _post_as_sent(c, GOOD_BODY, rap=False), "no_x_rap_param"),
        (lambda c: _post_as_sent(c, GOOD_BODY, **{"x-rap-param": "ByQB"}), "rap_format"),
    ],
)
def test_a_wrong_signature_is_refused_and_the_counters_say_why(
    member: Client, mistake: Callable[[Client], None], reason: str
) -> None:
    mistake(member)
    assert member.last[0] == 406
    assert member.sandbox.stats()["bad_signatures"] == {reason: 1}


def test_the_refusal_has_the_documented_body(member: Client) -> None:
    assert member.send(EDITH, SELF, {"cookie": member.cookie}) == {"code": -1, "success": False}


def test_good_signatures_of_both_formats_pass(member: Client) -> None:
    for form in ("xys", "xyw"):
        assert member.get(SELF, sign_format=form)["success"] is True
    keyword = {"keyword": "露营 a/b+c&d"}
    assert member.get(f"{V1}/search/recommend", keyword)["code"] == 1000
    assert member.sandbox.stats()["bad_signatures"] == {}


def test_a_session_counts_characters_and_passes_too(member: Client) -> None:
    from xhshow import SessionManager

    headers = member.signed(
        f"{V2}/search/notes", payload={"keyword": "露营"}, session=SessionManager()
    )
    body = '{"keyword":"露营"}'.encode()
    assert member.send(SO, f"{V2}/search/notes", headers, body)["code"] == 0


def test_strict_replay_refuses_a_used_signature_and_takes_a_fresh_one() -> None:
    with RunningSandbox("--only", "xhs", "--strict-replay") as sandbox:
        client = Client(sandbox)
        headers = client.signed(SELF, params={})
        answers = [client.send(EDITH, SELF, headers)["success"] for _ in range(2)]
        assert answers == [True, False]
        assert client.get(SELF)["success"] is True
        assert sandbox.stats()["bad_signatures"] == {"replayed": 1}


def test_no_verify_and_the_rap_switch_let_simple_clients_in() -> None:
    with RunningSandbox("--only", "xhs", "--no-verify") as sandbox:
        client = Client(sandbox)
        assert client.send(EDITH, SELF, {"cookie": client.cookie})["success"] is True
    with RunningSandbox("--only", "xhs", "-o", "xhs.rap=off") as sandbox:
        client = Client(sandbox)
        _post_as_sent(client, GOOD_BODY, rap=False)
        assert client.last[0] == 200


# -- sessions -------------------------------------------------------------------------------------

SEARCH, COMMENTS, DETAIL, ME = "search", "comments", "detail", "me"


def ask(client: Client, what: str) -> int:
    note = FIXED["video-origin"]  # one of those that a guest may open
    answers = {
        SEARCH: lambda: client.search("露营"),
        COMMENTS: lambda: client.comments(note.id, WORLD.token(note.id)),
        DETAIL: lambda: client.detail(note.id, WORLD.token(note.id)),
        ME: lambda: client.get(f"{V2}/user/me"),
    }
    code = answers[what]()["code"]
    assert isinstance(code, int)
    return code


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("member", {SEARCH: 0, COMMENTS: 0, DETAIL: 0, ME: 0}),
        ("member-2", {SEARCH: 0, COMMENTS: 0, DETAIL: 0, ME: 0}),
        ("guest", {SEARCH: -104, COMMENTS: -104, DETAIL: 0, ME: 0}),
        ("expired", {SEARCH: -100, COMMENTS: -100, DETAIL: -100, ME: -100}),
        ("none", {SEARCH: -101, COMMENTS: -101, DETAIL: -101, ME: -101}),
        ("flagged", {SEARCH: 300011, COMMENTS: 300011, DETAIL: 300011, ME: 300011}),
    ],
)
def test_what_a_session_may_do(
    sandbox: RunningSandbox, kind: str, expected: dict[str, int]
) -> None:
    client = Client(sandbox, kind)
    assert {what: ask(client, what) for what in expected} == expected


def test_ready_cookies_are_whole(member: Client) -> None:
    from sandbox.xhs.signature import a1_is_whole

    assert a1_is_whole(member.cookies["a1"])
    assert member.cookies["webId"] == hashlib.md5(member.cookies["a1"].encode()).hexdigest()
    other = Client(member.sandbox, "member-2")
    assert other.cookies["web_session"] != member.cookies["web_session"]


def test_me_tells_member_and_guest_apart(sandbox: RunningSandbox, member: Client) -> None:
    data = member.get(f"{V2}/user/me")["data"]
    assert data["guest"] is False
    assert WORLD.user(data["user_id"]) is not None
    guest = Client(sandbox, "guest").get(f"{V2}/user/me")["data"]
    assert guest["guest"] is True
    assert member.get(SELF)["data"]["result"]["success"] is True


def test_activate_gives_a_guest_session_that_works(sandbox: RunningSandbox) -> None:
    client = Client(sandbox, "none")
    data = client.post(f"{V1}/login/activate", {})["data"]
    cookie = client.last[1]["Set-Cookie"]
    assert cookie.startswith(f"web_session={data['session']};")
    assert "Domain=.xiaohongshu.com" in cookie
    client.cookie += f"; web_session={data['session']}"
    assert client.get(f"{V2}/user/me")["data"] == {"guest": True, "user_id": data["user_id"]}


def test_a_session_can_be_ended_while_it_is_used(member: Client) -> None:
    account = Client(member.sandbox, "member-3")
    session = account.cookies["web_session"]
    account.sandbox.action("xhs", "set-session", web_session=session, kind="expired")
    assert ask(account, ME) == -100
    assert ask(member, ME) == 0


# -- search ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("keyword", ["露营", "咖啡", "没有人写过的词"])
def test_pages_are_those_of_the_world(member: Client, keyword: str) -> None:
    pages = member.search_all(keyword, search_id=SEARCH_ID)
    assert pages == WORLD.search_pages(keyword, search_id=SEARCH_ID)
    assert all(len(one) == 20 for one in pages[:-1])
    assert {i for one in pages for i in one} == set(WORLD.search(keyword))


def test_a_known_keyword_repeats_a_note_on_the_next_page(member: Client) -> None:
    first, second, *_rest = member.search_all("露营")
    assert set(first) & set(second)


def test_the_page_after_the_last_has_no_items(member: Client) -> None:
    assert member.search("露营", 99)["data"] == {"has_more": False}
    assert member.search("无结果")["data"] == {"has_more": False}


def test_a_search_ends_at_220_notes() -> None:
    with RunningSandbox("--only", "xhs", "--posts", "400") as sandbox:
        pages = Client(sandbox).search_all("露营")
        assert [len(one) for one in pages] == [20] * 11


def test_every_page_carries_cards_that_are_no_notes(member: Client) -> None:
    for number in (1, 2, 3):
        items = member.search("露营", number)["data"]["items"]
        others = [item for item in items if item["model_type"] != "note"]
        assert 1 <= len(others) <= 2
        for item in others:
            assert "note_card" not in item
            assert re.fullmatch(r"[0-9a-f-]{36}#\d{13}", item["id"])


def test_another_search_id_ranks_anew(member: Client) -> None:
    one = member.search_all("露营", search_id="a" * 21)
    other = member.search_all("露营", search_id="b" * 21)
    assert one != other
    assert {i for p in one for i in p} == {i for p in other for i in p}
    assert one == member.search_all("露营", search_id="a" * 21)


def _outline(note_id: str) -> Any:
    note = WORLD.note(note_id)
    assert note is not None
    return note.outline


@pytest.mark.parametrize("where", ["top", "filter"])
@pytest.mark.parametrize(
    ("sort", "key"),
    [
        ("time_descending", "time"),
        ("popularity_descending", "likes"),
        ("comment_descending", "comments"),
        ("collect_descending", "collects"),
    ],
)
def test_sorts_are_applied(member: Client, sort: str, key: str, where: str) -> None:
    how: dict[str, Any] = {"sort": sort} if where == "top" else {"filters": {"sort_type": sort}}
    pages = member.search_all("咖啡", **how)
    ids = list(dict.fromkeys(i for one in pages for i in one))
    values = [getattr(_outline(i), key) for i in ids]
    assert len(values) == 60
    assert ids == WORLD.search("咖啡", sort=sort)
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(
    ("how", "keeps"),
    [
        ({"note_type": 1}, lambda o: o.video),
        ({"note_type": 2}, lambda o: not o.video),
        ({"filters": {"filter_note_type": "视频笔记"}}, lambda o: o.video),
        ({"filters": {"filter_note_type": "普通笔记"}}, lambda o: not o.video),
        ({"filters": {"filter_note_time": "一天内"}}, lambda o: WORLD.now - o.time <= 86400),
        ({"filters": {"filter_note_time": "一周内"}}, lambda o: WORLD.now - o.time <= 604800),
        (
            {"filters": {"filter_note_time": "半年内"}},
            lambda o: WORLD.now - o.time <= 182 * 86400,
        ),
        ({"filters": {"filter_note_time": "不限", "filter_note_range": "未看过"}}, lambda o: True),
        ({"filters": {"filter_note_range": "已关注"}}, lambda o: False),
    ],
)
def test_filters_are_applied(
    member: Client, how: dict[str, Any], keeps: Callable[[Any], bool]
) -> None:
    found = {i for one in member.search_all("露营", **how) for i in one}
    assert found == {i for i in WORLD.search("露营") if keeps(_outline(i))}


def test_cards_have_the_documented_shape(member: Client) -> None:
    items = member.search("露营")["data"]["items"]
    for item in (item for item in items if item["model_type"] == "note"):
        card = item["note_card"]
        note = WORLD.note(item["id"])
        assert note is not None
        assert set(item) == {"id", "model_type", "note_card", "xsec_token"}
        assert WORLD.token_fits(note.id, item["xsec_token"])
        assert card["user"]["nickname"] == card["user"]["nick_name"] == note.author.nickname
        assert set(card["interact_info"]) == {
            "liked",
            "liked_count",
            "collected",
            "collected_count",
            "comment_count",
            "shared_count",
        }
        assert all(
            isinstance(v, str) for k, v in card["interact_info"].items() if k.endswith("_count")
        )
        assert ("display_title" in card) is bool(note.title)
        assert not {"time", "desc", "tag_list"} & set(card)
        assert card["corner_tag_info"][0]["type"] == "publish_time"
        assert len(card["image_list"]) == len(note.pictures)


def test_the_old_search_lives_on_edith_and_needs_rap(member: Client) -> None:
    payload = {"keyword": "露营", "page": 1, "page_size": 20, "search_id": SEARCH_ID}
    data = member.post(f"{V1}/search/notes", payload, x_rap=True)["data"]
    ids = [i["id"] for i in data["items"] if i["model_type"] == "note"]
    assert ids == WORLD.search_pages("露营", search_id=SEARCH_ID)[0]
    member.post(f"{V2}/search/notes", payload)
    assert member.last[0] == 404
    member.post(f"{V1}/search/notes", payload, host=SO, x_rap=True)
    assert member.last[0] == 404


def test_the_international_twin_answers_the_same(member: Client) -> None:
    payload = {"keyword": "露营", "page": 1, "page_size": 20, "search_id": SEARCH_ID}
    answer = member.post(f"{V1}/search/notes", payload, host="webapi.rednote.com", x_rap=True)
    assert len(answer["data"]["items"]) > 20
    creator = WORLD.fixed_creator("demo")
    status, _headers, body = member.sandbox.request(
        "www.rednote.com", f"/user/profile/{creator.id}"
    )
    assert status == 200
    assert creator.nickname in body.decode()


@pytest.mark.parametrize(
    ("call", "code", "key"),
    [
        (lambda c: c.get(f"{V1}/search/recommend", {"keyword": "露营"}), 1000, "sug_items"),
        (lambda c: c.get(f"{V1}/search/querytrending"), 1000, "queries"),
        (lambda c: c.get(f"{V1}/search/filter", {"keyword": "露营"}), 0, "filters"),
        (lambda c: c.get(f"{V1}/homefeed/category"), 0, "categories"),
        (lambda c: c.get("/api/im/redmoji/detail"), 0, "emoji"),
        (
            lambda c: c.post(
                f"{V1}/search/usersearch",
                {"search_user_request": {"keyword": "露营", "page": 1, "page_size": 15}},
            ),
            1000,
            "users",
        ),
    ],
)
def test_side_endpoints(
    member: Client, call: Callable[[Client], dict[str, Any]], code: int, key: str
) -> None:
    answer = call(member)
    assert (answer["code"], answer["success"]) == (code, True)
    assert answer["data"][key]


def test_the_home_feed_goes_on_from_its_cursor_as_a_string(member: Client) -> None:
    def feed(cursor: Any) -> dict[str, Any]:
        payload = {"cursor_score": cursor, "num": 20, "category": "homefeed_recommend"}
        data: dict[str, Any] = member.post(f"{V1}/homefeed", payload, x_rap=True)["data"]
        return data

    first = feed("")
    assert re.fullmatch(r"\d\.\d{16}E9", first["cursor_score"])
    second = feed(first["cursor_score"])
    ids = [{item["id"] for item in data["items"]} for data in (first, second)]
    assert len(ids[0]) >= 15
    assert not ids[0] & ids[1]
    assert feed(float(first["cursor_score"]))["items"][0]["id"] == first["items"][0]["id"]


# -- detail ---------------------------------------------------------------------------------------


def card_of(client: Client, name: str) -> dict[str, Any]:
    data = client.detail(FIXED[name].id, token_of(name))["data"]
    card: dict[str, Any] = data["items"][0]["note_card"]
    assert card["note_id"] == data["items"][0]["id"] == FIXED[name].id
    return card


def test_a_detail_says_what_the_world_says(member: Client) -> None:
    note = FIXED["image"]
    card = card_of(member, "image")
    assert card["type"] == "normal"
    assert (card["title"], card["desc"]) == (note.title, note.desc)
    assert (card["time"], card["last_update_time"]) == (note.time, note.edited)
    assert note.edited > note.time
    assert card["user"]["user_id"] == note.author.id
    assert card["interact_info"]["share_count"].isdigit()
    assert "shared_count" not in card["interact_info"]
    assert [tag["name"] for tag in card["tag_list"] if tag["type"] == "topic"] == list(note.topics)
    assert [picture["url"] for picture in card["image_list"]] == [""] * 4
    assert card["image_list"][0]["stream"] == {}


def test_picture_addresses_are_fresh_at_each_call(member: Client) -> None:
    urls = [card_of(member, "image")["image_list"][0]["url_default"] for _ in range(2)]
    assert urls[0] != urls[1]
    pattern = r"http://sns-webpic-qc\.xhscdn\.com/\d{12}/[0-9a-f]{32}/.+!nd_dft_\w+"
    assert all(re.fullmatch(pattern, url) for url in urls)


@pytest.mark.parametrize(
    ("name", "consumer", "buckets"),
    [
        ("video-origin", True, {"h264", "h265"}),
        ("video-buckets", False, {"h264", "h265", "EF5"}),
        ("video-plain", False, {"h264", "h265"}),
        ("video-missing", False, set()),
    ],
)
def test_videos_come_in_every_form(
    member: Client, name: str, consumer: bool, buckets: set[str]
) -> None:
    video = card_of(member, name)["video"]
    assert ("consumer" in video) is consumer
    stream = video["media"]["stream"]
    assert {bucket for bucket, entries in stream.items() if entries} == buckets
    assert video["media"]["video_id"] > 2**53
    if name in ("video-origin", "video-buckets"):
        assert stream["h264"][0]["stream_desc"].startswith("WM_")
    if name == "video-buckets":
        assert stream["av1"] is None
        assert "subtitles" in json.loads(video["media_v2"])["video"]


def test_live_photos_have_clips_and_some_have_only_the_flag(member: Client) -> None:
    pictures = card_of(member, "live-photo")["image_list"]
    assert [picture["live_photo"] for picture in pictures] == [True, True, True]
    assert [bool(picture["stream"]) for picture in pictures] == [True, False, True]


@pytest.mark.parametrize(
    ("name", "code"), [("deleted", -510001), ("private", -510001), ("unavailable", 300031)]
)
def test_notes_that_cannot_be_opened_say_why(member: Client, name: str, code: int) -> None:
    assert member.detail(FIXED[name].id, token_of(name))["code"] == code
    assert member.comments(FIXED[name].id, token_of(name))["code"] == code


@pytest.mark.parametrize(
    "token", ["", "nonsense", WORLD.token(FIXED["video-origin"].id), "AB" + "x" * 43 + "="]
)
def test_a_token_of_nothing_or_of_another_note_opens_nothing(member: Client, token: str) -> None:
    note_id = FIXED["image"].id
    answer = member.detail(note_id, token)
    assert (answer["code"], answer["success"], answer["data"]["items"]) == (0, True, [])
    assert member.comments(note_id, token)["code"] == 300017


def test_a_token_from_the_app_fits_and_all_tokens_can_be_outlived() -> None:
    with RunningSandbox("--only", "xhs") as sandbox:
        client = Client(sandbox)
        note_id = FIXED["image"].id
        token = WORLD.token(note_id, "share", "CB")
        assert client.detail(note_id, token)["data"]["items"]
        sandbox.action("xhs", "expire-tokens")
        assert client.detail(note_id, token)["data"]["items"] == []
        assert client.comments(note_id, token)["code"] == 300017


def test_an_id_that_never_was_is_not_found(member: Client) -> None:
    assert member.detail("6b0cae37000002592bd7a1c1", token_of("image"))["code"] == -510000


# -- comments -------------------------------------------------------------------------------------


def all_comments(client: Client, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = ""
    while True:
        data = client.comments(FIXED[name].id, token_of(name), cursor)["data"]
        assert len(data["comments"]) <= 10
        found += data["comments"]
        cursor = data["cursor"]
        if not data["has_more"]:
            return found
        assert cursor == data["comments"][-1]["id"]


def all_replies(
    client: Client, name: str, root: dict[str, Any], **how: Any
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = how.pop("cursor", "")
    while True:
        data = client.replies(FIXED[name].id, root["id"], token_of(name), cursor, **how)["data"]
        found += data["comments"]
        cursor = data["cursor"]
        if not data["has_more"]:
            return found


def test_a_walk_gives_every_comment_once_and_in_the_worlds_order(member: Client) -> None:
    note = FIXED["300-comments"]
    found = all_comments(member, "300-comments")
    truth = WORLD.comments(note.id)
    assert [c["id"] for c in found] == [c.id for c in truth]
    assert len({c["id"] for c in found}) == 300
    assert [c["content"] for c in found] == [c.text for c in truth]
    assert found[0]["show_tags"][-1] == "user_top"
    assert not any("user_top" in c["show_tags"] for c in found[1:])


def test_comments_have_the_documented_shape(member: Client) -> None:
    found = all_comments(member, "300-comments")
    assert any("pictures" in c for c in found)
    assert any("ip_location" not in c for c in found)
    assert any(c["at_users"] is None for c in found)
    assert any(c["status"] == -2 for c in found)
    for comment in found:
        assert isinstance(comment["like_count"], str)
        assert isinstance(comment["sub_comment_count"], str)
        assert isinstance(comment["create_time"], int)
        inline = comment["sub_comments"]
        assert len(inline) == min(1, int(comment["sub_comment_count"]))
        assert comment["sub_comment_cursor"] == (inline[-1]["id"] if inline else "")
        assert comment["sub_comment_has_more"] is (int(comment["sub_comment_count"]) > 1)
        assert comment["create_time"] // 1000 == int(comment["id"][:8], 16)
    assert "target_comment" not in found[0]


@pytest.mark.parametrize("num", [10, 30, 50])
def test_replies_go_on_after_the_inline_one(member: Client, num: int) -> None:
    root = all_comments(member, "300-comments")[0]
    truth = [c.id for c in WORLD.replies(FIXED["300-comments"].id, root["id"])]
    assert len(truth) == 45
    whole = [c["id"] for c in all_replies(member, "300-comments", root, num=num)]
    rest = [
        c["id"]
        for c in all_replies(
            member, "300-comments", root, num=num, cursor=root["sub_comment_cursor"]
        )
    ]
    assert whole == truth
    assert rest == truth[1:]
    page = member.replies(FIXED["300-comments"].id, root["id"], token_of("300-comments"), num=num)
    assert len(page["data"]["comments"]) == min(num, 30)


def test_replies_answer_the_root_or_another_reply_of_the_same_thread(member: Client) -> None:
    root = all_comments(member, "300-comments")[0]
    replies = all_replies(member, "300-comments", root)
    thread = {root["id"], *(reply["id"] for reply in replies)}
    targets = [reply["target_comment"]["id"] for reply in replies]
    assert set(targets) <= thread
    assert root["id"] in targets
    assert any(target != root["id"] for target in targets)
    assert "sub_comments" not in replies[0]
    times = [reply["create_time"] for reply in replies]
    assert times == sorted(times)


def test_a_note_without_comments_says_so(member: Client) -> None:
    data = member.comments(FIXED["no-comments"].id, token_of("no-comments"))["data"]
    assert (data["comments"], data["cursor"], data["has_more"]) == ([], "", False)


def test_the_shown_count_covers_comments_and_replies(member: Client) -> None:
    note = FIXED["300-comments"]
    roots = WORLD.comments(note.id)
    total = len(roots) + sum(root.replies for root in roots)
    assert card_of(member, "300-comments")["interact_info"]["comment_count"] == str(total)


# -- creators -------------------------------------------------------------------------------------


def test_a_creators_list_has_pinned_notes_first_and_thirty_a_page(member: Client) -> None:
    creator = WORLD.fixed_creator("prolific")
    pages = []
    cursor = ""
    while True:
        data = member.posted(creator.id, cursor)["data"]
        pages.append(data["notes"])
        cursor = data["cursor"]
        if not data["has_more"]:
            break
    assert [len(one) for one in pages] == [30, 30, 5]
    assert cursor == ""
    notes = [note for one in pages for note in one]
    assert [note["note_id"] for note in notes] == WORLD.creator_notes(creator.id)
    assert [note["interact_info"]["sticky"] for note in notes] == [True] * 2 + [False] * 63
    times = [_outline(note["note_id"]).time for note in notes]
    assert times[2:] == sorted(times[2:], reverse=True)
    assert max(times[:2]) < min(times[2:30])


def test_both_signatures_open_a_creators_list(member: Client) -> None:
    creator = WORLD.fixed_creator("prolific")
    for form in ("xys", "xyw"):
        assert member.posted(creator.id, sign_format=form)["data"]["notes"]


def test_a_profile_has_the_documented_shape(member: Client) -> None:
    creator = WORLD.fixed_creator("demo")
    data = member.get(f"{V1}/user/otherinfo", {"target_user_id": creator.id})["data"]
    assert data["basic_info"]["nickname"] == creator.nickname
    assert "user_id" not in data["basic_info"]
    assert {entry["type"] for entry in data["interactions"]} == {"follows", "fans", "interaction"}
    assert all(isinstance(entry["count"], str) for entry in data["interactions"])
    assert data["result"]["success"] is True


def test_creators_without_notes_banned_and_unknown(member: Client) -> None:
    silent = WORLD.fixed_creator("silent")
    empty = {"notes": [], "cursor": "", "has_more": False}
    assert member.posted(silent.id)["data"] == empty
    for user_id in (WORLD.fixed_creator("banned").id, "0" * 24):
        data = member.get(f"{V1}/user/otherinfo", {"target_user_id": user_id})["data"]
        assert data["result"]["success"] is False
        assert "basic_info" not in data


def test_collected_notes_are_of_others_and_keep_their_cursor(member: Client) -> None:
    world = World(1)
    reader = next(
        user
        for user in (world.viewer(str(n)) for n in range(200))
        if 0 < len(world.collected(user, "collect")) < 30
    )
    params = {
        "num": "30",
        "cursor": "",
        "user_id": reader.id,
        "image_formats": "jpg,webp,avif",
        "xsec_token": "",
        "xsec_source": "pc_user",
    }
    data = member.get(f"{V2}/note/collect/page", params, x_rap=True)["data"]
    assert [n["note_id"] for n in data["notes"]] == [
        n.id for n in world.collected(reader, "collect")
    ]
    assert data["has_more"] is False
    assert data["cursor"] == data["notes"][-1]["note_id"]


# -- web pages ------------------------------------------------------------------------------------


def note_target(name: str, form: str = "/explore/{id}", token: str | None = None) -> str:
    chosen = token_of(name) if token is None else token
    return f"{form.format(id=FIXED[name].id)}?xsec_token={chosen}&xsec_source=pc_search"


@pytest.mark.parametrize(
    "form", ["/explore/{id}", "/discovery/item/{id}", "/search_result/{id}", "/note/{id}"]
)
def test_a_note_page_carries_the_note_in_its_state(member: Client, form: str) -> None:
    note = FIXED["tricky-text"]
    html = page(member.sandbox, note_target("tricky-text", form), member.cookie)
    assert "\\u002F" in html
    assert ":undefined" in html
    state = state_of(html)
    assert state["user"]["loggedIn"] is True
    written = state["note"]["noteDetailMap"][note.id]["note"]
    assert (written["title"], written["desc"]) == (note.title, note.desc)
    assert written["noteId"] == note.id
    assert written["lastUpdateTime"] == note.edited
    assert written["imageList"][0]["infoList"][0]["imageScene"] == "WB_PRV"
    assert WORLD.token_fits(note.id, written["xsecToken"])


def test_a_visitor_sees_the_note_but_no_streams(sandbox: RunningSandbox) -> None:
    state = state_of(page(sandbox, note_target("video-origin")))
    assert state["user"]["loggedIn"] is False
    video = state["note"]["noteDetailMap"][FIXED["video-origin"].id]["note"]["video"]
    assert "consumer" not in video
    assert not any(video["media"]["stream"].values())


def test_a_wrong_token_gives_a_page_without_the_note(member: Client) -> None:
    target = note_target("image", token=token_of("video-origin"))
    state = state_of(page(member.sandbox, target, member.cookie))
    assert list(state["note"]["noteDetailMap"]) == ["undefined"]
    assert state["note"]["noteDetailMap"]["undefined"]["note"] == {}


@pytest.mark.parametrize(
    ("name", "token", "cookie", "expected"),
    [
        ("deleted", None, True, r"/404\?errorCode=-510001"),
        ("unavailable", None, True, r"/404\?source=/404/sec_\w+&redirectPath=.*error_code=300031"),
        ("image", "", True, r"/404\?source=.*error_code=300031"),
        ("image", "", False, r"/login\?redirectPath=https%3A%2F%2F"),
    ],
)
def test_pages_that_cannot_be_shown_send_away(
    member: Client, name: str, token: str | None, cookie: bool, expected: str
) -> None:
    where = location(
        member.sandbox, WWW, note_target(name, token=token), member.cookie if cookie else ""
    )
    assert re.match(f"https://www.xiaohongshu.com{expected}", where)


def test_a_private_note_says_so_in_text_and_state(member: Client) -> None:
    html = page(member.sandbox, note_target("private"), member.cookie)
    assert "仅作者可见" in html
    assert state_of(html)["note"]["serverRequestInfo"]["errorCode"] == -510001


def test_phones_get_another_state(member: Client) -> None:
    note = FIXED["image"]
    html = page(
        member.sandbox,
        note_target("image", "/discovery/item/{id}"),
        member.cookie,
        **{"user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X)"},
    )
    data = state_of(html)["noteData"]
    assert data["data"]["noteData"]["noteId"] == note.id
    assert data["normalNotePreloadData"]["imagesList"][0]["urlSizeLarge"].endswith("!h5_1080jpg")


def test_a_profile_page_carries_creator_and_first_notes(member: Client) -> None:
    creator = WORLD.fixed_creator("prolific")
    state = state_of(page(member.sandbox, f"/user/profile/{creator.id}", member.cookie))["user"]
    assert state["userPageData"]["basicInfo"]["nickname"] == creator.nickname
    assert state["userInfo"]["userId"] != creator.id
    cards = state["notes"][0]
    assert [card["id"] for card in cards] == WORLD.creator_notes(creator.id)[:30]
    assert cards[0]["noteCard"]["interactInfo"]["sticky"] is True
    assert state["noteQueries"][0] == {
        "num": 30,
        "cursor": cards[-1]["id"],
        "userId": creator.id,
        "hasMore": True,
        "page": 1,
    }
    banned = WORLD.fixed_creator("banned")
    other = state_of(page(member.sandbox, f"/user/profile/{banned.id}"))["user"]
    assert other["bannedInfo"]["serverBanned"] is True


def test_the_home_page_has_cards_and_the_key_undefined(sandbox: RunningSandbox) -> None:
    state = state_of(page(sandbox, "/explore"))
    assert len(state["feed"]["feeds"]) >= 15
    assert list(state["note"]["noteDetailMap"]) == ["undefined"]


# -- short links ----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["/", "/a/", "/m/", "/o/"])
def test_short_links_lead_to_the_note_with_a_token_of_the_app(
    sandbox: RunningSandbox, form: str
) -> None:
    note = FIXED["image"]
    host, _, path = WORLD.short_link(note.id, form=form).partition("/")
    where = location(sandbox, host, f"/{path}")
    assert location(sandbox, "xhslink.cn", f"/{path}").split("?")[0] == where.split("?")[0]
    assert urlsplit(where).path == f"/discovery/item/{note.id}"
    token = parse_qs(urlsplit(where).query)["xsec_token"][0]
    assert token.startswith("CB")
    assert WORLD.token_fits(note.id, token)
    assert "%3D" in where


@pytest.mark.parametrize(
    ("outcome", "path", "rounds"),
    [
        ("explore", f"/explore/{FIXED['image'].id}", 0),
        ("login", "/login", 1),
        ("login-twice", "/website-login/captcha", 2),
        ("404", "/404", 1),
    ],
)
def test_short_links_that_end_at_a_wall_still_name_the_note(
    sandbox: RunningSandbox, outcome: str, path: str, rounds: int
) -> None:
    link = WORLD.short_link(FIXED["image"].id, outcome)
    where = location(sandbox, "xhslink.com", link.removeprefix("xhslink.com"))
    assert urlsplit(where).path == path
    for _ in range(rounds):
        assert f"/{FIXED['image'].id}?" not in where
        where = unquote(where)
    assert f"/{FIXED['image'].id}?" in where


def test_short_links_of_users_and_dead_ones(sandbox: RunningSandbox) -> None:
    creator = WORLD.fixed_creator("demo")
    link = WORLD.short_link(creator.id)
    assert f"/user/profile/{creator.id}" in location(sandbox, *_split(link))
    for path in ("/o/AbCdEf12", "/o/zzzzzzzzz", "/"):
        assert sandbox.request("xhslink.com", path)[0] == 404


def _split(link: str) -> tuple[str, str]:
    host, _, path = link.partition("/")
    return host, f"/{path}"


# -- files ----------------------------------------------------------------------------------------


def fetch(sandbox: RunningSandbox, url: str, **headers: str) -> tuple[int, Any, bytes]:
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    return sandbox.request(str(parts.hostname), target, headers=headers)


@pytest.mark.parametrize(
    "name", ["image", "video-origin", "video-buckets", "live-photo", "media-gone", "many-pictures"]
)
def test_the_files_of_a_note_are_those_of_the_world(sandbox: RunningSandbox, name: str) -> None:
    files = WORLD.files(FIXED[name].id)
    assert files
    for file in files:
        status, headers, body = fetch(sandbox, file.url)
        if file.blob is None:
            assert status == 404
            continue
        assert (status, headers["Content-Type"]) == (200, file.blob.content_type)
        assert len(body) == file.blob.size
        assert hashlib.sha256(body).hexdigest() == file.blob.sha256()


def test_all_hosts_serve_the_original(sandbox: RunningSandbox) -> None:
    picture = FIXED["image"].pictures[0]
    hosts = ("ci.xiaohongshu.com", "sns-img-bd.xhscdn.com", "sns-img-qn.xhscdn.com")
    bodies = {fetch(sandbox, f"https://{host}/{picture.token}")[2] for host in hosts}
    assert bodies == {WORLD.picture_file(picture).read(0, 10**7)}


@pytest.mark.parametrize(
    ("query", "status", "kind"),
    [
        ("?imageView2/format/png", 200, "image/png"),
        ("?imageView2/format/webp", 200, "image/webp"),
        ("?imageView2/2/w/1080/format/png", 500, None),
    ],
)
def test_formats_can_be_asked_for_and_sizes_not(
    sandbox: RunningSandbox, query: str, status: int, kind: str | None
) -> None:
    url = f"https://ci.xiaohongshu.com/{FIXED['image'].pictures[0].token}{query}"
    got, headers, _body = fetch(sandbox, url)
    assert got == status
    assert kind is None or headers["Content-Type"] == kind


def test_a_token_without_its_folder_is_not_found(sandbox: RunningSandbox) -> None:
    tokens = [p.token for note in FIXED.values() for p in note.pictures if "/" in p.token]
    for token in tokens[:5]:
        bare = token.rpartition("/")[2]
        assert fetch(sandbox, f"https://ci.xiaohongshu.com/{bare}")[0] == 404


@pytest.mark.parametrize(
    ("referer", "status"),
    [
        (None, 200),
        ("https://www.xiaohongshu.com/", 200),
        ("https://www.rednote.com/explore", 200),
        ("https://example.org/", 403),
        ("https://xiaohongshu.com.example.org/", 403),
    ],
)
def test_a_foreign_referer_is_refused(
    sandbox: RunningSandbox, referer: str | None, status: int
) -> None:
    headers = {"referer": referer} if referer else {}
    url = f"https://ci.xiaohongshu.com/{FIXED['image'].pictures[0].token}"
    assert fetch(sandbox, url, **headers)[0] == status


def test_signed_addresses_work_until_they_expire(member: Client) -> None:
    card = card_of(member, "image")
    urls = [card["image_list"][0]["url_default"], card["image_list"][0]["url_pre"]]
    for name in ("video-buckets", "video-plain", "video-origin"):
        streams = card_of(member, name)["video"]["media"]["stream"]
        urls += [s["master_url"] for entries in streams.values() for s in entries or ()]
    signed = [url for url in urls if "sns-webpic" in url or "sign=" in url]
    assert len(signed) > 2
    assert {fetch(member.sandbox, url)[0] for url in urls} == {200}
    assert fetch(member.sandbox, urls[0].replace("nd_dft", "nd_xyz"))[0] == 403
    member.sandbox.action("xhs", "expire-media")
    assert {fetch(member.sandbox, url)[0] for url in signed} == {403}
    fresh = card_of(member, "image")["image_list"][0]["url_default"]
    assert fetch(member.sandbox, fresh)[0] == 200


def test_addresses_expire_by_themselves() -> None:
    with RunningSandbox("--only", "xhs", "--url-ttl", "-1") as sandbox:
        url = card_of(Client(sandbox), "image")["image_list"][0]["url_default"]
        assert fetch(sandbox, url)[0] == 403


def test_streams_have_the_size_that_is_told_and_backups_are_unsigned(member: Client) -> None:
    streams = card_of(member, "video-buckets")["video"]["media"]["stream"]
    for entry in (s for entries in streams.values() for s in entries or ()):
        _status, _headers, body = fetch(member.sandbox, entry["master_url"])
        assert len(body) == entry["size"]
        for url in entry["backup_urls"] or ():
            assert "?" not in url
            assert fetch(member.sandbox, url)[2] == body


def test_the_best_stream_has_no_watermark_and_a_standard_codec() -> None:
    video = FIXED["video-buckets"].video
    assert video is not None
    best = best_stream(video)
    assert best is not None
    assert (best.desc, best.width, best.height) == ("X265_MP4_WEB_115", 1920, 1080)


def test_avatars_and_comment_pictures_can_be_fetched(member: Client) -> None:
    found = all_comments(member, "300-comments")
    urls = [comment["user_info"]["image"] for comment in found[:30]]
    pictures = [p for c in found for p in c.get("pictures", ())]
    urls += [p["url_default"] for p in pictures[:3]]
    tokens = [p["url_default"].split("/", 5)[5].split("!")[0] for p in pictures[:3]]
    urls += [f"https://ci.xiaohongshu.com/{token}" for token in tokens]
    assert tokens
    for url in urls:
        status, headers, _body = fetch(member.sandbox, url)
        assert (status, headers["Content-Type"].split("/")[0]) == (200, "image")


# -- faults ---------------------------------------------------------------------------------------


def code_and_success(answer: dict[str, Any]) -> tuple[Any, Any]:
    return answer.get("code"), answer.get("success")


@pytest.mark.parametrize(
    ("fault", "status", "expected"),
    [
        ({"kind": "406"}, 406, (-1, False)),
        ({"kind": "461"}, 461, (0, True)),
        ({"kind": "471"}, 471, (0, True)),
        ({"kind": "300011"}, 200, (300011, False)),
        ({"kind": "300011", "args": {"success": True}}, 200, (300011, True)),
        ({"kind": "300011", "args": {"string": True}}, 200, ("300011", False)),
        ({"kind": "300012"}, 200, (300012, False)),
        ({"kind": "300013", "args": {"as": "body"}}, 200, (300013, False)),
        ({"kind": "300015"}, 200, (300015, False)),
        ({"kind": "expired"}, 200, (-100, False)),
        ({"kind": "no-permission"}, 200, (-104, False)),
        ({"kind": "gone"}, 200, (-510001, False)),
        ({"kind": "empty"}, 200, (0, True)),
        ({"kind": "empty-items"}, 200, (0, True)),
    ],
)
def test_faults_of_the_platform(
    member: Client, fault: dict[str, Any], status: int, expected: tuple[Any, Any]
) -> None:
    member.sandbox.fault(path=f"{V1}/feed", times=1, **fault)
    note = FIXED["image"]
    answer = member.detail(note.id, token_of("image"))
    assert member.last[0] == status
    assert code_and_success(answer) == expected
    assert member.detail(note.id, token_of("image"))["data"]["items"]


def test_empty_answers_are_empty_in_their_two_ways(member: Client) -> None:
    note = FIXED["image"]
    member.sandbox.fault("empty", times=1)
    assert member.detail(note.id, token_of("image"))["data"] == {}
    member.sandbox.fault("empty-items", times=1)
    assert member.detail(note.id, token_of("image"))["data"]["items"] == []


def test_captcha_headers_can_be_missing(member: Client) -> None:
    member.sandbox.fault("461", times=1)
    member.sandbox.fault("461", times=1, args={"headers": False})
    seen = []
    for _ in range(2):
        member.detail(FIXED["image"].id, token_of("image"))
        seen.append(member.last[1]["Verifytype"])
    assert seen == ["102", None]


def test_too_fast_comes_as_a_redirect(member: Client) -> None:
    member.sandbox.fault("300013", times=1)
    answer = member.detail(FIXED["image"].id, token_of("image"))
    assert member.last[0] == 302
    where = urlsplit(member.last[1]["Location"])
    assert where.path == "/website-login/error"
    assert parse_qs(where.query)["error_code"] == ["300013"]
    assert "&amp;error_code=300013" in answer["text"]


def test_a_captcha_on_a_page_is_a_redirect_too(sandbox: RunningSandbox) -> None:
    sandbox.fault("461", times=1)
    where = location(sandbox, WWW, note_target("image"))
    assert urlsplit(where).path == "/website-login/captcha"
    assert parse_qs(urlsplit(where).query)["verifyBiz"] == ["461"]


def test_a_repeated_page_brings_nothing_new_and_says_that_more_follows(member: Client) -> None:
    name = "300-comments"
    first = member.comments(FIXED[name].id, token_of(name))["data"]
    member.sandbox.fault("repeat", path=f"{V2}/comment/page", times=2)
    for _ in range(2):
        again = member.comments(FIXED[name].id, token_of(name), first["cursor"])["data"]
        assert [c["id"] for c in again["comments"]] == [c["id"] for c in first["comments"]]
        assert (again["cursor"], again["has_more"]) == (first["cursor"], True)
    last = member.comments(FIXED[name].id, token_of(name), first["cursor"])["data"]
    assert last["comments"][0]["id"] not in {c["id"] for c in first["comments"]}
