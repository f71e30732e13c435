"""Finding each other by real mDNS on the loopback interface, and what a spoofer can do with it.

Never sends a packet beyond this machine.
"""

import asyncio
from dataclasses import replace

import pytest
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from daemon.journal.errors import Code, Refused
from daemon.peers import announcing, roster
from daemon.peers.announcing import Known
from daemon.peers.discovery import RESOLVING_MAX, Discovery
from tests.daemon.peers.fleet import LIMIT_S, QUICK, SERVICE, Device, Fleet, GivenClock, in_step, until

# What any machine on the network may send.
NONCE = {b"v": b"1", b"n": b"A" * 22, b"h": b"A" * 22}


async def code(device: Device) -> str:
    made = (await device.peers.invite(by_code=True)).code
    assert made is not None
    return made


async def near(device: Device, other: Device) -> list[str]:
    return device.peers.near(other.id)


async def test_a_code_alone_finds_the_device_that_invites(fleet: Fleet):
    desk, phone = await fleet.start("desk", mdns=True), await fleet.start("phone", mdns=True)
    assert (await phone.peers.join(await code(desk))).name == "desk"
    await in_step(desk, phone)


async def test_an_invitation_by_token_says_no_name_to_the_network(fleet: Fleet):
    desk = await fleet.start("desk", mdns=True)
    phone = await fleet.start("phone", mdns=True, pace=replace(QUICK, near_s=0.5))
    (await desk.token())
    with pytest.raises(Refused) as seen:
        await phone.peers.join("493-027")
    assert seen.value.code is Code.NOT_FOUND


async def test_members_find_each_other_again_on_new_ports_without_a_word_from_anyone(fleet: Fleet):
    desk, phone = await fleet.start("desk", mdns=True), await fleet.start("phone", mdns=True)
    await phone.peers.join(await code(desk))
    await in_step(desk, phone)
    await desk.stop()
    await phone.stop()
    for device in (desk, phone):
        # As after a change of the network: nothing that was known about addresses holds.
        await device.forget_addresses()
    await desk.start()
    await phone.start()
    await desk.until_linked(phone)
    await phone.until_linked(desk)


async def test_a_stranger_learns_neither_name_nor_id_of_a_member(fleet: Fleet):
    desk = await fleet.start("desk-of-ana", mdns=True)
    stranger = AsyncZeroconf(interfaces=["127.0.0.1"])
    try:
        async with asyncio.timeout(LIMIT_S):
            heard = await services(stranger)
    finally:
        await stranger.async_close()
    told = " ".join(f"{one.name} {one.server} {one.properties}" for one in heard)
    assert "ana" not in told
    assert desk.id.hex()[:8] not in told


async def services(mdns: AsyncZeroconf) -> list[AsyncServiceInfo]:
    """Return what is announced now, asked for as any program may."""
    from zeroconf.asyncio import AsyncServiceBrowser

    heard: dict[str, AsyncServiceInfo] = {}
    arrived = asyncio.Event()

    def on(zeroconf: object, service_type: str, name: str, state_change: object) -> None:
        heard[name] = AsyncServiceInfo(service_type, name)
        arrived.set()

    browser = AsyncServiceBrowser(mdns.zeroconf, SERVICE, handlers=[on])
    await arrived.wait()
    await browser.async_cancel()
    return [one for one in heard.values() if await one.async_request(mdns.zeroconf, 2000)]


async def test_a_spoofer_can_neither_be_taken_for_a_member_nor_send_one_away(fleet: Fleet):
    desk, phone = await fleet.start("desk", mdns=True), await fleet.start("phone", mdns=True)
    await phone.peers.join(await code(desk))
    await desk.until_linked(phone)
    spoofer = AsyncZeroconf(interfaces=["127.0.0.1"])
    try:
        names = announcing.names(bytes, SERVICE)
        info = AsyncServiceInfo(
            SERVICE,
            names.instance,
            port=9,
            properties=NONCE,
            server=names.host,
            parsed_addresses=["127.0.0.1"],
        )
        await (await spoofer.async_register_service(info, cooperating_responders=True))
        await (await spoofer.async_unregister_service(info))
    finally:
        await spoofer.async_close()

    async def heard() -> bool:
        return bool(await near(phone, desk))

    await until([phone], heard)
    assert await near(phone, desk) == [desk.place]


async def test_more_devices_than_are_asked_about_at_once_are_all_heard():
    clock, count = GivenClock("many"), RESOLVING_MAX + 4
    many = AsyncZeroconf(interfaces=["127.0.0.1"])
    discovery = Discovery(
        clock, host="127.0.0.1", known=lambda: Known(None, {}), found=lambda _: None, service=SERVICE
    )

    async def announce(number: int) -> None:
        names = announcing.names(clock.randomness, SERVICE)
        info = AsyncServiceInfo(
            SERVICE,
            names.instance,
            port=9,
            properties=announcing.of_inviter(f"device {number}"),
            server=names.host,
            parsed_addresses=["127.0.0.1"],
        )
        await (await many.async_register_service(info, cooperating_responders=True))

    discovery.start(8)
    try:
        await asyncio.gather(*(announce(number) for number in range(count)))
        async with asyncio.timeout(LIMIT_S):
            # Nothing tells of the last one alone.
            while len(await discovery.inviters(LIMIT_S)) < count:  # noqa: ASYNC110 - see above
                await asyncio.sleep(0)
    finally:
        await discovery.stop()
        await many.async_close()


async def test_a_device_knows_for_how_long_it_has_heard_nobody(fleet: Fleet):
    desk = await fleet.start("desk", mdns=True)

    async def is_heard(anyone: bool) -> None:
        async with asyncio.timeout(LIMIT_S):
            # Nothing tells of a stranger, nor of the moment at which listening begins.
            while (desk.peers.nearby().unheard_s is None) != anyone:  # noqa: ASYNC110 - see above
                await asyncio.sleep(0)

    await is_heard(anyone=False)
    desk.clock.ahead_s += 90
    assert 90 <= (desk.peers.nearby().unheard_s or 0) < 90 + LIMIT_S
    await fleet.start("phone", mdns=True)
    await is_heard(anyone=True)
    # Where the network changes, what was heard before says nothing of it: whoever is there is heard again.
    assert desk.peers._discovery is not None
    desk.peers._discovery.move()
    await is_heard(anyone=False)
    await is_heard(anyone=True)


async def test_a_device_that_does_not_listen_hears_nobody_for_no_time(fleet: Fleet):
    nearby = (await fleet.start("desk")).peers.nearby()
    assert not nearby.mdns
    assert (nearby.unheard_s, nearby.trouble) == (None, None)
    assert nearby.alone == "127.0.0.1"


async def test_a_removed_device_no_longer_recognises_those_that_removed_it(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    before = (await desk.read(roster.read))[desk.id].beacon
    await desk.peers.remove("phone")
    after = (await desk.read(roster.read))[desk.id].beacon
    assert before is not None
    assert after is not None
    assert before != after
    assert (await phone.read(roster.read))[desk.id].beacon == before


async def test_a_device_makes_its_beacon_key_once(fleet: Fleet):
    desk = await fleet.start("desk")
    before = (await desk.read(roster.read))[desk.id].beacon
    await desk.restart()
    assert (await desk.read(roster.read))[desk.id].beacon == before
