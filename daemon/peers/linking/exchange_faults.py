"""What keeps this device from exchanging with each peer: calls that failed, and faults that ended links.

Never keeps a fault once a later link works, and never counts a lost race before it is lost again.
"""

from collections.abc import Container, Mapping, Sequence
from typing import Final, NamedTuple

from daemon.peers.linking import goodbyes
from daemon.peers.linking.goodbyes import CloseAsked, NoRoom, PeerLeft
from daemon.peers.transport.connector import UnreachableReason
from daemon.peers.transport.happy_eyeballs import FailedCall
from daemon.peers.transport.wire import ConnectionLost
from store.sentence import Sentence, sentence
from syncproto.errors import CommitsMissing, RemoteProtocolError, UnsupportedVersion
from syncproto.ids import DeviceId

UPDATE_REMEDIES: Final[Mapping[UnreachableReason, Sentence]] = {
    UnreachableReason.NEWER: sentence(
        "install-newer-here", "it runs a newer version of Placet: install that one on this device, too"
    ),
    UnreachableReason.OLDER: sentence(
        "install-newer-there", "it runs an older version of Placet: install this device's version there, too"
    ),
}
"""What to do about a device without a version in common, by whether its versions are newer or older."""


class LinkFault(NamedTuple):
    """The fault by which a link ended: its kind, and what was seen.

    `may_be_race`: it can come from what the two devices did at the same moment. The next link then works.
    """

    kind: UnreachableReason
    detail: str | Sentence
    may_be_race: bool = False

    def sentence(self, device: str) -> Sentence:
        """Return what is told of the fault; `device` is the name of the peer."""
        match self.kind:
            case UnreachableReason.FAULTY:
                return sentence(
                    "peer-broke-protocol",
                    "{device} broke the protocol: {fault}",
                    device=device,
                    fault=self.detail,
                )
            case UnreachableReason.ENDED_THERE:
                return sentence(
                    "peer-ended-link", "{device} ended the link: {words}", device=device, words=self.detail
                )
            case UnreachableReason.FAILED_HERE:
                return sentence(
                    "link-failed-here",
                    "the link to {device} failed on this device: {fault}",
                    device=device,
                    fault=self.detail,
                )
        return sentence(
            "device-not-understood", "{device} cannot be understood: {seen}", device=device, seen=self.detail
        )


def fault_of_end(ended_by: Exception, peer_goodbye: str | None) -> LinkFault | None:
    """Return the fault by which a link ended, None if it ended without one.

    `ended_by` is what its conversation raised, `peer_goodbye` the reason in the peer's Bye, None without it.
    """
    match ended_by:
        case ConnectionLost() | PeerLeft():
            return None if peer_goodbye is None else _fault_there(peer_goodbye)
        case NoRoom():
            return LinkFault(UnreachableReason.FAILED_HERE, ended_by.shortfall)
        case CloseAsked():
            return None
        case UnsupportedVersion():
            kind = UnreachableReason.NEWER if ended_by.newer else UnreachableReason.OLDER
            return LinkFault(kind, str(ended_by))
        case RemoteProtocolError():
            may_be_race = isinstance(ended_by, CommitsMissing)
            return LinkFault(UnreachableReason.FAULTY, str(ended_by), may_be_race)
    return fault_here(ended_by)


def _fault_there(goodbye: str) -> LinkFault | None:
    if not goodbye or goodbye in goodbyes.WITHOUT_FAULT:
        return None
    return LinkFault(UnreachableReason.ENDED_THERE, goodbye)


def fault_here(exception: Exception) -> LinkFault:
    """Return the fault of this device, such as of its disk, by which a link ended."""
    return LinkFault(UnreachableReason.FAILED_HERE, str(exception) or type(exception).__name__)


class _Record(NamedTuple):
    """The fault of a link, whether it counts, and whether the next link or call will show if it lasts."""

    fault: LinkFault
    counts: bool
    is_in_doubt: bool


class ExchangeFaults:
    """The last faults of each peer: calls that failed, and the fault of a link before them."""

    def __init__(self) -> None:
        self._faults: dict[DeviceId, _Record] = {}
        self._failed_calls: dict[DeviceId, Sequence[FailedCall]] = {}

    def record_failed_call(self, peer: DeviceId, failed_calls: Sequence[FailedCall]) -> None:
        """Record what was seen at each address of a call that led to no link."""
        self._failed_calls[peer] = failed_calls
        if peer in self._faults:
            self._faults[peer] = self._faults[peer]._replace(is_in_doubt=False)

    def record_connection(self, peer: DeviceId) -> None:
        """Record that a call led to a link. What earlier calls showed is past."""
        self._failed_calls.pop(peer, None)

    def record_fault(self, peer: DeviceId, fault: LinkFault) -> None:
        """Record that a link ended by a fault. What earlier calls showed is past."""
        counts = not fault.may_be_race or peer in self._faults
        self._faults[peer] = _Record(fault, counts, not counts)
        self._failed_calls.pop(peer, None)

    def record_working(self, peer: DeviceId) -> None:
        """Record that a link works: a page or an acknowledgement came, or the states were compared."""
        self._faults.pop(peer, None)

    def forget_all_but(self, devices: Container[DeviceId]) -> None:
        """Forget the devices that are no members."""
        self._faults = {peer: record for peer, record in self._faults.items() if peer in devices}
        self._failed_calls = {peer: calls for peer, calls in self._failed_calls.items() if peer in devices}

    def failed_calls(self, peer: DeviceId) -> Sequence[FailedCall]:
        """Return what was seen at each address of the last call, if it failed and no link came after it."""
        return self._failed_calls.get(peer, ())

    def link_fault(self, peer: DeviceId) -> LinkFault | None:
        """Return the fault by which a peer's link ended, None if a later one works or it may be a race."""
        record = self._faults.get(peer)
        return record.fault if record is not None and record.counts else None

    def is_in_doubt(self, peer: DeviceId) -> bool:
        """Return whether a lost race may have ended the last link, and the next one is still to show it."""
        return peer in self._faults and self._faults[peer].is_in_doubt

    def appearance(self) -> tuple[object, ...]:
        """Return what is told of all peers; it is equal as long as the same is told."""
        faults = {peer: record.fault for peer, record in self._faults.items() if record.counts}
        return faults, dict(self._failed_calls)

    def faulty_peers(self) -> set[DeviceId]:
        """Return the peers whose last link ended by a fault, also by one that may have been a lost race."""
        return set(self._faults)
