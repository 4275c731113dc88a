"""Logins in the sandbox: codes and their states, accounts, sessions that end, pages and scripts."""

from __future__ import annotations

import base64
import http.client
import io
import json
import re
import time
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import segno
from weibo_client import AGENT, SSO, Cookies, Jar, Json, ask
from xhs_client import EDITH, V1, V2, WWW, Client

from mediacrawler.signing import zhihu as zhihu_signing
from sandbox.core import ControlError, Options, parse_cookies
from sandbox.faults import Faults
from sandbox.logins import Accounts, QrDesk
from sandbox.testing import ROOT, RunningSandbox


def set_cookies(headers: Any) -> dict[str, str]:
    """Names and values of all Set-Cookie headers."""
    lines = headers.get_all("Set-Cookie") or []
    return dict(line.partition(";")[0].split("=", 1) for line in lines)


def picture_of(text: str) -> str:
    out = io.BytesIO()
    segno.make(text, error="m", micro=False).save(out, kind="png", scale=6, border=4)
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()


# -- the desk that all platforms share ------------------------------------------------------------


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(clock: Clock) -> QrDesk:
    accounts = Accounts(lambda account, n: f"{account}/{n}")
    options = Options(switches={"demo.qr_ttl": "30"})
    return QrDesk(
        "demo", options, accounts, ttl=180, address=lambda i: f"https://demo/{i}", clock=clock
    )


def test_a_code_goes_from_new_to_scanned_to_confirmed(desk: QrDesk) -> None:
    code, play = desk.issue(), desk.actions()
    assert code.state == "new"
    assert play["scan"]({})["state"] == "scanned"
    assert play["confirm"]({"account": "member-2"})["state"] == "confirmed"
    assert (code.account, code.session) == ("member-2", "member-2/1")


def test_the_phone_may_name_its_code_by_id_or_by_what_the_picture_says(desk: QrDesk) -> None:
    first, second, third = desk.issue(), desk.issue(), desk.issue()
    desk.actions()["scan"]({"id": first.id})
    desk.actions()["confirm"]({"url": second.url})
    assert [code.state for code in (first, second, third)] == ["scanned", "confirmed", "new"]


def test_a_code_ends_after_its_time_and_a_confirmed_one_stays(desk: QrDesk, clock: Clock) -> None:
    early, late = desk.issue(), desk.issue()
    desk.actions()["confirm"]({"id": early.id})
    clock.now = 29.9
    assert desk.find(late.id) is late
    assert late.state == "new"
    clock.now = 30.0
    assert [desk.find(code.id) and code.state for code in (early, late)] == ["confirmed", "expired"]


@pytest.mark.parametrize(
    ("before", "action", "arguments", "status"),
    [
        ("expire-qr", "scan", {}, 409),
        ("expire-qr", "confirm", {}, 409),
        ("refuse", "confirm", {}, 409),
        ("scan", "scan", {}, 409),
        ("confirm", "refuse", {}, 409),
        ("scan", "confirm", {"account": "somebody"}, 400),
        ("scan", "confirm", {"id": "1"}, 404),
    ],
)
def test_what_a_phone_cannot_do(
    desk: QrDesk, before: str, action: str, arguments: Json, status: int
) -> None:
    desk.issue()
    desk.actions()[before]({})
    with pytest.raises(ControlError) as refused:
        desk.actions()[action](arguments)
    assert refused.value.status == status


def test_every_login_is_a_new_session_of_the_same_account() -> None:
    accounts = Accounts(lambda account, n: f"{account}/{n}")
    first, second = accounts.open("member-1"), accounts.open("member-1")
    assert first != second
    assert accounts.name_of(first) == accounts.name_of(second) == "member-1"
    assert accounts.identity(first) == accounts.identity(second)
    assert accounts.identity(first) != accounts.identity(accounts.open("member-2"))
    assert accounts.current("member-1") == second
    assert not accounts.kinds


def test_where_an_account_has_one_session_a_login_ends_the_others() -> None:
    accounts = Accounts(lambda account, n: f"{account}/{n}", one_session=True)
    first, second = accounts.open("member-1"), accounts.open("member-1")
    assert accounts.kinds.get(first) == "expired"
    assert second not in accounts.kinds


def test_a_session_nobody_handed_out_is_named_without_its_value() -> None:
    accounts = Accounts(lambda account, n: f"{account}/{n}")
    assert re.fullmatch(r"\?[0-9a-f]{6}", accounts.name_of("secret"))


