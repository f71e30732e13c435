"""Compaction: long values that a person's own words have long covered leave the log; what is shown stays.

Never drops what might have to show again, or what another device could still need in full.

Such a commit keeps its hash, its place on the chain and its signature (PROTOCOL.md, §4.1).
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from store.fold import is_person
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto import commit as commits
from syncproto.codec import Redacted
from syncproto.commit import Operation, Received
from syncproto.heads import EMPTY, Clock, Head, covers, union
from syncproto.ids import EntityId

START: Final = EntityId(b"")

KINDS: Final = frozenset(
    {"task", "checklist", "checklist_item", "entry", "time_record", "link", "label", "category"}
)
"""The kinds of which nothing but the fold is shown; others, such as decisions, are read from the log."""

# What one step does at most, so that no other write waits long: entities looked at, commits read (of one
# entity always all), values dropped.
_ENTITIES_MAX = 10_000
_READ_MAX = 500
_VALUES_MAX = 200
_PAGE = 1_000
_CACHED_COMMITS = 32  # one commit of an import made many entities


class Retention(NamedTuple):
    """What may go: what was written before `before_ms` (Unix time in milliseconds) and others hold as well.

    `held` is the version vector that each other current member is known to hold; none for a lone device. A
    member of which nothing is known is the empty clock: then nothing may go.
    """

    before_ms: int
    held: tuple[Clock, ...] = ()


class Freed(NamedTuple):
    """How many values went, from how many commits that had been whole, and how many bytes that saves."""

    commits: int = 0
    values: int = 0
    bytes: int = 0


class Step(NamedTuple):
    """What one step freed; `after` is where the next goes on, None where there is no more to look at."""

    freed: Freed
    after: EntityId | None


_Dropped = dict[int, dict[EntityId, set[str]]]
"""By feed position and entity, the fields of which the values go."""


class _Placed(NamedTuple):
    """One operation of an entity with its commit."""

    seq: int
    received: Received
    operation: Operation

    @property
    def head(self) -> Head:
        """Return the commit that the operation is in."""
        return self.received.head


def compact(tx: Transaction, retention: Retention, after: EntityId = START) -> Step:
    """Drop what may go from the log, a bounded step of the work in this transaction.

    Call it again, each time in a transaction of its own, with the `after` that it gave, until that is None.
    It may be stopped anywhere and begun again. Nothing that is shown changes, nor the state hash: no commit
    is made, nobody is told.
    """
    search = _Search(tx, retention)
    dropped: _Dropped = {}
    read, values, done = 0, 0, after
    for looked, (entity, touches) in enumerate(_entities(tx, after)):
        if looked >= _ENTITIES_MAX or read >= _READ_MAX:
            return Step(_drop(tx, dropped), done)
        if touches > 1:
            read += touches
            for found in search.droppable(entity):
                if values >= _VALUES_MAX:
                    # The rest of this entity comes up in the next step: what has gone by then is passed over.
                    return Step(_drop(tx, dropped), done)
                values += 1
                _enter(dropped, entity, found)
        done = entity
    return Step(_drop(tx, dropped), None)


def survey(snapshot: Snapshot, retention: Retention, after: EntityId = START) -> Step:
    """Say what `compact` would free, all steps at once, without writing."""
    search = _Search(snapshot, retention)
    dropped: _Dropped = {}
    for entity, touches in _entities(snapshot, after):
        if touches > 1:
            for found in search.droppable(entity):
                _enter(dropped, entity, found)
    return Step(_sum(_redacted(snapshot, seq, fields)[1] for seq, fields in dropped.items()), None)


def _entities(snapshot: Snapshot, after: EntityId) -> Iterator[tuple[EntityId, int]]:
    """Yield the entities beyond one, by id, each with how many commits touched it."""
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


def _enter(dropped: _Dropped, entity: EntityId, found: tuple[int, str]) -> None:
    seq, field = found
    dropped.setdefault(seq, {}).setdefault(entity, set()).add(field)


class _Search:
    """Finds the values that may go."""

    def __init__(self, snapshot: Snapshot, retention: Retention) -> None:
        self._snapshot = snapshot
        self._log = snapshot.log
        self._before_ms = retention.before_ms
        # Of a chain that is not held here nobody can say what it covers.
        self._held = [tuple(head for head in clock if self._log.holds(head)) for clock in retention.held]
        self._at = lru_cache(_CACHED_COMMITS)(self._log.at)

    def droppable(self, entity: EntityId) -> Iterator[tuple[int, str]]:
        """Yield the values of an entity that may go: feed position and field."""
        covered: dict[str, Clock] = {}
        for one in self._newest_first(entity):
            if one.received.commit.stamp.ms < self._before_ms and one.operation.kind in KINDS:
                for field, value in one.operation.fields.items():
                    if commits.is_long(value) and covers(covered.get(field, EMPTY), one.head, self._log):
                        yield one.seq, field
            if is_person(one.operation) and self._all_hold(one.head):
                # A person wrote over what is in this base, having seen it, and everyone holds that, so both.
                # What a person wrote is live for good. What a confirmation wrote is not: undone, it shows
                # again what it covered.
                for field in one.operation.fields:
                    covered[field] = union(covered.get(field, EMPTY), one.operation.base, self._log)

    def _newest_first(self, entity: EntityId) -> Iterator[_Placed]:
        rows: Any = self._snapshot.db.execute(
            "SELECT seq FROM history WHERE entity = ? ORDER BY seq DESC", (entity,)
        )
        for (seq,) in rows.fetchall():
            received = self._at(seq)
            for operation in received.commit.operations:
                if operation.entity == entity:
                    yield _Placed(seq, received, operation)

    def _all_hold(self, head: Head) -> bool:
        return all(covers(clock, head, self._log) for clock in self._held)


def _redacted(snapshot: Snapshot, seq: int, fields: Mapping[EntityId, set[str]]) -> tuple[bytes, Freed]:
    """Return what is left of a commit, and what that frees."""
    received = snapshot.log.at(seq)
    body = commits.redact(received.commit, fields)
    values = (value for one in received.commit.operations for value in one.fields.values())
    whole = not any(isinstance(value, Redacted) for value in values)
    saved = len(received.signed.body) - len(body)
    return body, Freed(int(whole), sum(map(len, fields.values())), saved)


def _drop(tx: Transaction, dropped: _Dropped) -> Freed:
    """Write what is left of the commits, each once."""
    freed = []
    for seq, fields in sorted(dropped.items()):
        body, one = _redacted(tx, seq, fields)
        tx.log.shorten(seq, body)
        freed.append(one)
    return _sum(freed)


def _sum(freed: Iterable[Freed]) -> Freed:
    every = list(freed)
    return Freed(
        sum(one.commits for one in every), sum(one.values for one in every), sum(one.bytes for one in every)
    )
