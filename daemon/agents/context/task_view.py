"""The task as a model sees it: fields, checklist items with who ticked them, entries, labels, linked tasks.

Never shows anything of another task but the state and report of linked ones.
"""

from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import tzinfo

from daemon.agents.context.local_time import parse_local
from daemon.agents.context.triggers import Trigger
from daemon.agents.proposing import label_rules
from daemon.agents.tools import budgets, policy
from daemon.agents.tools.agent_record import agent_id, current_report, load_agent
from daemon.agents.tools.checklists import ordered_children
from daemon.agents.tools.effects import fingerprint_of
from daemon.agents.tools.model_interface import (
    ChecklistItemView,
    EntryView,
    LabelView,
    LinkedTaskView,
    TaskView,
)
from daemon.agents.tools.table import ASSIGN_TASK_LABEL
from daemon.journal.fields.plain_values import PLAIN_FIELDS, plain_values
from daemon.journal.fields.provenance import author_name, written_ms
from daemon.journal.references import names
from daemon.journal.views import task_graph
from daemon.journal.views.presenter import minutes_spent
from store.fold.entity import Entity
from store.fold.verdicts import DecisionStatus
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_to_text

_TYPED = "note"
_SOURCE_CHARS_MAX = 40
_TIMES_MAX = 1000
_SEEN_NAMES = {field.name for field in fields(TaskView)}
_SEEN_FIELDS = tuple(field for field in PLAIN_FIELDS if field.name in _SEEN_NAMES)
_FURTHER_FIELDS = tuple(field for field in PLAIN_FIELDS if field.prompt)


def view_of_task(snapshot: Snapshot, task: Entity) -> TaskView:
    """Return a task with its items; if there are very many, those that are not archived come first."""
    further = plain_values(task.value, _FURTHER_FIELDS)
    return TaskView(
        id=id_to_text(task.id),
        **plain_values(task.value, _SEEN_FIELDS),
        further={field.prompt: further[field.name] for field in _FURTHER_FIELDS},
        items=_items(snapshot, task.id),
        status_reason=task.text("reason"),
        category=_category_name(snapshot, task),
        labels=tuple(_label_view(label) for label in _labels_of(snapshot, task)),
        time_spent_minutes=minutes_spent(_time_records(snapshot, task.id)),
    )


def _time_records(snapshot: Snapshot, task: EntityId) -> list[Entity]:
    """Return the visible time records of a task; if there are very many, the newest."""
    newest = snapshot.newest_ids_pointing_at(task, "task_time", _TIMES_MAX)
    records = (snapshot.entity(record) for record in newest)
    return [record for record in records if record is not None and record.visible]


def _category_name(snapshot: Snapshot, task: Entity) -> str | None:
    category = names.category_id_of(task)
    entity = None if category is None else snapshot.entity(category)
    return None if entity is None else names.shown_name(entity) or None


def _items(snapshot: Snapshot, task: EntityId) -> tuple[ChecklistItemView, ...]:
    lists = ordered_children(snapshot, task, "task_checklist")
    views = [
        _item_view(snapshot, entity)
        for of_list in lists
        for entity in ordered_children(snapshot, of_list.id, "checklist_item")
    ]
    views.sort(key=lambda entity: entity.is_archived)
    return tuple(
        budgets.within_budget(
            views, budgets.ITEMS, lambda entity: budgets.estimated_tokens(entity.title) + 30
        )
    )


def _item_view(snapshot: Snapshot, item: Entity) -> ChecklistItemView:
    ticked = item.version("is_checked")
    return ChecklistItemView(
        id=id_to_text(item.id),
        title=item.text("title"),
        is_checked=item.value("is_checked") is True,
        is_archived=item.value("is_archived") is True,
        checked_by=author_name(None if ticked is None else ticked.source) or "unknown",
        checked_at_ms=None if ticked is None else snapshot.shown_ms(written_ms(ticked.source)),
    )


# -- entries ------------------------------------------------------------------------------------------


def new_note_views(snapshot: Snapshot, triggers: list[Trigger], zone: tzinfo | None) -> tuple[EntryView, ...]:
    """Return the entries whose text is new, oldest first; if there are very many, the newest."""
    entries = {trigger.entity for trigger in triggers if trigger.kind == "entry" and "text" in trigger.fields}
    return _entry_views(snapshot, entries, budgets.NOTES, zone)


def all_note_views(snapshot: Snapshot, task: EntityId, zone: tzinfo | None) -> tuple[EntryView, ...]:
    """Return all entries of a task as if they were new, oldest first; if there are very many, the newest."""
    newest = snapshot.newest_ids_pointing_at(task, "task_entry", budgets.NOTES.members)
    return _entry_views(snapshot, newest, budgets.NOTES, zone)


def with_wishes(
    snapshot: Snapshot, notes: tuple[EntryView, ...], wishes: Iterable[Entity], zone: tzinfo | None
) -> tuple[EntryView, ...]:
    """Return notes and wishes together, oldest first."""
    views = (replace(_entry_view(snapshot, wish, zone), is_wish=True) for wish in wishes)
    return tuple(sorted((*notes, *views), key=lambda view: (view.written_at, view.id)))


