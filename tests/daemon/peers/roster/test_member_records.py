"""Who is a member, and what this device alone remembers of its peers.

Never writes a roster that a device could not have written.
"""

from dataclasses import replace

import pytest

from daemon.peers.roster import member_records
from daemon.peers.roster.admission_log import find_admitter
from daemon.peers.transport.identity import certificate_from_seed
from store.local import peer_records as table
from store.local.peer_records import Newcomer
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import BASE_HEADS_MAX, AuthorKind
from syncproto.ids import DeviceId, ReplicaId
from syncproto.keys import Signer
from syncproto.vector_clock import EMPTY_CLOCK, Head, VectorClock
from tests.daemon.peers.certificates import refused_by_openssl
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.roster.rosters import EVIL, first_commit, take
from tests.support.stores import operation

PHONE = Signer(bytes([2]) * 32)
CERTIFICATE = certificate_from_seed(bytes([2]) * 32)
VECTOR: VectorClock = (Head(ReplicaId(bytes(16)), 7, bytes(32)),)


@pytest.fixture
async def desk(fleet: Fleet) -> Device:
    return await fleet.start("desk")


async def commit(device: Device, *writes: EntityWrite | None) -> None:
    entity_writes = [write for write in writes if write is not None]
    await device.db.write(lambda tx: tx.commit(entity_writes, by=AuthorKind.SYSTEM))


async def introduce(device: Device) -> None:
    def use(transaction: Transaction) -> None:
        assert member_records.introduce(transaction, "phone", CERTIFICATE, transaction.device)
        assert not member_records.introduce(transaction, "phone", CERTIFICATE, transaction.device)

    await device.db.write(use)


async def test_a_first_start_puts_the_device_in_its_own_roster(desk: Device):
    members = await desk.read(member_records.read_members)
    assert list(members) == [desk.id]
    own = members[desk.id]
    assert (own.name, own.certificate, own.removed) == ("desk", desk.identity.certificate, False)
    assert await desk.read(lambda snapshot: find_admitter(snapshot, desk.id)) is None


async def test_a_member_is_introduced_once(desk: Device):
    await introduce(desk)
    assert (
        await desk.read(lambda snapshot: member_records.introduction_write(snapshot, "phone", CERTIFICATE))
        is None
    )
    member = (await desk.read(member_records.read_members))[PHONE.device]
    assert (member.name, member.public_key) == ("phone", PHONE.public_key)
    entered = await desk.read(lambda snapshot: find_admitter(snapshot, PHONE.device))
    assert entered is not None
    assert entered.device == desk.id


@pytest.mark.parametrize("before", [True, False])
async def test_what_a_person_creates_under_a_members_id_does_not_put_it_out(desk: Device, before: bool):
    other = EntityWrite(
        member_records.roster_entity_id(PHONE.device), "task", {"title": "mine"}, base=EMPTY_CLOCK
    )
    if not before:
        await introduce(desk)
    await desk.db.write(lambda element: element.commit([other]))
    if before:
        assert PHONE.device not in await desk.read(member_records.read_members)
        await introduce(desk)
    member = (await desk.read(member_records.read_members))[PHONE.device]
    assert (member.name, member.removed) == ("phone", False)


async def test_a_removed_member_stays_known_and_may_be_introduced_again(desk: Device):
    await introduce(desk)
    await commit(desk, member_records.removal_write(PHONE.device))
    assert (await desk.read(member_records.read_members))[PHONE.device].removed
    await introduce(desk)
    assert not (await desk.read(member_records.read_members))[PHONE.device].removed


async def test_a_deleted_roster_entry_is_a_removed_member(desk: Device):
    await introduce(desk)
    await commit(
        desk,
        EntityWrite(member_records.roster_entity_id(PHONE.device), member_records.KIND, {"deleted": True}),
    )
    assert (await desk.read(member_records.read_members))[PHONE.device].removed
    await introduce(desk)
    assert not (await desk.read(member_records.read_members))[PHONE.device].removed


