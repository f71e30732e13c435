"""A person's use cases on checklists and their items.

Never goes below the use cases, but for what an agent wrote.
"""

import pytest

from daemon.journal import checklist_items, tasks
from daemon.journal.checklist_items import ItemEdit, NewItem, todos_id
from daemon.journal.tasks import NewTask
from daemon.journal.views.structures import ChecklistItem, Task
from daemon.refusal import RefusalCode, Refused
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.ids import id_from_text, id_to_text
from tests.support.fleet import Fleet, Home


@pytest.fixture
def task(a: Home) -> Task:
    return a.write(lambda tx: tasks.add(tx, NewTask(title="Renew the passport")))


def add(home: Home, task: Task, title: str = "Photos", **fields) -> ChecklistItem:
    return home.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem(title=title, **fields)))


def edit(home: Home, item: ChecklistItem, **fields) -> ChecklistItem:
    return home.write(lambda tx: checklist_items.edit_item(tx, item.id, ItemEdit(**fields)))


def show(home: Home, task: Task) -> Task:
    return home.read(lambda snapshot: tasks.show(snapshot, task.id))


def commits(home: Home) -> int:
    return home.read(lambda snapshot: snapshot.counts().commits)


def test_the_first_item_makes_the_checklist_todos_under_an_id_that_follows_from_the_task(a: Home, task: Task):
    item = add(a, task)
    (checklist,) = show(a, task).checklists
    assert (checklist.title, checklist.id) == ("Todos", id_to_text(todos_id(id_from_text(task.id))))
    assert checklist.items == [item]
    assert (item.title, item.is_checked, item.checked_by) == ("Photos", False, "user")


def test_items_added_on_two_devices_before_they_met_share_one_checklist(
    fleet: Fleet, a: Home, b: Home, task: Task
):
    fleet.sync()
    add(a, task, "From a")
    add(b, task, "From b")
    fleet.sync()
    (checklist,) = show(a, task).checklists
    assert {item.title for item in checklist.items} == {"From a", "From b"}
    assert show(a, task).conflicts == []


def test_items_stay_in_the_order_in_which_they_were_added(a: Home, task: Task):
    titles = [f"item {n}" for n in range(70)]
    for title in titles:
        add(a, task, title)
    (checklist,) = show(a, task).checklists
    assert [item.title for item in checklist.items] == titles


def test_a_named_checklist_is_found_by_its_title_or_made(a: Home, task: Task):
    first = add(a, task, "Passport", checklist="Packing")
    assert add(a, task, "Tickets", checklist="packing").checklist_id == first.checklist_id
    assert add(a, task, "No name given").checklist_id == first.checklist_id
    assert [checklist.title for checklist in show(a, task).checklists] == ["Packing"]


def test_adding_an_item_is_one_commit_that_also_touches_the_task(a: Home, task: Task):
    before = commits(a)
    add(a, task)
    assert commits(a) == before + 1
    assert show(a, task).vector_clock != task.vector_clock


def test_an_item_ticked_while_its_task_was_removed_elsewhere_keeps_the_task(
    fleet: Fleet, a: Home, b: Home, task: Task
):
    item = add(a, task)
    fleet.sync()
    a.write(lambda tx: tasks.remove(tx, task.id))
    edit(b, item, is_checked=True)
    fleet.sync()
    kept_task = show(a, task)
    assert kept_task.checklists[0].items[0].is_checked
    assert [conflict.field for conflict in kept_task.conflicts] == ["deleted"]


def test_the_item_of_a_task_that_is_removed_is_left_alone(a: Home, task: Task):
    item = add(a, task)
    a.write(lambda tx: tasks.remove(tx, task.id))
    with pytest.raises(Refused) as refusal:
        edit(a, item, is_checked=True)
    assert refusal.value.code is RefusalCode.NOT_FOUND
    assert "restore" in refusal.value.hint


def test_ticking_shows_who_and_when(fleet: Fleet, a: Home, task: Task):
    item = add(a, task)
    fleet.now_ms += 60_000
    ticked = edit(a, item, is_checked=True)
    assert (ticked.is_checked, ticked.checked_by, ticked.checked_at) == (
        True,
        "user",
        "2026-03-20T09:47:40.000Z",
    )


def test_ticking_twice_is_ticking_once_but_confirming_an_agents_tick_is_a_word_of_ones_own(
    a: Home, task: Task
):
    item = add(a, task)
    a.write(
        lambda tx: tx.commit(
            [EntityWrite(id_from_text(item.id), "checklist_item", {"is_checked": True})], by=AuthorKind.AGENT
        )
    )
    assert show(a, task).checklists[0].items[0].checked_by == "agent"
    assert edit(a, item, is_checked=True).checked_by == "user"
    before = commits(a)
    edit(a, item, is_checked=True)
    assert commits(a) == before


def test_progress_counts_what_is_not_archived(a: Home, task: Task):
    edit(a, add(a, task, "One"), is_checked=True)
    edit(a, add(a, task, "Two"), is_archived=True)
    add(a, task, "Three")
    progress = show(a, task).checklist_progress
    assert (progress.completed, progress.total) == (1, 2)


def test_a_rewording_leaves_the_tick_and_its_provenance(fleet: Fleet, a: Home, task: Task):
    ticked = edit(a, add(a, task), is_checked=True)
    fleet.now_ms += 60_000
    reworded = edit(a, ticked, title="Two photos")
    assert (reworded.title, reworded.checked_at) == ("Two photos", ticked.checked_at)


@pytest.mark.parametrize("title", ["", "  ", "x" * 401])
def test_a_title_that_is_none_is_refused(a: Home, task: Task, title):
    before = commits(a)
    with pytest.raises(Refused) as refusal:
        add(a, task, title)
    assert refusal.value.code is RefusalCode.USAGE
    assert commits(a) == before


def test_todos_that_were_removed_come_back_with_the_next_item(a: Home, task: Task):
    add(a, task, "Old")
    a.set(todos_id(id_from_text(task.id)), deleted=True)
    assert show(a, task).checklists == []
    add(a, task, "New")
    assert [checklist.title for checklist in show(a, task).checklists] == ["Todos"]


def test_an_item_without_a_checklist_can_still_be_ticked(a: Home):
    item = a.new("checklist_item", title="Stray", is_checked=False)
    ticked = a.write(lambda tx: checklist_items.edit_item(tx, id_to_text(item), ItemEdit(is_checked=True)))
    assert (ticked.is_checked, ticked.task_id) == (True, None)


def test_todos_renamed_by_the_person_are_not_taken_for_todos(a: Home, task: Task):
    add(a, task, "One")
    a.set(todos_id(id_from_text(task.id)), title="Before the trip")
    add(a, task, "Two", checklist="Todos")
    assert sorted(checklist.title for checklist in show(a, task).checklists) == ["Before the trip", "Todos"]
