"""Tasks: add, edit, finish, remove, restore, list.

Never writes a value that already stands as the person's own, and never more than one commit a request.
"""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from daemon.due_time import due_time_on, hour_on_day, read_due_time
from daemon.journal.fields import validation
from daemon.journal.fields.described_texts import (
    LanguageText,
    Minutes,
    NameText,
    PriorityText,
    RemarkText,
    StatusText,
    TitleText,
)
from daemon.journal.fields.provenance import is_set_by_person
from daemon.journal.references import entities
from daemon.journal.references.entities import BaseClock
from daemon.journal.references.name_registry import NameRegistry
from daemon.journal.references.names import (
    LABEL_CATEGORIES,
    TASK_LABELS,
    category_id_of,
    ids_named,
    label_allows_category,
    member_ids,
    member_ids_seen_at,
    names_by_id,
)
from daemon.journal.references.task_filters import ResolvedFilter
from daemon.journal.views.presenter import JournalPresenter
from daemon.journal.views.structures import Task
from daemon.journal.views.task_lines import PAGE_MAX, task_states_page
from daemon.refusal import RefusalCode, Refused, usage_error
from daemon.task_fields import TASK_FIELDS, FieldType
from store.fold.entity import Entity
from store.fold.entity_state import DELETED, load_state
from store.fold.list_columns import ListOrder, day_text
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, id_from_text, id_to_text
from syncproto.vector_clock import VectorClock

LABELS_MAX = 100

TypedDay = Annotated[str, Meta(description="YYYY-MM-DD, or words such as friday; answered as YYYY-MM-DD.")]
TypedHour = Annotated[
    str,
    Meta(
        description="When on its day it is due, such as 14:00; answered as 2026-12-24T14:00[Europe/Berlin]."
    ),
]
TypedMinutes = Annotated[Minutes | str, Meta(description="Minutes, or words such as 2h.")]
LabelNames = Annotated[list[NameText], Meta(max_length=LABELS_MAX)]


class NewTask(Struct, frozen=True, forbid_unknown_fields=True):
    """A task to add. Labels and the category are given by name, and made at first use."""

    title: TitleText
    status: StatusText = "OPEN"
    reason: RemarkText | None = None
    priority: PriorityText = validation.PRIORITY_DEFAULT
    due: TypedDay | None = None
    due_time: TypedHour | None = None
    start: TypedDay | None = None
    estimate_minutes: TypedMinutes | None = None
    language: LanguageText | None = None
    labels: LabelNames = []
    category: NameText | None = None


class TaskEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a task; what is left out stays, null empties. `labels` replaces them all."""

    title: TitleText | UnsetType = UNSET
    status: StatusText | UnsetType = UNSET
    reason: RemarkText | UnsetType | None = UNSET
    priority: PriorityText | UnsetType = UNSET
    due: TypedDay | UnsetType | None = UNSET
    due_time: TypedHour | UnsetType | None = UNSET
    start: TypedDay | UnsetType | None = UNSET
    estimate_minutes: TypedMinutes | UnsetType | None = UNSET
    language: LanguageText | UnsetType | None = UNSET
    labels: LabelNames | UnsetType = UNSET
    add_labels: LabelNames = []
    remove_labels: Annotated[list[str], Meta(max_length=LABELS_MAX)] = []
    category: NameText | UnsetType | None = UNSET
    base: BaseClock = None


class Shift(Struct, frozen=True, forbid_unknown_fields=True):
    """A change of state that needs no more than the clock that was shown."""

    base: BaseClock = None


# -- reading ------------------------------------------------------------------------------------------


def show(snapshot: Snapshot, ref: str, *, provenance: bool = False) -> Task:
    """Show the task that `ref` names; `provenance` adds who wrote each value, and its statuses so far."""
    return JournalPresenter(snapshot, provenance=provenance).task_with_provenance(
        entities.find_task(snapshot, ref)
    )


def list_tasks(
    snapshot: Snapshot,
    *,
    closed: bool,
    removed: bool,
    brief: bool,
    after: str | None = None,
    limit: int = PAGE_MAX,
    wanted: ResolvedFilter | None = None,
    order: ListOrder = ListOrder.OLDEST,
    begun_by: str | None = None,
    today: date | None = None,
) -> list[Task]:
    """List a page of open tasks; `closed`, `removed`, `begun_by` and `today` as in `task_lines_page`."""
    rows = task_states_page(
        snapshot,
        closed=closed,
        removed=removed,
        after=after,
        limit=limit,
        wanted=wanted,
        order=order,
        begun_by=begun_by,
        today=today,
    )
    presenter = JournalPresenter(snapshot)
    presenter.children.preload([task for task, _ in rows], texts=not brief)
    return [presenter.task(Entity(task, load_state(state), not removed), brief=brief) for task, state in rows]


# -- writing ------------------------------------------------------------------------------------------


def add(tx: Transaction, new: NewTask) -> Task:
    """Make a task."""
    labels, categories = NameRegistry(tx, "label"), NameRegistry(tx, "category")
    given = {field.name: getattr(new, field.name) for field in TASK_FIELDS if field.name != "labels"}
    edit = TaskEdit(**{name: value for name, value in given.items() if value is not None})
    fields = _plain_fields(edit)
    fields |= _due_fields(fields, None)
    fields |= _status_fields(edit, None)
    fields |= _category_field(edit, categories)
    fields |= {
        f"{TASK_LABELS}/{id_to_text(identifier)}": True for identifier in labels.ids_to_use(new.labels)
    }
    _require_scope(tx, fields, None)
    task = tx.new_id()
    tx.commit([*labels.writes, *categories.writes, EntityWrite(task, "task", fields)])
    return _present(tx, task)


def edit(tx: Transaction, ref: str, change: TaskEdit) -> Task:
    """Change a task; a value that is already the person's own is not written again."""
    task = entities.find_task(tx, ref)
    clock = entities.resolve_base_clock(tx, task, change.base)
    labels, categories = NameRegistry(tx, "label"), NameRegistry(tx, "category")
    fields = _plain_fields(change)
    fields |= _due_fields(fields, task)
    fields |= _status_fields(change, task)
    fields |= _category_field(change, categories)
    fields |= _label_fields(tx, change, task, labels, clock)
    _require_scope(tx, fields, category_id_of(task))
    return _write(tx, task, fields, clock, [*labels.writes, *categories.writes])


