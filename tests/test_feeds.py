"""The files of a crawl: what JSON Lines, JSON and CSV hold, also when the disk is full."""

import csv
import errno
import io
import json
from datetime import datetime, timezone
from types import SimpleNamespace

import pytest
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from mediacrawler import settings as project_settings
from mediacrawler.addons import FORMATS
from mediacrawler.feeds import RecordFile, SafeFileStorage, csv_cell, reserve_path
from mediacrawler.items import Comment, Creator, Media, Post, field_names

EMOJI = "第一行，\n第二行 “引号” 🏕️"
CUT = "半个表情 \ud83c"  # a text that the platform has cut in the middle of an emoji
LONG_ID = "7298765432109876543"  # beyond 2**53


def exporter(name, file, **options):
    """An exporter as Scrapy's feed export makes it from the project's settings."""
    known = Settings()
    known.setmodule(project_settings)
    exporter_class = load_object(known["FEED_EXPORTERS"][name])
    return exporter_class(file, **{"encoding": FORMATS[name], "fields_to_export": None, **options})


def exported(name, items, **options):
    file = io.BytesIO()
    one = exporter(name, file, **options)
    one.start_exporting()
    for item in items:
        one.export_item(item)
    one.finish_exporting()
    return file.getvalue()


def rows(content):
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


POSTS = [
    Post("xhs", "65f1a2b3000000000a0b0c0d", title="a", text=EMOJI, like_count=0, tags=["x", "y"]),
    Post("xhs", LONG_ID, published_at=datetime(2025, 10, 19, 13, 38, 7, tzinfo=timezone.utc)),
    Post("xhs", "3", media=[Media("image", "https://cdn/1")], extra={"is_pinned": True}),
]


# --- JSON Lines and JSON ------------------------------------------------------------------------


def read_lines(content):
    return [json.loads(line) for line in content.decode().splitlines()]


@pytest.mark.parametrize(("name", "read"), [("jsonl", read_lines), ("json", json.loads)])
def test_both_json_formats_hold_the_same_objects(name, read):
    content = exported(name, POSTS)
    records = read(content)
    assert [record["post_id"] for record in records] == [post.post_id for post in POSTS]
    assert list(records[0]) == list(field_names(Post))
    assert records[0]["text"] == EMOJI
    assert "露营" not in content.decode()
    assert "第一行" in content.decode()  # readable, not \u7b2c
    assert records[0]["like_count"] == 0
    assert records[0]["comment_count"] is None
    assert records[1]["post_id"] == LONG_ID  # text, whatever it looks like
    assert records[1]["published_at"] == "2025-10-19T13:38:07Z"
    assert records[2]["extra"] == {"is_pinned": True}


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_json_file_is_valid_whatever_it_holds(count):
    assert len(json.loads(exported("json", POSTS[:count]))) == count


def test_each_json_line_is_one_record_although_texts_have_line_breaks():
    post = Post("xhs", "1", text="a\nb\r\nc\u2028d\x85e")
    assert exported("jsonl", [post]).count(b"\n") == 1
    assert json.loads(exported("jsonl", [post]))["text"] == post.text


@pytest.mark.parametrize("name", ["jsonl", "json", "csv"])
def test_half_an_emoji_does_not_cost_the_record(name):
    content = exported(name, [Post("xhs", "1", text=CUT), Post("xhs", "2")]).decode("utf-8-sig")
    assert "半个表情 ?" in content
    assert content.count("半个表情") == 1
    assert '"2"' in content


@pytest.mark.parametrize("name", ["jsonl", "json", "csv"])
@pytest.mark.parametrize(
    ("fields", "record"),
    [
        (["title", "post_id"], {"title": "a", "post_id": "1"}),
        ({"post_id": "note", "title": "headline"}, {"note": "1", "headline": "a"}),
    ],
)
def test_fields_that_the_user_chose_for_a_feed_are_honoured(name, fields, record):
    content = exported(name, [Post("xhs", "1", title="a")], fields_to_export=fields)
    if name == "csv":
        assert rows(content) == [list(record), list(record.values())]
    else:
        (found,) = read_lines(content) if name == "jsonl" else json.loads(content)
        assert found == record


# --- CSV ----------------------------------------------------------------------------------------


def test_a_csv_file_begins_with_a_bom_so_that_spreadsheets_read_chinese():
    content = exported("csv", POSTS)
    assert content.startswith(b"\xef\xbb\xbf")
    assert content.count(b"\xef\xbb\xbf") == 1


def test_csv_columns_are_the_same_in_every_file_and_every_row():
    header, *lines = rows(exported("csv", POSTS))
    assert header == list(field_names(Post))
    assert {len(line) for line in lines} == {len(header)}
    first = dict(zip(header, lines[0], strict=True))
    assert first["text"] == EMOJI
    assert (first["like_count"], first["comment_count"]) == ("0", "")
    assert json.loads(first["tags"]) == ["x", "y"]
    third = dict(zip(header, lines[2], strict=True))
    assert json.loads(third["extra"]) == {"is_pinned": True}
    assert json.loads(third["media"])[0]["url"] == "https://cdn/1"


