"""The real ``scrapy crawl zhihu`` against the sandbox, beside what the sandbox's world knows."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from sandbox.core import Options
from sandbox.testing import RunningSandbox
from sandbox.zhihu import Views, World
from sandbox.zhihu.views import Addresses
from tests.conftest import Crawled

Crawl = Callable[..., Crawled]
CHINA = timezone(timedelta(hours=8))
DEMO = "演示"  # finds the documented posts of all kinds: deleted, hidden and ordinary ones


@pytest.fixture(scope="module")
def world() -> World:
    return World(seed=1)


@pytest.fixture(scope="module")
def views(world: World) -> Views:
    return Views(world, Addresses(Options().seed, Options().url_ttl))


def openable(world: World, found: list[tuple[str, str]]) -> list[str]:
    return [post_id for kind, post_id in found if world.status(kind, post_id) == "ok"]


def link(world: World, name: str) -> str:
    """The address of a documented post as a user pastes it."""
    post = world.fixed_post(name)
    if post.kind == "article":
        return f"https://zhuanlan.zhihu.com/p/{post.id}"
    if post.kind == "answer":
        return f"https://www.zhihu.com/question/{world.post_id(post.question)}/answer/{post.id}"
    return f"https://www.zhihu.com/{post.kind}/{post.id}"


def found_posts(crawled: Crawled, found: list[tuple[str, str]]) -> list[str]:
    """Ids of the posts that the list had; originals of reposts come along beside them."""
    originals = {post["repost_of"] for post in crawled.posts} - {
        post_id for _kind, post_id in found
    }
    return [post_id for post_id in ids(crawled.posts) if post_id not in originals]


def ids(records: list[dict[str, Any]], name: str = "post_id") -> list[str]:
    return [record[name] for record in records]


def keys(posts: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Kind and id: an answer and an article may have the same number."""
    return [(post["extra"]["content_type"], post["post_id"]) for post in posts]


# --- Limits and lists -----------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 7, 20])
def test_max_posts_counts_only_posts_that_could_be_opened(crawl: Crawl, limit: int) -> None:
    crawled = crawl("zhihu", keywords=DEMO, max_posts=limit, max_comments=0)
    assert len(set(keys(crawled.posts))) == len(crawled.posts) == limit
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete")


@pytest.mark.parametrize(("keyword", "sort"), [("露营", "general"), ("咖啡", "latest")])
def test_a_search_is_read_to_its_end_past_pages_of_noise(
    crawl: Crawl, world: World, keyword: str, sort: str
) -> None:
    crawled = crawl(
        "zhihu",
        {"CONCURRENT_REQUESTS": 1},
        keywords=keyword,
        max_posts=0,
        max_comments=0,
        sort=sort,
    )
    found = world.search(keyword, sort={"general": "", "latest": "created_time"}[sort])
    assert found_posts(crawled, found) == openable(world, found)
    (seed,) = crawled.report["seeds"]
    assert seed["outcome"] == "the platform has no more"
    assert seed["duplicates"] > 0
    assert crawled.exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "truth"),
    [
        (
            {"post_type": "article", "sort": "likes"},
            {"vertical": "article", "sort": "upvoted_count"},
        ),
        ({"post_type": "answer"}, {"vertical": "answer"}),
    ],
)
def test_sorts_and_types_are_those_of_the_platform(
    crawl: Crawl, world: World, arguments: dict[str, str], truth: dict[str, str]
) -> None:
    crawled = crawl(
        "zhihu",
        {"CONCURRENT_REQUESTS": 1},
        keywords="咖啡",
        max_posts=8,
        max_comments=0,
        **arguments,
    )
    assert ids(crawled.posts) == openable(world, world.search("咖啡", **truth))[:8]


def test_types_that_the_search_cannot_tell_are_sorted_out(crawl: Crawl, world: World) -> None:
    crawled = crawl("zhihu", keywords=DEMO, post_type="image", max_posts=0, max_comments=0)
    pictures = {world.fixed_post(name).id for name in ("pin-image",)}
    assert pictures <= set(ids(crawled.posts))
    assert {post["post_type"] for post in crawled.posts} == {"image"}


def test_dates_are_exact(crawl: Crawl, world: World) -> None:
    since = datetime.now(CHINA) - timedelta(days=80)
    midnight = since.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    crawled = crawl(
        "zhihu", keywords="旅行", max_posts=0, max_comments=0, since=f"{since:%Y-%m-%d}"
    )
    posts = [world.post(kind, post_id) for kind, post_id in world.search("旅行")]
    expected = {post.id for post in posts if post and post.status == "ok" and post.time >= midnight}
    found = found_posts(crawled, world.search("旅行"))
    assert set(found) == expected


