"""A task with a part of each kind, and the shortest way to a change and to its undo.

Never undoes anything but as people do, by the one entry of every face.
"""

from collections.abc import Callable
from datetime import UTC
from functools import partial
from typing import Any, NamedTuple

from daemon.agents.person.undo_of_change import UndoOfChange, UndoResult, VerdictRules
from daemon.journal import (
    categories,
    checklist_items,
    checklists,
    entries,
    item_moves,
    labels,
    links,
    preferences,
    tasks,
    time_records,
)
from daemon.journal.categories import CategoryEdit, NewCategory
from daemon.journal.checklist_items import ItemEdit, NewItem
from daemon.journal.checklists import ChecklistEdit, ChecklistMove, NewChecklist
from daemon.journal.entries import EntryEdit, NewEntry
from daemon.journal.human_input import HumanInput
from daemon.journal.item_moves import ItemMove
from daemon.journal.labels import LabelEdit, NewLabel
from daemon.journal.links import NewLink
from daemon.journal.preferences import NewPreference, PreferenceEdit
from daemon.journal.references.change_names import commit_name
from daemon.journal.tasks import NewTask, TaskEdit
from daemon.journal.time_records import NewTimer, Stop, TimeEdit
from daemon.journal.undo.changes import last_change
from store.transaction import Transaction
from tests.daemon.journal.undo.whole_journal import last_head
from tests.support.fleet import START_MS, Home

TYPED = HumanInput(lambda: START_MS, UTC, "en")
RULES = VerdictRules("cli", 20)


class Parts(NamedTuple):
    """Two tasks, and one part of each kind on the first, in sight and removed."""

    task: str
    other: str
    checklist: str
    first: str
    second: str
    entry: str
    record: str
    link: str
    preference: str
    gone_entry: str
    gone_item: str
    gone_checklist: str
    gone_task: str


def make_parts(tx: Transaction) -> Parts:
    task = tasks.add(tx, NewTask(title="Renew the passport", labels=["home"], category="Papers", due=None)).id
    other = tasks.add(tx, NewTask(title="Take photos")).id
    checklist = checklists.add(tx, task, NewChecklist(title="Bring")).id
    items = [checklist_items.add_item(tx, task, NewItem(title=title)) for title in ("Photo", "Form", "Fee")]
    notes = [entries.add(tx, task, NewEntry(text=text)) for text in ("In the drawer", "Gone")]
    record = time_records.start(tx, task, NewTimer(note="Calls"), TYPED)
    time_records.stop(tx, Stop(), TYPED)
    link = links.add(tx, task, NewLink("blocks", other))
    line = preferences.add(tx, NewPreference(text="Be short"))
    checklists.add(tx, task, NewChecklist(title="Then"))
    gone = checklists.add(tx, task, NewChecklist(title="Later")).id
    gone_task = tasks.add(tx, NewTask(title="Old")).id
    entries.remove(tx, notes[1].id)
    checklist_items.remove_item(tx, items[2].id)
    checklists.remove(tx, gone)
    tasks.remove(tx, gone_task)
    return Parts(
        task,
        other,
        checklist,
        items[0].id,
        items[1].id,
        notes[0].id,
        record.id,
        link.id,
        line.id,
        notes[1].id,
        items[2].id,
        gone,
        gone_task,
    )


def undo(home: Home, name: str | None = None) -> UndoResult:
    """Undo a change as every face does, the last one if none is named."""
    work = begin_undo(home, name)
    home.press(partial(work.undo_part, part=part) for part in work.parts)
    return work.answer()


def begin_undo(home: Home, name: str | None = None) -> UndoOfChange:
    """Read what an undo is about, and write nothing yet."""
    return home.read(
        lambda snapshot: UndoOfChange(snapshot, last_change(snapshot) if name is None else name, RULES)
    )


def change(home: Home, use: Callable[[Transaction], Any]) -> str:
    """Make a change of one commit, and return its name."""
    home.write(use)
    return home.read(lambda snapshot: commit_name(last_head(snapshot)))


Act = Callable[[Transaction, Parts], object]

