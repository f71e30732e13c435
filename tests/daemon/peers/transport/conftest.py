"""Fixtures of the transport: a listener with a member.

Never turns TLS off.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.daemon.peers.transport.house import House


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    new_house = House(tmp_path)
    await new_house.start()
    yield new_house
    await new_house.listener.stop()
