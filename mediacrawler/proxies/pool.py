"""Which session goes through which proxy, and how well each proxy does.

Pure logic with an injected clock: it opens no connection and knows neither Scrapy nor where
proxies come from. All times are Unix times in seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from mediacrawler.proxies import Proxy

SUSPICIONS = 3
"""So many failures in a row that may be the proxy's or the platform's are the proxy's."""
LAST_CHANCES = 3
"""Put aside so often without one answer in between, a proxy is not tried again."""
LONGEST_COOLDOWN = 3600.0  # seconds
EXPIRY_MARGIN = 2.0  # seconds: a request that is sent now needs the proxy for a moment


@dataclass(slots=True)
class Health:
    """A proxy and what is known of it.

    `label` is its ``host:port``, with ``#2`` where several share one. `owner` is the account of
    the session that it belongs to, None for those that are lent to whoever needs one.
    """

    proxy: Proxy
    label: str
    owner: str | None = None
    successes: int = 0
    failures: int = 0
    failures_in_a_row: int = 0
    times_aside: int = 0
    aside_until: float = 0.0
    dead: bool = False
    reason: str | None = None
    judged_at: float = 0.0

    def expired(self, now: float) -> bool:
        expires_at = self.proxy.expires_at
        return expires_at is not None and expires_at - EXPIRY_MARGIN <= now

    def usable(self, now: float) -> bool:
        return not self.dead and self.aside_until <= now and not self.expired(now)


class ProxyPool:
    """Gives each session a proxy of its own, and another one when that fails or expires.

    A session keeps its proxy as long as it works. The first unused one of the list comes next;
    only when there are fewer proxies than sessions do several share one. A proxy that fails is
    put aside for *cooldown* seconds, twice as long each time, until an answer comes through it.
    """

    def __init__(self, cooldown: float, now: Callable[[], float]) -> None:
        self._cooldown = cooldown
        self._now = now
        self._all: dict[str, Health] = {}
        self._assigned: dict[str, str] = {}  # account -> label

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, label: str) -> Health:
        return self._all[label]

    def add(self, proxies: Iterable[Proxy], owner: str | None = None) -> int:
        """Take in proxies; how many of them are usable and were not known before.

        A known one only has its expiry updated.
        """
        known = {(health.proxy, health.owner): health for health in self._all.values()}
        added = 0
        for proxy in proxies:
            health = known.get((proxy, owner))
            if health is not None:
                health.proxy = replace(health.proxy, expires_at=proxy.expires_at)
                continue
            fresh = Health(proxy, self._label(proxy), owner)
            if fresh.expired(self._now()):
                continue
            self._all[fresh.label] = known[proxy, owner] = fresh
            added += 1
        return added

    def _label(self, proxy: Proxy) -> str:
        label, number = proxy.name, 1
        while label in self._all:
            number += 1
            label = f"{proxy.name}#{number}"
        return label

    def owns(self, account: str) -> bool:
        """Whether a proxy belongs to the session of that account alone."""
        return any(health.owner == account for health in self._all.values())

    def lends(self) -> bool:
        """Whether there are proxies for sessions that have none of their own."""
        return any(health.owner is None for health in self._all.values())

    def choose(self, account: str) -> Health | None:
        """The proxy for the next request of a session; None where none is usable now."""
        self._forget_expired()
        current = self._current(account)
        if current is not None:
            return current
        used = Counter(self._assigned.values())
        best = min(
            self._usable(account),
            key=lambda health: (used[health.label], health.times_aside),
            default=None,
        )
        self._assigned.pop(account, None)
        if best is not None:
            self._assigned[account] = best.label
        return best

    def label_of(self, account: str) -> str | None:
        """The proxy that a session was given last."""
        return self._assigned.get(account)

    def wants_more(self, account: str) -> bool:
        """Whether a session has no proxy, and could only get one that others use, or none."""
        if self.owns(account) or self._current(account) is not None:
            return False
        used = set(self._assigned.values())
        return all(health.label in used for health in self._usable(account))

    def hopeless(self, account: str) -> bool:
        """Whether no proxy will ever work for a session, unless new ones are added."""
        now = self._now()
        return all(health.dead or health.expired(now) for health in self._for(account))

    def succeeded(self, label: str) -> None:
        """An answer came through this proxy."""
        health = self._all.get(label)
        if health is None:
            return
        health.successes += 1
        health.failures_in_a_row = health.times_aside = 0
        # What was on its way when it was put aside does not bring it back, but what is sent
        # through it later does.
        if health.aside_until <= self._now():
            health.reason = None

    def suspected(self, label: str, reason: str, sent_at: float) -> bool:
        """A request failed, and whose fault it is cannot be told: a timeout, a reset.

        True if the proxy is put aside now. Requests that were on their way at the last failure
        count as one with it.
        """
        health = self._all.get(label)
        if health is None or not self._counts(health, sent_at):
            return False
        health.failures += 1
        health.failures_in_a_row += 1
        health.judged_at = self._now()
        if health.failures_in_a_row < SUSPICIONS:
            return False
        self._put_aside(health, reason)
        return True

    def failed(self, label: str, reason: str, sent_at: float) -> bool:
        """The proxy itself failed: it cannot be reached. True if it is put aside now."""
        health = self._all.get(label)
        if health is None or not self._counts(health, sent_at):
            return False
        health.failures += 1
        health.failures_in_a_row += 1
        self._put_aside(health, reason)
        return True

    def refused(self, label: str, reason: str) -> bool:
        """The proxy does not accept our credentials. True if that is new; it stays aside."""
        health = self._all.get(label)
        if health is None or health.dead:
            return False
        health.failures += 1
        health.failures_in_a_row += 1
        health.reason = reason
        health.dead = True
        return True

    def state(self, account: str) -> str:
        """What is wrong with the proxies of a session: ``1.2.3.4:80 (connection refused), ...``."""
        now = self._now()
        parts = [
            f"{health.label} ({'expired' if health.expired(now) else health.reason})"
            for health in self._for(account)
            if not health.usable(now)
        ]
        shown = ", ".join(parts[:5])
        return f"{shown} and {len(parts) - 5} more" if len(parts) > 5 else shown

    def _put_aside(self, health: Health, reason: str) -> None:
        now = self._now()
        wait = min(LONGEST_COOLDOWN, self._cooldown * 2.0 ** min(health.times_aside, 30))
        health.times_aside += 1
        health.failures_in_a_row = 0
        health.aside_until = now + wait
        health.judged_at = now
        health.reason = reason
        health.dead = health.times_aside >= LAST_CHANCES

    def _counts(self, health: Health, sent_at: float) -> bool:
        return not health.dead and sent_at >= health.judged_at

    def _current(self, account: str) -> Health | None:
        health = self._all.get(self._assigned.get(account, ""))
        if health is None or not health.usable(self._now()):
            return None
        return health

    def _for(self, account: str) -> list[Health]:
        owner = account if self.owns(account) else None
        return [health for health in self._all.values() if health.owner == owner]

    def _usable(self, account: str) -> list[Health]:
        now = self._now()
        return [health for health in self._for(account) if health.usable(now)]

    def _forget_expired(self) -> None:
        """Pools of commercial providers hand out thousands of proxies in the life of a crawl."""
        now = self._now()
        for label, health in list(self._all.items()):
            if health.expired(now) and health.owner is None:
                del self._all[label]
