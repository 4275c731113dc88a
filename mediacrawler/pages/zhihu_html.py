"""Zhihu's HTML content as clean text, pictures, mentions and video boxes.

Pure functions of one string of markup; must not know JSON records or requests. Sections are
those of docs/platforms/zhihu.md. Tags are cut out with one expression: the markup comes out of
the site's own editor, and this is several times faster than a full parser.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from mediacrawler.items import Media
from mediacrawler.pages.fields import count, tag_attributes, unique, with_scheme


@dataclass(slots=True)
class Content:
    """What one piece of HTML holds.

    `text` has one line a block; `media` are its pictures, each once; `mentions` are
    ``{"name", "id"}``; `video_ids` name the videos that are shown in boxes (their addresses
    have to be asked for).
    """

    text: str | None = None
    media: list[Media] = field(default_factory=list)
    mentions: list[dict[str, str]] = field(default_factory=list)
    video_ids: list[str] = field(default_factory=list)


_TAG = re.compile(
    r"<(?P<end>/?)(?P<name>[a-zA-Z][a-zA-Z0-9]*)"
    # The bound keeps markup full of unfinished tags from taking time by the square.
    r"(?P<attributes>(?:[^<>\"']*(?:\"[^\"]*\"|'[^']*')){0,40}[^<>\"']*)>"
    r"|<!--.*?(?:-->|\Z)"
    r"|</?[a-zA-Z][^<>]*>",  # unbalanced quotes: still no text
    re.DOTALL,
)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_EMPHASIS = re.compile(r"</?em(?:\s[^<>]*)?>", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\f\v]+")
_PICTURE_TOKEN = re.compile(r"(?:^|/)(v2-[0-9a-f]{32}|[0-9a-f]{9,32})(?=[_.?]|$)")
_EXTENSION = re.compile(r"\.([a-z0-9]{2,4})$")
_MEMBER_PATH = re.compile(r"/(?:people|org)/([^/?#]+)")

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_TABLES = ("table", "tr", "figure", "figcaption")
_BLOCKS = frozenset(
    ("p", "div", "li", "ul", "ol", "blockquote", "pre", "hr", "br", *_HEADINGS, *_TABLES)
)
_DROPPED = frozenset({"script", "style", "noscript"})

# Blanks of code keep their number; as these two they pass the cleaning of the other text.
_CODE_BLANK, _CODE_TAB = "\x00", "\x01"
_KEEP_CODE = str.maketrans({" ": _CODE_BLANK, "\t": _CODE_TAB})
_RESTORE_CODE = str.maketrans({_CODE_BLANK: " ", _CODE_TAB: "\t"})
_CLEAN = str.maketrans(
    {
        "\xa0": " ",
        "\r": "\n",
        "\u2028": "\n",
        # zero-width spaces; the zero-width joiner stays, emoji are made with it
        "\u200b": None,
        "\u2060": None,
        "\ufeff": None,
        _CODE_BLANK: None,
        _CODE_TAB: None,
    }
)

# First choice first (section 8).
_PICTURE_SOURCES = (
    "data-original",
    "data-original-src",
    "data-actualsrc",
    "data-default-watermark-src",
    "src",
)


def read(markup: str) -> Content:
    """Text, pictures, mentions and video boxes of HTML content (sections 7 and 8).

    Formulas become ``$TEX$``; the lines of code blocks keep their indentation.
    """
    if "<" not in markup:
        return Content(_tidy(decode(markup)))
    return _Reader().read(markup)


def decode(text: str) -> str:
    """Entities decoded once; only whole ones, so that ``AT&T`` and ``a&copy=1`` stay."""
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text) if "&" in text else text


def label(text: str) -> str | None:
    """A title, name or excerpt: without the search's ``<em>``, entities decoded once.

    Other ``<...>`` stay, they are what somebody wrote (``vector<int>``).
    """
    if "<" in text:
        text = _EMPHASIS.sub("", text)
    return " ".join(decode(text).translate(_CLEAN).split()) or None


def picture(
    url: str, kind: str = "image", width: object = None, height: object = None
) -> Media | None:
    """A picture at *url*; None where that is no address (a ``data:`` placeholder, nothing)."""
    url = with_scheme(url.strip())
    if not url.lower().startswith(("http://", "https://")):
        return None
    return Media(
        kind="cover" if kind == "cover" else "image",
        url=url,
        width=count(width) or None,
        height=count(height) or None,
        ext=extension(url),
    )


def picture_token(url: str) -> str:
    """What is the same in all addresses of one picture, whatever host and size (section 8)."""
    path = _path(url)
    match = _PICTURE_TOKEN.search(path)
    return match[1] if match else path


def extension(url: str) -> str | None:
    """``jpg`` of an address that ends so."""
    match = _EXTENSION.search(_path(url).lower())
    return match[1] if match else None


def _path(url: str) -> str:
    return url.partition("#")[0].partition("?")[0]


def _tidy(text: str) -> str | None:
    """One blank between words, no empty lines, no blanks at the ends of lines."""
    lines: list[str] = []
    for line in text.translate(_CLEAN).split("\n"):
        tidy = _BLANKS.sub(" ", line).strip()
        if tidy:
            lines.append(tidy)
    return "\n".join(lines) or None


def _tidy_parts(parts: list[str]) -> str | None:
    lines: list[str] = []
    for line in "".join(parts).split("\n"):
        tidy = _BLANKS.sub(" ", line).strip().rstrip(_CODE_BLANK + _CODE_TAB)
        if tidy:
            lines.append(tidy)
    return "\n".join(lines).translate(_RESTORE_CODE) or None


def _attributes(source: str) -> dict[str, str]:
    return {name: decode(value) for name, value in tag_attributes(source).items()}


class _Reader:
    """Walks the tags once and collects text parts; one instance a text."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.pictures: dict[str, tuple[int, Media]] = {}
        self.mentions: list[dict[str, str]] = []
        self.video_ids: list[str] = []
        self.code_depth = 0
        self.dropping: str | None = None  # the element whose content is left out
        self.drop_depth = 0
        self.close_link: Callable[[], None] | None = None

    def read(self, markup: str) -> Content:
        position = 0
        for tag in _TAG.finditer(markup):
            if tag.start() > position and self.dropping is None:
                self.add_text(markup[position : tag.start()])
            position = tag.end()
            name = (tag["name"] or "").lower()
            if not name:
                continue
            if self.dropping is not None:
                self.skip(name, tag)
            elif tag["end"]:
                self.end(name)
            else:
                self.start(name, tag["attributes"])
        if position < len(markup) and self.dropping is None:
            self.add_text(markup[position:])
        return Content(
            text=_tidy_parts(self.parts),
            media=[media for _, media in self.pictures.values()],
            mentions=self.mentions,
            video_ids=unique(self.video_ids),
        )

    def add_text(self, text: str) -> None:
        text = decode(text).translate(_CLEAN)
        self.parts.append(text.translate(_KEEP_CODE) if self.code_depth else text)

    def drop(self, name: str) -> None:
        self.dropping, self.drop_depth = name, 1

    def skip(self, name: str, tag: re.Match[str]) -> None:
        """A tag inside a dropped element. A picture that only `noscript` has still counts."""
        if name == self.dropping:
            self.drop_depth += -1 if tag["end"] else 1
            if self.drop_depth == 0:
                self.dropping = None
        elif name == "img" and self.dropping == "noscript":
            self.add_picture(_attributes(tag["attributes"]))

    def start(self, name: str, source: str) -> None:
        if name in _BLOCKS:
            self.parts.append("\n")
            self.code_depth += name == "pre"
        elif name == "img":
            self.start_image(_attributes(source))
        elif name == "a":
            self.start_link(_attributes(source))
        elif name in _DROPPED:
            self.drop(name)
        elif name == "span" and "ztext-math" in source:
            self.add_formula(_attributes(source).get("data-tex", ""))
            self.drop(name)
        elif name in ("td", "th"):
            self.parts.append(" ")  # or the words of two cells would be one

    def end(self, name: str) -> None:
        if name in _BLOCKS:
            self.parts.append("\n")
            if name == "pre" and self.code_depth:
                self.code_depth -= 1
        elif name == "a" and self.close_link is not None:
            self.close_link()
            self.close_link = None

    def start_image(self, attributes: dict[str, str]) -> None:
        source = attributes.get("src", "")
        if "eeimg" not in attributes and "/equation?tex=" not in source:
            self.add_picture(attributes)
            return
        tex = attributes.get("alt") or parse_qs(urlsplit(source).query).get("tex", [""])[0]
        self.add_formula(tex)

    def start_link(self, attributes: dict[str, str]) -> None:
        classes = attributes.get("class", "").split()
        if "video-box" in classes:
            video_id = attributes.get("data-lens-id") or attributes.get("data-video-id")
            if video_id:
                self.video_ids.append(video_id)
            self.drop("a")
        elif "comment_img" in classes or "comment_gif" in classes:
            self.add_comment_picture(attributes)
            self.drop("a")
        elif attributes.get("data-draft-type") in ("link-card", "mcn-link-card"):
            self.parts.append("\n")
            self.close_link = self.link_card_closer(attributes.get("data-draft-title", ""))
        elif _MEMBER_PATH.search(attributes.get("href", "")):
            self.close_link = self.mention_closer(attributes)

    def link_card_closer(self, title: str) -> Callable[[], None]:
        """A card is a block of its own: its text, or its title where it has none."""
        begin = len(self.parts)

        def close() -> None:
            if not "".join(self.parts[begin:]).strip():
                self.parts.append(title.translate(_CLEAN))
            self.parts.append("\n")

        return close

    def mention_closer(self, attributes: dict[str, str]) -> Callable[[], None]:
        begin = len(self.parts)

        def close() -> None:
            name = "".join(self.parts[begin:]).strip()
            match = _MEMBER_PATH.search(attributes["href"])
            member_id = attributes.get("data-hash") or (match[1] if match else "")
            if name.startswith("@") and name != "@":
                self.mentions.append({"name": name[1:], "id": member_id})

        return close

    def add_formula(self, tex: str) -> None:
        tex = tex.strip().removesuffix("\\\\").strip()
        if tex:
            self.parts.append(f"${tex.translate(_CLEAN)}$")

    def add_picture(self, attributes: dict[str, str]) -> None:
        """Each picture once; a copy with a better address replaces one with a worse."""
        sources = [
            (rank, url)
            for rank, name in enumerate(_PICTURE_SOURCES)
            if (url := attributes.get(name, "")) and not url.startswith("data:")
        ]
        if not sources:
            return
        rank, url = sources[0]
        media = picture(
            url,
            width=attributes.get("data-rawwidth"),
            height=attributes.get("data-rawheight"),
        )
        if media is None:
            return
        token = picture_token(url)
        others = (other for _, other in sources[1:] if picture_token(other) == token)
        media.backup_urls = [other for other in unique(others) if other != url]
        known = self.pictures.get(token)
        if known is None or rank < known[0]:
            self.pictures[token] = (rank, media)

    def add_comment_picture(self, attributes: dict[str, str]) -> None:
        media = picture(
            attributes.get("href", ""),
            width=attributes.get("data-width"),
            height=attributes.get("data-height"),
        )
        if media is not None and media.url is not None:
            self.pictures.setdefault(picture_token(media.url), (0, media))
