"""QR codes: what is drawn says what was to be said, and pictures are read back."""

from __future__ import annotations

import re

import pytest

from mediacrawler.sessions import qr

LOGIN_LINK = "https://www.site.example/mobile/login?qrId=123456789012345678&code=4711&channel=web"


def undrawn(text: str) -> qr.Matrix:
    """The modules of a drawing for a dark background, without its quiet zone."""
    rows: qr.Matrix = []
    for line in re.sub(r"\x1b\[[\d;]*m", "", text).split("\n"):
        rows.append([character in " ▄" for character in line])
        rows.append([character in " ▀" for character in line])
    size = len(rows[0]) - 2 * qr.QUIET_ZONE
    assert not any(dark for row in rows[: qr.QUIET_ZONE] for dark in row)
    inner = rows[qr.QUIET_ZONE : qr.QUIET_ZONE + size]
    return [row[qr.QUIET_ZONE : qr.QUIET_ZONE + size] for row in inner]


def pixels(matrix: qr.Matrix, scale: float, border: int) -> list[list[bool]]:
    """A picture of a code, *scale* pixels a module."""
    size = round(len(matrix) * scale)
    side = [False] * border
    inner = [
        [*side, *(matrix[int(y / scale)][int(x / scale)] for x in range(size)), *side]
        for y in range(size)
    ]
    empty = [False] * (size + 2 * border)
    return [empty] * border + inner + [empty] * border


@pytest.mark.parametrize("colours", [True, False])
@pytest.mark.parametrize("payload", ["1", LOGIN_LINK, LOGIN_LINK * 3])
def test_a_drawing_shows_the_modules_and_a_quiet_zone(payload: str, colours: bool) -> None:
    matrix = qr.encode(payload)

    assert undrawn(qr.draw(matrix, colours=colours)) == matrix


def test_a_login_code_fits_the_width_of_a_terminal() -> None:
    lines = qr.draw(qr.encode(LOGIN_LINK), colours=False).split("\n")

    assert max(map(len, lines)) <= 60
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize(
    ("payload", "scale", "border"),
    [("1", 4, 0), ("1", 1, 4), (LOGIN_LINK, 6, 24), (LOGIN_LINK, 3.4, 7), (LOGIN_LINK * 6, 2.6, 9)],
)
def test_modules_are_read_from_a_picture_of_any_scale(
    payload: str, scale: float, border: int
) -> None:
    matrix = qr.encode(payload)

    assert qr.modules(pixels(matrix, scale, border)) == matrix


@pytest.mark.parametrize(
    "picture",
    [
        [],
        [[False] * 200] * 200,
        [[True] * 200] * 200,
        [[(x // 10 + y // 10) % 2 == 0 for x in range(210)] for y in range(210)],
        pixels(qr.encode(LOGIN_LINK), 6, 24)[:150],
    ],
    ids=["nothing", "white", "black", "chequered", "cut"],
)
def test_a_picture_without_a_whole_code_is_not_taken_for_one(picture: list[list[bool]]) -> None:
    assert qr.modules(picture) is None
