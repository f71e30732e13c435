"""Pages that bring a counter used twice: both branches stay, on every store alike.

Never skips a check: every page passes the one gate of a transaction.
"""

import itertools

import pytest

from store.file.lease import ReplicaDoubt
from store.transaction import EntityWrite
from tests.store.forked_logs import OTHER, TASK, forked_branches
from tests.store.page_steps import refused, take
from tests.support.stores import (
    StoreBench,
    exchange,
    feed,
    log_and_state,
    signer_of,
    unsigned,
    write,
    write_entities,
)

CAUSES = {"2": "1", "3": "2", "l2": "1", "l3": "l2", "r3": "l2"}


ORDERS = [
    order
    for order in itertools.permutations(("1", "2", "3", "l2", "l3", "r3", "s1"))
    if all(order.index(cause) < order.index(effect) for effect, cause in CAUSES.items())
][::5]


def test_both_branches_of_a_fork_stay_in_any_order_of_arrival(bench: StoreBench) -> None:
    commits, observed = forked_branches(), set()
    for number, order in enumerate(ORDERS):
        store = bench.store("z", bench.folder / f"{number}.db")
        for name in order:
            assert take(store, [commits[name].signed]) == 1
        observed.add(log_and_state(store))
        assert log_and_state(store)[0] == tuple(
            sorted(commits[name].head for name in ("3", "l3", "r3", "s1"))
        )
        with store.read() as snapshot:
            task = snapshot.entity(TASK)
        assert task is not None
        assert {version.value for version in task.versions("title")} == {"t3", "left 3", "another start"}
    assert len(observed) == 1


def test_a_fork_is_told_once(bench: StoreBench) -> None:
    commits, store = forked_branches(), bench.store("z")
    answer = []
    for name in ("1", "2", "3", "l2", "l3", "r3"):
        with store.write() as tx:
            answer.append(tx.accept_page([commits[name].signed]).forked)
    assert answer == [False, False, False, True, False, False]


@pytest.mark.parametrize("names", [("1", "2", "l2"), ("2", "1", "l2"), ("1", "l2", "2")])
def test_each_branch_in_a_page_must_end_in_a_signature(bench: StoreBench, names: tuple[str, ...]) -> None:
    commits = forked_branches()
    for bare in ("2", "l2"):
        page = [unsigned(commits[name].signed) if name == bare else commits[name].signed for name in names]
        refused(bench.store("z"), page, "not signed|unknown replica")


def test_pages_are_cut_where_every_branch_in_them_is_signed(bench: StoreBench) -> None:
    commits, store, two = forked_branches(), bench.store("z"), bench.store("y")
    take(
        store,
        [
            unsigned(commits["1"].signed),
            unsigned(commits["2"].signed),
            commits["l2"].signed,
            commits["3"].signed,
        ],
    )
    assert [bool(signed.signature) for signed in feed(store)] == [False, False, True, True]
    exchange(store, two, page_bytes=1)
    assert log_and_state(store)[:2] == log_and_state(two)[:2]


def test_a_replica_seen_elsewhere_is_left_before_the_next_write(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write_entities(a, 1)
    with a.read() as snapshot:
        before, copy = snapshot.replica, bench.folder / "copy.db"
    a.close()
    copy.write_bytes((bench.folder / "a.db").read_bytes())
    a = bench.store("a")
    write_entities(a, 2)
    exchange(a, b)
    rolled_back = bench.store("a", copy)
    exchange(b, rolled_back)
    with rolled_back.read() as snapshot:
        assert snapshot.replica is None
    assert (a.doubt, b.doubt, rolled_back.doubt) == (None, None, ReplicaDoubt.PEER)
    head = write(rolled_back, TASK, title="goes on")
    assert head.replica != before
    assert head.counter == 1
    exchange(rolled_back, b)
    with b.read() as snapshot:
        task = snapshot.entity(TASK)
        assert task is not None
        assert task.value("title") == "goes on"
        assert not task.conflicts()
        assert snapshot.device_of(head.replica) == signer_of("a").device


def test_a_transaction_that_leaves_its_replica_signs_what_it_wrote_there(bench: StoreBench) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    write_entities(a, 1)
    a.close()
    copy = bench.folder / "copy.db"
    copy.write_bytes((bench.folder / "a.db").read_bytes())
    a = bench.store("a")
    write_entities(a, 1)
    exchange(a, b)
    twin = bench.store("a", copy)
    with twin.write() as tx:
        tx.commit([EntityWrite(OTHER, "task", {"title": "on the old replica"})])
        tx.accept_page(feed(b))
        tx.commit([EntityWrite(OTHER, "task", {"title": "on the new one"})])
    exchange(twin, c)
    assert log_and_state(c)[:2] == log_and_state(twin)[:2]
