"""How an agent argued over what a person did, in words: its reason, and the notes that it names.

Never shows an agent's words as its own: they are marked as the agent's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.words.dates import relative_time
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import escape, truncate
from daemon.words.translation import _
from daemon.words.values import author_words, in_quotation_marks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.shapes.answers import DecisionJson, EvidenceJson

_QUOTATION: Final = "“”„«»"
_EVIDENCE_CHARS_MAX: Final = 120


def agent_quote_words(words: object) -> str:
    """Say what an agent says, marked as the agent's."""
    # What has such marks itself is not put between them once more.
    text = str(words) if any(mark in str(words) for mark in _QUOTATION) else in_quotation_marks(words)
    return _("the agent says: {words}").format(words=text)


def evidence_words(evidence: Sequence[EvidenceJson], now_s: float | None) -> Iterator[str]:
    """Say which notes an agent names, a line each."""
    ids = short_ids_of(evidence)
    for note in evidence:
        short = escape(ids.get(str(note.get("id")), ""))
        words = " ".join(str(note.get("text") or "").split())
        if not words:
            yield _("evidence {id}: the task has no such note").format(id=short)
            continue
        yield _("evidence {id}: {who}, {when}: {words}").format(
            id=short,
            who=author_words(note.get("author")),
            when=relative_time(note.get("happened_at"), now_s),
            words=in_quotation_marks(truncate(words, _EVIDENCE_CHARS_MAX)),
        )


def argument_words(decision: DecisionJson, now_s: float | None) -> list[str]:
    """Say by which reason and notes the agent argued over a person's tick; nothing if it did not."""
    reason = decision.get("agent_reason")
    reason_lines = [agent_quote_words(reason)] if reason else []
    return [*reason_lines, *evidence_words(decision.get("evidence") or [], now_s)]
