"""Conflicts of every kind: told in plain structure, settled by choosing one, on every device alike.

Never looks below the use cases, but for what agents write.
"""

from collections.abc import Sequence

import pytest

from daemon.agents.tools.agent_record import agent_id
from daemon.journal import checklist_items, checklists, conflicts, entries, item_moves, tasks
from daemon.journal.checklist_items import ItemEdit, NewItem
from daemon.journal.checklists import ChecklistEdit
from daemon.journal.conflicts import Keep, Kept
from daemon.journal.entries import EntryEdit, NewEntry
from daemon.journal.item_moves import ItemMove
from daemon.journal.tasks import NewTask, TaskEdit
from daemon.journal.views.structures import ChecklistItem, Conflict, Task
from daemon.refusal import RefusalCode, Refused
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.commit import Operation
from syncproto.ids import id_from_text
from tests.support.fleet import Fleet, Home
from tests.support.sqlite_steps import steps_of
from tests.support.stores import operation, replica_of, sealed, signer_of


@pytest.fixture
def task(a: Home) -> Task:
    return a.write(lambda tx: tasks.add(tx, NewTask(title="Renew the passport", labels=["home"])))


def edit(home: Home, task: Task, **fields) -> Task:
    return home.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(**fields)))


def show(home: Home, task: Task) -> Task:
    return home.read(lambda snapshot: tasks.show(snapshot, task.id))


def conflicts_of(home: Home, ref: str | None = None) -> list[Conflict]:
    return home.read(lambda snapshot: conflicts.list_conflicts(snapshot, ref))


def keep(home: Home, entity: str, field: str, n: int, **more) -> Kept:
    return home.write(lambda tx: conflicts.keep_version(tx, Keep(entity, field, n, **more)))


def add_item(home: Home, task: Task, title: str) -> ChecklistItem:
    return home.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem(title=title)))


def show_removed(home: Home) -> list[str]:
    reported_tasks = home.read(
        lambda snapshot: tasks.list_tasks(snapshot, closed=True, removed=True, brief=True)
    )
    return [reported_task.id for reported_task in reported_tasks]


def settle_in(home: Home, task: Task) -> None:
    """Give the task its agent, whose home is that device."""
    identifier = id_from_text(task.id)
    at_home: dict[str, Value] = {"task_id": identifier, "home_device_id": home.signer.device}
    home.write(lambda tx: tx.commit([EntityWrite(agent_id(identifier), "agent", at_home)]))


def settled(fleet: Fleet) -> None:
    fleet.sync()
    for home in fleet.homes:
        assert conflicts_of(home) == []


@pytest.fixture
def titles(fleet: Fleet, a: Home, b: Home, task: Task) -> Conflict:
    """Two titles, written apart."""
    fleet.sync()
    edit(a, task, title="From a")
    fleet.now_ms += 60_000
    edit(b, task, title="From b")
    fleet.sync()
    (conflict,) = conflicts_of(a)
    return conflict


def test_two_words_on_one_field_are_told_alike_on_every_device(
    a: Home, b: Home, task: Task, titles: Conflict
):
    assert conflicts_of(b) == [titles]
    assert (titles.entity, titles.kind, titles.field, titles.task_title) == (
        task.id,
        "task",
        "title",
        "From b",
    )
    answer = [(version.value, version.by, version.device, version.at) for version in titles.versions]
    assert answer == [
        ("From b", "user", b.signer.device.hex(), "2026-03-20T09:47:40.000Z"),
        ("From a", "user", a.signer.device.hex(), "2026-03-20T09:46:40.000Z"),
    ]
    assert [conflict.field for conflict in show(a, task).conflicts] == ["title"]


@pytest.mark.parametrize("n", [1, 2])
def test_keeping_one_settles_it_everywhere(fleet: Fleet, a: Home, b: Home, titles: Conflict, n: int):
    remaining = keep(a, "from b", "title", n)
    assert (remaining.kept, remaining.left, remaining.title) == (titles.versions[n - 1], [], "From b")
    settled(fleet)
    title = b.read(lambda snapshot: tasks.show(snapshot, titles.entity)).title
    assert title == ["From b", "From a"][n - 1]


