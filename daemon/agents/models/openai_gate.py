"""Whether a server may be asked now: where it is away or refuses, all agents of a device wait together.

Never gives up: after a while one of them asks again, ever more rarely.
"""

from typing import NamedTuple

from daemon.agents.models.interface import ModelUnavailable

PAUSE_FIRST_S = 60.0
PAUSE_MAX_S = 900.0
ASKED_MAX_S = 6 * 3600.0
"""What a server may ask to be left alone for."""


class Trouble(NamedTuple):
    """What keeps a server from answering, since when (Unix milliseconds), how often, and until when."""

    fault: ModelUnavailable
    since_ms: int
    times: int
    until_s: float


class Gate:
    """One endpoint's. Times are of one monotonic clock, in seconds, but for the one that people are told."""

    def __init__(self) -> None:
        self.trouble: Trouble | None = None

    def open(self) -> None:
        """Note that the server answers."""
        self.trouble = None

    def close(self, fault: ModelUnavailable, now_s: float, now_ms: int) -> None:
        """Note why it does not, and let the fault say how long to wait; those under way count once."""
        before = self.trouble
        if before is None or now_s >= before.until_s:
            times = 1 if before is None else before.times + 1
            own_s = min(PAUSE_FIRST_S * 2 ** min(times - 1, 10), PAUSE_MAX_S)
            pause_s = max(own_s, min(fault.again_s or 0.0, ASKED_MAX_S))
            since_ms = now_ms if before is None else before.since_ms
            self.trouble = before = Trouble(fault, since_ms, times, now_s + pause_s)
        self.trouble = before._replace(fault=fault)
        fault.again_s = before.until_s - now_s

    def require(self, now_s: float) -> None:
        """Raise the last fault again while it is too early to ask."""
        if self.trouble is not None and now_s < self.trouble.until_s:
            told = type(self.trouble.fault)(str(self.trouble.fault))
            told.again_s, told.is_known = self.trouble.until_s - now_s, True
            raise told
