"""Which labels an agent may propose for a task: those that are offered, as long as there is room.

Never brings back one that a person turned down: that is read from the verdicts and the person's own writes.
"""

from typing import Final

from daemon.journal import labels, names
from store.entity import Entity
from store.snapshot import Snapshot
from syncproto.ids import EntityId

LABELS_MAX: Final = 5
"""How many labels a task may have and still be given one by an agent; a person may give more."""


def objection(snapshot: Snapshot, task: Entity, label: EntityId, waiting: int = 0) -> str | None:
    """Say why a label is not proposed for a task; `waiting` counts those that this run proposes already."""
    return (
        unfit(snapshot, task, label)
        or suppressed(snapshot, task, label)
        or full(snapshot, task, waiting=waiting)
    )


def unfit(snapshot: Snapshot, task: Entity, label: EntityId) -> str | None:
    """Say that there is no such label, that the task has it, or that it is not for the task's category."""
    held = snapshot.entity(label)
    if held is None or held.kind != labels.KIND:
        return "there is no such label"
    called = _called(held)
    if not held.visible:
        return f"{called} was removed"
    if label in names.members(task, names.SET):
        return f"{called} is already assigned"
    return None if names.is_for(held, names.category_of(task)) else f"{called} is not for the task's category"


def suppressed(
    snapshot: Snapshot, task: Entity, label: EntityId, *, besides: EntityId | None = None
) -> str | None:
    """Say that a person denied the task this label, `besides` by their verdict on that proposal."""
    if label not in labels.suppressed(snapshot, task, besides=besides):
        return None
    held = snapshot.entity(label)
    return f"{'the label' if held is None else _called(held)} was rejected by the user"


def full(snapshot: Snapshot, task: Entity, *, waiting: int = 0) -> str | None:
    """Say that the task has as many labels in sight as an agent may bring it to."""
    held = (snapshot.entity(one) for one in names.members(task, names.SET))
    number = sum(one is not None and one.visible for one in held) + waiting
    return None if number < LABELS_MAX else f"a task has at most {LABELS_MAX} labels"


def _called(label: Entity) -> str:
    return f'"{label.text("name")}"'
