"""The embedded model: reads new notes by cue words, calls the same tools as any model, and keeps the report.

Never uses a network, a key, or anything but its context: the same context gives the same calls.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from daemon.agents.models.rules.checklist_calls import FinishedItems, NewItems
from daemon.agents.models.rules.finished_items import item_patterns
from daemon.agents.models.rules.label_calls import LabelChanges
from daemon.agents.models.rules.language_choice import (
    certain_language,
    load_words,
    note_table,
    note_tables,
    sample_text,
    words_are_loaded,
)
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.tables import cue_tables
from daemon.agents.models.rules.note_reader import MentionCandidates, NoteFindings, QuotedValue, read_note
from daemon.agents.models.rules.report import build_report
from daemon.agents.models.rules.status_mentions import next_status
from daemon.agents.tools.model_interface import EntryView, ModelTurn, RunContext, TaskView, ToolCall
from daemon.language import DEFAULT_LANGUAGE
from daemon.task_fields import IN_PROGRESS

NOTES_CHARS_MAX = 256 * 1024  # of all new notes together: what a run reads stays a matter of seconds
EVENT_LOOP_CHARS_MAX = 8 * 1024  # more is read beside the event loop


class RulesModel:
    """The model that needs nothing. The device's language breaks ties between the languages of a note."""

    __slots__ = ("_language",)

    name = "rules"

    def __init__(self, language: str = DEFAULT_LANGUAGE) -> None:
        self._language = language

    async def turn(self, context: RunContext) -> ModelTurn:
        """Propose what the new notes say, and write the report. A second turn has nothing to add."""
        if context.tool_exchanges:
            return ModelTurn(())
        if not words_are_loaded():
            # The first run reads the files of words: some 30 ms that the event loop need not wait for.
            await asyncio.to_thread(load_words)
        if sum(len(note.text) for note in context.new_entries) > EVENT_LOOP_CHARS_MAX:
            run_reading = await asyncio.to_thread(read_run, context, self._language)
        else:
            run_reading = read_run(context, self._language)
        report = build_report(context, _own_table(context, self._language).wording, run_reading.unread)
        calls = [*run_reading.calls, ToolCall("update_report", report)]
        return ModelTurn(
            tuple(call for call in calls if not context.allowed_tools or call.name in context.allowed_tools)
        )


class RunReading(NamedTuple):
    """The calls for what new notes say, and the words of days and lengths of which nothing was made."""

    calls: list[ToolCall]
    unread: list[str]


def proposed_calls(context: RunContext, language: str = DEFAULT_LANGUAGE) -> list[ToolCall]:
    """Return the calls for what the new notes say; `language` is the device's."""
    return read_run(context, language).calls


def read_run(context: RunContext, language: str = DEFAULT_LANGUAGE) -> RunReading:
    """Read the new notes of a run. Of several values for a field, the newest counts.

    `language` is the device's.
    """
    task, around = context.task, _around(context)
    latest, items, ticks, labels = NoteFindings(), NewItems(task.items), FinishedItems(), LabelChanges()
    cues, unread = _own_table(context, language), list[str]()
    for note in _newest_notes(context.new_entries):
        cues, *others = note_tables(note.text, task.language, around, language)
        note_findings = _read_notes(context, note, cues)
        for other in others:
            note_findings.merge(_read_notes(context, note, other))
        _carry(note_findings, latest, note)
        unread += note_findings.unread
        labels.add_note(note_findings, note, cues)
        for title, checked in note_findings.new_items:
            existing_item = items.add_title(title, checked, note)
            if existing_item is not None and checked:
                ticks.add_item(existing_item, title, note, cues)
        for item in task.items:
            if item.id in note_findings.finished_quotes:
                ticks.add_item(item, note_findings.finished_quotes[item.id], note, cues)
            elif item.id in note_findings.reopened_quotes:
                ticks.reopen_item(item, note_findings.reopened_quotes[item.id], note, cues)
    calls = _field_calls(latest, task, cues) + ticks.calls() + items.calls(cues)
    # At a first wake the notes may be older than the labels.
    calls += labels.calls(task.labels, may_remove=not context.is_first_wake)
    titles = " ".join(items.titles)
    return RunReading(calls + _language_call(context), [words for words in unread if words not in titles])


def _read_notes(context: RunContext, note: EntryView, cues: CueTable) -> NoteFindings:
    """Read a note by one table, knowing the items and the labels that it may speak of."""
    task = context.task
    labels = {label.id: label for label in (*task.labels, *context.labels)}
    mention_candidates = MentionCandidates(
        item_patterns(task.items, cues),
        list(labels.values()),
        item_patterns(task.items, cues, are_ticked=True),
        _day_or_none(task.due),
    )
    return read_note(note.text, note.written_at, cues, mention_candidates)


