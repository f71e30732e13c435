"""The route of `doctor`: whether disk, clocks, lease, model, connections, agents and states are well.

Never repairs anything: each finding names what a person can do.
"""

from collections.abc import Sequence
from pathlib import Path

from daemon.agents.running.remote_model import RemoteModel
from daemon.clock import Clock, ClockWatch
from daemon.control.health import connections, mailbox_checks, permissions, remote_model, this_device
from daemon.control.health.check import Check, one_verdict_each
from daemon.control.route import AsyncHandler, Call, Nothing, Route
from daemon.disk import DiskFloor
from daemon.peers.network import PeerNetwork
from store.threads import StoreThreads


class CheckRoutes:
    """The route, for one daemon; without `remotes`, no model's server is configured.

    At `socket` the service manager listens for this daemon, None if the daemon does so itself.
    """

    def __init__(
        self,
        store: StoreThreads,
        clock: Clock,
        floor: DiskFloor,
        *,
        watch: ClockWatch,
        peers: PeerNetwork,
        remotes: Sequence[RemoteModel],
        socket: Path | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._floor = floor
        self._watch = watch
        self._peers = peers
        self._remotes = remotes
        self._socket = socket

    def routes(self) -> list[Route]:
        """Return the route."""
        return [
            Route(
                "GET",
                "/v1/checks",
                "Say whether disk, clocks, lease, model, connections, agents and state are well",
                AsyncHandler(self._checks),
                list[Check],
            ),
        ]

    async def _checks(self, call: Call[Nothing, Nothing]) -> list[Check]:
        del call
        return await self.list_findings()

    async def list_findings(self) -> list[Check]:
        """Look at everything, and say what was found and what a person can do."""
        now_ms, jump_ms = self._clock.now_ms(), self._watch.jump_ms()
        peers = self._peers
        differing, slowed = list(peers.replication.diverging_members()), peers.links.rate_limited_peers()
        listed = await peers.devices.list_states()
        key_clones, said_by = peers.links.key_clones, peers.replication.key_clone_reporters()
        twins = sorted({*key_clones.cloned_devices(), *await peers.mailboxes.copied_devices()})
        withheld = {name for remote in self._remotes for name in remote.endpoint.withheld_categories}
        checks = [
            this_device.check_disk(self._floor),
            *this_device.check_socket(self._socket),
            this_device.check_lease(self._store.replica_doubt, self._store.lease_is_stale),
            *await remote_model.check_models(self._remotes),
            *connections.check_connections(
                listed.states,
                peers.discovery_status(),
                paused=peers.replication.paused,
                members_unlisted=listed.members_left_out,
            ),
            *mailbox_checks.check_mailboxes(await peers.mailboxes.states()),
            *mailbox_checks.check_pairing(await peers.mailbox_pairing(), now_ms),
            *await self._store.read(
                lambda snapshot: [
                    this_device.check_database(snapshot),
                    *remote_model.check_withheld_categories(snapshot, withheld),
                    *this_device.check_clocks(snapshot, now_ms, jump_ms),
                    *this_device.check_failed_agents(snapshot),
                    *this_device.check_presence(snapshot),
                    *this_device.check_decisions(snapshot),
                    *permissions.check_permissions(snapshot),
                    *this_device.check_peer_states(snapshot, differing),
                    *this_device.check_forked_devices(snapshot),
                    *this_device.check_cloned_keys(snapshot, twins, said_by),
                    *this_device.check_flooding_peers(snapshot, slowed),
                ]
            ),
        ]
        return one_verdict_each(checks)
