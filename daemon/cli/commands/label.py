"""Labels: add, list, edit, remove, restore.

Never checks a colour or a name: the daemon does.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from daemon.cli import client
from daemon.cli.client import Answer, quoted
from daemon.cli.grammar import group, joined, pass_output
from daemon.cli.several import each
from daemon.cli.views.labels import label_list, label_rows, named_done
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from daemon.cli.look import Look
    from daemon.cli.output import Output

_NOTHING = "none"


def _one_row(label: Any) -> Iterator[Any]:
    return label_rows([label])


def _done(verb: str) -> Callable[[Any, Look], Iterator[str]]:
    return lambda label, look: named_done(verb, [label], look)


def _color_and_words(run: Callable[..., object]) -> Callable[..., object]:
    run = click.option("--description", metavar="TEXT", help="What it is for.")(run)
    return click.option("--color", metavar="COLOR", help="A name, such as green, or #rrggbb.")(run)


@group("label")
def label_command() -> None:
    """Labels: add, list, edit, remove, restore."""


@label_command.command("add")
@click.argument("name", nargs=-1, required=True)
@_color_and_words
@click.option(
    "--category", "categories", multiple=True, metavar="NAME", help="Only for tasks of this category."
)
@pass_output
def add(output: Output, name: tuple[str, ...], categories: tuple[str, ...], **given: str | None) -> None:
    """Add a label; on a task, a new name makes one too."""
    body: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    body |= {"categories": list(categories)} if categories else {}
    answer = client.post("/v1/labels", {"name": joined(name, "a name"), **body})
    output.show(answer, _done(_("Added")), _one_row)


@label_command.command("list")
@click.option("--task", metavar="TASK", help="Those that this task may be given, and has not.")
@click.option("--removed", is_flag=True, help="The removed ones, to restore them.")
@pass_output
def list_labels(output: Output, task: str | None, removed: bool) -> None:
    """List the labels. With --plain: id, name, color, categories, description."""
    answer = client.get("/v1/labels", {"task": task, "removed": removed})
    output.show(answer, label_list, label_rows)
    if not answer.json:
        none = (
            _("No other label is for this task.") if task else _("No labels. Add one: placet label add NAME")
        )
        output.say(_("Nothing removed.") if removed else none)


@label_command.command("edit")
@click.argument("label")
@click.option("--name", metavar="TEXT", help="The new name; it changes on every task.")
@_color_and_words
@click.option(
    "--category", "add_categories", multiple=True, metavar="NAME", help="For tasks of this category too."
)
@click.option(
    "--not-category", "remove_categories", multiple=True, metavar="NAME", help="Not for these any more."
)
@pass_output
def edit(output: Output, label: str, **given: Any) -> None:
    """Change a label; `none` empties a value: --color none, --category none (for all)."""
    body = {key: None if value == _NOTHING else value for key, value in given.items() if value}
    if _NOTHING in given["add_categories"]:
        body["categories"] = []
        body["add_categories"] = [one for one in given["add_categories"] if one != _NOTHING]
    if not body:
        raise click.UsageError(_("nothing to change was given"), click.get_current_context())
    answer = client.send("PATCH", f"/v1/labels/{quoted(label)}", body)
    output.show(answer, _done(_("Changed")), _one_row)


@label_command.command("remove")
@click.argument("labels", nargs=-1, required=True, metavar="LABEL...")
@pass_output
def remove(output: Output, labels: tuple[str, ...]) -> int:
    """Take labels out of sight, also on their tasks; `restore` brings them back."""
    return each(output, labels, _remove, partial(named_done, _("Removed")), label_rows)


def _remove(label: str) -> Answer:
    return client.send("DELETE", f"/v1/labels/{quoted(label)}", {})


@label_command.command("restore")
@click.argument("labels", nargs=-1, required=True, metavar="LABEL...")
@pass_output
def restore(output: Output, labels: tuple[str, ...]) -> int:
    """Bring removed labels back, also on their tasks."""
    return each(output, labels, _restore, partial(named_done, _("Restored")), label_rows)


def _restore(label: str) -> Answer:
    return client.post(f"/v1/labels/{quoted(label)}/restore", {})
