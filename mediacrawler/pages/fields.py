"""Small readers for what platforms write into JSON: counts, times, texts, nested keys.

The one place where platform JSON is read defensively: a missing key becomes None, a value of
the wrong type becomes :class:`~mediacrawler.exceptions.UnexpectedResponse` naming its path.
"""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any

from mediacrawler.exceptions import UnexpectedResponse

_UNITS = {"": 1, "千": 10**3, "k": 10**3, "万": 10**4, "w": 10**4, "亿": 10**8}
_COUNT = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s*([千k万w亿]?)\+?")
_SECONDS_BELOW = 10**11  # a later value can only be milliseconds (it would be the year 5138)


def decode_json(body: bytes | str) -> Any:
    """The JSON value of *body*; raw control characters in strings are let through.

    :raises UnexpectedResponse: empty, cut or no JSON at all (transient: ask again).
    """
    try:
        return json.loads(body, strict=False)
    except ValueError:
        pass
    if not body.strip():
        raise UnexpectedResponse("empty answer")
    raise UnexpectedResponse(f"answer of {len(body)} characters is not (whole) JSON")


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


def text(value: Any) -> str | None:
    """Text without blanks at both ends; line breaks and emoji kept; blank gives None.

    Numbers become their digits (identifiers arrive as either).

    :raises UnexpectedResponse: an object, a list or a boolean.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise UnexpectedResponse(f"expected text, got {type(value).__name__}")


def count(value: Any) -> int | None:
    """A number as platforms show it: 1234, "1,234", "1.2万", "3千", "10万+", "1.1亿", "2w", "5k".

    Missing, blank and anything else that is not a count ("赞", "-") give None: a caption
    instead of a number means that the platform does not say. Negative numbers too.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if value >= 0 else None
    if isinstance(value, float):
        return int(value) if 0 <= value < float("inf") else None  # JSON may hold 1e999
    if not isinstance(value, str):
        return None
    match = _COUNT.fullmatch(value.strip().lower())
    if match is None:
        return None
    # Decimal: 1.1万 is 11000, not 11000.000000000002
    return int(Decimal(match[1].replace(",", "")) * _UNITS[match[2]])


def timestamp(value: Any) -> datetime | None:
    """An aware UTC time from unix seconds or milliseconds (number or digits); 0 gives None.

    :raises UnexpectedResponse: not a number, or beyond the year 9999.
    """
    if value is None or value == "":
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
        raise UnexpectedResponse(f"expected a unix time, got {value!r:.40}") from None
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
