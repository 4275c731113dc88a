"""What Weibo's answers mean: every variant of docs/platforms/weibo.md that was ever seen."""

import copy
import json
import random
from datetime import datetime, timedelta, timezone

import pytest
from weibo_fixtures import (
    BID,
    GIF_PID,
    MID,
    MOBILE_TEXT,
    NOTHING,
    NOW,
    OTHER_MID,
    PID,
    PLAIN_TEXT,
    PROFILE_USER,
    SEARCH_PAGE,
    UID,
    VIDEO_PAGE,
    VISITOR_PAGE,
    build_comments,
    card,
    desktop_comment,
    desktop_picture,
    desktop_post,
    gone_original,
    hotflow,
    mblog,
    mobile_comment,
    mobile_list,
    mobile_picture,
    playback,
    user,
)

from mediacrawler.exceptions import (
    AccessDenied,
    CaptchaRequired,
    LoginRequired,
    NotFound,
    PlatformError,
    RateLimited,
    UnexpectedResponse,
    Withheld,
)
from mediacrawler.items import Creator, Post
from mediacrawler.pages import PostPage, Viewer, weibo


def utc(*parts):
    return datetime(*parts, tzinfo=timezone.utc)


def encoded(answer):
    return json.dumps(answer, ensure_ascii=False).encode()


def read(blog, **context):
    """The record of a post object, as a detail gives it."""
    return weibo.post({"ok": 1, "data": blog}, **context).post


def kinds(post):
    return [media.kind for media in post.media]


def addresses(post):
    return [media.url for media in post.media]


def cut_post():
    return read(mblog(text='雨后 ...<a href="/status/1">全文</a>', isLongText=True))


def fill_text(body):
    return weibo.long_text(body, cut_post())


def fill_creator(body):
    return weibo.creator_detail(body, Creator("weibo", UID))


def read_article(body):
    return weibo.article(body, article_id="1")


# What an answer means (section 6) -----------------------------------------------------------------

DETAIL = "https://weibo.com/ajax/statuses/show?id=OedWvw474"
HOTFLOW = "https://m.weibo.cn/comments/hotflow?id=5033901917642310"
PROFILE = "https://m.weibo.cn/api/container/getIndex?type=uid&value=1"
POSTS = "https://m.weibo.cn/api/container/getIndex?type=uid&value=1&containerid=1076031"
SIGN_IN = "https://passport.weibo.com/sso/signin?entry=wapsso&url=https%3A%2F%2Fm.weibo.cn%2Fverify"


@pytest.mark.parametrize(
    ("status", "body", "url", "error", "scope"),
    [
        (200, {"ok": -100, "url": SIGN_IN}, PROFILE, LoginRequired, "account"),
        (200, {"ok": "-100", "url": SIGN_IN}, PROFILE, LoginRequired, "account"),
        (200, {"ok": -100}, PROFILE, LoginRequired, "account"),
        (
            200,
            {"ok": -100, "url": "https://m.weibo.cn/security?captcha=1"},
            PROFILE,
            CaptchaRequired,
            "account",
        ),
        (
            200,
            {"ok": 0, "url": "https://x.weibo.cn/captcha"},
            DETAIL,
            CaptchaRequired,
            "account",
        ),
        (200, {"ok": 0, "msg": "请求过于频繁,歇歇吧"}, DETAIL, RateLimited, "account"),
        (200, {"ok": 0, "errno": 100005, "msg": "操作频繁"}, DETAIL, RateLimited, "account"),
        (
            200,
            {"ok": 0, "errno": "100005", "message": "请先登录"},
            DETAIL,
            LoginRequired,
            "account",
        ),
        (200, {"ok": 0, "msg": "用户未登录"}, DETAIL, LoginRequired, "account"),
        (200, {"ok": 0, "errno": "20101", "msg": "该微博不存在"}, DETAIL, NotFound, "item"),
        (200, {"ok": 0, "errno": 20101}, DETAIL, NotFound, "item"),
        (200, {"ok": 0, "msg": "微博不存在或暂无查看权限"}, DETAIL, NotFound, "item"),
        (200, {"ok": 0, "errno": 20112, "msg": "暂无查看权限"}, DETAIL, Withheld, "item"),
        (
            200,
            {"ok": 0, "message": "由于作者隐私设置，你没有权限查看此微博"},
            DETAIL,
            Withheld,
            "item",
        ),
        (200, {"ok": 0, "errno": 100003, "msg": "用户不存在"}, PROFILE, NotFound, "item"),
        (200, {"ok": 0, "msg": "该账号因被投诉违反法律法规"}, PROFILE, NotFound, "item"),
        (200, NOTHING, PROFILE, NotFound, "item"),
        (200, {"retcode": 6102, "msg": "alt token"}, "", LoginRequired, "account"),
        (403, {"ok": 0, "message": "前方有点拥堵，请登录后使用"}, DETAIL, LoginRequired, "account"),
        (403, {"error": "Forbidden"}, DETAIL, AccessDenied, "account"),
        (403, {"x": 1}, HOTFLOW, LoginRequired, "account"),
        (403, b"", DETAIL, AccessDenied, "account"),
        (400, b'{"ok":0,"error_type":"x"}', DETAIL, Withheld, "item"),
        (400, {"ok": 0}, "https://weibo.com/ajax/profile/info?uid=1", NotFound, "item"),
        (400, {"ok": 0, "errno": 20101}, DETAIL, NotFound, "item"),
        (404, {"ok": 0, "message": "你访问的地址不存在"}, DETAIL, UnexpectedResponse, "request"),
        (404, b"<html>404</html>", "https://m.weibo.cn/n/x", NotFound, "item"),
        (418, b"", DETAIL, RateLimited, "ip"),
        (414, b"", DETAIL, RateLimited, "ip"),
        (432, b"", PROFILE, RateLimited, "account"),
        (429, b"", DETAIL, RateLimited, "account"),
        (503, b"", DETAIL, RateLimited, "account"),
        (500, b"<html></html>", DETAIL, UnexpectedResponse, "request"),
        (200, VISITOR_PAGE.encode(), "https://weibo.com/u/1", LoginRequired, "account"),
        (200, b"<html><div id=app></div></html>", PROFILE, LoginRequired, "account"),
        (200, b"<p class=h5-404>", "https://m.weibo.cn/status/1", NotFound, "item"),
        (200, "<p>出错了，未知错误</p>".encode(), "https://m.weibo.cn/status/1", NotFound, "item"),
        (200, b"", DETAIL, UnexpectedResponse, "request"),
        (200, b'{"ok":1,"data":{"ca', PROFILE, UnexpectedResponse, "request"),
    ],
)
def test_a_refusal_is_raised_by_its_meaning(status, body, url, error, scope):
    raw = body if isinstance(body, bytes) else encoded(body)
    with pytest.raises(PlatformError) as caught:
        weibo.read_answer(status, {}, raw, url=url)
    assert (type(caught.value), caught.value.scope) == (error, scope)


@pytest.mark.parametrize(
    ("location", "error"),
    [
        ("https://passport.weibo.com/visitor/visitor?entry=miniblog&url=x", LoginRequired),
        ("https://visitor.passport.weibo.cn/visitor/visitor?a=enter", LoginRequired),
        (SIGN_IN, LoginRequired),
        ("https://login.sina.com.cn/sso/login.php?x=captcha", LoginRequired),
        ("https://weibo.com/login.php", LoginRequired),
        ("https://m.weibo.cn/login?backURL=x", LoginRequired),
        ("https://security.weibo.com/captcha/geetest", CaptchaRequired),
        ("https://m.weibo.cn/elsewhere", UnexpectedResponse),
    ],
)
def test_a_redirect_means_what_its_target_means(location, error):
    with pytest.raises(error):
        weibo.read_answer(302, {"location": location}, b"", url=DETAIL)


def test_a_captcha_says_where_a_person_can_solve_it():
    where = "https://security.weibo.com/captcha/geetest?key=0f"
    for status, headers, body in (
        (302, {"location": where}, b""),
        (200, {}, json.dumps({"ok": -100, "url": where}).encode()),
    ):
        with pytest.raises(CaptchaRequired) as caught:
            weibo.read_answer(status, headers, body, url=DETAIL)
        assert caught.value.page == where
        assert "0f" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), ("Tue, 14 May 2024 04:01:30 GMT", 90.0), ("soon", None)],
)
def test_a_rate_limit_carries_retry_after(header, seconds):
    with pytest.raises(RateLimited) as caught:
        weibo.read_answer(429, {"retry-after": header}, b"", now=NOW.timestamp())
    assert caught.value.retry_after == seconds


