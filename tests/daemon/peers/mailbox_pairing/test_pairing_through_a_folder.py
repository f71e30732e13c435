"""A newcomer that is never online together with a member joins through a folder, whatever becomes of it.

Never fakes a part of Placet: stores, keys and files are real, and only one device runs at a time.
"""

import asyncio
from pathlib import Path

import pytest

from daemon.peers.mailbox_pairing import mailbox_token
from daemon.peers.mailboxes.carrier import CarrierFault
from daemon.peers.mailboxes.folder import FolderCarrier
from daemon.refusal import Refused
from store.sentence import foreign_text
from syncproto.mailboxes import invitations
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.mailbox_pairing.quiet_devices import invite, look, start_quiet, switch


async def make_inviter(fleet: Fleet, folder: Path, name: str = "laptop") -> Device:
    """Return a device that looks into a folder."""
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    device = await start_quiet(fleet, name)
    await device.peers.mailboxes.add("folder", str(folder), "box")
    return device


async def meet_in_turns(first: Device, second: Device, *, turns: int = 3) -> None:
    """Let two devices, the first of which runs, look in turns; at the end the first one runs."""
    for _ in range(turns):
        await look(first)
        await switch(first, second)
        await look(second)
        await switch(second, first)
    await look(first)


async def assert_joined(laptop: Device, desktop: Device) -> None:
    """Check that both have the same, the first one of which runs."""
    state = await laptop.standing()
    members = await laptop.peers.devices.states()
    assert sorted(member.name for member in members) == ["desktop", "laptop"]
    await switch(laptop, desktop)
    assert await desktop.standing() == state
    await switch(desktop, laptop)


def invitation_blobs(folder: Path, token: str) -> list[Path]:
    offer = mailbox_token.read(token)
    assert offer is not None
    place = folder / invitations.names_of(offer.secret).tag.hex()
    return sorted(place.iterdir()) if place.exists() else []


async def test_a_newcomer_is_brought_up_by_the_folder_alone(fleet: Fleet, tmp_path: Path):
    folder = tmp_path / "box"
    laptop = await make_inviter(fleet, folder)
    await laptop.add("of laptop", count=20)
    token = await invite(laptop)
    await laptop.stop()

    desktop = await start_quiet(fleet, "desktop")
    joined = await desktop.peers.join(token, mailbox=str(folder))
    assert (joined.device_id, joined.waits_for) == (laptop.id.hex(), "box")
    assert await desktop.titles() == []
    await switch(desktop, laptop)
    await look(laptop)

    # One look of the laptop was enough: the desktop is in, and has everything.
    await switch(laptop, desktop)
    await look(desktop)
    assert len(await desktop.titles()) == 20
    assert [state.name for state in await desktop.peers.mailboxes.states()] == ["box"]
    await desktop.add("of desktop")
    await look(desktop)
    await switch(desktop, laptop)
    await look(laptop)
    assert len(await laptop.titles()) == 21
    await meet_in_turns(laptop, desktop, turns=1)
    await assert_joined(laptop, desktop)
    assert invitation_blobs(folder, token) == []
    (member,) = [state for state in await laptop.peers.devices.states() if state.name == "desktop"]
    assert member.added_by == "laptop"


async def test_a_third_device_that_looks_there_delays_and_prevents_nothing(fleet: Fleet, tmp_path: Path):
    folder = tmp_path / "box"
    laptop = await make_inviter(fleet, folder)
    phone = await start_quiet(fleet, "phone")
    await fleet.pair(laptop, phone)
    await phone.peers.mailboxes.add("folder", str(folder), "box")
    await laptop.add("of laptop", count=5)
    await look(laptop)
    await look(phone)
    token = await invite(laptop)
    desktop = await start_quiet(fleet, "desktop")
    await desktop.peers.join(token, mailbox=str(folder))
    for _ in range(3):
        for device in (laptop, phone, desktop):
            await look(device)
    assert len(await desktop.titles()) == 5
    assert await desktop.standing() == await laptop.standing() == await phone.standing()


