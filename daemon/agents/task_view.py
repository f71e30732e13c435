"""The task as a model sees it: fields, checklist items with who ticked them, entries, labels, linked tasks.

Never shows what belongs to another task but the state of those that are linked with it.
"""

from collections.abc import Iterable
from datetime import tzinfo

from daemon.agents import judging, labelling, policy, room
from daemon.agents.effects import fingerprint_of
from daemon.agents.models.interface import (
    ChecklistItemView,
    LabelView,
    LinkedView,
    NoteView,
    TaskView,
)
from daemon.agents.moments import local_of
from daemon.agents.records import agent_id, load, report_of
from daemon.agents.tools import ASSIGN_TASK_LABEL
from daemon.agents.wakes import Trigger
from daemon.journal import names, ties
from daemon.journal.provenance import author, written_ms
from daemon.journal.values import PRIORITY_DEFAULT
from store.entity import Entity
from store.snapshot import Snapshot
from store.verdicts import Status
from syncproto.ids import EntityId, text


def task_view(snapshot: Snapshot, task: Entity) -> TaskView:
    """Return a task with its items: of very many those that are not archived come first."""
    estimate, category = task.value("estimate_minutes"), names.category_of(task)
    filed = None if category is None else snapshot.entity(category)
    return TaskView(
        id=text(task.id),
        title=task.text("title"),
        status=task.text("status") or "OPEN",
        priority=task.text("priority") or PRIORITY_DEFAULT,
        estimate_minutes=estimate if isinstance(estimate, int) else None,
        due=task.text("due") or None,
        language=task.text("language") or None,
        items=_items(snapshot, task.id),
        status_reason=task.text("reason"),
        category=None if filed is None else filed.text("name") or None,
        labels=tuple(_label(one) for one in _labels_of(snapshot, task)),
    )


def _items(snapshot: Snapshot, task: EntityId) -> tuple[ChecklistItemView, ...]:
    lists = judging.children(snapshot, task, "task_checklist")
    views = [
        _item(one) for of_list in lists for one in judging.children(snapshot, of_list.id, "checklist_item")
    ]
    views.sort(key=lambda one: one.is_archived)
    return tuple(room.within(views, room.ITEMS, lambda one: room.tokens(one.title) + 30))


def _item(held: Entity) -> ChecklistItemView:
    ticked = held.version("is_checked")
    return ChecklistItemView(
        id=text(held.id),
        title=held.text("title"),
        is_checked=held.value("is_checked") is True,
        is_archived=held.value("is_archived") is True,
        checked_by=author(None if ticked is None else ticked.source) or "unknown",
        checked_at_ms=None if ticked is None else written_ms(ticked.source),
    )


# -- entries ------------------------------------------------------------------------------------------


def new_notes(snapshot: Snapshot, triggers: list[Trigger], zone: tzinfo | None) -> tuple[NoteView, ...]:
    """Return the entries whose text is new, oldest first; of very many, the newest."""
    named = {one.entity for one in triggers if one.kind == "entry" and "text" in one.fields}
    return _notes(snapshot, named, room.NOTES, zone)


def entries(snapshot: Snapshot, task: EntityId, zone: tzinfo | None) -> tuple[NoteView, ...]:
    """Return the entries of a task, oldest first; of very many, the newest."""
    newest = snapshot.newest_referring(task, "task_entry", room.ENTRIES.members)
    return _notes(snapshot, newest, room.ENTRIES, zone)


def _notes(
    snapshot: Snapshot, found: Iterable[EntityId], part: room.Part, zone: tzinfo | None
) -> tuple[NoteView, ...]:
    held = [entry for name in found if (entry := snapshot.entity(name)) is not None and entry.visible]
    notes = sorted((_note(entry, zone) for entry in held), key=lambda note: (note.written_at, note.id))
    return tuple(reversed(room.within(reversed(notes), part, lambda note: room.tokens(note.text) + 30)))


def _note(entry: Entity, zone: tzinfo | None) -> NoteView:
    created = entry.created
    stamp_ms = 0 if created is None else written_ms(created)
    happened = local_of(entry.text("happened_at"), stamp_ms, zone)
    return NoteView(text(entry.id), entry.text("text"), happened, author(created) or "unknown")


# -- labels -------------------------------------------------------------------------------------------


def labels_offered(snapshot: Snapshot, task: Entity) -> tuple[LabelView, ...]:
    """Return the labels that may be proposed: in sight, for this category, neither there nor denied."""
    if labelling.full(snapshot, task) is not None:
        return ()
    category = names.category_of(task)
    fitting = (one for one in snapshot.entities("label") if names.is_for(one, category))
    offered = [one for one in fitting if not _was_said(snapshot, task, one.id)]
    views = sorted((_label(one) for one in offered), key=lambda one: (one.name.casefold(), one.id))
    return tuple(room.within(views, room.LABELS, lambda one: room.tokens(one.name + one.description) + 15))


def _was_said(snapshot: Snapshot, task: Entity, label: EntityId) -> bool:
    """Say whether a task has a label, had it taken off, or was denied it: to propose it would be in vain."""
    if task.version(f"{names.SET}/{text(label)}") is not None:
        return True
    fingerprint = fingerprint_of(task.id, ASSIGN_TASK_LABEL, {"id": text(label)})
    return any(snapshot.standing(one).status is Status.REJECTED for one in snapshot.items_like(fingerprint))


def _labels_of(snapshot: Snapshot, task: Entity) -> list[Entity]:
    held = (snapshot.entity(one) for one in names.members(task, names.SET))
    return [one for one in held if one is not None and one.visible]


def _label(held: Entity) -> LabelView:
    return LabelView(text(held.id), held.text("name"), room.shortened(held.text("description"), 300))


# -- linked tasks -------------------------------------------------------------------------------------


def linked(snapshot: Snapshot, task: EntityId, agent: Entity | None) -> tuple[LinkedView, ...]:
    """Return the tasks in sight that are linked with one, each with what its agent's report says in short.

    Those of a category that the agent may not work on are none of its business.
    """
    found = [
        (said, direction)
        for direction in (ties.OUT, ties.IN)
        for _, said in ties.links_at(snapshot, task, direction)
    ]
    views = (_linked(snapshot, task, agent, said, direction) for said, direction in dict.fromkeys(found))
    shown = (one for one in views if one is not None)
    return tuple(room.within(shown, room.LINKED, lambda one: room.tokens(one.title + one.tldr) + 20))


def _linked(
    snapshot: Snapshot, task: EntityId, agent: Entity | None, said: ties.Tie, direction: str
) -> LinkedView | None:
    other = snapshot.entity(said.ends if said.begins == task else said.begins)
    if other is None or not other.visible or other.id == task:
        return None
    if policy.category_refusal(snapshot, agent, other) is not None:
        return None
    others = load(snapshot, agent_id(other.id))
    report = None if others is None else report_of(snapshot, others)
    tldr = str((report or {}).get("tldr", ""))
    title, status = other.text("title"), other.text("status") or "OPEN"
    return LinkedView(said.type, direction, title, status, room.shortened(tldr, 400))
