"""The entries of the roster by what changed: which are named, and which writes of a field.

Never judges a certificate: the store keeps whatever was written.
"""

from functools import partial

import pytest

from store.fold.founding import roster_entity_id
from store.queries.device_entries import entries_changed, newest_change, some_entries, writes_of_field
from store.store import Store
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId
from syncproto.keys import device_id_of_key
from syncproto.vector_clock import EMPTY_CLOCK
from tests.support.sqlite_steps import steps_to_read
from tests.support.stores import StoreBench, entity_id, operation, replica_of, sealed, signer_of, write

FIRST, SECOND, OTHER = entity_id(1), entity_id(2), entity_id(3)


@pytest.fixture
def store(bench: StoreBench) -> Store:
    return bench.store("a")


def write_entry(store: Store, entity: EntityId, kind: str = "device", **fields: Value) -> int:
    """Write to an entry in a commit of its own; return its position."""
    with store.write() as tx:
        tx.commit([EntityWrite(entity, kind, fields)], by=AuthorKind.SYSTEM)
    with store.read() as snapshot:
        return snapshot.feed_end()


def changed(store: Store, after: int) -> dict[EntityId, bool]:
    """Return the entries that changed, each with whether it is one still."""
    with store.read() as snapshot:
        return {entity: entry is not None for entity, entry in entries_changed(snapshot, after).items()}


def newest(store: Store) -> int:
    with store.read() as snapshot:
        return newest_change(snapshot)


def test_what_changed_beyond_a_position_is_named_and_nothing_else(store: Store) -> None:
    assert (newest(store), changed(store, 0)) == (0, {})
    first = write_entry(store, FIRST, name="desk")
    second = write_entry(store, SECOND, name="phone", deleted=True)
    write(store, OTHER, title="a task")
    assert newest(store) == second
    assert changed(store, 0) == {FIRST: True, SECOND: True}
    assert changed(store, first) == {SECOND: True}
    assert changed(store, second) == {}


def test_of_many_entries_as_many_are_read_as_were_asked_for(store: Store) -> None:
    write_entry(store, FIRST, name="desk", deleted=True)
    write_entry(store, SECOND, name="phone")
    write(store, OTHER, title="a task")
    with store.read() as snapshot:
        assert [entry.id for entry in some_entries(snapshot, 1)] == [FIRST]
        assert [(entry.id, entry.visible) for entry in some_entries(snapshot, 9)] == [
            (FIRST, False),
            (SECOND, True),
        ]


def test_what_ceases_to_be_an_entry_is_named_and_again_if_it_comes_back(store: Store) -> None:
    public_key = signer_of("b").public_key
    entity = roster_entity_id(device_id_of_key(public_key))
    entered = write_entry(store, entity, name="desk")
    # A person's creation counts before one of the system that does not found the entity.
    with store.write() as tx:
        tx.commit([EntityWrite(entity, "task", {"title": "mine"}, base=EMPTY_CLOCK)])
    gone = newest(store)
    assert gone > entered
    assert changed(store, entered) == {entity: False}
    write(store, entity, title="written again")
    assert newest(store) == gone
    with store.write() as tx:
        tx.commit([EntityWrite(entity, "device", {"public_key": public_key}, base=EMPTY_CLOCK)])
    assert changed(store, entered) == {entity: True}
    assert changed(store, newest(store)) == {}


def test_writes_of_a_field_come_in_feed_order_with_their_writers(store: Store) -> None:
    first = write_entry(store, FIRST, certificate=b"1")
    write_entry(store, FIRST, name="certificate")
    page = [
        sealed(
            signer_of("b"),
            replica_of("b"),
            1,
            None,
            [operation(entity, kind="device", certificate=b"2") for entity in (FIRST, SECOND, OTHER)],
        ).signed
    ]
    with store.write() as tx:
        tx.accept_page(page)
    with store.read() as snapshot:
        own, other, end = snapshot.device, signer_of("b").device, snapshot.feed_end()
        writes = list(writes_of_field(snapshot, "certificate", {FIRST: 0, SECOND: 0}))
        later = list(writes_of_field(snapshot, "certificate", {FIRST: first, SECOND: end}))
    assert [
        (field_write.seq, field_write.entity, field_write.writer, field_write.value) for field_write in writes
    ] == [
        (first, FIRST, own, b"1"),
        (end, FIRST, other, b"2"),
        (end, SECOND, other, b"2"),
    ]
    assert [(field_write.seq, field_write.entity) for field_write in later] == [(end, FIRST)]
    assert writes[0].source.order < writes[1].source.order


def test_to_ask_what_changed_costs_no_more_in_a_large_roster(bench: StoreBench) -> None:
    costs = []
    for count in (20, 400):
        store = bench.store(f"s{count}")
        with store.write() as tx:
            for number in range(count):
                tx.commit([EntityWrite(entity_id(number), "device", {"name": "x"})])
        before = newest(store)
        write_entry(store, entity_id(7), name="y")
        read_entries = partial(entries_changed, after=before)
        costs.append(steps_to_read(store, newest_change) + steps_to_read(store, read_entries))
    assert costs[1] <= costs[0] + 10
