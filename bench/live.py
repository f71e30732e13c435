"""Figures of the running program: commit on one device to visible on another, and a write.

Never measures inside the daemon: it stands where a user stands.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import aiohttp

from bench.table import Figure
from tests.e2e.devices import Device, pair, wait_until

LIVE, WARM = 300, 30
PAYLOAD = b"x" * 300
START_S, WAIT_S = 20.0, 30.0


async def _round_trips_s(socket: Path) -> list[float]:
    """Time round trips of the bare echo, seconds each."""
    taken = []
    connector = aiohttp.UnixConnector(str(socket))
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        session.ws_connect("http://echo/") as link,
    ):
        for _ in range(LIVE + WARM):
            start = time.perf_counter()
            await link.send_bytes(PAYLOAD)
            await link.receive_bytes()
            taken.append(time.perf_counter() - start)
    return taken[WARM:]


def _echo_s(folder: Path) -> list[float]:
    """Run the bare echo as a process of its own and time it."""
    socket = folder / "echo.sock"
    with subprocess.Popen([sys.executable, "-m", "bench.echo", str(folder)]) as server:
        wait_until("the echo serves", socket.exists, START_S)
        taken = asyncio.run(_round_trips_s(socket))
        server.terminate()
    return taken


@asynccontextmanager
async def _api(device: Device) -> AsyncIterator[aiohttp.ClientSession]:
    socket = device.do("paths")["socket"]
    async with aiohttp.ClientSession(connector=aiohttp.UnixConnector(socket, limit=0)) as session:
        yield session


async def _positions(session: aiohttp.ClientSession, seen: asyncio.Queue[float]) -> None:
    """Note when each event arrives."""
    async with session.get("http://placet/v1/events", timeout=aiohttp.ClientTimeout(total=None)) as stream:
        async for line in stream.content:
            if line.startswith(b"data:"):
                await seen.put(time.perf_counter())


async def _note(session: aiohttp.ClientSession, task: str, number: int) -> float:
    """Write one note; return seconds until it was answered."""
    start = time.perf_counter()
    body: dict[str, Any] = {"text": f"note {number}: " + "a few words " * 20}
    async with session.post(f"http://placet/v1/tasks/{task}/entries", json=body) as answer:
        assert answer.status == 201, await answer.text()
        await answer.read()
    return time.perf_counter() - start


async def live_s(here: Device, there: Device) -> tuple[list[float], list[float]]:
    """Return, in seconds: request on one device to event on the other; and the write alone."""
    task = here.do("add", "measured")["id"]
    there.do("sync", "--wait")
    visible, written = [], []
    async with _api(here) as mine, _api(there) as theirs:
        seen: asyncio.Queue[float] = asyncio.Queue()
        reader = asyncio.create_task(_positions(theirs, seen))
        await _settled(seen)
        for number in range(LIVE + WARM):
            start = time.perf_counter()
            write = asyncio.create_task(_note(mine, task, number))
            visible.append(await asyncio.wait_for(seen.get(), WAIT_S) - start)
            written.append(await write)
            await _settled(seen, 0.002)
        reader.cancel()
    return visible[WARM:], written[WARM:]


async def _settled(seen: asyncio.Queue[float], quiet_s: float = 0.5) -> None:
    """Wait until no event has come for a while."""
    try:
        while True:
            await asyncio.wait_for(seen.get(), quiet_s)
    except TimeoutError:
        return


def figures() -> list[Figure]:
    """Measure everything here, with two daemons of this machine."""
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name:
        folder = Path(name)
        here, there = Device("here", folder / "here"), Device("there", folder / "there")
        try:
            here.start()
            there.start()
            pair(here, there)
            visible, written = asyncio.run(live_s(here, there))
            echo = _echo_s(folder)
        finally:
            for device in (here, there):
                if device.daemon is not None:
                    device.kill()
    middle, bound = median(echo), quantiles(echo, n=100)[98]
    against = "bare WebSocket round trip, one durable commit"
    return [
        Figure(
            "commit here to visible there, p50", 1e3 * median(visible), 1e3 * middle, "ms", against, "<= 2"
        ),
        Figure(
            "commit here to visible there, p99",
            1e3 * quantiles(visible, n=100)[98],
            1e3 * bound,
            "ms",
            against,
            "(shown)",
        ),
        Figure(
            "a person's write through the API, p50",
            1e3 * median(written),
            1e3 * middle,
            "ms",
            against,
            "<= 5",
        ),
    ]
