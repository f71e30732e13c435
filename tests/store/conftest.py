"""Fixtures of the store's tests.

Never share a file between tests.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.stores import StoreBench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[StoreBench]:
    """Return what opens stores, and closes them after the test."""
    store_bench = StoreBench(tmp_path)
    yield store_bench
    store_bench.close()
