"""Writes answers to standard output in the requested form, and remarks to standard error.

Never words a result: the views do. Never writes a remark to standard output, which may contain JSON.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from daemon.cli.terminal.display import Display, detect_display
from daemon.words.terminal_text import escape
from daemon.words.translation import ngettext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from daemon.cli.api.client import ApiAnswer

HUMAN: Final = "human"
PLAIN: Final = "plain"
JSON: Final = "json"
JSONL: Final = "jsonl"


class Output:
    """The form and the colours that the person requested for this command's answer."""

    __slots__ = ("coloured", "form")

    def __init__(self) -> None:
        self.form = HUMAN
        self.coloured: bool | None = None

    @property
    def is_for_people(self) -> bool:
        return self.form == HUMAN

    def display(self, answer: ApiAnswer | None = None) -> Display:
        return detect_display(self.coloured, answer.now_s if answer else None)

    def write_answer(
        self,
        answer: ApiAnswer,
        view: Callable[[Any, Display], Iterable[str]],
        rows: Callable[[Any], Iterable[Sequence[object]]],
    ) -> None:
        """Write an answer: its JSON as received, its plain rows, or its view."""
        if self.form == JSON:
            write_json(answer.json)
        elif self.form == JSONL:
            for item in answer.json if isinstance(answer.json, list) else [answer.json]:
                write_json(item, indent=None)
        elif self.form == PLAIN:
            write_lines(map(plain_line, rows(answer.json)))
        else:
            write_lines(view(answer.json, self.display(answer)))
        if answer.left_out:
            words = ngettext("{count} more is not shown", "{count} more are not shown", answer.left_out)
            self.write_left_out(words.format(count=answer.left_out))

    def write_left_out(self, words: str) -> None:
        """Say what is left out of an answer, also to a script: what it reads is not the whole."""
        print(escape(words if self.is_for_people else f"placet: {words}"), file=sys.stderr)

    def write_remark(self, words: str) -> None:
        """Show a person something that is not part of the answer."""
        if self.is_for_people:
            print(escape(words), file=sys.stderr)


def write_lines(lines: Iterable[str]) -> None:
    """Write lines that are already escaped."""
    sys.stdout.write("".join([f"{line}\n" for line in lines]))


def write_json(value: object, indent: int | None = 2) -> None:
    """Write JSON as ASCII, so that characters that move the cursor are escaped; indent it on a terminal."""
    sys.stdout.write(json.dumps(value, indent=indent if sys.stdout.isatty() else None) + "\n")


def plain_line(row: Sequence[object]) -> str:
    """Join cells by tabs; they are escaped, so that no cell contains a tab or a line end."""
    return "\t".join([plain_cell(cell) for cell in row])


def plain_cell(cell: object) -> str:
    """Write one value for a script: nothing for None, `true` and `false`, lists with commas."""
    # Most values are texts.
    if isinstance(cell, str):
        return escape(cell)
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, list):
        return ",".join(map(escape, cell))
    if isinstance(cell, dict):
        return json.dumps(cell)
    return escape(cell)


def key_value_rows(answer: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Return the plain rows of any object: names and values, one per line."""
    return iter(answer.items())
