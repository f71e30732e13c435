"""Clocks against sets: a clock stands for the commits on the chains that end in it, forks or none.

Never compares counters itself: the model walks from commit to commit.
"""

from hypothesis import given
from hypothesis import strategies as st

from syncproto.ids import ReplicaId
from syncproto.vector_clock import (
    EMPTY_CLOCK,
    Head,
    NoForks,
    VectorClock,
    covers,
    is_covered_by_any,
    merge_clocks,
    with_commit,
)
from tests.support.model_chains import ModelChains


@st.composite
def trees(draw: st.DrawFn, forks: bool = True) -> ModelChains:
    """Draw the commits of two replicas; with forks, any commit may be followed twice."""
    before: dict[Head, Head | None] = {}
    for name in (1, 2):
        replica = ReplicaId(bytes([name]) * 16)
        heads: list[Head] = []
        for place in range(draw(st.integers(0, 6))):
            parent = draw(st.sampled_from([None, *heads])) if forks else (heads[-1] if heads else None)
            head = Head(replica, 1 if parent is None else parent.counter + 1, bytes([place]) * 32)
            before[head] = parent
            heads.append(head)
    return ModelChains(before)


@st.composite
def clocks(draw: st.DrawFn, chains: ModelChains) -> VectorClock:
    """Draw a clock over some of the commits."""
    heads = sorted(chains.before)
    return chains.maximal(draw(st.sets(st.sampled_from(heads))) if heads else [])


@given(trees(), st.data())
def test_a_clock_covers_the_chains_that_end_in_it(chains, data):
    clock = data.draw(clocks(chains))
    covered = chains.covered(clock)
    for head in chains.before:
        assert covers(clock, head, chains) == (head in covered)


@given(trees(), st.data())
def test_adding_commits_in_any_order_gives_the_heads_of_all(chains, data):
    some = data.draw(st.lists(st.sampled_from(sorted(chains.before)))) if chains.before else []
    clock = EMPTY_CLOCK
    for head in some:
        clock = with_commit(clock, head, chains)
    assert clock == chains.maximal(chains.covered(some))
    assert clock == tuple(sorted(clock))


@given(trees(), st.data())
def test_a_union_covers_what_either_covers_and_no_more(chains, data):
    element, other, third = (data.draw(clocks(chains)) for _ in range(3))
    both = merge_clocks(element, other, chains)
    assert chains.covered(both) == chains.covered(element) | chains.covered(other)
    assert both == merge_clocks(other, element, chains)
    assert merge_clocks(both, third, chains) == merge_clocks(
        element, merge_clocks(other, third, chains), chains
    )
    assert merge_clocks(element, element, chains) == element


@given(trees(), st.data())
def test_a_clock_is_within_bounds_that_cover_it_together(chains, data):
    clock, *bounds = (data.draw(clocks(chains)) for _ in range(3))
    together = chains.covered(bounds[0]) | chains.covered(bounds[1])
    assert is_covered_by_any(clock, bounds, chains) == (set(clock) <= together)


@given(trees(forks=False), st.data())
def test_without_forks_counters_alone_say_the_same(chains, data):
    clock = data.draw(clocks(chains))
    for head in chains.before:
        assert covers(clock, head, NoForks()) == covers(clock, head, chains)
        assert with_commit(clock, head, NoForks()) == with_commit(clock, head, chains)


def test_a_commit_that_nobody_holds_is_covered_by_nothing_on_a_fork():
    first = Head(ReplicaId(bytes(16)), 1, bytes(32))
    twin, unknown = first._replace(hash=b"\x01" * 32), first._replace(hash=b"\x02" * 32)
    chains = ModelChains({first: None, twin: None})
    assert not covers((first, twin), unknown, chains)
    assert not covers((unknown,), first, chains)


def test_the_usual_case_knows_no_forks():
    replica = ReplicaId(bytes(16))
    low, high = Head(replica, 1, bytes(32)), Head(replica, 2, bytes(32))
    assert not NoForks().is_forked(replica)
    assert NoForks().on_chain(low, high)
    assert not NoForks().on_chain(high, low)


def test_without_forks_a_commit_lies_on_every_chain_of_its_replica_that_reaches_it():
    replica = ReplicaId(bytes(16))
    head, two = Head(replica, 1, bytes(32)), Head(replica, 2, bytes(32))
    chains = NoForks()
    assert chains.on_chain(head, head)
    assert chains.on_chain(head, two)
    assert not chains.on_chain(two, head)
