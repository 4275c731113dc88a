"""``scrapy login`` and ``scrapy accounts`` as a user runs them, against the sandbox."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from mediacrawler.cookies import parse_header
from sandbox.testing import RunningSandbox
from tests.conftest import ROOT, run_command, scrapy_command

PLATFORMS = ("xhs", "bilibili", "weibo", "zhihu")
RAW_JSON = '{"ub":"65f1","ue":[1,2]}'
FOREIGN = "not-for-this-platform"
ME = "/api/sns/web/v2/user/me"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


def command(sandbox: RunningSandbox, sessions: Path, *words: str) -> list[str]:
    settings = {
        "SANDBOX_URL": sandbox.url,
        "SESSIONS_DIR": sessions,
        "BACKOFF_BASE": "0.02",
        "DOWNLOAD_DELAY": "0",
    }
    return scrapy_command(*words, settings=settings)


@pytest.fixture
def run(calm_sandbox: RunningSandbox, sessions: Path) -> Run:
    """Run a ``scrapy`` command; *stdin* is what is piped or typed."""

    def run(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.endswith("_COOKIES")}
        return run_command(command(calm_sandbox, sessions, *words), env=environment, stdin=stdin)

    return run


def stored(sessions: Path, platform: str, account: str) -> dict[str, Any]:
    path = sessions / platform / f"{account}.json"
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def change(sessions: Path, platform: str, account: str, **changes: Any) -> None:
    path = sessions / platform / f"{account}.json"
    path.write_text(json.dumps({**stored(sessions, platform, account), **changes}), "utf-8")


def values(content: dict[str, Any]) -> dict[str, str]:
    return {cookie["name"]: cookie["value"] for cookie in content["storage_state"]["cookies"]}


def everything(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr


def log_in(run: Run, sandbox: RunningSandbox, account: str, platform: str = "xhs") -> None:
    line = sandbox.cookies("member", platform)
    done = run(
        "login", platform, "--method", "cookie", "--from", "-", "--account", account, stdin=line
    )
    assert done.returncode == 0, everything(done)


# --- Cookies ------------------------------------------------------------------------------------


@pytest.mark.parametrize("platform", PLATFORMS)
def test_cookies_are_checked_and_stored_and_a_crawl_can_use_them(
    run: Run, calm_sandbox: RunningSandbox, sessions: Path, tmp_path: Path, platform: str
) -> None:
    line = calm_sandbox.cookies("member", platform)
    done = run("login", platform, "--from", "-", "-L", "DEBUG", stdin=line)
    assert done.returncode == 0, everything(done)
    assert f"{platform}: logged in as " in done.stdout
    (path,) = sessions.glob("*/*.json")
    assert path.parent.name == platform
    assert path.stat().st_mode & 0o777 == 0o600
    assert str(path) in done.stdout

    content = stored(sessions, platform, path.stem)
    assert content["state"] == "ok"
    assert values(content).items() >= parse_header(line).items()
    assert all(cookie["domain"] for cookie in content["storage_state"]["cookies"])
    assert content["user_agent"].startswith("Mozilla/5.0 ")
    for value in values(content).values():
        assert len(value) < 12 or value not in everything(done)

    crawled = run(
        *("crawl", platform, "-a", "keywords=露营", "-a", "max_posts=2", "-a", "max_comments=0"),
        *("-a", f"account={path.stem}", "-s", f"SAVE_DATA_PATH={tmp_path / 'data'}"),
    )
    assert crawled.returncode == 0, everything(crawled)


def as_header(cookies: dict[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


def as_netscape(cookies: dict[str, str]) -> str:
    lines = [
        f"#HttpOnly_.xiaohongshu.com\tTRUE\t/\tTRUE\t2000000000\t{name}\t{value}"
        for name, value in cookies.items()
    ]
    foreign = f".bank.example\tTRUE\t/\tTRUE\t2000000000\tsession\t{FOREIGN}"
    return "\n".join(["# Netscape HTTP Cookie File", *lines, foreign, ""])


def as_export(cookies: dict[str, str]) -> str:
    entries = [
        {"name": name, "value": value, "domain": ".xiaohongshu.com", "expirationDate": 2e9}
        for name, value in cookies.items()
    ]
    foreign = {"name": "session", "value": FOREIGN, "domain": "notxiaohongshu.com"}
    return json.dumps([*entries, foreign])


@pytest.mark.parametrize("form", [as_header, as_netscape, as_export])
def test_every_form_of_cookies_keeps_values_and_leaves_other_sites_out(
    run: Run,
    calm_sandbox: RunningSandbox,
    sessions: Path,
    tmp_path: Path,
    form: Callable[[dict[str, str]], str],
) -> None:
    cookies = {
        "unread": RAW_JSON,
        "id_token": "VjEAAA==",
        "list": '"a,b"',
        **parse_header(calm_sandbox.cookies()),
    }
    file = tmp_path / "my cookies.txt"
    file.write_text(form(cookies), "utf-8-sig")
    done = run(
        *("login", "xhs", "--from", str(file), "--account", "小号", "--user-agent", "Mine/1.0")
    )
    assert done.returncode == 0, everything(done)
    content = stored(sessions, "xhs", "小号")
    assert values(content).items() >= cookies.items()
    assert FOREIGN not in json.dumps(content)
    assert content["user_agent"] == "Mine/1.0"


@pytest.mark.parametrize(
    ("platform", "kind"),
    [
        ("xhs", "guest"),
        ("xhs", "expired"),
        ("bilibili", "guest"),
        ("bilibili", "expired"),
        ("weibo", "expired"),
        ("zhihu", "guest"),
        ("zhihu", "expired"),
    ],
)
def test_guests_and_expired_logins_are_refused(
    run: Run, calm_sandbox: RunningSandbox, sessions: Path, platform: str, kind: str
) -> None:
    line = calm_sandbox.cookies(kind, platform)
    done = run("login", platform, "--from", "-", "--account", "main", stdin=line)
    assert done.returncode == 6, everything(done)
    assert "not stored: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(sessions.rglob("*"))


@pytest.mark.parametrize(
    ("fault", "exit_code", "words"),
    [("461", 4, "captcha"), ("429", 5, "too many requests"), ("500", 1, "500")],
)
def test_other_refusals_are_named_and_nothing_is_stored(
    run: Run,
    calm_sandbox: RunningSandbox,
    sessions: Path,
    fault: str,
    exit_code: int,
    words: str,
) -> None:
    calm_sandbox.fault(fault, path=ME)
    done = run("login", "xhs", "--from", "-", stdin=calm_sandbox.cookies())
    assert done.returncode == exit_code, everything(done)
    assert words in done.stderr
    assert not list(sessions.rglob("*"))


@pytest.mark.parametrize(
    ("words", "stdin", "message"),
    [
        (["mars"], "", "there is no platform 'mars'; there are: bilibili"),
        (["xhs", "--account", "a/b", "--from", "-"], "a1=1", "cannot be the name"),
        (["xhs", "--from", "/not/there.txt"], "", "/not/there.txt"),
        (["xhs", "--from", "-"], "secretwithoutequals", "header line"),
        (["xhs", "--method", "qrcode", "--from", "-"], "", "--from goes with"),
        (["xhs", "--method", "browser"], "", "--remote-debugging-port"),
        (["zhihu", "--method", "phone"], "", "--method qrcode"),
        (["xhs", "--cookie=secretwithoutequals"], "", "unknown option: --cookie\n"),
        ([], "", "scrapy login xhs"),
    ],
)
def test_mistakes_are_told_in_one_line(
    run: Run, sessions: Path, words: list[str], stdin: str, message: str
) -> None:
    done = run("login", *words, stdin=stdin)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert "secretwithoutequals" not in everything(done)
    assert not sessions.exists()


def test_logging_in_again_renews_and_keeps_the_proxy(
    run: Run, calm_sandbox: RunningSandbox, sessions: Path
) -> None:
    log_in(run, calm_sandbox, "main")
    proxy = "http://user:passw0rd@127.0.0.1:9"
    change(sessions, "xhs", "main", proxy=proxy, state="expired", user_agent="Old/1.0")
    log_in(run, calm_sandbox, "main")
    content = stored(sessions, "xhs", "main")
    assert (content["state"], content["proxy"]) == ("ok", proxy)
    assert content["user_agent"] != "Old/1.0"


# --- Phone --------------------------------------------------------------------------------------


@pytest.mark.parametrize("right", [True, False])
def test_a_phone_logs_in_with_the_code_that_it_received(
    calm_sandbox: RunningSandbox, sessions: Path, right: bool
) -> None:
    phone = "13800000007"
    process = subprocess.Popen(
        command(calm_sandbox, sessions, "login", "xhs", "--method", "phone", "--account", "p"),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdin
    process.stdin.write("138 0000 0007\n")
    process.stdin.flush()
    code = received(calm_sandbox, phone) if right else "000000"
    process.stdin.write(f"{code}\n")
    output, _ = process.communicate(timeout=60)
    assert process.returncode == (0 if right else 1), output
    assert (sessions / "xhs" / "p.json").exists() is right
    assert "Traceback" not in output
    if right:
        assert {"a1", "webId", "web_session"} <= set(values(stored(sessions, "xhs", "p")))
    else:
        assert "the login by phone is refused" in output


def test_ctrl_c_at_the_question_ends_a_login_by_phone(
    calm_sandbox: RunningSandbox, sessions: Path
) -> None:
    process = subprocess.Popen(
        command(calm_sandbox, sessions, "login", "xhs", "--method", "phone", "--account", "p"),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    asked = process.stdout.read(len("Phone number"))
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert (asked, process.returncode) == ("Phone number", 1), output
    assert output.endswith("scrapy login: not stored: interrupted\n")
    assert not sessions.exists()


def received(sandbox: RunningSandbox, phone: str) -> str:
    """The code of the text message, once it has come."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            return str(sandbox.action("xhs", "sms-code", phone=phone)["code"])
        except ValueError:
            time.sleep(0.1)
    raise AssertionError("no code was sent")


