"""The readers that all platforms share."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from mediacrawler.exceptions import UnexpectedResponse
from mediacrawler.pages import fields


def test_extra_has_only_what_says_something() -> None:
    silent = {"a": None, "b": "", "c": [], "d": {}, "e": False}
    assert fields.present(**silent, f=0, g=True, h="x", i=[None]) == {
        "f": 0,
        "g": True,
        "h": "x",
        "i": [None],
    }


def test_a_row_that_cannot_be_read_is_counted_and_loses_no_other() -> None:
    def read(row: dict[str, Any]) -> int | None:
        if row["id"] == 2:
            raise UnexpectedResponse("odd")
        return row["id"] or None

    rows = [{"id": 1}, None, "x", [], {"id": 2}, {"id": None}, {"id": 3}]
    assert fields.read_rows(rows, read) == ([1, 3], 5)


@pytest.mark.parametrize("value", [True, 1, 1.0, "1", "true"])
def test_yes(value: Any) -> None:
    assert fields.as_flag(value)


@pytest.mark.parametrize("value", [False, 0, None, "", "0", "false", -1, 2, [], {}, [1], "yes"])
def test_no(value: Any) -> None:
    assert not fields.as_flag(value)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (12, 12.0),
        ("12.5", 12.5),
        *((value, None) for value in (0, -1, "x", None, [], 10**400)),
        *((float(value), None) for value in ("nan", "inf")),
    ],
)
def test_a_length_in_seconds(value: Any, seconds: float | None) -> None:
    assert fields.as_seconds(value) == seconds


@pytest.mark.parametrize(
    ("shown", "number"),
    [
        (0, 0),
        (1234, 1234),
        (12.0, 12),
        ("1,234", 1234),
        (" 1.2万 ", 12_000),
        ("1.1万", 11_000),
        ("10万+", 100_000),
        ("3千", 3_000),
        ("5K", 5_000),
        ("2w", 20_000),
        ("1.1亿", 110_000_000),
        (2**63 - 1, 2**63 - 1),
        *((value, None) for value in (None, "", " ", "-", "--", "赞", "1.2.3", "万", [], {}, True)),
        *((value, None) for value in (-1, "-1", 2**63, "9" * 30, 1e999, float("nan"))),
    ],
)
def test_a_count_as_it_is_shown(shown: Any, number: int | None) -> None:
    found = fields.count(shown)
    assert found == number
    assert found is None or type(found) is int


@pytest.mark.parametrize(
    "value", [1_700_000_000, "1700000000", 1_700_000_000_000, "1700000000000", 1_700_000_000.9]
)
def test_a_time_in_seconds_or_milliseconds(value: Any) -> None:
    assert fields.timestamp(value) == datetime(2023, 11, 14, 22, 13, 20, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    "value", [None, "", 0, "0", -1, True, "yesterday", [], {}, 10**17, 10**40, float("inf")]
)
def test_a_time_that_is_not_told(value: Any) -> None:
    assert fields.timestamp(value) is None


@pytest.mark.parametrize(
    ("shown", "place"),
    [
        ("IP属地：安徽", "安徽"),
        ("IP 属地湖北", "湖北"),
        ("ip属地: 云南", "云南"),
        ("发布于 北京", "北京"),
        ("来自安徽", "安徽"),
        ("其他", "其他"),
        ("IP属地：", None),
        ("", None),
        (None, None),
        ({"name": "安徽"}, None),
    ],
)
def test_a_place_without_the_words_before_it(shown: Any, place: str | None) -> None:
    assert fields.place_of(shown) == place


@pytest.mark.parametrize(
    ("url", "whole", "secure"),
    [
        ("//a.example/x", "https://a.example/x", "https://a.example/x"),
        ("http://a.example/x", "http://a.example/x", "https://a.example/x"),
        ("https://a.example/?u=http://b/", *["https://a.example/?u=http://b/"] * 2),
        ("/x//y", "/x//y", "/x//y"),
    ],
)
def test_an_address_made_whole(url: str, whole: str, secure: str) -> None:
    assert (fields.with_scheme(url), fields.https(url)) == (whole, secure)


def test_attributes_of_a_tag() -> None:
    source = ' Class="a b" data-x=\'1&amp;2\' width=3 eeimg title="" '
    assert fields.tag_attributes(source) == {
        "class": "a b",
        "data-x": "1&amp;2",
        "width": "3",
        "eeimg": "",
        "title": "",
    }


@pytest.mark.parametrize("page", ["<html>", " \n" * 99 + "<p>", "\ufeff<!DOCTYPE html>"])
def test_a_page_is_known_by_its_first_character(page: str) -> None:
    assert fields.page_text(page) == page
    assert fields.page_text(page.encode()) == page


@pytest.mark.parametrize("body", ['{"a": "<p>"}', "", "x<p>", {"a": "<p>"}])
def test_anything_else_is_no_page(body: Any) -> None:
    assert fields.page_text(body) is None
    if isinstance(body, str):
        assert fields.page_text(body.encode()) is None


@pytest.mark.parametrize("body", [b'{"a":"\t\xe8\x8c\xb6"}', '{"a":"\t茶"}', {"a": "\t茶"}])
def test_an_answer_that_is_an_object(body: Any) -> None:
    assert fields.decode_object(body) == {"a": "\t茶"}


@pytest.mark.parametrize("body", ["", " ", "[]", "null", '"x"', '{"a":', "<p>", "[" * 100_000])
def test_an_answer_that_is_none(body: str) -> None:
    with pytest.raises(UnexpectedResponse):
        fields.decode_object(body)


def test_data_in_a_page_ends_where_it_ends() -> None:
    page = 'x={"a":"];}</p>"};(function(){})'
    assert fields.decode_json_at(page, 2) == {"a": "];}</p>"}
    with pytest.raises(UnexpectedResponse):
        fields.decode_json_at(page[:9], 2)
