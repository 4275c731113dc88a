"""What good answers of XHS contain."""

import json
from contextlib import suppress
from datetime import datetime, timezone

import pytest
from xhs_fixtures import (
    AUTHOR,
    NOTE,
    OTHER_NOTE,
    READER,
    TOKEN,
    answer,
    camel,
    card,
    comment,
    comment_page,
    damaged,
    feed,
    found_user,
    image,
    note,
    note_page,
    page,
    profile,
    profile_page,
    reply,
    search_item,
    suggestion,
    user,
    video,
)

from mediacrawler.exceptions import (
    AccessDenied,
    LoginRequired,
    NotFound,
    PlatformError,
    UnexpectedResponse,
)
from mediacrawler.pages import Viewer, xhs

ESCAPED = TOKEN.replace("=", "%3D")


# --- Lists ---


def test_a_card_of_a_search_is_a_note_without_what_only_the_detail_tells():
    counts = {"liked_count": "1.2万", "collected_count": "10万+", "shared_count": "3千"}
    found = xhs.search(answer({"items": [search_item(interact_info=counts)], "has_more": True}))
    (post,) = found.posts
    assert (post.platform, post.post_id, post.post_type) == ("xhs", NOTE, "image")
    assert post.title == "阳台上的小番茄"
    assert (post.author_id, post.author_name) == (AUTHOR, "青苔")
    assert post.author_url == f"https://www.xiaohongshu.com/user/profile/{AUTHOR}"
    assert post.author_avatar == "https://sns-avatar-qc.xhscdn.com/avatar/青苔"
    assert (post.like_count, post.collect_count, post.share_count) == (12000, 100000, 3000)
    assert (post.comment_count, post.view_count, post.text, post.published_at) == (None,) * 4
    assert [(one.kind, one.url) for one in post.media] == [
        ("cover", "https://ci.xiaohongshu.com/notes_pre_post/1040gaaa")
    ]
    assert post.extra == {"xsec_token": TOKEN, "xsec_source": "pc_search"}
    assert post.url == (
        f"https://www.xiaohongshu.com/explore/{NOTE}?xsec_token={ESCAPED}&xsec_source=pc_search"
    )


@pytest.mark.parametrize(
    ("change", "read"),
    [
        ({"display_title": ""}, ("title", None)),
        ({"display_title": None, "title": "另一个"}, ("title", "另一个")),
        ({"type": "video"}, ("post_type", "video")),
        ({"type": "multi"}, ("post_type", "image")),
        ({"type": None, "video": {"capa": {}}}, ("post_type", "video")),
        ({"user": {"userId": AUTHOR, "nickName": "苔"}}, ("author_name", "苔")),
        ({"user": {"nickname": "", "nick_name": "苔"}}, ("author_name", "苔")),
        ({"interact_info": {"liked_count": ""}}, ("like_count", None)),
        ({"interact_info": {"liked_count": 5}}, ("like_count", 5)),
        ({"cover": {"width": 1, "height": 1}}, ("media", [])),
    ],
)
def test_variants_of_a_card(change, read):
    (post,) = xhs.search(answer({"items": [search_item(**change)]})).posts
    field, value = read
    assert getattr(post, field) == value


def test_what_stands_between_the_notes_is_left_out():
    items = [suggestion(), search_item(), suggestion()]
    items += [{"model_type": "ads", "note_card": card(), "id": OTHER_NOTE}]
    found = xhs.search(answer({"items": items}))
    assert [post.post_id for post in found.posts] == [NOTE]
    assert found.unreadable == 0


WITHOUT_ID = {key: value for key, value in search_item().items() if key != "id"}