def test_good_answers_are_decoded_once():
    assert weibo.read_answer(200, {}, b'{"ok":1,"data":{}}', url=POSTS) == {"ok": 1, "data": {}}
    assert weibo.read_answer(200, {}, b'window.cb && cb({"retcode":20000000});') == {
        "retcode": 20000000
    }
    assert weibo.read_answer(200, {}, SEARCH_PAGE.encode()) == SEARCH_PAGE


def test_no_content_is_an_answer_where_it_may_be_the_end_of_a_list():
    assert weibo.read_answer(200, {}, encoded(NOTHING), url=POSTS) == NOTHING


def test_words_of_a_refusal_inside_a_post_do_not_refuse_it():
    blog = mblog(text="今天看到 h5-404 和“微博不存在或暂无查看权限”[0][0] || {}")
    page = f"<html><script>var $render_data = {json.dumps([{'status': blog}])}[0] || {{}};</script>"
    assert weibo.post(weibo.read_answer(200, {}, page.encode())).post.post_id == MID


@pytest.mark.parametrize(
    "read_page",
    [
        weibo.search,
        weibo.post,
        weibo.creator,
        weibo.creator_posts,
        weibo.comments,
        weibo.replies,
        weibo.login_state,
        fill_text,
        fill_creator,
        read_article,
    ],
)
def test_every_page_function_sees_refusals_itself(read_page):
    with pytest.raises(LoginRequired):
        read_page(encoded({"ok": -100, "url": SIGN_IN}))
    with pytest.raises(LoginRequired):
        read_page(VISITOR_PAGE)
    with pytest.raises(UnexpectedResponse):
        read_page(b'{"ok":1,"data":')


# Texts (section 7.1) ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (None, None),
        ("", None),
        (" <br>\u200b", None),
        (MOBILE_TEXT, PLAIN_TEXT),
        ("a<br>b<br />c<br/>d", "a\nb\nc\nd"),
        (
            "<img alt=\"[心]\"><img alt='[打call]'><img alt=[茶] src=x><img src=y>",
            "[心][打call][茶]",
        ),
        ("&lt;b&gt; &amp;amp; &quot;", '<b> &amp; "'),
        ("  \u200b尾\u200b ", "尾"),
        ("a  b\ufeff", "a  b"),
        ('<a title="a > b" href=x>链接</a>。', "链接。"),
        ("👨‍👩‍👧‍👦 好", "👨‍👩‍👧‍👦 好"),
        ("2 < 3", "2 < 3"),
        ('字 ...<a href="/status/1">全文</a>', "字"),
        ('字...<span class="expand">展开</span>\u200b', "字"),
        ("我想看全文", "我想看全文"),
    ],
)
def test_html_becomes_clean_text(source, text):
    assert weibo.read_markup(source).text == text


def test_links_mentions_tags_places_and_super_topics_are_told_apart():
    def link(icon, caption, address):
        return f'<a href="{address}"><img src="https://h5.sinaimg.cn/{icon}">{caption}</a>'

    markup = weibo.read_markup(
        link("timeline_card_small_super_default.png", "山茶超话", "https://weibo.com/p/100808ab")
        + link("timeline_card_small_location_default.png", "大理", "https://weibo.com/p/100101ab")
        + '<a href="https://weibo.com/p/100808cd">#采茶[超话]#</a>'
        + '<a href="//s.weibo.com/weibo?q=x">#新茶#</a><a href="//s.weibo.com/weibo?q=x">#新茶#</a>'
        + '<a href="https://weibo.cn/sinaurl?u=https%3A%2F%2Fa.example%2F%3Fx%3D%2525">网页链接</a>'
        + '<a data-url="http://t.cn/A6b" href="http://t.cn/A6b">视频</a><a href=/n/x>@溪边人</a>'
    )
    assert markup.super_topics == ["山茶超话", "采茶"]
    assert markup.location == "大理"
    assert markup.tags == ["新茶"]
    assert markup.links == ["https://a.example/?x=%25", "http://t.cn/A6b"]
    assert markup.mentions == ["溪边人"]


@pytest.mark.parametrize(
    ("fields", "text", "truncated"),
    [
        ({}, "#山间茶会# 雨后 <新芽>\n两行", None),
        (  # cut in a list: the plain text is cut as well
            {
                "text": '雨后 ...<span class="expand">展开</span>',
                "text_raw": "雨后 ...\u200b",
                "isLongText": True,
            },
            "雨后",
            True,
        ),
        (  # the detail brings the long text with it
            {
                "text": '雨后 ...<span class="expand">展开</span>',
                "isLongText": True,
                "longText": {"content": "雨后\n新芽 "},
            },
            "雨后\n新芽",
            None,
        ),
        # many pictures: `isLongText` although nothing is cut
        ({"isLongText": True}, "#山间茶会# 雨后 <新芽>\n两行", None),
        ({"text": None, "text_raw": None}, None, None),
        ({"text": None, "text_raw": "雨后 ...\u200b", "isLongText": True}, "雨后", True),
    ],
)
def test_the_desktop_site_has_the_text_in_several_places(fields, text, truncated):
    post = weibo.post(desktop_post(**fields)).post
    assert (post.text, post.extra.get("truncated")) == (text, truncated)


# Times (section 7.2) ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("caption", "moment"),
    [
        ("Tue May 14 12:00:05 +0800 2024", utc(2024, 5, 14, 4, 0, 5)),
        ("Sat Dec 23 17:12:54 +0800 2023", utc(2023, 12, 23, 9, 12, 54)),
        ("Sat Dec 23 09:12:54 +0000 2023", utc(2023, 12, 23, 9, 12, 54)),
        ("刚刚", NOW),
        ("30秒前", NOW - timedelta(seconds=30)),
        ("5分钟前", NOW - timedelta(minutes=5)),
        ("3小时前", NOW - timedelta(hours=3)),
        ("今天 08:10", utc(2024, 5, 14, 0, 10)),
        ("今天08:10", utc(2024, 5, 14, 0, 10)),
        ("昨天 22:33", utc(2024, 5, 13, 14, 33)),
        ("昨天 03:00", utc(2024, 5, 12, 19, 0)),  # yesterday in Shanghai
        ("05-13", utc(2024, 5, 12, 16, 0)),
        ("12-31", utc(2023, 12, 30, 16, 0)),  # else it lay in the future
        ("02-29", utc(2024, 2, 28, 16, 0)),
        ("05月13日 10:00", utc(2024, 5, 13, 2, 0)),
        ("06月01日 10:00 转赞人数超过100", utc(2023, 6, 1, 2, 0)),
        ("2010-06-18", utc(2010, 6, 17, 16, 0)),
        ("2010-6-18 9:05", utc(2010, 6, 18, 1, 5)),
        ("2024年05月14日 10:00", utc(2024, 5, 14, 2, 0)),
        ("2024-01-15 10:00:30", utc(2024, 1, 15, 2, 0, 30)),
        ("", None),
        (None, None),
        ("2024-02-30", None),
        ("someday", None),
    ],
)
def test_times_of_every_style_become_utc(caption, moment):
    assert weibo.moment(caption, now=NOW) == moment


NEW_YEAR = utc(2023, 12, 31, 16, 30)  # 00:30 of 2024 in Shanghai


@pytest.mark.parametrize(
    ("caption", "moment"),
    [("昨天 23:50", utc(2023, 12, 31, 15, 50)), ("12-31", utc(2023, 12, 30, 16, 0))],
)
def test_the_day_and_the_year_change_at_midnight_in_shanghai(caption, moment):
    assert weibo.moment(caption, now=NEW_YEAR) == moment


@pytest.mark.parametrize(
    ("caption", "now"),
    [
        ("14分钟前", utc(2024, 5, 14, 4, 14, 30)),
        ("今天 12:00", NOW + timedelta(hours=3)),
        ("05-14", NOW + timedelta(days=3)),
        ("2024-05-14", None),
        ("3小时前", None),  # no telling when the page was made: the id knows
        (None, None),
    ],
)
def test_the_id_tells_the_second_where_the_caption_is_coarse(caption, now):
    assert weibo.moment(caption, known_id=MID, now=now) == utc(2024, 5, 14, 4, 0, 5)


