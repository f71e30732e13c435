"""The one commit of a decision: what it writes where an item is confirmed, and where it is not.

Never asks whether it may: `decisions.py` has. Never writes one entity twice in a commit.
"""

from dataclasses import dataclass

from daemon.agents.effects import Effect, args_hash, effect_of, operation_id
from daemon.agents.judging import Case, checklist_of, children
from daemon.agents.message_ids import deed_ids
from daemon.agents.tools import Arguments
from daemon.journal import positions
from daemon.journal.checklists import TODOS
from store.item import Item
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from store.verdicts import Verdict
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.ids import EntityId, derived_id, text

TODOS_MAX = 1000


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A confirmation that may go ahead. `edited` are the arguments in place of those proposed, if any."""

    case: Case
    edited: Arguments | None
    reason: str | None
    via: str

    @property
    def item(self) -> Item:
        """Return the item that is confirmed."""
        return self.case.item

    @property
    def args(self) -> Arguments:
        """Return the arguments that take effect."""
        return self.case.proposed if self.edited is None else self.edited


def decision_write(
    tx: Transaction,
    item: Item,
    verdict: Verdict,
    *,
    reason: str | None,
    via: str,
    edited: Arguments | None = None,
    shown: Arguments | None = None,
) -> Write:
    """Write a decision that has seen every decision of the item known here.

    `shown` are the arguments that the person was shown; None where they cannot be read here.
    """
    fields: dict[str, Value] = {
        "item_id": item.id,
        "verdict": verdict.value,
        "device": tx.device,
        "seen": [decision.id for decision in item.decisions],
        "via": via,
    }
    if shown is not None:
        fields["args_hash"] = args_hash(item.tool, shown)
    if reason is not None:
        fields["reason"] = reason
    if edited is not None:
        fields["edited_args"] = edited
    return Write(tx.new_id(), "decision", fields)


def confirmation_writes(tx: Transaction, confirmation: Confirmation) -> list[Write]:
    """Return all that one confirmation writes: decision, effect, messages, and what it needs to stand on."""
    item = confirmation.item
    effect = effect_of(item.tool, confirmation.args, item.id, item.task)
    decision = decision_write(
        tx,
        item,
        Verdict.CONFIRMED,
        reason=confirmation.reason,
        via=confirmation.via,
        edited=confirmation.edited,
        shown=confirmation.case.args,
    )
    by = By.AGENT if confirmation.edited is None else By.USER
    fields = dict(effect.fields)
    needed: list[Write] = []
    if effect.creates:
        placed, needed = _placed(tx, confirmation.case)
        fields |= placed
    if effect.entity != item.task:
        # The task's clock moves with what is in it. Not the person's own operation: a confirmation does not
        # keep a task in sight that was deleted elsewhere meanwhile (DOMAIN.md §4).
        needed.append(Write(item.task, "task", {}, by=By.AGENT))
    write = Write(effect.entity, effect.kind, fields, effect=item.id, by=by)
    return [decision, write, *needed, *_messages(confirmation, effect, decision.entity)]


def _placed(tx: Transaction, case: Case) -> tuple[dict[str, Value], list[Write]]:
    """Say where a created item goes, and make the checklist where there is none.

    An item that stands already, because a person touched it, stays where it is.
    """
    if case.stands and _checklist_in_sight(tx, case):
        return {}, []
    checklist, needed = _checklist(tx, case.item.task)
    position = _place_proposed(case.item)
    placed: dict[str, Value] = {"checklist_id": checklist, "position": position, "is_archived": False}
    return placed, needed


def _checklist_in_sight(tx: Snapshot, case: Case) -> bool:
    assert case.target is not None
    held = checklist_of(tx, case.target)
    return held is not None and held.visible


def _place_proposed(item: Item) -> str:
    """Return the place that the proposal chose: devices that confirm while apart then write the same."""
    chosen = [one.value.get("position") for one in item.occurrences if isinstance(one.value, dict)]
    places = sorted(place for place in chosen if isinstance(place, str) and positions.is_place(place))
    return places[0] if places else positions.between(None, None)


def _checklist(tx: Transaction, task: EntityId) -> tuple[EntityId, list[Write]]:
    """Return the task's first checklist; where it has none, "Todos", made as a plain operation.

    Its id follows from the task, so that all devices make the same one; without an effect, undoing one item
    does not take it from the others. One that a person removed is not brought back: the next one is made.
    """
    held = children(tx, task, "task_checklist")
    if held:
        return held[0].id, []
    for number in range(TODOS_MAX):
        parts = (text(task), number) if number else (text(task),)
        identifier = derived_id("checklist", *parts, time_of=task)
        known = tx.entity(identifier)
        if known is None or not known.exists:
            fields: dict[str, Value] = {
                "task_id": task,
                "title": TODOS,
                "position": positions.between(None, None),
            }
            return identifier, [Write(identifier, "checklist", fields, by=By.AGENT)]
    raise AssertionError(f"{TODOS_MAX} checklists were removed from one task")


def _messages(confirmation: Confirmation, effect: Effect, decision: EntityId) -> list[Write]:
    """Return the messages by which the agent's log tells of the deed and of what came of it."""
    item = confirmation.item
    proposed = item.occurrences[0]
    operation = operation_id(proposed.run_key, item.tool, confirmation.args, [effect.entity])
    about: dict[str, Value] = {"tool": item.tool, "operation_id": operation, "item_id": item.id}
    action, result = deed_ids(decision)
    shared: dict[str, Value] = {"agent_id": proposed.agent, "thread_id": proposed.run_key}
    return [
        Write(action, "message", {**shared, "kind": "action", "metadata": about}, by=By.AGENT),
        Write(
            result,
            "message",
            {
                **shared,
                "kind": "tool_result",
                "prev_message_id": action,
                "metadata": about,
                "targets": [effect.entity],
            },
            by=By.AGENT,
        ),
    ]
