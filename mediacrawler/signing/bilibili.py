"""WBI: how Bilibili's web client signs a query (section 4 of docs/platforms/bilibili.md).

Pure functions: keys and clock come in, a query string comes out. It must not know requests,
sessions, or how long keys are good for.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

_MIXIN_PLACES = (
    *(46, 47, 18, 2, 53, 8, 23, 32, 15, 50, 10, 31, 58, 3, 45, 35),
    *(27, 43, 5, 49, 33, 9, 42, 19, 29, 28, 14, 39, 12, 38, 41, 13),
)
"""Which characters of both keys make the mixin key; 32 more places exist and are cut off."""

_DROPPED = str.maketrans("", "", "!'()*")
_KEY_NAME = re.compile(r"/([0-9a-zA-Z]{32})\.\w+(?:[?@].*)?$")


def key_of(address: str) -> str | None:
    """The signing key that hides as the file name of a picture address (never fetched).

    None when *address* is not ``.../<32 characters>.<ext>``.
    """
    match = _KEY_NAME.search(address)
    return match[1] if match else None


def mixin_key(img_key: str, sub_key: str) -> str:
    """The 32 characters that are hashed with every query.

    :raises ValueError: the keys are not 32 characters each.
    """
    both = img_key + sub_key
    if len(img_key) != 32 or len(sub_key) != 32:
        raise ValueError("WBI keys are 32 characters each")
    return "".join(both[place] for place in _MIXIN_PLACES)


def query_string(params: Mapping[str, str | int]) -> str:
    """*params* as the text that is hashed and sent: sorted by name, encoded like a browser does.

    A blank is ``%20``, never ``+``; ``!'()*`` are missing from values (section 4.1).
    Truth values are to be given as the text that is sent (``"true"``).
    """
    return "&".join(
        f"{quote(name, safe='')}={quote(str(value).translate(_DROPPED), safe='')}"
        for name, value in sorted(params.items())
    )


def sign(params: Mapping[str, str | int], mixin: str, *, now: int) -> str:
    """The complete query string of a signed request: *params*, ``wts`` and ``w_rid``.

    *mixin* is from :func:`mixin_key`, *now* the present in unix seconds. Send it byte for byte.
    Every parameter takes part, empty ones too; an old signature among *params* is dropped.
    """
    fresh = {name: value for name, value in params.items() if name not in ("w_rid", "wts")}
    query = query_string({**fresh, "wts": now})
    # MD5 is what the platform checks; it protects nothing here
    digest = hashlib.md5((query + mixin).encode(), usedforsecurity=False).hexdigest()
    return f"{query}&w_rid={digest}"


def sign_url(url: str, mixin: str, *, now: int) -> str:
    """*url* with its query signed (see :func:`sign`); a signature that it carries is replaced."""
    parts = urlsplit(url)
    params = dict(parse_qsl(parts.query, keep_blank_values=True))
    return urlunsplit(parts._replace(query=sign(params, mixin, now=now)))
