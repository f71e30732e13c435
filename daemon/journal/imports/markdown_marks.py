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


class Marks(NamedTuple):
    """What is marked; None where it is not."""

    priority: str | None = None
    due: str | None = None
    status: str | None = None
    reason: str | None = None


def marked(heading: str) -> tuple[str, Marks]:
    """Take the marks off the end of a heading."""
    found = _MARKS.search(heading)
    marks = _read(found[1]) if found else None
    if found is None or marks is None:
        return heading, Marks()
    return heading[: found.start()], marks


def _read(written: str) -> Marks | None:
    """Read marks, None where one is said twice or a day is none."""
    told: dict[str, str] = {}
    front, reason = written, None
    if started := re.search(rf"(?:^|, )({'|'.join(WITH_REASON)}): ", written):
        front, reason = written[: started.start()], written[started.end() :]
        told["status"] = started[1]
    for one in filter(None, front.split(", ")):
        name = "priority" if one[0] == "P" else "due" if one.startswith("due ") else "status"
        if name in told:
            return None
        told[name] = one.removeprefix("due ")
    try:
        date.fromisoformat(told.get("due", "2000-01-01"))
    except ValueError:
        return None
    return Marks(told.get("priority"), told.get("due"), told.get("status"), reason)


def written(marks: Marks) -> str:
    """Write marks for the end of a heading, nothing where there are none."""
    # Brackets in a reason would end the marks.
    reason = (marks.reason or "no reason given").translate(_BRACKETS)
    status = f"{marks.status}: {reason}" if marks.status in WITH_REASON else marks.status
    told = [marks.priority, f"due {marks.due}" if marks.due else None, status]
    return f" ({', '.join(filter(None, told))})" if any(told) else ""


_BRACKETS = str.maketrans("()", "[]")
