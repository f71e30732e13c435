"""The context as the JSON that a remote model reads: the task and its report first, shorter for small models.

Never drops the newest entry for another part: what is old, or rarely of use, is dropped first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, TypeVar

from daemon.agents.models.openai.system_message import weekday_text
from daemon.agents.tools.budgets import CUT_MARK, as_json, estimated_tokens
from daemon.agents.tools.model_interface import (
    AnswerFault,
    ChangeView,
    ChecklistItemView,
    EntryView,
    LabelView,
    LinkedTaskView,
    RunContext,
)
from daemon.agents.tools.short_ids import ITEM, LABEL, NOTE, PROPOSAL, ShortIds, short_ids_of
from daemon.dates.mentions import days_mentioned
from daemon.language import LANGUAGES
from store.sentence import sentence

SHORT_ITEMS_MAX = 50
TEXT_CHARS_MIN = 400
JsonObject = dict[str, Any]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Share:
    """How many members of each part are included; None means all.

    Of entries, changes, observations, proposals and decisions the newest are included; of labels, linked
    tasks and checklist items the first. `others` counts for labels, linked tasks, observations and proposals.
    """

    entries: int | None = None
    changes: int | None = None
    others: int | None = None
    decisions: int | None = None
    items: int | None = None


_SHARES = (
    _Share(),
    _Share(entries=20),
    _Share(entries=5, changes=20, others=10),
    _Share(entries=0, changes=10, others=5),
    _Share(entries=0, changes=0, others=0, decisions=5, items=SHORT_ITEMS_MAX),
    _Share(entries=0, changes=0, others=0, decisions=0, items=0),
)
"""The shares that are tried in turn, each smaller than the one before, until one fits."""


def prompt_json_within(context: RunContext, room: int) -> JsonObject:
    """Return the task's JSON, made shorter step by step until it fits in so many tokens.

    What there is nothing of is left out. Raises AnswerFault if even the task alone does not fit.
    """
    short_ids = short_ids_of(context)
    floor = estimated_tokens(" " * TEXT_CHARS_MIN) if context.new_entries else 0
    for share in _SHARES:
        fields = _prompt_fields(context, share, short_ids)
        left = room - estimated_tokens(as_json(fields))
        if left >= floor:
            notes = _notes_that_fit(context.new_entries, left, short_ids)
            left_out = len(context.new_entries) - len(notes)
            return fields | ({"notesLeftOut": left_out} if left_out else {}) | {"newNotes": notes}
    raise AnswerFault(
        sentence(
            "task-too-long-for-model",
            "the task is too long for the model: no more than {count} tokens are left for it",
            count=max(room, 0),
        )
    )


def _prompt_fields(context: RunContext, share: _Share, short_ids: ShortIds) -> JsonObject:
    """Return all fields but the new notes, each part cut to its share."""
    changes_left_out = (
        context.changes_left_out + len(context.changes) - len(_newest(context.changes, share.changes))
    )
    observations = _newest(context.observations, share.others)
    optional: JsonObject = {
        "you": _without_empty({"name": context.agent_name, "description": context.agent_description}),
        "preferences": list(context.preferences),
        "report": context.report and _without_empty(context.report),
        "observations": [
            {"at": _minute_text(observation_view.at), "text": observation_view.text}
            for observation_view in observations
        ],
        "observationsLeftOut": (
            context.observations_left_out + len(context.observations) - len(observations)
        ),
        "olderObservations": None if share.others == 0 else _observations_summary(context),
        "linkedTasks": [
            _linked_task(linked_task_view) for linked_task_view in _first(context.linked_tasks, share.others)
        ],
        "labelsOffered": [
            _label(label_view, short_ids) for label_view in _first(context.labels, share.others)
        ],
        "openProposals": [
            {"id": short_ids.short_id(PROPOSAL, proposal_view.id), "call": proposal_view.prompt_line}
            for proposal_view in _newest(context.proposals, share.others)
        ],
        "decisions": [
            decision_view.prompt_line or f"- {decision_view.tool} — {decision_view.verdict}"
            for decision_view in _newest(context.decisions, share.decisions)
        ],
        "changes": [_change(change_view) for change_view in _newest(context.changes, share.changes)],
        "changesLeftOut": changes_left_out,
        "olderNotes": [
            _note(entry_view, entry_view.text, short_ids)
            for entry_view in _newest(_older(context), share.entries)
        ],
    }
    return {"task": _task(context, share.items, short_ids), **_without_empty(optional)}


def _observations_summary(context: RunContext) -> JsonObject | None:
    """Return the days and the frequent words of the observations that are not told any more."""
    summary = context.observations_summary
    if summary is None:
        return None
    return {
        "count": context.observations_left_out,
        "firstDay": summary.first_day.isoformat(),
        "lastDay": summary.last_day.isoformat(),
        "frequentWords": dict(summary.words),
    }


def _without_empty(fields: JsonObject) -> JsonObject:
    return {name: value for name, value in fields.items() if value not in (None, "", [], {}, 0)}


def _first(members: Sequence[T], count: int | None) -> Sequence[T]:
    return members if count is None else members[:count]


def _newest(members: Sequence[T], count: int | None) -> Sequence[T]:
    return members if count is None else members[len(members) - min(count, len(members)) :]


def _older(context: RunContext) -> list[EntryView]:
    """Return the entries that are not among the new ones, which have a part of their own."""
    new = {new_entry.id for new_entry in context.new_entries}
    return [entry for entry in context.entries if entry.id not in new]


# -- the parts ----------------------------------------------------------------------------------------


def _task(context: RunContext, items: int | None, short_ids: ShortIds) -> JsonObject:
    """Return the task's own fields; those that a call can set are there even if they are empty."""
    task = context.task
    fields: JsonObject = {
        "title": task.title,
        "status": task.status,
        "priority": task.priority,
        "estimateMinutes": task.estimate_minutes,
        "dueDate": task.due,
        **task.further,
    }
    optional: JsonObject = {
        "statusReason": task.status_reason,
        "timeSpentMinutes": task.time_spent_minutes,
        "category": task.category,
        "labels": [{"id": short_ids.short_id(LABEL, label.id), "name": label.name} for label in task.labels],
    }
    checklist = [_item(item, context.now.tzinfo, short_ids) for item in _first(task.items, items)]
    return fields | _without_empty(optional) | {"checklist": checklist}