@pytest.mark.parametrize(
    ("page", "readable", "unreadable"),
    [
        (xhs.search(answer({"items": [search_item(), {"id": NOTE}, None, "x"]})), 1, 3),
        (xhs.search(answer({"items": [WITHOUT_ID, suggestion()]})), 0, 1),
        (xhs.search(answer({"items": [search_item(), search_item("0")]})), 1, 1),
        (xhs.search(answer({"items": [search_item(), 7], "cursor_score": "1"})), 1, 1),
        (xhs.creator_posts(answer({"notes": [{"note_id": NOTE, **card()}, card()]})), 1, 1),
        (xhs.search(page({"feed": {"feeds": camel([search_item(), WITHOUT_ID])}})), 1, 1),
        (xhs.search_users(answer({"users": [found_user(), {"name": "no id"}, None]})), 1, 2),
        (xhs.comments(comment_page(comment(sub_comments=[]), comment(""), 3)), 1, 2),
        (xhs.comments(comment_page(comment(sub_comments=[reply(), {}, "x"]))), 2, 2),
        (xhs.replies(comment_page(reply(), reply(0), reply(None), []), root_id="root"), 1, 3),
    ],
)
def test_rows_that_cannot_be_read_are_counted(page, readable, unreadable):
    kinds = ("posts", "comments", "creators")
    records = next(getattr(page, kind) for kind in kinds if hasattr(page, kind))
    assert (len(records), page.unreadable) == (readable, unreadable)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"items": [search_item()], "has_more": True}, (1, True, "3")),
        ({"items": [search_item()], "has_more": False}, (1, False, None)),  # the last page
        ({"has_more": False}, (0, False, None)),  # after the last page
        ({"has_more": True}, (0, True, "3")),
        ({"items": None, "has_more": "false"}, (0, False, None)),
    ],
)
def test_a_search_goes_on_as_the_platform_says(data, expected):
    found = xhs.search(answer(data), page=2)
    assert (len(found.posts), found.has_more, found.cursor) == expected


def test_the_home_feed_goes_on_with_its_own_cursor():
    data = {"cursor_score": "1.7609309029500036E9", "items": [search_item()]}
    found = xhs.search(answer(data))
    assert (found.has_more, found.cursor) == (True, "1.7609309029500036E9")
    assert found.posts[0].extra["xsec_source"] == "pc_feed"
    assert not xhs.search(answer({**data, "cursor_score": ""})).has_more


@pytest.mark.parametrize(("store", "source"), [("feed", "pc_feed"), ("search", "pc_search")])
def test_a_rendered_page_has_the_same_cards(store, source):
    state = {"user": {"loggedIn": True}, store: {"feeds": camel([search_item(), suggestion()])}}
    (post,) = xhs.search(page(state)).posts
    (same,) = xhs.search(answer({"items": [search_item()]})).posts
    assert post.extra == {"xsec_token": TOKEN, "xsec_source": source}
    assert (post.title, post.like_count, post.media) == (same.title, same.like_count, same.media)


def test_a_rendered_search_goes_on():
    state = {"search": {"feeds": camel([search_item()]), "hasMore": True}}
    assert xhs.search(page(state), page=4).cursor == "5"


def test_a_login_wall_is_not_taken_for_a_search_without_hits():
    nothing = {"search": {"feeds": []}, "feed": {"feeds": []}}
    assert xhs.search(page({"user": {"loggedIn": True}, **nothing})).posts == []
    with pytest.raises(LoginRequired):
        xhs.search(page({"user": {"loggedIn": False}, **nothing}))
    with pytest.raises(LoginRequired):
        xhs.search(page({"user": {"loggedIn": True}, **nothing}, text="登录后查看搜索结果"))


def test_a_creators_notes_tell_which_are_pinned():
    pinned = {"note_id": NOTE, "xsec_token": TOKEN, **card()}
    pinned["interact_info"] = {"liked_count": "3", "sticky": True}
    other = {"note_id": OTHER_NOTE, **card()}
    data = {"notes": [pinned, other, {"type": "normal"}], "cursor": 65, "has_more": True}
    found = xhs.creator_posts(answer(data))
    assert [post.post_id for post in found.posts] == [NOTE, OTHER_NOTE]
    assert found.posts[0].extra == {
        "xsec_token": TOKEN,
        "xsec_source": "pc_user",
        "is_pinned": True,
    }
    assert found.posts[1].extra == {}
    assert found.posts[1].url == f"https://www.xiaohongshu.com/explore/{OTHER_NOTE}"
    assert (found.cursor, found.has_more) == ("65", True)


def test_an_empty_profile_is_no_block_but_an_empty_answer_is():
    empty = xhs.creator_posts(answer({"notes": [], "has_more": False, "cursor": ""}))
    assert (empty.posts, empty.has_more, empty.cursor) == ([], False, None)
    for read in (xhs.search, xhs.creator_posts, xhs.creator, xhs.comments):
        with pytest.raises(AccessDenied) as caught:
            read(answer({}))
        assert (caught.value.scope, caught.value.soft) == ("account", True)


