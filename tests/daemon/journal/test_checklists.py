"""Whole checklists, and what removing and restoring does to items.

Never goes below the use cases.
"""

import pytest

from daemon.journal import checklist_items, checklists, tasks
from daemon.journal.checklist_items import ItemEdit, NewItem
from daemon.journal.checklists import ChecklistEdit, ChecklistMove, NewChecklist
from daemon.journal.tasks import NewTask
from daemon.journal.views.structures import Checklist, ChecklistItem, Task
from daemon.refusal import RefusalCode, Refused
from tests.support.fleet import Fleet, Home


@pytest.fixture
def task(a: Home) -> Task:
    return a.write(lambda tx: tasks.add(tx, NewTask(title="Renew the passport")))


def add(home: Home, task: Task, title: str, checklist: str | None = None) -> ChecklistItem:
    return home.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem(title, checklist)))


def new_checklist(home: Home, task: Task, title: str) -> Checklist:
    return home.write(lambda tx: checklists.add(tx, task.id, NewChecklist(title)))


def move(home: Home, checklist: Checklist, **where) -> Checklist:
    return home.write(lambda tx: checklists.move(tx, checklist.id, ChecklistMove(**where)))


def titles(home: Home, task: Task) -> list[str]:
    return [
        checklist.title for checklist in home.read(lambda snapshot: tasks.show(snapshot, task.id)).checklists
    ]


def removed(home: Home, task: Task) -> list[tuple[str, list[str]]]:
    reported_checklists = home.read(
        lambda snapshot: checklists.list_checklists(snapshot, task.id, removed=True)
    )
    return [
        (reported_checklist.title, [item.title for item in reported_checklist.items])
        for reported_checklist in reported_checklists
    ]


def commits(home: Home) -> int:
    return home.read(lambda snapshot: snapshot.counts().commits)


def test_a_task_may_have_several_checklists_in_an_order_of_ones_own(a: Home, task: Task):
    checklist, two, three = (new_checklist(a, task, title) for title in ("One", "Two", "Three"))
    assert (checklist.items, checklist.task_id, titles(a, task)) == ([], task.id, ["One", "Two", "Three"])
    move(a, three, first=True)
    move(a, checklist, after=two.id)
    assert titles(a, task) == ["Three", "Two", "One"]
    before = commits(a)
    move(a, three, before=two.id)
    assert commits(a) == before


def test_a_checklist_made_twice_is_made_once(a: Home, task: Task):
    first = new_checklist(a, task, "Packing")
    before = commits(a)
    assert new_checklist(a, task, " packing ").id == first.id
    assert commits(a) == before


def test_a_checklist_is_renamed(a: Home, task: Task):
    checklist = new_checklist(a, task, "One")
    renamed = a.write(
        lambda tx: checklists.edit(tx, checklist.id, ChecklistEdit("Uno", base=checklist.vector_clock))
    )
    assert (renamed.title, titles(a, task)) == ("Uno", ["Uno"])
    before = commits(a)
    a.write(lambda tx: checklists.edit(tx, checklist.id, ChecklistEdit("Uno")))
    assert commits(a) == before


def test_a_removed_checklist_hides_its_items_and_brings_the_same_ones_back(a: Home, task: Task):
    checklist_item, removed_item = add(a, task, "Kept", "Packing"), add(a, task, "Gone", "Packing")
    a.write(lambda tx: checklist_items.remove_item(tx, removed_item.id))
    assert removed(a, task) == [("Packing", ["Gone"])]
    checklist = a.write(lambda tx: checklists.remove(tx, checklist_item.checklist_id))
    assert (checklist.removed, titles(a, task), removed(a, task)) == (
        True,
        [],
        [("Packing", ["Kept", "Gone"])],
    )
    with pytest.raises(Refused) as refusal:
        a.write(lambda tx: checklist_items.edit_item(tx, checklist_item.id, ItemEdit(is_checked=True)))
    assert (refusal.value.code, "restore" in refusal.value.hint) == (RefusalCode.NOT_FOUND, True)
    back = a.write(lambda tx: checklists.restore(tx, checklist_item.checklist_id))
    assert [item.title for item in back.items] == ["Kept"]


