"""Writes answers to standard output in the form that was asked for, and words to standard error.

Never words a result: views do. Never puts a word on standard output beside JSON.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from daemon.cli.look import Look, look_here
from daemon.cli.text import shown
from daemon.cli.when import http_date

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from daemon.cli.client import Answer

HUMAN: Final = "human"
PLAIN: Final = "plain"
JSON: Final = "json"
JSONL: Final = "jsonl"


class Output:
    """How this command was asked to answer."""

    __slots__ = ("coloured", "form")

    def __init__(self) -> None:
        self.form = HUMAN
        self.coloured: bool | None = None

    @property
    def for_people(self) -> bool:
        return self.form == HUMAN

    def look(self, answer: Answer | None = None) -> Look:
        return look_here(self.coloured, http_date(answer.date) if answer else None)

    def show(
        self,
        answer: Answer,
        view: Callable[[Any, Look], Iterable[str]],
        rows: Callable[[Any], Iterable[Sequence[object]]],
    ) -> None:
        """Write an answer: its JSON as it came, its plain rows, or the view of it."""
        if self.form == JSON:
            write_json(answer.json)
        elif self.form == JSONL:
            for one in answer.json if isinstance(answer.json, list) else [answer.json]:
                write_json(one, indent=None)
        elif self.form == PLAIN:
            write_lines(map(plain_line, rows(answer.json)))
        else:
            write_lines(view(answer.json, self.look(answer)))

    def say(self, words: str) -> None:
        """Tell a person something that is not the answer itself."""
        if self.for_people:
            print(shown(words), file=sys.stderr)


def write_lines(lines: Iterable[str]) -> None:
    """Write lines that are already escaped."""
    sys.stdout.write("".join([f"{line}\n" for line in lines]))


def write_json(value: object, indent: int | None = 2) -> None:
    """Write JSON, pretty on a terminal, as ASCII: what could move a cursor is escaped by it."""
    sys.stdout.write(json.dumps(value, indent=indent if sys.stdout.isatty() else None) + "\n")


def plain_line(row: Sequence[object]) -> str:
    """Join cells by tabs; escaped, so that a cell holds neither tab nor line end."""
    return "\t".join([plain_cell(cell) for cell in row])


def plain_cell(cell: object) -> str:
    """Write one value for a script: nothing for None, `true` and `false`, lists with commas."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, list):
        return ",".join(map(shown, cell))
    if isinstance(cell, dict):
        return json.dumps(cell)
    return shown(cell)
