"""What the tests of the `rules` model share: notes of one Wednesday, and what is read in them.

Never needs a store.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from daemon.agents.models.rules.lexicon.tables import cue_tables
from daemon.agents.models.rules.note_reader import read_note
from daemon.agents.tools.model_interface import EntryView, RunContext, TaskView

WEDNESDAY = datetime(2026, 11, 18, 10, tzinfo=UTC)
TASK = TaskView("t", "Fix login", "OPEN", "P2", 60, None, None, ())


def read_values(note: str, language: str = "en") -> dict[str, Any]:
    """Return what a note says in a language, by kind; nothing if it says nothing."""
    read = read_note(note, WEDNESDAY, cue_tables()[language])
    single = {name: getattr(read, name) for name in ("due", "minutes", "priority", "title")}
    fields = {name: words.value for name, words in single.items() if words is not None}
    return {**fields, **({"items": [title for title, _ in read.new_items]} if read.new_items else {})}


def note_id(index: int) -> str:
    """Return the id of a note of a context."""
    return f"{index:032x}"


def context(*notes: str, **changes: Any) -> RunContext:
    """Return a run's context with these notes on one task, changed in some fields."""
    views = tuple(EntryView(note_id(index), note, WEDNESDAY, "user") for index, note in enumerate(notes))
    return RunContext("run", WEDNESDAY, None, replace(TASK, **changes), views, ())
