"""Pictures in comments are files like those of posts, in a folder of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from mediacrawler.media import file_type
from sandbox.testing import RunningSandbox
from tests.conftest import Crawled

Crawl = Callable[..., Crawled]
PLATFORMS = ("xhs", "bilibili", "weibo", "zhihu")


def fetch(crawl: Crawl, platform: str, media: str = "images", **settings: object) -> Crawled:
    limits = {"max_posts": 15 if platform == "weibo" else 6, "max_comments": "all"}
    return crawl(platform, settings, keywords="咖啡", media=media, **limits)


def fetch_again(crawl: Crawl, before: Crawled, **settings: object) -> Crawled:
    """The same posts once more, by their links: what a search finds is not fixed."""
    platform = before.posts[0]["platform"]
    links = "\n".join(post["url"] for post in before.posts)
    return crawl(platform, settings, posts=links, media="images", max_comments="all")


def pictures(crawled: Crawled) -> list[tuple[dict[str, Any], int, dict[str, Any]]]:
    """Each picture of a comment with that comment and its position, from 1."""
    found = [
        (comment, position, entry)
        for comment in crawled.comments
        for position, entry in enumerate(comment["media"], 1)
    ]
    assert found, "the sandbox has to show some"
    return found


@pytest.mark.parametrize("platform", PLATFORMS)
def test_pictures_in_comments_lie_below_the_folder_of_their_post(
    crawl: Crawl, calm_sandbox: RunningSandbox, platform: str
) -> None:
    crawled = fetch(crawl, platform)
    folders = {
        post["post_id"]: entry["path"].rpartition("/")[0]
        for post in crawled.posts
        for entry in post["media"]
        if entry["path"]
    }
    found = pictures(crawled)
    for comment, position, entry in found:
        content = (crawled.data / entry["path"]).read_bytes()
        assert entry["status"] == "downloaded"
        assert entry["ext"] == file_type(content)
        assert (entry["size"], entry["sha256"]) == (
            len(content),
            hashlib.sha256(content).hexdigest(),
        )
        folder, _, name = entry["path"].rpartition("/")
        above, below, comment_id = folder.rsplit("/", 2)
        assert (below, comment_id) == ("comments", comment["comment_id"])
        assert name == f"{position}.{entry['ext']}"
        assert above == folders.get(comment["post_id"], above)
    assert {comment["post_id"] for comment, _, _ in found} & folders.keys()
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete")
    media = crawled.report["media"]
    assert media["of_comments"] == len(found)
    of_posts = sum(bool(entry["path"]) for post in crawled.posts for entry in post["media"])
    assert media["downloaded"] == len(found) + of_posts
    assert f"{len(found)} of them in comments" in crawled.output

    calm_sandbox.reset()
    again = fetch_again(crawl, crawled)
    assert {entry["status"] for _, _, entry in pictures(again)} == {"present"}
    assert calm_sandbox.stats()["media_requests"] == 0


@pytest.mark.parametrize(
    ("media", "settings"),
    [("videos", {}), ("none", {}), ("images", {"COMMENT_MEDIA": "False"})],
)
def test_pictures_in_comments_are_left_out_where_they_are_not_wanted(
    crawl: Crawl, media: str, settings: dict[str, str]
) -> None:
    crawled = fetch(crawl, "zhihu", media, **settings)
    assert {(entry["status"], entry["path"]) for _, _, entry in pictures(crawled)} == {(None, None)}
    assert all(entry["url"] for _, _, entry in pictures(crawled))
    assert "of_comments" not in crawled.report["media"]
    assert bool(crawled.report["media"].get("downloaded")) == (media != "none")


def test_a_picture_in_a_comment_that_is_gone_is_said_with_its_comment(
    crawl: Crawl, calm_sandbox: RunningSandbox
) -> None:
    whole = fetch(crawl, "bilibili")
    comment, position, entry = pictures(whole)[0]
    (whole.data / entry["path"]).unlink()
    calm_sandbox.fault("media-404", path="/" + entry["url"].split("/", 3)[3])
    crawled = fetch_again(crawl, whole)
    (gone,) = (one for one in crawled.comments if one["comment_id"] == comment["comment_id"])
    assert gone["media"][position - 1]["status"] == "gone"
    assert gone["media"][position - 1]["path"] is None
    said = f"file {position} of comment {comment['comment_id']} (post {comment['post_id']}) is gone"
    assert sum(said in line for line in crawled.output.splitlines()) == 1
    assert (crawled.exit_code, crawled.report["verdict"]) == (3, "partial")
    assert "1 files are missing" in crawled.report["reason"]


def test_addresses_that_name_the_writer_are_fetched_from_but_not_stored(crawl: Crawl) -> None:
    crawled = fetch(crawl, "weibo", ANONYMIZE="True")
    assert {entry["status"] for _, _, entry in pictures(crawled)} == {"downloaded"}
    assert {entry["url"] for _, _, entry in pictures(crawled)} == {None}
