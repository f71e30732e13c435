"""Tasks: the list, the page of one task, and the line that answers a change.

Never leaves out who wrote a value if the answer says it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.terminal.painted import PRIORITY_STYLES, STATUS_STYLES, styled_due
from daemon.cli.terminal.table import Cell, Column, table_lines
from daemon.cli.views.journal.agent_notices import agent_notices, since_words
from daemon.cli.views.journal.conflicts import conflict_lines
from daemon.cli.views.journal.entries import entry_heading
from daemon.cli.views.journal.labels import label_words
from daemon.cli.views.journal.links import link_lines
from daemon.cli.views.journal.origins import foreign_lines, unknown_lines
from daemon.cli.views.journal.times import time_lines
from daemon.task_fields import CLOSED_STATUSES, TASK_FIELDS, TaskField
from daemon.words.agents import report_fields, report_list, report_list_words
from daemon.words.short_ids import short_ids_of
from daemon.words.task_parts import fact_words, hour_of, spent_words, tick_words
from daemon.words.terminal_text import display_width, escape, pad_right, wrap_lines
from daemon.words.translation import _, gettext_noop, ngettext, pgettext
from daemon.words.values import field_words, status_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import (
        AgentJson,
        ChecklistItemJson,
        ChecklistJson,
        EntryJson,
        PendingItemJson,
        TaskJson,
    )

PAGE_WIDTH_MAX: Final = 88
_COMMANDS_BY_PART: Final = {
    "entries": "placet entry list {task}",
    "checklists": "placet check list {task}",
    "items": "placet check list {task}",
    "conflicts": "placet conflicts {task}",
    "times": "placet timer list {task}",
    "links": "placet link list {task}",
}
"""Which command shows all of a part of a task; the log has everything else."""
_OTHER_COMMAND: Final = "placet log {task}"
_NO_DATE: Final = "9999"
LINE_COLUMNS: Final = (
    Column(gettext_noop("ID")),
    Column(gettext_noop("P")),
    Column(gettext_noop("STATUS")),
    Column(gettext_noop("DUE")),
    Column(gettext_noop("TITLE"), shrinks=True),
    Column(gettext_noop("LABELS"), width_max=20),
    Column(gettext_noop("DONE")),
    Column(gettext_noop("AGENT")),
)


def in_order(tasks: Iterable[TaskJson]) -> list[TaskJson]:
    """Sort as one would work through them: by priority, then due date, then age."""
    return sorted(tasks, key=_urgency)


def _urgency(task: TaskJson) -> tuple[str, str]:
    return task.get("priority") or "P2", str(task.get("due_time") or task.get("due") or _NO_DATE)


def task_rows(tasks: Iterable[TaskJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, status, priority, due, title, labels, ticked/items."""
    return map(plain_cells, in_order(tasks))


