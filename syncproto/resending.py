"""The commits that a peer holds already, and that are sent to it once more for the values that it may lack.

Never reads a store, and never decides whether a page may be sent now; the session does.
"""

from collections.abc import Iterable
from itertools import islice

from syncproto.vector_clock import Head, VectorClock

HEADS_ONCE_MAX = 64
"""The commits that one page is asked for; a page that has no room for all says which are left."""


class Resending:
    """Two queues: what the peer asked for, and that of which this side came to hold more values.

    What the peer asked for, it holds. The others wait until it is known to hold all that this side holds.
    """

    def __init__(self) -> None:
        self._wanted: dict[Head, None] = {}
        self._regained: dict[Head, None] = {}
        self._reading: VectorClock = ()
        self._read_from = self._wanted
        self._pages_before_answer = 0

    def __len__(self) -> int:
        """Return how many commits are to be sent once more."""
        return len(self._wanted) + len(self._regained) + len(self._reading)

    @property
    def is_answered(self) -> bool:
        """Return whether the last state that the peer told came after all that was regained here."""
        return not self._regained and not self._reading and not self._pages_before_answer

    def ask(self, heads: Iterable[Head]) -> None:
        """Queue the commits that the peer asks for."""
        self._wanted.update(dict.fromkeys(heads))

    def regain(self, heads: Iterable[Head]) -> None:
        """Queue commits of which this side came to hold more values."""
        self._regained.update(dict.fromkeys(heads))

    def is_due(self, *, level: bool) -> bool:
        """Return whether a page can be read now; `level` if the peer holds all that this side holds."""
        return bool(self._wanted or (level and self._regained))

    def take(self) -> VectorClock:
        """Return the commits of the next page, which then has to be read; call it only if one is due."""
        self._read_from = self._wanted or self._regained
        self._reading = tuple(islice(self._read_from, HEADS_ONCE_MAX))
        for head in self._reading:
            del self._read_from[head]
        return self._reading

    def put_back(self, left: VectorClock | None = None) -> None:
        """End the reading of a page that had no room for the commits `left`, None for all of them."""
        self._read_from.update(dict.fromkeys(self._reading if left is None else left))
        self._reading = ()

    def note_sent(self, pages_in_flight: int) -> None:
        """Record that such a page was sent, and after how many Acks from now the peer has answered it."""
        self._pages_before_answer = pages_in_flight

    def note_acked(self) -> None:
        """Record an Ack."""
        self._pages_before_answer = max(0, self._pages_before_answer - 1)