# -- faults of one session ------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["member-2", "2", "value"])
def test_a_fault_can_be_for_one_account_only(sandbox: RunningSandbox, by: str) -> None:
    one, two = Client(sandbox, "member-1"), Client(sandbox, "member-2")
    session = two.cookies["web_session"] if by == "value" else by
    sandbox.fault("461", session=session, rate=1)
    assert one.get(f"{V2}/user/me")["success"]
    two.get(f"{V2}/user/me")
    assert (one.last[0], two.last[0]) == (200, 461)
    told = sandbox.stats()["sessions"]
    assert told["xhs/member-1"]["faults"] == {}
    assert told["xhs/member-2"]["faults"] == {"461": 1}
    assert told["xhs/member-2"]["as"] == {"member": 1}


def test_a_fault_can_begin_in_the_middle(sandbox: RunningSandbox) -> None:
    one, two = Client(sandbox, "member-1"), Client(sandbox, "member-2")
    sandbox.fault("300011", session="member-2", after=2)
    codes = [client.get(f"{V2}/user/me")["code"] for client in (two, one, two, one, two, two)]
    assert codes == [0, 0, 0, 0, 300011, 300011]


def test_the_dice_of_rules_for_several_accounts_differ() -> None:
    faults = Faults(1)
    rules = [faults.add("429", rate=0.5, session=name) for name in ("member-1", "member-2")]
    first, second = ([rule.dice.random() for _ in range(20)] for rule in rules)
    assert first != second


def test_an_account_counts_its_user_agents(sandbox: RunningSandbox) -> None:
    client = Client(sandbox)
    for agent in ("one", "two", "one"):
        sandbox.request(WWW, "/explore", headers={"cookie": client.cookie, "user-agent": agent})
    assert sandbox.stats()["sessions"]["xhs/member"]["user_agents"] == 2


def test_two_accounts_on_one_connection_are_counted(sandbox: RunningSandbox) -> None:
    def ask(connection: http.client.HTTPConnection, kind: str) -> None:
        cookie = sandbox.cookies(kind)
        connection.request("GET", "/explore", headers={"Host": WWW, "Cookie": cookie})
        connection.getresponse().read()

    for kinds, mixed in ((["member-1", "guest", "member-1"], 0), (["member-1", "member-2"], 1)):
        connection = http.client.HTTPConnection(sandbox.host, sandbox.port)
        for kind in kinds:
            ask(connection, kind)
        connection.close()
        assert sandbox.stats()["mixed_connections"] == mixed


# -- XHS ------------------------------------------------------------------------------------------


class Guest(Client):
    """Starts with a guest's session and takes what Set-Cookie brings, as a browser does."""

    def __init__(self, sandbox: RunningSandbox, kind: str = "guest") -> None:
        super().__init__(sandbox, kind)

    def keep_cookies(self) -> dict[str, str]:
        brought = set_cookies(self.last[1])
        self.cookies.update(brought)
        self.cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return brought

    def new_code(self) -> Json:
        data: Json = self.post(f"{V1}/login/qrcode/create", {"qr_type": 1})["data"]
        return data

    def poll(self, code: Json) -> int:
        asked = {"qrId": code["qr_id"], "code": code["code"]}
        return int(self.post("/api/qrcode/userinfo", asked)["data"]["codeStatus"])

    def status(self, code: Json) -> Json:
        params = {"qr_id": code["qr_id"], "code": code["code"]}
        data: Json = self.get(f"{V1}/login/qrcode/status", params)["data"]
        return data


def test_xhs_qr_login_replaces_the_guests_session(sandbox: RunningSandbox) -> None:
    guest = Guest(sandbox)
    before = guest.cookies["web_session"]
    assert guest.get(f"{V2}/user/me")["data"]["guest"] is True
    code = guest.new_code()
    states = [guest.poll(code)]
    for action in ("scan", "confirm"):
        sandbox.action("xhs", action, url=code["url"])
        states.append(guest.poll(code))
    assert states == [0, 1, 2]
    assert guest.cookies["web_session"] == before  # the poll brings none
    data = guest.status(code)
    brought = guest.keep_cookies()
    assert set(brought) == {"web_session", "web_session_sec", "id_token"}
    assert data["login_info"]["session"] == brought["web_session"]
    assert data["login_info"]["secure_session"] == brought["web_session_sec"]
    me = guest.get(f"{V2}/user/me")["data"]
    assert me["guest"] is False
    assert me["user_id"] == data["login_info"]["user_id"]
    assert guest.search("咖啡")["code"] == 0


