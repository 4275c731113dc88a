"""Logins in the sandbox: codes and their states, accounts, sessions that end, pages and scripts."""

from __future__ import annotations

import base64
import http.client
import io
import json
import re
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import segno
from xhs_client import EDITH, V1, V2, WWW, Client

from sandbox.core import ControlError, Options
from sandbox.faults import Faults
from sandbox.logins import Accounts, QrDesk
from sandbox.testing import RunningSandbox

Json = dict[str, Any]
AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36"


@pytest.fixture(scope="module")
def running() -> Iterator[RunningSandbox]:
    with RunningSandbox() as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(running: RunningSandbox) -> RunningSandbox:
    running.clear_faults()
    running.reset()
    return running


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
