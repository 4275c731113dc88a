"""The real ``scrapy crawl weibo`` against the sandbox, beside what the sandbox's world knows."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import quote

import pytest

from mediacrawler.spiders.weibo import search_container, time_scope
from sandbox.testing import RunningSandbox
from sandbox.weibo import FIXED_POSTS, World
from tests.conftest import Crawled

Crawl = Callable[..., Crawled]
CHINA = timezone(timedelta(hours=8))
DEMO = "演示"  # finds the documented posts: deleted, private, followers-only and ordinary ones


@pytest.fixture(scope="module")
def world() -> World:
    return World(seed=1)


def openable(world: World, mids: list[str]) -> list[str]:
    return [mid for mid in mids if world.status(mid) == "ok"]


def ids(records: list[dict[str, Any]], name: str = "post_id") -> list[str]:
    return [record[name] for record in records]


def originals(world: World, mids: list[str]) -> set[str]:
    """The posts that come along because one of *mids* retweets them."""
    posts = [world.post(mid) for mid in mids]
    return {world.post_at(p.original).mid for p in posts if p and p.outline.retweet == "ok"}


# --- Requests (3.1, 3.2) --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keyword", "tab", "inner", "sent"),
    [
        ("露营", "1", "100103type=1&q=露营", "100103type%3D1%26q%3D%E9%9C%B2%E8%90%A5"),
        (
            "露营",
            "61",
            "100103type=61&q=露营&t=0",
            "100103type%3D61%26q%3D%E9%9C%B2%E8%90%A5%26t%3D0",
        ),
        (
            "C++ & #露营#",
            "1",
            "100103type=1&q=C%2B%2B%20%26%20%23%E9%9C%B2%E8%90%A5%23",
            "100103type%3D1%26q%3DC%252B%252B%2520%2526%2520%2523%25E9%259C%25B2%25E8%2590%25A5%2523",
        ),
    ],
)
def test_search_containers_follow_the_vectors(
    keyword: str, tab: str, inner: str, sent: str
) -> None:
    assert search_container(keyword, tab) == inner
    assert quote(inner, safe="") == sent


def test_a_time_window_is_written_in_hours_of_shanghai() -> None:
    first, last = (int(datetime(2024, 5, d, 7, tzinfo=CHINA).timestamp()) // 3600 for d in (1, 12))
    assert time_scope(first, last) == "custom:2024-05-01-7:2024-05-12-7"


# --- Limits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 7, 15])
def test_max_posts_counts_only_posts_that_could_be_opened(
    crawl: Crawl, world: World, limit: int
) -> None:
    crawled = crawl("weibo", keywords=DEMO, max_posts=limit, max_comments=0)
    found = set(ids(crawled.posts)) & set(world.search(DEMO))
    assert len(found) == crawled.report["seeds"][0]["saved"] == limit
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete")


def test_with_fewer_posts_than_asked_all_come_and_the_gone_are_counted(
    crawl: Crawl, world: World
) -> None:
    crawled = crawl("weibo", keywords=DEMO, max_posts=50, max_comments=0)
    found = openable(world, world.search(DEMO))
    assert sorted(ids(crawled.posts)) == sorted({*found, *originals(world, found)})
    (seed,) = crawled.report["seeds"]
    assert seed["skipped"] == {"not_found": 3}
    assert crawled.exit_code == 0


@pytest.mark.parametrize(("sort", "tab"), [("general", "1"), ("latest", "61"), ("likes", "60")])
def test_a_search_is_read_to_its_last_page_in_each_sort(
    crawl: Crawl, world: World, sort: str, tab: str
) -> None:
    crawled = crawl("weibo", keywords="露营", max_posts=0, max_comments=0, sort=sort)
    found = openable(world, world.search("露营", tab))
    assert set(found) <= set(ids(crawled.posts))
    assert set(ids(crawled.posts)) == {*found, *originals(world, found)}
    assert len(ids(crawled.posts)) == len(set(ids(crawled.posts)))


def test_only_videos_are_asked_for_where_only_videos_are_wanted(crawl: Crawl, world: World) -> None:
    crawled = crawl("weibo", keywords="咖啡", post_type="video", max_posts=0, max_comments=0)
    assert sorted(ids(crawled.posts)) == sorted(openable(world, world.search("咖啡", "64")))
    assert {post["post_type"] for post in crawled.posts} == {"video"}


@pytest.mark.parametrize("cookies", ["member", "member-desktop"])
@pytest.mark.parametrize(("max_comments", "max_replies"), [(0, 0), (3, 0), (25, 2), ("all", "all")])
def test_comment_limits_are_exact_on_both_hosts(
    crawl: Crawl, world: World, cookies: str, max_comments: Any, max_replies: Any
) -> None:
    post = world.fixed_post("300-comments")
    crawled = crawl(
        "weibo", cookies=cookies, posts=post.mid, max_comments=max_comments, max_replies=max_replies
    )
    roots = [c["comment_id"] for c in crawled.comments if c["root_id"] is None]
    replies = Counter(c["root_id"] for c in crawled.comments if c["root_id"])
    by_heat = [comment.cid for comment in world.comments(post.mid)]
    if max_comments == "all":
        assert sorted(roots) == sorted(by_heat)
    else:
        assert sorted(roots) == sorted(by_heat[:max_comments])
    for root in roots:
        known = len(world.replies(post.mid, root))
        assert replies[root] == (known if max_replies == "all" else min(max_replies, known))
    assert len({c["comment_id"] for c in crawled.comments}) == len(crawled.comments)
    assert crawled.report["comments"]["partial"] == []


def test_all_comments_come_where_the_order_by_heat_ends_early(crawl: Crawl, world: World) -> None:
    post = world.fixed_post("1000-comments")
    crawled = crawl("weibo", posts=post.mid, max_comments="all")
    assert len(crawled.comments) == post.outline.roots > len(world.comments(post.mid))


# --- Records --------------------------------------------------------------------------------


def test_records_are_the_worlds_posts(crawl: Crawl, world: World) -> None:
    crawled = crawl("weibo", keywords=DEMO, max_posts=0, max_comments=0)
    records = {record["post_id"]: record for record in crawled.posts}
    for fixed in FIXED_POSTS:
        post = world.fixed_post(fixed.name)
        if fixed.status != "ok":
            assert post.mid not in records
            continue
        record = records[post.mid]
        assert record["text"] == world.visible(post.tokens, desktop=True)
        assert record["post_type"] == post.kind
        assert record["author_id"] == str(post.author.uid)
        assert record["url"] == f"https://weibo.com/{post.author.uid}/{post.bid}"
        assert datetime.fromisoformat(record["published_at"].replace("Z", "+00:00")) == (
            datetime.fromtimestamp(post.outline.time, timezone.utc)
        )
        counts = [record[f"{name}_count"] for name in ("like", "comment", "share")]
        assert counts == [post.outline.likes, post.outline.comments, post.outline.reposts]
        assert record["tags"] == list(post.tags)
        assert record["ip_location"] == (post.region or None)
        assert record["source_keyword"] == DEMO
        assert "truncated" not in record["extra"]


def test_an_edited_posts_time_comes_from_its_card(crawl: Crawl, world: World) -> None:
    crawled = crawl("weibo", keywords=DEMO, max_posts=1, max_comments=0)
    (record,) = crawled.posts
    edited = datetime.fromtimestamp(world.fixed_post("text").edited, timezone.utc)
    assert record["edited_at"] == edited.isoformat().replace("+00:00", "Z")


def test_originals_are_posts_of_their_own_with_their_whole_text(crawl: Crawl, world: World) -> None:
    words = ",".join(("露营", "咖啡", "旅行", "美食", "穿搭"))
    crawled = crawl("weibo", keywords=words, max_posts=0, max_comments=0)
    records = {record["post_id"]: record for record in crawled.posts}
    retweets = [r for r in records.values() if world.post(r["post_id"]).outline.retweet]
    assert {world.post(r["post_id"]).outline.retweet for r in retweets} >= {"ok", "deleted"}
    for record in retweets:
        post = world.post(record["post_id"])
        original = world.post_at(post.original)
        gone = post.outline.retweet != "ok"
        assert record["repost_of"] == original.mid
        assert record["extra"].get("original_deleted", False) is gone
        assert record["media"] == []
        if not gone:
            text = world.visible(original.tokens, desktop=True)
            assert records[original.mid]["text"] == text
    lengths = [len(r["text"]) for r in records.values()]
    assert max(lengths) > 150  # none of the long ones is cut
    assert not any("truncated" in r["extra"] for r in records.values())


def test_all_files_come_in_their_best_quality(crawl: Crawl, world: World) -> None:
    names = ("pictures", "many-pictures", "live-photo", "gif", "video", "several-videos")
    posts = [world.fixed_post(name) for name in names]
    crawled = crawl(
        "weibo", posts="\n".join(post.mid for post in posts), max_comments=0, media="all"
    )
    records = {record["post_id"]: record for record in crawled.posts}
    for post in posts:
        media = records[post.mid]["media"]
        truth = world.files(post.mid)
        assert [entry["kind"] for entry in media] == [file.kind for file in truth]
        for entry, file in zip(media, truth, strict=True):
            assert entry["sha256"] == file.blob.sha256()
            data = (crawled.data / entry["path"]).read_bytes()
            assert hashlib.sha256(data).hexdigest() == entry["sha256"]
    assert crawled.exit_code == 0


def test_a_withheld_picture_is_gone_and_its_placeholder_is_not_kept(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    mid = world.fixed_post("withheld-picture").mid
    crawled = crawl("weibo", posts=mid, max_comments=0, media="images")
    first, withheld, last = crawled.posts[0]["media"]
    assert [first["status"], last["status"]] == ["downloaded", "downloaded"]
    assert (withheld["status"], withheld["path"], withheld["sha256"]) == ("gone", None, None)
    assert (crawled.exit_code, crawled.report["verdict"]) == (3, "partial")
    assert crawled.report["media"]["gone"] == 1
    assert f"file 2 of post {mid} is gone: the platform withholds it" in crawled.output
    folder = (crawled.data / first["path"]).parent
    assert {path.name for path in folder.iterdir()} == {"1.jpg", "3.jpg", "index.json"}
    assert calm_sandbox.stats()["media_requests"] == 3  # nor is the post read once more


def test_expired_addresses_of_movies_are_renewed_once(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    calm_sandbox.fault("media-403", path="/o0/", times=1)
    mid = world.fixed_post("video").mid
    crawled = crawl("weibo", posts=mid, max_comments=0, media="videos")
    (video,) = (m for m in crawled.posts[0]["media"] if m["kind"] == "video")
    assert video["status"] == "downloaded"


def test_nothing_in_the_files_gives_an_author_away(crawl: Crawl, world: World) -> None:
    crawled = crawl(
        "weibo", {"ANONYMIZE": 1}, keywords=DEMO, creators=str(world.fixed_creator("prolific").uid),
        max_posts=0, max_comments=5, max_replies=5,
    )  # fmt: skip
    assert crawled.folder is not None
    written = "".join(path.read_text("utf-8") for path in crawled.folder.glob("*.jsonl"))
    people = [world.fixed_creator("demo"), world.fixed_creator("prolific")]
    people += [c.user for c in world.comments(world.fixed_post("text").mid)[:5]]
    for person in people:
        assert str(person.uid) not in written
        assert person.name not in written
        assert person.avatar.pid[:8] not in written
    assert len(crawled.posts) > 40


# --- Seeds ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cookies", ["member", "member-desktop"])
def test_a_creator_gives_a_profile_and_all_posts_on_both_hosts(
    crawl: Crawl, world: World, cookies: str
) -> None:
    creator = world.fixed_creator("prolific")
    crawled = crawl(
        "weibo", cookies=cookies, creators=str(creator.uid), max_posts=0, max_comments=0
    )
    (profile,) = crawled.creators
    assert profile["creator_id"] == str(creator.uid)
    assert profile["ip_location"] == creator.region
    assert profile["following_count"] == creator.follows
    listed = world.creator_posts(str(creator.uid))
    assert set(ids(crawled.posts)) == {*listed, *originals(world, listed)}
    pinned = {p["post_id"] for p in crawled.posts if p["extra"].get("is_pinned")}
    assert pinned == set(listed[:2])


def test_pinned_old_posts_do_not_end_a_date_window(crawl: Crawl, world: World) -> None:
    creator = world.fixed_creator("prolific")
    posts = [world.post(mid) for mid in world.creator_posts(str(creator.uid))]
    day = datetime.fromtimestamp(posts[12].outline.time, CHINA)
    crawled = crawl(
        "weibo", creators=str(creator.uid), max_posts=0, max_comments=0, since=f"{day:%Y-%m-%d}"
    )
    midnight = day.replace(hour=0, minute=0, second=0).timestamp()
    expected = [p.mid for p in posts if p.outline.time >= midnight]
    assert set(ids(crawled.posts)) == {*expected, *originals(world, expected)}
    assert len(expected) == 11
    assert crawled.report["seeds"][0]["outcome"] == "dates"


def test_share_texts_names_video_pages_and_short_links_may_be_mixed(
    crawl: Crawl, world: World
) -> None:
    names = ("text", "pictures", "gif", "several-videos")
    text, pictures, gif, videos = (world.fixed_post(name) for name in names)
    links = (
        f"看看这条 https://weibo.com/{text.author.uid}/{text.bid}，真不错\n"
        f"{world.short_link(pictures.mid)} {world.share_link(gif.mid)}\n"
        f"https://weibo.com/tv/show/{videos.videos[1].object_id} https://example.org/nothing"
    )
    creator = world.fixed_creator("silent")
    name = f"https://weibo.com/n/{creator.name}"
    crawled = crawl("weibo", posts=links, creators=name, max_comments=0)
    assert set(ids(crawled.posts)) == {text.mid, pictures.mid, gif.mid, videos.mid}
    assert ids(crawled.creators, "creator_id") == [str(creator.uid)]
    assert crawled.report["not_understood"] == ["https://example.org/nothing"]


def test_an_article_is_a_post_without_comments_of_its_own(crawl: Crawl) -> None:
    link = "https://weibo.com/ttarticle/p/show?id=2309404645779462357001"
    crawled = crawl("weibo", posts=link, max_comments=5)
    (article,) = crawled.posts
    assert (article["post_type"], article["text"]) == ("article", "第一段。\n第二段 & 完。")
    assert crawled.exit_code == 0


# --- Time windows (3.2) ---------------------------------------------------------------------


def test_a_search_between_two_days_asks_the_desktop(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    crawled = crawl(
        "weibo",
        keywords="露营",
        max_posts=0,
        max_comments=0,
        since="2026-06-01",
        until="2026-11-20",
    )
    first = int(datetime(2026, 6, 1, tzinfo=CHINA).timestamp())
    last = int(datetime(2026, 11, 21, tzinfo=CHINA).timestamp())
    expected = openable(world, world.desktop_search("露营", first, last, nodup=True))
    assert set(ids(crawled.posts)) == {*expected, *originals(world, expected)}
    paths = calm_sandbox.stats()["by_path"]
    assert "m.weibo.cn/api/container/getIndex" not in paths


def test_a_window_that_is_capped_is_split_until_everything_came(
    crawl: Crawl, tmp_path: Any
) -> None:
    with RunningSandbox("--posts", "1500", "--only", "weibo") as big:
        env = {"WEIBO_COOKIES": big.cookies("member", "weibo")}
        crawled = crawl(
            "weibo", {"SANDBOX_URL": big.url, "CONCURRENT_REQUESTS": 16}, cookies=None, env=env,
            keywords="露营", max_posts=0, max_comments=0, since="2023-01-01",
        )  # fmt: skip
    large = World(seed=1, posts=1500)
    assert len(large.desktop_search("露营", nodup=True)) == 500  # all that one query gives
    space = large.address_of_post(large.search("露营")[0]) >> 22
    found = {mid for mid in ids(crawled.posts) if large.address_of_post(mid) >> 22 == space}
    assert crawled.report["seeds"][0]["saved"] > 1400
    assert len(found) >= crawled.report["seeds"][0]["saved"]
    assert crawled.exit_code == 0


# --- Sessions (1.2, 1.3) --------------------------------------------------------------------


@pytest.mark.parametrize("cookies", ["member-mobile", "member-desktop"])
def test_a_login_on_one_host_is_enough(crawl: Crawl, world: World, cookies: str) -> None:
    crawled = crawl("weibo", cookies=cookies, keywords=DEMO, max_posts=5, max_comments=3)
    assert crawled.report["seeds"][0]["saved"] == 5
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete")


@pytest.mark.parametrize("cookies", [None, "visitor", "expired"])
def test_without_a_login_named_posts_come_with_the_first_page_of_comments(
    crawl: Crawl, world: World, cookies: str | None
) -> None:
    post = world.fixed_post("300-comments")
    crawled = crawl("weibo", cookies=cookies, posts=post.mid, max_comments=30)
    assert len(crawled.comments) == 20
    (gap,) = crawled.report["comments"]["partial"]
    assert "without a login" in json.dumps(gap)
    assert crawled.report["verdict"] == "partial"


def test_without_a_login_replies_behind_the_first_page_are_missing_and_named(
    crawl: Crawl, world: World
) -> None:
    post = world.fixed_post("300-comments")
    crawled = crawl("weibo", cookies="visitor", posts=post.mid, max_comments=1, max_replies=30)
    (top, *replies) = crawled.comments
    assert {reply["root_id"] for reply in replies} == {top["comment_id"]}
    assert len(replies) < 30
    (gap,) = crawled.report["comments"]["partial"]
    assert gap["root_id"] == top["comment_id"]
    assert "without a login" in gap["why"]
    assert crawled.report["verdict"] == "partial"


def test_a_post_that_its_author_hides_is_skipped_like_one_that_is_gone(
    crawl: Crawl, world: World
) -> None:
    hidden = world.fixed_post("followers-only")
    shown = world.fixed_post("long-text")
    crawled = crawl("weibo", posts=f"{hidden.mid},{shown.mid}", max_comments=0)
    assert ids(crawled.posts) == [shown.mid]
    assert crawled.report["seeds"][0]["skipped"] == {"not_found": 1}
    assert crawled.report["verdict"] == "complete"


@pytest.mark.parametrize("cookies", ["visitor", "expired"])
def test_without_a_login_a_search_ends_at_once_and_says_why(crawl: Crawl, cookies: str) -> None:
    crawled = crawl("weibo", cookies=cookies, keywords=DEMO)
    assert (crawled.exit_code, crawled.report["verdict"]) == (6, "login_required")


def test_without_any_cookie_a_search_is_refused_in_one_line(crawl: Crawl) -> None:
    crawled = crawl("weibo", cookies=None, keywords=DEMO)
    assert crawled.exit_code == 2
    assert "weibo needs the cookies SUB" in crawled.output


def test_worn_out_cookies_are_told_from_an_empty_search(crawl: Crawl) -> None:
    worn = crawl("weibo", cookies="worn", keywords=DEMO)
    assert (worn.exit_code, worn.report["verdict"]) == (4, "blocked")
    honest = crawl("weibo", keywords="无结果")
    assert (honest.exit_code, honest.report["verdict"]) == (0, "empty")


def test_what_weibo_lacks_is_refused_in_one_line(crawl: Crawl) -> None:
    crawled = crawl("weibo", keywords=DEMO, sort="comments")
    assert crawled.exit_code == 2
    assert "weibo has no sort 'comments'; choose one of general, latest, likes" in crawled.output


# --- Faults (6.1) ---------------------------------------------------------------------------


def test_nothing_is_lost_where_a_fifth_of_the_answers_fails(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    for kind in ("too-often", "500", "reset", "cut", "432"):
        calm_sandbox.fault(kind, rate=0.04)
    crawled = crawl("weibo", keywords=DEMO, max_posts=0, max_comments=5, max_replies=3)
    found = openable(world, world.search(DEMO))
    assert set(ids(crawled.posts)) == {*found, *originals(world, found)}
    expected = sum(min(5, len(world.comments(mid))) for mid in found)
    assert len([c for c in crawled.comments if c["root_id"] is None]) == expected
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete")


@pytest.mark.parametrize(
    ("kind", "verdict", "exit_code"),
    [("captcha", "blocked", 4), ("login", "login_required", 6), ("visitor", "login_required", 6)],
)
def test_a_refusal_of_the_session_ends_the_crawl_with_its_reason(
    crawl: Crawl, calm_sandbox: RunningSandbox, kind: str, verdict: str, exit_code: int
) -> None:
    calm_sandbox.fault(kind, path="/ajax/statuses/show")
    crawled = crawl("weibo", keywords=DEMO, max_posts=5, max_comments=0)
    assert (crawled.report["verdict"], crawled.exit_code) == (verdict, exit_code)


def test_the_mobile_site_stands_in_for_a_desktop_that_fails(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    calm_sandbox.fault("busy", path="/ajax/statuses/show")
    post = world.fixed_post("long-text")
    crawled = crawl("weibo", {"RETRY_TIMES": 1}, posts=post.mid, max_comments=0)
    (record,) = crawled.posts
    assert record["text"] == world.visible(post.tokens, desktop=False)


def test_a_page_of_comments_that_repeats_itself_ends_the_list(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    calm_sandbox.fault("repeat", path="/comments/hotflow", rate=1.0)
    post = world.fixed_post("300-comments")
    crawled = crawl("weibo", posts=post.mid, max_comments="all")
    assert len(crawled.comments) == 20
