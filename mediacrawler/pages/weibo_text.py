"""Weibo's texts: HTML (mobile, and everywhere in lists) or plain with short links (desktop).

Pure functions over strings. Must not know records' other fields. Sections are those of
docs/platforms/weibo.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

from mediacrawler.pages.fields import as_dict, as_text, tag_attributes, unique, with_scheme

_TAG = re.compile(
    r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)((?:\"[^\"]*\"|'[^']*'|[^'\">])*)>|<!--.*?-->", re.DOTALL
)
_CUT = re.compile(
    r"(?:\.{3}|…)?\s*<(a|span)\b[^>]*>\s*(?:全文|展开)\s*(?:<i\b[^>]*>[^<]*</i>)?\s*</\1>"
    r"[\s\u200b\ufeff]*\Z"
)
_CUT_CAPTION = re.compile(r"全文|展开")
_HASHTAG = re.compile(r"#([^#]+)#")
REPLY_PREFIX = re.compile(r"回复\s*@([^:：\s]+)\s*[:：]")
_PICTURE_CAPTION = "查看图片"


@dataclass(slots=True)
class Markup:
    """A text in Weibo's HTML: its plain form and what its links said.

    `tags` are without their ``#``; `pictures` are addresses behind a "查看图片" link; `cut` says
    that the text ended with the link to its long form, which is not part of `text`.
    """

    text: str | None = None
    tags: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    mentions: list[str] = field(default_factory=list)
    super_topics: list[str] = field(default_factory=list)
    location: str | None = None
    pictures: list[str] = field(default_factory=list)
    cut: bool = False


def read_markup(source: Any, *, without_picture_links: bool = False) -> Markup:
    """Read a text in HTML; null and what shows nothing give no text.

    :param without_picture_links: drop the captions of picture links (comments, section 7.5).
    """
    if not isinstance(source, str):
        return Markup()
    if "<" not in source:
        return Markup(text=clean(unescape(source)))
    body = _CUT.sub("", source) if _CUT_CAPTION.search(source, len(source) - 80) else source
    markup = Markup(cut=body != source)
    pieces: list[str] = []
    link: _Link | None = None
    position = 0
    for match in _TAG.finditer(body):
        if match.start() > position:
            pieces.append(unescape(body[position : match.start()]))
        position = match.end()
        name = (match[2] or "").lower()
        if name == "br":
            pieces.append("\n")
        elif name == "img":
            attributes = tag_attributes(match[3])
            pieces.append(unescape(attributes.get("alt", "")))
            if link is not None:
                link.icon += attributes.get("src", "")
        elif name == "a" and not match[1]:
            link = _Link(len(pieces), tag_attributes(match[3]))
        elif name == "a" and link is not None:
            caption = "".join(pieces[link.start :]).strip()
            if _read_link(markup, link, caption) and without_picture_links:
                del pieces[link.start :]
            link = None
    pieces.append(unescape(body[position:]))
    markup.text = clean("".join(pieces))
    markup.tags = unique(markup.tags)
    return markup


@dataclass(slots=True)
class _Link:
    """An open link: where its caption starts, its attributes, its icons' addresses."""

    start: int
    attributes: dict[str, str]
    icon: str = ""


def _read_link(markup: Markup, link: _Link, caption: str) -> bool:
    """Note what a link says; true for a link to a picture."""
    address = _link_address(link.attributes)
    hashtag = _HASHTAG.fullmatch(caption)
    if "_super_" in link.icon or (hashtag and "100808" in address):
        markup.super_topics.append(caption.strip("#").removesuffix("[超话]"))
    elif "_location_" in link.icon:
        markup.location = caption or None
    elif hashtag:
        markup.tags.append(hashtag[1].strip())
    elif caption.startswith(("@", "＠")) and len(caption) > 1:
        markup.mentions.append(caption[1:].strip())
    elif caption == _PICTURE_CAPTION:
        if ".sinaimg.cn/" in address:
            markup.pictures.append(address)
        return True
    elif address.startswith(("http://", "https://")):
        markup.links.append(address)
    return False


def _link_address(attributes: dict[str, str]) -> str:
    """The real target: of the jump page, else the short link, else as written."""
    href = attributes.get("href", "").replace("&amp;", "&")
    if "/sinaurl" in href:
        href = parse_qs(urlsplit(href).query).get("u", [href])[0]
    elif attributes.get("data-url"):
        href = attributes["data-url"].replace("&amp;", "&")
    return with_scheme(href)


def clean(plain: str) -> str | None:
    """Invisible characters out, ends stripped, line breaks of one kind; None if nothing is left."""
    visible = plain.replace("\u200b", "").replace("\ufeff", "")
    return visible.replace("\r\n", "\n").strip() or None


@dataclass(slots=True)
class Words:
    """The text of a post or comment, and what stood in it."""

    text: str | None
    markup: Markup
    cut: bool


def read_words(blog: dict[str, Any], *, without_picture_links: bool = False) -> Words:
    """The best text of a record: long, else desktop's plain one, else from HTML (section 7.1)."""
    markup = read_markup(blog.get("text"), without_picture_links=without_picture_links)
    long_text = as_dict(blog.get("longText"))
    content = long_text.get("content")
    if isinstance(content, str) and content.strip():
        return Words(clean(content), markup, False)
    if as_text(long_text.get("longTextContent")):
        longer = read_markup(long_text["longTextContent"])
        return Words(longer.text, longer, False)
    raw = blog.get("text_raw")
    if not isinstance(raw, str) or (markup.cut and markup.text):
        return Words(markup.text, markup, markup.cut)
    plain = clean(raw) or ""
    cut = markup.text is None and bool(blog.get("isLongText")) and plain.endswith(("...", "…"))
    return Words((plain.rstrip(".… ") if cut else plain) or None, markup, cut)
