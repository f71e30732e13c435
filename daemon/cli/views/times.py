"""Time: timers that run, records that ended, and how much of a task's estimate is spent.

Never adds stretches up: where they overlap only the daemon knows what they come to.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from daemon.cli.short import shorts
from daemon.cli.table import Cell, Column, table
from daemon.cli.text import cut, shown
from daemon.cli.when import minutes, moment_s
from daemon.cli.words import _, later

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.shapes import Task, TimeRecord

_SHOWN_MAX: Final = 5
_TOLD_TO_S: Final = 1
"""The daemon tells its time in whole seconds, rounded down."""
_NOTE_WIDTH_MAX: Final = 40
_COLUMNS: Final = (
    Column(later("ID")),
    Column(later("DAY")),
    Column(later("FROM")),
    Column(later("TO")),
    Column(later("TIME")),
    Column(later("TASK"), gives=True),
    Column(later("NOTE"), width_max=20),
    Column(later("DEVICE"), width_max=12),
)


def time_rows(records: Iterable[TimeRecord]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, task's id, start, end, minutes, note, device, title."""
    for record in records:
        get = record.get
        yield (
            get("id"),
            get("task_id"),
            get("started_at"),
            get("ended_at"),
            get("minutes"),
            get("note"),
            get("device_name"),
            get("task_title"),
        )


def time_table(records: Sequence[TimeRecord], look: Look) -> Iterator[str]:
    """Draw records as a table; those of one device name it only where there are several."""
    ids = shorts(records)
    several = len({record.get("device") for record in records}) > 1
    rows = [_cells(record, ids.get(record.get("id", ""), ""), several, look) for record in records]
    return table(_COLUMNS, rows, look) if rows else iter(())


def _cells(record: TimeRecord, short: str, several: bool, look: Look) -> list[Cell]:
    running = bool(record.get("is_running"))
    return [
        Cell(shown(short), ("cyan",)),
        Cell(_day(record.get("started_at"))),
        Cell(_clock(record.get("started_at"))),
        Cell(_("now") if running else _clock(record.get("ended_at"))),
        Cell(length_words(record, look), ("green",) if running else ()),
        Cell(shown(record.get("task_title") or ""), ("dim",) if record.get("removed") else ()),
        Cell(shown(record.get("note") or ""), ("dim",)),
        Cell(shown(record.get("device_name") or "") if several else "", ("dim",)),
    ]


def timer_lines(records: Sequence[TimeRecord], look: Look) -> Iterator[str]:
    """Say which timers run, for how long, and where, if not here."""
    ids = shorts(records)
    for record in records:
        short = look.paint(shown(ids.get(record.get("id", ""), "")), "cyan")
        here = bool(record.get("is_here"))
        sign = look.paint(look.sign("●" if here else "○"), "green")
        since = _("since {time}").format(time=_begun(record, look))
        device = shown(record.get("device_name") or _("another device"))
        where = "" if here else _("on {device}").format(device=device)
        facts = ", ".join(part for part in (length_words(record, look), since, where) if part)
        note = look.paint(cut(shown(record.get("note") or ""), _NOTE_WIDTH_MAX), "dim")
        title = shown(record.get("task_title") or _("a task that is not here"))
        yield "  ".join(part for part in (f"{sign} {short}", title, facts, note) if part)


def time_done(verb: str, records: Sequence[TimeRecord], look: Look) -> Iterator[str]:
    """Answer a change of records: what was done, the id, how long, the task."""
    ids = shorts(records)
    sign = look.paint(look.sign("✓"), "green")
    for record in records:
        short = look.paint(shown(ids.get(record.get("id", ""), "")), "cyan")
        length = length_words(record, look)
        told = f"{sign} {verb} {short}  {shown(record.get('task_title') or '')}"
        yield f"{told}  {look.paint(length, 'dim')}" if length else told


def length_words(record: TimeRecord, look: Look) -> str:
    """Say how long a record is, of a running one how long so far, and where it ends before it begins."""
    began_s, ended_s = moment_s(record.get("started_at")), moment_s(record.get("ended_at"))
    if not record.get("is_running"):
        if began_s is not None and ended_s is not None and ended_s < began_s:
            return _("ends before it begins")
        return minutes(record.get("minutes") or 0)
    if began_s is None or look.now_s is None:
        return ""
    return minutes(max(int(look.now_s - began_s + _TOLD_TO_S), 0) // 60)


def spent_words(task: Task) -> str:
    """Say how much time is spent of what was estimated: "2 h 10 min of 3 h"; nothing for neither."""
    spent, estimate = task.get("time_spent_minutes") or 0, task.get("estimate_minutes")
    if spent and estimate:
        return _("{spent} of {estimate}").format(spent=minutes(spent), estimate=minutes(estimate))
    if spent:
        return _("{spent} spent").format(spent=minutes(spent))
    return minutes(estimate) if estimate else ""


def time_lines(task: Task, look: Look) -> Iterator[str]:
    """Draw the time of a task, the newest records last."""
    records = task.get("times") or ()
    if not records:
        return
    spent = minutes(task.get("time_spent_minutes") or 0)
    yield ""
    yield f"{look.paint(_('Time'), 'bold')}  {look.paint(spent, 'dim')}"
    ids = shorts(records)
    if len(records) > _SHOWN_MAX:
        earlier = _("{count} earlier ones: placet timer list TASK")
        yield look.paint(f"  {earlier.format(count=len(records) - _SHOWN_MAX)}", "dim")
    several = len({record.get("device") for record in records}) > 1
    for record in records[-_SHOWN_MAX:]:
        yield f"  {_line(record, ids.get(record.get('id', ''), ''), several, look)}"


def _line(record: TimeRecord, short: str, several: bool, look: Look) -> str:
    running = bool(record.get("is_running"))
    end = _("now") if running else _clock(record.get("ended_at"))
    device = record.get("device_name") if several else ""
    told = [
        look.paint(shown(short), "cyan"),
        f"{_day(record.get('started_at'))} {_clock(record.get('started_at'))}-{end}",
        look.paint(length_words(record, look), *(("green",) if running else ())),
        cut(shown(record.get("note") or ""), _NOTE_WIDTH_MAX),
        look.paint(_("on {device}").format(device=shown(device)), "dim") if device else "",
    ]
    return "  ".join(part for part in told if part)


def _begun(record: TimeRecord, look: Look) -> str:
    began_s = moment_s(record.get("started_at"))
    if began_s is None or look.now_s is None:
        return shown(record.get("started_at") or "")
    day, today = _day(record.get("started_at")), _local(look.now_s).date().isoformat()
    clock = _clock(record.get("started_at"))
    return clock if day == today else f"{day} {clock}"


def _local(at_s: float) -> datetime:
    return datetime.fromtimestamp(at_s, UTC).astimezone()


def _day(value: object) -> str:
    at_s = moment_s(value)
    return shown(value or "?") if at_s is None else _local(at_s).date().isoformat()


def _clock(value: object) -> str:
    at_s = moment_s(value)
    return "" if at_s is None else f"{_local(at_s):%H:%M}"
