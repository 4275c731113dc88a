"""HTTP and TLS on loopback: dispatch by Host header, latency, faults, files, control endpoints.

Everything a platform says arrives here as plain data (:mod:`sandbox.core`). aiohttp's low-level
server is used without its router: one dictionary look-up finds the platform, and the raw request
target reaches it untouched.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
import struct
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from aiohttp import web
from aiohttp.web_request import BaseRequest

from sandbox.core import (
    PLATFORMS,
    Blob,
    Call,
    ControlError,
    Options,
    Platform,
    Reply,
    Visitor,
    load_platforms,
)
from sandbox.counters import Counters, SessionCount, path_label
from sandbox.faults import CORE_KINDS, WIRE_KINDS, Faults, Rule, find_kind, is_known

CONTROL = "/__sandbox__"
CHUNK = 64 * 1024
SMALL = 256 * 1024  # up to here a file is answered in one piece


class Sandbox:
    """The platforms, the faults and the counters of one running server."""

    def __init__(self, options: Options, only: Sequence[str] = PLATFORMS) -> None:
        self.options = options
        self.counters = Counters()
        self.faults = Faults(options.seed)
        self.platforms = load_platforms(options, self.counters, only)
        self.cert_pem: str | None = None
        self._exact: dict[str, Platform] = {}
        self._suffixes: list[tuple[str, Platform]] = []
        for platform in self.platforms:
            for host in platform.hosts:
                if host.startswith("*."):
                    self._suffixes.append((host[1:], platform))
                else:
                    self._exact[host] = platform

    # -- dispatch -------------------------------------------------------------------------------

    def platform_of(self, host: str) -> Platform | None:
        """The platform that owns *host*; answers are remembered."""
        found = self._exact.get(host)
        if found is None:
            for suffix, platform in self._suffixes:
                if host.endswith(suffix):
                    self._exact[host] = found = platform
                    break
        return found

    async def handle(self, request: BaseRequest) -> web.StreamResponse:
        """Answer one HTTP request."""
        host, target = _host_and_target(request)
        if target.startswith(CONTROL):
            return await self._control(request, target)
        platform = self.platform_of(host)
        if platform is None:
            self.counters.unknown_hosts[host] += 1
            hint = f"no platform of the sandbox answers for the host {host!r}; see {CONTROL}/\n"
            return web.Response(status=421, text=hint)
        scheme = "https" if request.secure else "http"
        call = Call(request.method, host, target, request.headers, scheme=scheme)
        media = platform.is_media(call)
        exchange = _Exchange(self, platform, call, media, request)
        label = f"{host}/*" if media else host + path_label(call.path)
        if request.method == "OPTIONS":
            label = f"OPTIONS {label}"  # a browser asks by itself whether it may ask
        self.counters.enter(label, media)
        if not media:
            exchange.enter_session()
        try:
            if request.can_read_body:
                call.body = await request.read()
            response = await exchange.run()
        finally:
            exchange.leave()
        if not exchange.broken:
            self.counters.statuses[response.status] += 1
        return response

    # -- control --------------------------------------------------------------------------------

    async def _control(self, request: BaseRequest, target: str) -> web.StreamResponse:
        path = target.partition("?")[0][len(CONTROL) :].rstrip("/")
        call = Call(request.method, "", target, request.headers, await request.read())
        try:
            return self._answer_control(call, path)
        except ControlError as error:
            return _json({"error": str(error)}, status=error.status)

    def _answer_control(self, call: Call, path: str) -> web.Response:
        if path == "":
            return _json(self._overview())
        if path == "/stats":
            return _json(self.counters.as_dict())
        if path == "/cookies":
            return self._cookies(call)
        if path == "/faults":
            return self._faults(call)
        if path == "/cert.pem" and self.cert_pem is not None:
            return web.Response(text=self.cert_pem, content_type="application/x-pem-file")
        if path == "/reset":
            _only(call, "POST")
            self.counters.reset()
            return _json({"ok": True})
        if path.startswith("/actions/"):
            return self._action(call, path)
        raise ControlError(f"no control endpoint {CONTROL}{path}; see {CONTROL}/", 404)

    def _overview(self) -> dict[str, Any]:
        return {
            "what": "an offline stand-in of platforms; pick one by the Host header",
            "seed": self.options.seed,
            "posts_per_keyword": self.options.posts,
            "world_now": self.options.now.isoformat(),
            "control": {
                f"GET {CONTROL}/stats": "counters",
                f"POST {CONTROL}/reset": "zero the counters",
                f"GET {CONTROL}/cookies?platform=NAME&kind=member": "a ready Cookie header",
                f"GET, POST, DELETE {CONTROL}/faults": "misbehaviour in force, to add, to clear",
                f"POST {CONTROL}/actions/NAME/ACTION": "make something happen at once",
                f"GET {CONTROL}/cert.pem": "the certificate, with --tls",
            },
            "faults": sorted({*CORE_KINDS, *WIRE_KINDS, "400..599"}),
            "platforms": {
                platform.name: {
                    "hosts": list(platform.hosts),
                    "faults": sorted(platform.fault_kinds),
                    "actions": sorted(platform.actions),
                    **platform.describe(),
                }
                for platform in self.platforms
            },
        }

    def _named(self, name: str) -> Platform:
        for platform in self.platforms:
            if platform.name == name:
                return platform
        known = ", ".join(platform.name for platform in self.platforms)
        raise ControlError(f"no platform {name!r}; there are: {known}", 404)

    def _cookies(self, call: Call) -> web.Response:
        kind = call.params.get("kind", "member")
        platform = self._named(call.params.get("platform", "xhs"))
        cookies = platform.cookies(kind)
        if cookies is None:
            raise ControlError(f"{platform.name} has no cookies of kind {kind!r}", 404)
        return web.Response(text="; ".join(f"{name}={value}" for name, value in cookies.items()))

    def _faults(self, call: Call) -> web.Response:
        if call.method == "DELETE":
            self.faults.clear()
        elif call.method == "POST":
            wanted = call.json()
            for one in wanted if isinstance(wanted, list) else [wanted]:
                self._add_fault(one)
        return _json({"faults": [rule.as_dict() for rule in self.faults.rules]})

    def _add_fault(self, wanted: Any) -> None:
        if not isinstance(wanted, dict) or not isinstance(wanted.get("kind"), str):
            raise ControlError('send {"kind": "429", "path": "*", "times": 3}')
        unknown = set(wanted) - {
            "kind",
            "path",
            "host",
            "times",
            "rate",
            "session",
            "after",
            "args",
        }
        if unknown:
            raise ControlError(f"unknown keys: {', '.join(sorted(unknown))}")
        if not is_known(wanted["kind"], self.platforms):
            raise ControlError(f"no fault kind {wanted['kind']!r}; see {CONTROL}/")
        self.faults.add(**wanted)

    def _action(self, call: Call, path: str) -> web.Response:
        _only(call, "POST")
        name, _, action = path.removeprefix("/actions/").partition("/")
        platform = self._named(name)
        if action not in platform.actions:
            known = ", ".join(sorted(platform.actions)) or "none"
            raise ControlError(f"{name} has no action {action!r}; there are: {known}", 404)
        arguments = call.json() if call.body else {}
        if not isinstance(arguments, dict):
            raise ControlError("arguments of an action are a JSON object")
        return _json(platform.actions[action](arguments))


_RULE_KEYS = frozenset(("kind", "path", "host", "times", "rate", "session", "after", "args"))


def _only(call: Call, method: str) -> None:
    if call.method != method:
        raise ControlError(f"use {method}", 405)


def _json(value: Any, status: int = 200) -> web.Response:
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return web.Response(text=text + "\n", status=status, content_type="application/json")


def _host_and_target(request: BaseRequest) -> tuple[str, str]:
    """Host (lower case, no port) and raw target; understands the form that proxies get."""
    target = request.raw_path
    host = request.headers.get("host", "")
    if not target.startswith("/"):
        _scheme, separator, rest = target.partition("://")
        if separator:
            host, slash, tail = rest.partition("/")
            target = slash + tail if slash else "/"
    return host.partition(":")[0].lower(), target


# -- one exchange -------------------------------------------------------------------------------


class _Exchange:
    """One request on its way to an answer."""

    __slots__ = (
        "_inside",
        "broken",
        "call",
        "counters",
        "media",
        "platform",
        "request",
        "sandbox",
        "session",
        "visitor",
    )

    def __init__(
        self, sandbox: Sandbox, platform: Platform, call: Call, media: bool, request: BaseRequest
    ) -> None:
        self.sandbox = sandbox
        self.counters = sandbox.counters
        self.platform = platform
        self.call = call
        self.media = media
        self.request = request
        self.broken = False  # the connection was ended before the answer was whole
        self._inside = True
        self.visitor: Visitor | None = None
        self.session: SessionCount | None = None

    def enter_session(self) -> None:
        """Count the request for the account that sent it."""
        self.visitor = visitor = self.platform.who(self.call)
        if visitor is not None:
            self.session = self.counters.enter_session(
                self.platform.name,
                visitor.account,
                visitor.kind,
                self.call.headers.get("user-agent", ""),
                id(self.request.protocol),
            )

    def leave(self) -> None:
        """Count the request as done, once."""
        if self._inside:
            self._inside = False
            self.counters.leave(self.media)
            if self.session is not None:
                self.session.in_flight -= 1

    def answer(self) -> Reply:
        """What the platform says; a bug in it is a counted 500, never a dead connection."""
        try:
            return self.platform.respond(self.call)
        except Exception:  # the sandbox must stay up and show what happened
            self.counters.internal_errors += 1
            traceback.print_exc()
            return Reply(500, b"the sandbox failed, see its stderr\n", "text/plain")

    async def run(self) -> web.StreamResponse:
        arrived = asyncio.get_running_loop().time()
        rule = None
        if self.sandbox.faults.rules and self.call.method != "OPTIONS":
            faults = self.sandbox.faults
            rule = faults.pick(self.call, self.media, self.platform, self.visitor)
        if rule is not None:
            reply = self._replaced(rule)
            if reply is None:
                reply = self.answer()
            else:
                self.counters.faults[rule.kind] += 1
                if self.session is not None:
                    self.session.faults[rule.kind] += 1
                if isinstance(reply, str):
                    await self._be_late(arrived)
                    return await self._spoilt(reply, rule)
        else:
            reply = self.answer()
        await self._be_late(arrived)
        return await self._send(reply)

    async def _be_late(self, arrived: float) -> None:
        """Wait until the latency has passed; what the answer cost to make is part of it."""
        latency = self.sandbox.options.latency
        if latency:
            spent = asyncio.get_running_loop().time() - arrived
            await asyncio.sleep(max(0, latency - spent))

    def _replaced(self, rule: Rule) -> Reply | str | None:
        """What comes instead of the answer: a reply, the name of a kind that the wire carries
        out, or ``None`` where the kind leaves this request alone."""
        kind = find_kind(rule.name, self.platform)
        if isinstance(kind, str):
            return kind
        assert kind is not None
        reply = kind(self.call, rule.args, self.answer)
        if reply is None:
            rule.spare()
        return reply

    async def _spoilt(self, kind: str, rule: Rule) -> web.StreamResponse:
        if kind == "slow":
            await asyncio.sleep(float(rule.args.get("seconds", 5)))
            return await self._send(self.answer())
        if kind == "hang":
            await asyncio.sleep(24 * 3600)
        if kind == "reset":
            return await self._break_off(self.answer(), int(rule.args.get("after", 0)), rst=True)
        if kind == "no-range":
            return await self._send(self.answer(), ranges=False)
        reply = self.answer()
        size = reply.blob.size if reply.blob is not None else len(reply.body)
        if kind == "short" or reply.blob is not None:
            return await self._break_off(reply, max(1, size // 2), rst=False)
        reply.body = reply.body[: size // 2]
        return await self._send(reply)

    async def _send(self, reply: Reply, ranges: bool = True) -> web.StreamResponse:
        reply = self.platform.dress(self.call, reply)
        if reply.blob is None:
            self.leave()
            return _response(reply)
        return await self._send_blob(reply, reply.blob, ranges)

    async def _send_blob(self, reply: Reply, blob: Blob, ranges: bool) -> web.StreamResponse:
        plan = _plan(blob, self.call.headers, ranges)
        headers = [*plan.headers, *reply.headers]
        rate = self.sandbox.options.media_rate
        if self.call.method == "HEAD" or plan.length == 0:
            self.leave()
            if self.call.method == "HEAD":
                headers.append(("Content-Length", str(plan.length)))
            return web.Response(status=plan.status, headers=headers)
        if plan.length <= SMALL and not rate:
            self.counters.media_bytes += plan.length
            self.leave()
            body = blob.read(plan.offset, plan.length)
            return web.Response(status=plan.status, body=body, headers=headers)
        return await self._stream(blob, plan, headers, rate)

    async def _stream(
        self, blob: Blob, plan: _Plan, headers: list[tuple[str, str]], rate: int
    ) -> web.StreamResponse:
        response = web.StreamResponse(status=plan.status, headers=headers)
        response.content_length = plan.length
        await response.prepare(self.request)
        started = time.monotonic()
        sent = 0
        chunk = min(CHUNK, max(1024, rate // 20)) if rate else CHUNK
        while sent < plan.length:
            piece = blob.read(plan.offset + sent, min(chunk, plan.length - sent))
            sent += len(piece)
            if rate:
                ahead = sent / rate - (time.monotonic() - started)
                if ahead > 0:
                    await asyncio.sleep(ahead)
            self.counters.media_bytes += len(piece)
            if sent >= plan.length:
                self.leave()
            await response.write(piece)
        await response.write_eof()
        return response

    async def _break_off(self, reply: Reply, after: int, rst: bool) -> web.StreamResponse:
        """Send the head and *after* bytes of the body, then end the connection."""
        self.broken = True
        reply = self.platform.dress(self.call, reply)
        transport = self.request.transport
        response = web.StreamResponse(status=reply.status, headers=list(reply.headers))
        if after > 0 and transport is not None:
            await self._begin(response, reply, after)
        self.leave()
        if transport is not None:
            if rst:
                _linger_zero(transport)
            else:
                await asyncio.sleep(0.02)  # lets the kernel hand out what was written
            transport.abort()
        return response

    async def _begin(self, response: web.StreamResponse, reply: Reply, after: int) -> None:
        if reply.blob is not None:
            plan = _plan(reply.blob, self.call.headers, True)
            response.set_status(plan.status)
            response.headers.extend(plan.headers)
            response.content_length = plan.length
            data = reply.blob.read(plan.offset, min(after, max(0, plan.length - 1)))
            self.counters.media_bytes += len(data)
        else:
            response.headers["Content-Type"] = reply.content_type
            response.content_length = len(reply.body)
            data = reply.body[: min(after, max(0, len(reply.body) - 1))]
        await response.prepare(self.request)
        if data:
            await response.write(data)


def _response(reply: Reply) -> web.Response:
    headers: list[tuple[str, str]] = [("Content-Type", reply.content_type), *reply.headers]
    return web.Response(status=reply.status, body=reply.body, headers=headers)


def _linger_zero(transport: asyncio.BaseTransport) -> None:
    """Make the close that follows a RST instead of a FIN."""
    sock = transport.get_extra_info("socket")
    if sock is not None:
        form = "hh" if sys.platform == "win32" else "ii"
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack(form, 1, 0))


# -- ranges -------------------------------------------------------------------------------------


class _Plan:
    """Which part of a file is sent, and under which status and headers."""

    __slots__ = ("headers", "length", "offset", "status")

    def __init__(
        self, status: int, offset: int, length: int, headers: list[tuple[str, str]]
    ) -> None:
        self.status = status
        self.offset = offset
        self.length = length
        self.headers = headers


def _plan(blob: Blob, headers: Mapping[str, str], ranges: bool) -> _Plan:
    common = [("Content-Type", blob.content_type), ("ETag", blob.etag)]
    common.append(("Cache-Control", "max-age=2592000"))
    if ranges:
        common.append(("Accept-Ranges", "bytes"))
    known = headers.get("if-none-match")
    if known is not None and (known.strip() == "*" or blob.etag in known):
        return _Plan(304, 0, 0, common)
    wanted = headers.get("range") if ranges else None
    if wanted is None or headers.get("if-range", blob.etag) != blob.etag:
        return _Plan(200, 0, blob.size, common)
    span = _parse_range(wanted, blob.size)
    if span is None:
        return _Plan(200, 0, blob.size, common)
    first, last = span
    if first >= blob.size or first > last:
        return _Plan(416, 0, 0, [*common, ("Content-Range", f"bytes */{blob.size}")])
    common.append(("Content-Range", f"bytes {first}-{last}/{blob.size}"))
    return _Plan(206, first, last - first + 1, common)


def _parse_range(text: str, size: int) -> tuple[int, int] | None:
    """First and last byte of a single range; ``None`` for what a server may ignore."""
    unit, _, spans = text.partition("=")
    first_text, dash, last_text = spans.strip().partition("-")
    if unit.strip().lower() != "bytes" or not dash or "," in spans:
        return None
    first_text, last_text = first_text.strip(), last_text.strip()
    if not first_text.isdigit():
        if first_text or not last_text.isdigit():
            return None
        suffix = int(last_text)
        return (max(0, size - suffix), size - 1) if suffix else (size, size - 1)
    if last_text and not last_text.isdigit():
        return None
    last = min(int(last_text), size - 1) if last_text else size - 1
    return int(first_text), last


# -- sockets ------------------------------------------------------------------------------------


class _HttpServer(web.Server):
    """aiohttp's low-level server; counts connections."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(
            sandbox.handle,
            handler_cancellation=True,
            access_log=None,
            keepalive_timeout=75.0,
            lingering_time=0.0,
        )
        self._counters = sandbox.counters

    def connection_made(self, handler: Any, transport: asyncio.Transport) -> None:
        self._counters.connections += 1
        super().connection_made(handler, transport)

    def connection_lost(self, handler: Any, exc: BaseException | None = None) -> None:
        self._counters.forget_connection(id(handler))
        super().connection_lost(handler, exc)


