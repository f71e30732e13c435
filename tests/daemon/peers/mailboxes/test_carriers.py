"""What every carrier must do: put, list, get and delete. A new carrier joins by a line in CARRIERS.

Never knows what a blob is.
"""

import asyncio
import errno
import os
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from daemon.peers.mailboxes.carrier import Carrier, CarrierFault
from daemon.peers.mailboxes.folder import FolderCarrier
from tests.daemon.relay.running_relay import relay_in
from tests.support.patience import LIMIT_S

MakeCarrier = Callable[[Path, bytes], Carrier]
CARRIERS = ("folder", "relay", pytest.param("nats", marks=pytest.mark.external("nats-server")))
VAULT, OTHER_VAULT = bytes(16), bytes([1]) * 16
NAMES = ["aa/00000000000001-0011223344556677.drop", "aa/00000000000002-0011223344556677.drop", "aa.have"]


@pytest.fixture(params=CARRIERS)
async def make(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MakeCarrier]:
    if request.param == "folder":
        yield FolderCarrier
        return
    if request.param == "nats":
        from tests.daemon.peers.mailboxes.running_nats import nats_in

        async with nats_in(tmp_path / "nats") as cluster:
            yield lambda _, vault: cluster.carrier(vault)
        return
    async with relay_in(tmp_path / "relay") as relay:
        yield lambda _, vault: relay.carrier(vault)


async def listed_names(carrier: Carrier) -> list[str]:
    return sorted(blob.name for blob in await carrier.list_blobs())


async def test_what_was_put_is_listed_and_got_until_it_is_deleted(make: MakeCarrier, tmp_path: Path):
    carrier = make(tmp_path, VAULT)
    assert await listed_names(carrier) == []
    for number, name in enumerate(NAMES):
        await carrier.put(name, bytes([number]) * (number + 1))
    assert await listed_names(carrier) == sorted(NAMES)
    assert sorted(blob.size for blob in await carrier.list_blobs()) == [1, 2, 3]
    assert await carrier.get(NAMES[1], 100) == b"\1\1"
    for name in NAMES:
        await carrier.delete(name)
        await carrier.delete(name)
        assert await carrier.get(name, 100) is None
    assert await listed_names(carrier) == []


async def test_a_blob_that_is_put_again_is_replaced_and_has_another_mark(make: MakeCarrier, tmp_path: Path):
    carrier = make(tmp_path, VAULT)
    await carrier.put("aa.have", b"one")
    (before,) = await carrier.list_blobs()
    await carrier.put("aa.have", b"two and more")
    (after,) = await carrier.list_blobs()
    assert before.mark != after.mark
    assert await carrier.get("aa.have", 100) == b"two and more"


async def test_a_blob_that_is_too_long_is_cut(make: MakeCarrier, tmp_path: Path):
    carrier = make(tmp_path, VAULT)
    await carrier.put("aa.have", bytes(1000))
    assert await carrier.get("aa.have", 10) == bytes(11)


async def test_vaults_in_one_place_do_not_see_each_other(make: MakeCarrier, tmp_path: Path):
    await make(tmp_path, VAULT).put("aa.have", b"one")
    other = make(tmp_path, OTHER_VAULT)
    assert await listed_names(other) == []
    assert await other.get("aa.have", 10) is None


# -- what only a folder can be -------------------------------------------------------------------------


async def test_foreign_files_and_links_in_a_folder_are_passed_over(tmp_path: Path):
    carrier = FolderCarrier(tmp_path, VAULT)
    await carrier.put(NAMES[0], b"mine")
    own = tmp_path / VAULT.hex()
    (tmp_path / "notes.drop").write_bytes(b"outside of the vault")
    (own / "aa" / ".syncthing.x.drop.tmp").write_bytes(b"half")
    (own / "aa" / "linked.drop").symlink_to("/etc/hostname")
    (own / "linked").symlink_to("/etc")
    (own / "aa" / "deeper").mkdir()
    (own / "aa" / "deeper" / "b.drop").write_bytes(b"too deep")
    os.mkfifo(own / "aa" / "pipe.drop")
    assert await listed_names(carrier) == [NAMES[0]]
    assert await carrier.get("aa/linked.drop", 100) is None
    assert await carrier.get("aa/pipe.drop", 100) is None


async def test_nothing_is_written_through_a_link_nor_into_a_folder_that_is_away(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / VAULT.hex()).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CarrierFault):
        await FolderCarrier(tmp_path / "box", VAULT).put("aa.have", b"one")
    with pytest.raises(CarrierFault):
        await FolderCarrier(tmp_path / "missing", VAULT).put("aa.have", b"one")
    with pytest.raises(CarrierFault):
        await FolderCarrier(tmp_path / "missing", VAULT).list_blobs()
    assert not (tmp_path / "missing").exists()
    assert list((tmp_path / "elsewhere").iterdir()) == []


async def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    carrier = FolderCarrier(tmp_path, VAULT)
    await carrier.put("aa.have", b"old")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(CarrierFault):
        await carrier.put("aa.have", b"new")
    assert await carrier.get("aa.have", 100) == b"old"
    assert [path.name for path in (tmp_path / VAULT.hex()).iterdir()] == ["aa.have"]


async def test_folders_go_with_the_last_blob_in_them_and_come_again(tmp_path: Path):
    carrier = FolderCarrier(tmp_path, VAULT)
    for _ in range(2):
        for number in range(20):
            await carrier.put(f"{number:02x}/00000000000001-0011223344556677.drop", b"sealed")
        await carrier.put("aa.have", b"sealed")
        for number in range(20):
            await carrier.delete(f"{number:02x}/00000000000001-0011223344556677.drop")
        assert [path.name for path in (tmp_path / VAULT.hex()).iterdir()] == ["aa.have"]
        await carrier.delete("aa.have")
        assert not (tmp_path / VAULT.hex()).exists()


async def test_a_folder_that_goes_while_a_blob_is_put_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    carrier, left = FolderCarrier(tmp_path, VAULT), [1]
    mkdir = os.mkdir

    def make_and_remove(path: str, *args: Any, dir_fd: int | None = None) -> None:
        mkdir(path, *args, dir_fd=dir_fd)
        if path == "aa" and left:
            left.pop()
            os.rmdir(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "mkdir", make_and_remove)
    await carrier.put(NAMES[0], b"sealed")
    assert left == []
    assert await carrier.get(NAMES[0], 100) == b"sealed"


async def test_nothing_is_written_after_whoever_put_it_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    began, go_on, fsync = threading.Event(), threading.Event(), os.fsync

    def wait(descriptor: int) -> None:
        began.set()
        assert go_on.wait(LIMIT_S)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", wait)
    task = asyncio.create_task(FolderCarrier(tmp_path, VAULT).put(NAMES[0], b"sealed"))
    await asyncio.to_thread(began.wait, LIMIT_S)
    task.cancel()
    asyncio.get_running_loop().call_later(0.05, go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await task
    # What was under way is over: a folder that a person deletes now stays away.
    shutil.rmtree(tmp_path / VAULT.hex())
    await asyncio.sleep(0.1)
    assert not (tmp_path / VAULT.hex()).exists()
