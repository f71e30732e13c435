"""Time: start, stop, status, list, edit, remove, restore.

Never tells the time itself: what "now" and "an hour ago" are, the daemon knows.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from daemon.cli import client
from daemon.cli.client import Answer, quoted
from daemon.cli.grammar import group, joined, pass_output
from daemon.cli.several import each
from daemon.cli.views.times import time_done, time_rows, time_table, timer_lines
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Iterator

    from daemon.cli.look import Look
    from daemon.cli.output import Output


def _given(**values: str | None) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _one_row(record: Any) -> Iterator[Any]:
    return time_rows([record])


@group("timer")
def timer_command() -> None:
    """Time: start, stop, status, list, edit, remove, restore.

    One timer runs on a device; starting another stops it.
    """


@timer_command.command("start")
@click.argument("task", nargs=-1, required=True)
@click.option("--at", metavar="TIME", help="When it began, such as 10:30 or '20 minutes ago'.")
@click.option("--note", metavar="TEXT", help="What it is spent on.")
@pass_output
def start(output: Output, task: tuple[str, ...], at: str | None, note: str | None) -> None:
    """Start a timer on a task; the one that runs on this device is stopped."""
    path = f"/v1/tasks/{quoted(joined(task, 'a task'))}/timer"
    output.show(client.post(path, _given(at=at, note=note)), _started, _one_row)


def _started(told: Any, look: Look) -> Iterator[str]:
    yield from time_done(_("Stopped"), told.get("stopped") or (), look)
    yield from time_done(_("Running already:") if told.get("already") else _("Started"), [told], look)


@timer_command.command("stop")
@click.argument("record", required=False, metavar="[ID]")
@click.option("--at", metavar="TIME", help="When it ended, such as 11:30 or '5 minutes ago'.")
@click.option("--note", metavar="TEXT", help="What it was spent on.")
@pass_output
def stop(output: Output, record: str | None, at: str | None, note: str | None) -> None:
    """Stop the timer of this device, or with ID any, such as that of a device that is gone."""
    answer = client.post("/v1/timers/stop", _given(record=record, at=at, note=note))
    output.show(answer, partial(time_done, _("Stopped")), time_rows)
    if not answer.json and output.for_people:
        output.say(_("No timer runs on this device."))
        running = client.get("/v1/timers")
        for line in timer_lines(running.json, output.look(running)._replace(coloured=False)):
            output.say(line)


@timer_command.command("status")
@pass_output
def status(output: Output) -> None:
    """Show the timers that run, this device's first.

    With --plain: id, task's id, start, end, minutes, note, device, title.
    """
    answer = client.get("/v1/timers")
    output.show(answer, timer_lines, time_rows)
    if not answer.json:
        output.say(_("No timer runs. Start one: placet timer start TASK"))


@timer_command.command("list")
@click.argument("task", nargs=-1)
@click.option("--removed", is_flag=True, help="The removed ones, to restore them.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most so many.")
@pass_output
def list_records(output: Output, task: tuple[str, ...], removed: bool, limit: int) -> None:
    """List time records, of a task or of all, the newest first.

    With --plain: id, task's id, start, end, minutes, note, device, title.
    """
    query = {"task": " ".join(task) or None, "removed": removed, "limit": limit}
    answer = client.get("/v1/times", query)
    output.show(answer, time_table, time_rows)
    if not answer.json:
        none = _("No time records yet. Start a timer: placet timer start TASK")
        output.say(_("Nothing removed.") if removed else none)


@timer_command.command("edit")
@click.argument("record", metavar="ID")
@click.option("--start", "started_at", metavar="TIME", help="When it began.")
@click.option("--end", "ended_at", metavar="TIME", help="When it ended; a timer that runs is stopped.")
@click.option("--note", metavar="TEXT", help="What it was spent on; `none` takes it away.")
@click.option("--task", metavar="TASK", help="The task that it belongs to.")
@pass_output
def edit(output: Output, record: str, **given: str | None) -> None:
    """Correct a record: when it began or ended, its note, its task."""
    values = _given(**given)
    if not values:
        raise click.UsageError(_("nothing to change was given"), click.get_current_context())
    if given["note"] == "none":
        values["note"] = None
    answer = client.send("PATCH", f"/v1/times/{quoted(record)}", values)
    output.show(answer, lambda told, look: time_table([told], look), _one_row)


@timer_command.command("remove")
@click.argument("records", nargs=-1, required=True, metavar="ID...")
@pass_output
def remove(output: Output, records: tuple[str, ...]) -> int:
    """Take records out of sight; a timer that runs is stopped."""
    return each(output, records, _remove, partial(time_done, _("Removed")), time_rows)


def _remove(record: str) -> Answer:
    return client.send("DELETE", f"/v1/times/{quoted(record)}", {})


@timer_command.command("restore")
@click.argument("records", nargs=-1, required=True, metavar="ID...")
@pass_output
def restore(output: Output, records: tuple[str, ...]) -> int:
    """Bring removed records back."""
    return each(output, records, _restore, partial(time_done, _("Restored")), time_rows)


def _restore(record: str) -> Answer:
    return client.post(f"/v1/times/{quoted(record)}/restore", {})
