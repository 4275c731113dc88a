"""Crawls and logins through proxies, against a sandbox that only its real host names lead to."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mediacrawler.cookies import parse_cookies
from mediacrawler.sessions import Session
from mediacrawler.sessions.store import SessionStore
from sandbox.testing import RunningSandbox
from sandbox.xhs import World
from tests.conftest import Crawled, run_command, scrapy_command
from tests.proxy_servers import LocalProxy, LocalSocks, closed_port

Crawl = Callable[..., Crawled]
PASSWORD = "sEcret-4711"
NO_ENVIRONMENT = {"http_proxy": "", "https_proxy": "", "no_proxy": ""}
DEMO = "演示"
ASKED = {"keywords": DEMO, "max_posts": 0, "max_comments": 5}


@pytest.fixture(scope="module")
def tls_sandbox() -> Iterator[RunningSandbox]:
    with RunningSandbox("--tls") as running:
        yield running


@pytest.fixture
def target(tls_sandbox: RunningSandbox) -> tuple[str, int]:
    tls_sandbox.reset()
    return tls_sandbox.host, tls_sandbox.port


@pytest.fixture
def crawl_by(crawl: Crawl, tls_sandbox: RunningSandbox, target: object) -> Crawl:
    """Crawl XHS without SANDBOX_URL: nothing but a proxy leads anywhere."""

    def run(**settings: object) -> Crawled:
        settings = {"SANDBOX_URL": None, "PROXY_COOLDOWN": 0.2, "DOWNLOAD_TIMEOUT": 10, **settings}
        environment = {"XHS_COOKIES": tls_sandbox.cookies(), **NO_ENVIRONMENT}
        return crawl("xhs", settings, env=environment, **ASKED)

    return run


def listed(tmp_path: Path, *urls: str) -> str:
    path = tmp_path / "proxies.txt"
    path.write_text("".join(f"{url}\n" for url in urls), "utf-8")
    return f"@{path}"


def posts_there() -> list[str]:
    world = World(seed=1)
    return [post for post in world.search(DEMO) if world.status(post) == "ok"]


def assert_complete(crawled: Crawled) -> None:
    """Everything that was asked for, once."""
    world = World(seed=1)
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete"), crawled.output
    posts = [post["post_id"] for post in crawled.posts]
    assert sorted(posts) == sorted(posts_there())
    comments = [comment["comment_id"] for comment in crawled.comments]
    assert len(comments) == len(set(comments))
    assert len(comments) == sum(len(world.comments(post)[:5]) for post in posts)


def assert_kept_secret(crawled: Crawled, *secrets: str) -> None:
    """Neither the output nor any file that the crawl left has a secret in it."""
    texts = [crawled.output.encode()]
    texts += [path.read_bytes() for path in crawled.data.rglob("*") if path.is_file()]
    for secret in secrets:
        assert not any(secret.encode() in text for text in texts), secret


def test_a_crawl_goes_through_a_proxy_that_wants_a_password(
    crawl_by: Crawl, target: tuple[str, int], tmp_path: Path
) -> None:
    with LocalProxy(target, user="anna", password=PASSWORD) as proxy:
        crawled = crawl_by(
            PROXIES=listed(tmp_path, proxy.url), LOG_LEVEL="DEBUG", JOBDIR=tmp_path / "data/job"
        )
        assert_complete(crawled)
        assert "edith.xiaohongshu.com:443" in proxy.asked_for
        assert proxy.refused == 0
    assert_kept_secret(crawled, PASSWORD, "YW5uYTpzRWNyZXQtNDcxMQ")


def test_files_go_through_the_proxy_too(
    crawl: Crawl, tls_sandbox: RunningSandbox, target: tuple[str, int]
) -> None:
    with LocalProxy(target) as proxy:
        crawled = crawl(
            "xhs",
            {"SANDBOX_URL": None, "PROXIES": proxy.url},
            env={"XHS_COOKIES": tls_sandbox.cookies(), **NO_ENVIRONMENT},
            keywords="露营",
            max_posts=3,
            media="all",
        )
        assert crawled.report["media"]["downloaded"] > 0, crawled.output
        hosts = ("ci.xiaohongshu.com", "xhscdn.com")  # pictures and videos
        assert any(asked.split(":")[0].endswith(hosts) for asked in proxy.asked_for)


@pytest.mark.parametrize("name", ["edith.xiaohongshu.com", "so.xiaohongshu.com"])
def test_socks_lets_the_proxy_resolve_names(
    crawl_by: Crawl, target: tuple[str, int], tmp_path: Path, name: str
) -> None:
    with LocalSocks(target, user="anna", password=PASSWORD) as proxy:
        crawled = crawl_by(PROXIES=listed(tmp_path, proxy.url), LOG_LEVEL="DEBUG")
        assert_complete(crawled)
        assert f"{name}:443" in proxy.asked_for
    assert_kept_secret(crawled, PASSWORD)


def test_a_proxy_that_dies_is_replaced_and_nothing_is_lost(
    crawl_by: Crawl, target: tuple[str, int], tmp_path: Path
) -> None:
    with LocalProxy(target, dies_after=150_000) as first, LocalProxy(target) as second:
        crawled = crawl_by(PROXIES=f"{first.url},{second.url}", RETRY_TIMES=3)
        assert first.dead
        assert first.asked_for
        assert second.asked_for
    assert_complete(crawled)
    assert f"proxy {first.name} is put aside" in crawled.output


@pytest.mark.parametrize("kind", [LocalProxy, LocalSocks])
def test_proxies_that_refuse_or_are_not_there_cost_no_attempt(
    crawl_by: Crawl, target: tuple[str, int], tmp_path: Path, kind: type[LocalProxy]
) -> None:
    nobody = [f"{kind.scheme}://127.0.0.1:{closed_port()}" for _ in range(4)]
    with kind(target, user="anna", password=PASSWORD) as proxy:
        wrong = f"{kind.scheme}://anna:wrong-{PASSWORD}@{proxy.name}"
        crawled = crawl_by(PROXIES=listed(tmp_path, *nobody, wrong, proxy.url), RETRY_TIMES=0)
        assert_complete(crawled)
        assert proxy.refused > 0
    assert f"proxy {proxy.name} is put aside for good: credentials refused" in crawled.output
    assert_kept_secret(crawled, PASSWORD)


def test_without_a_working_proxy_the_crawl_stops_and_sends_nothing_directly(
    crawl_by: Crawl, tls_sandbox: RunningSandbox, target: tuple[str, int]
) -> None:
    port = closed_port()
    crawled = crawl_by(PROXIES=f"http://anna:{PASSWORD}@127.0.0.1:{port}")
    assert (crawled.exit_code, crawled.report["verdict"]) == (1, "error"), crawled.output
    assert f"no proxy works any more: 127.0.0.1:{port} (cannot be reached)" in crawled.output
    assert tls_sandbox.stats()["requests"] == 0
    assert "Traceback" not in crawled.output


def test_a_stopped_crawl_goes_on_with_its_jobdir_once_there_is_a_proxy(
    crawl_by: Crawl, crawl: Crawl, target: tuple[str, int], tmp_path: Path
) -> None:
    job = tmp_path / "job"
    with LocalProxy(target, dies_after=250_000, user="anna", password=PASSWORD) as first:
        stopped = crawl_by(PROXIES=first.url, JOBDIR=job, SAVE_DATA_PATH=tmp_path / "data")
    assert (stopped.exit_code, stopped.report["verdict"]) == (1, "error"), stopped.output
    kept = [path.read_bytes() for path in job.rglob("*") if path.is_file()]
    assert not any(PASSWORD.encode() in text or b"YW5uYT" in text for text in kept)
    one = stopped.posts
    with LocalProxy(target) as second:
        finished = crawl_by(PROXIES=second.url, JOBDIR=job)
    assert finished.exit_code == 0, finished.output
    posts = [post["post_id"] for post in one + finished.posts]
    assert sorted(posts) == sorted(posts_there())


@pytest.fixture
def accounts(tls_sandbox: RunningSandbox, tmp_path: Path) -> Callable[..., Path]:
    """Store accounts, each with a proxy; gives the folder."""

    def store(**proxies: str) -> Path:
        folder = tmp_path / "sessions"
        for (account, proxy), kind in zip(proxies.items(), ("member", "member-2"), strict=True):
            cookies = parse_cookies(tls_sandbox.cookies(kind))
            SessionStore(folder).save(Session("xhs", account, cookies, proxy=proxy))
        return folder

    return store


@pytest.mark.parametrize("kind", [LocalProxy, LocalSocks])
def test_each_account_goes_through_its_own_proxy_only(
    crawl: Crawl, accounts: Callable[..., Path], target: tuple[str, int], kind: type[LocalProxy]
) -> None:
    with (
        kind(target, user="anna", password=PASSWORD) as first,
        kind(target, user="ben", password=PASSWORD) as second,
        LocalProxy(target) as common,
    ):
        folder = accounts(anna=first.url, ben=second.url)
        settings = {"SANDBOX_URL": None, "SESSIONS_DIR": folder, "PROXIES": common.url}
        crawled = crawl("xhs", settings, cookies=None, env=NO_ENVIRONMENT, account="all", **ASKED)
        assert_complete(crawled)
        assert first.asked_for
        assert second.asked_for
        assert common.asked_for == []
        assert first.refused == second.refused == 0
    assert_kept_secret(crawled, PASSWORD)


def test_an_account_whose_proxy_does_not_work_hands_its_work_over(
    crawl: Crawl, accounts: Callable[..., Path], target: tuple[str, int]
) -> None:
    with LocalProxy(target) as proxy:
        folder = accounts(anna=f"http://anna:{PASSWORD}@127.0.0.1:{closed_port()}", ben=proxy.url)
        settings = {"SANDBOX_URL": None, "SESSIONS_DIR": folder, "PROXY_COOLDOWN": 0.2}
        crawled = crawl("xhs", settings, cookies=None, env=NO_ENVIRONMENT, account="all", **ASKED)
    assert_complete(crawled)
    assert "session anna rests: its proxy" in crawled.output
    assert_kept_secret(crawled, PASSWORD)


def test_fresh_proxies_come_from_a_command(
    crawl_by: Crawl, target: tuple[str, int], tmp_path: Path
) -> None:
    script = tmp_path / "fetch.py"
    with LocalProxy(target, user="anna", password=PASSWORD) as proxy:
        script.write_text(
            "import json, sys\nassert sys.argv[1] == 'a key'\n"
            f"print(json.dumps({{'url': {proxy.url!r}, 'ttl': 600}}))\n"
        )
        crawled = crawl_by(
            PROXY_PROVIDER_COMMAND=f"{sys.executable} {script} 'a key'", LOG_LEVEL="DEBUG"
        )
        assert_complete(crawled)
        assert proxy.asked_for
    assert_kept_secret(crawled, PASSWORD, "a key")


def test_a_proxy_that_expires_gives_way_to_a_fresh_one(
    crawl_by: Crawl, target: tuple[str, int], tmp_path: Path
) -> None:
    script = tmp_path / "fetch.py"
    with LocalProxy(target) as old, LocalProxy(target) as fresh:
        script.write_text(f"print({fresh.url!r})\n")
        crawled = crawl_by(
            PROXIES=listed(tmp_path, f'{{"url": "{old.url}", "ttl": 4.5}}'),
            PROXY_PROVIDER_COMMAND=f"{sys.executable} {script}",
            DOWNLOAD_DELAY=0.2,
        )
        assert old.asked_for
        assert fresh.asked_for
    assert_complete(crawled)


def test_a_provider_that_fails_stops_the_crawl_with_its_reason(crawl_by: Crawl) -> None:
    crawled = crawl_by(
        PROXY_PROVIDER_URL=f"http://127.0.0.1:{closed_port()}/?key={PASSWORD}", LOG_LEVEL="DEBUG"
    )
    assert (crawled.exit_code, crawled.report["verdict"]) == (1, "error"), crawled.output
    assert "no proxy works any more: there is none; the provider: no answer" in crawled.output
    assert_kept_secret(crawled, PASSWORD)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"PROXIES": f"ftp://anna:{PASSWORD}@127.0.0.1:21"},
            "PROXIES, line 1: the scheme must be http, https, socks5 or socks5h",
        ),
        ({"PROXIES": "@nowhere.txt"}, "PROXIES, nowhere.txt: cannot be read"),
        ({"PROXY_COOLDOWN": "soon"}, "PROXY_COOLDOWN: must be a number of at least 0"),
        (
            {"PROXY_PROVIDER_URL": f"file:///{PASSWORD}"},
            "PROXY_PROVIDER_URL: must begin with http:// or https://",
        ),
    ],
)
def test_settings_that_cannot_work_are_refused_in_one_line(
    crawl_by: Crawl, settings: dict[str, object], message: str
) -> None:
    crawled = crawl_by(**settings)
    assert crawled.exit_code == 2, crawled.output
    assert message in crawled.output
    assert "Traceback" not in crawled.output
    assert PASSWORD not in crawled.output


def test_the_sandbox_is_never_asked_through_a_proxy(crawl: Crawl, target: tuple[str, int]) -> None:
    with LocalProxy(target) as proxy:
        crawled = crawl("xhs", {"PROXIES": proxy.url}, **ASKED)
        assert proxy.asked_for == []
    assert_complete(crawled)


def check(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``scrapy proxies check``, with accounts in *folder*."""
    command = scrapy_command("proxies", "check", *words, settings={"SESSIONS_DIR": folder})
    return run_command(command, env={**os.environ, **NO_ENVIRONMENT})


