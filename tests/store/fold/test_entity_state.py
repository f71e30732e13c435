"""The fold, clause by clause, on operations written by hand.

Never opens a store: histories at length are lived through in tests/simulation.
"""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.fold.conditional import ConditionalFold, fold_history
from store.fold.entity import Entity
from store.fold.entity_state import (
    EntityState,
    SourcedOperation,
    dump_state,
    is_visible,
    load_state,
)
from store.fold.field_versions import Provenance
from store.fold.list_columns import needs_settling
from syncproto import codec
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, ReplicaId
from syncproto.vector_clock import EMPTY_CLOCK, Head, NoForks, VectorClock
from tests.support.reference_fold import reference_fold
from tests.support.stores import entity_id, operation

TASK, ITEM = entity_id(1), entity_id(50)
CHAINS = NoForks()


def head(replica: str, counter: int) -> Head:
    return Head(ReplicaId(replica.encode() * 16), counter, bytes([counter]) * 32)


def wrote(
    write_head: Head,
    *heads: Head,
    ms: int = 0,
    by: AuthorKind = AuthorKind.USER,
    effect: EntityId | None = None,
    **fields: Any,
) -> SourcedOperation:
    """Return an operation at a commit, resting on the commits that its author had seen."""
    new_operation = operation(TASK, tuple(sorted(heads)), by=by, effect=effect, **fields)
    source = Provenance(
        write_head, ms, 0, by, effect, None, new_operation.base if new_operation.deletes else None
    )
    return SourcedOperation(source, new_operation)


def folded(*history: SourcedOperation, confirmed: tuple[EntityId, ...] = ()) -> EntityState:
    """Fold in the order given, and check that every order that keeps causes first gives the same bytes."""
    row = fold_history(history, confirmed.__contains__, CHAINS)
    for order in itertools.permutations(history):
        if _keeps_causes_first(order):
            again = reference_fold(order, confirmed.__contains__, CHAINS)
            assert dump_state(again) == dump_state(row)
            assert dump_state(_incrementally(order, confirmed)) == dump_state(row)
    return row


def _keeps_causes_first(order: tuple[SourcedOperation, ...]) -> bool:
    places = {write.head: place for place, write in enumerate(order)}
    return all(
        places[seen_head] < place for place, write in enumerate(order) for seen_head in write.operation.base
    )


def _incrementally(order: tuple[SourcedOperation, ...], confirmed: tuple[EntityId, ...]) -> EntityState:
    """Fold as a store does that takes each operation by itself, and keeps the forms between two of them."""
    row, fold = EntityState(), ConditionalFold(EntityState())
    for write in order:
        fold.apply_operation(write, CHAINS)
        row = fold.row(confirmed.__contains__, CHAINS)
        fold = ConditionalFold.load(fold.dump())
    return load_state(dump_state(row))


def values(row: EntityState, field: str) -> list[Any]:
    return [version.value for version in row.fields.get(field, [])]


