"""The fold, clause by clause, on operations written by hand.

Never opens a store: histories at length are lived through in tests/simulation.
"""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.entity import Entity
from store.fold import Row, Source, Written, apply, dump, fold, load, visible
from syncproto import codec
from syncproto.commit import By
from syncproto.heads import EMPTY, Clock, Head, NoForks
from syncproto.ids import EntityId, ReplicaId
from tests.store.stores import entity_id, operation

TASK, ITEM = entity_id(1), entity_id(50)
CHAINS = NoForks()


def head(replica: str, counter: int) -> Head:
    return Head(ReplicaId(replica.encode() * 16), counter, bytes([counter]) * 8)


def wrote(
    at: Head, *seen: Head, ms: int = 0, by: By = By.USER, effect: EntityId | None = None, **fields: Any
) -> Written:
    """Return an operation at a commit, resting on the commits that its author had seen."""
    made = operation(TASK, tuple(sorted(seen)), by=by, effect=effect, **fields)
    source = Source(at, ms, 0, by, effect, None, made.base if made.deletes else None)
    return Written(source, made)


def folded(*history: Written, confirmed: tuple[EntityId, ...] = ()) -> Row:
    """Fold in the order given, and check that every order that keeps causes first gives the same bytes."""
    row = fold(history, confirmed.__contains__, CHAINS)
    for order in itertools.permutations(history):
        if _keeps_causes_first(order):
            again = fold(order, confirmed.__contains__, CHAINS)
            assert dump(again) == dump(row)
            assert dump(_incrementally(order, confirmed)) == dump(row)
    return row


def _keeps_causes_first(order: tuple[Written, ...]) -> bool:
    places = {write.head: place for place, write in enumerate(order)}
    return all(places[seen] < place for place, write in enumerate(order) for seen in write.operation.base)


def _incrementally(order: tuple[Written, ...], confirmed: tuple[EntityId, ...]) -> Row:
    row = Row()
    for place, write in enumerate(order):
        effect = write.operation.effect
        if apply(row, write, effect is None or effect in confirmed, CHAINS):
            row = fold(order[: place + 1], confirmed.__contains__, CHAINS)
    return load(dump(row))


def values(row: Row, field: str) -> list[Any]:
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


RANKS = [
    {"by": By.USER, "ms": 1},
    {"by": By.USER, "effect": ITEM, "ms": 2},
    {"by": By.AGENT, "effect": ITEM, "ms": 3},
    {"by": By.AGENT, "ms": 4},
]


@pytest.mark.parametrize(
    ("one", "two"),
    list(itertools.combinations(RANKS, 2)),
)
def test_a_persons_word_beats_an_agents_though_its_clock_is_behind(one: Any, two: Any) -> None:
    row = folded(
        wrote(A1, title="start"),
        wrote(A2, A1, title="better", **one),
        wrote(B1, A1, title="worse", **two),
        confirmed=(ITEM,),
    )
    assert values(row, "title") == ["better", "worse"]


def test_a_systems_write_ranks_with_an_agents_immediate_one() -> None:
    row = folded(wrote(A1, ms=1, by=By.SYSTEM, name="a"), wrote(B1, ms=2, by=By.AGENT, name="b"))
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
    assert {name: [(one.value, one.source.head) for one in kept] for name, kept in conflicts.items()} == {
        "title": [("x", C1), ("y", B1)]
    }


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
    row = folded(wrote(A1, title="t"), wrote(B1, A1, title="dead", by=By.AGENT, effect=ITEM))
    assert values(row, "title") == ["t"]
    assert row.clock == (A1, B1)


def test_an_unconfirmed_effect_covers_nothing() -> None:
    history = (wrote(A1, title="t"), wrote(A2, A1, title="proposed", by=By.AGENT, effect=ITEM))
    assert values(folded(*history), "title") == ["t"]
    assert values(folded(*history, confirmed=(ITEM,)), "title") == ["proposed"]


def test_a_later_edit_stays_when_what_it_covered_dies() -> None:
    history = (
        wrote(A1, title="t"),
        wrote(A2, A1, title="proposed", by=By.AGENT, effect=ITEM),
        wrote(B1, A1, A2, title="mine"),
    )
    assert values(folded(*history), "title") == ["mine"]


# -- creations ---------------------------------------------------------------------------------------------


def created(at: Head, **fields: Any) -> Written:
    return wrote(at, by=By.AGENT, effect=ITEM, **fields)


def test_an_entity_exists_while_a_creation_of_it_is_live() -> None:
    assert folded(created(A1, title="x"), confirmed=(ITEM,)).exists
    row = folded(created(A1, title="x"))
    assert not row.exists
    assert row.dead
    assert row.born is None
    assert not visible(row, CHAINS)


def test_an_update_alone_makes_no_entity() -> None:
    row = folded(created(A1, title="x"), wrote(B1, A1, checked=True, by=By.AGENT))
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
    assert not folded(created(A1, title="x"), wrote(B1, A1, by=By.AGENT, title="y")).exists
    assert not folded(created(A1, title="x"), wrote(B1, A1, effect=entity_id(51), title="y")).exists


def test_a_persons_deletion_keeps_a_creation_too() -> None:
    row = folded(created(A1, title="x"), wrote(B1, A1, deleted=True))
    assert row.exists
    assert not visible(row, CHAINS)


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
    one = wrote(A1, title="x")
    two = Written(wrote(B1).source, operation(TASK, kind="entry", title="y"))
    first = min(one, two, key=lambda write: write.source.order[1:])
    assert folded(one, two).kind == folded(two, one).kind == first.operation.kind


