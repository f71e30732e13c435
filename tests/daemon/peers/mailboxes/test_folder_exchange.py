"""Devices that never meet exchange everything through a folder, whatever becomes of its files.

Never fakes a part of Placet: stores, keys and files are real, and no device can call another one.
"""

import asyncio
from pathlib import Path

import pytest

from daemon.refusal import Refused
from store.local import peer_records
from store.transaction import Transaction
from syncproto import messages
from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.daemon.peers.mailboxes.devices_apart import assert_equal, look, make_apart, part


async def use_folder(folder: Path, *devices: Device) -> None:
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    for device in devices:
        await device.peers.mailboxes.add("folder", str(folder), "box")


def blobs(folder: Path, ending: str = ".drop") -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.name.endswith(ending))


async def test_files_that_carriers_spoil_cost_delay_and_nothing_else(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea)
    await look(anna, bea)
    await anna.add("of anna", count=3)
    await look(anna)
    (drop,) = blobs(folder)
    whole = drop.read_bytes()
    drop.write_bytes(whole[: len(whole) // 2])
    (drop.parent / "notes.txt").write_text("foreign")
    (drop.parent / "a.drop").write_bytes(b"no blob")
    (drop.parent / "link.drop").symlink_to("/etc/passwd")
    (state,) = await look(bea)
    assert await bea.titles() == []
    assert state.unreadable == 0
    # A conflict copy, in letters of another case, is read like any drop.
    copy = drop.with_name(drop.stem.upper() + ".sync-conflict-20260101-120000-ABCDEFG.DROP")
    copy.write_bytes(whole)
    drop.unlink()
    await look(bea)
    await assert_equal(anna, bea)
    bea.clock.ahead_s += 2 * 86400
    (state,) = await look(bea)
    assert state.unreadable == 1


async def test_a_have_without_a_version_in_common_stays_and_is_named(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea)
    monkeypatch.setattr(messages, "VERSIONS", (9,))
    await bea.add("of bea")
    await look(bea)
    monkeypatch.undo()
    haves = blobs(folder, ".have")
    (state,) = await look(anna)
    assert (state.newer, state.older) == (["bea"], [])
    # What anna has to say is read by nobody there.
    drops = blobs(folder)
    await anna.add("of anna")
    await look(anna)
    assert blobs(folder, ".have") == haves
    assert not set(blobs(folder)) - set(drops)
    # Once bea runs the same version, all goes on.
    await bea.add("of bea, later")
    await look(bea, anna, bea, anna)
    await assert_equal(anna, bea)
    assert (await anna.peers.mailboxes.check("box")).newer == []


async def test_a_removed_member_reads_nothing_that_comes_after(fleet: Fleet, tmp_path: Path):
    anna, bea, carl = await make_apart(fleet, "anna", "bea", "carl")
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea, carl)
    await look(anna, bea, carl, anna)
    await anna.peers.devices.remove("carl", with_admitted=False)
    await anna.peers.replication.apply_roster()
    await anna.add("secret")
    # Each gives itself a new beacon key, which a removed device does not know: that goes on its way too.
    await look(anna, bea, anna, bea)
    await assert_equal(anna, bea)
    await carl.add("of carl")
    await look(carl, anna, bea, carl)
    assert await carl.titles() == ["of carl 0"]
    assert await bea.titles() == ["secret 0"]


async def test_a_device_without_its_keys_is_brought_up_again(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea)
    await look(anna, bea)
    await anna.add("of anna")
    await look(anna)
    await bea.stop()
    (bea.folder / "mailbox_keys").unlink()
    await bea.start()
    await look(bea)
    assert await bea.titles() == []
    await look(anna, bea, anna)
    await assert_equal(anna, bea)


async def test_a_folder_that_is_missing_is_neither_added_nor_made(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    with pytest.raises(Refused, match="No such file"):
        await anna.peers.mailboxes.add("folder", str(folder), "box")
    await use_folder(folder, anna, bea)
    folder.rename(tmp_path / "away")
    await anna.add("of anna")
    (state,) = await look(anna)
    assert state.trouble is not None
    assert "No such file" in state.trouble
    assert not folder.exists()


async def test_two_vaults_in_one_folder_do_not_see_each_other(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    dora, emil = await make_apart(fleet, "dora", "emil")
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea, dora, emil)
    await anna.add("of anna")
    await dora.add("of dora")
    for _ in range(2):
        await look(anna, dora, bea, emil)
    assert await bea.titles() == ["of anna 0"]
    assert await emil.titles() == ["of dora 0"]


async def test_what_a_have_says_counts_as_contact(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    await use_folder(tmp_path / "box", anna, bea)
    await look(anna, bea, anna, bea, anna)
    contacts = await anna.read(peer_records.peer_contacts)
    assert contacts[bea.id].vector == (await bea.standing()).heads.clock


async def test_another_state_for_the_same_commits_is_told_through_a_mailbox(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    await use_folder(tmp_path / "box", anna, bea)
    await look(anna, bea, anna, bea, anna)
    assert not anna.peers.replication.diverging_members()

    def damage(transaction: Transaction) -> None:
        transaction.db.execute("UPDATE standing SET state_sum = ?", (bytes(32),))

    await bea.db.write(damage)
    await look(bea, anna)
    assert set(anna.peers.replication.diverging_members()) == {bea.id}


async def test_what_was_done_in_a_mailbox_is_counted_and_news_are_told_once(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea)
    await look(anna)
    (before,) = anna.peers.mailboxes.activities()
    await anna.add("of anna")
    watch = anna.notifier.watch()
    await look(anna)
    assert await watch.wait_for_growth(0.0)
    (after,) = anna.peers.mailboxes.activities()
    assert after.has_news_since(before)
    assert (after.put - before.put, after.visits > before.visits, after.faults) == (1, True, 0)
    await look(bea)
    assert [(done.taken, done.cleared) for done in bea.peers.mailboxes.activities()] == [(1, 1)]
    await look(anna)
    # Another look finds nothing, and is no news.
    await look(anna)
    (quiet,) = anna.peers.mailboxes.activities()
    assert not quiet.has_news_since(after)
    await asyncio.to_thread(folder.rename, tmp_path / "away")
    await look(anna)
    (fault,) = anna.peers.mailboxes.activities()
    assert fault.has_news_since(quiet)
    assert (fault.faults, fault.trouble_id, fault.has_news_since(None)) == (
        quiet.faults + 1,
        "mailbox-folder-fault",
        True,
    )


async def test_a_drop_of_a_newcomer_that_brings_its_own_admission_is_no_dead_end(
    fleet: Fleet, tmp_path: Path
):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea)
    await look(anna, bea, anna)
    carl = await fleet.start("carl")
    await fleet.pair(bea, carl)
    await in_step(bea, carl)
    await part(bea, carl)
    # Carl, whom anna does not know, comes first and leaves all that she lacks.
    await use_folder(folder, carl)
    await carl.add("of carl")
    await look(carl)
    for _ in range(3):
        await look(bea, anna, carl)
    await assert_equal(anna, bea, carl)
    assert len(await anna.titles()) == 1
    assert len(blobs(folder)) == 0
