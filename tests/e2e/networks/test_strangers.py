"""Strangers at a device's port: they are told nothing, and keep nobody from syncing."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from daemon.peers.pace import Pace
from tests.e2e.networks.conftest import Trio
from tests.e2e.networks.namespaces import Host
from tests.e2e.networks.residents import eventually

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(150)]

SCRIPT = Path(__file__).with_name("stranger.py")
STRANGERS = [f"10.77.0.{number}" for number in range(200, 232)]
"""Many: one address gets few connections anyway."""
SHARE = Pace().connections_each_max
STRANGERS_6 = [f"fd77::a:{number}" for number in range(32)]
Ask = Callable[..., str]


@pytest.fixture(scope="module")
def stranger(trio: Trio) -> Host:
    """Return a host on the same network that belongs to nobody."""
    host = trio.world.networks.host("stranger")
    # Its addresses are nobody else's, and are to be used at once.
    host.write("net/ipv6/conf/default/accept_dad", "0")
    host.plug(
        trio.segment,
        *(f"{address}/24" for address in STRANGERS),
        *(f"{address}/64" for address in STRANGERS_6),
    )
    return host


@pytest.fixture
def ask(trio: Trio, stranger: Host) -> Ask:
    """Return what calls the desk's port as a stranger."""

    def call(kind: str, *rest: str, at: str = "10.77.0.1") -> str:
        place = [at, str(trio.desk.port_listened)]
        command = stranger.command(sys.executable, SCRIPT, kind, *place, *rest)
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
        return str(json.loads(done.stdout))

    return call


@pytest.fixture
def crowd(trio: Trio, stranger: Host) -> Iterator[subprocess.Popen[str]]:
    """Return a stranger that holds 200 connections to the desk and says nothing."""
    place = ["10.77.0.1", str(trio.desk.port_listened)]
    command = stranger.command(sys.executable, SCRIPT, "idle", *place, *STRANGERS)
    holding = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield holding
    holding.communicate(timeout=30)


@pytest.mark.parametrize("kind", ["garbage", "http", "nobody", "foreign", "newcomer", "other name"])
def test_a_stranger_is_told_nothing(trio: Trio, ask: Ask, kind: str, tmp_path: Path):
    certificate = tmp_path / "foreign.pem"
    if kind == "foreign":
        other = trio.world.device("stranger", stranger_host(trio))
        other.launch()
        eventually("a device of another vault is there", other.answers, 30.0, other)
        other.stop()
        certificate = other.home / "identity.pem"
    answered = ask(kind, str(certificate))
    assert "HTTP" not in answered
    assert "101" not in answered
    trio.tell(f"after a stranger: {kind}")


def stranger_host(trio: Trio) -> Host:
    """Return a host with no cable, for a daemon that is only to make its key."""
    return trio.world.networks.host("elsewhere")


def test_two_hundred_idle_connections_keep_no_member_out(trio: Trio, crowd: subprocess.Popen[str]):
    assert crowd.stdout is not None
    assert int(crowd.stdout.readline()) > 0
    trio.tell("in the crowd")
    # Not only links that stand already: one that comes anew gets in too.
    trio.phone.do("sync", "--pause")
    trio.desk.do("add", "while the phone was away")
    trio.phone.do("sync", "--resume")
    trio.tell("still in the crowd")


def test_a_host_with_many_ipv6_addresses_gets_no_more_than_one(ask: Ask, trio: Trio):
    assert 0 < int(ask("share", *STRANGERS_6, at="fd77::1")) <= SHARE
    trio.tell("beside a host of many addresses")
