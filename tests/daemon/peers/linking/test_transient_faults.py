"""Faults that pass: a store that cannot be read for a moment, a connection that breaks during a wait.

Never leaves a device in a state that only a restart would mend.
"""

import asyncio

import apsw
import pytest

from daemon.peers.linking.link import PeerLink
from daemon.peers.roster import device_edits, member_records
from store.local import peer_records
from store.local.peer_records import Newcomer
from store.snapshot import Snapshot
from syncproto.commit import AuthorKind
from syncproto.messages import Bye, encode_message
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.linking.test_stalled_connections import FakeSocket, hello, link_on
from tests.support.patience import LIMIT_S


class BreakingSocket(FakeSocket):
    """A WebSocket that breaks when the test says so, and notes whether the link was over at its goodbye."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = False
        self.link: PeerLink | None = None
        self.over_at_goodbye: bool | None = None

    async def send_bytes(self, frame: bytes) -> None:
        if self.broken:
            raise ConnectionResetError("broken")
        if frame == encode_message(Bye("enough")) and self.link is not None:
            self.over_at_goodbye = self.link.ended.is_set()
        await super().send_bytes(frame)


async def greeted(desk: Device) -> tuple[BreakingSocket, PeerLink, asyncio.Task[str]]:
    socket = BreakingSocket()
    socket.link = link = link_on(socket, desk)
    running = asyncio.create_task(link.run())
    socket.give(await hello(desk))
    async with asyncio.timeout(LIMIT_S):
        await link.greeted.wait()
    return socket, link, running


async def test_a_line_that_breaks_while_someone_asks_for_quiet_is_not_quiet(fleet: Fleet):
    socket, link, running = await greeted(await fleet.start("desk"))
    socket.broken = True
    assert not await link.liveness.has_nothing_to_send()
    link.close("enough")
    await running


async def test_a_link_is_over_before_it_says_goodbye(fleet: Fleet):
    socket, link, running = await greeted(await fleet.start("desk"))
    link.close("enough")
    assert await running == "enough"
    assert socket.over_at_goodbye


async def test_the_roster_is_followed_again_after_it_could_not_be_read(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    failed = asyncio.Event()
    refresh, pending = desk.peers._members.refresh, peer_records.pending_newcomers
    # The phone cannot read its own for longer, so that it is not the one that ends the link.
    faulty = {desk.id, phone.id}

    async def watched() -> None:
        try:
            await refresh()
        except Exception:
            failed.set()
            raise

    def pending_or_fault(snapshot: Snapshot, now_ms: int) -> list[Newcomer]:
        if snapshot.device in faulty:
            raise apsw.IOError("disk I/O error")
        return pending(snapshot, now_ms)

    desk.peers._members.refresh = watched  # type: ignore[method-assign]
    monkeypatch.setattr(peer_records, "pending_newcomers", pending_or_fault)
    # A change of an entry is what makes it read the roster again.
    await desk.db.write(lambda tx: device_edits.rename_device(tx, phone.id.hex(), "tablet"))
    async with asyncio.timeout(LIMIT_S):
        await failed.wait()
    faulty.discard(desk.id)
    await desk.db.write(lambda tx: tx.commit([member_records.removal_write(phone.id)], by=AuthorKind.SYSTEM))
    await desk.until_apart(phone)


async def test_an_address_that_is_none_keeps_nobody_from_the_next_one(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    # So that the phone does not call.
    await phone.execute("DELETE FROM peer_address")
    await phone.stop()
    await desk.execute("INSERT INTO peer_address SELECT DISTINCT device, '', 1 << 60 FROM peer_address")
    await phone.start()
    await desk.peers.synchronisation.sync(LIMIT_S)
    await desk.until_linked(phone)
