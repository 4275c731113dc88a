"""Pseudonyms: nothing in a record may tell who somebody is, and one person stays one person."""

import copy
import json
import os
import re
import stat

import pytest

from mediacrawler.items import Comment, Creator, Media, Post, as_record
from mediacrawler.privacy import KEY_FILE, Anonymizer, load_key, mask, pseudonym

KEY = bytes(range(32))
AUTHOR = "5c0d1e2f3a4b5c6d7e8f9a0b"
ANNA, ANNABEL, BOB = "5a5a5a5a0000000000000001", "5a5a5a5a0000000000000002", "17"
NUMBER = "1234567890"  # an id that some platforms write as a number


def anonymous(item, personal_extra=()):
    """The record of an item as it reaches the files."""
    item = copy.deepcopy(item)
    Anonymizer(KEY, frozenset(personal_extra)).apply(item)
    return as_record(item)


def dump(record):
    return json.dumps(record, ensure_ascii=False)


# --- Posts and comments -------------------------------------------------------------------------

PEOPLE = {
    "mentions": [
        {"name": "Anna", "id": ANNA},
        {"name": "Annabel", "id": ANNABEL, "url": f"https://x/u/{ANNABEL}"},
        {"name": "无名氏", "id": None},
        {"name": None, "id": BOB},
    ],
    "reply_to_author_id": ANNABEL,
    "reply_to_author_name": "Annabel",
}
EXTRA = {
    **PEOPLE,
    "handle": "anna_real_9",
    "verified_text": "某某公司 创始人",
    "author_level": 5,
    "is_author": True,
    "profile": f"https://www.xiaohongshu.com/user/profile/{AUTHOR}?from=x",
    "nested": {"list": [{"by": AUTHOR}]},
    "by_id": {AUTHOR: 3},
    "rich_text": [{"user": ANNABEL, "text": "x"}],
    "room": "room-7",
    "signature": "a real name",
}
WORDS = (
    f"@Anna 和 @Annabel @无名氏 看 https://www.xiaohongshu.com/user/profile/{AUTHOR} by @露营笔记"
)

POST = Post(
    "xhs",
    "65f1a2b3000000000a0b0c0d",
    url="https://www.xiaohongshu.com/explore/65f1a2b3000000000a0b0c0d",
    title="给 @Annabel 的信",
    text=WORDS,
    author_id=AUTHOR,
    author_name="露营笔记",
    author_url=f"https://www.xiaohongshu.com/user/profile/{AUTHOR}",
    author_avatar="https://sns-avatar-qc.xhscdn.com/avatar/63a5.jpg",
    ip_location="浙江",
    tags=["露营"],
    like_count=12,
    media=[
        Media("image", "https://ci.xiaohongshu.com/1040g0"),
        Media("image", f"https://cdn/{AUTHOR}/2.jpg"),
        Media("image", "https://wx1/crypticuploader.jpg", identifying=True),
    ],
    extra=EXTRA,
)
COMMENT = Comment(
    "xhs",
    "66a0",
    post_id="65f1a2b3000000000a0b0c0d",
    root_id="66a1",
    reply_to_id="66a2",
    text=WORDS,
    author_id=AUTHOR,
    author_name="露营笔记",
    author_url=POST.author_url,
    author_avatar=POST.author_avatar,
    ip_location="浙江",
    media=copy.deepcopy(POST.media),
    extra=EXTRA,
)
SECRETS = [
    AUTHOR,
    ANNA,
    ANNABEL,
    "露营笔记",
    "Anna",
    "无名氏",
    "anna_real_9",
    "创始人",
    "a real name",
    "user/profile/5",
    "avatar",
    "浙江",
    "crypticuploader",
]


@pytest.mark.parametrize("item", [POST, COMMENT], ids=["post", "comment"])
@pytest.mark.parametrize("secret", SECRETS)
def test_nothing_that_tells_a_person_is_left_anywhere_in_a_record(item, secret):
    before = dump(as_record(item))
    assert secret in before
    # "author_avatar" is the name of a column
    after = dump(anonymous(item, {"signature"})).replace('"author_avatar"', "")
    assert secret not in after


@pytest.mark.parametrize("item", [POST, COMMENT], ids=["post", "comment"])
def test_what_does_not_tell_a_person_stays(item):
    before, after = as_record(item), anonymous(item, {"signature"})
    kept = {"author_level": 5, "is_author": True, "room": "room-7"}
    assert {name: after["extra"].get(name) for name in kept} == kept
    assert set(after["extra"]) == {*kept, *PEOPLE}
    assert after["media"][0] == before["media"][0]
    changed = {name for name in before if after[name] != before[name]} - {"extra", "media"}
    assert changed <= {
        "title",
        "text",
        "author_id",
        "author_name",
        "author_url",
        "author_avatar",
        "ip_location",
    }


