"""Pairing by the six digits that a person types: the code itself, and how far an invitation reports to be.

Never depends on timing: time passes only when a test moves the clock.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.peers.discovery.announcements import NearbyInviter
from daemon.peers.pairing import digit_code, joiner_side
from daemon.peers.pairing.digit_code import TRIED_CODES_MAX, TriedCodes
from daemon.peers.pairing.handshake import InviterHandshake, InviterIntroduction, WrongSecret
from daemon.peers.pairing.invitation import LIFETIME_S, TRIES_MAX
from daemon.peers.pairing.invitations import Invited, JoinedDevice
from daemon.peers.pairing.joiner_side import InvitationOffer
from daemon.peers.transport.identity import load_or_create
from daemon.peers.transport.listener import Listener
from daemon.peers.transport.trust import ListenerTrust
from daemon.peers.transport.wire import Wire
from daemon.refusal import RefusalCode, Refused
from tests.daemon.peers.fleet import QUICK, Device, Fleet, GivenClock, in_step
from tests.support.patience import LIMIT_S


async def invite(device: Device) -> tuple[Invited, str]:
    """Return an invitation by code, and the code."""
    invited = await device.peers.invitations.invite(by_code=True)
    assert invited.code is not None
    assert invited.token is None
    return invited, invited.code


def another(than: str) -> str:
    return "000-000" if than != "000-000" else "111-111"


async def refusal(joiner: Device, text: str, place: str | None) -> Refused:
    with pytest.raises(Refused) as seen_refusal:
        await joiner.peers.join(text, address=place)
    return seen_refusal.value


async def stage(device: Device, invited: Invited) -> str:
    return (await device.peers.invitations.state(invited.id)).stage


# -- the code -----------------------------------------------------------------------------------------


@given(st.binary(min_size=4, max_size=4))
def test_a_code_is_six_digits_that_are_read_as_they_were_written(drawn: bytes):
    draws = iter([drawn])
    text = digit_code.draw(lambda count: next(draws, bytes(count)))
    assert digit_code.read(text) == text
    for typed in (text.replace("-", ""), text.replace("-", " "), f" {text}\n", text.replace("-", " - ")):
        assert digit_code.read(typed) == text


def test_a_draw_that_would_favour_small_codes_is_drawn_again():
    draws = iter([b"\xff\xff\xff\xff", (123_456).to_bytes(4, "big")])
    assert digit_code.draw(lambda _: next(draws)) == "123-456"


@pytest.mark.parametrize("text", ["", "49302", "4930277", "493-02a", "٤٩٣-٠٢٧", "493_027", "-493027"])
def test_what_is_no_code_is_not_taken_for_one(text: str):
    assert digit_code.read(text) is None


# -- pairing by it ------------------------------------------------------------------------------------


async def test_devices_pair_by_a_code(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    invited, typed = await invite(desk)
    joined = await phone.peers.join(typed.replace("-", " "), address=desk.place)
    assert (joined.device_id, joined.name) == (desk.id.hex(), "desk")
    await in_step(desk, phone)
    await desk.until_linked(phone)
    invitation_state = await desk.peers.invitations.state(invited.id)
    assert invitation_state.stage == "joined"
    assert invitation_state.device == JoinedDevice(phone.id.hex(), "phone", linked=True)


async def test_whoever_waits_for_an_invitation_is_told_of_each_step(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    invited, typed = await invite(desk)
    waiting = asyncio.create_task(desk.peers.invitations.state(invited.id, 20.0))
    await asyncio.sleep(0)
    assert (await refusal(phone, another(typed), desk.place)).code is RefusalCode.FORBIDDEN
    assert (await waiting).tries_left == TRIES_MAX - 1
    await phone.peers.join(typed, address=desk.place)
    while (invitation_state := await desk.peers.invitations.state(invited.id, 20.0)).stage != "joined":
        assert invitation_state.stage in ("open", "proved")
    assert invitation_state.device is not None
    assert invitation_state.device.linked


async def test_the_right_code_is_refused_after_three_wrong_ones(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    invited, typed = await invite(desk)
    for _ in range(TRIES_MAX):
        refused = await refusal(phone, another(typed), desk.place)
        assert refused.code is RefusalCode.FORBIDDEN
        assert "does not match" in refused.message
    assert (await refusal(phone, typed, desk.place)).code is RefusalCode.FORBIDDEN
    assert await stage(desk, invited) == "tried_out"


async def test_of_fifty_guesses_at_once_at_most_three_are_charged_and_none_is_answered_beyond(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    invited, typed = await invite(desk)
    guesses = [joiner_side.read_offer(f"{number:06}") for number in range(50) if f"{number:06}" != typed]

    async def guess(offer: InvitationOffer) -> None:
        with pytest.raises(Refused):
            await phone.peers.join(f"{offer.secret[-7:].decode()}", address=desk.place)

    await asyncio.gather(*(guess(offer) for offer in guesses))
    assert (await desk.peers.invitations.state(invited.id)).tries_left == 0
    assert (await refusal(phone, typed, desk.place)).code is RefusalCode.FORBIDDEN


async def test_five_minutes_end_a_code(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    invited, typed = await invite(desk)
    desk.clock.ahead_s += LIFETIME_S
    assert (await refusal(phone, typed, desk.place)).code is RefusalCode.FORBIDDEN
    assert await stage(desk, invited) == "expired"


async def test_an_invitation_that_is_called_off_lets_nobody_in(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    invited, typed = await invite(desk)
    assert (await desk.peers.invitations.call_off(invited.id)).stage == "called_off"
    assert (await refusal(phone, typed, desk.place)).code is RefusalCode.FORBIDDEN


async def test_calling_off_an_invitation_does_not_touch_the_one_that_took_its_place(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    old, _ = await invite(desk)
    _, typed = await invite(desk)
    with pytest.raises(Refused) as seen_refusal:
        await desk.peers.invitations.call_off(old.id)
    assert seen_refusal.value.code is RefusalCode.NOT_FOUND
    await phone.peers.join(typed, address=desk.place)


async def test_a_code_opens_no_invitation_by_token_nor_the_other_way_round(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    text = await desk.token()
    assert (await refusal(phone, "493-027", desk.place)).code is RefusalCode.FORBIDDEN
    await invite(desk)
    assert (await refusal(phone, text, None)).code is RefusalCode.FORBIDDEN


async def test_a_code_is_not_tried_on_this_very_device(fleet: Fleet):
    desk = await fleet.start("desk")
    invited, typed = await invite(desk)
    assert (await refusal(desk, typed, desk.place)).code is RefusalCode.USAGE
    assert (await desk.peers.invitations.state(invited.id)).tries_left == TRIES_MAX


async def test_a_device_with_entries_of_its_own_says_nothing_before_it_is_asked_to_unite(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await phone.add("mine")
    invited, typed = await invite(desk)
    assert (await refusal(phone, typed, desk.place)).code is RefusalCode.NEEDS_CONFIRMATION
    assert (await desk.peers.invitations.state(invited.id)).tries_left == TRIES_MAX
    await phone.peers.join(typed, unite=True, address=desk.place)


async def test_two_devices_that_join_each_other_at_once_do_not_change_places(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    (_, to_desk), (_, to_phone) = await invite(desk), await invite(phone)
    ends = await asyncio.gather(
        phone.peers.join(to_desk, address=desk.place),
        desk.peers.join(to_phone, address=phone.place),
        return_exceptions=True,
    )
    assert sum(isinstance(end, Refused) for end in ends) >= 1
    _, typed = await invite(desk)
    await phone.peers.join(typed, address=desk.place)
    await in_step(desk, phone)
    await desk.until_linked(phone)


async def test_whoever_joins_calls_the_own_invitation_off(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    own, _ = await invite(phone)
    await phone.peers.join((await invite(desk))[1], address=desk.place)
    assert await stage(phone, own) == "called_off"


async def test_a_paused_device_invites_nobody(fleet: Fleet):
    desk = await fleet.start("desk")
    desk.peers.replication.pause()
    with pytest.raises(Refused) as seen_refusal:
        (await desk.token())
    assert seen_refusal.value.hint == "resume it first: placet sync --resume"


async def test_a_removed_device_invites_nobody_and_what_it_had_open_is_called_off(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    open_then, _ = await invite(phone)
    await phone.peers.devices.leave()
    assert await stage(phone, open_then) == "called_off"
    with pytest.raises(Refused) as seen_refusal:
        await invite(phone)
    assert seen_refusal.value.code is RefusalCode.FORBIDDEN


# -- who answers in the inviter's place --------------------------------------------------------------


@asynccontextmanager
async def impostor(
    folder: Path, says: str, guesses: list[str], *, answers: bool = True
) -> AsyncIterator[str]:
    """Run a device that answers as if it invited, with `says` as its code; note each guess, yield where.

    One that does not answer goes away before anything tests its code.
    """
    clock = GivenClock("impostor")
    identity = load_or_create(folder, clock.randomness)

    async def pair(_: bytes, wire: Wire) -> None:
        inviter = InviterHandshake(
            secret=digit_code.secret(says),
            certificate=identity.certificate,
            host=InviterIntroduction("desk", bytes(16)),
            randomness=clock.randomness,
        )
        await wire.send(inviter.greeting(), LIMIT_S)
        inviter.read_start(await wire.receive(LIMIT_S))
        if not answers:
            await wire.close()
            return
        await wire.send(inviter.answer(), LIMIT_S)
        try:
            inviter.read_proof(await wire.receive(LIMIT_S))
        except WrongSecret:
            guesses.append(says)
        await wire.close()

    listener = Listener(ListenerTrust(identity.file, lambda: True), lambda _: False, pair, pair, QUICK)
    port = await listener.start("127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await listener.stop()


async def test_who_answers_in_the_inviters_place_has_three_guesses_and_the_person_is_told_of_each(
    fleet: Fleet, tmp_path: Path
):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    invited, typed = await invite(desk)
    guesses: list[str] = []
    async with impostor(tmp_path / "impostor", another(typed), guesses) as place:
        for _ in range(TRIES_MAX):
            refused = await refusal(phone, typed, place)
            assert f"another device may have answered at {place}" in refused.hint
        assert (await refusal(phone, typed, place)).hint == "make a new invitation there: placet pair"
        assert len(guesses) == TRIES_MAX
    # Nor elsewhere: which of the two is the right one, nobody knows here.
    assert (await refusal(phone, typed, desk.place)).hint == "make a new invitation there: placet pair"
    assert (await desk.peers.invitations.state(invited.id)).tries_left == TRIES_MAX
    await phone.peers.join((await invite(desk))[1], address=desk.place)


async def test_a_try_that_tested_nothing_costs_none(fleet: Fleet, tmp_path: Path):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    _, typed = await invite(desk)
    async with impostor(tmp_path / "impostor", another(typed), [], answers=False) as place:
        for _ in range(TRIES_MAX):
            assert "pairing broke off" in (await refusal(phone, typed, place)).message
    await phone.peers.join(typed, address=desk.place)


def test_of_many_codes_those_that_were_tried_last_are_counted():
    tried = TriedCodes()
    for _ in range(TRIES_MAX):
        tried.charge_try(b"worn")
    for number in range(TRIED_CODES_MAX - 1):
        tried.charge_try(number.to_bytes(2, "big"))
    with pytest.raises(Refused):
        tried.charge_try(b"worn")


# -- where to ----------------------------------------------------------------------------------------


def test_a_code_goes_to_the_one_device_that_invites():
    nearby = [NearbyInviter("desk", ("10.0.0.1:9", "no address", "[fe80::1%eth0]:9"))]
    assert [
        str(inviter_address)
        for inviter_address in joiner_side.inviter_addresses(None, InvitationOffer(b""), nearby)
    ] == [
        "10.0.0.1:9",
        "[fe80::1%eth0]:9",
    ]


def test_of_several_devices_that_invite_a_person_says_which():
    nearby = [NearbyInviter("desk", ("10.0.0.1:9",)), NearbyInviter("desk", ("10.0.0.2:9",))]
    with pytest.raises(Refused) as seen_refusal:
        joiner_side.inviter_addresses(None, InvitationOffer(b""), nearby)
    assert seen_refusal.value.code is RefusalCode.AMBIGUOUS
    assert "'desk' at 10.0.0.1:9, 'desk' at 10.0.0.2:9" in seen_refusal.value.message


async def test_a_code_without_a_device_that_invites_asks_for_an_address(fleet: Fleet):
    refused = await refusal(await fleet.start("phone"), "493-027", None)
    assert refused.code is RefusalCode.NOT_FOUND
    assert "--addr" in refused.hint


def test_randomness_is_drawn_from_the_clock_that_was_given():
    assert digit_code.draw(GivenClock("a").randomness) == digit_code.draw(GivenClock("a").randomness)
