"""Two daemons with one key in a mailbox, and old files that its owner puts back: nobody starves by either.

Never fakes a part of Placet: data folders are copied as a person copies them.
"""

import asyncio
import shutil
from pathlib import Path

import pytest

from daemon.peers.mailboxes.holders import PREDECESSOR_MS
from store.local import peer_records
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.mailboxes.devices_apart import assert_equal, look, make_apart
from tests.daemon.peers.mailboxes.test_folder_exchange import blobs, use_folder


async def start_copy(fleet: Fleet, device: Device, name: str) -> Device:
    """Return a daemon that runs with a copy of a device's data folder, beside it."""
    await device.stop()
    await asyncio.to_thread(shutil.copytree, device.folder, device.folder.parent / name)
    await device.start()
    return await fleet.start(name)


async def put_back(device: Device, kept: Path) -> None:
    """Put an older copy of a device's data folder in the place of that."""
    await device.stop()
    await asyncio.to_thread(shutil.rmtree, device.folder)
    await asyncio.to_thread(shutil.copytree, kept, device.folder)
    await device.start()


async def keep(device: Device, kept: Path) -> None:
    await device.stop()
    await asyncio.to_thread(shutil.copytree, device.folder, kept)
    await device.start()


@pytest.mark.parametrize("writes", [True, False], ids=["both write", "neither writes"])
async def test_neither_of_two_daemons_with_one_key_starves(fleet: Fleet, tmp_path: Path, writes: bool):
    anna, bea = await make_apart(fleet, "anna", "bea")
    await use_folder(tmp_path / "box", anna, bea)
    await look(anna, bea, anna)
    twin = await start_copy(fleet, bea, "twin")
    assert twin.id == bea.id
    await look(bea, twin, anna)
    assert await anna.peers.mailboxes.copied_devices() == []
    for number in range(3):
        await anna.add(f"of anna {number}")
        if writes:
            await bea.add(f"of bea {number}")
            await twin.add(f"of twin {number}")
        await look(bea, anna, twin)
    await look(anna, bea, twin, anna, bea, twin, anna, bea)
    await assert_equal(anna, bea, twin)
    assert len(await anna.titles()) == (9 if writes else 3)
    assert blobs(tmp_path / "box") == []
    assert len(blobs(tmp_path / "box", ".have")) == 3
    # Everybody is told of it, and no more once one of them has ended.
    for device in (anna, bea, twin):
        assert await device.peers.mailboxes.copied_devices() == [bea.id]
    await twin.stop()
    for device in (anna, bea):
        device.clock.ahead_s += 4 * 86400
    await look(anna, bea, anna)
    assert await anna.peers.mailboxes.copied_devices() == []
    assert len(blobs(tmp_path / "box", ".have")) == 2


@pytest.mark.parametrize("own_writes", [0, 1])
async def test_a_device_that_was_put_back_is_brought_up_and_its_old_have_goes(
    fleet: Fleet, tmp_path: Path, own_writes: int
):
    anna, bea = await make_apart(fleet, "anna", "bea")
    await use_folder(tmp_path / "box", anna, bea)
    await look(anna, bea, anna)
    await keep(bea, tmp_path / "kept")
    await anna.add("of anna", count=3)
    if own_writes:
        await bea.add("of bea")
    await look(anna, bea, anna, bea, anna)
    await put_back(bea, tmp_path / "kept")
    assert await bea.titles() == []
    await look(bea, anna, bea, anna)
    await assert_equal(anna, bea)
    assert await anna.peers.mailboxes.copied_devices() == []
    assert len(blobs(tmp_path / "box", ".have")) == 3
    for device in (anna, bea):
        device.clock.ahead_s += PREDECESSOR_MS / 1000 + 1
    await look(bea, anna, bea, anna)
    assert len(blobs(tmp_path / "box", ".have")) == 2
    assert blobs(tmp_path / "box") == []


async def test_a_device_that_was_put_back_while_the_others_were_away_is_brought_up(
    fleet: Fleet, tmp_path: Path
):
    """Its old have is gone when they look again; what they knew of it then is what it had before."""
    anna, bea = await make_apart(fleet, "anna", "bea")
    await use_folder(tmp_path / "box", anna, bea)
    await look(anna, bea, anna)
    await keep(bea, tmp_path / "kept")
    await anna.add("of anna", count=3)
    await look(anna, bea, anna)
    await put_back(bea, tmp_path / "kept")
    await look(bea)
    bea.clock.ahead_s += PREDECESSOR_MS / 1000 + 1
    await look(bea)
    assert len(blobs(tmp_path / "box", ".have")) == 2
    await look(anna, bea, anna, bea)
    assert len(await bea.titles()) == 3
    await assert_equal(anna, bea)


async def test_old_haves_and_deleted_drops_that_are_put_back_count_for_nothing(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder, kept = tmp_path / "box", tmp_path / "kept"
    await use_folder(folder, anna, bea)
    await look(anna, bea, anna, bea)
    await anna.add("one", count=3)
    await look(anna)
    await asyncio.to_thread(shutil.copytree, folder, kept)
    await look(bea, anna, bea, anna)
    await anna.add("two")
    await look(anna, bea, anna)
    contacts = await anna.read(peer_records.peer_contacts)
    await asyncio.to_thread(shutil.copytree, kept, folder, dirs_exist_ok=True)
    # Each sees that its own have is an old one, and the first look after that clears up.
    await look(anna)
    assert (await anna.read(peer_records.peer_contacts))[bea.id].vector == contacts[bea.id].vector
    states = await look(bea, anna)
    assert [reader.lacks for state in states for reader in state.readers] == [0, 0]
    assert blobs(folder) == []
    await assert_equal(anna, bea)


async def test_an_old_have_that_is_put_back_again_and_again_delays_and_loses_nothing(
    fleet: Fleet, tmp_path: Path
):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea)
    await look(anna, bea, anna, bea)
    old = {path: path.read_bytes() for path in blobs(folder, ".have")}
    for number in range(3):
        await anna.add(f"{number}")
        for device in (anna, bea):
            for path, content in old.items():
                path.write_bytes(content)
            await look(device)
    await assert_equal(anna, bea)
    await look(anna, bea, anna)
    assert blobs(folder) == []


async def test_a_have_whose_name_the_carrier_writes_in_capitals_stays(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea)
    await look(anna, bea, anna, bea)
    for have in blobs(folder, ".have"):
        have.rename(have.with_name(have.name.upper()))
    # As on a disk that knows one name for both: a put would have replaced that file.
    (before,) = anna.peers.mailboxes.activities()
    await look(anna)
    (after,) = anna.peers.mailboxes.activities()
    assert after.cleared == before.cleared
    assert len(blobs(folder, ".HAVE")) == 2