def test_texts_keep_everything_but_the_names():
    after = anonymous(POST)
    assert after["title"] == "给 @A*** 的信"
    link = f"https://www.xiaohongshu.com/user/profile/{pseudonym(KEY, 'xhs', AUTHOR)}"
    assert after["text"] == f"@A*** 和 @A*** @无*** 看 {link} by @露***"


def test_people_that_are_mentioned_become_pseudonyms_too():
    after = anonymous(COMMENT)["extra"]
    assert after["mentions"] == [
        {"name": "A***", "id": pseudonym(KEY, "xhs", ANNA)},
        {"name": "A***", "id": pseudonym(KEY, "xhs", ANNABEL)},
        {"name": "无***", "id": None},
        {"name": None, "id": pseudonym(KEY, "xhs", BOB)},
    ]
    assert after["reply_to_author_id"] == pseudonym(KEY, "xhs", ANNABEL)
    assert after["reply_to_author_name"] == "A***"


@pytest.mark.parametrize(
    ("url", "stays"),
    [
        ("https://www.xiaohongshu.com/explore/65f1", True),
        (f"https://weibo.com/{NUMBER}/QabcDEF", False),
        (f"https://m.weibo.cn/status?uid=u{NUMBER}", False),
        (None, True),
    ],
)
def test_a_post_keeps_its_link_unless_the_author_stands_in_it(url, stays):
    post = Post("weibo", "1", url=url, author_id=NUMBER)
    assert anonymous(post)["url"] == (url if stays else None)


@pytest.mark.parametrize(
    ("person_id", "value", "stays"),
    [
        ("17", "https://www.bilibili.com/video/BV1x1741a7", True),  # not every 17 is the person
        ("17", "https://space.bilibili.com/17/dynamic", False),
        ("17", "uid_17", False),
        ("17", 170, True),
        ("17", 17, False),
        (NUMBER, int(NUMBER), False),
        (NUMBER, int(NUMBER + "5"), True),
        (NUMBER, f"100505{NUMBER}", False),
        (NUMBER, [1, [int(NUMBER)]], False),
        (NUMBER, {"k": {"id": int(NUMBER)}}, False),
        (NUMBER, {NUMBER: True}, False),
        (NUMBER, True, True),
        (NUMBER, None, True),
        (NUMBER, 1.5, True),
    ],
)
def test_values_of_extra_that_hold_the_authors_id_are_left_out(person_id, value, stays):
    after = anonymous(Post("bilibili", "1", author_id=person_id, extra={"something": value}))
    assert after["extra"] == ({"something": value} if stays else {})


def test_a_short_id_does_not_cost_the_people_that_are_mentioned():
    # "1" stands in nearly every pseudonym
    post = Post("bilibili", "9", author_id="1", extra=copy.deepcopy(PEOPLE))
    assert set(anonymous(post)["extra"]) == set(PEOPLE)


def test_files_with_the_uploader_in_their_address_can_still_be_fetched():
    item = copy.deepcopy(POST)
    Anonymizer(KEY, frozenset()).apply(item)
    assert [media.url for media in item.media] == ["https://ci.xiaohongshu.com/1040g0", None, None]
    assert [media.fetch_url for media in item.media] == [
        None,
        f"https://cdn/{AUTHOR}/2.jpg",
        "https://wx1/crypticuploader.jpg",
    ]


def test_what_the_platform_did_not_say_stays_unknown():
    after = anonymous(Comment("xhs", "1", text=None))
    assert after["author_id"] is None
    assert after["author_name"] is None
    assert after["text"] is None
    assert after == as_record(Comment("xhs", "1"))


def test_the_platforms_own_words_are_not_changed_under_the_crawl():
    # requests for comments and fresh addresses are built from a shallow copy of the post
    post = copy.deepcopy(POST)
    known = copy.copy(post)
    known.extra = dict(post.extra)
    Anonymizer(KEY, frozenset()).apply(post)
    assert known.author_id == AUTHOR
    assert known.extra == EXTRA


# --- Creators -----------------------------------------------------------------------------------

