"""One task in words, for its template: what it is, how it stands, and who works on it.

Never says the same twice: what belongs to a task is told by the rows of its parts.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

import msgspec

from daemon.agents.person.agent_overview import AgentDetails
from daemon.journal.fields.validation import CLOSED, PRIORITY_DEFAULT
from daemon.journal.views.structures import Conflict, Entry, Task
from daemon.web.decide.agent_line import AgentLine, agent_line
from daemon.web.tasks.conflict_rows import ConflictRow, clock_text, conflict_rows
from daemon.web.tasks.part_rows import (
    TIMES_SHOWN,
    LinkRow,
    ListRow,
    NoteRow,
    StepRow,
    TimeRow,
    link_rows,
    list_rows,
    note_row,
    step_rows,
    time_rows,
)
from daemon.words import terms
from daemon.words.dates import duration_words, relative_time
from daemon.words.task_parts import day_facts, spent_words
from daemon.words.translation import ngettext

STATUS_TONES: Final = {"IN PROGRESS": "green", "DONE": "green", "REJECTED": "red"}
NOTES_SHOWN: Final = 20


class ShownTask(NamedTuple):
    """What is read of a task. `named_note` is the note that the address asks for; None for none."""

    task: Task
    agent: AgentDetails | None
    disputes: list[Conflict]
    named_note: Entry | None


@dataclass(frozen=True, slots=True)
class TaskPage:
    """One task, the newest note first. `base` is what a form gives back, so that it counts against that.

    `late` and `facts` are the due date, the time, the priority and the category. `notes_left` counts what
    another address shows, `left_out` says what none shows.
    """

    id: str
    title: str
    status: str
    status_words: str
    status_tone: str
    is_closed: bool
    reason: str
    late: str
    facts: list[str]
    labels: list[str]
    updated: str
    agent: AgentLine | None
    has_agent: bool
    conflicts: list[ConflictRow]
    lists: list[ListRow]
    notes: list[NoteRow]
    notes_left: int
    named_note: NoteRow | None
    times: list[TimeRow]
    times_left: int
    spent: str
    links: list[LinkRow]
    steps: list[StepRow]
    left_out: str
    base: str

    def editable_notes(self) -> list[NoteRow]:
        """Return the notes that are shown and can be edited."""
        return [note for note in (*self.notes, self.named_note) if note is not None and note.is_editable]


def page_of_task(shown: ShownTask, now_s: float, *, with_all_notes: bool) -> TaskPage:
    """Return one task in words."""
    task, agent, disputes, named = shown
    days = day_facts(lambda name: getattr(task, name), now_s, is_over=task.status in CLOSED)
    notes = task.entries if with_all_notes else task.entries[-NOTES_SHOWN:]
    is_apart = named is not None and named.id not in {entry.id for entry in notes}
    return TaskPage(
        id=task.id,
        title=task.title,
        status=task.status,
        status_words=terms.task_status(task.status),
        is_closed=task.status in CLOSED,
        status_tone=STATUS_TONES.get(task.status, ""),
        reason=task.reason or "",
        late=days.late,
        facts=_facts(task, days.facts),
        labels=task.labels,
        updated=relative_time(task.updated_at, now_s) if task.updated_at else "",
        agent=agent_line(agent, now_s) if agent is not None else None,
        has_agent=task.agent_id is not None,
        conflicts=conflict_rows(disputes, now_s),
        lists=list_rows(task.checklists, now_s),
        notes=[note_row(entry, now_s) for entry in reversed(notes)],
        notes_left=len(task.entries) - len(notes),
        named_note=note_row(named, now_s) if named is not None and is_apart else None,
        times=time_rows(task.times, now_s),
        times_left=max(0, len(task.times) - TIMES_SHOWN),
        spent=duration_words(task.time_spent_minutes) if task.time_spent_minutes else "",
        links=link_rows(task.links),
        steps=step_rows(task, now_s),
        left_out=_left_out_words(task),
        base=clock_text(task.vector_clock),
    )


def _facts(task: Task, days: list[str]) -> list[str]:
    facts = [
        *days,
        spent_words(cast(Any, msgspec.to_builtins(task))),
        task.priority if task.priority != PRIORITY_DEFAULT else "",
        task.category or "",
    ]
    return [fact for fact in facts if fact]


def _left_out_words(task: Task) -> str:
    """Say how much of a task is too long for any page."""
    count = sum(task.left_out.values()) if isinstance(task.left_out, dict) else 0
    more = ngettext("{count} more is not shown here", "{count} more are not shown here", count)
    return more.format(count=count) if count else ""
