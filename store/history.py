"""The log as a history: which field went from what to what, in which commit, by whom.

Never shown from the fold: it is read from the commits themselves, so what was overwritten is there too.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

import apsw

from store import proposals
from store.fold import Source, Written, written
from store.snapshot import Snapshot
from store.verdicts import Status
from syncproto.codec import Value
from syncproto.commit import Operation, Received
from syncproto.heads import Clock, covers
from syncproto.ids import EntityId


class Change(NamedTuple):
    """One field of one operation. `before` is what its author saw; `seq` the feed position of its commit.

    `agent` is the agent that wrote it, where one did.
    """

    seq: int
    source: Source
    entity: EntityId
    kind: str
    field: str
    before: Value
    after: Value
    agent: EntityId | None


class Found(NamedTuple):
    """Changes in feed order, and the position at which looking for more ended, None where nothing is left."""

    changes: list[Change]
    stopped: int | None


Wanted = Callable[[Received, Operation], bool]


def changes(
    snapshot: Snapshot,
    *,
    limit: int,
    after: int | None = None,
    before: int | None = None,
    since: int = 0,
    entities: Collection[EntityId] | None = None,
    wanted: Wanted = lambda _received, _operation: True,
    field: Callable[[str], bool] = lambda _field: True,
    commits_max: int | None = None,
) -> Found:
    """Return changes between two positions: the first ones beyond `after`, or without it the newest ones.

    About `limit` of them: a commit is never cut, so that its `seq` is where to go on. At most `commits_max`
    commits are looked at, none at or below the position `since`.
    """
    pasts = Pasts(snapshot)
    found: list[list[Change]] = []
    count, stopped = 0, None
    for looked, seq in enumerate(_positions(snapshot, entities, after, before, since)):
        if count >= limit or looked == commits_max:
            stopped = seq
            break
        received = snapshot.log.at(seq)
        operations = [one for one in received.commit.operations if entities is None or one.entity in entities]
        made = [
            change
            for one in operations
            if wanted(received, one)
            for change in pasts.changes(seq, received, one, field)
        ]
        count += len(made)
        if made:
            found.append(made)
    in_order = found if after is not None else reversed(found)
    return Found([change for made in in_order for change in made], stopped)


def _positions(
    snapshot: Snapshot,
    entities: Collection[EntityId] | None,
    after: int | None,
    before: int | None,
    since: int,
) -> Iterator[int]:
    """Yield the positions of the commits that are asked for: upwards from `after`, else down from the end."""
    first = max(0 if after is None else after, since) + 1
    last = snapshot.feed_end() if before is None else min(before - 1, snapshot.feed_end())
    if entities is None:
        yield from range(first, last + 1) if after is not None else range(last, first - 1, -1)
        return
    touching = positions(snapshot, entities, first - 1)
    yield from sorted((seq for seq in touching if seq <= last), reverse=after is None)


def positions(snapshot: Snapshot, entities: Collection[EntityId], after: int) -> list[int]:
    """Return the positions beyond `after` of the commits that touched any of several entities, in order."""
    if not entities:
        return []
    rows: Any = snapshot.db.execute(
        "SELECT DISTINCT seq FROM history WHERE entity IN carray(?) AND seq > ? ORDER BY seq",
        (apsw.carray(tuple(entities)), after),
    )
    return [seq for (seq,) in rows]


def are_few(snapshot: Snapshot, entities: Collection[EntityId], commits_max: int) -> bool:
    """Say whether no more commits than that touched these entities. Costs no more than that."""
    if not entities:
        return True
    found: Any = snapshot.db.execute(
        "SELECT count(*) FROM (SELECT 1 FROM history WHERE entity IN carray(?) LIMIT ?)",
        (apsw.carray(tuple(entities)), commits_max + 1),
    )
    return bool(found.fetchone()[0] <= commits_max)


def first_beyond(snapshot: Snapshot, clock: Clock) -> int | None:
    """Return the position of the first commit that a clock does not cover, None where it covers all.

    Costs a look-up a replica, whatever the size of the log.
    """
    lacking = next(snapshot.log.lacking(clock, 0), None)
    return None if lacking is None else lacking.seq


class Pasts:
    """What the changes in some commits were changes from; what wrote a field is read once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[tuple[EntityId, str], list[Written]] = {}

    def changes(
        self,
        seq: int,
        received: Received,
        operation: Operation,
        wanted: Callable[[str], bool] = lambda _field: True,
    ) -> Iterator[Change]:
        """Yield what one operation changed, of the fields that are wanted."""
        source, agent = written(received, operation).source, received.commit.author.agent
        for field, after in operation.fields.items():
            if wanted(field):
                before = self._before(operation, field)
                yield Change(seq, source, operation.entity, operation.kind, field, before, after, agent)

    def _before(self, operation: Operation, field: str) -> Value:
        if not operation.base:
            return None
        chains = self._snapshot.log
        standing: list[Written] = []
        # Feed order keeps causes first, so that one pass leaves what nothing seen has overwritten.
        for one in self._of(operation.entity, field):
            if covers(operation.base, one.head, chains):
                standing = [held for held in standing if not covers(one.operation.base, held.head, chains)]
                standing.append(one)
        best = max(standing, key=lambda one: one.source.order, default=None)
        return None if best is None else best.operation.fields[field]

    def _of(self, entity: EntityId, field: str) -> list[Written]:
        """Return the operations that wrote a field, but for the effects of items now unconfirmed."""
        known = self._known.get((entity, field))
        if known is None:
            confirmed = _confirmed(self._snapshot)
            known = [
                one
                for one in operations(self._snapshot, entity, field)
                if field in one.operation.fields
                and (one.operation.effect is None or confirmed(one.operation.effect))
            ]
            self._known[entity, field] = known
        return known


def operations(snapshot: Snapshot, entity: EntityId, field: str = "") -> Iterator[Written]:
    """Yield the operations on an entity, in feed order; those that have a field, and perhaps others."""
    for seq in _naming(snapshot, entity, field) if field else positions(snapshot, [entity], 0):
        received = snapshot.log.at(seq)
        for operation in received.commit.operations:
            if operation.entity == entity:
                yield written(received, operation)


def _naming(snapshot: Snapshot, entity: EntityId, field: str) -> list[int]:
    """Return the positions of the commits that touched an entity and hold the name of a field somewhere.

    To look for it in their bytes costs a tenth of reading them: most only touch their task.
    """
    rows: Any = snapshot.db.execute(
        "SELECT seq FROM history JOIN feed USING (seq) WHERE entity = ? AND instr(body, ?) ORDER BY seq",
        (entity, field.encode()),
    )
    return [seq for (seq,) in rows]


def _confirmed(snapshot: Snapshot) -> Callable[[EntityId], bool]:
    return lambda item: proposals.standing(snapshot.db, item).status is Status.CONFIRMED
