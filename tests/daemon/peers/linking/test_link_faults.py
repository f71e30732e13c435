"""What is told of links that ended by a fault, on the side that found it and on the other, and for how long.

Never waits by the clock: each wait is for something that happens, with a limit.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import msgspec
import pytest

from daemon.peers.linking import goodbyes
from daemon.peers.linking.device_states import DeviceState, SyncReport
from daemon.peers.linking.exchange_faults import ExchangeFaults, LinkFault, fault_of_end
from daemon.peers.transport.connector import UnreachableReason
from daemon.peers.transport.happy_eyeballs import FailedCall
from daemon.peers.transport.wire import Wire
from daemon.refusal import Refused
from store.sentence import foreign_text
from store.transaction import Transaction
from syncproto import codec, messages
from syncproto.errors import CommitsMissing, RemoteProtocolError, UnsupportedVersion
from syncproto.ids import DeviceId
from syncproto.messages import Ack, Bye, Commits, Hello
from syncproto.vector_clock import EMPTY_CLOCK
from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.daemon.peers.linking.link_steps import FAULTS, future, greet, last_words, pair_of, posing_as
from tests.daemon.peers.linking.test_stalled_connections import FakeSocket, hello, link_on
from tests.support.patience import LIMIT_S
from tests.support.sentences import words_by_id

UNSOLICITED_ACK = FAULTS["an Ack for no page"]
GAP = messages.encode_message(Commits([future()]))
PEER = DeviceId(bytes([1]) * 32)


async def shown(device: Device, other: Device) -> DeviceState:
    """Return what a device shows of another one."""
    state = await device.sees(other)
    assert state is not None
    return state


async def fault_words(device: Device, other: Device) -> tuple[str, str] | None:
    """Return the kind and the words of the fault that a device shows of its link to another one."""
    fault = (await shown(device, other)).link_fault
    return None if fault is None else (fault.kind, fault.seen)


async def until_fault(device: Device, other: Device, kind: str | None, words: str = "") -> None:
    """Wait until a device shows a fault of this kind and in these words, or none."""
    wanted = None if kind is None else (kind, words)

    async def is_shown(_: Device) -> bool:
        return await fault_words(device, other) == wanted

    await device.until(is_shown)


@asynccontextmanager
async def desk_without_phone(fleet: Fleet) -> AsyncIterator[tuple[Device, Device]]:
    """Give two paired devices in step, the second one stopped; start it again at the end."""
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await phone.stop()
    yield desk, phone
    await phone.start()


async def break_link(desk: Device, phone: Device, frame: bytes) -> None:
    """Link as the phone, send a frame, and wait for the desk's goodbye."""
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk, level=False)
        await wire.send(frame, LIMIT_S)
        assert await last_words(wire) != ""


async def acknowledge_page(wire: Wire) -> None:
    """Wait for a page, and acknowledge it without saying what is there now."""
    while not isinstance(messages.decode_message(await wire.receive(LIMIT_S)), Commits):
        pass
    await wire.send(messages.encode_message(Ack(EMPTY_CLOCK, EMPTY_CLOCK, bytes(32))), LIMIT_S)


# -- the side that found the fault -------------------------------------------------------------------------


async def test_a_peer_that_broke_the_protocol_is_shown_until_a_link_works(fleet: Fleet):
    async with desk_without_phone(fleet) as (desk, phone):
        await break_link(desk, phone, UNSOLICITED_ACK)
        words = "phone broke the protocol: an Ack for no page"
        await until_fault(desk, phone, "faulty", words)
        assert not (await desk.peers.synchronisation.sync(LIMIT_S)).complete
        async with posing_as(phone, desk) as wire:
            await greet(wire, desk)
            # It is greeted, and nothing more is known: the fault stays.
            assert await fault_words(desk, phone) == ("faulty", words)
            await acknowledge_page(wire)
            await until_fault(desk, phone, None)
    await in_step(desk, phone)


async def test_a_peer_that_cannot_be_reached_now_is_told_as_such_beside_the_fault_before(fleet: Fleet):
    async with desk_without_phone(fleet) as (desk, phone):
        await break_link(desk, phone, UNSOLICITED_ACK)

        async def is_not_reached(_: Device) -> bool:
            state = await shown(desk, phone)
            return [call.kind for call in state.unreached] == ["not_listening"]

        desk.peers.replication.call_all_now()
        await desk.until(is_not_reached)
        assert await fault_words(desk, phone) == ("faulty", "phone broke the protocol: an Ack for no page")


async def test_a_call_that_fails_is_announced(fleet: Fleet):
    async with desk_without_phone(fleet) as (desk, phone):

        async def is_not_reached(_: Device) -> bool:
            return [call.kind for call in (await shown(desk, phone)).unreached] == ["not_listening"]

        await desk.until(is_not_reached)
        desk.peers.links.faults.record_connection(phone.id)
        desk.peers.replication.call_all_now()
        # No link ends and no commit comes any more: only the call itself can wake this wait.
        await desk.until(is_not_reached)


