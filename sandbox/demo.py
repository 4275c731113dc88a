"""``make demo``: a first crawl against the sandbox, and what it left on the disk."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from sandbox.testing import RunningSandbox

ARGUMENTS = {
    "keywords": "露营",
    "max_posts": "6",
    "max_comments": "10",
    "max_replies": "3",
    "media": "images",
}
SETTINGS = {
    "MAX_CONCURRENCY_NUM": "5",
    "EXPORT_FORMATS": "jsonl,csv",
    "SAVE_DATA_PATH": "data/demo",
}


def main() -> int:
    """Run the demo; the exit code is the crawl's."""
    scrapy = Path(sys.executable).with_name("scrapy")
    with RunningSandbox() as sandbox:
        command = ["crawl", "xhs"]
        for name, value in ARGUMENTS.items():
            command += ["-a", f"{name}={value}"]
        for name, value in SETTINGS.items():
            command += ["-s", f"{name}={value}"]
        print(f"The sandbox, an offline stand-in of the platforms, listens on {sandbox.url}")
        print(f"\n$ scrapy {shlex.join(command)} -s SANDBOX_URL={sandbox.url}\n", flush=True)
        # Cookies are secrets: they go through the environment, never through arguments.
        environment = {**os.environ, "XHS_COOKIES": sandbox.cookies("member")}
        done = subprocess.run(
            [scrapy, *command, "-s", f"SANDBOX_URL={sandbox.url}"], env=environment, check=False
        )
    print_files(Path(SETTINGS["SAVE_DATA_PATH"]) / "xhs")
    print("\nThe same against the real site, with the cookies of your browser in cookies/xhs.txt:")
    arguments = [f"{name}={value}" for name, value in ARGUMENTS.items()]
    print("$ scrapy crawl xhs " + " ".join(f"-a {shlex.quote(words)}" for words in arguments))
    print("README.md explains the arguments; `python -m sandbox` keeps a sandbox running.")
    return done.returncode


def print_files(folder: Path) -> None:
    """Say where the newest run and the pictures are."""
    runs = sorted(path for path in folder.glob("*-*") if path.is_dir())
    if not runs:
        return
    print("\nWhat it wrote:")
    for path in sorted(runs[-1].iterdir()):
        print(f"  {path}  ({path.stat().st_size:,} bytes)")
    files = (path for path in (folder / "media").rglob("*") if path.is_file())
    pictures = sorted(path for path in files if path.suffix != ".json")
    if pictures:
        print(f"  {folder / 'media'}  ({len(pictures)} files, such as {pictures[0]})")


if __name__ == "__main__":
    sys.exit(main())
