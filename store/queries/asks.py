"""Asks and their uses as they were written: what each write says, and which device and replica signed it.

Never decides which of them is genuine.
"""

from typing import NamedTuple

from store.fold.operations import operations_on
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.ids import DeviceId, EntityId
from syncproto.keys import device_id_of_key
from syncproto.vector_clock import Head


class SignedWrite(NamedTuple):
    """One write to an entity: its fields, its commit, that commit's time in ms, and who signed it."""

    kind: str
    fields: dict[str, Value]
    head: Head
    stamp_ms: int
    n: int
    signer: DeviceId
    creates: bool


def signed_writes(snapshot: Snapshot, entity: EntityId) -> list[SignedWrite]:
    """Return the writes to an entity in feed order. Reads its whole history."""
    return [
        SignedWrite(
            write.operation.kind,
            write.operation.fields,
            write.head,
            write.source.ms,
            write.source.n,
            device_id_of_key(snapshot.log.key_of_commit(write.head)),
            write.operation.creates,
        )
        for write in operations_on(snapshot.db, entity, snapshot.log)
    ]
