"""How the exchange of a device went, counted by day: links, calls, commits, mailboxes, and wrong clocks."""

from pathlib import Path

import apsw
import pytest

from daemon.peers.exchange_days import ExchangeDay
from store.local import exchange_days
from store.local.exchange_days import ExchangeCounts
from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.daemon.peers.mailboxes.devices_apart import make_apart

DAY_S = 86_400


async def days_of(device: Device) -> list[ExchangeDay]:
    return await device.peers.exchange_days.list_days()


async def today_of(device: Device) -> ExchangeDay:
    (today,) = await days_of(device)
    assert today.day == device.peers.exchange_days.today()
    return today


async def test_links_and_commits_are_counted_on_both_sides(fleet: Fleet):
    laptop, phone = await fleet.start("laptop"), await fleet.start("phone")
    assert await days_of(laptop) == []
    await fleet.pair(laptop, phone)
    await in_step(laptop, phone)
    before = [await today_of(device) for device in (laptop, phone)]
    assert min(day.links for day in before) >= 1
    await laptop.add("of the laptop", count=40)
    await in_step(laptop, phone)
    sent, received = [await today_of(device) for device in (laptop, phone)]
    assert sent.sent - before[0].sent == 40
    assert received.received - before[1].received == 40
    assert (sent.faults, received.faults) == (0, 0)


async def test_a_call_that_reaches_nobody_is_counted(fleet: Fleet):
    laptop, phone = await fleet.start("laptop"), await fleet.start("phone")
    await fleet.pair(laptop, phone)
    await phone.stop()

    async def has_failed(device: Device) -> bool:
        return (await today_of(device)).failed_calls >= 2

    await laptop.until(has_failed)


async def test_looks_into_mailboxes_are_counted_also_those_that_fail(fleet: Fleet, tmp_path: Path):
    anna, bea = await make_apart(fleet, "anna", "bea")
    box = tmp_path / "box"
    box.mkdir()
    for device in (anna, bea):
        await device.peers.mailboxes.add("folder", str(box), "box")
    await anna.peers.mailboxes.check("box")
    await anna.add("of anna")
    for device in (anna, bea, anna):
        await device.peers.mailboxes.check("box")
    put, taken = await today_of(anna), await today_of(bea)
    assert put.visits >= 3
    assert put.put >= 1
    assert taken.taken >= 1
    await anna.peers.exchange_days.record()
    assert await today_of(anna) == put
    box.rename(tmp_path / "elsewhere")
    await anna.peers.mailboxes.check("box")
    assert (await today_of(anna)).failed_visits == put.failed_visits + 1


async def test_a_mailbox_that_was_added_anew_is_counted_from_its_beginning(fleet: Fleet):
    laptop = await fleet.start("laptop")
    totals = {"box": ExchangeCounts(visits=5)}
    days = laptop.peers.exchange_days
    days._mailbox_totals = lambda: totals
    assert (await today_of(laptop)).visits == 5
    totals = {"box": ExchangeCounts(visits=2)}
    assert (await today_of(laptop)).visits == 7
    assert (await today_of(laptop)).visits == 7


async def test_what_was_counted_survives_a_restart_and_is_added_to(fleet: Fleet):
    laptop = await fleet.start("laptop")
    laptop.peers.exchange_days.count(ExchangeCounts(received=3))
    await laptop.restart()
    laptop.peers.exchange_days.count(ExchangeCounts(received=4, faults=1))
    assert (await today_of(laptop)).received == 7
    await laptop.restart()
    assert await today_of(laptop) == ExchangeDay(
        laptop.peers.exchange_days.today(), *ExchangeCounts(received=7, faults=1)
    )


async def test_what_cannot_be_stored_is_kept_until_it_can(fleet: Fleet, monkeypatch: pytest.MonkeyPatch):
    def fail(*_arguments: object) -> None:
        raise apsw.FullError("database or disk is full")

    laptop = await fleet.start("laptop")
    days = laptop.peers.exchange_days
    days.count(ExchangeCounts(sent=2))
    with monkeypatch.context() as patched:
        patched.setattr(exchange_days, "add_counts", fail)
        await days.record()
    days.count(ExchangeCounts(sent=1))
    await days.record()
    assert (await today_of(laptop)).sent == 3


async def test_a_clock_that_jumps_hides_no_day_and_shows_none_of_the_future(fleet: Fleet):
    laptop = await fleet.start("laptop")
    days = laptop.peers.exchange_days
    for ahead_s in (0, DAY_S, 400 * DAY_S, 1e13, -60 * DAY_S, -1e13, 2 * DAY_S):
        laptop.clock.ahead_s = ahead_s
        days.count(ExchangeCounts(links=1))
        await days.record()
    listed = await days_of(laptop)
    assert [day.links for day in listed] == [1, 1, 1]
    assert listed[0].day == days.today()
    laptop.clock.ahead_s = 0
    assert [day.day for day in await days_of(laptop)] == [listed[2].day]


async def test_many_links_cost_one_row_and_no_commit(fleet: Fleet):
    laptop = await fleet.start("laptop")
    feed_end = laptop.db.feed_end
    for _count in range(1000):
        laptop.peers.exchange_days.count(ExchangeCounts(received=1))
    rows = "SELECT count(*) FROM exchange_day"
    assert await laptop.read(lambda snapshot: snapshot.db.execute(rows).fetchone()) == (0,)
    await laptop.peers.exchange_days.record()
    assert await laptop.read(lambda snapshot: snapshot.db.execute(rows).fetchone()) == (1,)
    assert laptop.db.feed_end == feed_end
