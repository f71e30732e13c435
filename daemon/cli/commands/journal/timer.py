"""Commands on time records: start, stop, status, list, edit, remove, restore.

Never reads a clock itself: the daemon knows what "now" and "an hour ago" mean.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.api import client
from daemon.cli.api.client import ApiAnswer, percent_encode
from daemon.cli.framework.batch import run_for_each
from daemon.cli.framework.declaration import group, joined_words, pass_output
from daemon.cli.views.journal.times import time_deed_lines, time_rows, time_table, timer_lines
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Iterator

    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output


def _without_missing(**values: str | None) -> dict[str, Any]:
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
    path = f"/v1/tasks/{percent_encode(joined_words(task, 'a task'))}/timer"
    output.write_answer(client.post(path, _without_missing(at=at, note=note)), _started_lines, _one_row)


def _started_lines(answer: Any, display: Display) -> Iterator[str]:
    yield from time_deed_lines(_("Stopped"), answer.get("stopped") or (), display)
    yield from time_deed_lines(
        _("Running already:") if answer.get("already") else _("Started"), [answer], display
    )


@timer_command.command("stop")
@click.argument("record", required=False, metavar="[ID]")
@click.option("--at", metavar="TIME", help="When it ended, such as 11:30 or '5 minutes ago'.")
@click.option("--note", metavar="TEXT", help="What it was spent on.")
@pass_output
def stop(output: Output, record: str | None, at: str | None, note: str | None) -> None:
    """Stop the timer of this device, or with ID any, such as that of a device that is gone."""
    answer = client.post("/v1/timers/stop", _without_missing(record=record, at=at, note=note))
    output.write_answer(answer, partial(time_deed_lines, _("Stopped")), time_rows)
    if not answer.json and output.is_for_people:
        output.write_remark(_("No timer runs on this device."))
        running = client.get("/v1/timers")
        for line in timer_lines(running.json, output.display(running)._replace(coloured=False)):
            output.write_remark(line)


@timer_command.command("status")
@pass_output
def status(output: Output) -> None:
    """Show the timers that run, this device's first.

    With --plain: id, task's id, start, end, minutes, note, device, title.
    """
    answer = client.get("/v1/timers")
    output.write_answer(answer, timer_lines, time_rows)
    if not answer.json:
        output.write_remark(_("No timer runs. Start one: placet timer start TASK"))


@timer_command.command("list")
@click.argument("task", nargs=-1)
@click.option("--removed", is_flag=True, help="The removed ones, to restore them.")
@click.option(
    "--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many."
)
@pass_output
def list_records(output: Output, task: tuple[str, ...], removed: bool, limit: int) -> None:
    """List time records, of a task or of all, the newest first.

    With --plain: id, task's id, start, end, minutes, note, device, title.
    """
    query = {"task": " ".join(task) or None, "removed": removed, "limit": limit}
    answer = client.get("/v1/times", query)
    output.write_answer(answer, time_table, time_rows)
    if not answer.json:
        none = _("No time records yet. Start a timer: placet timer start TASK")
        output.write_remark(_("Nothing removed.") if removed else none)


@timer_command.command("edit")
@click.argument("record", metavar="ID")
@click.option("--start", "started_at", metavar="TIME", help="When it began.")
@click.option("--end", "ended_at", metavar="TIME", help="When it ended; a timer that runs is stopped.")
@click.option("--note", metavar="TEXT", help="What it was spent on; `none` removes it.")
@click.option("--task", metavar="TASK", help="The task that it belongs to.")
@pass_output
def edit(output: Output, record: str, **options: str | None) -> None:
    """Correct a record: when it began or ended, its note, its task."""
    values = _without_missing(**options)
    if not values:
        raise click.UsageError(_("nothing to change was given"), click.get_current_context())
    if options["note"] == "none":
        values["note"] = None
    answer = client.send_once("PATCH", f"/v1/times/{percent_encode(record)}", values)
    output.write_answer(answer, lambda record_json, display: time_table([record_json], display), _one_row)


@timer_command.command("remove")
@click.argument("records", nargs=-1, required=True, metavar="ID...")
@pass_output
def remove(output: Output, records: tuple[str, ...]) -> int:
    """Remove records; a timer that runs is stopped."""
    return run_for_each(output, records, _remove, partial(time_deed_lines, _("Removed")), time_rows)


def _remove(record: str) -> ApiAnswer:
    return client.send_once("DELETE", f"/v1/times/{percent_encode(record)}", {})


@timer_command.command("restore")
@click.argument("records", nargs=-1, required=True, metavar="ID...")
@pass_output
def restore(output: Output, records: tuple[str, ...]) -> int:
    """Restore removed records."""
    return run_for_each(output, records, _restore, partial(time_deed_lines, _("Restored")), time_rows)


def _restore(record: str) -> ApiAnswer:
    return client.post(f"/v1/times/{percent_encode(record)}/restore", {})
