"""Every form in which people name Bilibili videos, posts and creators."""

from __future__ import annotations

import pytest

from mediacrawler.targets import Target
from mediacrawler.targets.bilibili import (
    aid_to_bvid,
    bvid_to_aid,
    creator_url,
    find,
    post_url,
    resolve,
)

OPUS_ID = "917092495452536836"

NUMBERS = [
    (1, "BV1xx411c7mQ"),
    (2, "BV1xx411c7mD"),
    (170001, "BV17x411w7KC"),
    (55185686, "BV1d4411N7zD"),
    (80433022, "BV1GJ411x7h7"),
    (85440373, "BV117411r7R1"),
    (99999999, "BV1y7411Q7Eq"),
    (455017605, "BV1Q541167Qg"),
    (111298867365120, "BV1L9Uoa9EUx"),
    (114251901441504, "BV1zKZrYAEi8"),
    (114912554719208, "BV1BZbSzZEGT"),
    (117343355144706, "BV1Zgaa6qESf"),
    (2251799813685247, "BV1aPPTfmvQq"),
]


def video(bvid: str, part: str | None = None) -> Target:
    context = [("kind", "video")] + ([("p", part)] if part else [])
    return Target("post", bvid, tuple(context))


def opus(opus_id: str = OPUS_ID) -> Target:
    return Target("post", opus_id, (("kind", "opus"),))


def article(number: str) -> Target:
    return Target("post", f"cv{number}", (("kind", "article"),))


@pytest.mark.parametrize(("aid", "bvid"), NUMBERS)
def test_aid_and_bvid_are_names_of_one_number(aid: int, bvid: str) -> None:
    assert aid_to_bvid(aid) == bvid
    assert bvid_to_aid(bvid) == aid


def test_the_prefix_of_a_bvid_may_be_of_any_case_but_the_rest_not() -> None:
    assert bvid_to_aid("bv1xx411c7mD") == 2
    with pytest.raises(ValueError, match="no bvid"):
        bvid_to_aid("BV1XX411C7MD0")


@pytest.mark.parametrize("aid", [0, -1, 2**51, 10**20])
def test_numbers_outside_the_range_are_no_aids(aid: int) -> None:
    with pytest.raises(ValueError, match="no aid"):
        aid_to_bvid(aid)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("BV1xx411c7mD", video("BV1xx411c7mD")),
        ("bv1xx411c7mD", video("BV1xx411c7mD")),
        ("av170001", video("BV17x411w7KC")),
        ("AV170001", video("BV17x411w7KC")),
        ("https://www.bilibili.com/video/BV1xx411c7mD", video("BV1xx411c7mD")),
        ("http://bilibili.com/video/av2/", video("BV1xx411c7mD")),
        ("//www.bilibili.com/video/BV1xx411c7mD/", video("BV1xx411c7mD")),
        ("www.bilibili.com/video/BV1xx411c7mD", video("BV1xx411c7mD")),
        ("HTTPS://WWW.BILIBILI.COM/video/BV1xx411c7mD", video("BV1xx411c7mD")),
        (
            "https://m.bilibili.com/video/BV1xx411c7mD?p=3&share_source=copy_web&vd_source=ab12",
            video("BV1xx411c7mD", "3"),
        ),
        ("https://www.bilibili.com/video/BV1xx411c7mD#reply123", video("BV1xx411c7mD")),
        ("https://www.bilibili.com/festival/spring?bvid=BV1xx411c7mD", video("BV1xx411c7mD")),
        ("https://www.bilibili.com/list/99?oid=2&bvid=BV1xx411c7mD", video("BV1xx411c7mD")),
        ("www.bilibili.com/list/9?oid=2&amp;bvid=BV1xx411c7mD", video("BV1xx411c7mD")),
        ("https://www.bilibili.com/list/watchlater?bvid=BV1xx411c7mD", video("BV1xx411c7mD")),
        (
            "https://player.bilibili.com/player.html?bvid=BV1xx411c7mD&p=2",
            video("BV1xx411c7mD", "2"),
        ),
        ("//player.bilibili.com/player.html?aid=2", video("BV1xx411c7mD")),
        ("https://b23.tv/BV1xx411c7mD", video("BV1xx411c7mD")),
        ("b23.tv/av2", video("BV1xx411c7mD")),
        (f"https://www.bilibili.com/opus/{OPUS_ID}?spm_id_from=333", opus()),
        (f"https://t.bilibili.com/{OPUS_ID}?tab=2", opus()),
        (f"https://m.bilibili.com/opus/{OPUS_ID}", opus()),
        (f"https://m.bilibili.com/dynamic/{OPUS_ID}", opus()),
        (f"https://t.bilibili.com/h5/dynamic/detail/{OPUS_ID}", opus()),
        ("https://www.bilibili.com/read/cv34646640", article("34646640")),
        ("https://www.bilibili.com/read/mobile/34646640", article("34646640")),
        ("https://www.bilibili.com/read/mobile?id=34646640", article("34646640")),
        ("cv34646640", article("34646640")),
        ("https://b23.tv/AbC9xYz", Target("short_link", "https://b23.tv/AbC9xYz")),
        ("bili2233.cn/AbC9xYz", Target("short_link", "https://bili2233.cn/AbC9xYz")),
        ("https://bili22.cn/AbC9xYz/", Target("short_link", "https://bili22.cn/AbC9xYz")),
    ],
)
def test_every_form_of_a_post_is_understood(text: str, target: Target) -> None:
    found = find(text, "post")
    assert found.targets == [target]
    assert found.unknown == []


