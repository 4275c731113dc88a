"""The spider arguments: what people type, what it means, and what they are told if it is wrong."""

from datetime import date, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from mediacrawler.args import CHINA, CrawlArgs, explain

UTC = timezone.utc


def args(**given):
    return CrawlArgs(**{"keywords": "露营", **given})


def complaint(**given):
    with pytest.raises(ValidationError) as caught:
        CrawlArgs(**given)
    return explain(caught.value)


# --- Lists of words ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("露营", ["露营"]),
        ("露营,徒步", ["露营", "徒步"]),
        ("露营，徒步", ["露营", "徒步"]),
        ("露营\n徒步\r\n骑行\r", ["露营", "徒步", "骑行"]),
        (" 露营 , 徒步 ，骑行 ", ["露营", "徒步", "骑行"]),
        ("露营,,，\n,徒步,", ["露营", "徒步"]),
        ("露营,徒步,露营", ["露营", "徒步"]),
        ("露营 装备,city walk", ["露营 装备", "city walk"]),
        ("露营、徒步", ["露营、徒步"]),
        ("徒步,@someone", ["徒步", "@someone"]),
        ("c++,50%,#tag", ["c++", "50%", "#tag"]),
    ],
)
def test_keywords_are_split_at_commas_of_both_widths_and_line_breaks(typed, words):
    assert CrawlArgs(keywords=typed).keywords == words


def test_keywords_given_from_python_stay_as_they_are():
    assert CrawlArgs(keywords=["a,b", "c"]).keywords == ["a,b", "c"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("露营\n徒步\n".encode(), ["露营", "徒步"]),
        ("\ufeff露营\r\n徒步，骑行".encode(), ["露营", "徒步", "骑行"]),
        (b"one, two\n\n\nthree\n", ["one", "two", "three"]),
    ],
)
def test_a_file_of_keywords_is_read_with_and_without_bom(tmp_path, content, words):
    file = tmp_path / "关键词 1.txt"
    file.write_bytes(content)
    assert CrawlArgs(keywords=f"@{file}").keywords == words


@pytest.mark.parametrize("name", ["posts", "creators"])
def test_a_file_of_links_is_kept_as_it_is(tmp_path, name):
    file = tmp_path / "links.txt"
    file.write_bytes(
        "\ufeff42 【标题】 http://xhslink.com/o/Ab1，复制\nhttps://x/y?a=1,2\n".encode()
    )
    taken = getattr(CrawlArgs(**{name: f"@{file}"}), name)
    assert taken == "42 【标题】 http://xhslink.com/o/Ab1，复制\nhttps://x/y?a=1,2\n"


def test_a_file_below_the_home_folder_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "words.txt").write_text("露营", "utf-8")
    assert CrawlArgs(keywords="@~/words.txt").keywords == ["露营"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("@{folder}/missing.txt", "keywords: cannot read '{folder}/missing.txt': No such file"),
        ("@{folder}", "keywords: cannot read '{folder}': Is a directory"),
        ("@", "keywords: cannot read '': "),
        ("@~nobody-of-this-name/words.txt", "keywords: cannot read '~nobody-of-this-name/"),
        ("@{folder}/gbk.txt", "keywords: '{folder}/gbk.txt' is not UTF-8 text"),
        ("@{folder}/utf16.txt", "keywords: '{folder}/utf16.txt' is not UTF-8 text"),
        ("@{folder}/empty.txt", "nothing to collect"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path, value, expected):
    (tmp_path / "gbk.txt").write_bytes("徒步".encode("gbk"))
    (tmp_path / "utf16.txt").write_bytes("露营".encode("utf-16"))
    (tmp_path / "empty.txt").write_bytes(b"\xef\xbb\xbf \n,\n")
    assert complaint(keywords=value.format(folder=tmp_path)).startswith(
        expected.format(folder=tmp_path)
    )


# --- Limits -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "limit"),
    [("1", 1), ("7", 7), (" 7 ", 7), (7, 7), ("0", None), (0, None), ("all", None), ("ALL ", None)],
)
def test_max_posts_is_a_number_and_zero_or_all_is_no_limit(typed, limit):
    assert args(max_posts=typed).max_posts == limit


