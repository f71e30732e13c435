"""A real file system without room, under a folder and under a relay: said, and nothing half written stays.

Never fakes the refusal: the disk is small, and full.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.peers.mailboxes.carrier import CarrierFault
from daemon.peers.mailboxes.carrier_choice import Access
from daemon.peers.mailboxes.folder import FolderCarrier
from tests.daemon.peers.fleet import Fleet
from tests.daemon.peers.mailboxes.devices_apart import assert_equal, make_apart
from tests.daemon.relay.running_relay import relay_in
from tests.support.small_disk import SmallDisk, small_disk

VAULT = bytes(16)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "small", 2) as mounted:
        yield mounted


async def test_a_put_that_does_not_fit_leaves_the_old_file_and_no_half(disk: SmallDisk):
    carrier = FolderCarrier(disk.path, VAULT)
    await carrier.put("aa/1.drop", b"old")
    disk.fill(leave_bytes=8192)
    for name in ("aa/1.drop", "aa/2.drop"):
        with pytest.raises(CarrierFault, match="is full") as caught:
            await carrier.put(name, bytes(100_000))
        assert caught.value.is_full
    assert [blob.name for blob in await carrier.list_blobs()] == ["aa/1.drop"]
    assert await carrier.get("aa/1.drop", 100) == b"old"
    assert not list(disk.path.rglob("*.part"))
    disk.remove_filler()
    await carrier.put("aa/2.drop", bytes(100_000))


async def test_devices_at_a_folder_on_a_full_disk_go_on_once_there_is_room(fleet: Fleet, disk: SmallDisk):
    anna, bea = await make_apart(fleet, "anna", "bea")
    box = disk.path / "box"
    box.mkdir()
    for device in (anna, bea):
        await device.peers.mailboxes.add("folder", str(box), "box")
    await anna.peers.mailboxes.check("box")
    disk.fill()
    await anna.add("of anna", count=3)
    state = await anna.peers.mailboxes.check("box")
    assert state.trouble_id == "relay-full"
    assert not list(disk.path.rglob("*.part"))
    disk.remove_filler()
    for device in (anna, bea, anna):
        assert (await device.peers.mailboxes.check("box")).trouble is None
    await assert_equal(anna, bea)


async def test_a_relay_on_a_full_disk_says_that_it_is_full(fleet: Fleet, disk: SmallDisk):
    anna, bea = await make_apart(fleet, "anna", "bea")
    async with relay_in(disk.path / "relay") as relay:
        for device in (anna, bea):
            await device.peers.mailboxes.add("relay", relay.url, "box", Access(relay.secret))
        await anna.peers.mailboxes.check("box")
        disk.fill()
        await anna.add("of anna", count=3)
        state = await anna.peers.mailboxes.check("box")
        assert state.trouble_id == "relay-full"
        disk.remove_filler()
        for device in (anna, bea, anna):
            assert (await device.peers.mailboxes.check("box")).trouble is None
        await assert_equal(anna, bea)
