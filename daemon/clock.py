"""The sources of time and randomness.

Never imported for the system's own clock below the composition root: everything else receives a `Clock`.
"""

import os
import secrets
import time
from collections.abc import Callable
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


class Clock(Protocol):
    """What the daemon asks of the world's clock; a simulation answers from a seed instead."""

    def now_ms(self) -> int:
        """Return Unix time in milliseconds; it may jump, in either direction."""

    def monotonic_s(self) -> float:
        """Return seconds since some moment; they never run backwards, and go on while the machine sleeps."""

    def randomness(self, count: int) -> bytes:
        """Return `count` random bytes, fit for keys."""


class SystemClock:
    """The clock and the randomness of the operating system."""

    __slots__ = ()

    def now_ms(self) -> int:
        """Return Unix time in milliseconds."""
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        """Return seconds since the machine started."""
        return since_boot_s()

    def randomness(self, count: int) -> bytes:
        """Return `count` bytes from the system's secure source."""
        return secrets.token_bytes(count)


def since_boot_s() -> float:
    """Return seconds since the machine started; unlike CLOCK_MONOTONIC, they go on while it sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class ClockWatch:
    """Detects whether the wall clock was set, by comparing it with the time since the machine started."""

    __slots__ = ("_began_ms", "_began_s", "_elapsed_s", "_now_ms")

    def __init__(self, now_ms: Callable[[], int], elapsed_s: Callable[[], float] = since_boot_s) -> None:
        self._now_ms, self._elapsed_s = now_ms, elapsed_s
        self._began_ms, self._began_s = now_ms(), elapsed_s()

    def jump_ms(self) -> int:
        """Return how far the clock was set forward since this watch began; below zero: back."""
        return self._now_ms() - self._began_ms - round((self._elapsed_s() - self._began_s) * 1000)


def _zone_name(file: Path) -> str | None:
    """Return the name of the zone that a file is a link to, None if it is none."""
    parts = file.resolve().parts
    return "/".join(parts[parts.index("zoneinfo") + 1 :]) if "zoneinfo" in parts else None


def local_zone() -> tzinfo:
    """Return the zone in which this device's days begin: TZ, else the system's, else UTC."""
    name = os.environ.get("TZ", "").removeprefix(":") or "/etc/localtime"
    try:
        if not name.startswith("/"):
            return ZoneInfo(name)
        with Path(name).open("rb") as file:
            return ZoneInfo.from_file(file, key=_zone_name(Path(name)))
    except (OSError, ValueError, ZoneInfoNotFoundError):
        return UTC
