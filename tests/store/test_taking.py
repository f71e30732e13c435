"""Law 1: what is taken from a peer, what is skipped, and what is refused and changes nothing.

Never builds a commit that no device could have signed, unless the test is about exactly that.
"""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.lease import Doubt
from store.log import Log
from store.store import Store
from store.transaction import UNSIGNED_BYTES_MAX, Write
from syncproto.commit import SignedCommit
from syncproto.faults import LocalProtocolError, RemoteProtocolError
from syncproto.heads import Head
from tests.store.forks import OTHER, REPLICA, TASK, branches, chain
from tests.store.stores import (
    Bench,
    exchange,
    feed,
    forged,
    grow,
    operation,
    sealed,
    signer_of,
    stands,
    unsigned,
    write,
)


def take(store: Store, page: Sequence[SignedCommit]) -> int:
    with store.write() as tx:
        return tx.take(page).new


def refused(store: Store, page: Sequence[SignedCommit], reason: str) -> None:
    """Check that a page is refused, and that the store and all it remembers are as before."""
    before = stands(store)
    with pytest.raises(RemoteProtocolError, match=reason):
        take(store, page)
    assert stands(store) == before
    with store.read() as snapshot:
        fresh = Log(snapshot.db)
    remembered = store._log
    assert remembered.vector() == fresh.vector()
    assert remembered.end() == fresh.end()
    assert remembered._names == fresh._names
    assert remembered._moved == set()


def test_what_follows_is_taken(bench: Bench) -> None:
    a, b = bench.store("a"), bench.store("b")
    grow(a, 5)
    assert take(b, feed(a)) == 5
    assert stands(b)[:3] == stands(a)[:3]


def test_a_gap_is_refused(bench: Bench) -> None:
    a, b = bench.store("a"), bench.store("b")
    grow(a, 4)
    page = feed(a)
    refused(b, page[1:], "of an unknown replica")
    refused(b, [page[0], *page[2:]], "before the one that it follows")
    assert take(b, page) == 4


def test_a_commit_that_follows_another_start_of_its_replica_is_refused(bench: Bench) -> None:
    made, store = branches(), bench.store("z")
    assert take(store, [made["s1"].signed]) == 1
    refused(store, [made["2"].signed], "before the one that it follows")
    assert take(store, [made["1"].signed, made["2"].signed]) == 2


def test_what_is_held_is_skipped(bench: Bench) -> None:
    a, b = bench.store("a"), bench.store("b")
    grow(a, 3)
    page = feed(a)
    assert take(b, page) == 3
    before = stands(b)
    assert take(b, page) == 0
    assert take(b, page[1:2] * 2) == 0
    assert stands(b) == before
    grow(a, 1)
    assert take(b, feed(a)) == 1


def test_a_page_may_bring_the_same_commit_twice(bench: Bench) -> None:
    a, b = bench.store("a"), bench.store("b")
    grow(a, 2)
    page = feed(a)
    assert take(b, [page[0], page[0], page[1], page[0], page[1]]) == 2
    assert stands(b)[:3] == stands(a)[:3]


def test_what_is_held_needs_no_signature(bench: Bench) -> None:
    a, b = bench.store("a"), bench.store("b")
    grow(a, 2)
    take(b, feed(a))
    assert take(b, [unsigned(one) for one in feed(a)]) == 0


@pytest.mark.parametrize("order", [one for one in itertools.permutations(range(4)) if one != (0, 1, 2, 3)])
def test_any_order_but_that_of_causes_is_refused(bench: Bench, order: tuple[int, ...]) -> None:
    page = [one.signed for one in chain(4)]
    refused(bench.store("b"), [page[place] for place in order], r"unknown replica|follows|not held")


def test_an_operation_whose_base_is_not_held_is_refused(bench: Bench) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    grow(a, 2)
    exchange(a, b)
    write(b, TASK, title="rests on a's")
    refused(c, feed(b)[-1:], "rests on a commit not held")
    assert take(c, feed(b)) == 3


def test_a_base_of_another_hash_is_not_held(bench: Bench) -> None:
    first = chain(1)[0]
    wrong = (Head(REPLICA, 1, b"not that"),)
    second = sealed(signer_of("a"), REPLICA, 2, first, [operation(TASK, wrong, title="x")])
    refused(bench.store("b"), [first.signed, second.signed], "rests on a commit not held")


