"""Shows a day: what is overdue, what is due on it and in the week behind it, and what is in progress.

Never sorts or counts: the daemon does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from daemon.cli.api import client
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.views.journal.today import day_lines, day_rows
from daemon.words.day_groups import begin_later_words, option_for_later
from daemon.words.translation import _

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output

_SHOWN_MAX: Final = 20


@command("today")
@click.option("--day", metavar="DATE", help="Another day: tomorrow, monday, YYYY-MM-DD.")
@click.option(
    "--limit",
    type=click.IntRange(1, client.PAGE_SIZE),
    default=_SHOWN_MAX,
    metavar="N",
    help="At most this many tasks of each group; 20 if not given.",
)
@click.option("--later", is_flag=True, help="Also those whose start is still to come.")
@pass_output
def today_command(output: Output, day: str | None, limit: int, later: bool) -> None:
    """Show the day: what is overdue, due today and in the next seven days, and in progress without a day.

    With --plain: group, day, id, status, priority, due, title, labels, ticked/items, waiting proposals.
    """
    answer = client.get("/v1/today", {"day": day, "limit": limit, "later": later})
    output.write_answer(answer, day_lines, day_rows)
    if not any(group.get("count") for group in answer.json.get("groups") or ()):
        output.write_remark(_("Nothing is due by then. Add a task: placet add TITLE --due DATE"))
    if words := begin_later_words(answer.json.get("begin_later") or 0):
        output.write_remark(option_for_later(words))
