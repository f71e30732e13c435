"""A fleet of devices for each test that asks for one.

Never leaves a socket or a thread behind.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.daemon.peers.fleet import Fleet, fleet_in


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet_in(tmp_path) as new_fleet:
        yield new_fleet
