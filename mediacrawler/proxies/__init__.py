"""Proxies: what one is, and how the lines that name them are read.

Plain Python: nothing here knows Scrapy or opens a connection. User names and passwords are
secrets: no message of this room contains them, nor the raw text they were read from.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import quote, unquote

from mediacrawler.exceptions import UsageProblem

Scheme = Literal["http", "https", "socks5"]

DEFAULT_PORTS: dict[str, int] = {"http": 80, "https": 443, "socks5": 1080}
SOCKS_LONGEST = 255
"""Bytes of a user name or password that SOCKS5 can carry (RFC 1929)."""

_HOST = re.compile(r"[\w.-]+|\[[0-9a-fA-F:.]+\]")
_MILLISECONDS = 100_000_000_000
"""Unix times above this are milliseconds: in seconds it would be the year 5138."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy. Its `username` and `password` are secrets, `name` and `url` are not.

    `expires_at` is a Unix time in seconds, None if it does not expire. Two proxies are equal when
    address and credentials are.
    """

    scheme: Scheme
    host: str
    port: int
    username: str | None = field(default=None, repr=False)
    password: str = field(default="", repr=False)
    expires_at: float | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """``host:port``, for logs and reports."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The address without credentials."""
        return f"{self.scheme}://{self.name}"

    @property
    def authorization(self) -> bytes | None:
        """The value of a Proxy-Authorization header, None without credentials."""
        if self.username is None:
            return None
        return b"Basic " + base64.b64encode(f"{self.username}:{self.password}".encode())

    @property
    def secret_url(self) -> str:
        """The address with credentials, percent-encoded: never for logs."""
        if self.username is None:
            return self.url
        userinfo = f"{quote(self.username, safe='')}:{quote(self.password, safe='')}"
        return f"{self.scheme}://{userinfo}@{self.name}"


def parse_proxy(text: str) -> Proxy:
    """Read ``[scheme://][user:password@]host[:port]`` or ``host:port:user:password``.

    The scheme is http, https, socks5 or socks5h (both let the proxy resolve names), http if none
    is given. User name and password may be percent-encoded.

    :raises ValueError: says what is wrong, without any part of *text* that may be secret.
    """
    scheme, rest = _split_scheme(text.strip())
    userinfo, at, address = rest.rpartition("@")
    address = re.split(r"[/?#]", address, maxsplit=1)[0]
    username: str | None = None
    password = ""
    if at:
        username, _, password = (unquote(part) for part in userinfo.partition(":"))
    elif address.count(":") >= 3 and not address.startswith("["):
        host, port, username, password = address.split(":", 3)
        address = f"{host}:{port}"
    host, port = _split_port(address, DEFAULT_PORTS[scheme])
    return make_proxy(scheme, host, port, username or None, password)


def make_proxy(
    scheme: str, host: str, port: object, username: str | None = None, password: str = ""
) -> Proxy:
    """A proxy from its parts, checked.

    :raises ValueError: as :func:`parse_proxy`.
    """
    if not _HOST.fullmatch(host):
        raise ValueError("it has no host name")
    try:
        number = int(str(port))
    except ValueError:
        number = 0
    if not 1 <= number <= 65535:
        raise ValueError("the port must be a number from 1 to 65535")
    known = _known_scheme(scheme)
    if known == "socks5" and any(
        len(part.encode()) > SOCKS_LONGEST for part in (username or "", password)
    ):
        raise ValueError(f"SOCKS5 has no user names or passwords above {SOCKS_LONGEST} bytes")
    return Proxy(known, host.strip("[]").lower(), number, username, password)


def read_line(line: str, now: float) -> Proxy:
    """Read a line of a list: a proxy as text, or a JSON object.

    The object has ``url``, or ``host`` (``ip``), ``port``, ``username`` (``user``), ``password``
    (``pass``) and ``scheme`` (``protocol``); and, where the proxy expires, ``expires_at`` (ISO
    8601, UTC if it does not say, or Unix time) or ``ttl`` (seconds from *now*).

    :raises ValueError: as :func:`parse_proxy`.
    """
    if not line.lstrip().startswith(("{", '"')):
        return parse_proxy(line)
    try:
        value = json.loads(line)
    except ValueError:
        raise ValueError("it is no valid JSON") from None
    return read_object(value, now)


