"""Two and three real devices over loopback: converging, losing and finding each other, what breaks a link.

Never waits by the clock: each wait is for something that happens, with a limit.
"""

import asyncio
import threading

import pytest
from structlog.testing import capture_logs

from daemon.peers.roster import member_records
from daemon.peers.transport.addresses import parse
from daemon.peers.transport.connector import Connector, Unreachable
from daemon.refusal import RefusalCode, Refused
from store.local import peer_records as table
from store.threads import READER_THREADS
from store.transaction import EntityWrite
from syncproto import messages
from syncproto.commit import AuthorKind
from syncproto.messages import Ack, Commits, Hello, Ping, Pong
from syncproto.vector_clock import Head, VectorClock
from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.daemon.peers.linking.link_steps import greet, messages_until, pair_of, posing_as
from tests.support.patience import LIMIT_S

# -- converging --------------------------------------------------------------------------------------------


async def test_two_paired_devices_converge_live_in_both_directions(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await desk.add("before pairing", count=3)
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    await asyncio.gather(desk.add("on the desk", count=20), phone.add("on the phone", count=20))
    await in_step(desk, phone)
    assert await desk.titles() == await phone.titles()
    assert len(await desk.titles()) == 43


async def test_a_device_comes_back_after_both_were_away_and_catches_up(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await phone.stop()
    await desk.add("while the phone was off", count=5)
    await desk.stop()
    await phone.start()
    await phone.add("while the desk was off", count=5)
    await desk.start()
    await in_step(desk, phone)
    assert len(await phone.titles()) == 10


async def test_pages_that_fill_both_windows_cross_without_a_deadlock(fleet: Fleet):
    """Each side has more to send than fits into its window and the sockets between them."""
    desk, phone = await fleet.start("desk"), await fleet.start("phone")

    async def fill(device: Device) -> None:
        for number in range(120):
            await device.write_entry(f"{number}" * 40_000)

    await asyncio.gather(fill(desk), fill(phone))
    await phone.peers.join((await desk.token()), unite=True)
    await in_step(desk, phone)


async def test_commits_travel_through_a_device_in_between(fleet: Fleet):
    """The chain desk, phone, tablet: the desk and the tablet never link."""
    desk, phone = await pair_of(fleet)
    tablet = await fleet.start("tablet")
    await fleet.pair(phone, tablet)
    await in_step(desk, phone, tablet)
    await asyncio.gather(desk.add("desk"), phone.add("phone"), tablet.add("tablet"))
    await in_step(desk, phone, tablet)
    assert await desk.titles() == ["desk 0", "phone 0", "tablet 0"]
    assert [state.name for state in await desk.peers.devices.states()] == ["desk", "phone", "tablet"]


async def test_a_member_is_found_at_a_static_address(fleet: Fleet):
    """The desk forgets where the phone is; the phone never knew the way back."""
    desk, phone = await pair_of(fleet)
    place = desk.place
    for device in (desk, phone):
        await device.execute("DELETE FROM peer_address")
    await phone.stop()
    phone.settings = fleet.make("phone", static=(place,)).settings
    await phone.start()
    await phone.until_linked(desk)


async def test_a_listener_keeps_its_port_over_a_restart(fleet: Fleet):
    desk = await fleet.start("desk")
    port = desk.peers.port
    await desk.restart()
    assert desk.peers.port == port


# -- one link a pair ---------------------------------------------------------------------------------------


async def test_two_that_dial_each_other_at_once_settle_on_one_link(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    for _ in range(10):
        desk.peers.replication.pause()
        phone.peers.replication.pause()
        await desk.until_apart(phone)
        await phone.until_apart(desk)
        desk.peers.replication.resume()
        phone.peers.replication.resume()
        await desk.add("again")
        await in_step(desk, phone)
    await desk.peers.synchronisation.sync(LIMIT_S)
    await phone.peers.synchronisation.sync(LIMIT_S)
    ours, theirs = desk.peers.links.link_to(phone.id), phone.peers.links.link_to(desk.id)
    assert ours is not None
    assert theirs is not None
    assert ours.dialled != theirs.dialled
    assert desk.peers.links.key_clones.cloned_devices() == phone.peers.links.key_clones.cloned_devices() == []


async def test_a_pause_cuts_the_link_and_resume_heals_it(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await phone.peers.synchronisation.sync(LIMIT_S)
    desk.peers.replication.pause()
    await phone.until_apart(desk)
    await phone.add("while apart")
    with pytest.raises(Unreachable):
        await knock(desk, phone)
    device_state = await phone.sees(desk)
    assert device_state is not None
    assert device_state.lag == 1
    desk.peers.replication.resume()
    await in_step(desk, phone)


async def knock(desk: Device, phone: Device) -> None:
    dialling = Connector(phone.identity, phone.limits)
    try:
        await dialling.connect_to_member(parse(desk.place), desk.identity.certificate)
    finally:
        await dialling.close()


# -- removal -----------------------------------------------------------------------------------------------


async def test_removing_a_device_closes_its_link_and_the_door(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await desk.db.write(lambda tx: tx.commit([member_records.removal_write(phone.id)], by=AuthorKind.USER))
    await phone.until_apart(desk)
    with pytest.raises(Unreachable):
        await knock(desk, phone)
    device_state = await desk.sees(phone)
    assert device_state is not None
    assert device_state.removed
    assert not device_state.connected


async def test_a_removal_made_elsewhere_closes_the_door_here_too(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    tablet = await fleet.start("tablet")
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    await tablet.db.write(lambda tx: tx.commit([member_records.removal_write(phone.id)], by=AuthorKind.USER))
    await phone.until_apart(desk)
    with pytest.raises(Unreachable):
        await knock(desk, phone)


async def test_a_removed_device_comes_in_again_by_a_new_invitation(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await desk.db.write(lambda tx: tx.commit([member_records.removal_write(phone.id)], by=AuthorKind.USER))
    await phone.until_apart(desk)
    await phone.add("meanwhile")
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    assert await desk.titles() == ["meanwhile 0"]


async def test_a_device_that_knows_of_its_removal_comes_in_again_too(fleet: Fleet):
    """Its own roster says that it was removed. It must call, and be called, before it learns otherwise."""
    desk, phone = await pair_of(fleet)
    await phone.db.write(lambda tx: tx.commit([member_records.removal_write(phone.id)], by=AuthorKind.USER))
    await phone.until_apart(desk)
    desk_knows = await desk.sees(phone)
    if desk_knows is not None and not desk_knows.removed:
        await desk.db.write(
            lambda tx: tx.commit([member_records.removal_write(phone.id)], by=AuthorKind.USER)
        )
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    for device in (desk, phone):
        assert [state.removed for state in await device.peers.devices.states()] == [False, False]


# -- what is known -----------------------------------------------------------------------------------------


async def test_who_waits_for_the_others_knows_then_what_they_hold(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await desk.add("long text", count=3)
    await desk.peers.synchronisation.sync(LIMIT_S)
    peer_contacts = await desk.read(table.peer_contacts)
    assert peer_contacts[phone.id].vector == await desk.read(lambda snapshot: snapshot.vector())


async def test_devices_tell_the_lag_of_one_that_is_away(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await desk.peers.synchronisation.sync(LIMIT_S)
    await phone.stop()
    await desk.until_apart(phone)
    await desk.add("missed", count=7)
    device_state = await desk.sees(phone)
    assert device_state is not None
    assert (device_state.lag, device_state.connected) == (7, False)
    assert device_state.last_seen is not None
    await desk.restart()
    device_state = await desk.sees(phone)
    assert device_state is not None
    assert device_state.lag == 7
    await phone.start()


async def test_sync_waits_until_everything_has_arrived(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    for number in range(20):
        sender, receiver = (desk, phone) if number % 2 else (phone, desk)
        await sender.add(f"round {number}")
        report = await receiver.peers.synchronisation.sync(LIMIT_S)
        assert report.complete
        assert f"round {number} 0" in await receiver.titles()


async def test_sync_that_takes_too_long_says_who_lacks_what(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk)
        await desk.add("never acknowledged")
        with pytest.raises(Refused) as refusal:
            await desk.peers.synchronisation.sync(0.3)
    assert refusal.value.code is RefusalCode.TIMEOUT
    await phone.start()


async def test_it_is_told_how_much_is_to_come_from_a_peer(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        vault, heads = await desk.read(lambda snapshot: (snapshot.vault(), snapshot.vector()))
        assert vault is not None
        further = tuple(sorted(head._replace(counter=head.counter + 500) for head in heads))
        await wire.send(messages.encode_message(Hello([2], vault, None, further, bytes(32), {})), LIMIT_S)
        await desk.until_linked(phone)
        device_state = await desk.sees(phone)
        assert device_state is not None
        assert device_state.missing == 500 * len(heads)
        with pytest.raises(Refused, match=f"{500 * len(heads)} to come from phone"):
            await desk.peers.synchronisation.sync(0.3)
    await phone.start()


async def test_sync_without_peers_is_complete_at_once(fleet: Fleet):
    desk = await fleet.start("desk")
    assert (await desk.peers.synchronisation.sync(LIMIT_S)).complete


async def test_a_difference_at_equal_vectors_is_a_finding(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await phone.execute("UPDATE standing SET state_sum = zeroblob(32)")
    with capture_logs() as logged:
        await desk.add("compare")

        async def differs(_: Device) -> bool:
            return bool(desk.peers.replication.diverging_members())

        await desk.until(differs)
    assert dict(desk.peers.replication.diverging_members()) == {phone.id: "phone"}
    assert any(event["event"] == "same commits, another state" for event in logged)


async def test_a_difference_is_found_by_who_takes_the_last_page_too(fleet: Fleet):
    """The desk has the commits that the phone reported only after it has stored the phone's page."""
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await phone.stop()
    await desk.add("unknown to the phone")
    async with posing_as(phone, desk) as wire:
        vault = await desk.read(lambda other_snapshot: other_snapshot.vault())
        assert vault is not None
        end = await desk.read(lambda other_snapshot: other_snapshot.vector())
        store = phone.opened()
        with store.write() as transaction:
            new_id = transaction.new_id()
            transaction.commit([EntityWrite(new_id, "task", {"title": "unknown to the desk"})])
        with store.read() as snapshot:
            page = snapshot.page_lacking(end, 0, messages.PAGE_BYTES_MIN).commits
            both = tuple(sorted({*end, *snapshot.vector()} - {*_passed(end, snapshot.vector())}))
        store.close()
        await wire.send(messages.encode_message(Hello([2], vault, None, both, bytes(32), {})), LIMIT_S)
        assert not desk.peers.replication.diverging_members()
        await wire.send(messages.encode_message(Commits(page)), LIMIT_S)

        async def differs(_: Device) -> bool:
            return bool(desk.peers.replication.diverging_members())

        await desk.until(differs)
    assert dict(desk.peers.replication.diverging_members()) == {phone.id: "phone"}
    await phone.start()


def _passed(other_heads: VectorClock, other: VectorClock) -> list[Head]:
    """Return the heads that another of the same replica goes beyond."""
    heads = [*other_heads, *other]
    return [
        head
        for head in heads
        if any(head.replica == up.replica and head.counter < up.counter for up in heads)
    ]


async def test_what_a_peer_brought_is_not_sent_back_to_it(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        heads = (await greet(wire, desk, level=True)).vector
        store = phone.opened()
        with store.write() as transaction:
            transaction.commit([EntityWrite(transaction.new_id(), "task", {"title": "of the phone"})])
        with store.read() as snapshot:
            page = snapshot.page_lacking(heads, 0, messages.PAGE_BYTES_MIN).commits
        store.close()
        await wire.send(messages.encode_message(Commits(page)), LIMIT_S)
        came = await messages_until(wire, Ack)
        # The answer comes after all that the desk had for the phone when it was asked, with the page taken.
        await wire.send(messages.encode_message(Ping(7)), LIMIT_S)
        came += await messages_until(wire, Pong)
        # On a slow machine the desk asks meanwhile whether the phone lives, or writes about the pairing.
        returned = [
            signed.body for message in came if isinstance(message, Commits) for signed in message.commits
        ]
        assert not {signed.body for signed in page} & set(returned)
    await phone.start()


async def test_a_change_goes_out_while_all_readers_are_busy(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    go_on = threading.Event()
    busy = [asyncio.create_task(desk.read(lambda _: go_on.wait(LIMIT_S))) for _ in range(READER_THREADS)]
    try:
        await desk.add("live")

        async def is_live(_: Device) -> bool:
            return "live 0" in await phone.titles()

        await phone.until(is_live)
    finally:
        go_on.set()
        await asyncio.gather(*busy)
