"""Where fresh proxies come from: an address or a command that prints some.

Addresses and commands of providers carry keys, so they are fetched beside Scrapy's client (which
logs every address), and no message repeats them, nor what the provider answered.
"""

from __future__ import annotations

import asyncio
import base64
import shlex
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from http.client import HTTPException
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from mediacrawler.exceptions import UsageProblem
from mediacrawler.proxies import Proxy, is_loopback, read_list

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

TIMEOUT = 20.0
"""Seconds in which a provider must have answered."""
LARGEST = 4 * 1024 * 1024  # bytes of an answer that are read


class ProviderFailed(Exception):
    """No proxies could be had; one line without secrets."""


class Provider:
    """Asks *ask* (in a thread, it may take a while) for text that lists proxies."""

    def __init__(self, ask: Callable[[], str], now: Callable[[], float] = time.time) -> None:
        self._ask = ask
        self._now = now

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Provider | None:
        """PROXY_PROVIDER_URL or PROXY_PROVIDER_COMMAND; None if neither is set.

        :raises UsageProblem: both are set, or the one that is cannot work.
        """
        url, command = settings["PROXY_PROVIDER_URL"], settings["PROXY_PROVIDER_COMMAND"]
        if url and command:
            raise UsageProblem("choose one of PROXY_PROVIDER_URL and PROXY_PROVIDER_COMMAND")
        if url:
            if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
                raise UsageProblem("PROXY_PROVIDER_URL: must begin with http:// or https://")
            return cls(lambda: ask_url(url))
        if command:
            try:
                words = shlex.split(command) if isinstance(command, str) else list(command)
            except ValueError:
                raise UsageProblem("PROXY_PROVIDER_COMMAND: a quote is not closed") from None
            return cls(lambda: run_command(words))
        return None

    async def fetch(self) -> tuple[list[Proxy], list[str]]:
        """Proxies, and a problem for each line that is none (see :func:`read_list`).

        :raises ProviderFailed: the provider gave nothing that can be read.
        """
        text = await asyncio.to_thread(self._ask)
        proxies, problems = read_list(text, self._now())
        if not proxies:
            raise ProviderFailed(problems[0] if problems else "its answer is empty")
        return proxies, problems


def ask_url(url: str) -> str:
    """What an address answers; a user name and password in it are sent as Basic.

    :raises ProviderFailed: no answer, or an error status.
    """
    parts = urlsplit(url)
    userinfo, at, address = parts.netloc.rpartition("@")
    request = urllib.request.Request(parts._replace(netloc=address, fragment="").geturl())  # noqa: S310 (http and https only)
    if at:
        credentials = base64.b64encode(unquote(userinfo).encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {credentials}")
    handlers = [urllib.request.ProxyHandler({})] if is_loopback(parts.hostname) else []
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=TIMEOUT) as answer:
            content: bytes = answer.read(LARGEST)
    except urllib.error.HTTPError as error:
        raise ProviderFailed(f"it answers {error.code}") from None
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        words = reason.strerror if isinstance(reason, OSError) else None
        raise ProviderFailed(f"no answer: {words or type(reason).__name__}") from None
    return content.decode("utf-8-sig", "replace")


def run_command(words: Sequence[str]) -> str:
    """What a command prints; no shell is involved.

    :raises ProviderFailed: it cannot be started, fails or takes too long.
    """
    try:
        done = subprocess.run(  # noqa: S603 (the user's own command)
            list(words), stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        raise ProviderFailed(f"the command took longer than {TIMEOUT:.0f} s") from None
    except OSError as error:
        raise ProviderFailed(f"the command cannot be started: {error.strerror}") from None
    if done.returncode != 0:
        raise ProviderFailed(f"the command failed with exit code {done.returncode}")
    return done.stdout.decode("utf-8-sig", "replace")
