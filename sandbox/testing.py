"""A running sandbox for tests: ``with RunningSandbox() as sandbox: ...``. Standard library only."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any
from urllib.parse import urlencode, urlsplit

ROOT = Path(__file__).resolve().parent.parent
READY = "sandbox listening on "


class RunningSandbox:
    """``python -m sandbox --port 0`` as a child process.

    :param arguments: further command-line options, ``RunningSandbox("--posts", "200")``.
    :ivar url: ``http://127.0.0.1:PORT``.

    Use it as a context manager, or call :meth:`stop` yourself. ``RuntimeError`` with the child's
    own words if it does not come up.
    """

    def __init__(self, *arguments: str, start_timeout: float = 30) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the child)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sandbox", "--port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=ROOT,
        )
        self.url = self._wait_until_ready(start_timeout)
        self.host, self.port = self._address()

    def _wait_until_ready(self, timeout: float) -> str:
        assert self.process.stdout is not None
        watchdog = threading.Timer(timeout, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline().decode()
        watchdog.cancel()
        if not line.startswith(READY):
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"the sandbox did not start: {self.errors().strip() or line!r}")
        return line.removeprefix(READY).strip()

    def _address(self) -> tuple[str, int]:
        parts = urlsplit(self.url)
        return str(parts.hostname), int(parts.port or 0)

    def __enter__(self) -> RunningSandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> int:
        """End the child; its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        return self.process.returncode

    def errors(self) -> str:
        """What the child wrote to stderr so far."""
        self._errors.seek(0)
        return self._errors.read().decode("utf-8", "replace")

    def request(
        self,
        host: str,
        target: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeout: float = 30,
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        """One request to *host* (by Host header), *target* sent as it is; redirects are not
        followed. Status, headers, body."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            connection.putheader("Host", host)
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def control(self, path: str, *, method: str = "GET", value: Any = None) -> Any:
        """Call ``/__sandbox__/<path>``; JSON in, JSON (or text) out; ``ValueError`` on refusal."""
        body = None if value is None else json.dumps(value).encode()
        status, headers, data = self.request(
            self.host, f"/__sandbox__/{path}", method=method, body=body
        )
        text = data.decode("utf-8")
        if status != 200:
            raise ValueError(f"{method} /__sandbox__/{path}: {status} {text.strip()}")
        return json.loads(text) if "json" in headers.get("Content-Type", "") else text

    def stats(self) -> dict[str, Any]:
        """The counters since the start or the last :meth:`reset`."""
        stats: dict[str, Any] = self.control("stats")
        return stats

    def reset(self) -> None:
        """Zero the counters; faults stay."""
        self.control("reset", method="POST")

    def fault(self, kind: str, **rule: Any) -> None:
        """Misbehave: ``fault("429", path="/api", times=3)``, ``fault("slow", rate=0.1)``,
        ``fault("slow", args={"seconds": 2})``."""
        self.control("faults", method="POST", value={"kind": kind, **rule})

    def clear_faults(self) -> None:
        self.control("faults", method="DELETE")

    def action(self, platform: str, name: str, **arguments: Any) -> Any:
        """Make something happen at once, for example ``action("xhs", "expire-media")``."""
        return self.control(f"actions/{platform}/{name}", method="POST", value=arguments)

    def cookies(self, kind: str = "member", platform: str = "xhs") -> str:
        """A ready Cookie header line."""
        text: str = self.control("cookies?" + urlencode({"platform": platform, "kind": kind}))
        return text