def test_a_conflict_that_changed_since_it_was_shown_is_stale(a: Home, task: Task, titles: Conflict):
    assert titles.vector_clock == show(a, task).vector_clock
    edit(a, task, priority="P0")
    with pytest.raises(Refused) as refusal:
        keep(a, task.id, "title", 1, base=titles.vector_clock)
    assert refusal.value.code is RefusalCode.STALE
    (now,) = conflicts_of(a)
    assert keep(a, task.id, "title", 2, base=now.vector_clock).left == []


def test_what_is_not_in_conflict_cannot_be_settled(a: Home, task: Task, titles: Conflict):
    for field, n, code in (("due", 1, RefusalCode.NOT_FOUND), ("title", 3, RefusalCode.USAGE)):
        with pytest.raises(Refused) as refusal:
            keep(a, task.id, field, n)
        assert refusal.value.code is code
    with pytest.raises(Refused, match="'nonsense'"):
        keep(a, "nonsense", "title", 1)
    assert len(conflicts_of(a)) == 1


def test_only_what_belongs_to_a_task_is_told_of_it(a: Home, task: Task, titles: Conflict):
    a.write(lambda tx: tasks.add(tx, NewTask(title="Other")))
    assert conflicts_of(a, "from b") == [titles]
    assert conflicts_of(a, "other") == []


def test_a_deletion_that_met_an_edit_names_both(fleet: Fleet, a: Home, b: Home, task: Task):
    fleet.sync()
    a.write(lambda tx: tasks.remove(tx, task.id))
    fleet.now_ms += 1000
    edit(b, task, due="2026-04-01")
    fleet.sync()
    (conflict,) = conflicts_of(a)
    assert conflict.field == "deleted"
    assert [(version.value, version.words, version.device) for version in conflict.versions] == [
        (False, "keep it", b.signer.device.hex()),
        (True, "remove it", a.signer.device.hex()),
    ]
    assert conflict.versions[0].at == "2026-03-20T09:46:41.000Z"


@pytest.mark.parametrize("n", [1, 2])
def test_a_deletion_that_met_an_edit_is_settled_either_way(
    fleet: Fleet, a: Home, b: Home, task: Task, n: int
):
    stays = n == 1
    fleet.sync()
    a.write(lambda tx: tasks.remove(tx, task.id))
    item = b.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem(title="Photos")))
    fleet.sync()
    keep(b, task.id, "deleted", n)
    settled(fleet)
    shown_tasks = a.read(
        lambda snapshot: tasks.list_tasks(snapshot, closed=False, removed=not stays, brief=False)
    )
    assert [shown_task.id for shown_task in shown_tasks] == [task.id]
    assert shown_tasks[0].checklists[0].items[0].id == item.id


def test_a_label_given_and_taken_is_told_by_its_name(fleet: Fleet, a: Home, b: Home, task: Task):
    edit(a, task, remove_labels=["home"])
    fleet.sync()
    edit(a, task, add_labels=["home"])
    edit(b, task, add_labels=["home"])
    fleet.sync()
    assert conflicts_of(a) == []
    edit(a, task, remove_labels=["home"])
    b.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(remove_labels=["home"])))
    b.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(add_labels=["home"])))
    fleet.sync()
    (conflict,) = conflicts_of(a)
    assert conflict.name == "label_ids/home"
    assert {version.words for version in conflict.versions} == {"with it", "without it"}
    wanted = next(index for index, version in enumerate(conflict.versions, 1) if version.value)
    keep(a, task.id, "label_ids/home", wanted)
    settled(fleet)
    assert show(b, task).labels == ["home"]


def test_places_and_checklists_are_told_in_words(fleet: Fleet, a: Home, b: Home, task: Task):
    ids = {title: add_item(a, task, title).id for title in "ABC"}
    fleet.sync()
    a.write(lambda tx: item_moves.move_item(tx, ids["A"], ItemMove(last=True)))
    b.write(lambda tx: item_moves.move_item(tx, ids["A"], ItemMove(checklist="Later")))
    fleet.sync()
    (place,) = conflicts_of(a)
    assert (place.field, place.kind, place.title) == ("position", "checklist_item", "A")
    keep(a, ids["A"], "place", 1)
    settled(fleet)
    a.write(lambda tx: item_moves.move_item(tx, ids["B"], ItemMove(after=ids["C"])))
    b.write(lambda tx: item_moves.move_item(tx, ids["C"], ItemMove(first=True)))
    b.write(lambda tx: item_moves.move_item(tx, ids["B"], ItemMove(first=True)))
    fleet.sync()
    (place,) = conflicts_of(a)
    assert {version.words for version in place.versions} == {"first", "after “C”"}


