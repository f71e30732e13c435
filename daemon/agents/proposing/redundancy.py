"""What is left of a call after a comparison with the journal: not what is so already, nor what is the user's.

Never writes, and never drops a proposal because the state cannot be read: then the proposal is kept.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from daemon.agents.proposing import label_rules, reach, sovereignty
from daemon.agents.proposing.baseline import Baseline
from daemon.agents.proposing.sight import Sight
from daemon.agents.tools import summaries
from daemon.agents.tools.arguments import Arguments
from daemon.agents.tools.effects import effect_of, is_same_value
from daemon.agents.tools.table import REMOVE_TASK_LABEL, SET_TASK_LANGUAGE, TOOLS, WriteTarget
from daemon.journal.references import names
from daemon.journal.references.entities import open_task_titled
from daemon.text_comparison import comparison_key
from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.commit import AuthorKind
from syncproto.ids import id_from_text


@dataclass(frozen=True, slots=True)
class RedundancyResult:
    """What is left to propose, or why nothing is left.

    `redundant_reason` is for what is so already, `refusal_reason` for what may not be. An `objection` may
    come with remaining arguments: a new title is proposed even if the tick beside it is not.
    """

    args: Arguments | None
    redundant_reason: str | None = None
    objection: str | None = None
    refusal_reason: str | None = None


@dataclass(frozen=True, slots=True)
class RedundancyBasis:
    """What a call is compared with: what the agent saw, and the journal as it is now.

    `sight` is what the agent may know of. `labels_queued` counts the labels that this run proposes already.
    """

    snapshot: Snapshot
    sight: Sight
    baseline: Baseline
    reason_min: int
    labels_queued: int = 0


def check_redundancy(basis: RedundancyBasis, tool: str, args: Arguments) -> RedundancyResult:
    """Compare the validated arguments of a deferrable tool with the journal."""
    out_of_reach = reach.out_of_reach_reason(basis.snapshot, basis.sight, basis.baseline.task, tool, args)
    if out_of_reach is not None:
        return RedundancyResult(None, refusal_reason=out_of_reach)
    return _BY_WRITES[TOOLS[tool].writes](basis, tool, args)


def _check_task_fields(basis: RedundancyBasis, tool: str, args: Arguments) -> RedundancyResult:
    task = basis.baseline.task
    effect = effect_of(tool, args, task, task)
    # Compared with what the run saw when it began: an edit since then makes the proposal stale, which a
    # person is told. It must not make it vanish.
    if task in basis.baseline.entities and effect.is_already_applied(
        lambda field: basis.baseline.seen_value(task, field)
    ):
        return RedundancyResult(None, redundant_reason=summaries.already_so_answer(tool, args))
    if tool == SET_TASK_LANGUAGE and (reason := language_objection(basis.snapshot.entity(task), args)):
        return RedundancyResult(None, redundant_reason=reason)
    return RedundancyResult(args)


def language_objection(task: Entity | None, args: Arguments) -> str | None:
    """Return why a language is not set: the user chose one, or the agent is not confident."""
    versions = [] if task is None else task.versions("language")
    # An empty value counts too: a person who emptied the field chose to have no language.
    if any(version.source.by is not AuthorKind.AGENT for version in versions):
        return "the user chose the language"
    return "confidence is low" if args["confidence"] == "low" else None


def _check_label(basis: RedundancyBasis, tool: str, args: Arguments) -> RedundancyResult:
    name = reach.target_name(basis.snapshot, tool, args)
    if tool == REMOVE_TASK_LABEL:
        task = basis.snapshot.entity(basis.baseline.task)
        has_label = task is not None and id_from_text(args["id"]) in names.member_ids(task, names.TASK_LABELS)
        if has_label:
            return RedundancyResult(args)
        return RedundancyResult(None, redundant_reason=summaries.already_so_answer(tool, args, name))
    if args["confidence"] == "low":
        return RedundancyResult(
            None, redundant_reason=f"{summaries.proposal_subject(tool, args, name)} has low confidence"
        )
    task = basis.snapshot.entity(basis.baseline.task)
    if task is None:
        return RedundancyResult(args)
    reason = label_rules.label_objection(basis.snapshot, task, id_from_text(args["id"]), basis.labels_queued)
    return RedundancyResult(args) if reason is None else RedundancyResult(None, redundant_reason=reason)


def _check_new_item(basis: RedundancyBasis, tool: str, args: Arguments) -> RedundancyResult:
    entities = basis.baseline.checklist_items or []
    titles = {
        comparison_key(entity.text("title")) for entity in entities if entity.value("is_archived") is not True
    }
    if comparison_key(args["title"]) in titles:
        return RedundancyResult(None, redundant_reason=summaries.already_so_answer(tool, args))
    return RedundancyResult(args)


def _check_new_task(basis: RedundancyBasis, tool: str, args: Arguments) -> RedundancyResult:
    if open_task_titled(basis.snapshot, args["title"], is_meant=basis.sight.shows_task) is None:
        return RedundancyResult(args)
    return RedundancyResult(None, redundant_reason=summaries.already_so_answer(tool, args))


def _check_item(basis: RedundancyBasis, tool: str, args: Arguments) -> RedundancyResult:
    """Keep of an update what would really change and may be changed."""
    task = basis.baseline.task
    item = reach.named_entity(basis.snapshot, tool, args)
    if item is None:
        return RedundancyResult(args)
    name = item.text("title")
    if not item.visible:
        return RedundancyResult(None, redundant_reason=f'"{name}" was removed')
    # Only the tick is dropped if a person's own tick forbids it; a new title in the same call is kept.
    objection = sovereignty.tick_objection(basis.snapshot, task, item, args, basis.reason_min)
    dropped = {
        argument
        for field, argument in TOOLS[tool].argument_by_field.items()
        if argument in args and is_same_value(item.value(field), args[argument])
    } | ({"isChecked"} if objection is not None else set())
    remaining = {key: value for key, value in args.items() if key not in dropped}
    if any(argument in remaining for argument in TOOLS[tool].argument_by_field.values()):
        return RedundancyResult(remaining, objection=objection)
    if objection is not None:
        return RedundancyResult(None, objection=objection)
    return RedundancyResult(None, redundant_reason=summaries.already_so_answer(tool, args, name))


_BY_WRITES: Mapping[WriteTarget, Callable[[RedundancyBasis, str, Arguments], RedundancyResult]] = {
    WriteTarget.TASK: _check_task_fields,
    WriteTarget.MEMBER: _check_label,
    WriteTarget.NEW_ITEM: _check_new_item,
    WriteTarget.ITEM: _check_item,
    WriteTarget.NEW_TASK: _check_new_task,
    WriteTarget.ANSWER: lambda _basis, _tool, args: RedundancyResult(args),
}
