"""Tests of verification: a real file is damaged in every way that can be told, and each is told.

Never damages anything through the store: the file is written to behind its back.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from store.file.errors import DamagedDatabase
from store.fold.verdicts import Verdict
from store.snapshot import Snapshot
from store.store import Store
from store.transaction import EntityWrite
from store.upkeep import log_check, verification
from store.upkeep.compaction import Retention, compact_step
from store.upkeep.rebuild import rebuild_tables
from store.upkeep.verification import VerificationReport, verify_store
from syncproto import commit as commits
from syncproto.codec import Redacted
from syncproto.commit import AuthorKind, SignedCommit
from syncproto.ids import EntityId, id_to_text
from syncproto.vector_clock import EMPTY_CLOCK
from tests.simulation.laws import contents, refold_is_the_same
from tests.support.stores import (
    NOW_MS,
    StoreBench,
    entity_id,
    exchange,
    feed,
    operation,
    replica_of,
    sealed,
    signer_of,
)

TASK, NOTE, SET, ITEM = (entity_id(number) for number in range(1, 5))
QUIET: Callable[[str, int, int], None] = lambda stage, finished, total: None  # noqa: E731 - a default to pass on


def lived_in(bench: StoreBench) -> Store:
    """Return a store with every table in use, commits of two devices, a fork, and a compacted value."""
    store, other = bench.store("a"), bench.store("b")
    with store.write() as tx:
        tx.commit([EntityWrite(TASK, "task", {"title": "Plan the trip", "reason": "r" * 200})])
        tx.commit(
            [EntityWrite(NOTE, "entry", {"task_id": TASK, "text": "a note"}), EntityWrite(TASK, "task", {})]
        )
    exchange(store, other)
    proposed: dict[str, Any] = {"item_id": ITEM, "fingerprint": b"f", "tool": "t", "args": {}, "base": {}}
    with other.write() as tx:
        fields: dict[str, Any] = {"task_id": TASK, "items": [proposed], "expires_at": NOW_MS}
        tx.commit([EntityWrite(SET, "change_set", fields)], by=AuthorKind.AGENT)
        decision: dict[str, Any] = {"item_id": ITEM, "verdict": Verdict.CONFIRMED.value, "seen": []}
        effect = EntityWrite(TASK, "task", {"title": "Plan the journey"}, effect=ITEM, by=AuthorKind.AGENT)
        tx.commit([EntityWrite(entity_id(5), "decision", decision), effect])
    exchange(other, store)
    with store.write() as tx:
        tx.commit([EntityWrite(TASK, "task", {"reason": "short"})])
        assert compact_step(tx, Retention(NOW_MS + 10**6)).freed.values == 1
    with store.write() as tx:
        tx.accept_page(fork())
    return store


def fork() -> list[SignedCommit]:
    """Return four commits of one replica, on two branches that each have a signature at the end."""
    signer, replica = signer_of("c"), replica_of("c")
    commit = sealed(signer, replica, 1, None, [operation(entity_id(7), title="one")])
    local_commit = sealed(signer, replica, 2, commit, [operation(entity_id(7), (commit.head,), title="here")])
    existing_commit = sealed(
        signer, replica, 2, commit, [operation(entity_id(7), (commit.head,), title="there")]
    )
    last = sealed(
        signer, replica, 3, existing_commit, [operation(entity_id(8), (existing_commit.head,), title="last")]
    )
    return [commit.signed, local_commit.signed, existing_commit.signed, last.signed]


def verified(store: Store) -> VerificationReport:
    """Verify on a snapshot."""
    with store.read() as snapshot:
        return verify_store(snapshot, QUIET)


def damaged(store: Store, *statements: str) -> None:
    """Write to the file behind the store's back."""
    file = apsw.Connection(str(store.path))
    file.set_busy_timeout(1000)
    for statement in statements:
        file.execute(statement)
        assert file.changes(), statement
    file.close()


def told(report: VerificationReport) -> list[str]:
    """Return the findings as lines."""
    return [f"{finding.where.text}: {finding.what.text}" for finding in report.findings]


def test_a_sound_store_is_sound_and_everything_was_looked_at(bench: StoreBench) -> None:
    report = verified(lived_in(bench))
    assert (report.findings, report.more, report.is_sound) == ((), 0, True)
    assert (report.commits, report.signatures, report.entities) == (9, 5, 6)


