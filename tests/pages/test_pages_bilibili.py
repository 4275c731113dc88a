"""What Bilibili's answers mean: records, ends of lists, and refusals."""

from __future__ import annotations

import contextlib
import copy
import json
import math
import random
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any

import bilibili_fixtures as fx
import pytest

from mediacrawler.exceptions import (
    AccessDenied,
    BadSignature,
    CaptchaRequired,
    LoginRequired,
    NotFound,
    PlatformError,
    RateLimited,
    UnexpectedResponse,
    Withheld,
)
from mediacrawler.items import Comment
from mediacrawler.pages import Viewer, bilibili

PUBLISHED = datetime.fromtimestamp(1760000000, timezone.utc)
API = "https://api.bilibili.com"
PAGE_412 = (
    "<!DOCTYPE html><html><head><title>出错啦! - bilibili.com</title></head>"
    "<body><div>错误号: 412</div></body></html>"
)


def read(status: int = 200, body: Any = b"", url: str = "", **headers: str) -> Any:
    raw = body if isinstance(body, bytes) else str(body).encode()
    raw = json.dumps(body).encode() if isinstance(body, (dict, list)) else raw
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return bilibili.read_answer(status, named, raw, url=url, now=1760000000.0)


# --- Refusals -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "meaning", "scope"),
    [
        (-101, LoginRequired, "account"),
        (-102, AccessDenied, "account"),
        (-352, CaptchaRequired, "account"),
        (-401, CaptchaRequired, "account"),
        (-404, NotFound, "item"),
        (62002, NotFound, "item"),
        (62004, NotFound, "item"),
        (62012, NotFound, "item"),
        (12002, Withheld, "item"),
        (12006, NotFound, "item"),
        (12009, UnexpectedResponse, "request"),
        (22115, Withheld, "item"),
        (-412, RateLimited, "ip"),
        (-509, RateLimited, "account"),
        (-799, RateLimited, "account"),
        (-500, UnexpectedResponse, "request"),
        (-8888, UnexpectedResponse, "request"),
        (-400, UnexpectedResponse, "request"),
        (-10403, AccessDenied, "item"),
        (87008, Withheld, "item"),
        (4101131, UnexpectedResponse, "request"),
    ],
)
def test_a_body_code_decides_although_the_status_is_200(
    code: int, meaning: type[PlatformError], scope: str
) -> None:
    for readable in (code, str(code)):
        with pytest.raises(meaning) as caught:
            read(body={"code": readable, "message": "原因", "ttl": 1})
        assert (type(caught.value), caught.value.code) == (meaning, code)
        assert caught.value.scope == scope
        assert "原因" in str(caught.value)


@pytest.mark.parametrize(
    ("path", "meaning"),
    [
        ("/x/v2/reply/wbi/main", BadSignature),
        ("/x/space/wbi/arc/search", BadSignature),
        ("/x/web-interface/view", AccessDenied),
        ("/x/v2/reply/reply", AccessDenied),
    ],
)
def test_minus_403_is_the_signature_only_where_one_is_wanted(
    path: str, meaning: type[PlatformError]
) -> None:
    with pytest.raises(meaning):
        read(body=fx.refused(-403, "访问权限不足"), url=API + path + "?oid=1")


@pytest.mark.parametrize(
    ("status", "body", "headers", "meaning", "scope"),
    [
        (412, PAGE_412, {}, RateLimited, "ip"),
        (412, fx.refused(-412), {}, RateLimited, "ip"),
        (412, PAGE_412, {"set_cookie": "X-BILI-SEC-TOKEN=3,abc; Path=/"}, CaptchaRequired, "ip"),
        (
            412,
            '<script src="//security.bilibili.com/static/js/412.js"></script>',
            {},
            CaptchaRequired,
            "ip",
        ),
        (200, PAGE_412, {}, RateLimited, "ip"),
        (
            200,
            '<script>window._riskdata_={"v_voucher":"v"}</script>',
            {},
            CaptchaRequired,
            "account",
        ),
        (429, "", {}, RateLimited, "account"),
        (502, "<html>bad gateway</html>", {}, UnexpectedResponse, "request"),
        (500, fx.refused(-500), {}, UnexpectedResponse, "request"),
        (404, "<html>nothing</html>", {}, NotFound, "item"),
        (404, fx.refused(-404), {}, NotFound, "item"),
        (403, "", {}, AccessDenied, "item"),
        (200, "", {}, UnexpectedResponse, "request"),
        (200, '{"code":0,"data":{"resu', {}, UnexpectedResponse, "request"),
        (302, "", {"location": "https://passport.bilibili.com/login"}, LoginRequired, "account"),
        (302, "", {"location": "https://www.bilibili.com/x"}, UnexpectedResponse, "request"),
    ],
)
def test_status_redirect_and_page_are_judged_before_the_body(
    status: int, body: Any, headers: dict[str, str], meaning: type[PlatformError], scope: str
) -> None:
    with pytest.raises(meaning) as caught:
        read(status, body, API + "/x/web-interface/view", **headers)
    assert type(caught.value) is meaning
    assert caught.value.scope == scope


def test_a_page_on_an_api_address_is_no_answer() -> None:
    page = "<!DOCTYPE html><html><body>maintenance</body></html>"
    with pytest.raises(UnexpectedResponse):
        read(200, page, API + "/x/web-interface/view")
    assert read(200, page, "https://www.bilibili.com/video/BV1xx411c7mD/") == page


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("30", 30.0), ("Thu, 09 Oct 2025 08:53:50 GMT", 30.0), ("soon", None), (None, None)],
)
def test_the_asked_wait_is_passed_on(value: str | None, seconds: float | None) -> None:
    headers = {} if value is None else {"retry_after": value}
    with pytest.raises(RateLimited) as caught:
        read(429, "", **headers)
    assert caught.value.retry_after == seconds


def test_a_voucher_alone_is_never_an_empty_page() -> None:
    voucher = fx.ok({"v_voucher": "voucher_1"})
    with pytest.raises(CaptchaRequired):
        read(body=voucher)
    for page in (bilibili.search, bilibili.comments, bilibili.creator_posts, bilibili.streams):
        with pytest.raises(CaptchaRequired):
            page(voucher)


def test_a_short_link_answers_with_where_it_points() -> None:
    location = "https://www.bilibili.com/video/BV1xx411c7mD?p=1"
    assert read(302, "", "https://b23.tv/AbC9xYz", location=location) == location
    with pytest.raises(NotFound):
        read(200, fx.refused(-404), "https://b23.tv/AbC9xYz")


def test_good_answers_pass_whatever_the_message_says() -> None:
    for message in ("OK", "0", "ok"):
        answer = {"code": 0, "message": message, "data": {"a": 1}}
        assert read(body=answer) == answer
    segment = b"\x0a\x02\x12\x00"
    assert read(body=segment, content_type="application/octet-stream") == segment


def test_page_functions_judge_raw_answers_themselves() -> None:
    refusal = json.dumps(fx.refused(-404)).encode()
    for page in (bilibili.search, bilibili.post, bilibili.creator, bilibili.replies):
        with pytest.raises(NotFound):
            page(refusal)
    with pytest.raises(BadSignature):
        bilibili.comments(fx.refused(-403))
    with pytest.raises(Withheld):
        bilibili.comments(fx.refused(12002, "评论区已关闭"))


