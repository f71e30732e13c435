"""Standing rules permit what was written and no more, in histories of two devices.

Never counts a clean run as a proof: the important cases must have occurred, and `make teeth` takes rules
away. `HISTORIES` and `SEED` change how many are lived through, and which.
"""

import os

import pytest

from tests.daemon.agents.standing_rules.rule_histories import live_through

HISTORIES = int(os.environ.get("HISTORIES", "90"))
SEED = int(os.environ.get("SEED", "0"))
MUST_MEET = (
    "asked: pending",
    "asked: permitted",
    "limit reached",
    "clock set",
    "put back",
    "moved",
    "repeated",
    "use: by a person",
    "use: by a rule",
    *(f"only {reason}" for reason in ("revoked", "over", "other arguments", "another home")),
)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_rules_permit_what_was_written_and_no_more_and_the_cases_are_met() -> None:
    met = live_through(HISTORIES, SEED)
    print(*(f"{count:6} {what}" for what, count in sorted(met.items())), sep="\n")
    assert not [case for case in MUST_MEET if not met[case]]
