"""Lists the proposals that wait for a person.

Never decides.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from daemon.cli.api import client
from daemon.cli.api.client import percent_encode
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.terminal.output import write_lines
from daemon.cli.views.proposals.asks import ask_list
from daemon.cli.views.proposals.pending import SET_ID_CHARS, pending_list, pending_rows
from daemon.words.proposals import question_id, without_held_back, without_other_answers
from daemon.words.short_ids import short_ids_of
from daemon.words.translation import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output
    from daemon.shapes.answers import PendingItemJson
    from daemon.shapes.requests import AskDetailsJson


@command("pending")
@click.argument("task", nargs=-1)
@click.option("--agent", metavar="AGENT", help="Only what this agent proposes.")
@click.option("--expired", is_flag=True, help="Show instead what nobody decided in time.")
@click.option("--all", "whole", is_flag=True, help="Hold nothing back, however much an agent proposes.")
@pass_output
def pending_command(
    output: Output, task: tuple[str, ...], agent: str | None, expired: bool, whole: bool
) -> None:
    """Show what waits for you: open, deferred and disputed items, what presses first, then permissions.

    What expires within a day comes first, then what belongs to a task with a due date, then the oldest. If an
    agent proposes more in a day than the setting proposals.open_per_day, the rest is counted and not shown,
    unless you name the task or the agent. --json and --plain list it too.

    With --plain: item, set, task, tool, status, disputed, summary, before, after, expiry, stale.
    """
    answer = client.get(
        "/v1/pending",
        {"task": " ".join(task) or None, "agent": agent, "expired": "true" if expired else None},
    )
    items: Sequence[PendingItemJson] = answer.json if whole else without_held_back(answer.json)
    titles = _titles(items) if output.is_for_people else {}
    output.write_answer(answer, lambda _listed, display: pending_list(items, titles, display), pending_rows)
    asks_too = output.is_for_people and not (task or agent or expired)
    # A daemon of an earlier version knows no asks.
    asks = (client.find("/v1/asks") or []) if asks_too else []
    if asks:
        _write_asks(asks, output.display(answer), is_first=not items)
    count = len(asks)
    remarks = _how_to_reopen(items) if expired else _what_next(items)
    for line in remarks.splitlines() if items or not count else ():
        output.write_remark(line)
    held_back = len(without_other_answers(answer.json)) - len(without_other_answers(items))
    if held_back:
        words = ngettext(
            "{count} more waits behind these: placet pending --all",
            "{count} more wait behind these: placet pending --all",
            held_back,
        )
        output.write_remark(words.format(count=held_back))
    if count:
        words = ngettext(
            "{count} permission is asked for: placet confirm ASK, or placet reject ASK --reason WHY",
            "{count} permissions are asked for: placet confirm ASK, or placet reject ASK --reason WHY",
            count,
        )
        output.write_remark(words.format(count=count))


def _write_asks(asks: Sequence[AskDetailsJson], display: Display, *, is_first: bool) -> None:
    heading = display.paint(_("What agents ask permission for"), "bold")
    write_lines([*([] if is_first else [""]), heading, *ask_list(asks, display)])


def _how_to_reopen(items: Sequence[PendingItemJson]) -> str:
    if not items:
        return _("Nothing has expired.")
    first = items[0].get("item_id", "")
    short = short_ids_of(items, "item_id").get(first, "ITEM")
    return _("Ask for it again: placet reopen {item}").format(item=short)


def _what_next(items: Sequence[PendingItemJson]) -> str:
    if not items:
        return _("Nothing waits for you.")
    first = items[0].get("item_id", "")
    short = short_ids_of(items, "item_id").get(first, "ITEM")
    decide = _("Decide: placet review, placet confirm {item}, or placet reject {item} --reason WHY")
    several = _("A whole set: placet confirm --set {set}")
    texts = [decide.format(item=short)]
    if largest_set := _largest_set(items):
        texts.append(several.format(set=largest_set[:SET_ID_CHARS]))
    if any(question_id(item) for item in items):
        texts.append(_("A question: confirm the answer that you choose, or reject one for none of them"))
    return "\n".join(texts)


def _largest_set(items: Sequence[PendingItemJson]) -> str:
    """Return the id of the set with the most pending items; "" if no set has more than one."""
    pending = (item for item in items if item.get("status") == "pending" and not item.get("disputed"))
    counts = Counter(str(item.get("set_id") or "") for item in pending)
    return next((full_set for full_set, count in counts.most_common(1) if count > 1), "")


def _titles(items: Sequence[PendingItemJson]) -> dict[str, str]:
    titles = {item.get("task_id", ""): item.get("task_title", "") for item in items}
    return {task: title or _title(task) for task, title in titles.items()}


def _title(task: str) -> str:
    # A removed task is not found; the list still shows its proposals.
    found_task = client.find(f"/v1/tasks/{percent_encode(task)}") or {}
    return str(found_task.get("title") or task)
