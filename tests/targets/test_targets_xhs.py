"""What can be pasted for XHS, and what comes of it."""

from urllib.parse import quote

import pytest

from mediacrawler.targets import Target
from mediacrawler.targets.xhs import find, resolve

NOTE = "65f1a2b3000000000a0b0c0d"
OTHER_NOTE = "68f4e9bf00000000009d945b"
USER = "5c0d1e2f3a4b5c6d7e8f9a0b"
TOKEN = "CBx7Yk2_pQ-r8sT1uVwXyZ0aBcDeFgHiJkLmNoPqRsTuV="
ESCAPED = TOKEN.replace("=", "%3D")

SITE = "https://www.xiaohongshu.com"
TRACKING = "app_platform=ios&app_version=8.60&share_from_user_hidden=true&type=video"


def post(note_id=NOTE, **context):
    return Target("post", note_id, tuple(context.items()))


def creator(user_id=USER, **context):
    return Target("creator", user_id, tuple(context.items()))


def short(url):
    return Target("short_link", url)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        (NOTE, post()),
        (f"{NOTE}。", post()),
        (f"{SITE}/explore/{NOTE}", post()),
        (f"{SITE}/discovery/item/{NOTE}", post()),
        (f"{SITE}/note/{NOTE}", post()),
        (f"http://xiaohongshu.com/explore/{NOTE}/", post()),
        (f"www.xiaohongshu.com/explore/{NOTE}", post()),
        (
            f"{SITE}/search_result/{NOTE}?xsec_token={TOKEN}&xsec_source=pc_search",
            post(xsec_token=TOKEN, xsec_source="pc_search"),
        ),
        (f"{SITE}/explore/{NOTE}?xsec_token={ESCAPED}", post(xsec_token=TOKEN)),
        (f"{SITE}/explore/{NOTE}?xsec_token={quote(ESCAPED)}", post(xsec_token=TOKEN)),
        (
            f"{SITE}/discovery/item/{NOTE}?{TRACKING}&xsec_source=app_share&xsec_token={ESCAPED}"
            "&author_share=1&httpStatus=461&verifyType=400&verifyUuid=0",
            post(xsec_token=TOKEN, xsec_source="app_share"),
        ),
        (
            f"{SITE}/explore/{NOTE}?xsec_token={ESCAPED}&amp;xsec_source=pc_feed#comments",
            post(xsec_token=TOKEN, xsec_source="pc_feed"),
        ),
        (
            f"{SITE}/user/profile/{USER}/{NOTE}?xsec_token={ESCAPED}&xsec_source=pc_user",
            post(xsec_token=TOKEN, xsec_source="pc_user"),
        ),
        (
            f"{SITE}/user/profile/{USER}?xsec_token={ESCAPED}&xsec_source=pc_note",
            creator(xsec_token=TOKEN, xsec_source="pc_note"),
        ),
        (f"https://www.rednote.com/explore/{NOTE}", post(region="rednote")),
        (
            f"rednote.com/user/profile/{USER}?xsec_token={TOKEN}",
            creator(xsec_token=TOKEN, region="rednote"),
        ),
        ("http://xhslink.com/Ab12Cd", short("http://xhslink.com/Ab12Cd")),
        ("https://xhslink.com/a/Ab12Cd?x=1", short("https://xhslink.com/a/Ab12Cd")),
        ("http://xhslink.com/m/Ab12Cd，复制本条信息", short("http://xhslink.com/m/Ab12Cd")),
        ("打开xhslink.com/o/Ab12Cd。", short("https://xhslink.com/o/Ab12Cd")),
        ("(xhslink.cn/o/Ab12Cd)", short("https://xhslink.cn/o/Ab12Cd")),
    ],
)
def test_each_form_is_understood(text, target):
    found = find(text, "post")
    assert found.targets == [target]
    assert found.unknown == []


