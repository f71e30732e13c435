"""Conflicts and how they are settled: a person chooses one value, which is written over all of them.

Never drops a value: the others are in the history.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from daemon.journal.fields.schema import OTHER_LOGGED_KINDS, is_logged_kind
from daemon.journal.references import entities
from daemon.journal.references.entities import BaseClock
from daemon.journal.references.names import shown_name
from daemon.journal.views import conflict_versions
from daemon.journal.views.lookup import clock_json
from daemon.journal.views.part_bounds import PartBounds
from daemon.journal.views.presenter import JournalPresenter
from daemon.journal.views.structures import Conflict, ConflictVersion
from daemon.refusal import RefusalCode, Refused, usage_error
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Redacted
from syncproto.ids import EntityId, id_to_text

CONFLICT_KINDS = (
    "task",
    "checklist",
    "checklist_item",
    "entry",
    "time_record",
    "link",
    "label",
    "category",
    "agent",
)
CONFLICTS_COUNTED_MAX = 500
"""So many are counted at most."""
_UP = ("checklist_id", "task_id", "from_id")
_DEPTH_MAX = 4
_SAID = {"position": "place", "deleted": "deletion"}


class Keep(Struct, frozen=True, forbid_unknown_fields=True):
    """Which value to keep: the n-th that was shown, counted from 1.

    `base` is the `vector_clock` that was shown with it.
    """

    entity: str
    field: str
    n: Annotated[int, Meta(ge=1)]
    base: BaseClock = None


def list_conflicts(snapshot: Snapshot, ref: str | None) -> list[Conflict]:
    """Show what is in conflict on a task and what belongs to it, or everywhere."""
    task = None if ref is None else entities.find_task(snapshot, ref).id
    presenter = JournalPresenter(snapshot)
    return [
        _with_task(conflict, top)
        for entity, top in _disputed_entities(snapshot)
        if task is None or (top is not None and top.id == task)
        for conflict in presenter.conflicts(entity)
    ]


def count_conflicts(snapshot: Snapshot) -> int:
    """Return how many fields are in conflict, as far as they are counted."""
    count = 0
    for entity, _ in _disputed_entities(snapshot):
        count += len(conflict_versions.conflicting_values(snapshot, entity))
        if count >= CONFLICTS_COUNTED_MAX:
            break
    return min(count, CONFLICTS_COUNTED_MAX)


class Kept(Struct, frozen=True, kw_only=True):
    """The version that was kept, of which field of what, and what is still in conflict on the same.

    `left_out` counts the conflicts that are not among `left`, because there are too many: the list has all.
    """

    entity: str
    kind: str
    title: str
    field: str
    name: str
    kept: ConflictVersion
    left: list[Conflict]
    left_out: int = 0


def keep_version(tx: Transaction, wanted: Keep) -> Kept:
    """Write the chosen value over all of a field's."""
    entity = _find_entity(tx, wanted.entity)
    _require_in_sight(ancestors(tx, entity))
    if wanted.base is not None and clock_json(entity.clock) != dict(wanted.base):
        raise Refused(
            RefusalCode.STALE,
            sentence("changed-since-shown", "it has changed since it was shown"),
            sentence("look-at-conflicts", "look again: placet conflicts"),
        )
    presenter = JournalPresenter(tx)
    field, several = _field(presenter, conflict_versions.conflicting_values(tx, entity), entity, wanted.field)
    if wanted.n > len(several):
        raise usage_error(
            sentence("no-such-version", "there is no version {n}", n=wanted.n),
            sentence("version-count", "{field} has {count}", field=field, count=len(several)),
        )
    value = several[wanted.n - 1].value
    settled = next(conflict for conflict in presenter.conflicts(entity) if conflict.field == field)
    if isinstance(value, Redacted):
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("value-dropped", "this value was dropped by a compaction"),
            sentence("keep-another", "keep another one"),
        )
    keeps = field != DELETED or value is not True
    above = [EntityWrite(ancestor.id, ancestor.kind, {}) for ancestor in ancestors(tx, entity) if keeps]
    tx.commit([EntityWrite(entity.id, entity.kind, {field: value}), *above])
    now = tx.entity(entity.id)
    assert now is not None
    parts = PartBounds()
    left = parts.first("conflicts", JournalPresenter(tx).conflicts(now))
    return Kept(
        entity=settled.entity,
        kind=settled.kind,
        title=settled.title,
        field=field,
        name=settled.name,
        kept=settled.versions[wanted.n - 1],
        left=[_with_task(conflict, _top(tx, now)) for conflict in left],
        left_out=parts.left_out.get("conflicts", 0),
    )


