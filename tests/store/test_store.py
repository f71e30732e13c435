"""Transactions and snapshots: what is seen when, and what an undone transaction leaves behind.

Never waits for time to pass: order is made with events.
"""

import threading

import pytest

from store.log.commit_log import CommitLog
from store.store import Store
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.hlc import LEAD_MS_MAX
from syncproto.vector_clock import EMPTY_CLOCK
from tests.simulation.laws import refold_is_the_same
from tests.support.patience import LIMIT_S
from tests.support.stores import (
    StoreBench,
    entity_id,
    exchange,
    feed,
    log_and_state,
    signer_of,
    write,
    write_entities,
)

TASK, OTHER = entity_id(1), entity_id(2)


class Stopped(Exception):
    """Raised by a test inside of a transaction."""


def test_a_new_store_is_empty_and_belongs_to_its_device(bench: StoreBench) -> None:
    store = bench.store("a")
    with store.read() as snapshot:
        assert snapshot.device == signer_of("a").device
        assert snapshot.replica is None
        assert snapshot.vault() is None
        assert snapshot.vector() == EMPTY_CLOCK
        assert snapshot.state_hash() == bytes(32)
        assert snapshot.counts() == (0, 0)
        assert snapshot.feed_end() == 0
        assert snapshot.read_feed(0, 10) == []
        assert snapshot.page_lacking(EMPTY_CLOCK, 0, 1000).commits == []


def test_the_first_write_begins_a_replica_bound_to_the_device(bench: StoreBench) -> None:
    store = bench.store("a")
    first, second = write_entities(store, 2)
    assert (first.counter, second.counter) == (1, 2)
    with store.read() as snapshot:
        assert snapshot.replica == first.replica == second.replica
        assert snapshot.device_of(first.replica) == signer_of("a").device
        (_, commit), (_, two) = snapshot.read_feed(0, 10)
        assert snapshot.read_feed(1, 10) == [(2, two)]
        assert snapshot.read_feed(0, 1) == [(1, commit)]
    assert commit.commit.key == signer_of("a").public_key
    assert two.commit.key is None
    assert two.commit.previous == commit.hash


def test_a_write_names_the_stores_clock_unless_told_another(bench: StoreBench) -> None:
    store = bench.store("a")
    first = write(store, TASK, title="one")
    write(store, TASK, title="two")
    third = write(store, TASK, base=(first,), title="on an old page")
    with store.read() as snapshot:
        task = snapshot.entity(TASK)
    assert task is not None
    assert task.clock == (third,)
    assert {version.value for version in task.versions("title")} == {"two", "on an old page"}
    write(store, TASK, base=EMPTY_CLOCK, title="as if it were new")
    with store.read() as snapshot:
        task = snapshot.entity(TASK)
    assert task is not None
    assert len(task.versions("title")) == 3


