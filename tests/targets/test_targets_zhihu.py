"""Every form of a Zhihu link or id becomes the one thing that it means."""

from __future__ import annotations

import pytest

from mediacrawler.targets import Target, zhihu

Q, A, P = "1924054028658200001", "1936787046304900002", "2033118481449700003"
HEX = "1d193c7c9ec2ac154ae0823e386370bd"


def post(content_type: str, post_id: str, question_id: str | None = None) -> Target:
    context = [("content_type", content_type)]
    if question_id:
        context.append(("question_id", question_id))
    return Target("post", post_id, tuple(context))


ANSWER = post("answer", A, Q)
LONE_ANSWER = post("answer", A)
QUESTION = post("question", Q)
ARTICLE = post("article", P)
PIN = post("pin", P)
ZVIDEO = post("zvideo", P)

POSTS = [
    (f"https://www.zhihu.com/question/{Q}/answer/{A}", ANSWER),
    (f"http://zhihu.com/question/{Q}/answer/{A}/", ANSWER),
    (f"https://www.zhihu.com/question/{Q}/answers/{A}?utm_source=wechat#top", ANSWER),
    (f"www.zhihu.com/question/{Q}/answer/{A}", ANSWER),
    (f"//www.zhihu.com/question/{Q}/answer/{A}", ANSWER),
    (f"HTTPS://WWW.ZHIHU.COM/Question/{Q}/Answer/{A}", ANSWER),
    (f"https://www.zhihu.com:443/question/{Q}/answer/{A}", ANSWER),
    (f"https://www.zhihu.com/answer/{A}", LONE_ANSWER),
    (f"https://www.zhihu.com/appview/answer/{A}", LONE_ANSWER),
    (f"https://www.zhihu.com/appview/v2/answer/{A}?config=1", LONE_ANSWER),
    (f"https://www.zhihu.com/tardis/zm/ans/{A}", LONE_ANSWER),
    (f"https://www.zhihu.com/api/v4/answers/{A}", LONE_ANSWER),
    (f"https://api.zhihu.com/answers/{A}", LONE_ANSWER),
    (f"zhihu://answers/{A}", LONE_ANSWER),
    (f"answer:{A}", LONE_ANSWER),
    (f"https://www.zhihu.com/question/{Q}", QUESTION),
    (f"https://www.zhihu.com/question/{Q}/", QUESTION),
    (f"https://www.zhihu.com/question/{Q}/answers/updated", QUESTION),
    (f"https://www.zhihu.com/question/{Q}/answers/created", QUESTION),
    (f"https://www.zhihu.com/question/{Q}/log", QUESTION),
    (f"https://www.zhihu.com/appview/question/{Q}", QUESTION),
    (f"https://api.zhihu.com/questions/{Q}", QUESTION),
    (f"zhihu://questions/{Q}?title=x", QUESTION),
    (f"question:{Q}", QUESTION),
    (f"https://zhuanlan.zhihu.com/p/{P}", ARTICLE),
    (f"https://www.zhihu.com/p/{P}/", ARTICLE),
    (f"https://www.zhihu.com/appview/p/{P}", ARTICLE),
    (f"https://www.zhihu.com/tardis/bd/art/{P}?source_id=1001", ARTICLE),
    (f"https://zhuanlan.zhihu.com/api/articles/{P}", ARTICLE),
    (f"https://www.zhihu.com/api/v4/articles/{P}", ARTICLE),
    (f"zhihu://articles/{P}", ARTICLE),
    (f"article：{P}", ARTICLE),
    (f"https://www.zhihu.com/pin/{P}?native=0", PIN),
    (f"https://www.zhihu.com/appview/pin/{P}", PIN),
    (f"https://www.zhihu.com/mobile/pin/{P}", PIN),
    (f"https://api.zhihu.com/pins/{P}", PIN),
    (f"zhihu://pin/{P}", PIN),
    (f"pin:{P}", PIN),
    (f"https://www.zhihu.com/zvideo/{P}", ZVIDEO),
    (f"https://www.zhihu.com/api/v4/zvideos/{P}", ZVIDEO),
    (f"zvideo:{P}", ZVIDEO),
    (f"https://link.zhihu.com/?target=https%3A//zhuanlan.zhihu.com/p/{P}", ARTICLE),
    (f"https://link.zhihu.com/?target=https%3A%2F%2Fwww.zhihu.com%2Fquestion%2F{Q}", QUESTION),
]

CREATORS = [
    ("https://www.zhihu.com/people/ye-wai-ri-ji", "ye-wai-ri-ji"),
    ("https://www.zhihu.com/people/ye-wai-ri-ji/answers/by_votes", "ye-wai-ri-ji"),
    ("https://www.zhihu.com/people/a_b.C-9/?utm_id=0", "a_b.C-9"),
    (f"https://www.zhihu.com/people/{HEX}/pins", HEX),
    ("https://www.zhihu.com/org/some-org/posts", "some-org"),
    (f"https://api.zhihu.com/people/{HEX}", HEX),
    ("https://www.zhihu.com/api/v4/members/ye-wai-ri-ji/zvideos", "ye-wai-ri-ji"),
    (f"zhihu://people/{HEX}", HEX),
    ("https://www.zhihu.com/people/ye%2Dwai", "ye-wai"),
]

