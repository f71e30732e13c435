"""The checks that are repeated when a person confirms: policy, category, sovereignty, labels.

Never relies on a check at the time of the proposal: the answer may have changed, or nobody checked.
"""

from typing import Final

from daemon.agents.deciding.item_state import ItemState
from daemon.agents.proposing import label_rules, sovereignty
from daemon.agents.tools.arguments import Arguments
from daemon.agents.tools.effects import named_entity_id
from daemon.agents.tools.policy import category_refusal, denial_reason
from daemon.agents.tools.table import ASSIGN_TASK_LABEL, TOOLS, WriteTarget
from daemon.journal.references import names
from store.fold.entity import Entity
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot

DENIED_BY_POLICY: Final = sentence("policy-denies-this", "your policy for this agent denies this")
CATEGORY_NOT_ALLOWED: Final = sentence(
    "agent-not-of-this-category", "this agent may not work on tasks of this category"
)
PERSON_TICKED: Final = sentence(
    "person-set-item",
    "you set this item yourself, and the agent's reason and evidence do not override that",
)
LABEL_OUT_OF_SCOPE: Final = sentence("label-not-of-category", "the label is not for the category of the task")
LABEL_SUPPRESSED: Final = sentence("label-denied", "you denied the task this label")
LABELS_FULL: Final = sentence(
    "labels-full",
    "the task has {count} labels, and agents may not add more: take one off first",
    count=label_rules.LABELS_MAX,
)


def confirmation_refusal(
    snapshot: Snapshot, state: ItemState, args: Arguments, *, force: bool, reason_min: int
) -> Sentence | None:
    """Return why a person's confirmation is refused; None if it goes ahead.

    `args` are those that would be applied. `reason_min` is how long a reason against a person's tick must be.
    A person who forces overrules the guards of their own word, and not the limits that they set for the
    agent.
    """
    refusal = _agents_refusal(snapshot, state)
    if refusal is not None:
        return refusal
    if state.item.tool == ASSIGN_TASK_LABEL:
        return _label_refusal(snapshot, state, args, force=force)
    if TOOLS[state.item.tool].writes is WriteTarget.ITEM and not force:
        return _tick_refusal(snapshot, state, args, reason_min)
    return None


def _agents_refusal(snapshot: Snapshot, state: ItemState) -> Sentence | None:
    """Return why no agent that proposed the item may do this by now; None if one of them still may."""
    refusals = [
        _agent_refusal(snapshot, snapshot.entity(agent), state)
        for agent in dict.fromkeys(occurrence.agent for occurrence in state.item.occurrences)
    ]
    return None if None in refusals else refusals[0]


def _agent_refusal(snapshot: Snapshot, agent: Entity | None, state: ItemState) -> Sentence | None:
    if denial_reason(agent, state.item.tool) is not None:
        return DENIED_BY_POLICY
    return CATEGORY_NOT_ALLOWED if category_refusal(snapshot, agent, state.task) is not None else None


def _tick_refusal(snapshot: Snapshot, state: ItemState, args: Arguments, reason_min: int) -> Sentence | None:
    """Guard what a person ticked or unticked, unless the person's edit itself sets the tick."""
    ticked_by_person = args.get("isChecked") != state.proposed.get("isChecked")
    if ticked_by_person:
        return None
    objection = sovereignty.tick_objection(snapshot, state.item.task, state.target, args, reason_min)
    return None if objection is None else PERSON_TICKED


def _label_refusal(snapshot: Snapshot, state: ItemState, args: Arguments, *, force: bool) -> Sentence | None:
    label, task = named_entity_id(state.item.tool, args), state.task
    assert label is not None
    assert task is not None
    entity = snapshot.entity(label)
    if entity is not None and not names.label_allows_category(entity, names.category_id_of(task)):
        return LABEL_OUT_OF_SCOPE
    if (
        not force
        and label_rules.suppressed_label_reason(snapshot, task, label, besides=state.item.id) is not None
    ):
        return LABEL_SUPPRESSED
    # A label that the task has already does not add to their number.
    is_there = label in names.member_ids(task, names.TASK_LABELS)
    return None if is_there or label_rules.full_labels_reason(snapshot, task) is None else LABELS_FULL
