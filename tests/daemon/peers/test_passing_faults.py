"""Faults that pass: a store that cannot be read for a moment, a line that breaks while something waits on it.

Never leaves a device that a restart alone would mend.
"""

import asyncio

from daemon.peers import roster
from daemon.peers.link import Link
from syncproto.commit import By
from syncproto.messages import Bye, write
from tests.daemon.peers.fleet import LIMIT_S, Device, Fleet
from tests.daemon.peers.test_stalled_line import FakeSocket, hello, link_on


class BreakingSocket(FakeSocket):
    """A WebSocket that breaks when the test says so, and notes whether the link was over at its goodbye."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = False
        self.link: Link | None = None
        self.over_at_goodbye: bool | None = None

    async def send_bytes(self, frame: bytes) -> None:
        if self.broken:
            raise ConnectionResetError("broken")
        if frame == write(Bye("enough")) and self.link is not None:
            self.over_at_goodbye = self.link.ended.is_set()
        await super().send_bytes(frame)


async def greeted(desk: Device) -> tuple[BreakingSocket, Link, asyncio.Task[str]]:
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
    assert not await link.quiet()
    link.close("enough")
    await running


async def test_a_link_is_over_before_it_says_goodbye(fleet: Fleet):
    socket, link, running = await greeted(await fleet.start("desk"))
    link.close("enough")
    assert await running == "enough"
    assert socket.over_at_goodbye


async def test_the_roster_is_followed_again_after_it_could_not_be_read(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    failed = asyncio.Event()
    read = desk.peers._members.refresh

    async def watched() -> None:
        try:
            await read()
        except Exception:
            failed.set()
            raise

    desk.peers._members.refresh = watched  # type: ignore[method-assign]
    # The phone cannot read its own for longer, so that it is not the one that ends the link.
    for device in (desk, phone):
        await device.execute("ALTER TABLE newcomer RENAME TO elsewhere")
    await desk.add("what makes it look")
    async with asyncio.timeout(LIMIT_S):
        await failed.wait()
    await desk.execute("ALTER TABLE elsewhere RENAME TO newcomer")
    await desk.db.write(lambda one: one.commit([roster.remove(phone.id)], by=By.SYSTEM))
    await desk.until_apart(phone)


async def test_an_address_that_is_none_keeps_nobody_from_the_next_one(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    # So that the phone does not call.
    await phone.execute("DELETE FROM peer_address")
    await phone.stop()
    await desk.execute("INSERT INTO peer_address SELECT DISTINCT device, '', 1 << 60 FROM peer_address")
    await phone.start()
    await desk.peers.sync(LIMIT_S)
    await desk.until_linked(phone)
