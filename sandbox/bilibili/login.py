"""Logins of Bilibili: sessions, the QR endpoints of ``passport``, the pages that show codes.

Sections are those of ``docs/platforms/bilibili.md``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from sandbox.core import Action, Call, Json, Options, Reply, html_reply, json_reply, text_reply
from sandbox.logins import WAIT, Accounts, QrDesk, qr_data_url
from sandbox.worlds import digest, number

QR_TTL = 180  # (9.1)
FIRST_LOGIN = {
    "SESSDATA": "c0ffee01%2C1806000000%2Cabc12%2Aa1CjDsandboxmember",
    "bili_jct": "0123456789abcdef0123456789abcdef",
    "DedeUserID": "3493000000000001",
    "DedeUserID__ckMd5": "0123456789abcdef",
    "sid": "sandbox1",
}
"""The cookies of the account ``member`` before it ever logged in anew."""

_STATES = {
    "new": (86101, "未扫码"),
    "scanned": (86090, "二维码已扫码未确认"),
    "confirmed": (0, ""),
    "expired": (86038, "二维码已失效"),
    "refused": (86038, "二维码已失效"),
}
_SESSDATA = re.compile(r"[0-9a-f]{8}%2C(\d{10})%2C[0-9a-z]{5}%2Aa1CjDsandbox[0-9a-z]{6,}")
_GENERATE = "/x/passport-login/web/qrcode/generate"
_POLL = "/x/passport-login/web/qrcode/poll"
_INFO = "/x/passport-login/web/cookie/info"


def sessdata(account: str, n: int) -> str:
    """``SESSDATA`` number *n* of an account, percent-encoded as it is set (1.2)."""
    if account == "member" and n == 0:
        return FIRST_LOGIN["SESSDATA"]
    mark = digest("SESSDATA", account, n, size=24).hex()
    return f"{mark[:8]}%2C1806000000%2C{mark[8:13]}%2Aa1CjDsandbox{mark[13:]}"


class Logins:
    """Sessions and how they begin."""

    def __init__(self, options: Options) -> None:
        self._now: datetime = options.now
        self.accounts = Accounts(sessdata)
        self.desk = QrDesk(
            "bilibili",
            options,
            self.accounts,
            ttl=QR_TTL,
            address=lambda key: (
                "https://account.bilibili.com/h5/account-h5/auth/scan-web"
                f"?navhide=1&callback=close&qrcode_key={key}&from=main-fe-header"
            ),
        )
        self._stale: set[str] = set()

    def actions(self) -> dict[str, Action]:
        return {
            **self.accounts.actions(),
            **self.desk.actions(),
            "want-refresh": self._want_refresh,
        }

    def _want_refresh(self, arguments: Mapping[str, Any]) -> Json:
        """``{"session": "member-2"}``: ``cookie/info`` asks for a refresh from now on (9.4)."""
        value = self.accounts.current(str(arguments.get("session", "member")))
        self._stale.add(value)
        return {"session": self.accounts.name_of(value)}

    def kind_of(self, value: str) -> str:
        """What a ``SESSDATA`` is worth: ``member``, ``expired``, ``flagged`` or ``none``.

        Only the cookie exactly as it was set is good (1.2).
        """
        known = self.accounts.kinds.get(value)
        if known is not None:
            return known
        match = _SESSDATA.fullmatch(value)
        if match is None:
            return "none"
        return "member" if int(match[1]) > self._now.timestamp() else "expired"

    def cookies(self, value: str) -> dict[str, str]:
        """The five cookies of a login."""
        if value == FIRST_LOGIN["SESSDATA"]:
            return dict(FIRST_LOGIN)
        mark = digest("cookies", value, size=32).hex()
        return {
            "SESSDATA": value,
            "bili_jct": mark[:32],
            "DedeUserID": str(self.mid(value)),
            "DedeUserID__ckMd5": mark[32:48],
            "sid": mark[48:56],
        }

    def mid(self, value: str) -> int:
        """The number of the person behind a session."""
        identity = self.accounts.identity(value)
        first = int(FIRST_LOGIN["DedeUserID"])
        if identity == FIRST_LOGIN["SESSDATA"]:
            return first
        return first + 1 + number("mid", identity) % 10**9

    # -- passport -------------------------------------------------------------------------------

    def passport(self, call: Call, kind: str) -> Reply:
        """``passport.bilibili.com``."""
        if call.path == _GENERATE:
            code = self.desk.issue()
            return _answer({"url": code.url, "qrcode_key": code.id})
        if call.path == _POLL:
            return self._poll(call)
        if call.path == _INFO:
            if kind != "member":
                return json_reply({"code": -101, "message": "账号未登录", "ttl": 1})
            stale = call.cookies.get("SESSDATA") in self._stale
            return _answer({"refresh": stale, "timestamp": int(self._now.timestamp() * 1000)})
        if call.path == "/login":
            return html_reply(login_page())
        return text_reply("not in the sandbox", status=404)

    def _poll(self, call: Call) -> Reply:
        code = self.desk.find(call.params.get("qrcode_key", ""))
        number_, message = _STATES["expired" if code is None else code.state]
        data: Json = {
            "url": "",
            "refresh_token": "",
            "timestamp": 0,
            "code": number_,
            "message": message,
        }
        if code is None or not code.session:
            return _answer(data)
        cookies = self.cookies(code.session)
        listed = "&".join(f"{name}={value}" for name, value in cookies.items())
        data |= {
            "url": "https://passport.biligame.com/x/passport-login/web/crossDomain"
            f"?{listed}&gourl={quote('https://www.bilibili.com', safe='')}",
            "refresh_token": digest("refresh", code.session).hex(),
            "timestamp": int(self._now.timestamp() * 1000),
        }
        tail = "Path=/; Domain=bilibili.com; Max-Age=15552000; Secure"
        return _answer(
            data,
            [
                ("Set-Cookie", f"{n}={v}; {tail}{'; HttpOnly' * (n == 'SESSDATA')}")
                for n, v in cookies.items()
            ],
        )


def _answer(data: Json, headers: list[tuple[str, str]] | None = None) -> Reply:
    return json_reply({"code": 0, "message": "OK", "ttl": 1, "data": data}, headers=headers or [])


# -- pages ----------------------------------------------------------------------------------------

_ENTRY = (
    '<div class="right-entry"><div class="right-entry__outside go-login-btn">'
    '<div class="header-login-entry"><span>登录</span></div></div></div>'
)


def home_page(member: bool) -> str:
    """``www.bilibili.com/``: the login opens by a click on its entry (9.2)."""
    entry = '<div class="right-entry"><a class="header-entry-mini">我的</a></div>'
    return _page("哔哩哔哩", entry if member else _ENTRY, member)


def login_page() -> str:
    """``passport.bilibili.com/login``: the code is shown at once."""
    return _page("登录 - 哔哩哔哩", "", False)


def _page(title: str, body: str, member: bool) -> str:
    script = "" if member else f"<script>{_SCRIPT.replace('WAIT', WAIT)}</script>"
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title></head>'
        f'<body><div id="i_cecream">{body}</div>{script}</body></html>'
    )


def helper(call: Call) -> Reply:
    """``/__site__/qr``: the picture of a code as the page's own script would draw it."""
    if call.path == "/__site__/qr":
        return text_reply(qr_data_url(call.params.get("text", "")[:800]))
    return text_reply("404", status=404)


