"""Decisions: confirm, reject, defer, undo, reopen.

Never decides about an item that was not named, by itself or through its set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli import client
from daemon.cli.edits import arguments_from
from daemon.cli.grammar import command, pass_output
from daemon.cli.refusals import CONFLICT, DONE, FAILED, NOT_FOUND, PARTLY
from daemon.cli.views.pending import verdict_lines, verdict_rows
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from daemon.cli.output import Output
    from daemon.cli.shapes import Verdict

WAIT_S: Final = 120.0
"""How long to wait for an answer: a set is one durable commit an item."""
_STATUS_BY_RESULT: Final = {
    "applied": DONE,
    "already": DONE,
    "stale": CONFLICT,
    "obsolete": CONFLICT,
    "expired": CONFLICT,
    "conflict": CONFLICT,
    "not_found": NOT_FOUND,
}


def exit_status(verdicts: Sequence[Verdict]) -> int:
    """Say in one number what came of all: 0 all done, 8 some done, else what kept them all from it."""
    statuses = {_STATUS_BY_RESULT.get(str(one.get("result")), FAILED) for one in verdicts}
    if statuses <= {DONE}:
        return DONE
    if DONE in statuses:
        return PARTLY
    return statuses.pop() if len(statuses) == 1 else FAILED


def _which(run: Callable[..., object]) -> Callable[..., object]:
    items = click.argument("items", nargs=-1, metavar="[ITEM]...")
    whole = click.option("--set", "whole", metavar="SET", help="All open items of a set.")
    return items(whole(run))


def _why(run: Callable[..., object]) -> Callable[..., object]:
    return click.option("--reason", metavar="TEXT", help="Why; the agent reads it.")(run)


def _decide(output: Output, verdict: str, given: dict[str, Any]) -> int:
    items, whole = given.pop("items"), given.pop("whole", None)
    if bool(items) == bool(whole):
        raise click.UsageError(_("name the items, or a set with --set"), click.get_current_context())
    which = {"set": whole} if whole else {"items": list(items)}
    extra = {key: value for key, value in given.items() if value}
    answer = client.post("/v1/decisions", {"verdict": verdict, "via": "cli", **which, **extra}, WAIT_S)
    output.show(answer, verdict_lines, verdict_rows)
    if any(one.get("result") == "stale" for one in answer.json):
        output.say(_("Look again: placet pending. To apply what is stale all the same: --force"))
    if given.get("reason") and any(one.get("result") == "already" for one in answer.json):
        output.say(_("What was decided already keeps its reason: reopen it to decide with another one."))
    return exit_status(answer.json)


def _edited(_context: click.Context, _option: click.Parameter, text: str | None) -> Any:
    return None if text is None else arguments_from(text, "--edit")


@command("confirm")
@_which
@click.option("--edit", callback=_edited, metavar="JSON", help="With these arguments in place of those.")
@click.option("--force", is_flag=True, help="Although what it rests on has changed since.")
@click.option("--again", is_flag=True, help="Although it was rejected.")
@_why
@pass_output
def confirm_command(output: Output, **given: Any) -> int:
    """Let proposals happen: one by one by their ids, or a whole set."""
    if given["edit"] and (given["whole"] or len(given["items"]) > 1):
        raise click.UsageError(_("--edit goes with one item"), click.get_current_context())
    return _decide(output, "confirmed", given)


@command("reject")
@_which
@_why
@pass_output
def reject_command(output: Output, **given: Any) -> int:
    """Turn proposals down; a reason teaches the agent."""
    return _decide(output, "rejected", given)


@command("defer")
@_which
@_why
@pass_output
def defer_command(output: Output, **given: Any) -> int:
    """Put proposals off: they stay, and do not expire."""
    return _decide(output, "deferred", given)


@command("undo")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@_why
@pass_output
def undo_command(output: Output, **given: Any) -> int:
    """Take confirmations back: what they covered shows again."""
    return _decide(output, "undone", given)


@command("reopen")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@_why
@pass_output
def reopen_command(output: Output, **given: Any) -> int:
    """Take decisions back, so that the proposals wait again."""
    return _decide(output, "reopened", given)
