"""Devices that look into mailboxes only if a test says so.

Never fakes a part of Placet.
"""

import msgspec

from tests.daemon.peers.fleet import Device, Fleet


async def start_quiet(fleet: Fleet, name: str) -> Device:
    """Start a device that looks into mailboxes only if the test says so."""
    device = fleet.make(name)
    mailbox = msgspec.structs.replace(device.settings.mailbox, look_s=3600.0)
    device.settings = msgspec.structs.replace(device.settings, mailbox=mailbox)
    await device.start()
    fleet.devices.append(device)
    return device


async def invite(device: Device) -> str:
    token = (await device.peers.invite_through("box")).token
    assert token is not None
    return token


async def switch(before: Device, after: Device) -> None:
    """End a device, and start the other one."""
    await before.stop()
    await after.start()


async def look(device: Device) -> None:
    """Let a device look for an answer, for requests, and for what others left."""
    await device.peers.joiner.look()
    await device.peers.mailboxes.check_all()
