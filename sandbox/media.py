"""Files that are computed from a name: pictures that decode, videos with a valid box structure.

A blob is never held in memory as a whole (videos) or is a few kilobytes (pictures); the same name
always gives the same bytes, so a test can compute the sha256 that a download must have.
"""

from __future__ import annotations

import base64
import hashlib
import struct
import zlib
from collections.abc import Iterator
from functools import lru_cache

from sandbox.worlds import digest

CHUNK = 64 * 1024


class BytesBlob:
    """A file that is small enough to be kept."""

    def __init__(self, data: bytes, content_type: str) -> None:
        self.data = data
        self.size = len(data)
        self.content_type = content_type
        self.etag = f'"{hashlib.md5(data).hexdigest()}"'

    def read(self, offset: int, length: int) -> bytes:
        return self.data[offset : offset + length]

    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


class Picture(BytesBlob):
    """A picture in one colour that depends on *name*, of the true size in pixels.

    :param name: any text; it is also written into the file, so no two names give equal bytes.
    :param form: ``jpeg``, ``png``, ``webp``, ``avif`` or ``heif``; the last two show one fixed
        small picture whatever the size.
    """

    def __init__(self, name: str, width: int, height: int, form: str = "jpeg") -> None:
        super().__init__(_picture(name, width, height, form), f"image/{form}")


@lru_cache(maxsize=256)
def _picture(name: str, width: int, height: int, form: str) -> bytes:
    colour = digest("colour", name, size=3)
    if form == "png":
        return _png(name, width, height, colour)
    if form == "webp":
        return _webp(name, width, height, colour)
    if form in ("avif", "heif"):
        return _avif(name)
    return _jpeg(name, width, height, colour)


def _png(name: str, width: int, height: int, colour: bytes) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)

    head = struct.pack(">IIBBBBB", width, height, 1, 3, 0, 0, 0)  # one bit a pixel, palette
    line = b"\0" * (1 + (width + 7) // 8)
    packer = zlib.compressobj(1)
    body = b"".join(packer.compress(line * min(256, height - y)) for y in range(0, height, 256))
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", head),
            chunk(b"PLTE", colour),
            chunk(b"tEXt", b"Comment\0" + name.encode("utf-8")),
            chunk(b"IDAT", body + packer.flush()),
            chunk(b"IEND", b""),
        )
    )


