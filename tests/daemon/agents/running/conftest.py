"""Fixtures of runs: an agent on the task.

Never runs it.
"""

import pytest

from syncproto.ids import EntityId
from tests.support.fleet import Home
from tests.support.scripted_runs import (
    new_agent,
)


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return new_agent(a, task)