def test_a_caption_that_contradicts_the_id_wins():
    shown = weibo.moment("2024-05-20 10:00", known_id=MID, now=NOW)
    assert shown == utc(2024, 5, 20, 2, 0)


# Posts (sections 5.3, 5.4, 7.4) -------------------------------------------------------------------


def test_a_mobile_post_has_all_fields():
    post = read(mblog(edit_at="Tue May 14 13:00:00 +0800 2024", edit_count=2))
    assert post == Post(
        "weibo",
        MID,
        post_type="text",
        url=f"https://weibo.com/{UID}/{BID}",
        text=PLAIN_TEXT,
        author_id=UID,
        author_name="山间茶馆",
        author_url=f"https://weibo.com/u/{UID}",
        author_avatar="https://wx1.sinaimg.cn/orj480/big.jpg",
        published_at=utc(2024, 5, 14, 4, 0, 5),
        edited_at=utc(2024, 5, 14, 5, 0, 0),
        like_count=1_000_000,
        comment_count=12_000,
        share_count=3,
        tags=["山间茶会"],
        ip_location="云南",
        extra={
            "bid": BID,
            "edit_count": 2,
            "client": "茶色手机",
            "counts_are_lower_bounds": True,
            "links": ["https://tea.example/a?b=1"],
            "mentions": [{"name": "溪边人", "id": None}],
        },
    )


def test_a_desktop_post_has_all_fields():
    post = weibo.post(
        desktop_post(
            url_struct=[
                {"url_title": "网页链接", "long_url": "https://tea.example/", "short_url": "x"},
                {"url_title": "山茶超话", "url_type_pic": "https://h5/card_small_super_x.png"},
                {"url_title": "大理", "url_type_pic": "https://h5/card_small_location_x.png"},
            ]
        )
    ).post
    assert post.post_id == MID
    assert (post.like_count, post.comment_count, post.share_count) == (40, 12, 3)
    assert post.tags == ["山间茶会"]
    assert post.author_avatar == "https://wx1.sinaimg.cn/orj480/big.jpg"
    assert post.extra == {
        "bid": BID,
        "client": "微博网页版",
        "is_show_bulletin": 2,
        "links": ["https://tea.example/"],
        "super_topics": ["山茶超话"],
        "location": "大理",
    }


LEGACY_IDS = {"id": "20111061812539159", "mid": "20111061812539159"}
ARTICLE_PAGE = {"type": "article", "object_id": "1022:2309404000000000000001"}
REPLAY_PAGE = {"type": "11", "object_type": "video", "media_info": {"live_status": "3"}}
FILM_PAGE = {"type": "5", "object_type": "movie", "media_info": {"stream_url": "https://a/f.mp4"}}


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"region_name": ""}, "ip_location", None),
        ({"region_name": "发布于 海外"}, "ip_location", "海外"),
        ({"region_name": "发布于其他"}, "ip_location", "其他"),
        ({"attitudes_count": "赞"}, "like_count", 0),
        ({"attitudes_count": ""}, "like_count", 0),
        ({"attitudes_count": "280,199"}, "like_count", 280_199),
        ({"attitudes_count": None}, "like_count", None),
        ({"text": None}, "text", None),
        ({"text": ""}, "text", None),
        ({"text": None, "text_raw": "\u200b"}, "text", None),
        ({"user": None}, "author_id", None),
        ({"user": None}, "url", f"https://m.weibo.cn/detail/{MID}"),
        ({"bid": ""}, "url", f"https://weibo.com/{UID}/{BID}"),
        ({"created_at": "5分钟前"}, "published_at", utc(2024, 5, 14, 4, 0, 5)),
        ({"edit_at": ""}, "edited_at", None),
        ({"ori_mid": OTHER_MID}, "repost_of", OTHER_MID),
        ({"page_info": VIDEO_PAGE}, "view_count", 870_000),
        ({"page_info": VIDEO_PAGE}, "title", "采茶的一天"),
        ({"page_info": {**VIDEO_PAGE, "title": None}}, "title", None),  # only "X的微博视频" is left
        ({"page_info": {"type": "search_topic", "page_title": "#x#"}}, "title", None),
        ({"id": int(MID), "mid": None}, "post_id", MID),
        (
            {"id": "20111061812539159", "mid": "20111061812539159", "idstr": "730379578"},
            "post_id",
            "730379578",
        ),
    ],
)
def test_a_field_in_each_of_its_variants(fields, name, value):
    assert getattr(read(mblog(**fields)), name) == value


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({}, "text"),
        ({"pics": [mobile_picture()]}, "image"),
        ({"page_info": VIDEO_PAGE}, "video"),
        ({"page_info": ARTICLE_PAGE}, "article"),
        ({"page_info": {"type": "24", "object_type": "article"}}, "article"),
        ({"page_info": {"type": "live", "media_info": {"live_status": 1}}}, "live"),
        (
            {
                "page_info": {
                    "type": "11",
                    "object_type": "video",
                    "media_info": {"live_status": "3"},
                }
            },
            "live",
        ),
        (
            {"page_info": {"type": "5", "object_type": "movie", "media_info": {"stream_url": "x"}}},
            "text",
        ),
        ({"page_info": {"type": "place"}}, "text"),
        ({"page_info": {"type": "webpage"}, "pics": [mobile_picture()]}, "image"),
    ],
)
def test_the_type_of_a_post(fields, kind):
    assert read(mblog(**fields)).post_type == kind


@pytest.mark.parametrize(
    ("on_card", "on_post"),
    [
        ({}, {"isTop": 1}),
        ({}, {"mblogtype": 2}),
        ({}, {"title": {"text": "置顶"}}),
        ({"profile_type_id": "proweibotop_1"}, {}),
        ({}, {"mark": "3_followtopweibo_x"}),
    ],
)
def test_each_mark_of_a_pinned_post(on_card, on_post):
    page = weibo.creator_posts(mobile_list(card(mblog(**on_post), **on_card)))
    assert page.posts[0].extra["is_pinned"] is True


def test_a_liked_post_of_somebody_else_is_not_pinned_nor_the_creators():
    liked = mblog(OTHER_MID, user=user("7700000001"), title={"text": "山间茶馆赞过的微博"})
    page = weibo.creator_posts(mobile_list(card(mblog()), card(liked), containerid=f"107603{UID}"))
    assert [post.post_id for post in page.posts] == [MID]


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"is_paid": True}, "is_paid", True),
        ({"mblog_vip_type": 1}, "is_paid", True),
        ({"visible": {"type": 10}}, "visible_type", 10),
        ({"pic_num": 12}, "pic_num", 12),
        (
            {"page_info": {"type": "article", "object_id": "1022:2309404000000000000001"}},
            "article_id",
            "2309404000000000000001",
        ),
        ({"page_info": VIDEO_PAGE}, "object_id", "1034:5033900000000001"),
    ],
)
def test_a_fact_that_only_weibo_knows(fields, name, value):
    assert read(mblog(**fields)).extra[name] == value


# Retweets -----------------------------------------------------------------------------------------


def test_an_original_is_a_post_of_its_own():
    original = mblog(OTHER_MID, bid="OecQulHky", user=user("7700000001"), pics=[mobile_picture()])
    page = weibo.post({"ok": 1, "data": mblog(retweeted_status=original)})
    assert page.post.repost_of == OTHER_MID
    assert page.post.media == []
    assert [(post.post_id, post.author_id) for post in page.related] == [(OTHER_MID, "7700000001")]
    assert kinds(page.related[0]) == ["image"]


def test_lists_give_the_originals_of_their_retweets_once():
    original = mblog(OTHER_MID, user=user("7700000001"))
    retweets = [
        card(mblog(mid, bid="", retweeted_status=original)) for mid in (MID, "5033859745171999")
    ]
    page = weibo.search(mobile_list(*retweets))
    assert [post.post_id for post in page.related] == [OTHER_MID]


def test_an_original_that_the_list_shows_anyway_is_not_repeated():
    original = mblog(OTHER_MID)
    page = weibo.search(mobile_list(card(mblog(retweeted_status=original)), card(original)))
    assert [post.post_id for post in page.posts] == [MID, OTHER_MID]
    assert page.related == []