def test_conflicts_of_items_entries_and_checklists_belong_to_the_task(
    fleet: Fleet, a: Home, b: Home, task: Task
):
    item = add_item(a, task, "Photos")
    entry = a.write(lambda tx: entries.add(tx, task.id, NewEntry(text="x")))
    fleet.sync()

    def reword_all(home: Home) -> None:
        home.write(lambda tx: checklist_items.edit_item(tx, item.id, ItemEdit(title=home.name)))
        home.write(lambda tx: entries.edit(tx, entry.id, EntryEdit(text=home.name)))
        home.write(lambda tx: checklists.edit(tx, item.checklist_id, ChecklistEdit(home.name)))

    reword_all(a)
    reword_all(b)
    fleet.sync()
    reported_conflicts = conflicts_of(b)
    assert [
        (reported_conflict.kind, reported_conflict.field) for reported_conflict in reported_conflicts
    ] == [
        ("checklist", "title"),
        ("checklist_item", "title"),
        ("entry", "text"),
    ]
    assert {reported_conflict.task_id for reported_conflict in reported_conflicts} == {task.id}
    assert a.read(conflicts.count_conflicts) == 3
    for conflict in reported_conflicts:
        keep(a, conflict.entity, conflict.field, 1)
    settled(fleet)


def test_what_hangs_from_something_removed_has_nothing_to_settle(fleet: Fleet, a: Home, b: Home, task: Task):
    item = add_item(a, task, "Photos")
    fleet.sync()
    a.write(lambda tx: checklist_items.edit_item(tx, item.id, ItemEdit(title="A")))
    b.write(lambda tx: checklist_items.edit_item(tx, item.id, ItemEdit(title="B")))
    fleet.sync()
    assert len(conflicts_of(a)) == 1
    a.write(lambda tx: checklists.remove(tx, item.checklist_id))
    assert conflicts_of(a) == []
    _cannot_keep(a, item, "the checklist 'Todos' was removed")
    a.write(lambda tx: checklists.restore(tx, item.checklist_id))
    a.write(lambda tx: tasks.remove(tx, task.id))
    assert conflicts_of(a) == []
    _cannot_keep(a, item, "the task 'Renew the passport' was removed")
    assert show_removed(a) == [task.id]


def _cannot_keep(home: Home, item: ChecklistItem, message: str) -> None:
    with pytest.raises(Refused) as refusal:
        keep(home, item.id, "title", 1)
    assert (refusal.value.code, refusal.value.message) == (RefusalCode.NOT_FOUND, message)


def test_what_two_devices_removed_while_a_third_edited_it_is_one_choice(
    fleet: Fleet, a: Home, b: Home, task: Task
):
    c = fleet.home("c")
    fleet.sync()
    for home in (a, b):
        home.write(lambda tx: tasks.remove(tx, task.id))
    edit(c, task, priority="P0")
    fleet.sync()
    (conflict,) = conflicts_of(a)
    assert [version.words for version in conflict.versions] == ["keep it", "remove it"]
    assert [version.words_id for version in conflict.versions] == ["deletion-keep", "deletion-remove"]


def test_many_places_in_conflict_cost_their_number(fleet: Fleet, a: Home, b: Home, task: Task):
    costs = []
    ids: list[str] = []
    for count in (15, 60):
        ids += [add_item(a, task, str(len(ids))).id for _ in range(count - len(ids))]
        fleet.sync()
        for home in (a, b):
            for index, item in enumerate(ids):
                home.set(id_from_text(item), position=f"V{home.name}{index}x")
        fleet.sync()
        with a.store.read() as snapshot, steps_of(snapshot) as steps:
            assert (
                len(conflicts.list_conflicts(snapshot, None)) == conflicts.count_conflicts(snapshot) == count
            )
            costs.append(steps())
    assert costs[1] < 6 * costs[0]


