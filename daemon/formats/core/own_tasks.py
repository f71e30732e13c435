"""Tasks that were made here, went out with an export that gave them ids, and stand in a file again.

Never takes an edit of such a task from the file, and never leaves one out without a word.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from daemon.formats.core.plan import Plan, PlannedTask, Skipped, describe_skipped, joined_line
from store.sentence import sentence
from store.snapshot import Snapshot
from syncproto.ids import ID_BYTES, EntityId

REMOVED_HERE = sentence(
    "import-removed-here", "changed in the file, but removed in Placet: restore it to import it again"
)
_CHANGED = sentence(
    "import-own-task-changed", "changed in the file, but a task of this journal: change it here"
)


class MatchedPlan(NamedTuple):
    """A plan whose keys are those of the tasks that the journal has, and the ids of those tasks."""

    plan: Plan
    ids: Mapping[str, EntityId]


def without_own_tasks(snapshot: Snapshot, plan: Plan) -> MatchedPlan:
    """Return a plan without the tasks that were made here: what was edited of them in the file is skipped."""
    own = dict(_own_ids(snapshot, plan))
    if not own:
        return MatchedPlan(plan, {})
    now = plan.written_now(snapshot, frozenset(own.values())) if plan.written_now else {}
    skipped: list[Skipped] = [*plan.skipped]
    unchanged = removed = 0
    for task in plan.tasks:
        if task.key not in own:
            continue
        entity = snapshot.entity(own[task.key])
        is_removed = not task.removed and (entity is None or not entity.visible)
        current = now.get(task.key)
        if current is not None and _said(task, is_removed) != _said(current, is_removed):
            skipped.append(describe_skipped(task.line, task.title, REMOVED_HERE if is_removed else _CHANGED))
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


def _as_id(source: str) -> EntityId | None:
    """Return the id behind a UUID, which is how an export names a task that has no other name."""
    try:
        raw = bytes.fromhex(source.replace("-", ""))
    except ValueError:
        return None
    return EntityId(raw) if len(raw) == ID_BYTES else None


def _said(task: PlannedTask, is_removed: bool) -> tuple[object, ...]:
    """Return what a file says of a task; an export does not say in which state a task was removed."""
    state = None if is_removed else (task.status, task.reason, task.removed)
    checklists = [
        (checklist.title, [(item.title, item.is_checked) for item in checklist.items])
        for checklist in task.checklists
    ]
    return (
        *(task.title, state, task.priority, task.due, task.estimate_minutes, task.language, task.category),
        *(sorted(task.labels), checklists, sorted(joined_line(entry.text) for entry in task.entries)),
        sorted((link.from_key, link.to_key, link.type) for link in task.links),
    )
