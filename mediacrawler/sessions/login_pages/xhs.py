"""The login page of XHS, and of its twin RedNote (``docs/platforms/xhs.md``, sections 1 and 9)."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mediacrawler.pages import xhs as pages
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
from mediacrawler.signing import xhs as signing

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

STATES: dict[str, QrState] = {
    "0": "waiting",
    "1": "scanned",
    "2": "confirmed",
    "3": "expired",
}
CREATE = "/api/sns/web/v1/login/qrcode/create"
POLLS = ("/api/qrcode/userinfo", "/api/sns/web/v1/login/qrcode/status")


def login_page(settings: BaseSettings) -> LoginPage:
    """That of the region which XHS_REGION names."""
    twin = settings.get("XHS_REGION") == "rednote"
    site = "rednote.com" if twin else "xiaohongshu.com"
    api = "webapi.rednote.com" if twin else "edith.xiaohongshu.com"
    return LoginPage(
        platform="xhs",
        url=f"https://www.{site}/login",
        picture=".login-container .qrcode-img",
        cookies=("web_session",),
        domains=(site,),
        news=news,
        whoami=(
            WhoAmI(
                f"https://{api}/api/sns/web/v2/user/me",
                f"https://www.{site}/explore",
                signature,
                viewer_reader(pages),
            ),
        ),
        captcha="text=请通过验证",
        captcha_paths=("/website-login/captcha",),
    )


def news(path: str, answer: Mapping[str, Any]) -> QrNews | None:
    """Older pages poll ``qrcode/status`` with another spelling of the same numbers (9)."""
    data = as_object(answer.get("data"))
    if path == CREATE:
        return new_code(data.get("url"))
    if path in POLLS:
        return state_news(STATES, data.get("codeStatus", data.get("code_status")))
    return None


def signature(target: str, cookies: Mapping[str, str]) -> dict[str, str]:
    """The site's own client adds it too, its plain ``fetch`` does not (4)."""
    if "a1" not in cookies:
        return {}
    path = urlsplit(target).path
    return signing.sign("GET", path, cookies, params={}, now=time.time(), rng=random.Random())
