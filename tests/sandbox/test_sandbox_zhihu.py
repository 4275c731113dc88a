"""The sandbox's Zhihu: what it says is its world's truth, and it refuses what the site refuses."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest

from mediacrawler.signing import zhihu as signing
from sandbox.core import parse_cookies
from sandbox.testing import RunningSandbox
from sandbox.zhihu import DEMO_KEYWORD, FIXED_CREATORS, FIXED_POSTS, World

WWW = "www.zhihu.com"
AGENT = "Mozilla/5.0 (test)"
SEARCH = {
    "gk_version": "gz-gaokao",
    "t": "general",
    "correction": "1",
    "offset": "0",
    "limit": "20",
    "filter_fields": "",
    "lc_idx": "0",
    "show_all_topics": "0",
    "search_source": "Normal",
}


class Client:
    """Signs and sends, like a client that follows the protocol to the letter."""

    def __init__(self, sandbox: RunningSandbox, kind: str = "member") -> None:
        self.sandbox = sandbox
        self.cookies = sandbox.cookies(kind, platform="zhihu")

    def headers(self, target: str, body: bytes = b"", **more: str) -> dict[str, str]:
        d_c0 = parse_cookies(self.cookies).get("d_c0")
        signed = signing.headers(target, d_c0, body, first_byte=len(target) % 127)
        return {"Cookie": self.cookies, "User-Agent": AGENT, **signed, **more}

    def send(
        self, target: str, *, host: str = WWW, method: str = "GET", body: bytes | None = None
    ) -> tuple[int, Any, bytes]:
        headers = self.headers(target, body or b"")
        return self.sandbox.request(host, target, method=method, headers=headers, body=body)

    def json(self, target: str) -> Any:
        status, _headers, body = self.send(target)
        assert status == 200, body
        return json.loads(body)

    def error(self, target: str) -> tuple[int, int]:
        """Status and code of a refusal."""
        status, _headers, body = self.send(target)
        return status, json.loads(body)["error"]["code"]

    def pages(self, target: str) -> Iterator[Any]:
        """A list from its first page to its last, by the query of `next`."""
        path = target.partition("?")[0]
        while True:
            page = self.json(target)
            yield page
            if page["paging"]["is_end"] or not page["data"]:
                return
            target = f"{path}?{urlsplit(page['paging']['next']).query}"

    def search(self, keyword: str, **params: str) -> Iterator[Any]:
        query = urlencode({**SEARCH, "q": keyword, **params})
        return self.pages(f"/api/v4/search_v3?{query}")


@pytest.fixture
def client(sandbox: RunningSandbox) -> Client:
    return Client(sandbox)


@pytest.fixture(scope="module")
def world() -> World:
    return World(seed=1, posts=60)


def url_of(world: World, name: str) -> str:
    """The API's address of a documented post."""
    post = world.fixed_post(name)
    include = "detail,topics,author" if post.kind == "question" else "content,excerpt"
    return f"/api/v4/{post.kind}s/{post.id}?include={include}"


# --- the world ------------------------------------------------------------------------------


def test_one_seed_is_one_world() -> None:
    one, same, other = World(seed=5), World(seed=5), World(seed=6)
    found = one.search("露营")
    assert found == same.search("露营") != other.search("露营")
    assert [one.post(*key) for key in found] == [same.post(*key) for key in found]
    assert one.fixed_post("answer") == other.fixed_post("answer")


def test_ids_are_longer_than_floats_and_belong_to_a_kind(world: World) -> None:
    assert all(int(post_id) > 2**53 for _kind, post_id in world.search("露营"))
    answer, article = world.fixed_post("answer-twin"), world.fixed_post("article-twin")
    assert answer.id == article.id
    assert world.post("answer", answer.id) == answer
    assert world.post("article", article.id) == article
    assert world.post("pin", answer.id) is None


