"""The operations on one entity, read from the log without building the rest of their commits.

Never checks anything: what the log holds was checked when it came.
"""

from collections.abc import Iterator
from typing import Any

import apsw
import msgspec

from store.faults import DamagedDatabase
from store.fold import Source, Written
from store.log import Log
from syncproto import codec
from syncproto.commit import Author, Operation
from syncproto.hlc import Stamp
from syncproto.ids import ID_BYTES, EntityId


class _Sealed(msgspec.Struct, frozen=True, array_like=True):
    """A commit whose operations are left as they are."""

    format: int
    replica: bytes
    counter: int
    previous: bytes
    stamp: Stamp
    author: Author
    key: bytes | None
    operations: list[msgspec.Raw]


_commit_decoder = msgspec.msgpack.Decoder(_Sealed, ext_hook=codec.read_extension)
_decoder = msgspec.msgpack.Decoder(Operation, ext_hook=codec.read_extension)

# An operation begins with a byte for its length and two that announce an id.
_ID = slice(3, 3 + ID_BYTES)


def operations_on(db: apsw.Connection, entity: EntityId, log: Log) -> Iterator[Written]:
    """Yield the operations on an entity, in feed order.

    Raises DamagedDatabase where the bytes of a commit are no longer one.
    """
    rows: Any = db.execute("SELECT seq FROM history WHERE entity = ? ORDER BY seq", (entity,))
    for (seq,) in rows.fetchall():
        head, body = log.body_at(seq)
        try:
            commit = _commit_decoder.decode(body)
            (raw,) = [one for one in commit.operations if bytes(memoryview(one)[_ID]) == entity]
            operation = _decoder.decode(raw)
        except (msgspec.MsgspecError, ValueError) as fault:
            raise DamagedDatabase(f"commit {seq} of the log cannot be read: {fault}") from fault
        base = operation.base if operation.deletes else None
        ms, n = commit.stamp
        yield Written(Source(head, ms, n, operation.by, operation.effect, operation.origin, base), operation)
