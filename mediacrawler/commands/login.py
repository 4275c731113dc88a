"""``scrapy login``: a session from a QR code, cookies, a phone or a running browser, checked.

Nothing is stored before the platform itself has said whose session it is (docs/accounts.md).
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from mediacrawler.commands.proxies import typed_secret
from mediacrawler.cookies import parse_cookies
from mediacrawler.exceptions import UsageProblem
from mediacrawler.proxies import read_list
from mediacrawler.report import EXIT_CODES
from mediacrawler.sessions import Session, State
from mediacrawler.sessions.store import ACCOUNT_NAME, SessionStore, check_name
from mediacrawler.spiders.base import PlatformSpider, now_utc

if TYPE_CHECKING:
    from mediacrawler.sessions.check import Checked

METHODS = ("qrcode", "cookie", "phone", "browser")
EXIT_USAGE = 2
EXIT_OF_STATE: dict[State, int] = {
    "expired": EXIT_CODES["login_required"],
    "guest": EXIT_CODES["login_required"],
    "captcha": EXIT_CODES["blocked"],
    "flagged": EXIT_CODES["blocked"],
    "rate_limited": EXIT_CODES["rate_limited"],
}
EXIT_OF_LOGIN = {
    "timeout": EXIT_CODES["login_required"],
    "refused": EXIT_CODES["login_required"],
    "login_required": EXIT_CODES["login_required"],
    "captcha": EXIT_CODES["blocked"],
}
"""For the verdicts of a login in a browser; others are errors."""
UNFINISHED = "new"
"""The name of a session until the platform has told whose it is."""


class Failed(Exception):
    """The login did not work; one line for the user, and the exit code."""

    def __init__(self, line: str, exit_code: int) -> None:
        super().__init__(line)
        self.line = line
        self.exit_code = exit_code


class Command(ScrapyCommand):
    """Logs in to a platform and stores the session for crawls."""

    requires_project = True

    def syntax(self) -> str:
        return "<platform> [options]"

    def short_desc(self) -> str:
        return "Log in to a platform and store the session for crawls"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        group = parser.add_argument_group(title="Login")
        group.add_argument("--account", metavar="NAME", help="name of the stored session")
        group.add_argument(
            "--method",
            choices=METHODS,
            help="qrcode (default): scan a code with the platform's app; cookie: from a file or "
            "stdin; phone: by a code in a text message; browser: from your running Chrome",
        )
        group.add_argument(
            "--from",
            dest="source",
            metavar="FILE",
            help="for cookie: a header line, a Netscape cookies.txt or a browser's JSON export; "
            "- is stdin",
        )
        group.add_argument(
            "--cdp", metavar="URL", help="for browser: its debugging address on this machine"
        )
        group.add_argument(
            "--user-agent", metavar="TEXT", help="for cookie: of the browser they come from"
        )
        group.add_argument(
            "--proxy",
            metavar="PROXY",
            help="of this account, stored with it: an address without a password, @FILE, or - to "
            "be asked (default: the stored one, else one of PROXIES or the provider)",
        )
        group.add_argument(
            "--timeout", type=float, default=300.0, metavar="SECONDS", help="to scan a code in"
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        from mediacrawler.sessions.check import SETTINGS

        assert self.settings
        self.settings.set("LOG_LEVEL", "WARNING", "project")  # -L and -s go before it
        super().process_options(args, opts)
        self.settings.setdict(SETTINGS, "cmdline")
        if opts.method == "phone":
            self.settings.set("RETRY_TIMES", 0, "cmdline")  # a wrong code is not tried again

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        unknown = [word.partition("=")[0] for word in args if word.startswith("-")]
        if unknown:
            raise UsageError(f"unknown option: {' '.join(unknown)}")
        if len(args) != 1:
            raise UsageError("name one platform, for example: scrapy login xhs")
        try:
            self._log_in(args[0], opts)
        except UsageProblem as error:
            self._refuse(str(error), EXIT_USAGE)
        except Failed as failed:
            self._refuse(failed.line, failed.exit_code)
        except OSError as error:
            self._refuse(f"not stored: {error.filename}: {error.strerror}", EXIT_CODES["error"])
        except KeyboardInterrupt:
            self._refuse("cancelled; nothing is stored", EXIT_CODES["error"])

    def _refuse(self, line: str, exit_code: int) -> None:
        print(f"scrapy login: {line}", file=sys.stderr)
        self.exitcode = exit_code

    def _log_in(self, platform: str, opts: argparse.Namespace) -> None:
        assert self.settings
        process: Any = self.crawler_process
        known = sorted(process.spider_loader.list())
        if platform not in known:
            raise UsageProblem(f"there is no platform '{platform}'; there are: {', '.join(known)}")
        if opts.account is not None:
            check_name(opts.account)
        store = SessionStore(Path(self.settings["SESSIONS_DIR"]))
        method = method_of(opts)
        if method == "phone":
            by_phone(process.spider_loader.load(platform))
        proxy = read_proxy(opts.proxy) or stored_proxy(store, platform, opts.account)
        session = self._obtain(platform, method, opts, proxy)
        # The check leaves by the same address as the browser; only the account's own is stored.
        session.proxy = session.proxy or proxy
        checked = self._check(session, method)
        session.account = opts.account or free_name(checked)
        session.proxy = proxy or stored_proxy(store, platform, session.account)
        session.logged_in_at = now_utc()
        store.save(session)
        viewer = checked.viewer
        assert viewer
        print(
            f"{platform}: logged in as {viewer.name or viewer.user_id or 'somebody'}; stored as "
            f"account '{session.account}' in {store.path(platform, session.account)}"
        )
        print(f"use it: scrapy crawl {platform} -a account={session.account} ...")

    def _obtain(
        self, platform: str, method: str, opts: argparse.Namespace, proxy: str | None
    ) -> Session:
        """A session that nobody has checked yet; *proxy* is the account's own."""
        assert self.settings
        account = opts.account or UNFINISHED
        if method == "cookie":
            cookies = parse(read_source(opts.source), opts.source)
            return Session(platform, account, cookies, user_agent=opts.user_agent)
        if method == "phone":
            return Session(platform, account)  # the steps of the login are part of the check
        # Imported here: logging in by cookies needs no browser.
        from mediacrawler.sessions import browser_login

        try:
            if method == "browser":
                return browser_login.login_from_browser(
                    platform, settings=self.settings, account=account, cdp_url=opts.cdp
                )
            return browser_login.login_with_qrcode(
                platform,
                settings=self.settings,
                account=account,
                timeout=opts.timeout,
                say=say,
                proxy=proxy,
            )
        except browser_login.LoginFailed as failed:
            raise Failed(f"not logged in: {failed}", EXIT_OF_LOGIN.get(failed.verdict, 1)) from None

    def _check(self, session: Session, method: str) -> Checked:
        """Ask the platform whose session it is.

        :raises Failed: nobody's, or it did not say.
        """
        from mediacrawler.sessions.check import SessionCheck, check_sessions
        from mediacrawler.sessions.phone import PhoneLogin

        process: Any = self.crawler_process
        how = PhoneLogin if method == "phone" else SessionCheck
        (checked,) = check_sessions(process, [session], how)
        if checked.problem:
            raise Failed(f"not stored: {checked.problem}", EXIT_CODES["error"])
        if session.state == "ok":
            return checked
        if checked.viewer:
            line = "the platform takes it for a guest: no login, or one that has expired"
        else:
            line = session.reason or session.state
        if session.state in ("expired", "guest"):
            line += "; log in with a browser and try again, with all cookies of the site"
        raise Failed(f"not stored: {line}", EXIT_OF_STATE.get(session.state, 1))


