"""Where sessions lie: one JSON file a platform and account, for its owner's eyes only.

The files hold a login, so they are as secret as a password: folders 0700, files 0600, written
atomically. Nothing here knows Scrapy, a browser or the network.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, get_args

from mediacrawler.cookies import from_browser
from mediacrawler.exceptions import UsageProblem
from mediacrawler.sessions import Session, State

VERSION = 1
ACCOUNT_NAME = re.compile(r"[\w@-][\w.@-]{0,49}")
"""Names that are safe as file names everywhere: at most 50 characters, none hidden."""
RESERVED = ("all", "cookies")
"""`-a account=all` means every account; cookies of the environment go by the name "cookies"."""


class SessionStore:
    """The session files in *folder* (the setting SESSIONS_DIR): ``<platform>/<account>.json``.

    The file is JSON: version, platform, account, state, reason, user_agent, proxy, logged_in_at,
    checked_at and cool_until (UTC, ISO 8601), and `storage_state`, which Playwright takes as it is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.expanduser()  # shells leave ~ alone behind -s NAME=

    def path(self, platform: str, account: str) -> Path:
        """The file of an account, whether it exists or not.

        :raises UsageProblem: the account's name cannot be a file name.
        """
        check_name(account)
        return self.folder / platform / f"{account}.json"

    def names(self, platform: str | None = None) -> list[tuple[str, str]]:
        """Platform and account of each session file, sorted; the files are not read."""
        pattern = f"{platform or '*'}/*.json"
        return sorted(
            (path.parent.name, path.stem)
            for path in self.folder.glob(pattern)
            if ACCOUNT_NAME.fullmatch(path.stem)
        )

    def load(self, platform: str, account: str) -> Session:
        """The session of an account.

        :raises UsageProblem: there is none, or its file cannot be read or understood.
        """
        path = self.path(platform, account)
        again = f"scrapy login {platform} --account {account}"
        try:
            return from_json(path.read_bytes(), platform, account)
        except FileNotFoundError:
            known = ", ".join(name for _, name in self.names(platform)) or "none yet"
            raise UsageProblem(
                f"there is no session '{account}' for {platform} in {self.folder} (there are: "
                f"{known}); log in with: {again}"
            ) from None
        except OSError as error:
            raise UsageProblem(f"cannot read {path}: {error.strerror or error}") from None
        except ValueError as error:
            raise UsageProblem(f"{path} is damaged ({error}); log in again: {again}") from None

    def all(self, platform: str | None = None) -> list[Session]:
        """Every session, or those of one platform, sorted by name.

        :raises UsageProblem: one of the files cannot be read or understood.
        """
        return [self.load(*name) for name in self.names(platform)]

    def save(self, session: Session) -> None:
        """Write the session's file: whole or not at all.

        :raises UsageProblem: the name cannot be a file name.
        :raises OSError: the file cannot be written; what was there before is still there.
        """
        path = self.path(session.platform, session.account)
        content = json.dumps(to_json(session), ensure_ascii=False, indent=1)
        temporary = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.tmp")
        _private_folder(self.folder)
        _private_folder(path.parent)
        # Created with its mode, so that nobody can open it before it is set.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(content + "\n")
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)

    def update(self, session: Session) -> bool:
        """Save what a crawl or a check has learnt of a session that it loaded some time ago.

        Not if the account was removed meanwhile, or somebody has logged in again: that login is
        another one, and newer. Says whether it was saved.

        :raises OSError: the file cannot be written.
        """
        try:
            now = self.load(session.platform, session.account)
        except UsageProblem:
            return False
        if now.logged_in_at != session.logged_in_at:
            return False
        self.save(session)
        return True

    def remove(self, platform: str, account: str) -> bool:
        """Delete a session's file; says whether there was one.

        :raises OSError: it cannot be deleted.
        """
        try:
            self.path(platform, account).unlink()
        except FileNotFoundError:
            return False
        return True


def check_name(account: str) -> None:
    """Refuse names that cannot be a file name, or that mean something else.

    :raises UsageProblem: says what a name may be.
    """
    if account.lower() in RESERVED or not ACCOUNT_NAME.fullmatch(account):
        raise UsageProblem(
            f"'{' '.join(account.split())[:60]}' cannot be the name of an account: use at most 50 "
            "letters, digits and _ . @ - (not 'all' or 'cookies', no dot at the beginning)"
        )


def to_json(session: Session) -> dict[str, Any]:
    """What a session's file holds."""
    return {
        "version": VERSION,
        "platform": session.platform,
        "account": session.account,
        "state": session.state,
        "reason": session.reason,
        "logged_in_at": _iso(session.logged_in_at),
        "checked_at": _iso(session.checked_at),
        "cool_until": _iso(session.cool_until),
        "user_agent": session.user_agent,
        "proxy": session.proxy,
        "storage_state": {
            "cookies": [cookie.for_browser() for cookie in session.cookies],
            "origins": session.storage,
        },
    }


def from_json(content: bytes, platform: str, account: str) -> Session:
    """The session that a file holds; file name and folder decide whose it is.

    :raises ValueError: what is wrong with it, without quoting it.
    """
    try:
        data = json.loads(content)
    except ValueError:  # bytes that are not UTF-8, too
        raise ValueError("it is not JSON") from None
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise ValueError(f"it is not a session file of version {VERSION}")
    stored = data.get("storage_state")
    cookies = stored.get("cookies") if isinstance(stored, dict) else None
    origins = stored.get("origins", []) if isinstance(stored, dict) else None
    if not isinstance(cookies, list) or not isinstance(origins, list):
        raise ValueError("it has no storage state")
    state: Any = data.get("state")
    if state not in get_args(State):
        raise ValueError("its state is unknown")
    return Session(
        platform,
        account,
        cookies=[from_browser(cookie) for cookie in cookies],
        user_agent=_text(data, "user_agent"),
        proxy=_text(data, "proxy"),
        storage=origins,
        state=state,
        reason=_text(data, "reason"),
        logged_in_at=_moment(data, "logged_in_at"),
        checked_at=_moment(data, "checked_at"),
        cool_until=_moment(data, "cool_until"),
    )


def _private_folder(folder: Path) -> None:
    """Make *folder* if it is not there; an existing one keeps the mode that its owner chose."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(timezone.utc).isoformat(timespec="seconds")


def _moment(data: dict[str, Any], key: str) -> datetime | None:
    text = _text(data, key)
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(re.sub(r"[Zz]$", "+00:00", text))
    except ValueError:
        raise ValueError(f"{key} is not a time") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def _text(data: dict[str, Any], key: str) -> str | None:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{key} is not text")
    return value
