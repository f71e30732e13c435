"""Moments on the calendar of the device: what "tomorrow" is reckoned from.

Never fails for a moment that no calendar has: it is moved to the nearest bound.
"""

from datetime import UTC, datetime, tzinfo

MS_MAX = 7_258_118_400_000  # the year 2200: reckoning from a day at the end of the calendar would leave it


def local(ms: int, zone: tzinfo | None) -> datetime:
    """Return a moment, Unix time in milliseconds, on the calendar of a place; None is the device's own."""
    return datetime.fromtimestamp(min(max(ms, 0), MS_MAX) / 1000, UTC).astimezone(zone)


def local_of(written: str, otherwise_ms: int, zone: tzinfo | None) -> datetime:
    """Return a moment that is written as ISO 8601; of what cannot be read, another one."""
    try:
        told = datetime.fromisoformat(written)
        aware = told if told.tzinfo else told.replace(tzinfo=UTC)
        return local(int(aware.timestamp() * 1000), zone)
    except (ValueError, OverflowError):
        return local(otherwise_ms, zone)
