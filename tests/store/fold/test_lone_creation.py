"""Rows that one operation has made: they say what the fold says, byte for byte.

Never compares with anything but the fold itself.
"""

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.fold import word_index
from store.fold.entity_state import DELETED, EntityState, apply_operation, dump_state
from store.fold.list_columns import columns_of, columns_of_lone_creation
from store.fold.lone_creation import LoneCreation, is_lone_creation
from store.fold.relations import RELATIONS, relations_of
from store.store import Store
from store.transaction import EntityWrite
from syncproto.commit import COMMIT_BYTES_MAX, AuthorKind, DecodedCommit, Operation
from syncproto.errors import CommitTooLarge
from syncproto.ids import EntityId
from syncproto.vector_clock import EMPTY_CLOCK, NoForks
from tests.support import strategies as draw
from tests.support.stores import (
    StoreBench,
    entity_id,
    exchange,
    feed,
    log_and_state,
    replica_of,
    sealed,
    signer_of,
    write,
)

FIELDS = [
    *{name for by_name in RELATIONS.values() for name in by_name},
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
    base=st.just(EMPTY_CLOCK),
    fields=fields,
    effect=st.none(),
    by=st.sampled_from(AuthorKind),
    origin=st.none() | st.dictionaries(draw.text, draw.values, max_size=2),
)


def folded(received: DecodedCommit, operation: Operation) -> tuple[LoneCreation, EntityState]:
    alone, row = LoneCreation(received, operation, 1, 1), EntityState()
    apply_operation(row, alone.with_provenance, NoForks())
    return alone, row


@given(creations)
def test_a_row_of_one_operation_is_that_of_the_fold(operation: Operation) -> None:
    received = sealed(signer_of("a"), replica_of("a"), 1, None, [operation])
    alone, row = folded(received, operation)
    assert is_lone_creation(operation)
    assert alone.dump_state() == dump_state(row)
    assert columns_of_lone_creation(alone) == columns_of(row, NoForks())
    assert relations_of(alone) == relations_of(row)
    assert word_index.words_of_entity(operation.entity, alone) == word_index.words_of_entity(
        operation.entity, row
    )


@pytest.mark.parametrize("value", [True, False])
def test_what_is_deleted_as_it_is_made_does_not_stand_alone(value: bool) -> None:
    assert not is_lone_creation(
        Operation(entity_id(1), "task", EMPTY_CLOCK, {DELETED: value}, None, AuthorKind.USER, None)
    )


ONE, OTHER = entity_id(1), entity_id(2)


@pytest.mark.parametrize(
    "second",
    [
        {"title": "again"},
        {"base": EMPTY_CLOCK, "title": "made twice"},
        {DELETED: True},
        {"effect": entity_id(50), "title": "proposed"},
    ],
)
def test_what_is_made_and_touched_in_one_page_is_as_if_taken_one_by_one(
    bench: StoreBench, second: dict[str, Any]
) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    parameters = dict(second)
    base, effect = parameters.pop("base", None), parameters.pop("effect", None)
    write(a, ONE, title="one")
    write(a, OTHER, title="other")
    with a.write() as tx:
        tx.commit([EntityWrite(ONE, "task", parameters, base=base, effect=effect)])
    exchange(a, b)
    for signed in feed(a):
        with c.write() as tx:
            tx.accept_page([signed])
    assert log_and_state(a)[:3] == log_and_state(b)[:3] == log_and_state(c)[:3]
    assert _numbers(b) == _numbers(c)


def _numbers(store: Store) -> list[tuple[int, EntityId, int]]:
    with store.read() as snapshot:
        return list(snapshot.db.execute("SELECT no, id, changed FROM entity ORDER BY no"))


def test_a_page_that_goes_on_where_one_of_the_same_transaction_ended_folds_to_the_same(
    bench: StoreBench,
) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    for number in range(1, 5):
        write(a, entity_id(number), title=str(number))
    write(a, ONE, title="again")
    page = feed(a)
    with b.write() as tx:
        tx.accept_page(page[:2])
        assert tx.entity(ONE) is not None
        tx.accept_page(page[2:])
    with c.write() as tx:
        tx.accept_page(page[:2])
        tx.accept_page(page[2:])
    assert log_and_state(a)[:3] == log_and_state(b)[:3] == log_and_state(c)[:3]


def test_what_a_refused_write_looked_at_is_written_as_it_was_taken(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write(a, ONE, title="one")
    write(a, OTHER, title="other")
    with b.write() as tx:
        tx.accept_page(feed(a))
        with pytest.raises(CommitTooLarge):
            tx.commit([EntityWrite(ONE, "task", {"title": "x" * COMMIT_BYTES_MAX})])
    assert log_and_state(a)[:3] == log_and_state(b)[:3]
    with b.read() as snapshot:
        assert [snapshot.entity(identifier) is not None for identifier in (ONE, OTHER)] == [True, True]
