"""Renaming and removing devices as a person does it, on real devices that are linked.

Never writes to the roster but through the use cases.
"""

import asyncio
from dataclasses import replace

import pytest

from daemon.journal.errors import Code, Refused
from daemon.journal.provenance import iso
from daemon.peers import roster
from daemon.peers.states import Goodbye
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.commit import By
from tests.daemon.peers.fleet import LIMIT_S, QUICK, Device, Fleet, in_step


async def refusal(device: Device, ref: str) -> Refused:
    with pytest.raises(Refused) as seen:
        await device.peers.remove(ref)
    return seen.value


@pytest.fixture
async def pair(fleet: Fleet) -> tuple[Device, Device]:
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    return desk, phone


async def test_a_new_name_is_shown_everywhere(pair: tuple[Device, Device]):
    desk, phone = pair
    assert (await desk.peers.rename("PHONE", "  pocket   one ")).name == "pocket one"
    await in_step(desk, phone)
    assert [one.name for one in await phone.peers.devices()] == ["pocket one", "desk"]
    assert (await phone.peers.rename(desk.id.hex()[:6], "table")).name == "table"


@pytest.mark.parametrize("name", ["", "   ", "x" * 65, "bell\a"])
async def test_a_name_that_cannot_be_shown_is_refused(pair: tuple[Device, Device], name: str):
    with pytest.raises(Refused) as seen:
        await pair[0].peers.rename("phone", name)
    assert seen.value.code is Code.USAGE


async def test_a_removed_device_is_cut_off_before_the_person_is_told(pair: tuple[Device, Device]):
    desk, phone = pair
    told = await desk.peers.remove("phone")
    assert told.removed
    await desk.until_apart(phone)
    await desk.add("after the removal")
    # The commit that removes it was its last; what came later it never gets.
    assert await phone.titles() == []
    assert (await desk.peers.remove("phone")).removed


async def test_what_came_after_a_removal_goes_to_the_removed_device_by_nobody(fleet: Fleet):
    # Both read the roster once a minute: until then the one would pass everything on, the other take it.
    slow = replace(QUICK, roster_s=60.0)
    desk, phone = await fleet.start("desk", pace=slow), await fleet.start("phone", pace=slow)
    tablet = await fleet.start("tablet")
    await fleet.pair(desk, phone)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    before = (await tablet.read(roster.read))[tablet.id].beacon
    await tablet.peers.remove("phone")
    await tablet.add("after the removal", count=3)
    await in_step(desk, tablet)
    await desk.until_apart(phone)
    assert await phone.titles() == []
    assert (await desk.read(roster.read))[tablet.id].beacon != before
    assert (await phone.read(roster.read))[tablet.id].beacon == before


async def test_who_acknowledged_the_goodbye_was_told(pair: tuple[Device, Device]):
    _, phone = pair
    for _ in ("first", "again"):
        assert await phone.peers.leave() == Goodbye(["desk"], [])


