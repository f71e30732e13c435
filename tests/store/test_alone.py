"""Rows that one operation has made: they say what the fold says, byte for byte.

Never compares with anything but the fold itself.
"""

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store import search
from store.alone import Alone, stands_alone
from store.fold import DELETED, Row, apply, dump
from store.listed import listed, listed_alone
from store.relations import RELATIONS, relations_of
from store.store import Store
from store.transaction import Write
from syncproto.commit import COMMIT_BYTES_MAX, By, Operation, Received
from syncproto.faults import CommitTooLarge
from syncproto.heads import EMPTY, NoForks
from syncproto.ids import EntityId
from tests.store.stores import Bench, entity_id, exchange, feed, replica_of, sealed, signer_of, stands, write
from tests.syncproto import strategies as draw

FIELDS = [
    *{name for named in RELATIONS.values() for name in named},
    "title",
    "text",
    "name",
    "note",
    "reason",
]

kinds = st.sampled_from([*RELATIONS, "label", "category", "decision", "unheard_of"])
fields = st.dictionaries(
    st.sampled_from([*FIELDS, "status", "ended_at", "label_ids/x", "label_ids/y"])
    | st.text(string.ascii_letters, min_size=1, max_size=3),
    draw.values
    | draw.long_values
    | draw.entity_ids
    | st.lists(draw.entity_ids, max_size=3)
    | st.sampled_from([True, "DONE", "REJECTED", "Straße", "2026-01-01T10:00:00Z"]),
    max_size=6,
)
creations = st.builds(
    Operation,
    entity=draw.entity_ids,
    kind=kinds,
    base=st.just(EMPTY),
    fields=fields,
    effect=st.none(),
    by=st.sampled_from(By),
    origin=st.none() | st.dictionaries(draw.text, draw.values, max_size=2),
)


def folded(received: Received, operation: Operation) -> tuple[Alone, Row]:
    alone, row = Alone(received, operation, 1, 1), Row()
    apply(row, alone.write, live=True, chains=NoForks())
    return alone, row


@given(creations)
def test_a_row_of_one_operation_is_that_of_the_fold(operation: Operation) -> None:
    received = sealed(signer_of("a"), replica_of("a"), 1, None, [operation])
    alone, row = folded(received, operation)
    assert stands_alone(operation)
    assert alone.dump() == dump(row)
    assert listed_alone(alone) == listed(row, NoForks())
    assert relations_of(alone) == relations_of(row)
    assert search.document(operation.entity, alone) == search.document(operation.entity, row)


@pytest.mark.parametrize("value", [True, False])
def test_what_is_deleted_as_it_is_made_does_not_stand_alone(value: bool) -> None:
    assert not stands_alone(Operation(entity_id(1), "task", EMPTY, {DELETED: value}, None, By.USER, None))


ONE, OTHER = entity_id(1), entity_id(2)


@pytest.mark.parametrize(
    "second",
    [
        {"title": "again"},
        {"base": EMPTY, "title": "made twice"},
        {DELETED: True},
        {"effect": entity_id(50), "title": "proposed"},
    ],
)
def test_what_is_made_and_touched_in_one_page_is_as_if_taken_one_by_one(
    bench: Bench, second: dict[str, Any]
) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    given = dict(second)
    base, effect = given.pop("base", None), given.pop("effect", None)
    write(a, ONE, title="one")
    write(a, OTHER, title="other")
    with a.write() as tx:
        tx.commit([Write(ONE, "task", given, base=base, effect=effect)])
    exchange(a, b)
    for signed in feed(a):
        with c.write() as tx:
            tx.take([signed])
    assert stands(a)[:3] == stands(b)[:3] == stands(c)[:3]
    assert _numbers(b) == _numbers(c)


def _numbers(store: Store) -> list[tuple[int, EntityId, int]]:
    with store.read() as snapshot:
        return list(snapshot.db.execute("SELECT no, id, changed FROM entity ORDER BY no"))


def test_a_page_that_goes_on_where_one_of_the_same_transaction_ended_folds_to_the_same(bench: Bench) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    for number in range(1, 5):
        write(a, entity_id(number), title=str(number))
    write(a, ONE, title="again")
    page = feed(a)
    with b.write() as tx:
        tx.take(page[:2])
        assert tx.entity(ONE) is not None
        tx.take(page[2:])
    with c.write() as tx:
        tx.take(page[:2])
        tx.take(page[2:])
    assert stands(a)[:3] == stands(b)[:3] == stands(c)[:3]


def test_what_a_refused_write_looked_at_is_written_as_it_was_taken(bench: Bench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write(a, ONE, title="one")
    write(a, OTHER, title="other")
    with b.write() as tx:
        tx.take(feed(a))
        with pytest.raises(CommitTooLarge):
            tx.commit([Write(ONE, "task", {"title": "x" * COMMIT_BYTES_MAX})])
    assert stands(a)[:3] == stands(b)[:3]
    with b.read() as snapshot:
        assert [snapshot.entity(one) is not None for one in (ONE, OTHER)] == [True, True]
