"""Whoever keeps a mailbox copies valid blobs under other names: each is opened once, and few copies are read.

Never waits for a clock: what is counted are the blobs that are read and opened.
"""

import asyncio
from collections.abc import Collection
from pathlib import Path

import msgspec
import pytest

from daemon.config import MailboxSettings
from daemon.peers.mailboxes import blob_reader, visit
from daemon.peers.mailboxes import folder as folders
from daemon.peers.mailboxes.blob_reader import BlobStatus, BlobView, OpenedBlob, ReadingKeys
from daemon.peers.mailboxes.carrier import ListedBlob
from daemon.peers.mailboxes.folder import FolderCarrier
from syncproto import messages
from syncproto.mailboxes import envelope, names
from syncproto.mailboxes.envelope import BlobKind
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.mailboxes.devices_apart import assert_equal, make_apart, part

COPIES, USELESS_MAX, LISTED_MAX = 60, 10, 40


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make the bound of useless reads small; return the names that are read."""
    monkeypatch.setattr(visit, "USELESS_READ_MAX", USELESS_MAX)
    names_read: list[str] = []
    read = FolderCarrier._read

    def counted(self: FolderCarrier, name: str, bytes_max: int) -> bytes | None:
        names_read.append(name)
        return read(self, name, bytes_max)

    monkeypatch.setattr(FolderCarrier, "_read", counted)
    return names_read


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the blobs that are opened."""
    blobs_opened: list[bytes] = []
    open_blob = blob_reader.open_blob

    def counted(raw: bytes, reading_keys: ReadingKeys) -> OpenedBlob | BlobStatus:
        blobs_opened.append(raw)
        return open_blob(raw, reading_keys)

    monkeypatch.setattr(blob_reader, "open_blob", counted)
    return blobs_opened


async def meet_in(folder: Path, fleet: Fleet, *device_names: str) -> list[Device]:
    """Return devices that meet in a folder, look there when asked alone, and have noticed each other."""
    devices = await make_apart(fleet, *device_names)
    for device in devices:
        seldom = MailboxSettings(look_s=86_400.0)
        device.settings = msgspec.structs.replace(device.settings, mailbox=seldom)
    await part(*devices)
    await asyncio.to_thread(folder.mkdir)
    for device in devices:
        await device.peers.mailboxes.add("folder", str(folder), "box")
    await look(*devices, *devices)
    return devices


async def look(*devices: Device) -> None:
    for device in devices:
        assert (await device.peers.mailboxes.check("box")).trouble is None


def drops_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.drop"))


def copy(blob: Path, count: int) -> None:
    """Copy a blob under names that come before all others."""
    raw = blob.read_bytes()
    for number in range(count):
        blob.with_name(f"{number:014x}-{number:016x}{blob.suffix}").write_bytes(raw)


def views_of(device: Device) -> dict[str, BlobView]:
    return device.peers.mailboxes._open["box"].mailbox_knowledge.views


async def test_copies_of_a_drop_are_opened_once_and_few_are_read_in_a_look(
    fleet: Fleet, tmp_path: Path, reads: list[str], opened: list[bytes]
):
    folder = tmp_path / "box"
    anna, bea, carl = await meet_in(folder, fleet, "anna", "bea", "carl")
    await anna.add("of anna", count=3)
    await look(anna)
    (drop,) = await asyncio.to_thread(drops_in, folder)
    await asyncio.to_thread(copy, drop, COPIES)
    raw = await asyncio.to_thread(drop.read_bytes)
    looks = 0
    while len(views_of(bea)) < COPIES and looks < COPIES:
        reads.clear()
        await look(bea)
        looks += 1
        assert sum(drop.parent.name in name for name in reads) <= USELESS_MAX + 1
    assert opened.count(raw) == 1
    views = [view for view in views_of(bea).values() if view.status is BlobStatus.DROP]
    assert len(views) == COPIES + 1
    assert len({id(view.readers) for view in views}) == 1
    assert await bea.titles() == [f"of anna {number}" for number in range(3)]
    # Nobody clears up what carl lacks; all copies go once it has that.
    await look(carl, *[bea] * looks)
    assert await asyncio.to_thread(drops_in, folder) == []
    await assert_equal(anna, bea, carl)


async def test_the_last_copy_of_a_drop_counts_for_it(fleet: Fleet, tmp_path: Path, opened: list[bytes]):
    folder = tmp_path / "box"
    anna, bea, carl = await meet_in(folder, fleet, "anna", "bea", "carl")
    await anna.add("of anna")
    await look(anna)
    (drop,) = await asyncio.to_thread(drops_in, folder)
    raw = await asyncio.to_thread(drop.read_bytes)
    await asyncio.to_thread(copy, drop, 3)
    await look(bea, anna)
    conflict = drop.with_name(f"{drop.stem}.sync-conflict-20260101-120000-ABCDEFG.drop")
    await asyncio.to_thread(drop.rename, conflict)
    for path in await asyncio.to_thread(drops_in, folder):
        if path != conflict:
            await asyncio.to_thread(path.unlink)
    # It is sealed to carl: neither of the others writes it again.
    opened.clear()
    await look(bea, anna)
    assert await asyncio.to_thread(drops_in, folder) == [conflict]
    assert raw not in opened
    await look(carl)
    await assert_equal(anna, bea, carl)


