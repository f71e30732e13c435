"""What a field of the journal may contain: each function returns the value as it is kept, or refuses it.

Never looks at the store.
"""

import re
from datetime import UTC, date, datetime
from typing import Final

from daemon import task_fields
from daemon.due_time import is_hour
from daemon.refusal import one_of, usage_error
from store.fold import list_columns
from store.sentence import Sentence, sentence

STATUSES: Final = task_fields.STATUSES
PLAIN_STATUS: Final = list_columns.STATUS_DEFAULT
CLOSED: Final = list_columns.CLOSED_STATUSES
NEEDS_REASON: Final = frozenset({"BLOCKED", "ON HOLD"})
PRIORITIES: Final = ("P0", "P1", "P2", "P3")
PRIORITY_DEFAULT: Final = list_columns.PRIORITY_DEFAULT

TITLE_CHARS_MAX: Final = 400
REASON_CHARS_MAX: Final = 2000
NAME_CHARS_MAX: Final = 100
ENTRY_BYTES_MAX: Final = 128 * 1024
ESTIMATE_MAX: Final = 1_000_000

LANGUAGE_PATTERN: Final = "[a-z]{2,3}(-[A-Za-z0-9]{2,8})*"

_LANGUAGE = re.compile(LANGUAGE_PATTERN)
_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def checked_title(text: str) -> str:
    """Check the title of a task, checklist or item: one line of 1 to 400 characters."""
    return _line(text, sentence("a-title", "a title"), TITLE_CHARS_MAX)


def checked_name(text: str, noun: str) -> str:
    """Check the name of a label or category: one line of 1 to 100 characters."""
    return _line(text, sentence("the-name-of", "the name of a {kind}", kind=noun), NAME_CHARS_MAX)


def checked_reason(text: str | None) -> str | None:
    """Check a reason; a blank one is none."""
    if text is None or not text.strip():
        return None
    return _line(text, sentence("a-reason", "a reason"), REASON_CHARS_MAX)


def checked_remark(text: str | None) -> str | None:
    """Check a one-line note about something, such as a stretch of time or a label; a blank one is none."""
    if text is None or not text.strip():
        return None
    return _line(text, sentence("a-remark", "a remark"), REASON_CHARS_MAX)


def as_line(text: str) -> str:
    """Return text as titles and names are stored: on one line, without blanks at its ends."""
    return _BREAKS.sub(" ", text).strip()


def _line(text: str, noun: Sentence, chars_max: int) -> str:
    line = as_line(text)
    if not line:
        raise usage_error(sentence("cannot-be-empty", "{what} cannot be empty", what=noun))
    if len(line) > chars_max:
        raise usage_error(
            sentence(
                "too-many-characters",
                "{what} of {count} characters is longer than {most}",
                what=noun,
                count=len(line),
                most=chars_max,
            ),
            sentence("rest-into-note", "put the rest into a note"),
        )
    return line


def checked_status(text: str) -> str:
    """Check a status, in any case, with spaces, hyphens or underscores."""
    wanted = re.sub(r"[\s_-]+", " ", text.strip()).upper()
    if wanted not in STATUSES:
        raise usage_error(
            sentence("unknown-status", "no status is called {name!r}", name=text[:80]), one_of(STATUSES)
        )
    return wanted


def checked_priority(text: str) -> str:
    """Check a priority, in any case."""
    wanted = text.strip().upper()
    if wanted not in PRIORITIES:
        raise usage_error(
            sentence("unknown-priority", "no priority is called {name!r}", name=text[:80]), one_of(PRIORITIES)
        )
    return wanted


def checked_estimate(minutes: int) -> int:
    """Check an estimate in minutes."""
    if not 1 <= minutes <= ESTIMATE_MAX:
        raise usage_error(
            sentence(
                "estimate-out-of-range", "an estimate of {minutes} minutes is out of range", minutes=minutes
            ),
            sentence("estimate-range", "1 to {most} minutes", most=ESTIMATE_MAX),
        )
    return minutes


def checked_due_day(text: str) -> str:
    """Check a calendar date, `YYYY-MM-DD`, that exists."""
    wanted = text.strip()
    refused = usage_error(
        sentence("not-a-date", "{text!r} is not a calendar date", text=text[:80]),
        sentence("write-date-as", "write it as YYYY-MM-DD"),
    )
    if not _DATE.fullmatch(wanted):
        raise refused
    try:
        return date.fromisoformat(wanted).isoformat()
    except ValueError:
        raise refused from None


def checked_due_time(text: str) -> str:
    """Check a time of a day in a zone, `YYYY-MM-DDTHH:MM[Area/City]`, or its end behind the `T`.

    The zone may be one that this machine does not know.
    """
    wanted = text.strip()
    if not is_hour(wanted):
        raise usage_error(
            sentence("not-an-hour", "{text!r} is no time of a day in a zone", text=text[:80]),
            sentence("write-hour-as", "write it like 2026-12-24T14:00[Europe/Berlin]"),
        )
    return wanted


def checked_language(text: str) -> str:
    """Check a language code."""
    wanted = text.strip()
    if not _LANGUAGE.fullmatch(wanted):
        raise usage_error(
            sentence("not-a-language", "{text!r} is not a language code", text=text[:80]),
            sentence("write-language-like", "write it like en, de or pt-BR"),
        )
    return wanted


def checked_entry_text(text: str) -> str:
    """Check the text of an entry: not blank, at most 128 KiB; kept as it is."""
    size = len(text.encode())
    if size > ENTRY_BYTES_MAX:
        raise usage_error(
            sentence(
                "text-too-long",
                "a text of {size} bytes is longer than {kib} KiB ({most} bytes)",
                size=size,
                kib=ENTRY_BYTES_MAX >> 10,
                most=ENTRY_BYTES_MAX,
            ),
            sentence("split-into-notes", "split it into several notes"),
        )
    if not text.strip():
        raise usage_error(sentence("note-empty", "a note cannot be empty"))
    return text


def checked_moment(text: str) -> str:
    """Check a point in time with its offset from UTC; kept in UTC."""
    refused = usage_error(
        sentence("not-a-moment", "{text!r} is not a time with its zone", text=text[:80]),
        sentence("write-moment-like", "write it like 2026-03-15T10:20:00Z"),
    )
    try:
        read = datetime.fromisoformat(text.strip())
        utc = read.astimezone(UTC)
    except (ValueError, OverflowError):
        raise refused from None
    if read.tzinfo is None:
        raise refused
    return utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")
