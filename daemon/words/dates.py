"""Times and dates as a person says them, and lengths of time.

Never asks for the time: "now" is the date that the daemon's answer carries. What is
no time is given back escaped.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from typing import Final, NamedTuple

from daemon.words.terminal_text import escape
from daemon.words.translation import _, gettext_noop, ngettext

_DAY: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Both are translated when they are shown, with what CLDR has for them.
_DAYS: Final = (
    gettext_noop("Mon"),
    gettext_noop("Tue"),
    gettext_noop("Wed"),
    gettext_noop("Thu"),
    gettext_noop("Fri"),
    gettext_noop("Sat"),
    gettext_noop("Sun"),
)
_MONTHS: Final = (
    gettext_noop("Jan"),
    gettext_noop("Feb"),
    gettext_noop("Mar"),
    gettext_noop("Apr"),
    gettext_noop("May"),
    gettext_noop("Jun"),
    gettext_noop("Jul"),
    gettext_noop("Aug"),
    gettext_noop("Sep"),
    gettext_noop("Oct"),
    gettext_noop("Nov"),
    gettext_noop("Dec"),
)
_MINUTE_S: Final = 60
_HOUR_S: Final = 3600
_DAY_S: Final = 86400
_YESTERDAY_S: Final = 2 * _DAY_S
_WEEK_S: Final = 7 * _DAY_S
_IN_DAYS_S: Final = _WEEK_S + _HOUR_S
_NEXT_S: Final = {_MINUTE_S: _HOUR_S, _HOUR_S: _DAY_S, _DAY_S: float("inf")}
"""How long it is until a unit gives way to the next one."""
# Beyond it the calendar ends, in some time zone.
_YEAR_9999_S: Final = 253_370_764_800


def parse_time_s(value: object) -> float | None:
    """Read an ISO 8601 time, or Unix milliseconds, as Unix time; None if it is neither."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        at_s = value / 1000
    else:
        try:
            read = datetime.fromisoformat(str(value))
        except ValueError:
            return None
        # A time without a zone is UTC, as everything that Placet stores.
        at_s = (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    return at_s if 0 <= at_s < _YEAR_9999_S else None


def _local(at_s: float) -> datetime:
    return datetime.fromtimestamp(at_s, UTC).astimezone()


def relative_time(value: object, now_s: float | None) -> str:
    """Say when it was or will be: "5 min ago", "in 3 h", "6 Mar"; "" for no time."""
    at_s = parse_time_s(value)
    if at_s is None:
        return "" if value is None else escape(value)
    if now_s is None:
        return _day_and_time(at_s)
    past_s = now_s - at_s
    if -_IN_DAYS_S <= past_s < _WEEK_S:
        return _future_words(-past_s) if past_s < -_MINUTE_S else _past_words(past_s)
    return _day(_local(at_s).date(), _local(now_s).date())


def relative_future_time(value: object, now_s: float | None) -> str:
    """Say when something will be; to `ago`, what is seconds ahead comes from a clock that is fast."""
    at_s = parse_time_s(value)
    if at_s is None or now_s is None or not 0 < at_s - now_s <= _MINUTE_S:
        return relative_time(value, now_s)
    return _("in a moment")


def full_time_words(value: object) -> str:
    """Say a moment so that nobody can take it for another: "Fri 20 Nov 2026, 09:00"."""
    at_s = parse_time_s(value)
    if at_s is None:
        return "" if value is None else escape(value)
    moment = _local(at_s)
    return f"{_weekday_words(moment)}, {moment.hour:02}:{moment.minute:02}"


def day_words(value: object) -> str:
    """Say the day of a moment on this machine: "Fri 20 Nov 2026"."""
    at_s = parse_time_s(value)
    return "" if at_s is None else _weekday_words(_local(at_s))


def _weekday_words(moment: datetime) -> str:
    return _("{weekday} {date}").format(weekday=_(_DAYS[moment.weekday()]), date=_full_day(moment.date()))


def _past_words(past_s: float) -> str:
    if past_s < _MINUTE_S:
        return _("just now")
    if _DAY_S <= past_s < _YESTERDAY_S:
        return _("yesterday")
    count, unit = _span(past_s)
    if unit == "min":
        return ngettext("{count} min ago", "{count} min ago", count).format(count=count)
    if unit == "h":
        return ngettext("{count} h ago", "{count} h ago", count).format(count=count)
    return ngettext("{count} day ago", "{count} days ago", count).format(count=count)


def _future_words(left_s: float) -> str:
    # To the nearest: what was set for seven days is not "in 6 days" a second later.
    near_s = next(unit_s for unit_s in (_MINUTE_S, _HOUR_S, _DAY_S) if left_s + unit_s / 2 < _NEXT_S[unit_s])
    count, unit = _span((left_s + near_s / 2) // near_s * near_s)
    if unit == "min":
        return ngettext("in {count} min", "in {count} min", count).format(count=count)
    if unit == "h":
        return ngettext("in {count} h", "in {count} h", count).format(count=count)
    return ngettext("in {count} day", "in {count} days", count).format(count=count)


def _span(length_s: float) -> tuple[int, str]:
    """Return a length as a whole number of its largest unit."""
    if length_s < _HOUR_S:
        return int(length_s // _MINUTE_S), "min"
    if length_s < _DAY_S:
        return int(length_s // _HOUR_S), "h"
    return int(length_s // _DAY_S), "d"


def _day_and_time(at_s: float) -> str:
    moment = _local(at_s)
    return f"{_full_day(moment.date())}, {moment.hour:02}:{moment.minute:02}"


def _day(day: date, today: date) -> str:
    if day.year != today.year:
        return _full_day(day)
    return _("{day} {month}").format(day=day.day, month=_(_MONTHS[day.month - 1]))


def _full_day(day: date) -> str:
    return _("{day} {month} {year}").format(day=day.day, month=_(_MONTHS[day.month - 1]), year=day.year)


def month_name(month: int) -> str:
    """Return the name of a month in short, 1 for January."""
    return _(_MONTHS[month - 1])


def local_day(now_s: float) -> str:
    """Return the day of a moment on this machine as YYYY-MM-DD."""
    return _local(now_s).date().isoformat()


def noon_s(day: str) -> float:
    """Return the noon of a day (YYYY-MM-DD) on this machine, as Unix time."""
    return datetime.combine(date.fromisoformat(day), time(12)).astimezone().timestamp()


def due_words(text: object, now_s: float | None, hour: object = None) -> tuple[str, int | None]:
    """Say when something is due, and in how many days (negative: overdue; None: unknown).

    `hour` is the hour of that day as the API gives it, if it has one: "tomorrow 14:00".
    """
    try:
        day = date.fromisoformat(str(text) if _DAY.fullmatch(str(text)) else "")
    except ValueError:
        return ("" if text is None else escape(text)), None
    clock, at_s = _hour(hour)
    if now_s is None:
        return f"{day.isoformat()}{clock}", None
    today = _local(now_s).date()
    days = (day - today).days
    words = f"{_due_words(day, today, days)}{clock}"
    return words, -1 if days == 0 and at_s is not None and at_s < now_s else days


def hour_words(hour: object) -> str:
    """Say the hour of a day, as the API gives it, behind the day: " 14:00"; "" for none."""
    return _hour(hour)[0]


def _hour(hour: object) -> tuple[str, float | None]:
    """Say an hour, with its zone if the clocks here show another one then; and return its moment."""
    if not isinstance(hour, str):
        return "", None
    # Most tasks have no hour, and zones cost something to import.
    from daemon.due_time import read_due_time

    due_time = read_due_time(hour)
    if due_time is None:
        return "", None
    moment = due_time.moment(_local(0).tzinfo or UTC)
    is_of_here = _local(moment.timestamp()).replace(tzinfo=None) == datetime.combine(
        due_time.day, due_time.clock
    )
    zone = "" if is_of_here else f" {due_time.zone}"
    return f" {due_time.clock:%H:%M}{zone}", moment.timestamp()


def _due_words(day: date, today: date, days: int) -> str:
    near = {-1: _("yesterday"), 0: _("today"), 1: _("tomorrow")}
    if days in near:
        return near[days]
    if 1 < days < 7:
        return _(_DAYS[day.weekday()])
    return _day(day, today)


class FullDay(NamedTuple):
    """A day said in full, and whether it has passed."""

    words: str
    is_past: bool


def full_day_words(text: object, now_s: float | None) -> FullDay:
    """Say a day so that nobody can take it for another: "Fri 20 Nov 2026"."""
    try:
        day = date.fromisoformat(str(text))
    except ValueError:
        return FullDay(escape(text), False)
    words = _("{weekday} {date}").format(weekday=_(_DAYS[day.weekday()]), date=_full_day(day))
    return FullDay(words, now_s is not None and day < _local(now_s).date())


def clock_length_words(seconds: float) -> str:
    """Say a length by the clock in one unit, to be read back as the same: "7 days", "90 min", "2.5 s"."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds and not seconds % 86400:
            days = int(seconds // 86400)
            return ngettext("{count} day", "{count} days", days).format(count=days)
        if seconds and not seconds % size:
            return f"{int(seconds // size)} {unit}"
    return f"{seconds:.10g} s"


def duration_words(value: object) -> str:
    """Say a number of minutes: "45 min", "2 h", "2 h 30 min"."""
    if not isinstance(value, int) or isinstance(value, bool):
        return escape(value)
    hours, rest = divmod(value, 60)
    parts = [f"{hours} h"] * bool(hours) + [f"{rest} min"] * bool(rest or not hours)
    return " ".join(parts)
