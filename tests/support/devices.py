"""Real daemons for end-to-end tests: the installed `placet`, folders of their own, loopback only.

Never imports the daemon: what it knows of a device, it knows from the command line.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.commands import COMMAND_S, CommandResult
from tests.support.patience import LIMIT_S, wait_until
from tests.support.starts import processes
from tests.support.starts.processes import PLACET, ROOT

# Below the ports that the system hands out to connections (32 768 to 60 999).
_PORTS = range(20_000, 32_000)
_RANGE_PORTS = 100
_claims: list[socket.socket] = []
"""What keeps other runs off the ranges of this process, as long as it lives."""


def _claimed_ports() -> Iterator[int]:
    """Yield ports of ranges that no other run on this machine takes, whoever runs it.

    A datagram socket on the first port of a range claims all of it: no daemon opens such a port, and the
    system ends the claim with the process. So a port that is free here stays free until a daemon asks for it.
    """
    for first_port in _PORTS[::_RANGE_PORTS]:
        claim = socket.socket(type=socket.SOCK_DGRAM)
        try:
            claim.bind(("127.0.0.1", first_port))
        except OSError:
            claim.close()
            continue
        _claims.append(claim)
        yield from range(first_port, first_port + _RANGE_PORTS)
    raise AssertionError("every range of ports is taken")


_own_ports = _claimed_ports()


def free_port() -> int:
    """Return a port that is free, for a daemon that must come back where it was."""
    for port in _own_ports:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError


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
            self.daemon = processes.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def command(self, *words: str | Path) -> list[str | Path]:
        """Return what runs a command on its machine."""
        return list(words)

    def daemon_command(self) -> tuple[list[str | Path], dict[str, str]]:
        """Return what runs the daemon, and in which environment."""
        return self.command(PLACET, "up"), self.environment

    def start(self) -> None:
        """Start the daemon and wait until it answers."""
        self.launch()
        wait_until(f"{self.name} answers: {self.log()}", self.answers)

    def answers(self) -> bool:
        """Say whether the daemon answers."""
        assert self.daemon is not None
        assert self.daemon.poll() is None, f"{self.name} ended: {self.log()}"
        # To start a command costs half as much as to start the daemon: it is worth it once somebody listens.
        return self._listens() and self.run("status").status == 0

    def _listens(self) -> bool:
        """Say whether a process takes connections at its socket."""
        with suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            folder = os.open(self.home, os.O_PATH)
            try:
                # The path of a test's folder may be longer than an address of a socket.
                probe.connect(f"/proc/self/fd/{folder}/control.sock")
            finally:
                os.close(folder)
            return True
        return False

    def log(self) -> str:
        """Return the end of what the daemon wrote."""
        path = self.home.parent / f"{self.name}.log"
        return path.read_text("utf-8", "replace")[-2000:] if path.exists() else ""

    def stop(self) -> int:
        """End the daemon with SIGTERM; return its exit status."""
        assert self.daemon is not None
        self.daemon.send_signal(signal.SIGTERM)
        return self.daemon.wait(LIMIT_S)

    def kill(self) -> None:
        """End the daemon with SIGKILL."""
        assert self.daemon is not None
        self.daemon.kill()
        self.daemon.wait()

    def run(self, *words: str, typed: str = "") -> CommandResult:
        """Run a command."""
        result = processes.run(
            self.command(PLACET, *words),
            env=self.environment,
            input=typed,
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=False,
        )
        return CommandResult(result.returncode, result.stdout, result.stderr)

    def do(self, *words: str, typed: str = "") -> Any:
        """Run a command with --json that must succeed; return what it printed."""
        result = self.run(*words, "--json", typed=typed)
        assert result.status == 0, (
            f"placet {' '.join(words)}: {result.status} {result.out} {result.err} {self.log()}"
        )
        return result.json


MakeDevice = Callable[..., Device]


@dataclass
class ClockShiftedDevice(Device):
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
        return [sys.executable, Path(__file__).with_name("shifted_clock.py"), "up"], environment


def pair(device: Device, other: Device) -> None:
    """Pair two devices and wait until both hold the same."""
    token = device.do("pair", "--invite")["token"]
    other.do("join", typed=token)
    other.do("sync", "--wait")


def have_equal_state(*devices: Device) -> bool:
    """Say whether the devices hold the same commits and the same state."""
    observed = [device.do("status") for device in devices]
    return all(
        element["vector"] == observed[0]["vector"] and element["state_hash"] == observed[0]["state_hash"]
        for element in observed
    )
