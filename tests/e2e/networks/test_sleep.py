"""Machines that sleep: they go without a word, are missed, and come back wherever they wake."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from tests.e2e.networks.namespaces import Segment
from tests.e2e.networks.residents import Resident, World, eventually, in_step, pair_by_code

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(150)]

MISSED_S = 75.0
"""Nobody hears that a machine falls asleep: it is missed when it has been silent for 45 s."""
QUICKLY_S = 15.0
HEARD_S = 5.0
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
        eventually("all are linked", _linked(device, *house.asleep), 30.0, *house.all)
    in_step(*house.all)
    return house


def test_devices_that_slept_come_back_as_they_were_at_another_address_or_on_another_network(house: Household):
    house.frozen.do("add", TASK)
    house.frozen.do("agent", "create", TASK)
    in_step(*house.all)
    fell_asleep_s = _fall_asleep(house)
    for device in house.awake:
        device.do("add", f"while they slept, said {device.name}")
    in_step(*house.awake)
    for device in house.asleep:
        eventually(f"{device.name} is missed", _missed(device, *house.awake), MISSED_S, *house.awake)
    for device in house.awake:
        _tells_who_is_away(device, house.asleep, fell_asleep_s)

    _wake(house)
    in_step(*house.all, limit_s=QUICKLY_S)
    eventually("all are back", _linked(house.server, *house.asleep), QUICKLY_S, *house.all)
    assert "is away" not in house.server.run("doctor").out
    # Where the laptop is now, the desk is not: it is told so, and has all that the laptop wrote.
    assert "laptop is away" in house.desk.run("doctor").out
    for device in (house.phone, house.tablet, house.frozen):
        assert house.desk.linked(device)

    # Once, though it was due long before.
    eventually("the timer rang", lambda: _rings(house.frozen) == 1, QUICKLY_S, house.frozen)
    for device in house.all:
        device.do("add", f"after all, said {device.name}")
    in_step(*house.all)
    assert _rings(house.frozen) == 1


def test_the_clock_of_the_daemon_counts_what_its_machine_slept():
    # A namespace in which the machine has slept for so long; none lets it sleep while something runs there.
    looks = "import time, daemon.clock; print(daemon.clock.SystemClock().monotonic_s() - time.monotonic())"
    told = [
        subprocess.run(
            [*where, sys.executable, "-c", looks], check=True, capture_output=True, text=True
        ).stdout
        for where in ([], ["unshare", "--time", "--boottime", f"{SLEPT_S:.0f}", "--fork"])
    ]
    assert float(told[1]) - float(told[0]) == pytest.approx(SLEPT_S, abs=1.0)


def _fall_asleep(house: Household) -> float:
    """Let those fall asleep that do; of what they wrote last, nobody has heard. Return when it was."""
    house.frozen.do("agent", "wake", TASK, "--at", _in(20.0))
    for device in (house.phone, house.tablet, house.laptop):
        device.machine.plugs[0].swallow()
        device.do("add", f"just before its sleep, said {device.name}")
    for device in house.asleep:
        device.sleep()
    return _now_s()


def _tells_who_is_away(device: Resident, asleep: tuple[Resident, ...], fell_asleep_s: float) -> None:
    told = device.run("doctor").out
    for other in asleep:
        assert f"{other.name} is away" in told
        seen = device.sees(other)
        assert seen["lag"]
        assert datetime.fromisoformat(seen["last_seen"]).timestamp() - fell_asleep_s < HEARD_S


def _wake(house: Household) -> None:
    """Let them wake: the tablet at another address, the laptop elsewhere, and the phone as it was."""
    _readdress(house.tablet, "10.77.0.104/24", "10.77.0.4/24", "fd77::4/64")
    _readdress(house.laptop, "10.78.0.5/24", "10.77.0.5/24")
    house.laptop.machine.plugs[0].carry_to(house.work)
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
    return lambda: all(device.linked(one) for one in others)


def _missed(device: Resident, *others: Resident) -> Callable[[], bool]:
    return lambda: not any(one.linked(device) for one in others)


def _now_s() -> float:
    return time.time_ns() / 1e9  # noqa: TID251 - the clock that the daemons of these tests go by


def _in(wait_s: float) -> str:
    return datetime.fromtimestamp(_now_s() + wait_s, UTC).isoformat()


def _rings(device: Resident) -> int:
    return sum(one["trigger"] == "a timer" for one in device.do("agent", "log", TASK))
