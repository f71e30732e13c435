"""What nobody needs any more goes, and what was spoiled on its way does not count as left.

Never asks a device to believe what a folder shows.
"""

import asyncio
from pathlib import Path

import msgspec
import pytest

from daemon.config import MailboxSettings
from daemon.peers.mailboxes.sealing_key_file import DAY_MS
from daemon.peers.mailboxes.urgent_commits import has_urgent_commit
from store.transaction import EntityWrite
from syncproto.mailboxes import names
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.mailboxes.devices_apart import assert_equal, look, make_apart, part

YEAR_S = 365 * 86_400


async def use_folder(folder: Path, *devices: Device) -> None:
    await asyncio.to_thread(folder.mkdir)
    for device in devices:
        await device.peers.mailboxes.add("folder", str(folder), "box")


def blobs(folder: Path, ending: str = ".drop") -> list[Path]:
    return sorted(path for path in folder.rglob(f"*{ending}") if path.is_file())


async def blobs_of(device: Device, folder: Path) -> list[Path]:
    """Return what a device has left in a folder."""
    vault = await device.read(lambda snapshot: snapshot.vault())
    assert vault is not None
    tag = names.device_tag(vault, device.id).hex()
    return [path for path in blobs(folder, "") if path.relative_to(folder).parts[1].startswith(tag)]


async def test_a_drop_that_was_replaced_by_one_as_long_is_written_again(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea)
    await look(anna, bea)
    await anna.add("of anna", count=3)
    await look(anna)
    (drop,) = blobs(folder)
    drop.write_bytes(bytes(drop.stat().st_size))
    # The one who wrote it notices by itself, without a word of the others.
    await look(anna)
    assert len(blobs(folder)) == 2
    await look(bea)
    await assert_equal(anna, bea)


async def test_what_a_removed_device_left_goes_an_hour_later(fleet: Fleet, tmp_path: Path):
    anna, bea, carl = await make_apart(fleet, "anna", "bea", "carl")
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea, carl)
    await look(anna, bea, carl, anna)
    await anna.peers.devices.remove("carl", with_admitted=False)
    await anna.peers.replication.apply_roster()
    await look(anna, bea)
    await carl.add("of carl")
    await look(carl)
    of_carl = await blobs_of(carl, folder)
    assert {path.suffix for path in of_carl} == {".drop", ".have"}
    await look(anna, bea)
    assert all(path.exists() for path in of_carl)
    anna.clock.ahead_s += 3601
    await look(anna)
    assert not any(path.exists() for path in of_carl)
    await look(bea, anna)
    await assert_equal(anna, bea)
    assert await anna.titles() == []


async def test_a_half_file_of_an_earlier_process_goes_with_the_next_drop(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea)
    await look(anna, bea)
    await anna.add("of anna")
    await look(anna)
    (drop,) = blobs(folder)
    half = drop.with_name(".0000-00.drop.part")
    half.write_bytes(b"half")
    foreign = drop.with_name("0000-00.jpg")
    foreign.write_bytes(b"of somebody")
    await anna.stop()
    await anna.start()
    await anna.add("again")
    await look(anna)
    assert not half.exists()
    assert foreign.exists()
    await look(bea)
    await assert_equal(anna, bea)


async def test_a_key_is_renewed_while_the_daemon_runs_and_old_blobs_still_open(fleet: Fleet, tmp_path: Path):
    devices = await make_apart(fleet, "anna", "bea")
    anna, bea = devices
    for device in devices:
        renewing = MailboxSettings(renew_days=30)
        device.settings = msgspec.structs.replace(device.settings, mailbox=renewing)
    await part(*devices)
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea)
    await look(anna, bea)
    before = bea.peers.mailboxes._keys.present
    await anna.add("to the old key")
    await look(anna)
    bea.clock.ahead_s += 31 * DAY_MS / 1000
    await look(bea)
    after = bea.peers.mailboxes._keys.present
    assert after.number > before.number
    assert await bea.titles() == ["to the old key 0"]
    await look(anna)
    await anna.add("to the new key")
    await look(anna, bea, anna, bea, anna)
    await assert_equal(anna, bea)
    members = anna.peers.mailboxes._members.linkable_members()
    published = members[bea.id].sealing_key
    assert published is not None
    assert published.number == after.number


@pytest.mark.parametrize("years", [-1, 1])
async def test_a_clock_that_is_a_year_off_and_is_put_right_costs_delay_alone(
    fleet: Fleet, tmp_path: Path, years: int
):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea)
    await look(anna, bea)
    anna.clock.ahead_s += years * YEAR_S
    await anna.add("while off")
    await bea.add("of bea")
    await look(anna, bea, anna, bea)
    await assert_equal(anna, bea)
    anna.clock.ahead_s -= years * YEAR_S
    await anna.add("put right")
    await bea.add("of bea, later")
    await look(anna, bea, anna, bea)
    await assert_equal(anna, bea)
    assert len(await bea.titles()) == 4
    await look(anna, bea)
    assert blobs(folder) == []


@pytest.mark.parametrize(
    ("kind", "is_urgent"),
    [("ask", True), ("use", True), ("decision", True), ("device", True), ("task", False), ("entry", False)],
)
async def test_what_somebody_waits_for_does_not_gather(fleet: Fleet, kind: str, is_urgent: bool):
    anna = await fleet.start("anna")
    end = anna.db.feed_end
    # Behind so many others, too.
    await anna.add("import", count=600)
    await anna.db.write(lambda tx: tx.commit([EntityWrite(tx.new_id(), kind, {"text": "x"})]))
    assert await anna.read(lambda snapshot: has_urgent_commit(snapshot, end)) is is_urgent
