"""Real Syncthing daemons of this machine, two at a time, told nothing but each other's address.

Never lets one look for anyone: no announcements, relays, reports or upgrades.
"""

import os
import signal
import subprocess
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from string import Template

from tests.support.devices import free_port
from tests.support.patience import LIMIT_S

KEY = "of-the-test"

_CONFIG = Template("""<configuration version="36">
  <folder id="tasks" path="$folder" rescanIntervalS="0" fsWatcherEnabled="$watches" fsWatcherDelayS="1">
    <device id="$own"/><device id="$other"/><maxConflicts>10</maxConflicts>
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


class SyncthingFault(Exception):
    """One of its commands failed."""


@dataclass
class SyncthingNode:
    """One Syncthing: its program, its home with the folder `tasks` in it, and where it listens."""

    program: str
    home: Path
    port: int
    gui: int
    running: "subprocess.Popen[bytes] | None" = None

    @property
    def folder(self) -> Path:
        """Return the folder that it keeps in step."""
        return self.home / "tasks"

    @classmethod
    def made(cls, program: str, home: Path) -> "SyncthingNode":
        """Make its key, and the folder. Raises SyncthingFault."""
        node = cls(program, home, free_port(), free_port())
        node.folder.mkdir(parents=True)
        (node.folder / ".stfolder").mkdir()
        node.command("generate", "--no-default-folder", "--skip-port-probing")
        return node

    def command(self, *words: str) -> str:
        """Run one of its short commands. Raises SyncthingFault."""
        result = subprocess.run(
            [self.program, *words, f"--home={self.home}"],
            env={"HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        if result.returncode != 0:
            raise SyncthingFault(f"syncthing {words[0]} failed: {result.stderr[-120:].strip()}")
        return result.stdout.strip()

    def configure(self, other: "SyncthingNode", *, paused: bool = False, watches: bool = False) -> None:
        """Tell it of the other one, and of nobody else. `watches` is whether it hears of changed files."""
        text = _CONFIG.substitute(
            folder=self.folder,
            own=self.name(),
            other=other.name(),
            other_port=other.port,
            paused=str(paused).lower(),
            watches=str(watches).lower(),
            gui=self.gui,
            key=KEY,
            port=self.port,
        )
        (self.home / "config.xml").write_text(text, "utf-8")

    def name(self) -> str:
        """Return the id that follows from its key."""
        return self.command("serve", "--device-id")

    def start(self) -> None:
        """Start it, without waiting."""
        words = ["serve", f"--home={self.home}", "--no-browser", "--no-restart", "--no-upgrade"]
        with (self.home / "log").open("ab") as log:
            self.running = subprocess.Popen(
                [self.program, *words],
                env={"HOME": str(self.home)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # it starts itself once more
            )

    def end(self) -> None:
        """End it whole, if it runs."""
        if self.running is not None:
            os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()
            self.running = None

    def asked(self, path: str, method: str = "GET", body: str = "") -> bytes:
        """Ask its API. Raises OSError."""
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

    def look(self) -> None:
        """Have it look at its folder now."""
        self.asked("db/scan?folder=tasks", "POST")

    def let_in(self, other: "SyncthingNode", *, paused: bool = False) -> None:
        """Exchange with the other one from now on, or no more."""
        self.asked(f"config/devices/{other.name()}", "PATCH", f'{{"paused": {str(paused).lower()}}}')
