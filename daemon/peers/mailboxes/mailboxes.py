"""The mailboxes of this device: looked into now and then, each by itself, as long as the daemon runs.

Never lets the fault of one mailbox touch another one, a link, or the journal.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import msgspec
import structlog

from daemon.backoff import Backoff, FailureCount
from daemon.clock import Clock
from daemon.config import MailboxSettings
from daemon.peers.mailboxes import carrier_choice
from daemon.peers.mailboxes.blob_writer import MailboxKnowledge, OwnDevice
from daemon.peers.mailboxes.carrier import Carrier, CarrierFault, RingingCarrier, look_too_long_sentence
from daemon.peers.mailboxes.carrier_choice import Access, CarrierChoice
from daemon.peers.mailboxes.holders import Comparison
from daemon.peers.mailboxes.mailbox_contents import MailboxHolding, SeenMailbox, find_holdings
from daemon.peers.mailboxes.mailbox_state import (
    AddedMailbox,
    MailboxActivity,
    MailboxReader,
    MailboxState,
)
from daemon.peers.mailboxes.sealing_key_file import DAY_MS, SealingKeyFile
from daemon.peers.mailboxes.urgent_commits import has_urgent_commit
from daemon.peers.mailboxes.visit import MailboxVisit, VisitCounts
from daemon.peers.roster import member_records
from daemon.peers.roster.cache import RosterCache
from daemon.peers.roster.member_records import Member, member_names
from daemon.refusal import RefusalCode, Refused, usage_error
from daemon.timestamps import iso_utc
from store.file.errors import StoreError
from store.local import mailboxes, peer_records
from store.local.mailboxes import Mailbox
from store.sentence import Sentence, sentence, sentence_fields
from store.snapshot import Snapshot
from store.threads import StoreThreads
from syncproto.ids import DeviceId
from syncproto.keys import Signer
from syncproto.mailboxes import names, sealing_keys
from syncproto.mailboxes.sealing_keys import SealingSuite

NAME_CHARS_MAX = 64
MAILBOXES_MAX = 16
RELAY_RETRY_MAX_S = 300.0
REST_PER_LISTING = 4.0
"""How much longer than it takes to list a place it is then left alone: anybody may fill a folder."""
REST_MAX_S = 300.0
LOOK_S_MAX = 900.0
"""How long a look may take. What it has read by then is known to the next one."""
OVERDUE_AFTER_S = 60.0
COPY_MEMORY_MS = 3 * DAY_MS

NO_ACCESS = Access()
NOTHING_DONE = VisitCounts()

log = structlog.get_logger("peers")


@dataclass
class _OpenMailbox:
    """A mailbox while it is looked into."""

    stored: Mailbox
    failures: FailureCount
    carrier: Carrier | None = None
    mailbox_knowledge: MailboxKnowledge = field(default_factory=MailboxKnowledge)
    looking: asyncio.Lock = field(default_factory=asyncio.Lock)
    look_now: asyncio.Event = field(default_factory=asyncio.Event)
    looked_ms: int | None = None
    trouble: Sentence | None = None
    visits: int = 0
    faults: int = 0
    counts: VisitCounts = NOTHING_DONE
    written_up_to: int = 0
    grew_s: float | None = None
    delay_s: float = 0.0
    ended_s: float = 0.0
    """When a look last ended, or was not wanted, by the clock that never runs back."""
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def overdue_s(self, now_s: float) -> int:
        """Return for how many seconds no look has ended, 0 if none should have by now."""
        since_s = now_s - self.ended_s
        return round(since_s) if since_s > self.delay_s + OVERDUE_AFTER_S else 0


class Mailboxes:
    """All mailboxes of this device. `compared` is called for each member whose state could be compared.

    `changed` is called when something was taken, put or cleared up, and when trouble begins or ends.
    `let_in` looks for requests of newcomers in a mailbox, and returns the members that it let in.
    """

    def __init__(
        self,
        db: StoreThreads,
        clock: Clock,
        *,
        signer: Signer,
        keys: SealingKeyFile,
        carriers: CarrierChoice,
        members: RosterCache,
        settings: MailboxSettings,
        shortfall: Callable[[], Sentence | None],
        is_paused: Callable[[], bool],
        compared: Callable[[Comparison], None],
        let_in: Callable[[Mailbox], Awaitable[Sequence[Member]]],
        changed: Callable[[], None],
    ) -> None:
        self._db = db
        self._clock = clock
        self._signer = signer
        self._keys = keys
        self._carriers = carriers
        self._members = members
        self._settings = settings
        self._shortfall = shortfall
        self._is_paused = is_paused
        self._compared = compared
        self._let_in = let_in
        self._changed = changed
        self._open: dict[str, _OpenMailbox] = {}

    # -- life -----------------------------------------------------------------------------------------

    async def load_keys(self) -> None:
        """Read the keys to which others seal, or make them, and have the present one published."""
        own = await self._db.read(lambda snapshot: member_records.read_member(snapshot, self._signer.device))
        published = 0 if own is None or own.sealing_key is None else own.sealing_key.number
        await asyncio.to_thread(self._keys.load, self._suite, self._settings.renew_days, published)
        self._members.own_sealing_key = sealing_keys.roster_value(self._keys.present, self._signer)

    @property
    def _suite(self) -> SealingSuite:
        return SealingSuite.HYBRID if self._settings.suite == "hybrid" else SealingSuite.X25519

    async def _renew_keys(self) -> None:
        """Make another key, and have it published, once the present one is old enough."""
        if self._keys.needs_another(self._suite, self._settings.renew_days):
            await self.load_keys()
            await self._members.renew_beacon()
            log.info("mailboxes have another key for this device")

    async def start(self) -> None:
        """Begin to look into the mailboxes that a person gave this device."""
        for stored in await self._db.read(mailboxes.all_mailboxes):
            self._begin(stored)

    async def begin_stored(self, name: str) -> None:
        """Begin to look into a mailbox that was stored, if this device does not look there yet."""
        for stored in await self._db.read(mailboxes.all_mailboxes):
            if stored.name == name and name not in self._open:
                self._begin(stored)

    def find_stored(self, name: str) -> Mailbox:
        """Return a mailbox as a person gave it. Raises Refused."""
        return self._find(name).stored

    async def stop(self) -> None:
        """Look into none any more. A visit that is under way ends where it is, which costs time only."""
        for opened in self._open.values():
            await self._end(opened)

    def _begin(self, stored: Mailbox) -> _OpenMailbox:
        # A stick that is back is wanted at once; a relay that is away is not asked each few seconds.
        look_s = self._settings.look_s
        most_s = look_s if stored.kind == "folder" else max(look_s, RELAY_RETRY_MAX_S)
        opened = _OpenMailbox(stored, FailureCount(Backoff(look_s, most_s)), delay_s=look_s)
        opened.ended_s = self._clock.monotonic_s()
        self._open[stored.name] = opened
        opened.tasks.append(asyncio.create_task(self._look_regularly(opened)))
        return opened

    async def _end(self, opened: _OpenMailbox) -> None:
        for task in opened.tasks:
            task.cancel()
        await asyncio.gather(*opened.tasks, return_exceptions=True)
        if isinstance(opened.carrier, RingingCarrier):
            await opened.carrier.close()

    async def _look_when_rung(self, opened: _OpenMailbox, carrier: RingingCarrier) -> None:
        """Look whenever a relay says that something came; it may say so as often as a second has passed."""
        failures = FailureCount(Backoff(1.0, RELAY_RETRY_MAX_S))
        while True:
            try:
                if not self._is_paused():
                    if await carrier.wait_for_news():
                        opened.look_now.set()
                    failures.reset()
                    await asyncio.sleep(min(self._settings.look_s, 1.0))
                else:
                    await asyncio.sleep(self._settings.look_s)
            except CarrierFault:
                # The regular look says why.
                await asyncio.sleep(failures.count_failure())

    async def _look_regularly(self, opened: _OpenMailbox) -> None:
        while True:
            # Before the look: what rings during it is looked at afterwards.
            opened.look_now.clear()
            if not self._is_paused():
                await self._look(opened)
            opened.ended_s = self._clock.monotonic_s()
            try:
                await asyncio.wait_for(opened.look_now.wait(), opened.delay_s)
            except TimeoutError:
                pass

    async def _look(self, opened: _OpenMailbox, *, write_now: bool = False) -> None:
        """Look into a mailbox once; what goes wrong is kept for whoever asks."""
        async with opened.looking:
            before = _activity(opened)
            try:
                listing_s = await self._visit_in_time(opened, write_now=write_now)
                opened.failures.reset()
                rest_s = min(REST_PER_LISTING * listing_s, REST_MAX_S)
                opened.delay_s = max(self._settings.look_s, rest_s)
            except CarrierFault as fault:
                opened.delay_s = opened.failures.count_failure()
                opened.faults += 1
                if opened.trouble is None:
                    log.warning("a mailbox cannot be used", mailbox=opened.stored.name, seen=str(fault))
                opened.trouble = fault.sentence
            except StoreError as fault:
                log.warning("what a mailbox brought could not be stored", error=str(fault))
            except Exception:
                # A bug here ends this visit and is logged; it never ends the daemon.
                log.exception("a mailbox could not be looked into", mailbox=opened.stored.name)
            opened.ended_s = self._clock.monotonic_s()
            if _activity(opened).has_news_since(before):
                self._changed()

    async def _visit_in_time(self, opened: _OpenMailbox, *, write_now: bool) -> float:
        limit = asyncio.timeout(LOOK_S_MAX)
        try:
            async with limit:
                return await self._visit(opened, write_now=write_now)
        except TimeoutError:
            if not limit.expired():
                raise
            raise CarrierFault(look_too_long_sentence(LOOK_S_MAX)) from None

    async def _visit(self, opened: _OpenMailbox, *, write_now: bool) -> float:
        """Look once; return how many seconds it took to list what is there. Raises CarrierFault."""
        vault = await self._db.read(lambda snapshot: snapshot.vault())
        assert vault is not None, "a mailbox before the first start was over"
        if opened.carrier is None:
            opened.carrier = carrier = await self._carriers.make(opened.stored, names.vault_tag(vault))
            if isinstance(carrier, RingingCarrier):
                opened.tasks.append(asyncio.create_task(self._look_when_rung(opened, carrier)))
        newcomers = await self._let_in(opened.stored)
        visit = await self.make_visit(opened.stored.name, opened.carrier, opened.mailbox_knowledge)
        if visit is None:
            return 0.0
        feed_end = self._db.feed_end
        # A look that only reads would find a place well that can no longer be written to.
        may_write = write_now or opened.trouble is not None or await self._is_due(opened)
        try:
            comparisons = await visit.run(may_write=may_write)
            await visit.write_for_newcomers(newcomers)
        finally:
            opened.counts = opened.counts.plus(visit.counts)
        if may_write:
            opened.written_up_to, opened.grew_s = feed_end, None
        if any(visit.counts):
            log.info("a mailbox was looked into", mailbox=opened.stored.name, **visit.counts._asdict())
        opened.visits += 1
        opened.looked_ms, opened.trouble = self._clock.now_ms(), None
        for comparison in comparisons:
            self._compared(comparison)
        return visit.listing_s

    async def make_visit(
        self, name: str, carrier: Carrier, mailbox_knowledge: MailboxKnowledge
    ) -> MailboxVisit | None:
        """Return a look into a place, None if this device is no member any more."""
        await self._members.refresh_if_changed()
        own = self._members.all_members.get(self._signer.device)
        if own is None or own.removed:
            return None
        await self._renew_keys()
        return MailboxVisit(
            name,
            carrier,
            self._db,
            self._clock,
            own=OwnDevice(self._signer, self._keys.keys),
            members=self._members.linkable_members(),
            removed=[member for member in self._members.all_members.values() if member.removed],
            own_member=own,
            mailbox_knowledge=mailbox_knowledge,
            shortfall=self._shortfall,
        )

    async def _is_due(self, opened: _OpenMailbox) -> bool:
        """Return whether to write now: small changes gather, unless a verdict waits or was given."""
        if self._db.feed_end <= opened.written_up_to:
            opened.grew_s = None
            return True
        now_s = self._clock.monotonic_s()
        if opened.grew_s is None:
            opened.grew_s = now_s
        if now_s - opened.grew_s >= self._settings.gather_s:
            return True
        return await self._db.read(lambda snapshot: has_urgent_commit(snapshot, opened.written_up_to))

    # -- for people -----------------------------------------------------------------------------------

    async def add(self, kind: str, place: str, name: str, access: Access = NO_ACCESS) -> AddedMailbox:
        """Look into another mailbox from now on, or into one that is known with another secret.

        Raises Refused if it cannot be used.
        """
        for opened in self._open.values():
            if carrier_choice.is_same_box(opened.stored, kind, place):
                return _added_mailbox(await self._change_access(opened, place, access), changed=True)
        if not 0 < len(name) <= NAME_CHARS_MAX or len(self._open) >= MAILBOXES_MAX:
            raise usage_error(
                sentence(
                    "mailbox-name-or-number",
                    "a mailbox has a name of at most {chars} characters, and a device {most} mailboxes",
                    chars=NAME_CHARS_MAX,
                    most=MAILBOXES_MAX,
                ),
            )
        stored = Mailbox(name, kind, place, self._clock.now_ms())
        if name in self._open:
            raise _name_taken(name)
        self._carriers.check(stored, access)
        if kind == "folder":
            # Once, now: a link on the way that is turned later leads this device nowhere else.
            stored = stored._replace(place=await asyncio.to_thread(os.path.realpath, place))
        await self._try_carrier(stored, access)
        if access.secret is not None:
            await asyncio.to_thread(self._carriers.secrets.store, name, access.secret)
        if not await self._db.write(lambda transaction: mailboxes.add_mailbox(transaction, stored)):
            raise _name_taken(name)
        opened = self._begin(stored)
        return _added_mailbox(await self._state_after_look(opened), changed=False)

    async def _change_access(self, opened: _OpenMailbox, place: str, access: Access) -> MailboxState:
        """Use another secret, and another pin or the like if the place has one, and keep all else."""
        stored = carrier_choice.with_place(opened.stored, place)
        self._carriers.check(stored, access)
        await self._try_carrier(stored, access)
        opened = self._find(stored.name)
        if access.secret is not None:
            await asyncio.to_thread(self._carriers.secrets.store, stored.name, access.secret)
        await self._db.write(lambda transaction: mailboxes.change_place(transaction, stored))
        await self._end(opened)
        opened.stored, opened.carrier = stored, None
        opened.failures.reset()
        opened.delay_s = self._settings.look_s
        opened.tasks.append(asyncio.create_task(self._look_regularly(opened)))
        return await self._state_after_look(opened)

    async def _try_carrier(self, stored: Mailbox, access: Access) -> None:
        vault = await self._db.read(lambda snapshot: snapshot.vault())
        assert vault is not None
        carrier = await self._carriers.make(stored, names.vault_tag(vault), access.secret)
        try:
            await carrier.list_blobs()
        except CarrierFault as fault:
            raise usage_error(fault.sentence) from fault
        finally:
            if isinstance(carrier, RingingCarrier):
                await carrier.close()

    async def remove(self, name: str) -> MailboxState:
        """Stop using a mailbox; what lies in it stays for others. Raises Refused."""
        opened = self._find(name)
        state = await self._db.read(lambda snapshot: self._state(snapshot, opened))
        await self._db.write(lambda transaction: mailboxes.remove_mailbox(transaction, name))
        del self._open[name]
        await self._end(opened)
        await asyncio.to_thread(self._carriers.secrets.forget, name)
        return state

    async def check(self, name: str) -> MailboxState:
        """Look into a mailbox now, and write what waits. Raises Refused."""
        return await self._state_after_look(self._find(name))

    async def check_all(self) -> None:
        """Look into every mailbox now, and write what waits."""
        for opened in list(self._open.values()):
            await self._look_for_person(opened)

    async def states(self) -> list[MailboxState]:
        """Return all mailboxes as they were found last, by name."""
        opened = [self._open[name] for name in sorted(self._open)]
        return await self._db.read(lambda snapshot: [self._state(snapshot, mailbox) for mailbox in opened])

    async def copied_devices(self) -> list[DeviceId]:
        """Return the devices with whose key two daemons looked into one mailbox in the last days."""
        since_ms = self._clock.now_ms() - COPY_MEMORY_MS
        return await self._db.read(lambda snapshot: mailboxes.copied_devices(snapshot, since_ms))

    def activities(self) -> list[MailboxActivity]:
        """Return what was done in each mailbox, by name."""
        return [_activity(self._open[name]) for name in sorted(self._open)]

    def troubles(self) -> dict[str, str | None]:
        """Return the mailboxes by name, and why each cannot be looked into, None if it can."""
        return {activity.mailbox: activity.trouble for activity in self.activities()}

    async def find_holdings(self, positions: Sequence[int]) -> list[MailboxHolding]:
        """Return what mailboxes have of the commits at some feed positions, which are in ascending order."""
        seen_mailboxes = [
            SeenMailbox(name, opened.looked_ms, tuple(opened.mailbox_knowledge.views.values()))
            for name, opened in self._open.items()
        ]
        members = self._members.linkable_members()
        return await self._db.read(
            lambda snapshot: find_holdings(snapshot, positions, seen_mailboxes, members)
        )

    async def _look_for_person(self, opened: _OpenMailbox) -> None:
        """Look now, and write what waits; if the mailbox is removed meanwhile, the look ends."""
        task = asyncio.create_task(self._look(opened, write_now=True))
        opened.tasks.append(task)
        await asyncio.wait([task])
        opened.tasks.remove(task)

    async def _state_after_look(self, opened: _OpenMailbox) -> MailboxState:
        await self._look_for_person(opened)
        return await self._db.read(lambda snapshot: self._state(snapshot, opened))

    def _find(self, name: str) -> _OpenMailbox:
        if name not in self._open:
            raise Refused(
                RefusalCode.NOT_FOUND,
                sentence("mailbox-unknown", "there is no mailbox named {name}", name=name),
            )
        return self._open[name]

    def _state(self, snapshot: Snapshot, opened: _OpenMailbox) -> MailboxState:
        stored, mailbox_knowledge, now_ms = opened.stored, opened.mailbox_knowledge, self._clock.now_ms()
        return MailboxState(
            stored.name,
            stored.kind,
            stored.place,
            None if opened.looked_ms is None else iso_utc(opened.looked_ms),
            blobs=len(mailbox_knowledge.views),
            bytes=mailbox_knowledge.bytes_used,
            readers=self._readers(snapshot, stored.name),
            overdue_s=opened.overdue_s(self._clock.monotonic_s()),
            **mailbox_knowledge.not_usable(now_ms - DAY_MS, self._members.linkable_members()),
            **sentence_fields("trouble", opened.trouble),
        )

    def _readers(self, snapshot: Snapshot, mailbox: str) -> list[MailboxReader]:
        contacts = peer_records.peer_contacts(snapshot)
        members = self._members.linkable_members()
        names = member_names(self._members.all_members)
        noticed_ms: dict[DeviceId, int] = {}
        for holder, have in mailboxes.noticed_haves(snapshot, mailbox).items():
            noticed_ms[holder.device] = max(have.noticed_ms, noticed_ms.get(holder.device, 0))
        return [
            MailboxReader(
                device.hex(),
                names[device],
                iso_utc(seen_ms),
                snapshot.count_behind(contacts[device].vector if device in contacts else ()),
            )
            for device, seen_ms in sorted(noticed_ms.items())
            if device in members
        ]


def _activity(opened: _OpenMailbox) -> MailboxActivity:
    counts = opened.counts
    return MailboxActivity(
        opened.stored.name,
        None if opened.looked_ms is None else iso_utc(opened.looked_ms),
        opened.visits,
        counts.taken,
        counts.written,
        counts.deleted,
        opened.faults,
        **sentence_fields("trouble", opened.trouble),
    )


def _added_mailbox(state: MailboxState, *, changed: bool) -> AddedMailbox:
    return AddedMailbox(**msgspec.structs.asdict(state), changed=changed)


def _name_taken(name: str) -> Refused:
    return Refused(
        RefusalCode.CONFLICT,
        sentence("mailbox-name-taken", "there is a mailbox named {name} already", name=name),
    )
