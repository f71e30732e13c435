"""Newcomers that have proved the secret and have not come back yet.

Never skips the handshake: every newcomer comes in over TLS.
"""

import asyncio
from dataclasses import replace

import pytest

from daemon.peers.pairing import handshake, token
from daemon.peers.pairing.handshake import JoinerHandshake, JoinerIntroduction, PairingFailed
from daemon.peers.pairing.invitations import JoinedDevice
from daemon.peers.roster import cache, member_records
from daemon.peers.transport.addresses import parse
from daemon.peers.transport.connector import Connector, Unreachable
from daemon.peers.transport.wire import ConnectionLost
from daemon.refusal import RefusalCode
from store.local import peer_records as table
from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.daemon.peers.pairing.pairing_steps import names, pending, refusal
from tests.support.patience import LIMIT_S


async def pair_without_return(desk: Device, phone: Device, text: str, *places: str) -> None:
    """Prove the secret as the phone would, and go away instead of coming back."""
    dialling = Connector(phone.identity, phone.limits)
    try:
        wire, raw = await dialling.connect_to_inviter(parse(desk.place))
        joiner = JoinerHandshake(
            secret=token.read(text).secret,
            signer=phone.identity.signer,
            certificate=phone.identity.certificate,
            inviter=raw,
            newcomer=JoinerIntroduction("phone", list(places), False),
            randomness=phone.clock.randomness,
        )
        while not isinstance(
            outcome := joiner.next_frame(await wire.receive(LIMIT_S)), handshake.PairingOutcome
        ):
            await wire.send(outcome, LIMIT_S)
        await wire.close()
    finally:
        await dialling.close()


async def is_removed(device: Device) -> bool:
    """Return whether a device knows that it was removed."""
    own = await device.sees(device)
    return own is not None and own.removed


async def returns(desk: Device, phone: Device) -> bool:
    """Connect as the phone, by mutual TLS; return whether the desk answers with its Hello."""
    dialling = Connector(phone.identity, phone.limits)
    try:
        wire = await dialling.connect_to_member(parse(desk.place), desk.identity.certificate)
        await wire.receive(LIMIT_S)
        await wire.close()
        return True
    except (Unreachable, ConnectionLost):
        return False
    finally:
        await dialling.close()


async def test_a_newcomer_is_no_member_before_it_has_come_back(fleet: Fleet):
    desk, phone = await fleet.start("desk"), fleet.make("phone")
    await pair_without_return(desk, phone, (await desk.token()))
    assert await names(desk) == ["desk"]
    assert await desk.read(lambda snapshot: pending(snapshot, desk)) == ["phone"]
    assert await returns(desk, phone)
    assert await names(desk) == ["desk", "phone"]
    assert await desk.read(lambda snapshot: pending(snapshot, desk)) == []


async def test_a_newcomers_addresses_are_kept_as_this_device_writes_them(fleet: Fleet):
    desk, phone = await fleet.start("desk"), fleet.make("phone")
    words = (" phone:1", "[2001:db8:0::1]:7", "phone:1\n", "nowhere")
    await pair_without_return(desk, phone, (await desk.token()), *words)
    newcomers = await desk.read(lambda snapshot: table.pending_newcomers(snapshot, desk.clock.now_ms()))
    assert newcomers[0].addresses == ("phone:1", "[2001:db8::1]:7")


async def test_a_newcomer_may_come_back_after_the_inviter_was_restarted(fleet: Fleet):
    desk, phone = await fleet.start("desk"), fleet.make("phone")
    await pair_without_return(desk, phone, (await desk.token()))
    await desk.restart()
    assert await returns(desk, phone)
    assert await names(desk) == ["desk", "phone"]


async def test_a_newcomer_that_comes_back_too_late_is_a_stranger(fleet: Fleet):
    desk, phone = await fleet.start("desk"), fleet.make("phone")
    await pair_without_return(desk, phone, (await desk.token()))
    desk.clock.ahead_s += desk.limits.pending_newcomer_ms / 1000
    assert not await returns(desk, phone)
    assert await names(desk) == ["desk"]


async def test_a_device_whose_return_was_lost_pairs_again(fleet: Fleet):
    """The joiner made its side durable; the inviter's pending entry ran out."""
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await desk.add("on the desk")
    phone.limits = replace(phone.limits, first_link_s=0.1)
    await phone.restart(first_link_s=0.1)
    offered = await desk.token()
    desk.peers.replication.pause()
    assert not (await phone.peers.join(offered)).linked
    desk.clock.ahead_s += desk.limits.pending_newcomer_ms / 1000
    desk.peers.replication.resume()
    assert await names(desk) == ["desk"]
    await phone.peers.join(await desk.token())
    await in_step(desk, phone)
    assert await names(desk) == ["desk", "phone"]


