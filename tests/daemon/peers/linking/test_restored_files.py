"""A device whose files were restored or copied without its notice: peers show it, and nothing is lost.

Never has a lease file: these are the cases that it cannot detect, such as a snapshot of the whole disk.
"""

from daemon.control.health import this_device
from store.file.lease import ReplicaDoubt
from syncproto.ids import ReplicaId
from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.daemon.peers.linking.link_steps import pair_of


def put_back(device: Device, copy: bytes) -> None:
    """Put an older database in the place of a stopped device's: closed, it is one file."""
    assert not (device.folder / "placet.db-wal").exists()
    (device.folder / "placet.db").write_bytes(copy)


async def replica(device: Device) -> ReplicaId | None:
    return await device.read(lambda snapshot: snapshot.replica)


async def finding_codes(device: Device) -> list[str]:
    return [
        check.code
        for check in await device.read(lambda snapshot: list(this_device.check_forked_devices(snapshot)))
    ]


async def used_twice(fleet: Fleet, *, number: int, other: int) -> tuple[Device, Device, Device]:
    """Let two copies of the desk write: `one` many tasks before the phone, which is off since, `other` after.

    Return the desk, as the second copy, and the tablet, which run and saw that one alone; and the phone.
    """
    desk, phone = await pair_of(fleet)
    tablet = await fleet.start("tablet")
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    await desk.stop()
    copy = (desk.folder / "placet.db").read_bytes()
    await tablet.stop()
    await desk.start()
    await desk.add("by the one", count=number)
    await in_step(desk, phone)
    await desk.stop()
    await phone.stop()
    put_back(desk, copy)
    await desk.start()
    await desk.add("by the other", count=other)
    await tablet.start()
    await in_step(desk, tablet)
    return desk, phone, tablet


async def test_who_was_put_back_takes_its_own_future_from_a_peer_and_goes_on_as_a_new_replica(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await desk.add("first")
    await in_step(desk, phone)
    await desk.stop()
    copy = (desk.folder / "placet.db").read_bytes()
    await desk.start()
    before = await replica(desk)
    await desk.add("lost", count=5)
    await in_step(desk, phone)
    await desk.stop()
    put_back(desk, copy)
    await desk.start()
    assert await replica(desk) == before
    await in_step(desk, phone)
    assert len(await desk.titles()) == 6
    assert desk.db.replica_doubt is ReplicaDoubt.PEER
    assert not this_device.check_lease(desk.db.replica_doubt, False).remedy
    await desk.add("after")
    assert await replica(desk) != before
    await in_step(desk, phone)
    assert await desk.titles() == await phone.titles()
    assert await finding_codes(desk) == await finding_codes(phone) == []
    await desk.restart()
    assert desk.db.replica_doubt is None


async def test_two_copies_that_both_wrote_meet_on_a_third_device_and_both_branches_stay(fleet: Fleet):
    """The copy was used while the phone was off, and only the tablet saw it."""
    desk, phone, tablet = await used_twice(fleet, number=3, other=3)
    await phone.start()
    await in_step(desk, phone, tablet)
    titles = await desk.titles()
    assert titles == await phone.titles() == await tablet.titles()
    assert len(titles) == 6
    assert desk.db.replica_doubt is ReplicaDoubt.PEER
    for device in (desk, phone, tablet):
        assert await finding_codes(device) == ["device_forked"]
    before = await desk.standing()
    await desk.add("goes on")
    await in_step(desk, phone, tablet)
    assert len((await desk.standing()).heads.clock) == len(before.heads.clock) + 1


async def test_a_fork_that_two_others_meet_without_its_owner_is_told_and_kept(fleet: Fleet):
    """The owner is gone for good: the phone has one branch, and the tablet the other one."""
    desk, phone, tablet = await used_twice(fleet, number=4, other=2)
    await desk.stop()
    phone.settings = fleet.make("phone", static=(tablet.place,)).settings
    await phone.start()
    await in_step(phone, tablet)
    assert len(await phone.titles()) == 6
    assert await phone.titles() == await tablet.titles()
    assert await finding_codes(phone) == await finding_codes(tablet) == ["device_forked"]
    assert phone.db.replica_doubt is tablet.db.replica_doubt is None
    await desk.start()
    await in_step(desk, phone, tablet)

    async def doubts(_: Device) -> bool:
        return desk.db.replica_doubt is ReplicaDoubt.PEER

    # The state may be the same before the desk has read the second branch to its end.
    await desk.until(doubts)
