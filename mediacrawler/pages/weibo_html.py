"""The desktop search of s.weibo.com, which answers in HTML only (section 3.2).

Needed where a search has a time window: the mobile search has none. Must not know requests.
Sections are those of docs/platforms/weibo.md.
"""

from __future__ import annotations

import re
from datetime import datetime
from html import unescape

from parsel import Selector

from mediacrawler.exceptions import LoginRequired
from mediacrawler.items import Media, Post
from mediacrawler.pages import PostList
from mediacrawler.pages.fields import as_text, decode_text, present, unique
from mediacrawler.pages.weibo_answers import refuse_page
from mediacrawler.pages.weibo_fields import as_count, as_id, moment
from mediacrawler.pages.weibo_media import largest, movie_at, picture_at
from mediacrawler.pages.weibo_records import PLATFORM, link_facts
from mediacrawler.pages.weibo_text import Markup, read_markup
from mediacrawler.targets.weibo import creator_url, mid_to_bid, post_url

_PAGE_NUMBER = re.compile(r"[?&]page=(\d+)")
_POST_LINK = re.compile(r"weibo\.com/(\d+)/([0-9A-Za-z]+)")
_USER_LINK = re.compile(r"weibo\.com/(?:u/)?(\d{5,11})")
_VIDEO_SOURCE = re.compile(r"src:\s*'([^']+)'")
_MID = re.compile(r"\bmid=(\d+)")
_COUNTER_CAPTION = re.compile(r"^(?:转发|评论|赞)\s*(?=\S)")
_ICON_LETTER = re.compile(r"<i\b[^>]*\bwbicon\b[^>]*>[^<]*</i>")  # letters of an icon font
_FOLD_LINK = re.compile(r"<a\b[^>]*>\s*收起\s*</a>")
_TEMPLATE_BLANKS = re.compile(r"\s*\n\s*")
_BLANKS_AT_BREAK = re.compile(r"[ \t]*\n[ \t]*")
_CAPPED_PAGES = 46  # page links from which on results are withheld (section 3.2)


def read_search_page(page: str, number: int, now: datetime | None) -> PostList:
    """Page *number* of a search; only a missing "next" link is the end, an empty page is not.

    :raises LoginRequired: the page of a visitor, without a result list.
    """
    refuse_page(page)
    root = Selector(text=page)
    if root.css("div.card-no-result"):
        return PostList([], has_more=False)  # what is listed below are suggestions
    if not root.css("div.card-wrap, div.m-page"):
        raise LoginRequired("s.weibo.com shows no result list without a login")
    posts: dict[str, Post] = {}
    originals: dict[str, Post] = {}
    unreadable = 0
    for card in root.css("div.card-wrap[mid]"):  # without one: users, topics, adverts
        found, original = _read_card(card, now)
        if found is None:
            unreadable += 1
            continue
        posts.setdefault(found.post_id, found)
        if original is not None:
            originals.setdefault(original.post_id, original)
    related = [post for post_id, post in originals.items() if post_id not in posts]
    following = root.css("a.next::attr(href)").get()
    match = _PAGE_NUMBER.search(following or "")
    cursor = (match[1] if match else str(number + 1)) if following is not None else None
    return PostList(list(posts.values()), cursor is not None, cursor, related, unreadable)


def is_capped(page: bytes | str) -> bool:
    """Whether a search page lists so many pages that results beyond them are withheld.

    Then the time window has to be split (section 3.2).
    """
    return len(Selector(text=decode_text(page)).css("ul.s-scroll li")) >= _CAPPED_PAGES


Window = tuple[int, int]
"""First and last hour (both included) of a search, counted from 1970 in Shanghai's clock."""


def window_cursor(page: int, windows: list[Window]) -> str:
    """The cursor of page *page* of the first of *windows*, the others being due after it."""
    return f"{page}@" + ",".join(f"{first}-{last}" for first, last in windows)


def windows_of(cursor: str) -> tuple[int, list[Window]]:
    """What :func:`window_cursor` has put together; a bare page number has no windows."""
    page, _, rest = cursor.partition("@")
    pairs = (part.partition("-") for part in rest.split(",") if part)
    return int(page), [(int(first), int(last)) for first, _, last in pairs]


