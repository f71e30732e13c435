"""Sets of heads: what they contain, how they differ, and that what they share costs nothing."""

from hypothesis import given
from hypothesis import strategies as st

from syncproto.head_set import BUCKETS, NO_HEADS, ONE_BUCKET_REPLICAS_MAX, HeadSet
from syncproto.ids import ReplicaId
from syncproto.vector_clock import Head

MANY = 4 * ONE_BUCKET_REPLICAS_MAX


def head(replica: int, counter: int = 1, branch: int = 0) -> Head:
    """Return a head of a numbered replica."""
    return Head(ReplicaId(replica.to_bytes(16, "big")), counter, bytes([branch]) * 32)


HEADS = st.frozensets(st.builds(head, st.integers(0, 6), st.integers(1, 3), st.integers(0, 2)), max_size=12)
OTHERS = st.sampled_from([frozenset[Head](), frozenset(head(number) for number in range(100, 100 + MANY))])


@given(HEADS, HEADS, HEADS, OTHERS)
def test_a_set_of_heads_is_the_set_that_its_changes_make(first, came, gone, others):
    before = HeadSet(first | others)
    after = before.with_changes(came, gone)
    expected = (first | others) - gone | came
    assert (after.clock, len(after)) == (tuple(sorted(expected)), len(expected))
    assert set(before) == first | others
    assert after == HeadSet(expected)
    assert (after == before) == (expected == first | others)
    assert all((listed in after) == (listed in expected) for listed in first | came | gone)


@given(HEADS, HEADS, OTHERS, OTHERS)
def test_two_sets_that_began_apart_tell_how_they_differ(first, second, others, more):
    now, then = first | others, second | more
    mine, other = HeadSet(now), HeadSet(then)
    for _ in range(2):
        came, gone = mine.changes_since(other)
        assert (set(came), set(gone)) == (
            (first | others) - (second | more),
            (second | more) - (first | others),
        )
        assert mine.differing_replicas(other) == sorted({listed.replica for listed in (*came, *gone)})
        assert hash(mine) == hash(HeadSet(now))


def test_a_set_that_was_changed_shares_all_buckets_but_the_changed_one():
    before = HeadSet(head(number) for number in range(MANY))
    after = before.with_changes([head(5, 2)], [head(5)])
    shared = sum(own is other for own, other in zip(before.buckets, after.buckets, strict=True))
    assert shared == BUCKETS - 1


def test_equal_buckets_are_shared_once_two_sets_were_compared():
    mine, other = (HeadSet(head(number) for number in range(MANY)) for _ in range(2))
    assert mine == other
    assert all(own is others for own, others in zip(mine.buckets, other.buckets, strict=True))


def test_a_set_that_grows_beyond_one_bucket_contains_the_same():
    heads = NO_HEADS
    for number in range(MANY):
        heads = heads.with_changes([head(number)])
    assert heads.clock == tuple(head(number) for number in range(MANY))
    assert len(heads.buckets) == BUCKETS
    assert heads != "heads"
    assert repr(HeadSet([head(1)])).startswith("HeadSet((Head(")
