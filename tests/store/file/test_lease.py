"""The lease: no counter is written twice, whatever becomes of the files, as far as files can tell.

Never counts a new replica as harm: it is the safe side, and only needless if nothing was copied.
"""

import itertools
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from store.file import lease
from store.file.errors import DiskFull, ReadOnlyDatabase, StoreError
from store.file.lease import OPEN_WITHIN_NS, RESERVED_COMMITS, DatabaseLocation, LeaseRecord, ReplicaDoubt
from store.store import Store
from store.transaction import EntityWrite, Transaction
from syncproto.ids import ReplicaId
from syncproto.vector_clock import Head
from tests.support.source_tree import ROOT
from tests.support.stores import StoreBench, entity_id, exchange, log_and_state, write_entities

MACHINE, ELSEWHERE = b"m" * 16, b"e" * 16


def replica(store: Store) -> ReplicaId:
    """Return the replica that a store writes as after its next commit."""
    (head,) = write_entities(store, 1)
    return head.replica


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


def replace_record(record: LeaseRecord, **changes) -> LeaseRecord:
    return structs.replace(record, **changes)


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


# -- any history -------------------------------------------------------------------------------------------


@dataclass
class Disk:
    """The files of one folder. A power cut leaves `synced` of the lease, a kill `record`."""

    inode: int
    chain: list[tuple[int, int]] = field(default_factory=list)
    """The store's own commits, as (replica, what was written): the n-th of a replica has counter n."""
    replica: int | None = None
    record: LeaseRecord | None = None
    synced: LeaseRecord | None = None
    ctime_ns: int = 0


class World:
    """One person's folder, what becomes of it, and what was ever told under which counter."""

    def __init__(self) -> None:
        self.clock_ns = 10 * OPEN_WITHIN_NS
        self.drawn = 100
        self.told: dict[tuple[int, int], int] = {}
        self.disk = Disk(inode=1)
        self.copies: list[Disk] = []
        self.running = False
        self.noted = False
        self.doubts: list[ReplicaDoubt] = []

    def draw(self) -> int:
        self.drawn += 1
        return self.drawn

    def chain(self, replica: int | None) -> list[int]:
        return [commit for name, commit in self.disk.chain if name == replica]

    def own(self) -> Head | None:
        if self.disk.replica is None:
            return None
        mine = self.chain(self.disk.replica)
        return Head(name_of(self.disk.replica), len(mine), mine[-1].to_bytes(32, "big"))

    def holds(self, head: Head) -> bool:
        mine = self.chain(int.from_bytes(head.replica, "big"))
        return len(mine) >= head.counter and mine[head.counter - 1].to_bytes(32, "big") == head.hash

    def keep(self, record: LeaseRecord, *, synced: bool) -> None:
        record = replace_record(record, ctime_ns=self.clock_ns)
        self.disk.record, self.disk.ctime_ns = record, self.clock_ns
        if synced:
            self.disk.synced = record

    def tell(self) -> None:
        """What a store holds once it runs, peers may hear of: a counter must mean one commit for ever."""
        for name in {name for name, _ in self.disk.chain}:
            for counter, commit in enumerate(self.chain(name), 1):
                assert self.told.setdefault((name, counter), commit) == commit, "a counter was written twice"

    def start(self) -> None:
        if self.running:
            return
        own, record = self.own(), self.disk.record
        database_location = DatabaseLocation(MACHINE, self.disk.inode, self.disk.ctime_ns)
        replica_doubt = (
            ReplicaDoubt.MISSING
            if record is None
            else own and lease.find_doubt(record, database_location, own, self.holds)
        )
        if own is not None and replica_doubt is not None:
            assert isinstance(replica_doubt, ReplicaDoubt)
            self.doubts.append(replica_doubt)
            self.disk.replica = None
        self.keep(lease.record_on_open(database_location, self.own()), synced=True)
        self.running, self.noted = True, False
        self.tell()

    def write(self, *, until: str = "told") -> None:
        """Make a commit; a kill may come when it is `reserved` or `durable`, before it is told."""
        self.start()
        assert self.disk.record is not None
        name = self.draw() if self.disk.replica is None else self.disk.replica
        wanted = lease.record_reserving(self.disk.record, name_of(name), len(self.chain(name)) + 1)
        if wanted is not self.disk.record:
            self.keep(wanted, synced=True)
        if until != "reserved":
            self.disk.replica = name
            self.disk.chain.append((name, self.draw()))
        if until != "told":
            self.running = False
            # As a service manager does. Nothing would show a copy made right here, of what is durable and not
            # told; no other moment has such a gap.
            self.start()
            return
        self.keep(lease.record_durable(wanted, self.own()), synced=not self.noted)
        self.noted = True
        self.tell()

    def cut_power(self) -> None:
        self.running = False
        self.disk.record = self.disk.synced

    def stop(self) -> None:
        if self.running:
            assert self.disk.record is not None
            self.keep(lease.record_on_close(self.disk.record), synced=True)
        self.running = False

    def copy(self) -> None:
        """Copy the folder while no daemon runs."""
        self.stop()
        self.copies.append(replace(self.disk, chain=list(self.disk.chain)))

    def put_back(self, way: str, which: int) -> None:
        """Put a copy in place of what is there."""
        self.stop()
        self.clock_ns += 10 * OPEN_WITHIN_NS
        if not self.copies:
            return
        old = self.copies[which % len(self.copies)]
        self.disk.chain, self.disk.replica = list(old.chain), old.replica
        if "folder" in way:
            self.disk.record, self.disk.synced, self.disk.ctime_ns = old.record, old.synced, self.clock_ns
        if "anew" in way:
            self.disk.inode = self.draw()

    def clone(self) -> None:
        """Copy the folder, let the copy write, and go on with the first."""
        self.stop()
        first = self.disk
        self.disk = replace(first, chain=list(first.chain), inode=self.draw(), ctime_ns=self.clock_ns)
        self.write()
        self.stop()
        self.disk = first

    def lose_lease(self) -> None:
        self.stop()
        self.disk.record = self.disk.synced = None


