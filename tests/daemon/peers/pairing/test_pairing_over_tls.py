"""Pairing between real devices over loopback: who gets in, who does not, and what is left behind.

Never depends on timing: time passes only when a test moves the clock.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from daemon.peers.pairing import token
from daemon.peers.pairing.handshake import JoinerHandshake, JoinerIntroduction, PairingFailed
from daemon.peers.pairing.invitation import LIFETIME_S, TRIES_MAX
from daemon.peers.transport.addresses import Address, parse
from daemon.peers.transport.connector import Connector, Unreachable
from daemon.peers.transport.identity import Identity, load_or_create
from daemon.peers.transport.listener import Listener
from daemon.peers.transport.trust import ListenerTrust
from daemon.peers.transport.wire import ConnectionLost, Wire
from daemon.refusal import RefusalCode
from store.snapshot import Snapshot
from tests.daemon.peers.fleet import QUICK, Device, Fleet, GivenClock, in_step
from tests.daemon.peers.pairing.pairing_steps import names, pending, refusal
from tests.support.patience import LIMIT_S


def wrong(text: str) -> str:
    """Return the same token with another secret."""
    right = token.read(text)
    return token.write(right.addresses, right.device, bytes(16))


async def test_pairing_leaves_each_in_the_others_roster_and_one_vault(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    joined = await phone.peers.join(await desk.token())
    assert (joined.device_id, joined.name) == (desk.id.hex(), "desk")
    await in_step(desk, phone)
    assert await names(desk) == ["desk", "phone"]
    assert await names(phone) == ["phone", "desk"]
    assert await desk.read(lambda snapshot: snapshot.vault()) == await phone.read(
        lambda snapshot: snapshot.vault()
    )
    conflicts = await desk.read(
        lambda snapshot: [entity.conflicts() for entity in snapshot.entities("device")]
    )
    assert conflicts == [{}, {}]


async def test_an_address_of_the_token_that_is_silent_costs_no_wait(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone", limits=replace(QUICK, dial_s=60.0))
    read = token.read(await desk.token())
    with socket.create_server(("127.0.0.1", 0)) as silent:
        places = [f"127.0.0.1:{silent.getsockname()[1]}", *read.addresses]
        async with asyncio.timeout(LIMIT_S):
            await phone.peers.join(token.write(places, read.device, read.secret))


async def test_an_invitation_lets_one_device_in_once(fleet: Fleet):
    desk, phone, tablet = [await fleet.start(name) for name in ("desk", "phone", "tablet")]
    text = await desk.token()
    await phone.peers.join(text)
    for device in (tablet, phone):
        refused = await refusal(device, text)
        assert refused.code is RefusalCode.FORBIDDEN
        assert "used already" in refused.message
    assert await names(desk) == ["desk", "phone"]


async def test_a_new_invitation_calls_off_the_one_before(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    old = await desk.token()
    new = await desk.token()
    assert (await refusal(phone, old)).code is RefusalCode.FORBIDDEN
    await phone.peers.join(new)


async def test_a_wrong_secret_is_charged_and_the_right_one_is_refused_after_the_third(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    text = await desk.token()
    for _ in range(TRIES_MAX):
        refused = await refusal(phone, wrong(text))
        assert refused.code is RefusalCode.FORBIDDEN
        assert "does not match" in refused.message
    refused = await refusal(phone, text)
    assert refused.code is RefusalCode.FORBIDDEN
    assert await names(desk) == ["desk"]
    assert await names(phone) == ["phone"]


async def test_a_try_that_is_given_up_after_the_answer_is_charged_too(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    text = await desk.token()
    for _ in range(TRIES_MAX):
        assert await guess(desk, phone, number=1)
    assert (await refusal(phone, text)).code is RefusalCode.FORBIDDEN


async def guess(desk: Device, stranger: Device, number: int) -> bool:
    """Try a secret the way an attacker would; return whether the answer arrived that tests it."""
    dialling = Connector(stranger.identity, stranger.limits)
    joiner = JoinerHandshake(
        secret=number.to_bytes(16, "big"),
        signer=stranger.identity.signer,
        certificate=stranger.identity.certificate,
        inviter=desk.identity.certificate,
        newcomer=JoinerIntroduction("guess", [], False),
        randomness=GivenClock(f"guess {number}").randomness,
    )
    wire = None
    try:
        wire, _ = await dialling.connect_to_inviter(parse(desk.place))
        start = joiner.next_frame(await wire.receive(LIMIT_S))
        assert isinstance(start, bytes)
        await wire.send(start, LIMIT_S)
        answer = await wire.receive(LIMIT_S)
        joiner.next_frame(answer)
        return True
    except (Unreachable, PairingFailed, ConnectionLost):
        return False
    finally:
        if wire is not None:
            await wire.close()
        await dialling.close()


async def test_of_fifty_tries_at_once_at_most_three_are_answered(fleet: Fleet):
    limits = replace(QUICK, connections_each_max=64)
    desk, phone = await fleet.start("desk", limits=limits), await fleet.start("phone")
    text = await desk.token()
    answered = await asyncio.gather(*(guess(desk, phone, number) for number in range(1, 51)))
    assert 1 <= sum(answered) <= TRIES_MAX
    for _ in range(TRIES_MAX):
        await guess(desk, phone, 99)
    assert (await refusal(phone, text)).code is RefusalCode.FORBIDDEN


async def test_after_five_minutes_the_right_secret_is_refused(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    text = await desk.token()
    desk.clock.ahead_s += LIFETIME_S
    assert (await refusal(phone, text)).code is RefusalCode.FORBIDDEN


# -- a device between the two ------------------------------------------------------------------------------


@asynccontextmanager
async def relay(folder: Path, inviter: Device) -> AsyncIterator[tuple[Identity, str]]:
    """Run a device that passes every pairing frame on to `inviter`, unchanged; yield who and where it is."""
    identity = load_or_create(folder, GivenClock("relay").randomness)
    dialling = Connector(identity, QUICK)

    async def pump(source: Wire, sink: Wire) -> None:
        while True:
            await sink.send(await source.receive(LIMIT_S), LIMIT_S)

    async def between(_: bytes, near: Wire) -> None:
        far, _shown = await dialling.connect_to_inviter(parse(inviter.place))
        pumps = [asyncio.create_task(pump(near, far)), asyncio.create_task(pump(far, near))]
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for listed_pump in pumps:
            listed_pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
        await far.close()
        await near.close()

    gate = ListenerTrust(identity.file, lambda: True)
    listener = Listener(gate, lambda _: False, between, between, QUICK)
    port = await listener.start("127.0.0.1", 0)
    try:
        yield identity, str(Address("127.0.0.1", port))
    finally:
        await listener.stop()
        await dialling.close()


async def test_a_relay_with_the_right_secret_and_its_own_certificate_fails_on_both_sides(
    fleet: Fleet, tmp_path: Path
):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    text = await desk.token()
    async with relay(tmp_path / "relay", desk) as (middle, place):
        # As with a code, which pins nobody: the token names the relay, and holds the right secret.
        lured = token.write([place], middle.device, token.read(text).secret)
        refused = await refusal(phone, lured)
    assert refused.code is RefusalCode.FORBIDDEN
    assert await names(desk) == ["desk"]
    assert await names(phone) == ["phone"]
    assert not await desk.read(lambda snapshot: pending(snapshot, desk))


async def test_a_token_is_not_tried_on_a_device_that_it_does_not_name(fleet: Fleet, tmp_path: Path):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    text = await desk.token()
    async with relay(tmp_path / "relay", desk) as (_, place):
        refused = await refusal(phone, text, address=place)
    assert refused.code is RefusalCode.FAILED
    assert "another device" in refused.message
    await phone.peers.join(text)


# -- what a person may not have meant ----------------------------------------------------------------------


async def test_a_device_with_entries_of_its_own_is_asked_before_anything_is_sent(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await phone.add("mine")
    await desk.add("theirs")
    text = await desk.token()
    for _ in range(TRIES_MAX + 1):
        assert (await refusal(phone, text)).code is RefusalCode.NEEDS_CONFIRMATION
    await phone.peers.join(text, unite=True)
    await in_step(desk, phone)
    assert await desk.titles() == ["mine 0", "theirs 0"]


async def test_a_device_that_has_peers_must_leave_its_vault_first(fleet: Fleet):
    desk, phone, tablet = [await fleet.start(name) for name in ("desk", "phone", "tablet")]
    await fleet.pair(desk, phone)
    refused = await refusal(phone, (await tablet.token()), unite=True)
    assert refused.code is RefusalCode.FORBIDDEN
    assert "desk" in refused.message


async def test_a_member_that_has_begun_anew_draws_nobody_out_of_the_vault(fleet: Fleet):
    desk, phone, tablet = [await fleet.start(name) for name in ("desk", "phone", "tablet")]
    await fleet.pair(desk, phone)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    await desk.stop()
    (desk.folder / "placet.db").unlink()
    await desk.start()
    refused = await refusal(phone, (await desk.token()))
    assert (refused.code, "tablet" in refused.message) == (RefusalCode.FORBIDDEN, True)
    assert await phone.read(Snapshot.vault) == await tablet.read(Snapshot.vault)
    await fleet.pair(phone, desk)
    await in_step(desk, phone)


async def test_a_device_does_not_join_itself(fleet: Fleet):
    desk = await fleet.start("desk")
    assert (await refusal(desk, (await desk.token()))).code is RefusalCode.USAGE


@pytest.mark.parametrize("text", ["", "nonsense", "493-02", "A" * 200])
async def test_what_is_neither_code_nor_token_is_a_usage_error(fleet: Fleet, text: str):
    assert (await refusal(await fleet.start("desk"), text)).code is RefusalCode.USAGE


async def test_an_address_that_is_none_is_a_usage_error(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    text = await desk.token()
    assert (await refusal(phone, text, address="nowhere")).code is RefusalCode.USAGE


async def test_an_inviter_that_is_not_there_is_named(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    text, place = (await desk.token()), desk.place
    await desk.stop()
    refused = await refusal(phone, text)
    assert refused.code is RefusalCode.FAILED
    assert place in refused.message
    await desk.start()
