"""The WBI signature against vectors, some of them recorded from a browser."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest

from mediacrawler.signing.bilibili import key_of, mixin_key, query_string, sign, sign_url

IMG_KEY = "7cd084941338484aae1ad9425b84077c"
SUB_KEY = "4932caff0ff746eab6f01bf08b70ac45"
MIXIN = "ea1db124af3c7062474693fa704f4ff8"


def test_the_mixin_key_takes_characters_of_both_keys() -> None:
    assert mixin_key(IMG_KEY, SUB_KEY) == MIXIN
    other = mixin_key("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210")
    assert other == "1022a87ffdaf532cb45ee953dce8c96d"


def test_keys_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="32 characters"):
        mixin_key("short", SUB_KEY)


@pytest.mark.parametrize(
    ("address", "key"),
    [
        (f"https://i0.hdslb.com/bfs/wbi/{IMG_KEY}.png", IMG_KEY),
        (f"//i0.hdslb.com/bfs/wbi/{SUB_KEY}.png?x=1", SUB_KEY),
        ("https://i0.hdslb.com/bfs/wbi/tooshort.png", None),
        ("", None),
    ],
)
def test_a_key_is_the_name_of_a_picture(address: str, key: str | None) -> None:
    assert key_of(address) == key


VECTORS = [
    (
        {"foo": 114, "bar": 514, "zab": 1919810},
        1702204169,
        "8f6f2b5b3d485fe1886cec6a0be8c5d4",
    ),
    (
        {
            "mode": 3,
            "oid": 114251901441504,
            "pagination_str": '{"offset":""}',
            "plat": 1,
            "type": 1,
            "web_location": 1315875,
        },
        1790833013,
        "9b45e527175f687b4a0804a059ca7380",
    ),
    ({"mid": 28454359}, 1790833014, "7e11d84988916ca0dc2ec738d765701a"),
    (
        {"mid": 28454359, "pn": 1, "ps": 25, "index": 1, "order": "pubdate"},
        1790833014,
        "1316104500d79296c3cc266a2d3e19ad",
    ),
    (
        {
            "search_type": "video",
            "keyword": "晴天 周杰伦",
            "order": "totalrank",
            "page": 1,
            "page_size": 20,
        },
        1790833014,
        "e8526e7a1516566802d445a7f7cf55c0",
    ),
    (
        {
            "bvid": "BV1zKZrYAEi8",
            "cid": 29153362694,
            "qn": 0,
            "fnver": 0,
            "fnval": 4048,
            "fourk": 1,
            "try_look": 1,
            "gaia_source": "pre-load",
            "isGaiaAvoided": "true",
            "web_location": 1315873,
        },
        1790833245,
        "867cc82f50cca9dc9636952a43c4ed16",
    ),
    (
        {"keyword": "it's (great)! *c++* 50% a&b=c/d", "page": 1, "search_type": "video"},
        1700000000,
        "05b216d6092190e10b231306815eafda",
    ),
    (
        {
            "mid": 2,
            "dm_img_list": "[]",
            "dm_img_str": "V2ViR0wgMS",
            "dm_cover_img_str": "QU5HTEUgKE",
            "dm_img_inter": '{"ds":[],"wh":[0,0,0],"of":[0,0,0]}',
        },
        1700000000,
        "bd7e0491c97638ec8ae988f0a285fc2e",
    ),
    (
        {
            "oid": 2,
            "type": 1,
            "mode": 3,
            "plat": 1,
            "web_location": 1315875,
            "pagination_str": r'{"offset":"{\"type\":1,\"direction\":1,\"data\":{\"pn\":2}}"}',
        },
        1700000000,
        "950b1f3a33a1ead132575d18a29e9548",
    ),
    ({"keyword": "露营😀~-_.", "page": 2}, 1700000000, "b614fb504fd7c5e5ffb39a05808be74d"),
]


@pytest.mark.parametrize(("params", "now", "w_rid"), VECTORS)
def test_signatures_equal_the_recorded_ones(
    params: dict[str, str | int], now: int, w_rid: str
) -> None:
    query = sign(params, MIXIN, now=now)
    assert query.endswith(f"&w_rid={w_rid}")
    assert f"&wts={now}" in f"&{query}"


def test_other_keys_give_another_signature() -> None:
    query = sign(
        {"keyword": "露营 tent", "page": 1}, "1022a87ffdaf532cb45ee953dce8c96d", now=1760000000
    )
    assert query.endswith("&w_rid=08510c7b945a22322bc01d9641f928cd")


def test_a_blank_is_sent_as_percent_20_and_marks_are_left_out() -> None:
    assert query_string({"b": "it's (1)! *", "a": "x y"}) == "a=x%20y&b=its%201%20"


def test_empty_parameters_take_part() -> None:
    assert query_string({"keyword": "", "mid": 2}) == "keyword=&mid=2"


def test_signing_an_address_equals_signing_its_parameters() -> None:
    url = "https://api.bilibili.com/x/web-interface/wbi/search/type?keyword=a+b&order=&page=1"
    signed = sign_url(url, MIXIN, now=1700000000)
    assert signed.split("?")[1] == sign(
        {"keyword": "a b", "order": "", "page": 1}, MIXIN, now=1700000000
    )
    assert "+" not in signed


def test_signing_again_replaces_the_old_signature() -> None:
    url = "https://api.bilibili.com/x/space/wbi/acc/info?mid=2"
    again = sign_url(sign_url(url, MIXIN, now=1), MIXIN, now=2)
    assert again == sign_url(url, MIXIN, now=2)
    assert [name for name, _ in parse_qsl(urlsplit(again).query)] == ["mid", "wts", "w_rid"]
