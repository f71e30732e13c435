"""Nothing shows that nobody confirmed, whatever programs propose; none reads or takes back another's.

Never counts a clean run as a proof: the important cases must have occurred. `HISTORIES` and `SEED` say how
many, and which.
"""

import os

import pytest

from tests.daemon.agents.outside.proposal_histories import live_through

HISTORIES = int(os.environ.get("HISTORIES", "60"))
SEED = int(os.environ.get("SEED", "0"))
MUST_MEET = (
    *(f"applied: {verdict}" for verdict in ("confirm", "defer", "reject", "reopen", "undo")),
    "another's set",
    "beyond the limit",
    "beyond the scope",
    "key used for something else",
    "not counted",
    "paused",
    "proposed by both",
    "retried",
    "withdrawn",
)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_nothing_shows_that_nobody_confirmed_and_the_cases_are_met() -> None:
    met = live_through(HISTORIES, SEED)
    print(*(f"{count:6} {what}" for what, count in sorted(met.items())), sep="\n")
    assert not [case for case in MUST_MEET if not met[case]]