@pytest.mark.parametrize(
    "original",
    [
        gone_original(),
        gone_original("抱歉，作者已设置仅展示半年内微博，此微博已不可见。"),
        gone_original("抱歉，由于作者设置，你暂时没有这条微博的查看权限哦。"),
        {**mblog(OTHER_MID), "deleted": "1"},
        {**mblog(OTHER_MID), "state": 7},
    ],
)
def test_a_deleted_original_leaves_the_retweet_valid(original):
    page = weibo.post({"ok": 1, "data": mblog(retweeted_status=original)})
    assert (page.post.repost_of, page.related) == (OTHER_MID, [])
    assert page.post.extra["original_deleted"] is True
    assert page.post.text == PLAIN_TEXT


def test_an_original_without_an_author_is_kept():
    page = weibo.post({"ok": 1, "data": mblog(retweeted_status=mblog(OTHER_MID, user=None))})
    assert [(post.post_id, post.author_id) for post in page.related] == [(OTHER_MID, None)]
    assert "original_deleted" not in page.post.extra


def test_the_desktops_repetition_of_the_originals_video_is_not_the_retweets():
    video = {"type": "11", "object_type": "video", "media_info": {"stream_url": "https://a/b.mp4"}}
    retweet = desktop_post(
        page_info=video, retweeted_status=desktop_post(OTHER_MID, page_info=video)
    )
    page = weibo.post(retweet)
    assert (page.post.post_type, page.post.media) == ("text", [])
    assert kinds(page.related[0]) == ["video"]


def test_a_picture_in_a_retweets_own_words_is_its_own():
    link = {
        "url_title": "查看图片",
        "short_url": "http://t.cn/x",
        "pic_infos": {PID: desktop_picture()},
    }
    page = weibo.post(desktop_post(url_struct=[link], retweeted_status=desktop_post(OTHER_MID)))
    assert addresses(page.post) == [f"https://wx1.sinaimg.cn/large/{PID}.jpg"]


# Media (section 8) --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pics",
    [
        [mobile_picture(), mobile_picture(GIF_PID)],
        {"1": mobile_picture(GIF_PID), "0": mobile_picture()},
        [f"http://wx1.sinaimg.cn/orj360/{PID}.jpg", f"//wx1.sinaimg.cn/orj360/{GIF_PID}.gif"],
        [{"url": f"https://wx1.sinaimg.cn/thumb150/{PID}.jpg"}, {"pid": GIF_PID}],
    ],
)
def test_pictures_in_each_shape_come_at_full_size(pics):
    post = read(mblog(pics=pics))
    assert addresses(post) == [
        f"https://wx1.sinaimg.cn/large/{PID}.jpg",
        f"https://wx1.sinaimg.cn/large/{GIF_PID}.gif",
    ]
    assert [media.ext for media in post.media] == ["jpg", "gif"]
    assert all(media.identifying for media in post.media)


def test_a_picture_without_sizes_is_measured_by_its_id():
    picture = mobile_picture(GIF_PID, large={"url": f"https://wx1.sinaimg.cn/large/{GIF_PID}.gif"})
    media = read(mblog(pics=[picture])).media[0]
    assert (media.width, media.height) == (239, 239)


@pytest.mark.parametrize(
    ("address", "placeholder"),
    [
        (f"https://wx1.sinaimg.cn/large/{PID}.jpg", "gif"),
        (f"https://wx1.sinaimg.cn/large/{PID}.png", "gif"),
        ("https://ww1.sinaimg.cn/large/6204ece1gw1evvzegkr0xj20qo0qo.jpg", "gif"),
        (f"https://wx1.sinaimg.cn/large/{GIF_PID}.gif", None),
        (f"https://wx1.sinaimg.cn/large/{GIF_PID}.jpg", None),  # the id says more than the suffix
        ("https://ww1.sinaimg.cn/large/6204ece1gw1evvzegkr0xg20qo0qo.gif", None),
    ],
)
def test_a_gif_stands_for_a_withheld_picture_only_where_there_can_be_none(address, placeholder):
    assert read(mblog(pics=[{"large": {"url": address}}])).media[0].placeholder == placeholder


def test_a_withheld_cover_is_shown_as_a_gif_too():
    cover = read(mblog(page_info=VIDEO_PAGE)).media[1]
    assert (cover.kind, cover.placeholder) == ("cover", "gif")


def test_ten_desktop_pictures_come_in_the_order_of_their_ids():
    pids = [f"{PID[:-1]}{n}" for n in range(10)]
    infos = {pid: desktop_picture(pid) for pid in reversed(pids)}
    del infos[pids[4]]  # a missing entry is still a picture
    post = weibo.post(desktop_post(pic_ids=pids, pic_num=10, pic_infos=infos)).post
    assert addresses(post) == [f"https://wx1.sinaimg.cn/large/{pid}.jpg" for pid in pids]
    assert {(media.width, media.height) for media in post.media} == {(1920, 1080)}


@pytest.mark.parametrize(
    ("fields", "movie"),
    [
        (
            {
                "pics": [
                    mobile_picture(
                        type="livephoto",
                        videoSrc="https://video.weibo.com/media/play?livephoto=https%3A%2F%2Flivephoto.us.sinaimg.cn%2Fa.mov",
                    )
                ],
                "live_photo": ["https://video.weibo.com/media/play?livephoto=again"],
            },
            "https://video.weibo.com/media/play?livephoto=https%3A%2F%2Flivephoto.us.sinaimg.cn%2Fa.mov",
        ),
        (
            {"pics": [mobile_picture()], "live_photo": ["https://livephoto.us.sinaimg.cn/a.mov"]},
            "https://livephoto.us.sinaimg.cn/a.mov",
        ),
        (
            {"pics": [mobile_picture()], "pic_video": "0:000abc"},
            "https://video.weibo.com/media/play?livephoto=//us.sinaimg.cn/000abc.mov",
        ),
        (
            {
                "pic_infos": {
                    PID: desktop_picture(
                        type="livephoto", video="https://livephoto.us.sinaimg.cn/a.mov?Expires=1"
                    )
                }
            },
            "https://livephoto.us.sinaimg.cn/a.mov?Expires=1",
        ),
    ],
)
def test_a_live_photo_is_a_still_and_a_movie(fields, movie):
    post = read(mblog(**fields))
    assert kinds(post) == ["image", "live_photo"]
    assert (post.media[1].url, post.media[1].ext) == (movie, "mov")
    redirected = "https://livephoto.us.sinaimg.cn/a.mov", "https://us.sinaimg.cn/000abc.mov"
    if "/media/play" in movie:  # files are not fetched through redirects
        assert post.media[1].backup_urls[0] in redirected


def test_the_mp4_twin_of_a_gif_is_left_out():
    infos = {GIF_PID: desktop_picture(GIF_PID, type="gif", video="https://g.us.sinaimg.cn/a.mp4")}
    assert kinds(weibo.post(desktop_post(pic_infos=infos)).post) == ["image"]
    mobile = mobile_picture(GIF_PID, type="gifvideos", videoSrc="https://g.us.sinaimg.cn/a.mp4")
    assert kinds(read(mblog(pics=[mobile]))) == ["image"]


@pytest.mark.parametrize(
    ("page", "address"),
    [
        (VIDEO_PAGE, "https://f.video.weibocdn.com/o0/best.mp4?template=1280x720.25.0&Expires=1"),
        ({**VIDEO_PAGE, "urls": None}, "https://f.video.weibocdn.com/o0/mid.mp4?label=mp4_hd"),
        (
            {**VIDEO_PAGE, "urls": {"hevc_mp4_hd": "https://a/h.mp4"}, "media_info": {}},
            "https://a/h.mp4",
        ),
        (
            {
                "type": "11",
                "object_type": "video",
                "media_info": {
                    "mp4_hd_url": "https://a/old.mp4",
                    "playback_list": [
                        playback(720),
                        playback(1080),
                        playback(2160, "image/jpeg"),
                        playback(1440, url=""),
                        {"meta": None, "play_info": None},
                    ],
                },
            },
            "https://f.video.weibocdn.com/o0/1080.mp4?Expires=1",
        ),
        (
            {
                "object_type": "video",
                "media_info": {"playback_list": [], "mp4_720p_mp4": "", "mp4_hd_url": "//a/hd.mp4"},
            },
            "https://a/hd.mp4",
        ),
        (
            {"type": "live", "media_info": {"live_status": 3, "replay_hd": "https://a/r.m3u8"}},
            "https://a/r.m3u8",
        ),
    ],
)
def test_the_best_video_wins(page, address):
    assert read(mblog(page_info=page)).media[0].url == address


