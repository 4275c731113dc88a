"""The contract between the server and a platform, in plain data.

Nothing here knows HTTP libraries, sockets or any particular platform.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, ClassVar, NamedTuple, Protocol
from urllib.parse import parse_qsl, unquote_plus

from sandbox.counters import Counters

PLATFORMS = ("xhs", "bilibili", "douyin", "kuaishou", "weibo", "tieba", "zhihu")
"""Modules of this package that hold a ``PLATFORM`` class; one that does not exist is left out."""

WORLD_NOW = datetime(2026, 11, 30, 4, 0, tzinfo=timezone.utc)
"""The moment in which every world stands still (12:00 in Beijing). Fixed, because the same seed
has to be the same world tomorrow; ``--now`` moves it."""

BEIJING = timezone(timedelta(hours=8))

Json = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """What the command line decides; the same values give the same world.

    :param seed: of the world and of the dice that faults are drawn with.
    :param posts: posts per keyword.
    :param latency: seconds that every answer takes (control endpoints excepted).
    :param verify: check signatures; off with ``--no-verify``.
    :param strict_replay: refuse the same signature for the same request a second time.
    :param media_size: smallest and largest size of a video in bytes.
    :param media_rate: bytes per second and connection for media; 0 is as fast as possible.
    :param url_ttl: seconds that a signed media address stays good.
    :param now: the world's present, aware.
    :param switches: platform matters, ``{"xhs.rap": "off"}``; read with :meth:`switch`.
    """

    seed: int = 1
    posts: int = 60
    latency: float = 0.0
    verify: bool = True
    strict_replay: bool = False
    media_size: tuple[int, int] = (300_000, 1_500_000)
    media_rate: int = 0
    url_ttl: int = 24 * 3600
    now: datetime = WORLD_NOW
    switches: Mapping[str, str] = field(default_factory=dict)

    def switch(self, name: str, default: str) -> str:
        """The value of ``-o NAME=VALUE``, or *default*."""
        return self.switches.get(name, default)


class Call:
    """One request as it arrived.

    :ivar method: upper case.
    :ivar host: lower case, without port.
    :ivar target: the raw request target (path and query, not decoded; undecodable bytes are
        surrogate-escaped, so ``target.encode("utf-8", "surrogateescape")`` is what was sent).
    :ivar path: the raw target before ``?``.
    :ivar query: the raw target after the first ``?``, ``""`` without one.
    :ivar headers: case-insensitive mapping.
    :ivar body: the bytes of the body.
    :ivar scheme: ``"http"`` or ``"https"``: how the client came to the sandbox.
    """

    __slots__ = (
        "_cookies",
        "_params",
        "body",
        "headers",
        "host",
        "method",
        "path",
        "query",
        "scheme",
        "target",
    )

    def __init__(
        self,
        method: str,
        host: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        scheme: str = "http",
    ) -> None:
        self.method = method
        self.host = host
        self.target = target
        self.path, _, self.query = target.partition("?")
        self.headers = headers
        self.body = body
        self.scheme = scheme
        self._cookies: dict[str, str] | None = None
        self._params: dict[str, str] | None = None

    @property
    def params(self) -> dict[str, str]:
        """Query parameters, decoded; of several with one name the last."""
        if self._params is None:
            self._params = _parse_query(self.query)
        return self._params

    @property
    def cookies(self) -> dict[str, str]:
        """Cookies by name, values as sent (a value may hold ``=``, quotes, braces)."""
        if self._cookies is None:
            self._cookies = parse_cookies(self.headers.get("cookie", ""))
        return self._cookies

    def json(self) -> Any:
        """The body as JSON, ``None`` if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    def form(self) -> dict[str, str]:
        """The body as ``application/x-www-form-urlencoded``."""
        return dict(parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True))


def _parse_query(query: str) -> dict[str, str]:
    """What ``parse_qsl`` gives, quicker for the many values that need no decoding."""
    found: dict[str, str] = {}
    for part in query.split("&"):
        if part:
            name, _, value = part.partition("=")
            if "%" in part or "+" in part:
                name, value = unquote_plus(name), unquote_plus(value)
            found[name] = value
    return found


def whole_number(value: Any, default: int) -> int:
    """An int from JSON or a query; *default* for anything else."""
    try:
        return int(value)
    except (TypeError, ValueError):
        return default


def parse_cookies(header: str) -> dict[str, str]:
    """Split a Cookie header by hand: ``http.cookies`` stops at the first raw JSON value."""
    found: dict[str, str] = {}
    for part in header.split(";"):
        name, equals, value = part.strip().partition("=")
        if equals:
            found.setdefault(name, value)
    return found


class Blob(Protocol):
    """A file that is computed instead of stored (:mod:`sandbox.media`)."""

    size: int
    content_type: str
    etag: str

    def read(self, offset: int, length: int) -> bytes:
        """Exactly the bytes ``[offset, offset + length)``, fewer only at the end."""
        ...

    def sha256(self) -> str:
        """Hex digest of the whole file."""
        ...


