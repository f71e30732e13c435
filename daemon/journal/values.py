"""What a field of the journal may hold: each function returns the value as it is kept, or refuses it.

Never looks at the store.
"""

import re
import unicodedata
from datetime import UTC, date, datetime
from typing import Final

from daemon.journal.errors import usage

STATUSES: Final = ("OPEN", "GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD", "DONE", "REJECTED")
CLOSED: Final = frozenset({"DONE", "REJECTED"})
NEEDS_REASON: Final = frozenset({"BLOCKED", "ON HOLD"})
PRIORITIES: Final = ("P0", "P1", "P2", "P3")
PRIORITY_DEFAULT: Final = "P2"

TITLE_CHARS_MAX: Final = 400
REASON_CHARS_MAX: Final = 2000
NAME_CHARS_MAX: Final = 100
ENTRY_BYTES_MAX: Final = 128 * 1024
ESTIMATE_MAX: Final = 1_000_000

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def folded(text: str) -> str:
    """Return text as it is compared with other text: composed, without case, trimmed."""
    return unicodedata.normalize("NFC", text).strip().casefold()


def title(text: str) -> str:
    """Check the title of a task, checklist or item: one line of 1 to 400 characters."""
    return _line(text, "a title", TITLE_CHARS_MAX)


def name(text: str, what: str) -> str:
    """Check the name of a label or category: one line of 1 to 100 characters."""
    return _line(text, f"the name of a {what}", NAME_CHARS_MAX)


def reason(text: str | None) -> str | None:
    """Check a reason; a blank one is none."""
    if text is None or not text.strip():
        return None
    return _line(text, "a reason", REASON_CHARS_MAX)


def remark(text: str | None) -> str | None:
    """Check a line said of something, such as a stretch of time or a label; a blank one is none."""
    return None if text is None or not text.strip() else _line(text, "a remark", REASON_CHARS_MAX)


def _line(text: str, what: str, chars_max: int) -> str:
    line = _BREAKS.sub(" ", text).strip()
    if not line:
        raise usage(f"{what} cannot be empty")
    if len(line) > chars_max:
        raise usage(
            f"{what} of {len(line)} characters is longer than {chars_max}", "put the rest into a note"
        )
    return line


def status(text: str) -> str:
    """Check a status, in any case, with spaces, hyphens or underscores."""
    wanted = re.sub(r"[\s_-]+", " ", text.strip()).upper()
    if wanted not in STATUSES:
        raise usage(f"no status is called {text[:80]!r}", f"one of {', '.join(STATUSES)}")
    return wanted


def priority(text: str) -> str:
    """Check a priority, in any case."""
    wanted = text.strip().upper()
    if wanted not in PRIORITIES:
        raise usage(f"no priority is called {text[:80]!r}", f"one of {', '.join(PRIORITIES)}")
    return wanted


def estimate(minutes: int) -> int:
    """Check an estimate in minutes."""
    if not 1 <= minutes <= ESTIMATE_MAX:
        raise usage(f"an estimate of {minutes} minutes is out of range", f"1 to {ESTIMATE_MAX} minutes")
    return minutes


def due(text: str) -> str:
    """Check a calendar date, `YYYY-MM-DD`, that exists."""
    wanted = text.strip()
    refused = usage(f"{text[:80]!r} is not a calendar date", "write it as YYYY-MM-DD")
    if not _DATE.fullmatch(wanted):
        raise refused
    try:
        return date.fromisoformat(wanted).isoformat()
    except ValueError:
        raise refused from None


def language(text: str) -> str:
    """Check a language code."""
    wanted = text.strip()
    if not _LANGUAGE.fullmatch(wanted):
        raise usage(f"{text[:80]!r} is not a language code", "write it like en, de or pt-BR")
    return wanted


def entry_text(text: str) -> str:
    """Check the text of an entry: not blank, at most 128 KiB; kept as it is."""
    size = len(text.encode())
    if size > ENTRY_BYTES_MAX:
        limit = f"{ENTRY_BYTES_MAX >> 10} KiB ({ENTRY_BYTES_MAX} bytes)"
        raise usage(f"a text of {size} bytes is longer than {limit}", "split it into several notes")
    if not text.strip():
        raise usage("a note cannot be empty")
    return text


def moment(text: str) -> str:
    """Check a point in time with its offset from UTC; kept in UTC."""
    refused = usage(f"{text[:80]!r} is not a time with its zone", "write it like 2026-03-15T10:20:00Z")
    try:
        read = datetime.fromisoformat(text.strip())
        utc = read.astimezone(UTC)
    except (ValueError, OverflowError):
        raise refused from None
    if read.tzinfo is None:
        raise refused
    return utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")
