"""What holds for every command: exit statuses, where words and data go, and never a traceback.

Never starts a daemon: answers are scripted.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.cli.framework.examples import DAY, example_of
from daemon.cli.main import _SECTIONS
from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet, command_environment
from tests.support.patience import LIMIT_S
from tests.support.pseudo_terminal import terminal_of
from tests.support.starts import processes

LIST = "GET /v1/task-lines"
WHOLE_LIST = "GET /v1/tasks"
COMMANDS = [name for section in _SECTIONS.values() for name in section]
VERBS = [
    *(f"task {verb}" for verb in ("add", "list", "show", "edit", "done")),
    *(f"check {verb}" for verb in ("add", "list", "tick", "untick", "edit", "move", "remove", "restore")),
    *(f"check {verb}-list" for verb in ("new", "rename", "move", "remove", "restore")),
    *(f"entry {verb}" for verb in ("add", "edit", "list", "show", "remove", "restore")),
    *(f"timer {verb}" for verb in ("start", "stop", "status", "list", "edit", "remove", "restore")),
    *(f"link {verb}" for verb in ("add", "list", "remove")),
    *(f"label {verb}" for verb in ("add", "list", "edit", "remove", "restore")),
    *(f"category {verb}" for verb in ("add", "list", "edit", "remove", "restore")),
    *(f"agent {verb}" for verb in ("create", "list", "show", "edit", "wake", "pause", "resume", "move")),
    *(f"agent {verb}" for verb in ("destroy", "policy", "log")),
]


@pytest.mark.parametrize("command", [*COMMANDS, *VERBS])
def test_every_command_has_help_that_fits_eighty_columns(command: str, placet: Placet):
    result = placet(*command.split(), "--help", COLUMNS="80")
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith("Usage: placet ")
    assert "--json" in result.out
    assert max(map(len, result.out.splitlines())) <= 80


def test_the_bare_name_shows_the_help(placet: Placet):
    assert placet().out == placet("--help").out


def test_the_help_shows_the_commands_of_a_day_and_where_all_are_listed(placet: Placet):
    out = placet("--help").out
    assert all(f"\n  {example_of(path)}  " in out for path in DAY)
    assert "\nAll commands: placet help\n" in out


def test_the_command_help_names_every_command(placet: Placet):
    out = placet("help").out
    assert all(f"\n  {command}" in out for command in COMMANDS)
    assert placet("help", "--plain").out.count("\n") == len(COMMANDS)


def test_the_command_help_shows_how_one_is_used(placet: Placet):
    assert placet("help", "agent", "create").out == placet("agent", "create", "--help").out
    assert placet("help", "--json", "agent", "create").json[0]["example"] == "placet agent create Ana"
    assert (refused := placet("help", "agent", "crate")).status == 2
    assert "did you mean 'create'?" in refused.err


def test_without_a_daemon_one_line_says_how_to_start_it(placet: Placet, home: Path):
    result = placet("list")
    assert (result.status, result.out) == (3, "")
    assert result.err.count("\n") == 1
    assert "placet up" in result.err
    assert "placet service install" in result.err
    assert str(home / "control.sock") in result.err


def test_a_socket_that_nobody_listens_on_is_no_daemon(placet: Placet, home: Path):
    with FakeControl(home) as control:
        control.answers(LIST, [])
    (home / "control.sock").touch()
    assert placet("list").status == 3


@pytest.mark.parametrize(
    ("status", "code", "exit_status"),
    [
        (400, "usage", 2),
        (404, "not_found", 4),
        (412, "needs_confirmation", 5),
        (409, "conflict", 6),
        (409, "stale", 6),
        (409, "ambiguous", 2),
        (403, "forbidden", 7),
        (422, "partly", 8),
        (504, "timeout", 9),
        (422, "failed", 1),
        (507, "disk", 1),
        (418, "a code of a newer daemon", 1),
    ],
)
def test_each_refusal_has_its_exit_status(status, code, exit_status, placet: Placet, control: FakeControl):
    control.refuses(LIST, status, code, "it cannot be", "do that")
    result = placet("list")
    assert (result.status, result.out, result.err) == (exit_status, "", "placet: it cannot be; do that\n")


def test_with_json_a_refusal_is_one_object_and_one_line(placet: Placet, control: FakeControl):
    control.refuses(WHOLE_LIST, 404, "not_found", "no such task", "look again")
    result = placet("list", "--json")
    assert result.json == {"error": {"code": "not_found", "message": "no such task", "hint": "look again"}}
    assert result.err == "placet: no such task; look again\n"


@pytest.mark.parametrize(
    "words", [["--json", "nonsense"], ["nonsense", "--json"], ["list", "--nonsense", "--json"]]
)
def test_even_a_command_line_that_cannot_be_read_answers_in_json(words, placet: Placet):
    result = placet(*words)
    assert result.status == 2
    assert result.json["error"]["code"] == "usage"


@pytest.mark.parametrize(
    ("words", "observed"),
    [
        (["lst"], "list"),
        (["add"], "TITLE"),
        (["add", "  "], "title"),
        (["check"], "add, archive, edit, list, move,"),
        (["check", "tock"], "tock"),
        (["confirm"], "--set"),
        (["confirm", "a", "--set", "b"], "--set"),
        (["confirm", "--set", "b", "--again"], "--again"),
        (["confirm", "a", "--edit", "{"], "--edit"),
        (["confirm", "a", "--edit", "[]"], "--edit"),
        (["confirm", "a", "--edit", '{"minutes": NaN}'], "--edit is not JSON: NaN is no number"),
        (["confirm", "a", "--edit", '{"minutes": -Infinity}'], "--edit is not JSON: -Infinity is no number"),
        (["confirm", "a", "--edit", '{"minutes": 1e999}'], "--edit is not JSON: 1e999 is no number"),
        (["confirm", "a", "--edit", '{"a":' * 20_000 + "1" + "}" * 20_000], "--edit is nested too deeply"),
        (["confirm", "a", "--edit", '{"a":' * 900 + "1" + "}" * 900], "--edit is nested too deeply"),
        (["confirm", "a", "b", "--edit", '{"minutes": 5}'], "one item"),
        (["import", "cobol", "x"], "markdown"),
        (["import", "markdown", "/nonexistent/x.md"], "/nonexistent/x.md"),
        (["import", "markdown", "-"], "--name"),
        (["import", "markdown", "/nonexistent/x.md", "--name", " "], "--name is empty"),
        (["edit-nothing"], "edit-nothing"),
        (["check", "tik"], "'tik', did you mean 'tick'?; see `placet check --help`"),
        (["task", "edit", "abc", "--due"], "see `placet task edit --help`"),
        (["list", "--nothing"], "see `placet list --help`"),
        (["task", "edit", "abc"], "nothing to change"),
        (["log", "--limit", "0"], "--limit"),
        (["sync", "--pause", "--resume"], "exclude"),
        (["join"], "token"),
        (["note", "passport"], "text"),
        (["timer"], "edit, list, remove"),
        (["link", "add", "a", "blocks"], "OTHER"),
        (["link", "remove", "a", "blocks"], "TASK TYPE TASK"),
        (["label", "edit", "home"], "nothing to change"),
    ],
)
def test_a_usage_error_is_one_line_that_names_what_was_seen(words, observed, placet: Placet):
    result = placet(*words)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("placet: ")
    assert result.err.count("\n") == 1
    assert observed in result.err


def test_json_is_accepted_before_and_after_the_command(placet: Placet, control: FakeControl):
    control.answers(WHOLE_LIST, [examples.task()])
    assert (
        placet("--json", "list").out == placet("list", "--json").out == json.dumps([examples.task()]) + "\n"
    )


def test_json_and_plain_exclude_each_other(placet: Placet):
    result = placet("list", "--json", "--plain")
    assert result.status == 2
    assert "--json and --plain exclude each other" in result.err


@pytest.mark.parametrize("answer", [b"", b"{", b"<html>", b'"\xff"'])
def test_an_answer_that_is_not_json_is_one_line(answer: bytes, placet: Placet, control: FakeControl):
    control.says("GET /v1/status", answer)
    result = placet("status", "--json")
    assert result.status == 1
    assert result.err.count("\n") == 1


def test_an_error_without_an_error_object_still_has_a_status(placet: Placet, control: FakeControl):
    control.says(LIST, b"404: Not Found", status=404)
    assert placet("list").status == 4
    control.says("GET /v1/status", b"[]", status=403)
    assert placet("status").status == 7


def test_a_read_that_breaks_is_a_failure(placet: Placet, control: FakeControl):
    control.breaks(LIST)
    result = placet("list")
    assert result.status == 1
    assert "ended while it answered" in result.err


def test_an_answer_that_is_cut_short_is_none_even_where_it_reads_well(placet: Placet, control: FakeControl):
    control.cuts(WHOLE_LIST, b"[]")
    result = placet("list", "--json")
    assert result.status == 1
    assert "2 of 999 bytes" in result.err


def test_a_write_whose_answer_was_lost_is_asked_again_with_the_same_key(placet: Placet, control: FakeControl):
    control.breaks("POST /v1/tasks")
    control.answers("POST /v1/tasks", examples.task(), status=201)
    result = placet("add", "Renew the passport", "--json")
    assert (result.status, result.json["id"]) == (0, examples.TASK)
    keys = [request.headers["Idempotency-Key"] for request in control.asked("POST /v1/tasks")]
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_a_write_that_is_never_answered_says_how_to_find_out(placet: Placet, control: FakeControl):
    control.breaks("POST /v1/tasks")
    result = placet("add", "Renew the passport")
    assert result.status == 1
    assert "placet log" in result.err


def test_two_commands_do_not_share_a_key(placet: Placet, control: FakeControl):
    control.answers("POST /v1/tasks", examples.task())
    placet("add", "one")
    placet("add", "one")
    request, other = control.asked("POST /v1/tasks")
    assert request.headers["Idempotency-Key"] != other.headers["Idempotency-Key"]


def test_a_reader_that_had_enough_is_no_error(home: Path, control: FakeControl):
    control.answers(LIST, [examples.task(id=f"{moment:032x}", title="x" * 200) for moment in range(1500)])
    reads, writes = os.pipe()
    os.close(reads)
    result = processes.run(
        [sys.executable, "-m", "daemon", "list", "--plain"],
        env=command_environment(home),
        stdout=writes,
        stderr=subprocess.PIPE,
        timeout=LIMIT_S,
        check=False,
    )
    os.close(writes)
    assert (result.returncode, result.stderr) == (0, b"")


def test_a_full_disk_behind_the_output_is_told(home: Path, control: FakeControl):
    control.answers(LIST, [examples.task()])
    with Path("/dev/full").open("wb") as full:
        result = processes.run(
            [sys.executable, "-m", "daemon", "list"],
            env=command_environment(home),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=LIMIT_S,
            check=False,
        )
    assert result.returncode == 1
    assert result.stderr.startswith(b"placet: output cannot be written: ")
    assert result.stderr.count(b"\n") == 1


def test_an_interrupt_ends_quietly_with_130(home: Path, control: FakeControl):
    control.hangs(LIST)
    running = processes.Popen(
        [sys.executable, "-m", "daemon", "list"],
        env=command_environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not control.requests:
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=LIMIT_S)
    assert (running.returncode, out, err.strip()) == (130, b"", b"")


def _on_a_terminal(home: Path, *words: str, **environment: str) -> str:
    """Run a command whose output is a terminal, and return what it drew."""
    command = [sys.executable, "-m", "daemon", *words]
    with terminal_of(command, command_environment(home, **environment)) as shown_terminal:
        shown_terminal.end()
        assert shown_terminal.status == 0
        return shown_terminal.raw


def test_a_terminal_gets_colours_and_a_pipe_does_not(home: Path, placet: Placet, control: FakeControl):
    control.answers(LIST, [examples.task()])
    assert "\x1b[" in _on_a_terminal(home, "list")
    assert "\x1b[" not in placet("list").out


@pytest.mark.parametrize(
    "environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}]
)
def test_no_color_is_honoured(environment, home: Path, control: FakeControl):
    control.answers(LIST, [examples.task()])
    assert "\x1b[" not in _on_a_terminal(home, "list", **environment)


def test_the_option_no_color_beats_the_terminal(home: Path, control: FakeControl):
    control.answers(LIST, [examples.task()])
    assert "\x1b[" not in _on_a_terminal(home, "list", "--no-color")


def test_json_on_a_terminal_is_indented_and_still_json(home: Path, control: FakeControl):
    control.answers(WHOLE_LIST, [examples.task()])
    drawn = _on_a_terminal(home, "list", "--json")
    assert "\n  " in drawn
    assert json.loads(drawn) == [examples.task()]


def test_a_terminal_without_unicode_gets_ascii(placet: Placet, control: FakeControl):
    control.answers("POST /v1/tasks", examples.task(title="Übung"))
    result = placet(
        "add", "x", LANG="C", LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    assert result.out == "ok Added 3f2a  \\xdcbung\n"


def test_a_socket_path_beyond_the_systems_limit_is_reached(tmp_path: Path):
    home = tmp_path / ("long" * 30) / ("longer" * 20)
    home.mkdir(parents=True)
    with FakeControl(home) as control:
        control.answers(LIST, [examples.task()])
        result = processes.run(
            [sys.executable, "-m", "daemon", "list", "--plain"],
            env=command_environment(home),
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(examples.TASK.encode())


def test_without_a_daemon_a_long_socket_path_is_no_daemon_either(tmp_path: Path):
    for home in (tmp_path / ("long" * 40), tmp_path / ("there" * 30)):
        if "there" in home.name:
            home.mkdir()
        result = processes.run(
            [sys.executable, "-m", "daemon", "list"],
            env=command_environment(home),
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert result.returncode == 3, result.stderr


def test_a_bug_here_is_told_in_one_line(placet: Placet, control: FakeControl):
    control.answers(LIST, [17])
    result = placet("list")
    assert result.status == 1
    assert result.err.startswith("placet: a bug in placet: ")
    assert result.err.count("\n") == 1


def test_a_closed_standard_output_is_not_a_crash(home: Path, control: FakeControl):
    control.answers(LIST, [examples.task()])
    result = subprocess.run(
        ["sh", "-c", 'exec "$0" -m daemon list >&-', sys.executable],
        env=command_environment(home),
        stderr=subprocess.PIPE,
        timeout=LIMIT_S,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, b"")
