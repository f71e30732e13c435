"""What people and agents do to a journal, as raw operations: the reference for decisions and their effects.

Never imports the daemon: it says in a few lines what the tables of decisions ask for, so that the fold can be
judged on histories of the right shape.
"""

from dataclasses import dataclass
from typing import Any

from store.fold.entity import Entity
from store.fold.item import Item, Occurrence, clock_as_value
from store.fold.verdicts import DecisionStatus, Verdict, maximal_opinions
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text, tagged_digest
from syncproto.vector_clock import Head, covers
from tests.simulation.device import OpenPage, SimulatedDevice

TASK = EntityId(bytes.fromhex("0197700000007000800000000000000a"))
AGENT = derived_id("agent", id_to_text(TASK), time_of=TASK)
LABELS = (derived_id("label", 1, time_of=TASK), derived_id("label", 2, time_of=TASK))
WEEK_MS = 7 * 24 * 3600 * 1000
GUARDED_MINUTES = 120
"""An estimate that needs a verdict of another device than the one that proposed it."""

TITLE, ESTIMATE, CHECKED = "title", "estimate_minutes", "is_checked"


@dataclass(frozen=True)
class Tool:
    """A deferrable tool: what it writes."""

    name: str
    kind: str
    field: str
    creates: bool = False


SET_TITLE = Tool("set_task_title", "task", TITLE)
SET_ESTIMATE = Tool("update_task_estimate", "task", ESTIMATE)
ASSIGN_LABEL = Tool("assign_task_label", "task", "label_ids")
ADD_ITEM = Tool("add_checklist_item", "checklist_item", TITLE, creates=True)
CHECK_ITEM = Tool("update_checklist_item", "checklist_item", CHECKED)
TOOLS = {tool.name: tool for tool in (SET_TITLE, SET_ESTIMATE, ASSIGN_LABEL, ADD_ITEM, CHECK_ITEM)}


def label_field(label: EntityId) -> str:
    """Return the field that says whether a label is on the task."""
    return f"label_ids/{id_to_text(label)}"


def rendered(entity: Entity | None) -> Any:
    """Return what can be seen of an entity, comparable."""
    if entity is None or not entity.exists:
        return None
    return (
        entity.visible,
        {name: [(v.source.head, v.value) for v in entity.versions(name)] for name in entity.fields()},
    )


