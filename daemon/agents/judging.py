"""How a change item stands at this moment: its target, and whether it is obsolete, expired or overtaken.

Never writes, and never decides: it says what a decision would meet.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from daemon.agents.effects import Effect, effect_of, target_of
from daemon.agents.genuine import genuine
from daemon.agents.recovery import recovered
from daemon.agents.tools import SET_TASK_STATUS, TOOLS, ArgumentFault, Arguments, Writes, validated
from daemon.journal.values import NEEDS_REASON, PRIORITY_DEFAULT, folded
from store.entity import Entity
from store.item import Item
from store.snapshot import Snapshot
from store.verdicts import Status, Verdict, deciding
from syncproto.codec import Value
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
    """An item, what confirming it would write, and what it would write to.

    `proposed` are the agent's arguments. `args` are those that would run: the person's where they edited them
    in a confirmation that stands, alone or in dispute. `effect` is what `args` come down to.
    """

    item: Item
    proposed: Arguments
    args: Arguments
    effect: Effect
    task: Entity | None
    target: Entity | None

    @property
    def stands(self) -> bool:
        """Say whether the target exists, in sight or not."""
        return self.target is not None and self.target.exists

    @property
    def is_edited(self) -> bool:
        """Say whether the arguments that would run are the person's own."""
        return self.args != self.proposed


def case(snapshot: Snapshot, item: Item) -> Case | None:
    """Look an item up; None where nothing of it is what this version knows and its task's agent proposed."""
    found = genuine(snapshot, item)
    if found is None:
        return None
    held, proposed = found
    args = proposed
    words = edited_words(held)
    if words is not None:
        try:
            args = edited(held.tool, proposed, words)
        except ArgumentFault:
            args = proposed
    effect = effect_of(held.tool, args, held.id, held.task)
    return Case(held, proposed, args, effect, snapshot.entity(held.task), snapshot.entity(effect.entity))


def rewritten(found: Case, args: Arguments) -> Case:
    """Return a case as it is where other arguments would run."""
    effect = effect_of(found.item.tool, args, found.item.id, found.item.task)
    return replace(found, args=args, effect=effect)


def edited(tool: str, proposed: Arguments, words: Arguments) -> Arguments:
    """Put a person's words in place of an agent's arguments. Raises ArgumentFault for what the tool refuses.

    What is changed stays what it is: an edit cannot turn a proposal into one about something else.
    """
    given = recovered(words)
    kept = dict(proposed)
    if tool == SET_TASK_STATUS and given.get("status") not in (None, proposed["status"], *NEEDS_REASON):
        kept.pop("reason", None)  # it was the reason of the other status
    args = validated(tool, {**kept, **given})
    if target_of(tool, args) != target_of(tool, proposed):
        raise ArgumentFault("an edit cannot change what a proposal is about")
    return args


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


_DEFAULTS: Final[Mapping[tuple[str, str], Value]] = {("task", "priority"): PRIORITY_DEFAULT}


def current(found: Case, field: str) -> Value:
    """Return the value of a field of the target as readers see it."""
    value = None if found.target is None else found.target.value(field)
    return _DEFAULTS.get((found.effect.kind, field)) if value is None else value


# -- what became of it while it waited ----------------------------------------------------------------


def shown(snapshot: Snapshot, found: Case, now_ms: int) -> Shown:
    """Return the item's status with what is computed when read: expired and obsolete (DOMAIN.md §4)."""
    status = Shown(found.item.status.value)
    if status in (Shown.PENDING, Shown.DEFERRED) and obsolete(snapshot, found) is not None:
        return Shown.OBSOLETE
    if is_expired(found.item, now_ms):
        return Shown.EXPIRED
    return status


def status_now(snapshot: Snapshot, item: Item, now_ms: int) -> str:
    """Return the status that people are told; of what this version cannot run, the folded one."""
    found = case(snapshot, item)
    return item.status.value if found is None else shown(snapshot, found, now_ms).value


