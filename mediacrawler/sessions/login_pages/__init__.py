"""What the login page of a platform looks like, and who says that somebody is logged in.

A file a platform, found by its name: its ``login_page(settings)`` gives a `LoginPage`.
Descriptions and pure functions: nothing here drives a browser.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from mediacrawler.exceptions import UsageProblem
from mediacrawler.pages import Viewer

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

QrState = Literal["new", "waiting", "scanned", "confirmed", "expired", "refused"]


@dataclass(frozen=True, slots=True)
class QrNews:
    """What an answer to the page's own question says about its QR code.

    :param payload: what a ``new`` code says; whoever shows it to the app is asked to log in.
    """

    state: QrState
    payload: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class WhoAmI:
    """The platform's own question for the owner of a session.

    :param home: a page from which the question can be asked.
    :param headers: ``(path and query, cookies) -> headers`` that the site sends along.
    :param read: ``(status, headers, body, url) -> Viewer``; raises PlatformError.
    :param from_login_page: the login page can ask too; else *home* has to be opened.
    """

    url: str
    home: str
    headers: Callable[[str, Mapping[str, str]], dict[str, str]]
    read: Callable[[int, Mapping[str, str], bytes, str], Viewer]
    from_login_page: bool = True


@dataclass(frozen=True, slots=True)
class LoginPage:
    """How somebody logs in to a platform in a browser.

    :param picture: selector of the QR code's picture, an ``img`` or a ``canvas``.
    :param opener: selector of what has to be clicked before the code is shown, if anything.
    :param expired: selector of what lies over a code that has expired; clicking it renews.
    :param captcha: selector of a captcha that comes before the login.
    :param captcha_paths: paths of the pages to which a captcha leads.
    :param cookies: names of cookies whose change hints at a login (and proves none).
    :param domains: whose cookies belong to the platform, with all their subdomains.
    :param news: ``(path, decoded answer) -> QrNews``; None for answers about something else.
    """

    platform: str
    url: str
    picture: str
    cookies: tuple[str, ...]
    domains: tuple[str, ...]
    news: Callable[[str, Mapping[str, Any]], QrNews | None]
    whoami: tuple[WhoAmI, ...]
    opener: str | None = None
    expired: str = "text=/二维码(已|)(过期|失效)|重新获取二维码/"
    captcha: str | None = None
    captcha_paths: tuple[str, ...] = ()

    def owns(self, host: str) -> bool:
        """Whether a host (or a cookie's domain) is the platform's."""
        host = host.lstrip(".").lower()
        return any(host == domain or host.endswith(f".{domain}") for domain in self.domains)


def login_page(platform: str, settings: BaseSettings) -> LoginPage:
    """The login page of *platform*.

    :raises UsageProblem: no login in a browser is known for it.
    """
    known = sorted(module.name for module in pkgutil.iter_modules(__path__))
    if platform not in known:
        raise UsageProblem(
            f"no login in a browser is known for '{platform}'; there are: {', '.join(known)}"
        )
    described: LoginPage = importlib.import_module(f"{__name__}.{platform}").login_page(settings)
    return described


# --- What the descriptions share --------------------------------------------------------------


def state_news(states: Mapping[str, QrState], value: Any) -> QrNews | None:
    """News for a state that is known; numbers may come as text."""
    state = states.get(str(value))
    return None if state is None else QrNews(state)


def new_code(payload: Any) -> QrNews | None:
    """News of a code that says *payload*, if that is a text."""
    return QrNews("new", payload) if isinstance(payload, str) and payload else None


def as_object(value: Any) -> Mapping[str, Any]:
    """A JSON object; an empty one for everything else."""
    return value if isinstance(value, dict) else {}


def viewer_reader(pages: Any) -> Callable[[int, Mapping[str, str], bytes, str], Viewer]:
    """What `WhoAmI.read` does with the platform's module of ``mediacrawler.pages``."""

    def read(status: int, headers: Mapping[str, str], body: bytes, url: str) -> Viewer:
        content = pages.read_answer(status, headers, body, url=url)
        viewer: Viewer = pages.me(content if isinstance(content, dict) else body)
        return viewer

    return read


def no_headers(target: str, cookies: Mapping[str, str]) -> dict[str, str]:
    """For sites that ask without any headers of their own."""
    return {}
