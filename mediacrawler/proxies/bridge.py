"""Tunnels through a proxy, and a local proxy that speaks what HTTP clients do not.

Scrapy's HTTP client knows neither SOCKS nor TLS to a proxy, a browser no SOCKS passwords. The
bridge is an HTTP proxy on loopback for both: it asks for a token (so that nobody else on the
machine can use it) and goes on through the proxy that the token stands for.
Only asyncio; it knows neither Scrapy nor sessions. Errors name the proxy, never its credentials.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import secrets
import socket
import ssl
from dataclasses import dataclass
from ipaddress import ip_address
from typing import ClassVar
from urllib.parse import urlsplit

from mediacrawler.proxies import Proxy

CONNECT_TIMEOUT = 15.0
"""Seconds in which a proxy must have opened a tunnel."""
PROXY_DOWN = 523
"""Status of the bridge's answer where the proxy behind it cannot be reached."""
PIECE = 64 * 1024  # bytes

_SOCKS_REPLIES = {
    1: "general failure",
    2: "not allowed",
    3: "network unreachable",
    4: "host unreachable",
    5: "connection refused",
    6: "timed out",
}


class TunnelFailed(Exception):
    """No tunnel could be opened. The message is one line without secrets."""

    status: ClassVar[int] = 502


class ProxyUnreachable(TunnelFailed):
    """The proxy does not answer, or not as a proxy does."""

    status = PROXY_DOWN


class ProxyAuthFailed(TunnelFailed):
    """The proxy does not accept the credentials, or wants some."""

    status = 407


class TargetUnreachable(TunnelFailed):
    """The proxy answers, but does not reach the target."""


@dataclass(frozen=True, slots=True)
class Stream:
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


async def open_tunnel(
    proxy: Proxy, host: str, port: int, timeout: float = CONNECT_TIMEOUT
) -> Stream:
    """Connect to *host* and *port* through *proxy*.

    :raises TunnelFailed: one of its subclasses says whose fault it is.
    """
    stream = await connect(proxy, timeout)
    greet = _socks_connect if proxy.scheme == "socks5" else _http_connect
    try:
        await asyncio.wait_for(greet(stream, proxy, host, port), timeout)
    except BaseException as error:
        stream.writer.close()
        if isinstance(error, asyncio.TimeoutError):  # an OSError too, since Python 3.11
            raise ProxyUnreachable("it does not answer") from None
        if isinstance(error, (OSError, EOFError, asyncio.LimitOverrunError)):
            raise ProxyUnreachable("it closed the connection") from None
        if isinstance(error, UnicodeError):
            raise TargetUnreachable("the target is no host name") from None
        raise
    return stream


async def connect(proxy: Proxy, timeout: float = CONNECT_TIMEOUT) -> Stream:
    """Connect to the proxy itself (with TLS if it is an https proxy).

    :raises ProxyUnreachable: nobody answers there.
    """
    context = ssl.create_default_context() if proxy.scheme == "https" else None
    try:
        opening = asyncio.open_connection(proxy.host, proxy.port, ssl=context)
        return Stream(*await asyncio.wait_for(opening, timeout))
    except asyncio.TimeoutError:
        raise ProxyUnreachable("it does not answer") from None
    except ConnectionRefusedError:
        raise ProxyUnreachable("connection refused") from None
    except socket.gaierror:
        raise ProxyUnreachable("its name is unknown") from None
    except ssl.SSLCertVerificationError as error:
        raise ProxyUnreachable(f"its certificate: {error.verify_message}") from None
    except OSError as error:
        raise ProxyUnreachable(error.strerror or "no connection") from None


