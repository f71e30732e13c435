"""The laws, over three stores that exchange commits in any order, with decisions and undo in play.

Never takes a clean run for a proof: each rule must have been at work, or the property fails.
"""

import pytest

from tests.simulation import laws
from tests.simulation.fleet import StoreFleet
from tests.simulation.history_generator import (
    WEIGHTS_WITH_FORKS,
    WEIGHTS_WITHOUT_FORKS,
    SimulatedHistory,
    dice_of,
    for_each_history,
)
from tests.simulation.rule_coverage import RULES_IN_ACTIONS, RULES_IN_ORACLE, RuleCoverage

FORK_CLAUSES = (
    "rolled back: done",
    "cloned: done",
    "restored: done",
    "a replica forked",
    "a replica has three branches or more",
    "a device goes on as a new replica",
    "pull: refused for a fork, then asked for everything",
)


def live_through(fleet: StoreFleet, history: SimulatedHistory, census: RuleCoverage) -> None:
    """Take the steps of a history, judging now and then, and at the end with all devices in agreement."""
    dice, oracles = dice_of(history), []
    for step in history.steps:
        fleet.play(step)
        if step.action == "scene" or dice.random() < 0.05:
            oracles.append(laws.check_laws(fleet.devices[step.device % len(fleet.devices)]))
    fleet.sync_all()
    fleet.sync_all()
    oracles += [laws.check_laws(device) for device in fleet.devices]
    assert laws.equal_vectors_equal_states(fleet.devices) == len(fleet.devices) - 1, "the vectors never meet"
    census.add(fleet, oracles)
    device = fleet.devices[0]
    with device.store.read() as snapshot:
        contents = laws.contents(snapshot)
    again = laws.any_order_of_arrival(fleet.truth, device.held, fleet.folder, dice)
    assert again == contents, "the order of arrival changes the state"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_laws_hold_in_every_history_and_every_rule_is_at_work() -> None:
    census = RuleCoverage()
    for_each_history(WEIGHTS_WITHOUT_FORKS, lambda fleet, history: live_through(fleet, history, census))
    clauses = [*RULES_IN_ORACLE, *RULES_IN_ACTIONS]
    print(census.report(clauses))
    assert not census.missing(clauses), "the histories never met these rules"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_laws_hold_where_replicas_fork_and_both_branches_stay() -> None:
    census = RuleCoverage()

    def judge(fleet: StoreFleet, history: SimulatedHistory) -> None:
        live_through(fleet, history, census)
        census.add_forks(fleet)

    for_each_history(WEIGHTS_WITH_FORKS, judge, share=0.5)
    print(census.report(FORK_CLAUSES))
    assert not census.missing(FORK_CLAUSES), "the histories never met these"