def test_an_empty_store_is_sound(bench: StoreBench) -> None:
    assert verified(bench.store("a")) == VerificationReport(0, 0, 0, (), 0)


LOG: list[tuple[str, str]] = [
    (
        "UPDATE feed SET body = CAST(replace(body, 'journey', 'journez') AS BLOB) WHERE seq = 4",
        "commit 4 of the log: the bytes do not match their hash",
    ),
    (
        "UPDATE feed SET body = x'c0' WHERE seq = 2",
        "commit 2 of the log: the commit cannot be read: undecodable",
    ),
    (
        "UPDATE feed SET body = substr(body, 1, 100) WHERE seq = 6",
        "commit 6 of the log: the commit cannot be read",
    ),
    (
        "UPDATE feed SET signature = (SELECT signature FROM feed WHERE seq = 5) WHERE seq = 2",
        "commit 2 of the log: the signature stored with it is not valid",
    ),
    ("UPDATE feed SET signature = x'00' WHERE seq = 5", "the signature stored with it is not valid"),
    (
        "UPDATE feed SET signature = NULL WHERE seq = 5",
        "branch 0: no signature covers the end of the chain",
    ),
    (
        "UPDATE feed SET hash = x'0000000000000000' WHERE seq = 3",
        "commit 3 of the log: the bytes do not match",
    ),
    (
        "UPDATE feed SET counter = 77 WHERE seq = 5",
        "commit 5 of the log: the commit has number 77; the one before",
    ),
    ("UPDATE feed SET counter = 7 WHERE seq = 1", "commit 1 of the log: the branch begins with number 7"),
    ("UPDATE feed SET replica = 9 WHERE seq = 5", "table feed: a row that everything depends on is missing"),
    (
        "UPDATE feed SET branch = 9 WHERE seq = 5",
        "commit 5 of the log: the commit is of a replica or branch that",
    ),
    ("UPDATE feed SET replica = 2 WHERE seq = 5", "commit 5 of the log: the commit does not follow commit 4"),
    ("UPDATE feed SET seq = 99 WHERE seq = 5", "between 9 and 99 of the log: commits are missing"),
    ("UPDATE feed SET seq = 99 WHERE seq = 1", "commit 2 of the log: the branch begins with number 2"),
    (
        "UPDATE feed SET seq = 99 WHERE seq = 1",
        "commit 2 of the log: the commit depends on commit 1 of replica",
    ),
    ("DELETE FROM feed WHERE seq = 2", "between 1 and 3 of the log: commits are missing"),
    (
        "DELETE FROM feed WHERE seq = 9",
        "branch 1: the chain ends at number 2, not at number 3: commits are missing",
    ),
    ("DELETE FROM feed WHERE seq = 6", "commit 8 of the log: the commit that it follows is missing"),
    (
        "UPDATE feed SET body = x'00' WHERE seq = 6",
        "commit 8 of the log: the commit that it follows is missing",
    ),
    (
        "DELETE FROM feed WHERE replica = 2",
        "branch 0: the chain is empty, and should end at number 2: commits are missing",
    ),
    (
        "UPDATE branch SET tip_hash = zeroblob(32) WHERE replica = 1",
        "branch 0: the chain ends in another commit than",
    ),
    (
        "UPDATE branch SET first = 3 WHERE no = 1",
        "commit 8 of the log: the branch begins with number 2, not 3",
    ),
    (
        "UPDATE branch SET parent = 1 WHERE no = 1",
        "commit 8 of the log: the commit that it follows is missing",
    ),
    (
        "UPDATE replica SET key = zeroblob(32) WHERE no = 2",
        "the replica is bound to another key than the one stored",
    ),
    ("UPDATE replica SET id = zeroblob(16) WHERE no = 2", "commit 3 of the log: the bytes do not match"),
]


@pytest.mark.parametrize(("statement", "expected"), LOG, ids=[text for text, _ in LOG])
def test_damage_to_the_log_is_named(bench: StoreBench, statement: str, expected: str) -> None:
    store = lived_in(bench)
    damaged(store, statement)
    report = verified(store)
    assert any(expected in line for line in told(report)), told(report)
    assert all(
        "backup" in finding.remedy.text or "repair" in finding.remedy.text for finding in report.findings
    )
    if "signature" in statement:
        assert len(report.findings) == 1
        return
    assert told(report)[-1] == "everything else: the rest was not checked"
    if "replica = 9" in statement:
        return
    with pytest.raises(DamagedDatabase, match=r"commit|replica|between"), store.write() as tx:
        rebuild_tables(tx.db, QUIET)


