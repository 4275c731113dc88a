"""How records are written: exporters for typed records, and a storage that keeps files whole.

The exporters know items, not platforms. The storage writes each record at once, so a killed
crawl leaves every finished record in its file, and it turns a full disk into a clean stop.
"""

from __future__ import annotations

import csv
import io
import json
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast

from scrapy.exporters import CsvItemExporter, JsonItemExporter, JsonLinesItemExporter
from scrapy.extensions.feedexport import FileFeedStorage

from mediacrawler.items import as_record, field_names

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)

Fields: TypeAlias = "Mapping[str, str] | Iterable[str]"
"""Names of fields, or names and what they are called in the file."""

FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")
"""What makes a spreadsheet take a cell for a formula (in East Asian versions full-width too)."""

RESERVE_BYTES = 512 * 1024
"""Room kept free for the last records and the report of a crawl that fills the disk."""


class JsonLinesRecordExporter(JsonLinesItemExporter):
    """One JSON object a line; times as ISO-8601, unknown values as null."""

    def export_item(self, item: Any) -> None:
        record = chosen(as_record(item), self.fields_to_export)
        self.file.write(encoded(self.encoder.encode(record) + "\n", self.encoding))


class JsonRecordExporter(JsonItemExporter):
    """One JSON array of the same objects, one a line."""

    def start_exporting(self) -> None:
        self.file.write(b"[")

    def export_item(self, item: Any) -> None:
        # One write a record, separator included: the file can be cut back to whole records.
        record = chosen(as_record(item), self.fields_to_export)
        separator = "\n" if self.first_item else ",\n"
        self.file.write(encoded(separator + self.encoder.encode(record), self.encoding))
        self.first_item = False

    def finish_exporting(self) -> None:
        self.file.write(b"\n]\n")


class CsvRecordExporter(CsvItemExporter):
    """Stable columns, every text quoted (ids stay text), formulas defused, lists as JSON."""

    def __init__(self, file: IO[bytes], **kwargs: Any) -> None:
        super().__init__(
            cast("io.BytesIO", file), quoting=csv.QUOTE_NONNUMERIC, errors="replace", **kwargs
        )

    def start_exporting(self) -> None:
        if self.fields_to_export:  # known before the first record: an empty file has columns too
            self._write_header(self.fields_to_export)

    def export_item(self, item: Any) -> None:
        record = as_record(item)
        if not self.fields_to_export:  # as in Scrapy: the first record decides for all
            self.fields_to_export = field_names(type(item))
            self._autodetected_fields = True
        if self._headers_not_written:
            self._write_header(self.fields_to_export)
        if self._autodetected_fields and not record.keys() <= set(self.fields_to_export):
            self._warn_once(item)
        self.csv_writer.writerow([csv_cell(record.get(name)) for name in self.fields_to_export])

    def _warn_once(self, item: Any) -> None:
        if not self._data_loss_warned:
            logger.warning(
                "a CSV file has the columns of its first record, so what only a %s has is left "
                "out; EXPORT_FORMATS=csv gives each kind of record a file of its own",
                type(item).__name__.lower(),
            )
        self._data_loss_warned = True

    def _write_header(self, fields: Fields) -> None:
        self._headers_not_written = False
        self.csv_writer.writerow(fields.values() if isinstance(fields, Mapping) else fields)


def chosen(record: dict[str, Any], fields: Fields | None) -> dict[str, Any]:
    """What a feed's option "fields" leaves of a record; with a mapping, under other names."""
    if not fields:
        return record
    if isinstance(fields, Mapping):
        return {shown: record[name] for name, shown in fields.items() if name in record}
    return {name: record[name] for name in fields if name in record}


def encoded(text: str, encoding: str | None) -> bytes:
    """Bytes for a file; half an emoji, as cut texts end with, becomes a question mark."""
    return text.encode(encoding or "utf-8", "replace")


def csv_cell(value: Any) -> str | int | float:
    """What a CSV cell holds for a JSON value; None is empty, True/False are words.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False) if value else ""
    text = str(value)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


class SafeFileStorage(FileFeedStorage):
    """Scrapy's file storage, with :class:`RecordFile` as the file."""

    crawler: Crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler, uri: str, *, feed_options: Any = None) -> Self:
        storage = cls(uri, feed_options=feed_options)
        storage.crawler = crawler
        return storage

    def open(self, spider: Spider) -> IO[bytes]:
        path = Path(self.path)
        try:
            raw = self._open(path)
        except OSError as error:
            stop_on_disk_error(self.crawler, path, error)
            raw = self._open(path)  # into the room that the reserve has left
        return cast("IO[bytes]", RecordFile(raw, path, self.crawler))

    def _open(self, path: Path) -> io.RawIOBase:
        path.parent.mkdir(parents=True, exist_ok=True)
        return open(path, self.write_mode, buffering=0)


class RecordFile(io.RawIOBase):
    """A file that consists of whole writes: one that fails is undone, kept, and tried again.

    Exporters write one record at a time, so after a failed write the file still ends with a
    whole record. The first failure stops the crawl; what could not be written is written when
    the file is closed, into the room that the run folder holds in reserve.
    """

    def __init__(self, raw: io.RawIOBase, path: Path, crawler: Crawler) -> None:
        self._raw = raw
        self._path = path
        self._crawler = crawler
        self._pending: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        chunk = bytes(data)
        if self._pending or not self._try(chunk):
            self._pending.append(chunk)
        return len(chunk)

    def _try(self, chunk: bytes) -> bool:
        start = self._raw.tell()
        try:
            written = self._raw.write(chunk) or 0
            while written < len(chunk):
                written += self._raw.write(chunk[written:]) or 0
        except OSError as error:
            self._raw.truncate(start)
            self._raw.seek(start)
            stop_on_disk_error(self._crawler, self._path, error)
            return False
        return True

    def close(self) -> None:
        if self.closed:
            return
        lost = 0
        for chunk in self._pending:
            # After a gap only the end (of a JSON array) may follow, not a record.
            is_end = chunk is self._pending[-1]
            if (lost and not is_end) or not self._try(chunk):
                lost += 1
        if lost:
            logger.error("%s: %d writes were lost; the disk stayed full", self._path, lost)
        self._raw.close()
        super().close()


def reserve_path(folder: Path) -> Path:
    """The file that keeps room on the disk while a crawl runs."""
    return folder / ".reserve"


def stop_on_disk_error(crawler: Crawler, path: Path, error: OSError) -> None:
    """Stop the crawl with a line that says what to do, and free the reserve for its end."""
    spider: Any = crawler.spider
    reserve_path(Path(crawler.settings["RUN_FOLDER"])).unlink(missing_ok=True)
    spider.stop(
        "error",
        f"cannot write {path}: {error.strerror or error}; make room or choose another "
        "SAVE_DATA_PATH, then start again",
    )
