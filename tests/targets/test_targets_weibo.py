"""Weibo's ids and what users paste: every form of docs/platforms/weibo.md, section 2."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from mediacrawler.targets import Found, Target
from mediacrawler.targets.weibo import (
    bid_to_mid,
    creator_url,
    find,
    mid_to_bid,
    post_url,
    resolve,
    time_of,
)

MID, BID, UID = "4645748019299849", "Kjc77D1jz", "1234567890"

PAIRS = [  # the vectors of section 2.2
    (MID, BID),
    ("4649106427873349", "KkBtUx2dv"),
    ("4648806186747944", "KktFEsjrO"),
    ("4607741009594608", "K3fnuEfZK"),
    ("4826279188108038", "Mb1DMy1gO"),
    ("4910815147462302", "N4xlMvjhI"),
    ("4967273022359838", "Nse4S9TTU"),
    ("5222785292174627", "Q9yKt97ID"),
    ("4189191225395228", "FBqgOmDxO"),
    ("3501756485200075", "z0JH2lOMb"),  # the second group is padded
    ("5000000000000001", "O00000001"),
    ("4700000010000002", "L00010002"),
    ("4600000000000000", "K00000000"),
    ("4826257999528718", "Mb15BDYR0"),  # the trailing 0 must survive
    ("730379578", "1b1AKe"),  # a legacy post
]


@pytest.mark.parametrize(("mid", "bid"), PAIRS)
def test_mid_and_bid_are_the_same_number(mid: str, bid: str) -> None:
    assert mid_to_bid(mid) == bid
    assert bid_to_mid(bid) == mid


def test_a_17_digit_id_is_never_converted() -> None:
    assert mid_to_bid("20111061812539159") is None


@pytest.mark.parametrize("word", ["", "Kjc77-1jz", "ZZZZZZZZZ"])
def test_what_cannot_be_a_bid_has_no_mid(word: str) -> None:
    assert bid_to_mid(word) is None


@pytest.mark.parametrize(
    ("mid", "written"),
    [  # the vectors of section 2.3, local times being eight hours later
        (MID, datetime(2021, 6, 8, 1, 35, 4, tzinfo=timezone.utc)),
        ("4649106427873349", datetime(2021, 6, 17, 8, 0, 11, tzinfo=timezone.utc)),
        ("5222785292174627", datetime(2025, 10, 17, 9, 15, 11, tzinfo=timezone.utc)),
        ("730379578", None),
        ("20111061812539159", None),
    ],
)
def test_an_id_of_16_digits_tells_its_time(mid: str, written: datetime | None) -> None:
    assert time_of(mid) == written


POST_LINKS = [
    f"https://weibo.com/{UID}/{BID}?refer_flag=1001030103_",
    f"https://weibo.com/{UID}/{MID}",
    f"http://www.weibo.com/{UID}/{BID}#comment",
    f"//weibo.com/{UID}/{BID}",
    f"weibo.com/{UID}/{BID}",
    f"https://weibo.com/0/{MID}",
    f"https://weibo.com/detail/{MID}",
    f"https://weibo.com/status/{BID}",
    f"https://weibo.com/somebody/{BID}",
    f"https://weibo.com/ajax/statuses/show?id={BID}&locale=zh-CN",
    f"https://m.weibo.cn/detail/{MID}",
    f"https://m.weibo.cn/status/{BID}?mblogid={BID}&luicode=10000011&lfid=100103type%3D1",
    f"https://m.weibo.cn/{UID}/{MID}",
    f"https://m.weibo.cn/statuses/show?id={MID}",
    f"https://weibo.cn/comment/{BID}?uid=1",
    f"https://weibo.cn/{UID}/{BID}",
    f"https://weibo.com/tv/show/1034:4645779462357001?mid={MID}",
    f"https://share.api.weibo.cn/share/310000000,{MID}.html?weibo_id={MID}",
    f"https://weibo.com/tv/v/{BID}?fid=1034:4645779462357001",
    "https://passport.weibo.com/visitor/visitor?entry=miniblog&a=enter"
    f"&url=https%3A%2F%2Fweibo.com%2F{UID}%2F{BID}&domain=weibo.com",
    MID,
    BID,
]


@pytest.mark.parametrize("text", POST_LINKS)
def test_every_form_of_a_post_gives_its_mid_and_bid(text: str) -> None:
    found = find(text, "post")
    assert [(target.kind, target.id) for target in found.targets] == [("post", MID)]
    assert found.targets[0].get("bid") == BID
    assert found.unknown == []


def test_a_link_with_an_author_remembers_it() -> None:
    with_author, with_zero = find(
        f"https://weibo.com/{UID}/{BID}\nhttps://weibo.com/0/4649106427873349", "post"
    ).targets
    assert with_author.get("author_id") == UID
    assert with_zero.get("author_id") is None


@pytest.mark.parametrize(
    "text",
    [
        f"https://weibo.com/u/{UID}?tabtype=feed",
        f"https://weibo.com/{UID}",
        f"https://weibo.com/{UID}/profile?topnav=1",
        f"https://weibo.com/p/100505{UID}/home",
        f"https://weibo.com/p/100306{UID}",
        f"https://m.weibo.cn/u/{UID}",
        f"https://m.weibo.cn/profile/{UID}",
        f"https://m.weibo.cn/p/100505{UID}",
        f"https://m.weibo.cn/p/index?containerid=100505{UID}",
        f"https://m.weibo.cn/p/230413{UID}_-_WEIBO_SECOND_PROFILE_WEIBO",
        UID,
    ],
)
def test_every_form_of_a_profile_gives_its_uid(text: str) -> None:
    assert find(text, "creator") == Found([Target("creator", UID)])


@pytest.mark.parametrize(
    ("text", "address", "context"),
    [
        ("http://t.cn/A6abcdef", "http://t.cn/A6abcdef", ()),
        ("t.cn/A6abcdef", "https://t.cn/A6abcdef", ()),
        (
            f"https://mapp.api.weibo.cn/fx/{'0a' * 16}.html",
            f"https://mapp.api.weibo.cn/fx/{'0a' * 16}.html",
            (),
        ),
        (
            "https://weibo.com/n/山间茶馆",
            "https://m.weibo.cn/n/%E5%B1%B1%E9%97%B4%E8%8C%B6%E9%A6%86",
            (),
        ),
        ("@山间茶馆", "https://m.weibo.cn/n/%E5%B1%B1%E9%97%B4%E8%8C%B6%E9%A6%86", ()),
        ("https://weibo.com/teahouse", "https://m.weibo.cn/teahouse?&jumpfrom=weibocom", ()),
        ("https://weibo.com/12345", "https://m.weibo.cn/12345?&jumpfrom=weibocom", ()),
        (
            "https://video.weibo.com/show?fid=1034%3A4645779462357001",
            "https://weibo.com/tv/show/1034:4645779462357001",
            (("object_id", "1034:4645779462357001"),),
        ),
        (
            "https://h5.video.weibo.com/show/1034:4645779462357001",
            "https://weibo.com/tv/show/1034:4645779462357001",
            (("object_id", "1034:4645779462357001"),),
        ),
    ],
)
def test_what_must_be_followed_is_a_short_link(
    text: str, address: str, context: tuple[tuple[str, str], ...]
) -> None:
    assert find(text, "creator").targets == [Target("short_link", address, context)]


@pytest.mark.parametrize(
    "text",
    [
        "https://weibo.com/ttarticle/p/show?id=2309404645779462357001",
        "https://weibo.com/ttarticle/x/m/show#/id=2309404645779462357001&_wb_client_=1",
        "https://card.weibo.com/article/m/show/id/2309404645779462357001",
    ],
)
def test_an_article_is_a_post_of_another_kind(text: str) -> None:
    article = Target("post", "2309404645779462357001", (("object", "article"),))
    assert find(text, "post").targets == [article]


@pytest.mark.parametrize(
    "text",
    [
        f"看看这个！https://weibo.com/{UID}/{BID}，真不错",
        f"【山间茶馆】“https://m.weibo.cn/detail/{MID}”",
        f"(https://weibo.com/{UID}/{BID}).",
        f"好天气https://weibo.com/{UID}/{BID}快来看 Something beautiful",
    ],
)
def test_text_around_a_link_is_ignored(text: str) -> None:
    assert [target.id for target in find(text, "post").targets] == [MID]


def test_several_links_and_ids_keep_their_order_and_come_once() -> None:
    text = f"4649106427873349, https://weibo.com/{UID}/{BID}，{MID} Mb15BDYR0"
    ids = [target.id for target in find(text, "post").targets]
    assert ids == ["4649106427873349", MID, "4826257999528718"]


@pytest.mark.parametrize(
    "text",
    [
        f"{MID}；4649106427873349。",
        f"“{BID}”、KkBtUx2dv",
        f"https://weibo.com/{UID}/{BID}https://m.weibo.cn/detail/4649106427873349",
    ],
)
def test_entries_of_a_list_are_told_apart(text: str) -> None:
    assert [target.id for target in find(text, "post").targets] == [MID, "4649106427873349"]


def test_punctuation_is_no_part_of_a_name() -> None:
    assert find("《@山间茶馆》。 。", "creator") == find("@山间茶馆", "creator")


def test_an_at_name_beside_a_link_belongs_to_the_share_text() -> None:
    found = find(f"@山间茶馆 的主页 https://weibo.com/u/{UID}", "creator")
    assert found.targets == [Target("creator", UID)]


def test_a_link_of_the_other_kind_is_returned_as_its_own_kind() -> None:
    assert find(f"https://weibo.com/u/{UID}", "post").targets == [Target("creator", UID)]
    assert [t.kind for t in find(f"https://weibo.com/{UID}/{BID}", "creator").targets] == ["post"]


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/x",
        "https://notweibo.com/1234567890/Kjc77D1jz",
        "https://weibo.com/hot/search",
        "https://weibo.com/p/100808aabbccddeeff",
        "https://m.weibo.cn/search?containerid=100103type%3D1",
        "beautiful",
        "Something",
    ],
)
def test_what_is_not_understood_is_named(text: str) -> None:
    assert find(text, "post") == Found([], [text])


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/u/1234567890", Target("creator", UID)),
        (f"https://m.weibo.cn/u/{UID}?jumpfrom=weibocom", Target("creator", UID)),
        (
            f"https://m.weibo.cn/status/{BID}?from=page",
            Target("post", MID, (("bid", BID),)),
        ),
    ],
)
def test_a_redirect_names_what_a_short_link_meant(location: str, target: Target) -> None:
    assert resolve(location, "post") == [target]


def test_a_redirect_to_elsewhere_names_nothing() -> None:
    assert resolve("https://example.com/", "post") == []


def test_canonical_addresses() -> None:
    assert post_url(MID, BID, UID) == f"https://weibo.com/{UID}/{BID}"
    assert post_url(MID, BID) == f"https://m.weibo.cn/detail/{MID}"
    assert creator_url(UID) == f"https://weibo.com/u/{UID}"