def read_object(value: Any, now: float) -> Proxy:
    """Read the decoded JSON of :func:`read_line`.

    :raises ValueError: as :func:`parse_proxy`.
    """
    if isinstance(value, str):
        return parse_proxy(value)
    if not isinstance(value, dict):
        raise ValueError("it is neither a text nor a JSON object")
    url = _first(value, "url", "proxy")
    if url is not None:
        proxy = parse_proxy(str(url))
    else:
        proxy = make_proxy(
            str(_first(value, "scheme", "protocol") or "http").lower(),
            str(_first(value, "host", "ip") or ""),
            _first(value, "port"),
        )
    username = _first(value, "username", "user")
    if username is not None:
        password = str(_first(value, "password", "pass") or "")
        proxy = make_proxy(proxy.scheme, proxy.host, proxy.port, str(username) or None, password)
    return replace(proxy, expires_at=_expiry(value, now))


def read_list(text: str, now: float) -> tuple[list[Proxy], list[str]]:
    """Read a list of proxies: lines (text or JSON; blank ones and ``#`` are left out), or a
    JSON array.

    Gives the proxies without repetitions, and a problem for each line that is none, such as
    ``line 3: the port must be ...``.
    """
    entries: Iterable[tuple[int, Any]]
    read: Callable[[Any, float], Proxy]
    if text.lstrip().startswith("["):
        try:
            array = json.loads(text)
        except ValueError:
            return [], ["line 1: it is no valid JSON"]
        entries = enumerate(array if isinstance(array, list) else [], start=1)
        read = read_object
    else:
        entries = enumerate(text.splitlines(), start=1)
        read = read_line
    proxies: dict[Proxy, None] = {}
    problems = []
    for number, entry in entries:
        if isinstance(entry, str) and (not entry.strip() or entry.lstrip().startswith("#")):
            continue
        try:
            proxies[read(entry, now)] = None
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    return list(proxies), problems


def read_setting(value: Any, now: float) -> list[Proxy]:
    """The proxies of the setting PROXIES: a list, text separated by commas or lines, or
    ``@file``.

    :raises UsageProblem: a line is no proxy, or the file cannot be read.
    """
    if not value:
        return []
    where = "PROXIES"
    if isinstance(value, str) and value.startswith("@"):
        path = Path(value[1:]).expanduser()
        where = f"PROXIES, {path}"
        try:
            text = path.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise UsageProblem(f"{where}: cannot be read: {reason}") from None
    elif isinstance(value, str):
        text = value if value.lstrip().startswith(("{", "[")) else value.replace(",", "\n")
    else:
        text = "\n".join(str(entry) for entry in value)
    proxies, problems = read_list(text, now)
    if problems:
        raise UsageProblem(f"{where}, {problems[0]}")
    return proxies


def is_loopback(host: str | None) -> bool:
    """Whether a host name is this very machine, which is never asked through a proxy."""
    if not host:
        return False
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _split_scheme(text: str) -> tuple[str, str]:
    scheme, separator, rest = text.partition("://")
    if not separator:
        return "http", text
    return _known_scheme(scheme.lower()), rest


def _known_scheme(scheme: str) -> Scheme:
    if scheme == "socks5h":
        return "socks5"
    if scheme not in DEFAULT_PORTS:
        raise ValueError("the scheme must be http, https, socks5 or socks5h")
    return cast("Scheme", scheme)


def _split_port(address: str, default: int) -> tuple[str, str]:
    if address.endswith("]"):
        return address, str(default)
    host, colon, port = address.rpartition(":")
    return (host, port) if colon else (address, str(default))


def _first(value: dict[str, Any], *names: str) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _expiry(value: dict[str, Any], now: float) -> float | None:
    at, ttl = _first(value, "expires_at"), _first(value, "ttl")
    try:
        if at is None:
            return None if ttl is None else now + float(ttl)
        return _unix_time(at)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("expires_at or ttl is not a time") from None


def _unix_time(value: Any) -> float:
    try:
        seconds = float(value)
    except ValueError:
        moment = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
        return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
    return seconds / 1000 if seconds > _MILLISECONDS else seconds
