"""Settings that follow from other settings, and those that are refused before a crawl begins."""

import re
from pathlib import Path

import pytest
from scrapy.settings import Settings
from scrapy.utils.conf import feed_process_params_from_cli

from mediacrawler import settings as project_settings
from mediacrawler.addons import MediaCrawlerAddon
from mediacrawler.exceptions import UsageProblem
from mediacrawler.items import Comment, Creator, Post, field_names


def settings_of(priority="cmdline", **given):
    """The settings of an XHS crawl: the project's own, *given*, then the add-on's word."""
    settings = Settings()
    settings.setmodule(project_settings)
    for name, value in given.items():
        settings.set(name, value, priority)
    MediaCrawlerAddon("xhs").update_settings(settings)
    return settings


# --- Concurrency and delay ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "concurrency"),
    [
        ({}, 1),
        ({"MAX_CONCURRENCY_NUM": "5"}, 5),
        ({"XHS_MAX_CONCURRENCY": "3"}, 3),
        ({"XHS_MAX_CONCURRENCY": "3", "MAX_CONCURRENCY_NUM": "5"}, 3),
        ({"CONCURRENT_REQUESTS": "10"}, 10),
        ({"CONCURRENT_REQUESTS": "10", "MAX_CONCURRENCY_NUM": "5"}, 10),
        ({"CONCURRENT_REQUESTS": "10", "XHS_MAX_CONCURRENCY": "3"}, 10),
        ({"CONCURRENT_REQUESTS": 2, "XHS_MAX_CONCURRENCY": 3, "MAX_CONCURRENCY_NUM": 5}, 2),
        ({"BILIBILI_MAX_CONCURRENCY": "9"}, 1),  # another platform's
        ({"XHS_MAX_CONCURRENCY": 3}, 3),
    ],
)
@pytest.mark.parametrize("priority", ["project", "spider", "cmdline"])
def test_concurrent_requests_beats_the_platforms_limit_which_beats_the_one_knob(
    given, concurrency, priority
):
    settings = settings_of(priority, **given)
    assert settings.getint("CONCURRENT_REQUESTS") == concurrency
    assert settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") == concurrency


@pytest.mark.parametrize(
    ("given", "delay"),
    [
        ({}, 1),
        ({"MAX_CONCURRENCY_NUM": "5"}, 0.2),
        ({"XHS_MAX_CONCURRENCY": "4"}, 0.25),
        ({"CONCURRENT_REQUESTS": "10"}, 0.1),
        ({"CONCURRENT_REQUESTS": "10", "DOWNLOAD_DELAY": "0"}, 0),
        ({"DOWNLOAD_DELAY": "2.5"}, 2.5),
        ({"DOWNLOAD_DELAY": 3, "CONCURRENT_REQUESTS": 50}, 3),
    ],
)
def test_unless_it_is_set_the_delay_makes_n_in_flight_about_n_a_second(given, delay):
    assert settings_of(**given).getfloat("DOWNLOAD_DELAY") == pytest.approx(delay)


def test_a_lower_limit_for_each_slot_that_the_user_gave_stays():
    settings = settings_of(CONCURRENT_REQUESTS="10", CONCURRENT_REQUESTS_PER_DOMAIN="2")
    assert settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") == 2


def test_what_the_add_on_works_out_can_be_told_from_what_the_user_set():
    settings = settings_of(MAX_CONCURRENCY_NUM="5")
    for name in ("CONCURRENT_REQUESTS", "DOWNLOAD_DELAY", "FEEDS", "RUN_FOLDER"):
        assert settings.getpriority(name) < settings.getpriority("MAX_CONCURRENCY_NUM"), name


# --- Values that cannot work --------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["CONCURRENT_REQUESTS", "XHS_MAX_CONCURRENCY", "MAX_CONCURRENCY_NUM"]
)
@pytest.mark.parametrize("value", ["0", "-1", "many", "", "1.5", "1,000"])
def test_a_limit_must_be_a_whole_number_of_at_least_one(name, value):
    with pytest.raises(UsageProblem) as caught:
        settings_of(**{name: value})
    assert str(caught.value) == f"{name}={value}: must be a whole number of at least 1"


def test_a_limit_that_is_not_used_may_be_anything():
    assert settings_of(CONCURRENT_REQUESTS=2, MAX_CONCURRENCY_NUM="x")["CONCURRENT_REQUESTS"] == 2


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("DOWNLOAD_DELAY", "fast", "number"),
        ("DOWNLOAD_DELAY", "-1", "number"),
        ("DOWNLOAD_DELAY", "nan", "number"),
        ("DOWNLOAD_TIMEOUT", "30s", "number"),
        ("RETRY_TIMES", "often", "whole number"),
        ("RETRY_TIMES", "2.5", "whole number"),
        ("BACKOFF_BASE", "", "number"),
        ("BACKOFF_MAX", "5 min", "number"),
        ("BACKOFF_GIVE_UP", "never", "whole number"),
        ("BACKOFF_LONGEST_RETRY_AFTER", "-5", "number"),
    ],
)
def test_numbers_are_checked_before_anything_is_sent(name, value, kind):
    with pytest.raises(UsageProblem) as caught:
        settings_of(**{name: value})
    assert str(caught.value) == f"{name}={value}: must be a {kind} of at least 0"


@pytest.mark.parametrize("value", ["yes", "off", "nope", ""])
def test_nobody_wonders_whether_privacy_is_on(value):
    with pytest.raises(UsageProblem, match=f"ANONYMIZE={value}: choose True or False"):
        settings_of(ANONYMIZE=value)


