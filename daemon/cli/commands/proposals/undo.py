"""The command that undoes: a change of one's own by its name, or a confirmation by its id.

Never guesses which of the two is meant: a change's name has a hyphen, and an id has none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli.api import client
from daemon.cli.api.command_error import EXIT_CONFLICT, EXIT_DONE, EXIT_PARTLY
from daemon.cli.commands.proposals.decide import DECISION_TIMEOUT_S, decide_items, exit_status, reason_option
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.terminal.keys import is_interactive
from daemon.cli.terminal.output import write_lines
from daemon.cli.views.proposals.undo import undo_lines, undo_rows, view_lines
from daemon.words.translation import _, ngettext

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output

_CHANGE: Final = re.compile(r"([0-9]+\.\.)?[0-9]+-[0-9A-Fa-f]+")


@command("undo")
@click.argument("items", nargs=-1, metavar="[CHANGE|ITEM]...")
@click.option("--task", metavar="TASK", help="The last change of a task and of what belongs to it.")
@click.option("--yes", is_flag=True, help="Do not ask, at a terminal, about a change that was not named.")
@reason_option
@pass_output
def undo_command(
    output: Output, items: tuple[str, ...], task: str | None, yes: bool, reason: str | None
) -> int:
    """Undo your last change on this device, or changes by their names, or confirmations by their ids.

    What a change replaced is written back. What somebody changed since is left, and named. `placet log` shows
    the name of each change. An undo is a change too: undo it, and the change is there again. Of a
    confirmation, what it covered shows again. With --plain: undone or left, kind, entity, title, field,
    before, after, why.
    """
    words = [part for item in items for part in item.split(",") if part.strip()]
    names = [word.strip() for word in words if _CHANGE.fullmatch(word.strip())]
    if items and not names:
        _refuse_task(task)
        return decide_items(output, "undone", items, reason)
    if len(names) < len(words):
        raise click.UsageError(_("name changes or proposals, not both"), click.get_current_context())
    if reason is not None:
        raise click.UsageError(_("--reason is for proposals"), click.get_current_context())
    if names:
        _refuse_task(task)
        return _undo(output, ", ".join(names))
    shown = client.get("/v1/undo", {"task": task})
    if not yes and output.is_for_people and is_interactive():
        write_lines(view_lines(shown.json, output.display(shown)))
        click.confirm(_("Undo this?"), abort=True, err=True)
    return _undo(output, shown.json["change"])


def _refuse_task(task: str | None) -> None:
    if task is not None:
        raise click.UsageError(_("--task stands alone"), click.get_current_context())


def _undo(output: Output, name: str) -> int:
    answer = client.post("/v1/undo", {"change": name, "via": "cli"}, DECISION_TIMEOUT_S)
    output.write_answer(answer, undo_lines, undo_rows)
    return _status(output, answer.json)


def _status(output: Output, undone: dict[str, Any]) -> int:
    """Return the exit status: 0 if all was undone, 8 if some was, 6 if nothing was."""
    more = int(undone.get("written_count") or 0) - len(undone.get("written") or ())
    if more > 0:
        output.write_remark(
            ngettext("{count} more value was put back.", "{count} more values were put back.", more).format(
                count=more
            )
        )
    if undone.get("undo"):
        output.write_remark(_("Take that back: placet undo {change}").format(change=undone["undo"]))
    if undone.get("verdicts"):
        return EXIT_PARTLY if undone.get("left_count") else exit_status(undone["verdicts"])
    if not undone.get("left_count"):
        return EXIT_DONE
    return EXIT_PARTLY if undone.get("undo") else EXIT_CONFLICT