class Author:
    """One person with their agent, at one device, in one transaction."""

    def __init__(self, device: SimulatedDevice, tx: Transaction) -> None:
        self.device = device
        self.tx = tx

    # -- reading ----------------------------------------------------------------------------------------

    def shown(self, entity: EntityId) -> bool:
        """Return whether an entity is visible, and its task with it."""
        found_entity, task = self.tx.entity(entity), self.tx.entity(TASK)
        return found_entity is not None and found_entity.visible and task is not None and task.visible

    def children(self) -> list[EntityId]:
        """Return the items and entries in sight."""
        if not self.shown(TASK):
            return []
        return [entity.id for kind in ("checklist_item", "entry") for entity in self.tx.entities(kind)]

    def target(self, item: Item) -> EntityId:
        """Return the entity that an item writes."""
        if TOOLS[item.tool].creates:
            return derived_id("entity", id_to_text(item.id), time_of=item.id)
        target = item.args["target"]
        assert isinstance(target, bytes)
        return EntityId(target)

    def _entity(self, entity: EntityId) -> Entity | None:
        found_entity = self.tx.entity(entity)
        return found_entity if found_entity is not None and found_entity.exists else None

    # -- a person's own writes --------------------------------------------------------------------------

    def write(
        self,
        entity: EntityId,
        kind: str,
        fields: dict[str, Any],
        *,
        touch: bool = False,
        view: OpenPage | None = None,
    ) -> Head:
        """Write as a person; a write to a child touches its task."""
        writes = [EntityWrite(entity, kind, fields, base=None if view is None else view.clock)]
        if touch:
            writes.append(EntityWrite(TASK, "task", {}))
        return self.device.commit(self.tx, writes, view=view)

    def agent_writes(self, entity: EntityId, kind: str, fields: dict[str, Any]) -> Head:
        """Write at once as the agent."""
        return self.device.commit(self.tx, [EntityWrite(entity, kind, fields)], by=AuthorKind.AGENT)

    # -- proposing --------------------------------------------------------------------------------------

    def proposal(self, tool: Tool, target: EntityId, field: str, value: Any) -> dict[str, Any] | None:
        """Return the change item for what an agent wants, None if it is so already or was proposed before."""
        now = self._entity(target)
        if not tool.creates and now is not None and now.value(field) == value:
            return None
        args = {"target": target, "field": field, "value": value}
        fields = {"target": id_to_text(target), "field": field, "value": value}
        fingerprint = tagged_digest("fp", id_to_text(TASK), tool.name, fields)
        like = self.tx.items_with_fingerprint(fingerprint)
        over = (DecisionStatus.CONFIRMED, DecisionStatus.RETRACTED)
        if any(self.tx.item_status(item).status not in over for item in like):
            return None
        previous = id_to_text(like[-1]) if like else None
        # Either the item's id follows from what it writes, or that from the item's.
        written = [] if tool.creates else [id_to_text(target)]
        shown: dict[str, Any] = {}
        if tool is SET_ESTIMATE and value == GUARDED_MINUTES:
            # The agent works here, and such an estimate needs a verdict from elsewhere.
            home = bytes(self.tx.device)
            written += ["other_device", home.hex()]
            follows = like[-1] if like else None
            shown = {"entity": target, "follows": follows, "presence": "other_device", "home": home}
        item_id = derived_id("item", fingerprint.hex(), previous, *written, time_of=TASK)
        entity = derived_id("entity", id_to_text(item_id), time_of=item_id) if tool.creates else target
        found_entity = self.tx.entity(entity)
        base = {
            "clock": clock_as_value(found_entity.clock if found_entity else ()),
            "value": now.value(field) if now else None,
        }
        named = {"item_id": item_id, "fingerprint": fingerprint, "tool": tool.name}
        return {**named, "args": args, "base": base, **shown}

    def propose(self, items: list[dict[str, Any]]) -> EntityId:
        """Write a change set."""
        change_set = self.tx.new_id()
        fields: dict[str, Any] = {
            "agent_id": AGENT,
            "task_id": TASK,
            "run_key": id_to_text(change_set),
            "items": items,
            "expires_at": self.tx.now_ms() + WEEK_MS,
        }
        self.device.commit(self.tx, [EntityWrite(change_set, "change_set", fields)], by=AuthorKind.AGENT)
        return change_set

    # -- deciding ---------------------------------------------------------------------------------------

    def decision(self, item: Item, verdict: Verdict, by: AuthorKind, more: dict[str, Any]) -> EntityWrite:
        """Return the write of a decision, which names the decisions on the item that are known."""
        identifiers = [decision.id for decision in item.all_decisions]
        fields: dict[str, Any] = {"item_id": item.id, "verdict": verdict.value, "seen": identifiers, **more}
        return EntityWrite(self.tx.new_id(), "decision", fields, by=by)

    def decide(self, item: Item, verdict: Verdict) -> str:
        """Write a decision that has no effect of its own; return what came of it."""
        refusal = _refusal(item, verdict)
        if refusal:
            return refusal
        by = AuthorKind.AGENT if verdict is Verdict.RETRACTED else AuthorKind.USER
        self.device.commit(self.tx, [self.decision(item, verdict, by, {})], by=by)
        after = _item(self.tx, item.id)
        if not self.counts_here(item) and by is AuthorKind.USER:
            assert after.item_status == item.item_status, "a verdict that does not count changes an item"
            return "does not count"
        if by is AuthorKind.USER:
            assert not after.disputed, f"{verdict} leaves the dispute standing"
        return "settled" if item.disputed else "done"

    def counts_here(self, item: Item) -> bool:
        """Return whether a person's verdict on this device counts for an item."""
        return item.requirement is None or item.requirement.home != self.tx.device

    def overtaken(self, item: Item) -> bool:
        """Return whether an item is confirmed, and something else has replaced its effect."""
        entity = self._entity(self.target(item))
        version = entity.version(item.args["field"]) if entity else None
        return version is not None and version.source.effect != item.id

    def stale(self, item: Item) -> bool:
        """Return whether something stands there now that no proposal of the item had seen."""
        entity = self._entity(self.target(item))
        if entity is None:
            return False
        if TOOLS[item.tool].creates:
            fields = (TITLE, CHECKED)
            return any(v.source.effect != item.id for name in fields for v in entity.versions(name))
        return not any(self._fresh(item, occurrence, entity) for occurrence in item.occurrences)

    def _fresh(self, item: Item, occurrence: Occurrence, entity: Entity) -> bool:
        versions = entity.versions(item.args["field"])
        own = [version.source.effect == item.id for version in versions]
        unseen = [
            version
            for version, mine in zip(versions, own, strict=True)
            if not mine and not covers(occurrence.base, version.source.head, self.tx.log)
        ]
        same = bool(own and own[0]) or entity.value(item.args["field"]) == occurrence.value
        return not unseen and same

    def confirm(self, item: Item, *, force: bool = False, again: bool = False, edit: Any = None) -> str:
        """Confirm an item: decision and effect in one commit; return what came of it."""
        over = item.status is DecisionStatus.CONFIRMED and self.overtaken(item)
        if item.status is DecisionStatus.CONFIRMED and not (over and force):
            return "already"
        if item.status is DecisionStatus.REJECTED and not item.disputed and not again:
            return "conflict"
        if item.status is DecisionStatus.RETRACTED:
            return "gone"
        target, tool = self.target(item), TOOLS[item.tool]
        existing = self._entity(target)
        if not self.shown(TASK) or ((existing is None) is not tool.creates and not self.shown(target)):
            return "obsolete"
        stale = self.stale(item)
        if stale and not force:
            return "creation stale" if tool.creates else "stale"
        words = self._edited(item) if edit is None else edit
        self._apply(item, words, forced=stale or over)
        if not self.counts_here(item):
            return "does not count"
        return _outcome(item, words is not None, stale, over)

    def _edited(self, item: Item) -> Any:
        """Return the edited words that a disputed item's confirmations carry: they are confirmed again."""
        if not item.disputed:
            return None
        tops = {
            maximal_opinion.decision
            for maximal_opinion in maximal_opinions(
                [d.opinion for d in item.decisions if d.by is AuthorKind.USER]
            )
        }
        edits = [decision for decision in item.decisions if decision.id in tops and decision.edited_args]
        if not edits:
            return None
        newest = max(edits, key=lambda decision: (decision.stamp_ms, decision.n, decision.id))
        return (newest.edited_args or {})["value"]

    def _apply(self, item: Item, words: Any, *, forced: bool) -> None:
        tool, target, field = TOOLS[item.tool], self.target(item), item.args["field"]
        value = item.args["value"] if words is None else words
        by = AuthorKind.AGENT if words is None else AuthorKind.USER
        edited = {} if words is None else {"edited_args": {"value": words}}
        fields: dict[str, Any] = {field: value}
        shown = {} if tool.creates else self._shown_name(item, target)
        writes = [self.decision(item, Verdict.CONFIRMED, AuthorKind.USER, {**edited, **shown})]
        if tool.creates:
            fields[CHECKED] = False
            checklist, entity_writes = self._todos()
            fields["checklist_id"] = checklist
            writes += entity_writes
        writes.append(EntityWrite(target, tool.kind, fields, effect=item.id, by=by))
        self.device.commit(self.tx, writes, forced=forced)
        after, entity = _item(self.tx, item.id), self.tx.entity(target)
        if not self.counts_here(item):
            assert after.item_status == item.item_status, "a verdict that does not count changes an item"
            return
        assert after.status is DecisionStatus.CONFIRMED, "a confirmation does not confirm"
        assert entity is not None
        assert entity.value(field) == value, "what was just confirmed does not show"

    def _shown_name(self, item: Item, target: EntityId) -> dict[str, Any]:
        """Return what shows that an item writes an entity."""
        fingerprint = item.fingerprint
        for follows in (None, *self.tx.items_with_fingerprint(fingerprint)):
            before = None if follows is None else id_to_text(follows)
            words = (fingerprint.hex(), before, id_to_text(target))
            shown = {"entity": target, "fingerprint": fingerprint, "follows": follows}
            if derived_id("item", *words, time_of=TASK) == item.id:
                return shown
            home = None if item.requirement is None else bytes(item.requirement.home)
            if home and derived_id("item", *words, "other_device", home.hex(), time_of=TASK) == item.id:
                return {**shown, "presence": "other_device", "home": home}
        raise AssertionError("an item that follows from nothing")

    def _todos(self) -> tuple[EntityId, list[EntityWrite]]:
        """Return the checklist that a created item goes to, with the plain write that makes it if need be."""
        lists = self.tx.entities("checklist")
        if lists:
            return lists[0].id, []
        number = 0
        while True:
            identifier = derived_id(
                "checklist", id_to_text(TASK), *([number] if number else []), time_of=TASK
            )
            if self.tx.entity(identifier) is None:
                fields: dict[str, Any] = {"task_id": TASK, TITLE: "Todos"}
                return identifier, [EntityWrite(identifier, "checklist", fields, by=AuthorKind.SYSTEM)]
            number += 1


