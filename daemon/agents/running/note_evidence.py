"""What the notes of a task say of a proposal, read by the rules of the embedded model and the date grammar.

Never blocks a proposal, and never stores or trusts a word of it: each device reads its own notes anew.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from functools import lru_cache
from typing import Final, TypeVar

from msgspec.structs import replace

from daemon.agents.context.open_wishes import newest_wishes
from daemon.agents.context.task_view import entry_views, view_of_task, with_wishes
from daemon.agents.deciding.decision_history import DecisionRecord
from daemon.agents.deciding.waiting_items import NoteEvidence, PendingItem
from daemon.agents.models.rules.clauses import split_clauses, words_in
from daemon.agents.models.rules.finished_items import is_same_stem, item_patterns
from daemon.agents.models.rules.language_choice import note_tables, sample_text
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import to_plain
from daemon.agents.models.rules.note_reader import MentionCandidates, NoteFindings, read_note
from daemon.agents.tools.agent_record import agent_id
from daemon.agents.tools.arguments import ArgumentFault, Arguments
from daemon.agents.tools.model_interface import ChecklistItemView, EntryView, LabelView, TaskView
from daemon.agents.tools.table import (
    ADD_CHECKLIST_ITEM,
    ASSIGN_TASK_LABEL,
    SET_TASK_STATUS,
    TOOLS,
    UPDATE_CHECKLIST_ITEM,
    validate_arguments,
)
from daemon.dates import grammar
from daemon.dates.mentions import day_phrases_in, lengths_in
from daemon.text_comparison import comparison_key
from daemon.timestamps import iso_utc
from store.snapshot import Snapshot
from syncproto.ids import id_from_text

NOTES_READ_MAX: Final = 20
"""How many of the newest notes of a task a proposal is held against."""
NOTE_CHARS_MAX: Final = 4000
CALL_CHARS_MAX: Final = 60_000
"""How much is read for one list of proposals; of tasks beyond that nothing is said."""
QUOTE_CHARS_MAX: Final = 160
SENTENCES_READ_MAX: Final = 40
"""Among so many sentences of a note the one is looked for that says by itself what the note says."""
_MENTION_SHARE = 0.6
_WORD_CHARS_MIN = 3
_CLOCK: Final = re.compile(r"(?<![\d:])(\d{1,4}):([0-5]\d)(?![\d:])", re.ASCII)

# The fields of `NoteFindings` by the tool that sets the same, with the argument that has the value.
_VALUES: Final = {
    "update_task_due_date": ("due", "dueDate"),
    "update_task_estimate": ("minutes", "minutes"),
    "update_task_priority": ("priority", "priority"),
    SET_TASK_STATUS: ("status", "status"),
    "set_task_title": ("title", "title"),
}


@dataclass(frozen=True, slots=True)
class NoteReading:
    """A note, the tables of words that it is read by, and what the rules read in it."""

    note: EntryView
    tables: tuple[CueTable, ...]
    findings: NoteFindings


Noted = TypeVar("Noted", PendingItem, DecisionRecord)


def with_note_evidence(snapshot: Snapshot, items: Iterable[Noted], zone: tzinfo | None = None) -> list[Noted]:
    """Return proposals, or decisions on them, with what the notes of their task say; in the same order.

    Of a decision only the notes count that were written before it. `zone` is the time zone in which
    "tomorrow" of a note counts; None is the device's own.
    """
    tasks: dict[str, _TaskNotes | None] = {}
    room, shown = CALL_CHARS_MAX, list[Noted]()
    for item in items:
        if not _is_proposal(item):
            shown.append(item)
            continue
        if item.task_id not in tasks:
            notes = _notes_of(snapshot, item.task_id, zone)
            room -= 0 if notes is None else notes.length
            tasks[item.task_id] = notes if room >= 0 else None
        of_task = tasks[item.task_id]
        evidence = (
            None if of_task is None else note_evidence(item, of_task.task, _notes_before(item, of_task))
        )
        shown.append(item if evidence is None else replace(item, notes=evidence))
    return shown


@dataclass(frozen=True, slots=True)
class _TaskNotes:
    """A task and its newest notes, oldest first."""

    task: TaskView
    notes: tuple[EntryView, ...]

    @property
    def length(self) -> int:
        return sum(len(note.text) for note in self.notes)


def _is_proposal(item: PendingItem | DecisionRecord) -> bool:
    """Return whether it is about what a tool can do: another program may have decided on something else."""
    if isinstance(item, PendingItem):
        return True
    try:
        return not item.is_ask and item.tool in TOOLS and bool(validate_arguments(item.tool, item.args))
    except ArgumentFault:
        return False


def _notes_before(item: PendingItem | DecisionRecord, of_task: _TaskNotes) -> Sequence[EntryView]:
    """Return the notes that count: of a decision those that were there when it was made."""
    if isinstance(item, PendingItem):
        return of_task.notes
    return [note for note in of_task.notes if iso_utc(_written_ms(note)) <= item.at]


def _written_ms(note: EntryView) -> int:
    return int(note.written_at.timestamp() * 1000)


def _notes_of(snapshot: Snapshot, task_id: str, zone: tzinfo | None) -> _TaskNotes | None:
    task = snapshot.entity(id_from_text(task_id))
    if task is None or task.kind != "task" or not task.visible:
        return None
    typed = tuple(note for note in entry_views(snapshot, task.id, zone) if note.by != "agent")
    notes = with_wishes(snapshot, typed, newest_wishes(snapshot, agent_id(task.id)), zone)
    newest = [cut_note(note) for note in notes[-NOTES_READ_MAX:]]
    return _TaskNotes(view_of_task(snapshot, task), tuple(newest))


def cut_note(note: EntryView) -> EntryView:
    """Return a note with as much of its text as is read."""
    return EntryView(note.id, note.text[:NOTE_CHARS_MAX], note.written_at, note.by)


def note_evidence(
    item: PendingItem | DecisionRecord, task: TaskView, notes: Sequence[EntryView]
) -> NoteEvidence | None:
    """Return what notes say of a proposal; None if they cannot tell, as with a new title of an item.

    Of several notes that state a value, the newest counts.
    """

    def read(read_notes: Sequence[EntryView]) -> NoteEvidence | None:
        return evidence_on_call(item.tool, item.args, item.subject or "", task, read_notes)

    evidence = read(notes)
    note = None if evidence is None else next((note for note in notes if note.id == evidence.entry_id), None)
    if evidence is None or note is None:
        return evidence
    return replace(evidence, quote=_quote(note, task, lambda sentence: read([sentence]) == evidence))


def _quote(note: EntryView, task: TaskView, says_the_same: Callable[[EntryView], bool]) -> str:
    """Return the sentence of a note that says the same as the whole of it; its beginning if none does."""
    around = sample_text((task.title, *(member.title for member in task.items)))
    table = next(iter(note_tables(note.text, task.language, around)), None)
    lines = [line.strip() for line in note.text.splitlines() if line.strip()]
    sentences = [
        sentence
        for line in lines[:SENTENCES_READ_MAX]
        for sentence in ([line] if table is None else [clause.text for clause in split_clauses(line, table)])
    ]
    same = (
        text
        for text in sentences[:SENTENCES_READ_MAX]
        if says_the_same(EntryView(note.id, text, note.written_at, note.by))
    )
    text = " ".join(next(same, note.text).split())
    return text if len(text) <= QUOTE_CHARS_MAX else f"{text[: QUOTE_CHARS_MAX - 1].rstrip()}…"


def evidence_on_call(
    tool: str, args: Arguments, subject: str, task: TaskView, notes: Sequence[EntryView]
) -> NoteEvidence | None:
    """Return what notes say of a call; `subject` is the name of the label or item that it is about."""
    label = LabelView(str(args.get("id")), subject) if tool == ASSIGN_TASK_LABEL else None
    readings = read_notes(task, notes, label)
    if tool in _VALUES:
        return _value_evidence(tool, args, readings)
    if tool == ASSIGN_TASK_LABEL:
        return _evidence(_newest(reading.note for reading in readings if reading.findings.labels), "says so")
    if tool == ADD_CHECKLIST_ITEM:
        title = str(args.get("title"))
        return _text_evidence(title, readings, [reading for reading in readings if _adds(reading, title)])
    if tool == UPDATE_CHECKLIST_ITEM and "isChecked" in args:
        identifier = args["id"] if args["isChecked"] is True else None
        stating = [reading for reading in readings if identifier in reading.findings.finished_quotes]
        return _text_evidence(subject, readings, stating)
    return None


def read_notes(
    task: TaskView, notes: Sequence[EntryView], label: LabelView | None = None
) -> list[NoteReading]:
    """Return what the rules read in each note, in the order of the notes."""
    around = sample_text((task.title, *(member.title for member in task.items)))
    return [_read_by_rules(note, task.language, around, task.items, label) for note in notes]


@lru_cache(maxsize=512)
def _read_by_rules(
    note: EntryView,
    language: str | None,
    around: str,
    items: tuple[ChecklistItemView, ...],
    label: LabelView | None,
) -> NoteReading:
    """Read a note as the embedded model does. The same note is read once, however often it is shown."""
    tables = note_tables(note.text, language, around)
    labels = () if label is None else (label,)
    findings = NoteFindings()
    for table in tables:
        candidates = MentionCandidates(item_patterns(items, table), labels)
        findings.merge(read_note(note.text, note.written_at, table, candidates))
    return NoteReading(note, tables, findings)


# -- values -------------------------------------------------------------------------------------------


def _value_evidence(tool: str, args: Arguments, readings: Sequence[NoteReading]) -> NoteEvidence | None:
    """Hold a value against those that notes state, and then against what they only mention."""
    field, argument = _VALUES[tool]
    proposed = str(args.get(argument))
    stated = [(reading, value.value) for reading in readings if (value := getattr(reading.findings, field))]
    newest, value = stated[-1] if stated else (None, "")
    if newest is not None and comparison_key(value) == comparison_key(proposed):
        return _evidence(newest.note, "says so")
    # A note that only mentions the value says more than an older one that states another.
    later = readings if newest is None else readings[readings.index(newest) :]
    mentioning = _newest(reading.note for reading in later if _mentions(reading, field, proposed))
    if mentioning is not None:
        return _evidence(mentioning, "mentions it")
    if newest is not None:
        return _evidence(newest.note, "says other", int(value) if field == "minutes" else value)
    # No rule reads a good name for a task, so that silence about it means nothing.
    return None if field == "title" else _evidence(None, "silent")


def _mentions(reading: NoteReading, field: str, proposed: str) -> bool:
    """Return whether a note has a day or a length of time somewhere, whatever it says of it."""
    if field == "due":
        day = grammar.date_or_none(*map(int, proposed.split("-"))) if proposed.count("-") == 2 else None
        return day is not None and day in _days_in(reading.note, reading.tables)
    return field == "minutes" and proposed.isdigit() and int(proposed) in _lengths_in(reading.note.text)


@lru_cache(maxsize=512)
def _days_in(note: EntryView, tables: tuple[CueTable, ...]) -> frozenset[date]:
    """Return each day that some words of a note mean, if they can mean no other."""
    today = note.written_at.date()
    phrases = (days for table in tables for _, days in day_phrases_in(note.text, today, table.language))
    return frozenset(next(iter(days)) for days in phrases if len(days) == 1)


@lru_cache(maxsize=512)
def _lengths_in(text: str) -> frozenset[int]:
    """Return each length of time in a text, in minutes; "1:30" is one, a bare number is none."""
    clocks = (int(hours) * 60 + int(minutes) for hours, minutes in _CLOCK.findall(text))
    return frozenset((*lengths_in(text), *clocks))


# -- items --------------------------------------------------------------------------------------------


def _adds(reading: NoteReading, title: str) -> bool:
    wanted = comparison_key(title)
    return any(comparison_key(listed) == wanted for listed, _ in reading.findings.new_items)


def _text_evidence(
    words: str, readings: Sequence[NoteReading], stating: Sequence[NoteReading]
) -> NoteEvidence:
    """Hold an item against the notes that state it, else against those that have most of its words."""
    if stating:
        return _evidence(stating[-1].note, "says so")
    mentioning = _newest(reading.note for reading in readings if _has_words_of(words, reading))
    return _evidence(mentioning, "silent" if mentioning is None else "mentions it")


def _has_words_of(title: str, reading: NoteReading) -> bool:
    """Return whether a note has most of the words of a title, inflected or not, function words aside."""
    function_words = frozenset().union(*(table.function_words for table in reading.tables))
    named = {
        word
        for word in words_in(to_plain(title))
        if len(word) >= _WORD_CHARS_MIN and word not in function_words
    }
    written = set(words_in(to_plain(reading.note.text)))
    common = {
        word for word in named if word in written or any(is_same_stem(word, other) for other in written)
    }
    return bool(named) and len(common) >= _MENTION_SHARE * len(named)


# -- the answer ---------------------------------------------------------------------------------------


def _newest(notes: Iterable[EntryView]) -> EntryView | None:
    return next(reversed(list(notes)), None)


def _evidence(note: EntryView | None, verdict: str, value: int | str | None = None) -> NoteEvidence:
    if note is None:
        return NoteEvidence(verdict="silent")
    written_at = iso_utc(_written_ms(note))
    return NoteEvidence(verdict=verdict, entry_id=note.id, written_at=written_at, value=value)
