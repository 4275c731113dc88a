"""The five measurements; each gives rows of the table. Targets are those of README.md."""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.run import Run, count_items, crawl, fresh_sandbox, measure

LATENCY_MS = 200
EMPTY: dict[str, object] = {"keywords": "无结果"}
"""Spider arguments of a crawl that finds nothing: one request."""
MB = 1_000_000
HTTPX = importlib.util.find_spec("httpx") is not None


@dataclass(frozen=True)
class Row:
    """One line of the table; `value` is the figure that `target` speaks of."""

    name: str
    value: str
    target: str
    met: bool | None
    details: str


def keywords(count: int) -> str:
    """Keywords that find something in the sandbox."""
    return ",".join(f"题目{number}" for number in range(1, count + 1))


def posts_and_comments(keyword_count: int, posts: int = 50) -> dict[str, object]:
    """Spider arguments: a search with details and up to 20 comments a post.

    About 2.5 requests and 11 records a post.
    """
    return {"keywords": keywords(keyword_count), "max_posts": posts, "max_comments": 20}


# --- (a) utilisation ----------------------------------------------------------------------


def utilisation(quick: bool) -> Iterator[Row]:
    """How much of what concurrency and latency allow is used.

    Beside 50, the bare spider on the same pages says what Scrapy and the machine allow.
    """
    seconds_of_work = 8 if quick else 20
    for concurrency, target in ((1, 0.95), (10, 0.95), (50, 0.80)):
        wanted = seconds_of_work * concurrency * 1000 // LATENCY_MS  # requests
        posts = min(50, wanted * 2 // 5)
        arguments = posts_and_comments(max(1, wanted * 2 // 5 // posts), posts)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            run = _timed_crawl(folder, arguments, concurrency)
            details = _utilisation_details(run, concurrency)
            details += f", {count_items(folder) / run.seconds:.0f} items/s"
            if concurrency == 50:
                bare = _timed_bare(folder / "pages", concurrency)
                details += f"; bare Scrapy: {_share(bare.requests / bare.seconds, concurrency):.2f}"
        value = _share(run.requests / run.seconds, concurrency)
        yield Row(
            f"(a) utilisation at concurrency {concurrency}",
            f"{value:.2f}",
            f">= {target:.2f}",
            value >= target,
            details,
        )


def _timed_crawl(folder: Path, arguments: dict[str, object], concurrency: int) -> Run:
    with fresh_sandbox("--latency", str(LATENCY_MS)) as sandbox:
        settings = {"CONCURRENT_REQUESTS": concurrency, **_recording(folder / "pages")}
        return measure(crawl(sandbox, folder, arguments, settings), sandbox)


def _timed_bare(pages: Path, concurrency: int) -> Run:
    with fresh_sandbox("--latency", str(LATENCY_MS), "--no-verify") as sandbox:
        return measure(_bare(pages, sandbox.url, concurrency), sandbox)


def _share(requests_per_second: float, concurrency: int) -> float:
    return requests_per_second * LATENCY_MS / 1000 / concurrency


def _utilisation_details(run: Run, concurrency: int) -> str:
    steady = _share(run.rate_between(0.1, 0.9), concurrency)
    return (
        f"{run.requests} requests in {run.seconds:.1f} s, steady phase {steady:.2f}, "
        f"most in flight {run.most_in_flight}, {run.cpu / run.seconds:.0%} of a core"
    )


# --- (b) CPU time -------------------------------------------------------------------------


def cpu(quick: bool) -> Iterator[Row]:
    """CPU seconds per 1,000 records, start-up (an empty crawl) taken off."""
    rounds = 2 if quick else 3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        full, empty = folder / "pages", folder / "empty"
        items = _record(folder, full, posts_and_comments(3 if quick else 8))
        empty.write_text(full.read_text("utf-8").partition("\n")[0] + "\n", "utf-8")
        spent: dict[str, list[float]] = {"signed": [], "unverified": [], "bare": []}
        for _ in range(rounds):
            spent["signed"].append(_crawl_cpu(folder, quick))
            spent["bare"].append(_bare_cpu(full) - _bare_cpu(empty))
            spent["unverified"].append(_crawl_cpu(folder, quick, "--no-verify"))
        if HTTPX:
            spent["httpx"] = [_plain_cpu(folder, full) - _plain_cpu(folder, empty)]
        requests = full.read_text("utf-8").count("\n")
    middle = {name: median(values) / items * 1000 for name, values in spent.items()}
    ratio = median(
        ours / bare for ours, bare in zip(spent["unverified"], spent["bare"], strict=True)
    )
    yield Row(
        "(b) CPU per 1,000 records, beside a bare Scrapy spider",
        f"{ratio:.2f}x",
        "<= 1.60x",
        ratio <= 1.6,
        f"{middle['unverified']:.2f} s (verified {middle['signed']:.2f} s), bare "
        f"{middle['bare']:.2f} s; {requests} requests, {items} records, {rounds} rounds",
    )
    if not HTTPX:
        yield _without_httpx("(b) CPU per 1,000 records, beside httpx")
        return
    yield Row(
        "(b) the same, beside httpx with a client per request",
        f"{middle['unverified'] / middle['httpx']:.2f}x",
        "",
        None,
        f"httpx {middle['httpx']:.2f} s; it neither signs nor validates",
    )


def _recording(pages: Path) -> dict[str, object]:
    return {
        "SPIDER_MIDDLEWARES": json.dumps({"benchmarks.recorder.Recorder": 1}),
        "BENCHMARK_PAGES": pages,
    }


def _record(folder: Path, pages: Path, arguments: dict[str, object]) -> int:
    """Note the pages of a crawl; gives the number of its records."""
    with fresh_sandbox() as sandbox:
        settings = {"CONCURRENT_REQUESTS": 10, **_recording(pages)}
        measure(crawl(sandbox, folder, arguments, settings), sandbox)
    return count_items(folder)


def _crawl_cpu(folder: Path, quick: bool, *options: str) -> float:
    full = posts_and_comments(3 if quick else 8)
    return _cpu_of_crawl(folder, full, *options) - _cpu_of_crawl(folder, EMPTY, *options)


def _cpu_of_crawl(folder: Path, arguments: dict[str, object], *options: str) -> float:
    with fresh_sandbox(*options) as sandbox:
        return measure(crawl(sandbox, folder, arguments, {"CONCURRENT_REQUESTS": 10}), sandbox).cpu


def _bare(pages: Path, url: str, concurrency: int) -> list[str]:
    return [sys.executable, "-m", "benchmarks.bare", str(pages), url, str(concurrency)]


def _bare_cpu(pages: Path) -> float:
    with fresh_sandbox("--no-verify") as sandbox:
        return measure(_bare(pages, sandbox.url, 10), sandbox).cpu


def _plain(what: str, source: Path, url: str, folder: Path) -> list[str]:
    return [sys.executable, "-m", "benchmarks.plain", what, str(source), url, "10", str(folder)]


def _plain_cpu(folder: Path, pages: Path) -> float:
    with fresh_sandbox("--no-verify") as sandbox:
        return measure(_plain("pages", pages, sandbox.url, folder), sandbox).cpu


def _without_httpx(name: str) -> Row:
    return Row(name, "not measured", "", None, 'needs httpx: pip install -e ".[bench]"')


# --- (c) memory ---------------------------------------------------------------------------


def memory(quick: bool) -> Iterator[Row]:
    """Resident memory of a short and of a long crawl."""
    runs: list[tuple[int, Run]] = []
    for keyword_count in (2, 8 if quick else 36):
        with tempfile.TemporaryDirectory() as name, fresh_sandbox() as sandbox:
            arguments = posts_and_comments(keyword_count) | {"max_replies": 5}
            command = crawl(sandbox, Path(name), arguments, {"CONCURRENT_REQUESTS": 10})
            runs.append((0, measure(command, sandbox)))
            runs[-1] = (count_items(Path(name)), runs[-1][1])
    (few, short), (many, long) = runs
    growth = (long.peak_rss - short.peak_rss) / MB
    yield Row(
        f"(c) growth of peak memory from {few:,} to {many:,} records",
        f"{growth:+.0f} MB",
        "<= 30 MB",
        growth <= 30,
        f"peak {short.peak_rss / MB:.0f} and {long.peak_rss / MB:.0f} MB, at the end "
        f"{short.samples[-1].rss / MB:.0f} and {long.samples[-1].rss / MB:.0f} MB",
    )


# --- (d) media ----------------------------------------------------------------------------


def media(quick: bool) -> Iterator[Row]:
    """20 videos of 15 MB, beside a plain client that streams the same files to the disk."""
    if not HTTPX:
        yield _without_httpx("(d) media")
        return
    size = 3 * MB if quick else 15 * MB
    for words, options, rounds in (
        ("as fast as it goes", (), 1 if quick else 3),
        ("5 MB/s a connection", ("--media-rate", str(5 * MB)), 1),
    ):
        pairs = [_media_round(size, options) for _ in range(rounds)]
        ratio = median(_bytes_per_second(ours) / _bytes_per_second(plain) for ours, plain in pairs)
        growth = max(_growth(ours) for ours, _ in pairs)
        plain_growth = max(_growth(plain) for _, plain in pairs)
        speeds = [
            median(_bytes_per_second(run) for run in runs) for runs in zip(*pairs, strict=True)
        ]
        details = (
            f"{speeds[0] / MB:.0f} MB/s, plain {speeds[1] / MB:.0f} MB/s; "
            f"{pairs[0][0].samples[-1].media_bytes / MB:.0f} MB, {rounds} rounds"
        )
        yield Row(f"(d) media {words}, bytes/s", f"{ratio:.2f}x", ">= 0.80x", ratio >= 0.8, details)
        yield Row(
            f"(d) media {words}, growth of memory",
            f"{growth / MB:+.1f} MB",
            "<= 16 MB",
            growth <= 16 * MB,
            f"plain {plain_growth / MB:+.1f} MB",
        )


def _media_round(size: int, options: tuple[str, ...]) -> tuple[Run, Run]:
    sandbox_options = ("--media-size", str(size), "--posts", "200", *options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arguments = {"keywords": keywords(1), "post_type": "video", "max_posts": 20}
        arguments |= {"media": "videos", "max_comments": 0}
        settings = {"CONCURRENT_REQUESTS": 10, "ANONYMIZE": False}
        with fresh_sandbox(*sandbox_options) as sandbox:
            ours = measure(crawl(sandbox, folder, arguments, settings), sandbox, interval=0.02)
        urls = folder / "urls"
        urls.write_text("\n".join(_video_urls(folder)), "utf-8")
        with fresh_sandbox(*sandbox_options) as sandbox:
            plain = measure(_plain("files", urls, sandbox.url, folder), sandbox, interval=0.02)
    if ours.samples[-1].media_bytes != plain.samples[-1].media_bytes:
        raise RuntimeError("the two clients did not fetch the same bytes")
    return ours, plain


def _video_urls(folder: Path) -> Iterator[str]:
    for path in folder.glob("xhs/*/posts.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            for file in json.loads(line)["media"]:
                if file.get("status") == "downloaded":
                    yield file["url"]


def _transfer(run: Run) -> tuple[int, int]:
    """Index of the last sample without media, and of the first with all of it."""
    total = run.samples[-1].media_bytes
    begun = next(i for i, sample in enumerate(run.samples) if sample.media_bytes)
    done = next(i for i, s in enumerate(run.samples) if s.media_bytes == total and not s.in_flight)
    return max(0, begun - 1), done


def _bytes_per_second(run: Run) -> float:
    begun, done = _transfer(run)
    seconds = run.samples[done].time - run.samples[begun].time
    return run.samples[-1].media_bytes / seconds


def _growth(run: Run) -> float:
    """Bytes by which the peak lies above the memory before the first file."""
    return run.peak_rss - run.samples[_transfer(run)[0]].rss


# --- (e) start-up -------------------------------------------------------------------------


def start_up(quick: bool) -> Iterator[Row]:
    """Time and memory until the first request is on its way, beside a bare Scrapy spider."""
    rounds = 3 if quick else 5
    runs = []
    bare_runs = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages = folder / "pages"
        _record(folder, pages, posts_and_comments(1, posts=1))
        for _ in range(rounds):
            with fresh_sandbox() as sandbox:
                command = crawl(sandbox, folder, EMPTY, {})
                runs.append(measure(command, sandbox, interval=0.01))
            with fresh_sandbox("--no-verify") as sandbox:
                bare_runs.append(measure(_bare(pages, sandbox.url, 1), sandbox, interval=0.01))
    seconds, rss = _at_first_request(runs)
    bare_seconds, bare_rss = _at_first_request(bare_runs)
    yield Row(
        "(e) start-up, until the first request",
        f"{seconds:.2f} s",
        "< 1.5 s",
        seconds < 1.5,
        f"bare Scrapy {bare_seconds:.2f} s; median of {rounds}",
    )
    yield Row(
        "(e) memory at the first request",
        f"{rss / MB:.0f} MB",
        "< 110 MB",
        rss < 110 * MB,
        f"bare Scrapy {bare_rss / MB:.0f} MB",
    )


def _at_first_request(runs: list[Run]) -> tuple[float, float]:
    firsts = [(run.samples[run.first].time - run.began, run.samples[run.first].rss) for run in runs]
    return median(seconds for seconds, _ in firsts), median(rss for _, rss in firsts)


MEASURES = {"a": utilisation, "b": cpu, "c": memory, "d": media, "e": start_up}
