"""The guide's recipe for a cluster of NATS: its very file, three real servers, and any one of them away.

Never lets the daemons link.
"""

import re
import shlex
import shutil
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.recipe import Recipe, put_in
from tests.e2e.mailboxes.guide import (
    OFTEN,
    assert_never_linked,
    decide_on_the_other,
    join_apart,
    recipe,
    titles,
)
from tests.support.certificates import write_certificate
from tests.support.devices import Device, MakeDevice, free_port, have_equal_state
from tests.support.needs import SEARCH_PATH
from tests.support.patience import LIMIT_S, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.external("nats-server")]

NAMES = ("a", "b", "c")
SECRET = "placet:a long secret"


@dataclass
class Server:
    """One server of the cluster, with the guide's file."""

    folder: Path
    port: int
    health_port: int
    running: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        """Start it, without waiting."""
        program = shutil.which("nats-server", path=SEARCH_PATH)
        assert program is not None
        with (self.folder / "log").open("ab") as log:
            self.running = subprocess.Popen(
                [program, "--config", self.folder / "config"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def is_well(self) -> bool:
        """Say whether it has all that the others have."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.health_port}/healthz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def kill(self) -> None:
        """End it as a machine that loses power does."""
        assert self.running is not None
        self.running.send_signal(signal.SIGKILL)
        self.running.wait(LIMIT_S)


def config_of(guide: Recipe, name: str, ports: dict[str, int], routes: dict[str, int], folder: Path) -> str:
    """Return the guide's file for one server, with the places of this test."""
    (text,) = guide.files
    assert f'password: "{SECRET.partition(":")[2]}"' in text
    others = [other for other in NAMES if other != name]
    hosts = ", ".join(f"nats://127.0.0.1:{routes[other]}" for other in others)
    text = re.sub(r"routes: \[nats://b\.example:6222, nats://c\.example:6222\]", f"routes: [{hosts}]", text)
    places = {
        "server_name: a": f"server_name: {name}",
        "0.0.0.0:4222": f"127.0.0.1:{ports[name]}",
        "0.0.0.0:6222": f"127.0.0.1:{routes[name]}",
        "/var/lib/nats": str(folder / name / "store"),
        "/etc/nats/a.": str(folder / "server."),
        "/etc/nats/ca.pem": str(folder / "server.pem"),
    }
    assert all(place in text for place in places), text
    return put_in(text, places)


@pytest.fixture
def guide() -> Recipe:
    return recipe("A cluster of NATS")


@pytest.fixture
def servers(guide: Recipe, tmp_path: Path) -> Iterator[list[Server]]:
    folder = tmp_path / "nats"
    folder.mkdir()
    write_certificate(folder)
    ports, routes = ({name: free_port() for name in NAMES} for _ in range(2))
    cluster = [Server(folder / name, ports[name], free_port()) for name in NAMES]
    try:
        for name, server in zip(NAMES, cluster, strict=True):
            server.folder.mkdir()
            # Beside what the guide says, it tells the test how it is.
            health = f'http: "127.0.0.1:{server.health_port}"\n'
            (server.folder / "config").write_text(config_of(guide, name, ports, routes, folder) + health)
            server.start()
        wait_until_well(*cluster)
        yield cluster
    finally:
        for server in cluster:
            if server.running is not None and server.running.poll() is None:
                server.kill()


def places_of(servers: list[Server]) -> dict[str, str]:
    hosts = {
        f"{name}.example": f"127.0.0.1:{server.port}" for name, server in zip(NAMES, servers, strict=True)
    }
    return hosts | {"/etc/nats/ca.pem": str(servers[0].folder.parent / "server.pem")}


def wait_until_well(*servers: Server) -> None:
    for server in servers:
        assert server.running is not None
        log = server.folder / "log"
        wait_until(f"a server is well: {log.read_text()[-500:]}", server.is_well, LIMIT_S)


def is_usable(*devices: Device) -> bool:
    """Say whether all can use the mailbox: the servers that are there have agreed who leads."""
    return not any(device.do("mailbox", "check", "home")["trouble"] for device in devices)


def test_two_devices_live_with_a_cluster_of_which_any_server_is_away(
    device: MakeDevice, guide: Recipe, servers: list[Server]
) -> None:
    laptop, desktop = device("laptop", **OFTEN), device("desktop", **OFTEN)
    places = places_of(servers)
    place = shlex.split(recipe("A cluster of NATS").line("placet mailbox add", places))[-1]
    refused = laptop.run("mailbox", "add", place, typed="placet:another secret")
    assert refused.status != 0
    assert "does not take this user or secret" in refused.err
    guide.run(laptop, "placet mailbox add", places, typed=SECRET)
    token = guide.run(laptop, "placet pair --invite", places).out
    join_apart(laptop, desktop, lambda: guide.run(desktop, "placet join", places, typed=token))
    assert guide.untried == []
    decide_on_the_other(laptop, desktop, "Paint")

    for number, server in enumerate(servers):
        server.kill()
        laptop.do("add", f"Sand {number}")
        wait_until("two servers are enough", lambda: is_usable(laptop, desktop), LIMIT_S)
        wait_until("it arrives", lambda title=f"Sand {number}": title in titles(desktop), LIMIT_S)  # type: ignore[misc]
        server.start()
        # Two at a time are too many: the next one waits until this one has what the others have.
        wait_until_well(*servers)
    wait_until("both hold the same", lambda: have_equal_state(laptop, desktop), LIMIT_S)
    wait_until("none is in trouble", lambda: is_usable(laptop, desktop), LIMIT_S)
    assert_never_linked(laptop, desktop)
    for one_device in (laptop, desktop):
        assert "a long secret" not in (one_device.home.parent / f"{one_device.name}.log").read_text()
