"""Logins of Zhihu: its QR endpoints, the sign-in page with its canvas, the human check.

Sections are those of ``docs/platforms/zhihu.md``.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable

from sandbox.core import Action, Call, Json, Options, Reply, html_reply, json_reply, text_reply
from sandbox.logins import WAIT, Accounts, QrCode, QrDesk, qr_data_url
from sandbox.worlds import digest

QR_TTL = 300  # `expires_at` tells it
CODES = "/api/v3/account/api/login/qrcode"
_CAPTCHA = "/api/v3/oauth/captcha/v2"
_SCAN = re.compile(re.escape(CODES) + r"/([0-9A-Za-z]+)/scan_info")
_EXPIRED = "0e0e0e"


def make_z_c0(account: str, *, expired: bool = False) -> str:
    """A login cookie of the documented shape; one that ends in ``0e0e0e`` has expired."""
    value = base64.b64encode(digest("z_c0", account, size=45)).decode()
    seal = digest("seal", account, size=32).hex()
    seal = seal[:-6] + (_EXPIRED if expired else "abcdef")
    return f"2|1:0|10:1780000000|4:z_c0|{len(value)}:{value}|{seal}"


def session_value(account: str, n: int) -> str:
    """``z_c0`` number *n* of an account."""
    name = f"{account}#{n}" if n else account
    return make_z_c0(name, expired=account.partition("-")[0] == "expired")


class Logins:
    """Sessions and how they begin.

    :ivar user_id: session to the id of its person; the site sets it.
    """

    def __init__(self, options: Options) -> None:
        self.accounts = Accounts(session_value)
        self.desk = QrDesk(
            "zhihu",
            options,
            self.accounts,
            ttl=QR_TTL,
            address=lambda token: f"https://www.zhihu.com/account/scan/login/{token}?/api/login",
        )
        self._ttl = int(float(options.switch("zhihu.qr_ttl", str(QR_TTL))))
        self.user_id: Callable[[str], str] = lambda session: session

    def actions(self) -> dict[str, Action]:
        return {**self.accounts.actions(), **self.desk.actions()}

    def api(self, call: Call, kind: str) -> Reply | None:
        """The endpoints of the QR code; ``None`` for others. None of them is signed (9)."""
        if call.path == _CAPTCHA:
            cookie = f"captcha_session_v2={digest('captcha', call.target).hex()}; Path=/; HttpOnly"
            return json_reply({"show_captcha": False}, headers=[("Set-Cookie", cookie)])
        if call.path == CODES and call.method == "POST":
            if kind == "member":
                error = {"code": 403, "name": "PERMISSION_ERROR"}
                message = {"message": "已登录用户不允许此操作"}
                return json_reply({"error": {**error, **message}}, status=403)
            code = self.desk.issue()
            return json_reply({"token": code.id, "link": code.url, "expires_at": self._ttl})
        match = _SCAN.fullmatch(call.path)
        if match is None:
            return None
        return self._scan_info(self.desk.find(match[1]))

    def _scan_info(self, code: QrCode | None) -> Reply:
        """A confirmed code has no number: the login is in the answer."""
        if code is not None and code.session:
            body: Json = {
                "login_status": "CONFIRMED",
                "user_id": self.user_id(code.session),
                "token_type": "bearer",
                "access_token": digest("access", code.session).hex(),
                "cookie": {"z_c0": code.session},
            }
            tail = "Domain=.zhihu.com; Path=/; Max-Age=15552000; Secure; HttpOnly"
            return json_reply(body, headers=[("Set-Cookie", f"z_c0={code.session}; {tail}")])
        status = {"new": 0, "scanned": 1}.get("expired" if code is None else code.state, 2)
        return json_reply({"status": status})


# -- pages ----------------------------------------------------------------------------------------


def sign_in_page(page: str) -> str:
    """*page* with the login on it: its code is a canvas (9)."""
    box = (
        '<div class="SignContainer-content"><div class="Qrcode-content">'
        '<canvas class="Qrcode-qrcode" width="300" height="300"></canvas>'
        '<div class="Qrcode-words"></div></div></div>'
    )
    script = f"<script>{_SCRIPT.replace('WAIT', WAIT)}</script>"
    return page.replace("</body>", f"{box}{script}</body>")


def helper(call: Call, verified: Callable[[], None]) -> Reply:
    """``/__site__/...``: the picture of a code, and the button of the human check."""
    if call.path == "/__site__/qr":
        return text_reply(qr_data_url(call.params.get("text", "")[:800]))
    if call.path == "/__site__/verified" and call.method == "POST":
        verified()
        return json_reply({"ok": True})
    return text_reply("404", status=404)


def unhuman_page(call: Call) -> Reply:
    """The human check: a person presses the button."""
    return html_reply(
        '<!doctype html><html><head><meta charset="utf-8"><title>安全验证 - 知乎</title></head>'
        f'<body data-session="{html.escape(call.params.get("session", ""))}">'
        '<div class="Unhuman">系统监测到您的网络环境存在异常 '
        '<button id="captcha-done">开始验证</button></div>'
        "<script>document.querySelector('#captcha-done').onclick = async function () {\n"
        '  await fetch("/__site__/verified", {method: "POST"});\n  location.href = "/explore";\n'
        "};</script></body></html>"
    )


_SCRIPT = r"""
(function () {
"use strict";
WAIT
const headers = {
  "content-type": "application/json;charset=UTF-8", "x-requested-with": "fetch",
  "x-zse-93": "101_3_3.0",
};
async function api(method, path) {
  const asked = {method: method, headers: headers, credentials: "include"};
  if (method === "POST") { asked.body = "{}"; }
  const answer = await fetch(path, asked);
  return answer.status === 200 ? answer.json() : {error: answer.status};
}
async function draw(canvas, link) {
  const picture = new Image();
  picture.src = await (await fetch("/__site__/qr?text=" + encodeURIComponent(link))).text();
  await picture.decode();
  canvas.width = picture.naturalWidth;
  canvas.height = picture.naturalHeight;
  canvas.getContext("2d").drawImage(picture, 0, 0);
}
async function showCode(canvas, words) {
  const made = await api("POST", "CODES");
  if (made.error) { words.textContent = "请求异常"; return false; }
  await draw(canvas, made.link);
  words.textContent = "打开知乎 App 扫一扫";
  for (;;) {
    await wait(500);
    const state = await api("GET", "CODES/" + made.token + "/scan_info");
    if (state.login_status) { return true; }
    if (state.status === 1) { words.textContent = "扫描成功，请在手机上确认"; }
    if (state.status === 2 || state.error) {
      words.textContent = "二维码已失效，点击刷新";
      return false;
    }
  }
}
(async function () {
  const canvas = document.querySelector("canvas.Qrcode-qrcode");
  const words = document.querySelector(".Qrcode-words");
  await fetch("/udid", {method: "POST"});
  await api("GET", "/api/v3/oauth/captcha/v2?type=captcha_sign_in");
  while (!(await showCode(canvas, words))) {
    await new Promise(function (again) { words.onclick = again; });
  }
  const next = new URLSearchParams(location.search).get("next") || "/";
  location.href = next.startsWith("/") ? next : "/";
})();
})();
""".replace("CODES", CODES)
