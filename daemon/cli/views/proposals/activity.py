"""What an agent did, run by run.

Never passes an agent's words off as the program's: what it said stands in quotation marks.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final

from daemon.words.activity import (
    ACTIVITY_KINDS,
    activity_kind,
    asked_words,
    kind_words,
    message_parts,
    woken_words,
)
from daemon.words.run_sentences import run_words
from daemon.words.terminal_text import display_width, pad_right, wrap_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.others import AgentMessageJson

_WIDTH_MAX: Final = 88
_LINES_MAX: Final = 12
_ROW_KEYS: Final = ("id", "at", "thread_id", "kind", "tool", "outcome", "item_id", "trigger", "text")
_STYLES: Final = {"noted": "cyan", "confirmed": "green", "done": "green", "failed": "red", "ended": "dim"}


def activity_rows(messages: Iterable[AgentMessageJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns, those that `placet agent log --help` names."""
    for message in messages:
        yield tuple(message.get(key) for key in _ROW_KEYS)


def activity_list(messages: Sequence[AgentMessageJson], display: Display) -> Iterator[str]:
    """Draw the messages, oldest first: a heading when the agent woke, and below it what it did."""
    words = {kind: kind_words(kind) for kind in ACTIVITY_KINDS}
    wide = max(map(display_width, words.values()))
    for index, message in enumerate(messages):
        if message.get("trigger"):
            yield from [""] * bool(index)
            yield display.paint(woken_words(message, display.now_s), "bold")
            if sentence := run_words(_same_run(messages[index:])):
                yield from (f"  {line}" for line in wrap_lines(sentence, min(display.width, _WIDTH_MAX) - 2))
            continue
        if message.get("kind") == "user":
            yield from [""] * bool(index)
            width = min(display.width, _WIDTH_MAX)
            lines = _first_lines(
                list(wrap_lines(_in_signs(asked_words(message, display.now_s), display), width))
            )
            yield from (display.paint(line, "bold") for line in lines)
            continue
        kind = activity_kind(message)
        margin = " " * (wide + 4)
        width = min(display.width, _WIDTH_MAX) - len(margin)
        first, *rest = _first_lines(
            [
                line
                for part in message_parts(message, display.now_s)
                for line in wrap_lines(_in_signs(part, display), width)
            ]
        )
        yield f"  {display.paint(pad_right(words[kind], wide), _STYLES.get(kind, 'dim'))}  {first}"
        yield from (margin + line for line in rest)


def _same_run(messages: Sequence[AgentMessageJson]) -> list[AgentMessageJson]:
    """Return the first messages that are of one run, without what a person did with its proposals."""
    run = messages[0].get("thread_id")
    return list(
        takewhile(lambda message: message.get("thread_id") == run and not message.get("item_id"), messages)
    )


def _first_lines(lines: list[str]) -> list[str]:
    return [*lines[:_LINES_MAX], "…"] if len(lines) > _LINES_MAX else lines or [""]


def _in_signs(text: str, display: Display) -> str:
    """Return a text with the signs that the terminal has."""
    for sign in "“”·":
        text = text.replace(sign, display.symbol(sign))
    return text
