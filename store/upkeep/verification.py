"""Verification: read the whole log again, and compare all that follows from it with the tables.

Never writes to the store, and never stops at the first thing that is wrong.
"""

from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from typing import Any, Final, NamedTuple

import apsw

from store.file import database
from store.fold import proposal_index, word_index
from store.fold.entity_state import load_state
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from store.upkeep.log_check import LogCheck, feed_end
from store.upkeep.progress import ReportProgress, report_positions
from store.upkeep.replay import DERIVED_TABLES, Replay, RowDifference, table_differences
from syncproto.codec import DIGEST_LEAD, Redacted
from syncproto.ids import ID_BYTES, EntityId, id_to_text

FINDINGS_MAX = 100
EFFECTS_MISSED_MAX = 100_000

_MEND_FILE: Final = sentence(
    "verify-mend-file", "keep the file; restore a backup, or join again from another device"
)
_MEND_TABLES: Final = sentence(
    "verify-mend-tables", "the log is intact: 'placet verify --rebuild' repairs this"
)
_THE_FILE: Final = sentence("verify-the-file", "the file")
_PAGES_MAX = 20


def _table(name: str) -> Sentence:
    return sentence("verify-table", "table {table}", table=name)


class VerificationFinding(NamedTuple):
    """Something wrong: `what` was seen, `where` (table or commit, with ids), and the `remedy`."""

    what: Sentence
    where: Sentence
    remedy: Sentence


class VerificationReport(NamedTuple):
    """How much was checked, the first findings, and how many more there were."""

    commits: int
    signatures: int
    entities: int
    findings: tuple[VerificationFinding, ...]
    more: int

    @property
    def is_sound(self) -> bool:
        """Return whether nothing is wrong."""
        return not self.findings


def verify_store(
    snapshot: Snapshot, report: ReportProgress, findings_max: int = FINDINGS_MAX
) -> VerificationReport:
    """Check the whole store on one snapshot, while others write.

    It takes about as long as accepting the whole log from a peer. Memory is bounded; a temporary file may
    grow as large as the tables. Raises StoreError only if the file cannot be read at all, or if no room is
    left for temporary files; everything else is a finding.
    """
    check = _Check(snapshot, report)
    findings: list[VerificationFinding] = []
    more = 0
    for finding in check.findings():
        if len(findings) < findings_max:
            findings.append(finding)
        else:
            more += 1
    return VerificationReport(check.commits, check.signatures, check.entities, tuple(findings), more)


