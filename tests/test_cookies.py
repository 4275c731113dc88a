"""Cookies as people have them, and that no value of one ever shows."""

import json
import time

import pytest
from scrapy import Request
from scrapy.http.cookies import CookieJar

from mediacrawler.cookies import Cookie, load_cookies, parse_cookies, parse_header
from mediacrawler.exceptions import UsageProblem

SECRET = "040069b2f0secret"
RAW_JSON = '{"ub":"65f1a2b3","ue":"68f4e9bf","uc":31}'
DOMAIN = ".xiaohongshu.com"


# --- The three forms --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "cookies"),
    [
        ("a1=19x; web_session=0400", {"a1": "19x", "web_session": "0400"}),
        ("Cookie: a1=19x; b=2", {"a1": "19x", "b": "2"}),
        ("cookie:a1=19x", {"a1": "19x"}),
        ("a1=19x;b=2;", {"a1": "19x", "b": "2"}),
        ("  a1 = 19x ;; b=2 ; ", {"a1": "19x", "b": "2"}),
        ("id_token=VjEAAA==; a1=x=y=z", {"id_token": "VjEAAA==", "a1": "x=y=z"}),
        (f"unread={RAW_JSON}; a1=19x", {"unread": RAW_JSON, "a1": "19x"}),
        ('q="a,b"; a1=19x', {"q": '"a,b"', "a1": "19x"}),
        ("unread={%22ub%22:%2265%22}; a1=19x", {"unread": "{%22ub%22:%2265%22}", "a1": "19x"}),
        ("empty=; a1=19x", {"empty": "", "a1": "19x"}),
        ("flag; a1=19x; =nothing", {"a1": "19x"}),
        ("a1=old; a1=new", {"a1": "new"}),
        ("a1=19x;\r\nweb_session=0400;\n", {"a1": "19x", "web_session": "0400"}),
        ("a1=19x\nweb_session=0400", {"a1": "19x", "web_session": "0400"}),
    ],
)
def test_a_header_line_is_split_by_hand(line, cookies):
    assert parse_header(line) == cookies
    assert {cookie.name: cookie.value for cookie in parse_cookies(line)} == cookies


@pytest.mark.parametrize("line", ["", "  ", ";;", "a1", "Cookie:", "=x"])
def test_a_line_without_pairs_is_no_cookie_header(line):
    with pytest.raises(ValueError, match="no name=value"):
        parse_header(line)


def test_no_value_of_a_header_can_break_into_another_header():
    for value in parse_header("a=1\r\nX-Evil: 1; b=2\n3").values():
        assert "\n" not in value
        assert "\r" not in value


NETSCAPE = """\
# Netscape HTTP Cookie File
# This is a generated file! Do not edit.

.xiaohongshu.com\tTRUE\t/\tTRUE\t1893456000\ta1\t19x==
#HttpOnly_.xiaohongshu.com\tTRUE\t/\tTRUE\t0\tweb_session\t0400
# a comment\twith a tab
www.xiaohongshu.com\tFALSE\t/explore\tFALSE\t1893456000.7\tunread\t{"ub":"1","uc":2}
.xiaohongshu.com\tTRUE\t/\tFALSE\t-1\tlast\t
"""


@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_netscape_file_keeps_http_only_and_empty_cookies(bom, line_end):
    assert parse_cookies(bom + NETSCAPE.replace("\n", line_end)) == [
        Cookie("a1", "19x==", ".xiaohongshu.com", "/", 1893456000, secure=True),
        Cookie("web_session", "0400", ".xiaohongshu.com", "/", secure=True, http_only=True),
        Cookie("unread", '{"ub":"1","uc":2}', "www.xiaohongshu.com", "/explore", 1893456000),
        Cookie("last", "", ".xiaohongshu.com", "/", None),
    ]


@pytest.mark.parametrize(
    ("data", "cookies"),
    [
        (  # Cookie-Editor, EditThisCookie
            [
                {
                    "name": "a1",
                    "value": "19x",
                    "domain": ".xiaohongshu.com",
                    "path": "/",
                    "expirationDate": 1893456000.123,
                    "httpOnly": False,
                    "session": False,
                },
                {"name": "web_session", "value": "0400", "domain": ".xiaohongshu.com"},
            ],
            [
                Cookie("a1", "19x", ".xiaohongshu.com", "/", 1893456000),
                Cookie("web_session", "0400", ".xiaohongshu.com"),
            ],
        ),
        (  # storage state of a driven browser
            {
                "cookies": [
                    {"name": "a1", "value": "1", "domain": "x.com", "path": "/p", "expires": -1}
                ],
                "origins": [],
            },
            [Cookie("a1", "1", "x.com", "/p", None)],
        ),
        ({"a1": "19x", "web_session": 400}, [Cookie("a1", "19x"), Cookie("web_session", "400")]),
        ({"cookies": {"a1": "19x"}}, [Cookie("a1", "19x")]),
        ([{"name": "a1", "value": None}], [Cookie("a1", "")]),
        (
            [{"name": "a", "value": "b", "domain": None, "path": None, "expires": "Session"}],
            [Cookie("a", "b")],
        ),
        ([{"name": "a", "value": "b", "expires": float("inf")}], [Cookie("a", "b")]),
    ],
)
@pytest.mark.parametrize("around", ["{}", "\ufeff{}", "\n {}\r\n", "\ufeff\n{}"])
def test_json_exports_of_several_tools_are_read(data, cookies, around):
    assert parse_cookies(around.format("%s") % json.dumps(data)) == cookies


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no name=value"),
        ("\ufeff\n", "no name=value"),
        ("nothing useful", "no name=value"),
        ("[{", "looks like JSON"),
        ("[]", "no cookies"),
        ("{}", "no cookies"),
        ("[1]", "name and a value"),
        ('[{"name": "a1"}]', "name and a value"),
        ('{"cookies": 3}', "list of cookies"),
        ("# Netscape HTTP Cookie File\n# only\tcomments\n", "no cookies"),
        (".x.com\tTRUE\t/\ta1\t19x", "7 columns"),
    ],
)
def test_what_is_none_of_the_three_forms_says_why(text, why):
    with pytest.raises(ValueError, match=why):
        parse_cookies(text)


