"""The history of decisions: who decided what, when, on which device, and whether the decision still counts.

Never shows a model's words as what a proposal is: that are its tool and arguments; its reason stands apart.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from msgspec import Struct

from daemon.agents.deciding import item_state
from daemon.agents.deciding.verdict_needs import lack_of
from daemon.agents.deciding.waiting_items import NoteEvidence, newest_occurrence
from daemon.agents.proposing import reach
from daemon.agents.tools import summaries
from daemon.agents.tools.agent_record import load_external_agent
from daemon.agents.tools.arguments import Arguments
from daemon.agents.tools.questions import answer_text
from daemon.journal.fields.provenance import AUTHOR_NAMES
from daemon.journal.references import entities
from daemon.journal.references.names import short_text, shown_name
from daemon.journal.views.agent_argument import REASON_CHARS, Argument, argument_in
from daemon.journal.views.lookup import NameLookup, json_value
from daemon.journal.views.structures import Evidence
from daemon.timestamps import stamp_utc
from store.fold.entity import Entity
from store.fold.item import Decision, Item
from store.fold.verdicts import deciding_opinions
from store.queries.decisions import DecisionEntry, decisions_before
from store.snapshot import Snapshot
from syncproto import codec
from syncproto.ids import EntityId, id_from_text, id_to_text

DECISIONS_LISTED_MAX = 500
_FORGED_ARGS_BYTES_MAX = 4096


class DecisionRecord(Struct, frozen=True, kw_only=True):
    """One decision. `status` and `disputed` are the item's as they are now.

    `counts` is True if this decision still makes that status: no later decision has seen it, and it is a
    person's, or no person has decided. `without_effect` is True if the item is confirmed, but no device wrote
    what that changes; confirming it again writes it, if `can_take_effect`. `seq` is the feed position of the
    decision. Given as `before`, it asks for the next page. `args` are the agent's arguments. `edited_args`
    are those that the person put in their place, or null. `subject` is the name of the checklist item or
    label, or null. `question` and `answer` are the words of a question of the agent and of the answer that is
    decided on, or null; a decision on one answer decides on the others too, which are not listed.
    `lacks` is what the decision lacked in order to count, `other_device` or `passkey`, or null.
    `agent_reason` and `evidence` are the reason of the agent and the notes that it named. `notes` is what the
    notes say that were there when it was decided, null if they cannot tell.
    `task_id` and `task_title` are the agent's own of a new task that was proposed beside no task.
    `is_ask`: it is on an ask, whose action is `tool`; there is no task, and `rule` is the standing rule that
    decided, or null if a person did.
    """

    seq: int
    decision_id: str
    item_id: str
    task_id: str
    task_title: str
    agent_id: str
    tool: str
    args: Any
    subject: str | None
    summary: str
    verdict: str
    by: str
    device: str
    device_name: str
    at: str
    reason: str | None
    via: str | None
    edited_args: Any
    counts: bool
    status: str
    disputed: bool
    without_effect: bool
    can_take_effect: bool = True
    question: str | None = None
    answer: str | None = None
    agent_reason: str | None = None
    evidence: list[Evidence] = []
    notes: NoteEvidence | None = None
    lacks: str | None = None
    is_ask: bool = False
    rule: str | None = None


def list_decisions(
    snapshot: Snapshot,
    now_ms: int,
    *,
    task: str | None = None,
    before: int | None = None,
    limit: int,
    present_other: Callable[[DecisionEntry], DecisionRecord | None] = lambda _entry: None,
) -> list[DecisionRecord]:
    """List about `limit` decisions, newest first: those on the items of the task that `task` names, or all.

    They are in the order in which they arrived here. `before` is the `seq` of the last one of the previous
    page. An agent of another maker, by its id, stands for the new tasks that it proposed beside no task.
    `present_other` shows the decisions that are on no item. Raises Refused if the reference names neither.
    """
    task_id = None if task is None else find_subject(snapshot, task).id
    entries = decisions_before(
        snapshot, task=task_id, before=before, limit=max(1, min(limit, DECISIONS_LISTED_MAX))
    )
    presenter = _DecisionPresenter(snapshot, now_ms)
    records = (
        presenter.record(entry) if presenter.is_on_item(entry) else present_other(entry) for entry in entries
    )
    return [record for record in records if record is not None]


def find_subject(snapshot: Snapshot, ref: str) -> Entity:
    """Find what proposals are about: a task, removed or not, or by its id an agent of another maker.

    Raises Refused if the reference names neither.
    """
    try:
        agent = snapshot.entity(id_from_text(ref))
    except ValueError:
        agent = None
    if agent is not None and load_external_agent(snapshot, agent.id) is not None:
        return agent
    return entities.find_task(snapshot, ref, removed=True)


class _ItemDetails(NamedTuple):
    """An item, and what is shown of it beside each of its decisions."""

    item: Item
    task_title: str
    args: Arguments
    subject: str | None
    decisions: dict[EntityId, Decision]
    deciding: frozenset[EntityId]
    status: str
    without_effect: bool
    can_take_effect: bool
    argument: Argument
    rationale: str | None
    answer: Arguments | None


class _DecisionPresenter:
    """Turns decisions into records; reads each item once."""

    def __init__(self, snapshot: Snapshot, now_ms: int) -> None:
        self._snapshot = snapshot
        self._now_ms = now_ms
        self._names = NameLookup(snapshot)
        self._item = cache(self._read_item)

    def is_on_item(self, decision_entry: DecisionEntry) -> bool:
        """Report whether a decision is on a change item."""
        return self._item(decision_entry.item) is not None

    def record(self, decision_entry: DecisionEntry) -> DecisionRecord | None:
        """Return the record of a decision on an item; None if it only came with one on another answer."""
        details = self._item(decision_entry.item)
        assert details is not None, "the caller asks before"
        item, decision = details.item, details.decisions[decision_entry.decision]
        if decision.companion_of is not None:
            return None
        return DecisionRecord(
            seq=decision_entry.seq,
            decision_id=id_to_text(decision.id),
            item_id=id_to_text(item.id),
            task_id=id_to_text(item.task),
            task_title=details.task_title,
            agent_id=id_to_text(item.occurrences[0].agent),
            tool=item.tool,
            args=json_value(details.args),
            subject=details.subject,
            summary=summaries.proposal_summary(item.tool, details.args, details.subject),
            verdict=decision.verdict.value,
            by=AUTHOR_NAMES[decision.by],
            device=decision.device.hex(),
            device_name=self._names.device_name(decision.device),
            at=stamp_utc(decision.stamp_ms, self._now_ms),
            reason=decision.reason or None,
            via=decision.via or None,
            edited_args=json_value(decision.edited_args),
            counts=decision.id in details.deciding,
            status=details.status,
            disputed=item.disputed,
            without_effect=details.without_effect,
            can_take_effect=details.can_take_effect,
            question=None if details.answer is None else details.answer["question"],
            answer=None if details.answer is None else answer_text(details.answer),
            agent_reason=details.argument.reason or details.rationale,
            evidence=details.argument.evidence,
            lacks=lack_of(item, decision),
        )

    def _read_item(self, identifier: EntityId) -> _ItemDetails | None:
        stored = self._snapshot.item(identifier)
        if stored is None:
            return None
        state = item_state.item_state_of(self._snapshot, stored)
        item, args = (stored, _bounded_args(stored.args)) if state is None else (state.item, state.proposed)
        task = self._snapshot.entity(item.task)
        without_effect = item_state.lacks_effect(self._snapshot, stored)
        return _ItemDetails(
            item,
            "" if task is None else shown_name(task),
            args,
            None if state is None else reach.target_name(self._snapshot, item.tool, args),
            {decision.id: decision for decision in stored.all_decisions},
            frozenset(
                opinion.decision
                for opinion in deciding_opinions(decision.opinion for decision in stored.decisions)
            ),
            stored.status.value
            if state is None
            else item_state.displayed_status(self._snapshot, state, self._now_ms).value,
            without_effect,
            not without_effect or item_state.can_take_effect(self._snapshot, stored),
            argument_in(self._snapshot, item.task, args),
            None if state is None else short_text(newest_occurrence(item).rationale, REASON_CHARS) or None,
            None if state is None else state.answer,
        )


def _bounded_args(args: Arguments) -> Arguments:
    """Return the arguments of a proposal that no agent of ours made; none if they are long.

    They are shown with each decision on the item, of which there may be thousands.
    """
    return args if len(codec.encode(args)) <= _FORGED_ARGS_BYTES_MAX else {}