# --- Search -------------------------------------------------------------------------------


def test_a_search_row_becomes_a_post() -> None:
    post = bilibili.search(fx.search_page([fx.search_row()])).posts[0]
    assert (post.platform, post.post_id, post.post_type) == ("bilibili", fx.BVID, "video")
    assert post.url == f"https://www.bilibili.com/video/{fx.BVID}"
    assert post.title == "第一次露营 & 看星星"
    assert post.text == '带了"太多"东西\n下次少带'
    assert (post.author_id, post.author_name) == (str(fx.MID), "山里的猫")
    assert post.author_url == f"https://space.bilibili.com/{fx.MID}"
    assert post.author_avatar == "https:" + fx.FACE
    assert post.published_at == PUBLISHED
    assert (post.like_count, post.comment_count, post.collect_count) == (90, 78, 56)
    assert (post.view_count, post.share_count) == (12000, None)
    assert post.tags == ["露营", "户外", "星空"]
    assert [(m.kind, m.url, m.duration_s) for m in post.media] == [
        ("cover", fx.COVER_URL, None),
        ("video", None, 2888),
    ]
    assert post.extra["aid"] == str(fx.AID)
    assert post.extra["danmaku_count"] == 34


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("4:30", 270),
        ("48:8", 2888),
        ("217:7", 13027),
        ("1:02:03", 3723),
        ("", None),
        ("00:00", None),
    ],
)
def test_durations_are_folded_by_sixty(text: str, seconds: int | None) -> None:
    post = bilibili.search(fx.search_page([fx.search_row(duration=text)])).posts[0]
    assert [media.duration_s for media in post.media if media.kind == "video"] == [seconds]
    assert "duration_s" not in post.extra


def test_numbers_may_be_text_or_hidden_and_old_rows_lack_some() -> None:
    row = fx.search_row(play="--", review="1.2万", video_review="7", description="-")
    del row["like"], row["upic"]
    post = bilibili.search(fx.search_page([row])).posts[0]
    assert (post.view_count, post.comment_count, post.like_count) == (None, 12000, None)
    assert (post.author_avatar, post.text) == (None, None)
    assert post.extra["danmaku_count"] == 7


def test_courses_among_videos_are_counted_and_left_out() -> None:
    page = bilibili.search(fx.search_page([fx.course_row(), fx.search_row()]))
    assert [post.post_id for post in page.posts] == [fx.BVID]
    assert page.skipped == 1


@pytest.mark.parametrize(
    ("page", "pages", "rows", "cursor"),
    [
        (1, 50, [fx.search_row()], "2"),
        (49, 50, [fx.search_row()], "50"),
        (50, 50, [fx.search_row()], None),
        (3, 3, [fx.search_row()], None),
        (2, 50, [], None),
        (2, 50, None, None),
        (1, 50, [fx.course_row()], "2"),  # rows that are no videos are no end
    ],
)
def test_search_ends_at_the_last_page_or_without_rows(
    page: int, pages: int, rows: Any, cursor: str | None
) -> None:
    found = bilibili.search(fx.search_page(rows, page, pages), page=page)
    assert (found.has_more, found.cursor) == (cursor is not None, cursor)


def test_a_missing_result_is_the_end_and_no_error() -> None:
    answer = fx.search_page([], 3, 3)
    del answer["data"]["result"]
    assert bilibili.search(answer) == bilibili.BilibiliPosts([], False, total=1000)


def test_the_search_over_all_modules_gives_its_videos() -> None:
    modules = [
        {"result_type": "bili_user", "data": [fx.user_row()]},
        {"result_type": "video", "data": [fx.search_row()]},
        {"result_type": "media_ft", "data": None},
    ]
    assert len(bilibili.search(fx.search_page(modules)).posts) == 1


def test_users_are_found_with_their_numbers() -> None:
    plain = fx.user_row(mid=7, gender=3, usign="", official_verify={"type": 127, "desc": ""})
    found = bilibili.search_users(fx.search_page([fx.user_row(), plain], 1, 2))
    first, second = found.creators
    assert (found.has_more, found.cursor) == (True, "2")
    assert (first.creator_id, first.name, first.bio) == (str(fx.MID), "山里的猫", "爬山 & 露营")
    assert (first.follower_count, first.post_count, first.gender) == (1234, 56, "female")
    assert (first.verified, first.extra["verified_text"]) == (True, "户外 UP主")
    assert (second.verified, second.gender, second.bio) == (False, None, None)


# --- Videos -------------------------------------------------------------------------------


def check_video(post: Any) -> None:
    assert (post.post_id, post.post_type) == (fx.BVID, "video")
    assert post.title == "雨夜露营 <1>"
    assert post.text == "设备 & 清单;\n见评论 @山下的狗"
    assert (post.author_id, post.author_name) == (str(fx.MID), "山里的猫")
    assert post.published_at == PUBLISHED
    assert (post.like_count, post.comment_count, post.share_count) == (90, 78, 9)
    assert (post.collect_count, post.view_count) == (56, 12000)
    assert [(m.kind, m.width, m.height, m.duration_s) for m in post.media] == [
        ("cover", None, None, None),
        ("video", 1920, 1080, 600),
        ("video", 1080, 1920, 60),
    ]
    assert post.extra["pages"] == [
        {"cid": "301", "page": 1, "title": "上", "duration_s": 600},
        {"cid": "302", "page": 2, "title": "下", "duration_s": 60},
    ]
    assert post.extra["staff"][1] == {"mid": "43", "name": "河边的鸟", "title": "剪辑"}
    assert post.extra["mentions"] == [{"name": "山下的狗", "id": "42"}]
    assert (post.extra["aid"], post.extra["cid"]) == (str(fx.AID), "301")
    assert (post.extra["coin_count"], post.extra["danmaku_count"]) == (12, 34)
    assert post.extra["season_id"] == "555"
    assert post.extra["argue_msg"] == "作者声明：虚构"
    assert "is_paid" not in post.extra


def test_a_video_has_all_its_parts() -> None:
    post = bilibili.post(fx.ok(fx.view())).post
    check_video(post)
    assert post.tags == []


def test_the_detail_with_tags_leaves_out_background_music() -> None:
    post = bilibili.post(fx.ok({"View": fx.view(), "Tags": fx.TAGS})).post
    check_video(post)
    assert post.tags == ["露营", "雨夜"]
    assert bilibili.tags(fx.ok(fx.TAGS)) == ["露营", "雨夜"]


def test_the_page_of_a_video_tells_the_same() -> None:
    page = fx.video_html({"videoData": fx.view(), "tags": fx.TAGS, "error": {}})
    for body in (page, page.encode()):
        post = bilibili.view_page(body).post
        check_video(post)
        assert post.tags == ["露营", "雨夜"]
    assert bilibili.post(page).post.post_id == fx.BVID


@pytest.mark.parametrize(
    ("state", "meaning"),
    [
        ({"error": {"trueCode": -404, "message": "啥都木有"}}, NotFound),
        ({"error": {"trueCode": 62002}}, NotFound),
        ({"error": {"trueCode": -403}}, AccessDenied),
        ({"something": {}}, UnexpectedResponse),
    ],
)
def test_a_page_tells_why_it_shows_no_video(
    state: dict[str, Any], meaning: type[PlatformError]
) -> None:
    with pytest.raises(meaning):
        bilibili.view_page(fx.video_html(state))