@pytest.mark.parametrize("action", ["expire-qr", "refuse"])
def test_xhs_code_that_is_over_says_so_on_both_polls(sandbox: RunningSandbox, action: str) -> None:
    guest = Guest(sandbox)
    code = guest.new_code()
    sandbox.action("xhs", action)
    assert guest.poll(code) == 3
    assert guest.status(code) == {"code_status": 3}
    assert not set_cookies(guest.last[1])


def test_xhs_poll_needs_both_numbers_of_the_code(sandbox: RunningSandbox) -> None:
    guest = Guest(sandbox)
    asked = {"qrId": guest.new_code()["qr_id"], "code": "000000"}
    assert guest.post("/api/qrcode/userinfo", asked)["code"] == -1


def test_xhs_second_login_of_an_account_ends_the_first(sandbox: RunningSandbox) -> None:
    people = []
    for account in ("member-7", "member-7", "member-8"):
        guest = Guest(sandbox)
        code = guest.new_code()
        sandbox.action("xhs", "confirm", account=account)
        guest.status(code)
        guest.keep_cookies()
        people.append(guest)
    answers = [guest.get(f"{V2}/user/me") for guest in people]
    assert [answer["code"] for answer in answers] == [-100, 0, 0]
    assert answers[1]["data"]["user_id"] != answers[2]["data"]["user_id"]
    assert sandbox.cookies("member-7").count(people[1].cookies["web_session"]) == 1


def test_xhs_session_expires_and_a_new_login_is_the_same_person(sandbox: RunningSandbox) -> None:
    old = Client(sandbox, "member-9")
    person = old.get(f"{V2}/user/me")["data"]["user_id"]
    sandbox.action("xhs", "expire-session", session="member-9")
    assert old.get(f"{V2}/user/me")["code"] == -100
    guest = Guest(sandbox, "member-9")
    code = guest.new_code()
    sandbox.action("xhs", "confirm", account="member-9")
    guest.status(code)
    guest.keep_cookies()
    assert guest.get(f"{V2}/user/me")["data"]["user_id"] == person
    assert sandbox.stats()["sessions"]["xhs/member-9"]["as"]["expired"] >= 1


def test_xhs_flagged_session_can_be_restored(sandbox: RunningSandbox) -> None:
    client = Client(sandbox, "member-10")
    codes = []
    for action in ("flag-session", "restore-session"):
        sandbox.action("xhs", action, session=client.cookies["web_session"])
        codes.append(client.get(f"{V2}/user/me")["code"])
    assert codes == [300011, 0]


@pytest.mark.parametrize(
    ("kind", "code", "guest"),
    [("none", -101, None), ("guest", 0, True), ("expired", -100, None), ("member-3", 0, False)],
)
def test_xhs_who_am_i(sandbox: RunningSandbox, kind: str, code: int, guest: bool | None) -> None:
    answer = Client(sandbox, kind).get(f"{V2}/user/me")
    assert (answer["code"], answer["data"].get("guest")) == (code, guest)


def test_xhs_phone_login(sandbox: RunningSandbox) -> None:
    guest = Guest(sandbox)
    number = {"phone": "13800000012", "zone": "86"}
    assert guest.get(f"{V2}/login/send_code", {**number, "type": "login"})["success"]
    right = sandbox.action("xhs", "sms-code", phone=number["phone"])["code"]
    wrong = str(int(right) ^ 1)
    assert not guest.get(f"{V1}/login/check_code", {**number, "code": wrong})["success"]
    token = guest.get(f"{V1}/login/check_code", {**number, "code": right})["data"]["mobile_token"]
    asked = {"mobile_token": token, **number}
    data = guest.post(f"{V2}/login/code", asked)["data"]
    assert guest.keep_cookies()["web_session"] == data["session"]
    assert guest.get(f"{V2}/user/me")["data"]["guest"] is False
    assert guest.cookies["web_session"] in sandbox.cookies("member-12")
    assert not guest.post(f"{V2}/login/code", asked)["success"]  # a token is good once


