"""DASH streams that a player or a muxer takes: real ones, of two seconds, padded to any size.

One stream of pictures (a blue field, 64 x 36, H.264) and one of silence (AAC), both fragmented MP4
as Bilibili serves them. Whatever quality, codec or length an answer tells, these are inside.
What tells one stream from another, also after muxing, is the name of its track's handler:
:func:`mark`. Made with ffmpeg 5.1::

    MP4="-fflags +bitexact -f mp4 -movflags frag_keyframe+empty_moov+default_base_moof+skip_trailer"
    ffmpeg -f lavfi -i color=c=0x3366aa:s=64x36:r=2:d=2 -c:v libx264 -preset veryslow -bf 0 \\
        -pix_fmt yuv420p -flags:v +bitexact -bsf:v filter_units=remove_types=6 $MP4 video.m4s
    ffmpeg -f lavfi -i anullsrc=r=16000:cl=mono:d=2 -c:a aac -b:a 8k -flags:a +bitexact \\
        $MP4 audio.m4s
"""

from __future__ import annotations

import base64
import struct

from sandbox.media import Stamped
from sandbox.worlds import digest

_VIDEO = base64.b64decode(
    "AAAAHGZ0eXBpc281AAACAGlzbzVpc282bXA0MQAAAsttb292AAAAbG12aGQAAAAAAAAAAAAAAAAAAAPoAAAAAAABAAAB"
    "AAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAACAAAB8nRyYWsAAABcdGtoZAAAAAMAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAA"
    "AAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAEAAAAAAQAAAACQAAAAAAY5tZGlhAAAAIG1kaGQAAAAAAAAAAAAAAAAAAEAA"
    "AAAAAFXEAAAAAAAtaGRscgAAAAAAAAAAdmlkZQAAAAAAAAAAAAAAAFZpZGVvSGFuZGxlcgAAAAE5bWluZgAAABR2bWhk"
    "AAAAAQAAAAAAAAAAAAAAJGRpbmYAAAAcZHJlZgAAAAAAAAABAAAADHVybCAAAAABAAAA+XN0YmwAAACtc3RzZAAAAAAA"
    "AAABAAAAnWF2YzEAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAQAAkAEgAAABIAAAAAAAAAAEMTGF2YyBsaWJ4MjY0AAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAY//8AAAA3YXZjQwFkAAr/4QAaZ2QACqxMIiP8+AiAAAADAIAAAAMCB4kTCMABAAZo6EMP"
    "LIv9+PgAAAAAEHBhc3AAAAABAAAAAQAAABBzdHRzAAAAAAAAAAAAAAAQc3RzYwAAAAAAAAAAAAAAFHN0c3oAAAAAAAAA"
    "AAAAAAAAAAAQc3RjbwAAAAAAAAAAAAAAKG12ZXgAAAAgdHJleAAAAAAAAAABAAAAAQAAAAAAAAAAAAAAAAAAAD11ZHRh"
    "AAAANW1ldGEAAAAAAAAAIWhkbHIAAAAAAAAAAG1kaXJhcHBsAAAAAAAAAAAAAAAACGlsc3QAAAB4bW9vZgAAABBtZmhk"
    "AAAAAAAAAAEAAABgdHJhZgAAABx0ZmhkAAIAOAAAAAEAACAAAAAAKAEBAAAAAAAUdGZkdAEAAAAAAAAAAAAAAAAAACh0"
    "cnVuAAACBQAAAAQAAACAAgAAAAAAACgAAAAOAAAAEgAAABMAAABjbWRhdAAAACRliIICn/7s2n4FNX9b58Q6/5P663K6"
    "mnpiVgBO2YIariUCusEAAAAKQZodiCn//taULAAAAA5BmivwQZMphBT//taULQAAAA9Bmjk8EHkymBBL//61OVg="
)
_AUDIO = base64.b64decode(
    "AAAAHGZ0eXBpc281AAACAGlzbzVpc282bXA0MQAAAphtb292AAAAbG12aGQAAAAAAAAAAAAAAAAAAAPoAAAAAAABAAAB"
    "AAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAACAAABv3RyYWsAAABcdGtoZAAAAAMAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAQEAAAAAAQAAAAAA"
    "AAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAVttZGlhAAAAIG1kaGQAAAAAAAAAAAAAAAAAAD6A"
    "AAAAAFXEAAAAAAAtaGRscgAAAAAAAAAAc291bgAAAAAAAAAAAAAAAFNvdW5kSGFuZGxlcgAAAAEGbWluZgAAABBzbWhk"
    "AAAAAAAAAAAAAAAkZGluZgAAABxkcmVmAAAAAAAAAAEAAAAMdXJsIAAAAAEAAADKc3RibAAAAH5zdHNkAAAAAAAAAAEA"
    "AABubXA0YQAAAAAAAAABAAAAAAAAAAAAAgAQAAAAAD6AAAAAAAA2ZXNkcwAAAAADgICAJQABAASAgIAXQBUAAAAAAB9A"
    "AAAfQAWAgIAFFAhW5QAGgICAAQIAAAAUYnRydAAAAAAAAB9AAAAfQAAAABBzdHRzAAAAAAAAAAAAAAAQc3RzYwAAAAAA"
    "AAAAAAAAFHN0c3oAAAAAAAAAAAAAAAAAAAAQc3RjbwAAAAAAAAAAAAAAKG12ZXgAAAAgdHJleAAAAAAAAAABAAAAAQAA"
    "AAAAAAAAAAAAAAAAAD11ZHRhAAAANW1ldGEAAAAAAAAAIWhkbHIAAAAAAAAAAG1kaXJhcHBsAAAAAAAAAAAAAAAACGls"
    "c3QAAADobW9vZgAAABBtZmhkAAAAAAAAAAEAAADQdHJhZgAAABx0ZmhkAAIAOAAAAAEAAAQAAAAABAIAAAAAAAAUdGZk"
    "dAEAAAAAAAAAAAAAAAAAAJh0cnVuAAABAQAAACEAAADwAAAEAAAABAAAAAQAAAAEAAAABAAAAAQAAAAEAAAABAAAAAQA"
    "AAAEAAAABAAAAAQAAAAEAAAABAAAAAQAAAAEAAAABAAAAAQAAAAEAAAABAAAAAQAAAAEAAAABAAAAAQAAAAEAAAABAAA"
    "AAQAAAAEAAAABAAAAAQAAAAEAAAABAAAAAEAAAAAjG1kYXQBGCAHARggBwEYIAcBGCAHARggBwEYIAcBGCAHARggBwEY"
    "IAcBGCAHARggBwEYIAcBGCAHARggBwEYIAcBGCAHARggBwEYIAcBGCAHARggBwEYIAcBGCAHARggBwEYIAcBGCAHARgg"
    "BwEYIAcBGCAHARggBwEYIAcBGCAHARggBwEYIAc="
)


class DashVideo(Stamped):
    """The pictures of a video, *size* bytes."""

    def __init__(self, name: str, size: int) -> None:
        super().__init__(name, *_padded(_VIDEO, b"VideoHandler", name, size), "video/mp4")


class DashAudio(Stamped):
    """The sound of a video, *size* bytes."""

    def __init__(self, name: str, size: int) -> None:
        super().__init__(name, *_padded(_AUDIO, b"SoundHandler", name, size), "audio/mp4")


def mark(name: str) -> str:
    """The ``handler_name`` of the stream *name*, as ffprobe shows it, before and after muxing."""
    return digest("dash", name, size=6).hex()


def _padded(stream: bytes, handler: bytes, name: str, size: int) -> tuple[bytes, int]:
    """What the file begins with, and its size: behind the stream a box that readers skip."""
    head = stream.replace(handler, mark(name).encode())  # as long as the other
    size = max(size, len(head) + 8)
    return head + struct.pack(">I", size - len(head)) + b"free", size
