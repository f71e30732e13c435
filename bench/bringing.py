"""Figures of devices that meet: bringing up a new one, meeting again, and a peer that stalls.

Never measures inside the daemons: they are processes of their own, placed as a user's would be.
"""

import asyncio
import itertools
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from random import Random
from statistics import median

import aiohttp

from bench.raw import replay_s, rows_of
from bench.stores import PAGE_BYTES, task_fields
from bench.table import Figure
from daemon.peers.transport import identity
from daemon.peers.transport.addresses import parse
from daemon.peers.transport.connector import Connector
from daemon.peers.transport.limits import PeerLimits
from daemon.peers.transport.wire import Wire
from store.store import Store
from store.transaction import EntityWrite
from syncproto import messages
from syncproto.messages import Commits, Hello, Ping, Pong
from syncproto.session import Session, StoreState
from syncproto.vector_clock import EMPTY_CLOCK
from tests.support.devices import Device

FEW, MANY, MANY_QUICK, LIFE = 1_000, 100_000, 20_000, 1_000_000
PER_TRANSACTION = 1_000
MEETINGS, CHANGES, WAIT_S = 9, 100, 600
STALLED_S, STALLED_MAX_MIB, HELLO_MAX_BYTES, WIRE_S = 5.0, 16.0, 1024.0, 10.0


def _store(device: Device) -> Store:
    """Open the store of a device that does not run."""
    clock = itertools.count(1_700_000_000_000)
    signer = identity.load_or_create(device.home, Random(device.name).randbytes).signer
    return Store.open(
        device.home / "placet.db",
        signer=signer,
        now_ms=lambda: next(clock),
        randomness=Random(device.name).randbytes,
    )


def fill(device: Device, count: int) -> None:
    """Write tasks, a commit each, as the life of a person makes them."""
    device.home.mkdir(parents=True)
    store = _store(device)
    for first in range(0, count, PER_TRANSACTION):
        with store.write() as transaction:
            for number in range(first, first + PER_TRANSACTION):
                transaction.commit([EntityWrite(transaction.new_id(), "task", task_fields(number))])
    store.close()


@contextmanager
def two_devices(folder: Path, count: int) -> Iterator[tuple[Device, Device]]:
    """Give two devices that run, of which the first holds so much and the second nothing."""
    local_device, existing_device = Device("here", folder / "here"), Device("there", folder / "there")
    fill(local_device, count)
    try:
        local_device.start()
        existing_device.start()
        yield local_device, existing_device
    finally:
        for device in (local_device, existing_device):
            if device.daemon is not None and device.daemon.poll() is None:
                device.kill()


@asynccontextmanager
async def control_api(device: Device) -> AsyncIterator[aiohttp.ClientSession]:
    """Open a session with the control API of a device that runs."""
    socket = device.do("paths")["socket"]
    limit = aiohttp.ClientTimeout(total=2 * WAIT_S)
    connector = aiohttp.UnixConnector(socket)
    async with aiohttp.ClientSession("http://placet", connector=connector, timeout=limit) as session:
        yield session


async def post(session: aiohttp.ClientSession, path: str, body: object) -> None:
    """Ask, and see that it was not refused."""
    async with session.post(path, json=body) as answer:
        assert answer.status < 300, await answer.text()
        await answer.read()


async def _in_step(session: aiohttp.ClientSession) -> None:
    await post(session, "/v1/sync", {"wait": WAIT_S})


def bring_up_s(device: Device, existing_device: Device) -> float:
    """Pair two devices over a link; return how many seconds passed until the second holds the same."""
    token = device.do("pair", "--invite")["token"]

    async def joined() -> float:
        async with control_api(existing_device) as session:
            start = time.perf_counter()
            await post(session, "/v1/join", {"token": token})
            await _in_step(session)
            return time.perf_counter() - start

    return asyncio.run(joined())


async def _meet_ms(device: Device, existing_device: Device, changes: int) -> float:
    """Part two devices, change something, and time until both hold the same again."""
    async with control_api(device) as mine, control_api(existing_device) as theirs:
        await post(mine, "/v1/sync", {"pause": True})
        for number in range(changes):
            await post(mine, "/v1/tasks", {"title": f"change {number}"})
        start = time.perf_counter()
        await post(mine, "/v1/sync", {"pause": False})
        await _in_step(mine)
        taken_s = time.perf_counter() - start
        await _in_step(theirs)
    return 1e3 * taken_s


def _hello(device: Device) -> bytes:
    """Return what a stopped device says first."""
    store = _store(device)
    with store.read() as snapshot:
        store_state = StoreState(snapshot.heads(), snapshot.state_hash())
        session = Session(snapshot.vault() or b"", snapshot.replica, store_state)
        frames = b"".join(session.hello_frames())
    store.close()
    return frames


