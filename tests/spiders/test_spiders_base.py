"""What all spiders build requests with: the shape of a request, the clock and the dice."""

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from scrapy.crawler import Crawler
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.project import get_project_settings

from mediacrawler.ledger import Seed
from mediacrawler.sessions import Session, SessionPool
from mediacrawler.signing import xhs as xhs_signing
from mediacrawler.spiders.base import PlatformSpider, narrowest, now_utc

NOW = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
COOKIES = {
    "xhs": "a1=1912; web_session=0400",
    "bilibili": "SESSDATA=x",
    "weibo": "SUB=x",
    "zhihu": "z_c0=x; d_c0=x",
}


class DemoSpider(PlatformSpider):
    name = "demo"
    home = "https://demo.example/"

    def api_headers(self, referer: str) -> dict[str, str]:
        return {"Referer": referer, "X-Requested-With": "fetch"}


@pytest.fixture
def demo() -> DemoSpider:
    return DemoSpider(keywords="x")


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A platform's spider as a crawl makes it, with a clock that stands at NOW."""

    def prepare(platform: str, **arguments: object) -> PlatformSpider:
        monkeypatch.setenv(f"{platform.upper()}_COOKIES", COOKIES[platform])
        settings = get_project_settings()
        settings.set("SAVE_DATA_PATH", tmp_path)
        spider_class = SpiderLoader(settings).load(platform)
        spider: PlatformSpider = spider_class.from_crawler(
            Crawler(spider_class, settings), keywords="露营", **arguments
        )
        spider.clock = NOW.timestamp
        return spider

    return prepare


# --- Requests -----------------------------------------------------------------------------------


def test_a_request_for_data_names_its_reader_and_has_the_platforms_headers(
    demo: DemoSpider,
) -> None:
    request = demo.api_request(
        "comments",
        "https://api.demo.example/comments?id=1",
        {"post_id": "1"},
        referer="https://demo.example/post/1",
        headers={"X-More": "yes"},
        sign=True,
        needs="pages",
    )
    assert request.method == "GET"
    assert request.headers.to_unicode_dict() == {
        "Referer": "https://demo.example/post/1",
        "X-Requested-With": "fetch",
        "X-More": "yes",
    }
    assert request.meta == {
        "page": "comments",
        "context": {"post_id": "1"},
        "sign": True,
        "needs": "pages",
    }


def test_a_request_for_a_page_asks_for_html_like_a_browser(demo: DemoSpider) -> None:
    request = demo.html_request("post", "https://demo.example/post/1", {"post_id": "1"})
    assert (request.headers["Accept"] or b"").startswith(b"text/html")
    assert request.headers["Referer"] == b"https://demo.example/"
    assert "X-Requested-With" not in request.headers
    assert request.meta == {"page": "post", "context": {"post_id": "1"}}


def test_a_request_without_keywords_for_its_reader_has_an_empty_context(demo: DemoSpider) -> None:
    assert demo.api_request("me", "https://demo.example/me").meta["context"] == {}


def test_whose_a_session_is_is_asked_as_that_session(prepared: Any) -> None:
    weibo = prepared("weibo")
    able = Session("weibo", "able", can={"mobile", "desktop"})
    pool = SessionPool([able, Session("weibo", "new")], lambda: NOW)
    for request in (weibo.whoami_request(), *weibo.whoami_elsewhere()):
        chosen = pool.choose("new", request.meta["needs"])
        assert chosen is not None
        assert chosen.account == "new"


# --- Clock and dice -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("age", "word"),
    [
        (None, "all"),
        (timedelta(hours=3), "day"),
        (timedelta(days=1), "day"),
        (timedelta(days=1, seconds=1), "week"),
        (timedelta(days=8), "all"),
    ],
)
def test_the_time_filter_is_the_narrowest_that_holds_everything(
    age: timedelta | None, word: str
) -> None:
    since = None if age is None else NOW - age
    assert narrowest(since, ((1, "day"), (7, "week")), "all", now=NOW) == word


def test_the_present_is_told_to_the_second() -> None:
    assert now_utc(lambda: NOW.timestamp() + 0.9) == NOW


def test_time_filters_go_by_the_spiders_clock(prepared: Any) -> None:
    xhs = prepared("xhs", since="2026-01-29")
    seed = Seed("keyword", "露营", 5)
    cursor = xhs.search_start(seed)
    filters = json.loads(xhs.search_request(seed, cursor).body)["filters"]
    assert {"tags": ["一周内"], "type": "filter_note_time"} in filters
    zhihu = prepared("zhihu", since="2026-01-29")
    assert parse_qs(zhihu.search_start(seed))["time_interval"] == ["a_week"]


def test_an_open_date_window_ends_now_by_the_spiders_clock(prepared: Any) -> None:
    bilibili = prepared("bilibili", since="2026-01-29")
    url = bilibili.search_request(Seed("keyword", "露营", 5), "1").url
    assert parse_qs(urlsplit(url).query)["pubtime_end_s"] == [str(int(NOW.timestamp()))]
    weibo = prepared("weibo", since="2026-01-31")
    weibo.on_desktop = True
    hours = weibo.search_start(Seed("keyword", "露营", 5)).partition("-")[2]
    assert int(hours) == int(NOW.timestamp()) // 3600


def test_ids_are_made_with_the_spiders_clock_and_dice(prepared: Any) -> None:
    xhs = prepared("xhs")
    xhs.rng = Random(7)
    seed = Seed("keyword", "露营", 5)
    xhs.search_start(seed)
    expected = xhs_signing.search_id(now=NOW.timestamp(), rng=Random(7))
    assert seed.context["search_id"] == expected
