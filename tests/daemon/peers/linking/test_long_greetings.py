"""A greeting that takes long to send: meanwhile the link reads, and asks nothing.

Never depends on how much a connection buffers: on these nothing is sent at all.
"""

import asyncio

from daemon.peers.linking.liveness import wait_for_any
from syncproto.messages import Bye, Hello, Ping, decode_message, encode_message
from tests.daemon.peers.fleet import Fleet
from tests.daemon.peers.linking.test_stalled_connections import FakeSocket, hello, link_on
from tests.support.patience import LIMIT_S, wait_until_async


async def test_a_link_reads_while_its_own_greeting_does_not_get_through(fleet: Fleet):
    desk = await fleet.start("desk")
    socket = FakeSocket()
    socket.flows.clear()
    link = link_on(socket, desk, ping_s=0.01)
    running = asyncio.create_task(link.run())
    socket.give(await hello(desk))
    async with asyncio.timeout(LIMIT_S):
        await wait_for_any(link.greeted, link.ended)
    assert link.greeted.is_set()
    # No frame may come between the parts of a greeting.
    await asyncio.sleep(0.1)
    assert [type(decode_message(frame)) for frame in socket.sent] == [Hello]
    assert not await link.liveness.answers_ping()
    socket.flows.set()
    await wait_until_async("a ping", lambda: any(isinstance(decode_message(f), Ping) for f in socket.sent))
    socket.give(encode_message(Bye("enough")))
    await running
