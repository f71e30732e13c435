"""A member that begins replicas without end: the honest devices stay together, and can put it out.

Never asks how long anything takes.
"""

import shutil
from pathlib import Path

from store.transaction import Transaction
from syncproto.ids import ReplicaId
from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.daemon.peers.roster.rosters import EVIL, first_commit, flood, introduce, take
from tests.support.stores import entity_id, first_commits, operation

EACH = 700


async def take_first_commits(device: Device, first: int) -> None:
    """Let a device take the first commits of many replicas, as a member would send them."""
    page = [first_commit.signed for first_commit in first_commits(EACH, first=first)]

    def take(transaction: Transaction) -> None:
        transaction.accept_page(page)

    await device.db.write(take)


async def test_devices_that_took_different_replicas_come_together(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    desk.peers.replication.pause()
    for number, device in enumerate((desk, phone)):
        await take_first_commits(device, number * EACH)
        await device.add("while apart")
    desk.peers.replication.resume()
    await in_step(desk, phone)
    assert len((await desk.standing()).heads.clock) >= 2 * EACH
    assert await desk.titles() == await phone.titles()
    await desk.add("live")
    await in_step(desk, phone)
    tablet = await fleet.start("tablet")
    await fleet.pair(desk, tablet)
    await in_step(desk, tablet)
    await tablet.add("by a new device")
    await in_step(desk, phone, tablet)


async def take_replicas_of_attacker(device: Device, first: int) -> None:
    """Let a device take the first commits of many replicas that the attacker has begun."""
    page = [
        first_commit(EVIL, [operation(entity_id(number), title="x")], ms=10_000 + number)
        for number in range(first, first + EACH)
    ]
    await take(device, *page)


async def replicas_of(device: Device, writer: Device) -> set[ReplicaId]:
    """Return the replicas under which a device has written, as another one knows them."""
    return await device.read(
        lambda snapshot: {
            head.replica for head in snapshot.vector() if snapshot.device_of(head.replica) == writer.id
        }
    )


async def test_a_device_that_was_put_back_returns_while_an_attacker_with_many_replicas_is_removed(
    fleet: Fleet, tmp_path: Path
):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await introduce(desk, EVIL, "evil")
    await take(desk, flood(9))
    await take_replicas_of_attacker(desk, 0)
    await in_step(desk, phone)
    await phone.stop()
    shutil.copytree(phone.folder, tmp_path / "copy")
    await phone.start()
    await phone.add("after the copy was made")
    await take_replicas_of_attacker(phone, EACH)
    await in_step(desk, phone)
    await phone.stop()
    before = await replicas_of(desk, phone)
    # Meanwhile the attacker goes on, before it is removed and after.
    await take_replicas_of_attacker(desk, 2 * EACH)
    await desk.peers.devices.remove("evil", with_admitted=True)
    await take_replicas_of_attacker(desk, 3 * EACH)
    shutil.rmtree(phone.folder)
    shutil.copytree(tmp_path / "copy", phone.folder)
    await phone.start()
    await in_step(desk, phone)
    await phone.add("after the return")
    await desk.add("live")
    await in_step(desk, phone)
    assert len(await replicas_of(desk, phone)) == len(before) + 1
    assert await desk.titles() == await phone.titles()
    assert {"after the copy was made 0", "after the return 0", "live 0"} < set(await desk.titles())
    for device in (desk, phone):
        states = await device.peers.devices.states()
        assert {state.name for state in states if not state.removed} == {"desk", "phone"}
    tablet = await fleet.start("tablet")
    await fleet.pair(phone, tablet)
    await in_step(desk, phone, tablet)
