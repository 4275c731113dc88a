"""The proxy for a login: the one that a crawl with this account alone would be given.

Setting up a browser for a proxy that does not work only ends in its own error page, so each is
tried before. Knows neither sessions nor platforms; messages have no credentials.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING
from urllib.request import getproxies, proxy_bypass

from mediacrawler.exceptions import UsageProblem
from mediacrawler.proxies import Proxy, parse_proxy, read_setting
from mediacrawler.proxies.check import try_proxy
from mediacrawler.proxies.provider import Provider, ProviderFailed

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

MOST_TRIED = 5
"""So many proxies are tried; a person is waiting."""


class NoProxyWorks(Exception):
    """Nothing may be sent: there are proxies, but none works. One line without secrets."""


async def choose_proxy(
    settings: BaseSettings, own: str | None, host: str, port: int = 443
) -> Proxy | None:
    """The first proxy that opens a tunnel to *host*: *own* (that of the account, and no other),
    else of PROXIES, the provider, the environment; None where there is none.

    With SANDBOX_URL everything stays on this machine, where no proxy is used.

    :raises UsageProblem: what is configured is no proxy.
    :raises NoProxyWorks: names those that were tried.
    """
    if settings["SANDBOX_URL"]:
        return None
    problems = []
    async for proxy in _candidates(settings, own, host):
        tried = await try_proxy(proxy, host, port)
        if tried.problem is None:
            return proxy
        problems.append(f"{proxy.name} ({tried.problem})")
        if len(problems) == MOST_TRIED:
            break
    if problems:
        raise NoProxyWorks(f"no proxy works: {', '.join(problems)}")
    return None


async def _candidates(settings: BaseSettings, own: str | None, host: str) -> AsyncIterator[Proxy]:
    """All that may be tried, the best first; a provider is only asked if those before fail."""
    if own is not None:
        yield _read(own, "the account's own")
        return
    listed = read_setting(settings["PROXIES"], time.time())
    provider = Provider.from_settings(settings)
    for proxy in listed:
        yield proxy
    if provider is not None:
        try:
            provided, _ = await provider.fetch()
        except ProviderFailed as error:
            raise NoProxyWorks(f"the provider of proxies gave none: {error}") from None
        for proxy in provided:
            yield proxy
    if listed or provider is not None or not settings.getbool("HTTPPROXY_ENABLED"):
        return
    named = getproxies().get("https")
    if named and not proxy_bypass(host):
        yield _read(named, "that of the environment (https_proxy)")


def _read(text: str, whose: str) -> Proxy:
    try:
        return parse_proxy(text)
    except ValueError as error:
        raise UsageProblem(f"the proxy, {whose}: {error}") from None
