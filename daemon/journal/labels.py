"""Labels: add, list, edit, remove, restore; which ones a task may be given, and which it was denied.

A label keeps its id whatever it is called, so renaming it renames it on every task; removed it is out of
sight on its tasks, and back on them when it is restored. It may be scoped to categories; a task that had it
before keeps showing it. Two labels that got one name while devices were apart are both kept, and told.

Never makes two labels of one name, and never stores that a label was denied: that is read from the verdicts
and from the person's own writes.
"""

from typing import Final

from msgspec import UNSET, Struct, UnsetType

from daemon.journal import named_entities
from daemon.journal.fields import validation
from daemon.journal.fields.colors import checked_color
from daemon.journal.fields.described_texts import ColorText, NameText, RemarkText
from daemon.journal.references import entities, names
from daemon.journal.references.entities import BaseClock
from daemon.journal.references.names import LABEL_CATEGORIES
from daemon.journal.views.lookup import clock_json
from daemon.journal.views.presenter import JournalPresenter
from daemon.journal.views.structures import ClockJson, Conflict
from daemon.text_comparison import comparison_key
from store.fold.entity import Entity
from store.fold.verdicts import DecisionStatus
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import ID_BYTES, EntityId, id_from_text, id_to_text

KIND: Final = "label"

ASSIGN_LABEL_TOOL: Final = "assign_task_label"
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
    vector_clock: ClockJson
    removed: bool = False


class NewLabel(Struct, frozen=True, forbid_unknown_fields=True):
    """A label to add; `categories` by name or id."""

    name: NameText
    color: ColorText | None = None
    description: RemarkText | None = None
    categories: list[str] = []


class LabelEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a label; what is left out stays, null empties. `categories` replaces them all."""

    name: NameText | UnsetType = UNSET
    color: ColorText | UnsetType | None = UNSET
    description: RemarkText | UnsetType | None = UNSET
    categories: list[str] | UnsetType = UNSET
    add_categories: list[str] = []
    remove_categories: list[str] = []
    base: BaseClock = None


# -- a person's use cases -----------------------------------------------------------------------------


def list_labels(snapshot: Snapshot, *, task: str | None, removed: bool) -> list[Label]:
    """List labels by name; of a `task`, those that it may be given and has not."""
    label_entities = snapshot.entities(KIND, removed=removed)
    if task is not None:
        label_entities = assignable_labels(snapshot, entities.find_task(snapshot, task))
    return _present(snapshot, [label_entity for label_entity in label_entities if label_entity.exists])


def show(snapshot: Snapshot, ref: str) -> Label:
    """Show one label."""
    return _present(snapshot, [names.find_named(snapshot, KIND, ref)])[0]


def add(tx: Transaction, new: NewLabel) -> Label:
    """Make a label; one that is there already, and as it is asked for, stays as it is."""
    fields = {"color": _color(new.color), "description": validation.checked_remark(new.description)}
    scope = {
        f"{LABEL_CATEGORIES}/{id_to_text(names.find_named(tx, 'category', category).id)}": True
        for category in new.categories
    }
    return _again(tx, named_entities.add(tx, KIND, new.name, {**fields, **scope}))


def edit(tx: Transaction, ref: str, change: LabelEdit) -> Label:
    """Change a label; a name that another one has is refused."""
    label = names.find_named(tx, KIND, ref)
    fields: dict[str, Value] = {}
    if change.name is not UNSET:
        fields["name"] = named_entities.require_free_name(tx, label, change.name)
    if change.color is not UNSET:
        fields["color"] = _color(change.color)
    if change.description is not UNSET:
        fields["description"] = validation.checked_remark(change.description)
    return _again(tx, named_entities.edit(tx, label, fields | _scope_fields(tx, label, change), change.base))


def remove(tx: Transaction, ref: str) -> Label:
    """Take a label out of sight, also on the tasks that have it."""
    return _again(tx, named_entities.remove(tx, KIND, ref))


def restore(tx: Transaction, ref: str) -> Label:
    """Bring a removed label back, also on the tasks that have it."""
    return _again(tx, named_entities.restore(tx, KIND, ref))


def _color(color: str | None) -> str | None:
    return None if color is None else checked_color(color)


def _scope_fields(tx: Transaction, label: Entity, change: LabelEdit) -> dict[str, Value]:
    """Return one field for each category that comes or goes: concurrent additions both stay."""
    now = wanted = set(names.member_ids(label, LABEL_CATEGORIES))
    if change.categories is not UNSET:
        identifiers = names.member_ids_seen_at(
            tx, label, LABEL_CATEGORIES, entities.resolve_base_clock(tx, label, change.base)
        )
        wanted = (now - identifiers) | _categories(tx, change.categories)
    wanted = (wanted | _categories(tx, change.add_categories)) - _categories(tx, change.remove_categories)
    return {
        f"{LABEL_CATEGORIES}/{id_to_text(identifier)}": identifier in wanted
        for identifier in sorted(now ^ wanted)
    }


def _categories(tx: Transaction, refs: list[str]) -> set[EntityId]:
    return {names.find_named(tx, "category", ref, removed=True).id for ref in refs}


def _again(tx: Transaction, label: EntityId) -> Label:
    stored = tx.entity(label)
    assert stored is not None
    return _present(tx, [stored])[0]


def _present(snapshot: Snapshot, label_entities: list[Entity]) -> list[Label]:
    presenter = JournalPresenter(snapshot)
    doubles = named_entities.duplicate_name_keys(snapshot, KIND)
    labels = [
        Label(
            id=id_to_text(label_entity.id),
            name=label_entity.text("name"),
            color=label_entity.text("color") or None,
            description=label_entity.text("description") or None,
            categories=named_entities.names_of(
                presenter.names.categories, names.member_ids(label_entity, LABEL_CATEGORIES)
            ),
            is_double=label_entity.visible and comparison_key(label_entity.text("name")) in doubles,
            conflicts=presenter.conflicts(label_entity),
            vector_clock=clock_json(label_entity.clock),
            removed=not label_entity.visible,
        )
        for label_entity in label_entities
    ]
    return sorted(labels, key=lambda label: (label.name.casefold(), label.id))


# -- what a task may be given -------------------------------------------------------------------------


def assignable_labels(snapshot: Snapshot, task: Entity) -> list[Entity]:
    """Return the labels in sight that a task has not, and that are for its category."""
    has, category = set(names.member_ids(task, names.TASK_LABELS)), names.category_id_of(task)
    return [
        entity
        for entity in snapshot.entities(KIND)
        if entity.id not in has and names.label_allows_category(entity, category)
    ]


def denied_label_ids(snapshot: Snapshot, task: Entity, *, besides: EntityId | None = None) -> set[EntityId]:
    """Return the labels that a person denied a task: what no agent may propose for it again.

    A label is denied if a person rejected it, or took its confirmation back, and that verdict stands; and
    if a person took it off by hand. One that the task has (again) is not denied. The verdict on the
    proposal `besides` does not count: it is the one that is about to change.
    """
    rejected = {
        label
        for item in snapshot.items_with_status(DecisionStatus.REJECTED, task.id)
        if item.tool == ASSIGN_LABEL_TOOL and item.id != besides
        if (label := _label_of(item.args.get("id"))) is not None
    }
    return (rejected | _labels_taken_off(task)) - set(names.member_ids(task, names.TASK_LABELS))


def _label_of(value: object) -> EntityId | None:
    if not isinstance(value, str) or len(value) != 2 * ID_BYTES:
        return None
    try:
        return id_from_text(value)
    except ValueError:
        return None


def _labels_taken_off(task: Entity) -> set[EntityId]:
    """Return the labels whose absence from a task is a person's own word."""
    identifiers = set()
    for field in task.fields():
        prefix, _, member = field.partition("/")
        version = task.version(field)
        if prefix != names.TASK_LABELS or version is None or version.value is not False:
            continue
        label = _label_of(member)
        if label is not None and version.source.by is AuthorKind.USER and version.source.effect is None:
            identifiers.add(label)
    return identifiers
