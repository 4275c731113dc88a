"""Whether a proxy works: opens a tunnel to a host and says how it went. No Scrapy."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mediacrawler.proxies import Proxy
from mediacrawler.proxies.bridge import CONNECT_TIMEOUT, ProxyAuthFailed, TunnelFailed, open_tunnel

AT_ONCE = 16
"""So many proxies are tried at the same time."""


@dataclass(frozen=True, slots=True)
class Tried:
    """How one proxy did: `milliseconds` until the tunnel was open, or the `problem`."""

    proxy: Proxy
    milliseconds: int | None = None
    problem: str | None = None

    def __str__(self) -> str:
        """The line for the person who asked; no credentials."""
        if self.problem is not None:
            return f"{self.proxy.url}  {self.problem}"
        return f"{self.proxy.url}  ok, {self.milliseconds} ms"


async def try_proxy(
    proxy: Proxy,
    host: str,
    port: int,
    timeout: float = CONNECT_TIMEOUT,
    clock: Callable[[], float] = time.perf_counter,
) -> Tried:
    """Open a tunnel to *host* and *port* and close it."""
    began = clock()
    try:
        stream = await open_tunnel(proxy, host, port, timeout)
    except ProxyAuthFailed as error:
        return Tried(proxy, problem=f"auth failed: {error}")
    except TunnelFailed as error:
        return Tried(proxy, problem=f"refused: {error}")
    took = clock() - began
    stream.writer.close()
    return Tried(proxy, milliseconds=round(took * 1000))


async def try_proxies(
    proxies: Sequence[Proxy], host: str, port: int, timeout: float = CONNECT_TIMEOUT
) -> list[Tried]:
    """How each proxy did, in their order."""
    free = asyncio.Semaphore(AT_ONCE)

    async def limited(proxy: Proxy) -> Tried:
        async with free:
            return await try_proxy(proxy, host, port, timeout)

    return list(await asyncio.gather(*map(limited, proxies)))
