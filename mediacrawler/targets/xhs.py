"""What a user pastes for XHS: note and creator ids, links, share texts, short links.

Pure functions; facts: docs/platforms/xhs.md, section 2. Nothing here follows a link.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote

from mediacrawler.targets import Expected, Found, Target, scan

_ID = r"([0-9a-f]{24})(?![0-9A-Za-z])"
_NOTE_PATH = re.compile(
    rf"/(?:explore|discovery/item|search_result|note|user/profile/[0-9a-f]{{24}})/{_ID}"
)
_CREATOR_PATH = re.compile(rf"/user/profile/{_ID}")
_BARE_ID = re.compile(r"[^0-9A-Za-z]*([0-9a-f]{24})[^0-9A-Za-z]*")  # punctuation glued on

_SHORT_LINK = r"(?:https?://)?xhslink\.(?:com|cn)/(?:[a-z]/)?[0-9A-Za-z]+"
_SITE_LINK = (
    r"(?:https?://)?(?:www\.)?(?:xiaohongshu|rednote)\.com/"
    r"[\w\-./?=&%+:;~@!$*#|]*"  # up to a blank, a comma, a bracket or Chinese text
)
_LINK = re.compile(rf"(?<![\w.-])(?:{_SHORT_LINK}|{_SITE_LINK})", re.ASCII | re.IGNORECASE)
_TOKEN = re.compile(r"[\w=-]+", re.ASCII)


def find(text: str, expected: Expected) -> Found:
    """All notes, creators and short links of *text*, in order; *expected* is what ids are.

    The context of a target can hold `xsec_token`, `xsec_source` and `region` ("rednote" for
    links of the international twin).
    """

    def read_bare(word: str) -> Target | None:
        match = _BARE_ID.fullmatch(word)
        return Target(expected, match[1]) if match else None

    return scan(text, _LINK, _read_link, read_bare)


def resolve(location: str, expected: Expected) -> list[Target]:
    """Where a short link leads: the target that its Location header names, or nothing (2.2).

    Login and "not viewable" pages name what was wanted in their redirectPath. A further short
    link is a target too. Links say what they lead to, so *expected* changes nothing.
    """
    target = _read_link(location) if _LINK.match(location) else None
    return [] if target is None else [target]


def _read_link(link: str) -> Target | None:
    if "://" not in link:
        link = "https://" + link
    address, _, query_text = link.replace("&amp;", "&").partition("?")
    if "//xhslink." in address.lower():
        return Target("short_link", address)
    query = dict(parse_qsl(query_text))
    wanted, _, its_query = _unquoted(query.get("redirectPath", "")).partition("?")
    query |= parse_qsl(its_query)
    for place in (address, wanted):
        if match := _NOTE_PATH.search(place):
            return Target("post", match[1], _context(query, address))
        if match := _CREATOR_PATH.search(place):
            return Target("creator", match[1], _context(query, address))
    return None


def _context(query: dict[str, str], address: str) -> tuple[tuple[str, str], ...]:
    """What a link knows besides the id; all its tracking parameters are dropped."""
    context = []
    for key in ("xsec_token", "xsec_source"):
        if match := _TOKEN.match(_unquoted(query.get(key, ""))):
            context.append((key, match[0]))
    if "rednote.com" in address.lower():
        context.append(("region", "rednote"))
    return tuple(context)


def _unquoted(value: str) -> str:
    """Without percent-escapes, of which there can be several layers."""
    for _ in range(3):
        value = unquote(value)
    return value
