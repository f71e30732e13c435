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

from daemon.peers.roster import member_records
from daemon.peers.transport.addresses import parse
from daemon.peers.transport.connector import Connector, Unreachable
from daemon.peers.transport.limits import PeerLimits
from daemon.peers.transport.wire import ConnectionLost, Wire
from daemon.refusal import RefusalCode, Refused
from store.local import peer_records as table
from store.threads import READER_THREADS
from store.transaction import EntityWrite
from syncproto import messages
from syncproto.commit import AuthorKind, Commit, SignedCommit
from syncproto.messages import Ack, Bye, Commits, Hello, Ping, Pong
from syncproto.send_window import WINDOW_BYTES_FIRST
from syncproto.vector_clock import EMPTY_CLOCK, Head, VectorClock
from tests.daemon.peers.fleet import QUICK, Device, Fleet, in_step
from tests.support.patience import LIMIT_S


async def pair_of(fleet: Fleet, limits: PeerLimits = QUICK) -> tuple[Device, Device]:
    desk, phone = await fleet.start("desk", limits=limits), await fleet.start("phone", limits=limits)
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
        # The answer comes after all that the desk had for the phone when it was asked.
        await wire.send(messages.encode_message(Ping(7)), LIMIT_S)
        frames = [messages.decode_message(await wire.receive(LIMIT_S)) for _ in range(2)]
        assert [type(frame) for frame in frames] == [Ack, Pong]
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


# -- a peer that misbehaves --------------------------------------------------------------------------------


@asynccontextmanager
async def posing_as(phone: Device, desk: Device) -> AsyncIterator[Wire]:
    """Connect to the desk with the phone's key, while the phone's daemon is off."""
    dialling = Connector(phone.identity, phone.limits)
    wire = await dialling.connect_to_member(parse(desk.place), desk.identity.certificate)
    try:
        yield wire
    finally:
        await wire.close()
        await dialling.close()


async def greet(wire: Wire, desk: Device, *, level: bool = False) -> Hello:
    """Exchange Hellos as a device that has no commits yet, or, if `level`, the same commits."""
    vault = await desk.read(lambda snapshot: snapshot.vault())
    assert vault is not None
    hello = messages.decode_message(await wire.receive(LIMIT_S))
    assert isinstance(hello, Hello)
    stored = (hello.vector, hello.state_hash) if level else (EMPTY_CLOCK, bytes(32))
    await wire.send(messages.encode_message(Hello([2], vault, None, *stored, {})), LIMIT_S)
    return hello


async def last_words(wire: Wire) -> str:
    """Read until the other side says goodbye or closes; return its reason, empty if it gave none."""
    try:
        while True:
            message = messages.decode_message(await wire.receive(LIMIT_S))
            if isinstance(message, Bye):
                return message.reason
    except ConnectionLost:
        return ""


def future() -> SignedCommit:
    """Return a well-formed commit that follows a commit that nobody has."""
    from syncproto import commit as commits
    from syncproto.hlc import Stamp
    from syncproto.ids import EntityId, ReplicaId
    from syncproto.keys import Signer

    commit = Commit(
        format=2,
        replica=ReplicaId(bytes([7]) * 16),
        counter=5,
        previous=bytes(32),
        stamp=Stamp(1, 0),
        author=commits.Author(AuthorKind.USER),
        key=None,
        operations=[
            commits.Operation(
                EntityId(bytes([9]) * 16), "task", EMPTY_CLOCK, {"title": "x"}, None, AuthorKind.USER, None
            )
        ],
    )
    signer = Signer(bytes([5]) * 32)
    received = commits.encode_commit(commit)
    return SignedCommit(received.signed.body, commits.sign_commit(received, signer))


