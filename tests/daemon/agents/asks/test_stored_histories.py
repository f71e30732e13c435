"""No permission is used twice on real stores, whatever happens to them, and what people permit is granted.

Never counts a clean run as a proof: the important cases must have occurred. `make stored-uses` lives through
20 000 histories; `HISTORIES` and `SEED` change how many and which.
"""

import os

import pytest

from daemon.agents.asks.use_rule import UseResult
from tests.daemon.agents.asks.stored_histories import live_through

HISTORIES = int(os.environ.get("HISTORIES", "300"))
SEED = int(os.environ.get("SEED", "0"))
MUST_MEET = (
    *(f"use: {result.value}" for result in UseResult),
    "acted",
    "asked again what was used",
    "confirmed, which does not count",
    "copied",
    "deferred",
    "died before the answer",
    "disk put back",
    "paused or resumed",
    "put back",
)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_no_yes_is_used_twice_on_real_stores_and_the_cases_are_met() -> None:
    met = live_through(HISTORIES, SEED)
    print(*(f"{count:6} {what}" for what, count in sorted(met.items())), sep="\n")
    assert not [case for case in MUST_MEET if not met[case]]
