"""Tasks: the list, the page of one task, and the line that answers a change.

Never leaves out who wrote a value where the answer tells it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.short import shorts
from daemon.cli.table import Cell, Column, table
from daemon.cli.text import cells, padded, shown, wrapped
from daemon.cli.views.conflicts import conflict_lines
from daemon.cli.views.entries import entry_heading
from daemon.cli.views.labels import label_words
from daemon.cli.views.links import link_lines
from daemon.cli.views.origins import foreign_lines, unknown_lines
from daemon.cli.views.times import spent_words, time_lines
from daemon.cli.views.values import (
    PRIORITY_STYLES,
    STATUS_STYLES,
    author_words,
    before_after,
    due_word,
    field_words,
    headed,
    status_word,
)
from daemon.cli.when import ago
from daemon.cli.words import _, later, named, ngettext, said_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.shapes import Checklist, ChecklistItem, Entry, Task

PAGE_WIDTH_MAX: Final = 88
_NO_DATE: Final = "9999"
_COLUMNS: Final = (
    Column(later("ID")),
    Column(later("P")),
    Column(later("STATUS")),
    Column(later("DUE")),
    Column(later("TITLE"), gives=True),
    Column(later("LABELS"), width_max=20),
    Column(later("DONE")),
)


def in_order(tasks: Iterable[Task]) -> list[Task]:
    """Sort as one would work through them: by priority, then due date, then age."""
    return sorted(tasks, key=_pressing)


def _pressing(task: Task) -> tuple[str, str]:
    return task.get("priority") or "P2", task.get("due") or _NO_DATE


def task_rows(tasks: Iterable[Task]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, status, priority, due, title, labels, ticked/items."""
    for task in in_order(tasks):
        get = task.get
        yield (
            get("id"),
            get("status"),
            get("priority"),
            get("due"),
            get("title"),
            get("labels"),
            progress(task),
        )


def task_row(task: Task) -> Iterator[Sequence[object]]:
    """Give the plain columns of one task."""
    return task_rows([task])


def task_list(tasks: Sequence[Task], look: Look) -> Iterator[str]:
    """Draw the table of tasks."""
    ids = shorts(tasks)
    rows = [_cells(task, ids, look) for task in in_order(tasks)]
    return table(_COLUMNS, rows, look) if rows else iter(())


def _cells(task: Task, ids: dict[str, str], look: Look) -> list[Cell]:
    status, priority = str(task.get("status") or ""), str(task.get("priority") or "")
    labels = " ".join(f"#{shown(label)}" for label in task.get("labels") or ())
    return [
        Cell(shown(ids.get(task.get("id", ""), "")), ("cyan",)),
        Cell(shown(priority), PRIORITY_STYLES.get(priority, ())),
        Cell(status_word("removed" if task.get("removed") else status), STATUS_STYLES.get(status, ())),
        Cell(*due_word(task.get("due"), look)),
        Cell(shown(task.get("title") or ""), ("dim",) if status in ("DONE", "REJECTED") else ()),
        Cell(labels, ("magenta",)),
        Cell(progress(task), ("dim",)),
    ]


def progress(task: Task) -> str:
    """Say how much of the checklists is done: "2/5"; nothing where there are none."""
    told: Any = task.get("checklist_progress")
    if isinstance(told, dict):
        done, total = told.get("completed", 0), told.get("total", 0)
        return f"{done}/{total}" if total else ""
    items = [item for one in task.get("checklists") or () for item in one.get("items") or ()]
    kept = [item for item in items if not item.get("is_archived")]
    return f"{sum(bool(item.get('is_checked')) for item in kept)}/{len(kept)}" if kept else ""


def task_line(verb: str, task: Task, look: Look) -> Iterator[str]:
    """Answer a change of a task in one line: what was done, its id, its title."""
    short = shorts([task]).get(task.get("id", ""), "")
    sign = look.paint(look.sign("✓"), "green")
    yield f"{sign} {verb} {look.paint(shown(short), 'cyan')}  {shown(task.get('title') or '')}"


def task_page(task: Task, open_items: int, look: Look) -> Iterator[str]:
    """Draw all that belongs to a task; `open_items` is how many proposals wait for a decision."""
    width = min(look.width, PAGE_WIDTH_MAX)
    short = shown(shorts([task]).get(task.get("id", ""), ""))
    for line in wrapped(shown(task.get("title") or ""), width):
        yield look.paint(line, "bold")
    yield _facts(task, short, look)
    if reason := task.get("reason"):
        because = _("because: {reason}").format(reason=shown(reason))
        yield from (look.paint(line, "yellow") for line in wrapped(because, width))
    if task.get("removed"):
        yield look.paint(status_word("removed"), "red")
    if open_items:
        yield look.paint(_waiting(open_items, short), "yellow")
    yield from foreign_lines(task, look)
    yield from unknown_lines(task, look)
    for conflict in task.get("conflicts") or ():
        yield from conflict_lines(conflict, look)
    for checklist in task.get("checklists") or ():
        yield from checklist_lines(checklist, look)
    yield from link_lines(task, look)
    yield from time_lines(task, look)
    if entries := task.get("entries"):
        yield from ("", look.paint(_("Notes"), "bold"))
        entry_ids = shorts(entries)
        for entry in entries:
            yield from _entry(entry, entry_ids.get(entry.get("id", ""), ""), width, look)
    if report := task.get("report"):
        yield from ("", look.paint(_("Report of the agent"), "bold"), *report_lines(report, width, look))


