"""Sentences that stand in the daemon's answers, in the language of the person.

Never drops a sentence that it does not know: a newer daemon said it, and it is told as it came.
"""

from __future__ import annotations

from typing import Final

from daemon.cli.words import named, said_of

_FIXED: Final = named(
    "answer",
    "it was rejected or undone: reopen it, or confirm --again",
    "the agent took it back: confirm --again takes it anyway",
    "it is confirmed with other arguments: undo it first",
    "it is confirmed already",
    "nobody decided in time: --force applies it anyway",
    "it is rejected already",
    "it is confirmed: undo takes that back",
    "the agent took it back",
    "it is not in effect",
    "it was not confirmed: there is nothing to undo",
    "it is open already",
    "it is deferred already",
    "it was rejected or undone: reopen it first",
    "it is disputed: confirm or reject it",
    "there is no such proposal",
    "rejected",
    "undone",
    "open again",
    "deferred",
    "undone, but the item stays: you changed it since",
    "undone: the item is gone",
    "its task was removed",
    "the item that it made was removed",
    "what it changes was removed",
    "the task already has this value",
    "it is running",
    "a person asked",
    "nothing has changed since its last run",
    "its task has changed",
    "its home is another device",
    "its task was removed, or it wakes only when asked",
    "asked by a person",
    "one change",
    "remove it",
    "keep it",
    "with it",
    "without it",
    "first",
)
_FORMED: Final = named(
    "answer",
    "confirmed, but overtaken by {what}: --force applies it anyway",
    'Set title to "{title}"',
    "Set estimate to {count} minutes",
    "Set due date to {day}",
    "Set priority to {priority}",
    'Add: "{title}"',
    '"{title}" already exists on the task',
    "it failed {count} times in a row: wake it to try again",
    "backing off after {count} failed runs",
    "{count} changes",
    "after “{title}”",
    "proposed by an agent: {words}",
)
_OVER: Final = named("answer", "your edit", "a later change")


def retold(sentence: str) -> str:
    """Say a sentence of an answer; what is between its words is carried over as it is."""
    if sentence in _FIXED or sentence in _OVER:
        return said_of("answer", sentence)
    for form in _FORMED:
        before, _brace, rest = form.partition("{")
        name, _brace, after = rest.partition("}")
        value = sentence.removeprefix(before).removesuffix(after)
        if before + value + after == sentence and (name != "count" or value.isdigit()):
            return said_of("answer", form).format(**{name: retold(value) if name == "what" else value})
    return sentence
