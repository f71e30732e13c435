"""What was written to a value after a change, leaving aside what has been undone since.

Never trusts the order in which commits came alone: a version that stands beside the change counts as written
since, whenever it came here.

A commit is *void* for a change if it was undone as a whole; if it is an undo of commits none of which is
earlier than the change, or an undo that was undone; or if it undoes the same as the change, on another
device. With what it undoes it has then done nothing to the change. Of a commit that was undone in part, what
was put back is void. So changes can be undone one after another, the last first, and whatever else anybody
wrote keeps what it says.
"""

from functools import lru_cache
from typing import NamedTuple

from daemon.journal.references.undo_marks import mark_of, undone_in
from store.fold.entity import Entity
from store.fold.entity_state import SourcedOperation, is_direct_user_write, with_provenance
from store.fold.liveness import Liveness
from store.queries.field_changes import positions_since
from store.snapshot import Snapshot
from syncproto.commit import DecodedCommit
from syncproto.ids import EntityId
from syncproto.vector_clock import Head, VectorClock, covers

_COMMITS_READ = 64


class Placed(NamedTuple):
    """A commit with its feed position."""

    seq: int
    received: DecodedCommit

    @property
    def head(self) -> Head:
        """Return the commit itself."""
        return self.received.head


class WritesSince:
    """Finds what was written after changes; `undone` are the positions that the undo has dealt with."""

    def __init__(self, snapshot: Snapshot, undone: set[int]) -> None:
        self._snapshot = snapshot
        self._liveness = Liveness(snapshot.db, snapshot.log)
        self._commit_at = lru_cache(_COMMITS_READ)(snapshot.log.commit_at)
        self.undone = undone

    def on_field(
        self, change: Placed, base: VectorClock, entity: Entity, field: str
    ) -> SourcedOperation | None:
        """Return what anybody wrote to a field of an entity after a change, or beside it.

        `base` is what the author of the change had seen when they wrote to it.
        """
        versions = entity.versions(field)
        if [version.source.head for version in versions] == [change.head]:
            return None
        log = self._snapshot.log
        # Also what came here before the change, and was unknown to its author.
        for position in positions_since(self._snapshot, entity.id, 0, field):
            if position == change.seq or covers(base, log.head_at(position), log):
                continue
            write = self._standing_write(position, entity.id, change)
            if write is None or field not in write.operation.fields or not self._liveness.is_live(write):
                continue
            if field not in self.put_back(Placed(position, self._commit_at(position)), entity.id):
                return write
        return None

    def put_back(self, change: Placed, entity: EntityId) -> frozenset[str]:
        """Return which fields of an entity were put back, if a change is undone in part."""
        mark = mark_of(self._snapshot, change.head)
        if mark is None or mark.is_whole:
            return frozenset()
        fields = set[str]()
        for position in positions_since(self._snapshot, entity, change.seq):
            undo = self._commit_at(position)
            if change.head in undone_in(undo.commit) and mark_of(self._snapshot, undo.head) is None:
                write = self._operation_on(undo, entity)
                fields.update(() if write is None else write.operation.fields)
        return frozenset(fields)

    def on_entity(self, change: Placed, entity: EntityId) -> SourcedOperation | None:
        """Return what a person wrote to an entity or below it, or confirmed, after a change."""
        for position in positions_since(self._snapshot, entity, change.seq):
            write = self._standing_write(position, entity, change)
            if write is None:
                continue
            has_effect = write.operation.effect is not None and self._liveness.is_live(write)
            if has_effect or is_direct_user_write(write.operation):
                return write
        return None

    def _standing_write(self, position: int, entity: EntityId, change: Placed) -> SourcedOperation | None:
        """Return what another commit wrote to an entity, None if it is void for a change."""
        if position in self.undone:
            return None
        received = self._commit_at(position)
        return None if self._is_void(received, change) else self._operation_on(received, entity)

    def _is_void(self, received: DecodedCommit, change: Placed) -> bool:
        mark = mark_of(self._snapshot, received.head)
        if mark is not None and mark.is_whole:
            return True
        undone, log = undone_in(received.commit), self._snapshot.log
        if not undone:
            return False
        if undone == undone_in(change.received.commit):
            return True
        if all(mark_of(self._snapshot, head) is None for head in undone):
            return True
        return all(log.has_commit(head) and log.position_of(head) >= change.seq for head in undone)

    @staticmethod
    def _operation_on(received: DecodedCommit, entity: EntityId) -> SourcedOperation | None:
        return next(
            (
                with_provenance(received, operation)
                for operation in received.commit.operations
                if operation.entity == entity
            ),
            None,
        )
