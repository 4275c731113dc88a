"""Cookies as people have them: a header line, a Netscape file, a browser's JSON export.

Also as a driven browser has them (`from_browser`, `Cookie.for_browser`). Pure functions except
`load_cookies`, which finds the text. Values are secrets: they are never logged, and messages
name files and cookie names only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookiejar import Cookie as JarCookie
from pathlib import Path
from typing import Any, Literal

from mediacrawler.exceptions import UsageProblem

SameSite = Literal["Strict", "Lax", "None"]
SAME_SITES: dict[str, SameSite] = {
    "strict": "Strict",
    "lax": "Lax",
    "none": "None",
    "no_restriction": "None",  # the word of browser extensions
}


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie; `domain` is "" where the source does not say, `expires` unix seconds or None.

    `secure`, `http_only` and `same_site` matter to browsers only.
    """

    name: str
    value: str = field(repr=False)
    domain: str = ""
    path: str = "/"
    expires: int | None = None
    secure: bool = False
    http_only: bool = False
    same_site: SameSite | None = None

    def expired(self, now: float) -> bool:
        """Whether it has an expiry and that has passed."""
        return self.expires is not None and self.expires <= now

    @classmethod
    def from_jar(cls, cookie: JarCookie) -> Cookie:
        """The way back from the standard library's cookie jar."""
        return cls(
            cookie.name,
            cookie.value or "",
            cookie.domain,
            cookie.path,
            cookie.expires,
            secure=cookie.secure,
            http_only=any(map(cookie.has_nonstandard_attr, ("HttpOnly", "httponly"))),
            same_site=SAME_SITES.get((cookie.get_nonstandard_attr("SameSite") or "").lower()),
        )

    def for_jar(self, default_domain: str) -> JarCookie:
        """The cookie as the standard library's cookie jar (and so Scrapy's) takes it."""
        domain = self.domain or default_domain
        return JarCookie(
            version=0,
            name=self.name,
            value=self.value,
            port=None,
            port_specified=False,
            domain=domain,
            domain_specified=True,
            domain_initial_dot=domain.startswith("."),
            path=self.path,
            path_specified=True,
            secure=self.secure,
            expires=self.expires,
            discard=self.expires is None,
            comment=None,
            comment_url=None,
            rest={
                **({"HttpOnly": ""} if self.http_only else {}),
                **({"SameSite": self.same_site} if self.same_site else {}),
            },
        )

    def for_browser(self, default_domain: str = "") -> dict[str, Any]:
        """The cookie as Playwright takes it (and as its storage state holds it)."""
        cookie: dict[str, Any] = {
            "name": self.name,
            "value": self.value,
            "domain": self.domain or default_domain,
            "path": self.path,
            "expires": -1 if self.expires is None else self.expires,
            "httpOnly": self.http_only,
            "secure": self.secure,
        }
        if self.same_site is not None:
            cookie["sameSite"] = self.same_site
        return cookie


def parse_cookies(text: str) -> list[Cookie]:
    """Cookies from a header line, a Netscape file or a browser's JSON export.

    :raises ValueError: none of the three.
    """
    text = text.strip("\ufeff \r\n")  # no tabs: the value in the last column may be empty
    if text.startswith(("[", "{")):
        return _from_json(text)
    if "\t" in text:
        return _from_netscape(text)
    return [Cookie(name, value) for name, value in parse_header(text).items()]


def parse_header(line: str) -> dict[str, str]:
    """Names and values of a ``Cookie`` header line.

    Split by hand: the standard parser stops at raw JSON in a value, so that every cookie after
    it is lost. Values keep their ``=``, quotes and commas. A line break ends a value too: it
    comes from pasting, and must not get into a header.

    :raises ValueError: no cookie in it.
    """
    cookies: dict[str, str] = {}
    for pair in re.split(r"[;\r\n]", line.removeprefix("Cookie:").removeprefix("cookie:")):
        name, separator, value = pair.strip().partition("=")
        if separator and name:
            cookies[name.strip()] = value.strip()
    if not cookies:
        raise ValueError("no name=value pairs in it")
    return cookies


def _from_netscape(text: str) -> list[Cookie]:
    cookies = []
    for whole in text.splitlines():
        line = whole.removeprefix("#HttpOnly_")
        if not line.strip() or line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != 7:
            raise ValueError("a Netscape cookie line has 7 columns separated by tabs")
        domain, _, path, secure, expires, name, value = columns
        cookies.append(
            Cookie(
                name,
                value,
                domain,
                path,
                _expiry(expires),
                secure=secure.upper() == "TRUE",
                http_only=line != whole,
            )
        )
    if not cookies:
        raise ValueError("no cookies in it")
    return cookies


def _from_json(text: str) -> list[Cookie]:
    try:
        data: Any = json.loads(text)
    except ValueError as error:
        raise ValueError(f"it looks like JSON but is not: {error}") from None
    if isinstance(data, dict):
        data = data.get("cookies", data)
    if isinstance(data, dict):  # {"name": "value", ...}
        data = [{"name": name, "value": value} for name, value in data.items()]
    if not isinstance(data, list):
        raise ValueError("expected a list of cookies")
    cookies = []
    for entry in data:
        cookies.append(from_browser(entry))
    if not cookies:
        raise ValueError("no cookies in it")
    return cookies


def from_browser(entry: Any) -> Cookie:
    """One cookie of a browser's export or of Playwright's storage state.

    :raises ValueError: it has no name or no value.
    """
    if not isinstance(entry, dict) or "name" not in entry or "value" not in entry:
        raise ValueError("each cookie needs a name and a value")
    return Cookie(
        str(entry["name"]),
        "" if entry["value"] is None else str(entry["value"]),
        str(entry.get("domain") or ""),
        str(entry.get("path") or "/"),
        _expiry(entry.get("expirationDate") or entry.get("expires")),
        secure=entry.get("secure") is True,
        http_only=entry.get("httpOnly") is True,
        same_site=SAME_SITES.get(str(entry.get("sameSite") or "").lower()),
    )


def _expiry(value: Any) -> int | None:
    """Unix seconds; 0, -1 and words mean a session cookie."""
    try:
        return int(float(value)) if float(value) > 0 else None
    except (TypeError, ValueError, OverflowError):
        return None


def load_cookies(
    platform: str,
    environ: Mapping[str, str],
    folder: Path,
    file: Path | None = None,
) -> list[Cookie]:
    """The user's cookies of *platform*: from ``<PLATFORM>_COOKIES``, else from a file.

    *file* is the one that ``<PLATFORM>_COOKIES_FILE`` names; otherwise ``<platform>.txt`` or
    ``.json`` in *folder*. No cookies anywhere gives an empty list.

    :raises UsageProblem: a named source cannot be read or understood.
    """
    variable = f"{platform.upper()}_COOKIES"
    source, text = f"the environment variable {variable}", environ.get(variable)
    if not text:
        candidates = [file] if file else [folder / f"{platform}.{ext}" for ext in ("txt", "json")]
        path = next((path for path in candidates if file or path.is_file()), None)
        if path is None:
            return []
        source = str(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not UTF-8 text"
            raise UsageProblem(f"cannot read the cookies in {source}: {reason}") from None
    try:
        return parse_cookies(text)
    except ValueError as error:
        raise UsageProblem(
            f"cannot understand the cookies in {source}: {error}; give a header line "
            "(a=1; b=2), a Netscape cookies.txt or a browser's JSON export"
        ) from None
