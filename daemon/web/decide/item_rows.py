"""What a review card shows of each proposal: its words, its values, its marks, and what may be done with it.

Never shows an agent's words as its own.
"""

from dataclasses import dataclass, replace
from typing import Any, Final, cast

import msgspec

from daemon.agents.deciding.waiting_items import PendingItem
from daemon.agents.person.inbox import InboxCard
from daemon.agents.tools.presence import ANY
from daemon.words.dates import relative_future_time, relative_time
from daemon.words.proposals import (
    agrees_with_notes,
    item_marks,
    note_words,
    quoted_note,
    rationale_words,
    side_values,
    summary_words,
    value_changes,
)
from daemon.words.translation import _, gettext_noop
from daemon.words.values import field_words, value_words

KINDS: Final = {
    "questions": gettext_noop("Questions"),
    "status": gettext_noop("Status"),
    "checklist": gettext_noop("Checklist items"),
    "dates": gettext_noop("Estimates and dates"),
    "labels": gettext_noop("Labels"),
    "task": gettext_noop("The task itself"),
    "new_tasks": gettext_noop("New tasks"),
}
"""The sub-headings of a card, in their order."""
_KIND_OF_TOOL: Final = {
    "answer_question": "questions",
    "set_task_status": "status",
    "add_checklist_item": "checklist",
    "update_checklist_item": "checklist",
    "add_task": "new_tasks",
    "update_task_estimate": "dates",
    "clear_task_estimate": "dates",
    "update_task_due_date": "dates",
    "clear_task_due_date": "dates",
    "assign_task_label": "labels",
    "remove_task_label": "labels",
}


