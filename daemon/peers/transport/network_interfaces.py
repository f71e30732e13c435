"""This machine's network addresses, and a notice when they change or the machine has slept.

Never sends a packet, and never decides what a change means.
"""

import asyncio
import contextlib
import fcntl
import ipaddress
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import ifaddr
import structlog

from daemon.clock import Clock

POLL_S = 5.0
"""The kernel does not report every wake-up: not on a machine with a cable, nor on a virtual one."""
SETTLE_S = 1.0
SLEEP_DETECTED_S = 5.0
_GROUPS = 0x1 | 0x10 | 0x100
"""Links, IPv4 addresses and IPv6 addresses, as rtnetlink(7) numbers them."""
_READ_BYTES = 1 << 16
_SIOCGIFFLAGS, _IFF_POINTOPOINT, _IFF_RUNNING, _IFF_MULTICAST = 0x8913, 0x10, 0x40, 0x1000
_FLAGS_REQUEST = "16sH22x"
"""A name and flags, in the form of netdevice(7)."""
_IPV6_ADDRESSES = Path("/proc/net/if_inet6")
_IFA_F_TENTATIVE = 0x40

log = structlog.get_logger("peers")


def machine_addresses() -> frozenset[str]:
    """Return the addresses of this machine, also link-local ones, but no loopback addresses.

    Addresses that the kernel still checks for duplicates cannot be used yet, and are left out.
    """
    return frozenset(_addresses(lambda _: True) - _tentative())


def multicast_addresses() -> frozenset[str]:
    """Return those of `machine_addresses` on which nearby devices may be found by multicast.

    The addresses of tunnels are left out: they would reveal to every network whose machine this is.
    """
    flags = _flags()
    multicast = {
        name for name, bits in flags.items() if bits & _IFF_MULTICAST and not bits & _IFF_POINTOPOINT
    }
    return frozenset(_addresses(multicast.__contains__) - _tentative())


def _addresses(wanted: Callable[[str], bool]) -> set[str]:
    # An alias such as "eth0:1" belongs to the interface before the colon.
    adapters = [adapter for adapter in ifaddr.get_adapters() if wanted(adapter.name.partition(":")[0])]
    texts = (ip.ip if isinstance(ip.ip, str) else ip.ip[0] for adapter in adapters for ip in adapter.ips)
    return {text for text in texts if not ipaddress.ip_address(text).is_loopback}


def interfaces_with_carrier() -> frozenset[str]:
    """Return the interfaces that have a carrier."""
    return frozenset(name for name, flags in _flags().items() if flags & _IFF_RUNNING)


def has_network() -> bool:
    """Return whether this machine has a network: an interface with a carrier and an address."""
    return bool(_addresses(interfaces_with_carrier().__contains__))


def _flags() -> dict[str, int]:
    flags: dict[str, int] = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            request = struct.pack(_FLAGS_REQUEST, name.encode(), 0)
            try:
                answer = fcntl.ioctl(probe, _SIOCGIFFLAGS, request)
            except OSError:
                # The interface was removed between the two calls.
                continue
            flags[name] = int(struct.unpack(_FLAGS_REQUEST, answer)[1])
    return flags


def _tentative() -> set[str]:
    """Return the IPv6 addresses that the kernel still checks for duplicates (RFC 4862, section 5.4)."""
    try:
        lines = _IPV6_ADDRESSES.read_text("ascii").splitlines()
    except OSError:
        # Another system than Linux, or no IPv6.
        return set()
    rows = (line.split() for line in lines)
    return {
        str(ipaddress.IPv6Address(bytes.fromhex(address)))
        for address, _, _, _, flags, _ in rows
        if int(flags, 16) & _IFA_F_TENTATIVE
    }


def _current() -> tuple[frozenset[str], frozenset[str]]:
    return machine_addresses(), interfaces_with_carrier()


class NetworkWatch:
    """Watches the network; `changed` is called once per burst of changes, after it has settled."""

    def __init__(self, clock: Clock, changed: Callable[[], None], *, tick_s: float = POLL_S) -> None:
        self._clock = clock
        self._changed = changed
        self._tick_s = tick_s
        self._event = asyncio.Event()

    async def watch(self) -> None:
        """Watch until cancelled. A change that the kernel does not report is seen at the next tick."""
        before: tuple[frozenset[str], frozenset[str]] | None = None
        lost_s, has_slept = self._clock_offset_s(), False
        with contextlib.suppress(OSError):
            before = _current()
        async with _kernel_events(self._event):
            while True:
                was_suspended = await self._wait()
                now_lost_s = self._clock_offset_s()
                has_slept |= was_suspended or abs(now_lost_s - lost_s) > SLEEP_DETECTED_S
                lost_s = now_lost_s
                try:
                    now = _current()
                except OSError as fault:
                    log.warning("the network's interfaces could not be read", error=str(fault))
                    continue
                if now != before or has_slept:
                    before, has_slept = now, False
                    self._changed()

    async def _wait(self) -> bool:
        """Wait for the kernel or a tick; return whether this process was suspended meanwhile."""
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        try:
            async with asyncio.timeout(self._tick_s):
                await self._event.wait()
        except TimeoutError:
            # The tick is due.
            pass
        else:
            # An interface that comes up gets its addresses one after the other.
            await asyncio.sleep(SETTLE_S)
            self._event.clear()
        return loop.time() - began_s > self._tick_s + SETTLE_S + SLEEP_DETECTED_S

    def _clock_offset_s(self) -> float:
        """Return the time of day minus the time of this machine's timers, in seconds.

        It jumps if the machine slept or if its clock was set. Both are handled alike.
        """
        return self._clock.now_ms() / 1000 - asyncio.get_running_loop().time()


@asynccontextmanager
async def _kernel_events(event: asyncio.Event) -> AsyncIterator[None]:
    """Set the event whenever the kernel reports a change of a link or an address."""
    loop = asyncio.get_running_loop()
    try:
        kernel = socket.socket(
            socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.NETLINK_ROUTE
        )
    except (AttributeError, OSError):
        # Another system, or a sandbox: then only the tick shows changes.
        yield
        return

    def read() -> None:
        try:
            kernel.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            # More events came than fit. Something changed, and nothing else counts here.
            pass
        event.set()

    with kernel:
        with contextlib.suppress(OSError):
            kernel.bind((0, _GROUPS))
        loop.add_reader(kernel, read)
        try:
            yield
        finally:
            loop.remove_reader(kernel)