def test_the_check_says_how_each_proxy_does(target: tuple[str, int], tmp_path: Path) -> None:
    nobody = closed_port()
    sessions = tmp_path / "sessions"
    with (
        LocalProxy(target, user="anna", password=PASSWORD) as web,
        LocalSocks(target, user="anna", password=PASSWORD) as socks,
        LocalProxy(target) as stored,
    ):
        SessionStore(sessions).save(Session("xhs", "ben", [], proxy=stored.url))
        wrong = f"http://anna:x{PASSWORD}@{web.name}"
        unreachable = f"socks5://anna:{PASSWORD}@127.0.0.1:{nobody}"
        proxies = listed(tmp_path, web.url, socks.url, wrong, unreachable)
        done = check("xhs", "-s", f"PROXIES={proxies}", folder=sessions)
        assert web.asked_for == socks.asked_for == ["www.xiaohongshu.com:443"]
    lines = [re.sub(r"\d+ ms", "N ms", line) for line in done.stdout.splitlines()]
    assert lines == [
        "to www.xiaohongshu.com:443",
        f"http://{web.name}  ok, N ms  (PROXIES)",
        f"socks5://{socks.name}  ok, N ms  (PROXIES)",
        f"http://{web.name}  auth failed: it does not accept the credentials  (PROXIES)",
        f"socks5://127.0.0.1:{nobody}  refused: connection refused  (PROXIES)",
        f"http://{stored.name}  ok, N ms  (session xhs/ben)",
    ]
    assert done.returncode == 1
    assert PASSWORD not in done.stdout + done.stderr


