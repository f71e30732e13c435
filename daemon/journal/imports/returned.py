"""What was written here on an imported task, went out with an export, and comes back under ids of the file's.

Never takes two things for one whose words differ, and never one thing twice.

An export has no place for our ids of what belongs to a task. So what a person added to a task that came from
Taskwarrior or a calendar comes back as if the file had added it. It is known by its owner and words; a note
also by its time, which an export may move by seconds, to keep notes of one moment apart.
"""

from collections.abc import Callable, Collection
from datetime import datetime

from daemon.journal.imports.plan import on_one_line
from store.entity import Entity
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.ids import EntityId

# Formats whose exports carry ids of tasks, but of nothing that belongs to them.
FORMATS = frozenset({"taskwarrior", "icalendar"})

_MOVED_MS_MAX = 60_000


class Returned:
    """What one task holds that the file may say again; `spoken` are the ids of the file's own things."""

    def __init__(self, snapshot: Snapshot, spoken: Collection[EntityId]) -> None:
        self._snapshot = snapshot
        self._spoken = spoken
        self._left: dict[tuple[EntityId, str], list[Entity]] = {}

    def entry(self, task: EntityId, text: str, happened_ms: int | None) -> Entity | None:
        """Return the note that says this, at about this time."""

        def is_it(held: Entity) -> bool:
            if held.text("text").split() != text.split():
                return False
            at = _at_ms(held)
            return happened_ms is None or at is None or abs(at - happened_ms) < _MOVED_MS_MAX

        return self._take(task, "task_entry", is_it)

    def titled(self, owner: EntityId, relation: str, title: str) -> Entity | None:
        """Return the checklist or the line of one that is called so."""
        wanted = on_one_line(title)
        return self._take(owner, relation, lambda held: on_one_line(held.text("title")) == wanted)

    def link(self, says: dict[str, Value]) -> Entity | None:
        """Return the link between the same two tasks."""
        start = says["from_id"]
        assert isinstance(start, bytes)

        def is_it(held: Entity) -> bool:
            return all(held.value(name) == value for name, value in says.items())

        return self._take(EntityId(start), "link_from", is_it)

    def _take(self, owner: EntityId, relation: str, is_it: Callable[[Entity], bool]) -> Entity | None:
        """Find one of those that point at the owner, also a removed one, and do not find it again."""
        if (owner, relation) not in self._left:
            found = self._snapshot.referring(owner, relation, removed=True)
            others = (self._snapshot.entity(one) for one in found if one not in self._spoken)
            self._left[owner, relation] = [one for one in others if one]
        left = self._left[owner, relation]
        for place, held in enumerate(left):
            if is_it(held):
                return left.pop(place)
        return None


def _at_ms(entry: Entity) -> int | None:
    """Return when a note happened, None where what it says is no moment."""
    try:
        at = datetime.fromisoformat(entry.text("happened_at"))
    except ValueError:
        return None
    return int(at.timestamp() * 1000) if at.tzinfo else None
