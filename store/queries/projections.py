"""Projections of folded entities: their winning values, without provenance and clocks.

Never resolves a conflict: a caller that has to know one reads the whole entity.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import apsw
import msgspec

from store.fold.entity_state import load_state
from store.snapshot import Snapshot
from syncproto import codec
from syncproto.ids import EntityId

_Glance = tuple[str, msgspec.Raw, msgspec.Raw, int, bool, int, msgspec.Raw, dict[str, list[Any]]]
_decoder = msgspec.msgpack.Decoder(_Glance, ext_hook=codec.decode_extension)


def winning_values(state: bytes) -> dict[str, Any]:
    """Return the winning value of each field of a state; about five times cheaper than `load_state`."""
    return {name: parts[1] for name, parts in _decoder.decode(state)[7].items()}


def states_of(snapshot: Snapshot, entities: Sequence[EntityId]) -> dict[EntityId, bytes]:
    """Return the states of these entities, by id; nothing of one that is not held."""
    if not entities:
        return {}
    rows: Any = snapshot.db.execute(
        "SELECT id, state FROM entity WHERE id IN carray(?)", (apsw.carray(tuple(entities)),)
    )
    return dict(rows)


def existing_entities(snapshot: Snapshot, entities: Sequence[EntityId], kind: str) -> set[EntityId]:
    """Return those of these entities that somebody made as this kind, in sight or removed since."""
    if not entities:
        return set()
    rows: Any = snapshot.db.execute(
        "SELECT id, visible, state FROM entity WHERE id IN carray(?) AND kind = ?",
        (apsw.carray(tuple(entities)), kind),
    )
    return {name for name, visible, state in rows if visible or load_state(state).exists}


def checklist_items_of(
    snapshot: Snapshot, tasks: Sequence[EntityId]
) -> Iterator[tuple[EntityId, dict[str, Any]]]:
    """Yield the visible checklist items of these tasks, each with its task, in no order."""
    if not tasks:
        return
    rows: Any = snapshot.db.execute(
        "SELECT lists.target, item.state FROM relation AS lists"
        " JOIN entity AS list ON list.id = lists.owner AND list.visible"
        " JOIN relation AS items ON items.target = lists.owner AND items.name = 'checklist_item'"
        " JOIN entity AS item ON item.id = items.owner AND item.visible"
        " WHERE lists.target IN carray(?) AND lists.name = 'task_checklist'",
        (apsw.carray(tuple(tasks)),),
    )
    for task, state in rows:
        yield task, winning_values(state)


def task_titles(snapshot: Snapshot, *, removed: bool = False) -> Iterator[tuple[EntityId, str]]:
    """Yield the visible tasks (all, if `removed`) with their titles."""
    rows: Any = snapshot.db.execute(
        "SELECT id, state FROM entity WHERE kind = 'task' AND (visible OR ?)", (removed,)
    )
    for name, state in rows:
        title = winning_values(state).get("title")
        yield name, title if isinstance(title, str) else ""


def parts_of_task(snapshot: Snapshot, task: EntityId) -> list[EntityId]:
    """Return the parts of a task, visible or not: checklists, their items, entries and links."""
    rows: Any = snapshot.db.execute(
        "SELECT owner FROM relation WHERE target = ?1"
        " AND name IN ('task_checklist', 'task_entry', 'link_from', 'link_to')"
        " UNION ALL SELECT items.owner FROM relation AS lists"
        " JOIN relation AS items ON items.target = lists.owner AND items.name = 'checklist_item'"
        " WHERE lists.target = ?1 AND lists.name = 'task_checklist'",
        (task,),
    )
    return [name for (name,) in rows]


def visible_agents(snapshot: Snapshot) -> Iterator[tuple[EntityId, dict[str, list[Any]], bool]]:
    """Yield the visible agents: the values of each field, winner first, and whether their task is visible."""
    rows: Any = snapshot.db.execute("SELECT id, state FROM entity WHERE kind = 'agent' AND visible")
    agents = [
        (name, {field: parts[1::2] for field, parts in _decoder.decode(state)[7].items()})
        for name, state in rows
    ]
    tasks = [next(iter(values.get("task_id", ())), None) for _, values in agents]
    wanted = tuple(task_id for task_id in tasks if isinstance(task_id, bytes))
    identifiers = _visible_ids(snapshot, wanted) if wanted else frozenset()
    for (name, values), task in zip(agents, tasks, strict=True):
        yield name, values, isinstance(task, bytes) and task in identifiers


def _visible_ids(snapshot: Snapshot, names: tuple[bytes, ...]) -> frozenset[EntityId]:
    rows: Any = snapshot.db.execute(
        "SELECT id FROM entity WHERE visible AND id IN carray(?)", (apsw.carray(names),)
    )
    return frozenset(name for (name,) in rows)