def test_what_was_removed_has_nothing_to_settle(fleet: Fleet, a: Home, task: Task, titles: Conflict):
    a.write(lambda tx: tasks.remove(tx, task.id))
    assert conflicts_of(a) == []
    a.write(lambda tx: tasks.restore(tx, task.id))
    assert [conflict.field for conflict in conflicts_of(a)] == ["title"]


def test_what_people_wrote_to_a_kind_of_a_newer_version_is_settled_too(fleet: Fleet, a: Home, b: Home):
    newer = a.write(lambda tx: tx.new_id())
    a.write(lambda tx: tx.commit([EntityWrite(newer, "mood", {"colour": "grey"})]))
    fleet.sync()
    a.write(lambda tx: tx.commit([EntityWrite(newer, "mood", {"colour": "blue"})]))
    b.write(lambda tx: tx.commit([EntityWrite(newer, "mood", {"colour": "green"})]))
    fleet.sync()
    (conflict,) = conflicts_of(a)
    assert (conflict.kind, conflict.field) == ("mood", "colour")
    assert sorted(version.value for version in conflict.versions) == ["blue", "green"]
    assert a.read(conflicts.count_conflicts) == 1
    keep(a, conflict.entity, "colour", 1)
    settled(fleet)


def test_todos_typed_in_another_way_are_one_checklist_without_a_conflict(
    fleet: Fleet, a: Home, b: Home, task: Task
):
    fleet.sync()
    a.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem("Photos", "todos")))
    b.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem("Fee", "TODOS")))
    settled(fleet)
    (checklist,) = show(b, task).checklists
    assert (checklist.title, len(checklist.items)) == ("Todos", 2)


def test_two_homes_of_an_agent_are_told_by_the_names_of_the_devices(
    fleet: Fleet, a: Home, b: Home, task: Task
):
    fleet.sync()
    for home, name in ((a, "laptop"), (b, "phone")):
        home.enter_device(name)
        settle_in(home, task)
    fleet.sync()
    (conflict,) = conflicts_of(a, task.id)
    assert (conflict.kind, conflict.field, conflict.task_title) == (
        "agent",
        "home_device_id",
        "Renew the passport",
    )
    assert sorted(version.words for version in conflict.versions) == ["laptop", "phone"]
    keep(a, conflict.entity, "home_device_id", 2)
    settled(fleet)


def accept_from_devices(home: Home, operations: Sequence[Operation]) -> None:
    """Accept the first commits of as many devices, each with one operation."""
    page = [
        sealed(signer_of(f"device {number}"), replica_of(f"device {number}"), 1, None, [write]).signed
        for number, write in enumerate(operations)
    ]
    home.write(lambda tx: tx.accept_page(page))


def test_of_very_many_values_some_are_shown_and_the_others_counted(a: Home, task: Task) -> None:
    entity = id_from_text(task.id)
    accept_from_devices(a, [operation(entity, title=f"title {number}") for number in range(40)])
    (conflict,) = conflicts_of(a)
    assert (len(conflict.versions), conflict.left_out) == (12, 29)
    remaining = keep(a, task.id, "title", 12)
    assert remaining.kept.value == conflict.versions[11].value
    assert conflicts_of(a) == []


def test_very_many_restores_do_not_hide_the_choice_to_remove(a: Home, task: Task) -> None:
    entity = id_from_text(task.id)
    accept_from_devices(a, [operation(entity, deleted=number == 0) for number in range(20)])
    (conflict,) = conflicts_of(a)
    assert [version.words for version in conflict.versions] == ["keep it", "remove it"]
    keep(a, task.id, "deleted", 2)
    assert show_removed(a) == [task.id]


def test_long_values_of_a_conflict_are_shown_as_far_as_they_fit(a: Home, task: Task) -> None:
    entity = id_from_text(task.id)
    accept_from_devices(a, [operation(entity, reason=str(number) * 100_000) for number in range(6)])
    (conflict,) = conflicts_of(a)
    assert (len(conflict.versions), conflict.left_out) == (2, 4)
