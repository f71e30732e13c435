"""Admissions that are written oddly: dated long ago, bare, or taken back at once.

Never believes what an entry claims: its writer is what counts.
"""

import pytest

from daemon.peers.roster import member_records
from daemon.timestamps import iso_utc
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.commit import AuthorKind, SignedCommit
from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.daemon.peers.roster.admission_steps import entered, heard_at, later, noted, write_entry_of


async def write_old(device: Device, other: Device, fields: dict[str, Value]) -> None:
    """Write to another device's entry in a commit that is dated long ago, knowing all that is there."""
    await device.stop()
    device.clock.ahead_s -= 300 * 86_400
    store = device.opened()
    with store.write() as transaction:
        transaction.db.execute("UPDATE standing SET stamp_ms = 0, stamp_n = 0")
    # Read as a transaction begins.
    with store.write() as transaction:
        transaction.commit(
            [EntityWrite(member_records.roster_entity_id(other.id), member_records.KIND, fields)],
            by=AuthorKind.SYSTEM,
        )
    store.close()
    device.clock.ahead_s += 300 * 86_400
    await device.start()


def written_alone(device: Device, other: Device, fields: dict[str, Value]) -> list[SignedCommit]:
    """Return a commit on another device's entry by one that knows nothing of the vault."""
    store = device.opened()
    with store.write() as transaction:
        transaction.commit(
            [EntityWrite(member_records.roster_entity_id(other.id), member_records.KIND, fields)],
            by=AuthorKind.SYSTEM,
        )
    with store.read() as snapshot:
        page = [received.signed for _, received in snapshot.read_feed(0, 10)]
    store.close()
    return page


async def test_a_commit_that_is_dated_long_ago_hides_nobody(fleet: Fleet, pair: tuple[Device, Device]):
    desk, phone = pair
    lost, before = fleet.make("lost"), iso_utc(desk.clock.now_ms())
    await write_old(phone, lost, {"certificate": lost.identity.certificate, "added_by": phone.id})
    await in_step(desk, phone)
    assert iso_utc(await noted(desk, lost)) >= before
    assert ((await entered(desk, lost))[2] or "") < before


@pytest.mark.parametrize(
    ("writer", "about", "reader"), [("tablet", "desk", "phone"), ("phone", "tablet", "desk")]
)
async def test_to_write_again_with_an_old_date_who_let_a_device_in_is_news_in_the_writers_name(
    fleet: Fleet, pair: tuple[Device, Device], writer: str, about: str, reader: str
):
    desk, phone = pair
    tablet = await fleet.start("tablet")
    later(tablet)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    called = {device.name: device for device in (desk, phone, tablet)}
    await noted(called[reader], called[about])
    text = later(desk, phone, tablet, days=8)
    await write_old(called[writer], called[about], {"added_by": called[reader].id})
    await in_step(desk, phone, tablet)
    assert iso_utc(await noted(called[reader], called[about])) >= text
    by, by_id, added_at = await entered(called[reader], called[about])
    assert (by, by_id) == (writer, called[writer].id.hex())
    assert (added_at or "") < iso_utc(desk.clock.now_ms() - 200 * 86_400_000)
    assert iso_utc(await noted(called[reader], called[writer])) < text


async def test_who_knows_nothing_of_the_vault_renames_no_inviter_with_an_old_date(
    fleet: Fleet, pair: tuple[Device, Device]
):
    desk, phone = pair
    tablet, lost = await fleet.start("tablet"), fleet.make("lost")
    later(tablet)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    number = await noted(phone, tablet)
    lost.clock.ahead_s -= 300 * 86_400
    page = written_alone(lost, tablet, {"added_by": lost.id})
    await phone.db.write(lambda tx: tx.accept_page(page))
    await in_step(desk, phone, tablet)
    for device in (desk, phone):
        assert (await entered(device, tablet))[:2] == ("desk", desk.id.hex())
    assert await noted(phone, tablet) == number


async def test_a_bare_certificate_is_told_whoever_its_device_says_that_it_let_in(
    fleet: Fleet, pair: tuple[Device, Device]
):
    desk, phone = pair
    lost, before = fleet.make("lost"), iso_utc(desk.clock.now_ms())
    page = written_alone(lost, phone, {"added_by": lost.id})
    await phone.db.write(lambda tx: tx.accept_page(page))
    await write_entry_of(phone, lost, {"certificate": lost.identity.certificate})
    await in_step(desk, phone)
    assert iso_utc(await noted(desk, lost)) >= before
    assert (await entered(desk, lost))[:2] == ("phone", phone.id.hex())


async def test_a_member_that_nobody_can_be_named_for_is_news(fleet: Fleet, pair: tuple[Device, Device]):
    desk, phone = pair
    lost, before = fleet.make("lost"), iso_utc(desk.clock.now_ms())
    page = written_alone(lost, lost, {"certificate": lost.identity.certificate})
    await phone.db.write(lambda tx: tx.accept_page(page))
    await in_step(desk, phone)
    assert iso_utc(await noted(desk, lost)) >= before
    assert await entered(desk, lost) == (None, None, None)
    assert (await heard_at(desk, lost) or "") >= before


@pytest.mark.parametrize("fields", [{"removed": True}, {"deleted": True}])
async def test_a_removal_and_a_return_that_come_at_once_are_news(
    fleet: Fleet, pair: tuple[Device, Device], fields: dict[str, Value]
):
    desk, phone = pair
    tablet = await fleet.start("tablet")
    later(tablet)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    assert await noted(tablet, phone) == 0
    tablet.peers.replication.pause()
    await write_entry_of(desk, phone, fields)
    await desk.until_apart(phone)
    back: dict[str, Value] = {"certificate": phone.identity.certificate}
    await write_entry_of(desk, phone, back | dict.fromkeys(fields, False))
    text = later(tablet, desk, phone, days=30)
    tablet.peers.replication.resume()
    await in_step(desk, tablet)
    assert iso_utc(await noted(tablet, phone)) >= text
    assert (await entered(tablet, phone))[:2] == ("desk", desk.id.hex())


async def test_a_device_that_is_paired_again_while_another_one_is_away_is_news_there(
    fleet: Fleet, pair: tuple[Device, Device]
):
    desk, phone = pair
    tablet = await fleet.start("tablet")
    later(tablet)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    tablet.peers.replication.pause()
    await desk.peers.devices.remove("phone")
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    text = later(tablet, desk, phone, days=30)
    tablet.peers.replication.resume()
    await in_step(desk, phone, tablet)
    assert iso_utc(await noted(tablet, phone)) >= text
