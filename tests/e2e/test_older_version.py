"""What a development version of November 2026 wrote: its data folder, which is refused, and its exports.

Never made anew: `older_version/` holds what that version wrote, with a device key that was made for it alone.
"""

import json
import socket
import tarfile
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.support.devices import Device, MakeDevice
from tests.support.patience import LIMIT_S

WRITTEN = Path(__file__).with_name("older_version")
ANSWERS = json.loads((WRITTEN / "answers.json").read_text("utf-8"))

pytestmark = pytest.mark.e2e


def ask(device: Device, path: str) -> Any:
    """Ask the control API of a device."""
    with (
        socket.socket(socket.AF_UNIX) as opened,
        closing(HTTPConnection("placet", timeout=LIMIT_S)) as connection,
    ):
        opened.connect(device.do("paths")["socket"])
        connection.sock = opened
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.status == 200
        return json.loads(answer.read())


@pytest.fixture
def old(tmp_path: Path) -> Device:
    """Return a device with the old data folder; it does not run."""
    (tmp_path / "old").mkdir(mode=0o700)
    with tarfile.open(WRITTEN / "data_folder.tar.gz") as archive:
        # The earliest releases of Python 3.11 have no filter; the archive is the project's own.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(tmp_path / "old")
    return Device("old", tmp_path / "old", {"PLACET_DEVICE_NAME": "old laptop"})


def test_its_data_folder_is_refused_in_plain_words_and_left_as_it_is(old: Device):
    before = {file.name: file.read_bytes() for file in old.home.iterdir()}
    for words in (("up",), ("verify",), ("backup", "copy.backup")):
        result = old.run(*words)
        assert result.status == 1, words
        assert "a development version of Placet" in result.err, words
        assert "placet export jsonl" in result.err, words
    after = {file.name: file.read_bytes() for file in old.home.iterdir()}
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize("command", ["restore", "verify"])
def test_a_file_of_it_is_refused_with_the_same_advice(old: Device, tmp_path: Path, command: str):
    file = old.home / "placet.db"
    before = file.read_bytes()
    result = Device("fresh", tmp_path / "fresh", {}).run(command, str(file))
    assert result.status == 1
    assert f"{file} was written by a development version of Placet" in result.err
    assert "placet export jsonl" in result.err
    assert "newer version" not in result.err
    assert file.read_bytes() == before


def test_its_json_lines_come_in_whole(device: MakeDevice):
    fresh = device("fresh")
    fresh.do("import", "jsonl", str(WRITTEN / "journal.jsonl"))
    assert {task["title"] for task in ask(fresh, "/v1/task-lines")} == {
        task["title"] for task in ANSWERS["/v1/task-lines"]
    }
    assert fresh.do("verify")["sound"]


@pytest.mark.parametrize(("name", "file"), [("markdown", "journal.md"), ("todotxt", "journal.todo.txt")])
def test_its_exports_for_people_come_in(device: MakeDevice, name: str, file: str):
    fresh = device("fresh")
    fresh.do("import", name, str(WRITTEN / file))
    assert {task["title"] for task in ask(fresh, "/v1/task-lines")} == {
        task["title"] for task in ANSWERS["/v1/task-lines"]
    }
