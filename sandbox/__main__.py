"""``python -m sandbox``: options, one line when ready, a clean end on Ctrl-C or SIGTERM."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import shutil
import signal
import ssl
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from sandbox.core import PLATFORMS, WORLD_NOW, Options
from sandbox.faults import is_known, parse_fault
from sandbox.server import Listener, Sandbox

LOOPBACK = "127.0.0.1"


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sandbox", description="An offline stand-in of the platforms, on loopback."
    )
    parser.add_argument("--port", type=int, default=8787, help="0 picks a free one [%(default)s]")
    parser.add_argument("--host", default=LOOPBACK, help="loopback only; others are refused")
    parser.add_argument("--seed", type=int, default=1, help="same seed, same world [%(default)s]")
    parser.add_argument("--posts", type=int, default=60, help="posts per keyword [%(default)s]")
    parser.add_argument("--latency", type=float, default=0, metavar="MS", help="of every answer")
    parser.add_argument("--tls", action="store_true", help="HTTPS and CONNECT on the same port")
    parser.add_argument("--tls-dir", type=Path, help="keeps the certificate [a temporary folder]")
    parser.add_argument(
        "--fault",
        nargs="+",
        action="extend",
        default=[],
        metavar="KIND[@PATH]=RATE",
        help="for example 429=0.1 media-reset=0.05",
    )
    parser.add_argument("--no-verify", action="store_true", help="do not check signatures")
    parser.add_argument(
        "--strict-replay", action="store_true", help="refuse a signature that was used before"
    )
    parser.add_argument("--media-size", metavar="BYTES|MIN-MAX", help="of videos [300000-1500000]")
    parser.add_argument(
        "--media-rate", type=int, default=0, metavar="BYTES", help="per second and connection"
    )
    parser.add_argument(
        "--url-ttl", type=int, default=24 * 3600, metavar="S", help="life of signed media urls"
    )
    parser.add_argument(
        "--now", metavar="DATE", help=f"the world's present [{WORLD_NOW:%Y-%m-%dT%H:%M}Z]"
    )
    parser.add_argument(
        "--only", metavar="NAME,NAME", default=",".join(PLATFORMS), help="load these platforms"
    )
    parser.add_argument(
        "-o",
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a platform's switch, see docs/sandbox.md",
    )
    return parser


def parse_options(arguments: argparse.Namespace) -> Options:
    """Options from the command line; ``ValueError`` carries one clear line."""
    if arguments.host not in (LOOPBACK, "localhost"):
        raise ValueError(f"--host {arguments.host}: the sandbox listens on {LOOPBACK} only")
    if arguments.posts < 0 or arguments.latency < 0 or arguments.media_rate < 0:
        raise ValueError("--posts, --latency and --media-rate cannot be negative")
    switches = {}
    for option in arguments.option:
        name, equals, value = option.partition("=")
        if not equals:
            raise ValueError(f"-o {option}: write NAME=VALUE")
        switches[name] = value
    chosen: dict[str, Any] = {}
    if arguments.media_size:
        chosen["media_size"] = _size_range(arguments.media_size)
    if arguments.now:
        moment = datetime.fromisoformat(arguments.now.replace("Z", "+00:00"))
        chosen["now"] = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    return Options(
        seed=arguments.seed,
        posts=arguments.posts,
        latency=arguments.latency / 1000,
        verify=not arguments.no_verify,
        strict_replay=arguments.strict_replay,
        media_rate=arguments.media_rate,
        url_ttl=arguments.url_ttl,
        switches=switches,
        **chosen,
    )


def _names(text: str) -> list[str]:
    names = text.split(",")
    unknown = set(names) - set(PLATFORMS)
    if unknown:
        raise ValueError(f"--only {text}: there are {', '.join(PLATFORMS)}")
    return names


def _size_range(text: str) -> tuple[int, int]:
    low, dash, high = text.partition("-")
    try:
        smallest = int(low)
        return smallest, max(smallest, int(high)) if dash else smallest
    except ValueError:
        raise ValueError(f"--media-size {text}: write BYTES or MIN-MAX") from None


def tls_context(sandbox: Sandbox, folder: Path) -> ssl.SSLContext:
    from sandbox.tls import server_context  # cryptography is needed with --tls only

    hosts = [host for platform in sandbox.platforms for host in platform.hosts]
    context, sandbox.cert_pem = server_context(folder, hosts)
    return context


async def serve(sandbox: Sandbox, port: int, tls: ssl.SSLContext | None) -> None:
    """Listen until a signal comes."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C raises instead
            loop.add_signal_handler(name, stop.set)
    listener = Listener(sandbox, tls)
    await listener.open(LOOPBACK, port)
    gc.freeze()  # what is there now stays; answers make no cycles worth looking for often
    gc.set_threshold(50_000, 20, 50)
    print(f"sandbox listening on http://{LOOPBACK}:{listener.port}", flush=True)
    try:
        await stop.wait()
    finally:
        await listener.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Run; the exit code is 0 after a signal, 2 for wrong options, 1 if the port is taken."""
    parser = build_parser()
    arguments = parser.parse_args(argv)
    temporary: str | None = None
    # A selector loop everywhere: the listener looks at sockets itself when it speaks TLS.
    loop = asyncio.SelectorEventLoop()
    try:
        sandbox = Sandbox(parse_options(arguments), _names(arguments.only))
        for text in arguments.fault:
            wanted = parse_fault(text)
            if not is_known(wanted["kind"], sandbox.platforms):
                raise ValueError(f"--fault {text}: no fault kind {wanted['kind']!r}")
            sandbox.faults.add(**wanted)
        tls = None
        if arguments.tls:
            folder = arguments.tls_dir
            if folder is None:
                temporary = tempfile.mkdtemp(prefix="sandbox-tls-")
                folder = Path(temporary)
            tls = tls_context(sandbox, folder)
        loop.run_until_complete(serve(sandbox, arguments.port, tls))
    except ValueError as error:
        parser.error(str(error))
    except OSError as error:
        print(f"sandbox: cannot listen on port {arguments.port}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    finally:
        loop.close()
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