def _waiting(count: int, short: str) -> str:
    return ngettext(
        "{count} proposal waits for you: placet pending {task}",
        "{count} proposals wait for you: placet pending {task}",
        count,
    ).format(count=count, task=short)


def _facts(task: Task, short: str, look: Look) -> str:
    status, priority = str(task.get("status") or ""), str(task.get("priority") or "")
    due, due_styles = due_word(task.get("due"), look)
    facts = [
        look.paint(short, "cyan"),
        look.paint(status_word(status), *STATUS_STYLES.get(status, ())),
        look.paint(shown(priority), *PRIORITY_STYLES.get(priority, ())),
        look.paint(_("due {day}").format(day=due), *due_styles) if due else "",
        spent_words(task),
        shown(task.get("category") or ""),
        *label_words(task, look),
    ]
    return f" {look.sign('·')} ".join(fact for fact in facts if fact)


def checklist_lines(
    checklist: Checklist, look: Look, *, short: str = "", everything: bool = False
) -> Iterator[str]:
    """Draw a checklist with its progress, and who ticked what, when; `everything`: also what was put away."""
    items = list(checklist.get("items") or ())
    kept = [item for item in items if not item.get("is_archived")]
    done = sum(bool(item.get("is_checked")) for item in kept)
    title = look.paint(shown(checklist.get("title") or _("Checklist")), "bold")
    facts = [look.paint(shown(short), "cyan"), title, look.paint(f"{done}/{len(kept)}", "dim")]
    yield ""
    gone = look.paint(said_of("checklist", "removed"), "red")
    yield "  ".join([*filter(None, facts), *([gone] * bool(checklist.get("removed")))])
    drawn = items if everything else kept
    ids = shorts(drawn)
    for item in drawn:
        yield f"  {item_line(item, ids.get(item.get('id', ''), ''), look)}"
    if away := len(items) - len(drawn):
        words = ngettext("and {count} archived", "and {count} archived", away).format(count=away)
        yield look.paint(f"  {words}", "dim")


def item_line(item: ChecklistItem, short: str, look: Look) -> str:
    """Draw one item: box, id, title, provenance, and whether it was put away."""
    checked = bool(item.get("is_checked"))
    box = look.paint("[x]", "green") if checked else "[ ]"
    title = shown(item.get("title") or "")
    said = [
        look.paint(_ticked(item, checked, look), "dim"),
        look.paint(field_words("archived"), "dim") if item.get("is_archived") else "",
        look.paint(_("removed"), "red") if item.get("removed") else "",
    ]
    return "  ".join(filter(None, [f"{box} {look.paint(shown(short), 'cyan')}", title, *said]))


def _ticked(item: ChecklistItem, checked: bool, look: Look) -> str:
    by, at = item.get("checked_by"), item.get("checked_at")
    if not by or (not checked and by == "user"):
        return ""
    device = item.get("checked_on") or item.get("checked_device_name")
    words = _("checked by {who}") if checked else _("set by {who}")
    words = words.format(who=author_words(by, device))
    when = ago(at, look.now_s)
    return f"{words}, {when}" if when else words


def _entry(entry: Entry, short: str, width: int, look: Look) -> Iterator[str]:
    yield "  " + entry_heading(entry, short, look)
    for line in wrapped(entry.get("text") or "", width - 4):
        yield f"    {line}"


_REPORT_LISTS: Final = (("achieved", "done"), ("remaining", "left"), ("learnings", "learnt"))
named("report", "done", "left", "learnt")


def report_lines(report: dict[str, Any], width: int, look: Look) -> Iterator[str]:
    """Draw an agent's report; its words are the agent's."""
    content = report.get("content")
    told: dict[str, Any] = content if isinstance(content, dict) else report
    for key in ("tldr", "goal"):
        if told.get(key):
            yield from (f"  {line}" for line in wrapped(str(told[key]), width - 2))
    words = {key: said_of("report", word) for key, word in _REPORT_LISTS}
    wide = max(map(cells, words.values()))
    for key, word in words.items():
        for one in told.get(key) or ():
            first, *rest = wrapped(str(one), width - wide - 4)
            yield f"  {look.paint(padded('', wide - cells(word)) + word, 'dim')}  {first}"
            yield from (f"{padded('', wide + 4)}{line}" for line in rest)


def change_line(before: object, after: object, field: str, look: Look) -> str:
    """Draw one changed field of a task."""
    return f"  {headed(field_words(field))}{before_after(before, after, field, look)}"