async def test_a_renamed_member_has_its_new_name(desk: Device):
    await introduce(desk)
    await commit(desk, member_records.rename_write(PHONE.device, "pocket"))
    assert (await desk.read(member_records.read_members))[PHONE.device].name == "pocket"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"certificate": "no bytes"},
        {"certificate": b"no certificate"},
        {"certificate": certificate_from_seed(bytes([3]) * 32), "public_key": PHONE.public_key},
        {"certificate": refused_by_openssl(bytes([2]) * 32), "public_key": PHONE.public_key},
    ],
)
async def test_an_entry_that_contradicts_itself_is_no_member(desk: Device, fields):
    await commit(
        desk,
        EntityWrite(
            member_records.roster_entity_id(PHONE.device), member_records.KIND, {"name": "false", **fields}
        ),
    )
    assert list(await desk.read(member_records.read_members)) == [desk.id]


async def test_a_removal_holds_against_an_introduction_that_did_not_know_of_it(fleet: Fleet, desk: Device):
    """Concurrently, one member removes a device and another writes to its entry: the door stays closed."""
    await introduce(desk)
    before = await desk.read(lambda snapshot: snapshot.entity(member_records.roster_entity_id(PHONE.device)))
    assert before is not None
    await commit(desk, member_records.removal_write(PHONE.device))
    await commit(
        desk,
        EntityWrite(
            member_records.roster_entity_id(PHONE.device),
            member_records.KIND,
            {"removed": False},
            base=before.clock,
        ),
    )
    assert (await desk.read(member_records.read_members))[PHONE.device].removed


async def test_a_bad_certificate_in_the_roster_stops_no_start(desk: Device):
    bad = refused_by_openssl(bytes([2]) * 32)
    await commit(
        desk,
        EntityWrite(member_records.roster_entity_id(PHONE.device), member_records.KIND, {"certificate": bad}),
    )
    await desk.restart()
    assert list(await desk.read(member_records.read_members)) == [desk.id]


async def test_a_garbage_certificate_written_at_the_same_time_shuts_no_member_out(desk: Device):
    await commit(
        desk,
        EntityWrite(member_records.roster_entity_id(PHONE.device), member_records.KIND, {"name": "phone"}),
    )
    before = await desk.read(lambda snapshot: snapshot.entity(member_records.roster_entity_id(PHONE.device)))
    assert before is not None
    for certificate in (b"garbage", CERTIFICATE, certificate_from_seed(bytes([3]) * 32), 7):
        write = EntityWrite(
            member_records.roster_entity_id(PHONE.device),
            member_records.KIND,
            {"certificate": certificate},
            base=before.clock,
        )
        await commit(desk, write)
    assert (await desk.read(member_records.read_members))[PHONE.device].certificate == CERTIFICATE


@pytest.mark.parametrize("certificate", [b"garbage", certificate_from_seed(bytes([3]) * 32), 7, None])
async def test_a_certificate_that_is_none_written_after_a_good_one_shuts_no_member_out(
    desk: Device, certificate: Value
):
    await introduce(desk)
    await commit(
        desk,
        EntityWrite(
            member_records.roster_entity_id(PHONE.device), member_records.KIND, {"certificate": certificate}
        ),
    )
    await commit(
        desk,
        EntityWrite(member_records.roster_entity_id(PHONE.device), member_records.KIND, {"name": "my phone"}),
    )
    member = (await desk.read(member_records.read_members))[PHONE.device]
    assert (member.certificate, member.name, member.removed) == (CERTIFICATE, "my phone", False)
    assert (
        await desk.read(lambda snapshot: member_records.introduction_write(snapshot, "my phone", CERTIFICATE))
        is None
    )
    await commit(desk, member_records.removal_write(PHONE.device))
    assert (await desk.read(member_records.read_members))[PHONE.device].removed


async def test_a_removed_device_with_a_bad_certificate_is_let_in_again(desk: Device):
    fields: dict[str, Value] = {"certificate": b"garbage", "removed": True}
    await commit(
        desk, EntityWrite(member_records.roster_entity_id(PHONE.device), member_records.KIND, fields)
    )
    await introduce(desk)
    assert not (await desk.read(member_records.read_members))[PHONE.device].removed


@pytest.mark.parametrize("fields", [{"removed": True}, {"deleted": True}])
async def test_one_pairing_is_enough_under_an_id_that_was_taken_and_removed(
    desk: Device, fields: dict[str, Value]
):
    entity = member_records.roster_entity_id(PHONE.device)
    taken = EntityWrite(entity, "task", {"title": "mine", "certificate": CERTIFICATE}, base=EMPTY_CLOCK)
    await commit(desk, replace(taken, by=AuthorKind.USER))
    await commit(desk, EntityWrite(entity, "task", fields, by=AuthorKind.USER))
    await introduce(desk)
    member = (await desk.read(member_records.read_members))[PHONE.device]
    assert not member.removed