def search_window(body: bytes | str, *, cursor: str, now: datetime | None = None) -> PostList:
    """A page of a search inside time windows, asked for with *cursor* (section 3.2).

    A window whose results are capped is replaced by its two halves, the newer one first; what
    its first page showed is kept. Windows follow one another without another word.
    """
    number, windows = windows_of(cursor)
    content = decode_text(body)
    page = read_search_page(content, number, now)
    (first, last), others = windows[0], windows[1:]
    if number == 1 and last > first and is_capped(content):
        middle = (first + last) // 2
        page.cursor = window_cursor(1, [(middle + 1, last), (first, middle), *others])
        page.has_more = True
    elif page.has_more and page.cursor:
        page.cursor = window_cursor(int(page.cursor), windows)
    elif others:
        page.has_more, page.cursor = True, window_cursor(1, others)
    if page.cursor:
        page.fresh_start = windows_of(page.cursor)[1][0] != windows[0]
    return page


def _read_card(card: Selector, now: datetime | None) -> tuple[Post | None, Post | None]:
    """The post of a card, and the original that it retweets."""
    post_id = as_id(card.attrib.get("mid"))
    if post_id is None:
        return None, None
    original, lost = None, False
    for box in card.css("div.card-comment")[:1]:
        data = box.css("a[action-type=feed_list_like]::attr(action-data)").get() or ""
        match = _MID.search(data)
        original = _record(box, match[1], now) if match else None
        lost = match is None
        box.drop()  # what remains is the post's own
    post = _record(card, post_id, now)
    post.repost_of = original.post_id if original else None
    post.like_count = _counter(card, "feed_list_like")
    post.comment_count = _counter(card, "feed_list_comment")
    post.share_count = _counter(card, "feed_list_forward")
    if lost:
        post.extra["original_deleted"] = True
    return post, original


def _record(node: Selector, post_id: str, now: datetime | None) -> Post:
    """What a card, or the box of an original inside one, shows of a post."""
    links = node.css("div.from a, p.from a")
    names = node.css("a.name")
    match = _POST_LINK.search(links[0].attrib.get("href", "")) if links else None
    author_id = match[1] if match else _author_id(names)
    bid = match[2] if match else mid_to_bid(post_id)
    words = _words(node)
    media = _media(node)
    kinds = {entry.kind for entry in media}
    return Post(
        PLATFORM,
        post_id,
        post_type="video" if "video" in kinds else "image" if media else "text",
        url=post_url(post_id, bid, author_id),
        text=words.text,
        author_id=author_id,
        author_name=as_text(names[0].attrib.get("nick-name")) if names else None,
        author_url=creator_url(author_id) if author_id else None,
        published_at=moment(_plain(links[0]) if links else None, known_id=post_id, now=now),
        tags=words.tags,
        media=media,
        extra=present(
            bid=bid,
            truncated=words.cut,
            client=as_text(_plain(links[1])) if len(links) > 1 else None,
            **link_facts({}, words),
        ),
    )


def _author_id(names: list[Selector]) -> str | None:
    match = _USER_LINK.search(names[0].attrib.get("href", "")) if names else None
    return match[1] if match else None


def _plain(node: Selector) -> str:
    return " ".join("".join(node.css("::text").getall()).split())


def _words(node: Selector) -> Markup:
    """The folded-out text where there is one; the template's blanks are no part of it."""
    for kind in ("feed_list_content_full", "feed_list_content"):
        source = node.css(f"p[node-type={kind}]").get()
        if source is None:
            continue
        inner = source[source.index(">") + 1 : source.rindex("</p>")]
        inner = _ICON_LETTER.sub("", _TEMPLATE_BLANKS.sub(" ", inner))
        words = read_markup(_FOLD_LINK.sub("", inner))
        words.text = _BLANKS_AT_BREAK.sub("\n", words.text or "") or None
        words.tags = unique(words.tags)
        return words
    return Markup()


def _media(node: Selector) -> list[Media]:
    pictures = node.css("div.media-piclist img::attr(src)").getall()
    media = [picture for url in pictures if (picture := picture_at(largest(url)))]
    player = node.css("video-player").get()
    if player is not None:
        match = _VIDEO_SOURCE.search(unescape(player))
        media.insert(0, movie_at(match[1] if match else None))
    return media


def _counter(card: Selector, action: str) -> int | None:
    """A number below a card; a caption alone means 0."""
    links = card.css(f"div.card-act a[action-type={action}]")
    if not links:
        return None
    shown = links[0].css("span.woo-like-count") or links[:1]
    return as_count(_COUNTER_CAPTION.sub("", _plain(shown[0])))