def page(sandbox: RunningSandbox, target: str, cookie: str = "", host: str = WWW) -> str:
    headers = {"cookie": cookie, "user-agent": AGENT}
    status, _headers, body = sandbox.request(host, target, headers=headers)
    assert status == 200
    return body.decode("utf-8")


def note_address(sandbox: RunningSandbox) -> str:
    parts = urlsplit(sandbox.control("")["platforms"]["xhs"]["notes"]["image"])
    return f"{parts.path}?{parts.query}"


def test_xhs_pages_tell_members_from_guests(sandbox: RunningSandbox) -> None:
    entry = '<span class="channel">我</span>'
    assert entry in page(sandbox, "/explore", sandbox.cookies("member-3"))
    for kind in ("guest", "expired", "none"):
        assert entry not in page(sandbox, "/explore", sandbox.cookies(kind))


def test_xhs_picture_is_a_qr_code_of_the_address(sandbox: RunningSandbox) -> None:
    url = Guest(sandbox).new_code()["url"]
    assert page(sandbox, f"/__site__/qr?text={quote(url, safe='')}") == picture_of(url)


class Page:
    """What the script of a page does, in Python: it alone knows its key."""

    def __init__(self, sandbox: RunningSandbox) -> None:
        self.sandbox = sandbox
        script = page(sandbox, "/__site__/page.js")
        found = re.search(r"const setup = (\{.*\});", script)
        assert found is not None
        self.setup = json.loads(found[1])

    def fetch(self, target: str, cookie: str, *, key: str = "", signed: str = "") -> int:
        stamp = str(int(time.time() * 1000))
        text = "\n".join((key or self.setup["key"], stamp, "GET", signed or target, ""))
        seal = "".join(self._fnv(text.encode(), start) for start in (2166136261, 0x9747B28C))
        headers = {
            "cookie": cookie,
            "origin": f"https://{WWW}",
            "x-s": f"SBX_{self.setup['keyName']}_{seal}",
            "x-t": stamp,
        }
        status, answer, _body = self.sandbox.request(EDITH, target, headers=headers)
        assert answer["Access-Control-Allow-Origin"] == f"https://{WWW}"
        assert answer["Access-Control-Allow-Credentials"] == "true"
        return status

    @staticmethod
    def _fnv(data: bytes, value: int) -> str:
        for byte in data:
            value = (value ^ byte) * 16777619 & 0xFFFFFFFF
        return f"{value:08x}"


def test_xhs_accepts_what_a_pages_script_signed_and_nothing_else(sandbox: RunningSandbox) -> None:
    site, cookie, target = Page(sandbox), sandbox.cookies("member"), f"{V2}/user/me"
    assert len(site.setup["a1"]) == 52
    assert site.fetch(target, cookie) == 200
    assert site.fetch(target, cookie, key=Page(sandbox).setup["key"]) == 406
    assert site.fetch(target, cookie, signed=f"{V1}/user/selfinfo") == 406
    assert site.fetch(target, "web_session=x") == 406
    reasons = sandbox.stats()["bad_signatures"]
    assert reasons == {"page_content": 2, "no_a1": 1}


def test_xhs_faults_can_be_read_by_a_page_and_spare_its_preflights(
    sandbox: RunningSandbox,
) -> None:
    sandbox.fault("461", times=1)
    headers = {"origin": f"https://{WWW}", "access-control-request-method": "POST"}
    status, answer, _ = sandbox.request(EDITH, f"{V1}/feed", method="OPTIONS", headers=headers)
    assert status == 204
    assert answer["Access-Control-Allow-Origin"] == f"https://{WWW}"
    assert Page(sandbox).fetch(f"{V2}/user/me", sandbox.cookies("member")) == 461
    foreign = {"origin": "https://elsewhere.example"}
    _, answer, _ = sandbox.request(EDITH, f"{V1}/feed", method="OPTIONS", headers=foreign)
    assert "Access-Control-Allow-Origin" not in answer


def test_xhs_challenge_gives_way_to_its_cookie_in_the_same_browser(
    sandbox: RunningSandbox,
) -> None:
    sandbox.fault("challenge")
    target, cookie = note_address(sandbox), sandbox.cookies("member")
    first = page(sandbox, target, cookie)
    assert "__INITIAL_STATE__" not in first
    name, _, value = re.findall(r'document\.cookie = "([^=]+)(=)([^;]+);', first)[0]
    passed = f"{cookie}; {name}={value}"
    assert "__INITIAL_STATE__" in page(sandbox, target, passed)
    headers = {"cookie": passed, "user-agent": "another"}
    assert b"__INITIAL_STATE__" not in sandbox.request(WWW, target, headers=headers)[2]
    assert sandbox.stats()["faults"] == {"challenge": 2}
    assert Client(sandbox).get(f"{V2}/user/me")["success"]  # pages only


