"""Notes: text added to a task.

Never opens an editor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from daemon.cli import client
from daemon.cli.client import quoted
from daemon.cli.grammar import command, pass_output
from daemon.cli.short import shorts
from daemon.cli.stdin import piped
from daemon.cli.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.output import Output


def _row(entry: dict[str, Any]) -> Iterator[Sequence[object]]:
    yield entry.get("id"), entry.get("happened_at"), entry.get("author"), entry.get("text")


def _view(entry: dict[str, Any], look: Look) -> Iterator[str]:
    short = shorts([entry]).get(str(entry.get("id")), "")
    yield f"{look.paint(look.sign('✓'), 'green')} Noted {look.paint(shown(short), 'cyan')}"


@command("note")
@click.argument("task")
@click.argument("text", nargs=-1)
@pass_output
def note_command(output: Output, task: str, text: tuple[str, ...]) -> None:
    """Add a note to a task; without TEXT, or with -, from standard input.

    The text needs no quotes: placet note passport The photos are in the drawer
    """
    words = piped("text") if text in ((), ("-",)) else " ".join(text)
    answer = client.post(f"/v1/tasks/{quoted(task)}/entries", {"text": words})
    output.show(answer, _view, _row)
