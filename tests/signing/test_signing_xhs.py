"""Signatures of XHS, against vectors made by running xhshow 0.2.0 with fixed clock and dice."""

import base64
import hashlib
import json
import zlib
from random import Random

import pytest
from xhshow import Xhshow
from xhshow.core.crc32_encrypt import CRC32
from xhshow.utils.hash import xxh32

from mediacrawler.signing import xhs

NOW = 1764896636.081
A1 = "19ab1e5ce48q1w2e3r4t5y6u7i8o9p0a1s2d3f4g550000345877"
COOKIES = {"a1": A1, "web_session": "0400698f" + "0" * 32}
TOKEN = "ABD9GC-clmz41JUCkDRGbv3yNs6Ra4kUqjQNx3kTc4dzA="

COMMENT_PAGE = {
    "note_id": "68f4e9bf00000000009d945b",
    "cursor": "",
    "top_comment_id": "",
    "image_formats": "jpg,webp,avif",
    "xsec_token": TOKEN,
}
SEARCH = {
    "keyword": "露营",
    "page": 1,
    "page_size": 20,
    "search_id": "2foewre5q6z7ry0cr162n",
    "sort": "general",
    "note_type": 0,
}
FEED = {
    "source_note_id": "68f4e9bf00000000009d945b",
    "image_formats": ["jpg", "webp", "avif"],
    "extra": {"need_body_topic": "1"},
    "xsec_source": "pc_search",
    "xsec_token": TOKEN,
}

# What all signatures made with this clock, these dice and this a1 have in common.
HEAD = (
    "XYS_2UQhPsHCH0c1PUhMHjIj2erjwjQhyoPTqBPT49pjHjIj2eHjwjQgynEDJ74AHjIj2ePjwjQTJdPIPAZlg94aGLTl"
    "/L4Aq0D9n0mm2LTrzemk8"
)
FRESH = "oG3Pgp+pLMawepn4f4x2bSonLWUy"  # no visit: age and counters of a page just opened
MIDDLE = (
    "LgSI+bpsySQy+9zyLAmjJr4HzpcFpbmHc9REzBp92npx/7QIcD86po8LzM+gap8wLp8lzoqFPpmmPrkHaMY"
    "/+AYn4gkTPr++c9EIqMQCLDkcpnbLP9IUJDT/Jfznnfl0yLLIaSQQyAmOarEaLSz+"
)
TAIL = "HVHdWFH0ijJ9Qx8n+FHdF="


DRAWS = {(10, 50): 20, (15, 50): 30, (1000, 1200): 1100, (1, 20): 7}


class Dice(Random):
    """Gives what the vectors were made with."""

    def getrandbits(self, k):
        return {32: 0x12345678, 23: 5}.get(k, 1)

    def randint(self, a, b):
        return DRAWS.get((a, b), a)

    def random(self):
        return 0.5


@pytest.mark.parametrize(
    ("method", "path", "data", "md5", "content", "digest"),
    [
        (
            "GET",
            "/api/sns/web/v2/comment/page",
            COMMENT_PAGE,
            "c1b04e4e8126426ed390987b2870b39d",
            "0mP+FDF8ob340m14LE3wB8G",
            "GDr3qg4//BPE87QTLfziwBl+z0L94U",
        ),
        (
            "GET",
            "/api/sns/web/v1/user/selfinfo",
            None,
            "d1e8f0018e922f01497ee8c65441c18a",
            "fE0+FDF8BPAN7Y0zFQM+erI",
            "qFbLcSQ1+gS3N7mjL/pdJgpcq0mxPs",
        ),
        (
            "GET",
            "/api/sns/web/v1/search/recommend",
            {"keyword": "露营 a/b+c&d"},
            "bd63b499c70dc562ec795678df576409",
            "0pe+FDF8BRnzpkLyA894sTt",
            "qD8sp0SHnS4tyB4t+/YIzebd/oZE+j",
        ),
        (
            "POST",
            "/api/sns/web/v1/search/notes",
            SEARCH,
            "7f7fdcc4df9395235d38283349edee8c",
            "0me+FDF8bilqoQnnrpFaSpr",
            "GS+Syg46JgSI4fSOLSqUarqIwomA2a",
        ),
        (
            "POST",
            "/api/sns/web/v1/feed",
            FEED,
            "60d8fa46ab61e32ece709593efec087d",
            "0bA+FDF8bSYNFVILMQVGApG",
            "G9pUJnp1af4oPBEHaBFALMSE2dzTnj",
        ),
    ],
)
def test_x_s_is_that_of_the_vectors_and_signs_what_is_sent(
    method, path, data, md5, content, digest
):
    headers = sign(method, path, data)
    assert headers["x-s"] == HEAD + FRESH + content + MIDDLE + digest + TAIL
    assert headers["x-t"] == "1764896636081"
    assert hashlib.md5(sent(method, path, data)).hexdigest() == md5


