"""Which proxy a login goes through; the proxies are real ones on loopback."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Iterator

import pytest
from scrapy.settings import Settings

from mediacrawler.exceptions import UsageProblem
from mediacrawler.proxies import Proxy
from mediacrawler.proxies.choice import MOST_TRIED, NoProxyWorks, choose_proxy
from tests.proxy_servers import LocalProxy, closed_port

PASSWORD = "sEcret-4711"
ENVIRONMENT = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def works() -> Iterator[LocalProxy]:
    with (
        socket.create_server(("127.0.0.1", 0)) as site,
        LocalProxy(site.getsockname(), user="anna", password=PASSWORD) as proxy,
    ):
        yield proxy


def dead() -> str:
    return f"http://127.0.0.1:{closed_port()}"


def prints(*urls: str) -> list[str]:
    """A provider that gives these proxies."""
    return [sys.executable, "-c", f"print({chr(10).join(urls)!r})"]


def choose(own: str | None = None, **settings: object) -> Proxy | None:
    given = Settings({"PROXIES": None, "SANDBOX_URL": None, **settings})
    for name in ("PROXY_PROVIDER_URL", "PROXY_PROVIDER_COMMAND"):
        given.setdefault(name, None)
    return asyncio.run(choose_proxy(given, own, "www.site.example"))


def test_without_any_proxy_there_is_none() -> None:
    assert choose() is None


def test_the_first_of_the_list_that_works_is_taken(works: LocalProxy) -> None:
    chosen = choose(PROXIES=[dead(), works.url, dead()])

    assert chosen is not None
    assert chosen.secret_url == works.url
    assert works.asked_for == ["www.site.example:443"]


def test_the_provider_is_asked_where_the_list_does_not_suffice(works: LocalProxy) -> None:
    chosen = choose(PROXIES=[dead()], PROXY_PROVIDER_COMMAND=prints(dead(), works.url))

    assert chosen is not None
    assert chosen.secret_url == works.url


def test_the_account_s_own_goes_before_all_others_and_no_other_is_tried(works: LocalProxy) -> None:
    own = dead()

    with pytest.raises(NoProxyWorks, match=own.removeprefix("http://")):
        choose(own, PROXIES=[works.url])
    assert choose(works.url, PROXIES=["h.example:0"]) is not None


@pytest.mark.parametrize(
    ("no_proxy", "enabled", "used"),
    [("", True, True), ("site.example", True, False), ("", False, False)],
)
def test_the_environment_s_is_used_where_no_setting_names_one(
    works: LocalProxy, monkeypatch: pytest.MonkeyPatch, no_proxy: str, enabled: bool, used: bool
) -> None:
    monkeypatch.setenv("https_proxy", works.url)
    monkeypatch.setenv("no_proxy", no_proxy)

    chosen = choose(HTTPPROXY_ENABLED=enabled)
    assert (chosen is not None) is used


def test_the_sandbox_is_reached_without(works: LocalProxy) -> None:
    assert choose(works.url, PROXIES=[works.url], SANDBOX_URL="http://127.0.0.1:8787") is None


def test_proxies_that_do_not_work_are_named_without_their_passwords(works: LocalProxy) -> None:
    wrong = f"http://anna:x{PASSWORD}@{works.name}"

    with pytest.raises(NoProxyWorks) as failure:
        choose(PROXIES=[wrong])

    expected = f"{works.name} (auth failed: it does not accept the credentials)"
    assert str(failure.value) == f"no proxy works: {expected}"


def test_a_person_does_not_wait_for_a_hundred_dead_proxies() -> None:
    with pytest.raises(NoProxyWorks) as failure:
        choose(PROXIES=[dead() for _ in range(MOST_TRIED + 3)])

    assert str(failure.value).count("connection refused") == MOST_TRIED


def test_a_provider_without_proxies_is_named() -> None:
    with pytest.raises(NoProxyWorks, match="the provider of proxies gave none: its answer is"):
        choose(PROXY_PROVIDER_COMMAND=prints(""))


def test_what_is_no_proxy_is_refused_without_quoting_it() -> None:
    with pytest.raises(UsageProblem, match="the account's own: the port must be") as refusal:
        choose(f"http://anna:{PASSWORD}@h.example:x")

    assert PASSWORD not in str(refusal.value)