@dataclass
class Reply:
    """An answer. With *blob* the server serves it (HEAD, Range, ETag, throttling) and fills in
    status, type and length itself; *headers* are added in any case, repeated names allowed."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json; charset=utf-8"
    headers: Sequence[tuple[str, str]] = ()
    blob: Blob | None = None


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)


def json_reply(value: Any, *, status: int = 200, headers: Sequence[tuple[str, str]] = ()) -> Reply:
    """*value* as compact JSON, non-ASCII left as it is."""
    return Reply(status, _COMPACT.encode(value).encode("utf-8"), headers=headers)


def html_reply(text: str, *, status: int = 200, headers: Sequence[tuple[str, str]] = ()) -> Reply:
    """*text* as an HTML page."""
    return Reply(status, text.encode("utf-8"), "text/html; charset=utf-8", headers)


def text_reply(text: str, *, status: int = 200, headers: Sequence[tuple[str, str]] = ()) -> Reply:
    """*text* as plain text."""
    return Reply(status, text.encode("utf-8"), "text/plain; charset=utf-8", headers)


def file_reply(blob: Blob | None) -> Reply:
    """A file, or 404 where there is none."""
    return text_reply("404 Not Found", status=404) if blob is None else Reply(blob=blob)


def allow_origin(origin: str) -> list[tuple[str, str]]:
    """The headers by which pages of *origin* may read an answer that comes from another host."""
    return [
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Allow-Credentials", "true"),
        ("Vary", "Origin"),
    ]


def preflight_reply(headers: str, *, max_age: int) -> Reply:
    """The answer to a browser that asks whether it may send *headers*; it holds *max_age* s."""
    allowed = [("Access-Control-Allow-Headers", headers)] if headers else []
    methods = ("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
    return Reply(204, headers=[*allowed, methods, ("Access-Control-Max-Age", str(max_age))])


def redirect(location: str, *, status: int = 302) -> Reply:
    """A redirect whose body carries the address as an anchor, the way gateways write it."""
    escaped = location.replace("&", "&amp;").replace('"', "&quot;")
    body = f'<a href="{escaped}">Found</a>.\n'.encode()
    return Reply(status, body, "text/html; charset=utf-8", (("Location", location),))


Args = Mapping[str, Any]
Answer = Callable[[], Reply]
FaultKind = Callable[[Call, Args, Answer], "Reply | None"]
"""``(call, args, answer) -> Reply``: *args* come from the control endpoint, *answer()* gives what
the platform would have said, for faults that spoil a good answer instead of replacing it. ``None``
leaves the request alone, as if the rule had not hit it."""

Action = Callable[[Mapping[str, Any]], Any]
"""``(arguments) -> anything JSON``: something a test can make happen at once; raises
:class:`ControlError` with one line for arguments that make no sense."""


class ControlError(Exception):
    """What was asked of a control endpoint cannot be done; ``str()`` says why."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Visitor(NamedTuple):
    """Who sent a request: the *account* (``member-2``), what its session is worth at this moment
    (*kind*: ``member``, ``guest``, ``expired``, ...) and the *value* of the cookie that says so."""

    account: str
    kind: str
    value: str


class Platform:
    """One platform: its hosts and what they answer. See the package's docstring for an example.

    :cvar name: the platform's short name, also the module's.
    :cvar hosts: exact host names, or ``*.suffix``.
    :cvar fault_kinds: kinds beside those of the core (:mod:`sandbox.faults`); same name wins.
    """

    name: ClassVar[str] = ""
    hosts: ClassVar[tuple[str, ...]] = ()
    fault_kinds: Mapping[str, FaultKind] = {}
    actions: Mapping[str, Action] = {}

    def __init__(self, options: Options, counters: Counters) -> None:
        self.options = options
        self.counters = counters

    def respond(self, call: Call) -> Reply:
        """Answer one call. Runs on the event loop: must be quick and must not block."""
        raise NotImplementedError

    def is_media(self, call: Call) -> bool:
        """Whether *call* asks for a file. Counted apart; ordinary faults leave it alone."""
        return False

    def who(self, call: Call) -> Visitor | None:
        """Who sends *call*; ``None`` without a session. Must not raise."""
        return None

    def dress(self, call: Call, reply: Reply) -> Reply:
        """The last touch to every answer, spoilt ones included: headers for other origins."""
        return reply

    def cookies(self, kind: str) -> dict[str, str] | None:
        """Ready cookies of a session of *kind* (``member``, ``guest``, ``expired``, ...);
        ``None`` for a kind that the platform does not know."""
        return None

    def describe(self) -> Mapping[str, Any]:
        """What ``GET /__sandbox__/`` says about this platform: fixed ids, kinds of cookies."""
        return {}


def load_platforms(
    options: Options, counters: Counters, only: Sequence[str] = PLATFORMS
) -> list[Platform]:
    """Every platform of *only* whose module exists, ready to answer."""
    return [platform(options, counters) for platform in platform_classes(only)]


def platform_classes(only: Sequence[str] = PLATFORMS) -> Iterator[type[Platform]]:
    """The classes behind the names in *only*; a name without a finished module is left out."""
    for name in only:
        module = f"sandbox.{name}"
        try:
            loaded = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            continue
        platform = getattr(loaded, "PLATFORM", None)
        if platform is not None:
            yield platform
