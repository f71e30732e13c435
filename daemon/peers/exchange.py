"""Exchanging with members: answering and making links, following the roster, waiting until all are in step.

Never links with a device that is not in the roster at that moment.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

import structlog

from daemon.clock import Clock
from daemon.notifier import Notifier
from daemon.peers import addresses, calling, editing, roster
from daemon.peers.calling import Failed
from daemon.peers.dial import Dialling, Silence
from daemon.peers.dialer import Dialer
from daemon.peers.identity import device_of
from daemon.peers.link import Link, first
from daemon.peers.links import Links
from daemon.peers.membership import Membership
from daemon.peers.pace import Pace
from daemon.peers.roster import Member
from daemon.peers.states import in_step
from daemon.peers.wire import Wire
from store import peers as table
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.heads import Head, covers
from syncproto.ids import DeviceId

log = structlog.get_logger("peers")


class Exchange:
    """The links of this device, and what makes them.

    `static` are addresses from the settings, `near` says where a member was heard on the local network, and
    `roster_read` is told whenever the roster was.
    """

    def __init__(
        self,
        db: StoreThreads,
        notifier: Notifier,
        clock: Clock,
        *,
        links: Links,
        members: Membership,
        dialling: Dialling,
        static: Sequence[str],
        near: Callable[[DeviceId], list[str]],
        roster_read: Callable[[], None],
        pace: Pace,
    ) -> None:
        self._db = db
        self._notifier = notifier
        self._links = links
        self._members = members
        self._dialling = dialling
        self._static = static
        self._near = near
        self._roster_read = roster_read
        self._pace = pace
        self._dialer = Dialer(self._dial, links, clock, pace)
        self._tasks: set[asyncio.Task[None]] = set()
        # Newcomers whose entry in the roster is being written: they are here, and need not be called.
        self._arriving: set[DeviceId] = set()
        self._tried: dict[DeviceId, list[Failed]] = {}
        self._clock = clock
        self._ahead_s: dict[DeviceId, int] = {}
        self.paused = False
        self._leaving = False
        self._told_goodbye: set[DeviceId] = set()

    def start(self) -> None:
        """Call the members, and follow the roster."""
        self._spawn(self._follow_roster())

    async def stop(self) -> None:
        """End every link; those that knock meanwhile are turned away."""
        self.paused = True
        await self._dialer.stop()
        self._links.close_all_but((), "this device is going away")
        await self._links.drained()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def pause(self) -> None:
        """Exchange nothing with anyone until `resume`."""
        self.paused = True
        self._dialer.pursue(())
        self._links.close_all_but((), "paused")

    def resume(self) -> None:
        """Exchange again, at once."""
        self.paused = False
        self._dialer.pursue(self._members.peers())
        self._dialer.wake()

    def wake(self) -> None:
        """Call every member that has no link now, instead of when its time comes."""
        if not self.paused:
            self._dialer.wake()

    def admits(self, certificate: bytes) -> bool:
        """Say whether the holder of a certificate may link now."""
        return not self.paused and self._members.admits(certificate)

    async def answer(self, certificate: bytes, wire: Wire) -> None:
        """Hold the link with a member, or a newcomer that has come back, that connected to us."""
        arriving = device_of(certificate)
        self._arriving.add(arriving)
        try:
            peer = await self._members.come_back(certificate)
        finally:
            self._arriving.discard(arriving)
        if peer is None or self.paused:
            await wire.close()
            return
        await self._links.hold(self._links.make(wire, peer, dialled=False))

    # -- calling --------------------------------------------------------------------------------------

    async def _dial(self, device: DeviceId) -> None:
        """Try each address of a member until a link stands."""
        member = self._members.peers().get(device)
        if member is None or device in self._arriving:
            return
        places = [addresses.parse(one) for one in await self._places(device) if addresses.is_address(one)]
        found = await calling.first_to_answer(
            places, lambda place: self._dialling.member(place, member.certificate), self._pace.stagger_s
        )
        self._tried[device] = found.failed
        if found.wire is not None:
            await self._link(member, found.wire)

    async def _places(self, device: DeviceId) -> list[str]:
        """Return where it was found last, where it says that it is, then addresses that nobody else has."""
        known = await self._db.read(table.addresses)
        taken = {held[0] for other, held in known.items() if other != device and held}
        free = [place for place in self._static if place not in taken]
        good = known.get(device, [])
        return list(dict.fromkeys([*good[:1], *self._near(device), *good, *free]))

    def ahead_s(self) -> Mapping[DeviceId, int]:
        """Return by how many seconds the clocks of members were ahead of this one's when called last."""
        return self._ahead_s

    def tried(self) -> Mapping[DeviceId, list[Failed]]:
        """Return what was seen at each address where a member was called in vain, last time."""
        foreign = {
            device: [Failed(Silence.NEWER if said.newer else Silence.OLDER, str(said))]
            for device, said in self._links.foreign().items()
        }
        return {**self._tried, **foreign}

    def call(self, device: DeviceId) -> None:
        """Call one member now, if it has no link that lives: it was just heard of at another place."""
        if not self.paused:
            self._links.doubt(device)
            self._dialer.wake(device)

    def move(self) -> None:
        """See which links outlived a change of this machine's network, and call the members without one."""
        if not self.paused:
            self._links.doubt()
            self._dialer.wake()

    async def _link(self, member: Member, wire: Wire) -> None:
        place = wire.remote
        if wire.their_time_s is not None:
            self._ahead_s[member.device] = round(wire.their_time_s - self._clock.now_ms() / 1000)
        link = self._links.make(wire, member.device, dialled=True)
        self._spawn(self._links.hold(link))
        await first(link.greeted, link.ended)
        if link.greeted.is_set():
            await self._db.write(
                lambda transaction: table.note_good_address(transaction, member.device, place)
            )

    async def _follow_roster(self) -> None:
        watch, wait_s = self._notifier.watch(), self._pace.again_s
        while True:
            try:
                await self.hold_to_roster()
            except Exception:
                # A fault that passes, most likely: until the roster is read, a removed device stays linked.
                log.exception("the roster could not be followed")
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, self._pace.again_s_max)
                continue
            wait_s = self._pace.again_s
            await watch.grown()
            # A page of commits is told of once, an import many times: the roster is read once for a burst.
            await asyncio.sleep(self._pace.roster_s)

    async def say_goodbye(self, write: Callable[[Transaction], Head | None]) -> set[DeviceId]:
        """Write that this device leaves, unless that is written; return who knows it.

        Whoever is away, or takes too long, hears of it from the others.
        """
        links, watch = set(self._links.all()), self._links.changed.watch()
        self._leaving = True
        try:
            goodbye = await self._db.write(write)
            if goodbye is not None:
                self._told_goodbye = set()
                async with asyncio.timeout(self._pace.leave_s):
                    while self._told_goodbye != {link.peer for link in links}:
                        await watch.grown()
                        # What a link heard stands when it has ended; after one that broke another may come.
                        links.update(self._links.all())
                        self._told_goodbye = await self._told(goodbye, links)
            else:
                # It was said before, maybe by a daemon that has ended since.
                self._told_goodbye |= await self._db.read(editing.known_gone)
        except TimeoutError:
            pass
        finally:
            self._leaving = False
        await self.hold_to_roster()
        return self._told_goodbye

    async def _told(self, goodbye: Head, links: Iterable[Link]) -> set[DeviceId]:
        """Return the peers that acknowledged the goodbye, or ended a link because of it.

        They end it as soon as they hold it, some of them before they acknowledge.
        """
        known = [(link.peer, link.peer_vector) for link in links]
        told = {link.peer for link in links if link.goodbye == roster.NO_MEMBER}
        return told | await self._db.read(
            lambda snapshot: {peer for peer, vector in known if covers(vector, goodbye, snapshot.log)}
        )

    async def hold_to_roster(self) -> None:
        """Read who the members are; call those that are new, and end the links of those that went."""
        if self._leaving:
            # Closed from here, a link would not bring the goodbye.
            return
        await self._members.refresh()
        peers = self._members.peers()
        if not self.paused:
            self._dialer.pursue(peers)
        gone = "this device is no member any more" if self._members.removed else roster.NO_MEMBER
        self._links.close_all_but(peers, gone)
        await self._links.findings.forget_all_but(peers)
        # Only now: a device that was removed is not to get the new key.
        await self._members.renew_beacon()
        await self._members.note_let_in()
        self._roster_read()

    # -- being in step --------------------------------------------------------------------------------

    async def reach_step(self) -> None:
        """Wait until every member was linked or tried in vain, and those linked hold what this one holds.

        Return early where one that is linked holds the same, and shows another state: that does not pass.
        """
        ends = [asyncio.create_task(self._all_agree()), asyncio.create_task(self._one_differs())]
        try:
            done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for end in done:
                end.result()
        finally:
            for end in ends:
                end.cancel()
            await asyncio.gather(*ends, return_exceptions=True)

    async def _all_agree(self) -> None:
        await self._dialer.rested()
        while not await self._one_round():
            pass

    async def _one_differs(self) -> None:
        """Wait until all were called, and a comparison on a link of now found another state.

        What was found of one that is away, or on a link before, may have passed.
        """
        watch = self._links.changed.watch()
        await self._dialer.rested()
        for link in self._links.all():
            await first(link.greeted, link.ended)
        while not any(link.agreed is False for link in self._links.all()):
            await watch.grown()

    def differing(self) -> Mapping[DeviceId, str]:
        """Return, by name, the members that showed another state when they held the same commits last."""
        members = self._members.peers()
        found = self._links.findings.standing()
        return {device: members[device].name for device in found if device in members}

    def all_answered(self) -> bool:
        """Say whether none that is linked owes an answer to what it was sent or asked."""
        return not any(link.unanswered for link in self._links.all())

    def called(self) -> set[DeviceId]:
        """Return the members that are being called just now."""
        return self._dialer.calling()

    async def is_in_step(self) -> bool:
        """Say whether all that is linked holds what this device holds, as far as is known."""
        links = self._links.all()
        if not all(link.idle for link in links):
            return False
        vectors = [link.peer_vector for link in links]
        return await self._db.read(lambda snapshot: in_step(snapshot, vectors))

    async def _one_round(self) -> bool:
        """Ask every link: a pong with nothing before it, all acknowledged, and equal vectors."""
        watch = self._links.changed.watch()
        quiet = await asyncio.gather(*(link.quiet() for link in self._links.all()))
        if not all(quiet):
            return False
        if await self.is_in_step():
            return True
        await watch.grown(self._pace.ping_s)
        return False

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            log.error("a task of the exchange failed", exc_info=fault)
