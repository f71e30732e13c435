"""Bundles: one file that brings a device up, and files that are none.

Never lets two devices find each other.
"""

import asyncio
import os
from pathlib import Path

import pytest

from daemon.refusal import Refused
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.mailboxes.devices_apart import assert_equal, make_apart
from tests.support.patience import LIMIT_S


async def carry(sender: Device, receiver: Device, file: Path) -> None:
    await sender.peers.bundles.write(str(file), None)
    await receiver.peers.bundles.read(str(file))


async def test_a_bundle_brings_what_a_device_lacks(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    await anna.add("of anna", count=40)
    await bea.add("of bea")
    await carry(anna, bea, tmp_path / "first")
    await carry(bea, anna, tmp_path / "second")
    await carry(anna, bea, tmp_path / "third")
    await assert_equal(anna, bea)
    again = await bea.peers.bundles.read(str(tmp_path / "first"))
    assert (again.taken, again.gaps, again.refused) == (0, 0, 0)
    # What bea said of itself in its bundle is known: the next one has nothing that it holds.
    written = await anna.peers.bundles.write(str(tmp_path / "fourth"), "bea")
    assert (written.blobs, written.devices) == (1, ["bea"])


async def test_a_bundle_for_one_device_says_nothing_to_another(fleet: Fleet, tmp_path: Path):
    anna, bea, carl = await make_apart(fleet, "anna", "bea", "carl")
    await anna.add("for bea")
    file = tmp_path / "bundle"
    await anna.peers.bundles.write(str(file), "bea")
    answer = await carl.peers.bundles.read(str(file))
    assert (answer.taken, answer.sealed) == (0, 1)
    assert await carl.titles() == []
    assert (await bea.peers.bundles.read(str(file))).taken == 1
    assert await bea.titles() == ["for bea 0"]


async def test_what_is_no_bundle_is_refused(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    file = tmp_path / "bundle"
    await anna.peers.bundles.write(str(file), None)
    with pytest.raises(Refused, match="exists already"):
        await anna.peers.bundles.write(str(file), None)
    whole = await asyncio.to_thread(file.read_bytes)
    for content in (whole[:-1], b"no bundle", whole + b"\xc1", b""):
        await asyncio.to_thread(file.write_bytes, content)
        with pytest.raises(Refused, match="cannot be used"):
            await bea.peers.bundles.read(str(file))
    with pytest.raises(Refused, match="No such file"):
        await bea.peers.bundles.read(str(tmp_path / "missing"))
    with pytest.raises(Refused, match="no device matches"):
        await anna.peers.bundles.write(str(tmp_path / "other"), "nobody")


async def test_a_pipe_a_device_or_a_folder_is_no_bundle_and_keeps_no_other_waiting(
    fleet: Fleet, tmp_path: Path
):
    anna, bea = await make_apart(fleet, "anna", "bea")
    await anna.add("of anna")
    os.mkfifo(tmp_path / "pipe")
    async with asyncio.timeout(LIMIT_S):
        for name in (str(tmp_path / "pipe"), "/dev/zero", str(tmp_path)):
            with pytest.raises(Refused, match="cannot be used"):
                await bea.peers.bundles.read(name)
        with pytest.raises(Refused, match="exists already"):
            await anna.peers.bundles.write(str(tmp_path / "pipe"), None)
        await carry(anna, bea, tmp_path / "bundle")
    assert await bea.titles() == ["of anna 0"]


async def test_a_device_is_named_by_its_name_or_by_the_beginning_of_its_id_alone(
    fleet: Fleet, tmp_path: Path
):
    anna, bea, carl = await make_apart(fleet, "anna", "bea", "carl")
    written = await anna.peers.bundles.write(str(tmp_path / "by id"), bea.id.hex()[:12])
    assert written.devices == ["bea"]
    # Neither this device, nor several, nor a part from the middle of a name or an id.
    for name in (anna.id.hex(), "anna", "", "be", carl.id.hex()[1:9]):
        with pytest.raises(Refused, match="no device matches"):
            await anna.peers.bundles.write(str(tmp_path / "none"), name)
    assert not await asyncio.to_thread((tmp_path / "none").exists)
    assert (await anna.peers.bundles.write(str(tmp_path / "all"), None)).devices == ["bea", "carl"]


async def test_a_bundle_that_cannot_be_written_leaves_no_file(fleet: Fleet, tmp_path: Path):
    anna, _ = await make_apart(fleet, "anna", "bea")
    for file in (tmp_path / "missing" / "bundle", tmp_path / ("x" * 300)):
        with pytest.raises(Refused, match="cannot be used"):
            await anna.peers.bundles.write(str(file), None)
    names = await asyncio.to_thread(os.listdir, tmp_path)
    assert not any("bundle" in name for name in names)


async def test_a_device_alone_has_nobody_to_write_a_bundle_for(fleet: Fleet, tmp_path: Path):
    anna = await fleet.start("anna")
    with pytest.raises(Refused, match="no other device"):
        await anna.peers.bundles.write(str(tmp_path / "bundle"), None)
    assert not await asyncio.to_thread((tmp_path / "bundle").exists)