def finish(tx: Transaction, ref: str, shift: Shift) -> Task:
    """Finish a task; one that is done already stays as it is."""
    return edit(tx, ref, TaskEdit(status="DONE", base=shift.base))


def remove(tx: Transaction, ref: str) -> Task:
    """Take a task out of sight; its history stays, and so does what others write to it meanwhile."""
    task = entities.find_task(tx, ref, removed=True)
    return _write(tx, task, {DELETED: True}, None) if task.visible else _present(tx, task.id)


def restore(tx: Transaction, ref: str) -> Task:
    """Bring a removed task back; if a deletion and an edit conflict, keep the task."""
    task = entities.find_task(tx, ref, removed=True)
    return _write(tx, task, {DELETED: False}, None)


def _write(
    tx: Transaction,
    task: Entity,
    fields: dict[str, Value],
    clock: VectorClock | None,
    before: list[EntityWrite] | None = None,
) -> Task:
    changed = {name: value for name, value in fields.items() if not is_set_by_person(task, name, value)}
    # A status and its reason are one word: whichever status wins, it wins with the reason given for it.
    if "status" in changed and fields.get("reason") is not None:
        changed["reason"] = fields["reason"]
    # So are an hour and its day.
    if changed.get("due_time") is not None:
        changed["due"] = fields["due"]
    writes = [*(before or []), *([EntityWrite(task.id, "task", changed, base=clock)] if changed else [])]
    if writes:
        tx.commit(writes)
    return _present(tx, task.id)


def _present(tx: Transaction, task: EntityId) -> Task:
    stored = tx.entity(task)
    assert stored is not None
    return JournalPresenter(tx).task(stored)


def touch_task(task: Entity) -> EntityWrite:
    """Return the empty operation by which a person's write to a child rests on its task."""
    return EntityWrite(task.id, task.kind, {})


def require_visible_task(task: Entity | None) -> Entity | None:
    """Refuse what belongs to a task that was removed."""
    if task is not None and not task.visible:
        raise entities.removed_refusal("task", task)
    return task


def remove_child(tx: Transaction, kind: str, ref: str) -> Entity:
    """Take out of sight what hangs from a task, if it is in sight; return it as it was."""
    child = entities.find_entity(tx, [kind], ref, removed=True)
    if child.visible:
        tx.commit([EntityWrite(child.id, kind, {DELETED: True})])
    return child


def restore_child(tx: Transaction, child: Entity, task: Entity | None) -> None:
    """Bring back what hangs from a task, unless a person did already. Raises Refused for a removed task."""
    task = require_visible_task(task)
    if not is_set_by_person(child, DELETED, False):
        restored = EntityWrite(child.id, child.kind, {DELETED: False})
        tx.commit([restored, *([touch_task(task)] if task else [])])


# -- fields -------------------------------------------------------------------------------------------

_CHECKS: Mapping[FieldType, Any] = {
    "title": validation.checked_title,
    "priority": validation.checked_priority,
    "day": validation.checked_due_day,
    "due_time": validation.checked_due_time,
    "minutes": validation.checked_estimate,
    "language": validation.checked_language,
}
"""How a value is checked that says all by itself."""
_CHECKED_BELOW: Final = frozenset[FieldType]({"status", "reason", "name", "names"})
"""What needs more than its value. A type in neither fails at once: a value that is given is never dropped."""


def _plain_fields(change: TaskEdit) -> dict[str, Value]:
    fields = [
        (field, getattr(change, field.name)) for field in TASK_FIELDS if field.type not in _CHECKED_BELOW
    ]
    return {
        field.name: None if value is None else _CHECKS[field.type](value)
        for field, value in fields
        if value is not UNSET
    }


