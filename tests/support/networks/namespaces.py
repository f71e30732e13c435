"""Small networks made of network namespaces: hosts, and bridges that join them.

Never touches the machine's own network: every link has both its ends inside namespaces made here, and nothing
leads out of them.
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

PREFIX = "placet-test"
NAMESPACES = Path("/run/netns")


def ip(*words: str) -> str:
    """Run iproute2's `ip`; return what it printed."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    environment = os.environ | {"PATH": path}
    result = subprocess.run(["ip", *words], capture_output=True, text=True, check=False, env=environment)
    assert not result.returncode, f"ip {' '.join(words)}: {result.stderr.strip()}"
    return result.stdout


def remove_leftover_namespaces() -> None:
    """Remove what runs that were killed left behind: their namespaces, and the daemons in them.

    Only for a process that is alone in doing so: two would take the same things from each other.
    """
    for path in NAMESPACES.glob(f"{PREFIX}-*"):
        run = path.name.removeprefix(f"{PREFIX}-").partition("-")[0]
        if run.isdigit() and not Path(f"/proc/{run}").exists():
            try:
                _remove(path.name)
            except AssertionError:
                # A process that had left the machine's mount namespace leaves an empty file here.
                path.unlink(missing_ok=True)


def _remove(namespace: str) -> None:
    for pid in ip("netns", "pids", namespace).split():
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    ip("netns", "del", namespace)


@dataclass
class Segment:
    """One local network: a bridge in a namespace of its own."""

    namespace: str
    ports: int = 0

    def port(self) -> str:
        """Return the name of a new port of the bridge."""
        self.ports += 1
        return f"p{self.ports}"

    def attach(self, port: str) -> None:
        """Let a port take part: what comes in there reaches the others."""
        ip("-n", self.namespace, "link", "set", port, "master", "bridge", "up")


@dataclass
class Plug:
    """An interface of a host, and the port at the other end of its cable."""

    host: "Host"
    name: str
    segment: Segment
    port: str

    def cut(self) -> None:
        """Take the cable out: both ends lose the carrier."""
        ip("-n", self.segment.namespace, "link", "set", self.port, "down")

    def reconnect(self) -> None:
        """Put the cable in again."""
        ip("-n", self.segment.namespace, "link", "set", self.port, "up")

    def drop_frames(self) -> None:
        """Let the network forward nothing from or to this host, which sees no sign of it."""
        ip("-n", self.segment.namespace, "link", "set", self.port, "nomaster")

    def forward(self) -> None:
        """Forward again."""
        self.segment.attach(self.port)

    def move_to(self, segment: Segment) -> None:
        """Take the cable out, and put it in elsewhere; the interface keeps its addresses."""
        self.cut()
        port = segment.port()
        ip("-n", self.segment.namespace, "link", "set", self.port, "netns", segment.namespace, "name", port)
        self.segment, self.port = segment, port
        segment.attach(port)

    def down(self) -> None:
        """Switch the interface off; its IPv6 addresses go with it."""
        ip("-n", self.host.namespace, "link", "set", self.name, "down")

    def up(self) -> None:
        """Switch the interface on."""
        ip("-n", self.host.namespace, "link", "set", self.name, "up")

    def add(self, address: str) -> None:
        """Give the interface an address, such as 10.77.0.1/24."""
        ip("-n", self.host.namespace, "address", "add", address, "dev", self.name)

    def remove(self, address: str) -> None:
        """Take an address from the interface."""
        ip("-n", self.host.namespace, "address", "del", address, "dev", self.name)


