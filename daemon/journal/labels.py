"""Labels: add, list, edit, remove, restore; which ones a task may be given, and which it was denied.

A label keeps its id whatever it is called, so renaming it renames it on every task; removed it is out of
sight on its tasks, and back on them when it is restored. It may be scoped to categories; a task that had it
before keeps showing it. Two labels that got one name while devices were apart are both kept, and told.

Never makes two labels of one name, and never stores that a label was denied: that is read from the verdicts
and from the person's own writes.
"""

from typing import Final

from msgspec import UNSET, Struct, UnsetType

from daemon.journal import named, names, refs, values
from daemon.journal.colors import color
from daemon.journal.names import SCOPE
from daemon.journal.show import Shown, vector_clock
from daemon.journal.tasks import Base
from daemon.journal.values import folded
from daemon.journal.views import Conflict, VectorClock
from store.entity import Entity
from store.snapshot import Snapshot
from store.transaction import Transaction
from store.verdicts import Status
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.ids import ID_BYTES, EntityId, from_text, text

KIND: Final = "label"

ASSIGN: Final = "assign_task_label"
"""The tool by which agents propose a label; its argument `id` is the label."""


class Label(Struct, frozen=True, kw_only=True):
    """A label. `categories` are the names of those that it is for; none: all, and tasks without one.

    `is_double`: another label in sight has the same name.
    """

    id: str
    name: str
    color: str | None
    description: str | None
    categories: list[str]
    is_double: bool
    conflicts: list[Conflict]
    vector_clock: VectorClock
    removed: bool = False


class NewLabel(Struct, frozen=True, forbid_unknown_fields=True):
    """A label to add; `categories` by name or id."""

    name: str
    color: str | None = None
    description: str | None = None
    categories: list[str] = []


class LabelEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a label; what is left out stays, null empties. `categories` replaces them all."""

    name: str | UnsetType = UNSET
    color: str | UnsetType | None = UNSET
    description: str | UnsetType | None = UNSET
    categories: list[str] | UnsetType = UNSET
    add_categories: list[str] = []
    remove_categories: list[str] = []
    base: Base = None


# -- a person's use cases -----------------------------------------------------------------------------


def listed(snapshot: Snapshot, *, task: str | None, removed: bool) -> list[Label]:
    """List labels by name; of a `task`, those that it may be given and has not."""
    held = snapshot.entities(KIND, removed=removed)
    if task is not None:
        held = offered(snapshot, refs.task(snapshot, task))
    return _shown(snapshot, [one for one in held if one.exists])


def show(snapshot: Snapshot, ref: str) -> Label:
    """Show one label."""
    return _shown(snapshot, [names.find(snapshot, KIND, ref)])[0]


def add(tx: Transaction, new: NewLabel) -> Label:
    """Make a label; one that is there already, and as it is asked for, stays as it is."""
    fields = {"color": _color(new.color), "description": values.remark(new.description)}
    scope = {f"{SCOPE}/{text(names.find(tx, 'category', one).id)}": True for one in new.categories}
    return _again(tx, named.add(tx, KIND, new.name, {**fields, **scope}))


def edit(tx: Transaction, ref: str, change: LabelEdit) -> Label:
    """Change a label; a name that another one has is refused."""
    label = names.find(tx, KIND, ref)
    fields: dict[str, Value] = {}
    if change.name is not UNSET:
        fields["name"] = named.free_name(tx, label, change.name)
    if change.color is not UNSET:
        fields["color"] = _color(change.color)
    if change.description is not UNSET:
        fields["description"] = values.remark(change.description)
    return _again(tx, named.edit(tx, label, fields | _scope_fields(tx, label, change), change.base))


def remove(tx: Transaction, ref: str) -> Label:
    """Take a label out of sight, also on the tasks that have it."""
    return _again(tx, named.remove(tx, KIND, ref))


def restore(tx: Transaction, ref: str) -> Label:
    """Bring a removed label back, also on the tasks that have it."""
    return _again(tx, named.restore(tx, KIND, ref))


def _color(given: str | None) -> str | None:
    return None if given is None else color(given)


def _scope_fields(tx: Transaction, label: Entity, change: LabelEdit) -> dict[str, Value]:
    """Return one field for each category that comes or goes: concurrent additions both stay."""
    now = wanted = set(names.members(label, SCOPE))
    if change.categories is not UNSET:
        seen = names.members_seen(tx, label, SCOPE, refs.base_shown(tx, label, change.base))
        wanted = (now - seen) | _categories(tx, change.categories)
    wanted = (wanted | _categories(tx, change.add_categories)) - _categories(tx, change.remove_categories)
    return {f"{SCOPE}/{text(one)}": one in wanted for one in sorted(now ^ wanted)}


def _categories(tx: Transaction, given: list[str]) -> set[EntityId]:
    return {names.find(tx, "category", one, removed=True).id for one in given}


def _again(tx: Transaction, label: EntityId) -> Label:
    held = tx.entity(label)
    assert held is not None
    return _shown(tx, [held])[0]


def _shown(snapshot: Snapshot, held: list[Entity]) -> list[Label]:
    shown = Shown(snapshot)
    doubles = named.doubles(snapshot, KIND)
    labels = [
        Label(
            id=text(one.id),
            name=one.text("name"),
            color=one.text("color") or None,
            description=one.text("description") or None,
            categories=named.called(shown.categories, names.members(one, SCOPE)),
            is_double=one.visible and folded(one.text("name")) in doubles,
            conflicts=shown.conflicts(one),
            vector_clock=vector_clock(one.clock),
            removed=not one.visible,
        )
        for one in held
    ]
    return sorted(labels, key=lambda one: (one.name.casefold(), one.id))


# -- what a task may be given -------------------------------------------------------------------------


def offered(snapshot: Snapshot, task: Entity) -> list[Entity]:
    """Return the labels in sight that a task has not, and that are for its category."""
    has, category = set(names.members(task, names.SET)), names.category_of(task)
    return [one for one in snapshot.entities(KIND) if one.id not in has and names.is_for(one, category)]


def suppressed(snapshot: Snapshot, task: Entity, *, besides: EntityId | None = None) -> set[EntityId]:
    """Return the labels that a person denied a task: what no agent may propose for it again.

    A label is denied where a person rejected it, or took its confirmation back, and that verdict stands; and
    where a person took it off by hand. One that the task has (again) is not denied. The verdict on the
    proposal `besides` does not count: it is the one that is about to change.
    """
    rejected = {
        label
        for item in snapshot.items_that_are(Status.REJECTED, task.id)
        if item.tool == ASSIGN and item.id != besides
        if (label := _label_of(item.args.get("id"))) is not None
    }
    return (rejected | _taken_off(task)) - set(names.members(task, names.SET))


def _label_of(given: object) -> EntityId | None:
    if not isinstance(given, str) or len(given) != 2 * ID_BYTES:
        return None
    try:
        return from_text(given)
    except ValueError:
        return None


def _taken_off(task: Entity) -> set[EntityId]:
    """Return the labels whose absence from a task is a person's own word."""
    found = set()
    for field in task.fields():
        prefix, _, member = field.partition("/")
        version = task.version(field)
        if prefix != names.SET or version is None or version.value is not False:
            continue
        label = _label_of(member)
        if label is not None and version.source.by is By.USER and version.source.effect is None:
            found.add(label)
    return found
