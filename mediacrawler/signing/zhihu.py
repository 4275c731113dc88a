"""Zhihu's request signature: the headers ``x-zse-93`` and ``x-zse-96``.

Pure functions of the request line, the ``d_c0`` cookie, the body and one random byte that the
caller draws. Must not know Scrapy, sessions or answers. Sections are those of
docs/platforms/zhihu.md.
"""

from __future__ import annotations

import hashlib
import struct
from urllib.parse import unquote

VERSION = "101_3_3.0"
"""Value of ``x-zse-93`` and first part of what is signed (section 4)."""

FIRST_BYTES = range(127)
"""What a browser draws the random byte from; the server does not check it (section 4)."""

_PREFIX = "2.0_"
_ALPHABET = "6fpLRqJO8M/c3jnYxFkUVC4ZIG12SiH=5v0mXDazWBTsuw7QetbKdoPyAl+hN9rg"
_KEY = b"059053f7d15e01d7"
_KEY_MASK = 42
_OUTPUT_MASK = 58
_BLOCK = 16
_BODY_LIMIT = 4096  # bytes; a longer body is not part of the signature

# The site's own table and round keys; otherwise the block function is that of SM4.
_SBOX = bytes.fromhex(
    "14dff507f802c2d15706e3fdf080de5bed097d9de65dfccd5a4f90c79fc5baa7"
    "27259cc6262a2ba8d9990f6750bd47bf6154f75f24450e230cab1c72b29456b6"
    "20539e6d16ff5eee97554d7cfe12041a7bb0e8c183ac8f8e961e0a92a23ee0da"
    "c4e501c0d51b6e38e7b48a6bf2bb3678132c75e4d7cb35effb7f510b8560cc84"
    "29734937f99366307a916a764abe1d10ae05b1813f71631fa14cf622d30d3c44"
    "cfa0416f52a543a9e13970f49b33ecc8e93a3d2f6489b9401146eaa3db6caaa6"
    "3b95346918d44ead2d0074e27788ce87afc3195c79d07e8b034b8d158262f128"
    "9a42b831b52ef35865b7081748bc68b3d286fac9a459d8cadc32dd988c21ebd6"
)
_ROUND_KEYS = struct.unpack(
    ">32I",
    bytes.fromhex(
        "45c629323d15f2fe5442e14feb8921c0d256542eae28cbdef7782b08ee48a883"
        "733e8d1ac61cdffbe7c6016a1b713876df5eeb0a8f44a6ca9beb07a37e564e94"
        "870bcbcb794d026ca54f723affaabf19fb5d9cc3832a8363b5e884fa5e2b60cf"
        "4ec93b521b3a7714ad0d330ff2551fdf13ab7196d0f96ade15ab9f7d8be5d87b"
    ),
)


def _rotated(word: int, bits: int) -> int:
    return ((word << bits) | (word >> (32 - bits))) & 0xFFFFFFFF


def _mixed(word: int) -> int:
    result = word
    for bits in (2, 10, 18, 24):
        result ^= _rotated(word, bits)
    return result


# Substitution and mixing act on each byte alone, so both become one look-up for each of the
# four places that a byte can have in a word.
_AT_0 = tuple(_mixed(byte) for byte in _SBOX)
_AT_8 = tuple(_rotated(word, 8) for word in _AT_0)
_AT_16 = tuple(_rotated(word, 16) for word in _AT_0)
_AT_24 = tuple(_rotated(word, 24) for word in _AT_0)


def headers(
    path_and_query: str, d_c0: str | None, body: bytes = b"", *, first_byte: int
) -> dict[str, str]:
    """The two signature headers of one request (section 4).

    :param path_and_query: as in the request line, byte for byte: ``/api/v4/...?a=b``.
    :param d_c0: value of that cookie, byte for byte as in the Cookie header; None without one.
    :param body: body of the request, empty for none.
    :param first_byte: 0-255, drawn from :data:`FIRST_BYTES` for each request.
    """
    parts = [VERSION.encode(), path_and_query.encode()]
    if d_c0:
        parts.append(d_c0.encode())
    if body and len(body) <= _BODY_LIMIT:
        parts.append(body)
    digest = hashlib.md5(b"+".join(parts), usedforsecurity=False).hexdigest()
    return {"x-zse-93": VERSION, "x-zse-96": _PREFIX + encrypt(digest, first_byte)}


def encrypt(digest: str, first_byte: int) -> str:
    """The 64 characters that hide *digest*, an md5 of 32 hex digits (section 4).

    :raises ValueError: *digest* has not 32 characters, or *first_byte* is not 0-255.
    """
    if len(digest) != 32:
        raise ValueError(f"a digest has 32 characters, not {len(digest)}")
    plain = bytes((first_byte, 0)) + digest.encode("ascii")
    padding = _BLOCK - len(plain) % _BLOCK
    plain += bytes((padding,)) * padding

    masked_key = bytes(byte ^ _KEY_MASK for byte in _KEY)
    encrypted = b""
    previous = masked_key
    for start in range(0, len(plain), _BLOCK):
        block = plain[start : start + _BLOCK]
        previous = _encrypt_block(_xor(block, previous))
        encrypted += previous
    return _spell(encrypted)


def normal_d_c0(value: str) -> str:
    """The ``d_c0`` cookie without the quotes and escapes that some cookie stores add.

    To be used once, where a cookie is imported: what is signed and what is sent must be the
    same bytes (section 4).
    """
    value = value.strip()
    if "%" in value:
        value = unquote(value)
    return value.strip('"')


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def _encrypt_block(block: bytes) -> bytes:
    """16 bytes to 16 bytes: 32 rounds of SM4 with this site's table and round keys."""
    a, b, c, d = struct.unpack(">4I", block)
    for key in _ROUND_KEYS:
        x = b ^ c ^ d ^ key
        mixed = _AT_24[x >> 24] ^ _AT_16[x >> 16 & 255] ^ _AT_8[x >> 8 & 255] ^ _AT_0[x & 255]
        a, b, c, d = b, c, d, a ^ mixed
    return struct.pack(">4I", d, c, b, a)


def _spell(encrypted: bytes) -> str:
    """Reversed, every fourth byte masked, then three bytes at a time as four characters."""
    data = bytearray(reversed(encrypted))
    for index in range(0, len(data), 4):
        data[index] ^= _OUTPUT_MASK
    letters: list[str] = []
    for start in range(0, len(data), 3):
        value = int.from_bytes(data[start : start + 3], "little")
        letters.extend(_ALPHABET[value >> shift & 63] for shift in (0, 6, 12, 18))
    return "".join(letters)
