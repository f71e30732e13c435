"""How proposals stand, told from what really happened: slow, plain, from the tables of the documents alone.

Never asks the code that it judges: not for a target, a base, a status, nor for what was seen.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from syncproto.heads import Head
from syncproto.ids import EntityId, derived_id, from_text, text
from tests.simulation.author import LABELS, TASK
from tests.simulation.device import Truth
from tests.simulation.oracle import Deed, Oracle

PRIORITY = "P2"
"""What a task without a priority shows."""

OPEN = ("pending", "deferred")
Fields = dict[str, Any]


@dataclass(frozen=True)
class Proposal:
    """One proposal of an item, and the change set that it came in."""

    deed: Deed
    tool: str
    args: Fields
    expires_ms: int


@dataclass
class Past:
    """What each proposal's author had seen, kept so that it is told once."""

    truth: Truth
    values: dict[tuple[Head, EntityId, str], Any] = field(default_factory=dict)

    def value(self, deed: Deed, entity: EntityId, name: str) -> Any:
        """Return what a field showed to the author of a deed."""
        key = (deed.head, entity, name)
        if key not in self.values:
            oracle = Oracle(self.truth, deed.past)
            for one in deed_fields(oracle, entity):
                self.values[deed.head, entity, one] = shown(oracle, entity, one)
            self.values.setdefault(key, PRIORITY if name == "priority" else None)
        return self.values[key]


def deed_fields(oracle: Oracle, entity: EntityId) -> set[str]:
    """Return the fields of an entity, none of one that is not known."""
    return oracle.fields(entity) if entity in oracle.deeds else set()


def shown(oracle: Oracle, entity: EntityId, name: str) -> Any:
    """Return what a field shows."""
    tops = oracle.maximal(entity, name) if entity in oracle.deeds else []
    value = tops[0].value(name) if tops else None
    return PRIORITY if value is None and name == "priority" else value


