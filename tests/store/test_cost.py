"""What reading for a peer costs, counted in steps of SQLite's own machine, not in time.

Never measures a clock.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import apsw
import pytest

from store.snapshot import Snapshot
from store.store import Store
from store.transaction import Write
from syncproto.codec import Value
from syncproto.heads import EMPTY, Clock
from tests.store.stores import Bench, entity_id, exchange, feed, grow, write

SMALL, LARGE = 60, 1200


@contextmanager
def steps_of(snapshot: Snapshot) -> Iterator[Callable[[], int]]:
    """Count the steps that SQLite's machine takes, and so the rows that it visits."""
    taken: list[int] = []

    def note(event: dict[str, dict[str, int]]) -> None:
        taken.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

    snapshot.db.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
    yield lambda: sum(taken)
    snapshot.db.trace_v2(0, None)


def grown(bench: Bench, name: str, count: int) -> Store:
    """Return a store with so many commits, made in one transaction."""
    store = bench.store(name)
    with store.write() as tx:
        for number in range(count):
            tx.commit([Write(entity_id(number % 50), "task", {"title": f"t{number}"})])
    return store


def cost(store: Store, read: Callable[[Snapshot], object]) -> int:
    with store.read() as snapshot:
        _ = snapshot.log
        with steps_of(snapshot) as steps:
            read(snapshot)
        assert steps() > 0
        return steps()


def vector(store: Store) -> Clock:
    with store.read() as snapshot:
        return snapshot.vector()


@pytest.mark.parametrize("more", [0, 1, 5])
def test_finding_what_a_peer_lacks_costs_what_it_lacks_whatever_the_size_of_the_log(
    bench: Bench, more: int
) -> None:
    costs = []
    for name, size in (("a", SMALL), ("b", LARGE)):
        store = grown(bench, name, size)
        known = vector(store)
        grow(store, more)
        costs.append(cost(store, lambda snapshot, known=known: snapshot.page(known, 0, 1 << 20)))  # type: ignore[misc]
    small, large = costs
    assert abs(large - small) <= 20
    assert large <= 40 + 40 * more


def test_a_live_link_reads_only_beyond_its_place_in_the_feed(bench: Bench) -> None:
    costs = []
    for name, size in (("a", SMALL), ("b", LARGE)):
        store = grown(bench, name, size)
        at, end = vector(store), stands_at(store)
        grow(store, 2)
        costs.append(cost(store, lambda snapshot, at=at, end=end: snapshot.page(at, end, 1 << 20)))  # type: ignore[misc]
    assert abs(costs[1] - costs[0]) <= 20


def stands_at(store: Store) -> int:
    with store.read() as snapshot:
        return snapshot.feed_end()


def test_pages_for_a_new_device_cost_in_all_what_the_log_holds(bench: Bench) -> None:
    store = grown(bench, "a", LARGE)

    def read_all(snapshot: Snapshot) -> None:
        after, vector = 0, EMPTY
        while True:
            page = snapshot.page(vector, after, 64 * 1024)
            if not page.commits:
                return
            after = page.end

    assert cost(store, read_all) < 100 * LARGE


def test_the_lag_of_a_peer_is_told_without_reading_the_log(bench: Bench) -> None:
    store = grown(bench, "a", LARGE)
    known = vector(store)
    grow(store, 3)
    with store.read() as snapshot:
        assert snapshot.lag(known) == 3
        assert snapshot.lag(EMPTY) == LARGE + 3
        assert snapshot.lag(snapshot.vector()) == 0
    assert cost(store, lambda snapshot: snapshot.lag(known)) < 50


def test_a_forked_replica_costs_its_own_commits_and_no_others(bench: Bench) -> None:
    costs = []
    for name, size in (("b", SMALL), ("c", LARGE)):
        a = bench.store("a", bench.folder / f"{name}-a.db")
        grow(a, 1)
        a.close()
        copy = bench.folder / f"{name}-copy.db"
        copy.write_bytes((bench.folder / f"{name}-a.db").read_bytes())
        a, twin = bench.store("a", bench.folder / f"{name}-a.db"), bench.store("a", copy)
        write(a, entity_id(1), title="here")
        write(twin, entity_id(1), title="there")
        store = grown(bench, name, size)
        exchange(a, store)
        exchange(twin, store)
        with store.read() as snapshot:
            assert snapshot.lag(snapshot.vector()) == 0
            assert snapshot.lag(vector(a)) == size + 1
            assert snapshot.lag(EMPTY) == size + 3
        costs.append(cost(store, lambda snapshot: snapshot.page(snapshot.vector(), 0, 1 << 20)))
    assert abs(costs[1] - costs[0]) <= 40


