"""Finding members, and devices that invite, on the local network by mDNS (RFC 6762, RFC 6763).

Never trusts an announcement: every address is a hint, every name a claim, and anyone can send a goodbye.
"""

import asyncio
import ipaddress
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass

import msgspec
import structlog
import zeroconf
from zeroconf import IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from daemon.backoff import Backoff, FailureCount
from daemon.clock import Clock
from daemon.peers.discovery import announcements
from daemon.peers.discovery.announcements import SERVICE_TYPE, NearbyInviter
from daemon.peers.discovery.service_cache import SERVICES_MAX, ServiceCache
from daemon.peers.roster.member_records import BeaconKeys
from daemon.peers.transport import network_interfaces
from daemon.peers.transport.addresses import WILDCARD_HOSTS, is_loopback_host
from syncproto.ids import DeviceId

RESOLVE_S = 3.0
RESOLVING_MAX = 16
BACKOFF = Backoff(first_s=2.0, max_s=60.0)

log = structlog.get_logger("peers")


class DiscoveryStatus(msgspec.Struct, frozen=True):
    """How devices are found from here.

    `mdns`: it is switched on. `trouble`: what keeps it from working. `unheard_s`: for so many seconds nothing
    was received by it, None if something was. `loopback_address`: the address that this device listens on, if
    only this machine reaches it. `online`: this machine has a network.
    """

    mdns: bool = True
    trouble: str | None = None
    unheard_s: float | None = None
    loopback_address: str | None = None
    online: bool = True


@dataclass(frozen=True, slots=True)
class _Service:
    """A service of this device: why it is announced, and under which names."""

    reason: tuple[str, bytes]
    info: AsyncServiceInfo


