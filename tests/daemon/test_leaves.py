"""The small leaves: notifier, clock, disk floor.

Never waits for time to pass.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from daemon.clock import SystemClock, local_zone
from daemon.disk import DiskFloor
from daemon.notifier import BurstNotifier, Notifier


async def test_every_watch_hears_of_growth_once_however_often_it_was_told():
    notifier = Notifier()
    notifier_watch, other = notifier.watch(), notifier.watch()
    notifier.notify()
    notifier.notify()
    assert await notifier_watch.wait_for_growth()
    assert await other.wait_for_growth()
    assert not await notifier_watch.wait_for_growth(timeout_s=0)


async def test_what_is_told_while_a_consumer_is_busy_is_not_lost():
    notifier = Notifier()
    watch = notifier.watch()
    notifier.notify()
    assert await watch.wait_for_growth(timeout_s=0)


async def test_a_watch_hears_nothing_of_what_was_before_it():
    notifier = Notifier()
    notifier.notify()
    assert not await notifier.watch().wait_for_growth(timeout_s=0)


async def test_all_who_wait_wake_together():
    notifier = Notifier()
    waiting = [asyncio.create_task(notifier.watch().wait_for_growth()) for _ in range(50)]
    await asyncio.sleep(0)
    notifier.notify()
    assert await asyncio.gather(*waiting) == [True] * 50


async def test_a_burst_is_passed_on_once_and_what_comes_after_it_again():
    queue: asyncio.Queue[None] = asyncio.Queue()
    lull = BurstNotifier(lambda: queue.put_nowait(None), 0.001)
    for _ in range(2):
        lull.notify()
        lull.notify()
        assert queue.empty()
        await queue.get()
    await asyncio.sleep(0)
    assert queue.empty()


def test_the_floor_says_why_a_write_must_wait_and_notices_room_by_itself(tmp_path: Path):
    assert DiskFloor(tmp_path, 0).shortfall() is None
    shortfall = DiskFloor(tmp_path, 1 << 62).shortfall()
    assert shortfall is not None
    assert "below the floor" in shortfall.text


def test_the_system_clock_is_the_systems():
    clock = SystemClock()
    assert abs(clock.now_ms() / 1000 - datetime.now(UTC).timestamp()) < 60  # noqa: TID251 - it is compared with this
    assert clock.monotonic_s() <= clock.monotonic_s()
    assert len(clock.randomness(10)) == 10
    assert clock.randomness(16) != clock.randomness(16)


@pytest.mark.parametrize(("name", "hours"), [("Etc/GMT-5", 5), (":Etc/GMT+3", -3)])
def test_the_zone_is_the_one_that_tz_names(monkeypatch: pytest.MonkeyPatch, name: str, hours: int):
    monkeypatch.setenv("TZ", name)
    assert local_zone().utcoffset(datetime(2026, 7, 1)) == timedelta(hours=hours)  # noqa: DTZ001 - the zone is asked


@pytest.mark.parametrize("begins", ["", ":"])
def test_tz_may_name_a_file(monkeypatch: pytest.MonkeyPatch, begins: str):
    with as_file(files("tzdata").joinpath("zoneinfo/Etc/GMT-5")) as path:
        monkeypatch.setenv("TZ", f"{begins}{path}")
        assert local_zone().utcoffset(datetime(2026, 7, 1)) == timedelta(hours=5)  # noqa: DTZ001 - likewise


@pytest.mark.parametrize("name", ["No/Such", "../../etc/passwd", "/etc/passwd", "/no/such", "CET-1CEST"])
def test_a_zone_that_is_none_is_utc(monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.setenv("TZ", name)
    assert local_zone() is UTC


def test_without_tz_the_systems_zone_is_taken(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TZ", raising=False)
    assert local_zone().utcoffset(datetime(2026, 7, 1)) is not None  # noqa: DTZ001 - the zone is asked