def test_the_check_asks_the_provider_and_goes_where_it_is_told(
    target: tuple[str, int], tmp_path: Path
) -> None:
    with LocalProxy(target) as proxy:
        command = f'PROXY_PROVIDER_COMMAND={sys.executable} -c "print({proxy.url!r})"'
        done = check("--target", "site.example:8443", "-s", command, folder=tmp_path)
        assert proxy.asked_for == ["site.example:8443"]
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].endswith("ms  (provider)")


def assign(text: str, folder: Path, account: str = "ben") -> subprocess.CompletedProcess[str]:
    """Run ``scrapy proxies assign`` with *text* on its standard input."""
    words = ("proxies", "assign", "xhs", account)
    return run_command(scrapy_command(*words, settings={"SESSIONS_DIR": folder}), stdin=text)


def test_a_proxy_is_assigned_to_an_account_and_taken_away(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    store.save(Session("xhs", "ben", []))
    done = assign(f"h.example:8080:anna:{PASSWORD}\n", tmp_path)
    assert done.stdout == "xhs/ben goes through http://h.example:8080 from now on\n", done.stderr
    assert store.load("xhs", "ben").proxy == f"http://anna:{PASSWORD}@h.example:8080"
    refused = assign(f"http://anna:{PASSWORD}@h.example:x\n", tmp_path)
    assert refused.returncode == 2
    assert "this is no proxy: the port must be" in refused.stderr
    assert PASSWORD not in refused.stderr
    assert assign("\n", tmp_path).returncode == 0
    assert store.load("xhs", "ben").proxy is None
    assert assign("h:1\n", tmp_path, account="nobody").returncode == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "there is no proxy: set PROXIES"),
        (["nowhere"], "there is no spider 'nowhere'; there are: bilibili, "),
        (["--target", "h:port"], "--target h:port: write HOST:PORT"),
        (["-s", f"PROXIES=http://anna:{PASSWORD}@h:0"], "PROXIES, line 1: the port"),
    ],
)
def test_a_check_that_cannot_be_made_is_one_line(
    words: list[str], message: str, tmp_path: Path
) -> None:
    done = check(*words, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"scrapy proxies: error: {message}")
    assert done.stderr.count("\n") == 1
    assert PASSWORD not in done.stderr


