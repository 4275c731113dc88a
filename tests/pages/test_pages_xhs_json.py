"""How XHS spells what it knows, and the state of its pages."""

import pytest

from mediacrawler.exceptions import UnexpectedResponse
from mediacrawler.pages import xhs_json as read


def state_of(literal, name="__INITIAL_STATE__", gap=""):
    return read.state(f"<html><script>window.{name}{gap}={gap}{literal}</script></html>")


@pytest.mark.parametrize(
    ("literal", "state"),
    [
        ('{"a":undefined}', {"a": None}),
        ('{"a":[undefined,undefined],"b": undefined }', {"a": [None, None], "b": None}),
        ('{"undefined":{"note":{}}}', {"undefined": {"note": {}}}),
        ('{"a":"is undefined, or"}', {"a": "is undefined, or"}),
        (r'{"a":":undefined,","b":undefined}', {"a": ":undefined,", "b": None}),
        (r'{"a":"\"","b":undefined}', {"a": '"', "b": None}),
        (
            r'{"a":"\\","b":undefined,"c":"\\\"undefined"}',
            {"a": "\\", "b": None, "c": '\\"undefined'},
        ),
        (r'{"a":"\u002Fx\u003C\u002Fscript\u003E"}', {"a": "/x</script>"}),
        ('{"a":"line\nbreak\tand tab"}', {"a": "line\nbreak\tand tab"}),
        ('{"a":1};(function(){var undefined})()', {"a": 1}),
        ('{"id":137000077743227517}', {"id": 137000077743227517}),
    ],
)
def test_a_state_is_read_exactly(literal, state):
    assert state_of(literal) == state


def test_the_state_is_found_between_other_scripts():
    page = (
        "<script>window.__SSR__=true</script><script>window.__INITIAL_STATE__ = {}</script>"
        '<script>window.__INITIAL_STATE__={"second":1}</script>'
    )
    assert read.state(page) == {}
    assert state_of('{"a":1}', "__SETUP_SERVER_STATE__", " ") == {"a": 1}


def test_a_page_without_state():
    assert read.state("<html>__INITIAL_STATE__</html>") is None
    assert not read.has_state("<html>__INITIAL_STATE__</html>")


@pytest.mark.parametrize("literal", ['{"a":"cut', "", "undefined", "[1]", "function(){}"])
def test_a_state_that_is_cut_or_no_object(literal):
    with pytest.raises(UnexpectedResponse):
        state_of(literal)


@pytest.mark.parametrize(
    ("record", "value"),
    [
        ({"nick_name": "a"}, "a"),
        ({"nickName": " a "}, "a"),
        ({"nickname": "", "nick_name": "a"}, "a"),
        ({"nickname": None, "nickName": "a"}, "a"),
        ({"nickname": "b", "nick_name": "a"}, "b"),
        ({"nickname": 7}, "7"),
        ({"nickname": " "}, None),
        ({"nickname": ["a"]}, None),
        ({"nickname": True}, None),
        ({}, None),
    ],
)
def test_a_value_is_found_under_each_of_its_names(record, value):
    assert read.text(record, "nickname", "nick_name") == value


@pytest.mark.parametrize(
    ("value", "yes"),
    [(True, True), ("true", True), (1, True), ("1", True), (False, False), ("false", False)],
)
def test_yes_and_no(value, yes):
    assert read.flag({"has_more": value}, "has_more") is yes


def test_values_of_a_wrong_type_read_as_not_said():
    record = {"a_b": {"x": 1}, "c": "text", "d": [1, {"y": 2}, None]}
    assert read.child(record, "a_b") == {"x": 1}
    assert read.child(record, "c") == {}
    assert read.children(record, "d") == [{"y": 2}]
    assert read.children(record, "a_b") == []
    assert read.moment(record, "a_b") is None
    assert read.integer(record, "c") is None
    assert read.count(record, "d") is None
