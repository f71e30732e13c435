"""Commands on categories: add, list, edit, remove, restore.

Never checks a colour, a name or a language: the daemon does.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.api import client
from daemon.cli.api.client import ApiAnswer, percent_encode
from daemon.cli.framework.batch import run_for_each
from daemon.cli.framework.declaration import group, joined_words, pass_output
from daemon.cli.views.journal.labels import category_list, category_rows, change_done_line
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output

_NOTHING = "none"


def _one_row(category: Any) -> Iterator[Any]:
    return category_rows([category])


def _deed_view(verb: str) -> Callable[[Any, Display], Iterator[str]]:
    return lambda category, display: change_done_line(verb, [category], display)


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
def add(output: Output, name: tuple[str, ...], **fields: Any) -> None:
    """Add a category. A new name that you give to a task makes one too."""
    body = {key: value for key, value in fields.items() if value}
    answer = client.post("/v1/categories", {"name": joined_words(name, "a name"), **body})
    output.write_answer(answer, _deed_view(_("Added")), _one_row)


@category_command.command("list")
@click.option("--removed", is_flag=True, help="The removed ones, to restore them.")
@pass_output
def list_categories(output: Output, removed: bool) -> None:
    """List the categories. With --plain: id, name, color, language, corrections."""
    answer = client.get("/v1/categories", {"removed": removed})
    output.write_answer(answer, category_list, category_rows)
    if not answer.json:
        none = _("No categories. Add one: placet category add NAME")
        output.write_remark(_("Nothing removed.") if removed else none)


@category_command.command("edit")
@click.argument("category")
@click.option("--name", metavar="TEXT", help="The new name; it changes on every task.")
@_value_options
@pass_output
def edit(output: Output, category: str, **fields: Any) -> None:
    """Change a category; `none` empties a value. Corrections replace those that were there."""
    body = {
        key: None if value in (_NOTHING, (_NOTHING,)) else value for key, value in fields.items() if value
    }
    if not body:
        raise click.UsageError(_("nothing to change was given"), click.get_current_context())
    answer = client.send_once("PATCH", f"/v1/categories/{percent_encode(category)}", body)
    output.write_answer(answer, _deed_view(_("Changed")), _one_row)


@category_command.command("remove")
@click.argument("categories", nargs=-1, required=True, metavar="CATEGORY...")
@pass_output
def remove(output: Output, categories: tuple[str, ...]) -> int:
    """Remove categories, also from their tasks; `restore` brings them back."""
    return run_for_each(output, categories, _remove, partial(change_done_line, _("Removed")), category_rows)


def _remove(category: str) -> ApiAnswer:
    return client.send_once("DELETE", f"/v1/categories/{percent_encode(category)}", {})


@category_command.command("restore")
@click.argument("categories", nargs=-1, required=True, metavar="CATEGORY...")
@pass_output
def restore(output: Output, categories: tuple[str, ...]) -> int:
    """Restore removed categories, also on their tasks."""
    return run_for_each(output, categories, _restore, partial(change_done_line, _("Restored")), category_rows)


def _restore(category: str) -> ApiAnswer:
    return client.post(f"/v1/categories/{percent_encode(category)}/restore", {})
