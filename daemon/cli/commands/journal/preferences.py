"""Commands on preferences: list, add, edit, remove.

Never makes a rule of a line: agents read it, and people decide as ever.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.api import client
from daemon.cli.api.client import ApiAnswer, percent_encode
from daemon.cli.framework.batch import run_for_each
from daemon.cli.framework.declaration import group, joined_words, pass_output
from daemon.cli.views.journal.preferences import preference_lines, preference_list, preference_rows
from daemon.words.translation import _

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output

_ALL = "all"


@group("preferences")
def preferences_command() -> None:
    """Preferences that agents read beside each task: list, add, edit, remove."""


@preferences_command.command("list")
@pass_output
def list_preferences(output: Output) -> None:
    """List the preferences. With --plain: id, category, text."""
    answer = client.get("/v1/preferences")
    output.write_answer(answer, preference_list, preference_rows)
    if not answer.json:
        output.write_remark(_("No preferences. Add one: placet preferences add TEXT"))


@preferences_command.command("add")
@click.argument("text", nargs=-1, required=True)
@click.option("--category", metavar="NAME", help="For tasks of this category; else for all.")
@pass_output
def add(output: Output, text: tuple[str, ...], category: str | None) -> None:
    """Add a preference. `placet reject --remember` makes one of your reason."""
    body: dict[str, Any] = {"text": joined_words(text, "the words")}
    answer = client.post("/v1/preferences", body | ({"category": category} if category else {}))
    _write(output, answer, _("Added"))


@preferences_command.command("edit")
@click.argument("preference")
@click.option("--text", metavar="TEXT", help="The new words.")
@click.option("--category", metavar="NAME", help="The category that it is for; `all` for all tasks.")
@pass_output
def edit(output: Output, preference: str, text: str | None, category: str | None) -> None:
    """Change a preference, named by its id."""
    body: dict[str, Any] = {} if text is None else {"text": text}
    body |= {} if category is None else {"category": None if category == _ALL else category}
    if not body:
        raise click.UsageError(_("nothing to change was given"), click.get_current_context())
    answer = client.send_once("PATCH", f"/v1/preferences/{percent_encode(preference)}", body)
    _write(output, answer, _("Changed"))


@preferences_command.command("remove")
@click.argument("preferences", nargs=-1, required=True, metavar="PREFERENCE...")
@pass_output
def remove(output: Output, preferences: tuple[str, ...]) -> int:
    """Remove preferences: agents do not read them any more."""
    return run_for_each(
        output, preferences, _remove, partial(preference_lines, _("Removed")), preference_rows
    )


def _remove(preference: str) -> ApiAnswer:
    return client.send_once("DELETE", f"/v1/preferences/{percent_encode(preference)}", {})


def _write(output: Output, answer: ApiAnswer, verb: str) -> None:
    output.write_answer(
        answer,
        lambda line, display: preference_lines(verb, [line], display),
        lambda line: preference_rows([line]),
    )
