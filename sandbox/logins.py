"""Accounts, their sessions and the QR codes that open them: what all platforms' logins share.

Knows no platform and no HTTP: a platform says how its cookie is made, and answers with what stands
here. The other half of a QR login, the phone in somebody's hand, is played by control actions.
"""

from __future__ import annotations

import base64
import io
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.core import Action, ControlError, Json, Options
from sandbox.worlds import digest

ACCOUNT = re.compile(r"member(?:-[0-9A-Za-z_.]{1,40})?")
FIRST_ACCOUNT = "member-1"
_KNOWN_AHEAD = 40  # accounts whose sessions have names before anybody asked for their cookies


class Accounts:
    """Whose a session is, and what has become of it.

    :param make: ``(account, n) -> value`` of the cookie that is the account's session number *n*;
        0 is the one that the control endpoint hands out, each login makes the next.
    :param one_session: a login ends the account's sessions of before.
    """

    def __init__(self, make: Callable[[str, int], str], *, one_session: bool = False) -> None:
        self._make = make
        self._one_session = one_session
        self._newest: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self.kinds: dict[str, str] = {}
        """What a session (by value) was made by an action or by a later login: ``expired``, ..."""
        self.ended: set[str] = set()
        """Accounts whose expired session cannot be renewed silently any more."""
        for account in ("member", *(f"member-{n}" for n in range(_KNOWN_AHEAD + 1))):
            self._names[make(account, 0)] = account

    def current(self, account: str) -> str:
        """The newest session of *account*, which may be of any kind (``guest-2``)."""
        value = self._make(account, self._newest.get(account, 0))
        self._names[value] = account
        return value

    def open(self, account: str) -> str:
        """Log *account* in: the value of a new session."""
        if self._one_session:
            self.kinds[self.current(account)] = "expired"
        self._newest[account] = self._newest.get(account, 0) + 1
        self.ended.discard(account)
        return self.current(account)

    def name_of(self, value: str) -> str:
        """The account behind a session; a short mark for a session that nobody handed out."""
        return self._names.get(value) or f"?{digest('session', value, size=3).hex()}"

    def identity(self, value: str) -> str:
        """The same text for every session of one account."""
        account = self._names.get(value)
        return value if account is None else self._make(account, 0)

    def verified(self, value: str) -> None:
        """A person has shown to be one: a flagged session is good again."""
        if self.kinds.get(value) == "flagged":
            del self.kinds[value]

    def actions(self) -> dict[str, Action]:
        """The control actions about sessions."""
        return {
            "expire-session": lambda arguments: self._become(arguments, "expired"),
            "flag-session": lambda arguments: self._become(arguments, "flagged"),
            "restore-session": lambda arguments: self._become(arguments, None),
        }

    def _become(self, arguments: Mapping[str, Any], kind: str | None) -> Json:
        """``{"session": "member-2"}`` (or the value of its cookie); with ``for_good`` an expired
        session cannot be renewed either."""
        wanted = arguments.get("session")
        if not isinstance(wanted, str) or not wanted:
            raise ControlError('say which: {"session": "member-2"}, or the value of its cookie')
        value = wanted
        if wanted not in self._names and ACCOUNT.fullmatch(wanted):
            value = self.current(wanted)
        if arguments.get("for_good"):
            self.ended.add(self.name_of(value))
        if kind is None:
            self.kinds.pop(value, None)
            self.ended.discard(self.name_of(value))
        else:
            self.kinds[value] = kind
        return {"session": self.name_of(value), "kind": kind or "restored"}


@dataclass
class QrCode:
    """A code on somebody's screen.

    :ivar id: what the page polls with.
    :ivar url: what the picture says.
    :ivar state: ``new``, ``scanned``, ``confirmed``, ``expired`` or ``refused``.
    :ivar account: who confirmed it.
    :ivar session: the session that this opened.
    """

    id: str
    url: str
    ends: float
    state: str = "new"
    account: str = ""
    session: str = ""


