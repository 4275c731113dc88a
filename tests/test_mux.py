"""Pictures and sound become one file, with the real ffmpeg; or one line says why not."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from mediacrawler.exceptions import UsageProblem
from mediacrawler.mux import MuxError, find_ffmpeg, mux, reason

FRAGMENTED = ("-movflags", "frag_keyframe+empty_moov", "-f", "mp4")


def make(path: Path, *arguments: str) -> Path:
    command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", *arguments, f"file:{path}"]
    subprocess.run(command, check=True, timeout=60)
    return path


def pictures(path: Path, colour: str = "red") -> Path:
    source = f"color=c={colour}:s=64x36:r=5:d=2"
    return make(path, "-f", "lavfi", "-i", source, "-c:v", "mpeg4", "-g", "2", *FRAGMENTED)


def sound(path: Path, tone: int = 440) -> Path:
    return make(path, "-f", "lavfi", "-i", f"sine=f={tone}:d=2", "-c:a", "aac", *FRAGMENTED)


def hashes(path: Path) -> dict[str, str]:
    """The hash of all packets of each stream: ``{"v": ..., "a": ...}``."""
    command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-i", f"file:{path}", "-map", "0"]
    done = subprocess.run(
        [*command, "-c", "copy", "-f", "streamhash", "-"],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return {kind: value for _, kind, value in (line.split(",") for line in done.stdout.split())}


def two_files(folder: Path) -> tuple[Path, Path]:
    """A video and its sound, for programs that do not look at them."""
    video, audio = folder / "v", folder / "a"
    video.write_bytes(b"v" * 1000)
    audio.write_bytes(b"a" * 1000)
    return video, audio


def run(video: Path, audio: Path, target: Path, ffmpeg: str) -> None:
    asyncio.run(mux(video, audio, target, ffmpeg=ffmpeg))


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# --- Joined -----------------------------------------------------------------------------------


def test_the_whole_holds_both_streams_as_they_were(ffmpeg: str, tmp_path: Path) -> None:
    video, audio = pictures(tmp_path / "v.mp4"), sound(tmp_path / "a.m4a")
    before = (video.read_bytes(), audio.read_bytes())
    run(video, audio, tmp_path / "whole.mp4", ffmpeg)
    assert hashes(tmp_path / "whole.mp4") == hashes(video) | hashes(audio)
    assert (video.read_bytes(), audio.read_bytes()) == before
    assert files(tmp_path) == {"v.mp4", "a.m4a", "whole.mp4"}


def test_the_whole_can_be_played_from_its_beginning(ffmpeg: str, tmp_path: Path) -> None:
    run(pictures(tmp_path / "v.mp4"), sound(tmp_path / "a.m4a"), tmp_path / "whole.mp4", ffmpeg)
    content = (tmp_path / "whole.mp4").read_bytes()
    assert content[4:8] == b"ftyp"
    assert content.index(b"moov") < content.index(b"mdat")
    assert b"Lavf" not in content  # another version of ffmpeg is no other file


def test_the_same_sources_give_the_same_bytes(ffmpeg: str, tmp_path: Path) -> None:
    video, audio = pictures(tmp_path / "v.mp4"), sound(tmp_path / "a.m4a")
    for name in ("one", "two"):
        run(video, audio, tmp_path / name, ffmpeg)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_whole_video_can_be_given_another_sound(ffmpeg: str, tmp_path: Path) -> None:
    video, old, new = (
        pictures(tmp_path / "v.mp4"),
        sound(tmp_path / "old.m4a"),
        sound(tmp_path / "new.m4a", tone=880),
    )
    run(video, old, tmp_path / "whole.mp4", ffmpeg)
    run(tmp_path / "whole.mp4", new, tmp_path / "whole.mp4", ffmpeg)
    assert hashes(tmp_path / "whole.mp4") == hashes(video) | hashes(new)


@pytest.mark.parametrize("name", ["-y.mp4", "a:b%d.mp4", "视频 1.mp4", "http:__x.mp4", "v.part"])
def test_any_file_name_will_do(
    ffmpeg: str, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(pictures(Path(name)), sound(Path(f"{name}.m4a")), Path(f"whole-{name}"), ffmpeg)
    assert set(hashes(tmp_path / f"whole-{name}")) == {"v", "a"}


# --- Not joined -------------------------------------------------------------------------------


def playlist(folder: Path) -> bytes:
    lines = ("#EXTM3U", "#EXT-X-TARGETDURATION:2", "#EXTINF:2,", f"file:{folder}/v.mp4")
    return "\n".join((*lines, "#EXT-X-ENDLIST", "")).encode()


def concat(folder: Path) -> bytes:
    return b"ffconcat version 1.0\nfile v.mp4\n"


@pytest.mark.parametrize("lists", [playlist, concat])
def test_a_file_that_names_others_is_not_followed(
    ffmpeg: str, tmp_path: Path, lists: Callable[[Path], bytes]
) -> None:
    audio = sound(tmp_path / "a.m4a")
    pictures(tmp_path / "v.mp4")
    (tmp_path / "list").write_bytes(lists(tmp_path))
    with pytest.raises(MuxError):
        run(tmp_path / "list", audio, tmp_path / "whole.mp4", ffmpeg)


def cut(folder: Path) -> tuple[Path, Path]:
    video = pictures(folder / "v.mp4")
    content = video.read_bytes()
    last = content.rindex(b"mdat")  # of the last of its pieces; the others are whole
    video.write_bytes(content[: last + 8])
    return video, sound(folder / "a.m4a")


def noise(folder: Path) -> tuple[Path, Path]:
    (folder / "v.mp4").write_bytes(bytes(range(256)) * 40)
    return folder / "v.mp4", sound(folder / "a.m4a")


def two_of_a_kind(folder: Path) -> tuple[Path, Path]:
    return pictures(folder / "v.mp4"), pictures(folder / "a.m4a")


def nothing(folder: Path) -> tuple[Path, Path]:
    return folder / "v.mp4", folder / "a.m4a"


@pytest.mark.parametrize("sources", [cut, noise, two_of_a_kind, nothing])
def test_what_cannot_be_joined_is_said_in_one_line_and_changes_nothing(
    ffmpeg: str, tmp_path: Path, sources: Callable[[Path], tuple[Path, Path]]
) -> None:
    video, audio = sources(tmp_path)
    target = tmp_path / "whole.mp4"
    target.write_bytes(b"of an earlier run")
    before = files(tmp_path)
    with pytest.raises(MuxError, match=r"^[^\n]{10,}$"):
        run(video, audio, target, ffmpeg)
    assert target.read_bytes() == b"of an earlier run"
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("exit 3", "ffmpeg ended with status 3"),
        ("echo first >&2; echo '[mov @ 0x1f] it is cut' >&2; exit 1", "it is cut"),
        ("yes 'a line' | head -n 400000 >&2; echo the end >&2; exit 1", "the end"),
        ("kill -9 $$", "ffmpeg ended with status -9"),
        ("exit 0", "whole.mp4 cannot be made: No such file or directory"),
    ],
    ids=["silent", "one line", "megabytes", "killed", "no file"],
)
def test_whatever_ffmpeg_does_the_reason_is_one_line(tmp_path: Path, text: str, why: str) -> None:
    program = script(tmp_path / "ffmpeg", text)
    with pytest.raises(MuxError) as caught:
        run(*two_files(tmp_path), tmp_path / "whole.mp4", program)
    assert str(caught.value) == why


def test_a_hint_is_no_reason() -> None:
    assert reason("Stream map '1:a' matches no streams.\nTo ignore this, add a '?'.\n") == (
        "Stream map '1:a' matches no streams."
    )
    assert reason("\n \n") == ""


def test_a_program_that_cannot_be_started_is_a_reason_too(tmp_path: Path) -> None:
    (tmp_path / "ffmpeg").write_text("#!/nowhere\n")
    (tmp_path / "ffmpeg").chmod(0o755)
    with pytest.raises(MuxError, match=r"whole\.mp4 cannot be made"):
        run(*two_files(tmp_path), tmp_path / "whole.mp4", str(tmp_path / "ffmpeg"))


def test_ctrl_c_is_for_the_crawl_to_handle(tmp_path: Path) -> None:
    """The terminal sends it to all programs of its session; ffmpeg would cut the file short."""
    text = f"{sys.executable} -c 'import os, sys; sys.exit(str(os.getsid(0)))'"
    with pytest.raises(MuxError) as caught:
        run(*two_files(tmp_path), tmp_path / "whole", script(tmp_path / "ffmpeg", text))
    assert int(str(caught.value)) != os.getsid(0)


def test_cancelling_ends_ffmpeg_and_leaves_nothing(tmp_path: Path) -> None:
    program = script(
        tmp_path / "ffmpeg",
        f'for last; do :; done; : > "${{last#file:}}"; echo $$ > {tmp_path}/pid; exec sleep 600',
    )

    video, audio = two_files(tmp_path)

    async def begin_and_cancel() -> None:
        work = asyncio.ensure_future(mux(video, audio, tmp_path / "whole.mp4", ffmpeg=program))
        deadline = time.monotonic() + 20
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        assert (tmp_path / "whole.mp4.tmp").exists()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(begin_and_cancel())
    assert files(tmp_path) == {"ffmpeg", "pid", "v", "a"}
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


# --- No room ----------------------------------------------------------------------------------


def test_a_disk_that_is_full_is_not_ffmpegs_fault(ffmpeg: str, tmp_path: Path) -> None:
    """The real ffmpeg writes to the device that is always full."""
    to_full = (
        f'for last; do :; done; : > "${{last#file:}}"; n=$#; for a; do shift; '
        f'[ $((n -= 1)) -gt 0 ] && set -- "$@" "$a"; done; exec {ffmpeg} "$@" file:/dev/full'
    )
    video, audio = pictures(tmp_path / "v.mp4"), sound(tmp_path / "a.m4a")
    before = files(tmp_path)
    with pytest.raises(OSError, match="No space left on device") as caught:
        run(video, audio, tmp_path / "whole.mp4", script(tmp_path / "full", to_full))
    assert caught.value.errno == errno.ENOSPC
    assert files(tmp_path) == before | {"full"}


def test_a_file_that_may_not_grow_further_is_no_room_either(ffmpeg: str, tmp_path: Path) -> None:
    video = make(
        tmp_path / "v.mp4",
        *("-f", "lavfi", "-i", "testsrc=s=320x240:r=5:d=20", "-c:v", "mpeg4", "-q:v", "2"),
    )
    limited = script(tmp_path / "limited", f'ulimit -f 40; exec {ffmpeg} "$@"')  # x 512 bytes
    with pytest.raises(OSError, match="File too large"):
        run(video, sound(tmp_path / "a.m4a"), tmp_path / "whole.mp4", limited)
    assert not (tmp_path / "whole.mp4").exists()


@pytest.mark.parametrize("said", ["writing trailer of file:x", "closing file file:x"])
def test_a_file_that_was_cut_short_is_not_taken_for_whole(tmp_path: Path, said: str) -> None:
    """Some versions of ffmpeg end with status 0 then."""
    text = f'for last; do :; done; : > "${{last#file:}}"; echo "Error {said}: Odd error" >&2'
    with pytest.raises(MuxError, match=f"Error {said}: Odd error"):
        run(*two_files(tmp_path), tmp_path / "whole.mp4", script(tmp_path / "ffmpeg", text))
    assert files(tmp_path) == {"ffmpeg", "v", "a"}


def test_room_for_the_whole_is_asked_for_before_ffmpeg_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    def almost_full(folder: Path) -> SimpleNamespace:
        asked.append(folder)
        return SimpleNamespace(free=1999)

    monkeypatch.setattr(shutil, "disk_usage", almost_full)
    program = script(tmp_path / "ffmpeg", f": > {tmp_path}/started")
    with pytest.raises(OSError, match=r"needs room for it a second time, 0\.0 MB") as caught:
        run(*two_files(tmp_path), tmp_path / "whole.mp4", program)
    assert caught.value.errno == errno.ENOSPC
    assert asked == [tmp_path]
    assert files(tmp_path) == {"ffmpeg", "v", "a"}


# --- Which ffmpeg -----------------------------------------------------------------------------


def test_the_path_is_searched_unless_a_program_is_named_or_none_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path = tmp_path / "bin" / "ffmpeg"
    on_path.parent.mkdir()
    script(on_path, "exit 0")
    named = script(tmp_path / "my-ffmpeg", "exit 0")
    monkeypatch.setenv("PATH", str(on_path.parent))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_ffmpeg(None) == str(on_path)
    assert find_ffmpeg("ffmpeg") == str(on_path)
    assert find_ffmpeg(named) == named
    assert find_ffmpeg("~/my-ffmpeg") == named
    assert find_ffmpeg("") is None
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert find_ffmpeg(None) is None


@pytest.mark.parametrize("setting", ["/nowhere/ffmpeg", "no-such-program", "/"])
def test_a_program_that_is_named_must_be_there(setting: str) -> None:
    with pytest.raises(UsageProblem, match=re.escape(f"FFMPEG={setting} is no program")):
        find_ffmpeg(setting)