@pytest.mark.parametrize("name", ["max_comments", "max_replies"])
@pytest.mark.parametrize(
    ("typed", "limit"), [("0", 0), (0, 0), ("25", 25), ("all", None), (" All", None)]
)
def test_zero_comments_are_none_and_only_all_is_no_limit(name, typed, limit):
    assert getattr(args(**{name: typed}), name) == limit


def test_defaults_are_modest():
    defaults = CrawlArgs(keywords="露营")
    assert (defaults.max_posts, defaults.max_comments, defaults.max_replies) == (20, 10, 0)
    assert (defaults.media, defaults.sort, defaults.post_type) == ("none", "general", "all")
    assert (defaults.since, defaults.until, defaults.start_page) == (None, None, 1)


# --- Dates ------------------------------------------------------------------------------------


def china(*moment):
    return datetime(*moment, tzinfo=CHINA)


@pytest.mark.parametrize(
    ("typed", "since", "until"),
    [
        ("2026-01-31", china(2026, 1, 31), china(2026, 1, 31, 23, 59, 59, 999999)),
        (" 2026-01-31 ", china(2026, 1, 31), china(2026, 1, 31, 23, 59, 59, 999999)),
        (date(2026, 1, 31), china(2026, 1, 31), china(2026, 1, 31, 23, 59, 59, 999999)),
        ("2026-01-31T10:30", china(2026, 1, 31, 10, 30), china(2026, 1, 31, 10, 30)),
        ("2026-01-31 10:30:05", china(2026, 1, 31, 10, 30, 5), china(2026, 1, 31, 10, 30, 5)),
        (datetime(2026, 1, 31, 10), china(2026, 1, 31, 10), china(2026, 1, 31, 10)),
        (
            "2026-01-31T10:30:00Z",
            datetime(2026, 1, 31, 10, 30, tzinfo=UTC),
            datetime(2026, 1, 31, 10, 30, tzinfo=UTC),
        ),
    ],
)
def test_days_are_days_in_china_and_until_includes_its_day(typed, since, until):
    assert args(since=typed).since == since
    assert args(until=typed).until == until


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "yesterday",
        "2026-02-30",
        "2026-1-3",
        "31.01.2026",
        "2026/01/31",
        "20260131",  # some Pythons read it as midnight, so that `until` would lose the day
        "2026-W05-6",
        "2026-01",
        "2026-01-31x",
        "2026-01-31T25:00",
    ],
)
@pytest.mark.parametrize("name", ["since", "until"])
def test_what_is_no_date_is_quoted_with_an_example(name, typed):
    line = complaint(keywords="露营", **{name: typed})
    assert line == f"{name}: '{typed}' is not a date; write it as 2026-01-31"


FIRST = datetime(2026, 1, 29, 16, tzinfo=UTC)  # 2026-01-30 begins in China
BEYOND = datetime(2026, 1, 31, 16, tzinfo=UTC)  # 2026-02-01 begins in China
TICK = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("published", "wanted"),
    [
        (FIRST - TICK, False),
        (FIRST, True),
        (BEYOND - TICK, True),
        (BEYOND, False),
        (None, True),  # an unknown time is no reason to lose a post
    ],
)
def test_the_window_holds_both_of_its_days_whole(published, wanted):
    assert args(since="2026-01-30", until="2026-01-31").wants(published) is wanted


