"""A control group for a user manager that ends with its test, and a folder whose path is short."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.systemd import HIERARCHIES


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Make a folder whose path leaves room for systemd's own sockets: an address of one has 108 bytes."""
    with tempfile.TemporaryDirectory(prefix="s", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def group(tmp_path: Path) -> Iterator[str]:
    """Name a control group, and remove it with all that systemd made in it."""
    # The process is part of the name: folders of two runs, or of two workers, have the same names.
    name = f"placet-{os.getpid()}-{tmp_path.name}"
    yield name
    for hierarchy in HIERARCHIES:
        for folder, _, _ in os.walk(hierarchy / name, topdown=False):
            Path(folder).rmdir()
