"""What a person's write to a part of a task rests on: the task, and the clock that was shown.

Never looks at values but to tell whose stands.
"""

from collections.abc import Callable
from datetime import UTC
from functools import partial
from typing import Any, NamedTuple

import pytest

from daemon.journal import checklists, conflicts, entries, labels, lists, moving, tasks, times
from daemon.journal.checklists import ItemEdit, NewItem
from daemon.journal.conflicts import Keep
from daemon.journal.entries import EntryEdit, NewEntry
from daemon.journal.labels import LabelEdit, NewLabel
from daemon.journal.lists import ChecklistEdit, ChecklistMove, NewChecklist
from daemon.journal.moving import ItemMove
from daemon.journal.tasks import NewTask
from daemon.journal.times import NewTimer, Stop, TimeEdit
from daemon.journal.typed import Typed
from store.transaction import Transaction
from syncproto.ids import EntityId, from_text
from tests.daemon.agents.fleet import START_MS, Fleet, Home

TYPED = Typed(lambda: START_MS, UTC, "en")


class Parts(NamedTuple):
    """A task with one part of each kind, and a removed one of each."""

    task: str
    item: str
    checklist: str
    entry: str
    record: str
    gone_item: str
    gone_checklist: str
    gone_entry: str
    gone_record: str


def _parts(tx: Transaction, task: str) -> tuple[str, str, str, str]:
    item = checklists.add_item(tx, task, NewItem(title="Photos", checklist=f"List of {tx.new_id().hex()}"))
    checklists.add_item(tx, task, NewItem(title="Form", checklist=item.checklist_id))
    entry = entries.add(tx, task, NewEntry(text="In the drawer"))
    record = times.start(tx, task, NewTimer(note="Calls"), TYPED)
    times.stop(tx, Stop(), TYPED)
    return item.id, item.checklist_id, entry.id, record.id


@pytest.fixture
def parts(fleet: Fleet, a: Home, b: Home) -> Parts:
    def made(tx: Transaction) -> Parts:
        task = tasks.add(tx, NewTask(title="Renew the passport")).id
        gone = _parts(tx, task)
        checklists.remove_item(tx, gone[0])
        lists.remove(tx, gone[1])
        entries.remove(tx, gone[2])
        times.remove(tx, gone[3])
        lists.add(tx, task, NewChecklist(title="Other"))
        return Parts(task, *_parts(tx, task), *gone)

    found = a.write(made)
    fleet.sync()
    return found


Use = Callable[[Transaction, Parts], Any]

WRITES: dict[str, Use] = {
    "add an item": lambda tx, of: checklists.add_item(tx, of.task, NewItem(title="Fee")),
    "tick an item": lambda tx, of: checklists.edit_item(tx, of.item, ItemEdit(is_checked=True)),
    "move an item": lambda tx, of: moving.move_item(tx, of.item, ItemMove(checklist="Later")),
    "restore an item": lambda tx, of: checklists.restore_item(tx, of.gone_item),
    "make a checklist": lambda tx, of: lists.add(tx, of.task, NewChecklist(title="Later")),
    "rename a checklist": lambda tx, of: lists.edit(tx, of.checklist, ChecklistEdit(title="Now")),
    "move a checklist": lambda tx, of: lists.move(tx, of.checklist, ChecklistMove(first=True)),
    "restore a checklist": lambda tx, of: lists.restore(tx, of.gone_checklist),
    "add a note": lambda tx, of: entries.add(tx, of.task, NewEntry(text="Found")),
    "edit a note": lambda tx, of: entries.edit(tx, of.entry, EntryEdit(text="Found")),
    "restore a note": lambda tx, of: entries.restore(tx, of.gone_entry),
    "start a timer": lambda tx, of: times.start(tx, of.task, NewTimer(), TYPED),
    "edit a record": lambda tx, of: times.edit(tx, of.record, TimeEdit(note="Queue"), TYPED),
    "restore a record": lambda tx, of: times.restore(tx, of.gone_record),
}


@pytest.mark.parametrize("use", WRITES.values(), ids=WRITES)
def test_a_task_that_was_removed_elsewhere_stays_with_what_was_written_to_a_part_of_it(
    fleet: Fleet, a: Home, b: Home, parts: Parts, use: Use
):
    b.write(lambda tx: tasks.remove(tx, parts.task))
    a.write(lambda tx: use(tx, parts))
    fleet.sync()
    for home in (a, b):
        assert not home.read(lambda snapshot: tasks.show(snapshot, parts.task)).removed


