"""The history as the log tells it: from what to what, where to go on, and what it passes over.

Never reads a folded row.
"""

from typing import Any

import pytest

from store import history
from store.history import Change, Found
from store.store import Store
from store.transaction import Write
from syncproto.commit import By
from syncproto.heads import EMPTY, Head
from syncproto.ids import EntityId
from tests.store.forks import REPLICA, TASK, branches
from tests.store.stores import Bench, entity_id, exchange, write

OTHER, ITEM, AGENT = entity_id(2), entity_id(50), entity_id(60)


@pytest.fixture
def store(bench: Bench) -> Store:
    """Return a store with six commits, the fourth and the fifth on another entity."""
    made = bench.store("a")
    steps: list[tuple[EntityId, dict[str, Any]]] = [
        (TASK, {"title": "one", "notes": "n"}),
        (TASK, {"title": "two"}),
        (TASK, {"title": "three"}),
        (OTHER, {"title": "x"}),
        (OTHER, {"priority": "P1"}),
        (TASK, {"priority": "P3"}),
    ]
    for entity, fields in steps:
        write(made, entity, **fields)
    return made


def read(store: Store, **asked: Any) -> Found:
    with store.read() as snapshot:
        return history.changes(snapshot, **({"limit": 99} | asked))


def steps(found: Found) -> list[tuple[int, str, object, object]]:
    return [(one.seq, one.field, one.before, one.after) for one in found.changes]


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
    return [one for one in ALL if one[0] in seqs]


@pytest.mark.parametrize("asked", [{}, {"after": 0}, {"entities": [TASK, OTHER]}, {"before": 99}])
def test_every_field_that_was_written_is_a_change_in_feed_order(store: Store, asked: dict[str, Any]) -> None:
    assert (steps(read(store, **asked)), read(store, **asked).stopped) == (ALL, None)


@pytest.mark.parametrize(
    ("asked", "seqs", "stopped"),
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
    store: Store, asked: dict[str, Any], seqs: tuple[int, ...], stopped: int | None
) -> None:
    found = read(store, **asked)
    assert (steps(found), found.stopped) == (on(*seqs), stopped)


def test_only_the_operations_and_fields_that_are_wanted_come(store: Store) -> None:
    found = read(store, wanted=lambda _, operation: operation.entity == OTHER, limit=2)
    assert (steps(found), found.stopped) == (on(4, 5), 3)
    assert steps(read(store, field=lambda name: name == "priority")) == on(5, 6)


def test_a_change_tells_its_author_and_what_it_is_on(bench: Bench, store: Store) -> None:
    with store.write() as tx:
        head = tx.commit([Write(OTHER, "note", {"title": "y"})], by=By.AGENT, agent=AGENT)
    (change,) = read(store, after=6).changes
    assert (change.entity, change.kind, change.agent) == (OTHER, "note", AGENT)
    assert (change.source.head, change.source.by, change.source.ms) == (head, By.AGENT, bench.now_ms)
    assert read(store, before=7, limit=1).changes[0].agent is None


def before(store: Store, head: Head) -> list[object]:
    return [one.before for one in read(store).changes if one.source.head == head]


def test_a_change_was_from_what_its_author_saw(bench: Bench, store: Store) -> None:
    other = bench.store("b")
    exchange(store, other)
    here = write(store, TASK, title="here")
    bench.now_ms += 1000
    there = write(other, TASK, title="there")
    exchange(other, store)
    assert before(store, here) == before(store, there) == ["three"]
    assert before(store, write(store, TASK, title="both seen")) == ["there"]


def test_what_was_never_confirmed_was_not_there_to_change(store: Store) -> None:
    with store.write() as tx:
        tx.commit([Write(TASK, "task", {"title": "proposed"}, effect=ITEM, by=By.AGENT)])
    head = write(store, TASK, title="mine")
    assert before(store, head) == ["three"]
    with store.write() as tx:
        tx.commit([Write(entity_id(70), "decision", {"item_id": ITEM, "verdict": "confirmed", "seen": []})])
    assert before(store, head) == ["proposed"]


def test_each_branch_of_a_fork_changes_what_lies_on_it(bench: Bench) -> None:
    store, made = bench.store("z"), branches()
    for name in ("1", "2", "l2", "3", "l3"):
        with store.write() as tx:
            tx.take([made[name].signed])
    told: list[Change] = read(store, entities=[TASK]).changes
    assert {one.source.head.replica for one in told} == {REPLICA}
    assert [(one.before, one.after) for one in told] == [
        (None, "t1"), ("t1", "t2"), ("t1", "left"), ("t2", "t3"), ("left", "left 3"),
    ]  # fmt: skip


def test_the_operations_on_an_entity_come_in_feed_order(store: Store) -> None:
    def titles(entity: EntityId) -> list[object]:
        with store.read() as snapshot:
            return [one.operation.fields.get("title") for one in history.operations(snapshot, entity)]

    with store.write() as tx:
        tx.commit([Write(one, "task", {"title": f"{place}"}) for place, one in enumerate((TASK, OTHER))])
    assert titles(TASK) == ["one", "two", "three", None, "0"]
    assert titles(OTHER) == ["x", None, "1"]
    assert titles(ITEM) == []


def test_the_operations_that_may_have_a_field_are_read_and_no_others(store: Store) -> None:
    with store.read() as snapshot:
        found = [one.operation.fields for one in history.operations(snapshot, TASK, "priority")]
        assert found == [{"priority": "P3"}]
        assert list(history.operations(snapshot, TASK, "due")) == []


def test_whether_entities_were_touched_by_few_commits(store: Store) -> None:
    with store.read() as snapshot:
        assert history.are_few(snapshot, [TASK], 4)
        assert not history.are_few(snapshot, [TASK], 3)
        assert history.are_few(snapshot, [TASK, OTHER], 6)
        assert not history.are_few(snapshot, [TASK, OTHER], 5)
        assert history.are_few(snapshot, [], 0)


def test_the_first_commit_that_a_clock_lacks_is_found(store: Store) -> None:
    with store.read() as snapshot:
        vector = snapshot.vector()
        assert history.first_beyond(snapshot, EMPTY) == 1
        assert history.first_beyond(snapshot, vector) is None
    write(store, TASK, title="new")
    with store.read() as snapshot:
        assert history.first_beyond(snapshot, vector) == 7
        assert history.positions(snapshot, [TASK, OTHER], 4) == [5, 6, 7]