@asynccontextmanager
async def _wire_as(device: Device, local_device: Device) -> AsyncIterator[Wire]:
    """Call the one as the other, which is stopped."""
    or_create = identity.load_or_create(device.home, Random(0).randbytes)
    own = identity.load_or_create(local_device.home, Random(0).randbytes).certificate
    dialling = Connector(or_create, PeerLimits())
    wire = await dialling.connect_to_member(parse(f"127.0.0.1:{local_device.port}"), own)
    try:
        yield wire
    finally:
        await wire.close()
        await dialling.close()


async def _said_where_nothing_is_new(device: Device, existing_device: Device) -> list[bytes]:
    """Greet the one as the other, which is stopped; return all that it says until it has nothing to add."""
    first, ping = _hello(existing_device), messages.encode_message(Ping(1))
    frames: list[bytes] = []
    async with _wire_as(existing_device, device) as wire:
        await wire.send(first, WIRE_S)
        await wire.send(ping, WIRE_S)
        while not frames or frames[-1] != messages.encode_message(Pong(1)):
            frames.append(await wire.receive(WIRE_S))
    return frames[:-1]


def _resident_mib(device: Device) -> float:
    assert device.daemon is not None
    pages = int(Path(f"/proc/{device.daemon.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


async def _stall_mib(device: Device, existing_device: Device) -> float:
    """Greet the one as the other, which is stopped, take no page, and see what that costs the sender."""
    before = _resident_mib(device)
    async with _wire_as(existing_device, device) as wire:
        first = messages.decode_message(await wire.receive(WIRE_S))
        assert isinstance(first, Hello)
        await wire.send(
            messages.encode_message(Hello([2], first.vault, None, EMPTY_CLOCK, bytes(32), {})), WIRE_S
        )
        assert isinstance(messages.decode_message(await wire.receive(WIRE_S)), Commits)
        await asyncio.sleep(STALLED_S)
        return _resident_mib(device) - before


def _brought_up(folder: Path, count: int, taken_s: float, device: Device) -> Figure:
    rows = rows_of(device.home / "placet.db")
    bodies = sum(len(row[5]) for row in rows["feed"] if isinstance(row[5], bytes))
    pages = -(-bodies // PAGE_BYTES)
    raw = replay_s(rows, folder / f"raw-{count}.db", -(-len(rows["feed"]) // pages))
    name = f"a new device brought up, {count} entities"
    return Figure(name, count / taken_s, count / raw, "/s", "raw apsw, same rows and pages", ">= 0.5")


def _alone(folder: Path, count: int, taken_s: float, device: Device, existing_device: Device) -> list[Figure]:
    """Measure what needs the second of two devices stopped; stop both."""
    existing_device.stop()
    frames = asyncio.run(_said_where_nothing_is_new(device, existing_device))
    stalled = asyncio.run(_stall_mib(device, existing_device))
    device.stop()
    size, much = f"{count} entities", float(sum(map(len, frames)))
    return [
        _brought_up(folder, count, taken_s, existing_device),
        Figure(f"said where nothing is new, {size}", much, HELLO_MAX_BYTES, "B", "1 KiB", "<= 1"),
        Figure(f"frames where nothing is new, {size}", len(frames), 1, "each way", "one Hello", "<= 1"),
        Figure(f"grown by a stalled peer, {size}", stalled, STALLED_MAX_MIB, "MiB", "the budget", "<= 1"),
    ]


def _meetings(pairs: dict[int, tuple[Device, Device]]) -> list[Figure]:
    """Time meetings of journals of each size in turn, so that a drifting machine drifts for all."""
    durations: dict[tuple[int, int], list[float]] = {}
    for _ in range(MEETINGS):
        for size, (device, existing_device) in pairs.items():
            for changes in (0, CHANGES):
                durations.setdefault((size, changes), []).append(
                    asyncio.run(_meet_ms(device, existing_device, changes))
                )
    found_figures = []
    for (size, changes), times in durations.items():
        if size != FEW:
            name = f"meeting again, {changes or 'no'} changes, {size} entities"
            few = median(durations[FEW, changes])
            found_figures.append(Figure(name, median(times), few, "ms", f"the same with {FEW}", "<= 1.5"))
    return found_figures


def figures(*, quick: bool) -> list[Figure]:
    """Measure everything here; `quick` leaves the large journal out."""
    sizes = [FEW, MANY_QUICK] if quick else [FEW, MANY, LIFE]
    found_figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name, ExitStack() as running:
        folder = Path(name)
        pairs = {count: running.enter_context(two_devices(folder / str(count), count)) for count in sizes}
        taken_s = {count: bring_up_s(*pair) for count, pair in pairs.items()}
        found_figures += _meetings(pairs)
        for count, pair in pairs.items():
            found_figures += _alone(folder, count, taken_s[count], *pair)
    return found_figures