def is_expired(item: Item, now_ms: int) -> bool:
    """Say whether nobody decided in time; any decision of a person's beats expiry."""
    return not item.decisions and item.expires_ms <= now_ms


def obsolete(snapshot: Snapshot, found: Case) -> str | None:
    """Say why an undecided item has nothing left to do; None where it has."""
    return gone(snapshot, found) or (already_so(snapshot, found) if found.item.status in OPEN else None)


OPEN: Final = (Status.PENDING, Status.DEFERRED)


def gone(snapshot: Snapshot, found: Case) -> str | None:
    """Say what of the item's target is not there any more; None where it is, or is yet to be made."""
    if found.task is None or found.task.kind != "task" or not found.task.visible:
        return "its task was removed"
    if found.stands and found.target is not None and found.target.kind != found.effect.kind:
        return "what it changes is something else"
    return _GONE[TOOLS[found.item.tool].writes](snapshot, found)


def _nothing_gone(snapshot: Snapshot, found: Case) -> str | None:
    del snapshot, found
    return None


def _created_gone(snapshot: Snapshot, found: Case) -> str | None:
    if not found.stands or found.target is None:
        return None
    if not found.target.visible:
        return "the item that it made was removed"
    checklist = checklist_of(snapshot, found.target)
    return _elsewhere(found, checklist) if checklist is not None and checklist.visible else None


def _item_gone(snapshot: Snapshot, found: Case) -> str | None:
    checklist = None if found.target is None else checklist_of(snapshot, found.target)
    if found.target is None or not found.target.visible or checklist is None or not checklist.visible:
        return "what it changes was removed"
    return _elsewhere(found, checklist)


def _elsewhere(found: Case, checklist: Entity) -> str | None:
    """Refuse what a person moved to another task: an agent writes to its own alone."""
    return None if checklist.value("task_id") == found.item.task else "what it changes is on another task now"


def _label_gone(snapshot: Snapshot, found: Case) -> str | None:
    named = target_of(found.item.tool, found.args)
    label = None if named is None else snapshot.entity(named)
    return None if label is not None and label.kind == "label" and label.visible else "the label was removed"


_GONE: Final = {
    Writes.TASK: _nothing_gone,
    Writes.MEMBER: _label_gone,
    Writes.NEW_ITEM: _created_gone,
    Writes.ITEM: _item_gone,
}


def checklist_of(snapshot: Snapshot, item: Entity) -> Entity | None:
    """Return the checklist that an item is in; None where that is not known."""
    checklist = item.value("checklist_id")
    return snapshot.entity(EntityId(checklist)) if isinstance(checklist, bytes) else None


def already_so(snapshot: Snapshot, found: Case) -> str | None:
    """Say that the target already has the proposed value; None where it has not."""
    if found.effect.creates:
        same = folded(str(found.effect.fields["title"]))
        others = (one for one in items_of(snapshot, found.item.task) if one.id != found.effect.entity)
        taken = next((title for one in others if folded(title := one.text("title")) == same), None)
        return None if taken is None else f'"{taken}" already exists on the task'
    if not found.effect.is_so(lambda field: current(found, field)):
        return None
    return _SO[TOOLS[found.item.tool].writes]


_SO: Final = {
    Writes.TASK: "the task already has this value",
    Writes.MEMBER: "the task already has this label",
    Writes.ITEM: "the item already is so",
}


def overtaken(found: Case) -> bool:
    """Say whether a confirmed item is no longer what is shown: someone wrote over it.

    Ticking an item that a confirmation made is its use, not a correction: there, only the title counts.
    """
    if found.target is None or not found.stands:
        return False
    fields = ("title",) if found.effect.creates else tuple(found.effect.fields)
    winners = [found.target.version(field) for field in fields]
    return any(one is None or one.source.effect != found.item.id for one in winners)


# -- the lists of a task ------------------------------------------------------------------------------


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