@pytest.mark.parametrize("item_class", [Post, Comment, Creator])
def test_a_csv_file_without_records_still_has_its_columns(item_class):
    names = field_names(item_class)
    assert rows(exported("csv", [], fields_to_export=names)) == [list(names)]


def test_ids_are_quoted_in_csv_so_that_they_stay_text_and_counts_are_not():
    line = exported("csv", [Post("xhs", LONG_ID, like_count=12)]).decode("utf-8-sig")
    assert f'"{LONG_ID}"' in line
    assert ",12," in line


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        ("", ""),
        ("plain", "plain"),
        ("=1+1", "'=1+1"),
        ('=HYPERLINK("http://evil","x")', '\'=HYPERLINK("http://evil","x")'),
        ("+86 138", "'+86 138"),
        ("-1", "'-1"),
        ("@某人 你好", "'@某人 你好"),
        ("＝1+1", "'＝1+1"),
        ("＠某人", "'＠某人"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("\n=1", "'\n=1"),
        ("a=1", "a=1"),
        ("'quoted'", "'quoted'"),
        (0, 0),
        (-5, -5),
        (1.5, 1.5),
        (True, "true"),
        (False, "false"),
        ([], ""),
        ({}, ""),
        (["=1", "露营"], '["=1", "露营"]'),
        ({"name": "=1"}, '{"name": "=1"}'),
    ],
)
def test_csv_cells_are_never_formulas(value, cell):
    assert csv_cell(value) == cell
    assert type(csv_cell(value)) is type(cell)


def test_one_csv_for_all_kinds_of_records_keeps_its_columns_and_says_what_it_drops(caplog):
    mixed = [Post("xhs", "p", title="a"), Comment("xhs", "c", "p", text="b"), Comment("xhs", "d")]
    header, *lines = rows(exported("csv", mixed))
    second = dict(zip(header, lines[1], strict=True))
    assert (second["platform"], second["post_id"], second["text"]) == ("xhs", "p", "b")
    assert second["title"] == ""
    warnings = [record for record in caplog.records if record.levelname == "WARNING"]
    assert ["comment" in record.getMessage() for record in warnings] == [True]


# --- A disk that fills up -----------------------------------------------------------------------


class FullDisk(io.BytesIO):
    """A file on a disk with room for `room` bytes, and for `reserved` more once that is freed."""

    def __init__(self, room, reserve, reserved):
        super().__init__()
        self.room, self.reserve, self.reserved = room, reserve, reserved
        self.content = b""

    def write(self, data):
        limit = self.room + (0 if self.reserve.exists() else self.reserved)
        fits = max(0, limit - self.tell())
        if fits == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(bytes(data)[:fits])  # a short write first, as the kernel does it

    def close(self):
        self.content = self.getvalue()
        super().close()


class Crawl:
    """What the storage needs of a crawler: a run folder, and something that can be stopped."""

    def __init__(self, folder):
        folder.mkdir(exist_ok=True)
        reserve_path(folder).write_bytes(b"reserve")
        self.settings = {"RUN_FOLDER": str(folder)}
        self.stops = []
        self.spider = SimpleNamespace(stop=lambda *reason: self.stops.append(reason))


def crawl_on_full_disk(tmp_path, name, *, room, reserved, items):
    crawl = Crawl(tmp_path / "run")
    disk = FullDisk(room, reserve_path(tmp_path / "run"), reserved)
    file = RecordFile(disk, tmp_path / "run" / f"posts.{name}", crawl)
    one = exporter(name, file, fields_to_export=field_names(Post))
    one.start_exporting()
    for item in items:
        one.export_item(item)
    one.finish_exporting()
    before_close = disk.getvalue()
    file.close()
    return crawl, before_close, disk.content


def whole_ids(name, content):
    """The ids in a file; fails if anything but whole records is in it."""
    if name == "jsonl":
        assert not content or content.endswith(b"\n")
        return [record["post_id"] for record in read_lines(content)]
    if name == "json":
        return [record["post_id"] for record in json.loads(content)]
    header, *lines = rows(content)
    assert content.endswith(b"\n")
    assert {len(line) for line in lines} <= {len(header)}
    return [line[header.index("post_id")] for line in lines]


MANY = [Post("xhs", f"p{n}", text="字" * (40 * n % 97)) for n in range(12)]
FILE = {name: exported(name, MANY, fields_to_export=field_names(Post)) for name in FORMATS}
SHARES = [0, 0.02, 0.3, 0.5, 0.77, 0.9999]  # of the file that fit onto the disk at first