async def test_one_pairing_is_enough_under_an_id_that_holds_the_certificate_as_something_else(desk: Device):
    entity = member_records.roster_entity_id(PHONE.device)
    await commit(desk, EntityWrite(entity, "task", {"certificate": CERTIFICATE}, base=EMPTY_CLOCK))
    assert PHONE.device not in await desk.read(member_records.read_members)
    await introduce(desk)
    assert PHONE.device in await desk.read(member_records.read_members)


async def test_one_pairing_is_enough_against_removals_by_thousands_of_replicas(desk: Device):
    """One write can name a thousand replicas that it has seen, and each of these has removed the device."""
    count = BASE_HEADS_MAX + 100
    entity = member_records.roster_entity_id(PHONE.device)
    removals = [
        first_commit(EVIL, [operation(entity, kind=member_records.KIND, removed=True)], ms=number)
        for number in range(1, count)
    ]
    await introduce(desk)
    await take(desk, *removals)
    assert (await desk.read(member_records.read_members))[PHONE.device].removed
    await introduce(desk)
    assert not (await desk.read(member_records.read_members))[PHONE.device].removed


# -- what this device alone remembers ----------------------------------------------------------------------


async def test_addresses_are_kept_best_first_and_bounded(desk: Device):
    def use(transaction: Transaction) -> dict[DeviceId, list[str]]:
        table.add_candidate_addresses(
            transaction, PHONE.device, [f"192.0.2.{index}:7" for index in range(40)]
        )
        table.record_working_address(transaction, PHONE.device, "198.51.100.1:7")
        table.add_candidate_addresses(transaction, PHONE.device, ["198.51.100.1:7"])
        return table.peer_addresses(transaction)

    texts = (await desk.db.write(use))[PHONE.device]
    assert texts[0] == "198.51.100.1:7"
    assert len(texts) == table.ADDRESSES_MAX


async def test_what_a_peer_held_is_remembered(desk: Device):
    def use(transaction: Transaction) -> dict[DeviceId, table.PeerContact]:
        table.record_contact(transaction, PHONE.device, (), 1)
        table.record_contact(transaction, PHONE.device, VECTOR, 2)
        return table.peer_contacts(transaction)

    assert (await desk.db.write(use))[PHONE.device].vector == VECTOR


async def test_a_newcomer_counts_until_its_time_is_over(desk: Device):
    now = desk.clock.now_ms()
    early = Newcomer(PHONE.device, CERTIFICATE, "phone", ("192.0.2.1:7", "192.0.2.2:7"), now - 1)
    late = Newcomer(DeviceId(bytes(32)), b"x", "other", (), now + 100_000)

    def use(transaction: Transaction) -> tuple[list[Newcomer], list[Newcomer]]:
        table.add_pending_newcomer(transaction, early)
        first = table.pending_newcomers(transaction, 0)
        table.add_pending_newcomer(transaction, late)
        return first, table.pending_newcomers(transaction, 0)

    first, second = await desk.db.write(use)
    assert first == [early]
    assert second == [late]
    await desk.db.write(lambda tx: table.remove_pending_newcomer(tx, late.device))
    assert await desk.read(lambda snapshot: table.pending_newcomers(snapshot, 0)) == []


async def test_a_device_is_forgotten(desk: Device):
    def use(transaction: Transaction) -> tuple[dict[DeviceId, list[str]], list[Newcomer]]:
        table.add_candidate_addresses(transaction, PHONE.device, ["192.0.2.1:7"])
        table.add_pending_newcomer(transaction, Newcomer(PHONE.device, CERTIFICATE, "phone", (), 1 << 50))
        table.forget_addresses(transaction, PHONE.device)
        return table.peer_addresses(transaction), table.pending_newcomers(transaction, 0)

    assert await desk.db.write(use) == ({}, [])


async def test_only_what_is_no_roster_counts_as_a_journal(desk: Device):
    assert not await desk.read(table.holds_journal)
    await introduce(desk)
    assert not await desk.read(table.holds_journal)
    await desk.add("a task")
    assert await desk.read(table.holds_journal)
