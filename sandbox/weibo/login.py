"""Logins of Weibo: single sign-on over four hosts, its QR page, silent renewal, the visitor page.

Sections are those of ``docs/platforms/weibo.md``.
"""

from __future__ import annotations

import json
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from sandbox.core import Action, Call, Json, Options, Reply, html_reply, json_reply, redirect
from sandbox.logins import WAIT, Accounts, QrDesk, qr_png
from sandbox.worlds import digest

QR_TTL = 180  # "valid 2-5 minutes" (9.1)
SESSIONS = {
    "member": "_2A25Kb",
    "member-mobile": "_2A25Km",
    "member-desktop": "_2A25Kd",
    "visitor": "_2AkMd",
    "visitor-mobile": "_2AkMm",
    "expired": "_2A25Kx",
    "worn": "_2A25Kw",
}
"""How the cookie ``SUB`` of each kind of session begins. ``member`` is logged in on both hosts,
``worn`` too but its searches find nothing (6.2); ``visitor`` is the desktop's."""

_STATES = {
    "new": (50114001, "未使用"),
    "scanned": (50114002, "成功扫描，请在手机点击确认以登录"),
    "confirmed": (20000000, "succ"),
    "expired": (50114003, "该二维码已过期，请重新扫描"),
    "refused": (50114015, "二维码异常"),
    "used": (50114004, "该二维码已失效"),
}
_LIFE = 30 * 24 * 3600
_DESKTOP, _MOBILE = "https://weibo.com/", "https://m.weibo.cn/"


def split_kind(kind: str) -> tuple[str, str] | None:
    """``member+2`` or ``member-2`` as ``("member", "2")``; ``None`` for an unknown kind."""
    for base in sorted(SESSIONS, key=len, reverse=True):
        if kind == base:
            return base, ""
        if kind.startswith((f"{base}-", f"{base}+")):
            return base, kind[len(base) + 1 :]
    return None


def sub_and_mark(account: str, n: int) -> tuple[str, str]:
    """``SUB`` number *n* of an account, and the text from which its other cookies come."""
    parts = split_kind(account)
    assert parts is not None
    base, suffix = parts
    name = f"{base}+{suffix}" if suffix else base
    seed = ("weibo session", name, n) if n else ("weibo session", name)
    mark = digest(*seed, size=20).hex()
    return SESSIONS[base] + mark, mark


