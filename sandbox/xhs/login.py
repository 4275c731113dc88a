"""Logins of XHS: QR codes, phone numbers, the page that shows them, and what its script may do.

Sections are those of ``docs/platforms/xhs.md``. The page's script signs its own requests by a
scheme of the sandbox (:class:`PageKeys`), so that a browser needs no algorithm of the platform:
what counts is that a fetch which went through the page's patched ``fetch`` is accepted, and any
other is refused.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

from sandbox.core import Call, ControlError, Json, Options, Reply, json_reply, redirect, text_reply
from sandbox.logins import WAIT, Accounts, QrCode, QrDesk, qr_data_url
from sandbox.worlds import digest, number
from sandbox.xhs.signature import MAX_SKEW_MS, BadSignature, make_a1

QR_TTL = 240  # "about 4 minutes" (9)
SCHEME = "SBX_"
_STATES = {"new": 0, "scanned": 1, "confirmed": 2, "expired": 3, "refused": 3}
_PHONE = re.compile(r"1\d{10}")
_BAD_CODE = (-1, "验证码错误")  # the real number is not known


class PageKeys:
    """Keys that were given to pages, and the check of what pages signed with them."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}

    def issue(self) -> tuple[str, str]:
        """A new key and its name."""
        name, key = secrets.token_hex(6), secrets.token_hex(16)
        self._keys[name] = key
        return name, key

    def check(self, call: Call) -> None:
        """Raise :class:`BadSignature` unless the script of a page signed *call*."""
        name, _, told = call.headers.get("x-s", "").removeprefix(SCHEME).partition("_")
        key, stamp = self._keys.get(name), call.headers.get("x-t", "")
        if len(call.cookies.get("a1", "")) != 52:
            raise BadSignature("no_a1")
        if key is None:
            raise BadSignature("page_key")
        if not stamp.isdigit() or abs(time.time() * 1000 - int(stamp)) > MAX_SKEW_MS:
            raise BadSignature("xt_stale")
        head = f"{key}\n{stamp}\n{call.method}\n{call.target}\n"
        content = head.encode("utf-8", "surrogateescape") + call.body
        if told != _fnv(content, 2166136261) + _fnv(content, 0x9747B28C):
            raise BadSignature("page_content")


def _fnv(data: bytes, value: int) -> str:
    for byte in data:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return f"{value:08x}"