def test_a_visit_puts_its_own_age_and_counters_into_x_s():
    visit = xhs.Visit(now=1764896600.0, rng=Dice())
    visit.sequence_value, visit.window_props_length = 17, 1233
    headers = sign("POST", "/api/sns/web/v1/search/notes", SEARCH, visit=visit)
    grown = "epnPop9pLMawepnJaRx2bSnJLWUy0ZU+FDF8bilqoQnnrpFaSpr"
    assert headers["x-s"] == HEAD + grown + MIDDLE + "GS+Syg46JgSI4fSOLSqUarqIwomA2a" + TAIL
    assert visit.window_props_length == 1234


def test_the_format_xyw_is_that_of_the_vector():
    params = {
        "num": "30",
        "cursor": "",
        "user_id": "5367236a41ef69bec633f5b0",
        "image_formats": "jpg,webp,avif",
        "xsec_token": "",
        "xsec_source": "pc_feed",
    }
    x_s = sign("GET", "/api/sns/web/v1/user_posted", params, sign_format="xyw")["x-s"]
    assert x_s.startswith("XYW_eyJzaWduU3ZuIjoiNTYiLCJzaWduVHlwZSI6IngyIiwiYXBwSWQiOiJ4aHMtcGMt")
    assert fingerprint(x_s) == "6de3c00f362d7f0e"


def test_x_s_common_is_that_of_the_vector():
    cookies = {**COOKIES, "webId": "13f7327a10beba40f0a97ea990091f28"}
    value = xhs.common_header(cookies, now=NOW, rng=Dice())
    decoded = json.loads(Xhshow().crypto_processor.b64encoder.decode(value))
    assert decoded["x5"] == A1
    assert decoded["x9"] == CRC32.crc32_js_int(decoded["x8"]) == 1635070969
    assert fingerprint(value) == "df0866e7e59d3600"


def test_x_s_common_of_the_session_is_used_when_it_is_given():
    assert sign("GET", "/api/x", {}, common="kept")["x-s-common"] == "kept"
    made = sign("GET", "/api/x", {})["x-s-common"]
    assert made == xhs.common_header(COOKIES, now=NOW, rng=Dice())


def test_x_rap_param_is_sent_only_where_asked_for_and_its_envelope_is_sound():
    assert "x-rap-param" not in sign("POST", "/api/sns/web/v1/feed", FEED)
    headers = sign(
        "POST",
        "/api/sns/web/v1/feed",
        FEED,
        rap_api="//edith.xiaohongshu.com/api/sns/web/v1/feed",
    )
    envelope = base64.b64decode(headers["x-rap-param"], validate=True)
    cipher_length = int.from_bytes(envelope[12:16], "big")
    assert envelope[:3] == bytes.fromhex("072401")
    assert xxh32(envelope[36:]) == int.from_bytes(envelope[16:20], "big")
    assert len(envelope) == 36 + envelope[3] + 16 + 4 + cipher_length


@pytest.mark.parametrize(
    ("user_id", "direction"),
    [("5367236a41ef69bec633f5b0", "17"), ("5ff0e6410000000001008400", "88"), (None, "10")],
)
def test_xy_direction_follows_from_the_creator_or_else_from_the_dice(user_id, direction):
    assert sign("GET", "/api/x", {}, user_id=user_id)["xy-direction"] == direction


def test_trace_ids_have_the_form_of_a_browsers():
    headers = sign("GET", "/api/x", {})
    assert headers["x-b3-traceid"] == "0000000000000001"
    assert headers["x-xray-traceid"] == "cd7604be58800005" + "0000000000000001"


