"""Rosters that a test writes: entries by whatever key, as a member that has gone wrong would send them.

Never writes what a device that lacks a key could not write.
"""

from daemon.peers.roster import member_records
from daemon.peers.transport.identity import certificate_from_seed
from store.transaction import Transaction
from syncproto import commit as commits
from syncproto.codec import Value
from syncproto.commit import Author, AuthorKind, Commit, Operation, SignedCommit
from syncproto.hlc import Stamp
from syncproto.ids import DeviceId, replica_id
from syncproto.keys import Signer
from syncproto.vector_clock import VectorClock
from tests.daemon.peers.fleet import Device

EVIL = bytes([66]) * 32
"""The seed of the key of a member that has gone wrong."""


def seed_of(number: int) -> bytes:
    """Return the seed of the key of one of its devices."""
    return number.to_bytes(32, "big")


def device_of(seed: bytes) -> DeviceId:
    """Return the device with a key."""
    return Signer(seed).device


def entry(seed: bytes, name: str, base: VectorClock = (), **fields: Value) -> Operation:
    """Return a roster entry of the device with a key, as another device writes it."""
    key = Signer(seed)
    return Operation(
        member_records.roster_entity_id(key.device),
        member_records.KIND,
        base,
        {
            "name": name,
            "public_key": key.public_key,
            "certificate": certificate_from_seed(seed),
            "added_by": key.device,
            **fields,
        },
        None,
        AuthorKind.SYSTEM,
        None,
    )


def first_commit(seed: bytes, operations: list[Operation], ms: int = 1) -> SignedCommit:
    """Return a commit that begins a replica of the device with a key, dated long ago."""
    key, nonce = Signer(seed), len(operations).to_bytes(32, "big")
    commit = commits.encode_commit(
        Commit(
            format=commits.COMMIT_FORMAT,
            replica=replica_id(ms, key.public_key, nonce),
            counter=1,
            previous=nonce,
            stamp=Stamp(ms, 0),
            author=Author(AuthorKind.SYSTEM),
            key=key.public_key,
            operations=sorted(operations, key=lambda operation: operation.entity),
        )
    )
    return SignedCommit(commit.signed.body, commits.sign_commit(commit, key))


def flood(count: int, first: int = 1, **fields: Value) -> SignedCommit:
    """Return a commit by which the member that has gone wrong enters so many devices."""
    operations = [entry(seed_of(first + n), f"m{first + n}", (), **fields) for n in range(count)]
    return first_commit(EVIL, operations, ms=first)


async def introduce(desk: Device, seed: bytes, name: str) -> None:
    """Let a device enter another one, as pairing does."""

    def use(transaction: Transaction) -> None:
        assert member_records.introduce(transaction, name, certificate_from_seed(seed), transaction.device)

    await desk.db.write(use)


async def take(desk: Device, *page: SignedCommit) -> None:
    """Let a device take commits that another one sends."""
    await desk.db.write(lambda transaction: transaction.accept_page(page))


async def linked_names(desk: Device) -> set[str]:
    """Return the names of the others with which a device links, once it has applied what it has."""
    await desk.peers.replication.apply_roster()
    return {member.name for member in desk.peers._members.linkable_members().values()}