def test_a_profile_page_has_its_first_notes_in_the_first_tab():
    items = [{"id": NOTE, "note_card": card(note_id=NOTE), "index": 0, "exposed": False}]
    found = xhs.creator_posts(profile_page(profile(), items))
    assert [post.post_id for post in found.posts] == [NOTE]
    assert (found.has_more, found.cursor) == (True, "65f1")


@pytest.mark.parametrize("tabs", ["x", ["x"], [{}]])
def test_a_damaged_first_tab_is_not_taken_for_an_empty_one(tabs):
    with pytest.raises(UnexpectedResponse):
        xhs.creator_posts(profile_page(profile(), notes=tabs))


# --- One note ---


def test_a_note_is_read_in_full():
    (page_,) = [xhs.post(feed(note()), post_id=NOTE, xsec_token=TOKEN, xsec_source="pc_feed")]
    post = page_.post
    assert (post.post_id, post.post_type, post.title) == (NOTE, "image", "阳台上的小番茄")
    assert post.text == "第一颗红了[派对R]\n浇水 2 次/天 @山间来信 #阳台种菜 #小番茄"
    assert post.published_at == datetime(2026, 3, 14, 3, 10, 24, tzinfo=timezone.utc)
    assert post.edited_at == datetime(2026, 3, 15, 3, 10, 25, tzinfo=timezone.utc)
    assert (post.like_count, post.collect_count, post.comment_count) == (12000, 987, 305)
    assert post.share_count is None
    assert post.tags == ["阳台种菜", "小番茄"]
    assert post.ip_location == "浙江"
    assert [one.url for one in post.media] == [
        "https://ci.xiaohongshu.com/notes_pre_post/1040gaaa",
        "https://ci.xiaohongshu.com/1040gbbb",
    ]
    assert post.extra == {
        "xsec_token": TOKEN,
        "xsec_source": "pc_feed",
        "mentions": [{"name": "山间来信", "id": READER}],
        "other_tags": [{"name": "某园艺店", "type": "brand"}],
    }
    assert post.url.endswith(f"/explore/{NOTE}?xsec_token={ESCAPED}&xsec_source=pc_feed")
    assert page_.related == []


def test_the_desktop_page_and_the_api_give_the_same_note():
    context = {"post_id": NOTE, "xsec_token": TOKEN, "xsec_source": "pc_user"}
    for content in (note(), note(type="video", video=video())):
        assert xhs.post(note_page(content), **context) == xhs.post(feed(content), **context)


def test_both_phone_pages_give_the_note():
    content = note(image_list=[{"width": 1242, "height": 1660}])
    preloaded = [{"url_size_large": "http://sns-img-qc.xhscdn.com/1040gaaa!h5_1080jpg"}]
    older = {
        "note_data": {
            "data": {"note_data": content},
            "normal_note_preload_data": {"images_list": preloaded},
        }
    }
    newer = camel(note())
    newer["imageList"] = camel([image("1040gaaa")])
    for shown in (
        page(camel(older)),
        page({"LAUNCHER_SSR_STORE_PAGE_DATA": {"noteData": newer}}, "__SETUP_SERVER_STATE__"),
    ):
        post = xhs.post(shown, post_id=NOTE).post
        assert (post.title, post.author_id) == ("阳台上的小番茄", AUTHOR)
        assert [(one.url, one.width) for one in post.media] == [
            ("https://ci.xiaohongshu.com/1040gaaa", 1242)
        ]


@pytest.mark.parametrize(
    ("change", "read"),
    [
        ({"title": "", "desc": " \n"}, {"title": None, "text": None}),
        ({"time": 1773457824, "last_update_time": None}, {"edited_at": None}),
        ({"last_update_time": 1773457824000}, {"edited_at": None}),
        ({"ip_location": " "}, {"ip_location": None}),
        ({"tag_list": None, "at_user_list": None}, {"tags": []}),
        ({"image_list": None}, {"media": []}),
        ({"desc": "a#b [话题]# #不是话题 #c[话题]#"}, {"text": "a#b  #不是话题 #c"}),
    ],
)
def test_variants_of_a_note(change, read):
    post = xhs.post(feed(note(**change))).post
    assert {name: getattr(post, name) for name in read} == read
    assert post.published_at == datetime(2026, 3, 14, 3, 10, 24, tzinfo=timezone.utc)


