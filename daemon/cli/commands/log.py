"""The history, and the stream of what happens.

Never loses an event while a stream breaks: it is resumed from the last position.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli import client
from daemon.cli.grammar import command, pass_output
from daemon.cli.output import HUMAN, PLAIN, plain_line, write_json, write_lines
from daemon.cli.views.history import change_list, change_rows, event_lines

if TYPE_CHECKING:
    from daemon.cli.client import Event
    from daemon.cli.output import Output

_LIMIT: Final = 50
# A line that is quiet for so long may be dead; asking again costs nothing.
_QUIET_S: Final = 60.0


@command("log", streams=True)
@click.argument("entity", nargs=-1)
@click.option("--limit", type=click.IntRange(1, 500), default=_LIMIT, help=f"How many at most ({_LIMIT}).")
@click.option("--after", type=click.IntRange(0), metavar="N", help="Those after this feed position.")
@pass_output
def log_command(output: Output, entity: tuple[str, ...], limit: int, after: int | None) -> None:
    """Show the history: of everything, or of a task or anything else by its id.

    With --plain: position, time, author, device, kind, entity, field, before, after, why.
    """
    query = {"entity": " ".join(entity) or None, "limit": limit, "after": after}
    answer = client.get("/v1/log", query)
    output.show(answer, change_list, change_rows)
    if not answer.json:
        output.say("No history yet.")


@command("events", streams=True)
@click.option("--after", metavar="N", default="", help="Begin after this feed position.")
@click.option("--count", type=click.IntRange(1), help="End after so many.")
@pass_output
def events_command(output: Output, after: str, count: int | None) -> None:
    """Follow what happens, until interrupted. With --jsonl: one object a line."""
    for at, event in enumerate(client.events("/v1/events", after, _QUIET_S), 1):
        _write(event, output)
        if at == count:
            return


def _write(event: Event, output: Output) -> None:
    told = _told(event)
    if output.form == HUMAN:
        write_lines(event_lines(event, told, output.look()))
    elif output.form == PLAIN:
        print(plain_line((event.id, event.name, event.text)))
    else:
        write_json({"id": event.id, "event": event.name, "data": told}, indent=None)
    sys.stdout.flush()


def _told(event: Event) -> Any:
    try:
        return json.loads(event.text)
    except ValueError:
        return event.text
