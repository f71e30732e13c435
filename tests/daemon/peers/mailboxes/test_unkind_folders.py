"""A folder that is read-only or full, and one with very many files of others: said, and nothing is lost.

Never fills a disk: the system's own refusal comes from the test.
"""

import asyncio
import errno
import os
from pathlib import Path

import pytest

from daemon.peers.mailboxes.folder import FolderCarrier
from tests.daemon.peers.fleet import Fleet
from tests.daemon.peers.mailboxes.devices_apart import assert_equal, make_apart

FOREIGN_FILES = 3000


@pytest.mark.parametrize("refusal", [errno.EROFS, errno.ENOSPC])
async def test_a_folder_that_takes_nothing_is_said_and_costs_delay_alone(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: int
):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    await asyncio.to_thread(folder.mkdir)
    for device in (anna, bea):
        await device.peers.mailboxes.add("folder", str(folder), "box")
    await anna.peers.mailboxes.check("box")
    await anna.add("of anna", count=3)

    def refuse(self: FolderCarrier, name: str, content: bytes) -> None:
        raise OSError(refusal, os.strerror(refusal))

    with monkeypatch.context() as patch:
        patch.setattr(FolderCarrier, "_write", refuse)
        state = await anna.peers.mailboxes.check("box")
        assert state.trouble is not None
        assert ("is full" if refusal == errno.ENOSPC else os.strerror(refusal)) in state.trouble
    assert (await anna.peers.mailboxes.check("box")).trouble is None
    for device in (bea, anna, bea):
        await device.peers.mailboxes.check("box")
    await assert_equal(anna, bea)


async def test_very_many_files_of_others_are_neither_read_nor_counted(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    folder = tmp_path / "box"
    await asyncio.to_thread(folder.mkdir)
    for device in (anna, bea):
        await device.peers.mailboxes.add("folder", str(folder), "box")

    def litter() -> None:
        places = [folder, *(path for path in folder.iterdir() if path.is_dir())]
        for place in places:
            for number in range(FOREIGN_FILES):
                (place / f"photo-{number}.jpg").touch()

    await asyncio.to_thread(litter)
    await anna.add("of anna", count=3)
    for device in (anna, bea, anna, bea):
        state = await device.peers.mailboxes.check("box")
        assert state.blobs < 10
        assert state.unreadable == 0
    await assert_equal(anna, bea)
