"""The real ``scrapy crawl bilibili`` against the sandbox, beside what the sandbox's world knows."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from sandbox.bilibili import World
from sandbox.bilibili.world import Video
from sandbox.testing import RunningSandbox
from tests.conftest import Crawled

Crawl = Callable[..., Crawled]
CHINA = timezone(timedelta(hours=8))
DEMO = "演示"
APART = {"FFMPEG": ""}
"""Pictures and sound stay two files, as the platform serves them."""


@pytest.fixture(scope="module")
def world() -> World:
    return World(seed=1)


def openable(world: World, bvids: list[str]) -> list[str]:
    videos = [world.video(bvid) for bvid in bvids]
    return [video.bvid for video in videos if video and video.outline.status == "ok"]


def ids(records: list[dict[str, Any]], name: str = "post_id") -> list[str]:
    return [record[name] for record in records]


def by_id(records: list[dict[str, Any]], name: str = "post_id") -> dict[str, dict[str, Any]]:
    assert len(set(ids(records, name))) == len(records)
    return {record[name]: record for record in records}


# --- Search ---------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 12])
def test_max_posts_counts_only_posts_that_could_be_opened(crawl: Crawl, limit: int) -> None:
    crawled = crawl("bilibili", keywords=DEMO, max_posts=limit, max_comments=0)
    assert len(by_id(crawled.posts)) == limit
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete")


@pytest.mark.parametrize(("sort", "order"), [("latest", "pubdate"), ("collects", "stow")])
def test_sorts_are_those_of_the_platform(crawl: Crawl, world: World, sort: str, order: str) -> None:
    crawled = crawl(
        "bilibili", {"CONCURRENT_REQUESTS": 1}, keywords="咖啡", sort=sort, max_posts=6,
        max_comments=0,
    )  # fmt: skip
    assert ids(crawled.posts) == openable(world, world.search("咖啡", order=order))[:6]


def test_a_date_window_is_asked_of_the_platform(crawl: Crawl, world: World) -> None:
    since, until = "2026-06-01", "2026-11-01"
    crawled = crawl(
        "bilibili", keywords="露营", since=since, until=until, max_posts=0, max_comments=0
    )
    start = datetime.fromisoformat(since).replace(tzinfo=CHINA).timestamp()
    end = datetime.fromisoformat(until).replace(tzinfo=CHINA).timestamp() + 86_400 - 1
    expected = openable(world, world.matches("露营", since=int(start), until=int(end)))
    assert set(ids(crawled.posts)) == set(expected)
    assert "outside the dates" not in crawled.report["seeds"][0]["skipped"]


def test_more_than_a_thousand_results_come_in_slices_of_time(crawl: Crawl) -> None:
    world = World(posts=1300)
    with RunningSandbox("--only", "bilibili", "--posts", "1300") as sandbox:
        settings = {"SANDBOX_URL": sandbox.url}
        crawled = crawl("bilibili", settings, keywords="露营", max_posts=0, max_comments=0)
    assert set(by_id(crawled.posts)) == set(openable(world, world.matches("露营")))
    assert crawled.report["verdict"] == "complete"


def test_what_the_platform_lacks_is_refused_in_one_line(crawl: Crawl) -> None:
    crawled = crawl("bilibili", keywords="露营", sort="likes")
    assert crawled.exit_code == 2
    assert "bilibili has no sort 'likes'; choose one of general, latest" in crawled.output
    crawled = crawl("bilibili", keywords="露营", post_type="image")
    assert crawled.exit_code == 2
    assert "searches for videos only" in crawled.output


# --- Records --------------------------------------------------------------------------------


def check_record(record: dict[str, Any], video: Video, world: World) -> None:
    outline = video.outline
    assert record["url"] == f"https://www.bilibili.com/video/{video.bvid}"
    assert record["title"] == video.title
    assert record["text"] == (None if video.desc in ("", "-") else video.desc)
    assert record["author_id"] == str(video.author.mid)
    assert record["author_name"] == video.author.name
    published = datetime.fromtimestamp(outline.time, timezone.utc)
    assert record["published_at"] == f"{published:%Y-%m-%dT%H:%M:%SZ}"
    counts = ("like_count", "share_count", "collect_count", "view_count")
    assert [record[name] for name in counts] == [
        outline.likes, outline.shares, outline.favorites, outline.views
    ]  # fmt: skip
    area = world.area_of(video)
    assert record["comment_count"] == (0 if area.closed else area.shown)
    assert record["tags"] == list(video.tags)
    assert [page["cid"] for page in record["extra"]["pages"]] == [
        str(part.cid) for part in video.parts
    ]


def test_records_say_what_the_world_knows(crawl: Crawl, world: World) -> None:
    crawled = crawl("bilibili", keywords=DEMO, max_posts=0, max_comments=0)
    assert set(ids(crawled.posts)) == set(openable(world, world.search(DEMO)))
    for record in crawled.posts:
        video = world.video(record["post_id"])
        assert video
        check_record(record, video, world)


def test_share_texts_short_links_and_ids_may_be_mixed(crawl: Crawl, world: World) -> None:
    plain, coop, paid = (world.fixed_video(name) for name in ("plain", "coop", "paid"))
    opus = world.feed(world.fixed_creator("demo"))[1]
    text = (
        f"【【4K】标题-哔哩哔哩】 https://b23.tv/{world.short_code('video plain')}，快来看\n"
        f"av{coop.aid}\nhttps://m.bilibili.com/video/{paid.bvid}?p=1&vd_source=ab\n"
        f"https://t.bilibili.com/{opus.id}\nhttps://www.bilibili.com/bangumi/play/ep1\n"
        f"https://b23.tv/{world.short_code('foreign')}"
    )
    crawled = crawl("bilibili", posts=text, max_comments=0)
    assert set(ids(crawled.posts)) == {plain.bvid, coop.bvid, paid.bvid, str(opus.id)}
    assert len(crawled.report["not_understood"]) == 2
    assert crawled.exit_code == 3


@pytest.mark.parametrize("fault", [{"kind": "-403"}, {"kind": "cut"}])
def test_the_page_is_read_where_the_api_does_not_give_a_video(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World, fault: dict[str, Any]
) -> None:
    video = world.fixed_video("multipart")
    calm_sandbox.fault(path="/x/web-interface/view", **fault)
    settings = {"RETRY_TIMES": 1}
    crawled = crawl("bilibili", settings, posts=video.bvid, max_comments=0)
    (record,) = crawled.posts
    check_record(record, video, world)
    assert crawled.exit_code == 0


# --- Creators -------------------------------------------------------------------------------


def test_a_creator_gives_a_profile_and_all_kinds_of_posts(crawl: Crawl, world: World) -> None:
    demo = world.fixed_creator("demo")
    crawled = crawl("bilibili", creators=f"UID:{demo.mid}", max_posts=0, max_comments=0)
    (profile,) = crawled.creators
    assert (profile["creator_id"], profile["name"]) == (str(demo.mid), demo.name)
    assert (profile["follower_count"], profile["like_count"]) == (demo.fans, demo.likes)
    posts = by_id(crawled.posts)
    feed = world.feed(demo)
    assert set(posts) == {d.video.bvid if d.video else str(d.id) for d in feed}
    for dynamic in feed:
        record = posts[dynamic.video.bvid if dynamic.video else str(dynamic.id)]
        assert record["extra"].get("is_pinned", False) is dynamic.pinned
        if dynamic.video:
            check_record(record, dynamic.video, world)
        if dynamic.kind == "DRAW":
            assert [m["kind"] for m in record["media"]].count("image") == len(dynamic.pictures)
        if dynamic.kind == "FORWARD":
            original = dynamic.original
            assert record["repost_of"] == (str(original.id) if original else None)
            assert record["extra"].get("original_deleted", False) is dynamic.original_gone


def test_articles_of_a_creator_are_read_whole(crawl: Crawl, world: World) -> None:
    demo = world.fixed_creator("demo")
    crawled = crawl("bilibili", creators=demo.mid, post_type="article", max_posts=0, max_comments=0)
    articles = {str(d.id): d for d in world.feed(demo) if d.kind == "ARTICLE"}
    assert set(ids(crawled.posts)) == set(articles)
    for record in crawled.posts:
        blocks = articles[record["post_id"]].blocks
        lines = [text for kind, text in blocks if kind not in ("picture", "line")]
        assert record["text"] == "\n".join(lines)
        assert "truncated" not in record["extra"]


def test_a_creators_videos_alone_come_from_their_own_list(crawl: Crawl, world: World) -> None:
    prolific = world.fixed_creator("prolific")
    crawled = crawl(
        "bilibili", creators=prolific.mid, post_type="video", max_posts=0, max_comments=0
    )
    assert set(by_id(crawled.posts)) == {video.bvid for video in world.uploads(prolific)}


def test_a_pinned_old_post_does_not_end_a_date_window(crawl: Crawl, world: World) -> None:
    demo = world.fixed_creator("demo")
    crawled = crawl("bilibili", creators=demo.mid, since="2026-11-20", max_posts=0, max_comments=0)
    midnight = datetime(2026, 11, 20, tzinfo=CHINA).timestamp()
    expected = {
        d.video.bvid if d.video else str(d.id) for d in world.feed(demo) if d.time >= midnight
    }
    assert set(ids(crawled.posts)) == expected
    assert crawled.report["seeds"][0]["outcome"] == "dates"


# --- Comments -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("max_comments", "max_replies"), [(3, 0), (10, 2), (25, "all"), ("all", 1)]
)
def test_comment_limits_are_exact_per_post_and_per_comment(
    crawl: Crawl, world: World, max_comments: Any, max_replies: Any
) -> None:
    video = world.fixed_video("300-comments")
    area = world.area_of(video)
    crawled = crawl(
        "bilibili", posts=video.bvid, max_comments=max_comments, max_replies=max_replies
    )
    truth = world.comments(area, 2 if max_comments == "all" else 3)
    wanted = len(truth) if max_comments == "all" else max_comments
    roots = [c["comment_id"] for c in crawled.comments if c["root_id"] is None]
    assert sorted(roots) == sorted(str(comment.rpid) for comment in truth[:wanted])
    replies = Counter(c["root_id"] for c in crawled.comments if c["root_id"])
    for comment in truth[:wanted]:
        limit = comment.replies if max_replies == "all" else min(max_replies, comment.replies)
        assert replies[str(comment.rpid)] == limit
    by_id(crawled.comments, "comment_id")
    assert crawled.report["comments"]["partial"] == []


@pytest.mark.parametrize("name", ["pinned-thrice", "endless", "empty-last-page", "no-comments"])
def test_every_comment_comes_once_however_the_list_ends(
    crawl: Crawl, world: World, name: str
) -> None:
    video = world.fixed_video(name)
    area = world.area_of(video)
    crawled = crawl("bilibili", posts=video.bvid, max_comments="all", max_replies="all")
    expected = {str(c.rpid): c for root in world.comments(area) for c in
                (root, *world.replies(area, root.root))}  # fmt: skip
    found = by_id(crawled.comments, "comment_id")
    assert set(found) == set(expected)
    for comment_id, record in found.items():
        comment = expected[comment_id]
        assert record["text"] == (comment.text or None)
        assert record["ip_location"] == comment.place
        assert record["like_count"] == comment.likes
        assert record["extra"].get("is_pinned", False) is comment.pinned
        assert record["post_id"] == video.bvid
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete")


def test_closed_comments_are_nothing_missing(crawl: Crawl, world: World) -> None:
    video = world.fixed_video("comments-closed")
    crawled = crawl("bilibili", posts=video.bvid, max_comments="all")
    assert (len(crawled.posts), crawled.comments, crawled.exit_code) == (1, [], 0)


def test_comments_of_dynamics_carry_the_dynamics_id(crawl: Crawl, world: World) -> None:
    feed = world.feed(world.fixed_creator("demo"))
    chosen = [d for d in feed if d.kind in ("DRAW", "WORD") and d.area.roots][:2]
    links = "\n".join(f"https://www.bilibili.com/opus/{dynamic.id}" for dynamic in chosen)
    crawled = crawl("bilibili", posts=links, max_comments="all")
    found = Counter(c["post_id"] for c in crawled.comments)
    assert found == {str(d.id): len(world.comments(d.area)) for d in chosen}


# --- Without a login ------------------------------------------------------------------------


@pytest.mark.parametrize("cookies", ["guest", None])
def test_visitors_get_what_there_is_and_are_told_what_is_missing(
    crawl: Crawl, world: World, cookies: str | None
) -> None:
    video = world.fixed_video("300-comments")
    crawled = crawl("bilibili", cookies=cookies, posts=video.bvid, max_comments=20)
    assert len([c for c in crawled.comments if c["root_id"] is None]) == 4
    (gap,) = crawled.report["comments"]["partial"]
    assert "without a login only 4 of" in gap["why"]
    assert (crawled.exit_code, crawled.report["verdict"]) == (3, "partial")


def test_visitors_who_ask_for_few_comments_get_them_all(crawl: Crawl, world: World) -> None:
    video = world.fixed_video("300-comments")
    crawled = crawl("bilibili", cookies=None, posts=video.bvid, max_comments=3)
    assert (len(crawled.comments), crawled.report["verdict"]) == (3, "complete")


def test_visitors_may_search_and_see_a_creators_videos(crawl: Crawl, world: World) -> None:
    demo = world.fixed_creator("demo")
    crawled = crawl("bilibili", cookies=None, keywords="咖啡", max_posts=5, max_comments=0)
    assert (len(crawled.posts), crawled.exit_code) == (5, 0)
    crawled = crawl(
        "bilibili", cookies=None, creators=demo.mid, post_type="video", max_posts=0, max_comments=0
    )
    listed = {video.bvid for video in world.uploads(demo) if not video.course}
    assert (set(ids(crawled.posts)), crawled.exit_code) == (listed, 0)
    crawled = crawl("bilibili", cookies=None, creators=demo.mid, max_posts=0, max_comments=0)
    assert set(ids(crawled.posts)) == listed
    assert "without a login" in crawled.report["seeds"][0]["outcome"]
    assert crawled.exit_code == 3


def test_an_expired_login_stops_the_crawl_before_anything_is_asked(
    crawl: Crawl, calm_sandbox: RunningSandbox
) -> None:
    crawled = crawl("bilibili", cookies="expired", keywords="露营")
    assert (crawled.exit_code, crawled.report["verdict"]) == (6, "login_required")
    assert calm_sandbox.stats()["by_path"] == {"api.bilibili.com/x/web-interface/nav": 1}


# --- Signatures and refusals ----------------------------------------------------------------


def test_a_crawl_goes_on_when_the_keys_change(crawl: Crawl, calm_sandbox: RunningSandbox) -> None:
    calm_sandbox.action("bilibili", "change-keys", after=4)
    crawled = crawl("bilibili", keywords="露营", max_posts=25, max_comments=5)
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete")
    stats = calm_sandbox.stats()
    assert set(stats["bad_signatures"]) == {"old-keys"}
    assert stats["by_path"]["api.bilibili.com/x/web-interface/nav"] == 2


@pytest.mark.parametrize("kind", ["voucher", "-352"])
def test_a_captcha_is_believed_after_one_renewal_of_the_keys(
    crawl: Crawl, calm_sandbox: RunningSandbox, kind: str
) -> None:
    calm_sandbox.fault(kind, path="/x/web-interface/wbi/search")
    crawled = crawl("bilibili", keywords="露营")
    assert (crawled.exit_code, crawled.report["verdict"]) == (4, "blocked")
    asked = calm_sandbox.stats()["by_path"]
    assert asked["api.bilibili.com/x/web-interface/wbi/search/type"] == 2
    assert asked["api.bilibili.com/x/web-interface/nav"] == 2


def test_a_script_challenge_stops_at_once(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    calm_sandbox.fault("412-challenge", path="/x/web-interface/view")
    crawled = crawl("bilibili", posts=world.fixed_video("plain").bvid)
    assert (crawled.exit_code, crawled.report["verdict"]) == (4, "blocked")
    assert "browser" in crawled.report["reason"]


@pytest.mark.parametrize("kind", ["412", "-799", "500", "cut", "reset"])
def test_passing_trouble_costs_no_record(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World, kind: str
) -> None:
    calm_sandbox.fault(kind, rate=0.1)
    crawled = crawl("bilibili", keywords="咖啡", max_posts=15, max_comments=5, max_replies=2)
    assert len(by_id(crawled.posts)) == 15
    by_id(crawled.comments, "comment_id")
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete")


def test_a_session_that_cannot_be_opened_ends_the_crawl(
    crawl: Crawl, calm_sandbox: RunningSandbox
) -> None:
    calm_sandbox.fault("412", path="/x/web-interface/nav")
    crawled = crawl("bilibili", {"BACKOFF_GIVE_UP": 2}, keywords="露营")
    assert crawled.exit_code == 5
    assert crawled.report["verdict"] == "rate_limited"


def test_never_more_in_flight_than_asked(crawl: Crawl) -> None:
    with RunningSandbox("--only", "bilibili", "--latency", "30") as sandbox:
        settings = {"CONCURRENT_REQUESTS": 3, "SANDBOX_URL": sandbox.url}
        crawl("bilibili", settings, keywords="露营", max_posts=10, max_comments=5, media="all")
        assert sandbox.stats()["most_in_flight"] == 3


def test_a_blocked_crawl_is_resumed_where_it_stopped(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World, tmp_path: Path
) -> None:
    demo = world.fixed_creator("demo")
    asked = {"creators": demo.mid, "max_posts": 0, "max_comments": 3, "media": "videos"}
    settings = {"JOBDIR": tmp_path / "job", "CONCURRENT_REQUESTS": 2}
    calm_sandbox.fault("-352", path="/x/v2/reply/wbi/main")
    first = crawl("bilibili", settings, **asked)
    assert first.exit_code == 4
    calm_sandbox.clear_faults()
    second = crawl("bilibili", settings, **asked)
    feed = world.feed(demo)
    expected = {d.video.bvid if d.video else str(d.id) for d in feed}
    assert {*ids(first.posts), *ids(second.posts)} == expected
    by_id(first.posts + second.posts)
    assert second.report["comments"]["partial"] == []


# --- Files ----------------------------------------------------------------------------------


def test_all_parts_of_a_video_are_fetched_at_their_best(crawl: Crawl, world: World) -> None:
    video = world.fixed_video("multipart")
    crawled = crawl("bilibili", APART, posts=video.bvid, media="all", max_comments=0)
    (record,) = crawled.posts
    truth = world.files(video)
    media = record["media"]
    assert [m["kind"] for m in media] == [file.kind for file in truth]
    for entry, file in zip(media, truth, strict=True):
        assert file.blob is not None
        assert (entry["status"], entry["size"]) == ("downloaded", file.blob.size)
        assert entry["sha256"] == file.blob.sha256()
        content = (crawled.data / entry["path"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == entry["sha256"]
    assert "deadline" not in json.dumps(record)  # addresses tell who asked: not stored


@pytest.mark.parametrize(
    ("cookies", "settings", "quality"),
    [("member", {"BILIBILI_MAX_QUALITY": 32}, 32), ("member", {}, 80), (None, {}, 32)],
)
def test_the_quality_is_the_best_that_session_and_setting_allow(
    crawl: Crawl, world: World, cookies: str | None, settings: dict[str, Any], quality: int
) -> None:
    video = world.fixed_video("plain")
    settings = {**settings, **APART}
    crawled = crawl(
        "bilibili", settings, cookies=cookies, posts=video.bvid, media="videos", max_comments=0
    )
    found = {m["sha256"] for m in crawled.posts[0]["media"] if m["kind"] == "video"}
    truth = world.files(video, quality)
    assert found == {file.blob.sha256() for file in truth if file.kind == "video" and file.blob}


def test_streams_come_from_a_mirror_and_else_from_the_backup(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    calm_sandbox.fault("media-403", host="upos-*")
    video = world.fixed_video("plain")
    crawled = crawl("bilibili", APART, posts=video.bvid, media="videos", max_comments=0)
    assert {m["status"] for m in crawled.posts[0]["media"] if m["kind"] != "cover"} == {
        "downloaded"
    }
    asked = calm_sandbox.stats()["by_path"]
    assert sum(count for path, count in asked.items() if path.startswith("upos-")) == 2
    assert asked["xy113x200x108x47xy.mcdn.bilivideo.cn/*"] == 2


def test_a_paid_video_is_kept_without_its_file(crawl: Crawl, world: World) -> None:
    video = world.fixed_video("paid")
    crawled = crawl("bilibili", posts=video.bvid, media="videos", max_comments=0)
    (record,) = crawled.posts
    assert [m["status"] for m in record["media"] if m["kind"] == "video"] == ["missing"]
    assert "truncated" not in record["extra"]
    assert (crawled.exit_code, crawled.report["verdict"]) == (3, "partial")


def test_subtitles_are_fetched_for_members_who_ask(crawl: Crawl, world: World) -> None:
    video = world.fixed_video("plain")
    settings = {"BILIBILI_SUBTITLES": "True"}
    crawled = crawl("bilibili", settings, posts=video.bvid, media="videos", max_comments=0)
    (record,) = crawled.posts
    files = [m for m in record["media"] if m["kind"] == "subtitle"]
    assert record["extra"]["subtitles"] == [["zh-CN", "ai-zh"]]
    for entry, language in zip(files, ("zh-CN", "ai-zh"), strict=True):
        lines = json.loads((crawled.data / entry["path"]).read_text("utf-8"))["body"]
        assert [line["content"] for line in lines] == [
            text for _, _, text in world.subtitle_lines(video.parts[0], language)
        ]


def test_danmaku_are_refused_while_authors_are_pseudonymous(crawl: Crawl) -> None:
    settings = {"BILIBILI_DANMAKU": "True", "ANONYMIZE": "True"}
    crawled = crawl("bilibili", settings, keywords="露营")
    assert crawled.exit_code == 2
    assert "BILIBILI_DANMAKU needs ANONYMIZE=False" in crawled.output


def test_pseudonymous_records_name_nobody(crawl: Crawl, world: World) -> None:
    video = world.fixed_video("coop")
    crawled = crawl(
        "bilibili", {"ANONYMIZE": "True"}, posts=video.bvid, max_comments="all", max_replies="all"
    )
    written = json.dumps([*crawled.posts, *crawled.comments], ensure_ascii=False)
    area = world.area_of(video)
    people = [user for user, _ in video.staff]
    people += [comment.user for comment in world.comments(area)]
    for person in people:
        assert str(person.mid) not in written
    assert "staff" not in crawled.posts[0]["extra"]
