"""The state of a change item at this moment: its target, and whether it is obsolete, expired or overwritten.

Never writes, and never decides: it describes what a decision would meet.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, islice
from typing import Final

from daemon.agents.proposing.authenticity import answers_of_question, authentic_item, name_of_item
from daemon.agents.proposing.sight import Sight
from daemon.agents.tools.agent_record import task_removed_sentence
from daemon.agents.tools.argument_recovery import recover_arguments
from daemon.agents.tools.arguments import ArgumentFault, Arguments
from daemon.agents.tools.checklists import checklist_of, open_checklist_items
from daemon.agents.tools.effects import Effect, effect_of, named_entity_id
from daemon.agents.tools.questions import Change
from daemon.agents.tools.table import (
    ANSWER_QUESTION,
    REMOVE_TASK_LABEL,
    SET_TASK_STATUS,
    TOOLS,
    WriteTarget,
    validate_arguments,
)
from daemon.journal.fields.validation import NEEDS_REASON, PRIORITY_DEFAULT
from daemon.journal.references.entities import open_task_titled
from daemon.journal.references.names import short_text, shown_name
from daemon.text_comparison import comparison_key
from store.fold import proposal_index
from store.fold.effects import EffectIndex
from store.fold.entity import Entity
from store.fold.field_versions import Version
from store.fold.item import Item
from store.fold.verdicts import DecisionStatus, Verdict, deciding_opinions
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.ids import EntityId


class DisplayedStatus(StrEnum):
    """The status that people see: the folded one, or what became of the item while it waited."""

    PENDING = "pending"
    DEFERRED = "deferred"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    RETRACTED = "retracted"
    EXPIRED = "expired"
    OBSOLETE = "obsolete"


@dataclass(frozen=True, slots=True)
class ItemState:
    """An item, what confirming it would write, and the entity that it would write to.

    `proposed` are the agent's arguments. `args` are those that would be applied: the person's, if they edited
    them in a confirmation that counts, alone or in a dispute. `effect` is what `args` come down to. For an
    answer to a question, `answer` are the arguments of `answer_question`, `args` those of its change, and
    `answers` the items of all its answers. `task` is the agent itself for a new task beside no task.
    """

    item: Item
    proposed: Arguments
    args: Arguments
    effect: Effect
    task: Entity | None
    target: Entity | None
    answer: Arguments | None = None
    answers: tuple[EntityId, ...] = ()

    def wrote(self, version: Version) -> bool:
        """Report whether a version is what the item, or another answer of its question, put into effect."""
        return version.source.effect in (self.item.id, *self.answers)

    @property
    def call(self) -> Change:
        """Return the call by which the agent proposed the item."""
        if self.answer is not None:
            return Change(ANSWER_QUESTION, self.answer)
        return Change(self.item.tool, self.proposed)

    @property
    def target_exists(self) -> bool:
        """Report whether the target exists, visible or not."""
        return self.target is not None and self.target.exists

    @property
    def is_edited(self) -> bool:
        """Report whether the arguments that would be applied are the person's own."""
        return self.args != self.proposed


def item_state_of(
    snapshot: Snapshot, item: Item, entity_of: Callable[[EntityId], Entity | None] | None = None
) -> ItemState | None:
    """Look an item up; None if no agent of its task proposed it, or this version does not know its tool.

    `entity_of` reads the entities, if not the snapshot: whoever looks many items up reads each entity once.
    """
    authentic = authentic_item(snapshot, item)
    if authentic is None:
        return None
    item, proposed, answer = authentic
    args = proposed
    edited = edited_arguments_of(item)
    if edited is not None:
        try:
            args = apply_edit(item.tool, proposed, edited)
        except ArgumentFault:
            # Another device accepted an edit that this version's tool does not: the proposal itself remains.
            args = proposed
    effect = effect_of(item.tool, args, item.id, item.task)
    read_entity = entity_of or snapshot.entity
    task, target = read_entity(item.task), read_entity(effect.entity)
    answers = () if answer is None else answers_of_question(snapshot, item.id, item.task, answer)
    return ItemState(item, proposed, args, effect, task, target, answer, tuple(answers))


def with_arguments(state: ItemState, args: Arguments) -> ItemState:
    """Return the state as it would be with other arguments."""
    effect = effect_of(state.item.tool, args, state.item.id, state.item.task)
    return replace(state, args=args, effect=effect)


def apply_edit(tool: str, proposed: Arguments, words: Arguments) -> Arguments:
    """Put a person's words in place of an agent's arguments. Raises ArgumentFault if the tool refuses them.

    The proposal stays about the same thing: an edit cannot change the entity that it names.
    """
    if tool == ANSWER_QUESTION:
        raise ArgumentFault(
            sentence("edit-of-answer", "this answer changes nothing, so there is nothing to edit")
        )
    edited = recover_arguments(words)
    fields = dict(proposed)
    if tool == SET_TASK_STATUS and edited.get("status") not in (None, proposed["status"], *NEEDS_REASON):
        fields.pop("reason", None)  # it was the reason of the other status
    args = validate_arguments(tool, {**fields, **edited})
    if named_entity_id(tool, args) != named_entity_id(tool, proposed):
        raise ArgumentFault(
            sentence("edit-of-other-target", "an edit cannot change what a proposal is about")
        )
    return args


