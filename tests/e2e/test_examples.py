"""The examples that the help of a command shows run as they are written there.

Never reads a document: tests/docs runs the commands of those.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.story import shell
from tests.support.devices import Device

pytestmark = pytest.mark.e2e

HELP = {
    "add": "placet add -- Buy milk tomorrow",
    "note": "placet note passport The photos are in the drawer",
    "search": "placet search -- garden -shed",
    "link add": "placet link add photos blocks form",
    "link remove": "placet link remove photos blocks form",
}


@pytest.fixture
def laptop(tmp_path: Path) -> Iterator[Device]:
    device = Device("laptop", tmp_path / "laptop")
    device.start()
    yield device
    device.kill()


def test_every_example_of_the_help_runs(laptop: Device, tmp_path: Path):
    for title in ("Send the form", "Take photos", "Renew the passport", "Water the garden"):
        laptop.do("add", title)
    for command, example in HELP.items():
        assert example in " ".join(laptop.run(*command.split(), "--help").out.split())
        result = shell(laptop, example, tmp_path)
        assert result.status == 0, f"{example}: {result}"
