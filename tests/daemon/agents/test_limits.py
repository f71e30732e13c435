"""What a person set of agents' limits is what the desk goes by.

Never starts a daemon.
"""

import msgspec

from daemon.agents.queueing import Limits
from daemon.app.root import agent_settings
from daemon.config import Settings


def test_the_limits_of_proposals_and_of_sovereignty_are_settings() -> None:
    assert agent_settings(Settings()).limits == Limits()
    told = {"proposals": {"per_set": 3, "lifetime_s": 60.0}, "sovereignty": {"reason_min": 40}}
    limits = agent_settings(msgspec.convert(told, Settings)).limits
    assert limits == Limits(per_set=3, lifetime_ms=60_000, reason_min=40)
