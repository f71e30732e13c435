"""What an agent says, and the notes that it names as evidence.

Never shows an agent's words as its own: they are marked as the agent's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.words.arguments import agent_quote_words, note_quotes
from daemon.words.terminal_text import wrap_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import ChangeJson, DecisionJson


def agent_quote_lines(words: object, width: int, display: Display) -> Iterator[str]:
    """Draw what an agent says, marked as the agent's; nothing if it says nothing."""
    if not words:
        return
    for line in wrap_lines(agent_quote_words(words), width):
        yield display.paint(line.replace("“", display.symbol("“")).replace("”", display.symbol("”")), "dim")


def argument_lines(answer: ChangeJson | DecisionJson, width: int, display: Display) -> Iterator[str]:
    """Draw by which reason and notes the agent argued; nothing if it did not."""
    yield from agent_quote_lines(answer.get("agent_reason"), width, display)
    for line in note_quotes(answer, display.now_s):
        yield from (display.paint(part, "dim") for part in wrap_lines(line, width))
