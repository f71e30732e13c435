"""Fixtures of the agents' tests: a fleet of devices in a folder of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from syncproto.ids import EntityId
from tests.support.fleet import Fleet, Home


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    new_fleet = Fleet(tmp_path)
    yield new_fleet
    new_fleet.close()


@pytest.fixture
def a(fleet: Fleet) -> Home:
    return fleet.home("a")


@pytest.fixture
def b(fleet: Fleet, a: Home) -> Home:
    return fleet.home("b")


@pytest.fixture
def c(fleet: Fleet, b: Home) -> Home:
    return fleet.home("c")


@pytest.fixture
def task(a: Home) -> EntityId:
    return a.new("task", title="Write the report", status="OPEN", priority="P2", estimate_minutes=60)
