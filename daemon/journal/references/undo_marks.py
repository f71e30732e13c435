"""Marks of what was undone: one entity a commit, which every device makes under the same id.

Never a condition of what counts: what an undo writes back counts by itself, and a mark only says that it is
an undo.
"""

from typing import Final, NamedTuple

from store.fold.entity_state import DELETED
from store.snapshot import Snapshot
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.commit import Commit
from syncproto.ids import ID_BYTES, EntityId, ReplicaId, derived_id
from syncproto.vector_clock import COMMIT_HASH_BYTES, Head

UNDO: Final = "undo"
"""The kind of a mark. Its `change` names the commit that was undone, `left` counts what stayed as it was."""


class UndoMark(NamedTuple):
    """That a commit was undone; `left` values of it stayed as they were."""

    left: int

    @property
    def is_whole(self) -> bool:
        """Whether all that the commit wrote was put back."""
        return self.left == 0


def mark_id(head: Head) -> EntityId:
    """Return the id of the mark of a commit, the same on every device."""
    return derived_id(UNDO, str(head.counter), head.hash.hex(), time_of=EntityId(head.replica))


def mark_write(snapshot: Snapshot, head: Head, left: int, *, is_rest: bool = False) -> EntityWrite:
    """Return the write that marks a commit as undone, for the first time or again after a redo.

    `is_rest`: the mark stands, and more of the commit is undone.
    """
    identifier = mark_id(head)
    fields: dict[str, Value] = {"change": [head.replica, head.counter, head.hash], "left": left}
    if not is_rest and snapshot.entity(identifier) is not None:
        fields[DELETED] = False
    return EntityWrite(identifier, UNDO, fields)


def mark_of(snapshot: Snapshot, head: Head) -> UndoMark | None:
    """Return the mark of a commit, None if it was not undone, or the undo was undone."""
    mark = snapshot.entity(mark_id(head))
    if mark is None or not mark.visible or mark.kind != UNDO:
        return None
    left = mark.value("left")
    return None if mark.version("change") is None else UndoMark(left if type(left) is int else 0)


def undone_in(commit: Commit) -> list[Head]:
    """Return the commits that a commit undoes, none if it is no undo."""
    return [
        head
        for operation in commit.operations
        if operation.kind == UNDO and (head := _head_of(operation.fields.get("change"))) is not None
    ]


def _head_of(value: object) -> Head | None:
    match value:
        case [bytes() as replica, int() as counter, bytes() as digest] if (
            type(counter) is int and len(replica) == ID_BYTES and len(digest) == COMMIT_HASH_BYTES
        ):
            return Head(ReplicaId(replica), counter, digest)
    return None