async def test_copies_of_what_rests_on_something_else_are_not_read_at_each_look(
    fleet: Fleet, tmp_path: Path, reads: list[str], opened: list[bytes]
):
    folder = tmp_path / "box"
    anna, bea = await meet_in(folder, fleet, "anna", "bea")
    for title in ("cause", "effect"):
        await anna.add(title)
        await look(anna)
    cause, effect = await asyncio.to_thread(drops_in, folder)
    kept = await asyncio.to_thread(cause.read_bytes)
    await asyncio.to_thread(cause.unlink)
    await asyncio.to_thread(copy, effect, COPIES)
    raw = await asyncio.to_thread(effect.read_bytes)
    for _ in range(COPIES // USELESS_MAX + 1):
        await look(bea)
    assert sum(view.status is BlobStatus.GAP for view in views_of(bea).values()) == COPIES + 1
    await bea.add("something new")
    reads.clear()
    opened.clear()
    await look(bea)
    assert opened.count(raw) == 1
    assert sum(effect.parent.name in name for name in reads) == 1
    # The cause arrives: all copies count as taken.
    await asyncio.to_thread(cause.write_bytes, kept)
    await look(bea, bea)
    assert {view.status for view in views_of(bea).values()} <= {BlobStatus.DROP, BlobStatus.HAVE}
    assert await bea.titles() == ["cause 0", "effect 0", "something new 0"]


async def test_a_flood_under_one_name_leaves_out_no_other_member(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "box"
    monkeypatch.setattr(folders, "LISTED_MAX", LISTED_MAX)
    monkeypatch.setattr(visit, "LISTED_MAX", LISTED_MAX)
    anna, bea, carl = await meet_in(folder, fleet, "anna", "bea", "carl")
    vault = await anna.read(lambda snapshot: snapshot.vault())
    assert vault is not None
    tag = names.device_tag(vault, anna.id).hex()
    place = folder / names.vault_tag(vault).hex()

    def flood() -> None:
        (place / tag).mkdir(exist_ok=True)
        for number in range(3 * LISTED_MAX):
            (place / f"{tag}-{number:016x}.have").write_bytes(b"no blob")
            (place / tag / f"{number:014x}-{number:016x}.drop").write_bytes(b"no blob")

    await asyncio.to_thread(flood)
    await bea.add("of bea")
    await look(bea, carl)
    await assert_equal(bea, carl)


async def test_what_a_full_list_leaves_out_is_not_left_again_and_again(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "box"
    anna, _bea = await meet_in(folder, fleet, "anna", "bea")
    await anna.add("of anna")
    await look(anna)
    (drop,) = await asyncio.to_thread(drops_in, folder)
    list_all = FolderCarrier._list

    def list_haves(self: FolderCarrier, first: Collection[str]) -> list[ListedBlob]:
        return [blob for blob in list_all(self, first) if blob.name.endswith(".have")]

    monkeypatch.setattr(FolderCarrier, "_list", list_haves)
    monkeypatch.setattr(visit, "LISTED_MAX", 2)
    await look(anna, anna)
    assert await asyncio.to_thread(drops_in, folder) == [drop]
    # Once it is gone, it is written again.
    await asyncio.to_thread(drop.unlink)
    await look(anna)
    assert len(await asyncio.to_thread(drops_in, folder)) == 1


async def test_copies_of_a_drop_that_is_no_good_all_go_in_one_look_with_what_is_good(
    fleet: Fleet, tmp_path: Path, opened: list[bytes]
):
    folder = tmp_path / "box"
    anna, bea = await meet_in(folder, fleet, "anna", "bea")
    await anna.add("of anna")
    await look(anna)
    (good,) = await asyncio.to_thread(drops_in, folder)
    vault = await anna.read(lambda snapshot: snapshot.vault())
    assert vault is not None
    key = bea.peers.mailboxes._keys.present
    spoiled = envelope.seal(
        [messages.encode_message(messages.Commits([]))],
        kind=BlobKind.DROP,
        vault=(vault, names.vault_tag(vault)),
        sender=names.device_tag(vault, anna.id),
        number=1,
        recipients=[key.public_key],
        signer=anna.identity.signer,
        secret=bytes(32),
    )
    for number in range(3):
        path = good.with_name(f"{number:014x}-{number:016x}.drop")
        await asyncio.to_thread(path.write_bytes, spoiled)
    await look(bea)
    assert opened.count(spoiled) == 1
    assert await bea.titles() == ["of anna 0"]
    assert good.parent.name not in {path.parent.name for path in await asyncio.to_thread(drops_in, folder)}
