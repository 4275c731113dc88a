"""How Weibo writes single values: ids, counts, places, addresses, and times in a dozen styles.

Inside a record a value of a wrong type reads as "not said": one odd field must not lose the
record, nor one odd record its page. Must not know posts, comments or refusals. Sections are those
of docs/platforms/weibo.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from math import isfinite
from typing import Any

from mediacrawler.pages.fields import as_text, count, https, place_of
from mediacrawler.targets.weibo import time_of

SHANGHAI = timezone(timedelta(hours=8))
"""The zone of every clock time without one (section 1.6); China has no summer time."""


_DIGITS = re.compile(r"-?[0-9]{1,30}")


def as_items(value: Any) -> list[Any]:
    """The elements of a list, or of an object that stands for one ({"0": ...}, section 5.3)."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return [value[key] for key in sorted(value, key=lambda key: (len(str(key)), str(key)))]
    return []


def as_dicts(value: Any) -> list[dict[str, Any]]:
    return [element for element in as_items(value) if isinstance(element, dict)]


def as_int(value: Any) -> int | None:
    """An integer given as a number or as digits."""
    if isinstance(value, int):
        return int(value)  # true is 1
    if isinstance(value, float):
        return int(value) if isfinite(value) else None
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        return int(value)
    return None


def as_size(value: Any) -> int | None:
    number = None if isinstance(value, bool) else as_int(value)
    return number if number and number > 0 else None


def inside(value: Any, *keys: str) -> Any:
    """The value below *keys*, None wherever something is not an object."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def as_id(value: Any) -> str | None:
    """An id as text; 0 and what is no id at all give None."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    found = as_text(value)
    if found is None or found == "0" or not found.isalnum() or not found.isascii():
        return None
    return found


_VIEWS = re.compile(r"次?(?:播放|观看|阅读)$")


def as_count(value: Any) -> int | None:
    """A count; "87万次播放" too; the caption of a counter (转发, 评论, 赞, "") is 0."""
    if isinstance(value, str):
        value = value.strip()
        if value in ("", "转发", "评论", "赞"):
            return 0
        value = _VIEWS.sub("", value)
    return count(value)


def https_url(value: Any) -> str | None:
    found = https(as_text(value) or "")
    return found if found.startswith("https://") else None


def region(value: Any) -> str | None:
    """The place in "发布于 北京", "来自 安徽", "IP属地：北京"; "其他" is kept as it is."""
    found = place_of(value)
    return None if found and "客户端" in found else found  # old comments name the client here


_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1
    )
}  # fixed: the machine's locale may know other names
_FULL_TIME = re.compile(
    r"\w{3} (\w{3}) (\d{1,2}) (\d{1,2}):(\d\d):(\d\d) ([+-])(\d\d)(\d\d) (\d{4})"
)
_AGO = re.compile(r"(\d+)\s*(秒|分钟|个?小时|天)钟?前")
_DAY_NAME = re.compile(r"(今天|昨天|前天)(?:\s*(\d{1,2}):(\d\d))?")
_DATE = re.compile(
    r"(?:(\d{4})\s*[-/年]\s*)?(\d{1,2})\s*[-/月]\s*(\d{1,2})日?(?:\s*(\d{1,2}):(\d\d)(?::(\d\d))?)?"
)
_AGO_UNITS = {"秒": 1, "分钟": 60, "小时": 3600, "个小时": 3600, "天": 86400}
_DAYS_BACK = {"今天": 0, "昨天": 1, "前天": 2}
_SLACK = timedelta(minutes=2)  # between a post's id and its shown time (section 2.3)


@dataclass(frozen=True, slots=True)
class _Told:
    """What a caption tells: a time by the rule, and the span in which the true one lies."""

    moment: datetime
    earliest: datetime
    latest: datetime
    needs_clock: bool


def moment(
    value: Any, *, known_id: str | None = None, now: datetime | None = None
) -> datetime | None:
    """The UTC time behind any style in which Weibo writes one.

    :param value: "Tue May 14 10:00:00 +0800 2024", "5分钟前", "昨天 10:00", "05-14", ...
    :param known_id: the post's or comment's id. It knows the second, so it decides wherever the
        caption is coarser and does not contradict it (section 2.3).
    :param now: the aware time at which the page was made; without it captions that count from
        now are read from the id first and from the clock only without one.
    """
    exact = _full_time(value)
    if exact is not None:
        return exact
    by_id = time_of(known_id) if known_id else None
    told = _told(as_text(value) or "", (now or datetime.now(timezone.utc)).astimezone(SHANGHAI))
    if told is None:
        return by_id
    if by_id is not None:
        unchecked = now is None and told.needs_clock
        if unchecked or told.earliest - _SLACK <= by_id <= told.latest + _SLACK:
            return by_id
    return told.moment.astimezone(timezone.utc)


def _full_time(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    match = _FULL_TIME.fullmatch(value.strip())
    if match is None or match[1] not in _MONTHS:
        return None
    offset = timedelta(hours=int(match[7]), minutes=int(match[8]))
    zone = timezone(offset if match[6] == "+" else -offset) if offset < timedelta(1) else SHANGHAI
    return _datetime(match[9], _MONTHS[match[1]], match[2], match[3], match[4], match[5], zone)


def _datetime(
    year: Any, month: Any, day: Any, hour: Any, minute: Any, second: Any, zone: timezone = SHANGHAI
) -> datetime | None:
    try:
        values = [int(value) for value in (year, month, day, hour, minute, second)]
        local = datetime(*values[:3], *values[3:], tzinfo=zone)  # type: ignore[misc, arg-type]
        return local.astimezone(timezone.utc)
    except (ValueError, OverflowError):  # the 30th of February; the year 0
        return None


def _told(caption: str, now: datetime) -> _Told | None:
    """What *caption* says, *now* being a time in Shanghai."""
    if caption.startswith(("刚刚", "刚才")):
        return _Told(now, now - timedelta(minutes=1), now, True)
    match = _AGO.match(caption)
    if match is not None and len(match[1]) < 6:
        unit = timedelta(seconds=_AGO_UNITS[match[2]])
        told = now - int(match[1]) * unit
        return _Told(told, told - unit, told, True)
    match = _DAY_NAME.match(caption)
    if match is not None:
        day = now - timedelta(days=_DAYS_BACK[match[1]])
        told_day = _datetime(day.year, day.month, day.day, match[2] or 0, match[3] or 0, 0)
        return _span(told_day, match[2], None, needs_clock=True)
    match = _DATE.match(caption)
    if match is None:
        return None
    year, month, day_, hour, minute, second = match.groups()
    clock = (hour or 0, minute or 0, second or 0)
    if year is not None:
        return _span(_datetime(year, month, day_, *clock), hour, second, needs_clock=False)
    for candidate in range(now.year, now.year - 5, -1):  # a 29th of February needs up to four
        found = _datetime(candidate, month, day_, *clock)
        if found is not None and found <= now:
            return _span(found, hour, second, needs_clock=True)
    return None


def _span(
    start: datetime | None, hour: str | None, second: str | None, *, needs_clock: bool
) -> _Told | None:
    if start is None:
        return None
    if hour is None:
        length = timedelta(days=1)
    else:
        length = timedelta(seconds=1) if second is not None else timedelta(minutes=1)
    return _Told(start, start, start + length, needs_clock)
