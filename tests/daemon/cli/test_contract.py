"""What holds for every command: exit statuses, where words and data go, and never a traceback.

Never starts a daemon: answers are scripted.
"""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.cli.main import _SECTIONS
from tests.daemon.cli import examples
from tests.daemon.cli.conftest import Placet, command_environment
from tests.daemon.cli.fake_control import FakeControl

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
    done = placet(*command.split(), "--help", COLUMNS="80")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("Usage: placet ")
    assert "--json" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_the_bare_name_shows_the_help(placet: Placet):
    assert placet().out == placet("--help").out


def test_the_help_names_every_command(placet: Placet):
    shown = placet("--help").out
    assert all(f"\n  {command}" in shown for command in COMMANDS)


def test_without_a_daemon_one_line_says_how_to_start_it(placet: Placet, home: Path):
    done = placet("list")
    assert (done.status, done.out) == (3, "")
    assert done.err.count("\n") == 1
    assert "placet up" in done.err
    assert "placet service install" in done.err
    assert str(home / "control.sock") in done.err


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
    done = placet("list")
    assert (done.status, done.out, done.err) == (exit_status, "", "placet: it cannot be; do that\n")


def test_with_json_a_refusal_is_one_object_and_one_line(placet: Placet, control: FakeControl):
    control.refuses(WHOLE_LIST, 404, "not_found", "no such task", "look again")
    done = placet("list", "--json")
    assert done.json == {"error": {"code": "not_found", "message": "no such task", "hint": "look again"}}
    assert done.err == "placet: no such task; look again\n"


@pytest.mark.parametrize(
    "words", [["--json", "nonsense"], ["nonsense", "--json"], ["list", "--nonsense", "--json"]]
)
def test_even_a_command_line_that_cannot_be_read_answers_in_json(words, placet: Placet):
    done = placet(*words)
    assert done.status == 2
    assert done.json["error"]["code"] == "usage"


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["lst"], "list"),
        (["add"], "TITLE"),
        (["add", "  "], "title"),
        (["check"], "add, archive, edit, list, move,"),
        (["check", "tock"], "tock"),
        (["confirm"], "--set"),
        (["confirm", "a", "--set", "b"], "--set"),
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
def test_a_usage_error_is_one_line_that_names_what_was_seen(words, seen, placet: Placet):
    done = placet(*words)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("placet: ")
    assert done.err.count("\n") == 1
    assert seen in done.err


def test_json_is_accepted_before_and_after_the_command(placet: Placet, control: FakeControl):
    control.answers(WHOLE_LIST, [examples.task()])
    assert (
        placet("--json", "list").out == placet("list", "--json").out == json.dumps([examples.task()]) + "\n"
    )


def test_json_and_plain_exclude_each_other(placet: Placet):
    done = placet("list", "--json", "--plain")
    assert done.status == 2
    assert "--json and --plain exclude each other" in done.err


@pytest.mark.parametrize("answer", [b"", b"{", b"<html>", b'"\xff"'])
def test_an_answer_that_is_not_json_is_one_line(answer: bytes, placet: Placet, control: FakeControl):
    control.says("GET /v1/status", answer)
    done = placet("status", "--json")
    assert done.status == 1
    assert done.err.count("\n") == 1


def test_an_error_without_an_error_object_still_has_a_status(placet: Placet, control: FakeControl):
    control.says(LIST, b"404: Not Found", status=404)
    assert placet("list").status == 4
    control.says("GET /v1/status", b"[]", status=403)
    assert placet("status").status == 7


def test_a_read_that_breaks_is_a_failure(placet: Placet, control: FakeControl):
    control.breaks(LIST)
    done = placet("list")
    assert done.status == 1
    assert "went away" in done.err


def test_an_answer_that_is_cut_short_is_none_even_where_it_reads_well(placet: Placet, control: FakeControl):
    control.cuts(WHOLE_LIST, b"[]")
    done = placet("list", "--json")
    assert done.status == 1
    assert "2 of 999 bytes" in done.err


def test_a_write_whose_answer_was_lost_is_asked_again_with_the_same_key(placet: Placet, control: FakeControl):
    control.breaks("POST /v1/tasks")
    control.answers("POST /v1/tasks", examples.task(), status=201)
    done = placet("add", "Renew the passport", "--json")
    assert (done.status, done.json["id"]) == (0, examples.TASK)
    keys = [asked.headers["Idempotency-Key"] for asked in control.asked("POST /v1/tasks")]
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_a_write_that_is_never_answered_says_how_to_find_out(placet: Placet, control: FakeControl):
    control.breaks("POST /v1/tasks")
    done = placet("add", "Renew the passport")
    assert done.status == 1
    assert "placet log" in done.err


def test_two_commands_do_not_share_a_key(placet: Placet, control: FakeControl):
    control.answers("POST /v1/tasks", examples.task())
    placet("add", "one")
    placet("add", "one")
    one, other = control.asked("POST /v1/tasks")
    assert one.headers["Idempotency-Key"] != other.headers["Idempotency-Key"]


