"""The log of a forked replica: on which branch each commit is, in which order a peer gets it, what it lacks.

Never reads the tables: branches and positions are what the log itself tells.
"""

from collections.abc import Iterable

import pytest

from store.store import Store
from syncproto.heads import EMPTY
from tests.store.forks import REPLICA, branches
from tests.store.stores import Bench, entity_id, grow, operation, replica_of, sealed, signer_of

# In feed order; the first branch goes on behind the fork.
ARRIVED = ("1", "2", "l2", "3", "l3", "r3", "s1")
BRANCHES = {"1": 0, "2": 0, "3": 0, "l2": 1, "l3": 1, "r3": 2, "s1": 3}
MADE = branches()
CHAINS = {
    "1": ["1"],
    "2": ["1", "2"],
    "3": ["1", "2", "3"],
    "l2": ["1", "l2"],
    "l3": ["1", "l2", "l3"],
    "r3": ["1", "l2", "r3"],
}


@pytest.fixture
def store(bench: Bench) -> Store:
    """Return a store that holds all branches, each commit in a page of its own."""
    made = bench.store("z")
    for name in ARRIVED:
        with made.write() as tx:
            tx.take([MADE[name].signed])
    return made


def names(commits: Iterable[object]) -> list[str]:
    by_head = {received.head: name for name, received in MADE.items()}
    return [by_head[one.head] for one in commits]  # type: ignore[attr-defined]


def test_branches_are_numbered_in_the_order_in_which_they_come(store: Store) -> None:
    with store.read() as snapshot:
        held = list(snapshot.log.commits(0, 99))
        lacking = list(snapshot.log.lacking(EMPTY, 0))
    assert names(held) == names(lacking) == list(ARRIVED)
    assert (
        [one.branch for one in held] == [one.branch for one in lacking] == [BRANCHES[one] for one in ARRIVED]
    )
    assert [one.seq for one in held] == [one.seq for one in lacking] == list(range(1, 8))


def test_a_commit_lies_on_the_chains_of_all_that_follow_it_and_on_no_other(store: Store) -> None:
    with store.read() as snapshot:
        for end in MADE:
            on_chain = {one for one in MADE if snapshot.log.on_chain(MADE[one].head, MADE[end].head)}
            assert on_chain == set(CHAINS.get(end, [end]))


def test_the_own_chain_goes_on_from_the_first_branch(store: Store) -> None:
    with store.read() as snapshot:
        tip = snapshot.log.tip(REPLICA)
        assert tip is not None
        assert (tip.no, tip.parent, tip.first, tip.tip, tip.tip_hash) == (0, None, 1, 3, MADE["3"].hash)
        assert snapshot.log.tip(replica_of("unknown")) is None


@pytest.mark.parametrize(
    ("held", "lacking"),
    [
        ((), ARRIVED),
        (("1",), ("2", "l2", "3", "l3", "r3", "s1")),
        (("2",), ("l2", "3", "l3", "r3", "s1")),
        (("3", "l2"), ("l3", "r3", "s1")),
        (("l3",), ("2", "3", "r3", "s1")),
        (("r3", "s1"), ("2", "3", "l3")),
        (("3", "l3", "r3", "s1"), ()),
    ],
)
def test_a_peer_that_knows_some_branches_lacks_the_others_in_feed_order(
    store: Store, held: tuple[str, ...], lacking: tuple[str, ...]
) -> None:
    vector = tuple(sorted(MADE[name].head for name in held))
    with store.read() as snapshot:
        assert names(snapshot.log.lacking(vector, 0)) == list(lacking)
        assert snapshot.lag(vector) == len(lacking)


def test_what_a_peer_lacks_of_several_replicas_comes_and_counts_together(bench: Bench, store: Store) -> None:
    grow(store, 2)
    other = bench.store("b")
    grow(other, 3)
    with other.read() as snapshot:
        page = snapshot.page(EMPTY, 0, 1 << 20)
    with store.write() as tx:
        heads = tx.take(page.commits).heads
    assert [head.counter for head in heads] == [1, 2, 3]
    grow(store, 1)
    with store.read() as snapshot:
        assert [one.seq for one in snapshot.log.lacking(EMPTY, 0)] == list(range(1, 14))
        assert [one.seq for one in snapshot.log.lacking(EMPTY, 5)] == list(range(6, 14))
        assert snapshot.lag(EMPTY) == 13
        assert snapshot.lag(heads[1:2]) == 13 - 2


def test_a_page_tells_the_heads_that_were_new(bench: Bench) -> None:
    store = bench.store("z")
    one, two = MADE["1"], MADE["2"]
    with store.write() as tx:
        assert tx.take([one.signed]).heads == (one.head,)
    with store.write() as tx:
        assert tx.take([one.signed, two.signed]).heads == (two.head,)


def test_the_vector_of_what_is_held_has_every_branch_and_replica_in_order(store: Store) -> None:
    second = sealed(signer_of("b"), replica_of("b"), 1, None, [operation(entity_id(9), title="b")])
    with store.write() as tx:
        tx.take([second.signed])
    ends = [MADE[name].head for name in ("3", "l3", "r3", "s1")]
    with store.read() as snapshot:
        assert snapshot.log.vector() == tuple(sorted([*ends, second.head]))
