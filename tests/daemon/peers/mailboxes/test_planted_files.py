"""What others may put into the folder of a mailbox, under every name that is ever opened there.

Never stops at the first thing that does harm: all are listed.
"""

import asyncio
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from daemon.control.health.mailbox_checks import check_mailboxes
from daemon.peers.mailboxes import folder as folders
from daemon.peers.mailboxes import mailboxes as looks
from daemon.peers.mailboxes.carrier import CarrierFault, ListedBlob
from daemon.peers.mailboxes.folder import FolderCarrier, tidy_vaults
from daemon.peers.mailboxes.jetstream.client import _trust
from daemon.peers.mailboxes.jetstream.place import NatsPlace
from tests.daemon.peers.fleet import Fleet
from tests.daemon.peers.mailboxes.devices_apart import make_apart
from tests.support.patience import LIMIT_S

VAULT = bytes(16)
DROP, HAVE = "aa/00000000000001-0011223344556677.drop", "aa.have"
RANDOM = bytes(8)
OPENED = [
    "",
    VAULT.hex(),
    f"{VAULT.hex()}/aa",
    f"{VAULT.hex()}/{DROP}",
    f"{VAULT.hex()}/{HAVE}",
    f"{VAULT.hex()}/.{HAVE}.part",
    f"{VAULT.hex()}/.{HAVE}.{RANDOM.hex()}.part",
    f"{VAULT.hex()}/aa/.{DROP[3:]}.part",
    f"{VAULT.hex()}/aa/.{DROP[3:]}.{RANDOM.hex()}.part",
]


def plant_folder(path: Path, inside: Path) -> None:
    path.mkdir()
    (path / "identity.pem").write_bytes(inside.joinpath("identity.pem").read_bytes())


PLANTED: dict[str, Callable[[Path, Path], object]] = {
    "link to a file": lambda path, victim: path.symlink_to(victim / "identity.pem"),
    "link to a new file": lambda path, victim: path.symlink_to(victim / "new"),
    "link to a folder": lambda path, victim: path.symlink_to(victim),
    "link to itself": lambda path, _: path.symlink_to(path),
    "link to a device": lambda path, _: path.symlink_to("/dev/full"),
    "hard link": lambda path, victim: path.hardlink_to(victim / "identity.pem"),
    "pipe": lambda path, _: os.mkfifo(path),
    "socket": lambda path, _: os.mknod(path, stat.S_IFSOCK | 0o600),
    "folder": plant_folder,
    "file that nobody may read": lambda path, _: path.touch(0),
}