@dataclass(frozen=True, slots=True)
class ValueRow:
    """One value before and after, in words; `before` is "" if there was none to replace."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class SideRow:
    """One value of a stale proposal: when it was proposed, now, and as it is proposed."""

    name: str
    base: str
    current: str
    proposed: str


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One line of a card. `shown` is "ID:HASH" of exactly what is on the screen.

    `note` is what the notes say of it, `quote` the sentence that does, and `note_address` where it stands, ""
    if it is no note of the task. `sure`: *Confirm all* includes it, since nothing about it needs a look of
    its own. `stale`: the first confirmation is refused with what has changed, and can then be forced. Not
    `counts_here`: no verdict on this device counts, and none is offered.
    """

    id: str
    shown: str
    summary: str
    changes: list[ValueRow]
    marks: list[tuple[str, str]]
    rationale: str
    note: str
    note_agrees: bool
    quote: str
    note_address: str
    sides: list[SideRow]
    sure: bool
    stale: bool
    disputed: bool
    deferred: bool
    counts_here: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A question of an agent, and its answers, each of which can be chosen if that counts on this device."""

    id: str
    text: str
    shown: str
    counts_here: bool
    answers: list[ItemRow]


@dataclass(frozen=True, slots=True)
class Batch:
    """The proposals of one kind on a card, and what is said of all of them alike.

    `rationale` is what the agent says; `noted` is one of them if the same note says each, else None.
    """

    kind: str
    title: str
    count: int
    rows: list[ItemRow]
    questions: list[Question]
    rationale: str
    noted: ItemRow | None


@dataclass(frozen=True, slots=True)
class Card:
    """A review card: what one agent suggests on one task. `agent` is "" if nobody has named it.

    `address` is that of the task, or of an agent that proposes a new task beside no other. `elsewhere` says
    where to decide on what no verdict on this device counts on; "" if each does.
    """

    id: str
    task_id: str
    address: str
    title: str
    agent: str
    labels: list[str]
    count: int
    batches: list[Batch]
    proposed: str
    expires: str
    sure: list[ItemRow]
    elsewhere: str


def kind_of(item: PendingItem) -> str:
    """Return under which sub-heading a proposal stands."""
    return "questions" if item.question is not None else _KIND_OF_TOOL.get(item.tool, "task")


def card_of(card: InboxCard, now_s: float) -> Card:
    """Return what a card shows."""
    by_kind: dict[str, list[PendingItem]] = {}
    for item in card.items:
        by_kind.setdefault(kind_of(item), []).append(item)
    batches = [_batch(kind, by_kind[kind], now_s) for kind in KINDS if kind in by_kind]
    oldest = min((item.created_at for item in card.items), default="")
    soonest = min((item.expires_at for item in card.items if item.expires_at is not None), default=None)
    return Card(
        id=f"card-{card.task_id}-{card.agent_id[:8]}",
        task_id=card.task_id,
        address=f"/external-agents/{card.task_id}"
        if card.task_id == card.agent_id
        else f"/tasks/{card.task_id}",
        title=card.task_title,
        agent=card.agent_name or "",
        labels=card.labels,
        count=card.count,
        batches=batches,
        proposed=relative_time(oldest, now_s),
        expires=relative_future_time(soonest, now_s) if soonest else "",
        sure=[row for batch in batches for row in batch.rows if row.sure],
        elsewhere=elsewhere_words(card.agent_name)
        if any(not item.counts_here for item in card.items)
        else "",
    )


def _batch(kind: str, items: list[PendingItem], now_s: float) -> Batch:
    by_question: dict[str, list[PendingItem]] = {}
    for item in items:
        if item.question is not None:
            by_question.setdefault(item.question.question_id, []).append(item)
    questions = [_question(answers, now_s) for answers in by_question.values()]
    rows = [item_row(item, now_s) for item in items if item.question is None]
    is_alike = len(rows) > 1 and not questions
    shared = rows[0].rationale if is_alike and len({row.rationale for row in rows}) == 1 else ""
    notes = {(row.note, row.note_agrees, row.quote, row.note_address) for row in rows}
    noted = rows[0] if is_alike and rows[0].note and len(notes) == 1 else None
    if shared:
        rows = [replace(row, rationale="") for row in rows]
    if noted:
        rows = [replace(row, note="", quote="", note_address="") for row in rows]
    return Batch(kind, _(KINDS[kind]), len(rows) + len(questions), rows, questions, shared, noted)


def _question(answers: list[PendingItem], now_s: float) -> Question:
    first = answers[0]
    assert first.question is not None
    return Question(
        id=first.question.question_id,
        text=first.question.text,
        shown=shown_text(first),
        counts_here=first.counts_here,
        answers=[item_row(answer, now_s) for answer in answers],
    )


def item_row(item: PendingItem, now_s: float) -> ItemRow:
    """Return what one line shows."""
    json = cast(Any, msgspec.to_builtins(item))
    deferred = item.status == "deferred"
    return ItemRow(
        id=item.item_id,
        shown=shown_text(item),
        summary=summary_words(json),
        changes=_value_rows(json),
        marks=[*([(_("takes something away"), "red")] if _takes_away(item) else []), *item_marks(json)],
        rationale=rationale_words(json),
        note=note_words(json, now_s),
        note_agrees=agrees_with_notes(json),
        quote=quoted_note(json),
        note_address=_note_address(item),
        sides=_side_rows(json) if item.stale or item.disputed else [],
        sure=item.presence == ANY
        and not (item.stale or item.disputed or deferred or item.question is not None),
        stale=item.stale and not item.disputed,
        disputed=item.disputed,
        deferred=deferred,
        counts_here=item.counts_here,
    )


def _note_address(item: PendingItem) -> str:
    note = "" if item.notes is None else item.notes.entry_id or ""
    return f"/tasks/{item.task_id}?note={note}#n-{note}" if note else ""


def elsewhere_words(agent: str | None) -> str:
    """Say where to decide on what an agent proposes or asks if no verdict on this device counts."""
    return _("Decide on another device: {agent} works on this one, so a verdict here does not count.").format(
        agent=agent or _("an agent")
    )


def _takes_away(item: PendingItem) -> bool:
    """Report whether confirming makes something disappear: a value, a label, or a step of a checklist."""
    return item.tool.startswith(("clear_", "remove_")) or item.args.get("isArchived") is True


def shown_text(item: PendingItem) -> str:
    """Return "ID:HASH" of what is on the screen, as buttons send it."""
    return f"{item.item_id}:{item.args_hash}"


def _value_rows(json: Any) -> list[ValueRow]:
    return [
        ValueRow(
            field_words(change.field),
            value_words(change.before, change.field),
            value_words(change.after, change.field),
        )
        for change in value_changes(json)
        # The summary says what is new; a line of its own is for what it replaces.
        if change.before not in (None, "")
    ]


def _side_rows(json: Any) -> list[SideRow]:
    base, current, proposed = (side_values(json, key) for key in ("base", "current", "proposed"))
    return [
        SideRow(
            field_words(field),
            value_words(base.get(field), field),
            value_words(current.get(field), field),
            value_words(value, field),
        )
        for field, value in proposed.items()
    ]
