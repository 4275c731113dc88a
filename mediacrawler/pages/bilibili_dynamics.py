"""Bilibili's posts besides videos: dynamics, opus (pictures and texts), articles.

Pure functions; it must not know lists, pages or cursors. Section numbers are those of
docs/platforms/bilibili.md.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from mediacrawler.exceptions import UnexpectedResponse
from mediacrawler.items import Media, Post, PostType
from mediacrawler.pages import PostPage
from mediacrawler.pages.bilibili_answers import (
    PLATFORM,
    author_fields,
    card_media,
    cover_media,
    https_url,
    identifier,
    mentioned,
    only_text,
    picture_media,
    whole,
)
from mediacrawler.pages.fields import (
    as_dict,
    as_list,
    as_text,
    count,
    decode_json,
    dig,
    dig_list,
    place_of,
    present,
    timestamp,
    unique,
)
from mediacrawler.targets.bilibili import post_url

# --- 3.11, 5.5: dynamics --------------------------------------------------------------------

_POST_TYPES: dict[str, PostType] = {
    "AV": "video",
    "UGC_SEASON": "video",
    "PGC": "video",
    "PGC_UNION": "video",
    "DRAW": "image",
    "ARTICLE": "article",
    "LIVE": "live",
    "LIVE_RCMD": "live",
}
"""Kinds of dynamics; whatever else comes (new kinds do) is a text (section 5.5)."""


def dynamic(item: dict[str, Any]) -> tuple[Post, list[Post]]:
    """A dynamic and, for a forward, the original that it carries."""
    found = _dynamic_post(item)
    original = as_dict(item.get("orig"))
    if not original:
        return found, []
    original_id = identifier(original.get("id_str"))
    if original.get("type") == "DYNAMIC_TYPE_NONE" or original_id is None:
        found.extra["original_deleted"] = True
        found.repost_of = original_id
        return found, []
    found.repost_of = original_id
    try:
        return found, [_dynamic_post(original)]
    except UnexpectedResponse:
        return found, []  # the forward is good; its original is asked for by its id


def _dynamic_post(item: dict[str, Any]) -> Post:
    post_id = identifier(item.get("id_str"))
    if post_id is None:
        raise UnexpectedResponse("a dynamic without id")
    modules, basic = as_dict(item.get("modules")), as_dict(item.get("basic"))
    content = as_dict(modules.get("module_dynamic"))
    kind = (as_text(item.get("type")) or "").removeprefix("DYNAMIC_TYPE_")
    author = as_dict(modules.get("module_author"))
    found = _new_post(post_id, _POST_TYPES.get(kind, "text"), author)
    _add_counts(found, as_dict(modules.get("module_stat")))
    nodes = as_list(as_dict(content.get("desc")).get("rich_text_nodes"))
    found.text = _nodes_text(nodes) or as_text(as_dict(content.get("desc")).get("text"))
    found.extra = present(
        dynamic_type=as_text(item.get("type")),
        comment_type=whole(basic.get("comment_type")) or None,
        comment_oid=identifier(basic.get("comment_id_str")),
        is_pinned="置顶" in str(as_dict(modules.get("module_tag")).get("text")),
        topic=as_text(as_dict(content.get("topic")).get("name")),
    )
    nodes = nodes + _add_major(found, as_dict(content.get("major")))
    found.tags = _topics(nodes)
    found.extra |= present(mentions=_node_mentions(nodes))
    return found


def _new_post(post_id: str, post_type: PostType | None, author: dict[str, Any]) -> Post:
    """A dynamic or an opus with what its author module tells."""
    return Post(
        PLATFORM,
        post_id,
        post_type,
        url=post_url(post_id),
        published_at=timestamp(author.get("pub_ts")),
        ip_location=place_of(author.get("pub_location_text")),
        **author_fields(author.get("mid"), author.get("name"), author.get("face")),
    )


def _add_counts(found: Post, stat: dict[str, Any]) -> None:
    found.like_count = count(as_dict(stat.get("like")).get("count"))
    found.comment_count = count(as_dict(stat.get("comment")).get("count"))
    found.share_count = count(as_dict(stat.get("forward")).get("count"))
    found.collect_count = count(as_dict(stat.get("favorite")).get("count"))


def _add_major(found: Post, major: dict[str, Any]) -> list[Any]:
    """Read the main content into *found*; gives the text nodes that it brought.

    Its key is its type in small letters (``MAJOR_TYPE_OPUS`` -> ``opus``).
    """
    kind = (as_text(major.get("type")) or "").removeprefix("MAJOR_TYPE_").lower()
    content = as_dict(major.get(kind))
    nodes: list[Any] = []
    if kind == "opus":
        summary = as_dict(content.get("summary"))
        nodes = as_list(summary.get("rich_text_nodes"))
        found.title = as_text(content.get("title"))
        found.text = found.text or _nodes_text(nodes) or as_text(summary.get("text"))
        found.media = _pictures(content.get("pics"))
    elif kind == "draw":
        found.media = _pictures(content.get("items"))
    elif kind in ("archive", "ugc_season", "pgc"):
        _add_archive(found, content)
    elif kind == "live_rcmd":
        _add_live(found, content)
    elif kind == "blocked":
        found.extra |= present(
            blocked=as_text(content.get("hint_message")) or "blocked", is_paid=True
        )
    elif kind != "none":  # articles, cards, music, and what comes next
        found.title = as_text(content.get("title"))
        found.text = found.text or as_text(content.get("desc"))
        covers = as_list(content.get("covers")) or [content.get("cover")]
        found.media = [media for cover in covers for media in cover_media(cover)]
        found.extra |= present(
            article_id=identifier(content.get("id")) if kind == "article" else None
        )
    if found.post_type == "article":
        found.extra["truncated"] = True  # lists carry the first lines of an article only
    return nodes


def _add_archive(found: Post, archive: dict[str, Any]) -> None:
    stat = as_dict(archive.get("stat"))
    found.title = as_text(archive.get("title"))
    found.media = card_media(archive.get("cover"), archive.get("duration_text"))
    found.extra |= present(
        bvid=as_text(archive.get("bvid")),
        aid=identifier(archive.get("aid")),
        # display text only ("190.3万"): not a number to count with (section 7.1)
        view_count_text=as_text(stat.get("play")),
        danmaku_count_text=as_text(stat.get("danmaku")),
    )


def _add_live(found: Post, content: dict[str, Any]) -> None:
    """A live room; its data is JSON inside a text (section 10)."""
    try:
        live = as_dict(dig(decode_json(str(content.get("content"))), "live_play_info"))
    except UnexpectedResponse:
        return
    found.title = as_text(live.get("title"))
    found.media = cover_media(live.get("cover"))
    found.extra |= present(live_room_id=identifier(live.get("room_id")))


def _pictures(rows: Any) -> list[Media]:
    """Pictures in order, a live one followed by its film (section 8.4)."""
    media: list[Media] = []
    for row in map(as_dict, as_list(rows)):
        media += picture_media(
            row.get("url") or row.get("src"), row.get("width"), row.get("height")
        )
        film = https_url(row.get("live_url"))
        if film:
            media.append(Media("live_photo", film, identifying=True))
    return media


def _nodes_text(nodes: list[Any]) -> str | None:
    return as_text("".join(map(_node_text, map(as_dict, nodes))))


def _node_text(node: dict[str, Any]) -> str:
    shown = node.get("orig_text")
    if not isinstance(shown, str):
        shown = node.get("text") if isinstance(node.get("text"), str) else ""
    if node.get("type") == "RICH_TEXT_NODE_TYPE_WEB" and "://" not in str(shown):
        shown = https_url(node.get("jump_url")) or shown  # the text is a caption ("网页链接")
    return str(shown)


def _topics(nodes: list[Any]) -> list[str]:
    return unique(
        name
        for node in map(as_dict, nodes)
        if node.get("type") == "RICH_TEXT_NODE_TYPE_TOPIC"
        and (name := str(node.get("orig_text") or node.get("text") or "").strip("# "))
    )


def _node_mentions(nodes: list[Any]) -> list[dict[str, str | None]]:
    return mentioned(
        (str(node.get("orig_text") or node.get("text") or "").strip().lstrip("@"), node.get("rid"))
        for node in map(as_dict, nodes)
        if node.get("type") == "RICH_TEXT_NODE_TYPE_AT"
    )


# --- 3.12, 5.5: opus and articles -----------------------------------------------------------


def opened(item: dict[str, Any]) -> PostPage:
    """A dynamic (modules are an object) or an opus (modules are a list)."""
    modules = item.get("modules")
    if isinstance(modules, list):
        return PostPage(_opus(item, modules))
    found, related = dynamic(item)
    return PostPage(found, related)


_OPUS_TYPES: dict[int, PostType] = {1: "video", 11: "image", 12: "article", 17: "text"}
"""Kinds of comment areas; they tell what an opus is (section 7.2)."""


def _opus(item: dict[str, Any], module_list: list[Any]) -> Post:
    post_id = identifier(item.get("id_str"))
    if post_id is None:
        raise UnexpectedResponse("an opus without id")
    modules: dict[str, dict[str, Any]] = {}
    for module in map(as_dict, module_list):
        kind = str(module.get("module_type")).removeprefix("MODULE_TYPE_").lower()
        modules[kind] = as_dict(module.get(f"module_{kind}"))
    basic = as_dict(item.get("basic"))
    comment_type = whole(basic.get("comment_type"))
    found = _new_post(post_id, None, modules.get("author", {}))
    _add_counts(found, modules.get("stat", {}))
    # never basic.title: it carries the site's name behind (section 7.2)
    found.title = as_text(modules.get("title", {}).get("text"))
    body = _Paragraphs(as_list(modules.get("content", {}).get("paragraphs")))
    album = as_dict(as_dict(modules.get("top", {}).get("display")).get("album"))
    found.text = body.text
    found.media = _pictures(album.get("pics")) + body.media
    found.post_type = _OPUS_TYPES.get(comment_type or 0, "image" if found.media else "text")
    if found.post_type == "text" and found.media:
        found.post_type = "image"
    found.tags = unique(
        name
        for row in map(as_dict, as_list(modules.get("extend", {}).get("items")))
        if (name := as_text(row.get("text")))
    )
    blocked = modules.get("blocked")
    found.extra = present(
        comment_type=comment_type or None,
        comment_oid=identifier(basic.get("comment_id_str")),
        coin_count=count(as_dict(modules.get("stat", {}).get("coin")).get("count")),
        topic=as_text(modules.get("topic", {}).get("name")),
        mentions=_node_mentions(body.rich_nodes),
        blocked=None if blocked is None else as_text(blocked.get("hint_message")) or "blocked",
        is_paid=blocked is not None,
        truncated=blocked is not None,
    )
    return found


class _Paragraphs:
    """The text, the pictures and the rich nodes of an opus, in order (section 5.5)."""

    def __init__(self, paragraphs: list[Any]) -> None:
        lines: list[str] = []
        self.media: list[Media] = []
        self.rich_nodes: list[Any] = []
        for paragraph in map(as_dict, paragraphs):
            self.media += _pictures(as_dict(paragraph.get("pic")).get("pics"))
            lines += self._lines(paragraph)
        self.text = as_text("\n".join(lines))

    def _lines(self, paragraph: dict[str, Any]) -> Iterator[str]:
        code = as_dict(paragraph.get("code")).get("content")
        if isinstance(code, str):
            yield html.unescape(code)  # the only part of an opus with entities
        for row in map(as_dict, as_list(as_dict(paragraph.get("list")).get("items"))):
            yield self._words(row.get("nodes"))
        if isinstance(paragraph.get("text"), dict):  # text, quote, heading, and what comes next
            yield self._words(paragraph["text"].get("nodes"))

    def _words(self, nodes: Any) -> str:
        words: list[str] = []
        for node in map(as_dict, as_list(nodes)):
            rich = as_dict(node.get("rich"))
            if rich:
                self.rich_nodes.append(rich)
                words.append(_node_text(rich))
                continue
            word = as_dict(node.get("word")).get("words")
            formula = as_dict(node.get("formula")).get("latex_content")
            words.append(str(word or formula or ""))
        return "".join(words)


def article(data: dict[str, Any]) -> Post:
    """An article by its old number; its opus number is the identity where it has one."""
    number = identifier(data.get("id"))
    post_id = identifier(data.get("dyn_id_str")) or (f"cv{number}" if number else None)
    if post_id is None:
        raise UnexpectedResponse("an article without number")
    author, stat = as_dict(data.get("author")), as_dict(data.get("stats"))
    body = _article_text(data)
    return Post(
        platform=PLATFORM,
        post_id=post_id,
        post_type="article",
        url=post_url(post_id),
        title=as_text(data.get("title")),
        text=body or as_text(data.get("summary")),
        published_at=timestamp(data.get("publish_time")),
        like_count=count(stat.get("like")),
        comment_count=count(stat.get("reply")),
        share_count=count(stat.get("share")),
        collect_count=count(stat.get("favorite")),
        view_count=count(stat.get("view")),
        tags=unique(
            name
            for row in map(as_dict, as_list(data.get("tags")))
            if (name := as_text(row.get("name")))
        ),
        media=[
            media
            for url in as_list(data.get("image_urls"))
            for media in picture_media(only_text(url))
        ],
        extra=present(
            comment_type=12,
            comment_oid=number,
            article_id=number,
            coin_count=count(stat.get("coin")),
            truncated=body is None,
        ),
        **author_fields(author.get("mid"), author.get("name"), author.get("face")),
    )


def _article_text(data: dict[str, Any]) -> str | None:
    content = data.get("content")
    if not isinstance(content, str):
        return None
    if content.lstrip().startswith("{"):
        try:
            operations = dig_list(decode_json(content), "ops")
        except UnexpectedResponse:
            return None
        inserts = (as_dict(operation).get("insert") for operation in operations)
        return as_text("".join(insert for insert in inserts if isinstance(insert, str)))
    reader = _TextOfHtml()
    reader.feed(content)
    reader.close()
    return as_text("".join(reader.pieces))


class _TextOfHtml(HTMLParser):
    """The text of an old article: a line per block, entities undone by the parser."""

    _BLOCKS = frozenset({"p", "br", "div", "li", "blockquote", "pre", "h1", "h2", "h3", "figure"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._BLOCKS and self.pieces and not self.pieces[-1].endswith("\n"):
            self.pieces.append("\n")


def opus_card(row: dict[str, Any], creator_id: str | None) -> Post:
    opus_id = identifier(row.get("opus_id"))
    if opus_id is None:
        raise UnexpectedResponse("an opus without id")
    cover, stat = as_dict(row.get("cover")), as_dict(row.get("stat"))
    return Post(
        platform=PLATFORM,
        post_id=opus_id,
        url=post_url(opus_id),
        text=as_text(row.get("content")),
        like_count=count(stat.get("like")),
        view_count=count(stat.get("view")),
        media=cover_media(cover.get("url"), cover.get("width"), cover.get("height")),
        extra=present(
            like_count_text=_rounded(stat.get("like")), view_count_text=_rounded(stat.get("view"))
        ),
        **author_fields(creator_id),
    )


def _rounded(value: Any) -> str | None:
    """A number as it was shown, when showing it lost digits (section 7.5)."""
    return value if isinstance(value, str) and not value.isdecimal() else None
