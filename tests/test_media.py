"""Media files on disk: their type, their place, and when one need not be fetched again."""

import hashlib
import json

import pytest

from mediacrawler.items import Media
from mediacrawler.media import INDEX_FILE, MediaFolder, file_type, fill, source_key, together
from mediacrawler.pipelines import extension_of

JPEG = b"\xff\xd8\xff\xe0" + b"picture " * 40
URL = "https://sns-video-bd.xhscdn.com/stream/110/259/01e.mp4?sign=0a1b&t=68f4e9bf"


# --- Types --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "extension"),
    [
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "jpg"),
        (b"\xff\xd8\xff\xe1\x00\x10Exif", "jpg"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "png"),
        (b"GIF89a\x01\x00", "gif"),
        (b"RIFF\x24\x00\x00\x00WEBPVP8 ", "webp"),
        (b"\x00\x00\x00\x18ftypheic\x00\x00", "heic"),
        (b"\x00\x00\x00\x18ftypavif\x00\x00", "avif"),
        (b"\x00\x00\x00\x18ftypavis\x00\x00", "avif"),
        (b"\x00\x00\x00\x18ftypmsf1\x00\x00", "heic"),
        (b"\x00\x00\x00\x18ftypmp42\x00\x00", "mp4"),
        (b"\x00\x00\x00\x20ftypisom\x00\x00", "mp4"),
        (b"\x00\x00\x00\x14ftypqt  \x00\x00", "mov"),
        (b"\x00\x00\x00\x20ftypM4A \x00\x00", "m4a"),
        (b"\x1aE\xdf\xa3\x9fB\x86", "webm"),
        (b"FLV\x01\x05", "flv"),
        (b"ID3\x04\x00", "mp3"),
        (b"<!DOCTYPE html><html>", None),
        (b'{"code": 403}', None),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", None),
        (b"\x89PNG", None),  # cut
        (b"\xff\xd8", None),
        (b"", None),
    ],
)
def test_the_content_tells_the_type(head, extension):
    assert file_type(head) == extension


MP4 = b"\x00\x00\x00\x20ftypisom\x00\x00"


@pytest.mark.parametrize(
    ("kind", "told", "head", "extension"),
    [
        ("image", "png", JPEG, "jpg"),  # whatever the platform calls it
        ("cover", None, b"RIFF\x24\x00\x00\x00WEBPVP8 ", "webp"),
        ("video", "mp4", b"FLV\x01\x05", "flv"),
        ("audio", "m4a", MP4, "m4a"),
        ("live_photo", "mov", MP4, "mp4"),
        ("video", "mp4", b"\x00\x01 something new", "mp4"),
        ("image", None, b"\x00\x01 something new", None),
        ("video", "mp4", JPEG, None),  # a notice instead of the video
        ("image", "jpg", MP4, None),
        ("video", "mp4", b"#EXTM3U\n#EXT-X-VERSION:3", None),  # names other files, is none
        ("image", "jpg", b" <html>", None),
        ("video", "mp4", b'{"code": 403}', None),
        ("subtitle", "srt", b"\xef\xbb\xbf1\n00:00:01,000", "srt"),
        ("subtitle", "srt", b'{"code": 403}', None),
        ("subtitle", "json", b'{"font_size": 0.4', "json"),
        ("subtitle", "xml", b'<?xml version="1.0"?><i>', "xml"),
        ("subtitle", "xml", b"\n<!DOCTYPE html>", None),
        ("subtitle", "json", b"<html><body>", None),
    ],
)
def test_a_file_is_what_its_content_says_or_no_file_of_its_kind(kind, told, head, extension):
    assert extension_of(Media(kind, ext=told), head) == extension


# --- Places -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("post_id", "name"),
    [
        ("65f1a2b3000000000a0b0c0d", "65f1a2b3000000000a0b0c0d"),
        ("BV1xx-4y1_7.x", "BV1xx-4y1_7.x"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("..", "_"),
        (".", "_"),
        ("", "_"),
        ("/etc", "_etc"),
        ("a/b\\c:d", "a_b_c_d"),
        ("a\x00b\n", "a_b_"),
        (".hidden", "hidden"),
    ],
)
def test_no_id_leads_out_of_the_media_folder(tmp_path, post_id, name):
    folder = MediaFolder(tmp_path, "xhs", post_id)
    assert folder.path == tmp_path / "xhs" / "media" / name
    assert folder.path.resolve().parent == (tmp_path / "xhs" / "media").resolve()
    assert folder.part(3).parent == folder.path


