"""Who let a device in, and since when another device knows it: real linked devices, and odd writes.

Never trusts what a device writes about either.
"""

import asyncio
from dataclasses import replace

import pytest

from daemon.peers.linking.device_states import PeerObservations, list_device_states
from daemon.peers.linking.exchange_faults import ExchangeFaults
from daemon.peers.roster import member_records
from daemon.peers.roster.admission_log import JOINING_GRACE_MS, first_seen_ms
from daemon.peers.roster.listed_roster import ListedRoster
from daemon.timestamps import iso_utc
from store.local import peer_records as table
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import DeviceId
from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.daemon.peers.roster.admission_steps import entered, heard_at, later, noted, write_entry_of
from tests.support.patience import LIMIT_S

# -- who let a device in -----------------------------------------------------------------------------------


async def test_a_device_started_long_ago_was_let_in_when_it_was_paired_and_all_say_by_whom(fleet: Fleet):
    desk, phone, tablet = [await fleet.start(name) for name in ("desk", "phone", "tablet")]
    await fleet.pair(desk, phone)
    for device in (desk, phone, tablet):
        device.clock.ahead_s += 30 * 86_400
    before = iso_utc(desk.clock.now_ms())
    await fleet.pair(phone, tablet)
    await in_step(desk, phone, tablet)
    for device in (desk, phone, tablet):
        by, by_id, added_at = await entered(device, tablet)
        assert (by, by_id) == ("phone", phone.id.hex())
        assert added_at is not None
        assert before <= added_at <= iso_utc(device.clock.now_ms())
        assert (await entered(device, phone))[:2] == ("desk", desk.id.hex())
        # Newcomers write those into the roster, too, whom they heard of while they were let in.
        assert await entered(device, desk) == (None, None, None)


async def test_who_let_a_removed_device_in_again_is_named_with_the_new_time(fleet: Fleet):
    desk, phone, tablet = [await fleet.start(name) for name in ("desk", "phone", "tablet")]
    await fleet.pair(desk, phone)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    first = await entered(desk, phone)
    await desk.peers.devices.remove("phone")
    await in_step(desk, tablet)
    for device in (desk, phone, tablet):
        device.clock.ahead_s += 30 * 86_400
    await fleet.pair(tablet, phone)
    await in_step(desk, phone, tablet)
    for device in (desk, phone, tablet):
        again = await entered(device, phone)
        assert again[:2] == ("tablet", tablet.id.hex())
        assert (again[2] or "") > (first[2] or "")


