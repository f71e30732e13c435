"""Relations of an entity, followed both ways: what it points at, and what points at it.

Never takes a missing end for an error: a relation is soft.
"""

from msgspec import Struct

from daemon.journal.change_log import find_logged_entity
from store.fold.entity import Entity
from store.fold.relations import RELATIONS, relations_of
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_to_text

RELATIONS_MAX = 500
"""How many are listed of each relation, so that an answer stays a page."""


class Relation(Struct, frozen=True, rename={"from_id": "from", "to_id": "to"}):
    """One relation: `from` the entity that points, `to` the one that is pointed at.

    A kind is null if its end is not here; `removed` says that one of the ends was removed.
    """

    from_id: str
    relation: str
    to_id: str
    from_kind: str | None
    to_kind: str | None
    removed: bool


_NAMES = tuple(dict.fromkeys(name for names in RELATIONS.values() for name in names.values()))


def list_relations(snapshot: Snapshot, ref: str) -> list[Relation]:
    """List the relations of what `ref` names: a task by id or title, anything else by its id."""
    entity = find_logged_entity(snapshot, ref)
    return [*_outgoing_relations(snapshot, entity), *_incoming_relations(snapshot, entity)]


def _outgoing_relations(snapshot: Snapshot, entity: Entity) -> list[Relation]:
    pointed = sorted(relations_of(entity.state), key=lambda pair: (pair[1], pair[0]))
    return [_relation(entity, name, target, snapshot.entity(target)) for target, name in pointed]


def _incoming_relations(snapshot: Snapshot, entity: Entity) -> list[Relation]:
    relations = []
    for name in _NAMES:
        for owner in snapshot.ids_pointing_at(entity.id, name, removed=True)[:RELATIONS_MAX]:
            stored_entity = snapshot.entity(owner)
            assert stored_entity is not None
            relations.append(_relation(stored_entity, name, entity.id, entity))
    return relations


def _relation(owner: Entity, name: str, target: EntityId, target_entity: Entity | None) -> Relation:
    entity = target_entity if target_entity is not None and target_entity.exists else None
    return Relation(
        from_id=id_to_text(owner.id),
        relation=name,
        to_id=id_to_text(target),
        from_kind=owner.kind or None,
        to_kind=None if entity is None else entity.kind,
        removed=not owner.visible or (entity is not None and not entity.visible),
    )
