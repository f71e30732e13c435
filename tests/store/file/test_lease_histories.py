"""The lease in any history of stops, kills, power cuts and copies, on a disk that is only modelled.

Never claims what no file can tell: the last test shows it.
"""

import itertools
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.file import lease
from store.file.lease import OPEN_WITHIN_NS, RESERVED_COMMITS, DatabaseLocation, LeaseRecord, ReplicaDoubt
from syncproto.ids import ReplicaId
from syncproto.vector_clock import Head
from tests.store.file.lease_steps import MACHINE, replace_record


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
