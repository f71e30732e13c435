"""A recipe of a guide: the commands and files under one heading, for a test that carries it out.

Never lets a test copy a command: what it runs is what the guide shows, with the places of the test put in.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from tests.docs.story import PLACET_LINE, commands_in, shell
from tests.support.commands import CommandResult
from tests.support.devices import Device
from tests.support.source_tree import text_of

_FENCED = re.compile(r"^```[\w ]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Recipe:
    """The section of a guide with this heading."""

    def __init__(self, document: str, heading: str) -> None:
        _, heading_line, rest = text_of(Path(document)).partition(f"\n## {heading}\n")
        assert heading_line, f"{document} has no section {heading}"
        blocks = _FENCED.findall(rest.partition("\n## ")[0])
        self.files = [block for block in blocks if not PLACET_LINE.search(block)]
        self.untried = [line for block in blocks if block not in self.files for line in commands_in(block)]

    def line(self, beginning: str, places: Mapping[str, str]) -> str:
        """Return the next command that begins so, with the places of the test; it counts as tried."""
        line = next((line for line in self.untried if line.startswith(beginning)), None)
        assert line is not None, f"the recipe has no {beginning} among {self.untried}"
        self.untried.remove(line)
        return put_in(line, places)

    def run(
        self, device: Device, beginning: str, places: Mapping[str, str], *, typed: str | None = None
    ) -> CommandResult:
        """Run the next command that begins so as somebody types it; it must succeed."""
        line = self.line(beginning, places)
        result = shell(device, line, device.home, typed=typed)
        assert result.status == 0, f"{line}: {result} {device.log()}"
        return result


def put_in(text: str, places: Mapping[str, str]) -> str:
    """Put places of a test in for those of a guide."""
    for word, place in places.items():
        text = text.replace(word, place)
    return text