class Logins:
    """Sessions of both hosts, and how they begin and are renewed."""

    def __init__(self, options: Options) -> None:
        self.accounts = Accounts(lambda account, n: sub_and_mark(account, n)[0])
        self.desk = QrDesk(
            "weibo",
            options,
            self.accounts,
            ttl=QR_TTL,
            address=lambda qrid: (
                "https://passport.weibo.cn/signin/qrcode/scan?"
                + urlencode({"qr": qrid, "sinainternalbrowser": "topnav", "showmenu": "0"})
            ),
        )
        self._now = int(options.now.timestamp())
        self._used: set[str] = set()
        self._tickets: dict[str, str] = {}
        self._keepers: dict[str, str] = {}
        self._steps = 0

    def actions(self) -> dict[str, Action]:
        return {**self.accounts.actions(), **self.desk.actions()}

    def kind_of(self, value: str) -> str:
        """The kind in :data:`SESSIONS` that a ``SUB`` belongs to, what it was made, or ``none``."""
        known = self.accounts.kinds.get(value)
        if known is not None:
            return known
        for kind, start in SESSIONS.items():
            if value.startswith(start) and len(value) > len(start) + 8:
                return kind
        return "none"

    # -- passport.weibo.com ---------------------------------------------------------------------

    def sign_on(self, call: Call) -> Reply | None:
        """``/sso/...`` of ``passport.weibo.com`` and of ``passport.weibo.cn``."""
        if call.path == "/sso/signin":
            token = digest("csrf", call.target, self._next()).hex()[:24]
            headers = [("Set-Cookie", f"X-CSRF-TOKEN={token}; Path=/; Secure")]
            return html_reply(sign_in_page(call), headers=headers)
        if call.path == "/sso/v2/qrcode/image":
            return self._image(call)
        if call.path == "/sso/v2/qrcode/check":
            return self._check(call)
        if call.path == "/sso/v2/login":
            return self._login(call)
        if call.path == "/sso/crossdomain" and call.host.endswith("weibo.cn"):
            session = self._tickets.pop(call.params.get("ticket", ""), None)
            if session is None:
                return _spent()
            return self._arrive(session, ".weibo.cn", call.params.get("url", _DESKTOP))
        return None

    def _next(self) -> int:
        self._steps += 1
        return self._steps

    def _image(self, call: Call) -> Reply:
        token = call.cookies.get("X-CSRF-TOKEN", "")
        if not token or call.headers.get("x-csrf-token") != token:
            return json_reply({"retcode": 50111261, "msg": "csrf token error"}, status=403)
        code = self.desk.issue()
        query = urlencode({"api_key": digest("api key").hex(), "data": code.url})
        image = f"https://v2.qr.weibo.cn/inf/gen?{query}"
        return json_reply(
            {"retcode": 20000000, "msg": "succ", "data": {"qrid": code.id, "image": image}}
        )

    def _check(self, call: Call) -> Reply:
        code = self.desk.find(call.params.get("qrid", ""))
        state = "used" if code is None or code.id in self._used else code.state
        retcode, message = _STATES[state]
        data: Json | None = None
        if code is not None and state == "confirmed":
            self._used.add(code.id)
            alt = self._ticket(code.session, "ALT")
            target = call.params.get("url", _DESKTOP)
            entry = call.params.get("entry", "miniblog")
            query = urlencode({"entry": entry, "type": "3", "alt": alt, "url": target})
            data = {"url": f"https://passport.weibo.com/sso/v2/login?{query}"}
        return json_reply({"retcode": retcode, "msg": message, "data": data})

    def _ticket(self, session: str, kind: str) -> str:
        ticket = f"{kind}-{digest('ticket', session, self._next()).hex()}"
        self._tickets[ticket] = session
        return ticket

    def _login(self, call: Call) -> Reply:
        """The link of a confirmed code: good once (9.1)."""
        session = self._tickets.pop(call.params.get("alt", ""), None)
        if session is None:
            return _spent()
        query = urlencode(
            {"ticket": self._ticket(session, "ST"), "url": call.params.get("url", _DESKTOP)}
        )
        onward = f"https://login.sina.com.cn/sso/v2/crossdomain?{query}"
        return self._arrive(session, ".weibo.com", onward)

    def _arrive(self, session: str, domain: str, onward: str) -> Reply:
        reply = redirect(onward)
        reply.headers = [*reply.headers, *self._cookies(session, domain)]
        return reply

    def _cookies(self, session: str, domain: str) -> list[tuple[str, str]]:
        """What a login leaves on one of the two domains (1.3)."""
        tail = f"Domain={domain}; Path=/; Max-Age={_LIFE}; Secure"
        cookies = {
            "SUB": session,
            "SUBP": "0033WrSXqPxfM725" + digest("subp", session).hex()[:24],
            "SCF": self._keeper(session, "SCF"),
            "ALF": str(self._now + _LIFE),
            "SSOLoginState": str(self._now),
        }
        return [
            ("Set-Cookie", f"{name}={value}; {tail}{'; HttpOnly' * (name in ('SUB', 'SCF'))}")
            for name, value in cookies.items()
        ]

    def _keeper(self, session: str, kind: str) -> str:
        """A long-lived companion of a session: the same for each session of its account."""
        account = self.accounts.name_of(session)
        value = kind[:1] + digest(kind, account, size=24).hex()
        self._keepers[value] = account
        return value

    # -- login.sina.com.cn ----------------------------------------------------------------------

    def sina(self, call: Call) -> Reply | None:
        """The hop between the two domains, and the silent renewal (9.4)."""
        ticket, url = call.params.get("ticket", ""), call.params.get("url", _DESKTOP)
        if call.path == "/sso/v2/crossdomain":
            session = self._tickets.pop(ticket, None)
            if session is None:
                return _spent()
            return self._onward(session, url)
        if call.path == "/sso/login.php":
            account = self._keepers.get(call.cookies.get("ALC", ""))
            if account is None or account in self.accounts.ended:
                return redirect(sign_in(url))
            session = self.accounts.open(account)
            query = urlencode({"alt": self._ticket(session, "ALT"), "url": url})
            return redirect(f"https://passport.weibo.com/sso/v2/login?{query}")
        return None

    def _onward(self, session: str, url: str) -> Reply:
        query = urlencode({"ticket": self._ticket(session, "ST"), "url": url})
        reply = redirect(f"https://passport.weibo.cn/sso/crossdomain?{query}")
        alc = f"ALC={self._keeper(session, 'ALC')}; Path=/; Max-Age={_LIFE}; Secure; HttpOnly"
        reply.headers = [*reply.headers, ("Set-Cookie", alc)]
        return reply

    def renewal(self, call: Call, kind: str) -> Reply | None:
        """A home page that is visited with an expired session and a living ``SCF`` (9.4)."""
        if kind != "expired" or call.cookies.get("SCF", "") not in self._keepers:
            return None
        back = f"https://{call.host}{call.target}"
        query = urlencode({"url": back, "service": "miniblog", "useticket": "1"})
        return redirect(f"https://login.sina.com.cn/sso/login.php?{query}")

    @staticmethod
    def picture(call: Call) -> Reply:
        """``v2.qr.weibo.cn/inf/gen``: a QR code of ``data``."""
        said = parse_qs(call.query).get("data", [""])[0]
        if call.path != "/inf/gen" or not said or len(said) > 800:
            return html_reply("<html><body>404</body></html>", status=404)
        return Reply(200, qr_png(said), "image/png")


