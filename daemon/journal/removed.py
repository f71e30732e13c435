"""What was removed, the newest first, and how any of it is brought back.

Never deletes anything: what was removed is kept, and this only lists it.
"""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Final, NamedTuple

from msgspec import Struct

from daemon.journal import (
    categories,
    checklist_items,
    checklists,
    entries,
    labels,
    links,
    preferences,
    series,
    tasks,
    time_records,
)
from daemon.journal.change_log import present_changes, titles_of
from daemon.journal.conflicts import ancestors
from daemon.journal.references import entities
from daemon.journal.references.names import shown_name
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.queries.field_changes import FieldChange
from store.queries.removed_entities import removed_entities
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import id_to_text

PAGE_MAX: Final = 500

_UseCase = Callable[[Transaction, str], object]


class _Ways(NamedTuple):
    """How a kind of thing is taken out of sight, and brought back."""

    remove: _UseCase
    restore: _UseCase


_WAYS: Final[Mapping[str, _Ways]] = {
    "task": _Ways(tasks.remove, tasks.restore),
    "checklist": _Ways(checklists.remove, checklists.restore),
    "checklist_item": _Ways(checklist_items.remove_item, checklist_items.restore_item),
    "entry": _Ways(entries.remove, entries.restore),
    "time_record": _Ways(time_records.remove, time_records.restore),
    "link": _Ways(links.remove, links.restore),
    "label": _Ways(labels.remove, labels.restore),
    "category": _Ways(categories.remove, categories.restore),
    "preference": _Ways(preferences.remove, preferences.restore),
    "series": _Ways(series.remove, series.restore),
}


class RemovedThing(Struct, frozen=True, kw_only=True):
    """A thing that was removed: when, by whom, and on which device.

    `task_id` and `task_title` are those of the task that it belongs to. With `above_removed`, something that
    it belongs to was removed too, and has to be brought back first. `change` is the name of the removal.
    """

    id: str
    kind: str
    title: str
    at: str
    by: str
    device: str
    device_name: str
    change: str
    task_id: str | None = None
    task_title: str = ""
    above_removed: bool = False


class BroughtBack(Struct, frozen=True, kw_only=True):
    """A thing that is in sight again."""

    id: str
    kind: str
    title: str


def list_removed(snapshot: Snapshot, *, after: str | None, limit: int) -> list[RemovedThing]:
    """List a page of what was removed; `after` is the id of the last one of the page before."""
    last = None if after is None else entities.find_entity(snapshot, list(_WAYS), after, removed=True).id
    listed = [entity for _, entity in islice(removed_entities(snapshot, _WAYS, last), min(limit, PAGE_MAX))]
    return [_present(snapshot, entity) for entity in listed]


def bring_back(tx: Transaction, ref: str) -> BroughtBack:
    """Bring back what was removed, by its id; what is in sight stays as it is. Raises Refused."""
    entity = entities.find_entity(tx, list(_WAYS), ref, removed=True, noun="thing")
    (title,) = titles_of(tx, [entity.id])
    if not entity.visible:
        _WAYS[entity.kind].restore(tx, id_to_text(entity.id))
    return BroughtBack(id=id_to_text(entity.id), kind=entity.kind, title=title)


def remove_thing(tx: Transaction, ref: str) -> str:
    """Take anything out of sight, by its id, and return its title. Raises Refused."""
    entity = entities.find_entity(tx, list(_WAYS), ref, removed=True, noun="thing")
    _WAYS[entity.kind].remove(tx, id_to_text(entity.id))
    return shown_name(entity)


def _present(snapshot: Snapshot, entity: Entity) -> RemovedThing:
    above = ancestors(snapshot, entity)
    task = next((ancestor for ancestor in above if ancestor.kind == "task"), None)
    tombstone = entity.version(DELETED)
    assert tombstone is not None
    row = FieldChange(0, tombstone.source, entity.id, entity.kind, DELETED, None, True, None)
    (change,) = present_changes(snapshot, [row])
    return RemovedThing(
        id=change.entity,
        kind=change.kind,
        title=change.title,
        at=change.at,
        by=change.by,
        device=change.device,
        device_name=change.device_name,
        change=change.change,
        task_id=None if task is None else id_to_text(task.id),
        task_title="" if task is None else shown_name(task),
        above_removed=any(not ancestor.visible for ancestor in above),
    )
