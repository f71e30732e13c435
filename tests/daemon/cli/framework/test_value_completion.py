"""Completion, in a real bash and by the protocol that click's scripts for the other shells speak.

Never leaves a completion script anywhere.
"""

import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet, command_environment
from tests.support.patience import LIMIT_S

TASKS = [
    {**examples.task(), "id": "2b36" + "0" * 22, "title": "Call the plumber"},
    {**examples.task(), "id": "b1f2" + "0" * 22, "title": "Renew passport"},
]


@pytest.fixture
def tasks(control: FakeControl) -> None:
    control.answers("GET /v1/task-lines", TASKS)
    control.answers("GET /v1/labels", [{"id": "x", "name": "home office"}, {"id": "y", "name": "garden"}])
    control.answers("GET /v1/categories", [{"id": "z", "name": "Travel"}])


SCRIPT = """
source <(placet completion bash)
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_placet_completion placet
printf '%s\\n' "${COMPREPLY[@]}"
"""


def bash(home: Path, *words: str) -> tuple[list[str], str]:
    """Complete the last word as bash would when Tab is pressed; return the words and what was said."""
    environment = command_environment(home)
    environment["PATH"] = f"{sysconfig.get_path('scripts')}:{environment['PATH']}"
    result = subprocess.run(
        ["bash", "--norc", "-c", SCRIPT, "bash", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    return result.stdout.split("\n")[:-1], result.stderr


@pytest.mark.external("bash")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["placet", "ta"], ["task"]),
        (["placet", "task", "re"], ["remove", "restore"]),
        (["placet", "show", ""], ["2b36", "b1f2"]),
        (["placet", "show", "b"], ["b1f2"]),
        (["placet", "show", "PASS"], ["b1f2"]),
        (["placet", "task", "edit", "2"], ["2b36"]),
        (["placet", "add", "x", "--label", ""], ["home\\ office", "garden"]),
        (["placet", "add", "x", "--category", "t"], ["Travel"]),
        (["placet", "add", "--pri"], ["--priority"]),
        (["placet", "config", "set", "listen."], ["listen.host", "listen.port"]),
        (["placet", "import", "mark"], ["markdown"]),
        (["placet", "completion", "z"], ["zsh"]),
        (["placet", "nonsense", ""], [""]),
    ],
)
def test_bash_completes(words: list[str], completed: list[str], home: Path, tasks: None):
    assert bash(home, *words) == (completed, "")


@pytest.mark.external("bash")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["placet", "confirm", ""], ["a81c", "b2b2"]),
        (["placet", "defer", "b"], ["b2b2"]),
        (["placet", "reject", "--set", ""], ["51e7aa00"]),
        (["placet", "undo", ""], ["a81c"]),
        (["placet", "reopen", ""], ["a81c", "c3c3"]),
        (["placet", "review", "PASS"], ["b1f2"]),
        (["placet", "decisions", "PASS"], ["b1f2"]),
    ],
)
def test_bash_completes_proposals_that_are_open_and_those_that_were_decided(
    words: list[str], completed: list[str], home: Path, tasks: None, control: FakeControl
):
    control.answers("GET /v1/pending", [examples.pending(), examples.pending(item_id="b2" * 16)])
    rejected = examples.DECISION | {"item_id": "c3" * 16, "verdict": "rejected", "status": "rejected"}
    control.answers("GET /v1/decisions", [examples.DECISION, rejected, examples.DECISION])
    assert bash(home, *words) == (completed, "")


EVIL = (
    "$(touch pwned)",
    "`touch pwned`",
    "x;touch pwned",
    "*",
    "it's",
    'a "b"',
    "';touch pwned;'",
    "!!",
    "a\\b",
)


