"""What a person typed, read in their own terms: their day, their zone, their language.

Never stands before what programs send: imports and agents write dates in one form only.
"""

from collections.abc import Callable, Collection
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

from msgspec.structs import replace

from daemon.dates import durations, grammar, hours
from daemon.dates.date_language import date_language
from daemon.dates.day_reckoner import DatesRead, reckon_days
from daemon.dates.recurrence_words import parse_recurrence
from daemon.dates.zone_time import beginning_in_utc
from daemon.due_time import DueTime, is_hour, known_zone, name_of_zone, read_due_time
from daemon.journal.captured_line import CapturedLine, read_line
from daemon.journal.fields.validation import PRIORITY_DEFAULT
from daemon.journal.references.names import names_by_id
from daemon.journal.tasks import NewTask, TaskEdit
from daemon.refusal import Refused, usage_error
from daemon.task_fields import TASK_FIELDS, FieldType
from store.sentence import sentence
from store.snapshot import Snapshot

# What is reckoned from a moment lies in other years, and no date has more than four digits.
_YEAR_LEAST: Final = 1900
_YEAR_MOST: Final = 2999


def _iso_moment(text: str, zone: tzinfo) -> datetime | None:
    """Read a moment in ISO 8601, which is aware; None for any other text, and for one of a far year."""
    try:
        moment = datetime.fromisoformat(text)
        local = moment.astimezone(zone) if moment.tzinfo else moment.replace(tzinfo=zone)
    except (ValueError, OverflowError):
        return None
    return local if _YEAR_LEAST <= local.year <= _YEAR_MOST else None


