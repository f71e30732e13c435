"""Which devices have a commit: real devices that are linked, that are away, or that were never heard of.

Never waits by the clock.
"""

import pytest

from daemon.journal import change_log
from daemon.peers.linking.replication_status import Whereabouts
from daemon.peers.roster import member_records
from daemon.refusal import RefusalCode, Refused
from store.transaction import EntityWrite, Transaction
from syncproto.commit import AuthorKind
from syncproto.ids import id_to_text
from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.daemon.peers.linking.link_steps import pair_of
from tests.support.patience import LIMIT_S


def lacks_by_device(whereabouts: Whereabouts) -> dict[str, int | None]:
    return {device.name: device.lacks for device in whereabouts.devices}


async def where(device: Device, ref: str) -> Whereabouts:
    return await device.peers.devices.replication_status(
        ref, family_of=change_log.find_entity_family, device_name_of=change_log.replica_device_name
    )


async def end(device: Device) -> int:
    return await device.read(lambda snapshot: snapshot.feed_end())


async def test_it_is_known_who_holds_a_commit_and_who_lacks_how_much_of_a_thing(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    task = await desk.add("bread")
    await in_step(desk, phone)
    await desk.peers.synchronisation.sync(LIMIT_S)
    count = await end(desk)
    await phone.stop()
    await desk.until_apart(phone)

    def change(tx: Transaction) -> None:
        tx.commit([EntityWrite(task, "task", {"title": "bread, two loaves"})])
        tx.commit([EntityWrite(tx.new_id(), "entry", {"task_id": task, "text": "rye"})])

    await desk.db.write(change)
    whereabouts = await where(desk, id_to_text(task))
    assert lacks_by_device(whereabouts) == {"desk": 0, "phone": 2}
    assert (whereabouts.entity, whereabouts.kind, whereabouts.title, whereabouts.commits) == (
        id_to_text(task),
        "task",
        "bread, two loaves",
        3,
    )
    assert whereabouts.device_name == "desk"
    assert whereabouts.seq == await end(desk)
    before, after = await where(desk, str(count)), await where(desk, str(count + 1))
    assert (lacks_by_device(before)["phone"], lacks_by_device(after)["phone"]) == (0, 1)
    assert (before.entity, before.kind, before.commits, before.seq) == (None, "commit", 1, count)
    away = before.devices[1]
    assert (away.connected, away.this, away.removed) == (False, False, False)
    assert away.as_of is not None
    await phone.start()
    await in_step(desk, phone)
    await desk.peers.synchronisation.sync(LIMIT_S)
    assert lacks_by_device(await where(desk, id_to_text(task))) == {"desk": 0, "phone": 0}


async def test_of_a_device_that_was_never_heard_of_nothing_is_known_and_a_removed_one_is_told_last(
    fleet: Fleet,
):
    desk, phone = await pair_of(fleet)
    tablet = await fleet.start("a tablet")
    await fleet.pair(phone, tablet)
    await in_step(desk, phone, tablet)
    await tablet.stop()
    await phone.stop()
    await desk.until_apart(phone)
    await desk.execute(f"DELETE FROM peer WHERE device = x'{tablet.id.hex()}'")
    await desk.db.write(lambda tx: tx.commit([member_records.removal_write(tablet.id)], by=AuthorKind.USER))
    whereabouts = await where(desk, str(await end(desk)))
    assert [(device.name, device.lacks, device.removed) for device in whereabouts.devices] == [
        ("desk", 0, False),
        ("phone", 1, False),
        ("a tablet", None, True),
    ]
    assert whereabouts.devices[2].as_of is None
    await phone.start()
    await tablet.start()


@pytest.mark.parametrize("ref", ["99999999", "no such thing", "²²²²"])
async def test_what_does_not_exist_is_nowhere(fleet: Fleet, ref: str):
    desk = await fleet.start("desk")
    with pytest.raises(Refused) as refused:
        await where(desk, ref)
    assert refused.value.code is RefusalCode.NOT_FOUND
