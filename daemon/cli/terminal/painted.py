"""Words in the colours of a terminal: due dates by how near they are, changes as a diff has them.

Never colours a value that is not escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.words.dates import due_words
from daemon.words.proposals import agrees_with_notes, quoting_words
from daemon.words.terminal_text import wrap_lines
from daemon.words.values import sides_of_change, value_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import PendingItemJson

STATUS_STYLES: Final = {
    "OPEN": (),
    "GROOMED": ("cyan",),
    "IN PROGRESS": ("green",),
    "BLOCKED": ("red",),
    "ON HOLD": ("yellow",),
    "DONE": ("dim",),
    "REJECTED": ("dim",),
}
PRIORITY_STYLES: Final = {"P0": ("red", "bold"), "P1": ("red",), "P3": ("dim",)}
_SOON_DAYS: Final = 2


def styled_due(value: object, display: Display, hour: object = None) -> tuple[str, tuple[str, ...]]:
    """Say a due date, with its hour if it has one, and colour it by how near it is."""
    words, days = due_words(value, display.now_s, hour)
    if days is None:
        return words, ()
    return words, ("red",) if days < 0 else ("yellow",) if days <= _SOON_DAYS else ()


def change_words(before: object, after: object, field: str, display: Display) -> str:
    """Say a change of one value, coloured as a diff is."""
    arrow = display.symbol("→")
    if isinstance(before, dict) and isinstance(after, dict) and len(after) == 1:
        (field,) = after
        before, after = before.get(field), after[field]
    before, after = sides_of_change(before, after, field)
    old = display.paint(value_words(before, field), "dim")
    return f"{old} {arrow} {display.paint(value_words(after, field), 'green')}"


def note_lines(item: PendingItemJson, width: int, display: Display) -> Iterator[str]:
    """Draw what the notes say of it; nothing if they cannot tell."""
    words = quoting_words(item, display.now_s)
    style = "dim" if agrees_with_notes(item) else "yellow"
    yield from (display.paint(line, style) for line in wrap_lines(words, width) if words)
