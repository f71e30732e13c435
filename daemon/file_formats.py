"""The formats of files that Placet reads and writes, a row each: what every place that offers them reads.

Never says how a file is read or written: the folder of that name in `daemon/formats` does. The command line
imports this module, so it imports only what is cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class FileFormat(NamedTuple):
    """A format: what it is called in commands and in the API, what people call it, and how its files end.

    `is_journal` is true of the one whose files hold a whole journal; each other file is a list of tasks.
    `keeps_ids`: tasks have ids of their own there, which an export gives back. An export of the others
    names the ids of this journal, and their lists are recognised by their names.
    `matches_by_words`: items and notes have no ids there unless Placet exported them.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    is_journal: bool = False
    keeps_ids: bool = False
    matches_by_words: bool = False


JSON_LINES: Final = "jsonl"
FILE_FORMATS: Final = (
    FileFormat("icalendar", "iCalendar", (".ics",), keeps_ids=True),
    FileFormat(JSON_LINES, "JSON lines", (".jsonl",), is_journal=True),
    FileFormat("markdown", "Markdown", (".md", ".markdown"), matches_by_words=True),
    FileFormat("taskwarrior", "Taskwarrior", (".json",), keeps_ids=True),
    FileFormat("todotxt", "todo.txt", (".txt",)),
)


def format_names() -> tuple[str, ...]:
    """Return the names of the formats, each of which is imported and exported."""
    return tuple(row.name for row in FILE_FORMATS)


def list_formats() -> tuple[FileFormat, ...]:
    """Return the formats of lists."""
    return tuple(row for row in FILE_FORMATS if not row.is_journal)


def is_known_by_name(format_: str) -> bool:
    """Say whether lists of a format are recognised by their names."""
    return any(row.name == format_ and not row.keeps_ids for row in list_formats())


def endings(*, lists_only: bool = False) -> str:
    """Return the endings of the files that can be imported, for a person and for a browser's dialog."""
    return ", ".join(
        ending for row in FILE_FORMATS if not (lists_only and row.is_journal) for ending in row.endings
    )


def join_alternatives(words: Iterable[str]) -> str:
    """Join words as alternatives: "a, b or c"."""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def format_by_ending(name: str) -> str | None:
    """Return the format of a file by its name; None if its ending says nothing."""
    base = name.replace("\\", "/").rpartition("/")[2]
    stem, dot, ending = base.rpartition(".")
    formats = {ending: row.name for row in FILE_FORMATS for ending in row.endings}
    return formats.get(f".{ending.lower()}") if stem and dot else None
