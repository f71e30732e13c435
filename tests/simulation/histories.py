"""Histories as Hypothesis draws them, how many and from which seed.

Never draws from anything but Hypothesis: the same seed gives the same histories.

`PLACET_HISTORIES` and `PLACET_SEED` change how many are drawn and which.
"""

import os
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.simulation.fates import FATES
from tests.simulation.fleet import SKEWS_MS, Fleet, Step
from tests.simulation.scenes import fork, scene

SEED = int(os.environ.get("PLACET_SEED", "11"))
HISTORIES = int(os.environ.get("PLACET_HISTORIES", "400"))

PEACE = {
    "edit": 9, "label": 3, "child": 7, "note": 2, "delete": 2, "restore": 4, "agent": 2, "open page": 2,
    "write page": 2, "propose": 11, "confirm": 15, "confirm all": 2, "reject": 7, "undo": 6, "reopen": 4,
    "defer": 2, "retract": 2, "apart": 8, "scene": 8, "sync": 24, "two links": 2, "restart": 1, "abort": 1,
    "backup": 1, "restored": 1,
}  # fmt: skip
FORKS = PEACE | {"sync": 14, "backup": 7, "rolled back": 8, "cloned": 3, "fork": 8}


class History(NamedTuple):
    """What a fleet lives through; `dice` are for what comes after."""

    skews: list[int]
    steps: list[Step]
    dice: int


def histories(weights: Mapping[str, int]) -> st.SearchStrategy[History]:
    """Draw histories in which actions are as frequent as their weights say."""
    actions = [action for action, weight in weights.items() for _ in range(weight)]
    steps = st.builds(
        Step,
        st.sampled_from(actions),
        st.integers(0, 59),
        st.integers(0, 999),
        st.integers(0, 999),
        st.integers(0, 999),
        st.sampled_from((0, 1, 30, 400)),
    )
    return st.builds(
        History,
        st.lists(st.integers(0, len(SKEWS_MS) - 1), min_size=3, max_size=3),
        st.lists(steps, min_size=12, max_size=40),
        st.integers(0, 2**32),
    )


def for_each_history(
    weights: Mapping[str, int], judge: Callable[[Fleet, History], None], share: float = 1
) -> None:
    """Let fleets live through the histories of this seed, and judge each."""
    print(f"seed {SEED} (PLACET_SEED), {int(HISTORIES * share)} histories (PLACET_HISTORIES)")

    @seed(SEED)
    @settings(
        max_examples=max(1, int(HISTORIES * share)),
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    @given(histories(weights))
    def lived_through(history: History) -> None:
        with fleet_of(history.skews) as fleet:
            judge(fleet, history)

    lived_through()


@contextmanager
def fleet_of(skews: list[int]) -> Iterator[Fleet]:
    """Open a fleet on files in memory where the system has such a place: durability is tested elsewhere."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        fleet = Fleet(Path(folder), skews, FATES | {"scene": scene, "fork": fork})
        try:
            yield fleet
        finally:
            fleet.close()


def dice_of(history: History) -> random.Random:
    """Return the dice for what comes after a history."""
    return random.Random(history.dice)