async def test_an_invitation_ends_in_words_where_who_came_cannot_be_stored(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    invited = await desk.peers.invitations.invite()
    assert invited.token is not None
    await desk.execute("PRAGMA max_page_count = 1")
    # More than fits in the room that the file still has.
    with pytest.raises(PairingFailed, match="the inviting device could not store who came"):
        await pair_without_return(
            desk, phone, invited.token, *(f"{'a' * 250}{number}:1" for number in range(16))
        )
    assert (await desk.peers.invitations.state(invited.id)).stage == "failed"
    await desk.execute("PRAGMA max_page_count = 1000000")
    assert not await desk.read(lambda snapshot: pending(snapshot, desk))
    assert (await refusal(phone, invited.token)).code is RefusalCode.FORBIDDEN
    await phone.peers.join(await desk.token())


async def test_calling_off_sends_a_newcomer_away_that_has_not_come_back(fleet: Fleet):
    desk, phone = await fleet.start("desk"), fleet.make("phone")
    invited = await desk.peers.invitations.invite()
    assert invited.token is not None
    await pair_without_return(desk, phone, invited.token)
    ended = await desk.peers.invitations.call_off(invited.id)
    assert (ended.stage, ended.device) == ("called_off", JoinedDevice(phone.id.hex(), ""))
    assert await desk.peers.invitations.state(invited.id) == ended
    assert not await returns(desk, phone)
    assert not await desk.read(lambda snapshot: pending(snapshot, desk))
    await desk.restart()
    assert not await returns(desk, phone)
    assert await names(desk) == ["desk"]


async def test_calling_off_comes_too_late_for_a_newcomer_that_is_back(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    invited = await desk.peers.invitations.invite()
    assert invited.token is not None
    await phone.peers.join(invited.token)
    ended = await desk.peers.invitations.call_off(invited.id)
    await desk.until_linked(phone)
    assert (ended.stage, ended.device and ended.device.device_id) == ("joined", phone.id.hex())


@pytest.mark.parametrize("then", ["invites again", "calls the next one off"])
@pytest.mark.parametrize("restarts", [False, True])
async def test_whoever_begins_again_sends_away_who_proved_an_earlier_invitation(
    fleet: Fleet, then: str, restarts: bool
):
    desk, phone = await fleet.start("desk"), fleet.make("phone")
    invited = await desk.peers.invitations.invite()
    assert invited.token is not None
    await pair_without_return(desk, phone, invited.token)
    if restarts:
        await desk.restart()
    if then == "invites again":
        assert (await desk.peers.invitations.invite()).token is not None
    else:
        await desk.peers.invitations.call_off((await desk.peers.invitations.invite()).id)
    assert not await desk.read(lambda snapshot: pending(snapshot, desk))
    assert not await returns(desk, phone)
    assert await names(desk) == ["desk"]


async def test_a_newcomer_that_was_not_kept_to_the_end_leaves_nothing(fleet: Fleet):
    desk, phone = await fleet.start("desk"), fleet.make("phone")
    invited = await desk.peers.invitations.invite()
    assert invited.token is not None
    # It is read once the newcomer was written.
    async with desk.without_table("let_in"):
        with pytest.raises(ConnectionLost):
            await pair_without_return(desk, phone, invited.token)
        assert (await desk.peers.invitations.state(invited.id)).stage == "failed"
    assert not await desk.read(lambda snapshot: pending(snapshot, desk))
    await desk.restart()
    assert not await returns(desk, phone)


async def test_one_that_is_called_off_in_the_middle_of_coming_back_is_either_in_or_out(fleet: Fleet):
    desk, phone = await fleet.start("desk"), fleet.make("phone")
    invited = await desk.peers.invitations.invite()
    assert invited.token is not None
    await pair_without_return(desk, phone, invited.token)
    came, ended = await asyncio.gather(returns(desk, phone), desk.peers.invitations.call_off(invited.id))
    assert (await names(desk) == ["desk", "phone"]) == came == (ended.stage == "joined")


@pytest.mark.parametrize("goes", ["joins another vault", "is removed"])
async def test_a_device_that_goes_elsewhere_lets_nobody_in_who_was_to_come_back(fleet: Fleet, goes: str):
    desk, phone, laptop = await fleet.start("desk"), fleet.make("phone"), await fleet.start("laptop")
    if goes == "is removed":
        await fleet.pair(laptop, desk)
    await pair_without_return(desk, phone, (await desk.token()))
    if goes == "is removed":
        await desk.peers.devices.leave()
    else:
        await desk.peers.join(await laptop.token())
    assert not await returns(desk, phone)
    assert "phone" not in await names(desk)


async def test_a_removed_device_that_is_back_lets_nobody_in_who_was_to_come_back_before(fleet: Fleet):
    desk, phone, tablet = await fleet.start("desk"), await fleet.start("phone"), fleet.make("tablet")
    await fleet.pair(desk, phone)
    await pair_without_return(phone, tablet, (await phone.token()))
    await desk.peers.devices.remove(phone.id.hex())
    await phone.until(is_removed)
    await phone.peers.join(await desk.token())
    assert not await returns(phone, tablet)
    assert not await phone.read(lambda snapshot: pending(snapshot, phone))
    assert "tablet" not in await names(phone)


async def test_a_device_that_hears_of_its_removal_in_that_moment_lets_nobody_in(fleet: Fleet):
    desk, phone, tablet = await fleet.start("desk"), await fleet.start("phone"), fleet.make("tablet")
    await fleet.pair(desk, phone)
    await pair_without_return(phone, tablet, (await phone.token()))
    [newcomer] = await phone.read(lambda snapshot: table.pending_newcomers(snapshot, phone.clock.now_ms()))
    await desk.peers.devices.remove(phone.id.hex())
    await phone.until(is_removed)
    # As if its membership had been read a moment before.
    assert not await phone.db.write(lambda tx: cache._admit(tx, newcomer))
    assert tablet.id not in await phone.read(member_records.read_members)
