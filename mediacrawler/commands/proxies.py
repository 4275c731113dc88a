"""``scrapy proxies check`` tries each proxy of the settings, the provider and stored sessions;
``scrapy proxies assign`` stores a proxy with a session."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from getpass import getpass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader

from mediacrawler.exceptions import UsageProblem
from mediacrawler.proxies import Proxy, parse_proxy, read_setting
from mediacrawler.proxies.check import try_proxies
from mediacrawler.proxies.provider import Provider, ProviderFailed
from mediacrawler.sessions.store import SessionStore

EXIT_BAD, EXIT_USAGE = 1, 2
HTTPS = 443


class Command(ScrapyCommand):
    """``check``: one line a proxy: ok with milliseconds, refused or auth failed; no credentials.
    The exit code is 0 if all work, 1 if one does not, 2 if there is nothing to check.

    ``assign``: reads the proxy of an account from standard input, so that it is in no process
    list; an empty line takes it away.
    """

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        return "check [PLATFORM] [--target HOST:PORT] | assign PLATFORM ACCOUNT"

    def short_desc(self) -> str:
        return "Check all proxies, or assign one to a stored session"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--target",
            metavar="HOST:PORT",
            help="tunnel to this host instead of the platform's own site",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            if args[:1] == ["check"] and len(args) <= 2:
                host, port = self._target(args[1] if len(args) == 2 else None, opts.target)
                asyncio.run(self._check(host, port))
            elif args[:1] == ["assign"] and len(args) == 3:
                self._assign(args[1], args[2])
            else:
                raise UsageError(f"say: scrapy proxies {self.syntax()}")
        except UsageProblem as problem:
            print(f"scrapy proxies: error: {problem}", file=sys.stderr)
            self.exitcode = EXIT_USAGE

    def _assign(self, platform: str, account: str) -> None:
        session = self._store.load(platform, account)
        line = typed_secret(f"proxy of {session.slot} (not shown; empty for none): ")
        if not line:
            session.proxy = None
            self._store.save(session)
            print(f"{session.slot} has no proxy of its own any more")
            return
        try:
            proxy = parse_proxy(line)
        except ValueError as error:
            raise UsageProblem(f"this is no proxy: {error}") from None
        session.proxy = proxy.secret_url
        self._store.save(session)
        print(f"{session.slot} goes through {proxy.url} from now on")

    @property
    def _store(self) -> SessionStore:
        assert self.settings
        return SessionStore(Path(self.settings["SESSIONS_DIR"]))

    async def _check(self, host: str, port: int) -> None:
        proxies = await self._proxies()
        if not proxies and not self.exitcode:
            raise UsageProblem(
                "there is no proxy: set PROXIES or PROXY_PROVIDER_URL (docs/proxies.md)"
            )
        print(f"to {host}:{port}")
        for tried in await try_proxies(list(proxies), host, port):
            print(f"{tried}  ({proxies[tried.proxy]})")
            if tried.problem is not None:
                self.exitcode = EXIT_BAD

    async def _proxies(self) -> dict[Proxy, str]:
        """All proxies that are configured, each with where it comes from."""
        assert self.settings
        now = time.time()
        found = dict.fromkeys(read_setting(self.settings["PROXIES"], now), "PROXIES")
        provider = Provider.from_settings(self.settings)
        if provider is not None:
            try:
                proxies, problems = await provider.fetch()
            except ProviderFailed as error:
                print(f"provider  {error}")
                self.exitcode = EXIT_BAD
            else:
                found |= dict.fromkeys(proxies, "provider")
                for problem in problems:
                    print(f"provider, {problem}")
                    self.exitcode = EXIT_BAD
        return found | self._of_sessions()

    def _of_sessions(self) -> dict[Proxy, str]:
        found = {}
        for session in self._store.all():
            if not session.proxy:
                continue
            try:
                found[parse_proxy(session.proxy)] = f"session {session.slot}"
            except ValueError as error:
                print(f"session {session.slot}  {error}")
                self.exitcode = EXIT_BAD
        return found

    def _target(self, platform: str | None, text: str | None) -> tuple[str, int]:
        """Where tunnels go: as told, else to the home of the platform, or of the first one."""
        if text is None:
            return self._home(platform), HTTPS
        try:
            parts = urlsplit(f"//{text}")
            host, port = parts.hostname, parts.port or HTTPS
        except ValueError:
            host, port = None, 0
        if not host:
            raise UsageProblem(f"--target {text}: write HOST:PORT")
        return host, port

    def _home(self, platform: str | None) -> str:
        assert self.settings
        loader: Any = get_spider_loader(self.settings)
        names = sorted(loader.list())
        name = platform or names[0]
        if name not in names:
            raise UsageProblem(f"there is no spider '{name}'; there are: {', '.join(names)}")
        return str(urlsplit(loader.load(name).home).hostname)


def typed_secret(question: str) -> str:
    """A line from the terminal that is not shown there, or from what is piped in."""
    line = getpass(question) if sys.stdin.isatty() else sys.stdin.readline()
    return line.strip()