async def test_what_is_under_way_is_shown_until_it_is_over_and_without_a_secret(fleet: Fleet, tmp_path: Path):
    folder = tmp_path / "box"
    laptop = await make_inviter(fleet, folder)
    token = await invite(laptop)
    offer = mailbox_token.read(token)
    assert offer is not None
    under_way = await laptop.peers.mailbox_pairing()
    ((invitation,), nothing) = under_way.invitations, under_way.joining
    assert (invitation.mailbox, nothing) == ("box", None)
    desktop = await start_quiet(fleet, "desktop")
    await desktop.peers.join(token, mailbox=str(folder))
    under_way = await desktop.peers.mailbox_pairing()
    assert under_way.joining is not None
    assert (under_way.joining.mailbox, under_way.joining.inviter_id) == ("box", laptop.id.hex())
    assert offer.secret.hex() not in str(under_way)
    for device in (laptop, desktop, laptop):
        await look(device)
    for device in (laptop, desktop):
        under_way = await device.peers.mailbox_pairing()
        assert (under_way.invitations, under_way.joining) == ([], None)
    await invite(laptop)
    laptop.clock.ahead_s += 8 * 86_400
    assert (await laptop.peers.mailbox_pairing()).invitations == []


@pytest.mark.parametrize("vandal", ["deletes", "garbage", "halves"])
async def test_whoever_keeps_the_folder_can_only_delay(fleet: Fleet, tmp_path: Path, vandal: str):
    folder = tmp_path / "box"
    laptop = await make_inviter(fleet, folder)
    token = await invite(laptop)
    await laptop.stop()
    desktop = await start_quiet(fleet, "desktop")
    await desktop.peers.join(token, mailbox=str(folder))

    def spoil() -> None:
        for blob in invitation_blobs(folder, token):
            if vandal == "deletes":
                blob.unlink()
            else:
                blob.write_bytes(b"no blob" if vandal == "garbage" else blob.read_bytes()[:100])

    for first, second in ((desktop, laptop), (laptop, desktop)):
        await asyncio.to_thread(spoil)
        await look(first)
        await asyncio.to_thread(spoil)
        await switch(first, second)
        await look(second)
        await asyncio.to_thread(spoil)
    await switch(desktop, laptop)
    await meet_in_turns(laptop, desktop)
    await assert_joined(laptop, desktop)


async def test_an_invitation_lets_in_one_device_and_says_so_to_the_second(fleet: Fleet, tmp_path: Path):
    folder = tmp_path / "box"
    laptop = await make_inviter(fleet, folder)
    token = await invite(laptop)
    desktop = await start_quiet(fleet, "desktop")
    await desktop.peers.join(token, mailbox=str(folder))
    await look(laptop)
    thief = await start_quiet(fleet, "thief")
    await thief.peers.join(token, mailbox=str(folder))
    await look(laptop)
    with pytest.raises(Refused, match="another device has used"):
        await thief.peers.joiner.look()
    await look(desktop)
    await look(laptop)
    names = {state.name for state in await laptop.peers.devices.states()}
    assert names == {"laptop", "desktop"}
    # And once the desktop was removed, its old token does not bring it back.
    await laptop.peers.devices.remove("desktop", with_admitted=False)
    await look(laptop)
    await thief.peers.join(token, mailbox=str(folder))
    await look(laptop)
    with pytest.raises(Refused, match="another device has used"):
        await thief.peers.joiner.look()
    assert {state.name for state in await laptop.peers.devices.states() if not state.removed} == {"laptop"}


async def test_an_expired_invitation_and_one_that_was_replaced_let_nobody_in(fleet: Fleet, tmp_path: Path):
    folder = tmp_path / "box"
    laptop = await make_inviter(fleet, folder)
    desktop = await start_quiet(fleet, "desktop")
    first = await invite(laptop)
    second = await invite(laptop)
    await desktop.peers.join(first, mailbox=str(folder))
    await look(laptop)
    await look(desktop)
    assert await desktop.peers.mailboxes.states() == []
    await desktop.peers.join(second, mailbox=str(folder))
    laptop.clock.ahead_s += 8 * 86_400
    await look(laptop)
    await look(desktop)
    assert await desktop.peers.mailboxes.states() == []
    # The newcomer gives up in the end, by its own clock.
    desktop.clock.ahead_s += 15 * 86_400
    await look(desktop)
    assert not (desktop.folder / "mailbox_pairing").read_bytes().count(b"inviter")


