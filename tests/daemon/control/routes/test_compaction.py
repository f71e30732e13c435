"""For whom a compaction waits: the members that this device links with, and no others.

Never asks a peer: what the others have is what this device has recorded of them.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from daemon.control.route import Call, Nothing
from daemon.control.routes.compaction import Compact, Compacted, CompactionRoutes
from daemon.peers.roster import member_limit
from store.local import peer_records
from store.transaction import EntityWrite, Transaction
from syncproto.ids import DeviceId
from tests.daemon.peers.fleet import Device, fleet_in
from tests.daemon.peers.roster.rosters import EVIL, device_of, flood, introduce, take

DAY_S = 86_400


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Device]:
    """A device with a member that let in twenty others, and a long text that was overwritten long ago."""
    async with fleet_in(tmp_path) as fleet:
        desk = await fleet.start("desk")
        await introduce(desk, EVIL, "evil")
        await take(desk, flood(20))

        def overwrite(tx: Transaction) -> None:
            task = tx.new_id()
            for text in ("long " * 100, "short"):
                tx.commit([EntityWrite(task, "task", {"title": text})])

        await desk.db.write(overwrite)
        desk.clock.ahead_s += 30 * DAY_S
        yield desk


async def compact(desk: Device) -> Compacted:
    routes = CompactionRoutes(
        desk.db, desk.clock, retention_days=7, left_out=desk.peers.devices.members_left_out
    )
    await desk.peers.replication.apply_roster()
    return await routes._compact(Call({}, Compact(dry_run=True), Nothing()))


async def hear(desk: Device, device: DeviceId) -> None:
    """Record that another device has all that this one has."""
    await desk.db.write(lambda tx: peer_records.record_contact(tx, device, tx.vector(), tx.now_ms()))


async def test_members_that_are_never_linked_with_hold_up_no_compaction(
    desk: Device, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(member_limit, "MEMBERS_MAX", 2)
    await introduce(desk, b"x" * 32, "left out by me too")
    assert (await compact(desk)).unheard == ["evil"]
    await hear(desk, device_of(EVIL))
    compacted = await compact(desk)
    assert (compacted.values, compacted.unheard, compacted.members_left_out) == (1, [], 21)


async def test_members_that_are_linked_with_are_waited_for_and_named(desk: Device):
    await hear(desk, device_of(EVIL))
    compacted = await compact(desk)
    assert (compacted.values, compacted.members_left_out) == (0, 0)
    assert sorted(compacted.unheard) == sorted(f"m{number + 1}" for number in range(20))
