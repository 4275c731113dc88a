"""The real ``scrapy crawl xhs`` against the sandbox, beside what the sandbox's world knows."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from sandbox.testing import RunningSandbox
from sandbox.xhs import World
from tests.conftest import Crawled

Crawl = Callable[..., Crawled]
CHINA = timezone(timedelta(hours=8))
DEMO = "演示"  # finds the documented notes: deleted, private, unavailable and ordinary ones


@pytest.fixture(scope="module")
def world() -> World:
    return World(seed=1)


def openable(world: World, ids: list[str]) -> set[str]:
    return {note_id for note_id in ids if world.status(note_id) == "ok"}


def ids(records: list[dict[str, Any]], name: str = "post_id") -> list[str]:
    return [record[name] for record in records]


# --- Limits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 7, 13])
def test_max_posts_counts_only_posts_that_could_be_opened(crawl: Crawl, limit: int) -> None:
    crawled = crawl("xhs", keywords=DEMO, max_posts=limit, max_comments=0)
    assert len(set(ids(crawled.posts))) == len(crawled.posts) == limit
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete")


def test_with_fewer_posts_than_asked_all_come_and_the_report_says_there_are_no_more(
    crawl: Crawl, world: World
) -> None:
    crawled = crawl("xhs", keywords=DEMO, max_posts=50, max_comments=0)
    assert set(ids(crawled.posts)) == openable(world, world.search(DEMO))
    (seed,) = crawled.report["seeds"]
    gone = len(world.search(DEMO)) - len(crawled.posts)
    assert seed["skipped"] == {"not_found": gone}
    assert seed["outcome"] == "the platform has no more"
    assert crawled.exit_code == 0


def test_a_search_is_read_to_its_last_page_and_repeated_notes_are_taken_once(
    crawl: Crawl, world: World
) -> None:
    crawled = crawl("xhs", keywords="露营", max_posts=0, max_comments=0, sort="latest")
    found = world.search("露营", sort="time_descending")
    assert sorted(ids(crawled.posts)) == sorted(openable(world, found))
    pages = world.search_pages("露营", sort="time_descending")
    assert crawled.report["seeds"][0]["duplicates"] == sum(map(len, pages)) - len(found)


def test_a_post_that_two_keywords_find_is_collected_once(crawl: Crawl) -> None:
    crawled = crawl("xhs", keywords=f"{DEMO},{DEMO} ", posts="", max_posts=5, max_comments=0)
    assert len(crawled.posts) == 5  # the same keyword twice is one keyword


@pytest.mark.parametrize(
    ("max_comments", "max_replies"), [(0, 0), (3, 0), (10, 2), (25, "all"), ("all", "all")]
)
def test_comment_limits_are_exact_per_post_and_per_comment(
    crawl: Crawl, world: World, max_comments: Any, max_replies: Any
) -> None:
    note = world.fixed_note("300-comments").id
    token = world.token(note)
    link = f"https://www.xiaohongshu.com/explore/{note}?xsec_token={token}&xsec_source=pc_search"
    crawled = crawl("xhs", posts=link, max_comments=max_comments, max_replies=max_replies)
    roots = [c["comment_id"] for c in crawled.comments if c["root_id"] is None]
    replies = Counter(c["root_id"] for c in crawled.comments if c["root_id"])
    truth = world.comments(note)
    wanted = len(truth) if max_comments == "all" else max_comments
    assert sorted(roots) == sorted(comment.id for comment in truth[:wanted])
    for root in roots:
        known = world.replies(note, root)
        expected = len(known) if max_replies == "all" else min(max_replies, len(known))
        assert replies[root] == expected
    assert len({c["comment_id"] for c in crawled.comments}) == len(crawled.comments)
    assert crawled.report["comments"]["partial"] == []


# --- Seeds ----------------------------------------------------------------------------------


def test_a_creator_gives_a_profile_and_posts_pinned_ones_included(
    crawl: Crawl, world: World
) -> None:
    creator = world.fixed_creator("prolific")
    crawled = crawl("xhs", creators=creator.id, max_posts=0, max_comments=0)
    (profile,) = crawled.creators
    assert profile["creator_id"] == creator.id
    assert profile["name"]
    assert set(ids(crawled.posts)) == openable(world, world.creator_notes(creator.id))
    assert sum(post["extra"].get("is_pinned", False) for post in crawled.posts) == 2


def test_a_pinned_old_post_does_not_end_a_date_window(crawl: Crawl, world: World) -> None:
    creator = world.fixed_creator("prolific")
    notes = [world.note(note_id) for note_id in world.creator_notes(creator.id)]
    since = sorted(note.time for note in notes if note and not note.sticky)[-10]
    day = datetime.fromtimestamp(since / 1000, CHINA)
    crawled = crawl(
        "xhs", creators=creator.id, max_posts=0, max_comments=0, since=f"{day:%Y-%m-%d}"
    )
    midnight = day.replace(hour=0, minute=0, second=0, microsecond=0).timestamp() * 1000
    expected = {n.id for n in notes if n and n.time >= midnight and n.status == "ok"}
    assert set(ids(crawled.posts)) == expected
    assert crawled.report["seeds"][0]["outcome"] == "dates"


def test_share_texts_short_links_and_ids_may_be_mixed(crawl: Crawl, world: World) -> None:
    one, two, three = (world.fixed_note(name).id for name in ("image", "live-photo", "empty-text"))
    text = (
        f"42 【标题 - 作者 | 小红书】 😆 {world.short_link(one)}，复制本条信息打开【小红书】\n"
        f"https://www.xiaohongshu.com/discovery/item/{two}?xsec_token={world.token(two)}%3D\n"
        f"{world.short_link(three, 'login')} https://example.org/nothing"
    )
    crawled = crawl("xhs", posts=text, max_comments=0)
    assert {one, three} <= set(ids(crawled.posts))
    assert crawled.report["not_understood"] == ["https://example.org/nothing"]
    assert crawled.exit_code == 3


def test_sorts_and_types_are_those_of_the_platform(crawl: Crawl, world: World) -> None:
    crawled = crawl(
        "xhs", {"CONCURRENT_REQUESTS": 1}, keywords="咖啡", sort="likes", post_type="video",
        max_posts=5, max_comments=0,
    )  # fmt: skip
    found = world.search("咖啡", sort="popularity_descending", note_type=1)
    assert ids(crawled.posts) == [i for i in found if world.status(i) == "ok"][:5]
    assert {post["post_type"] for post in crawled.posts} == {"video"}


@pytest.mark.parametrize("settings", [{"XHS_SEARCH_API": "v1"}, {"XHS_REGION": "rednote"}])
def test_the_old_search_and_the_international_twin_work_too(
    crawl: Crawl, settings: dict[str, str]
) -> None:
    crawled = crawl("xhs", settings, keywords=DEMO, max_posts=3, max_comments=2)
    assert (crawled.exit_code, len(crawled.posts)) == (0, 3)
    assert crawled.comments


# --- Records and files ----------------------------------------------------------------------


def test_records_say_what_the_platform_says(crawl: Crawl, world: World) -> None:
    note = world.fixed_note("tricky-text")
    crawled = crawl(
        "xhs",
        keywords=DEMO,
        max_posts=0,
        max_comments=0,
        settings={"EXPORT_FORMATS": "jsonl,json,csv"},
    )
    post = next(post for post in crawled.posts if post["post_id"] == note.id)
    assert post["title"] == note.title
    assert "颜文字 (｡•̀ᴗ-)✧ 👨‍👩‍👧‍👦 末行 #露营 #A&B咖啡" in post["text"]
    assert (post["author_id"], post["source_keyword"]) == (note.author.id, DEMO)
    assert crawled.folder
    assert json.loads((crawled.folder / "posts.json").read_text("utf-8")) == crawled.posts
    assert (crawled.folder / "posts.csv").read_bytes().startswith(b"\xef\xbb\xbf")


def media_of_kind(crawled: Crawled, kind: str) -> list[dict[str, Any]]:
    return [entry for post in crawled.posts for entry in post["media"] if entry["kind"] == kind]


def test_files_are_downloaded_whole_in_best_quality_and_not_twice(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    arguments = {"keywords": DEMO, "max_posts": 0, "max_comments": 0, "media": "all"}
    crawled = crawl("xhs", **arguments)
    checked = 0
    subtitles = media_of_kind(crawled, "subtitle")
    for post in crawled.posts:
        files = world.files(post["post_id"])
        listed = [entry for entry in post["media"] if entry["kind"] != "subtitle"]
        media = [entry for entry in listed if entry["status"] != "missing"]
        assert [(m["kind"], m["url"].split("?")[0].partition("://")[2]) for m in media] == [
            (f.kind, f.url.partition("://")[2]) for f in files
        ]
        for entry, file in zip(media, files, strict=True):
            if file.blob is None:
                assert entry["status"] == "gone"
                continue
            content = (crawled.data / entry["path"]).read_bytes()
            assert hashlib.sha256(content).hexdigest() == entry["sha256"] == file.blob.sha256()
            assert entry["size"] == file.blob.size
            checked += 1
    assert checked > 30
    assert (crawled.exit_code, crawled.report["verdict"]) == (3, "partial")  # one file is gone
    calm_sandbox.reset()
    again = crawl("xhs", **arguments)
    assert again.report["media"]["present"] == checked + len(subtitles)
    assert calm_sandbox.stats()["media_bytes"] == 0


def test_subtitles_of_videos_come_with_them(crawl: Crawl, world: World) -> None:
    note = world.fixed_note("video-buckets").id
    link = f"https://www.xiaohongshu.com/explore/{note}?xsec_token={world.token(note)}"
    crawled = crawl("xhs", posts=link, max_comments=0, media="videos")
    (subtitle,) = media_of_kind(crawled, "subtitle")
    (told,) = crawled.posts[0]["extra"]["subtitles"]
    assert subtitle["url"] == told["url"].replace("http://", "https://")
    assert (subtitle["status"], subtitle["ext"]) == ("downloaded", "srt")
    content = (crawled.data / subtitle["path"]).read_bytes()
    assert content.startswith(b"1\n00:00:01,000 --> 00:00:02,000\n")
    assert hashlib.sha256(content).hexdigest() == subtitle["sha256"]
    (video,) = media_of_kind(crawled, "video")
    assert video["status"] == "downloaded"
    assert crawled.exit_code == 0


def test_an_error_page_is_no_subtitle(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    note = world.fixed_note("video-buckets").id
    link = f"https://www.xiaohongshu.com/explore/{note}?xsec_token={world.token(note)}"
    calm_sandbox.fault("media-html", path="/subtitle/")
    crawled = crawl("xhs", posts=link, max_comments=0, media="videos")
    (subtitle,) = media_of_kind(crawled, "subtitle")
    assert (subtitle["status"], subtitle["path"]) == ("failed", None)
    assert (crawled.exit_code, crawled.report["verdict"]) == (3, "partial")


def test_expired_file_addresses_are_renewed_once(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    note = world.fixed_note("video-buckets").id
    link = f"https://www.xiaohongshu.com/explore/{note}?xsec_token={world.token(note)}"
    calm_sandbox.fault("403", path="*", host="*.xhscdn.com", times=4)
    crawled = crawl("xhs", posts=link, max_comments=0, media="videos")
    (video,) = [m for m in crawled.posts[0]["media"] if m["kind"] == "video"]
    assert video["status"] == "downloaded"


def test_an_interrupted_file_is_resumed(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    note = world.fixed_note("video-origin").id
    link = f"https://www.xiaohongshu.com/explore/{note}?xsec_token={world.token(note)}"
    calm_sandbox.fault("media-reset", path="*", times=2, args={"after": 100_000})
    crawled = crawl("xhs", posts=link, max_comments=0, media="videos")
    (video,) = [m for m in crawled.posts[0]["media"] if m["kind"] == "video"]
    assert video["sha256"] == world.files(note)[0].blob.sha256()  # type: ignore[union-attr]
    assert calm_sandbox.stats()["media_bytes"] < video["size"] + 400_000
    assert not list(crawled.data.rglob("*.part*"))


def test_privacy_is_on_by_default(crawl: Crawl, world: World) -> None:
    creator = world.fixed_creator("demo")
    crawled = crawl(
        "xhs", {"ANONYMIZE": "1"}, creators=creator.id, max_posts=10, max_comments=5, max_replies=2
    )
    assert crawled.folder
    people = {creator.id}
    for note_id in ids(crawled.posts):
        note = world.note(note_id)
        assert note
        people |= {note.author.id} | {user.id for user in note.mentions}
        people |= {comment.user.id for comment in world.comments(note_id)}
    text = "".join(path.read_text("utf-8") for path in crawled.folder.glob("*.jsonl"))
    assert len(people) > 20
    assert not [person for person in people if person in text]
    assert creator.nickname not in text
    assert creator.red_id not in text
    key = crawled.data / ".anonymize.key"
    assert key.stat().st_mode & 0o777 == 0o600


# --- Politeness -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "bound"),
    [
        ({"CONCURRENT_REQUESTS": 10}, 10),
        ({"MAX_CONCURRENCY_NUM": 5}, 5),
        ({"XHS_MAX_CONCURRENCY": 3, "MAX_CONCURRENCY_NUM": 5}, 3),
        ({"XHS_MAX_CONCURRENCY": 3, "CONCURRENT_REQUESTS": 6}, 6),
    ],
)
def test_never_more_in_flight_than_asked_files_included(
    tmp_path: Path, crawl: Crawl, settings: dict[str, Any], bound: int
) -> None:
    # So slow that also on a busy machine requests are sent faster than they are answered.
    with RunningSandbox("--latency", "300") as slow:
        crawled = crawl(
            "xhs",
            {"CONCURRENT_REQUESTS": None, "SANDBOX_URL": slow.url, **settings},
            keywords="露营",
            max_posts=8,
            max_comments=5,
            media="images",
        )
        stats = slow.stats()
    assert crawled.exit_code == 0
    assert stats["most_in_flight"] == bound
    assert stats["connections"] <= bound + 5


# --- Faults ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["429", "500", "503", "cut", "reset", "empty", "300013", "406", "300015", "blank"]
)
def test_nothing_is_lost_to_faults_that_pass(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World, kind: str
) -> None:
    calm_sandbox.fault(kind, path="*", rate=0.2)
    crawled = crawl(
        "xhs",
        {"BACKOFF_MAX": "0.2", "RETRY_TIMES": "15", "BACKOFF_GIVE_UP": "15"},
        keywords=DEMO,
        max_posts=0,
        max_comments=20,
        max_replies=0,
        media="images",
    )
    assert set(ids(crawled.posts)) == openable(world, world.search(DEMO)), crawled.output
    expected = {
        comment.id
        for note_id in openable(world, world.search(DEMO))
        for comment in world.comments(note_id)[:20]
    }
    assert set(ids(crawled.comments, "comment_id")) == expected
    assert crawled.report["comments"]["partial"] == []
    injected = calm_sandbox.stats()["faults"]
    assert injected[kind] > 5
    assert crawled.report["requests"]["retries"] > 5 or kind == "empty"


@pytest.mark.parametrize(
    ("kind", "exit_code", "verdict", "words"),
    [
        ("461", 4, "blocked", "captcha"),
        ("471", 4, "blocked", "captcha"),
        ("300011", 4, "blocked", "account"),
        ("300012", 4, "blocked", "address"),
        ("expired", 6, "login_required", "login"),
        ("no-permission", 6, "login_required", "guest"),
        ("429", 5, "rate_limited", "too many requests"),
        ("300013", 5, "rate_limited", "too many requests"),
    ],
)
def test_a_platform_that_says_stop_is_obeyed_at_once(
    crawl: Crawl,
    calm_sandbox: RunningSandbox,
    kind: str,
    exit_code: int,
    verdict: str,
    words: str,
) -> None:
    calm_sandbox.fault(kind, path="/api/sns/web/v2/comment/page", rate=1)
    crawled = crawl(
        "xhs",
        {"BACKOFF_MAX": "0.05", "BACKOFF_GIVE_UP": "4", "CONCURRENT_REQUESTS": "2"},
        keywords="露营",
        max_posts=20,
    )
    assert (crawled.exit_code, crawled.report["verdict"]) == (exit_code, verdict), crawled.output
    assert words in crawled.report["reason"]
    if verdict != "rate_limited":
        assert calm_sandbox.stats()["faults"][kind] <= 2
    assert crawled.report["comments"]["partial"]
    assert "Traceback" not in crawled.output


def test_one_failing_page_ends_neither_the_crawl_nor_in_silence(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    calm_sandbox.fault("500", path="/api/sns/web/v2/comment/page", rate=1)
    crawled = crawl(
        "xhs", {"RETRY_TIMES": "1", "BACKOFF_GIVE_UP": "99"}, keywords=DEMO, max_posts=5
    )
    assert len(crawled.posts) == 5
    partial = crawled.report["comments"]["partial"]
    assert {gap["post_id"] for gap in partial} <= set(ids(crawled.posts))
    assert len(partial) >= 4
    assert (crawled.exit_code, crawled.report["verdict"]) == (3, "partial")


def test_a_note_that_the_api_hides_is_read_from_its_page(
    crawl: Crawl, calm_sandbox: RunningSandbox
) -> None:
    calm_sandbox.fault("empty-items", path="/api/sns/web/v1/feed", rate=1)
    crawled = crawl("xhs", keywords=DEMO, max_posts=6, max_comments=0)
    assert len(crawled.posts) == 6
    assert all(post["text"] or post["media"] for post in crawled.posts)


def test_each_attempt_is_signed_anew(crawl: Crawl) -> None:
    with RunningSandbox("--strict-replay", "--fault", "500=0.2", "--fault", "reset=0.1") as strict:
        crawled = crawl("xhs", {"SANDBOX_URL": strict.url}, keywords=DEMO, max_posts=10)
        stats = strict.stats()
    assert stats["faults"]["500"] > 3
    assert stats["bad_signatures"] == {}
    assert (crawled.exit_code, len(crawled.posts)) == (0, 10)


def test_a_keyword_without_hits_is_an_honest_empty(crawl: Crawl) -> None:
    crawled = crawl("xhs", keywords="无结果")
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "empty")


def test_three_keywords_without_any_hit_look_like_a_block(crawl: Crawl) -> None:
    crawled = crawl("xhs", keywords="empty1,empty2,empty3")
    assert (crawled.exit_code, crawled.report["verdict"]) == (4, "blocked")


# --- Sessions -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "exit_code"), [("guest", 6), ("expired", 6), ("flagged", 4), (None, 2)]
)
def test_what_the_session_is_worth_decides_the_verdict(
    crawl: Crawl, kind: str | None, exit_code: int
) -> None:
    crawled = crawl("xhs", keywords="露营", cookies=kind)
    assert crawled.exit_code == exit_code, crawled.output
    assert "Traceback" not in crawled.output


def test_secrets_are_nowhere(crawl: Crawl, calm_sandbox: RunningSandbox) -> None:
    crawled = crawl("xhs", {"LOG_LEVEL": "DEBUG"}, keywords=DEMO, max_posts=3)
    cookies = dict(pair.split("=", 1) for pair in calm_sandbox.cookies().split("; "))
    written = "".join(path.read_text("utf-8") for path in crawled.data.rglob("*.json*"))
    for name in ("a1", "web_session"):
        assert cookies[name] not in crawled.output + written
