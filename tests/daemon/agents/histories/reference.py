"""The state of proposals, computed from what really happened: slow, plain, from the documents' tables alone.

Never asks the code that it judges: not for a target, a base or a status, nor for what was seen.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from syncproto.commit import AuthorKind
from syncproto.hlc import Stamp
from syncproto.ids import EntityId, derived_id, id_from_text, id_to_text
from syncproto.vector_clock import Head
from tests.simulation.author import LABELS, TASK
from tests.simulation.device import GroundTruth
from tests.simulation.oracle import FoldOracle, WitnessedOperation

PRIORITY = "P2"
"""What a task without a priority shows."""

OPEN = ("pending", "deferred")
REASONING = ("reason", "evidenceIds", "confidence")
"""Arguments that reason for a proposal: another reason does not make it another proposal."""

REASON_CHARS_MIN = 20

Fields = dict[str, Any]


@dataclass(frozen=True)
class Proposal:
    """One proposal of an item, and the change set that it came in."""

    deed: WitnessedOperation
    tool: str
    args: Fields
    expires_ms: int


@dataclass
class Past:
    """What each proposal's author had seen, computed once."""

    truth: GroundTruth
    values: dict[tuple[Head, EntityId, str], Any] = field(default_factory=dict)

    def value(self, deed: WitnessedOperation, entity: EntityId, name: str) -> Any:
        """Return what a field showed to the author of a deed."""
        key = (deed.head, entity, name)
        if key not in self.values:
            oracle = FoldOracle(self.truth, deed.past)
            for deed_field in deed_fields(oracle, entity):
                self.values[deed.head, entity, deed_field] = winning_value(oracle, entity, deed_field)
            self.values.setdefault(key, PRIORITY if name == "priority" else None)
        return self.values[key]


def deed_fields(oracle: FoldOracle, entity: EntityId) -> set[str]:
    """Return the fields of an entity, none of one that is not known."""
    return oracle.fields(entity) if entity in oracle.deeds else set()


def winning_value(oracle: FoldOracle, entity: EntityId, name: str) -> Any:
    """Return what a field shows."""
    tops = oracle.maximal(entity, name) if entity in oracle.deeds else []
    value = tops[0].value(name) if tops else None
    return PRIORITY if value is None and name == "priority" else value


