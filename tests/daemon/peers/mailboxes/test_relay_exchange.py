"""Devices that never meet exchange everything through a relay, whatever it does, and are woken by it.

Never fakes a part of Placet: stores, keys and connections are real, and no device can call another one.
"""

import asyncio
from collections.abc import AsyncIterator, Collection
from pathlib import Path

import msgspec
import pytest

from daemon.clock import SystemClock
from daemon.config import MailboxSettings
from daemon.control.health import mailbox_checks
from daemon.peers.mailboxes.carrier import ListedBlob
from daemon.peers.mailboxes.carrier_choice import Access
from daemon.peers.mailboxes.mailbox_state import MailboxState
from daemon.peers.mailboxes.relay import RelayCarrier
from daemon.refusal import Refused
from daemon.relay.boxes import BoxFile
from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.daemon.peers.mailboxes.devices_apart import assert_equal, make_apart, part
from tests.daemon.relay.running_relay import RunningRelay, relay_in


@pytest.fixture
async def relay(tmp_path: Path) -> AsyncIterator[RunningRelay]:
    async with relay_in(tmp_path / "relay", quota_mib=1) as running:
        yield running


async def use_relay(relay: RunningRelay, *devices: Device) -> None:
    for device in devices:
        await device.peers.mailboxes.add("relay", relay.url, "box", Access(relay.secret))


async def look(*devices: Device) -> list[MailboxState]:
    """Let each device look once, one after the other."""
    return [await device.peers.mailboxes.check("box") for device in devices]


def drops(relay: RunningRelay) -> list[Path]:
    return sorted(path for path in relay.folder.rglob("*.drop") if path.is_file())


async def test_two_devices_are_in_step_within_one_visit_each(fleet: Fleet, relay: RunningRelay) -> None:
    anna, bea = await make_apart(fleet, "anna", "bea")
    await use_relay(relay, anna, bea)
    await look(anna)
    await anna.add("of anna", count=30)
    await bea.add("of bea")
    await look(anna, bea, anna)
    await assert_equal(anna, bea)
    assert len(await bea.titles()) == 31
    await look(bea, anna)
    assert drops(relay) == []


async def test_a_put_wakes_the_other_device_long_before_it_would_look(
    fleet: Fleet, relay: RunningRelay
) -> None:
    devices = await make_apart(fleet, "anna", "bea")
    anna, bea = devices
    # Only what rings makes them look within this test.
    for device in devices:
        seldom = MailboxSettings(look_s=86_400.0)
        device.settings = msgspec.structs.replace(device.settings, mailbox=seldom)
    await part(*devices)
    await use_relay(relay, anna, bea)
    await anna.add("of anna")
    await look(anna)
    await in_step(anna, bea)
    assert await bea.titles() == ["of anna 0"]


