"""One look into a mailbox: read what is new, say what this device has, write what others lack, clear up.

Never deletes what this device has not read, unless its sender is at fault, and never writes for a stranger.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_
from typing import NamedTuple

import structlog

from daemon.clock import Clock
from daemon.peers.mailboxes import sight
from daemon.peers.mailboxes.carrier import Carrier, CarrierFault, ListedBlob
from daemon.peers.mailboxes.sight import BlobView, Eyes, Judgement, Opened
from daemon.peers.roster import member_records
from daemon.peers.roster.member_records import Member
from store.local import brought_commits, mailboxes, peer_records
from store.local.mailboxes import NoticedHave
from store.log import pages
from store.queries.field_changes import positions_touching
from store.sentence import Sentence
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto import messages
from syncproto.commit import DecodedCommit, SignedCommit, decode_page
from syncproto.errors import CommitsMissing, RemoteProtocolError
from syncproto.ids import DeviceId
from syncproto.keys import Signer, device_id_of_key
from syncproto.mailboxes import envelope, exchange_rule, names
from syncproto.mailboxes.envelope import ENVELOPE_BYTES_MAX, FRAMES_MAX, WRAPS_MAX, BlobKind
from syncproto.mailboxes.exchange_rule import DropView, MemberView
from syncproto.mailboxes.names import NAME_BYTES, NUMBER_MAX
from syncproto.mailboxes.sealing_keys import SECRET_BYTES, PrivateSealingKey, PublicSealingKey
from syncproto.messages import PAGE_BYTES_MAX, Commits, Heads, Hello
from syncproto.peer_vector import parts_of
from syncproto.vector_clock import EMPTY_CLOCK, VectorClock

HAVE_AGE_MS = 86_400_000
"""A have that did not change is replaced after a day: it is a sign of life."""

_MAY_OPEN_LATER = (Judgement.UNREADABLE, Judgement.FOREIGN, Judgement.SEALED)

log = structlog.get_logger("peers")


class OwnDevice(NamedTuple):
    """Who looks: its signing key, and its sealing keys, the present one first."""

    signer: Signer
    keys: Sequence[PrivateSealingKey]


class Comparison(NamedTuple):
    """A member that has the same commits as this device, and whether it shows the same state."""

    device: DeviceId
    agree: bool


@dataclass
class MailboxSight:
    """What this process knows of a mailbox; it is read anew after a start."""

    views: dict[str, BlobView] = field(default_factory=dict)
    unreadable_since_ms: dict[str, int] = field(default_factory=dict)
    have_told: tuple[VectorClock, bytes, frozenset[bytes]] | None = None
    have_at_ms: int = 0
    number: int = 0
    bytes_used: int = 0
    admissions: dict[DeviceId, int] = field(default_factory=dict)
    """By which commit each sender was let in, as a bit by feed position."""


class VisitCounts(NamedTuple):
    """What visits came to: drops that brought something new, drops written, and blobs deleted."""

    taken: int = 0
    written: int = 0
    deleted: int = 0

    def plus(self, other: "VisitCounts") -> "VisitCounts":
        """Return both together."""
        return VisitCounts(
            self.taken + other.taken, self.written + other.written, self.deleted + other.deleted
        )


class MailboxVisit:
    """One visit. `members` are the other members now, `own_member` is this device's own entry."""

    def __init__(
        self,
        name: str,
        carrier: Carrier,
        db: StoreThreads,
        clock: Clock,
        *,
        own: OwnDevice,
        members: Mapping[DeviceId, Member],
        own_member: Member,
        mailbox_sight: MailboxSight,
        shortfall: Callable[[], Sentence | None],
    ) -> None:
        self._name = name
        self._carrier = carrier
        self._db = db
        self._clock = clock
        self._own = own
        self._members = members
        self._own_member = own_member
        self._sight = mailbox_sight
        self._shortfall = shortfall
        self._taken = self._written = self._deleted = 0

    @property
    def counts(self) -> VisitCounts:
        """Return what this visit has come to so far, also if a fault ended it."""
        return VisitCounts(self._taken, self._written, self._deleted)

    async def run(self, *, may_write: bool) -> list[Comparison]:
        """Look once, and return the states that were compared. Raises CarrierFault.

        Without `may_write`, write only if something was read.
        """
        eyes = await self._make_eyes()
        await self._read_blobs(eyes)
        haves = self._newest_haves()
        comparisons = await self._note_haves(haves)
        if may_write or self._taken:
            await self._write_have(eyes, haves)
            await self._exchange(eyes, haves)
        return comparisons

    async def read(self) -> VisitCounts:
        """Look once, and write nothing. Raises CarrierFault."""
        await self._read_blobs(await self._make_eyes())
        await self._note_haves(self._newest_haves())
        return self.counts

    async def write_for(self, members: Sequence[Member]) -> None:
        """Write what some members lack, as far as is known, and what this device has. Raises CarrierFault."""
        eyes = await self._make_eyes()
        keys = [member.sealing_key.key for member in members if member.sealing_key is not None]
        recipients = [self._own.keys[0].public_key, *keys[: WRAPS_MAX - 1]]
        await self._put_have(eyes, recipients, 0)
        devices = [member.device for member in members]
        lacks = await self._db.read(lambda snapshot: find_lacks(snapshot, devices))
        await self._write_drops(eyes, reduce(or_, lacks.values(), 0), recipients)

    async def write_for_newcomers(self, newcomers: Sequence[Member]) -> None:
        """Write all that members lack who have not looked in here yet, if nobody else does.

        Others that look in here would clear that up; with them, a newcomer is brought up once it has said
        what it lacks. Raises CarrierFault.
        """
        if newcomers and not self._newest_haves():
            await self.write_for(newcomers)

    async def _make_eyes(self) -> Eyes:
        vault = await self._db.read(lambda snapshot: snapshot.vault())
        assert vault is not None, "a mailbox before the first start was over"
        return sight.make_eyes(vault, self._own.keys, [*self._members.values(), self._own_member])

    # -- reading ----------------------------------------------------------------------------------------

    async def _read_blobs(self, eyes: Eyes) -> None:
        listed = {blob.name: blob for blob in await self._carrier.list_blobs()}
        views = self._sight.views
        for name in [name for name in views if name not in listed]:
            del views[name]
        for name, blob in listed.items():
            # What this device has just written need not be read again, if it is there as it was written.
            if name in views and views[name].mark == f"own-{blob.size}":
                views[name] = views[name]._replace(mark=blob.mark)
        self._sight.bytes_used = sum(blob.size for blob in listed.values())
        new = sorted(
            (blob for blob in listed.values() if not self._is_known(blob)),
            key=lambda blob: (blob.name.rpartition("/")[2], blob.name),
        )
        while new:
            # A drop that rests on another one is looked at again once something was taken.
            taken_before = self._taken
            for blob in new:
                await self._read_blob(blob, eyes)
            if self._taken == taken_before:
                break
            new = [blob for blob in new if views[blob.name].judgement is Judgement.GAP]
        now_ms = self._clock.now_ms()
        unreadable = {name for name, view in views.items() if view.judgement is Judgement.UNREADABLE}
        since_ms = self._sight.unreadable_since_ms
        self._sight.unreadable_since_ms = {name: since_ms.get(name, now_ms) for name in unreadable}

    def _is_known(self, blob: ListedBlob) -> bool:
        view = self._sight.views.get(blob.name)
        if view is None or view.mark != blob.mark:
            return False
        # What was sealed to others, or by a stranger, may be for this device once it knows more.
        if view.judgement is Judgement.GAP:
            return view.digest == self._feed_mark
        return view.judgement not in _MAY_OPEN_LATER or view.digest == self._knowledge

    @property
    def _feed_mark(self) -> bytes:
        return self._db.feed_end.to_bytes(8, "big")

    @cached_property
    def _knowledge(self) -> bytes:
        """Return a mark of what decides whether a blob opens: the members, and the keys of this device."""
        parts = [*sorted(self._members), *(key.private for key in self._own.keys)]
        return hashlib.sha256(b"".join(parts)).digest()

    async def _read_blob(self, listed: ListedBlob, eyes: Eyes) -> None:
        raw = await self._carrier.get(listed.name, ENVELOPE_BYTES_MAX)
        if raw is None:
            self._sight.views[listed.name] = BlobView(listed.mark, Judgement.UNREADABLE)
            return
        opened = await asyncio.to_thread(sight.open_blob, raw, eyes)
        if isinstance(opened, Judgement):
            view = BlobView(listed.mark, opened, digest=self._knowledge)
        elif opened.have is not None:
            digest = hashlib.sha256(raw).digest()
            view = BlobView(
                listed.mark, Judgement.HAVE, opened.sender, opened.blob.readers, digest, have=opened.have
            )
        else:
            view = await self._take_drop(listed.mark, opened)
        self._sight.views[listed.name] = view
        if view.judgement is Judgement.SPOILED:
            # Deleted, so that others put again what it stood for: they count it as sealed to this device.
            log.warning("a member left a blob that is no good", mailbox=self._name, blob=listed.name)
            await self._delete(listed.name)

    async def _take_drop(self, mark: str, opened: Opened) -> BlobView:
        page = opened.commits or ()
        if (shortfall := self._shortfall()) is not None:
            raise CarrierFault(shortfall)

        def store(transaction: Transaction, decoded: Sequence[DecodedCommit]) -> tuple[int, int, int]:
            end_before = transaction.feed_end()
            accepted = transaction.accept_decoded_page(decoded)
            if accepted.new_commits:
                end = transaction.feed_end()
                brought_commits.note_brought(transaction, self._name, end_before + 1, end)
            return accepted.new_commits, *sight.bits_of(transaction.log, decoded)

        readers = opened.blob.readers
        try:
            new, brings, needs = await self._db.accept_page(page, store)
        except CommitsMissing:
            return BlobView(mark, Judgement.GAP, opened.sender, readers, self._feed_mark)
        except RemoteProtocolError:
            return BlobView(mark, Judgement.SPOILED, opened.sender, readers)
        self._taken += new > 0
        return BlobView(mark, Judgement.DROP, opened.sender, readers, brings=brings, needs=needs)

    # -- what others have -------------------------------------------------------------------------------

    def _newest_haves(self) -> dict[DeviceId, BlobView]:
        """Return the newest have of each other member that is in sight."""
        newest: dict[DeviceId, BlobView] = {}
        for view in self._sight.views.values():
            if view.have is None or view.sender is None or view.sender not in self._members:
                continue
            before = newest.get(view.sender)
            if before is None or before.have is None or before.have.number < view.have.number:
                newest[view.sender] = view
        return newest

    async def _note_haves(self, haves: Mapping[DeviceId, BlobView]) -> list[Comparison]:
        """Store what new haves say; return the members whose state can be compared with this device's."""
        noticed = await self._db.read(lambda snapshot: mailboxes.noticed_haves(snapshot, self._name))
        new = {
            device: view
            for device, view in haves.items()
            if device not in noticed or noticed[device].digest != view.digest
        }
        if not new:
            return []
        now_ms = self._clock.now_ms()

        def write(transaction: Transaction) -> list[Comparison]:
            comparisons: list[Comparison] = []
            heads, state_hash = transaction.heads().clock, transaction.state_hash()
            for device, view in new.items():
                mailboxes.notice_have(transaction, self._name, device, NoticedHave(view.digest, now_ms))
                if view.have is None or view.have.vector is None:
                    continue
                peer_records.record_contact(transaction, device, view.have.vector, now_ms)
                if view.have.vector == heads:
                    comparisons.append(Comparison(device, view.have.state_hash == state_hash))
            return comparisons

        return await self._db.write(write)

    # -- what this device has ---------------------------------------------------------------------------

    async def _write_have(self, eyes: Eyes, haves: Mapping[DeviceId, BlobView]) -> None:
        own_tag = names.device_tag(eyes.vault, self._own.signer.device)
        name = names.have_name(own_tag)
        copies = {
            copy: view.have
            for copy, view in self._sight.views.items()
            if view.have is not None and view.sender == self._own.signer.device
        }
        recipients = self._recipients(haves)
        hello, parts = await self._own_hello(eyes)
        now_ms = self._clock.now_ms()
        vector = tuple(head for part in (hello.vector, *parts) for head in part)
        now_told = vector, hello.state_hash, frozenset(key.public for key in recipients)
        is_fresh = 0 <= now_ms - self._sight.have_at_ms < HAVE_AGE_MS
        if name in copies and len(copies) == 1 and now_told == self._sight.have_told and is_fresh:
            return
        await self._put_have(eyes, recipients, max((have.number for have in copies.values()), default=0))
        self._sight.have_told, self._sight.have_at_ms = now_told, now_ms
        for copy in copies:
            if copy != name:
                await self._delete(copy)

    async def _own_hello(self, eyes: Eyes) -> tuple[Hello, list[VectorClock]]:
        def read(snapshot: Snapshot) -> tuple[Hello, list[VectorClock]]:
            vector, *parts = parts_of(snapshot.heads().clock)
            hello = Hello(
                list(messages.VERSIONS), eyes.vault, snapshot.replica, vector, snapshot.state_hash(), {}
            )
            return hello, [part for part in parts[: FRAMES_MAX - 1] if part]

        return await self._db.read(read)

    async def _put_have(self, eyes: Eyes, recipients: Sequence[PublicSealingKey], newest: int) -> None:
        hello, parts = await self._own_hello(eyes)
        further = [messages.encode_message(Heads(part, ())) for part in parts]
        frames = [messages.encode_message(hello), *further]
        blob = await self._seal(eyes, BlobKind.HAVE, frames, recipients, newest)
        name = names.have_name(names.device_tag(eyes.vault, self._own.signer.device))
        await self._carrier.put(name, blob)

    def _recipients(self, haves: Mapping[DeviceId, BlobView]) -> list[PublicSealingKey]:
        """Return the keys to seal to: of the members in sight, and this device's own."""
        keys = [view.have.key.key for _, view in sorted(haves.items()) if view.have is not None]
        return [self._own.keys[0].public_key, *keys[: WRAPS_MAX - 1]]

    async def _seal(
        self,
        eyes: Eyes,
        kind: BlobKind,
        frames: Sequence[bytes],
        recipients: Sequence[PublicSealingKey],
        newest: int,
    ) -> bytes:
        own = self._own
        # A device that was restored goes on above what it finds of itself; its clock alone may be wrong.
        number = max(self._clock.now_ms(), newest + 1, self._sight.number + 1)
        self._sight.number = number = min(max(number, 1), NUMBER_MAX)
        return await asyncio.to_thread(
            envelope.seal,
            frames,
            kind=kind,
            vault=(eyes.vault, eyes.vault_tag),
            sender=names.device_tag(eyes.vault, own.signer.device),
            number=number,
            recipients=recipients,
            signer=own.signer,
            secret=self._clock.randomness(SECRET_BYTES),
            key=own.keys[0] if kind is BlobKind.HAVE else None,
        )

    # -- what others lack -------------------------------------------------------------------------------

    async def _exchange(self, eyes: Eyes, haves: Mapping[DeviceId, BlobView]) -> None:
        members, keys = await self._db.read(lambda snapshot: self._member_views(snapshot, eyes.vault, haves))
        admissions = await self._db.read(self._find_admissions)
        drops = [
            DropView(name, view.brings, view.needs | admissions.get(view.sender, 0), view.readers)
            for name, view in self._sight.views.items()
            if view.judgement is Judgement.DROP and view.sender is not None
            if view.sender in self._members or view.sender == self._own.signer.device
        ]
        chosen = exchange_rule.plan(members, drops)
        recipients = [self._own.keys[0].public_key, *(keys[tag] for tag in sorted(chosen.readers))]
        # First what needs no more room, so that a place that is full gets some.
        for name in chosen.clear:
            await self._delete(name)
        await self._write_drops(eyes, chosen.write, recipients[:WRAPS_MAX])

    def _find_admissions(self, snapshot: Snapshot) -> dict[DeviceId, int]:
        """Return the commit by which each other sender of drops was let in, as a bit; 0 for a founder.

        Whoever lacks that commit takes no drop of this sender, not even the one that brings it. So it
        counts as if such a drop rested on it, and somebody whom all know writes it again.
        """
        senders = {view.sender for view in self._sight.views.values() if view.judgement is Judgement.DROP}
        for sender in senders & self._members.keys():
            if sender is not None and sender not in self._sight.admissions:
                self._sight.admissions[sender] = _admission_of(snapshot, sender)
        return dict(self._sight.admissions)

    def _member_views(
        self, snapshot: Snapshot, vault: bytes, haves: Mapping[DeviceId, BlobView]
    ) -> tuple[list[MemberView], dict[bytes, PublicSealingKey]]:
        noticed = mailboxes.noticed_haves(snapshot, self._name)
        lacks = find_lacks(snapshot, haves)
        now_ms = self._clock.now_ms()
        views: list[MemberView] = []
        keys: dict[bytes, PublicSealingKey] = {}
        for device, view in sorted(haves.items()):
            if view.have is None or device not in noticed:
                continue
            key = view.have.key.key
            tag = names.key_tag(vault, key.public)
            keys[tag] = key
            views.append(MemberView(tag, lacks[device], now_ms - noticed[device].noticed_ms))
        return views, keys

    async def _write_drops(self, eyes: Eyes, write: int, recipients: Sequence[PublicSealingKey]) -> None:
        own_tag = names.device_tag(eyes.vault, self._own.signer.device)
        while write:
            remaining = write

            def read(
                snapshot: Snapshot, remaining: int = remaining
            ) -> tuple[list[SignedCommit], int, int, int]:
                page = pages.page_of_positions(
                    snapshot.log, exchange_rule.positions_of(remaining), PAGE_BYTES_MAX
                )
                return page.commits, page.end, *sight.bits_of(snapshot.log, decode_page(page.commits))

            page, end, brings, needs = await self._db.read(read)
            write &= ~((1 << (end + 1)) - 1)
            frame = messages.encode_message(Commits(page))
            blob = await self._seal(eyes, BlobKind.DROP, [frame], recipients, 0)
            name = names.drop_name(own_tag, self._sight.number, self._clock.randomness(NAME_BYTES))
            await self._carrier.put(name, blob)
            self._written += 1
            tags = frozenset(names.key_tag(eyes.vault, key.public) for key in recipients)
            own = self._own.signer.device
            self._sight.views[name] = BlobView(
                f"own-{len(blob)}", Judgement.DROP, own, tags, brings=brings, needs=needs
            )

    async def _delete(self, name: str) -> None:
        await self._carrier.delete(name)
        self._sight.views.pop(name, None)
        self._deleted += 1


def find_lacks(snapshot: Snapshot, devices: Iterable[DeviceId]) -> dict[DeviceId, int]:
    """Return which commits of this store each device is not known to have: bits by position."""
    contacts = peer_records.peer_contacts(snapshot)
    lacked: dict[DeviceId, int] = {}
    for device in devices:
        vector = contacts[device].vector if device in contacts else EMPTY_CLOCK
        entries = snapshot.log.commits_lacking(vector, 0)
        lacked[device] = exchange_rule.bits_at(entry.seq for entry in entries)
    return lacked


def _admission_of(snapshot: Snapshot, device: DeviceId) -> int:
    log = snapshot.log
    for position in positions_touching(snapshot, [member_records.roster_entity_id(device)], 0):
        if device_id_of_key(log.owner_key(log.head_at(position).replica)) != device:
            return 1 << position
    return 0
