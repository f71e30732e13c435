"""Who is a member, and what this device alone remembers of its peers.

Never writes a roster that a device could not have written.
"""

import pytest

from daemon.peers import roster
from daemon.peers.identity import certificate_of
from daemon.peers.let_in import let_in
from store import peers as table
from store.peers import Newcomer
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.heads import Clock, Head
from syncproto.ids import DeviceId, ReplicaId
from syncproto.keys import Signer
from tests.daemon.peers.certificates import refused_by_openssl
from tests.daemon.peers.fleet import Device, Fleet

PHONE = Signer(bytes([2]) * 32)
CERTIFICATE = certificate_of(bytes([2]) * 32)
VECTOR: Clock = (Head(ReplicaId(bytes(16)), 7, bytes(8)),)


@pytest.fixture
async def desk(fleet: Fleet) -> Device:
    return await fleet.start("desk")


async def commit(device: Device, *writes: Write | None) -> None:
    made = [write for write in writes if write is not None]
    await device.db.write(lambda one: one.commit(made, by=By.SYSTEM))


async def introduce(device: Device) -> None:
    def use(transaction: Transaction) -> None:
        write = roster.introduce(transaction, "phone", CERTIFICATE, transaction.device)
        assert write is not None
        transaction.commit([write], by=By.SYSTEM)

    await device.db.write(use)


async def test_a_first_start_puts_the_device_in_its_own_roster(desk: Device):
    members = await desk.read(roster.read)
    assert list(members) == [desk.id]
    own = members[desk.id]
    assert (own.name, own.certificate, own.removed) == ("desk", desk.identity.certificate, False)
    assert await desk.read(lambda one: let_in(one, desk.id)) is None


async def test_a_member_is_introduced_once(desk: Device):
    await introduce(desk)
    assert await desk.read(lambda one: roster.introduce(one, "phone", CERTIFICATE)) is None
    member = (await desk.read(roster.read))[PHONE.device]
    assert (member.name, member.public_key) == ("phone", PHONE.public_key)
    entered = await desk.read(lambda one: let_in(one, PHONE.device))
    assert entered is not None
    assert entered.by == desk.id


async def test_a_removed_member_stays_known_and_may_be_introduced_again(desk: Device):
    await introduce(desk)
    await commit(desk, roster.remove(PHONE.device))
    assert (await desk.read(roster.read))[PHONE.device].removed
    await introduce(desk)
    assert not (await desk.read(roster.read))[PHONE.device].removed


async def test_a_deleted_roster_entry_is_a_removed_member(desk: Device):
    await introduce(desk)
    await commit(desk, Write(roster.entity_of(PHONE.device), roster.KIND, {"deleted": True}))
    assert (await desk.read(roster.read))[PHONE.device].removed
    await introduce(desk)
    assert not (await desk.read(roster.read))[PHONE.device].removed


async def test_a_renamed_member_has_its_new_name(desk: Device):
    await introduce(desk)
    await commit(desk, roster.rename(PHONE.device, "pocket"))
    assert (await desk.read(roster.read))[PHONE.device].name == "pocket"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"certificate": "no bytes"},
        {"certificate": b"no certificate"},
        {"certificate": certificate_of(bytes([3]) * 32), "public_key": PHONE.public_key},
        {"certificate": refused_by_openssl(bytes([2]) * 32), "public_key": PHONE.public_key},
    ],
)
async def test_an_entry_that_contradicts_itself_is_no_member(desk: Device, fields):
    await commit(desk, Write(roster.entity_of(PHONE.device), roster.KIND, {"name": "false", **fields}))
    assert list(await desk.read(roster.read)) == [desk.id]


async def test_a_removal_holds_against_an_introduction_that_did_not_know_of_it(fleet: Fleet, desk: Device):
    """Concurrently, one member removes a device and another writes to its entry: the door stays closed."""
    await introduce(desk)
    before = await desk.read(lambda one: one.entity(roster.entity_of(PHONE.device)))
    assert before is not None
    await commit(desk, roster.remove(PHONE.device))
    await commit(
        desk, Write(roster.entity_of(PHONE.device), roster.KIND, {"removed": False}, base=before.clock)
    )
    assert (await desk.read(roster.read))[PHONE.device].removed


async def test_a_bad_certificate_in_the_roster_stops_no_start(desk: Device):
    bad = refused_by_openssl(bytes([2]) * 32)
    await commit(desk, Write(roster.entity_of(PHONE.device), roster.KIND, {"certificate": bad}))
    await desk.restart()
    assert list(await desk.read(roster.read)) == [desk.id]