async def test_who_wrote_that_it_let_a_device_in_is_named_whatever_it_claims(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    lost = fleet.make("lost")
    certificate: Value = lost.identity.certificate
    old: dict[str, Value] = {"at_ms": 1}
    await write_entry_of(phone, lost, {"certificate": certificate, "added_by": desk.id}, origin=old)
    await in_step(desk, phone)
    by, by_id, added_at = await entered(desk, lost)
    assert (by, by_id) == ("phone", phone.id.hex())
    assert (added_at or "") > "2000"
    # Another name does not hide it, and neither does one that this device has itself.
    await phone.peers.devices.rename("phone", "desk")
    await in_step(desk, phone)
    assert (await entered(desk, lost))[:2] == ("desk", phone.id.hex())


async def test_a_device_that_was_let_in_without_a_word_of_it_was_still_let_in_by_its_writer(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    lost = fleet.make("lost")
    await write_entry_of(phone, lost, {"certificate": lost.identity.certificate})
    await in_step(desk, phone)
    assert (await entered(desk, lost))[:2] == ("phone", phone.id.hex())


async def test_who_is_in_no_roster_and_lets_a_device_in_is_told_by_its_id(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    ghost, lost = fleet.make("ghost"), fleet.make("lost")
    store = ghost.opened()
    with store.write() as transaction:
        fields: dict[str, Value] = {"certificate": lost.identity.certificate, "added_by": desk.id}
        transaction.commit(
            [EntityWrite(member_records.roster_entity_id(lost.id), member_records.KIND, fields)],
            by=AuthorKind.SYSTEM,
        )
    # Signed as the transaction ends.
    with store.read() as snapshot:
        page = [received.signed for _, received in snapshot.read_feed(0, 10)]
    store.close()
    await phone.db.write(lambda tx: tx.accept_page(page))
    await in_step(desk, phone)
    assert (await entered(desk, lost))[:2] == (ghost.id.hex()[:8], ghost.id.hex())


async def test_who_takes_its_removal_back_as_it_is_let_in_did_not_let_itself_in(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    await desk.peers.devices.remove("phone")
    removal = await desk.read(
        lambda snapshot: [received.signed for _, received in snapshot.read_feed(0, 1000)]
    )
    await phone.db.write(lambda tx: tx.accept_page(removal))
    assert (await phone.read(member_records.read_members))[phone.id].removed
    # By its clock, what it writes of itself comes last.
    phone.clock.ahead_s += 30
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    for device in (desk, phone):
        assert (await entered(device, phone))[:2] == ("desk", desk.id.hex())


async def test_a_removal_that_was_taken_back_by_whoever_is_told(fleet: Fleet):
    desk, phone, tablet = [await fleet.start(name) for name in ("desk", "phone", "tablet")]
    await fleet.pair(desk, phone)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    await desk.peers.devices.remove("tablet")
    await in_step(desk, phone)
    await write_entry_of(phone, tablet, {"removed": False})
    await in_step(desk, phone)
    assert (await entered(desk, tablet))[:2] == ("phone", phone.id.hex())


async def test_a_device_that_takes_its_own_removal_back_let_itself_in(fleet: Fleet):
    desk, phone, tablet = [await fleet.start(name) for name in ("desk", "phone", "tablet")]
    await fleet.pair(desk, phone)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    await desk.stop()
    # It hears of its removal, and one of the others has not yet.
    removal = EntityWrite(member_records.roster_entity_id(phone.id), member_records.KIND, {"removed": True})
    back = replace(removal, fields={"removed": False})
    await phone.db.write(lambda tx: [tx.commit([write], by=AuthorKind.SYSTEM) for write in (removal, back)])
    await desk.start()
    await in_step(desk, phone, tablet)
    assert (await entered(tablet, phone))[:2] == ("phone", phone.id.hex())


# -- when a device hears who was let in --------------------------------------------------------------------


async def test_a_device_that_was_away_is_told_later_of_whom_the_others_let_in(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    await phone.stop()
    tablet = await fleet.start("tablet")
    await fleet.pair(desk, tablet)
    for device in (desk, phone, tablet):
        device.clock.ahead_s += 30 * 86_400
    back = iso_utc(phone.clock.now_ms())
    await phone.start()
    text = iso_utc(await noted(phone, tablet))
    assert text >= back
    for device in (desk, phone, tablet):
        device.clock.ahead_s += 86_400
    await phone.restart()
    assert await heard_at(phone, tablet) == text
    assert ((await entered(phone, tablet))[2] or "") < back


async def test_a_newcomer_is_not_told_as_news_who_was_there_before_it(
    fleet: Fleet, pair: tuple[Device, Device]
):
    desk, phone = pair
    tablet = await fleet.start("tablet")
    later(tablet)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    assert await noted(tablet, phone) == await noted(tablet, desk) == 0
    later(tablet)
    assert await heard_at(tablet, phone) is None
    assert await heard_at(phone, tablet) is not None
    assert await heard_at(phone, phone) is None


@pytest.mark.parametrize(
    ("observed", "now_ms", "number"),
    [
        ({}, 5_000, 5_000),
        ({"other": (b"mark", 3)}, 5_000, 3),
        ({"other": (b"mark", 0)}, 5_000, 0),
        ({"other": (b"", 3)}, 5_000, 5_000),
        ({"own": (b"", 5_000)}, 5_000, 0),
        ({"own": (b"", 5_000)}, 5_000 + JOINING_GRACE_MS, 0),
        ({"own": (b"", 5_000)}, 5_001 + JOINING_GRACE_MS, 5_001 + JOINING_GRACE_MS),
        # The clock was set back.
        ({"own": (b"", 5_000)}, 4_999, 4_999),
    ],
)
def test_whoever_was_not_noted_is_news_but_while_joining(
    observed: dict[str, tuple[bytes, int]], now_ms: int, number: int
):
    ids = {name: DeviceId(name.encode()) for name in ("own", "other")}
    rows = {ids[name]: row for name, row in observed.items()}
    assert first_seen_ms(rows, ids["own"], ids["other"], b"mark", now_ms) == number


# -- what is kept of it ------------------------------------------------------------------------------------


async def test_two_that_let_a_device_in_at_once_are_told_alike_by_both(
    fleet: Fleet, pair: tuple[Device, Device]
):
    lost = fleet.make("lost")
    for device in pair:
        device.peers.replication.pause()
    for device in pair:
        await write_entry_of(device, lost, {"certificate": lost.identity.certificate, "added_by": device.id})
    for device in pair:
        device.peers.replication.resume()
    await in_step(*pair)
    first, second = [await entered(listed_device, lost) for listed_device in pair]
    assert first == second
    assert first[0] in ("desk", "phone")


async def test_a_damaged_row_is_noted_anew_and_keeps_nobody_from_starting(pair: tuple[Device, Device]):
    desk, phone = pair
    await noted(desk, phone)
    await desk.execute("UPDATE let_in SET write = x'ff'")
    assert await heard_at(desk, phone) is not None
    before = later(desk, phone)
    await desk.restart()
    assert iso_utc(await noted(desk, phone)) >= before


async def rows_of(device: Device) -> set[DeviceId]:
    """Return of whom a device has noted something."""
    return await device.read(lambda snapshot: set(table.admissions_seen(snapshot)))


async def test_who_is_no_member_any_more_is_noted_no_more(pair: tuple[Device, Device]):
    desk, phone = pair
    await noted(desk, phone)
    await desk.peers.devices.remove("phone")
    async with asyncio.timeout(LIMIT_S):
        while phone.id in await rows_of(desk):
            pass
    assert await heard_at(desk, phone) is None


async def test_when_a_device_joined_is_noted_where_nothing_says_so(pair: tuple[Device, Device]):
    desk, phone = pair
    assert (desk.id in await rows_of(desk), phone.id in await rows_of(phone)) == (False, True)
    await desk.peers.join(await phone.token())
    assert desk.id in await rows_of(desk)


async def test_who_joins_its_vault_again_is_told_what_it_was_told_before(
    fleet: Fleet, pair: tuple[Device, Device]
):
    desk, phone = pair
    await write_entry_of(desk, lost := fleet.make("lost"), {"certificate": lost.identity.certificate})
    await in_step(desk, phone)
    number = await noted(phone, lost)
    await phone.peers.join(await desk.token())
    other = fleet.make("other")
    await write_entry_of(desk, other, {"certificate": other.identity.certificate})
    await in_step(desk, phone)
    assert await noted(phone, lost) == number > 0
    assert await noted(phone, other) >= number


async def test_a_removed_device_that_is_let_in_again_is_told_who_came_meanwhile(
    fleet: Fleet, pair: tuple[Device, Device]
):
    desk, phone = pair
    await desk.peers.devices.remove("phone")
    lost = fleet.make("lost")
    await write_entry_of(desk, lost, {"certificate": lost.identity.certificate})
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    assert await noted(phone, lost) > 0


async def test_what_is_read_of_who_let_a_device_in_does_not_grow_with_its_history(
    pair: tuple[Device, Device],
):
    desk, phone = pair

    def statements_run(snapshot: Snapshot) -> list[str]:
        """Return what the database is asked while the devices are shown."""
        statements: list[str] = []

        def trace(_cursor: object, statement: str, _bound: object) -> bool:
            statements.append(statement)
            return True

        roster, peer_observations = (
            ListedRoster(member_records.read_members(snapshot), desk.id),
            PeerObservations(live_links={}, faults=ExchangeFaults(), clock_leads_s={}, diverging=()),
        )
        snapshot.db.exec_trace = trace
        try:
            list_device_states(snapshot, roster, peer_observations, own_address="", now_ms=0)
        finally:
            snapshot.db.exec_trace = None
        return statements

    before = await desk.read(statements_run)

    def rename(transaction: Transaction) -> None:
        for number in range(300):
            transaction.commit(
                [member_records.rename_write(phone.id, f"phone {number}")], by=AuthorKind.SYSTEM
            )

    await desk.db.write(rename)
    assert await desk.read(statements_run) == before
    assert not any("history" in statement for statement in before)
