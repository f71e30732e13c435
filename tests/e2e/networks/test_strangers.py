"""Strangers at a device's port: they learn nothing, and keep nobody from syncing."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from daemon.peers.transport.limits import PeerLimits
from tests.e2e.networks.conftest import Trio
from tests.support.networks.namespaces import Host
from tests.support.networks.residents import wait_for_equal_state, wait_until_with_logs
from tests.support.patience import LIMIT_S

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SCRIPT = Path(__file__).with_name("stranger.py")
STRANGERS = [f"10.77.0.{number}" for number in range(200, 232)]
"""Many: one address gets few connections anyway."""
SHARE = PeerLimits().connections_each_max
NEARLY_ALL = PeerLimits().connections_max - 16
"""All but those of members, and of strangers that a member made give way and that have not come back yet."""
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

    def call(kind: str, *rest: str, host: str = "10.77.0.1") -> str:
        place = [host, str(trio.desk.port_listened)]
        command = stranger.command(sys.executable, SCRIPT, kind, *place, *rest)
        result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT_S)
        return str(json.loads(result.stdout))

    return call


class Crowd:
    """A stranger that holds 200 connections to the desk, and says nothing."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._held = process

    def fewest(self) -> int:
        """Return how many were open at least since the last time that this was asked."""
        assert self._held.stdin is not None
        assert self._held.stdout is not None
        print(file=self._held.stdin, flush=True)
        return int(self._held.stdout.readline())

    def fill(self) -> None:
        """Wait until nearly every place at the port is taken."""
        wait_until_with_logs("the crowd is in", lambda: self.fewest() >= NEARLY_ALL)


@pytest.fixture
def crowd(trio: Trio, stranger: Host) -> Iterator[Crowd]:
    """Return a stranger at the desk's port, of 32 addresses."""
    place = ["10.77.0.1", str(trio.desk.port_listened)]
    command = stranger.command(sys.executable, SCRIPT, "idle", *place, *STRANGERS)
    holding = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield Crowd(holding)
    holding.communicate(timeout=LIMIT_S)


@pytest.mark.parametrize("kind", ["garbage", "http", "nobody", "foreign", "newcomer", "other name"])
def test_a_stranger_is_told_nothing(trio: Trio, ask: Ask, kind: str, tmp_path: Path):
    certificate = tmp_path / "foreign.pem"
    if kind == "foreign":
        other = trio.world.device("stranger", stranger_host(trio))
        other.launch()
        wait_until_with_logs("a device of another vault is there", other.answers, other)
        other.stop()
        certificate = other.home / "identity.pem"
    answered = ask(kind, str(certificate))
    assert "HTTP" not in answered
    assert "101" not in answered
    trio.tell(f"after a stranger: {kind}")


def stranger_host(trio: Trio) -> Host:
    """Return a host with no cable, for a daemon that is only to make its key."""
    return trio.world.networks.host("elsewhere")


def test_two_hundred_idle_connections_keep_no_member_and_no_newcomer_out(trio: Trio, crowd: Crowd):
    crowd.fill()
    trio.tell("in the crowd")
    # It listens on its own machine alone: no link between the two can be made but by its own call.
    laptop = trio.world.device("laptop", LISTEN_HOST="127.0.0.1")
    laptop.machine.plug(trio.segment, "10.77.0.9/24")
    trio.world.start(laptop)
    place = f"10.77.0.1:{trio.desk.port_listened}"
    laptop.do("join", "--addr", place, typed=trio.desk.do("pair")["code"])
    wait_for_equal_state(trio.desk, laptop)
    # Not only links that stand already: one that comes anew gets in too.
    laptop.do("sync", "--pause")
    wait_until_with_logs("it is away", lambda: not trio.desk.linked(laptop), trio.desk)
    trio.desk.do("add", "while the laptop was away")
    laptop.do("sync", "--resume")
    wait_for_equal_state(trio.desk, laptop)
    assert laptop.holds("while the laptop was away")
    # All that while the places were taken, but for those that a busy machine had not filled again yet.
    assert crowd.fewest() >= NEARLY_ALL // 2
    trio.desk.do("devices", "remove", "laptop")
    laptop.stop()
    wait_for_equal_state(*trio.all)


def test_a_host_with_many_ipv6_addresses_gets_no_more_than_one(ask: Ask, trio: Trio):
    assert 0 < int(ask("share", *STRANGERS_6, host="fd77::1")) <= SHARE
    trio.tell("beside a host of many addresses")
