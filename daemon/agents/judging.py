"""How a change item stands at this moment: its target, whether it is stale, obsolete, expired or overtaken.

Never writes, and never decides: it says what a decision would meet.
"""

from dataclasses import dataclass
from enum import StrEnum

from daemon.agents.effects import Effect, effect_of
from daemon.agents.tools import TOOLS, ArgumentFault, Arguments, validated
from daemon.journal.values import PRIORITY_DEFAULT, folded
from store.entity import Entity
from store.fold import RANK_USER, Version
from store.item import Item, Occurrence
from store.snapshot import Snapshot
from store.verdicts import Status, Verdict, deciding
from syncproto.codec import Value
from syncproto.heads import covers
from syncproto.ids import EntityId


class Shown(StrEnum):
    """What people are told of an item: its folded status, or what became of it while it waited."""

    PENDING = "pending"
    DEFERRED = "deferred"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    RETRACTED = "retracted"
    EXPIRED = "expired"
    OBSOLETE = "obsolete"


@dataclass(frozen=True, slots=True)
class Case:
    """An item, what it would write, and what it would write to."""

    item: Item
    args: Arguments
    effect: Effect
    task: Entity | None
    target: Entity | None

    @property
    def stands(self) -> bool:
        """Say whether the target exists, in sight or not."""
        return self.target is not None and self.target.exists


def case(snapshot: Snapshot, item: Item) -> Case | None:
    """Look an item up; None where its tool or its arguments are not what this version knows.

    Arguments are checked again here: what another device proposed is not trusted to have been.
    """
    tool = TOOLS.get(item.tool)
    if tool is None or not tool.deferrable:
        return None
    try:
        args = validated(item.tool, item.args)
    except ArgumentFault:
        return None
    effect = effect_of(item.tool, args, item.id, item.task)
    return Case(item, args, effect, snapshot.entity(item.task), snapshot.entity(effect.entity))


def current(case: Case, field: str) -> Value:
    """Return the value of a field of the target as readers see it."""
    value = None if case.target is None else case.target.value(field)
    if value is None and case.effect.kind == "task" and field == "priority":
        return PRIORITY_DEFAULT
    return value


def shown(snapshot: Snapshot, found: Case, now_ms: int) -> Shown:
    """Return the item's status with what is computed when read: expired and obsolete (DOMAIN.md §4)."""
    status = Shown(found.item.status.value)
    if status in (Shown.PENDING, Shown.DEFERRED) and obsolete(snapshot, found) is not None:
        return Shown.OBSOLETE
    if is_expired(found.item, now_ms):
        return Shown.EXPIRED
    return status


def status_now(snapshot: Snapshot, item: Item, now_ms: int) -> str:
    """Return the status that people are told; of a tool unknown here, the folded one."""
    found = case(snapshot, item)
    return item.status.value if found is None else shown(snapshot, found, now_ms).value


def is_expired(item: Item, now_ms: int) -> bool:
    """Say whether nobody decided in time; any decision of a person's beats expiry."""
    return not item.decisions and item.expires_ms <= now_ms


def obsolete(snapshot: Snapshot, found: Case) -> str | None:
    """Say why an undecided item has nothing left to do; None where it has."""
    return gone(found) or (already_so(snapshot, found) if found.item.status in _OPEN else None)


_OPEN = (Status.PENDING, Status.DEFERRED)


def gone(found: Case) -> str | None:
    """Say what of the item's target was removed; None where it is in sight, or yet to be made."""
    if found.task is None or not found.task.visible:
        return "its task was removed"
    if found.effect.creates:
        removed = found.stands and found.target is not None and not found.target.visible
        return "the item that it made was removed" if removed else None
    return None if found.target is not None and found.target.visible else "what it changes was removed"


def already_so(snapshot: Snapshot, found: Case) -> str | None:
    """Say that the target already has the proposed value; None where it has not."""
    if found.effect.creates:
        same = folded(str(found.effect.fields["title"]))
        others = (one for one in items_of(snapshot, found.item.task) if one.id != found.effect.entity)
        taken = next((title for one in others if folded(title := one.text("title")) == same), None)
        return None if taken is None else f'"{taken}" already exists on the task'
    if all(current(found, field) == value for field, value in found.effect.fields.items()):
        return "the task already has this value"
    return None