def contents(folder: Path) -> dict[str, object]:
    """Return all that can be seen of a folder, without the times at which it was read."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, path.lstat().st_mtime_ns, path.read_bytes())
        if path.is_file()
        else path.lstat().st_mode
        for path in folder.rglob("*")
    }


def planted(tmp_path: Path, names: Sequence[str] = OPENED) -> Iterator[tuple[str, Path, Path]]:
    """Yield each thing under each name: what it is, the mailbox, and what must stay as it is."""
    for number, (kind, plant) in enumerate(PLANTED.items()):
        for place, name in enumerate(names):
            home = tmp_path / f"{number}-{place}"
            box, victim = home / "box", home / "victim"
            (victim / "aa" / "empty").mkdir(parents=True)
            (victim / VAULT.hex() / "aa").mkdir(parents=True)
            for secret in ("identity.pem", ".left.part", "aa/.left.part"):
                (victim / secret).write_bytes(b"private")
            path = box / name if name else box
            path.parent.mkdir(parents=True, exist_ok=True)
            plant(path, victim)
            yield f"{kind} at {name or 'the folder itself'}", box, victim


async def use(box: Path) -> list[str]:
    """Do everything to a mailbox; return what was neither done nor refused as a person is told."""
    faults: list[str] = []
    carrier = FolderCarrier(box, VAULT, randomness=lambda _: RANDOM)
    for name in (DROP, HAVE):
        for work in (
            lambda: carrier.list_blobs(["aa"]),
            lambda name=name: carrier.get(name, 100),
            lambda name=name: carrier.put(name, b"sealed"),
            lambda name=name: carrier.get(name, 100),
            lambda name=name: carrier.delete(name),
        ):
            try:
                await asyncio.wait_for(work(), LIMIT_S)
            except CarrierFault:
                continue
            except (OSError, ValueError, RuntimeError) as fault:
                faults.append(repr(fault))
    try:
        tidy_vaults(box, lambda name: name == VAULT.hex())
    except OSError:
        pass
    return faults


async def test_whatever_is_opened_in_a_mailbox_is_among_the_names_that_something_is_planted_under(
    tmp_path: Path,
):
    """So a new name cannot be forgotten: these are what Python tells of what is opened and changed."""
    box = tmp_path / "box"
    (box / VAULT.hex() / "aa").mkdir(parents=True)
    for left in OPENED[5:]:
        (box / left).write_bytes(b"half")
    used_names: set[str] = set()
    with recorded(used_names):
        assert await use(box) == []
    tried = {Path(name).name for name in OPENED} | {"box"}
    assert used_names - {""} <= tried
    assert {HAVE, DROP[3:], f".{HAVE}.{RANDOM.hex()}.part", VAULT.hex(), "box"} <= used_names


@contextmanager
def recorded(names: set[str]) -> Iterator[None]:
    """Collect the last part of each path that this process opens, makes, renames or removes."""
    is_recording = True

    def record(event: str, args: tuple[object, ...]) -> None:
        if is_recording:
            paths = args[: _PATHS_OF_EVENTS.get(event, 0)]
            names.update(Path(os.fsdecode(path)).name for path in paths if isinstance(path, str | bytes))

    # No hook can be taken away again: this one is idle beside the test.
    sys.addaudithook(record)
    try:
        yield
    finally:
        is_recording = False


_PATHS_OF_EVENTS = {
    **dict.fromkeys(("open", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.chmod", "os.utime"), 1),
    **dict.fromkeys(("os.rename", "os.link", "os.symlink"), 2),
}
"""How many paths Python tells with each event."""


async def test_nothing_planted_under_any_name_leads_out_of_a_mailbox_or_is_waited_for(tmp_path: Path):
    faults: list[str] = []
    for what, box, victim in planted(tmp_path):
        before = contents(victim)
        faults += [f"{what}: {fault}" for fault in await use(box)]
        if contents(victim) != before:
            faults.append(f"{what}: changed what lies outside")
    assert faults == []


async def test_a_file_of_a_blob_takes_the_place_of_whatever_is_planted_there(tmp_path: Path):
    for what, box, _ in planted(tmp_path, [f"{VAULT.hex()}/{DROP}", f"{VAULT.hex()}/{HAVE}"]):
        if not what.startswith("folder"):
            carrier = FolderCarrier(box, VAULT)
            for name in (DROP, HAVE):
                await carrier.put(name, b"sealed")
                assert await carrier.get(name, 100) == b"sealed", what


async def test_a_file_system_that_does_not_answer_ends_a_look_and_gets_one_thread(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    anna, _ = await make_apart(fleet, "anna", "bea")
    box = tmp_path / "box"
    box.mkdir()
    await anna.peers.mailboxes.add("folder", str(box), "box")
    go_on, hung_calls = Event(), []
    list_all = FolderCarrier._list

    def hang(self: FolderCarrier, first: object) -> object:
        hung_calls.append(first)
        go_on.wait()
        return list_all(self, ())

    monkeypatch.setattr(folders, "OPERATION_S_MAX", 0.01)
    with monkeypatch.context() as patch:
        patch.setattr(FolderCarrier, "_list", hang)
        for _ in range(3):
            state = await anna.peers.mailboxes.check("box")
            assert state.trouble_id == "mailbox-folder-no-answer"
        assert len(hung_calls) == 1
        go_on.set()
    monkeypatch.setattr(folders, "OPERATION_S_MAX", LIMIT_S)
    # The thread ends, and the next look finds all well.
    (stuck,) = anna.peers._carriers._stuck.values()
    await asyncio.wait([stuck], timeout=LIMIT_S)
    assert (await anna.peers.mailboxes.check("box")).trouble is None


async def test_a_look_that_does_not_end_is_no_sign_that_all_is_well(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    anna, _ = await make_apart(fleet, "anna", "bea")
    box = tmp_path / "box"
    box.mkdir()
    await anna.peers.mailboxes.add("folder", str(box), "box")
    never, began = asyncio.Event(), asyncio.Event()

    async def wait(self: FolderCarrier, first: object = ()) -> list[ListedBlob]:
        began.set()
        await never.wait()
        return []

    with monkeypatch.context() as patch:
        patch.setattr(FolderCarrier, "list_blobs", wait)
        anna.peers.mailboxes._open["box"].look_now.set()
        await began.wait()
        (state,) = await anna.peers.mailboxes.states()
        assert [check.code for check in check_mailboxes([state])] == ["mailbox_well"]
        anna.clock.ahead_s += 600
        (state,) = await anna.peers.mailboxes.states()
        (check,) = check_mailboxes([state])
        assert (check.code, check.well) == ("mailbox_overdue", False)
        assert "10 minutes" in check.found
        never.set()
    assert (await anna.peers.mailboxes.check("box")).overdue_s == 0
    # Whatever it is that does not answer, the look ends.
    monkeypatch.setattr(looks, "LOOK_S_MAX", 0.01)
    never.clear()
    monkeypatch.setattr(FolderCarrier, "list_blobs", wait)
    assert (await anna.peers.mailboxes.check("box")).trouble_id == "mailbox-look-too-long"


async def test_a_link_on_the_way_to_a_mailbox_is_followed_once(fleet: Fleet, tmp_path: Path):
    """Afterwards whoever may write where the link lies leads the device nowhere else."""
    anna, _ = await make_apart(fleet, "anna", "bea")
    box, link = tmp_path / "box", tmp_path / "link"
    box.mkdir()
    link.symlink_to(tmp_path)
    added = await anna.peers.mailboxes.add("folder", str(link / "box"), "box")
    assert added.place == str(box.resolve())


def test_a_file_of_nats_that_is_no_regular_file_is_not_waited_for(tmp_path: Path):
    pipe = tmp_path / "ca.pem"
    os.mkfifo(pipe)
    for place in (
        NatsPlace((), "box", ca=str(pipe)),
        NatsPlace((), "box", certificate=str(pipe)),
        NatsPlace((), "box", key=str(pipe)),
    ):
        with pytest.raises(OSError, match="no regular file"):
            _trust(place)