def test_no_environment_variable_is_left_over() -> None:
    """The crawls above would prove nothing if this machine had a proxy of its own."""
    assert not any(os.environ.get(name) for name in NO_ENVIRONMENT)


# --- Logins -----------------------------------------------------------------------------------


def log_in(
    *words: str, folder: Path, stdin: str, **settings: object
) -> subprocess.CompletedProcess[str]:
    """Run ``scrapy login xhs`` without SANDBOX_URL."""
    given = {"SESSIONS_DIR": folder, "BACKOFF_BASE": 0.02, "DOWNLOAD_DELAY": 0, **settings}
    command = scrapy_command("login", "xhs", "--account", "main", *words, settings=given)
    return run_command(command, env={**os.environ, **NO_ENVIRONMENT}, stdin=stdin)


@pytest.mark.parametrize("kind", [LocalProxy, LocalSocks])
def test_cookies_are_checked_through_the_proxies_of_the_settings(
    tls_sandbox: RunningSandbox, target: tuple[str, int], tmp_path: Path, kind: type[LocalProxy]
) -> None:
    with kind(target, user="anna", password=PASSWORD) as proxy:
        done = log_in(
            "--from=-",
            folder=tmp_path,
            stdin=tls_sandbox.cookies(),
            PROXIES=listed(tmp_path, proxy.url),
        )
        assert proxy.asked_for == ["edith.xiaohongshu.com:443"]
    assert done.returncode == 0, done.stdout + done.stderr
    assert SessionStore(tmp_path).load("xhs", "main").proxy is None


