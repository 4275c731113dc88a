"""Session files: private, whole, readable by Playwright, and refused in one line when damaged."""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.http.cookies import CookieJar

from mediacrawler.cookies import Cookie, from_browser, parse_cookies
from mediacrawler.exceptions import UsageProblem
from mediacrawler.sessions import Session
from mediacrawler.sessions.store import SessionStore

SECRET = "0400secret=="
RAW_JSON = '{"ub":"1","uc":[2,3]}'
NOW = datetime(2026, 11, 30, 8, 0, tzinfo=timezone.utc)
ORIGINS = [
    {"origin": "https://www.xiaohongshu.com", "localStorage": [{"name": "b1", "value": "I38r"}]}
]
COOKIES = [
    Cookie("a1", "19x==", ".xiaohongshu.com", "/", 1893456000, secure=True),
    Cookie("web_session", SECRET, ".xiaohongshu.com", secure=True, http_only=True),
    Cookie("unread", RAW_JSON, "www.xiaohongshu.com", "/explore", same_site="Lax"),
]


def session(account: str = "main", **changes: Any) -> Session:
    whole: dict[str, Any] = {
        "cookies": list(COOKIES),
        "user_agent": "Mozilla/5.0 (测试)",
        "proxy": "http://user:password@127.0.0.1:8080",
        "storage": ORIGINS,
        "state": "captcha",
        "reason": "the platform asks for a captcha",
        "logged_in_at": NOW,
        "checked_at": NOW,
        "cool_until": NOW + timedelta(hours=6),
    }
    return Session("xhs", account, **{**whole, **changes})


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "sessions")


def test_what_is_saved_is_what_is_loaded(store: SessionStore) -> None:
    for one in (session(), Session("xhs", "bare")):
        store.save(one)
        assert store.load("xhs", one.account) == one


def test_saving_again_replaces(store: SessionStore) -> None:
    store.save(session())
    store.save(session(state="ok", reason=None, cool_until=None))
    assert store.load("xhs", "main").state == "ok"
    assert store.names() == [("xhs", "main")]


def test_the_file_holds_a_storage_state_as_playwright_writes_it(store: SessionStore) -> None:
    store.save(session())
    state = json.loads(store.path("xhs", "main").read_text("utf-8"))["storage_state"]
    assert state["origins"] == ORIGINS
    assert state["cookies"][1:] == [
        {
            "name": "web_session",
            "value": SECRET,
            "domain": ".xiaohongshu.com",
            "path": "/",
            "expires": -1,
            "httpOnly": True,
            "secure": True,
        },
        {
            "name": "unread",
            "value": RAW_JSON,
            "domain": "www.xiaohongshu.com",
            "path": "/explore",
            "expires": -1,
            "httpOnly": False,
            "secure": False,
            "sameSite": "Lax",
        },
    ]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_owner_can_read_it_whatever_the_umask(store: SessionStore, umask: int) -> None:
    before = os.umask(umask)
    try:
        store.save(session())
        store.save(session())
    finally:
        os.umask(before)
    path = store.path("xhs", "main")
    assert [mode(p) for p in (store.folder, path.parent, path)] == [0o700, 0o700, 0o600]
    assert [p.name for p in path.parent.iterdir()] == ["main.json"]


def test_a_folder_that_exists_keeps_the_mode_its_owner_chose(store: SessionStore) -> None:
    store.folder.mkdir(mode=0o750)
    store.folder.chmod(0o750)
    store.save(session())
    assert mode(store.folder) == 0o750
    assert mode(store.path("xhs", "main")) == 0o600


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(session(state="ok"))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        store.save(session(state="expired"))
    assert store.load("xhs", "main").state == "ok"
    assert [p.name for p in store.path("xhs", "main").parent.iterdir()] == ["main.json"]


def test_a_crawl_does_not_undo_what_happened_meanwhile(store: SessionStore) -> None:
    store.save(session())
    crawled = store.load("xhs", "main")
    crawled.state = "expired"
    assert store.update(crawled)
    assert store.load("xhs", "main").state == "expired"

    store.save(session(state="ok", logged_in_at=NOW + timedelta(minutes=1)))
    assert not store.update(crawled)
    assert store.load("xhs", "main").state == "ok"

    store.remove("xhs", "main")
    assert not store.update(crawled)
    assert store.names() == []


# --- Names --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["main", "a.b", "me@example.com", "my-2nd_one", "小号", "x" * 50])
def test_names_of_accounts_that_are_file_names_everywhere(store: SessionStore, name: str) -> None:
    store.save(session(name))
    assert store.names("xhs") == [("xhs", name)]


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        ".hidden",
        "a/b",
        "../x",
        "a\\b",
        "a b",
        "a\nb",
        "all",
        "ALL",
        "cookies",
        "x" * 51,
    ],
)
def test_other_names_are_refused_in_one_line(store: SessionStore, name: str) -> None:
    for use in (store.path, store.load, store.remove):
        with pytest.raises(UsageProblem) as caught:
            use("xhs", name)
        assert "\n" not in str(caught.value)
    with pytest.raises(UsageProblem):
        store.save(session(name))
    assert not store.folder.exists()


def test_sessions_are_listed_by_platform_and_name(store: SessionStore) -> None:
    for platform, account in (("zhihu", "b"), ("xhs", "z"), ("xhs", "a")):
        store.save(Session(platform, account))
    (store.folder / "xhs" / ".a.1234.tmp").write_text("left by a crash")
    (store.folder / "notes.txt").write_text("not a session")
    assert [one.slot for one in store.all()] == ["xhs/a", "xhs/z", "zhihu/b"]
    assert [one.account for one in store.all("xhs")] == ["a", "z"]
    assert store.all("weibo") == []
    assert store.remove("xhs", "a")
    assert not store.remove("xhs", "a")
    assert store.names("xhs") == [("xhs", "z")]


