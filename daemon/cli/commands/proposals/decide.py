"""Commands that decide: confirm, reject, defer, reopen.

Never decides about an item that the person did not name, either by itself or by its set.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli.api import client
from daemon.cli.api.command_error import EXIT_CONFLICT, EXIT_DONE, EXIT_FAILED, EXIT_NOT_FOUND, EXIT_PARTLY
from daemon.cli.commands.proposals.edited_arguments import parse_arguments
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.terminal.keys import is_interactive
from daemon.cli.terminal.output import write_lines
from daemon.cli.views.proposals.pending import item_lines, result_lines, result_rows
from daemon.words.proposals import question_id
from daemon.words.short_ids import short_ids_of
from daemon.words.translation import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from daemon.cli.terminal.output import Output
    from daemon.shapes.answers import DecisionResultJson

DECISION_TIMEOUT_S: Final = 120.0
"""How long to wait for an answer: a set is one durable commit an item."""
_STATUS_BY_RESULT: Final = {
    "applied": EXIT_DONE,
    "already": EXIT_DONE,
    "stale": EXIT_CONFLICT,
    "obsolete": EXIT_CONFLICT,
    "expired": EXIT_CONFLICT,
    "left": EXIT_CONFLICT,
    "not_counted": EXIT_CONFLICT,
    "conflict": EXIT_CONFLICT,
    "not_found": EXIT_NOT_FOUND,
}


def exit_status(verdicts: Sequence[DecisionResultJson]) -> int:
    """Return one status for all results: 0 if all succeeded, 8 if some did, else why they failed."""
    statuses = {_STATUS_BY_RESULT.get(str(verdict.get("result")), EXIT_FAILED) for verdict in verdicts}
    if statuses <= {EXIT_DONE}:
        return EXIT_DONE
    if EXIT_DONE in statuses:
        return EXIT_PARTLY
    return statuses.pop() if len(statuses) == 1 else EXIT_FAILED


def _item_options(run: Callable[..., object]) -> Callable[..., object]:
    items = click.argument("items", nargs=-1, metavar="[ITEM]...")
    set_option = click.option("--set", "whole", metavar="SET", help="What is pending of a set.")
    return items(set_option(run))


def reason_option(run: Callable[..., object]) -> Callable[..., object]:
    return click.option("--reason", metavar="TEXT", help="Why; the agent reads it.")(run)


def _decide(output: Output, verdict: str, fields: dict[str, Any]) -> int:
    items, change_set, unasked = fields.pop("items"), fields.pop("whole", None), fields.pop("yes", True)
    if bool(items) == bool(change_set):
        raise click.UsageError(_("name the items, or a set with --set"), click.get_current_context())
    which = {"set": change_set} if change_set else {"items": list(items)}
    if change_set and not unasked and output.is_for_people and is_interactive():
        which = _show_set(output, change_set)
    extra = {key: value for key, value in fields.items() if value}
    answer = client.post(
        "/v1/decisions", {"verdict": verdict, "via": "cli", **which, **extra}, DECISION_TIMEOUT_S
    )
    output.write_answer(answer, result_lines, result_rows)
    if any(decision.get("can_force") for decision in answer.json):
        output.write_remark(_("Look again: placet pending. To apply it all the same: --force"))
    if fields.get("reason") and any(decision.get("result") == "already" for decision in answer.json):
        output.write_remark(
            _("What was decided already keeps its reason: reopen it to decide with another one.")
        )
    return exit_status(answer.json)


def decide_items(output: Output, verdict: str, items: tuple[str, ...], reason: str | None) -> int:
    """Decide on these items, and return the exit status."""
    return _decide(output, verdict, {"items": items, "reason": reason})


def _show_set(output: Output, text: str) -> dict[str, Any]:
    """List what is pending of a set, ask whether to confirm it, and return the set with what was listed.

    Nothing else of the set is confirmed, whatever comes in the meantime.
    """
    change_set = client.get(f"/v1/sets/{client.percent_encode(text)}").json
    members = {item["item_id"] for item in change_set["items"]}
    answer = client.get("/v1/pending")
    items = [
        item
        for item in answer.json
        if item["item_id"] in members
        and item["status"] == "pending"
        and not item["disputed"]
        and not question_id(item)
    ]
    if items:
        display, ids = output.display(answer), short_ids_of(items, "item_id")
        for item in items:
            write_lines(item_lines(item, ids[item["item_id"]], display))
        sys.stdout.flush()
        count = len(items)
        question = ngettext("Confirm this {count}?", "Confirm these {count}?", count).format(count=count)
        click.confirm(question, abort=True, err=True)
    hashes = {item["item_id"]: item["args_hash"] for item in items}
    return {"set": change_set["set_id"], "args_hashes": hashes}


def _parse_edit(_context: click.Context, _option: click.Parameter, text: str | None) -> Any:
    return None if text is None else parse_arguments(text, "--edit")


@command("confirm")
@_item_options
@click.option(
    "--edit",
    callback=_parse_edit,
    metavar="JSON",
    help="Confirm these arguments instead of the proposed ones.",
)
@click.option("--option", metavar="CHOICE", help="Choose this, of what the agent offers on a permission.")
@click.option("--force", is_flag=True, help="Confirm it although what it rests on has changed.")
@click.option("--again", is_flag=True, help="Confirm it although it was rejected.")
@click.option("--yes", is_flag=True, help="Do not ask, at a terminal, whether to confirm a set.")
@reason_option
@pass_output
def confirm_command(output: Output, **fields: Any) -> int:
    """Confirm proposals: one by one by their ids, or what is pending of a set.

    Of a set, items that are deferred, disputed or expired are left: name them. At a terminal, what is pending
    is listed first, and you are asked.
    """
    if fields["again"] and fields["whole"]:
        raise click.UsageError(_("--again needs items, not a set"), click.get_current_context())
    if fields["edit"] and (fields["whole"] or len(fields["items"]) > 1):
        raise click.UsageError(_("--edit needs exactly one item"), click.get_current_context())
    if fields["option"] and (fields["whole"] or len(fields["items"]) > 1):
        raise click.UsageError(_("--option needs exactly one permission"), click.get_current_context())
    return _decide(output, "confirmed", fields)


@command("reject")
@_item_options
@reason_option
@click.option("--remember", is_flag=True, help="Make the reason a preference for the task's category.")
@pass_output
def reject_command(output: Output, **fields: Any) -> int:
    """Reject proposals; a reason teaches the agent."""
    return _decide(output, "rejected", fields)


@command("defer")
@_item_options
@reason_option
@pass_output
def defer_command(output: Output, **fields: Any) -> int:
    """Defer proposals: they stay, and do not expire. A permission that is deferred still runs out."""
    return _decide(output, "deferred", fields)


@command("reopen")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@reason_option
@pass_output
def reopen_command(output: Output, **fields: Any) -> int:
    """Reopen proposals that were decided or have expired, so that they wait again, without an end."""
    return _decide(output, "reopened", fields)