def test_what_only_a_video_note_has():
    details = '{"video":{"subtitles":{"zh-CN":[{"url":"http://s.example/1.srt","format":"srt"}]}}}'
    post = xhs.post(feed(note(type="video", video=video(media_v2=details)))).post
    assert post.extra["video_id"] == "137000077743227517"  # as text: it exceeds 2**53
    assert post.extra["subtitles"] == [
        {"language": "zh-CN", "url": "http://s.example/1.srt", "format": "srt"}
    ]
    assert [one.kind for one in post.media] == ["video", "cover", "image", "subtitle"]
    assert (post.media[-1].url, post.media[-1].ext) == ("https://s.example/1.srt", "srt")


@pytest.mark.parametrize(
    ("told", "ext"), [("SRT", "srt"), ("vtt", "vtt"), ("", "srt"), (None, "srt"), ("../x", "srt")]
)
def test_a_subtitle_file_has_an_extension_that_can_be_part_of_a_name(told, ext):
    details = {"video": {"subtitles": {"en": [{"url": "https://s.example/1", "format": told}]}}}
    record = note(type="video", video=video(media_v2=json.dumps(details)))
    assert xhs.post(feed(record)).post.media[-1].ext == ext


def test_the_token_of_a_note_is_its_own_when_none_was_asked_with():
    assert xhs.post(feed(note(), xsec_token=TOKEN)).post.extra["xsec_token"] == TOKEN
    assert xhs.post(note_page(note(xsec_token=TOKEN))).post.extra["xsec_source"] == "pc_search"
    assert "xsec_token" not in xhs.post(feed(note())).post.extra


@pytest.mark.parametrize(
    "body",
    [
        answer({"items": [], "cursor_score": ""}),
        answer({}),
        answer(None),
        answer({"items": [{"id": NOTE, "model_type": "note", "note_card": {}}]}),
        feed(note(note_id=OTHER_NOTE)),
        note_page({}),
        note_page(note(), note_id="undefined"),
        note_page(note(note_id=OTHER_NOTE), note_id=OTHER_NOTE),
        note_page(note(), noteDetailMap={}),
    ],
)
def test_an_answer_without_the_note_is_a_block_of_this_note(body):
    with pytest.raises(AccessDenied) as caught:
        xhs.post(body, post_id=NOTE)
    assert (caught.value.scope, caught.value.soft) == ("item", True)


def test_a_note_page_is_read_without_knowing_the_id():
    assert xhs.post(note_page(note())).post.post_id == NOTE


# --- Creators ---


@pytest.mark.parametrize("body", [answer(profile()), profile_page(profile())])
def test_a_creator_is_read_from_both_sources(body):
    creator = xhs.creator(body, creator_id=AUTHOR)
    assert (creator.creator_id, creator.name, creator.gender) == (AUTHOR, "青苔", "female")
    assert creator.bio == "种菜和看云\n一天一次"
    assert creator.avatar == "https://sns-avatar-qc.xhscdn.com/avatar/q"
    assert creator.url == f"https://www.xiaohongshu.com/user/profile/{AUTHOR}"
    assert (creator.follower_count, creator.following_count) == (39000, 12)
    assert (creator.like_count, creator.post_count) == (100000, None)
    assert (creator.ip_location, creator.verified) == (None, None)
    assert creator.extra == {
        "handle": "1234567890",
        "tags": ["浙江杭州"],
        "tab_public": {"collection": True},
    }


@pytest.mark.parametrize(("kind", "verified"), [(0, False), (2, True), ("1", True), (None, None)])
def test_official_accounts_are_verified(kind, verified):
    data = {**profile(), "verify_info": {"red_official_verify_type": kind}}
    assert xhs.creator(answer(data), creator_id=AUTHOR).verified is verified


@pytest.mark.parametrize(("code", "gender"), [(0, "male"), ("1", "female"), (2, None), ("", None)])
def test_genders(code, gender):
    data = profile()
    data["basic_info"]["gender"] = code
    assert xhs.creator(answer(data), creator_id=AUTHOR).gender == gender


def test_a_profile_page_names_its_creator_and_not_the_viewer():
    assert xhs.creator(profile_page(profile())).creator_id == AUTHOR