def test_a_video_comes_with_its_facts_and_its_cover():
    video, cover = read(mblog(page_info=VIDEO_PAGE)).media
    assert (video.kind, video.width, video.height, video.duration_s, video.ext) == (
        *("video", 1280, 720),
        *(61.5, "mp4"),
    )
    assert (cover.kind, cover.url, cover.identifying) == (
        "cover",
        f"https://wx4.sinaimg.cn/crop.0.0.960.533/{PID}.jpg",
        True,
    )


def test_a_playlist_is_not_called_an_mp4():
    page = {"type": "live", "media_info": {"live_status": 3, "replay_hd": "https://a/r.m3u8?x=1"}}
    assert read(mblog(page_info=page)).media[0].ext == "m3u8"


def test_a_running_live_stream_has_no_file():
    page = {
        "type": "live",
        "page_pic": "https://a/c.jpg",
        "media_info": {"live_status": "1", "stream_url": "x"},
    }
    assert kinds(read(mblog(page_info=page))) == ["cover"]


def test_a_video_without_an_address_is_missing_and_said_so():
    post = read(mblog(page_info={"type": "video", "urls": None, "media_info": None}))
    assert (post.post_type, post.media[0].status) == ("video", "missing")
    assert weibo.missing(post) == {"video"}


def test_a_mixed_desktop_post_gives_all_its_videos_in_order():
    def video(name):
        return {
            "type": "video",
            "data": {"page_pic": "https://a/c.jpg", "media_info": {"mp4_720p_mp4": name}},
        }

    post = weibo.post(
        desktop_post(
            mix_media_info={
                "items": [
                    video("https://a/1.mp4"),
                    {"type": "pic", "id": PID, "data": desktop_picture()},
                    video("https://a/2.mp4"),
                ]
            },
            pic_ids=[PID],
            pic_infos={PID: desktop_picture()},
            page_info={"object_type": "video", "media_info": {"stream_url": "https://a/1.mp4"}},
        )
    ).post
    assert kinds(post) == ["cover", "video", "image", "cover", "video"]
    assert addresses(post)[1::3] == ["https://a/1.mp4", "https://a/2.mp4"]
    assert post.post_type == "video"


def test_a_mixed_mobile_post_gives_all_its_videos():
    pics = [
        mobile_picture(type="video", videoSrc="https://a/1.mp4"),
        mobile_picture(GIF_PID),
        mobile_picture(type="video", videoSrc="https://a/2.mp4"),
    ]
    post = read(mblog(pics=pics, page_info=VIDEO_PAGE))
    assert kinds(post) == ["cover", "video", "image", "cover", "video"]


def test_the_only_video_among_mobile_pictures_comes_in_its_best_quality():
    pics = [mobile_picture(type="video", videoSrc="https://a/low.mp4"), mobile_picture(GIF_PID)]
    post = read(mblog(pics=pics, page_info=VIDEO_PAGE))
    assert kinds(post) == ["cover", "video", "image"]
    assert post.media[1].url.startswith("https://f.video.weibocdn.com/o0/best.mp4")


def test_what_is_no_address_and_no_size_is_not_taken_for_one():
    page = {"type": "video", "urls": {"mp4_hd_mp4": 0}, "media_info": {"stream_url": "x"}}
    media = read(mblog(page_info={**page, "page_pic": {"url": -1}})).media
    assert [(entry.kind, entry.url, entry.status) for entry in media] == [
        ("video", None, "missing")
    ]
    page["page_pic"] = {"url": "//wx1.sinaimg.cn/a.jpg", "width": True, "height": "9"}
    cover = read(mblog(page_info=page)).media[1]
    assert (cover.url, cover.width, cover.height) == ("https://wx1.sinaimg.cn/a.jpg", None, 9)


# Details and what completes them ------------------------------------------------------------------


def test_a_post_inside_a_mobile_page():
    page = "<script>var $render_data = [{}][0] || {{}};</script>".format(
        json.dumps({"status": mblog(text="a][0] || {};</b>")})
    )
    assert weibo.post(page).post.text == "a][0] || {};"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("抱歉，此微博已被作者删除。", NotFound),
        ("抱歉，作者已设置仅展示半年内微博，此微博已不可见。", Withheld),
        ("抱歉，由于作者设置，你暂时没有这条微博的查看权限哦。", Withheld),
    ],
)
def test_the_shell_of_a_post_that_is_gone_or_hidden(text, error):
    with pytest.raises(error) as caught:
        weibo.post({"ok": 1, "data": gone_original(text)})
    assert (type(caught.value), caught.value.scope) == (error, "item")


@pytest.mark.parametrize(
    "answer", [{"ok": 1, "data": {}}, {"ok": 1}, {"ok": 0}, {"ok": 1, "data": []}]
)
def test_a_detail_without_a_post_is_unexpected(answer):
    with pytest.raises(UnexpectedResponse):
        weibo.post(answer)


def test_a_cut_text_is_completed_with_fresher_counts():
    cut = cut_post()
    assert weibo.missing(cut) == {"text"}
    answer = {
        "ok": 1,
        "data": {"ok": 1, "longTextContent": MOBILE_TEXT, "attitudes_count": 7, "reposts_count": 8},
    }
    whole = weibo.long_text(answer, cut)
    assert (whole.text, whole.tags) == (PLAIN_TEXT, ["山间茶会"])
    assert (whole.like_count, whole.share_count, whole.comment_count) == (7, 8, 12_000)
    assert weibo.missing(whole) == frozenset()
    assert cut.text == "雨后"


def test_an_originals_long_text_completes_the_page_of_its_retweet():
    page = PostPage(read(mblog(OTHER_MID)), [cut_post()])
    answer = {"ok": 1, "data": {"ok": 1, "longTextContent": MOBILE_TEXT}}
    whole = weibo.with_long_text(answer, page=page, post_id=MID)
    assert [post.text for post in (whole.post, *whole.related)] == [PLAIN_TEXT, PLAIN_TEXT]
    assert page.related[0].text == "雨后"


def test_the_desktops_long_text_is_plain():
    answer = {
        "ok": 1,
        "data": {
            "longTextContent": "雨后 <新芽>\n见 http://t.cn/x \u200b",
            "topic_struct": [{"topic_title": "山间茶会"}],
            "url_struct": [{"short_url": "http://t.cn/x", "long_url": "https://tea.example/"}],
        },
    }
    whole = weibo.long_text(answer, cut_post())
    assert whole.text == "雨后 <新芽>\n见 http://t.cn/x"
    assert (whole.tags, whole.extra["links"]) == (["山间茶会"], ["https://tea.example/"])


@pytest.mark.parametrize("data", [{}, None, {"longTextContent": ""}, {"longTextContent": None}])
def test_an_empty_long_text_keeps_the_text_of_the_list(data):
    assert weibo.long_text({"ok": 1, "data": data}, cut_post()) == cut_post()


def test_the_desktop_detail_completes_more_than_nine_pictures():
    pids = [f"{PID[:-2]}{n:02}" for n in range(12)]
    listed = read(mblog(pics=[mobile_picture(pid) for pid in pids[:9]], pic_num=12, isTop=1))
    assert weibo.missing(listed) == {"pictures"}
    detail = desktop_post(
        pic_ids=pids, pic_infos={pid: desktop_picture(pid) for pid in pids}, pic_num=12
    )
    whole = weibo.full_detail(detail, listed)
    assert len(whole.media) == 12
    assert whole.extra["is_pinned"] is True
    assert weibo.missing(whole) == frozenset()


def test_an_article_is_a_post_with_its_title_and_lines():
    answer = {
        "code": "100000",
        "msg": "",
        "data": {
            "title": "茶山笔记",
            "content": "<p>第一段</p><p>第二段&amp;<br/>下一行</p>",
            "userinfo": {"uid": int(UID), "screen_name": "山间茶馆"},
            "read_count": "40万+",
            "create_at": "05-14 12:00",
        },
    }
    article = weibo.article(answer, article_id="2309404000000000000001").post
    assert (article.post_type, article.title) == ("article", "茶山笔记")
    assert article.text == "第一段\n第二段&\n下一行"
    assert (article.author_id, article.view_count) == (UID, 400_000)


