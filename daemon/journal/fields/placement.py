"""The target position of a checklist or an item among its neighbours: the places that a move writes.

Never moves a neighbour that has a place of its own: only those whose places are malformed, or the same as
another's, get new ones, in the order in which they stand.
"""

from collections.abc import Sequence

from msgspec import Struct

from daemon.journal.fields import positions
from daemon.refusal import usage_error
from store.fold.entity import Entity
from store.sentence import sentence
from syncproto.ids import EntityId

MOVED_MAX = 200
"""The neighbours that one move places anew, so that it stays one commit whatever another device wrote."""

TARGET_HINT = sentence("say-where", "say where: before or after another one, first, or last")


class TargetPlace(Struct, frozen=True, forbid_unknown_fields=True):
    """Where to put something: beside another one, at the beginning, or at the end. Exactly one is given."""

    before: str | None = None
    after: str | None = None
    first: bool = False
    last: bool = False


def require_one_target(spot: TargetPlace) -> None:
    """Refuse a spot that is none, or more than one."""
    targets_given = [spot.before is not None, spot.after is not None, spot.first, spot.last]
    if sum(targets_given) != 1:
        raise usage_error(
            sentence("places-given", "{count} places were given", count=sum(targets_given)), TARGET_HINT
        )


def position_key(entity: Entity) -> tuple[str, EntityId]:
    """Return the key by which checklists and items are ordered."""
    return entity.text("position"), entity.id


def sorted_by_position(entities: Sequence[Entity]) -> list[Entity]:
    """Return entities in the order in which they are shown."""
    return sorted(entities, key=position_key)


def position_at_end(neighbours: Sequence[Entity], entity: EntityId) -> str:
    """Return the place of a new one after all of these; malformed places from elsewhere do not count."""
    last = positions.last_with_room(neighbour.text("position") for neighbour in neighbours)
    return positions.position_of_its_own(last, None, entity)


def positions_to_write(neighbours: Sequence[Entity], index: int, entity: EntityId) -> dict[EntityId, str]:
    """Return the places to write so that `entity` comes at `index` among its sorted neighbours.

    That is its own place, and those of neighbours that leave no room. If a whole crowd leaves none, it is a
    place at the end of the list.
    """
    gap = _Gap(neighbours, index)
    more = 1
    while True:
        try:
            return positions.positions_between(gap.low, gap.high, [*gap.left, entity, *gap.right])
        except positions.NoRoom:
            if len(gap.left) + len(gap.right) >= MOVED_MAX:
                return {entity: position_at_end(neighbours, entity)}
            gap.widen(more)
            more *= 2


class _Gap:
    """The neighbours around an index that get new places, and the places between which these are."""

    def __init__(self, neighbours: Sequence[Entity], index: int) -> None:
        self._before = list(neighbours[:index])
        self._after = list(neighbours[index:])[::-1]
        self.left: list[EntityId] = []
        self.right: list[EntityId] = []
        self.low: str | None = None
        self.high: str | None = None
        self._find_bounds()

    def widen(self, count: int) -> None:
        """Let some more neighbours on each side get new places."""
        for _ in range(min(count, len(self._before))):
            self.left.insert(0, self._before.pop().id)
        for _ in range(min(count, len(self._after))):
            self.right.append(self._after.pop().id)
        self._find_bounds()

    def _find_bounds(self) -> None:
        """Find the nearest places; neighbours between without a place get one, up to a number."""
        while self._before and not positions.is_position(self._before[-1].text("position")):
            neighbour = self._before.pop()
            if len(self.left) < MOVED_MAX // 2:
                self.left.insert(0, neighbour.id)
        self.low = self._before[-1].text("position") if self._before else None
        while self._after and not _is_above(self._after[-1].text("position"), self.low):
            neighbour = self._after.pop()
            if len(self.right) < MOVED_MAX // 2:
                self.right.append(neighbour.id)
        self.high = self._after[-1].text("position") if self._after else None


def target_index(neighbours: list[Entity], spot: TargetPlace, beside: Entity | None) -> int:
    """Return the index among sorted neighbours, without the one that moves, that a spot means."""
    if beside is None:
        return 0 if spot.first else len(neighbours)
    beside_index = next(
        (index for index, neighbour in enumerate(neighbours) if neighbour.id == beside.id), None
    )
    if beside_index is None:
        raise usage_error(
            sentence("beside-itself", "nothing can be placed beside itself"),
            sentence("name-another", "name another one"),
        )
    return beside_index if spot.before is not None else beside_index + 1


def is_placed_at(everyone: list[Entity], entity: Entity, index: int) -> bool:
    """Report whether an entity is already at its target, undisputed."""
    return [sibling.id for sibling in everyone].index(entity.id) == index and len(
        entity.versions("position")
    ) == 1


def _is_above(place: str, low: str | None) -> bool:
    return positions.is_position(place) and (low is None or place > low)
