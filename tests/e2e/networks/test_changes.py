"""Networks that change under running daemons: cuts, silence, other addresses."""

import pytest

from tests.e2e.networks.conftest import Trio
from tests.support.networks.residents import wait_for_equal_state, wait_until_with_logs

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

QUICKLY_S = 40.0
"""Less than the 45 s that a link takes to notice that it is dead, if nothing else tells it."""


def test_what_a_cut_off_device_writes_arrives_when_it_is_back(trio: Trio):
    cable = trio.phone.machine.plugs[0]
    cable.cut()
    for device in trio.all:
        device.do("add", f"during the cut, said {device.name}")
    wait_for_equal_state(trio.desk, trio.tablet)
    assert not trio.desk.holds("during the cut, said phone")
    # Its own cable tells it; without that, it would take the links for good for three quarters of a minute.
    wait_until_with_logs(
        "it knows that it is alone", lambda: not trio.phone.linked(trio.desk), trio.phone, limit_s=QUICKLY_S
    )
    # And it says so, and not that the others ought to be seen to.
    assert "desk is away, and this device has no network" in trio.phone.run("doctor").out
    cable.reconnect()
    wait_for_equal_state(*trio.all, limit_s=QUICKLY_S)


def test_a_network_that_swallows_everything_for_a_while_costs_delay_alone(trio: Trio):
    cable = trio.phone.machine.plugs[0]
    cable.drop_frames()
    for device in trio.all:
        device.do("add", f"into the void, said {device.name}")
    wait_for_equal_state(trio.desk, trio.tablet)
    assert not trio.phone.holds("into the void, said desk")
    cable.forward()
    wait_for_equal_state(*trio.all)


@pytest.mark.parametrize("family", [4, 6])
def test_a_device_whose_address_changes_is_found_at_the_new_one(trio: Trio, family: int):
    plug = trio.phone.machine.plugs[0]
    old = ["10.77.0.2/24", "fd77::2/64"]
    new = ["10.77.0.102/24"] if family == 4 else ["fd77::102/64"]
    for address in old:
        plug.remove(address)
    for address in new:
        plug.add(address)
    trio.tell(f"after the change to {new[0]}", QUICKLY_S)
    for address in new:
        plug.remove(address)
    for address in old:
        plug.add(address)
    trio.tell(f"after the change from {new[0]}", QUICKLY_S)


def test_an_interface_that_goes_down_and_up_again_costs_delay_alone(trio: Trio):
    plug = trio.phone.machine.plugs[0]
    plug.down()
    trio.phone.do("add", "while it was down")
    assert not trio.desk.holds("while it was down")
    plug.up()
    plug.add("fd77::2/64")  # the kernel takes IPv6 addresses from an interface that goes down
    trio.tell("after it was up", QUICKLY_S)


def test_all_cables_pulled_and_put_in_again_bring_everything_everywhere(trio: Trio):
    for device in trio.all:
        device.machine.plugs[0].cut()
        device.do("add", f"on its own, said {device.name}")
    for device in trio.all:
        device.machine.plugs[0].reconnect()
    wait_for_equal_state(*trio.all, limit_s=QUICKLY_S)