def _due_fields(fields: Mapping[str, Value], task: Entity | None) -> dict[str, Value]:
    """Return the day and the hour of a change: an hour brings its day, and a day takes the hour along."""
    due, hour = fields.get("due"), fields.get("due_time")
    day = due if "due" in fields else day_text(task.value("due")) if task is not None else None
    if isinstance(hour, str):
        kept = read_due_time(hour) or hour_on_day(day, hour)
        if kept is None:
            raise usage_error(
                sentence("hour-without-day", "{hour} is an hour of no day", hour=hour),
                sentence("name-the-day", "name the day too, such as friday 14:00"),
            )
        if isinstance(due, str) and due != kept.day.isoformat():
            raise usage_error(
                sentence("hour-of-another-day", "{hour} is not on {day}", hour=kept.text(), day=due),
                sentence("name-one-day", "name one day, or leave `due` out"),
            )
        return {"due": kept.day.isoformat(), "due_time": kept.text()}
    return {} if "due" not in fields or "due_time" in fields else moved_hour(task, due)


def moved_hour(task: Entity | None, day: Value) -> dict[str, Value]:
    """Return what a change of the day writes of the hour: it goes along, and goes away with the day."""
    if task is None or task.value("due_time") is None:
        return {}
    old = due_time_on(task.value("due"), task.value("due_time"))
    moved = None if old is None or not isinstance(day, str) else old._replace(day=date.fromisoformat(day))
    return {"due_time": None if moved is None else moved.text()}


def _status_fields(change: TaskEdit, task: Entity | None) -> dict[str, Value]:
    """Return status and reason: BLOCKED and ON HOLD keep one, and a change of status drops an old one."""
    before = task.text("status") if task else ""
    old = task.text("reason") if task else ""
    status = before if change.status is UNSET else validation.checked_status(change.status)
    if change.reason is not UNSET:
        reason = validation.checked_reason(change.reason)
    else:
        reason = old or None if status == before else None
    has_change = change.status is not UNSET or change.reason is not UNSET
    if has_change and status in validation.NEEDS_REASON and reason is None:
        raise usage_error(
            sentence("reason-needed", "{status} needs a reason", status=status),
            sentence("give-reason", "say what it waits for (--reason)"),
        )
    fields: dict[str, Value] = {} if change.status is UNSET else {"status": status}
    if reason != (old or None) or (has_change and reason is not None):
        fields["reason"] = reason
    return fields


def _category_field(change: TaskEdit, categories: NameRegistry) -> dict[str, Value]:
    if change.category is UNSET:
        return {}
    return {"category_id": None if change.category is None else categories.id_to_use(change.category)}


def _label_fields(
    tx: Transaction, change: TaskEdit, task: Entity, labels: NameRegistry, clock: VectorClock | None
) -> dict[str, Value]:
    """Return one field for each label that comes or goes: concurrent additions both stay."""
    now = wanted = set(task.members(TASK_LABELS))
    if change.labels is not UNSET:
        seen_labels = {
            id_to_text(identifier) for identifier in member_ids_seen_at(tx, task, TASK_LABELS, clock)
        }
        wanted = (now - seen_labels) | {
            id_to_text(identifier) for identifier in labels.ids_to_use(change.labels)
        }
    wanted = wanted | {id_to_text(identifier) for identifier in labels.ids_to_use(change.add_labels)}
    wanted -= {
        id_to_text(identifier) for name in change.remove_labels for identifier in ids_named(tx, "label", name)
    }
    if len(wanted) > LABELS_MAX:
        raise Refused(
            RefusalCode.USAGE,
            sentence(
                "too-many-labels",
                "{count} labels are more than a task may have ({most})",
                count=len(wanted),
                most=LABELS_MAX,
            ),
        )
    return {f"{TASK_LABELS}/{member}": member in wanted for member in sorted(now ^ wanted)}


def _require_scope(tx: Transaction, fields: dict[str, Value], before: EntityId | None) -> None:
    """Refuse a label that is added to a task of a category that it is not for."""
    value = fields.get("category_id", before)
    category = EntityId(value) if isinstance(value, bytes) else None
    for field, is_in in fields.items():
        prefix, _, member = field.partition("/")
        label = tx.entity(id_from_text(member)) if prefix == TASK_LABELS and is_in else None
        if label is not None and not label_allows_category(label, category):
            scope = sorted(
                names_by_id(tx, "category").get(member_id, "one removed")
                for member_id in member_ids(label, LABEL_CATEGORIES)
            )
            raise usage_error(
                sentence(
                    "label-for-category",
                    "the label {name!r} is for the category {categories}",
                    name=label.text("name"),
                    categories=" or ".join(scope),
                ),
                sentence(
                    "widen-label", "choose another label or category, or widen it: `label edit --category`"
                ),
            )
