"""Fixtures of the journal's tests: devices with real stores, in a folder of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

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
