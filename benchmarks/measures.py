"""The five measurements; each gives rows of the table. Targets are those of README.md."""

from __future__ import annotations

import importlib.util
import json
import shutil
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


def utilisation(quick: bool, platform: str = "xhs") -> Iterator[Row]:
    """How much of what concurrency and latency allow is used, from first to last byte.

    The bare spider on pages that are all known beforehand says what Scrapy and the machine allow.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages = folder / "pages"
        _record(folder, pages, posts_and_comments(2), platform)
        recorded = pages.read_text("utf-8")
        for concurrency, target, seconds in ((1, 0.95, 15), (10, 0.95, 25), (50, 0.80, 20)):
            wanted = (8 if quick else seconds) * concurrency * 1000 // LATENCY_MS  # requests
            pages.write_text(recorded * (wanted // recorded.count("\n")) or recorded, "utf-8")
            yield _utilisation_row(folder, pages, concurrency, target, wanted, platform)


def _utilisation_row(
    folder: Path, pages: Path, concurrency: int, target: float, wanted: int, platform: str
) -> Row:
    posts = min(50, wanted * 2 // 5)
    arguments = posts_and_comments(wanted * 2 // 5 // posts, posts)
    settings = {"CONCURRENT_REQUESTS": concurrency}
    with fresh_sandbox("--latency", str(LATENCY_MS), platform=platform) as sandbox:
        command = crawl(sandbox, folder / "ours", arguments, settings, platform)
        run = measure(command, sandbox, platform=platform)
    with fresh_sandbox("--latency", str(LATENCY_MS), "--no-verify", platform=platform) as sandbox:
        bare = measure(_bare(pages, sandbox.url, concurrency), sandbox, platform=platform)
    value = _share(run.requests / run.seconds, concurrency)
    items = count_items(folder / "ours")
    shutil.rmtree(folder / "ours")
    return Row(
        f"(a) {platform}: utilisation at concurrency {concurrency}",
        f"{value:.2f}",
        f">= {target:.2f}",
        value >= target,
        f"steady phase {_steady(run, concurrency):.2f}; {run.requests} requests in "
        f"{run.seconds:.1f} s, {items / run.seconds:.0f} records/s, most in flight "
        f"{run.most_in_flight}, {run.cpu / run.seconds:.0%} of a core; bare Scrapy "
        f"{_share(bare.requests / bare.seconds, concurrency):.2f}",
    )


def _steady(run: Run, concurrency: int) -> float:
    return _share(run.rate_between(0.1, 0.9), concurrency)


def _share(requests_per_second: float, concurrency: int) -> float:
    return requests_per_second * LATENCY_MS / 1000 / concurrency


# --- (b) CPU time -------------------------------------------------------------------------


def cpu(quick: bool, platform: str = "xhs") -> Iterator[Row]:
    """CPU seconds per 1,000 records, start-up (an empty crawl) taken off."""
    rounds = 2 if quick else 5
    arguments = posts_and_comments(2 if quick else 4)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        full, empty = folder / "pages", folder / "empty"
        items = _record(folder, full, arguments, platform)
        empty.write_text(full.read_text("utf-8").partition("\n")[0] + "\n", "utf-8")
        ours, bare, lean = [], [], []
        for _ in range(rounds):
            ours.append(_crawl_cpu(platform, arguments, "--no-verify"))
            spent = _bare_cpu(platform, full) - _bare_cpu(platform, empty)
            bare.append(spent / items * 1000)
            spent = _bare_cpu(platform, full, "8") - _bare_cpu(platform, empty, "8")
            lean.append(spent / items * 1000)
        verified = _crawl_cpu(platform, arguments)
        plain = 0.0
        if HTTPX:
            spent = _plain_cpu(platform, folder, full) - _plain_cpu(platform, folder, empty)
            plain = spent / items * 1000
        requests = full.read_text("utf-8").count("\n")
    ratios = sorted(one / other for one, other in zip(ours, bare, strict=True))
    ratio = median(ratios)
    yield Row(
        f"(b) {platform}: CPU per 1,000 records, beside a bare Scrapy spider",
        f"{ratio:.2f}x",
        "<= 1.60x",
        ratio <= 1.6,
        f"{median(ours):.2f} s, bare {median(bare):.2f} s (least {min(ours):.2f} and "
        f"{min(bare):.2f} s), verified {verified:.2f} s; {rounds} rounds from {ratios[0]:.2f}x to "
        f"{ratios[-1]:.2f}x, {requests} requests and {items} records each",
    )
    yield Row(
        "(b) the same, beside a bare spider with CONCURRENT_ITEMS=8",
        f"{median(one / other for one, other in zip(ours, lean, strict=True)):.2f}x",
        "",
        None,
        f"bare {median(lean):.2f} s (least {min(lean):.2f} s)",
    )
    if not HTTPX:
        yield _without_httpx("(b) the same, beside httpx")
        return
    yield Row(
        "(b) the same, beside httpx with a client for each request",
        f"{median(ours) / plain:.2f}x",
        "",
        None,
        f"httpx {plain:.2f} s; it neither signs nor validates",
    )


def _record(folder: Path, pages: Path, arguments: dict[str, object], platform: str) -> int:
    """Note the pages of a crawl; gives the number of its records."""
    with fresh_sandbox("--no-verify", platform=platform) as sandbox:
        spider_arguments = [f"{name}={value}" for name, value in arguments.items()]
        command = [sys.executable, "-m", "benchmarks.record", platform, str(pages), sandbox.url]
        command += [str(folder / "recorded"), *spider_arguments]
        measure(command, sandbox, platform=platform)
    return count_items(folder / "recorded")


def _crawl_cpu(platform: str, arguments: dict[str, object], *options: str) -> float:
    spent, items = _cpu_of_crawl(platform, arguments, *options)
    return (spent - _cpu_of_crawl(platform, EMPTY, *options)[0]) / items * 1000


def _cpu_of_crawl(platform: str, arguments: dict[str, object], *options: str) -> tuple[float, int]:
    """CPU seconds and number of records of one crawl."""
    with (
        tempfile.TemporaryDirectory() as name,
        fresh_sandbox(*options, platform=platform) as sandbox,
    ):
        command = crawl(sandbox, Path(name), arguments, {"CONCURRENT_REQUESTS": 10}, platform)
        return measure(command, sandbox, platform=platform).cpu, count_items(Path(name))


def _bare(pages: Path, url: str, concurrency: int) -> list[str]:
    return [sys.executable, "-m", "benchmarks.bare", str(pages), url, str(concurrency)]


def _bare_cpu(platform: str, pages: Path, *options: str) -> float:
    with fresh_sandbox("--no-verify", platform=platform) as sandbox:
        command = [*_bare(pages, sandbox.url, 10), *options]
        return measure(command, sandbox, platform=platform).cpu


def _plain(what: str, source: Path, url: str, folder: Path) -> list[str]:
    return [sys.executable, "-m", "benchmarks.plain", what, str(source), url, "10", str(folder)]


def _plain_cpu(platform: str, folder: Path, pages: Path) -> float:
    with fresh_sandbox("--no-verify", platform=platform) as sandbox:
        command = _plain("pages", pages, sandbox.url, folder)
        return measure(command, sandbox, platform=platform).cpu


def _without_httpx(name: str) -> Row:
    return Row(name, "not measured", "", None, 'needs httpx: pip install -e ".[bench]"')


# --- (c) memory ---------------------------------------------------------------------------


def memory(quick: bool) -> Iterator[Row]:
    """Resident memory of a short and of a long crawl, with replies."""
    few, short = _memory_of_crawl(keyword_count=1, posts=40)
    many, long = _memory_of_crawl(keyword_count=4 if quick else 16, posts=50)
    growth = (long.peak_rss - short.peak_rss) / MB
    yield Row(
        f"(c) growth of peak memory from {few:,} to {many:,} records",
        f"{growth:+.0f} MB",
        "<= 30 MB",
        growth <= 30,
        f"peak {short.peak_rss / MB:.0f} and {long.peak_rss / MB:.0f} MB, at the end "
        f"{short.samples[-1].rss / MB:.0f} and {long.samples[-1].rss / MB:.0f} MB",
    )


def _memory_of_crawl(keyword_count: int, posts: int) -> tuple[int, Run]:
    """Number of records of a crawl, and what was seen of it."""
    arguments = posts_and_comments(keyword_count, posts) | {"max_replies": 5}
    with tempfile.TemporaryDirectory() as name, fresh_sandbox() as sandbox:
        run = measure(crawl(sandbox, Path(name), arguments, {"CONCURRENT_REQUESTS": 10}), sandbox)
        return count_items(Path(name)), run


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
        _record(folder, pages, posts_and_comments(1, posts=1), "xhs")
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


def bilibili(quick: bool) -> Iterator[Row]:
    """(a) and (b) once more, for a platform that signs its addresses."""
    yield from utilisation(quick, "bilibili")
    yield from cpu(quick, "bilibili")


MEASURES = {
    "a": utilisation,
    "b": cpu,
    "c": memory,
    "d": media,
    "e": start_up,
    "f": bilibili,
}
