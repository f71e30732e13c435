"""One look into a mailbox: read what is new, say what this device has, write what others lack, clear up.

Never deletes what this device has not read, unless its sender is at fault, and never writes for a stranger.
"""

import asyncio
import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, reduce
from operator import or_
from typing import NamedTuple

import structlog

from daemon.clock import Clock
from daemon.peers.mailboxes import blob_reader, holders
from daemon.peers.mailboxes.blob_reader import BlobStatus, BlobView, OpenedBlob, ReadingKeys
from daemon.peers.mailboxes.blob_writer import BlobWriter, MailboxKnowledge, OwnDevice
from daemon.peers.mailboxes.carrier import LISTED_MAX, Carrier, CarrierFault, ListedBlob
from daemon.peers.mailboxes.holders import Comparison, SeenHave
from daemon.peers.roster import member_records
from daemon.peers.roster.member_records import Member
from store.local import brought_commits, mailboxes
from store.local.mailboxes import Holder
from store.queries.field_changes import positions_touching
from store.sentence import Sentence
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.commit import DecodedCommit
from syncproto.errors import CommitsMissing, RemoteProtocolError
from syncproto.ids import DeviceId
from syncproto.keys import device_id_of_key
from syncproto.mailboxes import exchange_rule, names
from syncproto.mailboxes.envelope import ENVELOPE_BYTES_MAX
from syncproto.mailboxes.exchange_rule import DropView, Plan
from syncproto.mailboxes.sealing_keys import PublicSealingKey

STRANGERS_READ_MAX = 500
"""How many blobs are read in one visit whose names do not begin as those of members do."""
USELESS_READ_MAX = 500
"""How many blobs under the name of one member are read in one visit that are copies, or of no use."""
LOOKED_AT_ONCE = 1000
"""After so many blobs, of which few may have to be read, other work of this process has a turn."""
REMOVED_KEPT_MS = 3_600_000
"""How long what a removed device left stays: it may go on writing, and would be answered at every look."""

_MAY_OPEN_LATER = (BlobStatus.UNREADABLE, BlobStatus.FOREIGN, BlobStatus.REMOVED, BlobStatus.SEALED)

_USELESS = (BlobStatus.UNREADABLE, BlobStatus.FOREIGN, BlobStatus.REMOVED)
_NOT_GOOD = (*_USELESS, BlobStatus.SPOILED)