class Logins:
    """The endpoints of section 9, and the helpers of the login page.

    :param open_session: account to the value of a new session.
    """

    def __init__(self, options: Options, accounts: Accounts) -> None:
        self.accounts = accounts
        self.desk = QrDesk(
            "xhs",
            options,
            accounts,
            ttl=QR_TTL,
            address=lambda code_id: (
                f"https://www.xiaohongshu.com/mobile/login?qrId={code_id}&ruleId=4"
                f"&xhs_code={_short(code_id)}&timestamp=1790000000000&channel_type=web"
            ),
            id_of=lambda mark: f"{number('qr', mark) % 9 + 1}{number(mark) % 10**17:017d}",
        )
        self.keys = PageKeys()
        self.solved: set[str] = set()
        self._sms: dict[str, str] = {}
        self._tokens: dict[str, str] = {}

    def actions(self) -> dict[str, Callable[[Mapping[str, Any]], Any]]:
        return {
            **self.desk.actions(),
            "sms-code": self._sms_code,
            "solve-captcha": self._solve,
        }

    def _sms_code(self, arguments: Mapping[str, Any]) -> Json:
        """``{"phone": "13800000002"}``: the text message that arrived last."""
        code = self._sms.get(str(arguments.get("phone", "")))
        if code is None:
            raise ControlError("no code was sent to that number", 404)
        return {"code": code}

    def _solve(self, arguments: Mapping[str, Any]) -> Json:
        """``{"session": "member-2"}``: somebody has passed the captcha with this account."""
        wanted = str(arguments.get("session", ""))
        value = self.accounts.current(wanted) if wanted.startswith("member") else wanted
        self.solved.add(value)
        return {"session": self.accounts.name_of(value)}

    # -- QR codes -------------------------------------------------------------------------------

    def create(self, _call: Call) -> Json:
        code = self.desk.issue()
        return {"qr_id": code.id, "code": _short(code.id), "url": code.url, "multi_flag": 0}

    def user_info(self, call: Call) -> Json | None:
        """The poll of today's page; ``None`` for a code that nobody was given."""
        body = call.json()
        asked = body if isinstance(body, dict) else {}
        code = self._code(str(asked.get("qrId", "")), str(asked.get("code", "")))
        if code is None:
            return None
        data: Json = {"codeStatus": _STATES[code.state]}
        if code.session:
            data["userId"] = self._user_id(code.session)
        return data

    def status(self, call: Call) -> tuple[Json | None, str]:
        """The poll of older pages, which also logs in: data, and the session once there is one."""
        code = self._code(call.params.get("qr_id", ""), call.params.get("code", ""))
        if code is None:
            return None, ""
        data: Json = {"code_status": _STATES[code.state]}
        if code.session:
            data["login_info"] = self.login_info(code.session)
        return data, code.session

    def _code(self, code_id: str, short: str) -> QrCode | None:
        return self.desk.find(code_id) if short == _short(code_id) else None

    def login_info(self, session: str) -> Json:
        return {
            "user_id": self._user_id(session),
            "session": session,
            "secure_session": secure_session(session),
        }

    def _user_id(self, session: str) -> str:
        return self.user_id(self.accounts.identity(session))

    user_id: Callable[[str], str] = staticmethod(lambda session: session)
    """Identity of a session to the user's id; the site sets it."""

    # -- phones ---------------------------------------------------------------------------------

    def send_code(self, call: Call) -> tuple[int, str] | None:
        """``None`` when the text message is on its way."""
        phone = call.params.get("phone", "")
        if not _PHONE.fullmatch(phone):
            return -1, "手机号格式不正确"
        self._sms[phone] = f"{number('sms', phone, len(self._sms)) % 900_000 + 100_000}"
        return None

    def check_code(self, call: Call) -> str | None:
        """The token for a right code."""
        phone, code = call.params.get("phone", ""), call.params.get("code", "")
        if not code or self._sms.get(phone) != code:
            return None
        token = digest("mobile token", phone, code).hex()
        self._tokens[token] = phone
        return token

    def login_code(self, call: Call) -> str | None:
        """The session for a right token; a token is good once."""
        body = call.json()
        asked = body if isinstance(body, dict) else {}
        phone = self._tokens.pop(str(asked.get("mobile_token", "")), None)
        if phone is None or phone != str(asked.get("phone", "")):
            return None
        return self.accounts.open(f"member-{int(phone[-4:])}")

    @staticmethod
    def bad_code() -> tuple[int, str]:
        return _BAD_CODE

    # -- what the login page's script asks its own site -----------------------------------------

    def helper(self, call: Call, session: str) -> Reply:
        """``/__site__/...`` of the www hosts."""
        name = call.path.removeprefix("/__site__/")
        if name == "page.js":
            return self._script(call)
        if name == "qr":
            return text_reply(qr_data_url(call.params.get("text", "")[:800]))
        if name == "verified" and call.method == "POST":
            if session:
                self.solved.add(session)
            return json_reply({"ok": True})
        return text_reply("404 page not found", status=404)

    def _script(self, call: Call) -> Reply:
        name, key = self.keys.issue()
        rednote = call.host.endswith("rednote.com")
        setup = {
            "keyName": name,
            "key": key,
            "a1": make_a1(name),
            "webId": digest("webId", name).hex(),
            "domain": ".rednote.com" if rednote else ".xiaohongshu.com",
            "api": "https://webapi.rednote.com" if rednote else "https://edith.xiaohongshu.com",
            "signed": ["edith.xiaohongshu.com", "so.xiaohongshu.com", "webapi.rednote.com"],
        }
        body = _PAGE_SCRIPT.replace("SETUP", json.dumps(setup)).replace("WAIT", WAIT)
        headers = [("Cache-Control", "no-store")]
        return Reply(200, body.encode(), "application/javascript; charset=utf-8", headers)


def secure_session(session: str) -> str:
    return "X" + digest("secure", session, size=24).hex()


