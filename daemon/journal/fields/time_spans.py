"""Time as it was spent: points in time read from fields, and the minutes of several stretches together.

Never counts a minute twice: a person who left a timer running on one device and began another spent the time
once.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

MINUTE_MS: Final = 60_000


def kept_moment_ms(value: object) -> int | None:
    """Read a point in time as it is kept (ISO 8601 with its zone) as Unix time in milliseconds, else None."""
    if not isinstance(value, str):
        return None
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        return None
    return None if read.tzinfo is None else round(read.timestamp() * 1000)


def span_ms(start_ms: int | None, end_ms: int | None) -> int:
    """Return how long a stretch is; one that ends before it began, or has no end, has no length."""
    return 0 if start_ms is None or end_ms is None else max(end_ms - start_ms, 0)


def covered_ms(stretches: Iterable[tuple[int | None, int | None]]) -> int:
    """Return how much time the stretches cover together: an overlap counts once."""
    total, covered = 0, None
    for start, end in sorted((s, e) for s, e in stretches if s is not None and e is not None and e > s):
        begins = start if covered is None else max(start, covered)
        if end > begins:
            total += end - begins
            covered = end
    return total