def listed_rows(tasks: Iterable[TaskJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns of a list: those of `task_rows`, then waiting proposals, agent."""
    return map(_listed_cells, in_order(tasks))


def _listed_cells(task: Mapping[str, Any]) -> tuple[object, ...]:
    return *plain_cells(task), task.get("waiting"), task.get("agent_id")


def plain_cells(task: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the plain columns of a task in a list, as `task_rows` names them."""
    return (*map(task.get, ("id", "status", "priority", "due", "title", "labels")), progress(task))


def task_row(task: TaskJson) -> Iterator[Sequence[object]]:
    """Give the plain columns of one task."""
    return task_rows([task])


def task_list(tasks: Sequence[TaskJson], display: Display) -> Iterator[str]:
    """Draw the table of tasks."""
    ids = short_ids_of(tasks)
    rows = [line_cells(task, ids, display) for task in in_order(tasks)]
    return table_lines(LINE_COLUMNS, rows, display) if rows else iter(())


def line_cells(task: Mapping[str, Any], ids: dict[str, str], display: Display) -> list[Cell]:
    """Return the cells of `LINE_COLUMNS` for a task."""
    status, priority = str(task.get("status") or ""), str(task.get("priority") or "")
    labels = " ".join(f"#{escape(label)}" for label in task.get("labels") or ())
    return [
        Cell(escape(ids.get(task.get("id", ""), "")), ("cyan",)),
        Cell(escape(priority), PRIORITY_STYLES.get(priority, ())),
        Cell(status_word("removed" if task.get("removed") else status), STATUS_STYLES.get(status, ())),
        Cell(*styled_due(task.get("due"), display, task.get("due_time"))),
        Cell(escape(task.get("title") or ""), ("dim",) if status in CLOSED_STATUSES else ()),
        Cell(labels, ("magenta",)),
        Cell(progress(task), ("dim",)),
        _agent_cell(task),
    ]


def _agent_cell(task: Mapping[str, Any]) -> Cell:
    """Say how many proposals on a task wait, or that it has an agent."""
    if count := task.get("waiting") or 0:
        return Cell(ngettext("{count} waits", "{count} wait", count).format(count=count), ("yellow",))
    return Cell(_("yes"), ("dim",)) if task.get("agent_id") else Cell("")


def progress(task: Mapping[str, Any]) -> str:
    """Say how much of the checklists is done: "2/5"; nothing if there are none."""
    checklist_progress: Any = task.get("checklist_progress")
    if isinstance(checklist_progress, dict):
        completed, total = checklist_progress.get("completed", 0), checklist_progress.get("total", 0)
        return f"{completed}/{total}" if total else ""
    items = [item for checklist in task.get("checklists") or () for item in checklist.get("items") or ()]
    checklist_items = [item for item in items if not item.get("is_archived")]
    return (
        f"{sum(bool(item.get('is_checked')) for item in checklist_items)}/{len(checklist_items)}"
        if checklist_items
        else ""
    )


def task_line(verb: str, task: TaskJson, display: Display) -> Iterator[str]:
    """Answer a change of a task in one line: what was done, its id, its title."""
    short = short_ids_of([task]).get(task.get("id", ""), "")
    sign = display.paint(display.symbol("✓"), "green")
    yield f"{sign} {verb} {display.paint(escape(short), 'cyan')}  {escape(task.get('title') or '')}"


def task_page(
    task: TaskJson, agent: AgentJson | None, display: Display, pending: Sequence[PendingItemJson] = ()
) -> Iterator[str]:
    """Draw all that belongs to a task, and what there is to know of its agent, None if it has none."""
    width = min(display.width, PAGE_WIDTH_MAX)
    short = escape(short_ids_of([task]).get(task.get("id", ""), ""))
    for line in wrap_lines(escape(task.get("title") or ""), width):
        yield display.paint(line, "bold")
    yield _facts(task, short, display)
    if reason := task.get("reason"):
        because = _("because: {reason}").format(reason=escape(reason))
        yield from (display.paint(line, "yellow") for line in wrap_lines(because, width))
    if task.get("removed"):
        yield display.paint(status_word("removed"), "red")
    if agent:
        yield from agent_notices(agent, short, width, display, pending)
    yield from foreign_lines(task, display)
    yield from unknown_lines(task, display)
    for conflict in task.get("conflicts") or ():
        yield from conflict_lines(conflict, display)
    for checklist in task.get("checklists") or ():
        yield from checklist_lines(checklist, display)
    yield from link_lines(task, display)
    yield from time_lines(task, display)
    if entries := task.get("entries"):
        yield from ("", display.paint(_("Notes"), "bold"))
        entry_ids = short_ids_of(entries)
        for entry in entries:
            yield from _entry(entry, entry_ids.get(entry.get("id", ""), ""), width, display)
    if report := task.get("report"):
        age = since_words(agent, display) if agent else ""
        yield from (
            "",
            display.paint(_("Report of the agent"), "bold") + age,
            *report_lines(report, width, display),
        )
    yield from _left_out_lines(task, short, width, display)


def _left_out_lines(task: TaskJson, short: str, width: int, display: Display) -> Iterator[str]:
    """Say how much of a long task is not shown, and which command shows it."""
    left_out: dict[str, int] = task.get("left_out") or {}
    counts: dict[str, int] = {}
    for part, count in left_out.items():
        name = _COMMANDS_BY_PART.get(part, _OTHER_COMMAND)
        counts[name] = counts.get(name, 0) + count
    for name, count in counts.items():
        words = ngettext(
            "{count} more is not shown: {command}", "{count} more are not shown: {command}", count
        )
        line = words.format(count=count, command=name.format(task=short))
        yield from (display.paint(wrapped, "yellow") for wrapped in wrap_lines(line, width))


def _facts(task: TaskJson, short: str, display: Display) -> str:
    status, priority = str(task.get("status") or ""), str(task.get("priority") or "")
    facts = [
        display.paint(short, "cyan"),
        display.paint(status_word(status), *STATUS_STYLES.get(status, ())),
        display.paint(escape(priority), *PRIORITY_STYLES.get(priority, ())),
        *(_fact(field, task, display) for field in TASK_FIELDS if field.fact),
        spent_words(task),
        escape(task.get("category") or ""),
        *label_words(task, display),
    ]
    return f" {display.symbol('·')} ".join(fact for fact in facts if fact)


def _fact(field: TaskField, task: TaskJson, display: Display) -> str:
    words = fact_words(field, task.get, display.now_s)
    styles = styled_due(task.get(field.name), display, hour_of(field, task.get))[1] if field.late else ()
    return display.paint(words, *styles) if words else ""


def checklist_lines(
    checklist: ChecklistJson, display: Display, *, short: str = "", everything: bool = False
) -> Iterator[str]:
    """Draw a checklist with its progress, and who ticked what, when; `everything`: also what was put away."""
    items = list(checklist.get("items") or ())
    checklist_items = [item for item in items if not item.get("is_archived")]
    total = sum(bool(item.get("is_checked")) for item in checklist_items)
    title = display.paint(escape(checklist.get("title") or _("Checklist")), "bold")
    facts = [
        display.paint(escape(short), "cyan"),
        title,
        display.paint(f"{total}/{len(checklist_items)}", "dim"),
    ]
    yield ""
    text = display.paint(pgettext("checklist", "removed"), "red")
    yield "  ".join([*filter(None, facts), *([text] * bool(checklist.get("removed")))])
    drawn = items if everything else checklist_items
    ids = short_ids_of(drawn)
    for item in drawn:
        yield f"  {item_line(item, ids.get(item.get('id', ''), ''), display)}"
    if away := len(items) - len(drawn):
        words = ngettext("and {count} archived", "and {count} archived", away).format(count=away)
        yield display.paint(f"  {words}", "dim")


def item_line(item: ChecklistItemJson, short: str, display: Display) -> str:
    """Draw one item: box, id, title, provenance, and whether it was put away."""
    checked = bool(item.get("is_checked"))
    box = display.paint("[x]", "green") if checked else "[ ]"
    title = escape(item.get("title") or "")
    texts = [
        display.paint(tick_words(item, display.now_s), "dim"),
        display.paint(field_words("archived"), "dim") if item.get("is_archived") else "",
        display.paint(_("removed"), "red") if item.get("removed") else "",
    ]
    return "  ".join(filter(None, [f"{box} {display.paint(escape(short), 'cyan')}", title, *texts]))


def _entry(entry: EntryJson, short: str, width: int, display: Display) -> Iterator[str]:
    yield "  " + entry_heading(entry, short, display)
    for line in wrap_lines(entry.get("text") or "", width - 4):
        yield f"    {line}"


def report_lines(report: dict[str, Any], width: int, display: Display) -> Iterator[str]:
    """Draw an agent's report; its words are the agent's."""
    fields = report_fields(report)
    for key in ("tldr", "goal"):
        if fields.get(key):
            yield from (f"  {line}" for line in wrap_lines(str(fields[key]), width - 2))
    words = report_list_words()
    wide = max(map(display_width, words.values()))
    for key, word in words.items():
        for reported in report_list(fields, key):
            first, *rest = wrap_lines(reported, width - wide - 4)
            yield f"  {display.paint(pad_right('', wide - display_width(word)) + word, 'dim')}  {first}"
            yield from (f"{pad_right('', wide + 4)}{line}" for line in rest)
