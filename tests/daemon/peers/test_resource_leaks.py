"""Links, calls, invitations and mDNS leave no object behind after their end, however many there were.

Never measures the size of a process, which shows little within a test: `bench/soak.py` does.
"""

import asyncio
import gc
import socket
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import ClientWebSocketResponse
from aiohttp.web import WebSocketResponse
from zeroconf import Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo

from daemon.notifier import NotifierWatch
from daemon.peers.linking.link import PeerLink
from daemon.peers.pairing.invitation import Invitation
from daemon.peers.transport import addresses
from daemon.peers.transport.connector import Unreachable
from daemon.peers.transport.wire import Wire
from daemon.refusal import Refused
from syncproto.session import Session
from tests.daemon.peers.fleet import Device, Fleet
from tests.support.patience import LIMIT_S

KINDS = (
    *(PeerLink, Session, Wire, NotifierWatch, Invitation, asyncio.Task),
    *(ssl.SSLObject, ssl.SSLContext, ClientWebSocketResponse, WebSocketResponse),
    *(Zeroconf, AsyncServiceBrowser, AsyncServiceInfo),
)
TIMES = 5
AT_REST_S = 0.05


@pytest.fixture(autouse=True)
def _only_what_is_made_from_now_on() -> None:
    gc.collect()
    gc.freeze()


def live_objects() -> Counter[str]:
    """Count what there is of what a link, a call or an announcement is made of."""
    gc.collect()
    return Counter(
        kind.__name__ for object_ in gc.get_objects() for kind in KINDS if isinstance(object_, kind)
    )


async def at_rest() -> Counter[str]:
    """Return what is held once nothing ends any more."""
    observed, before = live_objects(), None
    while observed != before:
        await asyncio.sleep(AT_REST_S)
        observed, before = live_objects(), observed
    return observed


async def leaves_nothing(once: Callable[[], Awaitable[None]]) -> None:
    """Do something again and again; see that it does not leave one more of anything each time.

    What is made once for each member, such as what calls are checked with, may come after the first time.
    """
    async with asyncio.timeout(2 * LIMIT_S):
        await once()
        before = await at_rest()
        for _ in range(TIMES):
            await once()
    left: list[str] = []

    def few_are_left() -> bool:
        left[:] = [kind for kind, more in (live_objects() - before).items() if more >= TIMES]
        return not left

    try:
        await comes(few_are_left)
    except TimeoutError:
        pytest.fail(f"left behind each time: {', '.join(left)}")


async def comes(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not holds():  # noqa: ASYNC110 - nothing tells of an object that went
            await asyncio.sleep(AT_REST_S)


async def linked(fleet: Fleet) -> tuple[Device, Device]:
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    return desk, phone


async def test_links_that_end_with_a_goodbye_leave_nothing(fleet: Fleet):
    desk, phone = await linked(fleet)

    async def once() -> None:
        phone.peers.replication.pause()
        await desk.until_apart(phone)
        phone.peers.replication.resume()
        await desk.until_linked(phone)
        await phone.until_linked(desk)

    await leaves_nothing(once)


async def test_links_whose_line_breaks_leave_nothing(fleet: Fleet):
    desk, phone = await linked(fleet)

    async def once() -> None:
        link = desk.peers.links.link_to(phone.id)
        assert link is not None
        link._wire._socket.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        await link.ended.wait()
        await phone.until_apart(desk)
        await desk.until_linked(phone)
        await phone.until_linked(desk)

    await leaves_nothing(once)


async def test_calls_that_are_turned_away_leave_nothing(fleet: Fleet):
    desk, stranger = await fleet.start("desk"), await fleet.start("stranger")
    place, certificate = addresses.parse(desk.place), desk.peers._members.all_members[desk.id].certificate

    async def once() -> None:
        with pytest.raises(Unreachable):
            await stranger.peers._connector.connect_to_member(place, certificate)

    await leaves_nothing(once)


async def test_invitations_and_tries_with_a_wrong_code_leave_nothing(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")

    async def once() -> None:
        invited = await desk.peers.invitations.invite(by_code=True)
        with pytest.raises(Refused):
            await phone.peers.join("000-000" if invited.code != "000-000" else "000-001", address=desk.place)
        await desk.peers.invitations.call_off(invited.id)

    await leaves_nothing(once)


async def test_a_network_that_changes_leaves_nothing_of_the_mdns_before(fleet: Fleet):
    desk = await fleet.start("desk", mdns=True)
    discovery = desk.peers.discovery
    assert discovery is not None

    async def once() -> None:
        names = list(discovery._own_names)
        discovery.rebuild_services()
        await comes(lambda: any(own_name not in names for own_name in discovery._own_names))

    await leaves_nothing(once)
