"""One consistent view of the store, for reading.

Never writes; a Transaction is a Snapshot that also does.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import apsw

from store import proposals
from store.entity import Entity
from store.fold import load
from store.item import Decision, Item, decision, occurrence
from store.log import Log
from store.pages import FeedPage, page
from store.search import NAME_DIGITS
from store.verdicts import Standing, Status
from syncproto.commit import By, Received
from syncproto.heads import Clock
from syncproto.ids import DeviceId, EntityId, ReplicaId, text
from syncproto.keys import device_id

PREFIX_MIN = 3
COMMITS_READ = 32


class Counts(NamedTuple):
    """How much the store holds."""

    entities: int
    commits: int


class Snapshot:
    """Reads on one connection, inside one transaction that the caller opened."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    @property
    def db(self) -> apsw.Connection:
        """Return the connection."""
        return self._db

    @cached_property
    def log(self) -> Log:
        """Return the commit log."""
        return Log(self.db)

    def _standing(self, column: str) -> object:
        row = self.db.execute(f"SELECT {column} FROM standing").fetchone()
        assert row is not None
        return row[0]

    # -- the store itself -----------------------------------------------------------------------------

    @property
    def device(self) -> DeviceId:
        """Return the device that this store belongs to."""
        return DeviceId(self._standing("device"))  # type: ignore[arg-type]

    @property
    def replica(self) -> ReplicaId | None:
        """Return the replica that this store writes as, None before its first write."""
        return self._standing("replica")  # type: ignore[return-value]

    def vault(self) -> bytes | None:
        """Return the id of the vault, None before the first start is over."""
        return self._standing("vault")  # type: ignore[return-value]

    def vector(self) -> Clock:
        """Return what this store holds."""
        return self.log.vector()

    def state_hash(self) -> bytes:
        """Return the hash over all folded entities: equal vectors mean equal hashes. 32 bytes."""
        return self._standing("state_sum")  # type: ignore[return-value]

    def counts(self) -> Counts:
        """Return how many entities and commits there are."""
        return Counts(int(self._standing("entities")), self.log.end())  # type: ignore[call-overload]

    def device_of(self, replica: ReplicaId) -> DeviceId:
        """Return the device that wrote as `replica`."""
        return device_id(self.log.key(replica))

    # -- the feed -------------------------------------------------------------------------------------

    def feed_end(self) -> int:
        """Return the position of the newest commit, 0 where there is none."""
        return self.log.end()

    def feed(self, after: int, limit: int) -> list[tuple[int, Received]]:
        """Return commits after a feed position, each with its position, decoded."""
        return [(entry.seq, self.log.readable(entry)) for entry in self.log.commits(after, limit)]

    def page(self, vector: Clock, after: int, bytes_max: int) -> FeedPage:
        """Return what a peer with this vector lacks beyond a feed position, up to about `bytes_max`."""
        return page(self.log, vector, after, bytes_max)

    def lag(self, vector: Clock) -> int:
        """Return how many commits a peer with this vector is known to lack."""
        return self.log.lag(vector)

    def watermark(self, consumer: str) -> int:
        """Return how far a consumer on this device has read the feed."""
        row = self.db.execute("SELECT seq FROM watermark WHERE consumer = ?", (consumer,)).fetchone()
        return 0 if row is None else int(row[0])

    # -- entities -------------------------------------------------------------------------------------

    def entity(self, entity: EntityId) -> Entity | None:
        """Return an entity, also one out of sight; None where no operation on it is held."""
        row = self.db.execute("SELECT visible, state FROM entity WHERE id = ?", (entity,)).fetchone()
        return None if row is None else Entity(entity, load(row[1]), bool(row[0]))

    def entities(self, kind: str, removed: bool = False) -> list[Entity]:
        """Return the entities of a kind that are in sight (or, `removed`, those that are not), by id."""
        rows = self.db.execute(
            "SELECT id, state FROM entity WHERE kind = ? AND visible = ? ORDER BY id",
            (kind, int(not removed)),
        )
        return [Entity(name, load(state), not removed) for name, state in rows]

    def holds_kind(self, kind: str) -> bool:
        """Say whether there is any entity of a kind, in sight or not."""
        row: Any = self.db.execute("SELECT EXISTS (SELECT 1 FROM entity WHERE kind = ?)", (kind,)).fetchone()
        return bool(row[0])

    def disputed(self, kind: str) -> Iterator[Entity]:
        """Yield the entities of a kind that are in sight with something to settle, by id."""
        rows: Any = self.db.execute(
            "SELECT id, state FROM entity WHERE disputed AND kind = ? ORDER BY id", (kind,)
        )
        for name, state in rows:
            yield Entity(name, load(state), visible=True)

    def disputed_kinds(self) -> list[str]:
        """Return the kinds of which something is in sight with something to settle."""
        rows: Any = self.db.execute("SELECT DISTINCT kind FROM entity WHERE disputed ORDER BY kind")
        return [kind for (kind,) in rows]

    def in_order(
        self, kind: str, *, removed: bool, closed: bool, after: EntityId | None, limit: int
    ) -> list[tuple[EntityId, bytes]]:
        """Return states of a kind in order of their making, those beyond `after`, at most `limit`.

        In sight or else `removed`; `closed` takes those that are over too. Costs what it returns.
        """
        one = "SELECT made_ms, made_n, id, state FROM entity WHERE kind = ?1 AND visible = ?2 AND closed = "
        beyond = " AND (made_ms, made_n) >= (?3, ?4) AND (made_ms, made_n, id) > (?3, ?4, ?5)"
        parts = [f"{one}{part}{beyond}" for part in ((0, 1) if closed else (0,))]
        rows: Any = self.db.execute(
            " UNION ALL ".join(parts) + " ORDER BY 1, 2, 3 LIMIT ?6",
            (kind, int(not removed), *self._made(after), limit),
        )
        return [(name, state) for _, _, name, state in rows]

    def _made(self, entity: EntityId | None) -> tuple[int, int, EntityId]:
        """Return an entity's place in the order of making; before the first for None or one not held."""
        row: Any = None
        if entity is not None:
            row = self.db.execute("SELECT made_ms, made_n, id FROM entity WHERE id = ?", (entity,)).fetchone()
        return row or (-1, 0, EntityId(b""))

    def with_prefix(self, kinds: Sequence[str], prefix: str, limit: int) -> list[EntityId]:
        """Return ids of these kinds whose text form begins with `prefix`, at most `limit`, by id."""
        if not prefix.isalnum():
            return []
        word, more = prefix[:NAME_DIGITS], "" if len(prefix) > NAME_DIGITS else "*"
        rows: Any = self.db.execute(
            "SELECT id, kind FROM search JOIN entity ON no = search.rowid WHERE search MATCH ?",
            (f'name : "{word}"{more}',),
        )
        found = sorted(name for name, kind in rows if kind in kinds and text(name).startswith(prefix))
        return found[:limit]

    def referring(self, target: EntityId, relation: str, removed: bool = False) -> list[EntityId]:
        """Return the entities in sight (`removed`: all) whose field points at `target`, by id."""
        rows = self.db.execute(
            "SELECT owner FROM relation JOIN entity ON entity.id = owner"
            " WHERE target = ? AND name = ? AND (visible OR ?) ORDER BY owner",
            (target, relation, removed),
        )
        return [owner for (owner,) in rows]

    def newest_referring(
        self, target: EntityId, relation: str, limit: int, before: EntityId | None = None
    ) -> list[EntityId]:
        """Return what points at `target`, in sight or not, the newest ids (beyond `before`) first.

        Costs what it returns: ids begin with the time of their making.
        """
        rows = self.db.execute(
            "SELECT owner FROM relation WHERE target = ?1 AND name = ?2 AND (?3 IS NULL OR owner < ?3)"
            " ORDER BY owner DESC LIMIT ?4",
            (target, relation, before, limit),
        )
        return [owner for (owner,) in rows]

    def below(self, targets: Sequence[EntityId], relation: str) -> list[tuple[EntityId, Entity]]:
        """Return the entities in sight that point at one of several, each with what it points at, by id."""
        if not targets:
            return []
        rows: Any = self.db.execute(
            "SELECT target, id, state FROM relation JOIN entity ON id = owner"
            " WHERE name = ? AND target IN carray(?) AND visible ORDER BY id",
            (relation, apsw.carray(tuple(targets))),
        )
        return [(target, Entity(name, load(state), visible=True)) for target, name, state in rows]

    # -- change items ---------------------------------------------------------------------------------

    def item(self, item: EntityId) -> Item | None:
        """Return a change item, None where it was never proposed.

        Its occurrences are in order of their stamps, which is the same on every device.
        """
        return self._item(item, lru_cache(COMMITS_READ)(self.log.at))

    def _item(self, item: EntityId, at: Callable[[int], Received]) -> Item | None:
        rows: Any = self.db.execute(
            "SELECT change_set, position, fingerprint, seq FROM proposal WHERE item = ?", (item,)
        )
        found = []
        for change_set, position, fingerprint, seq in rows.fetchall():
            received = at(seq)
            operation = next(one for one in received.commit.operations if one.entity == change_set)
            place = (received.commit.stamp, received.head, change_set, position)
            found.append((place, fingerprint, occurrence(operation, position, received.commit.stamp.ms)))
        if not found:
            return None
        found.sort(key=lambda one: one[0])
        standing = proposals.standing(self.db, item)
        occurrences = tuple(one for _, _, one in found)
        return Item(item, found[0][1], standing, occurrences, self._decisions(item, at))

    def _decisions(self, item: EntityId, at: Callable[[int], Received]) -> tuple[Decision, ...]:
        rows: Any = self.db.execute("SELECT seq FROM opinion WHERE item = ? ORDER BY seq", (item,))
        seqs = [seq for (seq,) in rows]
        held = proposals.opinions(self.db, item)
        return tuple(decision(at(seq), one, self.log) for seq, one in zip(seqs, held, strict=True))

    def standing(self, item: EntityId) -> Standing:
        """Return what the decisions on an item amount to; undecided where nothing is known of it."""
        return proposals.standing(self.db, item)

    def items(self, task: EntityId | None = None) -> list[Item]:
        """Return the change items of a task, or all, in the order in which they were first proposed."""
        rows = self.db.execute(
            "SELECT item FROM proposal WHERE ?1 IS NULL OR task = ?1"
            " GROUP BY item ORDER BY min(seq), position",
            (task,),
        )
        return self._items([item for (item,) in rows])

    def items_that_are(self, status: Status, task: EntityId) -> list[Item]:
        """Return the change items of a task whose decisions amount to this, as `items` orders them.

        Costs those, and not all that was proposed.
        """
        rows = self.db.execute(
            "SELECT item FROM proposal CROSS JOIN item ON item = id WHERE task = ? AND status = ?"
            " GROUP BY item ORDER BY min(seq), position",
            (task, status.value),
        )
        return self._items([item for (item,) in rows])

    def open_items(self, now_ms: int, task: EntityId | None = None) -> list[Item]:
        """Return the items that wait (undecided and not expired, deferred, disputed), as `items` orders them.

        Costs those, or what was proposed on the task, and not all that was ever proposed.
        """
        joined = "item CROSS JOIN proposal" if task is None else "proposal CROSS JOIN item"
        rows: Any = self.db.execute(
            f"SELECT item FROM {joined} ON item = id"
            " WHERE (disputed OR status IN ('pending', 'deferred')) AND until_ms > ?"
            + ("" if task is None else " AND task = ?")
            + " GROUP BY item ORDER BY min(seq), position",
            (now_ms,) if task is None else (now_ms, task),
        )
        return self._items([item for (item,) in rows])

    def settled_items(self, task: EntityId, now_ms: int, limit: int) -> list[Item]:
        """Return the items of a task that a person decided last, and those that expired last, `limit` each.

        Costs a look at each of the task's items, and reads only those that it returns.
        """
        of_task = "FROM (SELECT DISTINCT item AS name FROM proposal WHERE task = ?)"
        decided: Any = self.db.execute(
            f"SELECT name {of_task} JOIN opinion ON item = name WHERE by = ? GROUP BY name"
            " ORDER BY max(seq) DESC LIMIT ?",
            (task, int(By.USER), limit),
        )
        found = [item for (item,) in decided]
        expired: Any = self.db.execute(
            f"SELECT name {of_task} JOIN item ON id = name WHERE status = ? AND until_ms <= ?"
            " ORDER BY until_ms DESC LIMIT ?",
            (task, Status.PENDING.value, now_ms, limit),
        )
        return self._items([*found, *(item for (item,) in expired)])

    def items_of_set(self, change_set: EntityId) -> list[Item]:
        """Return the items of a change set, in its order."""
        rows = self.db.execute(
            "SELECT item FROM proposal WHERE change_set = ? GROUP BY item ORDER BY min(position)",
            (change_set,),
        )
        return self._items([item for (item,) in rows])

    def items_like(self, fingerprint: bytes) -> list[EntityId]:
        """Return the items that say that they propose the same, in the order of the first times."""
        rows: Any = self.db.execute(
            "SELECT item FROM proposal WHERE fingerprint = ? GROUP BY item ORDER BY min(seq)", (fingerprint,)
        )
        return [item for (item,) in rows]

    def _items(self, ids: list[EntityId]) -> list[Item]:
        # Those of a set are in one commit: it is read once for all of them.
        at = lru_cache(COMMITS_READ)(self.log.at)
        return [item for name in ids if (item := self._item(name, at)) is not None]
