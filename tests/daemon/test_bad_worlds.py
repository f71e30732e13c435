"""A real daemon in a bad world: no room, nothing writable, a damaged journal, a clock set a year away.

Never accepts more than one line about it, a traceback, or a daemon that does not go on once all is well.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.devices import START_S, Device, Done, Shifted, pair, wait_until
from tests.mounts import SmallDisk, small_disk

pytestmark = pytest.mark.e2e

YEAR_MS = 365 * 86_400_000
DAY_MS = 86_400_000
PAGE = 4096


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "small", 12) as made:
        yield made


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[[Device], Device]]:
    """Start daemons that end with the test."""
    made: list[Device] = []

    def start(one: Device) -> Device:
        made.append(one)
        one.start()
        return one

    yield start
    for one in made:
        if one.daemon is not None and one.daemon.poll() is None:
            one.kill()


Started = Callable[[Device], Device]


def told(done: Done, status: int, *words: str) -> None:
    """Check that a command said no in one line that names these."""
    assert done.status == status, done
    assert done.err.startswith("placet: ")
    assert done.err.count("\n") == 1, done.err
    for word in words:
        assert word in done.err, done.err


def would_not_start(one: Device, status: int, *words: str) -> None:
    told(one.run("up"), status, *words)


def finding(one: Device, name: str) -> dict[str, object]:
    """Return what doctor says of one thing."""
    done = one.run("doctor", "--json")
    return next(
        check for check in done.json if check["name"] == name and (not check["well"] or done.status == 0)
    )


# -- room -------------------------------------------------------------------------------------------------


def test_below_the_floor_writes_are_refused_reads_go_on_and_room_is_noticed(
    disk: SmallDisk, started: Started
):
    one = started(Device("a", disk.path / "home", {"PLACET_DISK_FLOOR_MIB": "5"}))
    one.do("add", "Before")
    disk.fill(leave_bytes=3 << 20)
    told(one.run("add", "Refused"), 1, "below the floor of 5 MiB", "free some space")
    assert [task["title"] for task in one.do("list")] == ["Before"]
    assert "below the floor" in str(finding(one, "disk")["found"])
    told(one.run("backup", str(disk.path / "b.db")), 1, "to stay free", "another disk")
    disk.make_room()
    one.do("add", "After")
    assert one.run("doctor").status == 0


def test_a_disk_that_is_full_refuses_a_write_in_one_line_and_goes_on_by_itself(
    disk: SmallDisk, started: Started
):
    one = started(Device("a", disk.path / "home", {"PLACET_DISK_FLOOR_MIB": "0"}))
    one.do("add", "Before")
    disk.fill()
    task = one.do("list")[0]["id"]
    refused = one.run("note", task, "x" * 9_000)
    while refused.status == 0:
        refused = one.run("note", task, "x" * 9_000)
    told(refused, 1, "no space left")
    assert "Before" in [task["title"] for task in one.do("list")]
    disk.make_room()
    one.do("add", "After")
    assert one.stop() == 0
    one.start()
    assert {"Before", "After"} <= {task["title"] for task in one.do("list")}


def test_a_peer_that_fills_the_disk_is_taken_from_once_there_is_room(
    disk: SmallDisk, started: Started, tmp_path: Path
):
    full = started(Device("full", disk.path / "home", {"PLACET_DISK_FLOOR_MIB": "0"}))
    large = started(Device("large", tmp_path / "large"))
    pair(large, full)
    disk.fill(leave_bytes=300_000)
    task = large.do("add", "Long")["id"]
    for _ in range(12):
        large.do("note", task, "y" * 60_000)
    assert full.run("status").status == 0
    disk.make_room()
    wait_until(
        "it takes what it lacks",
        lambda: full.do("status")["state_hash"] == large.do("status")["state_hash"],
        START_S,
    )


def test_below_the_floor_nothing_is_taken_from_a_peer_until_there_is_room(
    disk: SmallDisk, started: Started, tmp_path: Path
):
    low = started(Device("low", disk.path / "home", {"PLACET_DISK_FLOOR_MIB": "5"}))
    large = started(Device("large", tmp_path / "large"))
    pair(large, low)
    disk.fill(leave_bytes=4 << 20)
    before = low.do("status")["commits"]
    for number in range(3):
        large.do("add", f"Number {number}")
    wait_until("it says why", lambda: "nothing is taken" in low.log(), START_S)
    assert low.do("status")["commits"] == before
    disk.make_room()
    low.do("sync", "--wait")
    assert len(low.do("list")) == 3


def test_nothing_fits_at_the_start(disk: SmallDisk, started: Started):
    one = started(Device("a", disk.path / "home", {"PLACET_DISK_FLOOR_MIB": "0"}))
    one.do("add", "Kept")
    one.stop()
    disk.fill()
    would_not_start(one, 1, "no space left")
    disk.make_room()
    one.start()
    assert [task["title"] for task in one.do("list")] == ["Kept"]
    assert one.run("doctor").out.count("new replica") == 0


def test_a_read_only_disk_is_told_at_the_start(disk: SmallDisk, started: Started):
    one = started(Device("a", disk.path / "home"))
    one.stop()
    disk.make_read_only()
    would_not_start(one, 1, "Read-only file system", "make it writable")
    told(one.run("restore", str(one.home / "identity.pem")), 1, "Read-only file system")


# -- the file ---------------------------------------------------------------------------------------------


def middle(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    for page in range(1, len(raw) // PAGE):
        raw[page * PAGE : page * PAGE + 200] = b"\xff" * 200
    path.write_bytes(raw)


def header(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[:100] = b"\0" * 100
    path.write_bytes(raw)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: PAGE + 100])


def foreign(path: Path) -> None:
    path.write_bytes(b"#!/bin/sh\necho this is no database\n" * 200)


def test_a_damaged_journal_is_told_by_every_command_kept_and_replaced_by_a_backup(
    started: Started, tmp_path: Path
):
    one, file = started(Device("a", tmp_path / "a")), tmp_path / "b.db"
    one.do("add", "Kept")
    one.do("backup", str(file))
    one.stop()
    database = one.home / "placet.db"
    whole, damaged = database.read_bytes(), b""
    for damage in (header, truncated, foreign, middle):
        database.write_bytes(whole)
        damage(database)
        damaged = database.read_bytes()
        would_not_start(one, 1, "placet.db", "restore a backup")
        assert database.read_bytes() == damaged
    for command in (["verify"], ["backup", str(tmp_path / "other.db")]):
        told(one.run(*command), 1, "placet.db")
    replaced = one.do("restore", str(file))["replaced"]
    assert Path(replaced).read_bytes() == damaged
    one.start()
    assert [task["title"] for task in one.do("list")] == ["Kept"]


def test_garbage_after_the_wal_of_a_killed_daemon_is_not_believed(started: Started, tmp_path: Path):
    one = started(Device("a", tmp_path / "a"))
    one.do("add", "Kept")
    one.kill()
    with (one.home / "placet.db-wal").open("ab") as wal:
        wal.write(b"\x5a" * 10_000)
    one.start()
    assert [task["title"] for task in one.do("list")] == ["Kept"]
    assert one.run("doctor").status == 0


def test_a_missing_key_is_told_and_a_readable_one_is_closed(started: Started, tmp_path: Path):
    one = started(Device("a", tmp_path / "a"))
    one.stop()
    key = one.home / "identity.pem"
    key.chmod(0o644)
    one.start()
    assert key.stat().st_mode & 0o777 == 0o600
    one.stop()
    key.rename(one.home / "elsewhere")
    would_not_start(one, 1, "identity.pem", "is missing")


def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path):
    one = Device("a", tmp_path / "a")
    one.home.mkdir()
    one.home.chmod(0o777)
    would_not_start(one, 7, "open to other users")
    told(one.run("restore", str(__file__)), 7, "open to other users")


# -- the clock --------------------------------------------------------------------------------------------


def titles_in_order(one: Device) -> list[str]:
    return [change["after"] for change in one.do("log") if change["field"] == "title"]


def proposes(one: Device) -> bool:
    """Say whether a new task's agent comes to propose something: its timers go on."""
    task = one.do("add", "Write the report")["id"]
    one.do("note", task, "Due 2031-05-01. It takes about 30 minutes.")
    one.do("agent", "create", task)
    wait_until("the agent proposes", lambda: bool(one.do("pending", task)), START_S)
    return True


