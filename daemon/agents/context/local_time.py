"""Times in the time zone of the device, by which a model and a person understand "tomorrow".

Never fails for a time outside of the calendar: it is moved to the nearest bound.
"""

from datetime import UTC, datetime, tzinfo

MS_MAX = 7_258_118_400_000  # the year 2200: adding days near the end of the calendar would leave it


def to_local(ms: int, zone: tzinfo | None) -> datetime:
    """Return a Unix time in milliseconds as an aware time in a zone; None is the zone of the device."""
    return datetime.fromtimestamp(min(max(ms, 0), MS_MAX) / 1000, UTC).astimezone(zone)


def parse_local(text: str, otherwise_ms: int, zone: tzinfo | None) -> datetime:
    """Return a time that is written as ISO 8601, in a zone; `otherwise_ms` if it cannot be read."""
    try:
        parsed = datetime.fromisoformat(text)
        aware = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
        return to_local(int(aware.timestamp() * 1000), zone)
    except (ValueError, OverflowError):
        return to_local(otherwise_ms, zone)