def _spent() -> Reply:
    return json_reply({"retcode": 6102, "msg": "ticket已失效"})


def sign_in(back: str) -> str:
    """Where the site sends whoever has to log in."""
    return (
        "https://passport.weibo.com/sso/signin?entry=wapsso&source=wapssowb"
        f"&url={quote(back, safe='')}"
    )


# -- pages ----------------------------------------------------------------------------------------


def sign_in_page(call: Call) -> str:
    """The page with the QR code; its picture comes from another host (9.1)."""
    target = call.params.get("url", "")
    host = urlsplit(target).hostname or ""
    if not host.endswith(("weibo.com", "weibo.cn")):
        target = _MOBILE if call.params.get("entry") == "wapsso" else _DESKTOP
    setup = {
        "entry": call.params.get("entry", "miniblog"),
        "source": call.params.get("source", "miniblog"),
        "url": target,
        "rid": digest("rid", call.target).hex(),
    }
    script = _SIGN_IN.replace("SETUP", json.dumps(setup)).replace("WAIT", WAIT)
    return (
        '<!DOCTYPE html><html><head><meta charset="utf-8"><title>登录 - 微博</title></head><body>'
        '<div id="app"><h1>扫描二维码登录</h1><div class="qr"><img class="w-full h-full" alt="">'
        f'<div class="words"></div></div></div><script>{script}</script></body></html>'
    )


_SIGN_IN = r"""
(function () {
"use strict";
const setup = SETUP;
window.wbBotDetector = {get: function () { return setup.rid; }};
WAIT
const picture = document.querySelector(".qr img");
const words = document.querySelector(".qr .words");
async function showCode() {
  const answer = await fetch("/sso/v2/qrcode/image?entry=" + setup.entry + "&size=180", {
    headers: {"X-CSRF-TOKEN": cookie("X-CSRF-TOKEN")},
  });
  const made = (await answer.json()).data;
  picture.src = made.image;
  words.textContent = "打开微博手机端，扫一扫";
  const asked = new URLSearchParams({
    entry: setup.entry, source: setup.source, url: setup.url, qrid: made.qrid, disp: "popup",
    rid: window.wbBotDetector.get(), ver: "20250520",
  });
  for (;;) {
    await wait(700);
    const state = await (await fetch("/sso/v2/qrcode/check?" + asked)).json();
    if (state.retcode === 50114002) { words.textContent = "扫描成功，请在手机上确认"; }
    if (state.retcode === 20000000) { location.href = state.data.url; return true; }
    if (![50114001, 50114002].includes(state.retcode)) {
      words.textContent = "二维码已失效，点击刷新";
      return false;
    }
  }
}
(async function () {
  while (!(await showCode())) {
    await new Promise(function (again) { words.onclick = again; });
  }
})();
})();
"""

VISITOR_SCRIPT = r"""
(async function () {
  "use strict";
  const form = new URLSearchParams({
    cb: "visitor_gray_callback", ver: ver, request_id: request_id, tid: "", from: "weibo",
    webdriver: String(Boolean(navigator.webdriver)), return_url: return_url,
  });
  const answer = await fetch("/visitor/genvisitor2", {method: "POST", body: form});
  const text = await answer.text();
  const made = JSON.parse(text.slice(text.indexOf("(") + 1, text.lastIndexOf(")"))).data;
  const hop = new URLSearchParams({
    a: "crossdomain", t: made.tid, s: made.sub, sp: made.subp, from: "weibo",
    _rand: String(Math.random()), url: return_url,
  });
  location.replace("/visitor/visitor?" + hop);
})();
"""
"""How the page of the visitor system makes a visitor (2.5, flows A and C)."""