# --- Missing and damaged ------------------------------------------------------------------------


def test_a_missing_session_names_those_that_exist_and_the_command(store: SessionStore) -> None:
    with pytest.raises(UsageProblem, match=r"none yet.*scrapy login xhs --account main"):
        store.load("xhs", "main")
    store.save(session("other"))
    with pytest.raises(UsageProblem, match="there are: other"):
        store.load("xhs", "main")


def damaged(**changes: Any) -> bytes:
    whole = {
        "version": 1,
        "state": "ok",
        "storage_state": {"cookies": [{"name": "web_session", "value": SECRET}], "origins": []},
    }
    return json.dumps({**whole, **changes}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        damaged()[:-9],
        "{}".encode("utf-16"),
        b"[]",
        damaged(version=2),
        damaged(state="fine"),
        damaged(state=["ok"]),
        damaged(storage_state=None),
        damaged(storage_state={"cookies": None}),
        damaged(storage_state={"cookies": [{"value": SECRET}]}),
        damaged(storage_state={"cookies": [SECRET]}),
        damaged(storage_state={"cookies": [], "origins": {}}),
        damaged(user_agent=7),
        damaged(checked_at="yesterday"),
        damaged(cool_until=1893456000),
    ],
)
def test_a_damaged_file_is_named_and_never_quoted(store: SessionStore, content: bytes) -> None:
    path = store.path("xhs", "main")
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(UsageProblem) as caught:
        store.load("xhs", "main")
    message = str(caught.value)
    assert str(path) in message
    assert "scrapy login xhs --account main" in message
    assert SECRET not in message
    assert "\n" not in message


def test_times_of_other_hands_are_read_too(store: SessionStore) -> None:
    path = store.path("xhs", "main")
    path.parent.mkdir(parents=True)
    times = {"checked_at": "2026-11-30T08:00:00Z", "cool_until": "2026-11-30T16:00:00+08:00"}
    path.write_bytes(damaged(**times, logged_in_at="2026-11-30T08:00:00"))
    loaded = store.load("xhs", "main")
    assert (loaded.checked_at, loaded.cool_until, loaded.logged_in_at) == (NOW, NOW, NOW)


def test_printing_a_session_prints_no_secret() -> None:
    shown = repr(session())
    assert SECRET not in shown
    assert "password" not in shown


# --- Cookies, there and back --------------------------------------------------------------------

FORMS = {
    "header": f"a1=19x==; web_session={SECRET}; unread={RAW_JSON}",
    "netscape": f".xiaohongshu.com\tTRUE\t/\tTRUE\t1893456000\ta1\t19x==\n"
    f"#HttpOnly_.xiaohongshu.com\tTRUE\t/\tTRUE\t0\tweb_session\t{SECRET}\n"
    f"www.xiaohongshu.com\tFALSE\t/explore\tFALSE\t0\tunread\t{RAW_JSON}\n",
    "json": json.dumps(
        [
            {"name": "a1", "value": "19x==", "domain": ".xiaohongshu.com", "secure": True},
            {
                "name": "web_session",
                "value": SECRET,
                "domain": ".xiaohongshu.com",
                "httpOnly": True,
                "sameSite": "no_restriction",
            },
            {"name": "unread", "value": RAW_JSON, "domain": "www.xiaohongshu.com"},
        ]
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_cookies_keeps_its_values_through_the_store(
    store: SessionStore, form: str
) -> None:
    cookies = parse_cookies(FORMS[form])
    store.save(session(cookies=cookies))
    assert store.load("xhs", "main").cookies == cookies
    assert {c.name: c.value for c in cookies} == {
        "a1": "19x==",
        "web_session": SECRET,
        "unread": RAW_JSON,
    }


@pytest.mark.parametrize("cookie", [*COOKIES, Cookie("x", "a,b", "x.com", same_site="None")])
def test_a_browser_takes_and_gives_back_a_cookie(cookie: Cookie) -> None:
    assert from_browser(cookie.for_browser()) == cookie


@pytest.mark.parametrize(
    ("told", "same_site"),
    [
        ("no_restriction", "None"),
        ("lax", "Lax"),
        ("Strict", "Strict"),
        ("unspecified", None),
        (None, None),
    ],
)
def test_the_words_of_browser_extensions_are_translated(
    told: str | None, same_site: str | None
) -> None:
    cookie = from_browser({"name": "a", "value": "b", "sameSite": told})
    assert cookie.same_site == same_site


def test_a_cookie_without_a_domain_gets_the_platforms() -> None:
    assert Cookie("a", "b").for_browser(".zhihu.com")["domain"] == ".zhihu.com"


@pytest.mark.parametrize("cookie", COOKIES)
def test_the_cookie_jar_of_a_crawl_gives_back_what_it_got(cookie: Cookie) -> None:
    jar = CookieJar()
    jar.set_cookie(cookie.for_jar(".xiaohongshu.com"))
    assert [Cookie.from_jar(one) for one in jar] == [cookie]


def test_a_cookie_that_the_platform_has_renewed_is_known_with_all_that_it_said() -> None:
    jar = CookieJar()
    line = f"web_session={SECRET}; Domain=.xiaohongshu.com; Path=/; Secure; HttpOnly; SameSite=Lax"
    url = "https://edith.xiaohongshu.com/api"
    jar.extract_cookies(Response(url, headers={"Set-Cookie": line}), Request(url))
    assert [Cookie.from_jar(one) for one in jar] == [
        Cookie(
            "web_session",
            SECRET,
            ".xiaohongshu.com",
            secure=True,
            http_only=True,
            same_site="Lax",
        )
    ]
