"""Signed headers of XHS requests, and the exact bytes that they are valid for.

The algorithms are those of the package xhshow; here are the ways to call it with clock and
randomness passed in. Facts: docs/platforms/xhs.md, section 4. Nothing here knows Scrapy,
sessions or which endpoint needs what.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, Literal
from urllib.parse import quote

from xhshow import CryptoConfig, SessionManager, Xhshow
from xhshow.core.common_sign import XsCommonSigner
from xhshow.core.xrap import x_rap_param
from xhshow.generators import FingerprintGenerator
from xhshow.utils.random_gen import RandomGenerator
from xhshow.utils.sharding import get_sharding_key

APP_ID = "xhs-pc-web"
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


class Visit(SessionManager):
    """An opened page, whose age and counters signatures carry and which grow with use (4.3).

    One per session: what a browser sends that stays on the site. Signatures without a visit
    look like those of a page opened seconds ago.

    :param now: unix time, in seconds, at which the page was opened.
    """

    def __init__(self, *, now: float, rng: Random) -> None:  # not the global clock and dice
        self._rng = rng
        self.page_load_timestamp = _milliseconds(now)
        self.sequence_value = rng.randint(15, 17)
        self.window_props_length = rng.randint(1000, 2000)

    def update_state(self) -> None:
        """Grow as between two requests; xhshow calls it before each signature."""
        self.sequence_value += self._rng.randint(0, 1)
        self.window_props_length += self._rng.randint(1, 10)


def sign(
    method: str,
    path: str,
    cookies: Mapping[str, str],
    *,
    params: Mapping[str, Any] | None = None,
    payload: Mapping[str, Any] | None = None,
    sign_format: Literal["xys", "xyw"] = "xys",
    user_id: str | None = None,
    rap_api: str | None = None,
    common: str | None = None,
    visit: Visit | None = None,
    now: float,
    rng: Random,
) -> dict[str, str]:
    """The signed headers (lower-case names) of one attempt; never use them twice (4.2).

    What is sent must be the bytes of :func:`query_string` (GET) or :func:`json_body` (POST)
    for the same *params* or *payload*.

    :param path: path of the URL, without query.
    :param user_id: creator whose notes are asked for, where the endpoint takes one (4.5).
    :param rap_api: ``//host/path`` for the endpoints that want an x-rap-param (4.5).
    :param common: the x-s-common of this session (:func:`common_header`); made anew if None.
    :param now: unix time in seconds.
    :raises ValueError: no cookie ``a1``, a query in *path*, data of the other method, or a
        method that the site does not sign.
    """
    a1 = cookies.get("a1")
    if not a1:
        raise ValueError("cookies lack 'a1', which every signature contains")
    if "?" in path:
        raise ValueError(f"pass the query of '{path}' as params, else it is not signed")
    verb, data = _signed_data(method, params, payload)
    client = _client(rng)
    if sign_format == "xys":
        x_s = client.sign_xs(verb, path, a1, APP_ID, data, now, visit)
    else:
        x_s = client.sign_xyw(verb, path, a1, APP_ID, data, now)
    milliseconds = _milliseconds(now)
    headers = {
        "x-s": x_s,
        "x-t": str(milliseconds),
        "x-s-common": common or common_header(cookies, now=now, rng=rng),
        "x-b3-traceid": f"{rng.getrandbits(64):016x}",
        "x-xray-traceid": f"{milliseconds << 23 | rng.getrandbits(23):016x}"
        f"{rng.getrandbits(64):016x}",
        "x-mns": "unload",
        "xy-direction": str(get_sharding_key(user_id) if user_id else rng.randint(10, 100)),
    }
    if rap_api is not None:
        headers["x-rap-param"] = _rap_param(rap_api, data, milliseconds, rng)
    return headers


def _signed_data(
    method: str, params: Mapping[str, Any] | None, payload: Mapping[str, Any] | None
) -> tuple[Literal["GET", "POST"], dict[str, Any]]:
    if method == "GET" and payload is None:
        return "GET", _texts(params)
    if method == "POST" and params is None:
        return "POST", dict(payload or {})
    raise ValueError(f"cannot sign a {method}: GET takes params, POST takes a payload")


def common_header(cookies: Mapping[str, str], *, now: float, rng: Random) -> str:
    """The header x-s-common: a browser's fingerprint and the cookie ``a1`` (4.5).

    It depends on no request, and a browser keeps its fingerprint: make it once a session and
    hand it to :func:`sign`. That saves 0.7 ms of the 0.8 ms that signing takes otherwise.

    :raises KeyError: no cookie ``a1``.
    """
    signer = XsCommonSigner()
    signer._fp_generator = _Fingerprints(signer.config, now, rng)
    return signer.sign(dict(cookies))


def query_string(params: Mapping[str, Any]) -> str:
    """*params* as they are signed and must be sent: commas raw, blanks as ``%20`` (4.2).

    Lists are joined with commas, None is empty, booleans are ``true`` and ``false``.
    """
    return "&".join(f"{key}={quote(value, safe=',')}" for key, value in _texts(params).items())


def json_body(payload: Mapping[str, Any]) -> bytes:
    """*payload* as it is signed and must be sent: its own order, compact, not escaped (4.2)."""
    return json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode()


def search_id(*, now: float, rng: Random) -> str:
    """An id for all pages of one search; another id is another ranking (4.7)."""
    return _base36((_milliseconds(now) << 64) + _random31(rng))


def request_id(*, now: float, rng: Random) -> str:
    """An id for one search request (4.7)."""
    return f"{_random31(rng)}-{_milliseconds(now)}"


def new_device(*, now: float, rng: Random) -> dict[str, str]:
    """The cookies that the page's script gives to a browser that comes for the first time (4.6)."""
    head = f"{_milliseconds(now):011x}{_word(rng, 30)}50000"
    a1 = f"{head}{zlib.crc32(head.encode())}"[:52]
    web_id = hashlib.md5(a1.encode(), usedforsecurity=False).hexdigest()
    return {"a1": a1, "webId": web_id, "xsecappid": APP_ID}