def _day_or_none(due: str | None) -> date | None:
    """Return a due date; None for what is no day, which another device may have written."""
    try:
        return None if due is None else date.fromisoformat(due)
    except ValueError:
        return None


def _newest_notes(notes: Iterable[EntryView]) -> list[EntryView]:
    """Return the newest notes that a run reads, oldest first."""
    entry_views: list[EntryView] = []
    size = 0
    for note in reversed(tuple(notes)):
        size += len(note.text)
        if entry_views and size > NOTES_CHARS_MAX:
            break
        entry_views.append(note)
    return entry_views[::-1]


def _around(context: RunContext) -> str:
    """Return the texts that decide the language of a note that is too short for that."""
    older = (note.text for note in context.entries[-20:])
    return sample_text((context.task.title, *(item.title for item in context.task.items), *older))


def _own_table(context: RunContext, language: str) -> CueTable:
    """Return the table of the task itself, in whose language the report is."""
    notes = sample_text(note.text for note in context.new_entries)
    own = cue_tables().get(context.task.language or "")
    return own or note_table(notes, None, _around(context), language)


def _carry(note_findings: NoteFindings, latest: NoteFindings, note: EntryView) -> None:
    """Let the fields of a later note replace those of earlier ones; each value names its note."""
    for name in ("due", "asked_due", "minutes", "priority", "title", "status"):
        value: QuotedValue | None = getattr(note_findings, name)
        if value:
            setattr(latest, name, replace(value, note=note.id))


# -- fields -------------------------------------------------------------------------------------------


def _field_calls(note_findings: NoteFindings, task: TaskView, cues: CueTable) -> list[ToolCall]:
    """Make the calls that set fields; urgency never lowers a priority, a stated one may."""
    calls = []
    if note_findings.title and note_findings.title.value != task.title:
        calls.append(_call("set_task_title", "title", note_findings.title.value, note_findings.title, cues))
    if note_findings.due and note_findings.due.value != task.due:
        calls.append(
            _call("update_task_due_date", "dueDate", note_findings.due.value, note_findings.due, cues)
        )
    if note_findings.asked_due and not (note_findings.due or task.due):
        calls.append(_due_question(note_findings.asked_due, cues))
    if note_findings.minutes and int(note_findings.minutes.value) != task.estimate_minutes:
        calls.append(
            _call(
                "update_task_estimate",
                "minutes",
                int(note_findings.minutes.value),
                note_findings.minutes,
                cues,
            )
        )
    if note_findings.priority and _changes_priority(note_findings.priority, task):
        calls.append(
            _call(
                "update_task_priority", "priority", note_findings.priority.value, note_findings.priority, cues
            )
        )
    return calls + _status_calls(note_findings, task, cues)


def _due_question(asked_due: QuotedValue, cues: CueTable) -> ToolCall:
    """Make the call that asks whether a day without a year, which is just over, is meant as next year's."""
    ahead = {
        "text": cues.wording.due_ahead.format(due=asked_due.value),
        "tool": "update_task_due_date",
        "arguments": {"dueDate": asked_due.value},
    }
    arguments = {
        "question": cues.wording.ask_due.format(quote=asked_due.quote),
        "answers": [ahead, {"text": cues.wording.due_over}],
        "rationale": cues.wording.rationale.format(quote=asked_due.quote),
    }
    return ToolCall("ask_question", arguments)


def _changes_priority(quoted_value: QuotedValue, task: TaskView) -> bool:
    return quoted_value.value != task.priority and (
        quoted_value.is_exact or quoted_value.value < task.priority
    )


def _status_calls(note_findings: NoteFindings, task: TaskView, cues: CueTable) -> list[ToolCall]:
    status = next_status(note_findings.status.value, task.status) if note_findings.status else None
    if status is None or note_findings.status is None:
        return []
    call = _call("set_task_status", "status", status, note_findings.status, cues)
    if status != IN_PROGRESS and isinstance(call.arguments, dict):
        call.arguments["reason"] = note_findings.status.quote
    return [call]


def _call(tool: str, argument: str, value: str | int, quoted_value: QuotedValue, cues: CueTable) -> ToolCall:
    rationale = cues.wording.rationale.format(quote=quoted_value.quote)
    return ToolCall(tool, {argument: value, "rationale": rationale, "evidenceIds": [quoted_value.note]})


# -- language ------------------------------------------------------------------------------


def _language_call(context: RunContext) -> list[ToolCall]:
    """Return a call that sets a missing language, if the new notes are clearly in one.

    Nothing is set if the other texts of the task are clearly in another language.
    """
    language = (
        None
        if context.task.language
        else certain_language(sample_text(note.text for note in context.new_entries))
    )
    if language is None or certain_language(_around(context)) not in (None, language):
        return []
    return [ToolCall("set_task_language", {"languageCode": language, "confidence": "high"})]
