"""The history of fields from the log: the values before and after, its pages, and what it skips.

Never reads a folded row.
"""

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from store.fold.effects import EFFECTS_MAX
from store.queries import field_changes
from store.queries.field_changes import ChangePage, FieldChange
from store.snapshot import Snapshot
from store.store import Store
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId
from syncproto.vector_clock import EMPTY_CLOCK, Head, VectorClock, covers
from tests.store.forked_logs import REPLICA, TASK, forked_branches
from tests.support.growth import assert_linear
from tests.support.sqlite_steps import steps_to_read
from tests.support.stores import StoreBench, entity_id, exchange, write

OTHER, ITEM, AGENT = entity_id(2), entity_id(50), entity_id(60)


@pytest.fixture
def store(bench: StoreBench) -> Store:
    """Return a store with six commits, the fourth and the fifth on another entity."""
    new_store = bench.store("a")
    steps: list[tuple[EntityId, dict[str, Any]]] = [
        (TASK, {"title": "one", "notes": "n"}),
        (TASK, {"title": "two"}),
        (TASK, {"title": "three"}),
        (OTHER, {"title": "x"}),
        (OTHER, {"priority": "P1"}),
        (TASK, {"priority": "P3"}),
    ]
    for entity, fields in steps:
        write(new_store, entity, **fields)
    return new_store


def read(store: Store, **fields: Any) -> ChangePage:
    with store.read() as snapshot:
        return field_changes.field_changes(snapshot, **({"limit": 99} | fields))


def steps(change_page: ChangePage) -> list[tuple[int, str, object, object]]:
    return [(change.seq, change.field, change.before, change.after) for change in change_page.changes]


ALL = [
    (1, "notes", None, "n"),
    (1, "title", None, "one"),
    (2, "title", "one", "two"),
    (3, "title", "two", "three"),
    (4, "title", None, "x"),
    (5, "priority", None, "P1"),
    (6, "priority", None, "P3"),
]


def on(*seqs: int) -> list[tuple[int, str, object, object]]:
    return [element for element in ALL if element[0] in seqs]


@pytest.mark.parametrize("fields", [{}, {"after": 0}, {"entities": [TASK, OTHER]}, {"before": 99}])
def test_every_field_that_was_written_is_a_change_in_feed_order(store: Store, fields: dict[str, Any]) -> None:
    assert (steps(read(store, **fields)), read(store, **fields).resume_at) == (ALL, None)


@pytest.mark.parametrize(
    ("fields", "seqs", "stopped"),
    [
        ({"limit": 2}, (5, 6), 4),
        ({"limit": 2, "before": 5}, (3, 4), 2),
        ({"limit": 2, "after": 0}, (1,), 2),
        ({"limit": 1, "after": 1}, (2,), 3),
        ({"after": 4}, (5, 6), None),
        ({"after": 2, "before": 5}, (3, 4), None),
        ({"entities": [TASK], "limit": 1}, (6,), 3),
        ({"entities": [TASK], "limit": 1, "before": 6}, (3,), 2),
        ({"entities": [TASK], "after": 1, "limit": 2}, (2, 3), 6),
        ({"commits_max": 2}, (5, 6), 4),
        ({"commits_max": 2, "after": 0}, (1, 2), 3),
        ({"commits_max": 6}, (1, 2, 3, 4, 5, 6), None),
        ({"since": 4}, (5, 6), None),
        ({"since": 2, "before": 5}, (3, 4), None),
        ({"since": 3, "limit": 1}, (6,), 5),
        ({"since": 3, "after": 1}, (4, 5, 6), None),
        ({"entities": [TASK], "since": 2}, (3, 6), None),
        ({"entities": []}, (), None),
        ({"after": 6}, (), None),
        ({"before": 1}, (), None),
    ],
)
def test_a_part_ends_between_commits_and_tells_where_to_go_on(
    store: Store, fields: dict[str, Any], seqs: tuple[int, ...], stopped: int | None
) -> None:
    change_page = read(store, **fields)
    assert (steps(change_page), change_page.resume_at) == (on(*seqs), stopped)


def test_only_the_operations_and_fields_that_are_wanted_come(store: Store) -> None:
    change_page = read(store, wanted=lambda _, operation: operation.entity == OTHER, limit=2)
    assert (steps(change_page), change_page.resume_at) == (on(4, 5), 3)
    assert steps(read(store, field=lambda name: name == "priority")) == on(5, 6)


def test_a_change_tells_its_author_and_what_it_is_on(bench: StoreBench, store: Store) -> None:
    with store.write() as tx:
        head = tx.commit([EntityWrite(OTHER, "note", {"title": "y"})], by=AuthorKind.AGENT, agent=AGENT)
    (change,) = read(store, after=6).changes
    assert (change.entity, change.kind, change.agent) == (OTHER, "note", AGENT)
    assert (change.source.head, change.source.by, change.source.ms) == (head, AuthorKind.AGENT, bench.now_ms)
    assert read(store, before=7, limit=1).changes[0].agent is None


