"""Sentences that stand in the daemon's answers, in the language of the person.

Never drops a sentence that it does not know: a newer daemon said it, and it is told as it came.
"""

from __future__ import annotations

import re
from typing import Final

from daemon.cli import names
from daemon.cli.faults import fault_words
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
    "the task already has this label",
    "the item already is so",
    "what it changes is something else",
    "what it changes is on another task now",
    "the label was removed",
    "it is not what you were shown any more: look at it again",
    "this version of Placet does not know its tool",
    "it is not what an agent of its task may propose",
    "several of its values changed since: --force applies it anyway",
    "you changed this label since: --force applies it anyway",
    "undone, but the task has the label: you gave it",
    "undone: the label is off",
    "undone, but your later edits stay",
    "undone: all that it changed is as it was",
    "your policy for this agent denies this",
    "this agent may not work on tasks of this category",
    "you set this item yourself, and what the agent says for it does not count: --force applies it",
    "the label is not for the category of the task",
    "you denied the task this label: --force gives it anyway",
    "an edit cannot change what a proposal is about",
    "it is running",
    "a person asked",
    "nothing has changed since its last run",
    "its task has changed",
    "its home is another device",
    "it was asked to",
    "it was destroyed",
    "it is paused",
    "it wakes only when asked",
    "it wakes when asked, and by timers",
    "there is no such agent",
    "this agent may not work on tasks without a category",
    "asked by a person",
    "a timer",
    "its timer was taken back",
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
    "{part} was set again since: it is {now} as before, and would be {then}; --force applies it anyway",
    "undone: {left}",
    "the task has {count} labels, and agents give it no more: take one off first",
    "cannot be applied: {fault}",
    'Set title to "{title}"',
    "Set estimate to {count} minutes",
    "Set due date to {day}",
    "Set priority to {priority}",
    'Add: "{title}" (checked)',
    'Add: "{title}"',
    'Set status to {status} (reason: "{reason}")',
    "Set status to {status}",
    "Set language to {language}",
    'Assign label: "{label}"',
    'Check off: "{title}"',
    'Uncheck: "{title}"',
    'Archive: "{title}"',
    'Unarchive: "{title}"',
    'Reword "{title}" as "{then}"',
    '"{title}" already exists on the task',
    "it failed {count} times in a row: {error}",
    "it failed {count} times in a row",
    'this agent may not work on tasks of the category "{category}"',
    "backing off after {count} failed runs",
    "{count} changes",
    "after “{title}”",
)
_LEFT: Final = named("answer", "your later edit stays, {part} is {value}", "{part} is {value}")
"""What is left after an undo; each could be the beginning of anything else."""
_SIDES: Final = ("base", "now", "then", "value")
"""The places of values of the part that a sentence is about."""
_CAUSE: Final = named(
    "answer", "proposed by an agent: {words}", "proposed by an agent; {words}", "proposed by an agent"
)
_PARTS: Final = named(
    "answer",
    "your edit",
    "a later change",
    "title",
    "estimate in minutes",
    "due date",
    "priority",
    "status",
    "language",
    "reason",
    "checked",
    "archived",
    "empty",
    "yes",
    "no",
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
            given = found.groupdict()
            values = {name: _value(name, value, given.get("part")) for name, value in given.items()}
            return said_of("answer", form).format(**values)
    return sentence


def _pattern(form: str) -> str:
    texts = re.split(r"\{(\w+)\}", form)
    # Every other one is a name.
    return "".join(
        (rf"(?P<{text}>\d+)" if text == "count" else rf"(?P<{text}>.*?)") if at % 2 else re.escape(text)
        for at, text in enumerate(texts)
    )


def _value(name: str, value: str, part: str | None) -> str:
    """Say what fills a place; `part` is the field that the sentence is about, if it is about one."""
    if name == "left":
        return _formed(value, _LEFT)
    if name == "fault":
        return said_of("answer", value) if value in _FIXED else fault_words(value)
    if name == "status" or (part == "status" and name in _SIDES and value not in _PARTS):
        return names.task_status(value)
    return said_of("answer", value) if value in _PARTS and name in ("part", *_SIDES) else value
