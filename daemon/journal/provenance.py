"""Who wrote a value, and when: the projections that are shown, taken from what the store kept.

Never stored: `checked_by`, `checked_at`, `created_at` and `author` are all read from versions.
"""

from datetime import UTC, datetime
from functools import lru_cache

from store.fold import Source
from syncproto.commit import By

ORIGIN_AT = "at_ms"
"""Key of imported provenance: when the value was written where it came from, Unix time in milliseconds."""

_MS_MIN = -62_135_596_800_000  # the beginning of the year 1
_MS_MAX = 253_402_300_799_999  # the end of the year 9999: beyond it there is no ISO 8601 text
AUTHORS = {By.SYSTEM: "system", By.AGENT: "agent", By.USER: "user"}


@lru_cache(maxsize=4096)
def iso(ms: int) -> str:
    """Write Unix time in milliseconds as ISO 8601 in UTC; what is out of range is shown as its bound."""
    bounded = min(max(ms, _MS_MIN), _MS_MAX)
    moment = datetime.fromtimestamp(bounded / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def author(source: Source | None) -> str | None:
    """Return `user`, `agent` or `system`; a confirmation is the agent's unless the user edited it."""
    return None if source is None else AUTHORS[source.by]


def written_ms(source: Source) -> int:
    """Return when a value was written: where it was imported, when that was at its origin."""
    if source.origin is None:
        return source.ms
    at = source.origin.get(ORIGIN_AT)
    return at if type(at) is int else source.ms


def written_at(source: Source | None) -> str | None:
    """Return `written_ms` as ISO 8601."""
    return None if source is None else iso(written_ms(source))
