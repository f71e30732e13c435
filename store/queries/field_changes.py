"""The log as a history: which field changed from what to what, in which commit, by whom.

Never read from the fold: the commits themselves also contain what was overwritten.
"""

import heapq
import math
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache, partial
from itertools import chain, groupby
from typing import Any, NamedTuple

import apsw

from store.fold.entity_state import SourcedOperation, with_provenance
from store.fold.field_versions import Provenance
from store.fold.liveness import Liveness
from store.fold.operations import operation_at, operations_on, operations_on_each
from store.snapshot import Snapshot
from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import DecodedCommit, Operation
from syncproto.ids import EntityId
from syncproto.vector_clock import Chains, GrowingClock, Head, VectorClock, covers

_HISTORIES_MERGED_MAX = 500
"""Of so many entities the histories are merged as they are read; those of more are read and sorted whole."""


class FieldChange(NamedTuple):
    """One field of one operation. `before` is what its author saw; `seq` is the feed position of its commit.

    `agent` is the agent that wrote it, None if a person did. With `left_out` neither value was read, because
    those before it were long enough. `is_repeated`: all that its author saw of the field had the same value.
    """

    seq: int
    source: Provenance
    entity: EntityId
    kind: str
    field: str
    before: Value
    after: Value
    agent: EntityId | None
    left_out: bool = False
    is_repeated: bool = False


class ChangePage(NamedTuple):
    """Changes in feed order, and the position at which the search stopped, None if nothing is left."""

    changes: list[FieldChange]
    resume_at: int | None


OperationFilter = Callable[[DecodedCommit, Operation], bool]


def value_bytes(value: Value) -> int:
    """Return about how many bytes a value has as it is shown."""
    return len(value) if isinstance(value, str | bytes) else len(codec.encode(value))


def field_changes(
    snapshot: Snapshot,
    *,
    limit: int,
    after: int | None = None,
    before: int | None = None,
    since: int = 0,
    entities: Collection[EntityId] | None = None,
    wanted: OperationFilter = lambda _received, _operation: True,
    field: Callable[[str], bool] = lambda _field: True,
    shown: Callable[[FieldChange], bool] = lambda _change: True,
    commits_max: int | None = None,
    value_bytes_max: float = math.inf,
) -> ChangePage:
    """Return about `limit` changes: the first ones beyond `after`, or without it the newest before `before`.

    A commit is never divided, so that the search can resume at its `seq`. At most `commits_max` commits are
    read, none at or below the position `since`. Once the values have `value_bytes_max` bytes together, those
    of the changes that follow in the search are left out.
    """
    pasts = PreviousValues(snapshot, value_bytes_max)
    change_groups: list[list[FieldChange]] = []
    count, stopped = 0, None
    for looked, seq in enumerate(_positions(snapshot, entities, after, before, since)):
        if count >= limit or looked == commits_max:
            stopped = seq
            break
        received = snapshot.log.commit_at(seq)
        operations = [
            operation
            for operation in received.commit.operations
            if entities is None or operation.entity in entities
        ]
        changes = [
            change
            for operation in operations
            if wanted(received, operation)
            for change in pasts.changes_of(seq, received, operation, field)
            if shown(change)
        ]
        count += len(changes)
        if changes:
            change_groups.append(changes)
    in_order = change_groups if after is not None else reversed(change_groups)
    return ChangePage([change for group in in_order for change in group], stopped)


def _positions(
    snapshot: Snapshot,
    entities: Collection[EntityId] | None,
    after: int | None,
    before: int | None,
    since: int,
) -> Iterator[int]:
    """Yield the positions of the commits to read: upwards from `after`, or without it down from the end."""
    first = max(0 if after is None else after, since) + 1
    last = snapshot.feed_end() if before is None else min(before - 1, snapshot.feed_end())
    if entities is None:
        yield from range(first, last + 1) if after is not None else range(last, first - 1, -1)
        return
    if len(entities) <= _HISTORIES_MERGED_MAX:
        yield from _merged_positions(snapshot, entities, first, last, newest_first=after is None)
        return
    touching = positions_touching(snapshot, entities, first - 1)
    yield from sorted((seq for seq in touching if seq <= last), reverse=after is None)


