"""One task in words, for its template: what it is, how it stands, and who works on it.

Never says the same twice: what belongs to a task is told by the rows of its parts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

import msgspec
from msgspec import UnsetType

from daemon.agents.person.agent_overview import AgentDetails
from daemon.journal.fields.validation import CLOSED, PLAIN_STATUS, PRIORITY_DEFAULT
from daemon.journal.views.structures import Conflict, Entry, Task
from daemon.task_fields import DAY_FIELDS
from daemon.web.decide.agent_line import AgentLine, agent_line
from daemon.web.tasks.conflict_rows import ConflictRow, clock_text, conflict_rows
from daemon.web.tasks.note_markup import PageMarkup
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
from daemon.words.agents import report_age_words, report_fields, report_list, report_list_words
from daemon.words.dates import duration_words, relative_time
from daemon.words.task_parts import day_facts, spent_words
from daemon.words.translation import _, ngettext
from daemon.words.values import field_words, value_words, with_colon

STATUS_TONES: Final = {"IN PROGRESS": "green", "DONE": "green", "REJECTED": "red"}
NOTES_SHOWN: Final = 20


class ShownTask(NamedTuple):
    """What is read of a task. `named_note` is the note that the address asks for; None for none.

    `proposers` are the names of the agents that proposed values of it, by the proposal.
    """

    task: Task
    agent: AgentDetails | None
    disputes: list[Conflict]
    named_note: Entry | None
    proposers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Chip:
    """A value of a task, which opens the part of the menu that sets it: its field, its words and its tone.

    Not `is_set`: it is the usual value. `is_asked`: there is none, and the words name what it would be.
    """

    field: str
    words: str
    tone: str = ""
    is_set: bool = True
    is_asked: bool = False


@dataclass(frozen=True, slots=True)
class OriginRow:
    """A value that an agent proposed and a person took: its field, its words, and who did what with it."""

    field: str
    words: str
    by: str


@dataclass(frozen=True, slots=True)
class TaskPage:
    """One task, the oldest note first. `base` is what a form gives back, so that it counts against that.

    `chips` are its values but for the labels. `notes_left` counts what another address shows, `left_out` says
    what none shows.
    """

    id: str
    title: str
    is_closed: bool
    next_status: str
    tone: str
    reason: str
    chips: list[Chip]
    labels: list[str]
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
    report: list[str]
    report_age: str
    origins: list[OriginRow]
    steps: list[StepRow]
    left_out: str
    base: str
    series_id: str

    def editable_notes(self) -> list[NoteRow]:
        """Return the notes that are shown and can be edited."""
        return [note for note in (*self.notes, self.named_note) if note is not None and note.is_editable]


def page_of_task(shown: ShownTask, now_s: float, *, with_all_notes: bool) -> TaskPage:
    """Return one task in words. It takes time: never call it on the event loop."""
    task, agent, disputes, named, proposers = shown
    is_closed = task.status in CLOSED
    notes = task.entries if with_all_notes else task.entries[-NOTES_SHOWN:]
    markup = PageMarkup()
    is_apart = named is not None and named.id not in {entry.id for entry in notes}
    return TaskPage(
        id=task.id,
        title=task.title,
        is_closed=is_closed,
        next_status=PLAIN_STATUS if is_closed else "DONE",
        tone=task.priority.lower(),
        reason=task.reason or "",
        chips=_chips(task, now_s),
        labels=task.labels,
        agent=agent_line(agent, now_s) if agent is not None else None,
        has_agent=task.agent_id is not None,
        conflicts=conflict_rows(disputes, now_s),
        lists=list_rows(task.checklists, now_s),
        # The newest come first to what the page has room for.
        notes=[note_row(entry, now_s, markup) for entry in reversed(notes)][::-1],
        notes_left=len(task.entries) - len(notes),
        named_note=note_row(named, now_s, markup) if named is not None and is_apart else None,
        times=time_rows(task.times, now_s),
        times_left=max(0, len(task.times) - TIMES_SHOWN),
        spent=duration_words(task.time_spent_minutes) if task.time_spent_minutes else "",
        links=link_rows(task.links),
        report=_report(agent),
        report_age=""
        if agent is None
        else ", ".join(report_age_words(cast(Any, msgspec.to_builtins(agent)))),
        origins=_origins(task, proposers, now_s),
        steps=step_rows(task, now_s),
        left_out=_left_out_words(task),
        base=clock_text(task.vector_clock),
        series_id=task.series_id or "",
    )


def _chips(task: Task, now_s: float) -> list[Chip]:
    """Return the values of a task, and the places for those that most tasks have."""
    spent = spent_words(cast(Any, msgspec.to_builtins(task)))
    return [
        Chip("status", terms.task_status(task.status), STATUS_TONES.get(task.status, "")),
        Chip("priority", task.priority, is_set=task.priority != PRIORITY_DEFAULT),
        *_day_chips(task, now_s),
        Chip("estimate_minutes", spent or _("Length"), is_set=bool(spent), is_asked=not spent),
        *([Chip("category", task.category)] if task.category else []),
    ]


def _day_chips(task: Task, now_s: float) -> list[Chip]:
    chips = []
    for field in DAY_FIELDS:
        own = {field.name: getattr(task, field.name), "due_time": task.due_time}
        days = day_facts(own.get, now_s, is_over=task.status in CLOSED)
        words = days.late or "".join(days.facts)
        if words:
            chips.append(Chip(field.name, words, "red" if days.late else ""))
        elif field.name == "due":
            chips.append(Chip(field.name, _("Due"), is_set=False, is_asked=True))
    return chips


def _origins(task: Task, proposers: Mapping[str, str], now_s: float) -> list[OriginRow]:
    """Return the values that agents proposed, with who proposed each and whether a person changed it."""
    rows = []
    for key, origin in ({} if isinstance(task.provenance, UnsetType) else task.provenance).items():
        if origin.as_proposed is None or origin.item_id is None:
            continue
        name, _slash, member = key.partition("/")
        field = name.removesuffix("_ids").removesuffix("_id")
        words = _("proposed by {agent}, confirmed by you")
        if not origin.as_proposed:
            words = _("proposed by {agent}, changed by you")
        by = words.format(agent=proposers.get(origin.item_id) or _("an agent"))
        value = member or value_words(getattr(task, field, None), field)
        rows.append(
            OriginRow(
                field_words(field), value, " · ".join(filter(None, [by, relative_time(origin.at, now_s)]))
            )
        )
    return rows


def _report(agent: AgentDetails | None) -> list[str]:
    """Return what the agent of a task reports, a line each: in short, then its lists."""
    fields = report_fields((agent.report if agent is not None else None) or {})
    lists = [(words, report_list(fields, key)) for key, words in report_list_words().items()]
    short = fields.get("tldr")
    return [
        *([str(short)] if short else []),
        *(with_colon(words[:1].upper() + words[1:]) + "; ".join(lines) for words, lines in lists if lines),
    ]


def _left_out_words(task: Task) -> str:
    """Say how much of a task is too long for any page."""
    count = sum(task.left_out.values()) if isinstance(task.left_out, dict) else 0
    more = ngettext("{count} more is not shown here", "{count} more are not shown here", count)
    return more.format(count=count) if count else ""