@pytest.mark.parametrize("counter", [2, 3])
def test_an_operation_that_rests_on_its_own_future_is_refused(bench: Bench, counter: int) -> None:
    first = chain(1)[0]
    future = (Head(REPLICA, counter, b"whatever"),)
    second = sealed(signer_of("a"), REPLICA, 2, first, [operation(TASK, future, title="x")])
    refused(bench.store("b"), [first.signed, second.signed], "its own future")


def test_a_run_must_end_in_a_signature(bench: Bench) -> None:
    a, b = bench.store("a"), bench.store("b")
    grow(a, 3)
    page = feed(a)
    refused(b, [page[0], page[1], unsigned(page[2])], "not signed by its replica's device")
    refused(b, [unsigned(one) for one in page], "not signed")


def test_one_signature_vouches_for_the_run_below_it(bench: Bench) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    grow(a, 4)
    page = feed(a)
    take(b, [*map(unsigned, page[:3]), page[3]])
    kept = feed(b)
    assert [one.body for one in kept] == [one.body for one in page]
    assert [bool(one.signature) for one in kept] == [False, False, False, True]
    exchange(b, c, page_bytes=1)
    assert stands(c)[:3] == stands(a)[:3]


def test_a_signature_inside_a_run_is_neither_checked_nor_kept(bench: Bench) -> None:
    a, b = bench.store("a"), bench.store("b")
    grow(a, 2)
    page = feed(a)
    take(b, [SignedCommit(page[0].body, bytes(64)), page[1]])
    assert feed(b) == [unsigned(page[0]), page[1]]


def test_each_replica_in_a_page_needs_its_own_signature(bench: Bench) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    grow(a, 1)
    exchange(a, b)
    grow(b, 1)
    page = feed(b)
    refused(c, [unsigned(page[0]), page[1]], "not signed")
    refused(c, [page[0], unsigned(page[1])], "not signed")


def test_another_devices_signature_is_refused(bench: Bench) -> None:
    good = chain(2)
    forged = sealed(signer_of("b"), REPLICA, 3, good[1], [operation(TASK, (good[1].head,), title="mine")])
    store = bench.store("c")
    refused(store, [one.signed for one in [*good, forged]], "commit 3 is not signed")
    assert take(store, [one.signed for one in good]) == 2
    refused(store, [forged.signed], "commit 3 is not signed")


def test_a_first_commit_that_another_device_signed_is_refused(bench: Bench) -> None:
    key = signer_of("a").public_key
    stolen = sealed(signer_of("b"), REPLICA, 1, None, [operation(TASK, title="x")], key=key)
    refused(bench.store("c"), [stolen.signed], "not signed by its replica's device")


def test_a_replica_stays_bound_to_the_key_of_its_first_commit(bench: Bench) -> None:
    store = bench.store("c")
    take(store, [chain(1)[0].signed])
    usurper = forged(signer_of("b"), REPLICA, [operation(OTHER, title="x")])
    refused(store, [usurper.signed], "replica id")
    # Should an id ever follow from two keys, the log still knows one.
    with store.write() as tx, pytest.raises(RemoteProtocolError, match="bound to another device's key"):
        tx.log.place(usurper)


def test_another_device_cannot_take_over_a_replica_id(bench: Bench) -> None:
    a, c = bench.store("a"), bench.store("c")
    head = grow(a, 2)[0]
    for replica in (REPLICA, head.replica):
        usurper = forged(signer_of("b"), replica, [operation(OTHER, title="x")])
        refused(c, [usurper.signed], "out of range: replica id")
    assert take(c, feed(a)) == 2
    with c.read() as snapshot:
        assert snapshot.device_of(head.replica) == signer_of("a").device


def test_every_replica_that_a_device_begins_has_an_id_of_its_own(bench: Bench) -> None:
    one, other = bench.store("a"), bench.store("a", bench.folder / "anew.db")
    first, second = grow(one, 1)[0], grow(other, 1)[0]
    assert first.replica != second.replica
    exchange(one, other)
    assert len(stands(other)[0]) == 2


