"""The routes about the store itself: what compaction frees, and whether disk, clock and lease are well.

Never holds more than a step of a compaction in one transaction: other writes get their turn in between.
"""

from functools import partial
from typing import Annotated

from msgspec import Meta, Struct

from daemon.agents.remote import Remote
from daemon.clock import Clock, ClockWatch
from daemon.control import checks, model_checks, peer_checks
from daemon.control.checks import Check
from daemon.control.routes import Asks, Call, Nothing, Route
from daemon.disk import Floor
from daemon.journal.errors import usage
from daemon.peers import roster
from daemon.peers.peers import Peers
from store import compaction
from store import peers as table
from store.compaction import START, Freed, Retention, Step
from store.snapshot import Snapshot
from store.threads import StoreThreads
from syncproto.heads import EMPTY
from syncproto.ids import EntityId

DAY_MS = 86_400_000


class Compact(Struct, frozen=True, forbid_unknown_fields=True):
    """What is older than so many days may go; else the setting says."""

    older_than_days: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    dry_run: bool = False


class Compacted(Struct, frozen=True):
    """What was freed, or in a dry run would be.

    `unheard` are the devices of which nothing is known: while there are any, nothing may go.
    """

    older_than_days: int
    commits: int
    values: int
    bytes: int
    unheard: list[str]


class StoreRoutes:
    """The routes, on one store; `retention_days` is the setting, None where everything is kept."""

    def __init__(
        self,
        store: StoreThreads,
        clock: Clock,
        floor: Floor,
        *,
        watch: ClockWatch,
        peers: Peers,
        retention_days: int | None,
        far: Remote | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._floor = floor
        self._watch = watch
        self._peers = peers
        self._retention_days = retention_days
        self._far = far

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route(
                "POST",
                "/v1/compact",
                "Drop long values that were overwritten long ago; safe to stop and to repeat",
                Asks(self._compact),
                Compacted,
                Compact,
                # Also below the floor: it is what may help there.
                only_looks=lambda _: True,
            ),
            Route(
                "GET",
                "/v1/checks",
                "Say whether disk, clocks, lease, model, connections, agents and state are well",
                Asks(self._checks),
                list[Check],
            ),
        ]

    async def _compact(self, call: Call[Compact, Nothing]) -> Compacted:
        days = call.body.older_than_days or self._retention_days
        if days is None:
            hint = "say how old it may be with --older-than DAYS, or set history.retention_days"
            raise usage("everything is kept: no retention is set", hint)
        retention, unheard = await self._store.read(partial(self._retention, days=days))
        freed = Freed()
        after: EntityId | None = START
        while after is not None:
            step = await self._step(retention, after, call.body.dry_run)
            freed = Freed(*(sum(both) for both in zip(freed, step.freed, strict=True)))
            after = step.after
        return Compacted(days, *freed, unheard)

    async def _step(self, retention: Retention, after: EntityId, dry_run: bool) -> Step:
        if dry_run:
            return await self._store.read(lambda snapshot: compaction.survey(snapshot, retention, after))
        return await self._store.write(lambda tx: compaction.compact(tx, retention, after))

    def _retention(self, snapshot: Snapshot, days: int) -> tuple[Retention, list[str]]:
        """Say what may go: of what others hold, only what they are known to hold counts."""
        heard = table.heard(snapshot)
        others = [
            member
            for device, member in roster.read(snapshot).items()
            if not member.removed and device != snapshot.device
        ]
        held = tuple(heard[one.device].vector if one.device in heard else EMPTY for one in others)
        unheard = [one.name for one in others if one.device not in heard]
        return Retention(self._clock.now_ms() - days * DAY_MS, held), unheard

    async def _checks(self, call: Call[Nothing, Nothing]) -> list[Check]:
        del call
        now_ms, jump_ms = self._clock.now_ms(), self._watch.jump_ms()
        peers = self._peers
        differing, slowed = list(peers.differing()), peers.slowed()
        twins, said_by = peers.twins(), peers.twins_said_by()
        return [
            checks.disk(self._floor),
            checks.lease(self._store.doubt, self._store.lease_is_stale),
            await model_checks.model(self._far),
            *peer_checks.connections(await peers.devices(), peers.nearby(), paused=peers.paused),
            *await self._store.read(
                lambda snapshot: [
                    *checks.clocks(snapshot, now_ms, jump_ms),
                    *checks.agents(snapshot),
                    *checks.states(snapshot, differing),
                    *checks.forks(snapshot),
                    *checks.twins(snapshot, twins, said_by),
                    *checks.floods(snapshot, slowed),
                ]
            ),
        ]
