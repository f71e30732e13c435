"""Fixtures of the tests on real networks: worlds that end with their tests, whatever happens.

Never gives a test a network that leads anywhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.networks.namespaces import Segment
from tests.e2e.networks.residents import STEP_S, Resident, World, in_step, pair_by_code


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Return an empty world."""
    made = World(tmp_path)
    yield made
    made.close()


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

    def tell(self, title: str, limit_s: float = STEP_S) -> None:
        """Let each device write something, and wait until all hold it."""
        for device in self.all:
            device.do("add", f"{title}, said {device.name}")
        in_step(*self.all, limit_s=limit_s)

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
        found = [
            world.at(segment, name, f"10.77.0.{number}/24", f"fd77::{number}/64")
            for number, name in enumerate(names, start=1)
        ]
        world.start(*found)
        pair_by_code(found[0], *found[1:])
        in_step(*found)
        yield Trio(segment, world, *found)
    finally:
        world.close()
