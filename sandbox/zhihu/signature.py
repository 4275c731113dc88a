"""Checks ``x-zse-96`` by undoing it: the digest that a client hid must be that of its request.

Written from the description in ``docs/platforms/zhihu.md`` section 4, backwards, and independent of
how any client computes it.
"""

from __future__ import annotations

import hashlib
import re
import struct

from sandbox.core import Call

VERSION = "101_3_3.0"
SIGNED_BODY = 4096  # bytes; longer bodies are not part of what is signed

_LETTERS = "6fpLRqJO8M/c3jnYxFkUVC4ZIG12SiH=5v0mXDazWBTsuw7QetbKdoPyAl+hN9rg"
_KEY = b"059053f7d15e01d7"
_TURNS = (2, 10, 18, 24)
_D_C0 = re.compile(r"[A-Za-z0-9+/=_-]{36}\|\d{10}")

_BOX = (
    "14dff507f802c2d15706e3fdf080de5bed097d9de65dfccd5a4f90c79fc5baa727259cc6262a2ba8d9990f6750bd47bf"
    "6154f75f24450e230cab1c72b29456b620539e6d16ff5eee97554d7cfe12041a7bb0e8c183ac8f8e961e0a92a23ee0da"
    "c4e501c0d51b6e38e7b48a6bf2bb3678132c75e4d7cb35effb7f510b8560cc8429734937f99366307a916a764abe1d10"
    "ae05b1813f71631fa14cf622d30d3c44cfa0416f52a543a9e13970f49b33ecc8e93a3d2f6489b9401146eaa3db6caaa6"
    "3b95346918d44ead2d0074e27788ce87afc3195c79d07e8b034b8d158262f1289a42b831b52ef35865b7081748bc68b3"
    "d286fac9a459d8cadc32dd988c21ebd6"
)
_SUBSTITUTE = bytes.fromhex(_BOX)
_ROUND_KEYS = struct.unpack(
    ">32I",
    bytes.fromhex(
        "45c62932 3d15f2fe 5442e14f eb8921c0 d256542e ae28cbde f7782b08 ee48a883 "
        "733e8d1a c61cdffb e7c6016a 1b713876 df5eeb0a 8f44a6ca 9beb07a3 7e564e94 "
        "870bcbcb 794d026c a54f723a ffaabf19 fb5d9cc3 832a8363 b5e884fa 5e2b60cf "
        "4ec93b52 1b3a7714 ad0d330f f2551fdf 13ab7196 d0f96ade 15ab9f7d 8be5d87b"
    ),
)


class BadSignature(Exception):
    """The text is a short word for the counters: what was wrong."""


class Verifier:
    """Judges the signature headers of calls.

    :param strict_replay: refuse one signature for the same request a second time.
    """

    def __init__(self, *, strict_replay: bool = False) -> None:
        self._strict_replay = strict_replay
        self._seen: set[tuple[str, str]] = set()

    def check(self, call: Call) -> None:
        """Raise :class:`BadSignature` unless *call* is signed as the site wants it."""
        d_c0 = call.cookies.get("d_c0", "")
        if not _D_C0.fullmatch(d_c0):
            raise BadSignature("d_c0")
        signature = call.headers.get("x-zse-96", "")
        if not signature:
            raise BadSignature("missing")
        if call.headers.get("x-zse-93", "") != VERSION:
            raise BadSignature("x-zse-93")
        hidden = hidden_digest(signature)
        if hidden is None:
            raise BadSignature("malformed")
        if hidden != _digest_of(call, d_c0):
            raise BadSignature("other-request")
        if self._strict_replay:
            key = (signature, call.target)
            if key in self._seen:
                raise BadSignature("replay")
            self._seen.add(key)


def hidden_digest(signature: str) -> str | None:
    """The 32 hex digits that an ``x-zse-96`` hides; ``None`` if it was not made by the rules."""
    if len(signature) != 68 or not signature.startswith("2.0_"):
        return None
    data = _spelled(signature[4:])
    if data is None:
        return None
    for place in range(0, 48, 4):
        data[place] ^= 58
    data.reverse()
    blocks = [bytes(data[start : start + 16]) for start in (0, 16, 32)]
    plain = bytearray()
    before = bytes(byte ^ 42 for byte in _KEY)
    for block in blocks:
        plain += bytes(a ^ b for a, b in zip(_decrypted(block), before, strict=True))
        before = block
    # The first byte is the client's to choose.
    if plain[1] != 0 or plain[34:] != b"\x0e" * 14:
        return None
    digest = plain[2:34].decode("latin-1")
    return digest if re.fullmatch("[0-9a-f]{32}", digest) else None


def _spelled(text: str) -> bytearray | None:
    """The 48 bytes behind 64 letters."""
    data = bytearray()
    for start in range(0, 64, 4):
        value = 0
        for place, letter in enumerate(text[start : start + 4]):
            sextet = _LETTERS.find(letter)
            if sextet < 0:
                return None
            value |= sextet << 6 * place
        data += bytes((value & 255, value >> 8 & 255, value >> 16))
    return data


def _decrypted(block: bytes) -> bytes:
    """SM4 with the site's table, its round keys in reverse order."""
    words = [int.from_bytes(block[start : start + 4], "big") for start in (0, 4, 8, 12)]
    for key in reversed(_ROUND_KEYS):
        mixed = (words[1] ^ words[2] ^ words[3] ^ key).to_bytes(4, "big")
        swapped = int.from_bytes(mixed.translate(_SUBSTITUTE), "big")
        for turn in _TURNS:
            mixed_in = (swapped << turn | swapped >> 32 - turn) & 0xFFFFFFFF
            words[0] ^= mixed_in
        words = [*words[1:], words[0] ^ swapped]
    return b"".join(word.to_bytes(4, "big") for word in reversed(words))


def _digest_of(call: Call, d_c0: str) -> str:
    """md5 of what the client must have signed, from the bytes that arrived."""
    parts = [
        VERSION.encode(),
        call.target.encode("utf-8", "surrogateescape"),
        d_c0.encode("utf-8", "surrogateescape"),
    ]
    if call.body and len(call.body) <= SIGNED_BODY:
        parts.append(call.body)
    device = call.headers.get("x-zst-81", "")
    if device:
        parts.append(device.encode("utf-8", "surrogateescape"))
    return hashlib.md5(b"+".join(parts)).hexdigest()