def test_a_video_object_names_its_post():
    answer = {"code": "100000", "data": {"Component_Play_Playinfo": {"mid": int(MID)}}}
    assert weibo.video_post_id(answer) == MID
    with pytest.raises(NotFound):
        weibo.video_post_id({"code": "100000", "data": {"Component_Play_Playinfo": None}})


# Lists (sections 3.1, 3.8, 3.9) -------------------------------------------------------------------


def test_posts_are_found_wherever_a_search_nests_them():
    other, third = mblog(OTHER_MID), mblog("5033859745171999")
    page = weibo.search(
        mobile_list(
            {"card_type": 11, "card_group": [{"card_type": 10, "user": user()}]},
            card(mblog()),
            {"card_type": 11, "card_group": [{"card_type": 42}, card(other), card(mblog())]},
            {"card_type": 11, "card_group": {"0": card(third)}},
            {"card_type": 11, "card_group": None},
            {"card_type": 17},
            card(None),
            card(mblog("5033859745172000", isAd=1)),
            card({"text": "no id"}),
            "no card",
            page=2,
        )
    )
    assert [post.post_id for post in page.posts] == [MID, OTHER_MID, "5033859745171999"]
    assert page.unreadable == 2  # the post without an id, and what is no card


@pytest.mark.parametrize(
    ("page", "readable", "unreadable"),
    [
        (weibo.search(mobile_list(card(mblog()), card([1]), card({"id": 0}))), 1, 2),
        (weibo.creator_posts({"ok": 1, "data": {"list": [desktop_post(), None, "x"]}}), 1, 2),
        (weibo.comments(hotflow(mobile_comment(), {"text": "x"}, None)), 1, 2),
        (weibo.replies({"ok": 1, "data": [{"id": 7, "rootid": 6}, 8], "max_id": 0}), 1, 1),
        (weibo.search(SEARCH_PAGE.replace('mid="5033859745171454"', 'mid=""')), 1, 1),
    ],
)
def test_rows_that_cannot_be_read_are_counted(page, readable, unreadable):
    records = page.posts if hasattr(page, "posts") else page.comments
    assert (len(records), page.unreadable) == (readable, unreadable)


@pytest.mark.parametrize(
    ("answer", "page", "has_more", "cursor"),
    [
        (mobile_list(card(mblog()), page=2), 1, True, "2"),
        (mobile_list(card(mblog()), page=None), 4, True, "5"),
        (mobile_list(card(mblog())), None, True, "2"),
        (mobile_list({"card_type": 42}, page=6), 5, True, "6"),
        (mobile_list({"card_type": 42}, page=None), 5, False, None),
        (mobile_list(page=6), 5, False, None),
        (NOTHING, 18, False, None),
        (NOTHING, None, False, None),
    ],
)
def test_where_a_search_goes_on(answer, page, has_more, cursor):
    found = weibo.search(answer, page=page)
    assert (found.has_more, found.cursor) == (has_more, cursor)


def test_nothing_on_the_first_page_may_be_a_silent_block():
    with pytest.raises(AccessDenied) as caught:
        weibo.search(NOTHING, page=1)
    assert caught.value.soft is True


@pytest.mark.parametrize(
    ("info", "cards", "cursor"),
    [
        ({"since_id": 4646131823229368}, [card(mblog())], "since_id=4646131823229368"),
        ({"since_id": "4646131823229368", "page": 2}, [card(mblog())], "since_id=4646131823229368"),
        ({"page": 3}, [card(mblog())], "page=3"),
        ({"since_id": None, "page": None}, [card(mblog())], None),
        ({}, [card(mblog())], None),
        ({"page": 3}, [], None),
        ({"page": 3}, [{"card_type": 58}], None),
    ],
)
def test_where_a_mobile_profile_goes_on(info, cards, cursor):
    page = weibo.creator_posts(mobile_list(*cards, **info))
    assert (page.has_more, page.cursor) == (cursor is not None, cursor)


def test_the_end_of_a_profile_is_no_error():
    assert weibo.creator_posts(NOTHING).has_more is False


SINCE = "5048941291241719kp2"


def desktop_list(*blogs, since_id=""):
    return {"ok": 1, "data": {"list": list(blogs), "since_id": since_id, "total": 9}}


@pytest.mark.parametrize(
    ("answer", "cursor"),
    [
        (
            desktop_list(desktop_post(), since_id=SINCE),
            f"page=4&since_id={SINCE}",
        ),
        (desktop_list(desktop_post()), "page=4"),
        (desktop_list(since_id=SINCE), f"page=4&since_id={SINCE}"),
        (desktop_list(), None),
        ({"ok": 1, "data": {"list": None, "since_id": ""}}, None),
    ],
)
def test_where_a_desktop_profile_goes_on(answer, cursor):
    page = weibo.creator_posts(answer, creator_id=UID, page=3)
    assert (page.has_more, page.cursor) == (cursor is not None, cursor)


@pytest.mark.parametrize("cards", ["x", 7, True])
def test_a_list_of_a_wrong_type_names_its_path(cards):
    with pytest.raises(UnexpectedResponse, match=r"data\.cards"):
        weibo.search({"ok": 1, "data": {"cards": cards}})


# The desktop search (section 3.2) -----------------------------------------------------------------


def test_a_page_of_the_desktop_search():
    page = weibo.search(SEARCH_PAGE, now=NOW)
    first, retweet = page.posts
    assert (page.has_more, page.cursor) == (True, "2")
    assert first == Post(
        "weibo",
        MID,
        post_type="image",
        url=f"https://weibo.com/{UID}/{BID}",
        text="#山间茶会# 雨后\n新芽 网页链接",
        author_id=UID,
        author_name="山间茶馆",
        author_url=f"https://weibo.com/u/{UID}",
        published_at=utc(2024, 5, 14, 4, 0, 5),
        like_count=12_000,
        comment_count=12,
        share_count=0,
        tags=["山间茶会"],
        media=first.media,
        extra={
            "bid": BID,
            "client": "茶色手机",
            "links": ["http://t.cn/A6tea001"],
        },
    )
    assert addresses(first) == [f"https://wx1.sinaimg.cn/large/{PID}.jpg"]
    assert (retweet.post_id, retweet.author_id, retweet.text) == (
        OTHER_MID,
        "7700000001",
        "转发微博",
    )
    assert (retweet.like_count, retweet.comment_count, retweet.share_count) == (0, 0, 2)
    assert (retweet.repost_of, retweet.media) == ("4645748019299849", [])
    original = page.related[0]
    assert (original.text, original.author_name) == ("原来的话", "采茶人")
    assert original.published_at == utc(2021, 6, 8, 1, 35, 4)
    assert addresses(original) == ["https://f.video.weibocdn.com/o0/a.mp4?a=1&b=2"]


def test_a_cut_text_of_the_desktop_search_is_marked():
    start = SEARCH_PAGE.index('<p class="txt" node-type="feed_list_content_full"')
    end = SEARCH_PAGE.index("</p>", start)
    post = weibo.search(SEARCH_PAGE[:start] + SEARCH_PAGE[end:], now=NOW).posts[0]
    assert (post.text, post.extra["truncated"]) == ("#山间茶会# 雨后", True)


def test_only_a_missing_next_link_ends_the_desktop_search():
    empty = '<div class="m-page"><a href="/weibo?q=x&page=7" class="next">下一页</a></div>'
    page = weibo.search(f"<html>{empty}</html>", page=6)
    assert (page.posts, page.has_more, page.cursor) == ([], True, "7")
    last = SEARCH_PAGE.replace('class="next"', 'class="prev"')
    assert weibo.search(last).has_more is False


def test_suggestions_below_no_result_are_not_results():
    page = SEARCH_PAGE.replace('<div class="m-main">', '<div class="card-no-result">抱歉</div>')
    assert weibo.search(page).posts == []


def test_a_desktop_search_without_a_list_needs_a_login():
    with pytest.raises(LoginRequired):
        weibo.search("<html><body>微博</body></html>")


def test_a_full_page_list_means_that_the_window_must_be_split():
    links = "<li><a>1</a></li>"
    assert weibo.is_capped(f'<ul class="s-scroll">{links * 50}</ul>') is True
    assert weibo.is_capped(SEARCH_PAGE.encode()) is False


CAPPED = SEARCH_PAGE.replace('<ul class="s-scroll">', '<ul class="s-scroll">' + "<li>x</li>" * 50)
LAST = SEARCH_PAGE.replace('class="next"', 'class="prev"')