def _merged_positions(
    snapshot: Snapshot, entities: Iterable[EntityId], first: int, last: int, *, newest_first: bool
) -> Iterator[int]:
    """Yield the positions from `first` to `last` at which any of a few entities was touched.

    Costs what is taken of it, however long the histories are.
    """
    query = (
        "SELECT seq FROM history WHERE entity = ? AND seq BETWEEN ? AND ?"
        f" ORDER BY seq {'DESC' if newest_first else 'ASC'}"
    )
    histories: Any = [snapshot.db.execute(query, (entity, first, last)) for entity in entities]
    merged = heapq.merge(*histories, reverse=newest_first)
    return (seq for (seq,), _ in groupby(merged))


def positions_touching(snapshot: Snapshot, entities: Collection[EntityId], after: int) -> list[int]:
    """Return the positions beyond `after` of the commits that touched any of several entities, in order."""
    if not entities:
        return []
    rows: Any = snapshot.db.execute(
        "SELECT DISTINCT seq FROM history WHERE entity IN carray(?) AND seq > ? ORDER BY seq",
        (apsw.carray(tuple(entities)), after),
    )
    return [seq for (seq,) in rows]


def positions_since(snapshot: Snapshot, entity: EntityId, after: int, field: str = "") -> Iterator[int]:
    """Yield the positions beyond `after` of the commits that touched an entity, in order.

    With `field`, only of those that contain its name somewhere: searching their bytes costs a tenth of
    decoding them.
    """
    rows: Any = snapshot.db.execute(
        "SELECT seq FROM history JOIN feed USING (seq) WHERE entity = ? AND seq > ? AND instr(body, ?) > 0"
        " ORDER BY seq"
        if field
        else "SELECT seq FROM history WHERE entity = ? AND seq > ? ORDER BY seq",
        (entity, after, *([field.encode()] if field else [])),
    )
    return (seq for (seq,) in rows)


def is_touched_at_most(snapshot: Snapshot, entities: Collection[EntityId], commits_max: int) -> bool:
    """Return whether at most `commits_max` commits touched these entities. Costs no more than that."""
    if not entities:
        return True
    rows: Any = snapshot.db.execute(
        "SELECT count(*) FROM (SELECT 1 FROM history WHERE entity IN carray(?) LIMIT ?)",
        (apsw.carray(tuple(entities)), commits_max + 1),
    )
    return bool(rows.fetchone()[0] <= commits_max)


def first_uncovered_position(snapshot: Snapshot, clock: VectorClock) -> int | None:
    """Return the position of the first commit that a clock does not cover, None if it covers all.

    Costs a look-up per replica, whatever the size of the log.
    """
    lacking = next(snapshot.log.commits_lacking(clock, 0), None)
    return None if lacking is None else lacking.seq


class CoveredCommits:
    """The commits that any of several clocks covers; a look-up costs the same for any number of clocks."""

    def __init__(self, clocks: Iterable[VectorClock], chains: Chains) -> None:
        self._chains = chains
        self._clock = GrowingClock()
        for head in chain.from_iterable(clocks):
            self._clock.add(head, chains)

    def __contains__(self, head: Head) -> bool:
        """Say whether the commit that a head names is covered."""
        return self._clock.covers(head, self._chains)


