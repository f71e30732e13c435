"""Where a checklist or an item goes among its neighbours: the places that a move writes.

Never moves a neighbour that has a place of its own: only those whose places are malformed, or the same as
another's, get new ones, in the order in which they stand.
"""

from collections.abc import Sequence

from msgspec import Struct

from daemon.journal import positions
from daemon.journal.errors import usage
from store.entity import Entity
from syncproto.ids import EntityId

ONE_OF = "say where: before or after another one, first, or last"


class Spot(Struct, frozen=True, forbid_unknown_fields=True):
    """Where to put something: beside another one, at the beginning, or at the end. Exactly one is given."""

    before: str | None = None
    after: str | None = None
    first: bool = False
    last: bool = False


def require_one(spot: Spot) -> None:
    """Refuse a spot that is none, or more than one."""
    given = [spot.before is not None, spot.after is not None, spot.first, spot.last]
    if sum(given) != 1:
        raise usage(f"{sum(given)} places were given", ONE_OF)


def sorted_by_place(entities: Sequence[Entity]) -> list[Entity]:
    """Return entities in the order in which they are shown."""
    return sorted(entities, key=lambda one: (one.text("position"), one.id))


def end_of(neighbours: Sequence[Entity], entity: EntityId) -> str:
    """Return the place of a new one after all of these; malformed places from elsewhere do not count."""
    places = [one.text("position") for one in neighbours if positions.is_place(one.text("position"))]
    return positions.own(max(places, default=None), None, entity)


def placed(neighbours: Sequence[Entity], index: int, entity: EntityId) -> dict[EntityId, str]:
    """Return the places to write so that `entity` stands at `index` among its neighbours, as they are sorted.

    That is its own place, and those of neighbours that leave no room.
    """
    before, after = list(neighbours[:index]), list(neighbours[index:])
    crowd_after: list[Entity] = []
    crowd_before: list[Entity] = []
    while before and not positions.is_place(before[-1].text("position")):
        crowd_before.insert(0, before.pop())
    low = before[-1].text("position") if before else None
    while after and not _is_above(after[0].text("position"), low):
        crowd_after.append(after.pop(0))
    high = after[0].text("position") if after else None
    found: dict[EntityId, str] = {}
    for one in [*(each.id for each in crowd_before), entity, *(each.id for each in crowd_after)]:
        low = found[one] = positions.own(low, high, one)
    return found


def index_at(neighbours: list[Entity], spot: Spot, beside: Entity | None) -> int:
    """Return the index among sorted neighbours, without the one that moves, that a spot means."""
    if beside is None:
        return 0 if spot.first else len(neighbours)
    at = next((at for at, one in enumerate(neighbours) if one.id == beside.id), None)
    if at is None:
        raise usage("nothing can stand beside itself", "name another one")
    return at if spot.before is not None else at + 1


def stands_at(everyone: list[Entity], entity: Entity, index: int) -> bool:
    """Say whether an entity is where it should go, undisputed."""
    return [one.id for one in everyone].index(entity.id) == index and len(entity.versions("position")) == 1


def _is_above(place: str, low: str | None) -> bool:
    return positions.is_place(place) and (low is None or place > low)
