"""Devices that never meet exchange everything through a place of any kind, whatever becomes of it.

Never fakes a part of Placet: stores, keys and places are real, and no device can call another one.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from daemon.config import MailboxSettings
from daemon.control.health import mailbox_checks
from tests.daemon.peers.fleet import Fleet, in_step
from tests.daemon.peers.mailboxes.devices_apart import assert_equal, look, make_apart, part
from tests.daemon.peers.mailboxes.places import DROP, Place, place_in

NATS = pytest.param("nats", marks=pytest.mark.external("nats-server"))
ALL, RINGING = ("folder", "relay", NATS), ("relay", NATS)


@pytest.fixture
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    async with place_in(request.param, tmp_path) as place:
        yield place


@pytest.mark.parametrize("place", ALL, indirect=True)
async def test_two_devices_that_never_meet_are_in_step_within_one_visit_each(fleet: Fleet, place: Place):
    anna, bea = await make_apart(fleet, "anna", "bea")
    await place.use(anna, bea)
    await look(anna)  # anna notices that bea looks too
    await anna.add("of anna", count=30)
    await bea.add("of bea")
    await look(anna, bea, anna)
    await assert_equal(anna, bea)
    assert len(await bea.titles()) == 31
    states = await look(bea, anna)
    # What both have is cleared up, what each says that it has stays, and nothing waits.
    assert states[0].blobs == 2
    for state, other in zip(states, (anna, bea), strict=True):
        assert [(reader.name, reader.lacks) for reader in state.readers] == [(other.name, 0)]


@pytest.mark.parametrize("place", ALL, indirect=True)
async def test_any_member_writes_what_another_one_lacks(fleet: Fleet, place: Place):
    anna, bea, carl = await make_apart(fleet, "anna", "bea", "carl")
    await place.use(anna, bea, carl)
    await look(anna, bea, carl)
    await anna.add("of anna", count=3)
    await look(anna, bea)
    # Every drop is lost before carl looks, and anna is away for good.
    await place.lose(DROP)
    await look(carl, bea, carl)
    await assert_equal(anna, bea, carl)


@pytest.mark.parametrize("place", ALL, indirect=True)
async def test_blobs_that_are_mixed_up_halved_or_lost_cost_delay_and_nothing_else(fleet: Fleet, place: Place):
    anna, bea, carl = await make_apart(fleet, "anna", "bea", "carl")
    await place.use(anna, bea, carl)
    await look(anna, bea, carl)
    await anna.add("of anna")
    await look(anna)
    await carl.add("of carl")
    await look(carl)
    await place.mix_up()
    await look(bea, anna, carl)
    await place.lose(DROP)
    await look(anna, carl, bea, anna, carl, bea)
    await assert_equal(anna, bea, carl)
    assert len(await bea.titles()) == 2


@pytest.mark.parametrize("place", ALL, indirect=True)
async def test_a_place_that_is_away_is_named_and_used_again(fleet: Fleet, place: Place):
    anna, bea = await make_apart(fleet, "anna", "bea")
    await place.use(anna, bea)
    await place.go_away()
    await anna.add("of anna")
    (state,) = await look(anna)
    assert state.trouble_id == place.fault
    (check,) = mailbox_checks.check_mailboxes([state])
    assert (check.well, check.code) == (False, "mailbox_trouble")
    assert not place.secret or place.secret not in repr(state)
    await place.come_back()
    (later,) = await look(anna)
    assert later.trouble is None
    await look(bea, anna, bea)
    await assert_equal(anna, bea)


@pytest.mark.parametrize("place", RINGING, indirect=True)
async def test_a_put_wakes_the_other_device_long_before_it_would_look(fleet: Fleet, place: Place):
    devices = await make_apart(fleet, "anna", "bea")
    anna, bea = devices
    # Only what rings makes them look within this test.
    for device in devices:
        seldom = MailboxSettings(look_s=86_400.0)
        device.settings = msgspec.structs.replace(device.settings, mailbox=seldom)
    await part(*devices)
    await place.use(anna, bea)
    await anna.add("of anna")
    await look(anna)
    await in_step(anna, bea)
    assert await bea.titles() == ["of anna 0"]
