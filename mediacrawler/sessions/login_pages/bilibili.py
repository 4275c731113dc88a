"""The login page of Bilibili (``docs/platforms/bilibili.md``, sections 1 and 9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mediacrawler.pages import bilibili as pages
from mediacrawler.sessions.login_pages import (
    LoginPage,
    QrNews,
    QrState,
    WhoAmI,
    as_object,
    new_code,
    no_headers,
    state_news,
    viewer_reader,
)

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

STATES: dict[str, QrState] = {
    "86101": "waiting",
    "86090": "scanned",
    "86038": "expired",
    "0": "confirmed",
}


def login_page(settings: BaseSettings) -> LoginPage:
    """There is one for everybody."""
    return LoginPage(
        platform="bilibili",
        url="https://passport.bilibili.com/login",
        picture=".login-scan-box img",
        opener=".go-login-btn",
        cookies=("SESSDATA", "DedeUserID"),
        domains=("bilibili.com",),
        news=news,
        whoami=(
            WhoAmI(
                "https://api.bilibili.com/x/web-interface/nav",
                "https://www.bilibili.com/",
                no_headers,
                viewer_reader(pages),
            ),
        ),
    )


def news(path: str, answer: Mapping[str, Any]) -> QrNews | None:
    """The state stands in the inner code; the outer one is always 0 (9)."""
    data = as_object(answer.get("data"))
    if path == "/x/passport-login/web/qrcode/generate":
        return new_code(data.get("url"))
    if path == "/x/passport-login/web/qrcode/poll":
        return state_news(STATES, data.get("code"))
    return None