log = structlog.get_logger("peers")


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
    """One visit. `members` are the other members now, `own_member` is this device's own entry.

    `removed` are the devices that were members.
    """

    def __init__(
        self,
        name: str,
        carrier: Carrier,
        db: StoreThreads,
        clock: Clock,
        *,
        own: OwnDevice,
        members: Mapping[DeviceId, Member],
        removed: Sequence[Member],
        own_member: Member,
        mailbox_knowledge: MailboxKnowledge,
        shortfall: Callable[[], Sentence | None],
    ) -> None:
        self._name = name
        self._carrier = carrier
        self._db = db
        self._clock = clock
        self._own = own
        self._members = members
        self._removed = removed
        self._own_member = own_member
        self._knowledge = mailbox_knowledge
        self._shortfall = shortfall
        self._taken = self._written = self._deleted = 0
        self.listing_s = 0.0
        """How long the place took to list its blobs."""
        self._judged: dict[bytes, BlobView] = {}
        """What is known of blobs, by SHA-256 of these: the names are the carrier's."""
        self._useless_read = Counter[str]()
        """How many reads of this visit were for nothing, by the member's tag in the name."""

    @property
    def counts(self) -> VisitCounts:
        """Return what this visit has come to so far, also if a fault ended it."""
        return VisitCounts(self._taken, self._written, self._deleted)

    async def run(self, *, may_write: bool) -> list[Comparison]:
        """Look once, and return the states that were compared. Raises CarrierFault.

        Without `may_write`, write only if something was read.
        """
        reading_keys = await self._make_reading_keys()
        await self._read_blobs(reading_keys, strangers_max=STRANGERS_READ_MAX)
        writer = self._make_writer(reading_keys)
        own_holder = await writer.find_holder()
        haves = self._newest_haves(own_holder)
        comparisons = await self._note_haves(haves)
        if may_write or self._taken:
            chosen = await self._plan(haves)
            # First what needs no more room, so that a place that is full gets some.
            for name in (*chosen.clear, *self._left_by_removed()):
                await self._delete(name)
            for copy in await writer.write_have(holders.keys_of(haves)):
                await self._delete(copy)
            vault = reading_keys.vault
            recipients = [
                key for key in holders.keys_of(haves) if names.key_tag(vault, key.public) in chosen.readers
            ]
            await self._write_drops(writer, chosen.write, recipients)
            await self._clear_predecessors(haves)
        return comparisons

    async def read(self) -> VisitCounts:
        """Look once, and write nothing. Raises CarrierFault."""
        # Blobs in a bundle have no names of members.
        await self._read_blobs(await self._make_reading_keys(), strangers_max=LISTED_MAX)
        await self._note_haves(self._newest_haves())
        return self.counts

    async def write_for(self, members: Sequence[Member]) -> None:
        """Write what some members lack, as far as is known, and what this device has. Raises CarrierFault."""
        writer = self._make_writer(await self._make_reading_keys())
        await writer.find_holder()
        recipients = [member.sealing_key.key for member in members if member.sealing_key is not None]
        await writer.put_have(recipients)
        devices = [member.device for member in members]
        lacks = await self._db.read(lambda snapshot: holders.find_lacks(snapshot, devices))
        await self._write_drops(writer, reduce(or_, lacks.values(), 0), recipients)

    async def write_for_newcomers(self, newcomers: Sequence[Member]) -> None:
        """Write all that members lack who have not looked in here yet, if nobody else does.

        Others that look in here would clear that up; with them, a newcomer is brought up once it has said
        what it lacks. Raises CarrierFault.
        """
        if newcomers and not holders.newest_haves(self._knowledge.views.values(), self._members):
            await self.write_for(newcomers)

    async def _make_reading_keys(self) -> ReadingKeys:
        vault = await self._db.read(lambda snapshot: snapshot.vault())
        assert vault is not None, "a mailbox before the first start was over"
        members = [*self._members.values(), self._own_member]
        return blob_reader.make_reading_keys(vault, self._own.keys, members, self._removed)

    def _make_writer(self, reading_keys: ReadingKeys) -> BlobWriter:
        return BlobWriter(
            self._name,
            self._carrier,
            self._db,
            self._clock,
            own=self._own,
            reading_keys=reading_keys,
            mailbox_knowledge=self._knowledge,
        )

    # -- reading ----------------------------------------------------------------------------------------

    async def _read_blobs(self, reading_keys: ReadingKeys, *, strangers_max: int) -> None:
        start_s = self._clock.monotonic_s()
        listed = {blob.name: blob for blob in await self._carrier.list_blobs(reading_keys.member_tags)}
        self.listing_s = self._clock.monotonic_s() - start_s
        views = self._knowledge.views
        self._judged = {view.digest: view for view in views.values() if view.digest}
        await self._forget_gone(listed)
        await self._compare_own(listed)
        self._knowledge.bytes_used = sum(blob.size for blob in listed.values())
        # There may be very many, and other work of this process goes on meanwhile.
        new = await asyncio.to_thread(self._choose_new, listed.values(), reading_keys, strangers_max)
        while new:
            # A drop that rests on another one is looked at again once something was taken.
            taken_before = self._taken
            for number, blob in enumerate(new):
                if not number % LOOKED_AT_ONCE:
                    await asyncio.sleep(0)
                await self._look_at(blob, reading_keys)
            if self._taken == taken_before:
                break
            gaps = {name for name, view in views.items() if view.status is BlobStatus.GAP}
            new = [blob for blob in new if blob.name in gaps]
        gone = {member.device for member in self._removed}
        useless = [name for name, view in views.items() if view.status in _USELESS or view.sender in gone]
        self._knowledge.note_useless(useless, self._clock.now_ms())

    async def _forget_gone(self, listed: Mapping[str, ListedBlob]) -> None:
        """Forget what is not listed any more.

        A full list may leave out what this device has just left, and it would leave that at each look.
        """
        views, own = self._knowledge.views, self._own.signer.device
        for name in [name for name in views if name not in listed]:
            is_own = views[name].status is BlobStatus.DROP and views[name].sender == own
            if not (len(listed) >= LISTED_MAX and is_own and await self._carrier.get(name, 0) is not None):
                del views[name]

    async def _compare_own(self, listed: Mapping[str, ListedBlob]) -> None:
        """Look whether what this device has just written is there as it was written.

        What lies there instead may be as long, and would count for those who cannot read it.
        """
        views = self._knowledge.views
        for name, blob in listed.items():
            if name in views and views[name].mark == f"own-{blob.size}":
                raw = await self._carrier.get(name, ENVELOPE_BYTES_MAX)
                if raw is not None and hashlib.sha256(raw).digest() == views[name].digest:
                    views[name] = views[name]._replace(mark=blob.mark)

    def _choose_new(
        self, listed: Iterable[ListedBlob], reading_keys: ReadingKeys, strangers_max: int
    ) -> Sequence[ListedBlob]:
        """Return the blobs to read: those that are called as members call theirs, and some others."""
        views = self._knowledge.views
        new = sorted(
            (blob for blob in listed if not self._is_known(blob)),
            # What was never looked at comes first: nothing may keep it waiting for ever.
            key=lambda blob: (blob.name in views, blob.name.rpartition("/")[2], blob.name),
        )
        tags = reading_keys.member_tags
        strangers = [blob for blob in new if not names.begins_with_tag(blob.name, tags)]
        if len(strangers) <= strangers_max:
            return new
        # The others are read at later looks; what was read and is of no use is known then.
        later = set(strangers[strangers_max:])
        return [blob for blob in new if blob not in later]

    def _left_by_removed(self) -> list[str]:
        """Return what devices that were removed left long enough ago."""
        gone = {member.device for member in self._removed}
        before_ms = self._clock.now_ms() - REMOVED_KEPT_MS
        return [
            name
            for name, since_ms in self._knowledge.useless_since_ms.items()
            if since_ms <= before_ms and (view := self._knowledge.views.get(name)) is not None
            if view.status is BlobStatus.REMOVED or view.sender in gone
        ]

    def _is_known(self, blob: ListedBlob) -> bool:
        view = self._knowledge.views.get(blob.name)
        return view is not None and view.mark == blob.mark and self._still_holds(view)

    def _still_holds(self, view: BlobView) -> bool:
        # What was sealed to others, or by a stranger, may be for this device once it knows more.
        if view.status is BlobStatus.GAP:
            return view.knew == self._feed_mark
        return view.status not in _MAY_OPEN_LATER or view.knew == self._knowledge_digest

    @property
    def _feed_mark(self) -> bytes:
        return self._db.feed_end.to_bytes(8, "big")

    @cached_property
    def _knowledge_digest(self) -> bytes:
        """Return a mark of what decides whether a blob opens: the members, and the keys of this device."""
        gone = sorted(member.device for member in self._removed)
        parts = [*sorted(self._members), b"removed", *gone, *(key.private for key in self._own.keys)]
        return hashlib.sha256(b"".join(parts)).digest()

    async def _look_at(self, listed: ListedBlob, reading_keys: ReadingKeys) -> None:
        """Look at a blob. It is read unless that is known of its copies."""
        views = self._knowledge.views
        earlier = views.get(listed.name)
        if earlier is not None and earlier.mark != listed.mark:
            # Until it is read again, what lies there counts for nobody.
            del views[listed.name]
            earlier = None
        view = None if earlier is None else self._find_judged(earlier.digest)
        view = view or await self._read_blob(listed.name, reading_keys)
        if view is None:
            return
        views[listed.name] = view._replace(mark=listed.mark)
        if view.status is BlobStatus.SPOILED:
            # Deleted, so that others put again what it stood for: they count it as sealed to this device.
            log.warning("a member left a blob that is no good", mailbox=self._name, blob=listed.name)
            await self._delete(listed.name)

    async def _read_blob(self, name: str, reading_keys: ReadingKeys) -> BlobView | None:
        """Read a blob, unless too much under the name of this member was read for nothing: then None."""
        tag = names.tag_in(name, reading_keys.member_tags)
        if tag is not None and self._useless_read[tag] >= USELESS_READ_MAX:
            return None
        raw = await self._carrier.get(name, ENVELOPE_BYTES_MAX)
        digest = b"" if raw is None else hashlib.sha256(raw).digest()
        # Whoever keeps the place may show one blob under any number of names.
        view = self._find_judged(digest)
        is_copy = view is not None
        if view is None:
            view = self._judged[digest] = await self._judge(raw, digest, reading_keys)
        if tag is not None:
            self._useless_read[tag] += is_copy or view.status in _NOT_GOOD
        return view

    def _find_judged(self, digest: bytes) -> BlobView | None:
        """Return what is known of a blob by its digest, None if it has to be looked at."""
        view = self._judged.get(digest)
        return view if view is not None and self._still_holds(view) else None

    async def _judge(self, raw: bytes | None, digest: bytes, reading_keys: ReadingKeys) -> BlobView:
        if raw is None:
            return BlobView("", BlobStatus.UNREADABLE)
        opened = await asyncio.to_thread(blob_reader.open_blob, raw, reading_keys)
        if isinstance(opened, BlobStatus):
            return BlobView("", opened, digest=digest, knew=self._knowledge_digest)
        if opened.have is not None:
            return BlobView("", BlobStatus.HAVE, opened.sender, opened.blob.readers, digest, have=opened.have)
        if opened.status is not BlobStatus.HAVE:
            return BlobView("", opened.status, opened.sender, opened.blob.readers, digest)
        return await self._take_drop(digest, opened)

    async def _take_drop(self, digest: bytes, opened: OpenedBlob) -> BlobView:
        page = opened.commits or ()
        if (shortfall := self._shortfall()) is not None:
            raise CarrierFault(shortfall)

        def store(transaction: Transaction, decoded: Sequence[DecodedCommit]) -> tuple[int, int, int]:
            end_before = transaction.feed_end()
            accepted = transaction.accept_decoded_page(decoded)
            if accepted.new_commits:
                end = transaction.feed_end()
                brought_commits.note_brought(transaction, self._name, end_before + 1, end)
            return accepted.new_commits, *blob_reader.bits_of(transaction.log, decoded)

        readers = opened.blob.readers
        try:
            new, brings, needs = await self._db.accept_page(page, store)
        except CommitsMissing:
            return BlobView("", BlobStatus.GAP, opened.sender, readers, digest, self._feed_mark)
        except RemoteProtocolError:
            return BlobView("", BlobStatus.SPOILED, opened.sender, readers, digest)
        self._taken += new > 0
        return BlobView("", BlobStatus.DROP, opened.sender, readers, digest, brings=brings, needs=needs)

    # -- what others have -------------------------------------------------------------------------------

    def _newest_haves(self, own_holder: Holder | None = None) -> dict[Holder, SeenHave]:
        """Return the newest have of each other holder in sight, also of those with this device's key."""
        devices = [*self._members, self._own.signer.device]
        haves = holders.newest_haves(self._knowledge.views.values(), devices)
        if own_holder is not None:
            haves.pop(own_holder, None)
        return haves

    async def _note_haves(self, haves: Mapping[Holder, SeenHave]) -> list[Comparison]:
        """Store what new haves say; return the members whose state can be compared with this device's."""
        noticed = await self._db.read(lambda snapshot: mailboxes.noticed_haves(snapshot, self._name))
        new = {
            holder: newest
            for holder, newest in haves.items()
            if holder not in noticed or noticed[holder].number < newest.have.number
        }
        if not new:
            return []
        own, now_ms = self._own.signer.device, self._clock.now_ms()
        return await self._db.write(
            lambda transaction: holders.note_haves(transaction, self._name, own, new, now_ms)
        )

    async def _clear_predecessors(self, haves: Mapping[Holder, SeenHave]) -> None:
        """Delete the haves of holders with this device's key that are gone: nothing waits for them."""
        noticed = await self._db.read(lambda snapshot: mailboxes.noticed_haves(snapshot, self._name))
        own, now_ms = self._own.signer.device, self._clock.now_ms()
        gone = {
            holder
            for holder in haves
            if holder.device == own
            and holder in noticed
            and now_ms - noticed[holder].noticed_ms >= holders.PREDECESSOR_MS
        }
        for name, view in list(self._knowledge.views.items()):
            if view.have is not None and view.sender == own and Holder(own, view.have.holder) in gone:
                await self._delete(name)

    # -- what others lack -------------------------------------------------------------------------------

    async def _plan(self, haves: Mapping[Holder, SeenHave]) -> Plan:
        own, now_ms = self._own.signer.device, self._clock.now_ms()
        members = await self._db.read(
            lambda snapshot: holders.member_views(snapshot, self._name, own, haves, now_ms)
        )
        admissions = await self._db.read(self._find_admissions)
        copies = defaultdict[bytes, list[str]](list)
        for name, view in self._knowledge.views.items():
            if view.status is BlobStatus.DROP and (view.sender in self._members or view.sender == own):
                copies[view.digest].append(name)
        drops: list[DropView] = []
        for same in copies.values():
            view = self._knowledge.views[same[0]]
            needs = view.needs | (admissions.get(view.sender, 0) if view.sender is not None else 0)
            drops.append(DropView(tuple(same), view.brings, needs, view.readers))
        return await asyncio.to_thread(exchange_rule.plan, members, drops)

    async def _write_drops(
        self, writer: BlobWriter, write: int, recipients: Sequence[PublicSealingKey]
    ) -> None:
        async for _name in writer.write_drops(write, recipients):
            self._written += 1

    def _find_admissions(self, snapshot: Snapshot) -> dict[DeviceId, int]:
        """Return the commit by which each other sender of drops was let in, as a bit; 0 for a founder.

        Whoever lacks that commit takes no drop of this sender, not even the one that brings it. So it
        counts as if such a drop rested on it, and somebody whom all know writes it again.
        """
        senders = {view.sender for view in self._knowledge.views.values() if view.status is BlobStatus.DROP}
        for sender in senders & self._members.keys():
            if sender is not None and sender not in self._knowledge.admissions:
                self._knowledge.admissions[sender] = _admission_of(snapshot, sender)
        return dict(self._knowledge.admissions)

    async def _delete(self, name: str) -> None:
        await self._carrier.delete(name)
        self._knowledge.views.pop(name, None)
        self._deleted += 1


def _admission_of(snapshot: Snapshot, device: DeviceId) -> int:
    log = snapshot.log
    for position in positions_touching(snapshot, [member_records.roster_entity_id(device)], 0):
        if device_id_of_key(log.owner_key(log.head_at(position).replica)) != device:
            return 1 << position
    return 0