# --- scrapy accounts ----------------------------------------------------------------------------


def test_accounts_are_listed_without_secrets_damaged_ones_too(
    run: Run, calm_sandbox: RunningSandbox, sessions: Path
) -> None:
    assert "no accounts" in run("accounts").stdout
    log_in(run, calm_sandbox, "main")
    rest = datetime.now(timezone.utc) + timedelta(hours=5, minutes=30)
    change(
        sessions,
        "xhs",
        "main",
        state="captcha",
        reason="a captcha has to be solved",
        cool_until=rest.isoformat(),
        proxy="http://user:passw0rd@127.0.0.1:9",
    )
    (sessions / "xhs" / "broken.json").write_text('{"version": 1, "secret": "s3cr3t', "utf-8")
    for words in (("accounts",), ("accounts", "list"), ("accounts", "xhs")):
        done = run(*words)
        assert done.returncode == 0
        header, broken, main = done.stdout.splitlines()
        assert header.split()[:3] == ["PLATFORM", "ACCOUNT", "STATE"]
        assert broken.split()[:3] == ["xhs", "broken", "damaged"]
        assert main.split()[:3] == ["xhs", "main", "captcha"]
        assert "5 h" in main
        assert "a captcha has to be solved" in main
    secrets = ["passw0rd", "s3cr3t", *parse_header(calm_sandbox.cookies()).values()]
    assert not [secret for secret in secrets if secret in everything(done)]
    none = run("accounts", "list", "zhihu").stdout
    assert none == f"no accounts of zhihu in {sessions}; log in with: scrapy login zhihu\n"


