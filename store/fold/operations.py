"""The operations on one entity, decoded without building the rest of their commits.

Never checks a commit: the log contains only what was checked when it came.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import apsw
import msgspec

from store.file.errors import unreadable_commit
from store.fold.entity_state import SourcedOperation
from store.fold.field_versions import Provenance
from store.log.commit_log import CommitLog
from syncproto import codec
from syncproto.commit import Author, Operation
from syncproto.hlc import Stamp
from syncproto.ids import ID_BYTES, EntityId
from syncproto.vector_clock import Head


class _Sealed(msgspec.Struct, frozen=True, array_like=True):
    """A commit whose operations are left encoded."""

    format: int
    replica: bytes
    counter: int
    previous: bytes
    stamp: Stamp
    author: Author
    key: bytes | None
    operations: list[msgspec.Raw]


_commit_decoder = msgspec.msgpack.Decoder(_Sealed, ext_hook=codec.decode_extension)
_decoder = msgspec.msgpack.Decoder(Operation, ext_hook=codec.decode_extension)

# An operation begins with one byte for its length and two bytes before the entity id.
_ID = slice(3, 3 + ID_BYTES)


# The operations that are decoded together. The commits that they are in are then read once.
_OPERATIONS_AT_ONCE = 5_000


def operations_on(
    db: apsw.Connection, entity: EntityId, log: CommitLog, positions: Iterable[int] | None = None
) -> Iterator[SourcedOperation]:
    """Yield the operations on an entity, in feed order, or those at some positions of its history.

    Raises DamagedDatabase if the bytes of a commit cannot be decoded.
    """
    for seq in _history(db, entity) if positions is None else positions:
        yield from _operations_at(seq, {entity}, log).values()


def operations_on_each(
    db: apsw.Connection, entities: Iterable[EntityId], log: CommitLog
) -> Iterator[tuple[EntityId, list[SourcedOperation]]]:
    """Yield each of several entities with its operations, in feed order.

    A commit that wrote to many of them is decoded once for all, and not once for each: that would cost the
    square of what it wrote. Raises DamagedDatabase as `operations_on` does.
    """
    histories = sorted((_history(db, entity), entity) for entity in entities)
    begin, size = 0, 0
    for end, (history, _) in enumerate(histories, 1):
        size += len(history)
        if size >= _OPERATIONS_AT_ONCE or end == len(histories):
            yield from _read_together(histories[begin:end], log)
            begin, size = end, 0


def operation_at(seq: int, entity: EntityId, log: CommitLog) -> SourcedOperation:
    """Return the operation on an entity in the commit at a feed position.

    Raises DamagedDatabase as `operations_on` does.
    """
    return _operations_at(seq, {entity}, log)[entity]


def _read_together(
    histories: list[tuple[list[int], EntityId]], log: CommitLog
) -> Iterator[tuple[EntityId, list[SourcedOperation]]]:
    touched: dict[int, set[EntityId]] = {}
    for history, entity in histories:
        for seq in history:
            touched.setdefault(seq, set()).add(entity)
    operations: dict[EntityId, list[SourcedOperation]] = {entity: [] for _, entity in histories}
    for seq in sorted(touched):
        for entity, operation in _operations_at(seq, touched[seq], log).items():
            operations[entity].append(operation)
    yield from operations.items()


def _history(db: apsw.Connection, entity: EntityId) -> list[int]:
    """Return the feed positions of the commits that wrote to an entity."""
    rows: Any = db.execute("SELECT seq FROM history WHERE entity = ? ORDER BY seq", (entity,))
    return [seq for (seq,) in rows]


def _operations_at(seq: int, entities: set[EntityId], log: CommitLog) -> dict[EntityId, SourcedOperation]:
    """Return the operations of a commit on some of the entities that it wrote to."""
    head, body = log.body_at(seq)
    try:
        commit = _commit_decoder.decode(body)
        operations = {
            entity: _decoder.decode(raw)
            for raw in commit.operations
            if (entity := EntityId(bytes(memoryview(raw)[_ID]))) in entities
        }
    except (msgspec.MsgspecError, ValueError) as fault:
        raise unreadable_commit(seq, fault) from fault
    if operations.keys() != entities:
        raise unreadable_commit(seq, LookupError("an operation that the history names is missing"))
    ms, n = commit.stamp
    return {entity: _sourced_operation(head, ms, n, operation) for entity, operation in operations.items()}


def _sourced_operation(head: Head, ms: int, n: int, operation: Operation) -> SourcedOperation:
    base = operation.base if operation.deletes else None
    return SourcedOperation(
        Provenance(head, ms, n, operation.by, operation.effect, operation.origin, base), operation
    )