def edited_arguments_of(item: Item) -> Arguments | None:
    """Return the edited arguments that are in effect or in dispute; None if there are none.

    Of several, the newest count. Confirming again keeps them, because they are the person's own words.
    """
    opinions = deciding_opinions(decision.opinion for decision in item.decisions)
    deciding = {opinion.decision for opinion in opinions}
    edited = [
        decision
        for decision in item.decisions
        if decision.id in deciding
        and decision.verdict is Verdict.CONFIRMED
        and decision.edited_args is not None
    ]
    newest = max(edited, key=lambda decision: (decision.stamp_ms, decision.n, decision.id), default=None)
    return None if newest is None else newest.edited_args


_DEFAULTS: Final[Mapping[tuple[str, str], Value]] = {("task", "priority"): PRIORITY_DEFAULT}


def current_value(state: ItemState, field: str) -> Value:
    """Return the value of a field of the target as readers see it."""
    value = None if state.target is None else state.target.value(field)
    return _DEFAULTS.get((state.effect.kind, field)) if value is None else value


# -- what became of it while it waited ----------------------------------------------------------------


def displayed_status(snapshot: Snapshot, state: ItemState, now_ms: int) -> DisplayedStatus:
    """Return the item's status with what is computed at reading: expired and obsolete."""
    status = DisplayedStatus(state.item.status.value)
    if (
        status in (DisplayedStatus.PENDING, DisplayedStatus.DEFERRED)
        and obsolete_reason(snapshot, state) is not None
    ):
        return DisplayedStatus.OBSOLETE
    if is_expired(state.item, now_ms):
        return DisplayedStatus.EXPIRED
    return status


def displayed_status_text(snapshot: Snapshot, item: Item, now_ms: int) -> str:
    """Return the status that people see; for an item that this version cannot apply, the folded one."""
    state = item_state_of(snapshot, item)
    return item.status.value if state is None else displayed_status(snapshot, state, now_ms).value


def is_expired(item: Item, now_ms: int) -> bool:
    """Report whether nobody decided in time; any decision of a person prevents expiry."""
    return not item.decisions and item.expires_ms <= now_ms


def obsolete_reason(snapshot: Snapshot, state: ItemState) -> Sentence | None:
    """Return why an undecided item has nothing left to do; None if it has."""
    return missing_target_reason(snapshot, state) or (
        already_applied_reason(snapshot, state) if state.item.status in UNDECIDED else None
    )


UNDECIDED: Final = (DecisionStatus.PENDING, DecisionStatus.DEFERRED)


def missing_target_reason(snapshot: Snapshot, state: ItemState) -> Sentence | None:
    """Return what of the item's target is missing; None if it is there, or has yet to be created."""
    if not _has_subject(state):
        return task_removed_sentence()
    # An id that was unknown at the proposal passed there, and may turn out to be that of something else.
    if state.target_exists and state.target is not None and state.target.kind != state.effect.kind:
        return sentence("proposal-target-of-other-kind", "what it changes is something else")
    return _MISSING_TARGETS[TOOLS[state.item.tool].writes](snapshot, state)


def _has_subject(state: ItemState) -> bool:
    """Report whether what an item is about is there: a task, or for a new task the agent that proposes it."""
    subject = state.task
    if subject is None or not subject.visible:
        return False
    if subject.kind == "task":
        return True
    proposers = {occurrence.agent for occurrence in state.item.occurrences}
    return TOOLS[state.item.tool].writes is WriteTarget.NEW_TASK and proposers == {subject.id}


def _never_missing(snapshot: Snapshot, state: ItemState) -> Sentence | None:
    del snapshot, state
    return None


def _missing_created_item(snapshot: Snapshot, state: ItemState) -> Sentence | None:
    if not state.target_exists or state.target is None:
        return None
    if not state.target.visible:
        return sentence("created-item-removed", "the item that it made was removed")
    checklist = checklist_of(snapshot, state.target)
    return _refuse_elsewhere(state, checklist) if checklist is not None and checklist.visible else None


def _missing_created_task(snapshot: Snapshot, state: ItemState) -> Sentence | None:
    del snapshot
    if not state.target_exists or state.target is None or state.target.visible:
        return None
    return sentence("created-task-removed", "the task that it made was removed")


def _missing_item(snapshot: Snapshot, state: ItemState) -> Sentence | None:
    checklist = None if state.target is None else checklist_of(snapshot, state.target)
    if state.target is None or not state.target.visible or checklist is None or not checklist.visible:
        return sentence("proposal-target-removed", "what it changes was removed")
    return _refuse_elsewhere(state, checklist)


def _refuse_elsewhere(state: ItemState, checklist: Entity) -> Sentence | None:
    """Refuse what a person moved to another task: an agent writes to its own task alone."""
    if checklist.value("task_id") == state.item.task:
        return None
    return sentence("proposal-target-on-other-task", "what it changes is on another task now")