TABLES: list[tuple[str, str]] = [
    ("DELETE FROM history WHERE seq = 2", "table history: entity "),
    ("INSERT INTO history VALUES (zeroblob(16), 4)", "seq 4: a row does not follow from the log"),
    ("DELETE FROM effect", "table effect: item "),
    ("INSERT INTO effect VALUES (zeroblob(16), zeroblob(3))", "entity 000000: a row does not follow"),
    ("DELETE FROM relation WHERE name = 'task_entry'", "name task_entry, owner "),
    ("INSERT INTO relation VALUES (zeroblob(16), 'x', zeroblob(16))", "table relation: target 00000000"),
    ("DELETE FROM proposal", "table proposal: item "),
    (
        "UPDATE proposal SET fingerprint = x''",
        "the stored values of fingerprint differ from what the log folds to",
    ),
    ("DELETE FROM opinion", "table opinion: item "),
    ("UPDATE opinion SET by = 1", "the stored values of by differ from"),
    ("DELETE FROM item", "table item: id "),
    ("UPDATE item SET status = 'rejected'", "the stored values of status differ from"),
    ("UPDATE item SET disputed = 1, until_ms = 7", "the stored values of disputed, until_ms differ from"),
    ("DELETE FROM entity WHERE kind = 'entry'", "a row that follows from the log is missing"),
    (
        "UPDATE entity SET state = CAST(replace(state, 'short', 'shirt') AS BLOB) WHERE no = 1",
        "the stored values of state differ from what the log folds to",
    ),
    ("UPDATE entity SET state = x'80' WHERE no = 1", "the stored values of state differ from"),
    ("UPDATE entity SET state = x'' WHERE no = 1", "the stored values of state differ from"),
    ("UPDATE entity SET visible = 0 WHERE no = 1", "the stored values of visible differ from"),
    ("UPDATE entity SET kind = 'label' WHERE no = 2", "the stored values of kind differ from"),
    ("UPDATE entity SET made_ms = 1 WHERE no = 2", "the stored values of made_ms differ from"),
    ("UPDATE entity SET changed = 99 WHERE no = 2", "the time of its last change differs from its history"),
    ("UPDATE entity SET changed = 1 WHERE no = 2", "the time of its last change differs from its history"),
    ("UPDATE standing SET state_sum = zeroblob(32)", "table standing: the state hash does not match the"),
    ("UPDATE standing SET entities = 7", "table standing: the stored number of entities is 7; there are 6"),
    ("DELETE FROM search WHERE rowid = 1", "table search: "),
]


@pytest.mark.parametrize(("statement", "expected"), TABLES, ids=[text for text, _ in TABLES])
def test_damage_to_what_follows_from_the_log_is_named_and_can_be_mended(
    bench: StoreBench, statement: str, expected: str
) -> None:
    store = lived_in(bench)
    with store.read() as snapshot:
        before = contents(snapshot)
    damaged(store, statement)
    report = verified(store)
    assert any(expected in line for line in told(report)), told(report)
    assert {finding.remedy.text for finding in report.findings} == {verification._MEND_TABLES.text}
    with store.write() as tx:
        assert rebuild_tables(tx.db, QUIET) == 6
    assert verified(store).is_sound
    with store.read() as snapshot:
        assert contents(snapshot) == before
        refold_is_the_same(snapshot)
    with store.write() as tx:
        tx.commit([EntityWrite(TASK, "task", {"title": "goes on"})])
    assert verified(store).is_sound


