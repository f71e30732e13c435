"""Laptop and desktop never meet: a folder carries everything between them, on the installed program.

Never runs both daemons at once after they were paired.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.support.devices import Device, MakeDevice
from tests.support.patience import LIMIT_S, wait_until

pytestmark = pytest.mark.e2e


def turn_on(device: Device, other: Device) -> None:
    """Start a device while the other one is off."""
    assert other.daemon is None or other.daemon.poll() is not None
    device.start()


def switch(device: Device, other: Device) -> None:
    """Let a device write what waits, end it, and start the other one, which reads it."""
    device.do("mailbox", "check", "box")
    device.stop()
    turn_on(other, device)
    other.do("mailbox", "check", "box")


def proposals(device: Device, task: str) -> list[dict[str, Any]]:
    return [item for item in device.do("pending", task) if item["tool"] == "update_task_estimate"]


def test_laptop_and_desktop_never_meet(device: MakeDevice, tmp_path: Path) -> None:
    laptop, desktop = device("laptop"), device("desktop")
    token = laptop.do("pair", "--invite")["token"]
    desktop.do("join", typed=token)
    for one_device in (laptop, desktop):
        one_device.do("sync", "--wait", "60")
    folder = tmp_path / "box"
    folder.mkdir()
    for one_device in (laptop, desktop):
        one_device.do("mailbox", "add", str(folder))
    desktop.stop()

    # The desktop is off. On the laptop, an agent proposes something.
    laptop.do("add", "Paint")
    laptop.do("note", "Paint", "takes 1 hour")
    laptop.do("agent", "create", "Paint")
    wait_until("an hour is proposed", lambda: len(proposals(laptop, "Paint")) == 1, LIMIT_S)
    switch(laptop, desktop)

    # The laptop is off. On the desktop, a person confirms.
    (item,) = proposals(desktop, "Paint")
    desktop.do("confirm", item["item_id"])
    assert desktop.do("show", "Paint")["estimate_minutes"] == 60
    switch(desktop, laptop)
    assert laptop.do("show", "Paint")["estimate_minutes"] == 60
    assert proposals(laptop, "Paint") == []

    # And on the laptop, it is undone.
    laptop.do("undo", item["item_id"])
    switch(laptop, desktop)
    assert desktop.do("show", "Paint")["estimate_minutes"] is None
    switch(desktop, laptop)

    (box,) = laptop.do("mailbox", "list")
    assert (box["trouble"], box["unreadable"], box["gaps"]) == (None, 0, 0)
    assert [reader["name"] for reader in box["readers"]] == ["desktop"]
    assert [mailbox["name"] for mailbox in laptop.do("status")["mailboxes"]] == ["box"]
    assert "mailbox box is looked into" in laptop.run("doctor").out
    # The desktop's verdict came through the box; nothing lies there any more.
    (kept,) = laptop.do("log", "--where", "Paint")["mailboxes"]
    assert (kept["mailbox"], kept["brought"] > 0, kept["holds"], kept["devices"]) == ("box", True, 0, [])
    # Nothing that a stranger could read lies in the folder.
    for file in folder.rglob("*"):
        assert file.is_dir() or b"Paint" not in file.read_bytes()
