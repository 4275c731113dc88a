"""The sandbox's core over real HTTP: hosts, options, faults, counters, files, TLS."""

from __future__ import annotations

import hashlib
import http.client
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

from sandbox.counters import path_label
from sandbox.faults import Faults, parse_fault
from sandbox.media import Picture, Video
from sandbox.testing import ROOT, RunningSandbox
from sandbox.worlds import Dice, Scramble, wan
from sandbox.xhs import World

WWW = "www.xiaohongshu.com"
CI = "ci.xiaohongshu.com"


WORLD = World(seed=1)
PICTURE = WORLD.fixed_note("image").pictures[0]
PICTURE_PATH = f"/{PICTURE.token}"
PICTURE_BYTES = WORLD.picture_file(PICTURE).read(0, 10**9)
VIDEO = WORLD.fixed_note("video-origin").video
assert VIDEO is not None
VIDEO_HOST = "sns-video-bd.xhscdn.com"
VIDEO_PATH = f"/{VIDEO.origin_key}"


def profile_target(sandbox: RunningSandbox) -> str:
    return f"/user/profile/{WORLD.fixed_creator('demo').id}"


# -- hosts ----------------------------------------------------------------------------------------


def test_a_host_that_no_platform_owns_is_refused_with_a_hint(sandbox: RunningSandbox) -> None:
    status, _headers, body = sandbox.request("example.org", "/")
    assert status == 421
    assert body.decode().count("\n") == 1
    assert "example.org" in body.decode()
    assert sandbox.stats()["unknown_hosts"] == {"example.org": 1}


@pytest.mark.parametrize("host", [WWW, "WWW.XiaoHongShu.com", f"{WWW}:443", f"{WWW}:8787"])
def test_the_host_header_chooses_whatever_its_case_and_port(
    sandbox: RunningSandbox, host: str
) -> None:
    assert sandbox.request(host, "/explore")[0] == 200


def test_the_request_line_of_a_proxy_is_understood(sandbox: RunningSandbox) -> None:
    status, _headers, _body = sandbox.request("ignored.example", f"http://{WWW}/explore")
    assert status == 200


def test_the_overview_names_platforms_faults_and_control_endpoints(
    sandbox: RunningSandbox,
) -> None:
    overview = sandbox.control("")
    assert WWW in overview["platforms"]["xhs"]["hosts"]
    assert "slow" in overview["faults"]
    assert any("stats" in line for line in overview["control"])


@pytest.mark.parametrize(
    ("path", "method", "value", "said"),
    [
        ("nonsense", "GET", None, "404"),
        ("faults", "POST", {"kind": "made-up"}, "made-up"),
        ("faults", "POST", {"kind": "429", "sometimes": 1}, "sometimes"),
        ("faults", "POST", ["429"], "kind"),
        ("reset", "GET", None, "POST"),
        ("cookies?platform=xhs&kind=royal", "GET", None, "royal"),
        ("cookies?platform=friendster", "GET", None, "friendster"),
        ("actions/xhs/dance", "POST", {}, "expire-media"),
    ],
)
def test_a_wrong_control_call_says_what_is_wrong(
    sandbox: RunningSandbox, path: str, method: str, value: object, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        sandbox.control(path, method=method, value=value)


# -- counters -------------------------------------------------------------------------------------


def test_counters_see_every_request_but_their_own(sandbox: RunningSandbox) -> None:
    for _ in range(3):
        sandbox.request(WWW, profile_target(sandbox))
    sandbox.request(CI, PICTURE_PATH)
    sandbox.stats()
    stats = sandbox.stats()
    assert stats["requests"] == 4
    assert stats["by_path"] == {f"{WWW}/user/profile/{{id}}": 3, f"{CI}/*": 1}
    assert stats["statuses"] == {"200": 4}
    assert stats["media_requests"] == 1
    assert stats["media_bytes"] == len(PICTURE_BYTES)
    sandbox.reset()
    assert sandbox.stats()["requests"] == 0


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("/explore/68f4e9bf00000000009d945b", "/explore/{id}"),
        (
            "/user/profile/68f4e9bf00000000009d945b/68f4e9bf00000000009d945c",
            "/user/profile/{id}/{id}",
        ),
        ("/video/BV1xx411c7mD", "/video/{id}"),
        ("/p/1234567890", "/p/{id}"),
        ("/api/sns/web/v2/comment/sub/page", "/api/sns/web/v2/comment/sub/page"),
        ("/x/web-interface/wbi/search/type", "/x/web-interface/wbi/search/type"),
        ("/api/v4/answers/99/comment_v5", "/api/v4/answers/99/comment_v5"),
    ],
)
def test_ids_in_paths_are_counted_together(path: str, label: str) -> None:
    assert path_label(path) == label


