"""Exports to files and pipes, and imports of what was exported: whole or not at all.

Never writes beside a test's own folder.
"""

import json
import os
import stat
from pathlib import Path

import pytest

from daemon.cli.commands.files import exports
from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

EXPORT = "GET /v1/export"
LINES = b'{"format":"placet-jsonl","version":1}\n{"end":true}\n'
IMPORT = "POST /v1/import/jsonl"


def test_an_export_goes_to_standard_output_as_it_comes(placet: Placet, control: FakeControl):
    control.says(EXPORT, LINES)
    result = placet("export", "jsonl")
    assert (result.status, result.out.encode(), result.err) == (0, LINES, "")
    assert control.requests[-1].target == "/v1/export?format=jsonl"


def test_an_export_shown_on_a_terminal_cannot_drive_it(capsys: pytest.CaptureFixture[str]):
    write = exports._terminal_writer()
    text = "- [ ] buy\tmilk é\n\x1b]0;OWNED\x07\x9b2J\u202e\r\n".encode()
    for place in range(len(text)):  # in pieces that end within a character, too
        write(text[place : place + 1])
    assert capsys.readouterr().out == ("- [ ] buy\tmilk é\n\\x1b]0;OWNED\\x07\\x9b2J\\u202e\\r\n")


def test_an_export_to_a_file_is_for_its_owner_alone(placet: Placet, control: FakeControl, tmp_path: Path):
    control.says(EXPORT, LINES)
    file = tmp_path / "my journal.jsonl"
    result = placet("export", "jsonl", "--output", str(file))
    assert (result.status, result.out) == (0, f"✓ Wrote {file} (51 B)\n")
    assert file.read_bytes() == LINES
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    reported_json = placet("export", "jsonl", "--output", str(file), "--json").json
    assert reported_json == {"file": str(file), "format": "jsonl", "bytes": len(LINES)}


@pytest.mark.parametrize("raw", [None, b"the last one"])
def test_an_export_that_is_cut_short_fails_and_leaves_no_half_file(
    placet: Placet, control: FakeControl, tmp_path: Path, raw: bytes | None
):
    control.cuts(EXPORT, LINES)
    folder = tmp_path / "out"
    folder.mkdir()
    file = folder / "journal.jsonl"
    if raw is not None:
        file.write_bytes(raw)
    result = placet("export", "jsonl", "--output", str(file))
    assert (result.status, result.out) == (1, "")
    assert f"{len(LINES)} of 999 bytes" in result.err
    assert [path.read_bytes() for path in folder.iterdir()] == ([] if raw is None else [raw])
    assert placet("export", "jsonl").status == 1


def test_an_export_that_is_refused_leaves_no_file(placet: Placet, control: FakeControl, tmp_path: Path):
    control.refuses(EXPORT, 507, "disk", "only 3 MiB are free", "free some space")
    result = placet("export", "jsonl", "--output", str(tmp_path / "x"))
    assert (result.status, result.err) == (1, "placet: only 3 MiB are free; free some space\n")
    assert not (tmp_path / "x").exists()


def test_an_export_takes_the_place_of_a_file_alone(placet: Placet, control: FakeControl, tmp_path: Path):
    control.says(EXPORT, LINES)
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    for path in (pipe, folder):
        result = placet("export", "jsonl", "--output", str(path))
        assert (result.status, result.err) == (2, f"placet: {path} cannot be written: not a regular file\n")
    assert pipe.is_fifo()


def test_a_file_that_cannot_be_written_is_one_line(placet: Placet, control: FakeControl, tmp_path: Path):
    control.says(EXPORT, LINES)
    result = placet("export", "jsonl", "--output", str(tmp_path / "nowhere" / "x"))
    assert (result.status, result.err.count("\n")) == (1, 1)
    assert "nowhere" in result.err


@pytest.mark.parametrize("words", [["jsonl"], ["auto"]])
def test_json_lines_are_sent_as_they_are(
    placet: Placet, control: FakeControl, tmp_path: Path, words: list[str]
):
    control.answers(IMPORT, examples.IMPORTED | {"others": 4})
    file = tmp_path / "journal.JSONL"
    file.write_text('{"é": 1}\n', encoding="utf-8")
    result = placet("import", *words, str(file))
    assert result.out.startswith(
        "✓ Imported 2 tasks, 3 checklist items, 1 note, 4 other things, 1 left out\n"
    )
    assert (control.requests[-1].target, control.requests[-1].body) == ("/v1/import/jsonl", {"é": 1})
    assert placet("import", *words, str(file), "--dry-run").out.startswith("✓ Would import")
    assert control.requests[-1].target == "/v1/import/jsonl?dry_run=1"


def test_json_lines_come_from_a_pipe_too_and_need_no_name(placet: Placet, control: FakeControl):
    control.answers(IMPORT, examples.IMPORTED)
    assert placet("import", "jsonl", "-", typed='{"a": 1}\n').status == 8
    assert control.requests[-1].body == {"a": 1}


def test_an_import_whose_answer_is_lost_says_that_it_may_be_done_again(
    placet: Placet, control: FakeControl, tmp_path: Path
):
    control.breaks(IMPORT)
    file = tmp_path / "x.jsonl"
    file.write_bytes(b"{}")
    result = placet("import", "jsonl", str(file), "--json")
    assert result.status == 1
    assert "again" in json.loads(result.out)["error"]["hint"]


@pytest.mark.parametrize(
    ("name", "format_"),
    [("a.md", "markdown"), ("a.ics", "icalendar"), ("a.txt", "todotxt"), ("a.json", "taskwarrior")],
)
def test_the_ending_of_a_file_tells_its_format(
    placet: Placet, control: FakeControl, tmp_path: Path, name: str, format_: str
):
    control.answers("POST /v1/import", examples.IMPORTED)
    (tmp_path / name).write_text("x", encoding="utf-8")
    assert placet("import", "auto", str(tmp_path / name)).status == 8
    assert control.asked("POST /v1/import")[-1].body["format"] == format_


def test_an_ending_that_tells_nothing_is_named(placet: Placet):
    for file in ("todo.docx", "-"):
        result = placet("import", "auto", file)
        assert (result.status, result.err.count("\n")) == (2, 1)
        assert ".jsonl" in result.err