A1, A2, A3, B1, B2, C1 = (
    head(name, n) for name, n in (("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("c", 1))
)


def test_a_version_gives_way_to_what_had_seen_it_whatever_the_clocks_say() -> None:
    row = folded(wrote(A1, ms=100, title="old"), wrote(B1, A1, ms=1, title="new"))
    assert values(row, "title") == ["new"]


def test_concurrent_versions_all_stay_best_first() -> None:
    row = folded(wrote(A1, title="start"), wrote(A2, A1, ms=5, title="a"), wrote(B1, A1, ms=9, title="b"))
    assert values(row, "title") == ["b", "a"]
    assert set(Entity(TASK, row, True).conflicts()) == {"title"}


def test_versions_of_the_same_value_are_no_conflict() -> None:
    row = folded(wrote(A1, title="x"), wrote(B1, title="x"), wrote(C1, title="x"))
    assert values(row, "title") == ["x"] * 3
    assert Entity(TASK, row, True).conflicts() == {}


@pytest.mark.parametrize(("element", "other"), [(1, 1.0), (0.0, -0.0), (1, True), ([0], [False])])
def test_values_that_only_python_calls_equal_are_a_conflict(element: Any, other: Any) -> None:
    row = folded(wrote(A1, ms=1, estimate=element), wrote(B1, ms=2, estimate=other))
    assert set(Entity(TASK, row, True).conflicts()) == {"estimate"}
    assert needs_settling(row)


RANKS = [
    {"by": AuthorKind.USER, "ms": 1},
    {"by": AuthorKind.USER, "effect": ITEM, "ms": 2},
    {"by": AuthorKind.AGENT, "effect": ITEM, "ms": 3},
    {"by": AuthorKind.AGENT, "ms": 4},
]


@pytest.mark.parametrize(
    ("element", "two"),
    list(itertools.combinations(RANKS, 2)),
)
def test_a_persons_word_beats_an_agents_though_its_clock_is_behind(element: Any, two: Any) -> None:
    row = folded(
        wrote(A1, title="start"),
        wrote(A2, A1, title="better", **element),
        wrote(B1, A1, title="worse", **two),
        confirmed=(ITEM,),
    )
    assert values(row, "title") == ["better", "worse"]


def test_a_systems_write_ranks_with_an_agents_immediate_one() -> None:
    row = folded(
        wrote(A1, ms=1, by=AuthorKind.SYSTEM, name="a"), wrote(B1, ms=2, by=AuthorKind.AGENT, name="b")
    )
    assert values(row, "name") == ["b", "a"]


def test_the_replica_decides_where_rank_and_time_are_equal() -> None:
    row = folded(wrote(A1, title="a"), wrote(B1, title="b"))
    assert values(row, "title") == ["b", "a"]


def test_a_conflict_is_one_version_for_each_value_best_first() -> None:
    row = folded(
        wrote(A1, title="t", notes="n"),
        wrote(A2, A1, ms=1, title="x", notes="m"),
        wrote(B1, A1, ms=2, title="y", notes="m"),
        wrote(C1, A1, ms=3, title="x"),
    )
    conflicts = Entity(TASK, row, True).conflicts()
    assert {
        name: [(version.value, version.source.head) for version in conflict]
        for name, conflict in conflicts.items()
    } == {"title": [("x", C1), ("y", B1)]}


def test_a_row_shows_the_best_version_of_a_field() -> None:
    row = folded(
        wrote(A1, title="t", notes="n"), wrote(A2, A1, ms=1, title="x"), wrote(B1, A1, ms=2, title="y")
    )
    assert [row.value(name) for name in ("title", "notes", "estimate")] == ["y", "n", None]


def test_fields_are_folded_apart() -> None:
    row = folded(wrote(A1, title="t", due="d"), wrote(A2, A1, title="t2"), wrote(B1, A1, due="d2"))
    assert (values(row, "title"), values(row, "due")) == (["t2"], ["d2"])


def test_members_of_a_set_are_fields_of_their_own() -> None:
    both: dict[str, Any] = {"label_ids/x": True, "label_ids/y": True}
    third: dict[str, Any] = {"label_ids/z": True}
    without: dict[str, Any] = {"label_ids/y": False}
    row = folded(
        wrote(A1, title="t"), wrote(A2, A1, **both), wrote(B1, A1, **third), wrote(A3, A2, **without)
    )
    entity = Entity(TASK, row, True)
    assert entity.members("label_ids") == ["x", "z"]
    assert entity.members("label") == []


def test_the_clock_counts_dead_operations_too() -> None:
    row = folded(wrote(A1, title="t"), wrote(B1, A1, title="dead", by=AuthorKind.AGENT, effect=ITEM))
    assert values(row, "title") == ["t"]
    assert row.clock == (A1, B1)


def test_an_unconfirmed_effect_covers_nothing() -> None:
    history = (wrote(A1, title="t"), wrote(A2, A1, title="proposed", by=AuthorKind.AGENT, effect=ITEM))
    assert values(folded(*history), "title") == ["t"]
    assert values(folded(*history, confirmed=(ITEM,)), "title") == ["proposed"]


def test_a_later_edit_stays_when_what_it_covered_dies() -> None:
    history = (
        wrote(A1, title="t"),
        wrote(A2, A1, title="proposed", by=AuthorKind.AGENT, effect=ITEM),
        wrote(B1, A1, A2, title="mine"),
    )
    assert values(folded(*history), "title") == ["mine"]


# -- creations ---------------------------------------------------------------------------------------------


def created(write_head: Head, **fields: Any) -> SourcedOperation:
    return wrote(write_head, by=AuthorKind.AGENT, effect=ITEM, **fields)


def test_an_entity_exists_while_a_creation_of_it_is_live() -> None:
    assert folded(created(A1, title="x"), confirmed=(ITEM,)).exists
    row = folded(created(A1, title="x"))
    assert not row.exists
    assert row.dead
    assert row.born is None
    assert not is_visible(row, CHAINS)


def test_an_update_alone_makes_no_entity() -> None:
    row = folded(created(A1, title="x"), wrote(B1, A1, checked=True, by=AuthorKind.AGENT))
    assert not row.exists
    assert values(row, "checked") == [True]


def test_a_creation_that_a_person_wrote_on_is_theirs() -> None:
    row = folded(created(A1, title="x", checked=False), wrote(B1, A1, checked=True))
    assert row.exists
    assert not row.dead
    assert (values(row, "title"), values(row, "checked")) == (["x"], [True])
    assert row.born is not None
    assert row.born.head == A1


def test_an_agents_write_keeps_no_creation() -> None:
    assert not folded(created(A1, title="x"), wrote(B1, A1, by=AuthorKind.AGENT, title="y")).exists
    assert not folded(created(A1, title="x"), wrote(B1, A1, effect=entity_id(51), title="y")).exists


def test_a_persons_deletion_keeps_a_creation_too() -> None:
    row = folded(created(A1, title="x"), wrote(B1, A1, deleted=True))
    assert row.exists
    assert not is_visible(row, CHAINS)


def test_of_two_creations_only_the_one_written_on_is_kept_and_the_write_stays() -> None:
    row = folded(created(A1, title="a's"), created(B1, title="b's"), wrote(A2, A1, title="mine"))
    assert row.creations == 1
    assert row.dead
    assert values(row, "title") == ["mine"]
    assert row.person == (A2,)
    assert row.clock == (A2, B1)


def test_an_entity_is_born_with_its_earliest_live_creation() -> None:
    row = folded(wrote(A1, ms=5, title="a"), wrote(B1, ms=3, title="b"), wrote(C1, ms=4, title="c"))
    assert row.creations == 3
    assert row.born is not None
    assert row.born.head == B1


def test_a_persons_creation_beside_a_dead_one_needs_no_refold() -> None:
    row = folded(created(A1, title="x"), wrote(B1, title="mine"))
    assert row.exists
    assert values(row, "title") == ["mine"]


def test_of_creations_of_different_kinds_a_persons_oldest_says_what_it_is_in_any_order() -> None:
    sourced_operation = wrote(A1, title="x")
    two = SourcedOperation(wrote(B1).source, operation(TASK, kind="entry", title="y"))
    first = min(sourced_operation, two, key=lambda write: write.source.order[1:])
    assert folded(sourced_operation, two).kind == folded(two, sourced_operation).kind == first.operation.kind


def test_an_operation_that_makes_nothing_live_cannot_change_what_an_entity_is() -> None:
    person = wrote(A1, title="x")
    proposed = created(B1, title="y")
    item = proposed.operation.effect
    assert item is not None
    alien = SourcedOperation(proposed.source, operation(TASK, kind="!", effect=item))
    assert folded(person, alien).kind == "task"
    assert folded(person, alien, confirmed=(item,)).kind == "task"


# -- deletions ---------------------------------------------------------------------------------------------


def visible_after(*history: SourcedOperation, confirmed: tuple[EntityId, ...] = ()) -> bool:
    return is_visible(folded(*history, confirmed=confirmed), CHAINS)


START = wrote(A1, title="t")


def test_a_deletion_hides_what_it_had_seen() -> None:
    assert not visible_after(START, wrote(A2, A1, deleted=True))


def test_a_deletion_does_not_hide_a_persons_concurrent_write() -> None:
    assert visible_after(START, wrote(A2, A1, deleted=True), wrote(B1, A1, title="still at it"))


def test_a_deletion_does_not_hide_what_a_person_touched_with_an_empty_operation() -> None:
    assert visible_after(START, wrote(A2, A1, deleted=True), wrote(B1, A1))


def test_an_agents_concurrent_write_stays_beneath_a_deletion() -> None:
    agents = wrote(B1, A1, title="proposed", by=AuthorKind.AGENT, effect=ITEM)
    assert not visible_after(START, wrote(A2, A1, deleted=True), agents, confirmed=(ITEM,))


def test_a_deletion_whose_author_had_not_seen_all_hides_nothing_of_a_persons() -> None:
    assert visible_after(START, wrote(B1, A1, title="b"), wrote(A2, A1, deleted=True))
    assert not visible_after(START, wrote(B1, A1, title="b"), wrote(A2, A1, B1, deleted=True))


def test_deletions_hide_together_what_neither_saw_alone() -> None:
    edits = (wrote(A2, A1, title="a"), wrote(B1, A1, title="b"))
    assert visible_after(START, *edits, wrote(A3, A2, deleted=True))
    assert not visible_after(START, *edits, wrote(A3, A2, deleted=True), wrote(B2, B1, A1, deleted=True))


def test_writing_on_what_was_deleted_restores_it() -> None:
    deleted = wrote(A2, A1, deleted=True)
    assert visible_after(START, deleted, wrote(B1, A2, title="back"))
    assert visible_after(START, deleted, wrote(B1, A2, deleted=False))


def test_a_deletion_beside_its_taking_back_counts_for_what_it_had_seen() -> None:
    assert not visible_after(START, wrote(A2, A1, deleted=True), wrote(B1, A1, deleted=True))
    assert visible_after(START, wrote(A2, A1, deleted=True), wrote(B1, A1, deleted=False))


def test_only_true_is_a_deletion() -> None:
    assert visible_after(START, wrote(A2, A1, deleted=1))
    assert visible_after(START, wrote(A2, A1, deleted="yes"))


def test_a_deletion_by_a_proposal_dies_with_it() -> None:
    deletion = wrote(A2, A1, deleted=True, by=AuthorKind.AGENT, effect=ITEM)
    assert not visible_after(START, deletion, confirmed=(ITEM,))
    assert visible_after(START, deletion)


def test_what_only_agents_made_is_hidden_by_any_deletion() -> None:
    assert not visible_after(
        wrote(A1, title="x", by=AuthorKind.AGENT), wrote(A2, A1, deleted=True, by=AuthorKind.AGENT)
    )


# -- rows ----------------------------------------------------------------------------------------------------


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers(-(2**63), 2**63 - 1)
            | st.text(max_size=5)
            | st.binary(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
            ),
            max_leaves=5,
        ),
    )
)
def test_a_row_is_read_as_it_was_written(fields: dict[str, Any]) -> None:
    row = fold_history([wrote(A1, ms=3), wrote(B1, A1, ms=4, origin_like=1), _with(C1, fields)], bool, CHAINS)
    again = load_state(dump_state(row))
    assert dump_state(again) == dump_state(row)
    assert again.fields == row.fields
    assert (again.kind, again.clock, again.person, again.creations, again.born) == (
        row.kind,
        row.clock,
        row.person,
        row.creations,
        row.born,
    )


