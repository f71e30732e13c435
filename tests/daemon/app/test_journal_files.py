"""Backup, restore and verify as a person runs them: the real command, with and without a running daemon.

Never looks into the store: what it knows of a journal, it knows from the command line.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from daemon.app import journal_files
from daemon.cli.terminal.display import Display
from daemon.cli.views.files.backups import restore_lines
from daemon.folder_lock import lock_folder
from daemon.peers.transport import identity, sealed_key
from daemon.peers.transport.sealed_key import UnsealError
from store.file.database import SchemaRule, connect
from store.store import Store
from tests.support.commands import CommandResult
from tests.support.devices import Device, MakeDevice, have_equal_state, pair
from tests.support.patience import wait_until
from tests.support.stores import NOW_MS

SEED, DEVICE = bytes(range(32)), b"d" * 32
WORDS = "correct horse battery"


def titles(device: Device) -> set[str]:
    return {task["title"] for task in device.do("list")}


def refused(result: CommandResult, status: int, words: str) -> None:
    """Check that a command said no in one line."""
    assert result.status == status, result
    assert result.out == ""
    assert result.err.count("\n") == 1, result.err
    assert words in result.err
    assert "Traceback" not in result.err


# -- sealing ----------------------------------------------------------------------------------------------


def test_a_sealed_key_comes_back_under_its_passphrase_alone(monkeypatch: pytest.MonkeyPatch):
    assert sealed_key._COST >= 1 << 17
    monkeypatch.setattr(sealed_key, "_COST", 1 << 8)
    drawn = iter(range(100))
    sealed = sealed_key.seal(SEED, WORDS, DEVICE, lambda count: bytes([next(drawn)]) * count)
    assert SEED not in sealed
    assert sealed_key.unseal(sealed, WORDS, DEVICE) == SEED
    again = sealed_key.seal(SEED, WORDS, DEVICE, lambda count: bytes([next(drawn)]) * count)
    assert again != sealed
    for changed, words, whose in (
        (sealed, WORDS + "!", DEVICE),
        (sealed, WORDS, b"e" * 32),
        (sealed[:-1] + bytes([sealed[-1] ^ 1]), WORDS, DEVICE),
    ):
        with pytest.raises(UnsealError, match="passphrase is wrong"):
            sealed_key.unseal(changed, words, whose)
    for unknown in (b"", b"placet key 1\n", b"placet key 2\n" + sealed[13:], sealed[:20]):
        with pytest.raises(UnsealError, match="form"):
            sealed_key.unseal(unknown, WORDS, DEVICE)


# -- what is refused --------------------------------------------------------------------------------------


def silent(stage: str, count: int, total: int) -> None:
    """Hear of progress, and tell nobody."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a data folder with a journal in it and no daemon."""
    folder = tmp_path / "home"
    own = identity.load_or_create(folder, secrets_of)
    Store.open(folder / "placet.db", signer=own.signer, now_ms=lambda: NOW_MS, randomness=secrets_of).close()
    monkeypatch.setenv("PLACET_HOME", str(folder))
    before = os.umask(0o022)
    yield folder
    os.umask(before)


def secrets_of(count: int) -> bytes:
    return bytes(range(count))


def back_up(target: Path, *, force: bool = False, passphrase: str | None = None) -> dict[str, Any]:
    return journal_files.backup(str(target), silent, force=force, passphrase=passphrase)


def put_back(file: Path, *, as_this_device: bool = False) -> dict[str, Any]:
    return journal_files.restore(str(file), silent, passphrase=lambda: WORDS, as_this_device=as_this_device)


def said_no(answer: dict[str, Any], code: str, words: str) -> None:
    assert answer["error"]["code"] == code, answer
    assert words in answer["error"]["message"] + answer["error"]["hint"]
    assert "\n" not in answer["error"]["message"]


def test_a_backup_goes_only_where_it_harms_nothing(home: Path, tmp_path: Path):
    said_no(back_up(tmp_path / "missing" / "b"), "failed", "cannot be written")
    said_no(back_up(tmp_path), "usage", "is a folder")
    for name in ("placet.db", "placet.db-wal", "placet.db.lease", "identity.pem", "daemon.lock"):
        said_no(back_up(home / name, force=True), "usage", "Placet's own")
    assert back_up(tmp_path / "b")["commits"] == 0
    said_no(back_up(tmp_path / "b"), "needs_confirmation", "--force")
    assert back_up(tmp_path / "b", force=True)["bytes"] > 0
    assert back_up(home / "beside.backup")["with_key"] is False
    said_no(back_up(tmp_path / "c", passphrase="short"), "usage", "8 characters")
    assert not (tmp_path / "c").exists()