@pytest.mark.parametrize("by", ["person", "action"])
def test_xhs_solvable_captcha_ends_for_the_session_that_solved_it(
    sandbox: RunningSandbox, by: str
) -> None:
    account = {"person": "member-21", "action": "member-22"}[by]
    client, other = Client(sandbox, account), Client(sandbox, "member-20")
    sandbox.fault("461", args={"solvable": True})
    client.get(f"{V2}/user/me")
    assert client.last[0] == 461
    if by == "person":
        headers = {"cookie": client.cookie}
        sandbox.request(WWW, "/__site__/verified", method="POST", headers=headers, body=b"{}")
    else:
        sandbox.action("xhs", "solve-captcha", session=account)
    assert client.get(f"{V2}/user/me")["data"]["guest"] is False
    other.get(f"{V2}/user/me")
    assert other.last[0] == 461


def test_xhs_captcha_and_login_walls_are_pages_that_lead_out(sandbox: RunningSandbox) -> None:
    sandbox.fault("461")
    status, headers, _ = sandbox.request(WWW, "/explore")
    where = urlsplit(headers["Location"])
    assert status == 302
    assert "请通过验证" in page(sandbox, f"{where.path}?{where.query}")
    assert '<script src="/__site__/page.js">' in page(sandbox, "/login")


# -- Bilibili -------------------------------------------------------------------------------------


def handed_out(sandbox: RunningSandbox, platform: str, kind: str) -> Cookies:
    return parse_cookies(sandbox.cookies(kind, platform=platform))


PASSPORT = "passport.bilibili.com"
QR = "/x/passport-login/web/qrcode"
NAV = ("api.bilibili.com", "/x/web-interface/nav")


def bilibili_poll(sandbox: RunningSandbox, key: str) -> tuple[int, Any, Any]:
    _, headers, body = ask(sandbox, PASSPORT, f"{QR}/poll?qrcode_key={key}&source=main-fe-header")
    assert body["code"] == 0  # the state is inside
    return body["data"]["code"], headers, body["data"]


def bilibili_login(sandbox: RunningSandbox, account: str) -> Cookies:
    key = ask(sandbox, PASSPORT, f"{QR}/generate?source=main-fe-header")[2]["data"]["qrcode_key"]
    sandbox.action("bilibili", "confirm", id=key, account=account)
    return set_cookies(bilibili_poll(sandbox, key)[1])


def test_bilibili_code_and_its_states(sandbox: RunningSandbox) -> None:
    data = ask(sandbox, PASSPORT, f"{QR}/generate?source=main-fe-header")[2]["data"]
    key = data["qrcode_key"]
    assert len(key) == 32
    assert key in data["url"]
    states = [bilibili_poll(sandbox, key)[0]]
    for action in ("scan", "confirm"):
        sandbox.action("bilibili", action, url=data["url"])
        states.append(bilibili_poll(sandbox, key)[0])
    assert states == [86101, 86090, 0]
    _, headers, done = bilibili_poll(sandbox, key)
    brought = set_cookies(headers)
    assert set(brought) == {"SESSDATA", "bili_jct", "DedeUserID", "DedeUserID__ckMd5", "sid"}
    assert "%2C" in brought["SESSDATA"]
    assert done["refresh_token"]
    assert brought["SESSDATA"] in done["url"]


@pytest.mark.parametrize("action", ["expire-qr", "refuse"])
def test_bilibili_code_that_is_over(sandbox: RunningSandbox, action: str) -> None:
    key = ask(sandbox, PASSPORT, f"{QR}/generate")[2]["data"]["qrcode_key"]
    sandbox.action("bilibili", action)
    state, headers, _ = bilibili_poll(sandbox, key)
    assert state == 86038
    assert not set_cookies(headers)
    assert bilibili_poll(sandbox, "0" * 32)[0] == 86038


