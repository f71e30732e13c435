"""What only NATS can be: a cluster, a stream that is purged, deleted or full, and a client that is missing.

Never fakes a part of Placet or of NATS: stores, keys, servers and connections are real.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from daemon.control.health import mailbox_checks
from daemon.peers.mailboxes import carrier_choice
from daemon.peers.mailboxes.carrier import CarrierFault
from daemon.peers.mailboxes.carrier_choice import Access
from daemon.refusal import Refused
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.mailboxes.devices_apart import assert_equal, look, make_apart
from tests.daemon.peers.mailboxes.running_nats import PATIENT, SECRET, RunningNats, nats_in

pytestmark = pytest.mark.external("nats-server")


@pytest.fixture
async def nats(tmp_path: Path) -> AsyncIterator[RunningNats]:
    async with nats_in(tmp_path / "nats", query="?mib=1") as running:
        yield running


async def use_nats(nats: RunningNats, *devices: Device) -> None:
    for device in devices:
        await device.peers.mailboxes.add("nats", nats.url, "box", Access(SECRET))


@pytest.mark.slow
async def test_a_cluster_of_three_loses_each_server_once_and_nothing_else(
    fleet: Fleet, tmp_path: Path
) -> None:
    async with nats_in(tmp_path / "nats", count=3) as nats:
        anna, bea = await make_apart(fleet, "anna", "bea")
        await use_nats(nats, anna, bea)
        await look(anna, bea)
        for number, server in enumerate(nats.servers):
            await server.kill()
            await anna.add(f"of anna without server {number}")
            await bea.add(f"of bea without server {number}")
            states = await look(anna, bea, anna, bea)
            assert [state.trouble for state in states] == [None] * 4
            await assert_equal(anna, bea)
            # Two at a time are too many: the next one waits until this one has what the others have.
            await server.start()
            await server.until_well()
        assert len(await anna.titles()) == 6


async def test_a_stream_that_is_purged_or_deleted_costs_delay_and_nothing_else(
    fleet: Fleet, nats: RunningNats
) -> None:
    anna, bea = await make_apart(fleet, "anna", "bea")
    await use_nats(nats, anna, bea)
    await look(anna, bea, anna)
    await anna.add("before")
    await look(anna)
    async with nats.open_streams() as stream:
        await stream.purge_stream("box")
    states = await look(bea, anna, bea, anna)
    assert [state.trouble for state in states] == [None] * 4
    await assert_equal(anna, bea)
    await bea.add("after")
    await look(bea)
    async with nats.open_streams() as stream:
        await stream.delete_stream("box")
    states = await look(anna, bea, anna, bea)
    assert [state.trouble for state in states] == [None] * 4
    await assert_equal(anna, bea)
    assert sorted(await anna.titles()) == ["after 0", "before 0"]


async def test_a_full_stream_is_told_by_doctor_and_gets_room(fleet: Fleet, nats: RunningNats) -> None:
    anna, bea = await make_apart(fleet, "anna", "bea")
    await use_nats(nats, anna, bea)
    await look(anna, bea, anna)
    await anna.add("first", count=60)
    await look(anna)
    filler = nats.carrier(bytes([9]) * 16)
    async with nats.open_streams() as stream:
        used = (await stream.stream_info("box")).state.bytes
    await filler.put("ff/x.drop", bytes((1 << 20) - used - 2048))
    await anna.add("of anna", count=60)
    (state,) = await look(anna)
    assert state.trouble_id == "relay-full"
    (check,) = mailbox_checks.check_mailboxes([state])
    assert (check.well, check.code) == (False, "mailbox_full")
    # Bea says what she has, which has room, and Anna deletes it, which makes room.
    states = await look(bea, anna, bea, anna)
    assert states[-1].trouble is None
    await filler.delete("ff/x.drop")
    await look(anna, bea)
    await assert_equal(anna, bea)


async def test_what_cannot_be_used_is_not_added(
    fleet: Fleet, nats: RunningNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    (anna, _) = await make_apart(fleet, "anna", "bea")
    add = anna.peers.mailboxes.add
    with pytest.raises(Refused, match="is not of the form"):
        await add("nats", "/media/stick", "box", Access(SECRET))
    with pytest.raises(Refused, match="needs its secret"):
        await add("nats", nats.url, "box")
    with pytest.raises(Refused, match="without tls"):
        await add("nats", "nats://192.0.2.1/box", "box", Access(SECRET))
    with pytest.raises(Refused, match="does not take this user or secret"):
        await add("nats", nats.url, "box", Access("placet:wrong"))
    with monkeypatch.context() as patch:
        patch.setattr(carrier_choice, "find_spec", lambda name: None)
        with pytest.raises(Refused, match="install placet with the extra nats"):
            await add("nats", nats.url, "box", Access(SECRET))
    await use_nats(nats, anna)
    (state,) = await look(anna)
    assert state.trouble is None


async def test_a_mailbox_whose_client_was_removed_is_named(
    fleet: Fleet, nats: RunningNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    (anna, _) = await make_apart(fleet, "anna", "bea")
    await use_nats(nats, anna)
    await anna.stop()
    monkeypatch.setattr(carrier_choice, "find_spec", lambda name: None)
    await anna.start()
    (state,) = await look(anna)
    assert state.trouble_id == "nats-not-installed"


async def test_a_token_is_taken_and_one_with_a_colon_is_read_as_a_user(tmp_path: Path) -> None:
    async with nats_in(tmp_path / "plain", authorization='token: "s3cret-token"') as nats:
        carrier = nats.carrier(secret="s3cret-token")
        await carrier.put("aa.have", b"sealed")
        assert [blob.name for blob in await carrier.list_blobs()] == ["aa.have"]
        with pytest.raises(CarrierFault, match="does not take this user or secret"):
            await nats.carrier(secret="another-token").list_blobs()
    # The guide says so: what stands before the first colon is the user.
    async with nats_in(tmp_path / "colon", authorization='token: "s3cret:token"') as nats:
        with pytest.raises(CarrierFault, match="does not take this user or secret"):
            await nats.carrier(secret="s3cret:token").list_blobs()


async def test_parts_without_their_first_one_are_no_blob_and_go_in_the_end(tmp_path: Path) -> None:
    async with nats_in(tmp_path / "nats") as nats:
        carrier = nats.carrier(times=PATIENT._replace(headless_s=0.0))
        await carrier.put("aa/1.drop", bytes(600_000))
        await carrier.put("aa/2.drop", b"whole")
        async with nats.open_streams() as stream:
            holdings = await stream.stream_info("box", subjects_filter="box.>")
            subjects = [subject for subject in holdings.state.subjects if ".1.drop." in subject]
            (first_part,) = [subject for subject in subjects if subject.endswith(".0")]
            await stream.purge_stream("box", subject=first_part)
            patient = nats.carrier()
            assert [blob.name for blob in await patient.list_blobs()] == ["aa/2.drop"]
            assert await patient.get("aa/1.drop", 1_000_000) is None
            assert (await stream.stream_info("box")).state.messages == 3
            assert [blob.name for blob in await carrier.list_blobs()] == ["aa/2.drop"]
            assert (await stream.stream_info("box")).state.messages == 1
        assert await carrier.get("aa/2.drop", 100) == b"whole"


async def test_a_blob_whose_first_part_is_lost_is_put_again(fleet: Fleet, nats: RunningNats) -> None:
    anna, bea = await make_apart(fleet, "anna", "bea")
    await use_nats(nats, anna, bea)
    await look(anna, bea)
    await anna.add("of anna", count=3)
    await look(anna)
    async with nats.open_streams() as stream:
        holdings = await stream.stream_info("box", subjects_filter="box.>")
        for subject in holdings.state.subjects:
            if ".drop." in subject and subject.endswith(".0"):
                await stream.purge_stream("box", subject=subject)
    await look(bea, anna, bea)
    await assert_equal(anna, bea)
