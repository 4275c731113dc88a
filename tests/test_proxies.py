"""Proxies: how lines are read, who gets which, what the bridge and providers do."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from scrapy import Request
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from mediacrawler import settings as project
from mediacrawler.exceptions import UsageProblem
from mediacrawler.proxies import (
    Proxy,
    is_loopback,
    parse_proxy,
    read_line,
    read_list,
    read_setting,
)
from mediacrawler.proxies.bridge import (
    Bridge,
    ProxyAuthFailed,
    ProxyUnreachable,
    Stream,
    TargetUnreachable,
    TunnelFailed,
    open_tunnel,
)
from mediacrawler.proxies.check import try_proxies
from mediacrawler.proxies.middleware import ProxyMiddleware
from mediacrawler.proxies.pool import LAST_CHANCES, SUSPICIONS, ProxyPool
from mediacrawler.proxies.provider import Provider, ProviderFailed
from mediacrawler.spiders.xhs import XhsSpider
from sandbox.tls import server_context
from tests.proxy_servers import LocalProxy, LocalSocks, closed_port, read_head

T = TypeVar("T")
NOW = 1_800_000_000.0
SECRET = "s3cr3t-word"


# --- Reading ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "proxy"),
    [
        ("http://203.0.113.7:8080", Proxy("http", "203.0.113.7", 8080)),
        ("203.0.113.7:8080", Proxy("http", "203.0.113.7", 8080)),
        ("HTTP://Proxy.Example:8080/", Proxy("http", "proxy.example", 8080)),
        ("https://proxy.example", Proxy("https", "proxy.example", 443)),
        ("http://proxy.example", Proxy("http", "proxy.example", 80)),
        ("socks5://proxy.example", Proxy("socks5", "proxy.example", 1080)),
        ("socks5h://a:b@proxy.example:9", Proxy("socks5", "proxy.example", 9, "a", "b")),
        ("http://[2001:db8::1]:3128", Proxy("http", "2001:db8::1", 3128)),
        ("http://a:b@[2001:db8::1]", Proxy("http", "2001:db8::1", 80, "a", "b")),
        ("http://a:p%40ss%3Aw%2C@h:1", Proxy("http", "h", 1, "a", "p@ss:w,")),
        ("http://a:p@ss/w#x?@h:1", Proxy("http", "h", 1, "a", "p@ss/w#x?")),
        ("http://token@h:1", Proxy("http", "h", 1, "token", "")),
        ("http://a-b_c.d:b@h-1.example:65535", Proxy("http", "h-1.example", 65535, "a-b_c.d", "b")),
        ("203.0.113.7:8080:a:b", Proxy("http", "203.0.113.7", 8080, "a", "b")),
        ("203.0.113.7:8080:a:b:c", Proxy("http", "203.0.113.7", 8080, "a", "b:c")),
        ("a:b@203.0.113.7:8080", Proxy("http", "203.0.113.7", 8080, "a", "b")),
        ("  http://h:1  ", Proxy("http", "h", 1)),
    ],
)
def test_a_proxy_is_read_from_text(text: str, proxy: Proxy) -> None:
    assert parse_proxy(text) == proxy


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ftp://h:21", "scheme"),
        ("socks4://h:21", "scheme"),
        (f"{SECRET}://h:21", "scheme"),
        ("http://", "host"),
        (f"http://{SECRET}@", "host"),
        (f"http://a:{SECRET}@:80", "host"),
        ("http://two words:80", "host"),
        (f"http://a:{SECRET}@h:0", "port"),
        (f"http://a:{SECRET}@h:65536", "port"),
        (f"http://a:{SECRET}", "port"),
        (f"a:b:{SECRET}:d", "port"),
        ("http://h:80:", "host"),
        (f"socks5://a:{SECRET * 30}@h:1", "255 bytes"),
        ("", "host"),
    ],
)
def test_what_is_no_proxy_is_refused_without_being_quoted(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        parse_proxy(text)
    assert SECRET not in str(caught.value)


def test_credentials_are_no_part_of_names_and_representations() -> None:
    proxy = parse_proxy(f"http://{SECRET}-user:{SECRET}@h:1")
    assert SECRET not in f"{proxy} {proxy!r} {proxy.name} {proxy.url}"
    assert parse_proxy(proxy.secret_url) == proxy


@pytest.mark.parametrize(
    ("value", "proxy", "expires_at"),
    [
        ({"url": "socks5://a:b@h:1"}, Proxy("socks5", "h", 1, "a", "b"), None),
        ({"proxy": "h:1", "ttl": 60}, Proxy("http", "h", 1), NOW + 60),
        (
            {"ip": "192.0.2.1", "port": "8080", "ttl": "30"},
            Proxy("http", "192.0.2.1", 8080),
            NOW + 30,
        ),
        (
            {"host": "h", "port": 1, "username": "a:", "password": "@b", "scheme": "socks5"},
            Proxy("socks5", "h", 1, "a:", "@b"),
            None,
        ),
        ({"host": "h", "port": 1, "user": "a", "pass": 7}, Proxy("http", "h", 1, "a", "7"), None),
        ({"url": "h:1", "user": "a", "pass": "b"}, Proxy("http", "h", 1, "a", "b"), None),
        ({"url": "h:1", "expires_at": 1_800_000_100}, Proxy("http", "h", 1), NOW + 100),
        ({"url": "h:1", "expires_at": 1_800_000_100_500}, Proxy("http", "h", 1), NOW + 100.5),
        ({"url": "h:1", "expires_at": "2027-01-15T08:01:40Z"}, Proxy("http", "h", 1), NOW + 100),
        (
            {"url": "h:1", "expires_at": "2027-01-15 16:01:40+08:00"},
            Proxy("http", "h", 1),
            NOW + 100,
        ),
        ({"url": "h:1", "expires_at": "2027-01-15T08:01:40"}, Proxy("http", "h", 1), NOW + 100),
        ("h:1", Proxy("http", "h", 1), None),
    ],
)
def test_a_proxy_is_read_from_a_json_line(value: Any, proxy: Proxy, expires_at: Any) -> None:
    read = read_line(json.dumps(value), NOW)
    assert (read, read.expires_at) == (proxy, expires_at)


@pytest.mark.parametrize(
    "line",
    [
        f'{{"url": "h:1", "password": "{SECRET}"',
        f'{{"password": "{SECRET}"}}',
        f'{{"host": "h", "port": "{SECRET}"}}',
        f'{{"host": "h", "port": 1, "ttl": "{SECRET}"}}',
        f'{{"host": "h", "port": 1, "expires_at": "{SECRET}"}}',
        f'{{"host": "h", "port": 1, "protocol": "{SECRET}"}}',
    ],
)
def test_json_that_is_no_proxy_is_refused_without_being_quoted(line: str) -> None:
    with pytest.raises(ValueError, match=r"it |the |expires") as caught:
        read_line(line, NOW)
    assert SECRET not in str(caught.value)


def test_a_list_tells_the_lines_that_are_none() -> None:
    text = f"# mine\nhttp://a:1\n\nftp://u:{SECRET}@b:2\na:1\n  # more\nhttp://c:x\n"
    proxies, problems = read_list(text, NOW)
    assert [proxy.name for proxy in proxies] == ["a:1"]
    assert [problem.partition(":")[0] for problem in problems] == ["line 4", "line 7"]
    assert SECRET not in str(problems)


def test_a_list_may_be_a_json_array() -> None:
    text = '[{"ip": "192.0.2.1", "port": 1},\n "socks5://h:2", {}]'
    proxies, problems = read_list(text, NOW)
    assert [proxy.url for proxy in proxies] == ["http://192.0.2.1:1", "socks5://h:2"]
    assert problems == ["line 3: it has no host name"]


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (None, []),
        ("", []),
        ([], []),
        ("http://a:1", ["a:1"]),
        ("http://a:1, socks5://b:2", ["a:1", "b:2"]),
        ("http://a:1\nhttp://b:2", ["a:1", "b:2"]),
        (["http://a:1", "http://u:x,y@b:2"], ["a:1", "b:2"]),
        ('{"host": "a", "port": 1}', ["a:1"]),
        ('["http://a:1", "b:2"]', ["a:1", "b:2"]),
    ],
)
def test_the_setting_is_a_list_or_text(value: Any, names: list[str]) -> None:
    assert [proxy.name for proxy in read_setting(value, NOW)] == names


def test_the_setting_may_name_a_file(tmp_path: Path) -> None:
    path = tmp_path / "proxies.txt"
    path.write_text("\ufeffhttp://u:a,b@a:1\r\n# no\r\nb:2\r\n", "utf-8")
    assert [proxy.name for proxy in read_setting(f"@{path}", NOW)] == ["a:1", "b:2"]


def test_a_bad_line_of_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "proxies.txt"
    path.write_text(f"http://a:1\nhttp://u:{SECRET}@b:99999\n", "utf-8")
    with pytest.raises(UsageProblem, match=r"proxies\.txt, line 2: the port") as caught:
        read_setting(f"@{path}", NOW)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.0.1", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("LocalHost.", True),
        ("app.localhost", True),
        ("192.168.1.1", False),
        ("localhost.example", False),
        ("www.xiaohongshu.com", False),
        (None, False),
    ],
)
def test_loopback_is_recognised(host: str | None, loopback: bool) -> None:
    assert is_loopback(host) is loopback


# --- Who gets which ---------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pool(clock: Clock) -> ProxyPool:
    """Three proxies a:1, b:2 and c:3; the cool-down is 60 s."""
    pool = ProxyPool(60, clock)
    pool.add([Proxy("http", "a", 1), Proxy("http", "b", 2), Proxy("http", "c", 3)])
    return pool


def chosen(pool: ProxyPool, account: str = "anna") -> str | None:
    health = pool.choose(account)
    return health.label if health else None


def test_each_session_keeps_a_proxy_of_its_own(pool: ProxyPool) -> None:
    given = [chosen(pool, account) for account in ("anna", "ben", "cora")]
    assert given == ["a:1", "b:2", "c:3"]
    assert [chosen(pool, account) for account in ("cora", "anna", "ben")] == ["c:3", "a:1", "b:2"]


def test_proxies_are_shared_evenly_when_there_are_too_few(pool: ProxyPool) -> None:
    given = [chosen(pool, f"account {number}") for number in range(6)]
    assert given == ["a:1", "b:2", "c:3"] * 2


def test_a_proxy_that_failed_is_replaced_at_once_and_returns_after_its_cool_down(
    pool: ProxyPool, clock: Clock
) -> None:
    assert chosen(pool) == "a:1"
    assert pool.failed("a:1", "down", clock.now)
    assert chosen(pool) == "b:2"
    clock.now += 61
    assert chosen(pool) == "b:2"  # no need to go back
    assert [chosen(pool, account) for account in ("ben", "cora")] == ["c:3", "a:1"]


def test_only_several_doubtful_failures_in_a_row_put_a_proxy_aside(
    pool: ProxyPool, clock: Clock
) -> None:
    for _ in range(SUSPICIONS - 1):
        clock.now += 1
        assert not pool.suspected("a:1", "timeout", clock.now)
    pool.succeeded("a:1")
    for _ in range(SUSPICIONS - 1):
        clock.now += 1
        assert not pool.suspected("a:1", "timeout", clock.now)
    assert chosen(pool) == "a:1"
    clock.now += 1
    assert pool.suspected("a:1", "timeout", clock.now)
    assert chosen(pool) == "b:2"


def test_requests_that_fail_together_count_as_one_failure(pool: ProxyPool, clock: Clock) -> None:
    sent_at = clock.now
    clock.now += 10
    assert not any(pool.suspected("a:1", "timeout", sent_at) for _ in range(50))
    assert pool.failed("b:2", "down", sent_at)
    assert not any(pool.failed("b:2", "down", sent_at) for _ in range(50))
    assert pool["b:2"].aside_until == clock.now + 60


def test_cool_downs_grow_and_then_the_proxy_is_given_up(pool: ProxyPool, clock: Clock) -> None:
    waits = []
    for _ in range(LAST_CHANCES):
        assert pool.failed("a:1", "down", clock.now)
        waits.append(pool["a:1"].aside_until - clock.now)
        clock.now = pool["a:1"].aside_until
    assert waits == [60, 120, 240]
    assert pool["a:1"].dead
    assert not pool.failed("a:1", "down", clock.now)


def test_an_answer_forgives_earlier_failures(pool: ProxyPool, clock: Clock) -> None:
    for _ in range(LAST_CHANCES * 2):
        assert pool.failed("a:1", "down", clock.now)
        assert pool["a:1"].aside_until == clock.now + 60
        clock.now += 60
        pool.succeeded("a:1")


def test_a_proxy_that_refuses_the_credentials_does_not_return(
    pool: ProxyPool, clock: Clock
) -> None:
    assert pool.refused("a:1", "credentials refused")
    assert not pool.refused("a:1", "credentials refused")
    clock.now += 10 * 365 * 86400
    assert [chosen(pool, str(number)) for number in range(3)] == ["b:2", "c:3", "b:2"]


def test_a_proxy_that_expires_is_replaced_and_forgotten(clock: Clock) -> None:
    pool = ProxyPool(60, clock)
    pool.add([Proxy("http", "a", 1, expires_at=NOW + 30), Proxy("http", "b", 2)])
    assert chosen(pool) == "a:1"
    clock.now += 27
    assert chosen(pool) == "a:1"
    clock.now += 2  # a request needs a moment
    assert chosen(pool) == "b:2"
    assert len(pool) == 1


def test_a_proxy_that_is_offered_again_only_lives_longer(clock: Clock) -> None:
    pool = ProxyPool(60, clock)
    assert pool.add([Proxy("http", "a", 1, expires_at=NOW + 30)]) == 1
    assert pool.add([Proxy("http", "a", 1, expires_at=NOW + 90)]) == 0
    assert pool.add([Proxy("http", "b", 1, expires_at=NOW - 1)]) == 0
    clock.now += 60
    assert chosen(pool) == "a:1"


def test_a_session_with_a_proxy_of_its_own_uses_no_other(pool: ProxyPool, clock: Clock) -> None:
    pool.add([Proxy("http", "own", 9)], owner="anna")
    assert chosen(pool, "anna") == "own:9"
    assert [chosen(pool, str(number)) for number in range(4)] == ["a:1", "b:2", "c:3", "a:1"]
    pool.failed("own:9", "down", clock.now)
    assert chosen(pool, "anna") is None
    assert not pool.hopeless("anna")
    pool.refused("own:9", "credentials refused")
    assert pool.hopeless("anna")
    assert not pool.hopeless("ben")
    assert pool.state("anna") == "own:9 (credentials refused)"


def test_more_proxies_are_wanted_before_any_is_shared(pool: ProxyPool, clock: Clock) -> None:
    for account in ("anna", "ben", "cora"):
        assert not pool.wants_more(account)
        chosen(pool, account)
        assert not pool.wants_more(account)
    assert pool.wants_more("dora")
    pool.failed("a:1", "down", clock.now)
    assert pool.wants_more("anna")


def test_proxies_at_one_address_have_different_labels(clock: Clock) -> None:
    pool = ProxyPool(60, clock)
    assert pool.add([Proxy("http", "gate", 1, f"user{number}", SECRET) for number in range(3)]) == 3
    given = [chosen(pool, str(number)) for number in range(3)]
    assert given == ["gate:1", "gate:1#2", "gate:1#3"]


# --- Tunnels and the bridge -------------------------------------------------------------------


def run(work: Awaitable[T]) -> T:
    async def main() -> T:
        return await work

    return asyncio.run(main())


class Echo:
    """A server that says what it was sent: the far end of tunnels."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(sock,), daemon=True).start()

    def serve(self, sock: socket.socket) -> None:
        with sock, contextlib.suppress(EOFError):
            head = read_head(sock.makefile("rb", buffering=0))
            body = head.encode()
            answer = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            sock.sendall(answer + body)


