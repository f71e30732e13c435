"""Where items go: moves within a checklist and between checklists, also on devices that are apart.

Never compares places, only the order in which items are shown.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.journal import checklist_items, checklists, item_moves, tasks
from daemon.journal.checklist_items import ItemEdit, NewItem
from daemon.journal.fields import positions
from daemon.journal.item_moves import ItemMove
from daemon.journal.tasks import NewTask
from daemon.journal.views.structures import ChecklistItem, Task
from daemon.refusal import RefusalCode, Refused
from store.transaction import EntityWrite
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.support.fleet import Fleet, Home


@pytest.fixture
def task(a: Home) -> Task:
    return new_task(a)


def new_task(home: Home, title: str = "Renew the passport") -> Task:
    return home.write(lambda tx: tasks.add(tx, NewTask(title=title)))


def add(home: Home, task: Task, title: str, checklist: str | None = None) -> ChecklistItem:
    return home.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem(title, checklist)))


def move(home: Home, item: str, **where) -> ChecklistItem:
    return home.write(lambda tx: item_moves.move_item(tx, item, ItemMove(**where)))


def show(home: Home, task: Task) -> Task:
    return home.read(lambda snapshot: tasks.show(snapshot, task.id))


def order(home: Home, task: Task, which: int = 0) -> list[str]:
    return [item.title for item in show(home, task).checklists[which].items]


def commits(home: Home) -> int:
    return home.read(lambda snapshot: snapshot.counts().commits)


@pytest.fixture
def items(a: Home, task: Task) -> dict[str, str]:
    return {title: add(a, task, title).id for title in "ABCD"}


@pytest.mark.parametrize(
    ("moved", "where"),
    [
        ("A BACD", {"after": "B"}),
        ("A BCAD", {"before": "D"}),
        ("D DABC", {"before": "A"}),
        ("D ADBC", {"after": "A"}),
        ("C CABD", {"first": True}),
        ("B ACDB", {"last": True}),
    ],
)
def test_an_item_goes_where_it_is_put(a: Home, task: Task, items, moved, where):
    moved, expected = moved.split()
    before = commits(a)
    move(a, items[moved], **{key: items.get(value, value) for key, value in where.items()})
    assert order(a, task) == list(expected)
    assert commits(a) == before + 1


def test_an_item_without_a_task_neither_moves_nor_has_anything_placed_beside_it(a: Home, items):
    """Its checklist comes with a commit that is not here yet."""
    lone = a.write(lambda tx: tx.new_id())
    a.write(lambda tx: tx.commit([EntityWrite(lone, "checklist_item", {"title": "E", "position": "m"})]))
    with pytest.raises(Refused) as moves:
        move(a, id_to_text(lone), first=True)
    assert (str(moves.value), moves.value.hint) == (
        "this item belongs to no task",
        "an item stays with its task",
    )
    with pytest.raises(Refused) as beside:
        move(a, items["A"], after=id_to_text(lone))
    assert (str(beside.value), beside.value.hint) == (
        "this item belongs to no task",
        "nothing can be placed beside it",
    )


@pytest.mark.parametrize("where", [{"first": True}, {"before": "B"}], ids=["first", "before"])
def test_an_item_that_is_there_already_is_not_written(a: Home, task: Task, items, where):
    clock = show(a, task).checklists[0].items[0].vector_clock
    before = commits(a)
    move(a, items["A"], base=clock, **{key: items.get(value, value) for key, value in where.items()})
    assert (commits(a), order(a, task)) == (before, list("ABCD"))


def test_an_item_goes_into_another_checklist_beside_one_or_at_its_end(a: Home, task: Task, items):
    packing = add(a, task, "P", "Packing")
    move(a, items["B"], checklist="packing")
    move(a, items["C"], before=packing.id)
    moved = move(a, items["A"], checklist=packing.checklist_id[:8], first=True)
    assert (order(a, task), order(a, task, 1)) == (["D"], ["A", "C", "P", "B"])
    assert moved.checklist_id == packing.checklist_id


def test_a_checklist_that_is_not_there_is_made_by_a_move(a: Home, task: Task, items):
    move(a, items["A"], checklist="Later")
    assert [checklist.title for checklist in show(a, task).checklists] == ["Todos", "Later"]
    assert order(a, task, 1) == ["A"]


def test_what_an_item_cannot_do_is_refused(a: Home, task: Task, items):
    other = add(a, new_task(a, "Other"), "X")
    for where in ({}, {"first": True, "last": True}, {"before": items["A"]}, {"after": other.id}):
        with pytest.raises(Refused) as refusal:
            move(a, items["A"], **where)
        assert refusal.value.code is RefusalCode.USAGE, where
    with pytest.raises(Refused) as refusal:
        move(a, items["A"], after=items["B"], checklist="Packing")
    assert refusal.value.code is RefusalCode.USAGE
    assert order(a, task) == list("ABCD")


def test_an_item_does_not_follow_another_out_of_sight(a: Home, task: Task, items):
    """Nor does it bring back the checklist that was removed."""
    packing = add(a, task, "Socks", "Packing")
    a.write(lambda tx: checklists.remove(tx, packing.checklist_id))
    with pytest.raises(Refused) as refusal:
        move(a, items["A"], after=packing.id)
    assert (refusal.value.code, "'Packing'" in refusal.value.message) == (RefusalCode.NOT_FOUND, True)
    assert [checklist.title for checklist in show(a, task).checklists] == ["Todos"]


def test_items_that_were_given_the_same_place_can_still_be_parted(a: Home, task: Task, items):
    same = positions.position_between(None, None)
    for item in items.values():
        a.set(id_from_text(item), position=same)
    start = order(a, task)
    move(a, items[start[3]], after=items[start[0]])
    assert order(a, task) == [start[0], start[3], start[1], start[2]]


def test_items_without_a_place_stay_in_order_around_one_that_moves(a: Home, task: Task, items):
    for item in items.values():
        a.set(id_from_text(item), position="")
    start = order(a, task)
    move(a, items[start[0]], after=items[start[2]])
    assert order(a, task) == [start[1], start[2], start[0], start[3]]


def test_an_item_moved_to_two_places_is_in_one_of_them_and_the_other_is_told(
    fleet: Fleet, a: Home, b: Home, task: Task, items
):
    fleet.sync()
    move(a, items["A"], last=True)
    move(b, items["A"], after=items["B"])
    fleet.sync()
    assert order(a, task) == order(b, task)
    assert order(a, task) in (list("BCDA"), list("BACD"))
    assert [conflict.field for conflict in show(a, task).conflicts] == ["position"]


def test_an_item_moved_while_its_checklist_was_removed_elsewhere_keeps_the_checklist(
    fleet: Fleet, a: Home, b: Home, task: Task, items
):
    fleet.sync()
    checklist = show(a, task).checklists[0].id
    a.set(id_from_text(checklist), deleted=True)
    move(b, items["A"], last=True)
    fleet.sync()
    assert order(a, task) == list("BCDA")
    assert [conflict.kind for conflict in show(a, task).conflicts] == ["checklist"]


def test_a_tick_keeps_a_checklist_that_was_removed_elsewhere(
    fleet: Fleet, a: Home, b: Home, task: Task, items
):
    fleet.sync()
    a.set(id_from_text(show(a, task).checklists[0].id), deleted=True)
    b.write(lambda tx: checklist_items.edit_item(tx, items["B"], ItemEdit(is_checked=True)))
    fleet.sync()
    assert [item.is_checked for item in show(a, task).checklists[0].items] == [False, True, False, False]


Steps = st.lists(st.tuples(st.booleans(), st.integers(0, 99), st.integers(0, 99), st.booleans()), max_size=12)


@settings(max_examples=25)
@given(st.integers(2, 7), Steps)
def test_moves_and_inserts_made_apart_converge_and_keep_what_each_device_saw(count: int, steps) -> None:
    """Each device moves items of its own and adds others; the rest is nobody's."""
    with TemporaryDirectory() as folder:
        fleet = Fleet(Path(folder))
        homes = [fleet.home("a"), fleet.home("b")]
        task = new_task(homes[0])
        ids = [add(homes[0], task, f"{n}").id for n in range(count)]
        fleet.sync()
        touched: list[set[str]] = [set(), set()]
        for on_b, which, beside, inserts in steps:
            own = [] if inserts else ids[int(on_b) :: 2]
            touched[on_b].add(_step(homes[on_b], task, own, which, beside))
        observed = [order(home, task) for home in homes]
        fleet.sync()
        texts = order(homes[0], task)
        assert order(homes[1], task) == texts
        for index in (0, 1):
            mine = [title for title in observed[index] if title not in touched[1 - index]]
            assert [title for title in texts if title in set(mine)] == mine
        assert show(homes[0], task).conflicts == []
        fleet.close()


