"""Leaving a vault: goodbye while the daemon runs, a journal of its own once it has stopped.

Never takes a vault's roster anywhere.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.devices import Device, agree, pair, wait_until

Make = Callable[..., Device]
pytestmark = pytest.mark.e2e

# The fixture of the end-to-end tests serves here too.
from tests.e2e.conftest import device  # noqa: E402, F401


def names(one: Device, *, removed: bool = False) -> set[str]:
    return {seen["name"] for seen in one.do("devices") if seen["removed"] is removed}


def titles(one: Device) -> set[str]:
    return {task["title"] for task in one.do("list")}


def refused(one: Device, status: int, words: str, *more: str) -> None:
    done = one.run("devices", "leave", *more)
    assert (done.status, words in done.err) == (status, True), done.err


def left(one: Device, *more: str) -> dict[str, object]:
    """Stop a device that has said goodbye, and let it begin anew."""
    one.stop()
    told: dict[str, object] = one.do("devices", "leave", *more)
    one.start()
    return told


@pytest.fixture
def two(device: Make) -> tuple[Device, Device]:  # noqa: F811 - a fixture is asked for by its name
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
    told = left(phone)
    assert told["tasks"] == 1
    assert Path(str(told["replaced"])).exists()
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
    wait_until("both hold the same", lambda: agree(laptop, phone), 20)
    for one in two:
        assert titles(one) == {"Shared", "Mine"}
        assert names(one) == {"laptop", "phone"}


def test_it_may_join_others_and_does_not_bring_its_old_vault_with_it(
    two: tuple[Device, Device],
    device: Make,  # noqa: F811 - as above
):
    laptop, phone = two
    tablet = device("tablet")
    token = tablet.do("pair", "--invite")["token"]
    done = phone.run("join", "--unite", typed=token)
    assert (done.status, "devices leave" in done.err) == (7, True), done.err
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
    wait_until("the phone is cut off", lambda: not laptop.do("devices")[1]["connected"], 10)
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
