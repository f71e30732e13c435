"""Figures of devices that meet only in a folder: bringing up a new one, and one change between two.

Never lets two daemons link: one of them runs at a time, or it listens where the other does not look for it.
"""

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median

import aiohttp

from bench.bringing import MANY, MANY_QUICK, bring_up_s, control_api, fill, post, two_devices
from bench.table import Figure
from tests.support.devices import Device, free_port
from tests.support.patience import wait_until

ROUNDS = 15
WAIT_S = 1200.0
NEVER = {"PLACET_MAILBOX_LOOK_S": "3600"}
OFTEN = {"PLACET_MAILBOX_LOOK_S": "0.05"}


def _commits(device: Device) -> int:
    return int(device.do("status")["commits"])


def _pair_apart(folder: Path, local_device: Device, newcomer: Device) -> float:
    """Pair two devices by a folder alone; return for how long they wrote and read, in seconds.

    At the end the first one does not run, and the newcomer has all that it has.
    """
    box = folder / "box"
    box.mkdir(parents=True)
    local_device.start()
    newcomer.start()
    local_device.do("mailbox", "add", str(box))
    token = local_device.do("pair", "--invite", "--mailbox", "box")["token"]
    newcomer.do("join", "--mailbox", str(box), typed=token)
    newcomer.stop()
    commits = _commits(local_device)
    start = time.perf_counter()
    local_device.do("mailbox", "check", "box")
    taken_s = time.perf_counter() - start
    local_device.stop()
    start = time.perf_counter()
    newcomer.start()
    wait_until("the newcomer has all", lambda: _commits(newcomer) >= commits, WAIT_S)
    return taken_s + time.perf_counter() - start


async def _look(session: aiohttp.ClientSession) -> None:
    await post(session, "/v1/mailboxes/box/check", {})


async def _change_ms(writer: Device, reader: Device) -> tuple[float, float]:
    """Time a change that one device leaves and another takes, and the same looks with nothing new."""
    async with control_api(writer) as mine, control_api(reader) as theirs:
        changed_ms: list[float] = []
        idle_ms: list[float] = []
        for number in range(ROUNDS):
            for session in (mine, theirs, mine):
                await _look(session)
            for is_idle, durations in ((True, idle_ms), (False, changed_ms)):
                if not is_idle:
                    await post(mine, "/v1/tasks", {"title": f"change {number}"})
                start = time.perf_counter()
                await _look(mine)
                await _look(theirs)
                durations.append(1e3 * (time.perf_counter() - start))
    return median(changed_ms), median(idle_ms)


def _brought_up(folder: Path, count: int) -> Figure:
    """Bring up a new device through a folder, and one of the same size over a link."""
    with two_devices(folder / "live", count) as live:
        live_s = bring_up_s(*live)
    local_device = Device("here", folder / "apart" / "here", dict(NEVER))
    newcomer = Device("there", folder / "apart" / "there", dict(OFTEN))
    fill(local_device, count)
    try:
        apart_s = _pair_apart(folder, local_device, newcomer)
    finally:
        _end(local_device, newcomer)
    name = f"a new device through a folder, {count} tasks"
    return Figure(name, count / apart_s, count / live_s, "/s", "the same over a link", ">= 0.5")


def _single_change(folder: Path) -> Figure:
    writer = Device("here", folder / "here", dict(NEVER))
    reader = Device("there", folder / "there", dict(OFTEN))
    try:
        _pair_apart(folder, writer, reader)
        reader.stop()
        # From now on neither finds the other one.
        reader.port = free_port()
        reader.settings = dict(NEVER)
        for device in (writer, reader):
            device.start()
        changed_ms, idle_ms = asyncio.run(_change_ms(writer, reader))
        assert not any(device["connected"] for device in writer.do("devices") if not device["this"])
    finally:
        _end(writer, reader)
    return Figure("a change left in a folder and taken", changed_ms, idle_ms, "ms", "two idle looks", "")


def _end(*devices: Device) -> None:
    for device in devices:
        if device.daemon is not None and device.daemon.poll() is None:
            device.kill()


def figures(*, quick: bool) -> list[Figure]:
    """Measure everything here; `quick` brings up a smaller journal."""
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name:
        return [
            _brought_up(Path(name), MANY_QUICK if quick else MANY),
            _single_change(Path(name) / "single"),
        ]
