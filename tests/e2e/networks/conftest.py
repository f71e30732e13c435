"""Fixtures of the tests on real networks: worlds that end with their tests, whatever happens.

Never gives a test a network that leads anywhere.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.networks.residents import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Return an empty world."""
    made = World(tmp_path)
    yield made
    made.close()