async def test_a_goodbye_that_was_not_acknowledged_before_the_link_ended_was_told_to_nobody(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone", pace=replace(QUICK, leave_s=0.5))
    await fleet.pair(desk, phone)
    desk.shortfall = "the disk is full"
    assert await phone.peers.leave() == Goodbye([], ["desk"])


async def test_a_goodbye_cut_short_is_told_on_the_link_that_comes_next(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone", pace=replace(QUICK, leave_s=LIMIT_S))
    await fleet.pair(desk, phone)
    desk.shortfall = "the disk is full"
    leaving = asyncio.create_task(phone.peers.leave())
    await desk.until_apart(phone)
    desk.shortfall = None
    assert await leaving == Goodbye(["desk"], [])


async def test_the_device_that_one_is_on_is_not_removed(pair: tuple[Device, Device]):
    refused = await refusal(pair[0], "desk")
    assert refused.code is Code.USAGE
    assert "devices leave" in refused.hint


async def test_two_devices_of_one_name_are_told_apart_by_their_ids(pair: tuple[Device, Device]):
    desk, phone = pair
    await desk.peers.rename("phone", "desk")
    assert (await refusal(desk, "desk")).code is Code.AMBIGUOUS
    assert (await desk.peers.remove(phone.id.hex()[:12])).removed
    # Now only one of that name is left.
    assert (await refusal(desk, "desk")).code is Code.USAGE


@pytest.mark.parametrize("ref", ["tablet", "", "zz"])
async def test_what_names_no_device_is_not_found(pair: tuple[Device, Device], ref: str):
    assert (await refusal(pair[0], ref)).code is Code.NOT_FOUND


# -- who let a device in -----------------------------------------------------------------------------------


async def entered(device: Device, other: Device) -> tuple[str | None, str | None, str | None]:
    """Return who let another device in, by name and id, and when, as a device shows it."""
    seen = await device.sees(other)
    assert seen is not None
    return seen.added_by, seen.added_by_id, seen.added_at


async def test_a_device_started_long_ago_was_let_in_when_it_was_paired_and_all_say_by_whom(fleet: Fleet):
    desk, phone, tablet = [await fleet.start(name) for name in ("desk", "phone", "tablet")]
    await fleet.pair(desk, phone)
    for one in (desk, phone, tablet):
        one.clock.ahead_s += 30 * 86_400
    before = iso(desk.clock.now_ms())
    await fleet.pair(phone, tablet)
    await in_step(desk, phone, tablet)
    for one in (desk, phone, tablet):
        by, by_id, at = await entered(one, tablet)
        assert (by, by_id) == ("phone", phone.id.hex())
        assert at is not None
        assert before <= at <= iso(one.clock.now_ms())
        assert (await entered(one, phone))[:2] == ("desk", desk.id.hex())
        # Newcomers write those into the roster, too, whom they heard of while they were let in.
        assert await entered(one, desk) == (None, None, None)


async def test_who_let_a_removed_device_in_again_is_named_with_the_new_time(fleet: Fleet):
    desk, phone, tablet = [await fleet.start(name) for name in ("desk", "phone", "tablet")]
    await fleet.pair(desk, phone)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    first = await entered(desk, phone)
    await desk.peers.remove("phone")
    await in_step(desk, tablet)
    for one in (desk, phone, tablet):
        one.clock.ahead_s += 30 * 86_400
    await fleet.pair(tablet, phone)
    await in_step(desk, phone, tablet)
    for one in (desk, phone, tablet):
        again = await entered(one, phone)
        assert again[:2] == ("tablet", tablet.id.hex())
        assert (again[2] or "") > (first[2] or "")


async def write_entry_of(device: Device, other: Device, fields: dict[str, Value], **more: object) -> None:
    """Write to a device's roster entry what no use case would."""

    def use(transaction: Transaction) -> None:
        write = Write(roster.entity_of(other.id), roster.KIND, fields)
        transaction.commit([replace(write, **more)], by=By.SYSTEM)  # type: ignore[arg-type]

    await device.db.write(use)


async def test_who_wrote_that_it_let_a_device_in_is_named_whatever_it_claims(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    lost = fleet.make("lost")
    certificate: Value = lost.identity.certificate
    old: dict[str, Value] = {"at_ms": 1}
    await write_entry_of(phone, lost, {"certificate": certificate, "added_by": desk.id}, origin=old)
    await in_step(desk, phone)
    by, by_id, at = await entered(desk, lost)
    assert (by, by_id) == ("phone", phone.id.hex())
    assert (at or "") > "2000"
    # Another name does not hide it, and neither does one that this device has itself.
    await phone.peers.rename("phone", "desk")
    await in_step(desk, phone)
    assert (await entered(desk, lost))[:2] == ("desk", phone.id.hex())


async def test_a_device_that_was_let_in_without_a_word_of_it_was_still_let_in_by_its_writer(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    lost = fleet.make("lost")
    await write_entry_of(phone, lost, {"certificate": lost.identity.certificate})
    await in_step(desk, phone)
    assert (await entered(desk, lost))[:2] == ("phone", phone.id.hex())


async def test_who_is_in_no_roster_and_lets_a_device_in_is_told_by_its_id(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    ghost, lost = fleet.make("ghost"), fleet.make("lost")
    store = ghost.opened()
    with store.write() as transaction:
        fields: dict[str, Value] = {"certificate": lost.identity.certificate, "added_by": desk.id}
        transaction.commit([Write(roster.entity_of(lost.id), roster.KIND, fields)], by=By.SYSTEM)
    # Signed as the transaction ends.
    with store.read() as snapshot:
        page = [received.signed for _, received in snapshot.feed(0, 10)]
    store.close()
    await phone.db.write(lambda one: one.take(page))
    await in_step(desk, phone)
    assert (await entered(desk, lost))[:2] == (ghost.id.hex()[:8], ghost.id.hex())


async def test_a_removal_that_was_taken_back_by_whoever_is_told(fleet: Fleet):
    desk, phone, tablet = [await fleet.start(name) for name in ("desk", "phone", "tablet")]
    await fleet.pair(desk, phone)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    await desk.peers.remove("tablet")
    await in_step(desk, phone)
    await write_entry_of(phone, tablet, {"removed": False})
    await in_step(desk, phone)
    assert (await entered(desk, tablet))[:2] == ("phone", phone.id.hex())


async def test_a_device_that_takes_its_own_removal_back_let_itself_in(fleet: Fleet):
    desk, phone, tablet = [await fleet.start(name) for name in ("desk", "phone", "tablet")]
    await fleet.pair(desk, phone)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    await desk.stop()
    # It hears of its removal, and one of the others has not yet.
    removal = Write(roster.entity_of(phone.id), roster.KIND, {"removed": True})
    back = replace(removal, fields={"removed": False})
    await phone.db.write(lambda one: [one.commit([write], by=By.SYSTEM) for write in (removal, back)])
    await desk.start()
    await in_step(desk, phone, tablet)
    assert (await entered(tablet, phone))[:2] == ("phone", phone.id.hex())


# -- on a device that is no member any more ----------------------------------------------------------------


async def cut_off(desk: Device, phone: Device) -> None:
    """Remove the phone, and see that it knows."""
    await in_step(desk, phone)
    await desk.peers.remove("phone")
    # As from another member, which had not yet heard of it: this one sends it nothing any more.
    page = await desk.read(lambda one: [received.signed for _, received in one.feed(0, 1000)])
    await phone.db.write(lambda one: one.take(page))
    await phone.until(_is_no_member)


async def _is_no_member(one: Device) -> bool:
    states = await one.peers.devices()
    return states[0].removed and not any(state.connected for state in states[1:])


async def test_a_removed_device_knows_nothing_of_who_is_in_step_and_does_not_exchange(
    pair: tuple[Device, Device],
):
    desk, phone = pair
    await cut_off(desk, phone)
    assert [(one.lag, one.missing) for one in await phone.peers.devices()] == [(0, 0), (None, 0)]
    assert [one.lag for one in await desk.peers.devices()] == [0, None]
    for wait_s in (0.0, 5.0):
        with pytest.raises(Refused) as seen:
            await phone.peers.sync(wait_s)
        assert seen.value.code is Code.FORBIDDEN
        assert "devices leave" in seen.value.hint


async def test_a_removed_device_that_leaves_has_nobody_to_tell(pair: tuple[Device, Device]):
    desk, phone = pair
    await cut_off(desk, phone)
    assert await phone.peers.leave() == Goodbye([], [], removed=True)


# -- when a device hears who was let in --------------------------------------------------------------------


async def heard_at(device: Device, other: Device) -> str | None:
    seen = await device.sees(other)
    assert seen is not None
    return seen.added_heard_at


async def hears_of(device: Device, other: Device, after: str) -> None:
    """Wait until a device has noted that another one was let in."""

    async def noted(one: Device) -> bool:
        seen = await one.sees(other)
        return seen is not None and (seen.added_heard_at or "") >= after

    await device.until(noted)


async def test_a_device_that_was_away_is_told_later_of_whom_the_others_let_in(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    await phone.stop()
    tablet = await fleet.start("tablet")
    await fleet.pair(desk, tablet)
    for one in (desk, phone, tablet):
        one.clock.ahead_s += 30 * 86_400
    back = iso(phone.clock.now_ms())
    await phone.start()
    await hears_of(phone, tablet, back)
    await phone.restart()
    noted = await heard_at(phone, tablet)
    assert noted is not None
    assert back <= noted <= iso(phone.clock.now_ms())
    assert ((await entered(phone, tablet))[2] or "") < back


async def test_a_commit_that_is_dated_long_ago_hides_nobody(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await phone.stop()
    phone.clock.ahead_s -= 300 * 86_400
    lost, before = fleet.make("lost"), iso(desk.clock.now_ms())
    store = phone.opened()
    with store.write() as transaction:
        transaction.db.execute("UPDATE standing SET stamp_ms = 0, stamp_n = 0")
        fields: dict[str, Value] = {"certificate": lost.identity.certificate, "added_by": phone.id}
        transaction.commit([Write(roster.entity_of(lost.id), roster.KIND, fields)], by=By.SYSTEM)
    store.close()
    await phone.start()
    await hears_of(desk, lost, before)
    assert ((await entered(desk, lost))[2] or "") < before


async def test_a_newcomer_is_not_told_as_news_who_was_there_before_it(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    tablet = await fleet.start("tablet")
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    assert await heard_at(tablet, phone) is None
    assert await heard_at(phone, tablet) is not None
