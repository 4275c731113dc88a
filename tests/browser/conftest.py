"""Tests that drive a real Chromium. Without one they are skipped and say so; on CI they fail."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mediacrawler.browser import find_chromium
from mediacrawler.exceptions import UsageProblem
from sandbox.testing import RunningSandbox


@pytest.fixture(scope="session", autouse=True)
def chromium() -> Path:
    """The browser that the tests use."""
    try:
        return find_chromium(os.environ.get("CHROMIUM_PATH"))
    except UsageProblem as problem:
        reason = str(problem)
    if os.environ.get("CI"):
        pytest.fail(f"CI needs a browser: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """A screen that nobody looks at: what DISPLAY has to be for a browser with a window."""
    if shutil.which("Xvfb") is None:
        if os.environ.get("CI"):
            pytest.fail("CI needs Xvfb")
        pytest.skip("Xvfb is not installed")
    with subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        number = server.stdout.readline().strip()
        try:
            yield f":{number}"
        finally:
            server.terminate()


@pytest.fixture(scope="session")
def shared_tls_sandbox() -> Iterator[RunningSandbox]:
    """A sandbox that a browser can be pointed at: HTTPS and CONNECT on its port."""
    with RunningSandbox("--tls") as running:
        yield running


@pytest.fixture
def tls_sandbox(shared_tls_sandbox: RunningSandbox) -> RunningSandbox:
    """That sandbox without faults and with counters at zero."""
    shared_tls_sandbox.clear_faults()
    shared_tls_sandbox.reset()
    return shared_tls_sandbox


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Quiet runs do not show why something was skipped; this must be seen."""
    here = Path(__file__).resolve().parent
    skipped = [
        report
        for report in terminalreporter.stats.get("skipped", [])
        if here in Path(report.fspath).resolve().parents
    ]
    if skipped:
        reason = str(skipped[0].longrepr[2]).removeprefix("Skipped: ")
        terminalreporter.write_line(f"{len(skipped)} browser tests were NOT run: {reason}")