def test_restoring_an_item_restores_its_checklist(a: Home, task: Task):
    item = add(a, task, "Photos", "Packing")
    a.write(lambda tx: checklist_items.remove_item(tx, item.id))
    a.write(lambda tx: checklists.remove(tx, item.checklist_id))
    assert not a.write(lambda tx: checklist_items.restore_item(tx, item.id)).removed
    (checklist,) = a.read(lambda snapshot: tasks.show(snapshot, task.id)).checklists
    assert [checklist_item.title for checklist_item in checklist.items] == ["Photos"]


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("restores", [False, True])
def test_removing_and_restoring_twice_is_once(a: Home, task: Task, full: bool, restores: bool):
    item = add(a, task, "Photos")
    ref = item.checklist_id if full else item.id
    remove = checklists.remove if full else checklist_items.remove_item
    restore = checklists.restore if full else checklist_items.restore_item
    a.write(lambda tx: remove(tx, ref))
    if restores:
        a.write(lambda tx: restore(tx, ref))
    before = commits(a)
    a.write(lambda tx: restore(tx, ref) if restores else remove(tx, ref))
    assert commits(a) == before


def test_what_belongs_to_a_removed_task_is_restored_with_it_and_not_by_itself(a: Home, task: Task):
    item, checklist_item = add(a, task, "Photos"), add(a, task, "Form")
    a.write(lambda tx: checklist_items.remove_item(tx, checklist_item.id))
    a.write(lambda tx: tasks.remove(tx, task.id))
    with pytest.raises(Refused, match="the task 'Renew the passport' was removed"):
        a.write(lambda tx: checklist_items.restore_item(tx, checklist_item.id))
    with pytest.raises(Refused, match="was removed"):
        a.write(lambda tx: checklists.restore(tx, item.checklist_id))
    with pytest.raises(Refused, match="was removed"):
        a.write(lambda tx: checklists.edit(tx, item.checklist_id, ChecklistEdit("X")))
    back = a.write(lambda tx: tasks.restore(tx, task.id))
    assert [listed_item.title for listed_item in back.checklists[0].items] == ["Photos"]


def test_a_new_item_does_not_bring_a_removed_checklist_back(a: Home, task: Task):
    old = add(a, task, "Old")
    a.write(lambda tx: checklists.remove(tx, old.checklist_id))
    new = add(a, task, "New")
    assert new.checklist_id != old.checklist_id
    assert titles(a, task) == ["Todos"]
    assert removed(a, task) == [("Todos", ["Old"])]


def test_checklists_removed_and_filled_apart_stay_in_sight(fleet: Fleet, a: Home, b: Home, task: Task):
    item = add(a, task, "Old", "Packing")
    fleet.sync()
    a.write(lambda tx: checklists.remove(tx, item.checklist_id))
    add(b, task, "New", "Packing")
    fleet.sync()
    assert titles(a, task) == titles(b, task) == ["Packing"]


def test_a_checklist_made_while_its_task_was_removed_elsewhere_keeps_the_task(
    fleet: Fleet, a: Home, b: Home, task: Task
):
    first = new_checklist(a, task, "One")
    fleet.sync()
    a.write(lambda tx: tasks.remove(tx, task.id))
    new_checklist(b, task, "Two")
    fleet.sync()
    assert titles(a, task) == ["One", "Two"]
    a.write(lambda tx: tasks.remove(tx, task.id))
    fleet.sync()
    b.write(lambda tx: tasks.restore(tx, task.id))
    fleet.sync()
    a.write(lambda tx: tasks.remove(tx, task.id))
    b.write(lambda tx: checklists.edit(tx, first.id, ChecklistEdit("Uno")))
    fleet.sync()
    assert titles(a, task) == ["Uno", "Two"]