def test_the_files_of_a_comment_lie_below_those_of_its_post(tmp_path):
    folder = MediaFolder(tmp_path, "xhs", "p", "c")
    assert folder.path == MediaFolder(tmp_path, "xhs", "p").path / "comments" / "c"
    outside = MediaFolder(tmp_path, "xhs", "p", "../../q")
    assert outside.path.parent == folder.path.parent


# --- What is there already ----------------------------------------------------------------------


def collected(root, *, position=1, url=URL, content=JPEG, extension="jpg", post_id="p"):
    """A folder with one file, put there as the pipeline does it; and what is known of it."""
    folder = MediaFolder(root, "xhs", post_id)
    folder.path.mkdir(parents=True, exist_ok=True)
    folder.part(position).write_bytes(content)
    entry = folder.keep(position, url, folder.part(position), extension)
    folder.note(position, entry)
    return folder, entry


def next_run(root, post_id="p"):
    return MediaFolder(root, "xhs", post_id)


def test_a_finished_file_lies_at_its_position_and_its_record_says_all_about_it(tmp_path):
    folder, entry = collected(tmp_path, position=2)
    assert sorted(path.name for path in folder.path.iterdir()) == ["2.jpg", INDEX_FILE]
    assert (folder.path / "2.jpg").read_bytes() == JPEG
    media = Media("image", URL)
    fill(media, entry)
    assert media.path == "xhs/media/p/2.jpg"  # relative to SAVE_DATA_PATH
    assert (tmp_path / media.path).is_file()
    assert media.size == len(JPEG)
    assert media.sha256 == hashlib.sha256(JPEG).hexdigest()
    assert media.ext == "jpg"


def test_the_hash_of_a_large_file_is_of_all_its_bytes(tmp_path):
    content = JPEG + bytes(range(256)) * 10_000  # more than two pieces
    _, entry = collected(tmp_path, content=content)
    assert entry["sha256"] == hashlib.sha256(content).hexdigest()
    assert entry["size"] == len(content)


@pytest.mark.parametrize(
    ("url", "there"),
    [
        (URL, True),
        (URL.partition("?")[0], True),
        (URL.replace("0a1b", "ffff"), True),  # only the signature of the address is new
        (URL.replace("01e.mp4", "02f.mp4"), False),  # another file at the same position
        (URL.replace("sns-video-bd", "elsewhere"), False),
    ],
)
def test_a_file_is_fetched_again_only_if_its_source_has_changed(tmp_path, url, there):
    _, entry = collected(tmp_path)
    assert next_run(tmp_path).whole(1, url) == (entry if there else None)


@pytest.mark.parametrize("position", [2, 11])
def test_another_position_is_another_file(tmp_path, position):
    collected(tmp_path, position=1)
    assert next_run(tmp_path).whole(position, URL) is None


def test_another_post_has_other_files(tmp_path):
    collected(tmp_path, post_id="p")
    assert next_run(tmp_path, "q").whole(1, URL) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(JPEG[:-1]),
        lambda path: path.write_bytes(JPEG + b"x"),
        lambda path: path.write_bytes(b""),
        lambda path: path.unlink(),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["cut", "longer", "empty", "missing", "a folder"],
)
def test_a_file_that_is_not_whole_is_fetched_again(tmp_path, damage):
    folder, _ = collected(tmp_path)
    damage(folder.path / "1.jpg")
    assert next_run(tmp_path).whole(1, URL) is None


@pytest.mark.parametrize("content", [b"", b'{"1": {"sou', b"\xff\xfe\x00", b"not json"])
def test_a_damaged_index_means_that_nothing_is_known(tmp_path, content):
    folder, _ = collected(tmp_path)
    (folder.path / INDEX_FILE).write_bytes(content)
    fresh = next_run(tmp_path)
    assert fresh.whole(1, URL) is None
    fresh.note(1, {"source": source_key(URL), "path": "x", "size": 1, "sha256": "", "ext": "jpg"})
    assert json.loads((folder.path / INDEX_FILE).read_bytes()).keys() == {"1"}


