"""The mailboxes of a soak whose devices are apart: a folder, a relay and NATS, each away now and then.

Never leads from one network to the other: the machine of the relay and NATS is on both, and forwards nothing.
"""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.support.needs import SEARCH_PATH
from tests.support.networks.namespaces import Segment
from tests.support.networks.residents import Resident, World
from tests.support.patience import wait_until
from tests.support.starts.processes import PLACET

FOLDER: Final = "folder"
LOOKED_INTO: Final = {
    "folder": ("desk", "server"),
    "relay": ("phone", "laptop"),
    "nats": ("tablet", "server"),
}
"""Who looks into which mailbox: each joins one device of either network, so nobody has all of them."""
KINDS: Final = tuple(LOOKED_INTO)
RELAY_PORT, NATS_PORT = 8484, 4222
NATS_SECRET: Final = "soak:of-nobody-else"
END_S: Final = 30.0


@dataclass
class Places:
    """The mailboxes, and the processes that keep two of them."""

    box: Path
    keeper: Resident
    addresses: dict[str, str]
    """Where each device finds the keeper."""
    running: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    away: set[str] = field(default_factory=set)
    relay_secret: str = ""
    relay_pin: str = ""

    def start(self) -> None:
        """Make the folder and the box, and start what keeps the others."""
        self.box.mkdir()
        self.keeper.home.mkdir()
        made = self.keeper.do("relay", "add", "soak", "--quota", "64")
        self.relay_secret, self.relay_pin = made["secret"], made["pin"]
        for kind in KINDS[1:]:
            self._spawn(kind)
        self._wait_for("relay", RELAY_PORT)
        self._wait_for("nats", NATS_PORT)

    def add_to(self, device: Resident) -> None:
        """Let a device look into the mailboxes that are for it."""
        address = self.addresses[device.name]
        for kind, names in LOOKED_INTO.items():
            if device.name not in names:
                continue
            if kind == FOLDER:
                self.add_folder_to(device)
            elif kind == "relay":
                place = f"https://{address}:{RELAY_PORT}/soak#{self.relay_pin}"
                device.do("mailbox", "add", place, typed=self.relay_secret)
            else:
                place = f"nats://{address}:{NATS_PORT}/soak-nats"
                device.do("mailbox", "add", place, "--unencrypted", typed=NATS_SECRET)

    def add_folder_to(self, device: Resident) -> None:
        """Let a device look into the folder, unless it came into the vault through it."""
        if not device.do("mailbox", "list"):
            device.do("mailbox", "add", str(self.box))

    def take_away(self, kind: str) -> Callable[[], None]:
        """Take a mailbox away from all; return what brings it back."""
        self.away.add(kind)
        if kind == FOLDER:
            elsewhere = self.box.with_name("elsewhere")
            self.box.rename(elsewhere)
        else:
            self._end(kind)

        def bring_back() -> None:
            if kind == FOLDER:
                elsewhere.rename(self.box)
            else:
                self._spawn(kind)
            self.away.discard(kind)

        return bring_back

    def close(self) -> None:
        """End what runs."""
        for kind in list(self.running):
            self._end(kind)

    def _end(self, kind: str) -> None:
        process = self.running.pop(kind)
        process.kill()
        process.wait(END_S)

    def _spawn(self, kind: str) -> None:
        with (self.box.parent / f"{kind}.log").open("ab") as log:
            self.running[kind] = subprocess.Popen(
                self.keeper.machine.command(*self._command(kind)),
                env=self.keeper.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _command(self, kind: str) -> list[str | Path]:
        if kind == "relay":
            return [PLACET, "relay", "up", "--host", "0.0.0.0", "--port", str(RELAY_PORT)]
        user, _, password = NATS_SECRET.partition(":")
        store = self.box.parent / "nats-store"
        words = ["--jetstream", "--port", str(NATS_PORT), "--user", user, "--pass", password]
        program = shutil.which("nats-server", path=SEARCH_PATH)
        assert program is not None, "nats-server is not installed"
        return [program, *words, "--store_dir", store]

    def _wait_for(self, kind: str, port: int) -> None:
        words = self.keeper.machine.command("ss", "--no-header", "--listening", "--tcp", "--numeric")

        def listens() -> bool:
            shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
            return f":{port} " in shown

        wait_until(f"the {kind} listens", listens)


def places_in(folder: Path, world: World, segments: dict[str, Segment], networks: dict[str, str]) -> Places:
    """Return the mailboxes of a soak. `segments` are by prefix, `networks` has the prefix of each device."""
    keeper = world.device("keeper")
    for prefix, segment in segments.items():
        keeper.machine.plug(segment, f"{prefix}.255.9/16")
    addresses = {name: f"{prefix}.255.9" for name, prefix in networks.items()}
    return Places(folder / "box", keeper, addresses)
