"""What was written here on an imported task, went out with an export, and comes back under ids of the file's.

Never takes two things for one whose words differ, and never one thing twice.

An export has no place for our ids of what belongs to a task. So what a person added to a task that came from
Taskwarrior or a calendar comes back as if the file had added it. It is known by its owner and words; a note
also by its time, which an export may move by seconds, to keep notes of one moment apart.
"""

from collections.abc import Callable, Collection
from datetime import datetime

from daemon.formats.core.plan import joined_line
from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.ids import EntityId

# Formats whose exports carry ids of tasks, but of nothing that belongs to them.
FORMATS_THAT_RETURN = frozenset({"taskwarrior", "icalendar"})

_MOVED_MS_MAX = 60_000


class ReturnedElements:
    """What one task contains that the file may repeat; `spoken` are the ids of the file's own things."""

    def __init__(self, snapshot: Snapshot, spoken: Collection[EntityId]) -> None:
        self._snapshot = snapshot
        self._spoken = spoken
        self._left: dict[tuple[EntityId, str], list[Entity]] = {}

    def matching_entry(self, task: EntityId, text: str, happened_ms: int | None) -> Entity | None:
        """Return the note with this text, at about this time."""

        def is_it(entity: Entity) -> bool:
            if entity.text("text").split() != text.split():
                return False
            at_ms = _at_ms(entity)
            return happened_ms is None or at_ms is None or abs(at_ms - happened_ms) < _MOVED_MS_MAX

        return self._take(task, "task_entry", is_it)

    def matching_titled(self, owner: EntityId, relation: str, title: str) -> Entity | None:
        """Return the checklist or the line of one that is called so."""
        wanted = joined_line(title)
        return self._take(owner, relation, lambda entity: joined_line(entity.text("title")) == wanted)

    def matching_link(self, says: dict[str, Value]) -> Entity | None:
        """Return the link between the same two tasks."""
        start = says["from_id"]
        assert isinstance(start, bytes)

        def is_it(entity: Entity) -> bool:
            return all(entity.value(name) == value for name, value in says.items())

        return self._take(EntityId(start), "link_from", is_it)

    def _take(self, owner: EntityId, relation: str, is_it: Callable[[Entity], bool]) -> Entity | None:
        """Find one of those that point at the owner, also a removed one, and do not find it again."""
        if (owner, relation) not in self._left:
            identifiers = self._snapshot.ids_pointing_at(owner, relation, removed=True)
            others = (
                self._snapshot.entity(identifier)
                for identifier in identifiers
                if identifier not in self._spoken
            )
            self._left[owner, relation] = [entity for entity in others if entity]
        left = self._left[owner, relation]
        for place, stored_entity in enumerate(left):
            if is_it(stored_entity):
                return left.pop(place)
        return None


def _at_ms(entry: Entity) -> int | None:
    """Return when a note happened, None if its time is not a valid moment."""
    try:
        moment = datetime.fromisoformat(entry.text("happened_at"))
    except ValueError:
        return None
    return int(moment.timestamp() * 1000) if moment.tzinfo else None
