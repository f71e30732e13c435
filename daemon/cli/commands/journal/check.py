"""Commands on checklists and their items: add, list, tick, untick, edit, move, archive, remove, restore.

Never toggles: ticking an item twice leaves it ticked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from daemon.cli.api import client
from daemon.cli.api.client import percent_encode
from daemon.cli.framework.batch import run_for_each
from daemon.cli.framework.declaration import group, joined_words, pass_output
from daemon.cli.views.journal.tasks import checklist_lines, item_line
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import escape
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from daemon.cli.api.client import ApiAnswer
    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output
    from daemon.shapes.answers import ChecklistItemJson, ChecklistJson


def _row(item: ChecklistItemJson) -> Sequence[object]:
    get = item.get
    return get("id"), bool(get("is_checked")), get("title"), get("checked_by"), get("checked_at")


def _rows(items: Iterable[ChecklistItemJson]) -> Iterator[Sequence[object]]:
    return map(_row, items)


def _view(items: Sequence[ChecklistItemJson], display: Display) -> Iterator[str]:
    ids = short_ids_of(items)
    return (item_line(item, ids.get(item.get("id", ""), ""), display) for item in items)


def _item_view(item: Any, display: Display) -> Iterator[str]:
    return _view([item], display)


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
    body = {"title": joined_words(title, "a title")} | ({"checklist": checklist} if checklist else {})
    output.write_answer(
        client.post(f"/v1/tasks/{percent_encode(task)}/checklist", body),
        _item_view,
        lambda item: _rows([item]),
    )


@check_command.command("list")
@click.argument("task", nargs=-1, required=True)
@click.option("--archived", is_flag=True, help="The archived items too.")
@click.option("--removed", is_flag=True, help="What was removed, to restore it.")
@pass_output
def list_items(output: Output, task: tuple[str, ...], archived: bool, removed: bool) -> None:
    """List a task's checklists. With --plain: id, ticked, title, by, at, checklist, its id."""
    answer = client.get(
        f"/v1/tasks/{percent_encode(joined_words(task, 'a task'))}/checklists", {"removed": removed}
    )
    everything = archived or removed
    output.write_answer(
        answer,
        lambda lists, display: _checklists_view(lists, everything, display),
        lambda lists: _checklists_rows(lists, everything),
    )
    if not answer.json:
        none = _("No checklist yet. Add an item: placet check add TASK TITLE")
        output.write_remark(_("Nothing removed.") if removed else none)


def _checklists_rows(checklists: Iterable[ChecklistJson], everything: bool) -> Iterator[Sequence[object]]:
    for checklist in checklists:
        for item in checklist.get("items") or ():
            if everything or not item.get("is_archived"):
                yield *_row(item), checklist.get("title"), checklist.get("id")


def _checklists_view(
    checklists: Sequence[ChecklistJson], everything: bool, display: Display
) -> Iterator[str]:
    ids = short_ids_of(checklists)
    for index, checklist in enumerate(checklists):
        short = ids.get(checklist.get("id", ""), "")
        yield from list(checklist_lines(checklist, display, short=short, everything=everything))[not index :]


def _change(output: Output, items: tuple[str, ...], ask: Callable[[str], ApiAnswer]) -> int:
    return run_for_each(output, items, ask, _view, _rows)


def _item(ref: str) -> str:
    return f"/v1/checklist-items/{percent_encode(ref)}"


def _patch_items(output: Output, items: tuple[str, ...], **fields: object) -> int:
    return _change(output, items, lambda ref: client.send_once("PATCH", _item(ref), fields))


@check_command.command("tick")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@pass_output
def tick(output: Output, items: tuple[str, ...]) -> int:
    """Tick items off."""
    return _patch_items(output, items, is_checked=True)


@check_command.command("untick")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@pass_output
def untick(output: Output, items: tuple[str, ...]) -> int:
    """Untick items."""
    return _patch_items(output, items, is_checked=False)


@check_command.command("archive")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@click.option("--undo", is_flag=True, help="Bring archived items back.")
@pass_output
def archive(output: Output, items: tuple[str, ...], undo: bool) -> int:
    """Archive items: they no longer count, and `check list --archived` shows them."""
    return _patch_items(output, items, is_archived=not undo)


