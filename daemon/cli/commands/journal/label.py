"""Commands on labels: add, list, edit, remove, restore.

Never checks a colour or a name: the daemon does.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.api import client
from daemon.cli.api.client import ApiAnswer, percent_encode
from daemon.cli.framework.batch import run_for_each
from daemon.cli.framework.declaration import group, joined_words, pass_output
from daemon.cli.views.journal.labels import change_done_line, label_list, label_rows
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output

_NOTHING = "none"


def _one_row(label: Any) -> Iterator[Any]:
    return label_rows([label])


def _deed_view(verb: str) -> Callable[[Any, Display], Iterator[str]]:
    return lambda label, display: change_done_line(verb, [label], display)


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
def add(output: Output, name: tuple[str, ...], categories: tuple[str, ...], **options: str | None) -> None:
    """Add a label. A new name that you give to a task makes one too."""
    body: dict[str, Any] = {key: value for key, value in options.items() if value is not None}
    body |= {"categories": list(categories)} if categories else {}
    answer = client.post("/v1/labels", {"name": joined_words(name, "a name"), **body})
    output.write_answer(answer, _deed_view(_("Added")), _one_row)


@label_command.command("list")
@click.option("--task", metavar="TASK", help="Only labels that this task may have, and does not have.")
@click.option("--removed", is_flag=True, help="The removed ones, to restore them.")
@pass_output
def list_labels(output: Output, task: str | None, removed: bool) -> None:
    """List the labels. With --plain: id, name, color, categories, description."""
    answer = client.get("/v1/labels", {"task": task, "removed": removed})
    output.write_answer(answer, label_list, label_rows)
    if not answer.json:
        none = (
            _("No other label is for this task.") if task else _("No labels. Add one: placet label add NAME")
        )
        output.write_remark(_("Nothing removed.") if removed else none)


@label_command.command("edit")
@click.argument("label")
@click.option("--name", metavar="TEXT", help="The new name; it changes on every task.")
@_color_and_words
@click.option(
    "--category", "add_categories", multiple=True, metavar="NAME", help="For tasks of this category too."
)
@click.option(
    "--not-category",
    "remove_categories",
    multiple=True,
    metavar="NAME",
    help="No longer for tasks of this category.",
)
@pass_output
def edit(output: Output, label: str, **fields: Any) -> None:
    """Change a label; `none` empties a value: --color none, --category none (for all)."""
    body = {key: None if value == _NOTHING else value for key, value in fields.items() if value}
    if _NOTHING in fields["add_categories"]:
        body["categories"] = []
        body["add_categories"] = [
            add_category for add_category in fields["add_categories"] if add_category != _NOTHING
        ]
    if not body:
        raise click.UsageError(_("nothing to change was given"), click.get_current_context())
    answer = client.send_once("PATCH", f"/v1/labels/{percent_encode(label)}", body)
    output.write_answer(answer, _deed_view(_("Changed")), _one_row)


@label_command.command("remove")
@click.argument("labels", nargs=-1, required=True, metavar="LABEL...")
@pass_output
def remove(output: Output, labels: tuple[str, ...]) -> int:
    """Remove labels, also from their tasks; `restore` brings them back."""
    return run_for_each(output, labels, _remove, partial(change_done_line, _("Removed")), label_rows)


def _remove(label: str) -> ApiAnswer:
    return client.send_once("DELETE", f"/v1/labels/{percent_encode(label)}", {})


@label_command.command("restore")
@click.argument("labels", nargs=-1, required=True, metavar="LABEL...")
@pass_output
def restore(output: Output, labels: tuple[str, ...]) -> int:
    """Restore removed labels, also on their tasks."""
    return run_for_each(output, labels, _restore, partial(change_done_line, _("Restored")), label_rows)


def _restore(label: str) -> ApiAnswer:
    return client.post(f"/v1/labels/{percent_encode(label)}/restore", {})
