"""How much of the lines of one answer is shown, where they stand in groups: those of a day, those of a board.

Never lets what is long in one group take room from another.
"""

from typing import Any, Final, TypeVar

from msgspec import Struct, structs

from daemon.journal.references.names import short_text
from daemon.journal.views.part_bounds import PartBounds

LINES_BYTES_MAX: Final = 4 << 20
"""The bytes that the lines of all groups have at most, as JSON."""
_LINES: Final = "lines"

A = TypeVar("A")


def fitting_lines(lines: list[A], groups: int) -> list[A]:
    """Return the first lines of one of so many groups that fit into its part of an answer, one at least."""
    return PartBounds({_LINES: LINES_BYTES_MAX // groups}).first(_LINES, lines) or lines[:1]


def short_texts(line: Struct) -> dict[str, Any]:
    """Return the fields of a line, its texts no longer than a title: a peer's have any length."""
    fields = structs.asdict(line)
    return {name: short_text(value) if isinstance(value, str) else value for name, value in fields.items()}