def _jpeg(name: str, width: int, height: int, colour: bytes) -> bytes:
    """Baseline JPEG, grey: every block after the first is "no change", two zero bits."""

    def segment(marker: int, data: bytes) -> bytes:
        return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data

    blocks = ((width + 7) // 8) * ((height + 7) // 8)
    level = colour[0] % 120 + 1  # the first block's DC: size 7 bits, positive, so never 0xFF
    level |= 64
    # DC codes: category 0 -> 0, category 7 -> 10; AC code: end of block -> 0
    bits = f"10{level:07b}0" + "0" * 2 * (blocks - 1)
    bits += "0" * (-len(bits) % 8)
    scan = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\x00")
    dc = b"\x00" + bytes([1, 1] + [0] * 14) + bytes([0, 7])
    ac = b"\x10" + bytes([1] + [0] * 15) + bytes([0])
    return b"".join(
        (
            b"\xff\xd8",
            segment(0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"),
            segment(0xFE, name.encode("utf-8")[:60000]),
            segment(0xDB, b"\0" + bytes([8] * 64)),
            segment(0xC0, struct.pack(">BHHB", 8, height, width, 1) + b"\x01\x11\x00"),
            segment(0xC4, dc),
            segment(0xC4, ac),
            segment(0xDA, b"\x01\x01\x00\x00\x3f\x00"),
            scan,
            b"\xff\xd9",
        )
    )


def _webp(name: str, width: int, height: int, colour: bytes) -> bytes:
    """Lossless WebP of one colour: five prefix codes with one symbol each, no bits per pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)

    fields = [(width - 1, 14), (height - 1, 14), (0, 1), (0, 3)]  # size, no alpha, version
    fields += [(0, 1), (0, 1), (0, 1)]  # no transform, no colour cache, no meta codes
    for symbol in (colour[1], colour[0], colour[2], 255, 0):  # green, red, blue, alpha, distance
        fields += [(1, 1), (0, 1), (1, 1), (symbol, 8)]
    bits = shift = 0
    for value, width_in_bits in fields:
        bits |= value << shift
        shift += width_in_bits
    lossless = b"\x2f" + bits.to_bytes((shift + 7) // 8, "little")
    extended = (
        b"\x04\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    )
    body = chunk(b"VP8X", extended) + chunk(b"VP8L", lossless)
    body += chunk(b"XMP ", name.encode("utf-8"))
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


# 64 x 64 pixels of one green.
_AVIF = base64.b64decode(
    "AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAADrbWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAA"
    "AAAAAAAAAAAAAAAAAAAOcGl0bQAAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAETAAAAKAAAAChpaW5mAAAA"
    "AAABAAAAGmluZmUCAAAAAAEAAGF2MDFDb2xvcgAAAABqaXBycAAAAEtpcGNvAAAAFGlzcGUAAAAAAAAAQAAAAEAA"
    "AAAQcGl4aQAAAAADCAgIAAAADGF2MUOBAAwAAAAAE2NvbHJuY2x4AAEADQAGgAAAABdpcG1hAAAAAAAAAAEAAQQB"
    "AoMEAAAAMG1kYXQSAAoJGBV//aICGg0IMhkex4eFWd///+LALgDPyinGV0suT5kGoSNU"
)


def _avif(name: str) -> bytes:
    return _AVIF + _box(b"free", name.encode("utf-8"))


# -- video --------------------------------------------------------------------------------------


def _box(kind: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return struct.pack(">I", len(body) + 8) + kind + body


def gif(name: str, width: int, height: int, ink: bytes = b"\x30\x90\x50") -> BytesBlob:
    """A GIF of the true size with one pixel drawn; *name* is a comment inside.

    :param ink: colour of the pixel, three bytes.
    """
    head = b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\x80\0\0"
    palette = ink + b"\xff\xff\xff"
    words = name.encode("utf-8")[:255]
    remark = b"\x21\xfe" + bytes([len(words)]) + words + b"\0"
    image = b"\x2c\0\0\0\0\1\0\1\0\0\x02\x02\x44\x01\0"
    return BytesBlob(head + palette + remark + image + b"\x3b", "image/gif")


class Stamped:
    """A file of *size* bytes that begins with *head*.

    What follows is noise, stamped every 64 KiB with the name and its place, so that pieces put
    together in the wrong order are noticed.
    """

    def __init__(self, name: str, head: bytes, size: int, content_type: str) -> None:
        self.name = name
        self.size = size
        self.content_type = content_type
        self._head = head
        self._stamp = digest("video", name, size=24)
        self.etag = f'"{digest("etag", name, self.size).hex()}"'

    def read(self, offset: int, length: int) -> bytes:
        end = min(offset + length, self.size)
        pieces = []
        while offset < end:
            if offset < len(self._head):
                piece = self._head[offset : min(end, len(self._head))]
            else:
                block, start = divmod(offset, CHUNK)
                piece = self._block(block)[start : start + min(end - offset, CHUNK - start)]
            pieces.append(piece)
            offset += len(piece)
        return b"".join(pieces)

    def _block(self, index: int) -> bytes:
        return self._stamp + struct.pack(">Q", index) + _noise()

    def chunks(self) -> Iterator[bytes]:
        for offset in range(0, self.size, CHUNK):
            yield self.read(offset, CHUNK)

    def sha256(self) -> str:
        total = hashlib.sha256()
        for piece in self.chunks():
            total.update(piece)
        return total.hexdigest()


class Video(Stamped):
    """An MP4 of exactly *size* bytes: ``ftyp``, ``moov`` (one video track), ``mdat``.

    The boxes are right and agree with each other; what lies in ``mdat`` is noise.

    :param seconds: length that the header tells.
    """

    def __init__(
        self, name: str, size: int, seconds: float = 15, width: int = 1280, height: int = 720
    ):
        head = _mp4_head(name, size, seconds, width, height)
        super().__init__(name, head, max(size, len(head)), "video/mp4")


@lru_cache(maxsize=1)
def _noise() -> bytes:
    """The part of a block that all videos share; it follows the 32 bytes of the stamp."""
    return hashlib.shake_128(b"noise of the sandbox").digest(CHUNK - 32)


def _mp4_head(name: str, size: int, seconds: float, width: int, height: int) -> bytes:
    ftyp = _box(b"ftyp", b"isom\0\0\x02\0isomiso2avc1mp41")
    moov_size = len(_moov(seconds, width, height, 0, 0))
    free = _box(b"free", name.encode("utf-8"))
    start = len(ftyp) + moov_size + len(free) + 8
    payload = max(0, size - start)
    moov = _moov(seconds, width, height, start, payload)
    return ftyp + moov + free + struct.pack(">I", payload + 8) + b"mdat"


def _moov(seconds: float, width: int, height: int, start: int, payload: int) -> bytes:
    scale = 1000
    length = int(seconds * scale)
    matrix = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
    mvhd = _box(
        b"mvhd",
        struct.pack(">IIIIIIH", 0, 0, 0, scale, length, 0x10000, 0x0100),
        b"\0" * 10,
        matrix,
        b"\0" * 24,
        struct.pack(">I", 2),
    )
    tkhd = _box(
        b"tkhd",
        struct.pack(">IIIIII", 7, 0, 0, 1, 0, length),
        b"\0" * 16,
        matrix,
        struct.pack(">II", width << 16, height << 16),
    )
    mdhd = _box(b"mdhd", struct.pack(">IIIIIHH", 0, 0, 0, scale, length, 0x55C4, 0))
    hdlr = _box(b"hdlr", b"\0" * 8, b"vide", b"\0" * 12, b"sandbox\0")
    vmhd = _box(b"vmhd", struct.pack(">IQ", 1, 0))
    dref = _box(b"dref", struct.pack(">II", 0, 1), _box(b"url ", struct.pack(">I", 1)))
    avcc = _box(b"avcC", bytes([1, 0x42, 0xC0, 0x1E, 0xFF, 0xE0, 0]))
    avc1 = _box(
        b"avc1",
        b"\0" * 6 + struct.pack(">H", 1) + b"\0" * 16,
        struct.pack(">HHIII", width & 0xFFFF, height & 0xFFFF, 0x480000, 0x480000, 0),
        struct.pack(">H", 1) + b"\0" * 32 + struct.pack(">HH", 24, 0xFFFF),
        avcc,
    )
    stsd = _box(b"stsd", struct.pack(">II", 0, 1), avc1)
    stts = _box(b"stts", struct.pack(">IIII", 0, 1, 1, length))
    stsc = _box(b"stsc", struct.pack(">IIIII", 0, 1, 1, 1, 1))
    stsz = _box(b"stsz", struct.pack(">III", 0, payload & 0xFFFFFFFF, 1))
    stco = _box(b"stco", struct.pack(">III", 0, 1, start))
    stbl = _box(b"stbl", stsd, stts, stsc, stsz, stco)
    minf = _box(b"minf", vmhd, _box(b"dinf", dref), stbl)
    trak = _box(b"trak", tkhd, _box(b"mdia", mdhd, hdlr, minf))
    return _box(b"moov", mvhd, trak)
