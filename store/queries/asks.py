"""Asks as they were made: what each creation of one says, and which device and replica signed it.

Never reads what somebody wrote to an ask later: what was asked does not change.
"""

from typing import NamedTuple

from store.fold.operations import operations_on
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.ids import DeviceId, EntityId
from syncproto.keys import device_id_of_key
from syncproto.vector_clock import Head


class Creation(NamedTuple):
    """One creation of an entity: its fields, its commit, that commit's time in ms, and who signed it."""

    kind: str
    fields: dict[str, Value]
    head: Head
    stamp_ms: int
    n: int
    signer: DeviceId


def creations_of(snapshot: Snapshot, entity: EntityId) -> list[Creation]:
    """Return the creations of an entity in feed order. Reads its whole history."""
    return [
        Creation(
            write.operation.kind,
            write.operation.fields,
            write.head,
            write.source.ms,
            write.source.n,
            device_id_of_key(snapshot.log.key_of_commit(write.head)),
        )
        for write in operations_on(snapshot.db, entity, snapshot.log)
        if write.operation.creates
    ]
