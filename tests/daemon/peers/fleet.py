"""Devices for tests: real stores, real sockets and real TLS on the loopback interface, clocks from the test.

Never fakes a part of Placet: only the clock and the randomness are given.
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

from daemon.config import Listen, Mdns, Settings
from daemon.config import Peers as PeersSettings
from daemon.notifier import Notifier
from daemon.peers.identity import Identity, load_or_create
from daemon.peers.pace import Pace
from daemon.peers.peers import Peers
from daemon.peers.states import DeviceState
from store.snapshot import Snapshot
from store.store import Store
from store.threads import StoreThreads
from store.transaction import Transaction, Write
from syncproto.ids import DeviceId, EntityId
from syncproto.session import Standing

LIMIT_S = 20.0
SERVICE = f"_placet-{os.getpid():x}._tcp.local."
"""What is announced by mDNS: other runs on this machine neither hear this one nor are heard."""
QUICK = Pace(again_s=0.05, again_s_max=0.4, goodbye_s=1.0, roster_s=0.0, states_s=0.05)

T = TypeVar("T")


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
    pace: Pace
    notifier: Notifier = field(default_factory=Notifier)
    shortfall: str | None = None
    """Why there is no room here for what peers bring, where a test wants it so."""
    db: StoreThreads = field(init=False)
    peers: Peers = field(init=False)

    @property
    def id(self) -> DeviceId:
        return self.identity.device

    @property
    def place(self) -> str:
        """Return where it listens."""
        return self.peers.address

    async def token(self) -> str:
        """Invite a device; return the token."""
        text = (await self.peers.invite()).token
        assert text is not None
        return text

    def opened(self) -> Store:
        return Store.open(
            self.folder / "placet.db",
            signer=self.identity.signer,
            now_ms=self.clock.now_ms,
            randomness=self.clock.randomness,
        )

    async def start(self) -> None:
        store = self.opened()
        self.notifier = Notifier()
        self.db = StoreThreads(store)
        self.db.on_commit.append(self.notifier.tell)
        self.peers = Peers(
            self.db,
            self.notifier,
            self.clock,
            identity=self.identity,
            settings=self.settings,
            name=self.name,
            pace=self.pace,
            service=SERVICE,
            shortfall=lambda: self.shortfall,
        )
        await self.peers.start()

    async def stop(self) -> None:
        async with asyncio.timeout(LIMIT_S):
            await self.peers.stop()
        self.db.close()

    async def restart(self, **pace: float) -> None:
        await self.stop()
        self.pace = replace(self.pace, **pace)  # type: ignore[arg-type]
        await self.start()

    async def add(self, title: str, *, count: int = 1) -> EntityId:
        """Add tasks, one commit each; return the last one's id."""

        def use(transaction: Transaction) -> EntityId:
            tasks = [transaction.new_id() for _ in range(count)]
            for number, task in enumerate(tasks):
                transaction.commit([Write(task, "task", {"title": f"{title} {number}"})])
            return tasks[-1]

        return await self.db.write(use)

    async def write_entry(self, text: str) -> None:
        def use(transaction: Transaction) -> None:
            transaction.commit([Write(transaction.new_id(), "entry", {"text": text})])

        await self.db.write(use)

    async def forget_addresses(self) -> None:
        """Forget, while stopped, where other devices were, and on which port this one listened."""
        store = self.opened()
        with store.write() as transaction:
            for table in ("peer_address", "listener"):
                transaction.db.execute(f"DELETE FROM {table}")
        store.close()

    async def execute(self, statement: str) -> None:
        """Damage the store, or make it forget, behind Placet's back."""

        def use(transaction: Transaction) -> None:
            transaction.db.execute(statement)

        await self.db.write(use)

    async def titles(self) -> list[str]:
        return await self.db.read(
            lambda snapshot: sorted(one.text("title") for one in snapshot.entities("task"))
        )

    async def standing(self) -> Standing:
        return await self.db.read(lambda snapshot: Standing(snapshot.vector(), snapshot.state_hash()))

    async def sees(self, other: "Device") -> DeviceState | None:
        """Return what this device shows of another, None where it is not in the roster."""
        states = await self.peers.devices()
        return next((one for one in states if one.device_id == other.id.hex()), None)

    async def until(self, holds: Callable[["Device"], Awaitable[bool]]) -> None:
        """Wait until something about this device holds, asking anew whenever its commits or links changed."""
        await until([self], lambda: holds(self))

    async def until_linked(self, other: "Device") -> None:
        async def linked(one: "Device") -> bool:
            seen = await one.sees(other)
            return seen is not None and seen.connected

        await self.until(linked)

    async def until_apart(self, other: "Device") -> None:
        async def apart(one: "Device") -> bool:
            seen = await one.sees(other)
            return seen is None or not seen.connected

        await self.until(apart)

    async def read(self, use: Callable[[Snapshot], T]) -> T:
        return await self.db.read(use)


class Fleet:
    """Makes devices under one folder, and ends them with the test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.devices: list[Device] = []

    def make(
        self, name: str, *, static: tuple[str, ...] = (), mdns: bool = False, pace: Pace = QUICK
    ) -> Device:
        """Return a device that has not started; its key follows from its name. mDNS stays on loopback too."""
        clock = GivenClock(name)
        identity = load_or_create(self._folder / name, clock.randomness)
        settings = msgspec.structs.replace(
            Settings(), listen=Listen("127.0.0.1", 0), peers=PeersSettings(static), mdns=Mdns(mdns)
        )
        return Device(name, self._folder / name, clock, identity, settings, pace)

    async def start(
        self, name: str, *, static: tuple[str, ...] = (), mdns: bool = False, pace: Pace = QUICK
    ) -> Device:
        device = self.make(name, static=static, mdns=mdns, pace=pace)
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
            await device.stop()


async def until(devices: Sequence[Device], holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something holds, asking anew whenever commits or links of one of the devices changed."""
    watches = [told.watch() for one in devices for told in (one.notifier, one.peers.changed)]
    async with asyncio.timeout(LIMIT_S):
        while not await holds():
            waits = [asyncio.ensure_future(watch.grown()) for watch in watches]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()


async def in_step(*devices: Device) -> Standing:
    """Wait until the devices hold the same commits; return what all hold, equal state hashes included."""
    held: list[Standing] = []

    async def equal() -> bool:
        # One reading each, for both: a commit that lands between two would be on one device alone.
        held[:] = [await device.standing() for device in devices]
        return all(one.vector == held[0].vector for one in held)

    await until(devices, equal)
    assert all(one == held[0] for one in held), "equal vectors, different state"
    return held[0]
