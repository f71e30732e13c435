"""Stores that are opened, worked and doubted for the tests of their lease.

Never checks anything.
"""

from msgspec import structs

from store.file.lease import LeaseRecord
from store.store import Store
from syncproto.ids import ReplicaId
from tests.support.stores import write_entities

MACHINE, ELSEWHERE = b"m" * 16, b"e" * 16


def replica(store: Store) -> ReplicaId:
    """Return the replica that a store writes as after its next commit."""
    (head,) = write_entities(store, 1)
    return head.replica


def replace_record(record: LeaseRecord, **changes) -> LeaseRecord:
    return structs.replace(record, **changes)
