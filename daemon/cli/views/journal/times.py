"""Time: timers that run, records that ended, and how much of a task's estimate is spent.

Never adds stretches up: if they overlap, only the daemon knows their total.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, Final

from daemon.cli.terminal.table import Cell, Column, table_lines
from daemon.words.dates import duration_words, parse_time_s
from daemon.words.short_ids import short_ids_of
from daemon.words.task_parts import clock_time, day_of, length_words, span_words
from daemon.words.terminal_text import escape, truncate
from daemon.words.translation import _, gettext_noop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import TaskJson, TimeRecordJson

_SHOWN_MAX: Final = 5
_FORMULA_SIGNS: Final = ("=", "+", "-", "@")
_TOTAL_COLUMNS: Final = (Column(gettext_noop("TIME")), Column(gettext_noop("NAME"), shrinks=True))
_NOTE_WIDTH_MAX: Final = 40
_COLUMNS: Final = (
    Column(gettext_noop("ID")),
    Column(gettext_noop("DAY")),
    Column(gettext_noop("FROM")),
    Column(gettext_noop("TO")),
    Column(gettext_noop("TIME")),
    Column(gettext_noop("TASK"), shrinks=True),
    Column(gettext_noop("NOTE"), width_max=20),
    Column(gettext_noop("DEVICE"), width_max=12),
)


def time_rows(records: Iterable[TimeRecordJson]) -> Iterator[Sequence[object]]:
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


def time_table(records: Sequence[TimeRecordJson], display: Display) -> Iterator[str]:
    """Draw records as a table; the device is named only if there are several."""
    ids = short_ids_of(records)
    several = len({record.get("device") for record in records}) > 1
    rows = [_cells(record, ids.get(record.get("id", ""), ""), several, display) for record in records]
    return table_lines(_COLUMNS, rows, display) if rows else iter(())


def _cells(record: TimeRecordJson, short: str, several: bool, display: Display) -> list[Cell]:
    running = bool(record.get("is_running"))
    return [
        Cell(escape(short), ("cyan",)),
        Cell(day_of(record.get("started_at"))),
        Cell(clock_time(record.get("started_at"))),
        Cell(_("now") if running else clock_time(record.get("ended_at"))),
        Cell(length_words(record, display.now_s), ("green",) if running else ()),
        Cell(escape(record.get("task_title") or ""), ("dim",) if record.get("removed") else ()),
        Cell(escape(record.get("note") or ""), ("dim",)),
        Cell(escape(record.get("device_name") or "") if several else "", ("dim",)),
    ]


def timer_lines(records: Sequence[TimeRecordJson], display: Display) -> Iterator[str]:
    """Say which timers run, for how long, and where, if not here."""
    ids = short_ids_of(records)
    for record in records:
        short = display.paint(escape(ids.get(record.get("id", ""), "")), "cyan")
        is_here = bool(record.get("is_here"))
        sign = display.paint(display.symbol("●" if is_here else "○"), "green")
        since = _("since {time}").format(time=_start_words(record, display))
        device = escape(record.get("device_name") or _("another device"))
        where = "" if is_here else _("on {device}").format(device=device)
        facts = ", ".join(part for part in (length_words(record, display.now_s), since, where) if part)
        note = display.paint(truncate(escape(record.get("note") or ""), _NOTE_WIDTH_MAX), "dim")
        title = escape(record.get("task_title") or _("a task that is not here"))
        yield "  ".join(part for part in (f"{sign} {short}", title, facts, note) if part)


def time_deed_lines(verb: str, records: Sequence[TimeRecordJson], display: Display) -> Iterator[str]:
    """Answer a change of records: what was done, the id, how long, the task."""
    ids = short_ids_of(records)
    sign = display.paint(display.symbol("✓"), "green")
    for record in records:
        short = display.paint(escape(ids.get(record.get("id", ""), "")), "cyan")
        length = length_words(record, display.now_s)
        text = f"{sign} {verb} {short}  {escape(record.get('task_title') or '')}"
        yield f"{text}  {display.paint(length, 'dim')}" if length else text


def time_lines(task: TaskJson, display: Display) -> Iterator[str]:
    """Draw the time of a task, the newest records last."""
    records = task.get("times") or ()
    if not records:
        return
    spent = duration_words(task.get("time_spent_minutes") or 0)
    yield ""
    yield f"{display.paint(_('Time'), 'bold')}  {display.paint(spent, 'dim')}"
    ids = short_ids_of(records)
    if len(records) > _SHOWN_MAX:
        earlier = _("{count} earlier ones: placet timer list TASK")
        yield display.paint(f"  {earlier.format(count=len(records) - _SHOWN_MAX)}", "dim")
    several = len({record.get("device") for record in records}) > 1
    for record in records[-_SHOWN_MAX:]:
        yield f"  {_line(record, ids.get(record.get('id', ''), ''), several, display)}"


def _line(record: TimeRecordJson, short: str, several: bool, display: Display) -> str:
    running = bool(record.get("is_running"))
    device = record.get("device_name") if several else ""
    texts = [
        display.paint(escape(short), "cyan"),
        span_words(record),
        display.paint(length_words(record, display.now_s), *(("green",) if running else ())),
        truncate(escape(record.get("note") or ""), _NOTE_WIDTH_MAX),
        display.paint(_("on {device}").format(device=escape(device)), "dim") if device else "",
    ]
    return "  ".join(part for part in texts if part)


def _start_words(record: TimeRecordJson, display: Display) -> str:
    began_s = parse_time_s(record.get("started_at"))
    if began_s is None or display.now_s is None:
        return escape(record.get("started_at") or "")
    day, today = day_of(record.get("started_at")), day_of(display.now_s * 1000)
    clock = clock_time(record.get("started_at"))
    return clock if day == today else f"{day} {clock}"


def total_rows(answer: Any) -> Iterator[Sequence[object]]:
    """Give the plain columns: name, minutes, records, task's id."""
    for total in answer["totals"]:
        yield total["name"], total["minutes"], total["records"], total["task_id"]


def totals_table(answer: Any, display: Display) -> Iterator[str]:
    """Draw the totals, the longest first, beneath the days and what they come to."""
    yield _("{first} to {last}: {length}").format(
        first=answer["from_day"], last=answer["to_day"], length=duration_words(answer["minutes"])
    )
    rows = [
        (Cell(duration_words(total["minutes"])), Cell(escape(total["name"]) or "-"))
        for total in answer["totals"]
    ]
    yield from table_lines(_TOTAL_COLUMNS, rows, display) if rows else ()


def totals_csv(answer: Any) -> str:
    """Write the totals as RFC 4180 has it; the last line is what they come to together.

    Names may come from other devices: one that a spreadsheet would take for a formula begins with an
    apostrophe.
    """
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow((answer["by"], "minutes", "records", "from", "to"))
    days = answer["from_day"], answer["to_day"]
    for total in answer["totals"]:
        name = escape(total["name"])
        writer.writerow(
            (
                f"'{name}" if name.startswith(_FORMULA_SIGNS) else name,
                total["minutes"],
                total["records"],
                *days,
            )
        )
    writer.writerow(("", answer["minutes"], answer["records"], *days))
    return file.getvalue()
