"""What a person typed, read in their own terms: their day, their zone, their language.

Never stands before what programs send: imports and agents write dates in one form only.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, tzinfo

from msgspec.structs import replace

from daemon.dates import durations, grammar
from daemon.dates.captured_line import CapturedLine, read_line
from daemon.journal.tasks import NewTask, TaskEdit


class HumanInput:
    """Reads days and times as they are typed on this device."""

    __slots__ = ("_language", "_now_ms", "_zone")

    def __init__(self, now_ms: Callable[[], int], zone: tzinfo, language: str) -> None:
        self._now_ms = now_ms
        self._zone = zone
        self._language = language

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._now_ms() / 1000, UTC).astimezone(self._zone)

    def today(self) -> date:
        """Return the day that it is here."""
        return self._now().date()

    def due_day(self, words: str) -> str | None:
        """Read a day on which something is due; None clears. Raises Refused."""
        day = grammar.parse_due_day(words, self.today(), self._language)
        return None if day is None else day.isoformat()

    def moment(self, words: str, prefer: grammar.TimeDirection = "past") -> datetime:
        """Read a point in time, in UTC. Raises Refused."""
        return grammar.parse_moment(words, self._now(), self._zone, self._language, prefer)

    def captured_line(self, line: str) -> CapturedLine:
        """Split the day and the length off the end of a line that notes a task."""
        return read_line(line, self.today(), self._language)

    def read_new_task(self, new: NewTask) -> NewTask:
        """Return the task to add with its day and its length read."""
        due = None if new.due is None else self.due_day(new.due)
        minutes = new.estimate_minutes
        return replace(
            new,
            due=due,
            estimate_minutes=durations.parse_minutes(minutes) if isinstance(minutes, str) else minutes,
        )

    def read_task_edit(self, change: TaskEdit) -> TaskEdit:
        """Return the change with its day and its length read."""
        due = self.due_day(change.due) if isinstance(change.due, str) else change.due
        minutes = change.estimate_minutes
        estimate = durations.parse_minutes(minutes) if isinstance(minutes, str) else minutes
        return replace(change, due=due, estimate_minutes=estimate)
