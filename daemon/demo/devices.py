"""The stage of the demonstration: devices, and commands run on them and shown as they run.

Never decides what happens next; the story does.
"""

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

START_S = 60.0
STOP_S = 10.0
WAIT_S = 60.0
POLL_S = 0.2
COMMAND_S = 60.0

_STYLED = sys.stdout.isatty() and "NO_COLOR" not in os.environ
BOLD, DIM, GREEN, CYAN = "1", "2", "32", "36"


class DemoFailed(Exception):
    """Something that the demonstration promises did not come true."""


def style_text(text: str, code: str) -> str:
    """Return text in a terminal style, plain if the output is no terminal."""
    return f"\x1b[{code}m{text}\x1b[0m" if _STYLED else text


def print_scene(title: str) -> None:
    """Begin a scene."""
    print(f"\n{style_text(title, BOLD)}\n{style_text('─' * len(title), DIM)}", flush=True)


def narrate(text: str) -> None:
    """Tell the reader something."""
    print(style_text(text, DIM), flush=True)


def _placet() -> str:
    """Return the installed command, beside the interpreter that runs this."""
    beside = Path(sysconfig.get_path("scripts")) / "placet"
    return str(beside) if beside.exists() else "placet"


class DemoDevice:
    """One daemon with a folder of its own, and a prompt to type at."""

    def __init__(self, name: str, home: Path) -> None:
        self.name = name
        self.home = home
        self._daemon: subprocess.Popen[bytes] | None = None
        self._environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("PLACET_")},
            "PLACET_HOME": str(home),
            "PLACET_DEVICE_NAME": name,
            "PLACET_LISTEN_HOST": "127.0.0.1",
            "PLACET_LISTEN_PORT": "0",
            "PLACET_WAKE_DEBOUNCE_S": "0.2",
            "PLACET_WAKE_THROTTLE_S": "0",
        }

    def start(self) -> None:
        """Start the daemon and wait until it answers."""
        print(f"{style_text(self.name, CYAN)}$ placet up &", flush=True)
        self.home.mkdir(parents=True)
        with (self.home / "daemon.log").open("wb") as log:
            self._daemon = subprocess.Popen(
                [_placet(), "up"], env=self._environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        wait_until(f"the daemon of {self.name} answers", self._answers, START_S)

    def _answers(self) -> bool:
        assert self._daemon is not None
        if self._daemon.poll() is not None:
            raise DemoFailed(f"the daemon of {self.name} ended: {self.log_tail()}")
        return self._call(["status", "--json"]).returncode == 0

    def log_tail(self) -> str:
        """Return the last lines that the daemon wrote."""
        return "\n".join((self.home / "daemon.log").read_text("utf-8", "replace").splitlines()[-5:])

    def stop(self) -> None:
        """End the daemon, gently and then not."""
        if self._daemon is None:
            return
        self._daemon.send_signal(signal.SIGTERM)
        try:
            self._daemon.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._daemon.kill()
            self._daemon.wait()

    def _call(self, words: list[str], typed: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [_placet(), *words],
            env=self._environment,
            input=typed or "",
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=False,
        )

    def _prompt(self, words: list[str], more: str = "") -> None:
        text = " ".join(f'"{word}"' if " " in word else word for word in words)
        print(f"{style_text(self.name, CYAN)}$ placet {text}{more}", flush=True)

    def run(self, *words: str, typed: str | None = None, exit_status: int = 0) -> str:
        """Run a command as a person would: show it, show what it says, return its output."""
        result = self.run_unchecked(*words, typed=typed)
        if result.returncode != exit_status:
            raise DemoFailed(f"placet {words[0]} ended with {result.returncode}, expected {exit_status}")
        return result.stdout

    def run_unchecked(self, *words: str, typed: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command as `run` does, however it ends."""
        self._prompt(list(words), "" if typed is None else f" <<< {typed}")
        result = self._call(list(words), typed)
        _show(result.stdout + result.stderr)
        return result

    @contextmanager
    def run_in_background(self, *words: str) -> Iterator[str]:
        """Run a command that says one line and waits, for as long as the block takes; then show its end."""
        self._prompt(list(words), "   # and waits")
        command = subprocess.Popen(
            [_placet(), *words],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert command.stdout is not None
        try:
            line = command.stdout.readline().strip()
            _show(line)
            yield line
            rest, _ = command.communicate(timeout=COMMAND_S)
            print(f"{style_text(self.name, CYAN)}:", flush=True)
            _show(rest)
            if command.returncode != 0:
                raise DemoFailed(f"placet {words[0]} ended with {command.returncode}")
        finally:
            command.kill()
            command.wait()
            command.stdout.close()

    def read_json(self, *words: str, shown: bool = True) -> Any:
        """Run a command with --json for the story's own use, and say so."""
        if shown:
            self._prompt([*words, "--json"], style_text("   # read by this script", DIM))
        result = self._call([*words, "--json"])
        if result.returncode != 0:
            raise DemoFailed(f"placet {' '.join(words)}: {result.stderr.strip()}")
        return json.loads(result.stdout)

    def read_until(self, what: str, holds: Callable[[Any], bool], *words: str) -> Any:
        """Read until what comes back is as wanted; the command is shown once."""
        self._prompt([*words, "--json"], style_text(f"   # until {what}", DIM))
        answers: list[Any] = []

        def came() -> bool:
            answers.append(self.read_json(*words, shown=False))
            return holds(answers[-1])

        wait_until(what, came, WAIT_S)
        return answers[-1]


def _show(text: str) -> None:
    for line in text.rstrip().splitlines():
        print(f"  {line}", flush=True)


def wait_until(what: str, holds: Callable[[], bool], limit_s: float) -> None:
    """Wait for something that another process does. Raises DemoFailed after `limit_s` seconds."""
    end = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > end:
            raise DemoFailed(f"waited {limit_s:.0f} s in vain: {what}")
        time.sleep(POLL_S)  # noqa: TID251 - another process cannot be awaited


@contextmanager
def started_devices(folder: Path, *names: str) -> Iterator[list[DemoDevice]]:
    """Set up devices with a daemon each; end the daemons whatever happens."""
    demo_devices = [DemoDevice(name, folder / name) for name in names]
    try:
        for device in demo_devices:
            device.start()
        yield demo_devices
    finally:
        for device in demo_devices:
            device.stop()
