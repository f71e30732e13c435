"""Tasks: add, edit, finish, remove, restore, list.

Never writes a value that already stands as the person's own, and never more than one commit a request.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from daemon.journal import refs, values
from daemon.journal.errors import Code, Refused, usage
from daemon.journal.filters import Wanted
from daemon.journal.listing import PAGE_MAX, page
from daemon.journal.names import (
    SCOPE,
    SET,
    Names,
    by_id,
    category_of,
    ids_called,
    is_for,
    members,
    members_seen,
)
from daemon.journal.show import Shown
from daemon.journal.views import Task
from store.entity import Entity
from store.fold import DELETED, load
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.heads import Clock
from syncproto.ids import EntityId, from_text, text

LABELS_MAX = 100

Day = Annotated[str, Meta(description="YYYY-MM-DD, or words such as friday; answered as YYYY-MM-DD.")]
Minutes = Annotated[int | str, Meta(description="Minutes, or words such as 2h.")]
LabelNames = Annotated[list[str], Meta(max_length=LABELS_MAX)]
Base = Annotated[
    dict[str, int] | None, Meta(description="The vector_clock that was shown; without it, the current one.")
]


class NewTask(Struct, frozen=True, forbid_unknown_fields=True):
    """A task to add. Labels and the category are given by name, and made at first use."""

    title: str
    status: str = "OPEN"
    reason: str | None = None
    priority: str = values.PRIORITY_DEFAULT
    due: Day | None = None
    estimate_minutes: Minutes | None = None
    language: str | None = None
    labels: LabelNames = []
    category: str | None = None


class TaskEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a task; what is left out stays, null empties. `labels` replaces them all."""

    title: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    reason: str | UnsetType | None = UNSET
    priority: str | UnsetType = UNSET
    due: Day | UnsetType | None = UNSET
    estimate_minutes: Minutes | UnsetType | None = UNSET
    language: str | UnsetType | None = UNSET
    labels: LabelNames | UnsetType = UNSET
    add_labels: LabelNames = []
    remove_labels: LabelNames = []
    category: str | UnsetType | None = UNSET
    base: Base = None


class Shift(Struct, frozen=True, forbid_unknown_fields=True):
    """A change of state that needs no more than the clock that was shown."""

    base: Base = None


# -- reading ------------------------------------------------------------------------------------------


def show(snapshot: Snapshot, ref: str, *, provenance: bool = False) -> Task:
    """Show the task that `ref` names; `provenance` adds who wrote each value, and its statuses so far."""
    return Shown(snapshot, provenance=provenance).whole_task(refs.task(snapshot, ref))


def tasks(
    snapshot: Snapshot,
    *,
    closed: bool,
    removed: bool,
    brief: bool,
    after: str | None = None,
    limit: int = PAGE_MAX,
    wanted: Wanted | None = None,
) -> list[Task]:
    """List open tasks in order of their making, a page of them; `closed` and `removed` as in `lines`."""
    rows = page(snapshot, closed=closed, removed=removed, after=after, limit=limit, wanted=wanted)
    shown = Shown(snapshot).expect([task for task, _ in rows], texts=not brief)
    return [shown.task(Entity(task, load(state), not removed), brief=brief) for task, state in rows]


# -- writing ------------------------------------------------------------------------------------------


def add(tx: Transaction, new: NewTask) -> Task:
    """Make a task."""
    labels, categories = Names(tx, "label"), Names(tx, "category")
    edit = TaskEdit(
        title=new.title,
        status=new.status,
        reason=new.reason,
        priority=new.priority,
        due=UNSET if new.due is None else new.due,
        estimate_minutes=UNSET if new.estimate_minutes is None else new.estimate_minutes,
        language=UNSET if new.language is None else new.language,
        category=UNSET if new.category is None else new.category,
    )
    fields = _plain_fields(edit)
    fields |= _status_fields(edit, None)
    fields |= _category_field(edit, categories)
    fields |= {f"{SET}/{text(one)}": True for one in labels.ids_of(new.labels)}
    _require_scope(tx, fields, None)
    task = tx.new_id()
    tx.commit([*labels.writes, *categories.writes, Write(task, "task", fields)])
    return _shown(tx, task)


def edit(tx: Transaction, ref: str, change: TaskEdit) -> Task:
    """Change a task; what already stands as the person's own is not written again."""
    task = refs.task(tx, ref)
    clock = refs.base_shown(tx, task, change.base)
    labels, categories = Names(tx, "label"), Names(tx, "category")
    fields = _plain_fields(change)
    fields |= _status_fields(change, task)
    fields |= _category_field(change, categories)
    fields |= _label_fields(tx, change, task, labels, clock)
    _require_scope(tx, fields, category_of(task))
    return _write(tx, task, fields, clock, [*labels.writes, *categories.writes])