def test_every_id_leads_back(world: World) -> None:
    for kind, post_id in world.search("读书"):
        post = world.post(kind, post_id)
        assert post is not None
        assert world.member(post.author.id) == post.author
        assert not post.author.token or world.member(post.author.token) == post.author
        for comment in world.comments(kind, post_id):
            assert len(world.replies(comment.id)) == comment.replies


# --- posts ----------------------------------------------------------------------------------

STATES = {"ok": (200, None), "deleted": (404, 4041), "hidden": (403, 403)}


@pytest.mark.parametrize("fixed", FIXED_POSTS, ids=lambda fixed: fixed.name)
def test_a_post_answers_as_its_state_demands(client: Client, world: World, fixed: Any) -> None:
    status, _headers, body = client.send(url_of(world, fixed.name))
    answer = json.loads(body)
    if fixed.kind == "pin" and fixed.status == "deleted":
        assert (status, answer["is_deleted"]) == (200, True)
        return
    assert (status, answer.get("error", {}).get("code")) == STATES[fixed.status]
    if fixed.status == "ok":
        post = world.fixed_post(fixed.name)
        assert (answer["id"], answer["type"]) == (post.id, post.kind)


def test_what_include_does_not_name_does_not_come(client: Client, world: World) -> None:
    answer = world.fixed_post("answer").id
    assert "content" not in client.json(f"/api/v4/answers/{answer}")
    question = world.fixed_post("question").id
    late = client.json(f"/api/v4/questions/{question}?include=author,detail,topics")
    early = client.json(f"/api/v4/questions/{question}?include=detail,topics,author")
    assert "detail" not in late
    assert {"detail", "topics", "author"} <= early.keys()


def test_nobody_is_the_author_of_an_anonymous_answer(client: Client, world: World) -> None:
    author = client.json(url_of(world, "answer-anonymous"))["author"]
    assert (author["id"], author["url_token"], author["name"]) == ("0", "", "匿名用户")


def test_a_paid_answer_shows_its_beginning(client: Client, world: World) -> None:
    paid = client.json(url_of(world, "answer-paid"))
    assert paid["answer_type"] == "paid"
    assert paid["paid_info"]["has_purchased"] is False
    assert paid["content"].count("<p") == 1
    assert client.json(url_of(world, "answer-truncated"))["content_need_truncated"] is True


def test_a_repost_carries_its_original(client: Client, world: World) -> None:
    repost = client.json(url_of(world, "pin-repost"))
    assert repost["origin_pin"]["id"] == world.fixed_post("pin-image").id
    lost = client.json(url_of(world, "pin-repost-deleted"))
    assert lost["origin_pin"] is None
    assert lost["source_pin_id"] > 0


# --- signature and login ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"x-zse-96": ""}, "missing"),
        ({"x-zse-93": "101_3_2.0"}, "x-zse-93"),
        ({"x-zse-96": "2.0_" + "a" * 64}, "malformed"),
        ({"x-zst-81": "3_2.0unsigned"}, "other-request"),
        ({"Cookie": "d_c0=short; z_c0=x"}, "d_c0"),
        ({"Cookie": "z_c0=x"}, "d_c0"),
    ],
)
def test_a_bad_signature_is_refused_and_counted(
    sandbox: RunningSandbox, client: Client, change: dict[str, str], reason: str
) -> None:
    sandbox.reset()
    target = "/api/v4/me"
    headers = client.headers(target) | change
    status, _headers, body = sandbox.request(WWW, target, headers=headers)
    assert (status, json.loads(body)["error"]["code"]) == (403, 10003)
    assert sandbox.stats()["bad_signatures"] == {reason: 1}


@pytest.mark.parametrize(
    "sent", ["/api/v4/me?include=a%2Cb", "/api/v4/me?include=b,a", "/api/v4/me"]
)
def test_a_signature_fits_one_request_to_the_byte(
    sandbox: RunningSandbox, client: Client, sent: str
) -> None:
    headers = client.headers("/api/v4/me?include=a,b")
    assert sandbox.request(WWW, "/api/v4/me?include=a,b", headers=headers)[0] == 200
    assert sandbox.request(WWW, sent, headers=headers)[0] == 403