def before(store: Store, head: Head) -> list[object]:
    return [change.before for change in read(store).changes if change.source.head == head]


def test_a_change_was_from_what_its_author_saw(bench: StoreBench, store: Store) -> None:
    other = bench.store("b")
    exchange(store, other)
    head = write(store, TASK, title="here")
    bench.now_ms += 1000
    existing_head = write(other, TASK, title="there")
    exchange(other, store)
    assert before(store, head) == before(store, existing_head) == ["three"]
    assert before(store, write(store, TASK, title="both seen")) == ["there"]


def test_what_was_never_confirmed_was_not_there_to_change(store: Store) -> None:
    with store.write() as tx:
        tx.commit([EntityWrite(TASK, "task", {"title": "proposed"}, effect=ITEM, by=AuthorKind.AGENT)])
    head = write(store, TASK, title="mine")
    assert before(store, head) == ["three"]
    with store.write() as tx:
        tx.commit(
            [EntityWrite(entity_id(70), "decision", {"item_id": ITEM, "verdict": "confirmed", "seen": []})]
        )
    assert before(store, head) == ["proposed"]


def test_what_nobody_confirmed_and_a_person_touched_was_there_to_change(store: Store) -> None:
    made = entity_id(80)
    with store.write() as tx:
        tx.commit([EntityWrite(made, "checklist_item", {"title": "made"}, effect=ITEM, by=AuthorKind.AGENT)])
    write(store, made, note="mine")
    head = write(store, made, title="mine")
    assert before(store, head) == ["made"]
    with store.write() as tx:
        tx.db.execute("INSERT INTO conditional VALUES (?, x'')", (made,))
    assert before(store, head) == ["made"]


def test_an_effect_that_does_not_count_was_not_there_to_change(store: Store) -> None:
    forged = [EntityId(bytes(14) + bytes([1, number])) for number in range(EFFECTS_MAX)]
    with store.write() as tx:
        tx.commit(
            [
                EntityWrite(entity, "task", {"title": "proposed"}, effect=ITEM, by=AuthorKind.AGENT)
                for entity in [*forged, TASK]
            ]
            + [EntityWrite(entity_id(70), "decision", {"item_id": ITEM, "verdict": "confirmed", "seen": []})]
        )
    assert before(store, write(store, TASK, title="mine")) == ["three"]


def test_each_branch_of_a_fork_changes_what_lies_on_it(bench: StoreBench) -> None:
    store, commits = bench.store("z"), forked_branches()
    for name in ("1", "2", "l2", "3", "l3"):
        with store.write() as tx:
            tx.accept_page([commits[name].signed])
    field_changes_read: list[FieldChange] = read(store, entities=[TASK]).changes
    assert {change.source.head.replica for change in field_changes_read} == {REPLICA}
    assert [(change.before, change.after) for change in field_changes_read] == [
        (None, "t1"), ("t1", "t2"), ("t1", "left"), ("t2", "t3"), ("left", "left 3"),
    ]  # fmt: skip


def test_the_operations_on_an_entity_come_in_feed_order(store: Store) -> None:
    def titles(entity: EntityId) -> list[object]:
        with store.read() as snapshot:
            return [
                sourced_operation.operation.fields.get("title")
                for sourced_operation in field_changes.operations_touching(snapshot, entity)
            ]

    with store.write() as tx:
        tx.commit(
            [
                EntityWrite(identifier, "task", {"title": f"{place}"})
                for place, identifier in enumerate((TASK, OTHER))
            ]
        )
    assert titles(TASK) == ["one", "two", "three", None, "0"]
    assert titles(OTHER) == ["x", None, "1"]
    assert titles(ITEM) == []


def test_the_operations_that_may_have_a_field_are_read_and_no_others(store: Store) -> None:
    with store.read() as snapshot:
        result = [
            sourced_operation.operation.fields
            for sourced_operation in field_changes.operations_touching(snapshot, TASK, "priority")
        ]
        assert result == [{"priority": "P3"}]
        assert list(field_changes.operations_touching(snapshot, TASK, "due")) == []


def test_whether_entities_were_touched_by_few_commits(store: Store) -> None:
    with store.read() as snapshot:
        assert field_changes.is_touched_at_most(snapshot, [TASK], 4)
        assert not field_changes.is_touched_at_most(snapshot, [TASK], 3)
        assert field_changes.is_touched_at_most(snapshot, [TASK, OTHER], 6)
        assert not field_changes.is_touched_at_most(snapshot, [TASK, OTHER], 5)
        assert field_changes.is_touched_at_most(snapshot, [], 0)


