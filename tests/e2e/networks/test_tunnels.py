"""Tunnels: what a machine's other networks learn of them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.networks.namespaces import ip
from tests.support.networks.residents import Resident, World
from tests.support.patience import LIMIT_S

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

NEAR = ("10.77.0.1", "fd77::1")
OF_TUNNEL = ("10.99.0.1", "fd99::1")
ASK = (
    "import json; from daemon.peers.transport import network_interfaces as i; "
    "print(json.dumps([sorted(i.multicast_addresses()), sorted(i.machine_addresses())]))"
)


def _json(device: Resident, *command: str | Path) -> list[list[str]] | list[str]:
    """Return what a command that runs on a device's machine prints."""
    words = device.machine.command(sys.executable, *command)
    result = subprocess.run(words, capture_output=True, text=True, check=True, timeout=LIMIT_S)
    return list(json.loads(result.stdout))


def _with_tunnel(device: Resident) -> None:
    """Give a machine a tunnel as a VPN's client makes one, with addresses of its own."""
    namespace = device.machine.namespace
    ip("-n", namespace, "tuntap", "add", "dev", "tun0", "mode", "tun")
    ip("-n", namespace, "link", "set", "tun0", "up")
    for address in (f"{OF_TUNNEL[0]}/24", f"{OF_TUNNEL[1]}/64"):
        ip("-n", namespace, "address", "add", address, "dev", "tun0")


def test_no_address_of_a_tunnel_is_told_to_a_network(world: World):
    segment = world.networks.segment("lan")
    desk = world.at(segment, "desk", f"{NEAR[0]}/24", f"{NEAR[1]}/64")
    neighbour = world.at(segment, "neighbour", "10.77.0.2/24", "fd77::2/64")
    _with_tunnel(desk)
    world.start(desk)
    received = _json(neighbour, Path(__file__).with_name("listening.py"), *NEAR)
    assert set(NEAR) <= set(received)
    assert not set(OF_TUNNEL) & set(received)
    assert all(str(message).startswith(("10.77.", "fd77:", "fe80:")) for message in received)
    # The machine itself knows of it: who is told of the address by hand reaches it there.
    near, stored = _json(desk, "-c", ASK)
    assert not set(OF_TUNNEL) & set(near)
    assert set(OF_TUNNEL) <= set(stored)
