"""Which tasks, items and notes of a file this journal exported, by the ids that the export wrote beside them.

Never trusts an id: it counts only if an export of this journal would write it there, of the same kind and in
the same task. An id that is used twice counts the first time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar
from uuid import UUID

from daemon.formats.core.import_history import source_id_of
from daemon.formats.core.plan import Plan, PlannedEntry, PlannedItem, PlannedTask
from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.ids import EntityId

_PARENT_FIELDS: Final = {"checklist_item": "checklist_id", "entry": "task_id", "checklist": "task_id"}


def exported_tasks(snapshot: Snapshot, plan: Plan) -> dict[int, PlannedTask]:
    """Return the tasks of a plan that the journal exported, by their places in the plan.

    Each has `current`, and of its items and notes only those ids that count.
    """
    if plan.reread is None:
        return {}
    places: dict[EntityId, int] = {}
    for place, task in enumerate(plan.tasks):
        if task.exported_id is not None:
            places.setdefault(task.exported_id, place)
    known_places = {entity: place for entity, place in places.items() if _is_task(snapshot.entity(entity))}
    current = plan.reread(snapshot, known_places.keys()) if known_places else {}
    return {
        known_places[entity]: _without_stale_ids(snapshot, plan.tasks[known_places[entity]], now)
        for entity, now in current.items()
    }


def exported_keys(
    snapshot: Snapshot, format_: str, tasks: Iterable[PlannedTask]
) -> Iterator[tuple[PlannedTask, str]]:
    """Yield tasks with their keys in the journal: the same under which an export looks for their parts."""
    used: set[str] = set()
    for task in tasks:
        assert task.exported_id is not None
        entity = snapshot.entity(task.exported_id)
        source = None if entity is None else source_id_of(entity)
        is_of_format = source is not None and source[0] == format_ and source[1] not in used
        key = source[1] if source and is_of_format else str(UUID(bytes=task.exported_id))
        used.add(key)
        yield task, key


def _is_task(entity: Entity | None) -> bool:
    return entity is not None and entity.kind == "task" and entity.exists


def _without_stale_ids(snapshot: Snapshot, task: PlannedTask, current: PlannedTask) -> PlannedTask:
    """Return the task without ids that do not count, and without what was removed here since its export."""
    owner = task.exported_id
    assert owner is not None
    items_now = [item for checklist in current.checklists for item in checklist.items]
    titles = {item.exported_id: item.title for item in items_now if item.exported_id}
    texts = {entry.exported_id: entry.text for entry in current.entries if entry.exported_id}

    def is_hidden(kind: str, entity: EntityId) -> bool:
        return _is_part_of(snapshot, kind, entity, owner)

    items = [item for checklist in task.checklists for item in checklist.items]
    counted = iter(_match_exported(items, "checklist_item", titles, lambda item: item.title, is_hidden))
    entries = _match_exported(task.entries, "entry", texts, lambda entry: entry.text, is_hidden)
    checklists = []
    for checklist in task.checklists:
        planned_items = [item for _, item in zip(checklist.items, counted, strict=False)]
        checklists.append(replace(checklist, items=tuple(item for item in planned_items if item is not None)))
    return replace(
        task,
        checklists=tuple(checklist for checklist in checklists if checklist.items),
        entries=tuple(entry for entry in entries if entry is not None),
        current=current,
    )


_Element = TypeVar("_Element", PlannedItem, PlannedEntry)


def _match_exported(
    elements: Sequence[_Element],
    kind: str,
    current: Mapping[EntityId, str],
    text_of: Callable[[_Element], str],
    is_hidden: Callable[[str, EntityId], bool],
) -> list[_Element | None]:
    """Return the elements with the ids that count; None for one that a person has hidden since the export.

    An element without an id that says exactly what another one says now is taken for that one.
    """
    used: set[EntityId] = set()
    counted: list[_Element | None] = []
    for element in elements:
        entity = element.exported_id
        if entity is not None and entity not in current and is_hidden(kind, entity):
            counted.append(None)
        elif entity is not None and entity in current and entity not in used:
            used.add(entity)
            counted.append(element)
        else:
            counted.append(replace(element, exported_id=None))
    unused: dict[str, list[EntityId]] = {}
    for entity, text in current.items():
        if entity not in used:
            unused.setdefault(text, []).append(entity)
    return [_named_by_text(element, text_of, unused) for element in counted]


def _named_by_text(
    element: _Element | None, text_of: Callable[[_Element], str], unused: Mapping[str, list[EntityId]]
) -> _Element | None:
    if element is None or element.exported_id is not None or not unused.get(text_of(element)):
        return element
    return replace(element, exported_id=unused[text_of(element)].pop(0))


def _is_part_of(snapshot: Snapshot, kind: str, entity: EntityId, task: EntityId) -> bool:
    """Say whether an entity of a kind belongs to a task, in sight or not."""
    part = snapshot.entity(entity)
    if part is None or part.kind != kind:
        return False
    while part is not None and part.kind in _PARENT_FIELDS:
        parent = part.value(_PARENT_FIELDS[part.kind])
        if parent == task:
            return True
        part = snapshot.entity(EntityId(parent)) if isinstance(parent, bytes) else None
    return False
