"""A newcomer that is never online together with a member joins through a relay, as often as people do.

Never fakes a part of Placet: the relay is real, and so are the connections to it.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from daemon.peers.mailboxes.carrier_choice import Access
from daemon.refusal import Refused
from daemon.relay.blob_keeper import VAULTS_MAX
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.mailbox_pairing.quiet_devices import invite, look, start_quiet, switch
from tests.daemon.relay.running_relay import RunningRelay, relay_in


@pytest.fixture
async def relay(tmp_path: Path) -> AsyncIterator[RunningRelay]:
    async with relay_in(tmp_path / "relay") as running:
        yield running


async def make_inviter(fleet: Fleet, relay: RunningRelay) -> Device:
    device = await start_quiet(fleet, "laptop")
    await device.peers.mailboxes.add("relay", relay.url, "box", Access(relay.secret))
    return device


def kept_folders(relay: RunningRelay) -> list[Path]:
    return [path for path in (relay.folder / "blobs" / "box").iterdir() if path.is_dir()]


async def test_a_newcomer_needs_nothing_but_the_token(fleet: Fleet, relay: RunningRelay) -> None:
    laptop = await make_inviter(fleet, relay)
    await laptop.add("of laptop", count=20)
    token = await invite(laptop)
    await laptop.stop()

    desktop = await start_quiet(fleet, "desktop")
    joined = await desktop.peers.join(token)
    assert (joined.device_id, joined.waits_for) == (laptop.id.hex(), "box")
    await switch(desktop, laptop)
    await look(laptop)
    await switch(laptop, desktop)
    await look(desktop)
    assert len(await desktop.titles()) == 20
    # It looks there from now on, by the secret that came with the token.
    await desktop.add("of desktop")
    await look(desktop)
    await switch(desktop, laptop)
    await look(laptop)
    assert len(await laptop.titles()) == 21
    # Nothing of the invitation is left, and nothing that a stranger could read.
    assert len(kept_folders(relay)) == 1
    for file in relay.folder.rglob("*"):
        assert file.is_dir() or b"desktop" not in file.read_bytes()


async def test_a_box_bears_any_number_of_invitations_one_after_the_other(
    fleet: Fleet, relay: RunningRelay
) -> None:
    laptop = await make_inviter(fleet, relay)
    await look(laptop)
    for number in range(VAULTS_MAX + 2):
        token = await invite(laptop)
        stranger = await start_quiet(fleet, f"stranger {number}")
        await stranger.peers.join(token)
        await stranger.stop()
    desktop = await start_quiet(fleet, "desktop")
    await desktop.peers.join(await invite(laptop))
    await look(laptop)
    await look(desktop)
    assert {state.name for state in await desktop.peers.devices.states()} == {"laptop", "desktop"}


async def test_a_relay_that_is_away_or_has_no_such_box_keeps_a_newcomer_out_and_says_so(
    fleet: Fleet, relay: RunningRelay
) -> None:
    laptop = await make_inviter(fleet, relay)
    token = await invite(laptop)
    await relay.stop()
    desktop = await start_quiet(fleet, "desktop")
    with pytest.raises(Refused, match="cannot be used"):
        await desktop.peers.join(token)
    assert (await desktop.peers.mailbox_pairing()).joining is None
    await relay.start()
    await desktop.peers.join(token)
    assert (await desktop.peers.mailbox_pairing()).joining is not None