HELLOS_OF_OTHERS = {
    "of the same form": (
        [3, 4],
        messages.encode_message(Hello([3, 4], bytes(16), None, EMPTY_CLOCK, bytes(32), {})),
        "newer",
    ),
    "of a form to come": ([9], codec.encode([1, [9], "whatever", {"it": "says"}]), "newer"),
    "of a form that was": ([0], codec.encode([1, [0]]), "older"),
}


@pytest.mark.parametrize("hello", HELLOS_OF_OTHERS)
async def test_a_peer_of_another_version_is_told_apart_from_a_broken_one(fleet: Fleet, hello: str):
    versions, frame, kind = HELLOS_OF_OTHERS[hello]
    words = f"no common version: it speaks {', '.join(map(str, versions))}"
    async with desk_without_phone(fleet) as (desk, phone):
        async with posing_as(phone, desk) as wire:
            await wire.receive(LIMIT_S)
            await wire.send(frame, LIMIT_S)
            assert await last_words(wire) == words
        await until_fault(desk, phone, kind, f"phone cannot be understood: {words}")
    # It was updated, and is linked.
    await until_fault(desk, phone, None)


async def test_a_lost_race_is_no_fault_unless_the_next_link_ends_by_it_too(fleet: Fleet):
    async with desk_without_phone(fleet) as (desk, phone):
        await break_link(desk, phone, GAP)
        assert await fault_words(desk, phone) is None
        # It is not known to be in step, all the same.
        assert not (await desk.peers.synchronisation.sync(LIMIT_S)).complete
        async with posing_as(phone, desk) as wire:
            await greet(wire, desk, level=True)
            await desk.until_linked(phone)
        await break_link(desk, phone, GAP)
        assert await fault_words(desk, phone) is None
        await break_link(desk, phone, GAP)
        await until_fault(desk, phone, "faulty", "phone broke the protocol: commit 5 of an unknown replica")
    await until_fault(desk, phone, None)
    assert (await desk.peers.synchronisation.sync(LIMIT_S)).complete


async def test_a_fault_is_noted_before_anyone_can_see_that_the_link_has_ended(fleet: Fleet):
    """Whoever waits for all members would take this one for a device that is simply away."""
    desk, socket = await fleet.start("desk"), FakeSocket()
    link = link_on(socket, desk)
    ended_before: list[bool] = []
    link._observer.fault_found = lambda *_: ended_before.append(link.ended.is_set())  # type: ignore[method-assign]
    socket.give(await hello(desk))
    socket.give(UNSOLICITED_ACK)
    async with asyncio.timeout(LIMIT_S):
        await link.run()
    assert (ended_before, link.ended.is_set()) == ([False], True)


# -- the side whose bytes were refused ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("goodbye", "words"),
    [
        ("an Ack for no page", "phone ended the link: an Ack for no page"),
        (goodbyes.NO_ROOM, "phone ended the link: this device has no room left"),
        ("a reason\nof another program", "phone ended the link: a reason\nof another program"),
        *((reason, None) for reason in (goodbyes.PAUSED, goodbyes.GOING_AWAY, goodbyes.REPLACED, "")),
    ],
)
async def test_the_reason_by_which_a_peer_ends_a_link_is_told_if_it_is_a_fault(
    fleet: Fleet, goodbye: str, words: str | None
):
    async with desk_without_phone(fleet) as (desk, phone):
        async with posing_as(phone, desk) as wire:
            await greet(wire, desk)
            await wire.send(messages.encode_message(Bye(goodbye)), LIMIT_S)
            await last_words(wire)
        await desk.until_apart(phone)
        assert await fault_words(desk, phone) == (None if words is None else ("ended_there", words))
        assert (await desk.peers.synchronisation.sync(LIMIT_S)).complete == (words is None)


async def set_signature(device: Device, signature: bytes | None) -> bytes:
    """Replace the signature of a device's newest commit, or read it if None is given."""

    def use(transaction: Transaction) -> bytes:
        ((before,),) = transaction.db.execute(
            "SELECT signature FROM feed ORDER BY seq DESC LIMIT 1"
        ).fetchall()
        if signature is not None:
            transaction.db.execute(
                "UPDATE feed SET signature = ? WHERE seq = (SELECT max(seq) FROM feed)", (signature,)
            )
        assert isinstance(before, bytes)
        return before

    return await device.db.write(use)


async def synchronised(device: Device) -> SyncReport:
    return await device.peers.synchronisation.sync(LIMIT_S)


