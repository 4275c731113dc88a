"""One post or comment object of Weibo, of either host, as a record.

Must not know answers, lists or cursors. Sections are those of docs/platforms/weibo.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from html import unescape
from typing import Any, NamedTuple

from mediacrawler.items import Comment, Media, Post, PostType
from mediacrawler.pages import AuthorFields
from mediacrawler.pages.fields import as_dict, as_flag, as_text, present, unique
from mediacrawler.pages.weibo_fields import (
    as_count,
    as_dicts,
    as_id,
    as_int,
    as_items,
    as_size,
    https_url,
    inside,
    moment,
    region,
)
from mediacrawler.pages.weibo_media import (
    is_article,
    is_live,
    is_video,
    largest,
    linked_pictures,
    media_of,
    picture_at,
)
from mediacrawler.pages.weibo_text import REPLY_PREFIX, Markup, read_markup, read_words
from mediacrawler.targets.weibo import creator_url, mid_to_bid, post_url

PLATFORM = "weibo"

_GONE_TEXT = re.compile(
    r"抱歉，(?:此微博已被|作者已设置|由于作者|该账号|此微博)|该微博因被多人投诉"
)
NOT_SHOWN_TEXT = re.compile(r"仅展示|查看权限|隐私")
_GONE_STATES = (7, 8)  # deleted by its author; after complaints
_BID_IN_SCHEME = re.compile(r"/status/([0-9A-Za-z]{5,12})")
_TAGS = re.compile(r"<[^>]*>")
_POST_IN_ANALYSIS = re.compile(r"(?:^|\|)mid:(\d+)")
_ADVERT_MARKS = ("isAd", "is_ad")


def _post_id(blog: dict[str, Any]) -> str | None:
    """`mid`, `id` and `idstr` are one; only legacy posts have a 17-digit one besides (2.2)."""
    found = [number for key in ("mid", "id", "idstr") if (number := as_id(blog.get(key)))]
    short = [number for number in found if len(number) < 17]
    return next(iter(short or found), None)


def _bid(blog: dict[str, Any], post_id: str, card: dict[str, Any]) -> str | None:
    """As given, else from the card's link, else computed."""
    given = as_id(blog.get("bid")) or as_id(blog.get("mblogid"))
    if given:
        return given
    match = _BID_IN_SCHEME.search(as_text(card.get("scheme")) or "")
    if match is not None and not match[1].isdigit():
        return match[1]
    return mid_to_bid(post_id)


class Collected(NamedTuple):
    """Posts of a list, each once, the originals that they retweet, and rows that are no posts."""

    posts: list[Post]
    related: list[Post]
    unreadable: int


def author_fields(value: Any) -> AuthorFields:
    """Who wrote something, from its `user`; all None where that is null."""
    user = as_dict(value)
    author_id = id_of(user)
    return {
        "author_id": author_id,
        "author_name": as_text(user.get("screen_name")),
        "author_url": creator_url(author_id) if author_id else None,
        "author_avatar": avatar_of(user),
    }


def id_of(record: dict[str, Any]) -> str | None:
    """The id of a person or comment: the text where the desktop gives both."""
    return as_id(record.get("idstr")) or as_id(record.get("id"))


def avatar_of(user: dict[str, Any]) -> str | None:
    """The largest portrait of a user object."""
    addresses = (https_url(user.get(k)) for k in ("avatar_hd", "avatar_large", "profile_image_url"))
    return next((url for url in addresses if url), None)


def _is_pinned(blog: dict[str, Any], card: dict[str, Any]) -> bool:
    return (
        as_int(blog.get("isTop")) == 1
        or as_int(blog.get("mblogtype")) == 2
        or as_text(inside(blog, "title", "text")) == "置顶"
        or (as_text(card.get("profile_type_id")) or "").startswith("proweibotop")
        or "followtopweibo" in (as_text(blog.get("mark")) or "")
    )


def _post_type(blog: dict[str, Any], page: dict[str, Any], media: list[Media]) -> PostType:
    if is_live(page):
        return "live"
    if is_video(page) or any(entry.kind == "video" for entry in media):
        return "video"
    if is_article(page):
        return "article"
    return "image" if media else "text"


