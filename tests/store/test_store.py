"""Transactions and snapshots: what is seen when, and what an undone transaction leaves behind.

Never waits for time to pass: order is made with events.
"""

import threading

import pytest

from store.log import Log
from store.store import Store
from store.transaction import Write
from syncproto.commit import By
from syncproto.heads import EMPTY
from syncproto.hlc import LEAD_MS_MAX
from tests.simulation.laws import refold_is_the_same
from tests.store.stores import Bench, entity_id, exchange, feed, grow, signer_of, stands, write

TASK, OTHER = entity_id(1), entity_id(2)


class Stopped(Exception):
    """Raised by a test inside of a transaction."""


def test_a_new_store_is_empty_and_belongs_to_its_device(bench: Bench) -> None:
    store = bench.store("a")
    with store.read() as snapshot:
        assert snapshot.device == signer_of("a").device
        assert snapshot.replica is None
        assert snapshot.vault() is None
        assert snapshot.vector() == EMPTY
        assert snapshot.state_hash() == bytes(32)
        assert snapshot.counts() == (0, 0)
        assert snapshot.feed_end() == 0
        assert snapshot.feed(0, 10) == []
        assert snapshot.page(EMPTY, 0, 1000).commits == []


def test_the_first_write_begins_a_replica_bound_to_the_device(bench: Bench) -> None:
    store = bench.store("a")
    first, second = grow(store, 2)
    assert (first.counter, second.counter) == (1, 2)
    with store.read() as snapshot:
        assert snapshot.replica == first.replica == second.replica
        assert snapshot.device_of(first.replica) == signer_of("a").device
        (_, one), (_, two) = snapshot.feed(0, 10)
        assert snapshot.feed(1, 10) == [(2, two)]
        assert snapshot.feed(0, 1) == [(1, one)]
    assert one.commit.key == signer_of("a").public_key
    assert two.commit.key is None
    assert two.commit.previous == one.hash


def test_a_write_names_the_stores_clock_unless_told_another(bench: Bench) -> None:
    store = bench.store("a")
    first = write(store, TASK, title="one")
    write(store, TASK, title="two")
    third = write(store, TASK, base=(first,), title="on an old page")
    with store.read() as snapshot:
        task = snapshot.entity(TASK)
    assert task is not None
    assert task.clock == (third,)
    assert {one.value for one in task.versions("title")} == {"two", "on an old page"}
    write(store, TASK, base=EMPTY, title="as if it were new")
    with store.read() as snapshot:
        task = snapshot.entity(TASK)
    assert task is not None
    assert len(task.versions("title")) == 3


def test_a_transaction_makes_several_commits_each_seeing_the_one_before(bench: Bench) -> None:
    a, b = bench.store("a"), bench.store("b")
    with a.write() as tx:
        one = tx.commit([Write(TASK, "task", {"title": "one"})])
        two = tx.commit([Write(TASK, "task", {"title": "two"}), Write(OTHER, "task", {"title": "other"})])
        task = tx.entity(TASK)
        assert task is not None
        assert task.value("title") == "two"
        assert not task.conflicts()
        assert tx.counts() == (2, 2)
        assert tx.vector() == (two,)
        assert tx.committed == 2
    assert two.counter == one.counter + 1
    exchange(a, b)
    assert stands(a)[:3] == stands(b)[:3]


@pytest.mark.parametrize("is_undone", [False, True])
def test_a_commit_sees_the_one_before_also_where_the_entity_is_to_be_folded_anew(
    bench: Bench, is_undone: bool
) -> None:
    store = bench.store("a")
    item, yes, no = entity_id(3), entity_id(4), entity_id(5)
    with store.write() as tx:
        if is_undone:
            tx.commit([Write(yes, "decision", {"item_id": item, "verdict": "confirmed", "seen": []})])
        tx.commit([Write(TASK, "task", {"title": "proposed"}, effect=item)])
    with store.write() as tx:
        if is_undone:
            tx.commit([Write(no, "decision", {"item_id": item, "verdict": "undone", "seen": [yes]})])
        tx.commit([Write(TASK, "task", {"title": "one"})])
        tx.commit([Write(TASK, "task", {"title": "two"})])
    with store.read() as snapshot:
        task = snapshot.entity(TASK)
        assert task is not None
        assert task.value("title") == "two"
        assert task.conflicts() == {}
        refold_is_the_same(snapshot)


def test_the_author_of_a_commit_is_the_default_author_of_its_operations(bench: Bench) -> None:
    store = bench.store("a")
    with store.write() as tx:
        agent = tx.new_id()
        tx.commit(
            [
                Write(TASK, "task", {"title": "x"}),
                Write(OTHER, "task", {"title": "y"}, by=By.USER, origin={"by": "Ana"}),
            ],
            by=By.AGENT,
            agent=agent,
        )
    with store.read() as snapshot:
        ((_, received),) = snapshot.feed(0, 10)
        one, two = snapshot.entity(TASK), snapshot.entity(OTHER)
    assert (received.commit.author.by, received.commit.author.agent) == (By.AGENT, agent)
    assert one is not None
    assert two is not None
    assert [one.versions("title")[0].source.by, two.versions("title")[0].source.by] == [By.AGENT, By.USER]
    assert two.versions("title")[0].source.origin == {"by": "Ana"}


