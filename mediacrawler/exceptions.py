"""What a platform can answer besides data.

Page functions (``mediacrawler.pages``) raise these; the back-off middleware is the one
place that decides what each of them leads to. Nothing here knows Scrapy's engine.
"""

from __future__ import annotations

from typing import ClassVar, Literal

Scope = Literal["account", "ip", "item", "request"]
"""What has to change before the same question can be answered:
another account, another network, another item (skip this one), or just another attempt."""


class PlatformError(Exception):
    """A platform answered with something else than data.

    :param message: one line for the person who runs the crawl; no secrets.
    :param code: the platform's own code (HTTP status or body code), for reports.
    :param scope: see :data:`Scope`; each subclass has a usual one.
    :param retry_after: seconds that the platform asks to wait, when it says so.
    :param page: an address where a person can do something about it (a captcha, a login), when
        the platform names one; it may hold tokens: never log it.
    :param soft: the platform hid its refusal behind a success (an empty answer); several
        of these in a row mean that the session is blocked.
    """

    meaning: ClassVar[str] = "unexpected"
    default_scope: ClassVar[Scope] = "request"

    def __init__(
        self,
        message: str,
        *,
        code: int | str | None = None,
        scope: Scope | None = None,
        retry_after: float | None = None,
        soft: bool = False,
        page: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.scope: Scope = scope or self.default_scope
        self.retry_after = retry_after
        self.soft = soft
        self.page = page

    def __str__(self) -> str:
        return self.message if self.code is None else f"{self.message} [{self.code}]"


class RateLimited(PlatformError):
    """Too many requests: wait, slow down, ask again."""

    meaning = "rate_limited"
    default_scope: ClassVar[Scope] = "account"


class CaptchaRequired(PlatformError):
    """A person has to solve a captcha; asking again makes it worse."""

    meaning = "captcha"
    default_scope: ClassVar[Scope] = "account"


class LoginRequired(PlatformError):
    """The session is missing, a guest's, or expired."""

    meaning = "login_required"
    default_scope: ClassVar[Scope] = "account"


class AccessDenied(PlatformError):
    """The account, the address or (``scope="item"``) this very item is refused."""

    meaning = "blocked"
    default_scope: ClassVar[Scope] = "account"


class NotFound(PlatformError):
    """Deleted, private, under review: this item cannot be shown to anybody like us."""

    meaning = "not_found"
    default_scope: ClassVar[Scope] = "item"


class Withheld(NotFound):
    """Its owner shows it to nobody like us: closed comments, for followers or supporters only.

    To a crawl it is not there; the platform says that it is, and refuses it.
    """

    meaning = "blocked"


class BadSignature(PlatformError):
    """The signature was refused; signing anew may help once, then the signer is outdated."""

    meaning = "signature"


class UnexpectedResponse(PlatformError):
    """Not what the protocol describes: cut JSON, a wrong type, an unknown code, a 5xx.

    Treated as transient: asked again a bounded number of times.
    """

    meaning = "unexpected"


class UsageProblem(ValueError):
    """The user's arguments, settings, cookies or folders do not work; one line says what to do."""
