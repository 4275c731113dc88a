"""Checks a request's signature the way ``docs/platforms/xhs.md`` 4.9 describes it.

Written from that description, on its own: only the constant tables come from the package
``xhshow``, none of its functions, so that an error on either side shows. It reads the raw request
target and the raw body, nothing rebuilt.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import struct
import time
import zlib
from collections import OrderedDict
from collections.abc import Mapping

from Crypto.Cipher import AES
from xhshow import CryptoConfig

from sandbox.core import Call

APP_ID = "xhs-pc-web"
MAX_SKEW_MS = 5 * 60 * 1000

_TABLES = CryptoConfig()
_STANDARD = _TABLES.STANDARD_BASE64_ALPHABET
_FROM_CUSTOM = bytes.maketrans(_TABLES.CUSTOM_BASE64_ALPHABET.encode(), _STANDARD.encode())
_FROM_X3 = bytes.maketrans(_TABLES.X3_BASE64_ALPHABET.encode(), _STANDARD.encode())
_XOR_KEY = int.from_bytes(bytes.fromhex(_TABLES.HEX_KEY), "big")

_LENGTH = 144
_HEAD = bytes((121, 104, 96, 41))
_APP = bytes((10,)) + APP_ID.encode()
_CLEAR = bytes.fromhex("f9416767c9b583635e0744fa8415")  # every environment check passed
_TAIL = bytes((2, 97, 51, 16))
_MASK = 0xFFFFFFFF


class BadSignature(Exception):
    """A check failed; ``str()`` is the short word that the counters show."""


class Verifier:
    """Checks calls one after the other.

    :param strict_a1: also check the checksum at the end of the cookie ``a1`` (4.6).
    :param strict_replay: refuse the same (x-s, target, body) a second time.
    """

    def __init__(self, *, strict_a1: bool = False, strict_replay: bool = False) -> None:
        self.strict_a1 = strict_a1
        self.strict_replay = strict_replay
        self._seen: OrderedDict[bytes, None] = OrderedDict()

    def check(self, call: Call, *, rap: bool) -> None:
        """Raise :class:`BadSignature` unless *call* is signed.

        :param rap: whether this endpoint needs x-rap-param (4.5).
        """
        a1 = call.cookies.get("a1")
        if a1 is None:
            raise BadSignature("no_a1")
        if len(a1) != 52:
            raise BadSignature("a1_length")
        if self.strict_a1 and not a1_is_whole(a1):
            raise BadSignature("a1_checksum")
        x_s, x_t, common = (_header(call, name) for name in ("x-s", "x-t", "x-s-common"))
        if not x_t.isdigit():
            raise BadSignature("xt_format")
        if abs(time.time() * 1000 - int(x_t)) > MAX_SKEW_MS:
            raise BadSignature("xt_stale")
        content = call.target.encode("utf-8", "surrogateescape")
        path = call.path.encode("utf-8", "surrogateescape")
        if call.method == "POST":
            content = path + call.body
        if x_s.startswith("XYS_"):
            _check_xys(x_s, int(x_t), a1, content, path if call.method == "POST" else content)
        elif x_s.startswith("XYW_"):
            _check_xyw(x_s, x_t, a1, content)
        else:
            raise BadSignature("xs_prefix")
        _check_common(common, a1)
        if rap:
            _check_rap(_header(call, "x-rap-param"))
        if self.strict_replay:
            self._check_fresh(x_s, call)

    def _check_fresh(self, x_s: str, call: Call) -> None:
        seal = hashlib.blake2b(f"{x_s}\n{call.target}\n".encode("utf-8", "surrogateescape"))
        seal.update(call.body)
        key = seal.digest()
        if key in self._seen:
            raise BadSignature("replayed")
        self._seen[key] = None
        if len(self._seen) > 200_000:
            self._seen.popitem(last=False)


def a1_is_whole(a1: str) -> bool:
    """Whether the last six characters are the head of the decimal crc32 of the first 46 (4.6)."""
    return a1[46:52] == str(zlib.crc32(a1[:46].encode()))[:6]


def make_a1(words: str) -> str:
    """A well-formed ``a1`` that depends on *words*."""
    letters = hashlib.md5(words.encode()).hexdigest()[:30]
    head = f"{1_760_000_000_000 + zlib.crc32(words.encode()):011x}{letters}50000"
    return (head + str(zlib.crc32(head.encode())))[:52]


def _header(call: Call, name: str) -> str:
    value = call.headers.get(name)
    if not value:
        raise BadSignature(f"no_{name.replace('-', '_')}")
    return value


def _decode(text: str, table: bytes | None = None) -> bytes:
    """Base64, if *table* is given in a rearranged alphabet; ``ValueError`` if it is none."""
    raw = text.encode("ascii")
    try:
        return base64.b64decode(raw.translate(table) if table else raw, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def _check_xys(x_s: str, x_t: int, a1: str, content: bytes, hashed: bytes) -> None:
    """*hashed* is what the second hash covers: all of a GET, the path of a POST."""
    try:
        fields = json.loads(_decode(x_s[4:], _FROM_CUSTOM))
        x3 = fields["x3"]
        if set(fields) != {"x0", "x1", "x2", "x3", "x4"} or not x3.startswith("mns0301_"):
            raise BadSignature("xs_format")
        mixed = _decode(x3[8:], _FROM_X3)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadSignature("xs_format") from None
    if fields["x1"] != APP_ID:
        raise BadSignature("xs_app")
    if len(mixed) != _LENGTH:
        raise BadSignature("xs_format")
    payload = (int.from_bytes(mixed, "big") ^ _XOR_KEY).to_bytes(_LENGTH, "big")
    _check_payload(payload, x_t, a1, content, hashed)


def _check_payload(payload: bytes, x_t: int, a1: str, content: bytes, hashed: bytes) -> None:
    seed = payload[4]
    if not (
        payload[:4] == _HEAD
        and payload[44] == 52
        and payload[97:108] == _APP
        and payload[108] == 1
        and payload[109] == seed ^ 115
        and payload[110:124] == _CLEAR
        and payload[124:128] == _TAIL
    ):
        raise BadSignature("xs_constants")
    signed_at, loaded_at = struct.unpack("<QQ", payload[8:24])
    if signed_at != x_t:
        raise BadSignature("xs_time")
    if loaded_at > signed_at:
        raise BadSignature("xs_page_time")
    if payload[45:97] != a1.encode("utf-8"):
        raise BadSignature("xs_a1")
    md5 = hashlib.md5(content).digest()
    if _xor(payload[36:44], seed) != md5[:8]:
        raise BadSignature("xs_content")
    length = struct.unpack("<I", payload[32:36])[0]
    if length not in (len(content), len(content.decode("utf-8", "replace"))):
        raise BadSignature("xs_length")
    second = md5 if hashed is content else hashlib.md5(hashed).digest()
    if _xor(payload[128:144], seed) != _lanes(payload[8:16] + second):
        raise BadSignature("xs_hash")


def _xor(data: bytes, key: int) -> bytes:
    return bytes(byte ^ key for byte in data)


def _rotate(value: int, by: int) -> int:
    return (value << by | value >> (32 - by)) & _MASK


def _lanes(data: bytes) -> bytes:
    """The four-lane hash H of 4.3 over whole blocks of eight bytes."""
    size = len(data)
    a = 1831565813 ^ size
    b = 461845907 ^ size << 8
    c = 2246822507 ^ size << 16
    d = 3266489909 ^ size << 24
    for low, high in struct.iter_unpack("<II", data):
        a = _rotate((a + low & _MASK) ^ c, 7)
        b = _rotate((low ^ b) + d & _MASK, 11)
        c = _rotate((c + high & _MASK) ^ a, 13)
        d = _rotate((d ^ high) + b & _MASK, 17)
    t0 = a ^ size
    t1 = b ^ t0
    t2 = c + t1 & _MASK
    t3 = d ^ t2
    r0, r1, r2, r3 = _rotate(t0, 9), _rotate(t1, 13), _rotate(t2, 17), _rotate(t3, 19)
    a = r0 + r2 & _MASK
    b = r1 ^ r3
    c = r2 + a & _MASK
    return struct.pack("<IIII", a, b, c, r3 ^ b)


def _check_xyw(x_s: str, x_t: str, a1: str, content: bytes) -> None:
    try:
        envelope = json.loads(_decode(x_s[4:]))
        if not isinstance(envelope, dict):
            raise BadSignature("xyw_format")
        cipher = AES.new(_TABLES.XYW_AES_KEY, AES.MODE_CBC, _TABLES.XYW_AES_IV)
        padded = cipher.decrypt(bytes.fromhex(envelope["payload"]))
        inner = _decode(padded[: -padded[-1]].decode("ascii")).decode("utf-8")
        fields = dict(part.split("=", 1) for part in inner.rstrip(";").split(";"))
    except (ValueError, KeyError, TypeError, IndexError):
        raise BadSignature("xyw_format") from None
    if _constants(envelope) != ("56", "x2", "1", APP_ID):
        raise BadSignature("xyw_constants")
    if fields.get("x1") != hashlib.md5(b"url=" + content).hexdigest():
        raise BadSignature("xyw_content")
    if fields.get("x3") != a1:
        raise BadSignature("xyw_a1")
    if fields.get("x4") != x_t:
        raise BadSignature("xyw_time")


def _constants(envelope: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(envelope.get(name) for name in ("signSvn", "signType", "signVersion", "appId"))


def _check_common(common: str, a1: str) -> None:
    try:
        fields = json.loads(_decode(common, _FROM_CUSTOM))
        told = fields["x9"]
        summed = fields["x6"] + fields["x7"] + fields["x8"]
        crc = zlib.crc32(_low_bytes(summed)) ^ 0xEDB88320
    except (ValueError, KeyError, TypeError):
        raise BadSignature("common_format") from None
    if fields.get("x3") != APP_ID:
        raise BadSignature("common_app")
    if fields.get("x5") != a1:
        raise BadSignature("common_a1")
    if told != (crc - (1 << 32) if crc >> 31 else crc):
        raise BadSignature("common_crc")


def _low_bytes(text: str) -> bytes:
    """The low byte of every character, as ``charCodeAt`` arithmetic sees it."""
    if text.isascii():
        return text.encode("ascii")
    return bytes(ord(letter) & 0xFF for letter in text)


def _check_rap(value: str) -> None:
    try:
        envelope = _decode(value)
    except ValueError:
        raise BadSignature("rap_format") from None
    if len(envelope) < 56 or envelope[:3] != b"\x07\x24\x01":
        raise BadSignature("rap_format")
    cipher_length, told = struct.unpack(">II", envelope[12:20])
    if 36 + envelope[3] + 16 + 4 + cipher_length != len(envelope):
        raise BadSignature("rap_length")
    if _xxh32(envelope[36:]) != told:
        raise BadSignature("rap_hash")


_P1, _P2, _P3, _P4, _P5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393


def _xxh32(data: bytes) -> int:
    """xxHash32 with seed 0."""
    size = len(data)
    whole = size - size % 16
    if whole:
        a, b, c, d = _P1 + _P2 & _MASK, _P2, 0, -_P1 & _MASK
        for w, x, y, z in struct.iter_unpack("<IIII", data[:whole]):
            a = a + w * _P2 & _MASK
            a = (a << 13 | a >> 19) * _P1 & _MASK
            b = b + x * _P2 & _MASK
            b = (b << 13 | b >> 19) * _P1 & _MASK
            c = c + y * _P2 & _MASK
            c = (c << 13 | c >> 19) * _P1 & _MASK
            d = d + z * _P2 & _MASK
            d = (d << 13 | d >> 19) * _P1 & _MASK
        total = _rotate(a, 1) + _rotate(b, 7) + _rotate(c, 12) + _rotate(d, 18)
    else:
        total = _P5
    total = total + size & _MASK
    words = size - size % 4
    for (word,) in struct.iter_unpack("<I", data[whole:words]):
        total = _rotate(total + word * _P3 & _MASK, 17) * _P4 & _MASK
    for byte in data[words:]:
        total = _rotate(total + byte * _P5 & _MASK, 11) * _P1 & _MASK
    total = (total ^ total >> 15) * _P2 & _MASK
    total = (total ^ total >> 13) * _P3 & _MASK
    return total ^ total >> 16