def test_check_asks_each_platform_and_notes_what_has_become_of_the_login(
    run: Run, calm_sandbox: RunningSandbox, sessions: Path
) -> None:
    for platform in ("xhs", "zhihu"):
        log_in(run, calm_sandbox, "main", platform)
    done = run("accounts", "check")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split(",")[0] for line in done.stdout.splitlines()] == [
        "xhs/main: ok",
        "zhihu/main: ok",
    ]

    current = values(stored(sessions, "xhs", "main"))["web_session"]
    calm_sandbox.action("xhs", "expire-session", session=current)
    try:
        done = run("accounts", "check")
    finally:
        calm_sandbox.action("xhs", "restore-session", session=current)
    assert done.returncode == 6, everything(done)
    assert "xhs/main: expired: " in done.stdout
    assert "zhihu/main: ok" in done.stdout
    content = stored(sessions, "xhs", "main")
    assert (content["state"], content["cool_until"]) == ("expired", None)
    assert values(content)["web_session"] == current

    crawled = run("crawl", "xhs", "-a", "keywords=露营", "-a", "account=main")
    assert crawled.returncode == 2
    assert "main (expired: `scrapy login xhs --account main`)" in crawled.stderr

    assert run("accounts", "check", "xhs", "main").returncode == 0
    assert stored(sessions, "xhs", "main")["state"] == "ok"