async def _http_connect(stream: Stream, proxy: Proxy, host: str, port: int) -> None:
    target = f"[{host}]:{port}" if ":" in host else f"{host.encode('idna').decode()}:{port}"
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization.decode()}")
    stream.writer.write("\r\n".join([*lines, "", ""]).encode())
    head = await stream.reader.readuntil(b"\r\n\r\n")
    words = head.split(b"\r\n", 1)[0].split(None, 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
        raise ProxyUnreachable("it is no HTTP proxy")
    status = int(words[1])
    if status == 407:
        raise ProxyAuthFailed("it does not accept the credentials")
    if status != 200:
        raise TargetUnreachable(f"it answers {status}")


async def _socks_connect(stream: Stream, proxy: Proxy, host: str, port: int) -> None:
    """RFC 1928 with the user names of RFC 1929; the proxy resolves the name."""
    reader, writer = stream.reader, stream.writer
    writer.write(b"\x05\x01\x00" if proxy.username is None else b"\x05\x02\x00\x02")
    version, method = await reader.readexactly(2)
    if version != 5:
        raise ProxyUnreachable("it is no SOCKS5 proxy")
    if method == 2 and proxy.username is not None:
        parts = (proxy.username.encode(), proxy.password.encode())
        writer.write(b"\x01" + b"".join(bytes([len(part)]) + part for part in parts))
        _, verdict = await reader.readexactly(2)
        if verdict != 0:
            raise ProxyAuthFailed("it does not accept the credentials")
    elif method != 0:
        raise ProxyAuthFailed("it wants credentials")
    writer.write(b"\x05\x01\x00" + _socks_address(host) + port.to_bytes(2, "big"))
    _, reply, _, kind = await reader.readexactly(4)
    length = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
    await reader.readexactly(length + 2)
    if reply != 0:
        raise TargetUnreachable(f"it answers: {_SOCKS_REPLIES.get(reply, f'error {reply}')}")


def _socks_address(host: str) -> bytes:
    try:
        address = ip_address(host)
    except ValueError:
        name = host.encode("idna")
        return b"\x03" + bytes([len(name)]) + name
    return (b"\x01" if address.version == 4 else b"\x04") + address.packed


class Bridge:
    """An HTTP proxy on 127.0.0.1 in front of other proxies. It listens once it is needed."""

    def __init__(self) -> None:
        self._behind: dict[str, Proxy] = {}  # token -> proxy
        self._server: asyncio.Server | None = None
        self._opening = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._port = 0

    async def in_front_of(self, proxy: Proxy) -> Proxy:
        """The local http proxy, with a token as user name, that goes on through *proxy*."""
        async with self._opening:
            if self._server is None:
                self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
                self._port = self._server.sockets[0].getsockname()[1]
        token = next((token for token, behind in self._behind.items() if behind == proxy), None)
        if token is None:
            token = secrets.token_urlsafe(18)
            self._behind[token] = proxy
        return Proxy("http", "127.0.0.1", self._port, token)

    def is_at(self, url: str) -> bool:
        """Whether that is the address of this bridge."""
        return self._server is not None and url == f"http://127.0.0.1:{self._port}"

    async def close(self) -> None:
        """Stop listening and end every connection."""
        if self._server is not None:
            self._server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            await self._serve(Stream(reader, writer))
        except (OSError, EOFError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # the client went away, or the bridge is being closed
        finally:
            writer.close()

    async def _serve(self, client: Stream) -> None:
        """One request, or one tunnel, a connection."""
        head = await client.reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        headers = [(name, value.strip()) for name, _, value in (x.partition(":") for x in lines)]
        method, _, rest = first.partition(" ")
        target = rest.rpartition(" ")[0]
        proxy = self._behind.get(_token(headers))
        try:
            if proxy is None:
                raise ProxyAuthFailed("this bridge is not for you")
            if method == "CONNECT":
                await self._tunnel(client, proxy, target)
            else:
                await self._forward(client, proxy, method, target, headers)
        except TunnelFailed as error:
            client.writer.write(_refusal(error))
            await client.writer.drain()
        except ValueError:
            client.writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    async def _tunnel(self, client: Stream, proxy: Proxy, target: str) -> None:
        parts = urlsplit(f"//{target}")
        far = await open_tunnel(proxy, parts.hostname or "", parts.port or 443)
        client.writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await _relay(client, far)

    async def _forward(
        self, client: Stream, proxy: Proxy, method: str, url: str, headers: list[tuple[str, str]]
    ) -> None:
        """Send one plain http request on; afterwards the connection is closed."""
        parts = urlsplit(url)
        kept = [
            (name, value)
            for name, value in headers
            if name.lower() not in ("proxy-authorization", "proxy-connection", "connection")
        ]
        kept.append(("Connection", "close"))
        if proxy.scheme == "socks5":
            far = await open_tunnel(proxy, parts.hostname or "", parts.port or 80)
            url = url.partition(parts.netloc)[2] or "/"
        else:
            far = await connect(proxy)
            if proxy.authorization:
                kept.append(("Proxy-Authorization", proxy.authorization.decode()))
        head = [f"{method} {url} HTTP/1.1", *(f"{name}: {value}" for name, value in kept), "", ""]
        far.writer.write("\r\n".join(head).encode("latin-1"))
        await _relay(client, far)


async def _relay(near: Stream, far: Stream) -> None:
    """Copy in both directions until the far side has said everything."""
    asking = asyncio.create_task(_copy(near.reader, far.writer))
    try:
        await _copy(far.reader, near.writer)
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        far.writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(PIECE):
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
    else:
        writer.close()  # TLS has no half of a connection


def _token(headers: list[tuple[str, str]]) -> str:
    value = next((value for name, value in headers if name.lower() == "proxy-authorization"), "")
    kind, _, encoded = value.partition(" ")
    try:
        decoded = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return decoded.partition(":")[0] if kind.lower() == "basic" else ""


def _refusal(error: TunnelFailed) -> bytes:
    lines = [f"HTTP/1.1 {error.status} {error}", "Content-Length: 0", "Connection: close"]
    if error.status == 407:
        lines.append('Proxy-Authenticate: Basic realm="proxy"')
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
