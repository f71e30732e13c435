"""A control group for a user manager that ends with its test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

HIERARCHIES = [Path("/sys/fs/cgroup", name) for name in ("systemd", "unified", "")]


@pytest.fixture
def group(tmp_path: Path) -> Iterator[str]:
    """Name a control group, and remove it with all that systemd made in it."""
    name = f"placet-{tmp_path.parent.name}-{tmp_path.name}"
    yield name
    for hierarchy in HIERARCHIES:
        for folder, _, _ in os.walk(hierarchy / name, topdown=False):
            Path(folder).rmdir()