class MdnsDiscovery:
    """Announces this device and listens for others, from `start` to `stop`.

    `host` is the address that the listener is bound to. `beacon_keys` returns the keys of this moment.
    `member_found` is called with a member that announced new addresses. Only devices with the same `service`
    (RFC 6763, section 7) find each other.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        host: str,
        beacon_keys: Callable[[], BeaconKeys],
        member_found: Callable[[DeviceId], None],
        service: str = SERVICE_TYPE,
    ) -> None:
        self._clock = clock
        self._service_type = service
        self._host = host
        self._beacon_keys = beacon_keys
        self._cache = ServiceCache(clock, beacon_keys, member_found, loopback_only=is_loopback_host(host))
        self._port = 0
        self._inviting_name: str | None = None
        self._resolving: dict[str, asyncio.Task[None]] = {}
        # Names to resolve once others are: kept in a dict for their order.
        self._unresolved: dict[str, None] = {}
        self._serve_task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._resolved = asyncio.Event()
        self._rebuild = False
        self._own_names: deque[str] = deque(maxlen=SERVICES_MAX)
        self._listening_since_s: float | None = None
        self.trouble: str | None = "not started yet"

    # -- life --------------------------------------------------------------------------------------------

    def start(self, port: int) -> None:
        """Announce that this device listens on a port, and listen for others."""
        self._port = port
        self._serve_task = asyncio.create_task(self._serve())
        self._serve_task.add_done_callback(log_task_fault)

    async def stop(self) -> None:
        """Say goodbye, and stop listening."""
        if self._serve_task is not None:
            self._serve_task.cancel()
            await asyncio.gather(self._serve_task, return_exceptions=True)

    def refresh_services(self) -> None:
        """Check again what is to be announced: the roster may have changed."""
        self._changed.set()

    def rebuild_services(self) -> None:
        """Begin anew because the machine's addresses changed: an announcement keeps its first addresses."""
        self._rebuild = True
        self._changed.set()

    def announce_invitation(self, name: str | None) -> None:
        """Announce to everyone nearby that this device invites, under its name; None ends that."""
        self._inviting_name = name
        self._changed.set()

    # -- what was received -------------------------------------------------------------------------------

    def member_addresses(self, device: DeviceId) -> list[str]:
        """Return the addresses that a member announced, the latest announcement first."""
        return self._cache.cached_addresses(device)

    def unheard_s(self) -> float | None:
        """Return for how many seconds nothing was received; None if something was, or nothing listens."""
        began_s = self._listening_since_s
        if began_s is None or self._cache.has_received_since(began_s):
            return None
        return self._clock.monotonic_s() - began_s

    async def wait_for_inviters(self, wait_s: float) -> list[NearbyInviter]:
        """Return the devices nearby that announce an invitation; wait up to `wait_s` for the first one."""
        try:
            async with asyncio.timeout(wait_s):
                while not (inviters := self._cache.cached_inviters()):
                    self._resolved.clear()
                    await self._resolved.wait()
        except TimeoutError:
            return []
        return inviters

    # -- announcing --------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        failures = FailureCount(BACKOFF)
        while True:
            self._rebuild = False
            self._listening_since_s = None
            try:
                await self._announce()
            except (OSError, zeroconf.Error, TimeoutError) as fault:
                # Most likely there is no interface at this moment: they come and go.
                self.trouble = getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
                log.info(
                    "mdns does not work now and is tried again",
                    error=self.trouble,
                    again_s=(wait_s := failures.count_failure()),
                )
            except Exception:
                # A bug, or a network that nobody foresaw. Trying again keeps this device discoverable.
                self.trouble = "mDNS failed, and the log says how"
                log.exception("mdns failed", again_s=(wait_s := failures.count_failure()))
            else:
                failures.reset()
                continue
            await self._wait_for_change(wait_s)

    async def _announce(self) -> None:
        """Announce and listen until the machine's addresses change."""
        own = self._own_addresses()
        if not own:
            raise OSError("this machine has no network address")
        async with AsyncExitStack() as ending:
            mdns = _join_mdns(own)
            # Closing sends a goodbye for every service.
            ending.push_async_callback(mdns.async_close)
            ending.push_async_callback(self._stop_resolving)
            browser = AsyncServiceBrowser(mdns.zeroconf, self._service_type, handlers=[self._on_service])
            ending.push_async_callback(browser.async_cancel)
            services: dict[str, _Service] = {}
            self.trouble, self._listening_since_s = None, self._clock.monotonic_s()
            while not self._rebuild:
                await self._register_services(mdns, services, own)
                await self._wait_for_change(None)

    async def _register_services(
        self, mdns: AsyncZeroconf, services: dict[str, _Service], own: Sequence[str]
    ) -> None:
        """Register the services that are to be announced now, and unregister the others."""
        wanted = self._wanted_beacons()
        for role in list(services):
            if wanted.get(role) != services[role].reason:
                await (await mdns.async_unregister_service(services.pop(role).info))
        for role, reason in wanted.items():
            if role not in services:
                service = self._service(reason, own)
                services[role] = service
                self._own_names.append(service.info.name)
                # The names are random, so no other device has them, and none needs to be asked.
                await (await mdns.async_register_service(service.info, cooperating_responders=True))

    def _wanted_beacons(self) -> dict[str, tuple[str, bytes]]:
        key = self._beacon_keys().own
        wanted = {} if key is None else {"member": ("member", key)}
        if self._inviting_name is not None:
            wanted["inviter"] = ("inviter", self._inviting_name.encode())
        return wanted

    def _service(self, reason: tuple[str, bytes], own: Sequence[str]) -> _Service:
        instance, host = announcements.draw_service_names(self._clock.randomness, self._service_type)
        role, words = reason
        if role == "member":
            properties = announcements.member_txt_record(words, instance, self._port, self._clock.randomness)
        else:
            properties = announcements.inviter_txt_record(words.decode())
        info = AsyncServiceInfo(
            self._service_type,
            instance,
            port=self._port,
            properties=properties,
            server=host,
            parsed_addresses=list(own),
        )
        return _Service(reason, info)

    def _own_addresses(self) -> list[str]:
        versions = WILDCARD_HOSTS.get(self._host)
        if versions is None:
            return [self._host]
        return sorted(
            address
            for address in network_interfaces.multicast_addresses()
            if ipaddress.ip_address(address).version in versions
        )

    async def _wait_for_change(self, timeout_s: float | None) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                await self._changed.wait()
        except TimeoutError:
            return
        finally:
            self._changed.clear()

    # -- listening ---------------------------------------------------------------------------------------

    def _on_service(
        self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
    ) -> None:
        del service_type
        if state_change is ServiceStateChange.Removed:
            self._cache.mark_gone(name)
        elif name not in self._own_names:
            self._unresolved.setdefault(name)
            if len(self._unresolved) > SERVICES_MAX:
                del self._unresolved[next(iter(self._unresolved))]
            self._resolve_next(zeroconf)

    def _resolve_next(self, mdns: Zeroconf) -> None:
        """Resolve the names that wait, a few at once. A name that is being resolved already waits."""
        for name in [name for name in self._unresolved if name not in self._resolving]:
            if len(self._resolving) >= RESOLVING_MAX:
                return
            del self._unresolved[name]
            self._resolving[name] = asyncio.create_task(self._resolve(mdns, name))
            self._resolving[name].add_done_callback(log_task_fault)

    async def _resolve(self, mdns: Zeroconf, name: str) -> None:
        info = AsyncServiceInfo(self._service_type, name)
        try:
            with suppress(OSError, zeroconf.Error):
                if await info.async_request(mdns, RESOLVE_S * 1000) and info.port:
                    addresses = info.parsed_scoped_addresses()
                    self._cache.store_service(name, info.port, addresses, dict(info.properties))
                    self._resolved.set()
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


def _join_mdns(own: Sequence[str]) -> AsyncZeroconf:
    """Join mDNS on the interfaces that have these addresses. Raises OSError, zeroconf.Error."""
    try:
        return AsyncZeroconf(interfaces=list(own), ip_version=_ip_version(own))
    except RuntimeError as fault:
        # An address was removed since it was listed.
        raise OSError(str(fault)) from fault


def _ip_version(own: Sequence[str]) -> IPVersion:
    versions = {ipaddress.ip_address(address).version for address in own}
    if len(versions) > 1:
        return IPVersion.All
    return IPVersion.V4Only if versions == {4} else IPVersion.V6Only


def log_task_fault(task: asyncio.Task[None]) -> None:
    """Log the exception that ended a background task, if there is one."""
    if not task.cancelled() and (fault := task.exception()) is not None:
        log.error("a background task of discovery failed", exc_info=fault)
