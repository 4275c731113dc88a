"""Small readers for what platforms write into JSON: counts, times, texts, nested keys, rows.

The one place where platform JSON is read defensively: a missing key becomes None. What an
answer cannot do without is read by :func:`dig` and its kin, where a value of the wrong type is
an :class:`~mediacrawler.exceptions.UnexpectedResponse`; the readers of single values take such
a value as not told, so that one odd field loses no record. Must not know platforms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from mediacrawler.exceptions import UnexpectedResponse
from mediacrawler.pages import Body

_Row = TypeVar("_Row")
_HTML_BYTES = re.compile(rb"(?:\xef\xbb\xbf)?\s*<")
_HTML_TEXT = re.compile(r"\ufeff?\s*<")
_DECODER = json.JSONDecoder(strict=False)
_UNITS = {"": 1, "千": 10**3, "k": 10**3, "万": 10**4, "w": 10**4, "亿": 10**8}
_COUNT = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s*([千k万w亿]?)\+?")
_PLACE_PREFIX = re.compile(r"^(?:IP\s*属地|发布于|来自)[\s:：]*", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([a-zA-Z][\w:.-]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
_LARGEST_COUNT = 2**63 - 1  # what databases keep as a whole number
_SECONDS_BELOW = 10**11  # a later value can only be milliseconds (it would be the year 5138)


def decode_text(body: bytes | str) -> str:
    """The text of *body*; bytes that are no UTF-8 cost only themselves."""
    return body.decode("utf-8", "replace") if isinstance(body, bytes) else body


def is_html(body: bytes | str) -> bool:
    """Whether *body* is a page, by its first character."""
    if isinstance(body, bytes):
        return _HTML_BYTES.match(body) is not None
    return _HTML_TEXT.match(body) is not None


def page_text(body: Body) -> str | None:
    """The text of a page; None for JSON, decoded or not."""
    return None if isinstance(body, dict) or not is_html(body) else decode_text(body)


def decode_json(body: bytes | str) -> Any:
    """The JSON value of *body*; raw control characters in strings are let through.

    :raises UnexpectedResponse: empty, cut or no JSON at all (transient: ask again).
    """
    try:
        return json.loads(body, strict=False)
    except (ValueError, RecursionError):
        pass
    if not body.strip():
        raise UnexpectedResponse("empty answer")
    raise UnexpectedResponse(f"answer of {len(body)} characters is not (whole) JSON")


def decode_object(body: Body) -> dict[str, Any]:
    """Like :func:`decode_json`, for an answer that is an object, decoded already or not."""
    answer = body if isinstance(body, dict) else decode_json(body)
    if not isinstance(answer, dict):
        raise UnexpectedResponse(f"answer is {type(answer).__name__}, expected an object")
    return answer


def decode_json_at(page: str, start: int) -> Any:
    """The JSON value that begins at *start* of a page, whatever follows it.

    A decoder has to find its end: the texts inside may hold any sign that seems to end it.

    :raises UnexpectedResponse: cut, or no JSON.
    """
    try:
        return _DECODER.raw_decode(page, start)[0]
    except (ValueError, RecursionError):
        raise UnexpectedResponse("the data in the page is not (whole) JSON") from None


def dig(value: Any, path: str) -> Any:
    """The value at a dotted *path* of keys and list indexes (``"data.items.0.id"``).

    Gives None where a key or index is missing or a parent is null.

    :raises UnexpectedResponse: a parent is neither object, list nor null.
    """
    walked: list[str] = []
    for key in path.split("."):
        if value is None:
            return None
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdigit():
            value = value[int(key)] if int(key) < len(value) else None
        else:
            raise UnexpectedResponse(
                f"'{'.'.join(walked) or 'answer'}' is {type(value).__name__}, expected an object"
            )
        walked.append(key)
    return value


def dig_dict(value: Any, path: str) -> dict[str, Any]:
    """Like :func:`dig`, for an object; missing or null gives ``{}``."""
    found = dig(value, path)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise UnexpectedResponse(f"'{path}' is {type(found).__name__}, expected an object")
    return found


def dig_list(value: Any, path: str) -> list[Any]:
    """Like :func:`dig`, for a list; missing or null gives ``[]``."""
    found = dig(value, path)
    if found is None:
        return []
    if not isinstance(found, list):
        raise UnexpectedResponse(f"'{path}' is {type(found).__name__}, expected a list")
    return found


def as_dict(value: Any) -> dict[str, Any]:
    """An object; ``{}`` for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """A list; ``[]`` for anything else."""
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str | None:
    """Text without blanks at both ends; line breaks and emoji kept; blank is not told.

    Whole numbers become their digits (identifiers arrive as either); anything else is not told.
    """
    if isinstance(value, str):
        return value.strip() or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def as_flag(value: Any) -> bool:
    """Whether the platform says yes: true, 1, or one of them as text."""
    return value in (True, "true", "1")


