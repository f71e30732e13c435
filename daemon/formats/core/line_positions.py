"""Where the lines of an ordered list go that a file brings between those that are placed already.

Never moves a line that has a place.
"""

from bisect import insort
from collections.abc import Iterable

from daemon.journal.fields.positions import is_position, position_right_after


class LinePositions:
    """A walk along an ordered list, in the file's order."""

    def __init__(self, taken_positions: Iterable[str]) -> None:
        self._taken = sorted(filter(is_position, taken_positions))
        self._last: str | None = None

    def advance_past(self, place: str) -> None:
        """Go on from a line that is placed already."""
        if is_position(place):
            self._last = place

    def next_position(self) -> str:
        """Return a place right after the line before."""
        place = position_right_after(self._last, self._taken)
        insort(self._taken, place)
        self._last = place
        return place
