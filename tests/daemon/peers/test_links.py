"""Two and three real devices over loopback: converging, losing and finding each other, what breaks a link.

Never waits by the clock: each wait is for something that happens, with a limit.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from daemon.journal.errors import Code, Refused
from daemon.peers import roster
from daemon.peers.addresses import parse
from daemon.peers.dial import Dialling, Unreachable
from daemon.peers.pace import Pace
from daemon.peers.wire import LineLost, Wire
from store import peers as table
from store.threads import READERS
from store.transaction import Write
from syncproto import codec, messages
from syncproto.commit import By, Commit, SignedCommit
from syncproto.flight import FLIGHT_BYTES_FIRST
from syncproto.heads import EMPTY, Clock, Head
from syncproto.messages import Ack, Bye, Commits, Hello, Ping, Pong
from tests.daemon.peers.fleet import LIMIT_S, QUICK, Device, Fleet, in_step


async def pair_of(fleet: Fleet, pace: Pace = QUICK) -> tuple[Device, Device]:
    desk, phone = await fleet.start("desk", pace=pace), await fleet.start("phone", pace=pace)
    await fleet.pair(desk, phone)
    return desk, phone


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
    """Each side has more to send than its window and the sockets between them hold."""
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
    assert [one.name for one in await desk.peers.devices()] == ["desk", "phone", "tablet"]


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
        desk.peers.pause()
        phone.peers.pause()
        await desk.until_apart(phone)
        await phone.until_apart(desk)
        desk.peers.resume()
        phone.peers.resume()
        await desk.add("again")
        await in_step(desk, phone)
    await desk.peers.sync(LIMIT_S)
    await phone.peers.sync(LIMIT_S)
    ours, theirs = desk.peers._links.to(phone.id), phone.peers._links.to(desk.id)
    assert ours is not None
    assert theirs is not None
    assert ours.dialled != theirs.dialled
    assert desk.peers.twins() == phone.peers.twins() == []


async def test_a_pause_cuts_the_link_and_resume_heals_it(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await phone.peers.sync(LIMIT_S)
    desk.peers.pause()
    await phone.until_apart(desk)
    await phone.add("while apart")
    with pytest.raises(Unreachable):
        await knock(desk, phone)
    seen = await phone.sees(desk)
    assert seen is not None
    assert seen.lag == 1
    desk.peers.resume()
    await in_step(desk, phone)


async def knock(desk: Device, phone: Device) -> None:
    dialling = Dialling(phone.identity, phone.pace)
    try:
        await dialling.member(parse(desk.place), desk.identity.certificate)
    finally:
        await dialling.close()


# -- removal -----------------------------------------------------------------------------------------------


async def test_removing_a_device_closes_its_link_and_the_door(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await desk.db.write(lambda one: one.commit([roster.remove(phone.id)], by=By.USER))
    await phone.until_apart(desk)
    with pytest.raises(Unreachable):
        await knock(desk, phone)
    seen = await desk.sees(phone)
    assert seen is not None
    assert seen.removed
    assert not seen.connected


async def test_a_removal_made_elsewhere_closes_the_door_here_too(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    tablet = await fleet.start("tablet")
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    await tablet.db.write(lambda one: one.commit([roster.remove(phone.id)], by=By.USER))
    await phone.until_apart(desk)
    with pytest.raises(Unreachable):
        await knock(desk, phone)


async def test_a_removed_device_comes_in_again_by_a_new_invitation(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await desk.db.write(lambda one: one.commit([roster.remove(phone.id)], by=By.USER))
    await phone.until_apart(desk)
    await phone.add("meanwhile")
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    assert await desk.titles() == ["meanwhile 0"]


async def test_a_device_that_knows_of_its_removal_comes_in_again_too(fleet: Fleet):
    """Its own roster says that it is out, and it must call, and be called, before it hears otherwise."""
    desk, phone = await pair_of(fleet)
    await phone.db.write(lambda one: one.commit([roster.remove(phone.id)], by=By.USER))
    await phone.until_apart(desk)
    desk_knows = await desk.sees(phone)
    if desk_knows is not None and not desk_knows.removed:
        await desk.db.write(lambda one: one.commit([roster.remove(phone.id)], by=By.USER))
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    for device in (desk, phone):
        assert [one.removed for one in await device.peers.devices()] == [False, False]


# -- what is known -----------------------------------------------------------------------------------------


async def test_who_waits_for_the_others_knows_then_what_they_hold(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await desk.add("long text", count=3)
    await desk.peers.sync(LIMIT_S)
    heard = await desk.read(table.heard)
    assert heard[phone.id].vector == await desk.read(lambda snapshot: snapshot.vector())


async def test_devices_tell_the_lag_of_one_that_is_away(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await desk.peers.sync(LIMIT_S)
    await phone.stop()
    await desk.until_apart(phone)
    await desk.add("missed", count=7)
    seen = await desk.sees(phone)
    assert seen is not None
    assert (seen.lag, seen.connected) == (7, False)
    assert seen.last_seen is not None
    await desk.restart()
    seen = await desk.sees(phone)
    assert seen is not None
    assert seen.lag == 7
    await phone.start()


async def test_sync_waits_until_everything_has_arrived(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    for number in range(20):
        sender, receiver = (desk, phone) if number % 2 else (phone, desk)
        await sender.add(f"round {number}")
        report = await receiver.peers.sync(LIMIT_S)
        assert report.complete
        assert f"round {number} 0" in await receiver.titles()


async def test_sync_that_takes_too_long_says_who_lacks_what(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk)
        await desk.add("never acknowledged")
        with pytest.raises(Refused) as seen:
            await desk.peers.sync(0.3)
    assert seen.value.code is Code.TIMEOUT
    await phone.start()


async def test_it_is_told_how_much_is_to_come_from_a_peer(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        vault, held = await desk.read(lambda one: (one.vault(), one.vector()))
        assert vault is not None
        further = tuple(sorted(head._replace(counter=head.counter + 500) for head in held))
        await wire.send(messages.write(Hello([1], vault, None, further, bytes(32), {})), LIMIT_S)
        await desk.until_linked(phone)
        seen = await desk.sees(phone)
        assert seen is not None
        assert seen.missing == 500 * len(held)
        with pytest.raises(Refused, match=f"{500 * len(held)} to come from phone"):
            await desk.peers.sync(0.3)
    await phone.start()


async def test_sync_without_peers_is_complete_at_once(fleet: Fleet):
    desk = await fleet.start("desk")
    assert (await desk.peers.sync(LIMIT_S)).complete


async def test_a_difference_at_equal_vectors_is_a_finding(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await phone.execute("UPDATE standing SET state_sum = zeroblob(32)")
    with capture_logs() as logged:
        await desk.add("compare")

        async def found(_: Device) -> bool:
            return bool(desk.peers.differing())

        await desk.until(found)
    assert dict(desk.peers.differing()) == {phone.id: "phone"}
    assert any(one["event"] == "same commits, another state" for one in logged)


async def test_a_difference_is_found_by_who_takes_the_last_page_too(fleet: Fleet):
    """The desk holds what the phone said that it holds only after it has stored the phone's page."""
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await phone.stop()
    await desk.add("unknown to the phone")
    async with posing_as(phone, desk) as wire:
        vault = await desk.read(lambda one: one.vault())
        assert vault is not None
        end = await desk.read(lambda one: one.vector())
        store = phone.opened()
        with store.write() as transaction:
            made = transaction.new_id()
            transaction.commit([Write(made, "task", {"title": "unknown to the desk"})])
        with store.read() as snapshot:
            page = snapshot.page(end, 0, messages.PAGE_BYTES_MIN).commits
            both = tuple(sorted({*end, *snapshot.vector()} - {*_passed(end, snapshot.vector())}))
        store.close()
        await wire.send(messages.write(Hello([1], vault, None, both, bytes(32), {})), LIMIT_S)
        assert not desk.peers.differing()
        await wire.send(messages.write(Commits(page)), LIMIT_S)

        async def found(_: Device) -> bool:
            return bool(desk.peers.differing())

        await desk.until(found)
    assert dict(desk.peers.differing()) == {phone.id: "phone"}
    await phone.start()


