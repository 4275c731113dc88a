"""What the servers of all platforms are made of: :class:`Site`, and addresses that expire.

Nothing here knows a platform or a world.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from sandbox.core import Action, Call, Json, Platform, Reply
from sandbox.logins import Accounts
from sandbox.worlds import digest


class Addresses:
    """Signed addresses of files: they expire.

    :param seed: of the world.
    :param ttl: seconds that an address stays good.
    :ivar generation: how often :meth:`expire` was called.
    """

    def __init__(self, seed: int, ttl: int) -> None:
        self.ttl = ttl
        self.generation = 0
        self._seed = seed

    def expire(self) -> None:
        """Make every address handed out so far answer 403."""
        self.generation += 1


class DatedAddresses(Addresses):
    """Addresses that tell until when they are good, beside a seal.

    :cvar seal_name: of the dice that make a seal.
    :cvar seal_size: bytes of a seal, which is written in hex.
    """

    seal_name: ClassVar[str]
    seal_size: ClassVar[int] = 16

    def is_good(self, what: str, until: str, seal: str | None) -> bool:
        """Whether *until* and *seal* were handed out for *what* and have not been outlived."""
        if not until.isdecimal() or int(until) < time.time():
            return False
        return seal == self._seal(what, int(until))

    def _until(self) -> int:
        """Unix seconds at which an address ends that is handed out now."""
        return int(time.time()) + self.ttl

    def _seal(self, what: str, until: int) -> str:
        parts = (self.seal_name, self._seed, self.generation, what, until)
        return digest(*parts, size=self.seal_size).hex()


class Site(Platform):
    """A platform whose hosts each have an answer of their own; all other hosts have files.

    A platform sets the class variable, and the instance variables before it answers.

    :cvar session_cookie: the cookie whose value is a session.
    :ivar addresses: of its files.
    :ivar accounts: whose sessions there are.
    """

    session_cookie: ClassVar[str]
    addresses: Addresses
    accounts: Accounts
    _hosts: Mapping[str, Callable[[Call], Reply]]

    def is_media(self, call: Call) -> bool:
        return call.host not in self._hosts

    def respond(self, call: Call) -> Reply:
        answer = self._hosts.get(call.host)
        if answer is not None:
            return answer(call)
        if call.method not in ("GET", "HEAD"):
            return Reply(405, content_type="text/plain")
        return self._file(call)

    def _file(self, call: Call) -> Reply:
        """The file that a GET or HEAD asks for."""
        raise NotImplementedError

    def _shared_actions(self) -> dict[str, Action]:
        """The control actions that every site has beside those of its accounts and logins."""
        return {"expire-media": self._expire_media, "set-session": self._set_session}

    def _expire_media(self, _arguments: Mapping[str, Any]) -> Json:
        """Every signed address handed out so far answers 403 from now on."""
        self.addresses.expire()
        return {"generation": self.addresses.generation}

    def _set_session(self, arguments: Mapping[str, Any]) -> Json:
        """``{"<the cookie>": "...", "kind": "expired"}``: what a session is from now on."""
        value = str(arguments[self.session_cookie])
        self.accounts.kinds[value] = str(arguments.get("kind", "expired"))
        return {"sessions": self.accounts.kinds}
