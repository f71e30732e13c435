"""Compaction: drop long values from the log that a person overwrote long ago; what is shown stays.

Never drops what may be shown again, or what another device may still need in full.

A commit without such values keeps its hash, its place on the chain and its signature (PROTOCOL.md §4.1).
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from store.fold.entity_state import is_direct_user_write
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto import commit as commits
from syncproto.codec import Redacted
from syncproto.commit import DecodedCommit, Operation
from syncproto.ids import EntityId
from syncproto.vector_clock import GrowingClock, Head, VectorClock, covers

BEFORE_FIRST_ENTITY: Final = EntityId(b"")
"""The start of a first step: less than every id."""

COMPACTED_KINDS: Final = frozenset(
    {"task", "checklist", "checklist_item", "entry", "time_record", "link", "label", "category"}
    | {"message", "payload"}
)
"""The kinds of which only the fold is shown; others, such as decisions, are read from the log."""

# The maximum of one step, so that no other write waits long: entities examined, commits read (always all
# of an entity), values dropped.
_ENTITIES_MAX = 10_000
_READ_MAX = 500
_VALUES_MAX = 200
_PAGE = 1_000
_CACHED_COMMITS = 32  # one commit of an import made many entities


class Retention(NamedTuple):
    """What may be dropped: values from before `before_ms` (Unix time in milliseconds) that others have too.

    `other_vectors` are the vectors that the other current members are known to have; empty for a single
    device. A member of which nothing is known has the empty clock: then nothing may be dropped.
    """

    before_ms: int
    other_vectors: tuple[VectorClock, ...] = ()


class SpaceFreed(NamedTuple):
    """How many values were dropped, from how many commits that had been whole, and the bytes saved."""

    commits: int = 0
    values: int = 0
    bytes: int = 0


class CompactionStep(NamedTuple):
    """What one step freed; the next step begins after the entity `after`, None if nothing is left."""

    freed: SpaceFreed
    after: EntityId | None


_Dropped = dict[int, dict[EntityId, set[str]]]
"""The fields whose values are dropped, by feed position and entity."""


class _Placed(NamedTuple):
    """One operation of an entity with its commit."""

    seq: int
    received: DecodedCommit
    operation: Operation

    @property
    def head(self) -> Head:
        """Return the commit that the operation is in."""
        return self.received.head


def compact_step(
    tx: Transaction, retention: Retention, after: EntityId = BEFORE_FIRST_ENTITY
) -> CompactionStep:
    """Drop values from the log, a bounded step of the work in this transaction.

    Call it again with the `after` that it returned, each time in a transaction of its own, until that is
    None. It may be stopped after any step and begun again. Neither what is shown nor the state hash changes;
    no commit is made, and no peer learns of it.
    """
    search = _Search(tx, retention)
    dropped: _Dropped = {}
    read, values, identifier = 0, 0, after
    for looked, (entity, commit_count) in enumerate(_entities(tx, after)):
        if looked >= _ENTITIES_MAX or read >= _READ_MAX:
            return CompactionStep(_drop(tx, dropped), identifier)
        # Nothing can have overwritten what a single commit wrote.
        if commit_count > 1:
            read += commit_count
            for droppable in search.droppable(entity):
                if values >= _VALUES_MAX:
                    # The next step examines this entity again, and skips what was dropped by then.
                    return CompactionStep(_drop(tx, dropped), identifier)
                values += 1
                _add(dropped, entity, droppable)
        identifier = entity
    return CompactionStep(_drop(tx, dropped), None)


def estimate_step(
    snapshot: Snapshot, retention: Retention, after: EntityId = BEFORE_FIRST_ENTITY
) -> CompactionStep:
    """Return what all calls of `compact_step` would free, without writing."""
    search = _Search(snapshot, retention)
    dropped: _Dropped = {}
    for entity, commit_count in _entities(snapshot, after):
        if commit_count > 1:
            for droppable in search.droppable(entity):
                _add(dropped, entity, droppable)
    return CompactionStep(
        _sum(_redact_commit(snapshot, seq, fields)[1] for seq, fields in dropped.items()), None
    )


def _entities(snapshot: Snapshot, after: EntityId) -> Iterator[tuple[EntityId, int]]:
    """Yield the entities whose ids follow `after`, by id, each with how many commits wrote it."""
    while True:
        rows: Any = snapshot.db.execute(
            "SELECT entity, count(*) FROM history WHERE entity > ? GROUP BY entity ORDER BY entity LIMIT ?",
            (after, _PAGE),
        )
        page = rows.fetchall()
        yield from page
        if len(page) < _PAGE:
            return
        after = page[-1][0]


def _add(dropped: _Dropped, entity: EntityId, droppable: tuple[int, str]) -> None:
    """Add one value, named by feed position and field, to what is dropped."""
    seq, field = droppable
    dropped.setdefault(seq, {}).setdefault(entity, set()).add(field)


class _Search:
    """The search for values that may be dropped."""

    def __init__(self, snapshot: Snapshot, retention: Retention) -> None:
        self._snapshot = snapshot
        self._log = snapshot.log
        self._before_ms = retention.before_ms
        # A head that the log lacks covers nothing: its chain is unknown here.
        self._other_clocks = [
            tuple(head for head in clock if self._log.has_commit(head)) for clock in retention.other_vectors
        ]
        self._at = lru_cache(_CACHED_COMMITS)(self._log.commit_at)

    def droppable(self, entity: EntityId) -> Iterator[tuple[int, str]]:
        """Yield the values of an entity that may be dropped: feed position and field."""
        covered: dict[str, GrowingClock] = {}
        # In the feed, a write comes after all that it has seen. So what covers a value is met before the
        # value.
        for placed in self._newest_first(entity):
            if placed.received.commit.stamp.ms < self._before_ms and placed.operation.kind in COMPACTED_KINDS:
                for field, value in placed.operation.fields.items():
                    if not commits.is_long(value) or field not in covered:
                        continue
                    if covered[field].covers(placed.head, self._log):
                        yield placed.seq, field
            if is_direct_user_write(placed.operation) and self._all_have(placed.head):
                # A person overwrote what this base covers, having seen it, and every member has that write.
                # The write of a person stays live. A confirmation may be undone, and then what it covered
                # shows again: so it covers nothing here.
                for field in placed.operation.fields:
                    clock = covered.setdefault(field, GrowingClock())
                    for head in placed.operation.base:
                        clock.add(head, self._log)

    def _newest_first(self, entity: EntityId) -> Iterator[_Placed]:
        """Yield the operations on an entity, the last in the feed first."""
        rows: Any = self._snapshot.db.execute(
            "SELECT seq FROM history WHERE entity = ? ORDER BY seq DESC", (entity,)
        )
        for (seq,) in rows.fetchall():
            received = self._at(seq)
            for operation in received.commit.operations:
                if operation.entity == entity:
                    yield _Placed(seq, received, operation)

    def _all_have(self, head: Head) -> bool:
        """Return whether every other member is known to have a commit."""
        return all(covers(clock, head, self._log) for clock in self._other_clocks)


def _redact_commit(
    snapshot: Snapshot, seq: int, fields: Mapping[EntityId, set[str]]
) -> tuple[bytes, SpaceFreed]:
    """Return the bytes that are left of a commit, and what dropping frees."""
    received = snapshot.log.commit_at(seq)
    body = commits.redact_values(received.commit, fields)
    values = (value for operation in received.commit.operations for value in operation.fields.values())
    is_whole = not any(isinstance(value, Redacted) for value in values)
    saved = len(received.signed.body) - len(body)
    return body, SpaceFreed(int(is_whole), sum(map(len, fields.values())), saved)


def _drop(tx: Transaction, dropped: _Dropped) -> SpaceFreed:
    """Replace the commits by what is left of them, each once."""
    freed = []
    for seq, fields in sorted(dropped.items()):
        body, space_freed = _redact_commit(tx, seq, fields)
        tx.log.replace_body(seq, body)
        freed.append(space_freed)
    return _sum(freed)


def _sum(freed: Iterable[SpaceFreed]) -> SpaceFreed:
    space_freeds = list(freed)
    return SpaceFreed(
        sum(space_freed.commits for space_freed in space_freeds),
        sum(space_freed.values for space_freed in space_freeds),
        sum(space_freed.bytes for space_freed in space_freeds),
    )
