"""Removing a device with all that came in by it alone, however its entries were signed.

Never removes whom somebody else let in.
"""

import pytest

from daemon.peers.roster import member_records
from daemon.refusal import Refused
from store.transaction import Transaction
from syncproto.commit import AuthorKind, SignedCommit
from syncproto.vector_clock import VectorClock
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.roster.rosters import (
    EVIL,
    device_of,
    entry,
    first_commit,
    flood,
    introduce,
    seed_of,
    take,
)

OTHER, STRANGER = b"o" * 32, b"s" * 32
SYBILS = range(1, 21)


@pytest.fixture
async def desk(fleet: Fleet) -> Device:
    """A device that has let in two others, of which one lets in twenty."""
    desk = await fleet.start("desk")
    await introduce(desk, OTHER, "other")
    await introduce(desk, EVIL, "evil")
    await take(desk, flood(20))
    return desk


async def members(desk: Device) -> set[str]:
    devices = await desk.read(member_records.read_members)
    return {member.name for member in devices.values() if not member.removed}


async def remove(desk: Device, seed: bytes) -> None:
    def use(transaction: Transaction) -> None:
        transaction.commit([member_records.removal_write(device_of(seed))], by=AuthorKind.USER)

    await desk.db.write(use)


def entered_by(seed: bytes, ms: int = 5) -> SignedCommit:
    """Return a commit by which a device enters all that the flood has entered too."""
    return first_commit(seed, [entry(seed_of(n), f"m{n}") for n in SYBILS], ms=ms)


async def test_one_act_removes_a_device_and_all_that_it_alone_let_in(desk: Device):
    await introduce(desk, b"p" * 32, "phone")
    # It claims the phone too.
    await take(desk, first_commit(EVIL, [entry(b"p" * 32, "phone")], ms=50))
    await take(desk, first_commit(seed_of(3), [entry(b"M" * 32, "of a sybil")]))
    await introduce(desk, b"t" * 32, "tablet")
    await desk.peers.devices.remove("evil", with_admitted=True)
    assert await members(desk) == {"desk", "other", "phone", "tablet"}


async def test_devices_of_the_flood_that_enter_each_other_are_not_kept_by_that(desk: Device):
    await take(desk, entered_by(seed_of(1)), entered_by(seed_of(2)))
    await take(desk, first_commit(seed_of(4), [entry(EVIL, "evil")]))
    await desk.peers.devices.remove("evil", with_admitted=True)
    assert await members(desk) == {"desk", "other"}


async def test_what_the_key_of_no_member_enters_is_not_kept_by_that(desk: Device):
    alone = first_commit(STRANGER, [entry(b"M" * 32, "by a stranger alone")], ms=9)
    await take(desk, entered_by(STRANGER), alone)
    await desk.peers.devices.remove("evil", with_admitted=True)
    assert await members(desk) == {"desk", "other"}


@pytest.mark.parametrize("again", [False, True])
async def test_what_a_removed_device_enters_is_not_kept_by_that(desk: Device, again: bool):
    """`again`: the attacker lets that device in and removes it once more."""
    await remove(desk, OTHER)
    if again:
        shown = entry(OTHER, "other", base=await clock_of(desk, OTHER), removed=False)
        await take(desk, first_commit(EVIL, [shown], ms=50))
    await take(desk, entered_by(OTHER))
    if again:
        hidden = entry(OTHER, "other", base=await clock_of(desk, OTHER), removed=True)
        await take(desk, first_commit(EVIL, [hidden], ms=60))
    await desk.peers.devices.remove("evil", with_admitted=True)
    assert await members(desk) == {"desk"}


async def clock_of(desk: Device, seed: bytes) -> VectorClock:
    """Return what covers all that was written to a device's entry."""
    entity = member_records.roster_entity_id(device_of(seed))
    roster_entry = await desk.read(lambda snapshot: snapshot.entity(entity))
    assert roster_entry is not None
    return roster_entry.clock


async def test_whom_a_device_let_in_before_it_was_removed_stays(desk: Device):
    await take(desk, first_commit(OTHER, [entry(b"k" * 32, "kept")]))
    await remove(desk, OTHER)
    await desk.peers.devices.remove("evil", with_admitted=True)
    assert await members(desk) == {"desk", "kept"}


async def test_whom_somebody_trusted_let_in_too_stays(desk: Device):
    await take(desk, first_commit(OTHER, [entry(seed_of(7), "m7")]))
    await desk.peers.devices.remove("evil", with_admitted=True)
    assert await members(desk) == {"desk", "other", "m7"}


async def test_whom_a_device_of_the_flood_let_in_stays_if_only_another_one_is_removed(desk: Device):
    await take(desk, first_commit(seed_of(3), [entry(b"M" * 32, "of a sybil")]))
    await desk.peers.devices.remove("m4", with_admitted=True)
    assert {"other", "evil", "m3", "of a sybil"} < await members(desk)
    assert "m4" not in await members(desk)


async def test_the_device_that_one_is_on_is_not_removed_with_any_other(desk: Device):
    await desk.peers.devices.remove("other", with_admitted=True)
    assert {"desk", "evil", "m1"} < await members(desk)
    with pytest.raises(Refused):
        await desk.peers.devices.remove("desk", with_admitted=True)
