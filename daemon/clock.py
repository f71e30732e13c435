"""Where time and randomness come from.

Never imported for the system's own clock below the composition root: everything else is handed a `Clock`.
"""

import os
import secrets
import time
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


class Clock(Protocol):
    """What the daemon asks of the world's clock; a simulation answers from a seed instead."""

    def now_ms(self) -> int:
        """Return Unix time in milliseconds; it may jump, in either direction."""

    def monotonic_s(self) -> float:
        """Return seconds since some moment; they never run backwards."""

    def randomness(self, count: int) -> bytes:
        """Return `count` random bytes, fit for keys."""


class SystemClock:
    """The clock and the randomness of the operating system."""

    __slots__ = ()

    def now_ms(self) -> int:
        """Return Unix time in milliseconds."""
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        """Return the system's monotonic clock in seconds."""
        return time.monotonic()

    def randomness(self, count: int) -> bytes:
        """Return `count` bytes from the system's secure source."""
        return secrets.token_bytes(count)


def local_zone() -> tzinfo:
    """Return the zone in which this device's days begin: TZ, else the system's, else UTC."""
    name = os.environ.get("TZ", "").removeprefix(":")
    try:
        if name:
            return ZoneInfo(name)
        with Path("/etc/localtime").open("rb") as file:
            return ZoneInfo.from_file(file)
    except (OSError, ValueError, ZoneInfoNotFoundError):
        return UTC