def _passed(one: Clock, other: Clock) -> list[Head]:
    """Return the heads that another of the same replica goes beyond."""
    heads = [*one, *other]
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
        held = (await greet(wire, desk, level=True)).vector
        store = phone.opened()
        with store.write() as transaction:
            transaction.commit([Write(transaction.new_id(), "task", {"title": "of the phone"})])
        with store.read() as snapshot:
            page = snapshot.page(held, 0, messages.PAGE_BYTES_MIN).commits
        store.close()
        await wire.send(messages.write(Commits(page)), LIMIT_S)
        # The answer comes after all that the desk had for the phone when it was asked.
        await wire.send(messages.write(Ping(7)), LIMIT_S)
        frames = [messages.read(await wire.receive(LIMIT_S)) for _ in range(2)]
        assert [type(frame) for frame in frames] == [Ack, Pong]
    await phone.start()


async def test_a_change_goes_out_while_all_readers_are_busy(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    go_on = threading.Event()
    busy = [asyncio.create_task(desk.read(lambda _: go_on.wait(LIMIT_S))) for _ in range(READERS)]
    try:
        await desk.add("live")

        async def seen(_: Device) -> bool:
            return "live 0" in await phone.titles()

        await phone.until(seen)
    finally:
        go_on.set()
        await asyncio.gather(*busy)


# -- a peer that misbehaves --------------------------------------------------------------------------------


@asynccontextmanager
async def posing_as(phone: Device, desk: Device) -> AsyncIterator[Wire]:
    """Connect to the desk with the phone's key, while the phone's daemon is off."""
    dialling = Dialling(phone.identity, phone.pace)
    wire = await dialling.member(parse(desk.place), desk.identity.certificate)
    try:
        yield wire
    finally:
        await wire.close()
        await dialling.close()


async def greet(wire: Wire, desk: Device, *, level: bool = False) -> Hello:
    """Exchange Hellos as a device that holds nothing yet, or where they are `level`, the same."""
    vault = await desk.read(lambda one: one.vault())
    assert vault is not None
    hello = messages.read(await wire.receive(LIMIT_S))
    assert isinstance(hello, Hello)
    held = (hello.vector, hello.state_hash) if level else (EMPTY, bytes(32))
    await wire.send(messages.write(Hello([1], vault, None, *held, {})), LIMIT_S)
    return hello


async def last_words(wire: Wire) -> str:
    """Read until the other side says goodbye or closes; return its reason, empty where it gave none."""
    try:
        while True:
            message = messages.read(await wire.receive(LIMIT_S))
            if isinstance(message, Bye):
                return message.reason
    except LineLost:
        return ""


def future() -> SignedCommit:
    """Return a well-formed commit that follows nothing anyone holds."""
    from syncproto import commit as commits
    from syncproto.hlc import Stamp
    from syncproto.ids import EntityId, ReplicaId
    from syncproto.keys import Signer

    made = Commit(
        format=1,
        replica=ReplicaId(bytes([7]) * 16),
        counter=5,
        previous=bytes(32),
        stamp=Stamp(1, 0),
        author=commits.Author(By.USER),
        key=None,
        operations=[
            commits.Operation(EntityId(bytes([9]) * 16), "task", EMPTY, {"title": "x"}, None, By.USER, None)
        ],
    )
    signer = Signer(bytes([5]) * 32)
    received = commits.seal(made)
    return SignedCommit(received.signed.body, commits.sign(received, signer))


FAULTS = {
    "garbage": b"\xc1\xff garbage",
    "nothing": b"",
    "an Ack for no page": messages.write(Ack(EMPTY, bytes(32))),
    "a second Hello": messages.write(Hello([1], bytes(16), None, EMPTY, bytes(32), {})),
    "an empty page": messages.write(Commits([])),
    "a commit from nowhere": messages.write(Commits([future()])),
    "a million items": b"\xdd\x00\x0f\x42\x40" + b"\x90" * 1_000_000,
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_closes_this_link_and_no_other(fleet: Fleet, fault: str):
    desk, phone = await pair_of(fleet)
    tablet = await fleet.start("tablet")
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    await phone.stop()
    held = desk.peers._links.to(tablet.id)
    before = await desk.standing()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk, level=True)
        with capture_logs() as logged:
            await wire.send(FAULTS[fault], LIMIT_S)
            assert await last_words(wire) != ""
    assert any(one["event"] == "peer broke the protocol" for one in logged)
    assert await desk.standing() == before
    assert held is desk.peers._links.to(tablet.id)
    await desk.add("still")
    await in_step(desk, tablet)
    await phone.start()


async def test_an_oversized_frame_closes_the_link(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk)
        await wire.send(bytes(desk.pace.frame_bytes_max + 1), LIMIT_S)
        await last_words(wire)
    await desk.until_apart(phone)
    await phone.start()
    await in_step(desk, phone)


async def test_a_peer_of_another_vault_is_turned_away(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await wire.send(messages.write(Hello([1], bytes(16), None, EMPTY, bytes(32), {})), LIMIT_S)
        assert await last_words(wire) == "another vault"
    await phone.start()


HELLOS_OF_OTHERS = {
    "of the same form": (
        [2, 3],
        messages.write(Hello([2, 3], bytes(16), None, EMPTY, bytes(32), {})),
        "newer",
    ),
    "of a form to come": ([9], codec.encode([1, [9], "whatever", {"it": "says"}]), "newer"),
    "of a form that was": ([0], codec.encode([1, [0]]), "older"),
}


@pytest.mark.parametrize("hello", HELLOS_OF_OTHERS)
async def test_a_peer_of_another_version_is_told_apart_from_a_broken_one(fleet: Fleet, hello: str):
    versions, frame, kind = HELLOS_OF_OTHERS[hello]
    desk, phone = await pair_of(fleet)
    await phone.stop()
    words = f"no common version: it speaks {', '.join(map(str, versions))}"
    async with posing_as(phone, desk) as wire:
        await wire.receive(LIMIT_S)
        await wire.send(frame, LIMIT_S)
        assert await last_words(wire) == words

    async def told(one: Device) -> bool:
        seen = await one.sees(phone)
        return seen is not None and [(told.kind, told.seen) for told in seen.unreached] == [(kind, words)]

    await desk.until(told)
    await phone.start()
    await phone.until_linked(desk)
    await desk.until_linked(phone)
    await phone.stop()
    await desk.until_apart(phone)
    seen = await desk.sees(phone)
    assert seen is not None
    assert kind not in [told.kind for told in seen.unreached], "it was updated, and has been linked since"
    await phone.start()


async def test_a_peer_that_speaks_a_newer_version_too_is_linked_with(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        vault = await desk.read(lambda one: one.vault())
        assert vault is not None
        await wire.send(messages.write(Hello([1, 2], vault, None, EMPTY, bytes(32), {"new": True})), LIMIT_S)
        await desk.until_linked(phone)
    await phone.start()


async def test_a_peer_that_acknowledges_nothing_is_sent_what_is_tried_first_and_no_more(fleet: Fleet):
    """What the sender holds for a stalled peer is bounded, however much there is to send."""
    desk, phone = await pair_of(fleet)
    await phone.stop()
    for number in range(60):
        await desk.write_entry(f"{number}" * 20_000)
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk)
        await wire.send(messages.write(Ping(7)), LIMIT_S)
        sent = 0
        while not isinstance(messages.read(frame := await wire.receive(LIMIT_S)), Pong):
            sent += len(frame)
        assert FLIGHT_BYTES_FIRST // 2 < sent <= FLIGHT_BYTES_FIRST
    await phone.start()
    await in_step(desk, phone)


@pytest.mark.parametrize("says", [False, True], ids=["before its Hello", "after its Hello"])
async def test_a_peer_that_falls_silent_is_let_go(fleet: Fleet, says: bool):
    pace = replace(QUICK, greeting_s=0.3, silence_s=0.3, ping_s=0.1)
    desk, phone = await fleet.start("desk", pace=pace), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        if says:
            await greet(wire, desk)
        await last_words(wire)
    await desk.until_apart(phone)
    await phone.start()


async def test_two_quiet_devices_keep_their_link_by_their_heart_beats(fleet: Fleet):
    pace = replace(QUICK, silence_s=0.5, ping_s=0.1)
    desk, phone = await pair_of(fleet, pace)
    await desk.peers.sync(LIMIT_S)
    link = desk.peers._links.to(phone.id)
    assert link is not None
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1.5):
            await link.ended.wait()


async def test_stopping_takes_no_longer_than_a_goodbye(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk)
        async with asyncio.timeout(5):
            await desk.stop()
    await desk.start()
    await phone.start()