def _write_and_stop(store: Store) -> None:
    with store.write() as tx:
        tx.commit([Write(TASK, "task", {"title": "lost"})])
        tx.set_watermark("page", 3)
        tx.set_vault(b"v" * 16)
        raise Stopped


def test_an_exception_undoes_the_whole_transaction(bench: Bench) -> None:
    store = bench.store("a")
    grow(store, 1)
    before = stands(store)
    with pytest.raises(Stopped):
        _write_and_stop(store)
    assert stands(store) == before
    with store.read() as snapshot:
        assert snapshot.watermark("page") == 0
        assert snapshot.vault() is None
        assert Log(snapshot.db).vector() == store._log.vector()
    assert [head.counter for head in grow(store, 1)] == [2]


def test_an_undone_first_write_leaves_no_replica(bench: Bench) -> None:
    store = bench.store("a")
    with pytest.raises(Stopped):
        _write_and_stop(store)
    assert stands(store)[3] is None
    assert store._log.tip(grow(store, 1)[0].replica) is not None


def test_a_snapshot_sees_what_was_durable_when_it_began(bench: Bench) -> None:
    store = bench.store("a")
    grow(store, 1)
    with store.read() as old:
        grow(store, 1)
        assert old.feed_end() == 1
        grow(store, 1)
        with store.read() as new:
            assert new.feed_end() == 3
            task, was = new.entity(TASK), old.entity(TASK)
        assert was is not None
        assert task is not None
        assert [was.clock[0].counter, task.clock[0].counter] == [1, 3]
        assert old.counts().commits == 1


def test_a_snapshot_does_not_see_what_is_not_yet_durable(bench: Bench) -> None:
    store = bench.store("a")
    grow(store, 1)
    with store.write() as tx:
        tx.commit([Write(TASK, "task", {"title": "not yet"})])
        with store.read() as snapshot:
            assert snapshot.feed_end() == 1
    assert stands(store)[2].commits == 2


def test_snapshots_may_be_taken_from_any_thread_while_another_writes(bench: Bench) -> None:
    store = bench.store("a")
    grow(store, 1)
    seen: list[int] = []
    with store.write() as tx:
        tx.commit([Write(TASK, "task", {"title": "under way"})])
        thread = threading.Thread(target=lambda: seen.append(stands(store)[2].commits))
        thread.start()
        thread.join(30)
    assert seen == [1]


def test_connections_of_snapshots_are_used_again(bench: Bench) -> None:
    store = bench.store("a")
    for _ in range(5):
        with store.read() as one, store.read() as two:
            assert one.db is not two.db
    assert len(store._idle_readers) == 2
    with pytest.raises(Stopped), store.read():
        raise Stopped
    assert len(store._idle_readers) == 2


def test_a_store_opened_again_holds_what_it_held(bench: Bench) -> None:
    store = bench.store("a")
    grow(store, 3)
    before, page = stands(store), feed(store)
    store.close()
    store = bench.store("a")
    assert stands(store) == before
    assert feed(store) == page
    assert grow(store, 1)[0].counter == 4


def test_stamps_never_go_back_with_the_clock(bench: Bench) -> None:
    store = bench.store("a")
    start = bench.now_ms
    grow(store, 2)
    bench.now_ms = start - 5_000
    grow(store, 1)
    bench.now_ms = start + 5
    grow(store, 1)
    with store.read() as snapshot:
        stamps = [received.commit.stamp for _, received in snapshot.feed(0, 9)]
    assert stamps == [(start, 0), (start, 1), (start, 2), (start + 5, 0)]


@pytest.mark.parametrize(("ahead_ms", "follows"), [(LEAD_MS_MAX, True), (LEAD_MS_MAX + 1, False)])
def test_a_clock_more_than_ten_minutes_ahead_is_not_followed(
    bench: Bench, ahead_ms: int, follows: bool
) -> None:
    a, b = bench.store("a"), bench.store("b")
    start = bench.now_ms
    bench.now_ms = start + ahead_ms
    grow(a, 1)
    bench.now_ms = start
    exchange(a, b)
    grow(b, 1)
    with b.read() as snapshot:
        stamp = snapshot.feed(1, 1)[0][1].commit.stamp
        task = snapshot.entity(TASK)
    assert stamp == ((start + ahead_ms, 1) if follows else (start, 0))
    assert task is not None
    assert not task.conflicts(), "causality comes before time"


def test_watermarks_and_the_vault_are_kept(bench: Bench) -> None:
    store = bench.store("a")
    with store.write() as tx:
        tx.set_watermark("page", 3)
        tx.set_watermark("page", 5)
        tx.set_watermark("agent", 1)
        tx.set_vault(b"v" * 16)
        assert tx.now_ms() == bench.now_ms
    with store.read() as snapshot:
        assert [snapshot.watermark(name) for name in ("page", "agent", "nobody")] == [5, 1, 0]
        assert snapshot.vault() == b"v" * 16


def test_made_ids_are_in_order_of_time(bench: Bench) -> None:
    store = bench.store("a")
    with store.write() as tx:
        ids = []
        for _ in range(3):
            bench.now_ms += 1
            ids.append(tx.new_id())
    assert ids == sorted(set(ids))


def test_a_write_without_operations_is_a_bug(bench: Bench) -> None:
    store = bench.store("a")
    with pytest.raises(AssertionError), store.write() as tx:
        tx.commit([])
    assert stands(store)[2].commits == 0
