"""Commands on the history and on the stream of events.

Never loses an event when a stream breaks: it resumes from the last position.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from daemon.cli.api import client
from daemon.cli.api.command_error import EXIT_DONE, CommandError
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.terminal.output import HUMAN, JSON, PLAIN, plain_line, write_json, write_lines
from daemon.cli.views.devices.replication import replication_lines, replication_rows
from daemon.cli.views.journal.history import change_list, change_rows, event_lines
from daemon.words.translation import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Callable

    from daemon.cli.api.client import StreamEvent
    from daemon.cli.terminal.output import Output

_LIMIT: Final = 50
# A connection that is silent for this long may be dead; connecting again is cheap.
_QUIET_S: Final = 60.0
_PAGE: Final = 500
# The daemon searches this many commits per answer: older ones may match too.
_LOOKED_MAX: Final = 100_000
# A restart needs only seconds; a person who follows a log wants it to continue.
_AWAY_MAX_S: Final = 30.0
_BETWEEN_CALLS_S: Final = 0.5
_PASSING: Final = ("no_daemon", "failed", "timeout")


def _filters(run: Callable[..., object]) -> Callable[..., object]:
    for option in reversed(
        (
            click.option("--field", metavar="NAME", help="Only changes of this field, such as status."),
            click.option(
                "--kind", metavar="KIND", help="Only changes of this kind of thing: task, entry, item, ..."
            ),
            click.option(
                "--by",
                type=click.Choice(["user", "agent", "system"]),
                help="Only changes by this kind of author.",
            ),
            click.option("--agent", metavar="AGENT", help="Only changes that this agent proposed or wrote."),
            click.option(
                "--device", metavar="DEVICE", help="Only changes made on this device, by name or id."
            ),
            click.option(
                "--since", metavar="TIME", help="Only since this time, such as monday or 2026-03-01."
            ),
            click.option("--until", metavar="TIME", help="Only until this time."),
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
    help="At most this many changed values; a commit may contain several.",
)
@click.option(
    "--where", metavar="COMMIT|ENTITY", help="Show which devices have a commit, or all commits on a thing."
)
@click.option("--follow", "-f", is_flag=True, help="Continue with changes as they happen, until interrupted.")
@_filters
@pass_output
def log_command(
    output: Output, entity: tuple[str, ...], follow: bool, where: str | None, **options: Any
) -> int:
    """Show the history: of everything, or of a task or anything else by its id.

    With --plain: position, time, author, device, kind, entity, field, before, after, why, the name of the
    change, whether it was undone. --where takes a commit by its position; with --plain: device, name, how
    many commits it lacks, as of when.
    """
    if where is not None:
        return _where(output, where, entity=entity, follow=follow, given=options)
    query = {"entity": " ".join(entity) or None, **options}
    if follow:
        return _follow(output, query)
    answer = client.get("/v1/log", query)
    output.write_answer(answer, change_list, change_rows)
    _tell_left_out(output, answer.json)
    if not answer.json:
        narrowed = any(query[key] for key in query if key != "limit")
        output.write_remark(_("No history of that.") if narrowed else _("No history yet."))
    elif options["after"] is None and _may_go_back(answer.json, options["limit"]):
        output.write_remark(_("Older changes: placet log … --before {seq}").format(seq=answer.json[0]["seq"]))
    return EXIT_DONE


def _tell_left_out(output: Output, changes: list[dict[str, Any]]) -> None:
    """Say of how many changes the values are not shown, and how the newest of these is."""
    left_out = [change for change in changes if change.get("left_out")]
    if left_out:
        words = ngettext(
            "The values of {count} change are left out, because they are long: {command}",
            "The values of {count} changes are left out, because they are long: {command}",
            len(left_out),
        )
        newest = left_out[-1]
        command = f"placet log {newest['entity']} --field {newest['field']} --before {newest['seq'] + 1}"
        output.write_left_out(words.format(count=len(left_out), command=command))


def _where(output: Output, ref: str, *, entity: tuple[str, ...], follow: bool, given: dict[str, Any]) -> int:
    """Show which devices have the commits of the named thing."""
    if entity or follow or any(given[key] is not None for key in given if key != "limit"):
        raise click.UsageError(
            _("--where cannot be combined with other options"), click.get_current_context()
        )
    output.write_answer(client.get("/v1/where", {"of": ref}), replication_lines, replication_rows)
    return EXIT_DONE


def _may_go_back(changes: list[dict[str, Any]], limit: int) -> bool:
    """Return whether older changes may match the request too."""
    first = int(changes[0].get("seq") or 0)
    return first > 1 and (len(changes) >= limit or first > _LOOKED_MAX)


def _follow(output: Output, query: dict[str, Any]) -> int:
    """Show the newest changes, then each new one."""
    if output.form == JSON:
        raise click.UsageError(_("--follow never ends: use --jsonl"), click.get_current_context())
    if query["before"] is not None:
        clash = _("--{one} and --{other} exclude each other").format(one="follow", other="before")
        raise click.UsageError(clash, click.get_current_context())
    try:
        _Follower(output, query).run()
    except KeyboardInterrupt:
        return EXIT_DONE


class _Follower:
    """Follows the log: each event makes it read the log on from the last position shown."""

    def __init__(self, output: Output, query: dict[str, Any]) -> None:
        self._output = output
        self._query = query | {"entity": _id_for_title(query["entity"])}
        self._at = int(client.get("/healthz").json["feed_end"])
        self._lost_s: float | None = None

    def run(self) -> NoReturn:
        """Follow for ever, even across a restart of the daemon: the log contains what happened meanwhile."""
        _count, last = self._write_changes(self._query)
        self._at = max(self._at, last)
        while True:
            try:
                for event in client.follow_events("/v1/events", str(self._at), _QUIET_S):
                    self._lost_s = None
                    self._catch_up(int(event.id or 0))
            except CommandError as refusal:
                self._wait(refusal)

    def _catch_up(self, until: int) -> None:
        while self._at < until:
            count, last = self._write_changes(self._query | {"after": self._at, "limit": _PAGE})
            # A page that is not full is the last one.
            self._at = last if count >= _PAGE else max(until, last)

    def _write_changes(self, query: dict[str, Any]) -> tuple[int, int]:
        answer = client.get("/v1/log", query)
        self._output.write_answer(answer, change_list, change_rows)
        _tell_left_out(self._output, answer.json)
        sys.stdout.flush()
        return len(answer.json), max((int(event.get("seq") or 0) for event in answer.json), default=0)

    def _wait(self, refusal: CommandError) -> None:
        now_s = time.monotonic()
        if self._lost_s is None:
            self._lost_s = now_s
            self._output.write_remark(_("The connection to the daemon ended; waiting for it."))
        if refusal.code not in _PASSING or now_s - self._lost_s > _AWAY_MAX_S:
            raise refusal
        time.sleep(_BETWEEN_CALLS_S)  # noqa: TID251 - nothing tells when a daemon starts


def _id_for_title(entity: str | None) -> str | None:
    """Replace a task's title by its id: the title may change while the log is followed."""
    if entity is None:
        return None
    try:
        return str(client.get(f"/v1/tasks/{client.percent_encode(entity)}").json["id"])
    except CommandError as refusal:
        if refusal.code != "not_found":
            raise
        return entity


@command("events", streams=True)
@click.option("--after", type=click.IntRange(0), metavar="N", help="Begin after this feed position.")
@click.option("--count", type=click.IntRange(1), help="End after this many.")
@pass_output
def events_command(output: Output, after: int | None, count: int | None) -> int:
    """Follow what happens, until interrupted. With --jsonl: one object per line."""
    begin = "" if after is None else str(after)
    try:
        for index, event in enumerate(client.follow_events("/v1/events", begin, _QUIET_S), 1):
            _write(event, output)
            if index == count:
                break
    except KeyboardInterrupt:
        return EXIT_DONE
    return EXIT_DONE


def _write(event: StreamEvent, output: Output) -> None:
    lines = _decode_event(event)
    if output.form == HUMAN:
        write_lines(event_lines(event, lines, output.display()))
    elif output.form == PLAIN:
        print(plain_line((event.id, event.name, event.text)))
    else:
        write_json({"id": event.id, "event": event.name, "data": lines}, indent=None)
    sys.stdout.flush()


def _decode_event(event: StreamEvent) -> Any:
    try:
        return json.loads(event.text)
    except ValueError:
        return event.text