def test_pages_without_state_or_with_cut_state_are_unexpected() -> None:
    page = fx.video_html({"videoData": fx.view()})
    for broken in ("<html></html>", page[: len(page) // 2]):
        with pytest.raises(UnexpectedResponse):
            bilibili.view_page(broken)


@pytest.mark.parametrize(
    ("changes", "paid"),
    [
        ({"is_upower_exclusive": True}, True),
        ({"rights": {"arc_pay": 1}}, True),
        ({"rights": {"ugc_pay": 0}}, None),
    ],
)
def test_paid_videos_are_marked(changes: dict[str, Any], paid: bool | None) -> None:
    assert bilibili.post(fx.ok(fx.view(**changes))).post.extra.get("is_paid") is paid


def test_a_video_of_a_removed_account_is_kept() -> None:
    post = bilibili.post(fx.ok(fx.view(owner={}, stat={"view": "--"}, pages=None, bvid=""))).post
    assert post.post_id == fx.BVID  # from its aid
    assert (post.author_id, post.author_url, post.view_count) == (None, None, None)
    assert [m.duration_s for m in post.media if m.kind == "video"] == [660]


def test_parts_alone_can_be_read() -> None:
    assert bilibili.parts(fx.ok(fx.view()["pages"]))[1]["cid"] == "302"


# --- Lists of a creator -------------------------------------------------------------------


def test_a_row_of_a_creators_videos_becomes_a_post() -> None:
    page = bilibili.creator_posts(fx.arc_page([fx.arc_row()]))
    post = page.posts[0]
    assert (post.post_id, post.post_type, post.title) == (fx.BVID, "video", "雨夜露营")
    assert (post.text, post.view_count) == (None, None)
    assert (post.comment_count, post.like_count) == (78, None)
    assert post.published_at == PUBLISHED
    assert post.author_id == str(fx.MID)
    assert post.extra == {"aid": str(fx.AID), "danmaku_count": 34}
    assert [(media.kind, media.duration_s) for media in post.media][1:] == [("video", 3723)]
    assert (page.has_more, page.cursor, page.total) == (True, "2", 61)


@pytest.mark.parametrize(
    ("pn", "total", "rows", "has_more"),
    [
        (1, 31, 30, True),
        (1, 30, 30, False),
        (2, 61, 30, True),
        (3, 61, 1, False),
        (2, 61, 0, False),
    ],
)
def test_a_creators_videos_end_by_their_count(
    pn: int, total: int, rows: int, has_more: bool
) -> None:
    page = bilibili.creator_posts(fx.arc_page([fx.arc_row()] * rows, pn, 30, total))
    assert page.has_more is has_more


def test_courses_hidden_collections_and_paid_videos_of_a_creator() -> None:
    rows = [
        fx.arc_row(is_lesson_video=1, aid=789, bvid="BV1xx411c7mQ"),
        fx.arc_row(meta={"id": 5, "attribute": 156}, season_id=5),
        fx.arc_row(is_charging_arc=True, meta=None),
    ]
    page = bilibili.creator_posts(fx.arc_page(rows))
    assert (len(page.posts), page.skipped, page.collections) == (2, 1, ["5"])
    assert page.posts[1].extra["is_paid"] is True


@pytest.mark.parametrize(
    "state",
    [{"num": 1, "size": 100, "total": 150}, {"page_num": 1, "page_size": 30, "total": 40}],
)
def test_the_fallback_list_and_members_of_collections(state: dict[str, int]) -> None:
    row = {
        "aid": fx.AID,
        "title": "雨夜露营",
        "pic": fx.COVER,
        "pubdate": 1760000000,
        "duration": 61,
        "stat": {"view": 5},
    }
    page = bilibili.creator_posts(fx.ok({"archives": [row], "page": state}), creator_id="9")
    post = page.posts[0]
    assert (post.post_id, post.author_id, post.view_count) == (fx.BVID, "9", 5)
    assert (page.has_more, page.cursor) == (True, "2")


def test_a_picture_post_in_its_old_form() -> None:
    item = fx.dynamic(
        desc={"text": "晚霞", "rich_text_nodes": fx.nodes(("TOPIC", "#露营#"), ("TEXT", " 晚霞"))},
        major={
            "type": "MAJOR_TYPE_DRAW",
            "draw": {"items": [{"src": fx.PICTURE, "width": 100, "height": 200}]},
        },
    )
    item["modules"]["module_tag"] = {"text": " 置顶"}
    post = bilibili.creator_posts(fx.feed([item])).posts[0]
    assert (post.post_id, post.post_type, post.text) == (fx.OPUS_ID, "image", "#露营# 晚霞")
    assert post.url == f"https://www.bilibili.com/opus/{fx.OPUS_ID}"
    assert (post.author_name, post.published_at) == ("山里的猫", PUBLISHED)
    assert (post.ip_location, post.tags) == ("浙江", ["露营"])
    assert (post.like_count, post.comment_count, post.share_count) == (90, 78, 9)
    picture = post.media[0]
    assert (picture.kind, picture.url, picture.width) == ("image", fx.PICTURE_URL, 100)
    assert picture.identifying
    assert post.extra == {
        "dynamic_type": "DYNAMIC_TYPE_DRAW",
        "comment_type": 11,
        "comment_oid": "312848844",
        "is_pinned": True,
    }


def test_a_picture_post_in_its_new_form_with_a_live_photo() -> None:
    pics = [
        {"url": fx.PICTURE, "width": 1, "height": 2, "live_url": "//upos-x.bilivideo.com/l.mp4"},
        {"url": fx.COVER, "width": None, "height": None, "live_url": None},
    ]
    text = fx.nodes(("TEXT", "看 "), ("AT", "@山下的狗 "))
    text[1]["rid"] = "42"
    text.append(
        {
            "type": "RICH_TEXT_NODE_TYPE_WEB",
            "orig_text": "网页链接",
            "text": "网页链接",
            "jump_url": "https://example.com/a",
        }
    )
    opus = {"title": "标题", "summary": {"text": "x", "rich_text_nodes": text}, "pics": pics}
    item = fx.dynamic(major={"type": "MAJOR_TYPE_OPUS", "opus": opus})
    post = bilibili.creator_posts(fx.feed([item])).posts[0]
    assert (post.title, post.text) == ("标题", "看 @山下的狗 https://example.com/a")
    assert post.extra["mentions"] == [{"name": "山下的狗", "id": "42"}]
    assert [media.kind for media in post.media] == ["image", "live_photo", "image"]


def test_a_video_dynamic_keeps_its_own_id_and_names_its_video() -> None:
    archive = {
        "aid": str(fx.AID),
        "bvid": fx.BVID,
        "title": "雨夜露营",
        "cover": fx.COVER,
        "duration_text": "11:00",
        "stat": {"play": "1.2万", "danmaku": "34"},
    }
    item = fx.dynamic(kind="AV", major={"type": "MAJOR_TYPE_ARCHIVE", "archive": archive})
    post = bilibili.creator_posts(fx.feed([item])).posts[0]
    assert (post.post_id, post.post_type, post.title) == (fx.OPUS_ID, "video", "雨夜露营")
    assert (post.extra["bvid"], post.extra["aid"]) == (fx.BVID, str(fx.AID))
    assert (post.view_count, post.extra["view_count_text"]) == (None, "1.2万")
    assert post.media[1].duration_s == 660


def test_a_forward_names_its_original_and_brings_it_along() -> None:
    original = fx.dynamic("100", desc={"text": "原文", "rich_text_nodes": []})
    del original["modules"]["module_stat"]
    item = fx.dynamic(kind="FORWARD", desc={"text": "转发", "rich_text_nodes": []}, orig=original)
    page = bilibili.creator_posts(fx.feed([item]))
    assert [(post.post_type, post.repost_of) for post in page.posts] == [("text", "100")]
    assert [(post.post_id, post.text) for post in page.related] == [("100", "原文")]
    assert page.related[0].like_count is None
    detail = bilibili.post(fx.ok({"item": item}))
    assert (detail.post.repost_of, detail.related[0].post_id) == ("100", "100")


def test_a_forward_of_a_deleted_post_is_kept_and_says_so() -> None:
    gone = fx.dynamic(None, "NONE", major={"type": "MAJOR_TYPE_NONE", "none": {"tips": "已删除"}})
    gone["modules"]["module_author"] = {"mid": None, "name": None, "pub_ts": None}
    item = fx.dynamic(kind="FORWARD", desc={"text": "转发", "rich_text_nodes": None}, orig=gone)
    page = bilibili.creator_posts(fx.feed([item]))
    assert (page.posts[0].text, page.posts[0].repost_of) == ("转发", None)
    assert page.posts[0].extra["original_deleted"] is True
    assert page.related == []


@pytest.mark.parametrize(
    ("kind", "major", "post_type", "expected"),
    [
        ("WORD", None, "text", {}),
        ("SOMETHING_NEW", {"type": "MAJOR_TYPE_SOMETHING_NEW"}, "text", {}),
        (
            "ARTICLE",
            {
                "type": "MAJOR_TYPE_ARTICLE",
                "article": {"id": 9, "title": "清单", "covers": [fx.COVER]},
            },
            "article",
            {"article_id": "9", "truncated": True},
        ),
        (
            "LIVE_RCMD",
            {
                "type": "MAJOR_TYPE_LIVE_RCMD",
                "live_rcmd": {"content": '{"live_play_info":{"title":"直播","room_id":77}}'},
            },
            "live",
            {"live_room_id": "77"},
        ),
        (
            "LIVE_RCMD",
            {"type": "MAJOR_TYPE_LIVE_RCMD", "live_rcmd": {"content": "{cut"}},
            "live",
            {},
        ),
        (
            "DRAW",
            {"type": "MAJOR_TYPE_BLOCKED", "blocked": {"hint_message": "充电专属"}},
            "image",
            {"blocked": "充电专属", "is_paid": True},
        ),
    ],
)
def test_every_kind_of_dynamic_is_some_post(
    kind: str, major: Any, post_type: str, expected: dict[str, Any]
) -> None:
    post = bilibili.creator_posts(fx.feed([fx.dynamic(kind=kind, major=major)])).posts[0]
    assert post.post_type == post_type
    assert expected.items() <= post.extra.items()


@pytest.mark.parametrize(
    ("answer", "used", "cursor"),
    [
        (fx.feed([fx.dynamic()]), None, "100"),
        (fx.feed([fx.dynamic()]), "50", "100"),
        (fx.feed([fx.dynamic()]), "100", None),  # the same offset again
        (fx.feed([fx.dynamic()], offset=""), None, None),
        (fx.feed([fx.dynamic()], has_more=False), None, None),
        (fx.feed([], has_more=False, offset=""), None, None),
        (fx.feed([]), "50", "100"),
        (fx.feed(None, has_more=False), None, None),
    ],
)
def test_dynamics_end_by_their_offset(
    answer: dict[str, Any], used: str | None, cursor: str | None
) -> None:
    page = bilibili.creator_posts(answer, cursor=used)
    assert (page.has_more, page.cursor) == (cursor is not None, cursor)


def test_an_empty_first_page_that_claims_more_is_a_hidden_refusal() -> None:
    with pytest.raises(LoginRequired) as caught:
        bilibili.creator_posts(fx.feed([], offset=""))
    assert caught.value.soft


def test_adverts_and_rows_without_id_are_left_out() -> None:
    page = bilibili.creator_posts(fx.feed([fx.dynamic(kind="AD"), fx.dynamic(None, "NONE")]))
    assert (page.posts, page.skipped) == ([], 2)


def test_opus_cards_keep_rounded_numbers_as_text() -> None:
    cards = [
        {
            "opus_id": "100",
            "content": "晚霞",
            "cover": {"url": fx.PICTURE, "width": 3, "height": 4},
            "stat": {"like": "1.2万", "view": "10万"},
        },
        {"opus_id": "99", "content": "早上", "stat": {"like": "3"}},
    ]
    page = bilibili.creator_posts(fx.feed(cards, offset="99"), creator_id="9")
    first, second = page.posts
    assert (first.post_id, first.like_count, first.view_count) == ("100", 12000, 100000)
    assert first.extra == {"like_count_text": "1.2万", "view_count_text": "10万"}
    assert (first.media[0].kind, first.media[0].url) == ("cover", fx.PICTURE_URL)
    assert (second.like_count, second.view_count, second.media) == (3, None, [])
    assert (second.author_id, page.cursor) == ("9", "99")


# --- Opus and articles --------------------------------------------------------------------


def test_an_article_is_read_paragraph_by_paragraph() -> None:
    rich = {
        "type": "TEXT_NODE_TYPE_RICH",
        "rich": {"type": "RICH_TEXT_NODE_TYPE_TOPIC", "orig_text": "#帐篷#", "text": "#帐篷#"},
    }
    formula = {"type": "TEXT_NODE_TYPE_FORMULA", "formula": {"latex_content": "a^2"}}
    items = [
        {"level": 1, "order": 1, "nodes": [fx.words("一")]},
        {"level": 1, "nodes": [fx.words("二")]},
    ]
    paragraphs = [
        {"para_type": 1, "text": {"nodes": [fx.words("带 "), rich, formula]}},
        {"para_type": 2, "pic": {"pics": [{"url": fx.PICTURE, "width": None, "height": None}]}},
        {"para_type": 3, "line": {"pic": {"url": fx.COVER}}},
        {"para_type": 4, "text": {"nodes": [fx.words("引用")]}},
        {"para_type": 5, "list": {"items": items}},
        {"para_type": 7, "code": {"content": "a &lt; &quot;b&quot;", "lang": "c"}},
        {"para_type": 99, "novel": {}},
    ]
    post = bilibili.post(fx.opus(paragraphs)).post
    assert (post.post_id, post.post_type, post.title) == (fx.OPUS_ID, "article", "露营清单")
    assert post.text == '带 #帐篷#a^2\n引用\n一\n二\na < "b"'
    assert post.tags == ["户外", "清单"]
    assert [(media.url, media.width) for media in post.media] == [(fx.PICTURE_URL, None)]
    assert (post.like_count, post.collect_count, post.share_count) == (17, 4, 0)
    assert post.extra == {"comment_type": 12, "comment_oid": "34646640", "coin_count": 1}


@pytest.mark.parametrize(
    ("comment_type", "pictures", "post_type"),
    [
        (11, [{"url": fx.PICTURE}], "image"),
        (17, None, "text"),
        (17, [{"url": fx.PICTURE}], "image"),
    ],
)
def test_pictures_of_a_picture_post_are_in_the_top_module(
    comment_type: int, pictures: Any, post_type: str
) -> None:
    post = bilibili.post(fx.opus([], comment_type=comment_type, top=pictures)).post
    assert post.post_type == post_type
    assert len(post.media) == len(pictures or [])


def test_a_post_for_supporters_is_kept_without_its_content() -> None:
    answer = fx.opus([], comment_type=11)
    answer["data"]["item"]["modules"].append(
        {"module_type": "MODULE_TYPE_BLOCKED", "module_blocked": {"hint_message": "充电可见"}}
    )
    extra = bilibili.post(answer).post.extra
    assert (extra["blocked"], extra["is_paid"], extra["truncated"]) == ("充电可见", True, True)


def test_the_page_of_an_opus_holds_the_same_item() -> None:
    item = fx.opus([{"para_type": 1, "text": {"nodes": [fx.words("晚霞")]}}])["data"]["item"]
    assert bilibili.post(fx.video_html({"detail": item})).post.text == "晚霞"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<p>第一行 &amp; 二</p><p>第三<br>行</p>", "第一行 & 二\n第三\n行"),
        ('{"ops":[{"insert":"第一行\\n"},{"insert":{"image":"x"}},{"insert":"二"}]}', "第一行\n二"),
        (None, "摘要"),
    ],
)
def test_old_articles_are_read_in_both_forms(content: str | None, text: str) -> None:
    data = {
        "id": 34646640,
        "title": "清单",
        "summary": "摘要",
        "author": {"mid": fx.MID, "name": "山里的猫", "face": fx.FACE},
        "publish_time": 1760000000,
        "stats": {"view": 5, "like": 4, "reply": 3, "favorite": 2, "share": 1, "coin": 0},
        "tags": [{"tid": 1, "name": "户外"}],
        "image_urls": [fx.COVER],
        "content": content,
        "dyn_id_str": fx.OPUS_ID,
    }
    post = bilibili.post(fx.ok(data)).post
    assert (post.post_id, post.post_type, post.text) == (fx.OPUS_ID, "article", text)
    assert (post.extra["comment_type"], post.extra["comment_oid"]) == (12, "34646640")
    assert (post.view_count, post.tags) == (5, ["户外"])
    data["dyn_id_str"] = "0"
    assert bilibili.post(fx.ok(data)).post.post_id == "cv34646640"


