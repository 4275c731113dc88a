"""Zhihu's markup becomes the text that a reader sees, and each picture once."""

from __future__ import annotations

import pytest

from mediacrawler.pages import zhihu_html

A = "v2-" + "a" * 32
B = "v2-" + "b" * 32

TEXTS = [
    ("plain", "海 风", "海 风"),
    ("paragraphs", "<p>一</p><p>二</p>", "一\n二"),
    ("line breaks", "一<br>二<br/>三<BR />四", "一\n二\n三\n四"),
    ("empty lines", '<p>一</p><p class="ztext-empty-paragraph"><br/></p><p>二</p>', "一\n二"),
    ("inline tags add nothing", "<p>今<b>天</b><i>晴</i><span>朗</span></p>", "今天晴朗"),
    (
        "lists and quotes",
        "<ul><li>甲</li><li>乙</li></ul><blockquote>丙</blockquote>",
        "甲\n乙\n丙",
    ),
    ("headings and rules", "<h2>题</h2><hr/>文", "题\n文"),
    ("cells are words", "<table><tr><td>甲</td><td>乙</td></tr></table>", "甲 乙"),
    (
        "entities once",
        "<p>&lt;b&gt; &amp;amp; &#39;x&#39; &quot;y&quot;</p>",
        "<b> &amp; 'x' \"y\"",
    ),
    ("no entities", "<p>AT&T a&copy=1</p>", "AT&T a&copy=1"),
    ("odd blanks", "<p>甲&nbsp;\u200b 乙\xa0\ufeff丙</p>", "甲 乙 丙"),
    ("joined emoji", "<p>👨\u200d👩\u200d👧</p>", "👨\u200d👩\u200d👧"),
    ("less-than", "<p>1 < 2 而 3<4</p>", "1 < 2 而 3<4"),
    ("comment and script", "甲<!-- x --><script>y</script><style>z</style>乙", "甲乙"),
    ("quoted angle", '<p title="a > b">甲</p>', "甲"),
    ("cut tag", '<p title="a>甲</p>', "甲"),
    ("footnote", '甲<sup data-draft-type="reference" data-numero="1">[1]</sup>。', "甲[1]。"),
    (
        "image formula",
        '<img src="https://www.zhihu.com/equation?tex=x" alt=" x^2 " eeimg="1"/>',
        "$x^2$",
    ),
    ("trailing break", '甲<img alt="E=mc^2 \\\\ " eeimg="1">乙', "甲$E=mc^2$乙"),
    ("formula by address", '<img src="//www.zhihu.com/equation?tex=a%2Bb+c">', "$a+b c$"),
    (
        "span formula",
        '<span class="ztext-math" data-tex="a\\lt b"><span>drawn</span></span>。',
        "$a\\lt b$。",
    ),
    ("noscript says nothing", "<figure><noscript>甲</noscript></figure>乙", "乙"),
    ("caption", '<figure><img src="https://p/1.jpg"><figcaption>图</figcaption></figure>', "图"),
    (
        "outbound link",
        '见<a href="https://link.zhihu.com/?target=x"><span class="invisible">https://</span>'
        '<span class="visible">example.org/a</span><span class="invisible">/b</span></a>。',
        "见https://example.org/a/b。",
    ),
    ("link card", '甲<a data-draft-type="link-card" href="x">卡片</a>乙', "甲\n卡片\n乙"),
    (
        "card without text",
        '<a data-draft-type="mcn-link-card" data-draft-title="好物"></a>',
        "好物",
    ),
    (
        "video box",
        '甲<a class="video-box" data-lens-id="7"><img src="http://x/y.jpg"/>观看</a>乙',
        "甲乙",
    ),
    ("sticker", '<a class="comment_sticker" href="http://x/y.gif">[赞]</a>', "[赞]"),
    (
        "comment picture",
        f'好<a class="comment_img" href="https://p.zhimg.com/{A}_r.jpg">查看图片</a>',
        "好",
    ),
]


@pytest.mark.parametrize(("name", "markup", "text"), TEXTS, ids=[case[0] for case in TEXTS])
def test_markup_becomes_text(name: str, markup: str, text: str) -> None:
    assert zhihu_html.read(markup).text == text