@pytest.fixture
def echo() -> Iterator[Echo]:
    echo = Echo()
    yield echo
    echo.listener.close()


async def ask(stream: Stream, request: str) -> str:
    """Everything that comes back for *request*."""
    stream.writer.write(request.encode())
    answer = await stream.reader.read()
    stream.writer.close()
    return answer.decode()


PROXIES = [LocalProxy, LocalSocks]


@pytest.mark.parametrize("kind", PROXIES)
@pytest.mark.parametrize("host", ["site.example", "192.0.2.1", "2001:db8::1"])
def test_a_tunnel_leads_to_the_target(kind: type[LocalProxy], host: str, echo: Echo) -> None:
    async def tunnel(proxy: Proxy) -> str:
        stream = await open_tunnel(proxy, host, 443)
        return await ask(stream, "hello\r\n\r\n")

    with kind(echo.address, user="anna", password=SECRET) as server:
        assert run(tunnel(parse_proxy(server.url))).endswith("\r\n\r\nhello")
        asked = "[2001:db8::1]:443" if ":" in host and kind is LocalProxy else f"{host}:443"
        assert server.asked_for == [asked]


def tunnel_error(proxy: Proxy) -> TunnelFailed:
    with pytest.raises(TunnelFailed) as caught:
        run(open_tunnel(proxy, "site.example", 443, timeout=2))
    assert SECRET not in repr(caught.value)
    return caught.value


