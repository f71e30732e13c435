"""What a file that a person gives is: its format by the ending of its name, its text by its bytes.

Never reads a file and never words an error: callers do both. The command line imports this module, so it
imports only what is cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON_LINES: Final = "jsonl"
FORMATS_BY_ENDING: Final[Mapping[str, str]] = {
    ".ics": "icalendar",
    ".jsonl": JSON_LINES,
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "taskwarrior",
    ".txt": "todotxt",
}
ENDINGS_OF_LISTS: Final = ", ".join(
    ending for ending, format_ in FORMATS_BY_ENDING.items() if format_ != JSON_LINES
)
"""The endings of the files that the page imports, for a person and for a browser's dialog."""
FORMATS_KNOWN_BY_NAME: Final = frozenset({"markdown", "todotxt"})
"""The formats whose lists are recognised by their name; tasks of the others have ids of their own."""


class NotUtf8(Exception):
    """A text that is not UTF-8; `line` is the first line that is not, counted from 1."""

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(line)


def format_by_ending(name: str) -> str | None:
    """Return the format of a file by its name; None if its ending says nothing."""
    base = name.replace("\\", "/").rpartition("/")[2]
    stem, dot, ending = base.rpartition(".")
    return FORMATS_BY_ENDING.get(f".{ending.lower()}") if stem and dot else None


def decode_utf8(raw: bytes) -> str:
    """Decode UTF-8, with or without a byte order mark. Raises NotUtf8."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotUtf8(raw.count(b"\n", 0, error.start) + 1) from error