@pytest.mark.parametrize("by_another", [False, True])
def test_a_timer_that_is_stopped_keeps_its_task(
    fleet: Fleet, a: Home, b: Home, parts: Parts, by_another: bool
):
    other = a.write(lambda tx: tasks.add(tx, NewTask(title="Other"))).id
    a.write(lambda tx: times.start(tx, parts.task, NewTimer(), TYPED))
    fleet.sync()
    b.write(lambda tx: tasks.remove(tx, parts.task))
    if by_another:
        a.write(lambda tx: times.start(tx, other, NewTimer(), TYPED))
    else:
        a.write(lambda tx: times.stop(tx, Stop(), TYPED))
    fleet.sync()
    assert not b.read(lambda snapshot: tasks.show(snapshot, parts.task)).removed


def test_a_version_that_is_kept_keeps_what_it_belongs_to(fleet: Fleet, a: Home, b: Home, parts: Parts):
    for home in (a, b):
        edit = ItemEdit(title=f"On {home.name}")
        home.write(partial(checklists.edit_item, ref=parts.item, change=edit))
    fleet.sync()
    b.write(lambda tx: lists.remove(tx, parts.checklist))
    b.write(lambda tx: tasks.remove(tx, parts.task))
    a.write(lambda tx: conflicts.keep(tx, Keep(parts.item, "title", 1)))
    fleet.sync()
    shown = b.read(lambda snapshot: tasks.show(snapshot, parts.task))
    assert (shown.removed, parts.checklist in [one.id for one in shown.checklists]) == (False, True)


class Change(NamedTuple):
    """A change of one field of a part, by a person who was shown a clock, or none."""

    part: Callable[[Parts], str]
    field: str
    write: Callable[[Transaction, str, dict[str, int] | None, str], Any]


CHANGES: dict[str, Change] = {
    "item": Change(
        lambda of: of.item,
        "title",
        lambda tx, ref, base, words: checklists.edit_item(tx, ref, ItemEdit(title=words, base=base)),
    ),
    "place of an item": Change(
        lambda of: of.item,
        "checklist_id",
        lambda tx, ref, base, words: moving.move_item(tx, ref, ItemMove(checklist=words, base=base)),
    ),
    "checklist": Change(
        lambda of: of.checklist,
        "title",
        lambda tx, ref, base, words: lists.edit(tx, ref, ChecklistEdit(title=words, base=base)),
    ),
    "entry": Change(
        lambda of: of.entry,
        "text",
        lambda tx, ref, base, words: entries.edit(tx, ref, EntryEdit(text=words, base=base)),
    ),
    "record": Change(
        lambda of: of.record,
        "note",
        lambda tx, ref, base, words: times.edit(tx, ref, TimeEdit(note=words, base=base), TYPED),
    ),
}


def _standing(home: Home, change: Change, ref: str) -> int:
    return len(home.entity(EntityId(from_text(ref))).versions(change.field))


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_with_the_clock_that_was_shown_stands_beside_what_came_since(
    a: Home, parts: Parts, change: Change
):
    ref = change.part(parts)
    shown = a.write(lambda tx: change.write(tx, ref, None, "First")).vector_clock
    a.write(lambda tx: change.write(tx, ref, None, "Second"))
    assert _standing(a, change, ref) == 1
    a.write(lambda tx: change.write(tx, ref, shown, "Third"))
    assert _standing(a, change, ref) == 2


def test_a_checklist_moved_with_the_clock_that_was_shown_leaves_the_place_that_came_since(
    a: Home, parts: Parts
):
    def move(**where: Any) -> dict[str, int]:
        return a.write(lambda tx: lists.move(tx, parts.checklist, ChecklistMove(**where))).vector_clock

    shown = move(first=True)
    move(last=True)
    move(first=True, base=shown)
    assert len(a.entity(from_text(parts.checklist)).versions("position")) == 2


def test_a_label_changed_with_the_clock_that_was_shown_leaves_what_came_since(a: Home):
    def edit(words: str, base: dict[str, int] | None = None) -> labels.Label:
        return a.write(lambda tx: labels.edit(tx, "home", LabelEdit(description=words, base=base)))

    a.write(lambda tx: labels.add(tx, NewLabel(name="home")))
    shown = edit("First").vector_clock
    assert edit("Second").conflicts == []
    assert [one.field for one in edit("Third", shown).conflicts] == ["description"]
