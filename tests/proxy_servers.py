"""Small proxies for tests, on loopback: HTTP (with or without TLS) and SOCKS5.

Whatever host a client asks for, it is connected to one *target*. They want credentials if they
are given some, count what they see, and can die: at once, or after so many bytes of answers.
"""

from __future__ import annotations

import base64
import contextlib
import socket
import ssl
import threading
from types import TracebackType
from typing import Any

Address = tuple[str, int]


class LocalProxy:
    """A running proxy; use it as a context manager.

    :ivar asked_for: ``host:port`` of every tunnel, and the URL of every plain request, that was
        let through.
    :ivar refused: how many came without the right credentials.
    """

    scheme = "http"

    def __init__(
        self,
        target: Address,
        *,
        user: str | None = None,
        password: str = "",
        dies_after: int | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.target = target
        self.user = user
        self.password = password
        self.asked_for: list[str] = []
        self.refused = 0
        self.answered = 0  # bytes
        self.dead = False
        self._dies_after = dies_after
        self._tls = tls
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Its URL with credentials."""
        userinfo = f"{self.user}:{self.password}@" if self.user is not None else ""
        return f"{self.scheme}{'s' if self._tls else ''}://{userinfo}{self.name}"

    def __enter__(self) -> LocalProxy:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.die()

    def die(self) -> None:
        """Stop listening, and cut every connection."""
        self.dead = True
        for sock in [self._listener, *self._open]:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()

    def _accept(self) -> None:
        while not self.dead:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._welcome, args=(client,), daemon=True).start()

    def _welcome(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError, ValueError):
            if self._tls:
                client = self._tls.wrap_socket(client, server_side=True)
            self._open.add(client)
            self.serve(client, client.makefile("rb", buffering=0))
        self._open.discard(client)
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)  # at once, although the reader is still open
        client.close()

    def serve(self, client: socket.socket, reader: Any) -> None:
        head = read_head(reader)
        first, *lines = head.split("\r\n")
        method, target, _ = first.split(" ")
        if not self._may_pass(lines):
            self.refused += 1
            client.sendall(
                b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n"
                b'Proxy-Authenticate: Basic realm="test"\r\nConnection: close\r\n\r\n'
            )
            return
        self.asked_for.append(target)
        with socket.create_connection(self.target) as far:
            if method == "CONNECT":
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                kept = [line for line in lines if not line.lower().startswith("proxy-")]
                kept = [line for line in kept if not line.lower().startswith("connection:")]
                far.sendall("\r\n".join([first, *kept, "Connection: close", "", ""]).encode())
            self.relay(client, far)

    def _may_pass(self, lines: list[str]) -> bool:
        if self.user is None:
            return True
        expected = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return f"proxy-authorization: basic {expected}".lower() in map(str.lower, lines)

    def relay(self, client: socket.socket, far: socket.socket) -> None:
        """Copy both ways until the far side has said everything."""
        self._open.add(far)
        up = threading.Thread(target=copy_all, args=(client, far), daemon=True)
        up.start()
        with contextlib.suppress(OSError):
            while piece := far.recv(65536):
                self.answered += len(piece)
                if self._dies_after is not None and self.answered > self._dies_after:
                    self.die()
                client.sendall(piece)
        self._open.discard(far)


class LocalSocks(LocalProxy):
    """A SOCKS5 proxy. `asked_for` holds ``host:port``, with names as the client sent them."""

    scheme = "socks5"

    def serve(self, client: socket.socket, reader: Any) -> None:
        methods = exactly(reader, exactly(reader, 2)[1])
        wanted = 0 if self.user is None else 2
        if wanted not in methods:
            self.refused += 1
            client.sendall(b"\x05\xff")
            return
        client.sendall(bytes([5, wanted]))
        if wanted == 2:
            exactly(reader, 1)
            user, password = (exactly(reader, exactly(reader, 1)[0]).decode() for _ in range(2))
            if (user, password) != (self.user, self.password):
                self.refused += 1
                client.sendall(b"\x01\x01")
                return
            client.sendall(b"\x01\x00")
        kind = exactly(reader, 4)[3]
        if kind == 3:
            host = exactly(reader, exactly(reader, 1)[0]).decode()
        else:
            family = {1: socket.AF_INET, 4: socket.AF_INET6}[kind]
            host = socket.inet_ntop(family, exactly(reader, {1: 4, 4: 16}[kind]))
        port = int.from_bytes(exactly(reader, 2), "big")
        try:
            far = socket.create_connection(self.target)
        except OSError:
            client.sendall(b"\x05\x05\x00\x01" + bytes(6))
            return
        self.asked_for.append(f"{host}:{port}")
        with far:
            client.sendall(b"\x05\x00\x00\x01" + bytes(6))
            self.relay(client, far)


def read_head(reader: Any) -> str:
    """Everything up to the empty line, and not one byte more."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += exactly(reader, 1)
    return head.decode("latin-1").removesuffix("\r\n\r\n")


def exactly(reader: Any, count: int) -> bytes:
    read = b""
    while len(read) < count:
        piece = reader.read(count - len(read))
        if not piece:
            raise EOFError
        read += piece
    return read


def copy_all(source: socket.socket, destination: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            destination.sendall(piece)
        destination.shutdown(socket.SHUT_WR)


def closed_port() -> int:
    """A port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port: int = sock.getsockname()[1]
    return port
