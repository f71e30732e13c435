"""Places for the file's lines among those that the journal already has.

Never moves what is placed: a person may have put it there.
"""

from bisect import bisect_right, insort
from collections.abc import Iterable

from daemon.journal.positions import between, is_place


class Places:
    """A walk along an ordered list, in the file's order."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = sorted(filter(is_place, taken))
        self._last: str | None = None

    def pass_by(self, place: str) -> None:
        """Go on from a line that is placed already."""
        if is_place(place):
            self._last = place

    def take(self) -> str:
        """Return a place right after the line before."""
        above = 0 if self._last is None else bisect_right(self._taken, self._last)
        place = between(self._last, self._taken[above] if above < len(self._taken) else None)
        insort(self._taken, place)
        self._last = place
        return place
