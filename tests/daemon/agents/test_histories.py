"""Histories of three devices with wrong clocks: proposals, verdicts, edits, meetings in any order.

Never counts a clean run as a proof: the important cases must have occurred, and the histories must notice the
absence of each rule (`make teeth`).

`HISTORIES` and `SEED` change how many are drawn and which; `make histories` draws 20 000.
"""

import os
from collections import Counter

import pytest

from tests.daemon.agents.histories.machine import live_through

SEED = int(os.environ.get("SEED", "11"))
SEEDS = 5
HISTORIES = int(os.environ.get("HISTORIES", "100"))

MUST_MEET = (
    *(
        f"confirm: {outcome}"
        for outcome in ("applied", "already", "stale", "obsolete", "conflict", "expired")
    ),
    *(f"{verdict}: applied" for verdict in ("reject", "undo", "reopen", "defer")),
    *(
        f"at the end: {displayed}"
        for displayed in ("confirmed", "rejected", "pending", "deferred", "disputed", "expired")
    ),
    "confirm: forced over something",
    "confirm: settles a dispute",
    "undo: what was covered shows again",
    "item: touched",
    "retract: done",
    "confirm all: left",
    "pull: partly",
    "write page: old",
    "restored as a new replica",
)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_laws_hold_after_every_step_of_every_history_and_the_cases_are_met() -> None:
    met: Counter[str] = Counter()
    for seed in range(SEED, SEED + SEEDS):  # of one seed many histories are alike
        met += live_through(HISTORIES // SEEDS, seed)
    print(f"seed {SEED}:", *(f"{count:6} {what}" for what, count in sorted(met.items())), sep="\n")
    assert not [case for case in MUST_MEET if not met[case]]