# --- Creators -----------------------------------------------------------------------------


def test_the_card_fills_the_whole_profile() -> None:
    creator = bilibili.creator(fx.card())
    assert (creator.creator_id, creator.name) == (str(fx.MID), "山里的猫")
    assert creator.url == f"https://space.bilibili.com/{fx.MID}"
    assert (creator.avatar, creator.bio, creator.gender) == ("https:" + fx.FACE, "爬山", "female")
    assert (creator.follower_count, creator.following_count) == (1000, 12)
    assert (creator.like_count, creator.post_count, creator.verified) == (5000, 56, True)
    assert creator.extra == {
        "level": 5,
        "official_title": "知名户外UP主",
        "official_type": 0,
        "verified_text": "知名户外UP主",
        "vip": True,
        "article_count": 0,
    }


def test_the_profile_endpoint_has_no_numbers() -> None:
    creator = bilibili.creator(fx.acc_info())
    assert (creator.gender, creator.bio, creator.verified) == (None, None, False)
    assert (creator.follower_count, creator.like_count, creator.post_count) == (None, None, None)
    assert creator.extra == {"level": 5, "live_room_id": "77"}


@pytest.mark.parametrize(
    "answer", [fx.card(spacesta=-2), fx.acc_info(silence=1), fx.acc_info(silence="1")]
)
def test_banned_accounts_are_marked(answer: dict[str, Any]) -> None:
    assert bilibili.creator(answer).extra["silence"] == 1


