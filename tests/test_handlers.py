"""A file being downloaded: what is asked for after an interruption, and where it goes on."""

import pytest
from scrapy.exceptions import ResponseDataLossError

from mediacrawler.handlers import PartialFile

ETAG = b'"68f4-1a2b"'


def partial(folder, content=None, etag=None):
    """What an interrupted download has left in *folder*."""
    part = PartialFile(folder / "1.part")
    if etag is not None or content is not None:
        part.begin(200, None, etag)
    if content is not None:
        part.path.write_bytes(content)
    return PartialFile(folder / "1.part")  # as the next run finds it


def left(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("content", "etag", "headers"),
    [
        (None, None, {}),  # nothing is there yet
        (b"", ETAG, {}),
        (b"abc", None, {}),  # nobody knows whether it is still the same file
        (b"abc", b'W/"68f4"', {}),  # a weak validator does not promise equal bytes
        (b"abc", b"", {}),
        (b"abc", ETAG, {"Range": "bytes=3-", "If-Range": '"68f4-1a2b"'}),
        (bytes(70_000), ETAG, {"Range": "bytes=70000-", "If-Range": '"68f4-1a2b"'}),
    ],
)
def test_only_the_rest_of_a_file_is_asked_for_if_it_can_be_known_to_be_the_same(
    tmp_path, content, etag, headers
):
    assert partial(tmp_path, content, etag).resume_headers() == headers


def test_a_partial_answer_goes_on_where_the_file_ends(tmp_path):
    part = partial(tmp_path, b"abc", ETAG)
    assert part.begin(206, b"bytes 3-9/10", ETAG) == 3
    assert part.path.read_bytes() == b"abc"
    assert part.resume_headers()["Range"] == "bytes=3-"  # another interruption changes nothing


def test_a_partial_answer_from_the_beginning_suits_an_empty_file(tmp_path):
    assert partial(tmp_path).begin(206, b"bytes 0-9/10", ETAG) == 0


@pytest.mark.parametrize(
    "content_range",
    [None, b"", b"bytes 2-9/10", b"bytes 4-9/10", b"bytes 0-9/10", b"bytes */10", b"3-9/10"],
)
def test_a_partial_answer_that_starts_elsewhere_is_an_error_and_the_next_try_starts_afresh(
    tmp_path, content_range
):
    part = partial(tmp_path, b"abc", ETAG)
    with pytest.raises(ResponseDataLossError):
        part.begin(206, content_range, ETAG)
    assert part.resume_headers() == {}
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("etag", "names"),
    [(b'"new"', ["1.part.etag"]), (None, []), (b'W/"weak"', [])],
)
def test_a_whole_answer_starts_the_file_anew_with_its_own_validator(tmp_path, etag, names):
    part = partial(tmp_path, b"old content", ETAG)
    assert part.begin(200, None, etag) == 0
    assert left(tmp_path) == names
    part.path.write_bytes(b"new")
    expected = {"Range": "bytes=3-", "If-Range": '"new"'} if names else {}
    assert part.resume_headers() == expected


def test_the_size_is_what_lies_on_the_disk(tmp_path):
    assert partial(tmp_path).size() == 0
    assert partial(tmp_path, b"abcd", ETAG).size() == 4


def test_discarding_leaves_nothing_and_may_be_done_twice(tmp_path):
    part = partial(tmp_path, b"abc", ETAG)
    part.discard()
    part.discard()
    assert left(tmp_path) == []
    assert part.resume_headers() == {}


def test_two_files_of_a_post_do_not_share_what_is_known_of_them(tmp_path):
    first, second = PartialFile(tmp_path / "1.part"), PartialFile(tmp_path / "2.part")
    for part, etag in ((first, b'"one"'), (second, b'"two"')):
        part.begin(200, None, etag)
        part.path.write_bytes(b"abc")
    assert first.resume_headers()["If-Range"] == '"one"'
    assert second.resume_headers()["If-Range"] == '"two"'