def test_what_zhihu_lacks_is_refused_in_one_line(crawl: Crawl) -> None:
    crawled = crawl("zhihu", keywords=DEMO, sort="comments")
    assert crawled.exit_code == 2
    assert "zhihu has no sort 'comments'; choose one of general, latest, likes" in crawled.output


# --- Named posts, questions, members ----------------------------------------------------------


def test_every_kind_of_post_can_be_named(crawl: Crawl, world: World, views: Views) -> None:
    names = ("answer-rich", "answer-anonymous", "article", "pin-title", "zvideo", "answer-old")
    text = " ".join(link(world, name) for name in names)
    crawled = crawl("zhihu", posts=f"{text}\nhttps://www.zhihu.com/topic/1", max_comments=0)
    posts = {post["post_id"]: post for post in crawled.posts}
    assert len(posts) == len(names)
    for name in names:
        truth = world.fixed_post(name)
        post = posts[truth.id]
        assert (post["url"], post["text"]) == (link(world, name), views.text(truth) or None)
        assert post["like_count"] == truth.outline.votes
        assert post["author_id"] == (None if truth.anonymous else truth.author.id)
        assert post["extra"]["content_type"] == truth.kind
    assert crawled.report["not_understood"] == ["https://www.zhihu.com/topic/1"]


@pytest.mark.parametrize(("sort", "order"), [("general", "default"), ("latest", "created")])
@pytest.mark.parametrize("limit", [10, 0])
def test_a_question_brings_its_answers(
    crawl: Crawl, world: World, sort: str, order: str, limit: int
) -> None:
    question = world.fixed_post("question-many")
    crawled = crawl(
        "zhihu", {"CONCURRENT_REQUESTS": 1}, posts=link(world, "question-many"),
        sort=sort, max_posts=limit, max_comments=0,
    )  # fmt: skip
    answers = [post for post in crawled.posts if post["post_type"] == "answer"]
    truth = world.answers(question.id, order)
    assert ids(answers) == truth[: limit or None]
    (asked,) = [post for post in crawled.posts if post["post_type"] == "question"]
    assert asked["post_id"] == question.id
    assert crawled.exit_code == 0


def test_a_member_brings_posts_of_all_kinds(crawl: Crawl, world: World) -> None:
    member = world.fixed_creator("prolific")
    crawled = crawl("zhihu", creators=member.token, max_posts=0, max_comments=0)
    (profile,) = crawled.creators
    assert (profile["creator_id"], profile["post_count"]) == (member.id, 133)
    kinds = ("answer", "article", "zvideo", "pin")
    found = [(kind, i) for kind in kinds for i in world.creator_posts(member.id, kind)]
    assert sorted(found_posts(crawled, found)) == sorted(openable(world, found))


def test_a_type_asks_only_for_the_lists_that_have_it(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    member = world.fixed_creator("prolific")
    crawled = crawl(
        "zhihu", creators=f"https://www.zhihu.com/people/{member.id}/posts",
        post_type="article", max_posts=22, max_comments=0,
    )  # fmt: skip
    assert set(ids(crawled.posts)) == set(world.creator_posts(member.id, "article")[:22])
    paths = calm_sandbox.stats()["by_path"]
    assert not [path for path in paths if path.endswith(("/answers", "/pins", "/zvideos"))]


@pytest.mark.parametrize(("name", "code"), [("silent", 0), ("banned", 0), ("protected", 0)])
def test_members_without_posts(crawl: Crawl, world: World, name: str, code: int) -> None:
    member = world.fixed_creator(name)
    crawled = crawl("zhihu", creators=member.token, max_posts=5, max_comments=0)
    assert len(crawled.creators) == (name != "banned")
    assert crawled.exit_code == code, crawled.output


# --- Comments ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("max_comments", "max_replies"), [(0, 0), (3, 0), (10, 2), (25, "all"), ("all", "all")]
)
def test_comment_limits_are_exact_per_post_and_per_comment(
    crawl: Crawl, world: World, views: Views, max_comments: Any, max_replies: Any
) -> None:
    post = world.fixed_post("answer-300-comments")
    crawled = crawl(
        "zhihu",
        posts=link(world, "answer-300-comments"),
        max_comments=max_comments,
        max_replies=max_replies,
    )
    truth = world.comments(post.kind, post.id)
    wanted = len(truth) if max_comments == "all" else max_comments
    roots = [c for c in crawled.comments if c["root_id"] is None]
    replies = Counter(c["root_id"] for c in crawled.comments if c["root_id"])
    assert sorted(ids(roots, "comment_id")) == sorted(comment.id for comment in truth[:wanted])
    by_id = {comment.id: comment for comment in truth}
    for root in roots:
        comment = by_id[root["comment_id"]]
        assert root["text"] == views.comment_text(comment)
        expected = comment.replies if max_replies == "all" else min(max_replies, comment.replies)
        assert replies[comment.id] == expected
    assert len({c["comment_id"] for c in crawled.comments}) == len(crawled.comments)
    assert crawled.report["comments"]["partial"] == []


