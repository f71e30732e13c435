"""The route that compacts the store.

Never holds more than a step of a compaction in one transaction: other writes get their turn in between.
"""

from collections.abc import Callable, Collection
from functools import partial
from typing import Annotated

from msgspec import Meta, Struct

from daemon.agents.person import old_texts
from daemon.agents.person.old_texts import EmptiedStep, OldTexts
from daemon.clock import Clock
from daemon.config import HistorySettings
from daemon.control.route import AsyncHandler, Call, Nothing, Route
from daemon.disk import DiskFloor
from daemon.peers.roster import member_records
from daemon.refusal import usage_error
from store.local import peer_records as table
from store.sentence import sentence
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.upkeep import compaction
from store.upkeep.compaction import BEFORE_FIRST_ENTITY, CompactionStep, Retention, SpaceFreed
from syncproto.ids import DeviceId, EntityId
from syncproto.vector_clock import EMPTY_CLOCK

DAY_MS = 86_400_000


class Compact(Struct, frozen=True, forbid_unknown_fields=True):
    """How many days old an overwritten text must be to be dropped; null: as the setting says.

    With `agent_texts`, what agents said and called before that is emptied first. Without it, this is done
    only if `history.agent_texts_days` is set, and for what is older than that.
    """

    older_than_days: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    agent_texts: bool = False
    dry_run: bool = False


class Compacted(Struct, frozen=True):
    """What was freed, or in a dry run would be. `emptied` counts the texts of agents that were let go of.

    Their values are freed once each device has that change, by this or by a later request.

    `unheard` names the devices of which nothing is known. While there are any, nothing is dropped.
    `members_left_out` counts the members for which nothing is kept, because this device does not link with
    them: the roster has too many.
    """

    older_than_days: int
    commits: int
    values: int
    bytes: int
    unheard: list[str]
    members_left_out: int = 0
    emptied: int = 0


class CompactionRoutes:
    """The routes, on one store; `left_out` returns the members that this device does not link with."""

    def __init__(
        self,
        store: StoreThreads,
        clock: Clock,
        floor: DiskFloor,
        settings: HistorySettings,
        *,
        left_out: Callable[[], Collection[DeviceId]],
    ) -> None:
        self._store = store
        self._clock = clock
        self._floor = floor
        self._settings = settings
        self._left_out = left_out

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route(
                "POST",
                "/v1/compact",
                "Drop long values that were overwritten long ago; safe to stop and to repeat",
                AsyncHandler(self._compact),
                Compacted,
                Compact,
                # Also below the floor: it is what may help there.
                writes_nothing=lambda body: body.dry_run or not body.agent_texts,
            ),
        ]

    async def _compact(self, call: Call[Compact, Nothing]) -> Compacted:
        days = call.body.older_than_days or self._settings.retention_days
        if days is None:
            hint = sentence(
                "say-retention",
                "say how old it may be with --older-than DAYS, or set history.retention_days",
            )
            raise usage_error(sentence("no-retention", "everything is kept: no retention is set"), hint)
        texts_days = self._days_of_agent_texts(call.body, days)
        emptied = 0 if texts_days is None else await self._empty(texts_days, call.body.dry_run)
        left_out = self._left_out()
        retention, unheard = await self._store.read(partial(self._retention, days=days, left_out=left_out))
        freed = SpaceFreed()
        after: EntityId | None = BEFORE_FIRST_ENTITY
        while after is not None:
            step = await self._step(retention, after, call.body.dry_run)
            freed = SpaceFreed(*(sum(both) for both in zip(freed, step.freed, strict=True)))
            after = step.after
        return Compacted(days, *freed, unheard, len(left_out), emptied)

    def _days_of_agent_texts(self, body: Compact, days: int) -> int | None:
        """Return how old agents' texts must be to be emptied; None if they are left as they are.

        Below the floor only a person's word empties them, because that writes before it frees.
        """
        setting = self._settings.agent_texts_days
        if body.agent_texts:
            return body.older_than_days or setting or days
        return None if self._floor.shortfall() is not None else setting

    def _before_ms(self, days: int) -> int:
        return self._clock.now_ms() - days * DAY_MS

    async def _empty(self, days: int, dry_run: bool) -> int:
        """Empty the old texts of agents, or count them; a step for each transaction."""
        before_ms = self._before_ms(days)
        place = await self._store.read(lambda snapshot: old_texts.first_place(snapshot, before_ms))
        emptied = 0
        while place is not None:
            step = await self._empty_step(place, before_ms, dry_run)
            emptied, place = emptied + step.texts, step.resume_at
        return emptied

    async def _empty_step(self, place: OldTexts, before_ms: int, dry_run: bool) -> EmptiedStep:
        if dry_run:
            return await self._store.read(
                lambda snapshot: old_texts.old_texts_step(snapshot, place, before_ms)[0]
            )
        return await self._store.write(lambda tx: old_texts.empty_old_texts(tx, place, before_ms))

    async def _step(self, retention: Retention, after: EntityId, dry_run: bool) -> CompactionStep:
        if dry_run:
            return await self._store.read(
                lambda snapshot: compaction.estimate_step(snapshot, retention, after)
            )
        return await self._store.write(lambda tx: compaction.compact_step(tx, retention, after))

    def _retention(
        self, snapshot: Snapshot, days: int, left_out: Collection[DeviceId]
    ) -> tuple[Retention, list[str]]:
        """Say what may go: of what others hold, only what they are known to hold counts.

        Who is left out never shows what it holds. To wait for it would be to wait for ever, as long as one
        member fills the roster. It loses nothing that counts: the write of a person that covers what was
        dropped comes to it too.
        """
        peer_contacts = table.peer_contacts(snapshot)
        others = [
            member
            for device, member in member_records.read_members(snapshot).items()
            if not member.removed and device != snapshot.device and device not in left_out
        ]
        clocks = tuple(
            peer_contacts[member.device].vector if member.device in peer_contacts else EMPTY_CLOCK
            for member in others
        )
        unheard = [member.name for member in others if member.device not in peer_contacts]
        return Retention(self._before_ms(days), clocks), unheard
