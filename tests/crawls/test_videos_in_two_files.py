"""Videos that a platform serves as pictures and sound: fetched like all files, then joined.

Bilibili's sandbox serves real streams, each with a mark that ffprobe shows, before and after.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.bilibili import World
from sandbox.bilibili.dash import mark
from sandbox.bilibili.world import Video
from sandbox.testing import RunningSandbox
from tests.conftest import Crawled

Crawl = Callable[..., Crawled]
STREAMS = "*.bilivideo.*"


@pytest.fixture(scope="module")
def world() -> World:
    return World(seed=1)


@pytest.fixture
def video(world: World) -> Video:
    """A video in three parts."""
    return world.fixed_video("multipart")


def fetch(crawl: Crawl, video: Video, **settings: object) -> Crawled:
    return crawl("bilibili", settings, posts=video.bvid, media="all", max_comments=0)


def media(crawled: Crawled, kind: str) -> list[dict[str, Any]]:
    return [entry for post in crawled.posts for entry in post["media"] if entry["kind"] == kind]


def statuses(crawled: Crawled) -> dict[str, set[str]]:
    kinds = ("cover", "video", "audio")
    return {kind: {entry["status"] for entry in media(crawled, kind)} for kind in kinds}


def streams(path: Path) -> dict[str, str]:
    """Kind and mark of the streams of a file, as ffprobe sees them."""
    command = ["ffprobe", "-v", "error", "-of", "json", "-show_entries"]
    command += ["stream=codec_type:stream_tags=handler_name", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, timeout=60)
    rows = json.loads(done.stdout)["streams"]
    found = {row["codec_type"]: row["tags"]["handler_name"] for row in rows}
    assert len(found) == len(rows)
    return found


def marks(world: World, video: Video, quality: int = 80) -> list[dict[str, str]]:
    """What :func:`streams` must give for each part."""
    files = [file for file in world.files(video, quality) if file.kind != "cover"]
    return [
        {pictures.kind: mark(pictures.path), sound.kind: mark(sound.path)}
        for pictures, sound in zip(files[::2], files[1::2], strict=True)
    ]


def check_whole(crawled: Crawled, expected: list[dict[str, str]]) -> None:
    """Every video is one file with its own pictures and sound, and its records say so."""
    videos, sounds = media(crawled, "video"), media(crawled, "audio")
    assert [streams(crawled.data / entry["path"]) for entry in videos] == expected
    for entry, sound in zip(videos, sounds, strict=True):
        content = (crawled.data / entry["path"]).read_bytes()
        assert entry["size"] == len(content)
        assert entry["sha256"] == hashlib.sha256(content).hexdigest()
        for name in ("path", "size", "sha256", "ext"):
            assert sound[name] == entry[name]
        assert sound["status"] == "merged"


def check_apart(crawled: Crawled, expected: list[dict[str, str]]) -> None:
    """Every video is two files."""
    pairs = zip(media(crawled, "video"), media(crawled, "audio"), strict=True)
    for (pictures, sound), tags in zip(pairs, expected, strict=True):
        assert streams(crawled.data / pictures["path"]) == {"video": tags["video"]}
        assert streams(crawled.data / sound["path"]) == {"audio": tags["audio"]}


def names(crawled: Crawled, video: Video) -> set[str]:
    folder = crawled.data / "bilibili" / "media" / video.bvid
    return {path.name for path in folder.iterdir()}


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


# --- With ffmpeg ------------------------------------------------------------------------------


def test_every_part_becomes_one_file_with_pictures_and_sound(
    crawl: Crawl, ffmpeg: str, world: World, video: Video
) -> None:
    crawled = fetch(crawl, video)
    check_whole(crawled, marks(world, video))
    cover, *files = world.files(video)
    assert statuses(crawled) == {
        "cover": {"downloaded"}, "video": {"downloaded"}, "audio": {"merged"}
    }  # fmt: skip
    assert len(names(crawled, video)) == 1 + 3 + 1  # cover, parts, index
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete")
    fetched = sum(file.blob.size for file in (cover, *files) if file.blob)
    assert crawled.report["media"] == {"downloaded": 4, "merged": 3, "bytes": fetched}


def test_a_later_run_fetches_and_joins_nothing_again(
    crawl: Crawl, calm_sandbox: RunningSandbox, ffmpeg: str, video: Video, tmp_path: Path
) -> None:
    first = fetch(crawl, video)
    calm_sandbox.reset()
    calm_sandbox.action("bilibili", "expire-media")  # new addresses, on another mirror
    broken = script(tmp_path / "ffmpeg", "exit 1")
    second = fetch(crawl, video, FFMPEG=broken)
    assert calm_sandbox.stats()["media_bytes"] == 0
    assert statuses(second) == {"cover": {"present"}, "video": {"present"}, "audio": {"merged"}}
    for name in ("path", "size", "sha256"):
        assert [m[name] for m in media(second, "video")] == [m[name] for m in media(first, "video")]
    assert (second.exit_code, second.report["media"]) == (0, {"present": 4, "merged": 3})


def test_streams_that_break_off_are_resumed_before_they_are_joined(
    crawl: Crawl, calm_sandbox: RunningSandbox, ffmpeg: str, world: World, video: Video
) -> None:
    calm_sandbox.fault("media-reset", host=STREAMS, times=3, args={"after": 20_000})
    crawled = fetch(crawl, video)
    check_whole(crawled, marks(world, video))
    assert crawled.exit_code == 0
    fetched = crawled.report["media"]["bytes"]
    assert calm_sandbox.stats()["media_bytes"] < fetched + 1_500_000


def test_another_quality_takes_the_place_of_the_whole_with_its_sound(
    crawl: Crawl, ffmpeg: str, world: World, video: Video
) -> None:
    check_whole(fetch(crawl, video, BILIBILI_MAX_QUALITY=32), marks(world, video, 32))
    crawled = fetch(crawl, video)
    check_whole(crawled, marks(world, video))
    assert len(names(crawled, video)) == 1 + 3 + 1
    assert crawled.exit_code == 0


def test_a_damaged_whole_is_fetched_and_joined_again(
    crawl: Crawl, ffmpeg: str, world: World, video: Video
) -> None:
    first = fetch(crawl, video)
    (first.data / media(first, "video")[1]["path"]).write_bytes(b"damaged")
    second = fetch(crawl, video)
    check_whole(second, marks(world, video))
    assert [m["status"] for m in media(second, "video")] == ["present", "downloaded", "present"]


def test_a_video_without_its_sound_stays_as_it_is(
    crawl: Crawl, calm_sandbox: RunningSandbox, ffmpeg: str, world: World
) -> None:
    plain = world.fixed_video("plain")
    path = world.stream_path(plain.parts[0].cid, 30280, 0)
    calm_sandbox.fault("media-404", path=path)
    crawled = fetch(crawl, plain)
    (pictures,) = media(crawled, "video")
    assert streams(crawled.data / pictures["path"]) == {
        "video": mark(world.stream_path(plain.parts[0].cid, 80, 7))
    }
    assert statuses(crawled)["audio"] == {"gone"}
    assert (crawled.exit_code, crawled.report["verdict"]) == (3, "partial")
    calm_sandbox.clear_faults()
    check_whole(fetch(crawl, plain), marks(world, plain))


# --- Without ffmpeg ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "env"),
    [({"FFMPEG": ""}, {}), ({}, {"PATH": "/nowhere"})],
    ids=["switched off", "not installed"],
)
def test_without_ffmpeg_both_files_stay_and_one_line_says_so(
    crawl: Crawl, ffmpeg: str, world: World, video: Video, settings: Any, env: Any
) -> None:
    plain = world.fixed_video("plain")
    links = f"{video.bvid}\n{plain.bvid}"
    asked = {"posts": links, "media": "videos", "max_comments": 0}
    crawled = crawl("bilibili", {"CONCURRENT_REQUESTS": 1, **settings}, env=env, **asked)
    by_id = {video.bvid: marks(world, video), plain.bvid: marks(world, plain)}
    check_apart(crawled, [tags for post in crawled.posts for tags in by_id[post["post_id"]]])
    assert crawled.output.count("pictures and sound of a video stay two files") == 1
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete")
    assert statuses(crawled)["audio"] == {"downloaded"}


def test_what_is_there_is_joined_once_there_is_an_ffmpeg(
    crawl: Crawl, calm_sandbox: RunningSandbox, ffmpeg: str, world: World, video: Video
) -> None:
    fetch(crawl, video, FFMPEG="")
    calm_sandbox.reset()
    crawled = fetch(crawl, video)
    assert calm_sandbox.stats()["media_bytes"] == 0
    check_whole(crawled, marks(world, video))
    assert statuses(crawled)["video"] == {"present"}


def test_an_ffmpeg_that_is_not_there_is_said_before_anything_is_sent(
    crawl: Crawl, calm_sandbox: RunningSandbox, video: Video
) -> None:
    crawled = fetch(crawl, video, FFMPEG="/nowhere/ffmpeg")
    assert crawled.exit_code == 2
    assert "FFMPEG=/nowhere/ffmpeg is no program" in crawled.output
    assert "Traceback" not in crawled.output
    assert calm_sandbox.stats()["by_path"] == {}


# --- When joining does not work ---------------------------------------------------------------


def test_a_failed_join_keeps_both_files_and_is_said_once_for_each_video(
    crawl: Crawl, ffmpeg: str, world: World, video: Video, tmp_path: Path
) -> None:
    broken = script(tmp_path / "ffmpeg", "echo 'out of tune' >&2; exit 1")
    crawled = fetch(crawl, video, FFMPEG=broken)
    check_apart(crawled, marks(world, video))
    lines = [line for line in crawled.output.splitlines() if "out of tune" in line]
    assert len(lines) == 3
    assert all("ERROR" in line and video.bvid in line for line in lines)
    assert crawled.report["media"]["mux_failed"] == 3
    assert statuses(crawled)["audio"] == {"downloaded"}
    assert (crawled.exit_code, crawled.report["verdict"]) == (3, "partial")
    assert "3 videos are apart from their sound" in crawled.report["reason"]
    check_whole(fetch(crawl, video), marks(world, video))


def test_a_disk_that_is_full_while_joining_stops_the_crawl_and_the_next_run_joins(
    crawl: Crawl, ffmpeg: str, world: World, video: Video, tmp_path: Path
) -> None:
    text = "echo 'Error writing trailer of file:x: No space left on device' >&2"
    full = script(tmp_path / "ffmpeg", text)
    crawled = fetch(crawl, video, FFMPEG=full)
    assert (crawled.exit_code, crawled.report["verdict"]) == (1, "error")
    folder = crawled.data / "bilibili" / "media" / video.bvid
    assert f"cannot write {folder}: No space left on device" in crawled.report["reason"]
    assert "make room" in crawled.report["reason"]
    assert "Traceback" not in crawled.output
    check_apart(crawled, marks(world, video))
    assert names(crawled, video) == {
        path.name for path in map(Path, (m["path"] for m in crawled.posts[0]["media"]))
    } | {"index.json"}
    check_whole(fetch(crawl, video), marks(world, video))


def test_a_stop_ends_ffmpeg_and_the_next_run_joins(
    crawl: Crawl, ffmpeg: str, world: World, video: Video, tmp_path: Path
) -> None:
    endless = script(tmp_path / "ffmpeg", f"echo $$ >> {tmp_path}/pids; exec sleep 600")
    crawled = fetch(crawl, video, FFMPEG=endless, CLOSESPIDER_TIMEOUT=4)
    check_apart(crawled, marks(world, video))
    assert (crawled.exit_code, crawled.report["verdict"]) == (3, "partial")
    assert "Traceback" not in crawled.output
    assert "mux_failed" not in crawled.report["media"]
    for pid in (tmp_path / "pids").read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)
    check_whole(fetch(crawl, video), marks(world, video))


# --- Addresses that have expired --------------------------------------------------------------


@pytest.mark.parametrize("cookies", ["member", None])
def test_expired_addresses_are_renewed_once_for_all_parts(
    crawl: Crawl,
    calm_sandbox: RunningSandbox,
    ffmpeg: str,
    world: World,
    video: Video,
    cookies: str | None,
) -> None:
    calm_sandbox.action("bilibili", "expire-media", answers=3)  # one for each part
    crawled = crawl("bilibili", cookies=cookies, posts=video.bvid, media="videos", max_comments=0)
    check_whole(crawled, marks(world, video, 80 if cookies else 32))
    assert (crawled.exit_code, crawled.report["verdict"]) == (0, "complete")
    assert crawled.report["media"]["refreshed_posts"] == 1
    asked = calm_sandbox.stats()["by_path"]
    assert asked["api.bilibili.com/x/player/playurl"] == 3 + 3


def test_addresses_that_stay_expired_are_given_up(
    crawl: Crawl, calm_sandbox: RunningSandbox, world: World
) -> None:
    plain = world.fixed_video("plain")
    calm_sandbox.action("bilibili", "expire-media", answers=10)
    crawled = crawl("bilibili", posts=plain.bvid, media="videos", max_comments=0)
    calm_sandbox.action("bilibili", "expire-media")
    assert {m["status"] for m in crawled.posts[0]["media"] if m["kind"] != "cover"} == {"failed"}
    assert (crawled.exit_code, crawled.report["verdict"]) == (3, "partial")
    assert calm_sandbox.stats()["by_path"]["api.bilibili.com/x/player/playurl"] == 2
