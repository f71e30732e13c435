"""Tasks: add, list, show, edit, done; at the top level, all but edit.

Never checks a value that the daemon checks.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from daemon.cli import client
from daemon.cli.client import Answer, quoted
from daemon.cli.grammar import command, group, joined, pass_output
from daemon.cli.output import HUMAN, PLAIN
from daemon.cli.several import each
from daemon.cli.short import SHORT_MIN
from daemon.cli.views.origins import origin_lines, origin_rows
from daemon.cli.views.tasks import in_order, task_line, task_list, task_page, task_row, task_rows
from daemon.cli.views.values import STATUS_STYLES
from daemon.cli.when import day_words
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.output import Output
    from daemon.cli.shapes import Task

_NOTHING = "none"
_ID_DIGITS = "0123456789abcdef"


def _value_options(run: Callable[..., object]) -> Callable[..., object]:
    for option in reversed(
        (
            click.option("--status", metavar="STATUS", help=", ".join(STATUS_STYLES) + "."),
            click.option("--reason", metavar="TEXT", help="Why; BLOCKED and ON HOLD need one."),
            click.option("--priority", metavar="P", help="P0 (now) to P3 (some day)."),
            click.option("--due", metavar="DATE", help="friday, in 2 weeks, 15 March, YYYY-MM-DD."),
            click.option("--estimate", metavar="TIME", help="How long it takes: 90, 2h, 1h30."),
            click.option(
                "--label", "labels", multiple=True, metavar="NAME", help="A label; may be given again."
            ),
            click.option("--category", metavar="NAME", help="A category."),
            click.option("--language", metavar="CODE", help="The language it is written in, such as de."),
        )
    ):
        run = option(run)
    return run


def _values(given: dict[str, Any]) -> dict[str, Any]:
    """Read the options into a request: absent ones left out, `none` as null."""
    values = {key: value for key, value in given.items() if value is not None and value != ()}
    if "estimate" in values:
        values["estimate_minutes"] = values.pop("estimate")
    if "remove_labels" in values:
        values["remove_labels"] = list(values["remove_labels"])
    if "labels" in values:
        values["labels"] = [label for label in values["labels"] if label != _NOTHING]
    for key in ("status", "priority"):
        if key in values:
            values[key] = values[key].upper()
    return {key: None if value == _NOTHING else value for key, value in values.items()}


def _line(verb: str) -> Callable[[Task, Look], Iterator[str]]:
    return lambda task, look: task_line(verb, task, look)


def _tell_due(output: Output, answer: Answer, given: dict[str, Any]) -> None:
    """Say how the words for a day were read, and that a day has passed."""
    day = answer.json.get("due")
    if not given.get("due") or not day:
        return
    read = day_words(day, output.look(answer).now_s)
    if read.is_past:
        output.say(_("Due {day}: that day has passed.").format(day=read.words))
    elif given["due"].strip() != day:
        output.say(_("Due {day}.").format(day=read.words))


@command("add")
@click.argument("title", nargs=-1, required=True)
@_value_options
@pass_output
def add_command(output: Output, title: tuple[str, ...], **given: Any) -> None:
    """Add a task.

    The title needs no quotes: placet add Call the landlord --due friday
    """
    answer = client.post("/v1/tasks", {"title": joined(title, "a title"), **_values(given)})
    output.show(answer, _line(_("Added")), task_row)
    _tell_due(output, answer, given)


@command("list")
@click.option("--all", "everything", is_flag=True, help="Also those done and rejected.")
@click.option("--removed", is_flag=True, help="The removed ones.")
@click.option("--label", metavar="NAME", help="Those with this label; `none`: those without.")
@click.option("--category", metavar="NAME", help="Those of this category; `none`: those without.")
@click.option("--status", metavar="STATUS", help="Those of this status, or of several: open,blocked.")
@click.option("--priority", metavar="P", help="Those of this priority, or of several: P0,P1.")
@click.option("--due-before", metavar="DATE", help="Those due before this day.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most so many, the most pressing.")
@pass_output
def list_command(
    output: Output, everything: bool, removed: bool, limit: int | None, **asked: str | None
) -> None:
    """List the open tasks, the most pressing first.

    With --plain: id, status, priority, due, title, labels, ticked/items.
    """
    # A list shows a line of each; JSON is for programs, which get everything.
    path = "/v1/task-lines" if output.form in (HUMAN, PLAIN) else "/v1/tasks"
    answer = client.get_pages(path, {"all": everything, "removed": removed, **asked})
    if limit is not None and len(answer.json) > limit:
        answer = Answer(in_order(answer.json)[:limit], answer.date)
    output.show(answer, task_list, task_rows)
    if not answer.json:
        output.say(_nothing_listed(removed, narrowed=any(asked.values())))


def _nothing_listed(removed: bool, *, narrowed: bool) -> str:
    if narrowed:
        return _("No task is all of that.")
    return _("Nothing removed.") if removed else _("No open tasks. Add one: placet add TITLE")


@command("show")
@click.argument("task", nargs=-1, required=True)
@click.option("--provenance", is_flag=True, help="Who wrote each value, and the statuses so far.")
@pass_output
def show_command(output: Output, task: tuple[str, ...], provenance: bool) -> None:
    """Show a task with its checklists, notes and report, and what of it others wrote.

    TASK is the beginning of an id, or part of the title. With --plain --provenance: entity, field, author,
    time, device, proposal, imported from.
    """
    answer = client.get(f"/v1/tasks/{quoted(joined(task, 'a task'))}", {"provenance": True})
    open_items = _open_items(answer.json) if output.for_people else 0
    output.show(
        answer,
        lambda shown, look: chain(
            task_page(shown, open_items, look), origin_lines(shown, look) if provenance else ()
        ),
        origin_rows if provenance else task_row,
    )


def _open_items(task: Task) -> int:
    """Count the proposals that wait; a task without an agent has none."""
    if not task.get("agent_id"):
        return 0
    return len(client.get("/v1/pending", {"task": task.get("id", "")}).json or ())


def _each(output: Output, verb: str, words: tuple[str, ...], ask: Callable[[str], Answer]) -> int:
    """Do the same to one task or to several, each in a request and a commit of its own."""
    joined(words, "a task")
    return each(output, _tasks_meant(words), ask, _lines(verb), task_rows)


def _tasks_meant(words: tuple[str, ...]) -> Sequence[str]:
    """Tell several tasks from one whose title was written without quotes.

    Quoted titles are several, and so are words that all look like ids. Other words are one title.
    """
    if len(words) > 1 and (any(" " in word.strip() for word in words) or all(map(_is_like_id, words))):
        return words
    return (" ".join(words),)


def _is_like_id(word: str) -> bool:
    return len(word) >= SHORT_MIN and all(letter in _ID_DIGITS for letter in word.lower())


def _lines(verb: str) -> Callable[[Sequence[Task], Look], Iterator[str]]:
    return lambda tasks, look: (line for task in tasks for line in task_line(verb, task, look))


@command("done")
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...")
@pass_output
def done_command(output: Output, tasks: tuple[str, ...]) -> int:
    """Mark a task as done, or several: by ids, or by titles in quotes."""
    return _each(output, _("Done"), tasks, lambda ref: client.post(f"/v1/tasks/{quoted(ref)}/done", {}))


@command("edit")
@click.argument("task")
@click.option("--title", metavar="TEXT", help="The new title.")
@_value_options
@click.option(
    "--remove-label",
    "remove_labels",
    multiple=True,
    metavar="NAME",
    help="Take a label off; may be given again.",
)
@pass_output
def edit_command(output: Output, task: str, **given: Any) -> None:
    """Change a task; `none` empties a value: --due none, --label none."""
    values = _values(given)
    if values.get("labels"):
        values["add_labels"] = values.pop("labels")
    if not values:
        raise click.UsageError(_("nothing to change was given"), click.get_current_context())
    answer = client.send("PATCH", f"/v1/tasks/{quoted(task)}", values)
    output.show(answer, _line(_("Changed")), task_row)
    _tell_due(output, answer, given)


@command("remove")
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...")
@pass_output
def remove_command(output: Output, tasks: tuple[str, ...]) -> int:
    """Take tasks out of sight, with all that belongs to them; `restore` brings them back."""
    return _each(
        output, _("Removed"), tasks, lambda ref: client.send("DELETE", f"/v1/tasks/{quoted(ref)}", {})
    )


@command("restore")
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...")
@pass_output
def restore_command(output: Output, tasks: tuple[str, ...]) -> int:
    """Bring removed tasks back, with what belonged to them."""
    return _each(
        output, _("Restored"), tasks, lambda ref: client.post(f"/v1/tasks/{quoted(ref)}/restore", {})
    )


@group("task")
def task_command() -> None:
    """Tasks: add, list, show, edit, done, remove, restore."""


for _verb in (
    add_command,
    list_command,
    show_command,
    edit_command,
    done_command,
    remove_command,
    restore_command,
):
    task_command.add_command(_verb)
