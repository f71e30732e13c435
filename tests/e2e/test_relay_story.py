"""Two daemons that never link are in step through a relay, which is ended and started again meanwhile.

Never runs both daemons at once after they were paired.
"""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.devices import Device, MakeDevice, pair
from tests.support.patience import LIMIT_S, wait_until
from tests.support.starts import processes
from tests.support.starts.processes import PLACET

pytestmark = pytest.mark.e2e


@dataclass
class RelayProcess:
    """A relay as the installed program."""

    device: Device
    folder: Path
    process: "subprocess.Popen[str] | None" = None
    url: str = ""

    def start(self, port: str) -> None:
        """Start it, and wait until it says where it listens."""
        with (self.folder.parent / "relay.log").open("ab") as log:
            self.process = processes.Popen(
                [PLACET, "relay", "up", "--port", port, "--folder", str(self.folder)],
                env=self.device.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout
        for line in self.process.stdout:
            if line.startswith("https://"):
                self.url = line.strip()
                return
        raise AssertionError((self.folder.parent / "relay.log").read_text())

    def stop(self) -> None:
        """End it with SIGTERM."""
        assert self.process
        assert self.process.stdout
        self.process.terminate()
        self.process.stdout.close()
        assert self.process.wait(LIMIT_S) == 0


@pytest.fixture
def relay(device: MakeDevice, tmp_path: Path) -> Iterator[RelayProcess]:
    running = RelayProcess(device("keeper"), tmp_path / "relay")
    yield running
    if running.process is not None:
        assert running.process.stdout
        running.process.stdout.close()
        running.process.kill()
        running.process.wait()


def test_two_devices_that_never_link_are_in_step_through_a_relay(
    device: MakeDevice, relay: RelayProcess
) -> None:
    laptop, desktop = device("laptop"), device("desktop")
    pair(laptop, desktop)
    made = relay.device.do("relay", "add", "home", "--folder", str(relay.folder))
    relay.start("0")
    place = f"{relay.url}/home#{made['pin']}"
    desktop.stop()
    laptop.do("mailbox", "add", "relay", place, typed=made["secret"])
    laptop.do("add", "Paint")
    laptop.do("mailbox", "check", "home")
    laptop.stop()
    desktop.start()
    desktop.do("mailbox", "add", place, "--name", "home", typed=made["secret"])
    desktop.stop()
    # Now the laptop knows that the desktop looks there too, and writes what it lacks.
    laptop.start()
    laptop.do("mailbox", "check", "home")
    laptop.stop()
    port = relay.url.rpartition(":")[2]
    relay.stop()
    desktop.start()
    wait_until("doctor says that it is away", lambda: "cannot be used" in desktop.run("doctor").out)
    relay.start(port)
    desktop.do("mailbox", "check", "home")
    assert [task["title"] for task in desktop.do("list")] == ["Paint"]
    (box,) = desktop.do("mailbox", "list")
    assert (box["kind"], box["trouble"], box["unreadable"]) == ("relay", None, 0)
    desktop.do("add", "Sand")
    desktop.do("mailbox", "check", "home")
    state_hash = desktop.do("status")["state_hash"]
    desktop.stop()
    laptop.start()
    laptop.do("mailbox", "check", "home")
    assert laptop.do("status")["state_hash"] == state_hash
    kept = relay.device.do("relay", "list", "--folder", str(relay.folder))
    assert [box["box"] for box in kept] == ["home"]
    log = (relay.folder.parent / "relay.log").read_text()
    assert made["secret"] not in log + laptop.log() + desktop.log()
    for file in relay.folder.rglob("*"):
        assert file.is_dir() or b"Paint" not in file.read_bytes()
    relay.device.do("relay", "remove", "home", "--folder", str(relay.folder))
    assert "does not know" in (laptop.do("mailbox", "check", "home")["trouble"] or "")
