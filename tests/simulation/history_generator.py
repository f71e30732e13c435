"""Histories, how many and from which seed.

Never draws from anything but the seed: the same seed gives the same histories, in the same order.

`HISTORIES` and `SEED` change how many are drawn and which; `make laws` draws many.
"""

import os
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.simulation.fleet import SKEWS_MS, HistoryStep, StoreFleet
from tests.simulation.mishaps import MISHAPS
from tests.simulation.scenes import fork, scene

SEED = int(os.environ.get("SEED", "11"))
DEVICES = 3
HISTORIES = int(os.environ.get("HISTORIES") or 100)
"""By history 34 of this seed the absence of each rule of the fold that `make teeth` takes away was seen, but
of one that needs the daemon's histories; by history 73 each rule that must have been at work was."""

WEIGHTS_WITHOUT_FORKS = {
    "edit": 9, "label": 3, "child": 7, "note": 2, "delete": 2, "restore": 4, "agent": 2, "open page": 2,
    "write page": 2, "propose": 11, "confirm": 15, "confirm all": 2, "reject": 7, "undo": 6, "reopen": 4,
    "defer": 2, "retract": 2, "apart": 8, "scene": 8, "sync": 24, "two links": 2, "restart": 1, "abort": 1,
    "backup": 1, "restored": 1,
}  # fmt: skip
WEIGHTS_WITH_FORKS = WEIGHTS_WITHOUT_FORKS | {
    "sync": 14,
    "backup": 7,
    "rolled back": 8,
    "cloned": 3,
    "fork": 8,
}


class SimulatedHistory(NamedTuple):
    """What a fleet lives through; `throw` names the dice."""

    skews: list[int]
    steps: list[HistoryStep]
    throw: str


Judge = Callable[[StoreFleet, SimulatedHistory], None]


def random_history(weights: Mapping[str, int], throw: str) -> SimulatedHistory:
    """Return a history in which actions are as frequent as their weights say."""
    dice = random.Random(throw)
    skews = [dice.randrange(len(SKEWS_MS)) for _ in range(DEVICES)]
    return SimulatedHistory(
        skews, [_step(weights, dice) for _ in range(dice.choice((12, 20, 30, 45)))], throw
    )


def _step(weights: Mapping[str, int], dice: random.Random) -> HistoryStep:
    (action,) = dice.choices(list(weights), list(weights.values()))
    number, two, three = (dice.randrange(1000) for _ in range(3))
    return HistoryStep(action, dice.randrange(60), number, two, three, dice.choice((0, 1, 30, 400)))


def for_each_history(weights: Mapping[str, int], judge: Judge, share: float = 1) -> None:
    """Let fleets live through the histories of this seed, and judge each.

    Each is thrown by its number: drawn step by step by Hypothesis, most histories are variations of a few,
    and the rare rules are never met. A history that fails is made short here, step by step.
    """
    count = max(1, int(HISTORIES * share))
    print(f"seed {SEED} (SEED), {count} histories (HISTORIES)")
    for number in range(count):
        history = random_history(weights, f"{SEED}/{number}")
        if _fails(history, judge):
            short = shortened(history, judge)
            print(f"the shortest that fails, on clocks {short.skews}:", *short.steps, sep="\n")
            _live(short, judge)
            raise AssertionError(f"a history that failed once only: {history}")


def shortened(history: SimulatedHistory, judge: Judge) -> SimulatedHistory:
    """Leave out steps, many at once and then one by one, as long as the rest still fails."""
    size = len(history.steps)
    while size:
        for index in range(len(history.steps) - size, -1, -size):
            fewer = history._replace(steps=history.steps[:index] + history.steps[index + size :])
            if _fails(fewer, judge):
                history = fewer
        size //= 2
    return history


def _live(history: SimulatedHistory, judge: Judge) -> None:
    with fleet_of(history.skews) as fleet:
        judge(fleet, history)


def _fails(history: SimulatedHistory, judge: Judge) -> bool:
    try:
        _live(history, judge)
    except Exception:  # noqa: BLE001 - whatever it is, it is raised again from the shortest history
        return True
    return False


@contextmanager
def fleet_of(skews: list[int]) -> Iterator[StoreFleet]:
    """Open a fleet on files in memory if the system has them: durability is tested elsewhere."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        fleet = StoreFleet(Path(folder), skews, MISHAPS | {"scene": scene, "fork": fork})
        try:
            yield fleet
        finally:
            fleet.close()


def dice_of(history: SimulatedHistory) -> random.Random:
    """Return the dice for what comes after a history."""
    return random.Random(f"{history.throw}/after")
