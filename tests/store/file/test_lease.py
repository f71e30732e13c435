"""The lease: no counter is written twice, whatever becomes of the files, as far as files can tell.

Never counts a new replica as harm: it is the safe side, and only needless if nothing was copied.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from store.file import lease
from store.file.errors import DiskFull, ReadOnlyDatabase, StoreError
from store.file.lease import LeaseRecord, ReplicaDoubt
from store.store import Store
from store.transaction import EntityWrite, Transaction
from syncproto.ids import ReplicaId
from tests.store.file.lease_steps import ELSEWHERE, MACHINE, replace_record, replica
from tests.support.source_tree import ROOT
from tests.support.stores import StoreBench, entity_id, exchange, log_and_state, write_entities


def opened(bench: StoreBench, folder: Path, machine: bytes = MACHINE) -> Store:
    return bench.store("a", folder / "a.db", machine)


def worked(bench: StoreBench, commits: int = 3) -> tuple[Path, ReplicaId]:
    """Return the folder of a store that wrote and was closed, and its replica."""
    folder = bench.folder / "home"
    folder.mkdir()
    store = opened(bench, folder)
    (head, *_) = write_entities(store, commits)
    store.close()
    return folder, head.replica


def doubted(
    bench: StoreBench, folder: Path, machine: bytes = MACHINE
) -> tuple[ReplicaDoubt | None, ReplicaId]:
    """Open a store again; return its doubt, and the replica that it writes as."""
    store = opened(bench, folder, machine)
    observed = store.doubt, replica(store)
    store.close()
    return observed


# -- what happens to files --------------------------------------------------------------------------------


def test_a_clean_stop_goes_on_as_the_same_replica(bench: StoreBench):
    folder, before = worked(bench)
    for _ in range(3):
        assert doubted(bench, folder) == (None, before)
    assert log_and_state(opened(bench, folder))[2].commits == 6


def test_a_first_start_and_a_start_without_a_commit_leave_no_doubt(bench: StoreBench):
    for _ in range(3):
        store = opened(bench, bench.folder)
        assert store.doubt is None
        store.close()


CHILD = """
import os, signal, sys
from pathlib import Path
from tests.support.stores import StoreBench, write_entities
bench = StoreBench(Path(sys.argv[1]))
bench._drawn = int(sys.argv[2])
store = bench.store("a", machine=b"m" * 16)
print(write_entities(store, int(sys.argv[3]))[0].replica.hex(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(folder: Path, drawn: int, commits: int) -> ReplicaId:
    """Let another process write and be killed; return its replica."""
    command = [sys.executable, "-c", CHILD, str(folder), str(drawn), str(commits)]
    result = subprocess.run(
        command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert result.returncode == -signal.SIGKILL, result.stderr
    return ReplicaId(bytes.fromhex(result.stdout))


def test_a_kill_goes_on_as_the_same_replica(bench: StoreBench):
    first = killed(bench.folder, 1000, 5)
    assert killed(bench.folder, 2000, 1) == first
    assert doubted(bench, bench.folder) == (None, first)


def test_a_database_put_back_after_a_kill_begins_anew(bench: StoreBench):
    folder, before = worked(bench)
    shutil.copy(folder / "a.db", bench.folder / "yesterday.db")
    assert killed(folder, 1000, 2) == before
    (folder / "a.db-wal").unlink()
    shutil.copy(bench.folder / "yesterday.db", folder / "a.db")
    doubt, after = doubted(bench, folder)
    assert (doubt, after == before) == (ReplicaDoubt.BEHIND, False)


def test_a_folder_copied_elsewhere_begins_anew_and_the_first_goes_on(bench: StoreBench):
    folder, before = worked(bench)
    shutil.copytree(folder, bench.folder / "copy")
    doubt, after = doubted(bench, bench.folder / "copy")
    assert (doubt, after == before) == (ReplicaDoubt.FILE, False)
    assert doubted(bench, folder) == (None, before)


def test_a_folder_moved_goes_on(bench: StoreBench):
    folder, before = worked(bench)
    folder.rename(bench.folder / "moved")
    assert doubted(bench, bench.folder / "moved") == (None, before)


def test_another_machine_begins_anew(bench: StoreBench):
    folder, before = worked(bench)
    doubt, after = doubted(bench, folder, ELSEWHERE)
    assert (doubt, after == before) == (ReplicaDoubt.MACHINE, False)
    assert doubted(bench, folder, ELSEWHERE) == (None, after)


@pytest.mark.parametrize(("in_place", "expected"), [(True, ReplicaDoubt.BEHIND), (False, ReplicaDoubt.FILE)])
def test_yesterdays_copy_of_the_database_begins_anew(
    bench: StoreBench, in_place: bool, expected: ReplicaDoubt
):
    folder, before = worked(bench)
    yesterday = bench.folder / "yesterday.db"
    shutil.copy2(folder / "a.db", yesterday)
    assert doubted(bench, folder) == (None, before)
    if in_place:
        shutil.copyfile(yesterday, folder / "a.db")
    else:
        yesterday.replace(folder / "a.db")
    doubt, after = doubted(bench, folder)
    assert (doubt, after == before) == (expected, False)


def test_yesterdays_copy_of_the_folder_put_back_in_place_begins_anew(bench: StoreBench, monkeypatch):
    folder, before = worked(bench)
    shutil.copytree(folder, bench.folder / "yesterday")
    assert doubted(bench, folder) == (None, before)
    # What a day does to the difference of two ctimes, without waiting for it.
    monkeypatch.setattr(lease, "CLOSED_WITHIN_NS", 0)
    for name in ("a.db", "a.db.lease"):
        shutil.copyfile(bench.folder / "yesterday" / name, folder / name)
        shutil.copystat(bench.folder / "yesterday" / name, folder / name)
    doubt, after = doubted(bench, folder)
    assert (doubt, after == before) == (ReplicaDoubt.FOLDER, False)


def test_a_process_that_stood_still_in_the_middle_of_closing_goes_on(bench: StoreBench, monkeypatch):
    write, scratch = os.pwrite, bench.folder / "scratch"
    stood: list[int] = []

    def write_late(descriptor: int, raw: bytes, offset: int) -> int:
        """Write a lease that is closed later than it says, the first time: a busy machine, or a sleep."""
        if b'"is_closed":true' in raw and not stood:
            scratch.touch()
            stood.append(scratch.stat().st_ctime_ns)
            while scratch.stat().st_ctime_ns - stood[0] <= 2 * lease.CLOSED_WITHIN_NS:
                scratch.touch()
        return write(descriptor, raw, offset)

    monkeypatch.setattr(os, "pwrite", write_late)
    folder, before = worked(bench)
    assert stood
    assert doubted(bench, folder) == (None, before)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, ReplicaDoubt.MISSING),
        (b"", ReplicaDoubt.UNREADABLE),
        (b"garbage" * 200, ReplicaDoubt.UNREADABLE),
        (b"\xff" * 512, ReplicaDoubt.UNREADABLE),
        (b"0" * 16 + b" {}" + b" " * 492 + b"\n", ReplicaDoubt.UNREADABLE),
    ],
)
def test_a_lease_that_says_nothing_begins_anew(
    bench: StoreBench, content: bytes | None, expected: ReplicaDoubt
):
    folder, before = worked(bench)
    (folder / "a.db.lease").unlink()
    if content is not None:
        (folder / "a.db.lease").write_bytes(content)
    doubt, after = doubted(bench, folder)
    assert (doubt, after == before) == (expected, False)
    assert doubted(bench, folder) == (None, after)


