"""What a measurement of one program came to, or why there is none.

Never judges.
"""

from dataclasses import dataclass

import msgspec


class Outcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """So many entities brought to an empty store in so many seconds, and milliseconds from write to sight."""

    entities: int
    seconds: float
    live_ms: list[float]

    @property
    def rate(self) -> float:
        """Return entities a second."""
        return self.entities / self.seconds


@dataclass(frozen=True, slots=True)
class Unavailable(Exception):
    """A program that cannot be had, or that did not end, on this machine."""

    reason: str

    def __str__(self) -> str:
        """Return the reason alone."""
        return self.reason
