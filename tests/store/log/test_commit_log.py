"""The log of a forked replica: on which branch each commit is, in which order a peer gets it, what it lacks.

Never reads the tables: branches and positions are what the log itself tells.
"""

from collections.abc import Callable, Iterable

import pytest

from store.file.errors import DamagedDatabase
from store.log.pages import COMMIT_OVERHEAD_BYTES
from store.store import Store
from syncproto.commit import DecodedCommit
from syncproto.vector_clock import EMPTY_CLOCK, Head
from tests.store.forked_logs import (
    REPLICA,
    comb_of_branches,
    forked_branches,
    ladder_of_branches,
    mixed_branches,
    star_of_branches,
)
from tests.support.stores import (
    StoreBench,
    entity_id,
    feed,
    operation,
    replica_of,
    sealed,
    signer_of,
    write_entities,
)

# In feed order; the first branch goes on behind the fork.
ARRIVED = ("1", "2", "l2", "3", "l3", "r3", "s1")
BRANCHES = {"1": 0, "2": 0, "3": 0, "l2": 1, "l3": 1, "r3": 2, "s1": 3}
MADE = forked_branches()
SHAPES = (star_of_branches, comb_of_branches, ladder_of_branches, mixed_branches)
CHAINS = {
    "1": ["1"],
    "2": ["1", "2"],
    "3": ["1", "2", "3"],
    "l2": ["1", "l2"],
    "l3": ["1", "l2", "l3"],
    "r3": ["1", "l2", "r3"],
}


@pytest.fixture
def store(bench: StoreBench) -> Store:
    """Return a store that holds all branches, each commit in a page of its own."""
    new_store = bench.store("z")
    for name in ARRIVED:
        with new_store.write() as tx:
            tx.accept_page([MADE[name].signed])
    return new_store


def names(commits: Iterable[object]) -> list[str]:
    by_head = {received.head: name for name, received in MADE.items()}
    return [by_head[commit.head] for commit in commits]  # type: ignore[attr-defined]


def test_branches_are_numbered_in_the_order_in_which_they_come(store: Store) -> None:
    with store.read() as snapshot:
        commits = list(snapshot.log.feed_commits(0, 99))
        lacking = list(snapshot.log.commits_lacking(EMPTY_CLOCK, 0))
    assert names(commits) == names(lacking) == list(ARRIVED)
    assert (
        [commit.branch for commit in commits]
        == [commit.branch for commit in lacking]
        == [BRANCHES[text] for text in ARRIVED]
    )
    assert [commit.seq for commit in commits] == [commit.seq for commit in lacking] == list(range(1, 8))


def test_a_commit_lies_on_the_chains_of_all_that_follow_it_and_on_no_other(store: Store) -> None:
    with store.read() as snapshot:
        for end in MADE:
            on_chain = {text for text in MADE if snapshot.log.on_chain(MADE[text].head, MADE[end].head)}
            assert on_chain == set(CHAINS.get(end, [end]))


@pytest.mark.parametrize("shape", SHAPES)
def test_places_are_in_the_order_of_the_chains(
    bench: StoreBench, shape: Callable[[int], list[DecodedCommit]]
) -> None:
    """Each commit comes before all that follow it, and nothing else comes between these."""
    store = bench.store("branches")
    with store.write() as tx:
        tx.accept_page([received.signed for received in shape(24)])
    with store.read() as snapshot:
        log = snapshot.log
        heads = [entry.head for entry in log.feed_commits(0, 99)]
        places = {head: place for head in heads if (place := log.place_of(head)) is not None}
        ordered = sorted(heads, key=places.__getitem__)
        for first, head in enumerate(ordered):
            place = places[head]
            follows = [log.on_chain(head, end) for end in ordered]
            assert follows == [place.leads_to(places[end]) for end in ordered]
            count = sum(follows)
            assert follows == [first <= index < first + count for index in range(len(ordered))]


def test_what_is_unknown_lies_on_no_chain_and_ends_none(store: Store) -> None:
    head, elsewhere = MADE["2"].head, Head(replica_of("unknown"), 2, b"whatever" * 4)
    unknown = head._replace(hash=b"another!" * 4)
    with store.read() as snapshot:
        log = snapshot.log
        assert log.on_chain(head, head)
        for other in (elsewhere, unknown):
            assert not log.has_commit(other)
            assert not log.on_chain(other, head)
            assert not log.on_chain(head, other)
            assert not log.on_chain(other, other)
        assert [log.is_forked(listed_head.replica) for listed_head in (head, elsewhere)] == [True, False]


def test_a_damaged_commit_is_told_with_its_place(store: Store) -> None:
    with store.write() as tx:
        tx.db.execute("UPDATE feed SET body = x'00' WHERE seq = 3")
        with pytest.raises(DamagedDatabase, match=r"^commit 3 of the log cannot be read: "):
            tx.log.commit_at(3)


def test_the_own_chain_goes_on_from_the_first_branch(store: Store) -> None:
    with store.read() as snapshot:
        tip = snapshot.log.chains.own_tip(REPLICA)
        assert tip is not None
        assert (tip.no, tip.parent, tip.first, tip.tip, tip.tip_hash) == (0, None, 1, 3, MADE["3"].hash)
        assert snapshot.log.chains.own_tip(replica_of("unknown")) is None


