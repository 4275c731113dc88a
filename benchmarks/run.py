"""Run one program against a sandbox and watch both: counters, CPU time and memory.

Knows how things are measured, not what is measured. Needs Linux (/proc).
"""

from __future__ import annotations

import http.client
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox.testing import ROOT, RunningSandbox

TIMEOUT = 300
"""Seconds after which a program counts as hanging."""


@dataclass(frozen=True)
class Sample:
    """What was seen at one moment: `time` in seconds, the sandbox's counters, memory in bytes."""

    time: float
    requests: int
    in_flight: int
    media_bytes: int
    rss: int
    peak_rss: int


@dataclass(frozen=True)
class Run:
    """One finished program: when it began, its CPU seconds (user and system), and its samples."""

    began: float
    cpu: float
    samples: list[Sample]
    most_in_flight: int

    @property
    def requests(self) -> int:
        return self.samples[-1].requests

    @property
    def peak_rss(self) -> int:
        return self.samples[-1].peak_rss

    @property
    def first(self) -> int:
        """Index of the first sample in which the sandbox had been asked something."""
        return next(i for i, sample in enumerate(self.samples) if sample.requests)

    @property
    def seconds(self) -> float:
        """From the first request to the last answer, at most one sampling interval too long."""
        last = next(
            sample
            for sample in self.samples
            if sample.requests == self.requests and not sample.in_flight
        )
        return last.time - self.samples[max(0, self.first - 1)].time

    def rate_between(self, low: float, high: float) -> float:
        """Requests a second while the share of answered requests grew from *low* to *high*."""
        reached = [
            next(sample for sample in self.samples if sample.requests >= share * self.requests)
            for share in (low, high)
        ]
        return (reached[1].requests - reached[0].requests) / (reached[1].time - reached[0].time)


class Watcher:
    """Reads the sandbox's counters over one kept connection, and a process's memory."""

    def __init__(self, sandbox: RunningSandbox, pid: int) -> None:
        self._connection = http.client.HTTPConnection(sandbox.host, sandbox.port, timeout=30)
        self._pid = pid
        self._memory = (0, 0)

    def sample(self) -> Sample:
        """The present; of a process that has ended, the memory that was seen last."""
        self._memory = memory_of(self._pid) or self._memory
        self._connection.request("GET", "/__sandbox__/stats")
        counters = json.load(self._connection.getresponse())
        return Sample(
            time.monotonic(),
            counters["requests"],
            counters["in_flight"],
            counters["media_bytes"],
            *self._memory,
        )

    def close(self) -> None:
        self._connection.close()


def memory_of(pid: int) -> tuple[int, int] | None:
    """Resident bytes of a process now and at most; None where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except FileNotFoundError:
        return None
    fields = dict(line.split(":", 1) for line in lines)
    if "VmRSS" not in fields:  # a zombie has none
        return None
    return _kilobytes(fields["VmRSS"]), _kilobytes(fields["VmHWM"])


def _kilobytes(text: str) -> int:
    return int(text.split()[0]) * 1024


@contextmanager
def fresh_sandbox(*options: str, platform: str = "xhs") -> Iterator[RunningSandbox]:
    """A sandbox of its own, with one platform only."""
    with RunningSandbox("--only", platform, *options) as sandbox:
        yield sandbox


def measure(
    command: Sequence[str],
    sandbox: RunningSandbox,
    interval: float = 0.05,
    platform: str = "xhs",
) -> Run:
    """Run *command* to its end, looking at it every *interval* seconds.

    :raises RuntimeError: it failed, or took longer than TIMEOUT; with its last words.
    """
    cookies = sandbox.cookies("member", platform)
    environment = {**os.environ, f"{platform.upper()}_COOKIES": cookies, "BENCH_COOKIES": cookies}
    # Without this a start is spent on compiling what every installed program has compiled once.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryFile() as words:
        before = _cpu_of_children()  # the sandbox is counted when it ends, which is later
        began = time.monotonic()
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=words, stderr=subprocess.STDOUT
        )
        watcher = Watcher(sandbox, process.pid)
        try:
            samples = list(_watch(process, watcher, interval))
        finally:
            process.kill()
            code = process.wait()
            watcher.close()
        if code != 0:
            words.seek(0)
            last = words.read().decode("utf-8", "replace")[-2000:]
            raise RuntimeError(f"{' '.join(command[:3])} ended with {code}:\n{last}")
    return Run(began, _cpu_of_children() - before, samples, sandbox.stats()["most_in_flight"])


def _watch(process: subprocess.Popen[bytes], watcher: Watcher, interval: float) -> Iterator[Sample]:
    deadline = time.monotonic() + TIMEOUT
    while process.poll() is None and time.monotonic() < deadline:
        yield watcher.sample()
        time.sleep(interval)
    yield watcher.sample()


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def crawl(
    sandbox: RunningSandbox,
    folder: Path,
    arguments: Mapping[str, object],
    settings: Mapping[str, object],
    platform: str = "xhs",
) -> list[str]:
    """The command line of ``scrapy crawl`` against *sandbox*, without pauses."""
    defaults = {
        "SANDBOX_URL": sandbox.url,
        "SAVE_DATA_PATH": folder,
        "DOWNLOAD_DELAY": 0,
    }
    command = [str(Path(sys.executable).with_name("scrapy")), "crawl", platform]
    for name, value in arguments.items():
        command += ["-a", f"{name}={value}"]
    for name, value in {**defaults, **settings}.items():
        command += ["-s", f"{name}={value}"]
    return command


def count_items(folder: Path) -> int:
    """Posts and comments that crawls have written below *folder*."""
    files = [*folder.glob("*/*/posts.jsonl"), *folder.glob("*/*/comments.jsonl")]
    return sum(path.read_bytes().count(b"\n") for path in files)