def test_a_bare_id_is_what_is_expected():
    assert find(USER, "creator").targets == [creator()]
    assert find(USER, "post").targets == [post(USER)]


def test_share_texts_give_every_link_once_and_in_order():
    text = (
        f"42 【阳台上的小番茄 - 青苔 | 小红书 - 你的生活指南】 😆 kQ2 😆 {SITE}/discovery/item/"
        f"{NOTE}?xsec_token={ESCAPED}&xsec_source=app_share\n"
        f"7 青苔发布了一篇笔记 http://xhslink.com/o/Zz9Yy8 复制后打开【小红书】查看笔记！\n"
        f"{OTHER_NOTE}，{SITE}/explore/{NOTE} {SITE}/user/profile/{USER}"
    )
    assert find(text, "post").targets == [
        post(xsec_token=TOKEN, xsec_source="app_share"),
        short("http://xhslink.com/o/Zz9Yy8"),
        post(OTHER_NOTE),
        creator(),
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"{NOTE}、{OTHER_NOTE}",
        f"{NOTE}；{OTHER_NOTE}。",
        f"《{NOTE}》|{OTHER_NOTE}",
        f"{SITE}/explore/{NOTE}{SITE}/explore/{OTHER_NOTE}",
    ],
)
def test_entries_of_a_list_are_told_apart(text):
    assert find(text, "post").targets == [post(), post(OTHER_NOTE)]


@pytest.mark.parametrize(
    "text",
    [
        "d9079b2f-50e1-518e-de3b-c2fdc9461362#1726655281500",  # a suggestion card
        NOTE + "0",
        NOTE.upper(),
        f"{SITE}/explore/{NOTE}ff",
        f"{SITE}/explore",
        "https://www.example.com/explore/" + NOTE,
        f"notxiaohongshu.com/explore/{NOTE}",
        "435261323",  # the visible account number is no id
    ],
)
def test_what_is_no_note_and_no_creator_is_named(text):
    found = find(text, "post")
    assert found.targets == []
    assert found.unknown == [text]


ITEM = f"{SITE}/discovery/item/{NOTE}?{TRACKING}&xsec_token={ESCAPED}&xsec_source=app_share"
SHARED = post(xsec_token=TOKEN, xsec_source="app_share")


@pytest.mark.parametrize(
    ("location", "targets"),
    [
        (ITEM, [SHARED]),
        (f"{SITE}/login?redirectPath={quote(ITEM, safe='')}", [SHARED]),
        (f"{SITE}/login?redirectPath={quote(quote(ITEM, safe=''), safe='')}", [SHARED]),
        (f"{SITE}/login?redirectPath={quote(quote(quote(ITEM)))}", [SHARED]),
        (
            f"{SITE}/website-login/captcha?redirectPath={quote(ITEM, safe='')}&verifyUuid=0",
            [SHARED],
        ),
        (
            f"{SITE}/404?source=/404/sec_kQ2&redirectPath={quote(ITEM, safe='')}"
            "&error_code=300031&error_msg=x",
            [SHARED],
        ),
        (f"{SITE}/login?redirectPath={ITEM}", [SHARED]),
        (
            f"{SITE}/login?redirectPath={quote(f'/user/profile/{USER}', safe='')}",
            [creator()],
        ),
        (
            f"https://www.rednote.com/explore/{NOTE}?xsec_token={TOKEN}",
            [post(xsec_token=TOKEN, region="rednote")],
        ),
        ("https://xhslink.com/o/Zz9Yy8", [short("https://xhslink.com/o/Zz9Yy8")]),
        (f"{SITE}/404?source=/404/sec_kQ2", []),
        (f"{SITE}/explore", []),
        (f"{SITE}/login?redirectPath=%2F%2F%5B", []),
        (f"https://www.example.com/explore/{NOTE}", []),
        ("", []),
    ],
)
def test_a_short_link_leads_to_what_its_redirect_names(location, targets):
    assert resolve(location, "post") == targets
