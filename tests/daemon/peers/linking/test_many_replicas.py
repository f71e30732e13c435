"""A member that begins replicas without end: the honest devices stay together, and can put it out.

Never asks how long anything takes.
"""

from store.transaction import Transaction
from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.support.stores import first_commits

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
    assert len((await desk.standing()).vector) >= 2 * EACH
    assert await desk.titles() == await phone.titles()
    await desk.add("live")
    await in_step(desk, phone)
    tablet = await fleet.start("tablet")
    await fleet.pair(desk, tablet)
    await in_step(desk, tablet)
    await tablet.add("by a new device")
    await in_step(desk, phone, tablet)