async def test_both_sides_of_a_refused_commit_tell_of_it_and_call_nothing_complete_until_it_is_taken(
    fleet: Fleet,
):
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    phone.peers.replication.pause()
    await phone.add("refused")
    signature = await set_signature(phone, None)
    await set_signature(phone, bytes(64))
    phone.peers.replication.resume()
    counter = max(head.counter for head in (await phone.standing()).heads.clock)
    words = f"commit {counter} is not signed by its replica's device"
    await until_fault(desk, phone, "faulty", f"phone broke the protocol: {words}")
    await until_fault(phone, desk, "ended_there", f"desk ended the link: {words}")
    for device in (desk, phone, desk, phone):
        assert not (await synchronised(device)).complete
    state = await shown(phone, desk)
    assert state.link_fault is not None
    assert words_by_id(msgspec.to_builtins(state.link_fault), "seen") == [state.link_fault.seen]
    await set_signature(phone, signature)
    await in_step(desk, phone)
    await until_fault(desk, phone, None)
    await until_fault(phone, desk, None)
    assert (await synchronised(desk)).complete


async def test_a_full_disk_is_told_on_both_sides_until_there_is_room(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    desk.shortfall = foreign_text("the disk is full")
    await phone.add("no room for it")
    await until_fault(desk, phone, "failed_here", "the link to phone failed on this device: the disk is full")
    await until_fault(phone, desk, "ended_there", "desk ended the link: this device has no room left")
    assert not (await synchronised(phone)).complete
    desk.shortfall = None
    await in_step(desk, phone)
    await until_fault(desk, phone, None)
    await until_fault(phone, desk, None)


async def test_the_fault_of_a_removed_device_is_forgotten(fleet: Fleet):
    async with desk_without_phone(fleet) as (desk, phone):
        await break_link(desk, phone, UNSOLICITED_ACK)
        await until_fault(desk, phone, "faulty", "phone broke the protocol: an Ack for no page")
        await desk.peers.devices.remove("phone")
        assert (await shown(desk, phone)).link_fault is None


# -- what is kept ------------------------------------------------------------------------------------------


def faulty(*, may_be_race: bool = False) -> LinkFault:
    return LinkFault(UnreachableReason.FAULTY, "it was wrong", may_be_race)


def test_a_later_call_that_fails_stands_before_the_fault_and_a_later_fault_before_the_call():
    faults, calls = ExchangeFaults(), [FailedCall(UnreachableReason.NO_WAY, foreign_text("no way"))]
    faults.record_fault(PEER, faulty())
    faults.record_failed_call(PEER, calls)
    assert (faults.failed_calls(PEER), faults.link_fault(PEER)) == (calls, faulty())
    faults.record_fault(PEER, faulty())
    assert (faults.failed_calls(PEER), faults.link_fault(PEER)) == ((), faulty())
    faults.record_working(PEER)
    assert (faults.link_fault(PEER), faults.faulty_peers()) == (None, set())


def test_what_may_be_a_race_is_in_doubt_until_the_next_call_or_link():
    faults = ExchangeFaults()
    faults.record_fault(PEER, faulty(may_be_race=True))
    assert (faults.link_fault(PEER), faults.is_in_doubt(PEER), faults.faulty_peers()) == (None, True, {PEER})
    faults.record_failed_call(PEER, [])
    assert (faults.link_fault(PEER), faults.is_in_doubt(PEER), faults.faulty_peers()) == (None, False, {PEER})
    faults.record_fault(PEER, faulty(may_be_race=True))
    assert (faults.link_fault(PEER), faults.is_in_doubt(PEER)) == (faulty(may_be_race=True), False)


def test_only_commits_that_are_missing_here_may_be_a_race():
    assert fault_of_end(CommitsMissing("a gap"), None) == LinkFault(UnreachableReason.FAULTY, "a gap", True)
    assert fault_of_end(RemoteProtocolError("garbage"), None) == LinkFault(
        UnreachableReason.FAULTY, "garbage"
    )
    assert fault_of_end(goodbyes.CloseAsked(goodbyes.PAUSED), None) is None


@pytest.mark.parametrize(("spoken", "remedy"), [((9,), "install-newer-here"), ((1,), "install-newer-there")])
async def test_devices_without_a_common_version_are_not_told_as_joined(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, spoken: tuple[int, ...], remedy: str
):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    invitation = await desk.peers.invitations.invite()
    assert invitation.token is not None
    monkeypatch.setattr(messages, "require_shared_version", _stranger_to(spoken))
    with pytest.raises(Refused) as refused:
        await phone.peers.join(invitation.token)
    assert refused.value.sentence.id == "joined-without-common-version"
    assert refused.value.hint_sentence is not None
    assert refused.value.hint_sentence.id == remedy
    seen_there = await desk.peers.invitations.state(invitation.id)
    assert seen_there.device is not None
    assert (seen_there.stage, seen_there.device.linked) == ("joined", False)


def _stranger_to(spoken: tuple[int, ...]) -> Callable[[Sequence[int]], None]:
    """Return a check of versions as it ends between two builds, of which the other one speaks these."""

    def require(versions: Sequence[int]) -> None:
        del versions
        raise UnsupportedVersion(spoken, newer=max(spoken) > max(messages.VERSIONS))

    return require