CREATOR = Creator(
    "xhs",
    AUTHOR,
    name="露营笔记",
    url=f"https://www.xiaohongshu.com/user/profile/{AUTHOR}",
    avatar="https://cdn/avatar/63a5.jpg",
    bio="商务合作 vx: real_wechat",
    gender="female",
    ip_location="浙江",
    follower_count=1200,
    verified=False,
    extra={
        "handle": 95588,
        "tags": ["天秤座", "杭州"],
        "note_count": 30,
        "is_blocked": False,
        "mid": int(NUMBER),
        "verified_text": "某某公司 创始人",
        "school": "某某大学",
        "personal_number": 7,
        "links": [{"url": f"https://x/{AUTHOR}"}],
    },
)


@pytest.mark.parametrize(
    "secret",
    [
        AUTHOR,
        "露营笔记",
        "user/profile",
        "avatar/",
        "real_wechat",
        "浙江",
        "杭州",
        "创始人",
        "大学",
    ],
)
def test_nothing_that_tells_a_person_is_left_in_a_profile(secret):
    assert secret in dump(as_record(CREATOR))
    assert secret not in dump(anonymous(CREATOR))


def test_a_profile_keeps_its_counts_and_flags():
    after = anonymous(CREATOR, {"personal_number"})
    assert after["extra"] == {"note_count": 30, "is_blocked": False, "mid": int(NUMBER)}
    assert (after["follower_count"], after["gender"], after["verified"]) == (1200, "female", False)
    assert after["name"] == "露***"


def test_a_profile_whose_id_is_a_number_does_not_keep_it_as_one():
    creator = Creator("bilibili", NUMBER, extra={"mid": int(NUMBER), "level": 6})
    assert anonymous(creator)["extra"] == {"level": 6}


# --- Pseudonyms ---------------------------------------------------------------------------------


def test_a_person_is_the_same_in_posts_comments_profiles_and_mentions():
    mention = Comment("xhs", "1", extra={"mentions": [{"name": "x", "id": AUTHOR}]})
    answer = Comment("xhs", "1", extra={"reply_to_author_id": AUTHOR})
    assert (
        anonymous(POST)["author_id"]
        == anonymous(COMMENT)["author_id"]
        == anonymous(CREATOR)["creator_id"]
        == anonymous(mention)["extra"]["mentions"][0]["id"]
        == anonymous(answer)["extra"]["reply_to_author_id"]
        == pseudonym(KEY, "xhs", AUTHOR)
    )


def test_pseudonyms_depend_on_the_person_the_platform_and_the_key():
    known = {
        pseudonym(key, platform, person)
        for key in (KEY, KEY[::-1])
        for platform in ("xhs", "weibo")
        for person in (AUTHOR, ANNA)
    }
    assert len(known) == 8
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in known)


def test_a_pseudonym_is_a_keyed_hash_that_others_can_recompute_with_the_key():
    # HMAC-SHA256 of "xhs:5c0d…" with the bytes 0 to 31, made with openssl
    assert pseudonym(KEY, "xhs", AUTHOR) == "8c78f9b676f3b7af7bb219ea059fe65a"


@pytest.mark.parametrize(
    ("name", "masked"),
    [("露营笔记", "露***"), ("A", "A***"), ("🏕️达人", "🏕***"), ("", ""), ("  x", " ***")],
)
def test_of_a_name_its_first_character_is_left(name, masked):
    assert mask(name) == masked


# --- The key ------------------------------------------------------------------------------------


def test_the_key_is_made_once_and_stays(tmp_path):
    key = load_key(tmp_path)
    assert len(key) == 32
    assert load_key(tmp_path) == key
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


def test_every_data_folder_has_its_own_key(tmp_path):
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
    assert len({load_key(folder) for folder in folders}) == 3


def test_only_the_owner_may_read_the_key(tmp_path):
    before = os.umask(0)
    try:
        load_key(tmp_path)
    finally:
        os.umask(before)
    only_owner = 0o600 if os.name == "posix" else 0o666  # Windows has no such modes
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == only_owner


def test_a_key_that_an_editor_has_touched_still_works(tmp_path):
    key = load_key(tmp_path)
    path = tmp_path / KEY_FILE
    path.write_text(path.read_text("ascii").upper() + "\n", "ascii")
    assert load_key(tmp_path) == key


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"00", b"not hex", b"ab" * 31, b"ab" * 33, b"\xff"]
)
def test_a_damaged_key_is_refused_instead_of_giving_hashes_that_anybody_can_compute(
    tmp_path, content
):
    (tmp_path / KEY_FILE).write_bytes(content)
    with pytest.raises(ValueError, match=r"."):
        load_key(tmp_path)
    assert (tmp_path / KEY_FILE).read_bytes() == content


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(OSError, match="missing"):
        load_key(tmp_path / "missing")