@pytest.mark.parametrize("markup", ["", "  ", "<p></p>", "<br>", "&nbsp;", "<script>x</script>"])
def test_nothing_to_read_is_no_text(markup: str) -> None:
    assert zhihu_html.read(markup).text is None


def test_code_keeps_its_lines_and_indentation() -> None:
    markup = (
        '<p>看  代码</p><div class="highlight"><pre><code class="language-python">'
        '<span class="k">if</span> a &lt; b:\n    <span>f</span>(a)\n\n\tg()</code></pre></div>'
    )
    assert zhihu_html.read(markup).text == "看 代码\nif a < b:\n    f(a)\n\tg()"


def test_a_lazy_picture_and_its_noscript_copy_are_one() -> None:
    markup = (
        f'<figure><noscript><img src="https://picx.zhimg.com/50/{A}_720w.jpg" '
        'data-rawwidth="800" data-rawheight="600"/></noscript>'
        '<img src="data:image/svg+xml;utf8,&lt;svg&gt;" class="lazy" data-rawwidth="800" '
        f'data-rawheight="600" data-original="https://pica.zhimg.com/{A}_r.jpg?source=1" '
        f'data-actualsrc="https://pic3.zhimg.com/50/{A}_720w.jpg"/></figure>'
    )
    (media,) = zhihu_html.read(markup).media
    assert (media.kind, media.url) == ("image", f"https://pica.zhimg.com/{A}_r.jpg?source=1")
    assert (media.width, media.height, media.ext) == (800, 600, "jpg")
    assert media.backup_urls == [f"https://pic3.zhimg.com/50/{A}_720w.jpg"]


def test_a_picture_that_only_noscript_has_is_not_lost() -> None:
    markup = f'<noscript><img src="https://pic1.zhimg.com/{A}_b.jpg"></noscript><img src="data:x">'
    assert [media.url for media in zhihu_html.read(markup).media] == [
        f"https://pic1.zhimg.com/{A}_b.jpg"
    ]


def test_pictures_keep_their_order_and_formulas_are_none() -> None:
    markup = (
        f'<img src="//pic1.zhimg.com/{B}_hd.png"><img eeimg="1" alt="x" src="https://z/x.svg">'
        f'<img src="https://pic2.zhimg.com/80/{A}_720w.webp"><img src="https://pic9.zhimg.com/{B}.png">'
        '<img src="https://pic3.zhimg.com/0a1b2c3d4e5f_b.gif">'
    )
    assert [media.url for media in zhihu_html.read(markup).media] == [
        f"https://pic1.zhimg.com/{B}_hd.png",
        f"https://pic2.zhimg.com/80/{A}_720w.webp",
        "https://pic3.zhimg.com/0a1b2c3d4e5f_b.gif",
    ]


def test_comment_pictures_carry_their_size() -> None:
    markup = (
        f'<a class="comment_gif" href="https://pic1.zhimg.com/{A}_r.gif" data-width="20" '
        'data-height="10">查看动图</a>'
    )
    (media,) = zhihu_html.read(markup).media
    assert (media.url, media.width, media.height, media.ext) == (
        f"https://pic1.zhimg.com/{A}_r.gif",
        20,
        10,
        "gif",
    )


def test_names_mentions_and_video_boxes() -> None:
    content = zhihu_html.read(
        '<a class="member_mention" href="https://www.zhihu.com/people/x-y" data-hash="ff">@小雨</a>'
        '和<a href="/people/abc">@阿海</a>，<a href="/people/abc">他的主页</a>'
        '<a class="video-box" data-lens-id="9"></a><a class="video-box" data-lens-id="9"></a>'
    )
    assert content.text == "@小雨和@阿海，他的主页"
    assert content.mentions == [{"name": "小雨", "id": "ff"}, {"name": "阿海", "id": "abc"}]
    assert content.video_ids == ["9"]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("<em>露营</em>装备 &amp; 帐篷", "露营装备 & 帐篷"),
        ("C++ 的 vector<int>", "C++ 的 vector<int>"),
        ("&amp;lt;", "&lt;"),
        ("<EM class='x'>a</EM>\n b", "a b"),
        ("<em></em>", None),
    ],
)
def test_labels_lose_only_the_emphasis_of_the_search(text: str, label: str | None) -> None:
    assert zhihu_html.label(text) == label