class HumanInput:
    """Reads days and times as they are typed on this device.

    `language` is that of whoever typed; a function, if not all who type here read the same one. `zone` is a
    function where the device may travel: it is asked each time.
    """

    __slots__ = ("_language", "_zone", "now_ms")

    def __init__(
        self,
        now_ms: Callable[[], int],
        zone: tzinfo | Callable[[], tzinfo],
        language: str | Callable[[], str],
    ) -> None:
        self.now_ms = now_ms
        self._zone = zone if callable(zone) else lambda: zone
        self._language = language if callable(language) else lambda: language

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.now_ms() / 1000, UTC).astimezone(self._zone())

    def today(self) -> date:
        """Return the day that it is here."""
        return self._now().date()

    def due_day(self, words: str) -> str | None:
        """Read a day on which something is due; None clears. Raises Refused."""
        day = grammar.parse_due_day(words, self.today(), self._language())
        return None if day is None else day.isoformat()

    def due(self, words: str) -> tuple[str | None, str | None]:
        """Read when something is due: its day, and its hour if the words say one. Raises Refused."""
        if not hours.names_an_hour(words, self._language()):
            return self.due_day(words), None
        hour = self.due_time(words)
        return hour.day.isoformat(), hour.text()

    def due_time(self, words: str) -> DueTime:
        """Read an hour, of the next day on which it comes if the words name none. Raises Refused."""
        if (kept := read_due_time(words.strip())) is not None:
            return kept
        # A zone without a name is kept as the one that all machines know.
        zone = self._zone() if name_of_zone(self._zone()) else UTC
        local = self.moment(words, prefer="future").astimezone(zone)
        return DueTime(local.date(), local.time().replace(second=0, microsecond=0), self.zone_name())

    def hour_words(self, words: str) -> str | None:
        """Read the hour of a task, of its own day if the words name none; None clears. Raises Refused."""
        text = words.strip()
        if hours.means_nothing(text):
            return None
        if is_hour(text):
            return text
        return self.clock_or_none(text) or self.due_time(text).text()

    def clock_or_none(self, words: str) -> str | None:
        """Read an hour that names no day, as a series keeps it; None for what names one, or no hour."""
        clock = hours.clock_alone(words, self._language())
        return None if clock is None else f"{clock:%H:%M}[{self.zone_name()}]"

    def hour_or_none(self, words: str) -> DueTime | None:
        """Read an hour as `due_time` does; None for what names none, or more than one."""
        try:
            return self.due_time(words) if hours.names_an_hour(words, self._language()) else None
        except Refused:
            return None

    def rule(self, words: str) -> str:
        """Read how often something comes, as the journal keeps it. Raises Refused."""
        return parse_recurrence(words, self._language())

    def zone_name(self) -> str:
        """Return the name of the zone that this device is in; UTC if it is not known."""
        return name_of_zone(self._zone()) or "UTC"

    def week_of(self, day: date) -> date:
        """Return the first day of a day's week: Sunday where people write the month first, else Monday."""
        begins_on_sunday = date_language(self._language()).month_first
        return day - timedelta(days=(day.weekday() + begins_on_sunday) % 7)

    def beginning_ms(self, day: date) -> int:
        """Return when a day begins here, in Unix milliseconds; a day of 23 or 25 hours is as long."""
        return round(beginning_in_utc(day, self._zone()).timestamp() * 1000)

    def past_day(self, words: str) -> date:
        """Read a day that has been, such as last monday; today for no words. Raises Refused."""
        if not words:
            return self.today()
        return self.moment(words).astimezone(self._zone()).date()

    def latest_start(self, wanted: bool) -> str | None:
        """Return the day by which tasks have begun that a list shows, if it is asked for those alone."""
        return self.today().isoformat() if wanted else None

    def day(self, words: str) -> date:
        """Read the day that a list is of, today for no words. Raises Refused, also if they mean no day."""
        day = self.due_day(words) if words else self.today().isoformat()
        if day is None:
            raise usage_error(
                sentence("no-day", "{words!r} is no day", words=words[:80]),
                sentence("name-a-day", "name a day, such as tomorrow or 2026-12-24"),
            )
        return date.fromisoformat(day)

    def moment(self, words: str, prefer: grammar.TimeDirection = "past") -> datetime:
        """Read a point in time, in UTC. Raises Refused."""
        zone = self._zone()
        return grammar.parse_moment(words, self._now().astimezone(zone), zone, self._language(), prefer)

    def reckon_days(self, text: str, moment: str, zone: str, language: str | None) -> DatesRead:
        """Read what a text says of time, at a moment in ISO 8601 and in a zone; now and here if empty.

        Raises Refused for a zone that this machine does not know, and for what is no such moment.
        """
        asked_zone = known_zone(zone) if zone else self._zone()
        if asked_zone is None:
            raise usage_error(
                sentence("zone-unknown", "this machine knows no time zone {zone!r}", zone=zone),
                sentence("name-iana-zone", "name it as the IANA does, such as Europe/Berlin"),
            )
        now = _iso_moment(moment, asked_zone) if moment else self._now()
        if now is None:
            raise usage_error(
                sentence("moment-not-iso", "{moment!r} is no moment in ISO 8601", moment=moment),
                sentence("write-iso-moment", "write it like 2026-12-24T14:00, with an offset or without"),
            )
        return reckon_days(text, now, asked_zone, zone or self.zone_name(), language or self._language())

    def captured_line(
        self, snapshot: Snapshot, line: str, *, keep: Collection[str] = (), given: Collection[str] = ()
    ) -> CapturedLine:
        """Split the values off the end of a line that notes a task; see `read_line`."""
        names = names_by_id(snapshot, "category").values() if "@" in line else ()
        return read_line(
            line,
            self.today(),
            self._language(),
            categories=names,
            keep=keep,
            given=given,
            hour_of=self.hour_or_none,
            clock_of=self.clock_or_none,
        )

    def read_captured_task(self, snapshot: Snapshot, line: str, *, keep: Collection[str] = ()) -> NewTask:
        """Return the task to add that a line says; what `keep` has of it stays in the title."""
        captured = self.captured_line(snapshot, line, keep=keep)
        return NewTask(
            title=captured.title,
            due=captured.due.isoformat() if captured.due is not None else None,
            due_time=captured.due_time,
            estimate_minutes=captured.estimate_minutes,
            labels=list(captured.labels),
            category=captured.category,
            priority=captured.priority or PRIORITY_DEFAULT,
        )

    def read_new_task(self, new: NewTask) -> NewTask:
        """Return the task to add with its days and its length read."""
        return replace(new, **self._read_words(new))

    def read_task_edit(self, change: TaskEdit) -> TaskEdit:
        """Return the change with its days and its length read."""
        return replace(change, **self._read_words(change))

    def _read_words(self, typed: NewTask | TaskEdit) -> dict[str, str | int | None]:
        """Return the fields that people fill in their own words, as far as they did."""
        readers: dict[FieldType, Callable[[str], str | int | None]] = {
            "day": self.due_day,
            "due_time": self.hour_words,
            "minutes": durations.parse_minutes,
        }
        given = {
            field: words
            for field in TASK_FIELDS
            if field.type in readers and isinstance(words := getattr(typed, field.name), str)
        }
        due_fields: dict[str, str | int | None] = {}
        if isinstance(typed.due, str) and not isinstance(typed.due_time, str):
            due, hour = self.due(typed.due)
            due_fields = {"due": due} if hour is None else {"due": due, "due_time": hour}
        return {
            field.name: readers[field.type](words)
            for field, words in given.items()
            if field.name not in due_fields
        } | due_fields
