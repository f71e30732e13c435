"""The formats that can be imported, by name.

Never looks into a file itself: each format's parser does.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, tzinfo
from functools import partial
from types import MappingProxyType
from typing import Final

from daemon.formats.core.exported_tasks import ExportedTask, ExportedTasks
from daemon.formats.core.plan import Plan, PlannedTask
from daemon.formats.icalendar import reader as icalendar
from daemon.formats.icalendar import writer as icalendar_writer
from daemon.formats.markdown import reader as markdown
from daemon.formats.markdown import writer as markdown_writer
from daemon.formats.taskwarrior import reader as taskwarrior
from daemon.formats.taskwarrior import writer as taskwarrior_writer
from daemon.formats.todotxt import reader as todotxt
from daemon.formats.todotxt import writer as todotxt_writer
from daemon.refusal import one_of, usage_error
from store.sentence import sentence
from store.snapshot import Snapshot
from syncproto.ids import EntityId

Parser = Callable[[str, str, tzinfo, int | None], Plan]
"""Reads a file into a plan, given its name, its text, the person's time zone, and the time if known."""

PARSERS: Final[Mapping[str, Parser]] = MappingProxyType(
    {
        icalendar.FORMAT: icalendar.parse,
        markdown.FORMAT: markdown.parse,
        taskwarrior.FORMAT: taskwarrior.parse,
        todotxt.FORMAT: todotxt.parse,
    }
)


Rereader = Callable[[ExportedTask, tzinfo], PlannedTask | None]
"""Reads back what the format's export contains of a task."""

_REREADERS: Final[Mapping[str, Rereader]] = MappingProxyType(
    {markdown.FORMAT: markdown_writer.reread, todotxt.FORMAT: todotxt_writer.reread}
)
"""The formats whose exports name the ids of this journal."""

PartWriter = Callable[[Snapshot, tzinfo, Collection[EntityId]], Iterator[str]]
"""Yields the text of an export that has only some of the tasks."""

_PART_WRITERS: Final[Mapping[str, PartWriter]] = MappingProxyType(
    {icalendar.FORMAT: icalendar_writer.write, taskwarrior.FORMAT: taskwarrior_writer.write}
)
"""The formats whose tasks have ids of their own, also those that were made here."""


def read_plan(format_: str, name: str, text: str, zone: tzinfo = UTC, now_ms: int | None = None) -> Plan:
    """Read a file into a plan, whose faults report what cannot be read; refuse an unknown format.

    Pure, and slow for a large file: call it before a transaction is opened. `zone` is the person's, `now_ms`
    the time for which the file is read: whether a task still waits depends on it.
    """
    parser = PARSERS.get(format_)
    if parser is None:
        raise usage_error(
            sentence("unknown-import-format", "no import format is called {name!r}", name=format_[:80]),
            one_of(PARSERS),
        )
    plan = parser(name, text, zone, now_ms)
    if reread := _REREADERS.get(format_):
        plan = replace(plan, reread=partial(_reread, reread, zone))
    if write := _PART_WRITERS.get(format_):

        def written_now(snapshot: Snapshot, ids: Collection[EntityId]) -> dict[str, PlannedTask]:
            now = parser(name, "".join(write(snapshot, zone, ids)), zone, now_ms)
            return {task.key: task for task in (*now.tasks, *now.readable)}

        plan = replace(plan, written_now=written_now)
    return plan


def _reread(
    reread: Rereader, zone: tzinfo, snapshot: Snapshot, ids: Collection[EntityId]
) -> dict[EntityId, PlannedTask]:
    tasks = (
        (task.id, reread(task, zone)) for task in ExportedTasks(snapshot, removed=True).tasks_with_ids(ids)
    )
    return {entity: task for entity, task in tasks if task is not None}