NOT_READABLE = [
    "123456789",  # answer, article and pin of one number are three posts
    "https://www.zhihu.com/",
    "https://www.zhihu.com/search?type=content&q=x",
    "https://www.zhihu.com/video/1530246811680051234",
    "https://www.zhihu.com/column/c_1234567890123456789",
    "https://zhuanlan.zhihu.com/some-column",
    "https://www.zhihu.com/topic/19550517/hot",
    "https://www.zhihu.com/collection/3400",
    "https://www.zhihu.com/market/paid_column/1/section/2",
    "https://story.zhihu.com/p/123",
    "https://www.zhihu.com/question/abc",
    "https://www.zhihu.com/people/",
    "https://link.zhihu.com/?target=https%3A//example.org/question/1",
    "https://www.zhihu.com.example.org/question/1",
    "https://notzhihu.com/question/1",
    "https://www.zhihu.com@example.org/question/1",
]


@pytest.mark.parametrize(("text", "target"), POSTS)
def test_reads_posts(text: str, target: Target) -> None:
    found = zhihu.find(text, "post")
    assert (found.targets, found.unknown) == ([target], [])


@pytest.mark.parametrize(("text", "token"), CREATORS)
@pytest.mark.parametrize("expected", ["post", "creator"])
def test_a_link_to_a_creator_is_one_whatever_is_expected(
    text: str, token: str, expected: zhihu.Expected
) -> None:
    assert zhihu.find(text, expected).targets == [Target("creator", token)]


@pytest.mark.parametrize("text", ["ye-wai-ri-ji", HEX.upper(), HEX + "。"])
def test_a_bare_token_is_a_creator_only_where_one_is_expected(text: str) -> None:
    assert zhihu.find(text, "creator").targets == [Target("creator", text.rstrip("。").lower())]
    assert zhihu.find(text, "post").targets == []
    assert zhihu.find(text, "post").unknown == [text]


@pytest.mark.parametrize("text", NOT_READABLE)
def test_names_what_it_does_not_understand(text: str) -> None:
    found = zhihu.find(text, "post")
    assert found.targets == []
    assert found.unknown


def test_a_share_text_gives_its_link_and_nothing_else() -> None:
    text = f"如何露营？ - 小林 的回答 - 知乎 https://www.zhihu.com/question/{Q}/answer/{A}。快看"
    for expected in ("post", "creator"):
        found = zhihu.find(text, expected)
        assert (found.targets, found.unknown) == ([ANSWER], [])


def test_words_glued_to_a_link_are_not_part_of_it() -> None:
    text = f"看看https://zhuanlan.zhihu.com/p/{P}，以及（www.zhihu.com/pin/{P}）很好。"
    assert zhihu.find(text, "post").targets == [ARTICLE, PIN]


def test_english_words_of_a_share_text_are_no_creators() -> None:
    text = "Look at this https://www.zhihu.com/people/ye-wai-ri-ji great answers"
    assert zhihu.find(text, "creator").targets == [Target("creator", "ye-wai-ri-ji")]


def test_links_without_anything_between_them_are_two() -> None:
    text = f"https://www.zhihu.com/question/{Q}/answer/{A}https://zhuanlan.zhihu.com/p/{P}"
    assert zhihu.find(text, "post").targets == [ANSWER, ARTICLE]


def test_a_list_may_mix_links_and_tokens() -> None:
    text = f"tok-1、https://www.zhihu.com/people/tok-2/answers，{HEX}\ntok-3 tok-1"
    ids = [target.id for target in zhihu.find(text, "creator").targets]
    assert ids == ["tok-1", "tok-2", HEX, "tok-3"]


def test_answer_and_article_of_one_number_are_two_posts() -> None:
    text = "https://www.zhihu.com/answer/123456 https://zhuanlan.zhihu.com/p/123456"
    found = zhihu.find(f"{text}\n{text}", "post")
    assert found.targets == [post("answer", "123456"), post("article", "123456")]


def test_a_redirect_is_read_like_a_link() -> None:
    location = f"https://www.zhihu.com/question/{Q}/answer/{A}"
    assert zhihu.resolve(location, "post") == [ANSWER]


@pytest.mark.parametrize(
    ("content_type", "question_id", "url"),
    [
        ("answer", "9", "https://www.zhihu.com/question/9/answer/5"),
        ("answer", None, "https://www.zhihu.com/answer/5"),
        ("article", None, "https://zhuanlan.zhihu.com/p/5"),
        ("pin", None, "https://www.zhihu.com/pin/5"),
        ("zvideo", None, "https://www.zhihu.com/zvideo/5"),
        ("question", None, "https://www.zhihu.com/question/5"),
    ],
)
def test_writes_one_form_that_it_reads_itself(
    content_type: str, question_id: str | None, url: str
) -> None:
    assert zhihu.post_url(content_type, "5", question_id) == url
    assert zhihu.find(url, "post").targets == [post(content_type, "5", question_id)]


def test_writes_creator_links() -> None:
    assert zhihu.creator_url("a-b") == "https://www.zhihu.com/people/a-b"
    assert zhihu.creator_url("a-b", "org") == "https://www.zhihu.com/org/a-b"