class QrDesk:
    """Hands out QR codes, and plays the phone.

    :param name: the platform's; the switch ``-o NAME.qr_ttl=SECONDS`` shortens a code's life.
    :param ttl: seconds that a code lives.
    :param address: the text in the picture for a code's id.
    """

    def __init__(
        self,
        name: str,
        options: Options,
        accounts: Accounts,
        *,
        ttl: float,
        address: Callable[[str], str],
        id_of: Callable[[str], str] = lambda mark: mark,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._seed = options.seed
        self._ttl = float(options.switch(f"{name}.qr_ttl", str(ttl)))
        self._accounts = accounts
        self._address = address
        self._id_of = id_of
        self._clock = clock
        self._codes: dict[str, QrCode] = {}

    def issue(self) -> QrCode:
        """A new code; those of before stay good until they end by themselves."""
        mark = digest("qr", self._name, self._seed, len(self._codes)).hex()
        code_id = self._id_of(mark)
        code = QrCode(code_id, self._address(code_id), self._clock() + self._ttl)
        self._codes[code_id] = code
        return code

    def find(self, code_id: str) -> QrCode | None:
        """The code with its state as it is now."""
        code = self._codes.get(code_id)
        if code is not None and code.state in ("new", "scanned") and self._clock() >= code.ends:
            code.state = "expired"
        return code

    def actions(self) -> dict[str, Action]:
        """The phone: each for the newest code, or for ``id`` or ``url`` (what a scan reads)."""
        return {
            "qr-codes": lambda _arguments: [_told(self.find(i)) for i in self._codes],
            "scan": self._scan,
            "confirm": self._confirm,
            "refuse": lambda arguments: self._end(arguments, "refused"),
            "expire-qr": lambda arguments: self._end(arguments, "expired"),
        }

    def _wanted(self, arguments: Mapping[str, Any]) -> QrCode:
        code_id, url = arguments.get("id"), arguments.get("url")
        if url is not None:
            matching = [code for code in self._codes.values() if code.url == url]
            code_id = matching[-1].id if matching else ""
        elif code_id is None:
            code_id = next(reversed(self._codes), "")
        code = self.find(str(code_id))
        if code is None:
            raise ControlError(f"{self._name} shows no such QR code", 404)
        return code

    def _scan(self, arguments: Mapping[str, Any]) -> Json:
        code = self._wanted(arguments)
        if code.state != "new":
            raise ControlError(f"the code is {code.state}", 409)
        code.state = "scanned"
        return _told(code)

    def _confirm(self, arguments: Mapping[str, Any]) -> Json:
        """``{"account": "member-2"}`` says whose phone it is."""
        account = account_named(arguments)
        code = self._wanted(arguments)
        if code.state not in ("new", "scanned"):
            raise ControlError(f"the code is {code.state}", 409)
        code.state, code.account = "confirmed", account
        code.session = self._accounts.open(account)
        return _told(code)

    def _end(self, arguments: Mapping[str, Any], state: str) -> Json:
        code = self._wanted(arguments)
        if code.state == "confirmed":
            raise ControlError("the code is confirmed", 409)
        code.state = state
        return _told(code)


def account_named(arguments: Mapping[str, Any]) -> str:
    """The account in the arguments of an action; the first one if they name none.

    :raises ControlError: for a name that is no member's.
    """
    account = str(arguments.get("account", FIRST_ACCOUNT))
    if not ACCOUNT.fullmatch(account):
        raise ControlError(f"an account is called member, member-1, member-2, ...: not {account!r}")
    return account


def _told(code: QrCode | None) -> Json:
    assert code is not None
    return {"id": code.id, "url": code.url, "state": code.state, "account": code.account}


def qr_png(text: str, scale: int = 6) -> bytes:
    """A PNG of the QR code that says *text*; needs the package ``segno``."""
    import segno  # only who shows a code needs it

    out = io.BytesIO()
    segno.make(text, error="m", micro=False).save(out, kind="png", scale=scale, border=4)
    return out.getvalue()


def qr_data_url(text: str) -> str:
    """The same as the ``src`` of an ``img``."""
    return "data:image/png;base64," + base64.b64encode(qr_png(text)).decode()


# -- scripts that pages share ---------------------------------------------------------------------

WAIT = """
function wait(ms) { return new Promise(function (done) { setTimeout(done, ms); }); }
function cookie(name) {
  for (const part of document.cookie.split("; ")) {
    if (part.startsWith(name + "=")) { return part.slice(name.length + 1); }
  }
  return "";
}
"""
"""Two small functions for a page's script."""
