"""Devices for tests: real stores, real sockets and real TLS on the loopback interface, clocks from the test.

Never fakes a part of Placet: only the clock and the randomness come from the test.
"""

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import msgspec

from daemon.config import ListenSettings, MdnsSettings, Settings
from daemon.config import PeerSettings as PeersSettings
from daemon.notifier import Notifier
from daemon.peers.linking.device_states import DeviceState
from daemon.peers.network import PeerNetwork
from daemon.peers.transport.identity import Identity, load_or_create
from daemon.peers.transport.limits import PeerLimits
from store.sentence import Sentence
from store.snapshot import Snapshot
from store.store import Store
from store.threads import StoreThreads
from store.transaction import EntityWrite, Transaction
from syncproto.ids import DeviceId, EntityId
from syncproto.session import StoreState
from tests.support.empty_database import lay_empty_database
from tests.support.patience import LIMIT_S

SERVICE = f"_placet-{os.getpid():x}._tcp.local."
"""The mDNS service of this run: other runs on this machine do not find its devices."""
QUICK = PeerLimits(
    retry_s=0.05, retry_s_max=0.4, goodbye_s=1.0, roster_coalesce_s=0.0, divergence_pause_s=0.05
)

T = TypeVar("T")

_DEFINITION = "SELECT sql FROM sqlite_master WHERE name = ?"


class GivenClock:
    """A clock that runs with the machine's, plus what the test adds; randomness follows from a seed."""

    def __init__(self, seed: str) -> None:
        self.ahead_s = 0.0
        self._seed = seed
        self._drawn = 0

    def now_ms(self) -> int:
        return 1_750_000_000_000 + int(self.monotonic_s() * 1000)

    def monotonic_s(self) -> float:
        return time.monotonic() + self.ahead_s

    def randomness(self, count: int) -> bytes:
        self._drawn += 1
        return hashlib.shake_256(f"{self._seed}/{self._drawn}".encode()).digest(count)


@dataclass
class Device:
    """One device of a test."""

    name: str
    folder: Path
    clock: GivenClock
    identity: Identity
    settings: Settings
    limits: PeerLimits
    notifier: Notifier = field(default_factory=Notifier)
    shortfall: Sentence | None = None
    """Why there is no room to store what peers send, None if there is room."""
    is_on: bool = False
    db: StoreThreads = field(init=False)
    peers: PeerNetwork = field(init=False)

    @property
    def id(self) -> DeviceId:
        return self.identity.device

    @property
    def place(self) -> str:
        """Return the address that the device listens on, as `host:port`."""
        return self.peers.address

    async def token(self) -> str:
        """Invite a device; return the token."""
        text = (await self.peers.invitations.invite()).token
        assert text is not None
        return text

    def opened(self) -> Store:
        return Store.open(
            lay_empty_database(self.folder / "placet.db"),
            signer=self.identity.signer,
            now_ms=self.clock.now_ms,
            randomness=self.clock.randomness,
        )

    async def start(self) -> None:
        store = self.opened()
        self.notifier = Notifier()
        self.db = StoreThreads(store)
        self.db.on_commit.append(self.notifier.notify)
        self.peers = PeerNetwork(
            self.db,
            self.notifier,
            self.clock,
            identity=self.identity,
            settings=self.settings,
            name=self.name,
            limits=self.limits,
            service=SERVICE,
            shortfall=lambda: self.shortfall,
        )
        await self.peers.start()
        self.is_on = True

    async def stop(self) -> None:
        self.is_on = False
        async with asyncio.timeout(LIMIT_S):
            await self.peers.stop()
        self.db.close()

    async def restart(self, **limits: float) -> None:
        await self.stop()
        self.limits = replace(self.limits, **limits)  # type: ignore[arg-type]
        await self.start()

    async def add(self, title: str, *, count: int = 1) -> EntityId:
        """Add tasks, one commit each; return the last one's id."""

        def use(transaction: Transaction) -> EntityId:
            tasks = [transaction.new_id() for _ in range(count)]
            for number, task in enumerate(tasks):
                transaction.commit([EntityWrite(task, "task", {"title": f"{title} {number}"})])
            return tasks[-1]

        return await self.db.write(use)

    async def write_entry(self, text: str) -> None:
        def use(transaction: Transaction) -> None:
            transaction.commit([EntityWrite(transaction.new_id(), "entry", {"text": text})])

        await self.db.write(use)

    async def forget_addresses(self) -> None:
        """Forget the addresses of other devices and the own port. The device must be stopped."""
        store = self.opened()
        with store.write() as transaction:
            for table in ("peer_address", "listener"):
                transaction.db.execute(f"DELETE FROM {table}")
        store.close()

    async def execute(self, statement: str) -> None:
        """Execute SQL behind Placet's back, to damage the store or to make it forget."""

        def use(transaction: Transaction) -> None:
            transaction.db.execute(statement)

        await self.db.write(use)

    @asynccontextmanager
    async def without_table(self, name: str) -> AsyncIterator[None]:
        """Take a table away for a while, and put it back as a migration made it."""
        rows = await self.read(lambda snapshot: snapshot.db.execute(_DEFINITION, (name,)).fetchall())
        ((definition,),) = rows
        assert isinstance(definition, str)
        await self.execute(f"ALTER TABLE {name} RENAME TO away")
        yield
        # To rename it back would leave its name in quotes, and no migration writes it so.
        await self.execute(definition)
        await self.execute(f"INSERT INTO {name} SELECT * FROM away")
        await self.execute("DROP TABLE away")

    async def titles(self) -> list[str]:
        return await self.db.read(
            lambda snapshot: sorted(task.text("title") for task in snapshot.entities("task"))
        )

    async def standing(self) -> StoreState:
        return await self.db.read(lambda snapshot: StoreState(snapshot.heads(), snapshot.state_hash()))

    async def sees(self, other: "Device") -> DeviceState | None:
        """Return what this device shows of another one, None if it is not in the roster."""
        states = await self.peers.devices.states()
        return next((state for state in states if state.device_id == other.id.hex()), None)

    async def until(self, holds: Callable[["Device"], Awaitable[bool]]) -> None:
        """Wait until something about this device is true; ask again whenever its commits or links changed."""
        await until([self], lambda: holds(self))

    async def until_linked(self, other: "Device") -> None:
        async def linked(device: "Device") -> bool:
            device_state = await device.sees(other)
            return device_state is not None and device_state.connected

        await self.until(linked)

    async def until_apart(self, other: "Device") -> None:
        async def apart(device: "Device") -> bool:
            device_state = await device.sees(other)
            return device_state is None or not device_state.connected

        await self.until(apart)

    async def read(self, use: Callable[[Snapshot], T]) -> T:
        return await self.db.read(use)


