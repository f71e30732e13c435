"""A document as a story: its commands, and the devices on which they run.

Never runs what would change this machine; such a command must only exist. The blocks of a document run in
order on one device, in one folder; a block that begins with ```` ```sh phone ```` runs on a second one. An id
that a document shows stands for a real one.
"""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.commands import CommandResult
from tests.support.devices import Device
from tests.support.patience import LIMIT_S, wait_until
from tests.support.pseudo_terminal import terminal
from tests.support.source_tree import text_of
from tests.support.starts import processes
from tests.support.starts.processes import PLACET

_BLOCK = re.compile(r"^```(sh|sh phone)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
PLACET_LINE = re.compile(r"^placet |\| placet |^curl ", re.MULTILINE)
# They would change this machine; tests/systemd and tests/e2e/networks run them.
_INSTALLS = ("placet service install", "placet service uninstall", "systemctl ", "make ", "pipx ", "git ")
# They run until somebody ends them.
_STAYS = ("placet up", "placet events", "placet log --follow")
# Folders of a person, for which the story has one of its own.
_PLACES = ("/media/stick", "~/Sync")
_PROPOSALS = ("3f9a", "71c2", "b01d", "c4d8")
TODO_MD = """\
# Prepare the release
* write the notes

# Renew the old passport
It is in the drawer.
"""
TODO_TXT = "(A) Call the landlord @phone due:2027-03-01\n"


@dataclass
class Story:
    """A document that is being told: its devices, and what was decided so far."""

    folder: Path
    devices: dict[str, Device] = field(default_factory=dict)
    confirmed: list[str] = field(default_factory=list)
    invitation: "subprocess.Popen[str] | None" = None
    code: str = ""

    def device(self, name: str) -> Device:
        """Return the device of this name, started when it is first needed."""
        if name not in self.devices:
            self.devices[name] = Device(name, self.folder / name)
            self.devices[name].start()
        return self.devices[name]

    def tell(self, name: str, text: str) -> None:
        """Run a line on a device, and fail unless it does what it says."""
        device = self.device(name)
        line = self._with_real_ids(device, text)
        for place in _PLACES:
            line = line.replace(place, str(self.folder))
        if line.startswith((*_INSTALLS, *_STAYS)):
            self._exists(device, line)
        elif line == "placet review":
            with terminal(device.home, "review") as screen:
                screen.until("?] ")
                screen.end("q")
                assert screen.status == 0
        elif line.startswith("placet pair") and "--invite" not in line:
            self._invite(device)
        elif line.startswith("placet join"):
            self._join(device)
        else:
            self._run(device, line)

    def _run(self, device: Device, line: str) -> None:
        stopped = line.startswith("placet restore")
        if stopped:
            device.stop()
        result = shell(device, line, self.folder)
        assert result.status == 0, f"{line}: {result}"
        assert "Traceback" not in result.err
        if stopped:
            device.start()
        if line.startswith("placet confirm"):
            self.confirmed += [word for word in line.split()[2:] if word[0] != "-"]
        if line.startswith("placet agent create"):
            wait_until("the agent proposes", lambda: len(device.do("pending")) > 2, LIMIT_S)

    def _exists(self, device: Device, line: str) -> None:
        if line.startswith("placet "):
            words = re.match(r"placet ([a-z]+(?: (?:install|uninstall))?)", line)
            assert words
            assert device.run(*words[1].split(), "--help").status == 0, line

    def _invite(self, device: Device) -> None:
        self.invitation = processes.Popen(
            [PLACET, "pair"],
            env=device.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.invitation.stdout
        self.code = self.invitation.stdout.readline().strip()

    def _join(self, device: Device) -> None:
        # There is no mDNS between test devices, so the newcomer is told where to go.
        [matching_device] = [
            listed_device for name, listed_device in self.devices.items() if name != device.name
        ]
        result = device.run("join", "--addr", f"127.0.0.1:{matching_device.port}", typed=self.code)
        assert result.status == 0, result
        assert self.invitation
        assert self.invitation.wait(LIMIT_S) == 0

    def _with_real_ids(self, device: Device, line: str) -> str:
        if line.startswith(("placet undo", "placet reopen")):
            return re.sub(r"\b3f9a\b", "".join(self.confirmed[:1]), line)
        ids: dict[str, str] = {}
        if any(name in line for name in _PROPOSALS):
            waiting = [item["item_id"] for item in device.do("pending")]
            ids |= dict(zip((name for name in _PROPOSALS if name in line), waiting, strict=False))
        if "2bd3" in line:
            ids["2bd3"] = device.do("pending")[0]["set_id"]
        if "9c1e" in line:
            (checklist, *_) = device.do("check", "list", "login")
            ids["9c1e"] = checklist["items"][-1]["id"]
        if "e1e1" in line:
            ids["e1e1"] = device.do("entry", "list", "login")[-1]["id"]
        if "77c1" in line:
            ids["77c1"] = device.do("preferences", "list")[-1]["id"]
        if "5a5a" in line:
            ids["5a5a"] = device.do("rule", "list")[-1]["rule_id"]
        # All at once: an id that was put in may contain the next name.
        return re.sub("|".join(ids), lambda match: ids[match.group()], line) if ids else line

    def end(self) -> None:
        """End whatever still runs."""
        for device in self.devices.values():
            if device.daemon is not None and device.daemon.poll() is None:
                device.kill()
        if self.invitation is not None:
            self.invitation.kill()
            self.invitation.wait()
            assert self.invitation.stdout
            self.invitation.stdout.close()


def shell(device: Device, line: str, folder: Path, *, typed: str | None = None) -> CommandResult:
    """Run a line as somebody types it, in a folder; `typed` is what it reads from a pipe."""
    path = f"{PLACET.parent}:{device.environment['PATH']}"
    # Without a desktop, `placet web` prints what it would open.
    desktop = {"DISPLAY": "", "WAYLAND_DISPLAY": ""}
    result = subprocess.run(
        device.command("bash", "-c", line),
        env=device.environment | desktop | {"PATH": path, "EDITOR": "true"},
        cwd=folder,
        stdin=subprocess.DEVNULL if typed is None else None,
        input=typed,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    return CommandResult(result.returncode, result.stdout, result.stderr)


def lines_of(document: Path) -> Iterator[tuple[str, str]]:
    """Yield (device, command) of a document's blocks that are run."""
    for kind, block in _BLOCK.findall(text_of(document)):
        if PLACET_LINE.search(block):
            for command in commands_in(block):
                yield "phone" if kind.endswith("phone") else "laptop", command


def commands_in(block: str) -> Iterator[str]:
    """Yield the commands of a block, without comments; lines that go on are joined."""
    for line in block.replace("\\\n", " ").splitlines():
        command = re.sub(r"(^|\s{2,})#.*", "", line).rstrip()
        if command:
            yield command


def has_commands(document: Path) -> bool:
    """Return whether a document shows commands; pictures and layouts of files are fenced too."""
    return any(PLACET_LINE.search(block) for _, block in _BLOCK.findall(text_of(document)))
