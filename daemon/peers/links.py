"""The links of this moment, one for each pair of devices.

Never lets two links of one pair run on, and never forgets a peer that was heard of.
"""

import asyncio
from collections.abc import Callable, Container, Mapping
from functools import partial

import structlog

from daemon.notifier import Notifier
from daemon.peers.allowance import Allowance
from daemon.peers.findings import Findings
from daemon.peers.link import Link
from daemon.peers.pace import Pace, time_s
from daemon.peers.twins import TWINS, Twins
from daemon.peers.wire import Wire
from store import peers as table
from store.faults import StoreError
from store.threads import StoreThreads
from syncproto.faults import OtherVersion
from syncproto.heads import Clock
from syncproto.ids import DeviceId

REPLACED = "another link of this pair took its place"
DIFFERS = "same changes, another state"
AGREES = "same changes, the same state again"

log = structlog.get_logger("peers")


class Links:
    """The registry of live links. `changed` tells whenever what is known of a peer may have changed.

    `shortfall` says why there is no room to take anything, None where there is.
    """

    def __init__(
        self,
        db: StoreThreads,
        notifier: Notifier,
        own: DeviceId,
        now_ms: Callable[[], int],
        pace: Pace,
        *,
        shortfall: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._db = db
        self._notifier = notifier
        self._own = own
        self._now_ms = now_ms
        self._pace = pace
        self._shortfall = shortfall
        self._live: dict[DeviceId, Link] = {}
        self._running: set[Link] = set()
        # Those that are not yet given the place of their pair's.
        self._waiting: set[Link] = set()
        self._foreign: dict[DeviceId, OtherVersion] = {}
        self.findings = Findings(db, now_ms, self._tell_of_state, pace.states_s)
        self._doubted: dict[Link, asyncio.Task[None]] = {}
        self._leaving: dict[Link, asyncio.Task[None]] = {}
        self._began_s: dict[DeviceId, float] = {}
        self.twins = Twins(pace, time_s)
        self._came_ms: dict[DeviceId, int] = {}
        self._allowance = Allowance(pace.stored_bytes, pace.stored_bytes_per_s, time_s)
        self.changed = Notifier()

    def to(self, peer: DeviceId) -> Link | None:
        """Return the link to a peer, None where there is none."""
        link = self._live.get(peer)
        return None if link is None or link.ended.is_set() else link

    def all(self) -> list[Link]:
        """Return the live links."""
        return [link for link in self._live.values() if not link.ended.is_set()]

    def foreign(self) -> Mapping[DeviceId, OtherVersion]:
        """Return the peers that, when last heard, spoke no version of the protocol that is spoken here."""
        return self._foreign

    def slowed(self) -> list[DeviceId]:
        """Return the linked peers that sent so much that they are taken from slowly."""
        return [link.peer for link in self.all() if self._allowance.is_slowed(link.peer)]

    def make(self, wire: Wire, peer: DeviceId, *, dialled: bool) -> Link:
        """Return a link that does not run yet; give it to `hold`."""
        link = Link(
            wire,
            peer,
            dialled=dialled,
            db=self._db,
            notifier=self._notifier,
            changed=self.changed.tell,
            compared=lambda agree: self._compared(link, agree),
            parted=lambda: self._learn_from(link),
            pace=self._pace,
            shortfall=self._shortfall,
            allowance=self._allowance,
            came=lambda: self._came_ms.update({peer: self._now_ms()}),
        )
        return link

    async def hold(self, link: Link) -> None:
        """Run a link to its end, unless the pair has a better one that shows life."""
        self._waiting.add(link)
        try:
            refused = await self._place(link)
        finally:
            self._waiting.discard(link)
        if refused is not None:
            await link.refuse(refused)
            return
        self._running.add(link)
        notes = asyncio.create_task(self._note_now_and_then(link))
        try:
            reason = await link.run()
            self._learn_version(link)
            log.info("a link ended", peer=link.peer.hex()[:16], reason=reason)
        except Exception:
            # A bug here costs this link, loudly, and never the daemon.
            log.exception("a link failed", peer=link.peer.hex()[:16])
        finally:
            notes.cancel()
            await self._over(link)

    async def _place(self, link: Link) -> str | None:
        """Give a link the place of its pair's; return why not, where another one is to keep it."""
        if await self._is_out_of_turn(link):
            return TWINS
        # It may have been asked to end meanwhile: who is paused, or removed a device, gives it no place.
        while link.end_asked is None and not self._settle(link):
            rival = self._live[link.peer]
            reason = "no sign of life"
            if await rival.shows_life():
                if not await self.twins.tell_by_age(rival, self._stood_s(rival), link):
                    return "another link of this pair is better"
                reason = TWINS
            await self._end(rival, reason)
        return link.end_asked

    async def _is_out_of_turn(self, link: Link) -> bool:
        """Say whether a link is of one of two daemons with one key, while the other has its turn."""
        rival = self.to(link.peer)
        if rival is None or rival.dialled or link.dialled or not self.twins.known(link.peer):
            return False
        return self._stood_s(rival) < self._pace.turn_s and await self.twins.tell(rival, link)

    def _stood_s(self, link: Link) -> float:
        return time_s() - self._began_s[link.peer]

    def _learn_version(self, link: Link) -> None:
        """Remember whether the two understand each other; a line that broke before says nothing of it."""
        if link.foreign is not None:
            self._foreign[link.peer] = link.foreign
        elif link.greeted.is_set():
            self._foreign.pop(link.peer, None)

    def _learn_from(self, link: Link) -> None:
        """Take a peer's word for why it ends a link, where that is about both; not on a replaced one."""
        if self._live.get(link.peer) is not link:
            return
        if link.goodbye == TWINS:
            self.twins.hear(link.peer)
        elif link.goodbye == DIFFERS and link.may_differ:
            self._compared(link, agree=False)

    async def _over(self, link: Link) -> None:
        if self._live.get(link.peer) is link:
            del self._live[link.peer]
        self.changed.tell()
        try:
            await self._note(link)
        finally:
            self._running.discard(link)
            self.changed.tell()

    def close_all_but(self, kept: Container[DeviceId], reason: str) -> None:
        """Ask the links to all other peers to end."""
        # Those that run, and not those that count alone: one that is seen off is open for a moment more.
        for link in self._running | self._waiting:
            if link.peer not in kept:
                link.close(reason)

    def doubt(self, device: DeviceId | None = None) -> None:
        """Ask every link, or the one to a device, for a sign of life, and end those that give none.

        What a network forgot to say (an address that went, a cable that was pulled) is seen by nobody else.
        """
        for link in self.all():
            if device in (None, link.peer) and link not in self._doubted:
                task = asyncio.create_task(self._try_out(link))
                self._doubted[link] = task
                task.add_done_callback(partial(self._believe, link))

    def _believe(self, link: Link, done: asyncio.Task[None]) -> None:
        self._doubted.pop(link, None)
        if not done.cancelled() and (fault := done.exception()) is not None:
            log.error("a link could not be tried out", exc_info=fault)

    async def _try_out(self, link: Link) -> None:
        if not await link.shows_life():
            await self._end(link, "no sign of life")

    async def _see_off(self, link: Link, newer: Link) -> None:
        """End a link whose place another took that the peer dialled too, and see whether it was dead."""
        link.close(TWINS if await self.twins.tell(link, newer) else REPLACED)

    def _seen_off(self, link: Link, done: asyncio.Task[None]) -> None:
        del self._leaving[link]
        if not done.cancelled() and (fault := done.exception()) is not None:
            log.error("a link could not be seen off", exc_info=fault)
            link.close(REPLACED)

    async def _end(self, link: Link, reason: str) -> None:
        link.close(reason)
        await link.ended.wait()

    async def drained(self) -> None:
        """Wait until no link runs."""
        watch = self.changed.watch()
        while self._running:
            await watch.grown(self._pace.goodbye_s)
        await self.findings.close()

    def _settle(self, link: Link) -> bool:
        """Decide between two links of a pair, alike on both sides: what the smaller id dialled stays.

        Between two that the same side dialled, the newer one stays: the older one is most likely dead.
        """
        rival = self.to(link.peer)
        if rival is not None:
            if self._preferred(rival) and not self._preferred(link):
                return False
            if rival.dialled or link.dialled:
                rival.close(REPLACED)
            else:
                task = asyncio.create_task(self._see_off(rival, link))
                self._leaving[rival] = task
                task.add_done_callback(partial(self._seen_off, rival))
        self._live[link.peer], self._began_s[link.peer] = link, time_s()
        return True

    def _preferred(self, link: Link) -> bool:
        return link.dialled == (self._own < link.peer)

    def _compared(self, link: Link, agree: bool) -> None:
        # Of one that is being sent away nothing is found any more.
        if link.end_asked is None:
            self.findings.note(link.peer, agree=agree)
            self.changed.tell()

    def _tell_of_state(self, peer: DeviceId) -> None:
        """Tell whoever follows what happens, and the peer itself."""
        # The other side may not have compared: it hears so, and both do in the greeting that follows.
        if (link := self.to(peer)) is not None:
            link.close(DIFFERS if peer in self.findings.standing() else AGREES)
        self._notifier.tell()
        self.changed.tell()

    async def _note_now_and_then(self, link: Link) -> None:
        await link.greeted.wait()
        while True:
            await self._note(link)
            await asyncio.sleep(self._pace.heard_s)

    async def note(self) -> None:
        """Remember now what each linked peer holds."""
        for link in self.all():
            await self._note(link)

    async def _note(self, link: Link) -> None:
        """Remember what the peer holds, so that its lag is known while it is away, and when it was heard."""
        if not link.greeted.is_set():
            return
        vector: Clock = link.peer_vector
        # A link may end long after that, where the peer or this machine slept.
        came_ms = self._came_ms[link.peer]
        try:
            await self._db.write(
                lambda transaction: table.note_heard(transaction, link.peer, vector, came_ms)
            )
        except StoreError as fault:
            # A hint that is lost; the next contact brings it again.
            log.warning("a peer's place could not be noted", peer=link.peer.hex()[:16], error=str(fault))
