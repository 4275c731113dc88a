"""Crawls with several stored accounts: who works, who is put aside, what moves to whom."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mediacrawler.cookies import Cookie, parse_cookies
from mediacrawler.sessions import Session
from mediacrawler.sessions.store import SessionStore
from sandbox.testing import RunningSandbox
from sandbox.weibo import World as WeiboWorld
from sandbox.xhs import World
from tests.conftest import Crawled, run_command, scrapy_command
from tests.sandbox.weibo_client import Jar

Crawl = Callable[..., Crawled]
DEMO = "演示"


@pytest.fixture
def accounts(calm_sandbox: RunningSandbox, tmp_path: Path) -> Callable[..., Path]:
    """Store accounts with the sandbox's cookies of a kind; gives the folder."""

    def store(**kinds: str) -> Path:
        folder = tmp_path / "sessions"
        for account, kind in kinds.items():
            cookies = parse_cookies(calm_sandbox.cookies(kind.replace("_", "-")))
            SessionStore(folder).save(Session("xhs", account, cookies))
        return folder

    return store


def crawl_demo(crawl: Crawl, folder: Path, account: str = "all") -> Crawled:
    return crawl(
        "xhs",
        {"SESSIONS_DIR": folder, "CONCURRENT_REQUESTS": "3"},
        cookies=None,
        account=account,
        keywords=DEMO,
        max_posts=0,
        max_comments=15,
    )


def expected_comments(world: World) -> set[str]:
    return {
        comment.id
        for note_id in world.search(DEMO)
        if world.status(note_id) == "ok"
        for comment in world.comments(note_id)[:15]
    }


def test_work_is_spread_over_the_accounts(
    crawl: Crawl, accounts: Callable[..., Path], calm_sandbox: RunningSandbox
) -> None:
    folder = accounts(anna="member", ben="member-2", cora="member-3")
    crawled = crawl_demo(crawl, folder)
    assert crawled.exit_code == 0, crawled.output
    stats = calm_sandbox.stats()
    assert stats["most_in_flight"] <= 3
    assert stats["mixed_connections"] == 0
    counts = {name: seen["requests"] for name, seen in stats["sessions"].items()}
    assert len([name for name, number in counts.items() if number > 2]) == 3, counts


@pytest.mark.parametrize(("kind", "state"), [("flagged", "flagged"), ("expired", "expired")])
def test_an_account_that_is_refused_hands_its_work_over_and_rests(
    crawl: Crawl, accounts: Callable[..., Path], kind: str, state: str
) -> None:
    world = World(seed=1)
    folder = accounts(anna="member", ben=kind, cora="member-3")
    crawled = crawl_demo(crawl, folder)
    assert crawled.exit_code == 0, crawled.output
    ids = [comment["comment_id"] for comment in crawled.comments]
    assert len(ids) == len(set(ids))
    assert set(ids) == expected_comments(world)
    ben = SessionStore(folder).load("xhs", "ben")
    assert ben.state == state
    assert "account ben is put aside, 2 left" in crawled.output
    again = crawl_demo(crawl, folder)
    assert "put aside" not in again.output  # it still rests


def test_accounts_that_fall_out_in_the_middle_lose_nothing(
    crawl: Crawl, accounts: Callable[..., Path], calm_sandbox: RunningSandbox
) -> None:
    world = World(seed=1)
    folder = accounts(anna="member", ben="member-2", cora="member-3")
    calm_sandbox.fault("461", path="*", rate=1, session="member-2", after=4)
    calm_sandbox.fault("expired", path="*", rate=1, session="member-3", after=8)
    crawled = crawl_demo(crawl, folder)
    assert crawled.exit_code == 0, crawled.output
    posts = [post["post_id"] for post in crawled.posts]
    assert sorted(posts) == sorted(i for i in world.search(DEMO) if world.status(i) == "ok")
    ids = [comment["comment_id"] for comment in crawled.comments]
    assert len(ids) == len(set(ids))
    assert set(ids) == expected_comments(world)
    states = {session.account: session.state for session in SessionStore(folder).all("xhs")}
    assert (states["ben"], states["cora"]) == ("captcha", "expired")


def test_without_another_account_the_crawl_stops(
    crawl: Crawl, accounts: Callable[..., Path]
) -> None:
    folder = accounts(ben="flagged")
    crawled = crawl_demo(crawl, folder, account="ben")
    assert (crawled.exit_code, crawled.report["verdict"]) == (4, "blocked")
    again = crawl_demo(crawl, folder, account="ben")
    assert again.exit_code == 2
    assert "no account of xhs can be used: ben (flagged until" in again.output


def test_an_expired_account_is_named_with_what_to_do(
    crawl: Crawl, accounts: Callable[..., Path]
) -> None:
    folder = accounts(ben="expired")
    crawled = crawl_demo(crawl, folder, account="ben")
    assert (crawled.exit_code, crawled.report["verdict"]) == (6, "login_required")
    again = crawl_demo(crawl, folder, account="ben")
    assert again.exit_code == 2
    assert "can be used: ben (expired: `scrapy login xhs --account ben`)" in again.output