# By a little more than a year: a busy machine takes seconds to notice, and tells of what is left.
@pytest.mark.parametrize(("by_ms", "way"), [(-YEAR_MS - DAY_MS, "back"), (YEAR_MS + DAY_MS, "forward")])
def test_a_clock_that_is_set_a_year_away_is_told_and_stops_nothing(
    started: Started, tmp_path: Path, by_ms: int, way: str
):
    one = Shifted("a", tmp_path / "a")
    one.set_clock(0)
    started(one)
    one.do("add", "Before")
    one.set_clock(by_ms)
    one.do("add", "While it was wrong")
    assert proposes(one)
    found = finding(one, "clock")
    assert f"the clock was set {way} by 1 year" in str(found["found"])
    assert found["remedy"]
    order = titles_in_order(one)
    assert order.index("Before") != order.index("While it was wrong")
    assert one.stop() == 0
    one.start()
    if by_ms < 0:
        assert "of this device is dated" in str(finding(one, "clock")["found"])
    one.set_clock(0)
    one.do("add", "Right again")
    assert len(one.do("list")) == 4
    if by_ms > 0:
        one.stop()
        one.start()
        assert "1 year from now" in str(finding(one, "clock")["found"])


def test_a_device_with_a_wrong_clock_is_named_on_the_others_and_drags_nobody_along(
    started: Started, tmp_path: Path
):
    ahead, right = Shifted("ahead", tmp_path / "ahead"), Device("right", tmp_path / "right")
    ahead.set_clock(YEAR_MS)
    started(ahead)
    started(right)
    pair(right, ahead)
    ahead.do("add", "From next year")
    right.do("sync", "--wait")
    found = str(finding(right, "clock")["found"])
    assert "the newest change of ahead is dated" in found
    assert "of this device" not in found
    right.do("add", "Of today")
    right.do("sync", "--wait")
    assert {task["title"] for task in ahead.do("list")} == {"From next year", "Of today"}
