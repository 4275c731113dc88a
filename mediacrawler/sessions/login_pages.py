"""What the login page of each platform looks like, and who says that somebody is logged in.

Descriptions and pure functions: nothing here drives a browser. Each rests on section 9 of
``docs/platforms/<platform>.md``; the check of a session on section 1.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qs, urlsplit

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
    if platform not in PAGES:
        raise UsageProblem(
            f"no login in a browser is known for '{platform}'; there are: {', '.join(PAGES)}"
        )
    return PAGES[platform](settings)


def _state(states: Mapping[Any, QrState], value: Any) -> QrNews | None:
    """News for a state that is known; numbers may come as text."""
    state = states.get(str(value))
    return None if state is None else QrNews(state)


def _code(payload: Any) -> QrNews | None:
    return QrNews("new", payload) if isinstance(payload, str) and payload else None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


# --- XHS --------------------------------------------------------------------------------------

XHS_STATES: dict[str, QrState] = {
    "0": "waiting",
    "1": "scanned",
    "2": "confirmed",
    "3": "expired",
}
XHS_POLLS = ("/api/qrcode/userinfo", "/api/sns/web/v1/login/qrcode/status")


def xhs_news(path: str, answer: Mapping[str, Any]) -> QrNews | None:
    """Older pages poll ``qrcode/status`` with another spelling of the same numbers (9)."""
    data = _object(answer.get("data"))
    if path == "/api/sns/web/v1/login/qrcode/create":
        return _code(data.get("url"))
    if path in XHS_POLLS:
        return _state(XHS_STATES, data.get("codeStatus", data.get("code_status")))
    return None


def _xhs(settings: BaseSettings) -> LoginPage:
    from mediacrawler.pages import xhs as pages

    twin = settings.get("XHS_REGION") == "rednote"
    site = "rednote.com" if twin else "xiaohongshu.com"
    api = "webapi.rednote.com" if twin else "edith.xiaohongshu.com"

    def read(status: int, headers: Mapping[str, str], body: bytes, url: str) -> Viewer:
        return pages.me(pages.read_answer(status, headers, body, url=url))

    return LoginPage(
        platform="xhs",
        url=f"https://www.{site}/login",
        picture=".login-container .qrcode-img",
        cookies=("web_session",),
        domains=(site,),
        news=xhs_news,
        whoami=(
            WhoAmI(
                f"https://{api}/api/sns/web/v2/user/me",
                f"https://www.{site}/explore",
                xhs_headers,
                read,
            ),
        ),
        captcha="text=请通过验证",
        captcha_paths=("/website-login/captcha",),
    )


def xhs_headers(target: str, cookies: Mapping[str, str]) -> dict[str, str]:
    """The signature; the site's own client adds it too, its plain ``fetch`` does not (4)."""
    from mediacrawler.signing import xhs as signing

    if "a1" not in cookies:
        return {}
    path = urlsplit(target).path
    return signing.sign("GET", path, cookies, params={}, now=time.time(), rng=random.Random())


# --- Bilibili ---------------------------------------------------------------------------------

BILIBILI_STATES: dict[str, QrState] = {
    "86101": "waiting",
    "86090": "scanned",
    "86038": "expired",
    "0": "confirmed",
}


def bilibili_news(path: str, answer: Mapping[str, Any]) -> QrNews | None:
    """The state stands in the inner code; the outer one is always 0 (9)."""
    data = _object(answer.get("data"))
    if path == "/x/passport-login/web/qrcode/generate":
        return _code(data.get("url"))
    if path == "/x/passport-login/web/qrcode/poll":
        return _state(BILIBILI_STATES, data.get("code"))
    return None


def _bilibili(settings: BaseSettings) -> LoginPage:
    from mediacrawler.pages import bilibili as pages

    def read(status: int, headers: Mapping[str, str], body: bytes, url: str) -> Viewer:
        return pages.me(pages.read_answer(status, headers, body, url=url))

    return LoginPage(
        platform="bilibili",
        url="https://passport.bilibili.com/login",
        picture=".login-scan-box img",
        opener=".go-login-btn",
        cookies=("SESSDATA", "DedeUserID"),
        domains=("bilibili.com",),
        news=bilibili_news,
        whoami=(
            WhoAmI(
                "https://api.bilibili.com/x/web-interface/nav",
                "https://www.bilibili.com/",
                _no_headers,
                read,
            ),
        ),
    )


# --- Weibo ------------------------------------------------------------------------------------

