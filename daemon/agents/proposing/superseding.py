"""Which open proposals of an agent a later one replaces: those that would write the same fields.

Never replaces what a person deferred, disputed or decided, and never what makes an item of its own.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from daemon.agents.proposing.authenticity import answers_of_question, authentic_item
from daemon.agents.proposing.run_identity import RunIdentity
from daemon.agents.tools.arguments import Arguments
from daemon.agents.tools.effects import effect_of
from daemon.agents.tools.questions import arguments_of_answers
from daemon.agents.tools.table import ANSWER_QUESTION
from daemon.text_comparison import comparison_key
from store.fold.item import Item
from store.fold.verdicts import DecisionStatus
from store.snapshot import Snapshot
from syncproto.ids import EntityId

WrittenFields = frozenset[tuple[EntityId, str]]
"""The fields that a proposal decides on, with their entities, without those that only go with others."""


class LaterWord(NamedTuple):
    """What an agent said last on some fields. `summary` is one line for the person and the agent."""

    fields: WrittenFields
    summary: str


def written_fields(tool: str, args: Arguments, item: EntityId, task: EntityId) -> WrittenFields:
    """Return what a proposal writes; of an answer to a question, what any of its answers writes."""
    if tool == ANSWER_QUESTION:
        parts = (_fields_of_call(tool, answer, item, task) for answer in arguments_of_answers(args))
        return frozenset[tuple[EntityId, str]]().union(*parts)
    return _fields_of_call(tool, args, item, task)


def _fields_of_call(tool: str, args: Arguments, item: EntityId, task: EntityId) -> WrittenFields:
    effect = effect_of(tool, args, item, task)
    if effect.creates and effect.kind == "task":
        # Of two new tasks with one title, the agent means the one that it named last.
        return frozenset({(task, f"new task {comparison_key(str(effect.fields['title']))}")})
    if effect.creates:
        # No other proposal writes what this one makes.
        return frozenset({(effect.entity, "")})
    return frozenset((effect.entity, field) for field in effect.fields if field not in effect.accompanying)


def replaces(later: WrittenFields, earlier: WrittenFields) -> bool:
    """Report whether a later proposal writes all that an earlier one would write."""
    return bool(earlier) and earlier <= later


def replaced_items(
    snapshot: Snapshot,
    run: RunIdentity,
    words: Collection[LaterWord],
    besides: Collection[EntityId],
) -> Iterator[tuple[Item, str]]:
    """Yield the agent's open items that its later words replace, each with the summary of the newer one.

    All answers of a question are yielded. `besides` are the items that the agent proposes in this run.
    """
    if not words:
        return
    task = run.task
    for item in snapshot.open_items(run.now_ms, task):
        if item.id in besides or not _is_open(item, run.agent):
            continue
        authentic = authentic_item(snapshot, item)
        if authentic is None:
            continue
        if authentic.answer is None:
            fields = written_fields(authentic.item.tool, authentic.args, item.id, task)
        else:
            answers = answers_of_question(snapshot, item.id, task, authentic.answer)
            if not all(_is_undecided(snapshot, answer) for answer in answers):
                continue
            fields = written_fields(ANSWER_QUESTION, authentic.answer, item.id, task)
        word = next((word for word in reversed(list(words)) if replaces(word.fields, fields)), None)
        if word is not None:
            yield item, word.summary


def _is_open(item: Item, agent: EntityId) -> bool:
    """Report whether nobody decided on an item, and this agent alone proposed it."""
    own = all(occurrence.agent == agent for occurrence in item.occurrences)
    return own and item.status is DecisionStatus.PENDING and not item.decisions


def _is_undecided(snapshot: Snapshot, item: EntityId) -> bool:
    return not any(opinion.counts for opinion in snapshot.opinions_on(item))