def test_bilibili_accounts_are_different_people_and_stay_themselves(
    sandbox: RunningSandbox,
) -> None:
    logins = [bilibili_login(sandbox, name) for name in ("member-1", "member-2", "member-1")]
    people = [ask(sandbox, *NAV, cookies)[2]["data"] for cookies in logins]
    assert all(person["isLogin"] for person in people)
    assert people[0]["mid"] == people[2]["mid"] != people[1]["mid"]
    assert [str(person["mid"]) for person in people] == [c["DedeUserID"] for c in logins]
    assert logins[0]["SESSDATA"] != logins[2]["SESSDATA"]
    assert handed_out(sandbox, "bilibili", "member-1")["SESSDATA"] == logins[2]["SESSDATA"]
    buvids = {handed_out(sandbox, "bilibili", f"member-{n}")["buvid3"] for n in (1, 2)}
    assert len(buvids) == 2


def test_bilibili_sessions_end_and_are_flagged_alone(sandbox: RunningSandbox) -> None:
    cookies = [handed_out(sandbox, "bilibili", f"member-{n}") for n in (11, 12, 13)]
    sandbox.action("bilibili", "expire-session", session="member-11")
    sandbox.action("bilibili", "flag-session", session="member-12")
    assert [ask(sandbox, *NAV, one)[2]["code"] for one in cookies] == [-101, 0, 0]
    spi = ("api.bilibili.com", "/x/frontend/finger/spi")
    assert [ask(sandbox, *spi, one)[2]["code"] for one in cookies] == [0, -352, 0]
    sandbox.fault("-799", session="member-13")
    assert [ask(sandbox, *spi, one)[2]["code"] for one in cookies] == [0, -352, -799]


def test_bilibili_pages_of_the_site_may_read_the_api(sandbox: RunningSandbox) -> None:
    for origin, allowed in (
        ("https://www.bilibili.com", True),
        ("https://space.bilibili.com", True),
        ("https://bilibili.com.example", False),
    ):
        _, headers, _ = ask(sandbox, *NAV, origin=origin)
        assert headers["Access-Control-Allow-Origin"] == (origin if allowed else None)


def test_bilibili_says_when_a_refresh_is_due(sandbox: RunningSandbox) -> None:
    info = "/x/passport-login/web/cookie/info?csrf=x"
    cookies = handed_out(sandbox, "bilibili", "member-14")
    assert ask(sandbox, PASSPORT, info)[2]["code"] == -101
    assert ask(sandbox, PASSPORT, info, cookies)[2]["data"]["refresh"] is False
    sandbox.action("bilibili", "want-refresh", session="member-14")
    assert ask(sandbox, PASSPORT, info, cookies)[2]["data"]["refresh"] is True


def test_bilibili_login_pages(sandbox: RunningSandbox) -> None:
    assert "go-login-btn" in ask(sandbox, "www.bilibili.com", "/")[2]
    member = handed_out(sandbox, "bilibili", "member-1")
    assert "go-login-btn" not in ask(sandbox, "www.bilibili.com", "/", member)[2]
    assert "login-scan-box" in ask(sandbox, PASSPORT, "/login")[2]


# -- Weibo ----------------------------------------------------------------------------------------


def test_weibo_login_reaches_both_domains(sandbox: RunningSandbox) -> None:
    jar = Jar(sandbox)
    code = jar.code()
    states = [jar.check(code["qrid"])["retcode"]]
    sandbox.action("weibo", "scan")
    states.append(jar.check(code["qrid"])["retcode"])
    sandbox.action("weibo", "confirm", account="member-2")
    done = jar.check(code["qrid"])
    states += [done["retcode"], jar.check(code["qrid"])["retcode"]]
    assert states == [50114001, 50114002, 20000000, 50114004]
    assert jar.who() == ("", "")
    _, where, _ = jar.get(done["data"]["url"])
    assert where == "https://weibo.com/"
    for domain in (".weibo.com", ".weibo.cn"):
        assert set(jar.cookies[domain]) == {"SUB", "SUBP", "SCF", "ALF", "SSOLoginState"}
    desktop, mobile = jar.who()
    assert desktop
    assert desktop == mobile
    assert jar.get(done["data"]["url"])[2]["retcode"] == 6102  # the link works once


@pytest.mark.parametrize(("action", "retcode"), [("expire-qr", 50114003), ("refuse", 50114015)])
def test_weibo_code_that_is_over(sandbox: RunningSandbox, action: str, retcode: int) -> None:
    jar = Jar(sandbox)
    code = jar.code()
    sandbox.action("weibo", action)
    answer = jar.check(code["qrid"])
    assert (answer["retcode"], answer["data"]) == (retcode, None)


