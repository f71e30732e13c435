"""Backups that somebody changed: what is restored follows from the signed log, or nothing is restored.

Never changes the schema: `tests/store/file/test_hostile_files.py` does that.
"""

from pathlib import Path

import apsw
import pytest

from store.file.errors import DamagedDatabase
from store.upkeep import backup
from store.upkeep.verification import verify_store
from tests.simulation.laws import Contents, contents
from tests.store.upkeep.backup_steps import restore, silent
from tests.store.upkeep.test_verification import LOG, TABLES, lived_in
from tests.support.stores import StoreBench


def written_backup(bench: StoreBench) -> tuple[Path, Contents]:
    """Return a backup with every table in use, and what its journal folds to."""
    store, target = lived_in(bench), bench.folder / "a.backup"
    backup.write_backup(store.path, target, silent)
    with store.read() as snapshot:
        return target, contents(snapshot)


def change(target: Path, *statements: str) -> None:
    """Write to a backup as somebody with the file can."""
    file = apsw.Connection(str(target))
    for statement in statements:
        file.execute(statement)
        assert file.changes(), statement
    file.close()


STATES = [
    "UPDATE entity SET state = CAST(replace(state, 'journey', 'voyages') AS BLOB)",
    "UPDATE entity SET state = x'00'",
    "UPDATE search_data SET block = x'00'",
    "DELETE FROM search_idx",
]


@pytest.mark.parametrize("statement", [*STATES, *(statement for statement, _ in TABLES)])
def test_what_follows_from_the_log_is_not_taken_from_a_backup(bench: StoreBench, statement: str) -> None:
    target, before = written_backup(bench)
    change(target, statement)
    path = bench.folder / "restored.db"
    restore(target, path)
    with bench.store("a", path).read() as snapshot:
        assert contents(snapshot) == before
        assert verify_store(snapshot, silent).is_sound


STRANGE_CHAINS = [
    ("INSERT INTO replica VALUES (9, zeroblob(16), zeroblob(32))",),
    ("INSERT INTO branch VALUES (1, 1, 0, 2, 2, zeroblob(32))",),
    (
        "UPDATE branch SET no = 3 WHERE replica = 2 AND no = 0",
        "UPDATE feed SET branch = 3 WHERE replica = 2",
    ),
    ("INSERT INTO branch VALUES (99, 0, NULL, 1, 1, zeroblob(32))",),
    ("DELETE FROM standing",),
]


@pytest.mark.parametrize("statements", [*STRANGE_CHAINS, *((statement,) for statement, _ in LOG)])
def test_a_backup_whose_log_was_changed_is_refused(bench: StoreBench, statements: tuple[str, ...]) -> None:
    target, _ = written_backup(bench)
    change(target, *statements)
    with pytest.raises(DamagedDatabase) as error:
        restore(target, bench.folder / "restored.db")
    assert str(target) in str(error.value)
    assert len(str(error.value).splitlines()) == 1
    assert not (bench.folder / "restored.db").exists()


def test_a_backup_without_a_change_says_how_far_the_fold_is(bench: StoreBench) -> None:
    target, _ = written_backup(bench)
    reported: list[tuple[str, int, int]] = []
    working = bench.folder / "w"
    backup.prepare_copy(target, working, lambda *progress: reported.append(progress), folds_anew=True)
    assert reported == [("reading", 0, 0), ("checking", 0, 0), ("folding the log again", 9, 9)]


BELIEVED_NO_MORE = [
    ("INSERT INTO peer VALUES (zeroblob(32), 1, x'90', NULL)", "SELECT device FROM peer"),
    (
        "INSERT INTO answer VALUES (99, 'key', zeroblob(32), 200, x'7b7d')",
        "SELECT key FROM answer WHERE no = 99",
    ),
    (
        "INSERT INTO run VALUES (99, 'evil', zeroblob(16), 'session', 'x', 'queued', x'', 1, NULL, '', 0, 0)",
        "SELECT no FROM run WHERE no = 99",
    ),
    ("INSERT INTO watermark VALUES ('ahead', 1 << 40)", "SELECT seq FROM watermark WHERE consumer = 'ahead'"),
    ("INSERT INTO watermark VALUES ('below', -1)", "SELECT seq FROM watermark WHERE consumer = 'below'"),
    (
        "INSERT INTO model_day VALUES (99, '2026-01-01', 'm', 1, 1, 1, 0, 0, -5)",
        "SELECT no FROM model_day WHERE no = 99",
    ),
    ("INSERT INTO model_form VALUES ('https://a.example', 'm', 'x')", "SELECT form FROM model_form"),
    ("INSERT OR REPLACE INTO listener VALUES (1, 70000)", "SELECT port FROM listener"),
]


@pytest.mark.parametrize(("statement", "question"), BELIEVED_NO_MORE)
def test_a_row_of_the_device_that_could_act_by_itself_is_not_taken_from_a_backup(
    bench: StoreBench, statement: str, question: str
) -> None:
    target, _ = written_backup(bench)
    change(target, statement)
    path = bench.folder / "restored.db"
    restore(target, path)
    with bench.store("a", path).read() as snapshot:
        assert snapshot.db.execute(question).fetchall() == []


def test_addresses_ended_runs_and_what_was_read_are_taken_from_a_backup(bench: StoreBench) -> None:
    target, _ = written_backup(bench)
    change(
        target,
        "INSERT INTO watermark VALUES ('reader', 1)",
        "INSERT INTO peer_address VALUES (zeroblob(32), 'desk.example:9', 1)",
        "INSERT INTO run VALUES (99, 'k', zeroblob(16), 'timer', 'x', 'completed', x'', 1, 2, '', 0, 0)",
    )
    path = bench.folder / "restored.db"
    restore(target, path)
    with bench.store("a", path).read() as snapshot:
        assert snapshot.watermark("reader") == 1
        counted = snapshot.db.execute(
            "SELECT (SELECT count(*) FROM peer_address), (SELECT count(*) FROM run WHERE no = 99)"
        ).fetchall()
        assert counted == [(1, 1)]
