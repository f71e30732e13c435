"""Which peers showed another state for the same commits (law 3): a bug, or a damaged store.

Never forgets one but by a comparison that agreed, or with its device; never tells of a peer without pause.
"""

import asyncio
from collections.abc import Callable, Container, Mapping

import structlog

from store import peers as table
from store.faults import StoreError
from store.threads import StoreThreads
from syncproto.ids import DeviceId

log = structlog.get_logger("peers")


class Findings:
    """What stands, kept in the store too. `told` is called when that of a peer changed.

    A peer whose state comes and goes is told of once in `pause_s`; what it came to is told after that.
    """

    def __init__(
        self, db: StoreThreads, now_ms: Callable[[], int], told: Callable[[DeviceId], None], pause_s: float
    ) -> None:
        self._db = db
        self._now_ms = now_ms
        self._told = told
        self._pause_s = pause_s
        self._standing: dict[DeviceId, int] = {}
        self._agreed: set[DeviceId] = set()
        self._pauses: dict[DeviceId, asyncio.TimerHandle] = {}
        self._untold: set[DeviceId] = set()
        self._writes: set[asyncio.Task[None]] = set()

    async def load(self) -> None:
        """Take up what was found before this process began."""
        self._standing = await self._db.read(table.differing)

    def standing(self) -> Mapping[DeviceId, int]:
        """Return the peers whose state differed when last compared, and when that was (Unix time, ms)."""
        return self._standing

    def agreed(self) -> Container[DeviceId]:
        """Return the peers whose state was the same when this process compared it last."""
        return self._agreed

    def note(self, peer: DeviceId, *, agree: bool) -> None:
        """Take a comparison's outcome."""
        if agree:
            self._agreed.add(peer)
        else:
            self._agreed.discard(peer)
        if agree == (peer not in self._standing):
            return
        if agree:
            del self._standing[peer]
        else:
            self._standing[peer] = self._now_ms()
        self._spread(peer)

    async def forget_all_but(self, kept: Container[DeviceId]) -> None:
        """Drop what was found of devices that are no members: one that comes back is compared first."""
        self._agreed = {device for device in self._agreed if device in kept}
        gone = [device for device in self._standing if device not in kept]
        for device in gone:
            del self._standing[device]
        for device in gone:
            await self._write(device)

    async def close(self) -> None:
        """Write what is not yet written; tell nobody any more."""
        for pause in self._pauses.values():
            pause.cancel()
        for device in self._untold:
            self._keep(device)
        self._pauses, self._untold = {}, set()
        await asyncio.gather(*self._writes)

    def _spread(self, peer: DeviceId) -> None:
        if peer in self._pauses:
            self._untold.add(peer)
            return
        self._pauses[peer] = asyncio.get_running_loop().call_later(self._pause_s, self._go_on, peer)
        if peer in self._standing:
            log.error("same commits, another state", peer=peer.hex()[:16])
        else:
            log.info("same commits, the same state again", peer=peer.hex()[:16])
        self._keep(peer)
        self._told(peer)

    def _go_on(self, peer: DeviceId) -> None:
        del self._pauses[peer]
        if peer in self._untold:
            self._untold.discard(peer)
            self._spread(peer)

    def _keep(self, peer: DeviceId) -> None:
        task = asyncio.create_task(self._write(peer))
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)

    async def _write(self, peer: DeviceId) -> None:
        found_ms = self._standing.get(peer)
        try:
            await self._db.write(lambda transaction: table.note_differing(transaction, peer, found_ms))
        except StoreError as fault:
            # It stands here, and is found again; only a restart with that device away would not know of it.
            log.warning("a finding could not be kept", peer=peer.hex()[:16], error=str(fault))