ACTS: dict[str, Act] = {
    "title": lambda tx, p: tasks.edit(tx, p.task, TaskEdit(title="Renew it")),
    "status": lambda tx, p: tasks.edit(tx, p.task, TaskEdit(status="BLOCKED", reason="photo")),
    "done": lambda tx, p: tasks.edit(tx, p.task, TaskEdit(status="DONE")),
    "due": lambda tx, p: tasks.edit(tx, p.task, TaskEdit(due="2026-03-05")),
    "several": lambda tx, p: tasks.edit(tx, p.task, TaskEdit(priority="P1", estimate_minutes=30)),
    "category": lambda tx, p: tasks.edit(tx, p.task, TaskEdit(category="Travel")),
    "no category": lambda tx, p: tasks.edit(tx, p.task, TaskEdit(category=None)),
    "labels": lambda tx, p: tasks.edit(tx, p.task, TaskEdit(labels=["away"])),
    "new task": lambda tx, p: tasks.add(tx, NewTask(title="New", labels=["fresh"], category="Fresh")),
    "removed task": lambda tx, p: tasks.remove(tx, p.task),
    "restored task": lambda tx, p: tasks.restore(tx, p.gone_task),
    "new note": lambda tx, p: entries.add(tx, p.task, NewEntry(text="Closed on Mondays")),
    "note": lambda tx, p: entries.edit(tx, p.entry, EntryEdit(text="On the shelf")),
    "removed note": lambda tx, p: entries.remove(tx, p.entry),
    "restored note": lambda tx, p: entries.restore(tx, p.gone_entry),
    "new checklist": lambda tx, p: checklists.add(tx, p.task, NewChecklist(title="More")),
    "checklist": lambda tx, p: checklists.edit(tx, p.checklist, ChecklistEdit(title="Take along")),
    "removed checklist": lambda tx, p: checklists.remove(tx, p.checklist),
    "restored checklist": lambda tx, p: checklists.restore(tx, p.gone_checklist),
    "checklist's place": lambda tx, p: checklists.move(tx, p.checklist, ChecklistMove(last=True)),
    "new item": lambda tx, p: checklist_items.add_item(tx, p.task, NewItem(title="Pen")),
    "new item and list": lambda tx, p: checklist_items.add_item(tx, p.other, NewItem(title="Pen")),
    "tick": lambda tx, p: checklist_items.edit_item(tx, p.first, ItemEdit(is_checked=True)),
    "archive": lambda tx, p: checklist_items.edit_item(tx, p.first, ItemEdit(is_archived=True)),
    "item's place": lambda tx, p: item_moves.move_item(tx, p.first, ItemMove(last=True)),
    "item's list": lambda tx, p: item_moves.move_item(tx, p.first, ItemMove(checklist="New list")),
    "removed item": lambda tx, p: checklist_items.remove_item(tx, p.first),
    "restored item": lambda tx, p: checklist_items.restore_item(tx, p.gone_item),
    "new link": lambda tx, p: links.add(tx, p.task, NewLink("follows_up", p.other)),
    "removed link": lambda tx, p: links.remove(tx, p.link),
    "time": lambda tx, p: time_records.edit(tx, p.record, TimeEdit(note="Queue", task=p.other), TYPED),
    "removed time": lambda tx, p: time_records.remove(tx, p.record),
    "new label": lambda tx, p: labels.add(tx, NewLabel(name="quiet", color="#336699")),
    "label": lambda tx, p: labels.edit(tx, "home", LabelEdit(name="house")),
    "removed label": lambda tx, p: labels.remove(tx, "home"),
    "new category": lambda tx, p: categories.add(tx, NewCategory(name="Money")),
    "category's name": lambda tx, p: categories.edit(tx, "Papers", CategoryEdit(name="Documents")),
    "removed category": lambda tx, p: categories.remove(tx, "Papers"),
    "new preference": lambda tx, p: preferences.add(tx, NewPreference(text="No jokes")),
    "preference": lambda tx, p: preferences.edit(tx, p.preference, PreferenceEdit(text="Be brief")),
    "removed preference": lambda tx, p: preferences.remove(tx, p.preference),
}
