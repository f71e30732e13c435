"""Which peers showed another state for the same commits: that is a bug, or a damaged store.

Never forgets a peer except by a comparison that agreed, or with the device; never reports without pause.
"""

import asyncio
from collections.abc import Callable, Container, Mapping

import structlog

from store.file.errors import StoreError
from store.local import peer_records
from store.threads import StoreThreads
from syncproto.ids import DeviceId

log = structlog.get_logger("peers")


class Divergences:
    """The peers whose state differs, also kept in the store. `report` is called when that of a peer changed.

    A peer whose state changes often is reported once per `pause_s`. After a pause its latest outcome is
    reported.
    """

    def __init__(
        self, db: StoreThreads, now_ms: Callable[[], int], report: Callable[[DeviceId], None], pause_s: float
    ) -> None:
        self._db = db
        self._now_ms = now_ms
        self._report = report
        self._pause_s = pause_s
        self._diverging_since_ms: dict[DeviceId, int] = {}
        self._agreeing: set[DeviceId] = set()
        self._pauses: dict[DeviceId, asyncio.TimerHandle] = {}
        self._unreported: set[DeviceId] = set()
        self._writes: set[asyncio.Task[None]] = set()

    async def load(self) -> None:
        """Read what was found before this process began."""
        self._diverging_since_ms = await self._db.read(peer_records.divergence_starts_ms)

    def diverging_peers(self) -> Mapping[DeviceId, int]:
        """Return the peers whose state differed when last compared, and since when (Unix time in ms)."""
        return self._diverging_since_ms

    def agreeing_peers(self) -> Container[DeviceId]:
        """Return the peers whose state was the same when this process compared it last."""
        return self._agreeing

    def record_comparison(self, peer: DeviceId, *, agree: bool) -> None:
        """Record the outcome of a comparison."""
        if agree:
            self._agreeing.add(peer)
        else:
            self._agreeing.discard(peer)
        # The same as before: nothing to report, and the first time of the divergence stays.
        if agree == (peer not in self._diverging_since_ms):
            return
        if agree:
            del self._diverging_since_ms[peer]
        else:
            self._diverging_since_ms[peer] = self._now_ms()
        self._publish(peer)

    async def forget_all_but(self, devices: Container[DeviceId]) -> None:
        """Forget the devices that are no members. A device that comes back is compared first."""
        self._agreeing = {device for device in self._agreeing if device in devices}
        matching_devices = [device for device in self._diverging_since_ms if device not in devices]
        for device in matching_devices:
            del self._diverging_since_ms[device]
        for device in matching_devices:
            await self._write(device)

    async def close(self) -> None:
        """Write what is not yet written; report nothing any more."""
        for pause in self._pauses.values():
            pause.cancel()
        for device in self._unreported:
            self._start_write(device)
        self._pauses, self._unreported = {}, set()
        await asyncio.gather(*self._writes)

    def _publish(self, peer: DeviceId) -> None:
        """Log, store and report a change, or remember to do so after the pause."""
        if peer in self._pauses:
            self._unreported.add(peer)
            return
        self._pauses[peer] = asyncio.get_running_loop().call_later(self._pause_s, self._end_pause, peer)
        if peer in self._diverging_since_ms:
            log.error("same commits, another state", peer=peer.hex()[:16])
        else:
            log.info("same commits, the same state again", peer=peer.hex()[:16])
        self._start_write(peer)
        self._report(peer)

    def _end_pause(self, peer: DeviceId) -> None:
        del self._pauses[peer]
        if peer in self._unreported:
            self._unreported.discard(peer)
            self._publish(peer)

    def _start_write(self, peer: DeviceId) -> None:
        task = asyncio.create_task(self._write(peer))
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)

    async def _write(self, peer: DeviceId) -> None:
        since_ms = self._diverging_since_ms.get(peer)
        try:
            await self._db.write(
                lambda transaction: peer_records.record_divergence(transaction, peer, since_ms)
            )
        except StoreError as fault:
            # This process still has it, and the next comparison finds it again. It is lost only by a restart
            # while that device is away.
            log.warning("whether a peer diverges could not be stored", peer=peer.hex()[:16], error=str(fault))
