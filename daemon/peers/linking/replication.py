"""Exchanging commits with members: who is linked, who is called, and whether all have the same commits.

Never links with a device that is not in the roster at that moment.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

import structlog

from daemon.backoff import Backoff, FailureCount
from daemon.clock import Clock
from daemon.notifier import Notifier
from daemon.peers.linking import goodbyes
from daemon.peers.linking.link import PeerLink
from daemon.peers.linking.link_registry import LinkRegistry
from daemon.peers.linking.liveness import wait_for_any
from daemon.peers.linking.reconnection import Reconnector
from daemon.peers.roster import device_edits
from daemon.peers.roster.cache import RosterCache
from daemon.peers.roster.member_records import Member
from daemon.peers.transport import addresses, happy_eyeballs
from daemon.peers.transport.connector import Connector
from daemon.peers.transport.identity import certificate_device
from daemon.peers.transport.limits import PeerLimits
from daemon.peers.transport.wire import Wire
from store.local import peer_records
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.ids import DeviceId
from syncproto.vector_clock import Head, VectorClock, covers

log = structlog.get_logger("peers")


class Replication:
    """The links of this device to the members of its vault, and the calls that make them.

    `static` are addresses from the settings. `discovered` returns the addresses that a member announced on
    the local network. `roster_applied` is called whenever the roster was read and applied.
    """

    def __init__(
        self,
        db: StoreThreads,
        notifier: Notifier,
        clock: Clock,
        *,
        links: LinkRegistry,
        members: RosterCache,
        connector: Connector,
        static: Sequence[str],
        discovered: Callable[[DeviceId], list[str]],
        roster_applied: Callable[[], None],
        limits: PeerLimits,
    ) -> None:
        self._db = db
        self._notifier = notifier
        self._clock = clock
        self._links = links
        self._members = members
        self._connector = connector
        self._static = static
        self._discovered = discovered
        self._roster_applied = roster_applied
        self._limits = limits
        self._reconnector = Reconnector(self._call, links, clock, limits)
        self._tasks: set[asyncio.Task[None]] = set()
        # Newcomers whose entry in the roster is being written. They have just connected, and need no call.
        self._arriving: set[DeviceId] = set()
        self._clock_leads_s: dict[DeviceId, int] = {}
        # Held while the roster is applied. A departure begins only then: a reading that was under way would
        # close the links that must carry the goodbye.
        self._applying = asyncio.Lock()
        self._leaving = False
        self._aware_of_departure: set[DeviceId] = set()
        self.paused = False
        """Whether nothing is exchanged until `resume`."""

    def start(self) -> None:
        """Call the members, and follow the roster."""
        self._spawn(self._follow_roster())

    async def stop(self) -> None:
        """End every link. Devices that connect meanwhile are turned away."""
        self.paused = True
        await self._reconnector.stop()
        self._links.close_all_but((), goodbyes.GOING_AWAY)
        await self._links.wait_until_drained()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def pause(self) -> None:
        """Exchange nothing with anyone until `resume`."""
        self.paused = True
        self._reconnector.set_targets(())
        self._links.close_all_but((), goodbyes.PAUSED)
        self._links.changed.notify()

    def resume(self) -> None:
        """Exchange again, at once."""
        self.paused = False
        self._reconnector.set_targets(self._members.linkable_members())
        self._reconnector.retry_now()
        self._links.changed.notify()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget_task)

    def _forget_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            log.error("a background task of replication failed", exc_info=fault)

    # -- being called ---------------------------------------------------------------------------------

    def may_link_now(self, certificate: bytes) -> bool:
        """Return whether the device with a certificate may link now."""
        return not self.paused and self._members.may_link(certificate)

    async def accept_link(self, certificate: bytes, wire: Wire) -> None:
        """Run the link with a device that connected: a member, or a newcomer that comes back."""
        arriving = certificate_device(certificate)
        self._arriving.add(arriving)
        try:
            peer = await self._members.admit_returning(certificate)
        finally:
            self._arriving.discard(arriving)
        if peer is None or self.paused:
            await wire.close()
            return
        await self._links.run_link(self._links.create_link(wire, peer, dialled=False))

    # -- calling --------------------------------------------------------------------------------------

    def call_all_now(self) -> None:
        """Call every member that has no link now, instead of when its next call is due."""
        if not self.paused:
            self._reconnector.retry_now()

    def call_member_now(self, device: DeviceId) -> None:
        """Call one member now unless its link is alive: it was just discovered at another address."""
        self._links.changed.notify()
        if not self.paused:
            self._links.probe_links(device)
            self._reconnector.retry_now(device)

    def handle_network_change(self) -> None:
        """End the links that did not outlive a change of this machine's network; call whoever has none."""
        if not self.paused:
            self._links.probe_links()
            self._reconnector.retry_now()

    def clock_leads_s(self) -> Mapping[DeviceId, int]:
        """Return how many seconds the clocks of members were ahead of this one's when last called."""
        return self._clock_leads_s

    def faulty_members(self) -> set[DeviceId]:
        """Return the members whose last link ended by a fault, found on either side."""
        return self._links.faults.faulty_peers() & self._members.linkable_members().keys()

    async def _call(self, device: DeviceId) -> None:
        """Try the addresses of a member until there is a link."""
        member = self._members.linkable_members().get(device)
        if member is None or device in self._arriving:
            return
        texts = await self._addresses_of(device)
        result = await happy_eyeballs.connect_to_first(
            [addresses.parse(text) for text in texts if addresses.is_address(text)],
            lambda address: self._connector.connect_to_member(address, member.certificate),
            self._limits.stagger_s,
        )
        if result.wire is None:
            self._links.record_failed_call(device, result.failed_calls)
        else:
            self._links.record_connection(device)
            await self._start_link(member, result.wire)

    async def _addresses_of(self, device: DeviceId) -> list[str]:
        """Return where to call a member, the likeliest first.

        First the address at which it was reached last, then those that it announced, then the others that are
        known of it, then the static ones at which no other device was reached last.
        """

        def read(snapshot: Snapshot) -> tuple[list[str], dict[DeviceId, str]]:
            own = peer_records.peer_addresses(snapshot, [device]).get(device, [])
            return own, peer_records.addresses_reached_last(snapshot)

        own, reached = await self._db.read(read)
        used_addresses = {text for other, text in reached.items() if other != device}
        free = [text for text in self._static if text not in used_addresses]
        return list(dict.fromkeys([*own[:1], *self._discovered(device), *own, *free]))

    async def _start_link(self, member: Member, wire: Wire) -> None:
        address = wire.remote
        if wire.remote_time_s is not None:
            lead_s = wire.remote_time_s - self._clock.now_ms() / 1000
            self._clock_leads_s[member.device] = round(lead_s)
        link = self._links.create_link(wire, member.device, dialled=True)
        self._spawn(self._links.run_link(link))
        await wait_for_any(link.greeted, link.ended)
        if link.greeted.is_set():
            await self._db.write(
                lambda transaction: peer_records.record_working_address(transaction, member.device, address)
            )

    # -- the roster -----------------------------------------------------------------------------------

    async def _follow_roster(self) -> None:
        watch = self._notifier.watch()
        failures = FailureCount(Backoff(self._limits.retry_s, self._limits.retry_s_max))
        while True:
            try:
                await self.apply_roster()
            except Exception:
                # The fault most likely passes. It must not end this task: until the roster is read, a
                # removed device stays linked.
                log.exception("the roster could not be read after a change")
                await asyncio.sleep(failures.count_failure())
                continue
            failures.reset()
            await watch.wait_for_growth()
            # A page of commits notifies once, an import many times: the roster is read once per burst.
            await asyncio.sleep(self._limits.roster_coalesce_s)

    async def apply_roster(self) -> None:
        """Read who the members are; call those that are new, and end the links of those that were removed."""
        async with self._applying:
            # While this device leaves, a link that is closed from here could not carry the goodbye.
            if not self._leaving:
                await self._apply_roster()

    async def _apply_roster(self) -> None:
        await self._members.refresh_if_changed()
        members = self._members.linkable_members()
        if not self.paused:
            self._reconnector.set_targets(members)
        removed_here = self._members.is_own_device_removed
        goodbye = goodbyes.OWN_DEVICE_REMOVED if removed_here else goodbyes.NOT_A_MEMBER
        self._links.close_all_but(members, goodbye)
        self._links.faults.forget_all_but(members)
        await self._links.divergences.forget_all_but(members)
        # Only after the links are closed: a removed device must not get the new key.
        await self._members.renew_beacon()
        await self._members.save_admissions()
        self._roster_applied()

    async def announce_departure(self, write: Callable[[Transaction], Head | None]) -> set[DeviceId]:
        """Write that this device leaves, unless that is written; return the devices that know it.

        A device that is away, or that takes too long, learns it from the others.
        """
        async with self._applying:
            self._leaving = True
        links, watch = set(self._links.live_links()), self._links.changed.watch()
        try:
            goodbye = await self._db.write(write)
            if goodbye is not None:
                self._aware_of_departure = set()
                async with asyncio.timeout(self._limits.departure_s):
                    while self._aware_of_departure != {link.peer for link in links}:
                        await watch.wait_for_growth()
                        # A link that has ended still shows what its peer acknowledged. If it broke, another
                        # one may come.
                        links.update(self._links.live_links())
                        self._aware_of_departure = await self._peers_aware_of(goodbye, links)
            else:
                # This device said so before, maybe in a process that has ended since.
                self._aware_of_departure |= await self._db.read(device_edits.devices_aware_of_departure)
        except TimeoutError:
            pass
        finally:
            self._leaving = False
        await self.apply_roster()
        return self._aware_of_departure

    async def _peers_aware_of(self, goodbye: Head, links: Iterable[PeerLink]) -> set[DeviceId]:
        """Return the peers that acknowledged the goodbye, or that ended a link because of it.

        They end the link as soon as they have the goodbye, some of them before they acknowledge it.
        """
        vectors = [(link.peer, link.peer_vector) for link in links]
        ended = {link.peer for link in links if link.peer_goodbye == goodbyes.NOT_A_MEMBER}
        return ended | await self._db.read(
            lambda snapshot: {peer for peer, vector in vectors if covers(vector, goodbye, snapshot.log)}
        )

    # -- being in step --------------------------------------------------------------------------------

    async def wait_until_in_step(self) -> None:
        """Wait until every member was linked or its call failed, and the linked ones have the same commits.

        Return early if a linked one has the same commits and shows another state: waiting does not help then.
        """
        ends = [
            asyncio.create_task(self._wait_until_all_agree()),
            asyncio.create_task(self._wait_until_one_differs()),
        ]
        try:
            finished, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for end in finished:
                end.result()
        finally:
            for end in ends:
                end.cancel()
            await asyncio.gather(*ends, return_exceptions=True)

    async def _wait_until_all_agree(self) -> None:
        await self._reconnector.wait_until_settled()
        while not await self._ask_all_links():
            # A link that ended meanwhile may have ended by a lost race: then its next one counts.
            await self._reconnector.wait_until_settled()

    async def _wait_until_one_differs(self) -> None:
        """Wait until all were called, and a comparison on a link of now found another state.

        What was found of a device that is away, or on an earlier link, may have passed.
        """
        watch = self._links.changed.watch()
        await self._reconnector.wait_until_settled()
        for link in self._links.live_links():
            await wait_for_any(link.greeted, link.ended)
        while not any(link.states_agreed is False for link in self._links.live_links()):
            await watch.wait_for_growth()

    async def _ask_all_links(self) -> bool:
        """Ping every link; return whether no peer had anything to send and all are in step."""
        watch = self._links.changed.watch()
        quiet = await asyncio.gather(
            *(link.liveness.has_nothing_to_send() for link in self._links.live_links())
        )
        if not all(quiet):
            return False
        if await self.is_in_step():
            return True
        await watch.wait_for_growth(self._limits.ping_s)
        return False

    async def is_in_step(self) -> bool:
        """Return whether all linked peers have the commits of this device, as far as is known."""
        links = self._links.live_links()
        if not all(link.is_idle for link in links):
            return False
        vectors = [link.peer_vector for link in links]
        return await self._db.read(lambda snapshot: holds_same_commits(snapshot, vectors))

    def none_owes_answer(self) -> bool:
        """Return whether no linked peer owes an answer to what it was sent or asked."""
        return not any(link.owes_answer for link in self._links.live_links())

    def members_being_called(self) -> set[DeviceId]:
        """Return the members that are being called just now."""
        return self._reconnector.devices_being_called()

    def diverging_members(self) -> Mapping[DeviceId, str]:
        """Return, by name, the members that showed another state when both had the same commits last.

        The notifier of commits is notified of a change in this, too.
        """
        members = self._members.linkable_members()
        diverging = self._links.divergences.diverging_peers()
        return {device: members[device].name for device in diverging if device in members}

    def key_clone_reporters(self) -> list[DeviceId]:
        """Return the members that lately reported that two daemons run with this device's key."""
        members = self._members.linkable_members()
        return [device for device in self._links.key_clones.reporting_peers() if device in members]


def holds_same_commits(snapshot: Snapshot, vectors: Sequence[VectorClock]) -> bool:
    """Return whether this store and peers with these vectors have the same commits."""
    log = snapshot.log
    return all(
        snapshot.count_behind(vector) == 0 and all(log.has_commit(head) for head in vector)
        for vector in vectors
    )
