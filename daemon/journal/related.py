"""Relations of an entity, followed both ways: what it points at, and what points at it.

Never takes a missing end for an error: a relation is soft.
"""

from msgspec import Struct

from daemon.journal.log import named
from store.entity import Entity
from store.relations import RELATIONS, relations_of
from store.snapshot import Snapshot
from syncproto.ids import EntityId, text

RELATIONS_MAX = 500
"""How many are listed of each relation, so that an answer stays a page."""


class Relation(Struct, frozen=True, rename={"from_id": "from", "to_id": "to"}):
    """One relation: `from` the entity that points, `to` the one that is pointed at.

    The kinds are null where an end is not here; `removed` says that one of the ends is out of sight.
    """

    from_id: str
    relation: str
    to_id: str
    from_kind: str | None
    to_kind: str | None
    removed: bool


_NAMES = tuple(dict.fromkeys(name for named in RELATIONS.values() for name in named.values()))


def relations(snapshot: Snapshot, ref: str) -> list[Relation]:
    """List the relations of what `ref` names: a task by id or title, anything else by its id."""
    entity = named(snapshot, ref)
    return [*_out(snapshot, entity), *_back(snapshot, entity)]


def _out(snapshot: Snapshot, entity: Entity) -> list[Relation]:
    pointed = sorted(relations_of(entity.row), key=lambda one: (one[1], one[0]))
    return [_relation(entity, name, target, snapshot.entity(target)) for target, name in pointed]


def _back(snapshot: Snapshot, entity: Entity) -> list[Relation]:
    found = []
    for name in _NAMES:
        for owner in snapshot.referring(entity.id, name, removed=True)[:RELATIONS_MAX]:
            held = snapshot.entity(owner)
            assert held is not None
            found.append(_relation(held, name, entity.id, entity))
    return found


def _relation(owner: Entity, name: str, target: EntityId, held: Entity | None) -> Relation:
    there = held if held is not None and held.exists else None
    return Relation(
        from_id=text(owner.id),
        relation=name,
        to_id=text(target),
        from_kind=owner.kind or None,
        to_kind=None if there is None else there.kind,
        removed=not owner.visible or (there is not None and not there.visible),
    )