def test_the_host_of_the_apps_takes_no_web_client(client: Client) -> None:
    status, _headers, body = client.send("/search_v3?q=x", host="api.zhihu.com")
    assert (status, json.loads(body)["error"]["code"]) == (403, 10003)


# endpoint -> what a guest and an expired login are told
LOGINS = [
    ("/api/v4/me", (401, 101), (401, 101)),
    ("/api/v4/search_v3?q=x", (403, 40353), (401, 101)),
    ("/api/v4/answers/{answer}", (403, 40353), (401, 101)),
    ("/api/v4/members/prolific-li/answers", (403, 40353), (401, 101)),
    ("/api/v4/comment_v5/answers/{answer}/root_comment?offset=", (403, 40353), (401, 101)),
    ("/api/v4/members/protected-qian", (403, 40353), (403, 40353)),
    ("/api/v4/questions/{question}/answers?offset=5", (403, 40353), (403, 40353)),
    ("/api/v4/articles/{article}", None, None),
    ("/api/v4/questions/{question}", None, None),
    ("/api/v4/questions/{question}/answers?offset=0", None, None),
    ("/api/v4/members/demo-zhang", None, None),
]


@pytest.mark.parametrize(("target", "guest", "expired"), LOGINS)
def test_what_needs_a_login_says_so(
    sandbox: RunningSandbox, world: World, target: str, guest: Any, expired: Any
) -> None:
    ids = {name: world.fixed_post(name).id for name in ("answer", "article", "question")}
    target = target.format(**ids)
    for kind, refusal in (("guest", guest), ("expired", expired)):
        visitor = Client(sandbox, kind)
        if refusal is None:
            assert visitor.send(target)[0] == 200
        else:
            assert visitor.error(target) == refusal
    assert Client(sandbox).send(target)[0] == 200


def test_a_login_can_be_taken_away(sandbox: RunningSandbox) -> None:
    other = Client(sandbox, "member-7")
    assert other.json("/api/v4/me")["uid"]
    sandbox.action("zhihu", "set-session", z_c0=parse_cookies(other.cookies)["z_c0"])
    assert other.error("/api/v4/me") == (401, 101)


# --- search -----------------------------------------------------------------------------------


def posts_of(pages: Iterator[Any]) -> list[tuple[str, str]]:
    """(kind, id) of the posts on the pages, by `index`, each once."""
    found: list[tuple[str, str]] = []
    for page in pages:
        for entry in sorted(page["data"], key=lambda entry: entry["index"]):
            record = entry.get("object") or {}
            kind = {"pin_general": "pin"}.get(record.get("type"), record.get("type"))
            known = ("answer", "article", "zvideo", "pin", "question")
            if entry["type"] in ("search_result", "zvideo") and kind in known:
                found.append((kind, record["id"]))
    return list(dict.fromkeys(found))


@pytest.mark.parametrize(
    ("params", "truth"),
    [
        ({}, {}),
        ({"sort": "upvoted_count", "search_source": "Filter"}, {"sort": "upvoted_count"}),
        ({"sort": "created_time"}, {"sort": "created_time"}),
        ({"vertical": "article"}, {"vertical": "article"}),
        ({"time_interval": "a_week"}, {"within": "a_week"}),
        (
            {"vertical": "answer", "sort": "created_time", "time_interval": "half_a_year"},
            {"vertical": "answer", "sort": "created_time", "within": "half_a_year"},
        ),
    ],
)
def test_search_finds_the_truth_in_order(
    client: Client, world: World, params: dict[str, str], truth: dict[str, str]
) -> None:
    found = posts_of(client.search("露营", **params))
    assert found == world.search("露营", **truth)
    assert found