WEIBO_STATES: dict[str, QrState] = {
    "50114001": "waiting",
    "50114002": "scanned",
    "20000000": "confirmed",
    "50114003": "expired",
    "50114004": "expired",
    "50114015": "refused",
}


def weibo_news(path: str, answer: Mapping[str, Any]) -> QrNews | None:
    """What the code says stands in the address of its picture (9)."""
    if path == "/sso/v2/qrcode/image":
        address = _object(answer.get("data")).get("image")
        said = parse_qs(urlsplit(address).query).get("data") if isinstance(address, str) else None
        return _code(said[0] if said else None)
    if path == "/sso/v2/qrcode/check":
        return _state(WEIBO_STATES, answer.get("retcode"))
    return None


def _weibo(settings: BaseSettings) -> LoginPage:
    from mediacrawler.pages import weibo as pages

    def read(status: int, headers: Mapping[str, str], body: bytes, url: str) -> Viewer:
        content = pages.read_answer(status, headers, body, url=url)
        return pages.me(content if isinstance(content, dict) else body)

    def xhr(target: str, cookies: Mapping[str, str]) -> dict[str, str]:
        headers = {
            "Accept": "application/json, text/plain, */*",
            "X-Requested-With": "XMLHttpRequest",
        }
        if "XSRF-TOKEN" in cookies:
            headers["X-XSRF-TOKEN"] = cookies["XSRF-TOKEN"]
        return headers

    def on(host: str, path: str) -> WhoAmI:
        # Each host has a login of its own, handed over when a page of it is opened (1.3, 9).
        return WhoAmI(f"https://{host}{path}", f"https://{host}/", xhr, read, False)

    return LoginPage(
        platform="weibo",
        url="https://passport.weibo.com/sso/signin?entry=miniblog&source=miniblog",
        picture='img[src*="qr.weibo.cn/inf/gen"]',
        cookies=("SUB",),
        domains=("weibo.com", "weibo.cn", "sina.com.cn", "sina.cn"),
        news=weibo_news,
        whoami=(on("weibo.com", "/ajax/config/get_config"), on("m.weibo.cn", "/api/config")),
    )


# --- Zhihu ------------------------------------------------------------------------------------

ZHIHU_QR = "/api/v3/account/api/login/qrcode"
ZHIHU_STATES: dict[str, QrState] = {"0": "waiting", "1": "scanned", "2": "expired"}
ZHIHU_DONE = ("user_id", "access_token", "cookie", "z_c0")
ZHIHU_DONE_WORDS = ("CONFIRMED", "LOGIN_SUCCESS", "SUCCESS", "OK", "LOGGED_IN")


def zhihu_news(path: str, answer: Mapping[str, Any]) -> QrNews | None:
    """A confirmed code has no number: the login itself is in the answer (9)."""
    if path == ZHIHU_QR:
        return _code(answer.get("link") or answer.get("url"))
    if not (path.startswith(f"{ZHIHU_QR}/") and path.endswith("/scan_info")):
        return None
    if answer.get("login_status") in ZHIHU_DONE_WORDS or any(answer.get(k) for k in ZHIHU_DONE):
        return QrNews("confirmed")
    return _state(ZHIHU_STATES, answer.get("status"))


def _zhihu(settings: BaseSettings) -> LoginPage:
    from mediacrawler.pages import zhihu as pages
    from mediacrawler.signing import zhihu as signing

    def signature(target: str, cookies: Mapping[str, str]) -> dict[str, str]:
        first_byte = random.choice(signing.FIRST_BYTES)
        signed = signing.headers(target, cookies.get("d_c0"), first_byte=first_byte)
        return {"x-requested-with": "fetch", **signed}

    def read(status: int, headers: Mapping[str, str], body: bytes, url: str) -> Viewer:
        content = pages.read_answer(status, headers, body, url=url)
        return pages.me(content if isinstance(content, dict) else body)

    return LoginPage(
        platform="zhihu",
        url="https://www.zhihu.com/signin?next=%2F",
        picture="canvas.Qrcode-qrcode",
        cookies=("z_c0",),
        domains=("zhihu.com",),
        news=zhihu_news,
        whoami=(
            WhoAmI("https://www.zhihu.com/api/v4/me", "https://www.zhihu.com/", signature, read),
        ),
        captcha_paths=("/account/unhuman",),
    )


def _no_headers(target: str, cookies: Mapping[str, str]) -> dict[str, str]:
    return {}


PAGES: dict[str, Callable[[BaseSettings], LoginPage]] = {
    "xhs": _xhs,
    "bilibili": _bilibili,
    "weibo": _weibo,
    "zhihu": _zhihu,
}
