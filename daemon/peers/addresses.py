"""Addresses as people write them, `host:port`, and those under which this device may be reached.

Never resolves a name, and never sends a packet.
"""

import ipaddress
import socket
from collections.abc import Iterable
from typing import NamedTuple

PORT_MAX = 65535
HOST_CHARS_MAX = 255
IPV6_NETWORK_BITS = 64

# What stands for all addresses, and of which families. The documentation networks are routed like any other
# (RFC 5737, RFC 3849).
EVERYWHERE = {"0.0.0.0": (4,), "::": (6,), "": (4, 6)}  # noqa: S104 - compared with, not bound to
_PROBES = {4: (socket.AF_INET, "192.0.2.1", "127.0.0.1"), 6: (socket.AF_INET6, "2001:db8::1", "::1")}


class Address(NamedTuple):
    """A host (name or address, IPv6 without brackets) and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Say whether it is this machine's own, whoever names it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def parse(text: str) -> Address:
    """Read `host:port` or `[v6]:port`. Raises ValueError with what was seen."""
    if not text.isprintable():
        raise ValueError(f"an address has no control characters: {text[:80]!r}")
    host, colon, port = text.strip().rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = str(ipaddress.IPv6Address(host[1:-1]))
    elif ":" in host:
        raise ValueError(f"an IPv6 address is written [address]:port, not {text[:80]!r}")
    named = 0 < len(host) <= HOST_CHARS_MAX and all(one.isalnum() or one in "-._%:" for one in host)
    number = int(port) if port.isascii() and port.isdigit() and len(port) <= len(str(PORT_MAX)) else 0
    if not colon or not named or not 0 < number <= PORT_MAX:
        raise ValueError(f"not an address of the form host:port: {text[:80]!r}")
    return Address(host, number)


def is_address(text: str) -> bool:
    """Say whether `parse` takes a text."""
    try:
        parse(text)
    except ValueError:
        return False
    return True


def listenable(text: str) -> str:
    """Return the address to listen on that a person set, in one spelling; one of `EVERYWHERE` means all.

    Names are not taken: what they stand for changes, and others cannot be told. Raises ValueError with what
    was seen and what to do.
    """
    instead = "give another address of this machine, or leave it out to listen on all of them"
    host = text.strip()
    if host in EVERYWHERE:
        return host
    try:
        read = ipaddress.ip_address(host)
    except ValueError:
        raise ValueError(f"{text[:80]!r} is no IP address: {instead}") from None
    mapped = read.ipv4_mapped if read.version == 6 else None
    if mapped is None and read.version == 6 and read.is_link_local:
        raise ValueError(
            f"{host} is an address on one link alone, and no other device can be told it: {instead}"
        )
    return str(mapped or read)


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches who listens on an address."""
    return host not in EVERYWHERE and ipaddress.ip_address(host).is_loopback


def reachable(host: str, port: int, held: Iterable[str] = ()) -> list[str]:
    """Return where a listener bound to `host` may be reached, the likeliest first.

    `held` are the machine's addresses. Those of one link alone are left out: elsewhere they mean another.
    """
    if host not in EVERYWHERE:
        return [str(Address(host, port))]
    places = [_PROBES[family] for family in EVERYWHERE[host]]
    routed = [source for family, target, _ in places if (source := _source(family, target))]
    others = sorted(one for one in held if _is_far(one, EVERYWHERE[host]))
    hosts = [*routed, *others, *(loopback for _, _, loopback in places)]
    return [str(Address(one, port)) for one in dict.fromkeys(hosts)]


def network_of(host: str, scope: int = 0) -> str:
    """Return what calls from an address are counted under: an IPv4 address, or an IPv6 /64 on its link.

    Whoever has one address of a /64 may take any other of it, and whoever is on a link any that is local to
    that. So neighbours are counted together, and one of them may keep the others from calling by IPv6, which
    it can by other means too; it cannot keep out those who call from elsewhere.
    """
    read = ipaddress.ip_address(host.partition("%")[0])
    address = read if read.version == 4 else read.ipv4_mapped
    if address is not None:
        return str(address)
    network = ipaddress.IPv6Network((int(read), IPV6_NETWORK_BITS), strict=False)
    return f"{network}%{scope}" if scope else str(network)


def _is_far(address: str, families: tuple[int, ...]) -> bool:
    read = ipaddress.ip_address(address)
    return read.version in families and not read.is_link_local


def _source(family: int, target: str) -> str | None:
    """Return the address from which `target` would be reached. Connecting a datagram socket sends nothing."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((target, 9))
            return str(probe.getsockname()[0])
    except OSError:
        return None