def test_weibo_code_needs_the_token_of_the_page(sandbox: RunningSandbox) -> None:
    image = "/sso/v2/qrcode/image?entry=miniblog&size=180"
    assert ask(sandbox, SSO, image)[0] == 403
    assert ask(sandbox, SSO, image, {"X-CSRF-TOKEN": "a"}, x_csrf_token="b")[0] == 403


def test_weibo_picture_is_a_qr_code_of_what_its_address_says(sandbox: RunningSandbox) -> None:
    parts = urlsplit(Jar(sandbox).code()["image"])
    assert parts.hostname == "v2.qr.weibo.cn"
    said = sandbox.action("weibo", "qr-codes")[-1]["url"]
    _, headers, body = sandbox.request(str(parts.hostname), f"{parts.path}?{parts.query}")
    assert headers["Content-Type"] == "image/png"
    assert "data:image/png;base64," + base64.b64encode(body).decode() == picture_of(said)


def test_weibo_home_page_renews_an_expired_login(sandbox: RunningSandbox) -> None:
    jar = Jar(sandbox)
    jar.log_in("member-5")
    person = jar.who()
    for home in ("https://weibo.com/", "https://m.weibo.cn/"):
        sandbox.action("weibo", "expire-session", session="member-5")
        assert jar.who() == ("", "")
        assert jar.get(home)[1] == home
        assert jar.who() == person
    sandbox.action("weibo", "expire-session", session="member-5", for_good=True)
    assert "/sso/signin" in jar.get("https://weibo.com/")[1]
    assert jar.who() == ("", "")
    jar.log_in("member-5")
    assert jar.who() == person


def test_weibo_login_elsewhere_ends_nothing_and_people_differ(sandbox: RunningSandbox) -> None:
    jars = [Jar(sandbox) for _ in range(3)]
    for jar, account in zip(jars, ("member-6", "member-6", "member-7"), strict=True):
        jar.log_in(account)
    people = [jar.who()[0] for jar in jars]
    assert people[0] == people[1] != people[2]
    assert "" not in people
    assert handed_out(sandbox, "weibo", "member+6") == handed_out(sandbox, "weibo", "member-6")


def test_weibo_flagged_account_meets_a_captcha_alone(sandbox: RunningSandbox) -> None:
    flagged, other = (handed_out(sandbox, "weibo", f"member-{n}") for n in (8, 9))
    sandbox.action("weibo", "flag-session", session="member-8")
    config = ("m.weibo.cn", "/api/config")
    xhr = {"x_requested_with": "XMLHttpRequest"}
    assert "captcha" in ask(sandbox, *config, flagged, **xhr)[2]["url"]
    assert ask(sandbox, *config, other, **xhr)[2]["data"]["login"] is True
    assert sandbox.stats()["sessions"]["weibo/member-8"]["as"] == {"flagged": 1}


# -- Zhihu ----------------------------------------------------------------------------------------

ZHIHU = "www.zhihu.com"
CODES = "/api/v3/account/api/login/qrcode"


def zhihu_me(sandbox: RunningSandbox, cookies: Cookies) -> tuple[int, Any]:
    target = "/api/v4/me?include=email%2Cis_active%2Cis_bind_phone"
    signed = zhihu_signing.headers(target, cookies.get("d_c0"), b"", first_byte=3)
    headers = {name.replace("-", "_"): value for name, value in signed.items()}
    status, _, body = ask(sandbox, ZHIHU, target, cookies, **headers)
    return status, body.get("id") or body["error"]["code"]


def zhihu_code(sandbox: RunningSandbox) -> Json:
    data: Json = ask(sandbox, ZHIHU, CODES, method="POST")[2]
    return data


def scan_info(sandbox: RunningSandbox, token: str) -> tuple[Any, Json]:
    _, headers, body = ask(sandbox, ZHIHU, f"{CODES}/{token}/scan_info")
    return headers, body