def test_most_in_flight_is_what_the_client_really_had_open() -> None:
    with RunningSandbox("--only", "xhs", "--latency", "2000") as slow:
        threads = [
            threading.Thread(target=slow.request, args=(host, target))
            for host, target in [(WWW, "/explore")] * 3 + [(CI, PICTURE_PATH)] * 2
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stats = slow.stats()
        assert stats["most_in_flight"] == 5
        assert stats["most_in_flight_media"] == 2
        assert stats["in_flight"] == 0
        assert stats["connections"] >= 5


def test_one_request_after_the_other_is_never_counted_as_two_in_flight(
    sandbox: RunningSandbox,
) -> None:
    """The next request may start as soon as the last byte arrived, also after streamed files."""
    connection = http.client.HTTPConnection(sandbox.host, sandbox.port)
    for _ in range(30):
        connection.request("GET", VIDEO_PATH, headers={"Host": VIDEO_HOST})
        connection.getresponse().read()
    connection.close()
    stats = sandbox.stats()
    assert stats["most_in_flight"] == 1
    assert stats["most_in_flight_media"] == 1


def test_a_client_that_gives_up_is_no_longer_in_flight(sandbox: RunningSandbox) -> None:
    sandbox.fault("hang", times=1)
    with pytest.raises(TimeoutError):
        sandbox.request(WWW, "/explore", timeout=0.3)
    deadline = time.monotonic() + 10
    while sandbox.stats()["in_flight"] and time.monotonic() < deadline:
        time.sleep(0.02)
    assert sandbox.stats()["in_flight"] == 0


# -- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 403, 429, 500, 503, 599])
def test_any_error_status_can_be_asked_for(sandbox: RunningSandbox, status: int) -> None:
    sandbox.fault(str(status), times=1)
    first, headers, _body = sandbox.request(WWW, "/explore")
    assert (first, headers["Retry-After"]) == (status, None)
    assert sandbox.request(WWW, "/explore")[0] == 200
    assert sandbox.stats()["faults"] == {str(status): 1}


def test_retry_after_comes_in_seconds_or_as_a_date(sandbox: RunningSandbox) -> None:
    sandbox.fault("429-retry-after", times=1, args={"seconds": 7})
    sandbox.fault("429-date", times=1, args={"seconds": 100})
    assert sandbox.request(WWW, "/explore")[1]["Retry-After"] == "7"
    date = sandbox.request(WWW, "/explore")[1]["Retry-After"]
    assert 90 <= parsedate_to_datetime(date).timestamp() - time.time() <= 100


def test_a_reset_breaks_the_connection_before_or_within_the_answer(
    sandbox: RunningSandbox,
) -> None:
    sandbox.fault("reset", times=1)
    with pytest.raises((ConnectionResetError, http.client.RemoteDisconnected)):
        sandbox.request(WWW, "/explore")
    sandbox.fault("media-reset", times=1, args={"after": 1000})
    with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
        sandbox.request(VIDEO_HOST, VIDEO_PATH)
    stats = sandbox.stats()
    assert stats["statuses"] == {}
    assert stats["faults"] == {"reset": 1, "media-reset": 1}


def test_a_cut_answer_is_whole_http_and_half_a_body(sandbox: RunningSandbox) -> None:
    whole = sandbox.request(WWW, "/explore")[2]
    sandbox.fault("cut", times=1)
    status, headers, body = sandbox.request(WWW, "/explore")
    assert status == 200
    assert int(headers["Content-Length"]) == len(body)
    assert abs(len(body) - len(whole) // 2) < 200


def test_a_short_answer_promises_more_than_it_gives(sandbox: RunningSandbox) -> None:
    sandbox.fault("short", times=1)
    with pytest.raises(http.client.IncompleteRead):
        sandbox.request(WWW, "/explore")


def test_a_cut_file_ends_half_way_and_can_be_resumed(sandbox: RunningSandbox) -> None:
    sandbox.fault("media-cut", times=1)
    with pytest.raises(http.client.IncompleteRead) as broken:
        sandbox.request(VIDEO_HOST, VIDEO_PATH)
    first = broken.value.partial
    status, _headers, rest = sandbox.request(
        VIDEO_HOST, VIDEO_PATH, headers={"Range": f"bytes={len(first)}-"}
    )
    assert status == 206
    assert VIDEO is not None
    assert hashlib.sha256(first + rest).hexdigest() == WORLD.origin_file(VIDEO).sha256()


@pytest.mark.parametrize(
    ("rule", "page_hit", "file_hit"),
    [
        ({"kind": "500"}, True, False),
        ({"kind": "500", "path": "/explore"}, True, False),
        ({"kind": "500", "path": "/user"}, False, False),
        ({"kind": "500", "host": CI}, False, True),
        ({"kind": "500", "host": "*.xiaohongshu.com"}, True, True),
        ({"kind": "media-500"}, False, True),
        ({"kind": "500", "path": PICTURE_PATH[:20]}, False, True),
    ],
)
def test_a_fault_hits_what_it_names_and_spares_files_otherwise(
    sandbox: RunningSandbox, rule: dict[str, str], page_hit: bool, file_hit: bool
) -> None:
    sandbox.fault(**rule)
    assert (sandbox.request(WWW, "/explore")[0] == 500) is page_hit
    assert (sandbox.request(CI, PICTURE_PATH)[0] == 500) is file_hit


def test_rates_are_drawn_from_the_seed() -> None:
    def draws(seed: int) -> list[bool]:
        faults = Faults(seed)
        rule = faults.add("429", rate=0.3)
        return [rule.dice.random() < 0.3 for _ in range(400)]

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)
    assert 80 < sum(draws(1)) < 160


def test_a_rate_on_the_command_line_spoils_about_that_share() -> None:
    with RunningSandbox("--only", "xhs", "--fault", "429=0.5", "500@/nowhere=1") as sandbox:
        statuses = [sandbox.request(WWW, "/explore")[0] for _ in range(60)]
        assert set(statuses) == {200, 429}
        assert sandbox.stats()["faults"] == {"429": statuses.count(429)}


@pytest.mark.parametrize(
    "text", ["429", "429=", "429=often", "429=1.5", "429=-1"], ids=lambda text: text
)
def test_a_fault_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="429"):
        parse_fault(text)


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "status", "content_range", "expected"),
    [
        ("bytes=0-9", 206, "bytes 0-9/{size}", slice(0, 10)),
        ("bytes=100-", 206, "bytes 100-{last}/{size}", slice(100, None)),
        ("bytes=-5", 206, "bytes {minus5}-{last}/{size}", slice(-5, None)),
        ("bytes=0-99999999", 206, "bytes 0-{last}/{size}", slice(0, None)),
        ("bytes={size}-", 416, "bytes */{size}", slice(0, 0)),
        ("bytes=9-3", 416, "bytes */{size}", slice(0, 0)),
        ("bytes=0-1,5-6", 200, None, slice(0, None)),
        ("bytes=abc", 200, None, slice(0, None)),
        ("items=0-1", 200, None, slice(0, None)),
    ],
)
def test_ranges(
    sandbox: RunningSandbox, asked: str, status: int, content_range: str | None, expected: slice
) -> None:
    size = len(PICTURE_BYTES)
    numbers = {"size": size, "last": size - 1, "minus5": size - 5}
    got, headers, body = sandbox.request(
        CI, PICTURE_PATH, headers={"Range": asked.format(**numbers)}
    )
    assert got == status
    wanted = content_range and content_range.format(**numbers)
    assert headers["Content-Range"] == wanted
    assert body == PICTURE_BYTES[expected]
    assert int(headers["Content-Length"]) == len(body)


