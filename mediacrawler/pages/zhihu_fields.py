"""Single fields of Zhihu's records: names of both spellings, ids, flags, times, people.

Lenient on purpose: a field of the wrong type counts as not told, so that it never loses a
record or a page. Must not know posts, comments or answers. Sections are those of
docs/platforms/zhihu.md.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Any

from mediacrawler.pages import AuthorFields
from mediacrawler.pages.fields import (
    as_dict,
    as_flag,
    as_list,
    as_text,
    count,
    first_known,
    timestamp,
    unique,
)
from mediacrawler.pages.zhihu_html import Content, label
from mediacrawler.pages.zhihu_html import read as read_html
from mediacrawler.targets.zhihu import creator_url

Record = dict[str, Any]


@lru_cache(maxsize=1024)
def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def get(record: Record, name: str) -> Any:
    """`created_time` of the API or `createdTime` of a page (5.10)."""
    value = record.get(name)
    return record.get(_camel(name)) if value is None else value


def as_id(value: Any) -> str | None:
    """An identifier as text; "0" is nobody and nothing. A float has lost digits already."""
    found = as_text(value)
    return None if found == "0" else found


def label_of(record: Record, name: str) -> str | None:
    found = as_text(get(record, name))
    return label(found) if found else None


def html_of(record: Record, name: str) -> Content:
    found = get(record, name)
    return read_html(found) if isinstance(found, str) else Content()


def time_of(record: Record, *names: str) -> datetime | None:
    """The first time among *names*; unix seconds (1 to 3.9 have no other form)."""
    for name in names:
        moment = timestamp(get(record, name))
        if moment is not None:
            return moment
    return None


def first_count(record: Record, *names: str) -> int | None:
    """The first of the counts that the record tells; zero is told."""
    return first_known(*(count(get(record, name)) for name in names))


def topics_of(record: Record) -> list[str]:
    names = (
        as_text(topic) if isinstance(topic, str) else label_of(as_dict(topic), "name")
        for topic in as_list(record.get("topics"))
    )
    return unique(name for name in names if name)


def author_fields(value: Any) -> AuthorFields:
    """The four author fields; an anonymous one (id "0") has no id and no page."""
    record = as_dict(value)
    member_id = member_id_of(record)
    token = as_text(get(record, "url_token"))
    name = token or member_id
    kind = "org" if is_org(record) else "people"
    return {
        "author_id": member_id,
        "author_name": label_of(record, "name"),
        "author_url": creator_url(name, kind) if name else None,
        "author_avatar": avatar_of(record),
    }


def member_id_of(record: Record) -> str | None:
    return as_id(record.get("id"))


def is_org(record: Record) -> bool:
    return as_flag(get(record, "is_org")) or get(record, "user_type") == "organization"


def avatar_of(record: Record) -> str | None:
    url = as_text(get(record, "avatar_url")) or as_text(get(record, "avatar_url_template"))
    return url.replace("{size}", "xl") if url else None
