"""Fixtures of the roster: two devices of one vault.

Never links them by hand.
"""

import pytest

from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.daemon.peers.roster.admission_steps import later


@pytest.fixture
async def pair(fleet: Fleet) -> tuple[Device, Device]:
    """Two devices that joined long ago."""
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    later(desk, phone)
    return desk, phone
