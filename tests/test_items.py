"""The schema of the records, and what of it reaches a file."""

import json
from datetime import datetime, timedelta, timezone

import pytest

from mediacrawler.items import (
    Comment,
    Creator,
    Media,
    Post,
    as_record,
    field_names,
    iso_utc,
)

UTC = timezone.utc
CHINA = timezone(timedelta(hours=8))


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2025, 10, 19, 13, 38, 7, tzinfo=UTC), "2025-10-19T13:38:07Z"),
        (datetime(2025, 10, 19, 21, 38, 7, tzinfo=CHINA), "2025-10-19T13:38:07Z"),
        (datetime(2026, 1, 1, 0, 0, tzinfo=CHINA), "2025-12-31T16:00:00Z"),
        (datetime(2025, 10, 19, 13, 38, 7, 354000, tzinfo=UTC), "2025-10-19T13:38:07.354Z"),
    ],
)
def test_times_are_written_in_utc(moment, text):
    assert iso_utc(moment) == text


COMMON = "platform text author_id author_name author_url author_avatar published_at like_count"


@pytest.mark.parametrize(
    ("item_class", "names"),
    [
        (
            Post,
            f"{COMMON} post_id post_type url title edited_at comment_count share_count "
            "collect_count view_count tags media ip_location source_keyword repost_of extra "
            "crawled_at",
        ),
        (
            Comment,
            f"{COMMON} comment_id post_id root_id reply_to_id reply_count ip_location media "
            "extra crawled_at",
        ),
        (
            Creator,
            "platform creator_id name url avatar bio gender ip_location follower_count "
            "following_count like_count post_count verified extra crawled_at",
        ),
        (Media, "kind url width height duration_s ext path sha256 size status"),
    ],
)
def test_the_fields_of_a_record_are_those_of_the_design(item_class, names):
    assert sorted(field_names(item_class)) == sorted(names.split())


@pytest.mark.parametrize(
    "item", [Post("xhs", "1"), Comment("xhs", "1"), Creator("xhs", "1"), Media("image")]
)
def test_what_the_platform_did_not_say_is_null_and_never_blank_or_zero(item):
    said = {"xhs", "1", "image"}
    for name, value in as_record(item).items():
        assert value in said if isinstance(value, str) else value in (None, [], {}), name


def test_a_record_is_plain_json_with_its_files_inside():
    post = Post(
        "xhs",
        "65f1a2b3000000000a0b0c0d",
        text="第一行\n第二行 🏕️👨‍👩‍👧",
        published_at=datetime(2025, 10, 19, 13, 38, 7, tzinfo=UTC),
        like_count=12000,
        tags=["露营"],
        media=[Media("video", "https://cdn/x", duration_s=12.5)],
        extra={"is_pinned": True, "since": datetime(2025, 1, 1, tzinfo=UTC), "list": [{"n": 1}]},
    )
    record = json.loads(json.dumps(as_record(post)))
    assert record["text"] == "第一行\n第二行 🏕️👨‍👩‍👧"
    assert record["published_at"] == "2025-10-19T13:38:07Z"
    assert record["media"][0]["duration_s"] == 12.5
    assert record["extra"] == {
        "is_pinned": True,
        "since": "2025-01-01T00:00:00Z",
        "list": [{"n": 1}],
    }


def test_what_only_the_crawl_needs_is_not_written():
    media = Media("image", backup_urls=["https://b"], identifying=True, fetch_url="https://f")
    record = as_record(Post("weibo", "1", media=[media]))["media"][0]
    assert not {"backup_urls", "identifying", "fetch_url"} & record.keys()


def test_the_columns_of_a_record_do_not_depend_on_its_values():
    full = Post("xhs", "1", title="t", extra={"a": 1}, tags=["x"])
    assert list(as_record(full)) == list(as_record(Post("xhs", "2"))) == list(field_names(Post))


def test_two_records_never_share_a_list():
    first, second = Post("xhs", "1"), Post("xhs", "2")
    first.tags.append("a")
    first.extra["b"] = 1
    first.media.append(Media("image"))
    assert (second.tags, second.extra, second.media) == ([], {}, [])
