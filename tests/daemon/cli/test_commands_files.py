"""Exports to files and pipes, and imports of what was exported: whole or not at all.

Never writes beside a test's own folder.
"""

import json
import os
import stat
from pathlib import Path

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.conftest import Placet
from tests.daemon.cli.fake_control import FakeControl

EXPORT = "GET /v1/export"
LINES = b'{"format":"placet-jsonl","version":1}\n{"end":true}\n'
IMPORT = "POST /v1/import/jsonl"


def test_an_export_goes_to_standard_output_as_it_comes(placet: Placet, control: FakeControl):
    control.says(EXPORT, LINES)
    done = placet("export", "jsonl")
    assert (done.status, done.out.encode(), done.err) == (0, LINES, "")
    assert control.requests[-1].target == "/v1/export?format=jsonl"


def test_an_export_to_a_file_is_for_its_owner_alone(placet: Placet, control: FakeControl, tmp_path: Path):
    control.says(EXPORT, LINES)
    file = tmp_path / "my journal.jsonl"
    done = placet("export", "jsonl", "--output", str(file))
    assert (done.status, done.out) == (0, f"✓ Wrote {file} (51 B)\n")
    assert file.read_bytes() == LINES
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    told = placet("export", "jsonl", "--output", str(file), "--json").json
    assert told == {"file": str(file), "format": "jsonl", "bytes": len(LINES)}


@pytest.mark.parametrize("there", [None, b"the last one"])
def test_an_export_that_is_cut_short_fails_and_leaves_no_half_file(
    placet: Placet, control: FakeControl, tmp_path: Path, there: bytes | None
):
    control.cuts(EXPORT, LINES)
    folder = tmp_path / "out"
    folder.mkdir()
    file = folder / "journal.jsonl"
    if there is not None:
        file.write_bytes(there)
    done = placet("export", "jsonl", "--output", str(file))
    assert (done.status, done.out) == (1, "")
    assert f"{len(LINES)} of 999 bytes" in done.err
    assert [one.read_bytes() for one in folder.iterdir()] == ([] if there is None else [there])
    assert placet("export", "jsonl").status == 1


def test_an_export_that_is_refused_leaves_no_file(placet: Placet, control: FakeControl, tmp_path: Path):
    control.refuses(EXPORT, 507, "disk", "only 3 MiB are free", "free some space")
    done = placet("export", "jsonl", "--output", str(tmp_path / "x"))
    assert (done.status, done.err) == (1, "placet: only 3 MiB are free; free some space\n")
    assert not (tmp_path / "x").exists()


def test_an_export_takes_the_place_of_a_file_alone(placet: Placet, control: FakeControl, tmp_path: Path):
    control.says(EXPORT, LINES)
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    for one in (pipe, folder):
        done = placet("export", "jsonl", "--output", str(one))
        assert (done.status, done.err) == (2, f"placet: {one} cannot be written: not a regular file\n")
    assert pipe.is_fifo()


def test_a_file_that_cannot_be_written_is_one_line(placet: Placet, control: FakeControl, tmp_path: Path):
    control.says(EXPORT, LINES)
    done = placet("export", "jsonl", "--output", str(tmp_path / "nowhere" / "x"))
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert "nowhere" in done.err


@pytest.mark.parametrize("words", [["jsonl"], ["auto"]])
def test_json_lines_are_sent_as_they_are(
    placet: Placet, control: FakeControl, tmp_path: Path, words: list[str]
):
    control.answers(IMPORT, examples.IMPORTED | {"others": 4})
    file = tmp_path / "journal.JSONL"
    file.write_text('{"é": 1}\n', encoding="utf-8")
    done = placet("import", *words, str(file))
    assert done.out.startswith("✓ Imported 2 tasks, 3 checklist items, 1 note, 4 other things\n")
    assert (control.requests[-1].target, control.requests[-1].body) == ("/v1/import/jsonl", {"é": 1})
    assert placet("import", *words, str(file), "--dry-run").out.startswith("✓ Would import")
    assert control.requests[-1].target == "/v1/import/jsonl?dry_run=1"


def test_json_lines_come_from_a_pipe_too_and_need_no_name(placet: Placet, control: FakeControl):
    control.answers(IMPORT, examples.IMPORTED)
    assert placet("import", "jsonl", "-", typed='{"a": 1}\n').status == 0
    assert control.requests[-1].body == {"a": 1}


def test_an_import_whose_answer_is_lost_says_that_it_may_be_done_again(
    placet: Placet, control: FakeControl, tmp_path: Path
):
    control.breaks(IMPORT)
    file = tmp_path / "x.jsonl"
    file.write_bytes(b"{}")
    done = placet("import", "jsonl", str(file), "--json")
    assert done.status == 1
    assert "again" in json.loads(done.out)["error"]["hint"]


@pytest.mark.parametrize(
    ("name", "format_"),
    [("a.md", "markdown"), ("a.ics", "icalendar"), ("a.txt", "todotxt"), ("a.json", "taskwarrior")],
)
def test_the_ending_of_a_file_tells_its_format(
    placet: Placet, control: FakeControl, tmp_path: Path, name: str, format_: str
):
    control.answers("POST /v1/import", examples.IMPORTED)
    (tmp_path / name).write_text("x", encoding="utf-8")
    assert placet("import", "auto", str(tmp_path / name)).status == 0
    assert control.asked("POST /v1/import")[-1].body["format"] == format_


def test_an_ending_that_tells_nothing_is_named(placet: Placet):
    for file in ("todo.docx", "-"):
        done = placet("import", "auto", file)
        assert (done.status, done.err.count("\n")) == (2, 1)
        assert ".jsonl" in done.err
