"""The history, and the stream of what happens.

Never loses an event while a stream breaks: it is resumed from the last position.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from daemon.cli import client
from daemon.cli.grammar import command, pass_output
from daemon.cli.output import HUMAN, JSON, PLAIN, plain_line, write_json, write_lines
from daemon.cli.refusals import DONE, Refusal
from daemon.cli.views.history import change_list, change_rows, event_lines
from daemon.cli.views.where import where_lines, where_rows
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Callable

    from daemon.cli.client import Event
    from daemon.cli.output import Output

_LIMIT: Final = 50
# A line that is quiet for so long may be dead; asking again costs nothing.
_QUIET_S: Final = 60.0
_PAGE: Final = 500
# The daemon looks through so many commits for one answer: there may be more beyond.
_LOOKED_MAX: Final = 100_000
# A restart takes seconds; whoever follows a log wants it to go on.
_AWAY_MAX_S: Final = 30.0
_BETWEEN_CALLS_S: Final = 0.5
_PASSING: Final = ("no_daemon", "failed", "timeout")


def _filters(run: Callable[..., object]) -> Callable[..., object]:
    for option in reversed(
        (
            click.option("--field", metavar="NAME", help="Changes of this field alone, such as status."),
            click.option("--kind", metavar="KIND", help="Of tasks, entries, checklist items, ... alone."),
            click.option("--by", type=click.Choice(["user", "agent", "system"]), help="By whom."),
            click.option("--agent", metavar="AGENT", help="That this agent proposed or wrote."),
            click.option("--device", metavar="DEVICE", help="Made on this device, by name or id."),
            click.option("--since", metavar="TIME", help="Since then, such as monday or 2026-03-01."),
            click.option("--until", metavar="TIME", help="Until then."),
            click.option("--after", type=click.IntRange(0), metavar="N", help="After this feed position."),
            click.option("--before", type=click.IntRange(0), metavar="N", help="Before this feed position."),
        )
    ):
        run = option(run)
    return run


@command("log", streams=True)
@click.argument("entity", nargs=-1)
@click.option(
    "--limit",
    type=click.IntRange(1, 500),
    default=_LIMIT,
    show_default=True,
    help="At most so many changed values; a commit may hold several.",
)
@click.option("--where", metavar="COMMIT|ENTITY", help="Which devices hold a commit, or all of a thing.")
@click.option("--follow", "-f", is_flag=True, help="Go on with what happens, until interrupted.")
@_filters
@pass_output
def log_command(
    output: Output, entity: tuple[str, ...], follow: bool, where: str | None, **given: Any
) -> int:
    """Show the history: of everything, or of a task or anything else by its id.

    With --plain: position, time, author, device, kind, entity, field, before, after, why. --where takes a
    commit by its position; with --plain: device, name, how many commits it lacks, as of when.
    """
    if where is not None:
        return _where(output, where, entity=entity, follow=follow, given=given)
    query = {"entity": " ".join(entity) or None, **given}
    if follow:
        return _follow(output, query)
    answer = client.get("/v1/log", query)
    output.show(answer, change_list, change_rows)
    if not answer.json:
        narrowed = any(query[key] for key in query if key != "limit")
        output.say(_("No history of that.") if narrowed else _("No history yet."))
    elif given["after"] is None and _may_go_back(answer.json, given["limit"]):
        output.say(_("Older changes: placet log … --before {seq}").format(seq=answer.json[0]["seq"]))
    return DONE


def _where(output: Output, ref: str, *, entity: tuple[str, ...], follow: bool, given: dict[str, Any]) -> int:
    """Say which devices hold what is named."""
    if entity or follow or any(given[key] is not None for key in given if key != "limit"):
        raise click.UsageError(_("--where goes with no other choice"), click.get_current_context())
    output.show(client.get("/v1/where", {"of": ref}), where_lines, where_rows)
    return DONE


def _may_go_back(changes: list[dict[str, Any]], limit: int) -> bool:
    """Say whether there may be older changes of what was asked for."""
    first = int(changes[0].get("seq") or 0)
    return first > 1 and (len(changes) >= limit or first > _LOOKED_MAX)


def _follow(output: Output, query: dict[str, Any]) -> int:
    """Show the newest changes, then each that comes."""
    if output.form == JSON:
        raise click.UsageError(_("--follow never ends: use --jsonl"), click.get_current_context())
    if query["before"] is not None:
        clash = _("--{one} and --{other} exclude each other").format(one="follow", other="before")
        raise click.UsageError(clash, click.get_current_context())
    try:
        _Follower(output, query).run()
    except KeyboardInterrupt:
        return DONE


class _Follower:
    """Follows the log: the event stream rings, and the log is read on from the position that was shown."""

    def __init__(self, output: Output, query: dict[str, Any]) -> None:
        self._output = output
        self._query = query | {"entity": _fixed(query["entity"])}
        self._at = int(client.get("/healthz").json["feed_end"])
        self._lost_s: float | None = None

    def run(self) -> NoReturn:
        """Follow for ever, also across a restart of the daemon: what came meanwhile is in the log."""
        _count, last = self._shown(self._query)
        self._at = max(self._at, last)
        while True:
            try:
                for event in client.events("/v1/events", str(self._at), _QUIET_S):
                    self._lost_s = None
                    self._catch_up(int(event.id or 0))
            except Refusal as refusal:
                self._wait(refusal)

    def _catch_up(self, until: int) -> None:
        while self._at < until:
            count, last = self._shown(self._query | {"after": self._at, "limit": _PAGE})
            # A page that is not full was all there was.
            self._at = last if count >= _PAGE else max(until, last)

    def _shown(self, query: dict[str, Any]) -> tuple[int, int]:
        answer = client.get("/v1/log", query)
        self._output.show(answer, change_list, change_rows)
        sys.stdout.flush()
        return len(answer.json), max((int(one.get("seq") or 0) for one in answer.json), default=0)

    def _wait(self, refusal: Refusal) -> None:
        now_s = time.monotonic()
        if self._lost_s is None:
            self._lost_s = now_s
            self._output.say(_("The daemon went away; waiting for it."))
        if refusal.code not in _PASSING or now_s - self._lost_s > _AWAY_MAX_S:
            raise refusal
        time.sleep(_BETWEEN_CALLS_S)  # noqa: TID251 - nothing tells when a daemon starts


def _fixed(entity: str | None) -> str | None:
    """Name a task by its id: its title may change while it is followed."""
    if entity is None:
        return None
    try:
        return str(client.get(f"/v1/tasks/{client.quoted(entity)}").json["id"])
    except Refusal as refusal:
        if refusal.code != "not_found":
            raise
        return entity


@command("events", streams=True)
@click.option("--after", type=click.IntRange(0), metavar="N", help="Begin after this feed position.")
@click.option("--count", type=click.IntRange(1), help="End after so many.")
@pass_output
def events_command(output: Output, after: int | None, count: int | None) -> int:
    """Follow what happens, until interrupted. With --jsonl: one object a line."""
    begin = "" if after is None else str(after)
    try:
        for at, event in enumerate(client.events("/v1/events", begin, _QUIET_S), 1):
            _write(event, output)
            if at == count:
                break
    except KeyboardInterrupt:
        return DONE
    return DONE


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
