"""Machines that sleep: they go without a word, are missed, and come back wherever they wake."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from tests.support.networks.namespaces import Segment
from tests.support.networks.residents import (
    Resident,
    World,
    pair_by_code,
    wait_for_equal_state,
    wait_until_with_logs,
)

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

QUICKLY_S = 40.0
"""Less than the 45 s of silence after which a machine that fell asleep is missed."""
HEARD_S = 20.0
"""How long after its daemon was stopped a device may still be heard: its last words were on their way."""
SLEPT_S = 100_000.0
TASK = "Water the plants"


@dataclass
class Household:
    """Members of one vault. The server alone is on both networks, and of `frozen` only the daemon stops.

    That is what a shell or a freezer does: the machine's own side of its connections goes on, and so does the
    time for its timers. The others sleep as machines do.
    """

    work: Segment
    desk: Resident
    server: Resident
    phone: Resident
    tablet: Resident
    laptop: Resident
    frozen: Resident

    @property
    def awake(self) -> tuple[Resident, ...]:
        """Return those that stay awake."""
        return self.desk, self.server

    @property
    def asleep(self) -> tuple[Resident, ...]:
        """Return those that sleep."""
        return self.phone, self.tablet, self.laptop, self.frozen

    @property
    def all(self) -> tuple[Resident, ...]:
        """Return everyone."""
        return *self.awake, *self.asleep


@pytest.fixture
def house(world: World) -> Household:
    """Return members that are linked, each with each."""
    home, work = world.networks.segment("home"), world.networks.segment("work")
    house = Household(
        work=work,
        desk=world.at(home, "desk", "10.77.0.1/24"),
        server=world.at(home, "server", "10.77.0.2/24"),
        phone=world.sleeper(home, "phone", "10.77.0.3/24"),
        tablet=world.sleeper(home, "tablet", "10.77.0.4/24", "fd77::4/64"),
        laptop=world.sleeper(home, "laptop", "10.77.0.5/24"),
        frozen=world.at(home, "frozen", "10.77.0.6/24"),
    )
    house.server.machine.plug(work, "10.78.0.2/24")
    world.start(*house.all)
    pair_by_code(house.desk, house.server, *house.asleep)
    for device in house.awake:
        wait_until_with_logs("all are linked", _linked(device, *house.asleep), *house.all)
    wait_for_equal_state(*house.all)
    return house


def test_devices_that_slept_come_back_as_they_were_at_another_address_or_on_another_network(house: Household):
    house.frozen.do("add", TASK)
    house.frozen.do("agent", "create", TASK)
    wait_for_equal_state(*house.all)
    fell_asleep_s = _fall_asleep(house)
    for device in house.awake:
        device.do("add", f"while they slept, said {device.name}")
    wait_for_equal_state(*house.awake)
    for device in house.asleep:
        wait_until_with_logs(f"{device.name} is missed", _missed(device, *house.awake), *house.awake)
    for device in house.awake:
        _tells_who_is_away(device, house.asleep, fell_asleep_s)

    _wake(house)
    wait_for_equal_state(*house.all, limit_s=QUICKLY_S)
    wait_until_with_logs("all are back", _linked(house.server, *house.asleep), *house.all, limit_s=QUICKLY_S)
    assert "is away" not in house.server.run("doctor").out
    # The laptop is in another network now than the desk. The desk shows that, and has all its commits.
    assert "laptop is away" in house.desk.run("doctor").out
    for device in (house.phone, house.tablet, house.frozen):
        assert house.desk.linked(device)

    # Once, though it was due long before.
    wait_until_with_logs("the timer rang", lambda: _rings(house.frozen) == 1, house.frozen, limit_s=QUICKLY_S)
    for device in house.all:
        device.do("add", f"after all, said {device.name}")
    wait_for_equal_state(*house.all)
    assert _rings(house.frozen) == 1


@pytest.mark.external("time namespaces")
def test_the_clock_of_the_daemon_counts_what_its_machine_slept():
    # A namespace in which the machine has slept for so long; none lets it sleep while something runs there.
    looks = "import time, daemon.clock; print(daemon.clock.SystemClock().monotonic_s() - time.monotonic())"
    stdouts = [
        subprocess.run(
            [*where, sys.executable, "-c", looks], check=True, capture_output=True, text=True
        ).stdout
        for where in ([], ["unshare", "--time", "--boottime", f"{SLEPT_S:.0f}", "--fork"])
    ]
    assert float(stdouts[1]) - float(stdouts[0]) == pytest.approx(SLEPT_S, abs=1.0)


def _fall_asleep(house: Household) -> float:
    """Let those fall asleep that do; of what they wrote last, nobody has heard. Return when it was."""
    house.frozen.do("agent", "wake", TASK, "--at", _in(20.0))
    for device in (house.phone, house.tablet, house.laptop):
        device.machine.plugs[0].drop_frames()
        device.do("add", f"just before its sleep, said {device.name}")
    for device in house.asleep:
        device.sleep()
    return _now_s()


def _tells_who_is_away(device: Resident, asleep: tuple[Resident, ...], fell_asleep_s: float) -> None:
    out = device.run("doctor").out
    for other in asleep:
        assert f"{other.name} is away" in out
        fields = device.sees(other)
        assert fields["lag"]
        assert datetime.fromisoformat(fields["last_seen"]).timestamp() - fell_asleep_s < HEARD_S


def _wake(house: Household) -> None:
    """Let them wake: the tablet at another address, the laptop elsewhere, and the phone as it was."""
    _readdress(house.tablet, "10.77.0.104/24", "10.77.0.4/24", "fd77::4/64")
    _readdress(house.laptop, "10.78.0.5/24", "10.77.0.5/24")
    house.laptop.machine.plugs[0].move_to(house.work)
    for device in (house.phone, house.tablet):
        device.machine.plugs[0].forward()
    for device in house.asleep:
        device.wake()


def _readdress(device: Resident, new: str, *old: str) -> None:
    plug = device.machine.plugs[0]
    plug.cut()
    for address in old:
        plug.remove(address)
    plug.add(new)


def _linked(device: Resident, *others: Resident) -> Callable[[], bool]:
    return lambda: all(device.linked(resident) for resident in others)


def _missed(device: Resident, *others: Resident) -> Callable[[], bool]:
    return lambda: not any(resident.linked(device) for resident in others)


def _now_s() -> float:
    return time.time_ns() / 1e9  # noqa: TID251 - the clock that the daemons of these tests go by


def _in(wait_s: float) -> str:
    return datetime.fromtimestamp(_now_s() + wait_s, UTC).isoformat()


def _rings(device: Resident) -> int:
    return sum(element["trigger"] == "a timer" for element in device.do("agent", "log", TASK))