class Reference:
    """What a device that holds these commits must tell of its proposals at some time of its clock."""

    def __init__(self, oracle: Oracle, past: Past, now_ms: int) -> None:
        self.oracle = oracle
        self.past = past
        self.now_ms = now_ms

    @cached_property
    def proposals(self) -> dict[EntityId, list[Proposal]]:
        """Return by item every proposal of it."""
        found: dict[EntityId, list[Proposal]] = {}
        for deeds in self.oracle.deeds.values():
            for deed in deeds:
                if deed.operation.kind != "change_set":
                    continue
                until: Any = deed.value("expires_at")
                items: Any = deed.value("items")
                for one in items:
                    proposal = Proposal(deed, one["tool"], one["args"], until)
                    found.setdefault(one["item_id"], []).append(proposal)
        return found

    def tool(self, item: EntityId) -> str:
        """Return an item's tool."""
        return self.proposals[item][0].tool

    def first(self, item: EntityId) -> Proposal:
        """Return the earliest proposal of an item, whose arguments are the item's."""
        return min(self.proposals[item], key=lambda one: (one.deed.stamp, one.deed.head))

    def creates(self, item: EntityId) -> bool:
        """Say whether an item would make something."""
        return self.tool(item) == "add_checklist_item"

    def target(self, item: EntityId) -> EntityId:
        """Return what an item writes."""
        tool, args = self.tool(item), self.first(item).args
        if tool == "add_checklist_item":
            return derived_id("entity", text(item), time_of=item)
        return EntityId(from_text(args["id"])) if tool == "update_checklist_item" else TASK

    def writes(self, item: EntityId, args: Fields | None = None) -> Fields:
        """Return the values that an item writes."""
        return written(self.tool(item), self.first(item).args if args is None else args)

    def known(self, entity: EntityId) -> bool:
        """Say whether anything is known of an entity."""
        return entity in self.oracle.deeds

    def exists(self, entity: EntityId) -> bool:
        """Say whether an entity exists, in sight or not."""
        return self.known(entity) and self.oracle.exists(entity)

    def visible(self, entity: EntityId) -> bool:
        """Say whether an entity is in sight."""
        return self.known(entity) and self.oracle.visible(entity)

    def value(self, entity: EntityId, name: str) -> Any:
        """Return what a field shows."""
        return shown(self.oracle, entity, name)

    # -- the table of DOMAIN.md §4 ------------------------------------------------------------------------

    def status(self, item: EntityId) -> str:
        """Return the folded status."""
        return self.oracle.standing(item).status.value

    def disputed(self, item: EntityId) -> bool:
        """Say whether it is disputed."""
        return self.oracle.standing(item).disputed

    def decided(self, item: EntityId) -> bool:
        """Say whether anyone has decided at all."""
        return bool(self.oracle.decisions.get(item))

    def expired(self, item: EntityId) -> bool:
        """Say whether nobody decided in time, the latest of several proposals' times counting."""
        return not self.decided(item) and max(one.expires_ms for one in self.proposals[item]) <= self.now_ms

    def gone(self, item: EntityId) -> bool:
        """Say whether the task was removed, or what the item writes."""
        target = self.target(item)
        if not self.visible(TASK):
            return True
        if self.creates(item):
            return self.exists(target) and not self.visible(target)
        return not self.visible(target)

    def already_so(self, item: EntityId) -> bool:
        """Say whether there is nothing left to do."""
        writes, target = self.writes(item), self.target(item)
        if self.creates(item):
            titles = [self.value(one, "title") for one in self.items() if one != target]
            return str(writes["title"]).casefold() in [str(one).casefold() for one in titles]
        return all(self.value(target, name) == value for name, value in writes.items())

    def items(self) -> Iterable[EntityId]:
        """Return the checklist items that a person sees on the task, those archived aside."""
        for entity, deeds in self.oracle.deeds.items():
            if deeds[0].operation.kind == "checklist_item" and self.visible(entity):
                holder: Any = self.value(entity, "checklist_id")
                if holder and self.visible(holder) and self.value(entity, "is_archived") is not True:
                    yield entity

    def shown(self, item: EntityId) -> str:
        """Return what people are told of an item."""
        status = self.status(item)
        if status in OPEN and (self.gone(item) or self.already_so(item)):
            return "obsolete"
        return "expired" if self.expired(item) else status

    def waits(self, item: EntityId) -> bool:
        """Say whether an item is among those that wait for a person."""
        return self.shown(item) in OPEN or self.disputed(item)

    # -- stale and overtaken ------------------------------------------------------------------------------

    def others(self, item: EntityId, name: str) -> list[Deed]:
        """Return the maximal versions of a field that are not the item's own."""
        return [one for one in self.oracle.maximal(self.target(item), name) if one.operation.effect != item]

    def stale(self, item: EntityId) -> bool:
        """Say whether what an item rests on has changed, as seen from each proposal of it."""
        target = self.target(item)
        if not self.exists(target):
            return False
        if self.creates(item):
            return any(self.others(item, name) for name in self.writes(item))
        return not any(self._fresh(item, target, one) for one in self.proposals[item])

    def _fresh(self, item: EntityId, target: EntityId, proposal: Proposal) -> bool:
        for name in self.writes(item):
            if any(one.head not in proposal.deed.past for one in self.others(item, name)):
                return False
            tops = self.oracle.maximal(target, name)
            own = bool(tops) and tops[0].operation.effect == item
            if not own and self.value(target, name) != self.past.value(proposal.deed, target, name):
                return False
        return True

    def overtaken(self, item: EntityId) -> bool:
        """Say whether something else shows where a confirmed item has written."""
        target = self.target(item)
        if not self.exists(target):
            return False
        names = ["title"] if self.creates(item) else list(self.writes(item))
        tops = [self.oracle.maximal(target, name) for name in names]
        return any(not top or top[0].operation.effect != item for top in tops)

    def edited(self, item: EntityId) -> Fields | None:
        """Return the edited arguments that stand, the newest of several."""
        found = [one for one in self.oracle.deciding(item) if "edited_args" in one.operation.fields]
        newest = max(found, key=lambda one: (one.stamp, one.operation.entity), default=None)
        return None if newest is None else cast("Fields", newest.value("edited_args"))


def written(tool: str, args: Fields) -> Fields:
    """Return what a tool's arguments come down to."""
    match tool:
        case "add_checklist_item":
            return {"title": args["title"], "is_checked": args.get("isChecked", False)}
        case "update_checklist_item":
            names = {"title": "title", "isChecked": "is_checked", "isArchived": "is_archived"}
            return {names[key]: args[key] for key in names if args.get(key) is not None}
        case "assign_task_label":
            return {f"label_ids/{args['id']}": True}
        case "set_task_status":
            return {"status": args["status"], "reason": args.get("reason") or None}
    argument, name = {
        "set_task_title": ("title", "title"),
        "update_task_estimate": ("minutes", "estimate_minutes"),
        "update_task_due_date": ("dueDate", "due"),
        "update_task_priority": ("priority", "priority"),
    }[tool]
    return {name: args[argument]}


def labels() -> list[str]:
    """Return the ids of the labels, as a model names them."""
    return [text(one) for one in LABELS]
