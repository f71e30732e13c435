"""What an agent is shown of its task, read from one snapshot: the state that its proposals rest on.

Never writes, and never shows what belongs to another task.
"""

from daemon.agents.judging import children, items_of
from daemon.agents.proposals import Seen
from daemon.journal import positions
from daemon.journal.values import PRIORITY_DEFAULT
from store.entity import Entity
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.ids import EntityId

_FIELDS = ("title", "estimate_minutes", "due", "priority", "status")


def seen_of(snapshot: Snapshot, task: EntityId) -> Seen:
    """Return what proposals about a task rest on; what cannot be read is None, and kept."""
    held = snapshot.entity(task)
    if held is None or not held.exists:
        return Seen(task, (), None, None, None)
    fields: dict[str, Value] = {name: held.value(name) for name in _FIELDS}
    fields["priority"] = fields["priority"] or PRIORITY_DEFAULT
    items = items_of(snapshot, task)
    return Seen(
        task, held.clock, fields, tuple(one.text("title") for one in items), last_place(snapshot, task)
    )


def last_place(snapshot: Snapshot, task: EntityId) -> str | None:
    """Return the place of the last item in the task's first checklist; None where there is none."""
    checklists = children(snapshot, task, "task_checklist")
    items = children(snapshot, checklists[0].id, "checklist_item") if checklists else []
    return max((place for one in items if positions.is_place(place := _place(one))), default=None)


def _place(item: Entity) -> str:
    return item.text("position")
