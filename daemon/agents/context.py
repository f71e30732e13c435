"""The context of a run, read from one snapshot: the task, what is new, the report, recent decisions.

Never asks a model, and never lets a part grow without bound.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from daemon.agents import judging
from daemon.agents.models.interface import (
    ChecklistItemView,
    DecisionView,
    NoteView,
    RunContext,
    TaskView,
)
from daemon.agents.proposals import Seen
from daemon.agents.records import Agent, report_of
from daemon.agents.seeing import seen_of
from daemon.agents.wakes import Trigger
from daemon.journal.provenance import author, written_ms
from daemon.journal.values import PRIORITY_DEFAULT
from store.entity import Entity
from store.item import Item
from store.snapshot import Snapshot
from store.verdicts import Verdict
from syncproto.commit import By
from syncproto.heads import Clock
from syncproto.ids import EntityId, text

NOTES_MAX = 200
DECISIONS_MAX = 20
ITEMS_MAX = 500
MS_MAX = 7_258_118_400_000  # the year 2200: reckoning from a day at the end of the calendar would leave it


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a run begins with: the context for the model, and what its proposals and watermark rest on."""

    agent: Agent
    run_key: str
    reason: str
    context: RunContext
    seen: Seen
    vector: Clock


def gather(
    snapshot: Snapshot,
    agent: Agent,
    triggers: list[Trigger],
    *,
    run_key: str,
    reason: str,
    now_ms: int,
    zone: tzinfo | None,
) -> Gathered:
    """Read all that a run needs. `zone` is where "tomorrow" is reckoned; None is the device's own."""
    context = RunContext(
        run_key=run_key,
        now=local(now_ms, zone),
        report=report_of(snapshot, agent),
        task=_task(snapshot, agent.task),
        notes=_new_notes(snapshot, triggers, zone),
        decisions=_decisions(snapshot, agent.task),
    )
    return Gathered(agent, run_key, reason, context, seen_of(snapshot, agent.task), snapshot.vector())


def local(ms: int, zone: tzinfo | None) -> datetime:
    """Return a moment on the calendar of a place; one that no calendar has is moved to the nearest bound."""
    return datetime.fromtimestamp(min(max(ms, 0), MS_MAX) / 1000, UTC).astimezone(zone)


def _task(snapshot: Snapshot, task: EntityId) -> TaskView:
    held = snapshot.entity(task)
    assert held is not None
    estimate = held.value("estimate_minutes")
    items = judging.items_of(snapshot, task)[:ITEMS_MAX]
    return TaskView(
        id=text(task),
        title=held.text("title"),
        status=held.text("status") or "OPEN",
        priority=held.text("priority") or PRIORITY_DEFAULT,
        estimate_minutes=estimate if isinstance(estimate, int) else None,
        due=held.text("due") or None,
        language=held.text("language") or None,
        items=tuple(_item(one) for one in items),
    )


def _item(held: Entity) -> ChecklistItemView:
    ticked = held.version("is_checked")
    return ChecklistItemView(
        id=text(held.id),
        title=held.text("title"),
        is_checked=held.value("is_checked") is True,
        is_archived=False,
        checked_by=author(None if ticked is None else ticked.source) or "unknown",
        checked_at_ms=None if ticked is None else written_ms(ticked.source),
    )


def _new_notes(snapshot: Snapshot, triggers: list[Trigger], zone: tzinfo | None) -> tuple[NoteView, ...]:
    """Return the entries whose text is new, oldest first; of very many, the newest."""
    names = {one.entity for one in triggers if one.kind == "entry" and "text" in one.fields}
    held = [entry for name in names if (entry := snapshot.entity(name)) is not None and entry.visible]
    notes = sorted((_note(entry, zone) for entry in held), key=lambda note: (note.written_at, note.id))
    return tuple(notes[-NOTES_MAX:])


def _note(entry: Entity, zone: tzinfo | None) -> NoteView:
    created = entry.created
    by = author(created) or "unknown"
    stamp_ms = 0 if created is None else written_ms(created)
    return NoteView(text(entry.id), entry.text("text"), _happened(entry, stamp_ms, zone), by)


def _happened(entry: Entity, stamp_ms: int, zone: tzinfo | None) -> datetime:
    """Return when an entry happened; what cannot be read falls back on when it was written."""
    try:
        told = datetime.fromisoformat(entry.text("happened_at"))
        aware = told if told.tzinfo else told.replace(tzinfo=UTC)
        return local(int(aware.timestamp() * 1000), zone)
    except (ValueError, OverflowError):
        return local(stamp_ms, zone)


def _decisions(snapshot: Snapshot, task: EntityId) -> tuple[DecisionView, ...]:
    """Return the last decisions of people on the task's proposals, oldest first."""
    found = [
        (decision.stamp_ms, decision.n, item, decision.verdict, decision.reason)
        for item in snapshot.items(task)
        for decision in item.decisions
        if decision.by is By.USER
    ]
    found.sort(key=lambda one: one[:2])
    return tuple(_decision(item, verdict, reason) for *_, item, verdict, reason in found[-DECISIONS_MAX:])


def _decision(item: Item, verdict: Verdict, reason: str) -> DecisionView:
    return DecisionView(item.tool, item.args, verdict.value, reason)