@pytest.mark.parametrize(
    ("value", "on"), [("True", True), ("1", True), ("False", False), ("0", False), (False, False)]
)
def test_privacy_can_be_switched_off(value, on):
    assert settings_of(ANONYMIZE=value).getbool("ANONYMIZE") is on


def test_privacy_is_on_by_default():
    assert settings_of().getbool("ANONYMIZE") is True


# --- Scrapy's consoles --------------------------------------------------------------------------

TELNET = "scrapy.extensions.telnet.TelnetConsole"
REMOTE = "scrapy.extensions.remote_control.RemoteControl"


@pytest.mark.parametrize(
    ("given", "consoles"),
    [
        ({}, set()),
        ({"TELNETCONSOLE_ENABLED": "1"}, {TELNET}),
        ({"REMOTE_CONTROL_ENABLED": "True"}, {REMOTE}),
        ({"TELNETCONSOLE_ENABLED": True, "REMOTE_CONTROL_ENABLED": True}, {TELNET, REMOTE}),
    ],
)
def test_consoles_are_extensions_only_where_they_are_switched_on(given, consoles):
    default = set(Settings().getdict("EXTENSIONS_BASE"))
    assert {TELNET, REMOTE} <= default
    extensions = set(settings_of(**given).getdict("EXTENSIONS_BASE"))
    assert default - extensions == {TELNET, REMOTE} - consoles
    assert extensions <= default


# --- Folders and feeds --------------------------------------------------------------------------


def test_each_run_has_a_folder_of_its_own():
    folders = [Path(settings_of(SAVE_DATA_PATH="/d")["RUN_FOLDER"]) for _ in range(20)]
    assert len(set(folders)) == 20
    for folder in folders:
        assert folder.parent == Path("/d/xhs")
        assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{6}", folder.name)


def test_a_data_folder_below_home_is_found_although_shells_leave_the_tilde_alone(monkeypatch):
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.setenv("USERPROFILE", "/home/anna")
    settings = settings_of(SAVE_DATA_PATH="~/notes")
    assert settings["SAVE_DATA_PATH"] == "/home/anna/notes"
    assert Path(settings["RUN_FOLDER"]).parent == Path("/home/anna/notes/xhs")
    assert settings_of(SAVE_DATA_PATH="a~b")["SAVE_DATA_PATH"] == "a~b"


def feed_table(settings):
    """The feeds as (file name, format, kind, encoding), after a look at what all share."""
    feeds = settings.getdict("FEEDS")
    for path, options in feeds.items():
        assert Path(path).parent == Path(settings["RUN_FOLDER"])
        assert options["overwrite"]
        assert options["store_empty"]
        (kind,) = options["item_classes"]
        assert list(options["fields"]) == list(field_names(kind))
    return [
        (Path(path).name, options["format"], options["item_classes"], options["encoding"])
        for path, options in feeds.items()
    ]


JSONL = [
    ("posts.jsonl", "jsonl", [Post], "utf-8"),
    ("comments.jsonl", "jsonl", [Comment], "utf-8"),
    ("creators.jsonl", "jsonl", [Creator], "utf-8"),
]
CSV = [
    ("posts.csv", "csv", [Post], "utf-8-sig"),
    ("comments.csv", "csv", [Comment], "utf-8-sig"),
    ("creators.csv", "csv", [Creator], "utf-8-sig"),
]


@pytest.mark.parametrize(
    ("formats", "expected"),
    [
        (None, JSONL),
        ("jsonl", JSONL),
        (["csv"], CSV),
        ("csv,jsonl", CSV + JSONL),
        (" JSONL , jsonl", JSONL),
        (["jsonl", "csv", "jsonl"], JSONL + CSV),
    ],
)
def test_each_format_gives_a_file_for_each_kind_of_record(formats, expected):
    given = {} if formats is None else {"EXPORT_FORMATS": formats}
    assert feed_table(settings_of(**given)) == expected


@pytest.mark.parametrize("formats", ["xlsx", "jsonl,xml", "", [], "jsonl;csv"])
def test_unknown_formats_are_refused_with_the_choice(formats):
    with pytest.raises(UsageProblem, match=r"EXPORT_FORMATS=.*: choose among jsonl, json, csv"):
        settings_of(EXPORT_FORMATS=formats)


def test_feeds_that_the_user_gave_take_the_place_of_ours():
    mine = feed_process_params_from_cli(Settings(), [], overwrite_output=["out.csv"])
    assert set(settings_of(FEEDS=mine).getdict("FEEDS")) == {"out.csv"}


def test_a_run_folder_that_the_user_gave_is_used():
    settings = settings_of(RUN_FOLDER="/somewhere/run")
    assert settings["RUN_FOLDER"] == "/somewhere/run"
    assert {str(Path(path).parent) for path in settings.getdict("FEEDS")} == {"/somewhere/run"}


def test_the_add_on_is_made_for_the_spider_of_the_crawl():
    class Spider:
        name = "weibo"

    class Crawler:
        spidercls = Spider

    settings = Settings()
    settings.setmodule(project_settings)
    settings.set("WEIBO_MAX_CONCURRENCY", "4", "cmdline")
    MediaCrawlerAddon.from_crawler(Crawler).update_settings(settings)
    assert settings.getint("CONCURRENT_REQUESTS") == 4
    assert Path(settings["RUN_FOLDER"]).parent == Path("data/weibo")
