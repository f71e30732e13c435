"""Syncthing: a file an entity, two daemons of this machine, told nothing but each other's address.

Never lets it look for anyone: no announcements, relays, reports or upgrades.
"""

import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template

from bench.peers.outcome import Outcome, Unavailable
from bench.peers.scripted import end
from bench.stores import task_fields
from syncproto import codec
from tests.support.devices import free_port

SIZES, ENOUGH_S = (400, 1_600, 6_400), 4.0
LIVE, WARM = 30, 3
LIMIT_S, LOOK_S = 120.0, 0.0005
KEY = "bench"

_CONFIG = Template("""<configuration version="36">
  <folder id="tasks" path="$folder" rescanIntervalS="0" fsWatcherEnabled="false">
    <device id="$own"/><device id="$other"/>
  </folder>
  <device id="$own" name="own"/>
  <device id="$other" name="other">
    <address>tcp4://127.0.0.1:$other_port</address><paused>$paused</paused>
  </device>
  <gui enabled="true"><address>127.0.0.1:$gui</address><apikey>$key</apikey></gui>
  <options>
    <listenAddress>tcp4://127.0.0.1:$port</listenAddress>
    <globalAnnounceEnabled>false</globalAnnounceEnabled><localAnnounceEnabled>false</localAnnounceEnabled>
    <relaysEnabled>false</relaysEnabled><natEnabled>false</natEnabled><stunServer></stunServer>
    <urAccepted>-1</urAccepted><crashReportingEnabled>false</crashReportingEnabled>
    <autoUpgradeIntervalH>0</autoUpgradeIntervalH><startBrowser>false</startBrowser>
    <setLowPriority>false</setLowPriority><reconnectionIntervalS>1</reconnectionIntervalS>
  </options>
</configuration>
""")


@dataclass(frozen=True, slots=True)
class Node:
    """One Syncthing: its program, its home with the folder `tasks` in it, and where it listens."""

    program: str
    home: Path
    port: int
    gui: int

    @property
    def folder(self) -> Path:
        """Return the folder that it keeps in step."""
        return self.home / "tasks"

    @classmethod
    def made(cls, program: str, home: Path) -> "Node":
        """Make its key, and the folder."""
        node = cls(program, home, free_port(), free_port())
        node.folder.mkdir(parents=True)
        (node.folder / ".stfolder").mkdir()
        node.command("generate", "--no-default-folder", "--skip-port-probing")
        return node

    def command(self, *words: str) -> str:
        """Run one of its short commands."""
        result = subprocess.run(
            [self.program, *words, f"--home={self.home}"],
            env={"HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        if result.returncode != 0:
            raise Unavailable(f"syncthing {words[0]} failed: {result.stderr[-120:].strip()}")
        return result.stdout.strip()

    def configure(self, other: "Node", *, paused: bool) -> None:
        """Tell it of the other one, and of nobody else."""
        text = _CONFIG.substitute(
            folder=self.folder,
            own=self.name(),
            other=other.name(),
            other_port=other.port,
            paused=str(paused).lower(),
            gui=self.gui,
            key=KEY,
            port=self.port,
        )
        (self.home / "config.xml").write_text(text, "utf-8")

    def name(self) -> str:
        """Return the id that follows from its key."""
        return self.command("serve", "--device-id")

    def asked(self, path: str, method: str = "GET", body: str = "") -> bytes:
        """Ask its API."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.gui}/rest/{path}",
            method=method,
            data=body.encode() or None,
            headers={"X-API-Key": KEY, "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            raw: bytes = answer.read()
        return raw

    def answers(self) -> bool:
        """Say whether it serves, and has read its folder once."""
        try:
            return b'"state":"idle"' in self.asked("db/status?folder=tasks").replace(b" ", b"")
        except OSError:
            return False

    def put(self, number: int) -> Path:
        """Write an entity as a file, whole or not at all."""
        path = self.folder / f"{1_700_000_000_000 + number:012x}"
        fresh = self.home / "fresh"
        fresh.write_bytes(codec.encode(task_fields(number)))
        return fresh.rename(path)


def _wait(what: str, holds: Callable[[], bool]) -> None:
    """Wait for something that it does, closely enough to time it."""
    end = time.monotonic() + LIMIT_S
    while not holds():
        if time.monotonic() > end:
            raise Unavailable(f"waited {LIMIT_S:.0f} s in vain: {what}")
        time.sleep(LOOK_S)  # noqa: TID251 - another process cannot be awaited


@contextmanager
def _two(program: str, folder: Path, entities: int) -> Iterator[tuple[Node, Node]]:
    """Run two, of which the first holds the entities, and the second has not been let to it yet."""
    local_node, existing_node = (
        Node.made(program, folder / f"{name}-{entities}") for name in ("here", "there")
    )
    for number in range(entities):
        local_node.put(number)
    local_node.configure(existing_node, paused=False)
    existing_node.configure(local_node, paused=True)
    started: list[subprocess.Popen[bytes]] = []
    try:
        for node in (local_node, existing_node):
            words = ["serve", f"--home={node.home}", "--no-browser", "--no-restart", "--no-upgrade"]
            with (node.home / "log").open("wb") as log:
                running = subprocess.Popen(
                    [program, *words],
                    env={"HOME": str(node.home)},
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # it starts itself once more
                )
            started.append(running)
        for node in (local_node, existing_node):
            _wait(f"{node.home.name} has read its folder", node.answers)
        yield local_node, existing_node
    finally:
        for running in started:
            end(running)


def _bootstrap_s(node: Node, existing_node: Node, entities: int) -> float:
    """Let the second to the first, and time until it has as many files."""
    start = time.perf_counter()
    existing_node.asked(f"config/devices/{node.name()}", "PATCH", '{"paused": false}')
    _wait(f"{entities} files", lambda: len(list(existing_node.folder.glob("[0-9a-f]*"))) >= entities)
    return time.perf_counter() - start


def _live_ms(node: Node, existing_node: Node, number: int) -> float:
    """Write a file, have it looked at at once, and time until the other has it."""
    awaited = existing_node.folder / f"{1_700_000_000_000 + number:012x}"
    start = time.perf_counter()
    path = node.put(number)
    node.asked(f"db/scan?folder=tasks&sub={path.name}", "POST")
    _wait("one file", awaited.exists)
    return 1e3 * (time.perf_counter() - start)


def measured(program: str) -> Outcome:
    """Bring up folders, each four times the last, until one takes long; then write files one by one."""
    with tempfile.TemporaryDirectory(prefix="placet-peers-") as name:
        for entities in SIZES:
            with _two(program, Path(name), entities) as (node, existing_node):
                seconds = _bootstrap_s(node, existing_node, entities)
                if seconds > ENOUGH_S or entities == SIZES[-1]:
                    live_mses = [
                        _live_ms(node, existing_node, entities + turn) for turn in range(LIVE + WARM)
                    ]
                    return Outcome(entities, seconds, live_mses[WARM:])
    raise AssertionError("the last size is always measured")
