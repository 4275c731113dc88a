"""QR codes for a terminal and as a file: drawing what a login page shows.

Pure functions; nothing here knows a platform or a browser. What a login code says is a secret as
long as the code lives: it is drawn, never logged.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Literal, TypeAlias

import segno

Matrix: TypeAlias = "list[list[bool]]"
"""The modules of a code, row by row, without the quiet zone; True is dark."""

QUIET_ZONE = 4  # modules around a code that must stay light
PIXELS_PER_MODULE = 8  # of the PNG

_SIZES = range(21, 178, 4)  # modules a side, versions 1 to 40
_FINDER = 7  # modules a side of the squares in three corners
_WHITE_ON_BLACK = "\x1b[97;40m"
_PLAIN = "\x1b[0m"
_BLOCKS = {(True, True): " ", (True, False): "▄", (False, True): "▀", (False, False): "█"}
"""Upper and lower module (True is dark) of one character: what is printed is the light."""


def encode(payload: str, *, error: Literal["l", "m", "q", "h"] = "l") -> Matrix:
    """The code that says *payload*; *error* is how much damage it stands (l: least, smallest)."""
    code = segno.make(payload, error=error, micro=False)
    return [[bool(module) for module in row] for row in code.matrix]


def png(payload: str) -> bytes:
    """The code that says *payload* as a PNG with its quiet zone, large enough for any phone."""
    out = io.BytesIO()
    code = segno.make(payload, error="m", micro=False)
    code.save(out, kind="png", scale=PIXELS_PER_MODULE, border=QUIET_ZONE)
    return out.getvalue()


def draw(matrix: Matrix, *, colours: bool) -> str:
    """The code in half blocks, two rows a line: dark modules stay the background.

    With *colours* (a terminal's escape sequences) it is black on white whatever the terminal's
    own colours are; without them it is right on a dark background.
    """
    width = len(matrix) + 2 * QUIET_ZONE
    light = [False] * width
    side = [False] * QUIET_ZONE
    rows = [light] * QUIET_ZONE + [[*side, *row, *side] for row in matrix] + [light] * QUIET_ZONE
    if len(rows) % 2:
        rows.append(light)
    lines = [
        "".join(_BLOCKS[pair] for pair in zip(upper, lower, strict=True))
        for upper, lower in zip(rows[::2], rows[1::2], strict=True)
    ]
    if colours:
        lines = [f"{_WHITE_ON_BLACK}{line}{_PLAIN}" for line in lines]
    return "\n".join(lines)


def modules(pixels: Sequence[Sequence[bool]]) -> Matrix | None:
    """The code in a picture (True is a dark pixel) that shows nothing else, upright.

    None where there is none to be found: no three finder squares in the corners.
    """
    box = _dark_box(pixels)
    if box is None:
        return None
    left, top, right, _ = box
    run = next((x for x in range(left, right) if not pixels[top][x]), right) - left
    if run < _FINDER:
        return None
    guess = (right - left) * _FINDER / run
    # The run may be off by a pixel, so the nearest sizes that exist are tried.
    for size in sorted(_SIZES, key=lambda known: abs(known - guess))[:5]:
        matrix = _sampled(pixels, box, size)
        if matrix is not None and _is_code(matrix):
            return matrix
    return None


def _sampled(
    pixels: Sequence[Sequence[bool]], box: tuple[int, int, int, int], size: int
) -> Matrix | None:
    """The pixels in the middle of *size* by *size* modules; None if these are no squares."""
    left, top, right, bottom = box
    across, down = (right - left) / size, (bottom - top) / size
    if across < 1 or abs(across - down) > across / 4:
        return None
    return [
        [
            pixels[int(top + (row + 0.5) * down)][int(left + (column + 0.5) * across)]
            for column in range(size)
        ]
        for row in range(size)
    ]


def _dark_box(pixels: Sequence[Sequence[bool]]) -> tuple[int, int, int, int] | None:
    """Left, top, right and bottom (the last two behind the end) of what is dark."""
    rows = [y for y, row in enumerate(pixels) if any(row)]
    columns = [x for x in range(len(pixels[0]) if pixels else 0) if any(row[x] for row in pixels)]
    if not rows:
        return None
    return columns[0], rows[0], columns[-1] + 1, rows[-1] + 1


def _is_code(matrix: Matrix) -> bool:
    """Finder squares in three corners, and between them the row that counts the modules."""
    far = len(matrix) - _FINDER
    timing = matrix[_FINDER - 1][_FINDER + 1 : far - 1]
    if any(dark != (place % 2 == 0) for place, dark in enumerate(timing, _FINDER + 1)):
        return False
    return all(
        matrix[top + y][left + x] == _finder_is_dark(x, y)
        for top, left in ((0, 0), (0, far), (far, 0))
        for y in range(_FINDER)
        for x in range(_FINDER)
    )


def _finder_is_dark(x: int, y: int) -> bool:
    from_centre = max(abs(x - 3), abs(y - 3))
    return from_centre != 2