def test_a_lease_with_a_true_digest_and_no_record_begins_anew(bench: StoreBench):
    folder, _ = worked(bench)
    text = b'{"machine": 1}'
    line = f"{lease._digest(text)} ".encode() + text
    (folder / "a.db.lease").write_bytes(line.ljust(511) + b"\n")
    assert doubted(bench, folder)[0] is ReplicaDoubt.UNREADABLE


def test_every_changed_byte_of_the_record_is_noticed(bench: StoreBench):
    folder, _ = worked(bench)
    raw = (folder / "a.db.lease").read_bytes()
    end = len(raw.rstrip())
    for index in range(end):
        assert lease._decode_record(raw[:index] + bytes([raw[index] ^ 1]) + raw[index + 1 :]) is None
    assert lease._decode_record(raw) is not None


def test_a_lease_of_another_copy_begins_anew(bench: StoreBench):
    folder, before = worked(bench)
    raw = (folder / "a.db.lease").read_bytes()
    (folder / "a.db.lease").unlink()
    _, after = doubted(bench, folder)
    record = lease._decode_record(raw)
    assert record is not None
    (folder / "a.db.lease").write_bytes(lease._encode_record(replace_record(record, is_closed=False)))
    doubt, third = doubted(bench, folder)
    assert doubt is ReplicaDoubt.REPLICA
    assert len({before, after, third}) == 3


def test_an_old_lease_beside_a_database_that_went_on_begins_anew(bench: StoreBench):
    folder, _ = worked(bench)
    record = lease._decode_record((folder / "a.db.lease").read_bytes())
    assert record is not None
    assert doubted(bench, folder)[0] is None
    old = lease._encode_record(replace_record(record, is_closed=False))
    (folder / "a.db.lease").write_bytes(old)
    assert doubted(bench, folder)[0] is ReplicaDoubt.AHEAD


