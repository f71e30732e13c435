"""An error of a command as lines: what was seen, what it could mean, and what to do.

Never prints them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.cli.terminal.editor import kept_text_words
from daemon.words.sentences import sentence_words
from daemon.words.short_ids import short_ids
from daemon.words.translation import _, sentence_of

if TYPE_CHECKING:
    from daemon.cli.api.command_error import CommandError


def error_line(error: CommandError) -> str:
    """Write an error in one line: what was seen, what it could mean, what to do, where a text is kept."""
    ids = short_ids(candidate["id"] for candidate in error.candidates)
    candidates = ", ".join(f"{ids[candidate['id']]} {candidate['title']!r}" for candidate in error.candidates)
    message = sentence_words(error.sentence, error.message.rstrip("."))
    hint = sentence_words(error.hint_sentence, error.hint)
    kept = kept_text_words(error.kept_text) if error.kept_text else ""
    return "; ".join(part for part in (message, candidates, hint, kept) if part)


def detail_lines(error: CommandError) -> list[str]:
    """Write each of several faults in a line of its own."""
    return [
        _("line {number}: ").format(number=detail["line"]) * bool(detail["line"])
        + sentence_words(sentence_of(detail), detail["message"])
        for detail in error.details
    ]
