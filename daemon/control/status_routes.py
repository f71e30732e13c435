"""The route of where things stand.

Never computes what the store keeps at hand.
"""

from collections.abc import Callable

from msgspec import Struct

from daemon.agents import agents, pending
from daemon.agents.agents import AgentCounts
from daemon.agents.remote import Remote
from daemon.agents.scheduler import Scheduler
from daemon.control import model_checks
from daemon.control.checks import Check
from daemon.control.routes import Asks, Call, Nothing, Route
from daemon.journal import conflicts
from daemon.journal.show import vector_clock
from daemon.journal.views import VectorClock
from daemon.peers.peers import Peers
from daemon.peers.states import DeviceState
from store.snapshot import Snapshot
from store.threads import StoreThreads
from syncproto.ids import text


class Status(Struct, frozen=True, kw_only=True):
    """One screen of where this device stands. `model` is None while nothing keeps agents from their model.

    `removed`: this device is no member of its vault any more, and exchanges nothing.
    """

    device_id: str
    name: str
    removed: bool
    replica: str | None
    vector: VectorClock
    state_hash: str
    entities: int
    commits: int
    peers: list[DeviceState]
    agents: AgentCounts
    pending_items: int
    conflicts: int
    model: Check | None = None


class StatusRoute:
    """The route, on one store, its peers and its agents."""

    def __init__(
        self,
        store: StoreThreads,
        peers: Peers,
        scheduler: Scheduler,
        now_ms: Callable[[], int],
        far: Remote | None = None,
    ) -> None:
        self._store = store
        self._peers = peers
        self._scheduler = scheduler
        self._now_ms = now_ms
        self._far = far

    def routes(self) -> list[Route]:
        """Return the route."""
        return [Route("GET", "/v1/status", "Say where things stand", Asks(self._status), Status)]

    async def _status(self, call: Call[Nothing, Nothing]) -> Status:
        del call
        devices = await self._peers.devices()
        model = await model_checks.model(self._far)
        return await self._store.read(
            lambda snapshot: self._read(snapshot, devices, None if model.well else model)
        )

    def _read(self, snapshot: Snapshot, devices: list[DeviceState], model: Check | None) -> Status:
        counts = snapshot.counts()
        replica = snapshot.replica
        return Status(
            device_id=snapshot.device.hex(),
            name=next((one.name for one in devices if one.this), ""),
            removed=any(one.this and one.removed for one in devices),
            replica=None if replica is None else text(replica),
            vector=vector_clock(snapshot.vector()),
            state_hash=snapshot.state_hash().hex(),
            entities=counts.entities,
            commits=counts.commits,
            peers=[one for one in devices if not one.this and not one.removed],
            agents=agents.counts(snapshot, *self._scheduler.counts()),
            conflicts=conflicts.count(snapshot),
            model=model,
            pending_items=len(pending.pending(snapshot, self._now_ms())),
        )
