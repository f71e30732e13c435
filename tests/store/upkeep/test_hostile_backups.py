"""Backups that somebody changed: what is restored follows from the signed log, or nothing is restored.

Never changes the schema: `tests/store/file/test_hostile_files.py` does that.
"""

from pathlib import Path
from typing import Any

import apsw
import pytest

from store.file.errors import DamagedDatabase
from store.local import peer_records
from store.store import Store
from store.transaction import EntityWrite
from store.upkeep import backup
from store.upkeep.verification import verify_store
from syncproto.ids import DeviceId
from tests.simulation.laws import Contents, contents
from tests.store.upkeep.backup_steps import restore, silent
from tests.store.upkeep.test_verification import LOG, TABLES, lived_in
from tests.support.stores import StoreBench, entity_id


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
    ("INSERT INTO peer VALUES (zeroblob(32), 1, x'90', NULL, NULL)", "SELECT device FROM peer"),
    (
        "INSERT INTO mailbox_have VALUES ('box', zeroblob(32), x'01', 1, 9007199254740991, x'', 1)",
        "SELECT device FROM mailbox_have",
    ),
    ("INSERT INTO own_holder VALUES ('box', x'01')", "SELECT holder FROM own_holder"),
    (
        "INSERT INTO answer VALUES (99, 'key', zeroblob(32), 200, x'7b7d', '')",
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


AGENT = entity_id(60)
KEY = "k" * 64
IN_2030_MS = 1_900_000_000_000


def restored_with(bench: StoreBench, *statements: str) -> Store:
    """Return a journal restored from a backup to which somebody wrote; it has one agent."""
    store, target = bench.store("a"), bench.folder / "a.backup"
    with store.write() as tx:
        tx.commit([EntityWrite(AGENT, "agent", {"mode": "hybrid"})])
    backup.write_backup(store.path, target, silent)
    change(target, *statements)
    path = bench.folder / "restored.db"
    restore(target, path)
    return bench.store("a", path)


def restored_rows(bench: StoreBench, question: str, *statements: str) -> list[Any]:
    """Return what such a journal answers to a question."""
    with restored_with(bench, *statements).read() as snapshot:
        return list(snapshot.db.execute(question))


@pytest.mark.parametrize(
    "row",
    [
        (f"{KEY}1", AGENT, IN_2030_MS),
        (KEY, entity_id(61), IN_2030_MS),
        (KEY, AGENT, 1 << 60),
        (KEY, AGENT, -1),
    ],
)
def test_a_timer_that_this_device_could_not_have_written_is_dropped(
    bench: StoreBench, row: tuple[str, bytes, int]
) -> None:
    key, agent, at_ms = row
    false = f"INSERT INTO timer VALUES ('{key}', x'{agent.hex()}', {at_ms})"
    true = f"INSERT INTO timer VALUES ('{'j' * 64}', x'{AGENT.hex()}', {IN_2030_MS})"
    assert restored_rows(bench, "SELECT run_key FROM timer", false, true) == [("j" * 64,)]


@pytest.mark.parametrize(
    "row",
    [
        (entity_id(61), IN_2030_MS, "day", IN_2030_MS),
        (AGENT, IN_2030_MS, "d" * 17, IN_2030_MS),
        (AGENT, -(1 << 60), "day", IN_2030_MS),
        (AGENT, IN_2030_MS, "day", 1 << 60),
    ],
)
def test_a_recurring_timer_that_could_stop_all_timers_is_dropped(
    bench: StoreBench, row: tuple[bytes, int, str, int]
) -> None:
    agent, anchor_ms, every, next_ms = row
    false = f"INSERT INTO recurring_timer VALUES (x'{agent.hex()}', {anchor_ms}, '{every}', {next_ms})"
    true = f"INSERT INTO recurring_timer VALUES (x'{AGENT.hex()}', 5, 'week', {IN_2030_MS})"
    assert restored_rows(bench, "SELECT anchor_ms, every FROM recurring_timer", false, true) == [(5, "week")]


NUMBERS = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 3000)"


@pytest.mark.parametrize(
    ("statement", "question", "kept"),
    [
        (
            f"INSERT INTO timer {NUMBERS} SELECT printf('%064d', n), x'{AGENT.hex()}', n FROM n",
            "SELECT count(*), max(at_ms) FROM timer",
            (20, 20),
        ),
        (
            f"INSERT INTO recurring_timer {NUMBERS} SELECT x'{AGENT.hex()}', 1, 'e' || n, n FROM n",
            "SELECT count(*), max(next_ms) FROM recurring_timer",
            (20, 20),
        ),
        (
            f"INSERT INTO peer_address {NUMBERS} SELECT x'07', 'h' || n || ':1', (1 << 60) + n FROM n",
            "SELECT count(*), max(good_ms) FROM peer_address",
            (16, 0),
        ),
        (
            f"INSERT INTO peer_address {NUMBERS} SELECT x'07', printf('%.*c', 300 + n, 'h'), 1 FROM n",
            "SELECT count(*) FROM peer_address",
            (0,),
        ),
    ],
)
def test_a_restore_keeps_as_many_timers_and_addresses_as_a_device_has(
    bench: StoreBench, statement: str, question: str, kept: tuple[int, ...]
) -> None:
    assert restored_rows(bench, question, statement) == [kept]


def test_an_address_of_a_restored_file_gives_way_to_one_that_works(bench: StoreBench) -> None:
    peer = DeviceId(bytes(32))
    false = f"INSERT INTO peer_address {NUMBERS} SELECT zeroblob(32), 'h' || n || ':1', 1 << 60 FROM n"
    with restored_with(bench, false).write() as tx:
        assert peer_records.addresses_reached_last(tx) == {}
        peer_records.record_working_address(tx, peer, "desk.example:9")
        assert peer_records.peer_addresses(tx)[peer][0] == "desk.example:9"
        assert peer_records.addresses_reached_last(tx) == {peer: "desk.example:9"}
