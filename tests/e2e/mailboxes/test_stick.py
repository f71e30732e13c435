"""The guide's recipe for a stick: a real mount, which is on one machine at a time.

Never lets the daemons link.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docs.recipe import Recipe
from tests.e2e.mailboxes.guide import (
    OFTEN,
    assert_never_linked,
    decide_on_the_other,
    join_apart,
    recipe,
    titles,
)
from tests.support.devices import Device, have_equal_state
from tests.support.machines import STICK, HostedDevice, Machine, Stick, machine
from tests.support.patience import LIMIT_S, wait_until
from tests.support.small_disk import SmallDisk, small_disk

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

Devices = tuple[HostedDevice, HostedDevice]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "medium", 2) as mounted:
        yield mounted


@pytest.fixture
def devices(disk: SmallDisk, tmp_path: Path) -> Iterator[Devices]:
    with ExitStack() as stack:
        laptop, desktop = (
            HostedDevice(name, tmp_path / name, dict(OFTEN), machine=stack.enter_context(machine()))
            for name in ("laptop", "desktop")
        )
        try:
            for device in (laptop, desktop):
                device.start()
            yield laptop, desktop
        finally:
            for device in (laptop, desktop):
                if device.daemon is not None and device.daemon.poll() is None:
                    device.kill()


def machine_of(device: Device) -> Machine:
    assert isinstance(device, HostedDevice)
    assert device.machine is not None
    return device.machine


def carry(stick: Stick, device: Device, other: Device) -> None:
    """Let a device write what waits, unmount the stick there, and plug it in at the other machine."""
    if device.do("mailbox", "list"):
        device.do("mailbox", "check", "stick")
    stick.unmount()
    stick.plug(machine_of(other))
    if other.do("mailbox", "list"):
        other.do("mailbox", "check", "stick")


def trouble(device: Device) -> str | None:
    """Return what is wrong with the stick after a look; `placet doctor` must say the same."""
    words: str | None = device.do("mailbox", "check", "stick")["trouble"]
    # Long lines are wrapped.
    diagnosis = " ".join(device.run("doctor").out.split())
    assert ("mailbox stick is looked into" in diagnosis) == (words is None), diagnosis
    assert words is None or words in diagnosis
    return words


def blobs_on(stick: Stick) -> list[Path]:
    return [path for path in stick.medium.rglob("*") if path.suffix in (".have", ".drop")]


def join_by(guide: Recipe, stick: Stick, laptop: HostedDevice, desktop: HostedDevice) -> None:
    """Carry out the recipe up to where the newcomer has everything."""
    laptop.do("add", "Varnish")
    guide.run(laptop, "mkdir", {})
    guide.run(laptop, "placet mailbox add", {})
    token = guide.run(laptop, "placet pair --invite", {}).out
    guide.run(laptop, "placet mailbox check", {})

    def join() -> None:
        stick.unmount()
        stick.plug(machine_of(desktop))
        before = len(blobs_on(stick))
        guide.run(desktop, "placet join", {}, typed=token)
        wait_until("the request lies there", lambda: len(blobs_on(stick)) > before, LIMIT_S)
        # Taken out before the newcomer is at another port: it would name that one in another request.
        stick.unmount()
        stick.plug(machine_of(laptop))

    join_apart(laptop, desktop, join, lambda device, other: carry(stick, device, other))
    carry(stick, desktop, laptop)
    carry(stick, laptop, desktop)
    wait_until("the newcomer has everything", lambda: "Varnish" in titles(desktop), LIMIT_S)


def test_two_devices_live_with_a_stick_that_goes_between_them(devices: Devices, disk: SmallDisk) -> None:
    laptop, desktop = devices
    guide, stick = recipe("A stick"), Stick(disk.path)
    stick.plug(machine_of(laptop))
    join_by(guide, stick, laptop, desktop)
    carry(stick, desktop, laptop)
    decide_on_the_other(laptop, desktop, "Paint", lambda device, other: carry(stick, device, other))

    # Pulled out while the daemon looks at it: its folder is not there, and none is made in its place.
    carry(stick, desktop, laptop)
    laptop.do("add", "Sand")
    stick.pull()
    assert "No such file or directory" in (trouble(laptop) or "")
    laptop.do("add", "Sand again")
    assert machine_of(laptop).run("test", "-e", STICK / "placet") != ""
    stick.plug(machine_of(laptop))
    assert trouble(laptop) is None
    carry(stick, laptop, desktop)
    assert {"Sand", "Sand again"} <= set(titles(desktop))

    # Read-only on one machine: what lies there is taken, and nothing can be left.
    carry(stick, desktop, laptop)
    laptop.do("add", "Oil")
    laptop.do("mailbox", "check", "stick")
    stick.unmount()
    stick.plug(machine_of(desktop), read_only=True)
    desktop.do("add", "Wax")
    assert "Read-only file system" in (trouble(desktop) or "")
    assert "Oil" in titles(desktop)
    stick.unmount()

    # Full: it says so, no half of a file stays, and what did not fit follows once there is room.
    disk.fill()
    stick.plug(machine_of(desktop))
    # Longer than a drop that the device can clear up to make room.
    desktop.do("note", "Wax", "needs a cloth " * 1000)
    assert "is full" in (trouble(desktop) or "")
    assert not [file.name for file in disk.path.rglob("*.part")]
    disk.remove_filler()
    assert trouble(desktop) is None
    carry(stick, desktop, laptop)
    assert "Wax" in titles(laptop)
    carry(stick, laptop, desktop)
    carry(stick, desktop, laptop)
    assert have_equal_state(laptop, desktop)

    guide.run(laptop, "placet mailbox remove", {})
    assert laptop.do("mailbox", "list") == []
    assert guide.untried == []
    assert any(disk.path.rglob("*.have"))
    assert_never_linked(laptop, desktop)
    assert not any(b"Paint" in file.read_bytes() for file in disk.path.rglob("*") if file.is_file())


def test_a_bundle_goes_by_stick_too(devices: Devices, disk: SmallDisk) -> None:
    laptop, desktop = devices
    stick = Stick(disk.path)
    stick.plug(machine_of(laptop))
    join_by(recipe("A stick"), stick, laptop, desktop)
    carry(stick, desktop, laptop)
    for device in (laptop, desktop):
        device.do("mailbox", "remove", "stick")
    guide = recipe("A file in a mail")

    disk.fill(leave_bytes=64)
    refused = laptop.run("bundle", "write", str(STICK / "changes.placet"))
    assert refused.status != 0
    assert "No space left on device" in refused.err
    assert not list(disk.path.glob("*changes*"))
    disk.remove_filler()

    guide.run(laptop, "placet add", {})
    guide.run(laptop, "placet bundle write", {})
    stick.unmount()
    away = desktop.run("bundle", "read", str(STICK / "changes.placet"))
    assert away.status != 0
    assert "No such file or directory" in away.err
    stick.plug(machine_of(desktop), read_only=True)
    guide.run(desktop, "placet bundle read", {})
    assert guide.untried == []
    assert "Call Ana" in titles(desktop)
    again = desktop.do("bundle", "read", str(STICK / "changes.placet"))
    assert (again["taken"], again["refused"]) == (0, 0)
    refused = desktop.run("bundle", "write", str(STICK / "other.placet"))
    assert refused.status != 0
    assert "Read-only file system" in refused.err
    stick.unmount()
    assert_never_linked(laptop, desktop)
