"""Real daemons for end-to-end tests: the installed `placet`, folders of their own, loopback only.

Never imports the daemon: what it knows of a device, it knows from the command line.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

START_S, STOP_S, COMMAND_S, POLL_S = 30.0, 5.0, 60.0, 0.05

ROOT = Path(__file__).parents[2]
PLACET = Path(sysconfig.get_path("scripts")) / "placet"


@dataclass(frozen=True, slots=True)
class Done:
    """What a command came to."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return what it printed, as JSON."""
        return json.loads(self.out)


def wait_until(what: str, holds: Callable[[], bool], limit_s: float) -> None:
    """Wait for something that another process does; fail with what was waited for."""
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end, f"waited {limit_s:.0f} s in vain: {what}"
        time.sleep(POLL_S)  # noqa: TID251 - another process cannot be awaited


def free_port() -> int:
    """Return a port that was free a moment ago, for a daemon that must come back where it was."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Device:
    """One device: a folder, an environment, and its daemon while it runs."""

    name: str
    home: Path
    settings: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    daemon: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of its commands: nothing of the caller's Placet settings."""
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("PLACET_")}
        return inherited | {
            "PLACET_HOME": str(self.home),
            "PLACET_DEVICE_NAME": self.name,
            "PLACET_LISTEN_HOST": "127.0.0.1",
            "PLACET_LISTEN_PORT": str(self.port),
            "PLACET_MDNS_ENABLED": "false",
            "PLACET_WAKE_DEBOUNCE_S": "0.1",
            "PLACET_WAKE_THROTTLE_S": "0",
            "NO_COLOR": "1",
            **self.settings,
        }

    def launch(self) -> None:
        """Start the daemon, without waiting."""
        self.home.mkdir(parents=True, exist_ok=True)
        command, environment = self.daemon_command()
        with (self.home.parent / f"{self.name}.log").open("ab") as log:
            self.daemon = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def daemon_command(self) -> tuple[list[str | Path], dict[str, str]]:
        """Return what runs the daemon, and in which environment."""
        return [PLACET, "up"], self.environment

    def start(self) -> None:
        """Start the daemon and wait until it answers."""
        self.launch()
        wait_until(f"{self.name} answers: {self.log()}", self.answers, START_S)

    def answers(self) -> bool:
        """Say whether the daemon answers."""
        assert self.daemon is not None
        assert self.daemon.poll() is None, f"{self.name} ended: {self.log()}"
        return self.run("status").status == 0

    def log(self) -> str:
        """Return the end of what the daemon wrote."""
        path = self.home.parent / f"{self.name}.log"
        return path.read_text("utf-8", "replace")[-2000:] if path.exists() else ""

    def stop(self) -> int:
        """End the daemon with SIGTERM; return its exit status. Fails where it takes more than 5 s."""
        assert self.daemon is not None
        self.daemon.send_signal(signal.SIGTERM)
        return self.daemon.wait(STOP_S)

    def kill(self) -> None:
        """End the daemon with SIGKILL."""
        assert self.daemon is not None
        self.daemon.kill()
        self.daemon.wait()

    def run(self, *words: str, typed: str = "") -> Done:
        """Run a command."""
        done = subprocess.run(
            [PLACET, *words],
            env=self.environment,
            input=typed,
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def do(self, *words: str, typed: str = "") -> Any:
        """Run a command with --json that must succeed; return what it printed."""
        done = self.run(*words, "--json", typed=typed)
        assert done.status == 0, f"placet {' '.join(words)}: {done.status} {done.out} {done.err} {self.log()}"
        return done.json


@dataclass
class Shifted(Device):
    """A device whose clock can be set while its daemon runs."""

    def set_clock(self, by_ms: int) -> None:
        """Put the clock forward or back by so much."""
        self.home.mkdir(parents=True, exist_ok=True)
        fresh = self.shift.with_suffix(".fresh")  # the daemon reads at any moment, and never half a number
        fresh.write_text(str(by_ms))
        fresh.replace(self.shift)

    @property
    def shift(self) -> Path:
        """Return the file that says by how much the clock is wrong."""
        return self.home.parent / f"{self.name}.shift"

    def daemon_command(self) -> tuple[list[str | Path], dict[str, str]]:
        """Return the daemon on a machine whose clock is as wrong as the file says."""
        environment = self.environment | {"SHIFT_CLOCK_BY": str(self.shift), "PYTHONPATH": str(ROOT)}
        return [sys.executable, ROOT / "tests" / "daemon" / "shifted.py", "up"], environment


def pair(one: Device, other: Device) -> None:
    """Pair two devices and wait until both hold the same."""
    token = one.do("pair", "--invite")["token"]
    other.do("join", typed=token)
    other.do("sync", "--wait")


def agree(*devices: Device) -> bool:
    """Say whether the devices hold the same commits and the same state."""
    seen = [device.do("status") for device in devices]
    return all(
        one["vector"] == seen[0]["vector"] and one["state_hash"] == seen[0]["state_hash"] for one in seen
    )