@pytest.mark.parametrize("kind", PROXIES)
def test_refused_credentials_are_told_apart(kind: type[LocalProxy], echo: Echo) -> None:
    with kind(echo.address, user="anna", password="right") as server:
        for userinfo in (f"anna:{SECRET}@", ""):
            proxy = parse_proxy(f"{kind.scheme}://{userinfo}{server.name}")
            assert isinstance(tunnel_error(proxy), ProxyAuthFailed)


@pytest.mark.parametrize("scheme", ["http", "https", "socks5"])
def test_a_proxy_that_is_not_there_is_told_apart(scheme: str) -> None:
    proxy = parse_proxy(f"{scheme}://anna:{SECRET}@127.0.0.1:{closed_port()}")
    assert isinstance(tunnel_error(proxy), ProxyUnreachable)


@pytest.mark.parametrize("scheme", ["http", "socks5"])
@pytest.mark.parametrize("answer", [b"", b"220 mail.example ready\r\n\r\n", b"\x04\x5a"])
def test_a_server_that_is_no_proxy_is_told_apart(scheme: str, answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            sock, _ = listener.accept()
            with sock:
                sock.recv(1000)
                sock.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        proxy = Proxy("socks5" if scheme == "socks5" else "http", *listener.getsockname())
        assert isinstance(tunnel_error(proxy), ProxyUnreachable)


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_proxy_that_says_nothing_is_told_apart(scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = parse_proxy(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}")
        with pytest.raises(ProxyUnreachable, match="does not answer"):
            run(open_tunnel(proxy, "site.example", 443, timeout=0.2))


@pytest.mark.parametrize("kind", PROXIES)
def test_a_target_that_is_no_name_is_no_fault_of_the_proxy(
    kind: type[LocalProxy], echo: Echo
) -> None:
    with kind(echo.address) as server, pytest.raises(TargetUnreachable):
        run(open_tunnel(parse_proxy(server.url), "a..b", 443))


def test_a_target_that_the_proxy_does_not_reach_is_told_apart() -> None:
    with LocalSocks(("127.0.0.1", closed_port())) as server:
        error = tunnel_error(parse_proxy(server.url))
    assert isinstance(error, TargetUnreachable)
    assert str(error) == "it answers: connection refused"


@pytest.fixture
def trusted_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A certificate for 127.0.0.1 that clients of this process trust."""
    context, pem = server_context(tmp_path, ["proxy.example"])
    (tmp_path / "trusted.pem").write_text(pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
    return context


def test_a_proxy_may_speak_tls(echo: Echo, trusted_tls: ssl.SSLContext) -> None:
    async def tunnel(proxy: Proxy) -> str:
        stream = await open_tunnel(proxy, "site.example", 443)
        return await ask(stream, "hello\r\n\r\n")

    with LocalProxy(echo.address, user="anna", password=SECRET, tls=trusted_tls) as server:
        assert server.url.startswith("https://")
        assert run(tunnel(parse_proxy(server.url))).endswith("hello")


def test_a_certificate_that_nobody_vouches_for_is_refused(echo: Echo, tmp_path: Path) -> None:
    context, _ = server_context(tmp_path, ["proxy.example"])
    with LocalProxy(echo.address, tls=context) as server:
        error = tunnel_error(parse_proxy(server.url))
    assert isinstance(error, ProxyUnreachable)
    assert "certificate" in str(error)


def through_bridge(behind: Proxy, work: Callable[[Proxy], Awaitable[T]]) -> T:
    async def main() -> T:
        bridge = Bridge()
        try:
            return await work(await bridge.in_front_of(behind))
        finally:
            await bridge.close()

    return asyncio.run(main())


@pytest.mark.parametrize("kind", ["socks5", "https"])
def test_the_bridge_tunnels_through_what_http_clients_cannot_speak(
    kind: str, echo: Echo, trusted_tls: ssl.SSLContext
) -> None:
    async def tunnel(local: Proxy) -> str:
        stream = await open_tunnel(local, "site.example", 443)
        return await ask(stream, "hello\r\n\r\n")

    server_type, tls = (LocalSocks, None) if kind == "socks5" else (LocalProxy, trusted_tls)
    with server_type(echo.address, user="anna", password=SECRET, tls=tls) as server:
        assert through_bridge(parse_proxy(server.url), tunnel).endswith("hello")
        assert server.asked_for == ["site.example:443"]


@pytest.mark.parametrize(
    ("kind", "request_line"),
    [("socks5", "GET /a?b=c HTTP/1.1"), ("https", "GET http://site.example/a?b=c HTTP/1.1")],
)
def test_the_bridge_sends_plain_requests_on_without_its_token(
    kind: str, request_line: str, echo: Echo, trusted_tls: ssl.SSLContext
) -> None:
    async def get(local: Proxy) -> str:
        stream = Stream(*await asyncio.open_connection(local.host, local.port))
        assert local.authorization
        return await ask(
            stream,
            "GET http://site.example/a?b=c HTTP/1.1\r\nHost: site.example\r\nX-Mine: yes\r\n"
            f"Proxy-Authorization: {local.authorization.decode()}\r\n\r\n",
        )

    server_type, tls = (LocalSocks, None) if kind == "socks5" else (LocalProxy, trusted_tls)
    with server_type(echo.address, user="anna", password=SECRET, tls=tls) as server:
        answer = through_bridge(parse_proxy(server.url), get)
    status, _, seen = answer.partition("\r\n\r\n")
    assert status.startswith("HTTP/1.1 200")
    lines = seen.split("\r\n")
    assert lines[0] == request_line
    assert {"Host: site.example", "X-Mine: yes"} <= set(lines)
    assert "Proxy-Authorization" not in seen


@pytest.mark.parametrize("token", [None, "wrong"])
def test_the_bridge_serves_nobody_without_its_token(token: str | None, echo: Echo) -> None:
    async def intrude(local: Proxy) -> None:
        await open_tunnel(Proxy("http", local.host, local.port, token), "site.example", 443)

    with LocalSocks(echo.address) as server, pytest.raises(ProxyAuthFailed):
        through_bridge(parse_proxy(server.url), intrude)
    assert server.asked_for == []


@pytest.mark.parametrize(
    ("behind", "status"),
    [
        (f"socks5://anna:{SECRET}@127.0.0.1:{{closed}}", 523),
        (f"socks5://anna:{SECRET}@{{server}}", 407),
    ],
)
def test_the_bridge_says_what_is_wrong_with_the_proxy_behind_it(
    behind: str, status: int, echo: Echo
) -> None:
    async def connect(local: Proxy) -> str:
        stream = Stream(*await asyncio.open_connection(local.host, local.port))
        assert local.authorization
        authorization = local.authorization.decode()
        return await ask(
            stream, f"CONNECT a:443 HTTP/1.1\r\nProxy-Authorization: {authorization}\r\n\r\n"
        )

    with LocalSocks(echo.address, user="anna", password="right") as server:
        text = behind.format(closed=closed_port(), server=server.name)
        answer = through_bridge(parse_proxy(text), connect)
    assert answer.startswith(f"HTTP/1.1 {status} ")
    assert SECRET not in answer


def test_proxies_are_tried_and_reported_in_one_line_each(echo: Echo) -> None:
    with LocalProxy(echo.address, user="anna", password=SECRET) as server:
        nobody = closed_port()
        proxies = [
            parse_proxy(server.url),
            parse_proxy(f"http://anna:{SECRET}x@{server.name}"),
            parse_proxy(f"socks5://anna:{SECRET}@127.0.0.1:{nobody}"),
        ]
        lines = [str(tried) for tried in run(try_proxies(proxies, "site.example", 443))]
    assert lines[0].startswith(f"http://{server.name}  ok, ")
    assert lines[0].endswith(" ms")
    assert lines[1] == f"http://{server.name}  auth failed: it does not accept the credentials"
    assert lines[2] == f"socks5://127.0.0.1:{nobody}  refused: connection refused"


# --- Providers --------------------------------------------------------------------------------


class Answer(BaseHTTPRequestHandler):
    """Answers the path it is asked for."""

    answers: ClassVar[dict[str, tuple[int, str]]]
    seen: ClassVar[list[str | None]]

    def do_GET(self) -> None:
        status, text = self.answers[self.path]
        self.seen.append(self.headers.get("Authorization"))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def site() -> Iterator[tuple[str, type[Answer]]]:
    """The address of a provider, and the class that knows its answers."""

    class Mine(Answer):
        answers: ClassVar[dict[str, tuple[int, str]]] = {}
        seen: ClassVar[list[str | None]] = []

    server = HTTPServer(("127.0.0.1", 0), Mine)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}", Mine
    server.shutdown()
    server.server_close()


def fetch(**settings: Any) -> tuple[list[Proxy], list[str]]:
    names = {"PROXY_PROVIDER_URL": None, "PROXY_PROVIDER_COMMAND": None, **settings}
    provider = Provider.from_settings(Settings(names))
    assert provider is not None
    return run(provider.fetch())


def test_a_provider_answers_at_an_address(
    site: tuple[str, type[Answer]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, answer = site
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed_port()}")  # not for loopback
    text = f'h:1\n{{"host": "i", "port": 2, "user": "a", "pass": "{SECRET}", "ttl": 60}}\nx:y\n'
    answer.answers["/get?key=k&n=3"] = (200, text)
    proxies, problems = fetch(PROXY_PROVIDER_URL=f"http://me:p%40@{address}/get?key=k&n=3#x")
    assert proxies == [Proxy("http", "h", 1), Proxy("http", "i", 2, "a", SECRET)]
    assert proxies[1].expires_at is not None
    assert problems == ["line 3: the port must be a number from 1 to 65535"]
    assert answer.seen == ["Basic bWU6cEA="]


@pytest.mark.parametrize(
    ("status", "text", "message"),
    [
        (403, f"no such key {SECRET}", "it answers 403"),
        (200, "", "its answer is empty"),
        (200, f"your key {SECRET} has expired", "line 1: it has no host name"),
    ],
)
def test_a_provider_that_gives_none_is_not_quoted(
    site: tuple[str, type[Answer]], status: int, text: str, message: str
) -> None:
    address, answer = site
    answer.answers[f"/?{SECRET}"] = (status, text)
    with pytest.raises(ProviderFailed) as caught:
        fetch(PROXY_PROVIDER_URL=f"http://{address}/?{SECRET}")
    assert str(caught.value) == message


def test_an_address_where_nobody_answers_is_not_quoted() -> None:
    with pytest.raises(ProviderFailed, match="Connection refused") as caught:
        fetch(PROXY_PROVIDER_URL=f"http://127.0.0.1:{closed_port()}/?{SECRET}")
    assert SECRET not in str(caught.value)


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.mark.parametrize("whole", [str, list])
def test_a_provider_may_be_a_command_that_no_shell_runs(whole: type) -> None:
    code = "import sys; print('h:%d' % len(sys.argv[1]))"
    command: Any = [*python(code), "a; $HOME | b"]
    if whole is str:
        command = f'{sys.executable} -c "{code}" "a; $HOME | b"'
    proxies, _ = fetch(PROXY_PROVIDER_COMMAND=command)
    assert proxies == [Proxy("http", "h", len("a; $HOME | b"))]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (python(f"import sys; sys.exit('{SECRET}')"), "failed with exit code 1"),
        ([f"/nowhere/{SECRET}"], "cannot be started: No such file"),
        (python("pass"), "its answer is empty"),
    ],
)
def test_a_command_that_fails_is_not_quoted(command: list[str], message: str) -> None:
    with pytest.raises(ProviderFailed, match=message) as caught:
        fetch(PROXY_PROVIDER_COMMAND=command)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"PROXY_PROVIDER_URL": f"ftp://{SECRET}"}, "must begin with http"),
        ({"PROXY_PROVIDER_URL": f"http://?{SECRET}"}, "must begin with http"),
        ({"PROXY_PROVIDER_COMMAND": f"a '{SECRET}"}, "a quote is not closed"),
        ({"PROXY_PROVIDER_COMMAND": "a", "PROXY_PROVIDER_URL": "http://h"}, "choose one"),
    ],
)
def test_provider_settings_that_cannot_work_are_refused(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageProblem, match=message) as caught:
        fetch(**settings)
    assert SECRET not in str(caught.value)


# --- The middleware ---------------------------------------------------------------------------


@pytest.fixture
def middleware_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., ProxyMiddleware]:
    """The middleware of an XHS crawl with some settings."""
    monkeypatch.setenv("XHS_COOKIES", "a1=0; web_session=0")

    def make(**settings: Any) -> ProxyMiddleware:
        known = {name: value for name, value in vars(project).items() if name.isupper()}
        crawler = get_crawler(XhsSpider, {**known, "SAVE_DATA_PATH": str(tmp_path), **settings})
        crawler.spider = crawler._create_spider(keywords="露营")
        return ProxyMiddleware.from_crawler(crawler)

    return make


def request_of(middleware: ProxyMiddleware, url: str, **meta: Any) -> Request:
    account = next(iter(middleware.spider.sessions.sessions))
    return Request(url, meta={"session": account, **meta})


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9222/json", "https://localhost/", "http://[::1]:8000/"]
)
def test_loopback_is_asked_without_a_proxy(
    url: str, middleware_of: Callable[..., ProxyMiddleware]
) -> None:
    middleware = middleware_of(PROXIES=f"http://anna:{SECRET}@h:1")
    request = request_of(middleware, url, proxy="http://h:1")
    request.headers["Proxy-Authorization"] = "Basic eA=="
    assert middleware.covers(request.meta["session"])  # other hosts need a proxy
    assert run(middleware.process_request(request)) is None
    assert "Proxy-Authorization" not in request.headers
    assert request.meta["proxy"] is None


def test_an_address_that_the_platform_refuses_is_replaced_a_few_times(
    middleware_of: Callable[..., ProxyMiddleware],
) -> None:
    middleware = middleware_of(PROXIES=[f"http://h:{port}" for port in range(1, 9)])
    request = request_of(middleware, "https://www.xiaohongshu.com/")
    account = request.meta["session"]
    assert not middleware.blocked(request)  # it went through none of ours
    replaced = []
    while True:
        health = middleware.pool.choose(account)
        assert health
        request.meta.update(proxy_label=health.label, sent_at=time.time())
        if not middleware.blocked(request):
            break
        replaced.append(health.label)
    assert replaced == ["h:1", "h:2", "h:3"]


def test_the_only_address_is_not_replaced(
    middleware_of: Callable[..., ProxyMiddleware],
) -> None:
    middleware = middleware_of(PROXIES="http://h:1")
    request = request_of(middleware, "https://www.xiaohongshu.com/", proxy_label="h:1")
    request.meta["sent_at"] = time.time()
    assert not middleware.blocked(request)