def test_search_pages_are_as_awkward_as_the_real_ones(client: Client) -> None:
    pages = list(client.search("露营"))
    assert all(len(page["data"]) == 20 for page in pages[:-1])
    assert any(not posts_of(iter([page])) for page in pages[:-1])
    assert any(page["data"][0]["index"] > page["data"][-1]["index"] for page in pages)
    assert all(
        page["paging"]["next"].startswith("https://api.zhihu.com/search_v3?") for page in pages[:-1]
    )
    kinds = {entry["type"] for page in pages for entry in page["data"]}
    assert {"search_result", "zvideo", "hot_timing", "relevant_query"} <= kinds
    entries = [
        e["object"]["id"] for p in pages for e in p["data"] if (e.get("object") or {}).get("author")
    ]
    assert len(entries) > len(set(entries))


def test_a_search_without_its_mark_ranks_anew(client: Client) -> None:
    first = client.json(f"/api/v4/search_v3?{urlencode({**SEARCH, 'q': '咖啡'})}")
    following = dict(parse_qsl(urlsplit(first["paging"]["next"]).query, keep_blank_values=True))
    kept = client.json(f"/api/v4/search_v3?{urlencode(following)}")
    del following["search_hash_id"]
    lost = client.json(f"/api/v4/search_v3?{urlencode(following)}")
    assert posts_of(iter([kept])) != posts_of(iter([lost]))


def test_the_documented_keywords(client: Client, world: World) -> None:
    assert len(posts_of(client.search(DEMO_KEYWORD))) == len(FIXED_POSTS)
    assert posts_of(client.search("无结果")) == []
    author = world.fixed_post("answer").author.id
    other = {"restricted_scene": "member", "restricted_value": author}
    assert posts_of(client.search("露营", **other)) == []


# --- lists ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "order"),
    [
        ("answers?include=data[*].content&limit=20&offset=0&sort_by=default", "default"),
        ("answers?limit=7&offset=0&sort_by=created", "created"),
        ("answers?limit=20&offset=0&order_by=created", "default"),  # the parameter is another
        ("feeds?include=data[*].content&limit=5&offset=0&order=default", "default"),
        ("feeds?limit=20&offset=0&order=updated", "updated"),
    ],
)
def test_a_question_gives_all_its_answers(
    client: Client, world: World, path: str, order: str
) -> None:
    question = world.fixed_post("question-many").id
    found: list[str] = []
    for page in client.pages(f"/api/v4/questions/{question}/{path}"):
        for entry in page["data"]:
            if "target_type" not in entry:
                found.append(str(entry["id"]))
            elif entry["target_type"] == "answer":
                found.append(str(entry["target"]["id"]))
    assert list(dict.fromkeys(found)) == world.answers(question, order)


def test_the_page_after_the_last_answer_still_has_a_next(client: Client, world: World) -> None:
    question = world.fixed_post("question").id
    *_others, last = client.pages(f"/api/v4/questions/{question}/feeds?limit=5&offset=0")
    query = urlsplit(last["paging"]["next"]).query
    assert dict(parse_qsl(query, keep_blank_values=True))["cursor"] == ""


@pytest.mark.parametrize("kind", ["answer", "article", "pin", "zvideo"])
@pytest.mark.parametrize("sort", ["created", "voteups"])
def test_a_member_gives_all_its_posts(client: Client, world: World, kind: str, sort: str) -> None:
    member = world.fixed_creator("prolific")
    pages = list(
        client.pages(f"/api/v4/members/{member.token}/{kind}s?limit=50&offset=0&sort_by={sort}")
    )
    assert len(pages) > 1
    assert all(len(page["data"]) <= 20 for page in pages)  # more is never given
    found = [str(record["id"]) for page in pages for record in page["data"]]
    assert list(dict.fromkeys(found)) == world.creator_posts(member.id, kind, sort)
    assert len(found) > len(set(found))  # pages overlap
    assert pages[0]["paging"]["next"].startswith("http://")


