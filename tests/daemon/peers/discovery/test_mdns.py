"""Finding each other by real mDNS on the loopback interface, and what a spoofer can do with it.

Never sends a packet beyond this machine.
"""

import asyncio
from dataclasses import replace

import pytest
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from daemon.peers.discovery import announcements
from daemon.peers.discovery.mdns import RESOLVING_MAX, MdnsDiscovery
from daemon.peers.roster import member_records
from daemon.peers.roster.member_records import BeaconKeys
from daemon.refusal import RefusalCode, Refused
from tests.daemon.peers.fleet import QUICK, SERVICE, Device, Fleet, GivenClock, in_step, until
from tests.support.patience import LIMIT_S

# What any machine on the network may send.
NONCE = {b"v": b"1", b"n": b"A" * 22, b"h": b"A" * 22}


async def code(device: Device) -> str:
    new_code = (await device.peers.invitations.invite(by_code=True)).code
    assert new_code is not None
    return new_code


async def near(device: Device, other: Device) -> list[str]:
    assert device.peers.discovery is not None
    return device.peers.discovery.member_addresses(other.id)


async def test_a_code_alone_finds_the_device_that_invites(fleet: Fleet):
    desk, phone = await fleet.start("desk", mdns=True), await fleet.start("phone", mdns=True)
    assert (await phone.peers.join(await code(desk))).name == "desk"
    await in_step(desk, phone)


async def test_an_invitation_by_token_says_no_name_to_the_network(fleet: Fleet):
    desk = await fleet.start("desk", mdns=True)
    phone = await fleet.start("phone", mdns=True, limits=replace(QUICK, inviter_wait_s=0.5))
    (await desk.token())
    with pytest.raises(Refused) as refusal:
        await phone.peers.join("493-027")
    assert refusal.value.code is RefusalCode.NOT_FOUND


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
            async_service_infos = await services(stranger)
    finally:
        await stranger.async_close()
    text = " ".join(
        f"{async_service_info.name} {async_service_info.server} {async_service_info.properties}"
        for async_service_info in async_service_infos
    )
    assert "ana" not in text
    assert desk.id.hex()[:8] not in text


async def services(mdns: AsyncZeroconf) -> list[AsyncServiceInfo]:
    """Return what is announced now, asked for as any program may."""
    from zeroconf.asyncio import AsyncServiceBrowser

    async_service_infos: dict[str, AsyncServiceInfo] = {}
    arrived = asyncio.Event()

    def on(zeroconf: object, service_type: str, name: str, state_change: object) -> None:
        async_service_infos[name] = AsyncServiceInfo(service_type, name)
        arrived.set()

    browser = AsyncServiceBrowser(mdns.zeroconf, SERVICE, handlers=[on])
    await arrived.wait()
    await browser.async_cancel()
    return [
        async_service_info
        for async_service_info in async_service_infos.values()
        if await async_service_info.async_request(mdns.zeroconf, 2000)
    ]


async def test_a_spoofer_can_neither_be_taken_for_a_member_nor_send_one_away(fleet: Fleet):
    desk, phone = await fleet.start("desk", mdns=True), await fleet.start("phone", mdns=True)
    await phone.peers.join(await code(desk))
    await desk.until_linked(phone)
    spoofer = AsyncZeroconf(interfaces=["127.0.0.1"])
    try:
        names = announcements.draw_service_names(bytes, SERVICE)
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

    async def was_heard() -> bool:
        return bool(await near(phone, desk))

    await until([phone], was_heard)
    assert await near(phone, desk) == [desk.place]


async def test_more_devices_than_are_asked_about_at_once_are_all_heard():
    clock, count = GivenClock("many"), RESOLVING_MAX + 4
    async_zeroconf = AsyncZeroconf(interfaces=["127.0.0.1"])
    discovery = MdnsDiscovery(
        clock,
        host="127.0.0.1",
        beacon_keys=lambda: BeaconKeys(None, {}),
        member_found=lambda _: None,
        service=SERVICE,
    )

    async def announce(number: int) -> None:
        names = announcements.draw_service_names(clock.randomness, SERVICE)
        info = AsyncServiceInfo(
            SERVICE,
            names.instance,
            port=9,
            properties=announcements.inviter_txt_record(f"device {number}"),
            server=names.host,
            parsed_addresses=["127.0.0.1"],
        )
        await (await async_zeroconf.async_register_service(info, cooperating_responders=True))

    discovery.start(8)
    try:
        await asyncio.gather(*(announce(number) for number in range(count)))
        async with asyncio.timeout(LIMIT_S):
            # Nothing tells of the last one alone.
            while len(await discovery.wait_for_inviters(LIMIT_S)) < count:  # noqa: ASYNC110 - see above
                await asyncio.sleep(0)
    finally:
        await discovery.stop()
        await async_zeroconf.async_close()


async def test_a_device_knows_for_how_long_it_has_heard_nobody(fleet: Fleet):
    desk = await fleet.start("desk", mdns=True)

    async def is_heard(anyone: bool) -> None:
        async with asyncio.timeout(LIMIT_S):
            # Nothing tells of a stranger, nor of the moment at which listening begins.
            while (desk.peers.discovery_status().unheard_s is None) != anyone:  # noqa: ASYNC110 - see above
                await asyncio.sleep(0)

    await is_heard(anyone=False)
    desk.clock.ahead_s += 90
    assert 90 <= (desk.peers.discovery_status().unheard_s or 0) < 90 + LIMIT_S
    await fleet.start("phone", mdns=True)
    await is_heard(anyone=True)
    # After a change of the network, earlier announcements do not count: present devices announce again.
    assert desk.peers.discovery is not None
    desk.peers.discovery.rebuild_services()
    await is_heard(anyone=False)
    await is_heard(anyone=True)


async def test_a_device_that_does_not_listen_hears_nobody_for_no_time(fleet: Fleet):
    nearby = (await fleet.start("desk")).peers.discovery_status()
    assert not nearby.mdns
    assert (nearby.unheard_s, nearby.trouble) == (None, None)
    assert nearby.loopback_address == "127.0.0.1"


async def test_a_removed_device_no_longer_recognises_those_that_removed_it(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    before = (await desk.read(member_records.read_members))[desk.id].beacon
    await desk.peers.devices.remove("phone")
    after = (await desk.read(member_records.read_members))[desk.id].beacon
    assert before is not None
    assert after is not None
    assert before != after
    assert (await phone.read(member_records.read_members))[desk.id].beacon == before


async def test_a_device_makes_its_beacon_key_once(fleet: Fleet):
    desk = await fleet.start("desk")
    before = (await desk.read(member_records.read_members))[desk.id].beacon
    await desk.restart()
    assert (await desk.read(member_records.read_members))[desk.id].beacon == before
