"""Branches and what covers them, against a model that walks from commit to commit.

Never opens a store.
"""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.log.branches import Branch, ReplicaChains
from store.log.coverage import Coverage

KEY = bytes(32)
Place = tuple[int, int]
"""A commit: the number of its branch and its counter."""


def digest(place: Place) -> bytes:
    return place[0].to_bytes(16, "big") + place[1].to_bytes(16, "big")


class ModelReplica:
    """The commits of a replica by the one that each follows, beside the branches to test."""

    def __init__(self) -> None:
        self.chains = ReplicaChains(1, KEY)
        self.before: dict[Place, Place | None] = {}

    def write(self, follows: Place | None) -> Place:
        """Add a commit: on a branch if it follows its tip, else on a new one."""
        chains = self.chains
        if follows is not None and follows[1] == chains.branches[follows[0]].tip:
            place = (follows[0], follows[1] + 1)
            chains.move_tip(chains.branches[place[0]], place[1], digest(place))
        else:
            place = (chains.next_no, 1 if follows is None else follows[1] + 1)
            parent = None if follows is None else chains.branches[follows[0]]
            chains.add_branch(Branch(place[0], parent, place[1], place[1], digest(place)))
        self.before[place] = follows
        return place

    def past(self, end: Place) -> set[Place]:
        """Return the chain that ends in a commit."""
        places: set[Place] = set()
        place: Place | None = end
        while place is not None:
            places.add(place)
            place = self.before[place]
        return places


@st.composite
def replicas(draw: st.DrawFn) -> ModelReplica:
    """Draw a replica of some commits, each of which follows any earlier one or none."""
    model = ModelReplica()
    for _ in range(draw(st.integers(1, 30))):
        model.write(draw(st.sampled_from([None, *sorted(model.before)])) if model.before else None)
    return model


@given(replicas())
def test_each_counter_of_a_chain_is_on_the_branch_that_wrote_it(model: ModelReplica) -> None:
    for end in model.before:
        branch = model.chains.branches[end[0]]
        assert {(branch.branch_at(counter).no, counter) for counter in range(1, end[1] + 1)} == model.past(
            end
        )


@given(replicas())
def test_the_last_commit_of_each_branch_leads_to_it_and_no_other_does(model: ModelReplica) -> None:
    for branch_no, counter in model.before:
        branch = model.chains.branches[branch_no]
        ended = model.chains.branch_ending_in(counter, digest((branch_no, counter)))
        assert ended is (branch if branch.tip == counter else None)
    assert model.chains.is_forked == (len(model.chains.branches) > 1)


@given(replicas(), st.data())
def test_a_chain_covers_its_past_and_what_is_lacking_is_counted(
    model: ModelReplica, data: st.DataObject
) -> None:
    coverage, chains = Coverage(), model.chains
    covered: set[Place] = set()
    for end in data.draw(st.lists(st.sampled_from(sorted(model.before)))):
        coverage.add(chains, chains.branches[end[0]], end[1])
        covered |= model.past(end)
        lacking = set(model.before) - covered
        assert {place for place in model.before if not coverage.covers(1, *place)} == lacking
        assert coverage.count_lacking(chains) == len(lacking)
        if lacking:
            assert coverage.first_lacking(chains) == min(counter for _, counter in lacking)


def test_a_guess_covers_a_replica_up_to_a_counter() -> None:
    model = ModelReplica()
    place = None
    for _ in range(5):
        place = model.write(place)
    coverage = Coverage()
    coverage.guess(model.chains, 3)
    coverage.guess(model.chains, 2)
    assert coverage.count_lacking(model.chains) == 2
    assert coverage.first_lacking(model.chains) == 4
    assert [coverage.covers(1, 0, counter) for counter in range(1, 6)] == [True] * 3 + [False] * 2


@pytest.mark.parametrize("seed", range(3))
def test_the_way_back_is_short_whatever_left_what(seed: int) -> None:
    model, chance = ModelReplica(), random.Random(seed)
    ends = [model.write(None)]
    # Mostly the newest is left: thousands of branches, each begun on the one before.
    while len(model.chains.branches) < 4000:
        follows = ends[-1 - min(chance.randrange(3), len(ends) - 1)]
        model.write(follows)
        ends.append(model.write(follows))
    assert max(_steps(branch) for branch in model.chains.branches.values()) <= 40


def _steps(branch: Branch) -> int:
    """Count the steps from a branch to the start of its chain."""
    steps = 0
    while branch.first > 1:
        assert branch.jump is not None
        assert branch.parent is not None
        branch, steps = (branch.jump if branch.jump.first > 1 else branch.parent), steps + 1
    return steps
