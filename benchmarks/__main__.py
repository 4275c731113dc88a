"""``python -m benchmarks [a b c d e f] [--quick]``: measure, and print one table."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

from benchmarks.measures import MEASURES, Row


def main() -> int:
    """Run the measurements that were asked for; the exit code is 1 if one could not be made."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="a b c d e f", help="which [all]")
    parser.add_argument("--quick", action="store_true", help="smaller and rougher")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(MEASURES)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; choose among a b c d e f")
    if not sys.platform.startswith("linux"):
        parser.error("the benchmarks read /proc and need Linux")
    began = time.monotonic()
    print(f"{machine()}\n\n| measure | value | target | met | details |")
    print("|---|---|---|---|---|", flush=True)
    broken: list[str] = []
    for name in arguments.names or MEASURES:
        try:
            for row in MEASURES[name](arguments.quick):
                print(table_line(row), flush=True)
        except RuntimeError as error:
            broken.append(f"({name}) {error}")
    print(f"\n{time.monotonic() - began:.0f} s, load at the end {os.getloadavg()[0]:.1f}")
    for words in broken:
        print(words, file=sys.stderr)
    return 1 if broken else 0


def table_line(row: Row) -> str:
    """A row in Markdown."""
    met = {True: "yes", False: "no", None: ""}[row.met]
    return f"| {row.name} | {row.value} | {row.target} | {met} | {row.details} |"


def machine() -> str:
    """Date, cores, processor and versions, for the reader of the figures."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    load = os.getloadavg()[0]
    return (
        f"{date.today()}, {os.cpu_count()} cores ({model}), Python {platform.python_version()}, "
        f"Scrapy {version('scrapy')}, Twisted {version('twisted')}; load at the start {load:.1f}"
    )


if __name__ == "__main__":
    sys.exit(main())
