"""What a crawl imports: only what it needs, for most of its start is that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.testing import RunningSandbox
from tests.conftest import QUICK, ROOT, crawl_command

UNUSED = (
    "aiohttp",  # Scrapy's remote control
    "twisted.conch",  # its telnet console
    "playwright",
    "scrapy_playwright",
    "rich",
    "packaging.requirements",
    "mediacrawler.doctor",
    "mediacrawler.sessions.browser_login",
    "mediacrawler.sessions.check",
    *(
        f"mediacrawler.{room}.{platform}"
        for room in ("spiders", "pages", "targets", "signing")
        for platform in ("bilibili", "weibo", "zhihu")
    ),
)
SCRAPY = """
import atexit, sys
from scrapy.cmdline import execute
atexit.register(lambda: print("imported:", *sys.modules))
execute()
"""


def imports_of(arguments: list[str], **environment: str) -> list[str]:
    """All modules that ``scrapy`` with these arguments has imported, the first one first."""
    done = subprocess.run(
        [sys.executable, "-c", SCRAPY, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.rpartition("imported:")[2].split()


def crawl_imports(sandbox: RunningSandbox, data: Path, **settings: object) -> list[str]:
    """What a crawl of XHS imports that finds nothing."""
    merged = {**QUICK, "SANDBOX_URL": sandbox.url, "SAVE_DATA_PATH": data, **settings}
    command = crawl_command("xhs", {"keywords": "无结果"}, merged)
    return imports_of(command[command.index("crawl") :], XHS_COOKIES=sandbox.cookies())


@pytest.fixture(scope="module")
def imports(sandbox: RunningSandbox, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    sandbox.clear_faults()
    return crawl_imports(sandbox, tmp_path_factory.mktemp("data"))


def below(package: str, modules: list[str]) -> list[str]:
    return [name for name in modules if f"{name}.".startswith(f"{package}.")]


@pytest.mark.parametrize("package", UNUSED)
def test_a_crawl_imports_nothing_that_it_does_not_use(imports: list[str], package: str) -> None:
    assert below("mediacrawler.signing.xhs", imports)
    assert below(package, imports) == []


def test_scrapys_modules_that_look_at_the_stack_are_imported_before_it_is_deep(
    imports: list[str],
) -> None:
    slow = imports.index("scrapy.core.downloader.contextfactory")
    assert slow < imports.index("mediacrawler.handlers")


def test_a_console_that_is_switched_on_is_there(
    calm_sandbox: RunningSandbox, tmp_path: Path
) -> None:
    imported = crawl_imports(calm_sandbox, tmp_path, TELNETCONSOLE_ENABLED=1)
    assert below("scrapy.extensions.telnet", imported)
    assert not below("scrapy.extensions.remote_control", imported)


@pytest.mark.parametrize("command", ["list", "doctor --help", "login --help", "accounts list"])
def test_commands_start_without_a_browser_and_a_web_server(command: str) -> None:
    imported = imports_of(command.split())
    assert [name for name in ("aiohttp", "playwright", "rich", "segno") if name in imported] == []
