"""Searches the full text of tasks and of all that belongs to them.

Never searches itself: the daemon has the index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from daemon.cli.api import client
from daemon.cli.framework.declaration import command, joined_words, pass_output
from daemon.cli.views.journal.search import match_list, match_rows
from daemon.words.day_groups import begin_later_words, option_for_later
from daemon.words.translation import _

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output


@command("search")
@click.argument("words", nargs=-1, required=True)
@click.option("--removed", is_flag=True, help="Also among what was removed.")
@click.option("--later", is_flag=True, help="Also among tasks whose start is still to come.")
@click.option(
    "--limit", type=click.IntRange(1, 100), metavar="N", help="At most this many tasks; 20 if not given."
)
@click.option(
    "--after", type=click.IntRange(0), metavar="N", help="Where to continue, as the last page said."
)
@pass_output
def search_command(
    output: Output, words: tuple[str, ...], removed: bool, later: bool, **part: int | None
) -> None:
    """Find tasks by words in titles, notes, checklists, labels and categories.

    All words must be in one place; the last may be a beginning of one. Words in double quotes
    are a phrase; after --, a word with a hyphen before it is left out: placet search -- garden -shed

    With --plain: task, title, kind, field, id, text.
    """
    query: client.Query = {
        "q": joined_words(words, "a query"),
        "removed": removed,
        "begun": not (later or removed),
        **part,
    }
    answer = client.get("/v1/search", query)
    output.write_answer(answer, match_list, match_rows)
    if not answer.json.get("tasks"):
        output.write_remark(_("Nothing found."))
    elif answer.json.get("next") is not None:
        output.write_remark(_("There is more: --after {place}").format(place=answer.json["next"]))
    if later_words := begin_later_words(answer.json.get("begin_later") or 0):
        output.write_remark(option_for_later(later_words))