@check_command.command("edit")
@click.argument("item")
@click.argument("title", nargs=-1, required=True)
@pass_output
def edit(output: Output, item: str, title: tuple[str, ...]) -> int:
    """Reword an item."""
    return _patch_items(output, (item,), title=joined_words(title, "a title"))


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


def _spot(fields: dict[str, Any]) -> dict[str, Any]:
    spot = {key: value for key, value in fields.items() if value}
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
def move(output: Output, item: str, **fields: Any) -> int:
    """Move an item, also into another checklist of its task."""
    return _change(output, (item,), lambda ref: client.post(f"{_item(ref)}/move", _spot(fields)))


@check_command.command("remove")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@pass_output
def remove(output: Output, items: tuple[str, ...]) -> int:
    """Remove items; `check restore` brings them back."""
    return _change(output, items, lambda ref: client.send_once("DELETE", _item(ref), {}))


@check_command.command("restore")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@pass_output
def restore(output: Output, items: tuple[str, ...]) -> int:
    """Restore removed items; `check list --removed` names them."""
    return _change(output, items, lambda ref: client.post(f"{_item(ref)}/restore", {}))


# -- whole checklists ---------------------------------------------------------------------------------


def _list_rows(lists: Iterable[ChecklistJson]) -> Iterator[Sequence[object]]:
    return (
        (checklist.get("id"), checklist.get("title"), len(checklist.get("items") or ()))
        for checklist in lists
    )


def _list_deed_view(deed: str) -> Callable[[Any, Display], Iterator[str]]:
    def view(lists: Sequence[ChecklistJson], display: Display) -> Iterator[str]:
        ids = short_ids_of(lists)
        sign = display.paint(display.symbol("✓"), "green")
        for shown_list in lists:
            short = display.paint(escape(ids.get(shown_list.get("id", ""), "")), "cyan")
            yield f"{sign} {deed} {short}  {escape(shown_list.get('title') or '')}"

    return view


def _on_list(output: Output, deed: str, ref: str, ask: Callable[[str], ApiAnswer]) -> int:
    return run_for_each(
        output,
        (ref,),
        lambda text: ask(f"/v1/checklists/{percent_encode(text)}"),
        _list_deed_view(deed),
        _list_rows,
    )


@check_command.command("new-list")
@click.argument("task")
@click.argument("title", nargs=-1, required=True)
@pass_output
def new_list(output: Output, task: str, title: tuple[str, ...]) -> None:
    """Make a checklist. With --plain: id, title, number of items."""
    body = {"title": joined_words(title, "a title")}
    answer = client.post(f"/v1/tasks/{percent_encode(task)}/checklists", body)
    output.write_answer(
        answer,
        lambda made_list, display: _list_deed_view(_("Made checklist"))([made_list], display),
        lambda made_list: _list_rows([made_list]),
    )


@check_command.command("rename-list")
@click.argument("checklist", metavar="LIST")
@click.argument("title", nargs=-1, required=True)
@pass_output
def rename_list(output: Output, checklist: str, title: tuple[str, ...]) -> int:
    """Rename a checklist; `check list` shows its id."""
    body = {"title": joined_words(title, "a title")}
    return _on_list(
        output, _("Renamed checklist"), checklist, lambda path: client.send_once("PATCH", path, body)
    )


@check_command.command("move-list")
@click.argument("checklist", metavar="LIST")
@_where("LIST")
@pass_output
def move_list(output: Output, checklist: str, **fields: Any) -> int:
    """Move a checklist among those of its task."""
    return _on_list(
        output, _("Moved checklist"), checklist, lambda path: client.post(f"{path}/move", _spot(fields))
    )


@check_command.command("remove-list")
@click.argument("checklist", metavar="LIST")
@pass_output
def remove_list(output: Output, checklist: str) -> int:
    """Remove a checklist, with its items."""
    return _on_list(
        output, _("Removed checklist"), checklist, lambda path: client.send_once("DELETE", path, {})
    )


@check_command.command("restore-list")
@click.argument("checklist", metavar="LIST")
@pass_output
def restore_list(output: Output, checklist: str) -> int:
    """Restore a removed checklist, with its items."""
    return _on_list(
        output, _("Restored checklist"), checklist, lambda path: client.post(f"{path}/restore", {})
    )
