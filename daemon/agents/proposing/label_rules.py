"""Which labels an agent may propose for a task: visible ones of its category, up to a number per task.

Never brings back a label that a person turned down, by a verdict or by a write of their own.
"""

from typing import Final

from daemon.journal import labels
from daemon.journal.references import names
from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.ids import EntityId

LABELS_MAX: Final = 5
"""An agent proposes a label only if the task then has at most this many; a person may give more."""


def label_objection(snapshot: Snapshot, task: Entity, label: EntityId, waiting: int = 0) -> str | None:
    """Return why a label is not proposed for a task.

    `waiting` counts the labels that this run proposes already.
    """
    return (
        unfit_label_reason(snapshot, task, label)
        or suppressed_label_reason(snapshot, task, label)
        or full_labels_reason(snapshot, task, waiting=waiting)
    )


def unfit_label_reason(snapshot: Snapshot, task: Entity, label: EntityId) -> str | None:
    """Return that there is no such label, that the task has it, or that it is not for the task's category."""
    entity = snapshot.entity(label)
    if entity is None or entity.kind != labels.KIND:
        return "there is no such label"
    name = _quoted_name(entity)
    if not entity.visible:
        return f"{name} was removed"
    if label in names.member_ids(task, names.TASK_LABELS):
        return f"{name} is already assigned"
    return (
        None
        if names.label_allows_category(entity, names.category_id_of(task))
        else f"{name} is not for the task's category"
    )


def suppressed_label_reason(
    snapshot: Snapshot, task: Entity, label: EntityId, *, besides: EntityId | None = None
) -> str | None:
    """Return that a person denied the task this label. The item `besides` is not taken into account."""
    if label not in labels.denied_label_ids(snapshot, task, besides=besides):
        return None
    entity = snapshot.entity(label)
    return f"{'the label' if entity is None else _quoted_name(entity)} was rejected by the user"


def full_labels_reason(snapshot: Snapshot, task: Entity, *, waiting: int = 0) -> str | None:
    """Return that the task has as many visible labels as an agent may bring it to."""
    members = (snapshot.entity(label) for label in names.member_ids(task, names.TASK_LABELS))
    number = sum(label is not None and label.visible for label in members) + waiting
    return None if number < LABELS_MAX else f"a task has at most {LABELS_MAX} labels"


def _quoted_name(label: Entity) -> str:
    return f'"{label.text("name")}"'