def test_a_profile_that_is_not_shown():
    failed = {**profile(), "result": {"success": False, "code": -1}}
    with pytest.raises(NotFound):
        xhs.creator(answer(failed), creator_id=AUTHOR)
    with pytest.raises(AccessDenied) as caught:
        xhs.creator(answer({"result": {"success": True}}), creator_id=AUTHOR)
    assert caught.value.scope == "item"
    for read in (xhs.creator, xhs.creator_posts):
        with pytest.raises(NotFound):
            read(profile_page({}, bannedInfo={"serverBanned": True, "code": 1}))
        with pytest.raises(AccessDenied):
            read(profile_page({}))
    with pytest.raises(UnexpectedResponse):
        xhs.creator(answer(profile()))  # whose?


def test_a_user_search_finds_creators():
    data = {"users": [found_user()], "has_more": True}
    found = xhs.search_users(answer(data, code=1000), page=2)
    (creator,) = found.creators
    assert (creator.creator_id, creator.name) == (AUTHOR, "青苔")
    assert (creator.follower_count, creator.post_count, creator.verified) == (39000, 96, False)
    assert creator.extra == {"handle": "1234567890", "xsec_token": TOKEN}
    assert (found.has_more, found.cursor) == (True, "3")


@pytest.mark.parametrize(
    ("body", "viewer"),
    [
        (answer({"guest": False, "user_id": READER, "nickname": "我"}), (READER, "我", False)),
        (answer({"guest": True, "user_id": READER}), (READER, None, True)),
        (answer({"guest": False, "user_id": ""}), (None, None, True)),
        (answer({}), (None, None, True)),
        (answer({"result": {"success": True}}), (None, None, False)),
        (answer({"result": {"success": False}}), (None, None, True)),
        (
            page({"user": {"loggedIn": True, "userInfo": {"user_id": READER, "nickname": "我"}}}),
            (READER, "我", False),
        ),
        (page({"user": {"loggedIn": True, "userInfo": {"guest": True}}}), (None, None, True)),
        (page({"user": {"loggedIn": False, "userInfo": {}}}), (None, None, True)),
    ],
)
def test_who_is_logged_in(body, viewer):
    assert xhs.me(body) == Viewer(*viewer)


@pytest.mark.parametrize(
    ("data", "given"),
    [
        ({"mobile_token": "t1", "zone": "86"}, {"mobile_token": "t1"}),
        (
            {"user_id": READER, "session": "0400", "secure_session": "X1"},
            {"web_session": "0400", "web_session_sec": "X1"},
        ),
        ({"login_info": {"session": "0400"}, "code_status": 2}, {"web_session": "0400"}),
        ({"session": ""}, {}),
        (None, {}),
    ],
)
def test_a_step_of_a_login_hands_out_cookies_or_a_token(data, given):
    assert xhs.login_step(answer(data)) == given


def test_a_wrong_code_is_refused_in_the_platforms_words():
    with pytest.raises(UnexpectedResponse, match="验证码错误"):
        xhs.login_step({"code": -1, "success": False, "msg": "验证码错误"})


# --- Comments ---


def test_a_comment_comes_before_the_replies_that_came_with_it():
    found = xhs.comments(comment_page(comment()), post_id=NOTE)
    root, answered = found.comments
    assert (root.comment_id, root.post_id) == ("65f2000000000000aaaa0001", NOTE)
    assert (root.root_id, root.reply_to_id, root.reply_count) == (None, None, 3)
    assert (root.text, root.like_count, root.ip_location) == ("好漂亮 #小番茄", 17, "四川")
    assert (root.author_id, root.author_name) == (READER, "山间来信")
    assert root.author_url == f"https://www.xiaohongshu.com/user/profile/{READER}"
    assert root.published_at == datetime(2026, 3, 14, 3, 46, 40, tzinfo=timezone.utc)
    assert root.extra == {}
    assert (answered.root_id, answered.reply_to_id) == (root.comment_id, root.comment_id)
    assert (answered.reply_count, answered.ip_location) == (None, None)
    assert answered.extra == {
        "is_author": True,
        "reply_to_author_id": READER,
        "reply_to_author_name": "山间来信",
    }
    assert (found.has_more, found.cursor) == (True, "65f2000000000000aaaa0001")
    assert found.more_replies == {root.comment_id: "65f2000000000000aaaa0002"}


@pytest.mark.parametrize(
    ("change", "extra"),
    [
        ({"show_tags": ["user_top", "is_author"]}, {"is_pinned": True, "is_author": True}),
        ({"show_tags": None}, {}),
        ({"status": -2}, {"status": -2}),
        ({"status": "2"}, {"status": 2}),
        (
            {"at_users": [{"user_id": AUTHOR, "nickname": "青苔"}]},
            {"mentions": [{"name": "青苔", "id": AUTHOR}]},
        ),
        ({"user_info": {"user_id": READER, "ai_agent": True}}, {"ai_agent": True}),
    ],
)
def test_what_else_is_known_about_a_comment(change, extra):
    assert xhs.comments(comment_page(comment(**change))).comments[0].extra == extra


