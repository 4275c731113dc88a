"""What a user pastes: ids, links, share texts; one file a platform, pure functions.

Every platform module offers ``find(text, expected)`` -> :class:`Found`, where *expected* is
"post" or "creator" (a bare id does not tell), and ``resolve(location, expected)`` -> list of
:class:`Target` for the redirects of its short links.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

Expected = Literal["post", "creator"]


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that the user wants.

    `kind` is "post", "creator" or "short_link" (which must be followed to know); `id` is the
    platform's id (for a short link its URL, with a scheme); `context` is what the link knows
    besides and a request needs (a token, the kind of object).
    """

    kind: Literal["post", "creator", "short_link"]
    id: str
    context: tuple[tuple[str, str], ...] = ()

    def get(self, key: str) -> str | None:
        """The value of *key* in `context`, or None."""
        return dict(self.context).get(key)


@dataclass(slots=True)
class Found:
    """What a text contained: targets in input order, each once, and what was not understood."""

    targets: list[Target] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


SEPARATORS = ",，、；;|｜"
"""What separates the entries of a list, besides blanks."""

_WORD = re.compile(rf"[^{SEPARATORS}\s]+")
_MARKS = "。．…！？：“”‘’（）《》【】「」『』"  # what a text puts around a word
_LINK_LIKE = re.compile(r"https?://\S+", re.IGNORECASE)
# Two links pasted one behind the other; behind a sign, the second is a part of the first.
_SEAM = re.compile(r"(?<=[0-9A-Za-z])(?=https?://)", re.IGNORECASE)


def scan(
    text: str,
    link: re.Pattern[str],
    read_link: Callable[[str], Target | None],
    read_bare: Callable[[str], Target | None],
) -> Found:
    """Find targets line by line.

    *link* matches every link form of the platform; *read_link* reads one match, *read_bare*
    one separated word, without punctuation at its ends. Words around a link are the share text
    that it was pasted with, so they are ignored; on a line without any target each word is named
    as not understood.
    """
    found = Found()
    for pasted in text.splitlines():
        line = _SEAM.sub(" ", pasted)
        positioned: list[tuple[int, Target]] = []
        unknown: list[str] = []
        for match in link.finditer(line):
            target = read_link(match[0])
            if target is None:
                unknown.append(match[0])
            else:
                positioned.append((match.start(), target))
        rest = link.sub(lambda match: " " * len(match[0]), line)
        foreign = _LINK_LIKE.findall(rest)
        words = list(_WORD.finditer(rest))
        for word in words:
            bare = word[0].strip(_MARKS)
            target = read_bare(bare) if bare else None
            if target is not None:
                positioned.append((word.start(), target))
        if not positioned and not unknown and not foreign:
            unknown.extend(word[0] for word in words)
        found.targets.extend(target for _, target in sorted(positioned, key=lambda p: p[0]))
        found.unknown.extend(unknown + foreign)
    found.targets = list(unique_targets(found.targets))
    return found


def unique_targets(targets: Iterable[Target]) -> Iterable[Target]:
    """Each kind and id once; the first mention wins."""
    seen: set[tuple[str, str]] = set()
    for target in targets:
        if (target.kind, target.id) not in seen:
            seen.add((target.kind, target.id))
            yield target
