"""Commands on links between tasks: add, list, remove.

Never checks which links are allowed: the daemon does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli.api import client
from daemon.cli.api.client import percent_encode
from daemon.cli.framework.declaration import group, joined_words, pass_output
from daemon.cli.views.journal.links import link_deed_lines, link_list, link_rows
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output

_BACKWARDS: Final = {
    "blocked_by": "blocks",
    "followed_up_by": "follows_up",
    "duplicated_by": "duplicates",
    "fixed_by": "fixes",
}


def _link_request(task: str, kind: str, other: str) -> tuple[str, dict[str, Any]]:
    """Parse "A blocks B", or "B blocked-by A", which means the same."""
    spelled = kind.strip().lower().replace("-", "_").replace(" ", "_")
    if spelled in _BACKWARDS:
        task, spelled, other = other, _BACKWARDS[spelled], task
    return f"/v1/tasks/{percent_encode(task)}/links", {"type": spelled, "to": other}


def _deed_view(verb: str) -> Callable[[Any, Display], Iterator[str]]:
    return lambda link, display: link_deed_lines(verb, link, display)


def _rows(link: Any) -> Iterator[Any]:
    return link_rows([link])


@group("link")
def link_command() -> None:
    """Links between tasks: add, list, remove."""


@link_command.command("add")
@click.argument("task")
@click.argument("kind", metavar="TYPE")
@click.argument("other", nargs=-1, required=True)
@pass_output
def add(output: Output, task: str, kind: str, other: tuple[str, ...]) -> None:
    """Link a task to another, such as: placet link add photos blocks form.

    TYPE is basic, blocks, follows-up, duplicates or fixes; or blocked-by and the like, the other way round.
    """
    path, body = _link_request(task, kind, joined_words(other, "a task"))
    output.write_answer(client.post(path, body), _deed_view(_("Linked")), _rows)


@link_command.command("list")
@click.argument("task", nargs=-1, required=True)
@pass_output
def list_links(output: Output, task: tuple[str, ...]) -> None:
    """List the links of a task, in both directions.

    With --plain: id, type, direction (to or from), other task's id, status, title.
    """
    answer = client.get(f"/v1/tasks/{percent_encode(joined_words(task, 'a task'))}/links")
    output.write_answer(answer, link_list, link_rows)
    if not answer.json:
        output.write_remark(_("No links yet. Add one: placet link add TASK blocks TASK"))


@link_command.command("remove")
@click.argument("words", nargs=-1, required=True, metavar="(ID | TASK TYPE TASK)")
@pass_output
def remove(output: Output, words: tuple[str, ...]) -> None:
    """Remove a link, by its id or by its ends: placet link remove photos blocks form."""
    if len(words) == 1:
        answer = client.send_once("DELETE", f"/v1/links/{percent_encode(words[0])}", {})
    elif len(words) > 2:
        path, body = _link_request(words[0], words[1], joined_words(words[2:], "a task"))
        answer = client.post(f"{path}/remove", body)
    else:
        raise click.UsageError(_("give the link's id, or TASK TYPE TASK"), click.get_current_context())
    output.write_answer(answer, _deed_view(_("Removed")), _rows)