@pytest.mark.parametrize(
    ("window", "published", "wanted"),
    [
        ({}, datetime(1999, 1, 1, tzinfo=UTC), True),
        ({"since": "2026-01-30"}, datetime(2099, 1, 1, tzinfo=UTC), True),
        ({"since": "2026-01-30"}, datetime(1999, 1, 1, tzinfo=UTC), False),
        ({"until": "2026-01-31"}, datetime(1999, 1, 1, tzinfo=UTC), True),
        ({"until": "2026-01-31"}, datetime(2099, 1, 1, tzinfo=UTC), False),
        ({"since": "0001-01-01", "until": "9999-12-31"}, datetime(2026, 1, 1, tzinfo=UTC), True),
    ],
)
def test_a_window_may_be_open_on_either_side(window, published, wanted):
    assert args(**window).wants(published) is wanted


def test_a_window_of_one_day_is_allowed_and_one_that_ends_before_it_begins_is_not():
    assert args(since="2026-01-31", until="2026-01-31").wants(china(2026, 1, 31, 12))
    assert complaint(keywords="露营", since="2026-02-01", until="2026-01-31") == (
        "since is later than until"
    )


# --- What is refused, and how -----------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"keywords": ""},
        {"keywords": " ，,\n"},
        {"posts": " \n", "creators": ""},
        {"max_posts": "5"},
        {"_job": "6487ec79947edab326d6db28a2d86511"},
    ],
)
def test_a_crawl_needs_something_to_collect(given):
    line = complaint(**given)
    assert line.startswith("nothing to collect; give at least one of keywords, posts, creators")
    assert "-a keywords=" in line


@pytest.mark.parametrize("name", ["keywords", "posts", "creators"])
def test_one_kind_of_seed_is_enough_and_all_may_be_combined(name):
    assert CrawlArgs(**{name: "something"})
    combined = CrawlArgs(keywords="a", posts="b", creators="c")
    assert (combined.keywords, combined.posts, combined.creators) == (["a"], "b", "c")


def test_what_scrapyd_adds_is_not_for_the_crawl():
    assert CrawlArgs(keywords="a", _job="6487ec79", _version="r1").model_dump().keys() == (
        CrawlArgs(keywords="a").model_dump().keys()
    )


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ({"max_posts": "many"}, ["max_posts", "'many'", "whole number"]),
        ({"max_posts": ""}, ["max_posts", "''", "whole number"]),
        ({"max_posts": "1.5"}, ["max_posts", "'1.5'", "whole number"]),
        ({"max_posts": "-1"}, ["max_posts", "'-1'", "greater than or equal to 0"]),
        ({"max_comments": "-1"}, ["max_comments", "'-1'", "greater than or equal to 0"]),
        ({"max_comments": "none"}, ["max_comments", "'none'", "whole number"]),
        ({"max_replies": "-1"}, ["max_replies", "'-1'"]),
        ({"start_page": "0"}, ["start_page", "'0'", "greater than or equal to 1"]),
        ({"sort": "newest"}, ["sort", "'newest'", "'latest'", "'likes'"]),
        ({"post_type": "note"}, ["post_type", "'note'", "'image'", "'video'"]),
        ({"media": "pictures"}, ["media", "'pictures'", "'none', 'images', 'videos' or 'all'"]),
        ({"keyword": "露营"}, ["keyword:", "unknown argument", "keywords, posts, creators"]),
        ({"max_post": "5"}, ["max_post:", "unknown argument", "max_posts"]),
        ({"max_posts": "x", "sort": "y"}, ["max_posts", "'x'", "; sort", "'y'"]),
        ({"max_posts": "a\nb" + "c" * 500}, ["max_posts", "'a bccc"]),
    ],
)
def test_a_wrong_value_gives_one_line_that_quotes_it(given, parts):
    line = complaint(**{"keywords": "露营", **given})
    for part in parts:
        assert part in line
    assert "\n" not in line
    assert len(line) < 300
    assert "Value error" not in line


def test_arguments_can_be_written_into_the_report():
    dumped = args(since="2026-01-31", max_posts="0").model_dump(mode="json")
    assert dumped["since"] == "2026-01-31T00:00:00+08:00"
    assert dumped["max_posts"] is None
    assert dumped["keywords"] == ["露营"]


def test_every_argument_is_described():
    assert all(field.description for field in CrawlArgs.model_fields.values())
