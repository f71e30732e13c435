"""A laptop and a desktop that are never on together, from an invitation to an undo, as installed.

Never runs both daemons at once.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.support.devices import Device, MakeDevice
from tests.support.patience import LIMIT_S, wait_until

pytestmark = pytest.mark.e2e


def switch(device: Device, other: Device) -> None:
    """Let a device write what waits, end it, and start the other one, which reads it."""
    device.do("mailbox", "check", "box")
    device.stop()
    other.start()
    other.do("mailbox", "check", "box")


def proposals(device: Device, task: str) -> list[dict[str, Any]]:
    return [item for item in device.do("pending", task) if item["tool"] == "update_task_estimate"]


def test_from_pairing_to_an_undo_they_never_meet(device: MakeDevice, tmp_path: Path) -> None:
    laptop, desktop = device("laptop"), device("desktop")
    desktop.stop()
    folder = tmp_path / "box"
    folder.mkdir()

    # The desktop is off. On the laptop there is work, and an invitation is made.
    laptop.do("add", "Paint")
    laptop.do("note", "Paint", "takes 1 hour")
    laptop.do("mailbox", "add", str(folder))
    invitation = laptop.do("pair", "--invite", "--mailbox", "box")
    laptop.stop()

    # The laptop is off. The desktop asks to be let in.
    desktop.start()
    answer = desktop.do("join", "--mailbox", str(folder), typed=invitation["token"])
    assert answer["waits_for"] == "box"
    assert desktop.do("list") == []
    desktop.stop()

    # The laptop lets it in, and an agent proposes something.
    laptop.start()
    laptop.do("mailbox", "check", "box")
    assert {member["name"] for member in laptop.do("devices")} == {"laptop", "desktop"}
    laptop.do("agent", "create", "Paint")
    wait_until("an hour is proposed", lambda: len(proposals(laptop, "Paint")) == 1, LIMIT_S)
    laptop.do("mailbox", "check", "box")
    laptop.stop()

    # The desktop finds the answer by itself. It says what it lacks, and the laptop leaves the rest there.
    desktop.start()
    wait_until("the desktop is in", lambda: desktop.do("mailbox", "list") != [], LIMIT_S)
    desktop.do("mailbox", "check", "box")
    switch(desktop, laptop)
    switch(laptop, desktop)

    # On the desktop, a person confirms.
    (item,) = proposals(desktop, "Paint")
    desktop.do("confirm", item["item_id"])
    assert desktop.do("show", "Paint")["estimate_minutes"] == 60
    switch(desktop, laptop)
    assert laptop.do("show", "Paint")["estimate_minutes"] == 60

    # And on the laptop, it is undone.
    laptop.do("undo", item["item_id"])
    switch(laptop, desktop)
    assert desktop.do("show", "Paint")["estimate_minutes"] is None
    switch(desktop, laptop)
    (box,) = laptop.do("mailbox", "list")
    assert (box["trouble"], box["unreadable"], box["gaps"]) == (None, 0, 0)
    assert [(reader["name"], reader["lacks"]) for reader in box["readers"]] == [("desktop", 0)]
