"""Calls that the notes of a task refute, by facts that code can see: they are refused, with the reason.

Never takes silence for an objection where a note may say it in words that no rule reads, and never judges
the answers to a question, which are there to be chosen from.
"""

from collections.abc import Callable
from datetime import date
from typing import Final

from daemon.agents.models.rules.contradictions import says_happened, says_unfinished
from daemon.agents.models.rules.language_choice import certain_language, sample_text
from daemon.agents.running.note_evidence import (
    NOTES_READ_MAX,
    NoteReading,
    cut_note,
    evidence_on_call,
    read_notes,
)
from daemon.agents.tools.arguments import Arguments
from daemon.agents.tools.model_interface import RunContext
from daemon.agents.tools.table import ADD_CHECKLIST_ITEM, UPDATE_CHECKLIST_ITEM
from daemon.dates.mentions import has_time_words

_DUE: Final = "update_task_due_date"
_ESTIMATE: Final = "update_task_estimate"
_PRIORITY: Final = "update_task_priority"

ITEM_CHARS_MAX: Final = 100_000
"""How much of the notes a run reads for calls about items; beyond that no such call is refused."""

Refutation = Callable[[str, Arguments], str | None]
"""Returns why the notes refute a call, in words for the model; None if they do not."""


def refutation_by_notes(context: RunContext) -> Refutation:
    """Return what tells which calls the notes of a run refute."""
    read: list[_Notes] = []

    def refute(tool: str, args: Arguments) -> str | None:
        if not read:
            read.append(_Notes(context))
        return read[0].objection(tool, args)

    return refute


class _Notes:
    """The newest notes of people, oldest first, as the rules read them."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        by_id = {note.id: note for note in (*context.entries, *context.new_entries) if note.by != "agent"}
        newest = sorted(by_id.values(), key=lambda note: note.written_at)[-NOTES_READ_MAX:]
        self._notes = [cut_note(note) for note in newest]
        self._readings = read_notes(context.task, self._notes)
        self._new = {note.id for note in context.new_entries}
        self._room = ITEM_CHARS_MAX

    def objection(self, tool: str, args: Arguments) -> str | None:
        """Return why the notes refute a call; None if they do not."""
        if tool in (_DUE, _ESTIMATE):
            return self._objection_to_value(tool, args)
        if tool == _PRIORITY:
            return self._objection_to_priority(args)
        if tool == ADD_CHECKLIST_ITEM and not args.get("isChecked"):
            return self._objection_to_new_item(str(args["title"]))
        if tool == UPDATE_CHECKLIST_ITEM and args.get("isChecked") is True:
            return self._objection_to_tick(str(args["id"]))
        return None

    # -- values ---------------------------------------------------------------------------------------

    def _objection_to_value(self, tool: str, args: Arguments) -> str | None:
        evidence = evidence_on_call(tool, args, "", self._context.task, self._notes)
        if evidence is None or evidence.verdict in ("says so", "mentions it"):
            return None
        if tool == _DUE and date.fromisoformat(str(args["dueDate"])) < self._context.now.date():
            return "that day is past, and no note names it"
        if evidence.verdict == "says other" and self._is_last_word(str(evidence.entry_id)):
            return f"a note says {evidence.value}"
        if evidence.verdict == "silent" and self._has_no_time_words():
            return "no note has a day or a length of time"
        return None

    def _is_last_word(self, note: str) -> bool:
        """Report whether a note is new and none after it says a time: what follows may put it right."""
        index = next(place for place, reading in enumerate(self._readings) if reading.note.id == note)
        return note in self._new and not any(_has_time_words(later) for later in self._readings[index + 1 :])

    def _has_no_time_words(self) -> bool:
        """Report whether nobody wrote a number or a time, in notes whose language is plain."""
        task = self._context.task
        language = certain_language(sample_text(note.text for note in self._notes))
        written = [
            task.title,
            *(item.title for item in task.items),
            *(note.text for note in self._context.entries),
            *(observation.text for observation in self._context.observations),
            *self._context.preferences,
            self._context.agent_description,
        ]
        return (
            language is not None
            and not any(note.is_wish for note in self._notes)
            and not any(_has_time_words(reading) for reading in self._readings)
            and not any(has_time_words(text, (language,)) for text in written)
        )

    def _objection_to_priority(self, args: Arguments) -> str | None:
        stated = [reading for reading in self._readings if reading.findings.priority]
        newest = stated[-1].findings.priority if stated else None
        if newest is None or not newest.is_exact or newest.value == args["priority"]:
            return None
        return f"a note says {newest.value}" if stated[-1].note.id in self._new else None

    # -- items ----------------------------------------------------------------------------------------

    def _objection_to_new_item(self, title: str) -> str | None:
        new = (reading for reading in self._readings if reading.note.id in self._new)
        for reading in new:
            if not self._takes_room(reading):
                return None
            if any(says_happened(reading.note, title, table) for table in reading.tables):
                return f"a note says that {title!r} has happened already"
        return None

    def _objection_to_tick(self, identifier: str) -> str | None:
        item = next((item for item in self._context.task.items if item.id == identifier), None)
        if item is None:
            return None
        for reading in reversed(self._readings):
            if identifier in reading.findings.finished_quotes:
                return None
            if not self._takes_room(reading):
                return None
            if any(says_unfinished(reading.note.text, item, table) for table in reading.tables):
                return f"a note says that {item.title!r} is not done, or not all of it"
        return None

    def _takes_room(self, reading: NoteReading) -> bool:
        """Report whether a note may still be read; a run of a hundred calls can name two thousand items."""
        self._room -= len(reading.note.text)
        return self._room >= 0


def _has_time_words(reading: NoteReading) -> bool:
    languages = [table.language for table in reading.tables]
    return has_time_words(reading.note.text, languages)
