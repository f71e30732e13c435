"""One consistent view of the store, for reading.

Never writes; a Transaction is a Snapshot that also does.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import apsw

from store.file.errors import DamagedDatabase
from store.fold import proposal_index
from store.fold.entity import Entity
from store.fold.entity_state import load_state
from store.fold.item import Decision, Item, read_decision, read_occurrence
from store.fold.item_name import Requirement
from store.fold.list_columns import ListOrder
from store.fold.presence import PresenceIndex
from store.fold.verdicts import DecisionStatus, ItemStatus, Opinion
from store.fold.word_index import ID_WORD_DIGITS
from store.log.commit_log import CommitLog
from store.log.head_memory import HeadMemory
from store.log.pages import FeedPage, page_again, page_lacking
from store.log.reader_memory import ReaderMemory
from syncproto import hlc
from syncproto.commit import AuthorKind, DecodedCommit
from syncproto.head_set import HeadSet
from syncproto.hlc import Stamp
from syncproto.ids import DeviceId, EntityId, ReplicaId, id_to_text
from syncproto.keys import device_id_of_key
from syncproto.vector_clock import Head, VectorClock

ID_PREFIX_CHARS_MIN = 3
COMMITS_READ = 32


class StoreCounts(NamedTuple):
    """How many entities and commits a store has."""

    entities: int
    commits: int


class Snapshot:
    """Reads on one connection, inside one transaction that the caller opened.

    All that it returns belongs to one moment, whatever others write meanwhile.
    """

    def __init__(
        self,
        db: apsw.Connection,
        memory: HeadMemory | None = None,
        readers: ReaderMemory | None = None,
        damage: DamagedDatabase | None = None,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self._db = db
        self.damage = damage
        """What was found damaged in the file before, None if nothing was."""
        self._memory = memory or HeadMemory()
        self._readers = readers
        self._clock = clock

    @property
    def db(self) -> apsw.Connection:
        """Return the connection."""
        return self._db

    @cached_property
    def log(self) -> CommitLog:
        """Return the commit log."""
        log = CommitLog(self.db, only_read=True)
        heads = self._memory.heads_at(log.feed_end())
        if heads is not None:
            log.chains.use_heads(heads)
        return log

    def _standing_column(self, column: str) -> object:
        row = self.db.execute(f"SELECT {column} FROM standing").fetchone()
        assert row is not None
        return row[0]

    # -- the store itself -----------------------------------------------------------------------------

    @property
    def device(self) -> DeviceId:
        """Return the device that this store belongs to."""
        return DeviceId(self._standing_column("device"))  # type: ignore[arg-type]

    @property
    def replica(self) -> ReplicaId | None:
        """Return the replica under which this store writes, None before its first write."""
        return self._standing_column("replica")  # type: ignore[return-value]

    def stamp_ms_at(self, now_ms: int) -> int:
        """Return the time in the stamp of the next commit, if the clock then shows `now_ms`.

        Both are Unix time in milliseconds. The stamp never goes back, even if the clock does.
        """
        return hlc.tick(self._last_stamp(), now_ms).ms

    def clock_ms(self) -> int | None:
        """Return the time by the clock of the device, Unix time in milliseconds; None without a clock."""
        return None if self._clock is None else self._clock()

    def shown_ms(self, stamp_ms: int) -> int:
        """Return when something was stamped as it is shown, Unix time in milliseconds: never later than now.

        A stamp ahead is that of a clock that was wrong once: it orders, and dates nothing. Without a clock,
        as in a file that is no store of this device, it is the stamp.
        """
        return stamp_ms if self._clock is None else min(stamp_ms, self._clock())

    def _last_stamp(self) -> Stamp:
        row = self.db.execute("SELECT stamp_ms, stamp_n FROM standing").fetchone()
        assert row is not None
        return Stamp(*row)

    def vault(self) -> bytes | None:
        """Return the id of the vault, None until the first start has ended."""
        return self._standing_column("vault")  # type: ignore[return-value]

    def vector(self) -> VectorClock:
        """Return the heads of all commits of this store. Costs a sort: see `heads`."""
        return self.heads().clock

    def heads(self) -> HeadSet:
        """Return the same, as the sessions of links compare it."""
        heads = self.log.chains.heads()
        self._memory.remember(self.log.feed_end(), heads)
        return heads

    def state_hash(self) -> bytes:
        """Return the hash over all folded entities (32 bytes): equal vectors mean equal hashes."""
        return self._standing_column("state_sum")  # type: ignore[return-value]

    def counts(self) -> StoreCounts:
        """Return how many entities and commits there are."""
        return StoreCounts(int(self._standing_column("entities")), self.log.feed_end())  # type: ignore[call-overload]

    def device_of(self, replica: ReplicaId) -> DeviceId:
        """Return the device that a replica belongs to."""
        return device_id_of_key(self.log.owner_key(replica))

    # -- the feed -------------------------------------------------------------------------------------

    def feed_end(self) -> int:
        """Return the position of the newest commit, 0 if there is none."""
        return self.log.feed_end()

    def recall(self, kind: str) -> tuple[int, object] | None:
        """Return what `remember` was given last for this kind, with its feed position; None for nothing.

        The position is that of this snapshot or an earlier one.
        """
        return None if self._readers is None else self._readers.latest(kind, self.feed_end())

    def remember(self, kind: str, value: object) -> None:
        """Keep a value that follows from the commits alone for the snapshots at the same feed position."""
        if self._readers is not None:
            self._readers.remember(kind, self.feed_end(), value)

    def read_feed(self, after: int, limit: int) -> list[tuple[int, DecodedCommit]]:
        """Return at most `limit` commits after a feed position, each with its position."""
        return [(entry.seq, self.log.decode_entry(entry)) for entry in self.log.feed_commits(after, limit)]

    def page_lacking(self, peer: Iterable[Head], after: int, bytes_max: int) -> FeedPage:
        """Return what a peer with these heads lacks beyond a feed position, up to about `bytes_max`."""
        return page_lacking(self.log, peer, after, bytes_max)

    def page_again(self, heads: VectorClock, after: int, bytes_max: int) -> FeedPage:
        """Return a page of commits that a peer has already, as this store has them now."""
        return page_again(self.log, heads, after, bytes_max)

    def count_behind(self, vector: Iterable[Head]) -> int:
        """Return how many commits a peer with this vector is known to lack."""
        return self.log.count_behind(vector)

    def watermark(self, consumer: str) -> int:
        """Return the feed position up to which a consumer on this device has read, 0 for an unknown one."""
        row = self.db.execute("SELECT seq FROM watermark WHERE consumer = ?", (consumer,)).fetchone()
        return 0 if row is None else int(row[0])

    # -- entities -------------------------------------------------------------------------------------

    def entity(self, entity: EntityId) -> Entity | None:
        """Return an entity, visible or not; None if the log has no operation on it."""
        row = self.db.execute("SELECT visible, state FROM entity WHERE id = ?", (entity,)).fetchone()
        return None if row is None else Entity(entity, load_state(row[1]), bool(row[0]))

    def entities(self, kind: str, removed: bool = False) -> list[Entity]:
        """Return the visible entities of a kind, or those that are not if `removed`, by id."""
        rows = self.db.execute(
            "SELECT id, state FROM entity WHERE kind = ? AND visible = ? ORDER BY id",
            (kind, int(not removed)),
        )
        return [Entity(entity, load_state(state), not removed) for entity, state in rows]

    def has_kind(self, kind: str) -> bool:
        """Return whether there is any entity of a kind, visible or not."""
        row: Any = self.db.execute("SELECT EXISTS (SELECT 1 FROM entity WHERE kind = ?)", (kind,)).fetchone()
        return bool(row[0])

    def has_visible(self, kind: str) -> bool:
        """Return whether there is a visible entity of a kind."""
        row: Any = self.db.execute(
            "SELECT EXISTS (SELECT 1 FROM entity WHERE kind = ? AND visible)", (kind,)
        ).fetchone()
        return bool(row[0])

    def disputed_entities(self, kind: str) -> Iterator[Entity]:
        """Yield the visible entities of a kind that have something to settle, by id."""
        rows: Any = self.db.execute(
            "SELECT id, state FROM entity WHERE disputed AND kind = ? ORDER BY id", (kind,)
        )
        for entity, state in rows:
            yield Entity(entity, load_state(state), visible=True)

    def disputed_kinds(self) -> list[str]:
        """Return the kinds of the visible entities that have something to settle."""
        rows: Any = self.db.execute("SELECT DISTINCT kind FROM entity WHERE disputed ORDER BY kind")
        return [kind for (kind,) in rows]

    def states_in_order(
        self,
        kind: str,
        order: ListOrder = ListOrder.OLDEST,
        *,
        removed: bool,
        closed: bool,
        after: EntityId | tuple[Any, ...] | None,
        limit: int,
        begun_by: str | None = None,
    ) -> list[tuple[EntityId, bytes]]:
        """Return at most `limit` states of a kind in an order; see `places_in_order`."""
        which: dict[str, Any] = {"removed": removed, "closed": closed, "begun_by": begun_by, "limit": limit}
        places = self.places_in_order(kind, order, after=after, **which)
        return [(place[-1], state) for place, state in places]

    def places_in_order(
        self,
        kind: str,
        order: ListOrder,
        *,
        removed: bool,
        closed: bool,
        after: EntityId | tuple[Any, ...] | None,
        limit: int,
        begun_by: str | None = None,
        among: Sequence[int] | None = None,
    ) -> list[tuple[tuple[Any, ...], bytes]]:
        """Return at most `limit` states of a kind in an order, each with its place, beginning after `after`.

        A place is what is sorted by, and the id at its end; `after` is an entity, or a place. They are in
        sight, or not if `removed`; with `closed`, closed too; with `begun_by`, a day, no open tasks in sight
        whose start lies behind. Costs what it returns, or the rows `among`, if only these count.
        """
        beyond, place = self._beyond(order, after)
        # An index of one kind is taken if the kind is spelled out; each value of `closed` is a range of it.
        select = (
            f"SELECT {', '.join(order.columns)}, id, state FROM entity"
            f" WHERE kind = {apsw.format_sql_value(kind)} AND visible = {int(not removed)} AND closed = "
        )
        begun = "" if begun_by is None or removed else f" AND start <= {apsw.format_sql_value(begun_by)}"
        listed = "" if among is None else f" AND no IN ({', '.join(map(str, among))})"
        parts = [f"{select}0{begun}{beyond}{listed}", *([f"{select}1{beyond}{listed}"] if closed else [])]
        sorting = ", ".join(f"{number + 1} {order.direction}" for number in range(len(order.columns) + 1))
        rows: Any = self.db.execute(
            f"{' UNION ALL '.join(parts)} ORDER BY {sorting} LIMIT ?", (*place * len(parts), limit)
        )
        return [(row[:-1], row[-1]) for row in rows]

    def _beyond(
        self, order: ListOrder, after: EntityId | tuple[Any, ...] | None
    ) -> tuple[str, tuple[object, ...]]:
        """Return the condition that holds for what comes after an entity in an order, and its values.

        The condition is empty without an entity, and for one that is not held.
        """
        columns = ", ".join(order.columns)
        row: Any = after if isinstance(after, tuple) else None
        if isinstance(after, bytes):
            row = self.db.execute(f"SELECT {columns}, id FROM entity WHERE id = ?", (after,)).fetchone()
        if row is None:
            return "", ()
        sign, marks = "<" if order is ListOrder.NEWEST else ">", ", ".join("?" * len(order.columns))
        # The indexes end before the id, so the place is named without it too.
        return f" AND ({columns}) {sign}= ({marks}) AND ({columns}, id) {sign} ({marks}, ?)", (
            *row[:-1],
            *row,
        )

    def ids_with_prefix(self, kinds: Sequence[str], prefix: str, limit: int) -> list[EntityId]:
        """Return at most `limit` ids of these kinds whose text form begins with `prefix`, by id."""
        if not prefix.isalnum():
            return []
        # Only the first digits of an id are a word of the index; the rest of a prefix is compared here.
        word, more = prefix[:ID_WORD_DIGITS], "" if len(prefix) > ID_WORD_DIGITS else "*"
        rows: Any = self.db.execute(
            "SELECT id, kind FROM search JOIN entity ON no = search.rowid WHERE search MATCH ?",
            (f'name : "{word}"{more}',),
        )
        matches = sorted(
            entity for entity, kind in rows if kind in kinds and id_to_text(entity).startswith(prefix)
        )
        return matches[:limit]

    def ids_pointing_at(self, target: EntityId, relation: str, removed: bool = False) -> list[EntityId]:
        """Return the visible entities (all, if `removed`) whose field points at `target`, by id."""
        rows = self.db.execute(
            "SELECT owner FROM relation JOIN entity ON entity.id = owner"
            " WHERE target = ? AND name = ? AND (visible OR ?) ORDER BY owner",
            (target, relation, removed),
        )
        return [owner for (owner,) in rows]

    def newest_ids_pointing_at(
        self, target: EntityId, relation: str, limit: int, before: EntityId | None = None
    ) -> list[EntityId]:
        """Return the entities that point at `target`, visible or not, the newest first, older than `before`.

        Costs what it returns: ids begin with the time of creation.
        """
        rows = self.db.execute(
            "SELECT owner FROM relation WHERE target = ?1 AND name = ?2 AND (?3 IS NULL OR owner < ?3)"
            " ORDER BY owner DESC LIMIT ?4",
            (target, relation, before, limit),
        )
        return [owner for (owner,) in rows]

    def entities_pointing_at_any(
        self, targets: Sequence[EntityId], relation: str
    ) -> list[tuple[EntityId, Entity]]:
        """Return the visible entities that point at one of several targets, each with its target, by id."""
        if not targets:
            return []
        rows: Any = self.db.execute(
            "SELECT target, id, state FROM relation JOIN entity ON id = owner"
            " WHERE name = ? AND target IN carray(?) AND visible ORDER BY id",
            (relation, apsw.carray(tuple(targets))),
        )
        return [(target, Entity(entity, load_state(state), visible=True)) for target, entity, state in rows]

    # -- change items ---------------------------------------------------------------------------------

    def item(self, item: EntityId) -> Item | None:
        """Return a change item, None if it was never proposed.

        Its occurrences are in the order of their stamps, which is the same on every device.
        """
        return self._item(item, lru_cache(COMMITS_READ)(self.log.commit_at))

    def _item(self, item: EntityId, commit_at: Callable[[int], DecodedCommit]) -> Item | None:
        rows: Any = self.db.execute(
            "SELECT change_set, position, fingerprint, seq FROM proposal WHERE item = ?", (item,)
        )
        proposals = []
        for change_set, position, fingerprint, seq in rows.fetchall():
            received = commit_at(seq)
            operation = next(
                candidate for candidate in received.commit.operations if candidate.entity == change_set
            )
            order = (received.commit.stamp, received.head, change_set, position)
            signer = device_id_of_key(self.log.key_of_commit(received.head))
            occurrence = read_occurrence(operation, position, received.commit.stamp.ms, signer)
            proposals.append((order, fingerprint, occurrence))
        if not proposals:
            return None
        proposals.sort(key=lambda proposal: proposal[0])
        status = proposal_index.read_item_status(self.db, item)
        occurrences = tuple(occurrence for _, _, occurrence in proposals)
        decisions = self._decisions(item, commit_at)
        return Item(item, proposals[0][1], status, occurrences, decisions, self.requirement_of(item))

    def requirement_of(self, item: EntityId) -> Requirement | None:
        """Return what a verdict on an item or an ask needs; None if every verdict of a person counts."""
        return PresenceIndex(self.db).requirement(item)

    def has_passkey(self) -> bool:
        """Return whether a person has registered a passkey for verdicts."""
        return PresenceIndex(self.db).has_passkey()

    def _decisions(self, item: EntityId, commit_at: Callable[[int], DecodedCommit]) -> tuple[Decision, ...]:
        rows: Any = self.db.execute("SELECT seq FROM opinion WHERE item = ? ORDER BY seq", (item,))
        seqs = [seq for (seq,) in rows]
        opinions = proposal_index.opinions_on(self.db, item)
        return tuple(
            read_decision(commit_at(seq), opinion, self.log)
            for seq, opinion in zip(seqs, opinions, strict=True)
        )

    def decisions_on(self, item: EntityId) -> tuple[Decision, ...]:
        """Return the decisions on an item or an ask in full, in feed order, those too that do not count."""
        return self._decisions(item, self.log.commit_at)

    def opinions_on(self, item: EntityId) -> list[Opinion]:
        """Return the decisions on an item, in feed order, also if it is not known what it proposes."""
        return proposal_index.opinions_on(self.db, item)

    def item_status(self, item: EntityId) -> ItemStatus:
        """Return the status of an item by its decisions; undecided if the item is unknown."""
        return proposal_index.read_item_status(self.db, item)

    def items(self, task: EntityId | None = None) -> list[Item]:
        """Return the change items of a task, or all, in the order in which they were first proposed."""
        rows = self.db.execute(
            "SELECT item FROM proposal WHERE ?1 IS NULL OR task = ?1"
            " GROUP BY item ORDER BY min(seq), position",
            (task,),
        )
        return self._items([item for (item,) in rows])

    def items_with_status(self, status: DecisionStatus, task: EntityId) -> list[Item]:
        """Return the change items of a task with this status, in the order of `items`.

        Costs what it returns, and not all that was ever proposed.
        """
        rows = self.db.execute(
            "SELECT item FROM proposal CROSS JOIN item ON item = id WHERE task = ? AND status = ?"
            " GROUP BY item ORDER BY min(seq), position",
            (task, status.value),
        )
        return self._items([item for (item,) in rows])

    def open_items(self, now_ms: int, task: EntityId | None = None) -> list[Item]:
        """Return the items that wait for a person, in the order of `items`.

        These are the undecided ones that are not expired, the deferred ones and the disputed ones. Costs what
        it returns, or what was proposed on the task, and not all that was ever proposed.
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

    def items_running_out(
        self, after_ms: int, until_ms: int, task: EntityId | None = None, *, limit: int
    ) -> list[Item]:
        """Return the undecided items whose time ends in the span (after, until], the last to end first.

        Costs what it returns, and a look-up per item of the span if a task is named.
        """
        rows: Any = self.db.execute(
            "SELECT id FROM item WHERE (disputed OR status IN ('pending', 'deferred'))"
            " AND until_ms > ? AND until_ms <= ?"
            + (
                ""
                if task is None
                else " AND EXISTS (SELECT 1 FROM proposal WHERE proposal.task = ? AND item = id)"
            )
            + " ORDER BY until_ms DESC LIMIT ?",
            (after_ms, until_ms, *(() if task is None else (task,)), limit),
        )
        return self._items([item for (item,) in rows])

    def settled_items(self, task: EntityId, now_ms: int, limit: int) -> list[Item]:
        """Return the items of a task that people decided last, and those that expired last, `limit` each.

        Costs a look-up per item of the task; only the items that it returns are read.
        """
        of_task = "FROM (SELECT DISTINCT item AS name FROM proposal WHERE task = ?)"
        decided: Any = self.db.execute(
            f"SELECT name {of_task} JOIN opinion ON item = name WHERE by = ? GROUP BY name"
            " ORDER BY max(seq) DESC LIMIT ?",
            (task, int(AuthorKind.USER), limit),
        )
        decided_items = [item for (item,) in decided]
        expired: Any = self.db.execute(
            f"SELECT name {of_task} JOIN item ON id = name WHERE status = ? AND until_ms <= ?"
            " ORDER BY until_ms DESC LIMIT ?",
            (task, DecisionStatus.PENDING.value, now_ms, limit),
        )
        return self._items([*decided_items, *(item for (item,) in expired)])

    def items_of_set(self, change_set: EntityId) -> list[Item]:
        """Return the items of a change set, in the order of the set."""
        rows = self.db.execute(
            "SELECT item FROM proposal WHERE change_set = ? GROUP BY item ORDER BY min(position)",
            (change_set,),
        )
        return self._items([item for (item,) in rows])

    def items_with_fingerprint(self, fingerprint: bytes) -> list[EntityId]:
        """Return the items with a fingerprint, which propose the same, in the order of first proposals."""
        rows: Any = self.db.execute(
            "SELECT item FROM proposal WHERE fingerprint = ? GROUP BY item ORDER BY min(seq)", (fingerprint,)
        )
        return [item for (item,) in rows]

    def _items(self, ids: list[EntityId]) -> list[Item]:
        # The items of a change set are in one commit, which is read once for all of them.
        commit_at = lru_cache(COMMITS_READ)(self.log.commit_at)
        return [item for item_id in ids if (item := self._item(item_id, commit_at)) is not None]
