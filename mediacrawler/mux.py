"""Joins the pictures and the sound of a video in one file, with ffmpeg; knows no platform.

Setting: FFMPEG. Streams are copied, not encoded anew; ffmpeg may read the two files that it is
given, and nothing else.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

from mediacrawler.exceptions import UsageProblem

MESSAGE_BYTES = 2000
"""So much of what ffmpeg says is kept: its end, where the reason stands."""

# What a stream of a platform can be. Playlists and the like, which name further files or
# addresses, are not among them, whatever a file pretends to be.
_FORMATS = "mov,matroska,webm,flac,ogg,mp3,aac"
_INPUT = ("-xerror", "-protocol_whitelist", "file", "-format_whitelist", _FORMATS, "-i")
_SPEAKER = re.compile(r"^\[[^\]]*\] ")
# Some versions say so and end with status 0 all the same.
_CUT_SHORT = re.compile(r"^Error (?:writing trailer|closing file)", re.MULTILINE)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class MuxError(Exception):
    """Two files could not be joined; the message is one line."""


def find_ffmpeg(setting: str | None) -> str | None:
    """The ffmpeg to use, or None where there is none.

    :param setting: None looks for it on the PATH, a path or command names it, ``""`` wants none.
    :raises UsageProblem: the one that is named is not there.
    """
    if setting == "":
        return None
    if setting is None:
        return shutil.which("ffmpeg")
    found = shutil.which(Path(setting).expanduser())
    if found is None:
        raise UsageProblem(
            f"FFMPEG={setting} is no program; give its path, or '' to keep pictures and sound apart"
        )
    return str(found)


async def mux(video: Path, audio: Path, target: Path, *, ffmpeg: str) -> None:
    """Write the pictures of *video* and the sound of *audio* into one MP4, *target*.

    *target* appears whole or not at all; both sources stay. Cancelling it kills ffmpeg.

    :raises MuxError: in one line, why ffmpeg could not.
    :raises OSError: there is no room for *target*, which is as large as both sources.
    """
    temporary = target.with_name(target.name + ".tmp")
    try:
        temporary.unlink(missing_ok=True)  # of a crawl that was killed
        _check_room(target.parent, video.stat().st_size + audio.stat().st_size)
        await _run(
            ffmpeg,
            *("-nostdin", "-hide_banner", "-loglevel", "error", "-y"),
            *(*_INPUT, f"file:{video}"),
            *(*_INPUT, f"file:{audio}"),
            *("-map", "0:v:0", "-map", "1:a:0", "-c", "copy"),
            *("-strict", "-2"),  # lossless sound and HDR in MP4 are "experimental" to older ones
            *("-fflags", "+bitexact"),  # the same sources give the same file
            *("-movflags", "+faststart", "-f", "mp4", f"file:{temporary}"),
        )
        temporary.replace(target)
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise
        raise MuxError(f"{target.name} cannot be made: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _check_room(folder: Path, needed: int) -> None:
    """Refuse early what would fill the disk, which others write to as well.

    :raises OSError: fewer than *needed* bytes are free in *folder*.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OSError(
            errno.ENOSPC,
            "joining a video needs room for it a second time, "
            f"{needed / 1e6:.1f} MB, and {free / 1e6:.1f} MB are free",
        )


async def _run(*command: str) -> None:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=PIPE,
            start_new_session=True,  # Ctrl-C is the crawl's to handle, which then ends ffmpeg
            restore_signals=False,  # a file that may not grow further is said, not a sudden end
        )
    except NotImplementedError:  # the event loop of some systems
        raise MuxError("programs cannot be started here") from None
    try:
        assert process.stderr
        said = await _end_of(process.stderr)
        status = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    for code in _NO_ROOM:
        if os.strerror(code) in said:
            raise OSError(code, os.strerror(code))
    if status or _CUT_SHORT.search(said):
        raise MuxError(reason(said) or f"ffmpeg ended with status {status}")


async def _end_of(stream: asyncio.StreamReader) -> str:
    """The last bytes of a stream, read to its end so that its writer never waits."""
    kept = b""
    while piece := await stream.read(MESSAGE_BYTES):
        kept = (kept + piece)[-MESSAGE_BYTES:]
    return kept.decode("utf-8", "replace")


def reason(said: str) -> str:
    """The one line of ffmpeg's messages that tells what went wrong, or ``""``."""
    lines = [_SPEAKER.sub("", line).strip() for line in said.splitlines()]
    telling = [line for line in lines if line and not line.startswith("To ignore this")]
    return telling[-1] if telling else ""