# --- Comments -----------------------------------------------------------------------------


def by_id(comments: list[Comment]) -> dict[str, Comment]:
    assert len({comment.comment_id for comment in comments}) == len(comments)
    return {comment.comment_id: comment for comment in comments}


def test_a_comment_becomes_a_record() -> None:
    row = fx.comment(
        5,
        content={
            "message": "@山下的狗 看 <这个> [笑哭]",
            "at_name_to_mid": {"山下的狗": 42},
            "emote": {"[笑哭]": {"url": "http:" + fx.COVER}},
            "pictures": [{"img_src": fx.PICTURE, "img_width": 10, "img_height": 20.0}],
        },
        up_action={"like": True, "reply": True},
        rcount=2,
        count=9,
    )
    comment = bilibili.comments(fx.comment_page([row])).comments[0]
    assert (comment.comment_id, comment.post_id) == ("5", fx.BVID)
    assert (comment.root_id, comment.reply_to_id) == (None, None)
    assert comment.text == "@山下的狗 看 <这个> [笑哭]"
    assert (comment.author_id, comment.author_name) == ("1005", "网友1005")
    assert (comment.like_count, comment.reply_count) == (3, 2)
    assert comment.ip_location == "河北"
    assert [(m.kind, m.url, m.height) for m in comment.media] == [("image", fx.PICTURE_URL, 20)]
    assert comment.media[0].identifying
    assert comment.extra == {
        "oid": str(fx.AID),
        "type": 1,
        "level": 4,
        "liked_by_author": True,
        "up_replied": True,
        "mentions": [{"name": "山下的狗", "id": "42"}],
        "emotes": {"[笑哭]": fx.COVER_URL},
    }


def test_the_pinned_comment_comes_three_times_and_is_kept_once() -> None:
    top = fx.comment(9, mid=fx.MID, reply_control={"is_up_top": True})
    page = bilibili.comments(fx.comment_page([fx.comment(5), top, fx.comment(6)], top=top))
    assert [comment.comment_id for comment in page.comments] == ["9", "5", "6"]
    assert page.comments[0].extra["is_pinned"] is True
    assert page.comments[0].extra["is_author"] is True
    assert "is_pinned" not in page.comments[1].extra


def test_previews_come_after_their_root_and_further_replies_are_named() -> None:
    rows = [
        fx.comment(
            5,
            rcount=40,
            replies=[
                fx.comment(51, root=5, parent=5),
                fx.comment(52, root=5, parent=51),
            ],
        ),
        fx.comment(6, rcount=1, replies=[fx.comment(61, root=6, parent=6)]),
        fx.comment(7, rcount=0, count=4, replies=[]),
    ]
    page = bilibili.comments(fx.comment_page(rows))
    assert [comment.comment_id for comment in page.comments] == ["5", "51", "52", "6", "61", "7"]
    assert page.more_replies == {"5": "1"}
    answer = by_id(page.comments)["52"]
    assert (answer.root_id, answer.reply_to_id, answer.reply_count) == ("5", "51", None)
    assert answer.extra["reply_to_author_id"] == "1051"
    assert answer.extra["reply_to_author_name"] == "网友1051"