def test_members_of_all_kinds(client: Client, world: World) -> None:
    for name in FIXED_CREATORS:
        member = world.fixed_creator(name)
        target = f"/api/v4/members/{member.token or member.id}?include=follower_count"
        if member.banned:
            assert client.error(target) == (404, 4041)
            continue
        profile = client.json(target)
        assert (profile["id"], profile["follower_count"]) == (member.id, member.followers)
        assert "answer_count" not in profile
    assert client.json(f"/api/v4/members/{world.fixed_creator('org').id}")["is_org"] is True


# --- comments -----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["score", "ts"])
@pytest.mark.parametrize("name", ["answer", "article", "pin-text", "zvideo", "answer-300-comments"])
def test_comments_come_in_order_with_at_most_two_replies(
    client: Client, world: World, name: str, order: str
) -> None:
    post = world.fixed_post(name)
    path = f"/api/v4/comment_v5/{post.kind}s/{post.id}/root_comment"
    records = [
        record
        for page in client.pages(f"{path}?order_by={order}&limit=20&offset=")
        for record in page["data"]
        if record["type"] == "comment"
    ]
    truth = world.comments(post.kind, post.id, order)
    assert [record["id"] for record in records] == [comment.id for comment in truth]
    for record, comment in zip(records, truth, strict=True):
        assert record["child_comment_count"] == comment.replies
        assert len(record["child_comments"]) == min(2, comment.replies)


def test_replies_begin_with_the_embedded_ones(client: Client, world: World) -> None:
    post = world.fixed_post("answer-300-comments")
    root = next(c for c in world.comments(post.kind, post.id) if c.replies == 45)
    path = f"/api/v4/comment_v5/comment/{root.id}/child_comment"
    for order in ("ts", "score"):
        pages = list(client.pages(f"{path}?order_by={order}&limit=20&offset="))
        found = [
            record["id"] for page in pages for record in page["data"] if record["type"] == "comment"
        ]
        assert found == [comment.id for comment in world.replies(root.id, order)]
        assert [page["root"]["id"] for page in pages] == [root.id] * 3


def test_closed_comments_are_404_and_none_are_an_empty_page(client: Client, world: World) -> None:
    path = "/api/v4/comment_v5/answers/{}/root_comment?order_by=score&limit=20&offset="
    closed, none = (world.fixed_post(f"answer-{n}").id for n in ("comments-closed", "no-comments"))
    assert client.error(path.format(closed)) == (404, 4041)
    page = client.json(path.format(none))
    assert (page["data"], page["paging"]["is_end"]) == ([], True)


def test_an_old_parameter_empties_the_comments(client: Client, world: World) -> None:
    post = world.fixed_post("answer")
    path = f"/api/v4/comment_v5/answers/{post.id}/root_comment?limit=20&offset=&status=open"
    page = client.json(path)
    assert (page["data"], page["paging"]["totals"]) == ([], post.outline.comments)


# --- pages --------------------------------------------------------------------------------------


def get_page(sandbox: RunningSandbox, path: str, cookies: str, agent: str = AGENT) -> Any:
    headers = {"Cookie": cookies, "User-Agent": agent}
    status, answered, body = sandbox.request(WWW, path, headers=headers)
    return status, answered, body.decode()


