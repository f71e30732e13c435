"""Ours: daemons of this machine, one that holds the entities and a new one for each measurement.

Never measures inside the daemon: it calls it as a user does.
"""

import asyncio
import itertools
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from bench.live import live_s
from bench.peers.outcome import Outcome
from bench.stores import write
from daemon.peers.transport import identity
from store.store import Store
from tests.support.devices import Device, have_equal_state, pair
from tests.support.starts.processes import PLACET

ENTITIES, PER_TRANSACTION = 100_000, 1_000
WAIT_S = 300


@contextmanager
def running(*devices: Device) -> Iterator[None]:
    """Let devices run for a while, and leave none behind."""
    try:
        for device in devices:
            device.start()
        yield
    finally:
        for device in devices:
            if device.daemon is not None and device.daemon.poll() is None:
                device.kill()


def filled(folder: Path) -> Device:
    """Return a device that holds the entities, each made by a commit of its own."""
    device = Device("full", folder / "full")
    device.home.mkdir()
    clock = itertools.count(1_700_000_000_000)
    signer = identity.load_or_create(device.home, Random(1).randbytes).signer
    path = device.home / "placet.db"
    store = Store.open(path, signer=signer, now_ms=lambda: next(clock), randomness=Random(2).randbytes)
    write(store, ENTITIES, PER_TRANSACTION)
    store.close()
    return device


def measured(full: Device, folder: Path) -> Outcome:
    """Bring a new device up from the full one, then measure two small ones live."""
    fresh, device, existing_device = (Device(name, folder / name) for name in ("fresh", "here", "there"))
    with running(full, fresh):
        seconds = _bootstrap_s(full, fresh)
    with running(device, existing_device):
        pair(device, existing_device)
        took = asyncio.run(live_s(device, existing_device))
    return Outcome(ENTITIES, seconds, [1e3 * timing.asked_to_seen for timing in took])


def _bootstrap_s(full: Device, fresh: Device) -> float:
    """Time from the moment that the token is typed until both hold the same."""
    token = full.do("pair", "--invite")["token"]
    start = time.perf_counter()
    fresh.do("join", typed=token)
    waiting = [str(PLACET), "sync", "--wait", str(WAIT_S)]
    result = subprocess.run(waiting, env=fresh.environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    assert result.returncode == 0, f"{result.stdout} {result.stderr} {fresh.log()}"
    assert have_equal_state(full, fresh), "the two say that they are done, and hold different things"
    return seconds
