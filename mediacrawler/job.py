"""A JOBDIR of Scrapy, and whether it can be gone on with: it belongs to one crawl.

Scrapy stores the requests that are left; what they were left of is noted here, so that a JOBDIR
that was killed, is finished or belongs to other arguments is refused in words.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from mediacrawler.args import CrawlArgs
from mediacrawler.exceptions import UsageProblem

NOTE = "crawl.json"


class Job:
    """The note in a JOBDIR about the crawl that it belongs to."""

    def __init__(self, folder: Path, args: CrawlArgs) -> None:
        self.folder = folder
        self._arguments = args.model_dump(mode="json")

    def check(self) -> None:
        """Refuse a JOBDIR that does not fit.

        :raises UsageProblem: killed, finished, or started with other arguments.
        """
        path = self.folder / NOTE
        if not path.exists():
            return
        try:
            note = json.loads(path.read_text("utf-8"))
            status, arguments = note["status"], note["arguments"]
        except (OSError, ValueError, TypeError, KeyError):
            status, arguments = "unreadable", None
        problem = {
            "running": "was not closed cleanly (or its crawl is still running)",
            "finished": "belongs to a crawl that has finished",
            "unreadable": "is damaged",
        }.get(status)
        if problem is None and arguments != self._arguments:
            problem = "belongs to a crawl with other arguments"
        if problem:
            raise UsageProblem(f"JOBDIR={self.folder} {problem}; delete it or choose another one")

    def note(self, status: Literal["running", "stopped", "finished"]) -> None:
        """Write down how the crawl stands.

        :raises OSError: the folder cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        content = {"status": status, "arguments": self._arguments}
        (self.folder / NOTE).write_text(json.dumps(content, ensure_ascii=False), "utf-8")