def test_a_page_is_behind_the_challenge_and_the_login(
    sandbox: RunningSandbox, world: World
) -> None:
    post = world.fixed_post("answer")
    path = f"/question/{world.post_id(post.question)}/answer/{post.id}"
    status, _headers, text = get_page(sandbox, path, "")
    assert (status, 'id="zh-zse-ck"' in text) == (403, True)
    status, headers, _text = get_page(sandbox, path, sandbox.cookies("guest", "zhihu"))
    assert (status, headers["Location"].startswith("/signin?next=")) == (302, True)
    member = sandbox.cookies("member-page", "zhihu")
    status, _headers, text = get_page(sandbox, path, member)
    assert status == 200
    source = re.search(r'<script id="js-initialData" type="text/json">(.*?)</script>', text)
    assert source is not None
    answers = json.loads(source[1])["initialState"]["entities"]["answers"]
    assert answers[post.id]["voteupCount"] == post.outline.votes
    # Whoever changes the browser has to pass the challenge again.
    assert get_page(sandbox, path, member, "another browser")[0] == 403


def test_the_wanted_post_is_not_the_first_of_its_page(
    sandbox: RunningSandbox, world: World
) -> None:
    post = world.fixed_post("answer-rich")
    path = f"/question/{world.post_id(post.question)}/answer/{post.id}"
    _status, _headers, text = get_page(sandbox, path, sandbox.cookies("member-page", "zhihu"))
    found = re.findall(r'"answers":\{"(\d+)"', text)
    assert found == [world.fixed_post("answer").id]
    assert "\\u003Cp" in text


@pytest.mark.parametrize("path", ["/question/1/answer/2", "/people/nobody-1", "/p/9", "/nothing"])
def test_a_missing_page(sandbox: RunningSandbox, path: str) -> None:
    status, _headers, text = get_page(sandbox, path, sandbox.cookies("member-page", "zhihu"))
    assert (status, "你似乎来到了没有知识存在的荒原" in text) == (404, True)


def test_a_visitor_gets_a_device(sandbox: RunningSandbox) -> None:
    for path, method in (("/explore", "GET"), ("/udid", "POST")):
        _status, headers, _body = sandbox.request(WWW, path, method=method, body=b"")
        assert re.match(r"d_c0=[A-Za-z0-9+/=]{36}\|\d{10};", headers["Set-Cookie"])


# --- files --------------------------------------------------------------------------------------


def fetch(sandbox: RunningSandbox, url: str) -> tuple[int, bytes]:
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    status, _headers, body = sandbox.request(parts.netloc, target)
    return status, body


def test_a_picture_has_one_best_size_on_every_host(sandbox: RunningSandbox, world: World) -> None:
    picture = world.fixed_post("article").pictures[0]
    bodies = {
        fetch(
            sandbox, f"https://{host}.zhimg.com/{folder}{picture.token}_r.{picture.form}?source=1"
        )
        for host in ("pic1", "pica", "picx")
        for folder in ("", "50/", "100/")
    }
    ((status, best),) = bodies
    blob = world.picture_file(picture, "r")
    assert blob is not None
    assert (status, best) == (200, blob.read(0, blob.size))
    status, small = fetch(sandbox, f"https://pic3.zhimg.com/{picture.token}_720w.{picture.form}")
    assert status == 200
    assert small != best


@pytest.mark.parametrize(
    ("name", "best", "small"), [("raw-lost", 404, 200), ("picture-gone", 404, 404)]
)
def test_pictures_get_lost(
    sandbox: RunningSandbox, world: World, name: str, best: int, small: int
) -> None:
    picture = world.fixed_post(f"article-{name}").pictures[0]
    for size, status in (("r", best), ("720w", small)):
        url = f"https://pic1.zhimg.com/{picture.token}_{size}.{picture.form}"
        assert fetch(sandbox, url)[0] == status


def test_videos_expire(sandbox: RunningSandbox, client: Client, world: World) -> None:
    playlist = client.json(url_of(world, "zvideo"))["video"]["playlist"]
    url = playlist["fhd"]["play_url"]
    status, body = fetch(sandbox, url)
    assert (status, struct.unpack(">4s", body[4:8])[0]) == (200, b"ftyp")
    assert len(body) == playlist["fhd"]["size"]
    assert fetch(sandbox, url.replace("pkey=", "pkey=x"))[0] == 403
    sandbox.action("zhihu", "expire-media")
    assert fetch(sandbox, url)[0] == 403
    fresh = client.json(url_of(world, "zvideo"))["video"]["playlist"]["fhd"]["play_url"]
    assert fetch(sandbox, fresh)[0] == 200


