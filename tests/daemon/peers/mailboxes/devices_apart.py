"""Devices of one vault that do not find each other.

Never fakes a part of Placet: they were paired, and have forgotten where the others are.
"""

from daemon.peers.mailboxes.mailbox_state import MailboxState
from daemon.peers.roster import member_records
from tests.daemon.peers.fleet import Device, Fleet


async def part(*devices: Device) -> None:
    """Make devices forget where the others are: from now on none finds another one."""
    for device in devices:
        await device.stop()
    for device in devices:
        await device.forget_addresses()
        await device.start()


async def make_apart(fleet: Fleet, *names: str) -> list[Device]:
    """Return devices of one vault that do not find each other."""
    devices = [await fleet.start(name) for name in names]
    for other in devices[1:]:
        await fleet.pair(devices[0], other)
    for device in devices:
        await device.until(lambda device: knows_keys(device, devices))
    await part(*devices)
    return devices


async def knows_keys(device: Device, others: list[Device]) -> bool:
    """Return whether a device knows to which keys the others want to be sealed to."""
    members = await device.read(member_records.read_members)
    return all(other.id in members and members[other.id].sealing_key is not None for other in others)


async def look(*devices: Device) -> list[MailboxState]:
    """Let each device look once, one after the other."""
    return [await device.peers.mailboxes.check("box") for device in devices]


async def assert_equal(*devices: Device) -> None:
    states = [await device.standing() for device in devices]
    assert all(state == states[0] for state in states)