class _Randomness(RandomGenerator):
    """The random parts of x-s, from a generator of ours instead of the global one (4.1)."""

    def __init__(self, rng: Random) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._rng = rng

    def generate_random_int(self) -> int:
        return self._rng.getrandbits(32)

    def generate_random_byte_in_range(self, min_val: int, max_val: int) -> int:
        return self._rng.randint(min_val, max_val)


class _Fingerprints(FingerprintGenerator):
    """A browser's fingerprint; two of the fields that reach x-s-common vary, here as told."""

    def __init__(self, config: CryptoConfig, now: float, rng: Random) -> None:
        super().__init__(config)
        self._now = now
        self._rng = rng

    def generate(self, cookies: dict[str, Any], user_agent: str) -> dict[str, Any]:
        varying = {"x36": str(self._rng.randint(1, 20)), "x44": str(_milliseconds(self._now))}
        return super().generate(cookies, user_agent) | varying


@lru_cache(maxsize=16)  # as many sessions as are in use; making one takes as long as x-s itself
def _client(rng: Random) -> Xhshow:
    client = Xhshow()
    client.crypto_processor.random_gen = _Randomness(rng)
    return client


def _rap_param(api: str, data: Mapping[str, Any], milliseconds: int, rng: Random) -> str:
    """x-rap-param of a request (4.5); *data* are its params or its payload."""
    return x_rap_param(
        api,
        data,
        aes_key=_word(rng, 16),
        random_string=_word(rng, rng.randint(4, 6)),
        inner_key=_word(rng, 16),
        timestamp_ms=milliseconds,
        body_rand32=rng.getrandbits(32),
        mask=rng.randint(1, 255),
        gzip_mtime=milliseconds // 1000,
        body_encry_time=rng.randint(60, 240),
    )


def _texts(params: Mapping[str, Any] | None) -> dict[str, str]:
    """Each value as the text that stands in a query, before it is escaped."""
    return {key: _text(value) for key, value in (params or {}).items()}


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(_text, value))
    return str(value)


def _milliseconds(now: float) -> int:
    return int(now * 1000)


def _random31(rng: Random) -> int:
    return math.ceil(0x7FFFFFFE * rng.random())


def _word(rng: Random, length: int) -> str:
    return "".join(rng.choices(_LETTERS, k=length))


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _BASE36[digit] + digits
    return digits
