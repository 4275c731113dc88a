"""Zhihu links and ids: what a user pastes becomes a post or a creator; and how both are written.

Pure functions; must not know requests, sessions or answers. Sections are those of
docs/platforms/zhihu.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, unquote, urlsplit

from mediacrawler.targets import SEPARATORS, Expected, Found, Target, scan, unique_targets

CONTENT_TYPES = ("answer", "article", "pin", "zvideo", "question")
"""The kinds of posts. Each numbers its own: a post is known by its kind **and** id (2.1)."""

# --- 2.2: every form of a link ---------------------------------------------------------------

# A comma is allowed in a URL, but here it separates links; anything that is not ASCII ends one.
_LINK = re.compile(
    r"(?<![a-z0-9_.@-])(?:https?:)?(?://)?(?:[a-z0-9-]+\.)*zhihu\.com(?::[0-9]+)?(?![a-z0-9_.@:-])"
    r"[a-z0-9\-._~:/?#\[\]@!$&'()*+;=%|]*"
    r"|(?<![a-z0-9_.@-])zhihu://[a-z0-9\-._~:/?#&=%]+",
    re.IGNORECASE,
)
_TRAILING = ".;:!?)]'*"
_DIGITS = re.compile(r"[0-9]{1,20}")
_TOKEN = re.compile(r"[A-Za-z0-9._-]+")
_HEX_ID = re.compile(r"[0-9a-fA-F]{32}")
_PREFIXED = re.compile(r"(answer|article|pin|zvideo|question)[:：]([0-9]{1,20})", re.IGNORECASE)

_KINDS = {
    "answer": "answer",
    "answers": "answer",
    "ans": "answer",
    "article": "article",
    "articles": "article",
    "art": "article",
    "p": "article",
    "pin": "pin",
    "pins": "pin",
    "zvideo": "zvideo",
    "zvideos": "zvideo",
    "question": "question",
    "questions": "question",
    "qus": "question",
}
_CREATOR_WORDS = frozenset({"people", "org", "members"})
_PAID_HOST = "story.zhihu.com"  # sections of paid columns in scrambled fonts: nothing to read
# What stands before the part that names the thing: in-app pages and the API.
_PREFIX_WORDS = frozenset({"appview", "mobile", "aria", "api", "v2", "v3", "v4"})


def find(text: str, expected: Expected) -> Found:
    """The posts and creators in *text*: links of section 2.2, share texts, ids.

    A post's `context` has ``content_type`` (one of :data:`CONTENT_TYPES`) and, for an answer
    whose link tells it, ``question_id``. Bare digits are refused because they do not tell the
    kind; ``answer:123`` does. A bare token or 32 hex digits are a creator where one is
    expected.
    """
    found = Found()
    for line in text.splitlines():
        part = scan(line, _LINK, _read_link, _bare_reader(line, expected))
        found.targets.extend(part.targets)
        found.unknown.extend(part.unknown)
    found.targets = [_plain(target) for target in unique_targets(found.targets)]
    return found


def resolve(location: str, expected: Expected) -> list[Target]:
    """The targets that a redirect leads to. Zhihu has no short links, so: those in its URL."""
    return find(location, expected).targets


def post_url(content_type: str, post_id: str, question_id: str | None = None) -> str:
    """The page of a post, in the one form that is stored (section 2.2).

    :raises ValueError: *content_type* is none of :data:`CONTENT_TYPES`.
    """
    if content_type not in CONTENT_TYPES:
        raise ValueError(f"'{content_type}' is no kind of post")
    if content_type == "article":
        return f"https://zhuanlan.zhihu.com/p/{post_id}"
    if content_type == "answer" and question_id:
        return f"https://www.zhihu.com/question/{question_id}/answer/{post_id}"
    return f"https://www.zhihu.com/{content_type}/{post_id}"


def creator_url(token: str, kind: str = "people") -> str:
    """The page of a member by `url_token` or id; *kind* is ``people`` or ``org``."""
    return f"https://www.zhihu.com/{kind}/{token}"


# --- reading -----------------------------------------------------------------------------------


def _post(content_type: str, post_id: str, question_id: str | None = None) -> Target:
    """A post whose id still carries its kind, so that answer 1 and article 1 stay two."""
    context = [("content_type", content_type)]
    if question_id:
        context.append(("question_id", question_id))
    return Target("post", f"{content_type}:{post_id}", tuple(context))


def _plain(target: Target) -> Target:
    if target.kind != "post":
        return target
    return Target(target.kind, target.id.partition(":")[2], target.context)


def _read_link(link: str) -> Target | None:
    link = link.rstrip(_TRAILING)
    if link.lower().startswith("zhihu://"):
        path = link[len("zhihu://") :].partition("?")[0].partition("#")[0]
        return _read_path(_segments(path))
    url = urlsplit(link if "//" in link[:8] else "//" + link)
    host = url.netloc.lower().partition(":")[0]
    if host == "link.zhihu.com":
        wrapped = parse_qs(url.query).get("target", [""])[0]  # decodes it once
        match = _LINK.match(wrapped)
        return _read_link(match[0]) if match else None
    return None if host == _PAID_HOST else _read_path(_segments(url.path))


def _segments(path: str) -> list[str]:
    return [unquote(segment) for segment in path.split("/") if segment]


def _read_path(segments: list[str]) -> Target | None:
    """Segment by segment: a trailing slash, a tab of a page, an API prefix do not matter."""
    while segments and segments[0].lower() in _PREFIX_WORDS:
        segments = segments[1:]
    if segments and segments[0].lower() == "tardis":
        segments = segments[2:]
    if len(segments) < 2:
        return None
    word, name = segments[0].lower(), segments[1]
    if word in _CREATOR_WORDS:
        return Target("creator", name) if _TOKEN.fullmatch(name) else None
    content_type = _KINDS.get(word)
    if content_type is None or not _DIGITS.fullmatch(name):
        return None
    if (
        content_type == "question"
        and len(segments) > 3
        and segments[2].lower() in ("answer", "answers")
        and _DIGITS.fullmatch(segments[3])
    ):
        return _post("answer", segments[3], name)
    return _post(content_type, name)


def _bare_reader(line: str, expected: Expected) -> Callable[[str], Target | None]:
    """How the words of *line* that are no links are read.

    Around a link they are the share text that it was pasted with, unless links and tokens
    make up a list.
    """
    if expected == "post":
        return _read_bare_post
    pieces = [piece.strip() for piece in re.split(f"[{SEPARATORS}]", line)]
    is_list = all(_TOKEN.fullmatch(piece) or _LINK.fullmatch(piece) for piece in pieces if piece)
    if is_list or not _LINK.search(line):
        return _read_bare_creator
    return _read_nothing


def _read_bare_post(word: str) -> Target | None:
    match = _PREFIXED.fullmatch(word)
    return _post(match[1].lower(), match[2]) if match else None


def _read_bare_creator(word: str) -> Target | None:
    if _HEX_ID.fullmatch(word):
        return Target("creator", word.lower())
    return Target("creator", word) if _TOKEN.fullmatch(word) else _read_bare_post(word)


def _read_nothing(word: str) -> Target | None:
    return None
