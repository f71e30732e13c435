"""What a person's write to a part of a task rests on: the task, and the clock that was shown.

Never looks at values but to tell whose stands.
"""

from collections.abc import Callable
from datetime import UTC
from functools import partial
from typing import Any, NamedTuple

import pytest

from daemon.journal import (
    checklist_items,
    checklists,
    conflicts,
    entries,
    item_moves,
    labels,
    tasks,
    time_records,
)
from daemon.journal.checklist_items import ItemEdit, NewItem
from daemon.journal.checklists import ChecklistEdit, ChecklistMove, NewChecklist
from daemon.journal.conflicts import Keep
from daemon.journal.entries import EntryEdit, NewEntry
from daemon.journal.human_input import HumanInput
from daemon.journal.item_moves import ItemMove
from daemon.journal.labels import LabelEdit, NewLabel
from daemon.journal.tasks import NewTask
from daemon.journal.time_records import NewTimer, Stop, TimeEdit
from store.transaction import Transaction
from syncproto.ids import EntityId, id_from_text
from tests.support.fleet import START_MS, Fleet, Home

TYPED = HumanInput(lambda: START_MS, UTC, "en")


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
    item = checklist_items.add_item(
        tx, task, NewItem(title="Photos", checklist=f"List of {tx.new_id().hex()}")
    )
    checklist_items.add_item(tx, task, NewItem(title="Form", checklist=item.checklist_id))
    entry = entries.add(tx, task, NewEntry(text="In the drawer"))
    record = time_records.start(tx, task, NewTimer(note="Calls"), TYPED)
    time_records.stop(tx, Stop(), TYPED)
    return item.id, item.checklist_id, entry.id, record.id


@pytest.fixture
def parts(fleet: Fleet, a: Home, b: Home) -> Parts:
    def make_parts(tx: Transaction) -> Parts:
        task = tasks.add(tx, NewTask(title="Renew the passport")).id
        removed = _parts(tx, task)
        checklist_items.remove_item(tx, removed[0])
        checklists.remove(tx, removed[1])
        entries.remove(tx, removed[2])
        time_records.remove(tx, removed[3])
        checklists.add(tx, task, NewChecklist(title="Other"))
        return Parts(task, *_parts(tx, task), *removed)

    made_parts = a.write(make_parts)
    fleet.sync()
    return made_parts


Use = Callable[[Transaction, Parts], Any]

