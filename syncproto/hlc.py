"""Hybrid logical clock stamps (Kulkarni et al. 2014): they break ties between concurrent versions.

Never decides what came first: causality lies in the clocks of entities.
"""

from collections.abc import Iterable
from typing import NamedTuple

MS_MAX = (1 << 48) - 1
COUNT_MAX = (1 << 32) - 1
LEAD_MS_MAX = 10 * 60 * 1000


class Stamp(NamedTuple):
    """Unix time in milliseconds, then a count of stamps within it."""

    ms: int
    n: int


def tick(last: Stamp, now_ms: int) -> Stamp:
    """Return the stamp for a new commit: after `last`, and not before the local clock."""
    if now_ms > last.ms:
        return Stamp(min(now_ms, MS_MAX), 0)
    if last.n < COUNT_MAX:
        return Stamp(last.ms, last.n + 1)
    return Stamp(min(last.ms + 1, MS_MAX), 0)


def follow(last: Stamp, seen: Iterable[Stamp], now_ms: int) -> Stamp:
    """Return what the local clock becomes after taking commits with these stamps.

    A stamp more than 10 minutes ahead of the local clock is not followed: one wrong clock must not drag
    every device's with it.
    """
    return max([last, *(stamp for stamp in seen if stamp.ms <= now_ms + LEAD_MS_MAX)])
