"""Which devices are two daemons with one key, as their links tell: a data folder copied and run twice.

Never takes a device that calls again for two: it has ended its older link, and answers on it no more.
"""

from collections.abc import Callable

import structlog

from daemon.peers.link import Link
from daemon.peers.pace import Pace
from syncproto.ids import DeviceId

TWINS = "two daemons run with this device's key"
"""The goodbye by which such a daemon is told of the other one."""

log = structlog.get_logger("peers")


class Twins:
    """What was seen of that, and said, for as long as it was so lately."""

    def __init__(self, pace: Pace, time_s: Callable[[], float]) -> None:
        self._pace = pace
        self._time_s = time_s
        self._seen_s: dict[DeviceId, float] = {}
        self._said_s: dict[DeviceId, float] = {}

    def seen(self) -> list[DeviceId]:
        """Return the devices of which two daemons were seen lately, from here."""
        return [device for device in self._seen_s if self.known(device)]

    def said_by(self) -> list[DeviceId]:
        """Return the peers by whose word two daemons run with this device's key, lately."""
        return [device for device, at_s in self._said_s.items() if self._is_recent(at_s)]

    def known(self, device: DeviceId) -> bool:
        """Say whether two daemons with a device's key were seen lately."""
        return self._is_recent(self._seen_s.get(device, float("-inf")))

    def _is_recent(self, at_s: float) -> bool:
        return self._time_s() - at_s < self._pace.twins_s

    async def tell(self, old: Link, new: Link) -> bool:
        """Say whether an older link lives although its device made a new one: then another daemon did.

        Only for two that the peer dialled: where both sides dial, both may live for a moment.
        """
        assert not old.dialled
        assert not new.dialled
        if not await old.answers():
            return False
        self._note(old.peer, at=[old.remote, new.remote])
        return True

    async def tell_by_age(self, old: Link, stood_s: float, new: Link) -> bool:
        """Say so of a link that this side dialled: no call that began before it still comes so late."""
        if stood_s < self._pace.turn_s or new.dialled or not await old.answers():
            return False
        self._note(old.peer, at=[old.remote, new.remote])
        return True

    def hear(self, peer: DeviceId) -> None:
        """Note that a peer said goodbye because another daemon has this device's key."""
        if peer not in self.said_by():
            log.warning("a peer says that two daemons run with this device's key", peer=peer.hex()[:16])
        self._said_s[peer] = self._time_s()

    def _note(self, device: DeviceId, at: list[str]) -> None:
        if not self.known(device):
            log.warning("two daemons run with one device's key", device=device.hex()[:16], at=at)
        self._seen_s[device] = self._time_s()
