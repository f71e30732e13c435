"""Full-text search over tasks and all that belongs to them.

Never searches itself: the daemon has the index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from daemon.cli import client
from daemon.cli.grammar import command, joined, pass_output
from daemon.cli.views.search import found_list, found_rows
from daemon.cli.words import _

if TYPE_CHECKING:
    from daemon.cli.output import Output


@command("search")
@click.argument("words", nargs=-1, required=True)
@click.option("--removed", is_flag=True, help="Also among what was removed.")
@click.option("--limit", type=click.IntRange(1, 100), metavar="N", help="So many tasks; 20 if not said.")
@click.option("--after", type=click.IntRange(0), metavar="N", help="Where to go on, as the last page said.")
@pass_output
def search_command(
    output: Output, words: tuple[str, ...], removed: bool, limit: int | None, after: int | None
) -> None:
    """Find tasks by words in titles, notes, checklists, labels and categories.

    All words must be in one place; the last may be a beginning of one. Words in double quotes
    are a phrase; after --, a word with a hyphen before it is left out: placet search -- garden -shed

    With --plain: task, title, kind, field, id, text.
    """
    query: client.Query = {"q": joined(words, "a query"), "removed": removed, "limit": limit, "after": after}
    answer = client.get("/v1/search", query)
    output.show(answer, found_list, found_rows)
    if not answer.json.get("tasks"):
        output.say(_("Nothing found."))
    elif answer.json.get("next") is not None:
        output.say(_("There is more: --after {place}").format(place=answer.json["next"]))