FAULTS = {
    "garbage": b"\xc1\xff garbage",
    "nothing": b"",
    "an Ack for no page": messages.encode_message(Ack(EMPTY_CLOCK, EMPTY_CLOCK, bytes(32))),
    "a second Hello": messages.encode_message(Hello([2], bytes(16), None, EMPTY_CLOCK, bytes(32), {})),
    "an empty page": messages.encode_message(Commits([])),
    "a commit from nowhere": messages.encode_message(Commits([future()])),
    "a million items": b"\xdd\x00\x0f\x42\x40" + b"\x90" * 1_000_000,
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_closes_this_link_and_no_other(fleet: Fleet, fault: str):
    desk, phone = await pair_of(fleet)
    tablet = await fleet.start("tablet")
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    await phone.stop()
    peer_link = desk.peers.links.link_to(tablet.id)
    before = await desk.standing()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk, level=True)
        with capture_logs() as logged:
            await wire.send(FAULTS[fault], LIMIT_S)
            assert await last_words(wire) != ""
    assert any(event["event"] == "peer broke the protocol" for event in logged)
    assert await desk.standing() == before
    assert peer_link is desk.peers.links.link_to(tablet.id)
    await desk.add("still")
    await in_step(desk, tablet)
    await phone.start()


async def test_a_text_frame_is_answered_by_a_goodbye(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk)
        await wire._socket.send_str("words")
        assert "text frame" in await last_words(wire)
    await phone.start()
    await in_step(desk, phone)


async def test_an_oversized_frame_closes_the_link(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk)
        await wire.send(bytes(desk.limits.frame_bytes_max + 1), LIMIT_S)
        await last_words(wire)
    await desk.until_apart(phone)
    await phone.start()
    await in_step(desk, phone)


async def test_a_peer_of_another_vault_is_turned_away(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await wire.send(
            messages.encode_message(Hello([2], bytes(16), None, EMPTY_CLOCK, bytes(32), {})), LIMIT_S
        )
        assert await last_words(wire) == "another vault"
    await phone.start()


async def test_a_peer_that_speaks_a_newer_version_too_is_linked_with(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        vault = await desk.read(lambda snapshot: snapshot.vault())
        assert vault is not None
        await wire.send(
            messages.encode_message(Hello([2, 3], vault, None, EMPTY_CLOCK, bytes(32), {"new": True})),
            LIMIT_S,
        )
        await desk.until_linked(phone)
    await phone.start()


async def test_a_peer_that_acknowledges_nothing_is_sent_what_is_tried_first_and_no_more(fleet: Fleet):
    """What the sender buffers for a stalled peer is bounded, however much there is to send."""
    desk, phone = await pair_of(fleet)
    await phone.stop()
    for number in range(60):
        await desk.write_entry(f"{number}" * 20_000)
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk)
        await wire.send(messages.encode_message(Ping(7)), LIMIT_S)
        sent = 0
        while not isinstance(messages.decode_message(frame := await wire.receive(LIMIT_S)), Pong):
            sent += len(frame)
        assert WINDOW_BYTES_FIRST // 2 < sent <= WINDOW_BYTES_FIRST
    await phone.start()
    await in_step(desk, phone)


@pytest.mark.parametrize("says", [False, True], ids=["before its Hello", "after its Hello"])
async def test_a_peer_that_falls_silent_is_let_go(fleet: Fleet, says: bool):
    desk, phone = await pair_of(fleet)
    await phone.stop()
    # Before its Hello, only the first limit can end the link, and afterwards only the second.
    await desk.restart(**({"silence_s": 0.3, "ping_s": 0.1} if says else {"greeting_s": 0.3}))
    async with posing_as(phone, desk) as wire:
        if says:
            await greet(wire, desk)
        await last_words(wire)
    await desk.until_apart(phone)
    await phone.start()


@pytest.mark.slow
async def test_two_quiet_devices_keep_their_link_by_their_heart_beats(fleet: Fleet):
    # Sixty heart beats would have to be late for this link to end.
    limits = replace(QUICK, silence_s=3.0, ping_s=0.05)
    desk, phone = await pair_of(fleet, limits)
    await desk.peers.synchronisation.sync(LIMIT_S)
    link = desk.peers.links.link_to(phone.id)
    assert link is not None
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(limits.silence_s + 0.5):
            await link.ended.wait()


async def test_stopping_takes_no_longer_than_a_goodbye(fleet: Fleet):
    # Nothing but the goodbye's own limit ends what stopping waits for.
    desk, phone = await pair_of(fleet, replace(QUICK, silence_s=3600.0, send_s=3600.0, ping_s=3600.0))
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk)
        async with asyncio.timeout(LIMIT_S):
            await desk.stop()
    await desk.start()
    await phone.start()