@pytest.mark.parametrize(
    ("body", "cursor", "following", "fresh_start"),
    [
        (SEARCH_PAGE, "1@100-123,90-99", "2@100-123,90-99", False),
        (LAST, "3@100-123,90-99", "1@90-99", True),
        (LAST, "3@90-99", None, False),
        (CAPPED, "1@100-123,90-99", "1@112-123,100-111,90-99", True),
        (CAPPED, "1@100-100", "2@100-100", False),  # an hour cannot be split
        (CAPPED, "7@100-123", "2@100-123", False),
    ],
)
def test_time_windows_follow_one_another_and_are_split_at_the_cap(
    body, cursor, following, fresh_start
):
    page = weibo.search_window(body, cursor=cursor)
    assert (page.has_more, page.cursor) == (following is not None, following)
    assert page.fresh_start is fresh_start
    assert len(page.posts) == 2


def test_a_window_cursor_can_be_read_back():
    assert weibo.windows_of(weibo.window_cursor(3, [(5, 9), (1, 4)])) == (3, [(5, 9), (1, 4)])


# Comments (sections 3.10 to 3.12, 7.5) ------------------------------------------------------------

CID, RID = "5033904666677156", "5033912212626249"


def reply(rid=RID, **more):
    fields = {"rootid": int(CID), "rootidstr": CID, "total_number": None}
    return {**mobile_comment(rid), **fields, "text": "回复<a href=/n/x>@溪边人</a>:同意", **more}


def test_a_mobile_comment_has_all_fields():
    page = weibo.comments(hotflow(mobile_comment(is_mblog_author=True)))
    comment = page.comments[0]
    assert (comment.comment_id, comment.post_id, comment.root_id) == (CID, MID, None)
    assert comment.text == "好茶\n再来[赞]"
    assert comment.published_at == utc(2024, 5, 14, 4, 11)
    assert (comment.like_count, comment.reply_count) == (12_000, 0)
    assert comment.ip_location == "安徽"
    assert (comment.author_id, comment.author_name) == ("7700000001", "溪边人")
    assert comment.extra == {"is_author": True, "floor": 3}


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("来自安徽", "安徽"),
        ("来自 安徽", "安徽"),
        ("来自其他", "其他"),
        ("", None),
        (None, None),
        ("来自茶色客户端", None),
    ],
)
def test_the_region_of_a_comment(source, place):
    assert weibo.comments(hotflow(mobile_comment(source=source))).comments[0].ip_location == place


@pytest.mark.parametrize("none", [False, None, [], {}])
def test_no_embedded_replies_in_each_shape(none):
    page = weibo.comments(hotflow(mobile_comment(comments=none)))
    assert (len(page.comments), page.more_replies) == (1, {})


def test_embedded_replies_follow_their_root_and_the_rest_is_to_be_asked_for():
    page = weibo.comments(hotflow(mobile_comment(comments=[reply()], total_number=6)))
    root, embedded = page.comments
    assert (root.reply_count, embedded.root_id, embedded.reply_count) == (6, CID, None)
    assert embedded.extra["reply_to_author_name"] == "溪边人"
    assert embedded.reply_to_id is None  # it answers somebody by name, maybe another reply
    assert page.more_replies == {CID: "max_id=0&max_id_type=0"}


def test_a_reply_without_a_name_answers_the_root():
    page = weibo.comments(hotflow(mobile_comment(comments=[reply(text="谢谢")], total_number=1)))
    assert page.comments[1].reply_to_id == CID
    assert page.more_replies == {}


def test_a_roots_own_cursor_means_more_replies():
    page = weibo.comments(hotflow(mobile_comment(max_id=RID, total_number=0)))
    assert list(page.more_replies) == [CID]


@pytest.mark.parametrize(
    ("more", "cursor"),
    [
        ({"max_id": 138785310492312, "max_id_type": 0}, "max_id=138785310492312&max_id_type=0"),
        ({"max_id": "138785310492312", "max_id_type": "1"}, "max_id=138785310492312&max_id_type=1"),
        ({"max_id": 2**60 + 1, "max_id_type": 0}, f"max_id={2**60 + 1}&max_id_type=0"),
        ({"max_id": 0}, None),
        ({"max_id": "0"}, None),
        ({"max_id": None}, None),
    ],
)
def test_both_parts_of_the_comment_cursor_are_handed_back(more, cursor):
    page = weibo.comments(encoded(hotflow(**more)))
    assert (page.has_more, page.cursor) == (cursor is not None, cursor)


@pytest.mark.parametrize(
    "answer",
    [
        {"ok": 0, "msg": "还没有人评论哦~快来抢沙发!"},
        {"ok": 0, "msg": "这里还没有内容", "data": {}},
        {"ok": 0},
        {"ok": 1, "data": {"data": None, "max_id": 0}},
        {"ok": 1, "data": [], "max_id": 0},
    ],
)
def test_no_comments_are_a_success(answer):
    for page in (weibo.comments(answer), weibo.replies(answer)):
        assert (page.comments, page.has_more) == ([], False)


def test_another_ok_0_is_not_taken_for_no_comments():
    with pytest.raises(UnexpectedResponse):
        weibo.comments({"ok": 0, "msg": "系统繁忙"})


def test_a_desktop_comment_with_a_picture_and_a_reply():
    address = f"https://wx3.sinaimg.cn/large/{PID}.jpg"
    large = {"url": address, "width": "1080", "height": "2337"}
    link = {
        "short_url": "http://t.cn/A6pic",
        "url_title": "查看图片",
        "pic_infos": {PID: {"large": large}},
    }
    answer = desktop_comment(RID, rootid=int(CID), rootidstr=CID, text_raw="回复@溪边人:同意")
    answer["reply_comment"] = {"id": int(CID), "idstr": CID, "user": user("7700000001", "溪边人")}
    root = desktop_comment(
        text='看图 <a href="x">查看图片</a>',
        text_raw="看图 http://t.cn/A6pic",
        url_struct=[link],
        comments=[answer],
        total_number=12,
    )
    page = weibo.comments(build_comments(root, max_id=7, max_id_str="7"), post_id=MID)
    first, second = page.comments
    assert (first.text, first.post_id, first.like_count) == ("看图", MID, 345)
    picture = first.media[0]
    assert (picture.url, picture.width, picture.height) == (address, 1080, 2337)
    assert (second.root_id, second.reply_to_id) == (CID, CID)
    assert second.extra["reply_to_author_id"] == "7700000001"
    assert (page.cursor, page.more_replies) == ("max_id=7", {CID: "max_id=0"})


def test_a_mobile_comments_picture():
    pic = {
        "url": "x",
        "large": {"url": f"//wx2.sinaimg.cn/large/{PID}.jpg", "geo": {"width": "9", "height": 8}},
    }
    text = '看图 <a href="x">查看图片</a>'
    comment = weibo.comments(hotflow(mobile_comment(pic=pic, text=text))).comments[0]
    picture = comment.media[0]
    assert comment.text == "看图"
    assert (picture.url, picture.width, picture.height, picture.identifying) == (
        f"https://wx2.sinaimg.cn/large/{PID}.jpg",
        *(9, 8),
        True,
    )


def test_replies_lie_at_the_top_of_their_answer():
    answer = {
        "ok": 1,
        "data": [reply(), reply("5033912212626250", rootidstr="", rootid=0), mobile_comment()],
        "rootComment": [mobile_comment()],
        "max_id": 5,
        "max_id_type": 1,
    }
    page = weibo.replies(answer, post_id=MID, root_id=CID)
    assert [(c.comment_id, c.root_id) for c in page.comments] == [
        (RID, CID),
        ("5033912212626250", CID),
    ]
    assert page.cursor == "max_id=5&max_id_type=1"


def test_the_older_endpoint_counts_pages():
    old = {"id": CID, "created_at": "5分钟前", "text": "好", "user": user(), "like_counts": 3}
    answer_to = {**old, "id": RID, "reply_id": CID}
    answer = {"ok": 1, "data": {"data": [old, answer_to], "max": 3, "total_number": 25}}
    page = weibo.comments(answer, post_id=MID, page=2)
    assert (page.cursor, page.comments[0].like_count) == ("page=3", 3)
    assert page.comments[0].published_at == utc(2024, 5, 14, 4, 11)
    assert (page.comments[1].root_id, page.comments[1].reply_to_id) == (CID, CID)
    assert weibo.comments(answer, page=3).has_more is False


