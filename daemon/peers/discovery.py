"""Finding members, and devices that invite, on the local network by mDNS (RFC 6762, RFC 6763).

Never trusts what it hears: every address is a hint, every name a claim, and a goodbye may be anyone's.
"""

import asyncio
import ipaddress
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass

import structlog
import zeroconf
from zeroconf import IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from daemon.clock import Clock
from daemon.peers import announcing, interfaces
from daemon.peers.addresses import EVERYWHERE, is_loopback
from daemon.peers.announcing import SERVICE, Known
from daemon.peers.hearing import HEARD_MAX, Hearsay
from daemon.peers.joining import Inviting
from syncproto.ids import DeviceId

RESOLVE_S = 3.0
RESOLVING_MAX = 16
AGAIN_S = 2.0
AGAIN_S_MAX = 60.0

log = structlog.get_logger("peers")


@dataclass(frozen=True, slots=True)
class _Service:
    """A service of this device: what it is announced for, and under which names."""

    reason: tuple[str, bytes]
    info: AsyncServiceInfo


class Discovery:
    """Announces this device and listens for others, from `start` to `stop`.

    `host` is what the listener is bound to; `known` is asked whenever it matters; `found` is told of a member
    that was heard with addresses not heard before. Only those of one `service` (RFC 6763, 7) hear each other.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        host: str,
        known: Callable[[], Known],
        found: Callable[[DeviceId], None],
        service: str = SERVICE,
    ) -> None:
        self._clock = clock
        self._type = service
        self._host = host
        self._known = known
        self._hearsay = Hearsay(clock, known, found, alone=is_loopback(host))
        self._port = 0
        self._inviting: str | None = None
        self._resolving: dict[str, asyncio.Task[None]] = {}
        # Names to resolve once others are: kept in a dict for their order.
        self._unresolved: dict[str, None] = {}
        self._serving: asyncio.Task[None] | None = None
        self._stirred = asyncio.Event()
        self._arrived = asyncio.Event()
        self._rebuild = False
        self._own: deque[str] = deque(maxlen=HEARD_MAX)
        self._listening_since_s: float | None = None
        self.trouble: str | None = "not started yet"

    # -- life -----------------------------------------------------------------------------------------

    def start(self, port: int) -> None:
        """Announce that members are answered on this port, and listen."""
        self._port = port
        self._serving = asyncio.create_task(self._serve())
        self._serving.add_done_callback(tell_of_fault)

    async def stop(self) -> None:
        """Say goodbye, and stop listening."""
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)

    def refresh(self) -> None:
        """Look again at what is to be announced: the roster may have changed."""
        self._stirred.set()

    def move(self) -> None:
        """Begin anew, since the machine's addresses changed: what is announced would stay what it was."""
        self._rebuild = True
        self._stirred.set()

    def invite(self, name: str | None) -> None:
        """Tell everyone near that this device invites, under its name; None: not any more."""
        self._inviting = name
        self._stirred.set()

    # -- what was heard -------------------------------------------------------------------------------

    def addresses_of(self, device: DeviceId) -> list[str]:
        """Return where a member said that it is, what was heard last first."""
        return self._hearsay.addresses_of(device)

    def unheard_s(self) -> float | None:
        """Return for how long nobody was heard by listening; None where someone was, or nothing listens."""
        began_s = self._listening_since_s
        if began_s is None or self._hearsay.heard_since(began_s):
            return None
        return self._clock.monotonic_s() - began_s

    async def inviters(self, wait_s: float) -> list[Inviting]:
        """Return the devices near that say that they invite; where there is none, wait a little for one."""
        try:
            async with asyncio.timeout(wait_s):
                while not (found := self._hearsay.inviters()):
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            return []
        return found

    # -- announcing -----------------------------------------------------------------------------------

    async def _serve(self) -> None:
        wait_s = AGAIN_S
        while True:
            self._rebuild = False
            self._listening_since_s = None
            try:
                await self._announce()
            except (OSError, zeroconf.Error, TimeoutError) as fault:
                # No interface at all, most likely: they come and go.
                self.trouble = getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
                log.info("mdns does not work now", error=self.trouble, again_s=wait_s)
            except Exception:
                # A bug, or a network that nobody thought of: it must not keep this device from being found.
                self.trouble = "mDNS failed, and the log says how"
                log.exception("mdns failed", again_s=wait_s)
            else:
                wait_s = AGAIN_S
                continue
            await self._stir(wait_s)
            wait_s = min(2 * wait_s, AGAIN_S_MAX)

    async def _announce(self) -> None:
        """Announce and listen until the machine's addresses change."""
        own = self._own_addresses()
        if not own:
            raise OSError("this machine has no network address")
        async with AsyncExitStack() as ending:
            mdns = _listening(own)
            # It says goodbye for every service.
            ending.push_async_callback(mdns.async_close)
            ending.push_async_callback(self._stop_resolving)
            browser = AsyncServiceBrowser(mdns.zeroconf, self._type, handlers=[self._on_service])
            ending.push_async_callback(browser.async_cancel)
            services: dict[str, _Service] = {}
            self.trouble, self._listening_since_s = None, self._clock.monotonic_s()
            while not self._rebuild:
                await self._hold_to(mdns, services, own)
                await self._stir(None)

    async def _hold_to(self, mdns: AsyncZeroconf, services: dict[str, _Service], own: Sequence[str]) -> None:
        """Register what is to be announced now, and take back what is not."""
        wanted = self._wanted()
        for role in list(services):
            if wanted.get(role) != services[role].reason:
                await (await mdns.async_unregister_service(services.pop(role).info))
        for role, reason in wanted.items():
            if role not in services:
                service = self._service(reason, own)
                # The names are random: nobody has them, and there is no need to ask.
                services[role] = service
                self._own.append(service.info.name)
                await (await mdns.async_register_service(service.info, cooperating_responders=True))

    def _wanted(self) -> dict[str, tuple[str, bytes]]:
        key = self._known().own
        wanted = {} if key is None else {"member": ("member", key)}
        if self._inviting is not None:
            wanted["inviter"] = ("inviter", self._inviting.encode())
        return wanted

    def _service(self, reason: tuple[str, bytes], own: Sequence[str]) -> _Service:
        instance, host = announcing.names(self._clock.randomness, self._type)
        role, words = reason
        if role == "member":
            properties = announcing.of_member(words, instance, self._port, self._clock.randomness)
        else:
            properties = announcing.of_inviter(words.decode())
        info = AsyncServiceInfo(
            self._type,
            instance,
            port=self._port,
            properties=properties,
            server=host,
            parsed_addresses=list(own),
        )
        return _Service(reason, info)

    def _own_addresses(self) -> list[str]:
        families = EVERYWHERE.get(self._host)
        if families is None:
            return [self._host]
        return sorted(one for one in interfaces.near() if ipaddress.ip_address(one).version in families)

    async def _stir(self, timeout_s: float | None) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                await self._stirred.wait()
        except TimeoutError:
            return
        finally:
            self._stirred.clear()

    # -- hearing --------------------------------------------------------------------------------------

    def _on_service(
        self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
    ) -> None:
        del service_type
        if state_change is ServiceStateChange.Removed:
            self._hearsay.gone(name)
        elif name not in self._own:
            self._unresolved.setdefault(name)
            if len(self._unresolved) > HEARD_MAX:
                del self._unresolved[next(iter(self._unresolved))]
            self._resolve_next(zeroconf)

    def _resolve_next(self, mdns: Zeroconf) -> None:
        """Ask about the names that wait, a few at once; about one that is asked about already, once more."""
        for name in [one for one in self._unresolved if one not in self._resolving]:
            if len(self._resolving) >= RESOLVING_MAX:
                return
            del self._unresolved[name]
            self._resolving[name] = asyncio.create_task(self._resolve(mdns, name))
            self._resolving[name].add_done_callback(tell_of_fault)

    async def _resolve(self, mdns: Zeroconf, name: str) -> None:
        info = AsyncServiceInfo(self._type, name)
        try:
            with suppress(OSError, zeroconf.Error):
                if await info.async_request(mdns, RESOLVE_S * 1000) and info.port:
                    found = info.parsed_scoped_addresses()
                    self._hearsay.hear(name, info.port, found, dict(info.properties))
                    self._arrived.set()
        finally:
            self._resolving.pop(name, None)
        self._resolve_next(mdns)

    async def _stop_resolving(self) -> None:
        self._unresolved.clear()
        tasks = list(self._resolving.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._resolving.clear()


def _listening(own: Sequence[str]) -> AsyncZeroconf:
    """Take part in mDNS on the interfaces that have these addresses. Raises OSError, zeroconf.Error."""
    try:
        return AsyncZeroconf(interfaces=list(own), ip_version=_families(own))
    except RuntimeError as fault:
        # An address that went since it was listed.
        raise OSError(str(fault)) from fault


def _families(own: Sequence[str]) -> IPVersion:
    versions = {ipaddress.ip_address(one).version for one in own}
    if len(versions) > 1:
        return IPVersion.All
    return IPVersion.V4Only if versions == {4} else IPVersion.V6Only


def tell_of_fault(task: asyncio.Task[None]) -> None:
    """Log what a task of the background died of, if it did."""
    if not task.cancelled() and (fault := task.exception()) is not None:
        log.error("a part of discovery failed", exc_info=fault)
