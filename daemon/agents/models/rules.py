"""The embedded model: reads new notes by cue words, calls the same tools as any model, and keeps the report.

Never uses a network, a key, or anything but its context: the same context gives the same calls.
"""

import asyncio
from collections.abc import Iterable

from daemon.agents.models.checklist import Added, Ticked
from daemon.agents.models.cues import Cues
from daemon.agents.models.finished import sought
from daemon.agents.models.interface import NoteView, RunContext, TaskView, ToolCall, Turn
from daemon.agents.models.label_names import Named
from daemon.agents.models.languages import TABLES, joined, plainly, table_for, tables_for
from daemon.agents.models.reading import Findings, Known, Said, read_note
from daemon.agents.models.reporting import report
from daemon.agents.models.states import IN_PROGRESS, next_status

LABELS_MAX = 3
CHARS_MAX = 256 * 1024  # of all new notes together: what a run reads stays a matter of seconds
AT_ONCE_CHARS_MAX = 8 * 1024  # more is read beside the event loop


class Rules:
    """The model that needs nothing."""

    __slots__ = ()

    name = "rules"

    async def turn(self, context: RunContext) -> Turn:
        """Propose what the new notes say and write the report; a second turn has nothing to add."""
        if context.exchanges:
            return Turn(())
        if sum(len(note.text) for note in context.notes) > AT_ONCE_CHARS_MAX:
            found = await asyncio.to_thread(proposed, context)
        else:
            found = proposed(context)
        calls = [*found, ToolCall("update_report", report(context, _own_table(context).wording))]
        return Turn(tuple(call for call in calls if not context.tools or call.name in context.tools))


def proposed(context: RunContext) -> list[ToolCall]:
    """Return the calls for what the new notes say, oldest note first: the last word on a field counts."""
    task, around = context.task, _around(context)
    latest, items, ticks = Findings(), Added(task.items), Ticked()
    labels: dict[str, tuple[Named, Cues]] = {}
    cues = _own_table(context)
    for note in _bounded(context.notes):
        cues, *others = tables_for(note.text, task.language, around)
        found = _read(context, note, cues)
        for other in others:
            found.add(_read(context, note, other))
        _carry(found, latest)
        for one in found.labels:
            labels.setdefault(one.label.id, (one, cues))
        for title, checked in found.items:
            there = items.add(title, checked)
            if there is not None and checked:
                ticks.add(there, title, note, cues)
        for item in task.items:
            if item.id in found.ticked:
                ticks.add(item, found.ticked[item.id], note, cues)
    calls = _field_calls(latest, task, cues) + ticks.calls() + items.calls(cues)
    return calls + _label_calls(labels.values()) + _language_call(context)


def _read(context: RunContext, note: NoteView, cues: Cues) -> Findings:
    """Read a note by one table, knowing the items and the labels that it may speak of."""
    task = context.task
    known = Known(sought(task.items, cues), [one for one in context.labels if one not in task.labels])
    return read_note(note.text, note.written_at, cues, known)


def _bounded(notes: Iterable[NoteView]) -> list[NoteView]:
    """Return the newest notes that a run reads, oldest first."""
    kept: list[NoteView] = []
    size = 0
    for note in reversed(tuple(notes)):
        size += len(note.text)
        if kept and size > CHARS_MAX:
            break
        kept.append(note)
    return kept[::-1]


def _around(context: RunContext) -> str:
    """Return the words by which to tell the language of a note that is too short to tell it."""
    older = (note.text for note in context.entries[-20:])
    return joined((context.task.title, *(item.title for item in context.task.items), *older))


def _own_table(context: RunContext) -> Cues:
    """Return the table of the task itself, in whose language the report is."""
    notes = joined(note.text for note in context.notes)
    return TABLES.get(context.task.language or "") or table_for(notes, None, _around(context))


def _carry(found: Findings, latest: Findings) -> None:
    """Let the later word on a field stand."""
    latest.due = found.due or latest.due
    latest.minutes = found.minutes or latest.minutes
    latest.priority = found.priority or latest.priority
    latest.title = found.title or latest.title
    latest.status = found.status or latest.status


# -- fields -------------------------------------------------------------------------------------------


def _field_calls(found: Findings, task: TaskView, cues: Cues) -> list[ToolCall]:
    """Make the calls that set fields; urgency never lowers a priority, a stated one may."""
    calls = []
    if found.title and found.title.value != task.title:
        calls.append(_call("set_task_title", "title", found.title.value, found.title, cues))
    if found.due and found.due.value != task.due:
        calls.append(_call("update_task_due_date", "dueDate", found.due.value, found.due, cues))
    if found.minutes and int(found.minutes.value) != task.estimate_minutes:
        calls.append(_call("update_task_estimate", "minutes", int(found.minutes.value), found.minutes, cues))
    if found.priority and _changes_priority(found.priority, task):
        calls.append(_call("update_task_priority", "priority", found.priority.value, found.priority, cues))
    return calls + _status_calls(found, task, cues)


def _changes_priority(found: Said, task: TaskView) -> bool:
    return found.value != task.priority and (found.is_exact or found.value < task.priority)


def _status_calls(found: Findings, task: TaskView, cues: Cues) -> list[ToolCall]:
    status = next_status(found.status.value, task.status) if found.status else None
    if status is None or found.status is None:
        return []
    call = _call("set_task_status", "status", status, found.status, cues)
    if status != IN_PROGRESS and isinstance(call.arguments, dict):
        call.arguments["reason"] = found.status.quote
    return [call]


def _call(tool: str, argument: str, value: str | int, said: Said, cues: Cues) -> ToolCall:
    return ToolCall(tool, {argument: value, "rationale": cues.wording.says.format(quote=said.quote)})


# -- labels and language ------------------------------------------------------------------------------


def _label_calls(found: Iterable[tuple[Named, Cues]]) -> list[ToolCall]:
    """Make the call that assigns labels, those first that a note marks as such."""
    best = sorted(found, key=lambda one: not one[0].is_marked)[:LABELS_MAX]
    if not best:
        return []
    labels = [{"id": one.label.id, "confidence": _confidence(one)} for one, _ in best]
    names = " ".join(cues.wording.names.format(name=one.label.name) for one, cues in best)
    return [ToolCall("assign_task_labels", {"labels": labels, "rationale": names})]


def _confidence(one: Named) -> str:
    return "high" if one.is_marked else "medium"


def _language_call(context: RunContext) -> list[ToolCall]:
    """Say the task's language where it has none, the new notes are plainly in one, and nothing in another."""
    language = None if context.task.language else plainly(joined(note.text for note in context.notes))
    if language is None or plainly(_around(context)) not in (None, language):
        return []
    return [ToolCall("set_task_language", {"languageCode": language, "confidence": "high"})]
