"""The route of the metrics: how much there is, who is connected, what waits, how long things take.

Never tells what is in the journal, nor a person's or a device's name: metrics are shipped elsewhere.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from aiohttp import web

from daemon import __version__
from daemon.agents.asks import ask_views
from daemon.agents.deciding import waiting_items
from daemon.agents.person import agent_overview
from daemon.agents.running.scheduler import Scheduler
from daemon.control.request_metrics import (
    MEDIA,
    MetricFamily,
    RequestMeter,
    gauge,
    label_samples,
    prometheus_text,
    request_families,
)
from daemon.control.route import Call, Nothing, Route, StreamHandler
from daemon.disk import DiskFloor
from daemon.peers.linking.device_states import DeviceList
from daemon.peers.mailboxes.mailbox_state import MailboxActivity, MailboxState
from daemon.peers.network import PeerNetwork
from store.local import run_log
from store.snapshot import Snapshot
from store.threads import StoreThreads

_ID_CHARS = 12


class MetricsRoutes:
    """The route, on one store, its peers and its agents."""

    def __init__(
        self,
        store: StoreThreads,
        peers: PeerNetwork,
        scheduler: Scheduler,
        *,
        floor: DiskFloor,
        database: Path,
        now_ms: Callable[[], int],
        meter: RequestMeter,
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
        return [
            Route(
                "GET", "/metrics", "Tell the metrics, for Prometheus", StreamHandler(self._tell, MEDIA), str
            )
        ]

    async def _tell(self, request: web.Request, call: Call[Nothing, Nothing]) -> web.StreamResponse:
        del request, call
        devices = await self._peers.devices.list_states()
        mailboxes = await self._peers.mailboxes.states()
        activities = self._peers.mailboxes.activities()
        metric_families = await self._store.read(lambda snapshot: list(self._journal_metrics(snapshot)))
        text = prometheus_text(
            iter(
                [
                    *metric_families,
                    *_peers(devices),
                    *_mailboxes(mailboxes),
                    *_mailbox_activities(activities),
                    *self._machine(),
                    *request_families(self._meter),
                ]
            )
        )
        return web.Response(body=text.encode(), headers={"Content-Type": MEDIA})

    def _journal_metrics(self, snapshot: Snapshot) -> Iterator[MetricFamily]:
        counts = snapshot.counts()
        yield MetricFamily("info", "gauge", "The version that runs.", {(("version", __version__),): 1})
        yield gauge("commits", "Commits that this device holds.", counts.commits)
        yield gauge("entities", "Entities of the journal.", counts.entities)
        yield gauge("feed_position", "The end of the feed of commits.", snapshot.feed_end())
        yield gauge("pending_items", "Proposals that wait for a person.", self._count_waiting(snapshot))
        asks = ask_views.count_open_asks(snapshot, self._now_ms())
        yield gauge("pending_asks", "Permissions that wait for a person.", asks)
        lives = agent_overview.count_agents(snapshot, *self._scheduler.counts())
        states: dict[str, float | None] = {name: getattr(lives, name) for name in lives.__struct_fields__}
        yield MetricFamily(
            "agents", "gauge", "Agents of this device by state.", label_samples("state", states)
        )
        ended = {status: float(number) for status, number in run_log.counts_by_status(snapshot).items()}
        yield MetricFamily(
            "runs", "gauge", "Runs in the run log by how they ended.", label_samples("status", {**ended})
        )

    def _count_waiting(self, snapshot: Snapshot) -> int:
        return waiting_items.waiting_count(waiting_items.list_waiting_items(snapshot, self._now_ms()))

    def _machine(self) -> Iterator[MetricFamily]:
        yield gauge("disk_free_bytes", "Free space beside the database.", self._floor.free_bytes())
        yield gauge("database_bytes", "Size of the database and its journal.", _size(self._database))
        yield gauge("resident_bytes", "Memory that the daemon holds.", resident_bytes())


def _peers(devices: DeviceList) -> Iterator[MetricFamily]:
    members = [device for device in devices.states if not device.this and not device.removed]
    # A series for each device that a member enters would fill the memory of whoever collects them.
    others = {device.device_id[:_ID_CHARS]: device for device in members if not device.left_out}
    left_out = len(members) - len(others) + devices.members_left_out
    linked: dict[str, float | None] = {key: device.connected for key, device in others.items()}
    lags: dict[str, float | None] = {key: device.lag for key, device in others.items()}
    yield MetricFamily(
        "peer_connected", "gauge", "Whether a device is connected.", label_samples("device", linked)
    )
    yield MetricFamily(
        "peer_lag_commits", "gauge", "Commits that a device is known to lack.", label_samples("device", lags)
    )
    yield gauge("peers_left_out", "Devices of the roster that are not linked with: too many.", left_out)


def _mailboxes(mailboxes: Sequence[MailboxState]) -> Iterator[MetricFamily]:
    columns: dict[str, tuple[str, Callable[[MailboxState], float]]] = {
        "mailbox_usable": ("Whether a mailbox could be looked into.", lambda state: not state.trouble),
        "mailbox_blobs": ("Blobs of this vault in a mailbox.", lambda state: state.blobs),
        "mailbox_bytes": ("Bytes of this vault in a mailbox.", lambda state: state.bytes),
    }
    for name, (description, value_of) in columns.items():
        values: dict[str, float | None] = {state.name: value_of(state) for state in mailboxes}
        yield MetricFamily(name, "gauge", description, label_samples("mailbox", values))


def _mailbox_activities(activities: Sequence[MailboxActivity]) -> Iterator[MetricFamily]:
    columns: dict[str, tuple[str, Callable[[MailboxActivity], float]]] = {
        "mailbox_visits_total": ("Looks into a mailbox that ended well.", lambda activity: activity.visits),
        "mailbox_faults_total": (
            "Looks into a mailbox that a fault ended.",
            lambda activity: activity.faults,
        ),
        "mailbox_taken_total": (
            "Drops that brought something new from a mailbox.",
            lambda activity: activity.taken,
        ),
        "mailbox_put_total": ("Drops that this device left in a mailbox.", lambda activity: activity.put),
        "mailbox_cleared_total": (
            "Blobs that this device deleted in a mailbox.",
            lambda activity: activity.cleared,
        ),
    }
    for name, (description, value_of) in columns.items():
        values: dict[str, float | None] = {activity.mailbox: value_of(activity) for activity in activities}
        yield MetricFamily(name, "counter", description, label_samples("mailbox", values))


def _size(database: Path) -> int:
    files: list[Any] = [database, database.with_name(database.name + "-wal")]
    return sum(file.stat().st_size for file in files if file.exists())


def resident_bytes() -> int:
    """Return the memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
