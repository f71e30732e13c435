"""What the tests of the `rules` model share: notes of one Wednesday, and what is read in them.

Never needs a store.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from daemon.agents.models.interface import NoteView, RunContext, TaskView
from daemon.agents.models.languages import TABLES
from daemon.agents.models.reading import read_note

WEDNESDAY = datetime(2026, 11, 18, 10, tzinfo=UTC)
TASK = TaskView("t", "Fix login", "OPEN", "P2", 60, None, None, ())


def found(note: str, language: str = "en") -> dict[str, Any]:
    """Return what a note says in a language, by kind; nothing where it says nothing."""
    read = read_note(note, WEDNESDAY, TABLES[language])
    single = {name: getattr(read, name) for name in ("due", "minutes", "priority", "title")}
    told = {name: said.value for name, said in single.items() if said is not None}
    return {**told, **({"items": [title for title, _ in read.items]} if read.items else {})}


def note_id(at: int) -> str:
    """Return the id of a note of a context."""
    return f"{at:032x}"


def context(*notes: str, **changes: Any) -> RunContext:
    """Return a run's context with these notes on one task, changed in some fields."""
    views = tuple(NoteView(note_id(at), note, WEDNESDAY, "user") for at, note in enumerate(notes))
    return RunContext("run", WEDNESDAY, None, replace(TASK, **changes), views, ())