def test_a_damaged_key_goes_into_no_backup(home: Path, tmp_path: Path):
    (home / "identity.pem").write_text("no key")
    said_no(back_up(tmp_path / "b", passphrase=WORDS), "failed", "does not contain a key")
    (home / "config.toml").write_text("colour = 1")
    said_no(back_up(tmp_path / "b"), "usage", "unknown setting")


def test_what_is_no_backup_is_refused_and_changes_nothing(home: Path, tmp_path: Path):
    before = (home / "placet.db").read_bytes()
    letter = tmp_path / "letter"
    letter.write_text("Dear reader" * 100)
    said_no(put_back(letter), "failed", "is not a Placet backup")
    said_no(put_back(tmp_path / "none"), "not_found", "no backup")
    said_no(put_back(home / "placet.db"), "usage", "the journal itself")
    with lock_folder(home):
        said_no(put_back(letter), "failed", "stop it first")
    assert (home / "placet.db").read_bytes() == before
    assert not list(home.glob("*.restoring*"))


def test_the_journal_itself_is_verified_in_place_also_where_its_file_is_named(home: Path):
    names: set[str] = set()
    answer = journal_files.verify(str(home / "placet.db"), lambda stage, finished, total: names.add(stage))
    assert answer["sound"]
    # Of a backup, a copy is read first.
    assert "reading" not in names


def test_the_files_of_another_journal_are_copied_only_while_no_daemon_writes_to_them(
    home: Path, tmp_path: Path
):
    other = tmp_path / "other"
    shutil.copytree(home, other)
    assert journal_files.verify(str(other / "placet.db"), silent)["sound"]
    with lock_folder(other):
        said_no(journal_files.verify(str(other / "placet.db"), silent), "failed", "is writing to")
        said_no(put_back(other / "placet.db"), "failed", "placet backup")
    assert put_back(other / "placet.db")["commits"] == 0


def test_a_restore_that_failed_may_be_tried_again(home: Path, tmp_path: Path):
    assert "error" not in back_up(tmp_path / "b")
    (home / "identity.pem").unlink()
    with closing(connect(home / "placet.db", SchemaRule.KNOWN)) as reader:
        reader.execute("BEGIN; SELECT * FROM standing")
        said_no(put_back(tmp_path / "b"), "failed", "in use")
    assert not (home / "identity.pem").exists()
    assert "error" not in put_back(tmp_path / "b")
    assert (home / "identity.pem").exists()


def test_what_was_left_of_a_journal_that_is_gone_is_kept_and_named(home: Path, tmp_path: Path):
    assert "error" not in back_up(tmp_path / "b")
    (home / "placet.db").unlink()
    (home / "placet.db-wal").write_bytes(b"the last changes")
    fields = put_back(tmp_path / "b")
    assert fields["replaced"] is None
    (file,) = fields["side_files"]
    assert Path(file).read_bytes() == b"the last changes"
    assert f"    {file}" in list(restore_lines(fields, Display()))
    lines = list(restore_lines(put_back(tmp_path / "b"), Display()))
    assert not [line for line in lines if "There was no journal here" in line]


def test_a_sealed_key_that_is_not_wanted_is_left_where_it_is(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sealed_key, "_COST", 1 << 8)
    assert back_up(tmp_path / "b", passphrase=WORDS)["with_key"]
    fields = put_back(tmp_path / "b")
    assert (fields["key_restored"], fields["device_id"] == fields["of_device_id"]) == (False, True)
    monkeypatch.setenv("PLACET_HOME", str(tmp_path / "new"))
    new = put_back(tmp_path / "b", as_this_device=True)
    assert (new["key_restored"], new["device_id"] == new["of_device_id"]) == (False, False)
    said_no(put_back(tmp_path / "b"), "needs_confirmation", "--as-this-device")


# -- one device -------------------------------------------------------------------------------------------


