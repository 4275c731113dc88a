"""What a crawl did, as data: ``report.json``, the lines of the summary, verdict and exit code.

Pure functions over the ledger and Scrapy's stats; nothing here writes files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from mediacrawler.items import iso_utc
from mediacrawler.ledger import Gap, Ledger, Seed

Verdict = Literal[
    "complete", "partial", "blocked", "rate_limited", "login_required", "empty", "error"
]

EXIT_CODES: dict[Verdict, int] = {
    "complete": 0,
    "empty": 0,
    "error": 1,
    # 2: the arguments, settings or cookies do not work; nothing was sent
    "partial": 3,
    "blocked": 4,
    "rate_limited": 5,
    "login_required": 6,
}

EMPTY_SEARCHES = 3
"""So many keywords, and not one found anything: that is rather a silent block."""

SETTINGS_SHOWN: Mapping[str, str] = {
    "CONCURRENT_REQUESTS": "getint",
    "DOWNLOAD_DELAY": "getfloat",
    "RETRY_TIMES": "getint",
    "BACKOFF_BASE": "getfloat",
    "BACKOFF_MAX": "getfloat",
    "EXPORT_FORMATS": "getlist",
    "SAVE_DATA_PATH": "get",
    "ANONYMIZE": "getbool",
    "JOBDIR": "get",
    "SANDBOX_URL": "get",
}
"""Effective settings in the report, and how Scrapy's settings read each (no secrets here)."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How the crawl came to its end, as far as the ledger does not tell.

    `reason` is Scrapy's close reason ("finished", "shutdown", ...), `verdict` and `stopped`
    what the crawl itself said when it stopped early.
    """

    reason: str
    verdict: Verdict | None = None
    stopped: str | None = None
    unhandled_errors: int = 0


def judge(ledger: Ledger, ending: Ending) -> tuple[Verdict, str]:
    """The one verdict over a crawl, and the reason for it in words."""
    if ending.verdict is not None:
        return ending.verdict, ending.stopped or ""
    problems = list(_problems(ledger, ending))
    saved = ledger.creators + sum(seed.saved for seed in ledger.seeds)
    if saved and problems:
        return "partial", "; ".join(problems)
    if problems:
        return "error", "nothing could be collected: " + "; ".join(problems)
    if saved:
        return "complete", "everything that was asked for and is there"
    searches = [seed for seed in ledger.seeds if seed.kind == "keyword"]
    if len(searches) >= EMPTY_SEARCHES and not any(seed.found for seed in searches):
        return "blocked", f"all {len(searches)} searches were empty: rather a silent block"
    return "empty", "the platform has nothing of what was asked for"


def _problems(ledger: Ledger, ending: Ending) -> Iterable[str]:
    unfinished = [seed for seed in ledger.seeds if not seed.finished]
    if ending.reason != "finished":
        yield f"stopped early ({ending.reason})"
    elif unfinished:  # nothing may be lost without a word, not even by our own mistake
        yield f"{len(unfinished)} searches or lists did not come to their end"
    failed = sum(len(seed.failed) for seed in ledger.seeds)
    if failed:
        yield f"{failed} posts failed"
    lists = sum(bool(seed.list_error) for seed in ledger.seeds)
    if lists:
        yield f"{lists} searches or lists failed"
    for seed in ledger.seeds:
        if seed.caveat and seed.ended and seed.outcome != "limit reached":
            yield seed.caveat
    if ledger.creators_failed:
        yield f"{len(ledger.creators_failed)} creators failed"
    gaps = ledger.open_gaps()
    if gaps:
        yield f"comments of {len({gap.post_id for gap in gaps})} posts are incomplete"
    missing = sum(ledger.media[status] for status in ("failed", "gone", "missing", "interrupted"))
    if missing:
        yield f"{missing} files are missing"
    if ledger.media["mux_failed"]:
        yield f"{ledger.media['mux_failed']} videos are apart from their sound"
    if ledger.not_understood:
        yield f"{len(ledger.not_understood)} inputs were not understood"
    if ledger.unreadable:
        yield f"{ledger.unreadable} rows of lists could not be read"
    if ending.unhandled_errors:
        yield f"{ending.unhandled_errors} records or answers could not be processed"


def build(
    *,
    platform: str,
    arguments: Mapping[str, Any],
    settings: Mapping[str, Any],
    ledger: Ledger,
    stats: Mapping[str, Any],
    ending: Ending,
    started: datetime,
    finished: datetime,
    person: Callable[[str], str] = str,
) -> dict[str, Any]:
    """The content of ``report.json``; docs/output.md explains every key.

    *person* turns a creator's id into what may be written: its pseudonym, while privacy is on.
    """
    verdict, why = judge(ledger, ending)
    return {
        "verdict": verdict,
        "reason": why,
        "exit_code": EXIT_CODES[verdict],
        "platform": platform,
        "started_at": iso_utc(started),
        "finished_at": iso_utc(finished),
        "arguments": dict(arguments),
        "settings": dict(settings),
        "seeds": [_seed(seed, person) for seed in ledger.seeds],
        "posts": {
            "saved": sum(seed.saved for seed in ledger.seeds),
            "failed": sum(len(seed.failed) for seed in ledger.seeds),
            "skipped": sum(seed.skipped.total() for seed in ledger.seeds),
            "duplicates": sum(seed.duplicates for seed in ledger.seeds),
        },
        "comments": {
            "expected": ledger.comments_expected,
            "collected": ledger.comments + ledger.replies,
            "top_level": ledger.comments,
            "replies": ledger.replies,
            "partial": [_gap(gap) for gap in ledger.open_gaps()],
        },
        "creators": {
            "saved": ledger.creators,
            "skipped": dict(ledger.creators_skipped),
            "failed": {person(key): why for key, why in ledger.creators_failed.items()},
        },
        "media": dict(ledger.media),
        "unreadable": ledger.unreadable,
        "not_understood": list(ledger.not_understood),
        "requests": {
            "sent": stats.get("downloader/request_count", 0),
            "retries": stats.get("retry/count", 0),
            "retry_reasons": {
                key.removeprefix("retry/reason_count/"): number
                for key, number in stats.items()
                if key.startswith("retry/reason_count/")
            },
            "paused_seconds": round(stats.get("backoff/paused_seconds", 0), 1),
            "delayed_seconds": round(stats.get("backoff/delayed_seconds", 0), 1),
        },
    }


def _seed(seed: Seed, person: Callable[[str], str]) -> dict[str, Any]:
    return {
        "kind": seed.kind,
        "value": person(seed.value) if seed.kind == "creator" else seed.value,
        "asked": seed.asked,
        "found": seed.found,
        "saved": seed.saved,
        "duplicates": seed.duplicates,
        "skipped": dict(seed.skipped),
        "failed": [{"id": post_id, "why": why} for post_id, why in seed.failed.items()],
        "unfinished": seed.opening,
        "pages": seed.pages,
        "next_page": seed.cursor if seed.list_error or not seed.ended else None,
        "outcome": seed.outcome,
    }


def _gap(gap: Gap) -> dict[str, Any]:
    return {
        "post_id": gap.post_id,
        "root_id": gap.root_id,
        "cursor": gap.cursor,
        "why": gap.why,
    }


def summary(report: Mapping[str, Any]) -> list[str]:
    """The report as a few lines for the person who ran the crawl."""
    posts, comments, creators = report["posts"], report["comments"], report["creators"]
    lines = []
    for seed in report["seeds"]:
        asked = "all" if seed["asked"] is None else seed["asked"]
        line = f"{seed['kind']} '{seed['value']}': {seed['saved']} of {asked} posts"
        details = [f"{number} {why}" for why, number in seed["skipped"].items()]
        if seed["failed"]:
            details.append(f"{len(seed['failed'])} failed")
        if seed["duplicates"]:
            details.append(f"{seed['duplicates']} duplicates")
        lines.append(
            line + (f" ({', '.join(details)})" if details else "") + f"; {seed['outcome']}"
        )
    lines.append(
        f"saved: {posts['saved']} posts, {comments['top_level']} comments, "
        f"{comments['replies']} replies, {creators['saved']} creators"
    )
    media = dict(report["media"])
    if media:
        size, in_comments = media.pop("bytes", 0), media.pop("of_comments", 0)
        counts = ", ".join(f"{number} {status}" for status, number in sorted(media.items()))
        counts += f"; {in_comments} of them in comments" if in_comments else ""
        lines.append(f"files: {counts}; {size / 1e6:.1f} MB")
    requests = report["requests"]
    lines.append(
        f"requests: {requests['sent']}, repeated: {requests['retries']}, "
        f"paused: {requests['paused_seconds']} s"
    )
    lines.append(f"verdict: {report['verdict']} - {report['reason']}")
    return lines
