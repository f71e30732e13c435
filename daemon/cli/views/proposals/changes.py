"""What a proposal changes, before and after, as a diff shows it.

Never draws wider than it may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.words.terminal_text import display_width, wrap_lines
from daemon.words.values import field_words, value_words, with_colon

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.words.proposals import ValueChange

_TEXTS: Final = ("title", "text", "reason", "status_reason")
_MARK_WIDTH: Final = 2


def diff_lines(
    changes: Sequence[ValueChange], width: int, display: Display, *, apart: bool = False
) -> Iterator[str]:
    """Draw each changed value on one line, or on two if it is too long; `apart` puts texts on two always."""
    for change in changes:
        # A bare "no" and "yes" would not say to what.
        is_named = len(changes) > 1 or isinstance(change.after, bool)
        name = with_colon(field_words(change.field)) if is_named else ""
        before, after = value_words(change.before, change.field), value_words(change.after, change.field)
        arrow = display.symbol("→")
        is_text = apart and change.field in _TEXTS and bool(change.before) and bool(change.after)
        if is_text or display_width(f"{name}{before} {arrow} {after}") > width:
            yield from ([name.rstrip()] if name else [])
            yield from _marked_lines("-", before, width, display, "red")
            yield from _marked_lines("+", after, width, display, "green")
        else:
            yield f"{name}{display.paint(before, 'dim')} {arrow} {display.paint(after, 'green')}"


def _marked_lines(mark: str, words: str, width: int, display: Display, style: str) -> Iterator[str]:
    for index, line in enumerate(wrap_lines(words, width - _MARK_WIDTH)):
        yield display.paint(f"{' ' if index else mark} {line}", style)
