"""What was heard by mDNS: who said that it is where, kept within bounds whoever says how much.

Never takes a word for proof, and never returns an address that leads back to this machine or to many at once.
"""

import ipaddress
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from daemon.clock import Clock
from daemon.peers import announcing
from daemon.peers.addresses import Address
from daemon.peers.announcing import Known, Properties
from daemon.peers.joining import Inviting
from syncproto.ids import DeviceId

HEARD_MAX = 64
ADDRESSES_MAX = 16
INVITING_S = 6 * 60.0
NEWS_S = 5.0


@dataclass(slots=True)
class _Heard:
    """One service, as it was last announced. `gone`: someone said goodbye in its name."""

    port: int
    addresses: tuple[str, ...]
    properties: Properties
    at_s: float
    rank: int
    gone: bool = False


class Hearsay:
    """What services said, by their names. `found` is told of a member heard with addresses not heard before.

    `alone`: this device listens on its own machine only, and addresses of that machine are of use.
    """

    def __init__(
        self, clock: Clock, known: Callable[[], Known], found: Callable[[DeviceId], None], *, alone: bool
    ) -> None:
        self._clock = clock
        self._known = known
        self._found = found
        self._alone = alone
        self._heard: dict[str, _Heard] = {}
        self._told_s: dict[DeviceId, float] = {}

    def hear(self, name: str, port: int, addresses: Sequence[str], properties: Properties) -> None:
        """Keep what a service says of itself; tell where it is news of a member."""
        usable = [_scoped(one) for one in addresses if is_usable(one, alone=self._alone)]
        places = tuple(one for one in usable if one is not None)[:ADDRESSES_MAX]
        device = announcing.member(properties, name, port, self._known().others)
        # Strangers may flood: what they say goes first.
        rank = 2 if device is not None else 1 if announcing.inviter(properties) else 0
        before = self._heard.pop(name, None)
        self._heard[name] = _Heard(port, places, properties, self._clock.monotonic_s(), rank)
        if len(self._heard) > HEARD_MAX:
            del self._heard[min(self._heard, key=lambda one: self._heard[one].rank)]
        if device is not None and (before is None or (before.port, before.addresses) != (port, places)):
            self._tell(device)

    def heard_since(self, at_s: float) -> bool:
        """Say whether any service said something since a moment, of the clock's monotonic time."""
        return any(heard.at_s >= at_s for heard in self._heard.values())

    def gone(self, name: str) -> None:
        """Note that someone said goodbye in a service's name."""
        if name in self._heard:
            self._heard[name].gone = True

    def _tell(self, device: DeviceId) -> None:
        """Tell of news of a member, seldom enough that whoever repeats its words makes no flood of calls.

        What is not told now is found by the calls that follow from what was.
        """
        now_s = self._clock.monotonic_s()
        if now_s - self._told_s.get(device, -NEWS_S) >= NEWS_S:
            self._told_s[device] = now_s
            self._found(device)

    def addresses_of(self, device: DeviceId) -> list[str]:
        """Return where a member said that it is, what was heard last first."""
        keys = self._known().others
        key = {device: keys[device]} if device in keys else {}
        told = [
            heard
            for instance, heard in self._heard.items()
            if announcing.member(heard.properties, instance, heard.port, key)
        ]
        told.sort(key=lambda heard: -heard.at_s)
        return list(dict.fromkeys(place for heard in told for place in _places(heard)))[:ADDRESSES_MAX]

    def inviters(self) -> list[Inviting]:
        """Return the devices that say that they invite.

        One that says so twice, as after a restart, is one, where both are to be had at one place, and it is
        called there alone: whoever takes its name and its port elsewhere is another.
        """
        now_s = self._clock.monotonic_s()
        said = [heard for heard in self._heard.values() if now_s - heard.at_s < INVITING_S]
        inviting = [heard for heard in said if announcing.inviter(heard.properties) is not None]
        # A goodbye may be anyone's: whoever is said to be gone is asked where nobody else is.
        here = [heard for heard in inviting if not heard.gone] or inviting
        return sorted(_told_apart([heard for heard in here if heard.addresses] or here), key=_key)


def _told_apart(said: Sequence[_Heard]) -> list[Inviting]:
    """Return who invites, each with the places that all agree on who share one with it."""
    told: list[Inviting] = []
    for heard in said:
        one = Inviting(announcing.inviter(heard.properties) or "", tuple(_places(heard)))
        same = next((it for it in told if it.name == one.name and {*it.addresses} & {*one.addresses}), None)
        if same is not None:
            told.remove(same)
            one = Inviting(one.name, tuple(it for it in one.addresses if it in same.addresses))
        told.append(one)
    return told


def _key(inviting: Inviting) -> tuple[str, tuple[str, ...]]:
    return inviting.name, inviting.addresses


def is_usable(address: str, *, alone: bool) -> bool:
    """Say whether an announced address may be called: one that is somewhere else, and one device's."""
    try:
        read = ipaddress.ip_address(address)
    except ValueError:
        return False
    # 0.0.0.0 and ::ffff:127.0.0.1 lead to this machine too, where other services listen.
    inner = getattr(read, "ipv4_mapped", None) or read
    if inner.is_multicast or inner.is_unspecified or (inner.is_loopback and not alone):
        return False
    return inner.is_loopback or not inner.is_reserved


def _scoped(address: str) -> str | None:
    """Name the interface of a link-local IPv6 address; None where it is not known.

    By its name: in a URL, some numbers would be read as escaped characters.
    """
    read = ipaddress.ip_address(address)
    if read.version == 4 or not read.is_link_local:
        return address
    bare, _, scope = address.partition("%")
    if not scope.isdecimal():
        return address if scope else None
    try:
        return f"{bare}%{socket.if_indextoname(int(scope))}"
    except OSError:
        # It went.
        return None


def _places(heard: _Heard) -> list[str]:
    # Addresses that hold on one link alone come last: others may be reached from everywhere.
    ordered = sorted(heard.addresses, key=lambda one: ipaddress.ip_address(one).is_link_local)
    return [str(Address(one, heard.port)) for one in ordered]
