"""Where a value came from that an undo has put back: the write that it was at first.

Never a condition of what counts: what an undo wrote is the person's own word, whoever wrote it before.
"""

from typing import Final

from daemon.journal.references.undo_marks import UNDO, undone_in
from store.fold.entity_state import SourcedOperation
from store.fold.field_versions import Provenance
from store.queries.field_changes import PreviousValues
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.ids import EntityId
from syncproto.vector_clock import Head

_STEPS_MAX: Final = 8
"""So many undos of undos are followed back."""


class PutBackSources:
    """The writes behind what undos have put back; most values cost a search of the bytes of their commit."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._log = snapshot.log
        self._pasts = PreviousValues(snapshot)
        self._undone: dict[Head, list[Head]] = {}

    def proposal_behind(
        self, entity: EntityId, field: str, source: Provenance, value: Value
    ) -> Provenance | None:
        """Return the confirmation whose value an undo has put back, None of all other values."""
        head = source.head
        for _ in range(_STEPS_MAX):
            earlier = self._earlier_write(head, entity, field)
            if earlier is None or earlier.operation.fields[field] != value:
                return None
            if earlier.source.effect is not None:
                return earlier.source
            head = earlier.source.head
        return None

    def _earlier_write(self, head: Head, entity: EntityId, field: str) -> SourcedOperation | None:
        """Return what stood in a field before the change that a commit undid, None if it undid none there."""
        for undone in self._undone_by(head):
            if not self._log.has_commit(undone):
                continue
            seq = self._log.position_of(undone)
            for operation in self._log.commit_at(seq).commit.operations:
                if operation.entity == entity and field in operation.fields:
                    return self._pasts.standing_write(seq, operation, field)
        return None

    def _undone_by(self, head: Head) -> list[Head]:
        if head not in self._undone:
            seq = self._log.position_of(head)
            has_mark = UNDO.encode() in self._log.body_at(seq)[1]
            self._undone[head] = undone_in(self._log.commit_at(seq).commit) if has_mark else []
        return self._undone[head]
