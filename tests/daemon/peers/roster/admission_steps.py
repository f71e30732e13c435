"""What a device was told of who let others in.

Never checks anything.
"""

import asyncio
from dataclasses import replace

from daemon.peers.roster import member_records
from daemon.peers.roster.admission_log import admission_mark
from daemon.timestamps import iso_utc
from store.local import peer_records as table
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from tests.daemon.peers.fleet import Device
from tests.support.patience import LIMIT_S


async def entered(device: Device, other: Device) -> tuple[str | None, str | None, str | None]:
    """Return who let another device in, by name and id, and when, as a device shows it."""
    device_state = await device.sees(other)
    assert device_state is not None
    return device_state.added_by, device_state.added_by_id, device_state.added_at


async def write_entry_of(device: Device, other: Device, fields: dict[str, Value], **more: object) -> None:
    """Write to a device's roster entry what no use case would."""

    def use(transaction: Transaction) -> None:
        write = EntityWrite(member_records.roster_entity_id(other.id), member_records.KIND, fields)
        transaction.commit([replace(write, **more)], by=AuthorKind.SYSTEM)  # type: ignore[arg-type]

    await device.db.write(use)


async def heard_at(device: Device, other: Device) -> str | None:
    device_state = await device.sees(other)
    assert device_state is not None
    return device_state.added_heard_at


async def noted(device: Device, other: Device) -> int:
    """Wait until a device has noted another one as the member that it is now; return since when."""

    def row(snapshot: Snapshot) -> tuple[bytes, int] | None:
        result = table.admissions_seen(snapshot).get(other.id)
        return result if result is not None and result[0] == admission_mark(snapshot, other.id) else None

    async with asyncio.timeout(LIMIT_S):
        # Nobody is told of a note that only this device keeps.
        while (match := await device.read(row)) is None:
            pass
    return match[1]


def later(*devices: Device, days: int = 1) -> str:
    """Let time pass; return what it is then at the first."""
    for device in devices:
        device.clock.ahead_s += days * 86_400
    return iso_utc(devices[0].clock.now_ms())
