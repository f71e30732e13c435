"""Stamps of a hybrid logical clock (Kulkarni et al. 2014): they break ties between concurrent versions.

Never decides what came first: the vector clocks of entities do.
"""

from collections.abc import Iterable
from typing import NamedTuple

MS_MAX = (1 << 48) - 1
COUNT_MAX = (1 << 32) - 1
LEAD_MS_MAX = 10 * 60 * 1000


class Stamp(NamedTuple):
    """Unix time in milliseconds, then a counter for stamps within one millisecond."""

    ms: int
    n: int


def tick(last: Stamp, now_ms: int) -> Stamp:
    """Return the stamp of a new commit: after `last`, and not before the local clock."""
    if now_ms > last.ms:
        return Stamp(min(now_ms, MS_MAX), 0)
    if last.n < COUNT_MAX:
        return Stamp(last.ms, last.n + 1)
    # The counter is full: another device may have sent such a stamp, and writing must go on.
    return Stamp(min(last.ms + 1, MS_MAX), 0)


def follow(last: Stamp, stamps: Iterable[Stamp], now_ms: int) -> Stamp:
    """Return the last stamp of this device after it accepted commits with these stamps.

    Stamps more than 10 minutes ahead of the local clock are ignored: one wrong clock must not move the
    clocks of all devices.
    """
    return max([last, *(stamp for stamp in stamps if stamp.ms <= now_ms + LEAD_MS_MAX)])