def items_of(snapshot: Snapshot, task: EntityId) -> list[Entity]:
    """Return the checklist items in sight of a task, archived ones aside, in order."""
    found = []
    for checklist in children(snapshot, task, "task_checklist"):
        found += children(snapshot, checklist.id, "checklist_item")
    return [one for one in found if one.value("is_archived") is not True]


def children(snapshot: Snapshot, target: EntityId, relation: str) -> list[Entity]:
    """Return the entities in sight that point at `target`, in the order of their places."""
    found = (snapshot.entity(one) for one in snapshot.referring(target, relation))
    return sorted((one for one in found if one is not None), key=lambda one: (one.text("position"), one.id))


@dataclass(frozen=True, slots=True)
class Compared:
    """What a proposal rested on, what is there now, and what it proposes, as people are shown it."""

    base: Value
    current: Value
    proposed: Value


def differing(found: Case) -> list[str]:
    """Return the fields that an item writes and that are not as its run saw them.

    Of what it would make, those that somebody has given another value than the proposed one. Where values
    are as they were, those that somebody has written anew.
    """
    fields = found.effect.fields
    seen = dict(fields) if found.effect.creates else _seen(found)
    changed = [field for field in fields if current(found, field) != seen.get(field)]
    return changed or [field for field in fields if _others(found, field)] or list(fields)


def compared(found: Case) -> Compared:
    """Compare the first field that an item writes and that changed: each tool so far is told by one."""
    field = differing(found)[0] if found.stands else next(iter(found.effect.fields))
    return Compared(_seen(found).get(field), current(found, field), found.effect.fields[field])


def _seen(found: Case) -> dict[str, Value]:
    newest = max(found.item.occurrences, key=lambda one: (one.created_ms, one.change_set))
    return newest.value if isinstance(newest.value, dict) else {}


# -- stale and overtaken ------------------------------------------------------------------------------


def is_stale(snapshot: Snapshot, found: Case) -> bool:
    """Say whether what the item rests on has changed since every run that proposed it.

    It is fresh where each maximal live version of each field that it writes is in the item's base (or the
    item's own), and the value is the one that was seen. A creation is stale only where the entity already
    stands, because a person touched it, and someone else wrote the fields that it would write.
    """
    if found.target is None or not found.stands:
        return False
    if found.effect.creates:
        return any(_others(found, field) for field in found.effect.fields)
    return not any(_is_fresh(snapshot, found, occurrence) for occurrence in found.item.occurrences)


def _others(found: Case, field: str) -> list[Version]:
    """Return the maximal versions of a field that are not the item's own."""
    assert found.target is not None
    return [one for one in found.target.versions(field) if one.source.effect != found.item.id]


def _is_fresh(snapshot: Snapshot, found: Case, occurrence: Occurrence) -> bool:
    seen = occurrence.value if isinstance(occurrence.value, dict) else {}
    return all(_holds(snapshot, found, occurrence, field, seen.get(field)) for field in found.effect.fields)


def _holds(snapshot: Snapshot, found: Case, occurrence: Occurrence, field: str, seen: Value) -> bool:
    """Say whether a field is as the run saw it, the item's own versions aside."""
    assert found.target is not None
    if not all(covers(occurrence.base, one.source.head, snapshot.log) for one in _others(found, field)):
        return False
    winner = found.target.version(field)
    own = winner is not None and winner.source.effect == found.item.id
    return own or current(found, field) == seen


def overtaken(found: Case) -> bool:
    """Say whether a confirmed item is no longer what is shown: someone wrote over it.

    Ticking an item that a confirmation made is its use, not a correction: there, only the title counts.
    """
    if found.target is None or not found.stands:
        return False
    fields = ("title",) if found.effect.creates else tuple(found.effect.fields)
    winners = [found.target.version(field) for field in fields]
    return any(one is None or one.source.effect != found.item.id for one in winners)


def edited_words(item: Item) -> Arguments | None:
    """Return the edited arguments that are in effect or in dispute, the newest of several; None where none.

    Confirming again keeps them: they are the person's own words.
    """
    standing = {one.decision for one in deciding(decision.opinion for decision in item.decisions)}
    edited = [
        one
        for one in item.decisions
        if one.id in standing and one.verdict is Verdict.CONFIRMED and one.edited_args is not None
    ]
    newest = max(edited, key=lambda one: (one.stamp_ms, one.n, one.id), default=None)
    return None if newest is None else newest.edited_args


def is_own(version: Version | None) -> bool:
    """Say whether a person wrote a version directly."""
    return version is not None and version.source.rank == RANK_USER