def session_cookies(session: str, domain: str) -> list[tuple[str, str]]:
    """The Set-Cookie headers of a login (1.2)."""
    tail = f"Domain={domain}; Path=/; Max-Age=31536000; Secure; HttpOnly"
    cookies = {
        "web_session": session,
        "web_session_sec": secure_session(session),
        "id_token": "VjEAA" + digest("id token", session, size=30).hex() + "==",
    }
    return [("Set-Cookie", f"{name}={value}; {tail}") for name, value in cookies.items()]


def _short(code_id: str) -> str:
    """The second number of a QR code: what an endpoint wants beside its id."""
    return f"{number('code', code_id) % 10**6:06d}"


# -- pages ----------------------------------------------------------------------------------------

SCRIPT_TAG = '<script src="/__site__/page.js"></script>'
"""What every page begins with: patches ``fetch``, sets the page's cookies, shows the login."""

_HEAD = '<!doctype html><html><head><meta charset="utf-8">'


def login_page() -> str:
    """``/login``: the modal is on at once."""
    return (
        f'{_HEAD}<title>小红书</title>{SCRIPT_TAG}</head><body data-login="now">'
        '<div id="app">请登录</div></body></html>'
    )


def captcha_page() -> str:
    """``/website-login/captcha``: a person has to press the button; the sandbox's slider."""
    return (
        f"{_HEAD}<title>小红书</title></head><body>"
        '<div class="captcha">请通过验证 <button id="captcha-done">拖动滑块</button></div>'
        "<script>document.querySelector('#captcha-done').onclick = async function () {\n"
        '  await fetch("/__site__/verified", {method: "POST", body: "{}"});\n'
        '  const back = new URLSearchParams(location.search).get("redirectPath");\n'
        '  location.href = back && back.startsWith(location.origin) ? back : "/explore";\n'
        "};</script></body></html>"
    )


def challenge_value(call: Call) -> str:
    """What the challenge's script leaves in ``websectiga``; bound to the browser."""
    return digest("challenge", call.headers.get("user-agent", ""), size=32).hex()


def challenge_page(call: Call) -> str:
    """A page without any state whose script sets a cookie and comes again."""
    domain = ".rednote.com" if call.host.endswith("rednote.com") else ".xiaohongshu.com"
    return (
        f"{_HEAD}<title>小红书</title></head><body><script>\n"
        f'document.cookie = "websectiga={challenge_value(call)}; domain={domain}; path=/; "'
        ' + "max-age=259200";\nlocation.reload();\n</script></body></html>'
    )


def mobile_page(call: Call) -> Reply:
    """Where the picture leads: in a browser there is nothing to see."""
    if call.path != "/mobile/login":
        return redirect(f"https://{call.host}/404")
    return text_reply("请使用小红书 App 扫码登录")