def test_an_unknown_account_is_one_line(crawl: Crawl, tmp_path: Path) -> None:
    crawled = crawl(
        "xhs", {"SESSIONS_DIR": tmp_path}, cookies=None, keywords=DEMO, account="nobody"
    )
    assert crawled.exit_code == 2
    assert "nobody" in crawled.output
    assert "Traceback" not in crawled.output


def test_a_single_stored_account_is_used_when_there_are_no_cookies(
    crawl: Crawl, accounts: Callable[..., Path]
) -> None:
    folder = accounts(anna="member")
    crawled = crawl("xhs", {"SESSIONS_DIR": folder}, cookies=None, keywords=DEMO, max_posts=1)
    assert crawled.exit_code == 0, crawled.output


# --- A login that is renewed by cookies that live longer (Weibo) ------------------------------


@pytest.fixture
def weibo_login(calm_sandbox: RunningSandbox, tmp_path: Path) -> Callable[[str], SessionStore]:
    """Store an account of Weibo with all that a login has left on its four hosts."""

    def store(member: str) -> SessionStore:
        jar = Jar(calm_sandbox)
        jar.log_in(member)
        cookies = [
            Cookie(name, value, domain)
            for domain, found in jar.cookies.items()
            for name, value in found.items()
        ]
        sessions = SessionStore(tmp_path / "sessions")
        sessions.save(Session("weibo", "anna", cookies))
        return sessions

    return store


def crawl_weibo(crawl: Crawl, store: SessionStore) -> Crawled:
    settings = {"SESSIONS_DIR": store.folder, "DOWNLOAD_DELAY": "0.05"}
    arguments = {"account": "anna", "keywords": DEMO, "max_posts": 0, "max_comments": 5}
    return crawl("weibo", settings, cookies=None, **arguments)


@pytest.mark.parametrize("when", ["before", "in the middle"])
def test_a_login_that_expires_is_renewed_once(
    crawl: Crawl,
    weibo_login: Callable[[str], SessionStore],
    calm_sandbox: RunningSandbox,
    when: str,
) -> None:
    store = weibo_login("member-21")
    old = {cookie.value for cookie in store.load("weibo", "anna").cookies if cookie.name == "SUB"}
    answered = 0 if when == "before" else 12

    def expire() -> None:
        while calm_sandbox.stats()["requests"] < answered:
            time.sleep(0.02)
        calm_sandbox.action("weibo", "expire-session", session="member-21")

    with ThreadPoolExecutor() as pool:
        expired = pool.submit(expire)
        if when == "before":
            expired.result()
        crawled = crawl_weibo(crawl, store)
        expired.result(10)
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete"), crawled.output
    assert crawled.output.count("the login of account anna is renewed") == 1
    world = WeiboWorld(seed=1)
    found = {mid for mid in world.search(DEMO) if world.status(mid) == "ok"}
    assert found <= {post["post_id"] for post in crawled.posts}
    kept = store.load("weibo", "anna")
    assert kept.state == "ok"
    assert not old & {cookie.value for cookie in kept.cookies if cookie.name == "SUB"}
    assert not any(value in crawled.output for value in old)


def test_a_check_renews_a_login_too(
    weibo_login: Callable[[str], SessionStore], calm_sandbox: RunningSandbox
) -> None:
    store = weibo_login("member-25")
    calm_sandbox.action("weibo", "expire-session", session="member-25")
    settings = {"SANDBOX_URL": calm_sandbox.url, "SESSIONS_DIR": store.folder}
    done = run_command(scrapy_command("accounts", "check", "weibo", settings=settings))
    assert (done.returncode, store.load("weibo", "anna").state) == (0, "ok"), done.stderr


def test_a_login_that_cannot_be_renewed_stops_the_crawl(
    crawl: Crawl, weibo_login: Callable[[str], SessionStore], calm_sandbox: RunningSandbox
) -> None:
    store = weibo_login("member-22")
    calm_sandbox.action("weibo", "expire-session", session="member-22", for_good=True)
    crawled = crawl_weibo(crawl, store)
    assert (crawled.exit_code, crawled.report["verdict"]) == (6, "login_required"), crawled.output


def test_a_renewal_that_is_refused_for_too_many_requests_is_none(
    crawl: Crawl, weibo_login: Callable[[str], SessionStore], calm_sandbox: RunningSandbox
) -> None:
    store = weibo_login("member-23")
    calm_sandbox.action("weibo", "expire-session", session="member-23")
    calm_sandbox.fault("429-retry-after", path="/sso/", rate=1, args={"seconds": 86400})
    crawled = crawl_weibo(crawl, store)
    assert (crawled.exit_code, crawled.report["verdict"]) == (6, "login_required"), crawled.output


def test_a_host_that_only_refuses_says_nothing_about_a_login(
    crawl: Crawl, weibo_login: Callable[[str], SessionStore], calm_sandbox: RunningSandbox
) -> None:
    store = weibo_login("member-24")
    calm_sandbox.fault("429-retry-after", path="/api/config", rate=1, args={"seconds": 86400})
    crawled = crawl_weibo(crawl, store)
    assert (crawled.exit_code, crawled.report["verdict"]) == (5, "rate_limited"), crawled.output
    assert store.load("weibo", "anna").state == "rate_limited"
