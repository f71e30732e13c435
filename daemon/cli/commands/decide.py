"""Decisions: confirm, reject, defer, undo, reopen.

Never decides about an item that was not named, by itself or through its set.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from daemon.cli import client
from daemon.cli.grammar import command, pass_output
from daemon.cli.refusals import CONFLICT, DONE, FAILED, NOT_FOUND, PARTLY, Refusal
from daemon.cli.views.pending import verdict_lines, verdict_rows
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from daemon.cli.output import Output
    from daemon.cli.shapes import Verdict

# A set is one durable commit an item.
_WAIT_S: Final = 120.0
_DEPTH_MAX: Final = 32
_EXAMPLE: Final = """'{"minutes": 90}'"""
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
    answer = client.post("/v1/decisions", {"verdict": verdict, "via": "cli", **which, **extra}, _WAIT_S)
    output.show(answer, verdict_lines, verdict_rows)
    if any(one.get("result") == "stale" for one in answer.json):
        output.say(_("Look again: placet pending. To apply what is stale all the same: --force"))
    return exit_status(answer.json)


def _edited(_context: click.Context, _option: click.Parameter, text: str | None) -> Any:
    if text is None:
        return None
    try:
        edit = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except RecursionError as error:
        raise _unusable(_("--edit is nested too deeply")) from error
    except ValueError as error:
        raise _unusable(_("--edit is not JSON: {error}").format(error=error)) from error
    if not isinstance(edit, dict) or not edit:
        raise _unusable(_("--edit is not an object of arguments"))
    if _is_deep(edit):
        raise _unusable(_("--edit is nested too deeply"))
    return edit


def _unusable(seen: str) -> Refusal:
    return Refusal("usage", seen, _("such as {example}").format(example=_EXAMPLE))


def _no_number(written: str) -> NoReturn:
    raise ValueError(_("{written} is no number").format(written=written))


def _finite(written: str) -> float:
    number = float(written)
    return number if isfinite(number) else _no_number(written)


def _is_deep(edit: dict[str, Any]) -> bool:
    """Say whether it nests deeper than any argument does, and than it can be sent on."""
    level: list[Any] = [edit]
    for _level in range(_DEPTH_MAX):
        inner = [one.values() if isinstance(one, dict) else one for one in level]
        level = [one for several in inner for one in several if isinstance(one, dict | list)]
    return bool(level)


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
