"""The context as the JSON that a remote model reads: the task and its report first, shorter for small models.

Never drops the newest entry for another part: what is old, or rarely of use, is dropped first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from daemon.agents.tools.budgets import CUT_MARK, as_json, estimated_tokens
from daemon.agents.tools.model_interface import (
    AnswerFault,
    ChangeView,
    ChecklistItemView,
    EntryView,
    LabelView,
    LinkedTaskView,
    RunContext,
    TaskView,
)
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

    Raises AnswerFault if even the task alone does not fit.
    """
    floor = estimated_tokens(" " * TEXT_CHARS_MIN) if context.new_entries else 0
    for share in _SHARES:
        fields = _prompt_fields(context, share)
        left = room - estimated_tokens(as_json(fields))
        if left >= floor:
            entries = _entries_that_fit(context.new_entries, left)
            left_out = len(context.new_entries) - len(entries)
            return fields | {"newEntries": entries, "entriesLeftOut": left_out}
    raise AnswerFault(
        sentence(
            "task-too-long-for-model",
            "the task is too long for the model: no more than {count} tokens are left for it",
            count=max(room, 0),
        )
    )


def _prompt_fields(context: RunContext, share: _Share) -> JsonObject:
    """Return all fields but the new entries, each part cut to its share."""
    return {
        "now": context.now.isoformat(timespec="minutes"),
        "isFirstWake": context.is_first_wake,
        "report": context.report,
        "observations": [
            {"at": _minute_text(observation_view.at), "text": observation_view.text}
            for observation_view in _newest(context.observations, share.others)
        ],
        "task": _task(context.task, share.items)
        | {
            "labelsOffered": [_label(label_view) for label_view in _first(context.labels, share.others)],
            "linkedTasks": [
                _linked_task(linked_task_view)
                for linked_task_view in _first(context.linked_tasks, share.others)
            ],
            "entries": [
                _entry(entry_view, entry_view.text) for entry_view in _newest(_older(context), share.entries)
            ],
        },
        "changes": [_change(change_view) for change_view in _newest(context.changes, share.changes)],
        "changesLeftOut": context.changes_left_out
        + len(context.changes)
        - len(_newest(context.changes, share.changes)),
        "openProposals": [
            {"itemId": proposal_view.id, "call": proposal_view.prompt_line}
            for proposal_view in _newest(context.proposals, share.others)
        ],
        "decisions": [
            decision_view.prompt_line or f"- {decision_view.tool} — {decision_view.verdict}"
            for decision_view in _newest(context.decisions, share.decisions)
        ],
    }


def _first(members: Sequence[T], count: int | None) -> Sequence[T]:
    return members if count is None else members[:count]


def _newest(members: Sequence[T], count: int | None) -> Sequence[T]:
    return members if count is None else members[len(members) - min(count, len(members)) :]


def _older(context: RunContext) -> list[EntryView]:
    """Return the entries that are not among the new ones, which have a part of their own."""
    new = {new_entry.id for new_entry in context.new_entries}
    return [entry for entry in context.entries if entry.id not in new]


# -- the parts ----------------------------------------------------------------------------------------


def _task(task: TaskView, items: int | None) -> JsonObject:
    return {
        "title": task.title,
        "status": task.status,
        "statusReason": task.status_reason,
        "priority": task.priority,
        "estimateMinutes": task.estimate_minutes,
        "dueDate": task.due,
        "languageCode": task.language,
        "category": task.category,
        "labels": [_label(label) for label in task.labels],
        "checklist": [_item(checklist_item_view) for checklist_item_view in _first(task.items, items)],
    }


def _item(item: ChecklistItemView) -> JsonObject:
    fields = {"id": item.id, "title": item.title, "isChecked": item.is_checked}
    fields |= {"checkedBy": item.checked_by, "checkedAt": _moment(item.checked_at_ms)}
    return fields | ({"isArchived": True} if item.is_archived else {})


def _moment(ms: int | None) -> str | None:
    if ms is None or not 0 <= ms < 1 << 47:
        return None
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _minute_text(moment: datetime) -> str:
    return moment.isoformat(timespec="minutes")


def _label(label: LabelView) -> JsonObject:
    label_json = {"id": label.id, "name": label.name}
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


def _entries_that_fit(entries: tuple[EntryView, ...], room: int) -> list[JsonObject]:
    """Return the newest entries that fit, oldest first; the newest of all is cut rather than left out."""
    json_objects: list[JsonObject] = []
    for entry in reversed(entries):
        fields = _entry(entry, entry.text)
        if estimated_tokens(as_json(fields)) > room:
            if not json_objects:
                json_objects.append(_entry(entry, _cut_to(entry.text, room)))
            break
        room -= estimated_tokens(as_json(fields))
        json_objects.append(fields)
    return json_objects[::-1]


def _entry(entry: EntryView, text: str) -> JsonObject:
    return {"id": entry.id, "writtenAt": _minute_text(entry.written_at), "by": entry.by, "text": text}


def _cut_to(text: str, room: int) -> str:
    """Cut a text to `room` bytes: a third of so many tokens, since JSON may write one byte as several."""
    return text.encode(errors="ignore")[:room].decode(errors="ignore") + CUT_MARK
