"""Fixtures of the end-to-end tests: a running sandbox, and the real ``scrapy crawl`` against it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox.testing import RunningSandbox

ROOT = Path(__file__).resolve().parent.parent
QUICK = {
    "DOWNLOAD_DELAY": "0",
    "CONCURRENT_REQUESTS": "8",
    "BACKOFF_BASE": "0.02",
    "ANONYMIZE": "0",
    "BROWSER_FALLBACK": "0",  # most tests' sandbox speaks no TLS; tests/browser has one that does
}


@dataclass(frozen=True)
class Crawled:
    """What a finished crawl left: exit code, terminal output, report and records."""

    exit_code: int
    output: str
    data: Path
    folder: Path | None

    @property
    def report(self) -> dict[str, Any]:
        assert self.folder is not None, self.output
        report: dict[str, Any] = json.loads((self.folder / "report.json").read_text("utf-8"))
        return report

    def records(self, kind: str) -> list[dict[str, Any]]:
        """The records of ``posts``, ``comments`` or ``creators`` from the JSON Lines file."""
        assert self.folder is not None, self.output
        lines = (self.folder / f"{kind}.jsonl").read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]

    @property
    def posts(self) -> list[dict[str, Any]]:
        return self.records("posts")

    @property
    def comments(self) -> list[dict[str, Any]]:
        return self.records("comments")

    @property
    def creators(self) -> list[dict[str, Any]]:
        return self.records("creators")


def run_folder(data: Path, platform: str) -> Path | None:
    """The newest run folder below a data folder."""
    runs = [path for path in (data / platform).glob("*Z-*") if path.is_dir()]
    return max(runs, key=lambda path: path.stat().st_mtime, default=None)


def scrapy_command(*words: str, settings: Mapping[str, object]) -> list[str]:
    """The command line of ``scrapy``; a setting of None is left to its default."""
    command = [sys.executable, "-m", "scrapy", *words]
    for name, value in settings.items():
        if value is not None:
            command += ["-s", f"{name}={value}"]
    return command


def crawl_command(
    platform: str, arguments: Mapping[str, object], settings: Mapping[str, object]
) -> list[str]:
    """The command line of a crawl."""
    words = [word for name, value in arguments.items() for word in ("-a", f"{name}={value}")]
    return scrapy_command("crawl", platform, *words, settings=settings)


def run_command(
    command: Sequence[str], *, env: Mapping[str, str] | None = None, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in the project's folder until it ends.

    :param env: the whole environment; None is the one of the tests.
    :param stdin: what is piped or typed; None leaves the standard input of the tests.
    """
    return subprocess.run(
        command,
        cwd=ROOT,
        env=env,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="session")
def sandbox() -> Iterator[RunningSandbox]:
    """The sandbox that most tests share, with the default world (seed 1)."""
    with RunningSandbox() as running:
        yield running


@pytest.fixture
def calm_sandbox(sandbox: RunningSandbox) -> RunningSandbox:
    """The shared sandbox without faults and with counters at zero."""
    sandbox.clear_faults()
    sandbox.reset()
    return sandbox


@pytest.fixture
def crawl(calm_sandbox: RunningSandbox, tmp_path: Path) -> Callable[..., Crawled]:
    """Run ``scrapy crawl`` against the sandbox, quickly unless settings say otherwise."""

    def run(
        platform: str,
        settings: Mapping[str, object] | None = None,
        *,
        cookies: str | None = "member",
        env: Mapping[str, str] | None = None,
        **arguments: object,
    ) -> Crawled:
        data = tmp_path / "data"
        merged = {
            **QUICK,
            "SANDBOX_URL": calm_sandbox.url,
            "SAVE_DATA_PATH": data,
            **(settings or {}),
        }
        environment = {k: v for k, v in os.environ.items() if not k.endswith("_COOKIES")}
        if cookies is not None:
            line = calm_sandbox.cookies(cookies, platform)
            environment[f"{platform.upper()}_COOKIES"] = line
        environment |= env or {}
        done = run_command(crawl_command(platform, arguments, merged), env=environment)
        output = done.stdout + done.stderr
        return Crawled(done.returncode, output, data, run_folder(data, platform))

    return run


@pytest.fixture(scope="session")
def ffmpeg() -> str:
    """Where ffmpeg is; it comes with ffprobe. CI has to have it, elsewhere the test is skipped."""
    found = shutil.which("ffmpeg")
    if found and shutil.which("ffprobe"):
        return found
    if os.environ.get("CI"):
        pytest.fail("ffmpeg is not installed")
    pytest.skip("ffmpeg is not installed")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Quiet runs do not show why something was skipped; this must be seen."""
    skipped = terminalreporter.stats.get("skipped", [])
    number = sum("ffmpeg is not installed" in str(report.longrepr) for report in skipped)
    if number:
        terminalreporter.write_line(f"{number} tests were NOT run: ffmpeg is not installed")
