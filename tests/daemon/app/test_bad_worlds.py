"""A real daemon in a bad world: no room, nothing writable, a damaged journal, a clock set a year away.

Never accepts more than one line about it, a traceback, or a daemon that does not go on once all is well.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.commands import CommandResult
from tests.support.devices import ClockShiftedDevice, Device, pair
from tests.support.patience import LIMIT_S, wait_until
from tests.support.small_disk import SmallDisk, small_disk

pytestmark = pytest.mark.e2e

YEAR_MS = 365 * 86_400_000
DAY_MS = 86_400_000
PAGE = 4096


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "small", 12) as mounted:
        yield mounted


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[[Device], Device]]:
    """Start daemons that end with the test."""
    devices: list[Device] = []

    def start(device: Device) -> Device:
        devices.append(device)
        device.start()
        return device

    yield start
    for listed_device in devices:
        if listed_device.daemon is not None and listed_device.daemon.poll() is None:
            listed_device.kill()


Started = Callable[[Device], Device]


def assert_one_line_error(result: CommandResult, status: int, *words: str) -> None:
    """Check that a command said no in one line that names these."""
    assert result.status == status, result
    assert result.err.startswith("placet: ")
    assert result.err.count("\n") == 1, result.err
    for word in words:
        assert word in result.err, result.err


def would_not_start(device: Device, status: int, *words: str) -> None:
    assert_one_line_error(device.run("up"), status, *words)


def finding(device: Device, name: str) -> dict[str, object]:
    """Return what doctor says of one thing."""
    result = device.run("doctor", "--json")
    return next(
        check for check in result.json if check["name"] == name and (not check["well"] or result.status == 0)
    )


# -- room -------------------------------------------------------------------------------------------------


def test_below_the_floor_writes_are_refused_reads_go_on_and_room_is_noticed(
    disk: SmallDisk, started: Started
):
    device = started(Device("a", disk.path / "home", {"PLACET_DISK_FLOOR_MIB": "5"}))
    device.do("add", "Before")
    disk.fill(leave_bytes=3 << 20)
    assert_one_line_error(device.run("add", "Refused"), 1, "below the floor of 5 MiB", "free some space")
    assert [task["title"] for task in device.do("list")] == ["Before"]
    assert "below the floor" in str(finding(device, "disk")["found"])
    assert_one_line_error(device.run("backup", str(disk.path / "b.db")), 1, "to stay free", "another disk")
    disk.remove_filler()
    device.do("add", "After")
    assert device.run("doctor").status == 0


def test_a_disk_that_is_full_refuses_a_write_in_one_line_and_goes_on_by_itself(
    disk: SmallDisk, started: Started
):
    device = started(Device("a", disk.path / "home", {"PLACET_DISK_FLOOR_MIB": "0"}))
    device.do("add", "Before")
    disk.fill()
    task = device.do("list")[0]["id"]
    refused = device.run("note", task, "x" * 9_000)
    while refused.status == 0:
        refused = device.run("note", task, "x" * 9_000)
    assert_one_line_error(refused, 1, "no space left")
    assert "Before" in [task["title"] for task in device.do("list")]
    disk.remove_filler()
    device.do("add", "After")
    assert device.stop() == 0
    device.start()
    assert {"Before", "After"} <= {task["title"] for task in device.do("list")}


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
    disk.remove_filler()
    wait_until(
        "it takes what it lacks",
        lambda: full.do("status")["state_hash"] == large.do("status")["state_hash"],
        LIMIT_S,
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
    wait_until("it says why", lambda: "no commits are accepted from a peer" in low.log(), LIMIT_S)
    assert low.do("status")["commits"] == before
    disk.remove_filler()
    low.do("sync", "--wait")
    assert len(low.do("list")) == 3


def test_nothing_fits_at_the_start(disk: SmallDisk, started: Started):
    device = started(Device("a", disk.path / "home", {"PLACET_DISK_FLOOR_MIB": "0"}))
    device.do("add", "Kept")
    device.stop()
    disk.fill()
    would_not_start(device, 1, "no space left", "then start it again", "every 10 s")
    assert_one_line_error(device.run("list"), 3, "no daemon answers", f"free some space in {device.home}")
    doctor = device.run("doctor", "--json").json
    assert [(check["name"], check["well"]) for check in doctor][-2:] == [("daemon", False), ("disk", False)]
    assert "no room for the daemon to start" in doctor[-1]["found"]
    disk.remove_filler()
    device.start()
    assert [task["title"] for task in device.do("list")] == ["Kept"]
    assert device.run("doctor").out.count("new replica") == 0


def test_a_read_only_disk_is_told_at_the_start(disk: SmallDisk, started: Started):
    device = started(Device("a", disk.path / "home"))
    device.stop()
    disk.make_read_only()
    would_not_start(device, 1, "Read-only file system", "make it writable")
    assert_one_line_error(
        device.run("restore", str(device.home / "identity.pem")), 1, "Read-only file system"
    )


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
    device, file = started(Device("a", tmp_path / "a")), tmp_path / "b.db"
    device.do("add", "Kept")
    device.do("backup", str(file))
    device.stop()
    database = device.home / "placet.db"
    raw, damaged = database.read_bytes(), b""
    for damage in (header, truncated, foreign, middle):
        database.write_bytes(raw)
        damage(database)
        damaged = database.read_bytes()
        would_not_start(device, 1, "placet.db", "restore a backup")
        assert database.read_bytes() == damaged
    for command in (["verify"], ["backup", str(tmp_path / "other.db")]):
        assert_one_line_error(device.run(*command), 1, "placet.db")
    replaced = device.do("restore", str(file))["replaced"]
    assert Path(replaced).read_bytes() == damaged
    device.start()
    assert [task["title"] for task in device.do("list")] == ["Kept"]


def test_garbage_after_the_wal_of_a_killed_daemon_is_not_believed(started: Started, tmp_path: Path):
    device = started(Device("a", tmp_path / "a"))
    device.do("add", "Kept")
    device.kill()
    with (device.home / "placet.db-wal").open("ab") as wal:
        wal.write(b"\x5a" * 10_000)
    device.start()
    assert [task["title"] for task in device.do("list")] == ["Kept"]
    assert device.run("doctor").status == 0


def test_a_missing_key_is_told_and_a_readable_one_is_closed(started: Started, tmp_path: Path):
    device = started(Device("a", tmp_path / "a"))
    device.stop()
    key = device.home / "identity.pem"
    key.chmod(0o644)
    device.start()
    assert key.stat().st_mode & 0o777 == 0o600
    device.stop()
    key.rename(device.home / "elsewhere")
    would_not_start(device, 1, "identity.pem", "is missing")


def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path):
    device = Device("a", tmp_path / "a")
    device.home.mkdir()
    device.home.chmod(0o777)
    would_not_start(device, 7, "open to other users")
    assert_one_line_error(device.run("restore", str(__file__)), 7, "open to other users")


# -- the clock --------------------------------------------------------------------------------------------


def titles_in_order(device: Device) -> list[str]:
    return [change["after"] for change in device.do("log") if change["field"] == "title"]


def proposes(device: Device) -> bool:
    """Say whether a new task's agent comes to propose something: its timers go on."""
    task = device.do("add", "Write the report")["id"]
    device.do("note", task, "Due 2031-05-01. It takes about 30 minutes.")
    device.do("agent", "create", task)
    wait_until("the agent proposes", lambda: bool(device.do("pending", task)), LIMIT_S)
    return True