def test_a_proxy_given_to_a_login_is_used_and_stored(
    tls_sandbox: RunningSandbox, target: tuple[str, int], tmp_path: Path
) -> None:
    with LocalProxy(target, user="anna", password=PASSWORD) as proxy, LocalProxy(target) as other:
        done = log_in(
            *("--from=-", "--proxy", listed(tmp_path, proxy.url)),
            folder=tmp_path,
            stdin=tls_sandbox.cookies(),
            PROXIES=other.url,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        again = log_in("--from=-", folder=tmp_path, stdin=tls_sandbox.cookies())
        assert again.returncode == 0, again.stdout + again.stderr
        assert proxy.asked_for == ["edith.xiaohongshu.com:443"] * 2
        assert other.asked_for == []
        assert SessionStore(tmp_path).load("xhs", "main").proxy == proxy.url
    assert PASSWORD not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--proxy", f"http://anna:{PASSWORD}@h.example:1"], "can be read by everybody"),
        (["--proxy", "ftp://h.example"], "--proxy: line 1: the scheme must be"),
        (["--proxy", "@/not/there"], "cannot read the proxy in /not/there"),
        (["--proxy", "-"], "stdin is taken: give the proxy as --proxy @FILE"),
    ],
)
def test_a_proxy_that_a_login_cannot_take_is_told_in_one_line(
    words: list[str], message: str, tmp_path: Path
) -> None:
    done = log_in("--from=-", *words, folder=tmp_path / "sessions", stdin="a1=1")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert PASSWORD not in done.stdout + done.stderr
    assert not (tmp_path / "sessions").exists()


def test_a_login_whose_proxy_does_not_work_stores_nothing(
    tls_sandbox: RunningSandbox, tmp_path: Path
) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    done = log_in(
        *("--from=-", "--proxy", f"http://{dead}"),
        folder=tmp_path / "sessions",
        stdin=tls_sandbox.cookies(),
    )
    assert done.returncode == 1
    assert f"not stored: no proxy works any more: {dead}" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "sessions").exists()
