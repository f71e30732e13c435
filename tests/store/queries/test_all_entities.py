"""What leaves a store whole, and what is read of it at a glance.

Never reads what is in sight alone.
"""

from store.queries import projections
from store.queries.all_entities import every_entity
from store.queries.items import is_item_confirmed
from store.store import Store
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.ids import EntityId
from tests.support.stores import StoreBench, entity_id

TASK, OTHER, LIST, ITEM, REMOVED = (entity_id(number) for number in range(1, 6))


def filled(bench: StoreBench) -> Store:
    """Return a store with two tasks, of which one has a checklist of one item in sight and one removed."""
    store = bench.store("a")
    with store.write() as tx:
        tx.commit([EntityWrite(OTHER, "task", {"title": "other"})])
        tx.commit(
            [EntityWrite(TASK, "task", {"title": "one"}), EntityWrite(LIST, "checklist", {"task_id": TASK})]
        )
        tx.commit(
            [
                EntityWrite(identifier, "checklist_item", {"checklist_id": LIST, "text": "x"})
                for identifier in (ITEM, REMOVED)
            ]
        )
        tx.commit([EntityWrite(REMOVED, "checklist_item", {"deleted": True})])
    return store


def test_every_entity_is_read_by_id_with_how_often_it_was_touched(bench: StoreBench) -> None:
    store = filled(bench)
    with store.read() as snapshot:
        stored = [
            (entity.id, entity.kind, entity.visible, touched) for entity, touched in every_entity(snapshot)
        ]
    assert stored == [
        (TASK, "task", True, 1),
        (OTHER, "task", True, 1),
        (LIST, "checklist", True, 1),
        (ITEM, "checklist_item", True, 1),
        (REMOVED, "checklist_item", False, 2),
    ]


def test_an_item_is_confirmed_or_not_or_undecided(bench: StoreBench) -> None:
    store = bench.store("a")
    with store.write() as tx:
        for number, verdict in ((10, "confirmed"), (11, "rejected")):
            words: dict[str, Value] = {"item_id": entity_id(number), "verdict": verdict, "seen": []}
            tx.commit([EntityWrite(entity_id(100 + number), "decision", words)])
        assert [is_item_confirmed(tx, entity_id(number)) for number in (10, 11, 12)] == [True, False, None]


def test_the_items_in_sight_of_some_tasks_are_read_at_a_glance(bench: StoreBench) -> None:
    store = filled(bench)

    def items(*tasks: EntityId) -> list[tuple[EntityId, object]]:
        with store.read() as snapshot:
            return [(task, item["text"]) for task, item in projections.checklist_items_of(snapshot, tasks)]

    assert items(TASK, OTHER) == items(TASK) == [(TASK, "x")]
    assert items(OTHER) == items() == []
    with store.write() as tx:
        tx.commit([EntityWrite(LIST, "checklist", {"deleted": True})])
    assert items(TASK) == []


def test_what_points_at_several_is_read_at_once(bench: StoreBench) -> None:
    store = filled(bench)
    with store.write() as tx:
        tx.commit([EntityWrite(entity_id(9), "checklist", {"task_id": OTHER})])
    with store.read() as snapshot:
        below = snapshot.entities_pointing_at_any([OTHER, TASK], "task_checklist")
        assert [(target, entity.id) for target, entity in below] == [(TASK, LIST), (OTHER, entity_id(9))]
        assert [entity.id for _, entity in snapshot.entities_pointing_at_any([LIST], "checklist_item")] == [
            ITEM
        ]
        assert (
            snapshot.entities_pointing_at_any([], "task_checklist")
            == snapshot.entities_pointing_at_any([ITEM], "task_checklist")
            == []
        )
