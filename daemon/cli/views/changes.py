"""What a proposal changes, before and after, as a diff shows it.

Never draws wider than it may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.cli.text import cells, wrapped
from daemon.cli.views.values import field_words, headed, value_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.proposals import Changed

_TEXTS: Final = ("title", "text", "reason", "status_reason")
_MARK_WIDTH: Final = 2


def change_lines(changes: Sequence[Changed], width: int, look: Look, *, apart: bool = False) -> Iterator[str]:
    """Draw each changed value in a line, or in two where it is too long; `apart` puts texts in two always."""
    for one in changes:
        # A bare "no" and "yes" would not say to what.
        is_named = len(changes) > 1 or isinstance(one.after, bool)
        name = headed(field_words(one.field)) if is_named else ""
        before, after = value_words(one.before, one.field), value_words(one.after, one.field)
        arrow = look.sign("→")
        is_text = apart and one.field in _TEXTS and bool(one.before) and bool(one.after)
        if is_text or cells(f"{name}{before} {arrow} {after}") > width:
            yield from ([name.rstrip()] if name else [])
            yield from _marked("-", before, width, look, "red")
            yield from _marked("+", after, width, look, "green")
        else:
            yield f"{name}{look.paint(before, 'dim')} {arrow} {look.paint(after, 'green')}"


def _marked(mark: str, words: str, width: int, look: Look, style: str) -> Iterator[str]:
    for at, line in enumerate(wrapped(words, width - _MARK_WIDTH)):
        yield look.paint(f"{' ' if at else mark} {line}", style)
