"""What reading for a peer costs, counted in steps of SQLite's own machine, not in time.

Never measures a clock.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import apsw
import pytest

from store.fold.list_columns import ListOrder
from store.log.pages import FeedPage
from store.snapshot import Snapshot
from store.store import Store
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.vector_clock import EMPTY_CLOCK, VectorClock
from tests.support.sqlite_steps import steps_to_read
from tests.support.stores import StoreBench, entity_id, exchange, feed, write, write_entities

SMALL, LARGE = 60, 1200


def grown(bench: StoreBench, name: str, count: int) -> Store:
    """Return a store with so many commits, made in one transaction."""
    store = bench.store(name)
    with store.write() as tx:
        for number in range(count):
            tx.commit([EntityWrite(entity_id(number % 50), "task", {"title": f"t{number}"})])
    return store


def vector(store: Store) -> VectorClock:
    with store.read() as snapshot:
        return snapshot.vector()


@pytest.mark.parametrize("more", [0, 1, 5])
def test_finding_what_a_peer_lacks_costs_what_it_lacks_whatever_the_size_of_the_log(
    bench: StoreBench, more: int
) -> None:
    costs = []
    for name, size in (("a", SMALL), ("b", LARGE)):
        store = grown(bench, name, size)
        heads = vector(store)
        write_entities(store, more)
        read = partial(Snapshot.page_lacking, peer=heads, after=0, bytes_max=1 << 20)
        costs.append(steps_to_read(store, read))
    small, large = costs
    assert abs(large - small) <= 20
    assert large <= 40 + 40 * more


def test_a_live_link_reads_only_beyond_its_place_in_the_feed(bench: StoreBench) -> None:
    costs = []
    for name, size in (("a", SMALL), ("b", LARGE)):
        store = grown(bench, name, size)
        heads, end = vector(store), stands_at(store)
        write_entities(store, 2)
        read = partial(Snapshot.page_lacking, peer=heads, after=end, bytes_max=1 << 20)
        costs.append(steps_to_read(store, read))
    assert abs(costs[1] - costs[0]) <= 20


def stands_at(store: Store) -> int:
    with store.read() as snapshot:
        return snapshot.feed_end()


def test_pages_for_a_new_device_cost_in_all_what_the_log_holds(bench: StoreBench) -> None:
    store = grown(bench, "a", LARGE)

    def read_all(snapshot: Snapshot) -> None:
        after, vector = 0, EMPTY_CLOCK
        while True:
            page = snapshot.page_lacking(vector, after, 64 * 1024)
            if not page.commits:
                return
            after = page.end

    assert steps_to_read(store, read_all) < 100 * LARGE


def test_the_lag_of_a_peer_is_told_without_reading_the_log(bench: StoreBench) -> None:
    store = grown(bench, "a", LARGE)
    heads = vector(store)
    write_entities(store, 3)
    with store.read() as snapshot:
        assert snapshot.count_behind(heads) == 3
        assert snapshot.count_behind(EMPTY_CLOCK) == LARGE + 3
        assert snapshot.count_behind(snapshot.vector()) == 0
    assert steps_to_read(store, lambda snapshot: snapshot.count_behind(heads)) < 100


def test_a_forked_replica_costs_its_own_commits_and_no_others(bench: StoreBench) -> None:
    costs = []
    for name, size in (("b", SMALL), ("c", LARGE)):
        a = bench.store("a", bench.folder / f"{name}-a.db")
        write_entities(a, 1)
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
            assert snapshot.count_behind(snapshot.vector()) == 0
            assert snapshot.count_behind(vector(a)) == size + 1
            assert snapshot.count_behind(EMPTY_CLOCK) == size + 3
        costs.append(
            steps_to_read(store, lambda snapshot: snapshot.page_lacking(snapshot.vector(), 0, 1 << 20))
        )
    assert abs(costs[1] - costs[0]) <= 40


def test_reading_one_entity_and_its_relations_searches_and_never_scans(bench: StoreBench) -> None:
    store = bench.store("a")
    write_entities(store, 1)
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
        "SELECT branch FROM feed WHERE replica = ? AND counter = ? AND hash = ?",
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


def test_a_page_is_cut_near_its_size_and_goes_on_where_it_ended(bench: StoreBench) -> None:
    store = bench.store("a")
    for number in range(30):
        write(store, entity_id(1), title=f"{number}" + "x" * 300)
    commits, after, sizes = [], 0, []
    with store.read() as snapshot:
        while True:
            page = snapshot.page_lacking(EMPTY_CLOCK, after, 2_000)
            if not page.commits:
                break
            sizes.append(sum(len(commit.body) + len(commit.signature) for commit in page.commits))
            commits += page.commits
            after = page.end
        assert page.end == snapshot.feed_end()
    assert commits == feed(store)
    assert max(sizes) <= 2_000
    assert len(sizes) > 5


def test_a_commit_larger_than_a_page_makes_a_page_of_its_own(bench: StoreBench) -> None:
    store = bench.store("a")
    write(store, entity_id(1), title="x" * 5_000)
    write(store, entity_id(1), title="y")
    with store.read() as snapshot:
        page = snapshot.page_lacking(EMPTY_CLOCK, 0, 100)
        assert len(page.commits) == 1
        assert page.end == 1
        assert len(snapshot.page_lacking(EMPTY_CLOCK, 1, 100).commits) == 1
        assert snapshot.page_lacking(EMPTY_CLOCK, 99, 100) == FeedPage([], 99, whole=True)


def test_a_peer_gets_only_what_its_vector_does_not_cover(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write_entities(a, 3)
    exchange(a, b)
    heads = vector(b)
    write_entities(b, 2)
    write_entities(a, 2)
    with a.read() as snapshot:
        assert len(snapshot.page_lacking(heads, 0, 1 << 20).commits) == 2
        ahead = (heads[0]._replace(counter=99, hash=b"unknown!"),)
        assert snapshot.page_lacking(ahead, 0, 1 << 20).commits == []
        assert snapshot.count_behind(ahead) == 0
        behind = (heads[0]._replace(hash=b"unknown!" * 4),)
        assert len(snapshot.page_lacking(behind, 0, 1 << 20).commits) == 5


def page(snapshot: Snapshot, size: int, order: ListOrder) -> None:
    """Read five tasks of the twenty that were made last."""
    last = entity_id(size + 9)
    rows = snapshot.states_in_order("task", order, removed=False, closed=True, after=last, limit=5)
    following = range(8, 3, -1) if order is ListOrder.NEWEST else range(10, 15)
    assert [name for name, _ in rows] == [entity_id(size + number) for number in following]


@pytest.mark.parametrize("order", ListOrder)
def test_a_page_of_a_list_costs_the_page_wherever_it_begins(bench: StoreBench, order: ListOrder) -> None:
    costs = []
    for name, size in (("small", SMALL), ("large", LARGE)):
        store = bench.store(name)
        with store.write() as tx:
            tx.commit([EntityWrite(entity_id(number), "task", {"title": "x"}) for number in range(1, size)])
            for number in range(size, size + 20):
                tx.commit([EntityWrite(entity_id(number), "task", {"title": "x"})])
        costs.append(steps_to_read(store, partial(page, size=size, order=order)))
    assert abs(costs[1] - costs[0]) <= 20


def test_what_waits_is_found_without_what_was_ever_proposed(bench: StoreBench) -> None:
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
                tx.commit([EntityWrite(entity_id(9000 + first), "change_set", fields | late)])
        costs.append(steps_to_read(store, lambda snapshot: snapshot.open_items(60)))
    assert abs(costs[1] - costs[0]) <= 40


def questions_of(store: Store, write_all: Callable[[Transaction], None]) -> int:
    """Count the questions that one transaction asks the database, those at its end too."""
    texts: list[str] = []
    with store.write() as transaction:
        connection = transaction.db
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: texts.append(event["sql"]))
        write_all(transaction)
        transaction.finish()
        connection.trace_v2(0, None)
    return sum(text.startswith("SELECT") for text in texts)


def test_entities_with_drawn_ids_are_made_without_a_question_for_each(bench: StoreBench) -> None:
    def make(transaction: Transaction, count: int) -> None:
        for number in range(count):
            drawn = transaction.new_id()
            transaction.commit([EntityWrite(drawn, "task", {"title": f"t{number}"})])
            if number % 10 == 9:
                transaction.commit([EntityWrite(drawn, "task", {"title": "changed"})])

    store, other = bench.store("a"), bench.store("b")
    _first, for_five, for_nine = (questions_of(store, partial(make, count=count)) for count in (1, 5, 9))
    assert for_nine == for_five
    with store.write() as transaction:
        make(transaction, 40)
    exchange(store, other)
    with store.read() as mine, other.read() as theirs:
        assert mine.state_hash() == theirs.state_hash()
    assert not [state for (state,) in disputed(store) if state]


def disputed(store: Store) -> list[tuple[int]]:
    with store.read() as snapshot:
        rows: Any = snapshot.db.execute("SELECT disputed FROM entity").fetchall()
    return list(rows)
