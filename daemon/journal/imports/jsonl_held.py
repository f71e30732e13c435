"""What a JSON Lines file knows of an entity that the journal has too, and the writes that bring it in.

Never writes what the journal knows already, and never covers what a person wrote that the file does not know.
"""

from collections.abc import Iterable

from daemon.journal.exports.jsonl import seen_here
from daemon.journal.imports.jsonl_entity import Told, Whole
from daemon.journal.imports.jsonl_steps import Base, Effects, Step, each
from daemon.journal.was import Seen, was_of
from store.entity import Entity
from store.fold import DELETED, RANK_USER, Source, Version
from store.history import operations
from store.snapshot import Snapshot
from syncproto import codec
from syncproto.codec import Value
from syncproto.heads import Head


class Held:
    """An entity of the journal beside what a file says of it."""

    def __init__(self, snapshot: Snapshot, held: Entity, whole: Whole) -> None:
        self._snapshot = snapshot
        self._held = held
        self._whole = whole
        told = [one for found in whole.current.values() for one in found]
        self._lacking = [one for one in told if not self._stands(one)]
        self._seen: Seen = {}
        if self._lacking:
            self._seen = seen_here(snapshot, held)
            self._lacking = [one for one in self._lacking if not self._is_past(one)]

    @property
    def is_known(self) -> bool:
        """Say whether the journal knows all that the file says."""
        return not self._lacking

    @property
    def is_removed_here(self) -> bool:
        """Say whether it was removed here, unknown to the file."""
        tombs = [one for one in self._held.versions(DELETED) if one.value is True]
        return not self._held.visible and any(not self._file_knows(one.source) for one in tombs)

    def steps(self) -> list[Step]:
        """Return the steps that bring in what the file knows beyond the journal."""
        effects = Effects(self._snapshot, self._whole)
        lacking: dict[str, list[Told]] = {}
        for one in self._lacking:
            lacking.setdefault(one.field, []).append(one)
        tombs = lacking.pop(DELETED, [])
        steps: list[Step] = []
        for name, found in lacking.items():
            steps += each(3, [found], effects, self._base(self._held.versions(name), name))
        return steps + list(each(5, [tombs], effects, self._tomb_base()))

    def _stands(self, told: Told) -> bool:
        found = self._held.versions(told.field)
        return any(_first(one.source) == told.was.head and _same(one.value, told.value) for one in found)

    def _is_past(self, told: Told) -> bool:
        """Say whether the journal has had this value of this write, and something newer since."""
        if not _covers(self._seen, told.was.head):
            return False
        values = [
            one.operation.fields[told.field]
            for one in operations(self._snapshot, self._held.id)
            if told.field in one.operation.fields and _first(one.source) == told.was.head
        ]
        # A value that somebody edited in the file itself is still said to be of the same write.
        return not values or any(_same(value, told.value) for value in values)

    def _file_knows(self, source: Source) -> bool:
        return _covers(self._whole.seen, _first(source))

    def _base(self, versions: list[Version], name: str) -> Base:
        """Return a base that covers no word of a person's unknown to the file, nor what it has beside."""
        beside = [(one.was.head, one.value) for one in self._whole.current[name]]
        kept = [
            one.source
            for one in versions
            if any(_first(one.source) == head and _same(one.value, value) for head, value in beside)
            or (one.source.rank == RANK_USER and not self._file_knows(one.source))
        ]
        return self._beside(kept) if kept else Base.PHASE

    def _tomb_base(self) -> Base:
        unknown = any(counter > self._whole.seen.get(one, -1) for one, counter in self._seen.items())
        born = self._held.created
        is_persons = born is not None and born.rank == RANK_USER
        return self._beside([born] if born and is_persons else []) if unknown else Base.PHASE

    def _beside(self, kept: Iterable[Source]) -> Base:
        born = self._held.created
        is_born = born is None or any(one.head == born.head for one in kept)
        return Base.NOTHING if is_born else Base.BORN


def _first(source: Source) -> Head:
    """Return the commit in which a write was first made."""
    was = was_of(source)
    return source.head if was is None else was.head


def _covers(seen: Seen, head: Head) -> bool:
    return seen.get(head.replica, -1) >= head.counter


def _same(one: Value, other: Value) -> bool:
    """Compare values as they are kept: 1, 1.0 and true are three."""
    return codec.encode(one) == codec.encode(other)
