"""Where media files lie and what is known of them; knows neither Scrapy nor platforms.

``<SAVE_DATA_PATH>/<platform>/media/<post_id>/<n>.<ext>``, n being the position in the post from
1, and ``.../<post_id>/comments/<comment_id>/<n>.<ext>`` for a comment. ``index.json`` beside them
says which file is whole, so that a rerun fetches nothing twice.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from mediacrawler.items import Media

HASH_PIECE = 64 * 1024  # bytes; several files are hashed at once
INDEX_FILE = "index.json"

_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\xff\xd8\xff", "jpg"),
    (0, b"\x89PNG\r\n\x1a\n", "png"),
    (0, b"GIF8", "gif"),
    (8, b"WEBP", "webp"),
    (4, b"ftypheic", "heic"),
    (4, b"ftypheix", "heic"),
    (4, b"ftyphevc", "heic"),
    (4, b"ftypmif1", "heic"),
    (4, b"ftypmsf1", "heic"),
    (4, b"ftypavif", "avif"),
    (4, b"ftypavis", "avif"),
    (4, b"ftypM4A", "m4a"),
    (4, b"ftypqt", "mov"),
    (4, b"ftyp", "mp4"),
    (0, b"\x1aE\xdf\xa3", "webm"),
    (0, b"FLV\x01", "flv"),
    (0, b"ID3", "mp3"),
    (0, b"\xff\xfb", "mp3"),
)


PICTURES = frozenset({"jpg", "png", "gif", "webp", "heic", "avif"})
"""The extensions of pictures; all others that a content can tell are those of videos and sound."""


def file_type(head: bytes) -> str | None:
    """The extension that the first bytes of a file tell, or None."""
    for offset, signature, extension in _SIGNATURES:
        if head.startswith(signature, offset):
            return extension
    return None


def together(media: list[Media]) -> list[list[int]]:
    """Positions (from 1) of what makes one file: a video and its sound, or a file alone."""
    groups: list[list[int]] = []
    for position, one in enumerate(media, 1):
        if one.soundtrack and position > 1 and media[position - 2].kind == "video":
            groups[-1].append(position)
        else:
            groups.append([position])
    return groups


def is_text(head: bytes) -> bool:
    """Whether a file begins like a page, JSON or a playlist: no file, though it came with 200."""
    begin = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return begin[:1] in (b"<", b"{", b"[") or begin.startswith(b"#EXTM3U")


def is_page(head: bytes) -> bool:
    """Whether a file begins like HTML, which XML does not."""
    begin = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return begin.startswith((b"<!doctype", b"<html"))


def safe_name(identifier: str) -> str:
    """An id as the name of a folder: ids are the platform's word, and must not lead elsewhere."""
    return re.sub(r"[^\w.-]", "_", identifier).lstrip(".") or "_"


class MediaFolder:
    """The files of one post, or of one comment below it."""

    def __init__(
        self, root: Path, platform: str, post_id: str, comment_id: str | None = None
    ) -> None:
        self._root = root
        self.path = root / platform / "media" / safe_name(post_id)
        if comment_id is not None:
            self.path = self.path / "comments" / safe_name(comment_id)
        self._index_path = self.path / INDEX_FILE
        self._index: dict[str, dict[str, Any]] | None = None

    def part(self, position: int) -> Path:
        """Where the file at *position* (from 1) is collected while it downloads."""
        return self.path / f"{position}.part"

    def unjoined(self, position: int) -> Path:
        """Where the video at *position* is put together with its sound."""
        return self.path / f"{position}.joined"

    def whole(self, position: int, source: str) -> dict[str, Any] | None:
        """What is known of a file that is there, whole, and from the same source.

        *source* is its address, or whatever names it better (``Media.source``).
        """
        entry = self._entries().get(str(position))
        if entry is None or entry["source"] != source_key(source):
            return None
        path = self._root / entry["path"]
        return entry if path.is_file() and path.stat().st_size == entry["size"] else None

    def keep(self, position: int, source: str, finished: Path, extension: str) -> dict[str, Any]:
        """Put a finished download in its place and note it; gives what is known of it.

        Reads the file once for its hash: call it in a thread.

        :raises OSError: disk full, no permission.
        """
        return {"source": source_key(source), **self.place(position, finished, extension)}

    def place(self, position: int, finished: Path, extension: str) -> dict[str, Any]:
        """Put a finished file in its place; gives what is known of it but its source.

        Reads the file once for its hash: call it in a thread.

        :raises OSError: disk full, no permission.
        """
        target = self.path / f"{position}.{extension}"
        entry = {
            "path": target.relative_to(self._root).as_posix(),
            "size": finished.stat().st_size,
            "sha256": sha256_of(finished),
            "ext": extension,
        }
        finished.replace(target)
        return entry

    def join(self, video: int, audio: int, whole: dict[str, Any]) -> None:
        """Note that the files at two positions are one now, *whole*; the parts are removed.

        Each position keeps its own source, so a rerun knows both, and fetches neither.

        :raises OSError: disk full, no permission.
        """
        for position in (video, audio):
            before = self._entries()[str(position)]
            self.note(position, {**whole, "source": before["source"]})
            if before["path"] != whole["path"]:
                (self._root / before["path"]).unlink(missing_ok=True)

    def part_again(self, video: int, audio: int) -> None:
        """Forget that the sound is in the video, which is about to be replaced by another one."""
        entries = self._entries()
        pair = [entries.get(str(position), {}).get("path") for position in (video, audio)]
        if pair[0] == pair[1]:
            entries.pop(str(audio), None)

    def note(self, position: int, entry: dict[str, Any]) -> None:
        """Write *entry* into the index."""
        entries = self._entries()
        entries[str(position)] = entry
        temporary = self._index_path.with_suffix(".tmp")
        temporary.write_text(json.dumps(entries, indent=1), "utf-8")
        temporary.replace(self._index_path)

    def _entries(self) -> dict[str, dict[str, Any]]:
        if self._index is None:
            try:
                self._index = json.loads(self._index_path.read_text("utf-8"))
            except (OSError, ValueError):
                self._index = {}
        return self._index


def source_key(source: str) -> str:
    """What stays the same of an address: without query (signatures expire), hashed."""
    return hashlib.sha256(source.partition("?")[0].encode()).hexdigest()[:16]


def sha256_of(path: Path) -> str:
    """The hash of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(HASH_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def fill(media: Media, entry: dict[str, Any]) -> None:
    """Copy what is known of a file to its record."""
    media.path = entry["path"]
    media.size = entry["size"]
    media.sha256 = entry["sha256"]
    media.ext = entry["ext"]
