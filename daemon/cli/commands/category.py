"""Categories: add, list, edit, remove, restore.

Never checks a colour, a name or a language: the daemon does.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from daemon.cli import client
from daemon.cli.client import Answer, quoted
from daemon.cli.grammar import group, joined, pass_output
from daemon.cli.several import each
from daemon.cli.views.labels import category_list, category_rows, named_done
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from daemon.cli.look import Look
    from daemon.cli.output import Output

_NOTHING = "none"


def _one_row(category: Any) -> Iterator[Any]:
    return category_rows([category])


def _done(verb: str) -> Callable[[Any, Look], Iterator[str]]:
    return lambda category, look: named_done(verb, [category], look)


def _value_options(run: Callable[..., object]) -> Callable[..., object]:
    for option in (
        click.option(
            "--correction",
            "correction_examples",
            multiple=True,
            metavar="TEXT",
            help="How a word that is often misheard is written; may be given again.",
        ),
        click.option("--language", "default_language", metavar="CODE", help="The language it is mostly in."),
        click.option("--color", metavar="COLOR", help="A name, such as green, or #rrggbb."),
    ):
        run = option(run)
    return run


@group("category")
def category_command() -> None:
    """Categories: add, list, edit, remove, restore."""


@category_command.command("add")
@click.argument("name", nargs=-1, required=True)
@_value_options
@pass_output
def add(output: Output, name: tuple[str, ...], **given: Any) -> None:
    """Add a category; on a task, a new name makes one too."""
    body = {key: value for key, value in given.items() if value}
    answer = client.post("/v1/categories", {"name": joined(name, "a name"), **body})
    output.show(answer, _done(_("Added")), _one_row)


@category_command.command("list")
@click.option("--removed", is_flag=True, help="The removed ones, to restore them.")
@pass_output
def list_categories(output: Output, removed: bool) -> None:
    """List the categories. With --plain: id, name, color, language, corrections."""
    answer = client.get("/v1/categories", {"removed": removed})
    output.show(answer, category_list, category_rows)
    if not answer.json:
        none = _("No categories. Add one: placet category add NAME")
        output.say(_("Nothing removed.") if removed else none)


@category_command.command("edit")
@click.argument("category")
@click.option("--name", metavar="TEXT", help="The new name; it changes on every task.")
@_value_options
@pass_output
def edit(output: Output, category: str, **given: Any) -> None:
    """Change a category; `none` empties a value. Corrections replace those that were there."""
    body = {key: None if value in (_NOTHING, (_NOTHING,)) else value for key, value in given.items() if value}
    if not body:
        raise click.UsageError(_("nothing to change was given"), click.get_current_context())
    answer = client.send("PATCH", f"/v1/categories/{quoted(category)}", body)
    output.show(answer, _done(_("Changed")), _one_row)


@category_command.command("remove")
@click.argument("categories", nargs=-1, required=True, metavar="CATEGORY...")
@pass_output
def remove(output: Output, categories: tuple[str, ...]) -> int:
    """Take categories out of sight, also on their tasks; `restore` brings them back."""
    return each(output, categories, _remove, partial(named_done, _("Removed")), category_rows)


def _remove(category: str) -> Answer:
    return client.send("DELETE", f"/v1/categories/{quoted(category)}", {})


@category_command.command("restore")
@click.argument("categories", nargs=-1, required=True, metavar="CATEGORY...")
@pass_output
def restore(output: Output, categories: tuple[str, ...]) -> int:
    """Bring removed categories back, also on their tasks."""
    return each(output, categories, _restore, partial(named_done, _("Restored")), category_rows)


def _restore(category: str) -> Answer:
    return client.post(f"/v1/categories/{quoted(category)}/restore", {})
