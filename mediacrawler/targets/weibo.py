"""Weibo's ids and links: what a user may paste, and the canonical address of a record.

Pure functions over text. Knows nothing of requests, sessions and answers. Sections are those of
docs/platforms/weibo.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timezone
from urllib.parse import SplitResult, parse_qs, quote, unquote, urljoin, urlsplit

from mediacrawler.targets import Expected, Found, Target, scan, unique_targets

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_VALUE = {character: value for value, character in enumerate(_ALPHABET)}
_DIGITS_A_GROUP, _LETTERS_A_GROUP = 7, 4  # seven decimal digits fit into four base62 letters

_ID_EPOCH = 515_483_463  # unix seconds of id 0 (section 2.3)
_ID_DIGITS = 16  # only ids of 16 digits tell their time
_UNCONVERTIBLE_DIGITS = 17  # a legacy id whose bid belongs to another number (section 2.2)
_FIRST_ID_SECONDS, _LAST_ID_SECONDS = 1_250_000_000, 2_200_000_000  # 2009 to 2039

_MID = re.compile(r"\d{9,17}")
_BID = re.compile(r"(?!\d+\Z)[0-9A-Za-z]{5,12}")
_UID = re.compile(r"\d{5,11}")
_SURE_UID = re.compile(r"\d{10,11}")  # shorter numbers may be custom domains (section 2.4)
_DOMAIN = re.compile(r"[A-Za-z0-9_.-]{2,40}")
_OBJECT_ID = re.compile(r"\d{4}:[0-9A-Za-z]{16,40}")
_ARTICLE_ID = re.compile(r"(?:2309|1001)\d{6,36}")
_CREATOR_CONTAINER = re.compile(r"(?:100505|100306|107603|230283|230413|231567|107803)(\d{5,11})")

_NICK = r"[^\s/?#,，。！？、；：“”‘’（）()《》【】<>\"']+"
_URL_TEXT = r"[A-Za-z0-9\-._~:/?#\[\]@!$&'*+;=%|]"
_LINK = re.compile(
    r"(?<![A-Za-z0-9.@-])(?:https?:)?(?://)?"
    r"(?:(?:[a-z0-9-]+\.)*weibo\.(?:com|cn)|t\.cn)(?::\d+)?"
    # a comma ends a link, but for those of the app's share pages (/share/1,4645748019299849.html)
    rf"(?:/n/{_NICK}|/(?:{_URL_TEXT}|,(?=\d+\.html))*)",
    re.IGNORECASE,
)
_TRAILING = ".,;:!?'\"*|~&"
_MAX_WRAPPERS = 3  # a visitor page may wrap a visitor page; a longer chain is a trap

# First path parts of weibo.com and m.weibo.cn that are the site's own pages, not custom domains.
_SITE_PATH = re.compile(
    r"aj?|ajax|api|at|beta|c|comments?|detail|discover|fav|friends|home|hot|k|l|login(\.php)?|logout|"
    r"mentions|message|mygroups|n|newlogin|p|profile|s|search|set|settings|signup|sorry|sso|status|"
    r"statuses|story|topic|ttarticle|tv|u|visitor",
    re.IGNORECASE,
)
_CREATOR_TAB = re.compile(r"profile|home|album|photos|videos?|follow|fans|info|article|like")


# --------------------------------------------------------------------------------------------------
# ids (sections 2.1 to 2.3)


def mid_to_bid(mid: str) -> str | None:
    """The base62 form of a post id; None for text that is no id or must not be converted.

    Each seven digits from the right become four letters (section 2.2).
    """
    if not mid.isascii() or not mid.isdigit() or len(mid) >= _UNCONVERTIBLE_DIGITS:
        return None
    groups = _groups(mid, _DIGITS_A_GROUP)
    letters = [_base62(int(group)) for group in groups]
    return letters[0] + "".join(part.rjust(_LETTERS_A_GROUP, "0") for part in letters[1:])


def bid_to_mid(bid: str) -> str | None:
    """The decimal id behind a base62 one; None for text that cannot be one (section 2.2)."""
    if not bid or any(character not in _VALUE for character in bid):
        return None
    numbers = [_number(group) for group in _groups(bid, _LETTERS_A_GROUP)]
    if any(number >= 10**_DIGITS_A_GROUP for number in numbers):
        return None
    digits = "".join(str(number).rjust(_DIGITS_A_GROUP, "0") for number in numbers)
    return digits.lstrip("0") or None


def time_of(mid: str) -> datetime | None:
    """When a post or comment was written, by its id, to the second (section 2.3).

    None for legacy ids, which do not tell.
    """
    if len(mid) != _ID_DIGITS or not mid.isascii() or not mid.isdigit():
        return None
    return datetime.fromtimestamp((int(mid) >> 22) + _ID_EPOCH, timezone.utc)


def _groups(value: str, size: int) -> list[str]:
    """*value* cut from the right into parts of *size*, in reading order."""
    first = len(value) % size or size
    return [value[:first]] + [
        value[start : start + size] for start in range(first, len(value), size)
    ]


def _base62(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number, len(_ALPHABET))
        letters = _ALPHABET[rest] + letters
    return letters or "0"


def _number(letters: str) -> int:
    number = 0
    for character in letters:
        number = number * len(_ALPHABET) + _VALUE[character]
    return number


# --------------------------------------------------------------------------------------------------
# canonical addresses (section 2.4)


def post_url(post_id: str, bid: str | None = None, author_id: str | None = None) -> str:
    """The address of a post: the desktop form, or the mobile one where the author is unknown."""
    if author_id and bid:
        return f"https://weibo.com/{author_id}/{bid}"
    return f"https://m.weibo.cn/detail/{post_id}"


def creator_url(creator_id: str) -> str:
    """The address of a profile."""
    return f"https://weibo.com/u/{creator_id}"


# --------------------------------------------------------------------------------------------------
# what users paste (section 2.4)


def find(text: str, expected: Expected) -> Found:
    """The posts, creators and short links named in *text*.

    A post's `id` is its MID; its context holds ``bid`` and, where the link tells them,
    ``author_id`` or ``object`` ("article", whose id is the article's). A name or custom domain
    gives a "short_link" whose redirect names the creator; so does a video page without a post id,
    with the video's ``object_id`` in its context.
    """
    found = Found()
    for line in text.splitlines():
        read_bare = _BARE_READERS[expected]
        if expected == "creator" and _LINK.search(line):
            read_bare = _read_uid  # an @name beside a link is part of the share text
        part = scan(line, _LINK, _read_link, read_bare)
        found.targets.extend(part.targets)
        found.unknown.extend(part.unknown)
    found.targets = list(unique_targets(found.targets))
    return found


def resolve(location: str, expected: Expected) -> list[Target]:
    """The target of a short link's redirect: one, or none where it leads elsewhere.

    A visitor or login page gives the page that it was put in front of: the same short link again
    means that the session was refused.
    """
    target = _read_link(urljoin("https://m.weibo.cn/", location.strip()))
    return [target] if target else []


def _read_uid(word: str) -> Target | None:
    return Target("creator", word) if _UID.fullmatch(word) else None


def _read_uid_or_name(word: str) -> Target | None:
    return _named(word[1:]) if word[0] in "@＠" else _read_uid(word)


def _read_post_id(word: str) -> Target | None:
    return _post(word) if _MID.fullmatch(word) or _looks_like_bid(word) else None


_BARE_READERS = {"post": _read_post_id, "creator": _read_uid_or_name}


def _looks_like_bid(word: str) -> bool:
    """Words of a share text must not pass for a post: it has to tell a time, in mixed letters."""
    if not 9 <= len(word) <= 12 or not re.search(r".[0-9A-Z]", word) or word.isdigit():
        return False
    mid = bid_to_mid(word)
    written = time_of(mid) if mid else None
    return written is not None and _FIRST_ID_SECONDS < written.timestamp() < _LAST_ID_SECONDS


def _post(id_or_bid: str, author_id: str | None = None) -> Target | None:
    """A post by MID or BID; digits alone are always a MID (section 2.2)."""
    if _MID.fullmatch(id_or_bid):
        mid, bid = id_or_bid, mid_to_bid(id_or_bid)
    elif _BID.fullmatch(id_or_bid):
        converted, bid = bid_to_mid(id_or_bid), id_or_bid
        if converted is None:
            return None
        mid = converted
    else:
        return None
    known = {"bid": bid, "author_id": author_id if author_id and author_id != "0" else None}
    return Target("post", mid, tuple((key, value) for key, value in known.items() if value))


def _named(nick: str) -> Target | None:
    nick = nick.strip(_TRAILING)
    return Target("short_link", f"https://m.weibo.cn/n/{quote(nick)}") if nick else None


def _read_link(link: str, depth: int = 0) -> Target | None:
    url = _with_scheme(link.rstrip(_TRAILING))
    try:
        parts = urlsplit(url)
    except ValueError:  # a stray bracket
        return None
    host = (parts.hostname or "").removeprefix("www.")
    if host == "t.cn":
        return Target("short_link", url) if parts.path.strip("/") else None
    if host.startswith(("passport.", "visitor.passport.", "login.")):
        return _read_wrapped(parts, depth)
    if parts.path.startswith("/sinaurl"):
        return _read_wrapped(parts, depth)
    reader = _READERS.get(host)
    segments = [unquote(part) for part in parts.path.split("/") if part]
    return reader(parts, segments) if reader else None


def _with_scheme(link: str) -> str:
    if link.lower().startswith(("http://", "https://")):
        return link
    return "https://" + link.lstrip("/")


def _query(parts: SplitResult, key: str) -> str:
    return next(iter(parse_qs(parts.query).get(key, [])), "")


def _read_wrapped(parts: SplitResult, depth: int) -> Target | None:
    """The page that a visitor or login page was put in front of."""
    for key in ("url", "return_url", "u", "r"):
        inner = _query(parts, key)
        if inner and depth < _MAX_WRAPPERS:
            return _read_link(inner, depth + 1)
    return None


def _read_weibo(parts: SplitResult, path: list[str]) -> Target | None:
    """weibo.com and m.weibo.cn, which share most forms."""
    if not path:
        return None
    head, rest = path[0], path[1:]
    if head in ("detail", "status", "comment") and rest:
        return _post(rest[0])
    if head in ("statuses", "ajax", "api"):
        return _post(_query(parts, "id")) or _container(parts)
    if head in ("u", "profile") and rest:
        return Target("creator", rest[0]) if _UID.fullmatch(rest[0]) else None
    if head == "n" and rest:
        return _named(rest[0])
    if head == "p" and rest:
        match = _CREATOR_CONTAINER.match(rest[0])
        return Target("creator", match[1]) if match else _container(parts)
    if head in ("tv", "s"):
        return _read_video(parts, path)
    if head == "ttarticle":
        return _article(_query(parts, "id") or parts.fragment.rpartition("id=")[2])
    if _SITE_PATH.fullmatch(head):
        return None
    return _read_user_path(head, rest)


def _read_user_path(head: str, rest: list[str]) -> Target | None:
    """``/UID``, ``/UID/BID``, ``/UID/profile`` and the same with a custom domain."""
    if rest and not _CREATOR_TAB.fullmatch(rest[0]):
        if head.isdigit():
            return _post(rest[0], head)
        return _post(rest[0]) if _looks_like_bid(rest[0]) else None
    if _SURE_UID.fullmatch(head):
        return Target("creator", head)
    if _DOMAIN.fullmatch(head) and head != "0":
        return Target("short_link", f"https://m.weibo.cn/{head}?&jumpfrom=weibocom")
    return None


def _container(parts: SplitResult) -> Target | None:
    match = _CREATOR_CONTAINER.match(_query(parts, "containerid"))
    return Target("creator", match[1]) if match else None


def _read_video(parts: SplitResult, path: list[str]) -> Target | None:
    """A video page: its post where the link tells it, else the page to be asked for it."""
    named = _post(_query(parts, "mid")) if _query(parts, "mid") else None
    if named is not None:
        return named
    if path[:2] == ["tv", "v"] and len(path) > 2 and _looks_like_bid(path[2]):
        return _post(path[2])
    candidates = [*path, _query(parts, "fid"), _query(parts, "object_id")]
    oid = next((part for part in candidates if _OBJECT_ID.fullmatch(part)), None)
    if oid is None:
        return None
    return Target("short_link", f"https://weibo.com/tv/show/{oid}", (("object_id", oid),))


def _article(article_id: str) -> Target | None:
    match = _ARTICLE_ID.match(article_id)
    return Target("post", match[0], (("object", "article"),)) if match else None


def _read_card(parts: SplitResult, path: list[str]) -> Target | None:
    return _article(path[-1]) or _article(_query(parts, "id")) if path else None


def _read_share(parts: SplitResult, path: list[str]) -> Target | None:
    if _query(parts, "weibo_id"):
        return _post(_query(parts, "weibo_id"))
    return Target("short_link", parts.geturl()) if len(path) > 1 else None


_READERS: dict[str, Callable[[SplitResult, list[str]], Target | None]] = {
    "weibo.com": _read_weibo,
    "m.weibo.cn": _read_weibo,
    "m.weibo.com": _read_weibo,
    "weibo.cn": _read_weibo,
    "video.weibo.com": _read_video,
    "h5.video.weibo.com": _read_video,
    "card.weibo.com": _read_card,
    "mapp.api.weibo.cn": _read_share,
    "share.api.weibo.cn": _read_share,
}
