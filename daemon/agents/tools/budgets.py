"""How many tokens and members each part of a context may have, and how a part is kept within that.

Never looks into the values that it measures, and never lets one long part push out another.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from daemon.journal.views.lookup import json_value

CUT_MARK = " [cut]"

T = TypeVar("T")


class PartBudget(NamedTuple):
    """At most this many tokens, and at most this many members."""

    tokens: int
    members: int


REPORT = PartBudget(tokens=6_000, members=1)
OBSERVATIONS = PartBudget(tokens=2_000, members=100)
RECENT_OBSERVATIONS = PartBudget(tokens=1_400, members=100)
"""How much of too many observations comes in full: the rest is for the beginnings of older ones."""
ITEMS = PartBudget(tokens=20_000, members=500)
NOTES = PartBudget(tokens=400_000, members=200)
"""New entries. `rules` reads all of them; a remote model gets as many as its own prompt has room for."""
ENTRIES = PartBudget(tokens=8_000, members=200)
LABELS = PartBudget(tokens=1_000, members=50)
LINKED = PartBudget(tokens=1_500, members=20)
CHANGES = PartBudget(tokens=3_000, members=100)
DECISIONS = PartBudget(tokens=500, members=20)
PROPOSALS = PartBudget(tokens=1_500, members=30)
PREFERENCES = PartBudget(tokens=1_000, members=30)

CHANGED_CHARS_MAX = 200
"""How much of a changed value is shown: the text of an entry is already among the entries."""


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a text, rather too high than too low."""
    return len(text.encode(errors="replace")) // 3 + 8


def as_json(value: Any) -> str:
    """Return a value as the compact JSON that a model reads."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def json_tokens(value: Any) -> int:
    """Estimate the tokens of a value that is written as JSON."""
    return estimated_tokens(as_json(json_value(value)))


def within_budget(members: Iterable[T], part: PartBudget, weigh: Callable[[T], int]) -> list[T]:
    """Return the first members that fit the budget; the first of all is kept whatever it weighs."""
    kept_elements: list[T] = []
    left = part.tokens
    for member in members:
        left -= weigh(member)
        if len(kept_elements) == part.members or (kept_elements and left < 0):
            break
        kept_elements.append(member)
    return kept_elements


def truncate(text: str, chars_max: int) -> str:
    """Return a text of at most `chars_max` characters; a longer one ends in a mark."""
    return text if len(text) <= chars_max else text[:chars_max] + CUT_MARK
