"""What the sandbox saw: the numbers behind ``GET /__sandbox__/stats``.

In flight means: the request was read and its last byte has not been handed to the socket yet. A
client that never has more than N requests open can therefore never make this number exceed N.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Any

_ID = re.compile(
    r"(?<=[/_-])(?:[0-9a-fA-F]{16,}|\d{4,}|(?=[A-Za-z]*\d)[0-9A-Za-z]{9,})(?=[/_.-]|$)"
)


@lru_cache(maxsize=8192)
def path_label(path: str) -> str:
    """*path* with its ids replaced by ``{id}``, so that equal questions are counted together.

    >>> path_label("/explore/68f4e9bf00000000009d945b")
    '/explore/{id}'
    """
    return _ID.sub("{id}", path)


class SessionCount:
    """What one account did: numbers since the last reset."""

    __slots__ = ("agents", "faults", "in_flight", "kinds", "most_in_flight", "requests")

    def __init__(self) -> None:
        self.requests = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.kinds: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.agents: set[str] = set()

    def as_dict(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "most_in_flight": self.most_in_flight,
            "as": dict(self.kinds),
            "faults": dict(self.faults),
            "user_agents": len(self.agents),
        }


class Counters:
    """Plain attributes; everything runs on one event loop."""

    def __init__(self) -> None:
        self.in_flight = 0
        self.media_in_flight = 0
        self.reset()

    def reset(self) -> None:
        """Zero everything but what is in flight at this moment."""
        self.requests = 0
        self.by_path: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.most_in_flight = self.in_flight
        self.most_in_flight_media = self.media_in_flight
        self.connections = 0
        self.bad_signatures: Counter[str] = Counter()
        self.media_requests = 0
        self.media_bytes = 0
        self.faults: Counter[str] = Counter()
        self.unknown_hosts: Counter[str] = Counter()
        self.internal_errors = 0
        self.sessions: dict[str, SessionCount] = {}
        self.mixed_connections = 0
        self._connections: dict[int, dict[str, str]] = {}

    def enter_session(
        self, platform: str, account: str, kind: str, agent: str, connection: int
    ) -> SessionCount:
        """A request of *account* begins on *connection* (any number that names it)."""
        count = self.sessions.setdefault(f"{platform}/{account}", SessionCount())
        count.requests += 1
        count.kinds[kind] += 1
        count.agents.add(agent)
        count.in_flight += 1
        count.most_in_flight = max(count.most_in_flight, count.in_flight)
        if kind != "guest":
            seen = self._connections.setdefault(connection, {})
            if seen.setdefault(platform, account) != account:
                self.mixed_connections += 1
                seen[platform] = account
        return count

    def forget_connection(self, connection: int) -> None:
        """The connection is closed; its number may be used again."""
        self._connections.pop(connection, None)

    def enter(self, label: str, media: bool) -> None:
        """A request begins."""
        self.requests += 1
        self.by_path[label] += 1
        self.in_flight += 1
        if self.in_flight > self.most_in_flight:
            self.most_in_flight = self.in_flight
        if media:
            self.media_requests += 1
            self.media_in_flight += 1
            if self.media_in_flight > self.most_in_flight_media:
                self.most_in_flight_media = self.media_in_flight

    def leave(self, media: bool) -> None:
        """A request ends; to be called before its last byte can reach the client."""
        self.in_flight -= 1
        if media:
            self.media_in_flight -= 1

    def bad_signature(self, reason: str) -> None:
        """A request failed a check; *reason* is a short word for the one who debugs."""
        self.bad_signatures[reason] += 1

    def as_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        return {
            "requests": self.requests,
            "by_path": dict(sorted(self.by_path.items())),
            "statuses": {str(status): n for status, n in sorted(self.statuses.items())},
            "in_flight": self.in_flight,
            "most_in_flight": self.most_in_flight,
            "most_in_flight_media": self.most_in_flight_media,
            "connections": self.connections,
            "bad_signatures": dict(self.bad_signatures),
            "media_requests": self.media_requests,
            "media_bytes": self.media_bytes,
            "faults": dict(self.faults),
            "unknown_hosts": dict(self.unknown_hosts),
            "sessions": {name: count.as_dict() for name, count in sorted(self.sessions.items())},
            "mixed_connections": self.mixed_connections,
            "internal_errors": self.internal_errors,
        }
