"""The checks of a question before it is queued: each answer's change has to be one that could be proposed.

Never queues anything, and never leaves an answer out: a question is asked as a whole, or refused in words.
"""

from collections.abc import Callable

from daemon.agents.proposing.redundancy import RedundancyBasis, check_redundancy
from daemon.agents.tools import policy
from daemon.agents.tools.argument_recovery import recover_arguments
from daemon.agents.tools.arguments import ArgumentFault, Arguments
from daemon.agents.tools.questions import Change, check_answers
from daemon.agents.tools.table import (
    ANSWER_QUESTION,
    ASK_QUESTION,
    TOOLS,
    WriteTarget,
    batch_elements,
    is_change,
    normalised_name,
    split_rationale,
    validate_arguments,
)
from store.fold.entity import Entity
from store.fold.item import Item
from store.snapshot import Snapshot
from syncproto import codec
from syncproto.ids import EntityId

QUESTIONS_OPEN_MAX = 3
"""How many questions of an agent wait for the person at once."""

ChangeObjection = Callable[[Change], str | None]
"""Returns why a change is not to be proposed again; None if it may be."""


class QuestionRefused(Exception):
    """A question that is not asked; the message says why, for the model."""


def checked_question(
    basis: RedundancyBasis, agent: Entity | None, args: Arguments, objection: ChangeObjection
) -> Arguments:
    """Return the arguments of a question with the changes of its answers checked and in their one spelling.

    Raises QuestionRefused, which names the answer.
    """
    answers = []
    for number, answer in enumerate(args["answers"], start=1):
        try:
            answers.append(_checked_answer(basis, agent, answer, objection))
        except (ArgumentFault, QuestionRefused) as fault:
            raise QuestionRefused(f"answer {number}: {fault}") from fault
    question = {**args, "answers": answers}
    check_answers(question)
    return validate_arguments(ASK_QUESTION, question)


def _checked_answer(
    basis: RedundancyBasis, agent: Entity | None, answer: Arguments, objection: ChangeObjection
) -> Arguments:
    if "tool" not in answer:
        return answer
    tool, args = _change_of(answer)
    denied = policy.denial_reason(agent, tool)
    if denied is not None:
        raise QuestionRefused(denied)
    checked = check_redundancy(basis, tool, args)
    # A value that is in place already stays an answer: otherwise the same question would be another one.
    is_in_place = checked.redundant_reason is not None and TOOLS[tool].writes is WriteTarget.TASK
    if checked.objection or (checked.args is None and not is_in_place):
        raise QuestionRefused(checked.objection or checked.refusal_reason or checked.redundant_reason)
    repeated = objection(Change(tool, args))
    if repeated is not None:
        raise QuestionRefused(f"its change {repeated}")
    return {**answer, "tool": tool, "arguments": args}


def _change_of(answer: Arguments) -> Change:
    """Return the call that an answer stands for, in its one spelling: one change, and no batch of several.

    Raises QuestionRefused for a tool that changes nothing in the journal, and ArgumentFault.
    """
    name = normalised_name(answer["tool"])
    tool, args = TOOLS.get(name), recover_arguments(answer.get("arguments", {}))
    if tool is not None and tool.element not in (None, ANSWER_QUESTION):
        elements = batch_elements(tool.name, args)
        if len(elements) > 1 or not isinstance(elements[0], dict):
            raise QuestionRefused("an answer stands for one change: name one element")
        tool, args = TOOLS[str(tool.element)], elements[0]
    if tool is None or not is_change(tool.name):
        raise QuestionRefused(f"{name[:60]!r} is no tool whose call an answer can stand for")
    args, _ = split_rationale(args)
    return Change(tool.name, validate_arguments(tool.name, args))


def question_key(args: Arguments) -> bytes:
    """Return what all answers of one question have in common."""
    return codec.encode({"question": args["question"], "answers": args["answers"]})


def open_questions(snapshot: Snapshot, agent: EntityId, task: EntityId, now_ms: int) -> set[bytes]:
    """Return the keys of an agent's questions that wait for the person."""
    return {key for item in snapshot.open_items(now_ms, task) if (key := _key_of(item, agent)) is not None}


def _key_of(item: Item, agent: EntityId) -> bytes | None:
    if item.tool != ANSWER_QUESTION or all(occurrence.agent != agent for occurrence in item.occurrences):
        return None
    try:
        args = validate_arguments(ANSWER_QUESTION, item.args)
    except ArgumentFault:
        return None
    return question_key(args)
