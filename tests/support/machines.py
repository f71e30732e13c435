"""Machines with mounts of their own, on which daemons and commands run, and a stick that goes between them.

Never mounts anything that the machine of the tests would see.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.devices import Device
from tests.support.patience import LIMIT_S, wait_until

STICK = Path("/media/stick")
"""Where each machine has the stick, if it is plugged in there."""
_READ_ONLY = STICK.with_name("read-only")
"""Where it becomes read-only before it is at its place: a daemon may look there at any moment."""

# It ends when its standard input does, so also if the tests are killed.
_KEEPER = (
    f"mount -t tmpfs -o size=1m placet-test {STICK.parent} && mkdir {STICK} {_READ_ONLY}"
    " && echo ready && read -r _"
)


@dataclass
class Machine:
    """A mount namespace, kept by a process that waits."""

    keeper: "subprocess.Popen[str]"

    def command(self, *words: str | Path) -> list[str | Path]:
        """Return what runs a command on this machine."""
        return ["nsenter", f"--mount=/proc/{self.keeper.pid}/ns/mnt", "--", *words]

    def run(self, *words: str | Path) -> str:
        """Run a command on this machine; return what it complained of, nothing if it succeeded."""
        result = subprocess.run(
            self.command(*words),
            env=os.environ | {"PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return result.stderr.strip() or "it failed" if result.returncode else ""


@contextmanager
def machine() -> Iterator[Machine]:
    """Return a machine that has whatever is mounted now, and no stick; it ends with the block."""
    keeper = subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", _KEEPER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert keeper.stdout is not None
        assert keeper.stdout.readline() == "ready\n"
        yield Machine(keeper)
    finally:
        keeper.communicate(timeout=LIMIT_S)


@dataclass
class HostedDevice(Device):
    """A device on a machine of its own."""

    machine: Machine | None = None

    def command(self, *words: str | Path) -> list[str | Path]:
        """Return what runs a command on its machine."""
        assert self.machine is not None
        return self.machine.command(*words)


@dataclass
class Stick:
    """A file system that is plugged in at one machine at a time."""

    medium: Path
    at: Machine | None = None

    def plug(self, machine: Machine, *, read_only: bool = False) -> None:
        """Mount it on a machine."""
        assert self.at is None, "it is plugged in elsewhere"
        if read_only:
            assert not machine.run("mount", "--bind", self.medium, _READ_ONLY)
            assert not machine.run("mount", "-o", "remount,bind,ro", _READ_ONLY)
            assert not machine.run("mount", "--move", _READ_ONLY, STICK)
        else:
            assert not machine.run("mount", "--bind", self.medium, STICK)
        self.at = machine

    def unmount(self) -> None:
        """Unmount it, as a person does who waits until the system allows that."""
        machine = self._taken()
        wait_until("nothing on the stick is in use", lambda: not machine.run("umount", STICK), LIMIT_S)

    def pull(self) -> None:
        """Take it away without a word, whatever is open on it."""
        assert not self._taken().run("umount", "--lazy", STICK)

    def _taken(self) -> Machine:
        assert self.at is not None, "it is plugged in nowhere"
        machine, self.at = self.at, None
        return machine
