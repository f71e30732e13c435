"""Items at the commits of a forked replica: searching them finds what walking from commit to commit does.

Never depends on how a store says where a commit is.
"""

import random
from unittest.mock import patch

import pytest

from syncproto import vector_clock
from syncproto.chain_forest import ChainForest
from syncproto.ids import ReplicaId
from syncproto.vector_clock import EMPTY_CLOCK, GrowingClock, Head, Reach, covers, with_commit
from tests.support.model_chains import ModelChains, PathPlace

SEEDS = pytest.mark.parametrize("seed", range(40))
REPLICA = ReplicaId(bytes(16))


def drawn_chains(dice: random.Random) -> ModelChains:
    """Return up to forty commits of one replica, each of which follows any that came before it."""
    before: dict[Head, Head | None] = {}
    for number in range(dice.randrange(2, 40)):
        parent = dice.choice([None, *before, *list(before)[-3:]])
        before[Head(REPLICA, 1 if parent is None else parent.counter + 1, bytes([number]) * 32)] = parent
    return ModelChains(before)


def place_of(chains: ModelChains, head: Head) -> PathPlace:
    place = chains.place_of(head)
    assert place is not None
    return place


@SEEDS
def test_a_forest_finds_what_walking_does_whatever_came_and_went_in_which_order(seed: int) -> None:
    dice = random.Random(seed)
    chains = drawn_chains(dice)
    heads = list(chains.before)
    items = set(dice.sample(heads, dice.randrange(len(heads))))
    forest = ChainForest((place_of(chains, head), head) for head in items)
    for _ in range(60):
        changed = dice.choice(heads)
        if changed in items:
            forest.remove(changed)
        else:
            forest.add(place_of(chains, changed), changed)
        items ^= {changed}
        end = dice.choice(heads)
        chain = sorted(items & chains.past(end), key=lambda head: -head.counter)
        assert forest.chain_to(place_of(chains, end)) == chain
        assert forest.covers(place_of(chains, end)) == any(end in chains.past(head) for head in items)
    assert set(forest) == items


@SEEDS
def test_a_long_clock_of_branches_is_searched_as_a_short_one_is_compared(seed: int) -> None:
    dice = random.Random(seed)
    chains = drawn_chains(dice)
    added = [dice.choice(list(chains.before)) for _ in range(60)]
    unknown = Head(REPLICA, 3, b"unknown!" * 4)
    with patch.object(vector_clock, "FEW_HEADS", 0), patch.object(vector_clock, "_SCANS_MAX", 0):
        growing = GrowingClock()
        clock = EMPTY_CLOCK
        for head in added:
            growing.add(head, chains)
            clock = with_commit(clock, head, chains)
            assert growing.clock == clock
        reach = Reach(tuple(sorted({*added, unknown})), chains)
        for head in [*chains.before, unknown]:
            assert growing.covers(head, chains) == reach.covers(head) == covers(clock, head, chains)
