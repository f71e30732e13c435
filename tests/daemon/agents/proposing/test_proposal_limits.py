"""The person's settings of agents' limits reach the call handler.

Never starts a daemon.
"""

import msgspec

from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.app.composition import scheduler_settings
from daemon.config import Settings


def test_the_limits_of_proposals_and_of_sovereignty_are_settings() -> None:
    assert scheduler_settings(Settings()).limits == ProposalLimits()
    fields = {"proposals": {"per_set": 3, "lifetime_s": 60.0}, "sovereignty": {"reason_min": 40}}
    limits = scheduler_settings(msgspec.convert(fields, Settings)).limits
    assert limits == ProposalLimits(items_per_set=3, lifetime_ms=60_000, reason_chars_min=40)
