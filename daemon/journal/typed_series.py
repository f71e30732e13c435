"""Series as people type them: "every second tuesday", from a day on.

Never decides what a series may be: that is `daemon.journal.series`.
"""

from typing import TypeVar

from msgspec import UNSET, structs

from daemon.dates import durations
from daemon.journal.captured_line import CapturedLine
from daemon.journal.human_input import HumanInput
from daemon.journal.series import NewSeries, SeriesDay, SeriesEdit, SeriesEnd, SeriesMove, SeriesSplit

T = TypeVar("T", NewSeries, SeriesEdit, SeriesSplit, SeriesDay, SeriesEnd, SeriesMove)


def read_typed(human_input: HumanInput, typed: T) -> T:
    """Return what was typed with its rule, its days and its length read. Raises Refused."""
    readers = {
        "every": human_input.rule,
        "due_time": human_input.hour_words,
        "estimate_minutes": durations.parse_minutes,
        **dict.fromkeys(("first", "until", "on", "day", "to", "through"), human_input.due_day),
    }
    values = {name: getattr(typed, name, UNSET) for name in readers}
    first = values["first"]
    if isinstance(first, str) and not isinstance(values["due_time"], str):
        # The first day may be typed with the hour at which each is due.
        values["first"], hour = human_input.due(first)
        values["due_time"] = values["due_time"] if hour is None else hour
    read = {name: readers[name](value) for name, value in values.items() if isinstance(value, str)}
    return structs.replace(typed, **read)


def series_of_line(captured: CapturedLine) -> NewSeries | None:
    """Return the series that a line says; None if what it says does not come again."""
    if captured.every is None:
        return None
    return NewSeries(
        title=captured.title,
        every=captured.every,
        first=None if captured.due is None else captured.due.isoformat(),
        due_time=captured.due_time,
        priority=captured.priority,
        estimate_minutes=captured.estimate_minutes,
        labels=list(captured.labels),
        category=captured.category,
    )
