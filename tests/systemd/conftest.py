"""A control group for a user manager that ends with its test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.systemd import HIERARCHIES


@pytest.fixture
def group(tmp_path: Path) -> Iterator[str]:
    """Name a control group, and remove it with all that systemd made in it."""
    # The process is part of the name: folders of two runs, or of two workers, have the same names.
    name = f"placet-{os.getpid()}-{tmp_path.name}"
    yield name
    for hierarchy in HIERARCHIES:
        for folder, _, _ in os.walk(hierarchy / name, topdown=False):
            Path(folder).rmdir()
