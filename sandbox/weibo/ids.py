"""Weibo's numbers: MID and BID, ids that tell their time, and picture ids that tell their author.

Written from docs/platforms/weibo.md (sections 2 and 8.1) alone: a second opinion on the crawler's
own conversion.
"""

from __future__ import annotations

from sandbox.worlds import from_letters, number, to_letters

BASE62 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
EPOCH = 515_483_463  # unix seconds of id 0
LOW_BITS = 22  # of an id, below its seconds
LOW_MASK = (1 << LOW_BITS) - 1


def to_base62(value: int, width: int = 1) -> str:
    """*value* in base62, at least *width* letters."""
    return to_letters(value, BASE62, width)


def from_base62(letters: str) -> int | None:
    """The number behind *letters*; ``None`` where they are none."""
    return from_letters(letters, BASE62)


def to_base36(value: int, width: int = 1) -> str:
    """*value* in base36, at least *width* letters."""
    return to_letters(value, BASE62[:36], width)


def bid_of(mid: int) -> str:
    """The letters of a post number: seven digits from the right are four letters."""
    letters = ""
    while mid >= 10**7:
        mid, group = divmod(mid, 10**7)
        letters = to_base62(group, 4) + letters
    return to_base62(mid) + letters


def mid_of(bid: str) -> int | None:
    """The post number of letters; None where they are none."""
    mid = 0
    first = len(bid) % 4 or 4
    for group in [bid[:first], *(bid[i : i + 4] for i in range(first, len(bid), 4))]:
        value = from_base62(group)
        if value is None or value >= 10**7:
            return None
        mid = mid * 10**7 + value
    return mid


def id_at(seconds: int, low: int) -> int:
    """An id that tells *seconds* (unix)."""
    return seconds - EPOCH << LOW_BITS | low & LOW_MASK


def seconds_of(identifier: int) -> int:
    return (identifier >> LOW_BITS) + EPOCH


# -- pictures (8.1) -------------------------------------------------------------------------------


def picture_id(uid: int, width: int, height: int, kind: str, *parts: object) -> str:
    """32 characters: the uploader, a mark, ten that only the sandbox can make, the form, the size.

    *kind*: ``jpg``, ``gif``, ``live`` or ``withheld``.
    """
    uploader = f"{uid:08x}" if uid < 1 << 32 else "00" + to_base62(uid, 6)
    form = "g" if kind == "gif" else "j"
    mark = {"withheld": "9", "live": "5"}.get(kind, "3")
    tail = to_base36(number("pid tail", uid, *parts) % 36**3, 3)
    size = to_base36(width, 3) + to_base36(height, 3)
    seal = _seal(uploader, form + mark + size + tail)
    return f"{uploader}gy1{seal}{form}{mark}{size}{tail}"


def read_picture_id(pid: str) -> tuple[int, int, str] | None:
    """Width, height and kind of a picture that the sandbox made."""
    if len(pid) != 32 or _seal(pid[:8], pid[21:]) != pid[11:21]:
        return None
    kind = "gif" if pid[21] == "g" else {"9": "withheld", "5": "live"}.get(pid[22], "jpg")
    return int(pid[23:26], 36), int(pid[26:29], 36), kind


def _seal(uploader: str, rest: str) -> str:
    return to_base36(number("pid", uploader, rest) % 36**10, 10)


def host_of(pid: str) -> str:
    """One of the four picture hosts, always the same for a picture."""
    return f"wx{1 + number('host', pid) % 4}.sinaimg.cn"
