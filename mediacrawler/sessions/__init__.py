"""Whose requests a crawl sends: sessions, and how work is spread over them.

A session is one account on one platform with the cookies, user agent and proxy that belong
together. Plain Python: nothing here knows Scrapy, a browser or files (``store.py`` does).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from mediacrawler.cookies import Cookie

State = Literal["new", "ok", "captcha", "flagged", "expired", "rate_limited", "guest"]
"""What was last known of a session: never checked, good, or why it was put aside."""


@dataclass(slots=True)
class Session:
    """An account with what belongs to it. Cookies and proxy are secrets: never log them.

    `storage` is Playwright's storage state beyond cookies (localStorage by origin), kept as it
    was found. `cool_until` is an aware UTC time until which the session must rest.
    """

    platform: str
    account: str
    cookies: list[Cookie] = field(default_factory=list, repr=False)
    user_agent: str | None = None
    proxy: str | None = field(default=None, repr=False)
    storage: list[dict[str, Any]] = field(default_factory=list, repr=False)
    state: State = "new"
    reason: str | None = None
    logged_in_at: datetime | None = None
    can: set[str] = field(default_factory=set)
    """What this session may do that others may not, in the platform's words; not stored."""
    checked_at: datetime | None = None
    cool_until: datetime | None = None
    held: bool = False
    """Its requests wait, because it is being mended just now; not stored."""

    @property
    def slot(self) -> str:
        """The name of its download slot, cookie jar and browser context."""
        return f"{self.platform}/{self.account}"

    def usable(self, now: datetime) -> bool:
        """Whether it may be used: not resting, and not known to be without a login."""
        if self.cool_until is not None and self.cool_until > now:
            return False
        return self.state != "expired"


class SessionPool:
    """The sessions of a crawl: who sends the next request, and who has been put aside.

    Requests that belong together (the pages of a list, a post and its comments) stay with one
    session as long as it is usable; others go to the usable session with the least to do.
    """

    def __init__(self, sessions: Iterable[Session], now: Callable[[], datetime]) -> None:
        self.sessions = {session.account: session for session in sessions}
        self._now = now
        self._busy: Counter[str] = Counter()
        self._sent: Counter[str] = Counter()

    def usable(self) -> list[Session]:
        """The sessions that may send requests now."""
        now = self._now()
        return [session for session in self.sessions.values() if session.usable(now)]

    def choose(self, bound_to: str | None, needs: str | None = None) -> Session | None:
        """The session for a request that is *bound_to* an account, or to none yet.

        *needs* names what the session must be able to do, if any is. None where no session is
        usable.
        """
        usable = self.usable()
        usable = [session for session in usable if needs in session.can] or usable
        for session in usable:
            if session.account == bound_to:
                return session
        return min(usable, key=self._load, default=None)

    def _load(self, session: Session) -> tuple[bool, int, int]:
        """Whether a session has to wait, what it has to do now, and what it has done so far."""
        return session.held, self._busy[session.account], self._sent[session.account]

    def is_usable(self, account: str) -> bool:
        """Whether that account may send requests now."""
        return self.sessions[account].usable(self._now())

    def is_held(self, account: str) -> bool:
        """Whether its requests have to wait."""
        return self.sessions[account].held

    def started(self, session: Session) -> None:
        """A request of *session* is on its way."""
        self._busy[session.account] += 1
        self._sent[session.account] += 1

    def finished(self, account: str) -> None:
        """A request of that account has its answer, or none."""
        self._busy[account] -= 1

    def put_aside(self, account: str, state: State, reason: str, seconds: float) -> Session:
        """Rest a session for *seconds*; an expired one until somebody logs in again."""
        session = self.sessions[account]
        session.state = state
        session.reason = reason
        session.cool_until = self._now() + timedelta(seconds=seconds)
        return session