@pytest.mark.e2e
def test_a_backup_of_a_running_daemon_brings_the_journal_back(device: MakeDevice, tmp_path: Path):
    laptop, file = device("laptop"), tmp_path / "kept" / "b.db"
    laptop.do("add", "Kept")
    file.parent.mkdir()
    answer = laptop.do("backup", str(file))
    assert (answer["file"], answer["commits"], answer["with_key"]) == (str(file), 2, False)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert b"PRIVATE KEY" not in file.read_bytes()
    refused(laptop.run("backup", str(file)), 5, "--force")
    laptop.do("add", "Lost")
    before = laptop.do("status")
    refused(laptop.run("restore", str(file)), 1, "stop it first")
    laptop.stop()
    answer = laptop.do("restore", str(file))
    assert answer["device_id"] == answer["of_device_id"] == before["device_id"]
    assert Path(answer["replaced"]).exists()
    laptop.start()
    assert titles(laptop) == {"Kept"}
    laptop.do("add", "Anew")
    after = laptop.do("status")
    assert (after["device_id"] == before["device_id"], after["replica"] == before["replica"]) == (True, False)
    laptop.stop()
    laptop.do("restore", answer["replaced"])
    laptop.start()
    assert titles(laptop) == {"Kept", "Lost"}


@pytest.mark.e2e
def test_a_key_that_went_along_makes_another_machine_the_same_device(device: MakeDevice, tmp_path: Path):
    laptop, file = device("laptop"), tmp_path / "b.db"
    laptop.do("add", "Kept")
    before = laptop.do("status")
    refused(laptop.run("backup", str(file), "--with-key"), 2, "--passphrase-file")
    refused(laptop.run("backup", str(file), "--passphrase-file", "-"), 2, "--with-key")
    secret = tmp_path / "secret"
    # The same line opens the key wherever it comes from, spaces too.
    line = f"  {WORDS} \n"
    secret.write_text(line)
    assert laptop.do("backup", str(file), "--with-key", "--passphrase-file", str(secret))["with_key"]
    assert b"PRIVATE KEY" not in file.read_bytes()
    laptop.stop()
    new = Device("new", tmp_path / "new")
    refused(
        new.run("restore", str(file), "--passphrase-file", "-", typed="wrong words\n"),
        7,
        "passphrase is wrong",
    )
    refused(new.run("restore", str(file)), 2, "nobody is there to type it")
    assert not (new.home / "identity.pem").exists()
    json = new.run("restore", str(file), "--passphrase-file", "-", "--json", typed=line).json
    assert (json["key_restored"], json["device_id"]) == (True, before["device_id"])
    try:
        new.start()
        assert titles(new) == {"Kept"}
        after = new.do("status")
        assert after["device_id"] == before["device_id"]
        assert after["replica"] != before["replica"]
    finally:
        new.kill()


@pytest.mark.e2e
def test_a_new_machine_without_the_key_is_a_new_device_that_a_member_lets_in_again(
    device: MakeDevice, tmp_path: Path
):
    laptop, phone, file = device("laptop"), device("phone"), tmp_path / "b.db"
    laptop.do("add", "Kept")
    pair(laptop, phone)
    laptop.do("backup", str(file))
    laptop.do("add", "Since the backup")
    laptop.do("sync", "--wait")
    laptop.kill()
    new = Device("new", tmp_path / "new")
    answer = new.do("restore", str(file))
    assert answer["device_id"] != answer["of_device_id"]
    try:
        new.start()
        assert titles(new) == {"Kept"}
        pair(phone, new)
        assert titles(new) == {"Kept", "Since the backup"}
        assert have_equal_state(new, phone)
        names = {listed_device["name"] for listed_device in phone.do("devices")}
        assert names == {"laptop", "phone", "new"}
    finally:
        new.kill()


@pytest.mark.e2e
def test_another_devices_backup_is_taken_over_only_where_that_is_meant(device: MakeDevice, tmp_path: Path):
    laptop, phone, file = device("laptop"), device("phone"), tmp_path / "b.db"
    laptop.do("add", "The laptop's")
    laptop.do("backup", str(file))
    own = phone.do("status")["device_id"]
    phone.stop()
    refused(phone.run("restore", str(file)), 5, "--as-this-device")
    answer = phone.do("restore", str(file), "--as-this-device")
    assert (answer["device_id"], answer["of_device_id"]) == (own, laptop.do("status")["device_id"])
    phone.start()
    assert titles(phone) == {"The laptop's"}


@pytest.mark.e2e
def test_a_folder_that_was_put_back_writes_nothing_twice(device: MakeDevice):
    laptop, phone = device("laptop"), device("phone")
    pair(laptop, phone)
    laptop.stop()
    copies = {path.name: path.read_bytes() for path in laptop.home.iterdir() if path.is_file()}
    laptop.start()
    laptop.do("add", "Before it was put back")
    laptop.do("sync", "--wait")
    laptop.stop()
    for name, content in copies.items():
        (laptop.home / name).write_bytes(content)
        (laptop.home / name).chmod(0o600)
    laptop.start()
    laptop.do("add", "After it was put back")
    laptop.do("sync", "--wait")
    assert titles(laptop) == titles(phone) == {"Before it was put back", "After it was put back"}
    assert have_equal_state(laptop, phone)
    assert "new replica" in laptop.run("doctor").out


