"""What stands in conflict, and settling it: a person chooses one value, which is written over all of them.

Never drops a value: the others are in the history.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from daemon.journal import disputes, refs
from daemon.journal.errors import Code, Refused, usage
from daemon.journal.kinds import OTHERS, is_shown
from daemon.journal.show import Shown, vector_clock
from daemon.journal.tasks import Base
from daemon.journal.views import Conflict, ConflictVersion
from store.entity import Entity
from store.fold import DELETED
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.codec import Redacted
from syncproto.ids import EntityId, text

KINDS = ("task", "checklist", "checklist_item", "entry", "time_record", "link", "label", "category", "agent")
SHOWN_MAX = 500
_UP = ("checklist_id", "task_id", "from_id")
_DEPTH_MAX = 4
_SAID = {"position": "place", "deleted": "deletion"}


class Keep(Struct, frozen=True, forbid_unknown_fields=True):
    """Which value to keep: the n-th that was shown, counted from 1; `base` is the vector_clock shown."""

    entity: str
    field: str
    n: Annotated[int, Meta(ge=1)]
    base: Base = None


def conflicts(snapshot: Snapshot, ref: str | None) -> list[Conflict]:
    """Show what is in conflict on a task and what belongs to it, or everywhere; at most 500."""
    task = None if ref is None else refs.task(snapshot, ref).id
    shown = Shown(snapshot)
    found: list[Conflict] = []
    for entity, top in _disputed(snapshot):
        if task is None or (top is not None and top.id == task):
            found += [_placed(one, top) for one in shown.conflicts(entity)]
        if len(found) >= SHOWN_MAX:
            break
    return found[:SHOWN_MAX]


def count(snapshot: Snapshot) -> int:
    """Return how many fields are in conflict, as far as they are shown."""
    found = 0
    for entity, _ in _disputed(snapshot):
        found += len(disputes.choices(snapshot, entity))
        if found >= SHOWN_MAX:
            break
    return min(found, SHOWN_MAX)


class Kept(Struct, frozen=True, kw_only=True):
    """The version that was kept, of which field of what, and what is still in conflict on the same."""

    entity: str
    kind: str
    title: str
    field: str
    name: str
    kept: ConflictVersion
    left: list[Conflict]


def keep(tx: Transaction, wanted: Keep) -> Kept:
    """Write the chosen value over all of a field's."""
    entity = _named(tx, wanted.entity)
    _require_in_sight(_above(tx, entity))
    if wanted.base is not None and vector_clock(entity.clock) != dict(wanted.base):
        raise Refused(Code.STALE, "it has changed since it was shown", "look again: placet conflicts")
    shown = Shown(tx)
    field, several = _field(shown, disputes.choices(tx, entity), entity, wanted.field)
    if wanted.n > len(several):
        raise usage(f"there is no version {wanted.n}", f"{field} has {len(several)}")
    value = several[wanted.n - 1].value
    settled = next(one for one in shown.conflicts(entity) if one.field == field)
    if isinstance(value, Redacted):
        raise Refused(Code.CONFLICT, "this value was dropped by a compaction", "keep another one")
    keeps = field != DELETED or value is not True
    above = [Write(one.id, one.kind, {}) for one in _above(tx, entity) if keeps]
    tx.commit([Write(entity.id, entity.kind, {field: value}), *above])
    now = tx.entity(entity.id)
    assert now is not None
    return Kept(
        entity=settled.entity,
        kind=settled.kind,
        title=settled.title,
        field=field,
        name=settled.name,
        kept=settled.versions[wanted.n - 1],
        left=[_placed(one, _top(tx, now)) for one in Shown(tx).conflicts(now)],
    )


def _kinds(snapshot: Snapshot) -> list[str]:
    """Return the kinds whose conflicts are shown: those known here, then those of a newer version."""
    newer = [kind for kind in snapshot.disputed_kinds() if kind not in OTHERS and is_shown(kind)]
    return [*KINDS, *(kind for kind in newer if kind not in KINDS)]


def _disputed(snapshot: Snapshot) -> Iterator[tuple[Entity, Entity | None]]:
    """Yield what is in conflict and in sight, also of what it belongs to, with its task, tasks first.

    Kinds of a newer version come last: what a person wrote there must not go unseen either.
    """
    for entity in (one for kind in _kinds(snapshot) for one in snapshot.disputed(kind)):
        above = [entity, *_above(snapshot, entity)]
        if all(one.visible for one in above):
            yield entity, next((one for one in above if one.kind == "task"), None)


def _above(snapshot: Snapshot, entity: Entity) -> list[Entity]:
    """Return what an entity belongs to, step by step; where ends are missing, it stops."""
    found: list[Entity] = []
    at: Entity | None = entity
    while at is not None and at.kind != "task" and len(found) < _DEPTH_MAX:
        targets = [value for field in _UP if isinstance(value := at.value(field), bytes)]
        at = snapshot.entity(EntityId(targets[0])) if targets else None
        if at is not None:
            found.append(at)
    return found


def _require_in_sight(above: Iterable[Entity]) -> None:
    """Refuse to settle what is out of sight with what it belongs to: nobody was shown it."""
    for one in above:
        if not one.visible:
            seen = f"the {one.kind.replace('_', ' ')} {refs.candidate(one).title!r} was removed"
            raise Refused(Code.NOT_FOUND, seen, "restore it first")


def _top(snapshot: Snapshot, entity: Entity) -> Entity | None:
    return next((one for one in [entity, *_above(snapshot, entity)] if one.kind == "task"), None)


def _placed(conflict: Conflict, task: Entity | None) -> Conflict:
    if task is None:
        return conflict
    return replace(conflict, task_id=text(task.id), task_title=task.text("title"))


def _named(snapshot: Snapshot, ref: str) -> Entity:
    """Find a task by id or title, or anything else by its id."""
    try:
        return refs.task(snapshot, ref)
    except Refused as refused:
        if refused.code is not Code.NOT_FOUND:
            raise
    return refs.entity(snapshot, _kinds(snapshot), ref, what="entity")


def _field(
    shown: Shown, found: dict[str, list[disputes.Choice]], entity: Entity, wanted: str
) -> tuple[str, list[disputes.Choice]]:
    """Return the field that is meant, by its name in the store or in words."""
    for field, several in found.items():
        if wanted in (field, disputes.field_name(shown, field)) or _short(field) == wanted.casefold():
            return field, several
    title = refs.candidate(entity).title
    others = ", ".join(found) or "nothing"
    raise Refused(
        Code.NOT_FOUND, f"{wanted[:80]!r} of {title!r} is not in conflict", f"in conflict is {others}"
    )


def _short(field: str) -> str:
    return _SAID.get(field) or field.removeprefix("is_").removesuffix("_minutes").removesuffix("_id")