def post_record(
    blog: dict[str, Any], *, card: dict[str, Any] | None = None, now: datetime | None = None
) -> Post | None:
    """The record of a post object of either host; None without an id."""
    post_id = _post_id(blog)
    if post_id is None:
        return None
    card = card or {}
    bid = _bid(blog, post_id, card)
    words = read_words(blog)
    # the desktop site repeats the original's page in front of a retweet (section 7.4)
    page = {} if blog.get("retweeted_status") else as_dict(blog.get("page_info"))
    media = media_of(blog, page, words.markup)
    post_type = _post_type(blog, page, media)
    author = author_fields(blog.get("user"))
    counts = [blog.get(f"{name}_count") for name in ("attitudes", "comments", "reposts")]
    post = Post(
        PLATFORM,
        post_id,
        post_type=post_type,
        url=post_url(post_id, bid, author["author_id"]),
        title=_title(page, post_type, author["author_name"]),
        text=words.text,
        published_at=moment(blog.get("created_at"), known_id=post_id, now=now),
        edited_at=moment(blog["edit_at"], now=now) if as_text(blog.get("edit_at")) else None,
        like_count=as_count(counts[0]),
        comment_count=as_count(counts[1]),
        share_count=as_count(counts[2]),
        view_count=_views(blog, page),
        tags=unique([*topics_of(blog), *words.markup.tags]),
        media=media,
        ip_location=region(blog.get("region_name")),
        repost_of=_original_id(blog, post_id),
        **author,
    )
    lower_bounds = any(isinstance(value, str) and value.endswith("+") for value in counts)
    post.extra = present(
        bid=bid,
        is_long_text=as_flag(blog.get("isLongText")),
        truncated=words.cut,
        is_pinned=_is_pinned(blog, card),
        edit_count=as_size(blog.get("edit_count")),
        client=_client(blog.get("source")),
        pic_num=as_size(blog.get("pic_num")),
        counts_are_lower_bounds=lower_bounds,
        visible_type=as_size(inside(blog, "visible", "type")),
        is_paid=_is_paid(blog),
        is_show_bulletin=as_int(blog.get("is_show_bulletin")),
        article_id=_article_id(page) if post_type == "article" else None,
        object_id=as_text(page.get("object_id")) if post_type == "video" else None,
        **link_facts(blog, words.markup),
        **_deleted_original(blog),
    )
    return post


def _is_paid(blog: dict[str, Any]) -> bool:
    """Text and pictures of such a post are cut for those who do not pay (section 10, 43)."""
    return blog.get("is_paid") is True or as_int(blog.get("mblog_vip_type")) == 1


def _title(page: dict[str, Any], post_type: PostType, author_name: str | None) -> str | None:
    """The title that somebody gave; the site's own words in its place ("X的微博视频") are none."""
    if post_type not in ("video", "article", "live"):
        return None
    title = as_text(page.get("title")) or as_text(page.get("page_title"))
    given = title and author_name and title.removeprefix(author_name)
    return None if given in ("的微博视频", "的直播") else title


def _views(blog: dict[str, Any], page: dict[str, Any]) -> int | None:
    info = as_dict(page.get("media_info"))
    candidates = (page.get("play_count"), info.get("online_users_number"), info.get("online_users"))
    given = next((value for value in (*candidates, blog.get("reads_count")) if value), None)
    return as_count(given) if given else None


def topics_of(record: dict[str, Any]) -> list[str]:
    """Hashtags that the desktop site names besides the text; super topics are none."""
    return [
        title
        for topic in as_dicts(record.get("topic_struct"))
        if (title := as_text(topic.get("topic_title")))
        and "100808" not in (as_text(topic.get("topic_url")) or "")
    ]


def link_facts(record: dict[str, Any], markup: Markup) -> dict[str, Any]:
    """Links, super topics, place and mentions of a text, from either host's form."""
    links, super_topics, location = list(markup.links), list(markup.super_topics), markup.location
    for link in as_dicts(record.get("url_struct")):
        icon, title = as_text(link.get("url_type_pic")) or "", as_text(link.get("url_title"))
        target = as_text(link.get("long_url")) or as_text(link.get("ori_url")) or ""
        if "_super_" in icon and title:
            super_topics.append(title.removesuffix("[超话]"))
        elif "_location_" in icon and title:
            location = location or title
        elif not link.get("pic_infos") and target.startswith(("http://", "https://")):
            links.append(target)
    return {
        "links": unique(links),
        "super_topics": unique(super_topics),
        "location": location,
        "mentions": [{"name": name, "id": None} for name in unique(markup.mentions)],
    }


def _client(source: Any) -> str | None:
    return as_text(unescape(_TAGS.sub("", source))) if isinstance(source, str) else None


def _article_id(page: dict[str, Any]) -> str | None:
    given = as_text(page.get("object_id")) or as_text(page.get("page_id")) or ""
    match = re.search(r"(?:1022:)?((?:2309|1001)\d{6,})", given)
    return match[1] if match else None


def _original_id(blog: dict[str, Any], post_id: str) -> str | None:
    """The id of the retweeted post, also of one that is gone, or of a quick repost's source."""
    original = as_dict(blog.get("retweeted_status"))
    found = _post_id(original) or as_id(blog.get("ori_mid"))
    return found if found != post_id else None