def _kinds(snapshot: Snapshot) -> list[str]:
    """Return the kinds whose conflicts are shown: those known here, then those of a newer version."""
    newer = [
        kind for kind in snapshot.disputed_kinds() if kind not in OTHER_LOGGED_KINDS and is_logged_kind(kind)
    ]
    return [*CONFLICT_KINDS, *(kind for kind in newer if kind not in CONFLICT_KINDS)]


def _disputed_entities(snapshot: Snapshot) -> Iterator[tuple[Entity, Entity | None]]:
    """Yield what is in conflict and in sight, also of what it belongs to, with its task, tasks first.

    Kinds of a newer version come last: what a person wrote there must not go unseen either.
    """
    for entity in (disputed for kind in _kinds(snapshot) for disputed in snapshot.disputed_entities(kind)):
        above = [entity, *ancestors(snapshot, entity)]
        if all(ancestor.visible for ancestor in above):
            yield entity, next((ancestor for ancestor in above if ancestor.kind == "task"), None)


def ancestors(snapshot: Snapshot, entity: Entity) -> list[Entity]:
    """Return what an entity belongs to, step by step; it stops if an end is missing."""
    above: list[Entity] = []
    current: Entity | None = entity
    while current is not None and current.kind != "task" and len(above) < _DEPTH_MAX:
        targets = [value for field in _UP if isinstance(value := current.value(field), bytes)]
        current = snapshot.entity(EntityId(targets[0])) if targets else None
        if current is not None:
            above.append(current)
    return above


def _require_in_sight(above: Iterable[Entity]) -> None:
    """Refuse to settle what is out of sight with what it belongs to: nobody was shown it."""
    for ancestor in above:
        if not ancestor.visible:
            raise entities.removed_refusal(ancestor.kind.replace("_", " "), ancestor)


def _top(snapshot: Snapshot, entity: Entity) -> Entity | None:
    return next(
        (ancestor for ancestor in [entity, *ancestors(snapshot, entity)] if ancestor.kind == "task"),
        None,
    )


def _with_task(conflict: Conflict, task: Entity | None) -> Conflict:
    if task is None:
        return conflict
    return replace(conflict, task_id=id_to_text(task.id), task_title=shown_name(task))


def _find_entity(snapshot: Snapshot, ref: str) -> Entity:
    """Find a task by id or title, or anything else by its id."""
    try:
        return entities.find_task(snapshot, ref)
    except Refused as refused:
        if refused.code is not RefusalCode.NOT_FOUND:
            raise
    return entities.find_entity(snapshot, _kinds(snapshot), ref, noun="entity")


def _field(
    presenter: JournalPresenter,
    conflicting_values: dict[str, list[conflict_versions.ConflictingValue]],
    entity: Entity,
    wanted: str,
) -> tuple[str, list[conflict_versions.ConflictingValue]]:
    """Return the field that is meant, by its name in the store or in words."""
    for field, several in conflicting_values.items():
        if wanted in (field, presenter.names.field_label(field)) or _short(field) == wanted.casefold():
            return field, several
    title = entities.as_candidate(entity).title
    hint = (
        sentence("in-conflict-is", "these are in conflict: {fields}", fields=", ".join(conflicting_values))
        if conflicting_values
        else sentence("nothing-in-conflict", "nothing is in conflict")
    )
    raise Refused(
        RefusalCode.NOT_FOUND,
        sentence(
            "not-in-conflict", "{field!r} of {title!r} is not in conflict", field=wanted[:80], title=title
        ),
        hint,
    )


def _short(field: str) -> str:
    return _SAID.get(field) or field.removeprefix("is_").removesuffix("_minutes").removesuffix("_id")