def test_closed_comments_are_no_failure(crawl: Crawl, world: World) -> None:
    names = ("answer-comments-closed", "answer-no-comments")
    crawled = crawl("zhihu", posts=" ".join(link(world, name) for name in names), max_comments=5)
    assert (len(crawled.posts), crawled.comments, crawled.exit_code) == (2, [], 0)


# --- Records and files --------------------------------------------------------------------------


def test_what_only_zhihu_has_is_marked(crawl: Crawl, world: World) -> None:
    crawled = crawl("zhihu", keywords=DEMO, max_posts=0, max_comments=0)
    by_id = {post["post_id"]: post for post in crawled.posts}

    def extra(name: str) -> dict[str, Any]:
        found: dict[str, Any] = by_id[world.fixed_post(name).id]["extra"]
        return found

    assert extra("article-promoted")["promoted"] is True
    assert "promoted" not in extra("article")
    assert (extra("answer-paid")["is_paid"], extra("answer-paid")["truncated"]) == (True, True)
    assert extra("answer-truncated")["truncated"] is True
    assert extra("answer-collapsed")["collapsed"] is True
    assert extra("pin-repost-deleted")["original_deleted"] is True
    repost = by_id[world.fixed_post("pin-repost").id]
    assert repost["repost_of"] == world.fixed_post("pin-image").id
    assert by_id[world.fixed_post("answer-anonymous").id]["author_id"] is None


def test_files_are_downloaded_whole_in_best_quality(crawl: Crawl, world: World) -> None:
    names = ("answer", "answer-rich", "answer-video", "article", "article-raw-lost", "pin-image",
             "pin-video", "zvideo")  # fmt: skip
    text = " ".join(link(world, name) for name in names)
    crawled = crawl("zhihu", posts=text, max_comments=0, media="all")
    by_id = {post["post_id"]: post for post in crawled.posts}
    checked = 0
    for name in names:
        truth = world.fixed_post(name)
        files = world.files(truth.kind, truth.id)
        media = by_id[truth.id]["media"]
        assert Counter(m["kind"] for m in media) == Counter(file.kind for file in files)
        sums = Counter(file.blob.sha256() for file in files if file.blob)
        assert Counter(m["sha256"] for m in media) == sums, name
        for entry in media:
            content = (crawled.data / entry["path"]).read_bytes()
            assert hashlib.sha256(content).hexdigest() == entry["sha256"]
            checked += 1
    assert checked > 12
    assert "video_ids" not in by_id[world.fixed_post("answer-rich").id]["extra"]
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete")


def test_files_that_are_gone_or_have_no_address_make_the_crawl_partial(
    crawl: Crawl, world: World
) -> None:
    names = ("article-picture-gone", "zvideo-missing")
    text = " ".join(link(world, name) for name in names)
    crawled = crawl("zhihu", posts=text, max_comments=0, media="all")
    states = {media["status"] for post in crawled.posts for media in post["media"]}
    assert {"gone", "missing"} <= states
    assert (crawled.exit_code, crawled.report["verdict"]) == (3, "partial")


def test_expired_video_addresses_are_renewed(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    calm_sandbox.fault("403", path="*", host="*.vzuu.com", times=1)
    crawled = crawl("zhihu", posts=link(world, "zvideo"), max_comments=0, media="videos")
    (video,) = [m for m in crawled.posts[0]["media"] if m["kind"] == "video"]
    assert video["status"] == "downloaded"


def test_privacy_is_on_by_default(crawl: Crawl, world: World) -> None:
    member = world.fixed_creator("demo")
    crawled = crawl(
        "zhihu", {"ANONYMIZE": "1"}, creators=member.token, max_posts=15, max_comments=5,
        max_replies=2,
    )  # fmt: skip
    assert crawled.folder
    people = {member.id}
    for post in crawled.posts:
        truth = world.post(post["extra"]["content_type"], post["post_id"])
        assert truth
        mentioned = [truth.mention] if truth.mention else []
        writers = [c.author for c in world.comments(truth.kind, truth.id) if c.author]
        people |= {person.id for person in (*mentioned, *writers)}
    text = "".join(path.read_text("utf-8") for path in crawled.folder.glob("*.jsonl"))
    assert len(people) > 20
    assert not [person for person in people if person in text]
    assert member.name not in text
    assert member.token not in text


# --- Refusals and faults --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["429", "500", "503", "cut", "reset", "empty", "40362", "10003", "blank", "blank-login"]
)
def test_nothing_is_lost_to_faults_that_pass(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World, kind: str
) -> None:
    calm_sandbox.fault(kind, path="/api/v4/comment_v5" if kind == "empty" else "*", rate=0.2)
    crawled = crawl(
        "zhihu",
        {"BACKOFF_MAX": "0.2", "RETRY_TIMES": "15", "BACKOFF_GIVE_UP": "15"},
        keywords=DEMO,
        max_posts=0,
        max_comments=20,
        max_replies=0,
        media="images",
    )
    found = [key for key in world.search(DEMO) if world.status(*key) == "ok"]
    assert set(keys(crawled.posts)) == set(found), crawled.output
    expected = {comment.id for key in found for comment in world.comments(*key)[:20]}
    assert set(ids(crawled.comments, "comment_id")) == expected
    assert crawled.report["comments"]["partial"] == []
    assert calm_sandbox.stats()["faults"][kind] > 3