@pytest.mark.parametrize(
    ("texts", "lacking"),
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
    store: Store, texts: tuple[str, ...], lacking: tuple[str, ...]
) -> None:
    vector = tuple(sorted(MADE[name].head for name in texts))
    with store.read() as snapshot:
        assert names(snapshot.log.commits_lacking(vector, 0)) == list(lacking)
        assert snapshot.count_behind(vector) == len(lacking)
        heads = [snapshot.log.head_at(seq) for seq in range(1, len(ARRIVED) + 1)]
        assert [by_name.head for by_name in map(MADE.__getitem__, ARRIVED)] == heads
        assert [snapshot.log.count_unknown_to_peer(vector, [head]) for head in heads] == [
            int(name in lacking) for name in ARRIVED
        ]
        assert snapshot.log.count_unknown_to_peer(vector, heads) == len(lacking)


def test_it_is_counted_how_many_commits_of_a_vector_are_missing(store: Store) -> None:
    _, head = MADE["3"].head, MADE["l2"].head
    with store.read() as snapshot:
        log = snapshot.log
        assert (
            log.count_missing_here(EMPTY_CLOCK)
            == log.count_missing_here(log.chains.heads().clock)
            == log.count_missing_here((head,))
            == 0
        )
        assert log.count_missing_here((head._replace(counter=9),)) == 6
        assert log.count_missing_here((Head(replica_of("unknown"), 4, b"whatever" * 4),)) == 4


def test_replicas_that_forked_are_named(store: Store, bench: StoreBench) -> None:
    other = bench.store("b")
    write_entities(other, 2)
    with store.write() as tx:
        tx.accept_page(feed(other))
    with store.read() as snapshot, other.read() as unforked:
        assert snapshot.log.chains.forked_replicas() == [REPLICA]
        assert unforked.log.chains.forked_replicas() == []


def test_what_a_peer_lacks_of_several_replicas_comes_and_counts_together(bench: StoreBench) -> None:
    store, other = bench.store("z"), bench.store("b")
    own = write_entities(store, 2)
    others = write_entities(other, 3)
    with store.write() as tx:
        assert tx.accept_page(feed(other)).heads == tuple(others)
    for name in ARRIVED:
        with store.write() as tx:
            tx.accept_page([MADE[name].signed])
    own += write_entities(store, 1)

    def lacking(*vector: Head, after: int = 0) -> list[int]:
        with store.read() as snapshot:
            seqs = [commit.seq for commit in snapshot.log.commits_lacking(vector, after)]
            assert after or snapshot.count_behind(vector) == len(seqs)
        return seqs

    assert lacking() == list(range(1, 14))
    assert lacking(after=5) == list(range(6, 14))
    assert lacking(own[0]) == list(range(2, 14))
    assert lacking(own[2]) == list(range(3, 13))
    assert lacking(others[1]) == [1, 2, *range(5, 14)]
    assert lacking(own[1], others[2]) == list(range(6, 14))
    assert lacking(own[2], others[2], MADE["l3"].head) == [7, 9, 11, 12]
    assert lacking(Head(replica_of("unknown"), 1, b"whatever" * 4), MADE["l3"].head, own[2], others[2]) == [
        7,
        9,
        11,
        12,
    ]
    assert lacking(others[2]._replace(counter=9, hash=b"its next")) == [1, 2, *range(6, 14)]


def test_a_head_that_is_unknown_though_not_beyond_what_is_held_tells_nothing(bench: StoreBench) -> None:
    store = bench.store("a")
    _first, second, third = write_entities(store, 3)
    with store.read() as snapshot:
        for unknown in (second, third):
            vector = (unknown._replace(hash=b"another!" * 4),)
            assert [commit.seq for commit in snapshot.log.commits_lacking(vector, 0)] == [1, 2, 3]
            assert (
                snapshot.count_behind(vector)
                == snapshot.log.count_unknown_to_peer(vector, [second, third, _first])
                == 3
            )


def test_a_page_holds_as_many_bytes_as_it_may_and_no_more(bench: StoreBench) -> None:
    store = bench.store("a")
    write_entities(store, 4)
    sizes = [len(commit.body) + len(commit.signature) + COMMIT_OVERHEAD_BYTES for commit in feed(store)]
    with store.read() as snapshot:
        for count in (1, 2, 3):
            total = sum(sizes[:count])
            for bytes_max, expected in ((total, count), (total - 1, max(count - 1, 1))):
                page = snapshot.page_lacking(EMPTY_CLOCK, 0, bytes_max)
                assert (len(page.commits), page.end) == (expected, expected)
        assert snapshot.page_lacking(EMPTY_CLOCK, 0, sum(sizes)).end == 4


def test_a_page_tells_the_heads_that_were_new(bench: StoreBench) -> None:
    store = bench.store("z")
    commit, two = MADE["1"], MADE["2"]
    with store.write() as tx:
        assert tx.accept_page([commit.signed]).heads == (commit.head,)
    with store.write() as tx:
        assert tx.accept_page([commit.signed, two.signed]).heads == (two.head,)


def test_the_vector_of_what_is_held_has_every_branch_and_replica_in_order(store: Store) -> None:
    second = sealed(signer_of("b"), replica_of("b"), 1, None, [operation(entity_id(9), title="b")])
    with store.write() as tx:
        tx.accept_page([second.signed])
    ends = [MADE[name].head for name in ("3", "l3", "r3", "s1")]
    with store.read() as snapshot:
        assert snapshot.log.chains.heads().clock == tuple(sorted([*ends, second.head]))


def test_the_sizes_of_commits_are_known_without_reading_them(store: Store) -> None:
    with store.read() as snapshot:
        counts = [len(entry.signed.body) for entry in snapshot.log.feed_commits(0, 99)]
        assert snapshot.log.commit_sizes(0, 99) == counts
        assert snapshot.log.commit_sizes(1, 2) == counts[1:3]
