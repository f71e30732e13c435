"""Fixtures of the agents' tests: a third device, and a task."""

import pytest

from syncproto.ids import EntityId
from tests.support.fleet import Fleet, Home


@pytest.fixture
def c(fleet: Fleet, b: Home) -> Home:
    return fleet.home("c")


@pytest.fixture
def task(a: Home) -> EntityId:
    return a.new("task", title="Write the report", status="OPEN", priority="P2", estimate_minutes=60)
