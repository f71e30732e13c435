"""Which proposals of a change item are authentic: made by an agent that may, and unaltered.

An item's id is a hash of what it proposes, so another set that names the item cannot change its meaning.
Never relies on a check by the device that wrote a proposal.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from daemon.agents.tools.agent_record import CREATED, agent_id, load_external_agent
from daemon.agents.tools.arguments import ArgumentFault, Arguments
from daemon.agents.tools.effects import fingerprint_of, item_id, written_entity
from daemon.agents.tools.questions import Change, arguments_of_answers, change_of_answer
from daemon.agents.tools.table import ANSWER_QUESTION, TOOLS, WriteTarget, is_change, validate_arguments
from store.fold.item import Item, Occurrence
from store.fold.item_name import ItemName, Requirement
from store.snapshot import Snapshot
from syncproto.ids import EntityId


class AuthenticItem(NamedTuple):
    """An item with its authentic proposals alone, and the arguments of the newest of them.

    An answer to a question is the call that it stands for. `answer` are then the arguments of
    `answer_question` that the item was proposed with; it is None for a plain proposal.
    """

    item: Item
    args: Arguments
    answer: Arguments | None = None


def authentic_item(snapshot: Snapshot, item: Item) -> AuthenticItem | None:
    """Leave out the proposals of an item that are not authentic; None if no proposal is left.

    Proposals of one item may differ in how they argue. The arguments of the newest one count, because its
    words are those that people see.
    """
    checked = [(occurrence, _arguments(snapshot, item, occurrence)) for occurrence in item.occurrences]
    authentic = [(occurrence, args) for occurrence, args in checked if args is not None]
    if not authentic:
        return None
    newest, args = max(authentic, key=lambda pair: (pair[0].created_ms, pair[0].change_set))
    genuine = replace(item, occurrences=tuple(occurrence for occurrence, _ in authentic))
    return AuthenticItem(genuine, args) if newest.tool != ANSWER_QUESTION else _answer(genuine, args)


def _answer(item: Item, answer: Arguments) -> AuthenticItem:
    """Return an answer as the call that it stands for."""
    change = change_of_answer(answer)
    if change is None:
        return AuthenticItem(item, answer, answer)
    args = validate_arguments(change.tool, change.args)
    called = [replace(occurrence, tool=change.tool, args=args) for occurrence in item.occurrences]
    return AuthenticItem(replace(item, occurrences=tuple(called)), args, answer)


def _arguments(snapshot: Snapshot, item: Item, proposed: Occurrence) -> Arguments | None:
    """Return the checked arguments of a proposal; None if it is not authentic for this item."""
    tool = TOOLS.get(proposed.tool)
    if tool is None or not tool.deferrable or not _is_of_agent(snapshot, proposed):
        return None
    try:
        args = validate_arguments(tool.name, proposed.args)
    except ArgumentFault:
        return None
    if tool.name == ANSWER_QUESTION and not _stand_for_changes(args):
        return None
    fingerprint, task = fingerprint_of(proposed.task, tool.name, args), proposed.task
    # Until an item's id followed from what it writes, all ids were made as are those of items that make it.
    entities = (written_entity(tool.name, args, task), None)
    is_genuine = any(
        item.id == item_id(fingerprint, previous, task, entity, item.requirement)
        for previous in _items_before(snapshot, fingerprint)
        for entity in entities[: 1 if item.requirement else 2]
    )
    return args if is_genuine else None


def _is_of_agent(snapshot: Snapshot, proposed: Occurrence) -> bool:
    """Report whether a proposal is of the task's own agent, or of an external one that its home has signed.

    A task's own agent can move, and what it proposed before stays valid: so its signer says nothing.
    """
    if not _is_about_own_subject(snapshot, proposed):
        return False
    if proposed.agent == agent_id(proposed.task):
        return True
    agent = load_external_agent(snapshot, proposed.agent)
    return agent is not None and agent.home == proposed.signer and agent.lifecycle != CREATED


def _is_about_own_subject(snapshot: Snapshot, proposed: Occurrence) -> bool:
    """Report whether a proposal is about a task, or a new task beside no task is about its agent itself.

    Nobody joins what another agent proposes beside no task: of two proposers, the looser policy would count.
    """
    writes = TOOLS[proposed.tool].writes
    if writes not in (WriteTarget.NEW_TASK, WriteTarget.ANSWER) or proposed.task == proposed.agent:
        return True
    subject = snapshot.entity(proposed.task)
    return subject is None or subject.kind == "task"


def _stand_for_changes(answer: Arguments) -> bool:
    """Report whether each answer of a question changes nothing, or stands for a call that may wait."""
    changes = [change_of_answer(args) for args in arguments_of_answers(answer)]
    return all(change is None or _is_valid(change) for change in changes)


def _is_valid(change: Change) -> bool:
    if not is_change(change.tool):
        return False
    try:
        validate_arguments(change.tool, change.args)
    except ArgumentFault:
        return False
    return True


def name_of_item(snapshot: Snapshot, item: EntityId, task: EntityId, proposed: Change) -> ItemName | None:
    """Return what shows which entity an authentic item writes, and what its verdicts need.

    Returns None if there is neither: the item makes its entity, or is of an old form. `proposed` is the call
    that the agent proposed on its task.
    """
    fingerprint = fingerprint_of(task, proposed.tool, proposed.args)
    entity = written_entity(proposed.tool, proposed.args, task)
    requirement = snapshot.requirement_of(item)
    if entity is None and requirement is None:
        return None
    names = (
        ItemName(fingerprint, before, entity, requirement) for before in _items_before(snapshot, fingerprint)
    )
    return next((name for name in names if name.item_id(time_of=task) == item), None)


def answers_of_question(
    snapshot: Snapshot, item: EntityId, task: EntityId, answer: Arguments
) -> list[EntityId]:
    """Return the items of all answers of the question that an item answers, in the order of the answers.

    `answer` are the arguments of `answer_question`. All answers are proposed and decided together, so that
    their chains are equally long. Returns the item alone if its own chain does not lead to it.
    """
    calls = arguments_of_answers(answer)
    fingerprints = [fingerprint_of(task, ANSWER_QUESTION, args) for args in calls]
    entities = [written_entity(ANSWER_QUESTION, args, task) for args in calls]
    own = answer["number"] - 1
    before: list[EntityId | None] = [None for _ in calls]
    known_items = snapshot.items_with_fingerprint(fingerprints[own])
    requirements = known_requirements(snapshot, fingerprints[own])
    for _ in range(len(known_items) + 1):
        chains = [
            [
                item_id(fingerprint, previous, task, entity, requirement)
                for fingerprint, previous, entity in zip(fingerprints, before, entities, strict=True)
            ]
            for requirement in requirements
        ]
        question = next((items for items in chains if items[own] == item), None)
        if question is not None:
            return question
        before = list(next((items for items in chains if items[own] in known_items), chains[0]))
    return [item]


def known_requirements(snapshot: Snapshot, fingerprint: bytes) -> list[Requirement | None]:
    """Return what verdicts on the items with a fingerprint need; None, first, is that they need nothing.

    A person may have changed what an agent's verdicts need between two proposals of the same.
    """
    needed = {snapshot.requirement_of(item) for item in snapshot.items_with_fingerprint(fingerprint)}
    return [None, *sorted(requirement for requirement in needed if requirement is not None)]


def _items_before(snapshot: Snapshot, fingerprint: bytes) -> Iterator[EntityId | None]:
    """Yield what an item with this fingerprint may follow: nothing, or a known item."""
    yield None
    yield from snapshot.items_with_fingerprint(fingerprint)