def test_validators_of_files(sandbox: RunningSandbox) -> None:
    _status, headers, body = sandbox.request(CI, PICTURE_PATH)
    etag = headers["ETag"]
    assert body == PICTURE_BYTES
    assert sandbox.request(CI, PICTURE_PATH, headers={"If-None-Match": etag})[0] == 304
    part = {"Range": "bytes=0-9"}
    same = sandbox.request(CI, PICTURE_PATH, headers={**part, "If-Range": etag})
    other = sandbox.request(CI, PICTURE_PATH, headers={**part, "If-Range": '"other"'})
    assert (same[0], other[0]) == (206, 200)


def test_head_tells_the_length_without_the_body(sandbox: RunningSandbox) -> None:
    status, headers, body = sandbox.request(VIDEO_HOST, VIDEO_PATH, method="HEAD")
    assert VIDEO is not None
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) == VIDEO.origin_size
    assert headers["Accept-Ranges"] == "bytes"


def test_no_range_fault_sends_everything(sandbox: RunningSandbox) -> None:
    sandbox.fault("media-no-range", times=1)
    status, headers, body = sandbox.request(CI, PICTURE_PATH, headers={"Range": "bytes=5-"})
    assert (status, headers["Accept-Ranges"], body) == (200, None, PICTURE_BYTES)


