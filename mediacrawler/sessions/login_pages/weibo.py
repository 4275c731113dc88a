"""The login page of Weibo (``docs/platforms/weibo.md``, sections 1 and 9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from mediacrawler.pages import weibo as pages
from mediacrawler.sessions.login_pages import (
    LoginPage,
    QrNews,
    QrState,
    WhoAmI,
    as_object,
    new_code,
    state_news,
    viewer_reader,
)

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

STATES: dict[str, QrState] = {
    "50114001": "waiting",
    "50114002": "scanned",
    "20000000": "confirmed",
    "50114003": "expired",
    "50114004": "expired",
    "50114015": "refused",
}


def login_page(settings: BaseSettings) -> LoginPage:
    """There is one for both hosts."""
    return LoginPage(
        platform="weibo",
        url="https://passport.weibo.com/sso/signin?entry=miniblog&source=miniblog",
        picture='img[src*="qr.weibo.cn/inf/gen"]',
        cookies=("SUB",),
        domains=("weibo.com", "weibo.cn", "sina.com.cn", "sina.cn"),
        news=news,
        whoami=(
            asked_of("weibo.com", "/ajax/config/get_config"),
            asked_of("m.weibo.cn", "/api/config"),
        ),
    )


def asked_of(host: str, path: str) -> WhoAmI:
    """Each host has a login of its own, handed over when a page of it is opened (1.3, 9)."""
    url, home = f"https://{host}{path}", f"https://{host}/"
    return WhoAmI(url, home, xhr_headers, viewer_reader(pages), from_login_page=False)


def news(path: str, answer: Mapping[str, Any]) -> QrNews | None:
    """What the code says stands in the address of its picture (9)."""
    if path == "/sso/v2/qrcode/image":
        address = as_object(answer.get("data")).get("image")
        said = parse_qs(urlsplit(address).query).get("data") if isinstance(address, str) else None
        return new_code(said[0] if said else None)
    if path == "/sso/v2/qrcode/check":
        return state_news(STATES, answer.get("retcode"))
    return None


def xhr_headers(target: str, cookies: Mapping[str, str]) -> dict[str, str]:
    """Without them the hosts answer with a page."""
    headers = {
        "Accept": "application/json, text/plain, */*",
        "X-Requested-With": "XMLHttpRequest",
    }
    if "XSRF-TOKEN" in cookies:
        headers["X-XSRF-TOKEN"] = cookies["XSRF-TOKEN"]
    return headers