def test_zhihu_code_and_its_states(sandbox: RunningSandbox) -> None:
    device = set_cookies(ask(sandbox, ZHIHU, "/udid", method="POST")[1])
    code = zhihu_code(sandbox)
    assert code["token"] in code["link"]
    assert code["expires_at"] == 300
    states = [scan_info(sandbox, code["token"])[1]]
    sandbox.action("zhihu", "scan", url=code["link"])
    states.append(scan_info(sandbox, code["token"])[1])
    assert states == [{"status": 0}, {"status": 1}]
    sandbox.action("zhihu", "confirm", account="member-3")
    headers, done = scan_info(sandbox, code["token"])
    brought = set_cookies(headers)
    assert done["login_status"] == "CONFIRMED"
    assert done["cookie"]["z_c0"] == brought["z_c0"]
    assert zhihu_me(sandbox, {**device, **brought}) == (200, done["user_id"])


@pytest.mark.parametrize("action", ["expire-qr", "refuse"])
def test_zhihu_code_that_is_over(sandbox: RunningSandbox, action: str) -> None:
    code = zhihu_code(sandbox)
    sandbox.action("zhihu", action)
    headers, body = scan_info(sandbox, code["token"])
    assert body == {"status": 2}
    assert not set_cookies(headers)


def test_zhihu_member_cannot_ask_for_a_code(sandbox: RunningSandbox) -> None:
    cookies = handed_out(sandbox, "zhihu", "member-1")
    status, _, body = ask(sandbox, ZHIHU, CODES, cookies, method="POST")
    assert (status, body["error"]["name"]) == (403, "PERMISSION_ERROR")


def test_zhihu_sessions_end_and_are_flagged_alone(sandbox: RunningSandbox) -> None:
    cookies = [handed_out(sandbox, "zhihu", f"member-{n}") for n in (11, 12, 13)]
    sandbox.action("zhihu", "expire-session", session="member-11")
    sandbox.action("zhihu", "flag-session", session="member-12")
    told = [zhihu_me(sandbox, one) for one in cookies]
    assert told[:2] == [(401, 101), (403, 40352)]
    assert told[2][0] == 200
    # A person who passes the check makes the account good again.
    ask(sandbox, ZHIHU, "/__site__/verified", cookies[1], method="POST")
    assert zhihu_me(sandbox, cookies[1])[0] == 200


def test_zhihu_challenge_can_ask_for_a_new_proof(sandbox: RunningSandbox) -> None:
    old = handed_out(sandbox, "zhihu", "member-20")
    assert ask(sandbox, ZHIHU, "/search?q=x", old)[0] == 200
    sandbox.action("zhihu", "rotate-challenge")
    status, _, html = ask(sandbox, ZHIHU, "/search?q=x", old)
    assert status == 403
    assert "zh-zse-ck" in html
    new = handed_out(sandbox, "zhihu", "member-20")
    assert ask(sandbox, ZHIHU, "/search?q=x", new)[0] == 200
    sandbox.fault("challenge", args={"solvable": True})
    assert [ask(sandbox, ZHIHU, "/search?q=x", one)[0] for one in (old, new)] == [403, 200]
    assert sandbox.stats()["faults"] == {"challenge": 1}


def test_zhihu_sign_in_page_has_a_canvas_and_a_device(sandbox: RunningSandbox) -> None:
    _, headers, html = ask(sandbox, ZHIHU, "/signin?next=%2F")
    assert 'canvas class="Qrcode-qrcode"' in html
    assert "d_c0" in set_cookies(headers)
    member = handed_out(sandbox, "zhihu", "member-1")
    assert "Qrcode" not in ask(sandbox, ZHIHU, "/signin?next=%2F", member)[2]


# -- all of them ----------------------------------------------------------------------------------


@pytest.mark.parametrize("platform", ["xhs", "bilibili", "weibo", "zhihu"])
def test_the_docs_name_every_action(sandbox: RunningSandbox, platform: str) -> None:
    docs = (ROOT / "docs" / "sandbox.md").read_text("utf-8")
    actions = set(sandbox.control("")["platforms"][platform]["actions"])
    assert {"scan", "confirm", "refuse", "expire-qr", "expire-session"} <= actions
    assert {action for action in actions if f"`{action}`" not in docs} == set()


@pytest.mark.parametrize("platform", ["xhs", "bilibili", "weibo", "zhihu"])
def test_control_refuses_what_makes_no_sense(sandbox: RunningSandbox, platform: str) -> None:
    for action, arguments, status in (
        ("confirm", {"account": "guest"}, "400"),
        ("scan", {"id": "nothing"}, "404"),
        ("expire-session", {}, "400"),
    ):
        with pytest.raises(ValueError, match=status):
            sandbox.action(platform, action, **arguments)