def test_a_video_without_an_address_is_listed_all_the_same(client: Client, world: World) -> None:
    playlist = client.json(url_of(world, "zvideo-missing"))["video"]["playlist"]
    assert [entry["play_url"] for entry in playlist.values()] == [""]


def test_the_address_of_a_boxed_video_takes_a_signed_body(client: Client, world: World) -> None:
    post = world.fixed_post("answer-rich")
    assert post.box is not None
    body = json.dumps({"content_id": post.id, "video_id": post.box.id}).encode()
    target = f"/api/v4/video/play_info?r={post.box.id}"
    status, _headers, answer = client.send(target, method="POST", body=body)
    assert status == 200
    streams = json.loads(answer)["video_play"]["playlist"]["mp4"]
    assert fetch(client.sandbox, streams[0]["url"][0])[0] == 200
    headers = client.headers(target)  # as if there were no body
    status = client.sandbox.request(WWW, target, method="POST", headers=headers, body=body)[0]
    assert status == 403


# --- faults -------------------------------------------------------------------------------------

FAULTS = [
    ("10003", {}, 403, '"code":10003'),
    ("40362", {}, 403, '"code":40362'),
    ("40362", {"status": 200}, 200, '"code":40362'),
    ("40362", {"top": True}, 200, '{"code":40362'),
    ("40352", {}, 403, "/account/unhuman"),
    ("40353", {}, 403, '"need_login":true'),
    ("101", {}, 401, "ZERR_NOT_LOGIN"),
    ("4041", {}, 404, "NotFoundError"),
    ("hidden", {}, 403, "审核"),
    ("permission", {}, 403, "PERMISSION_ERROR"),
    ("challenge", {}, 403, "zh-zse-ck"),
    ("challenge", {"status": 200}, 200, "zh-zse-ck"),
    ("forbidden", {}, 403, "Forbidden"),
    ("signin", {}, 302, "/signin"),
    ("unhuman", {}, 302, "need_login=false"),
    ("unhuman-login", {}, 302, "need_login=true"),
    ("missing-page", {}, 404, "荒原"),
    ("empty", {}, 200, '"data":[]'),
    ("blank-login", {}, 200, '"uid"'),
]


@pytest.mark.parametrize(("kind", "args", "status", "sign"), FAULTS)
def test_faults(
    sandbox: RunningSandbox, client: Client, kind: str, args: Any, status: int, sign: str
) -> None:
    sandbox.fault(kind, path="/api/v4/me", times=1, args=args)
    answered, _headers, body = client.send("/api/v4/me")
    assert answered == status
    assert sign in body.decode()
    assert client.send("/api/v4/me")[0] == 200


def test_a_repeated_page_names_itself_as_the_next(
    sandbox: RunningSandbox, client: Client, world: World
) -> None:
    post = world.fixed_post("answer")
    target = f"/api/v4/comment_v5/answers/{post.id}/root_comment?order_by=score&limit=20&offset="
    whole = client.json(target)
    sandbox.fault("repeat", path="/api/v4/comment_v5")
    page = client.json(target)
    assert page["data"] == whole["data"]
    assert page["paging"]["is_end"] is False
    assert page["paging"]["next"].endswith(target)


def test_the_overview_names_what_is_documented(sandbox: RunningSandbox) -> None:
    overview = sandbox.control("")["platforms"]["zhihu"]
    assert set(overview["posts"]) == {fixed.name for fixed in FIXED_POSTS}
    assert set(overview["creators"]) == set(FIXED_CREATORS)
    assert quote(DEMO_KEYWORD) in quote(next(iter(overview["keywords"])))
