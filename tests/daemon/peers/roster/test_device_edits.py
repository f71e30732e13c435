"""Renaming and removing devices as a person does it, on real devices that are linked.

Never writes to the roster except through these use cases.
"""

import asyncio
from dataclasses import replace

import pytest

from daemon.peers.linking.device_states import Goodbye
from daemon.peers.roster import member_records
from daemon.refusal import RefusalCode, Refused
from store.sentence import foreign_text
from tests.daemon.peers.fleet import QUICK, Device, Fleet, in_step
from tests.support.patience import LIMIT_S


async def refusal(device: Device, ref: str) -> Refused:
    with pytest.raises(Refused) as seen_refusal:
        await device.peers.devices.remove(ref)
    return seen_refusal.value


@pytest.fixture
async def pair(fleet: Fleet) -> tuple[Device, Device]:
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    return desk, phone


async def test_a_new_name_is_shown_everywhere(pair: tuple[Device, Device]):
    desk, phone = pair
    assert (await desk.peers.devices.rename("PHONE", "  pocket   one ")).name == "pocket one"
    await in_step(desk, phone)
    assert [state.name for state in await phone.peers.devices.states()] == ["pocket one", "desk"]
    assert (await phone.peers.devices.rename(desk.id.hex()[:6], "table")).name == "table"


@pytest.mark.parametrize("name", ["", "   ", "x" * 65, "bell\a"])
async def test_a_name_that_cannot_be_shown_is_refused(pair: tuple[Device, Device], name: str):
    with pytest.raises(Refused) as seen_refusal:
        await pair[0].peers.devices.rename("phone", name)
    assert seen_refusal.value.code is RefusalCode.USAGE


async def test_a_removed_device_is_cut_off_before_the_person_is_told(pair: tuple[Device, Device]):
    desk, phone = pair
    device_state = await desk.peers.devices.remove("phone")
    assert device_state.removed
    await desk.until_apart(phone)
    await desk.add("after the removal")
    # The commit that removes it was its last; what came later it never gets.
    assert await phone.titles() == []
    assert (await desk.peers.devices.remove("phone")).removed


async def test_what_came_after_a_removal_goes_to_the_removed_device_by_nobody(fleet: Fleet):
    # Both read the roster once a minute: until then the one would pass everything on, the other take it.
    slow = replace(QUICK, roster_coalesce_s=60.0)
    desk, phone = await fleet.start("desk", limits=slow), await fleet.start("phone", limits=slow)
    tablet = await fleet.start("tablet")
    await fleet.pair(desk, phone)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    before = (await tablet.read(member_records.read_members))[tablet.id].beacon
    await tablet.peers.devices.remove("phone")
    await tablet.add("after the removal", count=3)
    await in_step(desk, tablet)
    await desk.until_apart(phone)
    assert await phone.titles() == []
    assert (await desk.read(member_records.read_members))[tablet.id].beacon != before
    assert (await phone.read(member_records.read_members))[tablet.id].beacon == before


async def test_who_acknowledged_the_goodbye_was_told(pair: tuple[Device, Device]):
    _, phone = pair
    for _ in ("first", "again"):
        assert await phone.peers.devices.leave() == Goodbye(["desk"], [])


async def test_who_was_told_of_a_goodbye_is_known_after_a_restart_too(fleet: Fleet):
    desk, phone, tablet = [await fleet.start(name) for name in ("desk", "phone", "tablet")]
    await fleet.pair(desk, phone)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    await tablet.stop()
    for _ in range(2):
        assert await phone.peers.devices.leave() == Goodbye(["desk"], ["tablet"])
        await phone.restart()
    await tablet.start()


async def test_a_goodbye_that_was_not_acknowledged_before_the_link_ended_was_told_to_nobody(fleet: Fleet):
    desk, phone = (
        await fleet.start("desk"),
        await fleet.start("phone", limits=replace(QUICK, departure_s=0.5)),
    )
    await fleet.pair(desk, phone)
    desk.shortfall = foreign_text("the disk is full")
    assert await phone.peers.devices.leave() == Goodbye([], ["desk"])


