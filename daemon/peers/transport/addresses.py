"""Addresses as people write them, `host:port`, and those under which this device may be reached.

Never resolves a name, and never sends a packet.
"""

import ipaddress
import socket
from collections.abc import Iterable
from typing import NamedTuple

from store.sentence import Sentence, sentence

PORT_MAX = 65535
HOST_CHARS_MAX = 255
IPV6_NETWORK_BITS = 64

# The spellings that mean all addresses, with their IP versions.
WILDCARD_HOSTS = {"0.0.0.0": (4,), "::": (6,), "": (4, 6)}  # noqa: S104 - compared with, not bound to
# One address per IP version that no machine has (RFC 5737, RFC 3849): it is routed like any other, so the
# route to it shows the address that this machine uses for the outside. Then the loopback address.
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
        """Return whether it is a loopback address, which means another machine to everyone who reads it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


class BadAddress(ValueError):
    """A text that is no address; `sentence` says what was seen."""

    def __init__(self, message: Sentence) -> None:
        super().__init__(message.text)
        self.sentence = message


def parse(text: str) -> Address:
    """Read `host:port` or `[v6]:port`. Raises ValueError, mostly BadAddress, with what was seen."""
    shown_text = text[:80]
    if not text.isprintable():
        raise BadAddress(
            sentence(
                "address-control-characters",
                "an address has no control characters: {seen!r}",
                seen=shown_text,
            )
        )
    host, colon, port = text.strip().rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = str(ipaddress.IPv6Address(host[1:-1]))
    elif ":" in host:
        raise BadAddress(
            sentence(
                "ipv6-brackets", "an IPv6 address is written [address]:port, not {seen!r}", seen=shown_text
            )
        )
    is_host = 0 < len(host) <= HOST_CHARS_MAX and all(sign.isalnum() or sign in "-._%:" for sign in host)
    number = int(port) if port.isascii() and port.isdigit() and len(port) <= len(str(PORT_MAX)) else 0
    if not colon or not is_host or not 0 < number <= PORT_MAX:
        raise BadAddress(
            sentence("not-host-port", "not an address of the form host:port: {seen!r}", seen=shown_text)
        )
    return Address(host, number)


def is_address(text: str) -> bool:
    """Return whether `parse` accepts a text."""
    try:
        parse(text)
    except ValueError:
        return False
    return True


def normalised_listen_host(text: str) -> str:
    """Return the address to listen on that a person set, in one spelling. One of `WILDCARD_HOSTS` means all.

    Names are not accepted: their address changes, and other devices could not be informed of that. Raises
    ValueError with what was seen and what to do.
    """
    host = text.strip()
    if host in WILDCARD_HOSTS:
        return host
    try:
        parsed = ipaddress.ip_address(host)
    except ValueError:
        raise BadAddress(
            sentence(
                "not-an-ip-address",
                "{seen!r} is no IP address: give another address of this machine,"
                " or leave it out to listen on all of them",
                seen=text[:80],
            )
        ) from None
    mapped = parsed.ipv4_mapped if parsed.version == 6 else None
    if mapped is None and parsed.version == 6 and parsed.is_link_local:
        raise BadAddress(
            sentence(
                "address-of-one-link",
                "{host} is an address on one link alone, which other devices cannot use:"
                " give another address of this machine, or leave it out to listen on all of them",
                host=host,
            )
        )
    return str(mapped or parsed)


def is_loopback_host(host: str) -> bool:
    """Return whether only this machine reaches a listener on this host."""
    return host not in WILDCARD_HOSTS and ipaddress.ip_address(host).is_loopback


def reachable_addresses(host: str, port: int, own: Iterable[str] = ()) -> list[str]:
    """Return where a listener bound to `host` may be reached, the likeliest first.

    `own` are the machine's addresses. Link-local ones are left out: on another link they mean others.
    """
    if host not in WILDCARD_HOSTS:
        return [str(Address(host, port))]
    versions = WILDCARD_HOSTS[host]
    probes = [_PROBES[version] for version in versions]
    routed = [source for family, target, _ in probes if (source := _source_address(family, target))]
    others = sorted(address for address in own if _is_usable_elsewhere(address, versions))
    hosts = [*routed, *others, *(loopback for _, _, loopback in probes)]
    return [str(Address(address, port)) for address in dict.fromkeys(hosts)]


def caller_network(host: str, scope: int = 0) -> str:
    """Return what calls from an address are counted under: an IPv4 address, or an IPv6 /64 on its link.

    A machine that has one address of a /64 can use any other of it, and a machine on a link any link-local
    address. So neighbours are counted together. One of them may keep the others from calling by IPv6, which
    it can by other means too. It cannot keep out those who call from elsewhere.
    """
    parsed = ipaddress.ip_address(host.partition("%")[0])
    ipv4 = parsed if parsed.version == 4 else parsed.ipv4_mapped
    if ipv4 is not None:
        return str(ipv4)
    network = ipaddress.IPv6Network((int(parsed), IPV6_NETWORK_BITS), strict=False)
    return f"{network}%{scope}" if scope else str(network)


def _is_usable_elsewhere(address: str, versions: tuple[int, ...]) -> bool:
    parsed = ipaddress.ip_address(address)
    return parsed.version in versions and not parsed.is_link_local


def _source_address(family: int, target: str) -> str | None:
    """Return the address from which this machine would reach `target`, None if there is no route.

    To connect a datagram socket sends no packet.
    """
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((target, 9))
            return str(probe.getsockname()[0])
    except OSError:
        return None