async def test_blobs_that_the_relay_mixes_up_halves_or_hides_cost_delay_and_nothing_else(
    fleet: Fleet, relay: RunningRelay
) -> None:
    anna, bea, carl = await make_apart(fleet, "anna", "bea", "carl")
    await use_relay(relay, anna, bea, carl)
    await look(anna, bea, carl)
    await anna.add("of anna")
    await look(anna)
    await carl.add("of carl")
    await look(carl)
    first, *_, last = drops(relay)
    sealed, other = first.read_bytes(), last.read_bytes()
    first.write_bytes(other)
    last.write_bytes(sealed[: len(sealed) // 2])
    haves = sorted(relay.folder.rglob("*.have"))
    haves[0].write_bytes(haves[1].read_bytes())
    await look(bea, anna, carl)
    for drop in drops(relay):
        drop.unlink()
    await look(anna, carl, bea, anna, carl, bea)
    await assert_equal(anna, bea, carl)
    assert len(await bea.titles()) == 2


async def test_a_relay_that_is_away_is_named_and_used_again(fleet: Fleet, relay: RunningRelay) -> None:
    anna, bea = await make_apart(fleet, "anna", "bea")
    await use_relay(relay, anna, bea)
    await relay.stop()
    await anna.add("of anna")
    (state,) = await look(anna)
    assert state.trouble_id == "mailbox-relay-fault"
    await relay.start()
    (later,) = await look(anna)
    assert later.trouble is None
    await look(bea, anna, bea)
    await assert_equal(anna, bea)


async def test_a_box_that_is_full_is_told_by_doctor_and_clears_up(fleet: Fleet, relay: RunningRelay) -> None:
    anna, bea = await make_apart(fleet, "anna", "bea")
    await use_relay(relay, anna, bea)
    await look(anna, bea, anna)
    # Somebody who has the secret fills the box.
    (vault,) = await asyncio.to_thread(lambda: sorted((relay.folder / "blobs" / "box").iterdir()))
    filler = relay.carrier(bytes.fromhex(vault.name))
    kept_bytes = sum(blob.size for blob in await filler.list_blobs())
    await filler.put("ff/x.drop", bytes((1 << 20) - kept_bytes))
    await anna.add("of anna")
    (state,) = await look(anna)
    assert state.trouble_id == "relay-full"
    (check,) = mailbox_checks.check_mailboxes([state])
    assert (check.well, check.code) == (False, "mailbox_full")
    await filler.delete("ff/x.drop")
    (later, _) = await look(anna, bea)
    assert later.trouble is None
    await assert_equal(anna, bea)


async def test_a_full_box_gets_room_by_what_everybody_has(fleet: Fleet, relay: RunningRelay) -> None:
    anna, bea = await make_apart(fleet, "anna", "bea")
    await use_relay(relay, anna, bea)
    await look(anna, bea, anna)
    await anna.add("first", count=60)
    await look(anna)
    await bea.add("then")
    (vault,) = await asyncio.to_thread(lambda: sorted((relay.folder / "blobs" / "box").iterdir()))
    filler = relay.carrier(bytes.fromhex(vault.name))
    kept_bytes = sum(blob.size for blob in await filler.list_blobs())
    await filler.put("ff/x.drop", bytes((1 << 20) - kept_bytes))
    # Bea deletes what she has taken, which makes room for what she writes.
    (state, _) = await look(bea, anna)
    assert state.trouble is None
    await assert_equal(anna, bea)


async def test_the_secret_is_in_a_file_of_its_owner_and_nowhere_else(
    fleet: Fleet, relay: RunningRelay, capfd: pytest.CaptureFixture[str]
) -> None:
    anna, bea = await make_apart(fleet, "anna", "bea")
    await use_relay(relay, anna, bea)
    file = anna.folder / "mailbox_secrets"
    assert relay.secret in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    assert relay.secret not in repr(await look(anna))
    others = [path for path in anna.folder.iterdir() if path.is_file() and path != file]
    assert not any(relay.secret.encode() in path.read_bytes() for path in others)
    await anna.stop()
    await anna.start()
    (state,) = await look(anna)
    assert state.trouble is None
    await anna.peers.mailboxes.remove("box")
    assert relay.secret not in file.read_text()
    out, err = capfd.readouterr()
    assert relay.secret not in out + err


async def test_a_box_whose_secret_is_lost_is_named(fleet: Fleet, relay: RunningRelay) -> None:
    (anna, _) = await make_apart(fleet, "anna", "bea")
    await use_relay(relay, anna)
    await anna.stop()
    (anna.folder / "mailbox_secrets").write_bytes(b"damaged")
    await anna.start()
    (state,) = await look(anna)
    assert state.trouble_id == "relay-secret-lost"


async def test_what_cannot_be_used_is_not_added(fleet: Fleet, relay: RunningRelay) -> None:
    (anna, _) = await make_apart(fleet, "anna", "bea")
    add = anna.peers.mailboxes.add
    with pytest.raises(Refused, match="is not of the form"):
        await add("relay", "/media/stick", "box", Access(relay.secret))
    with pytest.raises(Refused, match="needs its secret"):
        await add("relay", relay.url, "box")
    with pytest.raises(Refused, match="without https"):
        await add("relay", "http://192.0.2.1/box", "box", Access(relay.secret))
    with pytest.raises(Refused, match="not this secret"):
        await add("relay", relay.url, "box", Access("wrong"))
    await use_relay(relay, anna)
    with pytest.raises(Refused, match="already"):
        await add("relay", relay.url.replace("/box", "/other"), "box", Access(relay.secret))
    (state,) = await look(anna)
    assert state.trouble is None


async def test_a_box_with_a_new_secret_is_added_once_more_and_keeps_the_rest(
    fleet: Fleet, relay: RunningRelay
) -> None:
    devices = await make_apart(fleet, "anna", "bea")
    anna, bea = devices
    # After the change, only what rings makes bea look.
    for device in devices:
        seldom = MailboxSettings(look_s=86_400.0)
        device.settings = msgspec.structs.replace(device.settings, mailbox=seldom)
    await part(*devices)
    await use_relay(relay, anna, bea)
    await look(anna, bea, anna)
    old, boxes = relay.secret, BoxFile(str(relay.folder))
    _, secret = boxes.change("box", None, SystemClock().randomness)
    assert secret is not None
    relay.secret = secret
    await anna.add("of anna")
    (state, _) = await look(anna, bea)
    assert state.trouble is not None
    assert "not this secret; if it has a new one, run: placet mailbox add" in state.trouble
    (check,) = mailbox_checks.check_mailboxes([state])
    assert (check.well, check.code) == (False, "mailbox_secret")
    for wrong in ("wrong", old):
        with pytest.raises(Refused, match="not this secret"):
            await anna.peers.mailboxes.add("relay", relay.url, "box", Access(wrong))
    with pytest.raises(Refused, match="needs its secret"):
        await anna.peers.mailboxes.add("relay", relay.url, "box")
    for device in (bea, anna):
        # Whatever it would be called now, the mailbox has the name that it has.
        added = await device.peers.mailboxes.add("relay", relay.url, "another", Access(relay.secret))
        assert (added.name, added.changed, added.trouble) == ("box", True, None)
        assert [reader.name for reader in added.readers] != []
        assert [state.name for state in await device.peers.mailboxes.states()] == ["box"]
    await in_step(anna, bea)
    assert await bea.titles() == ["of anna 0"]
    await anna.restart()
    (later,) = await look(anna)
    assert later.trouble is None
    assert old not in (anna.folder / "mailbox_secrets").read_text()


async def test_a_box_whose_secret_was_lost_is_given_it_again(fleet: Fleet, relay: RunningRelay) -> None:
    (anna, _) = await make_apart(fleet, "anna", "bea")
    await use_relay(relay, anna)
    await anna.stop()
    (anna.folder / "mailbox_secrets").unlink()
    await anna.start()
    (state,) = await look(anna)
    (check,) = mailbox_checks.check_mailboxes([state])
    assert check.code == "mailbox_secret"
    await use_relay(relay, anna)
    (later,) = await look(anna)
    assert later.trouble is None


async def test_a_look_under_way_ends_when_the_secret_changes(
    fleet: Fleet, relay: RunningRelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    (anna, _) = await make_apart(fleet, "anna", "bea")
    await use_relay(relay, anna)
    list_asked = asyncio.Event()

    async def hang(carrier: RelayCarrier, first: Collection[str] = ()) -> list[ListedBlob]:
        list_asked.set()
        return await asyncio.Future()

    with monkeypatch.context() as patch:
        patch.setattr(RelayCarrier, "list_blobs", hang)
        looking = asyncio.create_task(look(anna))
        await list_asked.wait()
    added = await anna.peers.mailboxes.add("relay", relay.url, "box", Access(relay.secret))
    assert (added.changed, added.trouble) == (True, None)
    await looking