def test_reading_one_entity_and_its_relations_searches_and_never_scans(bench: Bench) -> None:
    store = bench.store("a")
    grow(store, 1)
    queries = (
        "SELECT visible, state FROM entity WHERE id = ?",
        "SELECT id, state FROM entity WHERE kind = ? AND visible = ? ORDER BY id",
        (
            "SELECT owner FROM relation JOIN entity ON entity.id = owner"
            " WHERE target = ? AND name = ? AND (visible OR ?) ORDER BY owner"
        ),
        "SELECT seq FROM history WHERE entity = ? ORDER BY seq",
        "SELECT entity FROM effect WHERE item = ?",
        "SELECT seq FROM opinion WHERE item = ? ORDER BY seq",
        "SELECT item FROM proposal WHERE change_set = ? ORDER BY position",
        "SELECT branch FROM feed WHERE replica = ? AND counter = ? AND hash8 = ?",
        "SELECT seq FROM feed WHERE replica = ? AND counter > ? AND seq > ? ORDER BY counter",
    )
    with store.read() as snapshot:
        for query in queries:
            bindings = [None] * query.count("?")
            plan = [str(row[3]) for row in snapshot.db.execute(f"EXPLAIN QUERY PLAN {query}", bindings)]
            assert plan
            assert all(step.startswith(("SEARCH", "USE TEMP B-TREE FOR ORDER BY")) for step in plan), (
                query,
                plan,
            )


def test_a_page_is_cut_near_its_size_and_goes_on_where_it_ended(bench: Bench) -> None:
    store = bench.store("a")
    for number in range(30):
        write(store, entity_id(1), title=f"{number}" + "x" * 300)
    every, after, sizes = [], 0, []
    with store.read() as snapshot:
        while True:
            page = snapshot.page(EMPTY, after, 2_000)
            if not page.commits:
                break
            sizes.append(sum(len(one.body) + len(one.signature) for one in page.commits))
            every += page.commits
            after = page.end
        assert page.end == snapshot.feed_end()
    assert every == feed(store)
    assert max(sizes) <= 2_000
    assert len(sizes) > 5


def test_a_commit_larger_than_a_page_makes_a_page_of_its_own(bench: Bench) -> None:
    store = bench.store("a")
    write(store, entity_id(1), title="x" * 5_000)
    write(store, entity_id(1), title="y")
    with store.read() as snapshot:
        page = snapshot.page(EMPTY, 0, 100)
        assert len(page.commits) == 1
        assert page.end == 1
        assert len(snapshot.page(EMPTY, 1, 100).commits) == 1
        assert snapshot.page(EMPTY, 99, 100) == ([], 99, True)


def test_a_peer_gets_only_what_its_vector_does_not_cover(bench: Bench) -> None:
    a, b = bench.store("a"), bench.store("b")
    grow(a, 3)
    exchange(a, b)
    known = vector(b)
    grow(b, 2)
    grow(a, 2)
    with a.read() as snapshot:
        assert len(snapshot.page(known, 0, 1 << 20).commits) == 2
        ahead = (known[0]._replace(counter=99, hash8=b"unknown!"),)
        assert snapshot.page(ahead, 0, 1 << 20).commits == []
        assert snapshot.lag(ahead) == 0
        behind = (known[0]._replace(hash8=b"unknown!"),)
        assert len(snapshot.page(behind, 0, 1 << 20).commits) == 5


def page(snapshot: Snapshot, size: int) -> None:
    """Read five tasks of the twenty that were made last."""
    last = entity_id(size + 9)
    rows = snapshot.in_order("task", removed=False, closed=True, after=last, limit=5)
    assert [name for name, _ in rows] == [entity_id(size + number) for number in range(10, 15)]


def test_a_page_of_a_list_costs_the_page_wherever_it_begins(bench: Bench) -> None:
    costs = []
    for name, size in (("small", SMALL), ("large", LARGE)):
        store = bench.store(name)
        with store.write() as tx:
            tx.commit([Write(entity_id(number), "task", {"title": "x"}) for number in range(1, size)])
            for number in range(size, size + 20):
                tx.commit([Write(entity_id(number), "task", {"title": "x"})])
        costs.append(cost(store, partial(page, size=size)))
    assert abs(costs[1] - costs[0]) <= 20


def test_what_waits_is_found_without_what_was_ever_proposed(bench: Bench) -> None:
    costs = []
    for name, size in (("small", SMALL), ("large", LARGE)):
        store = bench.store(name)
        proposed: list[Value] = [
            {"item_id": entity_id(number), "fingerprint": bytes(32), "tool": "x", "args": {}, "base": {}}
            for number in range(size)
        ]
        with store.write() as tx:
            for first in range(0, size, 20):
                fields: dict[str, Value] = {"task_id": entity_id(0), "items": proposed[first : first + 20]}
                late: dict[str, Value] = {"expires_at": 100 if first == 0 else 50}
                tx.commit([Write(entity_id(9000 + first), "change_set", fields | late)])
        costs.append(cost(store, lambda snapshot: snapshot.open_items(60)))
    assert abs(costs[1] - costs[0]) <= 40
