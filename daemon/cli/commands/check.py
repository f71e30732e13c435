"""Checklist items: add, list, tick, untick, edit, move, archive, remove, restore; and whole checklists.

Never toggles: a tick given twice is one tick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from daemon.cli import client
from daemon.cli.client import quoted
from daemon.cli.grammar import group, joined, pass_output
from daemon.cli.several import each
from daemon.cli.short import shorts
from daemon.cli.text import shown
from daemon.cli.views.tasks import checklist_lines, item_line
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from daemon.cli.client import Answer
    from daemon.cli.look import Look
    from daemon.cli.output import Output
    from daemon.cli.shapes import Checklist, ChecklistItem


def _row(item: ChecklistItem) -> Sequence[object]:
    get = item.get
    return get("id"), bool(get("is_checked")), get("title"), get("checked_by"), get("checked_at")


def _rows(items: Iterable[ChecklistItem]) -> Iterator[Sequence[object]]:
    return map(_row, items)


def _view(items: Sequence[ChecklistItem], look: Look) -> Iterator[str]:
    ids = shorts(items)
    return (item_line(item, ids.get(item.get("id", ""), ""), look) for item in items)


def _one(item: Any, look: Look) -> Iterator[str]:
    return _view([item], look)


@group("check")
def check_command() -> None:
    """Checklist items: add, list, tick, untick, edit, move, archive, remove, restore."""


# -- items --------------------------------------------------------------------------------------------


@check_command.command("add")
@click.argument("task")
@click.argument("title", nargs=-1, required=True)
@click.option("--list", "checklist", metavar="TITLE", help="The checklist, made if need be.")
@pass_output
def add(output: Output, task: str, title: tuple[str, ...], checklist: str | None) -> None:
    """Add an item to a task's checklist."""
    body = {"title": joined(title, "a title")} | ({"checklist": checklist} if checklist else {})
    output.show(client.post(f"/v1/tasks/{quoted(task)}/checklist", body), _one, lambda item: _rows([item]))


@check_command.command("list")
@click.argument("task", nargs=-1, required=True)
@click.option("--archived", is_flag=True, help="The archived items too.")
@click.option("--removed", is_flag=True, help="What was removed, to restore it.")
@pass_output
def list_items(output: Output, task: tuple[str, ...], archived: bool, removed: bool) -> None:
    """List a task's checklists. With --plain: id, ticked, title, by, at, checklist, its id."""
    answer = client.get(f"/v1/tasks/{quoted(joined(task, 'a task'))}/checklists", {"removed": removed})
    everything = archived or removed
    output.show(
        answer,
        lambda lists, look: _checklists_view(lists, everything, look),
        lambda lists: _checklists_rows(lists, everything),
    )
    if not answer.json:
        none = _("No checklist yet. Add an item: placet check add TASK TITLE")
        output.say(_("Nothing removed.") if removed else none)


def _checklists_rows(checklists: Iterable[Checklist], everything: bool) -> Iterator[Sequence[object]]:
    for checklist in checklists:
        for item in checklist.get("items") or ():
            if everything or not item.get("is_archived"):
                yield *_row(item), checklist.get("title"), checklist.get("id")


def _checklists_view(checklists: Sequence[Checklist], everything: bool, look: Look) -> Iterator[str]:
    ids = shorts(checklists)
    for at, checklist in enumerate(checklists):
        short = ids.get(checklist.get("id", ""), "")
        yield from list(checklist_lines(checklist, look, short=short, everything=everything))[not at :]


def _change(output: Output, items: tuple[str, ...], ask: Callable[[str], Answer]) -> int:
    return each(output, items, ask, _view, _rows)


def _item(ref: str) -> str:
    return f"/v1/checklist-items/{quoted(ref)}"


def _patched(output: Output, items: tuple[str, ...], **fields: object) -> int:
    return _change(output, items, lambda ref: client.send("PATCH", _item(ref), fields))


@check_command.command("tick")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@pass_output
def tick(output: Output, items: tuple[str, ...]) -> int:
    """Tick items off."""
    return _patched(output, items, is_checked=True)


@check_command.command("untick")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@pass_output
def untick(output: Output, items: tuple[str, ...]) -> int:
    """Take ticks back."""
    return _patched(output, items, is_checked=False)


@check_command.command("archive")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@click.option("--undo", is_flag=True, help="Take them out of the archive.")
@pass_output
def archive(output: Output, items: tuple[str, ...], undo: bool) -> int:
    """Put items away: they count no more, and `check list --archived` shows them."""
    return _patched(output, items, is_archived=not undo)


