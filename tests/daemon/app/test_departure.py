"""Leaving a vault: goodbye while the daemon runs, a journal of its own once it has stopped.

Never takes a vault's roster anywhere.
"""

from pathlib import Path

import pytest

from tests.support.devices import Device, MakeDevice, have_equal_state, pair
from tests.support.patience import wait_until

pytestmark = pytest.mark.e2e


def names(device: Device, *, removed: bool = False) -> set[str]:
    return {observed["name"] for observed in device.do("devices") if observed["removed"] is removed}


def titles(device: Device) -> set[str]:
    return {task["title"] for task in device.do("list")}


def refused(device: Device, status: int, words: str, *more: str) -> None:
    result = device.run("devices", "leave", *more)
    assert (result.status, words in result.err) == (status, True), result.err


def left(device: Device, *more: str) -> dict[str, object]:
    """Stop a device that has said goodbye, and let it begin anew."""
    device.stop()
    fields: dict[str, object] = device.do("devices", "leave", *more)
    device.start()
    return fields


@pytest.fixture
def two(device: MakeDevice) -> tuple[Device, Device]:
    laptop, phone = device("laptop"), device("phone")
    laptop.do("add", "Shared")
    pair(laptop, phone)
    return laptop, phone


def test_a_device_that_leaves_takes_what_it_shows_along_and_nobody_else(two: tuple[Device, Device]):
    laptop, phone = two
    before = phone.do("status")
    assert phone.do("devices", "leave") == {"told": ["laptop"], "untold": [], "removed": False}
    assert names(laptop, removed=True) == {"phone"}
    laptop.do("add", "Later")
    fields = left(phone)
    assert fields["tasks"] == 1
    assert Path(str(fields["replaced"])).exists()
    assert names(phone) == {"phone"}
    assert titles(phone) == {"Shared"}
    after = phone.do("status")
    assert after["device_id"] == before["device_id"]
    assert after["replica"] != before["replica"]


def test_it_may_come_back_and_both_have_one_of_everything(two: tuple[Device, Device]):
    laptop, phone = two
    phone.do("devices", "leave")
    left(phone)
    phone.do("add", "Mine")
    token = laptop.do("pair", "--invite")["token"]
    assert phone.run("join", typed=token).status == 5
    phone.do("join", "--unite", typed=token)
    wait_until("both hold the same", lambda: have_equal_state(laptop, phone))
    for device in two:
        assert titles(device) == {"Shared", "Mine"}
        assert names(device) == {"laptop", "phone"}


def test_it_may_join_others_and_does_not_bring_its_old_vault_with_it(
    two: tuple[Device, Device],
    device: MakeDevice,
):
    laptop, phone = two
    tablet = device("tablet")
    token = tablet.do("pair", "--invite")["token"]
    result = phone.run("join", "--unite", typed=token)
    assert (result.status, "devices leave" in result.err) == (7, True), result.err
    phone.do("devices", "leave")
    left(phone, "--empty")
    assert titles(phone) == set()
    pair(tablet, phone)
    assert names(tablet) == names(phone) == {"tablet", "phone"}
    assert names(tablet, removed=True) == set()
    assert names(laptop) == {"laptop"}


def test_a_removed_device_begins_anew_in_the_same_way(two: tuple[Device, Device]):
    laptop, phone = two
    laptop.do("devices", "remove", "phone")
    wait_until("the phone is cut off", lambda: not laptop.do("devices")[1]["connected"])
    phone.stop()
    # It was cut off before it could hear of that.
    if phone.run("devices", "leave").status != 0:
        assert phone.do("devices", "leave", "--force")["tasks"] == 1
    phone.start()
    assert names(phone) == {"phone"}


def test_nobody_leaves_without_a_word_or_a_vault(two: tuple[Device, Device]):
    laptop, phone = two
    phone.stop()
    refused(phone, 5, "laptop would not know")
    laptop.stop()
    assert laptop.do("devices", "leave", "--force")["tasks"] == 1
    refused(laptop, 2, "with nobody")
    laptop.start()
    refused(laptop, 2, "with nobody")
