"""How XHS writes what it knows: JSON with two spellings of each key, and the state of pages.

Readers for one value of a record. The API spells keys in snake_case, HTML pages in camelCase,
and some values have several names: a reader takes all of them, in snake_case, and gives the
first that is there (docs/platforms/xhs.md, 5). A value of a wrong type reads as "not said", so
that it cannot cost the other records of its page. Nothing here knows notes or refusals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any, TypeAlias

from mediacrawler.exceptions import UnexpectedResponse
from mediacrawler.pages import Body, fields

Record: TypeAlias = Mapping[str, Any]


def decode(body: Body) -> dict[str, Any] | str:
    """The JSON object of an API answer, or the text of an HTML page.

    :raises UnexpectedResponse: neither of them, or cut.
    """
    page = fields.page_text(body)
    return fields.decode_object(body) if page is None else page


# --- The state of a page (5.6) ----------------------------------------------------------------

_STATE = re.compile(r"window\.(__INITIAL_STATE__|__SETUP_SERVER_STATE__)\s*=\s*")
_ESCAPE = re.compile(r"\\.", re.DOTALL)


def has_state(page: str) -> bool:
    """Whether a page was rendered by the site's application at all."""
    return _STATE.search(page) is not None


def state(page: str) -> dict[str, Any] | None:
    """What a page was rendered from, or None if it does not say.

    :raises UnexpectedResponse: the state is cut, or no object.
    """
    match = _STATE.search(page)
    if match is None:
        return None
    literal = page[match.end() :].partition("</script>")[0]
    found = fields.decode_json_at(_undefined_to_null(literal), 0)
    if not isinstance(found, dict):
        raise UnexpectedResponse(f"'{match[1]}' is {type(found).__name__}, expected an object")
    return found


def _undefined_to_null(literal: str) -> str:
    """A JavaScript literal as JSON: ``undefined`` is a value, but not within texts and keys.

    An odd number of quotes before it, escaped ones aside, puts a word within a text.
    """
    before, *rest = literal.split("undefined")
    pieces, in_text = [before], False
    for after in rest:
        if _ESCAPE.sub("", before).count('"') % 2:
            in_text = not in_text
        pieces += ("undefined" if in_text else "null", after)
        before = after
    return "".join(pieces)


# --- The values of a record -------------------------------------------------------------------


@cache
def _spellings(names: tuple[str, ...]) -> tuple[str, ...]:
    """Each name in snake_case and in camelCase, in order."""
    spellings: list[str] = []
    for name in names:
        spellings += (name, re.sub(r"_([a-z])", lambda letter: letter[1].upper(), name))
    return tuple(fields.unique(spellings))


def pick(record: Record, *names: str) -> Any:
    """The first value under *names*, in either spelling, that is neither null nor blank."""
    for key in _spellings(names):
        value = record.get(key)
        if value is not None and value != "":
            return value
    return None


def text(record: Record, *names: str) -> str | None:
    """Text without blanks at both ends; a number as its digits."""
    value = pick(record, *names)
    return str(value) if isinstance(value, float) else fields.as_text(value)


def identifier(record: Record, *names: str) -> str | None:
    """An identifier as text; 0 is nobody and nothing."""
    found = text(record, *names)
    return None if found == "0" else found


def count(record: Record, *names: str) -> int | None:
    """A number of people or things, as shown ("1.2万") or as it is."""
    return fields.count(pick(record, *names))


def integer(record: Record, *names: str) -> int | None:
    """A code or flag number, also negative, also as digits."""
    try:
        return int(pick(record, *names))
    except (TypeError, ValueError, OverflowError):
        return None


def moment(record: Record, *names: str) -> datetime | None:
    """A time in UTC, from unix milliseconds or seconds."""
    return fields.timestamp(pick(record, *names))


def flag(record: Record, *names: str) -> bool:
    """Whether the platform says yes."""
    return fields.as_flag(pick(record, *names))


def child(record: Record, *names: str) -> dict[str, Any]:
    """An object within the record; ``{}`` if there is none."""
    return fields.as_dict(pick(record, *names))


def elements(record: Record, *names: str) -> list[Any]:
    """A list within the record; ``[]`` if there is none."""
    return fields.as_list(pick(record, *names))


def children(record: Record, *names: str) -> list[dict[str, Any]]:
    """The objects of a list within the record."""
    return [one for one in elements(record, *names) if isinstance(one, dict)]