def test_a_file_whose_source_changed_takes_the_place_of_the_old_one(tmp_path):
    collected(tmp_path)
    changed = URL.replace("01e", "02f")
    folder, entry = collected(tmp_path, url=changed, content=JPEG * 2)
    assert (folder.path / "1.jpg").read_bytes() == JPEG * 2
    assert next_run(tmp_path).whole(1, changed) == entry
    assert next_run(tmp_path).whole(1, URL) is None


def test_the_index_grows_file_by_file_and_leaves_nothing_else_behind(tmp_path):
    for position in (1, 2, 3):
        collected(tmp_path, position=position, url=f"https://cdn/{position}")
    folder = next_run(tmp_path)
    assert all(folder.whole(n, f"https://cdn/{n}?fresh=1") for n in (1, 2, 3))
    names = sorted(path.name for path in folder.path.iterdir())
    assert names == ["1.jpg", "2.jpg", "3.jpg", INDEX_FILE]


def test_the_index_does_not_hold_addresses(tmp_path):
    folder, _ = collected(tmp_path, url="https://wx1.sinaimg.cn/large/uploader1234.jpg?k=secret")
    text = (folder.path / INDEX_FILE).read_text("utf-8")
    assert "uploader1234" not in text
    assert "secret" not in text


def test_the_data_folder_can_be_moved(tmp_path):
    collected(tmp_path / "before")
    (tmp_path / "before").rename(tmp_path / "after")
    assert next_run(tmp_path / "after").whole(1, URL) is not None


# --- A video and its sound ----------------------------------------------------------------------

SOUND = URL.replace("01e.mp4", "01e.m4s")


@pytest.mark.parametrize(
    ("kinds", "groups"),
    [
        ("", []),
        ("video", [[1]]),
        ("video soundtrack", [[1, 2]]),
        ("video audio", [[1], [2]]),  # music, a voice message: a file of its own
        (
            "cover video soundtrack video soundtrack subtitle",
            [[1], [2, 3], [4, 5], [6]],
        ),
        ("video soundtrack soundtrack", [[1, 2], [3]]),
        ("video image soundtrack", [[1], [2], [3]]),
        ("soundtrack video", [[1], [2]]),
    ],
)
def test_a_sound_belongs_to_the_video_right_before_it_if_it_is_said_to(kinds, groups):
    media = [
        Media("audio", soundtrack=True) if kind == "soundtrack" else Media(kind)
        for kind in kinds.split()
    ]
    assert together(media) == groups


def joined(root, *, extension="mp4"):
    """A folder in which video 1 and its sound 2 have become one file."""
    folder, _ = collected(root, position=1, content=JPEG, extension=extension)
    collected(root, position=2, url=SOUND, content=JPEG, extension="m4a")
    folder = next_run(root)
    folder.unjoined(1).write_bytes(JPEG * 3)
    folder.join(1, 2, folder.place(1, folder.unjoined(1), "mp4"))
    return folder


@pytest.mark.parametrize("extension", ["mp4", "webm"])
def test_a_video_and_its_sound_become_one_file_that_both_positions_know(tmp_path, extension):
    folder = joined(tmp_path, extension=extension)
    assert sorted(path.name for path in folder.path.iterdir()) == ["1.mp4", INDEX_FILE]
    video, sound = (next_run(tmp_path).whole(n, url) for n, url in ((1, URL), (2, SOUND)))
    assert video["path"] == sound["path"] == "xhs/media/p/1.mp4"
    assert video["size"] == sound["size"] == len(JPEG) * 3
    assert video["sha256"] == sound["sha256"] == hashlib.sha256(JPEG * 3).hexdigest()
    assert next_run(tmp_path).whole(2, URL) is None  # each keeps its own source


def test_a_sound_is_not_there_any_more_once_its_video_is_replaced(tmp_path):
    joined(tmp_path)
    folder = next_run(tmp_path)
    folder.part_again(1, 2)
    assert folder.whole(2, SOUND) is None
    collected(tmp_path, position=2, url=SOUND, extension="m4a")
    folder = next_run(tmp_path)
    folder.part_again(1, 2)  # a file of its own stays known
    assert folder.whole(2, SOUND)["path"] == "xhs/media/p/2.m4a"


def test_nothing_parts_where_nothing_is(tmp_path):
    next_run(tmp_path).part_again(1, 2)
    assert not (tmp_path / "xhs").exists()