@pytest.mark.parametrize(
    ("answer", "used", "cursor"),
    [
        (fx.comment_page([fx.comment(5)]), None, fx.NEXT_OFFSET),
        (fx.comment_page([fx.comment(5)]), "CAE=", fx.NEXT_OFFSET),
        (fx.comment_page([fx.comment(5)], is_end=True), None, None),
        (fx.comment_page([fx.comment(5)], next_offset=None), None, None),
        (fx.comment_page([fx.comment(5)]), fx.NEXT_OFFSET, None),  # the same offset again
        (fx.comment_page([]), "CAE=", None),
        (fx.comment_page(None), "CAE=", None),
    ],
)
def test_comments_end_by_any_of_the_signs(
    answer: dict[str, Any], used: str | None, cursor: str | None
) -> None:
    page = bilibili.comments(answer, cursor=used)
    assert (page.has_more, page.cursor) == (cursor is not None, cursor)


@pytest.mark.parametrize(
    ("answer", "used", "cut_short"),
    [
        # what visitors get: three comments, an end, and a count that tells the truth
        (fx.comment_page([fx.comment(5)], is_end=True, next_offset=None, total=86), None, True),
        (fx.comment_page([fx.comment(5, rcount=85)], is_end=True, total=86), None, False),
        (fx.comment_page([fx.comment(5)], is_end=True, total=1), None, False),
        (fx.comment_page([], is_end=True, next_offset=None, total=0), None, False),
        # the all-zero second page of visitors
        (fx.comment_page(None, next_offset=None, total=0, begin=False), "CAE=", True),
        (fx.comment_page([fx.comment(5)], is_end=True, total=86, begin=False), "CAE=", False),
    ],
)
def test_a_walk_that_was_cut_short_says_so(
    answer: dict[str, Any], used: str | None, cut_short: bool
) -> None:
    assert bilibili.comments(answer, cursor=used).cut_short is cut_short


def test_comments_of_other_areas_belong_to_the_post_that_was_asked() -> None:
    row = fx.comment(5, type=11, oid=312848844)
    assert bilibili.comments(fx.comment_page([row])).comments[0].post_id is None
    page = bilibili.comments(fx.comment_page([row]), post_id=fx.OPUS_ID)
    assert page.comments[0].post_id == fx.OPUS_ID


def test_a_comment_without_member_or_text_is_kept() -> None:
    row = fx.comment(5, member=None, content={"message": ""}, reply_control=None, like=0)
    comment = bilibili.comments(fx.comment_page([row])).comments[0]
    assert (comment.author_id, comment.author_name, comment.text) == ("1005", None, None)
    assert comment.like_count == 0


def test_the_old_comment_list_is_read_as_well() -> None:
    data = {
        "page": {"num": 1, "size": 20, "count": 30, "acount": 45},
        "replies": [fx.comment(5)],
        "hots": [fx.comment(6)],
        "upper": {"mid": fx.MID, "top": fx.comment(9)},
        "top": None,
    }
    page = bilibili.comments(fx.ok(data))
    assert [comment.comment_id for comment in page.comments] == ["9", "6", "5"]
    assert (page.has_more, page.cursor, page.total) == (True, "2", 45)
    data["page"] = {"num": 400, "size": 20, "count": 9000}
    page = bilibili.comments(fx.ok(data))
    assert (page.has_more, page.cut_short) == (False, True)


@pytest.mark.parametrize(
    ("num", "rows", "cursor"),
    [(1, 20, "2"), (2, 20, "3"), (3, 5, None), (3, 20, None), (1, 0, None)],
)
def test_replies_end_by_their_count_even_if_rows_repeat(
    num: int, rows: int, cursor: str | None
) -> None:
    replies = [fx.comment(100 + n, root=1, parent=1) for n in range(rows)]
    page = bilibili.replies(fx.reply_page(replies, num=num))
    assert (page.has_more, page.cursor) == (cursor is not None, cursor)
    assert len(page.comments) == rows
    assert "1" not in by_id(page.comments)  # the parent is no reply


def test_replies_without_rows_are_the_end() -> None:
    page = bilibili.replies(fx.reply_page(None, num=13, count=260))
    assert (page.comments, page.has_more, page.total) == ([], False, 260)


def test_a_reply_tells_whom_it_answers() -> None:
    content = {"message": "回复 @网友1777 :好的", "at_name_to_mid_str": {"网友1777": "1777"}}
    rows = [
        fx.comment(51, root=1, parent=1),
        fx.comment(52, root=1, parent=51, mid=fx.MID),
        fx.comment(53, root=1, parent=777, content=content),
        fx.comment(54, root=1, parent=778),
    ]
    found = by_id(bilibili.replies(fx.reply_page(rows)).comments)
    answered = [found[rpid].extra.get("reply_to_author_id") for rpid in ("51", "52", "53", "54")]
    assert answered == [str(fx.MID), "1051", "1777", None]
    assert found["53"].extra["reply_to_author_name"] == "网友1777"
    assert found["52"].extra["is_author"] is True


# --- Files --------------------------------------------------------------------------------


def test_the_best_streams_are_chosen_and_addresses_do_not_tell_who_asked() -> None:
    video = [
        fx.stream(64, 7),
        fx.stream(80, 12, 5000),
        fx.stream(80, 7, 1000),
        fx.stream(80, 7, 2000),
        fx.stream(80, 13, 9000),
    ]
    audio = [fx.stream(30232), fx.stream(30280), fx.stream(30216)]
    best_video, best_audio = bilibili.playurl(fx.dash(video, audio))
    assert best_video.url == "https://upos-sz-mirrorcos.bilivideo.com/up/80-7.m4s"
    assert best_video.fetch_url is not None
    assert best_video.fetch_url.startswith(best_video.url + "?deadline=")
    assert [url.split("/")[2] for url in best_video.backup_urls] == [
        "xy1x2x3x4xy.mcdn.bilivideo.cn:4483"
    ]
    assert (best_video.kind, best_video.width, best_video.duration_s) == ("video", 1920, 61)
    assert not best_video.identifying  # what is left names the video, not a person
    assert (best_audio.kind, best_audio.url) == (
        "audio",
        "https://upos-sz-mirrorcos.bilivideo.com/up/30280-7.m4s",
    )


def test_a_stream_is_known_again_on_another_mirror_and_says_what_it_belongs_to() -> None:
    row = fx.stream(80, 7)
    elsewhere = json.loads(json.dumps(row).replace("mirrorcos", "mirrorali"))
    answers = (fx.dash([video], [fx.stream(30280)]) for video in (row, elsewhere))
    (one, sound), (other, _) = (bilibili.playurl(answer) for answer in answers)
    assert one.url != other.url
    assert one.source == other.source == "80-7.m4s"
    assert sound.source != one.source
    assert [one.soundtrack, sound.soundtrack] == [False, True]


@pytest.mark.parametrize(
    ("limit", "quality"), [(None, 120), (127, 120), (116, 80), (80, 80), (79, 64), (16, 64)]
)
def test_the_quality_can_be_limited(limit: int | None, quality: int) -> None:
    answer = fx.dash([fx.stream(120), fx.stream(64), fx.stream(80)], None)
    (video,) = bilibili.playurl(answer, max_quality=limit)
    assert video.url is not None
    assert video.url.endswith(f"/{quality}-7.m4s")


