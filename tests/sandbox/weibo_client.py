"""A plain client of the sandbox, and with it Weibo's login over four hosts, hop by hop."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote, urlsplit

from sandbox.testing import RunningSandbox

Cookies = dict[str, str]
Json = dict[str, Any]
AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36"
SSO = "passport.weibo.com"


def ask(
    sandbox: RunningSandbox,
    host: str,
    target: str,
    cookies: Cookies | None = None,
    *,
    method: str = "GET",
    **headers: str,
) -> tuple[int, Any, Any]:
    """Status, headers and the decoded body (text if it is no JSON) of one plain request."""
    line = "; ".join(f"{name}={value}" for name, value in (cookies or {}).items())
    sent = {"user-agent": AGENT, "cookie": line}
    sent.update({name.replace("_", "-"): value for name, value in headers.items()})
    body = b"{}" if method == "POST" else None
    status, answer, data = sandbox.request(host, target, method=method, headers=sent, body=body)
    try:
        return status, answer, json.loads(data)
    except ValueError:
        return status, answer, data.decode("utf-8", "replace")


class Jar:
    """A browser's cookies for Weibo's domains, following redirects."""

    def __init__(self, sandbox: RunningSandbox) -> None:
        self.sandbox = sandbox
        self.cookies: dict[str, Cookies] = {}

    def sent_to(self, host: str) -> Cookies:
        found: Cookies = {}
        for domain, cookies in self.cookies.items():
            if f".{host}".endswith(f".{domain.lstrip('.')}"):
                found.update(cookies)
        return found

    def get(self, url: str, **headers: str) -> tuple[int, Any, Any]:
        for _ in range(8):
            parts = urlsplit(url)
            host = parts.hostname or ""
            target = f"{parts.path or '/'}{'?' * bool(parts.query)}{parts.query}"
            status, answer, body = ask(self.sandbox, host, target, self.sent_to(host), **headers)
            for line in answer.get_all("Set-Cookie") or []:
                name, value = line.partition(";")[0].split("=", 1)
                domain = re.search(r"Domain=([^;]+)", line)
                self.cookies.setdefault(domain[1] if domain else host, {})[name] = value
            if status not in (301, 302):
                return status, url, body
            url = answer["Location"]
        raise AssertionError("too many redirects")

    def code(self) -> Json:
        self.get(f"https://{SSO}/sso/signin?entry=miniblog&source=miniblog")
        token = self.cookies[SSO]["X-CSRF-TOKEN"]
        image = f"https://{SSO}/sso/v2/qrcode/image?entry=miniblog&size=180"
        data: Json = self.get(image, x_csrf_token=token)[2]["data"]
        return data

    def check(self, qrid: str) -> Json:
        home = quote("https://weibo.com/", safe="")
        query = f"entry=miniblog&source=miniblog&url={home}&qrid={qrid}&disp=popup&rid=x"
        answer: Json = self.get(f"https://{SSO}/sso/v2/qrcode/check?{query}")[2]
        return answer

    def log_in(self, account: str) -> None:
        code = self.code()
        self.sandbox.action("weibo", "confirm", id=code["qrid"], account=account)
        self.get(self.check(code["qrid"])["data"]["url"])

    def who(self) -> tuple[str, str]:
        """The uid on the desktop and on the mobile site, ``""`` where nobody is logged in."""
        xhr = {"x_requested_with": "XMLHttpRequest", "referer": "https://weibo.com/"}
        desktop = self.get("https://weibo.com/ajax/config/get_config", **xhr)[2]["data"]["uid"]
        mobile = self.get("https://m.weibo.cn/api/config", **xhr)[2]["data"].get("uid", "")
        return desktop, mobile
