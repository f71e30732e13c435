"""What was written here on an imported task, went out with an export, and comes back under ids of the file's.

Never takes two things for one whose words differ, and never one thing twice.

An export has no place for our ids of what belongs to a task. So what a person added to a task that came from
Taskwarrior or a calendar comes back as if the file had added it. It is known by its owner and words; a note
also by its time, which an export may move by seconds, to keep notes of one moment apart.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection
from datetime import datetime
from math import inf

from daemon.file_formats import FILE_FORMATS
from daemon.formats.core.plan import joined_line, plain_text
from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.ids import EntityId

# Formats whose exports carry ids of tasks, but of nothing that belongs to them.
FORMATS_THAT_RETURN = frozenset(row.name for row in FILE_FORMATS if row.keeps_ids)

_MOVED_MS_MAX = 60_000


class ReturnedElements:
    """What one task contains that the file may repeat; `spoken` are the ids of the file's own things.

    What an owner has is sorted by its words once, and the notes of one wording by their times. So each
    element of a file costs a search, however many there are.
    """

    def __init__(self, snapshot: Snapshot, spoken: Collection[EntityId]) -> None:
        self._snapshot = snapshot
        self._spoken = spoken
        self._left: dict[tuple[EntityId, str], dict[object, list[_Timed]]] = {}

    def matching_entry(self, task: EntityId, text: str, happened_ms: int | None) -> Entity | None:
        """Return the note with this text, at about this time."""
        left = self._group_by_words(
            task, "task_entry", lambda entity: tuple(plain_text(entity.text("text")).split()), _at_ms
        )
        timed = left.get(tuple(plain_text(text).split()), [])
        earliest_ms = -inf if happened_ms is None else happened_ms - _MOVED_MS_MAX + 1
        place = bisect_left(timed, earliest_ms, key=_time_of)
        if place < len(timed) and (happened_ms is None or timed[place][0] < happened_ms + _MOVED_MS_MAX):
            return timed.pop(place)[1]
        # Without a time of its own, a note is known by its words alone.
        return timed.pop(0)[1] if timed and timed[0][0] == -inf else None

    def matching_titled(self, owner: EntityId, relation: str, title: str) -> Entity | None:
        """Return the checklist or the line of one that is called so."""
        left = self._group_by_words(
            owner, relation, lambda entity: joined_line(plain_text(entity.text("title")))
        )
        return _first(left.get(joined_line(plain_text(title)), []))

    def matching_link(self, says: dict[str, Value]) -> Entity | None:
        """Return the link between the same two tasks."""
        start = says["from_id"]
        assert isinstance(start, bytes)
        left = self._group_by_words(
            EntityId(start), "link_from", lambda entity: tuple(_hashable(entity.value(name)) for name in says)
        )
        return _first(left.get(tuple(map(_hashable, says.values())), []))

    def _group_by_words(
        self,
        owner: EntityId,
        relation: str,
        words_of: Callable[[Entity], object],
        at_ms: Callable[[Entity], int | None] = lambda _entity: None,
    ) -> dict[object, list["_Timed"]]:
        """Return those that point at the owner, also removed ones, by words and in order of their times.

        Whoever matches one takes it out, so that it is not found again.
        """
        if (owner, relation) not in self._left:
            left: dict[object, list[_Timed]] = {}
            for identifier in self._snapshot.ids_pointing_at(owner, relation, removed=True):
                entity = None if identifier in self._spoken else self._snapshot.entity(identifier)
                if entity is not None:
                    moment_ms = at_ms(entity)
                    timed: _Timed = (-inf if moment_ms is None else moment_ms, entity)
                    left.setdefault(words_of(entity), []).append(timed)
            for group in left.values():
                group.sort(key=_time_of)
            self._left[owner, relation] = left
        return self._left[owner, relation]


_Timed = tuple[float, Entity]
"""A moment (Unix time in milliseconds, -inf if there is none), and what happened then."""


def _time_of(timed: _Timed) -> float:
    return timed[0]


def _hashable(value: Value) -> Value:
    """Return an id or a text as it is, and None for all else: a member may have written anything."""
    return value if isinstance(value, bytes | str) else None


def _first(timed: list[_Timed]) -> Entity | None:
    return timed.pop(0)[1] if timed else None


def _at_ms(entry: Entity) -> int | None:
    """Return when a note happened, None if its time is not a valid moment."""
    try:
        moment = datetime.fromisoformat(entry.text("happened_at"))
    except ValueError:
        return None
    return int(moment.timestamp() * 1000) if moment.tzinfo else None
