"""The route of where things stand.

Never computes what the store keeps at hand.
"""

from collections.abc import Callable, Sequence
from itertools import chain, islice
from typing import Final

from msgspec import Struct

from daemon.agents.asks import ask_views
from daemon.agents.deciding import waiting_items
from daemon.agents.person import agent_overview
from daemon.agents.person.agent_overview import AgentCounts
from daemon.agents.running.remote_model import RemoteModel
from daemon.agents.running.scheduler import Scheduler
from daemon.control.health import remote_model, this_device
from daemon.control.health.check import Check
from daemon.control.health.connections import LEFT_OUT_NAMED_MAX
from daemon.control.route import AsyncHandler, Call, Nothing, Route
from daemon.journal import conflicts
from daemon.journal.views.structures import ClockJson
from daemon.peers.linking.device_states import DeviceList, DeviceState
from daemon.peers.mailbox_pairing.pairing_state import MailboxInvitation, MailboxJoining, MailboxPairing
from daemon.peers.mailboxes.mailbox_state import MailboxState
from daemon.peers.network import PeerNetwork
from store.queries.clock_counters import counters_of
from store.snapshot import Snapshot
from store.threads import StoreThreads
from syncproto.ids import id_to_text

REPLICAS_SHOWN_MAX: Final = 1024


class Status(Struct, frozen=True, kw_only=True):
    """The state of this device, for one screen. `model` is None while nothing keeps agents from their model.

    `database` is None unless a read or a write has found the file damaged: then nothing is written.

    `expiring_items` counts the proposals that expire within a day unless somebody decides, `pending_asks` the
    permissions that agents ask for and nobody decided on, `expiring_asks` those of them that run out so.
    `removed`: this device is no longer a member of its vault, and exchanges nothing. `vector_left_out` and
    `peers_left_out` count the replicas and the members that are not shown, because there are too many.
    `names_left_out` are the names of the first few of these members.
    """

    device_id: str
    name: str
    removed: bool
    replica: str | None
    vector: ClockJson
    vector_left_out: int = 0
    state_hash: str
    entities: int
    commits: int
    peers: list[DeviceState]
    peers_left_out: int = 0
    names_left_out: list[str] = []
    agents: AgentCounts
    pending_items: int
    expiring_items: int = 0
    pending_asks: int = 0
    expiring_asks: int = 0
    conflicts: int
    model: Check | None = None
    database: Check | None = None
    mailboxes: list[MailboxState] = []
    mailbox_invitations: list[MailboxInvitation] = []
    mailbox_joining: MailboxJoining | None = None


class StatusRoutes:
    """The route, on one store, its peers and its agents."""

    def __init__(
        self,
        store: StoreThreads,
        peers: PeerNetwork,
        scheduler: Scheduler,
        now_ms: Callable[[], int],
        remotes: Sequence[RemoteModel] = (),
    ) -> None:
        self._store = store
        self._peers = peers
        self._scheduler = scheduler
        self._now_ms = now_ms
        self._remotes = remotes

    def routes(self) -> list[Route]:
        """Return the route."""
        return [Route("GET", "/v1/status", "Say where things stand", AsyncHandler(self._status), Status)]

    async def _status(self, call: Call[Nothing, Nothing]) -> Status:
        del call
        devices = await self._peers.devices.list_states()
        checks = await remote_model.check_models(self._remotes)
        trouble = next((check for check in checks if not check.well), None)
        mailboxes = await self._peers.mailboxes.states()
        pairing = await self._peers.mailbox_pairing()
        return await self._store.read(
            lambda snapshot: self._read(snapshot, devices, mailboxes, pairing, trouble)
        )

    def _read(
        self,
        snapshot: Snapshot,
        devices: DeviceList,
        mailboxes: list[MailboxState],
        pairing: MailboxPairing,
        model: Check | None,
    ) -> Status:
        counts, replica = snapshot.counts(), snapshot.replica
        vector, vector_left_out = _shown_vector(snapshot)
        members = [device for device in devices.states if not device.this and not device.removed]
        peers = [device for device in members if not device.left_out]
        names_left_out = [device.name for device in members if device.left_out]
        waiting = waiting_items.list_waiting_items(snapshot, self._now_ms())
        return Status(
            device_id=snapshot.device.hex(),
            name=next((device.name for device in devices.states if device.this), ""),
            removed=any(device.this and device.removed for device in devices.states),
            replica=None if replica is None else id_to_text(replica),
            vector=vector,
            vector_left_out=vector_left_out,
            state_hash=snapshot.state_hash().hex(),
            entities=counts.entities,
            commits=counts.commits,
            peers=peers,
            names_left_out=names_left_out[:LEFT_OUT_NAMED_MAX],
            peers_left_out=len(members) - len(peers) + devices.members_left_out,
            agents=agent_overview.count_agents(snapshot, *self._scheduler.counts()),
            conflicts=conflicts.count_conflicts(snapshot),
            model=model,
            database=None if snapshot.damage is None else this_device.check_database(snapshot),
            mailboxes=mailboxes,
            mailbox_invitations=pairing.invitations,
            mailbox_joining=pairing.joining,
            pending_items=waiting_items.waiting_count(waiting),
            pending_asks=ask_views.count_open_asks(snapshot, self._now_ms()),
            expiring_asks=len(ask_views.list_expiring_asks(snapshot, self._now_ms())),
            expiring_items=waiting_items.waiting_count(item for item in waiting if item.expires_soon),
        )


def _shown_vector(snapshot: Snapshot) -> tuple[ClockJson, int]:
    """Return the counters of some replicas, this device's among them, and how many others there are."""
    own, counters = snapshot.replica, counters_of(snapshot.vector())
    others = (replica for replica in counters if replica != own)
    shown = list(islice(chain([own] if own in counters else (), others), REPLICAS_SHOWN_MAX))
    return {id_to_text(replica): counters[replica] for replica in shown}, len(counters) - len(shown)
