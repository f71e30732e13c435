"""How often something comes, in a person's words: "every second Tuesday of the month".

Never reads what a person typed: it says the rule that the journal keeps. What it has no words for, it gives
back as it is, escaped.
"""

from __future__ import annotations

import re
from typing import Final

from daemon.words.dates import month_name
from daemon.words.terminal_text import escape
from daemon.words.translation import _, gettext_noop, ngettext

_WEEKDAYS: Final = {
    "MO": gettext_noop("Monday"),
    "TU": gettext_noop("Tuesday"),
    "WE": gettext_noop("Wednesday"),
    "TH": gettext_noop("Thursday"),
    "FR": gettext_noop("Friday"),
    "SA": gettext_noop("Saturday"),
    "SU": gettext_noop("Sunday"),
}
_NTH: Final = {
    1: gettext_noop("first {weekday}"),
    2: gettext_noop("second {weekday}"),
    3: gettext_noop("third {weekday}"),
    4: gettext_noop("fourth {weekday}"),
    5: gettext_noop("fifth {weekday}"),
    -1: gettext_noop("last {weekday}"),
}
_WORKDAYS: Final = "MO,TU,WE,TH,FR"
_NTH_WEEKDAY: Final = re.compile(r"([+-]?\d{1,2})(MO|TU|WE|TH|FR|SA|SU)", re.ASCII)
_LAST_DAY: Final = "-1"
_SAID: Final = frozenset({"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYMONTH", "COUNT"})


def often_words(rule: str, hour: str | None) -> str:
    """Say how often a task comes, and the hour of a series if it has one: "every Friday 09:00"."""
    return f"{rule_words(rule)} {hour.partition('[')[0]}" if hour else rule_words(rule)


def rule_words(rule: str) -> str:
    """Say how often something comes: "every 2 weeks on Friday", "3 days after it was done"."""
    parts = dict(part.partition("=")[::2] for part in rule.split(";"))
    try:
        if rule.startswith("AFTER="):
            days = int(rule.removeprefix("AFTER="))
            words = ngettext("{count} day after it was done", "{count} days after it was done", days)
            return words.format(count=days)
        words = _words(parts) if parts.keys() <= _SAID else ""
        times = int(parts.get("COUNT", "0"))
    except ValueError:
        words, times = "", 0
    if not words:
        return escape(rule)
    if times:
        counted = ngettext("{rule}, {count} time", "{rule}, {count} times", times)
        return counted.format(rule=words, count=times)
    return words


def _words(parts: dict[str, str]) -> str:
    """Say a rule; "" for one that there are no words for. Raises ValueError."""
    count = int(parts.get("INTERVAL", "1"))
    days, month_days, months = (parts.get(name, "") for name in ("BYDAY", "BYMONTHDAY", "BYMONTH"))
    match parts.get("FREQ"), bool(days), bool(month_days), bool(months):
        case "DAILY", False, False, False:
            return ngettext("every day", "every {count} days", count).format(count=count)
        case "WEEKLY", has_days, False, False:
            return _weekly(count, days if has_days else "")
        case "MONTHLY", has_days, has_month_days, False if not (has_days and has_month_days):
            return _monthly(count, days, month_days)
        case "YEARLY", has_days, has_month_days, _ if not (has_days and has_month_days):
            return _yearly(count, days, month_days, months)
    return ""


def _weekly(count: int, days: str) -> str:
    if not days:
        return ngettext("every week", "every {count} weeks", count).format(count=count)
    weekdays = ", ".join(_(_WEEKDAYS[day]) if day in _WEEKDAYS else "" for day in days.split(","))
    if not all(weekdays.split(", ")):
        return ""
    if count == 1:
        return _("every weekday") if days == _WORKDAYS else _("every {weekdays}").format(weekdays=weekdays)
    words = ngettext("every {count} week on {weekdays}", "every {count} weeks on {weekdays}", count)
    return words.format(count=count, weekdays=weekdays)


def _monthly(count: int, days: str, month_days: str) -> str:
    every = ngettext("every month", "every {count} months", count).format(count=count)
    if not days and not month_days:
        return every
    if month_days == _LAST_DAY:
        return _("{every} on the last day").format(every=every)
    if month_days:
        is_counted = all(day.isdigit() for day in month_days.split(","))
        numbers = month_days.replace(",", ", ")
        return _("{every} on day {days}").format(every=every, days=numbers) if is_counted else ""
    named = _nth_words(days)
    return _("{every} on the {days}").format(every=every, days=named) if named else ""


def _yearly(count: int, days: str, month_days: str, months: str) -> str:
    every = ngettext("every year", "every {count} years", count).format(count=count)
    if not (days or month_days or months):
        return every
    if "," in months or not months.isdigit() or not 1 <= int(months) <= 12:
        return ""
    month = month_name(int(months))
    if days:
        named = _nth_words(days)
        words = _("{every} on the {days} in {month}")
        return words.format(every=every, days=named, month=month) if named else ""
    if not month_days.isdigit():
        return ""
    return _("{every} on {day} {month}").format(every=every, day=month_days, month=month)


def _nth_words(days: str) -> str:
    matches = [_NTH_WEEKDAY.fullmatch(day) for day in days.split(",")]
    named = [
        _(_NTH[int(match[1])]).format(weekday=_(_WEEKDAYS[match[2]]))
        for match in matches
        if match is not None and int(match[1]) in _NTH
    ]
    return ", ".join(named) if len(named) == len(matches) else ""
