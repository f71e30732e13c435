"""How much of each part of a task one answer shows: its notes, items, times, links, conflicts and statuses.

Never leaves out anything without counting it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec

A = TypeVar("A")
B = TypeVar("B")

PART_BYTES_MAX: Final[Mapping[str, int]] = {
    "entries": 2 << 20,
    "checklists": 2 << 20,
    "items": 1 << 20,
    "conflicts": 1 << 20,
    "times": 1 << 19,
    "links": 1 << 19,
    "status_history": 1 << 19,
    "provenance": 1 << 19,
    "unknown": 1 << 19,
}
"""The bytes that a part has at most, as JSON; so a task has some MiB, whatever others wrote to it."""

_encoder = msgspec.json.Encoder()


class PartBounds:
    """The parts of one task. `left_out` counts what of each is not shown; one that is whole has no count."""

    def __init__(self, bytes_max: Mapping[str, int] = PART_BYTES_MAX) -> None:
        self._bytes_left = dict(bytes_max)
        self.left_out: dict[str, int] = {}

    def first(self, part: str, things: Sequence[A]) -> list[A]:
        """Return the first of several things, as many as fit."""
        return self.first_made(part, things, lambda thing: thing)

    def last(self, part: str, things: Sequence[A]) -> list[A]:
        """Return the last of several things, in their order, as many as fit."""
        return self.first(part, things[::-1])[::-1]

    def first_made(self, part: str, sources: Sequence[A], make: Callable[[A], B]) -> list[B]:
        """Return what is made of the first of several sources, as much as fits; the rest is not made."""
        made: list[B] = []
        for source in sources:
            thing = make(source)
            if not self._take(part, thing):
                self.left_out[part] = self.left_out.get(part, 0) + len(sources) - len(made)
                break
            made.append(thing)
        return made

    def last_made(self, part: str, sources: Sequence[A], make: Callable[[A], B]) -> list[B]:
        """Return what is made of the last of several sources, in their order, as much as fits."""
        return self.first_made(part, sources[::-1], make)[::-1]

    def pairs(self, part: str, values: Mapping[str, A]) -> dict[str, A]:
        """Return the first pairs of a map, as many as fit."""
        return dict(self.first(part, list(values.items())))

    def _take(self, part: str, thing: Any) -> bool:
        """Take the bytes of something from those of its part, unless it has too few left."""
        self._bytes_left[part] -= len(_encoder.encode(thing)) + 1
        return self._bytes_left[part] >= 0
