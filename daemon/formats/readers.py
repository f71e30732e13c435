"""The formats that can be imported, by name.

Never looks into a file itself: each format's parser does.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, tzinfo
from functools import partial

from daemon.file_formats import list_formats
from daemon.formats.core.exported_tasks import ExportedTasks
from daemon.formats.core.format import Rereader, declared_format
from daemon.formats.core.plan import Plan, PlannedTask
from daemon.refusal import one_of, usage_error
from store.sentence import sentence
from store.snapshot import Snapshot
from syncproto.ids import EntityId


def read_plan(format_: str, name: str, text: str, zone: tzinfo = UTC, now_ms: int | None = None) -> Plan:
    """Read a file into a plan, whose faults report what cannot be read; refuse an unknown format.

    Pure, and slow for a large file: call it before a transaction is opened. `zone` is the person's, `now_ms`
    the time for which the file is read: whether a task still waits depends on it.
    """
    rows = {row.name: row for row in list_formats()}
    if format_ not in rows:
        raise usage_error(
            sentence("unknown-import-format", "no import format is called {name!r}", name=format_[:80]),
            one_of(rows),
        )
    declared = declared_format(rows[format_])
    parser = declared.parse
    assert parser is not None
    plan = parser(name, text, zone, now_ms)
    if reread := declared.reread:
        plan = replace(plan, reread=partial(_reread, reread, zone))
    if write := declared.write_part:

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