def test_media_size_is_the_one_that_was_asked_for_also_when_throttled() -> None:
    arguments = ["--only", "xhs", "--media-size", "400000", "--media-rate", "4000000"]
    with RunningSandbox(*arguments) as sandbox:
        body = sandbox.request(VIDEO_HOST, VIDEO_PATH)[2]
        assert len(body) == 400_000
        assert sandbox.stats()["media_bytes"] == 400_000


@pytest.mark.parametrize(
    ("form", "starts"),
    [
        ("jpeg", b"\xff\xd8\xff\xe0"),
        ("png", b"\x89PNG\r\n\x1a\n"),
        ("webp", b"RIFF"),
        ("avif", b"\x00\x00\x00\x20ftypavif"),
    ],
)
def test_pictures_are_of_their_kind_and_differ_by_name(form: str, starts: bytes) -> None:
    one, other = (Picture(name, 1242, 1660, form).read(0, 10**7) for name in ("一", "二"))
    assert one.startswith(starts)
    assert one != other
    assert one == Picture("一", 1242, 1660, form).data


def test_a_video_is_a_row_of_boxes_and_reads_the_same_in_any_pieces() -> None:
    video = Video("name", 200_000)
    whole = video.read(0, video.size)
    assert len(whole) == 200_000
    assert b"".join(video.read(at, 7_777) for at in range(0, 200_000, 7_777)) == whole
    kinds = []
    at = 0
    while at < len(whole):
        size = int.from_bytes(whole[at : at + 4], "big")
        kinds.append(whole[at + 4 : at + 8])
        at += size
    assert kinds == [b"ftyp", b"moov", b"free", b"mdat"]
    assert at == len(whole)


# -- the process ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_at_once_and_cleanly_with_requests_open(name: signal.Signals) -> None:
    sandbox = RunningSandbox("--only", "xhs", "--latency", "60000")
    connection = http.client.HTTPConnection(sandbox.host, sandbox.port)
    connection.request("GET", "/explore", headers={"Host": WWW})
    deadline = time.monotonic() + 10
    while sandbox.stats()["in_flight"] == 0 and time.monotonic() < deadline:
        time.sleep(0.02)
    sandbox.process.send_signal(name)
    assert sandbox.process.wait(timeout=10) == 0
    assert sandbox.errors() == ""
    connection.close()
    sandbox.stop()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "127.0.0.1 only"),
        (["--fault", "429"], "KIND=RATE"),
        (["--fault", "made-up=0.1"], "made-up"),
        (["--media-size", "big"], "--media-size"),
        (["--posts", "-1"], "negative"),
        (["--only", "friendster"], "friendster"),
        (["-o", "xhs.rap"], "NAME=VALUE"),
    ],
)
def test_wrong_options_end_with_one_clear_line(arguments: list[str], said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sandbox", "--port", "0", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
    )
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_one_line_and_exit_code_1(sandbox: RunningSandbox) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sandbox", "--port", str(sandbox.port), "--only", "xhs"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
    )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