@pytest.mark.parametrize(
    ("changes", "quality"),
    [
        ({"dolby": {"type": 1, "audio": [fx.stream(30250)]}}, 30250),
        ({"flac": {"display": True, "audio": fx.stream(30251)}}, 30251),
        ({"dolby": {"type": 0, "audio": None}, "flac": {"audio": None}}, 30280),
    ],
)
def test_audio_is_ranked_by_quality_not_by_number(changes: dict[str, Any], quality: int) -> None:
    answer = fx.dash([fx.stream(80)], [fx.stream(30280)], **changes)
    audio = bilibili.playurl(answer)[1]
    assert audio.url is not None
    assert f"/{quality}-" in audio.url


def test_all_pieces_of_a_one_file_answer_are_kept_in_order() -> None:
    pieces = [
        {"order": 2, "length": 500, "url": "http://upos-x.bilivideo.com/2.mp4?mid=8"},
        {
            "order": 1,
            "length": 60000,
            "url": "https://cn-zj.bilivideo.com/1.mp4?mid=8",
            "backup_url": ["https://upos-x.bilivideo.com/1.mp4?mid=8"],
        },
    ]
    files = bilibili.playurl(fx.ok({"durl": pieces, "quality": 64}))
    assert [(file.kind, file.url, file.duration_s) for file in files] == [
        ("video", "https://upos-x.bilivideo.com/1.mp4", 60.0),
        ("video", "https://upos-x.bilivideo.com/2.mp4", 0.5),
    ]


def test_no_stream_is_not_taken_for_a_good_answer() -> None:
    with pytest.raises(UnexpectedResponse):
        bilibili.playurl(fx.dash([], None))
    answer = fx.dash([], None)
    answer["data"]["v_voucher"] = "voucher_1"
    with pytest.raises(CaptchaRequired):
        bilibili.playurl(answer)


def test_subtitles_of_other_videos_are_left_out() -> None:
    ai = "//aisubtitle.hdslb.com/bfs/ai_subtitle/prod/"
    rows = [
        {"lan": "ai-zh", "subtitle_url": f"{ai}170001301abc?auth_key=1"},
        {"lan": "ai-en", "subtitle_url": f"{ai}170002302abc?auth_key=1"},
        {"lan": "zh-CN", "subtitle_url": "//i0.hdslb.com/bfs/subtitle/abc.json"},
        {"lan": "en-US", "subtitle_url": ""},
    ]
    answer = fx.ok({"need_login_subtitle": True, "subtitle": {"subtitles": rows}})
    found = bilibili.subtitles(answer, aid="170001", cid="301")
    assert list(found.files) == ["ai-zh", "zh-CN"]
    machine = found.files["ai-zh"]
    assert (machine.kind, machine.ext) == ("subtitle", "json")
    assert machine.url == f"https:{ai}170001301abc"
    assert machine.fetch_url == f"https:{ai}170001301abc?auth_key=1"
    assert (found.needs_login, found.foreign) == (True, 1)


def wire(number: int, value: int | bytes) -> bytes:
    def varint(rest: int) -> bytes:
        out = b""
        while rest > 0x7F:
            out += bytes([rest & 0x7F | 0x80])
            rest >>= 7
        return out + bytes([rest])

    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


DANMAKU_XML = (
    '<?xml version="1.0" encoding="UTF-8"?><i><maxlimit>300</maxlimit>'
    '<d p="12.34500,1,25,16777215,1760000000,0,a1b2c3d4,900,9">好看 &lt;3 &amp;lt; &#33;\x08</d>'
    '<d p="0,5,18,255,1760000001,1,0f0f0f0f,901">两\n行</d>'
    '<d p="12.34500,1,25,16777215,1760000000,0,a1b2c3d4,900,9">再来一次</d>'
    '<d p="broken">坏</d></i>'
)


def segment() -> bytes:
    first = (
        wire(1, 900)
        + wire(2, 12345)
        + wire(3, 1)
        + wire(4, 25)
        + wire(5, 16777215)
        + wire(6, b"a1b2c3d4")
        + wire(7, "好看 <3 &lt; !\x08".encode())
        + wire(8, 1760000000)
        + wire(9, 9)
        + wire(12, b"900")
    )
    second = (
        wire(1, 901)
        + wire(3, 5)
        + wire(4, 18)
        + wire(5, 255)
        + wire(6, b"0f0f0f0f")
        + wire(7, "两\n行".encode())
        + wire(8, 1760000001)
        + wire(11, 1)
        + wire(24, 60001)
        + wire(99, b"future")
    )
    return wire(1, first) + wire(1, second) + wire(1, first) + wire(5, 7)


def deflated() -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(DANMAKU_XML.encode()) + packer.flush()


@pytest.mark.parametrize(
    "body",
    [DANMAKU_XML, DANMAKU_XML.encode(), deflated(), segment()],
    ids=["text", "bytes", "raw deflate", "protobuf"],
)
def test_danmaku_mean_the_same_in_every_form(body: bytes | str) -> None:
    first, second = bilibili.danmaku(body)
    assert (first.dmid, first.progress_ms, first.mode, first.fontsize) == ("900", 12345, 1, 25)
    assert (first.color, first.user_hash, first.weight) == (16777215, "a1b2c3d4", 9)
    assert first.text == "好看 <3 &lt; !\x08"
    assert first.sent_at == PUBLISHED
    assert (second.dmid, second.progress_ms, second.mode, second.pool) == ("901", 0, 5, 1)
    assert second.text == "两\n行"


def test_a_segment_without_danmaku_is_empty() -> None:
    assert bilibili.danmaku(b"") == []
    assert bilibili.danmaku("<i><maxlimit>300</maxlimit></i>") == []


@pytest.mark.parametrize(
    ("body", "meaning"),
    [
        (json.dumps(fx.refused(-404)).encode(), NotFound),
        (json.dumps(fx.ok({})).encode(), UnexpectedResponse),
        (segment()[:50], UnexpectedResponse),
        (DANMAKU_XML[:200], UnexpectedResponse),
        (b"\xff\xff\xff", UnexpectedResponse),
    ],
)
def test_danmaku_that_are_refused_or_cut(body: bytes | str, meaning: type[PlatformError]) -> None:
    with pytest.raises(meaning):
        bilibili.danmaku(body)


# --- The session --------------------------------------------------------------------------


def test_a_visitors_navigation_data_holds_the_keys() -> None:
    assert read(body=fx.NAV, url=API + "/x/web-interface/nav") == fx.NAV
    session = bilibili.login_state(fx.NAV)
    assert not session.logged_in
    assert session.img_key == "7cd084941338484aae1ad9425b84077c"
    assert session.mixin_key == "ea1db124af3c7062474693fa704f4ff8"


def test_only_the_login_flag_proves_a_login() -> None:
    data = {**fx.NAV["data"], "isLogin": True, "mid": 8, "uname": "我"}
    session = bilibili.login_state(fx.ok(data))
    assert (session.logged_in, session.mid, session.name) == (True, "8", "我")
    assert bilibili.me(fx.ok(data)) == Viewer("8", "我", guest=False)
    assert bilibili.me(fx.NAV) == Viewer(None, None, guest=True)


