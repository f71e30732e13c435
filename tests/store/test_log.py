"""The log of a forked replica: on which branch each commit is, in which order a peer gets it, what it lacks.

Never reads the tables: branches and positions are what the log itself tells.
"""

from collections.abc import Iterable

import pytest

from store.faults import DamagedDatabase
from store.pages import COMMIT_OVERHEAD_BYTES
from store.store import Store
from syncproto.heads import EMPTY, Head
from tests.store.forks import REPLICA, branches
from tests.store.stores import Bench, entity_id, feed, grow, operation, replica_of, sealed, signer_of

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


def test_what_is_unknown_lies_on_no_chain_and_ends_none(store: Store) -> None:
    held, elsewhere = MADE["2"].head, Head(replica_of("unknown"), 2, b"whatever")
    unknown = held._replace(hash8=b"another!")
    with store.read() as snapshot:
        log = snapshot.log
        assert log.on_chain(held, held)
        for other in (elsewhere, unknown):
            assert not log.holds(other)
            assert not log.on_chain(other, held)
            assert not log.on_chain(held, other)
            assert not log.on_chain(other, other)
        assert [log.forked(one.replica) for one in (held, elsewhere)] == [True, False]


def test_a_damaged_commit_is_told_with_its_place(store: Store) -> None:
    with store.write() as tx:
        tx.db.execute("UPDATE feed SET body = x'00' WHERE seq = 3")
        with pytest.raises(DamagedDatabase, match=r"^commit 3 of the log cannot be read: "):
            tx.log.at(3)


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
        heads = [snapshot.log.head_at(seq) for seq in range(1, len(ARRIVED) + 1)]
        assert [by_name.head for by_name in map(MADE.__getitem__, ARRIVED)] == heads
        assert [snapshot.log.lacked(vector, [head]) for head in heads] == [
            int(name in lacking) for name in ARRIVED
        ]
        assert snapshot.log.lacked(vector, heads) == len(lacking)


def test_it_is_counted_how_many_commits_of_a_vector_are_missing(store: Store) -> None:
    _, held = MADE["3"].head, MADE["l2"].head
    with store.read() as snapshot:
        log = snapshot.log
        assert log.missing(EMPTY) == log.missing(log.vector()) == log.missing((held,)) == 0
        assert log.missing((held._replace(counter=9),)) == 6
        assert log.missing((Head(replica_of("unknown"), 4, b"whatever"),)) == 4


def test_replicas_that_forked_are_named(store: Store, bench: Bench) -> None:
    other = bench.store("b")
    grow(other, 2)
    with store.write() as tx:
        tx.take(feed(other))
    with store.read() as snapshot, other.read() as unforked:
        assert snapshot.log.forks() == [REPLICA]
        assert unforked.log.forks() == []


def test_what_a_peer_lacks_of_several_replicas_comes_and_counts_together(bench: Bench) -> None:
    store, other = bench.store("z"), bench.store("b")
    own = grow(store, 2)
    others = grow(other, 3)
    with store.write() as tx:
        assert tx.take(feed(other)).heads == tuple(others)
    for name in ARRIVED:
        with store.write() as tx:
            tx.take([MADE[name].signed])
    own += grow(store, 1)

    def lacking(*vector: Head, after: int = 0) -> list[int]:
        with store.read() as snapshot:
            found = [one.seq for one in snapshot.log.lacking(vector, after)]
            assert after or snapshot.lag(vector) == len(found)
        return found

    assert lacking() == list(range(1, 14))
    assert lacking(after=5) == list(range(6, 14))
    assert lacking(own[0]) == list(range(2, 14))
    assert lacking(own[2]) == list(range(3, 13))
    assert lacking(others[1]) == [1, 2, *range(5, 14)]
    assert lacking(own[1], others[2]) == list(range(6, 14))
    assert lacking(own[2], others[2], MADE["l3"].head) == [7, 9, 11, 12]
    assert lacking(Head(replica_of("unknown"), 1, b"whatever"), MADE["l3"].head, own[2], others[2]) == [
        7,
        9,
        11,
        12,
    ]
    assert lacking(others[2]._replace(counter=9, hash8=b"its next")) == [1, 2, *range(6, 14)]


def test_a_head_that_is_unknown_though_not_beyond_what_is_held_tells_nothing(bench: Bench) -> None:
    store = bench.store("a")
    _first, second, third = grow(store, 3)
    with store.read() as snapshot:
        for unknown in (second, third):
            vector = (unknown._replace(hash8=b"another!"),)
            assert [one.seq for one in snapshot.log.lacking(vector, 0)] == [1, 2, 3]
            assert snapshot.lag(vector) == snapshot.log.lacked(vector, [second, third, _first]) == 3


def test_a_page_holds_as_many_bytes_as_it_may_and_no_more(bench: Bench) -> None:
    store = bench.store("a")
    grow(store, 4)
    sizes = [len(one.body) + len(one.signature) + COMMIT_OVERHEAD_BYTES for one in feed(store)]
    with store.read() as snapshot:
        for count in (1, 2, 3):
            whole = sum(sizes[:count])
            for bytes_max, expected in ((whole, count), (whole - 1, max(count - 1, 1))):
                page = snapshot.page(EMPTY, 0, bytes_max)
                assert (len(page.commits), page.end) == (expected, expected)
        assert snapshot.page(EMPTY, 0, sum(sizes)).end == 4


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


def test_the_sizes_of_commits_are_known_without_reading_them(store: Store) -> None:
    with store.read() as snapshot:
        held = [len(entry.signed.body) for entry in snapshot.log.commits(0, 99)]
        assert snapshot.log.sizes(0, 99) == held
        assert snapshot.log.sizes(1, 2) == held[1:3]