@check_command.command("edit")
@click.argument("item")
@click.argument("title", nargs=-1, required=True)
@pass_output
def edit(output: Output, item: str, title: tuple[str, ...]) -> int:
    """Reword an item."""
    return _patched(output, (item,), title=joined(title, "a title"))


def _where(what: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    def options(run: Callable[..., object]) -> Callable[..., object]:
        for option in (
            click.option("--last", is_flag=True, help="At the end."),
            click.option("--first", is_flag=True, help="At the beginning."),
            click.option("--after", metavar=what, help="After this one."),
            click.option("--before", metavar=what, help="Before this one."),
        ):
            run = option(run)
        return run

    return options


def _spot(given: dict[str, Any]) -> dict[str, Any]:
    spot = {key: value for key, value in given.items() if value}
    places = [key for key in spot if key != "checklist"]
    if len(places) > 1 or not spot:
        needs = _("give one of --before, --after, --first, --last")
        raise click.UsageError(needs, click.get_current_context())
    return spot


@check_command.command("move")
@click.argument("item")
@_where("ITEM")
@click.option("--list", "checklist", metavar="LIST", help="Into this checklist, by title or id.")
@pass_output
def move(output: Output, item: str, **given: Any) -> int:
    """Put an item elsewhere, also into another checklist of its task."""
    return _change(output, (item,), lambda ref: client.post(f"{_item(ref)}/move", _spot(given)))


@check_command.command("remove")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@pass_output
def remove(output: Output, items: tuple[str, ...]) -> int:
    """Take items out of sight; `check restore` brings them back."""
    return _change(output, items, lambda ref: client.send("DELETE", _item(ref), {}))


@check_command.command("restore")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@pass_output
def restore(output: Output, items: tuple[str, ...]) -> int:
    """Bring removed items back; `check list --removed` names them."""
    return _change(output, items, lambda ref: client.post(f"{_item(ref)}/restore", {}))


# -- whole checklists ---------------------------------------------------------------------------------


def _list_rows(lists: Iterable[Checklist]) -> Iterator[Sequence[object]]:
    return ((one.get("id"), one.get("title"), len(one.get("items") or ())) for one in lists)


def _told(deed: str) -> Callable[[Any, Look], Iterator[str]]:
    def view(lists: Sequence[Checklist], look: Look) -> Iterator[str]:
        ids = shorts(lists)
        sign = look.paint(look.sign("✓"), "green")
        for one in lists:
            short = look.paint(shown(ids.get(one.get("id", ""), "")), "cyan")
            yield f"{sign} {deed} {short}  {shown(one.get('title') or '')}"

    return view


def _on_list(output: Output, deed: str, ref: str, ask: Callable[[str], Answer]) -> int:
    return each(output, (ref,), lambda one: ask(f"/v1/checklists/{quoted(one)}"), _told(deed), _list_rows)


@check_command.command("new-list")
@click.argument("task")
@click.argument("title", nargs=-1, required=True)
@pass_output
def new_list(output: Output, task: str, title: tuple[str, ...]) -> None:
    """Make a checklist. With --plain: id, title, number of items."""
    body = {"title": joined(title, "a title")}
    answer = client.post(f"/v1/tasks/{quoted(task)}/checklists", body)
    output.show(
        answer, lambda one, look: _told(_("Made checklist"))([one], look), lambda one: _list_rows([one])
    )


@check_command.command("rename-list")
@click.argument("checklist", metavar="LIST")
@click.argument("title", nargs=-1, required=True)
@pass_output
def rename_list(output: Output, checklist: str, title: tuple[str, ...]) -> int:
    """Rename a checklist; `check list` shows its id."""
    body = {"title": joined(title, "a title")}
    return _on_list(output, _("Renamed checklist"), checklist, lambda path: client.send("PATCH", path, body))


@check_command.command("move-list")
@click.argument("checklist", metavar="LIST")
@_where("LIST")
@pass_output
def move_list(output: Output, checklist: str, **given: Any) -> int:
    """Put a checklist elsewhere among those of its task."""
    return _on_list(
        output, _("Moved checklist"), checklist, lambda path: client.post(f"{path}/move", _spot(given))
    )


@check_command.command("remove-list")
@click.argument("checklist", metavar="LIST")
@pass_output
def remove_list(output: Output, checklist: str) -> int:
    """Take a checklist out of sight, with its items."""
    return _on_list(output, _("Removed checklist"), checklist, lambda path: client.send("DELETE", path, {}))


@check_command.command("restore-list")
@click.argument("checklist", metavar="LIST")
@pass_output
def restore_list(output: Output, checklist: str) -> int:
    """Bring a removed checklist back, with its items."""
    return _on_list(
        output, _("Restored checklist"), checklist, lambda path: client.post(f"{path}/restore", {})
    )