@dataclass
class Host:
    """One machine: a namespace with interfaces."""

    namespace: str
    plugs: list[Plug] = field(default_factory=list)

    def plug(self, segment: Segment, *addresses: str) -> Plug:
        """Connect the machine to a local network by a cable."""
        plug = Plug(self, f"eth{len(self.plugs)}", segment, segment.port())
        peer = ["peer", "name", plug.port, "netns", segment.namespace]
        ip("-n", self.namespace, "link", "add", plug.name, "type", "veth", *peer)
        segment.attach(plug.port)
        self.settle(plug, addresses)
        return plug

    def plug_badly(self, segment: Segment, wire: "LossyWire", *addresses: str) -> Plug:
        """Connect the machine to a local network by a bad cable that is not running yet."""
        plug = Plug(self, f"eth{len(self.plugs)}", segment, segment.port())
        wire.run((self.namespace, plug.name), (segment.namespace, plug.port))
        segment.attach(plug.port)
        self.settle(plug, addresses)
        return plug

    def settle(self, plug: Plug, addresses: tuple[str, ...]) -> None:
        """Take an interface that is there into use."""
        self.plugs.append(plug)
        plug.up()
        for address in addresses:
            plug.add(address)

    def without(self, family: int) -> None:
        """Let the machine have no IPv6; to have no IPv4, give it no address."""
        assert family == 6
        self.write("net/ipv6/conf/all/disable_ipv6", "1")
        self.write("net/ipv6/conf/default/disable_ipv6", "1")

    def write(self, key: str, value: str) -> None:
        """Set one of the machine's network parameters (sysctl)."""
        command = ["ip", "netns", "exec", self.namespace, "tee", f"/proc/sys/{key}"]
        subprocess.run(command, input=value, text=True, check=True, stdout=subprocess.DEVNULL)

    def connections(self) -> list[str]:
        """Return the peers of the TCP connections that are open there."""
        command = self.command("ss", "--no-header", "--numeric", "--tcp", "state", "established")
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        return [line.split()[-1] for line in result.stdout.splitlines()]

    def command(self, *words: str | Path) -> list[str | Path]:
        """Return a command that runs on this machine; the process that is started becomes it."""
        return ["ip", "netns", "exec", self.namespace, *words]


@dataclass
class LossyWire:
    """A bad cable, and the process that is it, see poor_wire.py."""

    seed: int
    loss: float = 0.0
    delay_s: float = 0.0
    bytes_per_s: float = 0.0
    process: subprocess.Popen[str] | None = None

    @property
    def terms(self) -> dict[str, float]:
        """Return how bad it is."""
        return {"loss": self.loss, "delay_s": self.delay_s, "bytes_per_s": self.bytes_per_s}

    def run(self, *ends: tuple[str, str]) -> None:
        """Begin to carry frames between two interfaces, which come to be by that."""
        text = json.dumps({"ends": ends, "seed": self.seed, "terms": self.terms})
        script = Path(__file__).with_name("poor_wire.py")
        self.process = subprocess.Popen(
            [sys.executable, script, text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n", "no TAP device could be made"

    def become(self, *, loss: float = 0.0, delay_s: float = 0.0, bytes_per_s: float = 0.0) -> None:
        """Be as bad as this from now on."""
        self.loss, self.delay_s, self.bytes_per_s = loss, delay_s, bytes_per_s
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(self.terms) + "\n")
        self.process.stdin.flush()

    def end(self) -> None:
        """Carry nothing any more; the interfaces go."""
        if self.process is not None:
            self.process.communicate()


class Networks:
    """Everything that one fixture makes; `close` takes it away again, whatever runs in it."""

    made = 0

    def __init__(self) -> None:
        self._namespaces: list[str] = []
        self._wires: list[LossyWire] = []

    def host(self, name: str) -> Host:
        """Make a machine without any network but its own loopback."""
        host = Host(self._namespace(name))
        ip("-n", host.namespace, "link", "set", "lo", "up")
        return host

    def segment(self, name: str) -> Segment:
        """Make a local network that nothing is connected to."""
        segment = Segment(self._namespace(name))
        # No snooping: without a querier it would forget who listens to multicast.
        bridge = ["bridge", "type", "bridge", "mcast_snooping", "0", "forward_delay", "0"]
        ip("-n", segment.namespace, "link", "add", *bridge)
        ip("-n", segment.namespace, "link", "set", "bridge", "up")
        return segment

    def wire(self, seed: int, *, loss: float, delay_s: float) -> LossyWire:
        """Make a bad cable."""
        wire = LossyWire(seed, loss, delay_s)
        self._wires.append(wire)
        return wire

    def _namespace(self, name: str) -> str:
        Networks.made += 1
        full = f"{PREFIX}-{os.getpid()}-{Networks.made}-{name}"
        ip("netns", "add", full)
        self._namespaces.append(full)
        return full

    def close(self) -> None:
        """End what runs in the namespaces, and remove them."""
        while self._wires:
            self._wires.pop().end()
        while self._namespaces:
            _remove(self._namespaces.pop())
