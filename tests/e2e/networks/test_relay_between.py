"""The guide's recipe for a relay: a third machine, plugged into two networks that cannot reach each other.

Never lets anything but the relay lead from one network to the other.
"""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.recipe import Recipe
from tests.docs.story import shell
from tests.e2e.mailboxes.guide import OFTEN, assert_never_linked, decide_on_the_other, recipe, titles
from tests.support.networks.namespaces import ip
from tests.support.networks.residents import Resident, World, wait_for_equal_state, wait_until_with_logs
from tests.support.patience import LIMIT_S, wait_until
from tests.support.starts import processes
from tests.support.starts.processes import PLACET

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

AT_HOME, AT_WORK = "10.77.0.9", "10.78.0.9"
RARELY = {"PLACET_MAILBOX_LOOK_S": "3600", "PLACET_MAILBOX_GATHER_S": "0.1"}


@dataclass
class Relay:
    """The relay of the recipe, on a machine of its own."""

    keeper: Resident
    command: list[str]
    running: "subprocess.Popen[bytes] | None" = None

    @property
    def log(self) -> Path:
        return self.keeper.home.parent / "relay.log"

    def start(self) -> None:
        """Start it, and wait until it says where it listens."""
        starts = self.log.read_text().count("https://") if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.running = processes.Popen(
                self.keeper.machine.command(PLACET, *self.command[1:]),
                env=self.keeper.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        wait_until("the relay listens", lambda: self.log.read_text().count("https://") > starts, LIMIT_S)

    def end(self) -> int:
        """End it with SIGTERM; return its exit status."""
        assert self.running is not None
        self.running.terminate()
        return self.running.wait(LIMIT_S)


@pytest.fixture
def keeper(world: World) -> Resident:
    """Return a machine that is plugged into both networks, and forwards nothing."""
    third = world.device("keeper")
    for name, address in (("home", AT_HOME), ("work", AT_WORK)):
        third.machine.plug(world.networks.segment(name), f"{address}/24")
    third.home.mkdir()
    return third


@pytest.fixture
def relay(keeper: Resident) -> Iterator[Relay]:
    new_relay = Relay(keeper, [])
    yield new_relay
    if new_relay.running is not None and new_relay.running.poll() is None:
        new_relay.running.kill()
        new_relay.running.wait()


def resident_at(world: World, keeper: Resident, name: str, which: int, address: str) -> Resident:
    """Return a device on one network, which knows that the keeper is the way to everything else."""
    plug = keeper.machine.plugs[which]
    device = world.at(plug.segment, name, f"{address}/24")
    way = (AT_HOME, AT_WORK)[which]
    ip("-n", device.machine.namespace, "route", "add", "default", "via", way)
    device.settings |= OFTEN
    return device


def restart_rarely_looking(*devices: Resident) -> None:
    """From now on a device looks once an hour, and whenever the relay wakes it."""
    for device in devices:
        device.stop()
        device.settings |= RARELY
        device.start()
        device.do("mailbox", "check", "home")


def serve(guide: Recipe, relay: Relay) -> tuple[str, str]:
    """Make the box and start the relay; return the secret and the pin that were printed."""
    printed = guide.run(relay.keeper, "placet relay add", {}).out
    secret = printed.partition("secret: ")[2].split()[0]
    pin = printed.partition("sha256=")[2].split()[0]
    assert "home" in guide.run(relay.keeper, "placet relay list", {}).out
    relay.command = guide.line("placet relay up", {}).split()
    relay.start()
    return secret, pin


def give_new_secret(guide: Recipe, keeper: Resident, *devices: Resident) -> None:
    """Change the secret of the box, and add its place once more on each device, as the recipe says."""
    secret = keeper.do("relay", "change", "home", "--new-secret")["secret"]
    line = guide.line("placet mailbox add relay", {"relay.example": AT_HOME})
    assert guide.untried == []
    for device in devices:
        assert "not this secret" in device.do("mailbox", "check", "home")["trouble"]
        added = shell(device, line, device.home, typed=secret)
        assert added.status == 0, added
        assert device.do("mailbox", "check", "home")["trouble"] is None
        assert len(device.do("mailbox", "list")) == 1


def test_two_networks_meet_in_a_relay_on_a_third_machine(world: World, keeper: Resident, relay: Relay):
    guide = recipe("A relay between two networks")
    secret, pin = serve(guide, relay)
    laptop = resident_at(world, keeper, "laptop", 0, "10.77.0.1")
    desktop = resident_at(world, keeper, "desktop", 1, "10.78.0.1")
    world.start(laptop, desktop)
    places = {"relay.example": AT_HOME, "PIN": pin}

    wrong_place = f"https://{AT_HOME}:8484/home#sha256={'0' * 64}"
    refused = laptop.run("mailbox", "add", "relay", wrong_place, typed=secret)
    assert refused.status != 0
    assert "not the one that was pinned" in refused.err
    assert laptop.do("mailbox", "list") == []

    guide.run(laptop, "placet mailbox add relay", places, typed=secret)
    token = guide.run(laptop, "placet pair --invite", places).out
    guide.run(desktop, "placet join", places, typed=token)
    wait_until_with_logs("the desktop is in", lambda: len(desktop.do("devices")) == 2, laptop, desktop)
    decide_on_the_other(laptop, desktop, "Paint")

    # What one puts wakes the other one, which looks once an hour by itself.
    restart_rarely_looking(laptop, desktop)
    laptop.do("add", "Sand")
    laptop.do("mailbox", "check", "home")
    wait_until_with_logs("the desktop is woken", lambda: "Sand" in titles(desktop), laptop, desktop)

    assert relay.end() == 0
    desktop.do("add", "Varnish")
    assert desktop.do("mailbox", "check", "home")["trouble"]
    relay.start()
    desktop.do("mailbox", "check", "home")
    wait_until_with_logs("the laptop is woken", lambda: "Varnish" in titles(laptop), laptop, desktop)
    for device in (laptop, desktop):
        device.do("mailbox", "check", "home")
    wait_for_equal_state(laptop, desktop)
    give_new_secret(guide, keeper, laptop, desktop)

    assert_never_linked(laptop, desktop)
    for device in (laptop, desktop):
        assert {peer.rpartition(":")[0] for peer in device.machine.connections()} == {AT_HOME}
        assert secret not in (device.home.parent / f"{device.name}.log").read_text("utf-8", "replace")
    assert secret not in relay.log.read_text()
    for file in (keeper.home / "relay").rglob("*"):
        assert file.is_dir() or b"Paint" not in file.read_bytes()
