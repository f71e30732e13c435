"""Fixtures of the tests on real networks: worlds that end with their tests, whatever happens.

Never gives a test a network that leads anywhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.networks.namespaces import Segment
from tests.support.networks.residents import Resident, World, pair_by_code, wait_for_equal_state
from tests.support.patience import LIMIT_S


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Return an empty world."""
    new_world = World(tmp_path)
    yield new_world
    new_world.close()


@dataclass(frozen=True)
class Trio:
    """Three devices of one vault on one local network, each with IPv4 and IPv6."""

    segment: Segment
    world: World
    desk: Resident
    phone: Resident
    tablet: Resident

    @property
    def all(self) -> tuple[Resident, ...]:
        """Return the three."""
        return self.desk, self.phone, self.tablet

    def tell(self, title: str, limit_s: float = LIMIT_S) -> None:
        """Let each device write something, and wait until all hold it."""
        for device in self.all:
            device.do("add", f"{title}, said {device.name}")
        wait_for_equal_state(*self.all, limit_s=limit_s)

    def links(self) -> int:
        """Return how many connections between the three are open, each counted at one of its two ends."""
        return sum(len(device.machine.connections()) for device in self.all) // 2


@pytest.fixture(scope="module")
def trio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trio]:
    """Return three paired devices that the tests of a file share; each test leaves the network as it was."""
    world = World(tmp_path_factory.mktemp("trio"))
    try:
        segment = world.networks.segment("lan")
        names = ("desk", "phone", "tablet")
        residents = [
            world.at(segment, name, f"10.77.0.{number}/24", f"fd77::{number}/64")
            for number, name in enumerate(names, start=1)
        ]
        world.start(*residents)
        pair_by_code(residents[0], *residents[1:])
        wait_for_equal_state(*residents)
        yield Trio(segment, world, *residents)
    finally:
        world.close()