_PAGE_SCRIPT = r"""
(function () {
"use strict";
const setup = SETUP;
WAIT
function setCookie(name, value) {
  document.cookie = name + "=" + value + "; domain=" + setup.domain + "; path=/; max-age=31536000";
}
if (cookie("a1").length !== 52) { setCookie("a1", setup.a1); setCookie("webId", setup.webId); }
setCookie("xsecappid", "xhs-pc-web");

function fnv(bytes, value) {
  for (const byte of bytes) { value = Math.imul(value ^ byte, 16777619) >>> 0; }
  return value.toString(16).padStart(8, "0");
}
function seal(stamp, method, target, body) {
  const text = [setup.key, stamp, method, target, body].join("\n");
  const bytes = new TextEncoder().encode(text);
  return "SBX_" + setup.keyName + "_" + fnv(bytes, 2166136261) + fnv(bytes, 0x9747b28c);
}
const plain = window.fetch.bind(window);
window.fetch = async function (input, init) {
  const given = input instanceof Request ? init : Object.assign({credentials: "include"}, init);
  const request = new Request(input, given);
  const url = new URL(request.url);
  if (!setup.signed.includes(url.hostname)) { return plain(input, init); }
  const bare = request.method === "GET" || request.method === "HEAD";
  const body = bare ? "" : await request.text();
  const stamp = String(Date.now());
  const headers = new Headers(request.headers);
  headers.set("x-s", seal(stamp, request.method, url.pathname + url.search, body));
  headers.set("x-t", stamp);
  headers.set("x-s-common", "SBX");
  return plain(request.url, {
    method: request.method, headers: headers, body: bare ? undefined : body,
    credentials: request.credentials, redirect: request.redirect, signal: request.signal,
  });
};

async function api(method, path, body) {
  const answer = await window.fetch(setup.api + path, body === undefined ? {method: method} : {
    method: method, body: JSON.stringify(body),
    headers: {"content-type": "application/json;charset=UTF-8", "service-tag": "webcn"},
  });
  if (answer.status !== 200) { throw new Error("HTTP " + answer.status); }
  return answer.json();
}
function element(parent, tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text) { made.textContent = text; }
  parent.appendChild(made);
  return made;
}
function done() {
  const back = new URLSearchParams(location.search).get("redirectPath");
  location.href = back && back.startsWith(location.origin) ? back : "/explore";
}

async function showCode(box, picture, words) {
  const made = (await api("POST", "/api/sns/web/v1/login/qrcode/create", {qr_type: 1})).data;
  const drawn = await plain("/__site__/qr?text=" + encodeURIComponent(made.url));
  picture.src = await drawn.text();
  words.textContent = "可用小红书或微信扫码";
  while (box.isConnected) {
    await wait(500);
    const asked = {qrId: made.qr_id, code: made.code};
    const state = (await api("POST", "/api/qrcode/userinfo", asked)).data.codeStatus;
    if (state === 1) { words.textContent = "扫码成功，请在手机上确认"; }
    if (state === 3) { words.textContent = "二维码已过期，点击刷新"; return false; }
    if (state === 2) {
      await api("GET", "/api/sns/web/v1/login/qrcode/status?qr_id=" + made.qr_id +
        "&code=" + made.code);
      return true;
    }
  }
  return false;
}
function phoneForm(box) {
  const phone = element(element(box, "label", "phone"), "input", "");
  const line = element(box, "label", "auth-code");
  const code = element(line, "input", "");
  const send = element(line, "span", "code-button", "获取验证码");
  const terms = element(box, "div", "agreements");
  terms.innerHTML = '<svg width="16" height="16"><circle cx="8" cy="8" r="7"/></svg>';
  let agreed = false;
  terms.querySelector("svg").addEventListener("click", function () { agreed = true; });
  const form = element(box, "div", "input-container");
  form.append(phone.parentNode, line, terms);
  const button = element(form, "button", "submit", "登录");
  const words = element(box, "div", "err-msg");
  send.onclick = async function () {
    const told = await api("GET", "/api/sns/web/v2/login/send_code?phone=" + phone.value +
      "&zone=86&type=login");
    words.textContent = told.success ? "" : told.msg;
  };
  button.onclick = async function () {
    if (!agreed) { words.textContent = "请先同意协议"; return; }
    const told = await api("GET", "/api/sns/web/v1/login/check_code?phone=" + phone.value +
      "&zone=86&code=" + code.value);
    if (!told.success) { words.textContent = told.msg; return; }
    const token = told.data.mobile_token;
    await api("POST", "/api/sns/web/v2/login/code",
      {mobile_token: token, zone: "86", phone: phone.value});
    done();
  };
}
async function showLogin() {
  if (document.querySelector(".login-container")) { return; }
  const box = element(document.body, "div", "login-container");
  const left = element(box, "div", "left");
  const code = element(left, "div", "code-area qrcode");
  const picture = element(code, "img", "qrcode-img");
  const words = element(code, "div", "status");
  phoneForm(element(box, "div", "right"));
  let wanted;
  code.onclick = function () { if (wanted) { wanted(); } };
  try {
    const me = await api("GET", "/api/sns/web/v2/user/me");
    if (me.code === -101 || me.code === -100) {
      await api("POST", "/api/sns/web/v1/login/activate", {});
    }
    while (!(await showCode(box, picture, words))) {
      await new Promise(function (again) { wanted = again; });
    }
    done();
  } catch (error) {
    picture.removeAttribute("src");
    words.textContent = "请通过验证";  // a person has to act
  }
}
document.addEventListener("DOMContentLoaded", async function () {
  const state = window.__INITIAL_STATE__;
  if (state && state.user && state.user.loggedIn) { return; }
  const button = element(document.body, "button", "login-btn", "登录");
  button.onclick = showLogin;
  if (document.body.dataset.login !== "now") { await wait(1500); }
  showLogin();
});
})();
"""
