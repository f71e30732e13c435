"""What `placet import` sends, and what it tells of the answer.

Never reads a format: answers are scripted.
"""

import os
from pathlib import Path
from typing import Any

from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet


def _body(control: FakeControl, line: str) -> Any:
    return control.asked(line)[-1].body


def test_an_import_sends_the_file_and_tells_what_came_of_it(
    placet: Placet, control: FakeControl, tmp_path: Path
):
    control.answers("POST /v1/import", examples.IMPORTED)
    file = tmp_path / "todo.md"
    file.write_text("# Ünited\n- [ ] one\n", encoding="utf-8")
    result = placet("import", "markdown", str(file))
    assert result.status == 8
    assert result.out.splitlines() == [
        "✓ Imported 2 tasks, 3 checklist items, 1 note, 1 left out",
        "  skipped line 7: recurring template: not taken",
    ]
    sent = {"format": "markdown", "name": str(file.resolve()), "text": "# Ünited\n- [ ] one\n"}
    assert _body(control, "POST /v1/import") == sent
    assert placet("import", "markdown", str(file), "--dry-run").out.startswith("✓ Would import 2 tasks")
    assert _body(control, "POST /v1/import") == sent | {"dry_run": True}


def test_an_import_that_takes_nothing_because_of_faults_is_an_error_with_a_line_each(
    placet: Placet, control: FakeControl
):
    faults = [{"line": 3, "message": "no description"}, {"line": 9, "message": "record 2: no uuid"}]
    control.refuses("POST /v1/import", 422, "failed", "2 faults", "mend it", details=faults)
    words = ("import", "taskwarrior", "-", "--name", "x")
    result = placet(*words, typed="[]")
    assert (result.status, result.out) == (1, "")
    assert result.err.splitlines() == [
        "placet: 2 faults; mend it",
        "placet: line 3: no description",
        "placet: line 9: record 2: no uuid",
    ]
    result = placet(*words, "--json", typed="[]")
    assert result.status == 1
    assert result.json == {
        "error": {"code": "failed", "message": "2 faults", "hint": "mend it", "details": faults}
    }


def test_an_import_that_ended_half_way_is_partly_done(placet: Placet, control: FakeControl):
    control.refuses("POST /v1/import", 422, "partly", "200 of 900", "again")
    result = placet("import", "markdown", "-", "--name", "x", typed="# A")
    assert (result.status, result.out) == (8, "")


def test_the_name_of_a_list_is_given_or_that_of_its_file(
    placet: Placet, control: FakeControl, tmp_path: Path
):
    control.answers("POST /v1/import", examples.IMPORTED)
    file = tmp_path / "todo.md"
    file.write_text("# One\n")
    for words, name in (
        (["-", "--name", "shopping"], "shopping"),
        ([str(file), "--name", "shopping"], "shopping"),
        ([str(file)], str(file.resolve())),
    ):
        assert placet("import", "markdown", *words, typed="\n  # One\n").status == 8
        assert _body(control, "POST /v1/import")["name"] == name
    # As it is written: what stands in front of the first line counts its lines.
    placet("import", "markdown", "-", "--name", "x", typed="\n  # One\n")
    assert _body(control, "POST /v1/import")["text"] == "\n  # One\n"


def test_a_file_name_that_is_not_utf_8_is_no_hindrance(placet: Placet, control: FakeControl, tmp_path: Path):
    control.answers("POST /v1/import", examples.IMPORTED)
    file = tmp_path / os.fsdecode(b"caf\xe9.md")
    file.write_text("# One\n")
    assert placet("import", "markdown", str(file)).status == 8
    assert _body(control, "POST /v1/import")["name"] == f"{tmp_path.resolve()}/caf\ufffd.md"


def test_nothing_to_import_is_said_alike_of_a_file_and_of_standard_input(placet: Placet, tmp_path: Path):
    file = tmp_path / "empty.md"
    file.write_text(" \n\n")
    read = placet("import", "markdown", str(file))
    piped = placet("import", "markdown", "-", "--name", "x", typed=" \n\n")
    assert (read.status, piped.status) == (2, 2)
    assert read.err.replace(str(file), "standard input") == piped.err
    assert "standard input is empty" in piped.err


def test_what_a_list_no_longer_has_is_named_and_told_by_the_exit_status(
    placet: Placet, control: FakeControl, tmp_path: Path
):
    gone = {"line": 1, "what": "mail Kim", "why": "gone from the file"}
    control.answers("POST /v1/import", examples.IMPORTED | {"skipped": [], "gone": [gone]})
    (tmp_path / "list.md").write_text("# One\n")
    result = placet("import", "markdown", str(tmp_path / "list.md"))
    assert (result.status, result.out.splitlines()[1:]) == (8, ["  line 1: mail Kim: gone from the file"])


def test_an_import_of_everything_is_done(placet: Placet, control: FakeControl):
    control.answers("POST /v1/import", examples.IMPORTED | {"skipped": [], "gone": []})
    assert placet("import", "markdown", "-", "--name", "x", typed="- [ ] a").status == 0