def test_navigation_data_without_keys_is_useless() -> None:
    with pytest.raises(LoginRequired):
        bilibili.login_state(fx.refused(-101, data={"isLogin": False}))
    with pytest.raises(UnexpectedResponse):
        bilibili.login_state(fx.ok({"isLogin": True, "wbi_img": {"img_url": "", "sub_url": None}}))


@pytest.mark.parametrize(
    ("data", "cookies"),
    [
        ({"b_3": "AB-CD12345infoc", "b_4": "x"}, {"buvid3": "AB-CD12345infoc", "buvid4": "x"}),
        ({"buvid": "AB-CD12345infoc"}, {"buvid3": "AB-CD12345infoc"}),
    ],
)
def test_visitor_cookies_come_from_either_endpoint(
    data: dict[str, str], cookies: dict[str, str]
) -> None:
    assert bilibili.visitor_cookies(fx.ok(data)) == cookies


# --- Robustness ---------------------------------------------------------------------------


def test_one_unreadable_row_loses_no_other() -> None:
    broken = fx.search_row(bvid={"a": 1}, aid="x")
    page = bilibili.search(fx.search_page([broken, None, fx.search_row()]))
    assert (len(page.posts), page.unreadable) == (1, 2)
    rows = [{**fx.comment(5), "rpid": None, "rpid_str": " "}, "x", fx.comment(6)]
    comments = bilibili.comments(fx.comment_page(rows))
    assert ([c.comment_id for c in comments.comments], comments.unreadable) == (["6"], 2)
    feed = bilibili.creator_posts(fx.feed([None, fx.dynamic(), {**fx.dynamic(), "id_str": []}]))
    assert (len(feed.posts), feed.unreadable, feed.skipped) == (1, 1, 1)


def test_flags_and_codes_may_be_text() -> None:
    no = {"is_pay": "0", "is_charge_video": "false"}
    (found,) = bilibili.search(fx.search_page([fx.search_row(**no)])).posts
    assert "is_paid" not in found.extra
    (found,) = bilibili.search(fx.search_page([fx.search_row(is_pay="1")])).posts
    assert found.extra["is_paid"] is True
    users = bilibili.search_users(fx.search_page([fx.user_row(gender="2")]))
    assert users.creators[0].gender == "female"
    view = {**fx.view(), "is_upower_exclusive": "false", "rights": {"ugc_pay": True}}
    extra = bilibili.post(fx.ok(view)).post.extra
    assert (extra["is_paid"], "is_upower_exclusive" in extra) == (True, False)


def test_one_odd_field_loses_no_record() -> None:
    odd = {"title": ["x"], "pubdate": "yesterday", "author": True, "upic": 0, "pic": "x"}
    (found,) = bilibili.search(fx.search_page([fx.search_row(**odd)])).posts
    assert (found.title, found.published_at, found.author_name) == (None, None, None)
    assert (found.author_avatar, [media.kind for media in found.media]) == (None, ["video"])
    view = {**fx.view(), "title": {}, "pubdate": [], "owner": "x", "duration": 10**40}
    assert bilibili.post(fx.ok(view)).post.title is None
    comment = fx.comment(5, ctime="yesterday", dialog=True, content={"message": ["x"]})
    (read,) = bilibili.comments(fx.comment_page([comment])).comments
    assert (read.comment_id, read.published_at, read.text) == ("5", None, None)


FUZZED: list[tuple[Callable[[Any], Any], dict[str, Any]]] = [
    (bilibili.search, fx.search_page([fx.search_row(), fx.course_row()])),
    (bilibili.search_users, fx.search_page([fx.user_row()])),
    (bilibili.post, fx.ok(fx.view())),
    (bilibili.post, fx.ok({"View": fx.view(), "Tags": fx.TAGS})),
    (bilibili.post, fx.opus([{"para_type": 1, "text": {"nodes": [fx.words("一")]}}], top=[{}])),
    (
        bilibili.post,
        fx.ok(
            {
                "item": fx.dynamic(
                    kind="FORWARD",
                    desc={"text": "x", "rich_text_nodes": fx.nodes(("AT", "@x"), ("WEB", "y"))},
                    orig=fx.dynamic(
                        "1", major={"type": "MAJOR_TYPE_DRAW", "draw": {"items": [{}]}}
                    ),
                )
            }
        ),
    ),
    (
        bilibili.post,
        fx.ok({"publish_time": 1, "content": "<p>x</p>", "id": 3, "author": {"mid": 1}}),
    ),
    (bilibili.creator, fx.card()),
    (bilibili.creator, fx.acc_info()),
    (bilibili.creator_posts, fx.arc_page([fx.arc_row(meta={"id": 1, "attribute": 156})])),
    (bilibili.creator_posts, fx.feed([fx.dynamic()])),
    (
        bilibili.comments,
        fx.comment_page(
            [
                fx.comment(
                    5,
                    rcount=4,
                    replies=[fx.comment(51, root=5, parent=5)],
                    content={
                        "message": "x",
                        "members": [{"mid": "1", "uname": "x"}],
                        "at_name_to_mid": {"x": 1},
                        "emote": {"[x]": {"url": "//x"}},
                        "pictures": [{"img_src": "//x", "img_width": 1}],
                        "rich_text": {"note": {"images": ["//y"]}},
                    },
                )
            ],
            top=fx.comment(9),
        ),
    ),
    (bilibili.replies, fx.reply_page([fx.comment(51, root=1, parent=1)])),
    (bilibili.playurl, fx.dash([fx.stream(80)], [fx.stream(30280)])),
    (bilibili.login_state, fx.NAV),
    (bilibili.visitor_cookies, fx.ok({"b_3": "x", "b_4": "y"})),
    (bilibili.tags, fx.ok(fx.TAGS)),
    (bilibili.parts, fx.ok(fx.view()["pages"])),
]
REPLACEMENTS = (
    None,
    {},
    [],
    "",
    0,
    "x",
    True,
    -1,
    1.5,
    10**30,
    math.inf,
    math.nan,
    [None],
    [[]],
    {"a": []},
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container and key below *value*."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(pairs):
        yield value, key
        if isinstance(inner, (dict, list)):
            yield from places(inner)


@pytest.mark.parametrize(("page", "answer"), FUZZED)
def test_no_answer_breaks_a_page_function(
    page: Callable[[Any], Any], answer: dict[str, Any]
) -> None:
    rng = random.Random(1)
    for number in range(len(list(places(answer)))):
        for replacement in (*REPLACEMENTS, "delete"):
            mutant = copy.deepcopy(answer)
            holder, key = list(places(mutant))[number]
            if replacement == "delete":
                del holder[key]
            else:
                holder[key] = copy.deepcopy(replacement)
            with contextlib.suppress(PlatformError):
                page(mutant)
            for second_holder, second_key in rng.sample(list(places(mutant)), 1) if mutant else []:
                second_holder[second_key] = copy.deepcopy(rng.choice(REPLACEMENTS))
            with contextlib.suppress(PlatformError):
                page(mutant)


@pytest.mark.parametrize(
    "body", [b"null", b"[]", b"3", b'"x"', b"{}", b"", b"<", b"{", b"\xff\xfe"]
)
def test_anything_may_be_answered(body: bytes) -> None:
    for page, _ in FUZZED:
        with pytest.raises(PlatformError):
            page(body)