@pytest.mark.external("bash")
@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_bash_reads_a_completed_name_as_one_word_that_does_nothing(
    quote: str, home: Path, control: FakeControl
):
    control.answers("GET /v1/labels", [{"id": name, "name": name} for name in EVIL])
    completed, text = bash(home, "placet", "add", "x", "--label", quote)
    script = "".join(f"printf '%s\\n' {quote}{element}{quote}\n" for element in completed)
    read = subprocess.run(
        ["bash", "--norc", "-c", script],
        cwd=home,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    assert (tuple(read.stdout.splitlines()), read.stderr, text) == (EVIL, "", "")
    assert not (home / "pwned").exists()


@pytest.mark.external("bash")
@pytest.mark.parametrize("last", [["show", ""], ["add", "--label", ""], ["confirm", ""], ["done", "x"]])
def test_without_a_daemon_nothing_is_offered_and_nothing_said(last: list[str], home: Path):
    assert bash(home, "placet", *last) == ([""], "")


def test_a_file_is_left_to_the_shell(placet: Placet):
    result = placet(_PLACET_COMPLETE="bash_complete", COMP_WORDS="placet import markdown li", COMP_CWORD="3")
    assert result.out == "file,li\n"


def test_a_task_beyond_the_first_page_is_found(placet: Placet, control: FakeControl):
    page = [{**TASKS[0], "id": f"{moment:04x}" + "0" * 28, "title": "one of many"} for moment in range(500)]
    for element in (page, [TASKS[1]]):
        control.answers("GET /v1/task-lines", element)
    result = placet(_PLACET_COMPLETE="bash_complete", COMP_WORDS="placet show passport", COMP_CWORD="2")
    assert result.out == "plain,b1f2\n"


def test_an_answer_that_makes_no_sense_offers_nothing(placet: Placet, control: FakeControl):
    control.answers("GET /v1/task-lines", {"surprise": 1})
    result = placet(_PLACET_COMPLETE="bash_complete", COMP_WORDS="placet show ", COMP_CWORD="2")
    assert (result.out.strip(), result.err) == ("", "")


def test_zsh_and_fish_are_told_titles(placet: Placet, tasks: None):
    zsh = placet(_PLACET_COMPLETE="zsh_complete", COMP_WORDS="placet show ", COMP_CWORD="2")
    assert zsh.out.split("\n")[:3] == ["plain", "2b36", "Call the plumber"]
    fish = placet(_PLACET_COMPLETE="fish_complete", COMP_WORDS="placet show", COMP_CWORD="")
    assert fish.out.split("\n")[1] == "plain,b1f2\tRenew passport"


def test_titles_cannot_move_the_cursor(placet: Placet, control: FakeControl):
    control.answers("GET /v1/task-lines", [{**TASKS[0], "title": "a\x1b[2Jb\nplain,evil\tc"}])
    result = placet(_PLACET_COMPLETE="fish_complete", COMP_WORDS="placet show", COMP_CWORD="")
    assert "\x1b" not in result.out
    assert result.out.count("\n") == 1


def fish(home: Path, line: str) -> list[str]:
    """Complete a line as fish would when Tab is pressed."""
    environment = command_environment(home)
    environment["PATH"] = f"{sysconfig.get_path('scripts')}:{environment['PATH']}"
    script = f"placet completion fish | source; complete --do-complete '{line}'"
    result = subprocess.run(
        ["fish", "--no-config", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    return result.stdout.splitlines()


@pytest.mark.external("fish")
def test_fish_completes_with_titles(home: Path, tasks: None):
    assert fish(home, "placet show ") == ["2b36\tCall the plumber", "b1f2\tRenew passport"]


@pytest.mark.external("fish")
def test_fish_completes_a_name_with_commas_whole(home: Path, control: FakeControl):
    control.answers("GET /v1/categories", [{"id": "z", "name": "red, green, $(touch pwned)"}])
    assert fish(home, "placet add x --category r") == ["red, green, $(touch pwned)"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_every_shell_is_printed(shell: str, placet: Placet):
    result = placet("completion", shell)
    assert (result.status, result.err) == (0, "")
    assert "_PLACET_COMPLETE" in result.out


def test_another_shell_is_refused(placet: Placet):
    assert placet("completion", "tcsh").status == 2
