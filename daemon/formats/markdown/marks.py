"""What a Markdown heading may say of its task behind the title: `(P1, due 2026-03-15, ON HOLD: for Bob)`.

Never takes brackets for marks unless all that is in them is: else they are words of the title.
"""

import re
from typing import Final, NamedTuple

from daemon.formats.core.extension_fields import read_day

INLINE: Final = ("GROOMED", "IN PROGRESS", "REJECTED")
WITH_REASON: Final = ("BLOCKED", "ON HOLD")
_DAYS: Final = ("due", "start")
_ONE = rf"(?:P[0-3]|(?:{'|'.join(_DAYS)}) \d{{4}}-\d\d-\d\d|{'|'.join(INLINE)})"
_REASON = rf"(?:{'|'.join(WITH_REASON)}): [^()]+"
_MARKS = re.compile(rf" \(({_ONE}(?:, {_ONE})*(?:, {_REASON})?|{_REASON})\)$", re.ASCII)


class HeadingMarks(NamedTuple):
    """The marks of a heading; a field is None if it is not marked."""

    priority: str | None = None
    due: str | None = None
    start: str | None = None
    status: str | None = None
    reason: str | None = None


def split_marks(heading: str) -> tuple[str, HeadingMarks]:
    """Take the marks off the end of a heading."""
    match = _MARKS.search(heading)
    marks = _read_marks(match[1]) if match else None
    if match is None or marks is None:
        return heading, HeadingMarks()
    return heading[: match.start()], marks


def _read_marks(text: str) -> HeadingMarks | None:
    """Read marks. Return None if a mark occurs twice or a day does not exist."""
    marks: dict[str, str] = {}
    front, reason = text, None
    if started := re.search(rf"(?:^|, )({'|'.join(WITH_REASON)}): ", text):
        front, reason = text[: started.start()], text[started.end() :]
        marks["status"] = started[1]
    for mark in filter(None, front.split(", ")):
        word, _, day = mark.partition(" ")
        name = word if word in _DAYS else "priority" if mark[0] == "P" else "status"
        if name in marks or (name in _DAYS and read_day(day) is None):
            return None
        marks[name] = day if name in _DAYS else mark
    return HeadingMarks(**marks, reason=reason)


def marks_text(marks: HeadingMarks) -> str:
    """Write marks for the end of a heading; the text is empty if there are none."""
    # Brackets in a reason would end the marks.
    reason = (marks.reason or "no reason given").translate(_BRACKETS)
    status = f"{marks.status}: {reason}" if marks.status in WITH_REASON else marks.status
    days = [f"{name} {day}" for name in _DAYS if (day := getattr(marks, name))]
    parts = [marks.priority, *days, status]
    return f" ({', '.join(filter(None, parts))})" if any(parts) else ""


_BRACKETS = str.maketrans("()", "[]")