# Creators (section 7.6) ---------------------------------------------------------------------------


def test_a_mobile_profile_has_all_fields():
    assert weibo.creator({"ok": 1, "data": {"userInfo": PROFILE_USER}}) == Creator(
        "weibo",
        UID,
        name="山间茶馆",
        url=f"https://weibo.com/u/{UID}",
        avatar="https://wx1.sinaimg.cn/orj480/big.jpg",
        bio="雨前茶",
        gender="male",
        follower_count=1_455_000,
        following_count=34,
        post_count=321,
        verified=True,
        extra={"verified_type": 2, "verified_text": "某茶馆", "member_rank": 6},
    )


def test_a_desktop_profile_and_its_detail():
    profile = user(
        friends_count=210,
        followers_count="178.2万",
        domain="teahouse",
        location="云南 大理",
        gender="n",
        description="",
        status_total_counter={"like_cnt": "9,876"},
    )
    so_far = weibo.creator({"ok": 1, "data": {"user": profile}})
    assert (so_far.following_count, so_far.like_count) == (210, 9_876)
    assert (so_far.gender, so_far.bio, so_far.ip_location) == (None, None, None)
    assert so_far.extra["handle"] == "teahouse"
    detail = {
        "ip_location": "IP属地：云南",
        "birthday": "1990-01-01",
        "location": "别处",
        "gender": "f",
    }
    creator = weibo.creator_detail({"ok": 1, "data": detail}, so_far)
    assert (creator.ip_location, creator.gender) == ("云南", "female")
    assert (creator.extra["birthday"], creator.extra["location"]) == ("1990-01-01", "云南 大理")


def test_the_mobile_info_container_completes_a_profile():
    group = [
        {"item_name": "IP属地", "item_content": "云南"},
        {"item_name": "注册时间", "item_content": "2012-03-04"},
    ]
    answer = {"ok": 1, "data": {"cards": [{"card_group": group}, {"card_group": None}]}}
    creator = weibo.creator_detail(answer, Creator("weibo", UID))
    assert (creator.ip_location, creator.extra) == ("云南", {"created_at": "2012-03-04"})


def test_no_content_for_a_profile_means_no_such_user():
    with pytest.raises(NotFound):
        weibo.creator(NOTHING)


# Sessions (sections 1.5, 2.5) ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "logged_in", "uid"),
    [
        ({"ok": 1, "data": {"login": True, "st": "x", "uid": UID}}, True, UID),
        ({"ok": 1, "data": {"login": False, "st": "x"}}, False, None),
        ({"ok": 1, "data": {"uid": int(UID)}}, True, UID),
        ({"ok": 1, "data": {"uid": ""}}, False, None),
        (f"<script>$CONFIG['islogin'] = '1'; $CONFIG['uid']='{UID}';</script>", True, UID),
        ("<script>$CONFIG['islogin']='0';</script>", False, None),
    ],
)
def test_whether_cookies_are_a_login(body, logged_in, uid):
    assert weibo.login_state(body) == weibo.LoginState(logged_in, uid)
    assert weibo.me(body) == Viewer(uid, None, guest=not logged_in)


def test_visitor_cookies_come_in_the_body():
    body = (
        b'window.visitor_gray_callback && visitor_gray_callback({"retcode":20000000,"msg":"succ",'
        b'"data":{"sub":"_2AkM+/=(x)","subp":"0033x","tid":"01A"}});'
    )
    pair = weibo.visitor(body)
    assert (pair.sub, pair.subp, pair.tid) == ("_2AkM+/=(x)", "0033x", "01A")
    assert "_2AkM" not in repr(pair)


def test_a_refused_visitor_is_unexpected():
    with pytest.raises(UnexpectedResponse):
        weibo.visitor(b'cb({"retcode":50114015,"msg":"x","data":{}});')


def test_the_visitor_page_names_what_its_form_needs():
    assert weibo.visitor_form(VISITOR_PAGE) == {
        "request_id": "abc123",
        "return_url": "https://weibo.com/",
        "ver": "20250916",
    }


def test_hot_words_are_no_adverts():
    words = [{"word": "新茶"}, {"word": "买茶", "is_ad": 1}, {"word": None}]
    assert weibo.hot_words({"ok": 1, "data": {"realtime": words}}) == ["新茶"]


# Whatever comes -----------------------------------------------------------------------------------

RETWEET = mblog(pics=[mobile_picture()], retweeted_status=mblog(OTHER_MID))
MIXED = {"items": [{"type": "video", "data": {"media_info": {"playback_list": [playback(720)]}}}]}
LONG_TEXT = {"longTextContent": "<a>x</a>", "url_struct": [{"long_url": "https://x"}]}
ARTICLE = {"content": "x", "cover_img": {"image": {"url": "x"}}, "userinfo": {"uid": 1}}
INFO = {"cards": [{"card_group": [{"item_name": "生日"}]}]}
LINK_TO_PICTURE = {"pic_infos": {PID: desktop_picture()}}


READERS = [
    (weibo.search, mobile_list(card(RETWEET), {"card_group": [card(mblog())]}, page=2)),
    (weibo.creator_posts, mobile_list(card(mblog(isTop=1)), since_id=4)),
    (weibo.creator_posts, desktop_list(desktop_post(pic_ids=[PID], **LINK_TO_PICTURE))),
    (weibo.post, {"ok": 1, "data": mblog(page_info=VIDEO_PAGE, edit_at="05-14")}),
    (weibo.post, desktop_post(longText={"content": "x"}, mix_media_info=MIXED)),
    (weibo.post, desktop_post(url_struct=[LINK_TO_PICTURE])),
    (weibo.comments, hotflow(mobile_comment(comments=[reply()], pic=mobile_picture()), max_id=4)),
    (weibo.comments, build_comments(desktop_comment(comments=[desktop_comment(RID)]))),
    (weibo.replies, {"ok": 1, "data": [reply(reply_comment={"id": 1})], "max_id": 4}),
    (weibo.creator, {"ok": 1, "data": {"userInfo": PROFILE_USER}}),
    (weibo.login_state, {"ok": 1, "data": {"login": True, "uid": UID}}),
    (weibo.visitor, {"retcode": 20000000, "data": {"sub": "a", "subp": "b"}}),
    (weibo.hot_words, {"ok": 1, "data": {"realtime": [{"word": "a"}]}}),
    (fill_text, {"ok": 1, "data": LONG_TEXT}),
    (fill_creator, {"ok": 1, "data": INFO}),
    (read_article, {"data": ARTICLE}),
]
ODD_VALUES = (
    None,
    {},
    [],
    "",
    0,
    "x",
    True,
    -1,
    1.5,
    float("inf"),
    [None],
    {"x": None},
    "<a",
    10**40,
)


def places(value, path=()):
    """The path of every value inside *value*."""
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in pairs:
        yield (*path, key)
        yield from places(inner, (*path, key))


def spoilt(answer, path, value, remove):
    """A copy of *answer* with the value at *path* replaced, or its key removed."""
    copied = copy.deepcopy(answer)
    parent = copied
    for key in path[:-1]:
        parent = parent[key]
    if remove:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return copied


@pytest.mark.parametrize(("read_page", "answer"), READERS)
def test_nothing_but_a_platform_error_escapes_from_a_spoilt_answer(read_page, answer):
    read_page(copy.deepcopy(answer))
    dice = random.Random(7)
    for path in places(answer):
        for value in dice.sample(ODD_VALUES, 5):
            for remove in (False, True):
                body = spoilt(answer, path, value, remove)
                try:
                    read_page(body)
                except PlatformError:
                    pass
                except Exception as error:
                    pytest.fail(f"{error!r} for {value!r} at {path}, removed: {remove}")


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"7", b'"x"', b"\xff\xfe", b"<", b"<html>", b"x(", b"x)("]
)
@pytest.mark.parametrize("read_page", [reader for reader, _ in READERS])
def test_no_body_breaks_a_page_function(read_page, body):
    with pytest.raises(PlatformError):
        read_page(body)


def test_one_odd_record_does_not_lose_its_page():
    odd = mblog(OTHER_MID, user="x", pics="x", page_info=[], text=[], created_at={}, visible=3)
    page = weibo.search(mobile_list(card(odd), card(mblog())))
    assert [post.post_id for post in page.posts] == [OTHER_MID, MID]