@pytest.mark.parametrize("meanwhile", ["a week", "another invitation", "a start", "the mailbox is removed"])
async def test_whoever_was_let_in_finds_the_answer_later(fleet: Fleet, tmp_path: Path, meanwhile: str):
    folder = tmp_path / "box"
    laptop = await make_inviter(fleet, folder)
    token = await invite(laptop)
    desktop = await start_quiet(fleet, "desktop")
    await desktop.peers.join(token, mailbox=str(folder))
    await desktop.stop()
    await look(laptop)
    if meanwhile == "a week":
        laptop.clock.ahead_s += 8 * 86_400
    elif meanwhile == "another invitation":
        await invite(laptop)
    elif meanwhile == "a start":
        await laptop.restart()
    else:
        await laptop.peers.remove_mailbox("box")
        await laptop.peers.mailboxes.add("folder", str(folder), "box")
    await look(laptop)
    await switch(laptop, desktop)
    await look(desktop)
    assert {state.name for state in await desktop.peers.devices.states()} == {"laptop", "desktop"}


async def test_an_answer_that_was_spoiled_alone_is_left_again(fleet: Fleet, tmp_path: Path):
    folder = tmp_path / "box"
    laptop = await make_inviter(fleet, folder)
    token = await invite(laptop)
    desktop = await start_quiet(fleet, "desktop")
    await desktop.peers.join(token, mailbox=str(folder))
    await look(laptop)
    (answer,) = (blob for blob in invitation_blobs(folder, token) if blob.suffix == ".drop")
    answer.write_bytes(answer.read_bytes()[:100])
    for device in (desktop, laptop, desktop):
        await look(device)
    assert len(await desktop.peers.devices.states()) == 2


async def test_nothing_of_an_invitation_stays_in_the_folder(fleet: Fleet, tmp_path: Path):
    folder = tmp_path / "box"
    laptop = await make_inviter(fleet, folder)
    first = await invite(laptop)
    desktop = await start_quiet(fleet, "desktop")
    await desktop.peers.join(first, mailbox=str(folder))
    # A week later, after a start that forgot what was seen there, the request is cleared up.
    laptop.clock.ahead_s += 8 * 86_400
    await laptop.restart()
    await look(laptop)
    assert invitation_blobs(folder, first) == []
    # And the newcomer takes its request back when it waits no more.
    await look(desktop)
    assert len(invitation_blobs(folder, first)) == 1
    desktop.clock.ahead_s += 15 * 86_400
    await look(desktop)
    assert [path for path in folder.iterdir() if path.suffix == "" and not list(path.iterdir())] == []
    assert invitation_blobs(folder, first) == []


@pytest.mark.parametrize("ending", [".have", ".drop"])
async def test_an_old_request_or_answer_that_is_put_back_brings_nobody_in(
    fleet: Fleet, tmp_path: Path, ending: str
):
    folder = tmp_path / "box"
    laptop = await make_inviter(fleet, folder)
    token = await invite(laptop)
    desktop = await start_quiet(fleet, "desktop")
    await desktop.peers.join(token, mailbox=str(folder))
    kept = {blob: blob.read_bytes() for blob in invitation_blobs(folder, token)}
    await look(laptop)
    kept |= {blob: blob.read_bytes() for blob in invitation_blobs(folder, token)}
    assert {blob.suffix for blob in kept} == {".have", ".drop"}
    await look(desktop)
    await look(laptop)
    assert len(await desktop.peers.devices.states()) == 2
    await laptop.peers.devices.remove("desktop", with_admitted=False)
    members = await laptop.peers.devices.states()
    for restart in (False, True):
        for blob, content in kept.items():
            if blob.suffix == ending:
                await asyncio.to_thread(blob.parent.mkdir, exist_ok=True)
                await asyncio.to_thread(blob.write_bytes, content)
        if restart:
            await laptop.restart()
        await look(laptop)
        await look(desktop)
        after = await laptop.peers.devices.states()
        assert [(state.name, state.removed) for state in after] == [
            (state.name, state.removed) for state in members
        ]
    # Nor does it at another invitation, whose secret is another one.
    await invite(laptop)
    await look(laptop)
    assert {state.name for state in await laptop.peers.devices.states() if not state.removed} == {"laptop"}


