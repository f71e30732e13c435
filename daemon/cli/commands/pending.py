"""What is proposed and waits for a person.

Never decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from daemon.cli import client
from daemon.cli.client import quoted
from daemon.cli.grammar import command, pass_output
from daemon.cli.refusals import NOT_FOUND, Refusal
from daemon.cli.short import shorts
from daemon.cli.views.pending import SET_SHORT, pending_list, pending_rows
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.cli.output import Output
    from daemon.cli.shapes import PendingItem


@command("pending")
@click.argument("task", nargs=-1)
@pass_output
def pending_command(output: Output, task: tuple[str, ...]) -> None:
    """Show what is proposed: open, deferred and disputed items.

    With --plain: item, set, task, tool, status, disputed, summary, before, after, expiry, stale.
    """
    answer = client.get("/v1/pending", {"task": " ".join(task) or None})
    items: Sequence[PendingItem] = answer.json
    titles = _titles(items) if output.for_people else {}
    output.show(answer, lambda listed, look: pending_list(listed, titles, look), pending_rows)
    for line in _what_next(items).splitlines():
        output.say(line)


def _what_next(items: Sequence[PendingItem]) -> str:
    if not items:
        return _("Nothing waits for you.")
    first = items[0].get("item_id", "")
    short = shorts(items, "item_id").get(first, "ITEM")
    decide = _("Decide: placet review, placet confirm {item}, or placet reject {item} --reason WHY")
    several = _("A whole set: placet confirm --set {set}")
    said = [decide.format(item=short)]
    if whole := _largest_set(items):
        said.append(several.format(set=whole[:SET_SHORT]))
    return "\n".join(said)


def _largest_set(items: Sequence[PendingItem]) -> str:
    """Name a set that more than one item waits in; "" where there is none."""
    sets = [str(item.get("set_id") or "") for item in items]
    whole = max(sets, key=sets.count)
    return whole if sets.count(whole) > 1 else ""


def _titles(items: Sequence[PendingItem]) -> dict[str, str]:
    told = {item.get("task_id", ""): item.get("task_title", "") for item in items}
    return {task: title or _title(task) for task, title in told.items()}


def _title(task: str) -> str:
    try:
        return str(client.get(f"/v1/tasks/{quoted(task)}").json.get("title") or task)
    except Refusal as refusal:
        if refusal.status == NOT_FOUND:
            # A removed task's proposals are still shown.
            return task
        raise
