"""Two vaults in one folder or one box: each reads, deletes and tells of its own blobs alone.

Never lets two devices find each other.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from daemon.control.health import mailbox_checks
from daemon.peers.mailboxes.carrier_choice import Access
from daemon.peers.mailboxes.mailboxes import NO_ACCESS
from syncproto.mailboxes import names
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.mailboxes.devices_apart import assert_equal, make_apart
from tests.daemon.relay.running_relay import relay_in

Blobs = dict[str, bytes]


class SharedPlace:
    """A folder or a box that devices of several vaults use, and the folder that has its files."""

    def __init__(self, kind: str, place: str, access: Access, folder: Path) -> None:
        self.kind, self.place, self.access, self.folder = kind, place, access, folder

    async def use(self, *devices: Device) -> None:
        for device in devices:
            await device.peers.mailboxes.add(self.kind, self.place, "box", self.access)

    async def folder_of(self, device: Device) -> Path:
        vault = await device.read(lambda snapshot: snapshot.vault())
        assert vault is not None
        return self.folder / names.vault_tag(vault).hex()

    async def blobs_of(self, device: Device) -> Blobs:
        """Return what lies there of the vault of a device."""
        folder = await self.folder_of(device)
        return await asyncio.to_thread(
            lambda: {
                str(path.relative_to(folder)): path.read_bytes()
                for path in folder.rglob("*")
                if path.is_file()
            }
        )


@pytest.fixture(params=["folder", "relay"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SharedPlace]:
    if request.param == "folder":
        folder = tmp_path / "box"
        await asyncio.to_thread(folder.mkdir)
        yield SharedPlace("folder", str(folder), NO_ACCESS, folder)
        return
    async with relay_in(tmp_path / "relay") as relay:
        blobs = relay.folder / "blobs" / "box"
        yield SharedPlace("relay", relay.url, Access(relay.secret), blobs)


async def look(*devices: Device) -> None:
    for device in devices:
        state = await device.peers.mailboxes.check("box")
        (check,) = mailbox_checks.check_mailboxes([state])
        assert (check.well, check.code) == (True, "mailbox_well")
        assert (state.unreadable, state.foreign, state.gaps) == (0, 0, 0)


async def test_two_vaults_in_one_place_exchange_as_if_each_were_alone(fleet: Fleet, place: SharedPlace):
    anna, bea = await make_apart(fleet, "anna", "bea")
    carl, dora = await make_apart(fleet, "carl", "dora")
    await place.use(anna, bea, carl, dora)
    await look(anna, bea, carl, dora)
    await anna.add("of anna", count=3)
    await carl.add("of carl", count=2)
    await look(anna, carl)
    of_carl = await place.blobs_of(carl)
    assert any(name.endswith(".drop") for name in of_carl)
    # Bea takes what is hers, and anna clears that up: nothing of the other vault is touched.
    await look(bea, anna, bea, anna)
    assert not any(name.endswith(".drop") for name in await place.blobs_of(anna))
    assert await place.blobs_of(carl) == of_carl
    (state,) = await anna.peers.mailboxes.states()
    assert (state.blobs, state.bytes) == (2, sum(map(len, (await place.blobs_of(anna)).values())))
    assert {reader.name for reader in state.readers} == {"bea"}
    await look(dora, carl, dora)
    await assert_equal(anna, bea)
    await assert_equal(carl, dora)
    assert await bea.titles() == [f"of anna {number}" for number in range(3)]
    assert await dora.titles() == [f"of carl {number}" for number in range(2)]
    # A day later nothing counts as useless, either.
    for device in (anna, bea, carl, dora):
        device.clock.ahead_s += 2 * 86_400
    await look(anna, bea, carl, dora)


async def test_a_vault_that_goes_leaves_the_place_to_the_other_one(fleet: Fleet, place: SharedPlace):
    anna, bea = await make_apart(fleet, "anna", "bea")
    carl, dora = await make_apart(fleet, "carl", "dora")
    await place.use(anna, bea, carl, dora)
    await look(anna, bea, carl, dora)
    for device in (anna, bea):
        await device.peers.mailboxes.remove("box")
    folder = await place.folder_of(anna)
    await asyncio.to_thread(shutil.rmtree, folder)
    await carl.add("of carl")
    await look(carl, dora, carl)
    await assert_equal(carl, dora)
    assert not await asyncio.to_thread(folder.exists)


async def test_what_is_put_among_the_blobs_of_another_vault_is_of_nobody_there(fleet: Fleet, tmp_path: Path):
    folder = tmp_path / "box"
    await asyncio.to_thread(folder.mkdir)
    place = SharedPlace("folder", str(folder), NO_ACCESS, folder)
    anna, bea = await make_apart(fleet, "anna", "bea")
    carl, _dora = await make_apart(fleet, "carl", "dora")
    await place.use(anna, bea, carl)
    await look(anna, bea, carl)
    await anna.add("of anna")
    await look(anna)
    mine, other = await place.folder_of(anna), await place.folder_of(carl)
    await asyncio.to_thread(shutil.copytree, mine, other, dirs_exist_ok=True)
    await look(carl)
    assert await carl.titles() == []
    carl.clock.ahead_s += 86_401
    state = await carl.peers.mailboxes.check("box")
    assert state.foreign == len(await place.blobs_of(anna))
    # Nobody deletes them: they may be of a device that is not known yet.
    assert (await place.blobs_of(anna)).items() <= (await place.blobs_of(carl)).items()
    await look(bea, anna, bea)
    await assert_equal(anna, bea)


async def test_a_bundle_of_another_vault_brings_nothing(fleet: Fleet, tmp_path: Path):
    anna, _bea = await make_apart(fleet, "anna", "bea")
    (carl, _dora) = await make_apart(fleet, "carl", "dora")
    await anna.add("of anna")
    written = await anna.peers.bundles.write(str(tmp_path / "bundle"), None)
    answer = await carl.peers.bundles.read(str(tmp_path / "bundle"))
    assert (answer.taken, answer.refused) == (0, written.blobs)
    assert await carl.titles() == []
