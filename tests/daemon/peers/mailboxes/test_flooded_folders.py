"""A folder that a stranger fills: what members left comes first, and the rest is looked at in small parts.

Never waits for a clock: what is counted are the files that are read.
"""

import asyncio
from collections.abc import Collection
from pathlib import Path

import msgspec
import pytest

from daemon.config import MailboxSettings
from daemon.peers.mailboxes import folder as folders
from daemon.peers.mailboxes import visit
from daemon.peers.mailboxes.carrier import ListedBlob
from daemon.peers.mailboxes.folder import FolderCarrier
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.mailboxes.devices_apart import assert_equal, make_apart, part

FLOOD = 500
LISTED_MAX, STRANGERS_MAX = 250, 20
STRANGER = "f" * 32


async def use_folder(folder: Path, *devices: Device) -> None:
    await asyncio.to_thread(folder.mkdir)
    for device in devices:
        await device.peers.mailboxes.add("folder", str(folder), "box")


def flood(vault: Path) -> None:
    """Put files with names of blobs beside those of members and in a folder of nobody, and many folders."""
    stranger = vault / STRANGER
    stranger.mkdir()
    for number in range(FLOOD):
        (vault / f"{STRANGER}-{number:016x}.have").write_bytes(b"no blob")
        (stranger / f"{number:014x}-{number:016x}.drop").write_bytes(b"no blob")
        (vault / f"{number:032x}").mkdir()
        (vault / f"photo-{number}.jpg").touch()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make the bounds small; return the names that are read."""
    monkeypatch.setattr(folders, "LISTED_MAX", LISTED_MAX)
    monkeypatch.setattr(visit, "STRANGERS_READ_MAX", STRANGERS_MAX)
    reads: list[str] = []
    read = FolderCarrier._read

    def counted(self: FolderCarrier, name: str, bytes_max: int) -> bytes | None:
        reads.append(name)
        return read(self, name, bytes_max)

    monkeypatch.setattr(FolderCarrier, "_read", counted)
    return reads


async def test_what_members_left_comes_before_whatever_a_stranger_put_there(
    fleet: Fleet, tmp_path: Path, few: list[str]
):
    anna, bea = devices = await make_apart(fleet, "anna", "bea")
    for device in devices:
        # What is counted is one look, and not what the daemon does by itself meanwhile.
        seldom = MailboxSettings(look_s=86_400.0)
        device.settings = msgspec.structs.replace(device.settings, mailbox=seldom)
    await part(*devices)
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea)
    for device in (anna, bea):
        await device.peers.mailboxes.check("box")
    (vault,) = folder.iterdir()
    await asyncio.to_thread(flood, vault)
    await anna.add("of anna", count=3)
    await bea.add("of bea", count=3)
    for device in (anna, bea, anna):
        few.clear()
        state = await device.peers.mailboxes.check("box")
        assert state.trouble is None
        # Not one of those that a visit reads crowds out what is for this device.
        assert sum(name.startswith((STRANGER, "0" * 20)) for name in few) <= STRANGERS_MAX
        assert state.blobs <= LISTED_MAX
    await assert_equal(anna, bea)


async def test_few_of_a_strangers_files_are_listed_beside_those_of_members(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(folders, "STRANGERS_LISTED_MAX", 50)
    carrier, member = FolderCarrier(tmp_path, bytes(16)), "a" * 32
    for number in range(3):
        await carrier.put(f"{member}/{number:014x}-{number:016x}.drop", b"of a member")
    await asyncio.to_thread(flood, tmp_path / bytes(16).hex())
    listed = [blob.name for blob in await carrier.list_blobs([member])]
    assert [name.startswith(member) for name in listed[:3]] == [True] * 3
    assert 3 < len(listed) <= 3 + 50
    # Without members to go by, all are listed.
    assert len(await carrier.list_blobs()) == 2 * FLOOD + 3


async def test_strangers_files_are_told_after_a_day(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea)
    for device in (anna, bea):
        await device.peers.mailboxes.check("box")
    (vault,) = folder.iterdir()
    # A have with a signature that is not its device's: of nobody, for all that can be known.
    (have, *_) = sorted(vault.glob("*.have"))
    raw = have.read_bytes()
    (vault / f"{STRANGER}-{0:016x}.have").write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    (vault / f"{STRANGER}-{1:016x}.have").write_bytes(b"no blob")
    assert (await anna.peers.mailboxes.check("box")).foreign == 0
    anna.clock.ahead_s += 86_401
    state = await anna.peers.mailboxes.check("box")
    assert (state.foreign, state.unreadable) == (1, 1)


async def test_a_device_folder_in_letters_of_the_other_case_is_that_of_its_device(
    fleet: Fleet, tmp_path: Path, few: list[str]
):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    await use_folder(folder, anna, bea)
    for device in (anna, bea):
        await device.peers.mailboxes.check("box")
    await anna.add("of anna", count=3)
    await anna.peers.mailboxes.check("box")
    (vault,) = folder.iterdir()
    (drops,) = {path.parent for path in vault.rglob("*.drop")}
    drops.rename(vault / drops.name.upper())
    await asyncio.to_thread(flood, vault)
    await bea.peers.mailboxes.check("box")
    await assert_equal(anna, bea)
    assert any(name.startswith(drops.name.upper()) for name in few)


@pytest.mark.parametrize(("listing_s", "delay_s"), [(0.5, 5.0), (8.0, 32.0), (3600.0, 300.0)])
async def test_a_folder_that_takes_long_to_list_is_looked_into_less_often(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listing_s: float, delay_s: float
):
    anna, _ = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    await use_folder(folder, anna)
    opened = anna.peers.mailboxes._open["box"]
    list_all = FolderCarrier._list

    def list_slowly(self: FolderCarrier, first: Collection[str]) -> list[ListedBlob]:
        anna.clock.ahead_s += listing_s
        return list_all(self, first)

    monkeypatch.setattr(FolderCarrier, "_list", list_slowly)
    assert (await anna.peers.mailboxes.check("box")).trouble is None
    assert opened.delay_s == pytest.approx(delay_s, abs=2.5)