async def test_a_garbage_certificate_written_at_the_same_time_shuts_no_member_out(desk: Device):
    await commit(desk, Write(roster.entity_of(PHONE.device), roster.KIND, {"name": "phone"}))
    before = await desk.read(lambda one: one.entity(roster.entity_of(PHONE.device)))
    assert before is not None
    for certificate in (b"garbage", CERTIFICATE, certificate_of(bytes([3]) * 32), 7):
        write = Write(
            roster.entity_of(PHONE.device), roster.KIND, {"certificate": certificate}, base=before.clock
        )
        await commit(desk, write)
    assert (await desk.read(roster.read))[PHONE.device].certificate == CERTIFICATE


@pytest.mark.parametrize("certificate", [b"garbage", certificate_of(bytes([3]) * 32), 7, None])
async def test_a_certificate_that_is_none_written_after_a_good_one_shuts_no_member_out(
    desk: Device, certificate: Value
):
    await introduce(desk)
    await commit(desk, Write(roster.entity_of(PHONE.device), roster.KIND, {"certificate": certificate}))
    await commit(desk, Write(roster.entity_of(PHONE.device), roster.KIND, {"name": "my phone"}))
    member = (await desk.read(roster.read))[PHONE.device]
    assert (member.certificate, member.name, member.removed) == (CERTIFICATE, "my phone", False)
    assert await desk.read(lambda one: roster.introduce(one, "my phone", CERTIFICATE)) is None
    await commit(desk, roster.remove(PHONE.device))
    assert (await desk.read(roster.read))[PHONE.device].removed


async def test_a_removed_device_with_a_bad_certificate_is_let_in_again(desk: Device):
    fields: dict[str, Value] = {"certificate": b"garbage", "removed": True}
    await commit(desk, Write(roster.entity_of(PHONE.device), roster.KIND, fields))
    await introduce(desk)
    assert not (await desk.read(roster.read))[PHONE.device].removed


# -- what this device alone remembers ----------------------------------------------------------------------


async def test_addresses_are_kept_best_first_and_bounded(desk: Device):
    def use(transaction: Transaction) -> dict[DeviceId, list[str]]:
        table.suggest_addresses(transaction, PHONE.device, [f"192.0.2.{one}:7" for one in range(40)])
        table.note_good_address(transaction, PHONE.device, "198.51.100.1:7")
        table.suggest_addresses(transaction, PHONE.device, ["198.51.100.1:7"])
        return table.addresses(transaction)

    known = (await desk.db.write(use))[PHONE.device]
    assert known[0] == "198.51.100.1:7"
    assert len(known) == table.ADDRESSES_MAX


async def test_what_a_peer_held_is_remembered(desk: Device):
    def use(transaction: Transaction) -> dict[DeviceId, table.Heard]:
        table.note_heard(transaction, PHONE.device, (), 1)
        table.note_heard(transaction, PHONE.device, VECTOR, 2)
        return table.heard(transaction)

    assert (await desk.db.write(use))[PHONE.device].vector == VECTOR


async def test_a_newcomer_counts_until_its_time_is_over(desk: Device):
    now = desk.clock.now_ms()
    early = Newcomer(PHONE.device, CERTIFICATE, "phone", ("192.0.2.1:7", "192.0.2.2:7"), now - 1)
    late = Newcomer(DeviceId(bytes(32)), b"x", "other", (), now + 100_000)

    def use(transaction: Transaction) -> tuple[list[Newcomer], list[Newcomer]]:
        table.await_newcomer(transaction, early)
        first = table.newcomers(transaction, 0)
        table.await_newcomer(transaction, late)
        return first, table.newcomers(transaction, 0)

    first, second = await desk.db.write(use)
    assert first == [early]
    assert second == [late]
    await desk.db.write(lambda one: table.settle_newcomer(one, late.device))
    assert await desk.read(lambda one: table.newcomers(one, 0)) == []


async def test_a_device_is_forgotten(desk: Device):
    def use(transaction: Transaction) -> tuple[dict[DeviceId, list[str]], list[Newcomer]]:
        table.suggest_addresses(transaction, PHONE.device, ["192.0.2.1:7"])
        table.await_newcomer(transaction, Newcomer(PHONE.device, CERTIFICATE, "phone", (), 1 << 50))
        table.forget(transaction, PHONE.device)
        return table.addresses(transaction), table.newcomers(transaction, 0)

    assert await desk.db.write(use) == ({}, [])


async def test_only_what_is_no_roster_counts_as_a_journal(desk: Device):
    assert not await desk.read(table.holds_journal)
    await introduce(desk)
    assert not await desk.read(table.holds_journal)
    await desk.add("a task")
    assert await desk.read(table.holds_journal)