def test_an_operation_that_makes_nothing_live_cannot_change_what_an_entity_is() -> None:
    person = wrote(A1, title="x")
    proposed = created(B1, title="y")
    item = proposed.operation.effect
    assert item is not None
    alien = Written(proposed.source, operation(TASK, kind="!", effect=item))
    assert folded(person, alien).kind == "task"
    assert folded(person, alien, confirmed=(item,)).kind == "task"


# -- deletions ---------------------------------------------------------------------------------------------


def seen(*history: Written, confirmed: tuple[EntityId, ...] = ()) -> bool:
    return visible(folded(*history, confirmed=confirmed), CHAINS)


START = wrote(A1, title="t")


def test_a_deletion_hides_what_it_had_seen() -> None:
    assert not seen(START, wrote(A2, A1, deleted=True))


def test_a_deletion_does_not_hide_a_persons_concurrent_write() -> None:
    assert seen(START, wrote(A2, A1, deleted=True), wrote(B1, A1, title="still at it"))


def test_a_deletion_does_not_hide_what_a_person_touched_with_an_empty_operation() -> None:
    assert seen(START, wrote(A2, A1, deleted=True), wrote(B1, A1))


def test_an_agents_concurrent_write_stays_beneath_a_deletion() -> None:
    agents = wrote(B1, A1, title="proposed", by=By.AGENT, effect=ITEM)
    assert not seen(START, wrote(A2, A1, deleted=True), agents, confirmed=(ITEM,))


def test_a_deletion_whose_author_had_not_seen_all_hides_nothing_of_a_persons() -> None:
    assert seen(START, wrote(B1, A1, title="b"), wrote(A2, A1, deleted=True))
    assert not seen(START, wrote(B1, A1, title="b"), wrote(A2, A1, B1, deleted=True))


def test_deletions_hide_together_what_neither_saw_alone() -> None:
    edits = (wrote(A2, A1, title="a"), wrote(B1, A1, title="b"))
    assert seen(START, *edits, wrote(A3, A2, deleted=True))
    assert not seen(START, *edits, wrote(A3, A2, deleted=True), wrote(B2, B1, A1, deleted=True))


def test_writing_on_what_was_deleted_restores_it() -> None:
    deleted = wrote(A2, A1, deleted=True)
    assert seen(START, deleted, wrote(B1, A2, title="back"))
    assert seen(START, deleted, wrote(B1, A2, deleted=False))


def test_a_deletion_beside_its_taking_back_counts_for_what_it_had_seen() -> None:
    assert not seen(START, wrote(A2, A1, deleted=True), wrote(B1, A1, deleted=True))
    assert seen(START, wrote(A2, A1, deleted=True), wrote(B1, A1, deleted=False))


def test_only_true_is_a_deletion() -> None:
    assert seen(START, wrote(A2, A1, deleted=1))
    assert seen(START, wrote(A2, A1, deleted="yes"))


def test_a_deletion_by_a_proposal_dies_with_it() -> None:
    deletion = wrote(A2, A1, deleted=True, by=By.AGENT, effect=ITEM)
    assert not seen(START, deletion, confirmed=(ITEM,))
    assert seen(START, deletion)


def test_what_only_agents_made_is_hidden_by_any_deletion() -> None:
    assert not seen(wrote(A1, title="x", by=By.AGENT), wrote(A2, A1, deleted=True, by=By.AGENT))


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
    row = fold([wrote(A1, ms=3), wrote(B1, A1, ms=4, origin_like=1), _with(C1, fields)], bool, CHAINS)
    again = load(dump(row))
    assert dump(again) == dump(row)
    assert again.fields == row.fields
    assert (again.kind, again.clock, again.person, again.creations, again.born) == (
        row.kind,
        row.clock,
        row.person,
        row.creations,
        row.born,
    )


def _with(at: Head, fields: dict[str, Any]) -> Written:
    write = wrote(at, A1)
    made = operation(TASK, (A1,))
    made.fields.update(fields)
    return write._replace(operation=made)


def test_every_version_is_kept_where_an_agent_made_what_a_person_made_at_once() -> None:
    row = folded(wrote(A1, title="mine"), wrote(B1, by=By.AGENT, title="its"))
    assert row.born is not None
    assert row.born.head == A1
    assert values(row, "title") == values(load(dump(row)), "title") == ["mine", "its"]


def test_a_row_without_a_live_creation_is_written_with_none() -> None:
    dead = folded(created(A1, title="x"))
    for row in (Row(), dead):
        assert codec.plain(dump(row))[5:] == [-1, [], {}]


def test_an_empty_row_shows_nothing() -> None:
    row = fold([], bool, CHAINS)
    entity = Entity(TASK, row, visible(row, CHAINS))
    assert (entity.kind, entity.clock, entity.exists, entity.visible) == ("", EMPTY, False, False)
    assert entity.fields() == []
    assert entity.versions("title") == []
    assert entity.version("title") is None
    assert entity.value("title", "none") == "none"
    assert entity.text("title") == ""
    assert entity.created is None
    assert load(dump(row)).born is None
    clock: Clock = EMPTY
    assert row.clock == clock


def test_readers_get_the_winner_with_its_provenance() -> None:
    row = folded(wrote(A1, ms=7, title="t", estimate=30))
    entity = Entity(TASK, row, True)
    assert entity.id == TASK
    assert entity.fields() == ["estimate", "title"]
    assert (entity.text("title"), entity.text("estimate"), entity.value("estimate")) == ("t", "", 30)
    version = entity.version("title")
    assert version is not None
    assert (version.source.head, version.source.ms, version.source.by) == (A1, 7, By.USER)
    assert entity.created == version.source
