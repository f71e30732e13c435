"""Reads the blobs in a mailbox: whose they are, and what is in them, as far as this device's keys open them.

Never decides what to write or to delete, and never trusts a blob's name.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from daemon.peers.roster.member_records import Member
from store.log.commit_log import CommitLog
from syncproto.commit import DecodedCommit, SignedCommit
from syncproto.errors import RemoteProtocolError, UnsupportedVersion
from syncproto.ids import DeviceId, ReplicaId
from syncproto.mailboxes import envelope, exchange_rule, names
from syncproto.mailboxes.envelope import BlobKind, Envelope
from syncproto.mailboxes.sealing_keys import PrivateSealingKey, PublishedKey
from syncproto.vector_clock import Head, VectorClock


class BlobStatus(Enum):
    """What this device knows of a blob after it has looked at it."""

    UNREADABLE = "half a blob, or none"
    FOREIGN = "of no member, or of another vault"
    REMOVED = "of a device that was removed"
    SEALED = "for others"
    SPOILED = "signed by a member, and no good"
    NEWER = "of a member that speaks newer versions of the protocol alone"
    OLDER = "of a member that speaks older versions of the protocol alone"
    GAP = "rests on what is not here"
    DROP = "a drop that was taken"
    HAVE = "a have"


class HaveView(NamedTuple):
    """What a member says that it has. `vector` is None if that is sealed to others.

    `holder` names the data folder of the device that says it, and is empty if that is unknown. `replica` is
    the replica under which that folder writes.
    """

    number: int
    key: PublishedKey
    vector: VectorClock | None = None
    state_hash: bytes = b""
    holder: bytes = b""
    replica: ReplicaId | None = None


class BlobView(NamedTuple):
    """A blob that was looked at: its mark then, whose it is, and what is in it, as far as this device knows.

    Of a drop that was taken, `brings` and `needs` are bits by feed position. `digest` is SHA-256 of the blob,
    no bytes if it was gone; copies under other names share all but the mark. `knew` marks what this device
    knew when a blob could not be used.
    """

    mark: str
    status: BlobStatus
    sender: DeviceId | None = None
    readers: frozenset[bytes] = frozenset()
    digest: bytes = b""
    knew: bytes = b""
    brings: int = 0
    needs: int = 0
    have: HaveView | None = None


class OpenedBlob(NamedTuple):
    """A blob of a member that could be read: commits, or what it has.

    `status` is the one of a have that this device does not understand; it has neither then.
    """

    sender: DeviceId
    blob: Envelope
    commits: Sequence[SignedCommit] | None
    have: HaveView | None
    status: BlobStatus = BlobStatus.HAVE


class ReadingKeys(NamedTuple):
    """What this device needs to read blobs: its vault, its keys, and by their tags who is or was a member."""

    vault: bytes
    vault_tag: bytes
    keys: Mapping[bytes, PrivateSealingKey]
    members: Mapping[bytes, Member]
    removed: Mapping[bytes, Member]

    @property
    def member_tags(self) -> frozenset[str]:
        """Return how the names begin that members give to blobs."""
        return frozenset(tag.hex() for tag in self.members)


def make_reading_keys(
    vault: bytes,
    keys: Sequence[PrivateSealingKey],
    members: Sequence[Member],
    removed: Sequence[Member] = (),
) -> ReadingKeys:
    """Return what a device needs to read the blobs of its vault; `members` include the device itself."""
    return ReadingKeys(
        vault,
        names.vault_tag(vault),
        {names.key_tag(vault, key.public_key.public): key for key in keys},
        {names.device_tag(vault, member.device): member for member in members},
        {names.device_tag(vault, member.device): member for member in removed},
    )


def open_blob(raw: bytes, reading_keys: ReadingKeys) -> OpenedBlob | BlobStatus:
    """Return what is in a blob, or why this device cannot read it."""
    try:
        blob = envelope.read_envelope(raw)
    except RemoteProtocolError:
        return BlobStatus.UNREADABLE
    gone = reading_keys.removed.get(blob.header.sender)
    if blob.header.vault == reading_keys.vault_tag and gone is not None:
        return BlobStatus.REMOVED if envelope.is_signed_by(blob, gone.public_key) else BlobStatus.FOREIGN
    member = reading_keys.members.get(blob.header.sender)
    if blob.header.vault != reading_keys.vault_tag or member is None:
        return BlobStatus.FOREIGN
    if not envelope.is_signed_by(blob, member.public_key):
        return BlobStatus.FOREIGN
    frames: list[bytes] | None = None
    try:
        frames = envelope.open_frames(blob, reading_keys.keys)
    except envelope.NoRecipient:
        if blob.header.kind is BlobKind.DROP:
            return BlobStatus.SEALED
    except RemoteProtocolError:
        return BlobStatus.SPOILED
    return _opened_blob(blob, member, frames, reading_keys)


def _opened_blob(
    blob: Envelope, member: Member, frames: list[bytes] | None, reading_keys: ReadingKeys
) -> OpenedBlob | BlobStatus:
    try:
        if blob.header.kind is BlobKind.HAVE:
            return OpenedBlob(member.device, blob, None, _have_of(blob, member, frames, reading_keys))
        return OpenedBlob(member.device, blob, envelope.read_drop(frames or []).commits, None)
    except UnsupportedVersion as fault:
        # Not its fault, and no reader of this mailbox: it could not read what this device writes.
        status = BlobStatus.NEWER if fault.newer else BlobStatus.OLDER
        return OpenedBlob(member.device, blob, None, None, status)
    except RemoteProtocolError:
        return BlobStatus.SPOILED


def _have_of(
    blob: Envelope, member: Member, frames: list[bytes] | None, reading_keys: ReadingKeys
) -> HaveView:
    key = envelope.claimed_key(blob, member.public_key)
    if key is None:
        raise RemoteProtocolError("a have with a key that its device has not signed")
    if frames is None:
        return HaveView(blob.header.number, key)
    hello, parts = envelope.read_have(frames)
    if hello.vault != reading_keys.vault:
        raise RemoteProtocolError("a have of another vault")
    vector = (*hello.vector, *(head for part in parts for head in part.heads))
    holder = envelope.holder_of(hello)
    return HaveView(blob.header.number, key, vector, hello.state_hash, holder, hello.replica)


def bits_of(log: CommitLog, page: Sequence[DecodedCommit]) -> tuple[int, int]:
    """Return which commits of the log a page brings, and on which others they rest: bits by position."""
    causes = set[Head]()
    brings = exchange_rule.bits_at(log.position_of(decoded.head) for decoded in page)
    for decoded in page:
        commit = decoded.commit
        if commit.counter > 1:
            causes.add(Head(commit.replica, commit.counter - 1, commit.previous))
        for operation in commit.operations:
            causes.update(operation.base)
    needs = exchange_rule.bits_at(log.position_of(head) for head in causes)
    return brings, needs & ~brings
