"""What an agent says, and the notes that it names as evidence.

Never shows an agent's words as its own: they are marked as the agent's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.cli.terminal.text import escape, truncate, wrap_lines
from daemon.cli.translation import _
from daemon.cli.wording.dates import relative_time
from daemon.cli.wording.short_ids import short_ids_of
from daemon.cli.wording.values import author_words, in_quotation_marks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from daemon.cli.api.shapes import ChangeJson, DecisionJson
    from daemon.cli.terminal.display import Display

_QUOTATION: Final = "“”„«»"
_EVIDENCE_CHARS_MAX: Final = 120


def agent_quote_lines(words: object, width: int, display: Display) -> Iterator[str]:
    """Draw what an agent says, marked as the agent's; nothing if it says nothing."""
    if not words:
        return
    # What has such marks itself is not put between them once more.
    text = str(words) if any(mark in str(words) for mark in _QUOTATION) else in_quotation_marks(words)
    for line in wrap_lines(_("the agent says: {words}").format(words=text), width):
        yield display.paint(line.replace("“", display.symbol("“")).replace("”", display.symbol("”")), "dim")


def argument_lines(answer: ChangeJson | DecisionJson, width: int, display: Display) -> Iterator[str]:
    """Draw by which reason and notes the agent argued over a person's tick; nothing if it did not."""
    yield from agent_quote_lines(answer.get("agent_reason"), width, display)
    evidence = answer.get("evidence") or []
    ids = short_ids_of(evidence)
    for note in evidence:
        short = escape(ids.get(str(note.get("id")), ""))
        words = " ".join(str(note.get("text") or "").split())
        line = _("evidence {id}: the task has no such note").format(id=short)
        if words:
            line = _("evidence {id}: {who}, {when}: {words}").format(
                id=short,
                who=author_words(note.get("author")),
                when=relative_time(note.get("happened_at"), display.now_s),
                words=in_quotation_marks(truncate(words, _EVIDENCE_CHARS_MAX)),
            )
        yield from (display.paint(part, "dim") for part in wrap_lines(line, width))
