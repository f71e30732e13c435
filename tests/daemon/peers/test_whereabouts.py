"""Which devices hold a commit, on real devices: those that are linked, that are away, and never heard of.

Never waits by the clock.
"""

import pytest

from daemon.journal.errors import Code, Refused
from daemon.peers import roster
from daemon.peers.whereabouts import Whereabouts
from store.transaction import Transaction, Write
from syncproto.commit import By
from syncproto.ids import text
from tests.daemon.peers.fleet import LIMIT_S, Device, Fleet, in_step
from tests.daemon.peers.test_links import pair_of


def told(found: Whereabouts) -> dict[str, int | None]:
    return {one.name: one.lacks for one in found.devices}


async def end(device: Device) -> int:
    return await device.read(lambda snapshot: snapshot.feed_end())


async def test_it_is_known_who_holds_a_commit_and_who_lacks_how_much_of_a_thing(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    task = await desk.add("bread")
    await in_step(desk, phone)
    await desk.peers.sync(LIMIT_S)
    held = await end(desk)
    await phone.stop()
    await desk.until_apart(phone)

    def change(tx: Transaction) -> None:
        tx.commit([Write(task, "task", {"title": "bread, two loaves"})])
        tx.commit([Write(tx.new_id(), "entry", {"task_id": task, "text": "rye"})])

    await desk.db.write(change)
    thing = await desk.peers.where(text(task))
    assert told(thing) == {"desk": 0, "phone": 2}
    assert (thing.entity, thing.kind, thing.title, thing.commits) == (
        text(task),
        "task",
        "bread, two loaves",
        3,
    )
    assert thing.device_name == "desk"
    assert thing.seq == await end(desk)
    before, after = await desk.peers.where(str(held)), await desk.peers.where(str(held + 1))
    assert (told(before)["phone"], told(after)["phone"]) == (0, 1)
    assert (before.entity, before.kind, before.commits, before.seq) == (None, "commit", 1, held)
    away = before.devices[1]
    assert (away.connected, away.this, away.removed) == (False, False, False)
    assert away.as_of is not None
    await phone.start()
    await in_step(desk, phone)
    await desk.peers.sync(LIMIT_S)
    assert told(await desk.peers.where(text(task))) == {"desk": 0, "phone": 0}


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
    await desk.db.write(lambda tx: tx.commit([roster.remove(tablet.id)], by=By.USER))
    found = await desk.peers.where(str(await end(desk)))
    assert [(one.name, one.lacks, one.removed) for one in found.devices] == [
        ("desk", 0, False),
        ("phone", 1, False),
        ("a tablet", None, True),
    ]
    assert found.devices[2].as_of is None
    await phone.start()
    await tablet.start()


@pytest.mark.parametrize("ref", ["99999999", "no such thing", "²²²²"])
async def test_what_does_not_exist_is_nowhere(fleet: Fleet, ref: str):
    desk = await fleet.start("desk")
    with pytest.raises(Refused) as refused:
        await desk.peers.where(ref)
    assert refused.value.code is Code.NOT_FOUND