def test_a_replica_whose_first_commit_fails_leaves_no_trace(bench: Bench) -> None:
    a, b = bench.store("a"), bench.store("b")
    with a.write() as tx:
        with pytest.raises(LocalProtocolError, match="bytes"):
            tx.commit([Write(OTHER, "task", {"title": "x" * 300_000})])
        unmade = tx.replica
        head = tx.commit([Write(OTHER, "task", {"title": "x"})])
        made = tx.replica
    assert (unmade, made) == (None, head.replica)
    exchange(a, b)
    assert stands(a)[:3] == stands(b)[:3]


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(st.data())
def test_altered_bytes_are_refused(bench: Bench, data: st.DataObject) -> None:
    good = chain(2)
    signed = good[1].signed
    part = data.draw(st.sampled_from(("body", "signature")))
    raw = bytearray(getattr(signed, part))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    parts = {"body": signed.body, "signature": signed.signature, part: bytes(raw)}
    store = bench.store("a" if data.draw(st.booleans()) else "b")
    with pytest.raises(RemoteProtocolError):
        take(store, [good[0].signed, SignedCommit(**parts)])
    assert stands(store)[2].commits == 0


def test_two_commits_with_one_short_hash_are_refused(bench: Bench) -> None:
    store = bench.store("b")
    page = [one.signed for one in chain(2)]
    take(store, page)
    with store.write() as tx:
        tx.db.execute("UPDATE feed SET body = x'00' WHERE counter = 1")
    with pytest.raises(RemoteProtocolError, match="share a short hash"):
        take(store, page[:1])


def test_a_bad_signature_undoes_the_whole_page_and_all_that_is_remembered(bench: Bench) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    grow(a, 3)
    exchange(a, b)
    write(b, OTHER, title="b's")
    write(b, TASK, title="b's")
    take(c, feed(a)[:1])
    page = feed(b)
    refused(c, [*page[:-1], SignedCommit(page[-1].body, bytes(64))], "not signed")
    write(c, OTHER, title="c goes on")
    assert take(c, page) == 4
    exchange(c, a)
    exchange(c, b)
    assert stands(a)[:3] == stands(b)[:3] == stands(c)[:3]


# -- counters used twice -----------------------------------------------------------------------------------


CAUSES = {"2": "1", "3": "2", "l2": "1", "l3": "l2", "r3": "l2"}
ORDERS = [
    order
    for order in itertools.permutations(("1", "2", "3", "l2", "l3", "r3", "s1"))
    if all(order.index(cause) < order.index(effect) for effect, cause in CAUSES.items())
][::5]


def test_both_branches_of_a_fork_stay_in_any_order_of_arrival(bench: Bench) -> None:
    made, seen = branches(), set()
    for number, order in enumerate(ORDERS):
        store = bench.store("z", bench.folder / f"{number}.db")
        for name in order:
            assert take(store, [made[name].signed]) == 1
        seen.add(stands(store))
        assert stands(store)[0] == tuple(sorted(made[name].head for name in ("3", "l3", "r3", "s1")))
        with store.read() as snapshot:
            task = snapshot.entity(TASK)
        assert task is not None
        assert {one.value for one in task.versions("title")} == {"t3", "left 3", "another start"}
    assert len(seen) == 1


def test_a_fork_is_told_once(bench: Bench) -> None:
    made, store = branches(), bench.store("z")
    told = []
    for name in ("1", "2", "3", "l2", "l3", "r3"):
        with store.write() as tx:
            told.append(tx.take([made[name].signed]).forked)
    assert told == [False, False, False, True, False, False]


@pytest.mark.parametrize("names", [("1", "2", "l2"), ("2", "1", "l2"), ("1", "l2", "2")])
def test_each_branch_in_a_page_must_end_in_a_signature(bench: Bench, names: tuple[str, ...]) -> None:
    made = branches()
    for bare in ("2", "l2"):
        page = [unsigned(made[name].signed) if name == bare else made[name].signed for name in names]
        refused(bench.store("z"), page, "not signed|unknown replica")


def test_pages_are_cut_where_every_branch_in_them_is_signed(bench: Bench) -> None:
    made, one, two = branches(), bench.store("z"), bench.store("y")
    take(one, [unsigned(made["1"].signed), unsigned(made["2"].signed), made["l2"].signed, made["3"].signed])
    assert [bool(signed.signature) for signed in feed(one)] == [False, False, True, True]
    exchange(one, two, page_bytes=1)
    assert stands(one)[:2] == stands(two)[:2]


def test_a_replica_seen_elsewhere_is_left_before_the_next_write(bench: Bench) -> None:
    a, b = bench.store("a"), bench.store("b")
    grow(a, 1)
    with a.read() as snapshot:
        before, copy = snapshot.replica, bench.folder / "copy.db"
    a.close()
    copy.write_bytes((bench.folder / "a.db").read_bytes())
    a = bench.store("a")
    grow(a, 2)
    exchange(a, b)
    rolled_back = bench.store("a", copy)
    exchange(b, rolled_back)
    with rolled_back.read() as snapshot:
        assert snapshot.replica is None
    assert (a.doubt, b.doubt, rolled_back.doubt) == (None, None, Doubt.PEER)
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


