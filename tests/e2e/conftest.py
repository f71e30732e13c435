"""Fixtures of the end-to-end tests: devices that end with the test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.devices import Device

Make = Callable[..., Device]


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Make]:
    """Make devices with running daemons; whatever the test does, they end with it."""
    made: list[Device] = []

    def make(name: str, **settings: str) -> Device:
        one = Device(name, tmp_path / name, settings)
        made.append(one)
        one.start()
        return one

    yield make
    for one in made:
        if one.daemon is not None and one.daemon.poll() is None:
            one.kill()
