"""Misbehaviour on demand: which request is spoilt, and how.

The rules and the kinds that every platform shares. A platform adds kinds of its own
(``Platform.fault_kinds``); how a fault reaches the wire is the server's business.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from fnmatch import fnmatchcase
from typing import Any

from sandbox.core import Call, FaultKind, Platform, Reply, Visitor, html_reply, text_reply

WIRE_KINDS = {
    "reset": "the connection is reset; args after=BYTES sends that much of the answer first",
    "cut": "half of the body, whole and valid as HTTP (cut JSON); media: connection ends half-way",
    "short": "Content-Length promises the whole, the connection ends half-way",
    "slow": "the right answer, args seconds=5 later",
    "hang": "no answer until the client gives up",
    "no-range": "media: Range is ignored, 200 with everything",
}
"""Kinds that the server carries out itself."""


def _with_retry_after(value: Callable[[float], str]) -> FaultKind:
    def fault(_call: Call, args: Mapping[str, Any], _answer: Callable[[], Reply]) -> Reply:
        headers = [("Retry-After", value(float(args.get("seconds", 2))))]
        return text_reply("Too Many Requests", status=429, headers=headers)

    return fault


def _http_date(seconds: float) -> str:
    moment = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    return format_datetime(moment, usegmt=True)


def status_fault(status: int) -> FaultKind:
    """A bare HTTP status, as a gateway answers it."""

    def fault(_call: Call, _args: Mapping[str, Any], _answer: Callable[[], Reply]) -> Reply:
        return text_reply(f"{status}\n", status=status)

    return fault


CORE_KINDS: dict[str, FaultKind] = {
    "429-retry-after": _with_retry_after(lambda seconds: f"{seconds:g}"),
    "429-date": _with_retry_after(_http_date),
    "blank": lambda _call, _args, _answer: Reply(),
    "html": lambda _call, _args, _answer: html_reply(
        "<!doctype html><html><head><title>验证</title></head><body>请稍候…</body></html>"
    ),
}


def find_kind(kind: str, platform: Platform | None) -> FaultKind | str | None:
    """What *kind* (without ``media-``) does on *platform*: a function, the name of a wire kind, or
    ``None`` where it means nothing."""
    if platform is not None and kind in platform.fault_kinds:
        return platform.fault_kinds[kind]
    if kind in CORE_KINDS:
        return CORE_KINDS[kind]
    if kind in WIRE_KINDS:
        return kind
    if len(kind) == 3 and kind.isdigit() and 400 <= int(kind) <= 599:
        return status_fault(int(kind))
    return None


def is_known(kind: str, platforms: Iterable[Platform]) -> bool:
    """Whether at least one platform can be spoilt in this way."""
    name = kind.removeprefix("media-")
    return any(find_kind(name, platform) is not None for platform in (None, *platforms))


@dataclass
class Rule:
    """One fault that was asked for.

    :param kind: as in the tables of ``docs/sandbox.md``; the prefix ``media-`` makes it one for
        media only.
    :param path: prefix of the path, ``*`` for every one that is not media.
    :param host: exact host or a shell pattern; ``None`` for every one.
    :param times: for the next so many requests; ``None`` without end.
    :param rate: share of the requests, 0..1; ``None`` for each of them.
    :param session: only requests of this account (``member-2``, or its suffix ``2``) or of the
        session with this cookie value; ``None`` for every one.
    :param after: so many requests that the rule is for are left alone first.
    """

    kind: str
    path: str = "*"
    host: str | None = None
    times: int | None = None
    rate: float | None = None
    session: str | None = None
    after: int = 0
    args: Mapping[str, Any] = field(default_factory=dict)
    dice: random.Random = field(default_factory=random.Random, repr=False)

    @property
    def for_media(self) -> bool:
        return self.kind.startswith("media-")

    @property
    def name(self) -> str:
        return self.kind.removeprefix("media-")

    def hits(self, call: Call, media: bool, visitor: Visitor | None = None) -> bool:
        """Whether this request is spoilt; draws the dice and counts down."""
        if self.times == 0 or not self._concerns(call, media):
            return False
        if self.session is not None and not _is_of(visitor, self.session):
            return False
        if self.after > 0:
            self.after -= 1
            return False
        if self.rate is not None and self.dice.random() >= self.rate:
            return False
        if self.times is not None:
            self.times -= 1
        return True

    def spare(self) -> None:
        """Take a hit back: the kind left the request alone."""
        if self.times is not None:
            self.times += 1

    def _concerns(self, call: Call, media: bool) -> bool:
        if self.for_media and not media:
            return False
        if media and not self.for_media and self.path == "*" and self.host is None:
            return False
        if self.host is not None and not fnmatchcase(call.host, self.host):
            return False
        return self.path == "*" or call.path.startswith(self.path)

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "path": self.path,
            "host": self.host,
            "times": self.times,
            "rate": self.rate,
            "session": self.session,
            "after": self.after,
            "args": dict(self.args),
        }


def _is_of(visitor: Visitor | None, session: str) -> bool:
    if visitor is None:
        return False
    suffix = visitor.account.partition("-")[2]
    return session in (visitor.account, visitor.value) or (suffix != "" and session == suffix)


class Faults:
    """The rules in force, in the order in which they were given; the first that hits wins."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rules: list[Rule] = []

    def add(
        self,
        kind: str,
        *,
        path: str = "*",
        host: str | None = None,
        times: int | None = None,
        rate: float | None = None,
        session: str | None = None,
        after: int = 0,
        args: Mapping[str, Any] | None = None,
    ) -> Rule:
        """Add one rule; its dice depend on the seed and the rule alone."""
        mark = "" if session is None else f":{session}"
        dice = random.Random(f"{self.seed}:{kind}:{path}:{host}{mark}")
        rule = Rule(kind, path, host, times, rate, session, after, args or {}, dice)
        self.rules.append(rule)
        return rule

    def clear(self) -> None:
        self.rules.clear()

    def pick(
        self, call: Call, media: bool, platform: Platform, visitor: Visitor | None = None
    ) -> Rule | None:
        """The rule that spoils this request, if any; kinds foreign to *platform* pass it by."""
        for rule in self.rules:
            if find_kind(rule.name, platform) is not None and rule.hits(call, media, visitor):
                return rule
        return None


def parse_fault(text: str) -> dict[str, Any]:
    """``KIND=RATE`` or ``KIND@PATH=RATE`` of the command line; ``ValueError`` says what is wrong.

    >>> parse_fault("429@/api/sns/web/v1/feed=0.1")
    {'kind': '429', 'path': '/api/sns/web/v1/feed', 'rate': 0.1}
    """
    what, equals, rate_text = text.rpartition("=")
    if not equals:
        raise ValueError(f"{text!r}: write KIND=RATE, for example 429=0.1")
    try:
        rate = float(rate_text)
    except ValueError:
        raise ValueError(f"{text!r}: {rate_text!r} is not a number") from None
    if not 0 <= rate <= 1:
        raise ValueError(f"{text!r}: the rate must lie between 0 and 1")
    kind, _, path = what.partition("@")
    return {"kind": kind, "path": path or "*", "rate": rate}
