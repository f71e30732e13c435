"""Random histories of pairing through a mailbox that does what it likes, while processes die at any step.

Never fakes a part of Placet but the mailbox: stores, keys and files are real. A seed gives the history.
"""

from pathlib import Path
from typing import Any

import pytest

from daemon.peers.mailbox_pairing import inviter
from daemon.peers.mailboxes.carrier import CarrierFault
from daemon.peers.mailboxes.carrier_choice import CarrierChoice
from daemon.peers.network import PeerNetwork
from daemon.refusal import Refused
from store.local.mailboxes import Mailbox
from store.threads import StoreThreads
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.mailbox_pairing.hostile_place import HostileCarrier, HostilePlace
from tests.daemon.peers.mailbox_pairing.quiet_devices import invite, look, start_quiet

HISTORIES = 24
BROKEN_HISTORIES = 200
STEPS = 14
HEALING_ROUNDS = 4
NOWHERE = "127.0.0.1:1"


def use_place(monkeypatch: pytest.MonkeyPatch, place: HostilePlace) -> None:
    """Have every mailbox be this place, every write of a store risky, and no device reach another one."""

    async def make(_: CarrierChoice, stored: Mailbox, tag: bytes, given: str | None = None) -> HostileCarrier:
        del stored, given
        return HostileCarrier(place, tag)

    write = StoreThreads.write

    async def write_or_die(db: StoreThreads, use: Any) -> Any:
        return await place.survive(lambda: write(db, use))

    monkeypatch.setattr(CarrierChoice, "make", make)
    monkeypatch.setattr(StoreThreads, "write", write_or_die)
    monkeypatch.setattr(PeerNetwork, "_own_addresses", lambda _: [NOWHERE])


async def look_or_die(place: HostilePlace, device: Device) -> None:
    """Let a device look; if its process dies meanwhile, start it again."""
    deaths = place.deaths
    place.is_hostile = True
    try:
        await look(device)
    except (CarrierFault, Refused):
        pass
    finally:
        place.is_hostile = False
    if place.deaths != deaths:
        await device.restart()


async def names_in(device: Device) -> set[str]:
    return {state.name for state in await device.peers.devices.states() if not state.removed}


async def vault_of(device: Device) -> bytes | None:
    return await device.read(lambda snapshot: snapshot.vault())


async def assert_nobody_is_half_in(laptop: Device, desktop: Device) -> None:
    """Check that nobody but the newcomer is in, and that it does not take itself for a member alone."""
    names = await names_in(laptop)
    assert names <= {"laptop", "desktop"}
    if await vault_of(desktop) == await vault_of(laptop):
        assert "desktop" in names


async def live_through(place: HostilePlace, laptop: Device, desktop: Device) -> bool:
    """Live through one history; return whether the newcomer is in on both sides."""
    token = await invite(laptop)
    await desktop.peers.join(token, mailbox="/anywhere")
    ends = place.random.choice(["", "a week", "another invitation"])
    for step in range(STEPS):
        if ends and step == STEPS // 3:
            if ends == "a week":
                laptop.clock.ahead_s += 8 * 86_400
            else:
                await invite(laptop)
        for _ in range(place.random.randrange(3)):
            place.meddle()
        await look_or_die(place, place.random.choice([laptop, desktop]))
        await assert_nobody_is_half_in(laptop, desktop)
    for _ in range(HEALING_ROUNDS):
        for device in (laptop, desktop):
            await look(device)
    await assert_nobody_is_half_in(laptop, desktop)
    is_in = "desktop" in await names_in(laptop)
    assert is_in or ends, "the invitation was open, and nobody came in"
    assert is_in == (await vault_of(desktop) == await vault_of(laptop)), "a member on one side alone"
    if is_in:
        assert await laptop.standing() == await desktop.standing()
    return is_in


async def start_both(fleet: Fleet) -> tuple[Device, Device]:
    laptop, desktop = await start_quiet(fleet, "laptop"), await start_quiet(fleet, "desktop")
    await laptop.peers.mailboxes.add("folder", "/anywhere", "box")
    await laptop.add("of laptop", count=2)
    return laptop, desktop


@pytest.mark.parametrize("seed", range(HISTORIES))
async def test_both_are_members_or_neither_and_nobody_else(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    place = HostilePlace(seed)
    use_place(monkeypatch, place)
    await live_through(place, *await start_both(fleet))


@pytest.mark.parametrize("broken", ["answers once", "forgets who was let in after a week"])
async def test_histories_find_an_inviter_that_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    if broken == "answers once":
        find = inviter._find_unanswered
        monkeypatch.setattr(
            inviter,
            "_find_unanswered",
            lambda listed, look: [] if any(look.answered.values()) else find(listed, look),
        )
    else:
        monkeypatch.setattr(inviter, "ANSWERED_MS", 0)
    for seed in range(BROKEN_HISTORIES):
        place, fleet = HostilePlace(seed), Fleet(tmp_path / str(seed))
        use_place(monkeypatch, place)
        try:
            await live_through(place, *await start_both(fleet))
        except AssertionError:
            return
        finally:
            for device in fleet.devices:
                await device.stop()
    raise AssertionError("no history found it")