def _item(item: ChecklistItemView, zone: tzinfo | None, short_ids: ShortIds) -> JsonObject:
    fields = {
        "id": short_ids.short_id(ITEM, item.id),
        "title": item.title,
        "isChecked": item.is_checked,
        "checkedBy": item.checked_by,
    }
    checked_at = _moment(item.checked_at_ms, zone)
    fields |= {"checkedAt": checked_at} if checked_at else {}
    return fields | ({"isArchived": True} if item.is_archived else {})


def _moment(ms: int | None, zone: tzinfo | None) -> str:
    if ms is None or not 0 <= ms < 1 << 47:
        return ""
    return _minute_text(datetime.fromtimestamp(ms / 1000, UTC).astimezone(zone))


def _minute_text(moment: datetime) -> str:
    """Return a time as the notes and the ticks have it: weekday, day and minute, in one and the same zone."""
    return f"{weekday_text(moment)} {moment:%Y-%m-%d %H:%M}"


def _label(label: LabelView, short_ids: ShortIds) -> JsonObject:
    label_json = {"id": short_ids.short_id(LABEL, label.id), "name": label.name}
    return label_json | ({"description": label.description} if label.description else {})


def _linked_task(linked: LinkedTaskView) -> JsonObject:
    link_json = {
        "type": linked.type,
        "direction": linked.direction,
        "title": linked.title,
        "status": linked.status,
    }
    return link_json | ({"report": linked.tldr} if linked.tldr else {})


def _change(change: ChangeView) -> JsonObject:
    return {
        "at": _minute_text(change.at),
        "by": change.who,
        "device": change.device,
        "what": change.kind,
        "title": change.entity_title,
        "field": change.field,
        "before": change.before,
        "after": change.after,
    }


def _notes_that_fit(entries: tuple[EntryView, ...], room: int, short_ids: ShortIds) -> list[JsonObject]:
    """Return the newest notes that fit, oldest first; the newest of all is cut rather than left out."""
    json_objects: list[JsonObject] = []
    for entry in reversed(entries):
        fields = _note(entry, entry.text, short_ids)
        if estimated_tokens(as_json(fields)) > room:
            if not json_objects:
                json_objects.append(_note(entry, _cut_to(entry.text, room), short_ids))
            break
        room -= estimated_tokens(as_json(fields))
        json_objects.append(fields)
    return json_objects[::-1]


def _note(entry: EntryView, text: str, short_ids: ShortIds) -> JsonObject:
    return {
        "id": short_ids.short_id(NOTE, entry.id),
        "writtenAt": _minute_text(entry.written_at),
        "by": entry.by,
        **({"source": entry.source} if entry.source else {}),
        "text": text,
        **(_wish_fields(entry, text) if entry.is_wish else {}),
    }


def _wish_fields(entry: EntryView, text: str) -> JsonObject:
    """Mark words that the person put to the agent, with the days that they mean, read by the grammar.

    The days count from when the words were written, which may be days before the run.
    """
    days = days_mentioned(text, entry.written_at.date(), LANGUAGES)
    meant = {words: f"{weekday_text(day)} {day.isoformat()}" for words, day in days.items()}
    return {"isRequest": True, **({"days": meant} if meant else {})}


def _cut_to(text: str, room: int) -> str:
    """Cut a text to `room` bytes: a third of so many tokens, since JSON may write one byte as several."""
    return text.encode(errors="ignore")[:room].decode(errors="ignore") + CUT_MARK
