"""Zhihu's answers, articles, pins, zvideos, questions, lists, members and comments as records."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any

import pytest
from zhihu_fixtures import (
    ANSWER,
    ARTICLE,
    CREATED,
    MEMBER,
    MISSING,
    PHOTO,
    PHOTO_2,
    PIN,
    QUESTION,
    READER,
    ROOT,
    UPDATED,
    ZVIDEO,
    answer,
    article,
    author,
    comment,
    entry,
    html_page,
    image_block,
    member,
    page,
    pin,
    playlist,
    question,
    question_part,
    reply,
    zvideo,
)

from mediacrawler.exceptions import LoginRequired, NotFound, PlatformError, UnexpectedResponse
from mediacrawler.items import Post
from mediacrawler.pages import CommentPage, PostList, Viewer, zhihu


def utc(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)


def read(record: dict[str, Any], **context: Any) -> Post:
    return zhihu.post(record, **context).post


# --- posts ---------------------------------------------------------------------------------


def test_an_answer_has_its_questions_title_and_topics() -> None:
    post = read(answer())
    assert (post.platform, post.post_id, post.post_type) == ("zhihu", ANSWER, "answer")
    assert post.url == f"https://www.zhihu.com/question/{QUESTION}/answer/{ANSWER}"
    assert post.title == "海边的风有多大？"
    assert post.text == "冬天最大。\n夏天小。"
    assert (post.published_at, post.edited_at) == (utc(CREATED), utc(UPDATED))
    assert (post.like_count, post.comment_count, post.collect_count) == (12, 3, 7)
    assert (post.share_count, post.view_count) == (None, None)  # 0 there means "not told"
    assert post.tags == ["海洋", "风"]
    assert post.ip_location == "浙江"
    assert post.extra == {
        "content_type": "answer",
        "question_id": QUESTION,
        "question_title": "海边的风有多大？",
        "thanks_count": 2,
    }


def test_an_article_has_a_cover_and_a_column() -> None:
    post = read(
        article(content=f'<p>一</p><img data-original="https://pic1.zhimg.com/{PHOTO}_r.jpg">')
    )
    assert (post.post_type, post.url) == ("article", f"https://zhuanlan.zhihu.com/p/{ARTICLE}")
    assert (post.title, post.edited_at, post.collect_count) == ("灯塔的一天", None, 9)
    assert [(media.kind, media.url) for media in post.media] == [
        ("image", f"https://pic1.zhimg.com/{PHOTO}_r.jpg"),
        ("cover", f"https://pic1.zhimg.com/{PHOTO_2}_720w.jpg"),
    ]
    assert (post.extra["column_id"], post.extra["column_title"]) == ("c_55", "海上来信")


def test_a_pin_counts_reactions_and_keeps_its_plain_title() -> None:
    block = {"type": "text", "title": "vector<int> &lt;", "content": "雾<br>很大 &lt;3"}
    post = read(pin(content=[block]))
    assert (post.post_type, post.url) == ("text", f"https://www.zhihu.com/pin/{PIN}")
    assert (post.title, post.text) == ("vector<int> &lt;", "雾\n很大 <3")
    assert (post.like_count, post.share_count, post.collect_count) == (4, 2, 6)
    assert (post.view_count, post.tags) == (None, ["雾天"])


def test_votes_of_a_pin_beat_its_other_counts() -> None:
    assert read(pin(reaction={"statistics": {"up_vote_count": 0}})).like_count == 0
    assert read(pin(reaction=None, reaction_count=None, like_count=1)).like_count == 1


def test_the_best_picture_of_a_pin_stands_in_its_html() -> None:
    best = f"https://pic2.zhimg.com/50/{PHOTO}_r.jpg"
    record = pin(
        content=[{"type": "text", "content": "看"}, image_block(), image_block(PHOTO_2)],
        content_html=f'<img src="https://x.zhimg.com/{PHOTO}_b.jpg" data-original="{best}">',
    )
    post = read(record)
    assert post.post_type == "image"
    assert [media.url for media in post.media] == [
        best,
        f"https://pic2.zhimg.com/100/{PHOTO_2}_1440w.jpg",
    ]
    assert (post.media[0].width, post.media[0].height) == (1600, 1200)


def test_an_animation_beats_its_still() -> None:
    gif = f"https://pic2.zhimg.com/{PHOTO}_r.gif"
    post = read(pin(content=[image_block(url=gif, is_gif=True)]))
    assert [media.url for media in post.media] == [gif]


@pytest.mark.parametrize("shape", ["object", "list"])
def test_a_pin_with_a_video_is_a_video(shape: str) -> None:
    streams = playlist()
    clips = streams if shape == "object" else [{"quality": k, **v} for k, v in streams.items()]
    block = {"type": "video", "video_id": "9", "duration": 3, "playlist": clips}
    post = read(pin(content=[image_block(), block]))
    assert post.post_type == "video"
    assert [(m.kind, m.url) for m in post.media][1] == (
        "video",
        "https://vdn.vzuu.com/HD/1.mp4?pkey=a",
    )


def test_a_repost_names_its_original_and_brings_it_along() -> None:
    original = pin(id="2011000000000000402", author=author(id=READER))
    result = zhihu.post(pin(origin_pin=original, source_pin_id=2_011_000_000_000_000_500))
    assert result.post.repost_of == "2011000000000000402"
    assert [(post.post_id, post.author_id) for post in result.related] == [
        ("2011000000000000402", READER)
    ]


@pytest.mark.parametrize(
    ("changes", "repost_of"),
    [
        ({"origin_pin": {"id": "77", "is_deleted": True}}, "77"),
        ({"origin_pin": None, "source_pin_id": 2_011_000_000_000_000_500}, None),
    ],
)
def test_a_repost_of_something_deleted_says_so(
    changes: dict[str, Any], repost_of: str | None
) -> None:
    result = zhihu.post(pin(**changes))
    assert (result.post.repost_of, result.related) == (repost_of, [])
    assert result.post.extra["original_deleted"] is True


def test_a_zvideo_is_its_tallest_file_and_a_cover() -> None:
    post = read(zvideo(voteup_count=None, liked_count=5))
    assert (post.post_type, post.url) == ("video", f"https://www.zhihu.com/zvideo/{ZVIDEO}")
    video, cover = post.media
    assert (video.url, video.width, video.height, video.duration_s) == (
        "https://vdn.vzuu.com/HD/1.mp4?pkey=a",
        1280,
        720,
        61.5,
    )
    assert (cover.kind, cover.url) == ("cover", f"https://pic1.zhimg.com/{PHOTO}_r.jpg")
    assert (post.like_count, post.collect_count, post.view_count) == (5, 1, 300)


def test_a_video_without_an_address_is_named_as_missing() -> None:
    post = read(zvideo(video={"video_id": "599", "duration": 5, "playlist": {"hd": {}}}))
    assert (post.media[0].kind, post.media[0].url) == ("video", None)
    assert post.media[0].status == "missing"
    assert post.extra["video_ids"] == ["599"]


def test_the_attached_video_of_an_answer_is_also_the_one_of_its_box() -> None:
    box = '<a class="video-box" data-lens-id="9"></a><a class="video-box" data-lens-id="10"></a>'
    clip = {"video_id": "9", "duration": 8, "playlist": playlist(), "is_paid": True}
    record = answer(content=box, attachment={"type": "video", "video": {"video_info": clip}})
    post = read(record)
    assert [media.kind for media in post.media] == ["video"]
    assert post.extra["video_ids"] == ["10"]
    assert post.extra["is_paid"] is True


def test_a_question_is_a_post_of_its_own() -> None:
    post = read(question())
    assert (post.post_type, post.url) == ("question", f"https://www.zhihu.com/question/{QUESTION}")
    assert (post.text, post.view_count, post.like_count) == ("想住海边。", 1000, None)
    assert (post.extra["answer_count"], post.extra["follower_count"]) == (40, 11)
    assert read(question(detail="")).text == "想住海边。"


PAID = [
    ({"answer_type": "paid"}, True, True),
    ({"paid_info": {"type": "1", "has_purchased": False}}, True, True),
    ({"paid_info": {"type": "1", "has_purchased": True}}, True, None),
    ({"content_need_truncated": True}, None, True),
    ({"force_login_when_click_read_more": True}, None, True),
    ({}, None, None),
]


@pytest.mark.parametrize(("changes", "is_paid", "truncated"), PAID)
def test_previews_are_never_taken_for_whole_texts(
    changes: dict[str, Any], is_paid: bool | None, truncated: bool | None
) -> None:
    extra = read(answer(**changes)).extra
    assert (extra.get("is_paid"), extra.get("truncated")) == (is_paid, truncated)


AUTHORS: list[tuple[Any, str | None, str | None]] = [
    (author(), MEMBER, "https://www.zhihu.com/people/deng-ta-kan-shou"),
    (author(url_token=""), MEMBER, f"https://www.zhihu.com/people/{MEMBER}"),
    (author(is_org=True), MEMBER, "https://www.zhihu.com/org/deng-ta-kan-shou"),
    (author(user_type="organization"), MEMBER, "https://www.zhihu.com/org/deng-ta-kan-shou"),
    (author(id="0", url_token="", name="匿名用户"), None, None),
    (author(id=0, url_token=None, name="匿名用户"), None, None),
    (author(id="", url_token=""), None, None),
    (None, None, None),
    ({}, None, None),
    ("deng-ta-kan-shou", None, None),
]


@pytest.mark.parametrize(("value", "author_id", "url"), AUTHORS)
def test_nobody_is_no_author(value: Any, author_id: str | None, url: str | None) -> None:
    post = read(answer(author=value))
    assert (post.author_id, post.author_url) == (author_id, url)


def test_names_lose_emphasis_and_avatars_get_a_size() -> None:
    value = author(name="<em>灯塔</em>&amp;海", avatar_url="https://picx.zhimg.com/v2-1_{size}.jpg")
    post = read(answer(author=value))
    assert post.author_name == "灯塔&海"
    assert post.author_avatar == "https://picx.zhimg.com/v2-1_xl.jpg"


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("吉林", "吉林"),
        ("IP 属地上海", "上海"),
        ("IP属地：北京", "北京"),
        ("发布于 广东", "广东"),
        ("", None),
        (None, None),
        ("IP 属地", None),
    ],
)
def test_places_lose_their_prefix(said: str | None, place: str | None) -> None:
    assert read(answer(ip_info=said)).ip_location == place


@pytest.mark.parametrize(
    ("changes", "published", "edited"),
    [
        ({"created_time": str(CREATED)}, utc(CREATED), utc(UPDATED)),
        ({"created_time": CREATED * 1000}, utc(CREATED), utc(UPDATED)),
        ({"updated_time": CREATED}, utc(CREATED), None),
        ({"updated_time": 0}, utc(CREATED), None),
        ({"created_time": 0}, None, None),
        ({"created_time": "昨天", "updated_time": True}, None, None),
    ],
)
def test_times_are_exact_and_edits_come_later(
    changes: dict[str, Any], published: datetime | None, edited: datetime | None
) -> None:
    post = read(answer(**changes))
    assert (post.published_at, post.edited_at) == (published, edited)


def test_an_id_above_2_53_keeps_its_last_digit() -> None:
    assert read(answer(id=2_011_000_000_000_000_201)).post_id == "2011000000000000201"


def test_a_missing_content_is_no_text_but_an_excerpt() -> None:
    record = answer()
    del record["content"]
    post = read(record)
    assert (post.text, post.extra["excerpt"]) == (None, "冬天最大。 夏天小。")


@pytest.mark.parametrize(
    "record", [pin(is_deleted=True), zvideo(is_delete=True)], ids=["pin", "zvideo"]
)
def test_a_deleted_post_is_not_found(record: dict[str, Any]) -> None:
    with pytest.raises(NotFound):
        zhihu.post(record)


@pytest.mark.parametrize("record", [{}, {"id": "1", "type": "topic"}, answer(id=None)])
def test_what_is_no_post_is_unexpected(record: dict[str, Any]) -> None:
    with pytest.raises(UnexpectedResponse):
        zhihu.post(record)


# --- pages of the site ------------------------------------------------------------------------


def entities() -> dict[str, Any]:
    """An answer and its neighbour in the spelling of pages; topics only under the question."""
    own = {
        "id": ANSWER,
        "type": "answer",
        "content": "<p>正文 &lt;script&gt; a/b</p>",
        "createdTime": CREATED,
        "updatedTime": UPDATED,
        "voteupCount": 21,
        "commentCount": 4,
        "favlistsCount": 5,
        "ipInfo": "四川",
        "contentNeedTruncated": True,
        "author": {
            "id": MEMBER,
            "urlToken": "deng-ta",
            "name": "灯",
            "avatarUrl": "https://a/b.jpg",
        },
        "question": {"id": QUESTION, "title": "标题？"},
    }
    return {
        "answers": {"1": {**own, "id": "1", "voteupCount": 999}, ANSWER: own},
        "questions": {QUESTION: {"id": QUESTION, "title": "标题？", "topics": [{"name": "风"}]}},
        "users": {
            "deng-ta": {"id": MEMBER, "urlToken": "deng-ta", "name": "灯", "followerCount": 3},
            "other": {"id": READER, "urlToken": "other", "name": "别人", "answerCount": 2},
        },
        "zvideos": {
            ZVIDEO: {
                "id": ZVIDEO,
                "type": "zvideo",
                "author": "other",
                "publishedAt": CREATED,
                "video": {"playlist": {"hd": {"playUrl": "https://v/1.mp4", "height": 720}}},
            }
        },
    }


@pytest.mark.parametrize(
    "context",
    [
        {"post_id": ANSWER},
        {"post_id": ANSWER, "content_type": "answer"},
        {"url": f"https://www.zhihu.com/question/{QUESTION}/answer/{ANSWER}?utm=1"},
    ],
)
def test_a_page_gives_the_post_that_was_asked_for(context: dict[str, str]) -> None:
    for body in (html_page(entities()), html_page(entities()).encode()):
        post = zhihu.post(body, **context).post
        assert (post.post_id, post.like_count, post.comment_count) == (ANSWER, 21, 4)
        assert (post.text, post.collect_count) == ("正文 <script> a/b", 5)
        assert (post.published_at, post.edited_at) == (utc(CREATED), utc(UPDATED))
        assert (post.author_url, post.author_avatar) == (
            "https://www.zhihu.com/people/deng-ta",
            "https://a/b.jpg",
        )
        assert (post.tags, post.ip_location, post.extra["truncated"]) == (["风"], "四川", True)


def test_the_author_of_a_zvideo_page_is_a_key_into_users() -> None:
    post = zhihu.post(html_page(entities()), post_id=ZVIDEO).post
    assert (post.author_id, post.author_name) == (READER, "别人")
    assert post.media[0].url == "https://v/1.mp4"


@pytest.mark.parametrize("name", ["other", READER])
def test_a_page_gives_the_member_that_was_asked_for(name: str) -> None:
    creator = zhihu.creator(html_page(entities()), creator_id=name)
    assert (creator.creator_id, creator.extra["answer_count"]) == (READER, 2)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (MISSING, NotFound),
        (html_page({"answers": {}}, text="你似乎来到了没有知识存在的荒原"), NotFound),
        (html_page({"answers": {}, "users": {}}, logged=False), LoginRequired),
        (html_page({"answers": {"1": {"id": "1"}}}), UnexpectedResponse),
        ("<html></html>", UnexpectedResponse),
        (html_page([]), UnexpectedResponse),  # type: ignore[arg-type]
    ],
)
def test_a_page_without_the_post_says_why(body: str, problem: type[PlatformError]) -> None:
    with pytest.raises(problem):
        zhihu.post(body, post_id=ANSWER, content_type="answer")
    with pytest.raises(problem):
        zhihu.creator(body, creator_id="deng-ta")


# --- lists ------------------------------------------------------------------------------------

SEARCH_NEXT = "https://api.zhihu.com/search_v3?q=%E6%B5%B7&search_hash_id=a1&offset=20&lc_idx=21"


def search_page() -> dict[str, Any]:
    """Out of order, with everything that is no post."""
    found = answer(
        id="1",
        question={"id": QUESTION, "type": "question", "name": "<em>海</em>边 &amp; 风？"},
        favorites_count=42,
        visits_count=54383,
    )
    advert = article(id="2", is_zhi_plus_content=True, zfav_count=0, favlists_count=None)
    card = {"type": "hot_timing", "content_items": [entry(answer(id="9"), 0)]}
    return page(
        [
            entry({"type": "people", "id": MEMBER, "name": "x"}, 3),
            entry(advert, 4, id=5),
            entry(card, 0, type="hot_timing"),
            entry(found, 1),
            {"type": "relevant_query", "index": 2, "query_list": []},
            entry(
                zvideo(id="3", video=None, image_url=None, cover_url="https://p/c.jpg"),
                5,
                type="zvideo",
            ),
            entry(None, 6),
            entry(question(id="4"), 7),
            entry(pin(id="5", type="pin_general"), 8),
            entry({**found}, 9),
            "noise",
            None,
        ],
        SEARCH_NEXT,
    )


def test_search_gives_posts_in_the_order_of_their_index() -> None:
    result = zhihu.search(search_page())
    assert [(post.extra["content_type"], post.post_id) for post in result.posts] == [
        ("answer", "1"),
        ("article", "2"),
        ("zvideo", "3"),
        ("question", "4"),
        ("pin", "5"),
    ]
    first, second, third = result.posts[:3]
    assert (first.title, first.collect_count, first.view_count) == ("海边 & 风？", 42, None)
    assert (second.extra["promoted"], second.collect_count) == (True, 0)
    assert "promoted" not in first.extra
    assert [media.kind for media in third.media] == ["cover"]


def test_the_next_search_page_is_the_whole_query_of_next() -> None:
    result = zhihu.search(search_page())
    assert result.has_more
    assert result.cursor == SEARCH_NEXT.partition("?")[2]


def test_a_search_page_without_posts_is_no_end() -> None:
    for records in ([], None, [{"type": "relevant_query"}]):
        assert zhihu.search(page(records, SEARCH_NEXT)).has_more


MEMBERS_NEXT = (
    "http://www.zhihu.com/api/v4/members/x/answers?include=data%5B%2A%5D&limit=20&offset=20"
)
FEEDS_NEXT = (
    "https://www.zhihu.com/api/v4/questions/1/feeds?cursor=c2&limit=5&offset=5&session_id=s"
)

Read = Callable[..., Any]

# reader, next, the cursor that it gives, another name of the page just read
PAGED: list[tuple[Read, str, str, str]] = [
    (zhihu.search, SEARCH_NEXT, SEARCH_NEXT.partition("?")[2], "offset=20&q=x"),
    (zhihu.creator_posts, MEMBERS_NEXT, "20", "20"),
    (
        zhihu.question_answers,
        FEEDS_NEXT,
        FEEDS_NEXT.partition("?")[2],
        FEEDS_NEXT.partition("?")[2],
    ),
    (zhihu.comments, "https://api.zhihu.com/x?limit=20&offset=5_12_0", "5_12_0", "5_12_0"),
    (zhihu.replies, "https://api.zhihu.com/x?limit=20&offset=5_12_0", "5_12_0", "5_12_0"),
]


@pytest.mark.parametrize(("reader", "following", "cursor", "same"), PAGED)
def test_lists_end_where_the_platform_says_so_or_repeats_itself(
    reader: Read, following: str, cursor: str, same: str
) -> None:
    records = [comment()] if reader in (zhihu.comments, zhihu.replies) else [answer()]

    def ends(body: dict[str, Any], asked: str | None = None) -> bool:
        result = reader(body, cursor=asked)
        assert result.has_more == (result.cursor is not None)
        return not result.has_more

    more = reader(page(records, following), cursor="")
    assert (more.has_more, more.cursor) == (True, cursor)
    assert not ends(page(records, following), "elsewhere")
    assert ends(page(records, following), same)
    assert ends(page(records, following, is_end=True))
    assert ends(page(records, "", is_end=False))
    assert ends({"data": records})
    assert ends({"data": records, "paging": None})


def test_an_empty_page_of_comments_is_the_end() -> None:
    following = "https://www.zhihu.com/x?offset=5_12_0"
    for reader in (zhihu.comments, zhihu.replies):
        assert not reader(page([], following), cursor="4_11_0").has_more


@pytest.mark.parametrize("reader", [zhihu.creator_posts, zhihu.question_answers, zhihu.comments])
def test_an_empty_first_page_of_a_full_list_is_a_hidden_refusal(reader: Read) -> None:
    following = "https://www.zhihu.com/x?offset=20"
    body = page([], following, is_start=True, totals=71)
    with pytest.raises(UnexpectedResponse) as caught:
        reader(body)
    assert caught.value.soft
    for harmless in (
        page([], following, is_start=True, totals=0),
        page([], following, is_start=True, is_end=True, totals=71),
        page([], following, is_start=False, totals=71),
    ):
        reader(harmless)


def test_answers_of_a_question_come_bare_or_in_cards() -> None:
    cards = [
        {"type": "question_feed_card", "target_type": "answer", "target": answer(id=1)},
        {"type": "question_feed_card", "target_type": "answer", "target": answer(id=1)},
        {"type": "question_feed_card", "target_type": "article", "target": article()},
        {"type": "feed_advert", "target_type": "answer", "target": answer(id=8)},
        {"type": "question_feed_card", "target_type": "answer", "target": None},
    ]
    assert [post.post_id for post in zhihu.question_answers(page(cards)).posts] == ["1"]
    bare = [answer(id=1), answer(id=2, question=None)]
    posts = zhihu.question_answers(page(bare)).posts
    assert [post.url for post in posts] == [
        f"https://www.zhihu.com/question/{QUESTION}/answer/1",
        "https://www.zhihu.com/answer/2",
    ]


def test_creator_posts_of_all_kinds_are_each_once() -> None:
    original = pin(id="70")
    records = [
        answer(id=5),
        answer(id="5"),
        article(id=5),
        pin(origin_pin=original),
        zvideo(),
        pin(id="6", is_deleted=True),
        question_part(),
        {"type": "live", "id": 1},
        None,
    ]
    result = zhihu.creator_posts(page(records))
    assert [(post.extra["content_type"], post.post_id) for post in result.posts] == [
        ("answer", "5"),
        ("article", "5"),
        ("pin", PIN),
        ("zvideo", ZVIDEO),
        ("question", QUESTION),
    ]
    assert [post.post_id for post in result.related] == ["70"]


def test_a_list_may_leave_the_kind_to_the_request() -> None:
    record = zvideo()
    del record["type"]
    (post,) = zhihu.creator_posts(page([record]), content_type="zvideo").posts
    assert post.extra["content_type"] == "zvideo"


def test_only_own_creations_of_a_members_activities_are_its_posts() -> None:
    activities = [
        {"id": "1750000000000", "verb": "MEMBER_VOTEUP_ANSWER", "target": answer(id="1")},
        {"id": "1750000000001", "verb": "MEMBER_CREATE_ARTICLE", "target": article()},
        {"id": "1750000000002", "verb": "ANSWER_CREATE"},
        {"id": "1750000000003", "verb": "MEMBER_CREATE_PIN", "target": {}},
    ]
    assert [post.post_id for post in zhihu.creator_posts(page(activities)).posts] == [ARTICLE]


HEATS = [("1205 万热度", 12_050_000), ("1.2 亿热度", 120_000_000), ("新", None)]


@pytest.mark.parametrize(("said", "heat"), HEATS)
def test_the_hot_list_has_two_shapes(said: str, heat: int | None) -> None:
    old = {"detail_text": said, "target": {**question(), "author": {}}}
    area = {
        "title_area": {"text": "题"},
        "excerpt_area": {"text": ""},
        "metrics_area": {"text": said},
        "image_area": {"url": "https://pica.zhimg.com/80/v2-1_720w.jpg"},
    }
    new = {"target": {**area, "link": {"url": f"https://zhuanlan.zhihu.com/p/{ARTICLE}"}}}
    by_card = {"card_id": "Q_77", "target": area, "feed_specific": {"answer_count": 4}}
    nothing = {"card_id": "X_1", "target": area}
    posts = zhihu.hot_list(page([old, nothing, new, by_card])).posts
    assert [(post.post_type, post.post_id, post.extra["rank"]) for post in posts] == [
        ("question", QUESTION, 1),
        ("article", ARTICLE, 3),
        ("question", "77", 4),
    ]
    assert {post.extra.get("heat") for post in posts} == {heat}
    assert (posts[1].title, posts[1].text) == ("题", None)
    assert posts[2].extra["answer_count"] == 4


def test_a_question_in_an_answers_link_is_kept_by_the_hot_list() -> None:
    link = f"https://www.zhihu.com/question/{QUESTION}/answer/{ANSWER}"
    (post,) = zhihu.hot_list(page([{"target": {"link": {"url": link}}}])).posts
    assert (post.url, post.extra["question_id"]) == (link, QUESTION)


# --- members ------------------------------------------------------------------------------------


def test_a_member() -> None:
    creator = zhihu.creator(member())
    assert (creator.creator_id, creator.name, creator.gender) == (MEMBER, "灯塔看守", "male")
    assert creator.url == "https://www.zhihu.com/people/deng-ta-kan-shou"
    assert (creator.bio, creator.ip_location) == ("看海。\n也看书。", "浙江")
    assert (creator.follower_count, creator.following_count, creator.like_count) == (100, 5, 900)
    assert (creator.post_count, creator.verified) == (20, False)
    assert creator.extra["handle"] == "deng-ta-kan-shou"


@pytest.mark.parametrize(("gender", "word"), [(1, "male"), (0, "female"), (-1, None), (None, None)])
def test_gender(gender: int | None, word: str | None) -> None:
    assert zhihu.creator(member(gender=gender)).gender == word


def test_only_an_identity_badge_verifies() -> None:
    award = {"type": "best_answerer", "description": "优秀答主"}
    identity = {"type": "identity", "title": "认证", "description": "已认证的个人"}
    assert zhihu.creator(member(badge=[award])).verified is False
    for changes in ({"badge": [award, identity]}, {"badge_v2": {"detail_badges": [identity]}}):
        creator = zhihu.creator(member(**changes))
        assert (creator.verified, creator.extra["verified_text"]) == (True, "已认证的个人")


def test_counts_that_were_not_asked_for_are_unknown() -> None:
    creator = zhihu.creator(author())
    assert (creator.follower_count, creator.post_count) == (None, None)
    assert creator.bio == "看海"


def test_who_is_logged_in() -> None:
    body = {"uid": "123456", "id": MEMBER, "name": "我", "url_token": "wo"}
    assert zhihu.me(body) == Viewer(MEMBER, "我", guest=False)
    assert zhihu.me({"uid": "123456", "name": "我"}) == Viewer("123456", "我", guest=False)
    assert zhihu.me({"name": "游客"}).guest


# --- comments -----------------------------------------------------------------------------------


def test_a_root_comment_comes_before_its_embedded_replies() -> None:
    children = [reply("21"), reply("22", to="21"), reply("21")]
    first = comment(child_comment_count=5, child_comments=children)
    second = comment("12000000002", child_comment_count=1, child_comments=[reply("23")])
    advert = {"type": "ad", "id": "99"}
    result = zhihu.comments(page([first, advert, second, first, None]), post_id=ANSWER)
    found = [(c.comment_id, c.root_id, c.reply_to_id, c.reply_count) for c in result.comments]
    assert found == [
        (ROOT, None, None, 5),
        ("21", ROOT, ROOT, None),
        ("22", ROOT, "21", None),
        ("12000000002", None, None, 1),
        ("23", "12000000002", ROOT, None),
    ]
    assert result.more_replies == {ROOT: ""}
    assert {c.post_id for c in result.comments} == {ANSWER}


def test_what_a_comment_tells() -> None:
    record = comment(
        author_tag=[{"type": "content_author", "text": "作者"}],
        comment_tag=[{"type": "hot", "text": "热评"}, {"type": "ip_info", "text": "IP 属地福建"}],
        content='<p>看<a href="/people/ab" class="member_mention">@海</a></p>'
        f'<a class="comment_img" href="https://pic1.zhimg.com/{PHOTO}_r.jpg">查看图片</a>',
        hot=True,
        top=True,
    )
    (read_comment,) = zhihu.comments(page([record])).comments
    assert (read_comment.text, read_comment.ip_location) == ("看@海", "福建")
    assert (read_comment.author_id, read_comment.author_name) == (READER, "路过的人")
    assert (read_comment.like_count, read_comment.published_at) == (3, utc(CREATED + 60))
    assert [media.url for media in read_comment.media] == [f"https://pic1.zhimg.com/{PHOTO}_r.jpg"]
    assert read_comment.extra == {
        "content_type": "answer",
        "is_author": True,
        "is_pinned": True,
        "hot": True,
        "dislike_count": 0,
        "mentions": [{"name": "海", "id": "ab"}],
    }


def test_a_deleted_comment_stays_as_the_place_of_its_replies() -> None:
    record = comment(is_delete=True, content="该评论已删除", author=None, child_comment_count=3)
    result = zhihu.comments(page([record]))
    (placeholder,) = result.comments
    assert (placeholder.text, placeholder.author_id) == (None, None)
    assert placeholder.extra["deleted"] is True
    assert result.more_replies == {ROOT: ""}


def test_replies_belong_to_the_root_that_was_asked_for() -> None:
    body = page([reply("21"), reply("22", to="21"), comment(ROOT), {"type": "ad", "id": "1"}])
    expected = [("21", ROOT, ROOT), ("22", ROOT, "21")]
    for reading in (
        zhihu.replies(body, root_id=ROOT, post_id=ANSWER),
        zhihu.replies({**body, "root": comment()}),
    ):
        assert [(c.comment_id, c.root_id, c.reply_to_id) for c in reading.comments] == expected
    first = reading.comments[0]
    assert first.extra["reply_to_author_id"] == MEMBER
    assert first.extra["reply_to_author_name"] == "灯塔看守"
    assert first.reply_count is None


def test_the_legacy_api_has_comments_of_another_shape() -> None:
    record = {
        "id": 321,
        "type": "comment",
        "content": "老接口",
        "created_time": CREATED,
        "vote_count": 6,
        "address_text": "IP 属地湖北",
        "author": {"role": "author", "member": author()},
        "reply_to_author": {"role": "normal", "member": author(id=READER)},
        "child_comment_count": 2,
    }
    result = zhihu.comments(page([record]), post_id=ARTICLE, content_type="article")
    (legacy,) = result.comments
    assert (legacy.comment_id, legacy.like_count, legacy.ip_location) == ("321", 6, "湖北")
    assert (legacy.author_id, legacy.root_id, legacy.reply_to_id) == (MEMBER, None, None)
    assert (legacy.extra["is_author"], legacy.extra["content_type"]) == (True, "article")
    assert result.more_replies == {"321": ""}


def test_comments_that_do_not_exist_are_none() -> None:
    body = {"error": {"code": 4041, "name": "NotFoundError", "message": "资源不存在"}}
    assert zhihu.comments(body).comments == []
    with pytest.raises(NotFound):
        zhihu.replies(body)


# --- rows that cannot be read ---------------------------------------------------------------------

NO_ID = {"type": "answer", "content": "无号"}
LOST_REPLIES = [reply("1"), reply("0"), None]


@pytest.mark.parametrize(
    ("page", "readable", "unreadable"),
    [
        (zhihu.search(page([entry(answer(), 1), entry(NO_ID, 2), 7, None])), 1, 3),
        (zhihu.creator_posts(page([answer(), NO_ID, {}, None, "x"])), 1, 4),
        (zhihu.creator_posts(page([{"verb": "ANSWER_CREATE", "target": NO_ID}])), 0, 1),
        (zhihu.question_answers(page([{"target": answer()}, {"target": NO_ID}, 7])), 1, 2),
        (zhihu.hot_list(page([{"target": question()}, {"target": {"link": None}}, "x"])), 1, 2),
        (zhihu.comments(page([comment(child_comments=[]), comment("0"), None])), 1, 2),
        # all that there are came inside: nothing asks for the lost ones again
        (zhihu.comments(page([comment(child_comments=LOST_REPLIES, child_comment_count=1)])), 2, 2),
        (zhihu.replies(page([reply("1"), reply("0"), "x"]), root_id=ROOT), 1, 2),
    ],
)
def test_rows_that_cannot_be_read_are_counted(
    page: PostList | CommentPage, readable: int, unreadable: int
) -> None:
    records = page.posts if isinstance(page, PostList) else page.comments
    assert (len(records), page.unreadable) == (readable, unreadable)


@pytest.mark.parametrize(
    "page",
    [
        zhihu.search(page([entry({"type": "people", "id": "1"}, 1), entry(None, 2)])),
        zhihu.search(page([{"type": "relevant_query", "query_list": []}])),
        zhihu.creator_posts(page([pin(is_deleted=True), {"verb": "ANSWER_CREATE", "target": {}}])),
        zhihu.creator_posts(page([{"verb": "MEMBER_VOTEUP_ANSWER", "target": NO_ID}])),
        zhihu.question_answers(page([{"type": "feed_advert", "target": {}}, {"target": pin()}])),
        zhihu.hot_list(page([{"target": {"link": {"url": "https://advert.example/"}}}])),
        zhihu.comments(page([{"type": "comment_advert"}])),
        # asked for once more, and counted there
        zhihu.comments(page([comment(child_comments=[None], child_comment_count=1)])),
    ],
)
def test_what_is_no_record_is_not_counted(page: PostList | CommentPage) -> None:
    assert page.unreadable == 0


# --- videos ---------------------------------------------------------------------------------------


def test_the_address_of_a_video_can_be_asked_for() -> None:
    streams = [
        {"bitrate": 900, "url": ["https://v/low.mp4", "https://w/low.mp4"]},
        {"bitrate": 2600, "url": ["https://v/high.mp4", "https://w/high.mp4"]},
    ]
    media = zhihu.video({"video_play": {"playlist": {"mp4": streams}}})
    assert (media.url, media.backup_urls) == ("https://v/high.mp4", ["https://w/high.mp4"])
    lens = {
        "playlist": {
            "LD": {"play_url": "https://v/ld.mp4", "height": 360},
            "HD": {"play_url": "https://v/hd.mp4", "height": 720},
        }
    }
    assert zhihu.video(lens).url == "https://v/hd.mp4"
    with pytest.raises(NotFound):
        zhihu.video({"video_play": {"playlist": {}}}, video_id="9")


# --- whatever comes -------------------------------------------------------------------------------

BODIES: list[tuple[dict[str, Any], list[Read]]] = [
    (search_page(), [zhihu.search]),
    (answer(attachment={"video": {"video_info": {"playlist": playlist()}}}), [zhihu.post]),
    (article(), [zhihu.post]),
    (
        pin(content=[{"type": "text", "content": "x"}, image_block()], origin_pin=pin()),
        [zhihu.post],
    ),
    (zvideo(), [zhihu.post, zhihu.video]),
    (question(), [zhihu.post]),
    (member(badge=[{"type": "identity"}]), [zhihu.creator, zhihu.me]),
    (page([answer(), pin()], MEMBERS_NEXT, totals=2, is_start=True), [zhihu.creator_posts]),
    (page([{"target_type": "answer", "target": answer()}], FEEDS_NEXT), [zhihu.question_answers]),
    (page([{"target": question(), "detail_text": "3 万热度"}]), [zhihu.hot_list]),
    (page([comment(child_comments=[reply("1")])], MEMBERS_NEXT), [zhihu.comments, zhihu.replies]),
]
ODD: list[Any] = [None, {}, [], "", 0, -1, "x", True, 1.5, float("inf"), [None], {"x": None}]


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in children:
        yield (*path, key)
        if isinstance(child, (dict, list)):
            yield from _paths(child, (*path, key))


@pytest.mark.parametrize(("body", "readers"), BODIES)
def test_odd_values_never_escape_as_something_else(
    body: dict[str, Any], readers: list[Read]
) -> None:
    dice = random.Random(20)
    for path in _paths(body):
        for value in [*dice.sample(ODD, 4), KeyError]:
            changed = copy.deepcopy(body)
            parent: Any = changed
            for key in path[:-1]:
                parent = parent[key]
            if value is KeyError:
                del parent[path[-1]]
            else:
                parent[path[-1]] = value
            for reader in readers:
                try:
                    reader(changed)
                except PlatformError:
                    continue


def test_an_odd_value_costs_its_field_and_not_the_page() -> None:
    body = page([answer(voteup_count=[], author="x", created_time={}, content=7), article()])
    posts = zhihu.creator_posts(json.dumps(body)).posts
    assert [post.post_id for post in posts] == [ANSWER, ARTICLE]
    assert (posts[0].like_count, posts[0].published_at, posts[0].text) == (None, None, None)
