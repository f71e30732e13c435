"""Fixtures of the store's tests.

Never share a file between tests.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.stores import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Return what opens stores, and closes them after the test."""
    made = Bench(tmp_path)
    yield made
    made.close()