def say(line: str) -> None:
    """Show a line to whoever logs in."""
    print(line, flush=True)


def read_source(source: str | None) -> str:
    """The text of a cookie file, or of stdin for "-" and None.

    :raises UsageProblem: it cannot be read.
    """
    if source not in (None, "-"):
        return read_file(source or "", "the cookies")
    if sys.stdin.isatty():
        say("Paste the cookies (a header line, cookies.txt or JSON), then press Ctrl-D:")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageProblem("cannot read the cookies in stdin: not UTF-8 text") from None


def read_file(path: str, what: str) -> str:
    """The text of a file that holds *what*.

    :raises UsageProblem: it cannot be read.
    """
    try:
        return Path(path).expanduser().read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UsageProblem(f"cannot read {what} in {path}: {reason}") from None


def parse(text: str, source: str | None) -> list[Any]:
    """The cookies in *text*.

    :raises UsageProblem: it is none of the three forms.
    """
    try:
        return parse_cookies(text)
    except ValueError as error:
        where = "stdin" if source in (None, "-") else source
        raise UsageProblem(
            f"cannot understand the cookies in {where}: {error}; give a header line (a=1; b=2), "
            "a Netscape cookies.txt or a browser's JSON export"
        ) from None


def stored_proxy(store: SessionStore, platform: str, account: str | None) -> str | None:
    """The proxy of an account that is stored already: logging in again keeps it."""
    if account is None:
        return None
    try:
        return store.load(platform, account).proxy
    except UsageProblem:
        return None  # there is none, or it is damaged and will be replaced


