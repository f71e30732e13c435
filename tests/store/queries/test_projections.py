"""Glances at folded entities: winning values alone, and what hangs on what.

Never reads an entity whole, but to compare.
"""

from store.queries import projections
from store.store import Store
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.ids import EntityId
from syncproto.vector_clock import EMPTY_CLOCK
from tests.support.stores import StoreBench, entity_id, exchange, write

TASK, OTHER, GONE = entity_id(1), entity_id(2), entity_id(3)
LIST, ITEM, NOTE, LINK = entity_id(10), entity_id(11), entity_id(12), entity_id(13)


def put(store: Store, entity: EntityId, kind: str, **fields: Value) -> None:
    with store.write() as tx:
        tx.commit([EntityWrite(entity, kind, fields)])


def test_all_that_hangs_on_a_task_is_found_out_of_sight_included(bench: StoreBench) -> None:
    store = bench.store("a")
    for task in (TASK, OTHER):
        put(store, task, "task", title="a task")
    put(store, LIST, "checklist", task_id=TASK)
    put(store, ITEM, "checklist_item", checklist_id=LIST, deleted=True)
    put(store, NOTE, "entry", task_id=TASK)
    put(store, LINK, "link", from_id=OTHER, to_id=TASK, type="blocks")
    with store.read() as snapshot:
        assert sorted(projections.parts_of_task(snapshot, TASK)) == [LIST, ITEM, NOTE, LINK]
        assert projections.parts_of_task(snapshot, OTHER) == [LINK]
        assert projections.parts_of_task(snapshot, GONE) == []


def test_states_are_told_by_id_and_nothing_of_what_is_not_held(bench: StoreBench) -> None:
    store = bench.store("a")
    for task in (TASK, OTHER):
        put(store, task, "task", title="a task")
    with store.read() as snapshot:
        states = projections.states_of(snapshot, [OTHER, GONE])
        assert list(states) == [OTHER]
        assert projections.winning_values(states[OTHER]) == {"title": "a task"}
        assert projections.states_of(snapshot, []) == {}


def test_agents_in_sight_are_told_with_all_values_and_whether_their_task_is_in_sight(
    bench: StoreBench,
) -> None:
    a, b = bench.store("a"), bench.store("b")
    with a.read() as snapshot:
        assert list(projections.visible_agents(snapshot)) == []
    put(a, TASK, "task", title="a task")
    put(a, GONE, "task", title="removed", deleted=True)
    put(a, entity_id(20), "agent", task_id=TASK, mode="auto")
    put(a, entity_id(21), "agent", task_id=GONE)
    put(a, entity_id(22), "agent", task_id="no id")
    put(a, entity_id(23), "agent", task_id=TASK, deleted=True)
    exchange(a, b)
    for store, mode in ((a, "first"), (b, "second")):
        put(store, entity_id(20), "agent", mode=mode)
    exchange(b, a)
    with a.read() as snapshot:
        result = {name: (values, observed) for name, values, observed in projections.visible_agents(snapshot)}
        entity = snapshot.entity(entity_id(20))
    assert entity is not None
    values, is_task_visible = result[entity_id(20)]
    assert values["mode"] == [version.value for version in entity.versions("mode")]
    assert sorted(values["mode"]) == ["first", "second"]
    assert is_task_visible
    assert {name: observed for name, (_, observed) in result.items() if name != entity_id(20)} == {
        entity_id(21): False,
        entity_id(22): False,
    }


def test_agents_without_a_task_need_no_look_at_tasks(bench: StoreBench) -> None:
    store = bench.store("a")
    put(store, entity_id(20), "agent", mode="auto")
    with store.read() as snapshot:
        assert list(projections.visible_agents(snapshot)) == [(entity_id(20), {"mode": ["auto"]}, False)]


def test_a_kind_is_held_also_where_all_of_it_is_removed(bench: StoreBench) -> None:
    store = bench.store("a")
    write(store, TASK, title="x", deleted=True)
    with store.read() as snapshot:
        assert snapshot.has_kind("task")
        assert not snapshot.has_kind("agent")


def test_the_next_stamp_never_leads_back(bench: StoreBench) -> None:
    store = bench.store("a")
    write(store, TASK, EMPTY_CLOCK, title="x")
    before = bench.now_ms
    bench.now_ms -= 5000
    with store.write() as tx:
        assert tx.stamp_ms_at(tx.now_ms()) == before
        bench.now_ms += 10_000
        assert tx.stamp_ms_at(tx.now_ms()) == before + 5000