@pytest.mark.parametrize(
    ("kind", "args", "exit_code", "verdict", "words"),
    [
        ("40352", {}, 4, "blocked", "captcha"),
        ("40352", {"status": 200}, 4, "blocked", "captcha"),
        ("challenge", {"status": 200}, 4, "blocked", "captcha"),
        ("unhuman", {}, 4, "blocked", "captcha"),
        ("forbidden", {}, 4, "blocked", "the ip is blocked"),
        ("40353", {}, 6, "login_required", "login"),
        ("101", {}, 6, "login_required", "login"),
        ("signin", {}, 6, "login_required", "login"),
        ("unhuman-login", {}, 6, "login_required", "login"),
        ("40362", {}, 5, "rate_limited", "too many requests"),
        ("10003", {}, 1, "error", "signer is out of date"),
    ],
)
def test_a_platform_that_says_stop_is_obeyed(
    crawl: Crawl,
    calm_sandbox: RunningSandbox,
    kind: str,
    args: dict[str, Any],
    exit_code: int,
    verdict: str,
    words: str,
) -> None:
    calm_sandbox.fault(kind, path="/api/", args=args)
    settings = {"BACKOFF_MAX": "0.05", "BACKOFF_GIVE_UP": "3", "CONCURRENT_REQUESTS": "4"}
    crawled = crawl("zhihu", settings, keywords=DEMO, max_posts=5, max_comments=0)
    assert (crawled.exit_code, crawled.report["verdict"]) == (exit_code, verdict), crawled.output
    assert words in crawled.output
    if verdict in ("blocked", "login_required"):
        assert sum(calm_sandbox.stats()["faults"].values()) == 1


def test_a_post_that_the_api_refuses_is_read_from_its_page(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World, views: Views
) -> None:
    calm_sandbox.fault("permission", path="/api/v4/answers/")
    calm_sandbox.fault("permission", path="/api/v4/articles/")
    names = ("answer-rich", "article")
    text = " ".join(link(world, name) for name in names)
    crawled = crawl("zhihu", cookies="member-fallback", posts=text, max_comments=0)
    texts = {post["post_id"]: post["text"] for post in crawled.posts}
    for name in names:
        truth = world.fixed_post(name)
        assert texts[truth.id] == views.text(truth)
    assert crawled.exit_code == 0


@pytest.mark.parametrize("kind", ["repeat", "cut"])
def test_a_list_that_never_ends_ends(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World, kind: str
) -> None:
    calm_sandbox.fault("repeat", path="/api/v4/comment_v5")
    calm_sandbox.fault("repeat", path="/api/v4/search_v3")
    crawled = crawl("zhihu", keywords=DEMO, max_posts=0, max_comments="all", max_replies="all")
    first_page = [key for key in world.search(DEMO) if world.status(*key) == "ok"]
    assert set(ids(crawled.posts)) < {post_id for _kind, post_id in first_page}
    assert len(set(ids(crawled.comments, "comment_id"))) == len(crawled.comments)


def test_cookies_are_needed_and_named(crawl: Crawl) -> None:
    crawled = crawl("zhihu", cookies="guest", keywords=DEMO)
    assert crawled.exit_code == 2
    assert "z_c0 missing or expired" in crawled.output


def test_a_quoted_device_cookie_is_signed_as_it_is_sent(
    crawl: Crawl, calm_sandbox: RunningSandbox
) -> None:
    line = calm_sandbox.cookies("member", "zhihu")
    quoted = "; ".join(
        f'{name}="{value}"' if name == "d_c0" else f"{name}={value}"
        for name, _, value in (part.partition("=") for part in line.split("; "))
    )
    crawled = crawl(
        "zhihu", env={"ZHIHU_COOKIES": quoted}, keywords=DEMO, max_posts=2, max_comments=0
    )
    assert (crawled.exit_code, len(crawled.posts)) == (0, 2), crawled.output
    assert calm_sandbox.stats()["bad_signatures"] == {}
