"""What other devices announced by mDNS, kept within bounds however much is announced.

Never treats an announcement as proof, and never returns an address of this machine or of many at once.
"""

import ipaddress
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from daemon.clock import Clock
from daemon.peers.discovery import announcements
from daemon.peers.discovery.announcements import NearbyInviter, TxtRecord
from daemon.peers.roster.member_records import BeaconKeys
from daemon.peers.transport.addresses import Address
from syncproto.ids import DeviceId

SERVICES_MAX = 64
ADDRESSES_MAX = 16
INVITER_MEMORY_S = 6 * 60.0
NOTIFY_PAUSE_S = 5.0


@dataclass(slots=True)
class _Service:
    """One service as it was last announced. `gone`: someone sent a goodbye in its name."""

    port: int
    addresses: tuple[str, ...]
    properties: TxtRecord
    announced_s: float
    rank: int
    gone: bool = False


class ServiceCache:
    """The announced services by their names. `member_found` is called if a member announced new addresses.

    `loopback_only`: this device listens on its loopback address only, and loopback addresses are of use.
    """

    def __init__(
        self,
        clock: Clock,
        beacon_keys: Callable[[], BeaconKeys],
        member_found: Callable[[DeviceId], None],
        *,
        loopback_only: bool,
    ) -> None:
        self._clock = clock
        self._beacon_keys = beacon_keys
        self._member_found = member_found
        self._loopback_only = loopback_only
        self._services: dict[str, _Service] = {}
        self._notified_s: dict[DeviceId, float] = {}

    def store_service(self, name: str, port: int, addresses: Sequence[str], properties: TxtRecord) -> None:
        """Keep what a service announced; notify if it is a member with new addresses."""
        callable_ = [
            address
            for address in addresses
            if is_callable_address(address, loopback_only=self._loopback_only)
        ]
        scoped = [_with_interface_name(address) for address in callable_]
        usable = tuple(address for address in scoped if address is not None)[:ADDRESSES_MAX]
        device = announcements.announced_member(properties, name, port, self._beacon_keys().others)
        # Strangers may send any number of announcements, so theirs are dropped first.
        rank = 2 if device is not None else 1 if announcements.announced_inviter(properties) else 0
        before = self._services.pop(name, None)
        self._services[name] = _Service(port, usable, properties, self._clock.monotonic_s(), rank)
        if len(self._services) > SERVICES_MAX:
            # The oldest of the lowest rank: the services are in the order of their announcements.
            del self._services[min(self._services, key=lambda key: self._services[key].rank)]
        if device is not None and (before is None or (before.port, before.addresses) != (port, usable)):
            self._notify(device)

    def has_received_since(self, at_s: float) -> bool:
        """Return whether any service was announced since a moment of the clock's monotonic time."""
        return any(service.announced_s >= at_s for service in self._services.values())

    def mark_gone(self, name: str) -> None:
        """Note that someone sent a goodbye in the name of a service."""
        if name in self._services:
            self._services[name].gone = True

    def _notify(self, device: DeviceId) -> None:
        """Notify of a member once per pause, so that repeated announcements cause no flood of calls.

        The calls that follow the notification use whatever was announced until then.
        """
        now_s = self._clock.monotonic_s()
        if now_s - self._notified_s.get(device, -NOTIFY_PAUSE_S) >= NOTIFY_PAUSE_S:
            self._notified_s[device] = now_s
            self._member_found(device)

    def cached_addresses(self, device: DeviceId) -> list[str]:
        """Return the addresses that a member announced, the latest announcement first."""
        keys = self._beacon_keys().others
        key = {device: keys[device]} if device in keys else {}
        services = [
            service
            for name, service in self._services.items()
            if announcements.announced_member(service.properties, name, service.port, key)
        ]
        services.sort(key=lambda service: -service.announced_s)
        places = (place for service in services for place in _places(service))
        return list(dict.fromkeys(places))[:ADDRESSES_MAX]

    def cached_inviters(self) -> list[NearbyInviter]:
        """Return the devices that announce an invitation.

        A device that announces it twice, as after a restart, counts once if both announcements share a place,
        and only the shared places are returned. A device that uses the name and port of another one at other
        places counts as another device.
        """
        now_s = self._clock.monotonic_s()
        recent = [
            service for service in self._services.values() if now_s - service.announced_s < INVITER_MEMORY_S
        ]
        inviting = [
            service for service in recent if announcements.announced_inviter(service.properties) is not None
        ]
        # Anyone can send a goodbye in any name. So a device that is said to be gone is still returned if
        # there is no other.
        present = [service for service in inviting if not service.gone] or inviting
        with_addresses = [service for service in present if service.addresses]
        return sorted(_distinct_inviters(with_addresses or present), key=_inviter_key)


def _distinct_inviters(services: Sequence[_Service]) -> list[NearbyInviter]:
    """Return who invites. Announcements of one name that share a place count once, with the shared places."""
    inviters: list[NearbyInviter] = []
    for service in services:
        name = announcements.announced_inviter(service.properties) or ""
        inviter = NearbyInviter(name, tuple(_places(service)))
        same = next(
            (
                nearby_inviter
                for nearby_inviter in inviters
                if nearby_inviter.name == inviter.name and {*nearby_inviter.addresses} & {*inviter.addresses}
            ),
            None,
        )
        if same is not None:
            inviters.remove(same)
            shared = tuple(place for place in inviter.addresses if place in same.addresses)
            inviter = NearbyInviter(inviter.name, shared)
        inviters.append(inviter)
    return inviters


def _inviter_key(inviter: NearbyInviter) -> tuple[str, tuple[str, ...]]:
    return inviter.name, inviter.addresses


def is_callable_address(address: str, *, loopback_only: bool) -> bool:
    """Return whether an announced address may be called: it must be of one device, and not of this one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    # 0.0.0.0 and ::ffff:127.0.0.1 lead to this machine too, on which other services listen.
    inner = getattr(parsed, "ipv4_mapped", None) or parsed
    if inner.is_multicast or inner.is_unspecified or (inner.is_loopback and not loopback_only):
        return False
    # Of reserved addresses none belongs to a device, except ::1, which Python counts among them.
    return inner.is_loopback or not inner.is_reserved


def _with_interface_name(address: str) -> str | None:
    """Return a link-local IPv6 address with the name of its interface, None if that is not known.

    With the name, not the number: in a URL, some numbers would be read as escaped characters.
    """
    parsed = ipaddress.ip_address(address)
    if parsed.version == 4 or not parsed.is_link_local:
        return address
    bare, _, scope = address.partition("%")
    if not scope.isdecimal():
        return address if scope else None
    try:
        return f"{bare}%{socket.if_indextoname(int(scope))}"
    except OSError:
        # The interface was removed.
        return None


def _places(service: _Service) -> list[str]:
    """Return the places of a service as `host:port`, those that only neighbours reach last."""
    ordered = sorted(service.addresses, key=lambda address: ipaddress.ip_address(address).is_link_local)
    return [str(Address(address, service.port)) for address in ordered]