class Fleet:
    """Makes devices under one folder, and ends them with the test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.devices: list[Device] = []

    def make(
        self, name: str, *, static: tuple[str, ...] = (), mdns: bool = False, limits: PeerLimits = QUICK
    ) -> Device:
        """Return a device that has not started; its key follows from its name. mDNS stays on loopback too."""
        clock = GivenClock(name)
        identity = load_or_create(self._folder / name, clock.randomness)
        settings = msgspec.structs.replace(
            Settings(),
            listen=ListenSettings("127.0.0.1", 0),
            peers=PeersSettings(static),
            mdns=MdnsSettings(mdns),
        )
        return Device(name, self._folder / name, clock, identity, settings, limits)

    async def start(
        self, name: str, *, static: tuple[str, ...] = (), mdns: bool = False, limits: PeerLimits = QUICK
    ) -> Device:
        device = self.make(name, static=static, mdns=mdns, limits=limits)
        await device.start()
        self.devices.append(device)
        return device

    async def pair(self, inviter: Device, joiner: Device) -> None:
        """Pair two devices, and wait until both see the link."""
        await joiner.peers.join(await inviter.token())
        await inviter.until_linked(joiner)
        await joiner.until_linked(inviter)


@asynccontextmanager
async def fleet_in(folder: Path) -> AsyncIterator[Fleet]:
    fleet = Fleet(folder)
    try:
        yield fleet
    finally:
        for device in fleet.devices:
            if device.is_on:
                await device.stop()


async def until(devices: Sequence[Device], holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something is true; ask again whenever commits or links of one of the devices changed."""
    watches = [
        notifier.watch() for device in devices for notifier in (device.notifier, device.peers.links.changed)
    ]
    async with asyncio.timeout(LIMIT_S):
        while not await holds():
            waits = [asyncio.ensure_future(watch.wait_for_growth()) for watch in watches]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()


async def in_step(*devices: Device) -> StoreState:
    """Wait until the devices have the same commits, and so the same state hash; return that state."""
    store_states: list[StoreState] = []

    async def equal() -> bool:
        # Each store is read once for vector and hash: a commit may land between two readings.
        store_states[:] = [await device.standing() for device in devices]
        return all(store_state.heads == store_states[0].heads for store_state in store_states)

    await until(devices, equal)
    assert all(store_state == store_states[0] for store_state in store_states), (
        "equal vectors, different state"
    )
    return store_states[0]
