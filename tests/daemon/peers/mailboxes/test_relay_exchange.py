"""What only the box of a relay can be: full, and behind a secret that is lost or changed.

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
from daemon.peers.mailboxes.relay import RelayCarrier
from daemon.refusal import Refused
from daemon.relay.boxes import BoxFile
from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.daemon.peers.mailboxes.devices_apart import assert_equal, look, make_apart, part
from tests.daemon.relay.running_relay import RunningRelay, relay_in


@pytest.fixture
async def relay(tmp_path: Path) -> AsyncIterator[RunningRelay]:
    async with relay_in(tmp_path / "relay", quota_mib=1) as running:
        yield running


async def use_relay(relay: RunningRelay, *devices: Device) -> None:
    for device in devices:
        await device.peers.mailboxes.add("relay", relay.url, "box", Access(relay.secret))


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
