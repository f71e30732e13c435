"""How an agent argued for what it proposed, in words: its reason, and the notes that it names.

Never shows an agent's words as its own: they are marked as the agent's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from daemon.words.dates import relative_time
from daemon.words.proposals import quoted_note, quoting_words
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import escape, truncate
from daemon.words.translation import _
from daemon.words.values import author_words, in_quotation_marks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.shapes.answers import ChangeJson, DecisionJson, EvidenceJson, PendingItemJson

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


def note_quotes(answer: ChangeJson | DecisionJson, now_s: float | None) -> list[str]:
    """Say which notes an agent named for what it proposed, and what a note of the task says, a line each."""
    as_item, named = cast("PendingItemJson", answer), answer.get("evidence") or []
    is_named = (as_item.get("notes") or {}).get("entry_id") in {note.get("id") for note in named}
    # That no note says so argues for nothing.
    notes = [quoting_words(as_item, now_s)] if quoted_note(as_item) and not is_named else []
    return [*evidence_words(named, now_s), *notes]


def argument_words(decision: DecisionJson, now_s: float | None) -> list[str]:
    """Say by which reason and notes the agent proposed what was decided, a line each."""
    reason = decision.get("agent_reason")
    return [*([agent_quote_words(reason)] if reason else []), *note_quotes(decision, now_s)]
