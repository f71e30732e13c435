"""The machine's addresses as the kernel tells them, and word of a machine that slept.

Never changes an interface: that is for the suite on networks of namespaces.
"""

import asyncio
import ipaddress

from daemon.peers.interfaces import SLEPT_S, Changes, held, near
from tests.daemon.peers.fleet import LIMIT_S, GivenClock


class Sleeper(GivenClock):
    """A machine that may sleep: the time of day goes on meanwhile, and the monotonic one does not."""

    slept_s = 0.0

    def now_ms(self) -> int:
        return super().now_ms() + int(self.slept_s * 1000)


def test_what_is_near_is_held_and_nothing_is_of_this_machine_alone():
    assert near() <= held()
    assert not [one for one in held() if ipaddress.ip_address(one).is_loopback]


async def test_a_machine_that_slept_is_noticed_at_the_next_tick():
    clock, woken = Sleeper("sleeper"), asyncio.Event()
    task = asyncio.create_task(Changes(clock, woken.set, tick_s=0.01).watch())
    try:
        await asyncio.sleep(0)
        clock.slept_s += 2 * SLEPT_S
        async with asyncio.timeout(LIMIT_S):
            await woken.wait()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
