"""What this device leaves in a mailbox: its have, and drops, sealed and signed.

Never replaces the have of another holder: if one has the name of this device's, it becomes another itself.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import structlog

from daemon.clock import Clock
from daemon.peers.mailboxes import blob_reader
from daemon.peers.mailboxes.blob_reader import BlobStatus, BlobView, HaveView, ReadingKeys
from daemon.peers.mailboxes.carrier import Carrier
from daemon.peers.roster.member_records import Member, member_names
from store.local import mailboxes
from store.local.mailboxes import Holder, NoticedHave
from store.log import pages
from store.snapshot import Snapshot
from store.threads import StoreThreads
from syncproto import messages
from syncproto.commit import SignedCommit, decode_page
from syncproto.ids import DeviceId
from syncproto.keys import Signer
from syncproto.mailboxes import envelope, exchange_rule, names
from syncproto.mailboxes.envelope import FRAMES_MAX, WRAPS_MAX, BlobKind
from syncproto.mailboxes.names import HOLDER_BYTES, NAME_BYTES, NUMBER_MAX
from syncproto.mailboxes.sealing_keys import SECRET_BYTES, PrivateSealingKey, PublicSealingKey
from syncproto.messages import PAGE_BYTES_MAX, Commits, Heads, Hello
from syncproto.peer_vector import parts_of
from syncproto.vector_clock import VectorClock

HAVE_AGE_MS = 86_400_000
"""A have that did not change is replaced after a day: it is a sign of life."""

log = structlog.get_logger("peers")


class OwnDevice(NamedTuple):
    """Who looks: its signing key, and its sealing keys, the present one first."""

    signer: Signer
    keys: Sequence[PrivateSealingKey]


@dataclass
class MailboxKnowledge:
    """What this process knows of a mailbox; it is read anew after a start."""

    views: dict[str, BlobView] = field(default_factory=dict)
    useless_since_ms: dict[str, int] = field(default_factory=dict)
    """Since when this process sees what does not open, is of no member, or of one that was removed."""
    have_told: tuple[VectorClock, bytes, frozenset[bytes]] | None = None
    have_at_ms: int = 0
    number: int = 0
    bytes_used: int = 0
    admissions: dict[DeviceId, int] = field(default_factory=dict)
    """By which commit each sender was let in, as a bit by feed position."""

    def note_useless(self, useless: Iterable[str], now_ms: int) -> None:
        """Remember since when each blob is useless, and forget those that are not."""
        since_ms = self.useless_since_ms
        self.useless_since_ms = {name: min(since_ms.get(name, now_ms), now_ms) for name in useless}

    def not_usable(self, before_ms: int, members: Mapping[DeviceId, Member]) -> dict[str, Any]:
        """Return what is said of blobs that bring nothing: those of no use that have lain for long."""

        def names_of(status: BlobStatus) -> list[str]:
            senders = {view.sender for view in self.views.values() if view.status is status}
            return sorted(name for device, name in member_names(members).items() if device in senders)

        return {
            "unreadable": self._count_old(BlobStatus.UNREADABLE, before_ms),
            "foreign": self._count_old(BlobStatus.FOREIGN, before_ms),
            "gaps": sum(view.status is BlobStatus.GAP for view in self.views.values()),
            "newer": names_of(BlobStatus.NEWER),
            "older": names_of(BlobStatus.OLDER),
        }

    def _count_old(self, judgement: BlobStatus, before_ms: int) -> int:
        """Return how many blobs have been so since a time, or longer."""
        return sum(
            since_ms <= before_ms and name in self.views and self.views[name].status is judgement
            for name, since_ms in self.useless_since_ms.items()
        )


class BlobWriter:
    """Leaves what one device has to say in one mailbox. Call `find_holder` first."""

    def __init__(
        self,
        mailbox: str,
        carrier: Carrier,
        db: StoreThreads,
        clock: Clock,
        *,
        own: OwnDevice,
        reading_keys: ReadingKeys,
        mailbox_knowledge: MailboxKnowledge,
    ) -> None:
        self._mailbox = mailbox
        self._carrier = carrier
        self._db = db
        self._clock = clock
        self._own = own
        self.reading_keys = reading_keys
        self._knowledge = mailbox_knowledge
        self._tag = names.device_tag(reading_keys.vault, own.signer.device)
        self._holder = Holder(own.signer.device, b"")
        self._left: NoticedHave | None = None

    @property
    def _own_key(self) -> PublicSealingKey:
        return self._own.keys[0].public_key

    # -- what this device has ---------------------------------------------------------------------------

    async def find_holder(self) -> Holder:
        """Return as which holder this device leaves its haves here.

        It becomes another one if a have lies there that it did not leave: then another daemon runs with a
        copy of its data folder, or this folder was put back.
        """
        mailbox, device = self._mailbox, self._own.signer.device

        def read(snapshot: Snapshot) -> tuple[bytes | None, NoticedHave | None]:
            holder = mailboxes.own_holder(snapshot, mailbox)
            return holder, mailboxes.noticed_haves(snapshot, mailbox).get(Holder(device, holder or b""))

        holder, self._left = await self._db.read(read)
        if holder is None or any(
            have.holder == holder and self._is_strange(have, digest) for have, digest in self._own_haves()
        ):
            if holder is not None:
                log.warning("another daemon used the name of this one in a mailbox", mailbox=mailbox)
            holder, self._left = self._clock.randomness(HOLDER_BYTES), None
            new = holder
            await self._db.write(lambda transaction: mailboxes.set_own_holder(transaction, mailbox, new))
        self._holder = Holder(device, holder)
        return self._holder

    def _own_haves(self) -> list[tuple[HaveView, bytes]]:
        return [
            (view.have, view.digest)
            for view in self._knowledge.views.values()
            if view.have is not None and view.sender == self._own.signer.device
        ]

    def _is_strange(self, have: HaveView, digest: bytes) -> bool:
        """Return whether a have with the name of this holder is none that this device knows of."""
        if self._left is None:
            return True
        return have.number > self._left.number or (
            have.number == self._left.number and digest != self._left.digest
        )

    async def write_have(self, recipients: Sequence[PublicSealingKey]) -> list[str]:
        """Say what this device has, if that is not there as it is now; return copies that are of no use."""
        name = names.have_name(self._tag, self._holder.id)
        # A carrier that takes the letters of a name for the same in either case shows this have as it likes.
        here = {place for place in self._knowledge.views if place.casefold() == name}
        copies = [
            place
            for place, view in self._knowledge.views.items()
            if place not in here and self._is_copy(view)
        ]
        hello, parts = await self._hello()
        now_ms = self._clock.now_ms()
        vector = tuple(head for part in (hello.vector, *parts) for head in part)
        now_told = vector, hello.state_hash, frozenset(key.public for key in (self._own_key, *recipients))
        is_fresh = 0 <= now_ms - self._knowledge.have_at_ms < HAVE_AGE_MS
        left = self._left
        is_there = left is not None and any(
            self._knowledge.views[place].digest == left.digest for place in here
        )
        if not (is_there and is_fresh and now_told == self._knowledge.have_told):
            await self._put_have(name, hello, parts, recipients)
            self._knowledge.have_told, self._knowledge.have_at_ms = now_told, now_ms
        return copies

    def _is_copy(self, view: BlobView) -> bool:
        if view.have is None or view.sender != self._own.signer.device or view.have.vector is None:
            return False
        return view.have.holder in (b"", self._holder.id)

    async def put_have(self, recipients: Sequence[PublicSealingKey]) -> None:
        """Say what this device has."""
        name = names.have_name(self._tag, self._holder.id)
        await self._put_have(name, *await self._hello(), recipients)

    async def _hello(self) -> tuple[Hello, list[VectorClock]]:
        def read(snapshot: Snapshot) -> tuple[Hello, list[VectorClock]]:
            vector, *parts = parts_of(snapshot.heads().clock)
            more = envelope.holder_entry(self._holder.id)
            versions, replica, state_hash = list(messages.VERSIONS), snapshot.replica, snapshot.state_hash()
            hello = Hello(versions, self.reading_keys.vault, replica, vector, state_hash, more)
            return hello, [part for part in parts[: FRAMES_MAX - 1] if part]

        return await self._db.read(read)

    async def _put_have(
        self, name: str, hello: Hello, parts: Sequence[VectorClock], recipients: Sequence[PublicSealingKey]
    ) -> None:
        further = [messages.encode_message(Heads(part, ())) for part in parts]
        # A device that was restored goes on above what it finds of itself; its clock alone may be wrong.
        newest = max((have.number for have, _digest in self._own_haves()), default=0)
        newest = max(newest, 0 if self._left is None else self._left.number)
        number, blob = await self._seal(
            BlobKind.HAVE, [messages.encode_message(hello), *further], recipients, newest
        )
        left = NoticedHave(number, hashlib.sha256(blob).digest(), self._clock.now_ms())
        # Noted first: what is there and was not noted would count as left by another daemon.
        await self._db.write(
            lambda transaction: mailboxes.notice_have(transaction, self._mailbox, self._holder, left)
        )
        self._left = left
        await self._carrier.put(name, blob)

    async def _seal(
        self, kind: BlobKind, frames: Sequence[bytes], recipients: Sequence[PublicSealingKey], newest: int = 0
    ) -> tuple[int, bytes]:
        number = max(self._clock.now_ms(), newest + 1, self._knowledge.number + 1)
        self._knowledge.number = number = min(max(number, 1), NUMBER_MAX)
        own_key = self._own.keys[0]
        keys = dict.fromkeys([self._own_key, *recipients])
        blob = await asyncio.to_thread(
            envelope.seal,
            frames,
            kind=kind,
            vault=(self.reading_keys.vault, self.reading_keys.vault_tag),
            sender=self._tag,
            number=number,
            recipients=list(keys)[:WRAPS_MAX],
            signer=self._own.signer,
            secret=self._clock.randomness(SECRET_BYTES),
            key=own_key if kind is BlobKind.HAVE else None,
        )
        return number, blob

    # -- what others lack -------------------------------------------------------------------------------

    async def write_drops(self, write: int, recipients: Sequence[PublicSealingKey]) -> AsyncIterator[str]:
        """Leave commits (bits by feed position), sealed to some keys and its own; yield the names."""
        tags = frozenset(
            names.key_tag(self.reading_keys.vault, key.public) for key in (self._own_key, *recipients)
        )
        while write:
            remaining = write

            def read(
                snapshot: Snapshot, remaining: int = remaining
            ) -> tuple[list[SignedCommit], int, int, int]:
                page = pages.page_of_positions(
                    snapshot.log, exchange_rule.positions_of(remaining), PAGE_BYTES_MAX
                )
                return page.commits, page.end, *blob_reader.bits_of(snapshot.log, decode_page(page.commits))

            page, end, brings, needs = await self._db.read(read)
            write &= ~((1 << (end + 1)) - 1)
            number, blob = await self._seal(
                BlobKind.DROP, [messages.encode_message(Commits(page))], recipients
            )
            name = names.drop_name(self._tag, number, self._clock.randomness(NAME_BYTES))
            await self._carrier.put(name, blob)
            own = self._own.signer.device
            digest = hashlib.sha256(blob).digest()
            self._knowledge.views[name] = BlobView(
                f"own-{len(blob)}", BlobStatus.DROP, own, tags, digest, brings=brings, needs=needs
            )
            yield name
