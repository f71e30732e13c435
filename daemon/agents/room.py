"""How much room each part of a context has: the one table, and how a part is kept within it.

Never looks into what it measures, and never lets one long part push out another.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from daemon.journal.show import plain

CUT = " [cut]"

T = TypeVar("T")


class Part(NamedTuple):
    """At most so many tokens, and so many members."""

    tokens: int
    members: int


REPORT = Part(tokens=6_000, members=1)
OBSERVATIONS = Part(tokens=2_000, members=100)
ITEMS = Part(tokens=20_000, members=500)
NOTES = Part(tokens=400_000, members=200)
"""New entries: `rules` reads them all; of these a remote model is told what its own room allows."""
ENTRIES = Part(tokens=8_000, members=200)
LABELS = Part(tokens=1_000, members=50)
LINKED = Part(tokens=1_500, members=20)
CHANGES = Part(tokens=3_000, members=100)
DECISIONS = Part(tokens=500, members=20)
PROPOSALS = Part(tokens=1_500, members=30)

CHANGED_CHARS_MAX = 200
"""How much of a value is told where it changed: a note's text is among the entries."""


def tokens(written: str) -> int:
    """Estimate, rather too high than too low, how many tokens a text is."""
    return len(written.encode(errors="replace")) // 3 + 8


def as_json(value: Any) -> str:
    """Write a value as a model reads it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def weight(value: Any) -> int:
    """Estimate how many tokens a value is."""
    return tokens(as_json(plain(value)))


def within(found: Iterable[T], part: Part, weigh: Callable[[T], int]) -> list[T]:
    """Return the first members that have room; the first of all is kept whatever it weighs."""
    kept: list[T] = []
    left = part.tokens
    for one in found:
        left -= weigh(one)
        if len(kept) == part.members or (kept and left < 0):
            break
        kept.append(one)
    return kept


def shortened(written: str, chars_max: int) -> str:
    """Return the beginning of a text."""
    return written if len(written) <= chars_max else written[:chars_max] + CUT
