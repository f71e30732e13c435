"""What belongs to a task, in words: the ticks of its items, its stretches of time, and its links.

Never adds stretches up: if they overlap, only the daemon knows their total.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from daemon.task_fields import DAY_FIELDS
from daemon.words.dates import due_words, duration_words, parse_time_s, relative_time
from daemon.words.terminal_text import escape
from daemon.words.translation import _, gettext_noop
from daemon.words.values import author_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from daemon.shapes.answers import ChecklistItemJson, LinkJson, TaskJson, TimeRecordJson
    from daemon.task_fields import TaskField

_TOLD_TO_S: Final = 1
"""The daemon tells its time in whole seconds, rounded down."""
_LINK_WORDS: Final = {
    ("basic", "to"): gettext_noop("relates to"),
    ("basic", "from"): gettext_noop("relates to"),
    ("blocks", "to"): gettext_noop("blocks"),
    ("blocks", "from"): gettext_noop("blocked by"),
    ("follows_up", "to"): gettext_noop("follows up"),
    ("follows_up", "from"): gettext_noop("followed up by"),
    ("duplicates", "to"): gettext_noop("duplicates"),
    ("duplicates", "from"): gettext_noop("duplicated by"),
    ("fixes", "to"): gettext_noop("fixes"),
    ("fixes", "from"): gettext_noop("fixed by"),
}


def tick_words(item: ChecklistItemJson, now_s: float | None) -> str:
    """Say who last set the tick of an item, where and when; nothing if you took it away, or nobody did."""
    checked = bool(item.get("is_checked"))
    by, checked_at = item.get("checked_by"), item.get("checked_at")
    if by == "system":  # nobody has touched it since it followed from a series
        return ""
    proposed = item.get("checked_as_proposed")
    if not by or (not checked and by == "user" and proposed is None):
        return ""
    device = item.get("checked_on") or item.get("checked_device_name")
    words = _("checked by {who}") if checked else _("set by {who}")
    words = words.format(who=author_words(by, device, proposed))
    when = relative_time(checked_at, now_s)
    return f"{words}, {when}" if when else words


def length_words(record: TimeRecordJson, now_s: float | None) -> str:
    """Say how long a record is; of a running one, how long so far; and if it ends before it begins."""
    began_s, ended_s = parse_time_s(record.get("started_at")), parse_time_s(record.get("ended_at"))
    if not record.get("is_running"):
        if began_s is not None and ended_s is not None and ended_s < began_s:
            return _("ends before it begins")
        return duration_words(record.get("minutes") or 0)
    if began_s is None or now_s is None:
        return ""
    return duration_words(max(int(now_s - began_s + _TOLD_TO_S), 0) // 60)


def hour_of(field: TaskField, value_of: Callable[[str], object]) -> object:
    """Return the hour that belongs to the day of a field, if it has one."""
    return value_of("due_time") if field.name == "due" else None


def fact_words(field: TaskField, value_of: Callable[[str], object], now_s: float | None) -> str:
    """Say the day of a field of a task in a line of facts: "due Friday"; nothing for no day."""
    value = value_of(field.name)
    return _(field.fact).format(day=due_words(value, now_s, hour_of(field, value_of))[0]) if value else ""


class DayFacts(NamedTuple):
    """The days of a task in words: one that has passed and should not have, "" for none, and the others."""

    late: str
    facts: list[str]


def day_facts(value_of: Callable[[str], object], now_s: float | None, *, is_over: bool = False) -> DayFacts:
    """Say the days of a task; of one that `is_over` none is late."""
    late, facts = "", list[str]()
    for field in DAY_FIELDS:
        words, days = due_words(value_of(field.name), now_s, hour_of(field, value_of))
        if field.late and days is not None and days < 0 and not is_over:
            late = late or _(field.late).format(day=words)
        elif words and field.fact:
            facts.append(_(field.fact).format(day=words))
    return DayFacts(late, facts)


def spent_words(task: TaskJson) -> str:
    """Say how much time is spent of what was estimated: "2 h 10 min of 3 h"; nothing for neither."""
    spent, estimate = task.get("time_spent_minutes") or 0, task.get("estimate_minutes")
    if spent and estimate:
        return _("{spent} of {estimate}").format(
            spent=duration_words(spent), estimate=duration_words(estimate)
        )
    if spent:
        return _("{spent} spent").format(spent=duration_words(spent))
    return duration_words(estimate) if estimate else ""


def span_words(record: TimeRecordJson) -> str:
    """Say from when to when a record is, on this machine's clock: "2026-11-24 14:05-14:35"."""
    end = _("now") if record.get("is_running") else clock_time(record.get("ended_at"))
    return f"{day_of(record.get('started_at'))} {clock_time(record.get('started_at'))}-{end}"


def day_of(value: object) -> str:
    """Return the day of a moment on this machine as YYYY-MM-DD; what is no moment, as it is."""
    at_s = parse_time_s(value)
    return escape(value or "?") if at_s is None else _local(at_s).date().isoformat()


def clock_time(value: object) -> str:
    """Return the time of day of a moment on this machine: "14:05"; "" for what is no moment."""
    at_s = parse_time_s(value)
    return "" if at_s is None else f"{_local(at_s):%H:%M}"


def task_link_words(link: LinkJson) -> str:
    """Say what a link says, from where it is seen: "blocks", "blocked by"."""
    type_and_direction = (str(link.get("type")), str(link.get("direction")))
    return (
        _(_LINK_WORDS[type_and_direction])
        if type_and_direction in _LINK_WORDS
        else escape(" ".join(type_and_direction))
    )


def _local(at_s: float) -> datetime:
    return datetime.fromtimestamp(at_s, UTC).astimezone()