def _with(write_head: Head, fields: dict[str, Any]) -> SourcedOperation:
    write = wrote(write_head, A1)
    new_operation = operation(TASK, (A1,))
    new_operation.fields.update(fields)
    return write._replace(operation=new_operation)


def test_every_version_is_kept_where_an_agent_made_what_a_person_made_at_once() -> None:
    row = folded(wrote(A1, title="mine"), wrote(B1, by=AuthorKind.AGENT, title="its"))
    assert row.born is not None
    assert row.born.head == A1
    assert values(row, "title") == values(load_state(dump_state(row)), "title") == ["mine", "its"]


def test_a_row_without_a_live_creation_is_written_with_none() -> None:
    dead = folded(created(A1, title="x"))
    for row in (EntityState(), dead):
        assert codec.decode_trusted(dump_state(row))[5:] == [-1, [], {}]


def test_an_empty_row_shows_nothing() -> None:
    row = fold_history([], bool, CHAINS)
    entity = Entity(TASK, row, is_visible(row, CHAINS))
    assert (entity.kind, entity.clock, entity.exists, entity.visible) == ("", EMPTY_CLOCK, False, False)
    assert entity.fields() == []
    assert entity.versions("title") == []
    assert entity.version("title") is None
    assert entity.value("title", "none") == "none"
    assert entity.text("title") == ""
    assert entity.created is None
    assert load_state(dump_state(row)).born is None
    clock: VectorClock = EMPTY_CLOCK
    assert row.clock == clock


def test_readers_get_the_winner_with_its_provenance() -> None:
    row = folded(wrote(A1, ms=7, title="t", estimate=30))
    entity = Entity(TASK, row, True)
    assert entity.id == TASK
    assert entity.fields() == ["estimate", "title"]
    assert (entity.text("title"), entity.text("estimate"), entity.value("estimate")) == ("t", "", 30)
    version = entity.version("title")
    assert version is not None
    assert (version.source.head, version.source.ms, version.source.by) == (A1, 7, AuthorKind.USER)
    assert entity.created == version.source