def read_proxy(given: str | None) -> str | None:
    """URL of the proxy that --proxy names: an address, @FILE, or - for the terminal.

    :raises UsageProblem: it is not one proxy, or a password stands in the command line.
    """
    if given is None:
        return None
    if given == "-":
        text = typed_secret("proxy of this account (not shown): ")
    else:
        text = read_file(given[1:], "the proxy") if given.startswith("@") else given
    proxies, problems = read_list(text, time.time())
    if problems or len(proxies) != 1:
        raise UsageProblem(f"--proxy: {problems[0] if problems else 'give one proxy'}")
    if proxies[0].username is not None and text == given:
        raise UsageProblem(
            "--proxy: a command line can be read by everybody on this machine: put a proxy with a "
            "password into a file (--proxy @FILE), or give --proxy - to be asked for it"
        )
    return proxies[0].secret_url


def free_name(checked: Checked) -> str:
    """A name for whoever did not give one: the end of the platform's own id, or "default"."""
    user_id = checked.viewer.user_id if checked.viewer else None
    name = (user_id or "")[-8:]
    return name if ACCOUNT_NAME.fullmatch(name) else "default"


def method_of(opts: argparse.Namespace) -> str:
    """The method that the options name or imply.

    :raises UsageProblem: options that do not go together.
    """
    method: str = opts.method or ("cookie" if opts.source else "browser" if opts.cdp else "qrcode")
    if opts.source and method != "cookie":
        raise UsageProblem(f"--from goes with --method cookie, not with {method}")
    if opts.cdp and method != "browser":
        raise UsageProblem(f"--cdp goes with --method browser, not with {method}")
    if opts.proxy == "-" and method in ("cookie", "phone") and not sys.stdin.isatty():
        raise UsageProblem("stdin is taken: give the proxy as --proxy @FILE")
    if method == "browser" and not opts.cdp:
        raise UsageProblem(
            "--method browser needs --cdp URL: start Chrome with --remote-debugging-port=9222 "
            "and give --cdp http://127.0.0.1:9222"
        )
    return method


def by_phone(spider_class: type[PlatformSpider]) -> None:
    """Refuse a login by phone where a platform's spider has none.

    :raises UsageProblem: names the other methods.
    """
    if spider_class.log_in_by_phone is not PlatformSpider.log_in_by_phone:
        return
    raise UsageProblem(
        f"{spider_class.name} wants a captcha before it sends a code to a phone, so a person has "
        "to log in in a browser: use --method qrcode, or log in with your own browser and use "
        "--method cookie or --method browser"
    )