_SCRIPT = r"""
(function () {
"use strict";
WAIT
const passport = "https://passport.bilibili.com/x/passport-login/web/qrcode/";
async function ask(path) {
  const answer = await fetch(passport + path, {credentials: "include"});
  return (await answer.json()).data;
}
async function showCode(picture, words) {
  const made = await ask("generate?source=main-fe-header");
  const drawn = await fetch("/__site__/qr?text=" + encodeURIComponent(made.url));
  picture.src = await drawn.text();
  words.textContent = "扫描二维码登录";
  for (;;) {
    await wait(500);
    const state = await ask("poll?qrcode_key=" + made.qrcode_key + "&source=main-fe-header");
    if (state.code === 86090) { words.textContent = "扫码成功，请在手机上确认"; }
    if (state.code === 86038) { words.textContent = "二维码已过期，点击刷新"; return false; }
    if (state.code === 0) {
      localStorage.setItem("ac_time_value", state.refresh_token);
      return true;
    }
  }
}
async function showLogin() {
  if (document.querySelector(".login-scan-box")) { return; }
  const box = document.createElement("div");
  box.className = "login-scan-box";
  box.innerHTML = '<div class="qr"><img alt=""><div class="words"></div></div>';
  document.body.appendChild(box);
  const picture = box.querySelector("img");
  const words = box.querySelector(".words");
  while (!(await showCode(picture, words))) {
    await new Promise(function (again) { box.onclick = again; });
    box.onclick = null;
  }
  location.href = "https://www.bilibili.com/";
}
const entry = document.querySelector(".go-login-btn");
if (entry) { entry.onclick = showLogin; } else { showLogin(); }
})();
"""
