"""Clocks as they are shown, and ids as people shorten them.

Never looks into the log but through the store.
"""

from store.queries.clock_counters import clock_from_counters, commit_stamp_ms, counters_of
from store.queries.items import items_with_prefix
from store.queries.projections import task_titles
from store.store import Store
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.ids import EntityId, ReplicaId, id_to_text
from syncproto.vector_clock import Head, VectorClock
from tests.support.stores import (
    StoreBench,
    entity_id,
    operation,
    replica_of,
    sealed,
    signer_of,
    write_entities,
)


def clock_of(store: Store, entity: EntityId) -> VectorClock:
    with store.read() as snapshot:
        stored_entity = snapshot.entity(entity)
        assert stored_entity is not None
        return stored_entity.clock


def test_what_is_shown_now_is_the_clock_now(bench: StoreBench):
    store = bench.store("a")
    write_entities(store, 3)
    now = clock_of(store, entity_id(1))
    with store.read() as snapshot:
        assert clock_from_counters(snapshot, now, counters_of(now)) == now


def test_what_was_shown_earlier_is_the_clock_of_then(bench: StoreBench):
    store = bench.store("a")
    first, *_ = write_entities(store, 3)
    now = clock_of(store, entity_id(1))
    with store.read() as snapshot:
        assert clock_from_counters(snapshot, now, {first.replica: first.counter}) == (first,)


def test_what_was_never_held_was_never_shown(bench: StoreBench):
    store = bench.store("a")
    (head,) = write_entities(store, 1)
    now = clock_of(store, entity_id(1))
    with store.read() as snapshot:
        assert clock_from_counters(snapshot, now, {head.replica: 2}) is None
        assert clock_from_counters(snapshot, now, {ReplicaId(bytes(16)): 1}) is None


def test_a_counter_that_was_written_twice_does_not_say_which_branch_was_seen(bench: StoreBench):
    store, owner, replica = bench.store("a"), signer_of("b"), replica_of("b")
    twice = [sealed(owner, replica, 1, None, [operation(entity_id(1), title=title)]) for title in ("l", "r")]
    with store.write() as tx:
        assert tx.accept_page([commit.signed for commit in twice]).forked
    with store.read() as snapshot:
        assert clock_from_counters(snapshot, (), {replica: 1}) is None


def test_counters_of_a_forked_replica_are_those_of_its_last_commit():
    replica = ReplicaId(bytes(16))
    clock = (Head(replica, 3, b"a" * 32), Head(replica, 5, b"b" * 32))
    assert counters_of(clock) == counters_of(clock[::-1]) == {replica: 5}
    assert counters_of((Head(replica, 1, b"a" * 32),)) == {replica: 1}


def test_a_head_tells_when_its_commit_says_that_it_was_made(bench: StoreBench):
    store, heads = bench.store("a"), []
    for _ in range(2):
        bench.now_ms += 1000
        heads += write_entities(store, 1)
    with store.read() as snapshot:
        assert [commit_stamp_ms(snapshot, head) for head in heads] == [bench.now_ms - 1000, bench.now_ms]


def test_titles_are_read_alone_and_those_out_of_sight_when_asked_for(bench: StoreBench):
    store = bench.store("a")
    with store.write() as tx:
        tx.commit(
            [
                EntityWrite(entity_id(1), "task", {"title": "Coffee"}),
                EntityWrite(entity_id(2), "task", {"title": "Tea"}),
            ]
        )
        tx.commit([EntityWrite(entity_id(3), "label", {"name": "fee"})])
        tx.commit([EntityWrite(entity_id(1), "task", {"deleted": True})])
    with store.read() as snapshot:
        assert list(task_titles(snapshot)) == [(entity_id(2), "Tea")]
        assert list(task_titles(snapshot, removed=True)) == [(entity_id(1), "Coffee"), (entity_id(2), "Tea")]


def test_items_are_found_by_the_start_of_their_id_once_each_and_no_more_than_asked_for(bench: StoreBench):
    store = bench.store("a")
    items = [entity_id(number) for number in (10, 11, 12)]
    proposed: list[Value] = [
        {
            "item_id": item,
            "fingerprint": bytes(32),
            "tool": "set_task_title",
            "args": {"title": "x"},
            "base": {},
        }
        for item in items
    ]
    with store.write() as tx:
        for change_set in (entity_id(1), entity_id(2)):
            tx.commit(
                [EntityWrite(change_set, "change_set", {"task_id": entity_id(3), "items": [*proposed]})]
            )
    with store.read() as snapshot:
        assert items_with_prefix(snapshot, id_to_text(items[1]), 8) == [items[1]]
        assert sorted(items_with_prefix(snapshot, "", 8)) == items
        assert len(items_with_prefix(snapshot, "", 2)) == 2
        assert items_with_prefix(snapshot, "f" * 32, 8) == []
        assert items_with_prefix(snapshot, "no digits", 8) == []