class Listener:
    """The open port. With *tls* one port speaks HTTP, HTTPS and CONNECT: the first bytes of a
    connection tell which."""

    def __init__(self, sandbox: Sandbox, tls: ssl.SSLContext | None = None) -> None:
        self._http = _HttpServer(sandbox)
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._socket: socket.socket | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def open(self, host: str, port: int) -> None:
        """Listen; ``OSError`` if the port is taken."""
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((host, port))
            sock.listen(1024)
        except OSError:
            sock.close()
            raise
        sock.setblocking(False)
        self.port = sock.getsockname()[1]
        loop = asyncio.get_running_loop()
        if self._tls is None:
            self._server = await loop.create_server(self._http, sock=sock, backlog=1024)
        else:
            self._socket = sock
            self._keep(self._accept(sock))

    async def close(self) -> None:
        """End at once; nobody is waited for."""
        if self._server is not None:
            self._server.close()
        if self._socket is not None:
            self._socket.close()
        for connection in self._http.connections:
            if connection.transport is not None:
                connection.transport.abort()
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _keep(self, coroutine: Any) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, sock: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            connection, _address = await loop.sock_accept(sock)
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._keep(self._welcome(connection))

    async def _welcome(self, connection: socket.socket) -> None:
        """Look at the first bytes without taking them, then hand the socket on."""
        handed_on = False
        try:
            first = await _peek(connection)
            if first == b"C" and await _peek(connection, 8) == b"CONNECT ":
                await _tunnel(connection)
                first = await _peek(connection)
            if first:
                tls = self._tls if first == b"\x16" else None
                loop = asyncio.get_running_loop()
                handed_on = True  # from here on the transport closes the socket
                await loop.connect_accepted_socket(self._http, connection, ssl=tls)
        except (OSError, ssl.SSLError):
            pass  # the client went away, or does not trust the certificate
        finally:
            if not handed_on:
                connection.close()


async def _peek(connection: socket.socket, count: int = 1) -> bytes:
    """Wait for the next *count* bytes and leave them where they are; ``b""`` at the end."""
    loop = asyncio.get_running_loop()
    while True:
        ready = loop.create_future()
        loop.add_reader(connection, _wake, ready)
        try:
            await ready
        finally:
            loop.remove_reader(connection)
        with contextlib.suppress(BlockingIOError):
            seen = connection.recv(count, socket.MSG_PEEK)
            if len(seen) == count or not seen or count == 1:
                return seen
            await asyncio.sleep(0.001)


def _wake(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


async def _tunnel(connection: socket.socket) -> None:
    """Read a CONNECT head and agree: whatever the host, the tunnel ends here."""
    loop = asyncio.get_running_loop()
    head = b""
    while not head.endswith(b"\r\n\r\n") and len(head) < 16384:
        byte = await loop.sock_recv(connection, 1)  # not one byte more: TLS follows
        if not byte:
            return
        head += byte
    await loop.sock_sendall(connection, b"HTTP/1.1 200 Connection Established\r\n\r\n")