async def test_a_clock_that_is_a_year_off_at_the_newcomer_matters_not(fleet: Fleet, tmp_path: Path):
    folder = tmp_path / "box"
    laptop = await make_inviter(fleet, folder)
    token = await invite(laptop)
    desktop = await start_quiet(fleet, "desktop")
    desktop.clock.ahead_s += 365 * 86_400
    await desktop.peers.join(token, mailbox=str(folder))
    await look(laptop)
    await look(desktop)
    assert len(await desktop.peers.devices.states()) == 2


async def test_an_inviter_that_was_removed_lets_nobody_in(fleet: Fleet, tmp_path: Path):
    folder = tmp_path / "box"
    laptop = await make_inviter(fleet, folder)
    phone = await start_quiet(fleet, "phone")
    await fleet.pair(laptop, phone)
    token = await invite(laptop)
    desktop = await start_quiet(fleet, "desktop")
    await desktop.peers.join(token, mailbox=str(folder))
    await laptop.peers.devices.leave()
    await laptop.peers.mailboxes.check_all()
    await look(desktop)
    assert await desktop.peers.mailboxes.states() == []


async def test_entries_of_its_own_come_along_only_if_a_person_says_so(fleet: Fleet, tmp_path: Path):
    folder = tmp_path / "box"
    laptop = await make_inviter(fleet, folder)
    token = await invite(laptop)
    desktop = await start_quiet(fleet, "desktop")
    await desktop.add("of desktop")
    with pytest.raises(Refused, match="entries of its own"):
        await desktop.peers.join(token, mailbox=str(folder))
    with pytest.raises(Refused, match="folder that both devices reach"):
        await desktop.peers.join(token, unite=True)
    with pytest.raises(Refused, match="cannot be used"):
        await desktop.peers.join(token, mailbox=str(tmp_path / "missing"), unite=True)
    await desktop.peers.join(token, mailbox=str(folder), unite=True)
    for device in (laptop, desktop, laptop):
        await look(device)
    assert await laptop.titles() == ["of desktop 0"]


async def test_the_secret_lies_in_no_store_and_not_in_the_folder(fleet: Fleet, tmp_path: Path):
    folder = tmp_path / "box"
    laptop = await make_inviter(fleet, folder)
    token = await invite(laptop)
    offer = mailbox_token.read(token)
    assert offer is not None
    desktop = await start_quiet(fleet, "desktop")
    await desktop.peers.join(token, mailbox=str(folder))
    await look(laptop)
    for device in (laptop, desktop):
        await device.stop()
        assert (device.folder / "mailbox_pairing").stat().st_mode & 0o777 == 0o600
        for file in device.folder.glob("placet.db*"):
            assert offer.secret not in file.read_bytes()
        await device.start()
    for blob in folder.rglob("*"):
        assert blob.is_dir() or offer.secret not in blob.read_bytes()
        assert blob.is_dir() or b"desktop" not in blob.read_bytes()


@pytest.mark.parametrize("ends", ["before", "after"])
@pytest.mark.parametrize("who", ["laptop", "desktop"])
async def test_either_process_may_end_at_each_use_of_the_folder(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, who: str, ends: str
):
    folder = tmp_path / "box"
    laptop = await make_inviter(fleet, folder)
    await laptop.add("of laptop", count=3)
    token = await invite(laptop)
    await laptop.stop()
    desktop = await start_quiet(fleet, "desktop")
    await desktop.peers.join(token, mailbox=str(folder))
    await switch(desktop, laptop)
    run = FolderCarrier._run
    left = 0

    async def run_until_death(self: FolderCarrier, work: object) -> object:
        nonlocal left
        left -= 1
        if left == 0 and ends == "before":
            raise CarrierFault(foreign_text("the process ends here"))
        outcome: object = await run(self, work)  # type: ignore[arg-type]
        if left == 0:
            raise CarrierFault(foreign_text("the process ends here"))
        return outcome

    monkeypatch.setattr(FolderCarrier, "_run", run_until_death)
    devices = {"laptop": laptop, "desktop": desktop}
    for uses in range(1, 12):
        for name, other in (("laptop", "desktop"), ("desktop", "laptop")):
            left = uses if name == who else 0
            try:
                await look(devices[name])
            except CarrierFault:
                pass
            left = 0
            await switch(devices[name], devices[other])
    await meet_in_turns(laptop, desktop)
    await assert_joined(laptop, desktop)
    assert invitation_blobs(folder, token) == []
    assert len(await laptop.titles()) == 3
