"""The hour at which something is due: what the clocks of a zone show on the day on which it is due.

It is kept as a text such as 2030-12-24T14:00[Europe/Berlin], beside the day. The day in it binds it: if the
two differ, somebody who knows no hours has changed the day since, and the hour no longer counts.

Never decides on which day something is due: the day of the task does.
"""

import re
from datetime import UTC, date, datetime, time, tzinfo
from functools import lru_cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_ZONE_CHARS_MAX: Final = 64
_FORM: Final = re.compile(
    rf"(\d{{4}}-\d{{2}}-\d{{2}})T(\d{{2}}:\d{{2}})\[([A-Za-z][A-Za-z0-9_+/-]{{0,{_ZONE_CHARS_MAX - 1}}})\]",
    re.ASCII,
)


class DueTime(NamedTuple):
    """A day, the time that the clocks show then, and the name of their zone, as the IANA calls it."""

    day: date
    clock: time
    zone: str

    def text(self) -> str:
        """Return it as the journal keeps it."""
        return f"{self.day.isoformat()}T{self.clock:%H:%M}[{self.zone}]"

    def moment(self, here: tzinfo) -> datetime:
        """Return the moment in UTC. A zone that this machine does not know is taken for the one `here`.

        Of a time that the clocks show twice it is the first; for one that they skip they show another.
        """
        local = datetime.combine(self.day, self.clock, known_zone(self.zone) or here)
        try:
            return local.astimezone(UTC)
        except OverflowError:
            return local.replace(tzinfo=UTC)


@lru_cache(256)
def known_zone(name: str) -> ZoneInfo | None:
    """Return a zone by its name, or None if this machine does not know it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def read_due_time(text: object) -> DueTime | None:
    """Read an hour as the journal keeps it; None for anything else."""
    form = _FORM.fullmatch(text) if isinstance(text, str) else None
    if form is None:
        return None
    try:
        return DueTime(date.fromisoformat(form[1]), time.fromisoformat(form[2]), form[3])
    except ValueError:
        return None


def hour_on_day(day: object, text: object) -> DueTime | None:
    """Read an hour that names no day, 14:00[Europe/Berlin], as that of a day; None if either is none."""
    return read_due_time(f"{day}T{text}")


def name_of_zone(zone: tzinfo) -> str | None:
    """Return what the IANA calls a zone; None for one that only has an offset."""
    return "UTC" if zone is UTC else getattr(zone, "key", None)


def hour_of_moment(day: date, moment: datetime, zone: tzinfo) -> DueTime | None:
    """Return a moment as the hour of a day, in a zone, else in UTC; None if it is on another day."""
    for shown in (zone, UTC):
        local = moment.astimezone(shown)
        name = name_of_zone(shown)
        if name is not None and local.date() == day:
            return DueTime(day, time(local.hour, local.minute), name)
    return None


def hour_without_day(text: str) -> str | None:
    """Return the end of an hour, which names no day; None for a text that is no hour."""
    return text.rpartition("T")[2] if is_hour(text) else None


def is_hour(text: str) -> bool:
    """Report whether a text is an hour as it is kept, or its end, which names no day."""
    return read_due_time(text) is not None or hour_on_day(date.min, text) is not None


def due_time_on(day: object, text: object) -> DueTime | None:
    """Return the hour of what is due on a day; None without one, and if it belongs to another day."""
    due_time = read_due_time(text)
    return due_time if due_time is not None and due_time.day.isoformat() == day else None