class _Check:
    """One verification; `_stopped` once something is wrong that makes later stages meaningless."""

    def __init__(self, snapshot: Snapshot, report: ReportProgress) -> None:
        self._db = snapshot.db
        self._report = report
        self._stopped = False
        self.commits = 0
        self.signatures = 0
        self.entities = 0

    def findings(self) -> Iterator[VerificationFinding]:
        """Yield what is wrong: with the file, then the log, then what follows from it."""
        for stage in (self._check_pages, self._check_references, self._check_log, self._check_word_index):
            yield from self._report_unreadable(stage())
            if self._stopped:
                yield VerificationFinding(
                    sentence("verify-not-looked-at", "the rest was not checked"),
                    sentence("verify-everything-else", "everything else"),
                    sentence("verify-mend-this-first", "repair this first"),
                )
                return

    def _report_unreadable(self, stage: Iterator[VerificationFinding]) -> Iterator[VerificationFinding]:
        """Report pages that SQLite cannot read as a finding, too."""
        try:
            yield from stage
        except (apsw.CorruptError, apsw.NotADBError) as fault:
            self._stopped = True
            unreadable = sentence(
                "verify-file-unreadable", "the file cannot be read: {reason}", reason=str(fault)
            )
            yield VerificationFinding(unreadable, _THE_FILE, _MEND_FILE)

    def _check_pages(self) -> Iterator[VerificationFinding]:
        """Let SQLite check its own pages and indexes."""
        self._report("looking at the file's pages", 0, 1)
        rows: Any = self._db.execute(f"PRAGMA integrity_check({_PAGES_MAX})")
        for (words,) in rows.fetchall():
            # The index of words has a stage of its own, since it can be rebuilt.
            if words != "ok" and "main.search" not in words:
                self._stopped = True
                says = sentence("verify-sqlite-says", "SQLite says: {words}", words=" ".join(words.split()))
                yield VerificationFinding(says, _THE_FILE, _MEND_FILE)

    def _check_references(self) -> Iterator[VerificationFinding]:
        """Check that the rows exist on which everything else rests."""
        rows: Any = self._db.execute("PRAGMA foreign_key_check").fetchall()
        if rows or self._db.execute("SELECT 1 FROM standing").fetchone() is None:
            self._stopped = True
            table = rows[0][0] if rows else "standing"
            missing = sentence("verify-base-row-missing", "a row that everything depends on is missing")
            yield VerificationFinding(missing, _table(table), _MEND_FILE)

    def _check_log(self) -> Iterator[VerificationFinding]:
        """Read the log and fold it again; compare the tables if the log itself is sound."""
        with closing(database.open_temporary()) as scratch:
            yield from self._check_by_folding(scratch)

    def _check_by_folding(self, scratch: apsw.Connection) -> Iterator[VerificationFinding]:
        replay = Replay(self._db, scratch)
        check = LogCheck(
            self._db, lambda received, seq: None if self._stopped else replay.add_commit(received, seq)
        )
        for fault in check.find_faults(report_positions("reading the log", feed_end(self._db), self._report)):
            self._stopped = self._stopped or fault.prevents_fold
            yield VerificationFinding(fault.what, fault.where, _MEND_FILE)
        self.commits, self.signatures = check.commits, check.signatures
        if not self._stopped:
            replay.flush()
            self.entities = replay.entities
            yield from self._check_tables(scratch)
            yield from self._check_sums(replay)
            yield from self._find_dropped_values(scratch)
            yield from _without_effect(scratch)

    def _check_tables(self, scratch: apsw.Connection) -> Iterator[VerificationFinding]:
        """Compare every table that follows from the log."""
        self._report("comparing the tables with the log", 0, 1)
        for difference in table_differences(self._db, scratch):
            yield _finding_of(difference)
        rows: Any = self._db.execute(
            # A verdict folds an entity again without an operation on it, so `changed` may be later than its
            # history.
            "SELECT id FROM entity WHERE changed NOT BETWEEN"
            " (SELECT max(seq) FROM history WHERE history.entity = entity.id) AND (SELECT max(seq) FROM feed)"
        )
        for (entity,) in rows:
            changed = sentence("verify-changed-wrong", "the time of its last change differs from its history")
            yield VerificationFinding(changed, _row("entity", f"id {id_to_text(entity)}"), _MEND_TABLES)

    def _check_sums(self, replay: Replay) -> Iterator[VerificationFinding]:
        """Compare the state hash, which peers receive, and the number of entities."""
        stored_sums: Any = self._db.execute("SELECT state_sum, entities FROM standing").fetchone()
        if int.from_bytes(stored_sums[0], "big") != replay.state_sum:
            differs = sentence("verify-state-hash-wrong", "the state hash does not match the entities")
            yield VerificationFinding(differs, _table("standing"), _MEND_TABLES)
        if stored_sums[1] != replay.entities:
            miscounted = sentence(
                "verify-entities-miscounted",
                "the stored number of entities is {counted}; there are {count}",
                counted=stored_sums[1],
                count=replay.entities,
            )
            yield VerificationFinding(miscounted, _table("standing"), _MEND_TABLES)

    def _find_dropped_values(self, scratch: apsw.Connection) -> Iterator[VerificationFinding]:
        """Yield the values that still win or compete, and of which a member left only the hash."""
        rows: Any = scratch.execute("SELECT id, state FROM entity WHERE instr(state, ?)", (DIGEST_LEAD,))
        for entity, state in rows:
            for field, versions in sorted(load_state(state).fields.items()):
                if any(isinstance(version.value, Redacted) for version in versions):
                    yield VerificationFinding(
                        sentence(
                            "verify-value-dropped", "a member's device dropped a value that still counts"
                        ),
                        sentence(
                            "verify-entity-field",
                            "entity {entity}, field {field}",
                            entity=id_to_text(entity),
                            field=field,
                        ),
                        sentence("verify-write-again", "look for it on another device, and write it again"),
                    )

    def _check_word_index(self) -> Iterator[VerificationFinding]:
        """Compare the index of words with the entities."""
        self._report("comparing the index of words", 0, 1)
        for fault in word_index.index_faults(self._db):
            yield VerificationFinding(fault, _table("search"), _MEND_TABLES)


def _without_effect(scratch: apsw.Connection) -> Iterator[VerificationFinding]:
    """Yield the items that are confirmed, and that no commit put into effect, or perhaps not."""
    for item in islice(proposal_index.confirmed_without_effect(scratch, crowded=True), EFFECTS_MISSED_MAX):
        name = id_to_text(item)
        yield VerificationFinding(
            sentence(
                "verify-effects-crowded",
                "operations name a confirmed proposal for more entities than count: it may not be in effect",
            ),
            sentence("verify-item", "proposal {item}", item=name),
            sentence("verify-look-at-task", "look at its task, and make the change yourself if it lacks it"),
        )
    for item in islice(proposal_index.confirmed_without_effect(scratch), EFFECTS_MISSED_MAX):
        name = id_to_text(item)
        yield VerificationFinding(
            sentence("verify-effect-missing", "a proposal is confirmed, and no commit puts it into effect"),
            sentence("verify-item", "proposal {item}", item=name),
            sentence(
                "verify-confirm-again",
                "put it into effect: placet confirm {item}; or take that back: placet undo {item}",
                item=name,
            ),
        )


def _row(table: str, key: str) -> Sentence:
    return sentence("verify-row", "table {table}: {key}", table=table, key=key)


def _finding_of(difference: RowDifference) -> VerificationFinding:
    """Return in words how a table differs from what the log says."""
    names = DERIVED_TABLES[difference.table]
    key = ", ".join(f"{name} {_key_text(value)}" for name, value in zip(names, difference.key, strict=True))
    where = _row(difference.table, key)
    if difference.kept is None:
        missing = sentence("verify-row-missing", "a row that follows from the log is missing")
        return VerificationFinding(missing, where, _MEND_TABLES)
    if difference.folded is None:
        surplus = sentence("verify-row-surplus", "a row does not follow from the log")
        return VerificationFinding(surplus, where, _MEND_TABLES)
    columns = sentence(
        "verify-columns-differ",
        "the stored values of {columns} differ from what the log folds to",
        columns=", ".join(difference.columns),
    )
    return VerificationFinding(columns, where, _MEND_TABLES)


def _key_text(key: object) -> str:
    if isinstance(key, bytes):
        return id_to_text(EntityId(key)) if len(key) == ID_BYTES else key.hex()
    return str(key)
