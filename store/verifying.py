"""Verification: the whole log is read again and everything that follows from it is held against the tables.

Never writes to the store, and never stops at the first thing that is wrong.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw

from store import database, search
from store.faults import DamagedDatabase
from store.fold import load
from store.logcheck import LogCheck
from store.replaying import TABLES, Difference, Replay, differences
from store.snapshot import Snapshot
from store.transaction import HASH_BYTES, Transaction
from syncproto.codec import DIGEST_LEAD, Redacted
from syncproto.ids import ID_BYTES, EntityId, text

FINDINGS_MAX = 100

Told = Callable[[str, int, int], None]
"""Called now and then with the stage in plain words ("reading the log"), how far it is, and of how many."""

_MEND_FILE: Final = "keep the file; restore a backup, or join again from another device"
_MEND_TABLES: Final = "the log is whole: 'placet verify --rebuild' makes it right"
_TOLD_EVERY = 500
_PAGES_MAX = 20


class Finding(NamedTuple):
    """Something wrong: `what` was seen, `where` (table or commit, with ids), and what to do (`remedy`)."""

    what: str
    where: str
    remedy: str


class Verified(NamedTuple):
    """What was looked at, and what was found: the first findings, and how many more there were."""

    commits: int
    signatures: int
    entities: int
    findings: tuple[Finding, ...]
    more: int

    @property
    def sound(self) -> bool:
        """Say whether nothing was found."""
        return not self.findings


def verify(snapshot: Snapshot, told: Told, findings_max: int = FINDINGS_MAX) -> Verified:
    """Check the whole store on one snapshot, while others write.

    Takes about as long as taking the whole log from a peer; memory is bounded, a temporary file may grow as
    large as the tables. Raises StoreError only where the file cannot be read at all, or no room is left for
    temporary files; everything else is a finding.
    """
    check = _Check(snapshot, told)
    findings: list[Finding] = []
    more = 0
    for finding in check.findings():
        if len(findings) < findings_max:
            findings.append(finding)
        else:
            more += 1
    return Verified(check.commits, check.signatures, check.entities, tuple(findings), more)


class _Check:
    """One verification."""

    def __init__(self, snapshot: Snapshot, told: Told) -> None:
        self._db = snapshot.db
        self._told = told
        self._barred = False
        self.commits = 0
        self.signatures = 0
        self.entities = 0

    def findings(self) -> Iterator[Finding]:
        """Yield what is wrong: with the file, then the log, then what follows from it."""
        for stage in (self._pages, self._references, self._log, self._index):
            yield from self._readable(stage())
            if self._barred:
                yield Finding("what follows was not looked at", "everything else", "mend this first")
                return

    def _readable(self, stage: Iterator[Finding]) -> Iterator[Finding]:
        """Turn pages that SQLite cannot read into a finding, too."""
        try:
            yield from stage
        except (apsw.CorruptError, apsw.NotADBError) as fault:
            self._barred = True
            yield Finding(f"the file cannot be read: {fault}", "the file", _MEND_FILE)

    def _pages(self) -> Iterator[Finding]:
        """Let SQLite look at its own pages and indexes."""
        self._told("looking at the file's pages", 0, 1)
        rows: Any = self._db.execute(f"PRAGMA integrity_check({_PAGES_MAX})")
        for (words,) in rows.fetchall():
            # The index of words is looked at in its turn: it can be made anew.
            if words != "ok" and "main.search" not in words:
                self._barred = True
                yield Finding(f"SQLite says: {' '.join(words.split())}", "the file", _MEND_FILE)

    def _references(self) -> Iterator[Finding]:
        """See that what everything else rests on is there."""
        rows: Any = self._db.execute("PRAGMA foreign_key_check").fetchall()
        if rows or self._db.execute("SELECT 1 FROM standing").fetchone() is None:
            self._barred = True
            table = rows[0][0] if rows else "standing"
            yield Finding("a row is missing that everything rests on", f"table {table}", _MEND_FILE)

    def _log(self) -> Iterator[Finding]:
        """Read the log, folding it again meanwhile, and compare as long as the log itself is sound."""
        with closing(_temporary()) as scratch:
            yield from self._folded(scratch)

    def _folded(self, scratch: apsw.Connection) -> Iterator[Finding]:
        replay = Replay(self._db, scratch)
        check = LogCheck(self._db, lambda received, seq: None if self._barred else replay.take(received, seq))
        for fault in check.faults(self._progress("reading the log")):
            self._barred = self._barred or fault.bars
            yield Finding(fault.what, fault.where, _MEND_FILE)
        self.commits, self.signatures = check.commits, check.signatures
        if not self._barred:
            replay.flush()
            self.entities = replay.entities
            yield from self._tables(scratch)
            yield from self._sums(replay)
            yield from self._dropped(scratch)

    def _progress(self, stage: str) -> Callable[[int], None]:
        (end,) = self._db.execute("SELECT coalesce(max(seq), 0) FROM feed").fetchone() or (0,)

        def told(position: int) -> None:
            if position % _TOLD_EVERY == 0 or position == end:
                self._told(stage, position, int(end))

        return told

    def _tables(self, scratch: apsw.Connection) -> Iterator[Finding]:
        """Compare every table that follows from the log."""
        self._told("comparing the tables with the log", 0, 1)
        for difference in differences(self._db, scratch):
            yield _told_of(difference)
        rows: Any = self._db.execute(
            "SELECT id FROM entity WHERE changed NOT BETWEEN"
            " (SELECT max(seq) FROM history WHERE history.entity = entity.id) AND (SELECT max(seq) FROM feed)"
        )
        for (entity,) in rows:
            where = f"table entity: id {text(entity)}"
            yield Finding("when it last changed is not what its history says", where, _MEND_TABLES)

    def _sums(self, replay: Replay) -> Iterator[Finding]:
        """Compare the sum of all states and their number, as peers are told them."""
        kept: Any = self._db.execute("SELECT state_sum, entities FROM standing").fetchone()
        if int.from_bytes(kept[0], "big") != replay.state_sum:
            yield Finding("the state hash is not that of the entities", "table standing", _MEND_TABLES)
        if kept[1] != replay.entities:
            seen = f"{kept[1]} entities are counted; there are {replay.entities}"
            yield Finding(seen, "table standing", _MEND_TABLES)

    def _dropped(self, scratch: apsw.Connection) -> Iterator[Finding]:
        """Name the values that still count, and of which a member has left nothing but the hash."""
        rows: Any = scratch.execute("SELECT id, state FROM entity WHERE instr(state, ?)", (DIGEST_LEAD,))
        for entity, state in rows:
            for field, versions in sorted(load(state).fields.items()):
                if any(isinstance(version.value, Redacted) for version in versions):
                    remedy = "look for it on another device, and write it again"
                    where = f"entity {text(entity)}, field {field}"
                    yield Finding("a member's device dropped a value that still counts", where, remedy)

    def _index(self) -> Iterator[Finding]:
        """Compare the index of words with the entities."""
        self._told("comparing the index of words", 0, 1)
        for words in search.faults(self._db):
            yield Finding(words, "table search", _MEND_TABLES)


def _temporary() -> apsw.Connection:
    """Open an empty store in a file that SQLite removes by itself."""
    db = apsw.Connection("")
    db.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    database.migrate(db, Path("the temporary file"))
    return db


def _told_of(difference: Difference) -> Finding:
    """Say in words how a table differs from what the log says."""
    names = TABLES[difference.table]
    key = ", ".join(f"{name} {_shown(one)}" for name, one in zip(names, difference.key, strict=True))
    where = f"table {difference.table}: {key}"
    if difference.kept is None:
        return Finding("a row is missing that follows from the log", where, _MEND_TABLES)
    if difference.folded is None:
        return Finding("a row does not follow from the log", where, _MEND_TABLES)
    columns = ", ".join(difference.columns)
    return Finding(f"what is kept of {columns} is not what the log folds to", where, _MEND_TABLES)


def _shown(key: object) -> str:
    if isinstance(key, bytes):
        return text(EntityId(key)) if len(key) == ID_BYTES else key.hex()
    return str(key)


def rebuild(tx: Transaction, told: Told) -> int:
    """Fold the whole log again, in this one transaction, into tables emptied first; return the entities.

    Mends what `verify` found in the tables. Raises DamagedDatabase where the log itself is damaged: then
    nothing is changed, and a backup or another device has to help.
    """
    for table in TABLES:
        tx.db.execute(f"DELETE FROM {table}")
    search.rebuild(tx.db)
    replay = Replay(tx.db, tx.db)
    end = tx.feed_end()
    check = LogCheck(tx.db, replay.take)
    for fault in check.faults(lambda position: told("folding the log again", position, end)):
        if fault.bars:
            raise DamagedDatabase(f"{fault.where}: {fault.what}")
    replay.flush()
    total = replay.state_sum.to_bytes(HASH_BYTES, "big")
    tx.db.execute("UPDATE standing SET state_sum = ?, entities = ?", (total, replay.entities))
    return replay.entities