def _missing_label(snapshot: Snapshot, state: ItemState) -> Sentence | None:
    identifier = named_entity_id(state.item.tool, state.args)
    label = None if identifier is None else snapshot.entity(identifier)
    if label is not None and label.kind == "label" and label.visible:
        return None
    return sentence("label-removed", "the label was removed")


_MISSING_TARGETS: Final = {
    WriteTarget.TASK: _never_missing,
    WriteTarget.MEMBER: _missing_label,
    WriteTarget.NEW_ITEM: _missing_created_item,
    WriteTarget.ITEM: _missing_item,
    WriteTarget.NEW_TASK: _missing_created_task,
    WriteTarget.ANSWER: _never_missing,
}


def already_applied_reason(snapshot: Snapshot, state: ItemState) -> Sentence | None:
    """Return that the target already has the proposed value; None if it has not.

    An answer to a question stays: a person who chooses it says that the value is to be so.
    """
    if state.answer is not None:
        return None
    if TOOLS[state.item.tool].writes is WriteTarget.NEW_TASK:
        twin_task = open_task_titled(
            snapshot,
            str(state.effect.fields["title"]),
            state.effect.entity,
            # How a proposal stands tells its agent of no task that this may not know of.
            lambda task: all(
                Sight(snapshot, occurrence.agent).shows_task(task) for occurrence in state.item.occurrences
            ),
        )
        if twin_task is None:
            return None
        return sentence(
            "task-exists", 'a task "{title}" is open already', title=short_text(shown_name(twin_task))
        )
    if state.effect.creates:
        wanted = comparison_key(str(state.effect.fields["title"]))
        items = open_checklist_items(snapshot, state.item.task)
        titles = (item.text("title") for item in items if item.id != state.effect.entity)
        twin = next((title for title in titles if comparison_key(title) == wanted), None)
        if twin is None:
            return None
        return sentence("checklist-item-exists", '"{title}" already exists on the task', title=twin)
    if not state.effect.is_already_applied(lambda field: current_value(state, field)):
        return None
    if state.item.tool == REMOVE_TASK_LABEL:
        return sentence("task-lacks-label", "the task does not have this label")
    return _ALREADY_APPLIED[TOOLS[state.item.tool].writes]


_ALREADY_APPLIED: Final = {
    WriteTarget.TASK: sentence("task-has-value", "the task already has this value"),
    WriteTarget.MEMBER: sentence("task-has-label", "the task already has this label"),
    WriteTarget.ITEM: sentence("item-is-so", "the item is like that already"),
}


def lacks_effect(snapshot: Snapshot, item: Item) -> bool:
    """Report whether an item is confirmed, and not in effect on the entity that its tool writes.

    A confirmation of this program is one commit with its effect. Another program or a fault can leave it out,
    or name the item for so many other entities that the effect does not count (docs/decisions/0053).
    """
    if item.status is not DecisionStatus.CONFIRMED:
        return False
    state = item_state_of(snapshot, item)
    if state is None:
        return not proposal_index.has_effect(snapshot.db, item.id)
    return not EffectIndex(snapshot.db).counts(item.id, state.effect.entity)


def can_take_effect(snapshot: Snapshot, item: Item) -> bool:
    """Report whether confirming an item that lacks its effect can put it into effect.

    It cannot if this version does not know its tool, if its target is gone, or if forged writes have used up
    its places. What remains is to undo the confirmation.
    """
    state = item_state_of(snapshot, item)
    return state is not None and has_place(snapshot, state) and missing_target_reason(snapshot, state) is None


def has_place(snapshot: Snapshot, state: ItemState) -> bool:
    """Report whether the effect of an item counts, or would if it were confirmed.

    Forged operations can take all places of an item from before its id followed from what it writes.
    """
    name = name_of_item(snapshot, state.item.id, state.item.task, state.call)
    if name is not None and name.entity is not None:
        return True
    return EffectIndex(snapshot.db).has_place(state.item.id, state.effect.entity)


def confirmed_without_effect(snapshot: Snapshot, limit: int, task: EntityId | None = None) -> list[EntityId]:
    """Return at most `limit` items, of a task or of all, that are confirmed and not in effect."""
    crowded = (
        identifier
        for identifier in proposal_index.confirmed_without_effect(snapshot.db, task, crowded=True)
        if (item := snapshot.item(identifier)) is not None and lacks_effect(snapshot, item)
    )
    absent = proposal_index.confirmed_without_effect(snapshot.db, task)
    return list(islice(chain(absent, crowded), limit))


def is_overwritten(state: ItemState) -> bool:
    """Report whether later writes replaced the values of a confirmed item.

    For an item that created a checklist item, the title alone counts: ticking is use, and no correction.
    """
    if state.target is None or not state.target_exists:
        return False
    fields = ("title",) if state.effect.creates else tuple(state.effect.fields)
    winners = [state.target.version(field) for field in fields]
    return any(version is None or version.source.effect != state.item.id for version in winners)
