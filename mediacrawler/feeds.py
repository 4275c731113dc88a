"""How records are written: exporters for typed records, and a storage that keeps files whole.

The exporters know items, not platforms. The storage writes each record at once, so a killed
crawl leaves every finished record in its file, and it turns a full disk into a clean stop.
"""

from __future__ import annotations

import csv
import io
import json
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from scrapy.exporters import CsvItemExporter, JsonItemExporter, JsonLinesItemExporter
from scrapy.extensions.feedexport import FileFeedStorage

from mediacrawler.items import as_record, field_names

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a cell for a formula."""

RESERVE_BYTES = 512 * 1024
"""Room kept free for the last records and the report of a crawl that fills the disk."""


class JsonLinesRecordExporter(JsonLinesItemExporter):
    """One JSON object a line; times as ISO-8601, unknown values as null."""

    def get_serialized_fields(self, item: Any, *_: Any, **__: Any) -> Iterable[tuple[str, Any]]:
        return as_record(item).items()


class JsonRecordExporter(JsonItemExporter):
    """One JSON array of the same objects, one a line."""

    def get_serialized_fields(self, item: Any, *_: Any, **__: Any) -> Iterable[tuple[str, Any]]:
        return as_record(item).items()

    def start_exporting(self) -> None:
        self.file.write(b"[")

    def export_item(self, item: Any) -> None:
        # One write a record, separator included: the file can be cut back to whole records.
        record = self.encoder.encode(as_record(item)).encode()
        self.file.write((b"\n" if self.first_item else b",\n") + record)
        self.first_item = False

    def finish_exporting(self) -> None:
        self.file.write(b"\n]\n")


class CsvRecordExporter(CsvItemExporter):
    """Stable columns, every text quoted (ids stay text), formulas defused, lists as JSON."""

    def __init__(self, file: IO[bytes], **kwargs: Any) -> None:
        super().__init__(cast("io.BytesIO", file), quoting=csv.QUOTE_NONNUMERIC, **kwargs)

    def start_exporting(self) -> None:
        if self.fields_to_export:  # known before the first record: an empty file has columns too
            self._write_header(self.fields_to_export)

    def export_item(self, item: Any) -> None:
        if self._headers_not_written:
            self._write_header(field_names(type(item)))
        self.csv_writer.writerow([csv_cell(value) for value in as_record(item).values()])

    def _write_header(self, names: Iterable[str]) -> None:
        self._headers_not_written = False
        self.csv_writer.writerow(names)


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
        Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        raw = open(self.path, self.write_mode, buffering=0)  # noqa: SIM115 - closed by store()
        return cast("IO[bytes]", RecordFile(raw, Path(self.path), self.crawler))


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
            lost += not self._try(chunk)
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
