"""The descriptions of login pages: found by name, and what they read in the pages' own answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.project import get_project_settings

from mediacrawler.exceptions import UsageProblem
from mediacrawler.sessions import login_pages
from mediacrawler.sessions.login_pages import QrNews, login_page

PLATFORMS = SpiderLoader(get_project_settings()).list()


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_platform_has_a_login_page(platform: str) -> None:
    login = login_page(platform, Settings())

    assert login.platform == platform
    for url in (login.url, *(question.url for question in login.whoami)):
        assert login.owns(url.split("/")[2]), url


def test_a_new_platform_is_a_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "demo.py").write_text("def login_page(settings): return settings['ITS_PAGE']\n")
    monkeypatch.setattr(login_pages, "__path__", [*login_pages.__path__, str(tmp_path)])

    assert login_page("demo", Settings({"ITS_PAGE": "its page"})) == "its page"


@pytest.mark.parametrize("platform", ["myspace", "xhs.py", "", "__init__"])
def test_a_platform_without_a_known_login_page_is_refused(platform: str) -> None:
    with pytest.raises(UsageProblem, match=r"there are: bilibili,.* xhs,"):
        login_page(platform, Settings())


def test_the_twin_of_xhs_has_a_login_page_of_its_own() -> None:
    login = login_page("xhs", Settings({"XHS_REGION": "rednote"}))

    assert login.url == "https://www.rednote.com/login"
    assert login.owns("webapi.rednote.com")
    assert not login.owns("www.xiaohongshu.com")


@pytest.mark.parametrize(
    ("platform", "path", "answer", "news"),
    [
        (
            "xhs",
            "/api/sns/web/v1/login/qrcode/create",
            {"data": {"url": "https://login.example"}},
            QrNews("new", "https://login.example"),
        ),
        ("xhs", "/api/qrcode/userinfo", {"data": {"codeStatus": 1}}, QrNews("scanned")),
        (
            "xhs",
            "/api/sns/web/v1/login/qrcode/status",
            {"data": {"code_status": 3}},
            QrNews("expired"),
        ),
        (
            "bilibili",
            "/x/passport-login/web/qrcode/generate",
            {"code": 0, "data": {"url": "https://login.example"}},
            QrNews("new", "https://login.example"),
        ),
        (
            "bilibili",
            "/x/passport-login/web/qrcode/poll",
            {"code": 0, "data": {"code": 86090}},
            QrNews("scanned"),
        ),
        (
            "weibo",
            "/sso/v2/qrcode/image",
            {"data": {"image": "https://qr.example/gen?size=1&data=https%3A%2F%2Flogin.example"}},
            QrNews("new", "https://login.example"),
        ),
        ("weibo", "/sso/v2/qrcode/check", {"retcode": 50114015}, QrNews("refused")),
        (
            "zhihu",
            "/api/v3/account/api/login/qrcode",
            {"link": "https://login.example"},
            QrNews("new", "https://login.example"),
        ),
        (
            "zhihu",
            "/api/v3/account/api/login/qrcode/token/scan_info",
            {"status": 1},
            QrNews("scanned"),
        ),
        (
            "zhihu",
            "/api/v3/account/api/login/qrcode/token/scan_info",
            {"login_status": "CONFIRMED"},
            QrNews("confirmed"),
        ),
    ],
)
def test_the_page_s_own_questions_tell_of_its_code(
    platform: str, path: str, answer: dict[str, Any], news: QrNews
) -> None:
    assert login_page(platform, Settings()).news(path, answer) == news


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("answer", [{}, {"data": None}, {"data": []}, {"data": {"code": "new"}}])
def test_answers_about_something_else_are_no_news(platform: str, answer: dict[str, Any]) -> None:
    login = login_page(platform, Settings())

    for path in ("/api/other", "/api/qrcode/userinfo", "/sso/v2/qrcode/image"):
        assert login.news(path, answer) is None