def as_seconds(value: Any) -> float | None:
    """A length in seconds, also as digits; 0 and what can be none are not told."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 < number < 1e9 else None


def count(value: Any) -> int | None:
    """A number as platforms show it: 1234, "1,234", "1.2万", "3千", "10万+", "1.1亿", "2w", "5k".

    Missing, blank and anything else that is not a count ("赞", "-") give None: a caption
    instead of a number means that the platform does not say. So do negative numbers, and those
    that are too large to count anything (JSON may hold 1e999).
    """
    if isinstance(value, str):
        match = _COUNT.fullmatch(value.strip().lower())
        if match is None:
            return None
        # Decimal: 1.1万 is 11000, not 11000.000000000002
        number: Any = Decimal(match[1].replace(",", "")) * _UNITS[match[2]]
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        number = value
    else:
        return None
    return int(number) if 0 <= number <= _LARGEST_COUNT else None


def timestamp(value: Any) -> datetime | None:
    """An aware UTC time from unix seconds or milliseconds (number or digits).

    0, what is no number, and what lies beyond the year 9999 are not told.
    """
    if isinstance(value, bool):
        return None
    try:
        number = int(value)
        if number <= 0:
            return None
        if number < _SECONDS_BELOW:
            return datetime.fromtimestamp(number, timezone.utc)
        seconds, milliseconds = divmod(number, 1000)
        moment = datetime.fromtimestamp(seconds, timezone.utc)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return moment.replace(microsecond=milliseconds * 1000)


def retry_after(value: str | None, *, now: float) -> float | None:
    """Seconds to wait from a Retry-After header: a number of seconds or an HTTP-date.

    *now* is the present as unix time. A date in the past gives 0; anything else gives None.
    """
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, moment.timestamp() - now)


def unique(values: Any) -> list[Any]:
    """The values in order, each once."""
    return list(dict.fromkeys(values))


def first_known(*values: _Row | None) -> _Row | None:
    """The first value that is told; 0 is."""
    return next((value for value in values if value is not None), None)


def present(**facts: Any) -> dict[str, Any]:
    """The facts that say something, for ``extra``: no None, no "", no empty lists, no False."""
    return {
        name: value
        for name, value in facts.items()
        if value is not None and value is not False and value not in ("", [], {})
    }


def read_rows(
    rows: Iterable[Any], read: Callable[[dict[str, Any]], _Row | None]
) -> tuple[list[_Row], int]:
    """What *read* makes of the rows, and how many of them cannot be read: one loses no other.

    Those are rows that are no objects, and those of which *read* gives None or raises
    UnexpectedResponse. Rows that are no records (adverts) have to be left out before.
    """
    found: list[_Row] = []
    unreadable = 0
    for row in rows:
        try:
            record = read(row) if isinstance(row, dict) else None
        except UnexpectedResponse:
            record = None
        if record is None:
            unreadable += 1
        else:
            found.append(record)
    return found, unreadable


def with_scheme(url: str) -> str:
    """An address that begins with ``//`` made whole; any other as it is."""
    return f"https:{url}" if url.startswith("//") else url


def https(url: str) -> str:
    """An address made whole, and asked for by https where it says http."""
    whole = with_scheme(url)
    return f"https://{whole[7:]}" if whole.startswith("http://") else whole


def place_of(value: Any) -> str | None:
    """The place in "IP属地：北京", "发布于 北京", "来自北京"."""
    found = as_text(value)
    return (_PLACE_PREFIX.sub("", found).strip() or None) if found else None


def tag_attributes(source: str) -> dict[str, str]:
    """The attributes of an HTML tag, entities as they are; one without a value has ""."""
    return {
        match[1].lower(): match[2] or match[3] or match[4] or ""
        for match in _ATTRIBUTE.finditer(source)
    }
