"""Real daemons on the hosts of a small network: the installed `placet`, found by mDNS alone.

Never tells a daemon an address: what it knows of the others, it heard on the network.
"""

import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.devices import Device, have_equal_state
from tests.support.networks.namespaces import Host, Networks, Segment
from tests.support.patience import LIMIT_S, wait_until
from tests.support.starts.processes import PLACET, ROOT


@dataclass
class Resident(Device):
    """A device on a host of its own. Commands come through its socket, from outside the network."""

    host: Host | None = None

    @property
    def machine(self) -> Host:
        """Return its host."""
        assert self.host is not None
        return self.host

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of its commands: any address, any port, and mDNS."""
        settings = {"LISTEN_HOST": "", "LISTEN_PORT": "0", "MDNS_ENABLED": "true"}
        answer = {f"PLACET_{key}": value for key, value in settings.items()}
        return super().environment | answer | self.settings

    def daemon_command(self) -> tuple[list[str | Path], dict[str, str]]:
        """Return what runs the daemon on its host."""
        return self.machine.command(PLACET, "up"), self.environment

    @property
    def port_listened(self) -> int:
        """Return the port on which its daemon listens for peers."""
        mine = next(listed_device for listed_device in self.do("devices") if listed_device["this"])
        return int(mine["address"].rpartition(":")[2])

    def sleep(self) -> None:
        """Stop the daemon, with no warning to anyone. The time that goes by counts for its timers."""
        assert self.daemon is not None
        self.daemon.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Let the daemon go on."""
        assert self.daemon is not None
        self.daemon.send_signal(signal.SIGCONT)

    def sees(self, other: "Resident") -> dict[str, Any]:
        """Return what it knows of another device."""
        listed = self.do("devices")
        return next((dict(element) for element in listed if element["name"] == other.name), {})

    def linked(self, other: "Resident") -> bool:
        """Say whether there is a link to another device."""
        return bool(self.sees(other).get("connected"))

    def holds(self, title: str) -> bool:
        """Say whether a task of this title is in the journal."""
        return any(task["title"] == title for task in self.do("list"))


@dataclass
class Sleeper(Resident):
    """A device on a machine that sleeps as real ones do: its timers do not count the time that goes by."""

    slept_s: float = 0.0
    asleep_since_s: float = 0.0

    def sleep(self) -> None:
        """Let the machine sleep."""
        super().sleep()
        self.asleep_since_s = time.monotonic()

    def wake(self) -> None:
        """Let the machine go on."""
        self.slept_s += time.monotonic() - self.asleep_since_s
        self._tell()
        super().wake()

    def daemon_command(self) -> tuple[list[str | Path], dict[str, str]]:
        """Return what runs the daemon, and tells it how long it slept."""
        self._tell()
        answer = {"SLEPT_FOR": str(self._slept), "PYTHONPATH": str(ROOT)}
        script = Path(__file__).with_name("sleeper.py")
        return self.machine.command(sys.executable, script, "up"), self.environment | answer

    def _tell(self) -> None:
        self._slept.write_text(str(self.slept_s))

    @property
    def _slept(self) -> Path:
        return self.home.parent / f"{self.name}.slept"


class World:
    """Networks, and the devices on them."""

    def __init__(self, folder: Path) -> None:
        self.networks = Networks()
        self._folder = folder
        self._devices: list[Resident] = []

    def device(self, name: str, host: Host | None = None, **settings: str) -> Resident:
        """Make a device that does not run yet."""
        where = host or self.networks.host(name)
        return self._keep(Resident(name, self._folder / name, settings, port=0, host=where))

    def sleeper(self, segment: Segment, name: str, *addresses: str) -> Resident:
        """Make a device with one cable, on a machine that can sleep, that does not run yet."""
        device = Sleeper(name, self._folder / name, port=0, host=self.networks.host(name))
        device.machine.plug(segment, *addresses)
        return self._keep(device)

    def _keep(self, device: Resident) -> Resident:
        self._devices.append(device)
        return device

    def at(self, segment: Segment, name: str, *addresses: str) -> Resident:
        """Make a device with one cable that does not run yet."""
        device = self.device(name)
        device.machine.plug(segment, *addresses)
        return device

    def start(self, *devices: Resident) -> None:
        """Start daemons side by side, and wait until each answers."""
        for device in devices:
            device.launch()
        for device in devices:
            wait_until(f"{device.name} answers: {device.log()}", device.answers)

    def close(self) -> None:
        """End the daemons, and take the networks away."""
        for device in self._devices:
            if device.daemon is not None and device.daemon.poll() is None:
                device.kill()
        self.networks.close()


def pair_by_code(resident: Resident, *others: Resident) -> None:
    """Pair devices as people do: six digits, and no address."""
    for other in others:
        code = resident.do("pair")["code"]
        other.do("join", typed=code)


def wait_for_equal_state(*devices: Resident, limit_s: float = LIMIT_S) -> None:
    """Wait until the devices hold the same commits and the same state."""
    wait_until_with_logs(
        "the devices hold the same", lambda: have_equal_state(*devices), *devices, limit_s=limit_s
    )


def wait_until_with_logs(
    what: str, holds: Callable[[], bool], *devices: Resident, limit_s: float = LIMIT_S
) -> None:
    """Wait for something; if it does not come, show what the daemons logged."""
    try:
        wait_until(what, holds, limit_s)
    except AssertionError as fault:
        logs = "\n".join(f"--- {device.name}\n{device.log()}" for device in devices)
        raise AssertionError(f"{fault}\n{logs}") from None
