"""Figures of the running program: commit on one device to visible on another, and a write.

Never measures inside the daemon: it calls it as a user does.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

import aiohttp

from bench.table import Figure
from tests.support.devices import Device, pair
from tests.support.patience import wait_until

LIVE, WARM = 300, 30
PAYLOAD = b"x" * 300
START_S, WAIT_S = 20.0, 30.0


@contextmanager
def _echo_served(folder: Path) -> Iterator[Path]:
    """Run the bare echo as a process of its own; yield its socket."""
    socket = folder / "echo.sock"
    with subprocess.Popen([sys.executable, "-m", "bench.echo", str(folder)]) as server:
        try:
            wait_until("the echo serves", socket.exists, START_S)
            yield socket
        finally:
            server.terminate()


async def _nothing() -> None:
    """Replace the echo if none was asked for."""


@asynccontextmanager
async def _echo(socket: Path | None) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Yield what makes one round trip."""
    if socket is None:
        yield _nothing
        return
    async with (
        aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(socket))) as session,
        session.ws_connect("http://echo/") as link,
    ):

        async def round_trip() -> None:
            await link.send_bytes(PAYLOAD)
            await link.receive_bytes()

        yield round_trip


@asynccontextmanager
async def _api(device: Device) -> AsyncIterator[aiohttp.ClientSession]:
    socket = device.do("paths")["socket"]
    async with aiohttp.ClientSession(connector=aiohttp.UnixConnector(socket, limit=0)) as session:
        yield session


async def _positions(session: aiohttp.ClientSession, queue: asyncio.Queue[float]) -> None:
    """Note when each event arrives."""
    async with session.get("http://placet/v1/events", timeout=aiohttp.ClientTimeout(total=None)) as stream:
        async for line in stream.content:
            if line.startswith(b"data:"):
                await queue.put(time.perf_counter())


async def _note(session: aiohttp.ClientSession, task: str, number: int) -> float:
    """Write one note; return when it was answered."""
    body: dict[str, Any] = {"text": f"note {number}: " + "a few words " * 20}
    async with session.post(f"http://placet/v1/tasks/{task}/entries", json=body) as answer:
        assert answer.status == 201, await answer.text()
        await answer.read()
    return time.perf_counter()


class Took(NamedTuple):
    """One write, in seconds: asked to answered here, asked to seen there, answered to seen; and one echo.

    What is seen before it is answered counts as no time at all.
    """

    written: float
    asked_to_seen: float
    answered_to_seen: float
    echo: float


async def live_s(device: Device, existing_device: Device, echo: Path | None = None) -> list[Took]:
    """Write on one device and wait for the event on the other; each time, the bare echo in turn with it."""
    task = device.do("add", "measured")["id"]
    existing_device.do("sync", "--wait")
    took = []
    async with _api(device) as mine, _api(existing_device) as theirs, _echo(echo) as round_trip:
        queue: asyncio.Queue[float] = asyncio.Queue()
        reader = asyncio.create_task(_positions(theirs, queue))
        await _settled(queue)
        for number in range(LIVE + WARM):
            perf_counter = time.perf_counter()
            write = asyncio.create_task(_note(mine, task, number))
            visible = await asyncio.wait_for(queue.get(), WAIT_S)
            answered = await write
            await _settled(queue, 0.002)
            began = time.perf_counter()
            await round_trip()
            echoed = time.perf_counter() - began
            took.append(
                Took(answered - perf_counter, visible - perf_counter, max(visible - answered, 0.0), echoed)
            )
        reader.cancel()
    return took[WARM:]


async def _settled(queue: asyncio.Queue[float], quiet_s: float = 0.5) -> None:
    """Wait until no event has come for a while."""
    try:
        while True:
            await asyncio.wait_for(queue.get(), quiet_s)
    except TimeoutError:
        return


def figures() -> list[Figure]:
    """Measure everything here, with two daemons of this machine."""
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name, _echo_served(Path(name)) as echo:
        local_device, existing_device = (
            Device("here", Path(name) / "here"),
            Device("there", Path(name) / "there"),
        )
        try:
            local_device.start()
            existing_device.start()
            pair(local_device, existing_device)
            took = asyncio.run(live_s(local_device, existing_device, echo))
        finally:
            for device in (local_device, existing_device):
                if device.daemon is not None:
                    device.kill()
    answered, asked_label, written_label = (
        "answered here to seen there",
        "asked here to seen there",
        "a person's write, asked",
    )
    return [
        _row(f"{answered}, p50", [timing.answered_to_seen for timing in took], took, _p50, "<= 2"),
        _row(f"{answered}, p99", [timing.answered_to_seen for timing in took], took, _p99, "(shown)"),
        _row(f"{asked_label}, p50", [timing.asked_to_seen for timing in took], took, _p50, "(shown)"),
        _row(f"{asked_label}, p99", [timing.asked_to_seen for timing in took], took, _p99, "(shown)"),
        _row(f"{written_label} to answered, p50", [timing.written for timing in took], took, _p50, "<= 5"),
    ]


def _row(
    name: str, ours: list[float], took: list[Took], statistic: Callable[[list[float]], float], goal: str
) -> Figure:
    against = "bare WebSocket round trip, one durable commit"
    return Figure(
        name, 1e3 * statistic(ours), 1e3 * statistic([timing.echo for timing in took]), "ms", against, goal
    )


def _p50(times: list[float]) -> float:
    return median(times)


def _p99(times: list[float]) -> float:
    return quantiles(times, n=100)[98]