@pytest.mark.e2e
def test_a_folder_copied_and_used_twice_is_two_replicas_of_one_device(device: MakeDevice, tmp_path: Path):
    laptop, phone = device("laptop"), device("phone")
    pair(laptop, phone)
    laptop.stop()
    shutil.copytree(laptop.home, tmp_path / "clone")
    clone = Device("clone", tmp_path / "clone")
    for number, listed_device in enumerate((laptop, clone, laptop)):
        listed_device.start()
        listed_device.do("add", f"Number {number}")
        listed_device.do("sync", "--wait")
        assert listed_device.stop() == 0
    assert titles(phone) == {"Number 0", "Number 1", "Number 2"}
    laptop.start()
    laptop.do("sync", "--wait")
    assert have_equal_state(laptop, phone)
    assert "fit each other" in laptop.run("doctor").out


@pytest.mark.e2e
def test_a_copy_that_runs_beside_the_other_is_told_of_and_given_a_key_of_its_own(
    device: MakeDevice, tmp_path: Path
):
    laptop, phone = device("laptop"), device("phone")
    pair(laptop, phone)
    laptop.stop()
    shutil.copytree(laptop.home, tmp_path / "copy")
    copy, file = Device("copy", tmp_path / "copy"), tmp_path / "b.db"
    laptop.start()
    try:
        copy.start()
        words = "two daemons run with the key of laptop"
        wait_until("the phone tells of both", lambda: words in phone.run("doctor").out)
        copy.stop()
        copy.do("backup", str(file))
        (copy.home / "identity.pem").unlink()
        answer = copy.do("restore", str(file))
        assert answer["device_id"] != answer["of_device_id"]
        copy.start()
        pair(phone, copy)
        copy.do("add", "Of the copy")
        for listed_device in (copy, phone, laptop):
            listed_device.do("sync", "--wait")
        assert titles(laptop) == {"Of the copy"}
        assert {element["name"] for element in laptop.do("devices")} == {"laptop", "phone", "copy"}
    finally:
        copy.kill()


@pytest.mark.e2e
def test_verify_looks_beside_a_running_daemon_and_at_a_backup_without_touching_it(
    device: MakeDevice, tmp_path: Path
):
    laptop, file = device("laptop"), tmp_path / "b.db"
    laptop.do("add", "Kept")
    laptop.do("backup", str(file))
    before = file.read_bytes()
    for result in (laptop.do("verify"), laptop.do("verify", str(file))):
        assert (result["sound"], result["commits"], result["findings"]) == (True, 2, [])
    assert file.read_bytes() == before
    assert "Everything is intact" in laptop.run("verify").out
    assert not list(laptop.home.glob("*.verifying*"))
    refused(laptop.run("verify", str(tmp_path / "none")), 4, "none")
    refused(laptop.run("verify", "--rebuild"), 1, "stop it first")
    refused(laptop.run("verify", "--rebuild", str(file)), 2, "--rebuild")


@pytest.mark.e2e
def test_verify_finds_what_was_changed_behind_the_daemon_and_rebuilds_it(device: MakeDevice):
    laptop = device("laptop")
    laptop.do("add", "Kept")
    laptop.stop()
    with closing(connect(laptop.home / "placet.db", SchemaRule.KNOWN)) as database:
        database.execute("UPDATE entity SET visible = 1 - visible WHERE kind = 'task'")
    result = laptop.run("verify")
    assert result.status == 1
    assert "placet verify --rebuild" in result.out
    assert not laptop.run("verify", "--json").json["sound"]
    assert laptop.do("verify", "--rebuild")["sound"]
    laptop.start()
    assert titles(laptop) == {"Kept"}
    assert "new replica" not in laptop.run("doctor").out


@pytest.mark.e2e
def test_compact_needs_to_be_told_how_old_and_drops_what_was_overwritten(device: MakeDevice):
    laptop = device("laptop")
    task = laptop.do("add", "Kept")["id"]
    refused(laptop.run("compact"), 2, "--older-than DAYS")
    note = laptop.do("note", task, "y" * 9_000)["id"]
    laptop.do("entry", "edit", note, "z" * 9_000)
    assert laptop.do("compact", "--older-than", "1")["values"] == 0
    laptop.do("verify")