def test_a_lease_that_cannot_be_opened_is_replaced_and_one_that_cannot_be_replaced_is_told(bench: StoreBench):
    folder, before = worked(bench)
    (folder / "a.db.lease").unlink()
    (folder / "a.db.lease").symlink_to("a.db.lease")
    doubt, after = doubted(bench, folder)
    assert (doubt, after == before) == (ReplicaDoubt.UNREADABLE, False)
    (folder / "a.db.lease").unlink()
    (folder / "a.db.lease").mkdir()
    with pytest.raises(StoreError, match=r"a\.db\.lease") as error:
        opened(bench, folder)
    assert len(str(error.value).splitlines()) == 1
    assert not (folder / "a.db.part").exists()


def test_the_file_is_the_users_alone_and_one_sector(bench: StoreBench):
    folder, _ = worked(bench)
    status = (folder / "a.db.lease").stat()
    assert (status.st_mode & 0o777, status.st_size) == (0o600, 512)


# -- while it is open --------------------------------------------------------------------------------------


def lease_record(folder: Path) -> LeaseRecord:
    record = lease._decode_record((folder / "a.db.lease").read_bytes())
    assert record is not None
    return record


def test_reservations_come_in_blocks_and_before_the_commit(bench: StoreBench, monkeypatch):
    monkeypatch.setattr(lease, "RESERVED_COMMITS", 3)
    store = opened(bench, bench.folder)
    bounds = []
    for _ in range(8):
        with store.write() as tx:
            grow_in(tx)
            below = lease_record(bench.folder)
        after = lease_record(bench.folder)
        assert after.counter <= after.reserved
        assert below.counter == after.counter - 1
        bounds.append((after.counter, after.reserved))
    assert bounds == [(1, 4), (2, 4), (3, 4), (4, 4), (5, 8), (6, 8), (7, 8), (8, 8)]
    store.close()
    assert (lease_record(bench.folder).counter, lease_record(bench.folder).reserved) == (8, 8)


def grow_in(tx: Transaction) -> None:
    tx.commit([EntityWrite(entity_id(1), "task", {"title": str(tx.feed_end())})])


def test_a_transaction_without_a_commit_leaves_the_lease_alone(bench: StoreBench):
    store = opened(bench, bench.folder)
    write_entities(store, 1)
    before = lease_record(bench.folder)
    with store.write() as tx:
        tx.set_watermark("page", 1)
    assert lease_record(bench.folder) == before


@pytest.mark.parametrize(
    ("number", "kind"), [(28, DiskFull), (30, ReadOnlyDatabase), (5, StoreError), (13, ReadOnlyDatabase)]
)
def test_a_reservation_that_cannot_be_written_refuses_the_commit(
    bench: StoreBench, monkeypatch, number, kind
):
    store = opened(bench, bench.folder)

    def fails(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fails)
        with pytest.raises(kind, match=r"a\.db\.lease"):
            write_entities(store, 1)
    assert log_and_state(store)[2].commits == 0
    write_entities(store, 1)
    assert log_and_state(store)[2].commits == 1


def test_a_note_that_cannot_be_written_does_not_fail_the_commit(bench: StoreBench, monkeypatch):
    store = opened(bench, bench.folder)
    write_entities(store, 1)

    def fails(*_) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", fails)
        write_entities(store, 2)
        assert store.lease_is_stale
        store.close()
    again = opened(bench, bench.folder)
    assert (again.doubt, again.lease_is_stale) == (None, False)
    assert log_and_state(again)[2].commits == 3


def test_a_slow_mount_does_not_hold_a_commit_up_for_the_lease(bench: StoreBench, monkeypatch):
    store = opened(bench, bench.folder)
    write_entities(store, 1)
    write, writes = os.pwrite, []

    def counted(*request) -> int:
        writes.append(request)
        return write(*request)

    with monkeypatch.context() as patched:
        # As if every call took so long that no record ever contains the ctime of its file.
        patched.setattr(lease, "CLOSED_WITHIN_NS", -1)
        patched.setattr(os, "pwrite", counted)
        write_entities(store, 1)
        assert len(writes) == 2
        store.close()
        assert len(writes) == 2 + lease.WRITES_MAX
    assert opened(bench, bench.folder).doubt is None


def test_a_store_that_met_its_own_future_goes_on_as_a_new_replica_with_a_new_lease(bench: StoreBench):
    folder, before = worked(bench)
    shutil.copytree(folder, bench.folder / "copy")
    ahead = bench.store("a", bench.folder / "copy" / "a.db")
    write_entities(ahead, 2)
    store = opened(bench, folder)
    exchange(ahead, store)
    assert lease_record(folder).replica is None
    assert replica(store) != before
    store.close()
    assert doubted(bench, folder)[0] is None