class Reference:
    """What a device that has these commits must show of its proposals at a time of its clock."""

    def __init__(self, oracle: FoldOracle, past: Past, now_ms: int) -> None:
        self.oracle = oracle
        self.past = past
        self.now_ms = now_ms

    @cached_property
    def proposals(self) -> dict[EntityId, list[Proposal]]:
        """Return by item every proposal of it."""
        proposals: dict[EntityId, list[Proposal]] = {}
        for deeds in self.oracle.deeds.values():
            for deed in deeds:
                if deed.operation.kind != "change_set":
                    continue
                until: Any = deed.value("expires_at")
                items: Any = deed.value("items")
                for item in items:
                    proposal = Proposal(deed, item["tool"], item["args"], until)
                    proposals.setdefault(item["item_id"], []).append(proposal)
        return proposals

    def tool(self, item: EntityId) -> str:
        """Return an item's tool."""
        return self.proposals[item][0].tool

    def last(self, item: EntityId) -> Proposal:
        """Return the newest proposal of an item, whose words are those that are shown."""
        return max(
            self.proposals[item],
            key=lambda proposal: (proposal.deed.stamp.ms, proposal.deed.operation.entity),
        )

    def says(self, item: EntityId) -> str:
        """Return what an item comes down to, however it was reasoned."""
        args = {name: value for name, value in self.last(item).args.items() if name not in REASONING}
        return repr((self.tool(item), sorted(args.items())))

    def creates(self, item: EntityId) -> bool:
        """Report whether an item would create something."""
        return self.tool(item) == "add_checklist_item"

    def target(self, item: EntityId) -> EntityId:
        """Return what an item writes."""
        tool, args = self.tool(item), self.last(item).args
        if tool == "add_checklist_item":
            return derived_id("entity", id_to_text(item), time_of=item)
        return EntityId(id_from_text(args["id"])) if tool == "update_checklist_item" else TASK

    def writes(self, item: EntityId, args: Fields | None = None) -> Fields:
        """Return the values that an item writes."""
        return fields_written(self.tool(item), self.last(item).args if args is None else args)

    def runs(self, item: EntityId, words: Fields | None = None) -> Fields:
        """Return the values that confirming an item would write; without new words, the edited ones stay."""
        edited = self.edited(item) if words is None else words
        return self.writes(item, {**self.last(item).args, **(edited or {})})

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
        return winning_value(self.oracle, entity, name)

    # -- the table of cases of docs/agents.md, section 3 -----------------------------------------------

    def status(self, item: EntityId) -> str:
        """Return the folded status."""
        return self.oracle.item_status(item).status.value

    def disputed(self, item: EntityId) -> bool:
        """Say whether it is disputed."""
        return self.oracle.item_status(item).disputed

    def decided(self, item: EntityId) -> bool:
        """Say whether anyone has decided at all."""
        return bool(self.oracle.decisions.get(item))

    def expired(self, item: EntityId) -> bool:
        """Report whether nobody decided in time; of several proposals, the latest time counts."""
        return (
            not self.decided(item)
            and max(proposal.expires_ms for proposal in self.proposals[item]) <= self.now_ms
        )

    def gone(self, item: EntityId) -> bool:
        """Say whether the task was removed, or what the item writes."""
        target = self.target(item)
        if not self.visible(TASK):
            return True
        if self.creates(item):
            return self.exists(target) and not self.visible(target)
        if self.tool(item) == "assign_task_label" and not self.visible(self.label(item)):
            return True
        return not (self.visible(target) and self._is_listed(target))

    def _is_listed(self, entity: EntityId) -> bool:
        """Say whether the checklist of an item is in sight; the task is in none."""
        holder: Any = self.value(entity, "checklist_id")
        return entity == TASK or (holder is not None and self.visible(holder))

    def label(self, item: EntityId) -> EntityId:
        """Return the label that an item would assign."""
        return EntityId(id_from_text(self.last(item).args["id"]))

    def already_so(self, item: EntityId) -> bool:
        """Say whether there is nothing left to do."""
        writes, target = self.writes(item), self.target(item)
        if self.creates(item):
            titles = [self.value(identifier, "title") for identifier in self.items() if identifier != target]
            return str(writes["title"]).casefold() in [str(title).casefold() for title in titles]
        decisive = {name: value for name, value in writes.items() if name != "reason"}
        return all((self.value(target, name) or None) == (value or None) for name, value in decisive.items())

    def notes(self) -> Iterable[EntityId]:
        """Return the entries in sight."""
        for entity, deeds in self.oracle.deeds.items():
            if deeds[0].operation.kind == "entry" and self.visible(entity):
                yield entity

    def items(self) -> Iterable[EntityId]:
        """Return the checklist items that a person sees on the task, those archived aside."""
        for entity, deeds in self.oracle.deeds.items():
            if deeds[0].operation.kind != "checklist_item" or not self.visible(entity):
                continue
            if self._is_listed(entity) and self.value(entity, "is_archived") is not True:
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

    def others(self, item: EntityId, name: str) -> list[WitnessedOperation]:
        """Return the maximal versions of a field that are not the item's own."""
        return [
            operation
            for operation in self.oracle.maximal(self.target(item), name)
            if operation.operation.effect != item
        ]

    def stale(self, item: EntityId, words: Fields | None = None) -> bool:
        """Report whether what an item would write has changed, as seen from each proposal of it.

        `words` are a person's, in place of those that count or were proposed.
        """
        target = self.target(item)
        if not self.exists(target):
            return False
        if self.creates(item):
            return any(self.others(item, name) for name in self.writes(item))
        names = set(self.writes(item)) | set(self.runs(item, words))
        return not any(self._fresh(item, target, names, proposal) for proposal in self.proposals[item])

    def _fresh(self, item: EntityId, target: EntityId, names: set[str], proposal: Proposal) -> bool:
        for name in names:
            if any(operation.head not in proposal.deed.past for operation in self.others(item, name)):
                return False
            tops = self.oracle.maximal(target, name)
            own = bool(tops) and tops[0].operation.effect == item
            judged = name in self.writes(item) and not own
            if judged and self.value(target, name) != self.past.value(proposal.deed, target, name):
                return False
        return True

    def overtaken(self, item: EntityId) -> bool:
        """Report whether something else shows in a place that a confirmed item has written."""
        target = self.target(item)
        if not self.exists(target):
            return False
        names = ["title"] if self.creates(item) else list(self.runs(item))
        tops = [self.oracle.maximal(target, name) for name in names]
        return any(not top or top[0].operation.effect != item for top in tops)

    def corrected(self, item: EntityId) -> bool:
        """Report whether a person has written another value over what a confirmed item proposed."""
        target = self.target(item)
        if self.creates(item) or not self.known(target):
            return False
        return any(
            top.operation.by is AuthorKind.USER and top.value(name) != value
            for name, value in self.writes(item).items()
            if name != "reason"
            for top in self.oracle.maximal(target, name)
        )

    def edited(self, item: EntityId) -> Fields | None:
        """Return the edited arguments that stand, the newest of several."""
        operations = [
            operation
            for operation in self.oracle.deciding(item)
            if "edited_args" in operation.operation.fields
        ]
        newest = max(
            operations, key=lambda operation: (operation.stamp, operation.operation.entity), default=None
        )
        return None if newest is None else cast("Fields", newest.value("edited_args"))

    # -- what guards a person's own word ------------------------------------------------------------------

    def guarded(self, item: EntityId) -> str:
        """Return which of the person's own choices an item would contradict; empty if none."""
        if self.tool(item) == "update_checklist_item" and self._against_a_tick(item):
            return "tick"
        return "label" if self.tool(item) == "assign_task_label" and self._denied(item) else ""

    def _against_a_tick(self, item: EntityId) -> bool:
        """Say whether an item changes what the user ticked, without a reason and evidence from after it."""
        target, args = self.target(item), self.last(item).args
        if "isChecked" not in args or args["isChecked"] is (self.value(target, "is_checked") is True):
            return False
        tops = self.oracle.maximal(target, "is_checked")
        users = [top for top in tops if top.operation.by is not AuthorKind.AGENT]
        if tops and not users:
            return False
        born = min(
            (operation for operation in self.oracle.live(target) if operation.creates),
            key=lambda operation: operation.stamp,
        )
        since = max((user.stamp for user in users), default=born.stamp)
        identifiers = [EntityId(id_from_text(element)) for element in args.get("evidenceIds") or ()]
        reasoned = len(args.get("reason") or "") >= REASON_CHARS_MIN and bool(identifiers)
        return not (reasoned and all(self._is_evidence(identifier, since) for identifier in identifiers))

    def _is_evidence(self, entry: EntityId, since: Stamp) -> bool:
        if entry not in set(self.notes()) or self.value(entry, "task_id") != TASK:
            return False
        texts = self.oracle.maximal(entry, "text")
        born = [operation for operation in self.oracle.live(entry) if operation.creates]
        return (
            all(operation.operation.by is AuthorKind.USER for operation in (*texts, *born))
            and born[0].stamp > since
        )

    def _denied(self, item: EntityId) -> bool:
        """Say whether the person has turned the label down: by a verdict, or by taking it off."""
        name = f"label_ids/{id_to_text(self.label(item))}"
        tops = self.oracle.maximal(TASK, name)
        if tops and tops[0].value(name) is True:
            return False
        alike = [
            proposal
            for proposal in self.proposals
            if proposal != item and self.says(proposal) == self.says(item)
        ]
        return bool(tops and tops[0].person) or any(
            self.status(identifier) == "rejected" for identifier in alike
        )


def fields_written(tool: str, args: Fields) -> Fields:
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
    return [id_to_text(identifier) for identifier in LABELS]
