"""Which devices are two daemons with one key: a data folder was copied, and both copies run.

Never regards a device that only calls again as two: it has ended its older link, and answers on it no more.
"""

from collections.abc import Callable

import structlog

from daemon.peers.linking.link import PeerLink
from daemon.peers.transport.limits import PeerLimits
from syncproto.ids import DeviceId

log = structlog.get_logger("peers")


class KeyClones:
    """The key clones that were detected from here, and those that peers reported, for `clone_memory_s`."""

    def __init__(self, limits: PeerLimits, time_s: Callable[[], float]) -> None:
        self._limits = limits
        self._time_s = time_s
        self._detected_s: dict[DeviceId, float] = {}
        self._reported_s: dict[DeviceId, float] = {}

    def cloned_devices(self) -> list[DeviceId]:
        """Return the devices of which this one lately detected two daemons."""
        return [device for device in self._detected_s if self.is_cloned(device)]

    def reporting_peers(self) -> list[DeviceId]:
        """Return the peers that lately reported that two daemons run with this device's key."""
        return [device for device, at_s in self._reported_s.items() if self._is_recent(at_s)]

    def is_cloned(self, device: DeviceId) -> bool:
        """Return whether two daemons with a device's key were detected lately."""
        return self._is_recent(self._detected_s.get(device, float("-inf")))

    def _is_recent(self, at_s: float) -> bool:
        return self._time_s() - at_s < self._limits.clone_memory_s

    async def detect_by_answer(self, old: PeerLink, new: PeerLink) -> bool:
        """Return whether the peer answers on an older link although it made a new one: two daemons did.

        Only for two links that the peer dialled. If both sides dial, both links may be alive for a moment.
        """
        assert not old.dialled
        assert not new.dialled
        if not await old.liveness.answers_ping():
            return False
        self._record(old.peer, addresses=[old.remote, new.remote])
        return True

    async def detect_by_age(self, old: PeerLink, age_s: float, new: PeerLink) -> bool:
        """Return the same for an older link that this side dialled.

        After `clone_turn_s`, no call of the peer that began before that link can still arrive.
        """
        # A peer that only calls again has ended its older link first, so it cannot answer on it.
        if age_s < self._limits.clone_turn_s or new.dialled or not await old.liveness.answers_ping():
            return False
        self._record(old.peer, addresses=[old.remote, new.remote])
        return True

    def record_report(self, peer: DeviceId) -> None:
        """Note that a peer said goodbye because another daemon has this device's key."""
        # A peer repeats its goodbye at each of its calls; one line in the log is enough meanwhile.
        if peer not in self.reporting_peers():
            log.warning("a peer says that two daemons run with this device's key", peer=peer.hex()[:16])
        self._reported_s[peer] = self._time_s()

    def _record(self, device: DeviceId, addresses: list[str]) -> None:
        if not self.is_cloned(device):
            log.warning("two daemons run with one device's key", device=device.hex()[:16], at=addresses)
        self._detected_s[device] = self._time_s()
