"""The command that sets one value of a task in one line: its status.

Never checks whether a status needs a reason: the daemon does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.api import client
from daemon.cli.api.client import percent_encode
from daemon.cli.framework.declaration import group, joined_words, pass_output
from daemon.cli.terminal.painted import STATUS_STYLES
from daemon.cli.views.journal.tasks import task_line, task_row
from daemon.words.translation import _
from daemon.words.values import status_word

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output


@group("set")
def set_command() -> None:
    """Set a value of a task: status."""


@set_command.command("status")
@click.argument("task")
@click.argument("status", nargs=-1, required=True)
@click.option("--reason", metavar="TEXT", help="Why; BLOCKED and ON HOLD need one.")
@pass_output
def set_status(output: Output, task: str, status: tuple[str, ...], reason: str | None) -> None:
    """Set the status of a task, and why it is so.

    A status may be written in English or in your language, and shortened to any unique beginning.
    """
    body: dict[str, Any] = {"status": _status_named(joined_words(status, "a status"))}
    if reason is not None:
        body["reason"] = reason
    answer = client.send_once("PATCH", f"/v1/tasks/{percent_encode(task)}", body)
    output.write_answer(answer, lambda changed, display: task_line(_("Changed"), changed, display), task_row)


def _status_named(text: str) -> str:
    """Return the status that a person means. Words that mean none, or several, are a usage error."""
    typed = _plain(text)
    words_by_status = {status: (_plain(status), _plain(status_word(status))) for status in STATUS_STYLES}
    matches = {status for status, words in words_by_status.items() if typed in words} or {
        status for status, words in words_by_status.items() if any(word.startswith(typed) for word in words)
    }
    if len(matches) != 1 or not typed:
        names = ", ".join(STATUS_STYLES)
        raise click.UsageError(
            _("no status is called {status}: one of {names}").format(status=text, names=names),
            click.get_current_context(),
        )
    return matches.pop()


def _plain(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text).strip().casefold()
