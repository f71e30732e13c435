"""An agent's question: each of its answers is a change item that contains the whole question.

Never reads the journal: whether an answer may be offered is checked by `daemon/agents/proposing/asking.py`.
"""

from typing import NamedTuple

from daemon.agents.tools.arguments import ArgumentFault, Arguments
from daemon.text_comparison import comparison_key
from store.sentence import sentence


class Change(NamedTuple):
    """The call that an answer stands for: a deferrable tool and its arguments."""

    tool: str
    args: Arguments


def change_of_answer(args: Arguments) -> Change | None:
    """Return the call that an answer stands for; None if it changes nothing.

    `args` are those of `answer_question`, whose `number` says which answer is meant.
    """
    answer = args["answers"][args["number"] - 1]
    return Change(answer["tool"], answer.get("arguments", {})) if "tool" in answer else None


def arguments_of_answers(args: Arguments) -> list[Arguments]:
    """Return the arguments of `answer_question` for each answer of a question, in order.

    `args` are those of `ask_question`, or those of one of its answers.
    """
    return [{**args, "number": number} for number in range(1, len(args["answers"]) + 1)]


def answer_text(args: Arguments) -> str:
    """Return the words of the answer that the arguments of `answer_question` mean."""
    return str(args["answers"][args["number"] - 1]["text"])


def check_answers(args: Arguments) -> None:
    """Raise ArgumentFault for a question with two answers that read the same, or that mean the same."""
    words = [comparison_key(answer["text"]) for answer in args["answers"]]
    changes = [
        (answer["tool"], answer.get("arguments", {})) for answer in args["answers"] if "tool" in answer
    ]
    if len(set(words)) < len(words) or any(change in changes[:place] for place, change in enumerate(changes)):
        raise ArgumentFault(
            sentence("answers-equal", "two answers are the same: give answers that differ in what they mean")
        )
    if any("arguments" in answer and "tool" not in answer for answer in args["answers"]):
        raise ArgumentFault(
            sentence(
                "answer-without-tool", "an answer has arguments and no tool: name the tool of its change"
            )
        )


def check_chosen_answer(args: Arguments) -> None:
    """Raise ArgumentFault for an answer that its question does not have."""
    check_answers(args)
    if args["number"] > len(args["answers"]):
        raise ArgumentFault(sentence("answer-unknown", "the question has no such answer"))