def test_each_row_that_is_missing_or_too_much_is_named_by_itself(bench: StoreBench) -> None:
    store = lived_in(bench)
    damaged(
        store,
        "INSERT INTO effect VALUES (zeroblob(16), zeroblob(3)), (zeroblob(16), zeroblob(4))",
        "DELETE FROM history WHERE seq < 3",
        "UPDATE item SET until_ms = 7, disputed = 1",
        "UPDATE entity SET changed = 99 WHERE kind = 'entry'",
    )
    nothing = f"table effect: item {id_to_text(EntityId(bytes(16)))}, entity"
    missing = "a row that follows from the log is missing"
    assert sorted(told(verified(store))) == sorted(
        [
            f"{nothing} 000000: a row does not follow from the log",
            f"{nothing} 00000000: a row does not follow from the log",
            *(
                f"table history: entity {id_to_text(identifier)}, seq {seq}: {missing}"
                for identifier, seq in TOUCHED_EARLY
            ),
            (
                f"table item: id {id_to_text(ITEM)}: the stored values of disputed, until_ms"
                " differ from what the log folds to"
            ),
            f"table entity: id {id_to_text(NOTE)}: the time of its last change differs from its history",
        ]
    )


TOUCHED_EARLY = [(TASK, 1), (TASK, 2), (NOTE, 2)]


def test_a_replica_or_standing_that_is_gone_is_named(bench: StoreBench) -> None:
    store = lived_in(bench)
    damaged(store, "DELETE FROM replica WHERE no = 3")
    with store.read() as snapshot:
        report = verify_store(snapshot, QUIET)
    assert told(report)[0] == "table feed: a row that everything depends on is missing"
    assert len(report.findings) == 2
    damaged(bench.store("b"), "DELETE FROM standing")
    other = apsw.Connection(str(bench.folder / "b.db"))
    other.execute("BEGIN")
    assert (
        told(verify_store(Snapshot(other), QUIET))[0]
        == "table standing: a row that everything depends on is missing"
    )
    other.close()


def test_pages_that_are_damaged_are_named(bench: StoreBench) -> None:
    store = lived_in(bench)
    store.close()
    raw = bytearray(store.path.read_bytes())
    page = raw.index(b"a note")
    raw[page : page + 6] = b"b note"
    start = page - page % 4096
    raw[start : start + 8] = bytes([255] * 8)
    store.path.write_bytes(raw)
    file = apsw.Connection(str(store.path))
    file.execute("BEGIN")
    report = verify_store(Snapshot(file), QUIET)
    file.close()
    assert report.findings
    assert all(finding.where.text in ("the file", "everything else") for finding in report.findings)


def test_one_bit_in_an_index_is_named(bench: StoreBench) -> None:
    store = lived_in(bench)
    with store.read() as snapshot:
        query = "SELECT rootpage, hash FROM sqlite_schema, feed WHERE name = 'feed_by_head' AND seq = 3"
        row: Any = snapshot.db.execute(query).fetchone()
    store.close()
    raw = bytearray(store.path.read_bytes())
    raw[raw.index(row[1], 4096 * (row[0] - 1))] ^= 1
    store.path.write_bytes(raw)
    file = apsw.Connection(str(store.path))
    file.execute("BEGIN")
    report = verify_store(Snapshot(file), QUIET)
    file.close()
    assert any("SQLite says: " in finding.what.text for finding in report.findings)
    assert told(report)[-1] == "everything else: the rest was not checked"


