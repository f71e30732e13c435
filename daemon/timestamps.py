"""Unix time in milliseconds as ISO 8601 text in UTC, for everything that is shown or exported.

Never reads a clock.
"""

from datetime import UTC, datetime
from functools import lru_cache

_MS_MIN = -62_135_596_800_000  # the beginning of the year 1
_MS_MAX = 253_402_300_799_999  # the end of the year 9999: beyond it there is no ISO 8601 text


def stamp_utc(stamp_ms: int, now_ms: int | None) -> str:
    """Write when a commit was stamped as it is shown, never later than now; None shows the stamp itself.

    A stamp ahead is that of a clock that was wrong once: it orders, and dates nothing.
    """
    return iso_utc(stamp_ms if now_ms is None else min(stamp_ms, now_ms))


@lru_cache(maxsize=4096)
def iso_utc(ms: int) -> str:
    """Write Unix time in milliseconds as ISO 8601 in UTC; what is out of range is shown as its bound."""
    bounded = min(max(ms, _MS_MIN), _MS_MAX)
    moment = datetime.fromtimestamp(bounded / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