@pytest.mark.parametrize(
    ("change", "more"),
    [
        ({"sub_comment_has_more": False}, {}),
        ({"sub_comment_has_more": None}, {}),
        ({"sub_comment_cursor": None}, {"65f2000000000000aaaa0001": ""}),
        ({"sub_comment_cursor": 7}, {"65f2000000000000aaaa0001": "7"}),
    ],
)
def test_only_roots_with_further_replies_are_to_be_asked(change, more):
    assert xhs.comments(comment_page(comment(**change))).more_replies == more


def test_pictures_of_a_comment_are_taken_as_originals():
    pictures = [image("comment/1040gccc")]
    (found, _) = xhs.comments(comment_page(comment(content="", pictures=pictures))).comments
    assert found.text is None
    assert [(one.kind, one.url, one.width) for one in found.media] == [
        ("image", "https://ci.xiaohongshu.com/comment/1040gccc", 1242)
    ]


def test_the_root_of_a_reply_is_what_was_asked_for_and_not_what_it_answers():
    to_reply = reply("65f2000000000000aaaa0003", target="65f2000000000000aaaa0002", note_id=None)
    to_reply["sub_comment_count"] = "0"
    found = xhs.replies(comment_page(to_reply, has_more=False), post_id=NOTE, root_id="root")
    (answered,) = found.comments
    assert (answered.root_id, answered.reply_to_id) == ("root", "65f2000000000000aaaa0002")
    assert (answered.post_id, answered.reply_count) == (NOTE, None)
    assert (found.has_more, found.more_replies) == (False, {})
    with pytest.raises(UnexpectedResponse):
        xhs.replies(comment_page(to_reply))  # below which comment?


def test_a_note_without_comments_is_no_block():
    found = xhs.comments(comment_page(has_more=False))
    assert (found.comments, found.has_more) == ([], False)


# --- Damaged answers ---

READERS = {
    "search": (xhs.search, answer({"items": [search_item()], "has_more": True})),
    "feed": (xhs.search, answer({"items": [search_item()], "cursor_score": "1"})),
    "creator_posts": (xhs.creator_posts, answer({"notes": [{"note_id": NOTE, **card()}]})),
    "post": (xhs.post, feed(note(type="video", video=video(), image_list=[image()]))),
    "creator": (lambda body: xhs.creator(body, creator_id=AUTHOR), answer(profile())),
    "search_users": (xhs.search_users, answer({"users": [found_user()]}, code=1000)),
    "comments": (xhs.comments, comment_page(comment(pictures=[image()]))),
    "replies": (lambda body: xhs.replies(body, root_id="r"), comment_page(reply())),
    "me": (xhs.me, answer({"guest": False, **user()})),
}


@pytest.mark.parametrize("name", READERS)
def test_whatever_stands_in_an_answer_only_the_platforms_errors_come_out(name):
    read, body = READERS[name]
    for broken in damaged(body):
        with suppress(PlatformError):
            read(broken)


def test_a_damaged_page_is_no_crash_either():
    state = {
        "user": {"userPageData": camel(profile()), "notes": [camel([search_item()])]},
        "note": {"noteDetailMap": {NOTE: {"note": camel(note())}}},
        "feed": {"feeds": camel([search_item()])},
    }
    for broken in damaged(state):
        for read in (xhs.search, xhs.creator_posts, xhs.creator, xhs.post, xhs.me):
            with suppress(PlatformError):
                read(page(broken))


@pytest.mark.parametrize(
    ("read", "wrap", "record", "other"),
    [
        (
            lambda body: xhs.search(body).posts,
            lambda *items: answer({"items": list(items)}),
            search_item(),
            search_item(OTHER_NOTE),
        ),
        (
            lambda body: xhs.comments(body).comments,
            comment_page,
            comment(),
            comment("65f2000000000000aaaa0009", sub_comments=[]),
        ),
    ],
)
def test_a_damaged_record_does_not_cost_the_others(read, wrap, record, other):
    expected = read(wrap(other))
    for broken in damaged(record):
        assert read(wrap(broken, other))[-1:] == expected
