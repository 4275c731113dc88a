"""Bilibili links and ids: what a user pastes becomes a video, a post, a creator or a short link.

Pure functions; it must not know requests, sessions or answers. Section numbers are those of
docs/platforms/bilibili.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from mediacrawler.targets import SEPARATORS, Expected, Found, Target, scan, unique_targets

# --- 2.1: aid and bvid are two names of one number ------------------------------------------

_XOR = 23442827791579
_MAX = 1 << 51
_ALPHABET = "FcwAPNKTMug3GV5Lj7EJnHpWsx4tb8haYeviqBz6rkCy12mUSDQX9RdoZf"
_DIGIT = {letter: value for value, letter in enumerate(_ALPHABET)}
_BVID = re.compile(r"[Bb][Vv]1([1-9A-HJ-NP-Za-km-z]{9})")


def aid_to_bvid(aid: int) -> str:
    """The bvid of video number *aid* (section 2.1).

    Arithmetic only: a number that is no aid (of a course, of an episode) gives a well-formed
    bvid of nothing.

    :raises ValueError: not between 1 and 2**51 - 1.
    """
    if not 0 < aid < _MAX:
        raise ValueError(f"{aid} is no aid: they lie between 1 and 2**51 - 1")
    number = (_MAX | aid) ^ _XOR
    letters: list[str] = []
    for _ in range(9):  # bit 51 is set, so nine digits of base 58 it always is
        number, digit = divmod(number, 58)
        letters.append(_ALPHABET[digit])
    return "BV1" + _seats_changed("".join(reversed(letters)))


def bvid_to_aid(bvid: str) -> int:
    """The video number of *bvid* (section 2.1); its prefix may be of any case.

    :raises ValueError: not the form of a bvid.
    """
    match = _BVID.fullmatch(bvid)
    if match is None:
        raise ValueError(f"'{bvid}' is no bvid: they are BV1 and 9 letters or digits")
    number = 0
    for letter in _seats_changed(match[1]):
        number = number * 58 + _DIGIT[letter]
    return (number & (_MAX - 1)) ^ _XOR


def _seats_changed(nine: str) -> str:
    """Characters 3 and 9, and 4 and 7, of the whole bvid exchanged (counted from 0)."""
    return nine[6] + nine[4] + nine[2:4] + nine[1] + nine[5] + nine[0] + nine[7:]


# --- 2.3: addresses -------------------------------------------------------------------------


def post_url(post_id: str) -> str:
    """The address of a video (bvid), an article (``cv...``) or another post (digits)."""
    if _BVID.fullmatch(post_id):
        return f"https://www.bilibili.com/video/{post_id}"
    if post_id.startswith("cv"):
        return f"https://www.bilibili.com/read/{post_id}"
    return f"https://www.bilibili.com/opus/{post_id}"


def creator_url(mid: str) -> str:
    """The address of the creator with account number *mid*."""
    return f"https://space.bilibili.com/{mid}"


_SHORT_HOSTS = frozenset({"b23.tv", "bili2233.cn", "bili22.cn", "bili23.cn", "bili33.cn"})
_LINK = re.compile(
    r"(?<![A-Za-z0-9_.@-])(?:https?:)?(?://)?"
    r"(?:(?:[a-z0-9-]+\.)*bilibili\.com|b23\.tv|bili(?:2233|22|23|33)\.cn)"
    r"(?![A-Za-z0-9-]|\.[A-Za-z0-9])"
    # letters of an address only: full-width punctuation and other text may follow directly
    r"(?::\d+)?(?:[/?#][A-Za-z0-9\-._~:/?#@!$&*+=%]*)?",
    re.IGNORECASE,
)
_BARE_BVID = re.compile(r"(?<![A-Za-z0-9])[Bb][Vv]1[1-9A-HJ-NP-Za-km-z]{9}(?![A-Za-z0-9])")
_BARE_AID = re.compile(r"(?<![A-Za-z0-9])av(\d{1,16})(?![A-Za-z0-9])", re.IGNORECASE)
_BARE_ARTICLE = re.compile(r"(?<![A-Za-z0-9])cv(\d{1,16})(?![A-Za-z0-9])", re.IGNORECASE)
_BARE_MID = re.compile(r"(?:uid[:：]?)?(\d{1,16})", re.IGNORECASE)
_DYNAMIC_PATH = re.compile(r"(?:/h5/dynamic/detail)?/(\d{5,20})(?:/|$)")
_VIDEO_PATH = re.compile(r"/(?:s/)?video/([^/]+)", re.IGNORECASE)
_OPUS_PATH = re.compile(r"/(?:opus|dynamic)/(\d{5,20})(?:/|$)")
_ARTICLE_PATH = re.compile(r"/read/(?:cv|mobile/)(\d{1,16})(?:/|$)", re.IGNORECASE)
_CREATOR_PATH = re.compile(r"/space/(\d{1,16})(?:/|$)")


def find(text: str, expected: Expected) -> Found:
    """The videos, posts, creators and short links of *text* (section 2.3).

    A video is a Target "post" with its bvid, whatever the link called it, and ``kind`` video
    in the context (``p``: the part that the link opens); other posts carry ``kind`` opus or
    article. Words beside a link are the share text around it unless every one of them is an
    id. Series and courses are not understood: they are outside the flow of videos.
    """
    found = Found()
    for line in text.replace("&amp;", "&").splitlines():
        in_line = scan(line, _LINK, _read_link, _bare_reader(line, expected))
        found.targets.extend(in_line.targets)
        found.unknown.extend(in_line.unknown)
    found.targets = list(unique_targets(found.targets))
    return found


def resolve(location: str, expected: Expected) -> list[Target]:
    """What the Location of a short link names (section 2.4); a foreign host gives nothing.

    *expected* is not needed here: a link tells what it is.
    """
    match = _LINK.match(location.strip())
    target = _read_link(match[0]) if match else None
    return [target] if target else []


def _bare_reader(line: str, expected: Expected) -> Callable[[str], Target | None]:
    """The reader of the words of *line* that are no links."""

    def read(word: str) -> Target | None:
        return _read_bare(word, expected)

    words = re.split(rf"[{SEPARATORS}\s]+", _LINK.sub(" ", line))
    if _LINK.search(line) and not all(map(read, filter(None, words))):
        return lambda word: None  # a title around the link; its numbers are nobody's
    return read


def _read_bare(word: str, expected: Expected) -> Target | None:
    if "://" in word:
        return None  # a foreign link
    if match := _BARE_BVID.search(word):
        return _video(match[0])
    if match := _BARE_AID.search(word):
        return _video(match[0])
    if match := _BARE_ARTICLE.search(word):
        return _article(match[1])
    match = _BARE_MID.fullmatch(word)
    # a bare number is somebody's account only where accounts are asked for (section 2.3)
    if match and (expected == "creator" or not word.isdecimal()):
        return Target("creator", match[1])
    return None


def _read_link(link: str) -> Target | None:
    link = link.rstrip(".:!?*")
    address = urlsplit("https://" + re.sub(r"^(?:https?:)?(?://)?", "", link, flags=re.IGNORECASE))
    host = (address.hostname or "").lower()
    if host in _SHORT_HOSTS:
        return _read_short(host, unquote(address.path).strip("/"))
    return _read_long(host, address)


def _read_short(host: str, code: str) -> Target | None:
    """``b23.tv/BV...`` needs no request; any other code has to be followed (section 2.4)."""
    if re.fullmatch(r"(?:ep|ss|md)\d+", code, re.IGNORECASE):
        return None
    if _BVID.fullmatch(code) or _BARE_AID.fullmatch(code):
        return _video(code)
    if match := _BARE_ARTICLE.fullmatch(code):
        return _article(match[1])
    if re.fullmatch(r"[A-Za-z0-9_-]{4,16}", code):
        return Target("short_link", f"https://{host}/{code}")
    return None


def _read_long(host: str, address: SplitResult) -> Target | None:
    path = unquote(address.path)
    query = {name: values[0] for name, values in parse_qs(address.query).items()}
    if host == "space.bilibili.com":
        mid = path.strip("/").split("/")[0]
        return Target("creator", mid) if _is_number(mid) else None
    if host == "t.bilibili.com":
        match = _DYNAMIC_PATH.match(path)
        return _opus(match[1]) if match else None
    if match := _VIDEO_PATH.match(path):
        return _video(match[1], query.get("p"))
    if match := _OPUS_PATH.match(path):
        return _opus(match[1])
    if match := _ARTICLE_PATH.match(path):
        return _article(match[1])
    if path.startswith("/read/mobile") and _is_number(query.get("id", "")):
        return _article(query["id"])
    if match := _CREATOR_PATH.match(path):
        return Target("creator", match[1])
    # event pages, lists and players name the video in the query
    if "bvid" in query:
        return _video(query["bvid"], query.get("p"))
    if host == "player.bilibili.com" and _is_number(query.get("aid", "")):
        return _video("av" + query["aid"], query.get("p"))
    return None


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdecimal() and len(value) <= 16


def _video(name: str, part: str | None = None) -> Target | None:
    """The video that is called *name* (``BV...`` or ``av...``), None if nothing can be."""
    context = [("kind", "video")]
    if part and _is_number(part):
        context.append(("p", part))
    if _BVID.fullmatch(name):
        return Target("post", "BV" + name[2:], tuple(context))
    match = _BARE_AID.fullmatch(name)
    if match is None:
        return None
    try:
        return Target("post", aid_to_bvid(int(match[1])), tuple(context))
    except ValueError:
        return None


def _opus(opus_id: str) -> Target:
    return Target("post", opus_id, (("kind", "opus"),))


def _article(number: str) -> Target:
    """An article by its old number; the opus number is asked for later (section 3.12)."""
    return Target("post", f"cv{number}", (("kind", "article"),))