def test_a_reader_that_had_enough_is_no_error(home: Path, control: FakeControl):
    control.answers(LIST, [examples.task(id=f"{at:032x}", title="x" * 200) for at in range(2000)])
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(
        [sys.executable, "-m", "daemon", "list", "--plain"],
        env=command_environment(home),
        stdout=writes,
        stderr=subprocess.PIPE,
        timeout=30,
        check=False,
    )
    os.close(writes)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_full_disk_behind_the_output_is_told(home: Path, control: FakeControl):
    control.answers(LIST, [examples.task()])
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "daemon", "list"],
            env=command_environment(home),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=30,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"placet: output cannot be written: ")
    assert done.stderr.count(b"\n") == 1


def test_an_interrupt_ends_quietly_with_130(home: Path, control: FakeControl):
    control.hangs(LIST)
    running = subprocess.Popen(
        [sys.executable, "-m", "daemon", "list"],
        env=command_environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not control.requests:
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err.strip()) == (130, b"", b"")


def _on_a_terminal(home: Path, *words: str, **environment: str) -> str:
    """Run a command whose output is a terminal, and return what it drew."""
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "daemon", *words],
        env=command_environment(home, **environment),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        timeout=30,
        check=True,
    )
    os.close(theirs)
    drawn = b""
    try:
        while piece := os.read(ours, 65536):
            drawn += piece
    except OSError:
        pass  # how Linux says that a terminal's other side is closed
    os.close(ours)
    return drawn.decode()


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
    done = placet(
        "add", "x", LANG="C", LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    assert done.out == "ok Added 3f2a  \\xdcbung\n"


HOSTILE = "\x1b[2J\x1b]0;owned\x07 x\u202egnp.exe \x9b31m\u2066\x7f\r\nplacet: all is well"


def _hostile_answers(control: FakeControl) -> list[list[str]]:
    """Put hostile text everywhere that text can stand, and name the commands that show it."""
    task = examples.task(
        title=HOSTILE,
        status=HOSTILE,
        reason=HOSTILE,
        category=HOSTILE,
        labels=[HOSTILE],
        label_colors={HOSTILE: HOSTILE},
        times=[dict.fromkeys(examples.TIME_RECORD, HOSTILE)],
        links=[dict.fromkeys(examples.LINK, HOSTILE)],
        due=HOSTILE,
        conflicts=[
            {"field": HOSTILE, "versions": [{"value": HOSTILE, "by": HOSTILE, "device_name": HOSTILE}]}
        ],
        report={"tldr": HOSTILE, "achieved": [HOSTILE]},
        entries=[{"text": HOSTILE, "author": HOSTILE, "device_name": HOSTILE, "happened_at": HOSTILE}],
        checklists=[
            {
                "id": "c",
                "title": HOSTILE,
                "items": [
                    {
                        "id": HOSTILE,
                        "title": HOSTILE,
                        "checked_by": HOSTILE,
                        "checked_at": HOSTILE,
                        "checked_on": HOSTILE,
                    }
                ],
            }
        ],
    )
    peer = {"device_id": HOSTILE, "name": HOSTILE, "address": HOSTILE, "last_seen": HOSTILE}
    everything = dict.fromkeys(examples.CHANGE, HOSTILE)
    control.answers(LIST, [task])
    control.answers(WHOLE_LIST, [task])
    snippet = [{"text": HOSTILE, "hit": hit} for hit in (False, True)]
    place = {"id": HOSTILE, "kind": HOSTILE, "field": HOSTILE, "snippet": snippet}
    found = {"id": HOSTILE, "title": HOSTILE, "status": HOSTILE, "places": [place]}
    control.answers("GET /v1/search", {"tasks": [found], "next": None})
    control.answers(f"GET /v1/tasks/{examples.TASK}", task)
    control.answers(f"GET /v1/tasks/{examples.TASK}/checklists", task["checklists"])
    control.answers(f"GET /v1/tasks/{examples.TASK}/entries", task["entries"])
    control.answers("GET /v1/entries/x", task["entries"][0])
    control.answers(
        "GET /v1/pending",
        [
            examples.pending(
                summary=HOSTILE,
                rationale=HOSTILE,
                current=HOSTILE,
                proposed=HOSTILE,
                set_id=HOSTILE,
                created_at=HOSTILE,
                expires_at=HOSTILE,
            )
        ],
    )
    control.answers("GET /v1/decisions", [dict.fromkeys(examples.DECISION, HOSTILE)])
    versions = [{"value": HOSTILE, "by": HOSTILE, "device_name": HOSTILE, "at": HOSTILE}]
    hostile = dict.fromkeys(("entity", "kind", "field", "name", "title", "task_title"), HOSTILE)
    control.answers("GET /v1/conflicts", [hostile | {"versions": versions}])
    control.answers(
        "GET /v1/status", examples.STATUS | {"name": HOSTILE, "peers": [peer], "agents": {HOSTILE: 1}}
    )
    control.answers("GET /v1/devices", [peer])
    record = dict.fromkeys(examples.TIME_RECORD, HOSTILE)
    control.answers("GET /v1/times", [record, record | {"is_running": False, "device": "x"}])
    control.answers("GET /v1/timers", [record, record | {"is_here": False}])
    link = dict.fromkeys(examples.LINK, HOSTILE)
    control.answers("GET /v1/tasks/x/links", [link, link | {"task_removed": False}])
    for kind, example in (("labels", examples.LABEL), ("categories", examples.CATEGORY)):
        control.answers(f"GET /v1/{kind}", [dict.fromkeys(example, HOSTILE)])
    control.answers("GET /v1/log", [everything])
    holding = dict.fromkeys(examples.WHERE["devices"][0], HOSTILE) | {
        "lacks": 0,
        "this": False,
        "removed": False,
    }
    where = dict.fromkeys(examples.WHERE, HOSTILE) | {"commits": 1, "devices": [holding]}
    control.answers("GET /v1/where", where)
    control.answers("GET /v1/agents", [dict.fromkeys(examples.AGENT_JSON, HOSTILE)])
    control.answers(
        "GET /v1/agents/x", dict.fromkeys((*examples.AGENT_JSON, HOSTILE), HOSTILE) | {"report": {}}
    )
    control.answers("POST /v1/decisions", [examples.verdict("applied", message=HOSTILE, item_id=HOSTILE)])
    control.answers("POST /v1/join", {"device_id": HOSTILE, "name": HOSTILE})
    control.answers("POST /v1/invitations", {"token": HOSTILE, "address": HOSTILE, "expires_at": HOSTILE})
    control.answers("POST /v1/sync", {"peers": [peer]})
    skipped = {"line": 1, "what": HOSTILE, "why": HOSTILE}
    control.answers("POST /v1/import", {"tasks": 1, "skipped": [skipped]})
    control.refuses(
        "POST /v1/agents", 422, "failed", HOSTILE, details=[{"line": HOSTILE, "message": HOSTILE}]
    )
    control.refuses(
        "POST /v1/tasks", 400, "usage", HOSTILE, HOSTILE, candidates=[{"id": HOSTILE, "title": HOSTILE}]
    )
    control.streams("GET /v1/events", f"id: {HOSTILE[:9]}\nevent: x\ndata: {HOSTILE[:20]}\n\n".encode())
    return [
        ["list"],
        ["search", "x"],
        ["show", examples.TASK],
        ["check", "list", examples.TASK],
        ["entry", "list", examples.TASK],
        ["entry", "show", "x"],
        ["pending"],
        ["decisions"],
        ["conflicts"],
        ["status"],
        ["devices"],
        ["log"],
        ["log", "--where", "x"],
        ["timer", "status"],
        ["timer", "list"],
        ["link", "list", "x"],
        ["label", "list"],
        ["category", "list"],
        ["agent", "list"],
        ["agent", "show", "x"],
        ["confirm", "x"],
        ["join", "x"],
        ["pair", "--invite"],
        ["sync"],
        ["import", "markdown", "-", "--name", HOSTILE.replace("\0", "")],
        ["agent", "create", "x"],
        ["add", "x"],
        ["events", "--count", "1"],
        ["nope" + HOSTILE],
        ["doctor"],
    ]


@pytest.mark.parametrize("form", [[], ["--plain"], ["--json"]])
def test_no_text_from_elsewhere_can_drive_the_terminal(form: list[str], placet: Placet, control: FakeControl):
    for words in _hostile_answers(control):
        done = placet(*words, *form, typed="x")
        shown = done.out + done.err
        assert shown, words
        hidden = {letter for letter in shown if not letter.isprintable()} - {"\n", "\t"}
        assert not hidden, (words, hidden)
        assert not any(line.startswith("placet: all is well") for line in shown.splitlines()), words


def test_a_socket_path_beyond_the_systems_limit_is_reached(tmp_path: Path):
    home = tmp_path / ("long" * 30) / ("longer" * 20)
    home.mkdir(parents=True)
    with FakeControl(home) as control:
        control.answers(LIST, [examples.task()])
        done = subprocess.run(
            [sys.executable, "-m", "daemon", "list", "--plain"],
            env=command_environment(home),
            capture_output=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(examples.TASK.encode())


def test_without_a_daemon_a_long_socket_path_is_no_daemon_either(tmp_path: Path):
    for home in (tmp_path / ("long" * 40), tmp_path / ("there" * 30)):
        if "there" in home.name:
            home.mkdir()
        done = subprocess.run(
            [sys.executable, "-m", "daemon", "list"],
            env=command_environment(home),
            capture_output=True,
            timeout=30,
            check=False,
        )
        assert done.returncode == 3, done.stderr


def test_a_bug_here_is_told_in_one_line(placet: Placet, control: FakeControl):
    control.answers(LIST, [17])
    done = placet("list")
    assert done.status == 1
    assert done.err.startswith("placet: a bug in placet: ")
    assert done.err.count("\n") == 1


def test_a_closed_standard_output_is_not_a_crash(home: Path, control: FakeControl):
    control.answers(LIST, [examples.task()])
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m daemon list >&-"],
        env=command_environment(home),
        stderr=subprocess.PIPE,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
