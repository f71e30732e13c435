"""What a model's report says against its task, and the report without that.

Never adds a claim: a sentence that contradicts the task is left out, and a line goes where its item belongs.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from daemon.agents.models.rules.language_choice import note_table
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import to_plain
from daemon.agents.models.rules.note_reader import NoteFindings, read_note
from daemon.agents.models.rules.report import build_report
from daemon.agents.tools.model_interface import EntryView, RunContext
from daemon.journal.fields.validation import CLOSED
from daemon.text_comparison import comparison_key

NOTES_READ_MAX: Final = 20
NOTE_CHARS_MAX: Final = 4000
"""How many notes of a task are read, and how much of each: the end of a run waits for it."""

_SENTENCE: Final = re.compile(r"[^.!?;\n]*(?:[.!?;]+(?!\s|$)[^.!?;\n]*)*[.!?;\n]*\s*")
_STATUS: Final = re.compile(r"\b(DONE|REJECTED|BLOCKED|ON HOLD|IN PROGRESS|GROOMED)\b")
_PRIORITY: Final = re.compile(r"\bP[0-3]\b")
_PROGRESS: Final = re.compile(r"\b(\d{1,3})\s*(?:/|of|out of|von|de|sur|din)\s*(\d{1,3})\b")
_DONE: Final = re.compile(
    "|".join(
        rf"\b(?:{nouns}) (?:{verbs}) (?:(?:{adverbs}) )?(?:{done})\b"
        for nouns, verbs, adverbs, done in (
            ("task", "is|was|has been", "now|already|fully", "done|finished|completed?|closed"),
            ("aufgabe", "ist|wurde", "jetzt|nun|bereits|schon", "erledigt|fertig|abgeschlossen"),
            ("tarea", "esta|fue|ha sido", "ya|ahora", "hecha|terminada|completada|cerrada|acabada"),
            ("tache", "est|a ete", "deja|maintenant", "faite|terminee|achevee|finie|accomplie"),
            ("sarcina", "e|este|a fost", "deja|acum", "gata|facuta|terminata|finalizata|incheiata"),
        )
    )
)
"""That the task is done, in plain letters of the five languages."""
_CONDITIONS: Final = re.compile(
    r"\b(?:if|when|once|until|till|before|unless|wenn|sobald|bis|bevor|falls|si|cuando|hasta|antes|quand"
    r"|lorsque|avant|daca|cand|pana|inainte)\b"
)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a report may say of its task: the task's own values, and those that its notes state."""

    context: RunContext
    table: CueTable
    days: frozenset[str]
    minutes: frozenset[str]
    priorities: frozenset[str]


def without_contradictions(report: dict[str, Any], context: RunContext) -> dict[str, Any]:
    """Return a report without what contradicts its task at the beginning of the run.

    A summary of which nothing is left is replaced by one that code writes, in the task's language.
    """
    summary = str(report.get("tldr") or "")
    facts = _facts(summary, context)
    kept = "".join(part for part in _SENTENCE.findall(summary) if not _contradicts(part, facts)).strip()
    if summary.strip() and not kept:
        # The words that were wrong may be in another language.
        table = note_table("", context.writing_language) if context.writing_language else facts.table
        kept = str(build_report(context, table.wording)["tldr"])
    return report | {"tldr": kept} | _lists(report, context)


def _facts(summary: str, context: RunContext) -> _Facts:
    task, table = context.task, note_table(summary, context.writing_language or None)
    notes = {note.id: note for note in (*context.entries, *context.new_entries)}
    newest = sorted(notes.values(), key=lambda note: note.written_at)[-NOTES_READ_MAX:]
    findings = [_findings(note, context) for note in newest]
    days = {value.value for reading in findings if (value := reading.due)}
    minutes = {value.value for reading in findings if (value := reading.minutes)}
    priorities = {value.value for reading in findings if (value := reading.priority)}
    return _Facts(
        context,
        table,
        frozenset(days | {task.due or ""}),
        frozenset(minutes | {str(task.estimate_minutes)}),
        frozenset(priorities | {task.priority}),
    )


def _findings(note: EntryView, context: RunContext) -> NoteFindings:
    text = note.text[:NOTE_CHARS_MAX]
    return read_note(text, note.written_at, note_table(text, context.writing_language or None))


def _contradicts(sentence: str, facts: _Facts) -> bool:
    """Return whether a sentence states a value that neither the task nor a note of it has."""
    task = facts.context.task
    statuses = set(_STATUS.findall(sentence))
    if statuses and task.status not in statuses:
        return True
    if not facts.priorities.issuperset(_PRIORITY.findall(sentence)):
        return True
    if task.status not in CLOSED and _says_done(sentence):
        return True
    return _has_other_progress(sentence, facts) or _has_other_values(sentence, facts, facts.context.now)


def _says_done(sentence: str) -> bool:
    """Return whether a sentence says that the task is done, and not when or whether it is."""
    plain = to_plain(sentence)
    match = _DONE.search(plain)
    return match is not None and _CONDITIONS.search(plain, 0, match.start()) is None and "?" not in sentence


def _has_other_progress(sentence: str, facts: _Facts) -> bool:
    """Return whether a sentence counts the items of the checklist, and counts them wrongly."""
    items = [item for item in facts.context.task.items if not item.is_archived]
    done = sum(item.is_checked for item in items)
    counts = [(int(first), int(total)) for first, total in _PROGRESS.findall(sentence)]
    return bool(items) and any(total == len(items) and first != done for first, total in counts)


def _has_other_values(sentence: str, facts: _Facts, now: datetime) -> bool:
    """Return whether the rules read a due date or an estimate in a sentence that nothing supports."""
    claims = read_note(sentence, now, facts.table)
    is_other_day = claims.due is not None and claims.due.value not in facts.days
    return is_other_day or (claims.minutes is not None and claims.minutes.value not in facts.minutes)


# -- the lists ----------------------------------------------------------------------------------------


def _lists(report: dict[str, Any], context: RunContext) -> dict[str, list[str]]:
    """Return what is achieved and what remains, with each item of the checklist where it belongs."""
    items = [item for item in context.task.items if not item.is_archived]
    still_open = {comparison_key(item.title) for item in items if not item.is_checked}
    ticked = {comparison_key(item.title) for item in items if item.is_checked} - still_open
    achieved, remaining = (list(report.get(name) or ()) for name in ("achieved", "remaining"))
    not_done = [line for line in achieved if comparison_key(line) in still_open]
    not_left = [line for line in remaining if comparison_key(line) in ticked]
    return {
        "achieved": _once([line for line in achieved if line not in not_done] + not_left),
        "remaining": _once([line for line in remaining if line not in not_left] + not_done),
    }


def _once(lines: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(lines))
