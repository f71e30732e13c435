"""One finding of `doctor`, and the sentences that several findings contain.

Never looks at anything by itself: the other modules of this folder do.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final

from msgspec import Struct

from store.sentence import Sentence, sentence, sentence_fields

MINUTE_MS = 60_000
_MINUTES_PER_UNIT = ((365 * 1440, "year"), (1440, "day"), (60, "hour"), (1, "minute"))

_SUBJECTS: Final = ("device", "mailbox", "agent", "item", "ask", "model", "address")
"""The keys of `given` that name what a finding is about."""
_Subject = tuple[tuple[str, str | int], ...]


class Check(Struct, frozen=True):
    """One finding: what was checked, whether it is well, what was found, and what to do if it is not.

    `code` and `given` contain the same as data. An empty device name in `given` means this device.
    `found_id` and `remedy_id` name the sentences of `found` and `remedy`, and the parameters are what fills
    them, so that clients can translate them.
    """

    name: str
    well: bool
    found: str
    remedy: str = ""
    code: str = ""
    given: dict[str, str | int] = {}
    found_id: str = ""
    found_params: dict[str, Any] = {}
    remedy_id: str = ""
    remedy_params: dict[str, Any] = {}


def make_check(
    name: str,
    summary: Sentence,
    remedy: Sentence | None = None,
    *,
    well: bool,
    code: str,
    parameters: dict[str, str | int] | None = None,
) -> Check:
    """Make a finding from its sentences. Without a remedy, nothing needs to be done."""
    fields = sentence_fields("found", summary)
    if remedy is not None:
        fields |= sentence_fields("remedy", remedy)
    return Check(name, well, code=code, given=parameters or {}, **fields)


def one_verdict_each(checks: Sequence[Check]) -> list[Check]:
    """Leave out what is called well of a subject that another finding of the same name calls ill.

    The modules that look do not know each other. What is well of nothing named speaks for its whole name.
    """
    ill = {(check.name, _subject(check)) for check in checks if not check.well}
    names = {check.name for check in checks if not check.well}
    return [check for check in checks if not check.well or not _is_denied(check, ill, names)]


def _is_denied(check: Check, ill: Collection[tuple[str, _Subject]], names: Collection[str]) -> bool:
    subject = _subject(check)
    return (check.name, subject) in ill if subject else check.name in names


def _subject(check: Check) -> _Subject:
    """Return what a finding is about, by kind and name; nothing if it is about everything of its name."""
    return tuple((key, check.given[key]) for key in _SUBJECTS if key in check.given)


def whole_minutes(span_ms: int) -> int:
    """Return the length of a time in whole minutes, whether it lies ahead or behind."""
    return abs(span_ms) // MINUTE_MS


def duration_sentence(span_ms: int) -> Sentence:
    """Return the length of a time; clients write it in the plural form that their language has."""
    return sentence("duration", "{text}", text=_duration_text(span_ms), minutes=whole_minutes(span_ms))


def device_sentence(name: str) -> Sentence | str:
    """Return what a device is called in a sentence; without a name, it is this device."""
    return name or sentence("this-device", "this device")


def clocks_remedy(device: Sentence | str) -> Sentence:
    """Return the remedy for clocks that differ, here and on a device."""
    return sentence("check-both-clocks", "check date and time here and on {device}", device=device)


def dates_remedy(device: Sentence | str) -> Sentence:
    """Return the remedy for changes that are dated ahead: of the clock, then of the log of that device."""
    return sentence(
        "date-anew",
        "check date and time here and on {device}; it dates what it writes ahead until it begins a new log: "
        "stop placet there, run placet devices leave, and join again from another device",
        device=device,
    )


def _duration_text(span_ms: int) -> str:
    """Return the length of a time in English, in the largest unit that fits into it."""
    minutes = whole_minutes(span_ms)
    size, unit = next(((size, unit) for size, unit in _MINUTES_PER_UNIT if minutes >= size), (1, "minute"))
    count = minutes // size
    return f"{count} {unit}{'s' * (count != 1)}"
