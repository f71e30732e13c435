"""Links to a peer that misbehaves, speaks a newer version, or falls silent.

Never asks the peer: its frames are written by hand.
"""

import asyncio
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from syncproto import messages
from syncproto.messages import Hello, Ping, Pong
from syncproto.send_window import WINDOW_BYTES_FIRST
from syncproto.vector_clock import EMPTY_CLOCK
from tests.daemon.peers.fleet import QUICK, Fleet, in_step
from tests.daemon.peers.linking.link_steps import FAULTS, greet, last_words, pair_of, posing_as
from tests.support.patience import LIMIT_S


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
