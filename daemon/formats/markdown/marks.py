"""What a Markdown heading may say of its task behind the title: `(P1, due 2026-03-15, ON HOLD: for Bob)`.

Never takes brackets for marks unless all that is in them is: else they are words of the title.
"""

import re
from datetime import date
from typing import Final, NamedTuple

INLINE: Final = ("GROOMED", "IN PROGRESS", "REJECTED")
WITH_REASON: Final = ("BLOCKED", "ON HOLD")
_ONE = rf"(?:P[0-3]|due \d{{4}}-\d\d-\d\d|{'|'.join(INLINE)})"
_REASON = rf"(?:{'|'.join(WITH_REASON)}): [^()]+"
_MARKS = re.compile(rf" \(({_ONE}(?:, {_ONE})*(?:, {_REASON})?|{_REASON})\)$", re.ASCII)


class HeadingMarks(NamedTuple):
    """The marks of a heading; a field is None if it is not marked."""

    priority: str | None = None
    due: str | None = None
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
        name = "priority" if mark[0] == "P" else "due" if mark.startswith("due ") else "status"
        if name in marks:
            return None
        marks[name] = mark.removeprefix("due ")
    try:
        date.fromisoformat(marks.get("due", "2000-01-01"))
    except ValueError:
        return None
    return HeadingMarks(marks.get("priority"), marks.get("due"), marks.get("status"), reason)


def marks_text(marks: HeadingMarks) -> str:
    """Write marks for the end of a heading; the text is empty if there are none."""
    # Brackets in a reason would end the marks.
    reason = (marks.reason or "no reason given").translate(_BRACKETS)
    status = f"{marks.status}: {reason}" if marks.status in WITH_REASON else marks.status
    parts = [marks.priority, f"due {marks.due}" if marks.due else None, status]
    return f" ({', '.join(filter(None, parts))})" if any(parts) else ""


_BRACKETS = str.maketrans("()", "[]")