class PreviousValues:
    """The values before the changes of some commits; an operation is read once.

    Once the values have `bytes_max` bytes together, no more are read.
    """

    def __init__(self, snapshot: Snapshot, bytes_max: float = math.inf) -> None:
        self._snapshot = snapshot
        self._bytes_left = bytes_max
        self._liveness = Liveness(snapshot.db, snapshot.log)
        self._operation_at = cache(partial(operation_at, log=snapshot.log))

    def changes_of(
        self,
        seq: int,
        received: DecodedCommit,
        operation: Operation,
        wanted: Callable[[str], bool] = lambda _field: True,
    ) -> Iterator[FieldChange]:
        """Yield what one operation changed, of the fields that are wanted."""
        source, agent = with_provenance(received, operation).source, received.commit.author.agent
        for field, after in operation.fields.items():
            if not wanted(field):
                continue
            change = FieldChange(seq, source, operation.entity, operation.kind, field, None, None, agent)
            if self._bytes_left <= 0:
                yield change._replace(left_out=True)
                continue
            standing = list(self._standing_writes(seq, operation, field)) if operation.base else []
            best = max(standing, key=lambda earlier: earlier.source.order, default=None)
            before = None if best is None else best.operation.fields[field]
            self._bytes_left -= value_bytes(before) + value_bytes(after)
            is_repeated = bool(standing) and all(
                earlier.operation.fields[field] == after for earlier in standing
            )
            yield change._replace(before=before, after=after, is_repeated=is_repeated)

    def standing_write(self, seq: int, operation: Operation, field: str) -> SourcedOperation | None:
        """Return the write to a field that the author of an operation saw at a feed position."""
        standing = self._standing_writes(seq, operation, field) if operation.base else ()
        return max(standing, key=lambda earlier: earlier.source.order, default=None)

    def _standing_writes(self, seq: int, operation: Operation, field: str) -> Iterator[SourcedOperation]:
        """Yield the writes to a field that stood for the author of an operation at a feed position.

        Goes back through the history of the entity as far as what was overwritten does not cover it, which
        is a few commits, however many there are.
        """
        base, chains = operation.base, self._snapshot.log
        overwritten = GrowingClock()
        floor, count = 0.0, 0
        while seq > floor:
            below = _newest_naming(self._snapshot, operation.entity, field, base, (floor, seq))
            if below is None:
                return
            seq = below
            earlier = self._operation_at(seq, operation.entity)
            if field not in earlier.operation.fields or not self._liveness.is_live(earlier):
                continue
            if not overwritten.covers(earlier.head, chains):
                yield earlier
            for head in earlier.operation.base:
                overwritten.add(head, chains)
            count += 1
            # Of many writes made apart, each would ask anew about each head of a long base.
            if count & (count - 1) == 0:
                floor = self._overwritten_up_to(base, overwritten)

    def _overwritten_up_to(self, base: VectorClock, overwritten: GrowingClock) -> float:
        """Return the feed position up to which all that a base covers was overwritten."""
        log = self._snapshot.log
        floor = math.inf
        for head in base:
            if overwritten.covers(head, log):
                continue
            # What lies before a commit on its chain also comes before it in the feed.
            ends = [
                end for end in overwritten.clock if end.replica == head.replica and log.on_chain(end, head)
            ]
            floor = min(floor, max(map(log.position_of, ends), default=0))
        return floor


def _newest_naming(
    snapshot: Snapshot, entity: EntityId, field: str, base: VectorClock, between: tuple[float, int]
) -> int | None:
    """Return the newest position between two at which a commit that a base covers names a field of an entity.

    Searching the bytes of a commit costs a tenth of decoding it: most commits only touch their task.
    """
    log = snapshot.log
    rows: Any = snapshot.db.execute(
        "SELECT seq, replica, counter, hash FROM history JOIN feed USING (seq)"
        " WHERE entity = ? AND seq > ? AND seq < ? AND instr(body, ?) ORDER BY seq DESC",
        (entity, *between, field.encode()),
    )
    for seq, replica, counter, commit_hash in rows:
        if covers(base, Head(log.chains.replica_ids[replica], counter, commit_hash), log):
            return int(seq)
    return None


def operations_touching_each(
    snapshot: Snapshot, entities: Iterable[EntityId]
) -> Iterator[tuple[EntityId, list[SourcedOperation]]]:
    """Yield each of several entities with the operations on it; a commit is read once for many of them."""
    return operations_on_each(snapshot.db, entities, snapshot.log)


def operations_touching(snapshot: Snapshot, entity: EntityId, field: str = "") -> Iterator[SourcedOperation]:
    """Yield the operations on an entity, in feed order; with `field`, at least those that write it.

    The rest of their commits stays undecoded.
    """
    positions = _positions_naming(snapshot, entity, field) if field else None
    return operations_on(snapshot.db, entity, snapshot.log, positions)


def _positions_naming(snapshot: Snapshot, entity: EntityId, field: str) -> list[int]:
    """Return the positions of the commits that touched an entity and contain the name of a field somewhere.

    Searching their bytes costs a tenth of decoding them: most commits only touch their task.
    """
    rows: Any = snapshot.db.execute(
        "SELECT seq FROM history JOIN feed USING (seq) WHERE entity = ? AND instr(body, ?) ORDER BY seq",
        (entity, field.encode()),
    )
    return [seq for (seq,) in rows]