@pytest.mark.parametrize(
    "text",
    [
        "99",
        "UID:99",
        "uid：99",
        "https://space.bilibili.com/99",
        "space.bilibili.com/99/",
        "https://space.bilibili.com/99/upload/video?tid=0",
        "https://space.bilibili.com/99/dynamic",
        "https://space.bilibili.com/99/lists/123?type=season",
        "https://space.bilibili.com/99/favlist?fid=7",
        "https://m.bilibili.com/space/99?from=search",
    ],
)
def test_every_form_of_a_creator_is_understood(text: str) -> None:
    assert find(text, "creator").targets == [Target("creator", "99")]


def test_a_share_text_gives_its_link_whatever_the_title_holds() -> None:
    text = "【【4K】「2024」BV号是什么？［上］-哔哩哔哩】 https://b23.tv/AbC9xYz，快来看！"
    found = find(text, "creator")
    assert found.targets == [Target("short_link", "https://b23.tv/AbC9xYz")]
    assert found.unknown == []


@pytest.mark.parametrize(
    "mark", ["，", "。", "】", "！", "、", "；", "）", ".", ")", "'", "\u201d"]
)
def test_punctuation_glued_to_a_link_is_no_part_of_it(mark: str) -> None:
    text = f"看这个https://www.bilibili.com/video/BV1xx411c7mD{mark}真好"
    assert find(text, "post").targets == [video("BV1xx411c7mD")]


def test_lists_keep_their_order_and_name_each_target_once() -> None:
    text = "av2、BV17x411w7KC；https://b23.tv/BV1xx411c7mD\nhttps://t.bilibili.com/" + OPUS_ID
    assert find(text, "post").targets == [video("BV1xx411c7mD"), video("BV17x411w7KC"), opus()]


def test_links_without_anything_between_them_are_two() -> None:
    text = "https://www.bilibili.com/video/BV1xx411c7mDhttps://b23.tv/BV17x411w7KC"
    assert find(text, "post").targets == [video("BV1xx411c7mD"), video("BV17x411w7KC")]


def test_numbers_in_the_title_around_a_link_are_nobodys_account() -> None:
    text = "第 100 期 2024 https://space.bilibili.com/99\n100,UID:101"
    assert [target.id for target in find(text, "creator").targets] == ["99", "100", "101"]


def test_the_other_kind_of_link_is_returned_as_what_it_is() -> None:
    assert find("https://space.bilibili.com/99", "post").targets == [Target("creator", "99")]
    assert find("BV1xx411c7mD", "creator").targets == [video("BV1xx411c7mD")]


@pytest.mark.parametrize(
    "text",
    [
        "1234567",  # a bare number names a creator or nothing
        "https://www.bilibili.com/bangumi/play/ep123456",
        "https://www.bilibili.com/cheese/play/ss789",
        "https://b23.tv/ep123456",
        "https://www.bilibili.com/",
        "https://space.bilibili.com/",
        "https://www.bilibili.com/video/BV1xx411c7m0",  # 0 is no digit of a bvid
        "https://example.com/video/BV1xx411c7mD",
        "https://www.bilibili.com.example.com/video/BV1xx411c7mD",
        "https://notbilibili.com/video/BV1xx411c7mD",
        "av0",
        "av99999999999999999",
    ],
)
def test_what_is_not_supported_is_named(text: str) -> None:
    found = find(text, "post")
    assert found.targets == []
    assert found.unknown == [text]


@pytest.mark.parametrize(
    ("location", "targets"),
    [
        (
            "https://www.bilibili.com/video/BV1xx411c7mD?p=1&share_medium=web&unique_k=AbC9xYz",
            [video("BV1xx411c7mD", "1")],
        ),
        (f"https://m.bilibili.com/opus/{OPUS_ID}?plat_id=1", [opus()]),
        ("https://space.bilibili.com/99?share_from=space", [Target("creator", "99")]),
        ("https://bili2233.cn/AbC9xYz", [Target("short_link", "https://bili2233.cn/AbC9xYz")]),
        ("https://live.bilibili.com/123", []),
        ("https://example.com/video/BV1xx411c7mD", []),
        ("", []),
    ],
)
def test_a_short_link_is_judged_by_where_it_points(location: str, targets: list[Target]) -> None:
    assert resolve(location, "post") == targets


def test_addresses_are_built_from_ids() -> None:
    assert post_url("BV1xx411c7mD") == "https://www.bilibili.com/video/BV1xx411c7mD"
    assert post_url(OPUS_ID) == f"https://www.bilibili.com/opus/{OPUS_ID}"
    assert post_url("cv34646640") == "https://www.bilibili.com/read/cv34646640"
    assert creator_url("99") == "https://space.bilibili.com/99"