def _item(snapshot: Snapshot, item: EntityId) -> Item:
    found_item = snapshot.item(item)
    assert found_item is not None
    return found_item


def _refusal(item: Item, verdict: Verdict) -> str:
    """Return why a verdict is not written, empty if it is."""
    status = item.status
    open_now = status in (DecisionStatus.PENDING, DecisionStatus.DEFERRED)
    match verdict:
        case Verdict.REJECTED if not (open_now or item.disputed):
            return {DecisionStatus.REJECTED: "already", DecisionStatus.CONFIRMED: "conflict"}.get(
                status, "gone"
            )
        case Verdict.UNDONE if status is not DecisionStatus.CONFIRMED:
            return "not confirmed"
        case Verdict.REOPENED if status is not DecisionStatus.REJECTED:
            return "not rejected"
        case Verdict.DEFERRED if status is not DecisionStatus.PENDING:
            return "already" if status is DecisionStatus.DEFERRED else "conflict"
        case Verdict.RETRACTED if not open_now or any(
            decision.by is AuthorKind.USER for decision in item.decisions
        ):
            return "decided by a person"
    return ""


def _outcome(item: Item, edited: bool, stale: bool, over: bool) -> str:
    if over:
        return "forced again"
    if stale:
        return "forced"
    if item.disputed:
        return "settled, edited" if edited else "settled"
    if any(decision.verdict in (Verdict.UNDONE, Verdict.REJECTED) for decision in item.decisions):
        return "confirmed again"
    return "edited" if edited else "done"
