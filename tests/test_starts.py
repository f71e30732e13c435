"""Processes that tests start by a fork are like those that are started afresh, or they are not forked.

Never tests Placet: `facts.py` stands in for it and tells what a process finds.
"""

import json
import os
import pty
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.networks.namespaces import Networks
from tests.support.patience import LIMIT_S, wait_until
from tests.support.starts import processes
from tests.support.starts.processes import ROOT

FACTS: list[str | Path] = [sys.executable, ROOT / "tests/support/starts/facts.py"]
PLAIN = {
    name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "LANG", "COV"))
}

FORM: dict[str, Any] = {"env": PLAIN, "capture_output": True, "timeout": LIMIT_S, "check": False}


def in_both_ways(*words: str, **options: Any) -> list[Any]:
    """Start the same by a fork and afresh; return both results, of which only the first may be forked."""
    options = FORM | options
    return [run([*FACTS, *words], **options) for run in (processes.run, subprocess.run)]


@pytest.fixture(autouse=True)
def forks_are_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes.choice, "forks", True)


def on_a_terminal(run: Callable[..., Any]) -> Any:
    ours, theirs = pty.openpty()
    try:
        run(
            [*FACTS, "facts"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=PLAIN,
            timeout=LIMIT_S,
            check=True,
        )
        raw = b""
        while not raw.endswith(b"\n"):
            raw += os.read(ours, 1 << 16)
        return json.loads(raw)
    finally:
        os.close(ours)
        os.close(theirs)


def differences(name: str, forked: dict[str, Any], fresh: dict[str, Any]) -> dict[str, Any]:
    """Return what the two found differently, by where."""
    result: dict[str, Any] = {}
    for key in forked.keys() | fresh.keys():
        forked_value, fresh_value = forked.get(key), fresh.get(key)
        if isinstance(forked_value, dict) and isinstance(fresh_value, dict):
            result |= differences(f"{name}, {key}", forked_value, fresh_value)
        elif forked_value != fresh_value:
            result[f"{name}, {key}"] = forked_value, fresh_value
    return result


def test_a_forked_process_finds_what_a_fresh_one_finds(tmp_path: Path):
    starts: dict[str, dict[str, Any]] = {
        "plain": {},
        "time zone": {"env": PLAIN | {"TZ": "Asia/Kolkata"}},
        "no time zone again": {"env": {name: value for name, value in PLAIN.items() if name != "TZ"}},
        "locale": {"env": PLAIN | {"LANG": "C.UTF-8", "LC_ALL": ""}},
        "unknown locale": {"env": PLAIN | {"LANG": "xx_YY.UTF-8"}},
        "few variables": {"env": {"A": "\udcff", "B": "ü=1"}},
        "this environment": {"env": None},
        "unbuffered": {"env": PLAIN | {"PYTHONUNBUFFERED": "1"}},
        "path": {"env": PLAIN | {"PYTHONPATH": str(ROOT)}},
        "folder": {"cwd": tmp_path},
        "umask": {"umask": 0o27},
        "session": {"start_new_session": True},
        "errors beside": {"capture_output": False, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT},
        "typed": {"input": b"x"},
        "odd words": {"words": ["facts", "\udcfe", "", "-x"]},
    }
    different: dict[str, Any] = {}
    for name, options in starts.items():
        words = options.pop("words", ["facts"])
        results = in_both_ways(*words, **options)
        different |= differences(name, *(json.loads(result.stdout) for result in results))
    forked, fresh = on_a_terminal(processes.run), on_a_terminal(subprocess.run)
    different |= differences("terminal", forked, fresh)
    assert not different, different
    assert forked["streams"][0][5]


def test_a_forked_process_ends_as_a_fresh_one_does():
    different: dict[str, Any] = {}
    for how in (
        "fall through",
        *["status", "words", "nothing", "fault", "interrupt", "signal", "pipe", "full", "thread"],
        "at once",
    ):
        forked, fresh = (
            (result.returncode, result.stdout, result.stderr) for result in in_both_ways(how, input=b"")
        )
        if forked != fresh:
            different[how] = forked, fresh
    assert not different, different


def test_it_is_a_child_of_the_tests_that_is_awaited_and_killed_as_any(tmp_path: Path):
    with processes.Popen(
        [*FACTS, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as waiting:
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == f"waits {os.getpid()}\n"
        assert waiting.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(0.01)
        waiting.send_signal(signal.SIGTERM)
        assert waiting.wait(LIMIT_S) == -signal.SIGTERM
    with pytest.raises(subprocess.TimeoutExpired):
        processes.run([*FACTS, "wait"], stdin=waiting_end(), capture_output=True, timeout=0.2)
    with pytest.raises(subprocess.CalledProcessError):
        processes.run([*FACTS, "at once"], check=True, stdout=subprocess.DEVNULL)
    with pytest.raises(FileNotFoundError):
        processes.run([*FACTS, "facts"], cwd=tmp_path / "missing")


def waiting_end() -> int:
    """Return the reading end of a pipe that nothing is written to, and that stays open."""
    reads, _open = os.pipe()
    return reads


def test_what_kills_the_processes_of_a_test_does_not_kill_the_server():
    with processes.Popen(
        [*FACTS, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as waiting:
        assert waiting.stdout is not None
        assert waiting.stdout.readline().startswith(b"waits")
        os.killpg(waiting.pid, signal.SIGKILL)
        assert waiting.wait(LIMIT_S) == -signal.SIGKILL
    assert is_forked()


def is_forked(command: list[str | Path] | None = None, **options: Any) -> bool:
    options = FORM | {"check": True} | options
    return bool(json.loads(processes.run(command or [*FACTS, "forked"], **options).stdout))


@contextmanager
def fewer_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def ignored_signal() -> Iterator[None]:
    before = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR2, before)


@contextmanager
def blocked_signal() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_what_a_fork_would_not_do_alike_is_really_started(monkeypatch: pytest.MonkeyPatch):
    assert is_forked()
    variables = {
        "PYTHONHASHSEED": "0",
        "PYTHONIOENCODING": "latin-1",
        "PYTHONPATH": "/tmp",
        "LC_ALL": "C",
        "LD_PRELOAD": "",
        "COVERAGE_PROCESS_START": "x",
        "SSL_CERT_FILE": "/x",
        "_PLACET_COMPLETE": "bash_complete",
    }
    forked = [name for name, value in variables.items() if is_forked(env=PLAIN | {name: value})]
    commands: dict[str, list[str | Path]] = {
        "-X": [sys.executable, "-X", "dev", *FACTS[1:], "forked"],
        "-c": [sys.executable, "-c", "print('false')"],
        "sh": ["sh", "-c", f"{FACTS[0]} {FACTS[1]} forked"],
        "env": ["env", *FACTS, "forked"],
    }
    forked += [name for name, command in commands.items() if is_forked(command)]
    options: dict[str, dict[str, Any]] = {
        "preexec_fn": {"preexec_fn": int},
        "process_group": {"process_group": 0},
        "pass_fds": {"pass_fds": (2,)},
        "executable": {"executable": sys.executable},
    }
    forked += [name for name, option in options.items() if is_forked(**option)]
    for around in (fewer_files, ignored_signal, blocked_signal):
        with around():
            forked += [around.__name__] if is_forked() else []
    monkeypatch.setattr(processes.choice, "forks", False)
    forked += ["turned off"] if is_forked() else []
    assert not forked


def test_no_chance_is_shared():
    drawn = [
        json.loads(processes.run([*FACTS, "up"], env=PLAIN, capture_output=True).stdout) for _ in range(2)
    ]
    assert len(drawn[0]) == 3
    assert set(drawn[0]).isdisjoint(drawn[1])


def test_the_server_ends_with_the_process_that_made_it():
    program = (
        "from tests.support.starts import processes; processes.choice.forks = True;"
        f"processes.run([{str(FACTS[0])!r}, {str(FACTS[1])!r}, 'at once']);"
        "print([server._process.pid for server in processes._servers.values()], flush=True); input()"
    )

    def ends(end: Callable[[subprocess.Popen[str]], object]) -> None:
        with subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=PLAIN | {"LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as asking:
            assert asking.stdout is not None
            asking.stdout.readline()
            [server] = json.loads(asking.stdout.readline())
            assert Path(f"/proc/{server}").exists()
            end(asking)
        wait_until("the server is gone", lambda: not Path(f"/proc/{server}").exists())

    ends(lambda asking: asking.kill())
    ends(lambda asking: asking.communicate("\n"))


@pytest.mark.root
def test_a_process_that_leaves_its_mounts_goes_on_with_a_server_of_the_new_ones():
    program = (
        "import ctypes; from tests.support.starts import processes; processes.choice.forks = True\n"
        f"def forked(): processes.run([{str(FACTS[0])!r}, {str(FACTS[1])!r}, 'forked'], check=True)\n"
        "forked(); assert ctypes.CDLL(None).unshare(0x20000) == 0; forked()"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=PLAIN | {"LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    assert result.stdout.split() == ["true", "true"]


@pytest.mark.root
@pytest.mark.network
def test_a_forked_process_is_in_the_network_that_a_fresh_one_is_in():
    networks = Networks()
    try:
        host = networks.host("alone")
        results = [
            run(host.command(*FACTS, "facts"), env=PLAIN, capture_output=True, check=True, timeout=LIMIT_S)
            for run in (processes.run, subprocess.run)
        ]
        forked, fresh = (json.loads(result.stdout) for result in results)
        assert forked == fresh
        assert forked["network"][1] == ["lo"]
        assert is_forked(host.command(*FACTS, "forked"))
    finally:
        networks.close()
