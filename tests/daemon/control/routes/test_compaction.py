"""For whom a compaction waits: the members that this device links with, and no others.

Never asks a peer: what the others have is what this device has recorded of them.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from daemon.config import HistorySettings
from daemon.control.route import Call, Nothing
from daemon.control.routes.compaction import Compact, Compacted, CompactionRoutes
from daemon.disk import DiskFloor
from daemon.peers.roster import member_limit
from store.local import peer_records
from store.transaction import EntityWrite, Transaction
from syncproto.commit import AuthorKind
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
    await desk.peers.replication.apply_roster()
    return await routes_with(desk)._compact(Call({}, Compact(dry_run=True), Nothing()))


def routes_with(desk: Device, *, texts_days: int | None = None, floor_bytes: int = 0) -> CompactionRoutes:
    settings = HistorySettings(retention_days=7, agent_texts_days=texts_days)
    floor = DiskFloor(Path("/"), floor_bytes)
    left_out = desk.peers.devices.members_left_out
    return CompactionRoutes(desk.db, desk.clock, floor, settings, left_out=left_out)


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


@pytest.mark.parametrize(
    ("texts_days", "body", "emptied"),
    [
        (None, Compact(), 0),
        (None, Compact(agent_texts=True), 1),
        (20, Compact(), 1),
        (40, Compact(), 0),
        (40, Compact(agent_texts=True), 0),
        (40, Compact(agent_texts=True, older_than_days=5), 1),
        # How old values may be says nothing of texts that nobody asked to empty.
        (40, Compact(older_than_days=5), 0),
    ],
)
async def test_what_agents_said_is_emptied_at_the_age_that_the_setting_says(
    desk: Device, texts_days: int | None, body: Compact, emptied: int
):
    await say_long_ago(desk)
    routes = routes_with(desk, texts_days=texts_days)
    assert (await routes._compact(Call({}, body, Nothing()))).emptied == emptied


async def test_below_the_floor_only_a_persons_word_empties_what_agents_said(desk: Device):
    await say_long_ago(desk)
    routes = routes_with(desk, texts_days=20, floor_bytes=1 << 80)
    assert (await routes._compact(Call({}, Compact(), Nothing()))).emptied == 0
    assert (await routes._compact(Call({}, Compact(agent_texts=True), Nothing()))).emptied == 1


async def say_long_ago(desk: Device) -> None:
    """Write a long message of an agent, thirty days ago."""

    def use(tx: Transaction) -> None:
        agent = tx.new_id()
        words: dict[str, Any] = {"agent_id": agent, "kind": "thought", "text": "long " * 100}
        writes = [EntityWrite(agent, "agent", {}), EntityWrite(tx.new_id(), "message", words)]
        tx.commit(writes, by=AuthorKind.AGENT, agent=agent)

    desk.clock.ahead_s -= 30 * DAY_S
    await desk.db.write(use)
    desk.clock.ahead_s += 30 * DAY_S
