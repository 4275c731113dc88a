"""The login page of Zhihu (``docs/platforms/zhihu.md``, sections 1 and 9)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mediacrawler.pages import zhihu as pages
from mediacrawler.sessions.login_pages import (
    LoginPage,
    QrNews,
    QrState,
    WhoAmI,
    new_code,
    state_news,
    viewer_reader,
)
from mediacrawler.signing import zhihu as signing

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

QR = "/api/v3/account/api/login/qrcode"
STATES: dict[str, QrState] = {"0": "waiting", "1": "scanned", "2": "expired"}
DONE = ("user_id", "access_token", "cookie", "z_c0")
DONE_WORDS = ("CONFIRMED", "LOGIN_SUCCESS", "SUCCESS", "OK", "LOGGED_IN")


def login_page(settings: BaseSettings) -> LoginPage:
    """There is one for everybody."""
    return LoginPage(
        platform="zhihu",
        url="https://www.zhihu.com/signin?next=%2F",
        picture="canvas.Qrcode-qrcode",
        cookies=("z_c0",),
        domains=("zhihu.com",),
        news=news,
        whoami=(
            WhoAmI(
                "https://www.zhihu.com/api/v4/me",
                "https://www.zhihu.com/",
                signature,
                viewer_reader(pages),
            ),
        ),
        captcha_paths=("/account/unhuman",),
    )


def news(path: str, answer: Mapping[str, Any]) -> QrNews | None:
    """A confirmed code has no number: the login itself is in the answer (9)."""
    if path == QR:
        return new_code(answer.get("link") or answer.get("url"))
    if not (path.startswith(f"{QR}/") and path.endswith("/scan_info")):
        return None
    if answer.get("login_status") in DONE_WORDS or any(answer.get(key) for key in DONE):
        return QrNews("confirmed")
    return state_news(STATES, answer.get("status"))


def signature(target: str, cookies: Mapping[str, str]) -> dict[str, str]:
    """The headers of the site's own client (4)."""
    first_byte = random.choice(signing.FIRST_BYTES)
    signed = signing.headers(target, cookies.get("d_c0"), first_byte=first_byte)
    return {"x-requested-with": "fetch", **signed}
