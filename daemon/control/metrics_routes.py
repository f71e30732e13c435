"""The route of the metrics: how much there is, who is connected, what waits, how long things take.

Never tells what is in the journal, nor a person's or a device's name: metrics are shipped elsewhere.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from aiohttp import web

from daemon import __version__
from daemon.agents import agents, pending
from daemon.agents.scheduler import Scheduler
from daemon.control.meter import MEDIA, Family, Meter, by, families, gauge, written
from daemon.control.routes import Call, Nothing, Route, Streams
from daemon.disk import Floor
from daemon.peers.peers import Peers
from daemon.peers.states import DeviceState
from store import runs
from store.snapshot import Snapshot
from store.threads import StoreThreads

_ID_CHARS = 12


class MetricsRoute:
    """The route, on one store, its peers and its agents."""

    def __init__(
        self,
        store: StoreThreads,
        peers: Peers,
        scheduler: Scheduler,
        *,
        floor: Floor,
        database: Path,
        now_ms: Callable[[], int],
        meter: Meter,
    ) -> None:
        self._store = store
        self._peers = peers
        self._scheduler = scheduler
        self._floor = floor
        self._database = database
        self._now_ms = now_ms
        self._meter = meter

    def routes(self) -> list[Route]:
        """Return the route."""
        return [Route("GET", "/metrics", "Tell the metrics, for Prometheus", Streams(self._tell, MEDIA), str)]

    async def _tell(self, request: web.Request, call: Call[Nothing, Nothing]) -> web.StreamResponse:
        del request, call
        devices = await self._peers.devices()
        kept = await self._store.read(lambda snapshot: list(self._kept(snapshot)))
        text = written(iter([*kept, *_peers(devices), *self._machine(), *families(self._meter)]))
        return web.Response(body=text.encode(), headers={"Content-Type": MEDIA})

    def _kept(self, snapshot: Snapshot) -> Iterator[Family]:
        counts = snapshot.counts()
        yield Family("info", "gauge", "The version that runs.", {(("version", __version__),): 1})
        yield gauge("commits", "Commits that this device holds.", counts.commits)
        yield gauge("entities", "Entities of the journal.", counts.entities)
        yield gauge("feed_position", "The end of the feed of commits.", snapshot.feed_end())
        yield gauge("pending_items", "Proposals that wait for a person.", self._waiting(snapshot))
        lives = agents.counts(snapshot, *self._scheduler.counts())
        states: dict[str, float | None] = {name: getattr(lives, name) for name in lives.__struct_fields__}
        yield Family("agents", "gauge", "Agents of this device by state.", by("state", states))
        ended = {status: float(number) for status, number in runs.by_status(snapshot).items()}
        yield Family("runs", "gauge", "Runs in the run log by how they ended.", by("status", {**ended}))

    def _waiting(self, snapshot: Snapshot) -> int:
        return len(pending.pending(snapshot, self._now_ms()))

    def _machine(self) -> Iterator[Family]:
        yield gauge("disk_free_bytes", "Free space beside the database.", self._floor.free_bytes())
        yield gauge("database_bytes", "Size of the database and its journal.", _size(self._database))
        yield gauge("resident_bytes", "Memory that the daemon holds.", resident_bytes())


def _peers(devices: list[DeviceState]) -> Iterator[Family]:
    others = {one.device_id[:_ID_CHARS]: one for one in devices if not one.this and not one.removed}
    linked: dict[str, float | None] = {key: one.connected for key, one in others.items()}
    lags: dict[str, float | None] = {key: one.lag for key, one in others.items()}
    yield Family("peer_connected", "gauge", "Whether a device is connected.", by("device", linked))
    yield Family("peer_lag_commits", "gauge", "Commits that a device is known to lack.", by("device", lags))


def _size(database: Path) -> int:
    files: list[Any] = [database, database.with_name(database.name + "-wal")]
    return sum(file.stat().st_size for file in files if file.exists())


def resident_bytes() -> int:
    """Return the memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