def test_pages_that_cannot_be_read_at_all_are_a_finding(
    bench: StoreBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = lived_in(bench)

    def broken(db: apsw.Connection) -> list[str]:
        raise apsw.CorruptError("database disk image is malformed")

    monkeypatch.setattr("store.fold.word_index.index_faults", broken)
    assert "the file: the file cannot be read: database disk image is malformed" in told(verified(store))


def test_findings_are_counted_beyond_those_that_are_told(bench: StoreBench) -> None:
    store = lived_in(bench)
    damaged(store, "DELETE FROM history")
    with store.read() as snapshot:
        report = verify_store(snapshot, QUIET, findings_max=2)
    assert len(report.findings) == 2
    assert report.more > 5


def test_a_value_that_a_member_dropped_wrongly_is_named(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    with a.write() as tx:
        tx.commit([EntityWrite(TASK, "task", {"title": "t" * 200, "reason": "r" * 200})])
    received = commits.decode_commit(feed(a)[0])
    body = commits.redact_values(received.commit, {TASK: {"title"}})
    with b.write() as tx:
        assert tx.accept_page([SignedCommit(body, received.signed.signature)]).new_commits == 1
        entity = tx.entity(TASK)
        assert entity is not None
        assert isinstance(entity.value("title"), Redacted)
        assert entity.text("title") == ""
    with a.read() as snapshot, b.read() as existing_snapshot:
        assert snapshot.vector() == existing_snapshot.vector()
        assert snapshot.state_hash() != existing_snapshot.state_hash(), "nobody would notice"
    report = verified(b)
    assert [finding.what.text for finding in report.findings] == [
        "a member's device dropped a value that still counts"
    ]
    assert report.findings[0].where.text == f"entity {id_to_text(TASK)}, field title"
    assert report.findings[0].remedy.text == "look for it on another device, and write it again"
    assert verified(a).is_sound


def test_progress_is_told_to_the_end_of_each_stage(bench: StoreBench) -> None:
    store = lived_in(bench)
    received: list[tuple[str, int, int]] = []
    with store.read() as snapshot:
        verify_store(snapshot, lambda *progress: received.append(progress))
    assert received == [
        ("looking at the file's pages", 0, 1),
        ("reading the log", 9, 9),
        ("comparing the tables with the log", 0, 1),
        ("comparing the index of words", 0, 1),
    ]
    received.clear()
    with store.write() as tx:
        rebuild_tables(tx.db, lambda *progress: received.append(progress))
    assert received == [("folding the log again", 9, 9)]


def test_others_write_meanwhile(bench: StoreBench) -> None:
    store = lived_in(bench)

    def write(stage: str, count: int, total: int) -> None:
        with store.write() as tx:
            tx.commit([EntityWrite(TASK, "task", {"title": f"{stage} {count}"})])

    with store.read() as snapshot:
        assert verify_store(snapshot, write).is_sound
    assert verified(store).is_sound


def test_causes_are_found_again_after_the_memory_of_them_was_emptied(
    bench: StoreBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_check, "_KNOWN_HEADS_MAX", 1)
    monkeypatch.setattr("store.upkeep.replay._OPERATIONS_AT_ONCE", 1)
    assert verified(lived_in(bench)).is_sound


def test_what_an_undo_brought_back_is_folded_alike(bench: StoreBench) -> None:
    store = lived_in(bench)
    undone: dict[str, Any] = {"item_id": ITEM, "verdict": Verdict.UNDONE.value, "seen": [entity_id(5)]}
    with store.write() as tx:
        tx.commit([EntityWrite(entity_id(6), "decision", undone)])
        entity = tx.entity(TASK)
        assert entity is not None
        assert entity.text("title") == "Plan the trip"
    assert verified(store).is_sound
    with store.write() as tx:
        rebuild_tables(tx.db, QUIET)
        row: Any = tx.db.execute("SELECT changed FROM entity WHERE id = ?", (TASK,)).fetchone()
        assert row[0] == tx.feed_end()
    assert verified(store).is_sound


def test_a_rebuild_dates_a_refolded_row_to_the_decision_and_not_to_the_end_of_the_log(
    bench: StoreBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.upkeep.replay._OPERATIONS_AT_ONCE", 1)
    store = lived_in(bench)
    undone: dict[str, Any] = {"item_id": ITEM, "verdict": Verdict.UNDONE.value, "seen": [entity_id(5)]}
    with store.write() as tx:
        tx.commit([EntityWrite(entity_id(6), "decision", undone)])
        decided_at = tx.feed_end()
        tx.commit([EntityWrite(entity_id(7), "task", {"title": "Another one"})])
    with store.write() as tx:
        rebuild_tables(tx.db, QUIET)
        row: Any = tx.db.execute("SELECT changed FROM entity WHERE id = ?", (TASK,)).fetchone()
    assert row[0] == decided_at


def test_a_rebuild_goes_over_a_signature_that_is_gone(bench: StoreBench) -> None:
    store = lived_in(bench)
    damaged(store, "UPDATE feed SET signature = NULL WHERE seq = 5", "DELETE FROM item")
    with store.write() as tx:
        assert rebuild_tables(tx.db, QUIET) == 6
    assert [finding.what.text for finding in verified(store).findings] == [
        "no signature covers the end of the chain"
    ]


def test_the_file_that_is_verified_may_lie_anywhere(bench: StoreBench, tmp_path: Path) -> None:
    store = bench.store("far", tmp_path / "a folder" / ".." / "far.db")
    with store.write() as tx:
        tx.commit([EntityWrite(TASK, "task", {"title": "x"}, base=EMPTY_CLOCK)])
    assert verified(store).commits == 1