def test_the_same_clock_and_dice_give_the_same_headers_and_going_on_gives_others():
    def headers(rng):
        return xhs.sign("POST", "/api/x", COOKIES, payload=FEED, rap_api="//h/x", now=NOW, rng=rng)

    rng = Random(7)
    first = headers(rng)
    assert headers(Random(7)) == first
    assert headers(rng)["x-s"] != first["x-s"]


@pytest.mark.parametrize(
    ("params", "query"),
    [
        ({"image_formats": "jpg,webp,avif"}, "image_formats=jpg,webp,avif"),
        ({"image_formats": ["jpg", "webp"]}, "image_formats=jpg,webp"),
        ({"q": "露营 a/b+c&d=e"}, "q=%E9%9C%B2%E8%90%A5%20a%2Fb%2Bc%26d%3De"),
        ({"keep": "~._-", "cursor": None, "num": 30}, "keep=~._-&cursor=&num=30"),
        ({"on": True, "off": False}, "on=true&off=false"),
        ({}, ""),
    ],
)
def test_a_query_is_escaped_as_it_is_signed(params, query):
    assert xhs.query_string(params) == query
    content = f"/api/x?{query}" if query else "/api/x"
    assert signed_md5(sign("GET", "/api/x", params)["x-s"]) == md5_head(content.encode())


@pytest.mark.parametrize(
    ("payload", "body"),
    [
        ({"z": 1, "a": ["露营", None, True]}, '{"z":1,"a":["露营",null,true]}'),
        ({}, "{}"),
    ],
)
def test_a_body_keeps_its_order_and_is_compact_as_it_is_signed(payload, body):
    assert xhs.json_body(payload) == body.encode()
    assert signed_md5(sign("POST", "/api/x", payload)["x-s"]) == md5_head(b"/api/x" + body.encode())


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("GET", "/api/x", {"web_session": "1"}), "a1"),
        (("GET", "/api/x?num=1", COOKIES), "params"),
    ],
)
def test_what_would_be_refused_is_not_signed(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        xhs.sign(*arguments, now=NOW, rng=Dice())


@pytest.mark.parametrize(
    ("method", "data"), [("GET", "payload"), ("POST", "params"), ("PUT", "payload")]
)
def test_data_of_the_other_method_is_not_left_unsigned(method, data):
    with pytest.raises(ValueError, match=method):
        xhs.sign(method, "/api/x", COOKIES, **{data: {"a": "b"}}, now=NOW, rng=Dice())


def test_search_and_request_ids_are_those_of_the_vectors():
    assert xhs.search_id(now=NOW, rng=Dice()) == "2foewre5q6z7ry0cr162n"
    assert xhs.request_id(now=NOW, rng=Dice()) == "1073741823-1764896636081"


def sign(method, path, data, **more):
    data_name = "params" if method == "GET" else "payload"
    return xhs.sign(method, path, COOKIES, **{data_name: data}, now=NOW, rng=Dice(), **more)


def sent(method, path, data):
    if method == "POST":
        return path.encode() + xhs.json_body(data)
    return (f"{path}?{xhs.query_string(data)}" if data else path).encode()


def signed_md5(x_s):
    """The first half of the MD5 that a signature carries."""
    signer = Xhshow()
    array = signer.decode_x3(signer.decode_xs(x_s)["x3"])
    return bytes(byte ^ array[4] for byte in array[36:44])


def md5_head(content):
    return hashlib.md5(content).digest()[:8]


def fingerprint(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_a_new_device_has_an_id_that_proves_itself():
    cookies = xhs.new_device(now=NOW, rng=Random(1))
    a1 = cookies["a1"]
    assert len(a1) == 52
    assert int(a1[:11], 16) == int(NOW * 1000)
    assert a1[41:46] == "50000"
    assert str(zlib.crc32(a1[:46].encode())).startswith(a1[46:])
    assert cookies["webId"] == hashlib.md5(a1.encode()).hexdigest()
    assert cookies != xhs.new_device(now=NOW, rng=Random(2))
    assert xhs.sign("GET", "/api/x", cookies, params={}, now=NOW, rng=Random(1))["x-s"]