def name_of(number: int) -> ReplicaId:
    return ReplicaId(number.to_bytes(16, "big"))


HONEST = ["write", "stop", "kill", "killed, reserved", "killed, durable", "power cut"]
COPIES = ["copy", "database", "database anew", "folder", "folder anew", "clone", "lease lost"]


def live(events: list[str]) -> World:
    world = World()
    for number, event in enumerate(events):
        match event:
            case "write":
                world.write()
            case "killed, reserved" | "killed, durable":
                world.write(until=event.split()[-1])
            case "stop":
                world.stop()
            case "kill":
                world.running = False
            case "power cut":
                world.cut_power()
            case "copy":
                world.copy()
            case "clone":
                world.clone()
            case "lease lost":
                world.lose_lease()
            case way:
                world.put_back(way, number)
    world.write()
    return world


@settings(max_examples=500)
@given(st.lists(st.sampled_from(HONEST), max_size=30))
def test_stops_kills_and_power_cuts_are_never_taken_for_copies(events: list[str]):
    assert live(events).doubts == []


@settings(max_examples=500)
@given(st.lists(st.sampled_from(HONEST + COPIES), min_size=3, max_size=12))
def test_no_counter_is_told_twice_whatever_is_copied_and_put_back(events: list[str]):
    live(events)


def test_no_short_history_tells_a_counter_twice():
    for first, last in itertools.product(["write", "stop", "power cut"], ["database", "folder", "clone"]):
        for between in itertools.product([*HONEST, *COPIES], repeat=3):
            live(["write", "copy", first, *between, last])


def test_a_snapshot_of_the_whole_disk_is_what_the_lease_cannot_see():
    world = live(["write", "write"])
    world.stop()
    snapshot = replace(world.disk, chain=list(world.disk.chain))
    world.write()
    world.stop()
    world.disk = snapshot
    with pytest.raises(AssertionError, match="written twice"):
        world.write()


def test_blocks_are_large_enough_to_cost_nothing():
    assert RESERVED_COMMITS >= 1000
