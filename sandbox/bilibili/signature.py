"""WBI as the server sees it (``docs/platforms/bilibili.md`` section 4): keys out, queries checked.

Written without a look at any client: the query that arrived is decoded, encoded anew the way a
browser would, and hashed.
"""

from __future__ import annotations

import time
from hashlib import md5
from urllib.parse import parse_qsl, quote

from sandbox.core import Call
from sandbox.worlds import digest

_PLACES = bytes.fromhex(
    "2e2f120235081720" + "0f320a1f3a032d23" + "1b2b053121092a13" + "1d1c0e270c26290d"
)
"""Places in the two keys from which the 32 characters of the mixin key are taken."""

MAX_AGE = 600  # seconds that wts may be off; the true limit is not known


class Keys:
    """The pair of keys that every visitor is given; :meth:`change` gives out another."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._left: int | None = None
        self.generation = 0

    def change(self, after: int = 0) -> None:
        """Once *after* more signatures were good, only those with the next pair are."""
        self._left = after
        self._count_down()

    def _count_down(self) -> None:
        if self._left == 0:
            self.generation += 1
            self._left = None
        elif self._left is not None:
            self._left -= 1

    def pair(self, generation: int | None = None) -> tuple[str, str]:
        """``img_key`` and ``sub_key``, 32 hex digits each."""
        turn = self.generation if generation is None else generation
        img, sub = (digest("wbi", self._seed, turn, name).hex() for name in ("img", "sub"))
        return img, sub

    def mixin(self, generation: int | None = None) -> str:
        both = "".join(self.pair(generation))
        return "".join(both[place] for place in _PLACES)

    def check(self, call: Call) -> str | None:
        """Why the signature of *call* is refused, ``None`` if it is good."""
        params = parse_qsl(call.query, keep_blank_values=True)
        given = [value for name, value in params if name == "w_rid"]
        stamps = [value for name, value in params if name == "wts"]
        if not given or not stamps:
            return "missing"
        if not stamps[-1].isdigit() or abs(time.time() - int(stamps[-1])) > MAX_AGE:
            return "stale"
        hashed = _browser_query([pair for pair in params if pair[0] != "w_rid"])
        if given[-1] == _hash(hashed, self.mixin()):
            self._count_down()
            return None
        if self.generation and given[-1] == _hash(hashed, self.mixin(self.generation - 1)):
            return "old-keys"
        if given[-1] == _hash(hashed.replace("%20", "+"), self.mixin()):
            return "plus"
        return "wrong"


def _browser_query(params: list[tuple[str, str]]) -> str:
    """Sorted by name and encoded as ``encodeURIComponent`` does."""
    return "&".join(
        f"{quote(name, safe=_PLAIN)}={quote(value, safe=_PLAIN)}" for name, value in sorted(params)
    )


_PLAIN = "-_.!~*'()"


def _hash(query: str, mixin: str) -> str:
    return md5((query + mixin).encode("utf-8", "surrogateescape")).hexdigest()
