"""Tasks that were made here, went out with an export that gave them ids, and stand in a file again.

Never takes what the file says of such a task otherwise than the journal, and never leaves it out without a
word. Nothing remembers what went out, so this never claims on which side it was changed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from daemon.formats.core.import_history import imported_task_id
from daemon.formats.core.plan import VALUE_FIELDS, Plan, PlannedTask, Skipped, describe_skipped, joined_line
from store.sentence import sentence
from store.snapshot import Snapshot
from syncproto.ids import ID_BYTES, EntityId

_CHANGED = sentence(
    "import-own-task-changed",
    "the file says otherwise than the journal, where the task was made: change it here",
)
_REMOVED = sentence(
    "import-own-task-removed",
    "the file says otherwise than the journal, where the task was removed: restore it and change it here",
)


class MatchedPlan(NamedTuple):
    """A plan whose keys are those of the tasks that the journal has, and the ids of those tasks."""

    plan: Plan
    ids: Mapping[str, EntityId]


def without_own_tasks(snapshot: Snapshot, plan: Plan) -> MatchedPlan:
    """Return a plan without the tasks that were made here; what the file says otherwise is skipped."""
    own = dict(_own_ids(snapshot, plan))
    if not own:
        return MatchedPlan(plan, {})
    now = _said_now(snapshot, plan, own)
    skipped: list[Skipped] = [*plan.skipped]
    unchanged = removed = 0
    for task in plan.tasks:
        if task.key not in own:
            continue
        entity = snapshot.entity(own[task.key])
        is_visible = entity is not None and entity.visible
        is_removed = not task.removed and not is_visible
        current = now.get(own[task.key])
        if is_visible if current is None else _said(task, is_removed) != _said(current, is_removed):
            skipped.append(describe_skipped(task.line, task.title, _REMOVED if is_removed else _CHANGED))
        elif is_removed:
            removed += 1
        else:
            unchanged += 1
    return MatchedPlan(
        replace(
            plan,
            tasks=tuple(task for task in plan.tasks if task.key not in own),
            skipped=tuple(skipped),
            unchanged=unchanged,
            removed=removed,
        ),
        own,
    )


def _own_ids(snapshot: Snapshot, plan: Plan) -> Iterator[tuple[str, EntityId]]:
    for task in plan.tasks:
        identifier = _as_id(task.source or "")
        entity = None if identifier is None else snapshot.entity(identifier)
        if identifier is not None and entity is not None and entity.kind == "task":
            yield task.key, identifier


def _said_now(
    snapshot: Snapshot, plan: Plan, own: Mapping[str, EntityId]
) -> dict[EntityId | None, PlannedTask]:
    """Return what an export of the tasks that the file names would say now of those that were made here."""
    if plan.written_now is None:
        return {}
    # A reader follows a link only if both ends are in the file, so imported tasks are written too.
    imported = {imported_task_id(plan.format, task) for task in plan.tasks if task.key not in own}
    now = plan.written_now(snapshot, imported.union(own.values()))
    return {_as_id(key): task for key, task in now.items()}


def _as_id(source: str) -> EntityId | None:
    """Return the id behind a UUID, which is how an export names a task that has no other name."""
    try:
        raw = bytes.fromhex(source.replace("-", ""))
    except ValueError:
        return None
    return EntityId(raw) if len(raw) == ID_BYTES else None


def _normal_key(key: str) -> str:
    """Return a key in the one form for all in which a UUID can be written."""
    identifier = _as_id(key)
    return key if identifier is None else identifier.hex()


def _said(task: PlannedTask, is_removed: bool) -> tuple[object, ...]:
    """Return what a file says of a task; an export does not say in which state a task was removed."""
    state = None if is_removed else (task.status, task.reason, task.removed)
    checklists = [
        (checklist.title, [(item.title, item.is_checked) for item in checklist.items])
        for checklist in task.checklists
    ]
    return (
        *(task.title, state, *(getattr(task, field.name) for field in VALUE_FIELDS), task.category),
        *(sorted(task.labels), checklists, sorted(joined_line(entry.text) for entry in task.entries)),
        sorted((_normal_key(link.from_key), _normal_key(link.to_key), link.type) for link in task.links),
    )