async def test_a_goodbye_cut_short_is_told_on_the_link_that_comes_next(fleet: Fleet):
    desk, phone = (
        await fleet.start("desk"),
        await fleet.start("phone", limits=replace(QUICK, departure_s=LIMIT_S)),
    )
    await fleet.pair(desk, phone)
    desk.shortfall = foreign_text("the disk is full")
    leaving = asyncio.create_task(phone.peers.devices.leave())
    await desk.until_apart(phone)
    desk.shortfall = None
    assert await leaving == Goodbye(["desk"], [])


async def test_a_reading_of_the_roster_under_way_does_not_distrust_who_must_still_be_told(fleet: Fleet):
    desk, phone = (
        await fleet.start("desk"),
        await fleet.start("phone", limits=replace(QUICK, departure_s=LIMIT_S)),
    )
    await fleet.pair(desk, phone)
    reading, may_read = asyncio.Event(), asyncio.Event()
    read = phone.peers._members.refresh_if_changed

    async def late() -> None:
        reading.set()
        await may_read.wait()
        await read()

    phone.peers._members.refresh_if_changed = late  # type: ignore[method-assign]
    applying = asyncio.create_task(phone.peers.replication.apply_roster())
    await reading.wait()
    desk.shortfall = foreign_text("the disk is full")
    leaving = asyncio.create_task(phone.peers.devices.leave())
    # Time for a departure that does not wait for the reading: it would be written by then.
    await asyncio.sleep(0.2)
    may_read.set()
    await applying
    desk.shortfall = None
    assert await leaving == Goodbye(["desk"], [])


async def test_the_device_that_one_is_on_is_not_removed(pair: tuple[Device, Device]):
    refused = await refusal(pair[0], "desk")
    assert refused.code is RefusalCode.USAGE
    assert "devices leave" in refused.hint


async def test_two_devices_of_one_name_are_told_apart_by_their_ids(pair: tuple[Device, Device]):
    desk, phone = pair
    await desk.peers.devices.rename("phone", "desk")
    assert (await refusal(desk, "desk")).code is RefusalCode.AMBIGUOUS
    assert (await desk.peers.devices.remove(phone.id.hex()[:12])).removed
    # Now only one of that name is left.
    assert (await refusal(desk, "desk")).code is RefusalCode.USAGE


@pytest.mark.parametrize("ref", ["tablet", "", "zz"])
async def test_what_names_no_device_is_not_found(pair: tuple[Device, Device], ref: str):
    assert (await refusal(pair[0], ref)).code is RefusalCode.NOT_FOUND


# -- on a device that is no member any more ----------------------------------------------------------------


async def cut_off(desk: Device, phone: Device) -> None:
    """Remove the phone, and see that it knows."""
    await in_step(desk, phone)
    await desk.peers.devices.remove("phone")
    # As from another member, which had not yet heard of it: this one sends it nothing any more.
    page = await desk.read(lambda snapshot: [received.signed for _, received in snapshot.read_feed(0, 1000)])
    await phone.db.write(lambda tx: tx.accept_page(page))
    await phone.until(_is_no_member)


async def _is_no_member(device: Device) -> bool:
    states = await device.peers.devices.states()
    return states[0].removed and not any(state.connected for state in states[1:])


async def test_a_removed_device_knows_nothing_of_who_is_in_step_and_does_not_exchange(
    pair: tuple[Device, Device],
):
    desk, phone = pair
    await cut_off(desk, phone)
    assert [(state.lag, state.missing) for state in await phone.peers.devices.states()] == [(0, 0), (None, 0)]
    assert [state.lag for state in await desk.peers.devices.states()] == [0, None]
    for wait_s in (0.0, 5.0):
        with pytest.raises(Refused) as seen_refusal:
            await phone.peers.synchronisation.sync(wait_s)
        assert seen_refusal.value.code is RefusalCode.FORBIDDEN
        assert "devices leave" in seen_refusal.value.hint


async def test_a_removed_device_that_leaves_has_nobody_to_tell(pair: tuple[Device, Device]):
    desk, phone = pair
    await cut_off(desk, phone)
    assert await phone.peers.devices.leave() == Goodbye([], [], removed=True)
