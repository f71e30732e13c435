"""This machine's network addresses, and word of when they change or the machine has slept.

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

TICK_S = 5.0
"""A machine may wake without a word from the kernel: one that hangs on a cable, or a virtual one."""
SETTLE_S = 1.0
SLEPT_S = 5.0
_GROUPS = 0x1 | 0x10 | 0x100
"""Links, IPv4 addresses and IPv6 addresses, as rtnetlink(7) numbers them."""
_READ_BYTES = 1 << 16
_SIOCGIFFLAGS, _IFF_POINTOPOINT, _IFF_RUNNING, _IFF_MULTICAST = 0x8913, 0x10, 0x40, 0x1000
_FLAGS_REQUEST = "16sH22x"
"""A name and flags, as netdevice(7) has them."""
_IPV6_ADDRESSES = Path("/proc/net/if_inet6")
_IFA_F_TENTATIVE = 0x40

log = structlog.get_logger("peers")


def held() -> frozenset[str]:
    """Return the addresses of this machine, without those that only it can reach. Link-local ones count.

    Those that the kernel still tries for duplicates cannot be used, and are left out.
    """
    return frozenset(_addresses(lambda _: True) - _tentative())


def near() -> frozenset[str]:
    """Return the addresses of `held` where devices near by may be heard.

    A tunnel's is nobody's business there: it would tell every network that this machine visits whose it is.
    """
    flags = _flags()
    cast = {name for name, has in flags.items() if has & _IFF_MULTICAST and not has & _IFF_POINTOPOINT}
    return frozenset(_addresses(cast.__contains__) - _tentative())


def _addresses(wanted: Callable[[str], bool]) -> set[str]:
    adapters = [one for one in ifaddr.get_adapters() if wanted(one.name.partition(":")[0])]
    texts = (ip.ip if isinstance(ip.ip, str) else ip.ip[0] for adapter in adapters for ip in adapter.ips)
    return {text for text in texts if not ipaddress.ip_address(text).is_loopback}


def running() -> frozenset[str]:
    """Return the interfaces that have a carrier."""
    return frozenset(name for name, flags in _flags().items() if flags & _IFF_RUNNING)


def is_online() -> bool:
    """Say whether any network but the machine's own is there: one with a carrier, and an address on it."""
    return bool(_addresses(running().__contains__))


def _flags() -> dict[str, int]:
    found: dict[str, int] = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            request = struct.pack(_FLAGS_REQUEST, name.encode(), 0)
            try:
                answer = fcntl.ioctl(probe, _SIOCGIFFLAGS, request)
            except OSError:
                # It went between the two questions.
                continue
            found[name] = int(struct.unpack(_FLAGS_REQUEST, answer)[1])
    return found


def _tentative() -> set[str]:
    """Return the IPv6 addresses that the kernel has not yet found to be nobody else's (RFC 4862, 5.4)."""
    try:
        lines = _IPV6_ADDRESSES.read_text("ascii").splitlines()
    except OSError:
        # Another system, or no IPv6.
        return set()
    told = (line.split() for line in lines)
    return {
        str(ipaddress.IPv6Address(bytes.fromhex(address)))
        for address, _, _, _, flags, _ in told
        if int(flags, 16) & _IFA_F_TENTATIVE
    }


def _seen() -> tuple[frozenset[str], frozenset[str]]:
    return held(), running()


class Changes:
    """Watches in the background; `changed` is told once what came in one burst has settled."""

    def __init__(self, clock: Clock, changed: Callable[[], None], *, tick_s: float = TICK_S) -> None:
        self._clock = clock
        self._changed = changed
        self._tick_s = tick_s
        self._stirred = asyncio.Event()

    async def watch(self) -> None:
        """Watch until cancelled. Where the kernel gives no word, a change is seen at the next tick."""
        before: tuple[frozenset[str], frozenset[str]] | None = None
        lost_s, has_slept = self._lost_s(), False
        with contextlib.suppress(OSError):
            before = _seen()
        async with _told_by_the_kernel(self._stirred):
            while True:
                stood_still = await self._stir()
                now_lost_s = self._lost_s()
                has_slept |= stood_still or abs(now_lost_s - lost_s) > SLEPT_S
                lost_s = now_lost_s
                try:
                    now = _seen()
                except OSError as fault:
                    log.warning("the network's interfaces could not be read", error=str(fault))
                    continue
                if now != before or has_slept:
                    before, has_slept = now, False
                    self._changed()

    async def _stir(self) -> bool:
        """Wait for a word from the kernel, or a tick; say whether this process stood still meanwhile."""
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        try:
            async with asyncio.timeout(self._tick_s):
                await self._stirred.wait()
        except TimeoutError:
            # Its time has come.
            pass
        else:
            # An interface that comes up gets its addresses one after the other.
            await asyncio.sleep(SETTLE_S)
            self._stirred.clear()
        return loop.time() - began_s > self._tick_s + SETTLE_S + SLEPT_S

    def _lost_s(self) -> float:
        """Return the time of day without the time that went by for this machine's timers.

        It jumps where the machine slept, or its clock was set: neither is told from the other, nor need be.
        """
        return self._clock.now_ms() / 1000 - asyncio.get_running_loop().time()


@asynccontextmanager
async def _told_by_the_kernel(stirred: asyncio.Event) -> AsyncIterator[None]:
    """Set the event whenever the kernel tells of a link or an address."""
    loop = asyncio.get_running_loop()
    try:
        told = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.NETLINK_ROUTE)
    except (AttributeError, OSError):
        # Another system, or a sandbox: then the tick alone must do.
        yield
        return

    def read() -> None:
        try:
            told.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            # More came than fits: something changed, which is all that counts here.
            pass
        stirred.set()

    with told:
        with contextlib.suppress(OSError):
            told.bind((0, _GROUPS))
        loop.add_reader(told, read)
        try:
            yield
        finally:
            loop.remove_reader(told)