def _step(home: Home, task: Task, own: list[str], which: int, beside: int) -> str:
    """Move one of this device's own items, or add one, beside any other; return its title."""
    listed = show(home, task).checklists[0].items
    other = listed[beside % len(listed)].id
    item = own[which % len(own)] if own else add(home, task, f"{home.name}{len(listed)}").id
    if item != other:
        move(home, item, **({"before": other} if which % 2 else {"after": other}))
    return home.entity(EntityId(id_from_text(item))).text("title")


LONG = "V" + "0" * 198 + "1"
PLACES_OF_ANOTHER_PROGRAM = ["z" * 250_000 + "y", "z" * 199 + "y", "0" * 199 + "1", LONG]


@pytest.mark.parametrize("place", PLACES_OF_ANOTHER_PROGRAM)
def test_a_place_without_end_beside_an_item_costs_the_person_nothing(
    a: Home, task: Task, items: dict[str, str], place: str
) -> None:
    _place(a, items["D"], place)
    displayed = order(a, task)
    added = add(a, task, "E")
    assert positions.is_position(_position(a, added.id))
    for spot in ({"before": items["D"]}, {"after": items["D"]}, {"first": True}, {"last": True}):
        move(a, items["B"], **spot)
        assert positions.is_position(_position(a, items["B"]))
    assert set(order(a, task)) == {*displayed, "E"}


def test_neighbours_that_leave_no_room_are_placed_anew(a: Home, task: Task, items: dict[str, str]) -> None:
    _place(a, items["A"], "V")
    _place(a, items["B"], LONG)
    _place(a, items["C"], LONG[:-1] + "2")
    move(a, items["D"], before=items["B"])
    assert order(a, task) == ["A", "D", "B", "C"]
    assert max(len(_position(a, item)) for item in items.values()) <= 200


def _place(home: Home, item: str, place: str) -> None:
    entity = id_from_text(item)
    home.write(lambda tx: tx.commit([EntityWrite(entity, "checklist_item", {"position": place})]))


def _position(home: Home, item: str) -> str:
    entity = home.read(lambda snapshot: snapshot.entity(id_from_text(item)))
    assert entity is not None
    return entity.text("position")
