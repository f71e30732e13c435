"""Sentences that stand in the daemon's answers, in the language of the person.

Never drops a sentence that it does not know: a newer daemon said it, and it is told as it came.
"""

from __future__ import annotations

import re
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
    "an id is up to 32 of the characters 0-9 and a-f",
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
    "confirmed, but overtaken by {part}: --force applies it anyway",
    "{part} changed since: it was {base}, is {now}, and would be {then}; --force applies it anyway",
    "undone: {left}",
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
)
_LEFT: Final = named("answer", "your later edit stays, {part} is {value}", "{part} is {value}")
"""What is left after an undo; each could be the beginning of anything else."""
_CAUSE: Final = named("answer", "proposed by an agent: {words}")
_PARTS: Final = named(
    "answer", "your edit", "a later change", "title", "estimate in minutes", "due date", "priority", "empty"
)


def retold(sentence: str) -> str:
    """Say a sentence of an answer; what is between its words is carried over as it is."""
    return said_of("answer", sentence) if sentence in _FIXED else _formed(sentence, _FORMED)


def cause(why: str) -> str:
    """Say why something was written: the words of a person as they are, those of a proposal as its own."""
    return _formed(why, _CAUSE)


def _formed(sentence: str, forms: tuple[str, ...]) -> str:
    for form in forms:
        if found := re.fullmatch(_pattern(form), sentence, re.DOTALL):
            values = {name: _value(name, value) for name, value in found.groupdict().items()}
            return said_of("answer", form).format(**values)
    return sentence


def _pattern(form: str) -> str:
    texts = re.split(r"\{(\w+)\}", form)
    # Every other one is a name.
    return "".join(
        (rf"(?P<{text}>\d+)" if text == "count" else rf"(?P<{text}>.*?)") if at % 2 else re.escape(text)
        for at, text in enumerate(texts)
    )


def _value(name: str, value: str) -> str:
    if name == "left":
        return _formed(value, _LEFT)
    is_ours = value in _PARTS and name in ("part", "base", "now", "then", "value")
    return said_of("answer", value) if is_ours else value