def test_accounts_of_one_platform_are_checked_as_themselves(
    run: Run, calm_sandbox: RunningSandbox
) -> None:
    for account in ("member-1", "member-2"):
        line = calm_sandbox.cookies(account)
        assert run("login", "xhs", "--from", "-", "--account", account, stdin=line).returncode == 0
    calm_sandbox.reset()
    done = run("accounts", "check", "xhs")
    assert done.returncode == 0, everything(done)
    names = [line.partition("logged in as ")[2] for line in done.stdout.splitlines()]
    assert len(set(names)) == 2
    assert calm_sandbox.stats()["requests"] == 2


def test_a_good_check_proves_the_login_but_does_not_end_a_rest(
    run: Run, calm_sandbox: RunningSandbox, sessions: Path
) -> None:
    log_in(run, calm_sandbox, "main")
    rest = (datetime.now(timezone.utc) + timedelta(hours=5)).isoformat(timespec="seconds")
    change(sessions, "xhs", "main", state="captcha", reason="a captcha", cool_until=rest)
    done = run("accounts", "check", "xhs", "main")
    assert done.returncode == 4, everything(done)
    content = stored(sessions, "xhs", "main")
    assert (content["state"], content["cool_until"]) == ("captcha", rest)

    assert run("accounts", "wake", "xhs", "main").returncode == 0
    assert run("accounts", "check", "xhs", "main").returncode == 0
    content = stored(sessions, "xhs", "main")
    assert (content["state"], content["cool_until"]) == ("ok", None)


def test_a_captcha_found_by_a_check_rests_the_session(
    run: Run, calm_sandbox: RunningSandbox, sessions: Path
) -> None:
    log_in(run, calm_sandbox, "main")
    calm_sandbox.fault("461", path=ME)
    done = run("accounts", "check", "xhs", "main")
    assert done.returncode == 4, everything(done)
    content = stored(sessions, "xhs", "main")
    assert content["state"] == "captcha"
    assert datetime.fromisoformat(content["cool_until"]) > datetime.now(timezone.utc)


def test_a_platform_that_does_not_answer_changes_nothing(
    run: Run, calm_sandbox: RunningSandbox, sessions: Path
) -> None:
    log_in(run, calm_sandbox, "main")
    before = stored(sessions, "xhs", "main")
    calm_sandbox.fault("reset", path=ME)
    done = run("accounts", "check", "xhs", "main")
    assert done.returncode == 1, everything(done)
    assert "xhs/main: not known: no answer from the platform" in done.stdout
    assert "Traceback" not in everything(done)
    assert stored(sessions, "xhs", "main") == before


@pytest.mark.parametrize(
    ("answer", "words", "kept"),
    [("n\n", (), True), ("", (), True), ("y\n", (), False), ("", ("--yes",), False)],
)
def test_remove_asks_first(
    run: Run, sessions: Path, answer: str, words: tuple[str, ...], kept: bool
) -> None:
    path = sessions / "xhs" / "main.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    done = run("accounts", "remove", "xhs", "main", *words, stdin=answer)
    assert path.exists() is kept
    assert done.returncode == (1 if kept else 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check"], "no accounts"),
        (["check", "xhs", "main"], "there is no session 'main' for xhs"),
        (["remove", "xhs", "main", "--yes"], "there is no session 'main' for xhs"),
        (["remove", "xhs", "../main", "--yes"], "cannot be the name"),
        (["remove", "xhs"], "a platform and a name"),
    ],
)
def test_mistakes_with_accounts_are_told_in_one_line(
    run: Run, words: list[str], message: str
) -> None:
    done = run("accounts", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