def test_a_transaction_makes_several_commits_each_seeing_the_one_before(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    with a.write() as tx:
        head = tx.commit([EntityWrite(TASK, "task", {"title": "one"})])
        two = tx.commit(
            [EntityWrite(TASK, "task", {"title": "two"}), EntityWrite(OTHER, "task", {"title": "other"})]
        )
        task = tx.entity(TASK)
        assert task is not None
        assert task.value("title") == "two"
        assert not task.conflicts()
        assert tx.counts() == (2, 2)
        assert tx.vector() == (two,)
        assert tx.committed == 2
    assert two.counter == head.counter + 1
    exchange(a, b)
    assert log_and_state(a)[:3] == log_and_state(b)[:3]


@pytest.mark.parametrize("is_undone", [False, True])
def test_a_commit_sees_the_one_before_also_where_the_entity_is_to_be_folded_anew(
    bench: StoreBench, is_undone: bool
) -> None:
    store = bench.store("a")
    item, yes, no = entity_id(3), entity_id(4), entity_id(5)
    with store.write() as tx:
        if is_undone:
            tx.commit([EntityWrite(yes, "decision", {"item_id": item, "verdict": "confirmed", "seen": []})])
        tx.commit([EntityWrite(TASK, "task", {"title": "proposed"}, effect=item)])
    with store.write() as tx:
        if is_undone:
            tx.commit([EntityWrite(no, "decision", {"item_id": item, "verdict": "undone", "seen": [yes]})])
        tx.commit([EntityWrite(TASK, "task", {"title": "one"})])
        tx.commit([EntityWrite(TASK, "task", {"title": "two"})])
    with store.read() as snapshot:
        task = snapshot.entity(TASK)
        assert task is not None
        assert task.value("title") == "two"
        assert task.conflicts() == {}
        refold_is_the_same(snapshot)


def test_the_author_of_a_commit_is_the_default_author_of_its_operations(bench: StoreBench) -> None:
    store = bench.store("a")
    with store.write() as tx:
        agent = tx.new_id()
        tx.commit(
            [
                EntityWrite(TASK, "task", {"title": "x"}),
                EntityWrite(OTHER, "task", {"title": "y"}, by=AuthorKind.USER, origin={"by": "Ana"}),
            ],
            by=AuthorKind.AGENT,
            agent=agent,
        )
    with store.read() as snapshot:
        ((_, received),) = snapshot.read_feed(0, 10)
        entity, two = snapshot.entity(TASK), snapshot.entity(OTHER)
    assert (received.commit.author.by, received.commit.author.agent) == (AuthorKind.AGENT, agent)
    assert entity is not None
    assert two is not None
    assert [entity.versions("title")[0].source.by, two.versions("title")[0].source.by] == [
        AuthorKind.AGENT,
        AuthorKind.USER,
    ]
    assert two.versions("title")[0].source.origin == {"by": "Ana"}


def _write_and_stop(store: Store) -> None:
    with store.write() as tx:
        tx.commit([EntityWrite(TASK, "task", {"title": "lost"})])
        tx.set_watermark("page", 3)
        tx.set_vault(b"v" * 16)
        raise Stopped


def test_an_exception_undoes_the_whole_transaction(bench: StoreBench) -> None:
    store = bench.store("a")
    write_entities(store, 1)
    before = log_and_state(store)
    with pytest.raises(Stopped):
        _write_and_stop(store)
    assert log_and_state(store) == before
    with store.read() as snapshot:
        assert snapshot.watermark("page") == 0
        assert snapshot.vault() is None
        assert CommitLog(snapshot.db).chains.heads().clock == store._log.chains.heads().clock
    assert [head.counter for head in write_entities(store, 1)] == [2]


def test_an_undone_first_write_leaves_no_replica(bench: StoreBench) -> None:
    store = bench.store("a")
    with pytest.raises(Stopped):
        _write_and_stop(store)
    assert log_and_state(store)[3] is None
    assert store._log.chains.own_tip(write_entities(store, 1)[0].replica) is not None


def test_a_snapshot_sees_what_was_durable_when_it_began(bench: StoreBench) -> None:
    store = bench.store("a")
    write_entities(store, 1)
    with store.read() as old:
        write_entities(store, 1)
        assert old.feed_end() == 1
        write_entities(store, 1)
        with store.read() as new:
            assert new.feed_end() == 3
            task, entity = new.entity(TASK), old.entity(TASK)
        assert entity is not None
        assert task is not None
        assert [entity.clock[0].counter, task.clock[0].counter] == [1, 3]
        assert old.counts().commits == 1


def test_a_snapshot_does_not_see_what_is_not_yet_durable(bench: StoreBench) -> None:
    store = bench.store("a")
    write_entities(store, 1)
    with store.write() as tx:
        tx.commit([EntityWrite(TASK, "task", {"title": "not yet"})])
        with store.read() as snapshot:
            assert snapshot.feed_end() == 1
    assert log_and_state(store)[2].commits == 2


def test_snapshots_may_be_taken_from_any_thread_while_another_writes(bench: StoreBench) -> None:
    store = bench.store("a")
    write_entities(store, 1)
    observed: list[int] = []
    with store.write() as tx:
        tx.commit([EntityWrite(TASK, "task", {"title": "under way"})])
        thread = threading.Thread(target=lambda: observed.append(log_and_state(store)[2].commits))
        thread.start()
        thread.join(LIMIT_S)
    assert observed == [1]


def test_connections_of_snapshots_are_used_again(bench: StoreBench) -> None:
    store = bench.store("a")
    for _ in range(5):
        with store.read() as snapshot, store.read() as two:
            assert snapshot.db is not two.db
    assert len(store._idle_readers) == 2
    with pytest.raises(Stopped), store.read():
        raise Stopped
    assert len(store._idle_readers) == 2


def test_a_store_opened_again_holds_what_it_held(bench: StoreBench) -> None:
    store = bench.store("a")
    write_entities(store, 3)
    before, page = log_and_state(store), feed(store)
    store.close()
    store = bench.store("a")
    assert log_and_state(store) == before
    assert feed(store) == page
    assert write_entities(store, 1)[0].counter == 4


def test_stamps_never_go_back_with_the_clock(bench: StoreBench) -> None:
    store = bench.store("a")
    start = bench.now_ms
    write_entities(store, 2)
    bench.now_ms = start - 5_000
    write_entities(store, 1)
    bench.now_ms = start + 5
    write_entities(store, 1)
    with store.read() as snapshot:
        stamps = [received.commit.stamp for _, received in snapshot.read_feed(0, 9)]
    assert stamps == [(start, 0), (start, 1), (start, 2), (start + 5, 0)]


@pytest.mark.parametrize(("ahead_ms", "follows"), [(LEAD_MS_MAX, True), (LEAD_MS_MAX + 1, False)])
def test_a_clock_more_than_ten_minutes_ahead_is_not_followed(
    bench: StoreBench, ahead_ms: int, follows: bool
) -> None:
    a, b = bench.store("a"), bench.store("b")
    start = bench.now_ms
    bench.now_ms = start + ahead_ms
    write_entities(a, 1)
    bench.now_ms = start
    exchange(a, b)
    write_entities(b, 1)
    with b.read() as snapshot:
        stamp = snapshot.read_feed(1, 1)[0][1].commit.stamp
        task = snapshot.entity(TASK)
    assert stamp == ((start + ahead_ms, 1) if follows else (start, 0))
    assert task is not None
    assert not task.conflicts(), "causality comes before time"


def test_watermarks_and_the_vault_are_kept(bench: StoreBench) -> None:
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


def test_made_ids_are_in_order_of_time(bench: StoreBench) -> None:
    store = bench.store("a")
    with store.write() as tx:
        ids = []
        for _ in range(3):
            bench.now_ms += 1
            ids.append(tx.new_id())
    assert ids == sorted(set(ids))


def test_a_write_without_operations_is_a_bug(bench: StoreBench) -> None:
    store = bench.store("a")
    with pytest.raises(AssertionError), store.write() as tx:
        tx.commit([])
    assert log_and_state(store)[2].commits == 0