def test_a_transaction_that_leaves_its_replica_signs_what_it_wrote_there(bench: Bench) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    grow(a, 1)
    a.close()
    copy = bench.folder / "copy.db"
    copy.write_bytes((bench.folder / "a.db").read_bytes())
    a = bench.store("a")
    grow(a, 1)
    exchange(a, b)
    twin = bench.store("a", copy)
    with twin.write() as tx:
        tx.commit([Write(OTHER, "task", {"title": "on the old replica"})])
        tx.take(feed(b))
        tx.commit([Write(OTHER, "task", {"title": "on the new one"})])
    exchange(twin, c)
    assert stands(c)[:2] == stands(twin)[:2]


# -- this device's own commits -----------------------------------------------------------------------------


def test_no_commit_is_made_that_a_peer_would_refuse_for_its_base(bench: Bench) -> None:
    store = bench.store("a")
    grow(store, 1)
    before = stands(store)
    for base in ((Head(REPLICA, 1, b"unknown!"),), (Head(before[0][0].replica, 2, b"unknown!"),)):
        with pytest.raises(LocalProtocolError, match="not held"):
            write(store, TASK, base=base, title="x")
    assert stands(store) == before


def test_a_refused_write_leaves_the_chain_whole(bench: Bench) -> None:
    a, b = bench.store("a"), bench.store("b")
    with a.write() as tx:
        tx.commit([Write(TASK, "task", {"title": "one"})])
        with pytest.raises(LocalProtocolError):
            tx.commit([Write(OTHER, "task", {}), Write(OTHER, "task", {})])
        with pytest.raises(LocalProtocolError, match="bytes"):
            tx.commit([Write(OTHER, "task", {"title": "x" * 300_000})])
        tx.commit([Write(TASK, "task", {"title": "two"})])
    exchange(a, b)
    assert stands(a)[:3] == stands(b)[:3]
    assert stands(a)[2].commits == 2


def test_long_runs_are_signed_often_enough_for_the_smallest_page(bench: Bench) -> None:
    a, b = bench.store("a"), bench.store("b")
    with a.write() as tx:
        for number in range(40):
            tx.commit([Write(TASK, "task", {"title": f"{number}" + "x" * 5_000})])
    signed = [bool(one.signature) for one in feed(a)]
    assert signed[-1]
    assert 3 < sum(signed) < 20
    with a.read() as snapshot:
        page = snapshot.page((), 0, 64 * 1024)
    assert sum(len(one.body) for one in page.commits) <= 64 * 1024
    exchange(a, b, 64 * 1024)
    assert stands(a)[:3] == stands(b)[:3]


@pytest.mark.parametrize("beyond", [0, 1])
def test_a_run_without_signature_is_as_long_as_it_may_be_and_no_longer(bench: Bench, beyond: int) -> None:
    def signed(name: str, lengths: Sequence[int]) -> tuple[list[int], list[bool]]:
        store = bench.store(name)
        with store.write() as tx:
            for length in lengths:
                tx.commit([Write(TASK, "task", {"title": "x" * length})])
        made = feed(store)
        return [len(one.body) for one in made], [bool(one.signature) for one in made]

    # Two runs of seven commits each, of which the last is what fills it, and one commit behind them.
    lengths = [4000] * 15
    sizes, _ = signed("measured", lengths)
    for last in (6, 13):
        lengths[last] += UNSIGNED_BYTES_MAX - sum(sizes[last - 6 : last + 1])
    lengths[13] += beyond
    ends = {6, 12 if beyond else 13, 14}
    assert signed("filled", lengths)[1] == [place in ends for place in range(15)]


def test_no_more_chains_are_taken_than_a_vector_can_tell_of(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.log.CHAINS_MAX", 3)
    store = bench.store("z")
    for name in ("a", "b", "c"):
        other = bench.store(name)
        write(other, TASK, title=name)
        assert take(store, feed(other)) == 1
    late = bench.store("d")
    write(late, TASK, title="d")
    before = stands(store)
    with pytest.raises(RemoteProtocolError, match="more than 3 replicas"):
        take(store, feed(late))
    assert stands(store) == before
    write(store, TASK, title="its own word")