def test_it_listens_on_loopback_only(sandbox: RunningSandbox) -> None:
    with socket.socket() as probe:
        probe.settimeout(2)
        # any other address of this machine's loopback network is not served
        assert probe.connect_ex(("127.0.0.2", sandbox.port)) != 0


# -- TLS ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningSandbox, Path]]:
    folder = tmp_path_factory.mktemp("tls")
    with RunningSandbox("--only", "xhs", "--tls", "--tls-dir", str(folder)) as sandbox:
        yield sandbox, folder


def _https(sandbox: RunningSandbox, folder: Path, sock: socket.socket, host: str) -> int:
    context = ssl.create_default_context(cafile=str(folder / "sandbox-cert.pem"))
    with context.wrap_socket(sock, server_hostname=host) as secure:
        secure.sendall(
            f"GET /explore HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
        )
        answer = http.client.HTTPResponse(secure)
        answer.begin()
        answer.read()
        return answer.status


@pytest.mark.parametrize("host", [WWW, "edith.xiaohongshu.com", "sns-video-v6.xhscdn.com"])
def test_one_port_speaks_http_and_https_with_a_certificate_for_every_host(
    tls: tuple[RunningSandbox, Path], host: str
) -> None:
    sandbox, folder = tls
    with socket.create_connection((sandbox.host, sandbox.port)) as sock:
        assert _https(sandbox, folder, sock, host) in (200, 404)
    assert sandbox.request(WWW, "/explore")[0] == 200
    assert sandbox.control("cert.pem") == (folder / "sandbox-cert.pem").read_text()


def test_a_client_can_come_through_connect_as_to_a_proxy(
    tls: tuple[RunningSandbox, Path],
) -> None:
    sandbox, folder = tls
    with socket.create_connection((sandbox.host, sandbox.port)) as sock:
        sock.sendall(f"CONNECT {WWW}:443 HTTP/1.1\r\nHost: {WWW}:443\r\n\r\n".encode())
        assert sock.recv(200).startswith(b"HTTP/1.1 200")
        assert _https(sandbox, folder, sock, WWW) == 200


def test_the_key_is_private_and_the_pair_is_used_again(
    tls: tuple[RunningSandbox, Path],
) -> None:
    _sandbox, folder = tls
    key = folder / "sandbox-key.pem"
    assert key.stat().st_mode & 0o077 == 0
    before = key.read_bytes()
    with RunningSandbox("--only", "xhs", "--tls", "--tls-dir", str(folder)):
        assert key.read_bytes() == before


def test_a_client_that_does_not_trust_the_certificate_harms_nobody(
    tls: tuple[RunningSandbox, Path],
) -> None:
    sandbox, _folder = tls
    with (
        socket.create_connection((sandbox.host, sandbox.port)) as sock,
        pytest.raises(ssl.SSLCertVerificationError),
    ):
        ssl.create_default_context().wrap_socket(sock, server_hostname=WWW)
    assert sandbox.request(WWW, "/explore")[0] == 200


# -- primitives -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0"),
        (9999, "9999"),
        (10_000, "1万"),
        (12_999, "1.2万"),
        (99_999, "9.9万"),
        (100_000, "10万+"),
    ],
)
def test_counts_look_as_on_the_sites(count: int, shown: str) -> None:
    assert wan(count) == shown


def test_dice_depend_on_their_parts_alone_and_stay_in_bounds() -> None:
    assert [Dice(1, "a").below(6) for _ in range(3)] == [Dice(1, "a").below(6)] * 3
    dice = Dice(1, "many")
    throws = [dice.between(3, 5) for _ in range(3000)]
    assert set(throws) == {3, 4, 5}


def test_scrambled_numbers_come_back_and_do_not_collide() -> None:
    mix = Scramble("test", 48)
    mixed = [mix.do(n) for n in range(2000)]
    assert [mix.undo(m) for m in mixed] == list(range(2000))
    assert len({m >> 24 for m in mixed}) > 1900  # neighbours do not look alike