def why_gone(blog: dict[str, Any]) -> str | None:
    """Why a post object shows nothing any more (section 5.3), or None."""
    is_marked = as_text(blog.get("deleted")) == "1" or as_int(blog.get("state")) in _GONE_STATES
    if isinstance(blog.get("user"), dict) and not is_marked:
        return None
    plain = read_markup(blog.get("text")).text or ""
    if is_marked:
        return plain or "deleted"
    return plain if _GONE_TEXT.search(plain) else None


def _deleted_original(blog: dict[str, Any]) -> dict[str, Any]:
    original = blog.get("retweeted_status")
    if not isinstance(original, dict):
        return {}
    reason = why_gone(original)
    if reason is None:
        return {}
    return {"original_deleted": True, "original_notice": reason}


def original_of(blog: dict[str, Any], now: datetime | None) -> Post | None:
    """The retweeted post as a record of its own, unless it is gone."""
    original = blog.get("retweeted_status")
    if not isinstance(original, dict) or why_gone(original) is not None:
        return None
    return post_record(original, now=now)


def post_records(
    found: Iterable[tuple[dict[str, Any], dict[str, Any]]], now: datetime | None
) -> Collected:
    """The posts of (card, post object) pairs; adverts and shells of what is gone left out."""
    unreadable = 0
    posts: dict[str, Post] = {}
    originals: dict[str, Post] = {}
    for card, blog in found:
        if any(blog.get(mark) for mark in _ADVERT_MARKS) or why_gone(blog) is not None:
            continue
        post = post_record(blog, card=card, now=now)
        if post is None:
            unreadable += 1
            continue
        posts.setdefault(post.post_id, post)
        original = original_of(blog, now)
        if original is not None:
            originals.setdefault(original.post_id, original)
    others = [original for key, original in originals.items() if key not in posts]
    return Collected(list(posts.values()), others, unreadable)


def walk_cards(cards: Any, depth: int = 0) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every card with a post, wherever it is nested (section 3.1).

    A card or post that is no object comes as an empty one: without an id, it will be counted.
    """
    for card in as_items(cards):
        if not isinstance(card, dict):
            yield {}, {}
            continue
        blog = card.get("mblog")
        if blog:
            yield card, as_dict(blog)
        if depth < 8:  # real answers nest once or twice
            yield from walk_cards(card.get("card_group"), depth + 1)


def comment_record(
    source: dict[str, Any], post_id: str | None, asked_root: str | None, now: datetime | None
) -> Comment | None:
    """A comment, or a reply below *asked_root*; None without an id."""
    comment_id = id_of(source) or as_id(source.get("mid"))
    if comment_id is None:
        return None
    root_id = as_id(source.get("rootidstr")) or as_id(source.get("rootid")) or asked_root
    reply_to = as_dict(source.get("reply_comment"))
    reply_to_id = id_of(reply_to) or as_id(source.get("reply_id"))
    if root_id is None:  # the fallback endpoint names only the comment answered to
        root_id = reply_to_id
    if root_id == comment_id:
        root_id = None
    words = read_words(source, without_picture_links=True)
    text = _without_picture_addresses(source, words.text)
    prefix = REPLY_PREFIX.match(text or "")
    if root_id is not None and reply_to_id is None and prefix is None:
        reply_to_id = root_id
    pic = as_dict(source.get("pic"))
    large = as_dict(pic.get("large"))
    picture = picture_at(large.get("url") or largest(pic.get("url")), large.get("geo"))
    answered = author_fields(reply_to.get("user"))
    in_body = _POST_IN_ANALYSIS.search(as_text(source.get("analysis_extra")) or "")
    likes = source.get("like_count", source.get("like_counts"))
    return Comment(
        PLATFORM,
        comment_id,
        post_id=post_id or (in_body[1] if in_body else None),
        root_id=root_id,
        reply_to_id=reply_to_id,
        text=text,
        published_at=moment(source.get("created_at"), known_id=comment_id, now=now),
        like_count=as_count(likes),
        reply_count=as_count(source.get("total_number")) if root_id is None else None,
        ip_location=region(source.get("source")),
        media=([picture] if picture else []) + linked_pictures(source),
        extra=present(
            is_author=as_flag(source.get("is_mblog_author")),
            liked_by_author=as_flag(source.get("isLikedByMblogAuthor")),
            floor=as_size(source.get("floor_number")),
            folded=bool(source.get("more_info")),
            mentions=[{"name": n, "id": None} for n in unique(words.markup.mentions)],
            reply_to_author_id=answered["author_id"],
            reply_to_author_name=prefix[1] if prefix else answered["author_name"],
        ),
        **author_fields(source.get("user")),
    )


def _without_picture_addresses(source: dict[str, Any], text: str | None) -> str | None:
    """The desktop's plain text shows a picture as its short link, which belongs to the picture."""
    for link in as_dicts(source.get("url_struct")):
        short = as_text(link.get("short_url"))
        if text and short and link.get("pic_infos"):
            text = text.replace(short, "").strip() or None
    return text
