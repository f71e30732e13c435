"""Adds up time: by task, label or category, for people, scripts and spreadsheets.

Never adds anything up itself: what overlaps, only the daemon knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from daemon.cli.api import client
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.views.journal.times import total_rows, totals_csv, totals_table
from daemon.words.translation import _

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output


@command("times")
@click.option("--week", is_flag=True, help="This week, as if no day is given.")
@click.option("--from", "begin", metavar="DATE", default="", help="From this day on: monday, 2026-11-01.")
@click.option("--to", "end", metavar="DATE", default="", help="To this day, today if not given.")
@click.option(
    "--by",
    type=click.Choice(("task", "label", "category")),
    default="task",
    show_default=True,
    help="A task with two labels counts for both.",
)
@click.option("--csv", "as_csv", is_flag=True, help="As a file for spreadsheets.")
@pass_output
def times_command(output: Output, *, week: bool, begin: str, end: str, by: str, as_csv: bool) -> None:
    """Add up the time that was spent, by task, label or category.

    A day is one of this device's zone, and a week begins as in your language. A timer that runs counts as
    far as now, and time that overlaps once. With --plain: name, minutes, records, task's id.
    """
    if week and (begin or end):
        raise click.UsageError(_("give --week, or --from and --to"), click.get_current_context())
    answer = client.get("/v1/time-totals", {"from": begin, "to": end, "by": by})
    if as_csv:
        click.echo(totals_csv(answer.json), nl=False)
        return
    output.write_answer(answer, totals_table, total_rows)
    if not answer.json["totals"]:
        output.write_remark(_("No time records in these days. Start a timer: placet timer start TASK"))