def done(tx: Transaction, ref: str, shift: Shift) -> Task:
    """Finish a task; one that is done already stays as it is."""
    return edit(tx, ref, TaskEdit(status="DONE", base=shift.base))


def remove(tx: Transaction, ref: str) -> Task:
    """Take a task out of sight; its history stays, and so does what others write to it meanwhile."""
    task = refs.task(tx, ref, removed=True)
    return _write(tx, task, {DELETED: True}, None) if task.visible else _shown(tx, task.id)


def restore(tx: Transaction, ref: str) -> Task:
    """Bring a removed task back; where a deletion and an edit met, keep the task."""
    task = refs.task(tx, ref, removed=True)
    return _write(tx, task, {DELETED: False}, None)


def _write(
    tx: Transaction,
    task: Entity,
    fields: dict[str, Value],
    clock: Clock | None,
    before: list[Write] | None = None,
) -> Task:
    changed = {name: value for name, value in fields.items() if not stands(task, name, value)}
    # A status and its reason are one word: whichever status wins, it wins with the reason given for it.
    if "status" in changed and fields.get("reason") is not None:
        changed["reason"] = fields["reason"]
    writes = [*(before or []), *([Write(task.id, "task", changed, base=clock)] if changed else [])]
    if writes:
        tx.commit(writes)
    return _shown(tx, task.id)


def stands(entity: Entity, field: str, value: Value) -> bool:
    """Say whether a field already has this value, undisputed and by a person's own word."""
    versions = entity.versions(field)
    if not versions:
        return value is None or value is False
    source = versions[0].source
    own = source.by is By.USER and source.effect is None
    return own and all(version.value == value for version in versions)


def _shown(tx: Transaction, task: EntityId) -> Task:
    held = tx.entity(task)
    assert held is not None
    return Shown(tx).task(held)


# -- fields -------------------------------------------------------------------------------------------

_CHECKS: Mapping[str, Any] = {
    "title": values.title,
    "priority": values.priority,
    "due": values.due,
    "estimate_minutes": values.estimate,
    "language": values.language,
}


def _plain_fields(change: TaskEdit) -> dict[str, Value]:
    given = {name: getattr(change, name) for name in _CHECKS}
    return {
        name: None if value is None else _CHECKS[name](value)
        for name, value in given.items()
        if value is not UNSET
    }


def _status_fields(change: TaskEdit, task: Entity | None) -> dict[str, Value]:
    """Return status and reason: BLOCKED and ON HOLD keep one, and a change of status drops an old one."""
    before = task.text("status") if task else ""
    old = task.text("reason") if task else ""
    status = before if change.status is UNSET else values.status(change.status)
    if change.reason is not UNSET:
        reason = values.reason(change.reason)
    else:
        reason = old or None if status == before else None
    asked = change.status is not UNSET or change.reason is not UNSET
    if asked and status in values.NEEDS_REASON and reason is None:
        raise usage(f"{status} needs a reason", "say what it waits for (--reason)")
    fields: dict[str, Value] = {} if change.status is UNSET else {"status": status}
    if reason != (old or None) or (asked and reason is not None):
        fields["reason"] = reason
    return fields


def _category_field(change: TaskEdit, categories: Names) -> dict[str, Value]:
    if change.category is UNSET:
        return {}
    return {"category_id": None if change.category is None else categories.id_of(change.category)}


def _label_fields(
    tx: Transaction, change: TaskEdit, task: Entity, labels: Names, clock: Clock | None
) -> dict[str, Value]:
    """Return one field for each label that comes or goes: concurrent additions both stay."""
    now = wanted = set(task.members(SET))
    if change.labels is not UNSET:
        seen = {text(one) for one in members_seen(tx, task, SET, clock)}
        wanted = (now - seen) | {text(one) for one in labels.ids_of(change.labels)}
    wanted = wanted | {text(one) for one in labels.ids_of(change.add_labels)}
    wanted -= {text(one) for name in change.remove_labels for one in ids_called(tx, "label", name)}
    if len(wanted) > LABELS_MAX:
        raise Refused(Code.USAGE, f"{len(wanted)} labels are more than a task takes ({LABELS_MAX})")
    return {f"{SET}/{member}": member in wanted for member in sorted(now ^ wanted)}


def _require_scope(tx: Transaction, fields: dict[str, Value], before: EntityId | None) -> None:
    """Refuse a label that is added to a task of a category that it is not for."""
    value = fields.get("category_id", before)
    category = EntityId(value) if isinstance(value, bytes) else None
    for field, is_in in fields.items():
        prefix, _, member = field.partition("/")
        label = tx.entity(from_text(member)) if prefix == SET and is_in else None
        if label is not None and not is_for(label, category):
            scope = sorted(by_id(tx, "category").get(one, "one removed") for one in members(label, SCOPE))
            raise usage(
                f"the label {label.text('name')!r} is for the category {' or '.join(scope)}",
                "choose another label or category, or widen it: `label edit --category`",
            )
