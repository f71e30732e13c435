"""Law 1: what is taken from a peer, what is skipped, and what is refused and changes nothing.

Never builds a commit that no device could have signed, unless the test is about exactly that.
"""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.store import Store
from store.transaction import UNSIGNED_BYTES_MAX, EntityWrite
from syncproto.commit import BASE_HEADS_MAX, SignedCommit, decode_commit, redact_values, sign_commit
from syncproto.errors import LocalProtocolError, RemoteProtocolError
from syncproto.vector_clock import Head
from tests.store.forked_logs import OTHER, REPLICA, TASK, chain, forked_branches
from tests.store.page_steps import refused, take
from tests.support.stores import (
    StoreBench,
    assert_store_is_whole,
    entity_id,
    exchange,
    feed,
    first_commits,
    forged,
    log_and_state,
    operation,
    sealed,
    signer_of,
    unsigned,
    write,
    write_entities,
)


def test_what_follows_is_taken(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write_entities(a, 5)
    assert take(b, feed(a)) == 5
    assert log_and_state(b)[:3] == log_and_state(a)[:3]


def test_a_gap_is_refused(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write_entities(a, 4)
    page = feed(a)
    refused(b, page[1:], "of an unknown replica")
    refused(b, [page[0], *page[2:]], "before the one that it follows")
    assert take(b, page) == 4


def test_a_commit_that_follows_another_start_of_its_replica_is_refused(bench: StoreBench) -> None:
    commits, store = forked_branches(), bench.store("z")
    assert take(store, [commits["s1"].signed]) == 1
    refused(store, [commits["2"].signed], "before the one that it follows")
    assert take(store, [commits["1"].signed, commits["2"].signed]) == 2


def test_what_is_held_is_skipped(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write_entities(a, 3)
    page = feed(a)
    assert take(b, page) == 3
    before = log_and_state(b)
    assert take(b, page) == 0
    assert take(b, page[1:2] * 2) == 0
    assert log_and_state(b) == before
    write_entities(a, 1)
    assert take(b, feed(a)) == 1


def test_a_page_may_bring_the_same_commit_twice(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write_entities(a, 2)
    page = feed(a)
    assert take(b, [page[0], page[0], page[1], page[0], page[1]]) == 2
    assert log_and_state(b)[:3] == log_and_state(a)[:3]


def test_what_is_held_needs_no_signature(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write_entities(a, 2)
    take(b, feed(a))
    assert take(b, [unsigned(commit) for commit in feed(a)]) == 0


@pytest.mark.parametrize(
    "order", [permutation for permutation in itertools.permutations(range(4)) if permutation != (0, 1, 2, 3)]
)
def test_any_order_but_that_of_causes_is_refused(bench: StoreBench, order: tuple[int, ...]) -> None:
    page = [commit.signed for commit in chain(4)]
    refused(bench.store("b"), [page[place] for place in order], r"unknown replica|follows|not held")


def test_an_operation_whose_base_is_not_held_is_refused(bench: StoreBench) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    write_entities(a, 2)
    exchange(a, b)
    write(b, TASK, title="rests on a's")
    refused(c, feed(b)[-1:], "rests on a commit not held")
    assert take(c, feed(b)) == 3


def test_a_base_of_another_hash_is_not_held(bench: StoreBench) -> None:
    first = chain(1)[0]
    wrong = (Head(REPLICA, 1, b"not that" * 4),)
    second = sealed(signer_of("a"), REPLICA, 2, first, [operation(TASK, wrong, title="x")])
    refused(bench.store("b"), [first.signed, second.signed], "rests on a commit not held")


@pytest.mark.parametrize("counter", [2, 3])
def test_an_operation_that_rests_on_its_own_future_is_refused(bench: StoreBench, counter: int) -> None:
    first = chain(1)[0]
    future = (Head(REPLICA, counter, b"whatever" * 4),)
    second = sealed(signer_of("a"), REPLICA, 2, first, [operation(TASK, future, title="x")])
    refused(bench.store("b"), [first.signed, second.signed], "its own future")


def test_a_run_must_end_in_a_signature(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write_entities(a, 3)
    page = feed(a)
    refused(b, [page[0], page[1], unsigned(page[2])], "not signed by its replica's device")
    refused(b, [unsigned(commit) for commit in page], "not signed")


def test_one_signature_vouches_for_the_run_below_it(bench: StoreBench) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    write_entities(a, 4)
    page = feed(a)
    take(b, [*map(unsigned, page[:3]), page[3]])
    commits = feed(b)
    assert [commit.body for commit in commits] == [commit.body for commit in page]
    assert [bool(commit.signature) for commit in commits] == [False, False, False, True]
    exchange(b, c, page_bytes=1)
    assert log_and_state(c)[:3] == log_and_state(a)[:3]


def test_a_signature_inside_a_run_is_neither_checked_nor_kept(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write_entities(a, 2)
    page = feed(a)
    take(b, [SignedCommit(page[0].body, bytes(64)), page[1]])
    assert feed(b) == [unsigned(page[0]), page[1]]


def test_each_replica_in_a_page_needs_its_own_signature(bench: StoreBench) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    write_entities(a, 1)
    exchange(a, b)
    write_entities(b, 1)
    page = feed(b)
    refused(c, [unsigned(page[0]), page[1]], "not signed")
    refused(c, [page[0], unsigned(page[1])], "not signed")


def test_another_devices_signature_is_refused(bench: StoreBench) -> None:
    good = chain(2)
    forged = sealed(signer_of("b"), REPLICA, 3, good[1], [operation(TASK, (good[1].head,), title="mine")])
    store = bench.store("c")
    refused(store, [commit.signed for commit in [*good, forged]], "commit 3 is not signed")
    assert take(store, [commit.signed for commit in good]) == 2
    refused(store, [forged.signed], "commit 3 is not signed")


def test_a_first_commit_that_another_device_signed_is_refused(bench: StoreBench) -> None:
    key = signer_of("a").public_key
    stolen = sealed(signer_of("b"), REPLICA, 1, None, [operation(TASK, title="x")], key=key)
    refused(bench.store("c"), [stolen.signed], "not signed by its replica's device")


def test_a_replica_stays_bound_to_the_key_of_its_first_commit(bench: StoreBench) -> None:
    store = bench.store("c")
    take(store, [chain(1)[0].signed])
    usurper = forged(signer_of("b"), REPLICA, [operation(OTHER, title="x")])
    refused(store, [usurper.signed], "replica id")


def test_another_device_cannot_take_over_a_replica_id(bench: StoreBench) -> None:
    a, c = bench.store("a"), bench.store("c")
    head = write_entities(a, 2)[0]
    for replica in (REPLICA, head.replica):
        usurper = forged(signer_of("b"), replica, [operation(OTHER, title="x")])
        refused(c, [usurper.signed], "out of range: replica id")
    assert take(c, feed(a)) == 2
    with c.read() as snapshot:
        assert snapshot.device_of(head.replica) == signer_of("a").device


def test_every_replica_that_a_device_begins_has_an_id_of_its_own(bench: StoreBench) -> None:
    store, other = bench.store("a"), bench.store("a", bench.folder / "anew.db")
    first, second = write_entities(store, 1)[0], write_entities(other, 1)[0]
    assert first.replica != second.replica
    exchange(store, other)
    assert len(log_and_state(other)[0]) == 2


def test_a_replica_whose_first_commit_fails_leaves_no_trace(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    with a.write() as tx:
        with pytest.raises(LocalProtocolError, match="bytes"):
            tx.commit([EntityWrite(OTHER, "task", {"title": "x" * 300_000})])
        unmade = tx.replica
        head = tx.commit([EntityWrite(OTHER, "task", {"title": "x"})])
        replica = tx.replica
    assert (unmade, replica) == (None, head.replica)
    exchange(a, b)
    assert log_and_state(a)[:3] == log_and_state(b)[:3]


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(st.data())
def test_altered_bytes_are_refused(bench: StoreBench, data: st.DataObject) -> None:
    good = chain(2)
    signed = good[1].signed
    part = data.draw(st.sampled_from(("body", "signature")))
    raw = bytearray(getattr(signed, part))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    parts = {"body": signed.body, "signature": signed.signature, part: bytes(raw)}
    store = bench.store("a" if data.draw(st.booleans()) else "b")
    with pytest.raises(RemoteProtocolError):
        take(store, [good[0].signed, SignedCommit(**parts)])
    assert log_and_state(store)[2].commits == 0


def test_two_commits_whose_hashes_begin_alike_are_a_fork_for_every_store(bench: StoreBench) -> None:
    """To find two hashes with the same first eight bytes takes minutes; here they are written by hand."""
    branches, alike = forked_branches(), []
    for number, received in enumerate((branches["2"], branches["l2"])):
        renamed = received._replace(head=received.head._replace(hash=bytes(31) + bytes([number])))
        signature = sign_commit(renamed, signer_of("a"))
        alike.append(renamed._replace(signed=SignedCommit(received.signed.body, signature)))
    vectors = []
    for name, order in (("x", alike), ("y", alike[::-1])):
        store = bench.store(name)
        for received in (branches["1"], *order):
            with store.write() as tx:
                assert tx.accept_decoded_page([received]).new_commits == 1
        with store.read() as snapshot:
            vectors.append(snapshot.vector())
    assert vectors == [tuple(sorted(received.head for received in alike))] * 2


def test_a_bad_signature_undoes_the_whole_page_and_all_that_is_remembered(bench: StoreBench) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    write_entities(a, 3)
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
    assert log_and_state(a)[:3] == log_and_state(b)[:3] == log_and_state(c)[:3]


# -- this device's own commits -----------------------------------------------------------------------------


def test_no_commit_is_made_that_a_peer_would_refuse_for_its_base(bench: StoreBench) -> None:
    store = bench.store("a")
    write_entities(store, 1)
    before = log_and_state(store)
    for base in ((Head(REPLICA, 1, b"unknown!" * 4),), (Head(before[0][0].replica, 2, b"unknown!" * 4),)):
        with pytest.raises(LocalProtocolError, match="not held"):
            write(store, TASK, base=base, title="x")
    assert log_and_state(store) == before


def test_a_refused_write_leaves_the_chain_whole(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    with a.write() as tx:
        tx.commit([EntityWrite(TASK, "task", {"title": "one"})])
        with pytest.raises(LocalProtocolError):
            tx.commit([EntityWrite(OTHER, "task", {}), EntityWrite(OTHER, "task", {})])
        with pytest.raises(LocalProtocolError, match="bytes"):
            tx.commit([EntityWrite(OTHER, "task", {"title": "x" * 300_000})])
        tx.commit([EntityWrite(TASK, "task", {"title": "two"})])
    exchange(a, b)
    assert log_and_state(a)[:3] == log_and_state(b)[:3]
    assert log_and_state(a)[2].commits == 2


def test_long_runs_are_signed_often_enough_for_the_smallest_page(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    with a.write() as tx:
        for number in range(40):
            tx.commit([EntityWrite(TASK, "task", {"title": f"{number}" + "x" * 5_000})])
    signed = [bool(commit.signature) for commit in feed(a)]
    assert signed[-1]
    assert 3 < sum(signed) < 20
    with a.read() as snapshot:
        page = snapshot.page_lacking((), 0, 64 * 1024)
    assert sum(len(commit.body) for commit in page.commits) <= 64 * 1024
    exchange(a, b, 64 * 1024)
    assert log_and_state(a)[:3] == log_and_state(b)[:3]


@pytest.mark.parametrize("beyond", [0, 1])
def test_a_run_without_signature_is_as_long_as_it_may_be_and_no_longer(
    bench: StoreBench, beyond: int
) -> None:
    def signed(name: str, lengths: Sequence[int]) -> tuple[list[int], list[bool]]:
        store = bench.store(name)
        with store.write() as tx:
            for length in lengths:
                tx.commit([EntityWrite(TASK, "task", {"title": "x" * length})])
        commits = feed(store)
        return [len(commit.body) for commit in commits], [bool(commit.signature) for commit in commits]

    # Two runs of seven commits each, of which the last is what fills it, and one commit behind them.
    lengths = [4000] * 15
    sizes, _ = signed("measured", lengths)
    for last in (6, 13):
        lengths[last] += UNSIGNED_BYTES_MAX - sum(sizes[last - 6 : last + 1])
    lengths[13] += beyond
    ends = {6, 12 if beyond else 13, 14}
    assert signed("filled", lengths)[1] == [place in ends for place in range(15)]


def test_as_many_chains_are_taken_as_come(bench: StoreBench) -> None:
    """No number of them may part two stores that took different ones."""
    store = bench.store("z")
    firsts = first_commits(BASE_HEADS_MAX + 76)
    assert take(store, [first.signed for first in firsts]) == len(firsts)
    with store.read() as snapshot:
        assert snapshot.vector() == tuple(sorted(first.head for first in firsts))


def test_an_entity_that_more_replicas_wrote_than_a_base_may_name_can_still_be_changed(
    bench: StoreBench,
) -> None:
    store = bench.store("z")
    firsts = first_commits(BASE_HEADS_MAX + 76, entity_id(1))
    take(store, [first.signed for first in firsts])
    for _ in range(2):
        write(store, entity_id(1), title="mine")
    with store.read() as snapshot:
        entity = snapshot.entity(entity_id(1))
        assert entity is not None
        assert entity.value("title") == "mine"
    other = bench.store("y")
    exchange(store, other)
    assert log_and_state(other)[:3] == log_and_state(store)[:3]


def long_note(store: Store, kind: str, text: str) -> SignedCommit:
    with store.write() as tx:
        tx.commit([EntityWrite(TASK, kind, {"text": text, "more": text})])
    (signed,) = feed(store)
    return signed


def without(signed: SignedCommit, *names: str) -> SignedCommit:
    commit = decode_commit(signed).commit
    return SignedCommit(redact_values(commit, {TASK: names}), signed.signature)


@pytest.mark.parametrize("kind", ["device", "decision", "change_set"])
def test_a_value_that_is_read_from_the_log_may_not_be_dropped(bench: StoreBench, kind: str) -> None:
    a, b = bench.store("a"), bench.store("b")
    signed = long_note(a, kind, "x" * 200)
    refused(b, [without(signed, "text")], f"dropped value in an operation of kind {kind}|where none may be")
    assert take(b, [signed]) == 1


def test_a_value_that_another_spelling_brings_is_taken_and_shown(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    signed = long_note(a, "entry", "x" * 200)
    assert take(b, [without(signed, "text", "more")]) == 1
    lacking = log_and_state(b)
    assert take(b, [without(signed, "text")]) == 0
    assert log_and_state(b)[1] not in (lacking[1], log_and_state(a)[1])
    assert take(b, [without(signed, "more")]) == 0
    assert log_and_state(b)[:3] == log_and_state(a)[:3]
    with b.read() as snapshot:
        assert_store_is_whole(snapshot)
        entry = snapshot.entity(TASK)
        assert entry is not None
        assert entry.text("text") == entry.text("more") == "x" * 200
    assert feed(b) == [signed]
    assert take(b, [without(signed, "text", "more")]) == 0
    assert feed(b) == [signed]
