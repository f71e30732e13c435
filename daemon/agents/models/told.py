"""The context as the JSON that a remote model reads, in the order of DOMAIN.md §6, shorter for small models.

Never lets a part of it push the newest entry out: what is old, or of use to few, goes first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from daemon.agents.models.interface import (
    AnswerFault,
    ChangeView,
    ChecklistItemView,
    LabelView,
    LinkedView,
    NoteView,
    RunContext,
    TaskView,
)
from daemon.agents.room import CUT, as_json, tokens

ITEMS_SHORT = 50
TEXT_CHARS_MIN = 400
Json = dict[str, Any]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Share:
    """How many members of each part are told, the newest of each; None is all."""

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
    _Share(entries=0, changes=0, others=0, decisions=5, items=ITEMS_SHORT),
    _Share(entries=0, changes=0, others=0, decisions=0, items=0),
)
"""What is told, ever less until it fits."""


def told_within(context: RunContext, room: int) -> Json:
    """Return what is told of the task, shorter step by step until it fits in so many tokens.

    Raises AnswerFault where even the task alone does not.
    """
    floor = tokens(" " * TEXT_CHARS_MIN) if context.notes else 0
    for share in _SHARES:
        told = _told(context, share)
        left = room - tokens(as_json(told))
        if left >= floor:
            notes = _notes(context.notes, left)
            return told | {"newEntries": notes, "entriesLeftOut": len(context.notes) - len(notes)}
    raise AnswerFault(
        f"the task is too long for the model: no more than {max(room, 0)} tokens are left for it"
    )


def _told(context: RunContext, share: _Share) -> Json:
    return {
        "now": context.now.isoformat(timespec="minutes"),
        "isFirstWake": context.first_wake,
        "report": context.report,
        "observations": [
            {"at": _day(one.at), "text": one.text} for one in _newest(context.observations, share.others)
        ],
        "task": _task(context.task, share.items)
        | {
            "labelsOffered": [_label(one) for one in _first(context.labels, share.others)],
            "linkedTasks": [_linked(one) for one in _first(context.linked, share.others)],
            "entries": [_note(one, one.text) for one in _newest(_older(context), share.entries)],
        },
        "changes": [_change(one) for one in _newest(context.changes, share.changes)],
        "changesLeftOut": context.changes_left_out
        + len(context.changes)
        - len(_newest(context.changes, share.changes)),
        "openProposals": [
            {"itemId": one.id, "call": one.line} for one in _newest(context.proposals, share.others)
        ],
        "decisions": [
            one.line or f"- {one.tool} — {one.verdict}" for one in _newest(context.decisions, share.decisions)
        ],
    }


def _first(members: Sequence[T], count: int | None) -> Sequence[T]:
    return members if count is None else members[:count]


def _newest(members: Sequence[T], count: int | None) -> Sequence[T]:
    return members if count is None else members[len(members) - min(count, len(members)) :]


def _older(context: RunContext) -> list[NoteView]:
    """Return the entries that are not among the new ones, which are told apart."""
    new = {one.id for one in context.notes}
    return [one for one in context.entries if one.id not in new]


# -- the parts ----------------------------------------------------------------------------------------


def _task(task: TaskView, items: int | None) -> Json:
    return {
        "title": task.title,
        "status": task.status,
        "statusReason": task.status_reason,
        "priority": task.priority,
        "estimateMinutes": task.estimate_minutes,
        "dueDate": task.due,
        "languageCode": task.language,
        "category": task.category,
        "labels": [_label(one) for one in task.labels],
        "checklist": [_item(one) for one in _first(task.items, items)],
    }


def _item(item: ChecklistItemView) -> Json:
    told = {"id": item.id, "title": item.title, "isChecked": item.is_checked}
    told |= {"checkedBy": item.checked_by, "checkedAt": _moment(item.checked_at_ms)}
    return told | ({"isArchived": True} if item.is_archived else {})


def _moment(ms: int | None) -> str | None:
    if ms is None or not 0 <= ms < 1 << 47:
        return None
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _day(moment: datetime) -> str:
    return moment.isoformat(timespec="minutes")


def _label(label: LabelView) -> Json:
    told = {"id": label.id, "name": label.name}
    return told | ({"description": label.description} if label.description else {})


def _linked(linked: LinkedView) -> Json:
    told = {
        "type": linked.type,
        "direction": linked.direction,
        "title": linked.title,
        "status": linked.status,
    }
    return told | ({"report": linked.tldr} if linked.tldr else {})


def _change(change: ChangeView) -> Json:
    return {
        "at": _day(change.at),
        "by": change.who,
        "device": change.device,
        "what": change.kind,
        "title": change.entity,
        "field": change.field,
        "before": change.before,
        "after": change.after,
    }


def _notes(notes: tuple[NoteView, ...], room: int) -> list[Json]:
    """Return the newest notes that fit, oldest first; the newest of all is cut rather than left out."""
    kept: list[Json] = []
    for note in reversed(notes):
        told = _note(note, note.text)
        if tokens(as_json(told)) > room:
            if not kept:
                kept.append(_note(note, _within(note.text, room)))
            break
        room -= tokens(as_json(told))
        kept.append(told)
    return kept[::-1]


def _note(note: NoteView, written: str) -> Json:
    return {"id": note.id, "writtenAt": _day(note.written_at), "by": note.by, "text": written}


def _within(written: str, room: int) -> str:
    """Cut a text to a third of the room, in bytes: JSON may write one as several."""
    return written.encode(errors="ignore")[:room].decode(errors="ignore") + CUT
