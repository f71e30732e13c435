"""Checklist items: add, list, tick, untick.

Never toggles: a tick given twice is one tick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from daemon.cli import client
from daemon.cli.client import Answer, quoted
from daemon.cli.grammar import group, joined, pass_output
from daemon.cli.short import shorts
from daemon.cli.views.tasks import checklist_lines, item_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.output import Output
    from daemon.cli.shapes import Checklist, ChecklistItem


def _row(item: ChecklistItem) -> Sequence[object]:
    get = item.get
    return get("id"), bool(get("is_checked")), get("title"), get("checked_by"), get("checked_at")


def _rows(items: Any) -> Iterator[Sequence[object]]:
    return map(_row, items if isinstance(items, list) else [items])


def _view(items: Any, look: Look) -> Iterator[str]:
    listed: list[ChecklistItem] = items if isinstance(items, list) else [items]
    ids = shorts(listed)
    return (item_line(item, ids.get(item.get("id", ""), ""), look) for item in listed)


@group("check")
def check_command() -> None:
    """Checklist items: add, list, tick, untick."""


@check_command.command("add")
@click.argument("task")
@click.argument("title", nargs=-1, required=True)
@click.option("--list", "checklist", metavar="NAME", help="The checklist, made if need be.")
@pass_output
def add(output: Output, task: str, title: tuple[str, ...], checklist: str | None) -> None:
    """Add an item to a task's checklist."""
    body = {"title": joined(title, "a title")} | ({"checklist": checklist} if checklist else {})
    output.show(client.post(f"/v1/tasks/{quoted(task)}/checklist", body), _view, _rows)


@check_command.command("list")
@click.argument("task", nargs=-1, required=True)
@pass_output
def list_items(output: Output, task: tuple[str, ...]) -> None:
    """List a task's checklists. With --plain: id, ticked, title, by, at, checklist."""
    answer = client.get(f"/v1/tasks/{quoted(joined(task, 'a task'))}")
    checklists: list[Checklist] = answer.json.get("checklists") or []
    output.show(Answer(checklists, answer.date), _checklists_view, _checklists_rows)
    if not checklists:
        output.say("No checklist yet. Add an item: placet check add TASK TITLE")


def _checklists_rows(checklists: Iterable[Checklist]) -> Iterator[Sequence[object]]:
    for checklist in checklists:
        for item in checklist.get("items") or ():
            yield *_row(item), checklist.get("title")


def _checklists_view(checklists: Iterable[Checklist], look: Look) -> Iterator[str]:
    lines = [line for checklist in checklists for line in checklist_lines(checklist, look)]
    return iter(lines[1:])


def _set_ticks(output: Output, items: tuple[str, ...], ticked: bool) -> None:
    body = {"is_checked": ticked}
    answers = [client.send("PATCH", f"/v1/checklist-items/{quoted(item)}", body) for item in items]
    told = answers[0].json if len(answers) == 1 else [answer.json for answer in answers]
    output.show(Answer(told, answers[-1].date), _view, _rows)


@check_command.command("tick")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@pass_output
def tick(output: Output, items: tuple[str, ...]) -> None:
    """Tick items off."""
    _set_ticks(output, items, ticked=True)


@check_command.command("untick")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@pass_output
def untick(output: Output, items: tuple[str, ...]) -> None:
    """Take ticks back."""
    _set_ticks(output, items, ticked=False)