def test_the_first_commit_that_a_clock_lacks_is_found(store: Store) -> None:
    with store.read() as snapshot:
        vector = snapshot.vector()
        assert field_changes.first_uncovered_position(snapshot, EMPTY_CLOCK) == 1
        assert field_changes.first_uncovered_position(snapshot, vector) is None
    write(store, TASK, title="new")
    with store.read() as snapshot:
        assert field_changes.first_uncovered_position(snapshot, vector) == 7
        assert field_changes.positions_touching(snapshot, [TASK, OTHER], 4) == [5, 6, 7]


def test_what_was_before_costs_in_proportion_to_the_writes_however_old_their_bases_are(bench: StoreBench):
    """A form may stay open for an hour; a member may let all its writes name what is long past."""

    def reading(count: int) -> Callable[[], object]:
        old_store = bench.store(f"old {count}")
        heads: list[Head] = []
        for number in range(count):
            base = (heads[number // 2],) if heads else None
            heads.append(write(old_store, TASK, base=base, title=f"t{number}"))
        return lambda: read(old_store, limit=50)

    assert_linear(reading, 200)


def test_the_newest_changes_cost_what_they_are_however_many_came_before(bench: StoreBench) -> None:
    def steps_of_newest(count: int) -> int:
        grown = bench.store(f"grown {count}")
        with grown.write() as tx:
            for number in range(count):
                name = ("title", "notes", "status")[number % 3]
                tx.commit([EntityWrite(entity_id(2 + number % 9), "task", {"title": f"{number}"})])
                tx.commit([EntityWrite(TASK, "task", {name: f"{number}"})])
        family = {TASK, *(entity_id(2 + number) for number in range(9))}
        return steps_to_read(grown, lambda snapshot: field_changes.field_changes(snapshot, limit=20)) + sum(
            steps_to_read(
                grown, partial(field_changes.field_changes, limit=20, entities=entities, after=after)
            )
            for entities in ([TASK], family)
            for after in (None, 2 * count - 30)
        )

    short, long = steps_of_newest(40), steps_of_newest(2000)
    assert long <= short + 100


class _SlowHistory:
    """The values before changes, from the definition: whatever the author saw and nothing covers."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._chains = snapshot.log
        self._writes = list(field_changes.operations_touching(snapshot, TASK))

    def before(self, change: FieldChange) -> Value:
        base = next(write for write in self._writes if write.head == change.source.head).operation.base
        observed = [
            write
            for write in self._writes
            if change.field in write.operation.fields and covers(base, write.head, self._chains)
        ]
        covered = tuple(sorted(head for write in observed for head in write.operation.base))
        standing = [write for write in observed if not covers(covered, write.head, self._chains)]
        best = max(standing, key=lambda write: write.source.order, default=None)
        return None if best is None else best.operation.fields[change.field]


STEPS = st.tuples(st.integers(0, 2), st.sampled_from(["write", "old", "meet"]), st.integers(0, 40))


# Two agents overwrite a person's title apart: what they have overwritten outranks both, and stands no more.
AGENTS_APART = [
    (0, "write", 3), (0, "meet", 0), (0, "meet", 1), (1, "write", 1), (2, "write", 1),
    (0, "meet", 0), (0, "meet", 1), (0, "write", 1),
]  # fmt: skip


@given(st.lists(STEPS, min_size=1, max_size=24))
@example(AGENTS_APART)
@settings(max_examples=30)
def test_what_was_before_follows_from_the_bases_alone(histories: list[tuple[int, str, int]]) -> None:
    """Devices write apart and meet; some name as their base what a page showed long ago."""
    with TemporaryDirectory() as folder, closing(StoreBench(Path(folder))) as bench:
        stores = [bench.store(name) for name in "abc"]
        bases: list[VectorClock] = [EMPTY_CLOCK]
        for number, (place, kind, draw) in enumerate(histories):
            store = stores[place]
            bench.now_ms += draw % 3
            if kind == "meet":
                exchange(store, stores[(place + 1 + draw % 2) % 3])
                continue
            with store.write() as tx:
                held_bases = [base for base in bases if all(tx.log.has_commit(head) for head in base)]
                base = held_bases[draw % len(held_bases)] if kind == "old" else tx.clock_of(TASK)
                bases.append(base)
                by = AuthorKind.AGENT if draw % 3 else AuthorKind.USER
                fields: dict[str, Value] = {("title", "notes")[draw % 7 == 0]: f"{number}"}
                tx.commit([EntityWrite(TASK, "task", fields, base=base)], by=by)
        for store in stores:
            with store.read() as snapshot:
                slow = _SlowHistory(snapshot)
                for change in field_changes.field_changes(snapshot, limit=99).changes:
                    assert change.before == slow.before(change)