WRITES: dict[str, Use] = {
    "add an item": lambda tx, sample: checklist_items.add_item(tx, sample.task, NewItem(title="Fee")),
    "tick an item": lambda tx, sample: checklist_items.edit_item(tx, sample.item, ItemEdit(is_checked=True)),
    "move an item": lambda tx, sample: item_moves.move_item(tx, sample.item, ItemMove(checklist="Later")),
    "restore an item": lambda tx, sample: checklist_items.restore_item(tx, sample.gone_item),
    "make a checklist": lambda tx, sample: checklists.add(tx, sample.task, NewChecklist(title="Later")),
    "rename a checklist": lambda tx, sample: checklists.edit(
        tx, sample.checklist, ChecklistEdit(title="Now")
    ),
    "move a checklist": lambda tx, sample: checklists.move(tx, sample.checklist, ChecklistMove(first=True)),
    "restore a checklist": lambda tx, sample: checklists.restore(tx, sample.gone_checklist),
    "add a note": lambda tx, sample: entries.add(tx, sample.task, NewEntry(text="Found")),
    "edit a note": lambda tx, sample: entries.edit(tx, sample.entry, EntryEdit(text="Found")),
    "restore a note": lambda tx, sample: entries.restore(tx, sample.gone_entry),
    "start a timer": lambda tx, sample: time_records.start(tx, sample.task, NewTimer(), TYPED),
    "edit a record": lambda tx, sample: time_records.edit(tx, sample.record, TimeEdit(note="Queue"), TYPED),
    "restore a record": lambda tx, sample: time_records.restore(tx, sample.gone_record),
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
    a.write(lambda tx: time_records.start(tx, parts.task, NewTimer(), TYPED))
    fleet.sync()
    b.write(lambda tx: tasks.remove(tx, parts.task))
    if by_another:
        a.write(lambda tx: time_records.start(tx, other, NewTimer(), TYPED))
    else:
        a.write(lambda tx: time_records.stop(tx, Stop(), TYPED))
    fleet.sync()
    assert not b.read(lambda snapshot: tasks.show(snapshot, parts.task)).removed


def test_a_version_that_is_kept_keeps_what_it_belongs_to(fleet: Fleet, a: Home, b: Home, parts: Parts):
    for home in (a, b):
        edit = ItemEdit(title=f"On {home.name}")
        home.write(partial(checklist_items.edit_item, ref=parts.item, change=edit))
    fleet.sync()
    b.write(lambda tx: checklists.remove(tx, parts.checklist))
    b.write(lambda tx: tasks.remove(tx, parts.task))
    a.write(lambda tx: conflicts.keep_version(tx, Keep(parts.item, "title", 1)))
    fleet.sync()
    task = b.read(lambda snapshot: tasks.show(snapshot, parts.task))
    assert (task.removed, parts.checklist in [checklist.id for checklist in task.checklists]) == (False, True)


class Change(NamedTuple):
    """A change of one field of a part, by a person who was shown a clock, or none."""

    part: Callable[[Parts], str]
    field: str
    write: Callable[[Transaction, str, dict[str, int] | None, str], Any]


CHANGES: dict[str, Change] = {
    "item": Change(
        lambda sample: sample.item,
        "title",
        lambda tx, ref, base, words: checklist_items.edit_item(tx, ref, ItemEdit(title=words, base=base)),
    ),
    "place of an item": Change(
        lambda sample: sample.item,
        "checklist_id",
        lambda tx, ref, base, words: item_moves.move_item(tx, ref, ItemMove(checklist=words, base=base)),
    ),
    "checklist": Change(
        lambda sample: sample.checklist,
        "title",
        lambda tx, ref, base, words: checklists.edit(tx, ref, ChecklistEdit(title=words, base=base)),
    ),
    "entry": Change(
        lambda sample: sample.entry,
        "text",
        lambda tx, ref, base, words: entries.edit(tx, ref, EntryEdit(text=words, base=base)),
    ),
    "record": Change(
        lambda sample: sample.record,
        "note",
        lambda tx, ref, base, words: time_records.edit(tx, ref, TimeEdit(note=words, base=base), TYPED),
    ),
}


def _standing(home: Home, change: Change, ref: str) -> int:
    return len(home.entity(EntityId(id_from_text(ref))).versions(change.field))


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_with_the_clock_that_was_shown_stands_beside_what_came_since(
    a: Home, parts: Parts, change: Change
):
    ref = change.part(parts)
    vector_clock = a.write(lambda tx: change.write(tx, ref, None, "First")).vector_clock
    a.write(lambda tx: change.write(tx, ref, None, "Second"))
    assert _standing(a, change, ref) == 1
    a.write(lambda tx: change.write(tx, ref, vector_clock, "Third"))
    assert _standing(a, change, ref) == 2


def test_a_checklist_moved_with_the_clock_that_was_shown_leaves_the_place_that_came_since(
    a: Home, parts: Parts
):
    def move(**where: Any) -> dict[str, int]:
        return a.write(lambda tx: checklists.move(tx, parts.checklist, ChecklistMove(**where))).vector_clock

    displayed = move(first=True)
    move(last=True)
    move(first=True, base=displayed)
    assert len(a.entity(id_from_text(parts.checklist)).versions("position")) == 2


def test_a_label_changed_with_the_clock_that_was_shown_leaves_what_came_since(a: Home):
    def edit(words: str, base: dict[str, int] | None = None) -> labels.Label:
        return a.write(lambda tx: labels.edit(tx, "home", LabelEdit(description=words, base=base)))

    a.write(lambda tx: labels.add(tx, NewLabel(name="home")))
    vector_clock = edit("First").vector_clock
    assert edit("Second").conflicts == []
    assert [conflict.field for conflict in edit("Third", vector_clock).conflicts] == ["description"]
