"""``scrapy accounts``: what is stored of logins, whether they still hold, and how to end them.

Shows no cookies, proxies or other secrets.
"""

from __future__ import annotations

import argparse
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.exceptions import UsageError

from mediacrawler.commands.login import EXIT_OF_STATE, EXIT_USAGE
from mediacrawler.exceptions import UsageProblem
from mediacrawler.report import EXIT_CODES
from mediacrawler.sessions import Session
from mediacrawler.sessions.store import SessionStore
from mediacrawler.spiders.base import now_utc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mediacrawler.sessions.check import Checked

HEADER = ("PLATFORM", "ACCOUNT", "STATE", "LOGGED IN", "LAST CHECK", "COOL-DOWN", "WHY")
WORST = (6, 4, 5, 1)  # which exit code tells of a check with several results


class Command(ScrapyCommand):
    """Lists, checks, wakes and removes stored sessions."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        return (
            "[list] [PLATFORM] | check [PLATFORM] [NAME] | wake PLATFORM NAME | "
            "remove PLATFORM NAME [--yes]"
        )

    def short_desc(self) -> str:
        return "List, check or remove stored sessions"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--yes", action="store_true", help="remove without asking")

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings
        self.settings.set("LOG_LEVEL", "WARNING", "project")  # -L and -s go before it
        super().process_options(args, opts)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings
        actions: dict[str, Callable[[list[str]], None]] = {
            "list": self._list,
            "check": self._check,
            "wake": self._wake,
            "remove": lambda names: self._remove(names, sure=opts.yes),
        }
        if any(word.startswith("-") for word in args):
            raise UsageError(f"unknown option: {' '.join(args)}")
        action, names = (args[0], args[1:]) if args and args[0] in actions else ("list", args)
        self.store = SessionStore(Path(self.settings["SESSIONS_DIR"]))
        try:
            actions[action](names)
        except UsageProblem as error:
            print(f"scrapy accounts: error: {error}", file=sys.stderr)
            self.exitcode = EXIT_USAGE
        except OSError as error:
            print(f"scrapy accounts: {error.filename}: {error.strerror}", file=sys.stderr)
            self.exitcode = EXIT_CODES["error"]

    def _list(self, names: list[str]) -> None:
        if len(names) > 1:
            raise UsageError("list takes one platform at most")
        platform = names[0] if names else None
        rows = []
        for name in self.store.names(platform):
            try:
                rows.append(row(self.store.load(*name), now_utc()))
            except UsageProblem as problem:
                rows.append((*name, "damaged", "-", "-", "-", str(problem)))
        if rows:
            print(table([HEADER, *rows]))
        else:
            print(self._none(platform))

    def _none(self, platform: str | None) -> str:
        """What is said where nothing is stored, of one platform or at all."""
        where = f"no accounts{f' of {platform}' if platform else ''} in {self.store.folder}"
        return f"{where}; log in with: scrapy login {platform or 'PLATFORM'}"

    def _check(self, names: list[str]) -> None:
        from mediacrawler.sessions.check import SETTINGS, SessionCheck, check_sessions

        assert self.settings
        if len(names) > 2:
            raise UsageError("check takes a platform and a name at most")
        sessions = [self.store.load(*names)] if len(names) == 2 else self.store.all(*names)
        if not sessions:
            raise UsageProblem(self._none(names[0] if names else None))
        self.settings.setdict(SETTINGS, "cmdline")
        process = AsyncCrawlerProcess(self.settings)
        known = process.spider_loader.list()
        codes = set()
        for checked in check_sessions(
            process, [s for s in sessions if s.platform in known], SessionCheck
        ):
            session = checked.session
            if checked.problem:
                print(f"{session.slot}: not known: {checked.problem}")
                codes.add(EXIT_CODES["error"])
                continue
            self.store.update(session)
            print(f"{session.slot}: {verdict(checked)}")
            codes.add(EXIT_OF_STATE.get(session.state, 0))
        self.exitcode = next((code for code in WORST if code in codes), 0)

    def _wake(self, names: list[str]) -> None:
        """End the cool-down of a session, after a person has solved what it was asked for."""
        session = self._named(names, "wake")
        session.state, session.reason, session.cool_until = "new", None, None
        self.store.save(session)
        print(f"{session.slot}: may be used again; better check it: scrapy accounts check")

    def _remove(self, names: list[str], *, sure: bool) -> None:
        if len(names) != 2:
            raise UsageError("remove takes a platform and a name")
        path = self.store.path(*names)
        if not path.exists():
            self.store.load(*names)  # says what there is
        if not sure and not confirmed(f"Remove the session {path}? [y/N] "):
            print("kept")
            self.exitcode = EXIT_CODES["error"]
            return
        self.store.remove(*names)
        print(f"{'/'.join(names)}: removed here; the login itself ends in the platform's settings")

    def _named(self, names: Sequence[str], action: str) -> Session:
        if len(names) != 2:
            raise UsageError(f"{action} takes a platform and a name")
        return self.store.load(*names)


def confirmed(question: str) -> bool:
    """Whether somebody answered yes; nobody there means no."""
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        return False


def verdict(checked: Checked) -> str:
    """What a check has found, in words."""
    session, viewer = checked.session, checked.viewer
    if session.state == "ok":
        name = viewer and (viewer.name or viewer.user_id)
        return f"ok, logged in as {name}" if name else "ok"
    rest = cool_down(session, now_utc())
    return f"{session.state}{f', rests {rest}' if rest != '-' else ''}: {session.reason}"


def row(session: Session, now: datetime) -> tuple[str, ...]:
    """A line of the list."""
    return (
        session.platform,
        session.account,
        session.state,
        ago(session.logged_in_at, now),
        ago(session.checked_at, now),
        cool_down(session, now),
        session.reason or "-",
    )


def ago(moment: datetime | None, now: datetime) -> str:
    """How long ago that was, roughly."""
    return f"{span(now - moment)} ago" if moment else "-"


def cool_down(session: Session, now: datetime) -> str:
    """How long the session still rests."""
    if session.cool_until is None or session.cool_until <= now:
        return "-"
    return span(session.cool_until - now)


def span(length: timedelta) -> str:
    """A length of time in its largest fitting unit."""
    seconds = max(0, round(length.total_seconds()))
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their cells are on a terminal, where Chinese takes two places."""
    # Imported here: Scrapy imports all commands for each, and only this table needs it.
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    )
