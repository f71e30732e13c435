"""Clocks against sets: a clock stands for the commits on the chains that end in it, forks or none.

Never compares counters itself: the model walks from commit to commit.
"""

from hypothesis import given
from hypothesis import strategies as st

from syncproto.heads import EMPTY, Clock, Head, NoForks, add, covers, union, within
from syncproto.ids import ReplicaId
from tests.syncproto.chains import ModelChains


@st.composite
def trees(draw: st.DrawFn, forks: bool = True) -> ModelChains:
    """Draw two replicas' commits; where forks are wished, any commit may be followed twice."""
    before: dict[Head, Head | None] = {}
    for name in (1, 2):
        replica = ReplicaId(bytes([name]) * 16)
        held: list[Head] = []
        for place in range(draw(st.integers(0, 6))):
            parent = draw(st.sampled_from([None, *held])) if forks else (held[-1] if held else None)
            head = Head(replica, 1 if parent is None else parent.counter + 1, bytes([place]) * 8)
            before[head] = parent
            held.append(head)
    return ModelChains(before)


@st.composite
def clocks(draw: st.DrawFn, chains: ModelChains) -> Clock:
    """Draw a clock over some of the commits."""
    held = sorted(chains.before)
    return chains.maximal(draw(st.sets(st.sampled_from(held))) if held else [])


@given(trees(), st.data())
def test_a_clock_covers_the_chains_that_end_in_it(chains, data):
    clock = data.draw(clocks(chains))
    covered = chains.covered(clock)
    for head in chains.before:
        assert covers(clock, head, chains) == (head in covered)


@given(trees(), st.data())
def test_adding_commits_in_any_order_gives_the_heads_of_all(chains, data):
    some = data.draw(st.lists(st.sampled_from(sorted(chains.before)))) if chains.before else []
    clock = EMPTY
    for head in some:
        clock = add(clock, head, chains)
    assert clock == chains.maximal(chains.covered(some))
    assert clock == tuple(sorted(clock))


@given(trees(), st.data())
def test_a_union_covers_what_either_covers_and_no_more(chains, data):
    one, other, third = (data.draw(clocks(chains)) for _ in range(3))
    both = union(one, other, chains)
    assert chains.covered(both) == chains.covered(one) | chains.covered(other)
    assert both == union(other, one, chains)
    assert union(both, third, chains) == union(one, union(other, third, chains), chains)
    assert union(one, one, chains) == one


@given(trees(), st.data())
def test_a_clock_is_within_bounds_that_cover_it_together(chains, data):
    clock, *bounds = (data.draw(clocks(chains)) for _ in range(3))
    together = chains.covered(bounds[0]) | chains.covered(bounds[1])
    assert within(clock, bounds, chains) == (set(clock) <= together)


@given(trees(forks=False), st.data())
def test_without_forks_counters_alone_say_the_same(chains, data):
    clock = data.draw(clocks(chains))
    for head in chains.before:
        assert covers(clock, head, NoForks()) == covers(clock, head, chains)
        assert add(clock, head, NoForks()) == add(clock, head, chains)


def test_a_commit_that_nobody_holds_is_covered_by_nothing_on_a_fork():
    first = Head(ReplicaId(bytes(16)), 1, bytes(8))
    twin, unknown = first._replace(hash8=b"\x01" * 8), first._replace(hash8=b"\x02" * 8)
    chains = ModelChains({first: None, twin: None})
    assert not covers((first, twin), unknown, chains)
    assert not covers((unknown,), first, chains)


def test_the_usual_case_knows_no_forks():
    replica = ReplicaId(bytes(16))
    low, high = Head(replica, 1, bytes(8)), Head(replica, 2, bytes(8))
    assert not NoForks().forked(replica)
    assert NoForks().on_chain(low, high)
    assert not NoForks().on_chain(high, low)


def test_without_forks_a_commit_lies_on_every_chain_of_its_replica_that_reaches_it():
    replica = ReplicaId(bytes(16))
    one, two = Head(replica, 1, bytes(8)), Head(replica, 2, bytes(8))
    chains = NoForks()
    assert chains.on_chain(one, one)
    assert chains.on_chain(one, two)
    assert not chains.on_chain(two, one)
