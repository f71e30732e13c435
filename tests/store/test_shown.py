"""Clocks as they are shown, and ids as people shorten them.

Never looks into the log but through the store.
"""

from store.glance import titles
from store.item_ids import items_with_prefix
from store.shown import clock_shown, counters, stamp_ms
from store.store import Store
from store.transaction import Write
from syncproto.codec import Value
from syncproto.heads import Clock, Head
from syncproto.ids import EntityId, ReplicaId, text
from tests.store.stores import Bench, entity_id, grow, operation, replica_of, sealed, signer_of


def clock_of(store: Store, entity: EntityId) -> Clock:
    with store.read() as snapshot:
        held = snapshot.entity(entity)
        assert held is not None
        return held.clock


def test_what_is_shown_now_is_the_clock_now(bench: Bench):
    store = bench.store("a")
    grow(store, 3)
    now = clock_of(store, entity_id(1))
    with store.read() as snapshot:
        assert clock_shown(snapshot, now, counters(now)) == now


def test_what_was_shown_earlier_is_the_clock_of_then(bench: Bench):
    store = bench.store("a")
    first, *_ = grow(store, 3)
    now = clock_of(store, entity_id(1))
    with store.read() as snapshot:
        assert clock_shown(snapshot, now, {first.replica: first.counter}) == (first,)


def test_what_was_never_held_was_never_shown(bench: Bench):
    store = bench.store("a")
    (head,) = grow(store, 1)
    now = clock_of(store, entity_id(1))
    with store.read() as snapshot:
        assert clock_shown(snapshot, now, {head.replica: 2}) is None
        assert clock_shown(snapshot, now, {ReplicaId(bytes(16)): 1}) is None


def test_a_counter_that_was_written_twice_does_not_say_which_branch_was_seen(bench: Bench):
    store, owner, replica = bench.store("a"), signer_of("b"), replica_of("b")
    twice = [sealed(owner, replica, 1, None, [operation(entity_id(1), title=title)]) for title in ("l", "r")]
    with store.write() as tx:
        assert tx.take([one.signed for one in twice]).forked
    with store.read() as snapshot:
        assert clock_shown(snapshot, (), {replica: 1}) is None


def test_counters_of_a_forked_replica_are_those_of_its_last_commit():
    replica = ReplicaId(bytes(16))
    clock = (Head(replica, 3, b"a" * 8), Head(replica, 5, b"b" * 8))
    assert counters(clock) == counters(clock[::-1]) == {replica: 5}
    assert counters((Head(replica, 1, b"a" * 8),)) == {replica: 1}


def test_a_head_tells_when_its_commit_says_that_it_was_made(bench: Bench):
    store, heads = bench.store("a"), []
    for _ in range(2):
        bench.now_ms += 1000
        heads += grow(store, 1)
    with store.read() as snapshot:
        assert [stamp_ms(snapshot, head) for head in heads] == [bench.now_ms - 1000, bench.now_ms]


def test_titles_are_read_alone_and_those_out_of_sight_when_asked_for(bench: Bench):
    store = bench.store("a")
    with store.write() as tx:
        tx.commit(
            [Write(entity_id(1), "task", {"title": "Coffee"}), Write(entity_id(2), "task", {"title": "Tea"})]
        )
        tx.commit([Write(entity_id(3), "label", {"name": "fee"})])
        tx.commit([Write(entity_id(1), "task", {"deleted": True})])
    with store.read() as snapshot:
        assert list(titles(snapshot)) == [(entity_id(2), "Tea")]
        assert list(titles(snapshot, removed=True)) == [(entity_id(1), "Coffee"), (entity_id(2), "Tea")]


def test_items_are_found_by_the_start_of_their_id_once_each_and_no_more_than_asked_for(bench: Bench):
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
            tx.commit([Write(change_set, "change_set", {"task_id": entity_id(3), "items": [*proposed]})])
    with store.read() as snapshot:
        assert items_with_prefix(snapshot, text(items[1]), 8) == [items[1]]
        assert sorted(items_with_prefix(snapshot, "", 8)) == items
        assert len(items_with_prefix(snapshot, "", 2)) == 2
        assert items_with_prefix(snapshot, "f" * 32, 8) == []
        assert items_with_prefix(snapshot, "no digits", 8) == []