def entry_views(snapshot: Snapshot, task: EntityId, zone: tzinfo | None) -> tuple[EntryView, ...]:
    """Return the entries of a task, oldest first; if there are very many, the newest."""
    newest = snapshot.newest_ids_pointing_at(task, "task_entry", budgets.ENTRIES.members)
    return _entry_views(snapshot, newest, budgets.ENTRIES, zone)


def _entry_views(
    snapshot: Snapshot, identifiers: Iterable[EntityId], part: budgets.PartBudget, zone: tzinfo | None
) -> tuple[EntryView, ...]:
    entries = [
        entry
        for identifier in identifiers
        if (entry := snapshot.entity(identifier)) is not None and entry.visible
    ]
    views = sorted(
        (_entry_view(snapshot, entry, zone) for entry in entries), key=lambda view: (view.written_at, view.id)
    )
    return tuple(
        reversed(
            budgets.within_budget(
                reversed(views), part, lambda view: budgets.estimated_tokens(view.text) + 30
            )
        )
    )


def _entry_view(snapshot: Snapshot, entry: Entity, zone: tzinfo | None) -> EntryView:
    created = entry.created
    stamp_ms = 0 if created is None else snapshot.shown_ms(written_ms(created))
    happened = parse_local(entry.text("happened_at"), stamp_ms, zone)
    source = entry.text("source")
    return EntryView(
        id_to_text(entry.id),
        entry.text("text"),
        happened,
        author_name(created) or "unknown",
        "" if source == _TYPED else budgets.truncate(source, _SOURCE_CHARS_MAX),
    )


# -- labels -------------------------------------------------------------------------------------------


def offered_label_views(snapshot: Snapshot, task: Entity) -> tuple[LabelView, ...]:
    """Return the labels that may be proposed: visible, of this category, neither assigned nor denied."""
    # A proposal of any label would be refused, so the model is not shown any.
    if label_rules.full_labels_reason(snapshot, task) is not None:
        return ()
    category = names.category_id_of(task)
    fitting = (label for label in snapshot.entities("label") if names.label_allows_category(label, category))
    offered = [label for label in fitting if not _is_pointless_to_propose(snapshot, task, label.id)]
    views = sorted(
        (_label_view(label) for label in offered), key=lambda label: (label.name.casefold(), label.id)
    )
    return tuple(
        budgets.within_budget(
            views, budgets.LABELS, lambda view: budgets.estimated_tokens(view.name + view.description) + 15
        )
    )


def _is_pointless_to_propose(snapshot: Snapshot, task: Entity, label: EntityId) -> bool:
    """Report whether a task has a label, had it and lost it, or was denied it."""
    if task.version(f"{names.TASK_LABELS}/{id_to_text(label)}") is not None:
        return True
    fingerprint = fingerprint_of(task.id, ASSIGN_TASK_LABEL, {"id": id_to_text(label)})
    return any(
        snapshot.item_status(item).status is DecisionStatus.REJECTED
        for item in snapshot.items_with_fingerprint(fingerprint)
    )


def _labels_of(snapshot: Snapshot, task: Entity) -> list[Entity]:
    labels = (snapshot.entity(label) for label in names.member_ids(task, names.TASK_LABELS))
    return [label for label in labels if label is not None and label.visible]


def _label_view(label: Entity) -> LabelView:
    return LabelView(
        id_to_text(label.id), names.shown_name(label), budgets.truncate(label.text("description"), 300)
    )


# -- linked tasks -------------------------------------------------------------------------------------


def linked_task_views(snapshot: Snapshot, task: EntityId, agent: Entity | None) -> tuple[LinkedTaskView, ...]:
    """Return the visible tasks that are linked with one, each with the summary of its agent's report.

    Tasks of a category that the agent may not work on are left out.
    """
    links = [
        (link, direction)
        for direction in (task_graph.OUTGOING, task_graph.INCOMING)
        for _, link in task_graph.links_at(snapshot, task, direction)
    ]
    views = (_linked_view(snapshot, task, agent, link, direction) for link, direction in dict.fromkeys(links))
    visible = (view for view in views if view is not None)
    return tuple(
        budgets.within_budget(
            visible, budgets.LINKED, lambda view: budgets.estimated_tokens(view.title + view.tldr) + 20
        )
    )


def _linked_view(
    snapshot: Snapshot, task: EntityId, agent: Entity | None, link: task_graph.LinkKey, direction: str
) -> LinkedTaskView | None:
    other = snapshot.entity(link.ends if link.begins == task else link.begins)
    if other is None or not other.visible or other.id == task:
        return None
    if policy.category_refusal(snapshot, agent, other) is not None:
        return None
    others = load_agent(snapshot, agent_id(other.id))
    report = None if others is None else current_report(snapshot, others)
    tldr = str((report or {}).get("tldr", ""))
    title, status = other.text("title"), other.text("status") or "OPEN"
    category = _category_name(snapshot, other)
    return LinkedTaskView(link.type, direction, title, status, budgets.truncate(tldr, 400), category)
