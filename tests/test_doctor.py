"""What the doctor finds, and how bad that is; what it finds with a browser is in tests/browser."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from scrapy.settings import Settings

from mediacrawler import doctor
from mediacrawler.cookies import Cookie
from mediacrawler.sessions import Session
from mediacrawler.sessions.store import SessionStore
from mediacrawler.spiders.xhs import XhsSpider
from mediacrawler.spiders.zhihu import ZhihuSpider

NOW = datetime(2026, 12, 1, 8, 0, tzinfo=timezone.utc)
SECRET = "value-that-nobody-may-see"


def settings(**changed: object) -> Settings:
    found = Settings()
    found.setmodule("mediacrawler.settings")
    found.setdict(changed)
    return found


@pytest.mark.parametrize(
    ("version", "level"),
    [((3, 9, 18), "fail"), ((3, 10, 0), "ok"), ((3, 14, 1), "ok"), ((2, 7, 18), "fail")],
)
def test_python_has_to_be_new_enough(version: tuple[int, int, int], level: str) -> None:
    assert doctor.python(version).level == level


@pytest.mark.parametrize(
    ("requirements", "level", "words"),
    [
        (["pytest>=1", "scrapy>=2.19"], "ok", "scrapy 2."),
        (["scrapy>=99"], "fail", ">=99 is needed: pip install -e ."),
        (["no-such-package-anywhere>=1"], "fail", "no-such-package-anywhere is missing"),
        (["no-such-package-anywhere; python_version < '3'"], "ok", "0 more"),
    ],
)
def test_packages_have_to_be_there_in_versions_that_fit(
    requirements: list[str], level: str, words: str
) -> None:
    found, *_ = doctor.packages(requirements)
    assert (found.level, words in found.text) == (level, True), found.text


@pytest.mark.parametrize(
    ("requirement", "words"),
    [
        ("pytest; extra == 'sandbox'", "extra sandbox: installed"),
        ("no-such-package; extra == 'sandbox'", "not installed (pip install -e '.[sandbox]')"),
    ],
)
def test_an_extra_that_is_not_installed_is_no_fault(requirement: str, words: str) -> None:
    *_, extra = doctor.packages(["scrapy", requirement])
    assert (extra.level, words in extra.text) == ("ok", True), extra.text


@pytest.mark.parametrize(
    ("moment", "level"),
    [
        (NOW, "ok"),
        (NOW.astimezone(timezone(timedelta(hours=8))), "ok"),
        (datetime(1970, 1, 1, tzinfo=timezone.utc), "fail"),
        (datetime(2026, 11, 1, 7, tzinfo=timezone(timedelta(hours=8))), "fail"),  # 23:00 UTC
    ],
)
def test_a_clock_that_runs_before_the_project_was_made_is_wrong(
    moment: datetime, level: str
) -> None:
    assert doctor.clock(moment).level == level


def test_folders_that_do_not_exist_yet_are_judged_without_making_them(tmp_path: Path) -> None:
    found = doctor.folder("SAVE_DATA_PATH", tmp_path / "not" / "there")
    assert found.level in ("ok", "warn")  # little space may be left
    assert "can be written" in found.text
    assert list(tmp_path.iterdir()) == []


def test_a_folder_below_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = doctor.folder("SESSIONS_DIR", tmp_path / "file" / "sessions")
    assert found.level == "fail"
    assert "SESSIONS_DIR=" in found.text


GOOD = Session("xhs", "alice", [Cookie("web_session", SECRET)], state="ok", checked_at=NOW)


@pytest.mark.parametrize(
    ("session", "level", "words"),
    [
        (GOOD, "ok", "xhs/alice: ok, checked 2026-12-01 08:00 UTC"),
        (replace(GOOD, checked_at=None, state="new"), "ok", "scrapy accounts check"),
        (replace(GOOD, checked_at=NOW - timedelta(days=31)), "ok", "scrapy accounts check"),
        (
            replace(GOOD, state="expired", reason="said so"),
            "warn",
            "xhs/alice: expired (said so): scrapy login xhs --account alice",
        ),
        (replace(GOOD, state="guest"), "warn", "scrapy login xhs --account alice"),
        (
            replace(GOOD, state="captcha", cool_until=NOW + timedelta(hours=6)),
            "warn",
            "captcha, rests until 2026-12-01 14:00 UTC",
        ),
        (replace(GOOD, cool_until=NOW - timedelta(hours=6)), "ok", "checked"),
    ],
)
def test_each_session_is_told_with_its_state(
    tmp_path: Path, session: Session, level: str, words: str
) -> None:
    store = SessionStore(tmp_path)
    store.save(session)
    (found,) = doctor.sessions(store, NOW)
    assert (found.level, words in found.text) == (level, True), found.text
    assert SECRET not in found.text


def test_session_files_that_others_can_read_or_that_are_damaged_are_named(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    store.save(GOOD)
    os.chmod(store.path("xhs", "alice"), 0o644)
    store.save(replace(GOOD, account="bob"))
    store.path("xhs", "bob").write_text("{")
    alice, bob = doctor.sessions(store, NOW)
    assert (alice.level, bob.level) == ("warn", "warn")
    assert "chmod 600" in alice.text
    assert "damaged" in bob.text


def test_without_sessions_the_command_that_stores_one_is_named(tmp_path: Path) -> None:
    (found,) = doctor.sessions(SessionStore(tmp_path / "sessions"), NOW)
    assert found.level == "ok"
    assert "scrapy login" in found.text


@pytest.mark.parametrize(
    ("environment", "levels"),
    [
        ({}, {}),
        ({"XHS_COOKIES": f"a1=x; web_session={SECRET}"}, {"xhs": "ok"}),
        ({"XHS_COOKIES": f"a1={SECRET}"}, {"xhs": "warn"}),
        (
            {"XHS_COOKIES": f"a1={SECRET}; web_session=y", "ZHIHU_COOKIES": f"d_c0={SECRET}"},
            {"xhs": "ok", "zhihu": "warn"},
        ),
    ],
)
def test_cookies_are_judged_by_what_a_crawl_needs(
    tmp_path: Path, environment: dict[str, str], levels: dict[str, str]
) -> None:
    found = list(
        doctor.cookies(settings(COOKIES_DIR=str(tmp_path)), [XhsSpider, ZhihuSpider], environment)
    )
    assert {check.text.partition(":")[0]: check.level for check in found} == levels
    assert SECRET not in "".join(check.text for check in found)


def test_cookies_that_cannot_be_read_fail(tmp_path: Path) -> None:
    (found,) = doctor.cookies(settings(XHS_COOKIES_FILE=str(tmp_path / "x")), [XhsSpider], {})
    assert found.level == "fail"


@pytest.mark.parametrize(
    ("given", "level", "words"),
    [
        ({}, "ok", "none"),
        ({"PROXIES": f"http://user:{SECRET}@127.0.0.1:3128,socks5://127.0.0.1"}, "ok", "2 in"),
        ({"PROXY_PROVIDER_URL": f"http://127.0.0.1/{SECRET}"}, "ok", "from a provider"),
        ({"PROXIES": f"http://user:{SECRET}@127.0.0.1:99999"}, "fail", "port"),
        ({"PROXIES": "@/no/such/file"}, "fail", "cannot be read"),
    ],
)
def test_proxies_are_counted_and_never_shown(given: dict[str, str], level: str, words: str) -> None:
    found = doctor.proxies(settings(**given), NOW)
    assert (found.level, words in found.text) == (level, True), found.text
    assert SECRET not in found.text


@pytest.mark.parametrize(
    ("value", "level"), [("", "ok"), ("/no/such/program", "fail"), ("true", "ok")]
)
def test_ffmpeg_is_found_named_or_not_wanted(value: str, level: str) -> None:
    assert doctor.ffmpeg(settings(FFMPEG=value)).level == level