# --- On their way to the platform ---------------------------------------------------------------


def sent(cookies, url="http://edith.xiaohongshu.com/api/x"):
    """The Cookie header that Scrapy sends for *url*."""
    jar = CookieJar()
    for cookie in cookies:
        jar.set_cookie(cookie.for_jar(DOMAIN))
    request = Request(url)
    jar.add_cookie_header(request)
    return (request.headers.get("Cookie") or b"").decode()


@pytest.mark.parametrize("value", ["19x==", RAW_JSON, '"quoted"', "a,b", "%7B%22%7D", "", "a b"])
def test_a_value_is_sent_byte_for_byte(value):
    assert sent([Cookie("unread", value)]) == f"unread={value}"


@pytest.mark.parametrize(
    ("cookie", "host", "goes"),
    [
        (Cookie("a", "1"), "edith", True),  # a header line does not say: the platform's domain
        (Cookie("a", "1", ".xiaohongshu.com"), "edith", True),
        (Cookie("a", "1", "xiaohongshu.com"), "edith", True),
        (Cookie("a", "1", "www.xiaohongshu.com"), "edith", False),
        (Cookie("a", "1", "www.xiaohongshu.com"), "www", True),
        (Cookie("a", "1", ".example.com"), "www", False),
        (Cookie("a", "1", path="/explore"), "www", False),
    ],
)
def test_a_cookie_goes_where_a_browser_would_send_it(cookie, host, goes):
    assert bool(sent([cookie], f"http://{host}.xiaohongshu.com/api/x")) is goes


def test_cookies_that_have_expired_are_not_sent_and_session_cookies_are():
    now = int(time.time())
    cookies = [
        Cookie("old", "1", expires=now - 60),
        Cookie("fresh", "1", expires=now + 3600),
        Cookie("session", "1"),
    ]
    assert sorted(sent(cookies).split("; ")) == ["fresh=1", "session=1"]


# --- Where they come from -----------------------------------------------------------------------


def names(cookies):
    return [(cookie.name, cookie.value) for cookie in cookies]


def test_the_environment_beats_a_named_file_which_beats_the_folder(tmp_path):
    (tmp_path / "xhs.txt").write_text("a=folder", "utf-8")
    (tmp_path / "xhs.json").write_text('{"a": "json"}', "utf-8")
    named = tmp_path / "mine.txt"
    named.write_text("\ufeffa=named", "utf-8")
    environment = {"XHS_COOKIES": "a=environment", "WEIBO_COOKIES": "a=weibo"}
    cases = [
        (environment, named, "environment"),
        ({"XHS_COOKIES": ""}, named, "named"),
        ({}, named, "named"),
        ({}, None, "folder"),
    ]
    for environ, file, expected in cases:
        assert names(load_cookies("xhs", environ, tmp_path, file)) == [("a", expected)]
    (tmp_path / "xhs.txt").unlink()
    assert names(load_cookies("xhs", {}, tmp_path)) == [("a", "json")]
    (tmp_path / "xhs.json").unlink()
    assert load_cookies("xhs", {}, tmp_path) == []
    assert load_cookies("xhs", {}, tmp_path / "no folder") == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "No such file"),
        ("a1=徒步".encode("gbk"), "not UTF-8 text"),
        (f"a1={SECRET}".encode("utf-16"), "not UTF-8 text"),
        (f"{SECRET} without an equals sign".encode(), "header line"),
        (f'[{{"name": "a1", "value": "{SECRET}"'.encode(), "looks like JSON but is not"),
        (f'[{{"value": "{SECRET}"}}]'.encode(), "name and a value"),
        (f".x.com\tTRUE\ta1\t{SECRET}".encode(), "7 columns"),
        (b"", "no name=value"),
    ],
)
def test_a_file_that_does_not_work_is_named_and_never_quoted(tmp_path, content, why):
    file = tmp_path / "cookies of mine.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageProblem, match=why) as caught:
        load_cookies("xhs", {}, tmp_path, file)
    message = str(caught.value)
    assert str(file) in message
    assert SECRET not in message
    assert "\n" not in message


def test_a_wrong_environment_variable_is_named_and_never_quoted(tmp_path):
    with pytest.raises(UsageProblem) as caught:
        load_cookies("xhs", {"XHS_COOKIES": SECRET}, tmp_path)
    assert "XHS_COOKIES" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_folder_in_the_place_of_the_named_file_is_named(tmp_path):
    with pytest.raises(UsageProblem, match="directory"):
        load_cookies("xhs", {}, tmp_path, tmp_path)


def test_printing_a_cookie_does_not_print_its_value():
    cookie = Cookie("web_session", SECRET, DOMAIN)
    assert SECRET not in f"{cookie} {cookie!r} {[cookie]}"
