"""Importing from the command line: how a file is written, and what a terminal shows meanwhile.

Never waits for time to pass: the daemon that is played here does not answer until the command is ended.
"""

from pathlib import Path

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet
from tests.support.pseudo_terminal import terminal


@pytest.mark.parametrize(
    ("encoding", "raw"), [("latin-1", b"caf\xe9\n"), ("utf-16", "café\n".encode("utf-16"))]
)
def test_a_file_may_be_written_in_another_encoding(
    placet: Placet, control: FakeControl, tmp_path: Path, encoding: str, raw: bytes
):
    control.answers("POST /v1/import", examples.IMPORTED)
    file = tmp_path / "todo.txt"
    file.write_bytes(raw)
    assert placet("import", "todotxt", str(file), "--encoding", encoding).status == 8
    (sent,) = (request for request in control.requests if request.line == "POST /v1/import")
    assert (sent.body["format"], sent.body["text"]) == ("todotxt", "café\n")


@pytest.mark.parametrize(
    ("raw", "words", "text"),
    [
        (b"one\ncaf\xe9\n", [], "is not UTF-8 at line 2; say how it is written, such as --encoding latin-1"),
        (b"caf\xe9\n", ["--encoding", "ascii"], "is not written in 'ascii'; name another one"),
        (b"caf\xe9\n", ["--encoding", "odd"], "'odd' is not an encoding of text"),
        (b"caf\xe9\n", ["--encoding", "hex"], "'hex' is not an encoding of text"),
    ],
)
def test_a_file_that_cannot_be_read_as_text_is_refused_in_one_line(
    placet: Placet, tmp_path: Path, raw: bytes, words: list[str], text: str
):
    file = tmp_path / "todo.txt"
    file.write_bytes(raw)
    result = placet("import", "todotxt", str(file), *words)
    assert (result.status, result.out) == (2, "")
    assert text in result.err
    assert result.err.count("\n") == 1


def test_a_person_is_told_how_an_import_is_taken_back(placet: Placet, control: FakeControl, tmp_path: Path):
    file = tmp_path / "todo.txt"
    file.write_text("rake\n")
    control.answers("POST /v1/import", examples.IMPORTED, Placet_Change="7..9-a1b2c3d4e5f6")
    assert placet("import", "todotxt", str(file)).err == "Take that back: placet undo 7..9-a1b2c3d4e5f6\n"
    assert placet("import", "todotxt", str(file), "--json").err == ""


def test_what_is_faulty_is_listed_and_the_exit_status_says_so(
    placet: Placet, control: FakeControl, tmp_path: Path
):
    faulty = {"line": 2, "why": "DUE is 'x'", "why_id": "", "why_params": {}}
    control.answers("POST /v1/import", examples.IMPORTED | {"faulty": [faulty]})
    file = tmp_path / "todo.txt"
    file.write_text("rake\ndue:x\n")
    result = placet("import", "todotxt", str(file), "--skip-faulty")
    assert (result.status, result.out.splitlines()[-1]) == (
        8,
        "  left out, since it is faulty: line 2: DUE is 'x'",
    )
    (sent,) = (request for request in control.requests if request.line == "POST /v1/import")
    assert sent.body["skip_faulty"] is True


def test_a_terminal_shows_how_far_a_long_import_is(control: FakeControl, tmp_path: Path):
    file = tmp_path / "todo.txt"
    file.write_text("rake\n")
    control.hangs("POST /v1/import")
    fields = {"format": "todotxt", "name": str(file.resolve()), "tasks": 40, "done": 10}
    control.answers("GET /v1/import", [fields | {"tasks": 0, "done": 0}])
    control.answers("GET /v1/import", [fields | {"name": "another"}, fields])
    with terminal(tmp_path, "import", "todotxt", str(file)) as shown_terminal:
        shown_terminal.until("] reading")
        shown_terminal.until(f"[{'#' * 7}{'.' * 23}] 10 of 40 tasks")


def test_of_many_that_were_skipped_for_one_reason_a_person_gets_the_number(
    placet: Placet, control: FakeControl, tmp_path: Path
):
    own = [{"line": line, "what": f"Task {line}", "why": "it began here"} for line in range(1, 301)]
    skipped = [*own, {"line": 301, "what": "Weekly", "why": "a template"}]
    control.answers("POST /v1/import", examples.IMPORTED | {"skipped": skipped})
    file = tmp_path / "tasks.json"
    file.write_text("[]")
    shown = placet("import", "auto", str(file))
    lines = shown.out.splitlines()
    assert (shown.status, lines[0].endswith(", 301 left out")) == (8, True)
    assert lines[1:] == [
        "  skipped line 1: Task 1: it began here",
        "  skipped line 2: Task 2: it began here",
        "  skipped line 3: Task 3: it began here",
        "  skipped line 301: Weekly: a template",
        "  and 297 more: it began here",
    ]
    assert placet("import", "auto", str(file), "--plain").out.count("skipped\t") == 301


def test_a_file_without_anything_new_is_said_to_have_brought_nothing(
    placet: Placet, control: FakeControl, tmp_path: Path
):
    nothing = {key: 0 for key in examples.IMPORTED if key != "skipped"}
    control.answers("POST /v1/import", nothing | {"unchanged": 3, "skipped": []})
    file = tmp_path / "tasks.json"
    file.write_text("[]")
    assert placet("import", "auto", str(file)).out == "✓ Imported nothing, 3 unchanged\n"


@pytest.mark.parametrize(
    ("words", "sent"),
    [([], "markdown"), (["AUTO"], "markdown"), (["todotxt"], "todotxt"), (["Markdown"], "markdown")],
)
def test_a_file_needs_no_format_if_its_ending_names_one(
    placet: Placet, control: FakeControl, tmp_path: Path, words: list[str], sent: str
):
    control.answers("POST /v1/import", examples.IMPORTED)
    file = tmp_path / "list.md"
    file.write_text("- [ ] Call Ana\n")
    assert placet("import", *words, str(file)).status == 8
    (request,) = (request for request in control.requests if request.line == "POST /v1/import")
    assert request.body["format"] == sent


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["todotxt"], "Missing argument 'FILE'"),
        (["xml", "list.md"], "'xml' is not one of 'auto'"),
        (["list"], "list has none of the endings .ics"),
        (["gone.md"], "gone.md cannot be read"),
    ],
)
def test_what_names_no_file_or_no_format_says_what_is_missing(placet: Placet, words: list[str], text: str):
    result = placet("import", *words)
    assert result.status == 2
    assert text in result.err