@pytest.mark.parametrize("name", ["jsonl", "json", "csv"])
@pytest.mark.parametrize("share", SHARES)
def test_what_did_not_fit_is_written_at_the_end_into_the_reserve(tmp_path, name, share):
    room = int(len(FILE[name]) * share)
    crawl, _, content = crawl_on_full_disk(tmp_path, name, room=room, reserved=10**6, items=MANY)
    assert content == FILE[name]
    assert crawl.stops


@pytest.mark.parametrize("name", ["jsonl", "json", "csv"])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("reserved", [0, 3, 20, 400, 900])
def test_a_file_holds_whole_records_when_even_the_reserve_is_too_small(
    tmp_path, name, share, reserved
):
    head = len(FILE[name].partition(b"\n")[0]) + 1 if name == "csv" else 2
    room = head + int((len(FILE[name]) - head) * share)
    _, before_close, content = crawl_on_full_disk(
        tmp_path, name, room=room, reserved=reserved, items=MANY
    )
    assert content.startswith(before_close)
    if name == "json":  # at worst the bracket at the end is missing
        before_close += b"\n]\n"
        content += b"" if content.endswith(b"\n]\n") else b"\n]\n"
    whole_ids(name, before_close)
    found = whole_ids(name, content)
    assert found == [post.post_id for post in MANY if post.post_id in found]


def test_an_array_whose_first_record_is_lost_is_still_an_array(tmp_path):
    items = [Post("xhs", "long", text="字" * 1000), Post("xhs", "short"), Post("xhs", "shorter")]
    _, _, content = crawl_on_full_disk(tmp_path, "json", room=1, reserved=1500, items=items)
    assert json.loads(content) == []  # a record after the gap would begin with a comma


def test_lost_records_are_counted_in_one_line(tmp_path, caplog):
    _, _, content = crawl_on_full_disk(tmp_path, "jsonl", room=1000, reserved=0, items=MANY)
    lost = len(MANY) - len(whole_ids("jsonl", content))
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert "posts.jsonl" in line
    assert f" {lost} writes were lost" in line


def test_a_full_disk_stops_the_crawl_with_a_line_that_says_what_to_do(tmp_path):
    crawl, _, _ = crawl_on_full_disk(tmp_path, "jsonl", room=0, reserved=10**6, items=MANY)
    verdict, reason = crawl.stops[0]
    assert verdict == "error"
    assert "posts.jsonl: No space left on device" in reason
    assert "SAVE_DATA_PATH" in reason
    assert not reserve_path(tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["jsonl", "json", "csv"])
def test_without_trouble_each_record_is_in_the_file_as_soon_as_it_is_exported(tmp_path, name):
    crawl = Crawl(tmp_path / "run")
    disk = FullDisk(10**6, reserve_path(tmp_path / "run"), 0)
    one = exporter(name, RecordFile(disk, tmp_path, crawl), fields_to_export=field_names(Post))
    one.start_exporting()
    for item in MANY:
        one.export_item(item)
        assert f'"{item.post_id}"'.encode() in disk.getvalue()
    assert crawl.stops == []


# --- The storage --------------------------------------------------------------------------------


def storage(crawl, path, **options):
    return SafeFileStorage.from_crawler(crawl, str(path), feed_options=options)


@pytest.mark.parametrize("folder", ["plain", "with blank", "数据 #1?", "100% sure", "a%20b"])
def test_files_lie_where_the_user_said_whatever_the_name(tmp_path, folder):
    path = tmp_path / folder / "deep" / "posts.jsonl"
    file = storage(Crawl(tmp_path / "run"), path, overwrite=True).open(None)
    file.write(b"{}\n")
    file.close()
    file.close()  # Scrapy and the interpreter may both close it
    assert path.read_bytes() == b"{}\n"


@pytest.mark.parametrize(("overwrite", "content"), [(True, b"new\n"), (False, b"old\nnew\n")])
def test_a_feed_overwrites_or_appends_as_it_was_asked_to(tmp_path, overwrite, content):
    path = tmp_path / "posts.jsonl"
    path.write_bytes(b"old\n")
    file = storage(Crawl(tmp_path / "run"), path, overwrite=overwrite).open(None)
    file.write(b"new\n")
    file.close()
    assert path.read_bytes() == content


def test_a_file_that_cannot_be_made_stops_the_crawl(tmp_path):
    crawl = Crawl(tmp_path / "run")
    (tmp_path / "taken").write_bytes(b"a file, not a folder")
    with pytest.raises(OSError, match="taken"):
        storage(crawl, tmp_path / "taken" / "posts.jsonl").open(None)
    ((verdict, reason),) = crawl.stops
    assert verdict == "error"
    assert "posts.jsonl" in reason


def test_records_are_the_same_in_all_formats():
    for name in FORMATS:
        assert whole_ids(name, FILE[name]) == [post.post_id for post in MANY]
