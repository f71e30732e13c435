"""The one commit of a decision: what it writes if the item is confirmed, and what if it is not.

Never checks whether the decision is allowed: `decisions.py` has. Never writes one entity twice in a commit.
"""

from dataclasses import dataclass

from daemon.agents.deciding.item_state import ItemState
from daemon.agents.deciding.passkey_proof import decision_id
from daemon.agents.proposing.authenticity import name_of_item
from daemon.agents.tools.arguments import Arguments
from daemon.agents.tools.checklists import checklist_of, ordered_children
from daemon.agents.tools.effects import Effect, args_hash, effect_of, operation_id
from daemon.agents.tools.message_ids import confirmation_message_ids
from daemon.journal.checklist_items import TODOS_TITLE
from daemon.journal.fields import positions
from store.fold.item import Item
from store.fold.item_name import ItemName, fields_of_name
from store.fold.verdicts import Verdict
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text

TODOS_MAX = 1000


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A confirmation that may go ahead. `edited` are the arguments in place of those proposed, if any.

    If `is_asserted`, a passkey signs its decisions.
    """

    case: ItemState
    edited: Arguments | None
    reason: str | None
    via: str
    is_asserted: bool = False

    @property
    def item(self) -> Item:
        """Return the item that is confirmed."""
        return self.case.item

    @property
    def args(self) -> Arguments:
        """Return the arguments that take effect."""
        return self.case.proposed if self.edited is None else self.edited


def person_decision_write(
    tx: Transaction,
    item: Item,
    verdict: Verdict,
    *,
    reason: str | None,
    via: str,
    edited: Arguments | None = None,
    shown_args: Arguments | None = None,
    name: ItemName | None = None,
    is_asserted: bool = False,
) -> EntityWrite:
    """Return the write of a decision that has seen every decision of the item known here.

    `shown_args` are the arguments that the person saw; None if they cannot be read here. `name` shows which
    entity the item writes. If `is_asserted`, a passkey signs it.
    """
    fields: dict[str, Value] = {
        "item_id": item.id,
        "verdict": verdict.value,
        "device": tx.device,
        "seen": [decision.id for decision in item.all_decisions],
        "via": via,
    }
    if shown_args is not None:
        fields["args_hash"] = args_hash(item.tool, shown_args)
    if reason is not None:
        fields["reason"] = reason
    if edited is not None:
        fields["edited_args"] = edited
    if name is not None:
        fields |= fields_of_name(name)
    return EntityWrite(decision_id(item.id, fields) if is_asserted else tx.new_id(), "decision", fields)


def confirmation_writes(tx: Transaction, confirmation: Confirmation) -> list[EntityWrite]:
    """Return all writes of one confirmation: decision, effect, messages, and what the effect needs."""
    item = confirmation.item
    effect = effect_of(item.tool, confirmation.args, item.id, item.task)
    decision = person_decision_write(
        tx,
        item,
        Verdict.CONFIRMED,
        reason=confirmation.reason,
        via=confirmation.via,
        edited=confirmation.edited,
        shown_args=confirmation.case.args,
        name=name_of_item(tx, item.id, item.task, confirmation.case.call),
        is_asserted=confirmation.is_asserted,
    )
    # What a person edits is the person's own wording, and ranks above an agent's write.
    by = AuthorKind.AGENT if confirmation.edited is None else AuthorKind.USER
    fields = dict(effect.fields)
    needed: list[EntityWrite] = []
    if effect.creates and effect.kind == "checklist_item":
        placed, needed = _placement(tx, confirmation.case)
        fields |= placed
    if effect.entity != item.task and effect.kind != "task":
        # The task's clock moves with what is in it. The write is the agent's and not the person's: a
        # confirmation must not keep a task visible that was deleted on another device meanwhile.
        needed.append(EntityWrite(item.task, "task", {}, by=AuthorKind.AGENT))
    write = EntityWrite(effect.entity, effect.kind, fields, effect=item.id, by=by)
    via = confirmation.via
    companions = companion_writes(tx, confirmation.case, Verdict.REJECTED, decision, via=via)
    messages = _confirmation_messages(confirmation, effect, decision.entity)
    return [decision, *companions, write, *needed, *messages]


def companion_writes(
    tx: Transaction, case: ItemState, verdict: Verdict, decision: EntityWrite, *, via: str
) -> list[EntityWrite]:
    """Return what a person's decision on an answer decides on the other answers of its question.

    Each decision is one on all answers, so that all have decisions of one shape: of two answers that were
    chosen while apart, neither is in effect, and both are disputed. No second answer ever comes into effect.
    """
    others = (other for other in case.answers if other != case.item.id)
    return [_companion_write(tx, other, verdict, decision.entity, via) for other in others]


def _companion_write(
    tx: Transaction, item: EntityId, verdict: Verdict, companion_of: EntityId, via: str
) -> EntityWrite:
    fields: dict[str, Value] = {
        "item_id": item,
        "verdict": verdict.value,
        "device": tx.device,
        "seen": [opinion.decision for opinion in tx.opinions_on(item)],
        "via": via,
        "companion_of": companion_of,
    }
    # Its id follows from what it says: a passkey that has to sign it is asked before it is written.
    return EntityWrite(decision_id(item, fields), "decision", fields)


def _placement(tx: Transaction, case: ItemState) -> tuple[dict[str, Value], list[EntityWrite]]:
    """Return the place of a created item, and the write of the checklist if there is none.

    An item that exists already, because a person touched it, stays where it is.
    """
    if case.target_exists and _checklist_is_visible(tx, case):
        return {}, []
    checklist, needed = _first_checklist(tx, case.item.task)
    position = _place_proposed(case.item)
    placed: dict[str, Value] = {"checklist_id": checklist, "position": position, "is_archived": False}
    return placed, needed


def _checklist_is_visible(tx: Snapshot, case: ItemState) -> bool:
    assert case.target is not None
    checklist = checklist_of(tx, case.target)
    return checklist is not None and checklist.visible


def _place_proposed(item: Item) -> str:
    """Return the position that the proposal chose: devices that confirm while apart write the same one."""
    proposed = [
        occurrence.value.get("position")
        for occurrence in item.occurrences
        if isinstance(occurrence.value, dict)
    ]
    # Another device may have written anything there. Sorted, because proposals arrive in any order.
    places = sorted(place for place in proposed if isinstance(place, str) and positions.is_position(place))
    return places[0] if places else positions.position_between(None, None)


def _first_checklist(tx: Transaction, task: EntityId) -> tuple[EntityId, list[EntityWrite]]:
    """Return the task's first checklist, and its write if it has to be made.

    A new checklist is called "Todos". Its id follows from the task, so that all devices make the same one. It
    is a plain operation without an effect: undoing one item does not take the list from the others. A
    checklist that a person removed is not brought back: the next number is used.
    """
    checklists = ordered_children(tx, task, "task_checklist")
    if checklists:
        return checklists[0].id, []
    for number in range(TODOS_MAX):
        parts = (id_to_text(task), number) if number else (id_to_text(task),)
        identifier = derived_id("checklist", *parts, time_of=task)
        existing = tx.entity(identifier)
        if existing is None or not existing.exists:
            fields: dict[str, Value] = {
                "task_id": task,
                "title": TODOS_TITLE,
                "position": positions.position_between(None, None),
            }
            return identifier, [EntityWrite(identifier, "checklist", fields, by=AuthorKind.AGENT)]
    raise AssertionError(f"{TODOS_MAX} checklists were removed from one task")


def _confirmation_messages(
    confirmation: Confirmation, effect: Effect, decision: EntityId
) -> list[EntityWrite]:
    """Return the messages by which the agent's log shows the confirmation and its result."""
    item = confirmation.item
    proposed = item.occurrences[0]
    operation = operation_id(proposed.run_key, item.tool, confirmation.args, [effect.entity])
    metadata: dict[str, Value] = {"tool": item.tool, "operation_id": operation, "item_id": item.id}
    action, result = confirmation_message_ids(decision)
    shared: dict[str, Value] = {"agent_id": proposed.agent, "thread_id": proposed.run_key}
    return [
        EntityWrite(
            action, "message", {**shared, "kind": "action", "metadata": metadata}, by=AuthorKind.AGENT
        ),
        EntityWrite(
            result,
            "message",
            {
                **shared,
                "kind": "tool_result",
                "prev_message_id": action,
                "metadata": metadata,
                "targets": [effect.entity],
            },
            by=AuthorKind.AGENT,
        ),
    ]
