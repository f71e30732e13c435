"""Pairing on real networks: six digits and mDNS, whatever addresses there are."""

import pytest

from tests.support.networks.residents import (
    Resident,
    World,
    pair_by_code,
    wait_for_equal_state,
    wait_until_with_logs,
)

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ADDRESSES = {
    "IPv4": ("10.77.0.{}/24",),
    "IPv4 and IPv6": ("10.77.0.{}/24", "fd77::{}/64"),
    "IPv6": ("fd77::{}/64",),
    "link-local IPv6": (),
}


def _pair_of(world: World, kind: str) -> tuple[Resident, Resident]:
    segment = world.networks.segment("lan")
    residents = []
    for number, name in enumerate(("desk", "phone"), start=1):
        device = world.device(name)
        if kind == "IPv4":
            device.machine.without(6)
        device.machine.plug(segment, *(form.format(number) for form in ADDRESSES[kind]))
        residents.append(device)
    world.start(*residents)
    return residents[0], residents[1]


@pytest.mark.parametrize("kind", ADDRESSES)
def test_a_code_is_enough_to_pair_and_to_find_each_other_again(world: World, kind: str):
    desk, phone = _pair_of(world, kind)
    desk.do("add", "water the plants")
    pair_by_code(desk, phone)
    wait_for_equal_state(desk, phone)
    assert phone.holds("water the plants")
    for device in (desk, phone):
        assert device.stop() == 0
    # Whoever comes later calls and finds the other, which is where it was or not.
    phone.start()
    phone.do("add", "while alone")
    desk.start()
    wait_for_equal_state(desk, phone)
    assert desk.holds("while alone")


@pytest.mark.parametrize("kind", ["IPv4", "link-local IPv6"])
def test_an_interface_that_comes_after_the_daemon_is_enough(world: World, kind: str):
    segment = world.networks.segment("lan")
    desk, phone = world.device("desk"), world.device("phone")
    for device in (desk, phone):
        if kind == "IPv4":
            device.machine.without(6)
    world.start(desk, phone)
    assert "network address" in desk.run("doctor").out
    for number, device in enumerate((desk, phone), start=1):
        device.machine.plug(segment, *(form.format(number) for form in ADDRESSES[kind]))
    code = desk.do("pair")["code"]
    wait_until_with_logs("the code is enough", lambda: phone.run("join", typed=code).status == 0, desk, phone)
    wait_for_equal_state(desk, phone)