# By a little more than a year: a busy machine takes seconds to notice, and tells of what is left.
@pytest.mark.parametrize(("by_ms", "way"), [(-YEAR_MS - DAY_MS, "back"), (YEAR_MS + DAY_MS, "forward")])
def test_a_clock_that_is_set_a_year_away_is_told_and_stops_nothing(
    started: Started, tmp_path: Path, by_ms: int, way: str
):
    clock_shifted_device = ClockShiftedDevice("a", tmp_path / "a")
    clock_shifted_device.set_clock(0)
    started(clock_shifted_device)
    clock_shifted_device.do("add", "Before")
    clock_shifted_device.set_clock(by_ms)
    clock_shifted_device.do("add", "While it was wrong")
    assert proposes(clock_shifted_device)
    fields = finding(clock_shifted_device, "clock")
    assert f"the clock was set {way} by 1 year" in str(fields["found"])
    assert fields["remedy"]
    order = titles_in_order(clock_shifted_device)
    assert order.index("Before") != order.index("While it was wrong")
    assert clock_shifted_device.stop() == 0
    clock_shifted_device.start()
    if by_ms < 0:
        assert "of this device is dated" in str(finding(clock_shifted_device, "clock")["found"])
    clock_shifted_device.set_clock(0)
    clock_shifted_device.do("add", "Right again")
    assert len(clock_shifted_device.do("list")) == 4
    if by_ms > 0:
        clock_shifted_device.stop()
        clock_shifted_device.start()
        assert "1 year from now" in str(finding(clock_shifted_device, "clock")["found"])


def test_a_device_with_a_wrong_clock_is_named_on_the_others_and_drags_nobody_along(
    started: Started, tmp_path: Path
):
    ahead, right = ClockShiftedDevice("ahead", tmp_path / "ahead"), Device("right", tmp_path / "right")
    ahead.set_clock(YEAR_MS)
    started(ahead)
    started(right)
    pair(right, ahead)
    ahead.do("add", "From next year")
    right.do("sync", "--wait")
    text = str(finding(right, "clock")["found"])
    assert "the newest change of ahead is dated" in text
    assert "of this device" not in text
    right.do("add", "Of today")
    right.do("sync", "--wait")
    assert {task["title"] for task in ahead.do("list")} == {"From next year", "Of today"}
